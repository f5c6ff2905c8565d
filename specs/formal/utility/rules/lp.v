(* The least loss of private mechanisms (docs/theory/optimum.md, LP): weights and multipliers, whatever they are, bound the mean loss of every
   mechanism from below. Outputs are finitely many, or real numbers between which the multipliers are interpolated. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels groups finite curves pairs powers means.
Import numFieldNormedType.Exports.

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

(* -- Real outputs: multipliers at finitely many numbers, interpolated -- *)
Section Interpolation.
Context (R : realType).
Variable y : nat -> R.
Implicit Types (f h : nat -> R) (t : R).

Definition clamp t : R := Num.max 0 t - Num.max 0 (t - 1).
Definition share j t : R := clamp ((t - y j) / (y j.+1 - y j)).

(* Linear between y 0, ..., y k, where it is f 0, ..., f k, and constant beyond. *)
Definition interp k f t : R := f 0%N + \sum_(j < k) share j t * (f j.+1 - f j).

Lemma clamp_low t : t <= 0 -> clamp t = 0.
Proof. by move=> h; rewrite /clamp !max_l ?subrr//; lra. Qed.
Lemma clamp_mid t : 0 <= t -> t <= 1 -> clamp t = t.
Proof. by move=> h h'; rewrite /clamp max_r// max_l ?subr0//; lra. Qed.
Lemma clamp_high t : 1 <= t -> clamp t = 1.
Proof. by move=> h; rewrite /clamp !max_r; lra. Qed.

Lemma interpS k f t : interp k.+1 f t = interp k f t + share k t * (f k.+1 - f k).
Proof. by rewrite /interp big_ord_recr/= addrA. Qed.

Definition rises k := forall j, (j < k)%N -> y j < y j.+1.

Lemma rises_le k i j : rises k -> (i <= j)%N -> (j <= k)%N -> y i <= y j.
Proof.
move=> up; elim: j => [|j IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP ->//|]; rewrite ltnS => ij jk; apply: le_trans (IH ij (ltnW jk)) _; exact/ltW/up.
Qed.

(* Before the first number, from the last one on, or between two. *)
Lemma interp_cell k f t : rises k -> [\/ t < y 0%N /\ interp k f t = f 0%N, y k <= t /\ interp k f t = f k |
  exists j, [/\ (j < k)%N, y j <= t, t < y j.+1 & interp k f t = f j + (t - y j) / (y j.+1 - y j) * (f j.+1 - f j)]].
Proof.
elim: k => [|k IH] up.
  by rewrite /interp big_ord0 addr0; case: (ltP t (y 0%N)) => h; [constructor 1 | constructor 2].
have up' : rises k by move=> j jk; apply: up; exact: ltnW.
have gap : 0 < y k.+1 - y k by rewrite subr_gt0; exact: up.
have before : t <= y k -> share k t = 0 by move=> h; rewrite /share clamp_low// ler_pdivr_mulr// mul0r subr_le0.
case: (IH up') => [[h e] | [h e] | [j [jk h1 h2 e]]]; rewrite interpS e.
- constructor 1; split=> //; rewrite before ?mul0r ?addr0//; apply: le_trans (ltW h) _; exact: (rises_le up' (leq0n k) (leqnn k)).
- have s0 : 0 <= (t - y k) / (y k.+1 - y k) by apply: divr_ge0; [rewrite subr_ge0 | exact: ltW].
  have [h'|h'] := leP (y k.+1) t.
    by constructor 2; split=> //; rewrite /share clamp_high; [lra | rewrite ler_pdivl_mulr// mul1r ler_add2r].
  constructor 3; exists k; split=> //; rewrite /share clamp_mid// ler_pdivr_mulr// mul1r ler_add2r; exact: ltW.
- constructor 3; exists j; split=> //; first exact: ltnW.
  by rewrite before ?mul0r ?addr0//; apply: le_trans (ltW h2) _; exact: (rises_le up' jk (leqnn k)).
Qed.

Lemma between01 j t : y j <= t -> t < y j.+1 -> 0 <= (t - y j) / (y j.+1 - y j) <= 1.
Proof.
move=> h1 h2; have gap : 0 < y j.+1 - y j by rewrite subr_gt0; exact: le_lt_trans h2.
apply/andP; split; first by apply: divr_ge0; [rewrite subr_ge0 | exact: ltW].
by rewrite ler_pdivr_mulr// mul1r ler_add2r ltW.
Qed.

Lemma interp_ge k f t m : rises k -> (forall i, (i <= k)%N -> m <= f i) -> m <= interp k f t.
Proof.
move=> up fm; case: (interp_cell f t up) => [[_ ->] | [_ ->] | [j [jk h1 h2 ->]]]; rewrite ?fm//.
have /andP[s0 s1] := between01 h1 h2; set s := _ / _ in s0 s1 *.
have a := fm j (ltnW jk); have c := fm j.+1 jk.
have t1 : 0 <= (1 - s) * (f j - m) by rewrite mulr_ge0// subr_ge0.
have t2 : 0 <= s * (f j.+1 - m) by rewrite mulr_ge0// subr_ge0.
lra.
Qed.

(* It is linear in the values. *)
Lemma interpM k a f t : interp k (fun i => a * f i) t = a * interp k f t.
Proof. by rewrite /interp mulrDr mulr_sumr; congr (_ + _); apply: eq_bigr => j _; rewrite -mulrBr mulrCA. Qed.
Lemma interpD k f h t : interp k (fun i => f i + h i) t = interp k f t + interp k h t.
Proof.
rewrite /interp; have -> : \sum_(j < k) share j t * (f j.+1 + h j.+1 - (f j + h j)) =
  \sum_(j < k) share j t * (f j.+1 - f j) + \sum_(j < k) share j t * (h j.+1 - h j); last lra.
by rewrite -big_split/=; apply: eq_bigr => j _; lra.
Qed.
Lemma interpB k f h t : interp k (fun i => f i - h i) t = interp k f t - interp k h t.
Proof.
rewrite -[- interp k h t]mulN1r -interpM -interpD; congr interp; apply/funext => i; by rewrite mulN1r.
Qed.
Lemma interp_sum (J : finType) k (F : J -> nat -> R) t : interp k (fun i => \sum_x F x i) t = \sum_x interp k (F x) t.
Proof.
elim: (index_enum J) => [|x s IH].
  rewrite big_nil (_ : (fun i => _) = (fun=> 0)); last by apply/funext => i; rewrite big_nil.
  by rewrite /interp big1 ?addr0// => j _; rewrite subrr mulr0.
rewrite big_cons (_ : (fun i => _) = (fun i => F x i + \sum_(x <- s) F x i)); last by apply/funext => i; rewrite big_cons.
by rewrite interpD IH.
Qed.

(* The losses of an output are at least what is interpolated, less a quarter of a squared gap where they are squares. *)
Lemma absolute_interp k t i : rises k -> (i <= k)%N -> interp k (fun j => `|y j - y i|) t <= `|t - y i|.
Proof.
move=> up ik; have le j j' : (j <= j')%N -> (j' <= k)%N -> y j <= y j' by exact: (rises_le up).
case: (interp_cell (fun j => `|y j - y i|) t up) => [[h ->] | [h ->] | [j [jk h1 h2 ->]]].
- have h0 := le 0%N i (leq0n i) ik; rewrite !ler0_norm; lra.
- have h0 := le i k ik (leqnn k); rewrite !ger0_norm; lra.
have gap : y j.+1 - y j != 0 by rewrite gt_eqF// subr_gt0; exact: up.
have [ij|ji] := leqP i j.
- have a := le i j ij (ltnW jk); rewrite !ger0_norm; try lra.
  rewrite (_ : y j.+1 - y i - (y j - y i) = y j.+1 - y j) ?divfK//; lra.
- have a := le j.+1 i ji ik; rewrite !ler0_norm; try lra.
  rewrite (_ : - (y j.+1 - y i) - - (y j - y i) = - (y j.+1 - y j)) ?mulrN ?divfK//; lra.
Qed.

Lemma squares_interp k t a gap : rises k -> y 0%N <= a -> a <= y k -> (forall j, (j < k)%N -> y j.+1 - y j <= gap) ->
  interp k (fun j => (y j - a) ^+ 2) t <= (t - a) ^+ 2 + gap ^+ 2 / 4.
Proof.
move=> up a0 ak small; have q0 : 0 <= gap ^+ 2 by exact: sqr_ge0.
case: (interp_cell (fun j => (y j - a) ^+ 2) t up) => [[h ->] | [h ->] | [j [jk h1 h2 ->]]].
- have h0 : (y 0%N - a) ^+ 2 <= (t - a) ^+ 2 by rewrite -[leLHS]sqrrN -[leRHS]sqrrN ler_sqr ?nnegrE; lra.
  lra.
- have h0 : (y k - a) ^+ 2 <= (t - a) ^+ 2 by rewrite ler_sqr ?nnegrE; lra.
  lra.
have gap0 : 0 < y j.+1 - y j by rewrite subr_gt0; exact: up.
have e : (t - y j) / (y j.+1 - y j) * (y j.+1 - y j) = t - y j by rewrite divfK// gt_eqF.
have g2 : (y j.+1 - y j) ^+ 2 <= gap ^+ 2.
  by rewrite ler_sqr ?nnegrE; [exact: small | exact: ltW | apply: le_trans (small j jk); exact: ltW].
have sq := sqr_ge0 (y j.+1 - y j - 2 * (t - y j)).
move: e g2 sq; set s := _ / _; set D := y j.+1 - y j; set r := t - y j => e g2 sq.
have -> : (y j.+1 - a) ^+ 2 - (y j - a) ^+ 2 = D * (D + 2 * (y j - a)) by rewrite /D; lra.
rewrite mulrA e (_ : t - a = r + (y j - a)); last by rewrite /r; lra.
move: g2 sq; rewrite !expr2; lra.
Qed.

Lemma measurable_clamp d (T : measurableType d) (u : T -> R) : measurable_fun setT u -> measurable_fun setT (fun x => clamp (u x)).
Proof.
move=> mu; apply: measurable_funB; apply: measurable_fun_max; try exact: measurable_fun_cst; try exact: mu.
by apply: measurable_funB => //; exact: measurable_fun_cst.
Qed.

Lemma measurable_interp d (T : measurableType d) (u : T -> R) k f : measurable_fun setT u -> measurable_fun setT (fun x => interp k f (u x)).
Proof.
move=> mu; elim: k => [|k IH].
  rewrite (_ : (fun x => _) = (fun=> f 0%N)); [exact: measurable_fun_cst | by apply/funext => x; rewrite /interp big_ord0 addr0].
rewrite (_ : (fun x => _) = (fun x => interp k f (u x) + (f k.+1 - f k) * share k (u x))).
  apply: measurable_funD => //; apply: measurable_funrM; apply: measurable_clamp.
  under eq_fun do rewrite mulrC; apply: measurable_funrM; apply: measurable_funB => //; exact: measurable_fun_cst.
by apply/funext => x; rewrite interpS mulrC.
Qed.
End Interpolation.

Section Rule.
Context (R : realType) (I : finType) d (Z : measurableType d) (M : mechanism R I Z).
Variables (w : I -> R) (b c most : I -> I -> R) (v : I -> R).
Hypotheses (w0 : forall x, 0 <= w x) (b0 : forall x x', 0 <= b x x') (most0 : forall x x', 0 <= most x x').
Hypothesis priv : forall x x', 0 < most x x' -> within (b x x') (c x x') (M x) (M x').

(* phi is the number that is looked at, one row of a query; y 0 < ... < y k are the outputs with multipliers. *)
Section Query.
Variables (phi : Z -> R) (y : nat -> R) (k : nat) (z : I -> I -> nat -> R) (loss : I -> R -> R) (spare : R).
Hypotheses (mphi : measurable_fun setT phi) (up : rises y k) (z_most : forall x x' i, 0 <= z x x' i <= most x x').
Hypotheses (mloss : forall x, measurable_fun setT (fun o => loss x (phi o))) (loss0 : forall x t, 0 <= loss x t).
Hypothesis near : forall x t, interp y k (fun i => loss x (y i)) t <= loss x t + spare.
Hypothesis least : forall x i, (i <= k)%N ->
  v x <= w x * loss x (y i) + (\sum_x' z x x' i) - (\sum_x' b x' x * z x' x i).

Lemma query_bound :
  ((\sum_x (v x - w x * spare) - \sum_x \sum_x' c x x' * most x x')%:E <= \sum_x (w x)%:E * \int[M x]_o (loss x (phi o))%:E)%E.
Proof.
pose g x x' o := interp y k (fun i => z x x' i / most x x') (phi o).
have share01 x x' i : 0 <= z x x' i / most x x' <= 1.
  have /andP[h1 h2] := z_most x x' i; rewrite divr_ge0//=; have [->|ne] := eqVneq (most x x') 0; first by rewrite invr0 mulr0.
  by rewrite ler_pdivr_mulr ?mul1r// lt_neqAle eq_sym ne most0.
have tg x x' : test (g x x').
  split=> [|o]; first exact: measurable_interp.
  rewrite /g interp_ge//=; last by move=> i _; case/andP: (share01 x x' i).
  have : -1 <= interp y k (fun i => -1 * (z x x' i / most x x')) (phi o).
    by apply: interp_ge => // i _; have /andP[_ h] := share01 x x' i; lra.
  rewrite interpM; lra.
have scaled x x' o : most x x' * g x x' o = interp y k (z x x') (phi o).
  rewrite -interpM; congr interp; apply/funext => i; have [m0|ne] := eqVneq (most x x') 0; last by rewrite mulrC divfK.
  by have := z_most x x' i; rewrite m0 mul0r => /andP[h1 h2]; apply/eqP; rewrite eq_le h1 h2.
apply: (least_loss (g := g) w0 b0 most0 mloss _ tg priv) => [x o|x o] //.
have -> : \sum_x' most x x' * g x x' o = interp y k (fun i => \sum_x' z x x' i) (phi o).
  by rewrite interp_sum; apply: eq_bigr => x' _; exact: scaled.
have -> : \sum_x' b x' x * most x' x * g x' x o = interp y k (fun i => \sum_x' b x' x * z x' x i) (phi o).
  by rewrite interp_sum; apply: eq_bigr => x' _; rewrite -mulrA scaled -interpM.
have := @interp_ge R y k _ (phi o) (v x) up (least x); rewrite interpB interpD interpM.
have := ler_wpmul2l (w0 x) (near x (phi o)); lra.
Qed.
End Query.

(* What the rule concludes: of the greatest mean loss e, for every law of outputs that is private on the pairs with multipliers. Tables;
   the size of the error of a row of a query, where every answer is among the outputs; its square, less a quarter of a squared gap. *)
(* Rule: lp, lower. *)
Theorem lp : 0 < \sum_x w x ->
  [/\ (forall (Y : finType) (pt : Y -> Z) (p l : I -> Y -> R) (z : I -> I -> Y -> R), injective pt -> (forall y, measurable [set pt y]) ->
        (forall x y, 0 <= p x y) -> has_table M pt p -> (forall x x' y, 0 <= z x x' y <= most x x') ->
        (forall x y, v x <= w x * l x y + (\sum_x' z x x' y) - (\sum_x' b x' x * z x' x y)) ->
        \sum_x v x - \sum_x \sum_x' c x x' * most x x' <= \sum_x w x * (\sum_y p x y * l x y) /\
        forall e, (forall x, \sum_y p x y * l x y <= e) -> (\sum_x v x - \sum_x \sum_x' c x x' * most x x') / (\sum_x w x) <= e),
      (forall (phi : Z -> R) (y : nat -> R) k (z : I -> I -> nat -> R) (answer : I -> nat) e, measurable_fun setT phi -> rises y k ->
        (forall x x' i, 0 <= z x x' i <= most x x') -> (forall x, (answer x <= k)%N) ->
        (forall x i, (i <= k)%N -> v x <= w x * `|y i - y (answer x)| + (\sum_x' z x x' i) - (\sum_x' b x' x * z x' x i)) ->
        (forall x, (\int[M x]_o (`|phi o - y (answer x)|)%:E <= e%:E)%E) -> (\sum_x v x - \sum_x \sum_x' c x x' * most x x') / (\sum_x w x) <= e) &
      (forall (phi : Z -> R) (y : nat -> R) k (z : I -> I -> nat -> R) (answer : I -> R) gap e, measurable_fun setT phi -> rises y k ->
        (forall x x' i, 0 <= z x x' i <= most x x') -> (forall x, y 0%N <= answer x <= y k) -> (forall j, (j < k)%N -> y j.+1 - y j <= gap) ->
        (forall x i, (i <= k)%N -> v x <= w x * (y i - answer x) ^+ 2 + (\sum_x' z x x' i) - (\sum_x' b x' x * z x' x i)) ->
        (forall x, (\int[M x]_o ((phi o - answer x) ^+ 2)%:E <= e%:E)%E) ->
        (\sum_x v x - \sum_x \sum_x' c x x' * most x x' - gap ^+ 2 / 4 * \sum_x w x) / (\sum_x w x) <= e)].
Proof.
move=> W0; have greatest (L : I -> \bar R) (t e : R) : (t%:E <= \sum_x (w x)%:E * L x)%E -> (forall x, (L x <= e%:E)%E) -> t / (\sum_x w x) <= e.
  move=> h Le; rewrite ler_pdivr_mulr// -lee_fin; apply: le_trans h _; rewrite mulr_sumr -sumEFin; apply: lee_sum => x _.
  by rewrite [leRHS]EFinM muleC; apply: lee_wpmul2r => //; rewrite lee_fin.
split.
- move=> Y pt p l z inj mpt p0 Mp z_most least; have bound := table_least_loss inj mpt p0 Mp z_most priv least.
  split=> // e Le; apply: (greatest (fun x => (\sum_y p x y * l x y)%:E)); last by move=> x; rewrite lee_fin.
  apply: le_trans (_ : ((\sum_x w x * (\sum_y p x y * l x y))%:E <= _)%E); first by rewrite lee_fin.
  by rewrite -sumEFin; apply: lee_sum => x _; rewrite EFinM.
- move=> phi y k z answer e mphi up z_most in_k least Le; refine (greatest _ _ _ _ Le).
  have ml x : measurable_fun setT (fun o => `|phi o - y (answer x)|).
    have mf : measurable_fun setT (fun o => phi o - y (answer x)) by apply: measurable_funB => //; exact: measurable_fun_cst.
    by apply: measurable_fun_comp mf; exact: measurable_fun_normr.
  have := @query_bound phi y k z (fun x t => `|t - y (answer x)|) 0 mphi up z_most ml.
  have -> : \sum_x (v x - w x * 0) = \sum_x v x by apply: eq_bigr => x _; rewrite mulr0 subr0.
  apply=> // x t.
  by rewrite addr0; exact: absolute_interp.
- move=> phi y k z answer gap e mphi up z_most in_y small least Le; refine (greatest _ _ _ _ Le).
  have ml x : measurable_fun setT (fun o => (phi o - answer x) ^+ 2).
    have mf : measurable_fun setT (fun o => phi o - answer x) by apply: measurable_funB => //; exact: measurable_fun_cst.
    by under eq_fun do rewrite expr2; exact: measurable_funM.
  have := @query_bound phi y k z (fun x t => (t - answer x) ^+ 2) (gap ^+ 2 / 4) mphi up z_most ml.
  have -> : \sum_x (v x - w x * (gap ^+ 2 / 4)) = \sum_x v x - gap ^+ 2 / 4 * \sum_x w x.
    by rewrite sumrB mulr_sumr; congr (_ - _); apply: eq_bigr => x _; rewrite mulrC.
  rewrite -[X in X%:E]addrA [- (_ * _) - _]addrC addrA; apply=> // x t; first exact: sqr_ge0.
  by have /andP[h1 h2] := in_y x; exact: squares_interp.
Qed.
End Rule.
