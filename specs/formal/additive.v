(* Additive noise: the output lies at q(x) + noise, in a real vector space, with a density of the noise with respect to any measure on the
   outputs (Lebesgue's for R^d, counting for the integers). The loss at an output that lies at z from q(x) and at z + s from q(x'),
   s = q(x) - q(x'), is H(z + s) - H(z), H = -log(density) up to a constant. From it follow the two-argument modulus of noise of a norm of
   the distance, with its converse, translations of the line and independent coordinates (docs/theory/additive.md). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp.
From dpverify Require Import definitions density arithmetic norms.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Outputs.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).

(* The outputs round v have positive measure; the outputs at v itself have. *)
Definition charged (norm : V -> R) (v : V) :=
  forall r : R, 0 < r -> exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> norm (place y - v) < r].
Definition atom (v : V) := exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> place y = v].

Lemma charged_atom norm v : seminorm norm -> atom v -> charged norm v.
Proof.
by move=> semi [S [mS S0 at_v]] r r0; exists S; split=> // y Sy; rewrite at_v// subrr (seminorm0 semi).
Qed.

(* Continuity at a point, of a function on the space and of one on distances r >= 0. *)
Definition continuous_at (norm H : V -> R) (z : V) :=
  forall s : R, 0 < s -> exists2 r : R, 0 < r & forall w, norm (w - z) < r -> `|H w - H z| < s.
End Outputs.

Definition continuous_at_distance (R : realType) (h : R -> R) (a : R) :=
  forall s : R, 0 < s -> exists2 r : R, 0 < r & forall x, 0 <= x -> `|x - a| < r -> `|h x - h a| < s.

Lemma continuous_at_distance_of (R : realType) (h : R -> R) (a : R) : {for a, continuous (h : R^o -> R^o)} -> continuous_at_distance h a.
Proof.
move=> /cvgrPdist_lt H s s0; have /nbhs_ballP[r /= r0 near] := H s s0.
by exists r => // x _ xa; rewrite distrC; apply: near; rewrite /ball/= distrC.
Qed.

Section AdditiveNoise.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V).

(* M(x) is the law of q(x) + noise of density f. *)
Definition adds_noise (f : V -> R) := forall x, has_density mu (M x) (fun y => f (place y - q x)).

(* -- Exponents: f = c exp(-H) -- *)
Section Exponent.
Variables (H : V -> R) (c : R).
Hypotheses (c0 : 0 < c) (noise : adds_noise (fun z => c * expR (- H z))).

Theorem exponent_upper (eps : R) :
  (forall x x' z, both N x x' -> H (z + (q x - q x')) - H z <= eps) -> pure_dp N M eps.
Proof.
move=> loss; apply: (density_upper_everywhere noise) => x x' y xx.
rewrite mulrCA ler_pmul2l// -expRD ler_expR.
have := loss x x' (place y - q x) xx; rewrite addrA subrK; lra.
Qed.

(* Outputs at which the loss is at least v, up to any s > 0. *)
Theorem exponent_lower (v : R) x x' : both N x x' ->
  (forall s, 0 < s -> exists S, [/\ measurable S, (0 < mu S)%E &
    forall y, S y -> v - s <= H (place y - q x') - H (place y - q x)]) ->
  (v%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx on; apply: lower_limit => s s0; have [S [mS S0 loss]] := on s s0.
apply: (density_lower noise xx mS S0) => y Sy; split; first by rewrite mulr_gt0// expR_gt0.
by rewrite mulrCA ler_pmul2l// -expRD ler_expR; have := loss y Sy; lra.
Qed.

Theorem exponent_infinite x x' : both N x x' ->
  (forall v : R, 0 <= v -> exists S, [/\ measurable S, (0 < mu S)%E &
    forall y, S y -> v <= H (place y - q x') - H (place y - q x)]) ->
  (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> xx on; apply: infinite_of_unbounded => v v0; have [S [mS S0 loss]] := on v v0.
apply: (exponent_lower xx) => s s0; exists S; split=> // y Sy.
have := loss y Sy; lra.
Qed.

(* The loss at one output, where H is continuous and the outputs round it have positive measure; or where it has itself. *)
Theorem exponent_lower_at (norm : V -> R) x x' z : both N x x' -> charged mu place norm (q x + z) ->
  continuous_at norm H z -> continuous_at norm H (z + (q x - q x')) ->
  ((H (z + (q x - q x')) - H z)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx ch cz cz'; apply: (exponent_lower xx) => s s0.
have s2 : 0 < s / 2 by rewrite divr_gt0.
have [r1 r10 near1] := cz _ s2; have [r2 r20 near2] := cz' _ s2.
have r0 : 0 < Num.min r1 r2 by rewrite lt_minr r10.
have [S [mS S0 in_ball]] := ch _ r0; exists S; split=> // y Sy.
have := in_ball y Sy; rewrite lt_minr => /andP[y1 y2].
have /near1 : norm (place y - q x - z) < r1 by rewrite -addrA -opprD.
have /near2 : norm (place y - q x' - (z + (q x - q x'))) < r2.
  rewrite (_ : place y - q x' - _ = place y - (q x + z))//.
  by rewrite opprD opprB addrACA [q x' - _ - _]addrC !addrA; rewrite [- q x' + _]addrC.
rewrite !ltr_norml => /andP[a1 _] /andP[_ a2]; lra.
Qed.

Theorem exponent_lower_atom x x' z : both N x x' -> atom mu place (q x + z) ->
  ((H (z + (q x - q x')) - H z)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx [S [mS S0 at_v]]; apply: (exponent_lower xx) => s s0; exists S; split=> // y Sy.
have [-> ->] : place y - q x = z /\ place y - q x' = z + (q x - q x').
  by rewrite at_v//; split; [rewrite addrAC subrr add0r | rewrite addrAC -addrA addrC].
lra.
Qed.
End Exponent.
End AdditiveNoise.
