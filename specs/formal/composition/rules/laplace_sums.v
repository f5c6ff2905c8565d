(* The rule laplace-sums, whose theorems are these. In dominating.v composition_dominated. *)
From dpverify Require Export dominating.
