(* The rule cosets, whose theorems are these. In witness_rules.v cosets_lower, cosets_delta. *)
From dpverify Require Export witness_rules.
