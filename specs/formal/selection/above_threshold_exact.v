(* Exact answers against a noisy threshold (docs/theory/selection.md, log-concave threshold, 6): two answers of which the first is negative and the second
   positive, as they can be no more where they have met. No epsilon holds. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments worst_run_limits worst_output_lower.
From dpverify Require Import shift_costs slope_sums above_threshold_losses above_threshold_lower above_threshold_attained.

(* What one input tells and a neighbour never does. *)
Lemma never_told (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) x x' O : measurable O -> N x x' ->
  (0 < M x O)%E -> M x' O = 0%E -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
move=> mO xx pos zero; apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [e [e0 dpM] <-].
by have := lt_le_trans pos (dpM _ _ xx O mO); rewrite zero mule0 adde0 ltxx.
Qed.

(* Noise with a density that is positive everywhere falls into every interval of which the measure is not 0, as for Lebesgue's measure it never is. *)
Definition wide (R : realType) (lam : {measure set R -> \bar R}) := forall a b : R, a < b -> (0 < lam `]a, b]%classic)%E.

Lemma falls_into (R : realType) (lam mu : {measure set R -> \bar R}) (f : R -> R) (a b : R) : wide lam -> has_density lam mu f ->
  (forall z, 0 < f z) -> a < b -> (0 < mu `]a, b]%classic)%E.
Proof.
move=> wl [f0 mf fE] fpos ab; rewrite lt_neqAle measure_ge0 andbT eq_sym; apply/eqP => zero.
have mI : measurable `]a, b]%classic by exact: measurable_itv.
have mfI : measurable_fun `]a, b]%classic (EFin \o f) by apply/EFin_measurable_fun; apply: measurable_funS mf.
have : (\int[lam]_(z in `]a, b]%classic) `|(EFin \o f) z| = 0)%E.
  by rewrite -[RHS]zero fE//; apply: eq_integral => z _; rewrite /= ger0_norm.
move=> /(ae_eq_integral_abs lam mI mfI)[A [mA A0 sub]].
have : (lam `]a, b]%classic <= lam A)%E.
  apply: le_measure; rewrite ?inE// => z zI; apply: sub => /= h; have := h zI; move=> [] fz0.
  by have := fpos z; rewrite fz0 ltxx.
by rewrite A0 => le; have := lt_le_trans (wl a b ab) le; rewrite ltxx.
Qed.

Section Exact.
Context (R : realType) (mt mq mf : {measure set R -> \bar R}) (mt1 : mt setT = 1%E) (mq1 : mq setT = 1%E) (mf1 : mf setT = 1%E).
(* The answers have no noise; that of the threshold has a density that is positive everywhere. *)
Context (lam : {measure set R -> \bar R}) (density : R -> R).
Hypotheses (no_noise : mq (~` [set 0]) = 0%E) (spread : wide lam) (dens : has_density lam mt density) (positive_density : forall z, 0 < density z).
Context (n c : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (noise_law1 mt1 mq1 mf1) (3 * n) nu Z.
Context (again : bool) (told : report) (X : Type) (N : relation X) dT (T : measurableType dT) (M : mechanism R X T).
Context (input : (nat -> R) -> X) (begins : seq bool -> R -> set T) (q q' : nat -> R).
Hypothesis begins_measurable : forall p B, measurable (begins p B).
Hypothesis has_outcomes : forall p B, may_begin n c p -> M (input q) (begins p B) = nu (comes Z again told p B q) /\
  M (input q') (begins p B) = nu (comes Z again told p B q').
Hypotheses (n2 : (1 < n)%N) (c0 : (0 < c)%N).

(* The first answer is below the second, and of the neighbour it is not. *)
Hypotheses (apart : q 0%N < q 1%N) (met : q' 1%N <= q' 0%N) (near : N (input q) (input q')).

Let nu1 : nu setT = 1%E := independent_total noises.
Let mZ l : measurable_fun setT (Z l). Proof. exact: (measurable_noises noises). Qed.

Let p := [:: false; true].

Lemma exact_begin : may_begin n c p. Proof. by split=> // -[|[|j]]. Qed.

(* The noise l is in A l for each l. *)
Let box (A : nat -> set R) : set W := \big[setI/setT]_(l < 3 * n) (Z l @^-1` A l).

Lemma box_chance (A : nat -> set R) : (forall l, measurable (A l)) ->
  nu (box A) = (\prod_(l < 3 * n) fine (noise_law mt mq mf l (A l)))%:E.
Proof. by move=> mA; rewrite /box (independent_box noises mA). Qed.

Lemma mset0 : measurable [set (0 : R)]. Proof. exact: measurable_set1. Qed.

Lemma at_zero : mq [set 0] = 1%E.
Proof.
have m0 := mset0; have E := measureU mq m0 (measurableC m0) (setICr _); rewrite setUv in E.
have F : mq setT = (mq [set 0%R] + mq (~` [set 0%R]))%E := E.
by rewrite -mq1 F no_noise adde0.
Qed.

Lemma answer_noise j : (j < n)%N -> nu [set w | Z (3 * j + 1) w <> 0] = 0%E.
Proof.
move=> jn; have k := noise_index jn (isT : (1 < 3)%N); pose A (l : nat) : set R := if l == (3 * j + 1)%N then ~` [set 0] else setT.
have mA l : measurable (A l) by rewrite /A; case: ifP => // _; apply: measurableC; exact: mset0.
rewrite (_ : [set w | _] = box A).
  have lE : noise_law mt mq mf (3 * j + 1) = mq by rewrite /noise_law /of_three mulnC modnMDl.
  by rewrite box_chance// (bigD1 (Ordinal k))//= /A eqxx lE no_noise mul0r.
apply/seteqP; split=> w /=.
  by move=> ne; apply/in_all => l /=; rewrite /A; case: eqP => // ->.
by move=> /in_all /(_ (Ordinal k)); rewrite /= /A eqxx.
Qed.

Lemma some_outcome : exists B, (0 < nu (comes Z again told p B q))%E.
Proof.
pose A (k l : nat) : set R := if l == 0%N then `]q 0%N, q 1%N]%classic else if (l %% 3 == 1)%N then [set 0] else
  if l == 5%N then `]- k%:R, k%:R[%classic else setT.
have mA k l : measurable (A k l).
  by rewrite /A; case: ifP => _; [exact: measurable_itv | case: ifP => _; [exact: mset0 | case: ifP => _ //; exact: measurable_itv]].
have [k pos] : exists k, (0 < fine (mf `]- k%:R, k%:R[%classic))%R.
  apply: contrapT => none; have m0 k : measurable `](- k%:R : R), k%:R[%classic by exact: measurable_itv.
  have := @chance_rises R _ _ mf (fun k : nat => `](- k%:R : R), k%:R[%classic) setT m0 measurableT _ _ 0%E; rewrite mf1 => H.
  suff : (1 <= 0 :> \bar R)%E by rewrite lee_fin ler10.
  apply: H => [k z /=||k].
  - by rewrite !in_itv/= => /andP[a b]; rewrite -natr1; apply/andP; split; lra.
  - apply/seteqP; split=> // z _; have [k kE] := beyond (`|z| + 1) 0 (@ltr01 R); rewrite add0r mulr1 in kE.
    by exists k => //; rewrite /= in_itv/= -ltr_norml; lra.
  - rewrite leNgt; apply/negP => h; apply: none; exists k; rewrite -lte_fin fineK//; exact: mass_fin mf1 (m0 k).
have b0 : (0 < nu (box (A k)))%E.
  rewrite box_chance// lte_fin; apply: prodr_gt0 => -[l ln] _ /=; rewrite /A /noise_law /of_three.
  have [->|l0] := eqVneq l 0%N.
    by rewrite -lte_fin fineK ?(mass_fin mt1)//; [exact: falls_into dens positive_density apart | exact: measurable_itv].
  have [r1|r1] := eqVneq (l %% 3)%N 1%N; first by rewrite r1 /= at_zero /= ltr01.
  have [->|l5] := eqVneq l 5%N; first exact: pos.
  by case: ifP => _; rewrite ?mt1 ?mf1 /= ltr01.
exists (`|q 1%N| + `|q 1%N - q 0%N| + k%:R); apply: (lt_le_trans b0); apply: le_measure; rewrite ?inE.
- by apply: bigsetI_measurable => l _; rewrite -[X in measurable X]setTI; apply: mZ.
- exact: (measurable_comes noises).
move=> w /in_all out; have at_ l : (l < 3 * n)%N -> A k l (Z l w) by move=> ln; exact: (out (Ordinal ln)).
have n1 : (0 < n)%N by exact: ltnW.
have := at_ 0%N; rewrite muln_gt0 n1 /A /= in_itv/= => /(_ isT) /andP[lo hi].
have := at_ 1%N; rewrite (noise_index n1 (isT : (1 < 3)%N) : (1 < 3 * n)%N) /A /= => /(_ isT) z1.
have := at_ 4%N; rewrite (noise_index n2 (isT : (1 < 3)%N) : (4 < 3 * n)%N) /A /= => /(_ isT) z4.
have := at_ 5%N; rewrite (noise_index n2 (isT : (2 < 3)%N) : (5 < 3 * n)%N) /A /= in_itv/= => /(_ isT) /andP[lo5 hi5].
apply/in_all => -[[|[|//]] jn]; rewrite /comes_at /noisy /number /= ?andbF /=.
- by rewrite z1 addr0.
- rewrite /noisy z4 addr0; split=> //.
  have u1 := ler_norm (q 1%N); have u2 := ler_norm (- q 1%N); rewrite normrN in u2.
  have u3 := ler_norm (q 1%N - q 0%N); have k0 : 0 <= k%:R :> R by []. have u4 := normr_ge0 (q 1%N - q 0%N). have u5 := normr_ge0 (q 1%N).
  by case: told => /=; apply/andP; split; lra.
Qed.

(* Rule: log-concave-threshold, lower. *)
Theorem exact_answers : tight_epsilon_in_order N M 0 = +oo%E.
Proof.
have [B pos] := some_outcome; have [here there] := has_outcomes B exact_begin.
apply: (never_told (begins_measurable p B) near); first by rewrite here.
rewrite there; have m1 := measurable_comes noises again told p B q'.
have mne j : measurable [set w | Z (3 * j + 1) w <> 0].
  rewrite (_ : [set w | _] = setT `&` Z (3 * j + 1) @^-1` (~` [set 0])); first by apply: mZ => //; apply: measurableC; exact: mset0.
  by rewrite setTI.
pose U j := [set w | Z (3 * j + 1) w <> 0].
have U0 : nu (U 0%N `|` U 1%N) = 0%E.
  have z0 : nu (U 0%N) = 0%E := answer_noise (ltnW n2); have z1 : nu (U 1%N) = 0%E := answer_noise n2.
  have mU0 : measurable (U 0%N) := mne 0%N; have mU1 : measurable (U 1%N) := mne 1%N.
  apply/eqP; rewrite eq_le measure_ge0 andbT (measureUfinr mU0 mU1); last by rewrite z1 ltry.
  by rewrite z0 z1 add0e sub0e oppe_le0 measure_ge0.
apply: (subset_measure0 m1 (measurableU _ _ (mne 0%N) (mne 1%N)) _ U0).
move=> w /in_all out; have := out (Ordinal (isT : (0 < 2)%N)); have := out (Ordinal (isT : (1 < 2)%N)).
rewrite /comes_at /noisy /number /= ?andbF /= => -[above _] below_.
by apply: contrapT => /not_orP[/contrapT z1 /contrapT z4]; move: above below_; rewrite z1 z4; lra.
Qed.
End Exact.

(* Such a pair is there for all neighbours, between bounds too: answers half of s below and above the middle, the first of which goes up by s, or the second
   down. *)
Lemma exact_pair (R : realType) (D s mid : R) nb : 0 < s -> s <= D -> exists q d : nat -> R, [/\ q 0%N < q 1%N, q 1%N + d 1%N <= q 0%N + d 0%N, differ D nb d &
  forall j, mid - s / 2 <= q j <= mid + s / 2 /\ mid - s / 2 <= q j + d j <= mid + s / 2].
Proof.
move=> s0 sD; pose q (j : nat) := if j == 0%N then mid - s / 2 else mid + s / 2.
pose d i e (j : nat) : R := if j == i then e else 0.
have D1 : 1%:R * D = D by rewrite mul1r. have Z1 : 0%:R * D = 0 by rewrite mul0r.
have up w : w.1 = 1%N -> forall j, - (w.2%:R * D) <= d 0%N s j <= w.1%:R * D.
  move=> -> j; have wD : 0 <= w.2%:R * D by rewrite mulr_ge0//; lra.
  by rewrite D1 /d; case: ifP => _; apply/andP; split; lra.
have inside i e j : (i, e) = (0%N, s) \/ (i, e) = (1%N, - s) -> mid - s / 2 <= q j <= mid + s / 2 /\ mid - s / 2 <= q j + d i e j <= mid + s / 2.
  by case=> -[-> ->]; rewrite /q /d; case: j => [|[|j]] /=; split; apply/andP; split; lra.
have [nbE|nbE] := pselect (nb = Decreasing).
  exists q, (d 1%N (- s)); rewrite nbE /q /d /=; split; [lra | lra | | by move=> j; apply: inside; right].
  by exists (0, 1)%N; [rewrite inE | move=> j; rewrite D1 Z1; case: ifP => _; apply/andP; split; lra].
exists q, (d 0%N s); split; [by rewrite /q /=; lra | by rewrite /q /d /=; lra | | by move=> j; apply: inside; left].
case: nb nbE => // _; [exists (1, 1)%N | exists (1, 0)%N | exists (1, 0)%N |]; rewrite ?inE ?eqxx//; do ?[exact: up].
by exists 0%N => [|j /negbTE j0]; rewrite /d ?eqxx ?j0//; apply/andP; split; lra.
Qed.
