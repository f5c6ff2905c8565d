(* The error of any private mechanism, by lines of neighbours (docs/theory/necessary.md, lines lower bound): for counts and for real histograms,
   in the mean length and in the mean square. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import realfun.
From dpverify Require Import definitions density arithmetic likelihood means joint_moves error_chains error_grids contractions.

(* -- Matrices -- *)

(* A query with a row for each number that is asked for, and differences of histograms, a row each, with weights. *)
Section Matrices.
Context (R : realType) (D n m : nat) (query : 'M[R]_(D, n)) (steps : 'M[R]_(m, n)) (p : 'I_m -> R) (H : 'M[R]_D) (c : R).
Definition moved : 'M[R]_(m, D) := steps *m query^T.
Definition weights : 'rV[R]_m := \row_l p l.
Definition contracted : 'M[R]_D := H *m (moved^T *m diag_mx weights *m moved) *m H.
Hypotheses (p0 : forall l, 0 <= p l) (p1 : \sum_l p l <= 1) (sym : H^T = H) (c1 : c <= 1).
Hypothesis level : \sum_i \sum_j ((contracted *m contracted - c *: contracted) i j) ^+ 2 <= (1 - c) ^+ 2.

(* f' H f for each of the differences. *)
Definition size l : R := (moved *m H *m moved^T) l l.
Definition mean_sum : R := \sum_l p l * `|size l|.
Definition square_sum : R := \sum_l p l * size l ^+ 2.

Let G : 'M[R]_(m, D) := moved *m H.
Let seen l (y : 'I_D -> R) : R := \sum_i G l i * y i.

Lemma sizeE l : size l = seen l (fun i => moved l i).
Proof. by rewrite /size mxE; apply: eq_bigr => i _; rewrite [X in _ * X]mxE. Qed.

Lemma contractedE : contracted = G^T *m diag_mx weights *m G.
Proof.
have GT : G^T = H *m moved^T by rewrite /G (trmx_mul moved) sym.
by rewrite GT /contracted /G !mulmxA.
Qed.

Lemma form_contracted y : form contracted y = \sum_l p l * seen l y ^+ 2.
Proof.
rewrite /form /apply_to contractedE.
transitivity (\sum_i \sum_j \sum_l p l * (G l i * y i) * (G l j * y j)).
  apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mxE mulr_suml mulr_sumr; apply: eq_bigr => l _.
  by rewrite mul_mx_diag !mxE; lra.
under eq_bigr do rewrite exchange_big/=; rewrite exchange_big/=; apply: eq_bigr => l _.
rewrite expr2 /seen big_distrlr/= mulr_sumr; apply: eq_bigr => i _; rewrite mulr_sumr; apply: eq_bigr => j _; by rewrite -mulrA.
Qed.

Lemma contracted_sym : contracted^T = contracted.
Proof. by rewrite contractedE (trmx_mul (G^T *m _)) (trmx_mul G^T) trmxK tr_diag_mx mulmxA. Qed.

Lemma seen_squares y : \sum_l p l * seen l y ^+ 2 <= squares y.
Proof.
rewrite -form_contracted; apply: (contraction contracted_sym c1 level).
by rewrite form_contracted; apply: sumr_ge0 => l _; rewrite mulr_ge0// sqr_ge0.
Qed.

Lemma seen_sizes y : \sum_l p l * `|seen l y| <= Num.sqrt (squares y).
Proof.
have q0 := squares_ge0 y; have r0 := sqrtr_ge0 (squares y); set r := Num.sqrt _ in r0 *.
have rE : r ^+ 2 = squares y by exact: sqr_sqrtr.
have s0 : 0 <= \sum_l p l * `|seen l y| by apply: sumr_ge0 => l _; rewrite mulr_ge0.
rewrite -(ler_pexpn2r (n := 2))// ?nnegrE// rE; apply: le_trans (seen_squares y).
have E l : p l * `|seen l y| = Num.sqrt (p l) * (Num.sqrt (p l) * `|seen l y|) by rewrite mulrA -expr2 sqr_sqrtr.
under eq_bigr do rewrite E; apply: le_trans (cauchy_schwarz _ _) _.
have -> : \sum_l (Num.sqrt (p l) * `|seen l y|) ^+ 2 = \sum_l p l * seen l y ^+ 2.
  by apply: eq_bigr => l _; rewrite exprMn sqr_sqrtr// real_normK ?num_real.
have -> : \sum_l Num.sqrt (p l) ^+ 2 = \sum_l p l by apply: eq_bigr => l _; rewrite sqr_sqrtr.
by rewrite ler_pimull// sumr_ge0// => l _; rewrite mulr_ge0// sqr_ge0.
Qed.

(* Along each difference, as the number of steps. *)
Definition along l (i : 'I_D) : R := G l i / size l.

Lemma part_along l y : part along l y = seen l y / size l.
Proof. by rewrite /part /along /seen mulr_suml; apply: eq_bigr => i _; rewrite mulrAC. Qed.

Lemma part_unit l : size l != 0 -> part along l (fun i => moved l i) = 1.
Proof. by move=> h; rewrite part_along -sizeE divff. Qed.

Lemma mean_parts y : \sum_l p l * `|size l| * `|part along l y| <= Num.sqrt (squares y).
Proof.
apply: le_trans (seen_sizes y); apply: ler_sum => l _; rewrite -mulrA; apply: ler_wpmul2l => //.
rewrite part_along normrM normfV; have [->|h] := eqVneq (size l) 0; first by rewrite normr0 mul0r.
by rewrite mulrCA divff ?mulr1// normr_eq0.
Qed.

Lemma square_parts y : \sum_l p l * size l ^+ 2 * part along l y ^+ 2 <= squares y.
Proof.
apply: le_trans (seen_squares y); apply: ler_sum => l _; rewrite -mulrA; apply: ler_wpmul2l => //.
rewrite part_along exprMn exprVn; have [->|h] := eqVneq (size l) 0; first by rewrite expr0n/= mul0r sqr_ge0.
by rewrite mulrCA divff ?mulr1// sqrf_eq0.
Qed.
End Matrices.

(* -- Errors -- *)

Section Errors.
Context (R : realType) (X : Type) d (Z : measurableType d) (M : mechanism R X Z) (D : nat) (coordinate : 'I_D -> Z -> R) (answer : X -> 'I_D -> R).
Hypothesis mcoordinate : forall i, measurable_fun setT (coordinate i).

(* The mean length of the error, and the mean of its square, on one database; and the greatest of them. *)
Definition length_on x : \bar R := (\int[M x]_z (Num.sqrt (squares (error coordinate answer x z)))%:E)%E.
Definition square_on x : \bar R := (\int[M x]_z (squares (error coordinate answer x z))%:E)%E.
Definition worst_length : \bar R := ereal_sup [set length_on x | x in [set: X]].
Definition worst_square : \bar R := ereal_sup [set square_on x | x in [set: X]].

Lemma measurable_squares x : measurable_fun setT (fun z => squares (error coordinate answer x z)).
Proof.
apply: measurable_sum => i; under eq_fun do rewrite expr2.
by apply: measurable_funM; apply: measurable_funB => //; exact: measurable_fun_cst.
Qed.

Lemma measurable_length x : measurable_fun setT (fun z => Num.sqrt (squares (error coordinate answer x z))).
Proof.
have ms : measurable_fun setT (@Num.sqrt R) by apply: continuous_measurable_fun; exact: sqrt_continuous.
exact: (measurable_fun_comp ms (measurable_squares x)).
Qed.

Lemma length_ge0 x : (0 <= length_on x)%E. Proof. by apply: integral_ge0 => z _; rewrite lee_fin sqrtr_ge0. Qed.
Lemma square_ge0 x : (0 <= square_on x)%E. Proof. by apply: integral_ge0 => z _; rewrite lee_fin squares_ge0. Qed.

(* A bound on the greatest of some means is one that holds whatever they all are at most. *)
Lemma below_worst (f : X -> \bar R) (v : R) : inhabited X -> (forall x, (0 <= f x)%E) ->
  (forall e, 0 <= e -> (forall x, (f x <= e%:E)%E) -> v <= e) -> (v%:E <= ereal_sup [set f x | x in [set: X]])%E.
Proof.
move=> [x0] f0 h; have up x : (f x <= ereal_sup [set f x | x in [set: X]])%E by apply: ereal_sup_ub; exists x.
move: up; case: (ereal_sup _) => [e| |] up; [|by rewrite leey|].
- rewrite lee_fin; apply: h => //; rewrite -lee_fin; exact: le_trans (f0 x0) (up x0).
- by have := le_trans (f0 x0) (up x0); rewrite leeNy_eq.
Qed.

(* The mean length is at most the root of the mean square. *)
Lemma length_of_square x (e : R) : 0 < e -> (square_on x <= (e ^+ 2)%:E)%E -> (length_on x <= e%:E)%E.
Proof.
move=> e0 le; have ei : 0 <= (2 * e)^-1 by rewrite invr_ge0 mulr_ge0// ltW.
have half0 : 0 <= e / 2 by rewrite divr_ge0// ltW.
apply: (@le_trans _ _ (\int[M x]_z ((e / 2)%:E + ((2 * e)^-1 * squares (error coordinate answer x z))%:E))%E).
  apply: ge0_le_integral => //.
  - by apply/EFin_measurable_fun; exact: measurable_length.
  - by move=> z _; rewrite -EFinD lee_fin addr_ge0// mulr_ge0// squares_ge0.
  - apply: emeasurable_funD; first exact: measurable_fun_cst.
    by apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_squares].
  - move=> z _; rewrite -EFinD lee_fin; set s := squares _; have s0 : 0 <= s by exact: squares_ge0.
    set r := Num.sqrt s; have rE : (2 * e)^-1 * r ^+ 2 = (2 * e)^-1 * s by rewrite sqr_sqrtr.
    have := mulr_ge0 ei (sqr_ge0 (r - e)); have E : (2 * e)^-1 * (2 * e) = 1 by rewrite mulVf// mulf_neq0// gt_eqF.
    have : (2 * e)^-1 * (2 * e) * r = r by rewrite E mul1r.
    have : (2 * e)^-1 * (2 * e) * e = e by rewrite E mul1r.
    lra.
rewrite ge0_integralD//; last 3 first.
- exact: measurable_fun_cst.
- by move=> z _; rewrite lee_fin mulr_ge0// squares_ge0.
- by apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_squares].
rewrite integral_cst// law_total mule1 integral_scaled//; [|by move=> z; exact: squares_ge0|exact: measurable_squares].
apply: (@le_trans _ _ ((e / 2)%:E + (2 * e)^-1%:E * (e ^+ 2)%:E)%E); first by rewrite lee_add2l// lee_wpmul2l ?lee_fin.
rewrite -EFinM -EFinD lee_fin; have : (2 * e)^-1 * (2 * e) * e = e by rewrite mulVf ?mul1r// mulf_neq0// gt_eqF.
lra.
Qed.
End Errors.
