(* The pair of neighbours at which an output of comparisons loses the most (docs/theory/selection.md, worst pair of above threshold, worst output): answers
   at a bound, where the noises are log-concave; and outputs of more answers lose no less. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels likelihood log_concave grids crossed_means.

Section Outputs.
Context (R : realType) (lam : {measure set R -> \bar R}) (f F S : R -> R).
(* f is the density of the noise that all answers are compared with; a negative has the probability F, and a positive S, of how far it is away. *)
Hypotheses (mf : measurable_fun setT f) (f0 : forall t, 0 <= f t) (f1 : (\int[lam]_t (f t)%:E = 1)%E).
Hypotheses (mF : measurable_fun setT F) (F01 : forall x, 0 <= F x <= 1) (F_rises : forall x y, x <= y -> F x <= F y).
Hypotheses (mS : measurable_fun setT S) (S01 : forall x, 0 <= S x <= 1) (S_falls : forall x y, x <= y -> S y <= S x).

(* An answer of an output: whether it is a positive, and where it is. *)
Definition term (e : bool * R) (t : R) : R := if e.1 then S (t - e.2) else F (t - e.2).
Definition terms (l : seq (bool * R)) (t : R) : R := \prod_(e <- l) term e t.
Definition chance (l : seq (bool * R)) : R := fine (\int[lam]_t (f t * terms l t)%:E)%E.

Lemma term01 e t : 0 <= term e t <= 1. Proof. by rewrite /term; case: ifP. Qed.

Lemma terms01 l t : 0 <= terms l t <= 1.
Proof.
rewrite /terms; elim: l => [|e l /andP[h0 h1]]; first by rewrite big_nil ler01 lexx.
have /andP[e0 e1] := term01 e t; rewrite big_cons mulr_ge0//=; exact: mulr_ile1.
Qed.

Lemma measurable_term e : measurable_fun setT (term e).
Proof.
rewrite /term; case: e.1 => /= _ B mB.
- by have := measurable_plus (- e.2) measurableT (mS measurableT mB); rewrite !setTI.
- by have := measurable_plus (- e.2) measurableT (mF measurableT mB); rewrite !setTI.
Qed.

Lemma measurable_terms l : measurable_fun setT (terms l).
Proof.
elim: l => [|e l IH]; first by rewrite (_ : terms [::] = cst 1); [exact: measurable_fun_cst | apply/funext => t; rewrite /terms big_nil].
rewrite (_ : terms (e :: l) = (fun t => term e t * terms l t)); last by apply/funext => t; rewrite /terms big_cons.
by apply: measurable_funM => //; exact: measurable_term.
Qed.

Lemma chance_weighs l : weighs lam (fun t => f t * terms l t) (chance l).
Proof.
have m : measurable_fun setT (fun t => f t * terms l t) by apply: measurable_funM => //; exact: measurable_terms.
have g0 t : 0 <= f t * terms l t by case/andP: (terms01 l t) => h _; exact: mulr_ge0.
split=> //; rewrite fineK// ge0_fin_numE; last by apply: integral_ge0 => t _; rewrite lee_fin.
apply: (@le_lt_trans _ _ 1%E); last by rewrite ltry.
rewrite -f1; apply: ge0_le_integral => //.
- by move=> t _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin -[leRHS]mulr1; apply: ler_wpmul2l => //; case/andP: (terms01 l t).
Qed.

Lemma chance_ge0 l : 0 <= chance l.
Proof. by apply: fine_ge0; apply: integral_ge0 => t _; rewrite lee_fin mulr_ge0//; case/andP: (terms01 l t). Qed.

Lemma terms_perm l l' t : perm_eq l l' -> terms l t = terms l' t.
Proof. by move=> p; rewrite /terms; exact: perm_big. Qed.

Lemma chance_perm l l' : perm_eq l l' -> chance l = chance l'.
Proof. by move=> p; congr fine; apply: eq_integral => t _; rewrite (terms_perm t p). Qed.

(* Negatives that go down and positives that go up have more of a chance, and so have fewer of them. *)
Definition likelier (e e' : bool * R) := e.1 = e'.1 /\ (if e.1 then e.2 <= e'.2 else e'.2 <= e.2).

Lemma term_likelier e e' t : likelier e e' -> term e t <= term e' t.
Proof. by rewrite /likelier /term => -[<-]; case: ifP => _ h; [apply: S_falls | apply: F_rises]; rewrite ler_add2l ler_opp2. Qed.

Lemma chance_likelier l l' : (forall t, terms l t <= terms l' t) -> chance l <= chance l'.
Proof.
move=> h; apply: (weighs_le (chance_weighs l) (chance_weighs l')) => t; exact: ler_wpmul2l.
Qed.

(* -- Log-concave noises -- *)

Context (grid : R -> Prop) (grid_sub : forall x y, grid x -> grid y -> grid (x - y)).
Hypotheses (kept : forall s, grid s -> keeps lam s) (off : forall z, ~ grid z -> f z = 0).
Hypotheses (fc : corners grid f) (Fc : corners grid F) (Sc : corners grid S).

(* At the neighbour negatives are `up` further up, positives `down` further down. *)
Variables (up down : R).
Hypotheses (up0 : 0 <= up) (down0 : 0 <= down) (gup : grid up) (gdown : grid down).
Definition moved (e : bool * R) : bool * R := (e.1, if e.1 then e.2 - down else e.2 + up).
Definition there l := [seq moved e | e <- l].

Lemma moved_weighs_at l m : grid m -> weighs lam (fun t => f (t + m) * terms l (t + m)) (chance l).
Proof.
move=> gm; have [mg g0 e] := chance_weighs l; split.
- by move=> _ B mB; have := measurable_plus m measurableT (mg measurableT _ mB); rewrite !setTI.
- by move=> t; exact: g0.
by rewrite -e (integral_kept (kept gm) mg g0 measurableT).
Qed.

Lemma weighs_as a b A : (forall t, a t = b t) -> weighs lam a A -> weighs lam b A.
Proof. by move=> /funext ->. Qed.

(* Both neighbours' terms, where the threshold goes along with the negatives, or with the positives. *)
Lemma along_negatives r s t : s <= t -> grid s -> grid t -> terms r s * terms (there r) (t + up) <= terms r t * terms (there r) (s + up).
Proof.
move=> st gs gt; elim: r => [|e r IH]; first by rewrite /terms !big_nil.
rewrite /terms /= !big_cons -!/(terms _ _) mulrACA [leRHS]mulrACA; apply: ler_pmul => //.
- by apply: mulr_ge0; [case/andP: (term01 e s) | case/andP: (term01 (moved e) (t + up))].
- by apply: mulr_ge0; [case/andP: (terms01 r s) | case/andP: (terms01 (there r) (t + up))].
rewrite /term /moved /=; case: ifP => _.
- have -> : t + up - (e.2 - down) = t - e.2 + (down + up) by lra.
  have -> : s + up - (e.2 - down) = s - e.2 + (down + up) by lra.
  rewrite [leRHS]mulrC; apply: Sc; [exact: (grid_add grid_sub) | | by rewrite ler_add2r | exact: addr_ge0].
  by have -> : t - e.2 - (s - e.2) = t - s by [lra]; exact: grid_sub.
- have -> : t + up - (e.2 + up) = t - e.2 by lra.
  have -> : s + up - (e.2 + up) = s - e.2 by lra.
  by rewrite mulrC.
Qed.

Lemma along_positives r s t : s <= t -> grid s -> grid t -> terms r t * terms (there r) (s - down) <= terms r s * terms (there r) (t - down).
Proof.
move=> st gs gt; elim: r => [|e r IH]; first by rewrite /terms !big_nil.
rewrite /terms /= !big_cons -!/(terms _ _) mulrACA [leRHS]mulrACA; apply: ler_pmul => //.
- by apply: mulr_ge0; [case/andP: (term01 e t) | case/andP: (term01 (moved e) (s - down))].
- by apply: mulr_ge0; [case/andP: (terms01 r t) | case/andP: (terms01 (there r) (s - down))].
rewrite /term /moved /=; case: ifP => _.
- have -> : t - down - (e.2 - down) = t - e.2 by lra.
  have -> : s - down - (e.2 - down) = s - e.2 by lra.
  by rewrite mulrC.
- rewrite -/(s - down - (e.2 + up)) -/(t - down - (e.2 + up)); set x := s - down - (e.2 + up); set y := t - down - (e.2 + up).
  have -> : s - e.2 = x + (down + up) by rewrite /x; lra.
  have -> : t - e.2 = y + (down + up) by rewrite /y; lra.
  rewrite [leLHS]mulrC; apply: Fc; [exact: (grid_add grid_sub) | | by rewrite /x /y; lra | exact: addr_ge0].
  by have -> : y - x = t - s by [rewrite /x /y; lra]; exact: grid_sub.
Qed.

(* Another factor at both neighbours, and two that stand in for each other. *)
Lemma crossed_outputs (pos : bool) (k k' : R -> R) r la lb lc ld :
  let m := if pos then - down else up in
  (forall t, terms la t = terms r t * k t) -> (forall t, terms lb t = terms r t * k' t) ->
  (forall t, terms lc (t + m) = terms (there r) (t + m) * k t) -> (forall t, terms ld (t + m) = terms (there r) (t + m) * k' t) ->
  (forall s t, grid s -> grid t -> s <= t -> if pos then k s * k' t <= k' s * k t else k' s * k t <= k s * k' t) ->
  chance la * chance ld <= chance lb * chance lc.
Proof.
move=> m ea eb ec ed order; have gm : grid m by rewrite /m; case: (pos) => //; exact: (grid_opp grid_sub).
apply: (factors_crossed (lam := lam) (X := fun t => f t * terms r t) (Y := fun t => f (t + m) * terms (there r) (t + m)) (k := k) (k' := k')).
- by apply: weighs_as (chance_weighs la) => t; rewrite ea mulrA.
- by apply: weighs_as (chance_weighs lb) => t; rewrite eb mulrA.
- by apply: weighs_as (moved_weighs_at lc gm) => t; rewrite ec mulrA.
- by apply: weighs_as (moved_weighs_at ld gm) => t; rewrite ed mulrA.
move=> s t st; have off' z : ~ grid z -> f (z + m) = 0.
  by move=> ng; apply: off => g; apply: ng; rewrite -(addrK m z); exact: grid_sub.
have [gs|ngs] := pselect (grid s); last by left; rewrite (off ngs) (off' _ ngs) !mul0r mulr0.
have [gt|ngt] := pselect (grid t); last by left; rewrite (off ngt) (off' _ ngt) !mul0r mulr0.
right; have := order s t gs gt st; rewrite /m; case: (pos) => h; [right | left]; split=> //.
- rewrite mulrACA [leRHS]mulrACA; apply: ler_pmul; rewrite ?mulr_ge0//.
  + by case/andP: (terms01 r t).
  + by case/andP: (terms01 (there r) (s - down)).
  + have gd : grid ((t - down) - (s - down)) by have -> : t - down - (s - down) = t - s by [lra]; exact: grid_sub.
    have := fc gdown gd (_ : s - down <= t - down) down0; rewrite !subrK mulrC; apply; lra.
  + exact: along_positives.
- rewrite mulrACA [leRHS]mulrACA; apply: ler_pmul; rewrite ?mulr_ge0//.
  + by case/andP: (terms01 r s).
  + by case/andP: (terms01 (there r) (t + up)).
  + by have := fc gup (grid_sub gt gs) st up0; rewrite [X in _ <= X]mulrC.
  + exact: along_negatives.
Qed.

(* A negative further up, or a positive further down, loses no less. *)
Definition worse (h : R) (e : bool * R) : bool * R := (e.1, if e.1 then e.2 - h else e.2 + h).

Lemma worse_loses h e r : 0 <= h -> grid h ->
  chance (e :: r) * chance (there (worse h e :: r)) <= chance (worse h e :: r) * chance (there (e :: r)).
Proof.
case: e => b x h0 gh; apply: (@crossed_outputs b (term (b, x)) (term (worse h (b, x))) r).
- by move=> t; rewrite /terms big_cons mulrC.
- by move=> t; rewrite /terms big_cons mulrC.
- by move=> t; rewrite /there /= /terms big_cons mulrC; congr (_ * _); rewrite /term /moved /=; case: (b) => /=; congr (_ _); lra.
- by move=> t; rewrite /there /= /terms big_cons mulrC; congr (_ * _); rewrite /term /moved /worse /=; case: (b) => /=; congr (_ _); lra.
move=> s t gs gt st; rewrite /term /worse /=; case: (b) => /=.
- have -> : t - (x - h) = t - x + h by lra.
  have -> : s - (x - h) = s - x + h by lra.
  apply: Sc => //; last by rewrite ler_add2r.
  by have -> : t - x - (s - x) = t - s by [lra]; exact: grid_sub.
- set y := s - (x + h); set z := t - (x + h).
  have -> : s - x = y + h by rewrite /y; lra.
  have -> : t - x = z + h by rewrite /z; lra.
  apply: Fc => //; last by rewrite /y /z; lra.
  by have -> : z - y = t - s by [rewrite /y /z; lra]; exact: grid_sub.
Qed.

(* An answer more loses no less. *)
Lemma more_loses e r : chance r * chance (there (e :: r)) <= chance (e :: r) * chance (there r).
Proof.
case: e => b x; apply: (@crossed_outputs b (fun=> 1) (term (b, x)) r).
- by move=> t; rewrite mulr1.
- by move=> t; rewrite /terms big_cons mulrC.
- by move=> t; rewrite mulr1.
- by move=> t; rewrite /there /= /terms big_cons mulrC; congr (_ * _); rewrite /term /moved /=; case: (b) => /=; congr (_ _); lra.
by move=> s t _ _ st; rewrite mul1r mulr1 /term /=; case: (b); [apply: S_falls | apply: F_rises]; rewrite ler_add2r.
Qed.
End Outputs.
