(* What guarantees imply in other measures (docs/theory/measures.md: implied measures; docs/theory/composition.md: privacy measures): pure epsilon is
   dominated by randomized response, a loss that stays within an interval by a loss at its two ends. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition finite curves stated_guarantee pairs likelihood table_laws optimal_composition powers means renyi finite_measures renyi_curves measures gaussian_curve gaussian_measures hoeffding.

(* -- The divergence of two rows of a table -- *)

Section Rows.
Context (R : realType) (Y : finType) d (Z : measurableType d) (pt : Y -> Z) (P Q : {measure set Z -> \bar R}) (p q : Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (P1 : P setT = 1%E) (Q1 : Q setT = 1%E).
Hypotheses (p0 : forall y, 0 <= p y) (q0 : forall y, 0 <= q y) (Pp : table_law pt P p) (Qq : table_law pt Q q).

(* p^a q^(1 - a): infinite where q has a zero that p has not. *)
Definition cell_power (a x y : R) : \bar R := if x == 0 then 0%E else if y == 0 then +oo%E else (x * expR ((a - 1) * (ln x - ln y)))%:E.

Lemma rows_moment a : 1 < a -> moment P (table_density pt p) (table_density pt q) a = (\sum_y cell_power a (p y) (q y))%E.
Proof.
move=> a1; have Dp := table_has_density pt_inj pt_measurable p0 Pp; have Dq := table_has_density pt_inj pt_measurable q0 Qq.
have ml : measurable_fun setT (loss_power (table_density pt p) (table_density pt q) a).
  apply: (emeasurable_fun_cvg (fun n y => (capped_power (table_density pt p) (table_density pt q) a n y)%:E)) => [n|y _]; last exact: (capped_power_limit Dp Dq).
  have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
  have a0 : 0 < a - 1 by rewrite subr_gt0.
  have [mr _] := test_pow a0 (test_capped Dp Dq n0).
  rewrite (_ : (fun y => _) = (fun y => (pow (a - 1) n.+1%:R * pow (a - 1) (capped (table_density pt p) (table_density pt q) n.+1%:R y))%:E)).
    by apply/EFin_measurable_fun; exact: measurable_funrM.
  by apply/funext => y; rewrite /capped_power powM ?(ltW n0)//; case/andP: (capped01 Dp Dq y n0).
rewrite /moment (integral_density Dp ml) => [|y]; last exact: loss_power_ge0.
have mp : measurable_fun setT (fun z => (table_density pt p z)%:E) by apply/EFin_measurable_fun; have [] := Dp.
rewrite integral_points; last 2 first.
- exact: emeasurable_funM.
- by move=> z; rewrite mule_ge0 ?loss_power_ge0// lee_fin; have [h _ _] := Dp; exact: h.
apply: eq_bigr => y _; rewrite /loss_power /cell_power !table_density_pt//; have [->|x0] := eqVneq (p y) 0; first by rewrite mul0e.
have [_|_] := eqVneq (q y) 0; last by rewrite -EFinM.
by rewrite gt0_muley// lte_fin lt_neqAle eq_sym x0 p0.
Qed.

(* Rows p and q have the divergence log (sum of p^a q^(1 - a))/(a - 1). *)
Lemma rows_renyi a t : 1 < a -> renyi a t P Q <-> (\sum_y cell_power a (p y) (q y) <= (expR ((a - 1) * t))%:E)%E.
Proof.
move=> a1; rewrite -rows_moment//; apply: renyi_densities => //; exact: table_has_density.
Qed.

Lemma rows_likelihood : likelihood P Q (table_density pt p) (table_density pt q).
Proof. by apply: density_likelihood => //; exact: table_has_density. Qed.
End Rows.

(* -- Bounded range -- *)

Section Range.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}) (eta t a : R).

(* The loss stays within [t - eta, t] for some t. *)
Definition bounded_range eta P Q := exists t, close t 0 P Q /\ close (eta - t) 0 Q P.

Lemma bounded_range_ends eta P Q t : P setT = 1%E -> Q setT = 1%E -> close t 0 P Q -> close (eta - t) 0 Q P -> 0 <= t /\ t <= eta.
Proof.
move=> P1 Q1 h h'; have e (x : R) : (1 <= (expR x)%:E * 1 + 0 :> \bar R)%E -> 0 <= x.
  by rewrite mule1 adde0 lee_fin -[X in X <= _](@expR0 R) ler_expR.
have := h _ measurableT; have := h' _ measurableT; rewrite P1 Q1 => /e t1 /e t0; split=> //; lra.
Qed.

(* Pure in both orders. *)
Lemma bounded_range_pure eta P Q : P setT = 1%E -> Q setT = 1%E -> bounded_range eta P Q -> close eta 0 P Q /\ close eta 0 Q P.
Proof.
move=> P1 Q1 [t [h h']]; have [t0 t1] := bounded_range_ends P1 Q1 h h'.
by split; [apply: close_monotone h | apply: close_monotone h'] => //; lra.
Qed.

Section Ends.
Variables (eta t : R) (eta0 : 0 < eta) (t0 : 0 <= t) (t1 : t <= eta).

(* The loss t, else t - eta. *)
Definition at_top : R := (expR eta - expR t) / (expR eta - 1).
Definition end_p (b : bool) : R := if b then at_top else 1 - at_top.
Definition end_q (b : bool) : R := if b then at_top * expR (- t) else (1 - at_top) * expR (eta - t).

Lemma eta_gt1 : 1 < expR eta. Proof. by rewrite -[X in X < _](@expR0 R) ltr_expR. Qed.

Lemma at_top01 : 0 <= at_top <= 1.
Proof.
have e1 := eta_gt1; rewrite /at_top divr_ge0 ?subr_ge0 ?ler_expR ?(ltW e1)//= ler_pdivr_mulr ?subr_gt0// mul1r ler_add2l ler_opp2.
by rewrite -[X in X <= _](@expR0 R) ler_expR.
Qed.

Lemma end_p_ge0 b : 0 <= end_p b.
Proof. by have /andP[h h'] := at_top01; rewrite /end_p; case: b; lra. Qed.

Lemma end_q_ge0 b : 0 <= end_q b.
Proof. by have := at_top01 => /andP[h h']; rewrite /end_q; case: b; apply: mulr_ge0; rewrite ?expR_ge0// subr_ge0. Qed.

Lemma end_q_total : end_q true + end_q false = 1.
Proof.
have e1 := eta_gt1; have n : expR eta - 1 != 0 by rewrite subr_eq0 gt_eqF.
have xE : at_top * (expR eta - 1) = expR eta - expR t by rewrite divfK.
have i : expR t * expR (- t) = 1 by rewrite -expRD subrr expR0.
rewrite /end_q [expR (eta - t)]expRD.
have -> : at_top * expR (- t) + (1 - at_top) * (expR eta * expR (- t)) = (expR eta - at_top * (expR eta - 1)) * expR (- t) by lra.
by rewrite xE; lra.
Qed.

Definition end_pt (b : bool) : nat := b.
Definition end_P : {measure set nat -> \bar R} := law_of_table end_pt end_p.
Definition end_Q : {measure set nat -> \bar R} := law_of_table end_pt end_q.

Lemma end_pt_inj : injective end_pt. Proof. by case=> -[]. Qed.
Lemma end_PE : table_law end_pt end_P end_p. Proof. by apply: law_of_tableE; exact: end_p_ge0. Qed.
Lemma end_QE : table_law end_pt end_Q end_q. Proof. by apply: law_of_tableE; exact: end_q_ge0. Qed.

Lemma end_P1 : end_P setT = 1%E.
Proof. by rewrite end_PE// big_bool/= !indicE !in_setT !mulr1 addrC subrK. Qed.

Lemma end_Q1 : end_Q setT = 1%E.
Proof. by rewrite end_QE// big_bool/= !indicE !in_setT !mulr1; have := end_q_total; rewrite /end_q => ->. Qed.

Lemma ends_dominate P Q : P setT = 1%E -> Q setT = 1%E -> close t 0 P Q -> close (eta - t) 0 Q P -> dominated P Q end_P end_Q.
Proof.
move=> P1 Q1 h h' a a0; apply: profile_le => S mS; have mC : measurable (~` S) by exact: measurableC.
rewrite (table_profile end_pt_inj _ end_P1 end_Q1 end_PE end_QE a0)// big_bool/=.
have fin (e : R) (W V : {measure set T -> \bar R}) A : W setT = 1%E -> V setT = 1%E -> close e 0 W V -> measurable A -> fine (W A) <= expR e * fine (V A).
  move=> W1 V1 hWV mA; have := hWV A mA; rewrite adde0 -(fineK (mass_fin W1 mA)) -(fineK (mass_fin V1 mA)) -EFinM lee_fin; exact.
have com (W : {measure set T -> \bar R}) : W setT = 1%E -> fine (W (~` S)) = 1 - fine (W S).
  by move=> m1; rewrite -setTD measureD// ?m1 ?ltry// setTI fineB ?m1//; exact: mass_fin.
have hS := fin t P Q S P1 Q1 h mS; have hC := fin (eta - t) Q P _ Q1 P1 h' mC; rewrite !com// in hC.
have /andP[p0 p1] := fine01 P1 mS; have /andP[q0 q1] := fine01 Q1 mS.
set p := fine (P S) in hS hC p0 p1 *; set q := fine (Q S) in hS hC q0 q1 *.
have /andP[x0 x1] := at_top01; have tot := end_q_total; rewrite /end_q in tot.
set x := at_top in x0 x1 tot *; set E := expR (- t) in tot *; set F := expR (eta - t) in tot hC *.
have E0 : 0 < E by exact: expR_gt0.
have F0 : 0 < F by exact: expR_gt0.
have q_ge : E * p <= q.
  have := ler_wpmul2l (ltW E0) hS; rewrite mulrA -expRD addNr expR0 mul1r; exact.
set A := Num.max 0 (x - a * (x * E)); set B := Num.max 0 (1 - x - a * ((1 - x) * F)).
have A1 : 0 <= A by rewrite le_maxr lexx.
have A2 : x - a * (x * E) <= A by rewrite le_maxr lexx orbT.
have B1 : 0 <= B by rewrite le_maxr lexx.
have B2 : 1 - x - a * ((1 - x) * F) <= B by rewrite le_maxr lexx orbT.
have aq : a * (E * p) <= a * q by exact: ler_wpmul2l.
have aC : a * (1 - q) <= a * (F * (1 - p)) by exact: ler_wpmul2l.
have at1 : a * (x * E + (1 - x) * F) = a by rewrite tot mulr1.
have [c1|c1] := leP 1 (a * E).
  have : 0 <= (a * E - 1) * p by rewrite mulr_ge0// subr_ge0.
  lra.
have [c2|c2] := leP (a * F) 1.
  have : 0 <= (1 - a * F) * (1 - p) by rewrite mulr_ge0 ?subr_ge0.
  lra.
have [px|xp] := leP p x.
  have : 0 <= (1 - a * E) * (x - p) by rewrite mulr_ge0 ?subr_ge0// ltW.
  lra.
have : 0 <= (a * F - 1) * (p - x) by rewrite mulr_ge0 ?subr_ge0// ltW.
lra.
Qed.

Lemma ends_sum a : 1 < a ->
  (\sum_b cell_power a (end_p b) (end_q b) = (at_top * expR ((a - 1) * t) + (1 - at_top) * expR ((a - 1) * (t - eta)))%:E)%E.
Proof.
move=> a1; have /andP[x0 x1] := at_top01; set x := at_top in x0 x1 *.
have cell (c l : R) : 0 <= c -> cell_power a c (c * expR (- l)) = (c * expR ((a - 1) * l))%:E.
  rewrite /cell_power; have [->|c0] := eqVneq c 0; first by rewrite mul0r.
  move=> c1; have cp : 0 < c by rewrite lt_neqAle eq_sym c0.
  rewrite mulf_eq0 (negbTE c0) gt_eqF ?expR_gt0//=; rewrite lnM ?posrE ?expR_gt0// expK; congr (_ * expR _)%:E; lra.
rewrite big_bool /end_p /end_q /= -/x; have -> : eta - t = - (t - eta) by rewrite opprB.
by rewrite (cell x t x0) (cell (1 - x) (t - eta)); last by rewrite subr_ge0.
Qed.

(* Hoeffding's lemma at a - 1, and at -1 for the mean loss. *)
Lemma ends_moment a : 1 < a -> (\sum_b cell_power a (end_p b) (end_q b) <= (expR ((a - 1) * (a * (eta ^+ 2 / 8))))%:E)%E.
Proof.
move=> a1; have /andP[x0 x1] := at_top01; rewrite ends_sum// lee_fin; set x := at_top in x0 x1 *.
have pos : 0 <= (a - 1) by lra.
pose k := t - eta + x * eta.
have two s : x * expR (s * t) + (1 - x) * expR (s * (t - eta)) <= expR (s * k + s ^+ 2 * (eta ^+ 2 / 8)).
  have H := ler_wpmul2l (expR_ge0 (s * (t - eta))) (hoeffding (s * eta) x0 x1).
  move: H; rewrite mulrDr -expRD mulrCA -expRD.
  have -> : s * (t - eta) + s * eta = s * t by lra.
  have -> : s * (t - eta) + (x * (s * eta) + (s * eta) ^+ 2 / 8) = s * k + s ^+ 2 * (eta ^+ 2 / 8) by rewrite /k; lra.
  by rewrite [expR (s * (t - eta)) * _]mulrC.
have mean : k <= eta ^+ 2 / 8.
  have := two (- 1); have := end_q_total; rewrite /end_q -/x !mulN1r opprB => ->.
  rewrite -[X in X <= _](@expR0 R) ler_expR sqrrN expr1n mul1r; lra.
apply: (le_trans (two (a - 1))); rewrite ler_expR; have := ler_wpmul2l pos mean; lra.
Qed.
End Ends.

Lemma renyi_same P Q a : 1 < a -> P setT = 1%E -> Q setT = 1%E -> (forall S, measurable S -> P S = Q S) -> renyi a 0 P Q.
Proof.
move=> a1 P1 Q1 same g tg; have -> : mean P (fun y => pow (share a) (g y)) = mean Q (fun y => pow (share a) (g y)).
  by congr fine; apply: eq_measure_integral => A mA _; exact: same.
exact: renyi_refl.
Qed.

Lemma pure_zero_same P Q : close 0 0 P Q -> close 0 0 Q P -> forall S, measurable S -> P S = Q S.
Proof.
by move=> h h' S mS; apply/eqP; rewrite eq_le; have := h S mS; have := h' S mS; rewrite expR0 !mul1e !adde0 => -> ->.
Qed.

Lemma ends_renyi eta t P Q a s : 0 < eta -> P setT = 1%E -> Q setT = 1%E -> close t 0 P Q -> close (eta - t) 0 Q P -> 1 < a ->
  (\sum_b cell_power a (end_p eta t b) (end_q eta t b) <= (expR ((a - 1) * s))%:E)%E -> renyi a s P Q.
Proof.
move=> e0 P1 Q1 h h' a1 le; have [t0 t1] := bounded_range_ends P1 Q1 h h'.
have D := ends_dominate e0 t0 t1 P1 Q1 h h'.
have L := rows_likelihood end_pt_inj (fun _ => I) (end_P1 e0 t0 t1) (end_Q1 e0 t0 t1) (end_p_ge0 e0 t0 t1) (end_q_ge0 e0 t0 t1) (end_PE e0 t0 t1) (end_QE e0 t0 t1).
apply: (renyi_dominated P1 Q1 (end_P1 e0 t0 t1) (end_Q1 e0 t0 t1) L D a1).
by apply/(rows_renyi end_pt_inj (fun _ => I) (end_P1 e0 t0 t1) (end_Q1 e0 t0 t1) (end_p_ge0 e0 t0 t1) (end_q_ge0 e0 t0 t1) (end_PE e0 t0 t1) (end_QE e0 t0 t1)).
Qed.

(* A loss within an interval of length eta: the divergence of order a is at most a eta^2/8. *)
Theorem bounded_range_zcdp eta P Q : P setT = 1%E -> Q setT = 1%E -> bounded_range eta P Q -> zcdp (eta ^+ 2 / 8) P Q.
Proof.
move=> P1 Q1 [t [h h']] a a1; have [t0 t1] := bounded_range_ends P1 Q1 h h'.
have [e0|e0] := ltP 0 eta; first by apply: (ends_renyi e0 P1 Q1 h h' a1); exact: ends_moment.
have tz : t = 0 by lra.
have ez : eta = 0 by lra.
rewrite ez expr0n/= mul0r mulr0; apply: renyi_same => //; apply: pure_zero_same; first by move: h; rewrite tz.
by move: h'; rewrite ez tz subrr.
Qed.

(* -- Pure epsilon -- *)

(* Randomized response: the truth with probability e^e/(1 + e^e). *)
Definition response_power (e a : R) : R := (expR (a * e) + expR ((1 - a) * e)) / (1 + expR e).
Definition response_renyi (e a : R) : R := ln (response_power e a) / (a - 1).
Definition tanh_half (e : R) : R := (expR e - 1) / (expR e + 1).

Lemma response_power_gt0 e a : 0 < response_power e a.
Proof. by rewrite divr_gt0// addr_gt0// expR_gt0. Qed.

Lemma response_top e : 0 < e -> at_top (e + e) e = expR e / (1 + expR e).
Proof.
move=> e0; have A1 : 1 < expR e by rewrite -[X in X < _](@expR0 R) ltr_expR.
rewrite /at_top expRD; set A := expR e in A1 *.
have pp : 0 < (A - 1) * (A + 1) by apply: mulr_gt0; lra.
have n : A * A - 1 != 0 by rewrite subr_eq0 gt_eqF//; lra.
have n' : 1 + A != 0 by rewrite gt_eqF//; lra.
apply: (mulIf n); rewrite divfK//; apply: (mulIf n').
have -> : A / (1 + A) * (A * A - 1) * (1 + A) = A / (1 + A) * (1 + A) * (A * A - 1) by lra.
rewrite divfK//; lra.
Qed.

Lemma response_sum e a : 0 < e -> 1 < a -> (\sum_b cell_power a (end_p (e + e) e b) (end_q (e + e) e b) = (response_power e a)%:E)%E.
Proof.
move=> e0 a1; have e2 : 0 < e + e by lra.
rewrite (ends_sum e2 (ltW e0) _ a1); last by lra.
congr EFin; rewrite response_top//; have n : 1 + expR e != 0 by rewrite gt_eqF// addr_gt0// expR_gt0.
have -> : 1 - expR e / (1 + expR e) = (1 + expR e)^-1 by rewrite -[X in X - _](divff n) -mulrBl addrK mul1r.
have -> : e - (e + e) = - e by lra.
rewrite /response_power [RHS]mulrDl; congr (_ + _).
- by rewrite mulrAC -expRD; congr (expR _ / _); lra.
- by rewrite mulrC; congr (expR _ / _); lra.
Qed.

Theorem pure_renyi e P Q a : 0 <= e -> P setT = 1%E -> Q setT = 1%E -> close e 0 P Q -> close e 0 Q P -> 1 < a -> renyi a (response_renyi e a) P Q.
Proof.
rewrite le_eqVlt => /predU1P[<-|e0] P1 Q1 h h' a1.
  rewrite /response_renyi /response_power !mulr0 expR0 divff ?ln1 ?mul0r; last by rewrite gt_eqF.
  by apply: renyi_same => //; exact: pure_zero_same.
have e2 : 0 < e + e by lra.
apply: (ends_renyi e2 P1 Q1 h _ a1); first by rewrite addrK.
rewrite response_sum// lee_fin /response_renyi mulrCA divff ?mulr1; last by rewrite gt_eqF// subr_gt0.
by rewrite lnK// posrE response_power_gt0.
Qed.

Lemma response_zcdp e a : 0 < e -> 1 < a -> response_power e a <= expR ((a - 1) * (a * (e * tanh_half e))).
Proof.
move=> e0 a1; have w0 : 0 < e / 2 by lra.
have t0 : 0 <= (a - 1) * e by apply: mulr_ge0; lra.
have H := cosh_tangent w0 t0.
have n : 0 < 1 + expR e by rewrite addr_gt0// expR_gt0.
set E := expR (e / 2); have E0 : 0 < E by exact: expR_gt0.
have E1 : E * expR (- (e / 2)) = 1 by rewrite -expRD subrr expR0.
have EE : expR e = E * E by rewrite -expRD; congr expR; lra.
have c1 : E * (2 * cosh (e / 2)) = 1 + expR e by rewrite /cosh EE -/E; lra.
have s1 : E * (2 * sinh (e / 2)) = expR e - 1 by rewrite /sinh EE -/E; lra.
have ca : E * (2 * cosh (e / 2 + (a - 1) * e)) = expR (a * e) + expR ((1 - a) * e).
  have -> : expR (a * e) = E * expR (e / 2 + (a - 1) * e) by rewrite -expRD; congr expR; lra.
  have -> : expR ((1 - a) * e) = E * expR (- (e / 2 + (a - 1) * e)) by rewrite -expRD; congr expR; lra.
  rewrite /cosh; lra.
have C := cosh_gt0 (e / 2).
have th : sinh (e / 2) / cosh (e / 2) = tanh_half e.
  have k : expR e + 1 != 0 by rewrite gt_eqF// addrC.
  apply: (mulIf k); rewrite /tanh_half divfK// -s1 [expR e + 1]addrC -c1.
  have -> : sinh (e / 2) / cosh (e / 2) * (E * (2 * cosh (e / 2))) = E * (2 * (sinh (e / 2) / cosh (e / 2) * cosh (e / 2))) by lra.
  by rewrite divfK// gt_eqF.
have ex : ((e / 2 + (a - 1) * e) ^+ 2 - (e / 2) ^+ 2) * (tanh_half e / (2 * (e / 2))) = (a - 1) * (a * (e * tanh_half e)).
  have -> : 2 * (e / 2) = e by lra.
  have -> : (e / 2 + (a - 1) * e) ^+ 2 - (e / 2) ^+ 2 = (a - 1) * (a * e) * e by lra.
  have te : tanh_half e / e * e = tanh_half e by rewrite divfK// gt_eqF.
  by rewrite -[in RHS]te; lra.
move: H; rewrite th ex => H.
rewrite /response_power ler_pdivr_mulr// -ca -c1; have := ler_wpmul2l (_ : 0 <= E * 2) H; rewrite mulr_ge0 ?(ltW E0)// => /(_ isT); lra.
Qed.

Theorem pure_zcdp e P Q : 0 <= e -> P setT = 1%E -> Q setT = 1%E -> close e 0 P Q -> close e 0 Q P -> zcdp (e * tanh_half e) P Q.
Proof.
rewrite le_eqVlt => /predU1P[<-|e0] P1 Q1 h h' a a1.
  by rewrite mul0r mulr0; apply: renyi_same => //; exact: pure_zero_same.
have e2 : 0 < e + e by lra.
apply: (ends_renyi e2 P1 Q1 h _ a1); first by rewrite addrK.
by rewrite response_sum// lee_fin; exact: response_zcdp.
Qed.

(* The pair N(0, 1), N(mu, 1) dominates, with Phi(mu/2) at least e^e/(1 + e^e). *)
Theorem pure_gdp e P Q (Phi : R -> R) mu d' (Z : measurableType d') (P0 Q0 : {measure set Z -> \bar R}) :
  0 <= e -> P setT = 1%E -> Q setT = 1%E -> close e 0 P Q -> close e 0 Q P ->
  (forall s, Phi (- s) = 1 - Phi s) -> normal_pair Phi mu P0 Q0 -> expR e / (1 + expR e) <= Phi (mu / 2) -> dominated P Q P0 Q0.
Proof.
move=> e0 P1 Q1 h h' even [P01 Q01 halves] le a a0; apply: (le_trans (pure_polygon P1 Q1 e0 h h' a0)).
rewrite !le_maxl profile_ge// profile_ge0//=.
have [S [mS PS QS]] := halves (mu / 2); have n : 1 + expR e != 0 by rewrite gt_eqF// addr_gt0// expR_gt0.
apply: le_trans (profile_event P01 Q01 a0 mS); rewrite PS QS.
have -> : mu / 2 - mu = - (mu / 2) by lra.
rewrite even mulrBl; have e1 : 1 - expR e / (1 + expR e) = (1 + expR e)^-1 by rewrite -[X in X - _](divff n) -mulrBl addrK mul1r.
have f : 1 - Phi (mu / 2) <= (1 + expR e)^-1 by rewrite -e1; lra.
have := ler_wpmul2l a0 f; lra.
Qed.
End Range.
