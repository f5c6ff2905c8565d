(* The metric form of finite tables (docs/theory/finite.md, finite table): inputs x and x' may lose epsilon times their distance, and the tight epsilon is the
   greatest log-ratio in a column divided by the distance. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups joint_neighbours finite.
Local Open Scope ereal_scope.

Section Metric.
Context (R : realType) (X : Type) (dist : X -> X -> R).

(* Privacy in a metric: epsilon times the distance, at every pair of inputs that counts; and the least such epsilon. *)
Definition metric_dp d (T : measurableType d) (N : relation X) (M : mechanism R X T) (eps : R) :=
  forall x x', both N x x' -> close (eps * dist x x') 0 (M x) (M x').
Definition tight_metric_epsilon d (T : measurableType d) (N : relation X) (M : mechanism R X T) : \bar R :=
  ereal_inf [set e%:E | e in [set e : R | (0 <= e)%R /\ metric_dp N M e]].

Context (Y : finType) d (T : measurableType d) (M : mechanism R X T) (N : relation X) (pt : Y -> T) (p : X -> Y -> R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Hypotheses (p0 : forall x y, (0 <= p x y)%R) (Mp : has_table M pt p).
(* Inputs at no distance have the same row: their scores are minus their distances to the outputs. *)
Hypotheses (dist0 : forall x x', (0 <= dist x x')%R) (same : forall x x', both N x x' -> dist x x' = 0%R -> p x = p x').

(* A log-ratio over a distance. *)
Definition per_distance (c : X * X * Y) : \bar R := log_ratio (p c.1.1 c.2) (p c.1.2 c.2) * ((dist c.1.1 c.1.2)^-1)%:E.

Lemma per_distanceP x x' y (e : R) : (0 < dist x x')%R -> per_distance (x, x', y) <= e%:E <-> (p x y <= expR (e * dist x x') * p x' y)%R.
Proof.
move=> d0; have i0 : (0 < (dist x x')^-1)%R by rewrite invr_gt0.
rewrite -(log_ratioP (e * dist x x') (p0 x y) (p0 x' y)) /per_distance/=; case: (log_ratio _ _) => [r| |].
- by rewrite -EFinM !lee_fin ler_pdivr_mulr.
- by rewrite gt0_mulye ?lte_fin// !leye_eq.
- by rewrite gt0_mulNye ?lte_fin// !leNye.
Qed.

Lemma metric_dp_cells (e : R) : metric_dp N M e <-> forall x x' y, both N x x' -> (0 < dist x x')%R -> per_distance (x, x', y) <= e%:E.
Proof.
split=> [H x x' y xx d0 | H x x' xx].
- by apply/(per_distanceP y e d0); move: y; apply/(table_close pt_inj pt_measurable Mp); exact: H.
- apply/(table_close pt_inj pt_measurable Mp) => y; have [d0|d0] := ltP 0%R (dist x x'); first by apply/per_distanceP => //; exact: H.
  have z : dist x x' = 0%R by apply/eqP; rewrite eq_le d0 dist0.
  by rewrite z mulr0 expR0 mul1r (same xx z).
Qed.

(* Rule: finite-table. *)
Theorem finite_table_metric_tight :
  tight_metric_epsilon N M = ereal_sup (0 |` [set per_distance c | c in [set c : X * X * Y | both N c.1.1 c.1.2 /\ (0 < dist c.1.1 c.1.2)%R]]).
Proof.
have up (e : R) : (0 <= e)%R -> metric_dp N M e <->
    ereal_sup (0 |` [set per_distance c | c in [set c : X * X * Y | both N c.1.1 c.1.2 /\ (0 < dist c.1.1 c.1.2)%R]]) <= e%:E.
  move=> e0; rewrite metric_dp_cells; split=> [H | H x x' y xx d0].
  - by apply: ub_ereal_sup => _ [-> | [[[x x'] y] /= [xx d0] <-]]; [rewrite lee_fin | exact: H].
  - by apply: le_trans H; apply: ereal_sup_ub; right; exists (x, x', y).
set s := ereal_sup _ in up *.
have s0 : 0 <= s by apply: ereal_sup_ub; left.
apply/eqP; rewrite eq_le; apply/andP; split.
- move: s0 up; case: s => [r| |]; rewrite ?leey// ?lee_fin => r0 up.
  by apply: ereal_inf_lb; exists r => //; split=> //; apply/up => //; exact: lexx.
- by apply: lb_ereal_inf => _ [e [e0 He] <-]; exact/up.
Qed.

(* A single cell bounds it from below; a zero that faces a number makes it infinite. *)
(* Rule: finite-table, lower. *)
Theorem finite_table_metric_cell x x' y : both N x x' -> (0 < dist x x')%R -> per_distance (x, x', y) <= tight_metric_epsilon N M.
Proof. by move=> xx d0; rewrite finite_table_metric_tight; apply: ereal_sup_ub; right; exists (x, x', y). Qed.
End Metric.
