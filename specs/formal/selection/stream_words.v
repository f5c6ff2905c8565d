(* Words that a stream tells, by following it (docs/theory/selection.md, told words): several lists of words, none of which goes on from another. *)
From dpverify Require Import prelude.
From dpverify Require Import word_runs.
Local Open Scope nat_scope.

(* Of a list at most one entry holds: it holds at one place alone. *)
Lemma one_place (T : Type) (p : pred T) (t : T) (s : seq T) (i j : nat) : (count p s <= 1)%N -> (i < size s)%N -> (j < size s)%N ->
  p (nth t s i) -> p (nth t s j) -> i = j.
Proof.
elim: s i j => // y s IH [|i] [|j] //= c i_s j_s hi hj.
- by move: c; rewrite hi add1n ltnS leqn0 -leqn0 leqNgt -has_count => /negP[]; apply/(has_nthP t); exists j.
- by move: c; rewrite hj add1n ltnS leqn0 -leqn0 leqNgt -has_count => /negP[]; apply/(has_nthP t); exists i.
- by congr S; apply: IH => //; apply: leq_trans c; exact: leq_addl.
Qed.

Section Several.
Context (Row W : Type) (holds : W -> Row -> bool) (negated : Row -> Row).
Hypothesis negates : forall w r, holds w (negated r) = ~~ holds w r.
Context (State : Type) (Word : eqType) (branches : State -> seq (seq Row * Word * State)).

Lemma tells_one w a b st : tells holds branches w a st -> tells holds branches w b st -> take (size b) a = take (size a) b.
Proof.
elim: a b st => [|a0 a IH] [|b0 b] st //=; case: (taken holds w (branches st)) => // -[said after] /andP[/eqP<- ha] /andP[/eqP<- hb].
by congr cons; exact: IH ha hb.
Qed.

Context (lists : seq (seq Word)).
Hypotheses (once : uniq lists) (other : forall a b, a \in lists -> b \in lists -> a != b -> take (size b) a != take (size a) b).
Definition all_ways st := flatten [seq ways negated branches a st | a <- lists].

Lemma count_all_ways w st : count (all (holds w)) (all_ways st) = count (fun a => tells holds branches w a st) lists.
Proof.
rewrite /all_ways; elim: lists => //= a s IH; by rewrite count_cat IH (ways_told negates).
Qed.

Lemma at_most_one w st : (count (all (holds w)) (all_ways st) <= 1)%N.
Proof.
rewrite count_all_ways; elim: lists once other => //= a s IH /andP[as_ us] ne.
have IHs : (count (fun a => tells holds branches w a st) s <= 1)%N.
  by apply: IH => // b c bs cs; apply: ne; rewrite inE ?bs ?cs orbT.
case ta : (tells holds branches w a st) => //=; rewrite (eq_in_count (a2 := pred0)) ?count_pred0// => b bs.
apply/negP => tb; have ab : a != b by apply: contraNneq as_ => ->.
have := ne a b; rewrite !inE eqxx bs orbT => /(_ isT isT ab); by rewrite (tells_one ta tb) eqxx.
Qed.

Lemma told_somewhere w st : has (fun a => tells holds branches w a st) lists <->
  exists i : 'I_(size (all_ways st)), all (holds w) (nth [::] (all_ways st) i).
Proof.
rewrite has_count -count_all_ways -has_count; split=> [/(has_nthP [::])[i lt h]|[i h]]; first by exists (Ordinal lt).
by apply/(has_nthP [::]); exists (i : nat).
Qed.

Lemma all_ways_exclude w st (i j : 'I_(size (all_ways st))) :
  all (holds w) (nth [::] (all_ways st) i) -> all (holds w) (nth [::] (all_ways st) j) -> i = j.
Proof. by move=> hi hj; apply: val_inj; exact: (one_place (at_most_one w st) _ _ hi hj). Qed.
End Several.
