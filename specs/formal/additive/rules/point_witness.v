(* A point that shows a loss (docs/theory/additive.md, point-witness): for noise of a norm all triangles of two distances and the distance of the
   answers occur, from two dimensions on; for independent coordinates, and on the line, all points do. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules coordinates.
Import numFieldTopology.Exports numFieldNormedType.Exports.

Lemma lipschitz_continuous (R : realType) (f : R -> R) k : 0 <= k -> (forall x y, `|f x - f y| <= k * `|x - y|) -> continuous f.
Proof.
move=> k0 lip x; apply: (iffRL (@cvgrPdist_lt R [normedModType R of R^o] R (nbhs x) _ f (f x))) => s s0.
have r0 : 0 < s / (k + 1) by rewrite divr_gt0//; lra.
apply: filterS (nbhsx_ballx (x : R^o) (PosNum r0)) => y; rewrite /ball/= => xy; apply: le_lt_trans (lip x y) _; move: xy.
rewrite ltr_pdivl_mulr; last by lra.
have := normr_ge0 (x - y); lra.
Qed.

(* -- Triangles -- *)
Section Triangle.
Context (R : realType) (V : lmodType R) (norm : V -> R).
Hypothesis is_norm : norms.norm norm.
Let semi := seminorm_of is_norm.
Variables (s e : V).
Hypotheses (s0 : 0 < norm s) (two : forall k, e != k *: s).

Let path (t : R) : V := t *: s + (1 - `|t|) *: e.
Let C := norm s + norm e.
Let C0 : 0 <= C. Proof. by rewrite addr_ge0// (seminorm_ge0 semi). Qed.

Let path_lip t u : norm (path t - path u) <= C * `|t - u|.
Proof.
have -> : path t - path u = (t - u) *: s + (`|u| - `|t|) *: e.
  by rewrite /path opprD addrACA -!scalerBl; congr (_ + _ *: _); lra.
apply: le_trans (seminorm_triangle semi _ _) _; rewrite !(seminormZ semi).
have : `| `|u| - `|t| | <= `|t - u| by rewrite [leRHS]distrC; exact: ler_dist_dist.
by move/(ler_wpmul2r (seminorm_ge0 semi e)); rewrite /C; lra.
Qed.

Let path_gt0 t : 0 < norm (path t).
Proof.
rewrite lt_neqAle (seminorm_ge0 semi) andbT eq_sym; apply/eqP => /is_norm.2 p0.
have [t1 | t1] := eqVneq (1 - `|t|) 0.
- move: p0; rewrite /path t1 scale0r addr0 => ts.
  have := seminormZ semi t s; rewrite ts (seminorm0 semi) => /esym/eqP; rewrite mulf_eq0 normr_eq0 (gt_eqF s0) orbF => /eqP t0.
  by move: t1; rewrite t0 normr0 subr0 => /eqP; rewrite oner_eq0.
- have := two (- (t / (1 - `|t|))); move/eqP; apply.
  apply: (scalerI t1); rewrite scalerA mulrN mulrCA divff// mulr1 scaleNr.
  by apply/eqP; rewrite -addr_eq0 addrC; apply/eqP; exact: p0.
Qed.

Theorem triangle_occurs a b : 0 <= a -> `|a - b| <= norm s -> norm s <= a + b -> exists z, norm z = a /\ norm (z + s) = b.
Proof.
move=> a0 ab t_le; pose p t := norm (path t); pose g t := norm (a *: path t + p t *: s).
have pc : continuous p.
  apply: (lipschitz_continuous C0) => t u; apply: le_trans (seminorm_dist semi _ _) _; exact: path_lip.
have gc : continuous g.
  have k0 : 0 <= a * C + C * norm s by rewrite addr_ge0 ?mulr_ge0 ?(seminorm_ge0 semi).
  apply: (lipschitz_continuous k0) => t u; apply: le_trans (seminorm_dist semi _ _) _.
  have -> : a *: path t + p t *: s - (a *: path u + p u *: s) = a *: (path t - path u) + (p t - p u) *: s.
    by rewrite opprD addrACA -scalerBr -scalerBl.
  apply: le_trans (seminorm_triangle semi _ _) _; rewrite !(seminormZ semi) (ger0_norm a0).
  have h1 := ler_wpmul2l a0 (path_lip t u).
  have : `|p t - p u| <= C * `|t - u| by apply: le_trans (seminorm_dist semi _ _) _; exact: path_lip.
  by move/(ler_wpmul2r (seminorm_ge0 semi s)); lra.
have fc : continuous (fun t => g t / p t).
  by move=> t; apply: (@cvgM R R (nbhs t) _ g (fun t => (p t)^-1) (g t) (p t)^-1 (gc t)); apply: cvgV; [rewrite gt_eqF// path_gt0 | exact: pc].
have p1 : path 1 = s by rewrite /path scale1r normr1 subrr scale0r addr0.
have pN1 : path (- 1) = - s by rewrite /path scaleN1r normrN1 subrr scale0r addr0.
have sn : norm s != 0 by rewrite gt_eqF.
have f1 : g 1 / p 1 = a + norm s.
  rewrite /g /p p1 -scalerDl (seminormZ semi) mulfK// ger0_norm//; lra.
have fN1 : g (- 1) / p (- 1) = `|norm s - a|.
  rewrite /g /p pN1 (seminormN semi) scalerN addrC -scalerBl (seminormZ semi) mulfK//.
have [|||t tin tE] := @IVT R (fun t => g t / p t) (- 1) 1 b.
- lra.
- exact: continuous_subspaceT.
- rewrite f1 fN1; move: ab; rewrite ler_norml => /andP[ab1 ab2].
  have h1 : `|norm s - a| <= b by rewrite ler_norml; apply/andP; split; lra.
  have h2 : b <= a + norm s by lra.
  by rewrite le_minl le_maxr h1 h2 orbT.
have tp := path_gt0 t; exists ((a / p t) *: path t); split.
- by rewrite (seminormZ semi) ger0_norm ?divr_ge0 ?(ltW tp)// divfK// gt_eqF.
- rewrite -tE /g; have -> : a *: path t + p t *: s = p t *: ((a / p t) *: path t + s).
    by rewrite [RHS]scalerDr [X in _ = X + _]scalerA [p t * _]mulrC (divfK (lt0r_neq0 tp)).
  by rewrite (seminormZ semi) (gtr0_norm tp) [RHS]mulrC mulKf// gt_eqF.
Qed.
End Triangle.

(* -- The rule -- *)
Section PointWitness.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y).

(* What the densities p of M(x) and p' of M(x') are near the output: p is positive, and at least e^v p', up to any s > 0 in v. *)
Definition ratio_near (v : R) (p p' : Y -> R) :=
  forall s, 0 < s -> exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> 0 < p y /\ expR (v - s) * p' y <= p y].
Definition vanishes_near (p p' : Y -> R) := exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> 0 < p y /\ p' y = 0].

(* The same of the profile at two points. *)
Definition ratio_at (ok : R -> Prop) (v : R) (g : R -> R) (a b : R) := forall s, 0 < s -> exists2 r, 0 < r &
  forall a' b', ok a' -> ok b' -> `|a' - a| < r -> `|b' - b| < r -> 0 < g a' /\ expR (v - s) * g b' <= g a'.
Definition zero_at (ok : R -> Prop) (g : R -> R) (a b : R) := exists2 r, 0 < r &
  forall a' b', ok a' -> ok b' -> `|a' - a| < r -> `|b' - b| < r -> 0 < g a' /\ g b' = 0.

(* What is said of two points: a loss of at least v, or, for None, that the density of the second vanishes. *)
Definition said (v : option R) (p p' : Y -> R) := if v is Some v then ratio_near v p p' else vanishes_near p p'.
Definition said_at (ok : R -> Prop) (v : option R) (g : R -> R) (a b : R) := if v is Some v then ratio_at ok v g a b else zero_at ok g a b.

(* a and b are the distances of an output from two answers D apart: on the line through them, or as a triangle, from two dimensions on. *)
Definition occurs (V : lmodType R) (norm : V -> R) (s : V) (D a b : R) :=
  `|a - b| = D \/ [/\ norms.norm norm, exists e : V, forall k, e != k *: s, `|a - b| <= D & D <= a + b].

Variant point_shown (v : option R) : Prop :=
| PointOfANorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale (g : R -> R) a b x x' of
    seminorm norm & 0 < scale & adds_noise mu place M q (fun z => g (norm z / scale)) &
    both N x x' & full_measure mu place norm & 0 <= a & 0 <= b & occurs norm (q x - q x') (norm (q x - q x') / scale) a b &
    said_at (fun r => 0 <= r) v g a b
| PointOfCoordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) (f : 'rV[R]_n -> R) (a : 'rV[R]_n) x x' of
    adds_noise mu place M q f & both N x x' & full_measure mu place (@greatest R n) &
    (match v with
     | Some v => forall s, 0 < s -> exists2 r, 0 < r & forall z, greatest (z - a) < r -> 0 < f z /\ expR (v - s) * f (z + (q x - q x')) <= f z
     | None => exists2 r, 0 < r & forall z, greatest (z - a) < r -> 0 < f z /\ f (z + (q x - q x')) = 0 end)
| PointOfIntegers (V : lmodType R) (place : Y -> V) (q : X -> V) (f : V -> R) (a : V) x x' of
    adds_noise mu place M q f & both N x x' & atom mu place (q x + a) & 0 < f a &
    (match v return Prop with Some v => expR v * f (a + (q x - q x')) <= f a | None => f (a + (q x - q x')) = 0 end).

Lemma places (V : lmodType R) (place : Y -> V) (q : X -> V) (y : Y) (a : V) x x' :
  place y - q x' = (place y - q x) + (q x - q x') /\ place y - q x - a = place y - (q x + a).
Proof. by split; [rewrite addrA subrK | rewrite opprD addrA]. Qed.

Lemma near_event (V : lmodType R) (place : Y -> V) (norm : V -> R) v0 r : full_measure mu place norm -> 0 < r ->
  exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> norm (place y - v0) < r].
Proof. by move=> full r0; exact: full. Qed.

Lemma triangle_at (V : lmodType R) norm (s : V) scale a b : seminorm norm -> 0 < scale -> 0 < norm s -> 0 <= a -> 0 <= b ->
  occurs norm s (norm s / scale) a b -> exists z, norm z / scale = a /\ norm (z + s) / scale = b.
Proof.
move=> semi scale0 s0 a0 b0; have D0 : 0 < norm s / scale by rewrite divr_gt0.
case=> [ab | [isn [e ne] ab ba]]; first exact: (on_line semi scale0).
have [|||z [za zb]] := @triangle_occurs R V norm isn s e s0 ne (a * scale) (b * scale).
- by rewrite mulr_ge0// ltW.
- by rewrite -mulrBl normrM (gtr0_norm scale0) -ler_pdivl_mulr.
- by rewrite -mulrDl -ler_pdivr_mulr.
by exists z; rewrite za zb !mulfK// gt_eqF.
Qed.

Lemma same_place (V : lmodType R) norm (s : V) scale a b : norm s = 0 -> occurs norm s (norm s / scale) a b -> a = b.
Proof.
move=> s0; rewrite s0 mul0r => -[/eqP | [_ _ ab _]]; first by rewrite normr_eq0 subr_eq0 => /eqP.
by apply/eqP; rewrite -subr_eq0 -normr_eq0 eq_le ab normr_ge0.
Qed.

Lemma near_distance (V : lmodType R) norm scale (z w : V) r : seminorm norm -> 0 < scale -> norm (w - z) < r * scale ->
  `|norm w / scale - norm z / scale| < r.
Proof.
move=> semi scale0 h; rewrite -mulrBl normrM normrV ?unitfE ?gt_eqF// (gtr0_norm scale0) ltr_pdivr_mulr//.
by apply: le_lt_trans h; exact: seminorm_dist.
Qed.

(* Where the two points occur, outputs near them show what is said. *)
Lemma shown_near v : point_shown v -> (exists x x' (p p' : Y -> R), [/\ both N x x', has_density mu (M x) p, has_density mu (M x') p' & said v p p']) \/
  (match v return Prop with Some v => v <= 0 | None => False end).
Proof.
case=> [V place q norm scale g a b x x' semi scale0 noise xx full a0 b0 occ at_points
  | n place q f a x x' noise xx full near | V place q f a x x' noise xx at_a fa loss].
- have := seminorm_ge0 semi (q x - q x'); rewrite le_eqVlt => /orP[/eqP/esym s0 | s0]; last first.
    left; exists x, x', (fun y => g (norm (place y - q x) / scale)), (fun y => g (norm (place y - q x') / scale)); split=> //.
    have [z [za zb]] := triangle_at semi scale0 s0 a0 b0 occ.
    have ge0 (w : V) : 0 <= norm w / scale by apply: over_ge0 => //; exact: (seminorm_ge0 semi).
    have on r : 0 < r -> exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y ->
        `|norm (place y - q x) / scale - a| < r /\ `|norm (place y - q x') / scale - b| < r].
      move=> r0; have [|S [mS S0 near]] := @near_event V place norm (q x + z) (r * scale) full; first by rewrite mulr_gt0.
      exists S; split=> // y Sy; have h := near y Sy.
      have [e1 e2] := places place q y z x x'; rewrite -{1}za -zb; split; apply: near_distance => //; first by rewrite e2.
      by rewrite e1 opprD addrACA subrr addr0 e2.
    case: v at_points => [v|] /= at_points.
    + move=> s sp; have [r r0 H] := at_points s sp; have [S [mS S0 near]] := on r r0.
      by exists S; split=> // y Sy; have [h1 h2] := near y Sy; exact: H.
    + have [r r0 H] := at_points; have [S [mS S0 near]] := on r r0.
      by exists S; split=> // y Sy; have [h1 h2] := near y Sy; exact: H.
  right; move: at_points; rewrite (same_place s0 occ); case: v => [v|] /=.
  + move=> H; apply/ler_addgt0Pr => s sp; have [r r0 near] := H s sp.
    have [] := near b b b0 b0; rewrite ?subrr ?normr0// => g0.
    rewrite -[leRHS]mul1r ler_pmul2r// -expR0 ler_expR; lra.
  + move=> [r r0 near]; have [] := near b b b0 b0; rewrite ?subrr ?normr0// => g0 g1.
    by move: g0; rewrite g1 ltxx.
- left; exists x, x', (fun y => f (place y - q x)), (fun y => f (place y - q x')); split=> //.
  have on r : 0 < r -> exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> greatest (place y - q x - a) < r].
    move=> r0; have [S [mS S0 H]] := @near_event _ place (@greatest R n) (q x + a) r full r0.
    by exists S; split=> // y Sy; have [_ ->] := places place q y a x x'; exact: H.
  case: v near => [v|] /= near.
  + move=> s sp; have [r r0 H] := near s sp; have [S [mS S0 on_S]] := on r r0.
    by exists S; split=> // y Sy; have [-> _] := places place q y a x x'; apply: H; exact: on_S.
  + have [r r0 H] := near; have [S [mS S0 on_S]] := on r r0.
    by exists S; split=> // y Sy; have [-> _] := places place q y a x x'; apply: H; exact: on_S.
- left; exists x, x', (fun y => f (place y - q x)), (fun y => f (place y - q x')); split=> //.
  have [S [mS S0 on_S]] := at_a.
  have aE y : S y -> place y - q x = a /\ place y - q x' = a + (q x - q x').
    by move=> /on_S e; rewrite e; split; [rewrite addrAC subrr add0r | rewrite (addrC (q x)) addrA].
  case: v loss => [v|] /= loss.
  + move=> s sp; exists S; split=> // y Sy; have [-> ->] := aE y Sy; split=> //; apply: le_trans loss.
    have := expR_gt0 (v - s); have f0 : 0 <= f (a + (q x - q x')).
      by have [g0 _ _] := noise x'; have := g0 y; have [_ ->] := aE y Sy.
    by move=> _; rewrite ler_wpmul2r// ler_expR; lra.
  + by exists S; split=> // y Sy; have [-> ->] := aE y Sy.
Qed.

(* Rule: point-witness, lower. *)
Theorem point_witness_rule (v : R) : point_shown (Some v) ->
  (v%:E <= tight_epsilon N M 0)%E /\ (v <= 0 \/ exists x x', both N x x' /\
    forall s, 0 < s -> exists S, [/\ measurable S, (0 < M x S)%E & ((expR (v - s))%:E * M x' S <= M x S)%E]).
Proof.
move/shown_near => [[x [x' [p [p' [xx Mp Mp' near]]]]] | v0]; last first.
  by split; [apply: le_trans (tight_epsilon_ge0 _ _ _); rewrite lee_fin | left].
have event s : 0 < s -> exists S, [/\ measurable S, (0 < M x S)%E & ((expR (v - s))%:E * M x' S <= M x S)%E].
  move=> s0; have [S [mS S0 on_S]] := near s s0; exists S.
  by have [] := event_mass Mp Mp' mS S0 on_S.
split; last by right; exists x, x'.
apply: lower_limit => s s0; have [S [mS S0 on_S]] := near s s0.
apply: tight_epsilon_lower => eps e0 ev /(_ x x' xx).
apply: (not_close_of_event Mp Mp' (law_total M x) (law_total M x') mS S0) => y Sy; have [py le] := on_S y Sy.
have [q0 _ _] := Mp'.
have := q0 y; rewrite le_eqVlt => /orP[/eqP <- | q1]; first by rewrite mulr0.
by apply: lt_le_trans le; rewrite ltr_pmul2r// ltr_expR.
Qed.

(* Rule: point-witness, lower. *)
Theorem point_witness_rule_infinite : point_shown None -> (tight_epsilon N M 0 = +oo)%E.
Proof.
move/shown_near => [[x [x' [p [p' [xx Mp Mp' [S [mS S0 on_S]]]]]]] | //].
apply/tight_epsilon_infinite => eps e0 /(_ x x' xx).
by apply: (not_close_of_event Mp Mp' (law_total M x) (law_total M x') mS S0) => y Sy; have [py ->] := on_S y Sy; rewrite mulr0.
Qed.
End PointWitness.
