(* Adaptive composition of finite mechanisms (docs/theory/composition.md, finite composition): whoever chooses the next part and its pair of rows
   after the outputs so far gains at most F(a), the greatest sum over parts and pairs of p F(a q/p), F on the right that of the parts then left. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition curves pairs table_laws gaussian_curve finite_curves.

Section Adversary.
Context (R : realType) (Y : finType).

(* A part is the list of its pairs of rows, of both orders. *)
Definition rows := ((Y -> R) * (Y -> R))%type.
Definition no_rows : rows := (fun=> 0, fun=> 0).
Definition without (parts : seq (seq rows)) (i : nat) := take i parts ++ drop i.+1 parts.

(* What is gained with n more parts. *)
Fixpoint greatest (n : nat) (parts : seq (seq rows)) (a : R) : R :=
  if n is n'.+1 then
    \big[Num.max/Num.max 0 (1 - a)]_(i < size parts) \big[Num.max/Num.max 0 (1 - a)]_(j < size (nth [::] parts i))
      \sum_y with_output (greatest n' (without parts i)) a ((nth no_rows (nth [::] parts i) j).1 y) ((nth no_rows (nth [::] parts i) j).2 y)
  else Num.max 0 (1 - a).

(* The laws of a transcript: the part i is chosen, with the pair j of its rows, and what follows depends on its output. *)
Inductive transcript : seq (seq rows) -> forall d (U : measurableType d), {measure set U -> \bar R} -> {measure set U -> \bar R} -> Prop :=
| Ends parts d (U : measurableType d) (P Q : {measure set U -> \bar R}) :
    P setT = 1%E -> Q setT = 1%E -> (forall S, measurable S -> P S = Q S) -> transcript parts P Q
| Goes_on parts (i j : nat) d (Z : measurableType d) (pt : Y -> Z) (P Q : {measure set Z -> \bar R}) d' (U : measurableType d')
    (k k' : Z -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k') :
    (i < size parts)%N -> (j < size (nth [::] parts i))%N -> injective pt -> (forall y, measurable [set pt y]) ->
    P setT = 1%E -> Q setT = 1%E ->
    table_law pt P (nth no_rows (nth [::] parts i) j).1 -> table_law pt Q (nth no_rows (nth [::] parts i) j).2 ->
    (forall y, 0 <= (nth no_rows (nth [::] parts i) j).1 y) -> (forall y, 0 <= (nth no_rows (nth [::] parts i) j).2 y) ->
    (forall y, transcript (without parts i) (k (pt y)) (k' (pt y))) ->
    transcript parts [the measure _ _ of joint mk P] [the measure _ _ of joint mk' Q].

Lemma greatest_least n parts a : Num.max 0 (1 - a) <= greatest n parts a.
Proof.
by case: n => [|n] //=; elim/big_ind: _ => // [x y hx hy | i _]; [rewrite le_maxr hx | elim/big_rec: _ => // j x _ hx; rewrite le_maxr hx orbT].
Qed.

(* Rule: finite-composition, upper, in part: not that parts with one pair of rows may be taken first, nor the product of one pair of each from below. *)
Theorem finite_composition parts d (U : measurableType d) (P Q : {measure set U -> \bar R}) a : 0 <= a -> transcript parts P Q ->
  profile a P Q <= greatest (size parts) parts a.
Proof.
move=> a0 t; elim: t a a0 => {parts d U P Q} [parts d U P Q P1 Q1 PQ a a0 | parts i j d Z pt P Q d' U k k' mk mk' iS jS inj mpt P1 Q1 Pp Qq p0 q0 _ IH a a0].
  by apply: le_trans (greatest_least _ _ _); rewrite (same_laws_curve P1 Q1 a0 PQ).
have [n nE] : exists n, size parts = n.+1 by move: iS; case: (size parts) => // n _; exists n.
have sz : size (without parts i) = n.
  by rewrite /without size_cat size_take size_drop iS nE subSS subnKC// -ltnS -nE.
apply: (le_trans (first_table_bound (F := fun _ => greatest n (without parts i)) mk mk' inj mpt P1 Q1 Pp Qq p0 q0 a0 _)).
  by move=> y b b0; have := IH y b b0; rewrite sz.
rewrite nE /=; pose I := Ordinal iS; pose J := Ordinal jS.
have := @le_bigmax _ _ _ (Num.max 0 (1 - a)) (fun i : 'I_(size parts) => \big[Num.max/Num.max 0 (1 - a)]_(j < size (nth [::] parts i))
      \sum_y with_output (greatest n (without parts i)) a ((nth no_rows (nth [::] parts i) j).1 y) ((nth no_rows (nth [::] parts i) j).2 y)) I.
apply: le_trans.
exact: (@le_bigmax _ _ _ (Num.max 0 (1 - a)) (fun j : 'I_(size (nth [::] parts i)) =>
      \sum_y with_output (greatest n (without parts i)) a ((nth no_rows (nth [::] parts i) j).1 y) ((nth no_rows (nth [::] parts i) j).2 y)) J).
Qed.
End Adversary.
