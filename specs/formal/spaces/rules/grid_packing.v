(* Private answers in a metric space, continued (docs/theory/spaces.md, grid packing): how far apart the points of the integer lattice are in lp
   norms and in the maximum norm, and those of it whose entries have an even sum. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels finite powers means spaces weighted_packing.

Section Norms.
Context (R : realType) (n : nat).
Implicit Types (u : 'I_n -> R) (p : nat).

(* The lp norm for a whole p of at least 1, and the maximum norm. *)
Definition lp p u : R := pow p%:R^-1 (\sum_l `|u l| ^+ p).
Definition greatest u : R := \big[Num.max/0]_l `|u l|.

Lemma powers_ge0 p u : 0 <= \sum_l `|u l| ^+ p. Proof. by apply: sumr_ge0 => l _; exact: exprn_ge0. Qed.

Lemma lp_ge0 p u : 0 <= lp p u. Proof. exact: pow_ge0. Qed.

Lemma root_power p (x : R) : (0 < p)%N -> 0 <= x -> pow p%:R^-1 (x ^+ p) = x.
Proof.
move=> p0; rewrite le_eqVlt => /orP[/eqP <-|x0]; first by rewrite expr0n gtn_eqF// pow0.
by rewrite pow_pos ?exprn_gt0// lnX// -[ln x *+ p]mulr_natl mulrA mulVf ?mul1r ?lnK// pnatr_eq0 -lt0n.
Qed.

Lemma lpZ p t u : (0 < p)%N -> lp p (fun l => t * u l) = `|t| * lp p u.
Proof.
move=> p0; rewrite /lp -{1}(@root_power p `|t| p0 (normr_ge0 t)) -powM ?exprn_ge0 ?powers_ge0//; congr pow.
by rewrite mulr_sumr; apply: eq_bigr => l _; rewrite normrM exprMn.
Qed.

Lemma greatest_ge0 u : 0 <= greatest u.
Proof. by rewrite /greatest; elim/big_ind: _ => // x y x0 y0; rewrite le_maxr x0. Qed.

Lemma greatestZ t u : greatest (fun l => t * u l) = `|t| * greatest u.
Proof.
rewrite /greatest (big_morph (fun x => `|t| * x) (fun x y => maxr_pmulr x y (normr_ge0 t)) (mulr0 _)).
by apply: eq_bigr => l _; rewrite normrM.
Qed.

Lemma greatest_le u l : `|u l| <= greatest u.
Proof. exact: (@le_bigmax _ _ _ 0 (fun l => `|u l|)). Qed.

(* -- Points of the lattice -- *)
Implicit Types (v : 'I_n -> int).

Lemma whole_ge1 (k : int) : k != 0 -> 1 <= `|k%:~R : R|.
Proof. by move=> k0; rewrite -intr_norm (_ : 1 = 1%:~R)// ler_int -gtz0_ge1 normr_gt0. Qed.

Lemma whole_power_ge1 p (k : int) : k != 0 -> 1 <= `|k%:~R : R| ^+ p.
Proof. by move=> k0; rewrite exprn_ege1// whole_ge1. Qed.

Lemma greatest_lattice v l : v l != 0 -> 1 <= greatest (fun l => (v l)%:~R).
Proof. by move=> vl; apply: le_trans (whole_ge1 vl) _; exact: (greatest_le (fun l => (v l)%:~R)). Qed.

Lemma lp_at_least p u (c : R) : 0 <= c -> c <= \sum_l `|u l| ^+ p -> pow p%:R^-1 c <= lp p u.
Proof. by move=> c0 h; apply: pow_le => //; rewrite invr_ge0 ler0n. Qed.

Lemma lp_lattice p v l : v l != 0 -> 1 <= lp p (fun l => (v l)%:~R).
Proof.
move=> vl; rewrite -[leLHS](pow1 p%:R^-1); apply: lp_at_least => //.
rewrite (bigD1 l)//=; apply: le_trans (whole_power_ge1 p vl) _; rewrite ler_addl sumr_ge0// => i _; exact: exprn_ge0.
Qed.

(* With an even sum two entries are not 0, or one is at least 2. *)
Lemma lp_even p v l : (0 < p)%N -> v l != 0 -> (2 %| \sum_l v l)%Z -> pow p%:R^-1 2 <= lp p (fun l => (v l)%:~R).
Proof.
move=> p0 vl even; apply: lp_at_least => //.
have rest0 (P : pred 'I_n) : 0 <= \sum_(i | P i) `|(v i)%:~R : R| ^+ p by apply: sumr_ge0 => i _; exact: exprn_ge0.
have [/existsP[k /andP[kl vk]]|none] := boolP [exists k, (k != l) && (v k != 0)].
- rewrite (bigD1 l)//= (bigD1 k)//=; have h1 := whole_power_ge1 p vl; have h2 := whole_power_ge1 p vk.
  have := rest0 (fun i => (i != l) && (i != k)); lra.
- have alone : \sum_i v i = v l.
    rewrite (bigD1 l)//= big1 ?addr0// => i il; apply/eqP; apply: contraNT none => vi; apply/existsP; exists i; exact/andP.
  rewrite (bigD1 l)//=; apply: le_trans (_ : `|(v l)%:~R : R| ^+ p <= _); last by rewrite ler_addl; exact: (rest0 (fun i => i != l)).
  have two : 2 <= `|(v l)%:~R : R|.
    rewrite -intr_norm (_ : 2 = 2%:~R)// ler_int; move: even vl; rewrite alone dvdzE -absz_gt0 /= => even vl.
    by rewrite -abszE lez_nat; exact: dvdn_leq.
  case: p p0 {rest0} => // p _; apply: (le_trans two); rewrite -[leLHS]expr1; apply: ler_weexpn2l => //; by rewrite (le_trans _ two)// ler1n.
Qed.
End Norms.

Section Grids.
Context (R : realType) (X : Type) d (Z : measurableType d).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R).
Hypotheses (is_metric : metric between) (measurable_far : forall gamma x, measurable (spaces.far q between gamma x)).
Hypothesis dist0 : forall x x', 0 <= dist x x'.
Variables (M : mechanism R X Z) (gamma beta C : R).
Hypotheses (near : near_but q between M gamma beta) (beta0 : 0 < beta) (beta1 : beta < 1) (gamma0 : 0 < gamma) (C0 : 0 < C).

(* There is a database for each answer in Y, a part of R^n with the norm N, at distances in proportion. *)
Variables (n : nat) (N : ('I_n -> R) -> R) (Y : set ('I_n -> R)) (db : ('I_n -> R) -> X).
Hypothesis answered : forall u v, Y u -> Y v ->
  between (q (db u)) (q (db v)) = N (fun l => u l - v l) /\ dist (db u) (db v) = N (fun l => u l - v l) / C.

(* Finitely many points of the lattice, 0 among them. *)
Variables (I : finType) (z : I -> 'I_n -> int) (i0 : I).
Hypotheses (z_inj : forall i j, (forall l, z i l = z j l) -> i = j) (origin : forall l, z i0 l = 0).

(* The norm, and the least length c of a difference of two points. *)
Definition shortest (c : R) := [\/ exists p, [/\ (0 < p)%N, N = @lp R n p & c = 1],
  exists p, [/\ (0 < p)%N, N = @lp R n p, forall i, (2 %| \sum_l z i l)%Z & c = pow p%:R^-1 2] |
  N = @greatest R n /\ c = 1].

Lemma different i j : i != j -> exists l, z i l - z j l != 0.
Proof.
move=> ij; apply: contrapT => none; case/eqP: ij; apply: z_inj => l; apply/eqP; rewrite -subr_eq0; apply: contraT => h.
by case: none; exists l.
Qed.

Lemma shortest_apart c : shortest c -> [/\ 0 < c, forall u, 0 <= N u, forall t u, N (fun l => t * u l) = `|t| * N u &
  forall i j, i != j -> c <= N (fun l => at_grid R z i l - at_grid R z j l)].
Proof.
have diff i j : (fun l => at_grid R z i l - at_grid R z j l) = (fun l => (z i l - z j l)%:~R).
  by apply/funext => l; rewrite /at_grid rmorphB.
case=> [[p [p0 -> ->]] | [p [p0 -> even ->]] | [-> ->]]; split=> //.
- by move=> u; exact: lp_ge0.
- by move=> t u; exact: lpZ.
- by move=> i j /different[l h]; rewrite diff; exact: lp_lattice h.
- exact: pow_gt0.
- by move=> u; exact: lp_ge0.
- by move=> t u; exact: lpZ.
- move=> i j /different[l h]; rewrite diff; apply: lp_even h _ => //; rewrite sumrB; apply: rpredB; exact: even.
- exact: greatest_ge0.
- exact: greatestZ.
- by move=> i j /different[l h]; rewrite diff; exact: greatest_lattice h.
Qed.

(* With the step s = 2 gamma/c: in R^n, or where the points have room in a box without its ends, or in a ball without its boundary. *)
(* Rule: grid-packing, lower. *)
Theorem grid_packing c eps : shortest c -> let s := 2 * gamma / c in
  [\/ everywhere (n := n) Y s, in_box Y z s | in_ball N Y z s] -> private_by_distance dist M eps ->
  (0 <= eps -> (1 - beta) * (\sum_i expR (- (eps * (s * N (at_grid R z i) / C)))) <= 1) /\
  (forall e, 0 <= e -> 1 < (1 - beta) * (\sum_i expR (- (e * (s * N (at_grid R z i) / C)))) -> e < eps).
Proof.
move=> least s room priv; have [c0 N0 NZ apart] := shortest_apart least.
have s0 : 0 <= s by rewrite divr_ge0// ltW// mulr_gt0.
have further := room_for_grid beta0 beta1 gamma0 C0 NZ s0 room.
have bound e : 0 <= e -> private_by_distance dist M e -> (1 - beta) * (\sum_i expR (- (e * (s * N (at_grid R z i) / C)))) <= 1.
  by move=> e0 priv'; apply: (grid_of_points is_metric measurable_far near beta0 beta1 gamma0 C0 N0 NZ answered origin c0 apart further priv' e0).
split=> [e0|e e0 over]; first exact: bound.
exact: (@sharp _ _ _ _ _ dist0 _ _ eps e (fun e => \sum_i expR (- (e * (s * N (at_grid R z i) / C)))) priv bound e0 over).
Qed.
End Grids.
