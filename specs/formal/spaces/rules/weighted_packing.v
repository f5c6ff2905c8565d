(* Private answers in a metric space, continued (docs/theory/spaces.md, weighted packing, grid packing): databases on a line and on a grid. The
   points of a packing are more than 2 gamma apart, but what is bounded is continuous in the step, so that the step may be 2 gamma itself. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels finite powers means spaces.

(* -- Limits -- *)

Section Limits.
Context (R : realType).
Implicit Types (x c e w beta t : R).

(* What holds up to every small loss holds. *)
Lemma small_loss x c y e1 : 0 < e1 -> (forall e, 0 < e -> e < e1 -> x - e * c <= y) -> x <= y.
Proof.
move=> e10 H; rewrite leNgt; apply/negP => lt.
have c0 := normr_ge0 c; have c1 : 0 < `|c| + 1 by lra.
have d0 : 0 < (x - y) / 2 / (`|c| + 1) by rewrite !divr_gt0// subr_gt0.
pose e := Num.min (e1 / 2) ((x - y) / 2 / (`|c| + 1)).
have e0 : 0 < e by rewrite /e lt_minr d0 divr_gt0.
have ee : e < e1 by rewrite /e lt_minl; apply/orP; left; lra.
have le : e * c <= (x - y) / 2.
  apply: (@le_trans _ _ (e * (`|c| + 1))); first by rewrite ler_pmul2l// (le_trans (ler_norm c))// ler_addl.
  by rewrite -ler_pdivl_mulr// /e le_minl lexx orbT.
have := H e e0 ee; lra.
Qed.

(* Finitely many positive numbers have one below all of them. *)
Lemma least_positive (J : finType) (f : J -> R) : (forall j, 0 < f j) -> exists e, 0 < e /\ forall j, e <= f j.
Proof.
move=> f0; suff [e [e0 h]] : exists e, 0 < e /\ forall j, j \in enum J -> e <= f j.
  by exists e; split=> // j; apply: h; rewrite mem_enum.
elim: (enum J) => [|i s [e [e0 h]]]; first by exists 1.
exists (Num.min (f i) e); split=> [|j]; first by rewrite lt_minr f0.
by rewrite in_cons le_minl => /orP[/eqP ->|/h ->]; rewrite ?lexx ?orbT.
Qed.

(* Finitely many strict inequalities hold a little further too. *)
Lemma room_further (J : finType) (A B : J -> R) s : (forall j, A j * s < B j) ->
  exists t1, s < t1 /\ forall t, s < t -> t < t1 -> forall j, A j * t < B j.
Proof.
move=> H; have [j|e [e0 h]] := @least_positive J (fun j => (B j - A j * s) / (`|A j| + 1)).
  by rewrite divr_gt0 ?subr_gt0// ltr_paddl.
exists (s + e); split=> [|t st te j]; first by rewrite ltr_addl.
have A0 := normr_ge0 (A j); have A1 : 0 < `|A j| + 1 by lra.
have := h j; rewrite ler_pdivl_mulr// => h1.
have ts : 0 < t - s by rewrite subr_gt0.
have h2 : A j * (t - s) <= `|A j| * (t - s) by rewrite ler_pmul2r// ler_norm.
have h3 : (t - s) * (`|A j| + 1) < e * (`|A j| + 1) by rewrite ltr_pmul2r//; lra.
lra.
Qed.

(* The sum over an endless row of points. *)
Lemma endless_row w beta : 0 < w -> w <= 1 -> beta < 1 ->
  (forall n, (1 - beta) * (1 + \sum_(i < n) w ^+ i.+1 + \sum_(i < n) w ^+ i.+1) <= 1) -> w * (2 - beta) <= beta.
Proof.
move=> w0 w1 b1 H; have b0 : 0 < 1 - beta by rewrite subr_gt0.
pose S n := \sum_(i < n) w ^+ i.+1.
have tele n : (1 - w) * S n = w - w ^+ n.+1.
  elim: n => [|n IH]; first by rewrite /S big_ord0 mulr0 expr1 subrr.
  by rewrite /S big_ord_recr/= mulrDr -/(S n) IH [w ^+ n.+2]exprS; lra.
have low n : n%:R * w ^+ n <= S n.
  rewrite -[n in n%:R]card_ord mulr_natl -sumr_const; apply: ler_sum => i _.
  by apply: ler_wiexpn2l => //; exact: ltW.
have small n : (0 < n)%N -> (1 - beta) * w ^+ n <= n%:R^-1.
  move=> n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
  rewrite -[leRHS]mulr1 ler_pdivl_mull//.
  have S0 : 0 <= S n by apply: sumr_ge0 => i _; rewrite exprn_ge0// ltW.
  apply: le_trans (H n); rewrite -/(S n) mulrCA ler_pmul2l//; have := low n; lra.
have key : (w * (2 - beta) - beta) / 2 <= 0.
  apply: within_all => n n0; rewrite add0r; apply: le_trans (small n n0).
  have wn : w ^+ n.+1 <= w ^+ n by apply: ler_wiexpn2l => //; exact: ltW.
  have h1 := ler_wpmul2l (ltW b0) wn.
  have l0 : 0 <= 1 - w by rewrite subr_ge0.
  have h2 := ler_wpmul2l l0 (H n); rewrite -/(S n) in h2; move: h2.
  have -> : (1 - w) * ((1 - beta) * (1 + S n + S n)) = (1 - beta) * (1 - w + ((1 - w) * S n) * 2) by lra.
  rewrite tele; lra.
lra.
Qed.
End Limits.

Section Lines.
Context (R : realType) (X : Type) d (Z : measurableType d).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R).
Hypotheses (is_metric : metric between) (measurable_far : forall gamma x, measurable (spaces.far q between gamma x)).
Hypothesis dist0 : forall x x', 0 <= dist x x'.
Variables (M : mechanism R X Z) (gamma beta : R).
Hypotheses (near : near_but q between M gamma beta) (beta0 : 0 < beta) (beta1 : beta < 1) (gamma0 : 0 < gamma).

Let packed := @weighted_packing R X d Z q dist between measurable_far M gamma beta near.

(* Points that have no answer near to two of them. *)
Lemma few_near (I : finType) (xs : I -> X) :
  (forall i j z, between (q (xs i)) z <= gamma -> between (q (xs j)) z <= gamma -> i = j) ->
  forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= 1)%N.
Proof. by move=> H z; apply/card_le1_eqP => i j; rewrite !inE => hi hj; exact: (H _ _ z). Qed.

Lemma apart_near (I : finType) (xs : I -> X) : (forall i j, i != j -> 2 * gamma < between (q (xs i)) (q (xs j))) ->
  forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= 1)%N.
Proof.
move=> H; apply: few_near => i j z hi hj; apply/eqP; apply: contraT => /H lt; have [_ sym tri] := is_metric.
have := tri (q (xs i)) z (q (xs j)); rewrite [between z _]sym => le; suff : False by []. lra.
Qed.

(* Packings for every step a little longer than t0 bound what the step t0 would. *)
Lemma packing_limit eps (I : finType) (k : I -> R) t0 t1 : private_by_distance dist M eps -> 0 <= eps -> t0 < t1 -> (forall i, 0 <= k i) ->
  (forall t, t0 < t -> t < t1 -> exists (xs : I -> X) x, (forall i, dist (xs i) x <= t * k i) /\
     (forall i j, i != j -> 2 * gamma < between (q (xs i)) (q (xs j)))) ->
  (1 - beta) * (\sum_i expR (- (eps * (t0 * k i)))) <= 1.
Proof.
move=> priv e0 t01 k0 H; have [first _] := packed priv.
have b0 : 0 < 1 - beta by rewrite subr_gt0.
pose K := \sum_i k i; have kK i : k i <= K by rewrite /K (bigD1 i)//= ler_addl sumr_ge0.
set S := \sum_i _; have S0 : 0 <= S by apply: sumr_ge0 => i _; exact: expR_ge0.
apply: (@small_loss _ _ (eps * K * ((1 - beta) * S)) _ (t1 - t0)) => [|e e_gt0 elt]; first by rewrite subr_gt0.
have [||xs [x [near_x far_x]]] := H (t0 + e); [lra | lra |].
apply: le_trans (first I xs 1%N x (apart_near far_x)).
have -> : (1 - beta) * S - e * (eps * K * ((1 - beta) * S)) = (1 - beta) * (S * (1 - e * eps * K)) by lra.
rewrite ler_pmul2l// /S mulr_suml; apply: ler_sum => i _.
apply: (@le_trans _ _ (expR (- (eps * ((t0 + e) * k i))))); last by rewrite ler_expR ler_oppl opprK ler_wpmul2l.
have -> : - (eps * ((t0 + e) * k i)) = - (eps * (t0 * k i)) + - (e * eps * k i) by lra.
rewrite expRD ler_pmul2l ?expR_gt0//; apply: le_trans (expR_ge1D _); rewrite ler_add2l ler_oppl opprK.
by rewrite ler_wpmul2l// mulr_ge0// ltW.
Qed.

(* A database for each answer of a segment, in proportion. *)
Variable C : R.
Hypothesis C0 : 0 < C.
Definition row_sum (w : R) (a b : nat) : R := 1 + \sum_(i < a) w ^+ i.+1 + \sum_(i < b) w ^+ i.+1.

Definition place a b (i : 'I_(a + b.+1)) : R := i%:R - a%:R.

Lemma place_sum (w : R) (a b : nat) : 0 < w -> \sum_(i < a + b.+1) expR (ln w * `|place i|) = row_sum w a b.
Proof.
move=> w0; have power n : expR (ln w * n%:R) = w ^+ n by rewrite mulrC expRMm lnK ?posrE.
rewrite big_split_ord/= big_ord_recl.
have -> : \sum_(i < a) expR (ln w * `|place (lshift b.+1 i)|) = \sum_(i < a) w ^+ i.+1.
  rewrite (reindex_inj rev_ord_inj)/=; apply: eq_bigr => i _; rewrite -power /place /= natrB//.
  by rewrite addrAC subrr add0r normrN normr_nat.
have -> : expR (ln w * `|place (rshift a (@ord0 b))|) = 1 by rewrite /place /= addn0 subrr normr0 mulr0 expR0.
have -> : \sum_(i < b) expR (ln w * `|place (rshift a (lift ord0 i))|) = \sum_(i < b) w ^+ i.+1.
  by apply: eq_bigr => i _; rewrite -power /place /= /bump /= natrD addrAC subrr add0r normr_nat.
rewrite /row_sum; lra.
Qed.

Lemma places_apart a b (i j : 'I_(a + b.+1)) : i != j -> 1 <= `|place i - place j|.
Proof.
move=> ij; rewrite /place (_ : i%:R - a%:R - (j%:R - a%:R) = (i%:Z - j%:Z)%:~R :> R); last by rewrite rmorphB/= -!pmulrn; lra.
rewrite -intr_norm (_ : 1 = 1%:~R)// ler_int -gtz0_ge1 normr_gt0 subr_eq0; apply: contra ij => /eqP[h]; exact/eqP/val_inj.
Qed.

(* -- A line -- *)

(* An open segment of length L of which each point is the answer on a database, at distances in proportion: what a box has along a side and a
   ball along a diameter. Where there is room for a + b steps of twice gamma, the row of points is a packing. *)
Definition segment (L : R) (pt : R -> X) := forall s t, 0 < s < L -> 0 < t < L ->
  between (q (pt s)) (q (pt t)) = `|s - t| /\ dist (pt s) (pt t) = `|s - t| / C.

Lemma row_of_points eps L pt a b : segment L pt -> private_by_distance dist M eps -> 0 <= eps -> (a + b)%:R * (2 * gamma) < L -> 0 < L ->
  (1 - beta) * row_sum (expR (- (eps * (2 * gamma / C)))) a b <= 1.
Proof.
move=> line priv e0 room L0; have [t1 [t01 further]] := @room_further R [finType of unit] (fun _ => (a + b)%:R) (fun _ => L) _ (fun _ => room).
rewrite -place_sum ?expR_gt0// expK.
have -> : \sum_i expR (- (eps * (2 * gamma / C)) * `|@place a b i|) = \sum_i expR (- (eps * (2 * gamma * (`|@place a b i| / C)))).
  by apply: eq_bigr => i _; congr expR; lra.
apply: (packing_limit priv e0 t01) => [i|t t0 tt1]; first by rewrite divr_ge0// ltW.
have {further} := further t t0 tt1 tt => /= fits; have t_pos : 0 < t by apply: lt_trans t0; rewrite mulr_gt0.
pose o := (L - (a + b)%:R * t) / 2 + a%:R * t.
have inside i : 0 < o + t * @place a b i < L.
  have i0 : (0 : R) <= i%:R by rewrite ler0n.
  have il : i%:R <= (a + b)%:R :> R by rewrite ler_nat -ltnS -addnS.
  have h0 := ler_wpmul2l (ltW t_pos) i0; have h1 := ler_wpmul2l (ltW t_pos) il; move: t_pos fits h0 h1;
  rewrite /o /place; set u := (a + b)%:R => *; apply/andP; split; lra.
have o_in : 0 < o < L.
  have := inside (rshift a ord0); rewrite /place /= addn0 subrr mulr0 addr0//.
have apart (x y : R) : `|o + t * x - (o + t * y)| = t * `|x - y|.
  by rewrite opprD addrACA subrr add0r -mulrBr normrM gtr0_norm.
exists (fun i => pt (o + t * @place a b i)), (pt o); split=> [i|i j ij].
- have [_ ->] := line _ _ (inside i) o_in; have := apart (@place a b i) 0; rewrite mulr0 addr0 subr0 => ->.
  by rewrite mulrA.
- have [-> _] := line _ _ (inside i) (inside j); rewrite apart; apply: lt_le_trans t0 _.
  by rewrite ler_pmulr//; exact: places_apart.
Qed.

(* On the integers the points are 2 m + 1 apart, m the whole part of gamma: distances are whole there. *)
Definition row (pt : int -> X) := forall i j : int, between (q (pt i)) (q (pt j)) = `|i - j|%:~R /\ dist (pt i) (pt j) = `|i - j|%:~R / C.

Lemma row_of_integers eps m pt a b : row pt -> private_by_distance dist M eps -> gamma < m.+1%:R ->
  (forall y z, exists n : nat, between y z = n%:R) ->
  (1 - beta) * row_sum (expR (- (eps * ((2 * m + 1)%N%:R / C)))) a b <= 1.
Proof.
move=> line priv gm whole; have [first _] := packed priv; set s := (2 * m + 1)%N.
rewrite -place_sum ?expR_gt0// expK.
pose k (i : 'I_(a + b.+1)) : int := i%:Z - a%:Z; pose xs i := pt (s%:Z * k i); pose x := pt 0.
have kE i : `|@place a b i| = `|k i|%:~R by rewrite intr_norm /k /place rmorphB.
have -> : \sum_i expR (- (eps * (s%:R / C)) * `|@place a b i|) = \sum_i expR (- (eps * dist (xs i) x)).
  apply: eq_bigr => i _; congr expR; have [_ ->] := line (s%:Z * k i) 0; rewrite subr0 normrM [`|s%:Z|]ger0_norm// rmorphM/= kE.
  rewrite -!pmulrn; lra.
apply: (first _ xs 1%N x); apply: few_near => i j z hi hj; apply/eqP; apply: contraT => ij; have [_ sym tri] := is_metric.
have := tri (q (xs i)) z (q (xs j)); have [-> _] := line (s%:Z * k i) (s%:Z * k j).
have small y : between y z <= gamma -> between y z <= m%:R.
  have [n ->] := whole y z => h; rewrite ler_nat -ltnS -(ltr_nat R); exact: le_lt_trans gm.
have := small _ hi; have := small _ hj; rewrite [between _ z]sym [between (q (xs i)) z]sym => h1 h2 h3.
have : (s%:Z * 1 <= `|s%:Z * k i - s%:Z * k j|).
  rewrite -mulrBr normrM /= ler_wpmul2l// -gtz0_ge1 normr_gt0 /k opprB addrA subrK subr_eq0.
  by apply: contra ij => /eqP[h]; apply/eqP/val_inj.
rewrite mulr1 -(ler_int R) -pmulrn /s natrD natrM => h4; suff : False by []; lra.
Qed.

Lemma sharp eps e (S : R -> R) : private_by_distance dist M eps ->
  (forall e', 0 <= e' -> private_by_distance dist M e' -> (1 - beta) * S e' <= 1) -> 0 <= e -> 1 < (1 - beta) * S e -> e < eps.
Proof.
move=> priv H e0 over; rewrite ltNge; apply/negP => le.
by have := H e e0 (private_by_distance_more dist0 le priv); rewrite leNgt over.
Qed.

(* From sums over rows that do not end to epsilon. *)
Lemma endless_epsilon eps t : 0 < t -> 0 <= eps ->
  (forall n, (1 - beta) * row_sum (expR (- (eps * (t / C)))) n n <= 1) -> C * ln ((2 - beta) / beta) / t <= eps.
Proof.
move=> t0 e0 H; have b2 : 0 < 2 - beta by lra.
have tC : 0 < t / C by rewrite divr_gt0.
have w1 : expR (- (eps * (t / C))) <= 1 by rewrite -[leRHS](@expR0 R) ler_expR oppr_le0 mulr_ge0// ltW.
have := endless_row (expR_gt0 _) w1 beta1 H; rewrite expRN ler_pdivr_mull ?expR_gt0// -ler_pdivr_mulr// => h.
by rewrite ler_pdivr_mulr// mulrC -ler_pdivl_mulr// -mulrA -ler_expR lnK ?posrE ?divr_gt0.
Qed.

(* The inequality, and what it says where databases are at most W apart, infinitely many, or in a row on a line or on the integers. How
   many points with which overlap a given kind of space has is what the rule checks. *)
(* Rule: weighted-packing, lower. *)
Theorem weighted_packing_lines eps : private_by_distance dist M eps -> 0 <= eps ->
  [/\ (forall (I : finType) (xs : I -> X) (m : nat) x, (forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= m)%N) ->
        (1 - beta) * (\sum_i expR (- (eps * dist (xs i) x))) <= m%:R),
      (forall n (xs : 'I_n.+1 -> X) (m : nat) W, 0 < W -> (0 < m)%N -> (0 < n)%N ->
        (forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= m)%N) -> (forall i, dist (xs i) (xs ord0) <= W) ->
        dist (xs ord0) (xs ord0) = 0 -> ln (n%:R * ((1 - beta) / (m%:R - 1 + beta))) / W <= eps),
      (forall (xs : nat -> X) (m : nat) W, (forall n z, (#|[pred i : 'I_n | (between (q (xs i)) z <= gamma)%R]| <= m)%N) ->
        ~ forall i, dist (xs i) (xs 0%N) <= W),
      (forall L pt, segment L pt -> forall a b e, (a + b)%:R * (2 * gamma) < L -> 0 < L -> 0 <= e ->
        1 < (1 - beta) * row_sum (expR (- (e * (2 * gamma / C)))) a b -> e < eps) /\
      (forall pt, (forall L, segment L pt) -> C * ln ((2 - beta) / beta) / (2 * gamma) <= eps) &
      (forall m pt, row pt -> gamma < m.+1%:R -> (forall y z, exists n : nat, between y z = n%:R) ->
        (forall a b e, 0 <= e -> 1 < (1 - beta) * row_sum (expR (- (e * ((2 * m + 1)%N%:R / C)))) a b -> e < eps) /\
        C * ln ((2 - beta) / beta) / (2 * m + 1)%N%:R <= eps)].
Proof.
move=> priv e0; have [first infinite] := packed priv; split=> //.
- by move=> n xs m W W0 m0 n0 few near_W d00; exact: (weighted_packing_count measurable_far near priv e0 W0 beta0 beta1 m0 n0 few near_W d00).
- by move=> xs m W few near_W; apply: (infinite xs m W beta1 few) => i; rewrite dist0 near_W.
- split=> [L pt line a b e room L0|pt line].
    apply: (sharp (S := fun e => row_sum (expR (- (e * (2 * gamma / C)))) a b) priv) => e' e'0 priv'.
    exact: (row_of_points line priv' e'0 room L0).
  apply: endless_epsilon => // [|n]; first by rewrite mulr_gt0.
  have L0 : 0 <= (n + n)%:R * (2 * gamma) :> R by rewrite !mulr_ge0 ?ler0n// ltW.
  by apply: (row_of_points (line ((n + n)%:R * (2 * gamma) + 1))) => //; lra.
- move=> m pt line gm whole; split=> [a b e|].
    apply: (sharp (S := fun e => row_sum (expR (- (e * ((2 * m + 1)%N%:R / C)))) a b) priv) => e' _ priv'.
    exact: (row_of_integers a b line priv' gm whole).
  apply: endless_epsilon => // n.
  exact: (row_of_integers n n line priv gm whole).
Qed.

(* -- A grid -- *)

(* Databases for the answers in Y, a part of R^n with a norm. *)
Section Grid.
Variables (n : nat) (N : ('I_n -> R) -> R) (Y : set ('I_n -> R)) (db : ('I_n -> R) -> X).
Hypotheses (N0 : forall u, 0 <= N u) (NZ : forall t u, N (fun l => t * u l) = `|t| * N u).
Hypothesis answered : forall u v, Y u -> Y v ->
  between (q (db u)) (q (db v)) = N (fun l => u l - v l) /\ dist (db u) (db v) = N (fun l => u l - v l) / C.

Variables (I : finType) (z : I -> 'I_n -> int) (i0 : I).
Hypotheses (z_inj : forall i j, (forall l, z i l = z j l) -> i = j) (origin : forall l, z i0 l = 0).
Definition at_grid (i : I) : 'I_n -> R := fun l => (z i l)%:~R.

Lemma grid_of_points eps (c : R) : 0 < c -> (forall i j, i != j -> c <= N (fun l => at_grid i l - at_grid j l)) ->
  (exists t1, 2 * gamma / c < t1 /\ forall t, 2 * gamma / c < t -> t < t1 -> exists v, forall i, Y (fun l => v l + t * at_grid i l)) ->
  private_by_distance dist M eps -> 0 <= eps -> (1 - beta) * (\sum_i expR (- (eps * (2 * gamma / c * N (at_grid i) / C)))) <= 1.
Proof.
move=> c0 apart [t1 [t01 room]] priv e0.
have -> : \sum_i expR (- (eps * (2 * gamma / c * N (at_grid i) / C))) = \sum_i expR (- (eps * (2 * gamma / c * (N (at_grid i) / C)))).
  by apply: eq_bigr => i _; rewrite -[in RHS]mulrA -[in LHS]mulrA -mulrA.
apply: (packing_limit priv e0 t01) => [i|t t0 tt1]; first by rewrite divr_ge0// ltW.
have t_pos : 0 < t by apply: lt_trans t0; rewrite divr_gt0// mulr_gt0.
have [v inside] := room t t0 tt1; exists (fun i => db (fun l => v l + t * at_grid i l)), (db (fun l => v l + t * at_grid i0 l)).
have moved i j : N (fun l => v l + t * at_grid i l - (v l + t * at_grid j l)) = t * N (fun l => at_grid i l - at_grid j l).
  rewrite -[t in RHS]gtr0_norm// -NZ; congr N; apply/funext => l; by rewrite opprD addrACA subrr add0r -mulrBr.
split=> [i|i j ij].
- have [_ ->] := answered (inside i) (inside i0); rewrite moved (_ : (fun l => _) = at_grid i) ?mulrA//.
  by apply/funext => l; rewrite /at_grid origin subr0.
- have [-> _] := answered (inside i) (inside j); rewrite moved; apply: lt_le_trans (_ : t * c <= _).
    by rewrite -ltr_pdivr_mulr.
  by rewrite ler_pmul2l//; exact: apart.
Qed.

(* Where there is room: everywhere, in a box without its ends, in a ball without its boundary. *)
Definition everywhere (s : R) := Y = setT.
Definition in_box s := exists (L : 'I_n -> R) (left right : 'I_n -> nat), [/\ forall u, (forall l, 0 < u l < L l) -> Y u,
  forall i l, - (left l)%:R <= at_grid i l <= (right l)%:R & forall l, (left l + right l)%:R * s < L l].
Definition in_ball s := exists radius, (forall u, N u < radius -> Y u) /\ forall i, s * N (at_grid i) < radius.

Lemma room_for_grid s : 0 <= s -> [\/ everywhere s, in_box s | in_ball s] ->
  exists t1, s < t1 /\ forall t, s < t -> t < t1 -> exists v, forall i, Y (fun l => v l + t * at_grid i l).
Proof.
move=> s0 [-> | [L [left [right [inY reach fits]]]] | [radius [inY fits]]].
- by exists (s + 1); split=> [|t _ _]; [rewrite ltr_addl | exists (fun=> 0)].
- have [t1 [st1 further]] := room_further fits; exists t1; split=> // t st tt1.
  have t0 : 0 <= t by apply: ltW; exact: le_lt_trans st.
  exists (fun l => t * (left l)%:R + (L l - (left l + right l)%:R * t) / 2) => i; apply: inY => l.
  have /andP[h1 h2] := reach i l; have h3 := further t st tt1 l.
  have h4 := ler_wpmul2l t0 h1; have h5 := ler_wpmul2l t0 h2; move: h3 h4 h5; rewrite natrD => *; apply/andP; split; lra.
- have fits' i : N (at_grid i) * s < radius by rewrite mulrC.
  have [t1 [st1 further]] := room_further fits'; exists t1; split=> // t st tt1.
  have t0 : 0 <= t by apply: ltW; exact: le_lt_trans st.
  exists (fun=> 0) => i; apply: inY; rewrite (_ : (fun l => _) = (fun l => t * at_grid i l)); last by apply/funext => l; rewrite add0r.
  by rewrite NZ ger0_norm// mulrC; exact: further.
Qed.
End Grid.
End Lines.
