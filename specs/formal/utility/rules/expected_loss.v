(* The rule expected-loss, whose theorems are these. In utility.v expected_loss. *)
From dpverify Require Export utility.
