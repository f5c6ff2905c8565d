(* Laplace noise (docs/theory/curves.md: Laplace), as the rule has it: independent coordinates whose shifts are bounded in an lp norm, from above;
   from below whoever sees one coordinate alone. On the line both are laplace_line. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition curves pairs powers lipschitz_exponent laplace_curve.
Import numFieldNormedType.Exports.

(* The curve at t = D/b. *)
Definition laplace_delta (R : realType) (t eps : R) : R := Num.max 0 (1 - expR ((eps - t) / 2)).

Section Coordinates.
Context (R : realType) (n : nat) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n).
Context (X : Type) (M : mechanism R X Y) (q : X -> 'rV[R]_n) (A : mechanism R 'rV[R]_n Y) (b c c1 : R).
Hypotheses (n0 : (0 < n)%N) (b0 : 0 < b) (c0 : 0 < c) (c10 : 0 < c1) (MA : forall x S, M x S = A (q x) S).
Hypothesis noise : adds_noise mu place A id (fun z => c * expR (- \sum_i (`|z 0 i| / b))).

(* The greatest l1 length of a shift of which the lp length is at most D; `None` is the maximum norm. *)
Definition l1_reach (p : option R) (D : R) : R := n%:R * alike n p D.

Lemma shift_reach p D x x' : 0 <= D -> budget p (fun i => (q x - q x') 0 i) D -> l1 (q x - q x') <= l1_reach p D.
Proof. by move=> D0; exact: budget_sum. Qed.

Lemma laplace_upper p D x x' eps : 0 <= D -> budget p (fun i => (q x - q x') 0 i) D -> - (l1_reach p D / b) <= eps ->
  profile (expR eps) (M x) (M x') <= laplace_delta (l1_reach p D / b) eps.
Proof.
move=> D0 near; have bi : 0 <= b^-1 by rewrite invr_ge0 ltW.
have lip (y z : R) : `|(`|y| / b) - (`|z| / b)| <= b^-1 * `|y - z|.
  by rewrite -mulrBl normrM (ger0_norm bi) mulrC ler_wpmul2l// ler_dist_dist.
have [h _] := coordinates_curve c0 MA noise eps bi lip (shift_reach D0 near).
by rewrite mulrC in h.
Qed.

(* One coordinate of the output, which has the law of Laplace noise on the line about that coordinate of the answer. *)
Variables (i : 'I_n) (coordinate : Y -> R) (law : R -> {measure set (line R) -> \bar R}).
Hypotheses (mcoordinate : measurable_fun setT coordinate) (total : forall v, law v setT = 1%E).
Hypothesis dens : forall v, has_density (@lebesgue_measure R) (law v) (fun y => c1 * expR (- (`|y - v| / b))).
Hypothesis seen : forall x (S : set R), measurable S -> M x (coordinate @^-1` S) = law (q x 0 i) S.

Lemma laplace_lower x x' t eps : 0 <= t -> - t <= eps -> q x' 0 i = q x 0 i + t * b ->
  laplace_delta t eps <= profile (expR eps) (M x) (M x').
Proof.
move=> t0 te E; rewrite /laplace_delta -(laplace_line b0 c10 total dens (q x 0 i) t0 te) -E.
apply: profile_le => S mS; have mC : measurable (coordinate @^-1` (S : set R)) by have := mcoordinate measurableT mS; rewrite setTI.
by have := profile_event (law_total M x) (law_total M x') (expR_ge0 eps) mC; rewrite !seen.
Qed.

(* On the line n = 1, and the two bounds are one. *)
(* Rule: laplace. *)
Theorem laplace_rule :
  (forall p D x x' eps, 0 <= D -> budget p (fun i => (q x - q x') 0 i) D -> - (l1_reach p D / b) <= eps ->
    profile (expR eps) (M x) (M x') <= laplace_delta (l1_reach p D / b) eps) /\
  (forall x x' t eps, 0 <= t -> - t <= eps -> q x' 0 i = q x 0 i + t * b -> laplace_delta t eps <= profile (expR eps) (M x) (M x')).
Proof. by split=> [p D x x' eps|x x' t eps]; [exact: laplace_upper | exact: laplace_lower]. Qed.
End Coordinates.
