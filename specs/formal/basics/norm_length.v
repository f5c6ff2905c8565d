(* The length of noise (docs/theory/utility.md: noise moments, far noise): where the outputs of length at most r have a measure that is a power of
   r, as balls of a norm on R^d have, the length of noise whose density is a function f of the length has itself the density r^(p - 1) f(r), up to
   a factor. No polar coordinates are needed: a measure on the line is what it gives to all ]-oo, r]. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels likelihood powers laplace_curve scale_integrals power_integrals.
Import numFieldNormedType.Exports.

(* The outputs of length at most r > 0 have the measure K r^p. *)
Definition balls_are_powers (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (length : Y -> R) (K p : R) :=
  forall r, 0 < r -> mu [set y | length y <= r] = (K * pw p r)%:E.

(* The integral of s^(p - 1) f(s) over s > t, and the part of it that is beyond t. *)
Definition power_tail (R : realType) (p : R) (f : R -> R) (t : R) : \bar R :=
  (\int[@lebesgue_measure R]_(s in `]t, +oo[%classic) (pw (p - 1) s * f s)%:E)%E.
Definition tail_part (R : realType) (p : R) (f : R -> R) (t : R) : R := fine (power_tail p f t) / fine (power_tail p f 0).

(* Q(p, t): a gamma law of the shape p is above t with this probability. *)
Definition gamma_tail (R : realType) (p t : R) : R := tail_part p (fun s => expR (- s)) t.

Section Length.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (length : Y -> R) (K p : R).
Notation leb := (@lebesgue_measure R).
Hypotheses (ml : measurable_fun setT length) (p0 : 0 < p) (K0 : 0 <= K) (balls : balls_are_powers mu length K p).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Let mball r : measurable [set y | length y <= r].
Proof.
rewrite (_ : [set y | _] = setT `&` length @^-1` `]-oo, r]%classic); first by apply: ml => //; exact: measurable_itv.
by rewrite setTI; apply/seteqP; split=> y /=; rewrite in_itv.
Qed.

(* What has no length has no measure. *)
Lemma no_length r : r <= 0 -> mu [set y | length y <= r] = 0%E.
Proof.
move=> r0; apply/eqP; rewrite eq_le measure_ge0 andbT; apply: lee_adde => e'; have e0 := [gt0 of e'%:num]; rewrite add0e; set e := e'%:num in e0 *.
pose b := pw (1 / p) (e / (K + 1)); have b0 : 0 < b by exact: pw_gt0.
have K1 : 0 < K + 1 by lra.
apply: (@le_trans _ _ (mu [set y | length y <= b])).
  apply: le_measure; rewrite ?inE; [exact: mball | exact: mball |] => y /= h.
  by apply: le_trans h _; apply: le_trans r0 _; exact: ltW.
have p1 : p != 0 by rewrite gt_eqF.
have bE : pw p b = e / (K + 1) by apply: pwK => //; exact: divr_gt0.
rewrite (balls b0) lee_fin bE mulrCA ger_pmulr// ler_pdivr_mulr// mul1r; lra.
Qed.

Definition length_density (s : R) : R := (K * p * pw (p - 1) s) * \1_`]0%R, +oo[%classic s.

Lemma measurable_length_density : measurable_fun setT length_density.
Proof.
apply: measurable_funM; last by apply: measurable_fun_indic; exact: measurable_itv.
by apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_pw].
Qed.

Lemma length_density_ge0 s : 0 <= length_density s.
Proof. by rewrite /length_density indicE !mulr_ge0 ?ler0n// ltW// pw_gt0. Qed.

Let line_ml : @measurable_fun _ _ Y (line R) setT length. Proof. exact: ml. Qed.

(* The image of the measure under the length. *)
Definition lengths : {measure set (line R) -> \bar R} := [the measure _ _ of pushforward mu line_ml].

Lemma integral_length_density x : (\int[leb]_(s in `]-oo, x]%classic) (length_density s)%:E)%E = lengths `]-oo, x]%classic.
Proof.
rewrite /lengths/= /pushforward (_ : length @^-1` _ = [set y | length y <= x]); last by apply/seteqP; split=> y /=; rewrite in_itv.
under eq_integral do rewrite /length_density EFinM.
rewrite -(integral_setI_indic leb (mI `]0, +oo[) _ (mI `]-oo, x])).
have [x0|x0] := leP x 0.
  rewrite no_length// (_ : _ `&` _ = set0) ?integral_set0//; apply/seteqP; split=> s //=; rewrite !in_itv/= andbT => -[h1 h2].
  by have := lt_le_trans h2 h1; rewrite ltNge x0.
rewrite balls// (_ : _ `&` _ = `]0, x]%classic); last first.
  by apply/seteqP; split=> s /=; rewrite !in_itv/= andbT; [case=> -> -> | move=> /andP[-> ->]].
have k0 : 0 <= K * p by rewrite mulr_ge0// ltW.
rewrite (integral_scaled leb k0 (fun s => ltW (pw_gt0 (p - 1) s)) (@measurable_pw R (p - 1)) (mI `]0, x])).
have e : pw p x / p * p = pw p x by rewrite divfK// gt_eqF.
by rewrite integral_power_from0// -EFinM -mulrA [p * _]mulrC e.
Qed.

Theorem lengths_density : has_density leb lengths length_density.
Proof.
split; [exact: length_density_ge0 | exact: measurable_length_density |] => S mS.
have md := measurable_length_density.
transitivity (weighted leb md length_density_ge0 S); last by [].
apply/esym; apply: (@same_distribution _ [the measure _ _ of weighted leb md length_density_ge0]) => // x.
  exact: integral_length_density.
rewrite /= /weighted integral_length_density /lengths/= /pushforward.
rewrite (_ : length @^-1` _ = [set y | length y <= x]); last by apply/seteqP; split=> y /=; rewrite in_itv.
by have [x0|x0] := leP x 0; [rewrite no_length// ltry | rewrite balls// ltry].
Qed.

(* A function of the length is integrated over its values. *)
Theorem integral_length (f : R -> R) (A : set R) : measurable_fun setT f -> (forall s, 0 <= f s) -> measurable A ->
  (\int[mu]_(y in length @^-1` A) (f (length y))%:E = (K * p)%:E * \int[leb]_(s in A `&` `]0%R, +oo[%classic) (pw (p - 1) s * f s)%:E)%E.
Proof.
move=> mf f0 mA; have mA' : @measurable _ (line R) A by exact: mA.
pose F (s : line R) : \bar R := (f s * \1_A s)%:E.
have mF : @measurable_fun _ _ (line R) _ setT F.
  by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_indic.
have F0 s : (0 <= F s)%E by rewrite lee_fin mulr_ge0// indicE ler0n.
have mlA : measurable (length @^-1` A) by rewrite -[X in measurable X]setTI; exact: line_ml.
transitivity (\int[lengths]_s F s)%E.
  rewrite /lengths integral_pushforward// -[X in integral _ X]setTI integral_setI_indic//.
rewrite (integral_density lengths_density mF F0).
have mAB : @measurable _ (line R) (A `&` `]0%R, +oo[%classic) by apply: measurableI => //; exact: mI.
have k0 : 0 <= K * p by rewrite mulr_ge0// ltW.
have g0 s : 0 <= pw (p - 1) s * f s by rewrite mulr_ge0// ltW// pw_gt0.
have mg : measurable_fun setT (fun s => pw (p - 1) s * f s) by apply: measurable_funM => //; exact: measurable_pw.
rewrite -(integral_scaled leb k0 g0 mg mAB).
rewrite -[A `&` _]setTI (integral_setI_indic leb mAB _ measurableT); apply: eq_integral => s _.
rewrite /F -!EFinM /length_density !indicE in_setI; congr EFin.
by case: (s \in A); case: (s \in _); rewrite /= ?mulr1 ?mulr0 ?mul0r// !mulrA.
Qed.
End Length.

(* -- Noise whose density is a function of the length -- *)
Section Noise.
Context (R : realType) d (Y : measurableType d) (mu P : {measure set Y -> \bar R}) (length : Y -> R) (K p c : R) (f : R -> R).
Hypotheses (ml : measurable_fun setT length) (p0 : 0 < p) (K0 : 0 <= K) (balls : balls_are_powers mu length K p).
Hypotheses (mf : measurable_fun setT f) (f0 : forall s, 0 <= f s) (c0 : 0 <= c).
Hypotheses (P1 : P setT = 1%E) (Pp : has_density mu P (fun y => c * f (length y))).
Let mI (i : interval R) : measurable (length @^-1` [set` i]).
Proof. by rewrite -[X in measurable X]setTI; apply: ml => //; exact: measurable_itv. Qed.

Let mass t : 0 <= t -> P [set y | t < length y] = ((c * (K * p))%:E * power_tail p f t)%E.
Proof.
move=> t0; rewrite (_ : [set y | _] = length @^-1` `]t, +oo[%classic); last by apply/seteqP; split=> y /=; rewrite in_itv/= andbT.
have [_ mp ->] := Pp; last exact: mI.
have mfl : measurable_fun setT (f \o length) by exact: measurable_fun_comp mf ml.
rewrite (integral_scaled mu c0 (fun y => f0 (length y)) mfl (mI `]t, +oo[)).
rewrite (integral_length ml p0 K0 balls mf f0 (measurable_itv `]t, +oo[)) (EFinM c) -muleA; congr (_ * (_ * _))%E.
rewrite /power_tail; congr (integral _ _ _); apply/seteqP; split=> s /=; rewrite !in_itv/= !andbT; first by case.
by move=> ts; split=> //; exact: le_lt_trans ts.
Qed.

Let positive : P [set y | 0 < length y] = 1%E.
Proof.
have m0 : measurable [set y | length y <= 0].
  by rewrite (_ : [set y | _] = length @^-1` `]-oo, 0]%classic); [exact: mI | apply/seteqP; split=> y /=; rewrite in_itv].
have null : P [set y | length y <= 0] = 0%E.
  have [g0 mg Pe] := Pp; rewrite Pe// (negligible_integral m0 m0 _ _ (no_length ml p0 K0 balls (lexx 0))) ?setDv ?integral_set0//.
  - by apply/EFin_measurable_fun; exact: measurable_funTS.
  - by move=> y _; rewrite lee_fin.
rewrite -P1 (_ : [set y | 0 < length y] = setT `\` [set y | length y <= 0]); last first.
  by apply/seteqP; split=> y /=; [move=> h; split=> //; apply/negP; rewrite -ltNge | move=> [_ /negP]; rewrite -ltNge].
by rewrite measureD ?P1 ?ltry// setTI null sube0.
Qed.

(* The tail of the length is that of the density s^(p - 1) f(s) on s > 0, which has a finite integral above 0. *)
Theorem length_tail t : 0 <= t -> P [set y | t < length y] = (tail_part p f t)%:E.
Proof.
move=> t0; have h0 := mass (lexx 0); rewrite positive in h0.
have ge0 u : (0 <= power_tail p f u)%E by apply: integral_ge0 => s _; rewrite lee_fin mulr_ge0// ltW// pw_gt0.
have k0 : 0 <= c * (K * p) by rewrite !mulr_ge0// ltW.
have kn : c * (K * p) != 0 by apply/eqP => e; move: h0; rewrite e mul0e => /eqP; rewrite eqe oner_eq0.
have kp : 0 < c * (K * p) by rewrite lt_neqAle eq_sym kn.
have fin0 : power_tail p f 0 \is a fin_num.
  by rewrite ge0_fin_numE// ltey; apply/eqP => e; move: h0; rewrite e gt0_muley.
have e0 : c * (K * p) * fine (power_tail p f 0) = 1 by apply: EFin_inj; rewrite EFinM fineK.
rewrite (mass t0) /tail_part.
have fint : power_tail p f t \is a fin_num.
  rewrite ge0_fin_numE//; apply: le_lt_trans (_ : (power_tail p f t <= power_tail p f 0)%E) _; last by rewrite -(fineK fin0) ltry.
  apply: subset_integral => //; [exact: measurable_itv | exact: measurable_itv | | |].
  - apply/EFin_measurable_fun; apply: measurable_funTS; apply: measurable_funM => //; exact: measurable_pw.
  - by move=> s _; rewrite lee_fin mulr_ge0// ltW// pw_gt0.
  - by move=> s /=; rewrite !in_itv/= !andbT; exact: le_lt_trans.
rewrite -{1}(fineK fint) -EFinM; congr EFin; rewrite mulrC; congr (_ * _).
have F0 : fine (power_tail p f 0) != 0 by apply/eqP => e; move: e0; rewrite e mulr0 => /eqP; rewrite eq_sym oner_eq0.
by apply: (mulIf F0); rewrite e0 mulVf.
Qed.
End Noise.

(* A power of a length, times a factor: its balls are powers too. *)
Section Stretched.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (length : Y -> R) (K p a w : R).
Hypotheses (balls : balls_are_powers mu length K p) (length0 : forall y, 0 <= length y) (a0 : 0 < a) (w0 : 0 < w).

Lemma pow_le x r : 0 <= x -> 0 < r -> (pow w x <= r) = (x <= pw (1 / w) r).
Proof.
move=> x0 r0; rewrite /pow; case: eqP => [->|/eqP xn]; first by rewrite (ltW r0) ltW// pw_gt0.
have xp : 0 < x by rewrite lt_neqAle eq_sym xn.
by rewrite -[X in _ <= X = _](pwK (lt0r_neq0 w0) r0) -/(pw w x) pw_le// pw_gt0.
Qed.

Lemma balls_stretched : balls_are_powers mu (fun y => a * pow w (length y)) (K * pw (- (p / w)) a) (p / w).
Proof.
move=> r r0; have ra : 0 < r / a by rewrite divr_gt0.
rewrite (_ : [set y | _] = [set y | length y <= pw (1 / w) (r / a)]); last first.
  by apply/seteqP; split=> y /=; rewrite -pow_le// ler_pdivl_mulr// mulrC.
rewrite (balls (pw_gt0 _ _)) pw_pw; congr EFin; rewrite -mulrA; congr (_ * _).
rewrite (_ : p * (1 / w) = p / w); last by rewrite mul1r.
have -> : pw (- (p / w)) a = pw (p / w) a^-1 by rewrite -(pwV a0) pw_pw mulrN1.
by rewrite pwM ?invr_gt0// mulrC.
Qed.

Lemma measurable_pow : measurable_fun setT (pow w).
Proof.
have -> : pow w = (fun x => pw w x * \1_(~` [set 0]) x).
  apply/funext => x; rewrite /pow indicE; case: eqP => [->|/eqP h]; first by rewrite memNset ?mulr0//= => /(_ erefl).
  by rewrite mem_set ?mulr1//=; exact/eqP.
apply: measurable_funM; first exact: measurable_pw.
by apply: measurable_fun_indic; apply: measurableC; exact: measurable_set1.
Qed.
End Stretched.

(* Noise of density proportional to exp(-a length^w): a length^w has the gamma law of shape p/w. *)
Section GammaLength.
Context (R : realType) d (Y : measurableType d) (mu P : {measure set Y -> \bar R}) (length : Y -> R) (K p a w c : R).
Hypotheses (ml : measurable_fun setT length) (length0 : forall y, 0 <= length y) (p0 : 0 < p) (K0 : 0 <= K).
Hypotheses (balls : balls_are_powers mu length K p) (a0 : 0 < a) (w0 : 0 < w) (c0 : 0 <= c).
Hypotheses (P1 : P setT = 1%E) (Pp : has_density mu P (fun y => c * expR (- (a * pow w (length y))))).

Lemma pow_lt x y : 0 <= x -> 0 <= y -> (pow w x < pow w y) = (x < y).
Proof.
move=> x0 y0; rewrite /pow; case: eqP => [->|/eqP xn]; case: eqP => [->|/eqP yn]; rewrite ?ltxx//.
- by rewrite -/(pw w y) pw_gt0 lt_neqAle eq_sym yn y0.
- by rewrite [RHS]ltNge x0 ltNge ltW// pw_gt0.
- by rewrite pw_lt// lt_neqAle eq_sym ?xn ?yn.
Qed.

Theorem gamma_length t : 0 <= t -> P [set y | t < length y] = (gamma_tail (p / w) (a * pow w t))%:E.
Proof.
move=> t0; rewrite (_ : [set y | t < length y] = [set y | a * pow w t < a * pow w (length y)]); last first.
  by apply/seteqP; split=> y /=; rewrite ltr_pmul2l// pow_lt.
have mf : measurable_fun setT (fun s : R => expR (- s)).
  by apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funN; exact: measurable_fun_id.
have mL : measurable_fun setT (fun y => a * pow w (length y)).
  by apply: measurable_funrM; apply: measurable_fun_comp ml; exact: measurable_pow.
have P0 : 0 <= pow w t by rewrite /pow; case: ifP => // _; exact: expR_ge0.
apply: (length_tail mL (divr_gt0 p0 w0) _ (balls_stretched balls length0 a0 w0) mf _ c0 P1 Pp).
- by apply: mulr_ge0 => //; exact/ltW/pw_gt0.
- by move=> s; exact: expR_ge0.
- by apply: mulr_ge0 => //; exact: ltW.
Qed.
End GammaLength.

Lemma pow1 (R : realType) (x : R) : 0 <= x -> pow 1 x = x.
Proof. by move=> x0; rewrite /pow; case: eqP => // /eqP xn; rewrite mul1r lnK// posrE lt_neqAle eq_sym xn. Qed.
