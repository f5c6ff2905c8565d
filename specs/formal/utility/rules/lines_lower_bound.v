(* The rule lines lower bound (docs/theory/necessary.md): the errors of any private mechanism for counts, whose neighbours add a record or replace one,
   and for histograms of real numbers, whose neighbours are at most 1 apart in l1 or in l2. *)
From dpverify Require Import prelude.
From dpverify Require Import hoeffding definitions arithmetic means error_chains error_grids error_payments error_payments_real contractions error_lines.

(* -- Histograms and their neighbours -- *)

Section Histograms.
Context (R : realType) (n : nat).
Definition counts := 'I_n -> nat.
(* One record more; one record of another type. *)
Definition added : definitions.relation counts := fun x x' => exists j, forall i, x' i = (x i + (i == j))%N.
Definition replaced : definitions.relation counts := fun x x' => exists j k, j != k /\ forall i, (x' i + (i == k) = x i + (i == j))%N.

Record amounts := Amounts { amount :> 'I_n -> R; amount_ge0 : forall j, 0 <= amount j }.
Definition near1 (v : 'I_n -> R) := \sum_j `|v j| <= 1.
Definition near2 (v : 'I_n -> R) := \sum_j v j ^+ 2 <= 1.
Definition apart (near : ('I_n -> R) -> Prop) : definitions.relation amounts := fun x x' => near (fun j => x' j - x j).

(* What is asked of a way to be near: a part of a difference is one, and none moves an amount by more than 1. *)
Definition star (near : ('I_n -> R) -> Prop) :=
  forall v, near v -> (forall t, 0 <= t -> t <= 1 -> near (fun j => t * v j)) /\ forall j, `|v j| <= 1.

Lemma star1 : star near1.
Proof.
move=> v; rewrite /near1 => h; split=> [t t0 t1|j].
- under eq_bigr do rewrite normrM ger0_norm//; rewrite -mulr_sumr; apply: le_trans h; rewrite ler_pimull// sumr_ge0//.
- by apply: le_trans h; rewrite (bigD1 j)//= ler_addl sumr_ge0.
Qed.

Lemma star2 : star near2.
Proof.
move=> v; rewrite /near2 => h; have v0 : 0 <= \sum_j v j ^+ 2 by apply: sumr_ge0 => j _; exact: sqr_ge0.
split=> [t t0 t1|j].
- under eq_bigr do rewrite exprMn; rewrite -mulr_sumr; apply: le_trans h; rewrite ler_pimull// expr_le1//.
- rewrite -(ler_pexpn2r (n := 2))// ?nnegrE// expr1n real_normK ?num_real//; apply: le_trans h.
  by rewrite (bigD1 j)//= ler_addl sumr_ge0// => i _; exact: sqr_ge0.
Qed.
End Histograms.

(* -- Grids of databases -- *)

Section Grids.
Context (R : realType) (D n m : nat) (query : 'M[R]_(D, n)) (steps : 'M[R]_(m, n)).
Definition answers (h : 'I_n -> R) (i : 'I_D) : R := \sum_j query i j * h j.

(* Where the databases lie on a grid the answers do. *)
Lemma answers_on_grid (h base : 'I_n -> R) (k : 'I_m -> R) : (forall j, h j = base j + \sum_l k l * steps l j) ->
  forall i, answers h i = answers base i + \sum_l k l * moved query steps l i.
Proof.
move=> hE i; rewrite /answers; under eq_bigr do rewrite hE mulrDr; rewrite big_split/=; congr (_ + _).
under eq_bigr do rewrite mulr_sumr; rewrite exchange_big/=; apply: eq_bigr => l _; rewrite /moved mxE mulr_sumr; apply: eq_bigr => j _.
by rewrite mxE; lra.
Qed.

Definition counted (x : counts n) : 'I_D -> R := answers (fun j => (x j)%:R).
Definition measured (x : amounts R n) : 'I_D -> R := answers x.

Lemma put_sum N (k : {ffun 'I_m -> 'I_N}) l (a : 'I_N) (f : 'I_m -> 'I_N -> nat) :
  (\sum_l' f l' (put k l a l') = f l a + \sum_(l' | l' != l) f l' (k l'))%N.
Proof.
rewrite (bigD1 l)//= ffunE eqxx; congr (_ + _)%N; by apply: eq_bigr => l' /negbTE h; rewrite ffunE h.
Qed.

Lemma next N (a b : 'I_N) : (a < b)%N -> (b <= a + 1)%N -> (b = a.+1 :> nat)%N.
Proof. by rewrite addn1 => h1 h2; apply/eqP; rewrite eqn_leq h2 h1. Qed.

Definition adds := forall l, exists j, forall i, steps l i = (i == j)%:R.
Definition replaces := forall l, exists j k, j != k /\ forall i, steps l i = (i == j)%:R - (i == k)%:R.

Lemma grid_added : adds -> forall N, grid (@added n) counted 1 1 (fun l i => moved query steps l i) N.
Proof.
move=> /choice[which E] N; pose db (k : {ffun 'I_m -> 'I_N}) : counts n := fun i => (\sum_l k l * (i == which l))%N.
exists db, (answers (fun _ => 0)); split=> [k i|k l a b ab ba].
- rewrite /counted (@answers_on_grid _ (fun _ => 0) (fun l => (k l)%:R)) => [|j].
    by congr (_ + _); apply: eq_bigr => l _; rewrite mulr1.
  rewrite add0r /db natr_sum; apply: eq_bigr => l _; by rewrite natrM E.
- left; exists (which l) => i; rewrite /db !(put_sum _ _ _ (fun l a => a * (i == which l))%N) (next ab ba).
  by rewrite mulSn -addnA addnC.
Qed.

Lemma grid_replaced : replaces -> forall N, grid (@replaced n) counted 1 1 (fun l i => moved query steps l i) N.
Proof.
move=> /choice[up /choice[dn E]] N.
pose db (k : {ffun 'I_m -> 'I_N}) : counts n := fun i => (\sum_l (k l * (i == up l) + (N - k l) * (i == dn l)))%N.
exists db, (answers (fun i => \sum_l N%:R * (i == dn l)%:R)); split=> [k i|k l a b ab ba].
- rewrite /counted (@answers_on_grid _ (fun i => \sum_l N%:R * (i == dn l)%:R) (fun l => (k l)%:R)) => [|j].
    by congr (_ + _); apply: eq_bigr => l _; rewrite mulr1.
  rewrite /db natr_sum -big_split/=; apply: eq_bigr => l _; have [_ ->] := E l.
  by rewrite natrD !natrM natrB; [lra | exact/ltnW/ltn_ord].
- left; exists (up l), (dn l); have [ne _] := E l; split=> // i.
  rewrite /db !(put_sum _ _ _ (fun l a => a * (i == up l) + (N - a) * (i == dn l))%N) (next ab ba).
  have bN : (a.+1 < N)%N by rewrite -(next ab ba) ltn_ord.
  have -> : (N - a = (N - a.+1).+1)%N by rewrite -subSn ?subSS// ltnW.
  by case: (i == up l); case: (i == dn l); rewrite /= ?muln1 ?muln0 ?addn0 ?add0n ?addn1 ?addSn ?addnS.
Qed.

(* Steps of every length up to 1, in M parts. *)
Lemma grid_apart near M : star near -> (forall l, near (fun j => steps l j)) -> (0 < M)%N ->
  forall N, grid (apart near) measured M M%:R^-1 (fun l i => moved query steps l i) N.
Proof.
move=> nr ok M0 N; have MR : 0 < M%:R :> R by rewrite ltr0n.
have s0 : 0 <= M%:R^-1 :> R by rewrite invr_ge0 ler0n.
have s1 : M%:R^-1 <= 1 :> R by rewrite invf_le1// ler1n.
have pos (k : {ffun 'I_m -> 'I_N}) j : 0 <= (\sum_(l < m) N%:R) + \sum_l (k l)%:R * M%:R^-1 * steps l j.
  rewrite -big_split/=; apply: sumr_ge0 => l _; have [_ /(_ j)] := nr _ (ok l) => small.
  have k0 : 0 <= (k l)%:R * M%:R^-1 :> R by rewrite mulr_ge0.
  have kN : (k l)%:R * M%:R^-1 <= N%:R :> R.
    by apply: le_trans (ler_wpmul2l _ s1) _ => //; rewrite mulr1 ler_nat ltnW// ltn_ord.
  have := ler_wpmul2l k0 small; have := ler_wpmul2l k0 (ler_norm (- steps l j)); rewrite normrN mulr1; lra.
pose db (k : {ffun 'I_m -> 'I_N}) := Amounts (pos k).
exists db, (answers (fun _ => \sum_(l < m) N%:R)); split=> [k i|k l a b ab ba].
- rewrite /measured (@answers_on_grid _ (fun _ => \sum_(l < m) N%:R) (fun l => (k l)%:R * M%:R^-1))//.
- left; rewrite /apart/=; have [h _] := nr _ (ok l); have ab' := ltnW ab.
  have := h ((b - a)%:R * M%:R^-1); rewrite mulr_ge0// => /(_ isT).
  rewrite ler_pdivr_mulr// mul1r ler_nat leq_subLR => /(_ ba); congr near; apply/funext => j.
  rewrite opprD addrACA subrr add0r -sumrB (bigD1 l)//= !ffunE eqxx big1 ?addr0 => [|l' /negbTE nl].
    by rewrite natrB//; lra.
  by rewrite !ffunE nl subrr.
Qed.
End Grids.

(* -- What is paid with ever finer steps -- *)

Section Fine.
Context (R : realType).

Definition finely (q : R) (w : R -> R) (lam : R) := exists K g : R, g < 1 /\
  forall M, (0 < M)%N -> M%:R^-1 <= 1 - g -> paid M M%:R^-1 q w (lam - K * M%:R^-1).

Lemma fine_limit (A lam e K g : R) : 0 <= A -> g < 1 ->
  (forall M, (0 < M)%N -> M%:R^-1 <= 1 - g -> A * (lam - K * M%:R^-1) <= e) -> A * lam <= e.
Proof.
move=> A0 g1 h; apply: within_all => n n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
have gp : 0 < 1 - g by rewrite subr_gt0.
pose b := n%:R * (A * `|K|) + (1 - g)^-1.
have b1 : 0 <= n%:R * (A * `|K|) by rewrite !mulr_ge0// ltW.
have b2 : 0 < (1 - g)^-1 by rewrite invr_gt0.
have b0 : 0 <= b by rewrite /b; lra.
pose M := (Num.bound b).+1; have MR : 0 < M%:R :> R by rewrite ltr0n.
have bM : b <= M%:R by apply/ltW/(lt_trans (archi_boundP b0)); rewrite ltr_nat.
have small : M%:R^-1 <= 1 - g.
  rewrite -[leRHS]invrK lef_pinv ?posrE//; apply: le_trans bM; rewrite /b; lra.
have := h M isT small; have Kn := ler_wpmul2l A0 (ler_norm K); have iM : 0 <= M%:R^-1 :> R by rewrite invr_ge0 ltW.
have part : A * `|K| * M%:R^-1 <= n%:R^-1.
  rewrite ler_pdivr_mulr// ler_pdivl_mull//; apply: le_trans bM; rewrite /b; lra.
have := ler_wpmul2r iM Kn; lra.
Qed.

Lemma size_finely (r : R) : 0 < r -> r < 1 -> finely (r ^+ 2) (fun t => `|t|) (r / (1 - r ^+ 2)).
Proof.
move=> r0 r1; set q := r ^+ 2; have q0 : 0 < q by exact: exprn_gt0.
have q1 : q < 1 by rewrite expr_lt1// ltW.
have p0 : 0 < 1 + r by lra.
pose o := (1 - q)^-1; have o0 : 0 < o by rewrite invr_gt0 subr_gt0.
have oE : o * (1 - q) = 1 by rewrite mulVf// gt_eqF// subr_gt0.
pose g := r * (1 - r) * o.
have qE : q = r * r by rewrite /q expr2.
have gE : g * (1 + r) = r by have : r * (o * (1 - q)) = r; [rewrite oE mulr1 | rewrite /g qE; lra].
have rg : r * (1 - g) = g by lra.
have g0 : 0 < g by rewrite -(pmulr_lgt0 _ p0) gE.
have g1 : g < 1 by rewrite -(ltr_pmul2r p0) gE; lra.
have c0 : - (g * o) < 0 by rewrite oppr_lt0 mulr_gt0.
have root : price 0 o (- (g * o)) g = 0 by rewrite /price; lra.
have down t : 0 <= t -> price 0 o (- (g * o)) t - q * price 0 o (- (g * o)) (t + 1) = `|t| - r * o.
  move=> t0; rewrite ger0_norm// /price.
  have h1 : o * (1 - q) * t = t by rewrite oE mul1r.
  have h2 : o * (1 - q) * g = g by rewrite oE mul1r.
  have h3 : (g * (1 + r)) * o * r = r * o * r by rewrite gE.
  have h4 : q * o = r * o * r by rewrite qE; lra.
  have h5 : g = r * (1 - r) * o by [].
  lra.
have enough : - area 0 o (- (g * o)) g <= q * (area 0 o (- (g * o)) 1 - area 0 o (- (g * o)) g).
  have h : q * (1 - g) ^+ 2 * o = g ^+ 2 * o by rewrite -exprMn rg.
  rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /area; lra.
have most (t : R) : price 0 o (- (g * o)) (`|t| + 1) <= o * (1 + `|t|).
  rewrite /price; have := mulr_gt0 g0 o0; lra.
eexists; exists g; split=> // M M0 small.
have we : even (fun t : R => `|t|) by move=> t; exact: normrN.
have w0 (t : R) : 0 <= `|t| by exact: normr_ge0.
exact: (@paid_in_parts R q 0 o _ g _ _ (fun t => `|t|) q0 q1 (lexx 0) (ltW o0) c0 g0 g1 (ltW o0) we w0 root down enough most M M0 small).
Qed.

(* The plateau g is told. *)
Lemma square_finely (q g : R) : 0 < q -> q < 1 -> 0 < g -> g < 1 ->
  (1 - q) * (2 * (1 - q) * g ^+ 3 / 3 + q * g ^+ 2) <= q * ((1 - q) / 3 + q - (1 - q) * g ^+ 2 - 2 * q * g) ->
  finely q (fun t => t ^+ 2) (q * (1 + q) / (1 - q) ^+ 2 + g ^+ 2 + 2 * q * g / (1 - q)).
Proof.
move=> q0 q1 g0 g1 told.
pose o := (1 - q)^-1; have o0 : 0 < o by rewrite invr_gt0 subr_gt0.
have oE : o - o * q = 1 by rewrite -[X in X - _]mulr1 -mulrBr mulVf// gt_eqF// subr_gt0.
have oE2 (x : R) : o * o * x - o * o * q * x = o * x by have : (o - o * q) * (o * x) = o * x; [rewrite oE mul1r | lra].
have oE1 (x : R) : o * x - o * q * x = x by rewrite -mulrBl oE mul1r.
pose b := 2 * q * o * o; pose c := - (o * g ^+ 2 + b * g); set lam := _ + _ + _.
have lamE : lam = q * (1 + q) * o * o + g ^+ 2 + 2 * q * g * o by rewrite /lam -exprVn expr2 -/o; lra.
have g2 : 0 < g ^+ 2 by exact: exprn_gt0.
have og : 0 < o * g ^+ 2 by exact: mulr_gt0.
have b0 : 0 < b by rewrite !mulr_gt0.
have bg : 0 < b * g by exact: mulr_gt0.
have c0 : c < 0 by rewrite oppr_lt0 addr_gt0.
have root : price o b c g = 0 by rewrite /price /c; lra.
have down t : 0 <= t -> price o b c t - q * price o b c (t + 1) = t ^+ 2 - lam.
  move=> t0; rewrite lamE /price /c /b.
  have := oE1 (t ^+ 2); have := oE2 (q * t); have := oE1 (g ^+ 2); have := oE2 (q * g); have := oE2 q; have := oE1 q.
  lra.
have enough : - area o b c g <= q * (area o b c 1 - area o b c g).
  have oo : 0 <= o * o by rewrite mulr_ge0 ?ltW.
  have := ler_wpmul2l oo told; rewrite /area /c /b.
  have := oE1 (q * g ^+ 3); have := oE1 (g ^+ 3); have := oE2 (g ^+ 3); have := oE2 (q * g ^+ 3); have := oE2 (q * g ^+ 2); have := oE2 q.
  have := oE2 (q * q); have := oE1 (q * g ^+ 2); have := oE1 q; have := oE2 (q * q * g); have := oE2 (q * g); have := oE2 (q * q * g ^+ 2).
  lra.
have most (t : R) : price o b c (`|t| + 1) <= (2 * o + 2 * b) * (1 + t ^+ 2).
  have e : `|t| ^+ 2 = t ^+ 2 by rewrite real_normK ?num_real.
  have h0 := sqr_ge0 (`|t| - 1); have h1 := mulr_ge0 (ltW o0) h0; have h2 := mulr_ge0 (ltW b0) h0; have h3 := mulr_ge0 (ltW b0) (sqr_ge0 t).
  have h4 : o * `|t| ^+ 2 = o * t ^+ 2 by rewrite e.
  have h5 : b * `|t| ^+ 2 = b * t ^+ 2 by rewrite e.
  rewrite /price; lra.
have C0 : 0 <= 2 * o + 2 * b by lra.
eexists; exists g; split=> // M M0 small.
have we : even (fun t : R => t ^+ 2) by move=> t; exact: sqrrN.
have w0 (t : R) : 0 <= t ^+ 2 by exact: sqr_ge0.
exact: (@paid_in_parts R q o b _ g _ _ (fun t => t ^+ 2) q0 q1 (ltW o0) (ltW b0) c0 g0 g1 C0 we w0 root down enough most M M0 small).
Qed.
End Fine.

(* -- The rule -- *)

Section Rule.
Context (R : realType) (D n m : nat) (query : 'M[R]_(D, n)) (steps : 'M[R]_(m, n)) (p : 'I_m -> R) (H : 'M[R]_D) (c eps : R).
Hypotheses (p0 : forall l, 0 <= p l) (p1 : \sum_l p l <= 1) (sym : H^T = H) (c1 : c <= 1) (eps0 : 0 < eps).
Hypothesis level : let S := contracted query steps p H in \sum_i \sum_j ((S *m S - c *: S) i j) ^+ 2 <= (1 - c) ^+ 2.
Notation mean := (mean_sum query steps p H).
Notation square := (square_sum query steps p H).

(* Every private mechanism has on some data a mean length of the error of at least the one number, and a mean square of at least the other. *)
Definition must_err X (N : definitions.relation X) (answer : X -> 'I_D -> R) (length square : R) :=
  forall d (Z : measurableType d) (M : mechanism R X Z) (coordinate : 'I_D -> Z -> R), (forall i, measurable_fun setT (coordinate i)) -> pure_dp N M eps ->
  (length%:E <= worst_length M coordinate answer)%E /\ ((Num.max square (length ^+ 2))%:E <= worst_square M coordinate answer)%E.

Let mean0 : 0 <= mean. Proof. by apply: sumr_ge0 => l _; rewrite mulr_ge0. Qed.
Let square0 : 0 <= square. Proof. by apply: sumr_ge0 => l _; rewrite mulr_ge0// sqr_ge0. Qed.

Section Core.
Context (X : Type) (N : definitions.relation X) (answer : X -> 'I_D -> R) d (Z : measurableType d) (M : mechanism R X Z) (coordinate : 'I_D -> Z -> R).
Hypotheses (mc : forall i, measurable_fun setT (coordinate i)) (priv : pure_dp N M eps).

Lemma core_length J s lam e : paid J s (expR (- eps)) (fun t => `|t|) lam -> (forall k, grid N answer J s (fun l i => moved query steps l i) k) ->
  0 <= e -> (forall x, (length_on M coordinate answer x <= e%:E)%E) -> mean * lam <= e.
Proof.
move=> pay grids e0 most; apply: (grid_loss (weight := fun l => p l * `|size query steps H l|) (along := along query steps H)
  (loss := fun y => Num.sqrt (squares y)) mc _ _ _ _ _ _ _ e0 most priv pay grids).
- exact: measurable_fun_normr.
- by move=> t; exact: normr_ge0.
- by move=> t; exact: normrN.
- by move=> l; rewrite mulr_ge0.
- by move=> y; apply: mean_parts p0 p1 sym c1 level y.
- move=> l h; apply: part_unit; apply: contraTneq h => ->; by rewrite normr0 mulr0 ltxx.
- by move=> x; exact: measurable_length.
Qed.

Lemma core_square J s lam e : paid J s (expR (- eps)) (fun t => t ^+ 2) lam -> (forall k, grid N answer J s (fun l i => moved query steps l i) k) ->
  0 <= e -> (forall x, (square_on M coordinate answer x <= e%:E)%E) -> square * lam <= e.
Proof.
move=> pay grids e0 most; apply: (grid_loss (weight := fun l => p l * size query steps H l ^+ 2) (along := along query steps H)
  (loss := fun y => squares y) mc _ _ _ _ _ _ _ e0 most priv pay grids).
- by under eq_fun do rewrite expr2; apply: measurable_funM; exact: measurable_fun_id.
- by move=> t; exact: sqr_ge0.
- by move=> t; exact: sqrrN.
- by move=> l; rewrite mulr_ge0// sqr_ge0.
- by move=> y; apply: square_parts p0 p1 sym c1 level y.
- move=> l h; apply: part_unit; apply: contraTneq h => ->; by rewrite expr0n mulr0 ltxx.
- by move=> x; exact: measurable_squares.
Qed.

(* Both errors, and the one from the other. *)
Lemma both_errors (v u : R) : inhabited X -> 0 <= v ->
  (forall e, 0 <= e -> (forall x, (length_on M coordinate answer x <= e%:E)%E) -> v <= e) ->
  (forall e, 0 <= e -> (forall x, (square_on M coordinate answer x <= e%:E)%E) -> u <= e) ->
  (v%:E <= worst_length M coordinate answer)%E /\ ((Num.max u (v ^+ 2))%:E <= worst_square M coordinate answer)%E.
Proof.
move=> X0 v0 hv hu; split; first by apply: (below_worst X0) => // x; exact: length_ge0.
apply: (below_worst X0) => [x|e e0 most]; first exact: square_ge0.
rewrite le_maxl (hu _ e0 most) /=; apply: within_all => k k0.
have ek : 0 < e + k%:R^-1 by rewrite ltr_spaddr// invr_gt0 ltr0n.
have r0 : 0 < Num.sqrt (e + k%:R^-1) by rewrite sqrtr_gt0.
rewrite -[leRHS](sqr_sqrtr (ltW ek)) ler_expn2r ?nnegrE ?(ltW r0)//; apply: (hv _ (ltW r0)) => x.
apply: (length_of_square mc r0); apply: le_trans (most x) _; by rewrite sqr_sqrtr ?(ltW ek)// lee_fin ler_addl invr_ge0.
Qed.
End Core.

Let q : R := expR (- eps).
Let r : R := expR (- (eps / 2)).
Let q0 : 0 < q. Proof. exact: expR_gt0. Qed.
Let q1 : q < 1. Proof. by rewrite /q -expR0 ltr_expR oppr_lt0. Qed.
Let r0 : 0 < r. Proof. exact: expR_gt0. Qed.
Let r1 : r < 1. Proof. by rewrite /r -[ltRHS](@expR0 R) ltr_expR oppr_lt0 divr_gt0. Qed.
Let rq : r ^+ 2 = q. Proof. by rewrite expr2 -expRD /q; congr expR; lra. Qed.

Lemma sinhE (x : R) : 0 < x -> sinh x = (1 - expR (- x) ^+ 2) / (2 * expR (- x)).
Proof.
move=> x0; have n0 : 2 * expR (- x) != 0 by rewrite mulf_neq0// gt_eqF ?expR_gt0.
apply: (canRL (mulfK n0)); have : expR x * expR (- x) = 1 by rewrite -expRD subrr expR0.
rewrite /sinh; lra.
Qed.

Lemma step_length : 2 * q / (1 - q ^+ 2) = (sinh eps)^-1.
Proof. by rewrite sinhE// invf_div. Qed.

Lemma fine_length : r / (1 - r ^+ 2) = (2 * sinh (eps / 2))^-1.
Proof.
have e2 : 0 < eps / 2 by rewrite divr_gt0.
by rewrite sinhE// invfM invf_div -/r mulrA mulrA mulVf// mul1r.
Qed.

Lemma step_square : 2 * q / (1 - q) ^+ 2 = (2 * sinh (eps / 2) ^+ 2)^-1.
Proof.
have e2 : 0 < eps / 2 by rewrite divr_gt0.
have h : (2 * r) ^+ 2 = 2 * (2 * q) by rewrite -rq; lra.
rewrite sinhE// -/r rq expr_div_n h -[LHS]invf_div; congr (_^-1); rewrite [(2 * (2 * q))^-1]invfM; lra.
Qed.

Let zero_counts : inhabited (counts n). Proof. exact: (inhabits (fun _ => 0%N)). Qed.
Let zero_amounts : inhabited (amounts R n). Proof. exact: (inhabits (Amounts (fun _ => lexx 0))). Qed.

Let eps2 : 0 < eps / 2. Proof. by rewrite divr_gt0. Qed.
Let sinh0 (x : R) : 0 < x -> 0 < sinh x.
Proof. by move=> x0; rewrite divr_gt0// subr_gt0 ltr_expR; lra. Qed.

Lemma err_in_steps X (N : definitions.relation X) (answer : X -> 'I_D -> R) : inhabited X ->
  (forall k, grid N answer 1 1 (fun l i => moved query steps l i) k) ->
  must_err N answer (mean / sinh eps) (square / (2 * sinh (eps / 2) ^+ 2)).
Proof.
move=> X0 grids d Z M coordinate mc priv; rewrite -step_length -step_square; apply: both_errors => //.
- by rewrite step_length mulr_ge0// invr_ge0 ltW// sinh0.
- by move=> e; apply: (core_length mc priv _ grids); exact: size_in_one_step.
- by move=> e; apply: (core_square mc priv _ grids); exact: square_in_one_step.
Qed.

Lemma err_in_parts near lam : star near -> (forall l, near (fun j => steps l j)) -> finely q (fun t => t ^+ 2) lam ->
  must_err (apart near) (measured query) (mean / (2 * sinh (eps / 2))) (square * lam).
Proof.
move=> st ok [K [g [g1 pay]]] d Z M coordinate mc priv; apply: both_errors => //.
- by rewrite mulr_ge0// invr_ge0 mulr_ge0// ltW// sinh0.
- rewrite -fine_length => e e0 most; have [K' [g' [g1' pay']]] := size_finely r0 r1; rewrite rq in pay'.
  apply: (fine_limit (K := K') mean0 g1') => k k0 small; rewrite rq.
  exact: (core_length mc priv (pay' k k0 small) (grid_apart query st ok k0) e0 most).
- move=> e e0 most; apply: (fine_limit (K := K) square0 g1) => k k0 small.
  exact: (core_square mc priv (pay k k0 small) (grid_apart query st ok k0) e0 most).
Qed.

(* The least variance of staircase noise whose middle step reaches as far as g. *)
Definition staircase (g : R) : R := q * (1 + q) / (1 - q) ^+ 2 + g ^+ 2 + 2 * q * g / (1 - q).
Definition reaches (g : R) : Prop :=
  (1 - q) * (2 * (1 - q) * g ^+ 3 / 3 + q * g ^+ 2) <= q * ((1 - q) / 3 + q - (1 - q) * g ^+ 2 - 2 * q * g).

Lemma reaches_lt1 g : 0 < g -> reaches g -> g < 1.
Proof.
move=> g0 h; rewrite ltNge; apply/negP => g1; have rest0 : 0 <= 1 - q by rewrite subr_ge0 ltW.
have g2 : 1 <= g ^+ 2 by rewrite exprn_ege1.
have low : 0 <= (1 - q) * (2 * (1 - q) * g ^+ 3 / 3 + q * g ^+ 2).
  have g3 : 0 <= (1 - q) * g ^+ 3 by rewrite mulr_ge0// exprn_ge0// ltW.
  have qg : 0 <= q * g ^+ 2 by rewrite mulr_ge0 ?sqr_ge0// ltW.
  by apply: mulr_ge0 => //; lra.
have h1 := ler_wpmul2l rest0 g2; have h2 := ler_wpmul2l (ltW q0) g1.
have neg : (1 - q) / 3 + q - (1 - q) * g ^+ 2 - 2 * q * g < 0 by have := q0; lra.
by have := le_trans low h; rewrite pmulr_rge0// leNgt neg.
Qed.

(* Rule: lines-lower-bound. *)
Theorem lines_lower_bound :
  (adds steps -> must_err (@added n) (counted query) (mean / sinh eps) (square / (2 * sinh (eps / 2) ^+ 2))) /\
  (replaces steps -> must_err (@replaced n) (counted query) (mean / sinh eps) (square / (2 * sinh (eps / 2) ^+ 2))) /\
  forall near, near = @near1 R n \/ near = @near2 R n -> (forall l, near (fun j => steps l j)) ->
    must_err (apart near) (measured query) (mean / (2 * sinh (eps / 2))) (square / (2 * sinh (eps / 2) ^+ 2)) /\
    forall g, 0 < g -> reaches g -> must_err (apart near) (measured query) (mean / (2 * sinh (eps / 2))) (square * staircase g).
Proof.
split; [|split] => [ok|ok|near ns ok].
- by apply: err_in_steps => //; exact: grid_added.
- by apply: err_in_steps => //; exact: grid_replaced.
have st : star near by case: ns => ->; [exact: star1 | exact: star2].
split=> [|g g0 told]; last first.
  by apply: err_in_parts => //; apply: square_finely => //; exact: reaches_lt1 told.
move=> d Z M coordinate mc priv; apply: both_errors => //.
- by rewrite mulr_ge0// invr_ge0 mulr_ge0// ltW// sinh0.
- rewrite -fine_length => e e0 most; have [K' [g' [g1' pay']]] := size_finely r0 r1; rewrite rq in pay'.
  apply: (fine_limit (K := K') mean0 g1') => k k0 small; rewrite rq.
  exact: (core_length mc priv (pay' k k0 small) (grid_apart query st ok k0) e0 most).
- rewrite -step_square => e e0 most; apply: (core_square mc priv (square_in_one_step q0 q1) _ e0 most) => k.
  by have := @grid_apart _ _ _ _ query steps near 1 st ok isT k; rewrite invr1.
Qed.
End Rule.
