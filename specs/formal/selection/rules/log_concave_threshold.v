(* The rule log-concave-threshold, whose theorems are these. In above_threshold_rule.v above_threshold_rule. In above_threshold_exact.v
   exact_answers. In above_threshold_attained.v above_threshold_attained. *)
From dpverify Require Export above_threshold_rule above_threshold_exact above_threshold_attained.
