(* The rule privacy-profile, whose theorems are these. In pairs.v privacy_profile. *)
From dpverify Require Export pairs.
