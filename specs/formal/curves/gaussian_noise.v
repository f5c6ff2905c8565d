(* Gaussian noise in any dimension (docs/theory/curves.md: Gaussian): an answer plus the image of independent standard normal numbers under a linear
   map, so that another answer moves these numbers, by a shift whose length is the distance of the answers in the norm of the covariance. The
   pair is N(0, 1), N(mu, 1), mu that length; no map of the numbers tells more, and an invertible one no less. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood dominating gaussian_curve laplace_curve.
From dpverify Require Import normal_line gaussian_composition unseen_shifts.
Import numFieldNormedType.Exports.

Section Noise.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation L := (line R).
Notation Phi := (normal_cdf law).

Let total v : law v setT = 1%E. Proof. by have [_ h _] := normal; exact: h. Qed.
Let dens v : has_density (@lebesgue_measure R) (law v) (fun y => c * expR (- ((y - v) ^+ 2 / 2))). Proof. by have [_ _ h] := normal; exact: h. Qed.

(* Independent standard normal numbers, of law P, and the same moved by the numbers s, of law Q; T moves them. *)
Inductive normal_numbers : seq R -> forall d (O : measurableType d), {measure set O -> \bar R} -> {measure set O -> \bar R} -> (O -> O) -> Prop :=
| OneNumber s : normal_numbers [:: s] (law 0) (law s) (fun y : L => (y : R) + s : L)
| MoreNumbers ss s d (O : measurableType d) (P Q : {measure set O -> \bar R}) T (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) : normal_numbers ss P Q T ->
    normal_numbers (s :: ss) (product P1 (law 0)) (product Q1 (law s)) (fun z => ((z.1 : R) + s : L, T z.2)).

Lemma moved_up s (S : set L) : measurable S -> law 0 ((fun y : R => y + s) @^-1` S) = law s S.
Proof. by move=> mS; rewrite (moved_law normal s mS). Qed.

Lemma two_shifts s : dominated (law 0) (law s) (law 0) (law `|s|) /\ dominated (law 0) (law `|s|) (law 0) (law s).
Proof.
have down (v : R) : dominated (law 0) (law v) (law 0) (law (- v)).
  move=> a a0; apply: profile_le => S mS.
  have mS' : measurable ((fun y : R => 0 - y) @^-1` S : set L) by rewrite -[X in measurable X]setTI; exact: (measurable_reflection 0 measurableT).
  rewrite (reflected_law normal 0 mS) (reflected_law normal v mS) oppr0; exact: (profile_event (total 0) (total (- v)) a0 mS').
have [s0|s0] := leP 0 s; first by rewrite ger0_norm//; split=> a a0.
by rewrite ltr0_norm//; split; [exact: down | rewrite -{2}[s]opprK; exact: down].
Qed.

Lemma normal_numbers_pair ss d (O : measurableType d) (P Q : {measure set O -> \bar R}) T : normal_numbers ss P Q T ->
  [/\ measurable_fun setT T, P setT = 1%E, Q setT = 1%E, forall S, measurable S -> P (T @^-1` S) = Q S &
      (exists p q, likelihood P Q p q) /\ forall a, 0 <= a -> profile a P Q = profile a (law 0) (law (together ss))].
Proof.
elim=> {ss d O P Q T} [s | ss s d O P Q T P1 Q1 _ [mT _ _ taken [[p [q pq]] E]]].
  split; [exact: (measurable_translation s) | exact: total | exact: total | exact: moved_up | split].
  + by eexists; eexists; exact: (normal_likelihood normal 0 s).
  + move=> a a0; rewrite /together big_seq1 sqrtr_sqr; have [h1 h2] := two_shifts s.
    by apply/eqP; rewrite eq_le h1//= h2.
split; [ | exact: joint_total | exact: joint_total | | split].
- apply/prod_measurable_funP; split.
  + apply: measurable_fun_comp (measurable_translation s) _ => _ B mB; rewrite setTI (_ : _ @^-1` _ = B `*` setT);
      [exact: measurableM | by apply/seteqP; split=> -[z x] //= []].
  + apply: measurable_fun_comp mT _ => _ B mB; rewrite setTI (_ : _ @^-1` _ = setT `*` B); [exact: measurableM | by apply/seteqP; split=> -[z x] //= []].
- move=> S mS; rewrite /product/= /joint.
  have mtr : @measurable_fun _ _ L L setT (fun y : R => y + s) by exact: (measurable_translation s).
  rewrite (integral_taken (P0 := law s) (Q0 := law 0) (g := fun z => Q (xsection S z)) mtr (@moved_up s)); last 2 first.
  + exact: (markov_sections (markov_law L Q1) mS).
  + by move=> y; exact: measure_ge0.
  apply: eq_integral => z _; have mz : measurable (xsection S ((z : R) + s : L)) by exact: measurable_xsection.
  by rewrite -(taken _ mz); congr (P _); apply/seteqP; split=> y; rewrite /xsection/= !inE.
- by eexists; eexists; exact: (product_likelihood P1 Q1 (total 0) (total s) pq (dens 0) (dens s)).
- have [h1 h2] := two_shifts s; have up : dominated P Q (law 0) (law (together ss)) by move=> b b0; rewrite E.
  have low : dominated (law 0) (law (together ss)) P Q by move=> b b0; rewrite E.
  move=> a a0; apply/eqP; rewrite eq_le; apply/andP; split.
  + have sq : together (s :: ss) = Num.sqrt (`|s| ^+ 2 + together ss ^+ 2) by rewrite -together_cons real_normK// num_real.
    rewrite sq -(normal_product normal (normr_ge0 s) (together_ge0 ss) a0).
    exact: (composition_dominated (markov_law L P1) (markov_law L Q1) (total 0) (total `|s|) (total 0) (total s) (total 0) (total (together ss))
      (normal_likelihood normal 0 `|s|) (dens 0) (dens (together ss)) h1 (fun=> up) a0).
  + have sq : together (s :: ss) = Num.sqrt (`|s| ^+ 2 + together ss ^+ 2) by rewrite -together_cons real_normK// num_real.
    rewrite sq -(normal_product normal (normr_ge0 s) (together_ge0 ss) a0).
    exact: (composition_dominated (markov_law L (total 0)) (markov_law L (total `|s|)) P1 Q1 (total 0) (total (together ss)) (total 0) (total s)
      pq (dens 0) (dens s) low (fun=> h2) a0).
Qed.

(* -- Noise about answers -- *)

Section Mechanisms.
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* On x the output is `shown x` of independent standard normal numbers, q(x) + A z, which can be read back, z; on x' it is `shown x` of the
   numbers moved by s, as q(x') = q(x) + A s. The length of s, the root of the sum of its squares, is the distance of the answers. *)
Definition gaussian_pair_of (x x' : X) (s : seq R) :=
  exists d' (O : measurableType d') (P Q : {measure set O -> \bar R}) (T : O -> O) (shown : O -> Y) (back : Y -> O),
  [/\ normal_numbers s P Q T, measurable_fun setT shown /\ measurable_fun setT back, forall o, back (shown o) = o,
      forall S, measurable S -> M x S = P (shown @^-1` S) & forall S, measurable S -> M x' S = P ((fun o => shown (T o)) @^-1` S)].

Lemma gaussian_noise_curve x x' s a : gaussian_pair_of x x' s -> 0 <= a -> profile a (M x) (M x') = profile a (law 0) (law (together s)).
Proof.
move=> [d' [O [P [Q [T [shown [back [numbers [ms mb] inv Mx Mx']]]]]]]] a0.
have [mT P1 Q1 taken [_ <-//]] := normal_numbers_pair numbers.
have pre (f : O -> Y) S : measurable_fun setT f -> measurable S -> measurable (f @^-1` S) by move=> mf mS; have := mf measurableT S mS; rewrite setTI.
have Mx2 S : measurable S -> M x' S = Q (shown @^-1` S).
  by move=> mS; rewrite Mx'// -(taken _ (pre _ _ ms mS)).
apply/eqP; rewrite eq_le; apply/andP; split; apply: profile_le => S mS.
- by rewrite Mx// Mx2//; apply: profile_event => //; exact: pre.
- have mS' : measurable (back @^-1` S) by have := mb measurableT S mS; rewrite setTI.
  have e : S = shown @^-1` (back @^-1` S) by apply/seteqP; split=> o /=; rewrite inv.
  by rewrite {1 2}e -Mx// -Mx2//; apply: profile_event; rewrite ?law_total.
Qed.

(* At any distance the curve is that of the pair; the greatest distance, mu, dominates all. *)
(* Rule: gaussian. *)
Theorem gaussian_noise : 
  [/\ forall x x' s a, gaussian_pair_of x x' s -> 0 <= a -> profile a (M x) (M x') = profile a (law 0) (law (together s)),
      forall m mu a, 0 <= m -> m <= mu -> 0 <= a -> profile a (law 0) (law m) <= profile a (law 0) (law mu),
      forall mu eps, 0 < mu -> profile (expR eps) (law 0) (law mu) = gaussian_delta Phi mu eps,
      forall a, 0 <= a -> profile a (law 0) (law 0) = Num.max 0 (1 - a) &
      forall mu, (forall x x', N x x' -> exists s, gaussian_pair_of x x' s /\ together s <= mu) ->
        (forall x x', N x x' -> dominated (M x) (M x') (law 0) (law mu)) /\
        forall x x' s eps, N x x' -> gaussian_pair_of x x' s -> together s = mu -> tight_delta_in_order N M eps = (profile (expR eps) (law 0) (law mu))%:E].
Proof.
have grows m mu a : 0 <= m -> m <= mu -> 0 <= a -> profile a (law 0) (law m) <= profile a (law 0) (law mu).
  by move=> m0 mm a0; exact: (normal_pair_grows normal m0 mm a0).
split=> //; first by move=> x x' s a; exact: gaussian_noise_curve.
- by move=> mu eps mu0; exact: (normal_pair_curve normal eps mu0).
- by move=> a a0; exact: (null_pair normal a0).
move=> mu near; have dom x x' : N x x' -> dominated (M x) (M x') (law 0) (law mu).
  by move=> xx a a0; have [s [pair le]] := near x x' xx; rewrite (gaussian_noise_curve pair a0); apply: grows => //; exact: together_ge0.
split=> // x x' s eps xx pair e; apply/eqP; rewrite eq_le; apply/andP; split.
- apply: curve_at_most => [|y y' yy]; last exact: (dom y y' yy _ (expR_ge0 eps)).
  exact: (profile_ge0 (total 0) (total mu) (expR_ge0 eps)).
- by apply: (curve_at_least xx); rewrite (gaussian_noise_curve pair (expR_ge0 eps)) e.
Qed.
End Mechanisms.
End Noise.
