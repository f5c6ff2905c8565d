(* Independent coordinates, and the norms that sensitivities and noise are measured in: gauges of columns and of facets (docs/theory/additive.md,
   product noise and gauges). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules.

Section Products.
Context (R : realType) (n : nat) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> 'rV[R]_n) (h : R -> R) (c : R).
Hypothesis c0 : 0 < c.
(* n independent coordinates of density proportional to exp(-h). *)
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))).

(* The losses of the coordinates add up: w(s) bounds that of one coordinate under the shift s. *)
Theorem product_upper (w : R -> R) (eps : R) :
  (forall z s, h (z + s) - h z <= w s) ->
  (forall x x', both N x x' -> \sum_i w ((q x - q x') 0 i) <= eps) -> pure_dp N M eps.
Proof.
move=> one all; apply: (exponent_upper c0 noise) => x x' z xx.
apply: le_trans (all _ _ xx); rewrite -sumrB; apply: ler_sum => i _.
by rewrite [in h _]mxE; exact: one.
Qed.

(* K is the greatest l1-length of a shift within the sensitivity. *)
Theorem product_lipschitz_upper (L K : R) : 0 <= L ->
  (forall z s, `|h (z + s) - h z| <= L * `|s|) ->
  (forall x x', both N x x' -> \sum_i `|(q x - q x') 0 i| <= K) -> pure_dp N M (L * K).
Proof.
move=> L0 lip moves; apply: (product_upper (w := fun s => L * `|s|)) => [z s | x x' xx].
  exact: le_trans (ler_norm _) (lip _ _).
by rewrite -mulr_sumr; apply: ler_wpmul2l => //; exact: moves.
Qed.

Theorem concave_coordinates_upper (g : R -> R) (D : R) : (forall z, h z = g `|z|) -> concave_on_half g -> never_falls g ->
  (forall x x' i, both N x x' -> `|(q x - q x') 0 i| <= D) -> pure_dp N M (n%:R * (g D - g 0)).
Proof.
move=> even conc rise moves; apply: (exponent_upper c0 noise) => x x' z xx.
rewrite -sumrB; apply: (@le_trans _ _ (\sum_(i < n) (g D - g 0))); last by rewrite sumr_const card_ord mulr_natl.
apply: ler_sum => i _; rewrite !even; apply: concave_modulus => //.
apply: le_trans (ler_dist_dist _ _) _; apply: le_trans (moves _ _ i xx).
by rewrite !mxE opprD addrA subrr sub0r normrN.
Qed.
End Products.

Section Gauges.
Context (R : realType) (V : lmodType R) (n : nat).

(* The gauge of the hull of +-c_1, ..., +-c_n: the least l1-norm of a w with sum of w_i c_i = x. *)
Section Columns.
Variable column : 'I_n -> V.
Definition writes (w : 'I_n -> R) (x : V) := \sum_i w i *: column i = x.
Definition costs (x : V) : set R := [set t | exists2 w, writes w x & t = \sum_i `|w i|].
Definition column_gauge (x : V) : R := inf (costs x).
Hypothesis spanning : forall x, exists w, writes w x.

Lemma costs_inf x : has_inf (costs x).
Proof.
split; first by have [w wx] := spanning x; exists (\sum_i `|w i|), w.
by exists 0 => _ [w _ ->]; apply: sumr_ge0.
Qed.

Lemma column_gauge_le x w : writes w x -> column_gauge x <= \sum_i `|w i|.
Proof. by move=> wx; apply: inf_lb; [case: (costs_inf x) | exists w]. Qed.

Lemma column_gauge_near x (s : R) : 0 < s -> exists2 w, writes w x & \sum_i `|w i| < column_gauge x + s.
Proof. by move=> s0; have [_ [w wx ->] lt] := inf_adherent s0 (costs_inf x); exists w. Qed.

Lemma column_gauge_ge0 x : 0 <= column_gauge x.
Proof. by apply: lb_le_inf; [case: (costs_inf x) | move=> _ [w _ ->]; apply: sumr_ge0]. Qed.

Lemma column_gauge_scale (a : R) x : column_gauge (a *: x) <= `|a| * column_gauge x.
Proof.
apply/ler_addgt0Pr => s s0.
have t0 : 0 < s / (`|a| + 1) by rewrite divr_gt0// ltr_paddl.
have [w wx lt] := column_gauge_near x t0.
have wa : writes (fun i => a * w i) (a *: x) by rewrite /writes -wx scaler_sumr; apply: eq_bigr => i _; rewrite scalerA.
apply: le_trans (column_gauge_le wa) _.
have -> : \sum_i `|a * w i| = `|a| * \sum_i `|w i| by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite normrM.
have := ler_wpmul2l (normr_ge0 a) (ltW lt).
have e : s / (`|a| + 1) * (`|a| + 1) = s by rewrite divfK// gt_eqF// ltr_paddl.
have := t0; lra.
Qed.

(* A gauge of columns is a norm, up to that it is positive. *)
Theorem column_gauge_seminorm : seminorm column_gauge.
Proof.
split=> [x y | a x].
- apply/ler_addgt0Pr => s s0; have s2 : 0 < s / 2 by rewrite divr_gt0.
  have [w wx lw] := column_gauge_near x s2; have [v vy lv] := column_gauge_near y s2.
  have wv : writes (fun i => w i + v i) (x + y).
    by rewrite /writes -wx -vy -big_split; apply: eq_bigr => i _; rewrite scalerDl.
  apply: le_trans (column_gauge_le wv) _.
  have : \sum_i `|w i + v i| <= \sum_i `|w i| + \sum_i `|v i|.
    by rewrite -[X in _ <= X]big_split /=; apply: ler_sum => i _; exact: ler_norm_add.
  lra.
- apply/eqP; rewrite eq_le column_gauge_scale/=.
  have [-> | a0] := eqVneq a 0; first by rewrite normr0 mul0r column_gauge_ge0.
  have := column_gauge_scale a^-1 (a *: x); rewrite scalerA mulVf// scale1r normfV.
  by rewrite ler_pdivl_mull// normr_gt0.
Qed.

(* Weak duality: a functional that is at most 1 on the columns bounds the gauge from below; so the gauge is positive. *)
Lemma column_gauge_dual (phi : {linear V -> R^o}) x : (forall i, `|phi (column i) : R| <= 1) -> phi x <= column_gauge x.
Proof.
move=> small; apply: lb_le_inf; first by case: (costs_inf x).
move=> _ [w wx ->]; rewrite -wx linear_sum; apply: ler_sum => i _; rewrite linearZ /=.
apply: le_trans (ler_norm _) _; rewrite [X in `|X|]/(w i * (phi (column i) : R)) normrM.
by rewrite ler_pimulr.
Qed.

(* The columns of a query have gauge at most 1, and histograms at l1-distance at most 1 have answers at gauge at most 1. *)
Lemma column_gauge_query (w : 'I_n -> R) : \sum_i `|w i| <= 1 -> column_gauge (\sum_i w i *: column i) <= 1.
Proof. by apply: le_trans; exact: column_gauge_le. Qed.
End Columns.

(* The gauge of facets: the largest |<a_i, x>|. *)
Theorem facet_gauge_seminorm (facet : 'I_n -> {linear V -> R^o}) : seminorm (fun x => \big[Num.max/0]_i `|facet i x : R|).
Proof.
have ge0 x : 0 <= \big[Num.max/0]_i `|facet i x : R| by elim/big_ind: _ => // u v u0 v0; rewrite le_maxr u0.
split=> [x y | a x].
- apply/bigmax_leP; split; first by rewrite addr_ge0.
  move=> i _; rewrite linearD; apply: le_trans (ler_norm_add _ _) _.
  by apply: ler_add; apply: le_bigmax.
- apply/eqP; rewrite eq_le; apply/andP; split.
  + apply/bigmax_leP; split; first by rewrite mulr_ge0.
    move=> i _; rewrite linearZ [X in `|X|]/(a * (facet i x : R)) normrM.
    by apply: ler_wpmul2l => //; apply: le_bigmax.
  + have [-> | a0] := eqVneq a 0; first by rewrite normr0 mul0r.
    rewrite -ler_pdivl_mull ?normr_gt0//; apply/bigmax_leP; split; first by rewrite mulr_ge0// invr_ge0.
    move=> i _; rewrite ler_pdivl_mull ?normr_gt0//.
    have -> : `|a| * `|facet i x : R| = `|facet i (a *: x) : R| by rewrite linearZ -normrM.
    by apply: le_bigmax.
Qed.
End Gauges.

(* The K-norm mechanism: noise of density proportional to exp(-eps gauge(z)), K the hull of the columns of the query, for histograms at
   l1-distance at most 1. *)
Theorem k_norm_mechanism (R : realType) (V : lmodType R) (n : nat) (column : 'I_n -> V) d (Y : measurableType d)
  (mu : {measure set Y -> \bar R}) (place : Y -> V) (M : mechanism R ('I_n -> R) Y) (eps c : R) :
  (forall x, exists w, writes column w x) -> 0 < c -> 0 < eps ->
  adds_noise mu place M (fun x => \sum_i x i *: column i) (fun z => c * expR (- (eps * (column_gauge column z / 1)))) ->
  pure_dp (fun x x' => \sum_i `|x i - x' i| <= 1) M eps.
Proof.
move=> spanning c0 eps0 noise.
have semi := column_gauge_seminorm spanning.
apply: (radial_upper semi ltr01 c0 (h := fun r => eps * r) noise (Delta := 1)) => [x x' xx | a b a0 b0].
- rewrite -sumrB; under eq_bigr do rewrite -scalerBl.
  apply: column_gauge_query => //; case: xx => //; by under eq_bigr do rewrite distrC.
- rewrite divr1 ler_norml => /andP[ab _] /=.
  have : b - a <= 1 by lra.
  by move=> ba; rewrite -mulrBr ger_pmulr.
Qed.
