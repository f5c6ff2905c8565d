(* The Renyi divergences of Laplace noise over all orders (docs/theory/measures.md: Laplace measures): D_a is at most a times t - 1 + e^-t, and no
   smaller multiple of a bounds all of them. From above by the derivative in t: that of log e^((a - 1) D_a) is at most a (a - 1) (1 - e^-t), as
   sinh z/z rises; from below by orders near 1. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive.
From dpverify Require Import definitions arithmetic powers hoeffding laplace_renyi.
Import numFieldNormedType.Exports.

Section Orders.
Context (R : realType).
Implicit Types (a t y s rho : R).

(* The mean loss. *)
Definition laplace_rho t : R := t - 1 + expR (- t).

Lemma laplace_rho_ge0 t : 0 <= laplace_rho t.
Proof. by have := expR_ge1D (- t); rewrite /laplace_rho; lra. Qed.

Lemma sinh_multiples a y : 1 < a -> 0 <= y -> a * (expR ((a - 1) * y) - expR (- ((a - 1) * y))) <= (a - 1) * (expR (a * y) - expR (- (a * y))).
Proof.
move=> a1; rewrite le_eqVlt => /predU1P[<-|y0]; first by rewrite !mulr0 oppr0 expR0 subrr !mulr0.
have b0 : 0 <= (a - 1) * y by rewrite mulr_ge0 ?subr_ge0 ?ltW.
have := sinh_over b0 (ltW y0); have -> : (a - 1) * y + y = a * y by lra.
rewrite /sinh => h; rewrite -(ler_pmul2l y0); lra.
Qed.

Lemma laplace_slope a y : 1 < a -> 0 <= y ->
  expR ((a - 1) * y) - expR (- (a * y)) <= (1 - expR (- y)) * (a * expR ((a - 1) * y) + (a - 1) * expR (- (a * y))).
Proof.
move=> a1 y0; have := ler_wpmul2l (expR_ge0 (- y)) (sinh_multiples a1 y0).
have e1 : expR (- y) * expR (- ((a - 1) * y)) = expR (- (a * y)) by rewrite -expRD; congr expR; lra.
have e2 : expR (- y) * expR (a * y) = expR ((a - 1) * y) by rewrite -expRD; congr expR; lra.
have e3 : expR (- y) * (a * (expR ((a - 1) * y) - expR (- ((a - 1) * y)))) =
  a * (expR (- y) * expR ((a - 1) * y)) - a * (expR (- y) * expR (- ((a - 1) * y))) by lra.
have e4 : expR (- y) * ((a - 1) * (expR (a * y) - expR (- (a * y)))) =
  (a - 1) * (expR (- y) * expR (a * y)) - (a - 1) * (expR (- y) * expR (- (a * y))) by lra.
rewrite e3 e4 e1 e2; lra.
Qed.

(* From above. *)
(* The divergence of order a. *)
Definition laplace_divergence (t a : R) : R := ln (laplace_power t a) / (a - 1).

Lemma laplace_power_le a t : 1 < a -> 0 <= t -> laplace_power t a <= expR ((a - 1) * (a * laplace_rho t)).
Proof.
move=> a1 t0; set k := 2 * a - 1; have k0 : 0 < k by rewrite /k; lra.
have a0 : 0 < a - 1 by rewrite subr_gt0.
pose F y : R := a / k * expR (0 + (a - 1) * y) + (a - 1) / k * expR (0 + (- a) * y).
pose dF y : R := a / k * ((a - 1) * expR (0 + (a - 1) * y)) + (a - 1) / k * ((- a) * expR (0 + (- a) * y)).
pose w := (a - 1) * a; pose g y : R := (w + (- w) * y) + (- w) * expR (- y).
pose f y := (- F y) * expR (g y); pose df y := (w * (1 - expR (- y)) * F y - dF y) * expR (g y).
have der y : is_derive y 1 f (df y).
  have d1 : is_derive y 1 F (dF y).
    apply: der_eq (der_add (der_mul (der_cst (a / k) y) (der_exp (der_line 0 (a - 1) y)))
      (der_mul (der_cst ((a - 1) / k) y) (der_exp (der_line 0 (- a) y)))) _; rewrite /dF !mul0r !add0r; lra.
  have d2 : is_derive y 1 (fun y => - F y) (- dF y) by exact: is_deriveN.
  have dg : is_derive y 1 g (- w * (1 - expR (- y))).
    apply: der_eq (der_add (der_line w (- w) y) (der_mul (der_cst (- w) y) (der_opp y))) _; lra.
  apply: der_eq (der_mul d2 (der_exp dg)) _; rewrite /df; lra.
have pos y : 0 <= y -> 0 <= df y.
  move=> y0; rewrite mulr_ge0 ?expR_ge0// subr_ge0.
  have w0 : 0 <= w / k by rewrite /w !mulr_ge0 ?invr_ge0//; lra.
  have h := ler_wpmul2l w0 (laplace_slope a1 y0).
  by move: h; rewrite /F /dF !add0r !mulNr /w; move: (k^-1) => i; lra.
have le := rising der pos t0.
have f0 : f 0 = -1.
  rewrite /f; have -> : F 0 = 1.
    rewrite /F !mulr0 !addr0 expR0 !mulr1 -mulrDl; have -> : a + (a - 1) = k by rewrite /k; lra.
    by rewrite divff// gt_eqF.
  by rewrite /g mulr0 oppr0 expR0 addr0 mulr1 subrr expR0 mulr1.
have ft : f t = - (laplace_power t a * expR (g t)) by rewrite /f /F /laplace_power -/k !add0r !mulNr.
have e : expR ((a - 1) * (a * laplace_rho t)) * expR (g t) = 1.
  by rewrite -expRD -[RHS](@expR0 R); congr expR; rewrite /g /w /laplace_rho; lra.
rewrite f0 ft ler_opp2 in le; move: e le; set A := expR _; set B := expR (g t) => e le.
by have := ler_wpmul2l (expR_ge0 _ : 0 <= A) le; rewrite mulr1 mulrCA e mulr1.
Qed.

(* From below, at orders near 1. *)
Lemma laplace_power_ge s t : 0 < s -> s <= 1 -> 0 <= t -> 1 + s * laplace_rho t / (1 + 2 * s) <= laplace_power t (1 + s).
Proof.
move=> s0 s1 t0; set u := expR (- t); have u0 : 0 < u by exact: expR_gt0.
have u1 : u <= 1 by rewrite /u -[leRHS](@expR0 R) ler_expR oppr_le0.
have k0 : 0 < 1 + 2 * s by lra.
have h1 := expR_ge1D (s * t); have h2 := expR_ge1D (- (s * t)).
have e1 : expR (- ((1 + s) * t)) = u * expR (- (s * t)) by rewrite /u -expRD; congr expR; lra.
rewrite /laplace_power; have -> : 1 + s - 1 = s by lra.
have -> : 2 * (1 + s) - 1 = 1 + 2 * s by lra.
have e2 : (1 + s * laplace_rho t / (1 + 2 * s)) * (1 + 2 * s) = 1 + 2 * s + s * laplace_rho t by rewrite mulrDl divfK ?gt_eqF// mul1r.
rewrite e1 -(ler_pmul2r k0) e2.
have -> : ((1 + s) / (1 + 2 * s) * expR (s * t) + s / (1 + 2 * s) * (u * expR (- (s * t)))) * (1 + 2 * s) =
  ((1 + s) * expR (s * t) + s * (u * expR (- (s * t)))) * ((1 + 2 * s)^-1 * (1 + 2 * s)) by move: (_^-1) => i; lra.
rewrite mulVf ?gt_eqF// mulr1.
have p0 : 0 <= 1 + s by lra.
have h1' := ler_wpmul2l p0 h1; have su : 0 <= s * u by rewrite mulr_ge0// ltW.
have h2' := ler_wpmul2l su h2.
have x : 0 <= s * (s * t) * (1 - u) by rewrite !mulr_ge0 ?subr_ge0// ltW.
rewrite /laplace_rho -/u; lra.
Qed.

Lemma laplace_rho_least t rho : 0 <= t -> (forall a, 1 < a -> laplace_power t a <= expR ((a - 1) * (a * rho))) -> laplace_rho t <= rho.
Proof.
move=> t0 h; set m := laplace_rho t; have m0 : 0 <= m by exact: laplace_rho_ge0.
have near s : 0 < s -> s <= 1 -> m <= rho * (1 + s * (5 + 6 * m)) \/ rho < 0.
  move=> s0 s1; have [r0|] := leP 0 rho; [left | by right].
  have a1 : 1 < 1 + s by lra.
  have := le_trans (laplace_power_ge s0 s1 t0) (h _ a1); have -> : (1 + s - 1) * ((1 + s) * rho) = s * (1 + s) * rho by lra.
  rewrite -/m; set z := s * (1 + s) * rho => le.
  have k0 : 0 < 1 + 2 * s by lra.
  have sm : 0 <= s * m / (1 + 2 * s) by rewrite divr_ge0 ?mulr_ge0// ltW.
  have low := expR_ge1D (- z); have e : expR z * expR (- z) = 1 by rewrite -expRD subrr expR0.
  have step : (1 + s * m / (1 + 2 * s)) * (1 - z) <= 1.
    have p : 0 <= 1 + s * m / (1 + 2 * s) by lra.
    have := ler_wpmul2l p low; have := ler_wpmul2r (expR_ge0 (- z)) le; rewrite e; lra.
  have z0 : 0 <= z by rewrite /z !mulr_ge0//; lra.
  have big : s * m / (1 + 2 * s) <= s * m by rewrite ler_pdivr_mulr// ler_pemulr ?mulr_ge0//; lra.
  have zb := ler_wpmul2l z0 big.
  have le2 : s * m / (1 + 2 * s) <= z * (1 + s * m) by move: step; lra.
  move: le2; rewrite ler_pdivr_mulr// /z => le2.
  have le3 : s * m <= s * ((1 + s) * rho * (1 + s * m) * (1 + 2 * s)) by lra.
  rewrite ler_pmul2l// in le3; apply: (le_trans le3).
  have ss : s * s <= s by rewrite ler_pimull// ltW.
  have b1 : (1 + s) * (1 + 2 * s) <= 1 + 5 * s by lra.
  have b2 : (1 + s * m) * (1 + 5 * s) <= 1 + s * (5 + 6 * m).
    have := ler_wpmul2r m0 ss; lra.
  have p1 : 0 <= 1 + s * m by rewrite addr_ge0// mulr_ge0// ltW.
  have b3 := le_trans (ler_wpmul2l p1 b1) b2.
  have := ler_wpmul2l r0 b3; lra.
have nonneg : 0 <= rho.
  have two : 1 < 1 + 1 :> R by lra.
  have := le_trans (laplace_power_ge ltr01 (lexx 1) t0) (h _ two).
  have p : 0 <= 1 * laplace_rho t / (1 + 2 * 1) by rewrite !mulr_ge0 ?invr_ge0//; lra.
  move=> le; have : 1 <= expR ((1 + 1 - 1) * ((1 + 1) * rho)) by lra.
  by rewrite -[X in X <= _](@expR0 R) ler_expR; lra.
rewrite leNgt; apply/negP; rewrite -subr_gt0 => gap.
pose c := rho * (5 + 6 * m) + (m - rho); have c0 : 0 < c by rewrite /c ltr_paddl// mulr_ge0//; lra.
pose s := (m - rho) / c / 2; have s0 : 0 < s by rewrite /s !divr_gt0.
have r5 : 0 <= rho * (5 + 6 * m) by rewrite mulr_ge0//; lra.
have s1 : s <= 1 by rewrite /s ler_pdivr_mulr// ler_pdivr_mulr// /c; lra.
have [le|] := near s s0 s1; last by rewrite ltNge nonneg.
have e : s * c = (m - rho) / 2 by rewrite /s mulrAC divfK// gt_eqF.
have := mulr_ge0 (ltW s0) (ltW gap); move: e le; rewrite /c; lra.
Qed.
End Orders.
