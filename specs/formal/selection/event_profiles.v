(* What the bounds on the probabilities of one event under two laws say of their curve (docs/theory/selection.md, told words event): the event and its
   complement give two lines, and with what is known of every pair of laws they are the curve of one pair. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition curves pairs table_laws finite_curve.

Section Profile.
Context (R : realType) (p p' s s' : R).
(* The event has a probability of at least p and at most p' under the first law, of at least s and at most s' under the second. *)
Definition event_profile (a : R) : R := Num.max (Num.max 0 (1 - a)) (Num.max (p - a * s') ((1 - p') - a * (1 - s))).

Definition constant_of (j : bool * bool) : R := if j.1 then if j.2 then 1 - p' else p else if j.2 then 1 else 0.
Definition slope_of (j : bool * bool) : R := if j.1 then if j.2 then 1 - s else s' else if j.2 then 1 else 0.

Lemma event_profile_pair : 0 <= p <= 1 -> 0 <= p' <= 1 -> 0 <= s <= 1 -> 0 <= s' <= 1 -> exists P Q : {measure set nat -> \bar R},
  [/\ P setT = 1%E, Q setT = 1%E & forall a, 0 <= a -> profile a P Q = event_profile a].
Proof.
move=> /andP[p0 p1] /andP[p0' p1'] /andP[s0 s1] /andP[s0' s1'].
suff [Y [pt [P [Q [r [q [_ _ [P1 Q1] _ E]]]]]]] : exists (Y : finType) (pt : Y -> nat) (P Q : {measure set nat -> \bar R}) (r q : Y -> R),
    [/\ injective pt, (forall y, 0 <= r y) /\ (forall y, 0 <= q y), P setT = 1%E /\ Q setT = 1%E, table_law pt P r /\ table_law pt Q q &
        forall a, 0 <= a -> profile a P Q = event_profile a] by exists P, Q.
apply: (@lines_curve R _ constant_of slope_of (false, false)) => //.
- by case=> -[] []; rewrite /slope_of /= ?subr_ge0 ?ler_subl_addr ?ler_addl ?lexx ?ler01 ?s0 ?s1 ?s0' ?s1'.
- by case=> -[] [] a a0; rewrite /constant_of /slope_of /event_profile /= !le_maxr ?mulr1 ?mulr0 ?subr0 lexx ?orbT.
- move=> a a0; rewrite /event_profile; case: (leP (Num.max 0 (1 - a))) => _; first case: (leP (p - a * s')) => _.
  + by exists (true, true).
  + by exists (true, false).
  + by case: (leP 0 (1 - a)) => _; [exists (false, true); rewrite /= mulr1 | exists (false, false); rewrite /= mulr0 subr0].
- by rewrite /event_profile !mul0r !subr0 (max_r ler01) max_l// le_maxl p1 ler_subl_addr ler_addl p0'.
Qed.

Lemma event_profile_below d (T : measurableType d) (P Q : {measure set T -> \bar R}) (S : set T) (a : R) : P setT = 1%E -> Q setT = 1%E -> measurable S ->
  p <= fine (P S) <= p' -> s <= fine (Q S) <= s' -> 0 <= a -> event_profile a <= profile a P Q.
Proof.
move=> P1 Q1 mS /andP[h1 h2] /andP[h3 h4] a0; have other (L : {measure set T -> \bar R}) : L setT = 1%E -> fine (L (~` S)) = 1 - fine (L S).
  by move=> L1; rewrite -setTD measureD// ?L1 ?ltry// setTI fineB ?L1//; exact: mass_fin.
rewrite /event_profile !le_maxl (profile_ge0 P1 Q1 a0) (profile_ge P1 Q1 a0) /=; apply/andP; split.
- by apply: le_trans (profile_event P1 Q1 a0 mS); apply: ler_sub => //; exact: ler_wpmul2l.
- apply: le_trans (profile_event P1 Q1 a0 (measurableC mS)); rewrite !other//; apply: ler_sub; first exact: ler_sub.
  by apply: ler_wpmul2l => //; exact: ler_sub.
Qed.
End Profile.
