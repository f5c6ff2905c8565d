(* Words that a stream tells, by following it (docs/theory/selection.md, told words): several lists of words, none of which goes on from another. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions independent word_chances told_words word_runs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

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
Context (Row : Type) dW (W : measurableType dW) (holds : W -> Row -> bool) (negated : Row -> Row).
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

(* The rows of a way by groups. *)
Context (G : finType) (group : Row -> G).
Definition group_holds st (i : 'I_(size (all_ways st))) (g : G) : set W :=
  [set w | all (holds w) [seq r <- nth [::] (all_ways st) i | group r == g]].

Lemma groups_hold st i w : (forall g, group_holds (st := st) i g w) <-> all (holds w) (nth [::] (all_ways st) i).
Proof.
rewrite /group_holds /=; split; elim: (nth _ _ _) => //= r s IH.
- move=> h; apply/andP; split; first by have := h (group r); rewrite eqxx /= => /andP[].
  by apply: IH => g; have := h g; case: ifP => //= _ /andP[].
- by move=> /andP[hr hs] g; case: ifP => /= _; rewrite ?hr; exact: IH.
Qed.

Theorem stream_told st : [set w | has (fun a => tells holds branches w a st) lists] = told_in (@group_holds st).
Proof.
apply/seteqP; split=> w; rewrite /told_in /=.
- by move=> /told_somewhere[i h]; exists i; apply/groups_hold.
- by move=> [i /groups_hold h]; apply/told_somewhere; exists i.
Qed.

Theorem stream_exclude st (i j : 'I_(size (all_ways st))) w :
  (forall g, group_holds i g w) -> (forall g, group_holds j g w) -> i = j.
Proof. by move=> /groups_hold hi /groups_hold hj; exact: all_ways_exclude hi hj. Qed.
End Several.

(* The same lists of words on two neighbours: the states st and st' are those at the start, with the answers of the one and of the other. *)
Section Told.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (x x' : X) (S : set Y).
Hypotheses (near : N x x') (mS : measurable S).

Context (Row : Type) (holds : W -> Row -> bool) (negated : Row -> Row).
Hypotheses (negates : forall w r, holds w (negated r) = ~~ holds w r) (mrow : forall r, measurable [set w | holds w r]).
Context (State : Type) (Word : eqType) (branches : State -> seq (seq Row * Word * State)) (st st' : State) (lists : seq (seq Word)).
Hypotheses (once : uniq lists) (other : forall a b, a \in lists -> b \in lists -> a != b -> take (size b) a != take (size a) b).
Hypothesis told : M x S = nu [set w | has (fun a => tells holds branches w a st) lists].
Hypothesis told' : M x' S = nu [set w | has (fun a => tells holds branches w a st') lists].

(* Groups of rows that share no noises, of each way with the answers of the one and of the other. *)
Context (G : finType) (group : Row -> G).
Notation way s := 'I_(size (all_ways negated branches lists s)).
Notation rows s := (@group_holds Row _ W holds negated State Word branches lists G group s).
Context (V : way st -> G -> pred nat) (V' : way st' -> G -> pred nat).
Hypotheses (own : forall i g, depends n Z (V i g) (rows st i g)) (own' : forall i g, depends n Z (V' i g) (rows st' i g)).
Hypothesis apart : forall i g g' j, g != g' -> V i g j -> ~~ V i g' j.
Hypothesis apart' : forall i g g' j, g != g' -> V' i g j -> ~~ V' i g' j.

Lemma measurable_rows s (i : way s) g : measurable (rows s i g).
Proof.
rewrite /group_holds; elim: [seq r <- _ | _] => [|r rs IH] /=.
  by rewrite (_ : [set _ | _] = setT); [exact: measurableT | apply/seteqP; split].
rewrite (_ : [set _ | _] = [set w | holds w r] `&` [set w | all (holds w) rs]); first exact: measurableI.
by apply/seteqP; split=> w /=; [move=> /andP[] | move=> [-> ->]].
Qed.

(* Cells, noises that make the rows sure or possible in them, and bounds on the probabilities of these. *)
Context (K : finType) (which : way st -> G -> nat -> R -> K) (which' : way st' -> G -> nat -> R -> K).
Hypothesis mwhich : forall i g j k, measurable (which i g j @^-1` [set k]).
Hypothesis mwhich' : forall i g j k, measurable (which' i g j @^-1` [set k]).
Notation cells := {ffun 'I_n -> K}.
Context (sure : way st -> G -> pred cells) (L : way st -> G -> cells -> 'I_n -> set R) (low : way st -> G -> cells -> 'I_n -> R).
Context (possible : way st' -> G -> pred cells) (U : way st' -> G -> cells -> 'I_n -> set R) (high : way st' -> G -> cells -> 'I_n -> R).
Hypotheses (mL : forall i g c j, measurable (L i g c j)) (mU : forall i g c j, measurable (U i g c j)).
Hypothesis surely : forall i g w, sure i g (cell_of n Z (which i g) w) ->
  (forall j : 'I_n, L i g (cell_of n Z (which i g) w) j (Z j w)) -> rows st i g w.
Hypothesis perhaps : forall i g w, rows st' i g w ->
  possible i g (cell_of n Z (which' i g) w) /\ forall j : 'I_n, U i g (cell_of n Z (which' i g) w) j (Z j w).
Hypothesis low0 : forall i g c j, 0 <= low i g c j.
Hypothesis lowL : forall i g (c : cells) (j : 'I_n), low i g c j <= fine (mu j (which i g j @^-1` [set c j] `&` L i g c j)).
Hypothesis highU : forall i g (c : cells) (j : 'I_n), fine (mu j (which' i g j @^-1` [set c j] `&` U i g c j)) <= high i g c j.

(* Sums over cells by their masses alone; the rule, with means over cells, is in told_words_rule.v. *)
Theorem stream_words :
  (forall v, 0 < least_told sure low -> 0 < most_told possible high -> v <= ln (least_told sure low / most_told possible high) ->
    (v%:E <= tight_epsilon_in_order N M 0)%E) /\
  (0 < least_told sure low -> most_told possible high = 0 -> tight_epsilon_in_order N M 0 = +oo%E).
Proof.
have shown : M x S = nu (told_in (rows st)) by rewrite told (stream_told negates branches lists group).
have shown' : M x' S = nu (told_in (rows st')) by rewrite told' (stream_told negates branches lists group).
have one := stream_exclude negates (branches := branches) once other (group := group) (st := st).
have one' := stream_exclude negates (branches := branches) once other (group := group) (st := st').
exact: (told_words noises near mS (@measurable_rows st) own (@measurable_rows st') own' apart apart' one one' shown shown'
  mwhich mwhich' mL mU surely perhaps low0 lowL highU).
Qed.
End Told.
