(* The inverse of the hyperbolic sine: it rises, is 0 at 0 and positive beyond. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic modulus_rules.

Section Hyperbolic.
Context (R : realType).
Implicit Types (x y : R).

Lemma asinh_rises x y : x <= y -> asinh x <= asinh y.
Proof.
move=> xy; rewrite /asinh; pose S (t : R) := Num.sqrt (t ^+ 2 + 1).
have SE t : S t ^+ 2 = t ^+ 2 + 1 by rewrite sqr_sqrtr// addr_ge0 ?sqr_ge0.
have S0 t : 0 <= S t by exact: sqrtr_ge0.
have up t : 0 < S t - t /\ 0 < t + S t.
  have lt : `|t| < S t.
    by rewrite -ltr_sqr ?nnegrE// SE real_normK ?num_real// ltr_addl.
  by have := ler_norm t; have := ler_norm (- t); rewrite normrN => h1 h2; split; lra.
have one t : (S t - t) * (t + S t) = 1 by have := SE t; rewrite !expr2; lra.
rewrite -/(S x) -/(S y) ler_ln ?posrE; try exact: (up _).2.
rewrite leNgt; apply/negP => lt; have [ux px] := up x; have [uy py] := up y.
have : (S x - x) < (S y - y).
  rewrite -(ltr_pmul2r px) one -(one y) ltr_pmul2l//.
lra.
Qed.

Lemma asinh_gt0 (u : R) : 0 < u -> 0 < asinh u.
Proof.
move=> u0; rewrite /asinh ln_gt0//; have : 1 <= Num.sqrt (u ^+ 2 + 1).
  by rewrite -{1}[1]sqrtr1 ler_wsqrtr// ler_addr sqr_ge0.
lra.
Qed.

Lemma asinh0 : asinh (0 : R) = 0. Proof. by rewrite /asinh expr0n/= !add0r sqrtr1 ln1. Qed.
End Hyperbolic.
