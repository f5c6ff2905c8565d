(* The rule parallel-composition, whose theorems are these. In groups.v parallel_composition. In measures.v parallel_curves. *)
From dpverify Require Export groups measures.
