(* The rule basic-composition, whose theorems are these. In composition.v basic_composition. *)
From dpverify Require Export composition.
