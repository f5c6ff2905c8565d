(* The rule group-privacy, whose theorems are these. In optimal_composition.v group_curve. *)
From dpverify Require Export optimal_composition.
