(* Polygons (docs/theory/curves.md: finite curve): the greatest of finitely many lines u - a v, with v from 0 to 1, that is 1 at a = 0 and nowhere
   negative, is the curve of one pair of laws on finitely many outputs. So is the greatest of the curves of the pairs of rows of a table. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition groups joint_neighbours finite curves pairs likelihood table_laws finite_curves.

(* -- A function that is a line between one corner and the next -- *)

Section Corners.
Context (R : realType) (f : R -> R) (n : nat) (x u w : nat -> R).
Hypotheses (x0 : x 0%N = 0) (rise : forall k, (k < n)%N -> x k < x k.+1).
Hypothesis pieces : forall k a, (k <= n)%N -> x k <= a -> ((k < n)%N -> a <= x k.+1) -> f a = u k - a * w k.
Hypotheses (last : w n = 0) (falls : forall k, (k < n)%N -> w k.+1 <= w k) (first : w 0%N <= 1) (f0 : f 0 = 1) (fn : 0 <= f (x n)).

(* What the steepness falls by at a corner is the mass of an output there under the second law; its loss is the logarithm of the corner. One
   more output is of the first law alone. *)
Definition steep (k : nat) : R := if k is j.+1 then w j else 1.
Definition drop (k : nat) : R := steep k - steep k.+1.
Definition corner_p (y : option 'I_n.+1) : R := if y is Some k then x k * drop k else f (x n).
Definition corner_q (y : option 'I_n.+1) : R := if y is Some k then drop k else 0.

Lemma drop_ge0 (k : nat) : (k <= n)%N -> 0 <= drop k.
Proof. by case: k => [|k] kn; rewrite /drop /= subr_ge0//; exact: falls. Qed.

Lemma corner_ge0 (k : nat) : (k <= n)%N -> 0 <= x k.
Proof. by elim: k => [|k IH] kn; rewrite ?x0//; apply: (le_trans (IH (ltnW kn))); exact/ltW/rise. Qed.

Lemma corner_q_ge0 y : 0 <= corner_q y.
Proof. by case: y => [k|] //=; apply: drop_ge0; rewrite -ltnS. Qed.

Lemma corner_p_ge0 y : 0 <= corner_p y.
Proof. by case: y => [k|] //=; apply: mulr_ge0; [apply: corner_ge0 | apply: drop_ge0]; rewrite -ltnS. Qed.

Lemma sum_corners (F : option 'I_n.+1 -> R) : \sum_y F y = F None + \sum_(k < n.+1) F (Some k).
Proof.
rewrite (bigD1 None)//=; congr (_ + _); rewrite (reindex_omap Some id)//=; last by case.
by apply: eq_bigl => k; rewrite eqxx.
Qed.

(* Abel's summation. *)
Lemma summed (h : nat -> R) m :
  \sum_(k < m.+1) drop k * h k = steep 0 * h 0%N - steep m.+1 * h m + \sum_(k < m) steep k.+1 * (h k.+1 - h k).
Proof.
elim: m => [|m IH]; first by rewrite big_ord_recr !big_ord0 /drop/=; lra.
by rewrite big_ord_recr IH [in RHS]big_ord_recr /drop/=; lra.
Qed.

Lemma one_piece (k : nat) a : (k < n)%N -> w k * (Num.max 0 (x k.+1 - a) - Num.max 0 (x k - a)) = f (Num.max a (x k)) - f (Num.max a (x k.+1)).
Proof.
move=> kn; have xx := rise kn; have L b : x k <= b -> b <= x k.+1 -> f b = u k - b * w k by move=> h1 h2; apply: pieces => //; exact: ltnW.
have e1 : f (x k.+1) = u k - x k.+1 * w k by apply: L => //; exact: ltW.
have e0 : f (x k) = u k - x k * w k by apply: L => //; exact: ltW.
have [h|h] := leP a (x k).
  by rewrite (max_r (ltW (le_lt_trans h xx))) !max_r ?subr_ge0// ?(ltW (le_lt_trans h xx))// e1 e0; lra.
rewrite (@max_l _ _ 0 (x k - a)) ?subr_le0 ?(ltW h)//.
have [h'|h'] := leP a (x k.+1); last by rewrite max_l ?subr_le0 ?(ltW h')// !subrr mulr0.
by rewrite max_r ?subr_ge0// e1 L ?(ltW h)//; lra.
Qed.

Lemma corners_value a : 0 <= a -> \sum_y Num.max 0 (corner_p y - a * corner_q y) = f a.
Proof.
move=> a0; rewrite sum_corners/= mulr0 subr0 (max_r fn).
have -> : \sum_(k < n.+1) Num.max 0 (x k * drop k - a * drop k) = \sum_(k < n.+1) drop k * Num.max 0 (x k - a).
  apply: eq_bigr => k _; rewrite maxr_pmulr ?mulr0; last by apply: drop_ge0; rewrite -ltnS.
  by have -> : x k * drop k - a * drop k = drop k * (x k - a) by lra.
rewrite (summed (fun k => Num.max 0 (x k - a))) x0 sub0r (@max_l _ _ 0 (- a)) ?oppr_le0// mulr0 /= last mul0r subrr add0r.
have -> : \sum_(k < n) w k * (Num.max 0 (x k.+1 - a) - Num.max 0 (x k - a)) = f (Num.max a (x 0%N)) - f (Num.max a (x n)).
  transitivity (\sum_(k < n) - (f (Num.max a (x k.+1)) - f (Num.max a (x k)))).
    by apply: eq_bigr => k _; rewrite one_piece// opprB.
  by rewrite sumrN -(big_mkord xpredT (fun k => f (Num.max a (x k.+1)) - f (Num.max a (x k)))) telescope_sumr// opprB.
rewrite x0 (max_l a0); have [h|h] := leP a (x n); first by lra.
have e b : x n <= b -> f b = u n by move=> hb; rewrite (pieces (leqnn n) hb) ?last ?mulr0 ?subr0// ltnn.
by rewrite !(e (x n)) ?(e a) ?(ltW h)//; lra.
Qed.

Lemma corner_q_total : \sum_y corner_q y = 1.
Proof.
rewrite sum_corners/= add0r (eq_bigr (fun k : 'I_n.+1 => drop k * 1)); last by move=> k _; rewrite mulr1.
by rewrite (summed (fun=> 1)) /= last big1; [lra | move=> k _; rewrite subrr mulr0].
Qed.

Lemma corner_p_total : \sum_y corner_p y = 1.
Proof.
by rewrite -[RHS]f0 -corners_value//; apply: eq_bigr => y _; rewrite mul0r subr0 max_r// corner_p_ge0.
Qed.

Theorem corners_curve : exists (Y : finType) (pt : Y -> nat) (P Q : {measure set nat -> \bar R}) (p q : Y -> R),
  [/\ injective pt, (forall y, 0 <= p y) /\ (forall y, 0 <= q y), P setT = 1%E /\ Q setT = 1%E, table_law pt P p /\ table_law pt Q q &
      forall a, 0 <= a -> profile a P Q = f a].
Proof.
pose pt (y : option 'I_n.+1) : nat := enum_rank y.
have inj : injective pt by move=> y y' /ord_inj/enum_rank_inj.
have Pp := law_of_tableE pt corner_p_ge0; have Qq := law_of_tableE pt corner_q_ge0.
have total (r : option 'I_n.+1 -> R) : \sum_y r y = 1 -> (\sum_y r y * \1_setT (pt y))%:E = 1%E.
  by move=> <-; congr EFin; apply: eq_bigr => y _; rewrite indicE in_setT mulr1.
have P1 : law_of_table pt corner_p setT = 1%E by rewrite Pp// total// corner_p_total.
have Q1 : law_of_table pt corner_q setT = 1%E by rewrite Qq// total// corner_q_total.
exists [finType of option 'I_n.+1], pt, (law_of_table pt corner_p), (law_of_table pt corner_q), corner_p, corner_q; split=> //.
- by split; [exact: corner_p_ge0 | exact: corner_q_ge0].
- by move=> a a0; rewrite (table_profile inj _ P1 Q1 Pp Qq a0)// corners_value.
Qed.
End Corners.

(* -- The greatest of finitely many lines -- *)

Section Lines.
Context (R : realType) (J : finType) (u v : J -> R) (zero : J).
Hypotheses (v01 : forall j, 0 <= v j <= 1) (uz : u zero = 0) (vz : v zero = 0).
Notation at_ j a := (u j - a * v j).
Variable f : R -> R.
Hypotheses (above_all : forall j a, 0 <= a -> at_ j a <= f a) (met : forall a, 0 <= a -> exists j, f a = at_ j a) (f1 : f 0 = 1).

(* Where two lines cross. *)
Definition crossing (c : J * J) : R := (u c.1 - u c.2) / (v c.1 - v c.2).
Definition corners : seq R := sort <=%R (undup (0 :: [seq y <- [seq crossing c | c <- enum [finType of J * J]] | 0 < y])).
Notation x := (nth 0 corners).

Lemma mem_corners y : (y \in corners) = (y == 0) || ((0 < y) && (y \in [seq crossing c | c <- enum [finType of J * J]])).
Proof. by rewrite mem_sort mem_undup in_cons mem_filter. Qed.

Lemma corners_ge0 y : y \in corners -> 0 <= y.
Proof. by rewrite mem_corners => /orP[/eqP->//|/andP[/ltW]]. Qed.

Lemma crossing_corner i j c : 0 < c -> u i - u j = c * (v i - v j) -> v i != v j -> c \in corners.
Proof.
move=> c0 e d; rewrite mem_corners c0/=; apply/orP; right; apply/mapP; exists (i, j); first by rewrite mem_enum.
by rewrite /crossing/= e mulfK// subr_eq0.
Qed.

Lemma corners_size : (0 < size corners)%N.
Proof. by have : 0 \in corners; [rewrite mem_corners eqxx | case: corners]. Qed.

Lemma corners_rise k : (k.+1 < size corners)%N -> x k < x k.+1.
Proof.
move=> h; have s : sorted <%R corners by rewrite lt_sorted_uniq_le sort_uniq undup_uniq sort_le_sorted.
by have := s => /(sortedP 0); apply.
Qed.

Lemma corners_le i j : (i <= j)%N -> (j < size corners)%N -> x i <= x j.
Proof.
elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
by rewrite leq_eqVlt => /predU1P[->//|ij] h; apply: (le_trans (IH ij (ltnW h))); exact/ltW/corners_rise.
Qed.

Lemma corners_first : x 0%N = 0.
Proof.
have h : 0 \in corners by rewrite mem_corners eqxx.
apply/eqP; rewrite eq_le; apply/andP; split; last by apply: corners_ge0; rewrite mem_nth// corners_size.
have i : (index 0%R corners < size corners)%N by rewrite index_mem.
by have := corners_le (leq0n _) i; rewrite nth_index.
Qed.

(* Between a corner and the next one line is the greatest. *)
Lemma one_line k : (k < size corners)%N ->
  exists j, forall a, x k <= a -> ((k.+1 < size corners)%N -> a <= x k.+1) -> f a = at_ j a.
Proof.
move=> kn; have xk0 : 0 <= x k by apply: corners_ge0; exact: mem_nth.
pose m := if (k.+1 < size corners)%N then (x k + x k.+1) / 2 else x k + 1.
have mk : x k < m /\ ((k.+1 < size corners)%N -> m < x k.+1).
  rewrite /m; case: ifP => [h|_]; last by split=> //; lra.
  by have := corners_rise h; split; lra.
have m0 : 0 <= m by apply: (le_trans xk0); exact: ltW mk.1.
have inside c : x k < c -> ((k.+1 < size corners)%N -> c < x k.+1) -> c \in corners -> False.
  move=> h1 h2 cc; have i : (index c corners < size corners)%N by rewrite index_mem.
  have e := nth_index 0 cc; have [ik|ki] := leqP (index c corners) k.
    by have := corners_le ik kn; rewrite e; lra.
  have k1 : (k.+1 < size corners)%N by exact: leq_ltn_trans ki i.
  by have := corners_le ki i; rewrite e; have := h2 k1; lra.
have [j fj] := met m0; exists j => a a1 a2; have a0 := le_trans xk0 a1.
apply/eqP; rewrite eq_le above_all// andbT; have [i ->] := met a0; rewrite leNgt; apply/negP => lt.
have le : at_ i m <= at_ j m by rewrite -fj; exact: above_all.
have d : v i != v j by apply/eqP => e; move: lt le; rewrite e; lra.
pose c := (u i - u j) / (v i - v j).
have ce : u i - u j = c * (v i - v j) by rewrite /c divfK// subr_eq0.
have ltc : 0 < (c - a) * (v i - v j) by have := ce; lra.
have lec : (c - m) * (v i - v j) <= 0 by have := ce; lra.
have := mk; case=> mk1 mk2.
have out : x k < c /\ ((k.+1 < size corners)%N -> c < x k.+1).
  have [p|p|p] := ltgtP (v i - v j) 0; last by move: d; rewrite -subr_eq0 p eqxx.
  - have h1 : c < a.
      rewrite ltNge; apply/negP => h; have : (c - a) * (v i - v j) <= 0 by apply: mulr_ge0_le0; [rewrite subr_ge0|exact: ltW].
      lra.
    have h2 : m <= c.
      rewrite leNgt; apply/negP => h; have : 0 < (c - m) * (v i - v j) by rewrite nmulr_lgt0// subr_lt0.
      lra.
    by split=> [|h]; [lra | have := a2 h; lra].
  - have h1 : a < c by move: ltc; rewrite pmulr_lgt0// subr_gt0.
    have h2 : c <= m by move: lec; rewrite pmulr_lle0// subr_le0.
    by split=> [|h]; [lra | have := mk2 h; lra].
apply: (inside c out.1 out.2); apply: (crossing_corner _ ce d); exact: le_lt_trans out.1.
Qed.

Theorem lines_curve : exists (Y : finType) (pt : Y -> nat) (P Q : {measure set nat -> \bar R}) (p q : Y -> R),
  [/\ injective pt, (forall y, 0 <= p y) /\ (forall y, 0 <= q y), P setT = 1%E /\ Q setT = 1%E, table_law pt P p /\ table_law pt Q q &
      forall a, 0 <= a -> profile a P Q = f a].
Proof.
pose n := (size corners).-1; have sn : size corners = n.+1 by rewrite prednK// corners_size.
have ex k : exists j, (k <= n)%N -> forall a, x k <= a -> ((k < n)%N -> a <= x k.+1) -> f a = at_ j a.
  have [kn|nk] := leqP k n; last by exists zero.
  by have [|j h] := @one_line k; [rewrite sn ltnS | exists j => _ a h1 h2; apply: h => //; rewrite sn ltnS].
have [l hl] := choice ex.
have xk0 k : (k <= n)%N -> 0 <= x k by move=> kn; apply: corners_ge0; apply: mem_nth; rewrite sn ltnS.
have rise k : (k < n)%N -> x k < x k.+1 by move=> kn; apply: corners_rise; rewrite sn ltnS.
apply: (@corners_curve R f n x (u \o l) (v \o l)) => //=.
- exact: corners_first.
- by move=> k a kn h1 h2; exact: (hl k kn a h1 h2).
- have /andP[v0 _] := v01 (l n); apply/eqP; rewrite eq_le v0 andbT leNgt; apply/negP => vp.
  pose a := x n + (`|u (l n)| + 1) / v (l n).
  have xa : x n <= a by rewrite ler_addl divr_ge0// ?addr_ge0// ltW.
  have a0 := le_trans (xk0 n (leqnn n)) xa.
  have := above_all zero a0; rewrite uz vz mulr0 subr0 (hl n (leqnn n) a xa _) ?ltnn// mulrDl divfK ?gt_eqF//.
  have := mulr_ge0 (xk0 n (leqnn n)) (ltW vp); have := ler_norm (u (l n)); lra.
- move=> k kn; have kn' := ltnW kn; have xx := rise k kn.
  have e : f (x k.+1) = at_ (l k) (x k.+1) by apply: hl => //; exact: ltW.
  have e' : f (x k.+1) = at_ (l k.+1) (x k.+1) by apply: hl => // h; apply: ltW; exact: rise.
  pose b := x k.+1 + 1; have b0 : 0 <= x k.+1 by exact: xk0.
  rewrite leNgt; apply/negP => lt.
  have h : f (x k) = at_ (l k) (x k) by apply: hl => // _; exact: ltW.
  have h' := above_all (l k.+1) (xk0 k kn'); rewrite h in h'.
  have := mulr_gt0 (_ : 0 < x k.+1 - x k) (_ : 0 < v (l k.+1) - v (l k)); rewrite !subr_gt0 => /(_ xx lt); move: e'; rewrite e; lra.
- by case/andP: (v01 (l 0%N)).
- by have := above_all zero (xk0 n (leqnn n)); rewrite uz vz mulr0 subr0.
Qed.
End Lines.

(* -- Several pairs of rows -- *)

Section Greatest.
Context (R : realType) (I Y : finType) (p q : I -> Y -> R) (i0 : I).
Hypotheses (p0 : forall i y, 0 <= p i y) (q0 : forall i y, 0 <= q i y) (p1 : forall i, \sum_y p i y = 1) (q1 : forall i, \sum_y q i y = 1).

Definition rows_curve i a : R := \sum_y Num.max 0 (p i y - a * q i y).
Definition greatest_curve a : R := \big[Num.max/0]_i rows_curve i a.

Lemma rows_curve_ge0 i a : 0 <= rows_curve i a.
Proof. by apply: sumr_ge0 => y _; rewrite le_maxr lexx. Qed.

Lemma greatest_curve_ge i a : rows_curve i a <= greatest_curve a.
Proof. exact: le_bigmax. Qed.

Lemma greatest_curve_met a : exists i, greatest_curve a = rows_curve i a.
Proof.
have [e|[i e]] : greatest_curve a = 0 \/ exists i, greatest_curve a = rows_curve i a; last by exists i.
  rewrite /greatest_curve; elim/big_rec: _ => [|i x _ h]; first by left.
  by rewrite /Num.max; case: ifP => _; [exact: h | right; exists i].
by exists i0; apply/eqP; rewrite eq_le greatest_curve_ge e rows_curve_ge0.
Qed.

Theorem greatest_is_one_pair : exists (Z : finType) (pt : Z -> nat) (P Q : {measure set nat -> \bar R}) (r s : Z -> R),
  [/\ injective pt, (forall y, 0 <= r y) /\ (forall y, 0 <= s y), P setT = 1%E /\ Q setT = 1%E, table_law pt P r /\ table_law pt Q s &
      forall a, 0 <= a -> profile a P Q = greatest_curve a].
Proof.
pose u (j : I * {set Y}) := \sum_(y in j.2) p j.1 y; pose v (j : I * {set Y}) := \sum_(y in j.2) q j.1 y.
have lineE j a : u j - a * v j = \sum_(y in j.2) (p j.1 y - a * q j.1 y) by rewrite /u /v mulr_sumr -sumrB.
apply: (@lines_curve R _ u v (i0, finset.set0)).
- move=> j; rewrite /v sumr_ge0//= -(q1 j.1) [leRHS](bigID (mem j.2))/= ler_addl; exact: sumr_ge0.
- by rewrite /u big1// => y; rewrite finset.in_set0.
- by rewrite /v big1// => y; rewrite finset.in_set0.
- move=> j a a0; apply: le_trans (greatest_curve_ge j.1 a); rewrite lineE /rows_curve big_mkcond/=.
  by apply: ler_sum => y _; case: ifP => _; rewrite le_maxr lexx ?orbT.
- move=> a a0; have [i ->] := greatest_curve_met a; exists (i, [set y | 0 < p i y - a * q i y]%SET); rewrite lineE/=.
  rewrite /rows_curve [RHS]big_mkcond/=; apply: eq_bigr => y _; rewrite finset.in_set.
  by case: ltP.
- have [i ->] := greatest_curve_met 0; rewrite -(p1 i); apply: eq_bigr => y _; by rewrite mul0r subr0 max_r.
Qed.
End Greatest.

Section Tables.
Context (R : realType) (X : Type) (Y : finType) d (T : measurableType d) (M : mechanism R X T) (N : relation X) (pt : Y -> T) (p : X -> Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (p0 : forall x y, 0 <= p x y) (Mp : has_table M pt p).
(* The pairs of neighbours are listed. *)
Context (I : finType) (pair : I -> X * X) (i0 : I).
Hypothesis listed : forall x x', N x x' <-> exists i, pair i = (x, x').

Definition table_curve (a : R) : R := greatest_curve (fun i => p (pair i).1) (fun i => p (pair i).2) a.

Lemma row_total x : \sum_y p x y = 1.
Proof.
by apply: EFin_inj; rewrite -(law_total M x) Mp//; congr EFin; apply: eq_bigr => y _; rewrite indicE in_setT mulr1.
Qed.

Lemma table_curve_row x x' a : N x x' -> 0 <= a -> profile a (M x) (M x') <= table_curve a.
Proof.
move=> /listed[i e] a0; rewrite (rows_profile pt_inj pt_measurable Mp x x' a0).
by have := greatest_curve_ge (fun i => p (pair i).1) (fun i => p (pair i).2) i a; rewrite /rows_curve e.
Qed.

Lemma table_curve_met a : 0 <= a -> exists x x', N x x' /\ table_curve a = profile a (M x) (M x').
Proof.
move=> a0; have [i e] := greatest_curve_met (fun i => p (pair i).1) (fun i => p (pair i).2) i0 a; exists (pair i).1, (pair i).2.
by split; [apply/listed; exists i; case: (pair i) | rewrite /table_curve e (rows_profile pt_inj pt_measurable Mp)].
Qed.

(* The tight delta of a table is the greatest of these sums over its pairs; this is the curve of one pair, which dominates; where each pair
   counts in both orders its two orders agree. Each pair of rows is a lower pair. *)
(* Rule: finite-curve. *)
Theorem table_curve_is_one_pair :
  (exists (Z : finType) (place : Z -> nat) (P Q : {measure set nat -> \bar R}) (r s : Z -> R),
    [/\ injective place /\ (forall y, 0 <= r y) /\ (forall y, 0 <= s y), P setT = 1%E /\ Q setT = 1%E, table_law place P r /\ table_law place Q s,
        forall a, 0 <= a -> profile a P Q = table_curve a &
        (forall x x', N x x' -> dominated (M x) (M x') P Q) /\
        ((forall x x', N x x' -> N x' x) -> forall a, 0 <= a -> profile a Q P = profile a P Q)]) /\
  forall eps, tight_delta_in_order N M eps = (table_curve (expR eps))%:E /\
    forall x x', N x x' -> profile (expR eps) (M x) (M x') = \sum_y Num.max 0 (p x y - expR eps * p x' y) /\
      ((\sum_y Num.max 0 (p x y - expR eps * p x' y))%:E <= tight_delta_in_order N M eps)%E.
Proof.
have row x x' eps := rows_profile pt_inj pt_measurable Mp x x' (expR_ge0 eps); split.
- have [||||Z [place [P [Q [r [s [inj nonneg [P1 Q1] [Pr Qs] E]]]]]]] := @greatest_is_one_pair R I Y (fun i => p (pair i).1) (fun i => p (pair i).2) i0.
  + by move=> i y; exact: p0.
  + by move=> i y; exact: p0.
  + by move=> i; exact: row_total.
  + by move=> i; exact: row_total.
  have one x x' : N x x' -> dominated (M x) (M x') P Q by move=> xx a a0; rewrite E//; exact: table_curve_row.
  exists Z, place, P, Q, r, s; split=> //; split=> // sym a; rewrite le_eqVlt => /predU1P[<-|a0]; first by rewrite !profile0.
  have a0' := ltW a0; have ai : 0 < a^-1 by rewrite invr_gt0.
  have l := law_total M; rewrite (profile_swap P1 Q1 a0); apply/eqP; rewrite eq_le; apply/andP; split.
  + have [x [x' [xx]]] := table_curve_met (ltW ai); rewrite -/(table_curve _) in E; rewrite (E _ (ltW ai)) /table_curve => ->.
    by rewrite -(profile_swap (l x) (l x') a0); apply: one => //; exact: sym.
  + rewrite {1}(E _ a0'); have [x [x' [xx]]] := table_curve_met a0'; rewrite /table_curve => ->.
    rewrite (profile_swap (l x') (l x) a0) ler_add2l ler_pmul2l//; apply: one; [exact: sym | exact: ltW].
- move=> eps; have [x [x' [xx e]]] := table_curve_met (expR_ge0 eps).
  have tight : tight_delta_in_order N M eps = (table_curve (expR eps))%:E.
    apply/eqP; rewrite eq_le; apply/andP; split; last by apply: (curve_at_least xx); rewrite e.
    apply: curve_at_most => [|y y' yy]; last by apply: table_curve_row => //; exact: expR_ge0.
    by rewrite e profile_ge0 ?law_total// expR_ge0.
  split=> // y y' yy; split; first exact: row.
  by rewrite tight lee_fin -row; apply: table_curve_row => //; exact: expR_ge0.
Qed.
End Tables.
