(* One order of neighbours, from below (docs/theory/composition.md: one-sided): what both orders have where outputs are exchanged, tables whose pairs
   are listed with the record first, noise on a line behind a query that says which way a record moves the answer, and samples of all of these. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules convex_line kernels composition groups joint_neighbours finite sampling without_replacement combination_parts curves pairs poisson_subsampling finite_curves.

Section Exchange.
Context (R : realType) (X : Type) d (Y : measurableType d) (M : mechanism R X Y) (N : relation X).

(* Two laws that a map of the outputs takes to two others are no further apart than those. *)
Lemma mapped_pair (x x' y y' : X) (T : Y -> Y) : measurable_fun setT T ->
  (forall S, measurable S -> M x' S = M y (T @^-1` S)) -> (forall S, measurable S -> M x S = M y' (T @^-1` S)) ->
  (pair_epsilon (M x') (M x) <= pair_epsilon (M y) (M y'))%E.
Proof.
move=> mT e1 e2; apply: lb_ereal_inf => _ [e H <-]; apply: ereal_inf_lb; exists e => // S mS.
by rewrite e1// e2//; apply: H; rewrite -[_ @^-1` _]setTI; exact: mT.
Qed.

(* If for any two neighbours some two have the same outputs exchanged, one order has what both have. *)
Theorem either_order : (forall x x', N x x' -> exists y y', N y y' /\ (pair_epsilon (M x') (M x) <= pair_epsilon (M y) (M y'))%E) ->
  tight_epsilon_in_order N M 0 = tight_epsilon N M 0.
Proof.
move=> exch; apply/eqP; rewrite eq_le; apply/andP; split.
- by apply: le_ereal_inf => _ [e [e0 H] <-]; exists e => //; split=> // x x' xx; apply: H; left.
- rewrite /tight_epsilon !tight_epsilon_pairs; apply: ub_ereal_sup => _ [-> | [[x x'] /= xx <-]]; first by apply: ereal_sup_ub; left.
  case: xx => [xx | /exch[y [y' [yy le]]]]; first by apply: ereal_sup_ub; right; exists (x, x').
  by apply: (le_trans le); apply: ereal_sup_ub; right; exists (y, y').
Qed.
End Exchange.

(* Noise of a convex exponent on the line, at one pair of answers a shift s apart, in this order. *)
Section OneWay.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> R^o).
Context (X : Type) (M : mechanism R X Y) (q : X -> R^o) (h : R -> R) (c : R).
Hypotheses (c0 : 0 < c) (conv : convex_on_line h) (noise : adds_noise mu place M q (fun z : R^o => c * expR (- h z))).

Let half (g : R -> R) z : convex_on_line g -> convex_on_half (fun r => g (z + r)).
Proof.
move=> cg a b t _ _ t0 t1; have -> : z + (t * a + (1 - t) * b) = t * (z + a) + (1 - t) * (z + b) by lra.
exact: cg.
Qed.

Let mirrored : convex_on_line (fun r => h (- r)).
Proof.
move=> a b t t0 t1; have -> : - (t * a + (1 - t) * b) = t * - a + (1 - t) * - b by lra.
exact: conv.
Qed.

Let close_by (v : R) x x' : (forall z, h (z + ((q x : R) - q x')) - h z <= v) -> close v 0 (M x) (M x').
Proof.
move=> loss; apply: (close_of_ratio (noise x) (noise x')); exists set0; split=> // y /= nle; case: nle.
rewrite mulrCA ler_pmul2l// -expRD ler_expR.
have := loss ((place y : R) - q x); have -> : (place y : R) - q x + ((q x : R) - q x') = (place y : R) - q x' by lra.
by rewrite -[place y - q x]/((place y : R) - q x) -[place y - q x']/((place y : R) - q x'); set u := h _; set w := h _; lra.
Qed.

Theorem one_way_upper (L : R) x x' :
  (0 <= (q x : R) - q x' /\ slope_at_most h L -> close (L * ((q x : R) - q x')) 0 (M x) (M x')) /\
  (0 <= (q x' : R) - q x /\ slope_at_most (fun r => h (- r)) L -> close (L * ((q x' : R) - q x)) 0 (M x) (M x')).
Proof.
split=> -[s0 grow]; apply: close_by => z.
- have := convex_increment (half z conv) (slope_at_most_shift c0 z grow) (lexx 0) s0.
  by rewrite add0r addr0.
- have := convex_increment (half (- z) mirrored) (slope_at_most_shift c0 (- z) grow) (lexx 0) s0.
  by rewrite add0r addr0 opprD !opprK; have -> : z - ((q x' : R) - q x) = z + ((q x : R) - q x') by lra.
Qed.

(* The loss at outputs round z, where the outputs have mass. *)
Let reached (z : R) x x' : full_measure mu place (fun w : R^o => `|w : R|) ->
  ((h (z + ((q x : R) - q x')) - h z)%:E <= pair_epsilon (M x) (M x'))%E.
Proof.
move=> full; apply: lb_ereal_inf => _ [e H <-]; rewrite lee_fin leNgt; apply/negP => lt.
set s := (q x : R) - q x' in lt; pose t := (h (z + s) - h z - e) / 3; have t0 : 0 < t by rewrite /t; lra.
have cont a : exists2 r, 0 < r & forall w, `|w - a| < r -> `|h w - h a| < t.
  have la : a - 1 <= a - 1 by [].
  have cl : forall b b' u : R, a - 1 <= b -> a - 1 <= b' -> 0 <= u -> u <= 1 -> h (u * b + (1 - u) * b') <= u * h b + (1 - u) * h b'.
    by move=> b b' u _ _; exact: conv.
  exact: (convex_continuous ltr01 cl la t0).
have [r1 r10 near1] := cont z; have [r2 r20 near2] := cont (z + s).
have m0 : 0 < Num.min r1 r2 by rewrite lt_minr r10.
have [S [mS S0 on]] := full ((q x : R) + z : R^o) _ m0.
apply: (not_close_of_event (noise x) (noise x') (law_total M x) (law_total M x') mS S0 _ H) => y /on.
rewrite lt_minr -[place y - _]/((place y : R) - ((q x : R) + z)) => /andP[y1 y2].
rewrite mulrCA ltr_pmul2l// -expRD ltr_expR.
rewrite -[place y - q x]/((place y : R) - q x) -[place y - q x']/((place y : R) - q x').
have a1 : `|(place y : R) - q x - z| < r1 by have -> : (place y : R) - q x - z = (place y : R) - ((q x : R) + z) by lra.
have a2 : `|(place y : R) - q x' - (z + s)| < r2 by have -> : (place y : R) - q x' - (z + s) = (place y : R) - ((q x : R) + z) by rewrite /s; lra.
have := near1 _ a1; have := near2 _ a2; rewrite !ltr_norml => /andP[b1 _] /andP[_ b2].
have tE : 3 * t = h (z + s) - h z - e by rewrite /t; lra.
by move: b1 b2 tE; set u := h _; set w := h _; lra.
Qed.

Theorem one_way_lower (L : R) x x' : full_measure mu place (fun w : R^o => `|w : R|) ->
  (0 < (q x : R) - q x' /\ slope_at_least h L -> ((L * ((q x : R) - q x'))%:E <= pair_epsilon (M x) (M x'))%E) /\
  (0 < (q x' : R) - q x /\ slope_at_least (fun r => h (- r)) L -> ((L * ((q x' : R) - q x))%:E <= pair_epsilon (M x) (M x'))%E).
Proof.
move=> full; have below (s : R) (g : R -> R) : 0 < s -> slope_at_least g L -> (forall z, 0 <= z -> ((g (z + s) - g z)%:E <= pair_epsilon (M x) (M x'))%E) ->
    ((L * s)%:E <= pair_epsilon (M x) (M x'))%E.
  move=> s0 grow shown; apply: lb_ereal_inf => _ [e H <-]; rewrite lee_fin leNgt; apply/negP => lt.
  have sL : e / s < L by rewrite ltr_pdivr_mulr.
  have [a a0 av] := increment_reached s0 grow sL.
  have : (pair_epsilon (M x) (M x') <= e%:E)%E by apply: ereal_inf_lb; exists e.
  move/(le_trans (shown a a0)); rewrite lee_fin; move: av; rewrite divfK ?gt_eqF//; lra.
split=> -[s0 grow]; apply: (below _ _ s0 grow) => z _.
- exact: reached.
- have := reached (- z) x x' full.
  by have -> : - z + ((q x : R) - q x') = - (z + ((q x' : R) - q x)) by lra.
Qed.
End OneWay.

(* A lower bound in one order is of a pair of inputs: of tables the log-ratio of a cell of a pair that is listed, of noise the limit of a slope,
   of what is made of parts what combination_lower makes of these; the deltas of tables, and of samples with no other records, are met. *)
(* Rule: one-sided, lower. *)
Theorem one_sided_lower (R : realType) :
  [/\ forall X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) x x' v,
        N x x' -> loses_here M x x' v -> (v <= tight_epsilon_in_order N M 0)%E,
      forall X d (Y : measurableType d) (M : mechanism R X Y) (N : relation X),
        (forall x x', N x x' -> exists y y', N y y' /\ (pair_epsilon (M x') (M x) <= pair_epsilon (M y) (M y'))%E) ->
        tight_epsilon_in_order N M 0 = tight_epsilon N M 0,
      forall X (Y : finType) d (T : measurableType d) (M : mechanism R X T) (N : relation X) (pt : Y -> T) (p : X -> Y -> R),
        injective pt -> (forall y, measurable [set pt y]) -> (forall x y, 0 <= p x y) -> has_table M pt p ->
        tight_epsilon_in_order N M 0 =
          ereal_sup (0%E |` [set log_ratio (p c.1.1 c.2) (p c.1.2 c.2) | c in [set c : X * X * Y | N c.1.1 c.1.2]]) /\
        forall eps, tight_delta_in_order N M eps =
          ereal_sup (0%E |` [set (\sum_y Num.max 0 (p c.1 y - expR eps * p c.2 y))%:E | c in [set c : X * X | N c.1 c.2]]),
      forall d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> R^o) X (M : mechanism R X Y) (q : X -> R^o) h c L x x',
        0 < c -> convex_on_line h -> adds_noise mu place M q (fun z : R^o => c * expR (- h z)) -> full_measure mu place (fun w : R^o => `|w : R|) ->
        (0 < (q x : R) - q x' /\ slope_at_least h L -> ((L * ((q x : R) - q x'))%:E <= pair_epsilon (M x) (M x'))%E) /\
        (0 < (q x' : R) - q x /\ slope_at_least (fun r => h (- r)) L -> ((L * ((q x' : R) - q x))%:E <= pair_epsilon (M x) (M x'))%E) &
      forall (I : finType) d (T : measurableType d) (M K : mechanism R {set I} T) p r a, 0 <= p -> p <= 1 -> on_a_sample M K p -> 0 <= a ->
        profile a (K (r |: finset.set0)%SET) (K finset.set0) =
          with_record_first p (fun x => profile x (M (r |: finset.set0)%SET) (M finset.set0)) a /\
        profile a (K finset.set0) (K (r |: finset.set0)%SET) =
          with_record_second p (fun x => profile x (M finset.set0) (M (r |: finset.set0)%SET)) a].
Proof.
split.
- by move=> X N d Y M x x' v; exact: combination_lower.
- by move=> X d Y M N; exact: either_order.
- move=> X Y d T M N pt p inj mpt p0 Mp; split; first exact: (finite_table_one_order N inj mpt p0 Mp).
  by move=> eps; exact: (table_delta_one_order N inj mpt Mp).
- by move=> d Y mu place X M q h c L x x' c0 conv noise full; exact: (one_way_lower c0 conv noise L x x' full).
- by move=> I d T M K p r a p0 p1 KM a0; exact: (poisson_lower p0 p1 KM r a0).
Qed.
