(* The rule loss-distribution, whose theorems are these. In dominating.v composition_dominated. In curves.v chord_above, chord_from_zero,
   beyond_last, prolonged_chord. *)
From dpverify Require Export dominating curves.
