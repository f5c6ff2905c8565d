(* Moments of noise whose density is a function of the length in a norm (docs/theory/utility.md, noise moments, infinite moments): of what grows as
   a power of the length, such as the Euclidean length or a coordinate, the mean is that power of the length in the norm, in the mean, times the
   mean over the unit ball. Polar coordinates are not needed: only that the measure of the space is multiplied by t^d where outputs are by t. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic likelihood scale_integrals power_integrals norm_length error_chains.

(* -- A space whose measure grows as a power -- *)

Section Growth.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (grow : R -> Y -> Y) (length : Y -> R) (dim : R).
Hypotheses (mgrow : forall t, 0 < t -> measurable_fun setT (grow t)) (ml : measurable_fun setT length).
Hypothesis grown : forall t A, 0 < t -> measurable A -> mu (grow t @^-1` A) = ((pw dim t^-1)%:E * mu A)%E.
Hypothesis length_grown : forall t y, 0 < t -> length (grow t y) = t * length y.

Definition ball (r : R) : set Y := [set y | length y <= r].
Lemma measurable_ball r : measurable (ball r).
Proof.
rewrite (_ : ball r = setT `&` length @^-1` `]-oo, r]%classic); first by apply: ml => //; exact: measurable_itv.
by rewrite setTI; apply/seteqP; split=> y /=; rewrite in_itv.
Qed.

Lemma ball_grown r : 0 < r -> ball r = grow r^-1 @^-1` ball 1.
Proof.
move=> r0; have i0 : 0 < r^-1 by rewrite invr_gt0.
by apply/seteqP; split=> y; rewrite /ball/= length_grown// mulrC ler_pdivr_mulr ?mul1r.
Qed.

Lemma balls_grow K : mu (ball 1) = K%:E -> balls_are_powers mu length K dim.
Proof.
move=> K1 r r0; have i0 : 0 < r^-1 by rewrite invr_gt0.
by rewrite -/(ball r) ball_grown// grown//; [rewrite invrK K1 -EFinM mulrC | exact: measurable_ball].
Qed.

(* A function of the outputs, multiplied. *)
Lemma integral_grown t (g : Y -> R) : 0 < t -> measurable_fun setT g -> (forall y, 0 <= g y) ->
  (\int[mu]_y (g (grow t y))%:E = (pw dim t^-1)%:E * \int[mu]_y (g y)%:E)%E.
Proof.
move=> t0 mg g0; have mt := mgrow t0; set k := pw dim t^-1; have k0 : 0 < k by exact: pw_gt0.
pose nu : {measure set Y -> \bar R} := [the measure _ _ of pushforward mu mt].
have -> : (\int[mu]_y (g (grow t y))%:E = \int[nu]_y (g y)%:E)%E.
  have mgE : measurable_fun setT (fun y => (g y)%:E) by exact/EFin_measurable_fun.
  have g0E y : (0 <= (g y)%:E)%E by rewrite lee_fin.
  by apply/esym; exact: (integral_pushforward mt mu mgE g0E).
have nuE A : measurable A -> nu A = (k%:E * mu A)%E by move=> mA; rewrite /nu/= /pushforward grown.
apply/eqP; rewrite eq_le; apply/andP; split; last first.
  by apply: integral_smaller => // A mA; rewrite nuE.
have ki : 0 <= k^-1 by rewrite invr_ge0 ltW.
have : (k^-1%:E * \int[nu]_y (g y)%:E <= \int[mu]_y (g y)%:E)%E.
  by apply: integral_smaller => // A mA; rewrite nuE// muleA -EFinM mulVf ?gt_eqF// mul1e.
by rewrite lee_pdivr_mull.
Qed.

(* What grows as the power q of the length: with it as a density, balls grow as the power dim + q. *)
Section Powers.
Context (q : R) (h : Y -> R).
Hypotheses (mh : measurable_fun setT h) (h0 : forall y, 0 <= h y) (h_grown : forall t y, 0 < t -> h (grow t y) = pw q t * h y).
Definition with_density : {measure set Y -> \bar R} := [the measure _ _ of weighted mu mh h0].

Lemma balls_with_density K : (\int[mu]_(y in ball 1) (h y)%:E = K%:E)%E -> balls_are_powers with_density length K (dim + q).
Proof.
move=> K1 r r0; have i0 : 0 < r^-1 by rewrite invr_gt0.
have inside s : (\int[mu]_(y in ball s) (h y)%:E = \int[mu]_y (h y * \1_(ball s) y)%:E)%E.
  rewrite -[ball s]setTI integral_setI_indic//; first by apply: eq_integral => y _; rewrite -EFinM setTI.
  exact: measurable_ball.
rewrite -/(ball r); change (with_density (ball r)) with (\int[mu]_(y in ball r) (h y)%:E)%E.
pose g y := h y * \1_(ball 1) y.
have mg : measurable_fun setT g by apply: measurable_funM => //; apply: measurable_fun_indic; exact: measurable_ball.
have g0 y : 0 <= g y by rewrite mulr_ge0// indicE ler0n.
have := integral_grown i0 mg g0; rewrite invrK -inside K1 -EFinM => e.
have p0 : 0 <= pw q r^-1 by exact/ltW/pw_gt0.
have : ((pw q r^-1)%:E * \int[mu]_(y in ball r) (h y)%:E = (pw dim r * K)%:E)%E.
  rewrite -e inside -integral_scaled//; last 2 first.
  - by move=> y; rewrite mulr_ge0// indicE ler0n.
  - by apply: measurable_funM => //; apply: measurable_fun_indic; exact: measurable_ball.
  apply: eq_integral => y _; rewrite /g h_grown// mulrA; congr (_ * _)%:E.
  by rewrite (ball_grown r0) !indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite !inE.
have pp : pw q r * pw q r^-1 = 1 by rewrite -pwM// divff ?gt_eqF// /pw ln1 mulr0 expR0.
move=> /(congr1 (fun x => (pw q r)%:E * x)%E); rewrite muleA -EFinM pp mul1e => ->.
by rewrite -EFinM pwD; congr EFin; lra.
Qed.
End Powers.
End Growth.

(* -- Noise -- *)

Section Noise.
Context (R : realType) d (Y : measurableType d) (mu P : {measure set Y -> \bar R}) (grow : R -> Y -> Y) (length : Y -> R) (dim q c K Kh : R).
Context (f : R -> R) (h : Y -> R).
Notation leb := (@lebesgue_measure R).
Hypotheses (mgrow : forall t, 0 < t -> measurable_fun setT (grow t)) (ml : measurable_fun setT length) (dim0 : 0 < dim) (q0 : 0 <= q).
Hypothesis grown : forall t A, 0 < t -> measurable A -> mu (grow t @^-1` A) = ((pw dim t^-1)%:E * mu A)%E.
Hypothesis length_grown : forall t y, 0 < t -> length (grow t y) = t * length y.
Hypotheses (mh : measurable_fun setT h) (h0 : forall y, 0 <= h y) (h_grown : forall t y, 0 < t -> h (grow t y) = pw q t * h y).
(* The unit ball has a volume, and h an integral over it. *)
Hypotheses (ball1 : mu (ball length 1) = K%:E) (over_ball : (\int[mu]_(y in ball length 1) (h y)%:E = Kh%:E)%E).
Hypotheses (mf : measurable_fun setT f) (f0 : forall s, 0 <= f s) (c0 : 0 <= c).
(* Noise, as drawn, of the length in the norm over the unit b. *)
Variable b : R.
Hypotheses (b0 : 0 < b) (P1 : P setT = 1%E) (Pp : has_density mu P (fun y => c * f (length y / b))).

(* The integral of s^q f(s) s^(dim - 1) over s > 0. *)
Definition radial_integral (p : R) : \bar R := (\int[leb]_(s in `]0%R, +oo[%classic) (pw (dim + p - 1) s * f s)%:E)%E.

Let size (y : Y) : R := length y / b.
Let msize : measurable_fun setT size.
Proof. by apply: measurable_funM => //; exact: measurable_fun_cst. Qed.

Let K0 : 0 <= K. Proof. by rewrite -lee_fin -ball1 measure_ge0. Qed.
Let Kh0 : 0 <= Kh. Proof. by rewrite -lee_fin -over_ball integral_ge0// => y _; rewrite lee_fin. Qed.

Let smaller (nu : {measure set Y -> \bar R}) (k p : R) : balls_are_powers nu length k p -> balls_are_powers nu size (k * pw p b) p.
Proof.
move=> balls r r0; have rb : 0 < r * b by exact: mulr_gt0.
rewrite (_ : [set y | size y <= r] = [set y | length y <= r * b]); first by rewrite balls// pwM//; congr EFin; lra.
by apply/seteqP; split=> y; rewrite /size/= ler_pdivr_mulr.
Qed.

Let radial (nu : {measure set Y -> \bar R}) (k p : R) : 0 < p -> 0 <= k -> balls_are_powers nu length k p ->
  (\int[nu]_y (f (size y))%:E = (k * pw p b * p)%:E * \int[leb]_(s in `]0%R, +oo[%classic) (pw (p - 1) s * f s)%:E)%E.
Proof.
move=> p0 k0 balls; have kb : 0 <= k * pw p b by rewrite mulr_ge0// ltW// pw_gt0.
have := @integral_length R d Y nu size (k * pw p b) p msize p0 kb (smaller balls) f setT mf f0 measurableT.
by rewrite preimage_setT setTI.
Qed.

Let mfs : measurable_fun setT (fun y => f (size y)). Proof. exact: (measurable_fun_comp mf msize). Qed.

(* The density is one. *)
Lemma total_radial : ((c * (K * pw dim b * dim))%:E * radial_integral 0 = 1)%E.
Proof.
have [p0 mp PE] := Pp; have := PE setT measurableT; rewrite P1 => e; rewrite /radial_integral addr0 EFinM -muleA.
rewrite -(radial dim0 K0 (balls_grow ml grown length_grown ball1)) -integral_scaled//; exact/esym.
Qed.

Lemma mean_radial : (\int[P]_y (h y)%:E = (c * (Kh * pw (dim + q) b * (dim + q)))%:E * radial_integral q)%E.
Proof.
have dq : 0 < dim + q by lra.
have balls := balls_with_density mgrow ml grown length_grown mh h0 h_grown over_ball.
rewrite EFinM -muleA /radial_integral -(radial dq Kh0 balls).
rewrite (integral_density Pp); last 2 first.
- exact/EFin_measurable_fun.
- by move=> y; rewrite lee_fin.
rewrite (integral_density (weighted_density mu mh h0)); last 2 first.
- exact/EFin_measurable_fun.
- by move=> y; rewrite lee_fin.
rewrite -ge0_integralM//; last 2 first.
- by apply: emeasurable_funM; apply/EFin_measurable_fun.
- by move=> y _; rewrite -EFinM lee_fin mulr_ge0.
by apply: eq_integral => y _; rewrite -!EFinM; congr EFin; rewrite /size; lra.
Qed.

(* What is drawn has the mean of the length's power, b^q times a ratio of integrals, times (dim + q)/dim times the mean over the unit ball. *)
(* Rule: noise-moments, in part: the closed forms of the ratio of integrals in the common families, and of the means over balls of lp norms and
   ellipsoids; mixtures of a scale family; staircase noise; and noise on the integers. *)
Theorem noise_moments : exists2 total : R, radial_integral 0 = total%:E /\ 0 < total &
  (\int[P]_y (h y)%:E = (pw q b)%:E * (total^-1%:E * radial_integral q) * ((dim + q) / dim * (Kh / K))%:E)%E.
Proof.
have I0 p : (0 <= radial_integral p)%E by apply: integral_ge0 => s _; rewrite lee_fin mulr_ge0// ltW// pw_gt0.
have k0 : 0 <= c * (K * pw dim b * dim) by rewrite !mulr_ge0// ltW// pw_gt0.
have := total_radial; case E : (radial_integral 0) (I0 0) => [t| |] // t0; last first.
  move=> e; exfalso; move: e; have [->|z] := eqVneq (c * (K * pw dim b * dim)) 0.
    by rewrite mul0e => /eqP; rewrite eq_sym onee_eq0.
  by rewrite gt0_muley// lte_fin lt_neqAle eq_sym z.
rewrite -EFinM => -[e]; exists t.
  split=> //; rewrite lt_neqAle -lee_fin t0 andbT eq_sym; apply/eqP => z; move: e; rewrite z mulr0 => /eqP; by rewrite eq_sym oner_eq0.
have cn : c != 0 by apply: contraTneq (oner_neq0 R) => z; rewrite -e z !mul0r eqxx.
have Kn : K != 0 by apply: contraTneq (oner_neq0 R) => z; rewrite -e z !(mul0r, mulr0) eqxx.
have bn : pw dim b != 0 by rewrite gt_eqF ?pw_gt0.
have dn : dim != 0 by rewrite gt_eqF.
have tE : t^-1 = c * (K * pw dim b * dim).
  have tn : t != 0 by apply: contraTneq (oner_neq0 R) => z; rewrite -e z mulr0 eqxx.
  by apply: (mulIf tn); rewrite mulVf// e.
rewrite mean_radial tE [RHS]muleAC muleA -!EFinM; congr (_ * _)%E; congr EFin; rewrite pwD.
have -> : c * (Kh * (pw dim b * pw q b) * (dim + q)) = c * Kh * pw dim b * pw q b * (dim + q) * (dim / dim) * (K / K).
  by rewrite !divff// !mulr1; lra.
lra.
Qed.

(* Where the integral of s^q f(s) s^(dim - 1) is infinite the mean is: h is not 0 almost everywhere in the ball. *)
Lemma infinite_mean : 0 < Kh -> radial_integral q = +oo%E -> (\int[P]_y (h y)%:E = +oo)%E.
Proof.
move=> kh i; have [t [_ t0] ->] := noise_moments; have kp : 0 < K.
  rewrite lt_neqAle K0 andbT eq_sym; apply/eqP => z; have := total_radial; rewrite z !mul0r mulr0 mul0e => /eqP.
  by rewrite eq_sym onee_eq0.
rewrite i gt0_muley ?lte_fin ?invr_gt0// gt0_muley ?lte_fin ?pw_gt0// gt0_mulye// lte_fin mulr_gt0 ?divr_gt0//; lra.
Qed.
End Noise.
