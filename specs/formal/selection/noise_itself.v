(* A noise by itself (docs/theory/selection.md, selection moduli): a number is told with it, and the number moves. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic.

Section Itself.
Context (R : realType) (grid : R -> Prop) (mu : {measure set R -> \bar R}).
Hypothesis mu1 : mu setT = 1%E.

Lemma measurable_added (q : R) : measurable_fun setT (fun z : R => z + q).
Proof. by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst]. Qed.

Definition added q : {measure set R -> \bar R} := [the measure _ _ of pushforward mu (measurable_added q)].
Lemma added_total q : added q setT = 1%E. Proof. by rewrite /added/= /pushforward preimage_setT. Qed.
Definition itself : mechanism R R R := Mechanism added_total.

(* The number moves by at most s: by an integer, where numbers are integers. *)
Definition moved_by_most s : relation R := fun q q' => `|q' - q| <= s /\ grid (q' - q).

Lemma shift_costs s w t A : pure_dp (moved_by_most s) itself w -> `|t| <= s -> grid t -> measurable A ->
  (mu [set z | A (z + t)%R] <= (expR w)%:E * mu A)%E.
Proof.
move=> P ts gt mA; have near : both (moved_by_most s) t 0 by right; rewrite /moved_by_most subr0.
have := P t 0 near A mA; rewrite adde0 /= /pushforward; congr (_ <= _ * mu _)%E.
by apply/seteqP; split=> z /=; rewrite addr0.
Qed.

(* What the noise loses by itself, where what it is added to moves by at most s. *)
Definition loses s w := pure_dp (moved_by_most s) itself w.

Lemma loses_ge0 s w : grid 0 -> 0 <= s -> loses s w -> 0 <= w.
Proof.
move=> g0 s0 L; have := shift_costs (A := setT) L; rewrite /= => /(_ 0); rewrite normr0 => /(_ s0 g0 measurableT).
rewrite (_ : [set z | setT (z + 0)%R] = setT); last by apply/seteqP; split.
by rewrite mu1 mule1 lee_fin -(expR0 R) ler_expR.
Qed.
End Itself.

