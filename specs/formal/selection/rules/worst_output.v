(* The rule worst-output, from above (docs/theory/selection.md): a selection whose answers lie between bounds, with noises that are independent and of one
   law but for the one that all are compared with, on the reals or the integers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels likelihood independent log_concave finite crossed_means worst_pair worst_corner worst_output_lower worst_output_upper.

Section OneLaw.
Context (R : realType) (mu : {measure set R -> \bar R}) (mu1 : mu setT = 1%E).
Notation F := (under mu).
Notation S := (from mu).

Lemma under01 x : 0 <= F x <= 1.
Proof.
rewrite /under -!lee_fin fineK ?(mass_fin mu1)//; last exact: measurable_under.
by rewrite measure_ge0 mass_le1//; exact: measurable_under.
Qed.

Lemma from01 x : 0 <= S x <= 1.
Proof.
rewrite /from -!lee_fin fineK ?(mass_fin mu1)//; last exact: measurable_from.
by rewrite measure_ge0 mass_le1//; exact: measurable_from.
Qed.

Lemma under_rises x y : x <= y -> F x <= F y.
Proof.
move=> xy; rewrite /under -lee_fin !fineK ?(mass_fin mu1)//; try exact: measurable_under.
by apply: le_measure; rewrite ?inE//; try exact: measurable_under; move=> z /= zx; exact: lt_le_trans xy.
Qed.

Lemma from_falls x y : x <= y -> S y <= S x.
Proof.
move=> xy; rewrite /from -lee_fin !fineK ?(mass_fin mu1)//; try exact: measurable_from.
by apply: le_measure; rewrite ?inE//; try exact: measurable_from; move=> z /=; exact: le_trans.
Qed.

Lemma measurable_mono (g : R -> R) : (forall x y, x <= y -> g x <= g y) -> measurable_fun setT g.
Proof.
move=> mono; apply: (measurability (RGenCInfty.measurableE R)) => // _ [_ [s ->] <-]; rewrite setTI.
apply: is_interval_measurable => x y /=; rewrite !in_itv/= !andbT => gx gy z /andP[xz _].
by rewrite in_itv/= andbT; exact: le_trans (mono _ _ xz).
Qed.

Lemma measurable_F : measurable_fun setT F.
Proof. by apply: measurable_mono; exact: under_rises. Qed.

Lemma measurable_S : measurable_fun setT S.
Proof.
have m : measurable_fun setT (fun x => - S x) by apply: measurable_mono => x y xy; rewrite ler_opp2; exact: from_falls.
rewrite (_ : S = (fun x => - - S x)); last by apply/funext => x; rewrite opprK.
exact: measurable_funN.
Qed.
End OneLaw.

Section Rule.
Context (R : realType) (lam : {measure set R -> \bar R}) (grid : R -> Prop).
(* Lebesgue's measure and all numbers; or counting of the integers, and these. *)
Hypotheses (grid_sub : forall x y, grid x -> grid y -> grid (x - y)) (kept : forall s, grid s -> keeps lam s).
Context (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
(* All answers have noise of one law; what they are compared with has noise of density f, or none. *)
Context (mu0 : {measure set R -> \bar R}) (mu01 : mu0 setT = 1%E) (same : forall j, (j < n)%N -> mu j = mu0).
Notation F := (under mu0).
Notation S := (from mu0).
Definition on_grid (g : R -> R) z := if `[< grid z >] then g z else 0.
Variant common : Prop :=
| Noise f of has_density lam (mu n) (on_grid f)
| NoNoise t0 of grid t0 & (forall g : R -> R, measurable_fun setT g -> (forall t, 0 <= g t) -> (\int[mu n]_t (g t)%:E = (g t0)%:E)%E).
Hypothesis compared : common.

Definition log_concave_law (law : {measure set R -> \bar R}) :=
  exists lo hi h g, log_concave lo hi h g /\ has_density lam law (on_grid g).

Definition ch (l : seq (bool * R)) : R := fine (\int[mu n]_t (terms F S l t)%:E).

Lemma measurable_all_terms l : measurable_fun setT (terms F S l).
Proof. by apply: measurable_terms; [exact: measurable_F | exact: measurable_S]. Qed.

Lemma all_terms01 l t : 0 <= terms F S l t <= 1.
Proof. by apply: terms01; [exact: under01 | exact: from01]. Qed.

Lemma off_grid (g : R -> R) z : ~ grid z -> on_grid g z = 0.
Proof. by move=> ng; rewrite /on_grid asboolF. Qed.

Lemma ch_density f : has_density lam (mu n) (on_grid f) -> ch = chance lam (on_grid f) F S.
Proof.
move=> dens; apply/funext => l; rewrite /ch /chance; congr fine; rewrite (integral_density dens).
- by apply: eq_integral => t _; rewrite -EFinM.
- by apply/EFin_measurable_fun; exact: measurable_all_terms.
- by move=> t; rewrite lee_fin; case/andP: (all_terms01 l t).
Qed.

Lemma ch_exact t0 : (forall g : R -> R, measurable_fun setT g -> (forall t, 0 <= g t) -> (\int[mu n]_t (g t)%:E = (g t0)%:E)%E) ->
  ch = (fun l => terms F S l t0).
Proof.
move=> at0; apply/funext => l; rewrite /ch at0//; first exact: measurable_all_terms.
by move=> t; case/andP: (all_terms01 l t).
Qed.

Lemma density_total f : has_density lam (mu n) (on_grid f) ->
  [/\ measurable_fun setT (on_grid f), forall t, 0 <= on_grid f t & (\int[lam]_t (on_grid f t)%:E = 1)%E].
Proof. by move=> [f0 mf fE]; split=> //; rewrite -fE. Qed.

Lemma ch_mono (s : seq (bool * (R * R))) g g' : (forall z, z \in s -> likelier (g z) (g' z)) -> ch [seq g z | z <- s] <= ch [seq g' z | z <- s].
Proof.
case: compared => [f dens|t0 _ at0] h.
- have [mf f0 f1] := density_total dens; rewrite (ch_density dens); apply: chance_likelier_in => //.
  + exact: under01.
  + exact: under_rises.
  + exact: from01.
  + exact: from_falls.
  + exact: measurable_F.
  + exact: measurable_S.
- rewrite (ch_exact at0); apply: likelier_in => //; [exact: under01 | exact: under_rises | exact: from01 | exact: from_falls].
Qed.

Lemma ch_behaves up down : log_concave_law mu0 -> (forall f, has_density lam (mu n) (on_grid f) -> log_concave_law (mu n)) ->
  0 <= up -> 0 <= down -> grid up -> grid down -> behaves grid up down ch.
Proof.
move=> [lo [hi [h [g [lc dens0]]]]] lcn up0 down0 gup gdown.
have gc := log_concave_corners grid_sub lc; rewrite -/(on_grid g) in gc.
have Fc := under_corners grid_sub mu01 dens0 kept (@off_grid g) gc.
have Sc := from_corners grid_sub mu01 dens0 kept (@off_grid g) gc.
case: compared => [f dens|t0 _ at0].
- have [lo' [hi' [h' [f' [lc' dens']]]]] := lcn _ dens; have [mf f0 f1] := density_total dens'; rewrite (ch_density dens').
  apply: (chance_behaves grid_sub (under01 mu01) (under_rises mu01) (from01 mu01) (from_falls mu01) mf f0 f1 (measurable_F mu01) (measurable_S mu01)) => //.
  + exact: off_grid.
  + exact: (log_concave_corners grid_sub lc').
- rewrite (ch_exact at0).
  exact: (exact_behaves (under01 mu01) (under_rises mu01) (from01 mu01) (from_falls mu01) Fc Sc t0 up0 down0 gup gdown).
Qed.

(* What the noise of each answer has to be for an output, so that the answers of a list come out so: "no" below what they are compared with and "yes" not
   below; ties may go either way, where that is another answer on the integers. Answers beyond the list may be anything. *)
Definition comes_out_as (side : nat -> R -> set R) (l : seq (bool * R)) := (size l <= n)%N /\
  forall j t, (j < n)%N -> grid t -> fine (mu j (side j t)) = if (j < size l)%N then term F S (nth (true, 0) l j) t else 1.

Lemma product_terms side l t : comes_out_as side l -> grid t -> \prod_(j < n) fine (mu j (side j t)) = terms F S l t.
Proof.
move=> [sn h] gt; rewrite (eq_bigr (fun j : 'I_n => if (j < size l)%N then term F S (nth (true, 0) l j) t else 1)); last by move=> j _; exact: h.
rewrite -big_mkcond/= /terms (big_nth (true, 0)) big_mkord.
by rewrite (big_ord_widen n (fun j => term F S (nth (true, 0) l j) t) sn).
Qed.

Context (X : Type) (N : relation X) dY (Y : measurableType dY) (M : mechanism R X Y) (O : finType) (pt : O -> Y) (p : X -> O -> R).
Hypothesis table : has_table M pt p.
Context (K : finType) (weight : K -> R) (weight0 : forall k, 0 <= weight k).

(* An output comes out where all noises do; where one of several greatest answers is told at random, its probability is a mean over orders. *)
Definition told_of (x : X) (o : O) (side : K -> nat -> R -> set R) := (forall k j, measurable [set z : R * R | side k j z.1 z.2]) /\
  p x o = \sum_k weight k * fine (with_common mu1 n nu (all_come_out n Z (side k))).

Lemma measurable_sides (side : nat -> R -> set R) : (forall j, measurable [set z : R * R | side j z.1 z.2]) ->
  measurable_fun setT (fun t : R => \prod_(j < n) fine (mu j (side j t))).
Proof.
move=> ms; have mk j : measurable_fun setT (fun t : R => fine (mu j (side j t))).
  rewrite (_ : (fun t => _) = (fun t => fine (mu j (xsection [set z : R * R | side j z.1 z.2] t)))).
    apply: measurable_fun_comp; first exact: measurable_fun_fine.
    by apply: measurable_fun_xsection; [exact: (law_sigma_finite (mu1 j)) | rewrite inE].
  by apply/funext => t; congr (fine (mu j _)); apply/seteqP; split=> z; rewrite /xsection/= inE.
elim: (index_enum _) => [|j r IH].
  by rewrite (_ : (fun t => _) = cst 1); [exact: measurable_fun_cst | apply/funext => t; rewrite big_nil].
rewrite (_ : (fun t => _) = (fun t => fine (mu j (side j t)) * \prod_(i <- r) fine (mu i (side i t)))); last by apply/funext => t; rewrite big_cons.
exact: measurable_funM.
Qed.

Lemma told_chance x o side l : told_of x o side -> (forall k, comes_out_as (side k) (l k)) -> p x o = \sum_k weight k * ch (l k).
Proof.
move=> [ms ->] out; apply: eq_bigr => k _; congr (_ * _); rewrite (compared_chance noises (ms k)) /ch; congr fine.
have mp := measurable_sides (ms k); have p0 t : 0 <= \prod_(j < n) fine (mu j (side k j t)) by apply: prodr_ge0 => j _; exact/fine_ge0/measure_ge0.
have mt := measurable_all_terms (l k); have t0 t : 0 <= terms F S (l k) t by case/andP: (all_terms01 (l k) t).
case: compared => [f dens|x0 gx0 at0]; last by rewrite (at0 _ mp p0) (at0 _ mt t0) (product_terms (out k) gx0).
rewrite (integral_density dens); [|exact/EFin_measurable_fun|by move=> t; rewrite lee_fin].
rewrite (integral_density dens); [|exact/EFin_measurable_fun|by move=> t; rewrite lee_fin].
apply: eq_integral => t _; have [gt|ngt] := pselect (grid t); last by rewrite (off_grid _ ngt) !mul0e.
by rewrite (product_terms (out k) gt).
Qed.

(* What is computed. With log-concave noises: at the corner of the bounds, of an output of as many negatives and positives, or of more, which is possible at the
   neighbour. With any noises: where answers move from one bound to the other, at the two ends. *)
Inductive shown (eps : R) (s : seq (bool * (R * R))) : Prop :=
| AtCorner up down lo hi (no yes : nat) of log_concave_law mu0 & (forall f, has_density lam (mu n) (on_grid f) -> log_concave_law (mu n)) &
    0 <= up & 0 <= down & grid up & grid down & (forall z, z \in s -> within up down lo hi z) & (forall z, z \in s -> whole grid up down lo hi z) &
    (count (fun z => ~~ z.1) s <= no)%N & (count (fun z => z.1) s <= yes)%N &
    loses_within up down (expR eps) ch (nseq no (corner up down lo hi false) ++ nseq yes (corner up down lo hi true))
| AtEnds near far of (forall z, z \in s -> likelier (here z) (near z)) & (forall z, z \in s -> likelier (far z) (next z)) &
    ch [seq near z | z <- s] <= expR eps * ch [seq far z | z <- s].

Lemma corners_perm (up down lo hi : R) (s : seq (bool * (R * R))) :
  perm_eq (nseq (count (fun z => ~~ z.1) s) (corner up down lo hi false) ++ nseq (count (fun z => z.1) s) (corner up down lo hi true))
    [seq corner up down lo hi z.1 | z <- s].
Proof.
elim: s => [//|[[] q] s IH] /=; last by rewrite perm_cons.
apply: (@perm_trans _ (corner up down lo hi true :: (nseq (count (fun z => ~~ z.1) s) (corner up down lo hi false) ++
  nseq (count (fun z => z.1) s) (corner up down lo hi true)))); last by rewrite perm_cons.
by rewrite -cat1s -[X in perm_eq _ X]cat1s perm_catCA.
Qed.

Lemma shown_close eps s : shown eps s -> ch [seq here z | z <- s] <= expR eps * ch [seq next z | z <- s].
Proof.
case=> [up down lo hi no yes lc0 lcn up0 down0 gup gdown wi wh cn cy h | near far hn hf h]; last first.
  by apply: (ends_bound _ ch_mono hn hf h); exact: expR_ge0.
have ok := ch_behaves lc0 lcn up0 down0 gup gdown; have g0 : grid 0 by rewrite -(subrr up); exact: grid_sub.
set cf := corner up down lo hi false in h; set ct := corner up down lo hi true in h.
pose extra := nseq (no - count (fun z => ~~ z.1) s) cf ++ nseq (yes - count (fun z => z.1) s) ct.
apply: (corner_bounds g0 (expR_ge0 eps) ok (extra := extra) wi wh); apply: (loses_perm ok) h.
rewrite perm_sym; apply: (@perm_trans _ (extra ++ (nseq (count (fun z => ~~ z.1) s) cf ++ nseq (count (fun z => z.1) s) ct))).
  by rewrite perm_cat2l perm_sym; exact: corners_perm.
rewrite /extra -catA; apply: (@perm_trans _ (nseq (no - count (fun z => ~~ z.1) s) cf ++ (nseq (count (fun z => ~~ z.1) s) cf ++
  (nseq (yes - count (fun z => z.1) s) ct ++ nseq (count (fun z => z.1) s) ct)))); first by rewrite perm_cat2l perm_catCA.
by rewrite catA -!nseqD !subnK.
Qed.

(* Rule: worst-output, upper. *)
Theorem worst_output_upper eps :
  (forall x x', both N x x' -> forall o, exists side side' (z : K -> seq (bool * (R * R))),
    [/\ told_of x o side, told_of x' o side', forall k, comes_out_as (side k) [seq here y | y <- z k],
      forall k, comes_out_as (side' k) [seq next y | y <- z k] & forall k, shown eps (z k)]) -> pure_dp N M eps.
Proof.
move=> H x x' xx A mA; rewrite !(table _ mA) adde0 -EFinM lee_fin mulr_sumr; apply: ler_sum => o _.
rewrite mulrA; apply: ler_wpmul2r; first by rewrite indicE ler0n.
have [side [side' [z [t t' c c' sh]]]] := H x x' xx o.
rewrite (told_chance t c) (told_chance t' c') mulr_sumr; apply: ler_sum => k _.
by rewrite mulrCA; apply: ler_wpmul2l => //; exact: shown_close.
Qed.
End Rule.
