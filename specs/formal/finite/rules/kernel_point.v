(* Kernels (docs/theory/finite.md: kernel, kernel box, kernel point): families of densities p(y; theta) with respect to one measure, the normaliser
   included. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density.
Local Open Scope ereal_scope.

Section Conditional.
Context (R : realType) (Theta : Type) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (M : mechanism R Theta Y) (N : relation Theta) (p : Theta -> Y -> R).
Hypothesis Mp : forall t, has_density mu (M t) (p t).

(* l <= U at almost all outputs, which the rule kernel-box shows by its tree of cuts (kernel_box.v). *)
Theorem kernel_upper U : (forall t t', both N t t' -> {ae mu, forall y, (0 < p t y)%R -> (0 < p t' y)%R /\ (ln (p t y) - ln (p t' y) <= U)%R}) ->
  pure_dp N M U.
Proof.
move=> H t t' tt; apply: (close_of_ratio (Mp t) (Mp t')); have [[p0 _ _] [q0 _ _]] := (Mp t, Mp t').
case: (H t t' tt) => A [mA A0 sub]; exists A; split=> // y /= ny; apply: sub => /= h; apply: ny.
have [pp|pn] := ltP 0%R (p t y); last by rewrite (le_trans pn)// mulr_ge0// expR_ge0.
have [qq l] := h pp; rewrite -ler_pdivr_mulr// -[leLHS]lnK ?posrE ?divr_gt0// ler_expR ln_div ?posrE//.
Qed.

(* Rule: kernel-point, lower. *)
Theorem kernel_point t t' (S : set Y) a b : both N t t' -> measurable S -> 0 < mu S -> (0 < a)%R -> (0 < b)%R ->
  (forall y, S y -> a <= p t y /\ p t' y <= b)%R -> (ln (a / b))%:E <= tight_epsilon N M 0.
Proof.
move=> tt mS S0 a0 b0 H; apply: tight_epsilon_lower => eps _ lt dp.
apply: (not_close_of_event (Mp t) (Mp t') (law_total M t) (law_total M t') mS S0 _ (dp t t' tt)) => y Sy.
have [ha hb] := H y Sy; apply: lt_le_trans ha.
apply: (@le_lt_trans _ _ (expR eps * b)%R); first by rewrite ler_wpmul2l// expR_ge0.
by rewrite -ltr_pdivl_mulr// -[ltRHS]lnK ?posrE ?divr_gt0// ltr_expR.
Qed.

(* Rule: kernel-point, lower. *)
Theorem kernel_point_zero t t' (S : set Y) a : both N t t' -> measurable S -> 0 < mu S -> (0 < a)%R ->
  (forall y, S y -> a <= p t y /\ p t' y <= 0)%R -> tight_epsilon N M 0 = +oo.
Proof.
move=> tt mS S0 a0 H; apply/tight_epsilon_infinite => eps _ dp.
apply: (not_close_of_event (Mp t) (Mp t') (law_total M t) (law_total M t') mS S0 _ (dp t t' tt)) => y Sy.
have [ha hb] := H y Sy; apply: lt_le_trans ha; apply: le_lt_trans a0.
by rewrite pmulr_rle0// expR_gt0.
Qed.
End Conditional.
