(* Above threshold with log-concave noises: the bounds from above, as the rule states them (docs/theory/selection.md, log-concave threshold). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic independent log_concave shift_costs grids above_threshold.

Section Upper.
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

Let grid_opp := grid_opp (whole_sub grid_whole).
Let grid_add := grid_add (whole_sub grid_whole).
Let grid0 := whole0 grid_whole.

(* The mechanism: its outputs have the density of above_threshold.v; at most n answers are asked for, of which at most c are positive, and as many noises
   of the threshold are drawn. *)
Context (X : Type) dT (T : measurableType dT) (lamT : {measure set T -> \bar R}) (M : mechanism R X T).
Context (answers : X -> asked R) (shown : T -> seq (seq (told R))) (n c draws : nat).
Definition output_at x (o : T) : \bar R := output_density nu mu fq ff (answers x) [::] (shown o).
Hypotheses (MD : forall x S, measurable S -> M x S = (\int[lamT]_(o in S) output_at x o)%E) (mD : forall x, measurable_fun setT (output_at x)).

Definition positive (a : told R) := if a is No then false else true.
Hypothesis limits : forall o, [/\ (size (shown o) <= draws)%N, (size (flatten (shown o)) <= n)%N & (count positive (flatten (shown o)) <= c)%N].

Section Pair.
Context (x x' : X) (ends : seq (told R) -> R * R).
Let change h := answers x' h - answers x h.
Hypothesis moves : forall h, (ends h).1 <= change h <= (ends h).2.
Hypothesis on_grid : forall h, grid (change h).

Notation charged_runs := (output_charged grid tl tr ql qr fl fr (answers x) (answers x') ends).
Notation terms_of := (terms ql qr fl fr).
Notation costs_of := (run_costs tl tr ql qr fl fr (answers x) (answers x') ends).
Notation moved_in := (moved (answers x) (answers x') ends).

Lemma outputs_close v : (forall o, charged_runs [::] (shown o) v) -> close v 0 (M x) (M x').
Proof.
move=> H S mS; rewrite adde0 !MD//.
have d0 y o : (0 <= output_at y o)%E by exact: (output_density0 nu query again).
have mS' y : measurable_fun S (output_at y) by apply: measurable_funS (mD y).
rewrite -ge0_integralM ?lee_fin ?expR_ge0//; apply: ge0_le_integral => //.
- by move=> o _; rewrite mule_ge0 ?lee_fin ?expR_ge0.
- exact: measurable_funeM.
- by move=> o _; exact: (output_density_moves grid_opp grid_add threshold query again on_grid (H o)).
Qed.

Lemma terms_mean a w d d' : mixed w (terms_of a d) (terms_of a d') (terms_of a (w * d + (1 - w) * d')).
Proof. by case: a => [||g|z|z] /=; split=> //; try (split=> //); try (split=> //); lra. Qed.

Lemma between_ends a s lo hi d e : lo <= d <= hi -> charged s (terms_of a lo) e -> charged s (terms_of a hi) e -> charged s (terms_of a d) e.
Proof.
move=> lohi h0 h1.
have ins : within_ends [:: (a, d, (lo, hi))] by [].
have [dl dh] := andP lohi.
have [w [w0 w1 dE]] : exists w, [/\ 0 <= w, w <= 1 & d = w * lo + (1 - w) * hi].
  have [E|ne] := eqVneq lo hi; first by exists 1; split; [exact: ler01 | exact: lexx | rewrite -E in dh; lra].
  have p : 0 < hi - lo by rewrite subr_gt0 lt_neqAle ne (le_trans dl dh).
  have E : (hi - d) / (hi - lo) * (hi - lo) = hi - d by rewrite divfK// gt_eqF.
  exists ((hi - d) / (hi - lo)); split; [by rewrite divr_ge0 ?subr_ge0// ltW// -subr_gt0 | by rewrite ler_pdivr_mulr// mul1r; lra | lra].
have := charged_mean w0 w1 (terms_mean a w lo hi) h0 h1; rewrite -dE.
have -> : w * s + (1 - w) * s = s by lra.
by have -> : w * e + (1 - w) * e = e by lra.
Qed.

(* One shift s for all outputs: each answer costs so much, and each positive so much beside. *)
Section Fixed.
Context (s c1 c2 each beside : R).
Hypotheses (gs : grid s) (p1 : pays tr s c1) (p2 : pays tl (- s) c2) (each0 : 0 <= each) (beside0 : 0 <= beside).
Let cost a := each + (if positive a then beside else 0).
Hypothesis priced : forall o a, List.In a (flatten (shown o)) -> may_shift a s /\ forall h,
  charged s (terms_of a (ends h).1) (cost a) /\ charged s (terms_of a (ends h).2) (cost a).

Lemma fixed_terms (P : told R -> Prop) h r : (forall a, List.In a r -> P a) ->
  (forall a, P a -> forall h, charged s (terms_of a (ends h).1) (cost a) /\ charged s (terms_of a (ends h).2) (cost a)) ->
  charged s (all_terms terms_of (moved_in h r)) (each * (size r)%:R + beside * (count positive r)%:R).
Proof.
move=> + pr; elim: r h => [|a r IH] h inr /=; first by rewrite !mulr0 addr0.
rewrite /all_terms/=; apply/charged_cat; exists (cost a); split.
  by have [h0 h1] := pr a (inr a (or_introl erefl)) h; exact: between_ends (moves h) h0 h1.
have -> : each * (size r).+1%:R + beside * (positive a + count positive r)%:R - cost a = each * (size r)%:R + beside * (count positive r)%:R.
  by rewrite /cost natrD -natr1; case: (positive a) => /=; lra.
by apply: IH => b br; apply: inr; right.
Qed.

Lemma fixed_runs (P : told R -> Prop) h runs : (forall a, List.In a (flatten runs) -> P a) ->
  (forall a, P a -> may_shift a s /\ forall h, charged s (terms_of a (ends h).1) (cost a) /\ charged s (terms_of a (ends h).2) (cost a)) ->
  charged_runs h runs ((c1 + c2) * (size runs)%:R + each * (size (flatten runs))%:R + beside * (count positive (flatten runs))%:R).
Proof.
move=> + pr; elim: runs h => [|r rest IH] h inr /=; first by rewrite !mulr0 !addr0.
exists s, (c1 + (c2 + (each * (size r)%:R + beside * (count positive r)%:R))); split=> //.
- by move=> a ar; have [] := pr a (inr a (List.in_or_app _ _ _ (or_introl ar))).
- rewrite /run_costs; exists c1; split; first by rewrite mul1r addr0.
  exists c2; split; first by rewrite mulN1r addr0.
  have -> : forall y : R, c1 + (c2 + y) - c1 - c2 = y by move=> y; lra.
  apply: (fixed_terms (P := P)) => [a ar|a /pr[]//]; by apply: inr; apply: List.in_or_app; left.
- have := IH (h ++ r) (fun a ar => inr a (List.in_or_app _ _ _ (or_intror ar))).
  congr (output_charged _ _ _ _ _ _ _ _ _ _ _ _ _); rewrite size_cat count_cat !natrD -[(size rest).+1%:R]natr1; lra.
Qed.

Lemma output_charged_more h runs v v' : v <= v' -> charged_runs h runs v -> charged_runs h runs v'.
Proof.
elim: runs h v v' => [|r rest IH] h v v' vv /=; first by move=> v0; exact: le_trans vv.
move=> [s' [c' [gs' ok hr h']]]; exists s', c'; split=> //; by apply: IH h'; rewrite ler_add2r.
Qed.

Theorem fixed_close : close ((c1 + c2) * draws%:R + each * n%:R + beside * c%:R) 0 (M x) (M x').
Proof.
apply: outputs_close => o; have [l1 l2 l3] := limits o.
apply: output_charged_more (fixed_runs [::] (fun a ar => ar) (fun a ar => priced ar)).
have q1 : 0 <= c1 + c2 by case: p1 => ? _; case: p2 => ? _; rewrite addr_ge0.
by rewrite !ler_add// ler_wpmul2l// ler_nat.
Qed.
End Fixed.
End Pair.
(* Answers go up by `up` at most, and down by `dn`: for "all" both are D; for "increasing" it is (D, 0), for "decreasing" (0, D); "monotone" is both of
   these. What is told of positives. *)
Definition moved_within (dn up : R) : relation X := fun x x' => forall h, - dn <= answers x' h - answers x h <= up /\ grid (answers x' h - answers x h).
Context (fresh_told value_told : Prop).
Definition reported (a : told R) := match a with YesFresh _ => fresh_told | YesValue _ => value_told | _ => True end.
Hypothesis reports : forall o a, List.In a (flatten (shown o)) -> reported a.

Lemma terms_nonneg l : all (fun i => nonneg i.1.1) (all_terms (terms ql qr fl fr) l).
Proof.
elim: l => [//|[[a d] e] l IH]; rewrite /all_terms/= all_cat -/(all_terms _ _) IH andbT.
by case: a => [||g|w|z]; rewrite /terms /= ?ql0 ?qr0 ?fl0 ?fr0.
Qed.

Lemma terms_whole e (an an' : asked R) h r i : (forall g, whole (an' g - an g)) ->
  i \in all_terms (terms ql qr fl fr) (moved an an' e h r) -> whole_item i.
Proof.
move=> wd; elim: r h => [//|a r IH] h; rewrite /all_terms/= mem_cat => /orP[|/IH//].
have wo := whole_opp (wd h); have w := wd h.
by case: a => [||g|z|z]; rewrite /terms !inE; repeat (case/orP); do ?[move=> /eqP ->]; split=> //=;
  do ?[by left | by right; left | by right; right].
Qed.

Section Ends.
Context (dn up : R).
Hypotheses (dn0 : 0 <= dn) (up0 : 0 <= up).

(* With one shift of each noise of the threshold, whatever is told: up with the answers, down, or not, as "shift" says. *)
Theorem shift_upper s c1 c2 each beside p f1 f2 : grid s -> - dn <= s -> s <= up -> (value_told -> s = 0) -> pays tr s c1 -> pays tl (- s) c2 ->
  pays ql (up - s) each -> pays qr (s + dn) p -> 0 <= beside -> p <= each + beside ->
  (fresh_told -> [/\ pays fr dn f1, pays fl up f2, p + f1 <= each + beside & f2 <= each + beside]) ->
  dp_in_order (moved_within dn up) M ((c1 + c2) * draws%:R + each * n%:R + beside * c%:R) 0.
Proof.
move=> gs sd su vs p1 p2 pe pp b0 le fresh_pays x x' xx; have [e0 _] := pe; have [q0 _] := pp.
apply: (@fixed_close x x' (fun=> (- dn, up)) (fun h => (xx h).1) (fun h => (xx h).2) s) => // o a ao.
have rep := reports ao; split; first by case: a rep {ao} => //= v /vs ->.
move=> _ /=; have zero b z : nonneg b -> z <= 0 -> pays b z 0 by exact: pays_nothing.
have E1 : -1 * s + up = up - s by lra.
have E2 : 1 * s - - dn = s + dn by lra.
have E3 : 0 * s - - dn = dn by lra.
have E4 : 0 * s + up = up by lra.
case: a rep {ao} => [||g|w|v] /= rep; rewrite ?E1 ?E2 ?E3 ?E4.
- by split; [exists 0; split; [apply: zero => //; lra | lra] | exists each; split=> //; lra].
- by split; [exists p; split=> //; lra | exists 0; split; [apply: zero => //; lra | lra]].
- split; [exists p; split=> //; exists 0; split; [apply: zero => //; lra | lra] |].
  exists 0; split; [apply: zero => //; lra | exists each; split=> //; lra].
- have [f1p f2p le1 le2] := fresh_pays rep; have [f10 _] := f1p; have [f20 _] := f2p.
  split; [exists p; split=> //; exists f1; split=> //; exists 0; split; [apply: zero => //; lra | lra] |].
  by exists 0; split; [apply: zero => //; lra | exists 0; split; [apply: zero => //; lra | exists f2; split=> //; lra]].
- have s0 := vs rep; have E5 : s + dn = dn by rewrite s0 add0r.
  have E6 : up - s = up by rewrite s0 subr0.
  rewrite E5 in pp; rewrite E6 in pe.
  split; [exists p; split=> //; exists 0; split; [apply: zero => //; lra | lra] |].
  exists 0; split; [apply: zero => //; lra | exists each; split=> //; lra].
Qed.

(* V is at least what an output loses of K negatives, Y positives whose answers go down, and J whose answers go up: the least of what the three shifts of
   the threshold cost, and what fresh noises cost besides. *)
Definition loses_at_most (K Y J : nat) (V : R) : Prop := exists g1 g2, [/\ 0 <= g1, 0 <= g2, fresh_told -> pays fr (Y%:R * dn) g1 /\ pays fl (J%:R * up) g2 &
  [\/ exists a1 a2, [/\ pays tr up a1, pays qr (Y%:R * (up + dn)) a2 & a1 + a2 + g1 + g2 <= V],
      exists a1 a2, [/\ pays ql (K%:R * up) a1, pays qr (Y%:R * dn) a2 & a1 + a2 + g1 + g2 <= V] |
      exists a1 a2, [/\ pays tl dn a1, pays ql (K%:R * (up + dn)) a2 & a1 + a2 + g1 + g2 <= V]]].

Lemma pays_each (b : option R) (x : R) (k : nat) v : nonneg b -> 0 <= x -> pays b (k%:R * x) v ->
  exists u, [/\ 0 <= u, k%:R * u <= v & (0 < k)%N -> pays b x u].
Proof.
move=> b0 x0 [v0]; case: b b0 => [m|] /= m0 h.
- by exists (m * x); split; [exact: mulr_ge0 | rewrite mulrCA | move=> _; split; [exact: mulr_ge0 | exact: lexx]].
- exists 0; split; [exact: lexx | by rewrite mulr0 | move=> k0; split=> //].
  by move: h; rewrite pmulr_rle0// ltr0n.
Qed.

Lemma loses_more K K' Y J V : (K' <= K)%N -> loses_at_most K Y J V -> loses_at_most K' Y J V.
Proof.
move=> KK [g1 [g2 [g10 g20 gf ways]]]; exists g1, g2; split=> //.
have less z : 0 <= z -> K'%:R * z <= K%:R * z by move=> z0; rewrite ler_wpmul2r// ler_nat.
case: ways => [[a1 [a2 [p1 p2 le]]]|[a1 [a2 [p1 p2 le]]]|[a1 [a2 [p1 p2 le]]]].
- by apply: Or31; exists a1, a2.
- by apply: Or32; exists a1, a2; split=> //; apply: pays_less p1 => //; exact: less.
- by apply: Or33; exists a1, a2; split=> //; apply: pays_less p2 => //; apply: less; rewrite addr_ge0.
Qed.

(* Negatives, and positives whose gap is told and which go up, are of sort 0; other positives are of sort 1, but those of sort 2 that go up and are
   told with fresh noise. *)
Definition sort_of (x : told R * R * (R * R)) : nat := match x.1.1 with
  | No => 0 | Yes => 1 | YesBy _ => if x.1.2 == - dn then 1 else 0 | YesFresh _ => if x.1.2 == - dn then 1 else 2 | YesValue _ => 1 end%N.
Definition of_sort (i : nat) (l : seq (told R * R * (R * R))) : nat := count (fun x => sort_of x == i) l.

Lemma sorts_charged s (u : nat -> R) l :
  (forall x, List.In x l -> (sort_of x < 3)%N /\ charged s (terms ql qr fl fr x.1.1 x.1.2) (u (sort_of x))) ->
  charged s (all_terms (terms ql qr fl fr) l) ((of_sort 0 l)%:R * u 0%N + (of_sort 1 l)%:R * u 1%N + (of_sort 2 l)%:R * u 2%N).
Proof.
elim: l => [|x l IH] H; first by rewrite /= !mul0r !addr0.
rewrite /all_terms/=; apply/charged_cat; exists (u (sort_of x)).
have [s3 hx] := H x (or_introl erefl); split=> //.
have := IH (fun y yl => H y (or_intror yl)); congr (charged _ _ _).
rewrite /of_sort /= !natrD; case: (sort_of x) s3 => [|[|[|//]]] _ /=; lra.
Qed.

Lemma sort_met (x : told R * R * (R * R)) l : List.In x l -> (0 < of_sort (sort_of x) l)%N.
Proof. by elim: l => [//|y l IH] /= [->|/IH h]; rewrite /of_sort/= ?eqxx// addn_gt0 -/(of_sort _ _) h orbT. Qed.

Lemma sorts_kept (an an' : asked R) h r l : at_ends l (moved an an' (fun=> (- dn, up)) h r) ->
  [/\ (of_sort 0 l + of_sort 1 l + of_sort 2 l <= size r)%N, (of_sort 1 l + of_sort 2 l <= count positive r)%N,
    forall x, List.In x l -> (sort_of x < 3)%N /\ (List.In x.1.1 r /\ (x.1.2 = - dn \/ x.1.2 = up)) &
    (0 < of_sort 2 l)%N -> exists2 a, List.In a r & exists w, a = YesFresh w].
Proof.
elim: r h l => [|a r IH] h [|x l] //= [[/= xa xe xd] el].
have [h1 h2 h3 h4] := IH _ _ el.
have s3 : (sort_of x < 3)%N by rewrite /sort_of; case: (x.1.1) => [||g|w|v]//; case: ifP.
have pos : ((sort_of x == 1) + (sort_of x == 2) <= positive a)%N.
  by rewrite -xa /sort_of; case: (x.1.1) => [||g|w|v]//=; case: ifP.
split.
- rewrite /of_sort/= -/(of_sort 0 l) -/(of_sort 1 l) -/(of_sort 2 l).
  by move: s3 h1; case: (sort_of x) => [|[|[|//]]] _ /=; rewrite ?add0n ?add1n ?addSn ?addnS ltnS.
- rewrite /of_sort/= -/(of_sort 1 l) -/(of_sort 2 l) addnACA; exact: leq_add.
- move=> y [<-|/h3[? [? ?]]]; last by split=> //; split=> //; right.
  by split=> //; rewrite xa; split; [left | exact: xd].
- rewrite /of_sort/= -/(of_sort 2 l) addn_gt0 => /orP[|/h4[b br bw]]; last by exists b => //; right.
  rewrite lt0b /sort_of xa; case: a xa {pos el} => [||g|w|v] xa //; try by case: ifP.
  by move=> _; exists (YesFresh w); [left | exists w].
Qed.

Lemma moved_within_ends (an an' : asked R) h r : (forall g, - dn <= an' g - an g <= up) -> within_ends (moved an an' (fun=> (- dn, up)) h r).
Proof. by move=> b; elim: r h => [//|a r IH] h /=; split. Qed.

(* One noise of the threshold in all, and each output loses at most v. *)
Theorem outputs_upper v : (forall o, exists r, shown o = [:: r]) -> ~ value_told -> grid dn -> grid up ->
  (forall Y J, (Y + J <= c)%N -> (Y + J <= n)%N -> ((0 < J)%N -> fresh_told) -> loses_at_most (n - (Y + J)) Y J v) ->
  dp_in_order (moved_within dn up) M v 0.
Proof.
move=> once none gdn gup lost x x' xx.
have on_grid h : grid (answers x' h - answers x h) by have [] := xx h.
apply: (@outputs_close x x' (fun=> (- dn, up)) on_grid) => o; have [r rE] := once o.
have [_ l2 l3] := limits o; have rep a := reports (o := o) (a := a); rewrite rE /= cats0 in l2 l3 rep.
have may s : all_may_shift r s by move=> a /rep; case: a => //= z /none.
suff [s gs cs] : exists2 s, grid s & charged s (run_costs tl tr ql qr fl fr (answers x) (answers x') (fun=> (- dn, up)) [::] r) v.
  by rewrite rE /=; exists s, v; rewrite subrr.
suff [s cs] : exists s, charged s (run_costs tl tr ql qr fl fr (answers x) (answers x') (fun=> (- dn, up)) [::] r) v.
  case: grid_whole => [all_|gE]; first by exists s.
  rewrite gE; apply: charged_whole cs.
  - by rewrite /run_costs/= tr0 tl0; exact: terms_nonneg.
  - move=> i; rewrite /run_costs !inE => /orP[/eqP ->|/orP[/eqP ->|]].
    + by split=> /=; [right; left | exists 0].
    + by split=> /=; [right; right | exists 0].
    + by apply: terms_whole => g; rewrite -gE.
apply: (worst_at_ends terms_mean).
  by apply: moved_within_ends => g; have [] := xx g.
move=> l el; have [h1 h2 h3 h4] := sorts_kept el.
set K := of_sort 0 l in h1; set Y := of_sort 1 l in h1 h2; set J := of_sort 2 l in h1 h2 h4.
have J0 : (0 < J)%N -> fresh_told by move=> /h4[a /rep + [w wE]]; rewrite wE.
have [g1 [g2 [g10 g20 gf ways]]] : loses_at_most K Y J v.
  apply: (loses_more (K := n - (Y + J))); last first.
    by apply: lost => //; [exact: leq_trans h2 l3 | apply: leq_trans (leq_trans h1 l2); rewrite -addnA leq_addl].
  by rewrite leq_subRL ?addnA ?[(Y + J + K)%N]addnC ?addnA; [exact: leq_trans h1 l2 |];
     apply: leq_trans (leq_trans h1 l2); rewrite -addnA leq_addl.
have [b1 [b2 [v10 [v20 [le1 [le2 [q1 q2]]]]]]] : exists b1 b2 : R, (0 <= b1) /\ (0 <= b2) /\ (Y%:R * b1 <= g1) /\ (J%:R * b2 <= g2) /\
    (fresh_told -> (0 < Y)%N -> pays fr dn b1) /\ (fresh_told -> (0 < J)%N -> pays fl up b2).
  have [f|nf] := pselect fresh_told; last by exists 0, 0; rewrite !mulr0; split=> //; split=> //; split=> //; split=> //; split.
  have [pf1 pf2] := gf f.
  have [b1 [v10 le1 q1]] := pays_each fr0 dn0 pf1; have [b2 [v20 le2 q2]] := pays_each fl0 up0 pf2.
  by exists b1, b2; split=> //; split=> //; split=> //; split=> //; split.
have go s c1 c2 u0 u1 : - dn <= s -> s <= up -> pays tr s c1 -> pays tl (- s) c2 -> 0 <= u0 -> 0 <= u1 -> ((0 < K)%N -> pays ql (up - s) u0) ->
    ((0 < Y)%N -> pays qr (s + dn) u1) -> c1 + c2 + K%:R * u0 + Y%:R * u1 + g1 + g2 <= v ->
    exists s, charged s ([:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms (terms ql qr fl fr) l) v.
  move=> sd su p1 p2 u00 u10 pu0 pu1 le; exists s => /=.
  exists c1; split; first by rewrite mul1r addr0.
  exists c2; split; first by rewrite mulN1r addr0.
  pose u (i : nat) : R := match i with 0%N => u0 | 1%N => u1 + b1 | _ => b2 end.
  apply: (charged_more (V := K%:R * u 0%N + Y%:R * u 1%N + J%:R * u 2%N)).
    by rewrite /u mulrDr; lra.
  apply: sorts_charged => y yl; have [y3 [yr yd]] := h3 y yl; split=> //.
  have met := sort_met yl; have zero b z : nonneg b -> z <= 0 -> pays b z 0 by exact: pays_nothing.
  have ry := rep _ yr.
  case: y yd met {y3 yr yl} ry => [[a d] e] /= yd; rewrite /sort_of/= => met ry.
  have dup : d <= up by case: yd => ->; lra.
  have ddn : - dn <= d by case: yd => ->; lra.
  have q (z : R) : (0 < Y)%N -> z <= s + dn -> pays qr z u1 by move=> Yp zs; apply: pays_less (pu1 Yp).
  have f (z : R) : (0 < K)%N -> z <= up - s -> pays ql z u0 by move=> Kp zs; apply: pays_less (pu0 Kp).
  case: a met ry => [||g|w|z] met ry /=; rewrite /u/=.
  - by exists u0; split; [apply: f => //; lra | lra].
  - by exists u1; split; [apply: q => //; lra | lra].
  - case: eqP met => [dE|dN] met.
    + by exists u1; split; [apply: q => //; lra | exists 0; split; [apply: zero => //; lra | lra]].
    + have dE : d = up by case: yd.
      by exists 0; split; [apply: zero => //; lra | exists u0; split; [apply: f => //; lra | lra]].
  - case: eqP met => [dE|dN] met.
    + exists u1; split; [by apply: q => //; lra | exists b1; split; last by exists 0; split; [apply: zero => //; lra | lra]].
      by have := q1 ry met; rewrite dE opprK mul0r add0r.
    + have dE : d = up by case: yd.
      exists 0; split; [by apply: zero => //; lra | exists 0; split; [by apply: zero => //; lra | exists b2; split; last by lra]].
      by have := q2 ry met; rewrite dE mul0r add0r.
  - by case: none.
case: ways => [[a1 [a2 [p1 p2 le]]]|[a1 [a2 [p1 p2 le]]]|[a1 [a2 [p1 p2 le]]]].
- have [|u [u00 ule pu]] := pays_each qr0 _ p2; first exact: addr_ge0.
  apply: (go up a1 0 0 u) => //; [by lra | apply: pays_nothing => //; lra | | lra].
  by move=> _; apply: pays_nothing => //; lra.
- have [u [u00 ule pu]] := pays_each ql0 up0 p1; have [w [w00 wle pw]] := pays_each qr0 dn0 p2.
  by apply: (go 0 0 0 u w) => //; [lra | apply: pays_nothing | apply: pays_nothing => //; lra | rewrite subr0 | rewrite add0r | lra].
- have [|u [u00 ule pu]] := pays_each ql0 _ p2; first exact: addr_ge0.
  apply: (go (- dn) 0 a1 u 0) => //; [by lra | apply: pays_nothing => //; lra | by rewrite opprK | by rewrite opprK | | lra].
  by move=> _; apply: pays_nothing => //; lra.
Qed.
End Ends.
End Upper.
