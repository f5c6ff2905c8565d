(* The rule pure-guarantee, whose theorems are these. In optimal_composition.v pure_guarantee. *)
From dpverify Require Export optimal_composition.
