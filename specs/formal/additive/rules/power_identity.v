(* The rule power-identity, whose theorems are these. In coordinates.v power_identity_rule_upper, power_identity_rule_lower. *)
From dpverify Require Export coordinates.
