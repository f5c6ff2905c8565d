(* Noise sqrt(V) N in a real vector space, N normal in n dimensions, V = b/G, G of the law Gamma(a) (docs/theory/processes.md: process evaluations):
   its density is that of multivariate t noise, proportional to (1 + r^2/(2b))^-(a + n/2), r the length in the norm of the covariance. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive modulus_rules kernels composition mixtures likelihood laplace_curve independent scale_integrals mixture_closed.
Import numFieldNormedType.Exports.

Section Gamma.
Context (R : realType) (V : lmodType R) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (q : X -> V) (norm : V -> R) (n : nat) (a b scale c g : R).
Variables (mixing : {measure set (line R) -> \bar R}) (k : X -> line R -> {measure set Y -> \bar R}).

(* V has a density proportional to v^(-a - 1) exp(-b/v), v > 0. *)
Definition inverse_gamma_density (v : R) : R := if 0 < v then g * (pw (- a - 1) v * expR (- (b / v))) else 0.

(* The normal law of which the norm of the covariance is `norm`, times scale sqrt(v). *)
Definition normal_density (v r : R) : R := c * (pw (- (n%:R / 2)) v * expR (- (r ^+ 2 / (2 * v)))).

Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (smu : sigma_finite setT mu).
Hypotheses (b0 : 0 < b) (scale0 : 0 < scale) (c0 : 0 < c) (g0 : 0 < g).
Hypothesis hidden_density : has_density (@lebesgue_measure R) mixing inverse_gamma_density.
Let radius x y := norm (place y - q x) / scale.
Hypothesis measurable_radius : forall x, measurable_fun setT (radius x).
Hypothesis conditional : forall x v S, 0 < v -> measurable S -> k x v S = (\int[mu]_(y in S) (normal_density v (radius x y))%:E)%E.
Let M := mixture mixing1 mk.
Let B := a + n%:R / 2.
Notation P r := (expR (- power_exponent (2 * b) B r)).

Let joint (v r : R) : R := c * g * (weight v * hidden 1 B (b + r ^+ 2 / 2) 0 v).

Lemma joint_density v r : 0 < v -> inverse_gamma_density v * normal_density v r = joint v r.
Proof.
move=> v0; rewrite /inverse_gamma_density v0 /normal_density /joint.
rewrite mulrACA [g * c]mulrC; congr (_ * _).
have -> : weight v = v^-1 by rewrite /weight indicE mem_set ?mulr1 ?pwV//= in_itv/= v0.
have vE e : v^-1 * expR e = expR (- ln v + e) by rewrite expRD expRN lnK ?posrE.
rewrite /hidden mul0r subr0 pwV// mul1r vE /pw -!expRD; congr expR.
have -> : r ^+ 2 / (2 * v) = r ^+ 2 / 2 / v by rewrite invfM mulrA.
rewrite /B mulrDl; lra.
Qed.

Let joint_ge0 v r : 0 <= joint v r.
Proof. by apply: mulr_ge0; [apply: mulr_ge0; exact: ltW | apply: mulr_ge0; [exact: weight_ge0 | exact: hidden_ge0]]. Qed.

Lemma joint_integral r : (\int[@lebesgue_measure R]_v (joint v r)%:E = (c * g)%:E * ((pw B 2)%:E * haar (hidden 1 B 1 0)) * (P r)%:E)%E.
Proof.
have s0 : 0 < b + r ^+ 2 / 2 by have := sqr_ge0 r; lra.
have cg : 0 <= c * g by rewrite mulr_ge0// ltW.
transitivity ((c * g)%:E * haar (hidden 1 B (b + r ^+ 2 / 2) 0))%E.
  rewrite -(haar_factor (measurable_hidden _ _ _ _) (hidden_ge0 _ _ _ _))//.
  by apply: eq_integral => v _; rewrite -EFinM; congr EFin; rewrite /joint mulrCA.
rewrite (gamma_below B ltr01 s0) -[RHS]muleA; congr (_ * _)%E; rewrite [RHS]muleAC -EFinM; congr (_%:E * _)%E.
rewrite /pw -expRD; congr expR; rewrite /power_exponent.
have e : ln (2 * b + r ^+ 2) = ln 2 + ln (b + r ^+ 2 / 2).
  by rewrite -lnM ?posrE//; congr ln; lra.
by rewrite e; lra.
Qed.

Let measurable_joint x : measurable_fun setT (fun z : (line R * Y)%type => joint z.1 (radius x z.2)).
Proof.
have m1 : measurable_fun setT (fun z : (line R * Y)%type => z.1 : R) by exact: measurable_first.
have m2 : measurable_fun setT (fun z : (line R * Y)%type => radius x z.2).
  exact: measurable_fun_comp (measurable_radius x) (@measurable_second _ _ _ _).
apply: measurable_funrM; apply: measurable_funM; first exact: measurable_fun_comp (@measurable_weight R) m1.
apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funB; last by apply: measurable_funrM; exact: measurable_fun_comp (@measurable_pw R _) m1.
apply: measurable_funB; first by apply: measurable_funrM; exact: measurable_fun_comp (@measurable_ln R) m1.
apply: measurable_funM; last exact: measurable_fun_comp (@measurable_pw R _) m1.
apply: measurable_funD; first exact: measurable_fun_cst.
by apply: measurable_funM; [under eq_fun do rewrite expr2; exact: measurable_funM | exact: measurable_fun_cst].
Qed.

Let measurable_P x : measurable_fun setT (fun y => P (radius x y)).
Proof.
apply: measurable_fun_comp (@measurable_expR R) _; under eq_fun do rewrite -mulN1r.
apply: measurable_funrM; apply: measurable_funrM; apply: measurable_fun_comp (@measurable_ln R) _.
apply: measurable_funD; first exact: measurable_fun_cst.
by under eq_fun do rewrite expr2; exact: measurable_funM.
Qed.

Let kappa : \bar R := ((c * g)%:E * ((pw B 2)%:E * haar (hidden 1 B 1 0)))%E.
Let kappa_ge0 : (0 <= kappa)%E.
Proof.
apply: mule_ge0; first by rewrite lee_fin mulr_ge0// ltW.
by apply: mule_ge0; [rewrite lee_fin ltW ?pw_gt0 | apply: haar_ge0 => v; exact: hidden_ge0].
Qed.

Lemma mixture_integral x S : measurable S -> M x S = (kappa * \int[mu]_(y in S) (P (radius x y))%:E)%E.
Proof.
move=> mS; pose L : measurableType _ := line R; pose leb := @lebesgue_measure R.
have [m0 mm _] := hidden_density; set m := inverse_gamma_density in m0 mm *.
have sf : sigma_finite (setT : set L) leb by exact: (Hahn_ext_sigma_finite (@hlength_sigma_sub_additive R) (@hlength_sigma_finite R)).
pose f (z : (L * Y)%type) : \bar R := (joint z.1 (radius x z.2) * \1_S z.2)%:E.
have m1 : measurable_fun setT (fun z : (L * Y)%type => \1_S z.2 : R).
  have mi : measurable_fun setT (\1_S : Y -> R) by exact: measurable_fun_indic.
  exact: measurable_fun_comp mi (@measurable_second _ _ _ _).
have mf : measurable_fun setT f by apply/EFin_measurable_fun; exact: measurable_funM (measurable_joint x) m1.
have f0 z : (0 <= f z)%E by rewrite lee_fin; apply: mulr_ge0; [exact: joint_ge0 | rewrite indicE; exact: ler0n].
transitivity (\int[leb]_v fubini_F mu f v)%E.
  rewrite /M /mixture /= /pushed (integral_density hidden_density); [|exact: (mk x).2 | by move=> v; exact: measure_ge0].
  apply: eq_integral => v _; rewrite /fubini_F /f /=; have [v0|v0] := ltP 0 v; last first.
    rewrite {1}/inverse_gamma_density ltNge v0/= mul0e (eq_integral (cst 0%E)) ?integral0// => y _.
    by rewrite /joint weight0// mul0r mulr0 mul0r.
  have d0 y : 0 <= normal_density v (radius x y).
    by apply: mulr_ge0; [exact: ltW | apply: mulr_ge0; [exact: ltW (pw_gt0 _ _) | exact: expR_ge0]].
  have jE y : joint v (radius x y) = m v * normal_density v (radius x y) by rewrite joint_density.
  have mpos : 0 < m v by rewrite /m /inverse_gamma_density v0; apply: mulr_gt0 g0 _; apply: mulr_gt0; [exact: pw_gt0 | exact: expR_gt0].
  have md : measurable_fun setT (fun y => normal_density v (radius x y)).
    have e : (fun y => normal_density v (radius x y)) = (fun y => (m v)^-1 * joint v (radius x y)).
      by apply/funext => y; rewrite jE mulKf// gt_eqF.
    rewrite e; apply: measurable_funrM.
    exact: (measurable_fun_prod1 (v : L) (measurable_joint x)).
  rewrite conditional// -ge0_integralM//; last 3 first.
  - by apply: (measurable_funS measurableT (@subsetT _ S)); exact/EFin_measurable_fun.
  - by move=> y _; rewrite lee_fin.
  - by rewrite lee_fin ltW.
  rewrite integral_mkcond; apply: eq_integral => y _; rewrite jE /patch indicE.
  by case: ifP => _; rewrite ?mulr1 ?mulr0// EFinM.
have F1 := fubini_tonelli1 (m1 := leb) smu f mf f0; have F2 := fubini_tonelli2 sf smu f mf f0.
rewrite F1 in F2; rewrite F2 -ge0_integralM//; last 2 first.
- by apply: (measurable_funS measurableT (@subsetT _ S)); exact/EFin_measurable_fun.
- by move=> y _; rewrite lee_fin expR_ge0.
rewrite [RHS]integral_mkcond; apply: eq_integral => y _; rewrite /fubini_G /f /patch; case: ifP => yS.
  rewrite -joint_integral; by apply: eq_integral => v _; rewrite indicE /= yS mulr1.
by rewrite (eq_integral (cst 0%E)) ?integral0// => v _; rewrite indicE /= yS mulr0.
Qed.

(* The density, c' its normaliser. *)
Theorem gamma_variance (x0 : X) : exists2 c', 0 < c' & adds_noise mu place M q (fun z => c' * P (norm z / scale)).
Proof.
pose I x : \bar R := (\int[mu]_y (P (radius x y))%:E)%E.
have I0 x : (0 <= I x)%E by apply: integral_ge0 => y _; rewrite lee_fin expR_ge0.
have one x : (kappa * I x = 1)%E by rewrite -(mixture_integral x measurableT) law_total.
have kn0 : kappa != 0%E by apply/eqP => k0; have := one x0; rewrite k0 mul0e => /esym/eqP; rewrite onee_eq0.
have kp : (0 < kappa)%E by rewrite lt_neqAle eq_sym kn0.
have kf : kappa \is a fin_num.
  rewrite ge0_fin_numE//; case E : kappa kp => [r| |]//; first by rewrite ltry.
  move=> _; have := one x0; rewrite E; have := I0 x0; rewrite le_eqVlt => /predU1P[<-|Ip].
    by rewrite mule0 => /esym/eqP; rewrite onee_eq0.
  by rewrite gt0_mulye.
exists (fine kappa); first by rewrite fine_gt0// kp ltey_eq kf.
have fk : 0 <= fine kappa by rewrite fine_ge0.
move=> x; split=> [y||S mS]; first by rewrite mulr_ge0// expR_ge0.
- exact: measurable_funrM (measurable_P x).
- rewrite mixture_integral//; have mP := measurable_P x; rewrite -/(radius x) (integral_scaled _ fk) ?fineK//.
  by move=> y; exact: expR_ge0.
Qed.
End Gamma.
