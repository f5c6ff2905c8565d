(* Bessel's integral (docs/theory/additive.md: mixture closed form): the modified Bessel function K as an integral by dv/v, and that it is even in its
   order. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic laplace_curve scale_integrals mixture_closed scale_powers.
Import numFieldNormedType.Exports.

Section Bessel.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Implicit Types (s z v : R) (K : R -> R -> R).

(* K is the modified Bessel function of the second kind, by its integral (DLMF 10.32.10), which holds for every real order s and z > 0. The kernel's
   arithmetic takes its values from other representations of the same function; that these agree is a fact of analysis, and is not shown here. *)
Definition bessel K := forall s z, 0 < z ->
  (K s z)%:E = ((1 / 2 * pw s (z / 2))%:E * \int[leb]_(t in `]0%R, +oo[%classic) (expR (- t - z ^+ 2 / (4 * t)) * pw (- (s + 1)) t)%:E)%E.

Lemma bessel_hidden K s z : bessel K -> 0 < z -> (K s z)%:E = ((1 / 2)%:E * haar (hidden 1 s (z / 2) (z / 2)))%E.
Proof.
move=> HK z0; have h0 : 0 < z / 2 by rewrite divr_gt0.
have -> : (K s z)%:E = ((1 / 2 * pw s (z / 2))%:E * haar (hidden 1 s ((z / 2) ^+ 2) 1))%E.
  rewrite (HK s z z0); congr (_ * _)%E; rewrite /haar /haarx integral_mkcond; apply: eq_integral => t _; rewrite /patch.
  have [t0|t0] := ltP 0 t; last by rewrite weight0// mul0e memNset//= in_itv/= andbT; apply/negP; rewrite -leNgt.
  rewrite mem_set/= ?in_itv/= ?t0// -EFinM; congr EFin; rewrite /weight indicE mem_set/= ?in_itv/= ?t0// mulr1 /hidden pw1// [pw (- 1) t in RHS]pwV//.
  have -> : pw (- (s + 1)) t = t^-1 * expR (- (s * ln t)) by rewrite -pwV// /pw -expRD; congr expR; lra.
  rewrite mulrCA -expRD; congr (_ * expR _); rewrite invfM expr2; lra.
rewrite (both_terms s ltr01 (exprn_gt0 2 h0) ltr01) mulr1 sqrtr_sqr gtr0_norm// muleA -EFinM; congr (_%:E * _)%E.
have -> : pw (s / 2) (1 / (z / 2) ^+ 2) = pw (- s) (z / 2).
  by rewrite /pw div1r lnV ?posrE ?exprn_gt0// expr2 lnM ?posrE//; congr expR; lra.
have e : pw s (z / 2) * pw (- s) (z / 2) = 1 by rewrite -pwD subrr /pw mul0r expR0.
by rewrite -[LHS]mulrA e mulr1.
Qed.

(* K is even in its order: v is turned into 1/v. *)
Lemma bessel_even K s z : bessel K -> 0 < z -> K (- s) z = K s z.
Proof.
move=> HK z0; apply: EFin_inj; have e1 := bessel_hidden (- s) HK z0; have e2 := bessel_hidden s HK z0.
apply: (etrans e1); apply: etrans (esym e2); congr (_ * _)%E.
rewrite -(haar_inverse (measurable_hidden 1 s (z / 2) (z / 2))); last exact: hidden_ge0.
apply: haar_eq => v v0; rewrite /hidden/= !pw_pw ln_pw; congr expR.
rewrite mulrNN mulr1 !mul1r; lra.
Qed.
End Bessel.
