(* The measure dv/v on v > 0 is invariant under scaling (docs/theory/additive.md: mixture closed form). Powers of positive numbers, and the integral
   by dv/v. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive kernels composition laplace_curve laplace_renyi.
Import numFieldNormedType.Exports.

Section Powers.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Implicit Types (a b v w x y : R).

(* x to the power a, of x > 0. *)
Definition pw a x : R := expR (a * ln x).

Lemma pw_gt0 a x : 0 < pw a x. Proof. exact: expR_gt0. Qed.
Lemma ln_pw a x : ln (pw a x) = a * ln x. Proof. exact: expK. Qed.
Lemma pw1 x : 0 < x -> pw 1 x = x. Proof. by move=> x0; rewrite /pw mul1r lnK ?posrE. Qed.
Lemma pwM a x y : 0 < x -> 0 < y -> pw a (x * y) = pw a x * pw a y.
Proof. by move=> x0 y0; rewrite /pw lnM ?posrE// mulrDr expRD. Qed.
Lemma pwD a b x : pw (a + b) x = pw a x * pw b x. Proof. by rewrite /pw mulrDl expRD. Qed.
Lemma pw_pw a b x : pw a (pw b x) = pw (a * b) x. Proof. by rewrite /pw expK mulrA. Qed.
Lemma pw_natural n v : 0 < v -> pw n%:R v = v ^+ n.
Proof. by move=> v0; elim: n => [|n IH]; [rewrite /pw mul0r expR0 | rewrite mulrS pwD pw1// IH exprS]. Qed.
Lemma pwV x : 0 < x -> pw (- 1) x = x^-1.
Proof. by move=> x0; rewrite /pw mulN1r expRN lnK ?posrE. Qed.
Lemma sqrt_pw x : 0 < x -> Num.sqrt x = pw (1 / 2) x.
Proof.
move=> x0; have e : x = pw (1 / 2) x ^+ 2 by rewrite expr2 -pwD (_ : 1 / 2 + 1 / 2 = 1); [rewrite pw1 | lra].
by rewrite {1}e sqrtr_sqr gtr0_norm ?pw_gt0.
Qed.

Lemma measurable_ln : measurable_fun setT (@ln R).
Proof.
apply: (measurability (RGenOInfty.measurableE R)) => // _ [_ [a ->] <-]; rewrite setTI.
have [a0|a0] := leP 0 a.
- rewrite (_ : _ @^-1` _ = `]expR a, +oo[%classic); first exact: measurable_itv.
  apply/seteqP; split=> x /=; rewrite !in_itv/= !andbT => h.
    have x0 : 0 < x by rewrite ltNge; apply/negP => /ln0 e; move: h; rewrite e ltNge a0.
    by rewrite -(lnK (x := x)) ?posrE// ltr_expR.
  by rewrite -(ltr_expR a) lnK ?posrE// (lt_trans (expR_gt0 a)).
- rewrite (_ : _ @^-1` _ = `]expR a, +oo[%classic `|` `]-oo, 0]%classic); first by apply: measurableU; exact: measurable_itv.
  apply/seteqP; split=> x /=; rewrite !in_itv/= !andbT.
    have [x0 h|x0 _] := ltP 0 x; last by right.
    by left; rewrite -(lnK (x := x)) ?posrE// ltr_expR.
  by case=> [h|/ln0 ->] //; rewrite -(ltr_expR a) lnK ?posrE// (lt_trans (expR_gt0 a)).
Qed.

Lemma measurable_expR : measurable_fun setT (@expR R).
Proof. by apply: continuous_measurable_fun; exact: continuous_expR. Qed.

Lemma measurable_pw a : measurable_fun setT (pw a).
Proof. by apply: measurable_fun_comp measurable_expR _; apply: measurable_funrM; exact: measurable_ln. Qed.

(* -- The integral by dv/v over v > 0 -- *)
Definition weight v : R := pw (- 1) v * \1_`]0, +oo[%classic v.
Definition haarx (f : R -> \bar R) : \bar R := (\int[leb]_v ((weight v)%:E * f v))%E.
Definition haar (f : R -> R) : \bar R := haarx (EFin \o f).

Lemma weight_ge0 v : 0 <= weight v. Proof. by rewrite mulr_ge0 ?indicE ?ler0n// ltW// pw_gt0. Qed.
Lemma weight0 v : v <= 0 -> weight v = 0.
Proof. by move=> v0; rewrite /weight indicE memNset ?mulr0//= in_itv/= andbT; apply/negP; rewrite -leNgt. Qed.
Lemma weight_scaled a v : 0 < a -> a * weight (a * v) = weight v.
Proof.
move=> a0; have [v0|v0] := leP v 0; first by rewrite !weight0 ?mulr0// pmulr_rle0.
rewrite /weight !indicE !mem_set/= ?in_itv/= ?v0 ?mulr_gt0// !mulr1 pwM// [pw _ a]pwV//.
by rewrite mulrA mulfV ?mul1r// gt_eqF.
Qed.
Lemma measurable_weight : measurable_fun setT weight.
Proof. by apply: measurable_funM; [exact: measurable_pw | apply: measurable_fun_indic; exact: measurable_itv]. Qed.

Lemma haarx_eq (f g : R -> \bar R) : (forall v, 0 < v -> f v = g v) -> haarx f = haarx g.
Proof. by move=> e; apply: eq_integral => v _; have [v0|v0] := leP v 0; [rewrite weight0// !mul0e | rewrite e]. Qed.
Lemma haar_eq (f g : R -> R) : (forall v, 0 < v -> f v = g v) -> haar f = haar g.
Proof. by move=> e; apply: haarx_eq => v v0; rewrite /= e. Qed.

Lemma haar_ge0 f : (forall v, 0 <= f v) -> (0 <= haar f)%E.
Proof. by move=> f0; apply: integral_ge0 => v _; rewrite -EFinM lee_fin; apply: mulr_ge0 => //; exact: weight_ge0. Qed.

Section Function.
Variable f : R -> R.
Hypotheses (mf : measurable_fun setT f) (f0 : forall v, 0 <= f v).

Lemma measurable_haar : measurable_fun setT (fun v => weight v * f v).
Proof. by apply: measurable_funM => //; exact: measurable_weight. Qed.

Lemma haar_scaled a : 0 < a -> haar f = haar (fun v => f (a * v)).
Proof.
move=> a0; have p0 v : 0 <= weight v * f v by apply: mulr_ge0 => //; exact: weight_ge0.
rewrite /haar /haarx (integral_stretched 0 a0 measurable_haar p0 measurableT) preimage_setT.
have ma : measurable_fun setT (fun y : R => a * y) by apply: measurable_funrM; exact: measurable_fun_id.
transitivity (a%:E * \int[leb]_v (weight (a * v) * f (a * v))%:E)%E.
  by congr (_ * _)%E; apply: eq_integral => v _; rewrite add0r subr0.
rewrite -(integral_scaled leb (ltW a0) (fun y => p0 (a * y)) (measurable_fun_comp measurable_haar ma) measurableT).
by apply: eq_integral => v _; rewrite mulrA weight_scaled.
Qed.

(* A factor, which may be infinite. *)
Lemma haar_times (c : \bar R) : (0 <= c)%E -> haarx (fun v => (f v)%:E * c)%E = (haar f * c)%E.
Proof.
move=> c0; rewrite /haarx; transitivity (\int[leb]_v (c * (weight v * f v)%:E))%E.
  by apply: eq_integral => v _; rewrite muleA -EFinM muleC.
rewrite ge0_integralM//; first by rewrite muleC.
- by apply/EFin_measurable_fun; exact: measurable_haar.
- by move=> v _; rewrite lee_fin; apply: mulr_ge0 => //; exact: weight_ge0.
Qed.

Lemma haar_factor c : 0 <= c -> haar (fun v => c * f v) = (c%:E * haar f)%E.
Proof.
move=> c0; rewrite muleC -haar_times ?lee_fin//.
by apply: haarx_eq => v _; rewrite /= -EFinM mulrC.
Qed.
End Function.

End Powers.
