(* The rule process-differences, whose theorems are these. In process_curve.v elliptical_process. *)
From dpverify Require Export process_curve.
