(* The rule kernel-box (docs/theory/finite.md: kernel box): a tree of cuts bounds the loss of a kernel on a polytope of outputs and pairs of inputs.
   The constructors of `shown` and `almost` are the nodes of the tree, with the conditions that the rule checks at each. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp.
From dpverify Require Import definitions density conditional arithmetic polytope_parts.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section Tree.
Context (R : realType) (V : lmodType R) (dot : V -> V -> R).
Hypotheses (dotP : forall n a x y, dot n (a *: x + y) = a * dot n x + dot n y) (dot_positive : forall d, d != 0 -> 0 < dot d d).
Local Notation hull := (@hull R V).
Local Notation part := (@part R V).
Local Notation plane := (@plane R V).
Local Notation tight := (@tight R V dot).
Local Notation spanning := (@spanning R V dot).
Implicit Types (l : V -> R) (P : part).

(* The mean-value form of an enclosure of slopes over a part: between two of its points the function changes by a slope of G, at kinks too. *)
Definition slopes P l (G : V -> Prop) := forall x y, hull P.1 x -> hull P.1 y -> exists2 g, G g & l y - l x = dot g (y - x).

(* The derivative of a function at c in the direction v, from within. *)
Definition slope_at l (c v : V) (D : R) :=
  forall s, 0 < s -> exists2 t0, 0 < t0 & forall t, 0 < t -> t <= 1 -> t <= t0 -> l (t *: v + c) - l c <= t * (D + s).

(* The faces of a part: the vertices at which a plane holds with equality. *)
Definition face P (p : plane) : seq V := [seq v <- P.1 | tight p v].

(* The planes through which lines along d leave the part. *)
Definition left_through P d (p : plane) := [/\ p \in P.2, ~~ spanning P p, 0 < dot p.1 d & face P p != [::]].

(* The parts on either side of a plane: their vertices span them. *)
Definition cuts P n c (low high : part) :=
  (forall x, hull P.1 x -> dot n x <= c -> hull low.1 x) /\ (forall x, hull P.1 x -> c <= dot n x -> hull high.1 x).

Variable U : R.

Inductive shown : (V -> R) -> part -> Prop :=
(* Kinks whose side is certain on the part are replaced by that side. *)
| resolved l l' P : (forall x, hull P.1 x -> l x = l' x) -> shown l' P -> shown l P
| cut l P n c low high : cuts P n c low high -> shown l low -> shown l high -> shown l P
(* The loss never falls along d, which stays in the span of the part: each face through which lines along d leave is part of one that is shown. *)
| slide l P d G (whole : plane -> seq V) : described dot P -> d != 0 -> (forall p, p \in P.2 -> spanning P p -> dot p.1 d = 0) ->
    slopes P l G -> (forall g, G g -> 0 <= dot g d) ->
    (forall p, left_through P d p -> {subset face P p <= whole p}) ->
    (forall p, left_through P d p -> shown l (whole p, P.2)) -> shown l P
| corner l P v G : v \in P.1 -> slopes P l G -> (forall w g, w \in P.1 -> G g -> l v + dot g (w - v) <= U) -> shown l P
(* The loss is concave between c and the part, with slopes along D at c. *)
| tangent l P c D : (forall x t, hull P.1 x -> 0 <= t -> t <= 1 -> t * l x + (1 - t) * l c <= l (t *: (x - c) + c)) ->
    (forall x, hull P.1 x -> slope_at l c (x - c) (dot D (x - c))) ->
    (forall w, w \in P.1 -> l c + dot D (w - c) <= U) -> shown l P
(* The range over the part: of finitely many values, or by balls. *)
| range l P : (forall x, hull P.1 x -> l x <= U) -> shown l P.

Lemma shown_bound l P : shown l P -> forall x, hull P.1 x -> l x <= U.
Proof.
elim=> {l P} [l l' P E _ IH x hx|l P n c low high [inlow inhigh] _ IHl _ IHh x hx|l P d G whole descr dn along sl up sub _ IH x hx
  |l P v G vv sl top x hx|l P c D conc at_c top x hx|l P //].
- by rewrite E//; exact: IH.
- by case: (leP (dot n x) c) => [le|/ltW le]; [apply: IHl; exact: inlow | apply: IHh; exact: inhigh].
- have [t [t0 hy [p [pp psp pd pt]]]] := part_leaves dotP dot_positive descr dn along hx.
  have [g Gg e] := sl _ _ hx hy; have rise : l x <= l (t *: d + x).
    by rewrite -subr_ge0 e addrK (dotZ dotP) mulr_ge0// up.
  apply: (le_trans rise); have le v : v \in P.1 -> dot p.1 v <= p.2 by move=> vv; have [/(_ v vv) sat _] := descr; exact: sat.
  have hf := hull_face dotP le hy pt.
  have nonempty : face P p != [::] by apply/eqP => none; move: hf; rewrite -/(face P p) none; exact: hull_nil.
  have out : left_through P d p by [].
  by apply: (IH p out); exact: (hull_sub (sub p out) hf).
- have [g Gg e] := sl _ _ (hull_in vv) hx; have -> : l x = l v + dot g (x - v) by rewrite -e addrC subrK.
  have h : dot g x <= U - l v + dot g v.
    by apply: (hull_half dotP _ hx) => w ww; have := top w g ww Gg; rewrite (dotB dotP); lra.
  by rewrite (dotB dotP); lra.
- have h : dot D x <= U - l c + dot D c.
    by apply: (hull_half dotP _ hx) => w ww; have := top w ww; rewrite (dotB dotP); lra.
  suff le : l x <= l c + dot D (x - c) by apply: (le_trans le); rewrite (dotB dotP); lra.
  rewrite leNgt; apply/negP => lt; pose s := (l x - l c - dot D (x - c)) / 2.
  have s0 : 0 < s by rewrite divr_gt0//; lra.
  have [t0 t00 near] := at_c x hx s s0; pose t := Num.min 1 t0.
  have tp : 0 < t by rewrite lt_minr ltr01.
  have t1 : t <= 1 by rewrite le_minl lexx.
  have tt : t <= t0 by rewrite le_minl lexx orbT.
  have h1 := near t tp t1 tt; have h2 := conc x t hx (ltW tp) t1.
  have : t * (l x - l c) <= t * (dot D (x - c) + s) by lra.
  by rewrite ler_pmul2l// /s; lra.
Qed.

(* -- Steps: but for single outputs -- *)

Variables (point : R -> R -> R -> V) (ends : seq R).

(* For fixed inputs two losses differ, on a part, at one output at most, and not at an end that stands for all outputs beyond it. *)
Definition but_for_one l l' P := forall t t', exists2 r, r \notin ends & forall y, y != r -> hull P.1 (point y t t') ->
  l (point y t t') = l' (point y t t').

Inductive almost : (V -> R) -> part -> Prop :=
| everywhere l P : shown l P -> almost l P
| almost_resolved l l' P : (forall x, hull P.1 x -> l x = l' x) -> almost l' P -> almost l P
(* A floor whose argument stays between two integers, and reaches the upper one at single outputs. *)
| step l l' P : but_for_one l l' P -> almost l' P -> almost l P
| almost_cut l P n c low high : cuts P n c low high -> almost l low -> almost l high -> almost l P.

Lemma almost_bound l P : almost l P -> forall t t', exists2 rs : seq R, {in rs, forall r, r \notin ends} &
  forall y, y \notin rs -> hull P.1 (point y t t') -> l (point y t t') <= U.
Proof.
elim=> {l P} [l P sh t t'|l l' P E _ IH t t'|l l' P E _ IH t t'|l P n c low high [inlow inhigh] _ IHl _ IHh t t'].
- by exists [::] => // y _; exact: shown_bound sh _.
- by have [rs no le] := IH t t'; exists rs => // y yr hy; rewrite E//; exact: le.
- have [rs no le] := IH t t'; have [r rn e] := E t t'; exists (r :: rs) => [q|y].
    by rewrite in_cons => /orP[/eqP->|/no].
  by rewrite in_cons negb_or => /andP[yr yrs] hy; rewrite e//; exact: le.
- have [rs no le] := IHl t t'; have [qs no' le'] := IHh t t'; exists (rs ++ qs) => [q|y].
    by rewrite mem_cat => /orP[/no|/no'].
  rewrite mem_cat negb_or => /andP[yr yq] hy.
  by case: (leP (dot n (point y t t')) c) => [h|/ltW h]; [apply: le => //; exact: inlow | apply: le' => //; exact: inhigh].
Qed.
End Tree.

Section Null.
Context (R : realType) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).

(* What holds at almost all outputs, and what else does, hold together at almost all. *)
Lemma ae_and (A B C : Y -> Prop) : (forall y, A y -> B y -> C y) -> {ae mu, forall y, A y} -> {ae mu, forall y, B y} -> {ae mu, forall y, C y}.
Proof.
move=> ABC [E [mE E0 sE]] [F [mF F0 sF]]; exists (E `|` F); split; first exact: measurableU.
- have mI : measurable (E `&` F) by exact: measurableI.
  have I0 : mu (E `&` F) = 0%E.
    by apply/eqP; rewrite eq_le measure_ge0 andbT -E0; apply: le_measure; rewrite ?inE//; exact: subIsetl.
  have -> : (mu (E `|` F) = mu E + mu F - mu (E `&` F))%E by apply: measureUfinr => //; rewrite F0 ltry.
  by rewrite E0 F0 I0 adde0 sube0.
- by move=> y /= nC; have [a|na] := EM (A y); [right; apply: sF => /= b; apply: nC; exact: ABC | left; exact: sE].
Qed.
End Null.

Section Rule.
Context (R : realType) (V : lmodType R) (dot : V -> V -> R) (point : R -> R -> R -> V).
Hypotheses (dotP : forall n a x y, dot n (a *: x + y) = a * dot n x + dot n y) (dot_positive : forall d, d != 0 -> 0 < dot d d).
Context (Theta : Type) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (M : mechanism R Theta Y) (N : relation Theta) (p : Theta -> Y -> R).
Hypothesis Mp : forall t, has_density mu (M t) (p t).
(* The coordinates of outputs and inputs: outputs beyond an infinite end's reach have the coordinate of the end. All but such ends are null. *)
Variables (out : Y -> R) (at_input : Theta -> R) (ends : seq R).
Hypothesis null : forall r, r \notin ends -> {ae mu, forall y, out y <> r}.

(* Rule: kernel-box, upper, in part: that the vertices which a cut leaves of a part, and those of the region, span it. *)
Theorem kernel_box (U : R) (l : V -> R) (region : part V) :
  almost dot U point ends l region ->
  (forall t t' y, both N t t' -> hull region.1 (point (out y) (at_input t) (at_input t'))) ->
  (forall t t' y, both N t t' -> 0 < p t y -> 0 < p t' y /\ ln (p t y) - ln (p t' y) = l (point (out y) (at_input t) (at_input t'))) ->
  pure_dp N M U.
Proof.
move=> tree inside loss; apply: (kernel_upper Mp) => t t' tt.
have [rs no le] := almost_bound dotP dot_positive tree (at_input t) (at_input t').
have : {ae mu, forall y, out y \notin rs}.
  elim: rs no {le} => [|r rs IH] no; first by exists set0; split=> // y /= /(_ isT).
  have h1 := null (no r (mem_head r rs)).
  have h2 : {ae mu, forall y, out y \notin rs} by apply: IH => q qq; apply: no; rewrite in_cons qq orbT.
  by apply: (ae_and _ h1 h2) => y /eqP yr yrs; rewrite in_cons negb_or yr.
move=> h; apply: (ae_and _ h h) => y yr _ py; have [qy e] := loss t t' y tt py; split=> //; rewrite e; apply: le => //; exact: (inside t t' y tt).
Qed.
End Rule.
