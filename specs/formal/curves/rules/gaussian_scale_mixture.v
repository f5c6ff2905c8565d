(* The rule gaussian-scale-mixture, whose theorems are these. In scale_mixture.v gaussian_scale_mixture. *)
From dpverify Require Export scale_mixture.
