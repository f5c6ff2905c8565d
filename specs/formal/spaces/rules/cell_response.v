(* The rule cell-response, whose theorems are these. In spaces.v cell_response. *)
From dpverify Require Export spaces.
