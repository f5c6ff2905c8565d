(* The rule density-mechanism, whose theorems are these. In density_interval.v interval_far. In density_lower.v everywhere_lower,
   interval_far_lower, interval_lower. In density_near.v density_mechanism_convex. In density_real.v density_mechanism_real. *)
From dpverify Require Export density_interval density_lower density_near density_real.
