(* Laws on finitely many outputs (docs/theory/curves.md, finite curve): the curve of two rows of a table is the sum of (p - a q)_+, and what a
   finite part adds to a curve. *)
From dpverify Require Import prelude.
From mathcomp.classical Require Import cardinality.
From dpverify Require Import definitions density arithmetic kernels composition groups joint_neighbours finite curves pairs likelihood dominating.
Local Open Scope ereal_scope.

Section Tables.
Context (R : realType) (Y : finType) d (Z : measurableType d) (pt : Y -> Z).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Implicit Types (p q : Y -> R) (P Q : {measure set Z -> \bar R}).

(* P gives the output pt y with probability p y. *)
Definition table_law P p := forall S, measurable S -> P S = (\sum_y p y * \1_S (pt y))%:E.

(* A law with given probabilities. *)
Definition point_mass p (n : nat) : {measure set Z -> \bar R} :=
  [the measure _ _ of mscale (NngNum (normr_ge0 (nth 0%R (codom p) n)))
    [the measure _ _ of dirac (nth point (codom pt) n)]].
Definition law_of_table p : {measure set Z -> \bar R} := [the measure _ _ of msum (point_mass p) #|Y|].

Lemma sum_points (F : R -> Z -> \bar R) p :
  \sum_(n < #|Y|) F (nth 0%R (codom p) n) (nth point (codom pt) n) = \sum_y F (p y) (pt y).
Proof.
rewrite (reindex (fun k : 'I_#|Y| => enum_val k)); last by exists enum_rank => i _; [exact: enum_valK | exact: enum_rankK].
by apply: eq_bigr => n _; rewrite !nth_codom.
Qed.

Lemma law_of_tableE p : (forall y, (0 <= p y)%R) -> table_law (law_of_table p) p.
Proof.
move=> p0 S mS; transitivity (\sum_y ((`|p y|)%:E * (\1_S (pt y))%:E)).
  by rewrite -(sum_points (fun a z => (`|a|)%:E * (\1_S z)%:E)); apply: eq_bigr => n _; rewrite /point_mass/= /mscale/= /dirac.
by rewrite -sumEFin; apply: eq_bigr => y _; rewrite ger0_norm// -EFinM.
Qed.

(* Every law with a table has a density with respect to the counting measure of the points. *)
Definition points : {measure set Z -> \bar R} := law_of_table (fun=> 1%R).
Definition table_density p (z : Z) : R := (\sum_y p y * \1_[set pt y] z)%R.

Lemma table_density_pt p y : table_density p (pt y) = p y.
Proof.
rewrite /table_density (bigD1 y)//= indicE mem_set// mulr1 big1 ?addr0// => z zy.
by rewrite indicE memNset ?mulr0//= => /pt_inj zy'; rewrite zy' eqxx in zy.
Qed.

Lemma integral_points (f : Z -> \bar R) : measurable_fun setT f -> (forall z, 0 <= f z) -> \int[points]_z f z = \sum_y f (pt y).
Proof.
move=> mf f0; rewrite ge0_integral_measure_sum//.
transitivity (\sum_y (`|1 : R|)%:E * f (pt y)); last by apply: eq_bigr => y _; rewrite normr1 mul1e.
rewrite -(sum_points (fun a z => (`|a|)%:E * f z)); apply: eq_bigr => n _.
rewrite ge0_integral_mscale//= integral_dirac// indicE in_setT mul1e; congr (_ * _).
Qed.

Lemma measurable_table_density p : measurable_fun setT (table_density p).
Proof.
apply/EFin_measurable_fun; rewrite (_ : EFin \o _ = (fun z => \sum_(y <- index_enum _) (p y * \1_[set pt y] z)%:E)); last first.
  by apply/funext => z; rewrite /= sumEFin.
by apply: emeasurable_fun_sum => y; apply/EFin_measurable_fun; apply: measurable_scaled; exact: measurable_fun_indic.
Qed.

Lemma table_has_density P p : (forall y, (0 <= p y)%R) -> table_law P p -> has_density points P (table_density p).
Proof.
move=> p0 Pp; split; [by move=> z; apply: sumr_ge0 => y _; rewrite mulr_ge0|exact: measurable_table_density|].
move=> S mS; rewrite Pp// integral_mkcond integral_points.
- by rewrite -sumEFin; apply: eq_bigr => y _; rewrite /patch indicE; case: ifP => _; rewrite ?table_density_pt ?mulr1 ?mulr0.
- apply/(measurable_restrict _ mS measurableT (@subsetT _ S)).
  by apply: measurable_funTS; apply/EFin_measurable_fun; exact: measurable_table_density.
- by move=> z; rewrite /patch; case: ifP => // _; rewrite lee_fin; apply: sumr_ge0 => y _; rewrite mulr_ge0.
Qed.

Lemma measurable_some (J : pred Y) : measurable [set z | exists2 y, J y & z = pt y].
Proof.
rewrite (_ : [set _ | _] = \big[setU/set0]_(y | J y) [set pt y]); first exact: bigsetU_measurable.
apply/seteqP; split=> [z [y Jy ->] | z]; first by rewrite (bigD1 y)//=; left.
by elim/big_ind: _ => // [A B hA hB [|] //| y Jy /= ->]; exists y.
Qed.

Lemma table_event P p S : table_law P p -> measurable S -> fine (P S) = (\sum_y p y * \1_S (pt y))%R.
Proof. by move=> Pp mS; rewrite Pp. Qed.

Lemma indic_some (J : pred Y) y : \1_[set z | exists2 y, J y & z = pt y] (pt y) = ((J y)%:R : R).
Proof.
rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite inE; first by move=> /= [y' Jy' /pt_inj ->].
by move=> Jy; exists y.
Qed.

(* The curve of two rows. *)
Theorem table_profile P Q p q (a : R) : P setT = 1 -> Q setT = 1 -> table_law P p -> table_law Q q -> (0 <= a)%R ->
  profile a P Q = (\sum_y Num.max 0 (p y - a * q y))%R.
Proof.
move=> P1 Q1 Pp Qq a0; apply/eqP; rewrite eq_le; apply/andP; split.
- apply: profile_le => S mS; rewrite (table_event Pp mS) (table_event Qq mS) mulr_sumr -sumrB; apply: ler_sum => y _.
  rewrite mulrA -mulrBl le_maxr indicE; case: (_ \in _); rewrite ?mulr1 ?mulr0 ?lexx ?orbT//.
- pose J y := (a * q y < p y)%R; have mJ := measurable_some J.
  apply: le_trans (profile_event P1 Q1 a0 mJ); rewrite (table_event Pp mJ) (table_event Qq mJ) mulr_sumr -sumrB.
  apply: ler_sum => y _; rewrite indic_some /J; case: (ltP (a * q y)%R (p y)) => h; rewrite ?mulr1 ?mulr0 ?subr0.
    by rewrite max_r// subr_ge0 ltW.
  by rewrite max_l// subr_le0.
Qed.
End Tables.

(* -- What a finite part adds -- *)

Section OneMore.
Context (R : realType) (Y : finType) d (Z : measurableType d) (pt : Y -> Z) d1 (X : measurableType d1).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Variables (P1 Q1 : {measure set X -> \bar R}) (P11 : P1 setT = 1) (Q11 : Q1 setT = 1) (p1 q1 : X -> R) (L1 : likelihood P1 Q1 p1 q1).
Variables (P2 Q2 : {measure set Z -> \bar R}) (P21 : P2 setT = 1) (Q21 : Q2 setT = 1) (p q : Y -> R).
Hypotheses (p0 : forall y, (0 <= p y)%R) (q0 : forall y, (0 <= q y)%R) (Pp : table_law pt P2 p) (Qq : table_law pt Q2 q).

(* A curve F, and one more output y. *)
Definition with_output (F : R -> R) (a x y : R) : R := if x == 0%R then 0%R else (x * F (a * y / x))%R.

Lemma integral_table (V : {measure set Z -> \bar R}) r (f : Z -> R) : (forall y, (0 <= r y)%R) -> table_law pt V r ->
  measurable_fun setT f -> (forall z, 0 <= f z)%R -> \int[V]_z (f z)%:E = (\sum_y r y * f (pt y))%:E.
Proof.
move=> r0 Vr mf f0; have mfE : measurable_fun setT (EFin \o f) by exact/EFin_measurable_fun.
have mr : measurable_fun setT (EFin \o table_density pt r) by apply/EFin_measurable_fun; exact: measurable_table_density.
have d0 z : (0 <= table_density pt r z)%R by apply: sumr_ge0 => y _; rewrite mulr_ge0.
rewrite (integral_density (table_has_density pt_inj pt_measurable r0 Vr))// (integral_points pt).
- by rewrite -sumEFin; apply: eq_bigr => y _; rewrite table_density_pt.
- exact: emeasurable_funM.
- by move=> z; rewrite mule_ge0 ?lee_fin.
Qed.

Lemma product_table (W : {measure set X -> \bar R}) (W1 : W setT = 1) (V : {measure set Z -> \bar R}) r (A : set (Z * X)%type) :
  (forall y, (0 <= r y)%R) -> V setT = 1 -> table_law pt V r -> measurable A ->
  fine (product W1 V A) = (\sum_y r y * fine (W (xsection A (pt y))))%R.
Proof.
move=> r0 V1 Vr mA; apply/EFin_inj; rewrite fineK; last by apply: mass_fin => //; exact: joint_total.
rewrite -(integral_table (f := fun z => fine (W (xsection A z))) r0 Vr).
- by apply: eq_integral => z _; rewrite fineK//; apply: mass_fin => //; exact: measurable_xsection.
- exact: measurable_slice.
- by move=> z; case/andP: (slice01 z W1 mA).
Qed.

(* Rule: finite-composition, in part: parts with one pair of rows each; not the ratios of a sample, nor several pairs. *)
Theorem product_table_profile (a : R) : (0 <= a)%R ->
  profile a (product P11 P2) (product Q11 Q2) = (\sum_y with_output (fun b => profile b P1 Q1) a (p y) (q y))%R.
Proof.
move=> a0; have PP : product P11 P2 setT = 1 by exact: joint_total.
have QQ : product Q11 Q2 setT = 1 by exact: joint_total.
have arg x y : (0 <= x)%R -> (0 <= y)%R -> (0 <= a * y / x)%R by move=> x0 y0; rewrite divr_ge0// mulr_ge0.
have E x y u v : x != 0%R -> (x * u - a * (y * v) = x * (u - a * y / x * v))%R.
  by move=> x0; rewrite mulrBr; congr (_ - _)%R; rewrite [RHS]mulrA [(x * (_ / x))%R]mulrC divfK// mulrA.
apply/eqP; rewrite eq_le; apply/andP; split.
- apply: profile_le => A mA; rewrite (product_table P11 p0 P21 Pp mA) (product_table Q11 q0 Q21 Qq mA) mulr_sumr -sumrB.
  apply: ler_sum => y _; have mS : measurable (xsection A (pt y)) by exact: measurable_xsection.
  rewrite /with_output; have [->|x0] := eqVneq (p y) 0%R.
    by rewrite mul0r add0r oppr_le0 mulr_ge0// mulr_ge0//; case/andP: (fine01 Q11 mS).
  by rewrite E//; apply: ler_wpmul2l => //; apply: profile_event => //; exact: arg.
- have D2 := table_has_density pt_inj pt_measurable p0 Pp; have D2' := table_has_density pt_inj pt_measurable q0 Qq.
  have L := product_likelihood P11 Q11 P21 Q21 L1 D2 D2'.
  rewrite (likelihood_profile PP QQ L a0); set A := above _ _ _ _.
  have [_ _ mpp mqq _] := L; have mA : measurable A by exact: measurable_above.
  rewrite (product_table P11 p0 P21 Pp mA) (product_table Q11 q0 Q21 Qq mA) mulr_sumr -sumrB.
  apply: ler_sum => y _; have [_ _ mp mq best] := L1.
  have section : xsection A (pt y) = above p1 q1 (p y) (a * q y).
    by apply/seteqP; split=> x; rewrite /xsection /A /above/= ?inE/= !table_density_pt// mul1r !mulrA.
  have B S : measurable S -> (p y * fine (P1 S) - a * q y * fine (Q1 S) <=
      p y * fine (P1 (xsection A (pt y))) - a * (q y * fine (Q1 (xsection A (pt y)))))%R.
    by move=> mS; rewrite section [(a * (_ * _))%R]mulrA; apply: best => //; exact: mulr_ge0.
  rewrite /with_output; have [x0|x0] := eqVneq (p y) 0%R.
    by have := B _ measurable0; rewrite !measure0/= !mulr0 subrr.
  have x1 : (0 < p y)%R by rewrite lt_neqAle eq_sym x0 p0.
  rewrite -ler_pdivl_mull//; apply: profile_le => S mS; rewrite ler_pdivl_mull// -E//.
  by rewrite [(a * (_ * fine (Q1 S)))%R]mulrA; exact: B.
Qed.
End OneMore.
