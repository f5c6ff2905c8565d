(* The rule kernel-box (docs/theory/finite.md: kernel box): a tree of cuts bounds the loss of a kernel on a polytope of outputs and pairs of inputs.
   The constructors of `shown` and `almost` are the nodes of the tree, with the conditions that the rule checks at each. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density kernel_point arithmetic polytope_parts polytope_cuts.

Section Tree.
Context (R : realType) (V : lmodType R) (dot : V -> V -> R).
Hypotheses (dotP : forall n a x y, dot n (a *: x + y) = a * dot n x + dot n y) (dot_positive : forall d, d != 0 -> 0 < dot d d).
Hypothesis dotN : forall n x, dot (- n) x = - dot n x.
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

(* The part below a plane; itself where all of it is. *)
Definition cut_off P n c : part := if all (fun v => dot n v <= c) P.1 then P else below dot P n c.

(* The planes describe the part, and its vertices are vertices. *)
Definition good P := described dot P /\ vertices dot P.

Lemma good_cut_off P n c : good P -> good (cut_off P n c).
Proof.
rewrite /cut_off; case: ifP => // _ [descr irr]; split; first exact: (below_described dotP dotN dot_positive).
exact: (below_vertices dotP).
Qed.

Lemma cut_off_spans P n c x : good P -> hull P.1 x -> dot n x <= c -> hull (cut_off P n c).1 x.
Proof. by rewrite /cut_off; case: ifP => // _ [descr irr] hx; exact: (below_spans dotP dotN dot_positive). Qed.

Lemma good_face P p : p \in P.2 -> good P -> good (face P p, P.2).
Proof.
move=> pp [[sat only] irr]; have sub v : v \in face P p -> v \in P.1 by rewrite mem_filter => /andP[].
split; last by move=> v w vv ww; apply: irr; exact: sub.
split=> [v /sub|x sx eq_at]; first exact: sat.
have px : dot p.1 x = p.2 by apply: eq_at => //; apply/allP => v; rewrite mem_filter => /andP[].
apply: (hull_face dotP) => // [v /sat|]; first exact.
apply: only => // q qq sq; apply: eq_at => //; apply/allP => v /sub vv; exact: (allP sq).
Qed.

Variable U : R.

Inductive shown : (V -> R) -> part -> Prop :=
(* Kinks whose side is certain on the part are replaced by that side. *)
| resolved l l' P : (forall x, hull P.1 x -> l x = l' x) -> shown l' P -> shown l P
| cut l P n c : shown l (cut_off P n c) -> shown l (cut_off P (- n) (- c)) -> shown l P
(* The loss never falls along d, which stays in the span of the part: each face through which lines along d leave is part of one that is shown. *)
| slide l P d G (whole : plane -> plane) : d != 0 -> (forall p, p \in P.2 -> spanning P p -> dot p.1 d = 0) ->
    slopes P l G -> (forall g, G g -> 0 <= dot g d) ->
    (forall p, left_through P d p -> whole p \in P.2 /\ {subset face P p <= face P (whole p)}) ->
    (forall p, left_through P d p -> shown l (face P (whole p), P.2)) -> shown l P
| corner l P v G : v \in P.1 -> slopes P l G -> (forall w g, w \in P.1 -> G g -> l v + dot g (w - v) <= U) -> shown l P
(* The loss is concave between c and the part, with slopes along D at c. *)
| tangent l P c D : (forall x t, hull P.1 x -> 0 <= t -> t <= 1 -> t * l x + (1 - t) * l c <= l (t *: (x - c) + c)) ->
    (forall x, hull P.1 x -> slope_at l c (x - c) (dot D (x - c))) ->
    (forall w, w \in P.1 -> l c + dot D (w - c) <= U) -> shown l P
(* The range over the part: of finitely many values, or by balls. *)
| range l P : (forall x, hull P.1 x -> l x <= U) -> shown l P.

Lemma shown_bound l P : shown l P -> good P -> forall x, hull P.1 x -> l x <= U.
Proof.
elim=> {l P} [l l' P E _ IH g x hx|l P n c _ IHl _ IHh g x hx|l P d G whole dn along sl up sub _ IH g x hx
  |l P v G vv sl top _ x hx|l P c D conc at_c top _ x hx|l P h _ //].
- by rewrite E//; exact: IH.
- case: (leP (dot n x) c) => [le|/ltW le]; [apply: IHl | apply: IHh]; try exact: good_cut_off; apply: cut_off_spans => //.
  by rewrite dotN ler_opp2.
- have [t [t0 hy [p [pp psp pd pt]]]] := part_leaves dotP dot_positive g.1 dn along hx.
  have [z Gz e] := sl _ _ hx hy; have rise : l x <= l (t *: d + x).
    by rewrite -subr_ge0 e addrK (dotZ dotP) mulr_ge0// up.
  apply: (le_trans rise); have le v : v \in P.1 -> dot p.1 v <= p.2 by move=> vv; have [/(_ v vv) sat _] := g.1; exact: sat.
  have hf := hull_face dotP le hy pt.
  have nonempty : face P p != [::] by apply/eqP => none; move: hf; rewrite -/(face P p) none; exact: hull_nil.
  have out : left_through P d p by [].
  have [wp sp] := sub p out.
  by apply: (IH p out); [exact: good_face | exact: (hull_sub sp hf)].
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
| almost_cut l P n c : almost l (cut_off P n c) -> almost l (cut_off P (- n) (- c)) -> almost l P.

Lemma almost_bound l P : almost l P -> good P -> forall t t', exists2 rs : seq R, {in rs, forall r, r \notin ends} &
  forall y, y \notin rs -> hull P.1 (point y t t') -> l (point y t t') <= U.
Proof.
elim=> {l P} [l P sh g t t'|l l' P E _ IH g t t'|l l' P E _ IH g t t'|l P n c _ IHl _ IHh g t t'].
- by exists [::] => // y _; exact: (shown_bound sh g).
- by have [rs no le] := IH g t t'; exists rs => // y yr hy; rewrite E//; exact: le.
- have [rs no le] := IH g t t'; have [r rn e] := E t t'; exists (r :: rs) => [q|y].
    by rewrite in_cons => /orP[/eqP->|/no].
  by rewrite in_cons negb_or => /andP[yr yrs] hy; rewrite e//; exact: le.
- have [rs no le] := IHl (good_cut_off n c g) t t'; have [qs no' le'] := IHh (good_cut_off (- n) (- c) g) t t'; exists (rs ++ qs) => [q|y].
    by rewrite mem_cat => /orP[/no|/no'].
  rewrite mem_cat negb_or => /andP[yr yq] hy.
  by case: (leP (dot n (point y t t')) c) => [h|/ltW h]; [apply: le | apply: le'] => //; apply: cut_off_spans => //; rewrite dotN ler_opp2.
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
