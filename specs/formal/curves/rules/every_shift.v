(* The rule every-shift, whose theorems are these. In unimodal_noise.v every_shift. *)
From dpverify Require Export unimodal_noise.
