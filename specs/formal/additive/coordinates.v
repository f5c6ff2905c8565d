(* Independent coordinates of even noise under a budget in l_p: the loss is greatest where all coordinates move alike (docs/theory/additive.md,
   product noise). With it the rules concave-exponent, convex-exponent and power-identity in all the forms of noise that they speak of: a norm of
   the distance, independent coordinates, densities on the line that are not even, and noise on the integers. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules modulus_rules products convex_line powers.
Import numFieldTopology.Exports numFieldNormedType.Exports.

Section Coordinates.
Context (R : realType) (n : nat) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> 'rV[R]_n) (h : R -> R) (c : R).
Hypotheses (n0 : (0 < n)%N) (c0 : 0 < c).
(* n independent coordinates of density proportional to exp(-h). *)
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))).

(* The greatest coordinate; what has positive measure is measured with it. *)
Definition greatest (z : 'rV[R]_n) : R := \big[Num.max/0]_i `|z 0 i|.

(* What lies far out in every coordinate has infinite measure, as in R^n and on the integers. *)
Definition infinite_far_out :=
  forall (v : 'rV[R]_n) (r : R), exists S, [/\ measurable S, (mu S = +oo)%E & forall y, S y -> forall i, r <= `|(place y - v) 0 i|].

Definition continuous_there (f : R -> R) (a : R) := forall s, 0 < s -> exists2 r, 0 < r & forall x, `|x - a| < r -> `|f x - f a| < s.

Lemma sum_continuous (z : 'rV[R]_n) : (forall i, continuous_there h (z 0 i)) -> continuous_at greatest (fun z => \sum_i h (z 0 i)) z.
Proof.
move=> cont s s0; have nR : 0 < n%:R :> R by rewrite ltr0n.
have t0 : 0 < s / 2 / n%:R by rewrite !divr_gt0.
have ex i : exists r, 0 < r /\ forall x, `|x - z 0 i| < r -> `|h x - h (z 0 i)| < s / 2 / n%:R.
  by have [r r0 H] := cont i _ t0; exists r.
have [r rP] := choice ex.
exists (\big[Num.min/1]_i r i) => [|w wz]; first by apply: lt_bigmin => // i _; have [] := rP i.
rewrite -sumrB; apply: le_lt_trans (ler_norm_sum _ _ _) _.
apply: (@le_lt_trans _ _ (\sum_(i < n) (s / 2 / n%:R))); last first.
  rewrite sumr_const card_ord -mulr_natl mulrCA divff ?gt_eqF// mulr1; lra.
apply: ler_sum => i _; apply: ltW; have [_ H] := rP i; apply: H.
apply: (@le_lt_trans _ _ (greatest (w - z))).
  have -> : w 0 i - z 0 i = (w - z) 0 i by rewrite !mxE.
  exact: (le_bigmax _ (fun i => `|(w - z) 0 i|) i).
by apply: lt_le_trans wz _; rewrite (bigminD1 i)//= le_minl lexx.
Qed.

(* The loss at an output, where it has positive measure itself, or all that is near and h is continuous in each coordinate. *)
Theorem coordinates_lower x x' (z : 'rV[R]_n) : both N x x' ->
  atom mu place (q x + z) \/ [/\ charged mu place greatest (q x + z), forall i, continuous_there h (z 0 i) &
    forall i, continuous_there h ((z + (q x - q x')) 0 i)] ->
  ((\sum_i (h ((z + (q x - q x')) 0 i) - h (z 0 i)))%:E <= tight_epsilon N M 0)%E.
Proof.
move=> xx [at_z | [ch c1 c2]]; rewrite sumrB.
- exact: (exponent_lower_atom c0 noise xx at_z).
- by apply: (exponent_lower_at c0 noise xx ch); exact: sum_continuous.
Qed.

(* Where the density of a coordinate rose outwards somewhere, its mass would be infinite. *)
Lemma concave_coordinates_never_fall (g : R -> R) : (forall z, h z = g `|z|) -> concave_on_half g -> infinite_far_out -> X -> never_falls g.
Proof.
move=> even conc far x a b a0; rewrite le_eqVlt => /orP[/eqP -> // | ab].
rewrite leNgt; apply/negP => fall.
have [S [mS Soo Sfar]] := far (q x) b.
have k0 : 0 < `|g b *+ n| + 1 by have := normr_ge0 (g b *+ n); lra.
apply: (no_infinite_mass (x := x) c0 noise k0 mS Soo) => y Sy /=.
apply: (@le_trans _ _ (\sum_(i < n) g b)); last first.
  by rewrite sumr_const card_ord; apply: le_trans (ler_norm _) _; rewrite ler_addl.
by apply: ler_sum => i _; rewrite even; apply: (concave_falls conc a0 ab fall); exact: Sfar.
Qed.
End Coordinates.

(* -- Noise of an exponent h: of a norm of the distance, or of independent even coordinates under a budget in l_p. w(s) is what one of them loses
   where it is moved by s; `total` what the noise loses, as the rules concave-exponent and power-identity write it. -- *)
Section Forms.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (h w : R -> R).

Variant loses_at_most : R -> Prop :=
| OfANorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c Delta of
    seminorm norm & 0 < scale & 0 < c & adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) &
    infinite_measure mu place norm & 0 <= Delta & moves_at_most N q norm Delta : loses_at_most (w (Delta / scale))
| OfCoordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) c p D of
    (0 < n)%N & 0 < c & adds_noise mu place M q (fun z => c * expR (- \sum_i h `|z 0 i|)) &
    infinite_far_out mu place & 0 <= D & (forall x x', both N x x' -> budget p ((q x - q x') 0) D) :
    loses_at_most (n%:R * w (alike n p D)).

Theorem form_upper e :
  ((exists x : X, True) -> (concave_on_half h -> never_falls h) -> forall a b D, 0 <= a -> 0 <= b -> `|a - b| <= D -> h b - h a <= w D) ->
  (forall n p (s : 'I_n -> R) D, (0 < n)%N -> 0 <= D -> (concave_on_half h -> never_falls h) -> budget p s D ->
    \sum_i w `|s i| <= n%:R * w (alike n p D)) ->
  loses_at_most e -> pure_dp N M e.
Proof.
move=> modulus sums [V place q norm scale c Delta semi scale0 c0 noise far D0 moves | n place q c p D n0 c0 noise far D0 moves].
- move=> x x' xx; have rise : concave_on_half h -> never_falls h.
    by move=> conc; exact: (concave_never_falls scale0 c0 noise conc far x).
  have inh : exists x : X, True by exists x.
  move: x x' xx; apply: (radial_upper semi scale0 c0 noise moves) => a b a0 b0 ab.
  exact: modulus.
- move=> x x' xx; have rise : concave_on_half h -> never_falls h.
    by move=> conc; exact: (concave_coordinates_never_fall c0 noise (fun=> erefl) conc far x).
  have inh : exists x : X, True by exists x.
  move: x x' xx; apply: (exponent_upper c0 noise) => x x' z xx; rewrite -sumrB.
  apply: le_trans _ (sums n p ((q x - q x') 0) D n0 D0 rise (moves x x' xx)); apply: ler_sum => i _.
  apply: (modulus inh rise) => //.
  by apply: le_trans (ler_dist_dist _ _) _; rewrite [X in `|_ - X|]mxE opprD addrA subrr sub0r normrN.
Qed.

(* Neighbours whose answers are so far apart, all coordinates alike; and where outputs have positive measure. *)
Variant loses_at_least (a : R) (D : R) : R -> Prop :=
| ANorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c x x' of
    seminorm norm & 0 < scale & 0 < c & adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) &
    both N x x' & norm (q x - q x') / scale = D & full_measure mu place norm \/ a = 0 /\ atom mu place (q x) : loses_at_least a D (w D)
| Coordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) c x x' of
    (0 < n)%N & 0 < c & adds_noise mu place M q (fun z => c * expR (- \sum_i h `|z 0 i|)) &
    both N x x' & (forall i, (q x - q x') 0 i = D) & full_measure mu place (@greatest R n) \/ a = 0 /\ atom mu place (q x) :
    loses_at_least a D (n%:R * w D).

Lemma continuous_of_distance a : 0 <= a -> continuous_at_distance h a -> continuous_there (fun z => h `|z|) a.
Proof.
move=> a0 ca s s0; have [r r0 near] := ca s s0; exists r => // x xa; rewrite (ger0_norm a0); apply: near => //.
by apply: le_lt_trans xa; rewrite -{1}(ger0_norm a0); exact: ler_dist_dist.
Qed.

Theorem form_lower a D e : 0 <= a -> 0 <= D -> h (a + D) - h a = w D ->
  continuous_at_distance h a -> continuous_at_distance h (a + D) -> loses_at_least a D e -> (e%:E <= tight_epsilon N M 0)%E.
Proof.
move=> a0 D0 wE ca cb [V place q norm scale c x x' semi scale0 c0 noise xx e1 base | n place q c x x' n0 c0 noise xx e1 base].
- case: base => [full | [az at_q]].
    rewrite -wE; apply: (radial_lower semi scale0 c0 noise xx full) => //; first by lra.
    by rewrite e1 opprD addrA subrr sub0r normrN ger0_norm.
  have := @exponent_lower_atom _ _ _ _ mu place _ N M q _ c c0 noise x x' 0 xx.
  by rewrite addr0 add0r e1 (seminorm0 semi) mul0r -wE az add0r; apply.
- pose z : 'rV[R]_n := const_mx a.
  have za i : z 0 i = a by rewrite mxE.
  have zb i : (z + (q x - q x')) 0 i = a + D by rewrite mxE za e1.
  have b0 : 0 <= a + D by lra.
  have := @coordinates_lower R n d Y mu place X N M q (fun r => h `|r|) c n0 c0 noise x x' z xx.
  under eq_bigr do rewrite za zb (ger0_norm a0) (ger0_norm b0) wE.
  rewrite sumr_const card_ord => low; rewrite mulr_natl; apply: low.
  case: base => [full | [az at_q]]; last first.
    left; have -> // : q x + z = q x by rewrite /z az; apply/rowP => i; rewrite !mxE addr0.
  by right; split=> [|i|i]; [exact: full | rewrite za; exact: continuous_of_distance | rewrite zb; exact: continuous_of_distance].
Qed.
End Forms.

(* -- Concave exponents -- *)
Section Concave.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (h : R -> R).
Hypothesis conc : concave_on_half h.
Let w s := h s - h 0.

(* Rule: concave-exponent, upper. *)
Theorem concave_exponent_rule_upper e : loses_at_most mu N M h w e -> pure_dp N M e.
Proof.
apply: form_upper => [_ /(_ conc) rise a b D a0 b0 ab | n p s D n0 D0 /(_ conc) rise].
- by rewrite /w; exact: concave_modulus.
- apply: concave_alike => // [a b t a0 b0 t0 t1 | a b a0 ab]; rewrite /w.
    have := conc a0 b0 t0 t1; lra.
  have := rise a b a0 ab; lra.
Qed.

(* Rule: concave-exponent, lower. *)
Theorem concave_exponent_rule_lower D e : continuous_at_distance h 0 -> 0 <= D -> loses_at_least mu N M h w 0 D e -> (e%:E <= tight_epsilon N M 0)%E.
Proof.
move=> c0 D0; apply: form_lower => //; rewrite ?add0r// /continuous_at_distance.
move: D0; rewrite le_eqVlt => /orP[/eqP <- // | D0] s s0.
by have [r r0 near] := concave_continuous conc D0 s0; exists r => // y _; exact: near.
Qed.
End Concave.

(* -- Powers: density (A0 + A1 r^2)^-B, nu = A0/A1 -- *)
Section Power.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (nu B : R).
Hypotheses (nu0 : 0 < nu) (B0 : 0 < B).
Let w s := 2 * B * asinh (s / (2 * Num.sqrt nu)).
Let k0 : 0 < 2 * Num.sqrt nu. Proof. by rewrite mulr_gt0// sqrtr_gt0. Qed.

Lemma power_touching m x : 0 <= m -> 0 <= x ->
  w x <= w m + 2 * B / (2 * Num.sqrt nu) / Num.sqrt ((m / (2 * Num.sqrt nu)) ^+ 2 + 1) * (x - m).
Proof.
move=> m0 x0; rewrite /w; set k := 2 * Num.sqrt nu.
have := asinh_tangent (divr_ge0 m0 (ltW k0)) (divr_ge0 x0 (ltW k0)); rewrite -/k -mulrBl.
set S := Num.sqrt _; move=> h; have B2 : 0 <= 2 * B by lra.
have := ler_wpmul2l B2 h; rewrite mulrDr; have -> // : 2 * B * ((x - m) / k / S) = 2 * B / k / S * (x - m).
by rewrite !mulrA [RHS]mulrAC; congr (_ / _); rewrite mulrAC.
Qed.

(* Rule: power-identity, upper. *)
Theorem power_identity_rule_upper e : loses_at_most mu N M (power_exponent nu B) w e -> pure_dp N M e.
Proof.
apply: form_upper => [_ _ a b D a0 b0 ab | n p s D n0 D0 _ sD].
- apply: power_modulus => //; exact: le_trans ab.
- apply: (line_alike n0 (k := 2 * B / (2 * Num.sqrt nu) / Num.sqrt ((alike n p D / (2 * Num.sqrt nu)) ^+ 2 + 1))) => // [|x x0].
    by rewrite !divr_ge0 ?sqrtr_ge0// ?mulr_ge0 ?(ltW k0)// ltW.
  by apply: power_touching => //; exact: alike_ge0.
Qed.

(* Rule: power-identity, lower. *)
Theorem power_identity_rule_lower D e : 0 <= D -> let a := (Num.sqrt (D ^+ 2 + 4 * nu) - D) / 2 in
  loses_at_least mu N M (power_exponent nu B) w a D e -> (e%:E <= tight_epsilon N M 0)%E.
Proof.
move=> D0 a; have [a0 b0 ab vE] := power_attained nu0 B0 D0.
have bE : (Num.sqrt (D ^+ 2 + 4 * nu) + D) / 2 = a + D by rewrite /a; lra.
apply: form_lower => //; first by rewrite /w -vE bE.
- exact: (power_continuous nu0 B0 D0).
- exact: (power_continuous nu0 B0 D0).
Qed.
End Power.
