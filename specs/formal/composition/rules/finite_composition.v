(* The rule finite-composition, whose theorems are these. In adaptive_tables.v finite_composition. In finite_losses.v finite_losses. In
   table_laws.v product_table_profile. *)
From dpverify Require Export adaptive_tables finite_losses table_laws.
