(* The density of the greatest of several noisy answers (docs/theory/selection.md, log-concave noisy max), where answers move by a little: with f and F the
   density and the distribution function of the noise, it is the sum over i of f at i times F at all others. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels selection.
From dpverify Require Import independent log_concave powers survival_cells laplace_curve noisy_max_rule.

(* -- Numbers -- *)

Section Numbers.
Context (R : realType).

Lemma below_one (y x : R) : 0 <= y -> y <= x -> x <= 2^-1 -> expR (- ((1 + 2 * x) * y)) <= 1 - y.
Proof.
move=> y0 yx x2; have y1 : 0 <= 1 - y by lra.
rewrite expRN -[leLHS]mul1r ler_pdivr_mulr ?expR_gt0//.
apply: le_trans (ler_wpmul2l y1 (expR_ge1D ((1 + 2 * x) * y))).
have h : 0 <= y * (x - y) by rewrite mulr_ge0// subr_ge0.
have h' : 0 <= y * y * (1 - 2 * x) by rewrite !mulr_ge0//; lra.
lra.
Qed.

(* A weighted mean of exponentials is at least the exponential of the mean. *)
Lemma mean_of_exponentials (I : finType) (T L : I -> R) (C s : R) : (forall i, 0 <= T i) -> 0 <= s -> (\sum_i T i * L i <= C * (\sum_i T i))%R ->
  (expR (- (s * C)) * (\sum_i T i) <= \sum_i T i * expR (- (s * L i)))%R.
Proof.
move=> T0 s0 mean.
have tangent i : T i * (expR (- (s * C)) * (1 - s * (L i - C))) <= T i * expR (- (s * L i)).
  apply: ler_wpmul2l => //; have -> : - (s * L i) = - (s * C) + - (s * (L i - C)) by lra.
  rewrite expRD; apply: ler_wpmul2l; first exact: expR_ge0.
  by have := expR_ge1D (- (s * (L i - C))); lra.
apply: le_trans (ler_sum _ (fun i _ => tangent i)).
rewrite [X in _ <= X](eq_bigr (fun i => expR (- (s * C)) * (T i * (1 + s * C) - s * (T i * L i)))); last by move=> i _; rewrite mulrCA; congr (_ * _); lra.
rewrite -mulr_sumr; apply: ler_wpmul2l; first exact: expR_ge0.
rewrite sumrB -mulr_suml -mulr_sumr; have := ler_wpmul2l s0 mean; lra.
Qed.
End Numbers.

Section Sums.
Context (R : realType) (n : nat) (a b D : R) (p m rho : 'I_n -> R).
Hypotheses (a0 : 0 <= a) (b0 : 0 <= b) (D0 : 0 <= D).
Hypotheses (p0 : forall j, 0 <= p j) (m0 : forall j, 0 <= m j) (pm : forall j, p j + m j <= D) (rho0 : forall j, 0 <= rho j) (rhoa : forall j, rho j <= a).

(* What the density loses for each unit, where i is the greatest: its own noise goes down by p or up by m; those of others only down. *)
Definition at_greatest (i : 'I_n) : R := a * p i + b * m i + \sum_(j < n | j != i) p j * rho j.

(* Weighted with what each i is of the density, that is at most max(n a, b) D. *)
Lemma mean_loss : \sum_i rho i * at_greatest i <= (Num.max (n%:R * a) b * D) * (\sum_i rho i).
Proof.
have e : \sum_i rho i * at_greatest i = \sum_i (rho i * (a * p i + b * m i) + p i * rho i * \sum_(j < n | j != i) rho j).
  under eq_bigr do rewrite /at_greatest mulrDr mulr_sumr.
  rewrite big_split [RHS]big_split/=; congr (_ + _).
  under eq_bigr do rewrite big_mkcond/=.
  rewrite exchange_big/=; apply: eq_bigr => j _; rewrite mulr_sumr [RHS]big_mkcond/=; apply: eq_bigr => i _.
  by rewrite eq_sym; case: ifP => // _; rewrite mulrC.
rewrite e mulr_sumr; apply: ler_sum => i _.
have n0 : (0 < n)%N := leq_ltn_trans (leq0n _) (ltn_ord i).
have others : \sum_(j < n | j != i) rho j <= n.-1%:R * a.
  by rewrite -[n in leRHS]card_ord mulr_natl -(cardC1 i) -sumr_const; apply: ler_sum => j _.
have h1 := ler_wpmul2l (mulr_ge0 (p0 i) (rho0 i)) others.
have nE : n%:R = n.-1%:R + 1 :> R by rewrite -{1}(prednK n0) -natr1.
have h2 : rho i * (n%:R * a * p i + b * m i) <= rho i * (Num.max (n%:R * a) b * D).
  apply: ler_wpmul2l => //; have x1 : n%:R * a <= Num.max (n%:R * a) b by rewrite le_maxr lexx.
  have x2 : b <= Num.max (n%:R * a) b by rewrite le_maxr lexx orbT.
  have x0 : 0 <= Num.max (n%:R * a) b := le_trans b0 x2.
  apply: (@le_trans _ _ (Num.max (n%:R * a) b * (p i + m i))); last exact: ler_wpmul2l.
  by rewrite mulrDr; apply: ler_add; apply: ler_wpmul2r.
rewrite [X in _ <= X]mulrC; apply: le_trans h2; rewrite nE; lra.
Qed.
End Sums.

(* -- The step -- *)

Section Step.
Context (R : realType) (n : nat) (mu : {measure set R -> \bar R}) (f : R -> R) (a b : R).
Hypotheses (mu1 : mu setT = 1%E) (dens : has_density (@lebesgue_measure R) mu f).
Hypotheses (a0 : 0 <= a) (b0 : 0 <= b) (f_gt0 : forall z, 0 < f z).
Hypotheses (right_falls : forall z s, 0 <= s -> f z <= expR (b * s) * f (z + s)) (left_falls : forall z s, 0 <= s -> f z <= expR (a * s) * f (z - s)).

Definition F (x : R) : R := fine (mu [set z | z < x]).

Lemma FE x : F x = 1 - S mu x.
Proof.
have m1 : measurable [set z : R | z < x] by rewrite (_ : [set z | _] = `]-oo, x[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv].
have E : (mu setT = mu [set z | (z < x)%R] + mu [set z | (x <= z)%R])%E.
  rewrite -measureU//; [congr (mu _) | exact: measurable_ray |].
  - by apply/seteqP; split=> z // _; have [xz|zx] := leP x z; [right | left].
  - by apply/seteqP; split=> z //= [zx]; rewrite leNgt zx.
move: E; rewrite mu1 (massS mu1) -(fineK (mass_fin mu1 m1)) -EFinD => /eqP; rewrite eqe => /eqP; rewrite /F; lra.
Qed.

Lemma F_rises x s : 0 <= s -> F x <= F (x + s).
Proof. by move=> s0; rewrite !FE ler_add2l ler_opp2; apply: (falls mu1); rewrite ler_addl. Qed.

Lemma F_ge0 x : 0 <= F x. Proof. exact/fine_ge0/measure_ge0. Qed.

(* It rises by at most, and at least, this. *)
Lemma F_step x s : 0 <= s -> F x - F (x - s) <= s * expR (b * s) * f x.
Proof.
move=> s0; rewrite !FE; have le : x - s <= x by lra.
have c0 : 0 <= expR (b * s) * f x by rewrite mulr_ge0 ?expR_ge0 ?ltW.
have := cell_le mu1 dens le c0 _; rewrite (_ : x - (x - s) = s); last by lra.
move=> h; rewrite -mulrA mulrC (_ : 1 - S mu x - (1 - S mu (x - s)) = S mu (x - s) - S mu x); last by lra.
apply: h => z z1 z2; have d0 : 0 <= x - z by lra.
have := right_falls z d0; rewrite (_ : z + (x - z) = x); last by lra.
move=> /le_trans; apply; rewrite ler_wpmul2r ?(ltW (f_gt0 _))// ler_expR ler_wpmul2l//; lra.
Qed.

Lemma f_step x s : 0 <= s -> s * expR (- (a * s)) * f x <= F x - F (x - s).
Proof.
move=> s0; rewrite !FE; have le : x - s <= x by lra.
have c0 : 0 <= expR (- (a * s)) * f x by rewrite mulr_ge0 ?expR_ge0 ?ltW.
have := cell_ge mu1 dens le c0 _; rewrite (_ : x - (x - s) = s); last by lra.
move=> h; rewrite -mulrA mulrC (_ : 1 - S mu x - (1 - S mu (x - s)) = S mu (x - s) - S mu x); last by lra.
apply: h => z z1 z2; have d0 : 0 <= x - z by lra.
have := left_falls x d0; rewrite (_ : x - (x - z) = z); last by lra.
move=> h1; rewrite expRN mulrC ler_pdivr_mulr ?expR_gt0//; apply: (le_trans h1).
rewrite mulrC; apply: ler_wpmul2l; first exact: ltW.
rewrite ler_expR ler_wpmul2l//; lra.
Qed.

Lemma F_left x s : 0 <= s -> F x <= expR (a * s) * F (x - s).
Proof.
move=> s0; have m1 y : measurable [set z : R | z < y].
  by rewrite (_ : [set z | _] = `]-oo, y[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv].
have [f0 mf me] := dens.
have mt : measurable_fun setT (fun z : R => z + - s) by exact: measurable_translation.
have mft : measurable_fun setT (fun z : R => f (z + - s)).
  by move=> _ B mB; have := mt measurableT _ (mf measurableT _ mB); rewrite !setTI.
rewrite /F -lee_fin EFinM !fineK ?mass_fin//.
rewrite (me _ (m1 x)) (me _ (m1 (x - s))) (integral_preserved mt (lebesgue_translation (- s)) mf f0 (m1 (x - s))).
have -> : (fun z : R => z + - s) @^-1` [set z | z < x - s] = [set z | z < x] by apply/seteqP; split=> z /=; rewrite ltr_add2r.
rewrite -integral_scaled ?expR_ge0//; last exact: m1.
apply: ge0_le_integral => //; [exact: m1 | by move=> z _; rewrite lee_fin | | by move=> z _; rewrite lee_fin mulr_ge0// expR_ge0 | |].
- by apply/EFin_measurable_fun; apply: measurable_funS mf.
- apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_funS mft].
- by move=> z _; rewrite lee_fin; exact: left_falls.
Qed.

(* The density is at most a times the distribution function. *)
Lemma f_most x : f x <= a * F x.
Proof.
rewrite leNgt; apply/negP => gt; have fx := f_gt0 x.
have bound s : 0 < s -> f x - a * F x <= a * s * f x.
  move=> s0; have s0' := ltW s0.
  have h1 := f_step x s0'; have h2 := F_left x s0'.
  (* exp(-a s) F(x) <= F(x - s) *)
  have h3 : expR (- (a * s)) * F x <= F (x - s) by rewrite expRN mulrC ler_pdivr_mulr ?expR_gt0// mulrC.
  have e1 := expR_ge1D (- (a * s)).
  have h4 : s * (expR (- (a * s)) * f x) <= s * (a * F x).
    have := ler_wpmul2r (F_ge0 x) e1; lra.
  rewrite ler_pmul2l// in h4.
  have := ler_wpmul2r (ltW fx) e1; lra.
have [a00|a_neq] := eqVneq a 0.
  by have := bound 1 ltr01; rewrite a00; move: gt; rewrite a00; lra.
have a1 : 0 < a by rewrite lt_neqAle eq_sym a_neq.
pose s := (f x - a * F x) / (2 * (a * f x)).
have af : 0 < a * f x by rewrite mulr_gt0.
have s0 : 0 < s by rewrite divr_gt0 ?mulr_gt0 ?subr_gt0.
have sE : a * s * f x = (f x - a * F x) / 2.
  have -> : a * s * f x = s * (2 * (a * f x)) / 2 by lra.
  by rewrite /s divfK// gt_eqF// mulr_gt0.
by have := bound s s0; rewrite sE; lra.
Qed.

Lemma F_gt0 x : 0 < F x.
Proof.
rewrite lt_neqAle F_ge0 andbT eq_sym; apply/negP => /eqP z; have := f_most x; rewrite z mulr0 leNgt f_gt0 //.
Qed.
End Step.
