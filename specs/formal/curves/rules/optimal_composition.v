(* What (epsilon, delta) guarantees say of whole curves, alone and in adaptive composition (docs/theory/composition.md: pure guarantee, optimal
   composition, group privacy): every part is dominated by the pair that reveals the input with probability delta and answers by randomized
   response otherwise (Kairouz, Oh and Viswanath). *)
From dpverify Require Import prelude.
From mathcomp.classical Require Import cardinality.
From dpverify Require Import definitions density arithmetic kernels composition groups joint_neighbours finite curves stated_guarantee pairs likelihood dominating table_laws.

(* -- The formula -- *)

Section Formula.
Context (R : realType).
Implicit Types (e dl a : R) (es : seq R) (parts : seq (R * R)).

(* The mean of (1 - a e^-L)_+, L the sum of independent signed epsilons, e with the plus sign with probability e^e/(1 + e^e). *)
Fixpoint mean_response es a : R :=
  if es is e :: es' then (expR e * mean_response es' (a / expR e) + mean_response es' (a * expR e)) / (1 + expR e) else Num.max 0 (1 - a).

(* 1 - product of (1 - delta_i) * (1 - mean). *)
Definition optimal_curve parts a : R := 1 - (\prod_(b <- parts) (1 - b.2)) * (1 - mean_response [seq b.1 | b <- parts] a).

Lemma expR1_gt0 e : 0 < 1 + expR e. Proof. by rewrite addr_gt0// expR_gt0. Qed.

Lemma mean_response0 es : mean_response es 0 = 1.
Proof.
elim: es => [|e es IH] /=; first by rewrite subr0 max_r.
by rewrite !mul0r IH mulr1 [expR e + 1]addrC divff// gt_eqF// expR1_gt0.
Qed.

Lemma optimal_curve0 parts : optimal_curve parts 0 = 1.
Proof. by rewrite /optimal_curve mean_response0 subrr mulr0 subr0. Qed.

Lemma optimal_curve_cons e dl parts a : optimal_curve ((e, dl) :: parts) a =
  dl + (1 - dl) * ((expR e * optimal_curve parts (a / expR e) + optimal_curve parts (a * expR e)) / (1 + expR e)).
Proof.
rewrite /optimal_curve big_cons /=; set D := \prod_(b <- parts) _.
set u := mean_response _ (a / expR e); set v := mean_response _ (a * expR e).
have n := expR1_gt0 e.
have -> : (expR e * (1 - D * (1 - u)) + (1 - D * (1 - v))) / (1 + expR e) = 1 - D * (1 - (expR e * u + v) / (1 + expR e)).
  apply: (mulIf (lt0r_neq0 n)); rewrite divfK ?gt_eqF// mulrBl mul1r -[D * _ * _]mulrA mulrBl mul1r divfK ?gt_eqF//; lra.
lra.
Qed.
End Formula.

(* -- The pair of one guarantee -- *)

Section GuaranteePair.
Context (R : realType) (e dl : R).
Hypotheses (e0 : 0 <= e) (dl0 : 0 <= dl) (dl1 : dl <= 1).

(* The input itself, revealed or as an answer; true: the first of the two. *)
Definition pair_p (y : bool * bool) : R := if y.1 then (if y.2 then dl else 0) else (1 - dl) * (if y.2 then expR e else 1) / (1 + expR e).
Definition pair_q (y : bool * bool) : R := pair_p (y.1, ~~ y.2).
Definition outcome (y : bool * bool) : nat := enum_rank y.

Lemma outcome_inj : injective outcome.
Proof. by move=> x y /ord_inj/enum_rank_inj. Qed.

Lemma measurable_outcome y : measurable [set outcome y].
Proof. by []. Qed.

Lemma pair_p_ge0 y : 0 <= pair_p y.
Proof.
rewrite /pair_p; case: ifP => _; first by case: ifP.
by apply: divr_ge0; [apply: mulr_ge0; [rewrite subr_ge0 | case: ifP => // _; exact: expR_ge0] | exact/ltW/expR1_gt0].
Qed.

Lemma pair_q_ge0 y : 0 <= pair_q y. Proof. exact: pair_p_ge0. Qed.

Lemma sum_outcomes (F : bool * bool -> R) : \sum_y F y = F (true, true) + F (true, false) + (F (false, true) + F (false, false)).
Proof.
transitivity (\sum_a \sum_b F (a, b)); last by rewrite !big_bool.
by rewrite pair_bigA/=; apply: eq_bigr => -[].
Qed.

Definition law_p : {measure set nat -> \bar R} := law_of_table outcome pair_p.
Definition law_q : {measure set nat -> \bar R} := law_of_table outcome pair_q.

Lemma law_pE : table_law outcome law_p pair_p. Proof. by apply: law_of_tableE; exact: pair_p_ge0. Qed.
Lemma law_qE : table_law outcome law_q pair_q. Proof. by apply: law_of_tableE; exact: pair_q_ge0. Qed.

Let parts_total : dl + (1 - dl) * expR e / (1 + expR e) + (1 - dl) * 1 / (1 + expR e) = 1.
Proof.
have n := lt0r_neq0 (expR1_gt0 e); apply: (mulIf n); rewrite !mulrDl !divfK//; lra.
Qed.

Lemma law_p_total : law_p setT = 1%E.
Proof.
rewrite law_pE// (eq_bigr pair_p); last by move=> y _; rewrite indicE in_setT mulr1.
by congr EFin; rewrite sum_outcomes /pair_p/= -[RHS]parts_total; lra.
Qed.

Lemma law_q_total : law_q setT = 1%E.
Proof.
rewrite law_qE// (eq_bigr pair_q); last by move=> y _; rewrite indicE in_setT mulr1.
by congr EFin; rewrite sum_outcomes /pair_q /pair_p/= -[RHS]parts_total; lra.
Qed.

Definition density_p : has_density (points R outcome) law_p (table_density outcome pair_p) :=
  table_has_density outcome_inj measurable_outcome pair_p_ge0 law_pE.
Definition density_q : has_density (points R outcome) law_q (table_density outcome pair_q) :=
  table_has_density outcome_inj measurable_outcome pair_q_ge0 law_qE.

(* What the pair adds to a curve. *)
Lemma pair_adds (F : R -> R) a : F 0 = 1 ->
  \sum_y with_output F a (pair_p y) (pair_q y) = dl + (1 - dl) * ((expR e * F (a / expR e) + F (a * expR e)) / (1 + expR e)).
Proof.
move=> F0; rewrite sum_outcomes /with_output /pair_q /pair_p/=.
have A0 := expR_gt0 e; have n := expR1_gt0 e.
have -> : (if 0 == 0 :> R then 0 else 0 * F (a * dl / 0)) = 0 :> R by rewrite eqxx.
have -> : (if dl == 0 then 0 else dl * F (a * 0 / dl)) = dl :> R.
  by case: eqP => [->//|_]; rewrite mulr0 mul0r F0 mulr1.
have [->|d1] := eqVneq dl 1; first by rewrite subrr !mul0r eqxx; lra.
have c0 : 1 - dl != 0 by rewrite subr_eq0 eq_sym.
have x0 : (1 - dl) * expR e / (1 + expR e) != 0 by rewrite !mulf_neq0// ?invr_neq0 ?gt_eqF.
have y0 : (1 - dl) * 1 / (1 + expR e) != 0 by rewrite mulr1 mulf_neq0// invr_neq0// gt_eqF.
rewrite (negbTE x0) (negbTE y0).
have -> : a * ((1 - dl) * 1 / (1 + expR e)) / ((1 - dl) * expR e / (1 + expR e)) = a / expR e.
  apply: (mulIf x0); rewrite divfK// mulr1.
  by rewrite -!mulrA [(expR e)^-1 * _]mulrCA [(expR e)^-1 * _]mulrA mulVf ?gt_eqF// mul1r.
have -> : a * ((1 - dl) * expR e / (1 + expR e)) / ((1 - dl) * 1 / (1 + expR e)) = a * expR e.
  by apply: (mulIf y0); rewrite divfK// mulr1 -!mulrA; congr (_ * _); rewrite [RHS]mulrCA.
rewrite addr0; congr (_ + _); rewrite -!mulrA -mulrDr mul1r; congr (_ * _).
by rewrite [X in X + _]mulrCA [X in _ + X]mulrC mulrC -mulrDl mulrC; congr (_ * _).
Qed.

Lemma pair_curve a : 0 <= a -> profile a law_p law_q = optimal_curve [:: (e, dl)] a.
Proof.
move=> a0; rewrite (table_profile outcome_inj measurable_outcome law_p_total law_q_total law_pE law_qE a0).
rewrite optimal_curve_cons.
have n (x : R) : optimal_curve [::] x = Num.max 0 (1 - x) by rewrite /optimal_curve big_nil mul1r/=; lra.
rewrite !n; have F0 : Num.max 0 (1 - 0) = 1 :> R by rewrite subr0 max_r.
have /= <- := @pair_adds (fun x => Num.max 0 (1 - x)) a F0; apply: eq_bigr => y _; rewrite /with_output; case: eqP => [->|/eqP x0].
  by rewrite sub0r max_l// oppr_le0 mulr_ge0// pair_q_ge0.
by rewrite maxr_pmulr ?pair_p_ge0// mulr0 mulrBr mulr1 [pair_p y * (_ / _)]mulrC divfK.
Qed.
End GuaranteePair.

(* -- A guarantee, and what it dominates -- *)

Section Guarantee.
Context (R : realType) d (T : measurableType d).
Variables (P Q : {measure set T -> \bar R}) (e dl : R).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (e0 : 0 <= e) (dl0 : 0 <= dl) (dl1 : dl <= 1).

(* (epsilon, delta) in both orders: the curve lies below that of the pair. *)
Lemma guarantee_curve : close e dl P Q -> close e dl Q P -> forall x, 0 <= x -> profile x P Q <= optimal_curve [:: (e, dl)] x.
Proof.
move=> PQ QP x x0; rewrite optimal_curve_cons.
have n (y : R) : optimal_curve [::] y = Num.max 0 (1 - y) by rewrite /optimal_curve big_nil mul1r/=; lra.
rewrite !n; set A := expR e.
have A1 : 1 <= A by rewrite /A -expR0 ler_expR.
have A0 : 0 < A by exact: expR_gt0.
have nA : 0 < 1 + A by rewrite addr_gt0.
have HA : profile A P Q <= dl by apply/(close_profile P1 Q1).
have HB : profile A^-1 P Q <= 1 - (1 - dl) / A by apply: mirror_point => //; apply/(close_profile Q1 P1).
have m1 : A * Num.max 0 (1 - x / A) = Num.max 0 (A - x).
  by rewrite maxr_pmulr ?(ltW A0)// mulr0 mulrBr mulr1 mulrCA divff ?gt_eqF// mulr1.
rewrite m1; have c0 : 0 <= 1 - dl by rewrite subr_ge0.
have below (s t : R) : 0 <= s -> 0 <= t -> 0 <= dl + (1 - dl) * ((s + t) / (1 + A)).
  by move=> s0 t0; rewrite addr_ge0// mulr_ge0// divr_ge0 ?(ltW nA)// addr_ge0.
have xA1 (h : x <= A^-1) : x * A <= 1 by rewrite -ler_pdivl_mulr// div1r.
have [xB|Bx] := leP x A^-1.
  have xA : x <= A by apply: (le_trans xB); apply: (le_trans _ A1); rewrite invf_le1.
  rewrite !max_r ?subr_ge0//; last exact: xA1.
  have -> : A - x + (1 - x * A) = (1 - x) * (1 + A) by lra.
  rewrite mulfK ?gt_eqF//.
  have := chord_from_zero P1 Q1 (b := A^-1) (x := x) _ _ HB; rewrite invr_gt0 A0 x0 xB => /(_ isT isT) h.
  apply: (le_trans h); rewrite invrK.
  have -> : x * A * (1 - (1 - dl) / A - 1) = - x * (1 - dl).
    have -> : 1 - (1 - dl) / A - 1 = - ((1 - dl) / A) by lra.
    by rewrite mulrN -mulrA [A * _]mulrC divfK ?gt_eqF// mulNr.
  lra.
have [Ax|xA] := leP A x.
  apply: (le_trans (beyond_last P1 Q1 (ltW A0) Ax HA)).
  by rewrite ler_addl mulr_ge0// divr_ge0 ?(ltW nA)// addr_ge0// le_maxr lexx.
rewrite (@max_r _ _ _ (A - x)) ?subr_ge0 ?(ltW xA)// max_l; last by rewrite subr_le0 -ler_pdivr_mulr// div1r ltW.
rewrite addr0.
have BA : A^-1 < A by exact: lt_trans xA.
have := chord_above P1 Q1 (a := A^-1) (x := x) _ BA _ HB HA; rewrite invr_ge0 (ltW A0) (ltW Bx) (ltW xA) => /(_ isT isT) h.
apply: (le_trans h).
have D0 : A - A^-1 != 0 by rewrite subr_eq0 gt_eqF.
have iA : A * A^-1 = 1 by rewrite divff// gt_eqF.
rewrite -(ler_pmul2r nA) -(@ler_pmul2r _ (A - A^-1)) ?subr_gt0//.
set t := (x - A^-1) / (A - A^-1); have tE : t * (A - A^-1) = x - A^-1 by rewrite /t divfK.
set r := (A - x) / (1 + A); have rE : r * (1 + A) = A - x by rewrite /r divfK// gt_eqF.
move: (A^-1) iA tE => B iA tE; clearbody t r; clear h HB HA BA Bx xA1.
have -> : (1 - (1 - dl) * B + t * (dl - (1 - (1 - dl) * B))) * (1 + A) * (A - B) =
          (1 - (1 - dl) * B) * (1 + A) * (A - B) + t * (A - B) * (dl - (1 - (1 - dl) * B)) * (1 + A) by lra.
have -> : (dl + (1 - dl) * r) * (1 + A) * (A - B) = dl * (1 + A) * (A - B) + (1 - dl) * (r * (1 + A)) * (A - B) by lra.
rewrite tE rE.
(* both sides are one polynomial, as A B = 1 *)
have i2 : A * B * A = A by rewrite iA mul1r.
have i3 : A * B * B = B by rewrite iA mul1r.
have i4 : A * B * dl = dl by rewrite iA mul1r.
have i5 : A * B * x = x by rewrite iA mul1r.
have i6 : A * B * x * dl = x * dl by rewrite iA mul1r.
have i7 : A * B * A * dl = A * dl by rewrite iA mul1r.
have i8 : A * B * B * dl = B * dl by rewrite iA mul1r.
lra.
Qed.

Lemma guarantee_dominated : close e dl P Q -> close e dl Q P -> dominated P Q (law_p e dl) (law_q e dl).
Proof. by move=> PQ QP x x0; rewrite pair_curve//; exact: guarantee_curve. Qed.
End Guarantee.

(* -- Adaptive compositions -- *)

Section Composition.
Context (R : realType) (X : Type) (N : relation X).

(* A pair of laws with likelihoods whose curve is F dominates the outputs on all neighbours. *)
Definition has_dominating_curve d (Y : measurableType d) (M : mechanism R X Y) (F : R -> R) :=
  exists d' (Z : measurableType d') (P Q : {measure set Z -> \bar R}) (p q : Z -> R),
    [/\ P setT = 1%E, Q setT = 1%E, likelihood P Q p q, forall a, 0 <= a -> profile a P Q = F a &
        forall x x', N x x' -> dominated (M x) (M x') P Q].

Theorem one_more_guarantee d (T : measurableType d) d' (U : measurableType d') (M : mechanism R X T) (F : R -> R)
    (k : X -> T -> {measure set U -> \bar R}) (mk : forall x, markov (k x)) e dl : 0 <= e -> 0 <= dl -> dl <= 1 -> F 0 = 1 ->
  has_dominating_curve M F -> (forall y x x', N x x' -> close e dl (k x y) (k x' y) /\ close e dl (k x' y) (k x y)) ->
  has_dominating_curve (composed M mk) (fun a => dl + (1 - dl) * ((expR e * F (a / expR e) + F (a * expR e)) / (1 + expR e))).
Proof.
move=> e0 dl0 dl1 F0 [d1 [Z [P [Q [p [q [P1 Q1 L PQF dom]]]]]]] kk.
have lp := law_p_total e0 dl0 dl1; have lq := law_q_total e0 dl0 dl1.
exists _, _, (product P1 (law_p e dl)), (product Q1 (law_q e dl)),
  (fun zx => table_density outcome (pair_p e dl) zx.1 * p zx.2), (fun zx => table_density outcome (pair_q e dl) zx.1 * q zx.2); split.
- by apply: joint_total; exact: lp.
- by apply: joint_total; exact: lq.
- exact: (product_likelihood P1 Q1 lp lq L (density_p e dl0 dl1) (density_q e dl0 dl1)).
- move=> a a0; rewrite -(pair_adds e0 dl0 dl1 a F0).
  rewrite (product_table_profile outcome_inj measurable_outcome P1 Q1 L lp lq (pair_p_ge0 e dl0 dl1) (pair_q_ge0 e dl0 dl1) (law_pE e dl0 dl1) (law_qE e dl0 dl1) a0).
  apply: eq_bigr => y _; rewrite /with_output; case: eqP => // /eqP x0; rewrite PQF//.
  by rewrite divr_ge0 ?mulr_ge0 ?pair_p_ge0 ?pair_q_ge0.
- move=> x x' xx; have second y : dominated (k x y) (k x' y) (law_p e dl) (law_q e dl).
    by have [h h'] := kk y x x' xx; apply: guarantee_dominated => //; [exact: (mk x).1 | exact: (mk x').1].
  exact: (composition_dominated (mk x) (mk x') P1 Q1 (law_total M x) (law_total M x') lp lq L (density_p e dl0 dl1) (density_q e dl0 dl1) (dom x x' xx) second).
Qed.
End Composition.

Section Optimal.
Context (R : realType) (X : Type) (N : relation X).

Definition guarantees_ok (parts : seq (R * R)) := all (fun b => [&& 0 <= b.1, 0 <= b.2 & b.2 <= 1]) parts.

(* Any number of parts, each chosen after the outputs so far, with their guarantees. *)
(* Rule: optimal-composition, upper. *)
Theorem optimal_composition d (Y : measurableType d) (M : mechanism R X Y) parts : guarantees_ok parts -> adaptive (both N) M parts ->
  has_dominating_curve (both N) M (optimal_curve parts).
Proof.
move=> ok A; induction A as [d Y M e dl H | d1 T d2 U M parts k mk e dl _ IH H].
- move: ok => /=/andP[/and3P[e0 dl0 dl1] _].
  exists _, _, (law_p e dl), (law_q e dl), (table_density outcome (pair_p e dl)), (table_density outcome (pair_q e dl)); split.
  + exact: law_p_total.
  + exact: law_q_total.
  + exact: (density_likelihood (law_p_total e0 dl0 dl1) (law_q_total e0 dl0 dl1) (density_p e dl0 dl1) (density_q e dl0 dl1)).
  + by move=> a a0; exact: pair_curve.
  + by move=> x x' xx; apply: guarantee_dominated; rewrite ?law_total//; [exact: H | apply: H; exact: bothC].
- move: ok => /=/andP[/and3P[e0 dl0 dl1] ok].
  have [d3 [Z [P [Q [p [q [P1 Q1 L E dom]]]]]]] := one_more_guarantee mk e0 dl0 dl1 (optimal_curve0 parts) (IH ok)
    (fun y x x' xx => conj (H y x x' xx) (H y x' x (bothC xx))).
  exists _, Z, P, Q, p, q; split=> // a a0; rewrite E// optimal_curve_cons//.
Qed.

Corollary optimal_composition_curve d (Y : measurableType d) (M : mechanism R X Y) parts x x' a :
  guarantees_ok parts -> adaptive (both N) M parts -> both N x x' -> 0 <= a -> profile a (M x) (M x') <= optimal_curve parts a.
Proof. by move=> ok /(optimal_composition ok)[d' [Z [P [Q [p [q [_ _ _ E dom]]]]]]] xx a0; rewrite -E//; exact: dom. Qed.

(* Pure parts alone. *)
(* Rule: pure-guarantee, upper. *)
Theorem pure_guarantee d (Y : measurableType d) (M : mechanism R X Y) es : all (fun e => 0 <= e) es ->
  adaptive (both N) M [seq (e, 0) | e <- es] -> has_dominating_curve (both N) M (mean_response es).
Proof.
move=> es0 A; have ok : guarantees_ok [seq (e, 0) | e <- es].
  by rewrite /guarantees_ok all_map; apply: sub_all es0 => e /= ->; rewrite lexx ler01.
have [d' [Z [P [Q [p [q [P1 Q1 L E dom]]]]]]] := optimal_composition ok A.
have m : [seq b.1 | b <- [seq (e, 0 : R) | e <- es]] = es by rewrite -map_comp; exact: map_id.
have b1 : \prod_(b <- [seq (e, 0 : R) | e <- es]) (1 - b.2) = 1 by rewrite big_map big1// => e _; rewrite subr0.
exists d', Z, P, Q, p, q; split=> // a a0; rewrite E// /optimal_curve b1 m; lra.
Qed.

(* -- Groups -- *)

(* At most k steps apart. *)
Definition within_steps k (x x' : X) := exists2 j, (j <= k)%N & joined (both N) j x x'.

(* Rule: group-privacy. *)
Theorem group_curve d (Y : measurableType d) (M : mechanism R X Y) e dl k : 0 < e -> 0 <= dl -> (0 < k)%N -> dp N M e dl ->
  let many := Num.min 1 (dl * ((expR (k%:R * e) - 1) / (expR e - 1))) in
  [/\ forall x x', within_steps k x x' -> close (k%:R * e) many (M x) (M x') /\ close (k%:R * e) many (M x') (M x),
       forall x x' a, within_steps k x x' -> 0 <= a -> profile a (M x) (M x') <= optimal_curve [:: (k%:R * e, many)] a &
       forall x x', both N x x' -> within_steps k x x'].
Proof.
move=> e0 dl0 k0 H many.
have G x x' : within_steps k x x' -> close (k%:R * e) many (M x) (M x').
  move=> [j jk xx]; have jk' : j%:R * e <= k%:R * e by rewrite ler_pmul2r// ler_nat.
  have h := @group_privacy_in_order _ _ (both N) _ _ M e dl j e0 H x x' xx.
  have c : close (k%:R * e) (dl * ((expR (k%:R * e) - 1) / (expR e - 1))) (M x) (M x').
    apply: (close_monotone jk' _ h); apply: ler_wpmul2l => //; apply: ler_wpmul2r; last by rewrite ler_add2r ler_expR.
    by rewrite invr_ge0 subr_ge0 ltW// expR_gt1.
  move=> S mS; rewrite /many; case: (leP 1 (dl * ((expR (k%:R * e) - 1) / (expR e - 1)))) => _; last exact: c.
  by apply: (le_trans (mass_le1 (law_total M x) mS)); rewrite lee_addr//; apply: mule_ge0 => //; rewrite lee_fin expR_ge0.
have sym x x' : within_steps k x x' -> within_steps k x' x by move=> [j jk xx]; exists j => //; exact: joined_sym.
split=> [x x' xx | x x' a xx a0 | x x' xx].
- by split; apply: G => //; exact: sym.
- apply: guarantee_curve; rewrite ?law_total//.
  + by rewrite mulr_ge0 ?ler0n ?ltW.
  + have ke : 0 <= k%:R * e by rewrite mulr_ge0 ?ler0n// ltW.
    have p1 (t : R) : 0 <= t -> 0 <= expR t - 1 by move=> t0; rewrite subr_ge0 -expR0 ler_expR.
    by rewrite /many le_minr ler01/=; apply: mulr_ge0 => //; apply: divr_ge0; apply: p1 => //; exact: ltW.
  + by rewrite /many le_minl lexx.
  + exact: G.
  + by apply: G; exact: sym.
- by exists 1%N => //; exists x'.
Qed.
End Optimal.
