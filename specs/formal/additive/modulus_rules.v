(* The rules modulus, power-identity, staircase and product-lipschitz (docs/theory/additive.md): suprema of the loss over two arguments. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* -- The proof by moving the two arguments -- *)
Section Moving.
Context (R : realType).
Variables (h : R -> R) (D m : R) (inside turn : R -> Prop).
(* From b uphill: h does not fall below h(b) up to a turn, or for good. From a downhill: h does not rise above h(a) up to a turn. *)
Definition uphill (b : R) :=
  [\/ exists t, [/\ b <= t, turn t & forall x, b <= x -> x <= t -> h b <= h x],
      exists t, [/\ t <= b, turn t & forall x, t <= x -> x <= b -> h b <= h x],
      forall x, b <= x -> h b <= h x |
      (forall x, x <= b -> inside x) /\ forall x, x <= b -> h b <= h x].
Definition downhill (a : R) :=
  (exists t, [/\ a <= t, turn t & forall x, a <= x -> x <= t -> h x <= h a]) \/
  (exists t, [/\ t <= a, turn t & forall x, t <= x -> x <= a -> h x <= h a]).
Hypothesis between : forall x y z, inside x -> inside z -> x <= y -> y <= z -> inside y.
Hypothesis turn_inside : forall t, turn t -> inside t.
Hypothesis runs : forall x, inside x -> uphill x /\ downhill x.
Hypothesis rise : forall c, inside c -> h (c + D) - h c <= m.
Hypothesis fall : forall c, inside c -> h c - h (c + D) <= m.
Hypothesis turns : forall b a, turn b -> turn a -> `|a - b| <= D -> h b - h a <= m.

Let exactly a b : inside a -> inside b -> `|a - b| = D -> h b - h a <= m.
Proof.
move=> ia ib; case: (leP a b) => [ab | ba].
- rewrite distrC ger0_norm ?subr_ge0// => e; have -> : b = a + D by lra.
  exact: rise.
- rewrite gtr0_norm ?subr_gt0// => e; have -> : a = b + D by lra.
  exact: fall.
Qed.

Theorem moving a b : inside a -> inside b -> `|a - b| <= D -> h b - h a <= m.
Proof.
(* move a downhill, b being a turn *)
have second b' a' : turn b' -> inside a' -> `|a' - b'| <= D -> h b' - h a' <= m.
  move=> tb ia; rewrite ler_norml => /andP[d1 d2]; have ib := turn_inside tb.
  have [_ [[t [at_ tt low]] | [t [ta tt low]]]] := runs ia.
  - have [le | lt] := leP t (b' + D).
      have : h b' - h t <= m by apply: turns => //; rewrite ler_norml; apply/andP; split; lra.
      have := low _ at_ (lexx _); lra.
    have le1 : a' <= b' + D by lra.
    have := low _ le1 (ltW lt).
    have : h b' - h (b' + D) <= m by apply: fall.
    lra.
  - have [le | lt] := leP (b' - D) t.
      have : h b' - h t <= m by apply: turns => //; rewrite ler_norml; apply/andP; split; lra.
      have := low _ (lexx _) ta; lra.
    have le1 : b' - D <= a' by lra.
    have := low _ (ltW lt) le1.
    have it := turn_inside tt.
    have ic : inside (b' - D) := between it ia (ltW lt) le1.
    have := rise ic; rewrite subrK; lra.
move=> ia ib; rewrite ler_norml => /andP[d1 d2].
have D0 : 0 <= D by lra.
have [[[t [bt tt low]] | [t [tb tt low]] | low | [all low]] _] := runs ib.
- have [le | lt] := leP t (a + D).
    have : h t - h a <= m by apply: second => //; rewrite ler_norml; apply/andP; split; lra.
    have := low _ bt (lexx _); lra.
  have le1 : b <= a + D by lra.
  have := low _ le1 (ltW lt); have := rise ia; lra.
- have [le | lt] := leP (a - D) t.
    have : h t - h a <= m by apply: second => //; rewrite ler_norml; apply/andP; split; lra.
    have := low _ (lexx _) tb; lra.
  have le1 : a - D <= b by lra.
  have := low _ (ltW lt) le1.
  have ic : inside (a - D) := between (turn_inside tt) ib (ltW lt) le1.
  have := fall ic; rewrite subrK; lra.
- have le1 : b <= a + D by lra.
  have := low _ le1; have := rise ia; lra.
- have le1 : a - D <= b by lra.
  have := low _ le1; have := fall (all _ le1); rewrite subrK; lra.
Qed.

(* Where h never falls, the rise alone counts. *)
Theorem moving_rising a b : (forall x y, inside x -> x <= y -> h x <= h y) -> inside a -> inside b -> `|a - b| <= D -> h b - h a <= m.
Proof.
move=> mono ia ib; rewrite ler_norml => /andP[d1 d2].
have le1 : b <= a + D by lra.
have := mono _ _ ib le1; have := rise ia; lra.
Qed.
End Moving.

Section ModulusRule.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V) (norm : V -> R) (h : R -> R) (scale c Delta m : R).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c).
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))).
Let D := Delta / scale.

(* modulus.v derives the runs from listed pieces, and covers the whole line. *)
Theorem modulus_upper (turn : R -> Prop) :
  moves_at_most N q norm Delta ->
  (forall t, turn t -> 0 <= t) ->
  (forall x, 0 <= x -> uphill h (fun x => 0 <= x) turn x /\ downhill h turn x) ->
  (forall r, 0 <= r -> h (r + D) - h r <= m) -> (forall r, 0 <= r -> h r - h (r + D) <= m) ->
  (forall b a, turn b -> turn a -> `|a - b| <= D -> h b - h a <= m) ->
  pure_dp N M m.
Proof.
move=> moves inside runs rise fall turns; apply: (radial_upper semi scale0 c0 noise moves) => a b a0 b0 ab.
have between : forall x y z : R, 0 <= x -> 0 <= z -> x <= y -> y <= z -> 0 <= y by move=> x y z x0 _ xy _; exact: le_trans xy.
exact: (@moving R h D m (fun x => 0 <= x) turn between inside runs rise fall turns a b a0 b0 ab).
Qed.

(* Where h never falls (radial supremum). *)
Theorem modulus_upper_rising : moves_at_most N q norm Delta -> never_falls h -> (forall r, 0 <= r -> h (r + D) - h r <= m) -> pure_dp N M m.
Proof.
move=> moves mono rise; apply: (radial_upper semi scale0 c0 noise moves) => a b a0 b0.
exact: (moving_rising (inside := fun x => 0 <= x)).
Qed.
End ModulusRule.

(* -- Powers: density (A0 + A1 r^2)^-B, nu = A0/A1 (multivariate t, Cauchy, Pearson VII) -- *)
Section Power.
Context (R : realType).
Variables (nu B D : R).
Hypotheses (nu0 : 0 < nu) (B0 : 0 < B) (D0 : 0 <= D).
Definition asinh (u : R) := ln (u + Num.sqrt (u ^+ 2 + 1)).
Definition power_exponent (r : R) := B * ln (nu + r ^+ 2).
Let s := Num.sqrt (D ^+ 2 + 4 * nu).

Let sE : s ^+ 2 = D ^+ 2 + 4 * nu.
Proof. by rewrite /s sqr_sqrtr//; have := sqr_ge0 D; lra. Qed.
Let s_gt : D < s.
Proof.
rewrite -(@ltr_pexpn2r R 2)// ?nnegrE ?sqrtr_ge0//; rewrite sE; lra.
Qed.
Let sD : 0 < s - D. Proof. have := s_gt; lra. Qed.
Let sD' : 0 < s + D. Proof. have := s_gt; lra. Qed.

Lemma power_identity c : (s + D) * (nu + (c - D) ^+ 2) - (s - D) * (nu + c ^+ 2) = 2 * D * (c - (s + D) / 2) ^+ 2.
Proof. have e : D * s ^+ 2 = D * (D ^+ 2 + 4 * nu) by rewrite sE.
lra. Qed.

Lemma asinh_ratio : 2 * asinh (D / (2 * Num.sqrt nu)) = ln ((s + D) / (s - D)).
Proof.
have n0 : 0 < Num.sqrt nu by rewrite sqrtr_gt0.
have k0 : 0 < 2 * Num.sqrt nu by lra.
have k2 : (2 * Num.sqrt nu) ^+ 2 = 4 * nu.
  by have e : Num.sqrt nu ^+ 2 = nu by [rewrite sqr_sqrtr// ltW]; lra.
move: (2 * Num.sqrt nu) k0 k2 => k k0 k2; have kn : k != 0 by rewrite gt_eqF.
have inner : Num.sqrt ((D / k) ^+ 2 + 1) = s / k.
  have -> : (D / k) ^+ 2 + 1 = (s / k) ^+ 2.
    by rewrite !expr_div_n sE -k2 [RHS]mulrDl divff// expf_neq0.
  by rewrite sqrtr_sqr ger0_norm// divr_ge0 ?sqrtr_ge0// ltW.
rewrite /asinh inner -mulrDl.
have y0 : 0 < (D + s) / k by rewrite divr_gt0// addrC.
have -> : 2 * ln ((D + s) / k) = ln (((D + s) / k) ^+ 2) by rewrite lnX// mulr2n; lra.
congr (ln _); rewrite expr_div_n k2.
have -> : 4 * nu = (s - D) * (s + D) by have := sE; lra.
by rewrite [D + s]addrC expr2 -mulf_div divff ?mulr1// gt_eqF.
Qed.

Let base (r : R) : 0 < nu + r ^+ 2. Proof. have := sqr_ge0 r; have := nu0; lra. Qed.

Let ratio_bound b a : 0 <= a -> 0 <= b -> b - D <= a -> (nu + b ^+ 2) / (nu + a ^+ 2) <= (s + D) / (s - D).
Proof.
move=> a0 b0 ba; rewrite ler_pdivr_mulr// mulrAC ler_pdivl_mulr//.
have [le | lt] := leP D b.
- have sq : (b - D) ^+ 2 <= a ^+ 2 by rewrite ler_pexpn2r// ?nnegrE//; lra.
  have := ler_wpmul2l (ltW sD') sq; have := power_identity b.
  have : 0 <= 2 * D * (b - (s + D) / 2) ^+ 2 by apply: mulr_ge0; [lra | exact: sqr_ge0].
  lra.
- have sq : b ^+ 2 <= D ^+ 2 by rewrite ler_pexpn2r// ?nnegrE//; lra.
  have := ler_wpmul2l (ltW sD) sq; have := power_identity D; rewrite subrr.
  have : 0 <= 2 * D * (D - (s + D) / 2) ^+ 2 by apply: mulr_ge0; [lra | exact: sqr_ge0].
  have : 0 <= (s + D) * a ^+ 2 by apply: mulr_ge0; [lra | exact: sqr_ge0].
  lra.
Qed.

Let value := 2 * B * asinh (D / (2 * Num.sqrt nu)).
Let valueE : value = B * ln ((s + D) / (s - D)).
Proof. by rewrite /value mulrAC [2 * asinh _]asinh_ratio mulrC. Qed.

Lemma power_modulus a b : 0 <= a -> 0 <= b -> `|a - b| <= D -> power_exponent b - power_exponent a <= value.
Proof.
move=> a0 b0; rewrite ler_norml => /andP[d1 d2].
rewrite valueE /power_exponent -mulrBr ler_pmul2l// -ln_div ?posrE//.
by rewrite ler_ln ?posrE ?divr_gt0//; apply: ratio_bound => //; lra.
Qed.

Lemma power_attained : let b := (s + D) / 2 in let a := (s - D) / 2 in
  [/\ 0 <= a, 0 <= b, `|a - b| = D & power_exponent b - power_exponent a = value].
Proof.
have := sD; have := sD' => p1 p2; split; [lra | lra | |].
  by rewrite distrC ger0_norm; lra.
rewrite valueE /power_exponent -mulrBr -ln_div ?posrE//; congr (B * ln _).
have n1 : nu + ((s - D) / 2) ^+ 2 != 0 by rewrite gt_eqF.
have n2 : s - D != 0 by rewrite gt_eqF.
apply/eqP; rewrite eqr_div//; apply/eqP.
have := power_identity ((s + D) / 2); rewrite subrr expr0n /= mulr0.
have -> : (s + D) / 2 - D = (s - D) / 2 by lra.
lra.
Qed.

Lemma power_continuous a : continuous_at_distance power_exponent a.
Proof.
have lc : {for a, continuous (@ln R \o (fun r : R => nu + r ^+ 2))}.
  apply: (@continuous_comp R R R (fun r : R => nu + r ^+ 2) (@ln R)); last exact: (continuous_ln (base a)).
  by apply: (@cvgD R R R (nbhs a) _ (fun _ : R => nu) (fun r : R => r ^+ 2)); [exact: cvg_cst | exact: (@exprn_continuous R 2 a)].
move=> t t0; have [|r r0 close] := continuous_at_distance_of lc (s := t / B); first by rewrite divr_gt0.
exists r => // x x0 xa; have := close x x0 xa => /=; rewrite ltr_pdivl_mulr// => lt.
by rewrite /power_exponent -mulrBr normrM (gtr0_norm B0) mulrC.
Qed.
End Power.

Section PowerRule.
Context (R : realType) (V : lmodType R) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> V) (norm : V -> R) (nu B scale c Delta : R).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c) (nu0 : 0 < nu) (B0 : 0 < B) (Delta0 : 0 <= Delta).
(* (A0 + A1 r^2)^-B is A1^-B times (nu + r^2)^-B, nu = A0/A1: the factor is in c. *)
Hypothesis noise : adds_noise mu place M q (fun z => c * expR (- power_exponent nu B (norm z / scale))).
Let D := Delta / scale.
Let D0 : 0 <= D. Proof. exact: over_ge0. Qed.

Theorem power_identity_upper : moves_at_most N q norm Delta -> pure_dp N M (2 * B * asinh (D / (2 * Num.sqrt nu))).
Proof.
move=> moves; apply: (radial_upper semi scale0 c0 noise moves) => a b a0 b0 ab.
exact: power_modulus.
Qed.

Theorem power_identity_lower x x' : full_measure mu place norm -> moves_exactly N q norm Delta x x' ->
  ((2 * B * asinh (D / (2 * Num.sqrt nu)))%:E <= tight_epsilon N M 0)%E.
Proof.
move=> full [xx e]; have [a0 b0 ab vE] := power_attained nu0 B0 D0; rewrite -vE.
apply: (radial_lower semi scale0 c0 noise xx full a0 b0).
- by rewrite ab /D e.
- exact: (power_continuous nu0 B0 D0).
- exact: (power_continuous nu0 B0 D0).
Qed.

(* Student's t: nu degrees of freedom in dimension n, B = (nu + n)/2. *)
Corollary student_t_exact (n : nat) x x' : B = (nu + n%:R) / 2 -> full_measure mu place norm -> moves_at_most N q norm Delta ->
  moves_exactly N q norm Delta x x' -> tight_epsilon N M 0 = ((nu + n%:R) * asinh (D / (2 * Num.sqrt nu)))%:E.
Proof.
move=> BE full moves mv; have -> : nu + n%:R = 2 * B by rewrite BE; lra.
apply: tight_epsilon_eq; [| exact: power_identity_upper | exact: power_identity_lower mv].
have D0' : `|0 - 0 : R| <= D by rewrite subrr normr0.
by have := power_modulus nu0 B0 D0 (lexx 0) (lexx 0) D0'; rewrite subrr.
Qed.
End PowerRule.
