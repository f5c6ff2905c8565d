(* Laplace noise in other measures (docs/theory/measures.md: Laplace measures): its Renyi divergences, rho of zCDP and mu of GDP, exactly. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition curves pairs likelihood powers means renyi.
From dpverify Require Import finite_measures renyi_curves.
From dpverify Require Import measures lipschitz_exponent laplace_curve laplace_rule laplace_renyi laplace_orders normal_line laplace_normal.
Import numFieldNormedType.Exports.

Section Rule.
Context (R : realType) (n : nat) (d : measure_display) (Y : measurableType d) (nu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> 'rV[R]_n) (A : mechanism R 'rV[R]_n Y) (b c c1 : R).
Hypotheses (n0 : (0 < n)%N) (b0 : 0 < b) (c0 : 0 < c) (c10 : 0 < c1) (MA : forall x S, M x S = A (q x) S).
Hypothesis noise : adds_noise nu place A id (fun z => c * expR (- \sum_i (`|z 0 i| / b))).
(* One coordinate of the output, which has the law of Laplace noise on the line about that coordinate of the answer. *)
Variables (i : 'I_n) (coordinate : Y -> R) (law : R -> {measure set (line R) -> \bar R}).
Hypotheses (mcoordinate : measurable_fun setT coordinate) (total : forall v, law v setT = 1%E).
Hypothesis dens : forall v, has_density (@lebesgue_measure R) (law v) (fun y => c1 * expR (- (`|y - v| / b))).
Hypothesis seen : forall x (S : set R), measurable S -> M x (coordinate @^-1` S) = law (q x 0 i) S.
(* N(v, 1). *)
Variables (gauss : R -> {measure set (line R) -> \bar R}) (c2 : R).
Hypothesis normal : normal_laws gauss c2.
Notation Phi := (normal_cdf gauss).

(* Two laws on the line t scales apart, which are the pair. *)
Notation P0 := (law 0).
Notation Q0 t := (law (0 + t * b)).

Lemma far_outside p D x x' eps : 0 <= D -> budget p (fun i => (q x - q x') 0 i) D -> eps <= - (l1_reach n p D / b) ->
  profile (expR eps) (M x) (M x') <= 1 - expR eps.
Proof.
move=> D0 near e; have bi : 0 <= b^-1 by rewrite invr_ge0 ltW.
have lip (y z : R) : `|(`|y| / b) - (`|z| / b)| <= b^-1 * `|y - z|.
  by rewrite -mulrBl normrM (ger0_norm bi) mulrC ler_wpmul2l// ler_dist_dist.
have [_ h] := coordinates_curve c0 MA noise eps bi lip (shift_reach n0 D0 near).
by apply: h; rewrite mulrC.
Qed.

Lemma laplace_dominates p D x x' : 0 <= D -> budget p (fun i => (q x - q x') 0 i) D -> dominated (M x) (M x') P0 (Q0 (l1_reach n p D / b)).
Proof.
move=> D0 near a; rewrite le_eqVlt => /predU1P[<-|a0]; first by rewrite !profile0// law_total.
set t := l1_reach n p D / b; have t0 : 0 <= t by rewrite divr_ge0 ?mulr_ge0 ?alike_ge0// ltW.
rewrite -(lnK a0); have [e|e] := leP (- t) (ln a).
  by rewrite (laplace_line b0 c10 total dens 0 t0 e); exact: (laplace_upper n0 b0 c0 MA noise D0 near e).
apply: le_trans (profile_ge (total 0) (total (0 + t * b)) (expR_ge0 (ln a))); apply: (far_outside D0 near); exact: ltW.
Qed.

Lemma line_likelihood v w : likelihood (law v) (law w) (fun y => c1 * expR (- (`|y - v| / b))) (fun y => c1 * expR (- (`|y - w| / b))).
Proof. exact: density_likelihood (total v) (total w) (dens v) (dens w). Qed.

(* Whoever sees one coordinate sees no more. *)
Lemma coordinate_dominated x x' : dominated (law (q x 0 i)) (law (q x' 0 i)) (M x) (M x').
Proof.
move=> a a0; apply: profile_le => S mS; rewrite -!seen//.
have mC : measurable (coordinate @^-1` (S : set R)) by have := mcoordinate measurableT mS; rewrite setTI.
by apply: profile_event; rewrite ?law_total.
Qed.

Lemma mechanism_likelihood x x' : exists f g, likelihood (M x) (M x') f g.
Proof.
have D y : has_density nu (M y) (fun z => c * expR (- \sum_i (`|(place z - q y) 0 i| / b))).
  by have [f0 mf h] := noise (q y); split=> // S mS; rewrite MA; exact: h.
by eexists; eexists; exact: density_likelihood (law_total M x) (law_total M x') (D x) (D x').
Qed.

Lemma laplace_power_gt0 (t a : R) : 1 < a -> 0 < laplace_power t a.
Proof.
move=> a1; have k0 : 0 < 2 * a - 1 by lra.
have a0 : 0 < a by lra.
have a2 : 0 < a - 1 by lra.
by rewrite /laplace_power addr_gt0// mulr_gt0 ?expR_gt0// divr_gt0.
Qed.

Lemma divergenceE (t a s : R) : 1 < a -> (laplace_power t a <= expR ((a - 1) * s)) = (laplace_divergence t a <= s).
Proof.
move=> a1; have a2 : 0 < a - 1 by lra.
by rewrite -[X in X <= _](lnK (laplace_power_gt0 t a1)) ler_expR /laplace_divergence ler_pdivr_mulr// [s * _]mulrC.
Qed.

(* Of a pair that dominates or is dominated by that of the line: from above and from below. *)
Lemma laplace_above x x' t : 0 <= t -> dominated (M x) (M x') P0 (Q0 t) ->
  (forall eps, eps <= - t -> profile (expR eps) (M x) (M x') <= 1 - expR eps) ->
  [/\ forall a, 1 < a -> renyi a (laplace_divergence t a) (M x) (M x'), zcdp (laplace_rho t) (M x) (M x') &
      forall mu, 0 <= mu -> Phi (- (mu / 2)) = expR (- (t / 2)) / 2 -> dominated (M x) (M x') (gauss 0) (gauss mu)].
Proof.
move=> t0 dom far; have up a s : 1 < a -> laplace_power t a <= expR ((a - 1) * s) -> renyi a s (M x) (M x').
  move=> a1 h; apply: (renyi_dominated (law_total M x) (law_total M x') (total 0) (total (0 + t * b)) (line_likelihood 0 (0 + t * b)) dom a1).
  exact/(laplace_line_renyi b0 c10 total dens 0 t0 a1).
split=> [a a1|a a1|mu mu0 h a a0].
- by apply: up => //; rewrite divergenceE.
- by apply: up => //; exact: laplace_power_le.
- have [_ T _] := normal; move: a0; rewrite le_eqVlt => /predU1P[<-|a0].
    by rewrite (profile0 (law_total M x) (law_total M x')) (profile0 (T 0) (T mu)).
  rewrite -(lnK a0); have [e|e] := leP (- t) (ln a).
    apply: (le_trans (dom _ (expR_ge0 _))); rewrite (laplace_line b0 c10 total dens 0 t0 e) le_maxl (profile_ge0 (T 0) (T mu) (expR_ge0 _))/=.
    exact: (normal_above_laplace normal (ln a) t0 mu0 h).
  by apply: le_trans (profile_ge (T 0) (T mu) (expR_ge0 (ln a))); apply: far; exact: ltW.
Qed.

Lemma laplace_below x x' t : 0 <= t -> q x' 0 i = q x 0 i + t * b ->
  [/\ forall a s, 1 < a -> renyi a s (M x) (M x') -> laplace_divergence t a <= s, forall rho, zcdp rho (M x) (M x') -> laplace_rho t <= rho &
      forall mu mu', 0 <= mu' -> Phi (- (mu / 2)) = expR (- (t / 2)) / 2 -> dominated (M x) (M x') (gauss 0) (gauss mu') -> mu <= mu'].
Proof.
move=> t0 E; have dom := @coordinate_dominated x x'; rewrite E in dom; have [f [g Lk]] := mechanism_likelihood x x'.
have low a s : 1 < a -> renyi a s (M x) (M x') -> laplace_power t a <= expR ((a - 1) * s).
  move=> a1 h; apply/(laplace_line_renyi b0 c10 total dens (q x 0 i) t0 a1).
  exact: (renyi_dominated (total (q x 0 i)) (total (q x 0 i + t * b)) (law_total M x) (law_total M x') Lk dom a1 h).
split=> [a s a1 h|rho h|mu mu' mu0 e h].
- by rewrite -divergenceE//; exact: low.
- by apply: (laplace_rho_least t0) => a a1; apply: low => //; exact: h.
- apply: (normal_least normal mu0 e); apply: le_trans (h 1 ler01); apply: le_trans (dom 1 ler01).
  have t1 : - t <= 0 by rewrite oppr_le0.
  by have := laplace_line_lower b0 c10 total dens (q x 0 i) t0 t1; rewrite expR0 sub0r.
Qed.

(* mu is the number with Phi(-mu/2) = e^(-t/2)/2. From above for all shifts of an lp length of at most D, t = D' / b for the greatest l1 length D';
   from below where the coordinate moves by t scales. *)
(* Rule: laplace-measures. *)
Theorem laplace_measures :
  (forall p D, 0 <= D -> (forall x x', N x x' -> budget p (fun i => (q x - q x') 0 i) D) -> let t := l1_reach n p D / b in
    [/\ forall a, 1 < a -> renyi_private N M a (laplace_divergence t a), zcdp_private N M (laplace_rho t) &
        forall mu, 0 <= mu -> Phi (- (mu / 2)) = expR (- (t / 2)) / 2 -> gdp_private N M (gauss 0) (gauss mu)]) /\
  (forall x x' t, N x x' -> 0 <= t -> q x' 0 i = q x 0 i + t * b ->
    [/\ forall a s, 1 < a -> renyi_private N M a s -> laplace_divergence t a <= s, forall rho, zcdp_private N M rho -> laplace_rho t <= rho &
        forall mu mu', 0 <= mu' -> Phi (- (mu / 2)) = expR (- (t / 2)) / 2 -> gdp_private N M (gauss 0) (gauss mu') -> mu <= mu']).
Proof.
split=> [p D D0 near|x x' t xx t0 E].
- set t := l1_reach n p D / b => /=; have t0 : 0 <= t by rewrite divr_ge0 ?mulr_ge0 ?alike_ge0// ltW.
  have all x x' (xx : N x x') := laplace_above t0 (laplace_dominates D0 (near x x' xx)) (fun eps => far_outside D0 (near x x' xx)).
  by split=> [a a1 x x' xx|x x' xx|mu mu0 h x x' xx]; have [r z g] := all x x' xx; [exact: r | exact: z | exact: g].
- have [r z g] := laplace_below t0 E.
  by split=> [a s a1 h|rho h|mu mu' mu0 e h]; [apply: r => //; exact: h | apply: z; exact: h | apply: (g _ _ mu0 e); exact: h].
Qed.
End Rule.
