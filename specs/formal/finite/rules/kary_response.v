(* k-ary randomized response (docs/theory/finite.md, kary response): its tight epsilon is |log r|, r = p (k - 1)/(1 - p). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups joint_neighbours finite.
Local Open Scope ereal_scope.

Section KaryResponse.
Context (R : realType) (Y : finType) d (T : measurableType d) (M : mechanism R Y T) (pt : Y -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]).
Variable (p : R).
Hypothesis k2 : (2 <= #|Y|)%N.
Notation k := (#|Y|%:R : R).

(* The truth with probability p, each of the k - 1 other answers with (1 - p)/(k - 1). *)
Definition response (x y : Y) : R := if x == y then p else ((1 - p) / (k - 1))%R.

(* Any two inputs are adjacent. *)
Definition any : relation Y := fun _ _ => True.

Hypothesis Mp : has_table M pt response.

Lemma k1_gt0 : (0 < k - 1)%R.
Proof. by rewrite subr_gt0 (_ : 1%R = 1%:R)// ltr_nat. Qed.

Lemma k_gt1 : (1 < k)%R.
Proof. by rewrite -subr_gt0; exact: k1_gt0. Qed.

Lemma two_answers : exists x x' : Y, x != x'.
Proof. by move: k2; rewrite cardE; case: (enum Y) (enum_uniq Y) => [|x [|x' s]]//=; rewrite inE negb_or -andbA => /andP[xx _] _; exists x, x'. Qed.

Lemma response_ge0 : (0 <= p)%R -> (p <= 1)%R -> forall x y, (0 <= response x y)%R.
Proof.
move=> p0 p1 x y; rewrite /response; case: ifP => // _.
by apply: divr_ge0; [rewrite subr_ge0 | exact/ltW/k1_gt0].
Qed.

(* Rule: kary-response. *)
Theorem kary_response : (0 < p)%R -> (p < 1)%R -> tight_epsilon any M 0 = `|ln (p * (k - 1) / (1 - p))|%:E.
Proof.
move=> p0 p1; have r0 := response_ge0 (ltW p0) (ltW p1).
set o := ((1 - p) / (k - 1))%R; have o0 : (0 < o)%R by rewrite divr_gt0 ?subr_gt0// k_gt1.
have -> : (p * (k - 1) / (1 - p) = p / o)%R by rewrite /o invf_div mulrA.
have lnE : ln (o / p) = (- ln (p / o))%R.
  have : (p / o)%R \is Num.pos by rewrite posrE divr_gt0.
  by move/(@lnV R); rewrite invf_div.
have [x [x' xx]] := two_answers.
apply/eqP; rewrite eq_le; apply/andP; split.
- apply: (finite_table_upper pt_inj pt_measurable r0 Mp) => [|y y' z _ _]; first exact: normr_ge0.
  rewrite /response -/o; split; first by case: ifP.
  case: ifP => _; case: ifP => _; rewrite ?divff ?gt_eqF// ?ln1 ?normr_ge0 ?ler_norm//.
  rewrite lnE.
  by rewrite -normrN ler_norm.
- have l1 : (ln (p / o))%:E <= tight_epsilon any M 0.
    have := @finite_table_lower _ _ _ _ _ M any pt response pt_inj pt_measurable r0 Mp x x' x (or_introl I).
    by rewrite /response eqxx eq_sym (negbTE xx) -/o; apply.
  have l2 : (- ln (p / o))%:E <= tight_epsilon any M 0.
    have := @finite_table_lower _ _ _ _ _ M any pt response pt_inj pt_measurable r0 Mp x' x x (or_introl I).
    rewrite /response eqxx eq_sym (negbTE xx) -/o lnE; exact.
  by have [h|h] := leP 0%R (ln (p / o)); [rewrite ger0_norm | rewrite ltr0_norm].
Qed.

(* Rule: kary-response, lower. *)
Theorem kary_response_infinite : p = 0%R \/ p = 1%R -> tight_epsilon any M 0 = +oo.
Proof.
move=> p01; have r0 : forall x y, (0 <= response x y)%R.
  by apply: response_ge0; case: p01 => ->; rewrite ?ler01.
have [x [x' xx]] := two_answers; case: p01 => pE.
- apply: (finite_table_zero pt_inj pt_measurable r0 Mp (x := x') (x' := x) (y := x)) => //; first by left.
  + by rewrite /response eq_sym (negbTE xx) pE subr0 divr_gt0// k1_gt0.
  + by rewrite /response eqxx.
- apply: (finite_table_zero pt_inj pt_measurable r0 Mp (x := x) (x' := x') (y := x)) => //; first by left.
  + by rewrite /response eqxx pE.
  + by rewrite /response eq_sym (negbTE xx) pE subrr mul0r.
Qed.
End KaryResponse.
