(* Pure epsilons of mechanisms made of parts (docs/theory/composition.md, combination): what is shown of the parts, put together as the rule does, is so
   of the whole; from above for all neighbours in an order, from below at one pair of them. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions norms kernels composition groups joint_neighbours sampling without_replacement.
Local Open Scope ereal_scope.

Section Upper.
Context (R : realType).

(* The part that is run after the output y of another. *)
Definition after X d1 (T : measurableType d1) d2 (U : measurableType d2) (k : X -> T -> {measure set U -> \bar R})
  (mk : forall x, markov (k x)) (y : T) : mechanism R X U := Mechanism (fun x => (mk x).1 y).

(* At one pair of neighbours, in this order. *)
Definition at_pair X (x x' : X) : relation X := fun a b => a = x /\ b = x'.

(* What the rule makes of bounds on the parts: M loses at most e on all neighbours N, in their order. *)
Inductive comes_to : forall X (N : relation X) d (Y : measurableType d), mechanism R X Y -> R -> Prop :=
(* a bound by another rule; of noise at the sensitivity of these neighbours, of a table in this order *)
| ByARule X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) e : dp_in_order N M e 0 -> comes_to N M e
(* compose: the sum, where the second part may be chosen after the output of the first *)
| Sum X (N : relation X) d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T)
    (k : X -> T -> {measure set U -> \bar R}) (mk : forall x, markov (k x)) e1 e2 :
    comes_to N M e1 -> (forall y, comes_to N (after mk y) e2) -> comes_to N (composed M mk) (e1 + e2)
(* parallel: the greatest, of parts on disjoint data *)
| Greatest X1 X2 (N1 : relation X1) (N2 : relation X2) d1 (T : measurableType d1) d2 (U : measurableType d2)
    (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) e1 e2 : (0 <= e1)%R -> (0 <= e2)%R ->
    comes_to N1 M1 e1 -> comes_to N2 M2 e2 -> comes_to (in_one_part N1 N2) (parallel M1 M2) (Num.max e1 e2)
| PostProcess X (N : relation X) d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T)
    (k : T -> {measure set U -> \bar R}) (mk : markov k) e : comes_to N M e -> comes_to N (post_processed M mk) e
(* k neighbours in a row, and maps that take neighbours to these *)
| Steps X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) e k : comes_to N M e -> comes_to (joined N k) M (k%:R * e)
| Map X X' (N : relation X) (N' : relation X') d (Y : measurableType d) (M : mechanism R X Y) (f : X' -> X) e :
    (forall x x', N' x x' -> N (f x) (f x')) -> comes_to N M e -> comes_to N' (mapped M f) e
(* samples *)
| Poisson (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p e : (0 <= p)%R -> (p <= 1)%R -> on_a_sample M K p ->
    comes_to (@one_record_more I) M e -> comes_to (@one_record_more I) K (ln (1 + p * (expR e - 1)))
| PoissonSecond (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p e : (0 <= p)%R -> (p <= 1)%R -> on_a_sample M K p ->
    comes_to (fun D D' => one_record_more D' D) M e -> comes_to (fun D D' => one_record_more D' D) K (- ln (1 - p + p * expR (- e)))
| WithoutReplacement (I : finType) (A : eqType) d (T : measurableType d) m (M : mechanism R (seq A) T) (K : mechanism R (I -> A) T) e :
    (0 < m)%N -> (m <= #|I|)%N -> on_a_subset m M K -> (0 <= e)%R ->
    comes_to (both (@replaced A)) M e -> comes_to (both (@one_replaced I A)) K (ln (1 + m%:R / #|I|%:R * (expR e - 1)))
(* parts that share their neighbours: a bound for each pair of these, and the greatest *)
| EachPair X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (v : X -> X -> R) e :
    (forall x x', N x x' -> comes_to (at_pair x x') M (v x x')) -> (forall x x', N x x' -> v x x' <= e)%R -> comes_to N M e.

Lemma comes_to_holds X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) e : comes_to N M e -> dp_in_order N M e 0.
Proof.
move=> H; induction H as [X N d Y M e H | X N d1 T d2 U M k mk e1 e2 H1 IH1 H2 IH2 | X1 X2 N1 N2 d1 T d2 U M1 M2 e1 e2 p1 p2 H1 IH1 H2 IH2
  | X N d1 T d2 U M k mk e H IH | X N d Y M e k H IH | X X' N N' d Y M f e HN H IH | I d T M K p e p0 p1 KM H IH | I d T M K p e p0 p1 KM H IH
  | I A d T m M K e m0 mn KM e0 H IH | X N d Y M v e H IH le].
- exact: H.
- by rewrite -[0%R]addr0; apply: composition_of_two => // y x x' xx; exact: IH2 y x x' xx.
- have e0 : (0 <= Num.max e1 e2)%R by rewrite le_maxr p1.
  apply: parallel_in_order => //; [apply: dp_in_order_monotone IH1 | apply: dp_in_order_monotone IH2] => //; by rewrite le_maxr lexx ?orbT.
- exact: post_processing.
- by rewrite -(mul0r (geometric e k)); exact: group_in_order.
- by move=> x x' xx; apply: IH; exact: HN.
- by have := poisson_one_sided p0 p1 KM IH; rewrite mulr0.
- by have := poisson_reverse p0 p1 KM IH; rewrite mulr0 mul0r.
- move=> x x' xx; apply: (sampled_without_replacement m0 mn KM e0 _ xx) => s s' ss; exact: IH.
- by move=> x x' xx; apply: close_monotone (IH x x' xx x x' (conj erefl erefl)); [exact: le | exact: lexx].
Qed.

(* Noise of a norm at k times the sensitivity, on neighbours of neighbours. *)
Lemma further_apart X (N : relation X) (V : lmodType R) (norm : V -> R) (q : X -> V) Delta k : seminorm norm ->
  (forall x x', both N x x' -> norm (q x - q x') <= Delta)%R -> forall x x', joined (both N) k x x' -> (norm (q x - q x') <= k%:R * Delta)%R.
Proof.
move=> semi moves; elim: k => [|k IH] x x' /=; first by move=> ->; rewrite subrr (seminorm0 semi) mul0r.
move=> [z xz zx']; have -> : (q x - q x' = (q x - q z) + (q z - q x'))%R by rewrite addrA subrK.
apply: le_trans (seminorm_triangle semi _ _) _; rewrite -natr1 mulrDl mul1r addrC.
by apply: ler_add; [exact: IH | exact: moves].
Qed.

(* Rule: combination, upper. *)
Theorem combination_upper :
  (forall X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) e, comes_to N M e -> dp_in_order N M e 0) /\
  (forall X (N : relation X) (V : lmodType R) (norm : V -> R) (q : X -> V) Delta k, seminorm norm ->
    (forall x x', both N x x' -> norm (q x - q x') <= Delta)%R -> forall x x', joined (both N) k x x' -> (norm (q x - q x') <= k%:R * Delta)%R).
Proof. by split; [exact: comes_to_holds | exact: further_apart]. Qed.
End Upper.

(* -- From below -- *)
Section Mixed.
Context (R : realType) d (T : measurableType d).
Variables (P Q K : {measure set T -> \bar R}) (p : R).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1) (K1 : K setT = 1) (p0 : (0 < p)%R) (p1 : (p <= 1)%R).
(* K is Q with probability 1 - p, else P. *)
Hypothesis KE : forall S, measurable S -> fine (K S) = ((1 - p) * fine (Q S) + p * fine (P S))%R.

Let massP S : measurable S -> P S = (fine (P S))%:E. Proof. by move=> mS; rewrite fineK// mass_fin. Qed.
Let massQ S : measurable S -> Q S = (fine (Q S))%:E. Proof. by move=> mS; rewrite fineK// mass_fin. Qed.
Let massK S : measurable S -> K S = (fine (K S))%:E. Proof. by move=> mS; rewrite fineK// mass_fin. Qed.

Lemma mixed_first e : close e 0 K Q -> exists c, [/\ (0 < c)%R, close (ln c) 0 P Q & (1 + p * (c - 1) = expR e)%R].
Proof.
move=> H; have E1 : (1 <= expR e)%R by have := close_epsilon_ge0 K1 Q1 H; rewrite -(@ler_expR R) expR0.
pose c := ((expR e - 1 + p) / p)%R; have c0 : (0 < c)%R by rewrite divr_gt0// ltr_paddl// subr_ge0.
exists c; split=> // [S mS|]; last first.
  by rewrite mulrBr mulr1 /c [(p * _)%R]mulrC divfK ?gt_eqF// addrK addrC subrK.
rewrite adde0 lnK ?posrE// (massP mS) (massQ mS) -EFinM lee_fin /c mulrAC ler_pdivl_mulr//.
have := H S mS; rewrite adde0 (massK mS) (massQ mS) -EFinM lee_fin KE//.
move: (fine (Q S)) (fine (P S)) => a b h.
have -> : ((expR e - 1 + p) * a = expR e * a - (1 - p) * a)%R by rewrite -mulrBl opprB addrA addrAC.
by rewrite [(b * p)%R]mulrC ler_subr_addl.
Qed.

Lemma mixed_second e : close e 0 Q K -> (1 <= expR e * (1 - p))%R \/
  exists c, [/\ (0 < c)%R, close (ln c) 0 Q P & (1 = expR e * (1 - p + p / c))%R].
Proof.
move=> H; have [|lt1] := leP 1%R (expR e * (1 - p))%R; [by left | right].
set E := expR e in lt1 *; have E0 : (0 < E)%R by exact: expR_gt0.
have g0 : (0 < 1 - E * (1 - p))%R by rewrite subr_gt0.
pose c := (E * p / (1 - E * (1 - p)))%R; have c0 : (0 < c)%R by rewrite divr_gt0// mulr_gt0.
exists c; split=> // [S mS|]; last first.
  have cP : (c * (1 - E * (1 - p)) = E * p)%R by rewrite divfK// gt_eqF.
  by rewrite mulrDr mulrA -cP [(c * _)%R]mulrC mulfK ?gt_eqF// addrC subrK.
rewrite adde0 lnK ?posrE// (massP mS) (massQ mS) -EFinM lee_fin /c mulrAC ler_pdivl_mulr//.
have := H S mS; rewrite adde0 (massK mS) (massQ mS) -EFinM lee_fin KE// -/E.
move: (fine (Q S)) (fine (P S)) => a b h.
have {}h : (a <= E * (1 - p) * a + E * p * b)%R by rewrite -!mulrA -mulrDr.
by rewrite mulrBr mulr1 ler_subl_addl [(a * _)%R]mulrC.
Qed.

Lemma mixed_first_lower (v : R) : v%:E <= pair_epsilon P Q -> (ln (1 + p * (expR v - 1)))%:E <= pair_epsilon K Q.
Proof.
move=> vPQ; apply: lb_ereal_inf => _ [e H <-]; have [c [c0 PQ cE]] := mixed_first H.
have vc : (expR v <= c)%R.
  rewrite -[leRHS]lnK ?posrE// ler_expR -lee_fin; apply: (le_trans vPQ); apply: ereal_inf_lb; exact: (ex_intro2 _ _ (ln c) PQ).
have gt0 : (0 < 1 + p * (expR v - 1))%R.
  rewrite (_ : 1 + p * (expR v - 1) = 1 - p + p * expR v)%R; last by rewrite mulrBr mulr1 addrA addrAC.
  by rewrite ltr_paddl ?subr_ge0// mulr_gt0// expR_gt0.
rewrite lee_fin -(@ler_expR R) lnK ?posrE// -cE ler_add2l ler_wpmul2l ?(ltW p0)// ler_add2r //.
Qed.

Lemma mixed_second_lower (v : R) : v%:E <= pair_epsilon Q P -> (- ln (1 - p + p * expR (- v)))%:E <= pair_epsilon Q K.
Proof.
move=> vQP; apply: lb_ereal_inf => _ [e H <-].
have gt0 : (0 < 1 - p + p * expR (- v))%R by rewrite ltr_paddl ?subr_ge0// mulr_gt0// expR_gt0.
rewrite lee_fin ler_oppl -(@ler_expR R) lnK ?posrE// [expR (- e)]expRN -[X in (X <= _)%R]mul1r ler_pdivr_mulr ?expR_gt0// mulrC.
have [le1 | [c [c0 QP cE]]] := mixed_second H.
  by apply: (le_trans le1); rewrite ler_wpmul2l ?expR_ge0// ler_addl mulr_ge0 ?expR_ge0// ltW.
have vc : (expR v <= c)%R.
  rewrite -[leRHS]lnK ?posrE// ler_expR -lee_fin; apply: (le_trans vQP); apply: ereal_inf_lb; exact: (ex_intro2 _ _ (ln c) QP).
by rewrite {1}cE ler_wpmul2l ?expR_ge0// ler_add2l ler_wpmul2l ?(ltW p0)// expRN lef_pinv ?posrE// expR_gt0.
Qed.

Lemma mixed_first_infinite : pair_epsilon P Q = +oo -> pair_epsilon K Q = +oo.
Proof.
move=> oo; apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [e H <-]; have [c [c0 PQ _]] := mixed_first H.
have : pair_epsilon P Q <= (ln c)%:E by apply: ereal_inf_lb; exact: (ex_intro2 _ _ (ln c) PQ).
by rewrite oo.
Qed.

Lemma mixed_second_infinite : (p < 1)%R -> pair_epsilon Q P = +oo -> (- ln (1 - p))%:E <= pair_epsilon Q K.
Proof.
move=> lt1 oo; apply: lb_ereal_inf => _ [e H <-].
have q0 : (0 < 1 - p)%R by rewrite subr_gt0.
rewrite lee_fin ler_oppl -(@ler_expR R) lnK ?posrE// expRN -[X in (X <= _)%R]mul1r ler_pdivr_mulr ?expR_gt0// mulrC.
have [// | [c [c0 QP _]]] := mixed_second H.
have : pair_epsilon Q P <= (ln c)%:E by apply: ereal_inf_lb; exact: (ex_intro2 _ _ (ln c) QP).
by rewrite oo.
Qed.
End Mixed.

Section Lower.
Context (R : realType).

Lemma apart X d (Y : measurableType d) (M : mechanism R X Y) (N : relation X) x x' v :
  N x x' -> v <= pair_epsilon (M x) (M x') -> v <= tight_epsilon_in_order N M 0.
Proof.
move=> xx le; apply: (le_trans le); rewrite tight_epsilon_pairs; apply: ereal_sup_ub; right; by exists (x, x').
Qed.

Lemma no_subsets (I : finType) (F : {set I} -> R) : (\sum_(A : {set I} | A \subset finset.set0) F A = F finset.set0)%R.
Proof. by rewrite (big_pred1 finset.set0)// => A; rewrite finset.subset0. Qed.

(* A sample of one record, or of none: with no other records in the data. *)
Lemma sample_of_one (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p r : on_a_sample M K p ->
  (forall S, measurable S -> fine (K [set r]%SET S) = ((1 - p) * fine (K finset.set0 S) + p * fine (M [set r]%SET S))%R) /\
  (forall S, measurable S -> K finset.set0 S = M finset.set0 S).
Proof.
move=> KM; have none S : measurable S -> K finset.set0 S = M finset.set0 S.
  by move=> mS; rewrite KM// no_subsets /weight finset.setD0 cards0 !expr0 !mul1r fineK// mass_fin// law_total.
split=> // S mS; rewrite none//.
have r0 : r \notin (finset.set0 : {set I}) by rewrite finset.in_set0.
have -> : K [set r]%SET S = K (r |: finset.set0)%SET S by rewrite finset.setU0.
rewrite (with_record KM)// no_subsets /= finset.setU0.
by rewrite /weight finset.setD0 cards0 !expr0 !mul1r.
Qed.

Lemma pair_epsilon_le d (Y : measurableType d) (P P' Q Q' : {measure set Y -> \bar R}) :
  (forall S, measurable S -> P S = P' S) -> (forall S, measurable S -> Q S = Q' S) -> pair_epsilon P Q <= pair_epsilon P' Q'.
Proof.
move=> PP QQ; apply: lb_ereal_inf => _ [e H <-]; apply: ereal_inf_lb; exists e => // S mS.
by rewrite PP// QQ//; exact: H.
Qed.

(* What the rule makes of lower bounds on the parts, at one pair of inputs in this order: M loses at least v there. *)
Inductive loses_here : forall X d (Y : measurableType d), mechanism R X Y -> X -> X -> \bar R -> Prop :=
| Shown X d (Y : measurableType d) (M : mechanism R X Y) x x' v : v <= pair_epsilon (M x) (M x') -> loses_here M x x' v
| NotLookedAt X d (Y : measurableType d) (M : mechanism R X Y) x x' : loses_here M x x' 0
| SumHere X d1 (T : measurableType d1) d2 (U : measurableType d2) (M1 : mechanism R X T) (M2 : mechanism R X U) x x' v1 v2 :
    loses_here M1 x x' v1 -> loses_here M2 x x' v2 -> loses_here (independent M1 M2) x x' (v1 + v2)
| InTheFirst X1 X2 d1 (T : measurableType d1) d2 (U : measurableType d2) (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) x x' z v :
    loses_here M1 x x' v -> loses_here (parallel M1 M2) (x, z) (x', z) v
| InTheSecond X1 X2 d1 (T : measurableType d1) d2 (U : measurableType d2) (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) x x' z v :
    loses_here M2 x x' v -> loses_here (parallel M1 M2) (z, x) (z, x') v
| MappedHere X X' d (Y : measurableType d) (M : mechanism R X Y) (f : X' -> X) x x' v :
    loses_here M (f x) (f x') v -> loses_here (mapped M f) x x' v
| SampleHere (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p r (v : R) : (0 < p)%R -> (p <= 1)%R -> on_a_sample M K p ->
    loses_here M [set r]%SET finset.set0 v%:E -> loses_here K [set r]%SET finset.set0 (ln (1 + p * (expR v - 1)))%:E
| SampleInfinite (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p r : (0 < p)%R -> (p <= 1)%R -> on_a_sample M K p ->
    loses_here M [set r]%SET finset.set0 +oo -> loses_here K [set r]%SET finset.set0 +oo
| SampleSecond (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p r (v : R) : (0 < p)%R -> (p <= 1)%R -> on_a_sample M K p ->
    loses_here M finset.set0 [set r]%SET v%:E -> loses_here K finset.set0 [set r]%SET (- ln (1 - p + p * expR (- v)))%:E
| SampleSecondInfinite (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p r : (0 < p)%R -> (p < 1)%R -> on_a_sample M K p ->
    loses_here M finset.set0 [set r]%SET +oo -> loses_here K finset.set0 [set r]%SET (- ln (1 - p))%:E.

Lemma rectangle X1 X2 d1 (T : measurableType d1) d2 (U : measurableType d2) (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) x z A B :
  measurable A -> measurable B -> parallel M1 M2 (x, z) (A `*` B) = M1 x A * M2 z B.
Proof. by move=> mA mB; rewrite /= joint_rectangle. Qed.

Lemma loses_here_holds X d (Y : measurableType d) (M : mechanism R X Y) x x' v : loses_here M x x' v -> v <= pair_epsilon (M x) (M x').
Proof.
move=> H; induction H as [X d Y M x x' v H | X d Y M x x' | X d1 T d2 U M1 M2 x x' v1 v2 H1 IH1 H2 IH2
  | X1 X2 d1 T d2 U M1 M2 x x' z v H IH | X1 X2 d1 T d2 U M1 M2 x x' z v H IH | X X' d Y M f x x' v H IH
  | I d T M K p r v p0 p1 KM H IH | I d T M K p r p0 p1 KM H IH | I d T M K p r v p0 p1 KM H IH | I d T M K p r p0 p1 KM H IH].
- exact: H.
- by apply: pair_epsilon_ge0; rewrite law_total.
- by rewrite independent_epsilon; apply: lee_add.
- apply: (le_trans IH); apply: lb_ereal_inf => _ [e He <-]; apply: ereal_inf_lb; exists e => // S mS.
  have := He (S `*` setT) (measurableM mS measurableT).
  by rewrite !rectangle// !law_total !mule1.
- apply: (le_trans IH); apply: lb_ereal_inf => _ [e He <-]; apply: ereal_inf_lb; exists e => // S mS.
  have := He (setT `*` S) (measurableM measurableT mS).
  by rewrite !rectangle// !law_total !mul1e.
- exact: IH.
- have [KE none] := sample_of_one r KM; apply: (mixed_first_lower (P := M [set r]%SET) (p := p)); rewrite ?law_total//.
  by apply: (le_trans IH); apply: pair_epsilon_le => // S mS; rewrite none.
- have [KE none] := sample_of_one r KM; rewrite leye_eq; apply/eqP; apply: (mixed_first_infinite (P := M [set r]%SET) (p := p)); rewrite ?law_total//.
  apply/eqP; rewrite -leye_eq; apply: (le_trans IH); apply: pair_epsilon_le => // S mS; by rewrite none.
- have [KE none] := sample_of_one r KM; apply: (mixed_second_lower (P := M [set r]%SET) (p := p)); rewrite ?law_total//.
  by apply: (le_trans IH); apply: pair_epsilon_le => // S mS; rewrite none.
- have [KE none] := sample_of_one r KM; apply: (mixed_second_infinite (P := M [set r]%SET) (p := p)); rewrite ?law_total// ?(ltW p1)//.
  apply/eqP; rewrite -leye_eq; apply: (le_trans IH); apply: pair_epsilon_le => // S mS; by rewrite none.
Qed.

(* combination_lower.v has the rule, with samples without replacement. *)
Theorem combination_lower X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) x x' v :
  N x x' -> loses_here M x x' v -> v <= tight_epsilon_in_order N M 0.
Proof. by move=> xx H; exact: (apart xx (loses_here_holds H)). Qed.
End Lower.
