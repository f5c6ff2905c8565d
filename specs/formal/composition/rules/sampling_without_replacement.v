(* The rule sampling-without-replacement, whose theorems are these. In subset_curves.v subset_curves. In without_replacement.v
   sampled_without_replacement. *)
From dpverify Require Export subset_curves without_replacement.
