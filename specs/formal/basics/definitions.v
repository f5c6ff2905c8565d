(* What the words of specs/definitions.md mean, in Coq with MathComp Analysis: mechanisms, neighbours, (epsilon, delta)-differential
   privacy, the tight epsilon and the tight delta, the hockey-stick divergence and the privacy curve, dominating pairs. The lemmas that
   follow each definition show that it is the one intended. Nothing is assumed beyond the three axioms of MathComp Analysis. *)
From dpverify Require Import prelude.
Local Open Scope ereal_scope.

(* A mechanism gives every input x the law of its output, a probability measure on the outputs. *)
Record mechanism (R : realType) (X : Type) d (Y : measurableType d) := Mechanism {
  law :> X -> {measure set Y -> \bar R};
  law_total : forall x, law x setT = 1
}.

(* Neighbours: a relation on inputs. `both N` is the relation in both orders; N itself is one order alone. *)
Definition relation (X : Type) := X -> X -> Prop.
Definition both X (N : relation X) : relation X := fun x x' => N x x' \/ N x' x.

Lemma bothC X (N : relation X) x x' : both N x x' -> both N x' x.
Proof. by case; [right | left]. Qed.

Lemma both_id X (N : relation X) x x' : both (both N) x x' <-> both N x x'.
Proof. by split=> [[|H]|]; [ | exact: bothC | left]. Qed.

Lemma both_symmetric X (N : relation X) : (forall x x', N x x' -> N x' x) -> forall x x', both N x x' <-> N x x'.
Proof. by move=> sym x x'; split=> [[|H]|]; [ | exact: sym | left]. Qed.

Section Privacy.
Context (R : realType).

(* Two laws: P(S) <= e^eps Q(S) + delta for every measurable set S of outputs. *)
Definition close d (Y : measurableType d) (eps delta : R) (P Q : set Y -> \bar R) :=
  forall S, measurable S -> P S <= (expR eps)%:E * Q S + delta%:E.

(* The hockey-stick divergence: the supremum of P(S) - e^eps Q(S) over measurable sets S. *)
Definition hockey_stick d (Y : measurableType d) (eps : R) (P Q : set Y -> \bar R) : \bar R :=
  ereal_sup [set P S - (expR eps)%:E * Q S | S in [set S : set Y | measurable S]].

Context (X : Type) (d : measure_display) (Y : measurableType d).
Implicit Types (N : relation X) (M : mechanism R X Y) (eps delta : R).

(* Privacy in one order of the neighbours: "one-sided" where N x x' says that x has the record and x' has not. *)
Definition dp_in_order N M eps delta := forall x x', N x x' -> close eps delta (M x) (M x').

(* (epsilon, delta)-differential privacy: in both orders. *)
Definition dp N M eps delta := dp_in_order (both N) M eps delta.

(* Pure differential privacy: delta = 0. *)
Definition pure_dp N M eps := dp N M eps 0%R.

(* The tight epsilon: the infimum of all epsilon >= 0 at which the mechanism is private; infinite where there is none. *)
Definition tight_epsilon_in_order N M delta : \bar R :=
  ereal_inf [set e%:E | e in [set e : R | (0 <= e)%R /\ dp_in_order N M e delta]].
Definition tight_epsilon N M delta : \bar R := tight_epsilon_in_order (both N) M delta.

(* The tight delta: the infimum of all delta >= 0 at which the mechanism is private. *)
Definition tight_delta_in_order N M eps : \bar R :=
  ereal_inf [set t%:E | t in [set t : R | (0 <= t)%R /\ dp_in_order N M eps t]].
Definition tight_delta N M eps : \bar R := tight_delta_in_order (both N) M eps.

(* The privacy curve: the supremum of the hockey-stick divergence over neighbours (0 where there are none). *)
Definition privacy_curve_in_order N M eps : \bar R :=
  ereal_sup (0 |` [set hockey_stick eps (M p.1) (M p.2) | p in [set p : X * X | N p.1 p.2]]).
Definition privacy_curve N M eps : \bar R := privacy_curve_in_order (both N) M eps.

(* A dominating pair: two laws whose divergence is at least that of the outputs on all neighbours, at every real epsilon. *)
Definition dominating_pair_in_order N M d' (Z : measurableType d') (P Q : {measure set Z -> \bar R}) :=
  [/\ P setT = 1, Q setT = 1 &
  forall x x', N x x' -> forall eps, hockey_stick eps (M x) (M x') <= hockey_stick eps P Q].
Definition dominating_pair N M d' (Z : measurableType d') (P Q : {measure set Z -> \bar R}) :=
  dominating_pair_in_order (both N) M P Q.
End Privacy.

(* -- Laws of the definitions -- *)

Section Measures.
Context (R : realType) (d : measure_display) (Y : measurableType d).
Implicit Types (P Q : {measure set Y -> \bar R}) (eps delta : R).

Lemma mass_le1 P S : P setT = 1 -> measurable S -> P S <= 1.
Proof. by move=> <- mS; apply: le_measure; rewrite ?inE. Qed.

Lemma mass_fin P S : P setT = 1 -> measurable S -> P S \is a fin_num.
Proof.
by move=> P1 mS; rewrite ge0_fin_numE ?measure_ge0//; apply: (le_lt_trans (mass_le1 P1 mS)); rewrite ltry.
Qed.

Lemma expR_ge0 (x : R) : (0 <= expR x)%R. Proof. exact/ltW/expR_gt0. Qed.

Lemma close_refl eps P : (0 <= eps)%R -> close eps 0 P P.
Proof.
move=> e0 S mS; rewrite adde0 -[leLHS]mul1e; apply: lee_wpmul2r; first exact: measure_ge0.
by rewrite lee_fin -[leLHS](@expR0 R) ler_expR.
Qed.

Lemma close_monotone eps eps' delta delta' P Q :
  (eps <= eps')%R -> (delta <= delta')%R -> close eps delta P Q -> close eps' delta' P Q.
Proof.
move=> ee dd PQ S mS; apply: (le_trans (PQ S mS)); apply: lee_add; last by rewrite lee_fin.
by apply: lee_wpmul2r; rewrite ?measure_ge0// lee_fin ler_expR.
Qed.

(* A law is (eps, delta)-close to another exactly where the hockey-stick divergence is at most delta. *)
Lemma close_hockey_stick eps delta P Q :
  P setT = 1 -> Q setT = 1 -> close eps delta P Q <-> hockey_stick eps P Q <= delta%:E.
Proof.
move=> P1 Q1; split=> [PQ | PQ S mS].
- apply: ub_ereal_sup => _ [S mS <-].
  rewrite lee_subl_addl; first exact: PQ.
  by rewrite fin_numM// mass_fin.
- rewrite -lee_subl_addl; last by rewrite fin_numM// mass_fin.
  by apply: le_trans PQ; apply: ereal_sup_ub; exists S.
Qed.

(* The divergence is at least 0 and at most 1. *)
Lemma hockey_stick_ge0 eps P Q : 0 <= hockey_stick eps P Q.
Proof. by apply: ereal_sup_ub; exists set0; [exact: measurable0 | rewrite /= !measure0 mule0 sube0]. Qed.

Lemma hockey_stick_le1 eps P Q : P setT = 1 -> hockey_stick eps P Q <= 1.
Proof.
move=> P1; apply: ub_ereal_sup => _ [S mS <-]; apply: le_trans (mass_le1 P1 mS).
by rewrite gee_addl// oppe_le0 mule_ge0// lee_fin expR_ge0.
Qed.

(* It does not rise with epsilon. *)
Lemma hockey_stick_monotone eps eps' P Q : (eps <= eps')%R -> hockey_stick eps' P Q <= hockey_stick eps P Q.
Proof.
move=> ee; apply: ub_ereal_sup => _ [S mS <-].
apply: le_trans; last by apply: ereal_sup_ub; exists S.
by apply: lee_add => //; rewrite lee_oppl oppeK; apply: lee_wpmul2r; rewrite ?measure_ge0// lee_fin ler_expR.
Qed.

(* What holds at every greater epsilon holds at epsilon: the infimum is attained. *)
Lemma close_closed eps delta P Q : P setT = 1 -> Q setT = 1 ->
  (forall e, (eps < e)%R -> close e delta P Q) -> close eps delta P Q.
Proof.
move=> P1 Q1 PQ S mS.
have Pf := mass_fin P1 mS; have Qf := mass_fin Q1 mS.
rewrite -(fineK Pf) -(fineK Qf) -EFinM -EFinD lee_fin leNgt; apply/negP => lt.
set p := fine (P S) in lt *; set q := fine (Q S) in lt *.
have q0 : (0 <= q)%R by rewrite fine_ge0// measure_ge0.
have gap : (0 < p - (expR eps * q + delta))%R by rewrite subr_gt0.
set g := (p - (expR eps * q + delta))%R in gap.
pose r := (expR eps + g / (1 + q) / 2)%R.
have q1 : (0 < 1 + q)%R by rewrite ltr_paddr.
have s0 : (0 < g / (1 + q) / 2)%R by rewrite !divr_gt0.
have r0 : (0 < r)%R by rewrite addr_gt0 ?expR_gt0.
have er : (eps < ln r)%R.
  by rewrite -(@ltr_expR R) lnK ?posrE// ltr_addl.
have := PQ _ er S mS; rewrite lnK ?posrE// -(fineK Pf) -(fineK Qf) -EFinM -EFinD lee_fin -/p -/q.
apply/negP; rewrite -ltNge -subr_gt0.
have -> : (p - (r * q + delta) = g - g / (1 + q) / 2 * q)%R.
  by rewrite /r /g mulrDl !opprD !addrA addrAC.
rewrite subr_gt0; apply: (@le_lt_trans _ _ (g / 2)); last by rewrite ltr_pdivr_mulr// mulr_natr mulr2n ltr_addl.
rewrite mulrAC ler_pmul2r ?invr_gt0// mulrAC ler_pdivr_mulr// ler_pmul2l//.
by rewrite ler_addr.
Qed.
End Measures.

Section Laws.
Context (R : realType) (X : Type) (d : measure_display) (Y : measurableType d).
Implicit Types (N : relation X) (M : mechanism R X Y) (eps delta : R).

(* Privacy does not ask in which order neighbours are listed. *)
Lemma dp_symmetric N M eps delta : dp N M eps delta <-> dp (fun x x' => N x' x) M eps delta.
Proof. by split=> H x x' xx; apply: H; case: xx; [right | left | right | left]. Qed.

Lemma dp_both N M eps delta : dp N M eps delta <-> dp_in_order N M eps delta /\ dp_in_order (fun x x' => N x' x) M eps delta.
Proof.
split=> [H | [H H'] x x' [xx|xx]]; [split=> x x' xx; apply: H; [left|right] | exact: H | exact: H'] => //.
Qed.

Lemma dp_in_order_monotone N M eps eps' delta delta' :
  (eps <= eps')%R -> (delta <= delta')%R -> dp_in_order N M eps delta -> dp_in_order N M eps' delta'.
Proof. by move=> ee dd H x x' xx; apply: close_monotone (H x x' xx). Qed.

Lemma dp_monotone N M eps eps' delta delta' :
  (eps <= eps')%R -> (delta <= delta')%R -> dp N M eps delta -> dp N M eps' delta'.
Proof. exact: dp_in_order_monotone. Qed.

Lemma pure_dp_monotone N M eps eps' : (eps <= eps')%R -> pure_dp N M eps -> pure_dp N M eps'.
Proof. by move=> ee; apply: dp_monotone. Qed.

(* Fewer neighbours: no less private. *)
Lemma dp_in_order_fewer N N' M eps delta :
  (forall x x', N' x x' -> N x x') -> dp_in_order N M eps delta -> dp_in_order N' M eps delta.
Proof. by move=> sub H x x' /sub; apply: H. Qed.

Lemma dp_in_order_hockey_stick N M eps delta :
  dp_in_order N M eps delta <-> forall x x', N x x' -> hockey_stick eps (M x) (M x') <= delta%:E.
Proof. by split=> H x x' xx; apply/close_hockey_stick; rewrite ?law_total//; apply: H. Qed.

(* (eps, delta)-DP is: the hockey-stick divergence is at most delta, in both orders. *)
Lemma dp_hockey_stick N M eps delta :
  dp N M eps delta <-> forall x x', N x x' ->
    hockey_stick eps (M x) (M x') <= delta%:E /\ hockey_stick eps (M x') (M x) <= delta%:E.
Proof.
rewrite /dp dp_in_order_hockey_stick; split=> [H x x' xx | H x x' [/H[]|/H[]]//].
by split; apply: H; [left | right].
Qed.

(* The same in one word: the privacy curve is at most delta. *)
Lemma dp_in_order_privacy_curve N M eps delta : (0 <= delta)%R ->
  dp_in_order N M eps delta <-> privacy_curve_in_order N M eps <= delta%:E.
Proof.
move=> d0; rewrite dp_in_order_hockey_stick; split=> [H | H x x' xx].
- by apply: ub_ereal_sup => _ [-> | [[x x'] xx <-]]; [rewrite lee_fin | apply: H].
- by apply: le_trans H; apply: ereal_sup_ub; right; exists (x, x').
Qed.

Lemma dp_privacy_curve N M eps delta : (0 <= delta)%R -> dp N M eps delta <-> privacy_curve N M eps <= delta%:E.
Proof. exact: dp_in_order_privacy_curve. Qed.

Lemma dp_in_order_closed N M eps delta :
  (forall e, (eps < e)%R -> dp_in_order N M e delta) -> dp_in_order N M eps delta.
Proof. by move=> H x x' xx; apply: close_closed; rewrite ?law_total// => e ee; apply: H. Qed.

(* The tight epsilon is a least one: the mechanism is private at eps exactly where eps is at least the tight epsilon. *)
Lemma dp_in_order_tight N M eps delta : (0 <= eps)%R ->
  dp_in_order N M eps delta <-> tight_epsilon_in_order N M delta <= eps%:E.
Proof.
move=> e0; split=> [H | H]; first by apply: ereal_inf_lb; exists eps.
apply: dp_in_order_closed => e ee.
have : tight_epsilon_in_order N M delta < e%:E by apply: le_lt_trans H _; rewrite lte_fin.
move/ereal_inf_lt => [_ [t [t0 H'] <-]]; rewrite lte_fin => te.
by apply: dp_in_order_monotone H' => //; exact: ltW.
Qed.

Lemma dp_tight N M eps delta : (0 <= eps)%R -> dp N M eps delta <-> tight_epsilon N M delta <= eps%:E.
Proof. exact: dp_in_order_tight. Qed.

Lemma tight_epsilon_ge0 N M delta : 0 <= tight_epsilon N M delta.
Proof. by apply: lb_ereal_inf => _ [e [e0 _] <-]; rewrite lee_fin. Qed.

Lemma tight_epsilon_infinite N M delta :
  (forall eps, (0 <= eps)%R -> ~ dp N M eps delta) <-> tight_epsilon N M delta = +oo.
Proof.
split=> [H | H eps e0 /(dp_tight _ _ _ e0)]; last by rewrite H leye_eq.
by apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [e [e0 He] <-]; case: (H e e0 He).
Qed.

(* How lower bounds are shown: no smaller epsilon will do. *)
Lemma tight_epsilon_lower N M delta (v : R) :
  (forall eps, (0 <= eps)%R -> (eps < v)%R -> ~ dp N M eps delta) -> v%:E <= tight_epsilon N M delta.
Proof.
move=> H; apply: lb_ereal_inf => _ [e [e0 He] <-]; rewrite lee_fin leNgt; apply/negP => ev.
exact: H He.
Qed.

(* Of both orders the worse counts. *)
Lemma tight_epsilon_both N M delta :
  tight_epsilon N M delta = maxe (tight_epsilon_in_order N M delta) (tight_epsilon_in_order (fun x x' => N x' x) M delta).
Proof.
set a := tight_epsilon_in_order N M delta; set b := tight_epsilon_in_order _ M delta.
apply/eqP; rewrite eq_le; apply/andP; split; last first.
  by rewrite le_maxl; apply/andP; split; apply: le_ereal_inf => _ [e [e0 H] <-]; exists e => //; split=> // x x' xx;
    apply: H; [left | right].
have a0 : 0 <= a by apply: lb_ereal_inf => _ [e [e0 _] <-]; rewrite lee_fin.
case E : (maxe a b) => [m| |]; last 2 first.
- exact: leey.
- by have : 0 <= maxe a b; [rewrite le_maxr a0 | rewrite E].
have m0 : (0 <= m)%R by rewrite -lee_fin -E le_maxr a0.
apply/dp_tight => //; apply/dp_both.
by split; apply/dp_in_order_tight; rewrite // -E le_maxr lexx ?orbT.
Qed.

(* The tight delta is the privacy curve. *)
Lemma tight_delta_in_order_curve N M eps : tight_delta_in_order N M eps = privacy_curve_in_order N M eps.
Proof.
have c0 : 0 <= privacy_curve_in_order N M eps by apply: ereal_sup_ub; left.
have c1 : privacy_curve_in_order N M eps <= 1.
  by apply: ub_ereal_sup => _ [-> | [[x x'] xx <-]]; [rewrite lee_fin | apply: hockey_stick_le1; rewrite law_total].
have cf : privacy_curve_in_order N M eps \is a fin_num by rewrite ge0_fin_numE//; apply: le_lt_trans c1 _; rewrite ltry.
apply/eqP; rewrite eq_le; apply/andP; split.
- apply: ereal_inf_lb; exists (fine (privacy_curve_in_order N M eps)); last by rewrite fineK.
  by split; [rewrite fine_ge0 | apply/dp_in_order_privacy_curve; rewrite ?fine_ge0// fineK].
- by apply: lb_ereal_inf => _ [t [t0 /(dp_in_order_privacy_curve _ _ _ t0) H] <-].
Qed.

Lemma tight_delta_curve N M eps : tight_delta N M eps = privacy_curve N M eps.
Proof. exact: tight_delta_in_order_curve. Qed.

(* A mechanism is at least as private as its dominating pair. *)
Lemma dominating_pair_dp N M d' (Z : measurableType d') (P Q : {measure set Z -> \bar R}) eps delta :
  dominating_pair N M P Q -> close eps delta P Q -> dp N M eps delta.
Proof.
move=> [P1 Q1 dom] /(close_hockey_stick _ _ P1 Q1) PQ; apply/dp_in_order_hockey_stick => x x' xx.
exact: le_trans (dom x x' xx eps) PQ.
Qed.
End Laws.
