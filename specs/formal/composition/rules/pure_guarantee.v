(* The rule pure-guarantee, whose theorems are these. In one_order_guarantee.v one_order_guarantee. In optimal_composition.v
   pure_guarantee. *)
From dpverify Require Export one_order_guarantee optimal_composition.
