(* The rules that bound the tight epsilon from below by an event, or find it 0 or infinite: point-witness, divergence, equal-answers and
   cosets (docs/theory/additive.md). *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive.
Import numFieldTopology.Exports numFieldNormedType.Exports.

Section AnyNoise.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V) (f : V -> R).
Hypothesis noise : adds_noise mu place M q f.

(* On the neighbourhood S the density of P is positive and the loss at least v: the event S shows it. *)
Theorem point_witness_lower (v : R) x x' S : both N x x' -> measurable S -> (0 < mu S)%E ->
  (forall y, S y -> 0 < f (place y - q x) /\ expR v * f (place y - q x') <= f (place y - q x)) ->
  [/\ (v%:E <= tight_epsilon N M 0)%E, (0 < M x S)%E & ((expR v)%:E * M x' S <= M x S)%E].
Proof.
move=> xx mS S0 on; split; first exact: (density_lower noise xx mS S0 on).
- by have [] := event_mass (noise x) (noise x') mS S0 on.
- by have [] := event_mass (noise x) (noise x') mS S0 on.
Qed.

(* The density of Q vanishes on S. *)
Theorem point_witness_infinite x x' S : both N x x' -> measurable S -> (0 < mu S)%E ->
  (forall y, S y -> 0 < f (place y - q x) /\ f (place y - q x') = 0) -> (tight_epsilon N M 0 = +oo)%E.
Proof. by move=> xx mS S0 on; apply: (density_infinite noise xx mS S0 on). Qed.

Theorem equal_answers_upper : (forall x x', both N x x' -> q x = q x') -> pure_dp N M 0.
Proof.
move=> eq; apply: (density_upper_everywhere noise) => x x' y xx.
by rewrite (eq _ _ xx) expR0 mul1r.
Qed.

(* Rule: equal-answers, lower. *)
Theorem equal_answers_lower : (0 <= tight_epsilon N M 0)%E.
Proof. exact: tight_epsilon_ge0. Qed.

(* -- Divergence, (b) and (c): the density tends to infinity, or to 0, at a point z (on one side, or about it) and is bounded, or bounded
   away from 0, round z + s, s the difference of two answers. The side is a set of directions from z that has positive measure near z. *)
Definition charged_side (norm : V -> R) (side : V -> Prop) (v : V) :=
  forall r : R, 0 < r -> exists S, [/\ measurable S, (0 < mu S)%E & forall y, S y -> norm (place y - v) < r /\ side (place y - v)].

Let both_places x x' z (y : Y) : place y - q x' - (z + (q x - q x')) = place y - (q x + z) /\ place y - q x - z = place y - (q x + z).
Proof. by split; [rewrite opprD opprB addrACA addKr opprD addrA addrAC | rewrite opprD addrA]. Qed.

(* A pole of the density at z. *)
Theorem divergence_pole (norm : V -> R) (side : V -> Prop) x x' z (bound r : R) :
  both N x x' -> charged_side norm side (q x + z) -> 0 < r ->
  (forall K, exists2 t, 0 < t & forall w, norm (w - z) < t -> side (w - z) -> K <= f w) ->
  (forall w, norm (w - (z + (q x - q x'))) < r -> f w <= bound) ->
  (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> xx ch r0 pole small; apply: infinite_of_unbounded => v v0.
have [t t0 big] := pole (expR v * `|bound| + 1).
have m0 : 0 < Num.min r t by rewrite lt_minr r0.
have [S [mS S0 in_S]] := ch _ m0.
apply: (density_lower noise xx mS S0) => y Sy; have [] := in_S y Sy; rewrite lt_minr => /andP[yr yt] ys.
have [e1 e2] := both_places x x' z y.
have hb : f (place y - q x') <= bound by apply: small; rewrite e1.
have hp : expR v * `|bound| + 1 <= f (place y - q x) by apply: big; rewrite e2.
have b0 := ler_norm bound; have n0 := normr_ge0 bound; have ev := expR_gt0 v.
have p1 : expR v * f (place y - q x') <= expR v * `|bound| by rewrite ler_pmul2l//; lra.
have p2 : 0 <= expR v * `|bound| by apply: mulr_ge0; lra.
by split; lra.
Qed.

(* A zero of the density at z: x and x' have changed places. *)
Theorem divergence_zero (norm : V -> R) (side : V -> Prop) x x' z (bound r : R) :
  both N x x' -> charged_side norm side (q x + z) -> 0 < r -> 0 < bound -> (forall w, 0 <= f w) ->
  (forall K, 0 < K -> exists2 t, 0 < t & forall w, norm (w - z) < t -> side (w - z) -> f w <= K) ->
  (forall w, norm (w - (z + (q x - q x'))) < r -> bound <= f w) ->
  (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> xx ch r0 b0 f0 zero big; apply: infinite_of_unbounded => v v0.
have ev := expR_gt0 v; have K0 : 0 < bound / expR v by rewrite divr_gt0.
have [t t0 small] := zero _ K0.
have m0 : 0 < Num.min r t by rewrite lt_minr r0.
have [S [mS S0 in_S]] := ch _ m0.
apply: (density_lower noise (bothC xx) mS S0) => y Sy; have [] := in_S y Sy; rewrite lt_minr => /andP[yr yt] ys.
have [e1 e2] := both_places x x' z y.
have hb : bound <= f (place y - q x') by apply: big; rewrite e1.
have hs : f (place y - q x) <= bound / expR v by apply: small; rewrite e2.
split; first lra.
have : expR v * f (place y - q x) <= expR v * (bound / expR v) by rewrite ler_pmul2l.
by rewrite mulrCA divff ?gt_eqF//; lra.
Qed.
End AnyNoise.

(* Divergence, (a): the slope of h tends to infinity. Outputs on the line of the two answers; t = norm(q x - q x')/scale. *)
Lemma slope_diverges (R : realType) (h dh : R -> R) (X : R) :
  (forall r : R, X < r -> is_derive r 1 h (dh r)) -> (forall s, exists r0, forall r, r0 <= r -> s <= dh r) ->
  forall (t v : R), 0 < t -> exists c, [/\ X < c, 0 < c & v < h (c + t) - h c].
Proof.
move=> der div t v t0; have [r0 big] := div (v / t + 1).
pose c := Num.max (Num.max r0 X) 0 + 1.
have cr : r0 <= c by rewrite /c ler_paddr// !le_maxr lexx.
have cX : X < c by rewrite /c ltr_spaddr// !le_maxr lexx orbT.
have c0 : 0 < c by rewrite /c ltr_spaddr// le_maxr lexx orbT.
have ct : c < c + t by lra.
exists c; split=> //.
have [||z zin e] := @MVT R h dh c (c + t) ct.
- by move=> z; rewrite in_itv/= => /andP[cz _]; apply: der; lra.
- apply: continuous_in_subspaceT => z; rewrite inE/= in_itv/= => /andP[cz _].
  have dz : is_derive z 1 h (dh z) by apply: der; lra.
  by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ dz.
rewrite e; have -> : c + t - c = t by lra.
move: zin; rewrite in_itv/= => /andP[cz _].
have : v / t + 1 <= dh z by apply: big; lra.
move=> k; have : v / t * t + t <= dh z * t by rewrite -[X in _ + X]mul1r -mulrDl ler_pmul2r.
by rewrite divfK ?gt_eqF//; lra.
Qed.

Section Tails.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V) (norm : V -> R) (h dh : R -> R) (scale c r1 : R).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c).
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))).

(* divergence.v has the whole rule. *)
Theorem divergence_tail x x' : both N x x' -> 0 < norm (q x - q x') -> (forall v, charged mu place norm v) ->
  (forall r : R, r1 < r -> is_derive r 1 h (dh r)) -> (forall s, exists r0, forall r, r0 <= r -> s <= dh r) ->
  (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> xx s0 full der div; apply: infinite_of_unbounded => v v0.
have t0 : 0 < norm (q x - q x') / scale by rewrite divr_gt0.
have [a [ar a0 av]] := slope_diverges der div v t0.
have cont b : r1 < b -> continuous_at_distance h b.
  move=> rb; apply: continuous_at_distance_of; have db := der b rb.
  by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ db.
set t := norm _ / scale in t0 av.
apply: (@le_trans _ _ (h (a + t) - h a)%:E); first by rewrite lee_fin ltW.
apply: (radial_lower semi scale0 c0 noise xx full); [lra | lra | | apply: cont; lra | apply: cont; lra].
by rewrite -/t opprD addrA subrr sub0r normrN ger0_norm// ltW.
Qed.
End Tails.

(* Noise on the integers round answers that do not differ by an integer: C(x) holds all outputs of x. *)
Section Cosets.
Context (R : realType) (d : measure_display) (Y : measurableType d) (X : Type) (N : relation X) (M : mechanism R X Y) (place q : Y -> R).
Context (answer : X -> R).
Definition coset (x : X) : set Y := [set y | exists n : int, place y = answer x + n%:~R].
Hypotheses (measurable_coset : forall x, measurable (coset x)) (on_coset : forall x, M x (coset x) = 1%E).

(* Rule: cosets, lower. *)
Theorem cosets_lower x x' (delta : R) : both N x x' -> (forall n : int, answer x - answer x' != n%:~R) -> delta < 1 ->
  (tight_epsilon N M delta = +oo)%E.
Proof.
move=> xx apart d1.
have disjoint : coset x `&` coset x' = set0.
  apply/seteqP; split=> // y [[n e] [m e']]; have := apart (m - n); rewrite rmorphB/= => /eqP; apply; lra.
have Q0 : M x' (coset x) = 0%E.
  apply/eqP; rewrite eq_le measure_ge0 andbT.
  have := mass_le1 (law_total M x') (measurableU _ _ (measurable_coset x) (measurable_coset x')).
  have -> : M x' (coset x `|` coset x') = (M x' (coset x) + M x' (coset x'))%E by rewrite measureU.
  by rewrite on_coset -{2}[1%E]adde0 addeC lee_add2lE.
apply/tight_epsilon_infinite => eps e0 H; have := H x x' xx _ (measurable_coset x).
by rewrite on_coset Q0 mule0 add0e lee_fin leNgt d1.
Qed.

(* Rule: cosets, lower. *)
Theorem cosets_delta x x' (eps : R) : both N x x' -> (forall n : int, answer x - answer x' != n%:~R) -> 0 <= eps ->
  (1 <= tight_delta N M eps)%E.
Proof.
move=> xx apart e0; apply: lb_ereal_inf => _ [t [t0 H] <-]; rewrite lee_fin leNgt; apply/negP => t1.
by have /(tight_epsilon_infinite N M t)/(_ eps e0) := cosets_lower xx apart t1; apply.
Qed.
End Cosets.
