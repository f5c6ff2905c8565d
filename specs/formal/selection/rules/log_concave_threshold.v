(* The rule log-concave-threshold, whose theorems are these. In above_threshold_attained.v above_threshold_attained. In
   above_threshold_exact.v exact_answers. In above_threshold_rule.v above_threshold_rule. *)
From dpverify Require Export above_threshold_attained above_threshold_exact above_threshold_rule.
