(* The Renyi divergence of Laplace noise (docs/theory/composition.md: privacy measures, (4)): the mean of e^((a - 1) loss) is the sum of three
   integrals of exponentials, of which the one between the two answers is an integral of the same density on a line that is stretched. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood powers means renyi finite_measures laplace_curve.
Import numFieldNormedType.Exports.

Section Stretched.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Variables (v k : R).
Hypothesis k0 : 0 < k.
Let phi (y : R) := v + k * (y - v).

Lemma measurable_stretch : measurable_fun setT phi.
Proof.
apply: measurable_funD; first exact: measurable_fun_cst.
by apply: measurable_funrM; apply: measurable_funB; [exact: measurable_fun_id | exact: measurable_fun_cst].
Qed.

Lemma lebesgue_stretched (S : set R) : measurable S -> leb S = (k%:E * leb (phi @^-1` S))%E.
Proof.
move=> mS.
pose L : measurableType (R.-ocitv.-measurable).-sigma := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
have mphi' : @measurable_fun _ _ L L setT phi by exact: measurable_stretch.
pose m : {measure set L -> \bar R} := [the measure _ _ of @lebesgue_measure R].
pose nu : {measure set L -> \bar R} := [the measure _ _ of mscale (NngNum (ltW k0)) [the measure _ _ of pushforward m mphi']].
have -> : (k%:E * leb (phi @^-1` S))%E = nu S by [].
apply: (@lebesgue_measure_unique R nu) => // X [[a b] _ <-] /=.
rewrite /nu/= /mscale/= /pushforward /m/=.
have -> : phi @^-1` `]a, b]%classic = `]v + (a - v) / k, v + (b - v) / k]%classic.
  have lt c y : (c < v + k * (y - v)) = (v + (c - v) / k < y) by rewrite -ltr_subl_addl -ltr_pdivr_mull// -[RHS]ltr_subr_addl [k^-1 * _]mulrC.
  by apply/seteqP; split=> y /=; rewrite !in_itv/= /phi lt !leNgt lt.
rewrite !lebesgue_measure_itv !hlength_itv/= !lte_fin ltr_add2l ltr_pmul2r ?invr_gt0// ltr_add2r.
case: ifP => _; last by rewrite mule0.
rewrite -!EFinB -EFinM; congr EFin.
have -> : v + (b - v) / k - (v + (a - v) / k) = (b - a) / k by lra.
by rewrite mulrC divfK// gt_eqF.
Qed.

Lemma integral_stretched (f : R -> R) (S : set R) : measurable_fun setT f -> (forall y, 0 <= f y) -> measurable S ->
  (\int[leb]_(y in S) (f y)%:E = k%:E * \int[leb]_(y in phi @^-1` S) (f (phi y))%:E)%E.
Proof.
pose L : measurableType (R.-ocitv.-measurable).-sigma := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
move=> mf f0 mS; rewrite integral_mkcond [in RHS]integral_mkcond.
have mphi' : @measurable_fun _ _ L L setT phi by exact: measurable_stretch.
have mS' : @measurable _ L S by exact: mS.
have mf' : @measurable_fun _ _ L _ setT (EFin \o f) by apply/EFin_measurable_fun; exact: mf.
pose m : {measure set L -> \bar R} := [the measure _ _ of @lebesgue_measure R].
have mr : @measurable_fun _ _ L _ setT ((EFin \o f) \_ S) by apply/(measurable_restrict _ mS' measurableT (@subsetT _ S)); exact: measurable_funTS.
have r0 (y : R) : (0 <= ((EFin \o f) \_ S) y)%E by rewrite /patch; case: ifP => // _; rewrite lee_fin.
transitivity (\int[mscale (NngNum (ltW k0)) [the measure _ _ of pushforward m mphi']]_y ((EFin \o f) \_ S) y)%E.
  by apply: eq_measure_integral => A mA _; exact: (lebesgue_stretched mA).
rewrite ge0_integral_mscale//; congr (_ * _)%E; exact: integral_pushforward.
Qed.
End Stretched.

Section Line.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (b c : R).
Notation leb := (@lebesgue_measure R).
Hypotheses (b0 : 0 < b) (c0 : 0 < c) (total : forall v, law v setT = 1%E).
Hypothesis dens : forall v, has_density leb (law v) (fun y => c * expR (- (`|y - v| / b))).
Variables (v t a : R) (t0 : 0 <= t) (a1 : 1 < a).
Let w := v + t * b.
Let k := 2 * a - 1.
Let f (y : R) := c * expR (- (`|y - v| / b)).

Let f0 y : 0 <= f y. Proof. by rewrite mulr_ge0 ?expR_ge0// ltW. Qed.
Let mf : measurable_fun setT f. Proof. by have [] := dens v. Qed.
Let k0 : 0 < k. Proof. rewrite /k; lra. Qed.
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Lemma tail_mass (u : R) : 0 <= u -> law v `[v + u, +oo[%classic = (expR (- (u / b)) / 2)%:E.
Proof.
move=> u0; rewrite -(fineK (mass_fin (total v) (mI `[v + u, +oo[))) (right_tail b0 (ltW c0) (total v) (dens v) u0).
by rewrite (half b0 (ltW c0) (total v) (dens v)) mul1r.
Qed.

Lemma left_mass : law v `]-oo, v[%classic = (1 / 2)%:E.
Proof.
have -> : `]-oo, v[%classic = ~` `[v, +oo[%classic :> set R.
  by apply/seteqP; split=> y /=; rewrite !in_itv/= andbT => h; [apply/negP; rewrite -ltNge | move/negP: h; rewrite -ltNge].
have h := tail_mass (lexx 0); rewrite addr0 mul0r oppr0 expR0 in h.
have F := mass_fin (total v) (mI `[v, +oo[); rewrite -setTD measureD//; last by rewrite total ltry.
by rewrite setTI total h -EFinB; congr EFin; lra.
Qed.

Lemma between_mass (u : R) : 0 <= u -> law v `[v, v + u[%classic = (1 / 2 - expR (- (u / b)) / 2)%:E.
Proof.
move=> u0; have -> : `[v, v + u[%classic = `[v, +oo[%classic `\` `[v + u, +oo[%classic :> set R.
  apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT.
  - by move=> /andP[h1 h2]; split=> //; apply/negP; rewrite -ltNge.
  - by move=> [h1 /negP]; rewrite -ltNge h1 => ->.
have h := tail_mass (lexx 0); rewrite addr0 mul0r oppr0 expR0 in h.
rewrite (measureD (mI `[v, +oo[) (mI `[v + u, +oo[)); last by rewrite h ltry.
rewrite (_ : `[v, +oo[%classic `&` `[v + u, +oo[%classic = `[v + u, +oo[%classic); last first.
  by apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT; [case | move=> hy; split=> //; lra].
by rewrite h tail_mass// -EFinB.
Qed.

(* Between the two answers the loss falls from t to - t. *)
Lemma middle_integral : (\int[leb]_(y in `[v, w[%classic) (c * expR (- (k * `|y - v| / b)))%:E = ((1 / 2 - expR (- (k * t)) / 2) / k)%:E)%E.
Proof.
have kt : 0 <= k * t * b by rewrite !mulr_ge0// ltW.
have := integral_stretched v k0 mf f0 (mI `[v, v + k * t * b[).
have -> : (fun y : R => v + k * (y - v)) @^-1` `[v, v + k * t * b[%classic = `[v, w[%classic.
  apply/seteqP; split=> y /=; rewrite !in_itv/= /w ler_addl pmulr_rge0// subr_ge0 ltr_add2l -mulrA ltr_pmul2l// ltr_subl_addl; exact.
have [_ _ Pe] := dens v; rewrite -(Pe _ (mI `[v, v + k * t * b[)) between_mass// mulfK ?gt_eqF// => e.
have -> : (\int[leb]_(y in `[v, w[%classic) (c * expR (- (k * `|y - v| / b)))%:E = \int[leb]_(y in `[v, w[%classic) (f (v + k * (y - v)))%:E)%E.
  by apply: eq_integral => y _; congr EFin; rewrite /f addrAC subrr add0r normrM (gtr0_norm k0).
have mg : measurable_fun setT (fun y : R => f (v + k * (y - v))) by apply: measurable_fun_comp mf (measurable_stretch v k).
move: e; set I := (\int[leb]_(y in _) _)%E => e.
have I0 : (0 <= I)%E by apply: integral_ge0 => y _; rewrite lee_fin.
have If : I \is a fin_num.
  rewrite ge0_fin_numE// ltey; apply/eqP => Io; move: e; rewrite Io gt0_muley ?lte_fin//.
rewrite -(fineK If) -EFinM in e; rewrite -(fineK If); congr EFin; apply: (mulIf (lt0r_neq0 k0)).
by rewrite divfK ?gt_eqF// mulrC; apply: EFin_inj; rewrite -e.
Qed.

Let u (y : R) := c * expR (- (`|y - w| / b)).
Let g (y : R) := f y * expR ((a - 1) * ((`|y - w| - `|y - v|) / b)).

Lemma laplace_loss y : loss_power f u a y = (expR ((a - 1) * ((`|y - w| - `|y - v|) / b)))%:E.
Proof.
rewrite /loss_power !gt_eqF ?mulr_gt0 ?expR_gt0//; congr (expR _)%:E.
rewrite /f /u !lnM ?posrE ?expR_gt0// !expK; lra.
Qed.

Lemma measurable_laplace_loss : measurable_fun setT (loss_power f u a).
Proof.
have Dv := dens v; have Dw := dens w.
apply: (emeasurable_fun_cvg (fun n y => (capped_power f u a n y)%:E)) => [n|y _]; last exact: (capped_power_limit Dv Dw).
have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
have a0 : 0 < a - 1 by rewrite subr_gt0.
have [mr _] := test_pow a0 (test_capped Dv Dw n0).
rewrite (_ : (fun y => _) = (fun y => (pow (a - 1) n.+1%:R * pow (a - 1) (capped f u n.+1%:R y))%:E)).
  by apply/EFin_measurable_fun; exact: measurable_funrM.
by apply/funext => y; rewrite /capped_power powM ?(ltW n0)//; case/andP: (capped01 Dv Dw y n0).
Qed.

(* e^((a - 1) D_a). *)
Definition laplace_power : R := a / k * expR ((a - 1) * t) + (a - 1) / k * expR (- (a * t)).

Lemma laplace_moment : moment (law v) f u a = laplace_power%:E.
Proof.
have Dv := dens v; have [_ _ Pe] := Dv; have ml := measurable_laplace_loss.
rewrite /moment (integral_density Dv ml); last by move=> y; exact: loss_power_ge0.
transitivity (\int[leb]_y (g y)%:E)%E; first by apply: eq_integral => y _; rewrite laplace_loss -EFinM.
have mg : measurable_fun setT (fun y => (g y)%:E).
  rewrite (_ : (fun y => _) = (fun y => (f y)%:E * loss_power f u a y)%E); last by apply/funext => y; rewrite laplace_loss -EFinM.
  by apply: emeasurable_funM => //; exact/EFin_measurable_fun.
have g0 y : (0 <= (g y)%:E)%E by rewrite lee_fin mulr_ge0 ?expR_ge0.
have tb : 0 <= t * b by rewrite mulr_ge0// ltW.
have vw : v <= w by rewrite /w ler_addl.
have wv : w - v = t * b by rewrite /w addrC addKr.
have bt : t * b / b = t by rewrite mulfK// gt_eqF.
have -> : [set: R] = `]-oo, v[%classic `|` (`[v, w[%classic `|` `[w, +oo[%classic).
  apply/seteqP; split=> // y _ /=; rewrite !in_itv/= !andbT.
  by case: (ltP y v) => h; [left | right; case: (ltP y w) => h'; [left | right]].
have mBC : @measurable _ (line R) (`[v, w[%classic `|` `[w, +oo[%classic) by apply: measurableU; exact: mI.
rewrite (integral_setU leb (mI `]-oo, v[) mBC); last 3 first.
- exact: measurable_funTS.
- by move=> y _; exact: g0.
- apply/disj_set2P/seteqP; split=> // y /=; rewrite !in_itv/= !andbT => -[h [/andP[h1 _]|h1]]; lra.
rewrite (integral_setU leb (mI `[v, w[) (mI `[w, +oo[)); last 3 first.
- exact: measurable_funTS.
- by move=> y _; exact: g0.
- apply/disj_set2P/seteqP; split=> // y /=; rewrite !in_itv/= !andbT => -[/andP[_ h] h1]; lra.
have E0 (s : R) : 0 <= expR s by exact: expR_ge0.
have -> : (\int[leb]_(y in `]-oo, v[%classic) (g y)%:E = (expR ((a - 1) * t) * (1 / 2))%:E)%E.
  rewrite EFinM -left_mass (Pe _ (mI `]-oo, v[)) -(integral_scaled leb (E0 _) f0 mf (mI `]-oo, v[)).
  apply: eq_integral => y; rewrite inE/= in_itv/= => yv; congr EFin; rewrite /g mulrC; congr (expR (_ * _) * _).
  have e1 : `|y - v| = v - y by rewrite distrC ger0_norm; lra.
  have e2 : `|y - w| = w - y by rewrite distrC ger0_norm; lra.
  by rewrite e1 e2 -[RHS]bt -wv; congr (_ / _); lra.
have -> : (\int[leb]_(y in `[v, w[%classic) (g y)%:E = (expR ((a - 1) * t) * ((1 / 2 - expR (- (k * t)) / 2) / k))%:E)%E.
  have hE (y : R) : c * expR (- (k * `|y - v| / b)) = f (v + k * (y - v)) by rewrite /f addrAC subrr add0r normrM (gtr0_norm k0).
  have mh : measurable_fun setT (fun y : R => c * expR (- (k * `|y - v| / b))).
    rewrite (_ : (fun y : R => _) = (fun y : R => f (v + k * (y - v)))); last by apply/funext => y; exact: hE.
    by apply: measurable_fun_comp mf (measurable_stretch v k).
  have h0 (y : R) : 0 <= c * expR (- (k * `|y - v| / b)) by rewrite hE.
  rewrite EFinM -middle_integral -(integral_scaled leb (E0 _) h0 mh (mI `[v, w[)).
  apply: eq_integral => y; rewrite inE/= in_itv/= => /andP[h1 h2]; congr EFin.
  have e1 : `|y - v| = y - v by rewrite ger0_norm; lra.
  have e2 : `|y - w| = w - y by rewrite distrC ger0_norm; lra.
  rewrite /g /f e1 e2 -[LHS]mulrA -expRD [RHS]mulrCA -expRD; congr (c * expR _).
  have -> : (w - y - (y - v)) / b = t - 2 * ((y - v) / b) by have := bt; rewrite -wv; lra.
  rewrite /k; lra.
have -> : (\int[leb]_(y in `[w, +oo[%classic) (g y)%:E = (expR (- ((a - 1) * t)) * (expR (- t) / 2))%:E)%E.
  rewrite EFinM -[X in expR (- X) / 2]bt -(tail_mass tb) -/w (Pe _ (mI `[w, +oo[)) -(integral_scaled leb (E0 _) f0 mf (mI `[w, +oo[)).
  apply: eq_integral => y; rewrite inE/= in_itv/= andbT => wy; congr EFin; rewrite /g mulrC; congr (expR _ * _).
  have e1 : `|y - v| = y - v by rewrite ger0_norm; lra.
  have e2 : `|y - w| = y - w by rewrite ger0_norm; lra.
  by rewrite e1 e2 -mulrN; congr (_ * _); have := bt; rewrite -wv; lra.
rewrite -!EFinD; congr EFin; rewrite /laplace_power.
have i : k * k^-1 = 1 by rewrite divff// gt_eqF.
have x1 : expR ((a - 1) * t) * expR (- (k * t)) = expR (- (a * t)) by rewrite -expRD; congr expR; rewrite /k; lra.
have x2 : expR (- ((a - 1) * t)) * expR (- t) = expR (- (a * t)) by rewrite -expRD; congr expR; lra.
set A := expR ((a - 1) * t) in x1 *; set B := expR (- (a * t)) in x1 x2 *.
have -> : A * ((1 / 2 - expR (- (k * t)) / 2) / k) = A / 2 / k - (A * expR (- (k * t))) / 2 / k by lra.
have -> : expR (- ((a - 1) * t)) * (expR (- t) / 2) = expR (- ((a - 1) * t)) * expR (- t) / 2 by lra.
rewrite x1 x2; apply: (mulIf (lt0r_neq0 k0)); move: i; rewrite /k; set j := (2 * a - 1)^-1 => i.
have iA : (2 * a - 1) * j * A = A by rewrite i mul1r.
have iB : (2 * a - 1) * j * B = B by rewrite i mul1r.
have iaA : (2 * a - 1) * j * A * a = A * a by rewrite i mul1r.
have iaB : (2 * a - 1) * j * B * a = B * a by rewrite i mul1r.
lra.
Qed.

(* The divergence of Laplace noise on two answers t scales apart. *)
Theorem laplace_line_renyi s : renyi a s (law v) (law w) <-> laplace_power <= expR ((a - 1) * s).
Proof. by rewrite (renyi_densities (total v) (total w) (dens v) (dens w) s a1) laplace_moment lee_fin. Qed.
End Line.
