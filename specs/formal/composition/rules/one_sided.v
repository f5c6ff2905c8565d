(* The rule one-sided, whose theorems are these. In composition.v basic_composition. In groups.v group_privacy_in_order,
   parallel_one_order. In one_order.v one_sided_lower. In single_part.v sampled_pure_met, one_sided_upper. In sampling.v poisson_one_sided,
   poisson_reverse. In finite_curves.v table_delta_one_order. In finite.v finite_table_one_order. *)
From dpverify Require Export composition groups one_order single_part sampling finite_curves finite.
