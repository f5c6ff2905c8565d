(* The greatest of several noisy answers on the reals (docs/theory/selection.md, log-concave noisy max, 3 from above): it has a density, which loses at most
   max(n b-, b+) for each unit that answers move by. A move is taken in many small steps, so that what is of second order vanishes. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels likelihood composition groups joint_neighbours finite selection.
From dpverify Require Import independent log_concave worst_output_lower powers survival_cells laplace_curve noisy_max_rule one_noise greatest_value greatest_step.

(* -- The density and small moves -- *)

Section Moves.
Context (R : realType) (n : nat) (mu : {measure set R -> \bar R}) (f : R -> R) (a b D : R).
Hypotheses (mu1 : mu setT = 1%E) (dens : has_density (@lebesgue_measure R) mu f).
Hypotheses (a0 : 0 <= a) (b0 : 0 <= b) (D0 : 0 <= D) (f_gt0 : forall z, 0 < f z).
Hypotheses (right_falls : forall z s, 0 <= s -> f z <= expR (b * s) * f (z + s)) (left_falls : forall z s, 0 <= s -> f z <= expR (a * s) * f (z - s)).
Notation F := (greatest_step.F mu).

Definition greatest_density (q : 'I_n -> R) (v : R) : R := \sum_i f (v - q i) * \prod_(j < n | j != i) F (v - q j).
Let C := Num.max (n%:R * a) b * D.

Lemma prod_expR (I : finType) (P : pred I) (g : I -> R) : \prod_(i | P i) expR (g i) = expR (\sum_(i | P i) g i).
Proof. by rewrite (big_morph _ (@expRD R) (@expR0 R)). Qed.

Section Small.
Variables (q d : 'I_n -> R) (s x v : R).
Hypotheses (dD : forall j, `|d j| <= D) (s0 : 0 <= s) (x0 : 0 <= x) (x2 : x <= 2^-1).
Hypotheses (sx : expR (b * (s * D)) <= 1 + 2 * x) (sa : s * D * a * (1 + 2 * x) <= x).

Let eta := (1 + 2 * x) * (1 + 2 * x).
Let p j := Num.max 0 (d j).
Let m j := Num.max 0 (- d j).
Let rho j := f (v - q j) / F (v - q j).
Let Fgt0 y : 0 < F y := F_gt0 mu1 dens a0 b0 f_gt0 left_falls y.
Let rhoE j : rho j * F (v - q j) = f (v - q j). Proof. by rewrite divfK// gt_eqF. Qed.
Let p0 j : 0 <= p j. Proof. by rewrite le_maxr lexx. Qed.
Let m0 j : 0 <= m j. Proof. by rewrite le_maxr lexx. Qed.
Let pm j : p j + m j <= D.
Proof.
by have := dD j; rewrite /p /m ler_norml => /andP[lo hi]; have [h|h] := leP 0 (d j); [rewrite max_l ?oppr_le0// | rewrite max_r ?oppr_ge0 ?(ltW h)//]; lra.
Qed.
Let rho0 j : 0 <= rho j. Proof. by rewrite divr_ge0 ?ltW. Qed.
Let rhoa j : rho j <= a.
Proof. by rewrite ler_pdivr_mulr//; exact: (f_most mu1 dens a0 b0 f_gt0 left_falls). Qed.
Let eta1 : 1 <= eta. Proof. by rewrite /eta; have := mulr_ge0 x0 x0; lra. Qed.

Lemma own_move i : f (v - q i) * expR (- (s * (a * p i + b * m i))) <= f (v - (q i + s * d i)).
Proof.
rewrite expRN ler_pdivr_mulr ?expR_gt0// mulrC /p /m; have [h|h] := leP 0 (d i).
- rewrite max_l ?oppr_le0// mulr0 addr0; have := left_falls (v - q i) (mulr_ge0 s0 h).
  by rewrite -addrA -opprD [a * (s * _)]mulrCA.
- rewrite max_r ?oppr_ge0 ?(ltW h)// mulr0 add0r; have h' : 0 <= s * - d i by rewrite mulr_ge0// oppr_ge0 ltW.
  have := right_falls (v - q i) h'; rewrite [b * (s * _)]mulrCA.
  by rewrite (_ : v - q i + s * - d i = v - (q i + s * d i)); last by rewrite mulrN opprD addrA.
Qed.

Lemma other_move j : F (v - q j) * expR (- (s * (eta * (p j * rho j)))) <= F (v - (q j + s * d j)).
Proof.
have [h|h] := leP (d j) 0.
  have -> : p j = 0 by rewrite /p max_l.
  rewrite mul0r !mulr0 oppr0 expR0 mulr1 (_ : v - (q j + s * d j) = v - q j + s * - d j); last by rewrite mulrN opprD addrA.
  by apply: (F_rises mu1 a0 b0); rewrite mulr_ge0// oppr_ge0.
have pE : p j = d j by rewrite /p max_r// ltW.
have sd0 : 0 <= s * d j by rewrite mulr_ge0// ltW.
have dle : d j <= D := le_trans (ler_norm _) (dD j).
have st := F_step mu1 dens a0 b0 f_gt0 right_falls (v - q j) sd0.
have e1 : expR (b * (s * d j)) <= 1 + 2 * x.
  by apply: le_trans sx; rewrite ler_expR; apply: ler_wpmul2l => //; exact: ler_wpmul2l.
pose y := s * d j * (1 + 2 * x) * rho j.
have x1 : 0 <= 1 + 2 * x by lra.
have y0 : 0 <= y by exact: mulr_ge0 (mulr_ge0 sd0 x1) (rho0 j).
have yx : y <= x.
  apply: le_trans sa; rewrite /y; have -> : s * D * a * (1 + 2 * x) = s * D * (1 + 2 * x) * a by rewrite mulrAC.
  apply: ler_pmul => //; first exact: mulr_ge0 sd0 x1.
  by apply: ler_wpmul2r => //; exact: ler_wpmul2l.
have step : F (v - q j) * (1 - y) <= F (v - q j - s * d j).
  have : s * d j * expR (b * (s * d j)) * f (v - q j) <= y * F (v - q j).
    rewrite /y -[in leRHS]mulrA rhoE; apply: ler_wpmul2r; first exact: ltW.
    by apply: ler_wpmul2l.
  by rewrite mulrBr mulr1 [F _ * y]mulrC; lra.
rewrite opprD addrA; apply: le_trans step; apply: ler_wpmul2l; first exact: ltW.
have := below_one y0 yx x2; rewrite (_ : (1 + 2 * x) * y = s * (eta * (p j * rho j)))//.
by rewrite pE /y /eta; lra.
Qed.

Let T i := f (v - q i) * \prod_(j < n | j != i) F (v - q j).
Let L i := at_greatest a b p m rho i.

Lemma term_move i : T i * expR (- (s * (eta * L i))) <= f (v - (q i + s * d i)) * \prod_(j < n | j != i) F (v - (q j + s * d j)).
Proof.
have h : \prod_(j < n | j != i) (F (v - q j) * expR (- (s * (eta * (p j * rho j))))) <= \prod_(j < n | j != i) F (v - (q j + s * d j)).
  by apply: ler_prod => j _; rewrite other_move mulr_ge0 ?expR_ge0 ?ltW.
apply: (@le_trans _ _ ((f (v - q i) * expR (- (s * (a * p i + b * m i)))) *
    \prod_(j < n | j != i) (F (v - q j) * expR (- (s * (eta * (p j * rho j))))))); last first.
  apply: ler_pmul => //; [by rewrite mulr_ge0 ?expR_ge0 ?ltW | | exact: own_move].
  by apply: prodr_ge0 => j _; rewrite mulr_ge0 ?expR_ge0 ?ltW.
rewrite big_split/= prod_expR mulrACA -expRD /T; apply: ler_wpmul2l.
  by rewrite mulr_ge0 ?ltW//; apply: prodr_gt0.
rewrite ler_expR sumrN -opprD ler_opp2 -mulr_sumr -mulr_sumr -mulrDr; apply: ler_wpmul2l => //.
rewrite /L /at_greatest mulrDr ler_add2r -[leLHS]mul1r; apply: ler_wpmul2r => //.
by rewrite addr_ge0// mulr_ge0.
Qed.

Lemma small_move : expR (- (s * (eta * C))) * greatest_density q v <= greatest_density (fun j => q j + s * d j) v.
Proof.
apply: (@le_trans _ _ (\sum_i T i * expR (- (s * (eta * L i))))); last by apply: ler_sum => i _; exact: term_move.
have T0 i : 0 <= T i by rewrite mulr_ge0 ?ltW//; apply: prodr_gt0.
apply: (@mean_of_exponentials R _ T (fun i => eta * L i) (eta * C) s T0 s0).
pose G := \prod_j F (v - q j).
have G0 : 0 <= G by rewrite ltW//; apply: prodr_gt0.
have TE i : T i = G * rho i.
  by rewrite /T /G [in RHS](bigD1 i)//= -rhoE -mulrA [LHS]mulrC.
have e0 : 0 <= eta * G by rewrite mulr_ge0//; lra.
have := ler_wpmul2l e0 (mean_loss a0 b0 D0 p0 m0 pm rho0 rhoa).
rewrite (_ : \sum_i T i * (eta * L i) = eta * G * \sum_i rho i * L i); last first.
  by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite TE; lra.
rewrite (_ : \sum_i T i = G * \sum_i rho i); last by rewrite mulr_sumr; apply: eq_bigr => i _; rewrite TE.
by move=> /le_trans; apply; rewrite /C le_eqVlt; apply/orP; left; apply/eqP; rewrite mulrACA mulrA.
Qed.
End Small.

(* Many small steps. *)
Lemma many_moves (q d : 'I_n -> R) (s x v : R) (k : nat) : (forall j, `|d j| <= D) -> 0 <= s -> 0 <= x -> x <= 2^-1 ->
  expR (b * (s * D)) <= 1 + 2 * x -> s * D * a * (1 + 2 * x) <= x ->
  expR (- (k%:R * s * ((1 + 2 * x) * (1 + 2 * x) * C))) * greatest_density q v <= greatest_density (fun j => q j + k%:R * s * d j) v.
Proof.
move=> dD s0 x0 x2 sx sa; elim: k => [|k IH].
  rewrite !mul0r oppr0 expR0 mul1r (_ : (fun j => _) = q)//; by apply/funext => j; rewrite !mul0r addr0.
have := small_move (fun j => q j + k%:R * s * d j) v dD s0 x0 x2 sx sa.
rewrite (_ : (fun j => q j + k%:R * s * d j + s * d j) = (fun j => q j + k.+1%:R * s * d j)); last first.
  by apply/funext => j; rewrite -natr1; lra.
apply: le_trans.
rewrite (_ : - (k.+1%:R * s * ((1 + 2 * x) * (1 + 2 * x) * C)) =
    - (s * ((1 + 2 * x) * (1 + 2 * x) * C)) + - (k%:R * s * ((1 + 2 * x) * (1 + 2 * x) * C))); last by rewrite -natr1; lra.
by rewrite expRD -mulrA; apply: ler_wpmul2l; [exact: expR_ge0 | exact: IH].
Qed.

Lemma density_loses (q q' : 'I_n -> R) e v : (forall j, `|q' j - q j| <= D) -> C < e ->
  greatest_density q v <= expR e * greatest_density q' v.
Proof.
move=> qD Ce; have C0 : 0 <= C by rewrite mulr_ge0// le_maxr b0 orbT.
pose g := e - C; have g0 : 0 < g by rewrite subr_gt0.
have u0 : 0 < 6 * C + 2 * g by lra.
pose x := g / (6 * C + 2 * g); have xE : x * (6 * C + 2 * g) = g by rewrite divfK// gt_eqF.
have x0 : 0 < x by rewrite divr_gt0.
have x2 : x <= 2^-1 by rewrite ler_pdivr_mulr//; lra.
have l0 : 0 < ln (1 + 2 * x) by rewrite ln_gt0//; lra.
have [k kE] := beyond (b * D / ln (1 + 2 * x) + D * a * (1 + 2 * x) / x) 0 (@ltr01 R); rewrite add0r mulr1 in kE.
have q1 : 0 <= b * D / ln (1 + 2 * x) by rewrite divr_ge0 ?mulr_ge0// ltW.
have q2 : 0 <= D * a * (1 + 2 * x) / x by rewrite divr_ge0 ?(ltW x0)// !mulr_ge0//; lra.
have k0 : 0 < k.+1%:R :> R by rewrite ltr0n.
have kk : k%:R <= k.+1%:R :> R by rewrite ler_nat.
pose s : R := k.+1%:R^-1; have s0 : 0 <= s by rewrite invr_ge0 ltW.
have ks : k.+1%:R * s = 1 by rewrite divff// gt_eqF.
have A1 : b * D <= k.+1%:R * ln (1 + 2 * x) by rewrite -ler_pdivr_mulr//; lra.
have A2 : D * a * (1 + 2 * x) <= k.+1%:R * x by rewrite -ler_pdivr_mulr//; lra.
have sx : expR (b * (s * D)) <= 1 + 2 * x.
  rewrite -[leRHS]lnK ?posrE; last by lra.
  by rewrite ler_expR (_ : b * (s * D) = b * D * s); [rewrite /s ler_pdivr_mulr// [X in _ <= X]mulrC | lra].
have sa : s * D * a * (1 + 2 * x) <= x.
  by rewrite (_ : s * D * a * (1 + 2 * x) = D * a * (1 + 2 * x) * s); [rewrite /s ler_pdivr_mulr// [X in _ <= X]mulrC | lra].
have := many_moves q v k.+1 qD s0 (ltW x0) x2 sx sa.
rewrite ks mul1r (_ : (fun j => _) = q'); last by apply/funext => j; rewrite mul1r; lra.
rewrite expRN mulrC ler_pdivr_mulr ?expR_gt0// mulrC => /le_trans; apply.
have d0 : 0 <= greatest_density q' v.
  apply: sumr_ge0 => i _; rewrite mulr_ge0 ?ltW//; apply: prodr_gt0 => j _.
  exact: (F_gt0 mu1 dens a0 b0 f_gt0 left_falls).
apply: ler_wpmul2r => //; rewrite ler_expR.
have h1 : x * x * C <= 2^-1 * x * C by rewrite ler_wpmul2r// ler_wpmul2r// ltW.
have h2 := mulr_ge0 (ltW x0) (ltW g0).
have gE : e = C + g by rewrite /g; lra.
move: h1 h2 gE xE; move: (C) (x) (g) => c y h h1 h2 -> yE; lra.
Qed.
End Moves.
