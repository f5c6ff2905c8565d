(* The greatest l1 length of a shift within a bound in another norm (docs/theory/additive.md: gauges): for norms by columns, by facets and by an
   ellipsoid, and for lp norms. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive powers products kernels curves laplace_curve gaussian_curve.

Section Longest.
Context (R : realType) (m : nat).
Implicit Types (z : 'rV[R]_m) (r : R) (s : 'I_m -> R).

(* The l1 length is the greatest value of the forms with coefficients 1 and -1. *)
Definition signs s := forall j, s j = 1 \/ s j = - 1.
Lemma l1_signs z b : (forall s, signs s -> \sum_j s j * z 0 j <= b) -> l1 z <= b.
Proof.
move=> le; pose s j : R := if 0 <= z 0 j then 1 else - 1.
have ss : signs s by move=> j; rewrite /s; case: ifP; [left | right].
apply: le_trans (le s ss); rewrite /l1; apply: ler_sum => j _; rewrite /s; have [z0|z0] := leP 0 (z 0 j).
  by rewrite ger0_norm// mul1r.
by rewrite ltr0_norm// mulN1r.
Qed.

(* By columns: the longest column. *)
Lemma columns_l1 n (column : 'I_n -> 'rV[R]_m) r z : (forall x, exists w, writes column w x) -> 0 <= r -> (forall i, l1 (column i) <= r) ->
  l1 z <= r * column_gauge column z.
Proof.
move=> spanning r0 le.
suff every w : writes column w z -> l1 z <= r * \sum_i `|w i|.
  apply/ler_addgt0Pr => e e0; have r1 : 0 < r + 1 by lra.
  have [w wz near] := column_gauge_near spanning z (divr_gt0 e0 r1).
  apply: (le_trans (every w wz)); have := ler_wpmul2l r0 (ltW near).
  have ee : e / (r + 1) * (r + 1) = e by rewrite divfK// gt_eqF.
  have := divr_gt0 e0 r1; move: (e / (r + 1)) ee => k ee k0; lra.
move=> <-; have -> : l1 (\sum_i w i *: column i) = \sum_j `|\sum_i w i * column i 0 j|.
  by apply: eq_bigr => j _; rewrite summxE; congr `|_|; apply: eq_bigr => i _; rewrite mxE.
apply: (@le_trans _ _ (\sum_j \sum_i `|w i| * `|column i 0 j|)).
  by apply: ler_sum => j _; apply: (le_trans (ler_norm_sum _ _ _)); apply: ler_sum => i _; rewrite normrM.
rewrite exchange_big mulr_sumr; apply: ler_sum => i _; rewrite -mulr_sumr mulrC.
by apply: ler_wpmul2r => //; exact: le.
Qed.

(* By facets: where each form with coefficients 1 and -1 is a combination of the facets, of coefficients whose sizes sum to at most r. *)
Lemma facets_l1 n (facet : 'I_n -> {linear 'rV[R]_m -> R^o}) r z :
  (forall s, signs s -> exists2 w : 'I_n -> R, \sum_i `|w i| <= r & forall x : 'rV[R]_m, \sum_j s j * x 0 j = \sum_i w i * (facet i x : R)) ->
  l1 z <= r * \big[Num.max/0]_i `|facet i z : R|.
Proof.
move=> dual; apply: l1_signs => s ss; have [w wr ->] := dual s ss; set b := \big[Num.max/0]_i _.
have b0 : 0 <= b by rewrite /b; elim/big_ind: _ => // u v u0 v0; rewrite le_maxr u0.
apply: le_trans (ler_wpmul2r b0 wr); rewrite mulr_suml; apply: ler_sum => i _.
apply: (le_trans (ler_norm _)); rewrite normrM; apply: ler_wpmul2l => //; exact: le_bigmax.
Qed.

(* By an ellipsoid: the length of z is the root of B(z, z), and a form with coefficients 1 and -1 is B(u, .) of a u of length at most r. *)
Lemma ellipsoid_l1 (B : 'rV[R]_m -> 'rV[R]_m -> R) r z : inner_form B -> 0 <= r ->
  (forall s, signs s -> exists2 u, B u u <= r ^+ 2 & forall x : 'rV[R]_m, \sum_j s j * x 0 j = B u x) -> l1 z <= r * Num.sqrt (B z z).
Proof.
move=> form r0 dual; apply: l1_signs => s ss; have [u ur ->] := dual s ss.
set N := Num.sqrt _; have N0 : 0 <= N by exact: sqrtr_ge0.
have zN : B z z = N ^+ 2 by rewrite sqr_sqrtr//; exact: form_ge0.
have every a b : 0 <= a ^+ 2 * r ^+ 2 - (a * b * B u z) * 2 + b ^+ 2 * N ^+ 2.
  have := form_ge0 form (a *: u - b *: z); rewrite (form_difference form) !(formZl form) !(formZr form) zN.
  have := ler_wpmul2l (sqr_ge0 a) ur; rewrite !expr2 (formC form z u); lra.
rewrite leNgt; apply/negP => lt; have p0 : 0 < B u z by apply: le_lt_trans lt; rewrite mulr_ge0.
have p2 : 0 < B u z ^+ 2 by exact: exprn_gt0.
have [rN|] := ltP 0 (r * N).
  have d0 : 0 < B u z - r * N by rewrite subr_gt0.
  by have := every N r; have := mulr_gt0 rN d0; rewrite !expr2; lra.
move=> le; have {le} e0 : r * N = 0 by apply/eqP; rewrite eq_le le mulr_ge0.
have /orP[/eqP rz|/eqP Nz] : (r == 0) || (N == 0) by rewrite -mulf_eq0 e0.
- have := every (N ^+ 2 + 1) (B u z); rewrite rz expr0n mulr0 add0r.
  by have := mulr_ge0 (ltW p2) (sqr_ge0 N); move: p2; rewrite !expr2; lra.
- have := every (B u z) (r ^+ 2 + 1); rewrite Nz expr0n mulr0 addr0.
  by have := mulr_ge0 (ltW p2) (sqr_ge0 r); move: p2; rewrite !expr2; lra.
Qed.
(* In an lp norm; `None` is the maximum norm. *)
Definition l1_within (p : option R) (D : R) : R := m%:R * alike m p D.
Lemma lp_l1 p D z : (0 < m)%N -> 0 <= D -> budget p (fun j => z 0 j) D -> l1 z <= l1_within p D.
Proof. by move=> m0 D0; exact: (budget_sum m0). Qed.
End Longest.
