(* The rule far-noise, whose theorems are these. In far_lengths.v far_in_norm, far_of_powers. In far_coordinates.v far_coordinates,
   far_on_integers. *)
From dpverify Require Export far_lengths far_coordinates.
