(* Gaussian noise of a random scale, at a distance in its Cameron-Martin norm (docs/theory/additive.md, Cameron-Martin): (epsilon, delta) for
   epsilon up to 4 log 2, from the tail of the normal law alone. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition mixtures curves pairs likelihood lipschitz_exponent powers means gaussian_curve laplace_curve scale_mixture.
Import numFieldNormedType.Exports.

(* -- The normal law -- *)
Section Normal.
Context (R : realType) (G : {measure set (line R) -> \bar R}) (c : R).
Hypotheses (c0 : 0 <= c) (G1 : G setT = 1%E) (Gd : has_density (@lebesgue_measure R) G (fun y => c * expR (- (y ^+ 2 / 2)))).
Notation leb := (@lebesgue_measure R).
Let f (y : R) := c * expR (- (y ^+ 2 / 2)).
Let f0 y : 0 <= f y. Proof. by rewrite mulr_ge0// expR_ge0. Qed.
Let mf : measurable_fun setT f. Proof. by have [] := Gd. Qed.
Let mass S : measurable S -> G S = (\int[leb]_(y in S) (f y)%:E)%E. Proof. by have [_ _ Ge] := Gd; exact: Ge. Qed.

(* The distribution function. *)
Definition Phi (t : R) : R := fine (G `]-oo, t[%classic).

Let m (x : R) : @measurable _ (line R) `]-oo, x[%classic. Proof. exact: measurable_itv. Qed.

Lemma Phi_ge0 t : 0 <= Phi t. Proof. by rewrite fine_ge0// measure_ge0. Qed.

Lemma Phi_le1 t : Phi t <= 1. Proof. by case/andP: (fine01 G1 (m t)). Qed.

Lemma Phi_rises s t : s <= t -> Phi s <= Phi t.
Proof.
move=> st; apply: fine_le; [exact: (mass_fin G1 (m s)) | exact: (mass_fin G1 (m t)) |].
by apply: le_measure; rewrite ?inE; [exact: m | exact: m | move=> y /=; rewrite !in_itv/= => h; exact: lt_le_trans st].
Qed.

(* Half of it is below 0. *)
Lemma Phi_half : Phi 0 <= 1 / 2.
Proof.
have m2 : @measurable _ (line R) `]0, +oo[%classic by exact: measurable_itv.
have mirror : Phi 0 = fine (G `]0, +oo[%classic).
  rewrite /Phi (mass (m 0)) (mass m2) (integral_preserved (measurable_reflection 0) (lebesgue_reflection 0) mf f0 (m 0)); congr fine.
  rewrite (_ : _ @^-1` _ = `]0, +oo[%classic); last by apply/seteqP; split=> y /=; rewrite !in_itv/= ?andbT; lra.
  by apply: eq_integral => y _; congr EFin; rewrite /f sub0r sqrrN.
have apart : `]-oo, 0[%classic `&` `]0, +oo[%classic = set0 :> set R.
  by apply/seteqP; split=> y //=; rewrite !in_itv/= andbT => -[h1 h2]; lra.
have both : Phi 0 + fine (G `]0, +oo[%classic) <= 1.
  rewrite /Phi -fineD ?(mass_fin G1)//; apply: (@le_trans _ _ (fine (G (`]-oo, 0[%classic `|` `]0, +oo[%classic)))).
    by rewrite (measureU G (m 0) m2 apart).
  by case/andP: (fine01 G1 (measurableU _ _ (m 0) m2)).
lra.
Qed.

(* The tail: moved to 0, the density is at most e^(-t^2/2) times as great. *)
Lemma Phi_tail t : 0 <= t -> Phi (- t) <= expR (- (t ^+ 2 / 2)) / 2.
Proof.
move=> t0; apply: (@le_trans _ _ (expR (- (t ^+ 2 / 2)) * Phi 0)); last by rewrite ler_wpmul2l ?expR_ge0//; have := Phi_half; lra.
rewrite -lee_fin EFinM /Phi (fineK (mass_fin G1 (m (- t)))) (fineK (mass_fin G1 (m 0))) (mass (m (- t))) (mass (m 0)).
rewrite (integral_preserved (measurable_translation (- t)) (lebesgue_translation (- t)) mf f0 (m (- t))).
rewrite (_ : _ @^-1` _ = `]-oo, 0[%classic); last by apply/seteqP; split=> y /=; rewrite !in_itv/=; lra.
rewrite -(integral_scaled leb (expR_ge0 (- (t ^+ 2 / 2))) f0 mf (m 0)); apply: ge0_le_integral.
- exact: m.
- by move=> y _; rewrite lee_fin.
- apply/EFin_measurable_fun; apply: measurable_funTS; apply: (measurable_fun_comp mf); exact: measurable_translation.
- by move=> y _; rewrite lee_fin mulr_ge0 ?expR_ge0.
- by apply/EFin_measurable_fun; apply: measurable_funTS; apply: measurable_funrM.
move=> y /=; rewrite in_itv/= => y0; rewrite lee_fin /f mulrCA -expRD; apply: ler_wpmul2l => //; rewrite ler_expR !expr2.
have : 0 <= t * (- y) by rewrite mulr_ge0// oppr_ge0 ltW.
lra.
Qed.

(* The curve of a pair at the distance mu, where epsilon is at most 4 log 2. *)
Lemma normal_bound mu eps : 0 < mu -> 0 < eps -> eps <= 4 * ln 2 -> Phi (mu / 2 - eps / mu) <= 2 * expR (- ((eps / mu) ^+ 2 / 2)).
Proof.
move=> mu0 e0 e4; set u := eps / mu; have u0 : 0 < u by rewrite divr_gt0.
have um : u * mu = eps by rewrite divfK// gt_eqF.
have two : expR (ln 2) = 2 :> R by rewrite lnK// posrE.
have [big|small] := leP (eps / 2) (u ^+ 2).
- pose t := u - mu / 2; have t0 : 0 <= t.
    by rewrite /t subr_ge0 -(ler_pmul2l u0); move: big um; rewrite expr2; lra.
  have -> : mu / 2 - u = - t by rewrite /t; lra.
  apply: le_trans (Phi_tail t0) _.
  have half : expR (eps / 2) <= 4.
    by rewrite (_ : 4 = expR (ln 2) * expR (ln 2)); [rewrite -expRD ler_expR; lra | rewrite two; lra].
  have le : expR (- (t ^+ 2 / 2)) <= expR (eps / 2) * expR (- (u ^+ 2 / 2)).
    by rewrite -expRD ler_expR /t !expr2; have := sqr_ge0 mu; rewrite expr2; move: um; lra.
  have := ler_wpmul2r (expR_ge0 (- (u ^+ 2 / 2))) half; lra.
- apply: le_trans (Phi_le1 _) _; rewrite -ler_pdivr_mull// mulr1 -[X in X^-1 <= _]two -expRN ler_expR; move: small e4; lra.
Qed.

(* -- Laws at a distance -- *)

(* The formula of Cameron and Martin: of two laws the logarithm of the likelihood ratio is - mu T - mu^2/2, where T is normal about - mu under
   the first. So it is for a Gaussian process and its translation by a function of norm mu, and for Gaussian vectors (below). *)
Definition gaussian_apart d (Y : measurableType d) (mu : R) (P Q : {measure set Y -> \bar R}) :=
  (mu = 0 /\ forall S, measurable S -> P S = Q S) \/
  0 < mu /\ exists (nu : {measure set Y -> \bar R}) (q T : Y -> R), [/\ has_density nu Q q, forall y, 0 < q y,
    has_density nu P (fun y => q y * expR (- (mu * T y) - mu ^+ 2 / 2)),
    forall t, measurable [set y | T y < t] & forall t, fine (P [set y | T y < t]) = Phi (t + mu)].

Lemma gaussian_profile d (Y : measurableType d) mu (P Q : {measure set Y -> \bar R}) eps : P setT = 1%E -> Q setT = 1%E ->
  0 < eps -> eps <= 4 * ln 2 -> gaussian_apart mu P Q -> 0 <= mu /\ (0 < mu -> profile (expR eps) P Q <= 2 * expR (- ((eps / mu) ^+ 2 / 2))) /\
  (mu = 0 -> profile (expR eps) P Q <= 0).
Proof.
move=> P1 Q1 e0 e4 [[-> same]|[mu0 [nu [q [T [Qd q0 Pd mT PT]]]]]].
- split=> //; split=> [|_]; first by rewrite ltxx.
  by rewrite (same_laws_curve P1 Q1 (expR_ge0 eps) same) le_maxl lexx /= subr_le0 -(@expR0 R) ler_expR ltW.
- split; first exact: ltW.
  split=> [_|mu00]; last by move: mu0; rewrite mu00 ltxx.
  have L := density_likelihood P1 Q1 Pd Qd.
  rewrite (likelihood_profile P1 Q1 L (expR_ge0 eps)); apply: le_trans (normal_bound mu0 e0 e4).
  set E := above _ _ _ _; have -> : E = [set y | T y < - (eps / mu) - mu / 2].
    apply/seteqP; split=> y /=; rewrite /E /above/= mul1r [expR eps * q y]mulrC ltr_pmul2l// ltr_expR.
      move=> h; rewrite -(ltr_pmul2l mu0) mulrBr mulrN mulrCA divff ?gt_eqF// mulr1; move: h; rewrite expr2; lra.
    rewrite -(ltr_pmul2l mu0) mulrBr mulrN mulrCA divff ?gt_eqF// mulr1 expr2; lra.
  rewrite PT (_ : - (eps / mu) - mu / 2 + mu = mu / 2 - eps / mu); last lra.
  by rewrite ger_addl oppr_le0 mulr_ge0 ?expR_ge0// fine_ge0// measure_ge0.
Qed.

(* Gaussian vectors, about two points that are mu apart. *)
Lemma gaussian_vectors (V : lmodType R) (B : V -> V -> R) d (Y : measurableType d) (nu : {measure set Y -> \bar R}) (place : Y -> V) k v w mu
  (P Q : {measure set Y -> \bar R}) : inner_form B -> 0 < k -> gaussian_about B nu place Phi k v P -> gaussian_about B nu place Phi k w Q ->
  0 < mu -> B (w - v) (w - v) = mu ^+ 2 -> gaussian_apart mu P Q.
Proof.
move=> form k0 [Pd Pn] [Qd Qn] mu0 E; right; split=> //; pose e := mu^-1 *: (w - v); pose T y := B e (place y - w).
have mi : mu^-1 * mu = 1 by rewrite mulVf// gt_eqF.
have unit : B e e = 1 by rewrite (formZl form) (formZr form) E expr2 [mu^-1 * (mu * mu)]mulrA mi mul1r mi.
have shift y : T y = B e (place y - v) - mu.
  rewrite /T (_ : place y - w = place y - v - (w - v)); last by rewrite opprB addrA subrK.
  by rewrite (formBr form) [X in _ - X](formZl form) E expr2 mulrA mi mul1r.
have below t : [set y | T y < t] = [set y | B e (place y - v) < t + mu].
  by apply/seteqP; split=> y /=; rewrite shift ltr_subl_addr.
exists nu, (fun y => k * expR (- (B (place y - w) (place y - w) / 2))), T; split.
- exact: Qd.
- by move=> y; rewrite mulr_gt0// expR_gt0.
- rewrite (_ : (fun y => _) = (fun y => k * expR (- (B (place y - v) (place y - v) / 2)))); first exact: Pd.
  apply/funext => y.
  rewrite -mulrA -expRD; congr (_ * expR _).
  have -> : mu * T y = B (w - v) (place y - w) by rewrite /T (formZl form) mulrA mulfV ?mul1r// gt_eqF.
  rewrite [in RHS](_ : place y - v = place y - w + (w - v)); last by rewrite addrA subrK.
  by rewrite (formDl form (place y - w) (w - v)) !(formDr form _ (place y - w) (w - v)) E (formC form (place y - w) (w - v)); lra.
- by move=> t; rewrite below; have [] := Pn e (t + mu) unit.
- by move=> t; rewrite below; have [] := Pn e (t + mu) unit.
Qed.

(* -- The rule -- *)
Section Mechanism.
Context (X : Type) (N : definitions.relation X) d1 (W : measurableType d1) d2 (Y : measurableType d2).
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}) (variance : W -> R) (scale D : R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (mvar : measurable_fun setT variance).
Hypotheses (scale0 : 0 < scale) (D0 : 0 < D) (variance0 : forall w, 0 < variance w).

(* Given the variance, neighbours give Gaussian laws at a distance of at most D over the standard deviation. *)
Hypothesis noise : forall x x' w, both N x x' ->
  exists mu, gaussian_apart mu (k x w) (k x' w) /\ mu <= D / (scale * Num.sqrt (variance w)).

Definition power_mean_of (delta : R) : R := mean mixing (fun w => expR (variance w * ln (delta / 2))).

(* Rule: cameron-martin, upper. *)
Theorem cameron_martin eps delta : 0 < eps -> eps <= 4 * ln 2 -> 0 < delta -> delta < 2 ->
  2 * ln (2 / delta) * D ^+ 2 / eps ^+ 2 <= scale ^+ 2 -> dp N (mixture mixing1 mk) eps (2 * power_mean_of delta).
Proof.
move=> e0 e4 delta0 delta2 wide x x' xx; pose g w := expR (variance w * ln (delta / 2)).
have l0 : ln (delta / 2) <= 0 by rewrite -(@ler_expR R) expR0 lnK ?posrE ?divr_gt0// ler_pdivr_mulr// mul1r ltW.
have tg : test g.
  split=> [|w]; last by rewrite expR_ge0/= -[leRHS](@expR0 R) ler_expR mulr_ge0_le0// ltW.
  have mv : measurable_fun setT (fun w => variance w * ln (delta / 2)) by under eq_fun do rewrite mulrC; exact: measurable_funrM.
  by apply: measurable_fun_comp mv; apply: continuous_measurable_fun; exact: continuous_expR.
pose h w := Num.min 1 (2 * g w).
have th : test h.
  have [mg g01] := tg; split=> [|w]; last by have := test_ge0 w tg => g0; rewrite /h le_minr ler01 mulr_ge0//= le_minl lexx.
  rewrite (_ : h = fun w => 1 - Num.max 0 (1 - 2 * g w)); last first.
    by apply/funext => w; rewrite /h; case: (leP 0 (1 - 2 * g w)) => hh; case: (leP 1 (2 * g w)) => hh'; lra.
  apply: measurable_funB; first exact: measurable_fun_cst.
  apply: measurable_fun_max; first exact: measurable_fun_cst.
  by apply: measurable_funB; [exact: measurable_fun_cst | exact: measurable_funrM].
have bound w : profile (expR eps) (k x w) (k x' w) <= h w.
  have K1 := (mk x).1 w; have K2 := (mk x').1 w.
  rewrite le_minr (profile_le1 K1 K2 (expR_ge0 eps))/=.
  have [mu [apart mu_le]] := noise w xx.
  have [mu0 [pos zero]] := gaussian_profile K1 K2 e0 e4 apart.
  have [mu_z|mu_nz] := eqVneq mu 0; first by apply: le_trans (zero mu_z) _; rewrite mulr_ge0// expR_ge0.
  have {mu0 mu_nz} mu0 : 0 < mu by rewrite lt_neqAle eq_sym mu_nz.
  apply: le_trans (pos mu0) _; rewrite ler_pmul2l// ler_expR.
  have v0 := variance0 w; set s := scale * Num.sqrt (variance w) in mu_le.
  have s0 : 0 < s by rewrite mulr_gt0// sqrtr_gt0.
  have s2 : s ^+ 2 = scale ^+ 2 * variance w by rewrite exprMn sqr_sqrtr// ltW.
  have l2 : ln (delta / 2) = - ln (2 / delta) by rewrite -lnV ?posrE ?divr_gt0// invf_div.
  rewrite l2 mulrN ler_opp2.
  have far : eps * s / D <= eps / mu.
    rewrite ler_pdivl_mulr// mulrAC ler_pdivr_mulr// -mulrA ler_pmul2l//; move: mu_le; rewrite ler_pdivl_mulr// mulrC//.
  have far2 : (eps * s / D) ^+ 2 <= (eps / mu) ^+ 2.
    have a0 : 0 <= eps * s / D by apply: divr_ge0; [apply: mulr_ge0; exact: ltW | exact: ltW].
    have b0 : 0 <= eps / mu by apply: divr_ge0; exact: ltW.
    by rewrite ler_sqr.
  rewrite ler_pdivl_mulr//; apply: le_trans far2; rewrite expr_div_n exprMn s2 ler_pdivl_mulr ?exprn_gt0//.
  move: wide; rewrite ler_pdivr_mulr ?exprn_gt0// => /(ler_wpmul2l (ltW v0)); lra.
apply/close_profile; [exact: law_total | exact: law_total |].
have [_ le] := @mixture_profile _ _ _ _ _ _ mixing k mixing1 mk (expR eps) h x x' (expR_ge0 eps) th bound.
apply: le_trans le _; have := @mean_le_affine _ _ _ mixing h g 1 0 2 0 mixing1 th tg; rewrite mul1r !addr0; apply=> // w.
by rewrite mul1r !addr0 /h le_minl lexx orbT.
Qed.
End Mechanism.
End Normal.
