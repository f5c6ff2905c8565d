(* Streams in other measures (docs/theory/measures.md: stream measures), and the normal laws on the line as Gaussian laws with a form. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs measures gaussian_curve gaussian_measures laplace_curve.
From dpverify Require Import normal_line gaussian_composition unseen_shifts.
Import numFieldNormedType.Exports.

Section Streams.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.

Definition line_form (x y : R^o) : R := (x : R) * (y : R).
Definition line_place (y : line R) : R^o := y.

Lemma line_inner_form : inner_form line_form.
Proof.
split=> [x y|x y z|a x y|x]; rewrite /line_form.
- exact: mulrC.
- exact: mulrDl.
- by rewrite -mulrA.
- by rewrite -expr2 sqr_ge0.
Qed.

Lemma line_everywhere v : exists W : {measure set (line R) -> \bar R}, W setT = 1%E /\
  has_density (@lebesgue_measure R) W (fun y => c * expR (- (line_form (line_place y - v) (line_place y - v) / 2))).
Proof. by have [_ h1 h2] := normal; exists (law v); split; [exact: h1 | exact: h2]. Qed.

Lemma line_pair mu : gaussian_pair line_form (@lebesgue_measure R) line_place c mu (law 0) (law mu).
Proof.
have [_ h1 h2] := normal; split; [exact: h1 | exact: h1 |].
by exists 0, mu; split; [exact: h2 | exact: h2 | rewrite /line_form subr0 -expr2].
Qed.

(* What a pair N(0, 1), N(mu, 1) that dominates says in other measures. *)
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (mu : R).
Hypothesis mu0 : 0 <= mu.

Lemma dominated_measures : (forall x x', N x x' -> dominated (M x) (M x') (law 0) (law mu)) ->
  [/\ gdp_private N M (law 0) (law mu), zcdp_private N M (mu ^+ 2 / 2) & forall a, 1 < a -> renyi_private N M a (a * (mu ^+ 2 / 2))].
Proof.
have [c0 _ _] := normal; move=> dom.
exact: (gaussian_measures_upper line_inner_form c0 line_everywhere (line_pair mu) dom).
Qed.

(* One case of the rule: streams of which unseen shifts hide what answers move by. *)
(* Rule: selection-measures, upper, in part: not noisy max nor above threshold. *)
Theorem stream_measures : (forall x x', N x x' -> unseen normal (mu ^+ 2) (M x) (M x')) ->
  [/\ gdp_private N M (law 0) (law mu), zcdp_private N M (mu ^+ 2 / 2) & forall a, 1 < a -> renyi_private N M a (a * (mu ^+ 2 / 2))].
Proof. by move=> hidden; apply: dominated_measures; have [dom _] := unseen_shifts mu0 hidden. Qed.
End Streams.
