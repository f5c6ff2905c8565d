(* The rule parallel-measures, whose theorems are these. In measures.v parallel_measures. *)
From dpverify Require Export measures.
