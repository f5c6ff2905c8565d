(* The rule mixture-closed-form (docs/theory/additive.md): a scale mixture whose integral over the hidden variable has a closed form is the radial noise
   of that profile. Integrals are known up to factors (closed_integrals.v), for both laws have mass 1. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive kernels composition mixtures likelihood laplace_curve independent scale_integrals mixture_closed bessel_integral closed_integrals.
Import numFieldNormedType.Exports.

Section Rule.
Context (R : realType) (V : lmodType R) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (q : X -> V) (norm : V -> R) (scale c c' : R).
Variables (mixing : {measure set (line R) -> \bar R}) (u : option R) (m : R -> R) (k : X -> line R -> {measure set Y -> \bar R}) (profile : R -> R -> R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (smu : sigma_finite setT mu).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c) (c'0 : 0 < c').
(* The hidden variable has the density m, on (0, inf), or on (0, b). *)
Hypotheses (hidden_density : has_density (@lebesgue_measure R) mixing m) (support : forall v, ~~ drawn u v -> m v = 0).
(* The noise drawn with a v that is drawn has density c profile(v, r) of the distance r, c free of v: what the rule finds of its scale family. *)
Hypothesis profile0 : forall v r, 0 <= profile v r.
Let radius x y := norm (place y - q x) / scale.
Hypothesis conditional : forall x v S, drawn u v -> measurable S -> k x v S = (\int[mu]_(y in S) (c * profile v (radius x y))%:E)%E.
Hypothesis joint_measurable : forall x, measurable_fun setT (fun z : line R * Y => c * profile z.1 (radius x z.2)).
(* The form, for all r > 0; and that outputs at the answer itself have no measure, as in R^d. *)
Variables (e s K0 : R) (A B C P : R -> R) (K : R -> R -> R).
Hypotheses (e0 : 0 < e) (K00 : 0 <= K0).
Hypothesis form : forall v r, drawn u v -> 0 < r -> profile v r * m v = K0 * (expR (- A r) * (pw (- 1 - e * s) v * expR (- B r * pw (- e) v - C r * pw e v))).
Hypothesis null_measurable : forall x, measurable [set y | radius x y = 0].
Hypothesis null : forall x, mu [set y | radius x y = 0] = 0%E.
(* The rule's integrals, and the radial noise that its premise is about. *)
Hypotheses (HK : bessel K) (closed : closed_form K e s u A B C P).
Variable M' : mechanism R X Y.
Hypothesis radial : adds_noise mu place M' q (fun z => c' * P (norm z / scale)).
Let M := mixture mixing1 mk.

Let weightE (v : R) : 0 < v -> weight v = pw (- 1) v.
Proof. by move=> v0; rewrite /weight indicE mem_set ?mulr1//= in_itv/= v0. Qed.

Lemma inner_integral : exists2 kappa : \bar R, (0 <= kappa)%E &
  forall r, 0 < r -> (\int[@lebesgue_measure R]_v (m v * (c * profile v r))%:E = kappa * (P r)%:E)%E.
Proof.
have [kappa kap0 E] := closed_form_integral e0 HK closed.
have cK : 0 <= c * K0 by rewrite mulr_ge0// ltW.
exists ((c * K0)%:E * kappa)%E => [|r r0]; first by rewrite mule_ge0// lee_fin.
rewrite -muleA -E//; set h := fun v => hidden e s (B r) (C r) v * (drawn u v)%:R.
have h0 v : 0 <= h v by rewrite mulr_ge0 ?hidden_ge0.
have mh : measurable_fun setT h by apply: measurable_funM (measurable_drawn u); exact: measurable_hidden.
rewrite -haar_factor ?expR_ge0//.
have mh' : measurable_fun setT (fun v => expR (- A r) * h v) by exact: measurable_funrM.
have h0' v : 0 <= expR (- A r) * h v by rewrite mulr_ge0 ?expR_ge0.
rewrite -haar_factor//; apply: eq_integral => v _; rewrite -EFinM; congr EFin; rewrite /h.
have [dv|dv] := boolP (drawn u v); last by rewrite support// !mulr0 mul0r.
have v0 : 0 < v by case/andP: dv.
rewrite mulr1 mulrCA [m v * _]mulrC form// weightE// /hidden.
have -> : pw (- 1 - e * s) v = pw (- 1) v * expR (- (e * s) * ln v) by rewrite pwD /pw.
have -> : expR (- (e * s) * ln v - B r * pw (- e) v - C r * pw e v) = expR (- (e * s) * ln v) * expR (- B r * pw (- e) v - C r * pw e v).
  by rewrite -expRD; congr expR; lra.
move: (expR _) (expR _) (expR _) (pw _ _) => a1 a2 a3 a4; lra.
Qed.

Lemma radial_profile x : (forall y, 0 <= P (radius x y)) /\ measurable_fun setT (fun y => P (radius x y)).
Proof.
have [f0 mf _] := radial x; split=> [y|]; first by have := f0 y; rewrite pmulr_rge0.
have -> : (fun y => P (radius x y)) = (fun y => c'^-1 * (c' * P (norm (place y - q x) / scale))).
  by apply/funext => y; rewrite mulrA mulVf ?mul1r// gt_eqF.
exact: measurable_funrM.
Qed.

Lemma mixture_mass kappa x S : (0 <= kappa)%E -> (forall r, 0 < r -> (\int[@lebesgue_measure R]_v (m v * (c * profile v r))%:E = kappa * (P r)%:E)%E) ->
  measurable S -> M x S = (\int[mu]_(y in S) (kappa * (P (radius x y))%:E))%E.
Proof.
move=> kap0 inner mS; pose L : measurableType _ := line R; pose leb := @lebesgue_measure R.
have [m0 mm _] := hidden_density.
pose p (z : (L * Y)%type) : R := m z.1 * (c * profile z.1 (radius x z.2)).
have p0 z : 0 <= p z by apply: mulr_ge0; [exact: m0 | apply: mulr_ge0 (profile0 _ _); exact: ltW].
have mp : measurable_fun setT p.
  by apply: measurable_funM; [apply: measurable_fun_comp mm _; exact: measurable_first | exact: joint_measurable].
have sf : sigma_finite (setT : set L) leb by exact: (Hahn_ext_sigma_finite (@hlength_sigma_sub_additive R) (@hlength_sigma_finite R)).
pose g (z : (L * Y)%type) : \bar R := (p z * \1_S z.2)%:E.
have m1 : measurable_fun setT (fun z : (L * Y)%type => \1_S z.2 : R).
  have mi : measurable_fun setT (\1_S : Y -> R) by exact: measurable_fun_indic.
  exact: measurable_fun_comp mi (@measurable_second _ _ _ _).
have mg : measurable_fun setT g by apply/EFin_measurable_fun; exact: measurable_funM.
have g0 z : (0 <= g z)%E by rewrite lee_fin; apply: mulr_ge0; [exact: p0 | rewrite indicE; exact: ler0n].
pose F (y : Y) : \bar R := (\int[leb]_v (p (v, y))%:E)%E.
have F0 y : (0 <= F y)%E by apply: integral_ge0 => v _; rewrite lee_fin; exact: p0.
have mF : measurable_fun setT F.
  have mpE : measurable_fun setT (EFin \o p) by exact/EFin_measurable_fun.
  by have := @measurable_fun_fubini_tonelli_G _ _ L Y R leb sf (EFin \o p) mpE (fun z => p0 z).
have mc v : measurable_fun S (fun y : Y => (c * profile v (radius x y))%:E).
  by apply: (measurable_funS measurableT (@subsetT _ S)); apply/EFin_measurable_fun; exact: (measurable_fun_prod1 v (joint_measurable x)).
transitivity (\int[leb]_v fubini_F mu g v)%E.
  rewrite /M /mixture /= /pushed (integral_density hidden_density); [|exact: (mk x).2 | by move=> v; exact: measure_ge0].
  apply: eq_integral => v _; rewrite /fubini_F; have [dv|dv] := boolP (drawn u v); last first.
    by rewrite support// mul0e (eq_integral (cst 0%E)) ?integral0// => y _; rewrite /g /p support ?mul0r.
  rewrite conditional// -ge0_integralM//; last 2 first.
  - by move=> y _; rewrite lee_fin; apply: mulr_ge0 (profile0 _ _); exact: ltW.
  - by rewrite lee_fin; exact: m0.
  rewrite integral_mkcond; apply: eq_integral => y _; rewrite /g /p /patch indicE/=.
  by case: ifP => _; rewrite ?mulr1 ?mulr0// EFinM.
have F1 := fubini_tonelli1 (m1 := leb) smu g mg g0; have F2 := fubini_tonelli2 sf smu g mg g0.
rewrite F1 in F2; rewrite F2.
transitivity (\int[mu]_(y in S) F y)%E.
  rewrite [RHS]integral_mkcond; apply: eq_integral => y _; rewrite /fubini_G /g /patch; case: ifP => yS.
    by apply: eq_integral => v _; rewrite indicE /= yS mulr1.
  by rewrite (eq_integral (cst 0%E)) ?integral0// => v _; rewrite indicE /= yS mulr0.
have [P0 mP] := radial_profile x.
apply: ge0_ae_eq_integral => //.
- exact: (measurable_funS measurableT (@subsetT _ S) mF).
- apply: (measurable_funS measurableT (@subsetT _ S)); apply: emeasurable_funM; first exact: measurable_fun_cst.
  exact/EFin_measurable_fun.
- by move=> y _; apply: mule_ge0 => //; rewrite lee_fin.
have mr : measurable [set y | radius x y = 0] by exact: null_measurable.
exists [set y | radius x y = 0]; split=> // y /= /not_implyP[_ neq]; apply: contrapT => r0; apply: neq.
have rge : 0 <= radius x y by apply: divr_ge0; [exact: seminorm_ge0 semi _ | exact: ltW].
have rpos : 0 < radius x y by rewrite lt_def rge andbT; apply/eqP.
exact: (inner _ rpos).
Qed.


(* Rule: mixture-closed-form. *)
(* The law is that of the radial noise, so that every guarantee of either is one of the other. *)
Theorem mixture_closed_form :
  [/\ forall x S, measurable S -> M x S = M' x S, forall eps dl, dp N M eps dl <-> dp N M' eps dl &
      forall dl, tight_epsilon N M dl = tight_epsilon N M' dl].
Proof.
have [kappa kap0 inner] := inner_integral.
have same x S : measurable S -> M x S = M' x S.
  move=> mS; have [P0 mP] := radial_profile x; have [_ _ rad] := radial x.
  pose I T : \bar R := (\int[mu]_(y in T) (P (radius x y))%:E)%E.
  have mPT T : measurable T -> measurable_fun T (fun y => (P (radius x y))%:E).
    by move=> mT; apply: (measurable_funS measurableT (@subsetT _ T)); exact/EFin_measurable_fun.
  have e1 T : measurable T -> M x T = (kappa * I T)%E.
    move=> mT; rewrite (mixture_mass x kap0 inner mT) ge0_integralM//; first exact: mPT.
    by move=> y _; rewrite lee_fin.
  have e2 T : measurable T -> M' x T = (c'%:E * I T)%E.
    by move=> mT; rewrite (rad T mT) integral_scaled// ltW.
  have t1 : (kappa * I setT = 1)%E by rewrite -e1// law_total.
  have t2 : (c'%:E * I setT = 1)%E by rewrite -e2// law_total.
  have kE : kappa = c'%:E by rewrite -[LHS]mule1 -t2 muleCA t1 mule1.
  by rewrite e1// e2// kE.
have priv eps dl : dp N M eps dl <-> dp N M' eps dl.
  by split=> H x x' xx S mS; [rewrite -(same x S mS) -(same x' S mS) | rewrite (same x S mS) (same x' S mS)]; exact: H.
split=> // dl; rewrite /tight_epsilon /tight_epsilon_in_order; congr ereal_inf.
by apply/seteqP; split=> _ [eps [eps0 H] <-]; exists eps => //; split=> //; exact/priv.
Qed.

End Rule.
