(* The rule log-concave-noisy-max, whose theorems are these. In noisy_max_rule.v noisy_max_index_upper, noisy_max_index_lower. In
   greatest_value.v noisy_max_value_upper. In greatest_value_lower.v noisy_max_value_lower. In greatest_real.v noisy_max_value_real. In
   greatest_lead.v noisy_max_lead_upper, noisy_max_lead_lower. *)
From dpverify Require Export noisy_max_rule greatest_value greatest_value_lower greatest_real greatest_lead.
