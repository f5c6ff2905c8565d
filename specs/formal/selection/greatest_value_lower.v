(* The greatest noisy answer from below (docs/theory/selection.md, log-concave noisy max): all answers go up together, and the greatest stays below a
   number; or one answer goes down while the others are as far below, and the greatest stays above a number. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels composition groups joint_neighbours finite selection.
From dpverify Require Import independent log_concave moments chain worst_run_limits worst_output_lower noisy_max_rule greatest_value.

(* Chains of inputs that may start elsewhere for each length: where the last one's chance falls like e^(-L S), and the first one's does not. *)
Section Chains.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> nat -> X) (O : set Y) (p0 : R).
Hypotheses (mO : measurable O) (p00 : 0 < p0) (start : forall S, p0 <= fine (M (x S 0%N) O)) (chain : forall S s, both N (x S s) (x S s.+1)).

Theorem chains_lower (L : R) :
  (forall t, 0 <= t -> t < 1 -> exists C, forall S, fine (M (x S S) O) <= C * expR (- (t * L * S%:R))) -> (L%:E <= tight_epsilon N M 0)%E.
Proof.
move=> falls; apply: tight_epsilon_lower => eps e0 eL dpM.
have L0 : 0 < L by lra.
pose t := (eps / L + 1) / 2; have tE : eps / L * L = eps by rewrite divfK// gt_eqF.
have tL : t * L = (eps + L) / 2 by rewrite /t; lra.
have q0 : 0 <= eps / L by rewrite divr_ge0// ltW.
have q1 : eps / L < 1 by rewrite ltr_pdivr_mulr// mul1r.
have [||C below_] := falls t; [by rewrite /t; lra | by rewrite /t; lra |].
pose gap := (L - eps) / 2; have g0 : 0 < gap by rewrite /gap; lra.
have bound S : p0 * (1 + gap * S%:R) <= C.
  have h1 := le_trans (start S) (chain_close mO (chain S) S dpM); have h2 := ler_wpmul2l (expR_ge0 (eps * S%:R)) (below_ S).
  have h3 : p0 <= C * expR (- (gap * S%:R)).
    apply: (le_trans h1); apply: (le_trans h2); rewrite [leLHS]mulrCA -[X in C * X <= _]expRD le_eqVlt; apply/orP; left; apply/eqP.
    by congr (_ * expR _); rewrite tL /gap; lra.
  have h4 := ler_wpmul2r (expR_ge0 (gap * S%:R)) h3; rewrite -[leRHS]mulrA -expRD addNr expR0 mulr1 in h4.
  apply: le_trans h4; rewrite ler_wpmul2l ?(ltW p00)//; by apply: expR_ge1Dx; rewrite mulr_ge0 ?ler0n ?(ltW g0).
have [S SE] := beyond `|C| 0 (mulr_gt0 p00 g0); rewrite add0r in SE.
have := bound S; have := ler_norm C; lra.
Qed.
End Chains.

Section Lower.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (left right : option R).
Hypotheses (mu1 : mu setT = 1%E) (slopes : has_slopes lam mu left right) (left0 : positive_slope left) (right0 : positive_slope right).
Hypotheses (kept1 : keeps lam 1) (kept1' : keeps lam (- 1)).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Context (M : mechanism R ('I_n -> R) [the measurableType _ of R : Type]).
Hypothesis MV : forall q A, measurable A -> M q A = nu (greatest_in Z q A).
Let nu1 : nu setT = 1%E := independent_total noises.

(* Some half-lines to either side have a positive probability. *)
Lemma some_below : exists k : nat, (0 < mu [set z : R | (z <= k%:R)%R])%E.
Proof.
apply: contrapT => none.
have zero k : (mu [set z : R | (z <= k%:R)%R] <= 0)%E by rewrite leNgt; apply/negP => h; apply: none; exists k.
have m k : measurable [set z : R | (z <= k%:R)%R].
  by rewrite (_ : [set z | _] = `]-oo, k%:R]%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv].
have := @chance_rises R _ _ mu (fun k => [set z : R | (z <= k%:R)%R]) setT m measurableT _ _ 0%E zero.
rewrite mu1 => h; suff : (1 <= 0 :> \bar R)%E by rewrite lee_fin ler10.
apply: h => [s z /= le|]; first by apply: (le_trans le); rewrite ler_nat.
apply/seteqP; split=> z // _; have [s sE] := beyond z 0 (@ltr01 R); exists s => //=; lra.
Qed.

Lemma some_above : exists k : nat, (0 < mu [set z : R | (- k%:R <= z)%R])%E.
Proof.
apply: contrapT => none.
have zero k : (mu [set z : R | (- k%:R <= z)%R] <= 0)%E by rewrite leNgt; apply/negP => h; apply: none; exists k.
have := @chance_rises R _ _ mu (fun k => [set z : R | (- k%:R <= z)%R]) setT (fun k => measurable_ray (- k%:R)) measurableT _ _ 0%E zero.
rewrite mu1 => h; suff : (1 <= 0 :> \bar R)%E by rewrite lee_fin ler10.
apply: h => [s z /= le|]; first by apply: le_trans le; rewrite ler_oppl opprK ler_nat.
apply/seteqP; split=> z // _; have [s sE] := beyond (- z) 0 (@ltr01 R); exists s => //=; lra.
Qed.

(* Some answers go up together: the greatest stays below a number, so that each of their noises has to go down. *)
Lemma value_up N D u (up : pred 'I_n) : (0 < n)%N -> 0 <= u -> within u left ->
  (forall s : nat, both N (fun j => if up j then s%:R * D else 0) (fun j => if up j then s.+1%:R * D else 0)) ->
  ((#|up|%:R * u * D)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> n0 u0 ul chain; have [m mpos] := some_below.
pose O : set R := [set z | z <= m%:R].
have mO : measurable O.
  by rewrite (_ : O = `]-oo, m%:R]%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv].
pose move (r : 'I_n) := if up r then - D else 0; pose y (r : 'I_n) := if up r then u else 0.
have lE : loss move y = #|up|%:R * u * D.
  rewrite /loss (eq_bigr (fun r => if up r then - (u * D) else 0)); last by move=> r _; rewrite /y /move; case: (up r); rewrite ?mul0r ?mulrN.
  by rewrite -big_mkcond sumr_const mulNrn opprK -[_ *+ _]mulr_natl mulrA.
rewrite -lE; apply: (@worst_run_lower R (fun=> mu) (fun=> lam) (fun=> left) (fun=> right) (fun=> mu1) (fun=> slopes) (fun=> kept1) (fun=> kept1')
  (fun=> left0) (fun=> right0) n dW W nu Z noises _ N _ _ M (fun s j => if up j then s%:R * D else 0) O mO chain _ _ pred0
  (fun (r : 'I_n) l => - (l == r :> nat)%:R) (fun=> m%:R) move y 0 _ (lexx 0)).
- rewrite MV//; apply: (@lt_le_trans _ _ (nu (\big[setI/setT]_(j < n) (Z j @^-1` O)))).
    rewrite (independent_box (A := fun=> O) noises)// lte_fin; apply: prodr_gt0 => j _; by rewrite fine_gt0// mpos /= (le_lt_trans (mass_le1 mu1 mO))// ltry.
  apply: le_measure; rewrite ?inE//.
  + by apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; exact: (measurable_noises noises).
  + exact: (measurable_greatest_in noises).
  + move=> w /in_all all_below; pose i0 := Ordinal n0.
    have [i _ top] := @arg_maxP _ _ _ i0 xpredT (fun j : 'I_n => Z j w) isT.
    exists i => [j|]; first by rewrite /noisy mul0r !if_same ler_add2l; exact: top.
    by rewrite /noisy mul0r if_same add0r; exact: all_below.
- move=> s; rewrite MV//; apply: le_measure; rewrite ?inE//.
  + exact: (measurable_greatest_in noises).
  + exact: (measurable_run noises).
  + move=> w [i top Oi]; rewrite /run_comes_out; elim/big_ind: _ => // r _.
    rewrite /comes_out/= /row (bigD1 r)//= eqxx big1 ?addr0; last first.
      by move=> l lr; rewrite (_ : (l : nat) == r = false) ?oppr0 ?mul0r//; exact: negbTE.
    have := top r; move: Oi; rewrite /O/= /noisy /move; case: (up r); lra.
- by move=> j _; rewrite /y; case: ifP.
- move=> l ln; have -> : at_noise (fun (r : 'I_n) l => - (l == r :> nat)%:R) y l = - y (Ordinal ln).
    rewrite /at_noise (bigD1 (Ordinal ln))//= eqxx mulrN1 big1 ?addr0// => r rl.
    by rewrite (_ : (l == r :> nat) = false) ?oppr0 ?mulr0//; apply/negbTE; rewrite eq_sym; exact: rl.
  rewrite opprK /y; case: (up _); rewrite ?oppr0; split=> //.
  - by case: right right0 => //= b b0; apply: le_trans (ltW b0); rewrite oppr_le0.
  - by case: right right0 => //= b /ltW.
  - by case: left left0 => //= b /ltW.
Qed.

Lemma one_noise (i : 'I_n) A : measurable A -> nu (Z i @^-1` A) = mu A.
Proof.
move=> mA; pose B (j : nat) := if j == i :> nat then A else setT.
have mB j : measurable (B j) by rewrite /B; case: ifP.
have -> : Z i @^-1` A = \big[setI/setT]_(j < n) (Z j @^-1` B j).
  apply/seteqP; split=> w.
  - by move=> Ai; apply/in_all => j /=; rewrite /B; case: eqVneq => // ->.
  - by move=> /in_all/(_ i)/=; rewrite /B eqxx.
rewrite (independent_box noises mB) (bigD1 i)//= /B eqxx big1 ?mulr1 ?fineK ?mass_fin// => j ji.
by rewrite (_ : (j : nat) == i = false) ?mu1//; exact: negbTE.
Qed.

(* One goes down, the others are as far below as it gets: the greatest stays above a number, so that some noise has to go up. *)
Lemma value_down N D u (i : 'I_n) : 0 <= u -> within u right ->
  (forall S s : nat, both N (fun j => if j == i then - (s%:R * D) else - (S%:R * D)) (fun j => if j == i then - (s.+1%:R * D) else - (S%:R * D))) ->
  ((u * D)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> u0 ur chain; have [m mpos] := some_above.
pose O : set R := [set z | - m%:R <= z].
have mO : measurable O by exact: measurable_ray.
apply: (@chains_lower R _ N _ _ M (fun S s j => if j == i then - (s%:R * D) else - (S%:R * D)) O (fine (mu O)) mO _ _ chain).
- by rewrite fine_gt0// mpos /= (le_lt_trans (mass_le1 mu1 mO))// ltry.
- move=> S; rewrite MV// -lee_fin !fineK ?mass_fin//; last exact: (measurable_greatest_in noises).
  rewrite -(one_noise i mO); apply: le_measure; rewrite ?inE.
  + by rewrite -[X in measurable X]setTI; exact: (measurable_noises noises).
  + exact: (measurable_greatest_in noises).
  + move=> w Oi; set q := fun j => _; have [k _ top] := @arg_maxP _ _ _ i xpredT (fun j : 'I_n => noisy Z q j w) isT.
    exists k => [j|]; first exact: top.
    apply: (le_trans _ (top i isT)); move: Oi; by rewrite /O/= /noisy /q eqxx mul0r oppr0 add0r.
- move=> t t0 t1.
  pose a (r : unit) (l : nat) : R := (l == i)%:R.
  have gE l : at_noise a (fun=> u) l = u * (l == i)%:R by rewrite /at_noise (big_pred1 tt)//; case.
  have lE : loss (fun _ : unit => - D) (fun=> u) = u * D by rewrite /loss (big_pred1 tt) ?mulrN ?opprK//; case.
  have inside j : (j < n)%N -> within (at_noise a (fun=> u) j) right /\ within (- at_noise a (fun=> u) j) left.
    move=> jn; rewrite gE; case: (j == i).
    - by rewrite mulr1; split=> //; case: left left0 => //= b b0; apply: le_trans (ltW b0); rewrite oppr_le0.
    - by rewrite mulr0 oppr0; split; [case: right right0 => //= b /ltW | case: left left0 => //= b /ltW].
  have [C CE] := @run_falls R (fun=> mu) (fun=> left) (fun=> right) (fun=> mu1)
    (fun=> log_concave_tails mu1 slopes kept1 kept1' left0 right0) n dW W nu Z noises _ pred0 a (fun=> m%:R) (fun=> - D) 0 (fun=> u) (lexx 0) (fun _ _ => u0) t t0 t1 inside.
  exists (n%:R * C) => S; rewrite -mulrA.
  have mt : measurable [set z : R | S%:R * D - m%:R <= z] by exact: measurable_ray.
  apply: (@le_trans _ _ (n%:R * fine (mu [set z : R | (S%:R * D - m%:R <= z)%R]))); last first.
    apply: ler_wpmul2l; rewrite ?ler0n//; move: (CE S); rewrite lE; apply: le_trans.
    rewrite -(one_noise i mt) le_eqVlt; apply/orP; left; apply/eqP; congr (fine (nu _)).
    have -> : run_comes_out n Z pred0 a (fun=> m%:R) (fun=> - D) 0 S = comes_out n Z pred0 a (fun=> m%:R) (fun=> - D) 0 S tt.
      by rewrite /run_comes_out (big_pred1 tt)//; case.
    have rowE w : \sum_(l < n) a tt l * Z l w = Z i w.
      rewrite (bigD1 i)//= /a eqxx mul1r big1 ?addr0// => l li; by rewrite (_ : (l : nat) == i = false) ?mul0r//; exact: negbTE.
    by apply/seteqP; split=> w; rewrite /comes_out /row/= rowE => h; lra.
  rewrite MV// -lee_fin fineK ?mass_fin//; last exact: (measurable_greatest_in noises).
  rewrite (greatest_mass noises)// EFinM fineK ?mass_fin//.
  have -> : ((n%:R)%:E * mu [set z : R | (S%:R * D - m%:R <= z)%R] = \sum_(j < n) mu [set z : R | (S%:R * D - m%:R <= z)%R])%E.
    rewrite -(fineK (mass_fin mu1 mt)) sumEFin -EFinM sumr_const card_ord mulr_natl//.
  apply: lee_sum => j _; rewrite -(one_noise j mt); apply: le_measure; rewrite ?inE.
  + exact: (measurable_first_greatest_in noises).
  + by rewrite -[X in measurable X]setTI; exact: (measurable_noises noises).
  + by move=> w [_ /=]; rewrite /O/= /noisy; case: ifP => _; lra.
Qed.

(* Answers on a grid, all numbers or the integers, which holds what D adds to 0; and how many of them may go up together. *)
Context (grid : R -> Prop) (D : R).
Definition on_grid N q q' := (forall j : 'I_n, grid (q j) /\ grid (q' j)) /\ N q q'.
Variant go_up : relation ('I_n -> R) -> nat -> Prop :=
| AllUp : go_up (moved_by (n := n) D) n
| SameWayUp : go_up (raised_by (n := n) D) n
| OneUp : go_up (alone_by D) 1.
Hypotheses (D0 : 0 < D) (n0 : (0 < n)%N) (on : forall s : nat, grid (s%:R * D) /\ grid (- (s%:R * D))).

Let step (s : nat) : s.+1%:R * D - s%:R * D = D. Proof. by rewrite -natr1; lra. Qed.
Let grid0 : grid 0. Proof. by have [h _] := on 0; rewrite mul0r in h. Qed.

Lemma up_together N k : go_up N k -> exists2 up : pred 'I_n, #|up| = k &
  forall s : nat, both (on_grid N) (fun j => if up j then s%:R * D else 0) (fun j => if up j then s.+1%:R * D else 0).
Proof.
have g (up : pred 'I_n) (s : nat) : forall j, grid (if up j then s%:R * D else 0) /\ grid (if up j then s.+1%:R * D else 0).
  by move=> j; case: (up j) => //; split; [have [] := on s | have [] := on s.+1].
case; [exists xpredT | exists xpredT | exists (pred1 (Ordinal n0))]; rewrite ?card1 ?cardT ?size_enum_ord//.
- by move=> s; left; split=> [|j]; [exact: (g xpredT) | rewrite /= step ger0_norm// ltW].
- by move=> s; left; split=> [|j]; [exact: (g xpredT) | rewrite /= step lexx ltW].
- move=> s; left; split; first exact: (g (pred1 (Ordinal n0))).
  exists (Ordinal n0); split=> [|j /negbTE ji]; last by rewrite /= ji.
  by rewrite /= ?eqxx step ger0_norm// ltW.
Qed.

Lemma down_alone N k (i : 'I_n) : go_up N k -> forall S s : nat,
  both (on_grid N) (fun j => if j == i then - (s%:R * D) else - (S%:R * D)) (fun j => if j == i then - (s.+1%:R * D) else - (S%:R * D)).
Proof.
move=> up S s; have g j : grid (if j == i then - (s%:R * D) else - (S%:R * D)) /\ grid (if j == i then - (s.+1%:R * D) else - (S%:R * D)).
  by case: (j == i); split; [have [] := on s | have [] := on s.+1 | have [] := on S | have [] := on S].
have d : - (s.+1%:R * D) - - (s%:R * D) = - D by have := step s; lra.
case: up.
- left; split=> // j; case: ifP => _; first by rewrite d normrN ger0_norm// ltW.
  by rewrite subrr normr0 ltW.
- right; split=> [j|j]; first by have [] := g j.
  case: ifP => _; first by have := step s; have := D0; move=> ? ?; apply/andP; split; lra.
  by rewrite subrr lexx ltW.
- left; split=> //; exists i; split=> [|j /negbTE -> //]; by rewrite eqxx d normrN ger0_norm// ltW.
Qed.

(* Every v that is at most D times the slope to the left for each answer that goes up, or D times the slope to the right, is a lower bound: so where one of
   the slopes is infinite, none is finite. *)
(* The greatest noisy answer. *)
(* Rule: log-concave-noisy-max, lower, in part: answers that differ by points of a hull. *)
Theorem noisy_max_value_lower N k v : go_up N k ->
  within v (omap (fun b => D * (k%:R * b)) left) \/ within v (omap (fun b => D * b) right) -> (v%:E <= tight_epsilon (on_grid N) M 0)%E.
Proof.
move=> up ways; have [v0|v0] := leP v 0; first by apply: le_trans (tight_epsilon_ge0 _ _ _); rewrite lee_fin.
have k0 : 0 < k%:R :> R by rewrite ltr0n; case: up.
have uE : v = v / D * D by rewrite divfK// gt_eqF.
case: ways => [vl|vr].
- have [p pk chain] := up_together up.
  have -> : v = #|p|%:R * (v / D / k%:R) * D by rewrite pk mulrC [k%:R * _]mulrC divfK ?gt_eqF// mulrC divfK ?gt_eqF.
  apply: value_up chain => //; first by rewrite !divr_ge0// ltW.
  case: left vl => //= b; rewrite !ler_pdivr_mulr//; have -> // : D * (k%:R * b) = b * k%:R * D by rewrite [RHS]mulrC [b * _]mulrC.
- rewrite uE; apply: (value_down (i := Ordinal n0)) (down_alone (Ordinal n0) up); first by rewrite divr_ge0// ltW.
  by case: right vr => //= b; rewrite ler_pdivr_mulr// mulrC.
Qed.
End Lower.
