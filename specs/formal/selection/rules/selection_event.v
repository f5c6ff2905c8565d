(* The rule selection-event, whose theorems are these. In event_deltas.v output_event. In group_event.v group_event. In told_words.v
   told_words_event_rule. In threshold_event.v threshold_event_all, threshold_event_any. *)
From dpverify Require Export event_deltas group_event told_words threshold_event.
