(* Streams from below (docs/theory/selection.md, worst run), as the rule checks it: the program is followed along one path, step by step, at one point of the
   answers and the noises; weights of the rows that this gives are checked at the noises. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic independent worst_run_limits worst_run_rule alignment stream_paths stream_noises stream_neighbours.

(* The rows of a list that come out: an intersection over their places. *)
Section Rows.
Context (R : realType) (n : nat) dW (W : measurableType dW) (Z : nat -> W -> R) (D : R) (rows : seq (linear R * option bool)).
Definition row_at r : linear R * option bool := nth (Linear (fun=> 0) 0 0, None) rows r.
Definition row_told (r : 'I_(size rows)) := ~~ isSome (row_at r).2.
Definition row_opened (r : 'I_(size rows)) := if (row_at r).2 is Some strict then strict else false.
Definition row_of (r : 'I_(size rows)) := of_number (row_at r).1.
Definition row_const (r : 'I_(size rows)) := const (row_at r).1.
Definition row_moved (r : 'I_(size rows)) := D * moved (row_at r).1.

Lemma in_all_rows (I : finType) (A : I -> set W) w : (\big[setI/setT]_(r : I) A r) w <-> forall r, A r w.
Proof.
split=> [h r|h]; first by move: h; rewrite (bigD1 r)//= => -[].
by elim/big_ind: _ => // A1 A2; split.
Qed.

Lemma rows_out b s : path_comes_out n Z row_told row_opened row_of row_const row_moved b s =
  [set w | all (row_comes_out n b (Z ^~ w) (s%:R * D)) rows].
Proof.
have same w (r : 'I_(size rows)) : (if row_told r then - b <= row n Z row_of row_const row_moved s r w <= b
    else if row_opened r then 0 < row n Z row_of row_const row_moved s r w else 0 <= row n Z row_of row_const row_moved s r w) =
    row_comes_out n b (Z ^~ w) (s%:R * D) (row_at r).
  have e : row n Z row_of row_const row_moved s r w = linear_at n (row_at r).1 (Z ^~ w) (s%:R * D) by rewrite /row /linear_at /row_moved mulrA.
  by rewrite /row_comes_out e /row_told /row_opened; case: (row_at r).2 => [[]|].
apply/seteqP; split=> w /=.
- move=> /in_all_rows h; apply/(all_nthP (Linear (fun=> 0) 0 0, None)) => r lt.
  by have := h (Ordinal lt); rewrite /= same.
- move=> h; apply/in_all_rows => r; rewrite /= same; exact: (all_nthP (Linear (fun=> 0) 0 0, None) h).
Qed.
End Rows.

(* -- The mechanism of a stream, the noises by their numbers -- *)
Section Mechanism.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (laws : nat -> noise R).
Definition law_of j := law (laws (kind P j)).
Definition one_of j : law_of j setT = 1%E := law_one (laws (kind P j)).

(* All noises of the start and of the first k steps are independent. If every branch tells something, the first k things that are told are told in these
   steps: so the probability that they are certain words, with numbers within a bound, is that the program tells them there. *)
Context (dW : nat -> measure_display) (W : forall k, measurableType (dW k)) (nu : forall k, {measure set (W k) -> \bar R}) (Z : forall k, nat -> W k -> R).
Context d (Y : measurableType d) (M : mechanism R (nat -> 'I_m -> R) Y) (O : seq (option Word * nat) -> R -> set Y).
Definition stream_noises := forall k, independent_noises one_of (once P + k * fresh P) (nu k) (@Z k).
Definition stream_mechanism := (forall words b, measurable (O words b)) /\
  ((forall b, ~~ silent P b) -> forall k x words b, size words = k -> M x (O words b) = nu k [set w | shows b words (told_on P k x (@Z k ^~ w))]).
End Mechanism.

Section Rule.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (laws : nat -> noise R).
Context (dW : nat -> measure_display) (W : forall k, measurableType (dW k)) (nu : forall k, {measure set (W k) -> \bar R}) (Z : forall k, nat -> W k -> R).
Hypothesis noises : stream_noises P laws nu (@Z).
Context d (Y : measurableType d) (M : mechanism R (nat -> 'I_m -> R) Y) (O : seq (option Word * nat) -> R -> set Y).
Hypotheses (mechanism : stream_mechanism P nu (@Z) M O) (each_tells : forall b, ~~ silent P b).

(* Neighbours, and by how much answers move: the sensitivity, or on the integers its integer part. *)
Context (v : nat) (vertex : 'I_v -> 'I_m -> R) (families : family -> Prop) (sensitivity D : R) (whole : bool).
Variables (f : family) (q d_ : nat -> 'I_m -> R) (z : nat -> R) (path : seq 'I_B).
Let n := (once P + size path * fresh P)%N.
Definition path_rows_of := path_rows P n q d_ z path 0 (start_state P) (fun=> 0).
Hypotheses (some_step : (0 < size path)%N) (declared : families f) (moves : together vertex f (size path) d_).
Hypothesis whole_answers : whole -> forall i l, (i < size path)%N -> whole_number (q i l).
Hypothesis whole_moves : whole -> forall i l, (i < size path)%N -> whole_number (D * d_ i l).
Hypothesis moved_by : D = sensitivity \/ [/\ 0 <= D, D <= sensitivity & if f is (Hull | Opposites) then in_hull vertex (fun=> 0) else True].
Hypothesis point : forall j, (j < n)%N -> lives (laws (kind P j)) (z j).
Hypothesis checked : path_checked P n q d_ z path 0 (start_state P) (fun=> 0).
Hypothesis in_time : if most_steps P is Some most then (size path <= most)%N else true.

Let x := moved_input f (size path) id q d_ D.
Let words := [seq says_of P b | b <- path].

Lemma inputs_chain s : neighbours vertex families sensitivity whole (x s) (x s.+1).
Proof. exact: (moved_near some_step). Qed.

Lemma tells_rows s b : M (x s) (O words b) = nu (size path) (path_comes_out n (@Z (size path)) (@row_told R path_rows_of) (@row_opened R path_rows_of)
  (@row_of R path_rows_of) (@row_const R path_rows_of) (row_moved D (rows := path_rows_of)) b s).
Proof.
have [_ law_] := mechanism; rewrite (law_ each_tells (size path)) ?size_map//; congr (nu _ _); rewrite rows_out; apply/funext => w /=.
have := path_told (P := P) (n := n) (q := q) (d := d_) (z := z) (k := size path) b (e := @Z (size path) ^~ w) (s := s%:R * D)
  (z' := seen_noises P (@Z (size path) ^~ w)) (q' := x s) (path := path) (i := 0) (i' := 0) (h := fun=> 0) (st := start_state P) [::] 0.
rewrite cats0 !addn0 add0n /= andbT /words /told_on => <-//.
- rewrite (_ : first_state _ _ = (fun a => linear_at n (start_state P a) (@Z (size path) ^~ w) (s%:R * D)))//.
  by apply/funext => a; rewrite start_stateE// leq_addr.
- by move=> i j ik js; exact: place_lt.
- by move=> t a lt; rewrite /x /moved_input /run_answers /run_moves lt.
Qed.

(* Weights of the rows, in their order; what they sum to at the noises, and the value, in units of the sensitivity. *)
Variable y : nat -> R.
Definition sum_at j := \sum_(r < size path_rows_of) y r * of_number (row_at path_rows_of r).1 j.
Definition value_of_weights := - \sum_(r < size path_rows_of) y r * moved (row_at path_rows_of r).1.
Hypothesis weights : forall r, (r < size path_rows_of)%N -> isSome (row_at path_rows_of r).2 -> 0 <= y r.

Let comparisons (r : 'I_(size path_rows_of)) : ~~ row_told r -> 0 <= y r.
Proof. by rewrite /row_told negbK; exact: weights. Qed.

Let lossE : loss (row_moved D (rows := path_rows_of)) (fun r => y r) = D * value_of_weights.
Proof. by rewrite /loss /value_of_weights mulrN mulr_sumr; congr (- _); apply: eq_bigr => r _; rewrite /row_moved mulrCA. Qed.

Let room (r : 'I_(size path_rows_of)) : ~~ row_told r -> 0 < value_at n (@row_of R path_rows_of) (@row_const R path_rows_of) z r.
Proof.
rewrite /row_told negbK => isc; have := path_room checked (r := (row_at path_rows_of r).1); rewrite /at_point /linear_at mul0r addr0.
case E : (row_at path_rows_of r) isc => [F [strict|]]//= _; have rin := mem_nth (Linear (fun=> 0) 0 0, None) (ltn_ord r).
by move: rin; rewrite -/(row_at _ r) E => /[swap] /[apply]; rewrite /value_at /row_of /row_const E.
Qed.

(* At each noise the weights sum to no more than its slopes. The relation of neighbours goes one way where answers only rise, or only fall, as the
   guarantee does; for the others it is symmetric. *)
(* Rule: worst-run, lower. *)
Theorem worst_run_followed : (forall j, (j < n)%N -> within (sum_at j) (right (laws (kind P j))) /\ within (- sum_at j) (left (laws (kind P j)))) ->
  ((D * value_of_weights)%:E <= tight_epsilon_in_order (neighbours vertex families sensitivity whole) M 0)%E.
Proof.
move=> slopes; rewrite -lossE; have [mO _] := mechanism.
apply: (worst_run (fun j => @noise_tails R (laws (kind P j))) (noises (size path)) (fun b => mO words b) inputs_chain tells_rows room _ comparisons) => //.
by move=> j e jn e0; exact: noise_near (point jn) e0.
Qed.

(* Where they sum to 0 on each side on which the slope is finite, no shifts keep the run, and no epsilon holds. *)
(* Rule: worst-run, lower. *)
Theorem worst_run_followed_unbounded : 0 < D ->
  (forall j, (j < n)%N -> none_within (sum_at j) (right (laws (kind P j))) /\ none_within (- sum_at j) (left (laws (kind P j)))) ->
  0 < value_of_weights -> tight_epsilon_in_order (neighbours vertex families sensitivity whole) M 0 = +oo%E.
Proof.
move=> D0 none value0; have [mO _] := mechanism.
apply: (worst_run_unbounded (fun j => @noise_tails R (laws (kind P j))) (fun j => left_positive (laws (kind P j))) (fun j => right_positive (laws (kind P j)))
  (noises (size path)) (fun b => mO words b) inputs_chain tells_rows room _ comparisons none).
- by move=> j e jn e0; exact: noise_near (point jn) e0.
- by rewrite lossE mulr_gt0.
Qed.
End Rule.
