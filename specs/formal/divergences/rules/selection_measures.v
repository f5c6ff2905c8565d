(* The rule selection-measures, whose theorems are these. In gaussian_measures.v gaussian_measures_upper. In stream_measures.v
   stream_measures. *)
From dpverify Require Export gaussian_measures stream_measures.
