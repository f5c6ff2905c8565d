(* The rule about what guarantees imply in other measures (docs/theory/measures.md: implied measures), and the range of exponential mechanisms. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition finite curves stated_guarantee pairs likelihood table_laws optimal_composition powers means renyi finite_measures renyi_curves measures gaussian_curve gaussian_measures hoeffding implied_bounds.

(* -- Exponential mechanisms -- *)

Section Exponential.
Context (R : realType) (X : Type) (Y : finType) d (T : measurableType d) (M : mechanism R X T) (pt : Y -> T) (u : X -> Y -> R) (b : R) (Z : X -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (Z0 : forall x, 0 < Z x) (b0 : 0 <= b) (y0 : Y).
(* Probabilities proportional to e^(b u). *)
Hypothesis MT : has_table M pt (fun x y => expR (b * u x y) / Z x).

(* Scores whose differences are within an interval of length D: the loss stays within one of length b D. *)
Theorem exponential_range x x' D : (forall y y', (u x y - u x' y) - (u x y' - u x' y') <= D) -> bounded_range (b * D) (M x) (M x').
Proof.
move=> near.
have [w _ top] := @arg_maxP _ _ _ y0 predT (fun y => u x y - u x' y) isT.
pose t := b * (u x w - u x' w) + ln (Z x' / Z x).
have et : expR t = expR (b * (u x w - u x' w)) * (Z x' / Z x) by rewrite expRD lnK// posrE divr_gt0.
exists t; split; apply/(table_close pt_inj pt_measurable MT) => y.
- have h : expR (b * u x y) <= expR (b * (u x w - u x' w)) * expR (b * u x' y).
    by rewrite -expRD ler_expR -mulrDr; apply: ler_wpmul2l => //; have := top y isT; rewrite /=; lra.
  have i : 0 <= (Z x)^-1 by rewrite invr_ge0 ltW.
  apply: (le_trans (ler_wpmul2r i h)); rewrite et le_eqVlt; apply/orP; left; apply/eqP.
  have zf : Z x' * (Z x')^-1 = 1 by rewrite divff// gt_eqF.
  have -> : expR (b * (u x w - u x' w)) * (Z x' / Z x) * (expR (b * u x' y) / Z x') =
    expR (b * (u x w - u x' w)) * expR (b * u x' y) * (Z x)^-1 * (Z x' * (Z x')^-1) by lra.
  by rewrite zf mulr1.
- have h : expR (b * u x' y) <= expR (b * D - b * (u x w - u x' w)) * expR (b * u x y).
    by rewrite -expRD ler_expR -mulrBr -mulrDr; apply: ler_wpmul2l => //; have := near w y; lra.
  have i : 0 <= (Z x')^-1 by rewrite invr_ge0 ltW.
  have et' : expR (b * D - t) = expR (b * D - b * (u x w - u x' w)) * (Z x / Z x').
    rewrite /t opprD addrA expRD; congr (_ * _); rewrite -lnV ?posrE ?divr_gt0// invf_div lnK// posrE divr_gt0//.
  apply: (le_trans (ler_wpmul2r i h)); rewrite et' le_eqVlt; apply/orP; left; apply/eqP.
  have zf : Z x * (Z x)^-1 = 1 by rewrite divff// gt_eqF.
  have -> : expR (b * D - b * (u x w - u x' w)) * (Z x / Z x') * (expR (b * u x y) / Z x) =
    expR (b * D - b * (u x w - u x' w)) * expR (b * u x y) * (Z x')^-1 * (Z x * (Z x)^-1) by lra.
  by rewrite zf mulr1.
Qed.
End Exponential.

(* -- The rule -- *)

Section Rule.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* A pair of the other order. *)
Lemma dominated_swapped d' (Z : measurableType d') (P Q : {measure set Y -> \bar R}) (P0 Q0 : {measure set Z -> \bar R}) :
  P setT = 1%E -> Q setT = 1%E -> P0 setT = 1%E -> Q0 setT = 1%E -> dominated P Q P0 Q0 -> dominated Q P Q0 P0.
Proof.
move=> P1 Q1 P01 Q01 dom a; rewrite le_eqVlt => /predU1P[<-|a0]; first by rewrite !profile0.
rewrite (profile_swap P1 Q1 a0) (profile_swap P01 Q01 a0) ler_add2l ler_pmul2l//; apply: dom; rewrite invr_ge0; exact: ltW.
Qed.

(* What is stated, or shown of the pure epsilon or the range, of the neighbours of N in its order, or of both. *)
(* Rule: implied-measures, upper. *)
Theorem implied_measures :
  [/\ (forall rho a, 1 < a -> zcdp_private N M rho -> renyi_private N M a (a * rho)) /\
      (forall a b t, 1 < a -> a <= b -> renyi_private N M b t -> renyi_private N M a t),
      forall eta, (forall x x', N x x' -> bounded_range eta (M x) (M x')) -> zcdp_private N M (eta ^+ 2 / 8) /\ pure_dp N M eta,
      forall e, 0 <= e -> pure_dp N M e ->
        [/\ zcdp_private (both N) M (e * tanh_half e), forall a, 1 < a -> renyi_private (both N) M a (response_renyi e a) &
            forall (Phi : R -> R) mu d' (Z : measurableType d') (P0 Q0 : {measure set Z -> \bar R}),
              (forall s, Phi (- s) = 1 - Phi s) -> normal_pair Phi mu P0 Q0 -> expR e / (1 + expR e) <= Phi (mu / 2) ->
              gdp_private (both N) M P0 Q0],
      forall (V : lmodType R) (B : V -> V -> R) d' (Z : measurableType d') (nu : {measure set Z -> \bar R}) (place : Z -> V) (c : R),
        inner_form B -> 0 < c ->
        (forall v, exists W : {measure set Z -> \bar R}, W setT = 1%E /\ has_density nu W (fun y => c * expR (- (B (place y - v) (place y - v) / 2)))) ->
        forall mu P0 Q0, 0 <= mu -> gaussian_pair B nu place c mu P0 Q0 -> gdp_private N M P0 Q0 ->
        zcdp_private N M (mu ^+ 2 / 2) /\ forall a, 1 < a -> renyi_private N M a (a * (mu ^+ 2 / 2)) &
      forall d' (Z : measurableType d') (P0 Q0 : {measure set Z -> \bar R}), P0 setT = 1%E -> Q0 setT = 1%E ->
        gdp_private N M P0 Q0 -> gdp_private (fun x x' => N x' x) M Q0 P0].
Proof.
have l := law_total M; split.
- split=> [rho a a1 h x x' xx|a b t a1 ab h x x' xx]; first exact: h.
  by apply: (renyi_order a1 ab); rewrite ?l//; exact: h.
- move=> eta h; split=> [x x' xx|x x' [xx|xx]]; first by apply: bounded_range_zcdp; rewrite ?l//; exact: h.
  + by have [] := bounded_range_pure (l x) (l x') (h x x' xx).
  + by have [] := bounded_range_pure (l x') (l x) (h x' x xx).
- move=> e e0 h; have c x x' (xx : both N x x') : close e 0 (M x) (M x') /\ close e 0 (M x') (M x) by split; apply: h => //; exact: bothC.
  split=> [x x' xx|a a1 x x' xx|Phi mu d' Z P0 Q0 even pair le x x' xx]; have [h1 h2] := c x x' xx.
  + exact: (pure_zcdp e0 (l x) (l x') h1 h2).
  + exact: (pure_renyi e0 (l x) (l x') h1 h2 a1).
  + exact: (pure_gdp e0 (l x) (l x') h1 h2 even pair le).
- move=> V B d' Z nu place c form c0 every mu P0 Q0 mu0 pair dom.
  by have [_ h1 h2] := gaussian_measures_upper form c0 every pair dom.
- move=> d' Z P0 Q0 P01 Q01 dom x x' xx; apply: dominated_swapped => //; exact: dom.
Qed.
End Rule.
