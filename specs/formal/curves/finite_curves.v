(* Curves of finite mechanisms (docs/theory/curves.md: finite curve; docs/theory/composition.md: single part, one-sided). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition groups joint_neighbours finite curves pairs likelihood dominating table_laws optimal_composition.

Section Tables.
Context (R : realType) (X : Type) (Y : finType) d (T : measurableType d) (M : mechanism R X T) (N : relation X) (pt : Y -> T) (p : X -> Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (p0 : forall x y, 0 <= p x y) (Mp : has_table M pt p).

Lemma rows_profile x x' a : 0 <= a -> profile a (M x) (M x') = \sum_y Num.max 0 (p x y - a * p x' y).
Proof. by move=> a0; apply: (table_profile pt_inj pt_measurable); rewrite ?law_total// => S mS; exact: Mp. Qed.

(* The curve of a table is the greatest of these sums over its pairs, which are of both orders; each is a bound from below. *)
(* That it is the curve of one pair of laws: finite_curve.v. *)
(* Finite tables; closed_profile has all cases. *)
Theorem finite_curve (eps : R) :
  privacy_curve_in_order N M eps = ereal_sup (0%E |` [set (\sum_y Num.max 0 (p c.1 y - expR eps * p c.2 y))%:E | c in [set c : X * X | N c.1 c.2]]) /\
  forall x x', N x x' -> ((\sum_y Num.max 0 (p x y - expR eps * p x' y))%:E <= tight_delta_in_order N M eps)%E.
Proof.
have E x x' : hockey_stick eps (M x) (M x') = (\sum_y Num.max 0 (p x y - expR eps * p x' y))%:E.
  rewrite -rows_profile ?expR_ge0//; have l := law_total M.
  have f : hockey_stick eps (M x) (M x') \is a fin_num.
    rewrite ge0_fin_numE ?hockey_stick_ge0//; apply: le_lt_trans (hockey_stick_le1 _ _ (l x)) _; exact: ltry.
  apply/eqP; rewrite eq_le; apply/andP; split.
  - by apply/close_hockey_stick => //; apply/close_profile.
  - rewrite -(fineK f) lee_fin; apply/close_profile => //; apply/close_hockey_stick => //; by rewrite fineK.
split=> [|x x' xx]; last by apply: curve_at_least xx _; rewrite rows_profile// expR_ge0.
rewrite /privacy_curve_in_order; congr (ereal_sup (_ `|` _)); apply/seteqP; split=> _ [c cc <-]; exists c => //; by rewrite E.
Qed.

(* Deltas of a table in one order are met. *)
(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: the tight delta of a table in one order. *)
(* Rule: one-sided, lower. *)
Theorem table_delta_one_order (eps : R) :
  tight_delta_in_order N M eps = ereal_sup (0%E |` [set (\sum_y Num.max 0 (p c.1 y - expR eps * p c.2 y))%:E | c in [set c : X * X | N c.1 c.2]]).
Proof. by rewrite tight_delta_in_order_curve; have [-> _] := finite_curve eps. Qed.
End Tables.

(* -- One adversary, many finite parts -- *)

Section Adaptive.
Context (R : realType).

(* One table (p, q) first; what follows an output y has a curve of at most F, whatever y is. *)
Lemma first_table_bound (Y : finType) d (Z : measurableType d) (pt : Y -> Z) d' (U : measurableType d') (P Q : {measure set Z -> \bar R})
    (k k' : Z -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k') (p q : Y -> R) (F : Y -> R -> R) a :
  injective pt -> (forall y, measurable [set pt y]) -> P setT = 1%E -> Q setT = 1%E -> table_law pt P p -> table_law pt Q q ->
  (forall y, 0 <= p y) -> (forall y, 0 <= q y) -> 0 <= a ->
  (forall y b, 0 <= b -> profile b (k (pt y)) (k' (pt y)) <= F y b) ->
  profile a [the measure _ _ of joint mk P] [the measure _ _ of joint mk' Q] <= \sum_y with_output (F y) a (p y) (q y).
Proof.
move=> inj mpt P1 Q1 Pp Qq p0 q0 a0 dom; apply: profile_le => A mA.
have E (W : {measure set Z -> \bar R}) (l : Z -> {measure set U -> \bar R}) (ml : markov l) r : W setT = 1%E -> table_law pt W r -> (forall y, 0 <= r y) ->
    fine (joint ml W A) = \sum_y r y * fine (l (pt y) (xsection A (pt y))).
  move=> W1 Wr r0; apply/EFin_inj; rewrite fineK; last by apply: (@mass_fin _ _ _ [the measure _ _ of joint ml W]) => //; exact: joint_total.
  rewrite -(integral_table (f := fun z => fine (l z (xsection A z))) inj mpt r0 Wr).
  - by apply: eq_integral => z _; rewrite fineK//; apply: mass_fin; [exact: ml.1 | exact: measurable_xsection].
  - by apply: measurable_fun_comp => //; [exact: measurable_fun_fine | exact: markov_sections].
  - by move=> z; rewrite fine_ge0// measure_ge0.
rewrite /= (E P k mk p)// (E Q k' mk' q)// mulr_sumr -sumrB; apply: ler_sum => y _.
have mS : measurable (xsection A (pt y)) by exact: measurable_xsection.
rewrite /with_output; have [->|x0] := eqVneq (p y) 0.
  by rewrite mul0r sub0r oppr_le0 mulr_ge0// mulr_ge0//; case/andP: (fine01 (mk'.1 (pt y)) mS).
have b0 : 0 <= a * q y / p y by rewrite divr_ge0// mulr_ge0.
have -> : p y * fine (k (pt y) (xsection A (pt y))) - a * (q y * fine (k' (pt y) (xsection A (pt y)))) =
          p y * (fine (k (pt y) (xsection A (pt y))) - a * q y / p y * fine (k' (pt y) (xsection A (pt y)))).
  by rewrite mulrBr; congr (_ - _); rewrite [RHS]mulrA [p y * (_ / _)]mulrC divfK// mulrA.
apply: ler_wpmul2l => //; apply: le_trans (dom y _ b0); apply: profile_event => //; [exact: mk.1 | exact: mk'.1].
Qed.
End Adaptive.
