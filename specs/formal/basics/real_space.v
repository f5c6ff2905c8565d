(* Lebesgue's measure on R^n, as the product of lines: shrinking all coordinates by k round a point multiplies it by k^n. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent norms laplace_curve laplace_renyi normal_line scale_integrals norm_length.
Import numFieldNormedType.Exports.

Section RealSpace.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Let L : measurableType _ := line R.
Let m : {measure set L -> \bar R} := [the measure _ _ of leb].

(* The measure and the coordinates 0, ..., n of n + 1 lines. *)
Inductive real_space : forall (n : nat) d (Y : measurableType d), {measure set Y -> \bar R} -> (nat -> Y -> R) -> Prop :=
| OneLine : @real_space 1 _ L m (fun _ y => y)
| OneMoreLine n d (Y : measurableType d) (mu : {measure set Y -> \bar R}) x : real_space n mu x ->
    @real_space n.+1 _ [the measurableType _ of (Y * L)%type] [the measure _ _ of product_measure1 mu (@lebesgue_sigma_finite R)]
      (fun j z => if j == n then z.2 else x j z.1).

Theorem real_space_shrinks n d (Y : measurableType d) (mu : {measure set Y -> \bar R}) x (v : nat -> R) (k : R) : real_space n mu x -> 0 < k ->
  exists T : Y -> Y, [/\ measurable_fun setT T, forall j z, (j < n)%N -> x j (T z) = v j + k^-1 * (x j z - v j) &
    forall A, measurable A -> mu (T @^-1` A) = ((k ^+ n)%:E * mu A)%E].
Proof.
move=> space k0; have i0 : 0 < k^-1 by rewrite invr_gt0.
have shrunk (u : R) (S : set L) : measurable S -> m ((fun y : R => (u + k^-1 * (y - u))%R) @^-1` S) = (k%:E * m S)%E.
  move=> mS; have -> : m S = ((k^-1)%:E * m ((fun y : R => (u + k^-1 * (y - u))%R) @^-1` S))%E by exact: (lebesgue_stretched u i0).
  by rewrite muleA -EFinM divff ?gt_eqF// mul1e.
have mT (u : R) : @measurable_fun _ _ L L setT (fun y : R => (u + k^-1 * (y - u))%R) by exact: measurable_stretch.
induction space as [|n d Y mu x space IH].
  exists (fun y => v 0%N + k^-1 * (y - v 0%N)); split; [exact: mT | by case | by move=> A mA; rewrite expr1; exact: shrunk].
have [T [mT1 TE vol]] := IH.
exists (fun z => (T z.1, v n + k^-1 * (z.2 - v n))); split.
- apply/prod_measurable_funP; split.
  + exact: measurable_after (@measurable_first _ _ _ _) mT1.
  + exact: measurable_after (@measurable_second _ _ _ _) (mT (v n)).
- move=> j z jn /=; have [->|ne] := eqVneq j n; first by [].
  by apply: TE; rewrite ltn_neqAle ne -ltnS.
- move=> A mA; rewrite /= /product_measure1.
  have mx y : measurable (xsection A y) by exact: measurable_xsection.
  pose g y := m (xsection A y).
  have mg : measurable_fun setT g by apply: measurable_fun_xsection; [exact: lebesgue_sigma_finite | rewrite inE].
  have g0 y : (0 <= g y)%E by exact: measure_ge0.
  transitivity (\int[mu]_y (k%:E * g (T y)))%E.
    apply: eq_integral => y _; rewrite /= -(shrunk (v n) _ (mx (T y))); congr (m _).
  transitivity ((k ^+ n.+1)%:E * \int[mu]_y g y)%E; last by [].
  have mgT : measurable_fun setT (g \o T) by exact: measurable_after mT1 mg.
  rewrite ge0_integralM//; last by rewrite lee_fin ltW.
  rewrite exprS EFinM -muleA; congr (_ * _)%E.
  have kn0 : 0 <= k ^+ n by rewrite exprn_ge0// ltW.
  rewrite -(integral_pushforward mT1 mu mg g0).
  rewrite -(ge0_integral_mscale mu measurableT (NngNum kn0) mg) => [|y _]; last exact: g0.
  by apply: eq_measure_integral => B mB _; rewrite /= /pushforward /mscale/=; exact: vol.
Qed.
End RealSpace.

(* So balls are powers, and sets shrink, as the theorems on noise ask; that a unit ball has a volume, the same everywhere, is left to ask. *)
Section Balls.
Context (R : realType) (n : nat) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (x : nat -> Y -> R) (norm : 'rV[R]_n -> R) (K : R) (q : Y).
Hypotheses (space : real_space n mu x) (semi : seminorm norm).
Let place z : 'rV[R]_n := \row_i x i z.

Lemma real_space_shrunk k : 0 < k -> exists2 T : Y -> Y, (forall z, place (T z) = place q + k^-1 *: (place z - place q)) &
  forall A, measurable A -> measurable (T @^-1` A) /\ mu (T @^-1` A) = ((pw n%:R k)%:E * mu A)%E.
Proof.
move=> k0; have [T [mT TE vol]] := real_space_shrinks (fun j => x j q) space k0; exists T => [z | A mA].
- by apply/rowP => j; rewrite !mxE TE.
- by split; [rewrite -[X in measurable X]setTI; exact: mT | rewrite vol// pw_natural].
Qed.

Lemma real_space_balls : measurable [set z | norm (place q - place z) <= 1] -> mu [set z | norm (place q - place z) <= 1] = K%:E ->
  balls_are_powers mu (fun z => norm (place q - place z)) K n%:R.
Proof.
move=> m1 unit r r0; have [T TE vol] := real_space_shrunk r0; have [_ e] := vol _ m1.
rewrite (_ : [set z | _] = T @^-1` [set z | norm (place q - place z) <= 1]); first by rewrite e unit muleC -EFinM.
apply/seteqP; split=> z /=; rewrite TE opprD addrA subrr add0r -scaleNr (seminormZ semi) normrN gtr0_norm ?invr_gt0//;
  by rewrite (seminormC semi) ler_pdivr_mull// mulr1.
Qed.
End Balls.
