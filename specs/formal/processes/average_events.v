(* Averages of events that are independent in pairs (docs/theory/additive.md: elliptical process unbounded): how many of the first n occur is near the
   sum of their probabilities (Chebyshev), so that an event tells on which side of a number their mean probability tends to be. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood means chain orthogonal_laws.

Section Averages.
Context (R : realType) d (Y : measurableType d) (A : nat -> set Y).
Hypothesis mA : forall i, measurable (A i).

(* How many of the first n events occur. *)
Definition count (n : nat) (y : Y) : R := \sum_(i < n) \1_(A i) y.

Lemma measurable_count n : measurable_fun setT (count n).
Proof.
by apply: (@measurable_total R d Y n (fun i => \1_(A i))) => i; exact: measurable_fun_indic.
Qed.

Lemma count_ge0 n y : 0 <= count n y. Proof. by apply: sumr_ge0 => i _; rewrite indicE ler0n. Qed.

(* The first (m + 2)^4 are counted, with room of 2 (m + 2)^3: the frequency is more than theta, but for 2/(m + 2). *)
Definition often (theta : R) (m : nat) : set Y := [set y | m.+2%:R ^+ 4 * theta - 2 * m.+2%:R ^+ 3 < count (m.+2 ^ 4) y].
Definition at_last (theta : R) : set Y := \bigcup_M \bigcap_n often theta (n + M)%N.

Lemma measurable_often theta m : measurable (often theta m).
Proof. by apply: measurable_where; [exact: measurable_count | exact: measurable_fun_cst]. Qed.

Lemma measurable_at_last theta : measurable (at_last theta).
Proof. by apply: bigcupT_measurable => M; apply: bigcapT_measurable => n; exact: measurable_often. Qed.

Section Law.
Variables (P : {measure set Y -> \bar R}) (p : nat -> R) (mean K : R).
Hypotheses (P1 : P setT = 1%E) (PA : forall i, P (A i) = (p i)%:E) (pairs : forall i j, i != j -> P (A i `&` A j) = (p i * p j)%:E).

Let p01 i : 0 <= p i <= 1.
Proof. by rewrite -!lee_fin -PA measure_ge0 mass_le1. Qed.

Lemma count_second n : (\int[P]_y ((count n y - \sum_(i < n) p i) ^+ 2)%:E <= n%:R%:E)%E.
Proof.
set s := \sum_(i < n) p i; have s0 : 0 <= s by apply: sumr_ge0 => i _; have /andP[] := p01 i.
have mc := measurable_count n.
have msq : measurable_fun setT (fun y => (count n y - s) ^+ 2).
  under eq_fun do rewrite expr2; apply: measurable_funM; apply: measurable_funB => //; exact: measurable_fun_cst.
have count_mean : (\int[P]_y (count n y)%:E = s%:E)%E.
  rewrite /count /s -sumEFin; under eq_integral do rewrite -sumEFin.
  rewrite ge0_integral_sum//; last 2 first.
  - by move=> i; apply/EFin_measurable_fun; exact: measurable_fun_indic.
  - by move=> i y _; rewrite lee_fin indicE ler0n.
  by apply: eq_bigr => i _; rewrite integral_indic// setIT.
have pair_mean : (\int[P]_y (count n y ^+ 2)%:E = (\sum_(i < n) \sum_(j < n) if i == j then p i else p i * p j)%:E)%E.
  transitivity (\int[P]_y \sum_(i < n) \sum_(j < n) (\1_(A i `&` A j) y)%:E)%E.
    apply: eq_integral => y _; rewrite expr2 /count big_distrlr/= -sumEFin; apply: eq_bigr => i _.
    by rewrite -sumEFin; apply: eq_bigr => j _; rewrite !indicE in_setI; case: (_ \in _); case: (_ \in _); rewrite ?mulr1 ?mulr0.
  have mi (i j : nat) : measurable_fun setT (fun y => (\1_(A i `&` A j) y : R)%:E).
    by apply/EFin_measurable_fun; apply: measurable_fun_indic; exact: measurableI.
  have i0 (i j : nat) y : (0 <= (\1_(A i `&` A j) y : R)%:E)%E by rewrite lee_fin indicE ler0n.
  rewrite ge0_integral_sum//; last 2 first.
  - by move=> i; apply: emeasurable_fun_sum => j; exact: mi.
  - by move=> i y _; apply: sume_ge0 => j _; exact: i0.
  rewrite -sumEFin; apply: eq_bigr => i _; rewrite ge0_integral_sum//.
  rewrite -sumEFin; apply: eq_bigr => j _; rewrite integral_indic//; last exact: measurableI.
  rewrite setIT.
  by case: eqP => [->|/eqP ij]; [rewrite setIid PA | rewrite pairs].
have whole : (\int[P]_y ((count n y - s) ^+ 2)%:E + (2 * s * s)%:E = (\sum_(i < n) \sum_(j < n) (if i == j then p i else p i * p j) + s ^+ 2)%:E)%E.
  rewrite EFinD -pair_mean EFinM -count_mean.
  have -> : ((s ^+ 2)%:E = \int[P]_y (s ^+ 2)%:E)%E by rewrite integral_cst// P1 mule1.
  rewrite -ge0_integralM//; last 3 first.
  - by apply/EFin_measurable_fun; exact: mc.
  - by move=> y _; rewrite lee_fin count_ge0.
  - by rewrite lee_fin mulr_ge0.
  rewrite -!ge0_integralD//.
  - by apply: eq_integral => y _; rewrite -EFinM -!EFinD; congr EFin; lra.
  - by move=> y _; rewrite lee_fin sqr_ge0.
  - by apply/EFin_measurable_fun; under eq_fun do rewrite expr2; exact: measurable_funM.
  - by move=> y _; rewrite lee_fin sqr_ge0.
  - exact: measurable_fun_cst.
  - by move=> y _; rewrite lee_fin sqr_ge0.
  - exact/EFin_measurable_fun.
  - by move=> y _; rewrite -EFinM lee_fin !mulr_ge0 ?count_ge0.
  - by under eq_fun do rewrite -EFinM; apply/EFin_measurable_fun; exact: measurable_funrM.
have le : \sum_(i < n) \sum_(j < n) (if i == j then p i else p i * p j) <= s * s + n%:R.
  have -> : n%:R = \sum_(i < n) (1 : R) by rewrite sumr_const card_ord.
  rewrite {1}/s mulr_suml -big_split/=; apply: ler_sum => i _; rewrite mulr_sumr.
  rewrite (bigD1 i)//= eqxx [X in _ <= X + _](bigD1 i)//= -addrA [X in _ <= _ + X]addrC addrA.
  apply: ler_add; last by apply: ler_sum => j ji; rewrite eq_sym (negbTE ji).
  by have /andP[h0 h1] := p01 i; rewrite ler_paddl// mulr_ge0.
set I := (\int[P]_y _)%E in whole *; have I0 : (0 <= I)%E by apply: integral_ge0 => y _; rewrite lee_fin sqr_ge0.
case E : I I0 whole => [r| |]//; rewrite -EFinD => _ [whole]; rewrite lee_fin; move: le whole; rewrite expr2; lra.
Qed.

Lemma count_near n r : 0 < r -> (P [set y | (r <= `|count n y - \sum_(i < n) p i|)%R] <= (n%:R / r ^+ 2)%:E)%E.
Proof. by move=> r0; exact: (chebyshev (measurable_count n) r0 (count_second n)). Qed.

(* The sum of the first n probabilities is n times `mean`, but for K times the root of n. *)
Hypothesis near_mean : forall m : nat, `|\sum_(i < m.+2 ^ 4) p i - m.+2%:R ^+ 4 * mean| <= K * m.+2%:R ^+ 2.

Let room m : (P [set y | (m.+2%:R ^+ 3 <= `|count (m.+2 ^ 4) y - \sum_(i < m.+2 ^ 4) p i|)%R] <= (1 / m.+2%:R ^+ 2)%:E)%E.
Proof.
have a0 : 0 < m.+2%:R :> R by rewrite ltr0n.
have a3 : 0 < m.+2%:R ^+ 3 :> R by exact: exprn_gt0.
apply: le_trans (count_near (m.+2 ^ 4) a3) _; rewrite lee_fin natrX -exprM.
have -> : m.+2%:R ^+ (3 * 2) = m.+2%:R ^+ 4 * m.+2%:R ^+ 2 :> R by rewrite -exprD.
by rewrite invfM mulrA mulfV// gt_eqF// exprn_gt0.
Qed.

Let far m : measurable [set y | (m.+2%:R ^+ 3 <= `|count (m.+2 ^ 4) y - \sum_(i < m.+2 ^ 4) p i|)%R].
Proof. by apply: measurable_at_least; exact: measurable_count. Qed.

Let later (m n : nat) : (1 / (m + n).+2%:R ^+ 2 <= 1 / m.+2%:R ^+ 2 :> R).
Proof.
rewrite !mul1r lef_pinv ?posrE ?exprn_gt0 ?ltr0n// ler_pexpn2r ?nnegrE ?ler0n// ler_nat !ltnS; exact: leq_addr.
Qed.

Lemma at_last_sure theta : theta <= mean -> P (at_last theta) = 1%E.
Proof.
move=> tm; pose m0 := Num.bound `|K|; pose bad n := ~` often theta (n + m0)%N.
have mbad n : measurable (bad n) by apply: measurableC; exact: measurable_often.
have rare n : (P (bad n) <= (1 / n.+2%:R ^+ 2)%:E)%E.
  apply: (@le_trans _ _ (1 / (n + m0).+2%:R ^+ 2)%:E); last by rewrite lee_fin.
  apply: le_trans (room (n + m0)); apply: le_measure; rewrite ?inE//.
  move=> y; rewrite /bad /often/= => /negP; rewrite -leNgt => few.
  set a : R := (n + m0).+2%:R in few *; have a0 : 0 < a by rewrite ltr0n.
  have Ka : K <= a.
    apply: le_trans (ler_norm K) _; apply: (@le_trans _ _ m0%:R); first by apply/ltW/archi_boundP.
    by rewrite ler_nat; apply: (leq_trans (leq_addl n m0)); rewrite leqW.
  have := near_mean (n + m0); rewrite ler_norml => /andP[h _].
  have KK : K * a ^+ 2 <= a ^+ 3 by rewrite [a ^+ 3]exprS; apply: ler_wpmul2r => //; exact: sqr_ge0.
  have tt : a ^+ 4 * theta <= a ^+ 4 * mean by apply: ler_wpmul2l => //; rewrite exprn_ge0// ltW.
  rewrite distrC; apply: le_trans (ler_norm _); move: few h KK tt; rewrite -/a; lra.
have none : P (~` at_last theta) = 0%E.
  apply: (@vanishing _ _ _ _ _ 1) => m; apply: le_trans (telescoping_union (K := 1) m ler01 mbad rare).
  apply: le_measure; rewrite ?inE; first by apply: measurableC; exact: measurable_at_last.
    by apply: bigcupT_measurable => n.
  move=> y out; apply: contrapT => h; apply: out; exists (m + m0)%N => // n _; rewrite addnA.
  by apply: contrapT => h'; apply: h; exists n.
have mS := measurable_at_last theta; have mC : measurable (~` at_last theta) by exact: measurableC.
have e : P setT = (P (at_last theta) + P (~` at_last theta))%E.
  by rewrite -measureU ?setUv ?setICr.
by move: e; rewrite none adde0 P1.
Qed.

Lemma at_last_never theta : mean < theta -> P (at_last theta) = 0%E.
Proof.
move=> mt; have g0 : 0 < theta - mean by rewrite subr_gt0.
pose m1 := Num.bound ((`|K| + 3) / (theta - mean)).
have rare m : (P (often theta (m + m1)%N) <= (1 / m.+2%:R ^+ 2)%:E)%E.
  apply: (@le_trans _ _ (1 / (m + m1).+2%:R ^+ 2)%:E); last by rewrite lee_fin.
  apply: le_trans (room (m + m1)); apply: le_measure; rewrite ?inE//; first exact: measurable_often.
  move=> y; rewrite /often/= => many.
  set a : R := (m + m1).+2%:R in many *; have a0 : 0 < a by rewrite ltr0n.
  have a1 : 1 <= a by rewrite ler1n.
  have enough : `|K| + 3 <= a * (theta - mean).
    rewrite -ler_pdivr_mulr//; apply: (@le_trans _ _ m1%:R).
      apply/ltW/archi_boundP; apply: divr_ge0; last exact: ltW.
      by have := normr_ge0 K; lra.
    by rewrite ler_nat; apply: (leq_trans (leq_addl m m1)); rewrite leqW.
  have := near_mean (m + m1); rewrite ler_norml => /andP[_ h].
  have a3 : 0 <= a ^+ 3 by rewrite exprn_ge0// ltW.
  have KK : K * a ^+ 2 <= `|K| * a ^+ 3.
    apply: (@le_trans _ _ (`|K| * a ^+ 2)); first by apply: ler_wpmul2r; [exact: sqr_ge0 | exact: ler_norm].
    by apply: ler_wpmul2l => //; rewrite [a ^+ 3]exprS ler_pemull// sqr_ge0.
  have tt := ler_wpmul2r a3 enough.
  have t4 : a * (theta - mean) * a ^+ 3 = a ^+ 4 * theta - a ^+ 4 * mean by rewrite mulrAC -exprS mulrBr.
  apply: le_trans (ler_norm _); move: many h KK tt; rewrite t4 mulrDl -/a; lra.
apply: countable_null => [M|M]; first by apply: bigcapT_measurable => n; exact: measurable_often.
apply: (@vanishing _ _ _ _ _ 1) => m.
apply: (@le_trans _ _ (1 / (m + M).+2%:R ^+ 2)%:E); last first.
  rewrite lee_fin !mul1r lef_pinv ?posrE ?exprn_gt0 ?ltr0n//; apply: (@le_trans _ _ (m + M).+2%:R).
    by rewrite ler_nat !ltnS leqW// leq_addr.
  by rewrite expr2 ler_pmulr ?ltr0n// ler1n.
apply: le_trans (rare (m + M)%N); apply: le_measure; rewrite ?inE.
- by apply: bigcapT_measurable => n; exact: measurable_often.
- exact: measurable_often.
- by move=> y /(_ (m + m1)%N I); rewrite addnAC.
Qed.
End Law.
End Averages.
