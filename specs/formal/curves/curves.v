(* Privacy curves (docs/theory/curves.md, privacy profiles; docs/theory/composition.md, loss distribution): the divergence as a function of
   a = e^eps is convex and does not rise; the two orders; chords from above and tangents from below; what pure privacy says of every curve. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition.
Local Open Scope ereal_scope.

Section Profiles.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}).

(* The divergence at a = e^eps >= 0 as a real number: the supremum over events of P(S) - a Q(S). *)
Definition profile (a : R) P Q : R := sup [set (fine (P S) - a * fine (Q S))%R | S in [set S : set T | measurable S]].

Section Laws.
Variables (P Q : {measure set T -> \bar R}).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1).
Notation H a := (profile a P Q).

Lemma fine01 (mu : {measure set T -> \bar R}) S : mu setT = 1 -> measurable S -> (0 <= fine (mu S) <= 1)%R.
Proof. by move=> m1 mS; rewrite -!lee_fin fineK ?mass_fin// measure_ge0 mass_le1. Qed.

Lemma profile_set (a : R) : (0 <= a)%R -> has_sup [set (fine (P S) - a * fine (Q S))%R | S in [set S : set T | measurable S]].
Proof.
move=> a0; split; first by exists (fine (P set0) - a * fine (Q set0))%R, set0 => //; exact: measurable0.
exists 1%R => _ [S mS <-]; have /andP[_ p] := fine01 P1 mS; have /andP[q _] := fine01 Q1 mS.
by rewrite ler_subl_addr (le_trans p)// ler_addl mulr_ge0.
Qed.

(* The rule selection-event, with the integrals that probabilities of events are, is in event_deltas, group_event and threshold_event. *)
Lemma profile_event (a : R) S : (0 <= a)%R -> measurable S -> (fine (P S) - a * fine (Q S) <= H a)%R.
Proof. by move=> a0 mS; apply: sup_ub; [exact: (profile_set a0).2 | exists S]. Qed.

Lemma profile_le (a v : R) : (forall S, measurable S -> fine (P S) - a * fine (Q S) <= v)%R -> (H a <= v)%R.
Proof.
move=> h; apply: sup_le_ub; first by exists (fine (P set0) - a * fine (Q set0))%R, set0 => //; exact: measurable0.
by move=> _ [S mS <-]; exact: h.
Qed.

(* (epsilon, delta) at an epsilon is: the profile at e^eps is at most delta. *)
Theorem close_profile eps dl : close eps dl P Q <-> (H (expR eps) <= dl)%R.
Proof.
have E S : measurable S -> (P S <= (expR eps)%:E * Q S + dl%:E) = (fine (P S) - expR eps * fine (Q S) <= dl)%R.
  move=> mS; rewrite -{1}(fineK (mass_fin P1 mS)) -{1}(fineK (mass_fin Q1 mS)) -EFinM -EFinD lee_fin.
  by rewrite ler_subl_addl.
split=> [h | h S mS]; first by apply: profile_le => S mS; rewrite -E//; exact: h.
by rewrite E//; apply: le_trans h; apply: profile_event => //; exact: expR_ge0.
Qed.

Lemma profile_ge0 (a : R) : (0 <= a)%R -> (0 <= H a)%R.
Proof.
by move=> a0; have := profile_event a0 measurable0; rewrite !measure0/= mulr0 subr0.
Qed.

Lemma profile_ge (a : R) : (0 <= a)%R -> (1 - a <= H a)%R.
Proof. by move=> a0; have := profile_event a0 measurableT; rewrite P1 Q1/= mulr1. Qed.

Lemma profile_le1 (a : R) : (0 <= a)%R -> (H a <= 1)%R.
Proof.
move=> a0; apply: profile_le => S mS; have /andP[_ p] := fine01 P1 mS; have /andP[q _] := fine01 Q1 mS.
by rewrite ler_subl_addr (le_trans p)// ler_addl mulr_ge0.
Qed.

Lemma profile_falls (a b : R) : (0 <= a)%R -> (a <= b)%R -> (H b <= H a)%R.
Proof.
move=> a0 ab; apply: profile_le => S mS; apply: le_trans (profile_event a0 mS).
by rewrite ler_add2l ler_opp2 ler_wpmul2r//; case/andP: (fine01 Q1 mS).
Qed.

(* Convex: below the chord between two points. *)
Lemma profile_convex (t a b : R) : (0 <= t <= 1)%R -> (0 <= a)%R -> (0 <= b)%R ->
  (H ((1 - t) * a + t * b) <= (1 - t) * H a + t * H b)%R.
Proof.
move=> /andP[t0 t1] a0 b0; apply: profile_le => S mS.
set p := fine (P S); set q := fine (Q S).
have -> : (p - ((1 - t) * a + t * b) * q = (1 - t) * (p - a * q) + t * (p - b * q))%R.
  rewrite !mulrBr [RHS]addrACA -mulrDl subrK mul1r mulrDl opprD !mulrA; congr (_ + _)%R.
by apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0//; exact: profile_event.
Qed.

(* The other order of the pair. *)
Lemma profile_swap (a : R) : (0 < a)%R -> profile a Q P = (1 - a + a * H a^-1)%R.
Proof.
move=> a0; have ai : (0 <= a^-1)%R by rewrite invr_ge0 ltW.
have C S : measurable S -> (fine (Q S) - a * fine (P S) = 1 - a + a * (fine (P (~` S)) - a^-1 * fine (Q (~` S))))%R.
  move=> mS; have c (mu : {measure set T -> \bar R}) : mu setT = 1 -> fine (mu (~` S)) = (1 - fine (mu S))%R.
    move=> m1; rewrite -setTD measureD// ?m1 ?ltry// setTI fineB ?m1//; exact: mass_fin.
  rewrite !c// [(a * (_ - _))%R]mulrBr mulrA divff ?gt_eqF// mul1r mulrBr mulr1.
  by rewrite opprB [RHS]addrA [(1 - a + (a - _))%R]addrA subrK [RHS]addrC addrA subrK.
apply/eqP; rewrite eq_le; apply/andP; split.
- apply: sup_le_ub; first by exists (fine (Q set0) - a * fine (P set0))%R, set0 => //; exact: measurable0.
  move=> _ [S mS <-]; rewrite C// ler_add2l ler_pmul2l//; apply: profile_event => //; exact: measurableC.
- rewrite -ler_subr_addl -ler_pdivl_mull//; apply: profile_le => S mS.
  rewrite ler_pdivl_mull// ler_subr_addl -{1 2}[S]setCK -C; last exact: measurableC.
  apply: sup_ub; last by exists (~` S) => //; exact: measurableC.
  exists 1%R => _ [A mA <-]; have /andP[_ q] := fine01 Q1 mA; have /andP[p _] := fine01 P1 mA.
  by rewrite ler_subl_addr (le_trans q)// ler_addl mulr_ge0// ltW.
Qed.

(* -- Bounds on the whole profile from its values at some points -- *)

(* Connecting the dots: between a < b the profile is at most the chord between any higher values at a and b. *)
(* Rule: loss-distribution, upper, in part: the curve between points of the grid; neither before nor beyond them, nor the products of masses. *)
Theorem chord_above (a b u v x : R) : (0 <= a)%R -> (a < b)%R -> (a <= x <= b)%R -> (H a <= u)%R -> (H b <= v)%R ->
  (H x <= u + (x - a) / (b - a) * (v - u))%R.
Proof.
move=> a0 ab /andP[ax xb] Hu Hv; have ba : (0 < b - a)%R by rewrite subr_gt0.
set t := ((x - a) / (b - a))%R.
have t01 : (0 <= t <= 1)%R by rewrite /t divr_ge0 ?subr_ge0 ?(ltW ab)//= ler_pdivr_mulr// mul1r ler_add2r.
have xE : (x = (1 - t) * a + t * b)%R.
  by rewrite mulrBl mul1r -addrA [(- _ + _)%R]addrC -mulrBr /t divfK ?gt_eqF// addrC subrK.
rewrite {1}xE; apply: le_trans (profile_convex t01 a0 (ltW (le_lt_trans a0 ab))) _.
have -> : (u + t * (v - u) = (1 - t) * u + t * v)%R by rewrite mulrBr mulrBl mul1r addrCA addrC addrAC.
by case/andP: t01 => t0 t1; apply: ler_add; apply: ler_wpmul2l; rewrite ?subr_ge0.
Qed.

(* Left of the first point: the chord from (0, 1). Beyond the last: its height there. *)
(* Rule: loss-distribution, upper, in part: the curve before the first point of the grid. *)
Theorem chord_from_zero (b v x : R) : (0 < b)%R -> (0 <= x <= b)%R -> (H b <= v)%R -> (H x <= 1 + x / b * (v - 1))%R.
Proof.
move=> b0 xb Hv; have := chord_above (lexx 0%R) b0 xb (profile_le1 (lexx 0%R)) Hv.
by rewrite !subr0.
Qed.

(* Rule: loss-distribution, upper, in part: the curve beyond the last point of the grid. *)
Theorem beyond_last (b v x : R) : (0 <= b)%R -> (b <= x)%R -> (H b <= v)%R -> (H x <= v)%R.
Proof. by move=> b0 bx Hv; apply: le_trans (profile_falls b0 bx) Hv. Qed.

(* From below: beyond b the profile lies above the chord over [a, b] prolonged. *)
(* Rule: loss-distribution, lower, in part: the chord prolonged to the right; neither to the left, nor the products of masses. *)
Theorem prolonged_chord (a b x : R) : (0 <= a)%R -> (a < b)%R -> (b <= x)%R ->
  (H b + (x - b) / (b - a) * (H b - H a) <= H x)%R.
Proof.
move=> a0 ab bx; have ba : (0 < b - a)%R by rewrite subr_gt0.
have [<-|bx'] := eqVneq b x; first by rewrite subrr !mul0r addr0.
have {bx bx'} bx : (b < x)%R by rewrite lt_neqAle bx' bx.
have xa : (0 < x - a)%R by rewrite subr_gt0 (lt_trans ab).
have := chord_above a0 (lt_trans ab bx) _ (lexx (H a)) (lexx (H x)) => /(_ b).
rewrite (ltW ab) (ltW bx) => /(_ isT) h.
have {h} h : ((H b - H a) * (x - a) <= (b - a) * (H x - H a))%R.
  by rewrite -ler_pdivl_mulr// mulrAC ler_subl_addl.
rewrite -ler_subr_addl mulrAC ler_pdivr_mulr//.
have -> : ((x - b) * (H b - H a) = (H b - H a) * (x - a) - (b - a) * (H b - H a))%R.
  by rewrite [((H b - H a) * _)%R]mulrC -mulrBl; congr (_ * _)%R; rewrite opprB addrA subrK.
rewrite ler_subl_addr; apply: (le_trans h).
by rewrite [(_ * (b - a))%R]mulrC -mulrDr addrA subrK.
Qed.
End Laws.
End Profiles.
