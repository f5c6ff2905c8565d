(* Mixtures (docs/theory/additive.md): v is drawn from a law that does not depend on the data, and then an output whose loss is bounded for every
   v. Both the pair (v, output) and the output alone have that bound; the density of the output is the mean of the densities (Fubini). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density kernels composition.
Local Open Scope ereal_scope.

Section Mixture.
Context (R : realType) (X : Type) (N : relation X) d1 (V : measurableType d1) d2 (Y : measurableType d2).
Variables (mixing : {measure set V -> \bar R}) (k : X -> V -> {measure set Y -> \bar R}).
Hypotheses (mixing1 : mixing setT = 1) (mk : forall x, markov (k x)).

Definition mixture : mechanism R X Y := Mechanism (fun x => pushed_total (mk x) mixing1).
Definition mixture_shown : mechanism R X (V * Y)%type := Mechanism (fun x => joint_total (mk x) mixing1).

Theorem mixture_shown_dp eps dl : (0 <= eps)%R -> (forall v x x', N x x' -> close eps dl (k x v) (k x' v)) ->
  dp_in_order N mixture_shown eps dl.
Proof.
move=> e0 H x x' xx; rewrite -[eps]add0r -[dl]add0r; apply: close_joint => //; first exact: close_refl.
by move=> v; exact: H.
Qed.

Theorem mixture_dp eps dl : (forall v x x', N x x' -> close eps dl (k x v) (k x' v)) -> dp_in_order N mixture eps dl.
Proof.
move=> H x x' xx S mS; rewrite /= /pushed.
have mkS y : measurable_fun setT (fun v => k y v S) by exact: (mk y).2.
have d0 : (0 <= dl)%R by exact: close_delta_ge0 (H point x x' xx).
apply: (@le_trans _ _ (\int[mixing]_v ((expR eps)%:E * k x' v S + dl%:E))).
  apply: ge0_le_integral => //.
  - by move=> v _; rewrite adde_ge0 ?lee_fin// mule_ge0 ?lee_fin ?expR_ge0.
  - by apply: emeasurable_funD; [exact: measurable_funeM | exact: measurable_fun_cst].
  - by move=> v _; exact: H.
rewrite ge0_integralD//; last 3 first.
- by move=> v _; rewrite mule_ge0 ?lee_fin ?expR_ge0.
- exact: measurable_funeM.
- exact: measurable_fun_cst.
by rewrite ge0_integralM ?lee_fin ?expR_ge0// integral_cst// mixing1 mule1.
Qed.
End Mixture.

(* The density of a mixture is the mean of the densities. *)
Section Density.
Context (R : realType) d1 (V : measurableType d1) d2 (Y : measurableType d2).
Variables (mixing : {measure set V -> \bar R}) (mu : {measure set Y -> \bar R}).
Hypotheses (smixing : sigma_finite setT mixing) (smu : sigma_finite setT mu).
Variables (k : V -> {measure set Y -> \bar R}) (mk : markov k) (p : V * Y -> R).
Hypotheses (mp : measurable_fun setT p) (p0 : forall z, (0 <= p z)%R).
Hypothesis kp : forall v S, measurable S -> k v S = \int[mu]_(y in S) (p (v, y))%:E.

Theorem mixture_density S : measurable S -> pushed mk mixing S = \int[mu]_(y in S) \int[mixing]_v (p (v, y))%:E.
Proof.
move=> mS; rewrite /pushed.
pose f (z : V * Y) := (p z * \1_(setT `*` S) z)%:E.
have f0 z : 0 <= f z by rewrite lee_fin mulr_ge0// indicE ler0n.
have mf : measurable_fun setT f.
  apply/EFin_measurable_fun; apply: measurable_funM => //.
  by apply: measurable_fun_indic; exact: measurableM.
have fE v y : f (v, y) = (p (v, y) * \1_S y)%:E.
  rewrite /f !indicE; congr (_ * (nat_of_bool _)%:R)%:E; apply/idP/idP; rewrite !inE/=; first by case.
  by split.
transitivity (\int[mixing]_v \int[mu]_y f (v, y)).
  apply: eq_integral => v _; rewrite kp// integral_mkcond; apply: eq_integral => y _.
  by rewrite fE /patch indicE; case: ifPn => _; rewrite ?mulr1 ?mulr0.
transitivity (\int[mu]_y \int[mixing]_v f (v, y)).
  have F1 := fubini_tonelli1 (m1 := mixing) smu f mf f0; have F2 := fubini_tonelli2 smixing smu f mf f0.
  by rewrite F1 in F2.
rewrite [RHS]integral_mkcond; apply: eq_integral => y _.
under eq_integral do rewrite fE indicE.
rewrite /patch; case: ifPn => _; last by rewrite (eq_integral (cst 0)) ?integral0// => v _; rewrite mulr0.
by apply: eq_integral => v _; rewrite mulr1.
Qed.
End Density.
