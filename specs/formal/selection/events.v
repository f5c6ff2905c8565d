(* What the probabilities of one event on two neighbours say of a curve, from below (docs/theory/selection.md: selection event at, told words event):
   the event and its complement, at the parameters' values at which they are taken. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition curves pairs.

Section Events.
Context (R : realType) (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y).

Lemma other_outputs x S : measurable S -> fine (M x (~` S)) = 1 - fine (M x S).
Proof.
move=> mS; have l := law_total M x; rewrite -setTD measureD// ?l ?ltry// setTI fineB ?l//; exact: mass_fin.
Qed.

(* What one event says; of the words of a stream the rule is in told_words.v. *)
Theorem event_lower x x' S (eps p p' : R) : N x x' -> measurable S -> p <= fine (M x S) -> fine (M x' S) <= p' ->
  ((p - expR eps * p')%:E <= tight_delta_in_order N M eps)%E.
Proof.
move=> xx mS hp hp'; apply: (curve_at_least xx); have l := law_total M.
apply: le_trans (profile_event (l x) (l x') (expR_ge0 eps) mS).
by apply: ler_sub => //; apply: ler_wpmul2l => //; exact: expR_ge0.
Qed.

(* All other outputs. *)
Lemma complement_lower x x' S (eps p p' : R) : N x x' -> measurable S -> fine (M x S) <= p -> p' <= fine (M x' S) ->
  (((1 - p) - expR eps * (1 - p'))%:E <= tight_delta_in_order N M eps)%E.
Proof.
move=> xx mS hp hp'; apply: (event_lower (S := ~` S) eps xx); first exact: measurableC.
- by rewrite other_outputs// ler_add2l ler_opp2.
- by rewrite other_outputs// ler_add2l ler_opp2.
Qed.
End Events.

(* A mechanism for every value v of the parameters: where a delta is claimed of all, an event at one value refutes it. *)
Section Values.
Context (R : realType) (V X : Type) d (Y : measurableType d) (N : V -> relation X) (M : V -> mechanism R X Y).

(* The rule selection-event-at, with the integrals that these probabilities are, is in event_deltas, group_event and threshold_event. *)
Theorem event_at v x x' S (eps delta p p' : R) : N v x x' -> measurable S -> p = fine (M v x S) -> p' = fine (M v x' S) ->
  [/\ ((p - expR eps * p')%:E <= tight_delta_in_order (N v) (M v) eps)%E, (((1 - p) - expR eps * (1 - p'))%:E <= tight_delta_in_order (N v) (M v) eps)%E &
      delta < Num.max (p - expR eps * p') ((1 - p) - expR eps * (1 - p')) -> ~ forall w, dp_in_order (N w) (M w) eps delta].
Proof.
move=> xx mS -> ->; have h1 := event_lower eps xx mS (lexx _) (lexx _); have h2 := complement_lower eps xx mS (lexx _) (lexx _).
split=> // lt /(_ v)/dp_profile/(_ x x' xx) le; have l := law_total (M v).
have e1 := profile_event (l x) (l x') (expR_ge0 eps) mS; have e2 := profile_event (l x) (l x') (expR_ge0 eps) (measurableC mS).
rewrite !other_outputs// in e2; move: lt; rewrite lt_maxr => /orP[lt|lt].
- by have := lt_le_trans lt (le_trans e1 le); rewrite ltxx.
- by have := lt_le_trans lt (le_trans e2 le); rewrite ltxx.
Qed.
End Values.
