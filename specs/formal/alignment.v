(* Streams (docs/theory/selection.md, alignment): two neighbours' runs step by step. Given what was told so far, the noises of a step are moved, in each
   branch in a way of its own, so that the same is told and the states stay aligned; each branch costs what moving its noises costs. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions kernels composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope. Local Open Scope ereal_scope.

Section Stream.
Context (R : realType) (State : Type) (Word : eqType) d (W : measurableType d) (nu : {measure set W -> \bar R}).
Hypothesis nu1 : nu setT = 1.

(* A step: from the state and the noises of the step, what is told and the state after it. Answers that are chosen after what was told, and noises
   that are drawn once, are in the state; the noises that are drawn once are those of a first step. *)
Definition program := State -> W -> Word * State.

(* The chance that a run tells just these words. *)
Fixpoint chance (step : program) (s : State) (told : seq Word) : R :=
  if told is word :: rest then fine (\int[nu]_z (if (step s z).1 == word then chance step (step s z).2 rest else 0%R)%:E) else 1%R.

Definition on (step : program) s word rest (z : W) : R := if (step s z).1 == word then chance step (step s z).2 rest else 0%R.
Definition measurable_program (step : program) := forall s word rest, measurable_fun setT (on step s word rest).

Lemma chance01 step : measurable_program step -> forall told s, (0 <= chance step s told <= 1)%R.
Proof.
move=> mp; elim=> [|word rest IH] s /=; first by rewrite ler01 lexx.
have o01 z : (0 <= on step s word rest z <= 1)%R by rewrite /on; case: ifP => _; rewrite ?IH// lexx ler01.
have i0 : 0 <= \int[nu]_z (on step s word rest z)%:E by apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (o01 z).
have i1 : \int[nu]_z (on step s word rest z)%:E <= 1.
  apply: (@le_trans _ _ (\int[nu]_z 1)); last by rewrite integral_cst// mul1e nu1.
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin; case/andP: (o01 z).
  - by apply/EFin_measurable_fun; exact: mp.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin; case/andP: (o01 z).
have f : \int[nu]_z (on step s word rest z)%:E \is a fin_num by rewrite ge0_fin_numE//; apply: le_lt_trans i1 _; rewrite ltry.
by rewrite -!lee_fin fineK// i0.
Qed.

Variables (step step' : program).
Hypotheses (mp : measurable_program step) (mp' : measurable_program step').

(* An alignment: modes, in each of which the two states differ in a known way; for each mode and word how the noises are moved, and the mode after. *)
Variables (Mode : Type) (aligned : Mode -> State -> State -> Prop) (move : Mode -> Word -> W -> W) (cost : Mode -> Word -> R) (next : Mode -> Word -> Mode).
Hypothesis measurable_move : forall m word, measurable_fun setT (move m word).
Hypothesis kept : forall m s s' z, aligned m s s' -> let word := (step s z).1 in
  (step' s' (move m word z)).1 = word /\ aligned (next m word) (step s z).2 (step' s' (move m word z)).2.
(* Moving the noises costs so much. *)
Hypothesis costs : forall m word A, measurable A -> nu [set z | A (move m word z)] <= (expR (cost m word))%:E * nu A.

Fixpoint total (m : Mode) (told : seq Word) : R := if told is word :: rest then (cost m word + total (next m word) rest)%R else 0%R.

Lemma aligned_runs told m s s' : aligned m s s' -> (chance step s told <= expR (total m told) * chance step' s' told)%R.
Proof.
elim: told m s s' => [|word rest IH] m s s' ss; first by rewrite /= expR0 mul1r.
rewrite /= -/(on _ _ _ _) -/(on _ _ _ _).
have mm := measurable_move m word.
pose moved := [the measure _ _ of pushforward nu mm].
have moved1 : moved setT = 1 by [].
have o01 (p : program) t z : measurable_program p -> (0 <= on p t word rest z <= 1)%R.
  by move=> mpp; rewrite /on; case: ifP => _; rewrite ?chance01// lexx ler01.
have fin_int (p : program) t : measurable_program p -> \int[nu]_z (on p t word rest z)%:E \is a fin_num.
  move=> mpp; rewrite ge0_fin_numE; last by apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (o01 p t z mpp).
  apply: (@le_lt_trans _ _ (\int[nu]_z 1)); last by rewrite integral_cst// mul1e nu1 ltry.
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin; case/andP: (o01 p t z mpp).
  - by apply/EFin_measurable_fun; exact: mpp.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin; case/andP: (o01 p t z mpp).
have cl : close (cost m word) 0 moved nu by move=> A mA; rewrite adde0; exact: costs.
have := close_test_function moved1 nu1 cl (mp' s' word rest) (fun z => o01 step' s' z mp').
have -> : \int[moved]_z (on step' s' word rest z)%:E = \int[nu]_z (on step' s' word rest (move m word z))%:E.
  apply: integral_pushforward => //; first by apply/EFin_measurable_fun; exact: mp'.
  by move=> z; rewrite lee_fin; case/andP: (o01 step' s' z mp').
rewrite adde0 => h.
rewrite -lee_fin EFinM !fineK ?fin_int// [(cost m word + _)%R]addrC expRD EFinM -muleA.
apply: (@le_trans _ _ ((expR (total (next m word) rest))%:E * \int[nu]_z (on step' s' word rest (move m word z))%:E)); last first.
  by rewrite lee_wpmul2l ?lee_fin ?expR_ge0.
have m' : measurable_fun setT (fun z => (on step' s' word rest (move m word z))%:E).
  by apply/EFin_measurable_fun; move=> _ A mA; have := mm measurableT _ (mp' s' word rest measurableT mA); rewrite !setTI.
have p0 z : 0 <= (on step' s' word rest (move m word z))%:E by rewrite lee_fin; case/andP: (o01 step' s' (move m word z) mp').
rewrite -ge0_integralM ?lee_fin ?expR_ge0//; apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin; case/andP: (o01 step s z mp).
- by apply/EFin_measurable_fun; exact: mp.
- by move=> z _; apply: mule_ge0; [rewrite lee_fin expR_ge0 | exact: p0].
- exact: measurable_funeM.
move=> z _; rewrite -EFinM lee_fin /on; case: ifPn => [/eqP e | ne]; last first.
  by have /andP[o0 _] := o01 step' s' (move m word z) mp'; apply: mulr_ge0; [exact: expR_ge0 | exact: o0].
have [e' al] := kept z ss; rewrite e in e' al; rewrite e' eqxx; exact: IH.
Qed.

(* Rule: alignment, upper, in part: what is told are words, not numbers; that branches cost at most what counters pay, and so all runs at most eps, is
   a hypothesis, and so is what it costs to move the noises of a step together. *)
Theorem alignment_of_streams m s s' eps : aligned m s s' -> (forall told, (total m told <= eps)%R) ->
  forall told, (chance step s told <= expR eps * chance step' s' told)%R.
Proof.
move=> al le told; apply: le_trans (aligned_runs told al) _.
by rewrite ler_wpmul2r ?ler_expR//; case/andP: (chance01 mp' told s').
Qed.
End Stream.
