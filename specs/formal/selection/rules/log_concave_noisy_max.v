(* The rule log-concave-noisy-max, whose theorems are these. In greatest_lead.v noisy_max_lead_upper, noisy_max_lead_lower. In
   greatest_real.v noisy_max_value_real. In greatest_value.v noisy_max_value_upper. In greatest_value_lower.v noisy_max_value_lower. In
   noisy_max_rule.v noisy_max_index_upper, noisy_max_index_lower. *)
From dpverify Require Export greatest_lead greatest_real greatest_value greatest_value_lower noisy_max_rule.
