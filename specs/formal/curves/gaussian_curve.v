(* Gaussian noise (docs/theory/curves.md: Gaussian): delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), mu the distance of
   the answers in the norm of the covariance. Noise is Gaussian where its density is proportional to exp(-B(z, z)/2), B the form of the
   inverse covariance, and its coordinate in every direction of length 1 has the standard normal law. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition curves pairs likelihood.

Section Gaussian.
Context (R : realType) (V : lmodType R) (B : V -> V -> R).

(* A symmetric form that is linear in each argument and nowhere negative. *)
Definition inner_form := [/\ forall x y, B x y = B y x, forall x y z, B (x + y) z = B x z + B y z,
  forall (a : R) x y, B (a *: x) y = a * B x y & forall x, 0 <= B x x].
Hypothesis form : inner_form.

Lemma formC x y : B x y = B y x. Proof. by have [h _ _ _] := form. Qed.
Lemma formDl x y z : B (x + y) z = B x z + B y z. Proof. by have [_ h _ _] := form. Qed.
Lemma formZl (a : R) x y : B (a *: x) y = a * B x y. Proof. by have [_ _ h _] := form. Qed.
Lemma form_ge0 x : 0 <= B x x. Proof. by have [_ _ _ h] := form. Qed.
Lemma formNl x y : B (- x) y = - B x y. Proof. by rewrite -scaleN1r formZl mulN1r. Qed.
Lemma formBl x y z : B (x - y) z = B x z - B y z. Proof. by rewrite formDl formNl. Qed.
Lemma formBr x y z : B x (y - z) = B x y - B x z. Proof. by rewrite formC formBl !(formC x). Qed.

Lemma formDr x y z : B x (y + z) = B x y + B x z. Proof. by rewrite formC formDl !(formC x). Qed.
Lemma formZr (a : R) x y : B x (a *: y) = a * B x y. Proof. by rewrite formC formZl formC. Qed.
Lemma form_difference z s : B (z - s) (z - s) = B z z - B s z * 2 + B s s.
Proof. by rewrite formBl !formBr (formC z s); lra. Qed.

Context d (Y : measurableType d) (nu : {measure set Y -> \bar R}) (place : Y -> V).
(* Phi is the distribution function of the standard normal law. *)
Variables (Phi : R -> R).

(* P is the law of v + Gaussian noise. *)
Definition gaussian_about (c : R) (v : V) (P : {measure set Y -> \bar R}) :=
  has_density nu P (fun y => c * expR (- (B (place y - v) (place y - v) / 2))) /\
  forall (u : V) (t : R), B u u = 1 -> measurable [set y | B u (place y - v) < t] /\ fine (P [set y | B u (place y - v) < t]) = Phi t.

Definition gaussian_delta (mu eps : R) : R := Phi (mu / 2 - eps / mu) - expR eps * Phi (- (mu / 2) - eps / mu).

Section Pair.
Variables (c : R) (v w : V) (P Q : {measure set Y -> \bar R}).
Hypotheses (c0 : 0 < c) (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (Pv : gaussian_about c v P) (Qw : gaussian_about c w Q).

(* The log-likelihood ratio is affine in the coordinate along the difference of the answers. *)
Lemma gaussian_ratio y eps : (expR eps * (c * expR (- (B (place y - w) (place y - w) / 2))) < c * expR (- (B (place y - v) (place y - v) / 2))) =
  (B (w - v) (place y - v) < B (w - v) (w - v) / 2 - eps).
Proof.
rewrite mulrCA ltr_pmul2l// -expRD ltr_expR; set z := place y - v; set s := w - v.
have -> : place y - w = z - s by rewrite /z /s opprB addrA subrK.
rewrite form_difference.
by apply/idP/idP; lra.
Qed.

(* At mu > 0 the curve is exactly this, at every real epsilon. *)
Lemma gaussian_pair_curve mu eps : 0 < mu -> B (w - v) (w - v) = mu ^+ 2 -> profile (expR eps) P Q = gaussian_delta mu eps.
Proof.
move=> mu0 E; have [Pd Ph] := Pv; have [Qd Qh] := Qw.
rewrite (likelihood_profile P1 Q1 (density_likelihood P1 Q1 Pd Qd) (expR_ge0 eps)).
set u := mu^-1 *: (w - v); have mi : mu^-1 * mu = 1 by rewrite mulVf// gt_eqF.
have bw : B u (w - v) = mu by rewrite /u formZl E expr2 mulrA mi mul1r.
have uu : B u u = 1 by rewrite {2}/u formZr bw mi.
have EP : above (fun y => c * expR (- (B (place y - v) (place y - v) / 2))) (fun y => c * expR (- (B (place y - w) (place y - w) / 2))) 1 (expR eps) =
    [set y | B u (place y - v) < mu / 2 - eps / mu].
  have me : mu * (eps / mu) = eps by rewrite mulrCA divff ?gt_eqF// mulr1.
  have kk : mu * (mu / 2 - eps / mu) = mu ^+ 2 / 2 - eps by rewrite mulrBr me; lra.
  have k x : (mu^-1 * x < mu / 2 - eps / mu) = (x < mu ^+ 2 / 2 - eps).
    by rewrite -(ltr_pmul2l mu0 (mu^-1 * x)) kk mulrA divff ?gt_eqF// mul1r.
  by apply/seteqP; split=> y; rewrite /above/= mul1r gaussian_ratio E /u formZl k.
have EQ : [set y | B u (place y - v) < mu / 2 - eps / mu] = [set y | B u (place y - w) < - (mu / 2) - eps / mu].
  have e y : B u (place y - v) = B u (place y - w) + mu by rewrite -bw -formDr addrA subrK.
  by apply/seteqP; split=> y /=; rewrite e; lra.
by rewrite EP (Ph u _ uu).2 EQ (Qh u _ uu).2.
Qed.
End Pair.

(* At mu = 0 the laws are one. *)
Lemma same_laws_curve (P Q : {measure set Y -> \bar R}) (a : R) : P setT = 1%E -> Q setT = 1%E -> 0 <= a ->
  (forall S, measurable S -> P S = Q S) -> profile a P Q = Num.max 0 (1 - a).
Proof.
move=> P1 Q1 a0 PQ; apply/eqP; rewrite eq_le; apply/andP; split; last by rewrite le_maxl profile_ge0//= profile_ge.
apply: profile_le => S mS; rewrite PQ//; have /andP[q0 q1] := fine01 Q1 mS; rewrite le_maxr.
have [h|h] := leP a 1; apply/orP; [right|left].
- have := ler_wpmul2l (_ : 0 <= 1 - a) q1; rewrite subr_ge0 => /(_ h); lra.
- have : 0 <= (a - 1) * fine (Q S) by rewrite mulr_ge0// subr_ge0 ltW. lra.
Qed.

(* -- Mechanisms -- *)

Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V) (c : R).
Hypotheses (c0 : 0 < c) (noise : forall x, gaussian_about c (q x) (M x)).

(* Two laws on the line whose answers are mu apart: those of the pair N(0, 1), N(mu, 1), as their thresholds say. *)
Definition normal_pair d' (Z : measurableType d') (mu : R) (P Q : {measure set Z -> \bar R}) := [/\ P setT = 1%E, Q setT = 1%E &
  forall t : R, exists S, [/\ measurable S, fine (P S) = Phi t & fine (Q S) = Phi (t - mu)]].

Hypothesis Phi_rises : forall s t : R, s <= t -> Phi s <= Phi t.

(* The pair at the distance mu dominates answers that are less far apart. *)
(* Rule: gaussian, in part: that answers are at most mu apart in the norm of the covariance is a hypothesis (for other lp norms it is Hoelder's inequality), and that the law has this density and normal coordinates. *)
Theorem gaussian_curve d' (Z : measurableType d') (mu : R) (P Q : {measure set Z -> \bar R}) x x' eps :
  0 <= mu -> normal_pair mu P Q ->
  (B (q x' - q x) (q x' - q x) <= mu ^+ 2 -> profile (expR eps) (M x) (M x') <= profile (expR eps) P Q) /\
  (0 < mu -> B (q x' - q x) (q x' - q x) = mu ^+ 2 -> profile (expR eps) (M x) (M x') = gaussian_delta mu eps).
Proof.
move=> mu0 [P1 Q1 halves]; split=> [le | mu1 E]; last first.
  exact: (gaussian_pair_curve c0 (law_total M x) (law_total M x') (noise x) (noise x')).
set D := B _ _ in le *; have D0 : 0 <= D by exact: form_ge0.
have sD : Num.sqrt D ^+ 2 = D by rewrite sqr_sqrtr.
have [z|nz] := eqVneq D 0; last first.
  have m0 : 0 < Num.sqrt D by rewrite sqrtr_gt0 lt_neqAle eq_sym nz.
  have mm : Num.sqrt D <= mu by rewrite -(ger0_norm mu0) -sqrtr_sqr ler_wsqrtr.
  rewrite (gaussian_pair_curve c0 (law_total M x) (law_total M x') (noise x) (noise x') eps m0) ?sD//.
  have [S [mS PS QS]] := halves (Num.sqrt D / 2 - eps / Num.sqrt D).
  apply: le_trans (profile_event P1 Q1 (expR_ge0 eps) mS); rewrite PS QS /gaussian_delta ler_add2l ler_opp2.
  by apply: ler_wpmul2l; [exact: expR_ge0 | apply: Phi_rises; lra].
have sub0 : forall y, B (place y - q x') (place y - q x') = B (place y - q x) (place y - q x).
  move=> y; set s := q x' - q x; have -> : place y - q x' = (place y - q x) - s by rewrite /s opprB addrA subrK.
  have Bs : B s (place y - q x) = 0.
    (* the form is nowhere negative *)
    move: (place y - q x) => w; have [//|b0] := eqVneq (B s w) 0.
    have nn (r : R) : 0 <= B w w + r * (B s w * 2).
      have := form_ge0 (r *: s + w); rewrite formDl !formDr !formZl !formZr -/D z (formC w s); lra.
    by have := nn (- (B w w + 1) / (B s w * 2)); rewrite divfK ?mulf_neq0 ?pnatr_eq0//; lra.
  by rewrite form_difference Bs mul0r subr0 -/D z addr0.
rewrite (same_laws_curve (law_total M x) (law_total M x') (expR_ge0 eps)).
  by rewrite le_maxl profile_ge0 ?expR_ge0//= profile_ge ?expR_ge0.
move=> S mS; have [[_ _ ->//] _] := noise x; have [[_ _ ->//] _] := noise x'.
by apply: eq_integral => y _; rewrite sub0.
Qed.

(* The curve of the pair itself. *)
Lemma gaussian_attained x x' mu eps : 0 < mu -> B (q x' - q x) (q x' - q x) = mu ^+ 2 ->
  profile (expR eps) (M x) (M x') = gaussian_delta mu eps.
Proof. by move=> mu0; exact: (gaussian_pair_curve c0 (law_total M x) (law_total M x') (noise x) (noise x')). Qed.
End Gaussian.
