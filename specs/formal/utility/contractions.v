(* The order of matrices as it is decided in exact numbers (docs/theory/necessary.md, lines lower bound: the order of matrices): a symmetric M is at
   most the identity where the sum of the squares of the entries of M M - c M is at most (1 - c)^2. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic joint_moves.

Section Contraction.
Context (R : realType) (D : nat).
Implicit Types (M : 'M[R]_D) (y : 'I_D -> R) (c : R).

Definition apply_to M y i : R := \sum_j M i j * y j.
Definition form M y : R := \sum_i y i * apply_to M y i.
Definition squares y : R := \sum_i y i ^+ 2.

Lemma squares_ge0 y : 0 <= squares y. Proof. by apply: sumr_ge0 => i _; exact: sqr_ge0. Qed.

Lemma form_square M y : form M y ^+ 2 <= (\sum_i \sum_j M i j ^+ 2) * squares y ^+ 2.
Proof.
apply: le_trans (cauchy_schwarz _ _) _; rewrite -/(squares y) [squares y ^+ 2]expr2 mulrA mulrC; apply: ler_wpmul2r; first exact: squares_ge0.
rewrite mulr_suml; apply: ler_sum => i _; exact: cauchy_schwarz.
Qed.

Lemma twice M y i : apply_to (M *m M) y i = apply_to M (apply_to M y) i.
Proof.
rewrite /apply_to; under eq_bigr do rewrite mxE mulr_suml; rewrite exchange_big/=; apply: eq_bigr => k _.
by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mulrA.
Qed.

Lemma turned M x y : M^T = M -> \sum_i x i * apply_to M y i = \sum_i apply_to M x i * y i.
Proof.
move=> sym; rewrite /apply_to; under eq_bigr do rewrite mulr_sumr; rewrite exchange_big/=; apply: eq_bigr => j _.
by rewrite mulr_suml; apply: eq_bigr => i _; rewrite -{1}sym mxE mulrA [x i * _]mulrC.
Qed.

Theorem contraction M c : M^T = M -> c <= 1 -> \sum_i \sum_j ((M *m M - c *: M) i j) ^+ 2 <= (1 - c) ^+ 2 ->
  forall y, 0 <= form M y -> form M y <= squares y.
Proof.
move=> sym c1 small y pos; set N := squares y; set A := form M y in pos *.
have N0 : 0 <= N by exact: squares_ge0.
pose B := squares (apply_to M y).
have BE : form (M *m M - c *: M) y = B - c * A.
  rewrite /form /B /squares /A /form mulr_sumr -(eq_bigr _ (fun i _ => esym (expr2 _))) -(turned _ _ sym) -sumrB; apply: eq_bigr => i _.
  rewrite -[c * (_ * _)]mulrCA -mulrBr -twice; congr (_ * _); rewrite /apply_to mulr_sumr -sumrB; apply: eq_bigr => j _.
  by rewrite !mxE; lra.
have near : B - c * A <= (1 - c) * N.
  have u0 : 0 <= (1 - c) * N by rewrite mulr_ge0// subr_ge0.
  apply: le_trans (ler_norm _) _; rewrite -(ler_pexpn2r (n := 2))// ?nnegrE// real_normK ?num_real// -BE.
  by apply: le_trans (form_square _ _) _; rewrite exprMn ler_wpmul2r// sqr_ge0.
have AB : A ^+ 2 <= N * B by exact: cauchy_schwarz.
rewrite leNgt; apply/negP => lt; have gap : 0 < A - N by rewrite subr_gt0.
have h1 := ler_wpmul2l N0 near.
have sum0 : 0 < A + (1 - c) * N by rewrite ltr_spaddl ?(le_lt_trans N0 lt)// mulr_ge0// subr_ge0.
have := mulr_gt0 gap sum0; lra.
Qed.
End Contraction.
