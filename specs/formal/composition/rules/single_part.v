(* One mechanism that is run once, behind maps of the data, groups and maps of the output (docs/theory/composition.md: single part); and the pure
   epsilons of samples in one order, which are met where those of what is sampled are (one-sided). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition groups curves pairs sampling poisson_subsampling optimal_composition.

Section OnePart.
Context (R : realType) (X X' : Type) d (T : measurableType d) d' (U : measurableType d') (M : mechanism R X T) (N : relation X) (N' : relation X').
Variables (map : X' -> X) (k : nat) (out : T -> {measure set U -> \bar R}) (mout : markov out).
Hypothesis near : forall x x', N' x x' -> within_steps N k (map x) (map x').

(* F bounds the curve of the part on inputs that are at most k steps apart, in both orders; the map of the data has the constant k. *)
(* Rule: single-part. *)
Theorem single_part (F : R -> R) : (forall z z' a, within_steps N k z z' -> 0 <= a -> profile a (M z) (M z') <= F a) ->
  [/\ forall x x' a, both N' x x' -> 0 <= a -> profile a (mapped M map x) (mapped M map x') <= F a,
      forall x x' a, both N' x x' -> 0 <= a ->
        profile a (post_processed (mapped M map) mout x) (post_processed (mapped M map) mout x') <= F a &
      forall x x' a, profile a (mapped M map x) (mapped M map x') = profile a (M (map x)) (M (map x'))].
Proof.
move=> h; have sym z z' : within_steps N k z z' -> within_steps N k z' z by move=> [j jk zz]; exists j => //; exact: joined_sym.
have E x x' a : both N' x x' -> 0 <= a -> profile a (M (map x)) (M (map x')) <= F a.
  by move=> xx a0; apply: h => //; case: xx => /near // /sym.
split=> // x x' a xx a0; apply: le_trans (E x x' a xx a0).
exact: (pushed_dominated mout (law_total M (map x)) (law_total M (map x')) a0).
Qed.
End OnePart.

Section Samples.
Context (R : realType) (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) (p : R) (r : I).
Hypotheses (p0 : 0 < p) (p1 : p <= 1) (KM : on_a_sample M K p).
Notation with_r := (r |: finset.set0).
Notation none := (finset.set0 : {set I}).

Lemma pure_at (P Q : {measure set T -> \bar R}) (a : R) : P setT = 1%E -> Q setT = 1%E -> 0 < a -> profile a P Q <= 0 -> close (ln a) 0 P Q.
Proof. by move=> P1 Q1 a0 h; apply/close_profile => //; rewrite lnK. Qed.

(* A sample with no other records that is e-private in one order is so only if what is sampled is private accordingly. *)
(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: the pure epsilons of samples are met. *)
(* Rule: one-sided, lower. *)
Theorem sampled_pure_met e : 0 <= e ->
  (close e 0 (K with_r) (K none) -> close (ln (1 + (expR e - 1) / p)) 0 (M with_r) (M none)) /\
  (expR e * (1 - p) < 1 -> close e 0 (K none) (K with_r) -> close (ln (expR e * p / (1 - expR e * (1 - p)))) 0 (M none) (M with_r)).
Proof.
move=> e0; have a1 : 1 <= expR e by rewrite -[X in X <= _](@expR0 R) ler_expR.
have [E1 E2] := poisson_lower (ltW p0) p1 KM r (expR_ge0 e); split=> [h | l1 h].
- have x0 : 0 < 1 + (expR e - 1) / p by apply: ltr_paddr => //; rewrite divr_ge0 ?subr_ge0// ltW.
  apply: pure_at => //; rewrite ?law_total//.
  have : profile (expR e) (K with_r) (K none) <= 0 by apply/close_profile; rewrite ?law_total.
  by rewrite E1 /with_record_first ifT; [rewrite pmulr_rle0 | lra].
- have l0 : 0 < 1 - expR e * (1 - p) by rewrite subr_gt0.
  apply: pure_at; rewrite ?law_total//; first by rewrite divr_gt0// mulr_gt0// expR_gt0.
  have : profile (expR e) (K none) (K with_r) <= 0 by apply/close_profile; rewrite ?law_total.
  by rewrite E2 /with_record_second l1 pmulr_rle0.
Qed.
End Samples.

(* All that bounds one order of neighbours from above. *)
(* Rule: one-sided, upper. *)
Theorem one_sided_upper (R : realType) :
  [/\ forall (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) parts, adaptive N M parts ->
        dp_in_order N M (\sum_(b <- parts) b.1) (\sum_(b <- parts) b.2),
      forall (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) e dl k, 0 < e -> dp_in_order N M e dl ->
        dp_in_order (joined N k) M (k%:R * e) (dl * ((expR (k%:R * e) - 1) / (expR e - 1))),
      forall (X : Type) (N : relation X) d (T : measurableType d) d' (U : measurableType d') (M : mechanism R X T)
        (k : T -> {measure set U -> \bar R}) (mk : markov k) e dl, dp_in_order N M e dl -> dp_in_order N (post_processed M mk) e dl,
      forall (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p e dl, 0 <= p -> p <= 1 -> on_a_sample M K p ->
        dp_in_order (@one_record_more I) M e dl -> dp_in_order (@one_record_more I) K (ln (1 + p * (expR e - 1))) (p * dl) &
      forall (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p e dl, 0 <= p -> p <= 1 -> on_a_sample M K p ->
        dp_in_order (fun D D' => one_record_more D' D) M e dl ->
        dp_in_order (fun D D' => one_record_more D' D) K (- ln (1 - p + p * expR (- e))) (p * dl / (p + (1 - p) * expR e))].
Proof.
split.
- by move=> X N d Y M parts; exact: basic_composition_in_order.
- by move=> X N d Y M e dl k; exact: group_privacy_in_order.
- by move=> X N d T d' U M k mk e dl; exact: post_processing.
- by move=> I d T M K p e dl p0 p1 KM; exact: (poisson_one_sided p0 p1 KM).
- by move=> I d T M K p e dl p0 p1 KM; exact: (poisson_reverse p0 p1 KM).
Qed.
