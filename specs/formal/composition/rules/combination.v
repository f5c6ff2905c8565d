(* The rule combination, whose theorems are these. In combination_lower.v combination_lower_rule. In combination_parts.v combination_upper. *)
From dpverify Require Export combination_lower combination_parts.
