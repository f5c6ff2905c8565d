(* The rule gaussian, whose theorems are these. In gaussian_noise.v gaussian_noise. In gaussian_curve.v gaussian_curve. *)
From dpverify Require Export gaussian_noise gaussian_curve.
