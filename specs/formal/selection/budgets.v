(* Runs whose shifts are paid from a budget (docs/theory/selection.md, selection moduli): a step may cost what the budget of the state before it exceeds that of
   the state after it by. What a step costs may hang on all that the state holds; in streams.v it hangs on a mode and a branch. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent streams.

Section Budgets.
Context (R : realType) dS (State : measurableType dS) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Branch : finType).
Hypothesis nu1 : nu setT = 1%E.
Variables (P P' : program State W Branch) (aligned : State -> State -> Prop) (budget : State -> R).
Hypothesis budget0 : forall s, 0 <= budget s.

(* Where the first run takes the branch, the second one takes it with the noises of the step shifted. *)
Definition step_paid s s' b := exists cost shift, [/\ measurable_fun setT shift,
  forall A, measurable A -> (nu [set z | A (shift z)] <= (expR cost)%:E * nu A)%E &
  forall z, branch P s z = b -> [/\ branch P' s' (shift z) = b, aligned (next P s z) (next P' s' (shift z)) & budget (next P s z) + cost <= budget s]].
Hypothesis steps_paid : forall s s' b, aligned s s' -> step_paid s s' b.

Lemma budget_run g path : unit_valued g -> (forall s s', aligned s s' -> g s = g s') ->
  forall s s', aligned s s' -> run nu P g path s <= expR (budget s) * run nu P' g path s'.
Proof.
move=> ug same; elim: path => [|b path IH] s s' al.
  rewrite /= (same _ _ al); have [_ /(_ s')/andP[g0 _]] := ug.
  by rewrite ler_pemull// -expR0 ler_expR.
have [c [shift [mS cS keep]]] := steps_paid b al; rewrite -[budget s](subrK c) [budget s - c + c]addrC.
apply: (step_shifted nu1 ug mS cS) => z taken; have [-> al' le] := keep z taken; split=> //.
apply: (le_trans (IH _ _ al')); apply: ler_wpmul2r; last by rewrite ler_expR ler_subr_addr.
by have [_ r01] := run_unit nu1 P' path ug; case/andP: (r01 (next P' s' (shift z))).
Qed.

(* What is told after a number of steps costs at most what there is at first. *)
Variables (dH : measure_display) (H : measurableType dH) (told : State -> H).
Hypotheses (measurable_told : measurable_fun setT told) (same_told : forall s s', aligned s s' -> told s = told s').

Theorem budget_tells k s s' A : aligned s s' -> measurable A ->
  (tells nu told k P s A <= (expR (budget s))%:E * tells nu told k P' s' A)%E.
Proof.
move=> al mA; rewrite /tells -EFinM lee_fin mulr_sumr; apply: ler_sum => path _.
have ug : unit_valued (fun s => \1_A (told s) : R).
  split; last by move=> t; rewrite indicE; case: (_ \in _); rewrite ?lexx ?ler01.
  apply: (measurable_after (g := \1_A : H -> R) measurable_told); exact: measurable_fun_indic.
by apply: budget_run => // t t' /same_told ->.
Qed.
End Budgets.
