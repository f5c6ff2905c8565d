(* The rules on concave exponents, convex exponents and powers, as the kernel uses them: the tight epsilon in closed form, in every norm and
   dimension (docs/theory/additive.md). Delta is the sensitivity, D = Delta/scale. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive.

Section RadialRules.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V).
Variables (norm : V -> R) (h : R -> R) (scale c Delta : R).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c).
(* The output is q(x) + noise, of density c exp(-h(norm(z)/scale)) with respect to mu. *)
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))).
Let D := Delta / scale.

(* No answer moves further than Delta; some pair of answers is so far apart. *)
Definition moves_at_most := forall x x', both N x x' -> norm (q x - q x') <= Delta.
Definition moves_exactly (x x' : X) := both N x x' /\ norm (q x - q x') = Delta.

(* The base measure: all neighbourhoods have positive measure, and what lies far from an answer has infinite measure (Lebesgue's measure on
   R^d, counting on the integers). *)
Definition full_measure := forall v, charged mu place norm v.
Definition infinite_measure := forall (v : V) (r : R), exists S, [/\ measurable S, (mu S = +oo)%E & forall y, S y -> r <= norm (place y - v)].

Let D_ge0 x x' : moves_exactly x x' -> 0 <= D.
Proof. by move=> [_ e]; rewrite /D -e; apply: over_ge0 => //; exact: (seminorm_ge0 semi). Qed.

(* h never falls, for otherwise the density would have infinite mass: what the rule's "integrable" gives. *)
Lemma concave_never_falls : concave_on_half h -> infinite_measure -> forall x : X, never_falls h.
Proof.
move=> conc far x a b a0; rewrite le_eqVlt => /orP[/eqP -> // | ab].
rewrite leNgt; apply/negP => fall.
have [S [mS Soo Sfar]] := far (q x) (b * scale).
have k0 : 0 < `|h b| + 1 by have := normr_ge0 (h b); lra.
apply: (no_infinite_mass (x := x) c0 noise k0 mS Soo) => y Sy /=.
 have br : b <= norm (place y - q x) / scale by rewrite ler_pdivl_mulr// Sfar.
have := concave_falls conc a0 ab fall br; have := ler_norm (h b); lra.
Qed.

Theorem concave_exponent_upper : concave_on_half h -> infinite_measure -> moves_at_most -> pure_dp N M (h D - h 0).
Proof.
move=> conc far moves x x' xx; have rise := concave_never_falls conc far x; move: xx; move: x x'.
apply: (radial_upper semi scale0 c0 noise moves) => a b a0 b0 ab.
exact: concave_modulus.
Qed.

Theorem concave_exponent_lower x x' : concave_on_half h -> continuous_at_distance h 0 -> full_measure -> moves_exactly x x' ->
  ((h D - h 0)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> conc c0h full mv; have D0 := D_ge0 mv; have [xx e] := mv.
move: D0; rewrite le_eqVlt => /orP[/eqP <- | D0]; first by rewrite subrr tight_epsilon_ge0.
apply: (radial_lower semi scale0 c0 noise xx full) => //; first exact: ltW.
- by rewrite sub0r normrN e -/D ger0_norm// ltW.
- by move=> s s0; have [r r0 near] := concave_continuous conc D0 s0; exists r => // y _; exact: near.
Qed.

(* The same for noise on the integers, where the value at the true answer itself counts. *)
Theorem concave_exponent_lower_atom x x' : atom mu place (q x) -> moves_exactly x x' ->
  ((h D - h 0)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> at_q [xx e]; have := @exponent_lower_atom _ _ _ _ mu place _ N M q _ c c0 noise x x' 0 xx.
by rewrite addr0 add0r e (seminorm0 semi) mul0r; apply.
Qed.

(* Both sides: the tight epsilon is h(D) - h(0). *)
Theorem concave_exponent_exact x x' : concave_on_half h -> continuous_at_distance h 0 -> full_measure -> infinite_measure ->
  moves_at_most -> moves_exactly x x' -> tight_epsilon N M 0 = (h D - h 0)%:E.
Proof.
move=> conc c0h full far moves mv; have D0 := D_ge0 mv.
apply: tight_epsilon_eq; [| exact: concave_exponent_upper | exact: concave_exponent_lower mv].
by rewrite subr_ge0; apply: (concave_never_falls conc far x).
Qed.

(* Convex exponents: L = lim h(r)/r, which is the limit of the slope. *)
Theorem convex_exponent_upper L : convex_on_half h -> never_falls h -> slope_at_most h L -> moves_at_most -> pure_dp N M (L * D).
Proof.
move=> conv rise lim moves.
apply: (radial_upper semi scale0 c0 noise moves) => a b a0 b0; rewrite -/D ler_norml => /andP[ab ba].
have D0 : 0 <= D by lra.
have := convex_increment conv lim a0 D0.
have : h b <= h (a + D) by apply: rise => //; lra.
lra.
Qed.

Let far_pair x x' (a s : R) : moves_exactly x x' -> 0 < D -> 0 <= a -> convex_on_half h -> full_measure -> s < h (a + 1 + D) - h (a + 1) ->
  (s%:E <= tight_epsilon N M 0)%E.
Proof.
move=> [xx e] D0 a0 conv full sv.
have cont b : 0 < b -> continuous_at_distance h b.
  move=> b0 t t0.
  have lb : 0 <= b - b by lra.
  have [r r0 near] := convex_continuous b0 conv lb t0.
  by exists r => // y _; exact: near.
apply: (@le_trans _ _ (h (a + 1 + D) - h (a + 1))%:E); first by rewrite lee_fin ltW.
apply: (radial_lower semi scale0 c0 noise xx full); [lra | lra | | apply: cont; lra | apply: cont; lra].
by rewrite e -/D opprD addrA subrr sub0r normrN ger0_norm// ltW.
Qed.

Let shifted_convex : convex_on_half h -> convex_on_half (fun r => h (r + 1)).
Proof.
move=> conv a b t a0 b0 t0 t1.
have -> : t * a + (1 - t) * b + 1 = t * (a + 1) + (1 - t) * (b + 1) by lra.
by apply: conv => //; lra.
Qed.

Theorem convex_exponent_lower L x x' : convex_on_half h -> slope_at_least h L -> full_measure -> moves_exactly x x' ->
  ((L * D)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> conv lim full mv; have := D_ge0 mv; rewrite le_eqVlt => /orP[/eqP <- | D0]; first by rewrite mulr0 tight_epsilon_ge0.
apply: lower_limit => s s0; pose s' := L - s / D.
have sE : s / D * D = s by rewrite divfK// gt_eqF.
have sL : s' < L by have := divr_gt0 s0 D0; rewrite /s'; lra.
have lim' : slope_at_least (fun r => h (r + 1)) L.
  move=> t tL; have [r0 low] := lim ((t + L) / 2) (ltac:(lra)).
  exists (Num.max r0 (2 * `|t + L| / (L - t) + 1)) => r; rewrite le_maxl => /andP[rr0 rt].
  have LT : 0 < L - t by lra.
  have r1 : r0 <= r + 1 by lra.
  have := low _ r1; have : 2 * `|t + L| <= (r - 1) * (L - t) by rewrite -ler_pdivr_mulr//; lra.
  have := ler_norm (- (t + L)); rewrite normrN; have := normr_ge0 (t + L); lra.
have [a a0 av] := increment_reached D0 lim' sL.
apply: (far_pair mv D0 a0 conv full); rewrite addrAC; apply: le_lt_trans av; rewrite /s'; lra.
Qed.

(* The slope grows without bound: no finite epsilon. *)
Theorem convex_exponent_infinite x x' : convex_on_half h -> slope_infinite h -> full_measure -> moves_exactly x x' -> 0 < D ->
  (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> conv lim full mv D0; apply: infinite_of_unbounded => v v0.
have lim' : slope_infinite (fun r => h (r + 1)).
  move=> s; have [r0 low] := lim (`|s| + 1); exists (`|r0|) => r rr0.
  have n0 := normr_ge0 r0; have m0 := ler_norm r0; have ns := normr_ge0 s; have ms := ler_norm s.
  have r1 : r0 <= r + 1 by lra.
  have := low _ r1; have : 0 <= (`|s| - s) * r by apply: mulr_ge0; lra.
  lra.
have [a a0 av] := increment_unbounded D0 lim' v.
by apply: (far_pair mv D0 a0 conv full); rewrite addrAC.
Qed.
End RadialRules.

(* Laplace noise, and the exponential mechanism of any norm (K-norm): h(r) = r. *)
Section Laplace.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V).
Variables (norm : V -> R) (scale c Delta : R).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c).
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- (norm z / scale))).

(* The tight epsilon of noise of density proportional to exp(-norm(z)/scale) is Delta/scale, in every norm. *)
Theorem laplace_exact x x' : full_measure mu place norm ->
  moves_at_most N q norm Delta -> moves_exactly N q norm Delta x x' -> tight_epsilon N M 0 = (Delta / scale)%:E.
Proof.
move=> full moves mv; have D0 : 0 <= Delta / scale by case: mv => _ <-; apply: over_ge0 => //; exact: (seminorm_ge0 semi).
have conv : convex_on_half (@id R) by move=> a b t *; lra.
apply: tight_epsilon_eq => //.
- rewrite -[Delta / scale]mul1r; apply: (convex_exponent_upper (h := id) semi scale0 c0 noise conv) => //.
  by move=> s s1; exists 0 => r r0; have := ler_wpmul2r r0 (ltW s1); lra.
- rewrite -[Delta / scale]mul1r; apply: (convex_exponent_lower (h := id) semi scale0 c0 noise conv _ full mv).
  by move=> s s1; exists 0 => r r0; have := ler_wpmul2r r0 (ltW s1); lra.
Qed.

End Laplace.

(* Gaussian noise is never purely private: h(r) = r^2/2. *)
Theorem gaussian_not_pure (R : realType) (V : lmodType R) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V)
  (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V) (norm : V -> R) (scale c Delta : R) x x' :
  seminorm norm -> 0 < scale -> 0 < c -> adds_noise mu place M q (fun z => c * expR (- ((norm z / scale) ^+ 2 / 2))) ->
  full_measure mu place norm -> moves_exactly N q norm Delta x x' -> 0 < Delta -> (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> semi scale0 c0 noise full mv D0.
apply: (convex_exponent_infinite (h := fun r => r ^+ 2 / 2) semi scale0 c0 noise _ _ full mv); last by rewrite divr_gt0.
- move=> a b t a0 b0 t0 t1 /=.
  have : 0 <= t * (1 - t) * (a - b) ^+ 2 by apply: mulr_ge0; [apply: mulr_ge0; lra | exact: sqr_ge0].
  lra.
- move=> s; exists (2 * `|s|) => r /= rs; have := ler_norm s; have := normr_ge0 s => n0 m0.
  have r0 : 0 <= r by lra.
  have s2 : 2 * s <= r by lra.
  have := ler_wpmul2r r0 s2; lra.
Qed.
