(* The rule modulus (docs/theory/additive.md), as it is checked: pieces on which h rises, falls or turns give every point its run uphill
   and downhill; cells, and what lies past them on either side, bound the loss between points D apart; so the supremum over two arguments is
   bounded, for noise of a norm of the distance and for noise on the whole line. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules modulus_rules.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* On a piece h does not fall, does not rise, or is bounded as a whole. *)
Inductive way := Up | Down | Turn.

Section Pieces.
Context (R : realType).
Variable h : R -> R.

Definition rises_on (I : R -> Prop) := forall x y, I x -> I y -> x <= y -> h x <= h y.
Definition falls_on (I : R -> Prop) := forall x y, I x -> I y -> x <= y -> h y <= h x.
Definition goes w a b := match w with
  | Up => rises_on (fun x => a <= x <= b) | Down => falls_on (fun x => a <= x <= b) | Turn => True end.

(* Pieces from c on, each by its way and its upper end; past the last one h rises. *)
Fixpoint laid c (ps : seq (way * R)) : Prop := match ps with
  | [::] => rises_on (fun x => c <= x)
  | (w, b) :: rest => [/\ c <= b, goes w c b & laid b rest] end.
Definition last_of c (ps : seq (way * R)) : R := last c (unzip2 ps).

(* Where h turns: all over a turn, and where pieces of different ways meet. `before` is the way of what ends at c. *)
Fixpoint turning before c (ps : seq (way * R)) (t : R) : Prop := match ps with
  | [::] => t = c /\ before <> Up
  | (w, b) :: rest => [\/ t = c /\ before <> w, w = Turn /\ c <= t <= b | turning w b rest t] end.

Lemma laid_le c ps t before : laid c ps -> turning before c ps t -> c <= t.
Proof.
elim: ps c before => [|[w b] ps IH] c before /=; first by move=> _ [-> _].
move=> [cb _ rest] [[-> _]|[_ /andP[]]|/(IH _ _ rest)]//; exact: le_trans.
Qed.

(* From c to the right, what ends at c having risen: h stays above h(c) up to a turn or for good. *)
Lemma right_of_rise c ps : laid c ps ->
  (exists t, turning Up c ps t /\ forall y, c <= y -> y <= t -> h c <= h y) \/ (forall y, c <= y -> h c <= h y).
Proof.
elim: ps c => [|[w b] ps IH] c /=; first by move=> rise; right=> y cy; apply: rise.
move=> [cb piece rest]; case: w piece => piece; last 2 first.
- by left; exists c; split=> [|y c1 c2]; [apply: Or31 | rewrite (@le_anti _ _ c y)// c1].
- by left; exists c; split=> [|y c1 c2]; [apply: Or31 | rewrite (@le_anti _ _ c y)// c1].
have step y : c <= y -> y <= b -> h c <= h y by move=> c1 c2; apply: piece; rewrite ?lexx ?c1.
have hb : h c <= h b by exact: step.
have [[t [tt low]] | low] := IH b rest; [left | right].
- exists t; split=> [|y cy yt]; first exact: Or33.
  by have [/(step y cy) // | /ltW b1] := leP y b; exact: le_trans hb (low _ b1 yt).
- by move=> y cy; have [/(step y cy) // | /ltW b1] := leP y b; exact: le_trans hb (low _ b1).
Qed.

(* Having fallen: h stays below h(c) up to a turn, as it rises in the end. *)
Lemma right_of_fall c ps : laid c ps -> exists t, turning Down c ps t /\ forall y, c <= y -> y <= t -> h y <= h c.
Proof.
elim: ps c => [|[w b] ps IH] c /=; first by exists c; split=> // y c1 c2; rewrite (@le_anti _ _ c y)// c1.
move=> [cb piece rest]; case: w piece => piece.
- by exists c; split=> [|y c1 c2]; [apply: Or31 | rewrite (@le_anti _ _ c y)// c1].
- have step y : c <= y -> y <= b -> h y <= h c by move=> c1 c2; apply: piece; rewrite ?lexx ?c1.
  have [t [tt low]] := IH b rest; exists t; split=> [|y cy yt]; first exact: Or33.
  by have [/(step y cy) // | /ltW b1] := leP y b; apply: le_trans (low _ b1 yt) _; exact: step.
- by exists c; split=> [|y c1 c2]; [apply: Or31 | rewrite (@le_anti _ _ c y)// c1].
Qed.

(* The run of a point past c uphill, which may lead back to c where what ends there fell; and downhill, where it rose. *)
Lemma runs_from before c ps x : laid c ps -> c <= x ->
  [\/ exists t, [/\ x <= t, turning before c ps t & forall y, x <= y -> y <= t -> h x <= h y],
      exists t, [/\ t <= x, turning before c ps t & forall y, t <= y -> y <= x -> h x <= h y],
      forall y, x <= y -> h x <= h y |
      before = Down /\ forall y, c <= y -> y <= x -> h x <= h y] /\
  [\/ exists t, [/\ x <= t, turning before c ps t & forall y, x <= y -> y <= t -> h y <= h x],
      exists t, [/\ t <= x, turning before c ps t & forall y, t <= y -> y <= x -> h y <= h x] |
      before = Up /\ forall y, c <= y -> y <= x -> h y <= h x].
Proof.
elim: ps before c => [|[w b] ps IH] before c /=.
  move=> rise cx; split; first by apply: Or43 => y xy; apply: rise => //; exact: le_trans xy.
  have low y : c <= y -> y <= x -> h y <= h x by move=> cy yx; apply: rise.
  case: before; [by apply: Or33 | |]; by apply: Or32; exists c; split.
move=> [cb piece rest] cx.
have at_c : before <> w -> turning before c ((w, b) :: ps) c by move=> ne; apply: Or31.
have later t : turning w b ps t -> turning before c ((w, b) :: ps) t by move=> tt; apply: Or33.
have [xb | /ltW bx] := leP x b; last first.
  have [up down] := IH w b rest bx; split.
  - case: up => [[t [xt /later tt low]] | [t [tx /later tt low]] | low | [wE low]]; [by apply: Or41; exists t | by apply: Or42; exists t | by apply: Or43 |].
    have all y : c <= y -> y <= x -> h x <= h y.
      move=> cy yx; have [yb | /ltW yb] := leP y b; last exact: low.
      apply: (le_trans (low b (lexx _) bx)); move: piece; rewrite wE => fall; apply: fall => //; first by rewrite cy.
      by rewrite cb lexx.
    have [be | ne] := pselect (before = w); first by apply: Or44; split=> //; rewrite be.
    by apply: Or42; exists c; split=> //; exact: at_c.
  - case: down => [[t [xt /later tt low]] | [t [tx /later tt low]] | [wE low]]; [by apply: Or31; exists t | by apply: Or32; exists t |].
    have all y : c <= y -> y <= x -> h y <= h x.
      move=> cy yx; have [yb | /ltW yb] := leP y b; last exact: low.
      apply: le_trans (low b (lexx _) bx); move: piece; rewrite wE => rise; apply: rise => //; first by rewrite cy.
      by rewrite cb lexx.
    have [be | ne] := pselect (before = w); first by apply: Or33; split=> //; rewrite be.
    by apply: Or32; exists c; split=> //; exact: at_c.
have self : w = Turn -> turning before c ((w, b) :: ps) x by move=> wE; apply: Or32; rewrite cx.
have one y : x <= y -> y <= x -> y = x by move=> c1 c2; apply/le_anti; rewrite c1 c2.
case: w piece at_c later self => piece at_c later self.
- split.
  + have step y : x <= y -> y <= b -> h x <= h y by move=> xy yb; apply: piece => //; [rewrite cx | rewrite (le_trans cx)].
    have [[t [tt low]] | low] := right_of_rise rest.
    * apply: Or41; exists t; split; [exact: le_trans xb (laid_le rest tt) | exact: later |] => y xy yt.
      by have [/(step y xy) // | /ltW b1] := leP y b; exact: le_trans (step b xb (lexx _)) (low _ b1 yt).
    * apply: Or43 => y xy; have [/(step y xy) // | /ltW b1] := leP y b; exact: le_trans (step b xb (lexx _)) (low _ b1).
  + have all y : c <= y -> y <= x -> h y <= h x by move=> cy yx; apply: piece => //; [rewrite cy (le_trans yx) | rewrite cx].
    have [be | ne] := pselect (before = Up); [by apply: Or33 | by apply: Or32; exists c; split=> //; exact: at_c].
- split.
  + have all y : c <= y -> y <= x -> h x <= h y by move=> cy yx; apply: piece => //; [rewrite cy (le_trans yx) | rewrite cx].
    have [be | ne] := pselect (before = Down); [by apply: Or44 | by apply: Or42; exists c; split=> //; exact: at_c].
  + have step y : x <= y -> y <= b -> h y <= h x by move=> xy yb; apply: piece => //; [rewrite cx | rewrite (le_trans cx)].
    have [t [tt low]] := right_of_fall rest.
    apply: Or31; exists t; split; [exact: le_trans xb (laid_le rest tt) | exact: later |] => y xy yt.
    by have [/(step y xy) // | /ltW b1] := leP y b; exact: le_trans (low _ b1 yt) (step b xb (lexx _)).
- by split; [apply: Or41 | apply: Or31]; exists x; split=> //; [exact: self | move=> y /one /[apply] -> | exact: self | move=> y /one /[apply] ->].
Qed.
End Pieces.

(* -- The pieces, cells and sides of a certificate -- *)
Section Sides.
Context (R : realType).
Variables (D m : R).
Hypothesis D0 : 0 <= D.

(* The pieces alone: what lies past the last is told by a side. *)
Fixpoint pieces_hold (h : R -> R) c (ps : seq (way * R)) : Prop := match ps with
  | [::] => True
  | (w, b) :: rest => [/\ c <= b, goes h w c b & pieces_hold h b rest] end.

Lemma laid_of_pieces h c ps : pieces_hold h c ps -> rises_on h (fun x => last_of c ps <= x) -> laid h c ps.
Proof.
by elim: ps c => [|[w b] ps IH] c //= [cb piece rest] rise; split=> //; apply: IH.
Qed.

(* Something holds on each of the cells from a on: a lower end is in, an upper end is not. *)
Fixpoint on_cells (holds : R -> Prop) a (uppers : seq R) : Prop := match uppers with
  | [::] => True
  | b :: rest => (forall c, a <= c -> c < b -> holds c) /\ on_cells holds b rest end.

Lemma on_all_cells holds a uppers c : on_cells holds a uppers -> a <= c -> c < last a uppers -> holds c.
Proof.
elim: uppers a => [|b rest IH] a /=; first by move=> _ ac /(le_lt_trans ac); rewrite ltxx.
by move=> [cell others] ac cl; have [/(cell c ac) // | bc] := ltP c b; exact: IH others bc cl.
Qed.

(* The loss between c and c + D, in both orders. *)
Definition rise_at (h : R -> R) c := h (c + D) - h c <= m.
Definition fall_at (h : R -> R) c := h c - h (c + D) <= m.

(* The side of h past `last`, where it rises outward: with a slope of at most k, D k <= m; or repeating past `start`, so that cells need
   only reach the end of one period. The other side of a line is this side of its mirror. *)
Variant side (h : R -> R) (last reach start : R) : Prop :=
| Slope k (dh : R -> R) of reach = last & start = last & rises_on h (fun x => last <= x) &
    (forall r, last < r -> is_derive r 1 h (dh r) /\ dh r <= k) &
    (forall s, 0 < s -> exists2 r, 0 < r & h (last + r) < h last + s) & D * k <= m
| Repeats P K of 0 < P & 0 < K & reach = start + P & last = start + 2 * P & rises_on h (fun x => start <= x <= last) &
    (forall x, start <= x -> h (x + P) = h x + K).

Lemma repeats_rises (h : R -> R) start P K : 0 < P -> 0 < K -> rises_on h (fun x => start <= x <= start + P) ->
  (forall x, start <= x -> h (x + P) = h x + K) -> rises_on h (fun x => start <= x).
Proof.
move=> P0 K0 rise rep.
have upto n : rises_on h (fun x => start <= x <= start + P + n%:R * P).
  elim: n => [|n IH] x y; first by rewrite mul0r addr0; exact: rise.
  move=> /andP[x1 x2] /andP[y1 y2] xy; have nP : 0 <= n%:R * P by rewrite mulr_ge0// ltW.
  have [yle | ylt] := leP y (start + P + n%:R * P); first by apply: IH => //; apply/andP; split=> //; exact: le_trans yle.
  move: y2; rewrite -natr1 mulrDl mul1r => y2; have y3 : start <= y - P by lra.
  have hy : h y = h (y - P) + K by rewrite -rep// subrK.
  have [px | xp] := leP (start + P) x.
    have x3 : start <= x - P by lra.
    have hx : h x = h (x - P) + K by rewrite -rep// subrK.
    by rewrite hy hx ler_add2r; apply: IH; [apply/andP; split; lra | apply/andP; split; lra | lra].
  have h1 : h x <= h (start + P) by apply: IH; [apply/andP; split; lra | apply/andP; split; lra | lra].
  have h2 : h start <= h (y - P) by apply: IH; [apply/andP; split; lra | apply/andP; split; lra | lra].
  have h3 : h (start + P) = h start + K by exact: rep.
  lra.
move=> x y x1 y1 xy; have [n nE] : exists n : nat, (y - start) / P < n%:R.
  by exists (Num.bound ((y - start) / P)); apply: archi_boundP; apply: over_ge0 => //; lra.
move: nE; rewrite ltr_pdivr_mulr// => yn; apply: (upto n) => //; apply/andP; split=> //; lra.
Qed.

Lemma side_rises h last reach start : side h last reach start -> rises_on h (fun x => last <= x).
Proof.
case=> [k dh _ _ // | P K P0 K0 _ lE rise rep] x y x1 y1.
have rise1 : rises_on h (fun x => start <= x <= start + P).
  by move=> a b /andP[a1 a2] /andP[b1 b2]; apply: rise; apply/andP; split; lra.
by apply: (repeats_rises P0 K0 rise1 rep); lra.
Qed.

(* The loss past the reach of the cells. *)
Lemma side_bound h last reach start : side h last reach start ->
  (forall c, start <= c -> c < reach -> rise_at h c /\ fall_at h c) -> forall c, reach <= c -> rise_at h c /\ fall_at h c.
Proof.
move=> S; have rise := side_rises S; case: S => [k dh -> _ _ der right Dk _ | P K P0 K0 -> lE _ rep] => [c lc | near].
- have far b : last < b -> h (b + D) - h b <= m.
    move=> lb; move: D0; rewrite le_eqVlt => /orP[/eqP D1 | Dp]; first by move: Dk; rewrite -D1 mul0r addr0 subrr.
    have bD : b < b + D by lra.
    have [||z zin ->] := @MVT R h dh b (b + D) bD.
    + by move=> z; rewrite in_itv/= => /andP[bz _]; have [] := der z (lt_trans lb bz).
    + apply: continuous_in_subspaceT => z; rewrite inE/= in_itv/= => /andP[bz _].
      have [dz _] := der z (lt_le_trans lb bz).
      by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ dz.
    move: zin; rewrite in_itv/= => /andP[bz _]; have [_ le] := der z (lt_trans lb bz).
    have : dh z * D <= k * D by rewrite ler_pmul2r.
    have -> : b + D - b = D by lra.
    lra.
  have up : rise_at h c.
    move: lc; rewrite le_eqVlt => /orP[/eqP <- | ]; last exact: far.
    apply/ler_addgt0Pr => s s0; have [r r0 close] := right s s0.
    have lr : last < last + r by lra.
    have le1 : last <= last + D by lra.
    have le2 : last <= last + r + D by lra.
    have le3 : last + D <= last + r + D by lra.
    have := far _ lr; have := rise _ _ le1 le2 le3; lra.
  split=> //; have le1 : c <= c + D by lra.
  have := rise _ _ lc (le_trans lc le1) le1; move: up; rewrite /rise_at /fall_at; lra.
- have upto n : forall c, start <= c -> c < start + P + n%:R * P -> rise_at h c /\ fall_at h c.
    elim: n => [|n IH] c c1; first by rewrite mul0r addr0; exact: near.
    have [/(IH c c1) // | cn] := ltP c (start + P + n%:R * P).
    rewrite -natr1 mulrDl mul1r => c2; have nP : 0 <= n%:R * P by rewrite mulr_ge0// ltW.
    have c3 : start <= c - P by lra.
    have [|up down] := IH _ c3; first by lra.
    have e1 : h c = h (c - P) + K by rewrite -rep// subrK.
    have e2 : h (c + D) = h (c - P + D) + K.
      by rewrite -rep; [congr h; lra | lra].
    by move: up down; rewrite /rise_at /fall_at e1 e2 => up down; split; lra.
  move=> c c1; have [n nE] : exists n : nat, (c - start) / P < n%:R.
    by exists (Num.bound ((c - start) / P)); apply: archi_boundP; apply: over_ge0 => //; lra.
  by move: nE; rewrite ltr_pdivr_mulr// => cn; apply: (upto n); lra.
Qed.
End Sides.

(* -- The rule -- *)
Section Line.
Context (R : realType).
Variables (h : R -> R) (D m : R).
Hypothesis D0 : 0 <= D.
Let both_at c := rise_at D m h c /\ fall_at D m h c.
Let mirrored (x : R) := h (- x).

Fixpoint all_rise (ps : seq (way * R)) : Prop := if ps is (w, _) :: rest then w = Up /\ all_rise rest else True.

(* What the rule checks on [0, inf): pieces and cells from 0 on (what is shown of an end at 0 is its first piece and its first cell; 0 is a
   turn), the side to the right, and the loss between turns. Where all pieces rise, h(c) - h(c + D) is not asked about. *)
Definition checked_half (ps : seq (way * R)) (cells : seq R) (reach start : R) :=
  [/\ [/\ pieces_hold h 0 ps, side D m h (last_of 0 ps) reach start & 0 <= start], reach <= last 0 cells, on_cells (rise_at D m h) 0 cells,
      all_rise ps \/ on_cells (fall_at D m h) 0 cells &
      forall b a, turning Turn 0 ps b -> turning Turn 0 ps a -> `|a - b| <= D -> h b - h a <= m].

(* On the whole line: the side to the left too, in the mirror. Of two repeating sides neither begins within the other, as pieces past either
   start go outward. *)
Definition checked_line (first begins : R) (ps : seq (way * R)) (cells : seq R) (near_reach near_start reach start : R) :=
  [/\ [/\ pieces_hold h first ps, side D m h (last_of first ps) reach start & side D m mirrored (- first) (- near_reach) (- near_start)],
      reach = start \/ near_start <= start,
      begins + D <= near_reach /\ reach <= last begins cells,
      on_cells (rise_at D m h) begins cells /\ on_cells (fall_at D m h) begins cells &
      forall b a, turning Down first ps b -> turning Down first ps a -> `|a - b| <= D -> h b - h a <= m].

Lemma all_laid_rise c ps : laid h c ps -> all_rise ps -> rises_on h (fun x => c <= x).
Proof.
elim: ps c => [|[w b] ps IH] c //= [cb piece rest] [wE up]; move: piece; rewrite wE /= => piece.
have later := IH b rest up.
move=> x y cx cy xy; have [yb | /ltW b_y] := leP y b.
  by apply: piece => //; rewrite ?cx ?cy ?yb// (le_trans xy).
have hy : h b <= h y by apply: later.
have [xb | /ltW b_x] := leP x b; last exact: later.
by apply: le_trans hy; apply: piece => //; [rewrite cx | rewrite cb lexx].
Qed.

Lemma side_start f last reach start : side D m f last reach start -> reach = start \/ start < reach.
Proof. by case=> [k dh -> -> *| P K P0 K0 -> *]; [left | right; lra]. Qed.

Theorem half_modulus ps cells reach start : checked_half ps cells reach start ->
  forall a b, 0 <= a -> 0 <= b -> `|a - b| <= D -> h b - h a <= m.
Proof.
move=> [[pieces far start0] reached rise fall turns].
have lay := laid_of_pieces pieces (side_rises D0 far).
have [up | {}fall] := fall.
- have mono := all_laid_rise lay up.
  have down c : 0 <= c -> rise_at D m h c -> both_at c.
    move=> c0 h1; split=> //; have c1 : 0 <= c + D by lra.
    have c2 : c <= c + D by lra.
    have := mono _ _ c0 c1 c2; move: h1; rewrite /rise_at /fall_at; lra.
  have inner c : 0 <= c -> c < last 0 cells -> both_at c by move=> c0 cl; apply: down => //; exact: on_all_cells rise c0 cl.
  have past := side_bound D0 far (fun c c1 c2 => inner c (le_trans start0 c1) (lt_le_trans c2 reached)).
  move=> a b a0 b0; apply: (@moving_rising R h D m (fun x => 0 <= x)) => // [c c0 | x y x0 xy].
    by have [/(inner c c0)[] // | lc] := ltP c (last 0 cells); have [] := past c (le_trans reached lc).
  by apply: mono => //; exact: le_trans xy.
- have inner c : 0 <= c -> c < last 0 cells -> both_at c.
    by move=> c0 cl; split; [exact: on_all_cells rise c0 cl | exact: on_all_cells fall c0 cl].
  have past := side_bound D0 far (fun c c1 c2 => inner c (le_trans start0 c1) (lt_le_trans c2 reached)).
  have all c : 0 <= c -> both_at c.
    by move=> c0; have [/(inner c c0) // | lc] := ltP c (last 0 cells); exact: past c (le_trans reached lc).
  move=> a b a0 b0; apply: (@moving R h D m (fun x => 0 <= x) (turning Turn 0 ps)) => //.
  + by move=> x y z x0 _ xy _; exact: le_trans xy.
  + by move=> t; exact: (laid_le lay).
  + move=> x x0; have [uphill_ downhill_] := runs_from Turn lay x0; split.
      by case: uphill_ => [H | H | H | [//]]; [apply: Or41 | apply: Or42 | apply: Or43].
    by case: downhill_ => [H | H | [//]]; [left | right].
  + by move=> c /all[].
  + by move=> c /all[].
Qed.

Theorem line_modulus first begins ps cells near_reach near_start reach start :
  checked_line first begins ps cells near_reach near_start reach start -> forall a b, `|a - b| <= D -> h b - h a <= m.
Proof.
move=> [[pieces far near] apart [begun reached] [rise fall] turns].
have lay := laid_of_pieces pieces (side_rises D0 far).
have inner c : begins <= c -> c < last begins cells -> both_at c.
  by move=> c0 cl; split; [exact: on_all_cells rise c0 cl | exact: on_all_cells fall c0 cl].
have flip c : rise_at D m mirrored (- c - D) /\ fall_at D m mirrored (- c - D) -> both_at c.
  rewrite /rise_at /fall_at /mirrored subrK opprK opprD !opprK; by case.
have unflip c : both_at (- c - D) -> rise_at D m mirrored c /\ fall_at D m mirrored c.
  rewrite /both_at /rise_at /fall_at /mirrored subrK opprD; by case.
(* what is so where the sides repeat is so past them *)
have past_left : (forall c, near_reach < c + D -> c + D <= near_start -> both_at c) -> forall c, c + D <= near_reach -> both_at c.
  move=> H c c1; apply: flip; apply: (side_bound D0 near) => [e e1 e2 |]; last lra.
  by apply: unflip; apply: H; lra.
have past_right : (forall c, start <= c -> c < reach -> both_at c) -> forall c, reach <= c -> both_at c.
  exact: (side_bound D0 far).
have to_left c : c < begins -> c + D <= near_reach by lra.
have all c : both_at c.
  case: apart => [same | order].
  - have right e : reach <= e -> both_at e by apply: past_right => {}e; rewrite same => e1 /(le_lt_trans e1); rewrite ltxx.
    have later e : begins <= e -> both_at e.
      by move=> e0; have [/(inner e e0) // | le] := ltP e (last begins cells); apply: right; exact: le_trans reached le.
    have [/to_left | /later //] := ltP c begins; apply: past_left => e e1 _; apply: later; lra.
  - have [same | lt] := side_start far.
      have right e : reach <= e -> both_at e by apply: past_right => {}e; rewrite same => e1 /(le_lt_trans e1); rewrite ltxx.
      have later e : begins <= e -> both_at e.
        by move=> e0; have [/(inner e e0) // | le] := ltP e (last begins cells); apply: right; exact: le_trans reached le.
      have [/to_left | /later //] := ltP c begins; apply: past_left => e e1 _; apply: later; lra.
    have left e : e + D <= near_reach -> both_at e.
      by apply: past_left => {}e e1 e2; apply: inner; lra.
    have earlier e : e < last begins cells -> both_at e.
      by move=> el; have [/to_left/left // | eb] := ltP e begins; exact: inner.
    have [/earlier // | lc] := ltP c (last begins cells); apply: past_right; last exact: le_trans reached lc.
    by move=> e _ er; apply: earlier; exact: lt_le_trans er reached.
have falls : falls_on h (fun x => x <= first).
  move=> x y x1 y1 xy; have := side_rises D0 near; rewrite /rises_on /mirrored => rises.
  have := rises (- y) (- x); rewrite !opprK; apply; lra.
move=> a b ab; apply: (@moving R h D m (fun _ => True) (turning Down first ps)) => //; last 2 first.
- by move=> c _; have [] := all c.
- by move=> c _; have [] := all c.
move=> x _; have [xf | /ltW fx] := leP x first.
- split; first by apply: Or44; split=> // y yx; apply: falls => //; exact: le_trans xf.
  have [t [tt low]] := right_of_fall lay; left; exists t; split=> //; first exact: le_trans xf (laid_le lay tt).
  move=> y xy yt; have [yf | /ltW fy] := leP y first; first exact: falls.
  by apply: le_trans (low _ fy yt) _; apply: falls.
- have [up down] := runs_from Down lay fx; split.
    case: up => [H | H | H | [_ low]]; [exact: Or41 | exact: Or42 | exact: Or43 |].
    apply: Or44; split=> // y yx; have [yf | /ltW fy] := leP y first; last exact: low.
    by apply: le_trans (low _ (lexx _) fx) _; apply: falls.
  by case: down => [H | H | [//]]; [left | right].
Qed.
End Line.

(* What the rule covers: noise of a norm of the distance, and noise on the whole line. *)
Section ModulusRule.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y).

Variant modulus_shown (h : R -> R) (m : R) : Prop :=
| OfANorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale c Delta ps cells reach start of
    seminorm norm & 0 < scale & 0 < c & adds_noise mu place M q (fun z => c * expR (- h (norm z / scale))) &
    0 <= Delta & moves_at_most N q norm Delta & checked_half h (Delta / scale) m ps cells reach start
| OnTheLine (place : Y -> R^o) (q : X -> R^o) c Delta first begins ps cells near_reach near_start reach start of
    0 < c & adds_noise mu place M q (fun z : R^o => c * expR (- h z)) &
    0 <= Delta & moves_at_most N q (fun z : R^o => `|z : R|) Delta &
    checked_line h Delta m first begins ps cells near_reach near_start reach start.

(* Rule: modulus, upper. *)
(* The density is its version that is continuous from the right where it jumps; that h goes the way of its piece, and that the loss is at
   most m on each cell and between turns, is what the rule's enclosures show. *)
Theorem modulus_rule h m : modulus_shown h m -> pure_dp N M m.
Proof.
case=> [V place q norm scale c Delta ps cells reach start semi scale0 c0 noise Delta0 moves checked
  | place q c Delta first begins ps cells near_reach near_start reach start c0 noise Delta0 moves checked].
- apply: (radial_upper semi scale0 c0 noise moves); exact: (half_modulus (over_ge0 Delta0 scale0) checked).
- apply: (exponent_upper c0 noise) => x x' z xx; apply: (line_modulus Delta0 checked).
  by have := moves x x' xx; rewrite opprD addrA subrr sub0r normrN.
Qed.
End ModulusRule.
