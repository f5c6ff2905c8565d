(* Gaussian noise of a random scale (docs/theory/curves.md: scale mixtures of Gaussians): whoever sees the scale too sees no less, and then the
   curve is the mean of the curves at each scale. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition mixtures curves pairs likelihood powers means measures gaussian_curve.

Section Mixture.
Context (R : realType) (X : Type) d1 (W : measurableType d1) d2 (Y : measurableType d2).
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)).

(* H bounds the curve at each w. *)
(* Rule: elliptical-process, upper, in part: the mean of the curves at each variance; not that the output shows the variance. *)
Theorem mixture_profile (b : R) (H : W -> R) x x' : 0 <= b -> test H -> (forall w, profile b (k x w) (k x' w) <= H w) ->
  profile b (mixture_shown mixing1 mk x) (mixture_shown mixing1 mk x') <= mean mixing H /\
  profile b (mixture mixing1 mk x) (mixture mixing1 mk x') <= mean mixing H.
Proof.
move=> b0 tH le.
have bound (f g : W -> R) : test f -> test g -> (forall w, f w - b * g w <= H w) -> mean mixing f - b * mean mixing g <= mean mixing H.
  move=> tf tg h; have b1 : 0 < 1 + b by lra.
  have bi : 0 <= (1 + b)^-1 by rewrite invr_ge0 ltW.
  pose m w := (1 + b)^-1 * (H w + b * g w).
  have tm : test m.
    have [mH H01] := tH; have [mg g01] := tg; split=> [|w].
      by apply: measurable_funrM; apply: measurable_funD => //; exact: measurable_funrM.
    have /andP[h0 h1] := H01 w; have /andP[g0 g1] := g01 w; rewrite /m mulr_ge0 ?addr_ge0 ?mulr_ge0//=.
    rewrite ler_pdivr_mull// mulr1; apply: ler_add => //; rewrite -[leRHS]mulr1; exact: ler_wpmul2l.
  have mE : (1 + b) * mean mixing m = mean mixing H + b * mean mixing g.
    have iH : (\int[mixing]_w (H w)%:E = (mean mixing H)%:E)%E by exact: mean_int.
    have ig : (\int[mixing]_w (g w)%:E = (mean mixing g)%:E)%E by exact: mean_int.
    apply: EFin_inj; have := mean_affine mixing1 tm (ltW b1) (lexx 0); rewrite addr0 => <-.
    rewrite EFinD EFinM -iH -ig; have [mH _] := tH; have [mg _] := tg.
    have gE w : setT w -> (0 <= (g w)%:E)%E by move=> _; rewrite lee_fin; exact: (test_ge0 w tg).
    have bE : (0 <= b%:E)%E by rewrite lee_fin.
    have mgE : measurable_fun setT (fun w => (g w)%:E) by exact/EFin_measurable_fun.
    rewrite -(ge0_integralM mixing measurableT mgE gE bE) -ge0_integralD//.
    - apply: eq_integral => w _; rewrite /m addr0 mulrA divff ?gt_eqF// mul1r EFinD EFinM //.
    - by move=> w _; rewrite lee_fin; exact: (test_ge0 w tH).
    - exact/EFin_measurable_fun.
    - by move=> w wT; rewrite mule_ge0//; exact: gE.
    - by apply: emeasurable_funM => //; exact: measurable_fun_cst.
  rewrite ler_subl_addr -mE.
  have := @mean_le_affine _ _ _ mixing f m 1 0 (1 + b) 0 mixing1 tf tm; rewrite mul1r !addr0; apply; rewrite ?(ltW b1)// => w.
  rewrite mul1r !addr0 /m mulrA divff ?gt_eqF// mul1r -ler_subl_addr; exact: h.
have slice z A (l : W -> set Y) : (forall w, measurable (l w)) -> measurable_fun setT (fun w => k z w (l w)) ->
    A = (\int[mixing]_w k z w (l w))%E -> test (fun w => fine (k z w (l w))) /\ fine A = mean mixing (fun w => fine (k z w (l w))).
  move=> ml mkl ->; split.
    split=> [|w]; last by apply: fine01; [exact: (mk z).1 | exact: ml].
    by apply: measurable_fun_comp mkl; exact: measurable_fun_fine.
  by rewrite /mean; congr fine; apply: eq_integral => w _; rewrite fineK//; apply: mass_fin; [exact: (mk z).1 | exact: ml].
split; apply: profile_le => S mS.
- have ms w : measurable (xsection S w) by exact: measurable_xsection.
  have [tf ->] := slice x _ _ ms (markov_sections (mk x) mS) erefl; have [tg ->] := slice x' _ _ ms (markov_sections (mk x') mS) erefl.
  by apply: bound => // w; apply: le_trans (le w); apply: profile_event => //; [exact: (mk x).1 | exact: (mk x').1].
- have [tf ->] := slice x _ (fun _ => S) (fun _ => mS) ((mk x).2 S mS) erefl; have [tg ->] := slice x' _ (fun _ => S) (fun _ => mS) ((mk x').2 S mS) erefl.
  by apply: bound => // w; apply: le_trans (le w); apply: profile_event => //; [exact: (mk x).1 | exact: (mk x').1].
Qed.
End Mixture.

(* Gaussian noise of covariance scale^2 v, v drawn by w, in the norm of B. *)
Section Gaussian.
Context (R : realType) (V : lmodType R) (B : V -> V -> R) (form : inner_form B).
Context (X : Type) d1 (W : measurableType d1) d2 (Y : measurableType d2) (nu : {measure set Y -> \bar R}) (place : Y -> V) (q : X -> V).
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}) (Phi : R -> R) (variance c : W -> R) (scale D : R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (Phi_rises : forall s t : R, s <= t -> Phi s <= Phi t).
Hypotheses (scale0 : 0 < scale) (D0 : 0 < D) (variance0 : forall w, 0 < variance w) (c0 : forall w, 0 < c w).

Definition scaled (w : W) (x y : V) : R := B x y / (scale ^+ 2 * variance w).
Definition shift_at (w : W) : R := D / (scale * Num.sqrt (variance w)).

Lemma weight_gt0 w : 0 < scale ^+ 2 * variance w. Proof. by rewrite mulr_gt0// exprn_gt0. Qed.

Lemma scaled_form w : inner_form (scaled w).
Proof.
have [s a h n] := form; have w0 := weight_gt0 w; split=> [x y|x y z|r x y|x]; rewrite /scaled.
- by rewrite s.
- by rewrite a mulrDl.
- by rewrite h mulrA.
- by rewrite divr_ge0// ltW.
Qed.

Lemma shift_gt0 w : 0 < shift_at w. Proof. by rewrite divr_gt0// mulr_gt0// sqrtr_gt0. Qed.

Lemma shift_sqr w : shift_at w ^+ 2 = D ^+ 2 / (scale ^+ 2 * variance w).
Proof. by rewrite /shift_at expr_div_n exprMn sqr_sqrtr// ltW. Qed.

Hypothesis noise : forall w x, gaussian_about (scaled w) nu place Phi (c w) (q x) (k x w).
(* Two answers that are exactly D apart, with the noise. *)
Variables (u u' : V) (P0 Q0 : W -> {measure set Y -> \bar R}).
Hypotheses (apart : B (u' - u) (u' - u) = D ^+ 2) (P01 : forall w, P0 w setT = 1%E) (Q01 : forall w, Q0 w setT = 1%E).
Hypotheses (P0u : forall w, gaussian_about (scaled w) nu place Phi (c w) u (P0 w)) (Q0u : forall w, gaussian_about (scaled w) nu place Phi (c w) u' (Q0 w)).

Lemma far_pair w : normal_pair Phi (shift_at w) (P0 w) (Q0 w).
Proof.
split=> // t; have m0 := shift_gt0 w; have f := scaled_form w; set mu := shift_at w in m0 *.
pose e := mu^-1 *: (u' - u); have mi : mu^-1 * mu = 1 by rewrite mulVf// gt_eqF.
have far : scaled w (u' - u) (u' - u) = mu ^+ 2 by rewrite /mu shift_sqr -apart.
have eu : scaled w e (u' - u) = mu by rewrite /e (formZl f) far expr2 mulrA mi mul1r.
have ee : scaled w e e = 1 by rewrite {2}/e (formZr f) eu mi.
exists [set y | scaled w e (place y - u) < t]; have [_ hP] := P0u w; have [_ hQ] := Q0u w.
have [mS PS] := hP e t ee; split=> //.
have -> : [set y | scaled w e (place y - u) < t] = [set y | scaled w e (place y - u') < t - mu].
  have E y : scaled w e (place y - u) = scaled w e (place y - u') + mu by rewrite -eu -(formDr f) addrA subrK.
  by apply/seteqP; split=> y /=; rewrite E; lra.
by have [] := hQ e (t - mu) ee.
Qed.

(* At most D apart: the curve is at most the mean of those at each scale. *)
(* Rule: gaussian-scale-mixture, upper. *)
Theorem gaussian_scale_mixture eps x x' : B (q x' - q x) (q x' - q x) <= D ^+ 2 ->
  measurable_fun setT (fun w => gaussian_delta Phi (shift_at w) eps) ->
  profile (expR eps) (mixture mixing1 mk x) (mixture mixing1 mk x') <= mean mixing (fun w => gaussian_delta Phi (shift_at w) eps).
Proof.
move=> near mH; have E w : profile (expR eps) (P0 w) (Q0 w) = gaussian_delta Phi (shift_at w) eps.
  apply: (gaussian_pair_curve (scaled_form w) (c0 w) (P01 w) (Q01 w) (P0u w) (Q0u w) eps (shift_gt0 w)).
  by rewrite shift_sqr -apart.
have tH : test (fun w => gaussian_delta Phi (shift_at w) eps).
  by split=> // w; rewrite -E profile_ge0 ?profile_le1 ?expR_ge0.
have [] // := mixture_profile mixing1 mk (x := x) (x' := x') (expR_ge0 eps) tH _.
move=> w; rewrite -E; pose M := Mechanism (fun z => (mk z).1 w).
have [h _] := gaussian_curve (M := M) (scaled_form w) (c0 w) (noise w) Phi_rises x x' eps (ltW (shift_gt0 w)) (far_pair w).
apply: h; rewrite /scaled shift_sqr; apply: ler_wpmul2r => //; by rewrite invr_ge0 ltW// weight_gt0.
Qed.
End Gaussian.
