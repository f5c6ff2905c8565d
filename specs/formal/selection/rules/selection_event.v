(* The rule selection-event, whose theorems are these. In threshold_event.v threshold_event_all, threshold_event_any. In event_deltas.v
   output_event. In group_event.v group_event. *)
From dpverify Require Export threshold_event event_deltas group_event.
