(* The rule union-bound, whose theorems are these. In utility.v union_bound. *)
From dpverify Require Export utility.
