(* The region of a kernel's loss (docs/theory/finite.md: kernel box): a box of outputs and pairs of inputs, of which the planes cut off pairs that are
   further apart than the sensitivity; and the rule kernel-box on it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density kernel_point arithmetic polytope_parts polytope_cuts kernel_tree.

Section Space.
Context (R : realType).
Definition at3 (y t t' : R) : (R^o * R^o * R^o)%type := (y, t, t').
Definition dot (n x : (R^o * R^o * R^o)%type) : R := n.1.1 * x.1.1 + n.1.2 * x.1.2 + n.2 * x.2.

Lemma dotP n a x y : dot n (a *: x + y) = a * dot n x + dot n y.
Proof. by rewrite /dot /= /GRing.scale /=; move: n x y => [[n1 n2] n3] [[x1 x2] x3] [[y1 y2] y3] /=; lra. Qed.

Lemma dotN n x : dot (- n) x = - dot n x.
Proof. by move: n x => [[n1 n2] n3] [[x1 x2] x3]; rewrite /dot /=; lra. Qed.

Lemma dot_positive d : d != 0 -> 0 < dot d d.
Proof.
move: d => [[a b] c] dn; have h x : 0 <= x * x :> R by rewrite -expr2 sqr_ge0.
have ha := h a; have hb := h b; have hc := h c; rewrite lt_neqAle eq_sym /dot /= !addr_ge0// andbT.
apply: contra dn; rewrite paddr_eq0 ?addr_ge0// paddr_eq0// !mulf_eq0 !orbb => /andP[/andP[/eqP-> /eqP->] /eqP->]; exact: eqxx.
Qed.

(* -- The box -- *)

Variables (low high in_low in_high : R).
Hypotheses (outputs : low < high) (inputs : in_low < in_high).

Definition unit1 := at3 1 0 0.
Definition unit2 := at3 0 1 0.
Definition unit3 := at3 0 0 1.

Definition under1 := (- unit1, - low).
Definition under2 := (- unit2, - in_low).
Definition under3 := (- unit3, - in_low).

Definition box : part [lmodType R of (R^o * R^o * R^o)%type] :=
  ([seq (yt, t') | yt <- [seq (y, t) | y <- [:: low; high], t <- [:: in_low; in_high]], t' <- [:: in_low; in_high]],
   [:: (unit1, high); under1; (unit2, in_high); under2; (unit3, in_high); under3]).

Lemma boxP v : v \in box.1 <-> [/\ v.1.1 \in [:: low; high], v.1.2 \in [:: in_low; in_high] & v.2 \in [:: in_low; in_high]].
Proof.
move: v => [[y t] t']; split=> [|[/= hy ht ht']].
  by rewrite /box /= !inE; repeat case/orP; move/eqP => [-> -> ->]; split; rewrite /= ?eqxx ?orbT.
by move: hy ht ht'; rewrite /box /= !inE => /orP[]/eqP-> /orP[]/eqP-> /orP[]/eqP->; rewrite !eqxx ?orbT.
Qed.

Lemma dot1 v : dot unit1 v = v.1.1. Proof. by rewrite /dot /= mul1r !mul0r !addr0. Qed.
Lemma dot2 v : dot unit2 v = v.1.2. Proof. by rewrite /dot /= mul1r !mul0r add0r addr0. Qed.
Lemma dot3 v : dot unit3 v = v.2. Proof. by rewrite /dot /= mul1r !mul0r !add0r. Qed.
Definition dots := (dotN, dot1, dot2, dot3).

Lemma ends_between (a b x : R) : a < b -> x \in [:: a; b] -> a <= x <= b.
Proof. by move=> ab; rewrite !inE => /orP[] /eqP->; rewrite lexx ltW. Qed.

Lemma on_segment (a b x : R) : a < b -> a <= x <= b -> exists s, [/\ 0 <= s, s <= 1 & x = s * b + (1 - s) * a].
Proof.
move=> ab /andP[ax xb]; have d : 0 < b - a by rewrite subr_gt0.
exists ((x - a) / (b - a)); split; first by rewrite divr_ge0 ?subr_ge0// ltW.
  by rewrite ler_pdivr_mulr// mul1r ler_add2r.
have e : (x - a) / (b - a) * (b - a) = x - a by rewrite divfK// gt_eqF.
by move: e; set s := (_ / _) => e; lra.
Qed.

Lemma betweenE q (a b c a' b' c' : R) :
  between q (at3 a b c) (at3 a' b' c') = at3 (q * a + (1 - q) * a') (q * b + (1 - q) * b') (q * c + (1 - q) * c').
Proof. by []. Qed.

Lemma box_spans y t t' : low <= y <= high -> in_low <= t <= in_high -> in_low <= t' <= in_high -> hull box.1 (at3 y t t').
Proof.
move=> hy ht ht'; have [r [r0 r1 ->]] := on_segment outputs hy; have [s [s0 s1 ->]] := on_segment inputs ht.
have [q [q0 q1 ->]] := on_segment inputs ht'; set T := q * _ + _; set S := s * _ + _.
have corner a b c : a \in [:: low; high] -> b \in [:: in_low; in_high] -> c \in [:: in_low; in_high] -> hull box.1 (at3 a b c).
  by move=> ha hb hc; apply: hull_in; apply/boxP.
have same (z x : R) : z * x + (1 - z) * x = x by lra.
have edge a b : a \in [:: low; high] -> b \in [:: in_low; in_high] -> hull box.1 (at3 a b T).
  move=> ha hb; rewrite (_ : at3 a b T = between q (at3 a b in_high) (at3 a b in_low)).
    by apply: hull_convex => //; apply: corner; rewrite ?ha ?hb// !inE eqxx ?orbT.
  by rewrite betweenE !same.
have side a : a \in [:: low; high] -> hull box.1 (at3 a S T).
  move=> ha; rewrite (_ : at3 a S T = between s (at3 a in_high T) (at3 a in_low T)).
    by apply: hull_convex => //; apply: edge; rewrite ?ha// !inE eqxx ?orbT.
  by rewrite betweenE !same.
rewrite (_ : at3 _ S T = between r (at3 high S T) (at3 low S T)).
  by apply: hull_convex => //; apply: side; rewrite !inE eqxx ?orbT.
by rewrite betweenE !same.
Qed.

Lemma good_box : good dot box.
Proof.
split; first split=> [v /boxP[h1 h2 h3] p|[[y t] t'] sx _].
- have /andP[l1 u1] := ends_between outputs h1; have /andP[l2 u2] := ends_between inputs h2; have /andP[l3 u3] := ends_between inputs h3.
  by rewrite !inE => /or4P[/eqP->|/eqP->|/eqP->|/or3P[/eqP->|/eqP->|/eqP->]] /=; rewrite !dots ?ler_opp2.
- have h p : p \in box.2 -> dot p.1 (y, t, t') <= p.2 by exact: sx.
  have := h (unit1, high); have := h under1; have := h (unit2, in_high); have := h under2.
  have := h (unit3, in_high); have := h under3; rewrite !inE !eqxx !orbT /= !dots !ler_opp2 /=.
  move=> /(_ isT) a /(_ isT) b /(_ isT) a' /(_ isT) b' /(_ isT) a'' /(_ isT) b''.
  by apply: box_spans; apply/andP; split.
- move=> v w /boxP[h1 h2 h3] _ f.
  have g q : q \in box.2 -> polytope_parts.tight dot q v -> polytope_parts.tight dot q w := f q.
  have c1 := g (unit1, high); have d1 := g under1; have c2 := g (unit2, in_high); have d2 := g under2.
  have c3 := g (unit3, in_high); have d3 := g under3.
  move: c1 d1 c2 d2 c3 d3; rewrite /polytope_parts.tight !inE !eqxx !orbT /= !dots !eqr_opp /= => c1 d1 c2 d2 c3 d3.
  have pick (a b x z : R) : x \in [:: a; b] -> (x == b -> z == b) -> (x == a -> z == a) -> z = x.
    by rewrite !inE => /orP[] /eqP-> cb ca; apply/eqP; [exact: ca | exact: cb].
  have e1 := pick _ _ _ _ h1 (c1 isT) (d1 isT); have e2 := pick _ _ _ _ h2 (c2 isT) (d2 isT); have e3 := pick _ _ _ _ h3 (c3 isT) (d3 isT).
  by clear -e1 e2 e3; move: v w e1 e2 e3 => [[v1 v2] v3] [[w1 w2] w3] /= -> -> ->.
Qed.

(* Without a sensitivity the whole box; else the planes cut off pairs of inputs that are further apart. *)
Definition apart := at3 0 1 (- 1).
Definition region (most : option R) := if most is Some s then cut_off dot (cut_off dot box apart s) (- apart) s else box.
Definition within (most : option R) (t t' : R) := if most is Some s then `|t - t'| <= s else true.

Lemma good_region most : good dot (region most).
Proof.
have h P n c : good dot P -> good dot (cut_off dot P n c) by apply: good_cut_off; [exact: dotP | exact: dot_positive | exact: dotN].
by case: most => [s|]; rewrite /region; [apply: (h); apply: (h) |]; exact: good_box.
Qed.

Lemma region_spans most y t t' : low <= y <= high -> in_low <= t <= in_high -> in_low <= t' <= in_high -> within most t t' ->
  hull (region most).1 (at3 y t t').
Proof.
move=> hy ht ht'; have hx := box_spans hy ht ht'; case: most => [s|]//=; rewrite ler_norml => /andP[l u].
have e : dot apart (at3 y t t') = t - t' by rewrite /dot /=; lra.
have sp P n c x : good dot P -> hull P.1 x -> dot n x <= c -> hull (cut_off dot P n c).1 x.
  by apply: cut_off_spans; [exact: dotP | exact: dot_positive | exact: dotN].
have gb : good dot (cut_off dot box apart s).
  by apply: good_cut_off; [exact: dotP | exact: dot_positive | exact: dotN | exact: good_box].
apply: (sp) => //; last by rewrite dotN e; lra.
by apply: (sp) => //; [exact: good_box | rewrite e].
Qed.
End Space.

Section Rule.
Context (R : realType) (low high in_low in_high : R).
Hypotheses (outputs : low < high) (inputs : in_low < in_high).
Context (Theta : Type) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (M : mechanism R Theta Y) (N : relation Theta) (p : Theta -> Y -> R).
Hypothesis Mp : forall t, has_density mu (M t) (p t).
(* The coordinates of outputs and inputs: outputs beyond the reach of an infinite end have the coordinate of the end. All other single outputs
   are null. *)
Variables (out : Y -> R) (at_input : Theta -> R) (ends : seq R) (most : option R).
Hypotheses (null : forall r, r \notin ends -> {ae mu, forall y, out y <> r}) (out_in : forall y, low <= out y <= high).
Hypotheses (input_in : forall t, in_low <= at_input t <= in_high) (near : forall t t', both N t t' -> within most (at_input t) (at_input t')).

(* The loss is l in these coordinates, and finite; the tree shows that it is at most U. *)
(* Rule: kernel-box, upper. *)
Theorem kernel_box (U : R) (l : (R^o * R^o * R^o)%type -> R) :
  (forall t t' y, both N t t' -> 0 < p t y -> 0 < p t' y /\ ln (p t y) - ln (p t' y) = l (at3 (out y) (at_input t) (at_input t'))) ->
  almost (@dot R) U (@at3 R) ends l (region low high in_low in_high most) -> pure_dp N M U.
Proof.
move=> loss tree; apply: (kernel_upper Mp) => t t' tt.
have [rs no le] := almost_bound (@dotP R) (@dot_positive R) (@dotN R) tree (good_region outputs inputs most) (at_input t) (at_input t').
have h : {ae mu, forall y, out y \notin rs}.
  elim: rs no {le} => [|r rs IH] no; first by exists set0; split=> // y /= /(_ isT).
  have h1 := null (no r (mem_head r rs)).
  have h2 : {ae mu, forall y, out y \notin rs} by apply: IH => q qq; apply: no; rewrite in_cons qq orbT.
  by apply: (ae_and _ h1 h2) => y /eqP yr yrs; rewrite in_cons negb_or yr.
apply: (ae_and _ h h) => y yr _ py; have [qy e] := loss t t' y tt py; split=> //; rewrite e; apply: le => //.
by apply: region_spans => //; exact: near.
Qed.
End Rule.
