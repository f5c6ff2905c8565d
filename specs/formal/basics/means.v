(* Powers of numbers from 0 to 1, and means of test functions with values there: what the Renyi divergence is defined by (renyi.v). A test
   function is approached by steps of 1/n, so that what holds of events holds of test functions; the mean under a joint law is the mean of
   means (Fubini for a law that depends on the first output). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs powers.
Import numFieldNormedType.Exports.

(* -- Powers -- *)

Section Powers.
Context (R : realType).
Implicit Types (x y c t : R).

Lemma pow0 t : pow t 0 = 0 :> R. Proof. by rewrite /pow eqxx. Qed.
Lemma pow1 t : pow t 1 = 1 :> R. Proof. by rewrite /pow oner_eq0 ln1 mulr0 expR0. Qed.
Lemma pow_pos t x : 0 < x -> pow t x = expR (t * ln x). Proof. by move=> x0; rewrite /pow gt_eqF. Qed.
Lemma pow_gt0 t x : 0 < x -> 0 < pow t x. Proof. by move=> x0; rewrite pow_pos// expR_gt0. Qed.
Lemma pow_expR t x : pow t (expR x) = expR (t * x). Proof. by rewrite pow_pos ?expR_gt0// expK. Qed.

Lemma powM t x y : 0 <= x -> 0 <= y -> pow t (x * y) = pow t x * pow t y.
Proof.
rewrite !le_eqVlt => /orP[/eqP<-|x0]; first by rewrite mul0r pow0 mul0r.
move=> /orP[/eqP<-|y0]; first by rewrite mulr0 pow0 mulr0.
by rewrite !pow_pos ?mulr_gt0// lnM ?posrE// mulrDr expRD.
Qed.

Lemma pow_pow s t x : 0 <= x -> pow s (pow t x) = pow (s * t) x.
Proof.
by rewrite le_eqVlt => /orP[/eqP<-|x0]; [rewrite !pow0 | rewrite (pow_pos t x0) pow_expR pow_pos// mulrA].
Qed.

Lemma pow_one x : 0 <= x -> pow 1 x = x.
Proof. by rewrite le_eqVlt => /orP[/eqP<-|x0]; [rewrite pow0 | rewrite pow_pos// mul1r lnK]. Qed.

Lemma powD s t x : 0 <= x -> pow s x * pow t x = if x == 0 then 0 else pow (s + t) x.
Proof.
rewrite le_eqVlt => /orP[/eqP<-|x0]; first by rewrite eqxx !pow0 mul0r.
by rewrite gt_eqF// !pow_pos// -expRD mulrDl.
Qed.

Lemma pow_lt t x y : 0 < t -> 0 <= x -> x < y -> pow t x < pow t y.
Proof.
move=> t0; rewrite le_eqVlt => /orP[/eqP<-|x0] xy; first by rewrite pow0 pow_gt0.
by rewrite !pow_pos ?(lt_trans x0 xy)// ltr_expR ltr_pmul2l// ltr_ln ?posrE// (lt_trans x0 xy).
Qed.

Lemma pow_le t x y : 0 <= t -> 0 <= x -> x <= y -> pow t x <= pow t y.
Proof.
move=> t0; rewrite le_eqVlt => /orP[/eqP<-|x0] xy; first by rewrite pow0 pow_ge0.
have y0 := lt_le_trans x0 xy.
by rewrite !pow_pos// ler_expR; apply: ler_wpmul2l => //; rewrite ler_ln ?posrE.
Qed.

(* The tangent from above, of powers of at most 1. *)
Lemma pow_concave t c x : 0 < t -> t <= 1 -> 0 < c -> 0 <= x -> pow t x <= pow t c * (1 + t * (x / c - 1)).
Proof.
move=> t0 t1 c0 x0; have C0 := pow_gt0 t c0; have ti : 1 <= t^-1 by rewrite invr_ge1 ?unitf_gt0.
have := pow_tangent ti C0 (pow_ge0 t x); rewrite !pow_pow ?(ltW c0)// mulVf ?gt_eqF// !pow_one ?(ltW c0)// => h.
have {}h : c * t * (1 + t^-1 * (pow t x / pow t c - 1)) <= t * x.
  by rewrite [c * t]mulrC -mulrA; apply: ler_wpmul2l => //; exact: ltW.
have e : c * t * (1 + t^-1 * (pow t x / pow t c - 1)) = c * (t + (pow t x / pow t c - 1)).
  by rewrite -mulrA mulrDr mulr1 mulrA divff ?gt_eqF// mul1r.
move: h; rewrite e mulrC -ler_pdivl_mulr// => h.
rewrite -ler_pdivr_mull// mulrC; have -> : t * (x / c - 1) = t * x / c - t by rewrite mulrBr mulr1 mulrA.
by move: h; lra.
Qed.

Lemma pow_subadditive t x y : 0 < t -> t <= 1 -> 0 <= x -> 0 <= y -> pow t (x + y) <= pow t x + pow t y.
Proof.
move=> t0 t1; rewrite le_eqVlt => /orP[/eqP<-|x0]; first by rewrite add0r pow0 add0r.
rewrite le_eqVlt => /orP[/eqP<-|y0]; first by rewrite addr0 pow0 addr0.
have s0 : 0 < x + y by rewrite addr_gt0.
have small z : 0 < z -> z <= x + y -> z / (x + y) * pow t (x + y) <= pow t z.
  move=> z0 zs; rewrite !pow_pos//; have -> : expR (t * ln z) = expR (t * ln (x + y)) * expR (t * ln (z / (x + y))).
    by rewrite -expRD ln_div ?posrE//; congr expR; lra.
  rewrite mulrC; apply: ler_wpmul2l; first exact: expR_ge0.
  have q0 : 0 < z / (x + y) by rewrite divr_gt0.
  rewrite -[leLHS]lnK ?posrE// ler_expR -[leLHS]mul1r.
  have l0 : ln (z / (x + y)) <= 0.
    by rewrite -(@ler_expR R) lnK ?posrE// expR0 ler_pdivr_mulr// mul1r.
  by have : (1 - t) * ln (z / (x + y)) <= 0; [apply: mulr_ge0_le0; lra | lra].
have hx := small x x0; have hy := small y y0.
have {}hx := hx (_ : x <= x + y); have {}hy := hy (_ : y <= x + y).
rewrite -[leLHS]mul1r -[X in X * _ <= _](@divff _ (x + y)) ?gt_eqF// mulrDl mulrDl.
by apply: ler_add; [apply: hx | apply: hy]; rewrite ?ler_addl ?ler_addr ltW.
Qed.
End Powers.

(* -- Means of test functions -- *)

Section Means.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}) (g h : T -> R).

Definition test g := measurable_fun setT g /\ forall y, 0 <= g y <= 1.
Definition mean P g : R := fine (\int[P]_y (g y)%:E)%E.

Lemma test_ge0 g y : test g -> 0 <= g y. Proof. by case=> _ /(_ y)/andP[]. Qed.
Lemma test_le1 g y : test g -> g y <= 1. Proof. by case=> _ /(_ y)/andP[]. Qed.

Lemma mean_int P g : P setT = 1%E -> test g -> (\int[P]_y (g y)%:E = (mean P g)%:E)%E.
Proof.
move=> P1 tg; rewrite /mean fineK// ge0_fin_numE; last by apply: integral_ge0 => y _; rewrite lee_fin; exact: test_ge0.
apply: (@le_lt_trans _ _ (\int[P]_y (1%:E))%E).
  apply: ge0_le_integral => //; first by move=> y _; rewrite lee_fin; exact: test_ge0.
  - by apply/EFin_measurable_fun; have [] := tg.
  - exact: measurable_fun_cst.
  - by move=> y _; rewrite lee_fin; exact: test_le1.
by rewrite integral_cst// mul1e P1 ltry.
Qed.

Lemma mean_ge0 P g : test g -> 0 <= mean P g.
Proof. by move=> tg; rewrite fine_ge0// integral_ge0// => y _; rewrite lee_fin; exact: test_ge0. Qed.

Lemma mean_le P g h : P setT = 1%E -> test g -> test h -> (forall y, g y <= h y) -> mean P g <= mean P h.
Proof.
move=> P1 tg th le; rewrite -lee_fin -!mean_int//; apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin; exact: test_ge0.
- by apply/EFin_measurable_fun; have [] := tg.
- by move=> y _; rewrite lee_fin; exact: test_ge0.
- by apply/EFin_measurable_fun; have [] := th.
- by move=> y _; rewrite lee_fin.
Qed.

(* What is true of integrals of sums, as one rule for comparisons: a g + b <= c h + e everywhere. *)
Lemma mean_affine P g (a b : R) : P setT = 1%E -> test g -> 0 <= a -> 0 <= b -> (\int[P]_y (a * g y + b)%:E = (a * mean P g + b)%:E)%E.
Proof.
move=> P1 tg a0 b0; have [mg _] := tg; under eq_integral do rewrite EFinD EFinM.
rewrite ge0_integralD//.
- rewrite ge0_integralM//; last by move=> y _; rewrite lee_fin; exact: test_ge0.
  + by rewrite mean_int// integral_cst// P1 mule1 -EFinM -EFinD.
  + exact/EFin_measurable_fun.
- by move=> y _; rewrite mule_ge0// lee_fin; exact: test_ge0.
- by apply: emeasurable_funM; [exact: measurable_fun_cst | exact/EFin_measurable_fun].
- exact: measurable_fun_cst.
Qed.

Lemma mean_le_affine P g h (a b c e : R) : P setT = 1%E -> test g -> test h -> 0 <= a -> 0 <= b -> 0 <= c -> 0 <= e ->
  (forall y, a * g y + b <= c * h y + e) -> a * mean P g + b <= c * mean P h + e.
Proof.
move=> P1 tg th a0 b0 c0 e0 le; rewrite -lee_fin -!mean_affine//.
have [mg _] := tg; have [mh _] := th.
have m (u : T -> R) (v k : R) : measurable_fun setT u -> measurable_fun setT (fun y : T => (v * u y + k)%:E).
  by move=> mu; apply/EFin_measurable_fun; apply: measurable_funD; [exact: measurable_funrM | exact: measurable_fun_cst].
apply: ge0_le_integral => //; try exact: m.
- by move=> y _; rewrite lee_fin addr_ge0// mulr_ge0//; exact: test_ge0.
- by move=> y _; rewrite lee_fin addr_ge0// mulr_ge0//; exact: test_ge0.
- by move=> y _; rewrite lee_fin.
Qed.

Lemma mean_within P g h (e : R) : P setT = 1%E -> test g -> test h -> 0 <= e -> (forall y, g y <= h y + e) -> mean P g <= mean P h + e.
Proof.
move=> P1 tg th e0 le; have := mean_le_affine P1 tg th ler01 (lexx 0) ler01 e0; rewrite !mul1r addr0; apply => y.
by rewrite !mul1r addr0.
Qed.

Lemma test_cst (a : R) : 0 <= a <= 1 -> test (fun _ => a).
Proof. by move=> a01; split=> [|y] //; exact: measurable_fun_cst. Qed.

Lemma mean_cst P (a : R) : P setT = 1%E -> mean P (fun _ => a) = a.
Proof. by move=> P1; rewrite /mean integral_cst// P1 mule1. Qed.

Lemma mean_le1 P g : P setT = 1%E -> test g -> mean P g <= 1.
Proof.
move=> P1 tg; have t1 : test (fun _ : T => 1 : R) by apply: test_cst; rewrite ler01 lexx.
by rewrite -[leRHS](mean_cst _ P1); apply: mean_le => // y; exact: test_le1.
Qed.

Lemma test_indic S : measurable S -> test (\1_S : T -> R).
Proof. by move=> mS; split=> [|y]; [exact: measurable_fun_indic | rewrite indicE; case: (_ \in _); rewrite ?lexx ?ler01]. Qed.

Lemma mean_indic P S : measurable S -> mean P \1_S = fine (P S).
Proof. by move=> mS; rewrite /mean integral_indic// setIT. Qed.

(* Powers of test functions are such. *)
Lemma test_pow t g : 0 < t -> test g -> test (fun y => pow t (g y)).
Proof.
move=> t0 tg; have [mg _] := tg; split=> [|y]; last first.
  by rewrite pow_ge0 -[leRHS](@pow1 R t); apply: pow_le; [exact: ltW | exact: test_ge0 | exact: test_le1].
move=> mT; apply: (measurability (RGenOInfty.measurableE R)) => // _ [_ [r ->] <-]; rewrite setTI.
have [r0|r0] := ltP r 0.
  rewrite (_ : _ @^-1` _ = setT)//; apply/seteqP; split=> y //= _.
  by rewrite in_itv/= andbT (lt_le_trans r0)// pow_ge0.
rewrite (_ : _ @^-1` _ = g @^-1` `]pow t^-1 r, +oo[%classic).
  by rewrite -[X in measurable X]setTI; apply: mg => //; exact: measurable_itv.
apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT => h.
- rewrite ltNge; apply/negP => le; move: h; rewrite ltNge => /negP; apply.
  have := pow_le (ltW t0) (test_ge0 y tg) le; by rewrite pow_pow// divff ?gt_eqF// pow_one.
- have := pow_lt t0 (pow_ge0 _ _) h; by rewrite pow_pow// divff ?gt_eqF// pow_one.
Qed.

Lemma test_scale (a : R) g : 0 <= a <= 1 -> test g -> test (fun y => a * g y).
Proof.
move=> /andP[a0 a1] tg; have [mg _] := tg; split=> [|y]; first exact: measurable_funrM.
have g0 := test_ge0 y tg; have g1 := test_le1 y tg.
by apply/andP; split; [exact: mulr_ge0 | exact: mulr_ile1].
Qed.

(* -- Steps -- *)

Definition level (n : nat) g (k : nat) := [set y | k.+1%:R <= n%:R * g y].
Definition stair (n : nat) g y : R := steps n (n%:R * g y) / n%:R.

Lemma measurable_levels n g k : measurable_fun setT g -> measurable (level n g k).
Proof. exact: measurable_level. Qed.

Lemma level_indic n g k y : \1_(level n g k) y = (((k.+1%:R <= n%:R * g y) : nat)%:R : R).
Proof. by rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite inE. Qed.

Lemma stair_le n g y : (0 < n)%N -> test g -> stair n g y <= g y.
Proof.
move=> n0 tg; have nR : (0 < n%:R :> R) by rewrite ltr0n.
by rewrite /stair ler_pdivr_mulr// mulrC; apply: steps_le; rewrite mulr_ge0 ?ler0n//; exact: test_ge0.
Qed.

Lemma stair_ge n g y : (0 < n)%N -> test g -> g y <= stair n g y + n%:R^-1.
Proof.
move=> n0 tg; have nR : (0 < n%:R :> R) by rewrite ltr0n.
rewrite /stair -[X in _ + X]mul1r -mulrDl ler_pdivl_mulr// mulrC; apply: steps_ge; first by rewrite mulr_ge0 ?ler0n//; exact: test_ge0.
by rewrite -[leRHS]mulr1; apply: ler_wpmul2l; [rewrite ler0n | exact: test_le1].
Qed.
End Means.

(* How many of 1, ..., n are at most z, as a whole number. *)
Section Counting.
Context (R : realType).

Definition count (n : nat) (z : R) : nat := (\sum_(k < n) (k.+1%:R <= z)%R)%N.

Lemma countS n z : count n.+1 z = (count n z + (n.+1%:R <= z)%R)%N.
Proof. by rewrite /count big_ord_recr. Qed.

Lemma steps_count n z : steps n z = (count n z)%:R.
Proof. by elim: n => [|n IH]; [rewrite /steps /count !big_ord0 | rewrite stepsS countS natrD IH]. Qed.

Lemma count_full n z : n%:R <= z -> count n z = n.
Proof. by move=> h; apply/eqP; rewrite -(eqr_nat R) -steps_count steps_full. Qed.

Lemma telescope (F : nat -> R) n z : \sum_(k < n) (F k.+1 - F k) * ((k.+1%:R <= z) : nat)%:R = F (count n z) - F 0%N.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 /count big_ord0 subrr.
rewrite big_ord_recr/= IH countS; have [h|_] := leP n.+1%:R z; last by rewrite mulr0 addr0 addn0.
have -> : count n z = n by apply: count_full; apply: le_trans h; rewrite ler_nat.
by rewrite mulr1 addn1 addrC addrA subrK.
Qed.
End Counting.

Section Layers.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}) (g h : T -> R).

Lemma integral_layers P n (A : nat -> set T) (c : nat -> R) : P setT = 1%E -> (forall k, measurable (A k)) -> (forall k, 0 <= c k) ->
  (\int[P]_y (\sum_(k < n) c k * \1_(A k) y)%:E = (\sum_(k < n) c k * fine (P (A k)))%:E)%E.
Proof.
move=> P1 mA c0; under eq_integral do rewrite -sumEFin.
rewrite ge0_integral_sum//.
- rewrite -sumEFin; apply: eq_bigr => k _; under eq_integral do rewrite EFinM.
  rewrite ge0_integralM ?lee_fin//.
  + by rewrite integral_indic// setIT EFinM fineK// mass_fin.
  + by apply/EFin_measurable_fun; exact: measurable_fun_indic.
  + by move=> y _; rewrite lee_fin.
- move=> k; apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_fun_indic.
- by move=> k y _; rewrite lee_fin mulr_ge0.
Qed.

Lemma stair_layers n g y : (0 < n)%N -> stair n g y = \sum_(k < n) n%:R^-1 * \1_(level n g k) y.
Proof.
by move=> n0; rewrite /stair /steps mulr_suml; apply: eq_bigr => k _; rewrite level_indic mulrC.
Qed.

Lemma pow_stair_layers n g y t : (0 < n)%N ->
  pow t (stair n g y) = \sum_(k < n) (pow t (k.+1%:R / n%:R) - pow t (k%:R / n%:R)) * \1_(level n g k) y.
Proof.
move=> n0; under eq_bigr do rewrite level_indic.
rewrite (telescope (fun k => pow t (k%:R / n%:R)) n (n%:R * g y)) mul0r pow0 subr0.
by rewrite /stair steps_count.
Qed.

Lemma test_stair n g : (0 < n)%N -> test g -> test (stair n g).
Proof.
move=> n0 tg; have [mg _] := tg; have nR : (0 < n%:R :> R) by rewrite ltr0n.
split=> [|y]; last first.
  rewrite (le_trans (stair_le _ n0 tg)) ?(test_le1 _ tg)// andbT /stair divr_ge0 ?ler0n//.
  by apply: sumr_ge0 => k _; rewrite ler0n.
rewrite (_ : stair n g = (fun y => \sum_(k <- index_enum [finType of 'I_n]) n%:R^-1 * \1_(level n g k) y)); last first.
  by apply/funext => y; exact: stair_layers.
apply/EFin_measurable_fun; rewrite (_ : EFin \o _ = (fun y => \sum_(k <- index_enum [finType of 'I_n]) (n%:R^-1 * \1_(level n g k) y)%:E)%E); last first.
  by apply/funext => y; rewrite /= sumEFin.
apply: emeasurable_fun_sum => k; apply/EFin_measurable_fun; apply: measurable_funrM; apply: measurable_fun_indic.
exact: measurable_levels.
Qed.

Lemma mean_stair P n g : P setT = 1%E -> (0 < n)%N -> test g -> mean P (stair n g) = \sum_(k < n) n%:R^-1 * fine (P (level n g k)).
Proof.
move=> P1 n0 [mg _]; rewrite /mean; under eq_integral do rewrite stair_layers//.
rewrite (@integral_layers P n (level n g) (fun _ => n%:R^-1))//; first by move=> k; exact: measurable_levels.
Qed.

(* A test function and its stairs have means that differ by at most 1/n. *)
Lemma mean_stair_near P n g : P setT = 1%E -> (0 < n)%N -> test g -> mean P (stair n g) <= mean P g <= mean P (stair n g) + n%:R^-1.
Proof.
move=> P1 n0 tg; have ts := test_stair n0 tg; rewrite mean_le//=; last by move=> y; exact: stair_le.
by apply: mean_within => // y; exact: stair_ge.
Qed.

(* Two numbers that are within 1/n for every n are one. *)
Lemma within_all (x y : R) : (forall n, (0 < n)%N -> x <= y + n%:R^-1) -> x <= y.
Proof.
move=> h; rewrite leNgt; apply/negP => lt; have e0 : 0 < x - y by rewrite subr_gt0.
pose n := `|ceil ((x - y)^-1)|%N.+1; have := h n isT; apply/negP; rewrite -ltNge -ltr_subr_addl.
rewrite -[ltRHS]invrK ltf_pinv ?posrE ?invr_gt0 ?ltr0n// /n -natr1 natr_absz ger0_norm; last first.
  by rewrite ceil_ge0// invr_ge0 ltW.
by rewrite ltr_spaddr// ceil_ge.
Qed.
End Layers.

(* -- Joint laws -- *)

Section Joint.
Context (R : realType) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (k : T -> {measure set U -> \bar R}) (mk : markov k).
Implicit Types (P : {measure set T -> \bar R}) (g : T * U -> R).

Lemma test_section g x : test g -> test (fun y => g (x, y)).
Proof.
move=> [mg g01]; split=> // mT B mB; rewrite setTI.
rewrite (_ : _ @^-1` B = xsection (g @^-1` B) x); last by apply/seteqP; split=> y; rewrite /xsection/= inE.
by apply: measurable_xsection; have := mg measurableT B mB; rewrite setTI.
Qed.

Definition inner g x : R := mean (k x) (fun y => g (x, y)).

Lemma inner_level n g x j : xsection (level n g j) x = level n (fun y => g (x, y)) j.
Proof. by apply/seteqP; split=> y; rewrite /xsection/= inE. Qed.

Lemma inner_stair n g x : (0 < n)%N -> test g -> inner (stair n g) x = \sum_(j < n) n%:R^-1 * fine (k x (xsection (level n g j) x)).
Proof.
move=> n0 tg; have -> : inner (stair n g) x = mean (k x) (stair n (fun y => g (x, y))) by [].
rewrite mean_stair//; [|exact: mk.1|exact: test_section].
by apply: eq_bigr => j _; rewrite inner_level.
Qed.

Lemma inner01 g x : test g -> 0 <= inner g x <= 1.
Proof. by move=> tg; rewrite mean_ge0 ?mean_le1//; [exact: mk.1 | exact: test_section | exact: test_section]. Qed.

Lemma inner_near n g x : (0 < n)%N -> test g -> inner (stair n g) x <= inner g x <= inner (stair n g) x + n%:R^-1.
Proof. by move=> n0 tg; apply: (mean_stair_near (mk.1 x) n0 (test_section x tg)). Qed.

Lemma test_inner_stair n g : (0 < n)%N -> test g -> test (inner (stair n g)).
Proof.
move=> n0 tg; split=> [|x]; last by apply: inner01; exact: test_stair.
rewrite (_ : inner _ = (fun x => \sum_(j <- index_enum [finType of 'I_n]) n%:R^-1 * fine (k x (xsection (level n g j) x)))); last first.
  by apply/funext => x; exact: inner_stair.
apply/EFin_measurable_fun; rewrite (_ : EFin \o _ =
    (fun x => \sum_(j <- index_enum [finType of 'I_n]) (n%:R^-1 * fine (k x (xsection (level n g j) x)))%:E)%E); last first.
  by apply/funext => x; rewrite /= sumEFin.
apply: emeasurable_fun_sum => j; apply/EFin_measurable_fun; apply: measurable_funrM.
have [mg _] := tg; apply: measurable_fun_comp => //; first exact: measurable_fun_fine.
by apply: markov_sections => //; exact: measurable_levels.
Qed.

Lemma test_inner g : test g -> test (inner g).
Proof.
move=> tg; split=> [|x]; last exact: inner01.
apply: (@measurable_fun_cvg _ _ _ setT (fun n => inner (stair n.+1 g))).
  by move=> n; have [] := @test_inner_stair n.+1 g isT tg.
move=> x _; apply/cvgrPdist_lt => e e0; near=> n.
have /andP[h1 h2] := @inner_near n.+1 g x isT tg.
rewrite ger0_norm ?subr_ge0//; apply: (@le_lt_trans _ _ n.+1%:R^-1); first by rewrite ler_subl_addr addrC.
near: n; exact: near_infty_natSinv_lt (PosNum e0).
Unshelve. all: by end_near.
Qed.

(* The mean under the joint law is the mean of the means. *)
Lemma joint_mean P g : P setT = 1%E -> test g -> mean [the measure _ _ of joint mk P] g = mean P (inner g).
Proof.
move=> P1 tg; set J := [the measure _ _ of joint mk P]; have J1 : J setT = 1%E by exact: joint_total.
have ti := test_inner tg.
have E n : (0 < n)%N -> mean J (stair n g) = mean P (inner (stair n g)).
  move=> n0; rewrite mean_stair// -[RHS]/(fine _); under [in RHS]eq_integral do rewrite inner_stair//.
  have [mg _] := tg; have mL j : measurable (level n g j) by exact: measurable_levels.
  have mx j : measurable_fun setT (fun x => (fine (k x (xsection (level n g j) x)))%:E).
    apply/EFin_measurable_fun; apply: measurable_fun_comp => //; first exact: measurable_fun_fine.
    by apply: markov_sections.
  under eq_integral do rewrite -sumEFin.
  have n1 : 0 <= n%:R^-1 :> R by rewrite invr_ge0 ler0n.
  rewrite ge0_integral_sum//; last first.
    by move=> j; under eq_fun do rewrite EFinM; apply: emeasurable_funM => //; exact: measurable_fun_cst.
  transitivity (fine (\sum_(j < n) n%:R^-1 * fine (J (level n g j)))%:E) => //; congr fine.
  rewrite -sumEFin; apply: eq_bigr => j _; apply/esym; under eq_integral do rewrite EFinM.
  rewrite ge0_integralM//.
  rewrite EFinM fineK; last by apply: (@mass_fin _ _ _ J).
  congr (_ * _)%E; apply: eq_integral => x _; rewrite fineK//; apply: mass_fin; [exact: mk.1 | exact: measurable_xsection].
have near n : (0 < n)%N -> mean P (inner (stair n g)) <= mean P (inner g) <= mean P (inner (stair n g)) + n%:R^-1.
  move=> n0; have ts := test_inner_stair n0 tg; rewrite mean_le//=; last by move=> x; case/andP: (inner_near x n0 tg).
  by apply: mean_within => // x; case/andP: (inner_near x n0 tg).
apply/eqP; rewrite eq_le; apply/andP; split; apply: within_all => n n0; have /andP[a1 a2] := mean_stair_near J1 n0 tg; have /andP[b1 b2] := near n n0.
- by apply: (le_trans a2); rewrite ler_add2r E.
- by apply: (le_trans b2); rewrite ler_add2r -E.
Qed.

(* And so is the mean of what a map of the output makes of it. *)
Lemma test_second (g : U -> R) : test g -> test (fun z : T * U => g z.2).
Proof.
move=> [mg g01]; split=> [mT B mB|z]; last exact: g01.
rewrite setTI (_ : _ @^-1` B = setT `*` (g @^-1` B)); last by apply/seteqP; split=> -[x y] //= [].
by apply: measurableM => //; have := mg measurableT B mB; rewrite setTI.
Qed.

Lemma pushed_mean P (g : U -> R) : P setT = 1%E -> test g ->
  test (fun x => mean (k x) g) /\ mean [the measure _ _ of pushed mk P] g = mean P (fun x => mean (k x) g).
Proof.
move=> P1 tg; have t2 := test_second tg; split; first exact: (test_inner t2).
rewrite -(joint_mean P1 t2); set J := [the measure _ _ of joint mk P]; set K := [the measure _ _ of pushed mk P].
have J1 : J setT = 1%E by exact: joint_total.
have K1 : K setT = 1%E by exact: pushed_total.
have E n : (0 < n)%N -> mean K (stair n g) = mean J (stair n (fun z => g z.2)).
  move=> n0; rewrite !mean_stair//; apply: eq_bigr => j _; congr (_ * fine _); apply: eq_integral => x _; congr (k x _).
  by apply/seteqP; split=> y; rewrite /xsection/= inE.
apply/eqP; rewrite eq_le; apply/andP; split; apply: within_all => n n0; have /andP[a1 a2] := mean_stair_near J1 n0 t2;
  have /andP[b1 b2] := mean_stair_near K1 n0 tg.
- by apply: (le_trans b2); rewrite ler_add2r E.
- by apply: (le_trans a2); rewrite ler_add2r -E.
Qed.
End Joint.
