(* Bounds on delta and epsilon by the Renyi divergence of one order (docs/theory/composition.md: other measures), with the divergences of
   mechanisms in closed form: Gaussian and Laplace noise, bounded range, pure epsilon. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood powers means renyi finite_measures renyi_curves measures gaussian_curve gaussian_measures laplace_curve laplace_rule implied_bounds implied_measures laplace_renyi laplace_orders.
Import numFieldNormedType.Exports.

(* An epsilon at which delta is enough. *)
Definition renyi_epsilon (R : realType) (a t delta : R) : R := Num.max 0 (t + - (ln delta + ln a) / (a - 1) + ln ((a - 1) / a)).

Lemma renyi_epsilon_enough (R : realType) (a t delta eps : R) : 1 < a -> 0 < delta -> renyi_epsilon a t delta <= eps -> renyi_delta a t eps <= delta.
Proof.
move=> a1 d0; rewrite /renyi_epsilon le_maxl => /andP[_ le]; have ap : 0 < a by lra.
have am : 0 < a - 1 by lra.
have sE : 1 - a^-1 = (a - 1) / a by rewrite mulrBl divff ?gt_eqF// mul1r.
have q0 : 0 < (a - 1) / a by rewrite divr_gt0.
rewrite /renyi_delta sE pow_pos// ler_pdivr_mulr// -expRD.
have lm : ln (delta * (a - 1)) = ln delta + ln (a - 1) by rewrite lnM ?posrE.
rewrite -[leRHS]lnK ?posrE ?mulr_gt0// ler_expR lm.
have lq : ln ((a - 1) / a) = ln (a - 1) - ln a by rewrite ln_div ?posrE.
have h := ler_wpmul2l (ltW am) le; rewrite !mulrDr in h; move: h.
have -> : (a - 1) * (- (ln delta + ln a) / (a - 1)) = - (ln delta + ln a) by rewrite mulrC divfK// gt_eqF.
rewrite lq; set x := ln (a - 1); set y := ln a; lra.
Qed.

Section Rule.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* The laws of Laplace noise on the line. *)
Definition laplace_laws (b c : R) (law : R -> {measure set [the measurableType (R.-ocitv.-measurable).-sigma of salgebraType (R.-ocitv.-measurable)] -> \bar R}) := (forall v, law v setT = 1%E) /\
  forall v, has_density (@lebesgue_measure R) (law v) (fun y => c * expR (- (`|y - v| / b))).

(* Where the curve is at most that of Laplace noise moved by t scales, as the rules laplace and lipschitz-exponent show. *)
Lemma laplace_renyi_below (P Q : {measure set Y -> \bar R}) b c law t a : P setT = 1%E -> Q setT = 1%E -> 0 < b -> 0 < c -> laplace_laws b c law ->
  0 <= t -> 1 < a -> (forall eps, - t <= eps -> profile (expR eps) P Q <= laplace_delta t eps) ->
  (forall eps, eps <= - t -> profile (expR eps) P Q <= 1 - expR eps) -> renyi a (laplace_divergence t a) P Q.
Proof.
move=> P1 Q1 b0 c0 [total dens] t0 a1 up low.
have dom : dominated P Q (law 0) (law (0 + t * b)).
  move=> x; rewrite le_eqVlt => /predU1P[<-|x0]; first by rewrite !profile0.
  rewrite -[x]lnK ?posrE//; have [h|h] := leP (- t) (ln x).
    by rewrite (laplace_line b0 c0 total dens 0 t0 h); exact: up.
  by apply: (le_trans (low _ (ltW h))); apply: profile_ge => //; exact: expR_ge0.
have L := density_likelihood (total 0) (total (0 + t * b)) (dens 0) (dens (0 + t * b)).
apply: (renyi_dominated P1 Q1 (total 0) (total _) L dom a1).
apply/(laplace_line_renyi b0 c0 total dens 0 t0 a1); rewrite /laplace_divergence mulrCA divff ?mulr1; last by rewrite gt_eqF// subr_gt0.
rewrite lnK// posrE /laplace_power.
by rewrite ltr_spaddl// ?mulr_gt0 ?mulr_ge0 ?expR_gt0 ?expR_ge0// ?invr_gt0 ?invr_ge0; lra.
Qed.

(* Gaussian noise adds up part by part, each a mu_i^2/2; Laplace noise, what has a pure epsilon, and what has bounded range by themselves. *)
(* One case of the rule: parts whose divergences are known in closed form, at one order. *)
(* Rule: renyi-composition, upper. *)
Theorem other_measures a : 1 < a ->
  [/\ forall t, renyi_private N M a t ->
        (forall eps, 0 <= eps -> dp_in_order N M eps (Num.min 1 (renyi_delta a t eps))) /\
        (forall eps delta, 0 < delta -> renyi_epsilon a t delta <= eps -> dp_in_order N M eps delta),
      forall mus, composed N a M [seq a * (mu ^+ 2 / 2) | mu <- mus] -> renyi_private N M a (a * ((\sum_(mu <- mus) mu ^+ 2) / 2)),
      forall b c law t, 0 < b -> 0 < c -> laplace_laws b c law -> 0 <= t ->
        (forall x x' eps, N x x' -> - t <= eps -> profile (expR eps) (M x) (M x') <= laplace_delta t eps) ->
        (forall x x' eps, N x x' -> eps <= - t -> profile (expR eps) (M x) (M x') <= 1 - expR eps) -> renyi_private N M a (laplace_divergence t a),
      forall e, 0 <= e -> pure_dp N M e -> renyi_private (both N) M a (response_renyi e a) /\ zcdp_private (both N) M (e * tanh_half e) &
      forall eta, (forall x x', N x x' -> bounded_range eta (M x) (M x')) -> renyi_private N M a (a * (eta ^+ 2 / 8))].
Proof.
move=> a1; have l := law_total M; split.
- move=> t h; split=> [eps e0 | eps delta d0 le]; apply/dp_profile => x x' xx.
  + by rewrite le_minr profile_le1 ?expR_ge0//=; apply: renyi_profile; rewrite ?l//; exact: h.
  + by apply: le_trans (renyi_epsilon_enough a1 d0 le); apply: renyi_profile; rewrite ?l//; exact: h.
- move=> mus C; have h := renyi_composition a1 C; rewrite big_map -mulr_sumr -mulr_suml in h; exact: h.
- by move=> b c law t b0 c0 laws t0 up low x x' xx; apply: (laplace_renyi_below (l x) (l x') b0 c0 laws t0 a1) => eps; [exact: up | exact: low].
- by move=> e e0 h; have [_ _ /(_ e e0 h)[z r _] _ _] := implied_measures N M; split=> //; exact: r.
- by move=> eta h; have [_ /(_ eta h)[z _] _ _ _] := implied_measures N M; move=> x x' xx; exact: z.
Qed.
End Rule.
