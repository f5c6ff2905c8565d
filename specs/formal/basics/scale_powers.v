(* The measure dv/v on v > 0 under powers (docs/theory/additive.md: mixture closed form): v -> 1/v keeps it, and v -> v^k multiplies it by a constant.
   Both follow from its invariance under scaling by Tonelli's theorem, as for the Haar measure of any group. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive kernels composition mixtures likelihood laplace_curve laplace_renyi independent scale_integrals.
Import numFieldNormedType.Exports.

Section Powers.
Context (R : realType).
Notation leb := (@lebesgue_measure R).

(* -- Tonelli's theorem -- *)
Lemma haar_swap (h : line R * line R -> R) : measurable_fun setT h -> (forall z, 0 <= h z) ->
  haarx (fun x => haar (fun y => h (x, y))) = haarx (fun y => haar (fun x => h (x, y))).
Proof.
move=> mh h0; pose L : measurableType _ := line R.
pose g (z : (L * L)%type) : \bar R := (weight z.1 * (weight z.2 * h z))%:E.
have sf : sigma_finite (setT : set L) leb by exact: (Hahn_ext_sigma_finite (@hlength_sigma_sub_additive R) (@hlength_sigma_finite R)).
have m1 : measurable_fun setT (fun z : (L * L)%type => weight z.1) by apply: measurable_fun_comp (@measurable_weight R) _; exact: measurable_first.
have m2 : measurable_fun setT (fun z : (L * L)%type => weight z.2) by apply: measurable_fun_comp (@measurable_weight R) _; exact: measurable_second.
have mg : measurable_fun setT g by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_funM.
have g0 z : (0 <= g z)%E by rewrite lee_fin; do 2 (apply: mulr_ge0; first exact: weight_ge0).
have F1 := fubini_tonelli1 (m1 := leb) sf g mg g0; have F2 := fubini_tonelli2 sf sf g mg g0.
rewrite F1 in F2.
have mw (a : R -> R) c : 0 <= c -> measurable_fun setT a -> (forall v, 0 <= a v) ->
    (\int[leb]_v (c * (weight v * a v))%:E = c%:E * haar a)%E.
  move=> c0 ma a0; have p v : 0 <= weight v * a v by apply: mulr_ge0; [exact: weight_ge0 | exact: a0].
  exact: (integral_scaled leb c0 p (measurable_haar ma) measurableT).
transitivity (\int[leb]_x fubini_F leb g x)%E.
  apply: eq_integral => x _; exact: (esym (mw _ _ (weight_ge0 x) (measurable_fun_prod1 x mh) (fun y => h0 (x, y)))).
transitivity (\int[leb]_y fubini_G leb g y)%E; first exact: F2.
apply: eq_integral => y _; rewrite -(mw _ _ (weight_ge0 y) (measurable_fun_prod2 y mh) (fun x => h0 (x, y))).
by apply: eq_integral => x _; congr EFin; rewrite mulrCA.
Qed.

(* -- Two functions and a power -- *)
Section Image.
Variables (k : R) (f g : R -> R).
Hypotheses (k0 : k != 0) (mf : measurable_fun setT f) (f0 : forall v, 0 <= f v) (mg : measurable_fun setT g) (g0 : forall v, 0 <= g v).
Let T := pw k.

Lemma image_invariant : (haar (f \o T) * haar g = haar (g \o T) * haar (f \o pw (- 1)))%E.
Proof.
pose L : measurableType _ := line R.
have mT : measurable_fun setT T by exact: (measurable_pw (R := R)).
have m1 : measurable_fun setT (fun z : (L * L)%type => T z.1) by apply: measurable_fun_comp mT _; exact: measurable_first.
have m2 : measurable_fun setT (fun z : (L * L)%type => z.2) by exact: measurable_second.
have mv : measurable_fun setT (fun z : (L * L)%type => pw (- 1) z.2) by apply: measurable_fun_comp (measurable_pw (R := R) _) _; exact: measurable_second.
have ml c : measurable_fun setT (fun y : R => c * y) by apply: measurable_funrM; exact: measurable_fun_id.
have ma : measurable_fun setT (fun z : (L * L)%type => f (T z.1)) by exact: measurable_fun_comp mf m1.
have mb : measurable_fun setT (fun z : (L * L)%type => g (T z.1)) by exact: measurable_fun_comp mg m1.
have mp : measurable_fun setT (fun z : (L * L)%type => T z.1 * z.2) by exact: (measurable_funM m1 m2).
have mq : measurable_fun setT (fun z : (L * L)%type => T z.1 * pw (- 1) z.2) by exact: (measurable_funM m1 mv).
have mc : measurable_fun setT (fun z : (L * L)%type => g (T z.1 * z.2)) by exact: measurable_fun_comp mg mp.
have md : measurable_fun setT (fun z : (L * L)%type => f (T z.1 * pw (- 1) z.2)) by exact: measurable_fun_comp mf mq.
transitivity (haarx (fun x => haar (fun y => f (T x) * g (T x * y)))).
  rewrite -(haar_times (f := f \o T)); [|exact: measurable_fun_comp|by move=> v; exact: f0|exact: haar_ge0].
  apply: haarx_eq => x x0; rewrite -haar_factor//; last exact: f0.
  rewrite (@haar_scaled _ _ _ _ (T x) (pw_gt0 _ _)).
  - by [].
  - exact: measurable_funrM.
  - by move=> v; apply: mulr_ge0; [exact: f0 | exact: g0].
rewrite (@haar_swap (fun z => f (T z.1) * g (T z.1 * z.2))); last 2 first.
- exact: (measurable_funM ma mc).
- by move=> z; apply: mulr_ge0; [exact: f0 | exact: g0].
transitivity (haarx (fun y => haar (fun x => f (T x * pw (- 1) y) * g (T x)))).
  apply: haarx_eq => y y0; rewrite /= (@haar_scaled _ _ _ _ (pw (- (1 / k)) y) (pw_gt0 _ _)).
  - apply: haar_eq => x x0 /=; have -> : T (pw (- (1 / k)) y * x) = T x * pw (- 1) y.
      by rewrite /T pwM ?pw_gt0// pw_pw mulrN mulrCA mulfV// mulr1 mulrC.
    by congr (_ * g _); rewrite -mulrA -{2}(pw1 y0) -pwD addNr /pw mul0r expR0 mulr1.
  - apply: measurable_funM; first exact: measurable_fun_comp.
    by apply: measurable_fun_comp mg _; apply: measurable_funM => //; exact: measurable_fun_cst.
  - by move=> v; apply: mulr_ge0; [exact: f0 | exact: g0].
rewrite -(@haar_swap (fun z => f (T z.1 * pw (- 1) z.2) * g (T z.1))); last 2 first.
- exact: (measurable_funM md mb).
- by move=> z; apply: mulr_ge0; [exact: f0 | exact: g0].
rewrite -(haar_times (f := g \o T)); [|exact: measurable_fun_comp|by move=> v; exact: g0|by apply: haar_ge0 => v; exact: f0].
have mi : measurable_fun setT (f \o pw (- 1)) by exact: measurable_fun_comp mf (measurable_pw (R := R) _).
apply: haarx_eq => x x0; rewrite -haar_factor//=.
rewrite (@haar_scaled _ _ _ _ (T x) (pw_gt0 _ _)).
- apply: haar_eq => y y0 /=; rewrite mulrC; congr (_ * f _); rewrite pwM ?pw_gt0// mulrA (pwV (pw_gt0 k x)) mulfV ?mul1r// gt_eqF ?pw_gt0//.
- apply: measurable_funM; last exact: measurable_fun_cst.
  by apply: measurable_fun_comp mf _; apply: measurable_funrM; exact: measurable_pw.
- by move=> v; apply: mulr_ge0; [exact: f0 | exact: g0].
Qed.
End Image.

(* -- One function -- *)
(* That of the interval from 1 to 2 has a positive and finite integral. *)
Let unit : R -> R := \1_`[1, 2]%classic.
Lemma measurable_unit : measurable_fun setT unit. Proof. by apply: measurable_fun_indic; exact: measurable_itv. Qed.
Lemma unit_ge0 v : 0 <= unit v. Proof. by rewrite /unit indicE ler0n. Qed.

Lemma haar_unit : exists2 c : R, 0 < c & haar unit = c%:E.
Proof.
have mI : measurable (`[1, 2]%classic : set R) by exact: measurable_itv.
have leI : leb `[1, 2]%classic = 1%E.
  by rewrite lebesgue_measure_itv hlength_itv/= lte_fin ltr_addl ltr01 -EFinB; congr EFin; lra.
have scaled (c : R) : 0 <= c -> (\int[leb]_v (c * unit v)%:E = c%:E)%E.
  move=> c0; rewrite (integral_scaled leb c0 unit_ge0 measurable_unit measurableT) integral_indic// setIT -[RHS]mule1.
  by congr (_ * _)%E; exact: leI.
have low : ((1 / 2)%:E <= haar unit)%E.
  rewrite -scaled//; apply: ge0_le_integral => //.
  - by move=> v _; rewrite lee_fin mulr_ge0 ?unit_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_unit.
  - by move=> v _; rewrite -EFinM lee_fin mulr_ge0 ?unit_ge0 ?weight_ge0.
  - by apply/EFin_measurable_fun; exact: (measurable_haar measurable_unit).
  - move=> v _; rewrite -EFinM lee_fin /unit indicE; have [/set_mem|_] := boolP (v \in _); last by rewrite !mulr0.
    rewrite /= in_itv/= => /andP[v1 v2]; have v0 : 0 < v by lra.
    rewrite !mulr1 /weight indicE mem_set/= ?in_itv/= ?v0// mulr1 pwV// div1r lef_pinv ?posrE//.
have high : (haar unit <= 1%:E)%E.
  rewrite -(scaled 1)//; apply: ge0_le_integral => //.
  - by move=> v _; rewrite -EFinM lee_fin mulr_ge0 ?unit_ge0 ?weight_ge0.
  - by apply/EFin_measurable_fun; exact: (measurable_haar measurable_unit).
  - by move=> v _; rewrite lee_fin mulr_ge0 ?unit_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_unit.
  - move=> v _; rewrite -EFinM lee_fin /unit indicE; have [/set_mem|_] := boolP (v \in _); last by rewrite !mulr0.
    rewrite /= in_itv/= => /andP[v1 v2]; have v0 : 0 < v by lra.
    by rewrite !mulr1 /weight indicE mem_set/= ?in_itv/= ?v0// mulr1 pwV// invf_le1.
have f : haar unit \is a fin_num.
  rewrite fin_numE -ltNye -ltey; apply/andP; split; last by apply: le_lt_trans high _; rewrite ltry.
  by apply: lt_le_trans low; rewrite ltNyr.
exists (fine (haar unit)); last by rewrite fineK.
by rewrite -lte_fin fineK//; apply: lt_le_trans low; rewrite lte_fin.
Qed.

Lemma haar_inverse (g : R -> R) : measurable_fun setT g -> (forall v, 0 <= g v) -> haar (g \o pw (- 1)) = haar g.
Proof.
move=> mg g0.
have inv : measurable_fun setT (unit \o pw (- 1)) by apply: measurable_fun_comp measurable_unit _; exact: measurable_pw.
have n0 : - 1 != 0 :> R by rewrite oppr_eq0 oner_eq0.
have twice (h : R -> R) : haar ((h \o pw (- 1)) \o pw (- 1)) = haar h.
  by apply: haar_eq => v v0 /=; rewrite pw_pw mulrN1 opprK pw1.
have [c c0 e] := haar_unit.
have := image_invariant n0 inv (fun v => unit_ge0 _) mg g0; rewrite !twice e => E.
transitivity ((c^-1)%:E * (haar (g \o pw (- 1)) * c%:E))%E; first by rewrite muleCA -EFinM mulVf ?mule1// gt_eqF.
by rewrite -E muleA -EFinM mulVf ?mul1e// gt_eqF.
Qed.

(* What the image by a power gains or loses is a constant. *)
Lemma haar_power k : k != 0 -> exists2 c : \bar R, (0 <= c)%E &
  forall g : R -> R, measurable_fun setT g -> (forall v, 0 <= g v) -> haar (g \o pw k) = (c * haar g)%E.
Proof.
move=> k0; have [c c0 e] := haar_unit; exists ((c^-1)%:E * haar (unit \o pw k))%E.
  rewrite mule_ge0//; first by rewrite lee_fin invr_ge0 ltW.
  by apply: haar_ge0 => v; exact: unit_ge0.
move=> g mg g0; have := image_invariant k0 measurable_unit unit_ge0 mg g0.
rewrite (haar_inverse measurable_unit unit_ge0) e -muleA => ->.
by rewrite muleCA -EFinM mulVf ?mule1// gt_eqF.
Qed.
End Powers.
