(* The rule kernel-pair, whose theorems are these. In pairs.v bins_lower. *)
From dpverify Require Export pairs.
