(* Survival, as the rule checks it (docs/theory/selection.md, survival): cells between the cuts, the slope of -log f to the right of them, and the
   three ways in which answers may move. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic kernels composition groups joint_neighbours finite selection survival_cells lipschitz_exponent laplace_curve.
Import numFieldNormedType.Exports.

Section Right.
Context (R : realType) (nu : {measure set R -> \bar R}) (f h dh : R -> R) (bad : seq R) (v r m0 : R).
Hypotheses (dens : has_density (@lebesgue_measure R) nu f) (r0 : 0 < r) (fE : forall z, m0 <= z -> f z = expR (- h z)).
Hypotheses (cont : {within `[m0, +oo[, continuous h}).
Hypothesis slope : forall z : R, m0 < z -> z \notin bad -> is_derive z 1 h (dh z) /\ `|dh z| <= v / r.

Lemma right_of_the_cuts m : m0 <= m -> (nu [set z | (m <= z)%R] <= (expR v)%:E * nu [set z | (m + r <= z)%R])%E.
Proof.
move=> mm; have [f0 mf me] := dens.
have mr (x : R) : measurable [set z : R | x <= z] by exact: measurable_ray.
have mt : measurable_fun setT (fun z : R => z + r) by exact: measurable_translation.
have mft : measurable_fun setT (fun z : R => f (z + r)).
  by move=> _ B mB; have := mt measurableT _ (mf measurableT _ mB); rewrite !setTI.
rewrite (me _ (mr m)) (me _ (mr (m + r))) (integral_preserved mt (lebesgue_translation r) mf f0 (mr (m + r))).
have -> : (fun z : R => z + r) @^-1` [set z | m + r <= z] = [set z | m <= z] by apply/seteqP; split=> z /=; rewrite ler_add2r.
rewrite -integral_scaled ?expR_ge0//; last exact: mr.
apply: ge0_le_integral => //; [exact: mr | by move=> z _; rewrite lee_fin | | by move=> z _; rewrite lee_fin mulr_ge0// expR_ge0 | |].
- by apply/EFin_measurable_fun; apply: measurable_funS mf.
- apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_funS mft].
move=> z /= mz; rewrite lee_fin.
have z0 : m0 <= z by exact: le_trans mz.
have z1 : m0 <= z + r by rewrite (le_trans z0)// ler_addl ltW.
rewrite !fE// -expRD ler_expR.
have := @slope_lipschitz R h dh bad (v / r) z (z + r); rewrite ler_addl (ltW r0) => /(_ isT) lip.
have : `|h (z + r) - h z| <= v / r * (z + r - z).
  apply: lip; last by move=> x /andP[zx _] xb; apply: slope => //; exact: le_lt_trans zx.
  apply: continuous_subspaceW cont => x /=; rewrite !in_itv/= => /andP[zx _]; by rewrite andbT (le_trans z0).
rewrite addrAC subrr add0r divfK ?gt_eqF// => /(le_trans (ler_norm _)); lra.
Qed.
End Right.

Section Rule.
Context (R : realType) (n : nat) d (W : measurableType d) d' (T : measurableType d').
Variables (mu : {measure set R -> \bar R}) (nu : 'I_n -> {measure set W -> \bar R}) (Z : 'I_n -> W -> 'I_n -> R).
Hypotheses (mu1 : mu setT = 1%E) (nu1 : forall i, nu i setT = 1%E) (mZ : forall i j, measurable_fun setT (fun w => Z i w j)).
Variables (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall i, measurable [set pt i]) (MZ : has_table M pt (chance nu Z mu1)).

(* One answer moves alone. *)
Definition moved_alone D : relation ('I_n -> R) := fun q q' => exists i, `|q' i - q i| <= D /\ forall j, j != i -> q' j = q j.

(* How far the winner's threshold moves. *)
Variant winner_moves D : relation ('I_n -> R) -> R -> Prop :=
| AllMove : winner_moves D (moved_by (n := n) D) (2 * D)
| SameWay : winner_moves D (raised_by (n := n) D) D
| OneAlone : winner_moves D (moved_alone D) D.

Theorem noisy_max_moved N v r D : 0 <= D -> 0 <= v -> winner_moves D N r -> survives mu v r -> pure_dp N M v.
Proof.
move=> D0 v0 []; [exact: (noisy_max_all nu1 mZ pt_inj pt_measurable MZ v0) | exact: (noisy_max_monotone nu1 mZ pt_inj pt_measurable MZ v0) |].
move=> S q q' qq; apply: (noisy_max_monotone nu1 mZ pt_inj pt_measurable MZ v0 S).
have one (p p' : 'I_n -> R) : moved_alone D p p' -> both (raised_by (n := n) D) p p'.
  move=> [i [iD others]]; have [up|down] := leP 0 (p' i - p i).
    left=> j; have [->|/others ->] := eqVneq j i; last by rewrite subrr lexx D0.
    by rewrite up (le_trans (ler_norm _) iD).
  right=> j; have [->|/others ->] := eqVneq j i; last by rewrite subrr lexx D0.
  have h := ler_norm (- (p' i - p i)); rewrite normrN in h; apply/andP; split; lra.
case: qq => h; [exact: one | exact: (bothC (one _ _ h))].
Qed.

(* Rule: survival, upper. *)
Theorem survival_rule N v r D (k : nat) (cuts lo hi : nat -> R) (f h dh : R -> R) (bad : seq R) :
  0 < D -> winner_moves D N r -> has_density (@lebesgue_measure R) mu f ->
  - ln (S mu (cuts 0%N + r)) <= v -> (forall i, (i <= k)%N -> 0 < S mu (cuts i + r)) ->
  (forall i, (i < k)%N -> [/\ 0 <= lo i, 0 <= hi i, forall z, cuts i <= z -> z < cuts i.+1 -> lo i <= f z,
    forall z, cuts i + r <= z -> z < cuts i.+1 + r -> f z <= hi i &
    ln (S mu (cuts i) / S mu (cuts i + r)) + (cuts i.+1 - cuts i) * Num.max 0 (hi i / S mu (cuts i.+1 + r) - lo i / S mu (cuts i)) <= v]) ->
  (forall z, cuts k <= z -> f z = expR (- h z)) -> {within `[cuts k, +oo[, continuous h} ->
  (forall z : R, cuts k < z -> z \notin bad -> is_derive z 1 h (dh z) /\ `|dh z| <= v / r) ->
  pure_dp N M v.
Proof.
move=> D0 moved dens first pos cells fE cont slope.
have r0 : 0 < r by case: moved => //; rewrite mulr_gt0.
have v0 : 0 <= v.
  apply: le_trans first; rewrite oppr_ge0 -[leRHS]ln1 ler_ln ?posrE ?pos//.
  by case/andP: (S01 mu1 (cuts 0%N + r)).
apply: (noisy_max_moved (ltW D0) v0 moved); apply: (survival_by_cells mu1 dens v0 r0 first pos cells) => m km.
by rewrite -lee_fin EFinM -!(massS mu1); exact: (right_of_the_cuts dens r0 fE cont slope).
Qed.
End Rule.
