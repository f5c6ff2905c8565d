(* Above threshold with log-concave noises, from above (docs/theory/selection.md, log-concave threshold, concave): what outputs lose is the least of three
   linear functions of the number of positives; where the next numbers on both sides lose no more than one does, none loses more. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets.
From mathcomp.analysis Require Import reals.
From dpverify Require Import arithmetic shift_costs.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

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

Theorem peak ls (m p : nat) v : (p <= m)%N -> (forall l y, List.In l ls -> (y <= m)%N -> sound l y%:R) ->
  least_of ls p%:R v -> (forall v', least_of ls p%:R v' -> v <= v') ->
  ((0 < p)%N -> least_of ls p.-1%:R v) -> ((p < m)%N -> least_of ls p.+1%:R v) -> forall y, (y <= m)%N -> least_of ls y%:R v.
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
