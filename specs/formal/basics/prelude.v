(* What every file of the theory begins with: MathComp, MathComp Analysis, their lemmas without prefix, and the scopes of sets and of rings.
   A file about Coq's own real numbers does without it. *)
From HB Require Export structures.
From mathcomp Require Export all_ssreflect all_algebra.
From mathcomp.classical Require Export boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Export reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
#[export] Set Implicit Arguments.
#[export] Unset Strict Implicit.
#[export] Unset Printing Implicit Defensive.
Export Order.TTheory GRing.Theory Num.Theory.
#[export] Open Scope classical_set_scope.
#[export] Open Scope ring_scope.
