(* The rule differences-unbounded, whose theorems are these. In process_unbounded.v differences_unbounded. *)
From dpverify Require Export process_unbounded.
