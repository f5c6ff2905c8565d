(* Words that a stream tells on two neighbours (docs/theory/selection.md, told words, told words event): the probability of each is enclosed by sums over
   cells of a few noises, and their log-ratio bounds epsilon from below; at a delta the event of the words, and its complement, bound the curve. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition curves pairs independent word_chances told_runs word_runs stream_words.
From dpverify Require Import stream_neighbours noise_edges noise_rows told_rows told_means stream_paths stream_rows event_profiles.

(* How the rows of each of the ways in which words are told are summed over: their parts, which share no noises; the pivots of each part and their cuts; what
   is known of the means; and bounds on the probability of each part. *)
Record table (R : realType) (n : nat) := Table {
  parts : finType; part : nat -> row R -> parts; pivot : nat -> parts -> pred nat; cuts_of : nat -> parts -> nat -> seq R; most_of : nat;
  mean_in : nat -> parts -> told_rows.cells n most_of -> nat -> set R; low_in : nat -> parts -> R; high_in : nat -> parts -> R
}.

Section Tables.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (n : nat) (whole : pred nat) (at_ : nat -> R -> R * R).
Context (ways : seq (seq (row R))) (t : table R n).
Definition rows_in i g : seq (row R) := [seq r <- nth [::] ways i | part t i r == g].
Record sums_hold : Prop := SumsHold {
  apart : forall i (r r' : row R) (j : 'I_n), (i < size ways)%N -> r \in nth [::] ways i -> r' \in nth [::] ways i ->
    coef r j != 0 -> coef r' j != 0 -> part t i r = part t i r';
  one_more : forall i g r, (i < size ways)%N -> r \in rows_in i g ->
    forall j j' : 'I_n, coef r j != 0 -> coef r j' != 0 -> ~~ pivot i g j -> ~~ pivot i g j' -> j = j';
  cuts_rise : forall i g j, sorted <%R (cuts_of (t := t) i g j);
  cuts_whole : forall i g j, whole j -> {in cuts_of (t := t) i g j, forall b, b \is a Rint};
  cuts_few : forall i g j, (size (cuts_of (t := t) i g j) <= most_of t)%N;
  means_held : forall i g c k, (i < size ways)%N -> fits (pivot i g) (cuts_of i g) c -> k \in others n (pivot i g) (rows_in i g) ->
    holds_mean mu whole (pivot i g) at_ (cuts_of i g) (rows_in i g) c k (mean_in (t := t) i g c k);
  sums_between : forall i g mean, (i < size ways)%N ->
    (forall c k, fits (pivot i g) (cuts_of i g) c -> k \in others n (pivot i g) (rows_in i g) -> mean_in (t := t) i g c k (mean c k)) ->
    low_in i g <= rows_least whole (pivot i g) at_ (cuts_of i g) (rows_in i g) mean /\
    rows_most whole (pivot i g) at_ (cuts_of i g) (rows_in i g) mean <= high_in i g
}.
(* The sum over the ways of the products over their parts, whatever they are between these bounds. *)
Definition total_between (lo hi : R) := forall p : nat -> parts t -> R,
  (forall i g, (i < size ways)%N -> low_in i g <= p i g <= high_in i g) -> lo <= \sum_(i < size ways) \prod_g p i g <= hi.
End Tables.

Section Rule.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (steps : nat).
Notation n := (once P + steps * fresh P)%N.
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.

(* Each noise has no atoms, as where it has a density, or is on the integers; the probability of less than a point is known between bounds. *)
Context (whole : pred nat) (at_ : nat -> R -> R * R).
Hypothesis laws : forall j, if whole j then mu j [set z | z \isn't a Rint] = 0%E else forall z, mu j [set z] = 0%E.
Hypothesis known : forall j x, (whole j -> x \is a Rint) -> (at_ j x).1 <= fine (mu j (below false x)) <= (at_ j x).2.

(* Lists of words, none of which goes on from another. *)
Context (lists : seq (seq (option Word))).
Hypotheses (once_ : uniq lists) (other : forall a b, a \in lists -> b \in lists -> a != b -> take (size b) a != take (size a) b).
Hypothesis in_time : {in lists, forall a, size a <= steps}%N.
Definition tells_words (q : nat -> 'I_m -> R) : set W := [set w | has (fun a => begins a (told_on P steps q (fun j => Z j w))) lists].
Notation ways q := (word_ways P q lists).

Section Side.
Context (q : nat -> 'I_m -> R) (t : table R n).
Hypothesis sums : sums_hold mu whole at_ (ways q) t.
Notation rows i g := (rows_in (ways q) (t := t) i g).
Notation hold := (fun w => row_holds n (fun j => Z j w)).
Let negates w r : hold w (row_negated r) = ~~ hold w r. Proof. exact: row_negates. Qed.

Definition part_holds (i : 'I_(size (ways q))) (g : parts t) : set W := all_hold n Z (rows i g).
Definition part_noises (i : 'I_(size (ways q))) (g : parts t) : pred nat := fun j => (j < n)%N && has (fun r => coef r j != 0) (rows i g).

Lemma parts_hold i w : (forall g, part_holds i g w) <-> all (hold w) (nth [::] (ways q) i).
Proof.
split=> [h|/allP h g]; last by apply/allP => r; rewrite mem_filter => /andP[_]; exact: h.
by apply/allP => r rin; have /allP := h (part t i r); apply; rewrite mem_filter eqxx.
Qed.

Lemma tells_wordsE : tells_words q = told_in part_holds.
Proof.
apply/seteqP; split=> w; rewrite /tells_words /told_in /=.
- rewrite (eq_in_has (a2 := fun a => word_runs.tells hold (step_branches P q) w a (at_start P))); last first.
    by move=> a /in_time; exact: told_by_rows.
  by move=> /(told_somewhere negates)[i h]; exists i; apply/parts_hold.
- move=> [i /parts_hold h]; rewrite (eq_in_has (a2 := fun a => word_runs.tells hold (step_branches P q) w a (at_start P))); last first.
    by move=> a /in_time; exact: told_by_rows.
  by apply/(told_somewhere negates); exists i.
Qed.

Lemma part_depends i g : depends n Z (part_noises i g) (part_holds i g).
Proof.
move=> w w' same; rewrite /part_holds /all_hold /=; congr is_true; apply: eq_in_all => r rin.
have E : noise_rows.form_at n r (fun j => Z j w) = noise_rows.form_at n r (fun j => Z j w').
  congr (_ + _); apply: eq_bigr => j _; have [->|a0] := eqVneq (coef r j) 0; first by rewrite !mul0r.
  by rewrite (same j)// /part_noises ltn_ord /=; apply/hasP; exists r.
by rewrite /row_holds E.
Qed.

Lemma parts_apart i g g' j : g != g' -> part_noises i g j -> ~~ part_noises i g' j.
Proof.
move=> gg' /andP[jn /hasP[r rin ar]]; apply/negP => /andP[_ /hasP[r' rin' ar']]; move: rin rin'; rewrite !mem_filter => /andP[/eqP gE rin] /andP[/eqP gE' rin'].
by move: gg'; rewrite -gE -gE' (apart sums (j := Ordinal jn) (ltn_ord i) rin rin' ar ar') eqxx.
Qed.

Lemma measurable_part i g : measurable (part_holds i g). Proof. exact: (measurable_all noises). Qed.

Theorem words_enclosed lo hi : total_between (ways q) t lo hi -> lo <= fine (nu (tells_words q)) <= hi.
Proof.
move=> tot; rewrite tells_wordsE (told_chance noises measurable_part part_depends parts_apart); last first.
  by move=> i i' w /parts_hold h /parts_hold h'; exact: (all_ways_exclude negates once_ other h h').
pose p (i : nat) (g : parts t) := fine (nu (all_hold n Z (rows i g))).
apply: (tot p) => i g lt; apply: (rows_enclosed noises laws known _ _ _ _ (within := mean_in (t := t) i g)) => [j|j|j|r rin|c k fc ko|mean hm].
- exact: cuts_rise sums i g j.
- exact: (cuts_whole sums (i := i) (g := g) (j := j)).
- exact: cuts_few sums i g j.
- exact: one_more sums i g r lt rin.
- exact: means_held sums i g c k lt fc ko.
- exact: (sums_between sums (i := i) (g := g) lt hm).
Qed.
End Side.

(* The mechanism has an input for all answers that data may have, between bounds or on the integers; what it shows of it, the event of the words, has the
   probability that the stream tells them on independent noises. Neighbours are, at least, inputs of which the answers move so. *)
Context (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (shown : set Y).
Context (may : (nat -> 'I_m -> R) -> Prop) (input : (nat -> 'I_m -> R) -> X) (D : R).
(* How the answers of neighbours move together, in units of the sensitivity, is told by families and the points of hulls. *)
Context (p : nat) (vertex : 'I_p -> 'I_m -> R) (families : family -> Prop).
Hypothesis m_shown : measurable shown.
Hypothesis shows_words : forall q, may q -> M (input q) shown = nu (tells_words q).
Hypothesis neighbours : forall q q' f dq, may q -> may q' -> families f -> together vertex f steps dq ->
  (forall i l, (i < steps)%N -> q' i l = q i l + D * dq i l) -> N (input q) (input q').

Context (q q' : nat -> 'I_m -> R) (f : family) (dq : nat -> 'I_m -> R).
Hypotheses (may_q : may q) (may_q' : may q') (in_families : families f) (moved : together vertex f steps dq).
Hypothesis moves : forall i l, (i < steps)%N -> q' i l = q i l + D * dq i l.
Context (t t' : table R n) (lo hi lo' hi' : R).
Hypotheses (sums : sums_hold mu whole at_ (ways q) t) (sums' : sums_hold mu whole at_ (ways q') t').
Hypotheses (total : total_between (ways q) t lo hi) (total' : total_between (ways q') t' lo' hi').

Let near : N (input q) (input q'). Proof. exact: (neighbours may_q may_q' in_families moved moves). Qed.
Let here : lo <= fine (M (input q) shown) <= hi. Proof. by rewrite shows_words//; exact: (words_enclosed sums total). Qed.
Let there : lo' <= fine (M (input q') shown) <= hi'. Proof. by rewrite shows_words//; exact: (words_enclosed sums' total'). Qed.

(* Rule: told-words, lower. *)
Theorem told_words_rule :
  (forall v, 0 < lo -> 0 < hi' -> v <= ln (lo / hi') -> (v%:E <= tight_epsilon_in_order N M 0)%E) /\
  (0 < lo -> hi' = 0 -> tight_epsilon_in_order N M 0 = +oo%E).
Proof.
have /andP[h _] := here; have /andP[_ h'] := there; split=> [v l0 u0 hv|l0 u0].
  exact: (event_ratio near m_shown h h').
apply: (event_never near m_shown); first exact: lt_le_trans h.
by apply/eqP; rewrite eq_le fine_ge0// andbT -u0.
Qed.

(* The curve is at least that of the event and of its complement; where the other order is of neighbours too, with the two exchanged. They are curves of
   pairs of laws that those of the mechanism dominate; and what is certainly told on one and never on the other is left at every epsilon. *)
(* One case of the rule: words of a stream. *)
(* Rule: selection-event, lower. *)
Theorem told_words_event_rule : 0 <= lo <= 1 -> 0 <= hi <= 1 -> 0 <= lo' <= 1 -> 0 <= hi' <= 1 ->
  [/\ forall eps, ((event_profile lo hi lo' hi' (expR eps))%:E <= tight_delta_in_order N M eps)%E,
      N (input q') (input q) -> forall eps, ((event_profile lo' hi' lo hi (expR eps))%:E <= tight_delta_in_order N M eps)%E,
      exists P0 Q0 : {measure set nat -> \bar R}, [/\ P0 setT = 1%E, Q0 setT = 1%E, dominated P0 Q0 (M (input q)) (M (input q')) &
        forall a, 0 <= a -> profile a P0 Q0 = event_profile lo hi lo' hi' a],
      exists P0 Q0 : {measure set nat -> \bar R}, [/\ P0 setT = 1%E, Q0 setT = 1%E, dominated P0 Q0 (M (input q')) (M (input q)) &
        forall a, 0 <= a -> profile a P0 Q0 = event_profile lo' hi' lo hi a] &
      (hi' = 0 -> forall a, lo <= event_profile lo hi lo' hi' a) /\ (hi = 0 -> forall a, lo' <= event_profile lo' hi' lo hi a)].
Proof.
move=> b1 b2 b3 b4; have l := law_total M.
have one (a : R) : 0 <= a -> event_profile lo hi lo' hi' a <= profile a (M (input q)) (M (input q')).
  exact: (event_profile_below (l _) (l _) m_shown here there).
have two (a : R) : 0 <= a -> event_profile lo' hi' lo hi a <= profile a (M (input q')) (M (input q)).
  exact: (event_profile_below (l _) (l _) m_shown there here).
split.
- by move=> eps; apply: (curve_at_least near); apply: one; exact: expR_ge0.
- by move=> near' eps; apply: (curve_at_least near'); apply: two; exact: expR_ge0.
- have [P0 [Q0 [P1 Q1 E]]] := event_profile_pair b1 b2 b3 b4; exists P0, Q0; split=> // a a0; rewrite E//; exact: one.
- have [P0 [Q0 [P1 Q1 E]]] := event_profile_pair b3 b4 b1 b2; exists P0, Q0; split=> // a a0; rewrite E//; exact: two.
- by split=> h a; rewrite /event_profile h mulr0 subr0 !le_maxr lexx !orbT.
Qed.
End Rule.
