(* Streams of which shifts of Gaussian noises hide what the answers move by (docs/theory/selection.md: unseen shifts; docs/theory/measures.md: stream
   measures). Step by step the noises on one input, shifted, give on the other input the same rest of the run; shifts may depend on what came
   before. So what is told on the other input is told on the first where its Gaussian noises are moved, and the squares of the shifts add up. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood dominating gaussian_curve.
From dpverify Require Import laplace_curve normal_line gaussian_composition.
Import numFieldNormedType.Exports.

(* Whoever sees the second output alone sees no more. *)
Section Second.
Context (R : realType) d1 (T : measurableType d1) d2 (U : measurableType d2) (P Q : {measure set T -> \bar R}) (k k' : T -> {measure set U -> \bar R}).
Variables (mk : markov k) (mk' : markov k').
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E).

Lemma pushed_joint (l : T -> {measure set U -> \bar R}) (ml : markov l) (W : {measure set T -> \bar R}) S : measurable S ->
  pushed ml W S = joint ml W (setT `*` S).
Proof.
move=> mS; apply: eq_integral => x _; congr (l x _); apply/seteqP; split=> y; rewrite /xsection/= inE/=; first by [].
by case.
Qed.

Lemma profile_second a : 0 <= a ->
  profile a [the measure _ _ of pushed mk P] [the measure _ _ of pushed mk' Q] <= profile a [the measure _ _ of joint mk P] [the measure _ _ of joint mk' Q].
Proof.
move=> a0; apply: profile_le => S mS; rewrite /= !pushed_joint//.
apply: (@profile_event _ _ _ [the measure _ _ of joint mk P] [the measure _ _ of joint mk' Q]) => //; try exact: joint_total.
exact: measurableM.
Qed.
End Second.

Section Unseen.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation L := (line R).

Let total v : law v setT = 1%E. Proof. by have [_ h _] := normal; exact: h. Qed.
Let dens v : has_density (@lebesgue_measure R) (law v) (fun y => c * expR (- ((y - v) ^+ 2 / 2))). Proof. by have [_ _ h] := normal; exact: h. Qed.

(* -- One number -- *)

Lemma measurable_plus (s : R) (S : set L) : measurable S -> measurable ((fun y : R => y + s) @^-1` S : set L).
Proof. by move=> mS; rewrite -[X in measurable X]setTI; exact: (measurable_translation s measurableT). Qed.

Lemma shifted_law s (S : set L) : measurable S -> law (- s) ((fun y : R => y + s) @^-1` S) = law 0 S.
Proof.
move=> mS; rewrite (moved_law normal (- s)); last exact: measurable_plus.
by congr (law 0 _); apply/seteqP; split=> y /=; rewrite addrNK.
Qed.

Lemma reflected_law v (S : set L) : measurable S -> law v S = law (- v) ((fun y : R => 0 - y) @^-1` S).
Proof.
move=> mS; have mS' : measurable ((fun y : R => 0 - y) @^-1` S : set L) by rewrite -[X in measurable X]setTI; exact: (measurable_reflection 0 measurableT).
have [p0 mp h] := dens v; have [_ _ h'] := dens (- v); rewrite (h S mS) (h' _ mS').
rewrite (integral_preserved (measurable_reflection 0) (lebesgue_reflection 0) mp p0 mS).
apply: eq_integral => y _; have -> : 0 - y - v = - (y - - v) by lra.
by rewrite sqrrN.
Qed.

Lemma one_shift s : dominated (law 0) (law (- s)) (law 0) (law `|s|).
Proof.
move=> a a0; have [s0|s0] := leP 0 s; last by rewrite ltr0_norm.
rewrite ger0_norm//; apply: profile_le => S mS.
have mS' : measurable ((fun y : R => 0 - y) @^-1` S : set L) by rewrite -[X in measurable X]setTI; exact: (measurable_reflection 0 measurableT).
rewrite (reflected_law 0 mS) (reflected_law (- s) mS) oppr0 opprK; exact: (profile_event (total 0) (total s) a0 mS').
Qed.

(* -- The noises of a step -- *)

(* Others as they are, and Gaussian numbers, in deviations, each with its shift: P0 the law of all, T the shift, Q0 the law that T takes to P0,
   b the sum of the squares of the shifts. *)
Inductive noises : R -> forall d (O : measurableType d), {measure set O -> \bar R} -> {measure set O -> \bar R} -> (O -> O) -> Prop :=
| OtherNoises d (O : measurableType d) (P0 : {measure set O -> \bar R}) : P0 setT = 1%E -> noises 0 P0 P0 id
| GaussianNoise b d (O : measurableType d) (P0 Q0 : {measure set O -> \bar R}) T (s : R) : noises b P0 Q0 T ->
    noises (s ^+ 2 + b) (product (total 0) P0) (product (total (- s)) Q0) (fun z => (T z.1, (z.2 : R) + s)).

Lemma integral_taken d (O : measurableType d) (P0 Q0 : {measure set O -> \bar R}) (T : O -> O) (g : O -> \bar R) (mT : measurable_fun setT T) :
  (forall S, measurable S -> Q0 (T @^-1` S) = P0 S) -> measurable_fun setT g -> (forall y, (0 <= g y)%E) -> (\int[P0]_y g y = \int[Q0]_y g (T y))%E.
Proof.
move=> taken mg g0; transitivity (\int[pushforward Q0 mT]_y g y)%E; last by rewrite integral_pushforward.
by apply: eq_measure_integral => A mA _; rewrite /= /pushforward taken.
Qed.

Lemma noises_sound b d (O : measurableType d) (P0 Q0 : {measure set O -> \bar R}) T : noises b P0 Q0 T ->
  [/\ 0 <= b /\ measurable_fun setT T, P0 setT = 1%E, Q0 setT = 1%E, forall S, measurable S -> Q0 (T @^-1` S) = P0 S &
      dominated P0 Q0 (law 0) (law (Num.sqrt b))].
Proof.
elim=> {b d O P0 Q0 T} [d O P0 P01 | b d O P0 Q0 T s _ [[b0 mT] P01 Q01 taken dom]].
  split=> //; first by split=> //; exact: measurable_fun_id.
  by move=> a a0; rewrite sqrtr0 (null_pair normal a0); rewrite (same_laws_curve P01 P01 a0).
have mT' : measurable_fun setT (fun z : (O * L)%type => (T z.1, (z.2 : R) + s) : (O * L)%type).
  apply/prod_measurable_funP; split.
  - apply: measurable_fun_comp mT _ => _ B mB; rewrite setTI (_ : _ @^-1` _ = B `*` setT); [exact: measurableM | by apply/seteqP; split=> -[z x] //= []].
  - apply: measurable_fun_comp (measurable_translation s) _ => _ B mB; rewrite setTI (_ : _ @^-1` _ = setT `*` B);
      [exact: measurableM | by apply/seteqP; split=> -[z x] //= []].
split.
- by split=> //; rewrite addr_ge0 ?sqr_ge0.
- exact: joint_total.
- exact: joint_total.
- move=> S mS; rewrite /product/= /joint.
  rewrite (integral_taken (g := fun z => law 0 (xsection S z)) mT taken); last 2 first.
  + exact: (markov_sections (markov_law O (total 0)) mS).
  + by move=> y; exact: measure_ge0.
  apply: eq_integral => z _; have mz : measurable (xsection S (T z)) by exact: measurable_xsection.
  by rewrite -(shifted_law s mz); congr (law _ _); apply/seteqP; split=> y; rewrite /xsection/= !inE.
- move=> a a0; have e : s ^+ 2 + b = `|s| ^+ 2 + Num.sqrt b ^+ 2 by rewrite sqr_sqrtr// real_normK// num_real.
  rewrite e addrC -(normal_product normal (sqrtr_ge0 b) (normr_ge0 s) a0).
  exact: (composition_dominated (markov_law O (total 0)) (markov_law O (total (- s))) (total 0) (total (Num.sqrt b)) P01 Q01 (total 0) (total `|s|)
    (normal_likelihood normal 0 (Num.sqrt b)) (dens 0) (dens `|s|) dom (fun=> one_shift s) a0).
Qed.

(* -- Runs -- *)

(* What is told on two inputs from here on, k o and k' o where the noises of the next step are o, b what the squares of the shifts may still add
   up to: the rest at the noises o on one input and at the shifted ones T o on the other are so again; in the end all is told alike. *)
Inductive unseen : R -> forall d (U : measurableType d), {measure set U -> \bar R} -> {measure set U -> \bar R} -> Prop :=
| Over b d (U : measurableType d) (P Q : {measure set U -> \bar R}) : 0 <= b -> P setT = 1%E -> Q setT = 1%E ->
    (forall S, measurable S -> P S = Q S) -> unseen b P Q
| GoesOn b e d (O : measurableType d) (P0 Q0 : {measure set O -> \bar R}) T d' (U : measurableType d') (k k' : O -> {measure set U -> \bar R})
    (mk : markov k) (mk' : markov k') : noises e P0 Q0 T -> e <= b -> (forall o, unseen (b - e) (k o) (k' (T o))) ->
    unseen b [the measure _ _ of pushed mk P0] [the measure _ _ of pushed mk' P0].

Lemma unseen_total b d (U : measurableType d) (P Q : {measure set U -> \bar R}) : unseen b P Q -> P setT = 1%E /\ Q setT = 1%E.
Proof. by case=> [*|{}b e d' O P0 Q0 T d'' U' k k' mk mk' /noises_sound[_ P01 _ _ _] _ _]; split=> //; exact: pushed_total. Qed.

Lemma unseen_dominated b d (U : measurableType d) (P Q : {measure set U -> \bar R}) : unseen b P Q -> dominated P Q (law 0) (law (Num.sqrt b)).
Proof.
elim=> {b d U P Q} [b d U P Q b0 P1 Q1 same | b e d O P0 Q0 T d' U k k' mk mk' /noises_sound[[e0 mT] P01 Q01 taken dom] eb _ IH] a a0.
  rewrite (same_laws_curve P1 Q1 a0 same) le_maxl (profile_ge0 (total 0) (total _) a0)/=; exact: (profile_ge (total 0) (total _) a0).
have mk2 : markov (fun o => k' (T o)).
  by split=> [o|S mS]; [exact: mk'.1 | exact: (measurable_fun_comp (mk'.2 S mS) mT)].
have E S : measurable S -> pushed mk' P0 S = pushed mk2 Q0 S.
  by move=> mS; rewrite /pushed (integral_taken mT taken (mk'.2 S mS)).
have -> : profile a [the measure _ _ of pushed mk P0] [the measure _ _ of pushed mk' P0] =
    profile a [the measure _ _ of pushed mk P0] [the measure _ _ of pushed mk2 Q0].
  by congr sup; apply/seteqP; split=> _ [S mS <-]; exists S => //=; rewrite E.
apply: le_trans (profile_second mk mk2 P01 Q01 a0) _.
have -> : Num.sqrt b = Num.sqrt (Num.sqrt e ^+ 2 + Num.sqrt (b - e) ^+ 2) by rewrite !sqr_sqrtr ?subr_ge0// addrC subrK.
rewrite -(normal_product normal (sqrtr_ge0 e) (sqrtr_ge0 (b - e)) a0).
exact: (composition_dominated mk mk2 (total 0) (total (Num.sqrt e)) P01 Q01 (total 0) (total (Num.sqrt (b - e)))
  (normal_likelihood normal 0 (Num.sqrt e)) (dens 0) (dens (Num.sqrt (b - e))) dom IH a0).
Qed.

(* -- The rules -- *)

Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (mu : R).
Hypothesis mu0 : 0 <= mu.
Hypothesis hidden : forall x x', N x x' -> unseen (mu ^+ 2) (M x) (M x').

(* Rule: unseen-shifts, upper. *)
Theorem unseen_shifts : (forall x x', N x x' -> dominated (M x) (M x') (law 0) (law mu)) /\
  (0 < mu -> forall eps x x', N x x' -> profile (expR eps) (M x) (M x') <= gaussian_delta (normal_cdf law) mu eps).
Proof.
have dom x x' : N x x' -> dominated (M x) (M x') (law 0) (law mu).
  by move=> xx; have := unseen_dominated (hidden xx); rewrite sqrtr_sqr ger0_norm.
by split=> // m0 eps x x' xx; rewrite -(normal_pair_curve normal eps m0); exact: (dom x x' xx _ (expR_ge0 eps)).
Qed.
End Unseen.
