(* The rule sampling-without-replacement, whose theorems are these. In without_replacement.v sampled_without_replacement. In
   subset_curves.v subset_curves. *)
From dpverify Require Export without_replacement subset_curves.
