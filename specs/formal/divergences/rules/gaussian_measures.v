(* Gaussian noise in other measures (docs/theory/measures.md: Gaussian measures): the Renyi divergence of order a is exactly a D/2, D the square of
   the distance of the answers in the norm of the covariance, so that rho of zCDP is D/2. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood powers means renyi finite_measures renyi_curves measures gaussian_curve.

Section Gaussian.
Context (R : realType) (V : lmodType R) (B : V -> V -> R) (form : inner_form B).
Context d (Y : measurableType d) (nu : {measure set Y -> \bar R}) (place : Y -> V) (Phi : R -> R) (c : R).
Hypothesis c0 : 0 < c.
Notation normal v := (fun y => c * expR (- (B (place y - v) (place y - v) / 2))).
(* The noise can be added to every answer: its density about v is one. *)
Hypothesis everywhere : forall v, exists W : {measure set Y -> \bar R}, W setT = 1%E /\ has_density nu W (normal v).
Variables (v w : V) (P Q : {measure set Y -> \bar R}).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (Pv : has_density nu P (normal v)) (Qw : has_density nu Q (normal w)).
Notation D := (B (w - v) (w - v)).

(* The tilted density is Gaussian about another answer. *)
Lemma gaussian_moment a : 1 < a -> moment P (normal v) (normal w) a = (expR (a * (a - 1) * (D / 2)))%:E.
Proof.
move=> a1; set s := w - v; pose u := v + (1 - a) *: s; have [W [W1 Wu]] := everywhere u.
have pos z : 0 < c * expR (- (B z z / 2)) by rewrite mulr_gt0// expR_gt0.
set K := expR _; have K0 : 0 <= K by exact: expR_ge0.
have [W0 mW We] := Wu; have [p0 mp Pe] := Pv; have [q0 mq Qe] := Qw.
have E y : ((normal v y)%:E * loss_power (normal v) (normal w) a y = K%:E * (normal u y)%:E)%E.
  rewrite /loss_power !gt_eqF ?pos// -!EFinM; congr EFin.
  rewrite !lnM ?posrE ?expR_gt0// !expK [RHS]mulrCA -mulrA -!expRD; congr (_ * expR _); set z := place y - v.
  have -> : place y - w = z - s by rewrite /z /s opprB addrA subrK.
  have -> : place y - u = z - (1 - a) *: s by rewrite /z /u opprD addrA.
  rewrite (form_difference form z s) (form_difference form z ((1 - a) *: s)) !(formZl form) (formZr form).
  by move: (B z z) (B s z) (B s s) => x b D'; lra.
rewrite /moment (integral_density Pv).
- transitivity (\int[nu]_y (K%:E * (normal u y)%:E))%E; first by apply: eq_integral => y _; exact: E.
  have mE : measurable_fun setT (fun y => (normal u y)%:E) by apply/EFin_measurable_fun.
  have E0 y : setT y -> (0 <= (normal u y)%:E)%E by move=> _; rewrite lee_fin.
  have KE : (0 <= K%:E)%E by rewrite lee_fin.
  by rewrite (ge0_integralM nu measurableT mE E0 KE) -We// W1 mule1.
- apply: (emeasurable_fun_cvg (fun n y => (capped_power (normal v) (normal w) a n y)%:E)).
  + move=> n; have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
    have a0 : 0 < a - 1 by rewrite subr_gt0.
    have [mr _] := test_pow a0 (test_capped Pv Qw n0).
    rewrite (_ : (fun y => _) = (fun y => (pow (a - 1) n.+1%:R * pow (a - 1) (capped (normal v) (normal w) n.+1%:R y))%:E)).
      by apply/EFin_measurable_fun; exact: measurable_funrM.
    by apply/funext => y; rewrite /capped_power powM ?(ltW n0)//; case/andP: (capped01 Pv Qw y n0).
  + by move=> y _; exact: (capped_power_limit Pv Qw).
- by move=> y; exact: loss_power_ge0.
Qed.

(* The divergence of order a is exactly a D/2, and rho exactly D/2. *)
Lemma gaussian_renyi a t : 1 < a -> renyi a t P Q <-> a * (D / 2) <= t.
Proof.
move=> a1; have a0 : 0 < a - 1 by rewrite subr_gt0.
rewrite (renyi_densities P1 Q1 Pv Qw t a1) gaussian_moment// lee_fin ler_expR.
by rewrite [a * (a - 1)]mulrC -mulrA ler_pmul2l.
Qed.

Lemma gaussian_zcdp rho : zcdp rho P Q <-> D / 2 <= rho.
Proof.
have two : 1 < 2 :> R by rewrite ltr1n.
split=> [h|h a a1]; first by have /(gaussian_renyi _ two) := h 2 two; rewrite ler_pmul2l.
by apply/(gaussian_renyi _ a1); rewrite ler_pmul2l// (lt_trans ltr01).
Qed.
End Gaussian.

(* A mechanism whose pair is that of two Gaussian laws mu apart, of deviation 1: on the line these are N(0, 1) and N(mu, 1), but any space will do. *)
Section Mechanism.
Context (R : realType) (V : lmodType R) (B : V -> V -> R) (form : inner_form B).
Context d' (Z : measurableType d') (nu : {measure set Z -> \bar R}) (place : Z -> V) (c : R).
Hypothesis c0 : 0 < c.
Notation normal v := (fun y => c * expR (- (B (place y - v) (place y - v) / 2))).
Hypothesis everywhere : forall v, exists W : {measure set Z -> \bar R}, W setT = 1%E /\ has_density nu W (normal v).

(* N(0, 1) and N(mu, 1). *)
Definition gaussian_pair (mu : R) (P0 Q0 : {measure set Z -> \bar R}) := [/\ P0 setT = 1%E, Q0 setT = 1%E &
  exists v w, [/\ has_density nu P0 (normal v), has_density nu Q0 (normal w) & B (w - v) (w - v) = mu ^+ 2]].

Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).
Variables (mu : R) (P0 Q0 : {measure set Z -> \bar R}).
Hypotheses (mu0 : 0 <= mu) (pair0 : gaussian_pair mu P0 Q0).

(* Where the pair dominates. *)
(* Rule: gaussian-measures, upper, in part: not noise on the integers. *)
(* Streams whose pair dominates; stream_measures shows that it does. *)
(* Rule: selection-measures, upper, in part: that the pair dominates a selection with Gaussian noise is the rule compared-gaussians; not Gumbel noise. *)
Theorem gaussian_measures_upper : (forall x x', N x x' -> dominated (M x) (M x') P0 Q0) ->
  [/\ gdp_private N M P0 Q0, zcdp_private N M (mu ^+ 2 / 2) & forall a, 1 < a -> renyi_private N M a (a * (mu ^+ 2 / 2))].
Proof.
have [P01 Q01 [v [w [Pv Qw E]]]] := pair0; have L := density_likelihood P01 Q01 Pv Qw.
have R0 a : 1 < a -> renyi a (a * (mu ^+ 2 / 2)) P0 Q0 by move=> a1; apply/(gaussian_renyi form c0 everywhere P01 Q01 Pv Qw) => //; rewrite E.
move=> dom; have h a x x' : 1 < a -> N x x' -> renyi a (a * (mu ^+ 2 / 2)) (M x) (M x').
  move=> a1 xx; apply: (renyi_dominated _ _ P01 Q01 L (dom x x' xx)); rewrite ?law_total//; exact: R0.
by split=> // [x x' xx a a1|a a1 x x' xx]; exact: h.
Qed.

(* Where some neighbours have the pair, or one that dominates it. *)
(* Rule: gaussian-measures, lower, in part: not noise on the integers. *)
Theorem gaussian_measures_lower x x' p q : N x x' -> likelihood (M x) (M x') p q -> dominated P0 Q0 (M x) (M x') ->
  [/\ forall mu' P' Q', 0 <= mu' -> gaussian_pair mu' P' Q' -> gdp_private N M P' Q' -> mu <= mu',
      forall rho, zcdp_private N M rho -> mu ^+ 2 / 2 <= rho &
      forall a t, 1 < a -> renyi_private N M a t -> a * (mu ^+ 2 / 2) <= t].
Proof.
have [P01 Q01 [v [w [Pv Qw E]]]] := pair0; move=> xx L dom.
have two : 1 < 2 :> R by rewrite ltr1n.
have low a t : 1 < a -> renyi a t (M x) (M x') -> a * (mu ^+ 2 / 2) <= t.
  move=> a1 h; have h0 := renyi_dominated P01 Q01 (law_total M x) (law_total M x') L dom a1 h.
  by have := (gaussian_renyi form c0 everywhere P01 Q01 Pv Qw t a1).1 h0; rewrite E.
split=> [mu' P' Q' mu'0 [P'1 Q'1 [v' [w' [Pv' Qw' E']]]] h|rho h|a t a1 h]; last 2 first.
- by have := low 2 _ two (h x x' xx 2 two); rewrite ler_pmul2l.
- exact: (low a t a1 (h x x' xx)).
- have L' := density_likelihood P'1 Q'1 Pv' Qw'.
  have R' : renyi 2 (2 * (mu' ^+ 2 / 2)) P' Q' by apply/(gaussian_renyi form c0 everywhere P'1 Q'1 Pv' Qw') => //; rewrite E'.
  have h' := renyi_dominated (law_total M x) (law_total M x') P'1 Q'1 L' (h x x' xx) two R'.
  by have := low 2 _ two h'; rewrite ler_pmul2l// ler_pmul2r ?invr_gt0// ler_sqr ?nnegrE.
Qed.
End Mechanism.
