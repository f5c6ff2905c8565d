(* Privacy filters (docs/theory/composition.md, privacy filter): parts are chosen one after the other, each with what it is charged, by all that
   was told before, and none is begun with which the charges would exceed the budget. All that is told has the budget as its guarantee. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition.

Section Filter.
Context (R : realType) (X : Type).
Implicit Types (N : relation X).

(* What is run with a budget (eps, dl): nothing more that looks at the data, or a part that is charged within it, and then, by its output y, what
   is run with the budget that is left. Which part comes next, what it is charged, and whether one comes at all, may depend on y. *)
Inductive within_budget N : forall d (Y : measurableType d), mechanism R X Y -> R -> R -> Prop :=
| Stops d (Y : measurableType d) (M : mechanism R X Y) eps dl :
    0 <= eps -> 0 <= dl -> (forall x x' S, measurable S -> M x S = M x' S) -> within_budget N M eps dl
| Runs d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T) (next : T -> mechanism R X U)
    (mk : forall x, markov (fun y => next y x)) eps dl charge charge_dl :
    dp_in_order N M charge charge_dl -> (forall y, within_budget N (next y) (eps - charge) (dl - charge_dl)) ->
    within_budget N (composed M mk) eps dl.

(* What is charged is at least 0 along every path, as the budget that is left never is below 0 at its end. *)
Lemma within_budget_dp N d (Y : measurableType d) (M : mechanism R X Y) eps dl : within_budget N M eps dl -> dp_in_order N M eps dl.
Proof.
move=> W; induction W as [d Y M eps dl e0 d0 same | d1 T d2 U M next mk eps dl charge charge_dl H _ IH].
- move=> x x' _ S mS; rewrite (same x x' S mS); apply: (@le_trans _ _ ((expR eps)%:E * M x' S)%E); last by rewrite lee_addl// lee_fin.
  by rewrite -[leLHS]mul1e; apply: lee_wpmul2r; rewrite ?measure_ge0// lee_fin -expR0 ler_expR.
- rewrite -(subrK charge eps) -(subrK charge_dl dl) [(_ + charge)%R]addrC [(_ + charge_dl)%R]addrC; exact: composition_of_two.
Qed.

(* In both orders of neighbours. *)
(* Rule: privacy-filter, upper, in part: budgets of (epsilon, delta), and finitely many parts on each path; not those of zCDP, Renyi or GDP. *)
Theorem privacy_filter N d (Y : measurableType d) (M : mechanism R X Y) eps dl : within_budget (both N) M eps dl -> dp N M eps dl.
Proof. exact: within_budget_dp. Qed.

(* With charges of delta 0: the sum of the epsilons stays within the budget, whatever is chosen. *)
Corollary pure_filter N d (Y : measurableType d) (M : mechanism R X Y) eps : within_budget (both N) M eps 0 -> pure_dp N M eps.
Proof. exact: within_budget_dp. Qed.
End Filter.
