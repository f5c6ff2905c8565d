(* Noise in a metric space of answers (docs/theory/spaces.md, noise near): noise of density proportional to exp(-a norm(z)) on R^d, brought back to
   the answers, is near the truth as the tail of a gamma law says, and a C-private; and two-sided geometric noise on the integers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic density norms kernels powers spaces near_dual gaussian_curve scale_integrals power_integrals norm_length gamma_tails far_coordinates.
Import numFieldNormedType.Exports.

(* -- Bringing a point back to the answers -- *)
Section Back.
Context (R : realType).

(* To the nearest answer: at most twice as far from any answer. *)
Lemma nearest_answer (V : lmodType R) (norm : V -> R) (z q b : V) : seminorm norm -> norm (z - b) <= norm (z - q) -> norm (q - b) <= 2 * norm (q - z).
Proof.
move=> semi near; have := seminorm_triangle semi (q - z) (z - b); rewrite addrA subrK.
rewrite (seminormC semi q z); lra.
Qed.

(* To a nearest point of a convex set, in a Euclidean norm: no further from any point of the set. *)
Lemma nearest_in_convex (V : lmodType R) (B : V -> V -> R) (S : V -> Prop) (z q b : V) : inner_form B ->
  (forall u v s, S u -> S v -> 0 <= s -> s <= 1 -> S (u + s *: (v - u))) -> S q -> S b -> (forall u, S u -> B (z - b) (z - b) <= B (z - u) (z - u)) ->
  Num.sqrt (B (q - b) (q - b)) <= Num.sqrt (B (q - z) (q - z)).
Proof.
move=> form convex Sq Sb near; apply: ler_wsqrtr.
pose v := q - b; pose w := z - b; have vE : q - z = v - w by rewrite /v /w opprB addrA subrK.
have small s : 0 <= s -> s <= 1 -> 2 * s * B v w <= s ^+ 2 * B v v.
  move=> s0 s1; have := near _ (convex b q s Sb Sq s0 s1); rewrite opprD addrA -/v -/w.
  by rewrite (form_difference form w (s *: v)) (formZl form) (formZl form) (formZr form); rewrite expr2; lra.
have v0 := form_ge0 form v.
have obtuse : B v w <= 0.
  rewrite leNgt; apply/negP => p; pose s := B v w / (B v w + B v v); have D0 : 0 < B v w + B v v by lra.
  have s0 : 0 < s by exact: divr_gt0.
  have s1 : s <= 1 by rewrite /s ler_pdivr_mulr// mul1r ler_addl.
  have h := small s (ltW s0) s1; have e : s * (B v w + B v v) = B v w by rewrite /s divfK// gt_eqF.
  have : 2 * B v w <= s * B v v by rewrite -(ler_pmul2l s0) mulrA [s * 2]mulrC [s * (s * _)]mulrA -expr2.
  have : 0 < s * B v w by exact: mulr_gt0.
  lra.
rewrite vE (form_difference form v w) (formC form w v).
have := form_ge0 form w; lra.
Qed.

(* To clamp coordinates, in a norm that does not fall where the sizes of coordinates rise, as those of lp: no further from any point of the box. *)
Definition clamp (l h z : R) : R := Num.max l (Num.min h z).
Definition rises_with_coordinates n (norm : 'rV[R]_n -> R) := forall u w : 'rV[R]_n, (forall i, `|u 0 i| <= `|w 0 i|) -> norm u <= norm w.

Lemma clamp_nearer l h z q : l <= q -> q <= h -> `|q - clamp l h z| <= `|q - z|.
Proof.
move=> lq qh; rewrite /clamp; case: (leP h z) => hz.
  by rewrite max_r ?(le_trans lq)// !ler0_norm; lra.
by case: (leP l z) => lz //; rewrite !ger0_norm; lra.
Qed.

Lemma clamped_coordinates n (norm : 'rV[R]_n -> R) (l h z q : 'rV[R]_n) : rises_with_coordinates norm -> (forall i, l 0 i <= q 0 i <= h 0 i) ->
  norm (q - \row_i clamp (l 0 i) (h 0 i) (z 0 i)) <= norm (q - z).
Proof. by move=> rises box; apply: rises => i; rewrite !mxE; case/andP: (box i) => *; exact: clamp_nearer. Qed.

Lemma lp_rises n (p : R) : 0 < p -> rises_with_coordinates (fun z : 'rV[R]_n => pow (1 / p) (\sum_i pow p `|z 0 i|)).
Proof.
have grows r (x y : R) : 0 < r -> 0 <= x -> x <= y -> pow r x <= pow r y.
  move=> r0 x0 xy; rewrite leNgt pow_lt -?leNgt//; exact: le_trans xy.
move=> p0 u w le; apply: (grows); first by rewrite divr_gt0.
- by apply: sumr_ge0 => i _; exact: pow_ge0.
- by apply: ler_sum => i _; exact: grows.
Qed.

Lemma greatest_rises n : rises_with_coordinates (fun z : 'rV[R]_n => \big[Num.max/0]_i `|z 0 i|).
Proof.
move=> u w le; apply/bigmax_leP; split; first by elim/big_ind: _ => // x y x0 y0; rewrite le_maxr x0.
by move=> i _; apply: le_trans (le i) _; exact: le_bigmax.
Qed.
End Back.

(* -- Noise on R^d -- *)
Section Noise.
Context (R : realType) (V : lmodType R) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V) (X : Type) (dist : X -> X -> R).
Variables (q : X -> Y) (norm : V -> R) (n : nat) (K C c f t gamma beta : R) (noise M : mechanism R X Y) (back : Y -> Y).
Let between y z := norm (place y - place z).
Let a := f * t / gamma.
Hypotheses (semi : seminorm norm) (n0 : (0 < n)%N) (lip : lipschitz q dist between C).
(* The measure on R^d is one in which balls of radius r have the measure K r^d, as in Lebesgue's. *)
Hypotheses (K0 : 0 <= K) (balls : forall x, balls_are_powers mu (between (q x)) K n%:R) (lengths : forall x, measurable_fun setT (between (q x))).
Hypotheses (gamma0 : 0 < gamma) (beta1 : beta < 1) (f0 : 0 < f) (t0 : 0 <= t) (enough : gamma_tail n%:R t <= beta).
(* Noise of density c exp(-a norm(z)) is added, and what comes is brought back to answers: at most f times as far from the truth. *)
Hypotheses (c0 : 0 < c) (dens : forall x, has_density mu (noise x) (fun z => c * expR (- (a * between (q x) z)))).
Hypotheses (measurable_back : measurable_fun setT back) (Mback : forall x S, measurable S -> M x S = noise x (back @^-1` S)).
Hypothesis factor : forall x z, between (q x) (back z) <= f * between (q x) z.

Let nR : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Let t_positive : 0 < t.
Proof. by rewrite lt_neqAle t0 andbT eq_sym; apply/eqP => e; move: enough beta1; rewrite e gamma_tail0// => h; rewrite ltNge h. Qed.

Let a0 : 0 < a. Proof. by rewrite /a divr_gt0// mulr_gt0. Qed.

Lemma between_metric : metric between.
Proof.
split=> [y z | y z | x y z]; rewrite /between; [exact: (seminorm_ge0 semi) | exact: (seminormC semi) |].
by have := seminorm_triangle semi (place x - place y) (place y - place z); rewrite addrA subrK.
Qed.

(* Before it is brought back. *)
Lemma noise_far x r : 0 <= r -> noise x [set z | r < between (q x) z] = (gamma_tail n%:R (a * r))%:E.
Proof.
move=> r0; have l0 y : 0 <= between (q x) y by exact: (seminorm_ge0 semi).
have Pp : has_density mu (noise x) (fun z => c * expR (- (a * pow 1 (between (q x) z)))).
  by have -> : (fun z => c * expR (- (a * pow 1 (between (q x) z)))) = (fun z => c * expR (- (a * between (q x) z)));
    [apply/funext => z; rewrite pow1 | exact: dens].
by rewrite (gamma_length (lengths x) l0 nR K0 (balls x) a0 ltr01 (ltW c0) (law_total noise x) Pp r0) divr1 pow1.
Qed.

(* `back` may be the identity, where all of R^d are answers, with f = 1; what brings to the nearest answer, with f = 2 (nearest_answer), or f = 1 in a
   Euclidean norm where the answers are convex (nearest_in_convex); and what clamps coordinates to a box, with f = 1 (clamped_coordinates). *)
(* Rule: noise-near, upper. *)
Theorem noise_near_real : private_by_distance dist M (C * (f * t) / gamma) /\ near_but q between M gamma beta.
Proof.
have mfar x r : measurable [set z | r < between (q x) z].
  rewrite (_ : [set z | _] = between (q x) @^-1` `]r, +oo[%classic); last by apply/seteqP; split=> z /=; rewrite in_itv/= andbT.
  by rewrite -[X in measurable X]setTI; apply: (lengths x) => //; exact: measurable_itv.
have mback S : measurable S -> measurable (back @^-1` S) by move=> mS; rewrite -[X in measurable X]setTI; exact: measurable_back.
split.
- have [_ /(_ (fun _ _ => erefl)) priv] := density_mechanism between_metric lip (ltW a0) (fun _ => c0) dens.
  move=> x x' S mS; rewrite !Mback// (_ : C * (f * t) / gamma = a * C); last by rewrite /a; lra.
  exact: (priv x x' _ (mback S mS)).
- move=> x; rewrite /far Mback; last exact: mfar.
  apply: (@le_trans _ _ (noise x [set z | gamma / f < between (q x) z])).
    apply: le_measure; rewrite ?inE; [exact: mback | exact: mfar |] => z /= h.
    by rewrite ltr_pdivr_mulr// mulrC; exact: lt_le_trans (factor x z).
  rewrite noise_far ?divr_ge0 ?(ltW gamma0) ?(ltW f0)// lee_fin.
  suff -> : a * (gamma / f) = t by [].
  have e1 : f / f = 1 by rewrite divff// gt_eqF.
  have e2 : gamma / gamma = 1 by rewrite divff// gt_eqF.
  have -> : a * (gamma / f) = t * (f / f) * (gamma / gamma) by rewrite /a; lra.
  by rewrite e1 e2 !mulr1.
Qed.
End Noise.

(* Numbers t that are told without being looked for. *)
(* Rule: noise-near, upper. *)
Theorem noise_near_tails (R : realType) (n : nat) (beta : R) : 0 < beta -> beta <= 1 ->
  (gamma_tail 1 (ln (1 / beta)) <= beta /\ 0 <= ln (1 / beta)) /\
  ((0 < n)%N -> gamma_tail n%:R (2 * ln (1 / beta) + 2 * n%:R * ln 2) <= beta /\ 0 <= 2 * ln (1 / beta) + 2 * n%:R * ln 2).
Proof.
move=> b0 b1; have lE : ln (1 / beta) = - ln beta by rewrite div1r lnV ?posrE.
have l0 : 0 <= ln (1 / beta) by rewrite ln_ge0// ler_pdivl_mulr// mul1r.
split; first by split=> //; rewrite gamma_tail1// lE opprK lnK ?posrE.
move=> n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
have k0 : 0 <= n%:R * ln 2 :> R by apply: mulr_ge0; [exact: ler0n | apply: ln_ge0; rewrite ler1n].
have t0 : 0 <= 2 * ln (1 / beta) + 2 * n%:R * ln 2 by rewrite -mulrA; apply: addr_ge0; exact: mulr_ge0.
split=> //; apply: le_trans (gamma_tail_le nR t0) _; rewrite /pw -expRD.
rewrite (_ : _ + _ = ln beta); first by rewrite lnK ?posrE.
rewrite lE; lra.
Qed.

(* -- Noise on the integers -- *)
Section Integers.
Context (R : realType) d (Z : measurableType d) (mu : {measure set Z -> \bar R}) (place : Z -> int) (X : Type) (dist : X -> X -> R).
Variables (q : X -> Z) (C u gamma beta : R) (m : nat) (M : mechanism R X Z).
Let between y z : R := `|place y - place z|%:~R.
(* Each integer is one output, and counts as one. *)
Hypotheses (one_each : forall j, measurable (place @^-1` [set j])) (counting : forall j, mu (place @^-1` [set j]) = 1%E).
Hypotheses (u0 : 0 < u) (u1 : u < 1) (lip : lipschitz q dist between C).
(* Noise is k with the probability (1 - u)/(1 + u) u^|k|. *)
Hypothesis dens : forall x, has_density mu (M x) (fun z => (1 - u) / (1 + u) * expR (- (ln (1 / u) * between (q x) z))).

Lemma whole_metric : metric between.
Proof.
split=> [y z | y z | x y z]; rewrite /between; [by rewrite ler0z | by rewrite distrC |].
by rewrite -intrD ler_int; have := ler_norm_add (place x - place y) (place y - place z); rewrite addrA subrK.
Qed.

Let size x z : nat := absz (place (q x) - place z).

Lemma whole_sizes x k : measurable (size x @^-1` [set k]) /\ M x (size x @^-1` [set k]) = (geometric_size u k)%:E.
Proof.
pose A : set Z := place @^-1` [set place (q x) - k%:Z]; pose B : set Z := place @^-1` [set place (q x) + k%:Z].
have AB : size x @^-1` [set k] = A `|` B.
  apply/seteqP; split=> z; rewrite /size /A /B /=; last by case=> ->; [rewrite subKr | rewrite opprD addrA subrr sub0r abszN].
  move=> h; have : `|place (q x) - place z| = k%:Z by rewrite -h abszE.
  by case: ger0P => _ e; [left; rewrite -e subKr | right; rewrite -e opprB addrC subrK].
have [mA mB] := (one_each (place (q x) - k%:Z), one_each (place (q x) + k%:Z)).
have mS : measurable (size x @^-1` [set k]) by rewrite AB; exact: measurableU.
split=> //; have [g0 mg Me] := dens x; rewrite Me//.
transitivity (\int[mu]_(z in size x @^-1` [set k]) ((1 - u) / (1 + u) * u ^+ k)%:E)%E.
  apply: eq_integral => z; rewrite inE /= /size => e; congr (_ * _)%:E.
  rewrite /between -abszE e div1r lnV ?posrE// mulNr opprK -[in RHS](lnK (x := u)) ?posrE//.
  by rewrite -expRMm mulrC.
rewrite integral_cst// AB; have [k0 | k0] := eqVneq k 0%N.
  have -> : A = B by rewrite /A /B k0 (_ : 0%:Z = 0)// subr0 addr0.
  by rewrite setUid counting mule1 k0 expr0 mulr1.
rewrite measureU//; last first.
  apply/seteqP; split=> z //=; rewrite /A /B/= => -[-> /addrI/eqP]; rewrite eq_sym -addr_eq0 -mulr2n mulrn_eq0 /= => e.
  by move: k0; rewrite -eqz_nat e.
transitivity (((1 - u) / (1 + u) * u ^+ k)%:E * (1 + 1))%E; first by congr (_ * (_ + _))%E; exact: counting.
rewrite -EFinD -EFinM /geometric_size; case: k k0 {A B AB mA mB mS} => // k _; congr EFin; lra.
Qed.

(* What a ratio gives that is small enough. m is the whole part of gamma. *)
(* Rule: noise-near, upper. *)
Theorem noise_near_integers : (m%:R <= gamma)%R -> gamma < m.+1%:R -> 2 * u ^+ m.+1 / (1 + u) <= beta ->
  private_by_distance dist M (C * ln (1 / u)) /\ near_but q between M gamma beta.
Proof.
move=> mg gm small; have l0 : 0 <= ln (1 / u) by rewrite ln_ge0// ler_pdivl_mulr// mul1r ltW.
have c0 : 0 < (1 - u) / (1 + u) by rewrite divr_gt0 ?subr_gt0// addr_gt0.
have [_ /(_ (fun _ _ => erefl)) priv] := density_mechanism whole_metric lip l0 (fun _ => c0) dens.
split=> x; first by move=> x'; rewrite [C * _]mulrC; exact: priv.
rewrite (_ : far q between gamma x = [set z | (m < size x z)%N]).
  by rewrite (far_on_integers m (ltW u0) u1 (law_total M x) (fun k => (whole_sizes x k).1) (fun k => (whole_sizes x k).2)) lee_fin.
apply/seteqP; split=> z; rewrite /far /between /size /= -abszE -pmulrn => h.
- by rewrite ltnNge; apply/negP => le; move: h; rewrite ltNge (le_trans _ mg)// ler_nat.
- by apply: lt_le_trans gm _; rewrite ler_nat.
Qed.
End Integers.

(* The ratio beta^(1/(least + 1/2)), least at most the whole part of gamma, is small enough: 1 + u is at least twice the root of u. *)
(* Rule: noise-near, upper. *)
Theorem noise_near_ratio (R : realType) (beta least : R) (m : nat) : 0 < beta -> beta < 1 -> 0 <= least -> least <= m%:R ->
  let u := expR (- (ln (1 / beta) / (least + 1 / 2))) in [/\ 0 < u, u < 1, ln (1 / u) = ln (1 / beta) / (least + 1 / 2) & 2 * u ^+ m.+1 / (1 + u) <= beta].
Proof.
move=> b0 b1 l0 lm u; have h0 : 0 < least + 1 / 2 by rewrite ltr_paddl.
have lb : 0 < ln (1 / beta) by rewrite ln_gt0// ltr_pdivl_mulr// mul1r.
pose v := ln (1 / beta) / (least + 1 / 2); have v0 : 0 < v by exact: divr_gt0.
have vE : v * (least + 1 / 2) = ln (1 / beta) by rewrite divfK// gt_eqF.
have uE : u = expR (- v) by [].
split; [exact: expR_gt0 | by rewrite uE -expR0 ltr_expR oppr_lt0 | by rewrite uE div1r -expRN opprK expK |].
pose r := expR (- (v / 2)); have r0 : 0 < r by exact: expR_gt0.
have ur : u = r ^+ 2 by rewrite uE expr2 -expRD; congr expR; lra.
have D0 : 0 < 1 + u by rewrite addr_gt0// expR_gt0.
have root : 2 * r <= 1 + u by rewrite ur; have := sqr_ge0 (1 - r); rewrite sqrrB expr1n mul1r -mulr_natl; lra.
rewrite ler_pdivr_mulr//.
have um : u ^+ m.+1 = expR (- (v * m.+1%:R)) by rewrite uE -expRMm mulrN mulrC.
have step : u ^+ m.+1 <= beta * r.
  rewrite um -[beta](lnK (x := beta)) ?posrE// -expRD ler_expR.
  have lE : ln beta = - (v * (least + 1 / 2)) by rewrite vE div1r lnV ?posrE// opprK.
  have := ler_wpmul2l (ltW v0) lm; rewrite lE -natr1; lra.
have := ler_wpmul2l (ltW b0) root; lra.
Qed.
