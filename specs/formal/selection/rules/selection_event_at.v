(* The rule selection-event-at, whose theorems are these. In event_deltas.v output_event. In group_event.v group_event. In
   threshold_event.v threshold_event_all, threshold_event_any. *)
From dpverify Require Export event_deltas group_event threshold_event.
