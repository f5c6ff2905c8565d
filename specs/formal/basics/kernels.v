(* Markov kernels: laws of what happens after an output, which may be random. Closeness of two laws on events is closeness on all test
   functions with values in [0, 1]; a kernel gives a joint law of an output and of what follows, and the law of what follows alone. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions.
Local Open Scope ereal_scope.

(* How many of the numbers 1, ..., N are at most z. *)
Section Staircase.
Context (R : realType).
Definition steps (N : nat) (z : R) : R := (\sum_(k < N) ((k.+1%:R <= z)%R : nat)%:R)%R.

Lemma stepsS N z : steps N.+1 z = (steps N z + ((N.+1%:R <= z)%R : nat)%:R)%R.
Proof. by rewrite /steps big_ord_recr. Qed.

Lemma steps_le_nat N z : (steps N z <= N%:R)%R.
Proof.
elim: N => [|N IH]; first by rewrite /steps big_ord0.
rewrite stepsS -natr1; apply: ler_add => //; by case: (_ + 1 <= z)%R; rewrite ?lexx ?ler01.
Qed.

Lemma steps_le N z : (0 <= z)%R -> (steps N z <= z)%R.
Proof.
move=> z0; elim: N => [|N IH]; first by rewrite /steps big_ord0.
rewrite stepsS; case: (leP N.+1%:R z) => [h|_] /=; last by rewrite addr0.
by apply: le_trans h; rewrite -[leRHS]natr1 ler_add2r steps_le_nat.
Qed.

Lemma steps_full N z : (N%:R <= z)%R -> steps N z = N%:R.
Proof.
elim: N => [|N IH] h; first by rewrite /steps big_ord0.
rewrite stepsS h /= IH ?natr1 //.
by apply: le_trans h; rewrite ler_nat.
Qed.

Lemma steps_ge N z : (0 <= z)%R -> (z <= N%:R)%R -> (z <= steps N z + 1)%R.
Proof.
move=> z0; elim: N => [|N IH] h.
  by rewrite /steps big_ord0 add0r (le_trans h)// ler01.
rewrite stepsS; have [zN|Nz] := leP z N%:R.
  by rewrite (le_trans (IH zN))// ler_add2r ler_addl ler0n.
by rewrite (steps_full (ltW Nz)) addrAC natr1 (le_trans h)// ler_addl ler0n.
Qed.
End Staircase.


(* Closeness on events is closeness on test functions, with values in [0, 1]. *)
Section TestFunctions.
Context d (T : measurableType d) (R : realType).
Implicit Types (mu P Q : {measure set T -> \bar R}).

Lemma measurable_level (g : T -> R) (a b : R) : measurable_fun setT g -> measurable [set x | (a <= b * g x)%R].
Proof.
move=> mg; rewrite (_ : [set x | _] = setT `&` (fun x => b * g x)%R @^-1` `[a, +oo[); last first.
  by rewrite setTI; apply/seteqP; split => x /=; rewrite in_itv /= andbT.
have mf : measurable_fun setT (fun x => b * g x)%R.
  by apply: measurable_funM => //; exact: measurable_fun_cst.
by apply: mf => //; exact: measurable_itv.
Qed.

Lemma integral_steps mu (g : T -> R) N : measurable_fun setT g ->
  \int[mu]_x (steps N (N%:R * g x)%R)%:E = \sum_(k < N) mu [set x | (k.+1%:R <= N%:R * g x)%R].
Proof.
move=> mg; under eq_integral do rewrite /steps -sumEFin.
have E (k : nat) : (fun x => ((k.+1%:R <= N%:R * g x)%R : nat)%:R%R) = \1_[set x | (k.+1%:R <= N%:R * g x)%R] :> (T -> R).
  by apply/funext => x; rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite inE.
rewrite ge0_integral_sum //.
- apply: eq_bigr => k _.
  rewrite -[in RHS](setIT [set x | _]) -(integral_indic mu measurableT); last exact: measurable_level.
  by apply: eq_integral => x _; rewrite -E.
- by move=> k; apply/EFin_measurable_fun; rewrite E; apply: measurable_fun_indic; exact: measurable_level.
Qed.

Lemma close_test_function eps dl P Q (g : T -> R) :
  P setT = 1 -> Q setT = 1 -> close eps dl P Q ->
  measurable_fun setT g -> (forall x, 0 <= g x <= 1)%R ->
  \int[P]_x (g x)%:E <= (expR eps)%:E * \int[Q]_x (g x)%:E + dl%:E.
Proof.
move=> P1 Q1 PQ mg g01.
have mgE : measurable_fun setT (EFin \o g) by exact/EFin_measurable_fun.
have g0 x : (0 <= g x)%R by case/andP: (g01 x).
have fin_int (mu : {measure set T -> \bar R}) : mu setT = 1 -> \int[mu]_x (g x)%:E \is a fin_num.
  move=> m1; rewrite ge0_fin_numE; last by apply: integral_ge0 => x _; rewrite lee_fin.
  apply: (@le_lt_trans _ _ (\int[mu]_x 1)); last by rewrite integral_cst// mul1e m1 ltry.
  apply: ge0_le_integral => //; first by move=> x _; rewrite lee_fin.
  - exact: measurable_fun_cst.
  - by move=> x _; rewrite lee_fin; case/andP: (g01 x).
suff step N : (0 < N)%N -> \int[P]_x (g x)%:E <= (expR eps)%:E * \int[Q]_x (g x)%:E + dl%:E + (N%:R^-1)%:E.
  apply: lee_adde => e; have e0 := [gt0 of e%:num]%R.
  pose N := `|ceil e%:num^-1|%N.+1.
  apply: le_trans (step N _) _ => //; apply: lee_add => //; rewrite lee_fin.
  rewrite -[leRHS]invrK lef_pinv ?posrE ?invr_gt0 ?ltr0n//.
  rewrite /N -natr1 natr_absz ger0_norm ?ceil_ge0 ?invr_ge0 ?ltW//.
  by rewrite ltr_spaddr// ceil_ge.
move=> N0.
have NR : (0 < N%:R :> R)%R by rewrite ltr0n.
have mst : measurable_fun setT (fun x => (steps N (N%:R * g x)%R)%:E).
  rewrite (_ : (fun _ => _) = (fun x => \sum_(k <- enum 'I_N) (((k.+1%:R <= N%:R * g x)%R : nat)%:R)%:E)); last first.
    by apply/funext => x; rewrite sumEFin /steps big_enum.
  apply: emeasurable_fun_sum => k; apply/EFin_measurable_fun.
  rewrite (_ : (fun _ => _) = \1_[set x | (k.+1%:R <= N%:R * g x)%R]).
    by apply: measurable_fun_indic; exact: measurable_level.
  by apply/funext => x; rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite inE.
have st0 x : (0 <= steps N (N%:R * g x))%R by apply: sumr_ge0 => k _; rewrite ler0n.
have intN mu : \int[mu]_x (N%:R * g x)%:E = N%:R%:E * \int[mu]_x (g x)%:E.
  under eq_integral do rewrite EFinM.
  by rewrite ge0_integralM ?lee_fin ?ler0n// => x _; rewrite lee_fin.
have mNg : measurable_fun setT (fun x => (N%:R * g x)%:E).
  by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_cst.
have Ng0 x : (0 <= N%:R * g x)%R by rewrite mulr_ge0 ?ler0n.
have bP : N%:R%:E * \int[P]_x (g x)%:E <= \int[P]_x (steps N (N%:R * g x)%R)%:E + 1.
  rewrite -intN -P1 -[P setT]mul1e -(integral_cst P measurableT) -ge0_integralD//.
  - apply: ge0_le_integral => //.
    + by move=> x _; rewrite lee_fin.
    + by move=> x _; rewrite adde_ge0 ?lee_fin ?ler01.
    + by apply: emeasurable_funD => //; exact: measurable_fun_cst.
    + move=> x _; rewrite /cst -EFinD lee_fin steps_ge// -[leRHS]mulr1 ler_wpmul2l ?ler0n//.
      by case/andP: (g01 x).
  - by move=> x _; rewrite lee_fin.
  - by move=> x _; rewrite lee_fin ler01.
  - exact: measurable_fun_cst.
have bQ : \int[Q]_x (steps N (N%:R * g x)%R)%:E <= N%:R%:E * \int[Q]_x (g x)%:E.
  rewrite -intN; apply: ge0_le_integral => //.
  + by move=> x _; rewrite lee_fin.
  + by move=> x _; rewrite lee_fin.
  + by move=> x _; rewrite lee_fin steps_le.
have PQs : \int[P]_x (steps N (N%:R * g x)%R)%:E <= (expR eps)%:E * \int[Q]_x (steps N (N%:R * g x)%R)%:E + (N%:R * dl)%:E.
  rewrite !integral_steps// ge0_sume_distrr; last by move=> k _; exact: measure_ge0.
  rewrite (_ : (N%:R * dl)%:E = \sum_(k < N) dl%:E); last first.
    by rewrite sumEFin sumr_const card_ord mulr_natl.
  by rewrite -big_split /=; apply: lee_sum => k _; apply: PQ; exact: measurable_level.
have {bP bQ PQs} := le_trans bP (lee_add (le_trans PQs (lee_add (lee_wpmul2l _ bQ) (lexx _))) (lexx 1)).
rewrite lee_fin expR_ge0 => /(_ isT).
rewrite -(fineK (fin_int P P1)) -(fineK (fin_int Q Q1)) -!EFinM -!EFinD !lee_fin.
move: (fine _) (fine _) => p q h.
rewrite -(ler_pmul2l NR); apply: (le_trans h).
by rewrite !mulrDr mulfV ?gt_eqF// mulrCA.
Qed.
End TestFunctions.

(* Markov kernels: a law for every x, measurable in x. *)
Section Sections.
Context d1 (T : measurableType d1) d2 (U : measurableType d2) (R : realType).

Definition markov (k : T -> {measure set U -> \bar R}) :=
  (forall x, k x setT = 1) /\ forall S, measurable S -> measurable_fun setT (fun x => k x S).

Variable k : T -> {measure set U -> \bar R}.
Hypothesis mk : markov k.

Lemma markov_sections (A : set (T * U)) : measurable A -> measurable_fun setT (fun x => k x (xsection A x)).
Proof.
pose phi A := fun x => k x (xsection A x).
pose B := [set A | measurable A /\ measurable_fun setT (phi A)].
suff: measurable `<=` B by move=> + mA => /(_ _ mA)[].
rewrite measurable_prod_measurableType.
set C := [set A1 `*` A2 | A1 in measurable & A2 in measurable].
have CI : setI_closed C.
  move=> X Y [X1 mX1 [X2 mX2 <-{X}]] [Y1 mY1 [Y2 mY2 <-{Y}]].
  exists (X1 `&` Y1); first exact: measurableI.
  by exists (X2 `&` Y2); [exact: measurableI|rewrite setMI].
have CT : C setT by exists setT => //; exists setT => //; rewrite setMTT.
have CB : C `<=` B.
  move=> X [X1 mX1 [X2 mX2 <-{X}]]; split; first exact: measurableM.
  have -> : phi (X1 `*` X2) = (fun x => k x X2 * (\1_X1 x)%:E)%E.
    rewrite funeqE => x; rewrite indicE /phi.
    have [xX1|xX1] := boolP (x \in X1); first by rewrite mule1 in_xsectionM.
    by rewrite mule0 notin_xsectionM// measure0.
  apply: emeasurable_funM; first exact: mk.2.
  exact/EFin_measurable_fun/measurable_fun_indic.
suff monoB : monotone_class setT B by exact: monotone_class_subset.
split => //; [exact: CB| |].
- move=> X Y XY [mX mphiX] [mY mphiY]; split; first exact: measurableD.
  have -> : phi (X `\` Y) = (fun x => phi X x - phi Y x)%E.
    rewrite funeqE => x; rewrite /phi/= xsectionD// measureD.
    + by rewrite setIidr//; exact: le_xsection.
    + exact: measurable_xsection.
    + exact: measurable_xsection.
    + by apply: le_lt_trans (mass_le1 (mk.1 x) _) _; [exact: measurable_xsection | rewrite ltry].
  exact: emeasurable_funB.
- move=> F ndF FB; split; first by apply: bigcupT_measurable => n; have [] := FB n.
  have phiF x : (fun i => phi (F i) x) --> phi (\bigcup_i F i) x.
    rewrite /phi xsection_bigcup; apply: nondecreasing_cvg_mu.
    + by move=> n; apply: measurable_xsection; case: (FB n).
    + by apply: bigcupT_measurable => i; apply: measurable_xsection; case: (FB i).
    + by move=> m n mn; exact/subsetPset/le_xsection/subsetPset/ndF.
  apply: (emeasurable_fun_cvg (phi \o F)) => //.
  + by move=> i; have [] := FB i.
  + by move=> x _; exact: phiF.
Qed.

End Sections.

(* The law of (x, y): x of law P, y of law k x. *)
Definition joint d1 (T : measurableType d1) d2 (U : measurableType d2) (R : realType) (k : T -> {measure set U -> \bar R}) (mk : markov k)
  (P : {measure set T -> \bar R}) (A : set (T * U)) : \bar R := \int[P]_x k x (xsection A x).

(* The law of y alone: what a map that may be random makes of an output of law P. *)
Definition pushed d1 (T : measurableType d1) d2 (U : measurableType d2) (R : realType) (k : T -> {measure set U -> \bar R}) (mk : markov k)
  (P : {measure set T -> \bar R}) (S : set U) : \bar R := \int[P]_x k x S.

Section Kernels.
Context d1 (T : measurableType d1) d2 (U : measurableType d2) (R : realType).
Variables (k : T -> {measure set U -> \bar R}) (mk : markov k) (P : {measure set T -> \bar R}).
Notation jointP := (joint mk P).
Notation pushedP := (pushed mk P).

Let joint0 : jointP set0 = 0.
Proof. by rewrite /joint (eq_integral (cst 0)) ?integral0//= => x _; rewrite xsection0 measure0. Qed.

Let joint_ge0 A : 0 <= jointP A.
Proof. by apply: integral_ge0 => // *; exact/measure_ge0/measurable_xsection. Qed.

Let joint_sigma_additive : semi_sigma_additive jointP.
Proof.
move=> F mF tF mUF; have -> : jointP (\bigcup_n F n) = \sum_(n <oo) jointP (F n).
  transitivity (\int[P]_x \sum_(n <oo) k x (xsection (F n) x)).
    apply: eq_integral => x _; apply/esym/cvg_lim => //=.
    rewrite xsection_bigcup; apply: (measure_sigma_additive _ (trivIset_xsection tF)).
    by move=> ?; exact: measurable_xsection.
  by rewrite integral_nneseries // => n; exact: markov_sections.
apply/cvg_closeP; split; last by rewrite closeE.
by apply: is_cvg_nneseries => *; exact: integral_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ jointP joint0 joint_ge0 joint_sigma_additive.

Lemma joint_total : P setT = 1 -> jointP setT = 1.
Proof.
move=> P1; rewrite /joint (eq_integral (cst 1)) ?integral_cst// ?mul1e// => x _.
by rewrite (_ : xsection setT x = setT) ?mk.1//; apply/seteqP; split=> y //= _; rewrite /xsection/= inE.
Qed.


Let pushed0 : pushedP set0 = 0.
Proof. by rewrite /pushed (eq_integral (cst 0)) ?integral0//= => x _; rewrite measure0. Qed.

Let pushed_ge0 A : 0 <= pushedP A.
Proof. by apply: integral_ge0. Qed.

Let pushed_sigma_additive : semi_sigma_additive pushedP.
Proof.
move=> F mF tF mUF; have -> : pushedP (\bigcup_n F n) = \sum_(n <oo) pushedP (F n).
  transitivity (\int[P]_x \sum_(n <oo) k x (F n)).
    by apply: eq_integral => x _; apply/esym/cvg_lim => //=; exact: measure_sigma_additive.
  by rewrite integral_nneseries // => n; exact: mk.2.
apply/cvg_closeP; split; last by rewrite closeE.
by apply: is_cvg_nneseries => *; exact: integral_ge0.
Qed.

HB.instance Definition _ := isMeasure.Build _ _ _ pushedP pushed0 pushed_ge0 pushed_sigma_additive.

Lemma pushed_total : P setT = 1 -> pushedP setT = 1.
Proof. by move=> P1; rewrite /pushed (eq_integral (cst 1)) ?integral_cst// ?mul1e// => x _; rewrite mk.1. Qed.
End Kernels.

