(* Parts on the same two databases (docs/theory/composition.md: combination, joint neighbours): the tight pure epsilon of independent parts
   is the greatest, over neighbours, of the sum of their losses there, and not the sum of the greatest. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups.
Local Open Scope ereal_scope.

Section PairEpsilon.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}).

(* The tight pure epsilon of one pair of laws in one order: for densities the essential supremum of the loss. *)
Definition pair_epsilon P Q : \bar R := ereal_inf [set e%:E | e in [set e : R | close e 0 P Q]].

Lemma pair_epsilonP e P Q : P setT = 1 -> Q setT = 1 -> close e 0 P Q <-> pair_epsilon P Q <= e%:E.
Proof.
move=> P1 Q1; split=> [H | H]; first by apply: ereal_inf_lb; exists e.
apply: close_closed => // t et.
have : pair_epsilon P Q < t%:E by apply: le_lt_trans H _; rewrite lte_fin.
by move/ereal_inf_lt => [_ [u H' <-]]; rewrite lte_fin => ut; apply: close_monotone H' => //; exact: ltW.
Qed.

Lemma close_epsilon_ge0 e P Q : P setT = 1 -> Q setT = 1 -> close e 0 P Q -> (0 <= e)%R.
Proof. by move=> P1 Q1 /(_ setT measurableT); rewrite P1 Q1 adde0 mule1 lee_fin -expR0 ler_expR. Qed.

Lemma pair_epsilon_ge0 P Q : P setT = 1 -> Q setT = 1 -> 0 <= pair_epsilon P Q.
Proof. by move=> P1 Q1; apply: lb_ereal_inf => _ [e H <-]; rewrite lee_fin; exact: close_epsilon_ge0 H. Qed.

Lemma not_close_event e P Q : ~ close e 0 P Q -> exists2 S, measurable S & (expR e)%:E * Q S < P S.
Proof.
by move/existsNP => [S /not_implyP[mS /negP]]; rewrite adde0 -ltNge; exists S.
Qed.
End PairEpsilon.

Lemma equal_by_bounds (R : realType) (a b : \bar R) : 0 <= a -> 0 <= b ->
  (forall e : R, (0 <= e)%R -> a <= e%:E <-> b <= e%:E) -> a = b.
Proof.
move=> a0 b0 H; apply/eqP; rewrite eq_le; apply/andP; split.
- case: b b0 H => [b| |] b0 H; rewrite ?leey//; by apply/H => //; rewrite -lee_fin.
- case: a a0 H => [a| |] a0 H; rewrite ?leey//; by apply/H => //; rewrite -lee_fin.
Qed.

Section Products.
Context (R : realType) (X : Type) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (M1 : mechanism R X T) (M2 : mechanism R X U) (N : relation X).

(* Two parts on the same data, with independent noise. *)
Definition independent : mechanism R X (T * U)%type :=
  composed M1 (fun x => markov_constant T M2 x).

Notation w1 x x' := (pair_epsilon (M1 x) (M1 x')).
Notation w2 x x' := (pair_epsilon (M2 x) (M2 x')).

Lemma independent_not_close e1 e2 x x' :
  ~ close e1 0 (M1 x) (M1 x') -> ~ close e2 0 (M2 x) (M2 x') -> ~ close (e1 + e2) 0 (independent x) (independent x').
Proof.
move=> /not_close_event[A mA hA] /not_close_event[B mB hB] /(_ _ (measurableM mA mB)).
rewrite /= !joint_rectangle// adde0; apply/negP; rewrite -ltNge expRD.
have P1f := mass_fin (law_total M1 x) mA; have Q1f := mass_fin (law_total M1 x') mA.
have P2f := mass_fin (law_total M2 x) mB; have Q2f := mass_fin (law_total M2 x') mB.
have q10 := fine_ge0 (measure_ge0 (M1 x') A); have q20 := fine_ge0 (measure_ge0 (M2 x') B).
move: hA hB; rewrite -(fineK P1f) -(fineK Q1f) -(fineK P2f) -(fineK Q2f) -!EFinM !lte_fin => hA hB.
have p20 : (0 < fine (M2 x B))%R by apply: le_lt_trans hB; rewrite mulr_ge0// expR_ge0.
apply: (@le_lt_trans _ _ (expR e1 * fine (M1 x' A) * fine (M2 x B))%R); last by rewrite ltr_pmul2r.
rewrite -mulrA mulrACA [leRHS]mulrA mulrA -mulrA; apply: ler_wpmul2l.
  by rewrite mulr_ge0// expR_ge0.
exact: ltW.
Qed.

Lemma independent_close e x x' : close e 0 (independent x) (independent x') <-> w1 x x' + w2 x x' <= e%:E.
Proof.
have l1 := law_total M1; have l2 := law_total M2.
have w10 : 0 <= w1 x x' by apply: pair_epsilon_ge0.
have w20 : 0 <= w2 x x' by apply: pair_epsilon_ge0.
split=> [H | H]; last first.
- case E1 : (w1 x x') w10 H => [a| |] w10 H //; last first.
    by move: H; rewrite addye ?leye_eq// gt_eqF//; apply: lt_le_trans w20; rewrite ltNye.
  case E2 : (w2 x x') w20 H => [b| |] w20 H //.
  have J : close (a + b) (0 + 0) (independent x) (independent x').
    apply: close_joint; rewrite ?law_total//; first by apply/pair_epsilonP; rewrite ?E1.
    by move=> _; apply/pair_epsilonP; rewrite ?E2.
  by apply: close_monotone J; rewrite ?addr0// -lee_fin EFinD.
- rewrite leNgt; apply/negP => gt.
  suff [[e1 e2] /= [h1 h2 h]] : exists p : R * R, [/\ p.1%:E < w1 x x', p.2%:E < w2 x x' & (p.1 + p.2 = e)%R].
    move: H; rewrite -h; apply: independent_not_close => /pair_epsilonP.
      by rewrite leNgt h1 => /(_ (l1 _) (l1 _)).
    by rewrite leNgt h2 => /(_ (l2 _) (l2 _)).
  have m1 : ((-1) : R)%:E < 0 by rewrite lte_fin ltrN10.
  case E1 : (w1 x x') w10 gt => [a| |] w10 gt //; last first.
    by exists ((e + 1)%R, (-1)%R); split; rewrite /= ?ltry ?addrK//; exact: lt_le_trans w20.
  case E2 : (w2 x x') w20 gt => [b| |] w20 gt //; last first.
    by exists ((-1)%R, (e + 1)%R); split; rewrite /= ?ltry// 1?addrC ?addrK//; exact: lt_le_trans w10.
  move: gt; rewrite -EFinD lte_fin -subr_gt0 => gt.
  exists ((a - (a + b - e) / 2)%R, (b - (a + b - e) / 2)%R); split; rewrite /= ?lte_fin ?gtr_addl ?oppr_lt0 ?divr_gt0//.
  by rewrite addrACA -opprD -mulrDl -mulr2n -mulr_natr mulfK ?pnatr_eq0// opprB addrCA subrr addr0.
Qed.

(* The tight pure epsilon of independent parts at one pair of neighbours is the sum of theirs. *)
Theorem independent_epsilon x x' : pair_epsilon (independent x) (independent x') = w1 x x' + w2 x x'.
Proof.
have l1 := law_total M1; have l2 := law_total M2; have l := law_total independent.
apply: equal_by_bounds; first exact: pair_epsilon_ge0.
  by apply: adde_ge0; apply: pair_epsilon_ge0.
move=> e _; rewrite -independent_close; exact: iff_sym (pair_epsilonP _ _ _).
Qed.
End Products.

(* The tight pure epsilon of a mechanism is the greatest, over neighbours, of that of their laws. *)
Theorem tight_epsilon_pairs (R : realType) (X : Type) d (T : measurableType d) (M : mechanism R X T) (N : relation X) :
  tight_epsilon_in_order N M 0 = ereal_sup (0 |` [set pair_epsilon (M p.1) (M p.2) | p in [set p : X * X | N p.1 p.2]]).
Proof.
apply: equal_by_bounds.
- by apply: lb_ereal_inf => _ [e [e0 _] <-]; rewrite lee_fin.
- by apply: ereal_sup_ub; left.
move=> e e0; rewrite -dp_in_order_tight//; split=> [H | H x x' xx].
- apply: ub_ereal_sup => _ [-> | [[x x'] xx <-]]; first by rewrite lee_fin.
  by apply/pair_epsilonP; rewrite ?law_total//; exact: H.
- apply/pair_epsilonP; rewrite ?law_total//; apply: le_trans H; apply: ereal_sup_ub; right.
  by exists (x, x').
Qed.

(* Rule: joint-neighbours, in part: the pure epsilon, of which this is part (1); not which differences of neighbours suffice. *)
Theorem joint_neighbours (R : realType) (X : Type) d1 (T : measurableType d1) d2 (U : measurableType d2)
    (M1 : mechanism R X T) (M2 : mechanism R X U) (N : relation X) :
  tight_epsilon N (independent M1 M2) 0 =
  ereal_sup (0 |` [set pair_epsilon (M1 p.1) (M1 p.2) + pair_epsilon (M2 p.1) (M2 p.2) | p in [set p : X * X | both N p.1 p.2]]).
Proof.
rewrite /tight_epsilon tight_epsilon_pairs; congr (ereal_sup (_ `|` _)).
by apply: eq_imagel => p _; exact: independent_epsilon.
Qed.
