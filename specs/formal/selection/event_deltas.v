(* What one event tells of a tight delta (docs/theory/selection.md, selection event, selection event at): from its probabilities on two neighbours, and those of
   all other outputs. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions independent worst_output_lower events.

Section Shows.
Context (R : realType) (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y).
Definition event_delta (eps p p' : R) : R := Num.max (p - expR eps * p') ((1 - p) - expR eps * (1 - p')).
Definition event_shows eps p p' := ((event_delta eps p p')%:E <= tight_delta_in_order N M eps)%E /\
  ((Num.max (event_delta eps p p') (event_delta eps p' p))%:E <= tight_delta N M eps)%E.

Lemma event_in_order (L : relation X) x x' O eps p p' : L x x' -> measurable O -> M x O = p%:E -> M x' O = p'%:E ->
  ((event_delta eps p p')%:E <= tight_delta_in_order L M eps)%E.
Proof.
move=> xx mO E E'; have h1 := event_lower (M := M) eps xx mO (lexx _) (lexx _); have h2 := complement_lower (M := M) eps xx mO (lexx _) (lexx _).
by rewrite !E !E' /= in h1 h2; rewrite /event_delta -maxEFin le_maxl h1 h2.
Qed.

Lemma event_shown x x' O eps p p' : N x x' -> measurable O -> M x O = p%:E -> M x' O = p'%:E -> event_shows eps p p'.
Proof.
move=> xx mO E E'; split; first exact: event_in_order mO E E'.
rewrite -maxEFin le_maxl; apply/andP; split.
- by apply: (event_in_order eps (L := both N) _ mO E E'); left.
- by apply: (event_in_order eps (L := both N) _ mO E' E); right.
Qed.
End Shows.

(* One output, with noises of any laws: its probability is what worst_output_lower.v integrates. *)
Section Outputs.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (O : set Y) (mO : measurable O).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (K : finType) (weight : K -> R).

(* Rule: selection-event, lower. *)
(* Rule: selection-event-at, lower. *)
Theorem output_event x x' side side' eps : N x x' -> output_of mu1 M O n nu Z weight side x -> output_of mu1 M O n nu Z weight side' x' ->
  event_shows N M eps (computed_chance mu n weight side) (computed_chance mu n weight side').
Proof. by move=> xx h h'; apply: (event_shown eps xx mO); [exact: (output_chance noises h) | exact: (output_chance noises h')]. Qed.
End Outputs.
