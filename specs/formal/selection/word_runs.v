(* In which ways words are told (docs/theory/selection.md, told words): in each step the first branch is taken of which all comparisons hold; so, of each
   branch before it, some comparison is the first that fails. The words are told where all rows of one of these ways hold, and then of one alone. *)
From dpverify Require Import prelude.
Local Open Scope nat_scope.

Section Ways.
(* A row holds at some values w of the noises, or what is its negation does. A state says which branches there are in the next step: of each the rows of
   its comparisons, what it tells, and the state after it. *)
Context (Row : Type) (W : Type) (holds : W -> Row -> bool) (negated : Row -> Row).
Hypothesis negates : forall w r, holds w (negated r) = ~~ holds w r.
Context (State : Type) (Word : eqType) (branches : State -> seq (seq Row * Word * State)).

(* What is told at w, by following the stream. *)
Fixpoint taken (w : W) (bs : seq (seq Row * Word * State)) : option (Word * State) :=
  if bs is (rows, word, after) :: rest then if all (holds w) rows then Some (word, after) else taken w rest else None.
Fixpoint tells (w : W) (words : seq Word) (st : State) : bool :=
  if words is word :: rest then if taken w (branches st) is Some (said, after) then (said == word) && tells w rest after else false else true.

(* The ways. *)
Fixpoint failing (rows : seq Row) : seq (seq Row) :=
  if rows is r :: rest then [:: negated r] :: [seq r :: f | f <- failing rest] else [::].
Fixpoint step_ways (word : Word) (next : State -> seq (seq Row)) (bs : seq (seq Row * Word * State)) : seq (seq Row) :=
  if bs is (rows, said, after) :: rest then
    (if said == word then [seq rows ++ more | more <- next after] else [::]) ++
    flatten [seq [seq f ++ more | more <- step_ways word next rest] | f <- failing rows]
  else [::].
Fixpoint ways (words : seq Word) (st : State) : seq (seq Row) :=
  if words is word :: rest then step_ways word (ways rest) (branches st) else [:: [::]].

Lemma count_joined w rows s : count (all (holds w)) [seq rows ++ more | more <- s] = all (holds w) rows * count (all (holds w)) s.
Proof.
rewrite count_map -sum1_count -sum1_count big_distrr /= big_mkcond [RHS]big_mkcond /=; apply: eq_bigr => more _.
by rewrite all_cat; case: (all _ rows) => //=; case: ifP.
Qed.

Lemma count_failing w rows : count (all (holds w)) (failing rows) = ~~ all (holds w) rows.
Proof.
elim: rows => //= r rest IH; rewrite andbT negates count_map.
by case h : (holds w r) => /=; rewrite -?IH; [apply: eq_count => f /=; rewrite h | rewrite (eq_count (a2 := pred0)) ?count_pred0// => f /=; rewrite h].
Qed.

Lemma count_step w word next bs :
  count (all (holds w)) (step_ways word next bs) = if taken w bs is Some (said, after) then (said == word) * count (all (holds w)) (next after) else 0.
Proof.
elim: bs => //= -[[rows said] after] rest IH; rewrite count_cat count_flatten -map_comp /=.
have -> : sumn [seq count (all (holds w)) [seq f ++ more | more <- step_ways word next rest] | f <- failing rows] =
    count (all (holds w)) (failing rows) * count (all (holds w)) (step_ways word next rest).
  by elim: (failing rows) => //= f s ->; rewrite count_joined mulnDl.
rewrite count_failing IH; case: (all (holds w) rows) (count_joined w rows (next after)) => h /=; rewrite ?mul0n ?mul1n ?addn0.
- by case: (said == word); rewrite ?h ?mul1n.
- by case: (said == word); rewrite ?h.
Qed.

(* Of the ways as many hold as words are told: one, or none. *)
Theorem ways_told w words st : count (all (holds w)) (ways words st) = tells w words st.
Proof.
elim: words st => //= word rest IH st; rewrite count_step; case: (taken w (branches st)) => // -[said after].
by rewrite IH mulnb.
Qed.
End Ways.
