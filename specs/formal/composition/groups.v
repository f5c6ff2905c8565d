(* Groups of records, maps of the data, and parts on disjoint data (docs/theory/composition.md: group privacy, Lipschitz maps, parallel
   composition). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition.
Local Open Scope ereal_scope.

Section Groups.
Context (R : realType) (X : Type).
Implicit Types (N : relation X).

(* Joined by a chain of k steps between neighbours. *)
Fixpoint joined N (k : nat) (x x' : X) : Prop :=
  if k is k'.+1 then exists2 z, N x z & joined N k' z x' else x = x'.

Definition geometric (eps : R) k : R := (\sum_(i < k) expR (i%:R * eps))%R.

Lemma geometricE eps k : (0 < eps)%R -> geometric eps k = ((expR (k%:R * eps) - 1) / (expR eps - 1))%R.
Proof.
move=> e0; rewrite /geometric expRMm subrX1 mulrC mulKf; last by rewrite subr_eq0 gt_eqF// expR_gt1.
by apply: eq_bigr => i _; rewrite expRMm.
Qed.

Lemma geometricS eps k : geometric eps k.+1 = (1 + expR eps * geometric eps k)%R.
Proof.
rewrite /geometric big_ord_recl mul0r expR0 mulr_sumr; congr (_ + _)%R.
by apply: eq_bigr => i _; rewrite -expRD -natr1 mulrDl mul1r addrC.
Qed.

Lemma group_in_order N d (Y : measurableType d) (M : mechanism R X Y) eps dl k :
  dp_in_order N M eps dl -> dp_in_order (joined N k) M (k%:R * eps) (dl * geometric eps k).
Proof.
move=> H; elim: k => [|k IH] x x' /=.
  by move=> ->; rewrite /geometric big_ord0 mulr0 mul0r; apply: close_refl.
move=> [z xz zx'] S mS; apply: (le_trans (H x z xz S mS)).
have /(lee_wpmul2l (_ : 0 <= (expR eps)%:E)) := IH z x' zx' S mS; rewrite lee_fin expR_ge0 => /(_ isT) h.
apply: (le_trans (lee_add h (lexx _))).
rewrite geometricS ge0_muleDr; last 2 first.
- by rewrite mule_ge0// lee_fin expR_ge0.
- rewrite lee_fin mulr_ge0//; first exact: close_delta_ge0 (H x z xz).
  by apply: sumr_ge0 => i _; rewrite expR_ge0.
rewrite muleA -EFinM -expRD -[X in expR (X + _)]mul1r -mulrDl addrC natr1 -addeA lee_add2l// -EFinM -EFinD lee_fin.
by rewrite mulrDr mulr1 addrC mulrCA.
Qed.

(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: groups in one order. *)
(* Rule: one-sided, upper. *)
Theorem group_privacy_in_order N d (Y : measurableType d) (M : mechanism R X Y) eps dl k : (0 < eps)%R ->
  dp_in_order N M eps dl ->
  dp_in_order (joined N k) M (k%:R * eps) (dl * ((expR (k%:R * eps) - 1) / (expR eps - 1))).
Proof. by move=> e0 H; rewrite -geometricE//; exact: group_in_order. Qed.

Lemma joined_rcons N k x y z : joined N k x y -> N y z -> joined N k.+1 x z.
Proof.
elim: k x => [|k IH] x /=; first by move=> -> yz; exists z.
by move=> [w xw wy] yz; exists w => //; exact: IH wy yz.
Qed.

Lemma joined_sym N k x x' : joined (both N) k x x' -> joined (both N) k x' x.
Proof.
elim: k x x' => [|k IH] x x' //= [z xz zx']; apply: joined_rcons (IH _ _ zx') _; exact: bothC.
Qed.

Theorem group_privacy N d (Y : measurableType d) (M : mechanism R X Y) eps dl k : (0 < eps)%R ->
  dp N M eps dl -> dp (joined (both N) k) M (k%:R * eps) (dl * ((expR (k%:R * eps) - 1) / (expR eps - 1))).
Proof.
move=> e0 H x x' xx; apply: (group_privacy_in_order (N := both N)) => //.
by case: xx => // /joined_sym.
Qed.

Theorem pure_group_privacy N d (Y : measurableType d) (M : mechanism R X Y) eps k :
  pure_dp N M eps -> pure_dp (joined (both N) k) M (k%:R * eps).
Proof.
move=> H x x' xx; rewrite -(mul0r (geometric eps k)).
apply: (group_in_order (N := both N)) => //; by case: xx => // /joined_sym.
Qed.

(* The part on T(x), where T takes neighbours to inputs that k steps join. *)
Definition mapped X' d (Y : measurableType d) (M : mechanism R X Y) (T : X' -> X) : mechanism R X' Y :=
  Mechanism (fun x => law_total M (T x)).

Theorem lipschitz_map X' (N' : relation X') N (T : X' -> X) k d (Y : measurableType d) (M : mechanism R X Y) eps dl :
  (forall x x', N' x x' -> joined (both N) k (T x) (T x')) ->
  dp (joined (both N) k) M eps dl -> dp N' (mapped M T) eps dl.
Proof. by move=> HT H x x' xx; apply: (H (T x) (T x')); case: xx => /HT; [left | right]. Qed.
End Groups.

(* Parts on disjoint data. *)
Section Parallel.
Context (R : realType) (X1 X2 : Type) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) (N1 : relation X1) (N2 : relation X2).

Lemma markov_constant x : markov (fun _ : T => M2 x).
Proof. by split=> [_|S mS]; [exact: law_total | exact: measurable_fun_cst]. Qed.

(* Independent outputs of two parts. *)
Definition parallel : mechanism R (X1 * X2) (T * U)%type :=
  Mechanism (fun x => joint_total (markov_constant x.2) (law_total M1 x.1)).

Lemma joint_rectangle (P : {measure set T -> \bar R}) x A B : measurable A -> measurable B ->
  joint (markov_constant x) P (A `*` B) = P A * M2 x B.
Proof.
move=> mA mB; rewrite /joint (eq_integral (fun y => M2 x B * (\1_A y)%:E)); last first.
  by move=> y _; rewrite indicE; have [yA|yA] /= := boolP (y \in A);
    [rewrite in_xsectionM// mule1|rewrite mule0 notin_xsectionM// measure0].
rewrite ge0_integralM//.
- by rewrite muleC integral_indic// setIT.
- by apply/EFin_measurable_fun/measurable_fun_indic.
- by move=> y _; rewrite lee_fin.
Qed.

(* One record more or less is in the data of one part alone. *)
Definition in_one_part : relation (X1 * X2) :=
  fun x x' => (N1 x.1 x'.1 /\ x.2 = x'.2) \/ (x.1 = x'.1 /\ N2 x.2 x'.2).

Lemma parallel_in_order eps dl : (0 <= eps)%R -> (0 <= dl)%R ->
  dp_in_order N1 M1 eps dl -> dp_in_order N2 M2 eps dl -> dp_in_order in_one_part parallel eps dl.
Proof.
move=> e0 d0 H1 H2 x x' [[x1 x2]|[x1 x2]].
- rewrite -[eps]addr0 -[dl]addr0; apply: close_joint; rewrite ?law_total//; first exact: H1.
  by move=> _; rewrite x2; exact: close_refl.
- rewrite -[eps]add0r -[dl]add0r; apply: close_joint; rewrite ?law_total//.
    by rewrite x1; exact: close_refl.
  by move=> _; exact: H2.
Qed.

Lemma both_in_one_part x x' : both in_one_part x x' ->
  (both N1 x.1 x'.1 /\ x.2 = x'.2) \/ (x.1 = x'.1 /\ both N2 x.2 x'.2).
Proof. by case=> [[[? ?]|[? ?]]|[[? ?]|[? ?]]]; [left|right|left|right]; split=> //; by [left|right]. Qed.

(* What one part loses the whole does. *)
Lemma first_part_in_order (x2 : X2) eps dl : dp_in_order in_one_part parallel eps dl -> dp_in_order N1 M1 eps dl.
Proof.
move=> H x x' xx S mS.
have E y : M1 y S = parallel (y, x2) (S `*` setT).
  by rewrite /= joint_rectangle// law_total mule1.
by rewrite (E x) (E x'); apply: H; [left | exact: measurableM].
Qed.

Lemma second_part_in_order (x1 : X1) eps dl : dp_in_order in_one_part parallel eps dl -> dp_in_order N2 M2 eps dl.
Proof.
move=> H x x' xx S mS.
have E y : M2 y S = parallel (x1, y) (setT `*` S).
  by rewrite /= joint_rectangle// law_total mul1e.
by rewrite (E x) (E x'); apply: H; [right | exact: measurableM].
Qed.

End Parallel.

Section ParallelTheorems.
Context (R : realType) (X1 X2 : Type) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) (N1 : relation X1) (N2 : relation X2).

(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: parts in parallel, in one order. *)
(* Rule: one-sided, upper. *)
Theorem parallel_one_order (x1 : X1) (x2 : X2) eps dl : (0 <= eps)%R -> (0 <= dl)%R ->
  dp_in_order (in_one_part N1 N2) (parallel M1 M2) eps dl <-> dp_in_order N1 M1 eps dl /\ dp_in_order N2 M2 eps dl.
Proof.
move=> e0 d0; split=> [H | [H1 H2]]; last exact: parallel_in_order.
by split; [exact: first_part_in_order H | exact: second_part_in_order H].
Qed.

End ParallelTheorems.

Section ParallelBoth.
Context (R : realType) (X1 X2 : Type) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) (N1 : relation X1) (N2 : relation X2).

(* Rule: parallel-composition, in part: two parts (more by repetition), at every epsilon >= 0; not the real histograms with log-concave noise. *)
Theorem parallel_composition (x1 : X1) (x2 : X2) eps dl : (0 <= eps)%R -> (0 <= dl)%R ->
  dp (in_one_part N1 N2) (parallel M1 M2) eps dl <-> dp N1 M1 eps dl /\ dp N2 M2 eps dl.
Proof.
move=> e0 d0; have [h1 h2] := @parallel_one_order R X1 X2 d1 T d2 U M1 M2 (both N1) (both N2) x1 x2 eps dl e0 d0.
split=> [H | H].
- apply: h1 => x x' xx; apply: H.
  case: xx => -[]; first by case=> xx e; [left; left | right; left].
  by move=> e [xx|xx]; [left; right | right; right].
- by move=> x x' /both_in_one_part; exact: h2.
Qed.
End ParallelBoth.
