(* Laplace noise (docs/theory/curves.md: Laplace, independent coordinates): the curve (1 - e^((epsilon - t)/2))_+ from above, in any number of
   independent coordinates, and from below, on the line. The tails of the noise follow from the invariance of Lebesgue's measure alone. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition curves pairs lipschitz_exponent.
Import numFieldNormedType.Exports.

Section Lebesgue.
Context (R : realType).
Notation leb := (@lebesgue_measure R).

Lemma lebesgue_preserved (phi : R -> R) : measurable_fun setT phi ->
  (forall a b : R, leb (phi @^-1` `]a, b]%classic) = leb `]a, b]%classic) -> forall S : set R, measurable S -> leb (phi @^-1` S) = leb S.
Proof.
move=> mphi pres S mS.
pose L : measurableType _ := [the measurableType _ of salgebraType (@ocitv R)].
have mphi' : @measurable_fun _ _ L L setT phi by exact: mphi.
pose m : {measure set L -> \bar R} := [the measure _ _ of @lebesgue_measure R].
pose nu : {measure set L -> \bar R} := [the measure _ _ of pushforward m mphi'].
have -> : leb (phi @^-1` S) = nu S by [].
apply/esym; apply: (@lebesgue_measure_unique R nu) => // X [[a b] _ <-] /=.
by rewrite /nu/= /pushforward /m/= pres lebesgue_measure_itv.
Qed.

Lemma measurable_translation (t : R) : measurable_fun setT (fun y : R => y + t).
Proof. by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst]. Qed.

Lemma measurable_reflection (t : R) : measurable_fun setT (fun y : R => t - y).
Proof. by apply: measurable_funB; [exact: measurable_fun_cst | exact: measurable_fun_id]. Qed.

Lemma lebesgue_translation (t : R) (S : set R) : measurable S -> leb ((fun y => y + t) @^-1` S) = leb S.
Proof.
apply: lebesgue_preserved; first exact: measurable_translation.
move=> a b; rewrite (_ : _ @^-1` _ = `]a - t, b - t]%classic); last first.
  by apply/seteqP; split=> y /=; rewrite !in_itv/= ltr_subl_addr ler_subr_addr.
by rewrite !lebesgue_measure_itv !hlength_itv/= !lte_fin ltr_add2r -!EFinB; case: ifP => // _; congr EFin; lra.
Qed.

Lemma lebesgue_reflection (t : R) (S : set R) : measurable S -> leb ((fun y => t - y) @^-1` S) = leb S.
Proof.
apply: lebesgue_preserved; first exact: measurable_reflection.
move=> a b; rewrite (_ : _ @^-1` _ = `[t - b, t - a[%classic); last first.
  apply/seteqP; split=> y /=; rewrite !in_itv/= => /andP[h1 h2]; apply/andP; split; lra.
rewrite !lebesgue_measure_itv !hlength_itv/= !lte_fin.
have -> : (t - b < t - a) = (a < b) by rewrite ltr_add2l ltr_opp2.
by rewrite -!EFinB; case: ifP => // _; congr EFin; lra.
Qed.

(* Integrals over moved sets. *)
Lemma integral_preserved (phi : R -> R) (f : R -> R) (S : set R) (mphi : measurable_fun setT phi) :
  (forall S : set R, measurable S -> leb (phi @^-1` S) = leb S) -> measurable_fun setT f -> (forall y, 0 <= f y) -> measurable S ->
  (\int[leb]_(y in S) (f y)%:E = \int[leb]_(y in phi @^-1` S) (f (phi y))%:E)%E.
Proof.
pose L : measurableType _ := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].
move=> pres mf f0 mS; rewrite integral_mkcond [RHS]integral_mkcond.
have mphi' : @measurable_fun _ _ L L setT phi by exact: mphi.
have mS' : @measurable _ L S by exact: mS.
have mf' : @measurable_fun _ _ L _ setT (EFin \o f) by apply/EFin_measurable_fun; exact: mf.
pose m : {measure set L -> \bar R} := [the measure _ _ of @lebesgue_measure R].
transitivity (\int[pushforward m mphi']_y ((EFin \o f) \_ S) y)%E.
  by apply: eq_measure_integral => A mA _; first [exact: (pres A mA) | exact: (esym (pres A mA))].
rewrite integral_pushforward//.
- apply/(measurable_restrict _ mS' measurableT (@subsetT _ S)); exact: measurable_funTS.
- by move=> y; rewrite /patch; case: ifP => // _; rewrite lee_fin.
Qed.
End Lebesgue.

(* The line with Lebesgue's measure. *)
Notation line R := [the measurableType _ of salgebraType (R.-ocitv.-measurable)].

Section Tails.
Context (R : realType) (P : {measure set (line R) -> \bar R}) (v b c : R).
Hypotheses (b0 : 0 < b) (c0 : 0 <= c) (P1 : P setT = 1%E).
Hypothesis Pp : has_density (@lebesgue_measure R) P (fun y => c * expR (- (`|y - v| / b))).
Notation leb := (@lebesgue_measure R).
Let f (y : R) := c * expR (- (`|y - v| / b)).

Let f0 y : 0 <= f y. Proof. by rewrite mulr_ge0// expR_ge0. Qed.
Let mf : measurable_fun setT f. Proof. by have [] := Pp. Qed.

Let mass S : measurable S -> P S = (\int[leb]_(y in S) (f y)%:E)%E. Proof. by have [_ _ Pe] := Pp; exact: Pe. Qed.

Lemma right_tail (u : R) : 0 <= u -> fine (P `[v + u, +oo[%classic) = expR (- (u / b)) * fine (P `[v, +oo[%classic).
Proof.
move=> u0; have m (x : R) : @measurable _ (line R) (`[x, +oo[%classic) by exact: measurable_itv.
apply: EFin_inj; rewrite EFinM (fineK (mass_fin P1 (m (v + u)))) (fineK (mass_fin P1 (m v))).
rewrite (mass (m (v + u))) (mass (m v)) (integral_preserved (measurable_translation u) (lebesgue_translation u) mf f0 (m (v + u))).
rewrite -(integral_scaled leb (expR_ge0 (- (u / b))) f0 mf (m v)).
rewrite (_ : _ @^-1` _ = `[v, +oo[%classic); last by apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT ler_add2r.
apply: eq_integral => y; rewrite inE/= in_itv/= andbT => vy; congr EFin; rewrite /f mulrCA -expRD; congr (_ * expR _).
have e1 : `|y - v| = y - v by rewrite ger0_norm// subr_ge0.
have e2 : `|y + u - v| = y - v + u by rewrite ger0_norm; lra.
by rewrite e1 e2 mulrDl; lra.
Qed.

Lemma left_tail (u : R) : fine (P `]-oo, v - u]%classic) = fine (P `[v + u, +oo[%classic).
Proof.
have m1 : @measurable _ (line R) (`]-oo, v - u]%classic) by exact: measurable_itv.
have m2 : @measurable _ (line R) (`[v + u, +oo[%classic) by exact: measurable_itv.
rewrite (mass m1) (mass m2) (integral_preserved (measurable_reflection (v + v)) (lebesgue_reflection (v + v)) mf f0 m1); congr fine.
rewrite (_ : _ @^-1` _ = `[v + u, +oo[%classic); last first.
  by apply/seteqP; split=> y /=; rewrite !in_itv/= ?andbT; lra.
apply: eq_integral => y _; congr EFin; rewrite /f.
have -> : v + v - y - v = - (y - v) by lra.
by rewrite normrN.
Qed.

Lemma half : fine (P `[v, +oo[%classic) = 1 / 2.
Proof.
have m1 : @measurable _ (line R) (`]-oo, v]%classic) by exact: measurable_itv.
have m2 : @measurable _ (line R) (`]v, +oo[%classic) by exact: measurable_itv.
have z : P [set v] = 0%E.
  rewrite mass// (_ : [set v] = `[v, v]%classic); last first.
    by apply/seteqP; split=> y /=; rewrite in_itv/=; [move=> ->; rewrite lexx | move=> /le_anti].
  have m0 : @measurable _ (line R) (`[v, v]%classic) by exact: measurable_itv.
  have z0 : leb `[v, v]%classic = 0%E by rewrite lebesgue_measure_itv hlength_itv/= ltxx.
  transitivity (\int[leb]_(y in `[v, v]%classic) `|(f y)%:E|)%E; first by apply: eq_integral => y _; rewrite /= ger0_norm.
  apply: (integral_abs_eq0 (D := setT)) => //; exact/EFin_measurable_fun.
have E : P `[v, +oo[%classic = P `]v, +oo[%classic.
  have -> : `[v, +oo[%classic = [set v] `|` `]v, +oo[%classic :> set R.
    apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT; first by rewrite le_eqVlt => /orP[/eqP <-|h]; [left|right].
    by case=> [->|/ltW].
  have U : P ([set v] `|` `]v, +oo[%classic) = (P [set v] + P `]v, +oo[%classic)%E.
    apply: measureU; [exact: measurable_set1 | exact: m2 |].
    by apply/seteqP; split=> // y [/= ->]; rewrite in_itv/= ltxx.
  by rewrite U z add0e.
have T : (P setT = P `]-oo, v]%classic + P `]v, +oo[%classic)%E.
  have U : P (`]-oo, v]%classic `|` `]v, +oo[%classic) = (P `]-oo, v]%classic + P `]v, +oo[%classic)%E.
    apply: measureU; [exact: m1 | exact: m2 |].
    by apply/seteqP; split=> // y /=; rewrite !in_itv/= andbT => -[h1 h2]; lra.
  by rewrite -U; congr (P _); apply/seteqP; split=> // y _ /=; rewrite !in_itv/= andbT; case: (leP y v) => _; [left|right].
have := left_tail 0; rewrite subr0 addr0 => L.
have F1 := mass_fin P1 m1; have F2 := mass_fin P1 m2.
have : fine (P `]-oo, v]%classic) + fine (P `]v, +oo[%classic) = 1 by apply: EFin_inj; rewrite EFinD !fineK// -T.
by rewrite -E L; lra.
Qed.
End Tails.

Section Line.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (b c : R).
Hypotheses (b0 : 0 < b) (c0 : 0 < c) (total : forall v, law v setT = 1%E).
Hypothesis dens : forall v, has_density (@lebesgue_measure R) (law v) (fun y => c * expR (- (`|y - v| / b))).

(* Laplace noise on two answers D = t b apart: from below. *)
Lemma laplace_line_lower v t eps : 0 <= t -> - t <= eps -> 1 - expR ((eps - t) / 2) <= profile (expR eps) (law v) (law (v + t * b)).
Proof.
move=> t0 te.
have [h|et] := leP (1 - expR ((eps - t) / 2)) 0; first by rewrite (le_trans h)// profile_ge0// expR_ge0.
have {}et : eps < t by move: et; rewrite subr_gt0 -[X in _ < X](@expR0 R) ltr_expR; lra.
set w := v + t * b; set S := `]-oo, v + (t - eps) / 2 * b[%classic.
have mS : @measurable _ (line R) S by exact: measurable_itv.
apply: le_trans (profile_event (total v) (total w) (expR_ge0 eps) mS).
have tail (z u : R) : 0 <= u -> fine (law z `[z + u * b, +oo[%classic) = expR (- u) / 2.
  move=> u0; rewrite (right_tail b0 (ltW c0) (total z) (dens z)) ?mulr_ge0 ?(ltW b0)// mulfK ?gt_eqF//.
  by rewrite (half b0 (ltW c0) (total z) (dens z)) mul1r.
have PS : fine (law v S) = 1 - expR ((eps - t) / 2) / 2.
  have -> : S = ~` `[v + (t - eps) / 2 * b, +oo[%classic.
    by apply/seteqP; split=> y; rewrite /S/= !in_itv/= andbT => h; [apply/negP; rewrite -ltNge | move/negP: h; rewrite -ltNge].
  have mI : @measurable _ (line R) (`[v + (t - eps) / 2 * b, +oo[%classic) by exact: measurable_itv.
  rewrite -setTD measureD//; last by rewrite total ltry.
  rewrite setTI fineB ?total//; last by apply: mass_fin.
  rewrite tail; last by lra.
  by congr (_ - expR _ / _); lra.
have QS : fine (law w S) <= expR (- ((t + eps) / 2)) / 2.
  apply: (@le_trans _ _ (fine (law w `]-oo, w - (t + eps) / 2 * b]%classic))).
    have mI : @measurable _ (line R) (`]-oo, w - (t + eps) / 2 * b]%classic) by exact: measurable_itv.
    apply: fine_le; [exact: mass_fin|exact: mass_fin|].
    apply: le_measure; rewrite ?inE// => y; rewrite /S/= !in_itv/= => /ltW h; apply: (le_trans h).
    by rewrite /w; lra.
  by rewrite (left_tail (c := c) b0 (ltW c0) (dens w)) tail//; lra.
have := ler_wpmul2l (expR_ge0 eps) QS.
have -> : expR eps * (expR (- ((t + eps) / 2)) / 2) = expR ((eps - t) / 2) / 2.
  by rewrite mulrA -expRD; congr (expR _ / _); lra.
by rewrite PS; lra.
Qed.

(* The pair of the line is exactly this. *)
(* Rule: laplace, in part: on the line; that one coordinate of several is seen alone is post-processing. *)
Theorem laplace_line v t eps : 0 <= t -> - t <= eps -> profile (expR eps) (law v) (law (v + t * b)) = Num.max 0 (1 - expR ((eps - t) / 2)).
Proof.
move=> t0 te; apply/eqP; rewrite eq_le le_maxl laplace_line_lower// profile_ge0 ?expR_ge0// !andbT.
pose A : mechanism R R^o (line R) := @Mechanism R R^o _ (line R) law total.
have noise : adds_noise (@lebesgue_measure R) (id : line R -> R^o) A id (fun z : R^o => c * expR (- (`|z : R| / b))) by exact: dens.
have bi : 0 <= b^-1 by rewrite invr_ge0 ltW.
have lip (z z' : R^o) : `|(`|z : R| / b) - (`|z' : R| / b)| <= b^-1 * `|z - z' : R|.
  by rewrite -mulrBl normrM (ger0_norm bi) mulrC ler_wpmul2l// ler_dist_dist.
have near : `|(v : R^o) - (v + t * b) : R| <= t * b by rewrite opprD addrA subrr sub0r normrN ger0_norm// mulr_ge0// ltW.
have := lipschitz_exponent (M := A) (q := id) (H := fun z : R^o => `|z : R| / b) c0 noise (fun _ _ => erefl) eps
  (seminorm_of (absolute_value_norm R)) bi lip near.
by rewrite mulrCA mulVf ?gt_eqF// mulr1 => -[h _]; exact: h.
Qed.
End Line.

(* Independent coordinates with Lipschitz exponents, answers at most D apart in l1: those of Laplace noise among them. *)
Section Coordinates.
Context (R : realType) (n : nat) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n).
Context (X : Type) (M : mechanism R X Y) (q : X -> 'rV[R]_n) (A : mechanism R 'rV[R]_n Y) (h : R -> R) (c : R).
Hypotheses (c0 : 0 < c) (MA : forall x S, M x S = A (q x) S).
Hypothesis noise : adds_noise mu place A id (fun z => c * expR (- \sum_i h (z 0 i))).

Definition l1 (z : 'rV[R]_n) : R := \sum_i `|z 0 i|.

Lemma l1_seminorm : seminorm l1.
Proof.
split=> [x y | a x]; rewrite /l1.
- by rewrite -big_split/=; apply: ler_sum => i _; rewrite mxE; exact: ler_norm_add.
- by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite mxE normrM.
Qed.

(* The rule independent-coordinates has convex exponents too: independent_coordinates.v. *)
(* Rule: laplace, upper, in part: h = |z|/b and L = 1/b; that answers are at most D apart in l1 is a hypothesis. *)
Theorem coordinates_curve (L D : R) x x' eps : 0 <= L -> (forall y z : R, `|h y - h z| <= L * `|y - z|) -> l1 (q x - q x') <= D ->
  (- (L * D) <= eps -> profile (expR eps) (M x) (M x') <= Num.max 0 (1 - expR ((eps - L * D) / 2))) /\
  (eps <= - (L * D) -> profile (expR eps) (M x) (M x') <= 1 - expR eps).
Proof.
move=> L0 lip near.
have lip' (z z' : 'rV[R]_n) : `|\sum_i h (z 0 i) - \sum_i h (z' 0 i)| <= L * l1 (z - z').
  rewrite -sumrB /l1 mulr_sumr; apply: (le_trans (ler_norm_sum _ _ _)); apply: ler_sum => i _.
  by apply: (le_trans (lip _ _)); rewrite !mxE.
exact: (lipschitz_exponent (H := fun z : 'rV[R]_n => \sum_i h (z 0 i)) c0 noise MA eps l1_seminorm L0 lip' near).
Qed.
End Coordinates.
