(* The curve of n evaluations of noise scale sqrt(V) N on functions (docs/theory/processes.md: process evaluations): the values are standardised by a factor
   of their covariance; to see V too can only help; and where V = b/Gamma(a) they have multivariate t noise. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive modulus_rules kernels composition mixtures curves pairs likelihood means laplace_curve scale_mixture gaussian_curve normal_line gaussian_composition gaussian_noise covariances gamma_variance evaluations_epsilon process_curve.
Import numFieldNormedType.Exports.

(* -- Standardised values -- *)
Section Standardised.
Context (R : realType) (n : nat).
Definition dot (x y : 'rV[R]_n) : R := (x *m y^T) 0 0.
Definition l2 : 'rV[R]_n -> R := form_norm dot.

Lemma dotE x y : dot x y = \sum_i x 0 i * y 0 i.
Proof. by rewrite /dot mxE; apply: eq_bigr => i _; rewrite mxE. Qed.

(* L is a factor of the covariance: in place of values y there are y (L')^-1, whose distance is the Euclidean one. *)
Lemma distance_standardised (K L : 'M[R]_n) (h : 'rV[R]_n) : L \in unitmx -> K = L *m L^T -> distance K h = l2 (h *m invmx L^T).
Proof.
move=> uL ->; rewrite /distance /l2 /form_norm /inverse_form /dot; congr (Num.sqrt (_ 0 0)).
have uLt : L^T \in unitmx by rewrite unitmx_tr.
have -> : invmx (L *m L^T) = invmx L^T *m invmx L.
  have u : L *m L^T \in unitmx by rewrite unitmx_mul uL.
  apply: (can_inj (mulKmx u)); rewrite mulmxV//.
  by rewrite mulmxA -[L *m L^T *m _]mulmxA mulmxV// mulmx1 mulmxV.
by rewrite trmx_mul trmx_inv trmxK !mulmxA.
Qed.
End Standardised.

(* -- Falling densities -- *)
Section Falling.
Context (R : realType) (V : lmodType R) (B : V -> V -> R) (form : inner_form B).
Context d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V) (f : R -> R) (u h : V) (t a : R).
Variables (P Q Q' : {measure set Y -> \bar R}).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (Q'1 : Q' setT = 1%E) (t1 : 1 <= t) (a1 : 1 <= a).
Hypothesis falls : forall r s, 0 <= r -> r <= s -> f s <= f r.
Hypotheses (Pu : has_density mu P (fun y => f (form_norm B (place y - u)))) (Qh : has_density mu Q (fun y => f (form_norm B (place y - (u + h)))))
  (Q'h : has_density mu Q' (fun y => f (form_norm B (place y - (u + t *: h))))).

(* The divergence at epsilon >= 0 does not fall where an answer moves on: of the best event every point is nearer to the first answer. *)
Lemma falling_grows : profile a P Q <= profile a P Q'.
Proof.
have a0 : 0 <= a by exact: le_trans a1.
rewrite (likelihood_profile P1 Q1 (density_likelihood P1 Q1 Pu Qh) a0); set S := above _ _ _ _.
have [f0 mf _] := Pu; have [g0 mg gE] := Qh; have [g'0 mg' g'E] := Q'h.
have mS : measurable S by exact: measurable_above.
apply: le_trans (profile_event P1 Q'1 a0 mS); rewrite ler_add2l ler_opp2; apply: ler_wpmul2l => //.
rewrite -lee_fin !fineK ?mass_fin// gE// g'E//; apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin.
- by apply/EFin_measurable_fun; exact: measurable_funS mg'.
- by move=> y _; rewrite lee_fin.
- by apply/EFin_measurable_fun; exact: measurable_funS mg.
move=> y; rewrite /S /above/= mul1r lee_fin => more; apply: falls; first exact: sqrtr_ge0.
set z := place y - u in more *; have shift v : place y - (u + v) = z - v by rewrite opprD addrA.
rewrite !shift in more *.
have near : form_norm B z < form_norm B (z - h).
  rewrite ltNge; apply/negP => le; have := falls (sqrtr_ge0 _) le; move=> lef.
  have : f (form_norm B (z - h)) <= a * f (form_norm B (z - h)) by rewrite ler_pemull// -shift.
  by move/(le_trans lef); rewrite leNgt more.
have hh := form_ge0 form h.
have : B z z < B (z - h) (z - h).
  by rewrite -(form_norm_sqr form z) -(form_norm_sqr form (z - h)) ltr_pexpn2r// nnegrE sqrtr_ge0.
rewrite (form_difference form) => lt.
rewrite ler_wsqrtr// !(form_difference form) !(formZl form) !(formZr form).
have lt' : B h z * 2 <= B h h by lra.
have tt : 0 <= (t - 1) * (B h h - B h z * 2) by rewrite mulr_ge0 ?subr_ge0.
have sq : 0 <= t * (t - 1) * B h h by rewrite mulr_ge0// mulr_ge0 ?subr_ge0// (le_trans _ t1).
lra.
Qed.
End Falling.

Section Rule.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Context (X : Type) (N : definitions.relation X) d1 (W : measurableType d1) d2 (Y : measurableType d2).
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}) (dev : W -> R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (dev0 : forall w, 0 < dev w) (mdev : measurable_fun setT dev).
Variables (n : nat) (K : 'M[R]_n) (q : X -> 'rV[R]_n).
Hypothesis cov : covariance K.

(* Given V the values are q(x) + dev L z, L a factor of K and z independent standard normal numbers; on x' they are those of z moved by what
   distance_standardised is about, of which the length is the distance of the answers over dev. *)
Definition standardised_values := forall x x' w, exists s d (O : measurableType d) (P Q : {measure set O -> \bar R}) T,
  [/\ normal_numbers law s P Q T, image_of P Q (k x w) (k x' w) & together s = distance K (q x - q x') / dev w].

Lemma profile_image d (O : measurableType d) d' (Z : measurableType d') (P Q : {measure set O -> \bar R}) (P' Q' : {measure set Z -> \bar R}) (a : R) :
  P setT = 1%E -> Q setT = 1%E -> 0 <= a -> image_of P Q P' Q' -> profile a P' Q' <= profile a P Q.
Proof.
move=> P1 Q1 a0 [f [mf Pf Qf]]; apply: profile_le => S mS; rewrite Pf// Qf//; apply: profile_event => //.
by have := mf measurableT S mS; rewrite setTI.
Qed.

Lemma shown_variance x x' D eps : standardised_values -> 0 <= D -> distance K (q x - q x') <= D ->
  profile (expR eps) (mixture mixing1 mk x) (mixture mixing1 mk x') <= curve_mean law mixing dev D eps.
Proof.
move=> values D0 near; have tH := curve_test normal dev0 mdev eps D0.
have [//|_ h] := mixture_profile mixing1 mk (x := x) (x' := x') (expR_ge0 eps) tH _ => [w|].
  have [s [d [O [P [Q [T [numbers image len]]]]]]] := values x x' w; have [_ P1 Q1 _ [_ E]] := normal_numbers_pair normal numbers.
  apply: le_trans (profile_image P1 Q1 (expR_ge0 eps) image) _; rewrite E ?expR_ge0//.
  apply: (normal_pair_grows normal (together_ge0 s) _ (expR_ge0 eps)); rewrite len; apply: ler_wpmul2r => //.
  by rewrite invr_ge0 ltW.
exact: h.
Qed.

Lemma t_density_standardised (a b scale : R) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (M : mechanism R X Y) (L : 'M[R]_n) (x0 : X) :
  0 < a -> 0 < b -> 0 < scale -> releases_values a b scale K mu place q M -> L \in unitmx -> K = L *m L^T ->
  exists2 g, 0 < g & adds_noise mu (fun y => place y *m invmx L^T) M (fun x => q x *m invmx L^T)
    (fun z => g * expR (- ((a + n%:R / 2) * ln (1 + (l2 z / scale) ^+ 2 / (2 * b))))).
Proof.
move=> a0 b0 scale0 values uL KL; have [g g0 noise] := values_noise b0 scale0 values x0.
have b2 : 0 < 2 * b by rewrite mulr_gt0.
exists (g * expR (- ((a + n%:R / 2) * ln (2 * b)))); first by rewrite mulr_gt0 ?expR_gt0.
have E y x : g * expR (- power_exponent (2 * b) (a + n%:R / 2) (distance K (place y - q x) / scale)) = g * expR (- ((a + n%:R / 2) * ln (2 * b))) *
    expR (- ((a + n%:R / 2) * ln (1 + (l2 (place y *m invmx L^T - q x *m invmx L^T) / scale) ^+ 2 / (2 * b)))).
  rewrite -mulrA -expRD -opprD -mulrDr -mulmxBl -(distance_standardised _ uL KL) /power_exponent.
  set r := _ / scale; have r1 : 0 < 1 + r ^+ 2 / (2 * b) by rewrite ltr_paddr// divr_ge0 ?sqr_ge0// ltW.
  by rewrite -lnM ?posrE// mulrDr mulr1 mulrCA mulfV ?mulr1// gt_eqF.
move=> x; have [h0 mh hE] := noise x; split=> [y||S mS].
- by rewrite -E.
- by under eq_fun do rewrite -E.
- by rewrite (hE S mS); apply: eq_integral => y _; rewrite (E y x).
Qed.

(* Rule: process-evaluations. *)
Theorem process_evaluations :
  [/\ forall m (S : 'M[R]_(m, n)) h, row_free S -> distance (S *m K *m S^T) (h *m S^T) <= distance K h,
      standardised_values -> forall x x' D eps d (Z : measurableType d) (M : mechanism R X Z), 0 <= D -> distance K (q x - q x') <= D ->
        image_of (mixture mixing1 mk x) (mixture mixing1 mk x') (M x) (M x') -> profile (expR eps) (M x) (M x') <= curve_mean law mixing dev D eps,
      forall D D' eps, 0 <= D -> D <= D' -> curve_mean law mixing dev D eps <= curve_mean law mixing dev D' eps,
      forall (a b scale : R) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (M : mechanism R X Y) (L : 'M[R]_n) (x0 : X),
        0 < a -> 0 < b -> 0 < scale -> releases_values a b scale K mu place q M -> L \in unitmx -> K = L *m L^T ->
        exists2 g, 0 < g & adds_noise mu (fun y => place y *m invmx L^T) M (fun x => q x *m invmx L^T)
          (fun z => g * expR (- ((a + n%:R / 2) * ln (1 + (l2 z / scale) ^+ 2 / (2 * b))))) &
      forall (a b scale t eps : R) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (M : mechanism R X Y) x x' x'', 0 < a -> 0 < b -> 0 < scale ->
        releases_values a b scale K mu place q M -> 1 <= t -> 0 <= eps -> q x'' - q x = t *: (q x' - q x) ->
        profile (expR eps) (M x) (M x') <= profile (expR eps) (M x) (M x'')].
Proof.
split=> [m S h free|values x x' D eps d Z M D0 near image|D D' eps D0 DD|a b scale mu place M L x0|].
- exact: distance_fewer.
- apply: le_trans (shown_variance eps values D0 near); apply: (profile_image _ _ (expR_ge0 eps) image); exact: law_total.
- exact: (curve_mean_grows normal mixing1 dev0 mdev).
- exact: t_density_standardised.
move=> a b scale t eps mu place M x x' x'' a0 b0 scale0 values t1 e0 further; have [g g0 noise] := values_noise b0 scale0 values x.
pose f r := g * expR (- power_exponent (2 * b) (a + n%:R / 2) (r / scale)).
have falls r s : 0 <= r -> r <= s -> f s <= f r.
  move=> r0 rs; rewrite ler_pmul2l// ler_expR ler_opp2 /power_exponent; apply: ler_wpmul2l; first by rewrite addr_ge0 ?divr_ge0// ltW.
  have p v : 0 < 2 * b + (v / scale) ^+ 2 by rewrite ltr_paddr ?sqr_ge0// mulr_gt0.
  have r1 : 0 <= r / scale by rewrite divr_ge0// ltW.
  have rs1 : r / scale <= s / scale by rewrite ler_pmul2r ?invr_gt0.
  by rewrite ler_ln ?posrE// ler_add2l ler_pexpn2r// nnegrE (le_trans r1).
have one : 1 <= expR eps by rewrite -[leLHS](@expR0 R) ler_expR.
have e1 : q x' = q x + (q x' - q x) by rewrite addrC subrK.
have e2 : q x'' = q x + t *: (q x' - q x) by rewrite -further addrC subrK.
have n1 := noise x'; have n2 := noise x''; rewrite e1 in n1; rewrite e2 in n2.
exact: (falling_grows (inverse_inner cov) (f := f) (law_total M x) (law_total M x') (law_total M x'') t1 one falls (noise x) n1 n2).
Qed.
End Rule.
