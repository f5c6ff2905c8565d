(* The rule selection-measures, whose theorems are these. In gaussian_measures.v gaussian_measures_upper. *)
From dpverify Require Export gaussian_measures.
