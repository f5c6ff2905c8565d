(* The rule lattice, whose theorems are these. In unimodal_noise.v full_whole_shift. *)
From dpverify Require Export unimodal_noise.
