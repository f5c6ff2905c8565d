(* The distance that the greatest coordinate of noise exceeds with a given probability (docs/theory/utility.md, noise quantile): what a
   probability at one distance says of it, and that probability for independent coordinates, in the maximum norm and given a random scale. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels curves pairs likelihood powers means utility.
Import numFieldNormedType.Exports.

Section Quantile.
Context (R : realType) (n : nat) d (T : measurableType d) (P : {measure set T -> \bar R}) (noise : 'I_n -> T -> R).
Hypotheses (P1 : P setT = 1%E) (mnoise : forall i, measurable_fun setT (noise i)).

Lemma measurable_some t : measurable (some_exceeds noise t).
Proof. by rewrite some_exceedsE; apply: bigsetU_measurable => i _; exact: measurable_exceeds. Qed.

Lemma some_falls s t : s <= t -> (P (some_exceeds noise t) <= P (some_exceeds noise s))%E.
Proof.
move=> st; apply: le_measure; rewrite ?inE; [exact: measurable_some | exact: measurable_some |].
by move=> y [i h]; exists i; exact: le_lt_trans h.
Qed.

(* The least distance that is exceeded with a probability of at most beta: an infimum, as an extended real. *)
Definition quantile (beta : R) : \bar R := ereal_inf [set t%:E | t in [set t : R | (P (some_exceeds noise t) <= beta%:E)%E]].

Lemma quantile_upper beta t : (P (some_exceeds noise t) <= beta%:E)%E -> (quantile beta <= t%:E)%E.
Proof. by move=> h; apply: ereal_inf_lb; exists t. Qed.

(* Where it is exceeded too often up to t', the least distance is no less. *)
Lemma quantile_above beta t' : (forall t, t < t' -> (beta%:E < P (some_exceeds noise t))%E) -> (t'%:E <= quantile beta)%E.
Proof.
move=> H; apply: lb_ereal_inf => _ [t /= le <-]; rewrite lee_fin leNgt; apply/negP => /H; by rewrite ltNge le.
Qed.

(* The probability is continuous from the right: what is too often at t is so a little further. *)
Lemma quantile_lower beta t : (beta%:E < P (some_exceeds noise t))%E -> (t%:E < quantile beta)%E.
Proof.
move=> lt; pose F (m : nat) := some_exceeds noise (t + m.+1%:R^-1).
have FU : some_exceeds noise t = \bigcup_m F m.
  apply/seteqP; split=> [y [i h] | y [m _ [i h]]]; last by exists i; apply: le_lt_trans h; rewrite ler_addl invr_ge0 ler0n.
  have gap : 0 < `|noise i y| - t by rewrite subr_gt0.
  exists `|ceil (`|noise i y| - t)^-1|%N => //; exists i; rewrite -ltr_subr_addl.
  rewrite -[ltRHS]invrK ltf_pinv ?posrE ?invr_gt0 ?ltr0n// -natr1 natr_absz [`|ceil _|]ger0_norm; last by rewrite ceil_ge0// invr_ge0 ltW.
  by rewrite ltr_spaddr// ceil_ge.
have cF : (P \o F) --> P (some_exceeds noise t).
  rewrite FU; apply: nondecreasing_cvg_mu => //; [by move=> m; exact: measurable_some | by apply: bigcupT_measurable => m; exact: measurable_some |].
  move=> a b ab; apply/subsetPset => y [i h]; exists i; apply: le_lt_trans h; rewrite ler_add2l.
  by rewrite lef_pinv ?posrE ?ltr0n// ler_nat ltnS.
have [m hm] : exists m, (beta%:E < P (F m))%E.
  apply: contrapT => none; move: lt; rewrite ltNge => /negP; apply; rewrite -(cvg_lim _ cF)//.
  apply: lime_le; first by apply/cvg_ex; exists (P (some_exceeds noise t)).
  by apply: nearW => m; rewrite leNgt; apply/negP => h; apply: none; exists m.
apply: (@lt_le_trans _ _ (t + m.+1%:R^-1)%:E); first by rewrite lte_fin ltr_addl invr_gt0 ltr0n.
by apply: quantile_above => s hs; apply: lt_le_trans hm _; apply: some_falls; exact: ltW.
Qed.

(* On the integers the next one is no longer exceeded. *)
Lemma quantile_integers beta (m : int) t : (forall i y, exists k : int, noise i y = k%:~R) -> m%:~R <= t ->
  (beta%:E < P (some_exceeds noise t))%E -> ((m + 1)%:~R%:E <= quantile beta)%E.
Proof.
move=> whole mt lt; apply: quantile_above => s hs; apply: lt_le_trans lt _; apply: le_measure; rewrite ?inE; try exact: measurable_some.
move=> y [i h]; exists i; have [k kE] := whole i y; apply: lt_le_trans hs _.
move: h; rewrite kE -intr_norm => h; rewrite ler_int lez_addr1 -(ltr_int R); exact: le_lt_trans mt h.
Qed.

Lemma quantile_integers_upper beta (m : int) t : (forall i y, exists k : int, noise i y = k%:~R) -> t < (m + 1)%:~R ->
  (P (some_exceeds noise t) <= beta%:E)%E -> (quantile beta <= m%:~R%:E)%E.
Proof.
move=> whole tm le; apply: quantile_upper; apply: le_trans le; apply: le_measure; rewrite ?inE; try exact: measurable_some.
move=> y [i h]; exists i; have [k kE] := whole i y; apply: lt_le_trans tm _.
by move: h; rewrite kE -intr_norm ltr_int ler_int lez_addr1.
Qed.

(* -- The probability -- *)

Lemma no_exceeding t : ~` some_exceeds noise t = \big[setI/setT]_i (~` exceeds noise i t).
Proof.
apply/seteqP; split=> y; last first.
  move=> h [i hi]; suff : (~` exceeds noise i t) y by apply.
  by move: h; rewrite (bigD1 i)//= => -[].
by move=> none; elim/big_ind: _ => // i _ hi; apply: none; exists i.
Qed.

(* Independent coordinates. *)
Lemma independent_exceeding t : fine (P (\big[setI/setT]_i (~` exceeds noise i t))) = \prod_i fine (P (~` exceeds noise i t)) ->
  fine (P (some_exceeds noise t)) = 1 - \prod_i (1 - fine (P (exceeds noise i t))).
Proof.
move=> ind; have mS := measurable_some t.
have C A : measurable A -> fine (P (~` A)) = 1 - fine (P A).
  move=> mA; have f := mass_fin P1 mA; have fC := mass_fin P1 (measurableC mA).
  have e : (P A + P (~` A))%E = 1%E by rewrite -measureU ?setUv ?setICr//; exact: measurableC.
  by move: e; rewrite -(fineK f) -(fineK fC) -EFinD => -[e]; rewrite /=; lra.
have prodE : \prod_i fine (P (~` exceeds noise i t)) = \prod_i (1 - fine (P (exceeds noise i t))).
  by apply: eq_bigr => i _; apply: C; exact: measurable_exceeds.
by move: ind; rewrite -no_exceeding C// prodE; lra.
Qed.

(* Any coordinates: at least that of one, at most the sum. *)
Lemma any_exceeding t : (forall i, P (exceeds noise i t) <= P (some_exceeds noise t))%E /\
  (P (some_exceeds noise t) <= \sum_i P (exceeds noise i t))%E.
Proof.
split=> [i|]; last exact: union_of_exceeding.
apply: le_measure; rewrite ?inE; [exact: measurable_exceeds | exact: measurable_some | by move=> y h; exists i].
Qed.

(* In the maximum norm the greatest coordinate is the length. *)
Lemma greatest_coordinate (length : T -> R) t : (forall y i, `|noise i y| <= length y) -> (forall y, exists i, length y = `|noise i y|) ->
  some_exceeds noise t = [set y | t < length y].
Proof.
move=> le at_; apply/seteqP; split=> y /=; first by move=> [i h]; exact: lt_le_trans h (le y i).
by have [i ->] := at_ y; exists i.
Qed.
End Quantile.

(* Given a random scale the coordinates are independent: the mean over the law of the scale. *)
Lemma scaled_exceeding (R : realType) (n : nat) d1 (W : measurableType d1) d (T : measurableType d) (mixing : {measure set W -> \bar R})
  (k : W -> {measure set T -> \bar R}) (mk : markov k) (noise : 'I_n -> T -> R) t : (forall i, measurable_fun setT (noise i)) ->
  (forall w, fine (k w (\big[setI/setT]_i (~` exceeds noise i t))) = \prod_i fine (k w (~` exceeds noise i t))) ->
  (pushed mk mixing (some_exceeds noise t) = \int[mixing]_w (1 - \prod_i (1 - fine (k w (exceeds noise i t))))%:E)%E.
Proof.
move=> mnoise ind; rewrite /pushed; apply: eq_integral => w _.
rewrite -(independent_exceeding (mk.1 w) mnoise (ind w)) fineK//; apply: mass_fin; [exact: mk.1 | exact: measurable_some].
Qed.

Section Rule.
Context (R : realType) (n : nat) d (T : measurableType d) (P : {measure set T -> \bar R}) (noise : 'I_n -> T -> R).
Hypotheses (P1 : P setT = 1%E) (mnoise : forall i, measurable_fun setT (noise i)).

(* Rule: noise-quantile, in part: closed forms of the probability of one coordinate, and in an lp norm the lower bound by the mean given the length. *)
Theorem noise_quantile :
  [/\ (forall beta t, (P (some_exceeds noise t) <= beta%:E)%E -> (quantile P noise beta <= t%:E)%E),
      (forall beta t, (beta%:E < P (some_exceeds noise t))%E -> (t%:E < quantile P noise beta)%E),
      (forall beta (m : int) t, (forall i y, exists k : int, noise i y = k%:~R) -> m%:~R <= t ->
        (beta%:E < P (some_exceeds noise t))%E -> ((m + 1)%:~R%:E <= quantile P noise beta)%E) /\
      (forall beta (m : int) t, (forall i y, exists k : int, noise i y = k%:~R) -> t < (m + 1)%:~R ->
        (P (some_exceeds noise t) <= beta%:E)%E -> (quantile P noise beta <= m%:~R%:E)%E),
      (forall t q, fine (P (\big[setI/setT]_i (~` exceeds noise i t))) = \prod_i fine (P (~` exceeds noise i t)) ->
        (forall i, fine (P (exceeds noise i t)) = q) -> fine (P (some_exceeds noise t)) = 1 - (1 - q) ^+ n) &
      (forall t, (forall i, P (exceeds noise i t) <= P (some_exceeds noise t))%E /\
        (P (some_exceeds noise t) <= \sum_i P (exceeds noise i t))%E)].
Proof.
split.
- exact: quantile_upper.
- exact: quantile_lower.
- by split; [exact: quantile_integers | exact: quantile_integers_upper].
- move=> t q ind alike; rewrite (independent_exceeding P1 mnoise ind); congr (1 - _).
  by under eq_bigr do rewrite alike; rewrite prodr_const card_ord.
- exact: any_exceeding.
Qed.
End Rule.
