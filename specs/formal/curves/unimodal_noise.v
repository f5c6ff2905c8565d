(* Noise whose density does not fall up to a mode and does not rise after it (docs/theory/curves.md: line, lattice): the pair at the full shift
   dominates all others, in each order. The same proof serves for densities on the line and for probabilities on the integers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition curves pairs likelihood witness_rules.

(* Where the first density is above a times the second, a third is at most the second: then the third differs from the first no less. *)
Section Lower.
Context (R : realType) d (T : measurableType d) (mu P Q W : {measure set T -> \bar R}) (p q w : T -> R) (a : R).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (W1 : W setT = 1%E).
Hypotheses (Pp : has_density mu P p) (Qq : has_density mu Q q) (Ww : has_density mu W w) (a0 : 0 <= a).

Lemma lower_density : (forall y, a * q y < p y -> w y <= q y) -> profile a P Q <= profile a P W.
Proof.
move=> h; rewrite (likelihood_profile P1 Q1 (density_likelihood P1 Q1 Pp Qq) a0).
have [_ mp _] := Pp; have [q0 mq Qe] := Qq; have [w0 mw We] := Ww; set E := above p q 1 a.
have mE : measurable E by exact: measurable_above.
apply: le_trans (profile_event P1 W1 a0 mE); rewrite ler_add2l ler_opp2; apply: ler_wpmul2l => //.
rewrite -lee_fin !fineK ?mass_fin// Qe// We//; apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mw.
- by move=> y _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mq.
- by move=> y; rewrite /E /above/= mul1r lee_fin => /h.
Qed.
End Lower.

Section Unimodal.
Context (R : realType) (f : R -> R) (m : R).

Definition unimodal := (forall y z, y <= z -> z <= m -> f y <= f z) /\ (forall y z, m <= y -> y <= z -> f z <= f y).

Context d (T : measurableType d) (mu : {measure set T -> \bar R}) (place : T -> R).
(* The answers that there are (all numbers, or the integers), and the law of an answer with noise. *)
Variables (answers : R -> Prop) (noisy : R -> {measure set T -> \bar R}).
Hypotheses (total : forall v, noisy v setT = 1%E) (f0 : forall z, 0 <= f z) (shape : unimodal).
Hypothesis dens : forall v, answers v -> has_density mu (noisy v) (fun y => f (place y - v)).

Lemma full_shift_up a v s D : 1 <= a -> 0 <= s -> s <= D -> answers v -> answers (v + s) -> answers (v + D) ->
  profile a (noisy v) (noisy (v + s)) <= profile a (noisy v) (noisy (v + D)).
Proof.
move=> a1 s0 sD Av As AD; have [up down] := shape.
apply: (lower_density (total v) (total (v + s)) (total (v + D)) (dens Av) (dens As) (dens AD) (le_trans ler01 a1)).
move=> y lt; apply: up; first by lra.
rewrite leNgt; apply/negP => late; move: lt; apply/negP; rewrite -leNgt.
apply: (@le_trans _ _ (f (place y - (v + s)))); first by apply: down; lra.
by rewrite -[leLHS]mul1r; exact: ler_wpmul2r.
Qed.

Lemma full_shift_down a v s D : 1 <= a -> 0 <= s -> s <= D -> answers v -> answers (v - s) -> answers (v - D) ->
  profile a (noisy v) (noisy (v - s)) <= profile a (noisy v) (noisy (v - D)).
Proof.
move=> a1 s0 sD Av As AD; have [up down] := shape.
apply: (lower_density (total v) (total (v - s)) (total (v - D)) (dens Av) (dens As) (dens AD) (le_trans ler01 a1)).
move=> y lt; apply: down; last by lra.
rewrite leNgt; apply/negP => early; move: lt; apply/negP; rewrite -leNgt.
apply: (@le_trans _ _ (f (place y - (v - s)))); first by apply: up; lra.
by rewrite -[leLHS]mul1r; exact: ler_wpmul2r.
Qed.

(* The law of an answer is that of the noise, moved. *)
Variable move : R -> T -> T.
Hypothesis mmove : forall v, measurable_fun setT (move v).
Hypothesis moves : forall v w S, answers v -> answers w -> measurable S -> noisy (v + w) S = noisy w (move v @^-1` S).

Lemma measurable_moved v S : measurable S -> measurable (move v @^-1` S).
Proof. by move=> mS; have := mmove v measurableT mS; rewrite setTI. Qed.

Lemma moved_pair a u v w : 0 <= a -> answers u -> answers v -> answers w ->
  profile a (noisy (u + v)) (noisy (u + w)) <= profile a (noisy v) (noisy w).
Proof.
move=> a0 Au Av Aw; apply: profile_le => S mS; have mV := measurable_moved u mS.
by have := profile_event (total v) (total w) a0 mV; rewrite -(moves Au Av mS) -(moves Au Aw mS).
Qed.

(* F is the curve of noise at 0 against noise at the full shift D, B that of noise at 0 against noise at -D. *)
Section Mechanism.
Context (X : Type) (N : relation X) (M : mechanism R X T) (q : X -> R) (D : R).
Hypotheses (MA : forall x S, M x S = noisy (q x) S) (A0 : answers 0) (AD : answers D) (Aq : forall x, answers (q x)).
Hypotheses (sums : forall v w, answers v -> answers w -> answers (v + w)) (opposites : forall v, answers v -> answers (- v)).
Notation F a := (profile a (noisy 0) (noisy D)).
Notation B a := (profile a (noisy 0) (noisy (- D))).

Lemma profile_noisy a x x' : profile a (M x) (M x') = profile a (noisy (q x)) (noisy (q x')).
Proof. by rewrite /profile; congr sup; apply/seteqP; split=> _ [S mS <-]; exists S; rewrite // !MA. Qed.

(* Whatever the shape of the noise is: neighbours have the curve of their shift, from 0. *)
(* Rule: every-shift, in part: that the shifts that neighbours have count, each; not how much the divergence changes between two shifts. *)
Theorem every_shift a x x' : 0 <= a -> profile a (M x) (M x') = profile a (noisy 0) (noisy (q x' - q x)).
Proof.
move=> a0; have As : answers (q x' - q x) by apply: sums => //; exact: opposites.
rewrite profile_noisy; apply/eqP; rewrite eq_le; apply/andP; split.
- by have := moved_pair a0 (Aq x) A0 As; rewrite addr0 addrC subrK.
- by have := moved_pair a0 (opposites (Aq x)) (Aq x) (Aq x'); rewrite addNr [- q x + _]addrC.
Qed.

Lemma full_shift_bound eps x x' : 0 <= eps -> `|q x - q x'| <= D -> profile (expR eps) (M x) (M x') <= Num.max (F (expR eps)) (B (expR eps)).
Proof.
move=> e0 near; have a1 : 1 <= expR eps by rewrite -[leLHS](@expR0 R) ler_expR.
have a0 := expR_ge0 eps; rewrite profile_noisy le_maxr.
have [le|lt] := leP (q x) (q x'); apply/orP; [left|right].
- have s0 : 0 <= q x' - q x by lra.
  have sD : q x' - q x <= D by move: near; rewrite ler_norml => /andP[h1 h2]; lra.
  have E : q x' = q x + (q x' - q x) by lra.
  have := moved_pair a0 (Aq x) A0 AD; rewrite addr0; apply: le_trans.
  rewrite {1}E; apply: full_shift_up => //; last exact: sums.
  by rewrite -E.
- have s0 : 0 <= q x - q x' by lra.
  have sD : q x - q x' <= D by move: near; rewrite ler_norml => /andP[h1 h2]; lra.
  have E : q x' = q x - (q x - q x') by lra.
  have := moved_pair a0 (Aq x) A0 (opposites AD); rewrite addr0; apply: le_trans.
  rewrite {1}E; apply: full_shift_down => //; last by apply: sums => //; exact: opposites.
  by rewrite -E.
Qed.

(* Where the answers of some neighbours are a full shift apart, their curves are these. *)
Lemma full_shift_met a x x' : 0 <= a -> q x' = q x + D -> profile a (M x) (M x') = F a /\ profile a (M x') (M x) = B a.
Proof.
move=> a0 E; rewrite !profile_noisy E; split; apply/eqP; rewrite eq_le; apply/andP; split.
- by have := moved_pair a0 (Aq x) A0 AD; rewrite addr0.
- have := moved_pair a0 (opposites (Aq x)) (Aq x) (sums (Aq x) AD); by rewrite addNr addrA addNr add0r.
- have := moved_pair a0 (sums (Aq x) AD) A0 (opposites AD); by rewrite addr0 addrK.
- have := moved_pair a0 (opposites (sums (Aq x) AD)) (sums (Aq x) AD) (Aq x); by rewrite addNr opprD addrAC addNr add0r.
Qed.
End Mechanism.

(* On the line the sensitivity is the shift; k steps between neighbours make a shift of k times as much. *)
(* Rule: line. *)
Theorem full_shift (X : Type) (N : relation X) (M : mechanism R X T) (q : X -> R) (D : R) :
  (forall x S, M x S = noisy (q x) S) -> answers 0 -> answers D -> (forall x, answers (q x)) ->
  (forall v w, answers v -> answers w -> answers (v + w)) -> (forall v, answers v -> answers (- v)) ->
  (forall eps x x', 0 <= eps -> `|q x - q x'| <= D ->
    profile (expR eps) (M x) (M x') <= Num.max (profile (expR eps) (noisy 0) (noisy D)) (profile (expR eps) (noisy 0) (noisy (- D)))) /\
  (forall a x x', 0 <= a -> q x' = q x + D ->
    profile a (M x) (M x') = profile a (noisy 0) (noisy D) /\ profile a (M x') (M x) = profile a (noisy 0) (noisy (- D))).
Proof.
by move=> MA A0 AD Aq sums opp; split=> [eps x x'|a x x']; [exact: full_shift_bound | exact: full_shift_met].
Qed.
End Unimodal.

(* Noise on the integers: answers are integers, and so is the greatest shift, the whole part of the sensitivity. *)
Section Lattice.
Context (R : realType) (f : R -> R) (m : R) d (T : measurableType d) (mu : {measure set T -> \bar R}) (place : T -> R).
Definition whole (v : R) := exists n : int, v = n%:~R.
Variables (noisy : R -> {measure set T -> \bar R}) (move : R -> T -> T).
Hypotheses (total : forall v, noisy v setT = 1%E) (f0 : forall z, 0 <= f z) (shape : unimodal f m).
Hypothesis dens : forall v, whole v -> has_density mu (noisy v) (fun y => f (place y - v)).
Hypothesis mmove : forall v, measurable_fun setT (move v).
Hypothesis moves : forall v w S, whole v -> whole w -> measurable S -> noisy (v + w) S = noisy w (move v @^-1` S).

(* Where the answers of neighbours do not differ by an integer, cosets_delta says that delta is 1; staircase noise on the line is unimodal, and
   full_shift is about it too. *)
(* Rule: lattice, in part: sums of noises. *)
Theorem full_whole_shift (X : Type) (N : relation X) (M : mechanism R X T) (q : X -> R) (D : R) :
  (forall x S, M x S = noisy (q x) S) -> (forall x, whole (q x)) -> 0 <= D ->
  let s : R := (floor D)%:~R in
  (forall eps x x', 0 <= eps -> `|q x - q x'| <= D ->
    profile (expR eps) (M x) (M x') <= Num.max (profile (expR eps) (noisy 0) (noisy s)) (profile (expR eps) (noisy 0) (noisy (- s)))) /\
  (forall a x x', 0 <= a -> q x' = q x + s ->
    profile a (M x) (M x') = profile a (noisy 0) (noisy s) /\ profile a (M x') (M x) = profile a (noisy 0) (noisy (- s))).
Proof.
move=> MA wq D0 s; have w0 : whole 0 by exists 0.
have ws : whole s by exists (floor D).
have sums v w : whole v -> whole w -> whole (v + w) by move=> [i ->] [j ->]; exists (i + j); rewrite intrD.
have opp v : whole v -> whole (- v) by move=> [i ->]; exists (- i); rewrite mulrNz.
have [up met] := full_shift total f0 shape dens mmove moves N MA w0 ws wq sums opp.
split=> // eps x x' e0 near; apply: up => //.
have [i ei] := wq x; have [j ej] := wq x'; move: near; rewrite ei ej -rmorphB/= -intr_norm => near.
by rewrite /s ler_int -floor_ge_int.
Qed.
End Lattice.
