(* The mean of a product of several functions between bounds (docs/theory/selection.md, told words): it is the product of their means but for an error
   of second order in the lengths of the intervals that they are in, as the covariance of two of them is at most a quarter of the product of these. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels.

Section Means.
Context (R : realType) d (W : measurableType d) (nu : {measure set W -> \bar R}) (nu1 : nu setT = 1%E) (C : set W) (mC : measurable C).

(* Measurable, and bounded on C: the integral over C is a number. *)
Definition tame (f : W -> R) := measurable_fun setT f /\ exists b, forall w, C w -> `|f w| <= b.
Definition over (f : W -> R) : R := fine (\int[nu]_(w in C) (f w)%:E).
Definition weight : R := fine (nu C).

Lemma tame_cst c : tame (fun _ => c).
Proof. by split; [exact: measurable_fun_cst | exists `|c|]. Qed.

Lemma tameD f g : tame f -> tame g -> tame (fun w => f w + g w).
Proof.
move=> [mf [b fb]] [mg [c gc]]; split; first exact: measurable_funD.
by exists (b + c) => w Cw; apply: le_trans (ler_norm_add _ _) _; apply: ler_add; [exact: fb | exact: gc].
Qed.

Lemma tameM f g : tame f -> tame g -> tame (fun w => f w * g w).
Proof.
move=> [mf [b fb]] [mg [c gc]]; split; first exact: measurable_funM.
by exists (b * c) => w Cw; rewrite normrM; apply: ler_pmul => //; [exact: fb | exact: gc].
Qed.

Lemma tame_scale k f : tame f -> tame (fun w => k * f w).
Proof. by move=> tf; apply: (tameM (f := fun _ => k)) => //; exact: tame_cst. Qed.

Lemma weight_ge0 : 0 <= weight. Proof. exact: fine_ge0. Qed.
Lemma weightE : nu C = weight%:E. Proof. by rewrite fineK// mass_fin. Qed.

Lemma tame_integrable f : tame f -> nu.-integrable C (EFin \o f).
Proof.
move=> [mf [b fb]]; split; first by apply/EFin_measurable_fun; exact: measurable_funS mf.
apply: (@le_lt_trans _ _ (\int[nu]_(w in C) (cst (`|b|%:E) w))%E); last by rewrite integral_cst// weightE -EFinM ltry.
apply: ge0_le_integral => //.
- by apply: measurable_fun_comp => //; apply/EFin_measurable_fun; exact: measurable_funS mf.
- by move=> w _ /=; rewrite lee_fin.
- exact: measurable_fun_cst.
- by move=> w Cw /=; rewrite lee_fin; apply: le_trans (fb _ Cw) (ler_norm _).
Qed.

Lemma overE f : tame f -> (\int[nu]_(w in C) (f w)%:E = (over f)%:E)%E.
Proof. by move=> tf; rewrite /over fineK//; exact: integral_fune_fin_num (tame_integrable tf). Qed.

Lemma over_cst c : over (fun _ => c) = c * weight.
Proof. by rewrite /over (eq_integral (cst c%:E))// integral_cst// weightE -EFinM. Qed.

Lemma overD f g : tame f -> tame g -> over (fun w => f w + g w) = over f + over g.
Proof.
move=> tf tg; apply: EFin_inj; rewrite -overE; last exact: tameD.
by rewrite EFinD -!overE// -(integralD_EFin mC (tame_integrable tf) (tame_integrable tg)).
Qed.

Lemma over_scale k f : tame f -> over (fun w => k * f w) = k * over f.
Proof.
move=> tf; apply: EFin_inj; rewrite -overE; last exact: tame_scale.
by rewrite EFinM -overE// -(integralM mC (tame_integrable tf)).
Qed.

Lemma over_ge0 f : (forall w, C w -> 0 <= f w) -> 0 <= over f.
Proof. by move=> f0; apply: fine_ge0; apply: integral_ge0 => w Cw; rewrite lee_fin f0. Qed.

Lemma over_le f g : tame f -> tame g -> (forall w, C w -> f w <= g w) -> over f <= over g.
Proof.
move=> tf tg fg; rewrite -subr_ge0 -mulN1r -over_scale// -overD//; last exact: tame_scale.
by apply: over_ge0 => w Cw; rewrite mulN1r subr_ge0 fg.
Qed.

Lemma eq_over f g : (forall w, C w -> f w = g w) -> over f = over g.
Proof. by move=> fg; congr fine; apply: eq_integral => w /set_mem Cw; rewrite fg. Qed.

Lemma over_between f l u : tame f -> (forall w, C w -> l <= f w <= u) -> l * weight <= over f <= u * weight.
Proof. by move=> tf b; rewrite -!over_cst; apply/andP; split; apply: over_le => //; try exact: tame_cst; move=> w /b/andP[]. Qed.

(* Covariance, times the square of the weight. *)
Definition covariance f g := weight * over (fun w => f w * g w) - over f * over g.

Lemma covariance_ge0 f : tame f -> 0 <= covariance f f.
Proof.
move=> tf; have := weight_ge0; rewrite le_eqVlt => /orP[/eqP w0|w0].
  have [b fb] := tf.2; have z : over f = 0.
    have := over_between (l := - b) (u := b) tf; rewrite -w0 !mulr0 => h; apply/eqP; rewrite eq_le andbC; apply: h => w /fb; by rewrite ler_norml.
  by rewrite /covariance -w0 z !mul0r subrr.
have tff := tameM tf tf; have t2 := tameD (tame_scale (weight ^+ 2) tff) (tameD (tame_scale (- (2 * weight * over f)) tf) (tame_cst (over f ^+ 2))).
have : 0 <= over (fun w => weight ^+ 2 * (f w * f w) + (- (2 * weight * over f) * f w + over f ^+ 2)).
  apply: over_ge0 => w _; rewrite (_ : _ + _ = (weight * f w - over f) ^+ 2); [exact: sqr_ge0 | rewrite !expr2; lra].
rewrite overD ?over_scale ?overD ?over_scale ?over_cst//; try exact: tame_scale; try exact: tame_cst; last first.
  by apply: tameD; [exact: tame_scale | exact: tame_cst].
rewrite /covariance !expr2 in t2 * => h; have : 0 <= weight * (weight * over (fun w => f w * f w) - over f * over f) by lra.
by rewrite pmulr_rge0.
Qed.

Lemma covariance_square f a r : tame f -> (forall w, C w -> a <= f w <= a + r) -> covariance f f <= weight ^+ 2 * (r ^+ 2 / 4).
Proof.
move=> tf b; have tff := tameM tf tf.
have t2 := tameD (tame_scale (2 * a + r) tf) (tame_cst (- (a * (a + r)))).
have : over (fun w => f w * f w) <= over (fun w => (2 * a + r) * f w + - (a * (a + r))).
  by apply: over_le => // w /b/andP[h1 h2]; rewrite -subr_ge0 (_ : _ - _ = (f w - a) * (a + r - f w)); [apply: mulr_ge0; lra | lra].
rewrite overD ?over_scale ?over_cst//; try exact: tame_scale; try exact: tame_cst.
move=> /(ler_wpmul2l weight_ge0) h; rewrite /covariance.
have := sqr_ge0 (over f - weight * (a + r / 2)); rewrite !expr2; lra.
Qed.

Lemma covariance_most f g a r b s : tame f -> tame g -> (forall w, C w -> a <= f w <= a + r) -> (forall w, C w -> b <= g w <= b + s) ->
  0 <= r -> 0 <= s -> covariance f g <= weight ^+ 2 * (r * s / 4).
Proof.
move=> tf tg fb gb; rewrite le_eqVlt => /orP[/eqP zr s0|r0].
  have fE w : C w -> f w = a by move=> /fb; rewrite -zr addr0 -eq_le eq_sym => /eqP.
  rewrite -zr !mul0r mulr0 /covariance (eq_over (g := fun w => a * g w)); last by move=> w /fE->.
  rewrite over_scale// (eq_over (g := fun _ => a) fE) over_cst; lra.
rewrite le_eqVlt => /orP[/eqP zs|s0].
  have gE w : C w -> g w = b by move=> /gb; rewrite -zs addr0 -eq_le eq_sym => /eqP.
  rewrite -zs mulr0 mul0r mulr0 /covariance (eq_over (g := fun w => b * f w)); last by move=> w /gE->; rewrite mulrC.
  rewrite over_scale// (eq_over (g := fun _ => b) gE) over_cst; lra.
have tsf := tame_scale s tf; have trg := tame_scale (- r) tg; have := covariance_ge0 (tameD tsf trg); have tff := tameM tf tf; have tgg := tameM tg tg.
have tfg := tameM tf tg; have := covariance_square tf fb; have := covariance_square tg gb; rewrite /covariance.
have -> : over (fun w => (s * f w + - r * g w) * (s * f w + - r * g w)) =
    s ^+ 2 * over (fun w => f w * f w) + (- (2 * r * s) * over (fun w => f w * g w) + r ^+ 2 * over (fun w => g w * g w)).
  rewrite -!over_scale// -overD//; try exact: tame_scale.
  rewrite -overD//; try exact: tame_scale; last by apply: tameD; exact: tame_scale.
  by apply: eq_over => w _; rewrite !expr2; lra.
rewrite overD// !over_scale//.
set F := over (fun w => f w * f w); set G := over (fun w => g w * g w); set H := over (fun w => f w * g w).
move=> /(ler_wpmul2l (sqr_ge0 r)) hG /(ler_wpmul2l (sqr_ge0 s)) hF h0.
have rs : 0 < r * s by exact: mulr_gt0.
rewrite -(ler_pmul2l rs); move: hG hF h0; rewrite !expr2; lra.
Qed.

Lemma covariance_bound f g a r b s : tame f -> tame g -> (forall w, C w -> a <= f w <= a + r) -> (forall w, C w -> b <= g w <= b + s) ->
  0 <= r -> 0 <= s -> `|covariance f g| <= weight ^+ 2 * (r * s / 4).
Proof.
move=> tf tg fb gb r0 s0; rewrite ler_norml; apply/andP; split; last exact: covariance_most fb gb r0 s0.
have tg' := tame_scale (- 1) tg; have := covariance_most (g := fun w => - 1 * g w) (b := - (b + s)) tf tg' fb _ r0 s0.
rewrite ler_oppl => h; apply: le_trans (h _); last by move=> w /gb/andP[h1 h2]; apply/andP; split; lra.
rewrite /covariance over_scale// (eq_over (f := fun w => f w * (- 1 * g w)) (g := fun w => - 1 * (f w * g w))); last by move=> w _; lra.
by rewrite over_scale; [lra | exact: tameM].
Qed.
End Means.

(* Factors, each with the least and the most that it is, and its mean. The products of all least and of all most; the product of the means; the sum
   over one factor of its length times the other means; and what of the product of means and lengths is beside these. *)
Section Products.
Context (R : realType).
Record together := Together { lowest : R; highest : R; means : R; once : R; more : R }.
Fixpoint joined (s : seq (R * R * R)) : together :=
  if s is (least, most, mean) :: rest then
    let t := joined rest in let spread := most - least in
    Together (lowest t * least) (highest t * most) (means t * mean) (once t * mean + means t * spread) (more t * (mean + spread) + once t * spread)
  else Together 1 1 1 0 0.
Definition product_low (s : seq (R * R * R)) : R := let t := joined s in Num.max (lowest t) (means t - more t / 4).
Definition product_high (s : seq (R * R * R)) : R := let t := joined s in Num.min (highest t) (means t + more t / 4).

(* They are at least 0, also where nothing is known of the mean but that it is between the bounds. *)
Lemma joined_ge0 (I : Type) (least most mean : I -> R) s : (forall i, 0 <= least i) -> (forall i, least i <= mean i <= most i) ->
  let t := joined [seq (least i, most i, mean i) | i <- s] in [/\ 0 <= lowest t, 0 <= highest t, 0 <= means t, 0 <= once t & 0 <= more t].
Proof.
move=> l0 b; elim: s => [|i s [h1 h2 h3 h4 h5]] /=; first by rewrite !ler01 lexx.
have /andP[b1 b2] := b i; have m0 := le_trans (l0 i) b1; have u0 := le_trans m0 b2.
have s0 : 0 <= most i - least i by rewrite subr_ge0; exact: le_trans b1 b2.
have ms := addr_ge0 m0 s0; by split; rewrite ?mulr_ge0 ?addr_ge0 ?mulr_ge0.
Qed.

Lemma product_ge0 (I : Type) (least most mean : I -> R) s : (forall i, 0 <= least i) -> (forall i, least i <= mean i <= most i) ->
  0 <= product_low [seq (least i, most i, mean i) | i <- s] /\ 0 <= product_high [seq (least i, most i, mean i) | i <- s].
Proof.
move=> l0 b; have [h1 h2 h3 h4 h5] := joined_ge0 s l0 b; rewrite /product_low /product_high le_maxr le_minr h1 h2 /=; split=> //.
by rewrite addr_ge0 ?divr_ge0 ?ler0n.
Qed.

Context d (W : measurableType d) (nu : {measure set W -> \bar R}) (nu1 : nu setT = 1%E) (C : set W) (mC : measurable C).
Context (I : Type) (X : I -> W -> R) (least most mean : I -> R).
Notation over := (over nu C). Notation weight := (weight nu C). Notation tame := (tame C).
Hypothesis wide : 0 < weight.
Hypotheses (tX : forall i, tame (X i)) (least0 : forall i, 0 <= least i) (inside : forall i w, C w -> least i <= X i w <= most i).
Hypothesis meanE : forall i, over (X i) = mean i * weight.

Lemma mean_inside i : least i <= mean i <= most i.
Proof. by have := over_between nu1 mC (tX i) (inside i); rewrite meanE !ler_pmul2r. Qed.

Notation factors s := [seq (least i, most i, mean i) | i <- s].
Definition prod_of (s : seq I) (w : W) : R := foldr (fun i p => p * X i w) 1 s.

Lemma tame_prod s : tame (prod_of s).
Proof. elim: s => [|i s IH]; [exact: tame_cst | exact: (tameM IH (tX i))]. Qed.

Lemma joined_bounds s (t := joined (factors s)) :
  [/\ 0 <= lowest t <= means t, 0 <= once t, 0 <= more t, highest t - lowest t <= once t + more t & forall w, C w -> lowest t <= prod_of s w <= highest t].
Proof.
rewrite /t {t}; elim: s => [|i s [/andP[l0 lm] o0 r0 dT h]] /=.
  by rewrite subrr addr0; split=> //; rewrite ?ler01 lexx.
have /andP[m1 m2] := mean_inside i; have := least0 i => i0; set T := joined _ in l0 lm o0 r0 dT h *.
have m0 : 0 <= mean i by exact: le_trans m1.
have s0 : 0 <= most i - least i by rewrite subr_ge0; exact: le_trans m1 m2.
have M0 := le_trans l0 lm.
split=> [| | | |w Cw].
- by rewrite mulr_ge0//= ler_pmul.
- by rewrite addr_ge0// mulr_ge0.
- by rewrite addr_ge0// mulr_ge0// addr_ge0.
- have a1 : 0 <= (once T + more T - (highest T - lowest T)) * most i by apply: mulr_ge0; lra.
  have a2 : 0 <= (once T + more T) * (mean i - least i) by apply: mulr_ge0; lra.
  have a3 : 0 <= (means T - lowest T) * (most i - least i) by apply: mulr_ge0; lra.
  lra.
- have /andP[p1 p2] := h w Cw; have /andP[x1 x2] := inside i Cw.
  by apply/andP; split; apply: ler_pmul => //; [exact: le_trans p1 | exact: le_trans x1].
Qed.

Lemma joined_mean s (t := joined (factors s)) : `|over (prod_of s) - weight * means t| <= weight * (more t / 4).
Proof.
rewrite /t {t}; elim: s => [|i s] /=.
  by rewrite over_cst// mulr1 mul1r subrr normr0 mul0r mulr0.
have := joined_bounds s; set T := joined _ => -[/andP[l0 lm] o0 r0 dT h] IH.
have /andP[m1 m2] := mean_inside i; have i0 := least0 i.
have M0 := le_trans l0 lm; have m0 := le_trans i0 m1; have s0 : 0 <= most i - least i by rewrite subr_ge0; exact: le_trans m1 m2.
have d0 : 0 <= highest T - lowest T.
  rewrite subr_ge0; have [w Cw] : exists w, C w.
    apply: contrapT => no; move: wide; rewrite /weight (_ : C = set0) ?measure0 ?ltxx//; apply/seteqP; split=> // w Cw; by apply: no; exists w.
  by have /andP[p1 p2] := h w Cw; exact: le_trans p2.
have cov := covariance_bound nu1 mC (f := prod_of s) (g := X i) (a := lowest T) (r := highest T - lowest T) (b := least i) (s := most i - least i)
  (tame_prod s) (tX i).
have {cov} : `|covariance nu C (prod_of s) (X i)| <= weight ^+ 2 * ((highest T - lowest T) * (most i - least i) / 4).
  by apply: cov => // w Cw; rewrite [_ + (_ - _)]addrC subrK; [exact: h | exact: inside].
rewrite /covariance meanE !ler_norml; move: IH; rewrite ler_norml.
set E := over (prod_of s); set E' := over (fun w => prod_of s w * X i w) => /andP[e1 e2] /andP[c1 c2].
have q : 0 <= (once T + more T - (highest T - lowest T)) * (most i - least i) by apply: mulr_ge0 => //; rewrite subr_ge0.
have q' : 0 <= weight ^+ 2 * ((once T + more T - (highest T - lowest T)) * (most i - least i)) by apply: mulr_ge0 => //; exact: sqr_ge0.
have e1' : 0 <= (E - weight * means T + weight * (more T / 4)) * (mean i * weight) by apply: mulr_ge0; [lra | exact: mulr_ge0 (ltW _)].
have e2' : 0 <= (weight * (more T / 4) - (E - weight * means T)) * (mean i * weight) by apply: mulr_ge0; [lra | exact: mulr_ge0 (ltW _)].
apply/andP; split; rewrite -(ler_pmul2l wide); move: q' e1' e2' c1 c2; rewrite !expr2; lra.
Qed.

Theorem mean_of_product s : product_low (factors s) * weight <= over (prod_of s) <= product_high (factors s) * weight.
Proof.
have [_ _ _ _ h] := joined_bounds s; have := joined_mean s; rewrite /= ler_norml => /andP[e1 e2].
have /andP[b1 b2] := over_between nu1 mC (tame_prod s) h; rewrite /product_low /product_high; apply/andP; split.
- by rewrite maxEle; case: ifP => _ //; lra.
- by rewrite minEle; case: ifP => _ //; lra.
Qed.

End Products.
