(* Noise on the line with a convex exponent, not necessarily even: the steeper of the two ends counts. And Lebesgue's measure on the line has
   what the rules ask of a base measure, so that their hypotheses can be met. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules.

Section Lebesgue.
Context (R : realType).
Let place : R -> R^o := id.

Lemma lebesgue_full_measure : full_measure (@lebesgue_measure R) place (fun z : R^o => `|z : R|).
Proof.
move=> v0 r r0; set v : R := v0; pose i : interval R := `]v - r, v + r[.
exists [set` i]; split; first exact: measurable_itv.
- suff : (0 < lebesgue_measure ([set` i] : set R))%E by [].
  have lt : v - r < v + r by lra.
  rewrite lebesgue_measure_itv hlength_itv /= lte_fin lt -EFinB lte_fin; lra.
- by move=> y; rewrite /= in_itv/= => /andP[y1 y2]; rewrite ltr_norml; apply/andP; split; rewrite /place; lra.
Qed.

Lemma lebesgue_infinite_measure : infinite_measure (@lebesgue_measure R) place (fun z : R^o => `|z : R|).
Proof.
move=> v0 r; set v : R := v0; pose i : interval R := `[v + r, +oo[.
exists [set` i]; split; first exact: measurable_itv.
- suff : lebesgue_measure ([set` i] : set R) = +oo%E by [].
  by rewrite lebesgue_measure_itv hlength_itv /= ltry.
- by move=> y; rewrite /= in_itv/= andbT => yv; apply: le_trans (ler_norm _); rewrite /place; lra.
Qed.
End Lebesgue.

Section ConvexLine.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> R^o).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> R^o) (h : R -> R) (c D : R).
Hypotheses (c0 : 0 < c) (conv : convex_on_line h).
Hypothesis noise : adds_noise mu place M q (fun z : R^o => c * expR (- h z)).

Lemma slope_at_most_shift (g : R -> R) L z : slope_at_most g L -> slope_at_most (fun r => g (z + r)) L.
Proof.
move=> lim s Ls; have [|r0 low] := lim ((s + L) / 2); first by lra.
pose k := (s + L) / 2; have gap : 0 < s - k by rewrite /k; lra.
pose v := `|k * z| / (s - k); have vE : v * (s - k) = `|k * z| by rewrite /v divfK// gt_eqF.
exists (`|r0| + `|z| + v) => r rv.
have n0 := ler_norm r0; have n1 := ler_norm (- z); rewrite normrN in n1; have n2 := ler_norm (k * z).
have v0 : 0 <= v by apply: over_ge0.
have p0 := normr_ge0 r0; have p1 := normr_ge0 z.
have r1 : r0 <= z + r by lra.
have := low _ r1; rewrite -/k => up.
have : 0 <= (s - k) * (r - v) by apply: mulr_ge0; lra.
lra.
Qed.

Let half (g : R -> R) z : (forall a b t, 0 <= t -> t <= 1 -> g (t * a + (1 - t) * b) <= t * g a + (1 - t) * g b) ->
  convex_on_half (fun r => g (z + r)).
Proof.
move=> cg a b t _ _ t0 t1; have -> : z + (t * a + (1 - t) * b) = t * (z + a) + (1 - t) * (z + b) by lra.
exact: cg.
Qed.

Let mirrored : convex_on_line (fun r => h (- r)).
Proof.
move=> a b t t0 t1; have -> : - (t * a + (1 - t) * b) = t * - a + (1 - t) * - b by lra.
exact: conv.
Qed.

Theorem convex_line_upper (L : R) : 0 <= L ->
  slope_at_most h L -> slope_at_most (fun r => h (- r)) L ->
  (forall x x', both N x x' -> `|(q x : R) - q x'| <= D) -> pure_dp N M (L * D).
Proof.
move=> L0 right left moves; apply: (exponent_upper c0 noise) => x x' z xx.
have := moves x x' xx; set s : R := (q x : R) - q x' => sD.
rewrite -[_ - _]/(h ((z : R) + s) - h z); move: {z} (z : R) => z.
have [le | lt] := leP 0 s.
- have := convex_increment (half z conv) (slope_at_most_shift z right) (lexx 0) le.
  rewrite add0r addr0; rewrite ger0_norm// in sD; have := ler_wpmul2l L0 sD; lra.
- have s0 : 0 <= - s by lra.
  have := convex_increment (half (- z) mirrored) (slope_at_most_shift (- z) left) (lexx 0) s0.
  rewrite add0r addr0 opprD !opprK; rewrite ltr0_norm// in sD; have := ler_wpmul2l L0 sD; lra.
Qed.

Let continuous_line z : continuous_at (fun w : R^o => `|w : R|) (fun w : R^o => h w) z.
Proof.
move=> s s0; have lz : (z : R) - 1 <= (z : R) - 1 by [].
have cl : forall a b t : R, (z : R) - 1 <= a -> (z : R) - 1 <= b -> 0 <= t -> t <= 1 -> h (t * a + (1 - t) * b) <= t * h a + (1 - t) * h b.
  by move=> a b t _ _; exact: conv.
have [r r0 near] := convex_continuous ltr01 cl lz s0.
by exists r.
Qed.

Theorem convex_line_lower (L : R) x x' : slope_at_least h L -> full_measure mu place (fun w : R^o => `|w : R|) ->
  both N x x' -> (q x : R) - q x' = D -> 0 <= D -> ((L * D)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> lim full xx e; rewrite le_eqVlt => /orP[/eqP <- | D0]; first by rewrite mulr0 tight_epsilon_ge0.
apply: lower_limit => s s0; pose s' := L - s / D.
have sE : s / D * D = s by rewrite divfK// gt_eqF.
have sL : s' < L by have := divr_gt0 s0 D0; rewrite /s'; lra.
have [a a0 av] := increment_reached D0 lim sL.
apply: (@le_trans _ _ (h (a + D) - h a)%:E); first by rewrite lee_fin ltW//; move: av; rewrite /s'; lra.
have := exponent_lower_at c0 noise (z := a) xx (full _) (@continuous_line _) (@continuous_line _).
by rewrite -e.
Qed.
End ConvexLine.
