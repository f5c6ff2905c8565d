(* Noisy max of two candidates with even noise whose density does not rise from 0 on (docs/theory/selection.md, two candidates): the tight epsilon is the
   supremum of log S(u)/S(u + r), S(u) the probability that the difference of two noises is u or more; and the bound on it that the rule checks. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic kernels joint_neighbours finite selection survival_cells independent one_noise laplace_curve.
From dpverify Require Import greatest_real survival noisy_max_rule winners noise_difference lines_on_cells difference_ratio.
Import numFieldNormedType.Exports.

Section Candidates.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (dens : has_density lam mu f).
Hypotheses (even : forall z, f (- z) = f z) (past_mode : forall x y, 0 < x -> x <= y -> f y <= f x).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Local Notation B := (beyond mu).

(* S(u) is what the rule integrates: the probability that the difference of two of the noises is u or more. *)
Lemma difference_chance (i j : 'I_n) u : j != i -> nu [set w | u <= Z i w - Z j w] = (B u)%:E.
Proof.
move=> ji; have nu1 := independent_total noises.
have [put [mput pi po _ again]] := draw_again noises (ltn_ord i).
have mZ k : measurable_fun setT (Z k) by exact: (measurable_noises noises).
have mA : measurable [set w | u <= Z i w - Z j w].
  rewrite (_ : [set w | _] = setT `&` (fun w => Z i w - Z j w) @^-1` [set z | u <= z]); last by rewrite setTI.
  by apply: (measurable_funB (mZ i) (mZ j)) => //; exact: measurable_ray.
rewrite again// (eq_integral (fun w => (S mu (u + Z j w))%:E)); last first.
  move=> w _; rewrite -(massS mu1); congr (mu _); apply/seteqP; split=> z /=; rewrite pi po// ?(eq_sym j)//; lra.
have [put' [mput' pi' _ _ again']] := draw_again noises (ltn_ord j).
have zE A : measurable A -> mu A = nu (Z j @^-1` A).
  move=> mB; rewrite again'; last by rewrite -[X in measurable X]setTI; exact: mZ.
  rewrite (eq_integral (cst (mu A))) ?integral_cst// ?nu1 ?mule1// => w _; congr (mu _).
  by apply/seteqP; split=> z /=; rewrite pi'.
rewrite -[LHS](@integral_through R _ _ _ _ nu mu (Z j) (fun z => (S mu (u + z))%:E) (mZ j) zE); last 2 first.
- by apply/EFin_measurable_fun; exact: (measurable_plus_tail mu1).
- by move=> z; rewrite lee_fin; case/andP: (S01 mu1 (u + z)).
exact: (mean_finite mu1 (test_tail mu1 u)).
Qed.

Lemma difference_strictly (i j : 'I_n) u : j != i -> nu [set w | u < Z i w - Z j w] = (B u)%:E.
Proof.
move=> ji; have nu1 := independent_total noises; have mZ k : measurable_fun setT (Z k) by exact: (measurable_noises noises).
have md a b : measurable_fun setT (fun w => Z a w - Z b w) := measurable_funB (mZ a) (mZ b).
pose A : set W := [set w | u < Z i w - Z j w]; pose C : set W := [set w | - u <= Z j w - Z i w].
have mA : measurable A.
  by rewrite (_ : A = setT `&` (fun w => Z i w - Z j w) @^-1` [set z | u < z]); [apply: md => //; exact: measurable_open_ray | rewrite setTI].
have mC : measurable C.
  by rewrite (_ : C = setT `&` (fun w => Z j w - Z i w) @^-1` [set z | - u <= z]); [apply: md => //; exact: measurable_ray | rewrite setTI].
have AC : A `&` C = set0 by apply/seteqP; split=> w // [] /=; rewrite /A /C/=; lra.
have E : (nu (A `|` C) = nu A + nu C)%E := measureU nu mA mC AC.
have T : A `|` C = setT.
  by apply/seteqP; split=> w // _; have [h|h] := ltP u (Z i w - Z j w); [left | right; rewrite /C/=; lra].
move: E; rewrite T nu1 (@difference_chance j i (- u)); last by rewrite eq_sym.
rewrite -/A -(fineK (mass_fin nu1 mA)) -EFinD (beyond_reflected lamE mu1 dens even) => -[e]; congr (_%:E).
lra.
Qed.

(* Of two greatest answers one is told by an order of the indices, which is drawn with these weights. *)
Context (K : finType) (weight : K -> R) (prior : K -> rel 'I_n).
Hypotheses (weight0 : forall k, 0 <= weight k) (weight1 : \sum_k weight k = 1).
Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall i, measurable [set pt i]) (MZ : has_table M pt (greatest_chance nu Z weight prior)).
Hypothesis two : (n <= 2)%N.

Lemma only_other (i j k : 'I_n) : j != i -> k != i -> k = j.
Proof.
rewrite -!val_eqE => ji ki; apply: val_inj; move: ji ki.
have lt (m : 'I_n) : (m < 2)%N by exact: leq_trans (ltn_ord m) two.
by have := lt i; have := lt j; have := lt k => /=; do 3![case: (nat_of_ord _) => [|[|?]]//].
Qed.

Lemma told_of_two q (i j : 'I_n) : j != i -> greatest_chance nu Z weight prior q i = B (q j - q i).
Proof.
move=> ji; rewrite /greatest_chance -[RHS]mul1r -weight1 mulr_suml; apply: eq_bigr => k _; congr (_ * _); apply: EFin_inj.
rewrite fineK; last by apply: (mass_fin (independent_total noises)); exact: (measurable_greatest noises).
have E : greatest_is Z prior k q i = [set w | wins prior k i j (q i + Z i w) (q j + Z j w)].
  apply/seteqP; split=> w; first by move=> G; exact: (greatest_wins G ji).
  by move=> G; apply: greatest_of => l li; rewrite (only_other ji li).
rewrite E /wins; case: (prior k j i).
- rewrite -(difference_strictly _ ji); congr (nu _); apply/seteqP; split=> w /=; lra.
- rewrite -(difference_chance _ ji); congr (nu _); apply/seteqP; split=> w /=; lra.
Qed.

Lemma told_alone (q : 'I_n -> R) (i : 'I_n) : (forall j, j = i) -> greatest_chance nu Z weight prior q i = 1.
Proof.
move=> all; rewrite /greatest_chance -[RHS]weight1; apply: eq_bigr => k _.
rewrite (_ : greatest_is Z prior k q i = setT) ?(independent_total noises) ?mulr1//.
by apply/seteqP; split=> w // _; apply: greatest_of => j; rewrite (all j) eqxx.
Qed.

Lemma pure_of_ratio N D r v : 0 < D -> 0 <= v -> winner_moves D N r -> (forall u, B u <= expR v * B (u + r)) -> pure_dp N M v.
Proof.
move=> D0 v0 moves ratio; apply/(table_pure N pt_inj pt_measurable MZ v) => q q' near i.
have [[j ji]|none] := pselect (exists j, j != i); last first.
  rewrite !told_alone ?mulr1 -?[leLHS]expR0 ?ler_expR// => j; apply: contrapT => ji; apply: none; exists j; exact/eqP.
rewrite !(told_of_two _ ji); apply: (le_trans (ratio _)); apply: ler_wpmul2l; first exact: expR_ge0.
apply: (beyond_falls mu1 dens); have := winner_apart (ltW D0) moves near i j; lra.
Qed.

(* The tight epsilon. *)
(* Rule: two-candidates. *)
Theorem two_candidates_tight N (D r : R) : n = 2%N -> 0 < D -> winner_moves D N r ->
  tight_epsilon N M 0 = ereal_sup [set log_ratio (B u) (B (u + r)) | u in [set: R]].
Proof.
move=> n2 D0 moves; have r0 : 0 < r by case: moves => //; rewrite mulr_gt0.
have B0 u : 0 <= B u by rewrite /beyond /mean fine_ge0//; apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (S01 mu1 (u + z)).
have half : B 0 = 2^-1 by have := beyond_reflected lamE mu1 dens even 0; rewrite oppr0; lra.
apply: equal_by_bounds; first exact: tight_epsilon_ge0.
  apply: (@le_trans _ _ (log_ratio (B 0) (B (0 + r)))); last by apply: ereal_sup_ub; exists 0.
  have fall : B (0 + r) <= B 0 by apply: (beyond_falls mu1 dens); rewrite ler_addl ltW.
  rewrite /log_ratio half gt_eqF ?invr_gt0//; have [_|r1] := eqVneq (B (0 + r)) 0; first by rewrite leey.
  have r2 : 0 < B (0 + r) by rewrite lt_neqAle eq_sym r1 B0.
  rewrite lee_fin -[leLHS]ln1 ler_ln ?posrE ?divr_gt0 ?invr_gt0//.
  by rewrite ler_pdivl_mulr// mul1r -half.
move=> e e0; have -> : (tight_epsilon N M 0 <= e%:E)%E <-> pure_dp N M e by split=> /(dp_tight _ _ _ e0).
split=> [P|H]; last first.
  apply: (pure_of_ratio D0 e0 moves) => u; apply/log_ratioP => //; apply: le_trans H; apply: ereal_sup_ub; by exists u.
apply: ub_ereal_sup => _ [u _ <-]; apply/log_ratioP => //.
pose i0 : 'I_n := Ordinal (leq_trans (isT : (0 < 2)%N) (eq_leq (esym n2))).
pose i1 : 'I_n := Ordinal (leq_trans (isT : (1 < 2)%N) (eq_leq (esym n2))).
have ne : i1 != i0 by [].
have [q [q' [near qE qE']]] := winner_range u (ltW D0) ne moves.
have := (table_pure N pt_inj pt_measurable MZ e).1 P q q' near i0.
by rewrite !(told_of_two _ ne) qE qE'.
Qed.

(* As the rule checks it: at the first cut, on each half of each cell by lines that have values at the cuts, and by the slope from half the last one on. *)
(* Rule: two-candidates, upper. *)
Theorem two_candidates_upper N (D r v : R) k (c : nat -> R) (h dh : R -> R) (bad : seq R) :
  0 < D -> winner_moves D N r -> (forall j, (j < k)%N -> c j < c j.+1) -> 0 <= c k -> 0 < B (c 0%N + r) -> - ln (B (c 0%N + r)) <= v ->
  (forall i second, (i < k)%N -> exists p q p' q' : R, [/\ line_above B c k i p q, line_below B (fun j => c j + r) k i p' q' &
    forall t, t = half_starts R second \/ t = half_ends R second -> 0 < p' + q' * t /\ ln ((p + q * t) / (p' + q' * t)) <= v]) ->
  (forall z, c k / 2 <= z -> f z = expR (- h z)) -> {within `[c k / 2, +oo[, continuous h} ->
  (forall z : R, c k / 2 < z -> z \notin bad -> is_derive z 1 h (dh z) /\ `|dh z| <= v / r) ->
  pure_dp N M v.
Proof.
move=> D0 moves rise last0 pos first cells fE cont slope; have r0 : 0 < r by case: moves => //; rewrite mulr_gt0.
have v0 : 0 <= v.
  apply: le_trans first; rewrite oppr_ge0 -[leRHS]ln1 ler_ln ?posrE//.
  have := beyond_reflected lamE mu1 dens even (c 0%N + r); have : 0 <= B (- (c 0%N + r)); last by move=> ? ?; lra.
  by rewrite /beyond /mean fine_ge0//; apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (S01 mu1 (- (c 0%N + r) + z)).
apply: (pure_of_ratio D0 v0 moves); exact: (ratio_everywhere lamE mu1 dens even past_mode r0 rise last0 pos first cells fE cont slope).
Qed.
End Candidates.
