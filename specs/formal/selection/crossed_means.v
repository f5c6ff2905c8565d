(* Means of products of functions that go the same way, and log-concave functions on the line or on a grid of it (docs/theory/selection.md, worst pair
   of above threshold): no derivatives are needed, only that a rectangle of values of a log-concave function is ordered. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels likelihood log_concave.

Section Means.
Context (R : realType) (lam : {measure set R -> \bar R}).

(* A function that is nowhere below 0, and its integral. *)
Definition weighs (a : R -> R) (A : R) := [/\ measurable_fun setT a, forall t, 0 <= a t & (\int[lam]_t (a t)%:E = A%:E)%E].

Lemma weighs_sum a b (A B x y : R) : weighs a A -> weighs b B -> 0 <= x -> 0 <= y -> weighs (fun t => x * a t + y * b t) (x * A + y * B).
Proof.
move=> [ma a0 aA] [mb b0 bB] x0 y0; split.
- by apply: measurable_funD; apply: measurable_funrM.
- by move=> t; rewrite addr_ge0// mulr_ge0.
under eq_integral do rewrite EFinD !EFinM.
rewrite ge0_integralD//; last 4 first.
- by move=> t _; rewrite -EFinM lee_fin mulr_ge0.
- by under eq_fun do rewrite -EFinM; apply/EFin_measurable_fun; exact: measurable_funrM.
- by move=> t _; rewrite -EFinM lee_fin mulr_ge0.
- by under eq_fun do rewrite -EFinM; apply/EFin_measurable_fun; exact: measurable_funrM.
rewrite !ge0_integralM//; last 4 first.
- exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin.
by rewrite aA bB -!EFinM -EFinD.
Qed.

Lemma weighs_le a b (A B : R) : weighs a A -> weighs b B -> (forall t, a t <= b t) -> A <= B.
Proof.
move=> [ma a0 aA] [mb b0 bB] le; rewrite -lee_fin -aA -bB; apply: ge0_le_integral => //.
- by move=> t _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin.
- exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin.
Qed.

(* Chebyshev's inequality without quotients: what holds of all pairs of points holds of the integrals. *)
Lemma crossed_means a b c d (A B C D : R) : weighs a A -> weighs b B -> weighs c C -> weighs d D ->
  (forall s t, a s * d t + a t * d s <= b s * c t + b t * c s) -> A * D <= B * C.
Proof.
move=> wa wb wc wd le; have [_ a0 _] := wa; have [_ b0 _] := wb; have [_ c0 _] := wc; have [_ d0 _] := wd.
have A0 : 0 <= A by rewrite -lee_fin; have [_ h <-] := wa; apply: integral_ge0 => t _; rewrite lee_fin.
have B0 : 0 <= B by rewrite -lee_fin; have [_ h <-] := wb; apply: integral_ge0 => t _; rewrite lee_fin.
have C0 : 0 <= C by rewrite -lee_fin; have [_ h <-] := wc; apply: integral_ge0 => t _; rewrite lee_fin.
have D0 : 0 <= D by rewrite -lee_fin; have [_ h <-] := wd; apply: integral_ge0 => t _; rewrite lee_fin.
have once s : D * a s + A * d s <= C * b s + B * c s.
  have := weighs_le (weighs_sum wd wa (a0 s) (d0 s)) (weighs_sum wc wb (b0 s) (c0 s)).
  rewrite [D * _]mulrC [A * _]mulrC [C * _]mulrC [B * _]mulrC; apply=> t.
  by have := le s t; rewrite [d s * a t]mulrC [c s * b t]mulrC.
have := weighs_le (weighs_sum wa wd D0 A0) (weighs_sum wb wc C0 B0) once; lra.
Qed.

Lemma crossed_each a b c d (A B C D : R) : weighs a A -> weighs b B -> weighs c C -> weighs d D ->
  (forall s t, a s * d t <= b s * c t) -> A * D <= B * C.
Proof. by move=> wa wb wc wd le; apply: (crossed_means wa wb wc wd) => s t; apply: ler_add; exact: le. Qed.

(* X and Y are weights; k and k' factors. *)
Lemma factors_crossed (X Y k k' : R -> R) (A B C D : R) :
  weighs (fun t => X t * k t) A -> weighs (fun t => X t * k' t) B -> weighs (fun t => Y t * k t) C -> weighs (fun t => Y t * k' t) D ->
  (forall s t, s <= t -> X t * Y s = X s * Y t \/ (X s * Y t <= X t * Y s /\ k' s * k t <= k s * k' t) \/
    (X t * Y s <= X s * Y t /\ k s * k' t <= k' s * k t)) -> A * D <= B * C.
Proof.
move=> wa wb wc wd order; apply: (crossed_means wa wb wc wd).
have sym s t : s <= t -> X s * k s * (Y t * k' t) + X t * k t * (Y s * k' s) <= X s * k' s * (Y t * k t) + X t * k' t * (Y s * k s).
  move=> st; rewrite -subr_ge0.
  have -> : X s * k' s * (Y t * k t) + X t * k' t * (Y s * k s) - (X s * k s * (Y t * k' t) + X t * k t * (Y s * k' s)) =
    (X t * Y s - X s * Y t) * (k s * k' t - k' s * k t) by lra.
  case: (order s t st) => [->|[[h1 h2]|[h1 h2]]]; first by rewrite subrr mul0r.
  - by apply: mulr_ge0; rewrite subr_ge0.
  - by apply: mulr_le0; rewrite subr_le0.
move=> s t; have [st|/ltW ts] := leP s t; first exact: sym.
by have := sym t s ts; lra.
Qed.
End Means.

Section Grid.
Context (R : realType) (grid : R -> Prop) (grid_sub : forall x y, grid x -> grid y -> grid (x - y)).

(* Log-concave, on the line or on points a grid apart: the inner two of four corners have the greater product. *)
Definition corners (g : R -> R) := forall x y s, grid s -> grid (y - x) -> x <= y -> 0 <= s -> g x * g (y + s) <= g (x + s) * g y.

Context (lam mu : {measure set R -> \bar R}) (f : R -> R) (mu1 : mu setT = 1%E) (dens : has_density lam mu f).
Hypotheses (kept : forall s, grid s -> keeps lam s) (off : forall z, ~ grid z -> f z = 0) (fc : corners f).

Lemma moved_weighs (U : set R) (c : R) : measurable U -> grid c -> weighs lam (fun z => f (z + c) * \1_U z) (fine (mu [set z | U (z - c)])).
Proof.
move=> mU gc; have [f0 mf fE] := dens; have kc := kept gc.
have mf' : measurable_fun setT (fun z : R => f (z + c)).
  by move=> _ B mB; have := measurable_plus c measurableT (mf measurableT _ mB); rewrite !setTI.
have mUc : measurable [set z | U (z - c)] by exact: (measurable_moved (- c) mU).
have mI : measurable_fun setT (\1_U : R -> R) by exact: measurable_fun_indic.
split; [exact: measurable_funM | by move=> z; rewrite mulr_ge0// indicE ler0n |].
rewrite fineK ?(mass_fin mu1)// fE// (integral_kept kc mf f0 mUc).
have -> : [set z | [set z | U (z - c)] (z + c)] = U by apply/seteqP; split=> z /=; rewrite addrK.
rewrite [RHS]integral_mkcond; apply: eq_integral => z _; rewrite /patch indicE; case: ifP => _; by rewrite ?mulr1 ?mulr0.
Qed.

Lemma set_weighs (U : set R) : measurable U -> weighs lam (fun z => f z * \1_U z) (fine (mu U)).
Proof.
move=> mU; have [f0 mf fE] := dens; have mI : measurable_fun setT (\1_U : R -> R) by exact: measurable_fun_indic.
split; [exact: measurable_funM | by move=> z; rewrite mulr_ge0// indicE ler0n |].
rewrite fineK ?(mass_fin mu1)// fE// [RHS]integral_mkcond; apply: eq_integral => z _; rewrite /patch indicE; case: ifP => _; by rewrite ?mulr1 ?mulr0.
Qed.

(* Two sets, of which one is below the other, and both a step further. *)
Lemma sets_crossed (U V : set R) (c : R) : measurable U -> measurable V -> (forall u v, U u -> V v -> u <= v) -> grid c -> 0 <= c ->
  fine (mu U) * fine (mu [set z | V (z - c)]) <= fine (mu [set z | U (z - c)]) * fine (mu V).
Proof.
move=> mU mV UV gc c0; have [f0 _ _] := dens.
apply: (crossed_each (set_weighs mU) (moved_weighs mU gc) (set_weighs mV) (moved_weighs mV gc)) => s t.
rewrite !indicE; case: (boolP (s \in U)) => [|_]; last by rewrite !mulr0 !mul0r.
rewrite inE => Us; case: (boolP (t \in V)) => [|_]; last by rewrite !mulr0.
rewrite inE => Vt; rewrite !mulr1; have [gs|/off ->] := pselect (grid s); last by rewrite mul0r mulr_ge0.
have [gt|ngt] := pselect (grid t); first by apply: fc => //; [exact: grid_sub | exact: UV].
rewrite (off (z := t + c)) ?mulr0 ?mulr_ge0// => gtc; apply: ngt; rewrite -(addrK c t); exact: grid_sub.
Qed.

Definition under (x : R) : R := fine (mu [set z | z < x]).
Definition from (x : R) : R := fine (mu [set z | x <= z]).

Lemma measurable_under (x : R) : measurable [set z : R | z < x].
Proof. by rewrite (_ : [set z | _] = `]-oo, x[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv]. Qed.
Lemma measurable_from (x : R) : measurable [set z : R | x <= z].
Proof. by rewrite (_ : [set z | _] = `[x, +oo[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv /= ?andbT]. Qed.
Lemma measurable_cell (x y : R) : measurable [set z : R | x <= z < y].
Proof. by rewrite (_ : [set z | _] = `[x, y[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv]. Qed.

Definition cell (x y : R) : R := fine (mu [set z | x <= z < y]).

Lemma under_cell x y : x <= y -> under y = under x + cell x y.
Proof.
move=> xy; rewrite /under /cell -fineD ?(mass_fin mu1)//; try exact: measurable_under; try exact: measurable_cell.
rewrite -measureU//; [congr (fine (mu _)) | exact: measurable_under | exact: measurable_cell |].
- apply/seteqP; split=> z /=; first by move=> zy; have [xz|zx] := leP x z; [right; rewrite zy | left].
  by case=> [zx|/andP[]//]; exact: lt_le_trans xy.
- by apply/seteqP; split=> z //= [zx /andP[xz _]]; move: zx; rewrite ltNge xz.
Qed.

Lemma from_cell x y : x <= y -> from x = cell x y + from y.
Proof.
move=> xy; rewrite /from /cell -fineD ?(mass_fin mu1)//; try exact: measurable_from; try exact: measurable_cell.
rewrite -measureU//; [congr (fine (mu _)) | exact: measurable_cell | exact: measurable_from |].
- apply/seteqP; split=> z /=; first by move=> xz; have [yz|zy] := leP y z; [right | left; rewrite xz].
  by case=> [/andP[]//|yz]; exact: le_trans yz.
- by apply/seteqP; split=> z //= [/andP[_ zy] yz]; move: zy; rewrite ltNge yz.
Qed.

(* The distribution function and the survival function are log-concave too. *)
Lemma under_corners : corners under.
Proof.
move=> x y s gs gc xy s0; have xs : x <= x + s by lra.
have ys : y <= y + s by lra.
rewrite (under_cell xs) (under_cell ys).
have c0 : 0 <= y - x by lra.
have := sets_crossed (measurable_under x) (measurable_cell x (x + s)) _ gc c0.
have -> : [set z | [set z | x <= z < x + s] (z - (y - x))] = [set z | y <= z < y + s].
  by apply/seteqP; split=> z /= /andP[h1 h2]; apply/andP; split; lra.
have -> : [set z | [set z | z < x] (z - (y - x))] = [set z | z < y] by apply/seteqP; split=> z /= h; lra.
rewrite -!/(under _) -!/(cell _ _) => h; have {}h : under x * cell y (y + s) <= under y * cell x (x + s).
  by apply: h => u v /= ux /andP[xv _]; exact: ltW (lt_le_trans ux xv).
lra.
Qed.

Lemma from_corners : corners from.
Proof.
move=> x y s gs gc xy s0; have xs : x <= x + s by lra.
have ys : y <= y + s by lra.
rewrite (from_cell xs) (from_cell ys).
have c0 : 0 <= y - x by lra.
have := sets_crossed (measurable_cell x (x + s)) (measurable_from (x + s)) _ gc c0.
have -> : [set z | [set z | x <= z < x + s] (z - (y - x))] = [set z | y <= z < y + s].
  by apply/seteqP; split=> z /= /andP[h1 h2]; apply/andP; split; lra.
have -> : [set z | [set z | x + s <= z] (z - (y - x))] = [set z | y + s <= z] by apply/seteqP; split=> z /= h; lra.
rewrite -!/(from _) -!/(cell _ _) => h; have {}h : cell x (x + s) * from (y + s) <= cell y (y + s) * from (x + s).
  by apply: h => u v /= /andP[_ ux] xv; exact: ltW (lt_le_trans ux xv).
lra.
Qed.
End Grid.
