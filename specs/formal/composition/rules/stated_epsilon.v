(* The rule stated-epsilon, whose theorems are these. In plain_rules.v stated_is_so. *)
From dpverify Require Export plain_rules.
