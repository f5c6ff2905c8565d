(* Lines on one side of a function on the cells between cuts (docs/theory/selection.md, two candidates), where it falls, is convex from 0 on, and its
   mirror image before: chords, the continuations of neighbouring chords, and its value at one end. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic definitions chords.

Section Numbers.
Context (R : realType).
Implicit Types (A P M g d t L : R).

Lemma continued_below g d A P M : 0 < g -> g * (A - M) <= d * (P - A) -> A + (A - P) / g * d <= M.
Proof.
by move=> g0 le; rewrite -(ler_pmul2l g0) mulrDr mulrA [g * (_ / _)]mulrC divfK ?gt_eqF//; lra.
Qed.

Lemma continued_above g d A P M : 0 < g -> d * (P - A) <= g * (A - M) -> M <= A + (A - P) / g * d.
Proof.
move=> g0 le; have := @continued_below g d (- A) (- P) (- M) g0.
have -> : g * (- A - - M) = - (g * (A - M)) by rewrite -opprD mulrN.
have -> : d * (- P - - A) = - (d * (P - A)) by rewrite -opprD mulrN.
by rewrite ler_opp2 => /(_ le); rewrite -opprD !mulNr -opprD ler_opp2.
Qed.
Lemma turned_round (a b x y z w : R) : a * (x - y) <= b * (z - w) -> b * (w - z) <= a * (y - x).
Proof. by rewrite -[x - y]opprB -[z - w]opprB !mulrN ler_opp2. Qed.
End Numbers.

Section Lines.
Context (R : realType) (B : R -> R).
Hypothesis falls : forall x y, x <= y -> B y <= B x.
Hypothesis slower : forall x y t, 0 <= x -> x <= y -> 0 <= t -> B y - B (y + t) <= B x - B (x + t).
Hypothesis reflected : forall x, B (- x) = 1 - B x.

Lemma convex a m b : 0 <= a -> a <= m -> m <= b -> (m - a) * (B m - B b) <= (b - m) * (B a - B m).
Proof. exact: chords. Qed.

Lemma concave a m b : b <= 0 -> a <= m -> m <= b -> (b - m) * (B a - B m) <= (m - a) * (B m - B b).
Proof.
move=> b0 am mb; have := @convex (- b) (- m) (- a); rewrite !reflected oppr_ge0 !ler_opp2 => /(_ b0 mb am).
rewrite (_ : - m - - b = b - m); last by rewrite opprK addrC.
rewrite (_ : - a - - m = m - a); last by rewrite opprK addrC.
rewrite (_ : 1 - B m - (1 - B a) = B a - B m); last by lra.
by rewrite (_ : 1 - B b - (1 - B m) = B m - B b)//; lra.
Qed.

Context (d : nat -> R) (N i : nat).
Hypotheses (rise : forall j, (j < N)%N -> d j < d j.+1) (iN : (i < N)%N).
Let width := d i.+1 - d i.
Definition slope (j : nat) : R := (B (d j.+1) - B (d j)) / (d j.+1 - d j).

(* p + q t at a part t of the way from one cut to the next. *)
Variant line_above : R -> R -> Prop :=
| FlatAbove : line_above (B (d i)) 0
| ChordAbove of 0 <= d i : line_above (B (d i)) (B (d i.+1) - B (d i))
| LeftAbove of (0 < i)%N & d i.+1 <= 0 : line_above (B (d i)) (slope i.-1 * width)
| RightAbove of (i.+1 < N)%N & d i.+2 <= 0 : line_above (B (d i.+1) - slope i.+1 * width) (slope i.+1 * width).

Variant line_below : R -> R -> Prop :=
| FlatBelow : line_below (B (d i.+1)) 0
| ChordBelow of d i.+1 <= 0 : line_below (B (d i)) (B (d i.+1) - B (d i))
| LeftBelow of (0 < i)%N & 0 <= d i.-1 : line_below (B (d i)) (slope i.-1 * width)
| RightBelow of (i.+1 < N)%N & 0 <= d i : line_below (B (d i.+1) - slope i.+1 * width) (slope i.+1 * width).

Let at_part t := d i + t * width.
Let width0 : 0 < width. Proof. by rewrite subr_gt0 rise. Qed.

Lemma within_cell t : 0 <= t <= 1 -> d i <= at_part t /\ at_part t <= d i.+1.
Proof.
move=> /andP[t0 t1]; have w0 := ltW width0; rewrite /at_part; split; first by rewrite ler_addl mulr_ge0.
by rewrite -ler_subr_addl; exact: ler_pimull.
Qed.

Lemma from_left t : at_part t - d i = t * width. Proof. by rewrite /at_part addrAC subrr add0r. Qed.
Lemma from_right t : d i.+1 - at_part t = (1 - t) * width.
Proof. by rewrite /at_part mulrBl mul1r opprD addrA. Qed.

Let rise_left : (0 < i)%N -> 0 < d i - d i.-1.
Proof. by move=> i0; rewrite subr_gt0 -{2}(prednK i0) rise// (leq_ltn_trans (leq_pred _) iN). Qed.

Lemma above_cell p q t : line_above p q -> 0 <= t <= 1 -> B (at_part t) <= p + q * t.
Proof.
move=> line t01; have [lo hi] := within_cell t01; case: line => [|d0|i0 d0|iN' d0].
- by rewrite mul0r addr0; exact: falls.
- have := convex d0 lo hi; rewrite from_left from_right ![_ * width]mulrC -!mulrA ler_pmul2l// => h; lra.
- have := @concave (d i.-1) (d i) (at_part t); rewrite from_left => h.
  rewrite /slope prednK// -mulrA [width * t]mulrC; apply: continued_above; first exact: rise_left.
  by apply: h; [exact: le_trans d0 | have := rise_left i0; lra | ].
- have := @concave (at_part t) (d i.+1) (d i.+2) d0 hi (ltW (rise iN')); rewrite from_right => h.
  have := @continued_above R (d i.+2 - d i.+1) ((1 - t) * width) (B (d i.+1)) (B (d i.+2)) (B (at_part t)).
  rewrite subr_gt0 rise// => /(_ isT (turned_round h)); rewrite /slope; set s := _ / _; set s' := _ / _.
  have -> : s = - s' by rewrite /s /s' -mulNr opprB.
  by lra.
Qed.

Lemma below_cell p q t : line_below p q -> 0 <= t <= 1 -> p + q * t <= B (at_part t).
Proof.
move=> line t01; have [lo hi] := within_cell t01; case: line => [|d0|i0 d0|iN' d0].
- by rewrite mul0r addr0; exact: falls.
- have := concave d0 lo hi; rewrite from_left from_right ![_ * width]mulrC -!mulrA ler_pmul2l// => h; lra.
- have := @convex (d i.-1) (d i) (at_part t) d0; rewrite from_left => h.
  rewrite /slope prednK// -mulrA [width * t]mulrC; apply: continued_below; first exact: rise_left.
  by apply: h => //; have := rise_left i0; lra.
- have := @convex (at_part t) (d i.+1) (d i.+2) (le_trans d0 lo) hi (ltW (rise iN')); rewrite from_right => h.
  have := @continued_below R (d i.+2 - d i.+1) ((1 - t) * width) (B (d i.+1)) (B (d i.+2)) (B (at_part t)).
  rewrite subr_gt0 rise// => /(_ isT (turned_round h)); rewrite /slope; set s := _ / _; set s' := _ / _.
  have -> : s = - s' by rewrite /s /s' -mulNr opprB.
  by lra.
Qed.
End Lines.
