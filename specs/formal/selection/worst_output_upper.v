(* Outputs of comparisons, from above (docs/theory/selection.md, worst output): what is computed at the corner of the bounds, or from one bound to the other,
   bounds the tight epsilon. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels likelihood independent log_concave finite grids crossed_means worst_pair worst_corner worst_output_lower.

(* A log-concave density, on the line or on a grid of it. *)
Section LogConcave.
Context (R : realType) (grid : R -> Prop) (grid_sub : forall x y, grid x -> grid y -> grid (x - y)).

Lemma between_mid (lo hi : option R) x y z : between lo hi x -> between lo hi z -> x <= y -> y <= z -> between lo hi y.
Proof.
rewrite /between => /andP[h1 _] /andP[_ h2] xy yz; apply/andP; split.
- by case: lo h1 => // a /le_trans; apply.
- by case: hi h2 => // c h2; exact: le_trans h2.
Qed.

Lemma log_concave_corners lo hi h g : log_concave lo hi h g -> corners grid (fun z => if `[< grid z >] then g z else 0).
Proof.
move=> [gE conv] x y s gs gyx xy s0.
have g0 z : 0 <= (if `[< grid z >] then g z else 0 : R) by case: ifP => // _; rewrite gE; case: ifP => // _; exact: expR_ge0.
have [gx|ngx] := pselect (grid x); last by rewrite (asboolF ngx) mul0r mulr_ge0.
have gy : grid y by rewrite -[y](subrK x); exact: (grid_add grid_sub).
rewrite !asboolT//; try exact: (grid_add grid_sub).
rewrite !gE; case: (boolP (between lo hi x)) => [bx|_]; last by rewrite mul0r mulr_ge0//; case: ifP => _ //; exact: expR_ge0.
case: (boolP (between lo hi (y + s))) => [bys|_]; last by rewrite mulr0 mulr_ge0//; case: ifP => _ //; exact: expR_ge0.
have xs : x <= x + s by lra.
have xsy : x + s <= y + s by lra.
have yys : y <= y + s by lra.
rewrite (between_mid bx bys xs xsy) (between_mid bx bys xy yys) -!expRD ler_expR.
have [e|ne] := eqVneq (y + s) x.
  have yE : y = x by apply/eqP; rewrite eq_le xy andbT; lra.
  have sE : s = 0 by lra.
  by rewrite yE sE addr0.
have w0 : 0 < y + s - x by rewrite lt_neqAle subr_ge0 (le_trans xs xsy) andbT eq_sym subr_eq0.
pose t := s / (y + s - x); have tE : t * (y + s - x) = s by rewrite /t divfK// gt_eqF.
have t0 : 0 <= t by rewrite divr_ge0// ltW.
have t1 : t <= 1 by rewrite ler_pdivr_mulr// mul1r; lra.
have := conv (y + s) x t bys bx t0 t1; have := conv x (y + s) t bx bys t0 t1.
have -> : t * (y + s) + (1 - t) * x = x + s by move: tE; lra.
have -> : t * x + (1 - t) * (y + s) = y by move: tE; lra.
lra.
Qed.
End LogConcave.

Section Behaves.
Context (R : realType) (F S : R -> R) (grid : R -> Prop) (grid_sub : forall x y, grid x -> grid y -> grid (x - y)).
Hypotheses (F01 : forall x, 0 <= F x <= 1) (F_rises : forall x y, x <= y -> F x <= F y).
Hypotheses (S01 : forall x, 0 <= S x <= 1) (S_falls : forall x y, x <= y -> S y <= S x).
Notation terms := (terms F S).
Notation term := (term F S).

Lemma likelier_in (Z : eqType) (s : seq Z) (g g' : Z -> bool * R) t : (forall z, z \in s -> likelier (g z) (g' z)) ->
  terms [seq g z | z <- s] t <= terms [seq g' z | z <- s] t.
Proof.
elim: s => [|z s IH] h; first by rewrite /worst_pair.terms !big_nil.
rewrite /worst_pair.terms /= !big_cons -!/(worst_pair.terms _ _ _ _); apply: ler_pmul.
- by case/andP: (term01 F01 S01 (g z) t).
- by case/andP: (terms01 F01 S01 [seq g z | z <- s] t).
- by apply: (term_likelier F_rises S_falls); apply: h; rewrite inE eqxx.
- by apply: IH => y ys; apply: h; rewrite inE ys orbT.
Qed.

Lemma terms_less e l t : terms (e :: l) t <= terms l t.
Proof.
rewrite /worst_pair.terms big_cons -!/(worst_pair.terms _ _ _ _) -[leRHS]mul1r.
by apply: ler_wpmul2r; [case/andP: (terms01 F01 S01 l t) | case/andP: (term01 F01 S01 e t)].
Qed.

Lemma moved_worse up down h e : 0 <= h -> likelier (R := R) (moved up down (worse h e)) (moved up down e).
Proof. by move=> h0; split=> //=; case: (e.1); lra. Qed.

Lemma terms_moved_worse up down h e r t : 0 <= h ->
  terms (there up down (worse h e :: r)) t <= terms (there up down (e :: r)) t.
Proof.
move=> h0; rewrite /there /= /worst_pair.terms !big_cons -!/(worst_pair.terms _ _ _ _).
by apply: ler_wpmul2r; [case/andP: (terms01 F01 S01 [seq moved up down e | e <- r] t) | apply: (term_likelier F_rises S_falls); exact: moved_worse].
Qed.

(* Compared with a threshold that has no noise. *)
Section Exact.
Hypotheses (Fc : corners grid F) (Sc : corners grid S).
Variables (up down t0 : R).
Hypotheses (up0 : 0 <= up) (down0 : 0 <= down) (gup : grid up) (gdown : grid down).

Lemma exact_behaves : behaves grid up down (fun l => terms l t0).
Proof.
split.
- by move=> l; case/andP: (terms01 F01 S01 l t0).
- by move=> l l'; exact: terms_perm.
- by move=> s g g'; exact: likelier_in.
- by move=> e l; exact: terms_less.
- move=> e r; rewrite /there /= /worst_pair.terms !big_cons -!/(worst_pair.terms _ _ _ _).
  have le : term (moved up down e) t0 <= term e t0 by apply: (term_likelier F_rises S_falls); split=> //=; case: (e.1); lra.
  have := ler_wpmul2l (_ : 0 <= terms r t0 * terms [seq moved up down e | e <- r] t0) le.
  rewrite mulr_ge0 ?(andP (terms01 F01 S01 _ _)).1// => /(_ isT); rewrite /worst_pair.term => h; lra.
- move=> h e r h0 gh; rewrite /there /= /worst_pair.terms !big_cons -!/(worst_pair.terms _ _ _ _).
  have le : term e t0 * term (moved up down (worse h e)) t0 <= term (worse h e) t0 * term (moved up down e) t0.
    rewrite /worst_pair.term /=; case: (e.1).
    + have -> : t0 - (e.2 - h - down) = t0 - e.2 + h + down by lra.
      have -> : t0 - (e.2 - h) = t0 - e.2 + h by lra.
      have -> : t0 - (e.2 - down) = t0 - e.2 + down by lra.
      by rewrite [leRHS]mulrC; apply: Sc => //; [have -> : t0 - e.2 + h - (t0 - e.2) = h by lra | lra].
    + have -> : t0 - (e.2 + up) = t0 - (e.2 + h + up) + h by lra.
      have -> : t0 - (e.2 + h) = t0 - (e.2 + h + up) + up by lra.
      have -> : t0 - e.2 = t0 - (e.2 + h + up) + h + up by lra.
      rewrite mulrC; apply: Fc => //; last lra.
      by have -> : t0 - (e.2 + h + up) + h - (t0 - (e.2 + h + up)) = h by lra.
  have := ler_wpmul2l (_ : 0 <= terms r t0 * terms [seq moved up down e | e <- r] t0) le.
  rewrite mulr_ge0 ?(andP (terms01 F01 S01 _ _)).1// => /(_ isT); rewrite /worst_pair.term /=; lra.
- by move=> h e r; exact: terms_moved_worse.
Qed.
End Exact.

(* Compared with noise that has a density. *)
Section Compared.
Context (lam : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (mf : measurable_fun setT f) (f0 : forall t, 0 <= f t) (f1 : (\int[lam]_t (f t)%:E = 1)%E).
Hypotheses (mF : measurable_fun setT F) (mS : measurable_fun setT S).
Notation chance := (chance lam f F S).

Lemma chance_likelier_in (s : seq (bool * (R * R))) g g' : (forall z, z \in s -> likelier (g z) (g' z)) ->
  chance [seq g z | z <- s] <= chance [seq g' z | z <- s].
Proof. by move=> h; apply: (chance_likelier mf f0 f1 mF F01 mS S01) => t; exact: likelier_in. Qed.

Hypotheses (kept : forall s, grid s -> keeps lam s) (off : forall z, ~ grid z -> f z = 0).
Hypotheses (fc : corners grid f) (Fc : corners grid F) (Sc : corners grid S).
Variables (up down : R).
Hypotheses (up0 : 0 <= up) (down0 : 0 <= down) (gup : grid up) (gdown : grid down).

Lemma chance_behaves : behaves grid up down chance.
Proof.
split.
- by move=> l; exact: chance_ge0.
- by move=> l l'; exact: chance_perm.
- exact: chance_likelier_in.
- by move=> e l; apply: (chance_likelier mf f0 f1 mF F01 mS S01) => t; exact: terms_less.
- by move=> e r; exact: (more_loses mf f0 f1 mF F01 F_rises mS S01 S_falls grid_sub kept off fc Fc Sc up0 down0 gup gdown).
- by move=> h e r h0 gh; exact: (worse_loses mf f0 f1 mF F01 mS S01 grid_sub kept off fc Fc Sc up0 down0 gup gdown).
- by move=> h e r h0; apply: (chance_likelier mf f0 f1 mF F01 mS S01) => t; exact: terms_moved_worse.
Qed.
End Compared.
End Behaves.
