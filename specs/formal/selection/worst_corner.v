(* Outputs of comparisons between bounds (docs/theory/selection.md, worst output): from the pair of neighbours at the corner to all pairs, and from the
   outputs of all queries to all outputs. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels likelihood log_concave crossed_means worst_pair.

Section Corner.
Context (R : realType) (grid : R -> Prop) (grid0 : grid 0) (up down lo hi E : R).
(* The chance of an output, of answers that are positives or not. *)
Variable ch : seq (bool * R) -> R.
Notation there := (there up down).
(* An answer at both neighbours. *)
Notation twice := (bool * (R * R))%type.
Definition here (z : twice) : bool * R := (z.1, z.2.1).
Definition next (z : twice) : bool * R := (z.1, z.2.2).

Record behaves : Prop := Behaves {
  ch_ge0 : forall l, 0 <= ch l;
  ch_perm : forall l l', perm_eq l l' -> ch l = ch l';
  ch_likelier : forall (s : seq twice) g g', (forall z, z \in s -> likelier (g z) (g' z)) -> ch [seq g z | z <- s] <= ch [seq g' z | z <- s];
  ch_fewer : forall e l, ch (e :: l) <= ch l;
  ch_more : forall e r, ch r * ch (there (e :: r)) <= ch (e :: r) * ch (there r);
  ch_worse : forall h e r, 0 <= h -> grid h -> ch (e :: r) * ch (there (worse h e :: r)) <= ch (worse h e :: r) * ch (there (e :: r));
  ch_less : forall h e r, 0 <= h -> ch (there (worse h e :: r)) <= ch (there (e :: r))
}.
Hypotheses (E0 : 0 <= E) (ok : behaves).

(* What is to be shown of an output, with what the next step rests on. *)
Definition loses_within l := ch l <= E * ch (there l) /\ 0 < ch (there l).

Lemma carried l l' : ch l * ch (there l') <= ch l' * ch (there l) -> ch (there l') <= ch (there l) -> loses_within l' -> loses_within l.
Proof.
move=> crossed le [b p]; split; last exact: lt_le_trans le.
rewrite -(ler_pmul2r p); apply: (le_trans crossed); rewrite mulrAC; apply: ler_wpmul2r => //; exact: (ch_ge0 ok).
Qed.

Lemma there_perm l l' : perm_eq l l' -> perm_eq (there l) (there l').
Proof. exact: perm_map. Qed.

Lemma loses_perm l l' : perm_eq l l' -> loses_within l -> loses_within l'.
Proof. by move=> p [b pos]; split; rewrite -?(ch_perm ok (there_perm p)) -?(ch_perm ok p). Qed.

Lemma without l r : loses_within (l ++ r) -> loses_within r.
Proof.
elim: l => [//|e l IH] h; apply: IH; apply: carried h; first exact: (ch_more ok).
exact: (ch_fewer ok).
Qed.

(* Where an answer may be, and by how much it moves; where it is at the corner, and not beyond it. *)
Definition within (z : twice) := if z.1 then [/\ lo <= z.2.2 & z.2.1 - down <= z.2.2] else [/\ z.2.2 <= hi & z.2.2 <= z.2.1 + up].
Definition whole (z : twice) := if z.1 then grid (z.2.1 - (lo + down)) else grid (hi - up - z.2.1).
Definition corner (b : bool) : bool * R := (b, if b then lo + down else hi - up).
Definition clipped (z : twice) : bool * R := (z.1, if z.1 then Num.max z.2.1 (lo + down) else Num.min z.2.1 (hi - up)).
Definition beyond_clip (z : twice) : R := if z.1 then Num.max z.2.1 (lo + down) - (lo + down) else hi - up - Num.min z.2.1 (hi - up).

Lemma clip_ge0 z : 0 <= beyond_clip z.
Proof. by rewrite /beyond_clip; case: ifP => _; rewrite subr_ge0 ?le_maxr ?le_minl lexx orbT. Qed.

Lemma clip_corner z : corner z.1 = worse (beyond_clip z) (clipped z).
Proof. by rewrite /corner /worse /clipped /beyond_clip /=; case: ifP => _; congr (_, _); lra. Qed.

Lemma clip_grid z : whole z -> grid (beyond_clip z).
Proof.
rewrite /whole /beyond_clip; case: ifP => _ g.
- by rewrite /Num.max; case: ifP => _ //; rewrite subrr.
- by rewrite /Num.min; case: ifP => _ //; rewrite subrr.
Qed.

Lemma from_corner s r : (forall z, z \in s -> whole z) -> loses_within ([seq corner z.1 | z <- s] ++ r) -> loses_within ([seq clipped z | z <- s] ++ r).
Proof.
elim: s r => [//|z s IH] r w h.
have wz : whole z by apply: w; rewrite inE eqxx.
have h' : loses_within ([seq clipped z | z <- s] ++ (corner z.1 :: r)).
  apply: IH => [y ys|]; first by apply: w; rewrite inE ys orbT.
  by apply: loses_perm h => /=; rewrite -cat1s -[X in perm_eq _ (_ ++ X)]cat1s perm_catCA.
have {}h' : loses_within (worse (beyond_clip z) (clipped z) :: ([seq clipped z | z <- s] ++ r)).
  by rewrite -clip_corner; apply: loses_perm h'; rewrite -cat1s -[X in perm_eq _ X]cat1s perm_catCA.
apply: carried h'; first by apply: (ch_worse ok); [exact: clip_ge0 | exact: clip_grid].
by apply: (ch_less ok); exact: clip_ge0.
Qed.

(* The answers at the corner lose the most, and more of them no less. *)
Theorem corner_bounds s extra : (forall z, z \in s -> within z) -> (forall z, z \in s -> whole z) ->
  loses_within (extra ++ [seq corner z.1 | z <- s]) -> ch [seq here z | z <- s] <= E * ch [seq next z | z <- s].
Proof.
move=> wi wh /without h; have := from_corner (r := [::]) wh; rewrite !cats0 => /(_ h)[b _].
apply: (@le_trans _ _ (ch [seq clipped z | z <- s])).
  by apply: (ch_likelier ok) => z zs; split=> //=; case: (z.1); rewrite ?le_maxr ?le_minl lexx.
apply: (le_trans b); apply: ler_wpmul2l => //; rewrite /there -map_comp; apply: (ch_likelier ok) => z zs; split=> //=.
have := wi z zs; rewrite /within /=; case: (z.1) => -[h1 h2].
- rewrite ler_subl_addr le_maxl; apply/andP; split; lra.
- rewrite -ler_subl_addr le_minr; apply/andP; split; lra.
Qed.

End Corner.

(* Noises of any law: answers that move from one bound to the other. *)
Theorem ends_bound (R : realType) (E : R) (ch : seq (bool * R) -> R) s (near far : bool * (R * R) -> bool * R) : 0 <= E ->
  (forall (s : seq (bool * (R * R))) g g', (forall z, z \in s -> likelier (g z) (g' z)) -> ch [seq g z | z <- s] <= ch [seq g' z | z <- s]) ->
  (forall z, z \in s -> likelier (here z) (near z)) -> (forall z, z \in s -> likelier (far z) (next z)) ->
  ch [seq near z | z <- s] <= E * ch [seq far z | z <- s] -> ch [seq here z | z <- s] <= E * ch [seq next z | z <- s].
Proof.
move=> E0 mono hn fn b; apply: (le_trans (mono _ _ _ hn)); apply: (le_trans b); apply: ler_wpmul2l => //; exact: mono.
Qed.
