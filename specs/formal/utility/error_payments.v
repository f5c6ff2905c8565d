(* What pays for the mean size and the mean square of an error on a line (docs/theory/necessary.md, lines lower bound: one line): for steps of the
   length 1, as between counts, and for steps of every length up to 1, as between real numbers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic error_chains.

Section Functions.
Context (R : realType).

Lemma measurable_inside (i : interval R) (f : R -> R) : measurable_fun setT f -> measurable_fun setT (fun t => if t \in i then f t else 0).
Proof.
move=> mf; rewrite (_ : (fun t => _) = (fun t => f t * \1_[set` i] t)).
  by apply: measurable_funM => //; apply: measurable_fun_indic; exact: measurable_itv.
by apply/funext => t; rewrite indicE mem_setE; case: ifP => _; rewrite ?mulr1 ?mulr0.
Qed.

Lemma measurable_quadratic (a b c : R) : measurable_fun setT (fun t : R => a * t ^+ 2 + b * t + c).
Proof.
have mid : measurable_fun setT (fun t : R => t) by exact: measurable_fun_id.
apply: measurable_funD; last exact: measurable_fun_cst.
apply: measurable_funD; apply: measurable_funM => //; try exact: measurable_fun_cst.
by under eq_fun do rewrite expr2; exact: measurable_funM.
Qed.

(* By symmetry it is enough to look at one side. *)
Lemma even_enough J (s q : R) (w : R -> R) lam (psi : 'I_J -> R -> R) : even w ->
  (forall t, 0 <= t -> lam + (\sum_j (psi j t + psi j (- t))) <= w t + q * (\sum_j (psi j (t + j.+1%:R * s) + psi j (- t + j.+1%:R * s)))) ->
  forall t, lam + (\sum_j (psi j t + psi j (- t))) <= w t + q * (\sum_j (psi j (t + j.+1%:R * s) + psi j (- t + j.+1%:R * s))).
Proof.
move=> we h t; have [t0|t0] := leP 0 t; first exact: h.
have t0' : 0 <= - t by lra.
have := h _ t0'; rewrite we opprK; congr (_ + _ <= _ + _ * _); apply: eq_bigr => j _; exact: addrC.
Qed.
End Functions.

(* Steps of the length 1. *)
Section Counts.
Context (R : realType) (q : R).
Hypotheses (q0 : 0 < q) (q1 : q < 1).

(* From 1/2 on a t^2 + b t + c. *)
Let pay (a b c : R) (j : 'I_1) (t : R) : R := if t \in `[2^-1, +oo[ then a * t ^+ 2 + b * t + c else 0.

Lemma paid_in_one_step (a b c lam C : R) (w : R -> R) : 0 <= C -> even w -> (forall t, 0 <= w t) -> 0 <= a -> 0 <= b -> 0 <= a / 4 + b / 2 + c ->
  (forall t, 0 <= t -> a * t ^+ 2 + b * t + c - q * (a * (t + 1) ^+ 2 + b * (t + 1) + c) = w t - lam) ->
  q * (2 * a + 2 * b + 2 * c) = lam -> (forall t, a * (`|t| + 1) ^+ 2 + b * (`|t| + 1) + c <= C * (1 + w t)) ->
  paid 1 1 q w lam.
Proof.
move=> C0 we w0 a0 b0 least down middle most.
have up x y : 2^-1 <= x -> x <= y -> a * x ^+ 2 + b * x + c <= a * y ^+ 2 + b * y + c.
  move=> x0 xy; have d0 : 0 <= y - x by lra.
  have s0 : 0 <= y + x by lra.
  have h1 := mulr_ge0 a0 (mulr_ge0 d0 s0); have h2 := mulr_ge0 b0 d0; lra.
have at_half : a * 2^-1 ^+ 2 + b * 2^-1 + c = a / 4 + b / 2 + c by lra.
have pay0 t : 0 <= pay a b c ord0 t.
  rewrite /pay in_itv/= andbT; case: ifP => // h; rewrite -at_half in least; exact: le_trans (up _ _ (lexx _) h).
have below t s : t <= s -> 2^-1 <= s -> pay a b c ord0 t <= a * s ^+ 2 + b * s + c.
  move=> ts s0; rewrite /pay in_itv/= andbT; case: ifP => h; first exact: up.
  by rewrite -at_half in least; apply: le_trans least (up _ _ (lexx _) s0).
have big (t : R) : 2^-1 <= `|t| + 1 :> R by have := normr_ge0 t; lra.
exists (pay a b c), C; split=> //; split.
- move=> j; apply: measurable_inside; exact: measurable_quadratic.
- by move=> j t; rewrite ord1.
- move=> j t; rewrite ord1; apply: le_trans (most t); apply: below => //; have := ler_norm t; lra.
- move=> j t; rewrite ord1 mulr1; apply: le_trans (most t); apply: below => //; have := ler_norm t; lra.
apply: even_enough => // t t0; rewrite !big_ord1 !mulr1.
have [h|h] := leP (2^-1) t.
- have -> : pay a b c ord0 (- t) = 0 by rewrite /pay in_itv/= andbT; case: leP => h' //; lra.
  have -> : pay a b c ord0 t = a * t ^+ 2 + b * t + c by rewrite /pay in_itv/= andbT h.
  have -> : pay a b c ord0 (t + 1) = a * (t + 1) ^+ 2 + b * (t + 1) + c by rewrite /pay in_itv/= andbT; case: leP => h' //; lra.
  have := mulr_ge0 (ltW q0) (pay0 (- t + 1)); have := down t t0; lra.
- have -> : pay a b c ord0 (- t) = 0 by rewrite /pay in_itv/= andbT; case: leP => h' //; lra.
  have -> : pay a b c ord0 t = 0 by rewrite /pay in_itv/= andbT leNgt h.
  have -> : pay a b c ord0 (t + 1) = a * (t + 1) ^+ 2 + b * (t + 1) + c by rewrite /pay in_itv/= andbT; case: leP => h' //; lra.
  have -> : pay a b c ord0 (- t + 1) = a * (- t + 1) ^+ 2 + b * (- t + 1) + c by rewrite /pay in_itv/= andbT; case: leP => h' //; lra.
  have := mulr_ge0 (ltW q0) (mulr_ge0 a0 (sqr_ge0 t)); have := w0 t; rewrite -middle; lra.
Qed.

Lemma size_in_one_step : paid 1 1 q (fun t : R => `|t|) (2 * q / (1 - q ^+ 2)).
Proof.
have p0 : 0 < 1 - q ^+ 2 by rewrite subr_gt0 expr_lt1 ?ltW.
pose r := (1 - q ^+ 2)^-1; have r0 : 0 < r by rewrite invr_gt0.
have rE : r - r * q ^+ 2 = 1 by rewrite -[X in X - _]mulr1 -mulrBr mulVf ?gt_eqF.
have qr : 0 <= q * r by rewrite mulr_ge0 ?ltW.
apply: (@paid_in_one_step 0 ((1 + q) * r) (- (q * r)) _ ((1 + q) * r)) => //.
- by rewrite mulr_ge0 ?addr_ge0 ?ltW.
- by move=> t; rewrite normrN.
- by rewrite mulr_ge0 ?addr_ge0 ?ltW.
- have : 0 <= (1 - q) * r by rewrite mulr_ge0 ?subr_ge0 ?ltW.
  lra.
- move=> t t0; rewrite ger0_norm//; have : (r - r * q ^+ 2) * t = t by rewrite rE mul1r.
  rewrite -/r; lra.
- rewrite -/r; lra.
- move=> t; lra.
Qed.

Lemma square_in_one_step : paid 1 1 q (fun t : R => t ^+ 2) (2 * q / (1 - q) ^+ 2).
Proof.
have p0 : 0 < 1 - q by rewrite subr_gt0.
pose r := (1 - q)^-1; have r0 : 0 < r by rewrite invr_gt0.
have rE : r - r * q = 1 by rewrite -[X in X - _]mulr1 -mulrBr mulVf ?gt_eqF.
have rE2 : r * r - r * r * q = r by rewrite -mulrA -mulrBr rE mulr1.
have qr : 0 <= q * r * r by rewrite !mulr_ge0 ?ltW.
have lamE : 2 * q / (1 - q) ^+ 2 = 2 * q * r * r by rewrite -exprVn expr2 -/r; lra.
apply: (@paid_in_one_step r (2 * q * r * r) (- (q * r * r)) _ (2 * r + 4 * q * r * r)) => //.
- lra.
- by move=> t; rewrite sqrrN.
- by move=> t; exact: sqr_ge0.
- exact: ltW.
- lra.
- lra.
- move=> t t0; rewrite lamE.
  have h1 : (r - r * q) * t ^+ 2 = t ^+ 2 by rewrite rE mul1r.
  have h2 : (r * r - r * r * q) * (q * t) = r * (q * t) by rewrite rE2.
  have h3 : (r * r - r * r * q) * q = r * q by rewrite rE2.
  lra.
- rewrite lamE; have h3 : (r * r - r * r * q) * q = r * q by rewrite rE2.
  lra.
- move=> t; have h0 := sqr_ge0 (`|t| - 1); have e : `|t| ^+ 2 = t ^+ 2 by rewrite real_normK ?num_real.
  have h1 := mulr_ge0 (ltW r0) h0; have h2 := mulr_ge0 qr h0; have h3 := mulr_ge0 qr (sqr_ge0 t).
  have h4 : r * `|t| ^+ 2 = r * t ^+ 2 by rewrite e.
  have h5 : q * r * r * `|t| ^+ 2 = q * r * r * t ^+ 2 by rewrite e.
  lra.
Qed.
End Counts.
