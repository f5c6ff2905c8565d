(* The integrals of powers over intervals of positive numbers; the measure that has a density; and that measures on the line are the same where
   they agree on all ]-oo, x] (docs/theory/utility.md: noise moments). *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms additive kernels laplace_curve scale_integrals hoeffding slope_integrals.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* -- The measure with the density g -- *)
Section Weighted.
Context d (T : measurableType d) (R : realType) (mu : {measure set T -> \bar R}) (g : T -> R).
Hypotheses (mg : measurable_fun setT g) (g0 : forall x, 0 <= g x).

Definition weighted (_ : measurable_fun setT g) (_ : forall x, 0 <= g x) (A : set T) : \bar R := (\int[mu]_(x in A) (g x)%:E)%E.
Notation W := (weighted mg g0).

Let weighted0 : W set0 = 0%E. Proof. exact: integral_set0. Qed.
Let weighted_ge0 A : (0 <= W A)%E. Proof. by apply: integral_ge0 => x _; rewrite lee_fin. Qed.
Let weightedE A : measurable A -> W A = (\int[mu]_x ((g x)%:E * \d_x A))%E.
Proof. by move=> mA; rewrite /weighted -[X in integral _ X]setTI integral_setI_indic. Qed.

Let weighted_additive : semi_sigma_additive W.
Proof.
move=> F mF tF mU; have -> : W (\bigcup_n F n) = (\sum_(n <oo) W (F n))%E.
  rewrite weightedE// (eq_eseries (fun n _ => weightedE (mF n))) -integral_nneseries//; last 2 first.
  - move=> n; apply: emeasurable_funM; first exact/EFin_measurable_fun.
    by apply/EFin_measurable_fun; exact: measurable_fun_indic.
  - by move=> n x _; rewrite mule_ge0 ?lee_fin.
  apply: eq_integral => x _; rewrite nneseriesrM//; congr (_ * _)%E.
  by apply/esym/cvg_lim => //=; exact: measure_semi_sigma_additive.
apply/cvg_closeP; split; last by rewrite closeE.
by apply: is_cvg_nneseries => n _; exact: weighted_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ W weighted0 weighted_ge0 weighted_additive.

Lemma weighted_density : has_density mu [the measure _ _ of W] g.
Proof. by split. Qed.
End Weighted.

(* -- Measures on the line -- *)
Section Distribution.
Context (R : realType) (m1 m2 : {measure set (line R) -> \bar R}).
Hypothesis same : forall x : R, m1 `]-oo, x]%classic = m2 `]-oo, x]%classic.
Hypothesis finite : forall x : R, (m1 `]-oo, x]%classic < +oo)%E.
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Lemma same_distribution (S : set (line R)) : measurable S -> m1 S = m2 S.
Proof.
move=> mS; apply: (@measure_unique _ R (line R) (@ocitv R) (fun k : nat => `](- k%:R), k%:R]%classic : set R)) => //.
- exact: ocitvI.
- by move=> k; exact: is_ocitv.
- apply/seteqP; split=> x // _; exists (Num.bound `|x|) => //=; have := archi_boundP (normr_ge0 x).
  by rewrite in_itv/= ltr_norml => /andP[-> /ltW].
- move=> A [[a b] _ <-] /=; have [ab|ab] := leP a b; last first.
    rewrite (_ : `]a, b]%classic = set0) ?measure0//; apply/seteqP; split=> x //=; rewrite in_itv/= => /andP[h1 h2].
    by have := lt_trans (lt_le_trans h1 h2) ab; rewrite ltxx.
  have -> : `]a, b]%classic = `]-oo, b]%classic `\` `]-oo, a]%classic :> set (line R).
    apply/seteqP; split=> x /=; rewrite !in_itv/=; first by move=> /andP[h ->]; split=> //; apply/negP; rewrite -ltNge.
    by move=> [-> /negP]; rewrite -ltNge => ->.
  have I : `]-oo, b]%classic `&` `]-oo, a]%classic = `]-oo, a]%classic :> set (line R).
    by apply/seteqP; split=> x /=; rewrite !in_itv/=; [case | move=> h; split=> //; exact: le_trans ab].
  by rewrite !measureD ?I ?same// -same.
- move=> k; apply: le_lt_trans (finite k%:R); apply: le_measure; rewrite ?inE; [exact: mI | exact: mI |].
  by move=> x /=; rewrite !in_itv/= => /andP[_ ->].
Qed.
End Distribution.

(* -- Powers of positive numbers -- *)
Section Powers.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Implicit Types (p x y a b : R).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Lemma pw_le p x y : 0 < p -> 0 < x -> 0 < y -> (pw p x <= pw p y) = (x <= y).
Proof. by move=> p0 x0 y0; rewrite ler_expR ler_pmul2l// ler_ln// posrE. Qed.

Lemma pw_lt p x y : 0 < p -> 0 < x -> 0 < y -> (pw p x < pw p y) = (x < y).
Proof. by move=> p0 x0 y0; rewrite !ltNge pw_le. Qed.

Lemma pwK p x : p != 0 -> 0 < x -> pw p (pw (1 / p) x) = x.
Proof. by move=> p0 x0; rewrite pw_pw mulrCA divff// mulr1 pw1. Qed.

Lemma pwK' p x : p != 0 -> 0 < x -> pw (1 / p) (pw p x) = x.
Proof. by move=> p0 x0; rewrite pw_pw mulrC mulrCA divff// mulr1 pw1. Qed.

Lemma der_pw p x : p != 0 -> 0 < x -> is_derive x (1 : R) (fun x : R => pw p x * p^-1) (pw (p - 1) x).
Proof.
move=> p0 x0; have dl := der_mul (der_cst p x) (is_derive1_ln x0).
apply: der_eq (der_mul (der_exp dl) (der_cst p^-1 x)) _.
rewrite mul0r add0r mulr0 addr0 -/(pw p x) [pw (p - 1) x]pwD pwV//.
by rewrite mulrAC [X in X * _]mulrAC divff// mul1r mulrC.
Qed.

Theorem integral_power p a b : p != 0 -> 0 < a -> a <= b ->
  (\int[leb]_(z in `]a, b]%classic) (pw (p - 1) z)%:E = ((pw p b - pw p a) / p)%:E)%E.
Proof.
move=> p0 a0 ab; have mg := @measurable_pw R (p - 1); have g0 x : 0 <= pw (p - 1) x by rewrite ltW// pw_gt0.
have d x : a <= x -> x <= b -> is_derive x (1 : R) (fun x : R => pw p x * p^-1) (pw (p - 1) x).
  by move=> ax _; apply: der_pw => //; exact: lt_le_trans ax.
pose up := 0 <= p - 1; pose M (x : R) := if up then pw (p - 1) x else - pw (p - 1) x.
have mono x y : a <= x -> x <= y -> y <= b -> if up then pw (p - 1) x <= pw (p - 1) y else pw (p - 1) y <= pw (p - 1) x.
  move=> ax xy yb; have x0 : 0 < x by exact: lt_le_trans ax.
  have ll : ln x <= ln y by rewrite ler_ln// posrE (lt_le_trans x0).
  rewrite /up; case: ifP => [h|/negbT]; first by rewrite ler_expR ler_wpmul2l.
  by rewrite -ltNge => /ltW h; rewrite ler_expR ler_wnmul2l.
rewrite (integral_of_slope (F := fun x => pw p x * p^-1) (M := M) ab mg g0 d); first by rewrite mulrBl.
move=> x c y ax xc cy yb; have cb := le_trans cy yb; have ac := le_trans ax xc.
have := mono _ _ ax xc cb; have := mono _ _ ac cy yb; rewrite /M; case: (up) => h1 h2.
- by rewrite ger0_norm ?subr_ge0// ler_sub.
- by rewrite ler0_norm ?subr_le0// opprB opprK [X in _ <= X]addrC ler_add2l ler_opp2.
Qed.

(* From 0 on, for a positive power. *)
Theorem integral_power_from0 p b : 0 < p -> 0 < b -> (\int[leb]_(z in `]0%R, b]%classic) (pw (p - 1) z)%:E = (pw p b / p)%:E)%E.
Proof.
move=> p0 b0; have pn : p != 0 by rewrite gt_eqF.
have mg := @measurable_pw R (p - 1); have g0 x : 0 <= pw (p - 1) x by rewrite ltW// pw_gt0.
have W := weighted_density leb mg g0; pose w : {measure set (line R) -> \bar R} := [the measure _ _ of weighted leb mg g0].
pose a (n : nat) : R := pw (1 / p) (pw p b * n.+1%:R^-1).
have i0 (n : nat) : 0 < n.+1%:R^-1 :> R by rewrite invr_gt0 ltr0n.
have ab n : a n <= b.
  rewrite -(pw_le p0) ?pw_gt0// pwK ?mulr_gt0 ?pw_gt0//.
  by rewrite ler_pimulr ?(ltW (pw_gt0 _ _))// invf_le1 ?ler1n ?ltr0n.
have aE n : pw p (a n) = pw p b * n.+1%:R^-1 by rewrite pwK ?mulr_gt0 ?pw_gt0.
have a0 n : 0 < a n by exact: pw_gt0.
pose F n : set (line R) := `]a n, b]%classic.
have FE : `]0%R, b]%classic = \bigcup_n F n.
  apply/seteqP; split=> x /=; rewrite in_itv/=; last first.
    by move=> [n _]; rewrite /F/= in_itv/= => /andP[h ->]; rewrite (lt_trans (pw_gt0 _ _) h).
  move=> /andP[x0 xb]; exists (Num.bound (pw p b / pw p x)) => //; rewrite /F/= in_itv/= xb andbT.
  rewrite -(pw_lt p0) ?pw_gt0// aE ltr_pdivr_mulr ?ltr0n//; have := archi_boundP (divr_ge0 (ltW (pw_gt0 p b)) (ltW (pw_gt0 p x))).
  rewrite ltr_pdivr_mulr ?pw_gt0// mulrC => /lt_le_trans; apply; by rewrite ler_pmul2l ?pw_gt0// ler_nat.
have c1 : (w \o F) --> w `]0%R, b]%classic.
  rewrite FE; apply: nondecreasing_cvg_mu => //; [by move=> n; exact: mI | by apply: bigcupT_measurable => n; exact: mI |].
  move=> m n mn; apply/subsetPset => x; rewrite /F/= !in_itv/= => /andP[h ->]; rewrite andbT; apply: le_lt_trans h.
  by rewrite -(pw_le p0 (a0 n) (a0 m)) !aE ler_pmul2l ?pw_gt0// lef_pinv ?posrE ?ltr0n// ler_nat.
have c2 : (w \o F) --> (pw p b / p)%:E.
  have -> : w \o F = EFin \o (fun n => (pw p b - pw p b * harmonic n) / p).
    by apply/funext => n /=; rewrite /w/= /weighted integral_power ?pw_gt0// aE.
  apply: cvg_EFin; first by apply: nearW.
  rewrite -[X in X / p]subr0 -[X in _ - X](mulr0 (pw p b)).
  by apply: cvgMl; apply: cvgB; [exact: cvg_cst | apply: cvgMr; exact: cvg_harmonic].
transitivity (w `]0%R, b]%classic); first by [].
by rewrite -(cvg_lim (@ereal_hausdorff R) c1); exact: (cvg_lim (@ereal_hausdorff R) c2).
Qed.
End Powers.
