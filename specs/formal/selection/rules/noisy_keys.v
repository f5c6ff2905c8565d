(* Keys that nobody knows beforehand (docs/theory/selection.md, noisy keys): counts by key are told with noise, those alone that are then at least a
   threshold. A record is the first of some keys, which without it are not told for certain, and with it with probability p at most each. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood table_laws dominating.
Local Open Scope ereal_scope.

(* A new key to which the record adds c <= D is told with probability P[Z >= tau - c], at most that at D. *)
Lemma new_key_told (R : realType) (Z : {measure set R -> \bar R}) (tau c D : R) : (c <= D)%R -> Z `[(tau - c)%R, +oo[%classic <= Z `[(tau - D)%R, +oo[%classic.
Proof.
move=> cD; apply: le_measure; rewrite ?inE; [exact: measurable_itv | exact: measurable_itv | ].
by move=> z; rewrite /= !in_itv/= !andbT; apply: le_trans; rewrite ler_sub.
Qed.

(* Keys are told independently of each other: none of several is told with the product of the probabilities. *)
Lemma none_told (R : realType) d1 (X : measurableType d1) d2 (Z : measurableType d2) (P1 : {measure set X -> \bar R}) (P11 : P1 setT = 1)
    (P2 : {measure set Z -> \bar R}) (x : X) (z : Z) : P2 setT = 1 -> measurable [set x] -> measurable [set z] ->
  product P11 P2 [set (z, x)] = P1 [set x] * P2 [set z].
Proof.
move=> P21 mx mz; rewrite /product/= /joint.
have f : P1 [set x] \is a fin_num by exact: mass_fin.
rewrite (eq_integral (fun t => (fine (P1 [set x]))%:E * (\1_[set z] t)%:E)).
  rewrite ge0_integralM//; first by rewrite integral_indic// setIT fineK.
  - by apply/EFin_measurable_fun; exact: measurable_fun_indic.
  - by move=> t _; rewrite lee_fin.
move=> t _; rewrite indicE fineK//; case: (boolP (t \in [set z])) => h.
- move: h; rewrite inE => ->; rewrite mule1; congr (P1 _); apply/seteqP; split=> u; rewrite /xsection/= ?inE/=; first by case.
  by move=> ->.
- rewrite mule0 (_ : xsection _ _ = set0) ?measure0//; apply/seteqP; split=> [u|//]; rewrite /xsection/= inE/= => -[tz _].
  by move: h; rewrite tz; apply/negP; rewrite negbK inE.
Qed.

(* The sides of a coin, as outputs. *)
Definition coins := Datatypes_bool__canonical__measure_Measurable.
Definition side (b : bool) : coins := b.
Lemma side_inj : injective side. Proof. by []. Qed.
Lemma measurable_side b : measurable [set side b]. Proof. exact: I. Qed.

Section Keys.
Context (R : realType).

(* -- New keys: told with probability 1 - s at most, and never without the record -- *)

Section New.
Context d (U : measurableType d) (P Q : {measure set U -> \bar R}) (o : U) (s : R).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1) (mo : measurable [set o]).
Hypotheses (never : Q [set o] = 1) (rarely : (s <= fine (P [set o]))%R).

Lemma with_none S : measurable S -> S o -> fine (Q S) = 1%R /\ (s <= fine (P S))%R.
Proof.
move=> mS So; have oS : [set o] `<=` S by move=> _ ->.
have le (W : {measure set U -> \bar R}) : W setT = 1 -> (fine (W [set o]) <= fine (W S))%R.
  by move=> W1; rewrite fine_le ?mass_fin//; apply: le_measure; rewrite ?inE.
split; last exact: le_trans rarely (le _ P1).
by apply/eqP; rewrite eq_le; have /andP[_ ->] := fine01 Q1 mS; have := le _ Q1; rewrite never.
Qed.

Lemma without_none S : measurable S -> ~ S o -> fine (Q S) = 0%R /\ (fine (P S) <= 1 - s)%R.
Proof.
move=> mS So; have apart : S `&` [set o] = set0 by apply/seteqP; split=> // u [Su uo]; apply: So; rewrite -uo.
have le (W : {measure set U -> \bar R}) : W setT = 1 -> (fine (W S) + fine (W [set o]) <= 1)%R.
  move=> W1; rewrite -lee_fin EFinD !fineK ?mass_fin// -measureU//; apply: mass_le1 => //; exact: measurableU.
split; last by have := le _ P1; move: rarely; lra.
by apply/eqP; rewrite eq_le; have /andP[-> _] := fine01 Q1 mS; have := le _ Q1; rewrite never/= andbT; lra.
Qed.

(* The pair of a coin: its second side tells of the record. *)
Definition with_record (b : bool) : R := if b then s else (1 - s)%R.
Definition without_record (b : bool) : R := if b then 1%R else 0%R.

Lemma new_keys_by_a_coin (B B' : {measure set coins -> \bar R}) : (0 <= s <= 1)%R -> B setT = 1 -> B' setT = 1 ->
  table_law side B with_record -> table_law side B' without_record -> dominated P Q B B' /\ dominated Q P B' B.
Proof.
move=> /andP[s0 s1] B1 B'1 Bt B't; split=> a a0.
- rewrite (table_profile side_inj measurable_side B1 B'1 Bt B't a0) big_bool/= !mulr1 mulr0 subr0.
  apply: profile_le => S mS; have [So|So] := pselect (S o).
    have [-> r] := with_none mS So; have /andP[_ h] := fine01 P1 mS.
    by rewrite mulr1 [(Num.max 0 (1 - s))%R]max_r ?subr_ge0//; apply: (@le_trans _ _ ((s - a) + (1 - s))%R); [lra | rewrite ler_add2r le_maxr lexx orbT].
  have [-> r] := without_none mS So; rewrite mulr0 subr0 [(Num.max 0 (1 - s))%R]max_r ?subr_ge0//.
  by apply: (le_trans r); rewrite ler_addr le_maxr lexx.
- rewrite (table_profile side_inj measurable_side B'1 B1 B't Bt a0) big_bool/= sub0r [X in (_ + X)%R]max_l ?oppr_le0 ?mulr_ge0 ?subr_ge0// addr0.
  apply: profile_le => S mS; have [So|So] := pselect (S o).
    have [-> r] := with_none mS So; rewrite le_maxr; apply/orP; right; rewrite ler_add2l ler_opp2; exact: ler_wpmul2l.
  have [-> _] := without_none mS So; rewrite le_maxr sub0r oppr_le0 mulr_ge0//; by case/andP: (fine01 P1 mS).
Qed.
End New.

(* -- All keys: what is told of the old ones, then what is told of the new ones -- *)

Section All.
Context d1 (T : measurableType d1) d2 (U : measurableType d2) d (X : measurableType d).
(* Of the old keys, with the record and without it; of the new ones, none told with a probability of at least s, and always. *)
Variables (P Q : {measure set T -> \bar R}) (k k' : T -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k') (o : U) (s : R).
(* The noises of the old keys at their shifts, or another pair that dominates them. *)
Variables (N N' : {measure set X -> \bar R}) (p q : X -> R).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1) (N1 : N setT = 1) (N'1 : N' setT = 1) (L : likelihood N N' p q) (L' : likelihood N' N q p).
Hypotheses (old : dominated P Q N N') (old' : dominated Q P N' N).
Hypotheses (s0 : (0 < s)%R) (s1 : (s <= 1)%R) (mo : measurable [set o]).
Hypotheses (rarely : forall y, (s <= fine (k y [set o]))%R) (never : forall y, k' y [set o] = 1).

(* (1 - p)^j is s, and 1 - s is P_j: for every number of new keys the two bounds of the rule. *)
(* Rule: noisy-keys, upper, in part: the curve for each number of new keys, from that of the noises of the old ones; not that the old keys are a
   map of these noises, nor that fewer keys are no worse. *)
Theorem noisy_keys (a : R) : (0 <= a)%R ->
  (profile a [the measure _ _ of joint mk P] [the measure _ _ of joint mk' Q] <= (1 - s) + s * profile (a / s) N N')%R /\
  (profile a [the measure _ _ of joint mk' Q] [the measure _ _ of joint mk P] <= profile (a * s) N' N)%R.
Proof.
move=> a0; have s01 : (0 <= s <= 1)%R by rewrite s1 ltW.
pose w := with_record s; pose w' : bool -> R := without_record.
have w0 b : (0 <= w b)%R by rewrite /w /with_record; case: b; lra.
have w'0 b : (0 <= w' b)%R by rewrite /w' /without_record; case: b; lra.
pose B := law_of_table side w; pose B' := law_of_table side w'.
have Bt : table_law side B w by exact: law_of_tableE.
have B't : table_law side B' w' by exact: law_of_tableE.
have total r (W : {measure set coins -> \bar R}) : (r true + r false = 1)%R -> table_law side W r -> W setT = 1.
  by move=> r1 Wr; rewrite Wr// big_bool/= !indicE !in_setT !mulr1 r1.
have B1 : B setT = 1 by apply: (total w) => //; rewrite /w/= addrC subrK.
have B'1 : B' setT = 1 by apply: (total w') => //; rewrite /w'/= addr0.
have coin y : dominated (k y) (k' y) B B' /\ dominated (k' y) (k y) B' B.
  exact: (new_keys_by_a_coin (mk.1 y) (mk'.1 y) mo (never y) (rarely y) s01 B1 B'1 Bt B't).
have D := table_has_density side_inj measurable_side w0 Bt; have D' := table_has_density side_inj measurable_side w'0 B't.
split.
- have := composition_dominated mk mk' N1 N'1 P1 Q1 B1 B'1 L D D' old (fun y => (coin y).1) a0.
  rewrite (product_table_profile side_inj measurable_side N1 N'1 L B1 B'1 w0 w'0 Bt B't a0) big_bool/=.
  rewrite /with_output /w /w'/= gt_eqF// mulr1 mulr0 mul0r profile0//.
  by have [/eqP h|h] := ifP; lra.
- have := composition_dominated mk' mk N'1 N1 Q1 P1 B'1 B1 L' D' D old' (fun y => (coin y).2) a0.
  rewrite (product_table_profile side_inj measurable_side N'1 N1 L' B'1 B1 w'0 w0 B't Bt a0) big_bool/=.
  by rewrite /with_output /w /w'/= oner_eq0 eqxx mul1r divr1 addr0.
Qed.
End All.
End Keys.
