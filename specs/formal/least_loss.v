(* The least loss of private mechanisms (docs/theory/optimum.md, LP): weights and multipliers, whatever they are, bound the mean loss of every
   mechanism from below. Outputs are finitely many, or real numbers between which the multipliers are interpolated. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions density arithmetic kernels groups finite curves pairs powers means.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* P(S) <= b Q(S) + c for all events. *)
Definition within (R : realType) d (Z : measurableType d) (b c : R) (P Q : {measure set Z -> \bar R}) :=
  forall S, measurable S -> (P S <= b%:E * Q S + c%:E)%E.

(* Databases k steps apart: the ratio is at least e^(k eps), and what is added at most delta (1 + (k - 1) ratio). *)
Lemma within_steps (R : realType) (X : Type) (N : definitions.relation X) d (Z : measurableType d) (M : mechanism R X Z) (eps delta b : R) k x x' :
  dp N M eps delta -> 0 <= eps -> 0 <= delta -> joined (both N) k.+1 x x' -> expR (k.+1%:R * eps) <= b ->
  within b (delta * (1 + k%:R * b)) (M x) (M x').
Proof.
move=> priv e0 d0 xx le S mS.
have := @group_in_order R X (both N) _ Z M eps delta k.+1 priv x x' xx S mS => h; apply: le_trans h _.
apply: lee_add; first by rewrite lee_wpmul2r ?measure_ge0 ?lee_fin.
rewrite lee_fin ler_wpmul2l// /geometric big_ord_recl mul0r expR0 ler_add2l.
rewrite (_ : k%:R * b = \sum_(i < k) b); last by rewrite sumr_const card_ord mulr_natl.
apply: ler_sum => i _; apply: le_trans le; rewrite ler_expR ler_wpmul2r// ler_nat; exact: ltnW (ltn_ord (lift ord0 i)).
Qed.

(* -- Finitely many outputs -- *)
Section Tables.
Context (R : realType) (I Y : finType) d (T : measurableType d) (M : mechanism R I T) (pt : Y -> T) (p : I -> Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (p0 : forall x y, 0 <= p x y) (Mp : has_table M pt p).
Variables (l : I -> Y -> R) (w : I -> R) (z : I -> I -> Y -> R) (b c most : I -> I -> R) (v : I -> R).
Hypotheses (w0 : forall x, 0 <= w x) (z_most : forall x x' y, 0 <= z x x' y <= most x x').
(* Where there are multipliers the mechanism is so private. *)
Hypothesis priv : forall x x', 0 < most x x' -> within (b x x') (c x x') (M x) (M x').
Hypothesis least : forall x y, v x <= w x * l x y + (\sum_x' z x x' y) - (\sum_x' b x' x * z x' x y).

Lemma table_pair x x' : \sum_y z x x' y * (p x y - b x x' * p x' y) <= c x x' * most x x'.
Proof.
have [most0|] := ltP 0 (most x x'); last first.
  move=> h; have zz y : z x x' y = 0 by have /andP[h1 h2] := z_most x x' y; lra.
  rewrite big1 => [|y _]; last by rewrite zz mul0r.
  have [->|y] := eqVneq (most x x') 0; first by rewrite mulr0.
  have [y0 _|none] := pickP (fun _ : Y => true); last first.
    have := law_total M x; rewrite Mp// big_pred0 => [[]/eqP|y1]; [by rewrite eq_sym oner_eq0 | exact: none].
  have /andP[h1 h2] := z_most x x' y0; have : most x x' = 0 by lra.
  by move/eqP; rewrite (negbTE y).
pose J y := b x x' * p x' y < p x y.
have mS : measurable (\big[setU/set0]_(y | J y) [set pt y]) by apply: bigsetU_measurable => y _; exact: pt_measurable.
set S := \big[_/_]_(y | J y) _ in mS.
have inS y : (pt y \in S) = J y.
  apply/idP/idP; rewrite inE /S; last by move=> Jy; rewrite (bigD1 y)//=; left.
  suff H : forall A, A = (\big[setU/set0]_(y | J y) [set pt y]) -> A (pt y) -> J y by exact: H.
  by move=> A ->; elim/big_ind: _ => [//|A1 A2 h1 h2 [/h1|/h2]//|y' Jy' /pt_inj ->].
have := priv most0 mS; rewrite !Mp// -EFinM -EFinD lee_fin => h.
apply: (@le_trans _ _ (\sum_y most x x' * ((p x y - b x x' * p x' y) * \1_S (pt y)))).
  apply: ler_sum => y _; have /andP[h1 h2] := z_most x x' y; rewrite indicE inS /J.
  by case: ltP => le /=; rewrite ?mulr1 ?mulr0; [rewrite ler_wpmul2r// subr_ge0 ltW | rewrite mulr_ge0_le0// subr_le0].
rewrite -mulr_sumr mulrC; apply: ler_wpmul2r; first exact: ltW.
rewrite (_ : \sum_y _ = (\sum_y p x y * \1_S (pt y)) - b x x' * (\sum_y p x' y * \1_S (pt y))); first by lra.
by rewrite mulr_sumr -sumrB; apply: eq_bigr => y _; rewrite mulrBl mulrA.
Qed.

Lemma table_total x : \sum_y p x y = 1.
Proof. by have := law_total M x; rewrite Mp// => -[<-]; apply: eq_bigr => y _; rewrite indicE mem_set// mulr1. Qed.

Definition mean_loss x : R := \sum_y p x y * l x y.

Theorem table_least_loss : \sum_x v x - \sum_x \sum_x' c x x' * most x x' <= \sum_x w x * mean_loss x.
Proof.
pose A := \sum_x \sum_x' \sum_y z x x' y * p x y; pose B := \sum_x \sum_x' \sum_y b x' x * z x' x y * p x y.
have sums : \sum_x v x <= \sum_x w x * mean_loss x + A - B.
  rewrite /A /B -big_split/= -sumrB; apply: ler_sum => x _.
  rewrite -[v x]mul1r -(table_total x) mulr_suml /mean_loss mulr_sumr [X in _ + X - _]exchange_big [X in _ - X]exchange_big/=.
  rewrite -big_split/= -sumrB; apply: ler_sum => y _; apply: le_trans (ler_wpmul2l (p0 x y) (least x y)) _.
  by rewrite -!mulr_suml; lra.
have AB : A - B <= \sum_x \sum_x' c x x' * most x x'.
  have -> : B = \sum_x \sum_x' \sum_y b x x' * z x x' y * p x' y by rewrite /B exchange_big.
  rewrite /A -sumrB; apply: ler_sum => x _; rewrite -sumrB; apply: ler_sum => x' _; apply: le_trans (table_pair x x').
  by rewrite -sumrB; apply: ler_sum => y _; lra.
lra.
Qed.
End Tables.

(* -- Any outputs -- *)
Section Means.
Context (R : realType) d (Z : measurableType d).
Implicit Types (P Q : {measure set Z -> \bar R}).

(* What holds of events holds of test functions. *)
Lemma within_mean b c P Q g : P setT = 1%E -> Q setT = 1%E -> 0 <= b -> within b c P Q -> test g -> mean P g <= b * mean Q g + c.
Proof.
move=> P1 Q1 b0 PQ tg; apply: within_all => n n0.
have /andP[_ up] := mean_stair_near P1 n0 tg; have /andP[low _] := mean_stair_near Q1 n0 tg.
apply: le_trans up _; rewrite ler_add2r; apply: (@le_trans _ _ (b * mean Q (stair n g) + c)); last by rewrite ler_add2r ler_wpmul2l.
have [mg _] := tg; rewrite !mean_stair//.
have nR : 0 < n%:R :> R by rewrite ltr0n.
have -> : c = \sum_(k < n) n%:R^-1 * c by rewrite -mulr_suml sumr_const card_ord -[_ *+ n]mulr_natl divff ?gt_eqF// mul1r.
rewrite mulr_sumr -big_split/=; apply: ler_sum => k _.
have mL : measurable (level n g k) by exact: measurable_levels.
have := PQ _ mL; rewrite -(fineK (mass_fin P1 mL)) -(fineK (mass_fin Q1 mL)) -EFinM -EFinD lee_fin => h.
have ni : 0 <= n%:R^-1 :> R by rewrite invr_ge0 ler0n.
by apply: le_trans (ler_wpmul2l ni h) _; rewrite mulrDr mulrCA.
Qed.

(* The mean of a constant and of multiples of test functions. *)
Lemma integral_tests (I : finType) P (a : R) (k : I -> R) (g : I -> Z -> R) : P setT = 1%E -> 0 <= a -> (forall i, 0 <= k i) ->
  (forall i, test (g i)) -> (\int[P]_y (a + \sum_i k i * g i y)%:E = (a + \sum_i k i * mean P (g i))%:E)%E.
Proof.
move=> P1 a0 k0 tg; have mg i : measurable_fun setT (fun y => (k i * g i y)%:E).
  by apply/EFin_measurable_fun; apply: measurable_funrM; have [] := tg i.
have g0 i y : (0 <= (k i * g i y)%:E)%E by rewrite lee_fin mulr_ge0//; exact: test_ge0.
under eq_integral do rewrite EFinD -sumEFin.
rewrite ge0_integralD//.
- rewrite integral_cst// P1 mule1 ge0_integral_sum// [RHS]EFinD -sumEFin; congr (_ + _)%E; apply: eq_bigr => i _.
  have := mean_affine P1 (tg i) (k0 i) (lexx 0); rewrite addr0 => <-; apply: eq_integral => y _; by rewrite addr0.
- exact: measurable_fun_cst.
- by move=> y _; apply: sume_ge0 => i _.
- by apply: emeasurable_fun_sum => i; exact: mg.
Qed.
End Means.

Section Outputs.
Context (R : realType) (I : finType) d (Z : measurableType d) (M : mechanism R I Z).
Variables (l : I -> Z -> R) (w : I -> R) (g : I -> I -> Z -> R) (b c most : I -> I -> R) (v : I -> R).
Hypotheses (w0 : forall x, 0 <= w x) (b0 : forall x x', 0 <= b x x') (most0 : forall x x', 0 <= most x x').
Hypotheses (ml : forall x, measurable_fun setT (l x)) (l0 : forall x y, 0 <= l x y).
(* Multipliers: test functions times the most that they are. *)
Hypothesis tg : forall x x', test (g x x').
Hypothesis priv : forall x x', 0 < most x x' -> within (b x x') (c x x') (M x) (M x').
Hypothesis least : forall x y,
  v x <= w x * l x y + (\sum_x' most x x' * g x x' y) - (\sum_x' b x' x * most x' x * g x' x y).

Definition mean_of x : \bar R := (\int[M x]_y (l x y)%:E)%E.

Lemma one_database x : ((v x - \sum_x' most x x' * mean (M x) (g x x') + \sum_x' b x' x * most x' x * mean (M x) (g x' x))%:E <=
  (w x)%:E * mean_of x)%E.
Proof.
have M1 := law_total M x; pose up := Num.max (v x) 0; pose down := Num.max (- v x) 0.
have up0 : 0 <= up by rewrite /up le_maxr lexx orbT.
have down0 : 0 <= down by rewrite /down le_maxr lexx orbT.
have vE : v x = up - down.
  by rewrite /up /down; case: (leP (v x) 0) => h; case: (leP (- v x) 0) => h'; lra.
have km x' : 0 <= b x' x * most x' x by exact: mulr_ge0.
have gm x' : test (g x' x) by exact: tg.
have mono : (\int[M x]_y (up + \sum_x' b x' x * most x' x * g x' x y)%:E <=
    \int[M x]_y ((w x * l x y)%:E + (down + \sum_x' most x x' * g x x' y)%:E))%E.
  have msum (k : I -> R) (h : I -> Z -> R) (a : R) : (forall i, test (h i)) -> measurable_fun setT (fun y => (a + \sum_i k i * h i y)%:E).
    move=> th; under eq_fun do rewrite EFinD -sumEFin; apply: emeasurable_funD; first exact: measurable_fun_cst.
    by apply: emeasurable_fun_sum => i; apply/EFin_measurable_fun; apply: measurable_funrM; have [] := th i.
  apply: ge0_le_integral => //.
  - by move=> y _; rewrite lee_fin addr_ge0// sumr_ge0// => i _; rewrite mulr_ge0//; exact: test_ge0.
  - exact: msum.
  - move=> y _; rewrite -EFinD lee_fin !addr_ge0//; first exact: mulr_ge0.
    by apply: sumr_ge0 => i _; rewrite mulr_ge0//; exact: test_ge0.
  - apply: emeasurable_funD; last exact: msum.
    by apply/EFin_measurable_fun; apply: measurable_funrM; exact: ml.
  - by move=> y _; rewrite -EFinD lee_fin; have := least x y; rewrite vE; lra.
move: mono; rewrite integral_tests// ge0_integralD//; last 4 first.
- by move=> y _; rewrite lee_fin; exact: mulr_ge0.
- by apply/EFin_measurable_fun; apply: measurable_funrM; exact: ml.
- by move=> y _; rewrite lee_fin addr_ge0// sumr_ge0// => i _; rewrite mulr_ge0//; exact: test_ge0.
- under eq_fun do rewrite EFinD -sumEFin; apply: emeasurable_funD; first exact: measurable_fun_cst.
  by apply: emeasurable_fun_sum => i; apply/EFin_measurable_fun; apply: measurable_funrM; have [] := tg x i.
rewrite integral_tests//; under [X in (_ <= X + _)%E -> _]eq_integral do rewrite EFinM.
rewrite ge0_integralM//; last 3 first.
- by apply/EFin_measurable_fun; exact: ml.
- by move=> y _; rewrite lee_fin.
- by rewrite lee_fin.
rewrite -/(mean_of x) -lee_subl_addr// -EFinB => h; apply: le_trans h; rewrite lee_fin vE; lra.
Qed.

Theorem least_loss : ((\sum_x v x - \sum_x \sum_x' c x x' * most x x')%:E <= \sum_x (w x)%:E * mean_of x)%E.
Proof.
apply: le_trans (lee_sum _ (fun x _ => one_database x)); rewrite sumEFin lee_fin.
have pair x x' : most x x' * mean (M x) (g x x') - b x x' * most x x' * mean (M x') (g x x') <= c x x' * most x x'.
  have [h|h] := ltP 0 (most x x'); last first.
    have -> : most x x' = 0 by apply/eqP; rewrite eq_le h most0.
    by rewrite !mulr0 !mul0r subrr.
  have := within_mean (law_total M x) (law_total M x') (b0 x x') (priv h) (tg x x') => /(ler_wpmul2l (ltW h)); lra.
rewrite big_split/= sumrB [X in _ <= _ + X]exchange_big/=.
have : \sum_x \sum_x' (most x x' * mean (M x) (g x x') - b x x' * most x x' * mean (M x') (g x x')) <= \sum_x \sum_x' c x x' * most x x'.
  by apply: ler_sum => x _; apply: ler_sum => x' _; exact: pair.
under [X in X <= _ -> _]eq_bigr do rewrite sumrB; rewrite sumrB; lra.
Qed.
End Outputs.
