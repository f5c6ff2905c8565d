(* The rule worst-run, whose theorems are these. In repeated_runs.v repeated_run, repeated_run_unbounded, repeated_run_unlimited. In
   worst_run_followed.v worst_run_followed, worst_run_followed_unbounded. *)
From dpverify Require Export repeated_runs worst_run_followed.
