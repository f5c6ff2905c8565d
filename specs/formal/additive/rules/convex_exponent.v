(* Convex exponents in all the forms of noise that the rule convex-exponent speaks of (docs/theory/additive.md): a norm of the distance, independent
   coordinates and translations of the line, even or not, on the reals and on the integers. The worst outputs are far away, at multiples of the
   difference of the two answers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules convex_line powers coordinates.

Section Multiples.
Context (R : realType).
Implicit Types (f h g : R -> R) (L K D z s a : R).

Lemma small_steps f s : (forall m : nat, (0 < m)%N -> f m.+1%:R - f m%:R <= s) -> forall m : nat, f m.+1%:R <= f 1 + s * m%:R.
Proof.
move=> small; elim=> [|m IH]; first by rewrite mulr0 addr0.
have := small m.+1 isT; have -> : s * m.+1%:R = s * m%:R + s by rewrite -natr1 mulrDr mulr1.
lra.
Qed.

Lemma beyond_nat (r : R) : exists m : nat, r <= m%:R.
Proof.
by exists (Num.bound `|r|); apply: le_trans (ler_norm _) _; apply/ltW/archi_boundP.
Qed.

Lemma step_reached f L s : slope_at_least f L -> s < L -> exists2 m : nat, (0 < m)%N & s < f m.+1%:R - f m%:R.
Proof.
move=> grow sL; apply: contrapT => none.
have small m : (0 < m)%N -> f m.+1%:R - f m%:R <= s by move=> m0; rewrite leNgt; apply/negP => gt; apply: none; exists m.
pose t := (s + L) / 2; have [|r0 low] := grow t; first by rewrite /t; lra.
have gap : 0 < t - s by rewrite /t; lra.
pose v := `|f 1 - s| / (t - s) + 1.
have vE : (v - 1) * (t - s) = `|f 1 - s| by rewrite /v addrK divfK// gt_eqF.
have v1 : 1 <= v by rewrite /v ler_addr divr_ge0// ltW.
have [m mE] := beyond_nat (`|r0| + v).
have m0 := normr_ge0 r0; have m1 := ler_norm r0; have fn := ler_norm (f 1 - s).
have mS : m.+1%:R = m%:R + 1 :> R by rewrite -natr1.
have r1 : r0 <= m.+1%:R by rewrite mS; lra.
have := low _ r1; have := small_steps small m; rewrite mS; set M := m%:R in mE *.
have : 0 <= (t - s) * (M + 1 - v) by apply: mulr_ge0; lra.
lra.
Qed.

Lemma step_unbounded f : slope_infinite f -> forall s, exists2 m : nat, (0 < m)%N & s < f m.+1%:R - f m%:R.
Proof. by move=> grow s; apply: (@step_reached f (s + 1)); [move=> t _; exact: grow | lra]. Qed.

Lemma slope_at_least_scaled h L D : 0 < D -> slope_at_least h L -> slope_at_least (fun r => h (r * D)) (L * D).
Proof.
move=> D0 grow s sL; have [|r0 low] := grow (s / D); first by rewrite ltr_pdivr_mulr.
exists (r0 / D) => r; rewrite ler_pdivr_mulr// => /low.
by rewrite mulrCA divfK ?gt_eqF// mulrC.
Qed.

Lemma slope_infinite_scaled h D : 0 < D -> slope_infinite h -> slope_infinite (fun r => h (r * D)).
Proof.
move=> D0 grow s; have [r0 low] := grow (s / D).
exists (r0 / D) => r; rewrite ler_pdivr_mulr// => /low.
by rewrite mulrCA divfK ?gt_eqF// mulrC.
Qed.

Lemma slope_at_least_const (k : R) : slope_at_least (fun=> k) 0.
Proof.
move=> s s0; exists (`|k| / - s) => r; rewrite ler_pdivr_mulr ?oppr_gt0// => h.
have := ler_norm (- k); rewrite normrN; lra.
Qed.

Lemma slope_at_least_add f g L K : slope_at_least f L -> slope_at_least g K -> slope_at_least (fun r => f r + g r) (L + K).
Proof.
move=> lf lg s sLK; pose e := (L + K - s) / 2.
have [|r0 low] := lf (L - e); first by rewrite /e; lra.
have [|r1 low1] := lg (K - e); first by rewrite /e; lra.
exists (Num.max r0 r1) => r; rewrite le_maxl => /andP[h0 h1].
by have := low r h0; have := low1 r h1; rewrite /e; lra.
Qed.

Lemma slope_at_least_sum n (f : 'I_n -> R -> R) (L : 'I_n -> R) :
  (forall i, slope_at_least (f i) (L i)) -> slope_at_least (fun r => \sum_i f i r) (\sum_i L i).
Proof.
elim: n f L => [|n IH] f L grow.
  rewrite big_ord0 => s s0; exists 0 => r r0; rewrite big_ord0 mulr_le0_ge0// ltW//.
move=> s; rewrite big_ord_recl => sL.
have [r0 low] := slope_at_least_add (grow ord0) (IH _ _ (fun i => grow (lift ord0 i))) sL.
by exists r0 => r rr; rewrite big_ord_recl; exact: low.
Qed.

(* One coordinate: the increment of a convex function on the line. *)
Lemma convex_line_increment h L z s : 0 <= L -> convex_on_line h -> slope_at_most h L -> slope_at_most (fun r => h (- r)) L ->
  h (z + s) - h z <= L * `|s|.
Proof.
move=> L0 conv right left.
have half (g : R -> R) y : convex_on_line g -> convex_on_half (fun r => g (y + r)).
  move=> cg a b t _ _ t0 t1; have -> : y + (t * a + (1 - t) * b) = t * (y + a) + (1 - t) * (y + b) by lra.
  exact: cg.
have mirrored : convex_on_line (fun r => h (- r)).
  move=> a b t t0 t1; have -> : - (t * a + (1 - t) * b) = t * - a + (1 - t) * - b by lra.
  exact: conv.
have [le | lt] := leP 0 s.
- have := convex_increment (half h z conv) (slope_at_most_shift ltr01 z right) (lexx 0) le.
  by rewrite add0r addr0 ger0_norm.
- have s0 : 0 <= - s by lra.
  have := convex_increment (half _ (- z) mirrored) (slope_at_most_shift ltr01 (- z) left) (lexx 0) s0.
  by rewrite add0r addr0 opprD !opprK ltr0_norm.
Qed.

Lemma convex_line_continuous h a : convex_on_line h -> continuous_there h a.
Proof.
move=> conv s s0; apply: (convex_continuous (e := 1) (l := a - 1)) => //.
by move=> b c t _ _; exact: conv.
Qed.
End Multiples.

Section Convex.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (h : R -> R).

(* L is the limit of the slope, of the steeper end where h is a function on the line; n = 1 coordinate is a translation. *)
Variant convex_loses_at_most (L : R) : R -> Prop :=
| ConvexNorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c Delta of
    seminorm norm & 0 < scale & 0 < c & adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) &
    convex_on_half h & never_falls h & slope_at_most h L & moves_at_most N q norm Delta : convex_loses_at_most L (L * (Delta / scale))
| ConvexCoordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) c K of
    0 < c & adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))) &
    convex_on_line h & slope_at_most h L & slope_at_most (fun r => h (- r)) L &
    (forall x x', both N x x' -> \sum_i `|(q x - q x') 0 i| <= K) : convex_loses_at_most L (L * K).

(* Rule: convex-exponent, upper. *)
Theorem convex_exponent_rule_upper L e : 0 <= L -> convex_loses_at_most L e -> pure_dp N M e.
Proof.
move=> L0 [V place q norm scale c Delta semi scale0 c0 noise conv rise grow moves | n place q c K c0 noise conv right left moves].
- exact: (convex_exponent_upper semi scale0 c0 noise conv rise grow moves).
- apply: (exponent_upper c0 noise) => x x' z xx; rewrite -sumrB.
  apply: le_trans (ler_wpmul2l L0 (moves x x' xx)); rewrite mulr_sumr; apply: ler_sum => i _.
  by rewrite [in h _]mxE; exact: convex_line_increment.
Qed.

(* Outputs have positive measure: all neighbourhoods on the reals, on the integers the points at integer multiples of the difference. *)
Definition shown_at (V : lmodType R) (place : Y -> V) (norm : V -> R) (v s : V) :=
  full_measure mu place norm \/ forall m : nat, atom mu place (v + m%:R *: s).

Variant convex_loses_at_least (L : R) : R -> Prop :=
| AConvexNorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c D x x' of
    seminorm norm & 0 < scale & 0 < c & adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) &
    convex_on_half h & slope_at_least h L &
    both N x x' & norm (q x - q x') / scale = D & shown_at place norm (q x) (q x - q x') : convex_loses_at_least L (L * D)
| SomeConvexCoordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) c K x x' of
    (0 < n)%N & 0 < c & adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))) &
    convex_on_line h &
    (forall i, 0 < (q x - q x') 0 i -> slope_at_least h L) & (forall i, (q x - q x') 0 i < 0 -> slope_at_least (fun r => h (- r)) L) &
    both N x x' & \sum_i `|(q x - q x') 0 i| = K & shown_at place (@greatest R n) (q x) (q x - q x') : convex_loses_at_least L (L * K).

Lemma far_on_half h' (D : R) (m : nat) : convex_on_half h' -> 0 < D -> (0 < m)%N -> continuous_at_distance h' (m%:R * D).
Proof.
move=> conv D0 m0 t t0; have b0 : 0 < m%:R * D by rewrite mulr_gt0// ltr0n.
have lb : 0 <= m%:R * D - m%:R * D by lra.
have [r r0 near] := convex_continuous b0 conv lb t0.
by exists r => // y _; exact: near.
Qed.

Lemma multiple_lower (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c D x x' (m : nat) :
  seminorm norm -> 0 < scale -> 0 < c -> adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) -> convex_on_half h ->
  both N x x' -> norm (q x - q x') / scale = D -> 0 < D -> shown_at place norm (q x) (q x - q x') -> (0 < m)%N ->
  ((h (m.+1%:R * D) - h (m%:R * D))%:E <= tight_epsilon N M 0)%E.
Proof.
move=> semi scale0 c0 noise conv xx e D0 base m0; pose s := q x - q x'; pose z := m%:R *: s.
have near (k : nat) : norm (k%:R *: s) / scale = k%:R * D by rewrite (seminormZ semi) ger0_norm ?ler0n// -mulrA /s e.
have zs : z + s = m.+1%:R *: s by rewrite /z -natr1 scalerDl scale1r.
have -> : h (m.+1%:R * D) - h (m%:R * D) = h (norm (z + s) / scale) - h (norm z / scale) by rewrite zs !near.
case: base => [full | at_z].
- apply: (exponent_lower_at c0 noise xx (full _)).
    by apply: (continuous_near semi scale0); rewrite /z near; exact: far_on_half.
  by apply: (continuous_near semi scale0); rewrite -/s zs near; exact: far_on_half.
- exact: (exponent_lower_atom c0 noise xx (at_z m)).
Qed.

Lemma coordinate_multiple_lower n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) c x x' (z : 'rV[R]_n) :
  (0 < n)%N -> 0 < c -> adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))) -> convex_on_line h -> both N x x' ->
  full_measure mu place (@greatest R n) \/ atom mu place (q x + z) ->
  ((\sum_i (h ((z + (q x - q x')) 0 i) - h (z 0 i)))%:E <= tight_epsilon N M 0)%E.
Proof.
move=> n0 c0 noise conv xx base; apply: (coordinates_lower n0 c0 noise xx).
case: base => [full | at_z]; [right | by left].
by split=> [|i|i]; [exact: full | exact: convex_line_continuous | exact: convex_line_continuous].
Qed.

(* Rule: convex-exponent, lower. *)
Theorem convex_exponent_rule_lower L e : convex_loses_at_least L e -> (e%:E <= tight_epsilon N M 0)%E.
Proof.
case=> [V place q norm scale c D x x' semi scale0 c0 noise conv grow xx De base | n place q c K x x' n0 c0 noise conv right left xx Ke base].
- have : 0 <= D by rewrite -De; apply: over_ge0 => //; exact: (seminorm_ge0 semi).
  rewrite le_eqVlt => /orP[/eqP <- | D0]; first by rewrite mulr0 tight_epsilon_ge0.
  apply: lower_limit => s s0.
  have [|m m0 mv] := step_reached (slope_at_least_scaled D0 grow) (s := L * D - s); first by lra.
  apply: le_trans (multiple_lower semi scale0 c0 noise conv xx De D0 base m0).
  by rewrite lee_fin ltW.
- pose s := q x - q x'.
  have grow i : slope_at_least (fun r => h (r * s 0 i)) (L * `|s 0 i|).
    have [sn | sp | ->] := ltrgtP (s 0 i) 0.
    + have := slope_at_least_scaled (h := fun r => h (- r)) (D := - s 0 i) _ (left i sn); rewrite oppr_gt0 => /(_ sn).
      by rewrite ltr0_norm//; under [X in slope_at_least X]boolp.eq_fun do rewrite mulrN opprK.
    + by rewrite gtr0_norm//; exact: slope_at_least_scaled (right i sp).
    + rewrite normr0 mulr0; under [X in slope_at_least X]boolp.eq_fun do rewrite mulr0.
      exact: slope_at_least_const.
  have := slope_at_least_sum grow; rewrite -mulr_sumr Ke => {}grow.
  apply: lower_limit => t t0; have [|m m0 mv] := step_reached grow (s := L * K - t); first by lra.
  have base' : full_measure mu place (@greatest R n) \/ atom mu place (q x + m%:R *: s) by case: base => [full | at_z]; [left | right].
  apply: le_trans (coordinate_multiple_lower n0 c0 noise conv xx base').
  rewrite lee_fin ltW//; apply: lt_le_trans mv _; rewrite -sumrB le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => i _.
  by rewrite -/s !mxE -natr1 mulrDl mul1r.
Qed.

(* The slope grows without bound at an end: no finite epsilon. *)
Variant convex_unbounded : Prop :=
| UnboundedNorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c x x' of
    seminorm norm & 0 < scale & 0 < c & adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) &
    convex_on_half h & slope_infinite h &
    both N x x' & 0 < norm (q x - q x') & shown_at place norm (q x) (q x - q x') : convex_unbounded
| UnboundedCoordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) c x x' i of
    (0 < n)%N & 0 < c & adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))) &
    convex_on_line h & (0 < (q x - q x') 0 i /\ slope_infinite h \/ (q x - q x') 0 i < 0 /\ slope_infinite (fun r => h (- r))) &
    both N x x' &
    full_measure mu place (@greatest R n) \/
      (forall m : nat, atom mu place (q x + \row_j (if j == i then m%:R * (q x - q x') 0 i else 0))) : convex_unbounded.

(* Rule: convex-exponent, lower. *)
Theorem convex_exponent_rule_infinite : convex_unbounded -> (tight_epsilon N M 0 = +oo)%E.
Proof.
case=> [V place q norm scale c x x' semi scale0 c0 noise conv grow xx s0 base | n place q c x x' i n0 c0 noise conv grow xx base];
  apply: infinite_of_unbounded => v v0.
- have D0 : 0 < norm (q x - q x') / scale by rewrite divr_gt0.
  have [m m0 mv] := step_unbounded (slope_infinite_scaled D0 grow) v.
  apply: le_trans (multiple_lower semi scale0 c0 noise conv xx erefl D0 base m0).
  by rewrite lee_fin ltW.
- set s := q x - q x' in grow base *.
  have {}grow : slope_infinite (fun r => h (r * s 0 i)).
    case: grow => [[sp inf] | [sn inf]]; first exact: slope_infinite_scaled.
    have := slope_infinite_scaled (D := - s 0 i) _ inf; rewrite oppr_gt0 => /(_ sn).
    by under [X in slope_infinite X]boolp.eq_fun do rewrite mulrN opprK.
  pose rest := \sum_(j | j != i) (h (s 0 j) - h 0).
  have [m m0 mv] := step_unbounded grow (v - rest).
  pose z : 'rV[R]_n := \row_j (if j == i then m%:R * s 0 i else 0).
  have base' : full_measure mu place (@greatest R n) \/ atom mu place (q x + z) by case: base => [full | at_z]; [left | right; exact: at_z].
  apply: le_trans (coordinate_multiple_lower n0 c0 noise conv xx base').
  have zE j : z 0 j = if j == i then m%:R * s 0 i else 0 by rewrite mxE.
  have zs j : (z + s) 0 j = z 0 j + s 0 j by rewrite [LHS]mxE.
  rewrite lee_fin -/s; under eq_bigr do rewrite zs zE.
  rewrite (bigD1 i)//= eqxx (eq_bigr (fun j => h (s 0 j) - h 0)); last by move=> j ji; rewrite (negbTE ji) add0r.
  rewrite -/rest; have -> : m%:R * s 0 i + s 0 i = m.+1%:R * s 0 i by rewrite -natr1 mulrDl mul1r.
  by move: mv => /ltW; rewrite ler_subl_addr.
Qed.
End Convex.
