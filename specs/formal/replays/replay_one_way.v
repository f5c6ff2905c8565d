(* Above threshold where the answers of neighbours all move the same way, as replayed certificates describe it: in one order of the neighbours, and
   in both. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra.
From dpverify Require Import definitions density losses tactics replay replay_parts replay_selection.
Local Open Scope R_scope.

Lemma holds_in_order_le (P : described) a b : holds_in_order P a -> a <= b ->
  forall (X : Type) (N : relation X) (d : measure_display) (Y : measurableType d) (M : mechanism RR X Y), P X N d Y M -> dp_in_order N M b 0.
Proof. by move=> H /RleP ab X N d Y M PM; exact: dp_in_order_monotone (H X N d Y M PM). Qed.

Section OneWay.
Context (threshold density : R -> R) (n k : nat) (D s w wF wS eps : R).
Hypothesis cost : forall no yes, leq (addn no yes) n -> leq yes k -> w + (INR no * wF + INR yes * wS) <= eps.

(* The second answers are no less: the threshold is moved up by s. *)
Theorem increasing_in_order : falls threshold s w -> falls density (s - D) wF -> falls density s wS ->
  holds_in_order (above_the_threshold threshold density n k 0 D) eps.
Proof.
move=> FT FF FS; apply: (above_the_threshold_in_order FT FF _ cost).
by rewrite Rminus_0_r.
Qed.

(* They are no greater. *)
Theorem decreasing_in_order : falls threshold s w -> falls density s wF -> falls density (s + D) wS ->
  holds_in_order (above_the_threshold threshold density n k (- D) 0) eps.
Proof.
move=> FT FF FS; apply: (above_the_threshold_in_order FT _ _ cost); first by rewrite Rminus_0_r.
by rewrite /Rminus Ropp_involutive.
Qed.
End OneWay.

(* Both orders of neighbours of which the second has answers that are no less. *)
Theorem holds_one_way threshold density n k D w b : 0 <= w -> holds_in_order (above_the_threshold threshold density n k 0 D) (w + b) ->
  holds_in_order (above_the_threshold threshold density n k (- D) 0) b -> holds (above_the_threshold threshold density n k 0 D) (w + b).
Proof.
move=> w0 up down X N d Y M P x x' [xx|xx]; first exact: (up X N d Y M P).
have bw : b <= w + b by lra.
apply: (holds_in_order_le down bw (N := fun x x' => N x' x) _ xx); case: P => [answer [T [Z [all [point [TZ HTZ lim MA ND]]]]]].
exists answer, T, Z, all, point; split=> // y y' yy told; have [l h] := ND _ _ yy told; split; move: l h; lra.
Qed.
