(* Noise s sqrt(V) N under a difference that the noise does not reach (docs/theory/processes.md, orthogonal laws): an event has probability 1 on
   one neighbour and 0 on the other, whatever the law of V, so that no epsilon holds at any delta below 1. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition mixtures curves pairs likelihood powers means.

Section Tails.
Context (R : realType) d (Y : measurableType d) (P : {measure set Y -> \bar R}).

Lemma measurable_at_least (f : Y -> R) (c r : R) : measurable_fun setT f -> measurable [set y | r <= `|f y - c|].
Proof.
move=> mf; rewrite (_ : [set y | _] = ~` [set y | `|f y - c| < r]).
  apply: measurableC; apply: measurable_where; first exact: measurable_fun_cst.
  have md : measurable_fun setT (fun y => f y - c) by apply: measurable_funB => //; exact: measurable_fun_cst.
  by apply: measurable_fun_comp md; exact: measurable_fun_normr.
by apply/seteqP; split=> y /=; [rewrite leNgt => /negP | move/negP; rewrite -leNgt].
Qed.

(* Chebyshev: by the second moment about c. *)
Lemma chebyshev (f : Y -> R) (c K r : R) : measurable_fun setT f -> 0 < r -> (\int[P]_y ((f y - c) ^+ 2)%:E <= K%:E)%E ->
  (P [set y | (r <= `|f y - c|)%R] <= (K / r ^+ 2)%:E)%E.
Proof.
move=> mf r0 second; set A := [set y | _]; have mA : measurable A by exact: measurable_at_least.
have r2 : 0 < r ^+ 2 by exact: exprn_gt0.
have md : measurable_fun setT (fun y => f y - c) by apply: measurable_funB => //; exact: measurable_fun_cst.
have : ((r ^+ 2)%:E * P A <= K%:E)%E.
  apply: le_trans second; have -> : P A = (\int[P]_y (\1_A y)%:E)%E by rewrite integral_indic// setIT.
  rewrite -ge0_integralM//; last 3 first.
  - by apply/EFin_measurable_fun; exact: measurable_fun_indic.
  - by move=> y _; rewrite lee_fin.
  - by rewrite lee_fin ltW.
  apply: ge0_le_integral => //.
  - by move=> y _; rewrite -EFinM lee_fin mulr_ge0// ltW.
  - under eq_fun do rewrite -EFinM; apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_fun_indic.
  - by move=> y _; rewrite lee_fin sqr_ge0.
  - by apply/EFin_measurable_fun; under eq_fun do rewrite expr2; exact: measurable_funM.
  move=> y _; rewrite -EFinM lee_fin indicE; have [yA|_] := boolP (y \in A); last by rewrite mulr0 sqr_ge0.
  move: yA; rewrite inE mulr1 /A/= => h; rewrite -[leRHS]real_normK ?num_real// ler_sqr ?nnegrE//; exact: ltW.
move=> h; rewrite -(@lee_pmul2l _ (r ^+ 2)%:E) ?fin_num// ?lte_fin//; apply: le_trans h _.
by rewrite -EFinM lee_fin mulrCA divff ?gt_eqF// mulr1.
Qed.

(* What is at most K/(m + 1) for every m is nothing. *)
Lemma vanishing (A : set Y) (K : R) : (forall m : nat, (P A <= (K / m.+1%:R)%:E)%E) -> P A = 0%E.
Proof.
move=> H; have f : P A \is a fin_num by rewrite ge0_fin_numE ?measure_ge0//; apply: le_lt_trans (H 0%N) _; rewrite ltry.
apply/eqP; rewrite eq_le measure_ge0 andbT -(fineK f) lee_fin.
have a0 : 0 <= fine (P A) by rewrite fine_ge0// measure_ge0.
have K1 : 0 < `|K| + 1 by rewrite ltr_paddl.
have : fine (P A) / (`|K| + 1) <= 0.
  apply: within_all => -[//|m] _; rewrite add0r ler_pdivr_mulr// mulrC.
  have := H m; rewrite -(fineK f) lee_fin => h; apply: le_trans h _; rewrite ler_pmul2r ?invr_gt0 ?ltr0n//.
  by apply: le_trans (ler_norm K) _; rewrite ler_addl.
by rewrite ler_pdivr_mulr// mul0r.
Qed.

Lemma countable_null (B : nat -> set Y) : (forall n, measurable (B n)) -> (forall n, P (B n) = 0%E) -> P (\bigcup_n B n) = 0%E.
Proof.
move=> mB B0; apply/eqP; rewrite eq_le measure_ge0 andbT.
have mU : measurable (\bigcup_n B n) by exact: bigcupT_measurable.
have h := measure_sigma_sub_additive P mB mU (fun _ h => h); apply: (le_trans h).
apply: lime_le; first exact: is_cvg_nneseries.
by apply: nearW => n; rewrite big1.
Qed.

Lemma telescoping_union (B : nat -> set Y) (K : R) m : 0 <= K -> (forall n, measurable (B n)) ->
  (forall n, (P (B n) <= (K / n.+2%:R ^+ 2)%:E)%E) -> (P (\bigcup_n B (n + m)%N) <= (K / m.+1%:R)%:E)%E.
Proof.
move=> K0 mB le; have mU : measurable (\bigcup_n B (n + m)%N) by apply: bigcupT_measurable.
have h := measure_sigma_sub_additive P (fun n => mB (n + m)%N) mU (fun _ h => h); apply: (le_trans h).
apply: lime_le; first exact: is_cvg_nneseries.
apply: nearW => n; apply: (@le_trans _ _ (\sum_(0 <= i < n) (K / (i + m).+2%:R ^+ 2)%:E)%E); first by apply: lee_sum.
rewrite sumEFin lee_fin.
suff H : \sum_(0 <= i < n) K / (i + m).+2%:R ^+ 2 <= K * (m.+1%:R^-1 - (n + m).+1%:R^-1).
  by apply: le_trans H _; rewrite ler_wpmul2l// ger_addl oppr_le0 invr_ge0 ler0n.
elim: n => [|n IH]; first by rewrite big_nil add0n subrr mulr0.
rewrite big_nat_recr//= addSn; set a : R := (n + m).+1%:R; have a0 : 0 < a by rewrite ltr0n.
have -> : (n + m).+2%:R = a + 1 by rewrite -natr1.
have step : ((a + 1) ^+ 2)^-1 <= a^-1 - (a + 1)^-1.
  have a1 : 0 < a + 1 by rewrite addr_gt0.
  have -> : a^-1 - (a + 1)^-1 = (a * (a + 1))^-1.
    have e1 : (a + 1)^-1 * (a^-1 * a) = (a + 1)^-1 by rewrite mulVf ?mulr1// gt_eqF.
    have e2 : a^-1 * ((a + 1)^-1 * (a + 1)) = a^-1 by rewrite mulVf ?mulr1// gt_eqF.
    by rewrite invfM; lra.
  by rewrite lef_pinv ?posrE ?exprn_gt0 ?mulr_gt0// expr2 ler_pmul2r// ler_addl.
have := ler_wpmul2l K0 step; move: IH; rewrite -/a; lra.
Qed.
End Tails.

Section Mechanism.
Context (R : realType) (X : Type) (N : definitions.relation X) d1 (W : measurableType d1) d2 (Y : measurableType d2).
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}) (size : W -> R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)).

(* The difference of the answers of x and x' is outside what the noise reaches: functionals of the output, of a second moment about the
   answer that is at most s^2 V given V, tell the answers apart by any amount. (The supremum of a functional of variance 1 under N over the
   difference is its norm in the reproducing kernel space of N; that it is infinite is what the rule checks.) *)
Definition outside x x' := forall B : R, exists (f : Y -> R) (c c' : R), [/\ measurable_fun setT f, B <= c - c',
  forall w, (\int[k x w]_y ((f y - c) ^+ 2)%:E <= (size w)%:E)%E & forall w, (\int[k x' w]_y ((f y - c') ^+ 2)%:E <= (size w)%:E)%E].

(* Or a combination of finitely many values has no noise, and differs. *)
Definition told_apart x x' := exists (f : Y -> R) (c c' : R), [/\ measurable_fun setT f, c != c',
  forall w, k x w [set y | f y <> c] = 0%E & forall w, k x' w [set y | f y <> c'] = 0%E].

Definition separated x x' := exists A : set Y, [/\ measurable A, mixture mixing1 mk x A = 0%E & mixture mixing1 mk x' A = 1%E].

(* It is enough to separate them for each v. *)
Lemma separated_each x x' A : measurable A -> (forall w, k x w A = 0%E) -> (forall w, k x' w (~` A) = 0%E) -> separated x x'.
Proof.
move=> mA h h'; exists A; split=> //.
  by rewrite /mixture/= /pushed; under eq_integral do rewrite h; rewrite integral_cst// mul0e.
rewrite /mixture/= /pushed; under eq_integral => w _.
  have -> : k x' w A = 1%E.
    have mC : measurable (~` A) by exact: measurableC.
    have e : k x' w setT = (k x' w A + k x' w (~` A))%E by rewrite -measureU ?setUv ?setICr.
    by move: e; rewrite h' adde0 (mk x').1.
  over.
by rewrite integral_cst// mixing1 mule1.
Qed.

Lemma outside_separated x x' : outside x x' -> separated x x'.
Proof.
move=> out; have size0 w : 0 <= size w.
  have [f [c [c' [_ _ le _]]]] := out 0; rewrite -lee_fin; apply: le_trans (le w).
  by apply: integral_ge0 => y _; rewrite lee_fin sqr_ge0.
pose r (n : nat) : R := n.+2%:R; have r0 n : 0 < r n by rewrite ltr0n.
have [F HF] := choice (fun n => out (2 * r n)); have [c {}HF] := choice HF; have [c' {}HF] := choice HF.
have mF n : measurable_fun setT (F n) by have [] := HF n.
pose G n := [set y | `|F n y - c' n| < r n].
have GC n : ~` G n = [set y | r n <= `|F n y - c' n|].
  by apply/seteqP; split=> y /=; rewrite /G/=; [move/negP; rewrite -leNgt | rewrite leNgt => /negP].
have mGC n : measurable (~` G n) by rewrite GC; exact: measurable_at_least.
have mG n : measurable (G n) by rewrite -[G n]setCK; exact: measurableC.
have high n w : (k x' w (~` G n) <= (size w / n.+2%:R ^+ 2)%:E)%E.
  by rewrite GC; have [_ _ _ le] := HF n; exact: (chebyshev (mF n) (r0 n) (le w)).
have low n w : (k x w (G n) <= (size w / n.+2%:R ^+ 2)%:E)%E.
  have [_ far le _] := HF n; apply: le_trans (chebyshev (mF n) (r0 n) (le w)).
  apply: le_measure; rewrite ?inE//; first exact: measurable_at_least.
  move=> y; rewrite /G/= => h; have h1 := ler_norm (F n y - c' n).
  have h2 := ler_norm (c n - F n y); rewrite [`|c n - _|]distrC in h2; lra.
pose C m := \bigcap_n G (n + m)%N.
have mC m : measurable (C m) by apply: bigcapT_measurable => n; exact: mG.
apply: (@separated_each x x' (\bigcup_m C m)); first exact: bigcupT_measurable.
- move=> w; apply: countable_null => // m; apply: (@vanishing _ _ _ _ _ (size w)) => n.
  apply: (@le_trans _ _ (k x w (G (n + m)%N))).
    by apply: le_measure; rewrite ?inE// => y; apply.
  apply: le_trans (low (n + m)%N w) _; rewrite lee_fin ler_wpmul2l// lef_pinv ?posrE ?exprn_gt0 ?ltr0n//.
  apply: (@le_trans _ _ (n + m).+2%:R); first by rewrite ler_nat !ltnS leqW// leq_addr.
  by rewrite expr2 ler_pmulr ?ltr0n// ler1n.
- move=> w; apply: (@vanishing _ _ _ _ _ (size w)) => m.
  apply: (@le_trans _ _ (k x' w (\bigcup_n ~` G (n + m)%N))).
    apply: le_measure; rewrite ?inE//; first by apply: measurableC; exact: bigcupT_measurable.
      by apply: bigcupT_measurable => n; exact: mGC.
    move=> y none; apply: contrapT => h; apply: none; exists m => // n _; apply: contrapT => nG.
    by apply: h; exists n.
  exact: (@telescoping_union _ _ _ (k x' w) (fun n => ~` G n) (size w) m (size0 w) mGC (fun n => high n w)).
Qed.

Lemma told_apart_separated x x' : told_apart x x' -> separated x x'.
Proof.
move=> [f [c [c' [mf cc h h']]]]; have mA : measurable [set y | f y = c'].
  by have := mf measurableT [set c'] (measurable_set1 c'); rewrite setTI.
apply: (separated_each mA) => w; last by rewrite -[RHS](h' w); congr (k x' w _).
have md : measurable [set y | f y <> c].
  have := mf measurableT [set c] (measurable_set1 c); rewrite setTI => m1.
  by rewrite (_ : [set y | _] = ~` (f @^-1` [set c])); [exact: measurableC | apply/seteqP; split=> y].
apply/eqP; rewrite eq_le measure_ge0 andbT -(h w); apply: le_measure; rewrite ?inE// => y /= -> e.
by rewrite e eqxx in cc.
Qed.

(* No epsilon is met at any delta below 1. *)
(* Rule: orthogonal-laws, lower. *)
Theorem orthogonal_laws x x' : both N x x' -> outside x x' \/ told_apart x x' ->
  separated x x' /\ forall delta, delta < 1 -> tight_epsilon N (mixture mixing1 mk) delta = +oo%E.
Proof.
move=> xx either; have [A [mA A0 A1]] : separated x x' by case: either => [/outside_separated|/told_apart_separated].
split=> [|delta d1']; first by exists A.
apply/tight_epsilon_infinite => eps _ priv.
have := priv x' x (bothC xx) A mA; rewrite A0 A1 mule0 add0e lee_fin => h; lra.
Qed.
End Mechanism.
