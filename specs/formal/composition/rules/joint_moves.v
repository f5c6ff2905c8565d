(* Parts that answer about one real histogram (docs/theory/composition.md: joint moves): their moves share one difference, and what they lose together
   is a form in it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition combination_parts.

Section Sums.
Context (R : realType) (n : nat).
Implicit Types (a v : 'I_n -> R).

Lemma cauchy_schwarz a v : (\sum_i a i * v i) ^+ 2 <= (\sum_i a i ^+ 2) * (\sum_i v i ^+ 2).
Proof.
set A := \sum_i a i ^+ 2; set B := \sum_i v i ^+ 2; set C := \sum_i a i * v i.
have B0 : 0 <= B by apply: sumr_ge0 => i _; exact: sqr_ge0.
move: B0; rewrite le_eqVlt => /orP[/eqP B0 | B0].
  have v0 i : v i = 0.
    have /eqP : B = 0 by [].
    rewrite /B psumr_eq0 => [|j _]; last exact: sqr_ge0.
    by move=> /allP/(_ i (mem_index_enum i)); rewrite sqrf_eq0 => /eqP.
  by rewrite -B0 mulr0 /C big1 ?expr0n// => i _; rewrite v0 mulr0.
have : 0 <= \sum_i (B * a i - C * v i) ^+ 2 by apply: sumr_ge0 => i _; exact: sqr_ge0.
have -> : \sum_i (B * a i - C * v i) ^+ 2 = B ^+ 2 * A - 2 * B * C * C + C ^+ 2 * B.
  rewrite (eq_bigr (fun i => B ^+ 2 * a i ^+ 2 - 2 * B * C * (a i * v i) + C ^+ 2 * v i ^+ 2)); last by move=> i _; lra.
  by rewrite big_split /= sumrB -!mulr_sumr.
have -> : B ^+ 2 * A - 2 * B * C * C + C ^+ 2 * B = B * (A * B - C ^+ 2) by lra.
by rewrite pmulr_rge0// subr_ge0.
Qed.

(* A row on the l1 ball: its absolute values are averaged. *)
Lemma row_l1 a v : `|\sum_i a i * v i| <= \sum_i `|a i| * `|v i|.
Proof. by apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => i _; rewrite normrM. Qed.
End Sums.

(* Pieces j, the coordinates of parts that lose on their own: rows of a query, of which noise of the Euclidean norm has several together. *)
Section Pieces.
Context (R : realType) (n : nat) (J : Type) (rows : J -> seq ('I_n -> R)) (e : J -> R -> R) (alpha beta : J -> R).
Implicit Types (v : 'I_n -> R).
Hypothesis n0 : (0 < n)%N.
Hypotheses (alpha0 : forall j, 0 <= alpha j) (beta0 : forall j, 0 <= beta j).

Definition square j v : R := \sum_(a <- rows j) (\sum_i a i * v i) ^+ 2.
Definition move j v : R := Num.sqrt (square j v).
(* What is lost by a piece: nothing where its answer does not move. *)
Definition lost j v : R := if move j v == 0 then 0 else e j (move j v).
Definition entries j : R := \sum_(a <- rows j) \sum_i a i ^+ 2.

Lemma square_ge0 j v : 0 <= square j v. Proof. by apply: sumr_ge0 => a _; exact: sqr_ge0. Qed.

Lemma square_far j v : square j v <= entries j * (\sum_i v i ^+ 2).
Proof. by rewrite /square /entries mulr_suml; apply: ler_sum => a _; exact: cauchy_schwarz. Qed.

Lemma squares_l1 v (f : R) : \sum_i `|v i| <= f -> \sum_i v i ^+ 2 <= f ^+ 2.
Proof.
move=> vf; have s0 : 0 <= \sum_i `|v i| by apply: sumr_ge0.
apply: (@le_trans _ _ ((\sum_i `|v i|) ^+ 2)); last by rewrite ler_expn2r ?nnegrE//; exact: le_trans vf.
rewrite expr2 mulr_suml; apply: ler_sum => i _; rewrite -real_normK ?num_real// expr2 ler_wpmul2l//.
by rewrite (bigD1 i)//= ler_addl sumr_ge0.
Qed.

(* One run has a list of pieces; all runs one after the other, each chosen after the outputs before it. *)
Variable runs : seq (seq J).
Let all := flatten runs.
Definition losses v : seq (R * R) := [seq (\sum_(j <- r) lost j v, 0) | r <- runs].

Lemma losses_sum v : \sum_(b <- losses v) b.1 = \sum_(j <- all) lost j v /\ \sum_(b <- losses v) b.2 = 0.
Proof. by rewrite /losses !big_map big_flatten/=; split=> //; rewrite big1. Qed.

Section Together.
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (difference : X -> X -> 'I_n -> R) (f most : R).
(* At a pair of neighbours each run loses at most what its pieces do there. *)
Hypothesis runs_lose : forall x x', both N x x' -> adaptive (at_pair x x') M (losses (difference x x')).

Let by_sum bound : (forall x x', both N x x' -> \sum_(j <- all) lost j (difference x x') <= bound) -> pure_dp N M bound.
Proof.
move=> H x x' xx; have := basic_composition_in_order (runs_lose xx); have [-> ->] := losses_sum (difference x x') => dp.
by apply: close_monotone (dp x x' (conj erefl erefl)) => //; exact: H.
Qed.

(* Neighbours at l2-distance at most f: most - form is positive semidefinite. *)
Theorem moves_l2 : (forall x x', both N x x' -> \sum_i difference x x' i ^+ 2 <= f ^+ 2) ->
  (forall j u, 0 < u -> u ^+ 2 <= f ^+ 2 * entries j -> e j u <= alpha j + beta j * u ^+ 2) ->
  (forall v, \sum_(j <- all) beta j * square j v <= most * \sum_i v i ^+ 2) ->
  pure_dp N M (\sum_(j <- all) alpha j + f ^+ 2 * most).
Proof.
move=> near above form; apply: by_sum => x x' xx; set v := difference x x'; have vf := near x x' xx.
have most0 : 0 <= most.
  have := form (fun=> 1); rewrite [X in _ <= most * X](eq_bigr (fun=> 1)) => [|i _]; last by rewrite expr1n.
  rewrite sumr_const card_ord => h; have n1 : 0 < n%:R :> R by rewrite ltr0n.
  rewrite -(pmulr_lge0 _ n1); apply: le_trans h; apply: sumr_ge0 => j _; apply: mulr_ge0 => //; exact: square_ge0.
apply: (@le_trans _ _ (\sum_(j <- all) (alpha j + beta j * square j v))).
  apply: ler_sum => j _; rewrite /lost; case: eqP => [_ | /eqP ne].
    by rewrite addr_ge0// mulr_ge0// square_ge0.
  have m0 : 0 < move j v by rewrite lt_neqAle eq_sym ne sqrtr_ge0.
  have sq : move j v ^+ 2 = square j v by rewrite sqr_sqrtr// square_ge0.
  rewrite -sq; apply: above => //; rewrite sq mulrC; apply: le_trans (square_far j v) _.
  by apply: ler_wpmul2l => //; apply: sumr_ge0 => a _; apply: sumr_ge0 => i _; exact: sqr_ge0.
rewrite big_split /= ler_add2l; apply: le_trans (form v) _; rewrite [leRHS]mulrC; exact: ler_wpmul2l.
Qed.

(* At l1-distance at most f, every piece one row: the sum is greatest at a difference in one kind of records. *)
Variable row : J -> 'I_n -> R.
Theorem moves_l1 : (forall x x', both N x x' -> \sum_i `|difference x x' i| <= f) -> (forall j, rows j = [:: row j]) ->
  (forall j u, 0 < u -> u ^+ 2 <= f ^+ 2 * entries j -> e j u <= alpha j + beta j * u) ->
  (forall i, \sum_(j <- all) beta j * `|row j i| <= most) ->
  pure_dp N M (\sum_(j <- all) alpha j + f * most).
Proof.
move=> near one above columns; apply: by_sum => x x' xx; set v := difference x x'; have vf := near x x' xx.
have moveE j : move j v = `|\sum_i row j i * v i| by rewrite /move /square one big_seq1 sqrtr_sqr.
have most0 : 0 <= most.
  by apply: le_trans (columns (Ordinal n0)); apply: sumr_ge0 => j _; apply: mulr_ge0.
apply: (@le_trans _ _ (\sum_(j <- all) (alpha j + beta j * `|\sum_i row j i * v i|))).
  apply: ler_sum => j _; rewrite /lost; case: eqP => [_ | /eqP ne]; first by rewrite addr_ge0// mulr_ge0.
  have m0 : 0 < move j v by rewrite lt_neqAle eq_sym ne sqrtr_ge0.
  rewrite -moveE; apply: above => //; rewrite sqr_sqrtr ?square_ge0// mulrC; apply: le_trans (square_far j v) _.
  apply: ler_wpmul2l; last exact: squares_l1.
  by apply: sumr_ge0 => a _; apply: sumr_ge0 => i _; exact: sqr_ge0.
rewrite big_split /= ler_add2l.
apply: (@le_trans _ _ (\sum_i (\sum_(j <- all) beta j * `|row j i|) * `|v i|)).
  under [leRHS]eq_bigr do rewrite mulr_suml; rewrite exchange_big /=; apply: ler_sum => j _.
  under [leRHS]eq_bigr do rewrite -mulrA; rewrite -mulr_sumr; apply: ler_wpmul2l => //; exact: row_l1.
apply: (@le_trans _ _ (\sum_i most * `|v i|)); first by apply: ler_sum => i _; exact: ler_wpmul2r.
by rewrite -mulr_sumr mulrC; exact: ler_wpmul2r.
Qed.
End Together.
End Pieces.

(* Rule: joint-moves, upper. *)
(* Noise of a Euclidean norm is one piece with the rows of its query, independent coordinates are a piece for each row; that the form is at most
   `most` is what the rule's elimination shows. *)
Theorem joint_moves (R : realType) (n : nat) (J : Type) (rows : J -> seq ('I_n -> R)) (e : J -> R -> R) (alpha beta : J -> R) (runs : seq (seq J))
    X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (difference : X -> X -> 'I_n -> R) (f most : R) (row : J -> 'I_n -> R) :
  (0 < n)%N -> (forall j, 0 <= alpha j) -> (forall j, 0 <= beta j) ->
  (forall x x', both N x x' -> adaptive (at_pair x x') M (losses rows e runs (difference x x'))) ->
  ((forall x x', both N x x' -> \sum_i difference x x' i ^+ 2 <= f ^+ 2) ->
    (forall j u, 0 < u -> u ^+ 2 <= f ^+ 2 * entries rows j -> e j u <= alpha j + beta j * u ^+ 2) ->
    (forall v, \sum_(j <- flatten runs) beta j * square rows j v <= most * \sum_i v i ^+ 2) ->
    pure_dp N M (\sum_(j <- flatten runs) alpha j + f ^+ 2 * most)) /\
  ((forall x x', both N x x' -> \sum_i `|difference x x' i| <= f) -> (forall j, rows j = [:: row j]) ->
    (forall j u, 0 < u -> u ^+ 2 <= f ^+ 2 * entries rows j -> e j u <= alpha j + beta j * u) ->
    (forall i, \sum_(j <- flatten runs) beta j * `|row j i| <= most) ->
    pure_dp N M (\sum_(j <- flatten runs) alpha j + f * most)).
Proof.
move=> n0 a0 b0 H; split=> h1 h2 h3; first exact: (moves_l2 n0 a0 b0 H h1 h2 h3).
by move=> h4; exact: (moves_l1 n0 a0 b0 H h1 h2 h3 h4).
Qed.
