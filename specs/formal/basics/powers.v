(* Lengths to a power, a budget in l_p, and the greatest sum of a concave function of moves within it: all move alike (docs/theory/additive.md,
   product noise). And the line that touches asinh from above. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions arithmetic exponents modulus_rules.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* -- Powers of lengths, and the mean of a concave function -- *)
Section Powers.
Context (R : realType).
Implicit Types (x y m p v : R).

Lemma expR_ge1D x : 1 + x <= expR x.
Proof.
have [x0 | x0] := leP 0 x; first exact: expR_ge1Dx.
have n0 : 0 < - x by rewrite oppr_gt0.
have [|c] := @MVT R (@expR R) (@expR R) x 0 x0 (fun y _ => is_derive_expR y).
  by apply: continuous_subspaceT => y; exact: continuous_expR.
rewrite in_itv/= expR0 sub0r => /andP[_ /ltW c0] e.
have e1 : expR c <= 1 by rewrite -expR0 ler_expR.
have := ler_wpmul2r (ltW n0) e1; lra.
Qed.

Lemma exp_bernoulli p v : 1 <= p -> p * expR v <= expR (p * v) + (p - 1).
Proof.
move=> p1; have A := expR_gt0 v.
have e1 : expR (p * v) = expR v * expR ((p - 1) * v) by rewrite -expRD; congr expR; lra.
have e2 : 1 = expR v * expR (- v) by rewrite -expRD subrr expR0.
have := ler_wpmul2l (ltW A) (expR_ge1D ((p - 1) * v)); rewrite -e1 => h1.
have := ler_wpmul2l (ltW A) (expR_ge1D (- v)); rewrite -e2 => h2.
have p0 : 0 <= p - 1 by lra.
have := ler_wpmul2l p0 h2; lra.
Qed.

(* x to the power p, of lengths x >= 0. *)
Definition pow p x : R := if x == 0 then 0 else expR (p * ln x).

Lemma pow_ge0 p x : 0 <= pow p x.
Proof. by rewrite /pow; case: ifP => // _; exact: expR_ge0. Qed.

Lemma pow_tangent p m x : 1 <= p -> 0 < m -> 0 <= x -> pow p m * (1 + p * (x / m - 1)) <= pow p x.
Proof.
move=> p1 m0 x0; have P0 := pow_ge0 p m; rewrite {2}/pow; have [-> | xn] := eqVneq x 0.
  rewrite mul0r; have : 0 <= pow p m * (p - 1) by apply: mulr_ge0; lra.
  lra.
have {xn} {}x0 : 0 < x by rewrite lt_neqAle eq_sym xn.
pose v := ln (x / m); have xm : expR v = x / m by rewrite lnK// posrE divr_gt0.
have lx : ln x = ln m + v by rewrite /v ln_div ?posrE//; lra.
have -> : expR (p * ln x) = pow p m * expR (p * v) by rewrite /pow gt_eqF// -expRD lx; congr expR; lra.
rewrite ler_wpmul2l// -xm; have := exp_bernoulli v p1; lra.
Qed.

Section Mean.
Variables (n : nat).
Hypothesis n0 : (0 < n)%N.
Let nR : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Lemma power_mean p m (x : 'I_n -> R) : 1 <= p -> 0 <= m -> (forall i, 0 <= x i) ->
  \sum_i pow p (x i) <= n%:R * pow p m -> \sum_i x i <= n%:R * m.
Proof.
move=> p1; rewrite le_eqVlt => /orP[/eqP <- | m0] x0.
  rewrite /pow eqxx !mulr0 => s0.
  have {}s0 : \sum_i pow p (x i) == 0 by rewrite eq_le s0 sumr_ge0// => i _; exact: pow_ge0.
  rewrite big1// => i _; apply: contraTeq s0 => xi.
  rewrite psumr_eq0 => [|j _]; last exact: pow_ge0.
  apply/negP => /allP /(_ i); rewrite mem_index_enum => /(_ isT); rewrite /pow (negbTE xi) gt_eqF//; exact: expR_gt0.
move=> s; have P0 : 0 < pow p m by rewrite /pow gt_eqF// expR_gt0.
have : \sum_i pow p m * (1 + p * (x i / m - 1)) <= n%:R * pow p m.
  by apply: le_trans s; apply: ler_sum => i _; exact: pow_tangent.
rewrite -mulr_sumr mulrC ler_pmul2r// big_split/= sumr_const card_ord -mulr_sumr big_split/= sumr_const card_ord -mulr_suml mulNrn.
move=> h; have pp : 0 < p by lra.
have {}h : p * ((\sum_i x i) / m - n%:R) <= 0 by lra.
by rewrite -ler_pdivr_mulr//; move: h; rewrite pmulr_rle0// subr_le0.
Qed.

(* Jensen's inequality, for the mean. *)
Lemma jensen (w : R -> R) k (x : 'I_k.+1 -> R) : concave_on_half w -> (forall i, 0 <= x i) ->
  \sum_i w (x i) <= k.+1%:R * w ((\sum_i x i) / k.+1%:R).
Proof.
move=> conc; elim: k x => [|k IH] x x0; first by rewrite !big_ord_recl !big_ord0 !addr0 divr1 mul1r.
rewrite big_ord_recr /= [in leRHS]big_ord_recr /=; set S := \sum_(i < k.+1) x _.
have S0 : 0 <= S by apply: sumr_ge0.
have k0 : 0 < k.+1%:R :> R by rewrite ltr0n.
have k1 : 0 < k.+2%:R :> R by rewrite ltr0n.
have e2 : k.+2%:R = k.+1%:R + 1 :> R by rewrite -natr1.
have t0 : 0 <= k.+1%:R / k.+2%:R :> R by apply: divr_ge0; exact: ltW.
have tE : k.+1%:R / k.+2%:R * k.+2%:R = k.+1%:R :> R by rewrite divfK// gt_eqF.
have t1 : k.+1%:R / k.+2%:R <= 1 :> R by rewrite ler_pdivr_mulr// mul1r ler_nat.
have Sk : 0 <= S / k.+1%:R by apply: divr_ge0 => //; exact: ltW.
have := conc (S / k.+1%:R) (x ord_max) _ Sk (x0 _) t0 t1.
have -> : k.+1%:R / k.+2%:R * (S / k.+1%:R) + (1 - k.+1%:R / k.+2%:R) * x ord_max = (S + x ord_max) / k.+2%:R.
  have -> : k.+1%:R / k.+2%:R * (S / k.+1%:R) = S / k.+2%:R.
    by rewrite mulrC mulrA divfK// gt_eqF.
  have -> : 1 - k.+1%:R / k.+2%:R = k.+2%:R^-1 :> R by apply: (mulIf (lt0r_neq0 k1)); rewrite mulrBl mul1r tE mulVf ?gt_eqF// e2 addrAC subrr add0r.
  by rewrite mulrDl [_^-1 * _]mulrC.
move/(ler_wpmul2l (ltW k1)); set T := w (_ / k.+2%:R); rewrite mulrDr mulrA [k.+2%:R * (_ / _)]mulrC tE mulrA mulrBr mulr1 [k.+2%:R * (_ / _)]mulrC tE => h.
have := IH (fun i => x (widen_ord (leqnSn k.+1) i)) (fun i => x0 _); rewrite -/S; move: h; have -> : k.+2%:R - k.+1%:R = 1 :> R by [rewrite e2 addrAC subrr add0r]; rewrite mul1r; exact: (fun a b => le_trans (ler_add b (lexx _)) a).
Qed.

(* A budget in l_p, p >= 1 or infinite; and how far each coordinate moves where all move alike and use it up. *)
Definition budget (p : option R) (s : 'I_n -> R) (D : R) :=
  if p is Some p then 1 <= p /\ \sum_i pow p `|s i| <= pow p D else forall i, `|s i| <= D.
Definition alike (p : option R) (D : R) : R := if p is Some p then D * expR (- (ln n%:R / p)) else D.

Lemma alike_ge0 (p : option R) D : 0 <= D -> 0 <= alike p D.
Proof. by case: p => //= p D0; apply: mulr_ge0 => //; exact: expR_ge0. Qed.

Lemma pow_alike p D : 1 <= p -> 0 <= D -> n%:R * pow p (alike (Some p) D) = pow p D.
Proof.
move=> p1; rewrite le_eqVlt => /orP[/eqP <- | D0]; first by rewrite /= mul0r /pow eqxx mulr0.
have E := expR_gt0 (- (ln n%:R / p)); have p0 : p != 0 by rewrite gt_eqF//; lra.
rewrite /= /pow mulf_eq0 !gt_eqF// ?orbF//= lnM ?posrE// expK mulrDr mulrN [p * (_ / _)]mulrC divfK// expRD expRN lnK ?posrE//.
by rewrite mulrCA mulfV ?mulr1// gt_eqF.
Qed.

Lemma budget_sum (p : option R) s D : 0 <= D -> budget p s D -> \sum_i `|s i| <= n%:R * alike p D.
Proof.
case: p => [p|] D0 /= => [[p1 sD] | sD]; last first.
  by rewrite mulr_natl -[X in _ *+ X]card_ord -sumr_const; apply: ler_sum => i _; exact: sD.
apply: (power_mean p1) => //; first by apply: mulr_ge0 => //; exact: expR_ge0.
by rewrite -/(alike (Some p) D) pow_alike.
Qed.

(* Moves that are all alike use the budget up. *)
Lemma budget_alike (p : option R) D : (forall r, p = Some r -> 1 <= r) -> 0 <= D -> budget p (fun=> alike p D) D.
Proof.
case: p => [p|] /= p1 D0; last by move=> _; rewrite ger0_norm.
have {}p1 := p1 p erefl; split=> //; rewrite sumr_const card_ord -[X in X <= _]mulr_natl -[X in _ <= X](pow_alike p1 D0).
rewrite ger0_norm; last by apply: mulr_ge0 => //; exact: expR_ge0.
by [].
Qed.

Lemma concave_alike w (p : option R) s D : concave_on_half w -> never_falls w -> 0 <= D -> budget p s D ->
  \sum_i w `|s i| <= n%:R * w (alike p D).
Proof.
move=> conc rise D0 /(budget_sum D0); move: s n0 nR; rewrite /alike; case: (n) => [|k] // s _ kR sD.
apply: le_trans (jensen conc _) _ => [i|]; first exact: normr_ge0.
rewrite ler_pmul2l//; apply: rise; first by apply: divr_ge0; [apply: sumr_ge0 | exact: ltW].
by rewrite ler_pdivr_mulr// mulrC.
Qed.

(* A line above w that touches it where all move alike does as well. *)
Lemma line_alike w (p : option R) s D k : 0 <= k -> (forall x, 0 <= x -> w x <= w (alike p D) + k * (x - alike p D)) -> 0 <= D -> budget p s D ->
  \sum_i w `|s i| <= n%:R * w (alike p D).
Proof.
move=> k0 above D0 /(budget_sum D0) sD.
apply: (@le_trans _ _ (\sum_i (w (alike p D) + k * (`|s i| - alike p D)))); first by apply: ler_sum => i _; exact: above.
rewrite big_split/= sumr_const card_ord -mulr_sumr big_split/= sumr_const card_ord -[X in X + _]mulr_natl -[X in _ + k * (_ + X)]mulr_natl.
have : k * (\sum_i `|s i| - n%:R * alike p D) <= 0 by apply: mulr_ge0_le0 => //; lra.
lra.
Qed.
End Mean.
End Powers.

(* -- The inverse hyperbolic sine lies below its tangents, on [0, inf) -- *)
Section Asinh.
Context (R : realType).
Implicit Types (x y m v : R).

Lemma rising (f df : R -> R) x : (forall y, is_derive y 1 f (df y)) -> (forall y, 0 <= y -> 0 <= df y) -> 0 <= x -> f 0 <= f x.
Proof.
move=> der pos x0; have [c|c cin e] := @MVT_segment R f df 0 x x0 (fun y _ => der y).
  apply: continuous_in_subspaceT => y _; have dy := der y.
  by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ dy.
rewrite -subr_ge0 e; apply: mulr_ge0; last by lra.
by apply: pos; move: cin; rewrite in_itv/= => /andP[].
Qed.

Let dexp y : is_derive y 1 (fun y : R => expR (- y)) (- expR (- y)).
Proof.
have H : is_derive y (1 : R) (@expR R \o -%R) (expR (- y) * -1) by exact: is_derive1_comp.
by rewrite -mulrN1; exact: H.
Qed.

Lemma sinh_ge v : 0 <= v -> 2 * v <= expR v - expR (- v).
Proof.
move=> v0; pose f y := expR y - expR (- y) - 2 * y; pose df y := expR y + expR (- y) - 2.
have der y : is_derive y 1 f (df y).
  have d1 := dexp y; have d2 : is_derive y 1 (fun y : R => 2 * y) 2.
    have H : is_derive y (1 : R) (2 *: id : R -> R) (2 *: (1 : R)) by exact: is_deriveZ.
    by move: H; rewrite {2}/GRing.scale/= mulr1.
  have H : is_derive y (1 : R) f (expR y - - expR (- y) - 2) by apply: is_deriveB; exact: is_deriveB.
  by move: H; rewrite opprK.
have pos y : 0 <= y -> 0 <= df y.
  move=> y0; rewrite /df; have := expR_ge1D y; have := expR_ge1D (- y); lra.
by have := rising der pos v0; rewrite /f oppr0 expR0; lra.
Qed.

Lemma tanh_le v : 0 <= v -> expR v - expR (- v) <= v * (expR v + expR (- v)).
Proof.
move=> v0; pose f y := y * (expR y + expR (- y)) - (expR y - expR (- y)); pose df y := y * (expR y - expR (- y)).
have der y : is_derive y 1 f (df y).
  have d1 := dexp y.
  have d2 : is_derive y 1 (fun y : R => y * (expR y + expR (- y))) (y *: (expR y - expR (- y)) + (expR y + expR (- y)) *: 1).
    by apply: is_deriveM.
  have H : is_derive y (1 : R) f ((y *: (expR y - expR (- y)) + (expR y + expR (- y)) *: 1) - (expR y - - expR (- y))).
    by apply: is_deriveB; exact: is_deriveB.
  by move: H; have -> : y *: (expR y - expR (- y)) + (expR y + expR (- y)) *: 1 - (expR y - - expR (- y)) = df y
    by [rewrite /df /GRing.scale/=; lra].
have pos y : 0 <= y -> 0 <= df y.
  by move=> y0; apply: mulr_ge0 => //; have := sinh_ge y0; lra.
by have := rising der pos v0; rewrite /f oppr0 expR0; lra.
Qed.

Lemma asinh_tangent m x : 0 <= m -> 0 <= x -> asinh x <= asinh m + (x - m) / Num.sqrt (m ^+ 2 + 1).
Proof.
move=> m0 x0; rewrite /asinh; set S := Num.sqrt (m ^+ 2 + 1); set T := Num.sqrt (x ^+ 2 + 1).
have S2 : S ^+ 2 = m ^+ 2 + 1 by rewrite sqr_sqrtr//; have := sqr_ge0 m; lra.
have T2 : T ^+ 2 = x ^+ 2 + 1 by rewrite sqr_sqrtr//; have := sqr_ge0 x; lra.
have S1 : 1 <= S by rewrite -[1]sqrtr1 ler_sqrt ?ler_addr ?sqr_ge0//; have := sqr_ge0 m; lra.
have T1 : 1 <= T by rewrite -[1]sqrtr1 ler_sqrt ?ler_addr ?sqr_ge0//; have := sqr_ge0 x; lra.
have A0 : 0 < m + S by lra.
have B0 : 0 < x + T by lra.
pose v := ln ((x + T) / (m + S)).
have V : expR v * (m + S) = x + T by rewrite lnK ?posrE ?divr_gt0// divfK// gt_eqF.
have vE : ln (x + T) = ln (m + S) + v by rewrite /v ln_div ?posrE//; lra.
have W1 : expR v * expR (- v) = 1 by rewrite -expRD subrr expR0.
have V0 := expR_gt0 v; have W0 := expR_gt0 (- v).
have As : (m + S) * (S - m) = 1 by lra.
have Bs : (x + T) * (T - x) = 1 by lra.
have Wx : T - x = expR (- v) * (S - m).
  have : (x + T) * (T - x) = (x + T) * (expR (- v) * (S - m)).
    rewrite Bs -V; have -> : expR v * (m + S) * (expR (- v) * (S - m)) = expR v * expR (- v) * ((m + S) * (S - m)) by lra.
    by rewrite W1 As mul1r.
  by move/(mulfI (lt0r_neq0 B0)).
rewrite vE ler_add2l ler_pdivl_mulr; last by lra.
set A := m + S in A0 V As *; have Sm : S - m = A^-1 by apply: (mulfI (lt0r_neq0 A0)); rewrite As mulfV// gt_eqF.
(* in terms of A = m + S: S = (A + 1/A)/2, x - m = (A (e^v - 1) + (1 - e^-v)/A)/2 *)
rewrite Sm in Wx; set a := A^-1 in Sm Wx.
have a0 : 0 < a by rewrite invr_gt0.
have Aa : A * a = 1 by rewrite mulfV// gt_eqF.
have SE : 2 * S = A + a by rewrite -Sm /A; lra.
have xE : 2 * x = expR v * A - expR (- v) * a by lra.
have mE : 2 * m = A - a by rewrite -Sm /A; lra.
have A1 : 1 <= A by rewrite /A; lra.
have a1 : a <= 1 by rewrite -(ler_pmul2l A0) Aa mulr1.
have vS : v * (2 * S) = v * (A + a) by rewrite SE.
suff : 0 <= A * (expR v - 1 - v) - a * (expR (- v) - 1 + v) by lra.
have h1 : 0 <= expR v - 1 - v by have := expR_ge1D v; lra.
have h2 : 0 <= expR (- v) - 1 + v by have := expR_ge1D (- v); lra.
have [vp | vn] := leP 0 v.
- have h3 : expR (- v) - 1 + v <= expR v - 1 - v by have := sinh_ge vp; lra.
  have p1 : a * (expR (- v) - 1 + v) <= 1 * (expR (- v) - 1 + v) by apply: ler_wpmul2r.
  have p2 : 1 * (expR v - 1 - v) <= A * (expR v - 1 - v) by apply: ler_wpmul2r.
  lra.
- (* A e^v >= 1, as x >= 0 *)
  have E1 : expR (- v) <= A.
    have : 1 <= expR v * A by rewrite V; lra.
    by move/(ler_wpmul2l (ltW W0)); rewrite mulr1 mulrA [expR (- v) * _]mulrC W1 mul1r.
  have E2 : a <= expR v.
    have := ler_wpmul2l (ltW (mulr_gt0 V0 a0)) E1.
    have -> : expR v * a * expR (- v) = expR v * expR (- v) * a by lra.
    by rewrite W1 mul1r -mulrA [a * A]mulrC Aa mulr1.
  have nv : 0 <= - v by lra.
  have h3 := tanh_le nv; rewrite opprK in h3.
  have p1 : a * (expR (- v) - 1 + v) <= expR v * (expR (- v) - 1 + v) by apply: ler_wpmul2r.
  have p2 : expR (- v) * (expR v - 1 - v) <= A * (expR v - 1 - v) by apply: ler_wpmul2r.
  rewrite mulrBr mulrBr in p2; lra.
Qed.
End Asinh.
