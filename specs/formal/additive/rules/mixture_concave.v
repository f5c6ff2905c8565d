(* The rule mixture-concave (docs/theory/additive.md): the tight epsilon of a scale mixture of noise whose conditional exponents are concave. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules kernels composition mixtures mixture_exponents.

Section Mixture.
Context (R : realType) (V : lmodType R) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> V).
Context (X : Type) (N : relation X) (q : X -> V) d' (W : measurableType d') (mixing : {measure set W -> \bar R}).
Variables (k : X -> W -> {measure set Y -> \bar R}) (norm : V -> R) (h : W -> R -> R) (scale c Delta : R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)).
Hypotheses (semi : seminorm norm) (scale0 : 0 < scale) (c0 : 0 < c).
Hypotheses (smixing : sigma_finite setT mixing) (smu : sigma_finite setT mu).
(* The noise that is drawn with w has density c exp(-h_w) of the distance, c free of w: what the rule finds of its scale family. *)
Hypothesis conditional : forall x w S, measurable S -> k x w S = (\int[mu]_(y in S) (c * expR (- h w (norm (place y - q x) / scale)))%:E)%E.
Hypothesis joint_measurable : forall x, measurable_fun setT (fun z : W * Y => c * expR (- h z.1 (norm (place z.2 - q x) / scale))).
Hypothesis mh : forall r, 0 <= r -> measurable_fun setT (fun w => expR (- h w r)).
(* Conditional exponents are concave, and finite, their limit, at 0; far outputs have infinite measure; the mean density at 0 is finite. *)
Hypotheses (conc : forall w, concave_on_half (h w)) (cont : forall w, continuous_at_distance (h w) 0).
Hypothesis far : infinite_measure mu place norm.
Hypothesis finite : (mean mixing h 0 < +oo)%E.
Let M := mixture mixing1 mk.
Let D := Delta / scale.

Let at_w w : mechanism R X Y := Mechanism (fun x => (mk x).1 w).

Lemma at_w_noise w : adds_noise mu place (at_w w) q (fun z => c * expR (- h w (norm z / scale))).
Proof.
move=> x; split=> [y | | S mS]; last exact: conditional.
- by rewrite mulr_ge0 ?expR_ge0// ltW.
- exact: (measurable_fun_prod1 w (joint_measurable x)).
Qed.

(* Each conditional density falls, for otherwise its mass would be infinite. *)
Lemma conditional_rises (x : X) w : never_falls (h w).
Proof. exact: (concave_never_falls scale0 c0 (at_w_noise w) (conc w) far x). Qed.

Lemma mixture_noise (x0 : X) : adds_noise mu place M q (fun z => c * expR (- exponent mixing h (norm z / scale))).
Proof.
have rise := conditional_rises x0.
have ge0 v : 0 <= norm v / scale by apply: over_ge0 => //; exact: (seminorm_ge0 semi).
have inner x y : (\int[mixing]_w (c * expR (- h w (norm (place y - q x) / scale)))%:E =
    (c * expR (- exponent mixing h (norm (place y - q x) / scale)))%:E)%E.
  rewrite (exponentK mixing1 mh rise finite (ge0 _)) EFinM (fineK (mean_fin mh rise finite (ge0 _))) /mean -ge0_integralM//.
  - by apply/EFin_measurable_fun; exact: mh.
  - by move=> w _; rewrite lee_fin expR_ge0.
  - by rewrite lee_fin ltW.
move=> x; pose p (z : W * Y) := c * expR (- h z.1 (norm (place z.2 - q x) / scale)).
have p0 z : 0 <= p z by rewrite mulr_ge0 ?expR_ge0// ltW.
split=> [y | | S mS].
- by rewrite mulr_ge0 ?expR_ge0// ltW.
- have mf : measurable_fun setT (fun z => (p z)%:E) by apply/EFin_measurable_fun; exact: joint_measurable.
  have := @measurable_fun_fubini_tonelli_G _ _ W Y R mixing smixing (fun z => (p z)%:E) mf (fun z => p0 z).
  by rewrite [X in measurable_fun _ X -> _](_ : _ = EFin \o (fun y => c * expR (- exponent mixing h (norm (place y - q x) / scale)))) => [/EFin_measurable_fun|] //;
    apply/funext => y; exact: inner.
- rewrite /M /mixture /=; have -> := mixture_density smixing smu (mk x) (joint_measurable x) p0 (fun v S mS => conditional x v mS) mS.
  by apply: eq_integral => y _; exact: inner.
Qed.

(* log G(0) - log G(D) is enough, G the mean of the conditional densities up to a factor: nothing is asked of pairs of inputs, nor of the norm's balls. *)
(* Rule: mixture-concave, upper. *)
Theorem mixture_concave_upper : moves_at_most N q norm Delta -> pure_dp N M (ln (fine (mean mixing h 0)) - ln (fine (mean mixing h D))).
Proof.
move=> moves x; have rise := conditional_rises x.
have -> : ln (fine (mean mixing h 0)) - ln (fine (mean mixing h D)) = exponent mixing h D - exponent mixing h 0 by rewrite /exponent opprK addrC.
have conc' := exponent_concave mixing1 mh conc rise finite.
exact: (concave_exponent_upper semi scale0 c0 (mixture_noise x) conc' far moves).
Qed.

(* Rule: mixture-concave, lower. *)
(* The tight epsilon is log G(0) - log G(D), where some pair of inputs is exactly the sensitivity apart. *)
Theorem mixture_concave_rule x x' : full_measure mu place norm -> moves_at_most N q norm Delta -> moves_exactly N q norm Delta x x' ->
  [/\ pure_dp N M (ln (fine (mean mixing h 0)) - ln (fine (mean mixing h D))),
      ((ln (fine (mean mixing h 0)) - ln (fine (mean mixing h D)))%:E <= tight_epsilon N M 0)%E &
      tight_epsilon N M 0 = (ln (fine (mean mixing h 0)) - ln (fine (mean mixing h D)))%:E].
Proof.
move=> full moves mv; have rise := conditional_rises x.
have e : ln (fine (mean mixing h 0)) - ln (fine (mean mixing h D)) = exponent mixing h D - exponent mixing h 0 by rewrite /exponent opprK addrC.
have conc' := exponent_concave mixing1 mh conc rise finite.
have cont' := exponent_continuous mixing1 mh rise cont finite.
have up := concave_exponent_upper semi scale0 c0 (mixture_noise x) conc' far moves.
have low := concave_exponent_lower semi scale0 c0 (mixture_noise x) conc' cont' full mv.
rewrite e; split=> //; apply: tight_epsilon_eq => //.
have D0 : 0 <= D by rewrite /D; have [_ <-] := mv; apply: over_ge0 => //; exact: (seminorm_ge0 semi).
by rewrite subr_ge0; exact: (exponent_falls_back mixing1 mh rise finite (lexx 0) D0).
Qed.
End Mixture.
