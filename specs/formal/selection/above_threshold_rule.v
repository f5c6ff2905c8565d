(* Above threshold with log-concave noises, from above: all that the rule of dpverify/trusted/theories/selection/rules/log_concave_threshold.py computes, in one theorem
   (docs/theory/selection.md, log-concave threshold). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic independent log_concave shift_costs grids above_threshold above_threshold_upper.
From dpverify Require Import above_threshold_alone above_threshold_peak slope_sums above_threshold_losses.

Section Rule.
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
   of the threshold are drawn: one, or one more after each positive, which are c at most. *)
Context (X : Type) dT (T : measurableType dT) (lamT : {measure set T -> \bar R}) (M : mechanism R X T).
Context (answers : X -> asked R) (shown : T -> seq (seq (told R))) (n c draws : nat) (rep : report).
Hypothesis MD : forall x S, measurable S -> M x S = (\int[lamT]_(o in S) output_at nu mu fq ff answers shown x o)%E.
Hypothesis mD : forall x, measurable_fun setT (output_at nu mu fq ff answers shown x).
Hypotheses (n0 : (0 < n)%N) (c0 : (0 < c)%N) (draws0 : (0 < draws)%N).
Hypothesis limits : forall o, [/\ (size (shown o) <= draws)%N, (size (flatten (shown o)) <= n)%N & (count (@positive R) (flatten (shown o)) <= c)%N].
Hypothesis once : draws = 1%N -> forall o, exists r, shown o = [:: r].
Hypothesis reports : forall o a, List.In a (flatten (shown o)) -> reported (fresh_told rep) (value_told rep) a.

(* Neighbours, D the sensitivity: an integer where answers are. Where the guarantee is of q against q + d alone the order is part of the claim. *)
Context (D : R).
Hypotheses (D0 : 0 <= D) (gD : grid D).
Definition neighbouring (nb : neighbours) : relation X := match nb with
  | One => moved_alone grid answers D
  | _ => fun x x' => exists2 d, d \in moves_of nb & moved_within grid answers (d.2%:R * D) (d.1%:R * D) x x'
  end.
Definition claimed nb := match nb with Increasing | Decreasing => neighbouring nb | _ => both (neighbouring nb) end.

Let gopp e : grid e -> grid (- e). Proof. exact: (grid_opp (whole_sub grid_whole)). Qed.

Lemma moved_back dn up x x' : moved_within grid answers dn up x x' -> moved_within grid answers up dn x' x.
Proof. by move=> h g; have [/andP[? ?] /gopp] := h g; rewrite opprB; split=> //; apply/andP; split; lra. Qed.

Lemma claimed_order nb x : dp_in_order (neighbouring nb) M x 0 -> dp_in_order (claimed nb) M x 0.
Proof.
move=> h; case: nb h => //= h q q'; (case; first exact: h) => qq; apply: h.
- by case: qq => d dm /moved_back h; exists d => //; move: dm h; rewrite inE => /eqP ->.
- case: qq => d dm /moved_back h; exists (d.2, d.1) => //; move: dm; rewrite !inE => /orP[] /eqP -> //.
- case: qq => i h; exists i => g; have [] := h g; rewrite -opprB => /gopp; rewrite opprK => ? h'; split=> //.
  by move: h'; case: ifP => _; [move=> /andP[? ?]; apply/andP; split; lra | move=> /eqP E; apply/eqP; lra].
Qed.

Let gmul (k : nat) : (k <= 1)%N -> grid (k%:R * D).
Proof. by case: k => [|[|//]] _; rewrite ?mul1r// mul0r; exact: (whole0 grid_whole). Qed.

Let m := minn n c.
Let limits' o : [/\ (size (shown o) <= draws)%N, (size (flatten (shown o)) <= n)%N & (count (@positive R) (flatten (shown o)) <= m)%N].
Proof. by have [? ? ?] := limits o; split=> //; rewrite leq_min (leq_trans (count_size _ _)). Qed.

Notation loss_of := (loss tl tr ql qr fl fr rep).

Lemma loss_loses (u v : R) (K Y J : nat) x : 0 <= u -> 0 <= v -> at_most (loss_of u v K%:R Y%:R J%:R) (Some x) ->
  loses_at_most tl tr ql qr fl fr (fresh_told rep) (v * D) (u * D) K Y J (x * D).
Proof.
move=> u0 v0; have z (k : nat) : 0 <= 0 * 0 + k%:R :> R by rewrite mul0r add0r.
have so l : List.In l (ways tl tr ql qr fl fr rep u v 0 K%:R 0 Y%:R 0 J%:R) -> sound l 0 by apply: ways_sound.
move/(least_ofP _ so) => [l li ch].
have fresh_pays (b : option R) k a : pays (of_fresh rep b) k a -> 0 <= a /\ (fresh_told rep -> pays b (k * D) (a * D)).
  by move=> p; split; [case: p | rewrite /of_fresh in p => f; rewrite f in p; exact: pays_scale].
have E0 k : 0 * 0 + k = k :> R by rewrite mul0r add0r.
have E1 (k : R) : 0 * k * 0 + K%:R * k = K%:R * k by rewrite mulr0 add0r.
have E2 (k : R) : 0 * k * 0 + Y%:R * k = Y%:R * k by rewrite mulr0 add0r.
have E3 (k : R) : 0 * k * 0 + J%:R * k = J%:R * k by rewrite mulr0 add0r.
case: li ch => [<-|[<-|[<-|//]]] /= [c1 [p1 [c2 [p2 [c3 [p3 [c4 [p4 h]]]]]]]]; rewrite ?E0 ?E1 ?E2 ?E3 in p1 p2 p3 p4;
  have [c30 p3'] := fresh_pays _ _ _ p3; have [c40 p4'] := fresh_pays _ _ _ p4; exists (c3 * D), (c4 * D); split; do ?[exact: mulr_ge0];
  do ?[by move=> f; rewrite !mulrA; split; [exact: p3' | exact: p4']].
- apply: Or31; exists (c1 * D), (c2 * D); split; [exact: pays_scale | by rewrite -mulrDl mulrA; exact: pays_scale |].
  by rewrite -!mulrDl ler_wpmul2r//; lra.
- apply: Or32; exists (c1 * D), (c2 * D); split; [by rewrite mulrA; exact: pays_scale | by rewrite mulrA; exact: pays_scale |].
  by rewrite -!mulrDl ler_wpmul2r//; lra.
- apply: Or33; exists (c1 * D), (c2 * D); split; [exact: pays_scale | by rewrite -mulrDl mulrA; exact: pays_scale |].
  by rewrite -!mulrDl ler_wpmul2r//; lra.
Qed.

(* It is enough to look at each way to move. *)
Lemma by_ways nb e : nb <> One ->
  (forall d, d \in moves_of nb -> dp_in_order (moved_within grid answers (d.2%:R * D) (d.1%:R * D)) M e 0) -> dp_in_order (neighbouring nb) M e 0.
Proof. by move=> no h x x'; case: nb no h => //= _ h [d dm]; exact: h. Qed.

Lemma ways01 nb d : d \in moves_of nb -> (d.1 <= 1)%N /\ (d.2 <= 1)%N.
Proof. by case: nb => //=; rewrite !inE; do ?[case/orP]; move=> /eqP ->. Qed.

Lemma peaks_private nb x : ~~ value_told rep -> nb <> One -> draws = 1%N ->
  (forall d, d \in moves_of nb -> peaks_at tl tr ql qr fl fr rep n c d.1%:R d.2%:R x) -> dp_in_order (neighbouring nb) M (x * D) 0.
Proof.
move=> /negP nv no d1 pk; apply: (by_ways no) => d dm; have [d1' d2'] := ways01 dm.
apply: (outputs_upper grid_whole threshold query again MD mD limits' reports) => //.
- by rewrite mulr_ge0. - by rewrite mulr_ge0. - exact: once. - exact: gmul. - exact: gmul.
move=> Y J Ym Yn _; apply: loss_loses => //; exact: (peaks_hold tl0 tr0 ql0 qr0 fl0 fr0 (pk d dm)).
Qed.
(* So many noises of the threshold, each shifted: the cost of each of them. *)
Lemma paid_each (b : option R) (k : nat) u t : nonneg b -> (0 < k)%N -> 0 <= u -> times (k%:R * u) b = Some t ->
  exists2 a, pays b (u * D) a & a * k%:R = t * D.
Proof.
move=> b0 k0 u0 E; have k1 : k%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have ku0 : 0 <= k%:R * u by rewrite mulr_ge0.
have inv0 : 0 <= k%:R^-1 :> R by rewrite invr_ge0.
exists (t * D * k%:R^-1); last by rewrite divfK.
have := pays_scale inv0 (times_pays b0 ku0 D0 E); suff -> : k%:R * u * D * k%:R^-1 = u * D by [].
by rewrite mulrAC [k%:R * u]mulrC mulfK.
Qed.

Lemma some_times (b : option R) (k : nat) t : (0 < k)%N -> times k%:R b = Some t -> exists2 a, b = Some a & t = k%:R * a.
Proof. by move=> k0 /timesP[[/eqP + _]|//]; rewrite pnatr_eq0 eqn0Ngt k0. Qed.

Lemma shift_private nb s x : ~~ value_told rep -> nb <> One ->
  (forall d, d \in moves_of nb -> at_most (everywhere tl tr ql qr fl fr rep n c draws d.1%:R d.2%:R s) (Some x)) ->
  dp_in_order (neighbouring nb) M (x * D) 0.
Proof.
move=> /negP nv no le; apply: (by_ways no) => -[u v] dm; have [/= u1 v1] := ways01 dm.
have /at_most_some[w E wx] := le _ dm; rewrite /= in E.
have u0 : 0 <= u%:R :> R by []. have v0 : 0 <= v%:R :> R by [].
have uv0 : 0 <= u%:R + v%:R :> R by exact: addr_ge0.
have uD : 0 <= u%:R * D by exact: mulr_ge0. have vD : 0 <= v%:R * D by exact: mulr_ge0.
have [t1 [t' [E1 /totalP[t2 [t3 [/(some_times n0)[e eE ->] /(some_times c0)[b bE ->] ->]]] wE]]] := totalP E.
have [g [gE bgE]] : exists g, greatest (total (times (turned u%:R v%:R s) qr) (times v%:R (of_fresh rep fr))) (times u%:R (of_fresh rep fl)) = Some g /\
    b = Num.max 0 (g - e).
  by move: bE; rewrite /each_positive eE /surplus; case: (greatest _ _) => // g [<-]; exists g.
have [g1 [f2 [/totalP[p [f1 [pE f1E ->]]] f2E gp gf]]] := greatestP gE.
have b0 : 0 <= b by rewrite bgE le_maxr lexx.
have gb : g <= e + b by rewrite bgE; case: (leP 0 (g - e)) => [|/ltW] h; rewrite ?(max_idPr h) ?(max_idPl h)//; lra.
have f10 : 0 <= f1 by apply: times_ge0 f1E => //; exact: of_fresh0.
have below_ y z : y <= z -> y * D <= z * D by move=> h; rewrite ler_wpmul2r.
have sum_ y z : (y + z) * D = y * D + z * D by rewrite mulrDl.
have fresh_pays : fresh_told rep -> [/\ pays fr (v%:R * D) (f1 * D), pays fl (u%:R * D) (f2 * D), p * D + f1 * D <= e * D + b * D & f2 * D <= e * D + b * D].
  move=> f; move: f1E f2E; rewrite /of_fresh f => f1E f2E; split; [exact: times_pays | exact: times_pays | |]; rewrite -?mulrDl; apply: below_; lra.
have pb : p * D <= e * D + b * D by rewrite -mulrDl; apply: below_; lra.
suff S c1 c2 sh : grid sh -> - (v%:R * D) <= sh -> sh <= u%:R * D -> pays tr sh c1 -> pays tl (- sh) c2 -> pays ql (u%:R * D - sh) (e * D) ->
    pays qr (sh + v%:R * D) (p * D) -> (c1 + c2) * draws%:R = t1 * D -> dp_in_order (moved_within grid answers (v%:R * D) (u%:R * D)) M (x * D) 0.
  have zero (q : option R) z : nonneg q -> z <= 0 -> pays q z 0 by exact: pays_nothing.
  case: s {le} E E1 eE pE {gE bE} => /= E E1 eE pE.
  - have [a pa aE] := paid_each tr0 draws0 u0 E1; case: eE => eE.
    apply: (S a 0 (u%:R * D)) => //; [exact: gmul | by lra | by apply: zero => //; lra | | | by rewrite addr0].
    + by rewrite -eE mul0r; apply: zero => //; lra.
    + by rewrite -mulrDl; exact: times_pays.
  - case: E1 => t10; apply: (S 0 0 0) => //; [exact: (whole0 grid_whole) | by lra | exact: zero | by apply: zero => //; lra | | | by rewrite -t10; lra].
    + by rewrite subr0; exact: times_pays.
    + by rewrite add0r; exact: times_pays.
  - have [a pa aE] := paid_each tl0 draws0 v0 E1.
    apply: (S 0 a (- (v%:R * D))) => //; [| by lra | by apply: zero => //; lra | by rewrite opprK | | | by rewrite add0r].
    + by apply: (grid_opp (whole_sub grid_whole)); exact: gmul.
    + by rewrite opprK -mulrDl; exact: times_pays.
    + move: pE; rewrite /times eqxx => -[<-]; rewrite mul0r; apply: zero => //; lra.
move=> gs lo hi p1 p2 pe pp cE.
apply: (dp_in_order_monotone (eps := (c1 + c2) * draws%:R + e * D * n%:R + b * D * c%:R) (delta := 0)) => //.
  by have := below_ _ _ wx; rewrite wE cE !mulrDl; lra.
apply: (shift_upper grid_whole threshold query again MD mD limits reports vD uD gs lo hi _ p1 p2 pe pp (f1 := f1 * D) (f2 := f2 * D)) => //; exact: mulr_ge0.
Qed.

(* Answers that are told: the noise of the threshold stays. *)
Lemma told_way (d : nat * nat) each beside p : value_told rep -> (d.1 <= 1)%N -> (d.2 <= 1)%N -> pays ql (d.1%:R * D) each -> pays qr (d.2%:R * D) p ->
  0 <= beside -> p <= each + beside -> dp_in_order (moved_within grid answers (d.2%:R * D) (d.1%:R * D)) M (each * n%:R + beside * m%:R) 0.
Proof.
move=> vt d1 d2 pe pp b0 le; have uD : 0 <= d.1%:R * D by exact: mulr_ge0. have vD : 0 <= d.2%:R * D by exact: mulr_ge0.
have zero (q : option R) : nonneg q -> pays q 0 0 by move=> q0; exact: pays_nothing.
apply: (dp_in_order_monotone (eps := (0 + 0) * draws%:R + each * n%:R + beside * m%:R) (delta := 0)) => //; first by lra.
apply: (shift_upper grid_whole threshold query again MD mD limits' reports vD uD (whole0 grid_whole) _ _ _ _ _ _ _ b0 le (f1 := 0) (f2 := 0)) => //.
- by rewrite oppr_le0. - by apply: zero. - by rewrite oppr0; exact: zero. - by rewrite subr0. - by rewrite add0r.
- by move: vt; case: (rep).
Qed.

Lemma alone_told v : value_told rep -> pays ql D v -> pays qr D v -> dp_in_order (moved_alone grid answers D) M v 0.
Proof.
move=> vt pl pr x x' [i alone]; have [v0 _] := pl.
have nf : ~ fresh_told rep by case: (rep) vt.
have on_grid h : grid (answers x' h - answers x h) by have [] := alone h.
have zero (b : option R) z : nonneg b -> z <= 0 -> pays b z 0 by exact: pays_nothing.
pose ends (h : seq (told R)) : R * R := if size h == i then (- D, D) else (0, 0).
apply: (outputs_close grid_whole threshold query again MD mD (x := x) (x' := x') (ends := ends) on_grid) => o.
have free (a : told R) : reported (fresh_told rep) (value_told rep) a -> forall d, (d = 0 -> charged 0 (terms ql qr fl fr a d) 0) /\
    (- D <= d <= D -> charged 0 (terms ql qr fl fr a d) v).
  move=> ra d; split=> [->|dd]; last first.
    apply: (between_ends dd); case: a ra => [||g|w|z] //= _;
    do ?[by exists v; split; [apply: pays_less pl => //; lra | lra] | by exists v; split; [apply: pays_less pr => //; lra | lra] |
      by exists 0; split; [apply: zero => //; lra | lra] |
      by exists v; split; [apply: pays_less pr => //; lra | exists 0; split; [apply: zero => //; lra | lra]]
      | by exists 0; split; [apply: zero => //; lra | exists v; split; [apply: pays_less pl => //; lra | lra]]].
  case: a ra => [||g|w|z] //= _; do ?[by exists 0; split; [apply: zero => //; lra | lra]];
  by exists 0; split; [apply: zero => //; lra | exists 0; split; [apply: zero => //; lra | lra]].
have costs r h : (forall a, List.In a r -> reported (fresh_told rep) (value_told rep) a) ->
    charged 0 (all_terms (terms ql qr fl fr) (moved (answers x) (answers x') ends h r)) (if (size h <= i < size h + size r)%N then v else 0).
  elim: r h => [|a r IH] h ra /=; first by case: ifP.
  rewrite /all_terms/=; apply/charged_cat; have [f0 f1] := free a (ra a (or_introl erefl)) (answers x' h - answers x h).
  have := IH (rcons h a) (fun b br => ra b (or_intror br)); rewrite size_rcons addSnnS; have [_] := alone h.
  case: (ltngtP (size h) i) => hi /=.
  - by move=> /eqP /f0 q rest; exists 0; rewrite subr0.
  - by move=> /eqP /f0 q rest; exists 0; rewrite subr0.
  - by move=> /f1 q rest; exists v; rewrite -hi addnS ltnS leq_addr subrr.
have all_runs runs h : (forall a, List.In a (flatten runs) -> reported (fresh_told rep) (value_told rep) a) ->
    output_charged grid tl tr ql qr fl fr (answers x) (answers x') ends h runs (if (size h <= i < size h + size (flatten runs))%N then v else 0).
  elim: runs h => [|r rest IH] h ra /=; first by case: ifP.
  exists 0, (if (size h <= i < size h + size r)%N then v else 0); split; first exact: whole0 grid_whole.
  - by move=> a _; case: a => /=.
  - rewrite /run_costs /=; exists 0; split; first by apply: zero => //; lra.
    exists 0; split; first by apply: zero => //; lra.
    by rewrite !subr0; apply: costs => a ar; apply: ra; apply: List.in_or_app; left.
  - have := IH (h ++ r) (fun a ar => ra a (List.in_or_app _ _ _ (or_intror ar))); congr (output_charged _ _ _ _ _ _ _ _ _ _ _ _ _).
    rewrite !size_cat addnA; have [hi|ih] := leqP (size h) i; last first.
      by rewrite /= subr0 leqNgt (leq_trans ih (leq_addr _ _)).
    have [ir|ri] := ltnP i (size h + size r); last by rewrite /= subr0.
    by rewrite /= (leq_trans ir (leq_addr _ _)) subrr.
apply: (output_charged_more _ (all_runs (shown o) [::] (reports (o := o)))); by case: ifP.
Qed.

Lemma slope_pays (b : option R) a x : nonneg b -> b = Some a -> a <= x -> pays b D (x * D).
Proof. by move=> b0 bE ax; rewrite bE in b0 *; have := mulr_ge0 b0 D0; have := ler_wpmul2r D0 ax; split=> /=; lra. Qed.

Lemma told_private nb x : value_told rep -> at_most (loss_told ql qr n c nb) (Some x) -> dp_in_order (neighbouring nb) M (x * D) 0.
Proof.
move=> vt le; have m0 : (0 < m)%N by rewrite leq_min n0.
have up a : ql = Some a -> n%:R * a <= x -> dp_in_order (moved_within grid answers (0%:R * D) (1%:R * D)) M (x * D) 0.
  move=> qE ax; have a0 : 0 <= a by move: ql0; rewrite qE.
  apply: (dp_in_order_monotone _ _ (told_way (d := (1, 0)%N) (each := a * D) (beside := 0) (p := 0) vt _ _ _ _ _ _)) => //.
  - by have := ler_wpmul2r D0 ax; lra.
  - by rewrite mul1r; exact: slope_pays qE (lexx _).
  - by apply: pays_nothing => //; lra.
  - by have := mulr_ge0 a0 D0; lra.
have down a : qr = Some a -> m%:R * a <= x -> dp_in_order (moved_within grid answers (1%:R * D) (0%:R * D)) M (x * D) 0.
  move=> qE ax; have a0 : 0 <= a by move: qr0; rewrite qE.
  apply: (dp_in_order_monotone _ _ (told_way (d := (0, 1)%N) (each := 0) (beside := a * D) (p := a * D) vt _ _ _ _ _ _)) => //.
  - by have := ler_wpmul2r D0 ax; lra.
  - by apply: pays_nothing => //; lra.
  - by rewrite mul1r; exact: slope_pays qE (lexx _).
  - by have := mulr_ge0 a0 D0; lra.
  - by lra.
case: nb le => /= /at_most_some[w].
- move=> /totalP[t1 [t2 [E1 /(some_times m0)[g gE ->] wE]]] wx; have [a [b [qlE qrE ag bg]]] := greatestP gE.
  have a0 : 0 <= a by move: ql0; rewrite qlE.
  have t1E : t1 = (n%:R - m%:R) * a.
    by move: E1; rewrite qlE natrB ?geq_minl// => /timesP[[-> ->]|[a' [<-]//]]; rewrite mul0r.
  apply: (by_ways (nb := All)) => // d; rewrite inE => /eqP ->.
  apply: (dp_in_order_monotone _ _ (told_way (d := (1, 1)%N) (each := a * D) (beside := (g - a) * D) (p := b * D) vt _ _ _ _ _ _)) => //.
  - by have := ler_wpmul2r D0 wx; rewrite wE t1E; lra.
  - by rewrite mul1r; exact: slope_pays qlE (lexx _).
  - by rewrite mul1r; exact: slope_pays qrE (lexx _).
  - by rewrite mulr_ge0// subr_ge0.
  - by rewrite -mulrDl ler_wpmul2r//; lra.
- move=> /(some_times n0)[a aE ->] wx; apply: (by_ways (nb := Increasing)) => // d; rewrite inE => /eqP ->; exact: up aE wx.
- move=> /(some_times m0)[a aE ->] wx; apply: (by_ways (nb := Decreasing)) => // d; rewrite inE => /eqP ->; exact: down aE wx.
- move=> /greatestP[t1 [t2 [/(some_times n0)[a aE ->] /(some_times m0)[b bE ->] aw bw]]] wx.
  apply: (by_ways (nb := Monotone)) => // d; rewrite !inE => /orP[] /eqP ->; [apply: (up a aE) | apply: (down b bE)]; lra.
- move=> /greatestP[a [b [aE bE aw bw]]] wx; apply: alone_told => //; [apply: slope_pays aE _ | apply: slope_pays bE _] => //; lra.
Qed.

Lemma alone_private x : ~~ value_told rep -> draws = 1%N -> at_most (loss_alone tl tr ql qr fl fr rep n c) (Some x) ->
  dp_in_order (neighbouring One) M (x * D) 0.
Proof.
rewrite /loss_alone; set up := least ql _; set down := least qr _ => /negP nv d1 le.
have [u [y [uE yE ux yx fx]]] : exists u y, [/\ up = Some u, down = Some y, u <= x, y <= x &
    fresh_told rep -> exists a b, [/\ fl = Some a, fr = Some b, a <= x & y + b <= x]].
  case: ifP le => f /at_most_some[w /greatestP[u [y [uE yE uw yw]]] wx]; last by exists u, y; split=> //; lra.
  have [a [t [aE /totalP[y' [b [y'E bE tE]]] ay ty]]] := greatestP yE.
  have b0 : 0 <= b by move: fr0; rewrite bE.
  by exists u, y'; split=> //; [lra | lra | move=> _; exists a, b; split=> //; lra].
have sum_ a b z : a + b <= z -> a * D + b * D <= z * D by rewrite -mulrDl => h; rewrite ler_wpmul2r.
have n1 : 0 <= n.-1%:R :> R by []. have n2 : 0 <= (minn c n.-1)%:R :> R by [].
have x0 : 0 <= x * D.
  rewrite mulr_ge0//; apply: le_trans ux; case: (leastP uE) => [qE|/totalP[a [b [aE bE ->]]]]; first by move: ql0; rewrite qE.
  by rewrite addr_ge0//; [move: tr0; rewrite aE | apply: times_ge0 bE].
apply: (alone_upper grid_whole threshold query again MD mD limits reports D0 (once d1) nv gD x0).
- case: (leastP uE) => [qE|/totalP[a [b [aE bE uE']]]]; [left; exact: slope_pays qE ux | right].
  exists (a * D), (b * D); split; [exact: slope_pays aE (lexx _) | by apply: times_pays => //; rewrite minnC | by apply: sum_; rewrite -uE'].
- have [g [g0 gp yg]] : exists g, [/\ 0 <= g, fresh_told rep -> pays fr D (g * D) & y + g <= x].
    have [f|nf] := pselect (fresh_told rep); last by exists 0; split=> //; lra.
    have [a [b [aE bE _ yb]]] := fx f; exists b; split=> //; first by move: fr0; rewrite bE.
    by move=> _; exact: slope_pays bE (lexx _).
  exists (g * D); split; [exact: mulr_ge0 | exact: gp |].
  case: (leastP yE) => [qE|/totalP[a [b [aE bE yE']]]]; [left | right].
  + by exists (y * D); [exact: slope_pays qE (lexx _) | exact: sum_].
  + exists (a * D), (b * D); split; [exact: slope_pays aE (lexx _) | exact: times_pays |].
    by rewrite -mulrDl -yE'; exact: sum_.
- by move=> f; have [a [b [aE _ ax _]]] := fx f; exact: slope_pays aE ax.
Qed.

(* Rule: log-concave-threshold, upper. *)
Theorem above_threshold_rule nb x : rule_bound tl tr ql qr fl fr rep n c draws nb x -> dp_in_order (claimed nb) M (x * D) 0.
Proof.
case=> [vt le|nv nbE d1 le|s nv no le|nv no d1 pk]; apply: claimed_order.
- exact: told_private.
- by rewrite nbE; exact: alone_private.
- exact: (shift_private nv no le).
- exact: (peaks_private nv no d1 pk).
Qed.
End Rule.
