(* The rule elliptical-process, whose theorems are these. In scale_mixture.v mixture_profile. In process_curve.v elliptical_process. *)
From dpverify Require Export scale_mixture process_curve.
