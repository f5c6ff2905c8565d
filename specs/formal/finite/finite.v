(* Finite tables and k-ary randomized response (docs/theory/finite.md): the tight epsilon is the greatest log-ratio in a column. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups joint_neighbours.
Local Open Scope ereal_scope.

(* M gives the output pt y with probability p x y, and the outputs pt y are distinguished by events. *)
Section Tables.
Context (R : realType) (X : Type) (Y : finType) d (T : measurableType d).
Variables (M : mechanism R X T) (N : relation X) (pt : Y -> T) (p : X -> Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Hypothesis p0 : forall x y, (0 <= p x y)%R.

Definition has_table := forall x S, measurable S -> M x S = (\sum_y p x y * \1_S (pt y))%:E.
Hypothesis Mp : has_table.

Lemma table_point x y : M x [set pt y] = (p x y)%:E.
Proof.
rewrite Mp// (bigD1 y)//= indicE mem_set// mulr1 big1 ?addr0// => z zy.
by rewrite indicE memNset ?mulr0//= => /pt_inj zy'; rewrite zy' eqxx in zy.
Qed.

Lemma table_close e x x' : close e 0 (M x) (M x') <-> forall y, (p x y <= expR e * p x' y)%R.
Proof.
split=> [H y | H S mS].
- by have := H _ (pt_measurable y); rewrite !table_point adde0 -EFinM lee_fin.
- rewrite !Mp// adde0 -EFinM lee_fin mulr_sumr; apply: ler_sum => y _.
  by rewrite mulrA; apply: ler_wpmul2r => //; rewrite indicE ler0n.
Qed.

(* The log-ratio of two probabilities: infinite where a zero faces a number, and nothing where it faces a zero. *)
Definition log_ratio (a b : R) : \bar R := if (a == 0)%R then -oo else if (b == 0)%R then +oo else (ln (a / b))%:E.

Lemma log_ratioP (a b e : R) : (0 <= a)%R -> (0 <= b)%R -> log_ratio a b <= e%:E <-> (a <= expR e * b)%R.
Proof.
move=> a0 b0; rewrite /log_ratio; have [->|a1] := eqVneq a 0%R.
  by split=> _; rewrite ?leNye// mulr_ge0// expR_ge0.
have {a1} {}a0 : (0 < a)%R by rewrite lt_neqAle eq_sym a1.
have [->|b1] := eqVneq b 0%R.
  by rewrite mulr0 leye_eq; split=> // h; move: (lt_le_trans a0 h); rewrite ltxx.
have {b1} {}b0 : (0 < b)%R by rewrite lt_neqAle eq_sym b1.
rewrite lee_fin; suff -> : (ln (a / b) <= e)%R = (a <= expR e * b)%R by [].
by rewrite -ler_expR lnK ?posrE ?divr_gt0// ler_pdivr_mulr.
Qed.

Theorem table_pure eps : pure_dp N M eps <-> forall x x', both N x x' -> forall y, (p x y <= expR eps * p x' y)%R.
Proof. by split=> [H x x' xx | H x x' xx]; apply/table_close; apply: H. Qed.

Lemma table_tight_in_order (L : relation X) :
  tight_epsilon_in_order L M 0 =
  ereal_sup (0 |` [set log_ratio (p c.1.1 c.2) (p c.1.2 c.2) | c in [set c : X * X * Y | L c.1.1 c.1.2]]).
Proof.
apply: equal_by_bounds.
- by apply: lb_ereal_inf => _ [e [e0 _] <-]; rewrite lee_fin.
- by apply: ereal_sup_ub; left.
move=> e e0; rewrite -dp_in_order_tight//; split=> [H | H x x' xx].
- apply: ub_ereal_sup => _ [-> | [[[x x'] y] /= xx <-]]; first by rewrite lee_fin.
  by apply/log_ratioP => //; move: y; apply/table_close; exact: H.
- apply/table_close => y; apply/log_ratioP => //; apply: le_trans H; apply: ereal_sup_ub; right.
  by exists (x, x', y).
Qed.

(* The tight epsilon is the greatest log-ratio in a column over adjacent rows, in both orders. *)
(* Rule: finite-table. *)
Theorem finite_table :
  tight_epsilon N M 0 =
  ereal_sup (0 |` [set log_ratio (p c.1.1 c.2) (p c.1.2 c.2) | c in [set c : X * X * Y | both N c.1.1 c.1.2]]).
Proof. exact: table_tight_in_order. Qed.

(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather:
   the pure epsilon of a table whose pairs are listed with the record first. *)
(* Rule: one-sided, lower. *)
Theorem finite_table_one_order :
  tight_epsilon_in_order N M 0 =
  ereal_sup (0 |` [set log_ratio (p c.1.1 c.2) (p c.1.2 c.2) | c in [set c : X * X * Y | N c.1.1 c.1.2]]).
Proof. exact: table_tight_in_order. Qed.

(* As the rule uses it: what every cell is at most is an upper bound; a single cell is a lower bound; a zero that faces a number is infinite. *)
(* Rule: finite-table, upper. *)
Theorem finite_table_upper (v : R) : (0 <= v)%R ->
  (forall x x' y, both N x x' -> (0 < p x y)%R -> (0 < p x' y)%R /\ (ln (p x y / p x' y) <= v)%R) -> tight_epsilon N M 0 <= v%:E.
Proof.
move=> v0 H; apply/dp_tight => // x x' xx; apply/table_close => y.
have [p_gt0|p_le0] := ltP 0%R (p x y); last by rewrite (le_trans p_le0)// mulr_ge0// expR_ge0.
have [q_gt0 h] := H x x' y xx p_gt0.
by rewrite -ler_pdivr_mulr// -[leLHS]lnK ?posrE ?divr_gt0// ler_expR.
Qed.

(* Rule: finite-table, lower. *)
Theorem finite_table_lower x x' y : both N x x' -> (0 < p x y)%R -> (0 < p x' y)%R ->
  (ln (p x y / p x' y))%:E <= tight_epsilon N M 0.
Proof.
move=> xx p_gt0 q_gt0; rewrite finite_table; apply: ereal_sup_ub; right; exists (x, x', y) => //.
by rewrite /log_ratio !gt_eqF.
Qed.

(* Rule: finite-table, lower. *)
Theorem finite_table_zero x x' y : both N x x' -> (0 < p x y)%R -> p x' y = 0%R -> tight_epsilon N M 0 = +oo.
Proof.
move=> xx p_gt0 q_0; apply/eqP; rewrite -leye_eq finite_table; apply: ereal_sup_ub; right; exists (x, x', y) => //.
by rewrite /log_ratio gt_eqF// q_0 eqxx.
Qed.

(* The metric form, epsilon times the distance of x and x', at a positive distance; the tight epsilon of it is in finite_metric. *)
Theorem finite_table_metric (dist : X -> X -> R) eps : (forall x x', both N x x' -> (0 < dist x x')%R) ->
  (forall x x', both N x x' -> close (eps * dist x x') 0 (M x) (M x')) <->
  forall x x' y, both N x x' -> (0 < p x y)%R -> (0 < p x' y)%R /\ (ln (p x y / p x' y) / dist x x' <= eps)%R.
Proof.
move=> D; split=> [H x x' y xx p_gt0 | H x x' xx].
- have /table_close/(_ y) h := H x x' xx.
  have q_gt0 : (0 < p x' y)%R.
    by rewrite lt_neqAle p0 andbT eq_sym; apply: contraTneq h => ->; rewrite mulr0 -ltNge.
  by split=> //; rewrite ler_pdivr_mulr ?D// -ler_expR lnK ?posrE ?divr_gt0// ler_pdivr_mulr.
- apply/table_close => y.
  have [p_gt0|p_le0] := ltP 0%R (p x y); last by rewrite (le_trans p_le0)// mulr_ge0// expR_ge0.
  have [q_gt0] := H x x' y xx p_gt0; rewrite ler_pdivr_mulr ?D// => h.
  by rewrite -ler_pdivr_mulr// -[leLHS]lnK ?posrE ?divr_gt0// ler_expR.
Qed.
End Tables.
