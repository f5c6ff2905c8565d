(* Rules whose theorems are near the definitions: equal-answers, stated-epsilon, given-mechanism (docs/theory/additive.md, composition.md, spaces.md). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups joint_neighbours finite.
Local Open Scope ereal_scope.

Section Plain.
Context (R : realType) (X : Type) d (Y : measurableType d).
Variables (M : mechanism R X Y) (N : relation X).

(* The law of the output depends on the answer alone: noise that is added to it, a kernel, a process. *)
(* Rule: equal-answers, upper. *)
Theorem equal_answers (A : Type) (answer : X -> A) (output : A -> {measure set Y -> \bar R}) :
  (forall x, M x = output (answer x)) -> (forall x x', both N x x' -> answer x = answer x') -> pure_dp N M 0.
Proof. by move=> MA eq x x' xx; rewrite !MA (eq _ _ xx); exact: close_refl. Qed.

(* Bounded range eta: the losses of two neighbours lie within eta of each other, in an interval that may depend on them. *)
Definition bounded_range (eta : R) := forall x x', both N x x' -> exists t : R, forall S, measurable S ->
  (expR t)%:E * M x' S <= M x S /\ M x S <= (expR (t + eta))%:E * M x' S.

(* Rule: stated-epsilon, upper. *)
Theorem stated_is_so :
  (forall eps eps' dl dl', (eps <= eps')%R -> (dl <= dl')%R -> dp N M eps dl -> dp N M eps' dl') /\
  (forall eta, bounded_range eta -> pure_dp N M eta).
Proof.
split=> [eps eps' dl dl'|eta H x x' xx]; first exact: dp_monotone.
have [t tP] := H x x' xx; have [] := tP setT measurableT; rewrite !law_total !mule1 lee_fin -expR0 ler_expR => t0 _.
move=> S mS; rewrite adde0; have [_ up] := tP S mS; apply: (le_trans up).
by rewrite lee_wpmul2r ?measure_ge0// lee_fin ler_expR ger_addr.
Qed.
End Plain.

(* A mechanism on databases at distances from each other, with the probabilities p x y of the answers pt y. *)
Section Given.
Context (R : realType) (X : Type) (Y : finType) d (T : measurableType d).
Variables (M : mechanism R X T) (pt : Y -> T) (p : X -> Y -> R) (dist : X -> X -> R) (far : X -> {set Y}) (beta : R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Hypotheses (p0 : forall x y, (0 <= p x y)%R) (Mp : has_table M pt p).
Hypotheses (dist0 : forall x x', (0 <= dist x x')%R).

(* What is claimed of it: it is private in the metric, and its answers are far from the truth with probability beta at most. *)
Definition private_and_near eps :=
  (forall x x', close (eps * dist x x') 0 (M x) (M x')) /\ forall x, M x [set pt y | y in [set y | y \in far x]] <= beta%:E.

Lemma far_measurable x : measurable [set pt y | y in [set y | y \in far x]].
Proof.
rewrite (_ : [set pt y | y in _] = \big[setU/set0]_(y in far x) [set pt y]); first exact: bigsetU_measurable.
by rewrite -bigcup_pred bigcup_imset1.
Qed.

Lemma far_mass x : M x [set pt y | y in [set y | y \in far x]] = (\sum_(y in far x) p x y)%:E.
Proof.
rewrite Mp; last exact: far_measurable.
congr EFin; rewrite [RHS]big_mkcond/=; apply: eq_bigr => y _; rewrite indicE.
have [yf | yf] := boolP (y \in far x); first by rewrite mem_set ?mulr1//; exists y.
by rewrite memNset ?mulr0// => -[z /= zf /pt_inj zy]; move: yf; rewrite -zy zf.
Qed.

(* Rule: given-mechanism, upper. *)
Theorem given_mechanism_upper eps : (0 <= eps)%R -> (forall x, \sum_(y in far x) p x y <= beta)%R ->
  (forall x x' y, x != x' :> {classic X} -> (0 < p x y)%R -> (0 < p x' y)%R /\ (ln (p x y / p x' y) <= eps * dist x x')%R) ->
  private_and_near eps.
Proof.
move=> e0 near H; split=> [x x' | x]; last by rewrite far_mass lee_fin.
have [-> | ne] := eqVneq (x : {classic X}) x'; first by apply: close_refl; rewrite mulr_ge0.
apply/(table_close pt_inj pt_measurable Mp) => y.
have [p_gt0|p_le0] := ltP 0%R (p x y); last by rewrite (le_trans p_le0)// mulr_ge0// expR_ge0.
have [q_gt0 h] := H x x' y ne p_gt0.
by rewrite -ler_pdivr_mulr// -[leLHS]lnK ?posrE ?divr_gt0// ler_expR.
Qed.

(* Answers that are too far from the truth on one database: no epsilon; else every epsilon is at least the loss of one cell, over the distance. *)
(* Rule: given-mechanism, lower. *)
Theorem given_mechanism_lower :
  (forall x, (beta < \sum_(y in far x) p x y)%R -> forall eps, ~ private_and_near eps) /\
  (forall x x' y, (0 < p x y)%R -> (p x' y = 0)%R -> forall eps, ~ private_and_near eps) /\
  (forall x x' y most eps, (0 < dist x x')%R -> (dist x x' <= most)%R -> (0 < p x y)%R -> (0 < p x' y)%R -> private_and_near eps -> (0 <= eps)%R ->
    (ln (p x y / p x' y) / most <= eps)%R).
Proof.
split; [|split] => [x gt eps [_ /(_ x)] | x x' y p_gt0 q0 eps [/(_ x x') H _] | x x' y most eps D0 DM p_gt0 q_gt0 [/(_ x x') H _] e0].
- by rewrite far_mass lee_fin leNgt gt.
- have /(table_close pt_inj pt_measurable Mp)/(_ y) := H.
  by rewrite q0 mulr0 leNgt p_gt0.
- have /(table_close pt_inj pt_measurable Mp)/(_ y) := H.
  rewrite -ler_pdivr_mulr// -[X in (X <= _)%R]lnK ?posrE ?divr_gt0// ler_expR => h.
  by rewrite ler_pdivr_mulr ?(lt_le_trans D0)//; apply: (le_trans h); rewrite ler_wpmul2l.
Qed.
End Given.
