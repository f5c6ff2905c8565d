(* The rule far-noise (docs/theory/utility.md): how likely noise is to be longer than gamma, in the norm of its density, and of independent coordinates
   of density exp(-c |z|^p) in the lp norm; with the closed forms by gamma laws. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic density norms additive kernels likelihood powers laplace_curve scale_integrals power_integrals norm_length gamma_tails.
Import numFieldNormedType.Exports.

(* The measure on the line that has q^-1 r^q within r of 0. *)
Section PowerMeasure.
Context (R : realType) (q : R).
Hypothesis q0 : 0 < q.
Notation leb := (@lebesgue_measure R).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Definition power_weight (s : R) : R := pw (q - 1) s * \1_`]0%R, +oo[%classic s.
Lemma measurable_power_weight : measurable_fun setT power_weight.
Proof. by apply: measurable_funM; [exact: measurable_pw | apply: measurable_fun_indic; exact: measurable_itv]. Qed.
Lemma power_weight_ge0 s : 0 <= power_weight s.
Proof. by apply: mulr_ge0; [exact/ltW/pw_gt0 | rewrite indicE ler0n]. Qed.
Definition power_measure : {measure set (line R) -> \bar R} := [the measure _ _ of weighted leb measurable_power_weight power_weight_ge0].
Definition distance0 (s : line R) : R := `|s|.

Lemma measurable_distance0 : @measurable_fun _ _ (line R) _ setT distance0.
Proof. by apply: measurable_fun_comp; [exact: measurable_fun_normr | exact: measurable_fun_id]. Qed.

Lemma power_balls : balls_are_powers power_measure distance0 q^-1 q.
Proof.
move=> r r0; rewrite /power_measure /= /weighted.
transitivity (\int[leb]_(s in `]0%R, r]%classic) (pw (q - 1) s)%:E)%E; last by rewrite integral_power_from0// mulrC.
under eq_integral do rewrite /power_weight EFinM.
have mS : @measurable _ (line R) [set s | distance0 s <= r].
  rewrite (_ : [set s | _] = `[- r, r]%classic); first exact: mI.
  by apply/seteqP; split=> s /=; rewrite in_itv/= ler_norml.
rewrite -(integral_setI_indic leb (mI `]0, +oo[) _ mS); congr (integral _ _ _).
apply/seteqP; split=> s /=; rewrite !in_itv/= ?andbT /distance0.
- by move=> [h s0]; rewrite s0 (le_trans (ler_norm s)).
- by move=> /andP[s0 h]; rewrite s0 gtr0_norm.
Qed.
End PowerMeasure.

(* Of the density s^w exp(-c s^a) the tail of the length is that of a gamma law of shape (p + w)/a. *)
Section ClosedForm.
Context (R : realType) (p w a c : R).
Hypotheses (q0 : 0 < p + w) (a0 : 0 < a) (c0 : 0 < c).
Notation leb := (@lebesgue_measure R).
Let q := p + w.
Let g : R -> R := power_weight q.
Let m := power_measure q.
Let m_distance : @measurable_fun _ _ (line R) _ setT (@distance0 R). Proof. exact: measurable_distance0. Qed.
Let own_balls : balls_are_powers m (@distance0 R) q^-1 q. Proof. exact: power_balls. Qed.
Let mg : measurable_fun setT g := measurable_power_weight q.
Let g0 : forall s, 0 <= g s := power_weight_ge0 q.
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Lemma tail_of_powers t : 0 <= t -> tail_part p (fun s => pw w s * expR (- (c * pow a s))) t = gamma_tail (q / a) (c * pow a t).
Proof.
pose f (s : R) := expR (- s); have f0 s : 0 <= f s by exact: expR_ge0.
have mf : measurable_fun setT f by exact: measurable_falling.
have distance_ge0 s : 0 <= distance0 s :> R by exact: normr_ge0.
have balls := balls_stretched own_balls distance_ge0 c0 a0.
have mL : @measurable_fun _ _ (line R) _ setT (fun s => c * pow a (distance0 s)).
  by apply: measurable_funrM; apply: measurable_fun_comp m_distance; exact: measurable_pow.
have K0 : 0 <= q^-1 * pw (- (q / a)) c by rewrite mulr_ge0 ?invr_ge0 ?ltW// pw_gt0.
have key u : 0 <= u -> power_tail p (fun s => pw w s * expR (- (c * pow a s))) u =
    ((q^-1 * pw (- (q / a)) c * (q / a))%:E * power_tail (q / a) f (c * pow a u))%E.
  move=> u0; have P0 : 0 <= c * pow a u by rewrite mulr_ge0 ?pow_ge0// ltW.
  have := integral_length mL (divr_gt0 q0 a0) K0 balls mf f0 (measurable_itv `]c * pow a u, +oo[).
  rewrite (_ : `]_, +oo[%classic `&` _ = `]c * pow a u, +oo[%classic); last first.
    apply/seteqP; split=> s /=; rewrite !in_itv/= !andbT; first by case.
    by move=> h; split=> //; exact: le_lt_trans h.
  move=> <-; rewrite (_ : _ @^-1` _ = [set s | u < distance0 s]); last first.
    by apply/seteqP; split=> s /=; rewrite in_itv/= andbT ltr_pmul2l// pow_lt.
  have mS : @measurable _ (line R) [set s | u < distance0 s].
    rewrite (_ : [set s | _] = @distance0 R @^-1` `]u, +oo[%classic); last by apply/seteqP; split=> s /=; rewrite in_itv/= andbT.
    by rewrite -[X in measurable X]setTI; apply: m_distance => //; exact: measurable_itv.
  have mh : @measurable_fun _ _ (line R) _ setT (fun s => (f (c * pow a (distance0 s)) * \1_[set s | u < distance0 s] s)%:E).
    apply/EFin_measurable_fun; apply: measurable_funM; last exact: measurable_fun_indic.
    exact: measurable_fun_comp mf mL.
  have h0 s : (0 <= (f (c * pow a (distance0 s)) * \1_[set s | u < distance0 s] s)%:E)%E by rewrite lee_fin mulr_ge0// indicE ler0n.
  rewrite -[in RHS](setTI [set s | u < distance0 s]) integral_setI_indic//.
  under [RHS]eq_integral do rewrite -EFinM.
  rewrite (integral_density (weighted_density leb mg g0) mh h0) /power_tail.
  rewrite -[in LHS](setTI `]u, +oo[%classic) integral_setI_indic//; apply: eq_integral => s _; rewrite -!EFinM; congr EFin.
  rewrite /g /power_weight !indicE; have [us | us] := ltP u s.
  - have s0 : 0 < s by exact: le_lt_trans us.
    have sE : distance0 s = s by rewrite /distance0 gtr0_norm.
    rewrite !mem_set/= ?in_itv/= ?andbT ?sE// !mulr1 /f mulrA; congr (_ * _).
    by rewrite -pwD /q addrAC.
  - rewrite [s \in `]u, +oo[%classic]memNset ?mulr0; last by rewrite /= in_itv/= andbT; apply/negP; rewrite -leNgt.
    have [s0 | s0] := ltP 0 s; last by rewrite [s \in `]0%R, +oo[%classic]memNset ?mulr0 ?mul0r//= in_itv/= andbT; apply/negP; rewrite -leNgt.
    have sE : distance0 s = s by rewrite /distance0 gtr0_norm.
    have N : (s \in [set v | u < distance0 v]) = false by apply/negbTE; rewrite notin_set /= sE; apply/negP; rewrite -leNgt.
    by rewrite N mulr0n !mulr0.
move=> t0; rewrite /tail_part (key t t0) (key 0 (lexx 0)) /gamma_tail /tail_part.
have -> : c * pow a 0 = 0 by rewrite /pow eqxx mulr0.
have qa : 0 < q / a by exact: divr_gt0.
have P0 : 0 <= c * pow a t by rewrite mulr_ge0 ?pow_ge0// ltW.
rewrite -(gamma_tail_fin qa P0) -(gamma_tail_fin qa (lexx 0)) -!EFinM /= -mulf_div divff ?mul1r//.
by rewrite gt_eqF// !mulr_gt0 ?pw_gt0 ?invr_gt0.
Qed.
End ClosedForm.

Section FarNoise.
Context (R : realType) (V : lmodType R) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V) (X : Type) (q : X -> V).
Variables (length : V -> R) (n : nat) (K : R) (M : mechanism R X Y).
Hypotheses (n0 : (0 < n)%N) (length0 : forall z, 0 <= length z) (events : forall x, measurable_fun setT (fun y => length (place y - q x))).
(* The measure on R^n is one in which the points at most r from another have the measure K r^n, as in Lebesgue's. *)
Hypotheses (K0 : 0 <= K) (balls : forall x, balls_are_powers mu (fun y => length (place y - q x)) K n%:R).
Let nR : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma balls_in_units b x : 0 < b -> balls_are_powers mu (fun y => length (place y - q x) / b) (K * pw n%:R b) n%:R.
Proof.
move=> b0 r r0; rewrite (_ : [set y | _] = [set y | length (place y - q x) <= b * r]).
  by rewrite balls ?mulr_gt0// pwM// mulrA.
by apply/seteqP; split=> y /=; rewrite ler_pdivr_mulr// [b * r]mulrC.
Qed.

(* In the norm of the density f(length/b): the integral of r^(n - 1) f(r) beyond gamma/b, over all of it. *)
(* Rule: far-noise, in part: the greatest coordinate of noise whose coordinates are not independent, which is bounded as in noise-quantile, and the
   finite sums that Q(p, t) is where 2 p is whole, 2 p > 2. *)
Theorem far_in_norm (f : R -> R) b c gamma : 0 < b -> 0 <= c -> measurable_fun setT f -> (forall r, 0 <= f r) -> 0 <= gamma ->
  adds_noise mu place M q (fun z => c * f (length z / b)) -> forall x, M x [set y | gamma < length (place y - q x)] = (tail_part n%:R f (gamma / b))%:E.
Proof.
move=> b0 c0 mf f0 g0 noise x.
have mL : measurable_fun setT (fun y => length (place y - q x) / b).
  rewrite (_ : (fun y => _) = (fun y => b^-1 * length (place y - q x))); last by apply/funext => y; rewrite mulrC.
  exact: measurable_funrM (events x).
rewrite -(length_tail mL nR _ (balls_in_units x b0) mf f0 c0 (law_total M x) (noise x)) ?divr_ge0 ?(ltW b0)//.
  by congr (M x _); apply/seteqP; split=> y /=; rewrite ltr_pmul2r// invr_gt0.
by apply: mulr_ge0 => //; exact/ltW/pw_gt0.
Qed.

(* Of independent coordinates of density exp(-a |z|^p), whose length is that of lp (power_of_lp), and of noise of density exp(-a length^p): a gamma law. *)
(* Rule: far-noise, in part: the greatest coordinate of noise whose coordinates are not independent, which is bounded as in noise-quantile, and the
   finite sums that Q(p, t) is where 2 p is whole, 2 p > 2. *)
Theorem far_of_powers p a c gamma : 0 < p -> 0 < a -> 0 <= c -> 0 <= gamma -> adds_noise mu place M q (fun z => c * expR (- (a * pow p (length z)))) ->
  forall x, M x [set y | gamma < length (place y - q x)] = (gamma_tail (n%:R / p) (a * pow p gamma))%:E.
Proof.
move=> p0 a0 c0 g0 noise x.
exact: (gamma_length (events x) (fun y => length0 (place y - q x)) nR K0 (balls x) a0 p0 c0 (law_total M x) (noise x) g0).
Qed.
End FarNoise.

(* The length in lp, to the power p, is the sum of the powers of the coordinates. *)
Lemma power_of_lp (R : realType) n (p : R) (z : 'rV[R]_n) : 0 < p -> pow p (pow (1 / p) (\sum_i pow p `|z 0 i|)) = \sum_i pow p `|z 0 i|.
Proof.
move=> p0; set S := \sum_i _; have S0 : 0 <= S by apply: sumr_ge0 => i _; exact: pow_ge0.
rewrite {2}/pow; case: eqP => [->|/eqP Sn]; first by rewrite /pow eqxx.
by rewrite /pow gt_eqF ?expR_gt0// -/(pw (1 / p) S) -/(pw p _) pwK ?gt_eqF// lt_neqAle eq_sym Sn.
Qed.
