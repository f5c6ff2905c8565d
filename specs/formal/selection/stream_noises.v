(* Log-concave noise as the rules about streams read it (docs/theory/selection.md: selection, streams): on the reals or the integers, with its slopes; its
   tails are light, and it is drawn with a positive probability near each point inside of where it lives. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents log_concave worst_run_limits greatest_real.

Section Noises.
Context (R : realType).
Implicit Types (lam mu : {measure set R -> \bar R}) (z : R).

Definition whole_number z := exists k : int, z = k%:~R.
Definition is_counting lam := forall A : set R, measurable A -> lam A = \esum_(k in [set k : int | A k%:~R]) 1%E.

Lemma counting_keeps lam s : is_counting lam -> whole_number s -> keeps lam s.
Proof.
move=> lamE [k ->] A mA; rewrite !lamE//; last exact: measurable_moved.
symmetry.
apply: (@reindex_esum _ _ _ [set i : int | A (i%:~R + k%:~R)] [set i : int | A i%:~R] (fun i => i + k) (fun=> 1%E)) => //.
split=> [i /=|i j _ _|i /= Ai]; first by rewrite intrD.
- exact: addIr.
- by exists (i - k); rewrite /= ?subrK// -intrD subrK.
Qed.

Lemma counting_one lam (k : int) : is_counting lam -> lam [set k%:~R] = 1%E.
Proof.
move=> lamE; rewrite lamE; last exact: measurable_set1.
rewrite (_ : [set _ | _] = [set k]) ?esum_set1//; apply/seteqP; split=> i /=; [exact: intr_inj | by move=> ->].
Qed.

Definition inside (lo hi : option R) z := (if lo is Some a then a < z else true) && (if hi is Some b then z < b else true).

Lemma between_inside lo hi z : inside lo hi z -> between lo hi z.
Proof. by rewrite /inside /between; case: lo hi => [a|] [b|] // => [/andP[h h']|/andP[h _]|h']; rewrite ?(ltW h) ?(ltW h'). Qed.

(* Some way to the right of a point inside is between the ends as well. *)
Lemma inside_right lo hi z e : inside lo hi z -> 0 < e -> exists2 c, z < c < z + e & between lo hi c.
Proof.
move=> /andP[above below_] e0; case: hi below_ => [b zb|_].
  exists (z + Num.min (e / 2) ((b - z) / 2)).
    by rewrite ltr_addl lt_minr ltr_add2l lt_minl; apply/andP; split; [apply/andP; split; lra | apply/orP; left; lra].
  rewrite /between; apply/andP; split.
    case: lo above => // a az; rewrite (le_trans (ltW az))// ler_addl le_minr; apply/andP; split; lra.
  by have : Num.min (e / 2) ((b - z) / 2) <= (b - z) / 2; [rewrite le_minl lexx orbT | lra].
exists (z + e / 2); first by apply/andP; split; lra.
by rewrite /between andbT; case: lo above => // a az; lra.
Qed.

Lemma drawn_near lam mu lo hi h f z e : mu setT = 1%E -> has_density lam mu f -> log_concave lo hi h f -> inside lo hi z ->
  (is_lebesgue lam \/ is_counting lam /\ whole_number z) -> 0 < e -> (0 < mu `](z - e)%R, (z + e)%R[%classic)%E.
Proof.
move=> mu1 dens lc iz line_ e0; have [fE conv] := lc.
have fz c : between lo hi c -> 0 < f c by move=> bc; rewrite fE bc expR_gt0.
case: line_ => [lamE|[lamE [k kE]]].
- have [f0 mf me] := lebesgue_density lamE dens.
  have [c /andP[zc ce] bc] := inside_right iz e0.
  have low x : z <= x -> x <= c -> expR (- Num.max (h z) (h c)) <= f x.
    move=> zx xc; pose t := (c - x) / (c - z); have tE : t * (c - z) = c - x by rewrite divfK// gt_eqF// subr_gt0.
    have t0 : 0 <= t by apply: divr_ge0; lra.
    have t1 : t <= 1 by rewrite ler_pdivr_mulr ?mul1r; lra.
    have xE : t * z + (1 - t) * c = x by lra.
    have bz := between_inside iz; have := conv _ _ _ bz bc t0 t1; rewrite xE => hx.
    have bx : between lo hi x.
      move: bz bc; rewrite /between; case: (lo) (hi) => [a|] [b|] //= => [/andP[az _] /andP[_ cb]|az _|_ cb]; rewrite ?andbT.
      - by rewrite (le_trans az zx) (le_trans xc cb).
      - by move: az; rewrite andbT => az; rewrite (le_trans az zx).
      - exact: le_trans xc cb.
    rewrite fE bx ler_expR ler_opp2; apply: (le_trans hx).
    have m1 : h z <= Num.max (h z) (h c) by rewrite le_maxr lexx.
    have m2 : h c <= Num.max (h z) (h c) by rewrite le_maxr lexx orbT.
    have := ler_wpmul2l t0 m1; have u0 : 0 <= 1 - t by lra.
    have := ler_wpmul2l u0 m2; lra.
  apply: (@lt_le_trans _ _ (mu `[z, c]%classic)); last first.
    by apply: le_measure; rewrite ?inE; try exact: measurable_itv; move=> x /=; rewrite !in_itv/= => /andP[h1 h2]; apply/andP; split; lra.
  rewrite me; last exact: measurable_itv.
  apply: (@lt_le_trans _ _ (\int[@lebesgue_measure R]_(x in `[z, c]%classic) (cst (expR (- Num.max (h z) (h c)))%:E x))%E).
    rewrite integral_cst; last exact: measurable_itv.
    have len : (@lebesgue_measure R) `[z, c]%classic = (c - z)%:E by rewrite lebesgue_measure_itv hlength_itv/= lte_fin zc.
    rewrite (_ : (_ * _)%E = (expR (- Num.max (h z) (h c)) * (c - z))%:E); last by rewrite EFinM -len.
    by rewrite lte_fin mulr_gt0 ?expR_gt0// subr_gt0.
  apply: ge0_le_integral => //; first exact: measurable_itv.
  + by move=> x _; rewrite lee_fin expR_ge0.
  + exact: measurable_fun_cst.
  + by move=> x _; rewrite lee_fin.
  + by apply/EFin_measurable_fun; apply: measurable_funS mf.
  + by move=> x /=; rewrite in_itv/= => /andP[zx xc]; rewrite lee_fin low.
- have [f0 mf me] := dens.
  apply: (@lt_le_trans _ _ (mu [set z])); last first.
    apply: le_measure; rewrite ?inE; [exact: measurable_set1 | exact: measurable_itv |].
    by move=> x /= ->; rewrite in_itv/=; apply/andP; split; lra.
  rewrite me; last exact: measurable_set1.
  rewrite (eq_integral (cst (f z)%:E)); last by move=> x; rewrite inE => ->.
  rewrite integral_cst; last exact: measurable_set1.
  by rewrite kE (counting_one k lamE) mule1 lte_fin -kE; apply: fz; exact: between_inside.
Qed.

(* What a rule knows of a noise: its law, where it lives, and its slopes, which are positive or infinite. *)
Record noise := Noise {
  base : {measure set R -> \bar R}; law : {measure set R -> \bar R}; integers : bool; low : option R; high : option R;
  exponent : R -> R; density : R -> R; left : option R; right : option R;
  law_one : law setT = 1%E;
  law_line : if integers then is_counting base else is_lebesgue base;
  law_density : has_density base law density;
  law_concave : log_concave low high exponent density;
  law_left : left_slope low exponent left; law_right : right_slope high exponent right;
  left_positive : positive_slope left; right_positive : positive_slope right
}.

(* Near which points it is drawn. *)
Definition lives (N : noise) z := inside (low N) (high N) z /\ (integers N -> whole_number z).

Lemma noise_near N z e : lives N z -> 0 < e -> (0 < law N `](z - e)%R, (z + e)%R[%classic)%E.
Proof.
move=> [iz wz]; apply: (drawn_near (law_one N) (law_density N) (law_concave N) iz).
by have := law_line N; case: (integers N) wz => [wz|_] l; [right; split=> //; exact: wz | left].
Qed.

Lemma noise_tails N : has_tails (law N) (left N) (right N).
Proof.
have one (k : int) : keeps (base N) k%:~R.
  have := law_line N; case: (integers N) => l; last exact: lebesgue_keeps.
  by apply: (counting_keeps l); exists k.
apply: (log_concave_tails (law_one N)); last 2 first.
- exact: left_positive.
- exact: right_positive.
- by exists (low N), (high N), (exponent N), (density N); split; [exact: law_density | exact: law_concave | exact: law_left | exact: law_right].
- exact: (one 1).
- by have := one (- 1); rewrite mulrN1z.
Qed.
End Noises.
