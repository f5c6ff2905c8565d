(* The rule concave-exponent, whose theorems are these. In coordinates.v concave_exponent_rule_upper, concave_exponent_rule_lower. *)
From dpverify Require Export coordinates.
