(* What shifts of log-concave noises cost in all (docs/theory/selection.md, log-concave threshold): multiples of what is shifted, by slopes that may be
   infinite. That is convex in the shift and in what the answers move by, together; so the worst moves are at the ends of where they may be. On the
   integers the best shift is an integer. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic.

Section Costs.
Context (R : realType).
Implicit Types (b : option R) (x c s t w V : R).

(* c pays for a shift by x in the direction of the slope b, of which None is infinite; shifts the other way cost nothing. *)
Definition pays b x c := 0 <= c /\ (if b is Some k then k * x <= c else x <= 0).
Definition nonneg b := if b is Some k then 0 <= k else true.

Lemma pays_more b x c c' : c <= c' -> pays b x c -> pays b x c'.
Proof. by move=> cc [c0 h]; split; [exact: le_trans c0 cc | case: b h => // k h; exact: le_trans h cc]. Qed.

Lemma pays_less b x x' c : nonneg b -> x' <= x -> pays b x c -> pays b x' c.
Proof.
move=> b0 xx [c0 h]; split=> //; case: b b0 h => [k k0 h|_ h]; last exact: le_trans xx h.
by apply: le_trans h; rewrite ler_wpmul2l.
Qed.

Lemma pays_nothing b x : nonneg b -> x <= 0 -> pays b x 0.
Proof. by move=> b0 x0; split=> //; case: b b0 => // k k0; rewrite mulr_ge0_le0. Qed.

Lemma pays_mean b w x x' c c' : 0 <= w -> w <= 1 -> pays b x c -> pays b x' c' -> pays b (w * x + (1 - w) * x') (w * c + (1 - w) * c').
Proof.
move=> w0 w1 [c0 h] [c0' h']; have v0 : 0 <= 1 - w by lra.
split; first by rewrite addr_ge0// mulr_ge0.
case: b h h' => [k|] h h'; have g := ler_wpmul2l w0 h; have g' := ler_wpmul2l v0 h'; lra.
Qed.

Lemma pays_ends b t x0 x1 c : nonneg b -> 0 < t -> t < 1 -> (0 <= x0 /\ 0 <= x1) \/ (x0 <= 0 /\ x1 <= 0) ->
  pays b ((1 - t) * x0 + t * x1) c -> exists c0 c1, [/\ pays b x0 c0, pays b x1 c1 & (1 - t) * c0 + t * c1 <= c].
Proof.
move=> b0 t0 t1 [[p0 p1]|[n0 n1]] [c0 h]; last first.
  by exists 0, 0; rewrite !mulr0 addr0; split=> //; exact: pays_nothing.
case: b b0 h => [k k0 h|_ h].
  by exists (k * x0), (k * x1); split; [split=> //; exact: mulr_ge0 | split=> //; exact: mulr_ge0 | lra].
have u0 : 0 < 1 - t by lra.
have m0 : 0 <= (1 - t) * x0 by rewrite mulr_ge0// ltW.
have m1 : 0 <= t * x1 by rewrite mulr_ge0// ltW.
have z0 : (1 - t) * x0 <= 0 by lra.
have z1 : t * x1 <= 0 by lra.
exists 0, 0; rewrite !mulr0 addr0; split=> //; split=> //.
- by rewrite pmulr_rle0 in z0.
- by rewrite pmulr_rle0 in z1.
Qed.

(* A sum of such costs: slope, the multiple of the shift s, and a number besides. *)
Definition item := (option R * R * R)%type.
Fixpoint charged s (l : seq item) V : Prop :=
  if l is (b, a, k) :: rest then exists c, pays b (a * s + k) c /\ charged s rest (V - c) else 0 <= V.

Lemma charged_more s l V V' : V <= V' -> charged s l V -> charged s l V'.
Proof.
elim: l V V' => [|[[b a] k] l IH] V V' VV /=; first by move=> h; exact: le_trans VV.
by move=> [c [pc h]]; exists c; split=> //; apply: IH h; rewrite ler_add2r.
Qed.

Lemma charged_cat s l l' V : charged s (l ++ l') V <-> exists c, charged s l c /\ charged s l' (V - c).
Proof.
elim: l V => [|[[b a] k] l IH] V /=.
- split=> [h|[c [c0 h]]]; first by exists 0; rewrite subr0.
  by apply: charged_more h; rewrite ler_subl_addr ler_addl.
- split=> [[c [pc /IH[c' [h h']]]]|[c [[c' [pc h]] h']]].
    exists (c + c'); split; last by rewrite opprD addrA.
    by exists c; split=> //; rewrite addrC addKr.
  exists c'; split=> //; apply/IH; exists (c - c'); split=> //.
  by apply: charged_more h'; lra.
Qed.

(* A list is a mean of two others, with the weights w and 1 - w, in the numbers. *)
Fixpoint mixed w (l l' l'' : seq item) : Prop :=
  match l, l', l'' with
  | [::], [::], [::] => True
  | (b, a, k) :: m, (b', a', k') :: m', (b'', a'', k'') :: m'' =>
    [/\ (b', a') = (b, a), (b'', a'') = (b, a), k'' = w * k + (1 - w) * k' & mixed w m m' m'']
  | _, _, _ => False
  end.

Lemma mixed_same w l : mixed w l l l.
Proof. by elim: l => [|[[b a] k] l IH] //=; split=> //; lra. Qed.

Lemma mixed_cat w l l' l'' m m' m'' : mixed w l l' l'' -> mixed w m m' m'' -> mixed w (l ++ m) (l' ++ m') (l'' ++ m'').
Proof.
move=> + mm; elim: l l' l'' => [|[[b a] k] l IH] [|[[b' a'] k'] l'] [|[[b'' a''] k''] l''] //= [e e' e'' h]; split=> //; exact: IH.
Qed.

Lemma charged_mean w s s' l l' l'' V V' : 0 <= w -> w <= 1 -> mixed w l l' l'' -> charged s l V -> charged s' l' V' ->
  charged (w * s + (1 - w) * s') l'' (w * V + (1 - w) * V').
Proof.
move=> w0 w1; elim: l l' l'' V V' => [|[[b a] k] l IH] [|[[b' a'] k'] l'] [|[[b'' a''] k''] l''] V V' //=.
  by move=> _ h h'; rewrite addr_ge0// mulr_ge0// subr_ge0.
move=> [[-> ->] [-> ->] -> mx] [c [pc h]] [c' [pc' h']].
exists (w * c + (1 - w) * c'); split.
  have -> : a * (w * s + (1 - w) * s') + (w * k + (1 - w) * k') = w * (a * s + k) + (1 - w) * (a * s' + k') by lra.
  exact: pays_mean.
have -> : w * V + (1 - w) * V' - (w * c + (1 - w) * c') = w * (V - c) + (1 - w) * (V' - c') by lra.
exact: (IH _ _ _ _ mx h h').
Qed.

(* On the integers: between two of them all costs are lines, so at one of both the cost is no greater. *)
Definition whole x := exists n : int, x = n%:~R.

Lemma whole_opp x : whole x -> whole (- x). Proof. by move=> [n ->]; exists (- n); rewrite mulrNz. Qed.
Lemma whole_add x y : whole x -> whole y -> whole (x + y). Proof. by move=> [n ->] [m ->]; exists (n + m); rewrite intrD. Qed.

Definition whole_item (i : item) := (i.1.2 = 0 \/ i.1.2 = 1 \/ i.1.2 = -1) /\ whole i.2.

Lemma one_sign (n k : int) a : a = 0 \/ a = 1 \/ a = -1 ->
  (0 <= a * n%:~R + k%:~R /\ 0 <= a * (n + 1)%:~R + k%:~R) \/ (a * n%:~R + k%:~R <= 0 /\ a * (n + 1)%:~R + k%:~R <= 0 :> R).
Proof.
case=> [->|[->|->]].
- by rewrite !mul0r !add0r; have [h|/ltW h] := leP 0 (k%:~R : R); [left | right].
- rewrite !mul1r -!intrD -[0]/(0%:~R : R) !ler_int [(n + 1 + k)%R]addrAC; have [h|h] := leP 0%R (n + k)%R; [left | right].
    by split=> //; rewrite addr_ge0.
  by split; [exact: ltW | rewrite lez_addr1].
- rewrite !mulN1r ![- _ + _]addrC -!rmorphB/= -[0]/(0%:~R : R) !ler_int opprD addrA; have [h|h] := leP (k - n)%R 0%R; [right | left].
    by split=> //; rewrite (le_trans _ h)// ler_subl_addr ler_addl.
  by split; [exact: ltW | rewrite subr_ge0 -lez_addr1 add0r in h *].
Qed.

Lemma charged_ends (n : int) t l V : all (fun i => nonneg i.1.1) l -> (forall i, i \in l -> whole_item i) -> 0 < t -> t < 1 ->
  charged ((1 - t) * n%:~R + t * (n + 1)%:~R) l V ->
  exists V0 V1, [/\ charged n%:~R l V0, charged (n + 1)%:~R l V1 & (1 - t) * V0 + t * V1 <= V].
Proof.
move=> + + t0 t1; elim: l V => [|[[b a] k] l IH] V /=; first by move=> _ _ h; exists 0, 0; rewrite !mulr0 addr0.
move=> /andP[b0 l0] wl [c [pc h]].
have [V0 [V1 [h0 h1 le]]] := IH _ l0 (fun i il => wl i (mem_behead (s := (b, a, k) :: l) il)) h.
have [a3 [m kE]] := wl _ (mem_head _ _); rewrite /= in a3 kE.
have [|c0 [c1 [p0 p1 cc]]] := pays_ends b0 t0 t1 (one_sign n m a3) (c := c).
  suff <- : a * ((1 - t) * n%:~R + t * (n + 1)%:~R) + k = (1 - t) * (a * n%:~R + m%:~R) + t * (a * (n + 1)%:~R + m%:~R) by [].
  by rewrite kE; lra.
exists (c0 + V0), (c1 + V1); split; last by lra.
- by exists c0; rewrite kE; split=> //; rewrite [c0 + V0]addrC addrK.
- by exists c1; rewrite kE; split=> //; rewrite [c1 + V1]addrC addrK.
Qed.

Lemma charged_whole s l V : all (fun i => nonneg i.1.1) l -> (forall i, i \in l -> whole_item i) -> charged s l V ->
  exists2 s', whole s' & charged s' l V.
Proof.
move=> l0 wl h; pose n := floor s; pose t := s - n%:~R.
have t0 : 0 <= t by rewrite subr_ge0 floor_le.
have t1 : t < 1 by rewrite ltr_subl_addl lt_succ_floor.
have [tz|tp] := eqVneq t 0.
  by exists s => //; exists n; apply/eqP; rewrite -subr_eq0 -/t tz.
have e1 : (n + 1)%:~R = n%:~R + 1 :> R by rewrite intrD.
have tE : t = s - n%:~R by [].
have sE : s = (1 - t) * n%:~R + t * (n + 1)%:~R by rewrite e1 tE; lra.
have tpos : 0 < t by rewrite lt_neqAle eq_sym tp.
rewrite sE in h; have [V0 [V1 [h0 h1 le]]] := charged_ends l0 wl tpos t1 h.
have [le0|gt0] := leP V0 V; first by exists n%:~R; [exists n | exact: charged_more h0].
exists (n + 1)%:~R; first by exists (n + 1).
apply: charged_more h1; rewrite leNgt; apply/negP => gt1.
have g0 : 0 < (1 - t) * (V0 - V) by rewrite mulr_gt0//; lra.
have g1 : 0 < t * (V1 - V) by rewrite mulr_gt0//; lra.
lra.
Qed.

(* The worst moves are at the ends: of each of the moves what it adds is a list of items; the shift is any number, or an integer. *)
Context (A : Type) (terms : A -> R -> seq item).
Hypothesis terms_mean : forall a w d d', mixed w (terms a d) (terms a d') (terms a (w * d + (1 - w) * d')).

(* What happens at an answer, what it moves by, and between which ends. *)
Definition answer := (A * R * (R * R))%type.
Definition all_terms (l : seq answer) := flatten [seq terms x.1.1 x.1.2 | x <- l].
Fixpoint within_ends (l : seq answer) : Prop := if l is x :: m then x.2.1 <= x.1.2 <= x.2.2 /\ within_ends m else True.
Definition at_end (x' x : answer) := [/\ x'.1.1 = x.1.1, x'.2 = x.2 & x'.1.2 = x.2.1 \/ x'.1.2 = x.2.2].
Fixpoint at_ends (l' l : seq answer) : Prop :=
  match l', l with [::], [::] => True | x' :: m', x :: m => at_end x' x /\ at_ends m' m | _, _ => False end.

Theorem worst_at_ends (l : seq answer) V acc : within_ends l ->
  (forall l', at_ends l' l -> exists s, charged s (acc ++ all_terms l') V) -> exists s, charged s (acc ++ all_terms l) V.
Proof.
elim: l acc => [|[[a d] [lo hi]] l IH] acc /= ins ends; first exact: (ends [::]).
have [/andP[lod dhi] insl] := ins.
have one e : e = lo \/ e = hi -> exists s, charged s ((acc ++ terms a e) ++ all_terms l) V.
  move=> eE; apply: IH => // l' el.
  by have := ends ((a, e, (lo, hi)) :: l'); rewrite /all_terms/= catA; apply; split.
have [s0 h0] := one lo (or_introl erefl); have [s1 h1] := one hi (or_intror erefl).
have [w [w0 w1 dE]] : exists w, [/\ 0 <= w, w <= 1 & d = w * lo + (1 - w) * hi].
  have [e|ne] := eqVneq lo hi.
    by exists 1; split; [exact: ler01 | exact: lexx | rewrite -e in dhi; lra].
  have p : 0 < hi - lo by rewrite subr_gt0 lt_neqAle ne (le_trans lod dhi).
  have E : (hi - d) / (hi - lo) * (hi - lo) = hi - d by rewrite divfK// gt_eqF.
  exists ((hi - d) / (hi - lo)); split; [by rewrite divr_ge0 ?subr_ge0// ltW// -subr_gt0 | by rewrite ler_pdivr_mulr// mul1r; lra | lra].
have mx : mixed w ((acc ++ terms a lo) ++ all_terms l) ((acc ++ terms a hi) ++ all_terms l) ((acc ++ terms a d) ++ all_terms l).
  by rewrite dE; apply: mixed_cat; [apply: mixed_cat; [exact: mixed_same | exact: terms_mean] | exact: mixed_same].
exists (w * s0 + (1 - w) * s1); have := charged_mean w0 w1 mx h0 h1.
have -> : w * V + (1 - w) * V = V by lra.
by rewrite /all_terms/= catA.
Qed.
End Costs.
