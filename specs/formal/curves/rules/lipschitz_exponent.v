(* Noise whose exponent is Lipschitz (docs/theory/curves.md: Lipschitz exponent, independent coordinates, Laplace): its curve is at most that of
   Laplace noise on the line, 1 - e^((epsilon - t)/2). The proof looks at four answers on a segment: with P_0, ..., P_3 the laws there,
   s apart at both ends and epsilon apart in the middle, P_0(S) - e^epsilon P_3(S) <= 1 - e^-s (1 - P_1(S) + e^epsilon P_2(S)) <= 1 - e^-s. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive kernels composition curves pairs.
Import numFieldNormedType.Exports.

Lemma expR_at_most1 (R : realType) (x : R) : (expR x <= 1) = (x <= 0).
Proof. by rewrite -[X in _ <= X](@expR0 R) ler_expR. Qed.

Section Segment.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}).

Lemma close_fine e P Q S : P setT = 1%E -> Q setT = 1%E -> close e 0 P Q -> measurable S -> fine (P S) <= expR e * fine (Q S).
Proof.
move=> P1 Q1 h mS; have := h S mS.
by rewrite adde0 -(fineK (mass_fin P1 mS)) -(fineK (mass_fin Q1 mS)) -EFinM lee_fin.
Qed.

(* Four laws in a row. *)
Lemma four_laws P0 P1 P2 P3 (s eps : R) : P0 setT = 1%E -> P1 setT = 1%E -> P2 setT = 1%E -> P3 setT = 1%E ->
  close s 0 P1 P0 -> close eps 0 P1 P2 -> close s 0 P2 P3 -> profile (expR eps) P0 P3 <= 1 - expR (- s).
Proof.
move=> t0 t1 t2 t3 c10 c12 c23; apply: profile_le => S mS; have mC : measurable (~` S) by exact: measurableC.
have com (P : {measure set T -> \bar R}) : P setT = 1%E -> fine (P (~` S)) = 1 - fine (P S).
  by move=> m1; rewrite -setTD measureD// ?m1 ?ltry// setTI fineB ?m1//; exact: mass_fin.
have h10 := close_fine t1 t0 c10 mC; have h12 := close_fine t1 t2 c12 mS; have h23 := close_fine t2 t3 c23 mS.
rewrite !com// in h10; have s0 := expR_gt0 (- s).
have es : expR (- s) * expR s = 1 by rewrite -expRD addNr expR0.
have a0 := expR_gt0 eps.
have {}h10 : expR (- s) * (1 - fine (P1 S)) <= 1 - fine (P0 S).
  by apply: (le_trans (ler_wpmul2l (ltW s0) h10)); rewrite mulrA es mul1r.
have {}h23 : expR eps * (expR (- s) * fine (P2 S)) <= expR eps * fine (P3 S).
  by apply: ler_wpmul2l; [exact: ltW | apply: (le_trans (ler_wpmul2l (ltW s0) h23)); rewrite mulrA es mul1r].
have := ler_wpmul2l (ltW s0) h12; lra.
Qed.
End Segment.

(* -- Laws that change by at most the distance of the answers -- *)

Section Metric.
Context (R : realType) (V : lmodType R) (norm : V -> R) d (T : measurableType d) (law : V -> {measure set T -> \bar R}).
Hypotheses (semi : seminorm norm) (total : forall v, law v setT = 1%E) (metric : forall v w, close (norm (v - w)) 0 (law v) (law w)).

Lemma at_most t v w : norm (v - w) <= t -> close t 0 (law v) (law w).
Proof. by move=> h; exact: close_monotone h (lexx _) (metric v w). Qed.

Lemma scaled_norm (a : R) v : 0 <= a -> norm (a *: v) = a * norm v.
Proof. by move=> a0; rewrite (seminormZ semi) ger0_norm. Qed.

Lemma metric_curve v w t eps : norm (v - w) <= t -> 0 <= eps ->
  profile (expR eps) (law v) (law w) <= Num.max 0 (1 - expR ((eps - t) / 2)).
Proof.
move=> vw e0; rewrite le_maxr; set n := norm (v - w).
have [ne|en] := leP n eps.
  by apply/orP; left; apply/close_profile => //; exact: at_most.
apply/orP; right; have n0 : 0 < n by exact: le_lt_trans en.
apply: (@le_trans _ _ (1 - expR (- ((n - eps) / 2)))); last first.
  by rewrite ler_add2l ler_opp2 ler_expR; move: vw; rewrite -/n; lra.
set s := (n - eps) / 2; have s0 : 0 <= s by rewrite /s divr_ge0// subr_ge0 ltW.
pose at_ (r : R) := v - (r / n) *: (v - w).
have far r r' : r <= r' -> norm (at_ r - at_ r') = r' - r.
  move=> rr; have -> : at_ r - at_ r' = ((r' - r) / n) *: (v - w).
    by rewrite /at_ opprB addrC addrA subrK -scalerBl mulrBl.
  by rewrite scaled_norm ?divr_ge0 ?subr_ge0// ?(ltW n0)// -/n divfK// gt_eqF.
have v0 : at_ 0 = v by rewrite /at_ mul0r scale0r subr0.
have w0 : at_ n = w by rewrite /at_ divff ?gt_eqF// scale1r opprB addrCA subrr addr0.
have E : s + eps + s = n by rewrite /s; lra.
rewrite -{1}v0 -{1}w0; apply: (four_laws (P1 := law (at_ s)) (P2 := law (at_ (s + eps)))) => //.
- by apply: at_most; rewrite (seminormC semi) far// subr0.
- by apply: at_most; rewrite far; lra.
- by apply: at_most; rewrite far; lra.
Qed.

(* At every real epsilon. *)
Theorem metric_curves v w t eps : norm (v - w) <= t ->
  (- t <= eps -> profile (expR eps) (law v) (law w) <= Num.max 0 (1 - expR ((eps - t) / 2))) /\
  (eps <= - t -> profile (expR eps) (law v) (law w) <= 1 - expR eps).
Proof.
move=> vw; have t0 : 0 <= t := le_trans (seminorm_ge0 semi _) vw.
have swap : eps <= 0 -> profile (expR eps) (law v) (law w) <= 1 - expR eps + expR eps * Num.max 0 (1 - expR ((- eps - t) / 2)).
  move=> e0; rewrite (profile_swap (total w) (total v) (expR_gt0 eps)) ler_add2l; apply: ler_wpmul2l; first exact/ltW/expR_gt0.
  by rewrite -expRN; apply: metric_curve; rewrite ?oppr_ge0// (seminormC semi).
split=> h.
- have [e0|e0] := leP 0 eps; first exact: metric_curve.
  apply: (le_trans (swap (ltW e0))); rewrite max_r; last by rewrite subr_ge0 expR_at_most1; lra.
  rewrite le_maxr; apply/orP; right.
  have -> : expR eps * (1 - expR ((- eps - t) / 2)) = expR eps - expR ((eps - t) / 2).
    by rewrite mulrBr mulr1 -expRD; congr (_ - expR _); lra.
  lra.
- have e0 : eps <= 0 by lra.
  apply: (le_trans (swap e0)); rewrite max_l ?mulr0 ?addr0//.
  by rewrite subr_le0 -[X in X <= _](@expR0 R) ler_expR; lra.
Qed.
End Metric.

(* -- Exponents -- *)

Section Exponents.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V).
(* Noise that can be added to every answer: A v is the law of v + noise. *)
Variables (A : mechanism R V Y) (H : V -> R) (c : R).
Hypotheses (c0 : 0 < c) (noise : adds_noise mu place A id (fun z => c * expR (- H z))).

Lemma lipschitz_metric (gauge : V -> R) : (forall z z', H z - H z' <= gauge (z - z')) -> forall v w, close (gauge (v - w)) 0 (A v) (A w).
Proof.
move=> lip v w; apply: (close_of_ratio (noise v) (noise w)); exists set0; split=> // y /=.
case; rewrite mulrCA ler_pmul2l// -expRD ler_expR.
have := lip (place y - w) (place y - v); rewrite (_ : place y - w - (place y - v) = v - w); first by lra.
by rewrite opprB addrC addrA subrK.
Qed.

Hypothesis MA : forall x S, M x S = A (q x) S.

Lemma same_profile a x x' : profile a (M x) (M x') = profile a (A (q x)) (A (q x')).
Proof. by congr sup; apply/seteqP; split=> _ [S mS <-]; exists S => //; rewrite !MA. Qed.

Theorem lipschitz_exponent (norm : V -> R) (L D : R) x x' eps : seminorm norm -> 0 <= L ->
  (forall z z', `|H z - H z'| <= L * norm (z - z')) -> norm (q x - q x') <= D ->
  (- (L * D) <= eps -> profile (expR eps) (M x) (M x') <= Num.max 0 (1 - expR ((eps - L * D) / 2))) /\
  (eps <= - (L * D) -> profile (expR eps) (M x) (M x') <= 1 - expR eps).
Proof.
move=> semi L0 lip moves; rewrite same_profile.
have semiL : seminorm (fun z => L * norm z).
  split=> [y z | a y]; first by rewrite -mulrDr; apply: ler_wpmul2l => //; exact: seminorm_triangle.
  by rewrite (seminormZ semi) mulrCA.
have near : L * norm (q x - q x') <= L * D by exact: ler_wpmul2l.
have lm v w : close (L * norm (v - w)) 0 (A v) (A w).
  by apply: (lipschitz_metric (gauge := fun z => L * norm z)) => z z'; exact: le_trans (ler_norm _) (lip z z').
by apply: (metric_curves semiL (law_total A) lm).
Qed.
End Exponents.

(* A slope within L, but for finitely many points, of a continuous function. *)
Lemma slope_lipschitz (R : realType) (h dh : R -> R) (bad : seq R) (L a b : R) : a <= b -> {within `[a, b], continuous h} ->
  (forall x : R, a < x < b -> x \notin bad -> is_derive x 1 h (dh x) /\ `|dh x| <= L) -> `|h b - h a : R| <= L * (b - a).
Proof.
elim: bad a b => [|c bad IH] a b ab cont slope.
  move: ab; rewrite le_eqVlt => /predU1P[<-|ab]; first by rewrite !subrr normr0 mulr0.
  have [|x xab ->] := @MVT R h dh a b ab _ cont.
    by move=> x; rewrite in_itv/= => xab; have [] := slope x xab.
  rewrite normrM; have b0 : 0 < b - a by rewrite subr_gt0.
  rewrite (gtr0_norm b0); apply: ler_wpmul2r; first exact: ltW.
  by move: xab; rewrite in_itv/= => xab; have [] := slope x xab.
have [/andP[ac cb]|out] := boolP (a < c < b).
- have h1 : `|h c - h a : R| <= L * (c - a).
    apply: IH; first exact: ltW.
    + by apply: continuous_subspaceW cont => x /=; rewrite !in_itv/= => /andP[-> /le_trans]; apply; exact: ltW.
    + move=> x /andP[ax xc] xb; apply: slope; first by rewrite ax (lt_trans xc).
      by rewrite in_cons negb_or xb lt_eqF.
  have h2 : `|h b - h c : R| <= L * (b - c).
    apply: IH; first exact: ltW.
    + by apply: continuous_subspaceW cont => x /=; rewrite !in_itv/= => /andP[/(le_trans (ltW ac)) -> ->].
    + move=> x /andP[cx xb] xbad; apply: slope; first by rewrite xb (lt_trans ac).
      by rewrite in_cons negb_or xbad gt_eqF.
  have -> : h b - h a = (h b - h c) + (h c - h a) by rewrite addrA subrK.
  apply: (le_trans (ler_norm_add _ _)); apply: (le_trans (ler_add h2 h1)); lra.
- apply: IH => // x xab xbad; apply: slope => //; rewrite in_cons negb_or xbad andbT.
  by apply: contraNneq out => <-.
Qed.

(* -- The rules -- *)

Section Rules.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (M : mechanism R X Y) (q : X -> V) (A : mechanism R V Y) (c : R).
Hypotheses (c0 : 0 < c) (MA : forall x S, M x S = A (q x) S).

(* The exponent is a function h of the distance, continuous and with slopes within L but for finitely many points. *)
(* Rule: lipschitz-exponent, upper, in part: that the pair of Laplace noise dominates; not that in a norm of few facets the divergence is
   the greatest at a vertex of the ball, nor the pair of randomized response for a concave exponent, which pure-guarantee is about. *)
Theorem lipschitz_exponent_radial (norm : V -> R) (h dh : R -> R) (bad : seq R) (scale L D : R) x x' eps :
  seminorm norm -> 0 < scale -> 0 <= L ->
  adds_noise mu place A id (fun z => c * expR (- h (norm z / scale))) ->
  (forall b : R, 0 <= b -> {within `[0, b], continuous h}) ->
  (forall r : R, 0 < r -> r \notin bad -> is_derive r 1 h (dh r) /\ `|dh r| <= L) ->
  norm (q x - q x') <= D ->
  (- (L * (D / scale)) <= eps -> profile (expR eps) (M x) (M x') <= Num.max 0 (1 - expR ((eps - L * (D / scale)) / 2))) /\
  (eps <= - (L * (D / scale)) -> profile (expR eps) (M x) (M x') <= 1 - expR eps).
Proof.
move=> semi scale0 L0 noise cont slope moves.
have lip r r' : 0 <= r -> r <= r' -> `|h r' - h r : R| <= L * (r' - r).
  move=> r0 rr; apply: (@slope_lipschitz R h dh bad) => //.
  - apply: continuous_subspaceW (cont r' (le_trans r0 rr)) => u /=; rewrite !in_itv/= => /andP[ru ->]; rewrite andbT.
    exact: le_trans ru.
  - by move=> u /andP[ru _] ub; apply: slope => //; exact: le_lt_trans ru.
have semi' : seminorm (fun z => norm z / scale).
  split=> [y z | a y]; last by rewrite (seminormZ semi) mulrA.
  by rewrite -mulrDl ler_pmul2r ?invr_gt0//; exact: seminorm_triangle.
have near : norm (q x - q x') / scale <= D / scale by rewrite ler_pmul2r ?invr_gt0.
apply: (lipschitz_exponent (H := fun z => h (norm z / scale)) c0 noise MA eps semi' L0 _ near).
move=> z z'; set u := norm z / scale; set u' := norm z' / scale.
have u0 : 0 <= u by exact: (seminorm_ge0 semi').
have u'0 : 0 <= u' by exact: (seminorm_ge0 semi').
have du : `|u - u'| <= norm (z - z') / scale by exact: (seminorm_dist semi').
apply: (@le_trans _ _ (L * `|u - u'|)); last exact: ler_wpmul2l.
have [uu|uu] := leP u u'.
- have -> : `|u - u'| = u' - u by rewrite distrC ger0_norm ?subr_ge0.
  by rewrite distrC; exact: lip.
- have -> : `|u - u'| = u - u' by rewrite ger0_norm ?subr_ge0 ?ltW.
  by apply: lip => //; exact: ltW.
Qed.
End Rules.
