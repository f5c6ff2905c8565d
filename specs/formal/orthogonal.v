(* Neighbours that an event tells apart for certain (docs/theory/processes.md, orthogonal laws): no epsilon is met at any delta below 1. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure exp.
From dpverify Require Import definitions.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope. Local Open Scope ereal_scope.

(* Rule: orthogonal-laws, lower, in part: that an event has these probabilities, where a difference is outside the kernel space of the covariance. *)
Theorem orthogonal_infinite (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) x x' O (delta : R) :
  both N x x' -> measurable O -> M x O = 1 -> M x' O = 0 -> (delta < 1)%R -> tight_epsilon N M delta = +oo.
Proof.
move=> xx mO one zero lt; apply/tight_epsilon_infinite => eps _ dpM.
by have := dpM x x' xx O mO; rewrite one zero mule0 add0e lee_fin leNgt lt.
Qed.
