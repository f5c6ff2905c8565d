(* The rule post-processing, whose theorems are these. In composition.v post_processing. *)
From dpverify Require Export composition.
