(* Neighbours of a stream at given answers (docs/theory/selection.md: streams): how the answers of each step may move together, and inputs along which they
   move in the same way again and again. Answers that are chosen after earlier outputs are more inputs, of which a bound from below asks nothing. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic alignment stream_noises.

Section Neighbours.
Context (R : realType) (m k : nat) (vertex : 'I_k -> 'I_m -> R).
Notation inputs := (nat -> 'I_m -> R).

(* Differences in units of the sensitivity: each answer anywhere in [-1, 1], in [0, 1], or in [-1, 0]; one answer of one step alone; each step's in the hull of
   some points, or in that of their opposites. *)
Variant family := Every | Rising | Falling | Single | Hull | Opposites.
Definition in_hull (v : 'I_m -> R) := exists w, mean_of vertex w v.
Definition of_family (f : family) (d : inputs) := match f with
  | Every => forall i l, -1 <= d i l <= 1
  | Rising => forall i l, 0 <= d i l <= 1
  | Falling => forall i l, -1 <= d i l <= 0
  | Single => (forall i l, -1 <= d i l <= 1) /\ forall i l i' l', d i l != 0 -> d i' l' != 0 -> i = i' /\ l = l'
  | Hull => forall i, in_hull (d i)
  | Opposites => forall i, in_hull (fun l => - d i l)
  end.

(* Neighbours differ by the sensitivity times a difference of one of some families, in all steps of the same one; on the integers all answers are integers. *)
Definition neighbours (families : family -> Prop) (D : R) (whole : bool) : relation inputs := fun x x' =>
  [/\ exists2 f, families f & exists2 d, of_family f d & forall i l, x' i l = x i l + D * d i l,
    whole -> forall i l, whole_number (x i l) & whole -> forall i l, whole_number (x' i l)].

(* What the rules check of the differences in the first steps: those of a hull are among its points. *)
Definition together (f : family) (len : nat) (d : inputs) := match f with
  | Every => forall i l, (i < len)%N -> -1 <= d i l <= 1
  | Rising => forall i l, (i < len)%N -> 0 <= d i l <= 1
  | Falling => forall i l, (i < len)%N -> -1 <= d i l <= 0
  | Single => (forall i l, (i < len)%N -> -1 <= d i l <= 1) /\
      forall i l i' l', (i < len)%N -> (i' < len)%N -> d i l != 0 -> d i' l' != 0 -> i = i' /\ l = l'
  | Hull => forall i, (i < len)%N -> exists v, forall l, d i l = vertex v l
  | Opposites => forall i, (i < len)%N -> exists v, forall l, - d i l = vertex v l
  end.

(* A run may repeat steps: source says which of the checked ones each of its first steps is. After these steps answers move as in the first of all, but
   where one alone moves. *)
Section Inputs.
Variables (f : family) (len steps : nat) (source : nat -> nat) (q d : inputs).
Hypotheses (len0 : (0 < len)%N) (sources : forall i, (i < steps)%N -> (source i < len)%N) (checked : together f len d).
Hypothesis once : f = Single -> forall i i' l, (i < steps)%N -> (i' < steps)%N -> d (source i) l != 0 -> source i = source i' -> i = i'.
Definition run_moves : inputs := fun i l => if (i < steps)%N then d (source i) l else if f is Single then 0 else d 0%N l.
Definition run_answers : inputs := fun i l => if (i < steps)%N then q (source i) l else 0.

Lemma vertex_in_hull v d' : (forall l, d' l = vertex v l) -> in_hull d'.
Proof.
move=> dE; exists (fun v' => (v' == v)%:R); split=> [v'||l].
- exact: ler0n.
- by rewrite (bigD1 v)//= eqxx big1 ?addr0// => v' /negbTE->.
- by rewrite dE (bigD1 v)//= eqxx mul1r big1 ?addr0// => v' /negbTE->; rewrite mul0r.
Qed.

Lemma run_family : of_family f run_moves.
Proof.
move: checked once; rewrite /run_moves /of_family /together; case: f => [ck _|ck _|ck _|[ck one_] _1|ck _|ck _].
- by move=> i l; case: ltnP => [/sources lt|_]; exact: ck.
- by move=> i l; case: ltnP => [/sources lt|_]; exact: ck.
- by move=> i l; case: ltnP => [/sources lt|_]; exact: ck.
- split=> [i l|i l i' l']; first by case: ltnP => [/sources lt|_]; [exact: ck | apply/andP; split; lra].
  case: ltnP => [lt|_]; last by rewrite eqxx.
  case: ltnP => [lt'|_]; last by rewrite eqxx.
  move=> n0 n0'; have [se le] := one_ _ _ _ _ (sources lt) (sources lt') n0 n0'.
  by split=> //; exact: (_1 erefl i i' l).
- by move=> i; case: ltnP => [/sources /ck[v vE]|_]; [exact: (vertex_in_hull vE) | have [v vE] := ck _ len0; exact: (vertex_in_hull vE)].
- by move=> i; case: ltnP => [/sources /ck[v vE]|_]; [exact: (vertex_in_hull vE) | have [v vE] := ck _ len0; exact: (vertex_in_hull vE)].
Qed.

(* The differences may be taken less by a factor, if none is one of them. *)
Lemma family_scaled r : 0 <= r -> r <= 1 -> (if f is (Hull | Opposites) then in_hull (fun=> 0) else True) ->
  of_family f run_moves -> of_family f (fun i l => r * run_moves i l).
Proof.
move=> r0 r1; have less v a b : a <= 0 -> 0 <= b -> a <= v <= b -> a <= r * v <= b.
  move=> a0 b0 /andP[av vb]; have := ler_wpmul2l r0 av; have := ler_wpmul2l r0 vb.
  have u0 : 0 <= 1 - r by lra.
  by have := mulr_ge0 u0 b0; have := mulr_ge0 u0 (_ : 0 <= - a); rewrite oppr_ge0 => /(_ a0) h1 h2 h3 h4; apply/andP; split; lra.
have hull (v : 'I_m -> R) : in_hull (fun=> 0) -> in_hull v -> in_hull (fun l => r * v l).
  move=> [w0 [w00 w01 w0E]] [w [w_0 w1 wE]]; exists (fun i => r * w i + (1 - r) * w0 i); split=> [i||l].
  - by rewrite addr_ge0// mulr_ge0//; lra.
  - by rewrite big_split/= -!mulr_sumr w1 w01; lra.
  - rewrite (eq_bigr (fun i => r * (w i * vertex i l) + (1 - r) * (w0 i * vertex i l))); last by move=> i _; lra.
    by rewrite big_split/= -!mulr_sumr -wE -w0E mulr0 addr0.
case: f => /= [_|_|_|_|h0|h0].
- by move=> h i l; apply: less => //; lra.
- by move=> h i l; apply: less => //; lra.
- by move=> h i l; apply: less => //; lra.
- move=> [h h']; split=> [i l|i l i' l' n0 n0']; first by apply: less => //; lra.
  by apply: h'; [apply: contraNneq n0 | apply: contraNneq n0'] => ->; rewrite mulr0.
- by move=> h i; exact: hull.
- move=> h i; have := hull _ h0 (h i); congr in_hull; apply/funext => l; lra.
Qed.

(* The answers at the point, and moved so many times. On the integers D is the integer part of the sensitivity, but for hulls that are no boxes. *)
Variables (families : family -> Prop) (sensitivity D : R) (whole : bool).
Hypotheses (declared : families f) (whole_answers : whole -> forall i l, (i < len)%N -> whole_number (q i l)).
Hypothesis whole_moves : whole -> forall i l, (i < len)%N -> whole_number (D * d i l).
Hypothesis moved_by : D = sensitivity \/ [/\ 0 <= D, D <= sensitivity & if f is (Hull | Opposites) then in_hull (fun=> 0) else True].
Definition moved_input (s : nat) : inputs := fun i l => run_answers i l + s%:R * D * run_moves i l.

Lemma whole_sum (v v' : R) : whole_number v -> whole_number v' -> whole_number (v + v').
Proof. by move=> [a ->] [b ->]; exists (a + b); rewrite intrD. Qed.

Lemma moved_whole s : whole -> forall i l, whole_number (moved_input s i l).
Proof.
move=> wh i l; have zero : whole_number (0 : R) by exists 0.
have move_ : whole_number (D * run_moves i l).
  rewrite /run_moves; case: ltnP => [/sources lt|_]; first exact: whole_moves.
  by case: f => //; rewrite ?mulr0//; exact: whole_moves.
apply: whole_sum; first by rewrite /run_answers; case: ltnP => // /sources lt; exact: whole_answers.
by have [a aE] := move_; exists (s%:Z * a); rewrite -mulrA aE intrM.
Qed.

Lemma moved_near s : neighbours families sensitivity whole (moved_input s) (moved_input s.+1).
Proof.
split; [exists f => // | exact: moved_whole | exact: moved_whole].
case: moved_by => [DE|[D0 Ds zero]].
  exists run_moves; first exact: run_family.
  by move=> i l; rewrite /moved_input -DE -natr1; lra.
have [s0|s0] := eqVneq sensitivity 0.
  exists run_moves; first exact: run_family.
  have De : D = 0 by move: D0 Ds; rewrite s0 => ? ?; lra.
  by move=> i l; rewrite /moved_input De s0; lra.
have sp : 0 < sensitivity by rewrite lt_neqAle eq_sym s0 /=; lra.
exists (fun i l => D / sensitivity * run_moves i l).
  by apply: family_scaled => //; [rewrite divr_ge0// ltW | rewrite ler_pdivr_mulr// mul1r | exact: run_family].
move=> i l; rewrite mulrA [sensitivity * _]mulrC divfK// /moved_input -natr1; lra.
Qed.
End Inputs.
End Neighbours.
