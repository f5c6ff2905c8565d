(* The rule near-table, whose theorems are these. In spaces.v near_table. *)
From dpverify Require Export spaces.
