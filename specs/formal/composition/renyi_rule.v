(* Compositions by their Renyi divergences (docs/theory/composition.md: Renyi composition, several guarantees): the divergences of one order add up;
   at each order the sum implies an (eps, delta), which is a point above the curve, and so is its mirror image; chords between such points, from
   (0, 1) on, lie above the curve, and where they fall ever less steeply they are the curve of one pair. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves stated_guarantee pairs table_laws finite_curve renyi renyi_curves measures.
From dpverify Require Import gaussian_curve gaussian_measures implied_bounds implied_measures added_measures.
Import numFieldNormedType.Exports.

Section Chain.
Context (R : realType) (n : nat) (x y : nat -> R).
Hypotheses (x0 : x 0%N = 0) (y0 : y 0%N = 1) (rise : forall k, (k < n)%N -> x k < x k.+1).

(* The chords between the corners, constant from the last on. *)
Definition chain (f : R -> R) :=
  (forall k a, (k < n)%N -> x k <= a -> a <= x k.+1 -> f a = y k + (a - x k) / (x k.+1 - x k) * (y k.+1 - y k)) /\ forall a, x n <= a -> f a = y n.

Definition fall (k : nat) : R := if (k < n)%N then (y k - y k.+1) / (x k.+1 - x k) else 0.

Lemma chain_place a : 0 <= a -> (exists k, [/\ (k < n)%N, x k <= a & a <= x k.+1]) \/ x n <= a.
Proof.
move=> a0; have [h|h] := leP (x n) a; [by right | left].
suff : forall m, (m <= n)%N -> a < x m -> exists k, [/\ (k < m)%N, x k <= a & a <= x k.+1].
  by move=> /(_ n (leqnn n) h).
elim=> [|m IH] mn am; first by move: am; rewrite x0 ltNge a0.
have [h'|h'] := leP (x m) a; first by exists m; split=> //; exact: ltW.
by have [k [km k1 k2]] := IH (ltnW mn) h'; exists k; split=> //; exact: ltnW.
Qed.

Lemma corner_rises k : (k <= n)%N -> 0 <= x k.
Proof. by elim: k => [|k IH] kn; rewrite ?x0//; apply: le_trans (IH (ltnW kn)) _; exact/ltW/rise. Qed.

Lemma chain_above d (T : measurableType d) (P Q : {measure set T -> \bar R}) f a : P setT = 1%E -> Q setT = 1%E -> chain f ->
  (forall k, (0 < k)%N -> (k <= n)%N -> profile (x k) P Q <= y k) -> 0 <= a -> profile a P Q <= f a.
Proof.
move=> P1 Q1 [pieces flat] above a0; have at_corner k : (k <= n)%N -> profile (x k) P Q <= y k.
  by case: k => [|k] kn; [rewrite x0 y0 profile0 | exact: above].
have [[k [kn xa ax]]|h] := chain_place a0; last by rewrite flat//; apply: (beyond_last P1 Q1 (corner_rises (leqnn n)) h); exact: at_corner.
rewrite (pieces k a kn xa ax); apply: (chord_above P1 Q1 (corner_rises (ltnW kn)) (rise kn)); rewrite ?xa//; apply: at_corner => //; exact: ltnW.
Qed.

Lemma chain_pair f : (0 < n)%N -> chain f -> fall 0%N <= 1 -> (forall k, (k < n)%N -> fall k.+1 <= fall k) -> 0 <= y n ->
  exists (Y : finType) (pt : Y -> nat) (P Q : {measure set nat -> \bar R}) (p q : Y -> R),
  [/\ injective pt, (forall y, 0 <= p y) /\ (forall y, 0 <= q y), P setT = 1%E /\ Q setT = 1%E, table_law pt P p /\ table_law pt Q q &
      forall a, 0 <= a -> profile a P Q = f a].
Proof.
move=> n0 [pieces flat] first falls last; pose u k := y k + x k * fall k.
have E k a : (k < n)%N -> x k <= a -> a <= x k.+1 -> f a = u k - a * fall k.
  move=> kn xa ax; rewrite (pieces k a kn xa ax) /u /fall kn.
  have d0 : x k.+1 - x k != 0 by rewrite subr_eq0 gt_eqF// rise.
  set i := (x k.+1 - x k)^-1; lra.
apply: (@corners_curve R f n x u fall x0 rise) => //.
- move=> k a; rewrite leq_eqVlt => /predU1P[->|kn] xa ax; last by apply: E => //; exact: ax.
  by rewrite flat// /u /fall ltnn !mulr0 addr0 subr0.
- by rewrite /fall ltnn.
- have h : x 0%N <= 0 by rewrite x0.
  have h' : 0 <= x 1%N by have := rise n0; rewrite x0 => /ltW.
  by rewrite (E 0%N 0 n0 h h') /u x0 y0; lra.
- by rewrite flat.
Qed.
End Chain.

(* -- The rule -- *)

Section Rule.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* Each corner but the first is a guarantee that some divergence implies, or the mirror image of one. *)
Definition implied_corner (order total eps : R) (a v : R) := exists delta,
  [/\ 0 <= delta, renyi_delta order total eps <= delta & (a = expR eps /\ v = delta) \/ (a = (expR eps)^-1 /\ v = 1 - (1 - delta) / expR eps)].

Lemma implied_above order total eps a v x x' : 1 < order -> renyi_private (both N) M order total -> both N x x' ->
  implied_corner order total eps a v -> profile a (M x) (M x') <= v.
Proof.
move=> o1 h xx [delta [d0 le [[-> ->]|[-> ->]]]]; have l := law_total M.
- exact: le_trans (renyi_profile eps o1 (l x) (l x') (h x x' xx)) le.
- apply: (mirror_point (l x) (l x') (expR_gt0 eps)).
  exact: le_trans (renyi_profile eps o1 (l x') (l x) (h x' x (bothC xx))) le.
Qed.

Lemma implied_first order total eps a v : 0 <= eps -> 0 < a -> implied_corner order total eps a v -> 1 - a <= v.
Proof.
move=> e0 a0 [delta [d0 _ [[ae ->]|[ae ->]]]]; have A : 1 <= expR eps by rewrite -expR0 ler_expR.
- by apply: le_trans d0; rewrite ae subr_le0.
- by rewrite ae ler_add2l ler_opp2 mulrBl mul1r ler_subl_addr ler_addl divr_ge0// ltW// expR_gt0.
Qed.

(* (1) The divergence of an adaptive composition at each order is at most the greatest sum at one pair of neighbours. (2) What the parts have.
   (3) The chain of corners is above the curve of all neighbours, in both orders, and is the curve of one pair where it is convex. *)
(* Rule: renyi-composition, upper. *)
Theorem renyi_rule :
  [/\ forall a ts t, 1 < a -> adaptive (both N) (in_renyi a) M ts -> (forall x x', both N x x' -> \sum_(s <- ts x x') s <= t) ->
        renyi_private (both N) M a t,
      forall d' (U : measurableType d') (P Q : {measure set U -> \bar R}) a, P setT = 1%E -> Q setT = 1%E -> 1 < a ->
        [/\ forall rho, zcdp rho P Q -> renyi a (a * rho) P Q, forall eta, bounded_range eta P Q -> renyi a (a * (eta ^+ 2 / 8)) P Q &
            forall e, 0 <= e -> close e 0 P Q -> close e 0 Q P -> renyi a (response_renyi e a) P Q],
      forall (V : lmodType R) (B : V -> V -> R) d' (Z : measurableType d') (nu : {measure set Z -> \bar R}) (place : Z -> V) (c mu a : R) P0 Q0
        d1 (U : measurableType d1) (P Q : {measure set U -> \bar R}), inner_form B -> 0 < c ->
        (forall v, exists W : {measure set Z -> \bar R}, W setT = 1%E /\ has_density nu W (fun y => c * expR (- (B (place y - v) (place y - v) / 2)))) ->
        gaussian_pair B nu place c mu P0 Q0 -> 1 < a -> P setT = 1%E -> Q setT = 1%E -> dominated P Q P0 Q0 -> renyi a (a * (mu ^+ 2 / 2)) P Q &
      forall n x y f, x 0%N = 0 -> y 0%N = 1 -> (forall k, (k < n)%N -> x k < x k.+1) -> chain n x y f ->
        (forall k, (0 < k)%N -> (k <= n)%N -> exists order total eps,
          [/\ 1 < order, 0 <= eps, renyi_private (both N) M order total & implied_corner order total eps (x k) (y k)]) ->
        (forall z z', both N z z' -> forall a, 0 <= a -> profile a (M z) (M z') <= f a) /\
        ((0 < n)%N -> (forall k, (k < n)%N -> fall n x y k.+1 <= fall n x y k) -> 0 <= y n -> exists P Q : {measure set nat -> \bar R},
          [/\ P setT = 1%E, Q setT = 1%E, forall a, 0 <= a -> profile a P Q = f a & forall z z', both N z z' -> dominated (M z) (M z') P Q])].
Proof.
split.
- by move=> a ts t a1 parts most z z' zz; apply: (renyi_weaken a1 (most z z' zz)); exact: (adaptive_renyi a1 parts zz).
- move=> d' U P Q a P1 Q1 a1; split=> [rho h|eta h|e e0 h h']; first exact: h.
  + exact: (bounded_range_zcdp P1 Q1 h a1).
  + exact: (pure_renyi e0 P1 Q1 h h' a1).
- move=> V B d' Z nu place c mu a P0 Q0 d1 U P Q form c0 every pair a1 P1 Q1 dom.
  pose K := @Mechanism R bool _ U (fun b => if b then P else Q) (fun b => match b with true => P1 | false => Q1 end).
  pose NN : relation bool := fun b b' => b && ~~ b'.
  have domK z z' : NN z z' -> dominated (K z) (K z') P0 Q0 by case: z; case: z'.
  by have [_ _ h] := gaussian_measures_upper form c0 every pair domK; exact: (h a a1 true false isT).
- move=> n x y f x0 y0 rise ch corners.
  have up z z' : both N z z' -> forall a, 0 <= a -> profile a (M z) (M z') <= f a.
    move=> zz a a0; apply: (chain_above x0 y0 rise (law_total M z) (law_total M z') ch _ a0) => k k0 kn.
    by have [order [total [eps [o1 _ h c]]]] := corners k k0 kn; exact: (implied_above o1 h zz c).
  split=> // n0 falls last; have first : fall n x y 0%N <= 1.
    have [order [total [eps [o1 e0 h c]]]] := corners 1%N isT n0.
    have x1 : 0 < x 1%N by rewrite -x0; exact: rise.
    have := implied_first e0 x1 c; rewrite /fall n0 x0 y0 subr0 ler_pdivr_mulr// mul1r; lra.
  have [Z [pt [P [Q [p [q [_ _ [P1 Q1] _ E]]]]]]] := chain_pair x0 y0 rise n0 ch first falls last.
  by exists P, Q; split=> // z z' zz a a0; rewrite E//; exact: up.
Qed.
End Rule.
