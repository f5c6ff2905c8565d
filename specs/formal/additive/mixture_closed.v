(* The rule mixture-closed-form (docs/theory/additive.md): a scale mixture whose integral over the hidden variable has a closed form is the radial noise
   of that profile. The integrals are found up to constants, by scaling the hidden variable; the constants are those of the normalisers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive kernels composition mixtures likelihood laplace_curve scale_integrals.
Import numFieldNormedType.Exports.

(* -- The integrals over the hidden variable -- *)
Section Integrals.
Context (R : realType) (k s : R).
Hypothesis k0 : 0 < k.
Implicit Types (B C v z : R).

(* What is integrated by dv/v. *)
Definition hidden B C v : R := expR (- (k * s) * ln v - B * pw (- k) v - C * pw k v).

Lemma hidden_ge0 B C v : 0 <= hidden B C v. Proof. exact: expR_ge0. Qed.
Lemma measurable_hidden B C : measurable_fun setT (hidden B C).
Proof.
apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funB; last by apply: measurable_funrM; exact: measurable_pw.
by apply: measurable_funB; apply: measurable_funrM; [exact: measurable_ln | exact: measurable_pw].
Qed.

Lemma hidden_scaled B C a : 0 < a -> haar (hidden B C) = ((pw (- (k * s)) a)%:E * haar (hidden (B * pw (- k) a) (C * pw k a)))%E.
Proof.
move=> a0; rewrite (@haar_scaled _ _ (measurable_hidden B C) (hidden_ge0 B C) _ a0).
rewrite -(haar_factor (measurable_hidden _ _) (hidden_ge0 _ _)); last by rewrite ltW ?pw_gt0.
apply: haar_eq => v v0; rewrite /hidden !pwM// lnM ?posrE//; move: (pw (- k) a) (pw (- k) v) (pw k a) (pw k v) => p1 p2 p3 p4.
by rewrite /pw -expRD; congr expR; lra.
Qed.

(* Gamma's integrals. *)
Lemma gamma_below B : 0 < B -> haar (hidden B 0) = ((pw (- s) B)%:E * haar (hidden 1 0))%E.
Proof.
move=> B0; rewrite (hidden_scaled B 0 (pw_gt0 (1 / k) B)) mul0r (pw_pw (- (k * s))) (pw_pw (- k)).
have -> : - (k * s) * (1 / k) = - s by rewrite mul1r mulNr mulrAC mulfV ?mul1r// gt_eqF.
have -> : - k * (1 / k) = - 1 by rewrite mul1r mulNr mulfV// gt_eqF.
have -> : B * pw (- 1) B = 1 by rewrite (pwV B0) mulfV// gt_eqF.
by [].
Qed.

Lemma gamma_above C : 0 < C -> haar (hidden 0 C) = ((pw s C)%:E * haar (hidden 0 1))%E.
Proof.
move=> C0; rewrite (hidden_scaled 0 C (pw_gt0 (- (1 / k)) C)) mul0r (pw_pw (- (k * s))) (pw_pw k).
have -> : - (k * s) * - (1 / k) = s by rewrite mulrNN mul1r mulrAC mulfV ?mul1r// gt_eqF.
have -> : k * - (1 / k) = - 1 by rewrite mul1r mulrN mulfV// gt_eqF.
have -> : C * pw (- 1) C = 1 by rewrite (pwV C0) mulfV// gt_eqF.
by [].
Qed.

(* Where both terms are there, they are made equal. *)
Lemma both_terms B C : 0 < B -> 0 < C ->
  haar (hidden B C) = ((pw (s / 2) (C / B))%:E * haar (hidden (Num.sqrt (B * C)) (Num.sqrt (B * C))))%E.
Proof.
move=> B0 C0; have BC : 0 < B * C by rewrite mulr_gt0.
have kk : k * (1 / (2 * k)) = 1 / 2 by rewrite mul1r invfM mulrCA mulfV ?mulr1 ?div1r// gt_eqF.
rewrite (hidden_scaled B C (pw_gt0 (1 / (2 * k)) (B / C))) (pw_pw (- (k * s))) (pw_pw (- k)) (pw_pw k).
have -> : - (k * s) * (1 / (2 * k)) = - (s / 2) by rewrite mulNr mulrAC kk mulrC mul1r.
rewrite mulNr kk (sqrt_pw BC).
have ln1 : ln (B / C) = ln B - ln C by rewrite ln_div ?posrE.
have ln2 : ln (C / B) = ln C - ln B by rewrite ln_div ?posrE.
have ln3 : ln (B * C) = ln B + ln C by rewrite lnM ?posrE.
have eB : B = expR (ln B) by rewrite lnK ?posrE.
have eC : C = expR (ln C) by rewrite lnK ?posrE.
have -> : pw (- (s / 2)) (B / C) = pw (s / 2) (C / B) by rewrite /pw ln1 ln2; congr expR; lra.
have -> : B * pw (- (1 / 2)) (B / C) = pw (1 / 2) (B * C) by rewrite {1}eB /pw ln1 ln3 -expRD; congr expR; lra.
by have -> : C * pw (1 / 2) (B / C) = pw (1 / 2) (B * C) by rewrite {1}eC /pw ln1 ln3 -expRD; congr expR; lra.
Qed.
End Integrals.
