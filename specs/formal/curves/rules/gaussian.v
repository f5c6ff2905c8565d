(* The rule gaussian, whose theorems are these. In gaussian_curve.v gaussian_curve. In gaussian_noise.v gaussian_noise. *)
From dpverify Require Export gaussian_curve gaussian_noise.
