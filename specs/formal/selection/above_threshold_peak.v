(* Above threshold with log-concave noises, from above (docs/theory/selection.md, log-concave threshold, concave): what outputs lose is the least of three
   linear functions of the number of positives; where the next numbers on both sides lose no more than one does, none loses more. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic independent log_concave shift_costs above_threshold above_threshold_upper.

Section Peak.
Context (R : realType).
Implicit Types (l : seq (item R)) (v y : R).

Definition sound l y := forall i, i \in l -> nonneg i.1.1 /\ 0 <= i.1.2 * y + i.2.

Lemma charged_between t l y0 y1 v : sound l y0 -> sound l y1 -> 0 < t -> t < 1 -> charged ((1 - t) * y0 + t * y1) l v ->
  exists v0 w, [/\ charged y0 l v0, charged y1 l w & (1 - t) * v0 + t * w <= v].
Proof.
move=> + + t0 t1; elim: l v => [|[[b a] k] l IH] v s0 s1 /=; first by move=> h; exists 0, 0; rewrite !mulr0 addr0.
move=> [c [pc h]]; have [b0 x0] := s0 _ (mem_head _ _); have [_ x1] := s1 _ (mem_head _ _); rewrite /= in b0 x0 x1.
have [||v0 [w [h0 h1 le]]] := IH _ _ _ h.
- by move=> i il; apply: s0; rewrite inE il orbT.
- by move=> i il; apply: s1; rewrite inE il orbT.
have [|c0 [c1 [p0 p1 cc]]] := pays_ends b0 t0 t1 (or_introl (conj x0 x1)) (c := c).
  by suff <- : a * ((1 - t) * y0 + t * y1) + k = (1 - t) * (a * y0 + k) + t * (a * y1 + k) by []; lra.
exists (c0 + v0), (c1 + w); split; last by lra.
- by exists c0; split=> //; rewrite [c0 + v0]addrC addrK.
- by exists c1; split=> //; rewrite [c1 + w]addrC addrK.
Qed.

(* Beyond q, as seen from p, a linear function that is no greater at q than at p is no greater either. *)
Lemma beyond_peak l p q y v t : 0 < t -> t < 1 -> q = (1 - t) * p + t * y -> sound l p -> sound l y -> charged q l v ->
  (forall v', charged p l v' -> v <= v') -> charged y l v.
Proof.
move=> t0 t1 -> sp sy h least; have [v0 [w [h0 h1 le]]] := charged_between sp sy t0 t1 h.
apply: charged_more h1; have u0 : 0 <= 1 - t by lra.
have := ler_wpmul2l u0 (least _ h0) => le0; have : t * w <= t * v by lra.
by rewrite ler_pmul2l.
Qed.

(* The least of several. *)
Definition least_of (ls : seq (seq (item R))) y v := exists2 l, List.In l ls & charged y l v.

Theorem peak ls (m p : nat) v : (p <= m)%N -> (forall l (y : nat), List.In l ls -> (y <= m)%N -> sound l y%:R) ->
  least_of ls p%:R v -> (forall v', least_of ls p%:R v' -> v <= v') ->
  ((0 < p)%N -> least_of ls p.-1%:R v) -> ((p < m)%N -> least_of ls p.+1%:R v) -> forall y : nat, (y <= m)%N -> least_of ls y%:R v.
Proof.
move=> pm so at_p least left right y ym.
have ratio (a b c : R) : a < b -> b < c -> exists t, [/\ 0 < t, t < 1 & b = (1 - t) * a + t * c].
  move=> ab bc; have d : 0 < c - a by lra.
  have e : (b - a) / (c - a) * (c - a) = b - a by rewrite divfK// gt_eqF.
  exists ((b - a) / (c - a)); split; [by rewrite divr_gt0//; lra | by rewrite ltr_pdivr_mulr// mul1r; lra | lra].
have [yp|py|->//] := ltngtP y p.
- have p0 : (0 < p)%N by exact: leq_ltn_trans yp.
  have [l li h] := left p0; move: yp; rewrite -{1}(prednK p0) ltnS leq_eqVlt => /predU1P[->|lt]; first by exists l.
  exists l => //; have pR : p.-1%:R < p%:R :> R by rewrite ltr_nat prednK.
  have yR : y%:R < p.-1%:R :> R by rewrite ltr_nat.
  have [t [t0 t1 tE]] := ratio _ _ _ yR pR.
  apply: (@beyond_peak l p%:R p.-1%:R y%:R v (1 - t)) => //; [by lra | by lra | by lra | exact: so | exact: so |].
  by move=> v' h'; apply: least; exists l.
- have pm' : (p < m)%N by exact: leq_trans ym.
  have [l li h] := right pm'; move: py; rewrite leq_eqVlt => /predU1P[<-|lt]; first by exists l.
  exists l => //; have pR : p%:R < p.+1%:R :> R by rewrite ltr_nat.
  have yR : p.+1%:R < y%:R :> R by rewrite ltr_nat.
  have [t [t0 t1 tE]] := ratio _ _ _ pR yR.
  apply: (@beyond_peak l p%:R p.+1%:R y%:R v t) => //; [exact: so | exact: so |].
  by move=> v' h'; apply: least; exists l.
Qed.
End Peak.

Section Positives.
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

Section Ends.
Context (dn up : R).
Hypotheses (dn0 : 0 <= dn) (up0 : 0 <= up).

(* The three linear functions of the number of positives. *)
Definition three : seq (seq (item R)) := [:: [:: (tr, 0, up); (qr, up + dn, 0)]; [:: (ql, - up, n%:R * up); (qr, dn, 0)];
  [:: (tl, 0, dn); (ql, - (up + dn), n%:R * (up + dn))]].
Notation loses := (loses_at_most tl tr ql qr fl fr fresh_told dn up).

Lemma three_sound l (y : nat) : List.In l three -> (y <= n)%N -> sound l y%:R.
Proof.
move=> li yn; have yR : y%:R <= n%:R :> R by rewrite ler_nat.
have y0 : 0 <= y%:R :> R by exact: ler0n.
have ud0 : 0 <= up + dn by exact: addr_ge0.
have h1 : 0 <= - up * y%:R + n%:R * up by have := ler_wpmul2r up0 yR; lra.
have h2 : 0 <= - (up + dn) * y%:R + n%:R * (up + dn) by have := ler_wpmul2r ud0 yR; lra.
have h3 : 0 <= (up + dn) * y%:R + 0 by rewrite addr0 mulr_ge0.
have h4 : 0 <= dn * y%:R + 0 by rewrite addr0 mulr_ge0.
have h5 : 0 <= 0 * y%:R + up by rewrite mul0r add0r.
have h6 : 0 <= 0 * y%:R + dn by rewrite mul0r add0r.
by move: li => /=[<-|[<-|[<-|//]]] i; rewrite !inE => /orP[] /eqP ->.
Qed.

Lemma loses_three (y : nat) v : ~ fresh_told -> (y <= n)%N -> loses (n - y) y 0 v <-> least_of three y%:R v.
Proof.
move=> nf yn; have E1 : 0 * y%:R + up = up by lra.
have E2 : (up + dn) * y%:R + 0 = y%:R * (up + dn) by lra.
have E3 : - up * y%:R + n%:R * up = (n - y)%:R * up by rewrite natrB//; lra.
have E4 : dn * y%:R + 0 = y%:R * dn by lra.
have E5 : 0 * y%:R + dn = dn by lra.
have E6 : - (up + dn) * y%:R + n%:R * (up + dn) = (n - y)%:R * (up + dn) by rewrite natrB//; lra.
split=> [[g1 [g2 [g10 g20 _ [] [a1 [a2 [p1 p2 le]]]]]]|[l /=[<-|[<-|[<-|//]]] /= [a1 [p1 [a2 [p2 le]]]]]].
- exists [:: (tr, 0, up); (qr, up + dn, 0)]; first by left.
  by rewrite /= E1 E2; exists a1; split=> //; exists a2; split=> //; lra.
- exists [:: (ql, - up, n%:R * up); (qr, dn, 0)]; first by right; left.
  by rewrite /= E3 E4; exists a1; split=> //; exists a2; split=> //; lra.
- exists [:: (tl, 0, dn); (ql, - (up + dn), n%:R * (up + dn))]; first by right; right; left.
  by rewrite /= E5 E6; exists a1; split=> //; exists a2; split=> //; lra.
- exists 0, 0; split=> //; apply: Or31; exists a1, a2; rewrite E1 in p1; rewrite E2 in p2; split=> //; lra.
- exists 0, 0; split=> //; apply: Or32; exists a1, a2; rewrite E3 in p1; rewrite E4 in p2; split=> //; lra.
- exists 0, 0; split=> //; apply: Or33; exists a1, a2; rewrite E5 in p1; rewrite E6 in p2; split=> //; lra.
Qed.

(* v is what the output with p positives loses, and those with one more and one less lose no more. *)
Theorem peak_upper (p : nat) v : (forall o, exists r, shown o = [:: r]) -> ~ value_told -> ~ fresh_told -> grid dn -> grid up ->
  (p <= minn c n)%N -> loses (n - p) p 0 v -> (forall v', loses (n - p) p 0 v' -> v <= v') ->
  ((0 < p)%N -> loses (n - p.-1) p.-1 0 v) -> ((p < minn c n)%N -> loses (n - p.+1) p.+1 0 v) ->
  dp_in_order (moved_within grid answers dn up) M v 0.
Proof.
move=> once nv nf gd gu; rewrite leq_min => /andP[pc pn] at_p least left right.
apply: (outputs_upper grid_whole threshold query again MD mD limits reports dn0 up0 once nv gd gu) => Y J Yc Yn J0.
have -> : J = 0%N by case: J J0 {Yc Yn} => // J /(_ isT) /nf.
rewrite addn0; have [Yc' Yn'] : (Y <= c)%N /\ (Y <= n)%N by split; apply: leq_trans (leq_addr J Y) _.
apply/loses_three => //; apply: (@peak R three (minn c n) p v) => //; last by rewrite leq_min Yc'.
- by rewrite leq_min pc.
- by move=> l y li; rewrite leq_min => /andP[_ yn]; exact: three_sound.
- by apply/loses_three.
- by move=> v' /(loses_three _ nf pn); exact: least.
- by move=> p0; apply/loses_three => //; [exact: leq_trans (leq_pred p) pn | exact: left].
- move=> more; have pn' : (p < n)%N by move: more; rewrite leq_min => /andP[].
  by apply/loses_three => //; exact: right.
Qed.
End Ends.
End Positives.
