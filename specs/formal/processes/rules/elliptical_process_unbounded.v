(* The rule elliptical-process-unbounded, whose theorems are these. In process_unbounded.v process_unbounded, differences_unbounded. *)
From dpverify Require Export process_unbounded.
