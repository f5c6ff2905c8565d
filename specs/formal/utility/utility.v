(* How far answers are from the truth (docs/theory/optimum.md, expected loss; docs/theory/utility.md, far outputs, union bound): sums over the
   outputs of a finite mechanism, and the greatest of several noises. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition finite curves pairs likelihood dominating table_laws powers laplace_curve means.
Import numFieldNormedType.Exports.

(* -- Finite mechanisms -- *)

Section Tables.
Context (R : realType) (X : Type) (Y : finType) d (T : measurableType d) (M : mechanism R X T) (pt : Y -> T) (p : X -> Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (p0 : forall x y, 0 <= p x y) (Mp : has_table M pt p).

(* cost x is what an output costs on the input x, which at the outputs that there are is l x y. *)
Variables (cost : X -> T -> R) (l : X -> Y -> R).
Hypotheses (mcost : forall x, measurable_fun setT (cost x)) (costE : forall x y, cost x (pt y) = l x y).

Definition mean_loss x : \bar R := (\int[M x]_z (cost x z)%:E)%E.
Definition table_loss x : R := \sum_y p x y * l x y.

Lemma mean_lossE x : mean_loss x = (table_loss x)%:E.
Proof.
have part (f : T -> R) : measurable_fun setT f -> (forall z, 0 <= f z) -> (\int[M x]_z (f z)%:E = (\sum_y p x y * f (pt y))%:E)%E.
  by move=> mf f0; apply: (integral_table pt_inj pt_measurable (p0 x)) => // S mS; exact: Mp.
pose up z := Num.max (cost x z) 0; pose down z := Num.max (- cost x z) 0.
have mup : measurable_fun setT up by apply: measurable_fun_max => //; exact: measurable_fun_cst.
have mdown : measurable_fun setT down by apply: measurable_fun_max; [exact: measurable_funN | exact: measurable_fun_cst].
rewrite /mean_loss integralE.
have -> : (\int[M x]_z (fun z => (cost x z)%:E)^\+ z = \int[M x]_z (up z)%:E)%E.
  by apply: eq_integral => z _; rewrite /funepos /up -maxEFin.
have -> : (\int[M x]_z (fun z => (cost x z)%:E)^\- z = \int[M x]_z (down z)%:E)%E.
  by apply: eq_integral => z _; rewrite /funeneg /down -maxEFin EFinN.
rewrite !part//; try by move=> z; rewrite le_maxr lexx orbT.
rewrite -EFinB -sumrB; congr EFin; apply: eq_bigr => y _; rewrite -mulrBr; congr (_ * _).
rewrite /up /down costE; have [h|h] := leP 0 (l x y).
- by rewrite max_r ?subr0// oppr_le0.
- by rewrite max_l ?sub0r ?opprK// oppr_ge0 ltW.
Qed.

(* What is stated is the greatest over the inputs, or the mean under a prior. *)
(* Rule: expected-loss. *)
Theorem expected_loss :
  [/\ forall x, mean_loss x = (table_loss x)%:E,
      forall v : R, (forall x, table_loss x <= v) -> (ereal_sup [set mean_loss x | x in [set: X]] <= v%:E)%E,
      forall x, ((table_loss x)%:E <= ereal_sup [set mean_loss x | x in [set: X]])%E &
      forall (xs : seq X) (prior : X -> R), (\sum_(x <- xs) (prior x)%:E * mean_loss x = (\sum_(x <- xs) prior x * table_loss x)%:E)%E].
Proof.
split=> [x|v h|x|xs prior]; first exact: mean_lossE.
- by apply: ub_ereal_sup => _ [x _ <-]; rewrite mean_lossE lee_fin.
- by apply: ereal_sup_ub; exists x => //; rewrite mean_lossE.
- by rewrite -sumEFin; apply: eq_bigr => x _; rewrite mean_lossE EFinM.
Qed.

(* The outputs that cost more than gamma, and how likely they are. *)
Definition far gamma x : set T := [set z | gamma < cost x z].
Definition far_chance gamma x : R := \sum_(y | gamma < l x y) p x y.

Lemma far_event gamma x : measurable (far gamma x) /\ M x (far gamma x) = (far_chance gamma x)%:E.
Proof.
have mS : measurable (far gamma x) by apply: measurable_where => //; exact: measurable_fun_cst.
split=> //; rewrite Mp//; congr EFin; rewrite /far_chance [RHS]big_mkcond/=; apply: eq_bigr => y _.
by rewrite indicE -costE; case: ifP => h; [rewrite mem_set ?mulr1 | rewrite memNset ?mulr0// /far/= h].
Qed.

(* Rule: far-outputs. *)
Theorem far_outputs gamma :
  [/\ forall x, M x (far gamma x) = (far_chance gamma x)%:E,
      forall v : R, (forall x, far_chance gamma x <= v) -> (ereal_sup [set M x (far gamma x) | x in [set: X]] <= v%:E)%E &
      forall x, ((far_chance gamma x)%:E <= ereal_sup [set M x (far gamma x) | x in [set: X]])%E].
Proof.
split=> [x|v h|x]; first by have [] := far_event gamma x.
- by apply: ub_ereal_sup => _ [x _ <-]; have [_ ->] := far_event gamma x; rewrite lee_fin.
- by apply: ereal_sup_ub; exists x => //; have [_ ->] := far_event gamma x.
Qed.
End Tables.

(* -- The greatest of several noises -- *)

Section UnionBound.
Context (R : realType) (n : nat) d (T : measurableType d) (P : {measure set T -> \bar R}) (noise : 'I_n -> T -> R).
Hypothesis mnoise : forall i, measurable_fun setT (noise i).

(* What the greatest of the sizes of the noises exceeds, one of them does. *)
Definition exceeds (i : 'I_n) (t : R) := [set y | t < `|noise i y|].
Definition some_exceeds (t : R) := [set y | exists i, t < `|noise i y|].

Lemma measurable_exceeds i t : measurable (exceeds i t).
Proof.
apply: measurable_where; last exact: measurable_fun_cst.
by apply: measurable_fun_comp (mnoise i); exact: measurable_fun_normr.
Qed.

Lemma some_exceedsE t : some_exceeds t = \big[setU/set0]_i exceeds i t.
Proof.
apply/seteqP; split=> y => [[i h] | ]; first by rewrite (bigD1 i)//=; left.
by elim/big_ind: _ => // [A B hA hB [/hA|/hB] | i _ h] //; exists i.
Qed.

Lemma union_of_exceeding t : (P (some_exceeds t) <= \sum_i P (exceeds i t))%E.
Proof.
have mE i := measurable_exceeds i t.
have mS : measurable (some_exceeds t) by rewrite some_exceedsE; apply: bigsetU_measurable.
have I A : measurable A -> P A = (\int[P]_y (\1_A y)%:E)%E by move=> mA; rewrite integral_indic// setIT.
have mI A : measurable A -> measurable_fun setT (fun y : T => (\1_A y : R)%:E).
  by move=> mA; apply/EFin_measurable_fun; exact: measurable_fun_indic.
rewrite (I _ mS) (eq_bigr _ (fun i _ => I _ (mE i))) -ge0_integral_sum//; last 2 first.
- by move=> i; exact: mI.
- by move=> i y _; rewrite lee_fin.
apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin.
- exact: mI.
- by move=> y _; apply: sume_ge0 => i _; rewrite lee_fin.
- by apply: emeasurable_fun_sum => i; exact: mI.
- move=> y _; rewrite sumEFin lee_fin [leLHS]indicE; case: (boolP (y \in _)) => [|_]; last exact: sumr_ge0.
  rewrite inE => -[i h]; rewrite (bigD1 i)//= indicE mem_set// ler_addl; exact: sumr_ge0.
Qed.
End UnionBound.

(* Independent or not: coordinates of Laplace noise of scale b exceed t, each with the probability e^(-t/b). *)
Section Laplace.
Context (R : realType) (n : nat) d (T : measurableType d) (P : {measure set T -> \bar R}) (noise : 'I_n -> T -> R) (b c : R).
Variable L : 'I_n -> {measure set (line R) -> \bar R}.
Hypotheses (b0 : 0 < b) (c0 : 0 <= c) (P1 : P setT = 1%E) (mnoise : forall i, measurable_fun setT (noise i)).
(* The law of each coordinate. *)
Hypotheses (laplace : forall i, has_density (@lebesgue_measure R) (L i) (fun y => c * expR (- (`|y - 0| / b)))).
Hypothesis law_of : forall i (S : set R), measurable S -> L i S = P (noise i @^-1` S).

Lemma laplace_exceeds i t : 0 <= t -> P (exceeds noise i t) = (expR (- (t / b)))%:E.
Proof.
move=> t0; have L1 : L i setT = 1%E by rewrite law_of// preimage_setT.
have mr (s : R) : @measurable _ (line R) `[0 + s, +oo[%classic by exact: measurable_itv.
have ml (s : R) : @measurable _ (line R) `]-oo, 0 - s]%classic by exact: measurable_itv.
have R1 (s : R) : 0 <= s -> L i `[0 + s, +oo[%classic = (expR (- (s / b)) / 2)%:E.
  move=> s0; rewrite -[LHS]fineK ?(mass_fin L1)//.
  by rewrite (right_tail b0 c0 L1 (laplace i) s0) (half b0 c0 L1 (laplace i)) mul1r.
have R2 (s : R) : 0 <= s -> L i `]-oo, 0 - s]%classic = (expR (- (s / b)) / 2)%:E.
  move=> s0; rewrite -[LHS]fineK ?(mass_fin L1)//.
  by rewrite (left_tail b0 c0 (laplace i)) R1.
have sum2 (s : R) : 0 < s -> L i (`[0 + s, +oo[%classic `|` `]-oo, 0 - s]%classic) = (expR (- (s / b)))%:E.
  move=> s0; have apart : `[0 + s, +oo[%classic `&` `]-oo, 0 - s]%classic = set0 :> set R.
    by apply/seteqP; split=> y //=; rewrite !in_itv/= andbT => -[h1 h2]; lra.
  rewrite (measureU (L i) (mr s) (ml s) apart).
  transitivity ((expR (- (s / b)) / 2)%:E + (expR (- (s / b)) / 2)%:E)%E.
    by congr (_ + _)%E; [exact: (R1 s (ltW s0)) | exact: (R2 s (ltW s0))].
  by rewrite -EFinD; congr EFin; lra.
have beyond (s : R) (y : R) : 0 <= s -> (`[0 + s, +oo[%classic `|` `]-oo, 0 - s]%classic) y = (s <= `|y|) :> Prop.
  move=> s0; rewrite propeqE /= !in_itv/= andbT ler_normr; split=> [[h|h]|/orP[h|h]]; [apply/orP; left|apply/orP; right|left|right]; lra.
have at_least (s : R) : 0 < s -> P [set y | s <= `|noise i y|] = (expR (- (s / b)))%:E.
  move=> s0; rewrite -sum2// law_of; last by apply: measurableU; exact: measurable_itv.
  by congr (P _); apply/seteqP; split=> y /=; rewrite -(beyond s) ?ltW.
have mE := measurable_exceeds mnoise i t; have ma (s : R) : measurable [set y | s <= `|noise i y|].
  rewrite (_ : [set y | _] = ~` [set y | `|noise i y| < s]).
    apply: measurableC; apply: measurable_where; first exact: measurable_fun_cst.
    by apply: measurable_fun_comp (mnoise i); exact: measurable_fun_normr.
  by apply/seteqP; split=> y /=; [rewrite leNgt => /negP | move/negP; rewrite -leNgt].
have Ef := mass_fin P1 mE; rewrite -(fineK Ef); congr EFin; apply/eqP; rewrite eq_le; apply/andP; split.
- have [tz|tn] := eqVneq t 0.
    by case/andP: (fine01 P1 mE) => _ h; apply: (le_trans h); rewrite tz mul0r oppr0 expR0.
  have {}t0 : 0 < t by rewrite lt_neqAle eq_sym tn.
  rewrite -lee_fin fineK// -at_least//; apply: le_measure; rewrite ?inE// => y /= /ltW //.
- apply: within_all => m m0; have mR : 0 < m%:R :> R by rewrite ltr0n.
  have u0 : 0 < t + b / m%:R by rewrite ltr_paddl// divr_gt0.
  have le : expR (- ((t + b / m%:R) / b)) <= fine (P (exceeds noise i t)).
    rewrite -lee_fin fineK// -at_least//; apply: le_measure; rewrite ?inE//; try exact: ma.
    by move=> y /=; apply: lt_le_trans; rewrite ltr_addl divr_gt0.
  have e : expR (- ((t + b / m%:R) / b)) = expR (- (t / b)) * expR (- m%:R^-1).
    by rewrite -expRD; congr expR; rewrite mulrDl mulrAC divff ?gt_eqF// mul1r opprD.
  have l1 : expR (- (t / b)) <= 1 by rewrite -[leRHS](@expR0 R) ler_expR oppr_le0 divr_ge0// ltW.
  have up := expR_gt0 (- (t / b)); have h1 := ler_wpmul2l (ltW up) (expR_ge1D (- m%:R^-1)).
  have mi : 0 <= m%:R^-1 :> R by rewrite invr_ge0 ltW.
  have h2 := ler_wpmul2r mi l1; move: h1 le; rewrite e mulrDr mulr1 mulrN => h1 le.
  by move: h2; rewrite mul1r => h2; lra.
Qed.

(* The sum, and what it says of the greatest; at t = b log(n/beta) the sum is beta. *)
(* Rule: union-bound, upper. *)
Theorem union_bound :
  [/\ forall t, (P (some_exceeds noise t) <= \sum_i P (exceeds noise i t))%E,
      forall t, 0 <= t -> (\sum_i P (exceeds noise i t) = (n%:R * expR (- (t / b)))%:E)%E &
      forall beta, 0 < beta -> beta <= n%:R -> (\sum_i P (exceeds noise i (b * ln (n%:R / beta))) = beta%:E)%E].
Proof.
have sumE t : 0 <= t -> (\sum_i P (exceeds noise i t) = (n%:R * expR (- (t / b)))%:E)%E.
  by move=> t0; rewrite (eq_bigr _ (fun i _ => laplace_exceeds i t0)) sumEFin sumr_const card_ord mulr_natl.
split=> // [t|beta beta0 beta_le]; first exact: union_of_exceeding.
have nb : 1 <= n%:R / beta by rewrite ler_pdivl_mulr// mul1r.
have n0 : 0 < n%:R :> R by apply: lt_le_trans beta_le.
rewrite sumE ?mulr_ge0 ?ln_ge0 ?(ltW b0)//; congr EFin.
by rewrite mulrAC divff ?gt_eqF// mul1r expRN lnK ?posrE ?divr_gt0// invf_div mulrCA divff ?gt_eqF// mulr1.
Qed.
End Laplace.
