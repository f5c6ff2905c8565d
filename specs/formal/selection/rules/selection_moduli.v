(* The rule selection-moduli, whose theorems are these. In noisy_max_moduli.v index_moduli, lead_moduli, told_moduli. In threshold_moduli.v
   threshold_moduli. *)
From dpverify Require Export noisy_max_moduli threshold_moduli.
