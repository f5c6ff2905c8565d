(* Shuffled responses (docs/theory/composition.md, shuffling): what each of many people tells is a mixture of what the two records of the one tell, of
   which both sorts are equally likely for the others, and of a law of their own. A local mechanism with finitely many outputs. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic.

Section Clones.
Context (R : realType) (X : Type) (Y : finType) (p : X -> Y -> R) (one other : X) (rho share : R).
Hypotheses (p0 : forall x y, 0 <= p x y) (p1 : forall x, \sum_y p x y = 1).
Hypotheses (rho1 : 1 < rho) (near : forall y, p one y <= rho * p other y) (near' : forall y, p other y <= rho * p one y).
Hypotheses (share0 : 0 <= share) (share1 : share < 1) (clones : forall x y, share * ((p one y + p other y) / 2) <= p x y).

Definition truth : R := rho / (1 + rho).
Definition sort (b : bool) (y : Y) : R := ((if b then rho * p one y - p other y else rho * p other y - p one y) / (rho - 1)).
Definition rest (x : X) (y : Y) : R := (p x y - share * ((p one y + p other y) / 2)) / (1 - share).

Let r1 : 0 < rho - 1. Proof. by rewrite subr_gt0. Qed.
Let s1 : 0 < 1 - share. Proof. by rewrite subr_gt0. Qed.
Let r0 : 0 < 1 + rho. Proof. by have := rho1; lra. Qed.

(* The two sorts are laws, and so is what those tell who are no clones. *)
Lemma sort_law b : (forall y, 0 <= sort b y) /\ \sum_y sort b y = 1.
Proof.
split=> [y|]; first by apply: divr_ge0; [case: b; rewrite subr_ge0 | exact: ltW].
rewrite -mulr_suml; case: b; rewrite sumrB -mulr_sumr !p1 mulr1 divff// gt_eqF//.
Qed.

Lemma rest_law x : (forall y, 0 <= rest x y) /\ \sum_y rest x y = 1.
Proof.
split=> [y|]; first by apply: divr_ge0; [rewrite subr_ge0 | exact: ltW].
rewrite -mulr_suml sumrB -mulr_sumr -mulr_suml big_split/= !p1.
have -> : (1 + 1) / 2 = 1 :> R by lra.
by rewrite mulr1 divff// gt_eqF.
Qed.

(* The one tells the first sort with probability rho/(1 + rho) on the first record, and the second on the other. *)
Lemma one_is_a_mixture y : p one y = truth * sort true y + (1 - truth) * sort false y /\
  p other y = (1 - truth) * sort true y + truth * sort false y.
Proof.
have t : (1 + rho) * truth = rho by rewrite /truth mulrC divfK// gt_eqF.
have c b : (rho - 1) * sort b y = if b then rho * p one y - p other y else rho * p other y - p one y.
  by rewrite /sort mulrC divfK// gt_eqF.
have ct := c true; have cf := c false.
set st := sort true y in ct *; set sf := sort false y in cf *.
have k : 0 < (1 + rho) * (rho - 1) by exact: mulr_gt0.
split; apply: (mulfI (lt0r_neq0 k)).
- have -> : (1 + rho) * (rho - 1) * (truth * st + (1 - truth) * sf) =
    ((1 + rho) * truth) * ((rho - 1) * st) + (1 + rho - (1 + rho) * truth) * ((rho - 1) * sf) by lra.
  by rewrite t ct cf; lra.
- have -> : (1 + rho) * (rho - 1) * ((1 - truth) * st + truth * sf) =
    (1 + rho - (1 + rho) * truth) * ((rho - 1) * st) + ((1 + rho) * truth) * ((rho - 1) * sf) by lra.
  by rewrite t ct cf; lra.
Qed.

(* Of another person a coin decides whether they are a clone, and a fair one of which sort. *)
Definition chance (l : option bool) : R := if l is Some _ then share / 2 else 1 - share.
Definition tells (x : X) (l : option bool) : Y -> R := if l is Some b then sort b else rest x.

Lemma other_is_a_mixture x y : p x y = \sum_l chance l * tells x l y.
Proof.
rewrite (bigD1 None)//= (bigD1 (Some true))//= (bigD1 (Some false))//= big1 ?addr0; last by case=> [[]|].
rewrite /chance /tells/=.
have e : (1 - share) * rest x y = p x y - share * ((p one y + p other y) / 2) by rewrite /rest mulrC divfK// gt_eqF.
have c b : (rho - 1) * sort b y = if b then rho * p one y - p other y else rho * p other y - p one y.
  by rewrite /sort mulrC divfK// gt_eqF.
have s : sort true y + sort false y = p one y + p other y.
  by apply: (mulfI (lt0r_neq0 r1)); rewrite mulrDr !c; lra.
rewrite e; have -> : share / 2 * sort true y + share / 2 * sort false y = share / 2 * (sort true y + sort false y) by lra.
by rewrite s; lra.
Qed.

Lemma chances_add_up : \sum_l chance l = 1.
Proof. by rewrite (bigD1 None)//= (bigD1 (Some true))//= (bigD1 (Some false))//= big1 ?addr0 /chance; [lra | case=> [[]|]]. Qed.

(* What all n others tell is the mean, over who is a clone of which sort, of what is told then. *)
(* Rule: shuffling, upper, in part: what all people tell is a mixture over who is a clone, of which sort, on either record of the one; neither that
   the counts of both sorts are enough where the order is not seen, nor the curve of their pair. *)
Theorem all_are_mixtures (n : nat) (data : 'I_n -> X) (b : bool) (y : Y) (ys : 'I_n -> Y) :
  p (if b then one else other) y * \prod_i p (data i) (ys i) =
  \sum_(l : {ffun 'I_n -> option bool}) (\prod_i chance (l i)) *
    \sum_(c : bool) (if c == b then truth else 1 - truth) * (sort c y * \prod_i tells (data i) (l i) (ys i)).
Proof.
have -> : p (if b then one else other) y = \sum_(c : bool) (if c == b then truth else 1 - truth) * sort c y.
  by have [h h'] := one_is_a_mixture y; rewrite big_bool; case: b => /=; [exact: h | exact: h'].
have -> : \prod_i p (data i) (ys i) = \prod_i \sum_l chance l * tells (data i) l (ys i).
  by apply: eq_bigr => i _; exact: other_is_a_mixture.
rewrite bigA_distr_bigA/= mulr_sumr; apply: eq_bigr => l _; rewrite big_split/= !big_bool/=.
by lra.
Qed.
End Clones.

(* Of a mechanism with the pure epsilon log rho for every two records the hypotheses hold with the share 1/rho. *)
Lemma pure_share (R : realType) (rho a b c : R) : 1 < rho -> a <= rho * c -> b <= rho * c -> rho^-1 * ((a + b) / 2) <= c.
Proof.
move=> rho1 h h'; have r0 : 0 < rho by lra.
by rewrite ler_pdivr_mull//; lra.
Qed.
