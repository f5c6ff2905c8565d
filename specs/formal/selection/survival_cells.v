(* The survival function of one noise, between cuts (docs/theory/selection.md, survival): the ratio S(m)/S(m + r) stays below e^v where it does so in a
   way that is looked at on each cell, to the left of the cuts and to the right of them. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition groups joint_neighbours finite selection powers.

Section Survival.
Context (R : realType) (nu : {measure set R -> \bar R}) (f : R -> R) (v r : R).
Hypotheses (nu1 : nu setT = 1%E) (dens : has_density (@lebesgue_measure R) nu f) (v0 : 0 <= v) (r0 : 0 < r).

Definition S (m : R) : R := fine (nu [set z | m <= z]).

Lemma massS m : nu [set z | m <= z] = (S m)%:E.
Proof. by rewrite /S fineK// mass_fin//; exact: measurable_ray. Qed.

Lemma S01 m : 0 <= S m <= 1.
Proof. by rewrite -!lee_fin -massS measure_ge0 mass_le1//; exact: measurable_ray. Qed.

Let cell x y : set R := [set` `[x, y[].

Lemma cut x y : x <= y -> nu (cell x y) = (S x - S y)%:E.
Proof.
move=> xy; have E : [set z | x <= z] = cell x y `|` [set z | y <= z].
  apply/seteqP; split=> z; rewrite /cell/= in_itv/=.
    by move=> xz; have [yz|zy] := leP y z; [right | left; rewrite xz].
  by case=> [/andP[]//|]; exact: le_trans.
have D : cell x y `&` [set z | y <= z] = set0.
  by apply/seteqP; split=> z //=; rewrite /cell/= in_itv/= => -[/andP[_ zy]]; rewrite leNgt zy.
have mc : measurable (cell x y) by exact: measurable_itv.
have F := mass_fin nu1 mc.
have := massS x; rewrite E measureU//; last exact: measurable_ray.
by move=> e; rewrite EFinB -e -(massS y) addeK//; apply: mass_fin => //; exact: measurable_ray.
Qed.

Lemma cell_length x y : x <= y -> (@lebesgue_measure R) (cell x y) = (y - x)%:E.
Proof.
move=> xy; suff : lebesgue_measure ([set` `[x, y[] : set R) = (y - x)%:E by [].
rewrite lebesgue_measure_itv hlength_itv/= lte_fin; case: ltP => [_ | yx]; first by rewrite -EFinB.
by have -> : y = x by [apply/eqP; rewrite eq_le xy yx]; rewrite subrr.
Qed.

Lemma cell_le x y hi : x <= y -> 0 <= hi -> (forall z, x <= z -> z < y -> f z <= hi) -> S x - S y <= hi * (y - x).
Proof.
move=> xy hi0 le; have mc : measurable (cell x y) by exact: measurable_itv.
rewrite -lee_fin -(cut xy); have [f0 mf ->] := dens; last exact: measurable_itv.
apply: (@le_trans _ _ (\int[@lebesgue_measure R]_(z in cell x y) (cst hi%:E z))%E).
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin.
  - by apply/EFin_measurable_fun; apply: measurable_funS mf.
  - exact: measurable_fun_cst.
  - by move=> z; rewrite /cell/= in_itv/= => /andP[a b]; rewrite lee_fin; exact: le.
by rewrite integral_cst// EFinM -(cell_length xy); exact: lexx.
Qed.

Lemma cell_ge x y lo : x <= y -> 0 <= lo -> (forall z, x <= z -> z < y -> lo <= f z) -> lo * (y - x) <= S x - S y.
Proof.
move=> xy lo0 le; have mc : measurable (cell x y) by exact: measurable_itv.
rewrite -lee_fin -(cut xy); have [f0 mf ->] := dens; last exact: measurable_itv.
apply: (@le_trans _ _ (\int[@lebesgue_measure R]_(z in cell x y) (cst lo%:E z))%E); last first.
  apply: ge0_le_integral => //.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin.
  - by apply/EFin_measurable_fun; apply: measurable_funS mf.
  - by move=> z; rewrite /cell/= in_itv/= => /andP[a b]; rewrite lee_fin; exact: le.
by rewrite integral_cst// EFinM -(cell_length xy); exact: lexx.
Qed.

Lemma falls x y : x <= y -> S y <= S x.
Proof. by move=> xy; have : (0 <= (S x - S y)%:E)%E by [rewrite -(cut xy); exact: measure_ge0]; rewrite lee_fin subr_ge0. Qed.

(* ln x - ln y <= (x - y)/y. *)
Lemma ln_gap (x y : R) : 0 < x -> 0 < y -> ln x - ln y <= (x - y) / y.
Proof.
move=> x0 y0; rewrite -ln_div ?posrE//; have := expR_ge1D (ln (x / y)).
by rewrite lnK ?posrE ?divr_gt0// mulrBl divff ?gt_eqF//; lra.
Qed.

(* One cell: the ratio within it, from the ratio at its left end. *)
Lemma on_a_cell a b lo hi m : a <= m -> m <= b -> 0 <= lo -> 0 <= hi -> 0 < S (b + r) ->
  (forall z, a <= z -> z < b -> lo <= f z) -> (forall z, a + r <= z -> z < b + r -> f z <= hi) ->
  ln (S a / S (a + r)) + (b - a) * Num.max 0 (hi / S (b + r) - lo / S a) <= v -> S m <= expR v * S (m + r).
Proof.
move=> am mb lo0 hi0 Sb low high bound.
have ab : a <= b by exact: le_trans mb.
have p1 : 0 < S (m + r) by apply: lt_le_trans Sb _; apply: falls; rewrite ler_add2r.
have p2 : 0 < S (a + r) by apply: lt_le_trans p1 _; apply: falls; rewrite ler_add2r.
have p3 : 0 < S a by apply: lt_le_trans p2 _; apply: falls; rewrite ler_addl ltW.
have p4 : 0 < S m by apply: lt_le_trans p1 _; apply: falls; rewrite ler_addl ltW.
have h1 : ln (S m) - ln (S a) <= - (lo / S a * (m - a)).
  apply: (le_trans (ln_gap p4 p3)); rewrite mulrAC -mulNr ler_wpmul2r ?invr_ge0 ?(ltW p3)//.
  have := cell_ge am lo0 (fun z x y => low z x (lt_le_trans y mb)); lra.
have h2 : ln (S (a + r)) - ln (S (m + r)) <= hi / S (b + r) * (m - a).
  apply: (le_trans (ln_gap p2 p1)).
  have amr : a + r <= m + r by rewrite ler_add2r.
  have c1 : S (a + r) - S (m + r) <= hi * (m - a).
    have := @cell_le _ _ hi amr hi0; have -> : m + r - (a + r) = m - a by lra.
    by apply=> z z1 z2; apply: high => //; apply: (lt_le_trans z2); rewrite ler_add2r.
  have i1 : (S (m + r))^-1 <= (S (b + r))^-1 by rewrite lef_pinv ?posrE//; apply: falls; rewrite ler_add2r.
  have d0 : 0 <= S (a + r) - S (m + r) by rewrite subr_ge0; exact: falls.
  apply: (le_trans (ler_wpmul2l d0 i1)); rewrite [leRHS]mulrAC ler_wpmul2r// invr_ge0 ltW//.
have h3 : (m - a) * (hi / S (b + r) - lo / S a) <= (b - a) * Num.max 0 (hi / S (b + r) - lo / S a).
  set w := Num.max 0 _; have w0 : 0 <= w by rewrite /w le_maxr lexx.
  have w1 : hi / S (b + r) - lo / S a <= w by rewrite /w le_maxr lexx orbT.
  have ma : 0 <= m - a by rewrite subr_ge0.
  apply: (le_trans (ler_wpmul2l ma w1)); apply: ler_wpmul2r => //; lra.
rewrite -ler_pdivr_mulr// -[leLHS]lnK ?posrE ?divr_gt0// ler_expR ln_div ?posrE//.
move: bound; rewrite ln_div ?posrE// => bound.
apply: le_trans bound; apply: le_trans (ler_add (lexx _) h3).
have -> : (m - a) * (hi / S (b + r) - lo / S a) = hi / S (b + r) * (m - a) - lo / S a * (m - a) by rewrite mulrC mulrBl.
lra.
Qed.

(* From the cuts to S(m) <= e^v S(m + r) for every m; survival.v is the rule. *)
Theorem survival_by_cells (n : nat) (cuts lo hi : nat -> R) :
  - ln (S (cuts 0%N + r)) <= v -> (forall i, (i <= n)%N -> 0 < S (cuts i + r)) ->
  (forall i, (i < n)%N -> [/\ 0 <= lo i, 0 <= hi i, forall z, cuts i <= z -> z < cuts i.+1 -> lo i <= f z,
    forall z, cuts i + r <= z -> z < cuts i.+1 + r -> f z <= hi i &
    ln (S (cuts i) / S (cuts i + r)) + (cuts i.+1 - cuts i) * Num.max 0 (hi i / S (cuts i.+1 + r) - lo i / S (cuts i)) <= v]) ->
  (forall m, cuts n <= m -> S m <= expR v * S (m + r)) -> survives nu v r.
Proof.
move=> first pos cells right m; rewrite (massS m) (massS (m + r)) -EFinM lee_fin.
have [le | /ltW mn] := leP (cuts n) m; first exact: right.
have inside k : (k <= n)%N -> forall m, m <= cuts k -> S m <= expR v * S (m + r).
  elim: k => [|k IH] kn {mn}m mk.
    apply: (@le_trans _ _ (expR v * S (cuts 0%N + r))); last by rewrite ler_wpmul2l ?expR_ge0//; apply: falls; rewrite ler_add2r.
    apply: (@le_trans _ _ 1); first by case/andP: (S01 m).
    rewrite -[S (cuts 0%N + r)]lnK ?posrE ?pos// -expRD -[leLHS]expR0 ler_expR -ler_subl_addr sub0r //.
  have [le | /ltW km] := leP m (cuts k); first by apply: IH => //; exact: ltnW.
  have [lo0 hi0 low high bound] := cells k kn.
  by apply: (on_a_cell km mk lo0 hi0 (pos _ kn) low high).
exact: (inside n).
Qed.
End Survival.
