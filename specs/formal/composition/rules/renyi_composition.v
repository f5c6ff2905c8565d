(* The rule renyi-composition, whose theorems are these. In other_measures.v other_measures. In renyi_rule.v renyi_rule. *)
From dpverify Require Export other_measures renyi_rule.
