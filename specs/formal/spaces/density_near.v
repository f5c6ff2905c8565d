(* The mechanism with a density on a convex set of R^d, or on all of it (docs/theory/spaces.md, density mechanism): how near the truth it answers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic density norms kernels powers spaces near_dual scale_integrals power_integrals norm_length gamma_tails star_tails noise_near.
Import numFieldNormedType.Exports.

Section Density.
Context (R : realType) (V : lmodType R) d (Z : measurableType d) (lam : {measure set Z -> \bar R}) (place : Z -> V).
Context (X : Type) (dist : X -> X -> R) (q : X -> Z) (norm : V -> R) (n m : nat) (b C gamma beta : R) (M : mechanism R X Z).
Let between y z := norm (place y - place z).
Hypotheses (semi : seminorm norm) (lip : lipschitz q dist between C) (b0 : 0 < b) (gamma0 : 0 < gamma).
Hypotheses (events : forall x, measurable_fun setT (between (q x))) (sigma : sigma_finite setT lam).
(* A convex set of answers, in a flat of the dimension m. Its measure is one that is shrunk by k^m where the flat is by k round an answer, as Lebesgue's is. *)
Variable answers : V -> Prop.
Hypotheses (convex : forall u v k, answers u -> answers v -> 0 <= k -> k <= 1 -> answers (u + k *: (v - u))).
Hypotheses (mS : measurable [set z | answers (place z)]) (true_answers : forall x, answers (place (q x))).
Hypothesis shrinks : forall x k, 0 < k -> k <= 1 -> exists2 T : Z -> Z, (forall z, place (T z) = place (q x) + k^-1 *: (place z - place (q x))) &
  forall A, measurable A -> measurable (T @^-1` A) /\ lam (T @^-1` A) = ((pw m%:R k)%:E * lam A)%E.
Variable c : X -> R.
Hypotheses (m0 : (0 < m)%N) (mn : (m <= n)%N) (c0 : forall x, 0 < c x).
Hypothesis dens : forall x, has_density (mrestr lam mS) (M x) (fun z => c x * expR (- (b * between (q x) z))).

Let L x z := b * between (q x) z.
Let mL x : measurable_fun setT (L x). Proof. exact: measurable_funrM (events x). Qed.
Let L0 x z : 0 <= L x z. Proof. by rewrite mulr_ge0 ?(ltW b0)//; exact: (seminorm_ge0 semi). Qed.

Let sigma_answers : sigma_finite setT [the measure _ _ of mrestr lam mS].
Proof.
have [F FT fin] := sigma; exists F => // k; have [mF lt] := fin k; split=> //=.
by apply: le_lt_trans lt; rewrite /mrestr; apply: le_measure; rewrite ?inE => //; first exact: measurableI.
Qed.

Let star x r s : 0 < r -> r <= s -> ((pw n%:R (r / s))%:E * mrestr lam mS [set z | (L x z <= s)%R] <= mrestr lam mS [set z | (L x z <= r)%R])%E.
Proof.
move=> r0 rs; have s0 : 0 < s by exact: lt_le_trans rs.
pose k := r / s; have k0 : 0 < k by exact: divr_gt0.
have k1 : k <= 1 by rewrite ler_pdivr_mulr// mul1r.
have [T TE vol] := shrinks x k0 k1; have mLs u : measurable [set z | L x z <= u] by exact: measurable_within.
have mA : measurable ([set z | L x z <= s] `&` [set z | answers (place z)]) by exact: measurableI.
have [mTA TA] := vol _ mA.
apply: (@le_trans _ _ ((pw m%:R k)%:E * mrestr lam mS [set z | (L x z <= s)%R])%E).
  apply: lee_wpmul2r; first exact: measure_ge0.
  rewrite lee_fin ler_expR -/k; apply: ler_wnmul2r; last by rewrite ler_nat.
  by rewrite -(@ln1 R) ler_ln ?posrE.
rewrite /mrestr -TA; apply: le_measure; rewrite ?inE; [exact: mTA | exact: measurableI |] => z [/= near ans].
have zE : place z = place (q x) + k *: (place (T z) - place (q x)).
  by rewrite TE addrAC subrr add0r scalerA divff ?scale1r ?gt_eqF// addrC subrK.
split=> /=; last by rewrite zE; apply: convex => //; exact: ltW.
have -> : L x z = k * L x (T z).
  rewrite /L /between mulrCA; congr (_ * _).
  by rewrite {1}zE opprD addrA subrr add0r -scaleNr (seminormZ semi) normrN gtr0_norm// (seminormC semi).
by apply: le_trans (ler_wpmul2l (ltW k0) near) _; rewrite /k divfK// gt_eqF.
Qed.

(* Further than gamma with the probability Q(n, b gamma) at most. *)
Theorem density_near x : (M x [set z | (gamma < between (q x) z)%R] <= (gamma_tail n%:R (b * gamma))%:E)%E.
Proof.
have n0 : (0 < n)%N by exact: leq_trans mn.
have := star_tail sigma_answers (mL x) (L0 x) n0 (c0 x) (@star x) (law_total M x) (dens x) (mulr_gt0 b0 gamma0).
by rewrite (_ : [set z | (b * gamma < L x z)%R] = [set z | (gamma < between (q x) z)%R])//; apply/seteqP; split=> z /=; rewrite /L ltr_pmul2l.
Qed.

(* Rule: density-mechanism, upper. *)
Theorem density_mechanism_convex : gamma_tail n%:R (b * gamma) <= beta -> private_by_distance dist M (2 * b * C) /\ near_but q between M gamma beta.
Proof.
move=> small; split; last by move=> x; apply: le_trans (density_near x) _; rewrite lee_fin.
exact: (density_mechanism (between_metric place semi) lip (ltW b0) c0 dens).1.
Qed.
End Density.
