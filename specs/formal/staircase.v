(* Staircase noise on the line: the tight epsilon is at most epsilon times the number of steps that the sensitivity can cross
   (docs/theory/additive.md, staircase). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp.
From dpverify Require Import definitions density arithmetic norms additive.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Staircase.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> R^o).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> R^o) (c eps gamma Delta : R).
Hypotheses (c0 : 0 < c) (eps0 : 0 < eps).
Definition stairs (t : R) : R := (floor (t + 1 - gamma))%:~R.
Hypothesis noise : adds_noise mu place M q (fun z : R^o => c * expR (- (eps * stairs `|z : R|))).

Lemma stairs_crossed (u w D : R) : u <= w + D -> stairs u <= stairs w + (ceil D)%:~R.
Proof.
move=> uw; rewrite /stairs -intrD ler_int -ltz_addr1 -(ltr_int R) !intrD mulr1z.
have := floor_le (u + 1 - gamma); have := lt_succ_floor (w + 1 - gamma); have := ceil_ge D.
lra.
Qed.

(* Rule: staircase, upper. *)
Theorem staircase_upper : (forall x x', both N x x' -> `|(q x : R) - q x'| <= Delta) -> pure_dp N M (eps * (ceil Delta)%:~R).
Proof.
move=> moves; apply: (exponent_upper c0 noise) => x x' z xx.
have near : `|(z : R) + ((q x : R) - q x')| <= `|z : R| + Delta.
  by apply: le_trans (ler_norm_add _ _) _; rewrite ler_add2l; exact: moves.
rewrite -mulrBr ler_pmul2l//; have := stairs_crossed near; lra.
Qed.
End Staircase.
