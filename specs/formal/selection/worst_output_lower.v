(* Outputs of comparisons (docs/theory/selection.md, worst output): the probability that all answers come out in a way, as an integral over the noise
   that they are compared with, and the lower bound that two such probabilities are, for further answers far below too. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic exponents kernels independent.

(* An event of two neighbours bounds the tight epsilon from below. *)
Lemma event_lower (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) x x' O (p p' : R) :
  measurable O -> both N x x' -> 0 < p -> (p%:E <= M x O)%E -> (M x' O <= p'%:E)%E -> 0 < p' -> ((ln (p / p'))%:E <= tight_epsilon N M 0)%E.
Proof.
move=> mO xx p0 px px' p0'; apply: tight_epsilon_lower => eps e0 lt dpM.
have := dpM x x' xx O mO; rewrite adde0 => h.
have : (p%:E <= (expR eps * p')%:E)%E.
  by apply: (le_trans px); apply: (le_trans h); rewrite EFinM; apply: lee_wpmul2l => //; rewrite lee_fin expR_ge0.
rewrite lee_fin -ler_pdivr_mulr// => le.
have : p / p' < p / p'; last by rewrite ltxx.
apply: (le_lt_trans le); rewrite -[ltRHS]lnK ?posrE ?divr_gt0// ltr_expR //.
Qed.

Lemma in_all T n (F : 'I_n -> set T) x : (\big[setI/setT]_(j < n) F j) x <-> forall j, F j x.
Proof.
split=> [h j|h]; first by move: h; rewrite (bigD1 j)//= => -[].
by elim/big_ind: _ => // A B; split.
Qed.

Section Compared.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.

(* The noise that all are compared with is drawn last: that of the threshold, or of the answer that wins. *)
Definition with_common : {measure set (W * R)%type -> \bar R} := [the measure _ _ of product_measure1 nu (law_sigma_finite (mu1 n))].

(* The noise of answer j comes out as it has to, where the common noise is t. *)
Context (side : nat -> R -> set R).
Hypothesis measurable_side : forall j, measurable [set x : R * R | side j x.1 x.2].
Definition all_come_out : set (W * R) := \big[setI/setT]_(j < n) [set x | side j x.2 (Z j x.1)].

Lemma measurable_all : measurable all_come_out.
Proof.
apply: bigsetI_measurable => j _.
have mf : measurable_fun setT (fun x : W * R => (x.2, Z j x.1)).
  apply/prod_measurable_funP; split; first exact: measurable_second.
  by apply: (measurable_after (f := fst)); [exact: measurable_first | exact: (measurable_noises noises)].
by rewrite (_ : [set x | _] = setT `&` (fun x : W * R => (x.2, Z j x.1)) @^-1` [set x : R * R | side j x.1 x.2]); [exact: mf | rewrite setTI].
Qed.

Theorem compared_chance : with_common all_come_out = (\int[mu n]_t (\prod_(j < n) fine (mu j (side j t)))%:E)%E.
Proof.
have nu1 := independent_total noises; have sn := law_sigma_finite nu1; have sm := law_sigma_finite (mu1 n).
have mA := measurable_all.
rewrite -[LHS]/(\int[nu]_w mu n (xsection all_come_out w))%E.
have := indic_fubini_tonelli sn sm mA; rewrite indic_fubini_tonelli_FE// indic_fubini_tonelli_GE// => ->.
apply: eq_integral => t _ /=.
have ms j : measurable (side j t).
  rewrite (_ : side j t = xsection [set x : R * R | side j x.1 x.2] t); first exact: measurable_xsection (measurable_side j).
  by apply/seteqP; split=> z; rewrite /xsection/= inE.
rewrite -(independent_box noises ms); congr (nu _); apply/seteqP; split=> w; rewrite /ysection/= inE /all_come_out.
- by move=> /in_all h; apply/in_all => j; exact: (h j).
- by move=> /in_all h; apply/in_all => j; exact: (h j).
Qed.
End Compared.

(* Further candidates: as they go far below, the chance rises to the one without them. *)
Section Further.
Context (R : realType) d (W : measurableType d) (nu : {measure set W -> \bar R}) (E : nat -> set W) (O : set W).
Hypotheses (nu1 : nu setT = 1%E) (mE : forall s, measurable (E s)) (mO : measurable O).
Hypotheses (up : forall s, E s `<=` E s.+1) (EO : \bigcup_s E s = O).

Lemma chance_rises (c : \bar R) : (forall s, (nu (E s) <= c)%E) -> (nu O <= c)%E.
Proof.
move=> le; have nd : nondecreasing_seq E by apply/nondecreasing_seqP => s; apply/subsetPset.
have mU : measurable (\bigcup_s E s) by rewrite EO.
have cv : ((nu \o E) --> nu (\bigcup_s E s))%E by exact: nondecreasing_cvg_mu.
rewrite -EO -(cvg_lim _ cv)//; apply: lime_le; first by apply/cvg_ex; exists (nu (\bigcup_s E s)).
exact: nearW.
Qed.
End Further.

(* -- The rule, from below -- *)

Section Rule.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (X : Type) (N : relation X) dY (Y : measurableType dY) (M : mechanism R X Y) (O : set Y) (mO : measurable O).

(* Above threshold, or noisy max of so many candidates: an output of which two neighbours' runs have these probabilities. Where one of several greatest
   answers is told at random, by an order of the indices, the probability is a mean over the orders. *)
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (K : finType) (weight : K -> R).
Hypothesis weight0 : forall k, 0 <= weight k.

(* The probability of an output, as it is computed. *)
Definition computed_chance (side : K -> nat -> R -> set R) : R :=
  \sum_k weight k * fine (\int[mu n]_t (\prod_(j < n) fine (mu j (side k j t)))%:E)%E.
Definition output_of (side : K -> nat -> R -> set R) (x : X) :=
  (forall k j, measurable [set z : R * R | side k j z.1 z.2]) /\ M x O = (\sum_k weight k * fine (with_common mu1 n nu (all_come_out n Z (side k))))%:E.

Lemma output_chance side x : output_of side x -> M x O = (computed_chance side)%:E.
Proof. by move=> [ms ->]; congr (_%:E); apply: eq_bigr => k _; rewrite (compared_chance noises (ms k)). Qed.

Lemma output_lower x x' side side' (v : R) : both N x x' -> output_of side x -> output_of side' x' ->
  0 < computed_chance side -> 0 < computed_chance side' -> v <= ln (computed_chance side / computed_chance side') -> (v%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx out out' p0 p0' le; apply: (@le_trans _ _ (ln (computed_chance side / computed_chance side'))%:E); first by rewrite lee_fin.
by apply: (event_lower mO xx p0 _ _ p0'); rewrite ?(output_chance out) ?(output_chance out').
Qed.

(* Candidates from k on are further ones, s below where they were, the same at both neighbours; the common noise is that of the answer that wins. *)
Context (near : nat) (from : nat -> R).
Definition near_side (side : K -> nat -> R -> set R) k j t : set R := if (j < near)%N then side k j t else setT.
Definition far_side (side : K -> nat -> R -> set R) (strict : K -> nat -> bool) (s : nat) k j t : set R :=
  if (j < near)%N then side k j t else if strict k j then [set z | z < t + from j + s%:R] else [set z | z <= t + from j + s%:R].

Lemma far_rises side strict k s : all_come_out n Z (far_side side strict s k) `<=` all_come_out n Z (far_side side strict s.+1 k).
Proof.
move=> w /in_all h; apply/in_all => j; move: (h j); rewrite /= /far_side; case: ifP => // _; case: ifP => _ /= lt.
- by apply: (lt_le_trans lt); rewrite ler_add2l ler_nat.
- by apply: (le_trans lt); rewrite ler_add2l ler_nat.
Qed.

Lemma far_near side strict k : \bigcup_s all_come_out n Z (far_side side strict s k) = all_come_out n Z (near_side side k).
Proof.
apply/seteqP; split=> w.
- move=> [s _ /in_all h]; apply/in_all => j; move: (h j); rewrite /= /far_side /near_side; by case: ifP.
- move=> /in_all h; have [s sE] := beyond (\sum_(j < n) `|Z j w.1 - w.2 - from j| + 1) 0 (@ltr01 R); rewrite add0r mulr1 in sE.
  exists s => //; apply/in_all => j; move: (h j); rewrite /= /far_side /near_side; case: ifP => // _ _.
  have le : `|Z j w.1 - w.2 - from j| <= \sum_(j < n) `|Z j w.1 - w.2 - from j|.
    by rewrite (bigD1 j)//= ler_addl; apply: sumr_ge0.
  have := ler_norm (Z j w.1 - w.2 - from j); by case: ifP => _ /= h'; lra.
Qed.

Hypothesis weight1 : \sum_k weight k = 1.

(* Whatever bounds the chances from above for all s bounds the chance without the further ones. *)
Lemma far_bound side strict (c : R) : (forall k j, measurable [set z : R * R | near_side side k j z.1 z.2]) ->
  (forall s k j, measurable [set z : R * R | far_side side strict s k j z.1 z.2]) ->
  (forall s, \sum_k weight k * fine (with_common mu1 n nu (all_come_out n Z (far_side side strict s k))) <= c) -> computed_chance (near_side side) <= c.
Proof.
move=> mn mf le; set m := with_common mu1 n nu in le *.
have m1 : m setT = 1%E by exact: (independent_total (OneMore noises)).
pose E s k := all_come_out n Z (far_side side strict s k); pose O' k := all_come_out n Z (near_side side k).
have mE s k : measurable (E s k) by exact: (measurable_all noises (mf s k)).
have mO' k : measurable (O' k) by exact: (measurable_all noises (mn k)).
have pE : computed_chance (near_side side) = \sum_k weight k * fine (m (O' k)).
  by apply: eq_bigr => k _; rewrite -(compared_chance noises (mn k)).
rewrite pE; apply/ler_addgt0Pr => e e0.
have close k : exists s, fine (m (O' k)) - e <= fine (m (E s k)).
  apply: contrapT => none.
  have : (m (O' k) <= (fine (m (O' k)) - e)%:E)%E.
    apply: (chance_rises (E := fun s => E s k)) => //; [by move=> s; exact: far_rises | exact: far_near |].
    move=> s; rewrite -(fineK (mass_fin m1 (mE s k))) lee_fin leNgt; apply/negP => lt; apply: none; exists s; exact: ltW.
  by rewrite -{1}(fineK (mass_fin m1 (mO' k))) lee_fin; lra.
have [f fE] := choice close.
pose s := \max_k f k.
have up a b k : (a <= b)%N -> fine (m (E a k)) <= fine (m (E b k)).
  move=> ab; rewrite -lee_fin !fineK ?mass_fin//; apply: le_measure; rewrite ?inE//.
  elim: b ab => [|b IH]; first by rewrite leqn0 => /eqP ->.
  by rewrite leq_eqVlt => /predU1P[-> //|ab]; apply: subset_trans (IH ab) _; exact: far_rises.
apply: (@le_trans _ _ (\sum_k weight k * (fine (m (E s k)) + e))).
  apply: ler_sum => k _; rewrite ler_wpmul2l//; have := fE k; have := up (f k) s k (leq_bigmax k); lra.
rewrite (eq_bigr (fun k => weight k * fine (m (E s k)) + weight k * e)); last by move=> k _; rewrite mulrDr.
by rewrite big_split/= -mulr_suml weight1 mul1r ler_add2r; exact: le.
Qed.

(* Rule: worst-output, lower. *)
Theorem worst_output_lower (x x' : nat -> X) side side' strict (v : R) : (forall s, both N (x s) (x' s)) ->
  (forall k j, measurable [set z : R * R | near_side side k j z.1 z.2]) -> (forall k j, measurable [set z : R * R | near_side side' k j z.1 z.2]) ->
  (forall s, output_of (far_side side strict s) (x s)) -> (forall s, output_of (far_side side' strict s) (x' s)) ->
  0 < computed_chance (near_side side) -> 0 < computed_chance (near_side side') ->
  v <= ln (computed_chance (near_side side) / computed_chance (near_side side')) -> (v%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx mn mn' out out' p0 p0' le; set p := computed_chance (near_side side) in p0 le *; set p' := computed_chance (near_side side') in p0' le *.
apply: tight_epsilon_lower => eps e0 lt dpM.
have under s : \sum_k weight k * fine (with_common mu1 n nu (all_come_out n Z (far_side side' strict s k))) <= p'.
  rewrite (_ : p' = \sum_k weight k * fine (with_common mu1 n nu (all_come_out n Z (near_side side' k)))); last first.
    by apply: eq_bigr => k _; rewrite (compared_chance noises (mn' k)).
  have m1 : with_common mu1 n nu setT = 1%E by exact: (independent_total (OneMore noises)).
  apply: ler_sum => k _; rewrite ler_wpmul2l// -lee_fin.
  have m2 := measurable_all noises ((out' s).1 k); have m3 := measurable_all noises (mn' k).
  rewrite !fineK ?(mass_fin m1)//; apply: le_measure; rewrite ?inE// => w hw.
  by rewrite -(far_near side' strict k); exists s.
have : p <= expR eps * p'.
  apply: (far_bound (strict := strict)) => //; first by move=> s; exact: (out s).1.
  move=> s; have := dpM _ _ (xx s) O mO; rewrite (out s).2 (out' s).2 adde0 -EFinM lee_fin => /le_trans; apply.
  by rewrite ler_wpmul2l ?expR_ge0.
rewrite -ler_pdivr_mulr// => le'.
have : p / p' < p / p'; last by rewrite ltxx.
apply: (le_lt_trans le'); rewrite -[ltRHS]lnK ?posrE ?divr_gt0// ltr_expR; exact: lt_le_trans le.
Qed.
End Rule.
