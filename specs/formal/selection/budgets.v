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

Let mean_finite (f : W -> R) : measurable_fun setT f -> (forall z, 0 <= f z <= 1) -> (\int[nu]_z (f z)%:E)%E \is a fin_num.
Proof.
move=> mf f01; rewrite ge0_fin_numE; last by apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (f01 z).
apply: (@le_lt_trans _ _ (\int[nu]_z 1)%E); last by rewrite integral_cst// mul1e nu1 ltry.
apply: ge0_le_integral => //; first by move=> z _; rewrite lee_fin; case/andP: (f01 z).
- by apply/EFin_measurable_fun.
- exact: measurable_fun_cst.
- by move=> z _; rewrite lee_fin; case/andP: (f01 z).
Qed.

Lemma budget_run g path : unit_valued g -> (forall s s', aligned s s' -> g s = g s') ->
  forall s s', aligned s s' -> run nu P g path s <= expR (budget s) * run nu P' g path s'.
Proof.
move=> ug same; elim: path => [|b path IH] s s' al.
  rewrite /= (same _ _ al); have [_ /(_ s')/andP[g0 _]] := ug.
  by rewrite ler_pemull// -expR0 ler_expR.
have [c [shift [mS cS keep]]] := steps_paid b al.
have [mr r01] := run_unit nu1 P path ug; have [mr' r01'] := run_unit nu1 P' path ug.
have o01 Q x : unit_valued (run nu Q g path) -> 0 <= on nu Q g b path x <= 1.
  by move=> [_ u]; rewrite /on; case: ifP => _; rewrite ?u// lexx ler01.
have so := section_on b s mr; have so' := section_on b s' mr'.
pose f z := on nu P g b path (s, z); pose f' z := on nu P' g b path (s', z).
have f01 z : 0 <= f z <= 1 by apply: o01; split.
have f01' z : 0 <= f' z <= 1 by apply: o01; split.
have mT : measurable_fun setT (f' \o shift) by exact: (measurable_after mS so').
pose moved := [the measure _ _ of pushforward nu mS].
have cl : close c 0 moved nu by move=> B mB; rewrite adde0; exact: cS.
have moved1 : moved setT = 1%E by [].
have := close_test_function moved1 nu1 cl so' f01'.
have -> : (\int[moved]_z (f' z)%:E = \int[nu]_z (f' (shift z))%:E)%E.
  by apply: integral_pushforward => //; [exact/EFin_measurable_fun | move=> z; rewrite lee_fin; case/andP: (f01' z)].
rewrite adde0 -/(f' _) => h.
rewrite -[run nu P g (b :: path) s]/(fine (\int[nu]_z (f z)%:E)%E) -[run nu P' g (b :: path) s']/(fine (\int[nu]_z (f' z)%:E)%E).
rewrite -lee_fin EFinM !fineK ?mean_finite// -[budget s](subrK c) expRD EFinM -muleA.
apply: (@le_trans _ _ ((expR (budget s - c))%:E * \int[nu]_z (f' (shift z))%:E)%E); last by rewrite lee_wpmul2l ?lee_fin ?expR_ge0.
rewrite -ge0_integralM//; last 3 first.
- exact/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin; case/andP: (f01' (shift z)).
- by rewrite lee_fin expR_ge0.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin; case/andP: (f01 z).
- exact/EFin_measurable_fun.
- by move=> z _; rewrite mule_ge0 ?lee_fin ?expR_ge0//; case/andP: (f01' (shift z)).
- by apply: measurable_funeM; exact/EFin_measurable_fun.
move=> z _; rewrite -EFinM lee_fin /f /f' /on/=; case: ifPn => [/eqP e|ne]; last first.
  by rewrite mulr_ge0 ?expR_ge0//; case: ifP => // _; case/andP: (r01' (next P' s' (shift z))).
have [-> al' le] := keep z e; rewrite eqxx; apply: (le_trans (IH _ _ al')).
by apply: ler_wpmul2r; [case/andP: (r01' (next P' s' (shift z))) | rewrite ler_expR ler_subr_addr].
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
