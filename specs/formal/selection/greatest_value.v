(* Report noisy max that tells the greatest noisy answer itself (docs/theory/selection.md, log-concave noisy max): what shifts of the noises show from
   above, on the reals or the integers; and from below, answers that go up together, or one that goes down while the others are far below. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels composition groups joint_neighbours finite selection.
From dpverify Require Import independent log_concave moments chain worst_run_limits worst_output_lower noisy_max_rule.

(* Numbers for the first n, 0 for the others. *)
Section Extended.
Context (R : realType) (n : nat).
Definition extended (g : 'I_n -> R) (j : nat) : R := if insub j is Some k then g k else 0.
Lemma extendedE g (k : 'I_n) : extended g k = g k. Proof. by rewrite /extended valK. Qed.
End Extended.

Section Greatest.
Context (R : realType) (n : nat) (mu : {measure set R -> \bar R}) (mu1 : mu setT = 1%E).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Implicit Types (q : 'I_n -> R) (i j : 'I_n) (A : set R).

Definition noisy q j (w : W) : R := q j + Z j w.
(* The greatest noisy answer is in A. *)
Definition greatest_in q A : set W := [set w | exists2 i, forall j, noisy q j w <= noisy q i w & A (noisy q i w)].

(* It is split by the least index at which it is met. *)
Definition first_greatest q i : set W := \big[setI/setT]_(j < n) [set w | (j != i) ==> beats i j (noisy q i w) (noisy q j w)].
Definition first_greatest_in q A i : set W := first_greatest q i `&` [set w | A (noisy q i w)].

Lemma first_greatestP q i w : first_greatest q i w <-> forall j, j != i -> beats i j (noisy q i w) (noisy q j w).
Proof.
split=> [/in_all h j ji|h]; first by have := h j; rewrite /= ji.
by apply/in_all => j /=; apply/implyP; exact: h.
Qed.

Lemma greatest_inE q A : greatest_in q A = \big[setU/set0]_(i < n) first_greatest_in q A i.
Proof.
have in_some (F : 'I_n -> set W) w : (\big[setU/set0]_(i < n) F i) w <-> exists i, F i w.
  split=> [|[i Fi]]; last by rewrite (bigD1 i)//=; left.
  by elim/big_ind: _ => [[]|B B' IB IB' [/IB|/IB']|i _ Fi] //; exists i.
apply/seteqP; split=> w.
- move=> [i0 top Ai]; apply/in_some.
  have P0 : [forall j, noisy q j w <= noisy q i0 w] by apply/forallP.
  have [i /forallP iP least] := @arg_minnP _ i0 (fun i => [forall j, noisy q j w <= noisy q i w]) (@nat_of_ord n) P0.
  exists i; split; last first.
    have e : noisy q i w = noisy q i0 w by apply/eqP; rewrite eq_le top iP.
    by rewrite /= e.
  apply/first_greatestP => j ji; rewrite /beats; case: ifP => [lt|_]; last exact: iP.
  rewrite lt_neqAle iP andbT; apply/negP => /eqP e.
  have Pj : [forall k, noisy q k w <= noisy q j w] by apply/forallP => k; rewrite e.
  by have := least j Pj; rewrite leqNgt lt.
- move=> /in_some[i [/first_greatestP top Ai]]; exists i => // j.
  have [-> //|/top] := eqVneq j i; rewrite /beats; by case: ifP => _ // /ltW.
Qed.

Lemma measurable_noisy q j : measurable_fun setT (noisy q j).
Proof. by apply: measurable_funD; [exact: measurable_fun_cst | exact: (measurable_noises noises)]. Qed.

Lemma measurable_first_greatest q i : measurable (first_greatest q i).
Proof.
apply: bigsetI_measurable => j _; case: (j != i); last first.
  by rewrite (_ : [set w | _] = setT)//; apply/seteqP; split.
have mg : measurable_fun setT (fun w => noisy q i w - noisy q j w) by apply: measurable_funB; exact: measurable_noisy.
rewrite /beats /=; case: (j < i)%N.
- rewrite (_ : [set w | _] = setT `&` (fun w => noisy q i w - noisy q j w) @^-1` [set z | 0 < z]).
    by apply: mg => //; exact: measurable_open_ray.
  by rewrite setTI; apply/seteqP; split=> w /=; rewrite subr_gt0.
- rewrite (_ : [set w | _] = setT `&` (fun w => noisy q i w - noisy q j w) @^-1` [set z | 0 <= z]).
    by apply: mg => //; exact: measurable_ray.
  by rewrite setTI; apply/seteqP; split=> w /=; rewrite subr_ge0.
Qed.

Lemma measurable_first_greatest_in q A i : measurable A -> measurable (first_greatest_in q A i).
Proof.
move=> mA; apply: measurableI; first exact: measurable_first_greatest.
by rewrite -[X in measurable X]setTI; exact: measurable_noisy.
Qed.

Lemma measurable_greatest_in q A : measurable A -> measurable (greatest_in q A).
Proof. by move=> mA; rewrite greatest_inE; apply: bigsetU_measurable => i _; exact: measurable_first_greatest_in. Qed.

Lemma greatest_mass q A : measurable A -> nu (greatest_in q A) = (\sum_(i < n) nu (first_greatest_in q A i))%E.
Proof.
move=> mA; rewrite greatest_inE measure_semi_additive_ord//.
- by move=> i; exact: measurable_first_greatest_in.
- move=> i i' _ _ [w [[/first_greatestP gi _] [/first_greatestP gi' _]]].
  apply: contrapT => /eqP ne; have ne' : i' != i by rewrite eq_sym.
  have := gi i' ne'; have := gi' i ne; rewrite /beats.
  by case: ltngtP => [_|_|/val_inj e]; [move=> /lt_le_trans h /h; rewrite ltxx | move=> /le_lt_trans h /h; rewrite ltxx | rewrite e eqxx in ne].
- by rewrite -greatest_inE; exact: measurable_greatest_in.
Qed.
End Greatest.

(* -- From above, by shifts -- *)

Section Shifts.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (left right : option R).
Hypotheses (mu1 : mu setT = 1%E) (slopes : has_slopes lam mu left right).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Context (M : mechanism R ('I_n -> R) [the measurableType _ of R : Type]).
Hypothesis MV : forall q A, measurable A -> M q A = nu (greatest_in Z q A).
Context (a b : R) (la : left = Some a) (rb : right = Some b).

(* The winner's noise is shifted so that its noisy answer stays; the noises of others whose answers go up are shifted down. *)
Lemma value_shifted (v : R) (q q' : 'I_n -> R) : (forall j, keeps lam (q j - q' j)) ->
  (forall i : 'I_n, (b * Num.max 0 (q i - q' i) + a * (\sum_j Num.max 0 (q' j - q j)) <= v)%R) -> close v 0 (M q) (M q').
Proof.
move=> kept total A mA; rewrite !MV// adde0 !(greatest_mass noises)// ge0_sume_distrr; last by [].
apply: lee_sum => i _.
pose s (j : 'I_n) := if j == i then q i - q' i else Num.min 0 (q j - q' j).
pose c (j : 'I_n) := (if j == i then b * Num.max 0 (q i - q' i) else 0) + a * Num.max 0 (q' j - q j).
have none B : (mu [set z | B (z + 0)%R] <= (expR 0)%:E * mu B)%E by exact: shift_none.
have costs (j : nat) : (j < n)%N -> forall B, measurable B -> (mu [set z | B (z + extended s j)%R] <= (expR (extended c j))%:E * mu B)%E.
  move=> jn B mB; rewrite -[j]/(nat_of_ord (Ordinal jn)) !extendedE; move: (Ordinal jn) => {j jn} j.
  have down k : q k <= q' k -> (mu [set z | B (z + (q k - q' k))%R] <= (expR (a * (q' k - q k)))%:E * mu B)%E.
    move=> le; rewrite (_ : q k - q' k = - (q' k - q k)); last by rewrite opprB.
    by apply: (shift_left slopes la); rewrite ?subr_ge0// opprB.
  rewrite /s /c; have [->|ji] := eqVneq j i; last first.
    rewrite add0r; have [le|lt] := leP (q j) (q' j).
    - by rewrite min_r ?subr_le0// max_r ?subr_ge0//; exact: down.
    - by rewrite min_l ?subr_ge0 ?(ltW lt)// max_l ?subr_le0 ?(ltW lt)// mulr0; exact: none.
  have [le|lt] := leP (q i) (q' i).
  - rewrite max_l ?subr_le0// max_r ?subr_ge0// mulr0 add0r; exact: down.
  - rewrite max_r ?subr_ge0 ?(ltW lt)// [X in a * X]max_l ?subr_le0 ?(ltW lt)// mulr0 addr0.
    by apply: (shift_right slopes rb) => //; rewrite subr_ge0 ltW.
have [S [mS SE Sc]] := independent_moved noises costs.
have SE' (j : 'I_n) w : Z j (S w) = Z j w + s j by rewrite SE// extendedE.
have mi := measurable_first_greatest_in noises q' i mA.
apply: (@le_trans _ _ (nu [set w | first_greatest_in Z q' A i (S w)])).
  apply: le_measure; rewrite ?inE//; first exact: (measurable_first_greatest_in noises).
    by rewrite -[X in measurable X]setTI; exact: mS.
  have same w : noisy Z q' i (S w) = noisy Z q i w by rewrite /noisy SE' /s eqxx; lra.
  move=> w [/first_greatestP top Ai]; split; last by rewrite /= same.
  apply/first_greatestP => j ji; rewrite same.
  have le : noisy Z q' j (S w) <= noisy Z q j w.
    rewrite /noisy SE' /s (negbTE ji).
    have : Num.min 0 (q j - q' j) <= q j - q' j by rewrite le_minl lexx orbT.
    by move: (Num.min _ _) => m; lra.
  by have := top j ji; rewrite /beats; case: ifP => _ h; [exact: le_lt_trans h | exact: le_trans h].
apply: (le_trans (Sc _ mi)); apply: lee_wpmul2r => //; rewrite lee_fin ler_expR.
apply: le_trans (total i); rewrite (eq_bigr c); last by move=> j _; rewrite extendedE.
by rewrite big_split/= -mulr_sumr ler_add2r (bigD1 i)//= eqxx big1 ?addr0// => j /negbTE ->.
Qed.

(* What is lost for each unit, where answers move as they like, where all move the same way, and where one moves alone. *)
Variant value_moves (D : R) : relation ('I_n -> R) -> R -> Prop :=
| ValueAll : value_moves D (moved_by (n := n) D) (Num.max a b + n.-1%:R * a)
| ValueSameWay : value_moves D (raised_by (n := n) D) (Num.max (n%:R * a) b)
| ValueOneAlone : value_moves D (alone_by D) (Num.max a b).

Lemma sum_most (g : 'I_n -> R) D : (forall j, g j <= D) -> \sum_j g j <= n%:R * D.
Proof. by move=> gD; rewrite -[n in leRHS]card_ord mulr_natl -sumr_const; apply: ler_sum => j _. Qed.

Lemma sum_others (g : 'I_n -> R) D i : (forall j, g j <= D) -> \sum_j g j <= g i + n.-1%:R * D.
Proof.
move=> gD; rewrite (bigD1 i)//= ler_add2l -[n in leRHS]card_ord mulr_natl -(cardC1 i) -sumr_const.
by apply: ler_sum => j _.
Qed.

(* The greatest noisy answer: on the integers, whose answers move by integers; and on the reals where all move the same way, or one moves alone. *)
(* Rule: log-concave-noisy-max, upper, in part: answers that differ by points of a hull. *)
Theorem noisy_max_value_upper (N N' : relation ('I_n -> R)) D c : 0 <= a -> 0 <= b -> 0 <= D -> value_moves D N c -> (forall q q', N' q q' -> N q q') ->
  (forall q q', both N' q q' -> forall j, keeps lam (q j - q' j)) -> pure_dp N' M (c * D).
Proof.
move=> a0 b0 D0 mv sub kept q q' qq; apply: value_shifted => [|i]; first exact: kept.
have {}qq : both N q q' by case: qq => /sub h; [left | right].
have am : a <= Num.max a b by rewrite le_maxr lexx.
have bm : b <= Num.max a b by rewrite le_maxr lexx orbT.
(* one answer that goes up or down *)
have one (e : R) : - D <= e -> e <= D -> b * Num.max 0 (- e) + a * Num.max 0 e <= Num.max a b * D.
  move=> lo hi; have [e0|e0] := leP 0 e.
  - rewrite (max_l (y := - e)) ?oppr_le0// mulr0 add0r; apply: (le_trans (ler_wpmul2l a0 hi)); exact: ler_wpmul2r.
  - rewrite (max_r (y := - e)) ?oppr_ge0 ?(ltW e0)// mulr0 addr0; have h : - e <= D by lra.
    apply: (le_trans (ler_wpmul2l b0 h)); exact: ler_wpmul2r.
have opp j : q j - q' j = - (q' j - q j) by rewrite opprB.
have up0 (e : R) : e <= 0 -> Num.max 0 e = 0 by move=> h; rewrite max_l.
have upD (e : R) : e <= D -> Num.max 0 e <= D by move=> h; rewrite le_maxl D0.
case: mv qq => qq.
- have near j : - D <= q' j - q j /\ q' j - q j <= D.
    by case: qq => /(_ j); rewrite ler_norml => /andP[? ?]; split; lra.
  have [lo hi] := near i; have := one _ lo hi.
  have := ler_wpmul2l a0 (sum_others i (fun j => upD _ (near j).2)).
  by rewrite mulrDr mulrDl -opp [_ * a]mulrC -mulrA [a * (_ * D)]mulrCA; lra.
- have n0 : (1 <= n)%N by exact: leq_ltn_trans (ltn_ord i).
  case: qq => qq.
  + have up j : q' j - q j <= D by have /andP[] := qq j.
    rewrite opp [X in b * X]up0 ?mulr0 ?add0r; last by have /andP[h _] := qq i; rewrite oppr_le0.
    apply: (le_trans (ler_wpmul2l a0 (sum_most (fun j => upD _ (up j))))).
    by rewrite mulrA [a * _]mulrC ler_wpmul2r// le_maxr lexx.
  + rewrite [X in a * X]big1 ?mulr0 ?addr0; last by move=> j _; have /andP[h _] := qq j; apply: up0; lra.
    have h : Num.max 0 (q i - q' i) <= D by apply: upD; have /andP[] := qq i.
    by apply: (le_trans (ler_wpmul2l b0 h)); rewrite ler_wpmul2r// le_maxr lexx orbT.
- have {qq} [l [/andP[lo hi] same]] : exists l, - D <= q' l - q l <= D /\ forall j, j != l -> q' j = q j.
    by case: qq => -[l [lD same]]; exists l; (split; last by move=> j /same) ; move: lD; rewrite ler_norml => /andP[? ?]; apply/andP; split; lra.
  rewrite (bigD1 l)//= [X in a * (_ + X)]big1 ?addr0; last by move=> j /same ->; rewrite subrr maxxx.
  have := one _ lo hi; rewrite -opp; have [-> //|il] := eqVneq i l.
  rewrite (same _ il) subrr maxxx mulr0 add0r; apply: le_trans; rewrite ler_addr mulr_ge0// le_maxr lexx//.
Qed.
End Shifts.
