(* Samples and compositions of finite mechanisms (docs/theory/composition.md: finite losses): a Poisson sample makes w r + 1 - w of a ratio r of two
   probabilities, a composition multiplies ratios, and the curve is a sum over outputs, or the greatest over the choices of the next part. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood dominating table_laws adaptive_tables.

(* With the record among those that may be drawn the law is (1 - w) Q + w P, as poisson_curves has it. *)
Section Sample.
Context (R : realType) (Y : finType) d (Z : measurableType d) (pt : Y -> Z) (P Q S : {measure set Z -> \bar R}) (p q : Y -> R) (w : R).
Hypotheses (Pp : table_law pt P p) (Qq : table_law pt Q q).
Hypothesis drawn : forall A, measurable A -> (S A = (1 - w)%:E * Q A + w%:E * P A)%E.

Definition sampled_row y : R := (1 - w) * q y + w * p y.

Lemma sampled_law : table_law pt S sampled_row.
Proof.
move=> A mA; rewrite drawn// Pp// Qq// -!EFinM -EFinD !mulr_sumr -big_split/=; congr EFin.
by apply: eq_bigr => y _; rewrite /sampled_row mulrDl !mulrA.
Qed.

Lemma sampled_ratio y : q y != 0 -> sampled_row y / q y = w * (p y / q y) + (1 - w).
Proof. by move=> q0; rewrite /sampled_row mulrDl mulfK// addrC mulrA. Qed.

Lemma sampled_alone y : (p y = 0 -> sampled_row y = (1 - w) * q y) /\ (q y = 0 -> sampled_row y = w * p y).
Proof. by rewrite /sampled_row; split=> ->; rewrite mulr0 ?addr0 ?add0r. Qed.
End Sample.

Section Product.
Context (R : realType) (Y1 Y2 : finType) d1 (X : measurableType d1) d2 (Z : measurableType d2) (pt1 : Y1 -> X) (pt2 : Y2 -> Z).
Hypotheses (inj1 : injective pt1) (m1 : forall y, measurable [set pt1 y]) (inj2 : injective pt2) (m2 : forall y, measurable [set pt2 y]).
Variables (P1 Q1 : {measure set X -> \bar R}) (P2 Q2 : {measure set Z -> \bar R}) (p1 q1 : Y1 -> R) (p2 q2 : Y2 -> R).
Hypotheses (P11 : P1 setT = 1%E) (Q11 : Q1 setT = 1%E) (P21 : P2 setT = 1%E) (Q21 : Q2 setT = 1%E).
Hypotheses (p10 : forall y, 0 <= p1 y) (q10 : forall y, 0 <= q1 y) (p20 : forall y, 0 <= p2 y) (q20 : forall y, 0 <= q2 y).
Hypotheses (Pp1 : table_law pt1 P1 p1) (Qq1 : table_law pt1 Q1 q1) (Pp2 : table_law pt2 P2 p2) (Qq2 : table_law pt2 Q2 q2).

(* The sum over pairs of outputs, of probabilities that are multiplied. *)
Lemma product_sum a : 0 <= a ->
  profile a (product P11 P2) (product Q11 Q2) = \sum_y2 \sum_y1 Num.max 0 (p2 y2 * p1 y1 - a * (q2 y2 * q1 y1)).
Proof.
move=> a0; have L := density_likelihood P11 Q11 (table_has_density inj1 m1 p10 Pp1) (table_has_density inj1 m1 q10 Qq1).
rewrite (product_table_profile inj2 m2 P11 Q11 L P21 Q21 p20 q20 Pp2 Qq2 a0); apply: eq_bigr => y _.
rewrite /with_output; have [z|n] := eqVneq (p2 y) 0.
  rewrite big1// => x _; rewrite z mul0r sub0r max_l// oppr_le0 mulr_ge0// mulr_ge0//.
rewrite (table_profile inj1 m1 P11 Q11 Pp1 Qq1); last by rewrite divr_ge0// mulr_ge0.
rewrite mulr_sumr; apply: eq_bigr => x _; rewrite maxr_pmulr ?p20// mulr0; congr Num.max.
by rewrite mulrBr [p2 y * (_ / _ * _)]mulrA [p2 y * (_ / _)]mulrC divfK// mulrA.
Qed.

Lemma product_ratio y1 y2 : (p2 y2 * p1 y1) / (q2 y2 * q1 y1) = (p2 y2 / q2 y2) * (p1 y1 / q1 y1).
Proof. by rewrite mulrACA invfM. Qed.

(* Two parts with one pair of rows each, and more by repetition, exactly; parts with several pairs, from above. *)
(* Rule: finite-composition, in part: not that parts with one pair of rows may be taken first. *)
Theorem finite_losses :
  [/\ forall a, 0 <= a -> profile a (product P11 P2) (product Q11 Q2) = \sum_y2 \sum_y1 Num.max 0 (p2 y2 * p1 y1 - a * (q2 y2 * q1 y1)),
      forall y1 y2, (p2 y2 * p1 y1) / (q2 y2 * q1 y1) = (p2 y2 / q2 y2) * (p1 y1 / q1 y1),
      forall (w : R) (S : {measure set X -> \bar R}), (forall A, measurable A -> (S A = (1 - w)%:E * Q1 A + w%:E * P1 A)%E) ->
        table_law pt1 S (sampled_row p1 q1 w) /\ (forall y, q1 y != 0 -> sampled_row p1 q1 w y / q1 y = w * (p1 y / q1 y) + (1 - w)) &
      forall parts d (U : measurableType d) (P Q : {measure set U -> \bar R}) a, 0 <= a -> @transcript R Y1 parts d U P Q ->
        profile a P Q <= greatest (size parts) parts a].
Proof.
split=> [a|y1 y2|w S drawn|parts d U P Q a]; [exact: product_sum | exact: product_ratio | | exact: finite_composition].
by split=> [|y]; [exact: (sampled_law Pp1 Qq1 drawn) | exact: sampled_ratio].
Qed.
End Product.
