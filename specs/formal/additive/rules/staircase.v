(* Staircase noise on the line: the tight epsilon is at most epsilon times the number of steps that the sensitivity can cross
   (docs/theory/additive.md, staircase). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive.

Section Staircase.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> R^o).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> R^o) (c eps gamma Delta : R).
Hypotheses (c0 : 0 < c) (eps0 : 0 < eps).
Definition stairs (t : R) : R := (floor (t + 1 - gamma))%:~R.
Hypothesis noise : adds_noise mu place M q (fun z : R^o => c * expR (- (eps * stairs `|z : R|))).

Lemma stairs_crossed (u w D : R) : u <= w + D -> stairs u <= stairs w + (ceil D)%:~R.
Proof.
move=> uw; rewrite /stairs -intrD ler_int -ltz_addr1 -(ltr_int R) !intrD mulr1z.
have := floor_le (u + 1 - gamma); have := lt_succ_floor (w + 1 - gamma); have := ceil_ge D.
lra.
Qed.

(* Rule: staircase, upper. *)
Theorem staircase_upper : (forall x x', both N x x' -> `|(q x : R) - q x'| <= Delta) -> pure_dp N M (eps * (ceil Delta)%:~R).
Proof.
move=> moves; apply: (exponent_upper c0 noise) => x x' z xx.
have near : `|(z : R) + ((q x : R) - q x')| <= `|z : R| + Delta.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l; exact: moves.
rewrite -mulrBr ler_pmul2l//; have := stairs_crossed near; lra.
Qed.

Lemma floor_is (x : R) (k : int) : k%:~R <= x -> x < (k + 1)%:~R -> floor x = k.
Proof.
by rewrite floor_ge_int floor_lt_int ltz_addr1 => h1 h2; apply/eqP; rewrite eq_le h2.
Qed.

(* From below: outputs at w - 1 + gamma from the one answer, w in [1 + ceil(Delta) - Delta, 2), which lie as many steps further from the other. *)
(* Rule: staircase, lower. *)
Theorem staircase_lower x x' : both N x x' -> (q x : R) - q x' = Delta -> 0 < Delta -> 0 <= gamma ->
  (forall v, charged mu place (fun z : R^o => `|z : R|) v) -> ((eps * (ceil Delta)%:~R)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx qq D0 g0 full; pose m : R := (ceil Delta)%:~R.
have m1 : Delta <= m by exact: ceil_ge.
have m2 : m < Delta + 1 by rewrite /m; have := lt_succ_floor (- Delta); rewrite /ceil mulrNz; lra.
pose low : R := gamma + (m - Delta); pose high : R := gamma + 1.
have r0 : 0 < (high - low) / 2 by rewrite /high /low; lra.
have [S [mS S0 near]] := full ((q x : R) + (low + high) / 2) _ r0.
apply: (density_lower noise xx mS S0) => y Sy; split; first by rewrite mulr_gt0// expR_gt0.
pose z : R := (place y : R) - q x.
have zE : (place y - q x' : R) = z + Delta by rewrite /z -qq; lra.
have := near y Sy; rewrite ltr_norml => /andP[h1 h2].
have {h1 h2} [z1 z2] : low < z /\ z < high by rewrite /z; split; move: h1 h2; lra.
have z0 : 0 <= z by move: z1; rewrite /low; lra.
rewrite mulrCA ler_pmul2l// -expRD ler_expR.
have -> : `|(place y - q x : R^o) : R| = z by rewrite ger0_norm.
have -> : `|(place y - q x' : R^o) : R| = z + Delta by rewrite zE ger0_norm; lra.
have f1 : stairs z = 1.
  rewrite /stairs (@floor_is _ 1)// ?intrD !mulr1z; move: z1 z2; rewrite /low /high; lra.
have f2 : stairs (z + Delta) = 1 + m.
  rewrite /stairs (@floor_is _ (1 + ceil Delta)) ?intrD ?mulr1z//; move: z1 z2; rewrite -/m /low /high; lra.
by rewrite f1 f2 -/m; lra.
Qed.
End Staircase.
