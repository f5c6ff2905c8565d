(* The rule line, whose theorems are these. In unimodal_noise.v full_shift. *)
From dpverify Require Export unimodal_noise.
