(* The rule least-curve, whose theorems are these. In pairs.v least_curve. *)
From dpverify Require Export pairs.
