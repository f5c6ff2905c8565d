(* The rule far-outputs, whose theorems are these. In utility.v far_outputs. *)
From dpverify Require Export utility.
