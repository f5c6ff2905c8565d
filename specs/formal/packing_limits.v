(* Packings on a line (docs/theory/spaces.md, weighted packing): points a little more than 2 gamma apart count with their distances, and so they do at 2 gamma,
   to which the step may tend; on an endless line the sum is that of a geometric series. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions arithmetic exponents kernels finite powers spaces grid_packing.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section Series.
Context (R : realType).

Lemma geometric_sum (a : R) n : (1 - expR (- a)) * (\sum_(k < n) expR (- (a * k%:R))) = 1 - expR (- (a * n%:R)).
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 !mulr0 oppr0 expR0 subrr.
rewrite big_ord_recr/= mulrDr IH.
have -> : expR (- (a * n.+1%:R)) = expR (- a) * expR (- (a * n%:R)) by rewrite -expRD; congr expR; rewrite -natr1; lra.
lra.
Qed.

(* 1 + 2 (w + ... + w^n), of w = e^-a, at most 1/c for every n: so a is positive, and the sum over all of it is at most that. *)
Lemma endless_sum (a c : R) : 0 < c -> c < 1 -> (forall n : nat, c * (1 + 2 * (\sum_(k < n) expR (- (a * k.+1%:R)))) <= 1) ->
  ln ((1 + c) / (1 - c)) <= a.
Proof.
move=> c0 c1 all; have d0 : 0 < 1 - c by lra.
have q0 : 0 < (1 + c) / (1 - c) by rewrite divr_gt0//; lra.
have sumE n : \sum_(k < n) expR (- (a * k.+1%:R)) = expR (- a) * \sum_(k < n) expR (- (a * k%:R)).
  by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite -expRD; congr expR; rewrite -natr1; lra.
have a0 : 0 < a.
  rewrite ltNge; apply/negP => a0.
  have [n nE] := beyond 1 0 c0; rewrite add0r in nE.
  have low : n%:R <= \sum_(k < n) expR (- (a * k.+1%:R)).
    rewrite -[n in leLHS]card_ord -sumr_const; apply: ler_sum => k _; rewrite -[leLHS]expR0 ler_expR oppr_ge0.
    by rewrite mulr_le0_ge0.
  have := ler_wpmul2l (ltW c0) low; have := all n; lra.
rewrite -(@ler_expR R) lnK ?posrE// ler_pdivr_mulr//.
set w := expR (- a); have w0 : 0 < w by exact: expR_gt0.
have wE : expR a * w = 1 by rewrite -expRD addrN expR0.
(* what is left of the series vanishes *)
have : c * (1 + w) <= 1 - w.
  rewrite leNgt; apply/negP => gt; pose g := c * (1 + w) - (1 - w); have g0 : 0 < g by rewrite subr_gt0.
  have w1 : 0 < 1 - w by rewrite subr_gt0 -expR0 ltr_expR; lra.
  have bound n : g <= 2 * (c * w) * expR (- (a * n%:R)).
    have h := ler_wpmul2l (ltW w1) (all n); rewrite sumE -/w in h.
    have e := geometric_sum a n; rewrite -/w in e.
    set T := \sum_(k < n) _ in h e; have e2 : c * w * ((1 - w) * T) = c * w * (1 - expR (- (a * n%:R))) by rewrite e.
    rewrite /g; lra.
  have cw : 0 < 2 * (c * w) by rewrite !mulr_gt0.
  have [n nE] := beyond (2 * (c * w)) 0 (mulr_gt0 g0 a0); rewrite add0r in nE.
  have := bound n; rewrite expRN ler_pdivl_mulr ?expR_gt0// => h.
  have := ler_wpmul2l (ltW g0) (expR_ge1D (a * n%:R)); lra.
have ea := expR_gt0 a; move=> /(ler_wpmul2l (ltW ea)); rewrite mulrBr wE mulrCA mulrDr wE; lra.
Qed.
End Series.

Section Packing.
Context (R : realType) (X : Type) d (Z : measurableType d) (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R).
Hypotheses (is_metric : metric between) (measurable_far : forall gamma x, measurable (far q between gamma x)).
Context (M : mechanism R X Z) (gamma beta : R) (near : near_but q between M gamma beta).

(* At every step s' that is a little longer than s no answer is near more than m of the points, whose distances are in proportion to the step. *)
(* Rule: weighted-packing, lower. *)
Theorem packing_limit (I : finType) (m : nat) (s s1 eps : R) (xs : R -> I -> X) (o : I) (l : I -> R) : (0 < m)%N -> s < s1 ->
  (forall s' z, s < s' -> s' < s1 -> (#|[pred i | (between (q (xs s' i)) z <= gamma)%R]| <= m)%N) ->
  (forall s' i, s < s' -> s' < s1 -> dist (xs s' i) (xs s' o) = s' * l i) -> private_by_distance dist M eps ->
  (1 - beta) * (\sum_i expR (- (eps * (s * l i)))) <= m%:R.
Proof.
move=> m0 room few far_apart priv; have mR : 0 < m%:R :> R by rewrite ltr0n.
rewrite -[leRHS]mul1r -ler_pdivr_mulr// mulrAC; apply: (step_limit room) => s' ss ss1.
rewrite mulrAC ler_pdivr_mulr// mul1r; have [first _] := weighted_packing measurable_far near priv.
have -> : \sum_i expR (- (eps * (s' * l i))) = \sum_i expR (- (eps * dist (xs s' i) (xs s' o))).
  by apply: eq_bigr => i _; rewrite far_apart.
by apply: first => z; exact: few.
Qed.

Lemma linear_limit (c k t : R) : (forall t', t < t' -> c <= k * t') -> c <= k * t.
Proof.
move=> H; rewrite leNgt; apply/negP => gt; pose g := c - k * t; have g0 : 0 < g by rewrite subr_gt0.
have n0 := normr_ge0 k; have k1 : 0 < 2 * (`|k| + 1) by lra.
pose e := g / (2 * (`|k| + 1)); have eE : e * (2 * (`|k| + 1)) = g by rewrite divfK// gt_eqF.
have e0 : 0 < e by rewrite divr_gt0.
have h : c <= k * (t + e) by apply: H; lra.
have := ler_wpmul2l (ltW e0) (ler_norm k); rewrite /g in eE; lra.
Qed.

(* An endless line: points k t for all whole k, at a step t above 2 gamma; on the integers 2 m + 1, m the whole part of gamma. *)
(* Rule: weighted-packing, lower. *)
Theorem endless_steps (eps C t : R) (xs : int -> X) : 0 < C -> 0 < beta -> beta < 1 -> 0 < t -> 2 * gamma < t ->
  (forall k k', between (q (xs k)) (q (xs k')) = t * `|(k - k')%:~R|) -> (forall k, dist (xs k) (xs 0) = t * `|k%:~R| / C) ->
  private_by_distance dist M eps -> ln ((2 - beta) / beta) <= eps / C * t.
Proof.
move=> C0 b0 b1 t0 gt apart databases priv.
have -> : (2 - beta) / beta = (1 + (1 - beta)) / (1 - (1 - beta)) by congr (_ / _); lra.
apply: endless_sum => [||n]; [lra | lra |].
pose at_ (i : unit + ('I_n + 'I_n)) : int := match i with inl _ => 0 | inr (inl k) => k.+1%:Z | inr (inr k) => - k.+1%:Z end.
have inj : injective at_.
  by move=> [[]|[k|k]] [[]|[k'|k']] //=; rewrite -?NegzE // => -[/val_inj ->].
have [first _] := weighted_packing measurable_far near priv.
have := first _ (fun i => xs (at_ i)) 1%N (xs 0).
rewrite (eq_bigr (fun i => expR (- (eps / C * t * `|(at_ i)%:~R|)))); last first.
  by move=> i _; rewrite databases//; congr (expR (- _)); lra.
rewrite big_sumType/= (big_pred1 tt); last by case.
rewrite big_sumType/= normr0 mulr0 oppr0 expR0.
have e1 (k : 'I_n) : expR (- (eps / C * t * `|k.+1%:Z%:~R|)) = expR (- (eps / C * t * k.+1%:R)) by rewrite ger0_norm// ler0z.
have e2 (k : 'I_n) : expR (- (eps / C * t * `|(- k.+1%:Z)%:~R|)) = expR (- (eps / C * t * k.+1%:R)).
  by rewrite rmorphN normrN -e1.
rewrite (eq_bigr _ (fun k _ => e1 k)) (eq_bigr _ (fun k _ => e2 k)) => le.
have two (x : R) : 2 * x = x + x by lra.
rewrite two; apply: le => y; rewrite leqNgt; apply/negP => /card_gt1P[i [j [ni nj ij]]].
have [_ sym triangle] := is_metric.
have h : between (q (xs (at_ i))) (q (xs (at_ j))) <= 2 * gamma.
  by move: ni nj; rewrite !inE => ni nj; apply: (le_trans (triangle _ y _)); rewrite (sym y); lra.
rewrite apart// in h; have ne : at_ i - at_ j != 0 by rewrite subr_eq0; apply: contra ij => /eqP/inj ->.
have := ler_wpmul2l (ltW t0) (whole_apart R ne); lra.
Qed.

(* On the reals there are such points at every step above 2 gamma, which may tend to that. *)
(* Rule: weighted-packing, lower. *)
Theorem endless_line (eps C : R) (xs : R -> int -> X) : 0 < gamma -> 0 < C -> 0 < beta -> beta < 1 ->
  (forall t k k', 2 * gamma < t -> between (q (xs t k)) (q (xs t k')) = t * `|(k - k')%:~R|) ->
  (forall t k, 2 * gamma < t -> dist (xs t k) (xs t 0) = t * `|k%:~R| / C) -> private_by_distance dist M eps ->
  C * ln ((2 - beta) / beta) / (2 * gamma) <= eps.
Proof.
move=> g0 C0 b0 b1 apart databases priv.
suff : ln ((2 - beta) / beta) <= eps / C * (2 * gamma).
  move=> le; rewrite ler_pdivr_mulr ?mulr_gt0// mulrC -ler_pdivl_mulr//; apply: (le_trans le).
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite mulrAC.
apply: linear_limit => t gt; have t0 : 0 < t by lra.
by apply: (endless_steps (xs := xs t)) => // *; [exact: apart | exact: databases].
Qed.
End Packing.
