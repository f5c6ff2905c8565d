(* The rule given-mechanism, whose theorems are these. In plain_rules.v given_mechanism_upper, given_mechanism_lower. *)
From dpverify Require Export plain_rules.
