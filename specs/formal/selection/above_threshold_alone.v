(* Above threshold with log-concave noises, from above, where one answer moves alone (docs/theory/selection.md, log-concave threshold, 2): the answer
   moves, and either no noise of the threshold is shifted, or all other answers have to make up for it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic independent log_concave shift_costs grids above_threshold above_threshold_upper.

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
Hypothesis MD : forall x S, measurable S -> M x S = (\int[lamT]_(o in S) output_at nu mu fq ff answers shown x o)%E.
Hypothesis mD : forall x, measurable_fun setT (output_at nu mu fq ff answers shown x).

Hypothesis limits : forall o, [/\ (size (shown o) <= draws)%N, (size (flatten (shown o)) <= n)%N & (count (@positive R) (flatten (shown o)) <= c)%N].

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

Lemma alone_met x l : List.In x l -> (0 < of_alone (alone_sort x) l)%N.
Proof. by elim: l => [//|y l IH] /= [->|/IH h]; rewrite /of_alone/= ?eqxx// addn_gt0 -/(of_alone _ _) h orbT. Qed.

Lemma alone_charged s (u : nat -> R) (l : seq (told R * R * (R * R))) :
  (forall x, List.In x l -> charged s (terms ql qr fl fr x.1.1 x.1.2) (u (alone_sort x))) ->
  charged s (all_terms (terms ql qr fl fr) l) ((of_alone 0 l)%:R * u 0%N + (of_alone 1 l)%:R * u 1%N + (of_alone 2 l)%:R * u 2%N).
Proof.
elim: l => [|x l IH] H; first by rewrite /= !mul0r !addr0.
rewrite /all_terms/=; apply/charged_cat; exists (u (alone_sort x)); split; first by apply: H; left.
have := IH (fun y yl => H y (or_intror yl)); congr (charged _ _ _).
rewrite /of_alone /= !natrD /alone_sort; case: (x.1.2 == 0); case: (positive x.1.1) => /=; lra.
Qed.

Lemma alone_kept (an an' : asked R) i h r l : at_ends l (moved an an' (ends_at i) h r) ->
  [/\ (of_alone 0 l + of_alone 1 l + of_alone 2 l = size r)%N, (of_alone 1 l <= count (@positive R) r)%N, (of_alone 0 l <= (size h <= i))%N &
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
  pays ql D v \/ (exists a1 a2, [/\ pays tr D a1, pays qr ((minn c n.-1)%:R * D) a2 & a1 + a2 <= v]) ->
  (exists g, [/\ 0 <= g, fresh_told -> pays fr D g &
    (exists2 a, pays qr D a & a + g <= v) \/ (exists a1 a2, [/\ pays tl D a1, pays ql (n.-1%:R * D) a2 & a1 + a2 + g <= v])]) ->
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
    ((0 < of_alone 1 l)%N -> forall a, positive a -> charged s (terms ql qr fl fr a 0) u1) ->
    ((0 < of_alone 2 l)%N -> forall a, ~~ positive a -> charged s (terms ql qr fl fr a 0) u2) ->
    c1 + c2 + ((of_alone 0 l)%:R * u0 + (of_alone 1 l)%:R * u1 + (of_alone 2 l)%:R * u2) <= v ->
    exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
  move=> p1 p2 q0 q1 q2 le; exists s => /=.
  exists c1; split; first by rewrite mul1r addr0.
  exists c2; split; first by rewrite mulN1r addr0.
  pose u (k : nat) : R := match k with 0%N => u0 | 1%N => u1 | _ => u2 end.
  apply: (charged_more (V := (of_alone 0 l)%:R * u 0%N + (of_alone 1 l)%:R * u 1%N + (of_alone 2 l)%:R * u 2%N)); first by rewrite /u; lra.
  apply: alone_charged => y yl; have met := alone_met yl; case E : (alone_sort y) met => [|[|k]] /= met; first exact: q0.
  - move: E; rewrite /alone_sort; case: eqP => // ->; case: ifP => // py _; exact: q1.
  - move: E; rewrite /alone_sort; case: eqP => // ->; case: ifP => // /negbT py [k0]; rewrite -k0 in met; exact: q2.
have still u0 : 0 <= u0 -> u0 <= v -> (forall y, List.In y l -> alone_sort y = 0%N -> charged 0 (terms ql qr fl fr y.1.1 y.1.2) u0) ->
    exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
  move=> u00 u0v q0; apply: (go 0 0 0 u0 0 0) => //; do ?[by apply: zero => //; lra]; do ?[by move=> _ a _; exact: unmoved].
  have : (of_alone 0 l)%:R * u0 <= 1 * u0 by rewrite ler_wpmul2r// lern1 (leq_trans h3)// leq_b1.
  lra.
have [[m ml ms]|none_moved] := pselect (exists2 m, List.In m l & alone_sort m = 0%N); last first.
  by apply: (still 0) => // y yl ys; case: none_moved; exists y.
have c0 : of_alone 0 l = 1%N.
  by apply/eqP; rewrite eqn_leq (leq_trans h3) ?leq_b1//=; have := alone_met ml; rewrite ms.
have only y : List.In y l -> alone_sort y = 0%N -> y = m.
  by move=> yl ys; apply: (only_one (P := fun z => alone_sort z == 0%N) _ yl ml); rewrite ?ys ?ms// -/(of_alone 0 l) c0.
have others : (of_alone 1 l + of_alone 2 l <= n.-1)%N.
  by move: h1 l2; rewrite c0 -addnA add1n => <-; case: (n) => // k; rewrite ltnS.
have most : (of_alone 1 l <= minn c n.-1)%N.
  by rewrite leq_min (leq_trans h2 l3) (leq_trans _ others)// leq_addr.
have [mr md] := h4 m ml; have rm := rep _ mr.
have mn : m.1.2 != 0 by move: ms; rewrite /alone_sort; case: eqP => //; case: ifP.
case: md => [/eqP|dE|dE]; first by rewrite (negbTE mn).
- have fresh_or w : m.1.1 = YesFresh w -> exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
    move=> mE; rewrite mE in rm; apply: (still v) => // y yl /(only y yl) ->; rewrite mE dE /=.
    exists 0; split; [apply: zero => //; lra | exists 0; split; [apply: zero => //; lra | exists v; split; last by lra]].
    by rewrite mul0r add0r; exact: fresh_up.
  have up_or : (m.1.1 = No \/ exists g, m.1.1 = YesBy g) -> exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
    move=> mE; case: goes_up => [pq|[a1 [a2 [p1 p2 le]]]].
      apply: (still v) => // y yl /(only y yl) ->; rewrite dE; case: mE => [->|[g ->]] /=.
      - by exists v; split; [rewrite mulr0 add0r | rewrite subrr].
      - by exists 0; split; [apply: zero => //; lra | exists v; split; [rewrite mulr0 add0r | lra]].
    have [u [u00 ule pu]] := pays_each qr0 D0 p2.
    have less : (of_alone 1 l)%:R * u <= (minn c n.-1)%:R * u by rewrite ler_wpmul2r// ler_nat.
    apply: (go D a1 0 0 u 0) => //; last by rewrite c0; lra.
    - by apply: zero => //; lra.
    - move=> y yl /(only y yl) ->; rewrite dE; case: mE => [->|[g ->]] /=.
      + by exists 0; split; [apply: zero => //; lra | lra].
      + by exists 0; split; [apply: zero => //; lra | exists 0; split; [apply: zero => //; lra | lra]].
    - move=> some a pa; have pD := pu (leq_trans some most).
      have q z : z <= D -> pays qr z u by move=> zD; apply: pays_less pD.
      case: a pa => [||g|w|z] //= _.
      + by exists u; split; [apply: q; lra | lra].
      + by exists u; split; [apply: q; lra | exists 0; split; [apply: zero => //; lra | lra]].
      + by exists u; split; [apply: q; lra | do 2 (exists 0; split; first by apply: zero => //; lra); lra].
      + by do 2 (exists 0; split; first by apply: zero => //; lra); lra.
    - by move=> _ [||g|w|z] //= _; exists 0; split; [apply: zero => //; lra | lra].
  case mE : m.1.1 => [||g|w|z].
  + by apply: up_or; left.
  + apply: (still 0) => // y yl /(only y yl) ->; rewrite mE dE /=.
    by exists 0; split; [apply: zero => //; lra | lra].
  + by apply: up_or; right; exists g.
  + exact: fresh_or mE.
  + by rewrite mE in rm.
- have [negative|pm] := boolP (~~ positive m.1.1).
    apply: (still 0) => // y yl /(only y yl) ->; rewrite dE; case: (m.1.1) negative => [||g|w|z] //= _.
    by exists 0; split; [apply: zero => //; lra | lra].
  rewrite negbK in pm; have [g [g0 gp ways]] := goes_down.
  case: ways => [[a pa le]|[a1 [a2 [p1 p2 le]]]].
    have [a0 _] := pa; apply: (still (a + g)) => //; first by rewrite addr_ge0.
    move=> y yl /(only y yl) ->; rewrite dE.
    have q z : z <= D -> pays qr z a by move=> zD; apply: pays_less pa.
    case: (m.1.1) pm rm => [||k|w|z] //= _ rm.
    - by exists a; split; [apply: q; lra | lra].
    - by exists a; split; [apply: q; lra | exists 0; split; [apply: zero => //; lra | lra]].
    - exists a; split; [apply: q; lra | exists g; split; [| exists 0; split; [apply: zero => //; lra | lra]]].
      by apply: pays_less (gp rm) => //; lra.
  have [u [u00 ule pu]] := pays_each ql0 D0 p2.
  have less : ((of_alone 1 l + of_alone 2 l)%N)%:R * u <= n.-1%:R * u by rewrite ler_wpmul2r// ler_nat.
  rewrite natrD in less.
  have pD j : (0 < of_alone j l)%N -> (j == 1%N) || (j == 2%N) -> pays ql D u.
    move=> pj jj; apply: pu; apply: leq_trans others; apply: leq_trans pj _.
    by case/orP: jj => /eqP ->; [exact: leq_addr | exact: leq_addl].
  apply: (go (- D) 0 a1 g u u) => //; last by rewrite c0; lra.
  + by apply: zero => //; lra.
  + by rewrite opprK.
  + move=> y yl /(only y yl) ->; rewrite dE; case: (m.1.1) pm rm => [||k|w|z] //= _ rm.
    * by exists 0; split; [apply: zero => //; lra | lra].
    * by do 2 (exists 0; split; first by apply: zero => //; lra); lra.
    * exists 0; split; [apply: zero => //; lra | exists g; split; [| exists 0; split; [apply: zero => //; lra | lra]]].
      by apply: pays_less (gp rm) => //; lra.
  + move=> /pD/(_ isT) pl [||k|w|z] //= _.
    * by exists 0; split; [apply: zero => //; lra | lra].
    * by exists 0; split; [apply: zero => //; lra | exists u; split; [apply: pays_less pl => //; lra | lra]].
    * by do 3 (exists 0; split; first by apply: zero => //; lra); lra.
    * by do 2 (exists 0; split; first by apply: zero => //; lra); lra.
  + move=> /pD/(_ isT) pl [||k|w|z] //= _.
    by exists u; split; [apply: pays_less pl => //; lra | lra].
Qed.

(* Where the noisy answers are told the noise of the threshold stays. *)
Theorem alone_value v : (forall o, exists r, shown o = [:: r]) -> ~ fresh_told -> pays ql D v -> pays qr D v -> dp_in_order moved_alone M v 0.
Proof.
move=> once nf pl pr x x' [i alone]; have [v0 _] := pl.
have on_grid h : grid (answers x' h - answers x h) by have [] := alone h.
have zero b z : nonneg b -> z <= 0 -> pays b z 0 by exact: pays_nothing.
apply: (outputs_close grid_whole threshold query again MD mD (x := x) (x' := x') (ends := ends_at i) on_grid) => o; have [r rE] := once o.
have rep a := reports (o := o) (a := a); rewrite rE /= cats0 in rep.
have free (a : told R) : reported fresh_told value_told a -> forall d, (d = 0 -> charged 0 (terms ql qr fl fr a d) 0) /\
    (- D <= d <= D -> charged 0 (terms ql qr fl fr a d) v).
  move=> ra d; split=> [->|dd]; last first.
    apply: (between_ends dd); case: a ra => [||g|w|z] //= _; do ?[by case: nf];
    do ?[by exists v; split; [apply: pays_less pl => //; lra | lra] | by exists v; split; [apply: pays_less pr => //; lra | lra] |
      by exists 0; split; [apply: zero => //; lra | lra] |
      by exists v; split; [apply: pays_less pr => //; lra | exists 0; split; [apply: zero => //; lra | lra]] |
      by exists 0; split; [apply: zero => //; lra | exists v; split; [apply: pays_less pl => //; lra | lra]]].
  case: a ra => [||g|w|z] //= _; do ?[by case: nf]; do ?[by exists 0; split; [apply: zero => //; lra | lra]];
  by exists 0; split; [apply: zero => //; lra | exists 0; split; [apply: zero => //; lra | lra]].
rewrite rE /=; exists 0, v; split; [exact: (whole0 grid_whole) | by move=> a _; case: a => /= | | by rewrite subrr].
exists 0; split; first by apply: zero => //; lra.
exists 0; split; first by apply: zero => //; lra.
rewrite !subr0; suff H h : charged 0 (all_terms (terms ql qr fl fr) (moved (answers x) (answers x') (ends_at i) h r)) (if (size h <= i)%N then v else 0).
  by have := H [::].
elim: r rep {rE} h => [|a t IH] rep h /=; first by case: ifP.
rewrite /all_terms/=; apply/charged_cat; have [f0 f1] := free a (rep a (or_introl erefl)) (answers x' h - answers x h).
have := IH (fun b bt => rep b (or_intror bt)) (rcons h a); rewrite size_rcons; have [_] := alone h.
case: (ltngtP (size h) i) => hi /=.
- by move=> /eqP /f0 q rest; exists 0; rewrite subr0.
- by move=> /eqP /f0 q rest; exists 0; rewrite subr0.
- by move=> /f1 q rest; exists v; rewrite subrr.
Qed.
End Alone.
End OneAlone.
