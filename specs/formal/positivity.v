(* Polynomial inequalities with certificates (docs/theory/densities.md, positivstellensatz): a bound that another rule proves is below a value, where a
   multiple of their difference is a sum of weights, squares and constraints that hold on the domains of the parameters. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure exp.
From dpverify Require Import definitions arithmetic.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Cone.
Context (R : realType) (E : Type) (constraints : seq (E -> R)).

(* A term: a weight of at least 0, a number that is squared, and constraints that are multiplied. *)
Record term := Term { weight : R; base : E -> R; factors : seq (E -> R) }.
Definition holds_at (e : E) := forall c, List.In c constraints -> 0 <= c e.
Definition legal (t : term) := 0 <= weight t /\ forall c, List.In c (factors t) -> List.In c constraints.
Definition term_value (t : term) e := weight t * base t e ^+ 2 * \prod_(c <- factors t) c e.
Definition in_cone (f : E -> R) := exists ts : seq term, (forall t, List.In t ts -> legal t) /\ forall e, f e = \sum_(t <- ts) term_value t e.

Lemma cone_ge0 f e : in_cone f -> holds_at e -> 0 <= f e.
Proof.
move=> [ts [good ->]] he; elim: ts good => [|t ts IH] good; first by rewrite big_nil.
rewrite big_cons addr_ge0 ?IH//; last by move=> t' h; apply: good; right.
have [w0 sub] := good t (or_introl erefl); apply: mulr_ge0; first by rewrite mulr_ge0 ?sqr_ge0.
move: (factors t) sub; elim=> [|c cs IHc] sub; first by rewrite big_nil ler01.
by rewrite big_cons mulr_ge0 ?IHc//; [apply: he; apply: sub; left | move=> c' h; apply: sub; right].
Qed.

(* P is the numerator of V - U over the positive denominator Q; neighbours are in one order, or in both. *)
(* Rule: positivstellensatz, upper. *)
Theorem positivstellensatz_rule (X : E -> Type) (N : forall e, relation (X e)) (d : E -> measure_display) (Y : forall e, measurableType (d e))
    (M : forall e, mechanism R (X e) (Y e)) (delta : E -> R) (U V P Q S T : E -> R) :
  (forall e, holds_at e -> dp_in_order (@N e) (M e) (U e) (delta e)) -> (forall e, holds_at e -> 0 < Q e /\ (V e - U e) * Q e = P e) ->
  in_cone (fun e => S e - 1) -> in_cone T -> (forall e, S e * P e = T e) -> forall e, holds_at e -> dp_in_order (@N e) (M e) (V e) (delta e).
Proof.
move=> premise numerator cs ct same e he; have [Q0 PE] := numerator e he.
apply: dp_in_order_monotone (premise e he) => //; have s1 := cone_ge0 cs he.
have S0 : 0 < S e by lra.
by rewrite -subr_ge0 -(pmulr_lge0 _ Q0) PE -(pmulr_rge0 _ S0) same; exact: cone_ge0 ct he.
Qed.
End Cone.
