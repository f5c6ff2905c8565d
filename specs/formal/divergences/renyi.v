(* The Renyi divergence (docs/theory/measures.md; specs/definitions.md, measures of privacy): of order a > 1 it is at most t where, for every
   test function g with values in [0, 1], E_P g^s <= e^(s t) (E_Q g)^s, s = 1 - 1/a. This asks for no densities; where the two laws have
   densities p and q, finite_measures.v shows it to say that the mean of p^a q^(1 - a) is at most e^((a - 1) t). From it follow what maps of the
   output, adaptive compositions and other orders do to it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs powers means.

Section Divergence.
Context (R : realType).

(* s = 1 - 1/a, between 0 and 1. *)
Definition share (a : R) : R := 1 - a^-1.

Lemma share_gt0 a : 1 < a -> 0 < share a.
Proof. by move=> a1; rewrite subr_gt0 invf_lt1// (lt_trans ltr01). Qed.
Lemma share_lt1 a : 1 < a -> share a < 1.
Proof. by move=> a1; rewrite gtr_addl oppr_lt0 invr_gt0 (lt_trans ltr01). Qed.
Lemma share_le a b : 1 < a -> a <= b -> share a <= share b.
Proof.
move=> a1 ab; have a0 := lt_trans ltr01 a1; have b0 := lt_le_trans a0 ab.
by rewrite ler_add2l ler_opp2 lef_pinv ?posrE.
Qed.

Definition renyi d (T : measurableType d) (a t : R) (P Q : {measure set T -> \bar R}) :=
  forall g : T -> R, test g -> mean P (fun y => pow (share a) (g y)) <= expR (share a * t) * pow (share a) (mean Q g).

(* rho-zCDP of two laws: every order a > 1 has a divergence of at most a rho. *)
Definition zcdp d (T : measurableType d) (rho : R) (P Q : {measure set T -> \bar R}) := forall a, 1 < a -> renyi a (a * rho) P Q.

(* What is below all tangents of a power is below it. *)
Lemma below_tangents (s X K m : R) : 0 < s -> s < 1 -> 0 <= X -> 0 <= K -> 0 <= m ->
  (forall c, 0 < c -> X <= K * (pow s c * (1 + s * (m / c - 1)))) -> X <= K * pow s m.
Proof.
move=> s0 s1 X0 K0; rewrite le_eqVlt => /orP[/eqP<-|m0] h; last first.
  by have := h m m0; rewrite divff ?gt_eqF// subrr mulr0 addr0 mulr1.
rewrite pow0 mulr0 leNgt; apply/negP => Xp.
have Kp : 0 < K.
  rewrite lt_neqAle K0 andbT; apply/negP => /eqP K1; have := h 1 ltr01; rewrite -K1 mul0r; lra.
have u0 : 0 < X / (K * 2) by rewrite divr_gt0// mulr_gt0.
have := h (pow s^-1 (X / (K * 2))) (pow_gt0 _ u0).
rewrite pow_pow ?(ltW u0)// divff ?gt_eqF// pow_one ?(ltW u0)// mul0r sub0r mulrN1.
have e : K * (X / (K * 2) * (1 - s)) = X * ((1 - s) / 2).
  have -> : X / (K * 2) = K^-1 * (X / 2) by rewrite invfM mulrCA.
  by rewrite -[K^-1 * _ * _]mulrA mulVKf ?gt_eqF//; lra.
rewrite e => le; have : 0 < X * (1 - (1 - s) / 2) by rewrite mulr_gt0//; lra.
lra.
Qed.
End Divergence.

Section Laws.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}) (a b t : R).

(* Powers of at most 1 have a mean below the power of the mean. *)
Lemma mean_pow s P g : 0 < s -> s < 1 -> P setT = 1%E -> test g -> mean P (fun y => pow s (g y)) <= pow s (mean P g).
Proof.
move=> s0 s1 P1 tg; have tp := test_pow s0 tg; rewrite -[leRHS]mul1r; apply: below_tangents => //; try exact: mean_ge0.
move=> c c0; rewrite mul1r; have C0 := pow_ge0 s c.
have e x : pow s c * (1 + s * (x / c - 1)) = pow s c * s / c * x + pow s c * (1 - s) by rewrite mulrBr mulr1; lra.
have := @mean_le_affine _ _ _ P _ g 1 0 (pow s c * s / c) (pow s c * (1 - s)) P1 tp tg; rewrite mul1r addr0 e; apply => //.
- by rewrite divr_ge0 ?mulr_ge0// ltW.
- by rewrite mulr_ge0//; lra.
- move=> y; rewrite mul1r addr0 -e; apply: pow_concave => //; [exact: ltW | exact: test_ge0].
Qed.

Lemma renyi_refl a P : 1 < a -> P setT = 1%E -> renyi a 0 P P.
Proof.
by move=> a1 P1 g tg; rewrite mulr0 expR0 mul1r; apply: mean_pow => //; [exact: share_gt0 | exact: share_lt1].
Qed.

Lemma renyi_weaken a t t' P Q : 1 < a -> t <= t' -> renyi a t P Q -> renyi a t' P Q.
Proof.
move=> a1 tt h g tg; apply: (le_trans (h g tg)); apply: ler_wpmul2r; first exact: pow_ge0.
by rewrite ler_expR; apply: ler_wpmul2l => //; exact/ltW/share_gt0.
Qed.

(* A divergence is at least 0. *)
Lemma renyi_ge0 a t P Q : 1 < a -> P setT = 1%E -> Q setT = 1%E -> renyi a t P Q -> 0 <= t.
Proof.
move=> a1 P1 Q1 h; have t1 : test (fun _ : T => 1 : R) by apply: test_cst; rewrite ler01 lexx.
have := h _ t1; rewrite /= pow1 !mean_cst// pow1 mulr1 -[leLHS](@expR0 R) ler_expR => le.
by rewrite -(@pmulr_rge0 _ (share a))// share_gt0.
Qed.

(* Divergences do not fall with the order. *)
Theorem renyi_order a b t P Q : 1 < a -> a <= b -> P setT = 1%E -> Q setT = 1%E -> renyi b t P Q -> renyi a t P Q.
Proof.
move=> a1 ab P1 Q1 h g tg; have b1 := lt_le_trans a1 ab.
have sa := share_gt0 a1; have sb := share_gt0 b1.
move: ab; rewrite le_eqVlt => /orP[/eqP ab|ab]; first by rewrite ab; exact: h.
have sab : share a < share b.
  by rewrite /share ltr_add2l ltr_opp2 ltf_pinv ?posrE// (lt_trans ltr01).
pose r := share a / share b; have r0 : 0 < r by rewrite divr_gt0.
have r1 : r < 1 by rewrite ltr_pdivr_mulr// mul1r.
have rb : r * share b = share a by rewrite /r divfK// gt_eqF.
have tb := test_pow sb tg.
have -> : (fun y => pow (share a) (g y)) = (fun y => pow r (pow (share b) (g y))).
  by apply/funext => y; rewrite pow_pow ?rb//; exact: test_ge0.
apply: (le_trans (mean_pow r0 r1 P1 tb)); apply: (le_trans (pow_le (ltW r0) (mean_ge0 P tb) (h g tg))).
by rewrite powM ?expR_ge0 ?pow_ge0// pow_expR mulrA rb pow_pow ?rb//; exact: mean_ge0.
Qed.

(* The divergence bounds events: P(S) <= e^(s t) Q(S)^s. *)
Lemma renyi_event a t P Q S : 1 < a -> renyi a t P Q -> measurable S -> fine (P S) <= expR (share a * t) * pow (share a) (fine (Q S)).
Proof.
move=> a1 h mS; have := h _ (test_indic R mS); rewrite (mean_indic Q mS) => le; apply: le_trans le.
rewrite -(mean_indic P mS) le_eqVlt; apply/orP; left; apply/eqP; congr (mean P _); apply/funext => y.
by rewrite indicE; case: (_ \in _); rewrite /= ?pow1 ?pow0.
Qed.
End Laws.

Section Kernels.
Context (R : realType) d1 (T : measurableType d1) d2 (U : measurableType d2).
Implicit Types (P Q : {measure set T -> \bar R}) (a t : R).

(* No map of the output raises a divergence. *)
Theorem renyi_pushed a t P Q (k : T -> {measure set U -> \bar R}) (mk : markov k) : 1 < a -> P setT = 1%E -> Q setT = 1%E ->
  renyi a t P Q -> renyi a t [the measure _ _ of pushed mk P] [the measure _ _ of pushed mk Q].
Proof.
move=> a1 P1 Q1 h g tg; have s0 := share_gt0 a1; have s1 := share_lt1 a1; have tp := test_pow s0 tg.
have [tm ->] := pushed_mean mk Q1 tg; have [tmp ->] := pushed_mean mk P1 tp.
apply: le_trans (h _ tm); apply: mean_le => //; first exact: test_pow.
by move=> x; apply: mean_pow => //; exact: mk.1.
Qed.

(* Divergences add up, where the second part is chosen after the first output. *)
Theorem renyi_joint a t t' P Q (k k' : T -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k') : 1 < a -> P setT = 1%E -> Q setT = 1%E ->
  renyi a t P Q -> (forall x, renyi a t' (k x) (k' x)) ->
  renyi a (t + t') [the measure _ _ of joint mk P] [the measure _ _ of joint mk' Q].
Proof.
move=> a1 P1 Q1 h h' g tg; have s0 := share_gt0 a1; have tp := test_pow s0 tg.
rewrite (joint_mean mk P1 tp) (joint_mean mk' Q1 tg); have ti := test_inner mk' tg.
have tpi := test_pow s0 ti; have tip := test_inner mk tp.
have K0 : 0 <= expR (share a * t') by exact: expR_ge0.
have le : mean P (inner k (fun z => pow (share a) (g z))) <= expR (share a * t') * mean P (fun x => pow (share a) (inner k' g x)).
  have := @mean_le_affine _ _ _ P _ _ 1 0 (expR (share a * t')) 0 P1 tip tpi; rewrite mul1r !addr0; apply => //.
  by move=> x; rewrite mul1r !addr0; apply: h'; exact: test_section.
apply: (le_trans le); rewrite mulrDr expRD [expR _ * expR _]mulrC -mulrA; apply: ler_wpmul2l => //; exact: h.
Qed.
End Kernels.
