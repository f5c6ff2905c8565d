(* The incomplete Gamma integral (docs/theory/additive.md: mixture closed form): the integral of e^-y y^m/m! from 0 to D is
   1 - e^-D (1 + D + ... + D^m/m!). *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic powers hoeffding slope_integrals.
Import numFieldNormedType.Exports.

Section Gamma.
Context (R : realType).
Implicit Types (m n : nat) (y D : R).

(* The first m terms of the series of the exponential. *)
Definition series m y : R := \sum_(j < m) j`!%:R^-1 * y ^+ j.

Lemma series0 m : series m.+1 0 = 1.
Proof. by rewrite /series big_ord_recl/= fact0 invr1 expr0 mulr1 big1 ?addr0// => j _; rewrite expr0n/= mulr0. Qed.

Lemma der_power n y : is_derive y 1 (fun y : R => y ^+ n) (n%:R * y ^+ n.-1).
Proof.
elim: n => [|n IH]; first by rewrite mul0r; exact: der_cst.
rewrite (_ : (fun y : R => y ^+ n.+1) = (fun y => y * y ^+ n)); last by apply/funext => x; rewrite exprS.
apply: der_eq (der_mul (der_id y) IH) _; rewrite mul1r /=.
case: n {IH} => [|n] /=; first by rewrite mul0r mulr0 addr0 mul1r.
by rewrite mulrCA -exprS [in RHS]mulrSr mulrDl mul1r addrC.
Qed.

Lemma der_series m y : is_derive y 1 (series m.+1) (series m y).
Proof.
elim: m => [|m IH].
  rewrite /series big_ord0 (_ : (fun _ => _) = fun=> 1); first exact: der_cst.
  by apply/funext => x; rewrite big_ord_recl big_ord0 fact0 invr1 expr0 mulr1 addr0.
rewrite (_ : series m.+2 = (fun y => series m.+1 y + m.+1`!%:R^-1 * y ^+ m.+1)); last by apply/funext => x; rewrite /series big_ord_recr.
apply: der_eq (der_add IH (der_mul (der_cst _ y) (der_power _ y))) _.
rewrite {2}/series big_ord_recr/= mul0r add0r; congr (_ + _).
rewrite factS natrM invfM -mulrA mulrCA; congr (_ * _); rewrite mulrA mulVf ?mul1r// pnatr_eq0//.
Qed.

Definition term m y : R := expR (- y) * (m`!%:R^-1 * y ^+ m).
Definition dterm m y : R := expR (- y) * (m`!%:R^-1 * (m%:R * y ^+ m.-1) - m`!%:R^-1 * y ^+ m).
Definition mass m y : R := - (expR (- y) * series m.+1 y).

Let der_decay y : is_derive y 1 (fun y : R => expR (- y)) (- expR (- y)). Proof. exact: der_opp. Qed.

Lemma der_mass m y : is_derive y 1 (mass m) (term m y).
Proof.
rewrite (_ : mass m = (fun y => - 1 * (expR (- y) * series m.+1 y))); last by apply/funext => x; rewrite mulN1r.
apply: der_eq (der_mul (der_cst (- 1) y) (der_mul (der_decay y) (der_series m y))) _.
rewrite mul0r add0r /term {1}/series big_ord_recr -/(series m y)/=; lra.
Qed.

Lemma der_term m y : is_derive y 1 (term m) (dterm m y).
Proof.
apply: der_eq (der_mul (der_decay y) (der_mul (der_cst _ y) (der_power m y))) _.
rewrite mul0r add0r /dterm; lra.
Qed.

Lemma term_ge0 m y : 0 <= y -> 0 <= term m y.
Proof. by move=> y0; rewrite !mulr_ge0 ?expR_ge0 ?invr_ge0 ?ler0n ?exprn_ge0. Qed.

Lemma inverse_factorial m : (m`!%:R : R)^-1 <= 1.
Proof. by rewrite invf_le1 ?ler1n ?ltr0n fact_gt0. Qed.

Lemma dterm_bounded m D y : 0 <= y -> y <= D -> `|dterm m y| <= m%:R * D ^+ m.-1 + D ^+ m.
Proof.
move=> y0 yD; have D0 := le_trans y0 yD.
have e1 : expR (- y) <= 1 by rewrite -expR0 ler_expR oppr_le0.
have pD n : y ^+ n <= D ^+ n by rewrite ler_expn2r ?nnegrE.
have f0 : 0 <= (m`!%:R : R)^-1 by rewrite invr_ge0 ler0n.
have i1 := inverse_factorial m.
have bound (x z : R) : 0 <= x -> x <= z -> 0 <= m`!%:R^-1 * x /\ m`!%:R^-1 * x <= z.
  move=> x0 xz; split; first by rewrite mulr_ge0.
  exact: (le_trans (ler_pimull x0 i1) xz).
have [a0 a1] := bound (m%:R * y ^+ m.-1) (m%:R * D ^+ m.-1) (mulr_ge0 (ler0n _ _) (exprn_ge0 _ y0)) (ler_wpmul2l (ler0n _ _) (pD _)).
have [b0 b1] := bound (y ^+ m) (D ^+ m) (exprn_ge0 _ y0) (pD _).
rewrite /dterm normrM (ger0_norm (expR_ge0 _)).
apply: (@le_trans _ _ `|m`!%:R^-1 * (m%:R * y ^+ m.-1) - m`!%:R^-1 * y ^+ m|); first exact: ler_pimull.
by rewrite ler_norml; apply/andP; split; lra.
Qed.

Lemma continuous_term m : continuous (term m : R^o -> R^o).
Proof. by move=> y; apply: differentiable_continuous; apply/derivable1_diffP; have [] := der_term m y. Qed.
Lemma measurable_term m : measurable_fun setT (term m).
Proof. by apply: continuous_measurable_fun; exact: continuous_term. Qed.

Theorem incomplete_gamma m D : 0 <= D -> (\int[@lebesgue_measure R]_(y in `]0%R, D]%classic) (term m y)%:E = (1 - expR (- D) * series m.+1 D)%:E)%E.
Proof.
move=> D0; set L := m%:R * D ^+ m.-1 + D ^+ m; have L0 : 0 <= L by rewrite addr_ge0 ?mulr_ge0 ?exprn_ge0.
pose g y := Num.max 0 (term m y); have gE y : 0 <= y -> g y = term m y by move=> y0; rewrite /g max_r// term_ge0.
transitivity (\int[@lebesgue_measure R]_(y in `]0%R, D]%classic) (g y)%:E)%E.
  by apply: eq_integral => y; rewrite inE/= in_itv/= => /andP[/ltW y0 _]; rewrite gE.
have mg : measurable_fun setT g by apply: measurable_fun_max; [exact: measurable_fun_cst | exact: measurable_term].
have g0 y : 0 <= g y by rewrite /g le_maxr lexx.
have slope y : 0 <= y -> y <= D -> is_derive y (1 : R) (mass m) (g y) by move=> y0 _; rewrite gE//; exact: der_mass.
rewrite (integral_of_slope (F := mass m) (M := fun y => L * y) D0 mg g0 slope).
  by rewrite /mass series0 oppr0 expR0 mulr1 opprK addrC.
move=> x c y x0 xc cy yD; rewrite !gE ?(le_trans x0)//.
have [z zin ->] := @MVT_segment R (term m) (dterm m) x c xc (fun y _ => der_term m y) (continuous_subspaceT (@continuous_term m)).
move: zin; rewrite in_itv/= => /andP[xz zc]; rewrite -mulrBr normrM [`|c - x|]ger0_norm ?subr_ge0//.
by apply: ler_pmul => //; [rewrite subr_ge0 | apply: dterm_bounded; lra | lra].
Qed.
End Gamma.
