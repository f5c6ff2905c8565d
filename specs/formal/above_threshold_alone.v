(* Above threshold with log-concave noises, from above, where one answer moves alone (docs/theory/selection.md, log-concave threshold, 2): the answer
   moves, and either no noise of the threshold is shifted, or all other answers have to make up for it. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions density arithmetic independent log_concave shift_costs above_threshold above_threshold_upper.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section OneAlone.
Context (R : realType) (grid : R -> Prop).
Hypotheses (grid_whole : (forall e, grid e) \/ grid = @whole R).
Context (lt lq lf nu mu fresh : {measure set R -> \bar R}) (ft fq ff : R -> R) (tl tr ql qr fl fr : option R).
Hypotheses (threshold : log_noise grid lt nu ft tl tr) (query : log_noise grid lq mu fq ql qr) (again : log_noise grid lf fresh ff fl fr).

Let tl0 : nonneg tl. Proof. by have [_ _ [? ?] _ _] := threshold. Qed.
Let tr0 : nonneg tr. Proof. by have [_ _ [? ?] _ _] := threshold. Qed.
Let ql0 : nonneg ql. Proof. by have [_ _ [? ?] _ _] := query. Qed.
Let qr0 : nonneg qr. Proof. by have [_ _ [? ?] _ _] := query. Qed.
Let fl0 : nonneg fl. Proof. by have [_ _ [? ?] _ _] := again. Qed.
Let fr0 : nonneg fr. Proof. by have [_ _ [? ?] _ _] := again. Qed.


(* The mechanism: its outputs have the density of above_threshold.v; at most n answers are asked for, of which at most c are positive, and as many noises
   of the threshold are drawn. *)
Context (X : Type) dT (T : measurableType dT) (lamT : {measure set T -> \bar R}) (M : mechanism R X T).
Context (answers : X -> asked R) (shown : T -> seq (seq (told R))) (n c draws : nat).
Hypotheses (MD : forall x S, measurable S -> M x S = (\int[lamT]_(o in S) output_at nu mu fq ff answers shown x o)%E) (mD : forall x, measurable_fun setT (output_at nu mu fq ff answers shown x)).

Hypothesis limits : forall o, [/\ (size (shown o) <= draws)%N, (size (flatten (shown o)) <= n)%N & (count positive (flatten (shown o)) <= c)%N].

Context (fresh_told value_told : Prop).
Hypothesis reports : forall o a, List.In a (flatten (shown o)) -> reported fresh_told value_told a.
Section Alone.
Context (D : R).
Hypothesis D0 : 0 <= D.
Definition moved_alone : relation X := fun x x' => exists i, forall h, let d := answers x' h - answers x h in
  grid d /\ if size h == i then - D <= d <= D else d == 0.
Let ends_at i (h : seq (told R)) : R * R := if size h == i then (- D, D) else (0, 0).

(* The one that moves is of sort 0, other positives of sort 1, other negatives of sort 2. *)
Let alone_sort (x : told R * R * (R * R)) : nat := if x.1.2 == 0 then (if positive x.1.1 then 1%N else 2%N) else 0%N.
Lemma only_one (P : pred (told R * R * (R * R))) l y z : (count P l <= 1)%N -> List.In y l -> List.In z l -> P y -> P z -> y = z.
Proof.
have some t k : List.In t k -> P t -> (0 < count P k)%N.
  by elim: k => [//|a k IH] /= [->|/IH h] Pt; rewrite ?Pt// addn_gt0 h ?orbT.
elim: l => [//|a l IH] /= le [<-|yl] [<-|zl] Py Pz //.
- by move: le (some _ _ zl Pz); rewrite Py; case: count.
- by move: le (some _ _ yl Py); rewrite Pz; case: count.
- by apply: IH => //; apply: leq_trans le; rewrite leq_addl.
Qed.

Let of_alone (i : nat) (l : seq (told R * R * (R * R))) := count (fun x => alone_sort x == i) l.

Lemma alone_charged s (u : nat -> R) (l : seq (told R * R * (R * R))) : (forall x, List.In x l -> charged s (terms ql qr fl fr x.1.1 x.1.2) (u (alone_sort x))) ->
  charged s (all_terms (terms ql qr fl fr) l) ((of_alone 0 l)%:R * u 0%N + (of_alone 1 l)%:R * u 1%N + (of_alone 2 l)%:R * u 2%N).
Proof.
elim: l => [|x l IH] H; first by rewrite /= !mul0r !addr0.
rewrite /all_terms/=; apply/charged_cat; exists (u (alone_sort x)); split; first by apply: H; left.
have := IH (fun y yl => H y (or_intror yl)); congr (charged _ _ _).
rewrite /of_alone /= !natrD /alone_sort; case: (x.1.2 == 0); case: (positive x.1.1) => /=; lra.
Qed.

Lemma alone_kept (an an' : asked R) i h r l : at_ends l (moved an an' (ends_at i) h r) ->
  [/\ (of_alone 0 l + of_alone 1 l + of_alone 2 l = size r)%N, (of_alone 1 l <= count positive r)%N, (of_alone 0 l <= (size h <= i))%N &
    forall x, List.In x l -> List.In x.1.1 r /\ [\/ x.1.2 = 0, x.1.2 = D | x.1.2 = - D]].
Proof.
elim: r h l => [|a r IH] h [|x l] //= [[/= xa xe xd] el].
have [h1 h2 h3 h4] := IH _ _ el; rewrite size_rcons in h3.
have oE j : of_alone j (x :: l) = ((alone_sort x == j) + of_alone j l)%N by [].
split; rewrite ?oE.
- by rewrite -h1 /alone_sort; case: (x.1.2 == 0); case: (positive x.1.1); rewrite /= ?add0n ?add1n ?addSn ?addnS.
- by apply: leq_add => //; rewrite /alone_sort xa; case: (x.1.2 == 0); case: (positive a).
- have [xz|xn] := eqVneq x.1.2 0.
    by rewrite /alone_sort xz eqxx (_ : (_ == 0%N) = false) ?add0n; [apply: leq_trans h3 _; case: ltnP => [/ltnW ->|] | case: (positive _)].
  have hi : size h == i.
    by apply: contraNT xn => ne; move: xd; rewrite /ends_at (negbTE ne) /= => -[] ->.
  by move: h3; rewrite (eqP hi) ltnn leqnn leqn0 => /eqP ->; rewrite addn0 leq_b1.
- move=> y [<-|/h4[? ?]]; last by split=> //; right.
  split; first by left.
  by move: xd; rewrite /ends_at; case: ifP => _ /= [] ->; [apply: Or33 | apply: Or32 | apply: Or31 | apply: Or31].
Qed.

(* What the moved answer loses at most, up or down: with no noise of the threshold moved, or with all others that have to make up for it. *)
Theorem alone_upper v : (forall o, exists r, shown o = [:: r]) -> ~ value_told -> grid D -> 0 <= v ->
  pays ql D v \/ (~ value_told /\ exists a1 a2, [/\ pays tr D a1, pays qr ((minn c n.-1)%:R * D) a2 & a1 + a2 <= v]) ->
  (exists g, [/\ 0 <= g, fresh_told -> pays fr D g &
    (exists2 a, pays qr D a & a + g <= v) \/ (~ value_told /\ exists a1 a2, [/\ pays tl D a1, pays ql (n.-1%:R * D) a2 & a1 + a2 + g <= v])]) ->
  (fresh_told -> pays fl D v) -> dp_in_order moved_alone M v 0.
Proof.
move=> once none gD v0 goes_up goes_down fresh_up x x' [i alone].
have on_grid h : grid (answers x' h - answers x h) by have [] := alone h.
apply: (outputs_close grid_whole threshold query again MD mD (x := x) (x' := x') (ends := ends_at i) on_grid) => o; have [r rE] := once o.
have [_ l2 l3] := limits o; have rep a := reports (o := o) (a := a); rewrite rE /= cats0 in l2 l3 rep.
suff [s gs [ok cs]] : exists2 s, grid s & all_may_shift r s /\ charged s (run_costs tl tr ql qr fl fr (answers x) (answers x') (ends_at i) [::] r) v.
  by rewrite rE /=; exists s, v; rewrite subrr.
have may s : all_may_shift r s by move=> a /rep; case: a => //= z /none.
suff [s cs] : exists s, charged s (run_costs tl tr ql qr fl fr (answers x) (answers x') (ends_at i) [::] r) v.
  case: grid_whole => [all_|gE]; first by exists s.
  rewrite gE; have [s' ws cs'] : exists2 s', whole s' & charged s' (run_costs tl tr ql qr fl fr (answers x) (answers x') (ends_at i) [::] r) v.
    apply: charged_whole cs; first by rewrite /run_costs/= tr0 tl0; exact: (terms_nonneg query again).
    move=> k; rewrite /run_costs !inE => /orP[/eqP ->|/orP[/eqP ->|]].
    + by split=> /=; [right; left | exists 0].
    + by split=> /=; [right; right | exists 0].
    + by apply: (terms_whole (e := ends_at i)) => g; rewrite -gE.
  by exists s'.
apply: (worst_at_ends (terms_mean ql qr fl fr)).
  elim: (r) ([::]) => [//|a t IH] h /=; split=> //; have [_] := alone h; rewrite /ends_at; case: ifP => _ //= /eqP ->.
  by rewrite lexx.
move=> l el; have [h1 h2 h3 h4] := alone_kept el.
have zero b z : nonneg b -> z <= 0 -> pays b z 0 by exact: pays_nothing.
have unmoved a d : d = 0 -> charged 0 (terms ql qr fl fr a d) 0.
  move=> ->; case: a => [||g|w|z] /=; do ?[by rewrite ?subrr]; exists 0; (split; [apply: zero => //; lra | rewrite ?subrr //]);
  exists 0; (split; [apply: zero => //; lra | rewrite ?subrr //]); exists 0; (split; [apply: zero => //; lra | rewrite ?subrr //]).
have go s c1 c2 u0 u1 u2 : pays tr s c1 -> pays tl (- s) c2 -> (forall y, List.In y l -> alone_sort y = 0%N -> charged s (terms ql qr fl fr y.1.1 y.1.2) u0) ->
    (forall a, positive a -> charged s (terms ql qr fl fr a 0) u1) -> (forall a, ~~ positive a -> charged s (terms ql qr fl fr a 0) u2) ->
    c1 + c2 + ((of_alone 0 l)%:R * u0 + (of_alone 1 l)%:R * u1 + (of_alone 2 l)%:R * u2) <= v ->
    exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
  move=> p1 p2 q0 q1 q2 le; exists s => /=.
  exists c1; split; first by rewrite mul1r addr0.
  exists c2; split; first by rewrite mulN1r addr0.
  pose u (k : nat) : R := match k with 0%N => u0 | 1%N => u1 | _ => u2 end.
  apply: (charged_more (V := (of_alone 0 l)%:R * u 0%N + (of_alone 1 l)%:R * u 1%N + (of_alone 2 l)%:R * u 2%N)); first by rewrite /u; lra.
  apply: alone_charged => y yl; case E : (alone_sort y) => [|[|k]] /=; first exact: q0.
  - move: E; rewrite /alone_sort; case: eqP => // ->; case: ifP => // py _; exact: q1.
  - move: E; rewrite /alone_sort; case: eqP => // ->; case: ifP => // /negbT py _; exact: q2.
have still u0 : 0 <= u0 -> u0 <= v -> (forall y, List.In y l -> alone_sort y = 0%N -> charged 0 (terms ql qr fl fr y.1.1 y.1.2) u0) ->
    exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
  move=> u00 u0v q0; apply: (go 0 0 0 u0 0 0) => //; do ?[by apply: zero => //; lra]; do ?[by move=> a _; exact: unmoved].
  have : (of_alone 0 l)%:R * u0 <= 1 * u0 by rewrite ler_wpmul2r// lern1 (leq_trans h3)// leq_b1.
  lra.
have [m|none_moved] := pselect (exists2 m, List.In m l & alone_sort m = 0%N); last first.
  by apply: (still 0) => // y yl ys; case: none_moved; exists y.
admit.
Admitted.
End Alone.
End OneAlone.
