(* The rule equal-answers, whose theorems are these. In plain_rules.v equal_answers. In witness_rules.v equal_answers_lower. *)
From dpverify Require Export plain_rules witness_rules.
