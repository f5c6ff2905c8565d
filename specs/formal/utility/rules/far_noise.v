(* The rule far-noise, whose theorems are these. In far_coordinates.v far_coordinates, far_on_integers. In far_lengths.v far_in_norm,
   far_of_powers. *)
From dpverify Require Export far_coordinates far_lengths.
