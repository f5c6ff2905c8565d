(* Parts of a polytope (docs/theory/finite.md: kernel box): the hull of finitely many points, the planes that bound it, and what a tree of cuts
   shows of a function on it. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic.

Section Hull.
Context (R : realFieldType) (V : lmodType R) (dot : V -> V -> R).
Hypothesis dotP : forall n a x y, dot n (a *: x + y) = a * dot n x + dot n y.

Definition between (t : R) (x y : V) := t *: x + (1 - t) *: y.
Definition convex (C : V -> Prop) := forall t x y, 0 <= t -> t <= 1 -> C x -> C y -> C (between t x y).
(* The least convex set with these points. *)
Definition hull (vs : seq V) (x : V) := forall C, convex C -> (forall v, v \in vs -> C v) -> C x.

Lemma dot0 n : dot n 0 = 0.
Proof. by have := dotP n 1 0 0; rewrite scale1r addr0 mul1r; set u := dot n 0 => e; lra. Qed.
Lemma dotZ n a x : dot n (a *: x) = a * dot n x.
Proof. by have := dotP n a x 0; rewrite !addr0 dot0 addr0. Qed.
Lemma dotD n x y : dot n (x + y) = dot n x + dot n y.
Proof. by have := dotP n 1 x y; rewrite scale1r mul1r. Qed.
Lemma dotB n x y : dot n (x - y) = dot n x - dot n y.
Proof. by rewrite addrC -scaleN1r dotP mulN1r addrC. Qed.
Lemma dot_between n t x y : dot n (between t x y) = t * dot n x + (1 - t) * dot n y.
Proof. by rewrite /between dotP dotZ. Qed.

Lemma hull_convex vs : convex (hull vs).
Proof. by move=> t x y t0 t1 hx hy C cC inC; exact: (cC t x y t0 t1 (hx C cC inC) (hy C cC inC)). Qed.

Lemma hull_in vs v : v \in vs -> hull vs v.
Proof. by move=> vv C _; apply. Qed.

Lemma hull_least vs C x : convex C -> (forall v, v \in vs -> C v) -> hull vs x -> C x.
Proof. by move=> cC inC; apply. Qed.

Lemma hull_sub vs ws x : {subset vs <= ws} -> hull vs x -> hull ws x.
Proof. by move=> sub; apply: hull_least; [exact: hull_convex | move=> v /sub; exact: hull_in]. Qed.

Lemma hull_nil x : ~ hull [::] x.
Proof. by apply. Qed.

Lemma convex_half n c : convex (fun x => dot n x <= c).
Proof.
move=> t x y t0 t1 hx hy; have s0 : 0 <= 1 - t by rewrite subr_ge0.
have h1 := ler_wpmul2l t0 hx; have h2 := ler_wpmul2l s0 hy; rewrite dot_between; lra.
Qed.

(* A linear function is greatest at a vertex. *)
Lemma hull_half vs n c x : (forall v, v \in vs -> dot n v <= c) -> hull vs x -> dot n x <= c.
Proof. by move=> le hx; exact: (hx (fun y => dot n y <= c) (@convex_half n c) le). Qed.

(* Where a plane that bounds all vertices holds with equality, the vertices on it span. *)
Lemma hull_face vs n c x : (forall v, v \in vs -> dot n v <= c) -> hull vs x -> dot n x = c -> hull [seq v <- vs | dot n v == c] x.
Proof.
move=> le hx; have : dot n x <= c /\ (dot n x = c -> hull [seq v <- vs | dot n v == c] x); last by case.
apply: (hx (fun y => dot n y <= c /\ (dot n y = c -> hull [seq v <- vs | dot n v == c] y))) => [t a b t0 t1 [ha fa] [hb fb] | v vv]; last first.
  by split=> [|e]; [exact: le | apply: hull_in; rewrite mem_filter e eqxx].
split; first exact: convex_half.
rewrite dot_between => e; have [t_0|tn] := eqVneq t 0.
  by rewrite /between t_0 subr0 scale1r scale0r add0r; apply: fb; move: e; rewrite t_0 mul0r add0r subr0 mul1r.
have [t_1|t1n] := eqVneq t 1.
  by rewrite /between t_1 subrr scale1r scale0r addr0; apply: fa; move: e; rewrite t_1 mul1r subrr mul0r addr0.
have tp : 0 < t by rewrite lt_neqAle eq_sym tn.
have sp : 0 < 1 - t by rewrite subr_gt0 lt_neqAle t1n.
have ea : dot n a = c.
  apply/eqP; rewrite eq_le ha leNgt; apply/negP => lt.
  have h1 : t * dot n a < t * c by rewrite ltr_pmul2l.
  have h2 : (1 - t) * dot n b <= (1 - t) * c by rewrite ler_pmul2l.
  have : t * dot n a + (1 - t) * dot n b < t * c + (1 - t) * c by rewrite ltr_le_add.
  by rewrite e -mulrDl addrC subrK mul1r ltxx.
apply: hull_convex => //; [exact: fa | apply: fb].
by move: e; rewrite ea => /eqP; rewrite -subr_eq0 (_ : _ - c = (1 - t) * (dot n b - c)); last lra; rewrite mulf_eq0 gt_eqF//= subr_eq0 => /eqP.
Qed.

(* -- Parts: vertices and planes -- *)

Definition plane := (V * R)%type.
Definition part := (seq V * seq plane)%type.
Definition tight (p : plane) (x : V) := dot p.1 x == p.2.
Definition satisfies (ps : seq plane) (x : V) := forall p, p \in ps -> dot p.1 x <= p.2.
Definition spanning (P : part) (p : plane) := all (tight p) P.1.
(* The planes describe the part: those that are tight at all vertices hold with equality. *)
Definition described (P : part) := (forall v, v \in P.1 -> satisfies P.2 v) /\
  forall x, satisfies P.2 x -> (forall p, p \in P.2 -> spanning P p -> dot p.1 x = p.2) -> hull P.1 x.

(* A ray from a point either stays, or leaves through a plane. *)
Lemma ray_leaves (ps : seq plane) x d : satisfies ps x ->
  (forall p, p \in ps -> dot p.1 d <= 0) \/
  exists t, [/\ 0 <= t, satisfies ps (t *: d + x) & exists p, [/\ p \in ps, 0 < dot p.1 d & dot p.1 (t *: d + x) = p.2]].
Proof.
elim: ps => [|p ps IH] sat; first by left.
have px : dot p.1 x <= p.2 by apply: sat; rewrite mem_head.
have sat' : satisfies ps x by move=> q qq; apply: sat; rewrite in_cons qq orbT.
have slack : 0 < dot p.1 d -> [/\ 0 <= (p.2 - dot p.1 x) / dot p.1 d & dot p.1 ((p.2 - dot p.1 x) / dot p.1 d *: d + x) = p.2].
  move=> dp; split; first by rewrite divr_ge0 ?subr_ge0// ltW.
  by rewrite dotP mulfVK ?gt_eqF// subrK.
case: (IH sat') => [none | [t [t0 st [q [qq qd qt]]]]].
- have [dp|dp] := leP (dot p.1 d) 0; first by left=> q; rewrite in_cons => /orP[/eqP->|/none].
  right; have [s0 e] := slack dp; set s := (_ / _) in s0 e; exists s; split=> //; last by exists p; rewrite mem_head.
  move=> q; rewrite in_cons => /orP[/eqP->|qq]; first by rewrite e.
  by rewrite dotP -[leRHS]add0r ler_add ?sat'// mulr_ge0_le0// none.
- right; have [pt|pt] := leP (dot p.1 (t *: d + x)) p.2.
    exists t; split=> //; last by exists q; rewrite in_cons qq orbT.
    by move=> r; rewrite in_cons => /orP[/eqP->|/st].
  have dp : 0 < dot p.1 d.
    rewrite ltNge; apply/negP => dp; move: pt; rewrite dotP ltNge => /negP; apply.
    by rewrite -[leRHS]add0r ler_add// mulr_ge0_le0.
  have [s0 e] := slack dp; set s := (_ / _) in s0 e; have stt : s <= t.
    by move: pt; rewrite -{1}e !dotP ltr_add2r ltr_pmul2r// => /ltW.
  exists s; split=> //; last by exists p; rewrite mem_head.
  move=> r; rewrite in_cons => /orP[/eqP->|rr]; first by rewrite e.
  have h1 := st r rr; have h2 := sat' r rr; move: h1; rewrite !dotP => h1.
  have [rd|rd] := leP 0 (dot r.1 d).
    by apply: le_trans h1; rewrite ler_add2r ler_wpmul2r.
  by rewrite -[leRHS]add0r ler_add// mulr_ge0_le0// ltW.
Qed.

Hypothesis dot_positive : forall d, d != 0 -> 0 < dot d d.

(* A hull is bounded: every line along a direction leaves it, through a plane that is not tight everywhere, if the planes describe it. *)
Lemma part_leaves (P : part) x d : described P -> d != 0 -> (forall p, p \in P.2 -> spanning P p -> dot p.1 d = 0) -> hull P.1 x ->
  exists t, [/\ 0 <= t, hull P.1 (t *: d + x) & exists p, [/\ p \in P.2, ~~ spanning P p, 0 < dot p.1 d & dot p.1 (t *: d + x) = p.2]].
Proof.
move=> [sat only] dn along hx; have sx : satisfies P.2 x by move=> p pp; apply: hull_half hx => v vv; exact: sat.
have eq_at p : p \in P.2 -> spanning P p -> dot p.1 x = p.2.
  move=> pp sp; apply/eqP; rewrite eq_le sx//=; apply: (hx (fun y => p.2 <= dot p.1 y)) => [t a b t0 t1 ha hb | v vv].
  - rewrite dot_between; have s0 : 0 <= 1 - t by rewrite subr_ge0.
    have h1 := ler_wpmul2l t0 ha; have h2 := ler_wpmul2l s0 hb; lra.
  - by have /allP/(_ v vv)/eqP-> := sp.
have stays t : satisfies P.2 (t *: d + x) -> hull P.1 (t *: d + x).
  by move=> st; apply: only => // p pp sp; rewrite dotP along// mulr0 add0r eq_at.
case: (ray_leaves d sx) => [none | [t [t0 st [p [pp pd pt]]]]]; last first.
  exists t; split=> //; first exact: stays.
  by exists p; split=> //; apply/negP => /(along p pp) e; move: pd; rewrite e ltxx.
(* Otherwise the whole ray would lie in the hull, where <d, .> is bounded. *)
have [m bound] : exists m, forall v, v \in P.1 -> dot d v <= m.
  elim: (P.1) => [|v vs [m IH]]; first by exists 0.
  exists (Num.max (dot d v) m) => w; rewrite in_cons le_maxr => /orP[/eqP->|/IH->]; by rewrite ?lexx ?orbT.
have dd := dot_positive dn; pose t := (`|m - dot d x| + 1) / dot d d.
have t0 : 0 <= t by rewrite divr_ge0 ?addr_ge0// ltW.
have : dot d (t *: d + x) <= m.
  apply: (hull_half bound); apply: stays => p pp; rewrite dotP -[leRHS]add0r ler_add ?sx// mulr_ge0_le0//; exact: none.
rewrite dotP mulfVK ?gt_eqF// => h; have h' := ler_norm (m - dot d x); exfalso; lra.
Qed.
End Hull.
