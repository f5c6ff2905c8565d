(* The rule finite-table, whose theorems are these. In finite.v finite_table, finite_table_upper, finite_table_lower, finite_table_zero. In
   finite_metric.v finite_table_metric_tight, finite_table_metric_cell. *)
From dpverify Require Export finite finite_metric.
