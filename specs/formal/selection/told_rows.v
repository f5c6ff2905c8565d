(* The probability that all of some rows hold (docs/theory/selection.md, told words), each of which has at most one noise that is no pivot: by sums over the
   cells of the pivots, with the means over a cell where they are known. Where noises with densities are in a row it holds with equality with probability 0. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent endless word_chances told_runs mean_products given_pivots noise_edges noise_rows.

(* What is said of the noises alone: the n noises, which of them are pivots and on the integers, and the cuts of the pivots. *)
Section Said.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (n : nat) (whole P : pred nat) (at_ : nat -> R -> R * R).
Context (cuts : nat -> seq R) (most_cuts : nat) (rs : seq (row R)).

Definition alone (r : row R) : bool := [forall j : 'I_n, (coef r j != 0) ==> P j].
(* A row can be met with equality with a positive probability: all its noises are on the integers. *)
Definition tied (r : row R) : bool := [forall j : 'I_n, (coef r j != 0) ==> whole j].
Definition stays (r : row R) : bool := strict r && tied r.

(* The rows of a noise that is no pivot: it is at least a form in the pivots, or at most that. *)
Definition rows_of k : seq (row R) := if P k || (n <= k)%N then [::] else [seq r <- rs | coef r k != 0].
Definition ups k := [seq r <- rows_of k | 0 < coef r k].
Definition downs k := [seq r <- rows_of k | ~~ (0 < coef r k)].
Definition others : seq nat := [seq k <- iota 0 n | ~~ P k && has (fun r => coef r k != 0) rs].
Definition after k (r : row R) : bool := if 0 < coef r k then stays r else ~~ stays r.
Definition start k (r : row R) : R := rest r / - coef r k.
Definition factor k (r : row R) j : R := coef r j / - coef r k.
Definition edge k (z : nat -> R) (r : row R) : bool * R := (after k r, sum_at n P z (start k r) (factor k r)).

(* Cells. *)
Definition cells := {ffun 'I_n -> 'I_most_cuts.+1}.
Definition number (c : cells) (j : nat) : nat := if insub j is Some i then c i : nat else 0%N.
Definition fits (c : cells) : bool := [forall j : 'I_n, (c j <= if P j then size (cuts j) else 0)%N].
Definition in_cell (c : cells) j : set R := if P j then cell (whole j) (cuts j) (number c j) else setT.
Definition low_of (c : cells) j := low_end (cuts j) (number c j).
Definition high_of (c : cells) j := high_end (whole j) (cuts j) (number c j).
Definition row_low (c : cells) (r : row R) := sum_low n P (low_of c) (high_of c) (rest r) (coef r).
Definition row_high (c : cells) (r : row R) := sum_high n P (low_of c) (high_of c) (rest r) (coef r).
Definition sure (c : cells) : bool := all (fun r => alone r ==> ((0 < row_low c r)%E || (~~ stays r && (row_low c r == 0%E)))) rs.
Definition possible (c : cells) : bool := all (fun r => alone r ==> ((0 < row_high c r)%E || [&& tied r, ~~ stays r & row_high c r == 0%E])) rs.
Definition edge_bounds (c : cells) k (r : row R) : R * R :=
  ((edge_at (whole k) (at_ k) (after k r) (sum_low n P (low_of c) (high_of c) (start k r) (factor k r))).1,
   (edge_at (whole k) (at_ k) (after k r) (sum_high n P (low_of c) (high_of c) (start k r) (factor k r))).2).
Definition noise_bounds (c : cells) k : R * R := between [seq edge_bounds c k r | r <- ups k] [seq edge_bounds c k r | r <- downs k].

(* Means over a cell that are known: of an edge without pivots, and of one with one pivot, by an integral over the cell of this one. *)
Definition inside (r : row R) : seq nat := [seq j <- iota 0 n | P j && (coef r j != 0)].
Definition edge_mean (c : cells) k (r : row R) (a : R) : Prop :=
  match inside r with
  | [::] => (edge_bounds c k r).1 <= a <= (edge_bounds c k r).2
  | [:: p] => (\int[mu p]_(t in in_cell c p) (chance (mu k) (after k r, start k r + factor k r p * t))%:E = (a * fine (mu p (in_cell c p)))%:E)%E
  | _ => False
  end.
Definition side_mean (c : cells) k (rows : seq (row R)) (none : R) (a : R) : Prop :=
  match rows with [::] => a = none | [:: r] => edge_mean c k r a | _ => False end.
Definition single (c : cells) k : bool := [&& (size (ups k) <= 1)%N, (size (downs k) <= 1)%N, all (fun r => size (inside r) <= 1)%N (rows_of k) &
  greatest [seq (edge_bounds c k r).2 | r <- ups k] <= least [seq (edge_bounds c k r).1 | r <- downs k]].
(* A set that holds the mean, whatever is not known of it. *)
Definition holds_mean (c : cells) k (S : set R) : Prop :=
  (forall a, (noise_bounds c k).1 <= a <= (noise_bounds c k).2 -> S a) \/
  (single c k /\ forall a b, side_mean c k (downs k) 1 a -> side_mean c k (ups k) 0 b -> S (a - b)).

Definition factors (c : cells) (mean : nat -> R) := [seq ((noise_bounds c k).1, (noise_bounds c k).2, mean k) | k <- others].
Definition rows_least (mean : cells -> nat -> R) : R := \sum_(c | [&& fits c, possible c & sure c])
  (\prod_(j < n | P j) cell_least (cuts j) (at_ j) (c j)) * product_low (factors c (mean c)).
Definition rows_most (mean : cells -> nat -> R) : R := \sum_(c | fits c && possible c)
  (\prod_(j < n | P j) cell_most (cuts j) (at_ j) (c j)) * product_high (factors c (mean c)).
End Said.

Section Enclosed.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1%E. Proof. exact: independent_total noises. Qed.
Let mZ := measurable_noises noises.
Context (whole P : pred nat) (at_ : nat -> R -> R * R) (cuts : nat -> seq R) (m : nat) (rs : seq (row R)).
Hypothesis laws : forall j, if whole j then mu j [set z | z \isn't a Rint] = 0%E else forall z, mu j [set z] = 0%E.
Hypothesis known : forall j x, (whole j -> x \is a Rint) -> (at_ j x).1 <= fine (mu j (below false x)) <= (at_ j x).2.
Hypotheses (rises : forall j, sorted <%R (cuts j)) (integral : forall j, whole j -> {in cuts j, forall b, b \is a Rint}).
Hypothesis enough : forall j, (size (cuts j) <= m)%N.
Hypothesis one_other : forall r, r \in rs -> forall i j : 'I_n, coef r i != 0 -> coef r j != 0 -> ~~ P i -> ~~ P j -> i = j.

Notation zs w := (fun j => Z j w).
Notation cells := (cells n m).
Notation alone := (alone n P). Notation tied := (tied n whole). Notation stays := (stays n whole).
Notation rows_of := (rows_of n P rs). Notation ups := (ups n P rs). Notation downs := (downs n P rs). Notation others := (others n P rs).
Notation after := (after n whole). Notation edge := (edge n whole P). Notation in_cell := (in_cell whole P cuts).
Notation fits := (fits P cuts). Notation edge_bounds := (edge_bounds whole P at_ cuts). Notation noise_bounds := (noise_bounds whole P at_ cuts rs).

Definition all_hold : set W := [set w | all (row_holds n (zs w)) rs].

Lemma measurable_form (P' : pred nat) a (t : nat -> R) : measurable_fun setT (fun w => sum_at n P' (zs w) a t).
Proof.
apply: measurable_funD; first exact: measurable_fun_cst.
rewrite (_ : (fun _ => _) = (fun w => \sum_(j < n) (if P' j then t j * Z j w else 0))); last by apply/funext => w; rewrite big_mkcond.
elim: (n) => [|k IH].
  by rewrite (_ : (fun _ => _) = cst 0); [exact: measurable_fun_cst | apply/funext => w; rewrite big_ord0].
rewrite (_ : (fun _ => _) = (fun w => \sum_(j < k) (if P' j then t j * Z j w else 0)) \+ (fun w => if P' k then t k * Z k w else 0)); last first.
  by apply/funext => w; rewrite big_ord_recr.
apply: measurable_funD => //; case: (P' k); last exact: measurable_fun_cst.
by apply: measurable_funM; [exact: measurable_fun_cst | exact: mZ].
Qed.

Lemma measurable_row (r : row R) : measurable [set w | row_holds n (zs w) r].
Proof.
have mf := measurable_form predT (rest r) (coef r); rewrite /row_holds; case: (strict r).
- rewrite (_ : [set _ | _] = (fun w => form_at n r (zs w)) @^-1` `]0, +oo[); last by apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
  by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
- rewrite (_ : [set _ | _] = (fun w => form_at n r (zs w)) @^-1` `[0, +oo[); last by apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
  by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
Qed.

Lemma measurable_all (s : seq (row R)) : measurable [set w | all (row_holds n (zs w)) s].
Proof.
elim: s => [|r s IH] /=; first by rewrite (_ : [set _ | _] = setT); [exact: measurableT | apply/seteqP; split].
rewrite (_ : [set _ | _] = [set w | row_holds n (zs w) r] `&` [set w | all (row_holds n (zs w)) s]).
  by apply: measurableI => //; exact: measurable_row.
by apply/seteqP; split=> w /=; [move=> /andP[] | move=> [-> ->]].
Qed.

(* But for noises that are where they never are, and rows that are met with equality where a noise with a density is in them. *)
Definition live w := (forall j, (j < n)%N -> whole j -> Z j w \is a Rint) /\ forall r, r \in rs -> ~~ tied r -> form_at n r (zs w) != 0.

Lemma rest_of_null (A B : set W) : measurable A -> measurable B -> nu B = 0%E -> nu (A `|` B) = nu A.
Proof.
move=> mA mB B0; have mBA : measurable (B `\` A) by exact: measurableD.
have E : (nu (A `|` (B `\` A)) = nu A + nu (B `\` A))%E by apply: (measureU nu mA mBA); apply/seteqP; split=> // w [Aw []].
rewrite (_ : A `|` B = A `|` (B `\` A)); last by apply/seteqP; split=> w [Aw|]; [left | have [|] := pselect (A w); [left | right] | left | case; right].
by rewrite E; have -> : nu (B `\` A) = 0%E; [exact: (subset_measure0 mBA mB (@subDsetl _ B A) B0) | rewrite adde0].
Qed.

Lemma null_union (A B : set W) : measurable A -> measurable B -> nu A = 0%E -> nu B = 0%E -> nu (A `|` B) = 0%E.
Proof. by move=> mA mB A0 B0; rewrite rest_of_null. Qed.

Lemma dead_null : exists D, [/\ measurable D, nu D = 0%E & forall w, ~ D w -> live w].
Proof.
have [D [mD D0 hD]] : exists D, [/\ measurable D, nu D = 0%E & forall w, ~ D w -> forall j, (j < n)%N -> whole j -> Z j w \is a Rint].
  have mN : measurable [set z : R | z \isn't a Rint].
    by rewrite (_ : [set _ | _] = ~` [set x : R | x \is a Rint]); [apply: measurableC; exact: measurable_integers | apply/seteqP; split=> z /= /negP].
  suff one k : (k <= n)%N -> exists D, [/\ measurable D, nu D = 0%E & forall w, ~ D w -> forall j, (j < k)%N -> whole j -> Z j w \is a Rint] by exact: one.
  elim: k => [_|k IH kn]; first by exists set0; rewrite measure0.
  have [D [mD D0 hD]] := IH (ltnW kn).
  exists (D `|` (if whole k then Z k @^-1` [set z | z \isn't a Rint] else set0)).
  have mk : measurable (if whole k then Z k @^-1` [set z | z \isn't a Rint] else set0).
    by case: (whole k) => //; rewrite -[X in measurable X]setTI; exact: mZ.
  split; first exact: measurableU.
  - apply: null_union => //; have := laws k; case: (whole k) => l0; last by rewrite measure0.
    by rewrite (noise_law noises).
  - move=> w no j; rewrite ltnS leq_eqVlt => /predU1P[-> wk|]; last by apply: hD => Dw; apply: no; left.
    by apply: contrapT => /negP h; apply: no; right; rewrite wk.
suff [D' [mD' D0' hD']] : exists D, [/\ measurable D, nu D = 0%E & forall w, ~ D w -> forall r, r \in rs -> ~~ tied r -> form_at n r (zs w) != 0].
  exists (D `|` D'); split; [exact: measurableU | exact: null_union | move=> w no; split; [apply: hD | apply: hD'] => h; apply: no; by [left | right]].
elim: rs => [|r s [D' [mD' D0' hD']]]; first by exists set0; rewrite measure0.
pose T := if tied r then set0 else [set w | form_at n r (zs w) = 0].
have mT : measurable T.
  rewrite /T; case: (tied r) => //; rewrite (_ : [set _ | _] = (fun w => form_at n r (zs w)) @^-1` [set 0])//.
  by rewrite -[X in measurable X]setTI; apply: (measurable_form predT (rest r) (coef r)) => //; exact: measurable_set1.
exists (T `|` D'); split; first exact: measurableU.
- apply: null_union => //; rewrite /T; case tr : (tied r); first by rewrite measure0.
  move: tr => /negbT; rewrite negb_forall => /existsP[j]; rewrite negb_imply => /andP[aj wj].
  have := laws j; rewrite (negbTE wj) => atom; rewrite -(independent_null noises (ltn_ord j) aj atom (- rest r)); congr (nu _).
  by apply/seteqP; split=> w; rewrite /form_at /=; [move/eqP; rewrite addrC addr_eq0 => /eqP | move=> ->; rewrite addrN].
- move=> w no q; rewrite inE => /predU1P[-> tr|qs]; last by apply: hD' => // h; apply: no; right.
  by apply/eqP => h; apply: no; left; rewrite /T (negbTE tr).
Qed.

Lemma live_le (A B : set W) : measurable A -> measurable B -> (forall w, live w -> A w -> B w) -> fine (nu A) <= fine (nu B).
Proof.
move=> mA mB AB; have [D [mD D0 hD]] := dead_null.
rewrite -(rest_of_null mB mD D0) fine_le ?mass_fin//; try exact: measurableU.
apply: le_measure; rewrite ?inE//; first exact: measurableU.
by move=> w Aw; have [Dw|/hD lw] := pselect (D w); [right | left; exact: AB].
Qed.

Lemma live_eq (A B : set W) : measurable A -> measurable B -> (forall w, live w -> (A w <-> B w)) -> fine (nu A) = fine (nu B).
Proof. by move=> mA mB AB; apply: le_anti; rewrite !live_le// => w /AB[]. Qed.

(* What the rows of a noise say of it. *)
Definition must k : set (W * R) := [set x | room [seq edge k (zs x.1) r | r <- ups k] [seq edge k (zs x.1) r | r <- downs k] x.2].

Lemma measurable_beyond k (r : row R) : measurable [set x : W * R | below (edge k (zs x.1) r).1 (edge k (zs x.1) r).2 x.2].
Proof.
have mf : measurable_fun setT (fun x : W * R => x.2 - sum_at n P (zs x.1) (start k r) (factor k r)).
  apply: measurable_funB; first exact: measurable_second.
  exact: (measurable_after (@measurable_first _ _ _ _) (measurable_form P (start k r) (factor k r))).
rewrite /below /edge /=; case: (after k r).
- rewrite (_ : [set _ | _] = (fun x : W * R => x.2 - sum_at n P (zs x.1) (start k r) (factor k r)) @^-1` `]-oo, 0]).
    by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
  by apply/seteqP; split=> x /=; rewrite in_itv/= subr_le0.
- rewrite (_ : [set _ | _] = (fun x : W * R => x.2 - sum_at n P (zs x.1) (start k r) (factor k r)) @^-1` `]-oo, 0[).
    by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
  by apply/seteqP; split=> x /=; rewrite in_itv/= subr_lt0.
Qed.

Lemma roomP k (us ds : seq (row R)) z x : room [seq edge k z r | r <- us] [seq edge k z r | r <- ds] x <->
  (forall r, r \in us -> ~ below (edge k z r).1 (edge k z r).2 x) /\ (forall r, r \in ds -> below (edge k z r).1 (edge k z r).2 x).
Proof.
split=> -[hu hd]; split.
- by move=> r rs'; apply: hu; exact: map_f.
- by move=> r rs'; apply: hd; exact: map_f.
- by move=> e /mapP[r rs' ->]; exact: hu.
- by move=> e /mapP[r rs' ->]; exact: hd.
Qed.

Lemma measurable_must k : measurable (must k).
Proof.
have mi (A : row R -> set (W * R)) (s : seq (row R)) : (forall r, measurable (A r)) -> measurable [set x | forall r, r \in s -> A r x].
  move=> mA; elim: s => [|r s IH]; first by rewrite (_ : [set _ | _] = setT); [exact: measurableT | apply/seteqP; split].
  rewrite (_ : [set _ | _] = A r `&` [set x | forall q, q \in s -> A q x]); first exact: measurableI.
  apply/seteqP; split=> x; first by move=> h; split; [apply: h; exact: mem_head | move=> q qs; apply: h; rewrite inE qs orbT].
  by move=> [h hs] q; rewrite inE => /predU1P[->//|]; exact: hs.
rewrite (_ : must k = [set x | forall r, r \in ups k -> (~` [set x : W * R | below (edge k (zs x.1) r).1 (edge k (zs x.1) r).2 x.2]) x] `&`
    [set x | forall r, r \in downs k -> [set x : W * R | below (edge k (zs x.1) r).1 (edge k (zs x.1) r).2 x.2] x]).
  by apply: measurableI; apply: mi => r; [apply: measurableC|]; exact: measurable_beyond.
by apply/seteqP; split=> x; rewrite /must /= => /roomP.
Qed.

Lemma must_depends k x : depends n Z P (fun w => must k (w, x)).
Proof.
move=> w w' same; rewrite /must /=; have E r : edge k (zs w) r = edge k (zs w') r.
  by rewrite /edge /sum_at; congr (_, _ + _); apply: eq_bigr => j Pj; rewrite same.
by congr (room _ _ _); apply: eq_map.
Qed.

(* A row of one noise and pivots. *)
Lemma row_edge k (r : row R) z : r \in rows_of k -> (~~ tied r -> form_at n r z != 0) ->
  row_holds n z r = if 0 < coef r k then ~~ `[< below (edge k z r).1 (edge k z r).2 (z k) >] else `[< below (edge k z r).1 (edge k z r).2 (z k) >].
Proof.
rewrite /rows_of; case: ifP => // /negbT; rewrite negb_or -ltnNge => /andP[Pk kn]; rewrite mem_filter => /andP[ak rrs] live_r.
have E : form_at n r z = coef r k * (z k - (edge k z r).2).
  rewrite /edge /sum_at /= /start /form_at (bigD1 (Ordinal kn))//= big_mkcond [X in _ - (_ + X)]big_mkcond/= mulrBr mulrDr.
  have -> : coef r k * (rest r / - coef r k) = - rest r by rewrite invrN mulrN mulrN mulrC mulfVK.
  have -> : coef r k * (\sum_(i < n) (if P i then factor k r i * z i else 0)) = - \sum_(i < n) (if i != Ordinal kn then coef r i * z i else 0).
    rewrite mulr_sumr -sumrN; apply: eq_bigr => i _; have [->|ne] := eqVneq i (Ordinal kn); first by rewrite /= (negbTE Pk) mulr0 oppr0.
    case Pi : (P i) => /=; first by rewrite /factor invrN !mulrN mulNr mulrN mulrA [coef r k * _]mulrC divfK.
    have [->|ai] := eqVneq (coef r i) 0; first by rewrite mul0r mulr0 oppr0.
    by have := one_other rrs (i := i) (j := Ordinal kn) ai ak; rewrite Pi => /(_ isT Pk) ik; rewrite ik eqxx in ne.
  lra.
have asE (b : bool) : `[< b >] = b by apply/asboolP/idP.
move: live_r; rewrite /row_holds E /below /edge /= /after /stays; set f := sum_at _ _ _ _ _.
have [a0|] := ltP 0 (coef r k); last rewrite le_eqVlt (negbTE ak) /= => a0.
- rewrite pmulr_rgt0// pmulr_rge0// subr_gt0 subr_ge0 mulf_eq0 (negbTE ak) /= subr_eq0.
  case: (strict r); case: (tied r) => //= ne; rewrite asE -?ltNge -?leNgt// le_eqVlt eq_sym (negbTE (ne isT))//.
- rewrite nmulr_rgt0// nmulr_rge0// subr_lt0 subr_le0 mulf_eq0 lt_eqF//= subr_eq0.
  case: (strict r); case: (tied r) => //= ne; rewrite asE// le_eqVlt (negbTE (ne isT))//.
Qed.

Lemma others_uniq : uniq others. Proof. by rewrite filter_uniq// iota_uniq. Qed.
Lemma others_few : {in others, forall k, k < n}%N. Proof. by move=> k; rewrite mem_filter mem_iota add0n => /andP[]. Qed.
Lemma others_apart : {in others, forall k, ~~ P k}. Proof. by move=> k; rewrite mem_filter => /andP[/andP[]]. Qed.

Lemma rows_met w : live w -> all_hold w <-> all (fun r => alone r ==> row_holds n (zs w) r) rs /\ all_met Z must others w.
Proof.
move=> [_ lw]; split.
- move=> /allP h; split; first by apply/allP => r rrs; apply/implyP => _; exact: h.
  move=> k ko; rewrite /met /must /=; apply/roomP; split=> r; rewrite mem_filter => /andP[ar rk].
  + have rrs : r \in rs by move: rk; rewrite /rows_of; case: ifP => // _; rewrite mem_filter => /andP[].
    by have := h r rrs; rewrite (row_edge rk); [rewrite ar => /negP no b; apply: no; exact/asboolP | exact: lw].
  + have rrs : r \in rs by move: rk; rewrite /rows_of; case: ifP => // _; rewrite mem_filter => /andP[].
    by have := h r rrs; rewrite (row_edge rk); [rewrite (negbTE ar) => /asboolP | exact: lw].
- move=> [/allP ha hm]; apply/allP => r rrs; case ar : (alone r); first by have := ha r rrs; rewrite ar.
  move: ar => /negbT; rewrite negb_forall => /existsP[k]; rewrite negb_imply => /andP[ak Pk].
  have ko : (k : nat) \in others by rewrite mem_filter mem_iota add0n ltn_ord Pk /= andbT; apply/hasP; exists r.
  have rk : r \in rows_of k by rewrite /rows_of (negbTE Pk) /= leqNgt ltn_ord /= mem_filter ak.
  rewrite (row_edge rk); last exact: lw.
  have := hm k ko; rewrite /met /must /= => /roomP[hu hd]; case: ifP => a0.
  + by apply/negP => /asboolP; apply: hu; rewrite mem_filter a0.
  + by apply/asboolP; apply: hd; rewrite mem_filter a0.
Qed.
End Enclosed.
