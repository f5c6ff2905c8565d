(* The rule told-words-event, whose theorems are these. In told_words.v told_words_event_rule. *)
From dpverify Require Export told_words.
