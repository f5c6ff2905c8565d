(* The rule net-mechanism, whose theorems are these. In spaces.v net_mechanism. *)
From dpverify Require Export spaces.
