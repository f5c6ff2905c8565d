(* Private answers in a metric space, continued (docs/theory/spaces.md): the dual of a linear program leaves no mechanism with answers near the
   truth, and how private the exponential mechanism with a density is. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic density kernels finite spaces.

(* Finitely many databases, and finitely many answers pt y, which events tell apart. *)
Section Dual.
Context (R : realType) (I Y : finType) d (Z : measurableType d).
Variables (q : I -> Z) (dist : I -> I -> R) (between : Z -> Z -> R) (pt : Y -> Z).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Hypothesis measurable_far : forall gamma x, measurable (far q between gamma x).
(* Databases are at most so far apart: it is what a bound for all databases that are as declared takes. *)
Variable most : I -> I -> R.
Hypothesis dist_most : forall x x', 0 <= dist x x' <= most x x'.
(* Weights, multipliers, and for each pair a number that is at least e^(epsilon times their distance). *)
Variables (eps gamma beta : R) (w : I -> R) (z : I -> I -> Y -> R) (b : I -> I -> R) (v : I -> R).
Hypotheses (eps0 : 0 <= eps) (w0 : forall x, 0 <= w x) (z0 : forall x x' y, 0 <= z x x' y) (bE : forall x x', expR (eps * most x x') <= b x x').
Definition loss x y : R := if gamma < between (q x) (pt y) then 1 else 0.
Hypothesis v_least : forall x y, v x <= w x * loss x y + (\sum_x' z x x' y) - (\sum_x' b x' x * z x' x y).
Hypothesis above : beta * (\sum_x w x) < \sum_x v x.

(* Rule: near-dual, lower. *)
Theorem near_dual (M : mechanism R I Z) (p : I -> Y -> R) eps' : (forall x y, 0 <= p x y) -> has_table M pt p ->
  private_by_distance dist M eps' -> near_but q between M gamma beta -> eps < eps'.
Proof.
move=> p0 Mp priv near; rewrite ltNge; apply/negP => le.
have rows := table_rows Mp.
have ratio x x' y : p x y <= b x x' * p x' y.
  have /(table_close pt_inj pt_measurable Mp)/(_ y) h := priv x x'; apply: le_trans h _; rewrite ler_wpmul2r//.
  apply: le_trans (bE x x'); rewrite ler_expR; have /andP[d0 dm] := dist_most x x'.
  by apply: le_trans (ler_wpmul2r d0 le) _; rewrite ler_wpmul2l.
pose A := \sum_x \sum_y p x y * (w x * loss x y).
pose B := \sum_x \sum_y \sum_x' p x y * z x x' y.
pose C := \sum_x \sum_y \sum_x' p x y * (b x' x * z x' x y).
have sums : \sum_x v x <= A + B - C.
  have -> : A + B - C = \sum_x \sum_y p x y * (w x * loss x y + (\sum_x' z x x' y) - (\sum_x' b x' x * z x' x y)).
    rewrite /A /B /C -big_split /= -sumrB; apply: eq_bigr => x _; rewrite -big_split /= -sumrB; apply: eq_bigr => y _.
    by rewrite -!mulr_sumr mulrBr mulrDr.
  apply: ler_sum => x _; rewrite -[leLHS]mul1r -(rows x) mulr_suml; apply: ler_sum => y _; exact: ler_wpmul2l.
have BC : B <= C.
  have -> : C = \sum_x \sum_y \sum_x' p x' y * (b x x' * z x x' y).
    transitivity (\sum_y \sum_x \sum_x' p x y * (b x' x * z x' x y)); first exact: exchange_big.
    transitivity (\sum_y \sum_x \sum_x' p x' y * (b x x' * z x x' y)); last exact: exchange_big.
    apply: eq_bigr => y _; exact: exchange_big.
  apply: ler_sum => x _; apply: ler_sum => y _; apply: ler_sum => x' _.
  by rewrite mulrA [p x' y * _]mulrC; exact: ler_wpmul2r.
have AE : A <= beta * (\sum_x w x).
  rewrite mulr_sumr; apply: ler_sum => x _.
  have -> : \sum_y p x y * (w x * loss x y) = w x * (\sum_(y | gamma < between (q x) (pt y)) p x y).
    rewrite [in RHS]big_mkcond mulr_sumr; apply: eq_bigr => y _; rewrite /loss; case: ifP => _; lra.
  rewrite [leRHS]mulrC; apply: ler_wpmul2l => //.
  by have := near x; rewrite (table_far measurable_far Mp) lee_fin.
move: above sums BC AE; lra.
Qed.
End Dual.

(* The exponential mechanism with a density, with respect to any measure. *)
Section Density.
Context (R : realType) (X : Type) d (Z : measurableType d) (mu : {measure set Z -> \bar R}).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R) (b C : R) (c : X -> R) (M : mechanism R X Z).
Hypotheses (is_metric : metric between) (lip : lipschitz q dist between C) (b0 : 0 <= b) (c0 : forall x, 0 < c x).
Hypothesis dens : forall x, has_density mu (M x) (fun z => c x * expR (- (b * between (q x) z))).

Lemma density_moves x x' z : expR (- (b * between (q x) z)) <= expR (b * C * dist x x') * expR (- (b * between (q x') z)) /\
  expR (- (b * between (q x') z)) <= expR (b * C * dist x x') * expR (- (b * between (q x) z)).
Proof.
have [_ sym tri] := is_metric; have h := lip x x'.
have h1 := tri (q x) (q x') z; have h2 := tri (q x') (q x) z; rewrite [between (q x') (q x)]sym in h2.
have h3 : between (q x) z <= C * dist x x' + between (q x') z by lra.
have h4 : between (q x') z <= C * dist x x' + between (q x) z by lra.
have p3 := ler_wpmul2l b0 h3; have p4 := ler_wpmul2l b0 h4.
by rewrite -!expRD !ler_expR; split; lra.
Qed.

(* The normaliser of one database is at most e^(b C dist) times that of another. *)
Lemma normaliser_moves x x' : c x <= expR (b * C * dist x x') * c x'.
Proof.
set e := expR _; have [px mx Mx] := dens x; have [px' mx' Mx'] := dens x'.
have e0 : 0 < e by exact: expR_gt0.
have one : (\int[mu]_(z in setT) (c x * expR (- (b * between (q x) z)))%:E = 1)%E by rewrite -Mx// law_total.
have one' : (\int[mu]_(z in setT) (c x' * expR (- (b * between (q x') z)))%:E = 1)%E by rewrite -Mx'// law_total.
have k0 : 0 <= e * c x' / c x by rewrite divr_ge0 ?mulr_ge0// ltW.
have : (\int[mu]_(z in setT) (c x' * expR (- (b * between (q x') z)))%:E <=
    (e * c x' / c x)%:E * \int[mu]_(z in setT) (c x * expR (- (b * between (q x) z)))%:E)%E.
  rewrite -(integral_scaled mu k0 px mx measurableT); apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin.
  - exact/EFin_measurable_fun.
  - by move=> z _; rewrite lee_fin mulr_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_cst.
  move=> z _; rewrite lee_fin; set W := expR (- (b * between (q x) z)).
  have -> : e * c x' / c x * (c x * W) = c x' * (e * W) by rewrite mulrA (divfK (lt0r_neq0 (c0 x))); lra.
  by rewrite ler_pmul2l//; have [_] := density_moves x x' z.
by rewrite one one' mule1 lee_fin ler_pdivl_mulr// mul1r.
Qed.

(* How near the answers are density_near.v and density_real.v show. *)
Theorem density_mechanism : private_by_distance dist M (2 * b * C) /\ ((forall x x', c x = c x') -> private_by_distance dist M (b * C)).
Proof.
split=> [x x' | same x x'].
- apply: (close_of_ratio (dens x) (dens x')); exists set0; split=> // z /= h; case: h.
  rewrite (_ : expR (2 * b * C * dist x x') = expR (b * C * dist x x') * expR (b * C * dist x x')); last by rewrite -expRD; congr expR; lra.
  rewrite mulrACA; apply: ler_pmul; [exact: ltW | exact: expR_ge0 | exact: normaliser_moves |].
  by have [] := density_moves x x' z.
- apply: (close_of_ratio (dens x) (dens x')); exists set0; split=> // z /= h; case: h.
  rewrite (same x x') mulrCA ler_pmul2l//; by have [] := density_moves x x' z.
Qed.
End Density.
