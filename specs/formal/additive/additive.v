(* Additive noise: the output lies at q(x) + noise, in a real vector space, with a density of the noise with respect to any measure on the
   outputs (Lebesgue's for R^d, counting for the integers). The loss at an output that lies at z from q(x) and at z + s from q(x'),
   s = q(x) - q(x'), is H(z + s) - H(z), H = -log(density) up to a constant. From it follow the two-argument modulus of noise of a norm of
   the distance, with its converse, translations of the line and independent coordinates (docs/theory/additive.md). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms.

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
  by rewrite opprD opprB addrACA addKr opprD addrA addrAC.
rewrite !ltr_norml => /andP[a1 _] /andP[_ a2]; lra.
Qed.

Theorem exponent_lower_atom x x' z : both N x x' -> atom mu place (q x + z) ->
  ((H (z + (q x - q x')) - H z)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx [S [mS S0 at_v]]; apply: (exponent_lower xx) => s s0; exists S; split=> // y Sy.
have [-> ->] : place y - q x = z /\ place y - q x' = z + (q x - q x').
  by rewrite at_v//; split; [rewrite addrAC subrr add0r | rewrite (addrC (q x)) -addrA].
lra.
Qed.

(* Where the density would not fall, its mass would be infinite. *)
Definition infinite_far (far : V -> Prop) := exists S, [/\ measurable S, (mu S = +oo)%E & forall z, S z -> far (place z)].

Lemma no_infinite_mass (k : R) x S : 0 < k -> measurable S -> (mu S = +oo)%E -> ~ (forall y, S y -> H (place y - q x) <= k).
Proof.
move=> k0 mS Soo low; have [p0 mp Me] := noise x.
have k1 : 0 < c * expR (- k) by rewrite mulr_gt0// expR_gt0.
have : (\int[mu]_(y in S) (cst (c * expR (- k))%:E y) <= M x S)%E.
  rewrite Me//; apply: ge0_le_integral => //.
  - by move=> y _; rewrite lee_fin ltW.
  - exact: measurable_fun_cst.
  - by move=> y _; rewrite lee_fin.
  - by apply/EFin_measurable_fun; apply: measurable_funS mp.
  - by move=> y Sy; rewrite lee_fin ler_pmul2l// ler_expR; have := low y Sy; lra.
rewrite integral_cst// Soo gt0_muley ?lte_fin// leye_eq => /eqP Moo.
by have := mass_le1 (law_total M x) mS; rewrite Moo.
Qed.
End Exponent.

(* -- Noise of a norm of the distance: H(z) = h(norm(z)/scale) -- *)
Section Radial.
Variables (norm : V -> R) (h : R -> R) (scale c : R).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c).
Hypothesis noise : adds_noise (fun z => c * expR (- h (norm z / scale))).
Let near z := norm z / scale.

Lemma near_semi : seminorm near.
Proof.
split=> [x y | a x]; rewrite /near; last by rewrite (seminormZ semi) mulrA.
by rewrite -mulrDl ler_pmul2r ?invr_gt0// seminorm_triangle.
Qed.

(* The two-argument modulus bounds the loss, in every norm (docs/theory/additive.md, two-argument modulus, 1). *)
Theorem radial_upper (Delta m : R) :
  (forall x x', both N x x' -> norm (q x - q x') <= Delta) ->
  (forall a b, 0 <= a -> 0 <= b -> `|a - b| <= Delta / scale -> h b - h a <= m) ->
  pure_dp N M m.
Proof.
move=> moves modulus; apply: (exponent_upper c0 noise) => x x' z xx.
apply: modulus; [exact: (seminorm_ge0 near_semi) | exact: (seminorm_ge0 near_semi) |].
apply: le_trans (seminorm_dist near_semi _ _) _.
rewrite opprD addrA subrr sub0r (seminormN near_semi) /near ler_pmul2r ?invr_gt0//; exact: moves.
Qed.

(* On the line of two answers every a and b with |a - b| = t occur. *)
Lemma on_line (s : V) (a b : R) : 0 < near s -> 0 <= a -> 0 <= b -> `|a - b| = near s ->
  exists z, near z = a /\ near (z + s) = b.
Proof.
move=> t0 a0 b0 ab; have tn : near s != 0 by rewrite gt_eqF.
have scaled k : near (k *: s) = `|k| * near s by exact: (seminormZ near_semi).
have shifted k : near (k *: s + s) = `|k + 1| * near s by rewrite -[X in _ + X]scale1r -scalerDl scaled.
have ka : a / near s * near s = a by rewrite divfK.
have ka0 : 0 <= a / near s by rewrite divr_ge0// ltW.
have kb : b / near s * near s = b by rewrite divfK.
have kb0 : 0 <= b / near s by rewrite divr_ge0// ltW.
have [le | lt] := lerP a b.
- exists ((a / near s) *: s); rewrite scaled shifted ger0_norm// ka; split=> //.
  by rewrite ger0_norm; [move: ab; rewrite distrC ger0_norm ?subr_ge0//; lra | lra].
- exists ((- (a / near s)) *: s); rewrite scaled shifted normrN ger0_norm// ka; split=> //.
  have e : a - b = near s by move: ab; rewrite ger0_norm// subr_ge0 ltW.
  have -> : - (a / near s) + 1 = - (b / near s).
    by apply: (mulIf tn); rewrite mulrDl !mulNr ka kb mul1r; lra.
  by rewrite normrN ger0_norm// kb.
Qed.

Lemma continuous_near z : continuous_at_distance h (near z) -> continuous_at norm (fun z => h (norm z / scale)) z.
Proof.
move=> ch s s0; have [r r0 close] := ch s s0; exists (r * scale); first by rewrite mulr_gt0.
move=> w wz; apply: close; first exact: (seminorm_ge0 near_semi).
apply: le_lt_trans (seminorm_dist near_semi _ _) _.
by rewrite /near ltr_pdivr_mulr.
Qed.

(* At an output that lies at a from q(x) and at b from q(x'), where h is continuous. *)
Theorem radial_lower_at x x' z : both N x x' -> charged mu place norm (q x + z) ->
  continuous_at_distance h (near z) -> continuous_at_distance h (near (z + (q x - q x'))) ->
  ((h (near (z + (q x - q x'))) - h (near z))%:E <= tight_epsilon N M 0)%E.
Proof.
by move=> xx ch c1 c2; apply: (exponent_lower_at c0 noise xx ch); exact: continuous_near.
Qed.

(* All a, b >= 0 with |a - b| the distance of two answers are met (two-argument modulus, 2). *)
Theorem radial_lower (a b : R) x x' : both N x x' -> (forall v, charged mu place norm v) ->
  0 <= a -> 0 <= b -> `|a - b| = norm (q x - q x') / scale ->
  continuous_at_distance h a -> continuous_at_distance h b ->
  ((h b - h a)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx ch a0 b0 ab ca cb; have := seminorm_ge0 near_semi (q x - q x').
rewrite le_eqVlt => /orP[/eqP t0 | t0].
  have /eqP : `|a - b| = 0 by rewrite ab -/(near _) -t0.
  by rewrite normr_eq0 subr_eq0 => /eqP ->; rewrite subrr tight_epsilon_ge0.
have [z [za zb]] := on_line t0 a0 b0 ab; rewrite -zb -za.
by apply: radial_lower_at => //; rewrite ?za ?zb.
Qed.
End Radial.
End AdditiveNoise.
