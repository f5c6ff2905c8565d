(* Tight deltas in closed form (docs/theory/curves.md: closed profile): of Gaussian noise and compositions of it, of Laplace noise, of finite tables and
   of k equal binary randomized responses, of which i answers are false with the binomial probability. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition groups joint_neighbours finite kary_response stated_guarantee curves pairs.
From dpverify Require Import powers likelihood dominating table_laws finite_curves optimal_composition gaussian_curve lipschitz_exponent laplace_curve laplace_rule.
From dpverify Require Import normal_line gaussian_composition added_measures.
Import numFieldNormedType.Exports.

(* -- Equal randomized responses -- *)

Section Responses.
Context (R : realType) (t : R).
Notation B := (expR (- t)).
Notation A := (expR t).

(* Of k answers i are false with probability C(k, i) e^(-i t)/(1 + e^(-t))^k, and then the loss is (k - 2i) t. *)
Definition answers (k i : nat) (a : R) : R := Num.max 0 (B ^+ i - a * B ^+ (k - i)).
Definition response_delta (k : nat) (a : R) : R := (\sum_(i < k.+1) 'C(k, i)%:R * answers k i a) / (1 + B) ^+ k.

Lemma pascal k (T : nat -> R) :
  \sum_(i < k.+2) 'C(k.+1, i)%:R * T i = \sum_(i < k.+1) 'C(k, i)%:R * T i + \sum_(i < k.+1) 'C(k, i)%:R * T i.+1.
Proof.
rewrite big_ord_recl bin0 mul1r (eq_bigr (fun i : 'I_k.+1 => 'C(k, i.+1)%:R * T i.+1 + 'C(k, i)%:R * T i.+1)); last first.
  by move=> i _; rewrite lift0 binS natrD mulrDl.
rewrite big_split/= addrA; congr (_ + _).
have -> : \sum_(i < k.+1) 'C(k, i)%:R * T i = \sum_(i < k.+2) 'C(k, i)%:R * T i.
  by rewrite [RHS]big_ord_recr/= bin_small// mul0r addr0.
by rewrite [RHS]big_ord_recl bin0 mul1r; congr (_ + _); apply: eq_bigr => i _; rewrite lift0.
Qed.

Lemma AB : A * B = 1. Proof. by rewrite -expRD subrr expR0. Qed.

Lemma answers_true k i a : (i <= k)%N -> answers k i (a * B) = answers k.+1 i a.
Proof. by move=> ik; rewrite /answers subSn// exprS mulrA. Qed.

Lemma answers_false k i a : B * answers k i (a * A) = answers k.+1 i.+1 a.
Proof.
rewrite /answers maxr_pmulr ?expR_ge0// mulr0 mulrBr -exprS subSS; congr (Num.max 0 (_ - _)).
by set z := B ^+ (k - i); have := congr1 (fun w => w * (a * z)) AB; lra.
Qed.

Lemma response_deltaS k a : response_delta k.+1 a = (A * response_delta k (a / A) + response_delta k (a * A)) / (1 + A).
Proof.
have Bi : A^-1 = B by rewrite expRN.
have B1 : 1 + B != 0 by rewrite gt_eqF// addr_gt0// expR_gt0.
have A1 : 1 + A != 0 by rewrite gt_eqF// addr_gt0// expR_gt0.
have A0 : A != 0 by rewrite gt_eqF// expR_gt0.
rewrite {1}/response_delta (pascal k (fun i => answers k.+1 i a)) Bi.
have -> : \sum_(i < k.+1) 'C(k, i)%:R * answers k.+1 i a = response_delta k (a * B) * (1 + B) ^+ k.
  rewrite /response_delta divfK ?expf_neq0//; apply: eq_bigr => i _; by rewrite answers_true// -ltnS.
have -> : \sum_(i < k.+1) 'C(k, i)%:R * answers k.+1 i.+1 a = B * (response_delta k (a * A) * (1 + B) ^+ k).
  rewrite /response_delta divfK ?expf_neq0// mulr_sumr; apply: eq_bigr => i _; by rewrite -answers_false mulrCA.
set u := response_delta k (a * B); set v := response_delta k (a * A).
have core : (u + B * v) * (1 + A) = (A * u + v) * (1 + B).
  by have := congr1 (fun w => w * u) AB; have := congr1 (fun w => w * v) AB; lra.
rewrite exprSr; set E := (1 + B) ^+ k; apply/eqP; rewrite eqr_div ?mulf_neq0 ?expf_neq0//; apply/eqP.
by have := congr1 (fun w => w * E) core; lra.
Qed.

Lemma response_deltaE k a : mean_response (nseq k t) a = response_delta k a.
Proof.
elim: k a => [|k IH] a; last by rewrite /= !IH response_deltaS.
by rewrite /response_delta big_ord1 bin0 mul1r /answers !expr0 mulr1 divr1.
Qed.
End Responses.

Section Runs.
Context (R : realType) (t : R) d (Z : measurableType d) (B : mechanism R bool Z) (pt : bool -> Z).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (BT : has_table B pt (response (expR t / (1 + expR t)))).
Notation A := (expR t).

Let A0 : 0 < A. Proof. exact: expR_gt0. Qed.
Let A1 : 0 < 1 + A. Proof. by rewrite addr_gt0. Qed.

Lemma response_rows (x y : bool) : response (A / (1 + A)) x y = (if x == y then A else 1) / (1 + A).
Proof.
rewrite /response card_bool two_minus_one divr1; case: ifP => // _.
by rewrite -[X in X - _](divff (lt0r_neq0 A1)) -mulrBl addrK.
Qed.

Lemma response_row_ge0 (x y : bool) : 0 <= response (A / (1 + A)) x y.
Proof. by rewrite response_rows divr_ge0 ?(ltW A1)//; case: ifP => _; rewrite ?(ltW A0). Qed.

Lemma scaled_max (u v : R) : Num.max 0 (u / (1 + A) - v / (1 + A)) = Num.max 0 (u - v) / (1 + A).
Proof. by rewrite -mulrBl maxr_pmull ?invr_ge0 ?(ltW A1)// mul0r. Qed.

(* k independent runs at the two inputs have the curve. *)
Lemma runs_curve k d' (U : measurableType d') (K : mechanism R bool U) a : runs B k K -> 0 <= a ->
  (exists p q, likelihood (K true) (K false) p q) /\ profile a (K true) (K false) = mean_response (nseq k t) a.
Proof.
have row x := @table_has_density _ _ _ _ pt pt_inj pt_measurable (B x) _ (response_row_ge0 x) (BT x).
move=> r; elim: r a => {k d' U K} [|k d' U K _ IH] a a0.
  split.
    exists (table_density pt (response (A / (1 + A)) true)), (table_density pt (response (A / (1 + A)) false)).
    exact: density_likelihood (law_total B true) (law_total B false) (row true) (row false).
  rewrite (table_profile pt_inj pt_measurable (law_total B true) (law_total B false) (BT true) (BT false) a0) big_bool/= !response_rows/=.
  rewrite !mulrA !scaled_max -mulrDl; congr (_ / _); rewrite mulr1.
  by rewrite maxr_pmulr ?(ltW A0)// mulr0 mulrBr mulr1 mulrCA divff ?gt_eqF// mulr1.
have a1 : 0 <= a / A by rewrite divr_ge0// ltW.
have a2 : 0 <= a * A by rewrite mulr_ge0// ltW.
have [[p [q pq]] e1] := IH _ a1; have [_ e2] := IH _ a2; split.
  eexists; eexists; exact: (product_likelihood (law_total K true) (law_total K false) (law_total B true) (law_total B false) pq (row true) (row false)).
rewrite (product_table_profile pt_inj pt_measurable (law_total K true) (law_total K false) pq (law_total B true) (law_total B false)
  (response_row_ge0 true) (response_row_ge0 false) (BT true) (BT false) a0) big_bool/= /with_output !response_rows/=.
have i0 : (1 + A)^-1 != 0 by rewrite invr_eq0 gt_eqF.
rewrite !mulf_eq0 !(negbTE i0) oner_eq0 (gt_eqF A0)/=.
have -> : a * (1 / (1 + A)) / (A / (1 + A)) = a / A by rewrite mul1r invf_div mulrA mulfVK// gt_eqF.
have -> : a * (A / (1 + A)) / (1 / (1 + A)) = a * A by rewrite mul1r invrK -!mulrA mulVf ?gt_eqF// mulr1.
by rewrite e1 e2; lra.
Qed.
End Runs.

(* -- What is at most and at least one number, exactly -- *)

Lemma tight_delta_met (R : realType) (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (eps v : R) x x' :
  (forall y y', N y y' -> profile (expR eps) (M y) (M y') <= v) -> N x x' -> profile (expR eps) (M x) (M x') = v ->
  tight_delta_in_order N M eps = v%:E.
Proof.
move=> up xx e; apply/eqP; rewrite eq_le; apply/andP; split; last by apply: (curve_at_least xx); rewrite e.
by apply: curve_at_most up; rewrite -e profile_ge0 ?law_total// expR_ge0.
Qed.

Section Rule.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x x' : X).
Hypothesis xx : N x x'.

(* The normal laws on the line. *)
Context (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation Phi := (normal_cdf law).

(* Where no answer moves mu is 0, and the laws are one. *)
Definition gaussian_value (mu eps : R) : R := if mu == 0 then Num.max 0 (1 - expR eps) else gaussian_delta Phi mu eps.

Lemma gaussian_valueE mu eps : 0 <= mu -> profile (expR eps) (law 0) (law mu) = gaussian_value mu eps.
Proof.
move=> mu0; rewrite /gaussian_value; case: eqVneq => [->|n]; first exact: (null_pair normal (expR_ge0 eps)).
by apply: (normal_pair_curve normal); rewrite lt_neqAle eq_sym n.
Qed.

Lemma rest_ge y y' eps : Num.max 0 (1 - expR eps) <= profile (expR eps) (M y) (M y').
Proof. by rewrite le_maxl profile_ge0 ?law_total ?expR_ge0//= profile_ge ?law_total ?expR_ge0. Qed.

(* Noise of a Gaussian density about answers in a space with the form of the inverse covariance. *)
Section Noise.
Context (V : lmodType R) (B : V -> V -> R) (nu : {measure set Y -> \bar R}) (place : Y -> V) (q : X -> V) (k mu : R).
Hypotheses (form : inner_form B) (k0 : 0 < k) (noise : forall y, gaussian_about B nu place Phi k (q y) (M y)).

Lemma gaussian_noise_delta eps : 0 <= mu -> (forall y y', N y y' -> B (q y' - q y) (q y' - q y) <= mu ^+ 2) -> B (q x' - q x) (q x' - q x) = mu ^+ 2 ->
  tight_delta_in_order N M eps = (gaussian_value mu eps)%:E.
Proof.
move=> mu0 near met; have total v : law v setT = 1%E by have [_ h _] := normal; exact: h.
have pair : normal_pair Phi mu (law 0) (law mu).
  split=> // s; exists (below s); split; [exact: measurable_below | by [] | exact: (normal_below normal)].
have curve y y' := gaussian_curve form k0 noise (normal_cdf_rises normal) y y' eps mu0 pair.
have most y y' : N y y' -> profile (expR eps) (M y) (M y') <= gaussian_value mu eps.
  by move=> yy; rewrite -gaussian_valueE//; exact: (curve y y').1 (near y y' yy).
apply: (tight_delta_met most xx); rewrite /gaussian_value; case: eqVneq => [e|n].
- by apply/eqP; rewrite eq_le rest_ge andbT; have := most x x' xx; rewrite /gaussian_value e eqxx.
- by apply: (curve x x').2 met; rewrite lt_neqAle eq_sym n.
Qed.
End Noise.

Lemma gaussian_parts_delta ms l mu eps : gaussian_parts law N M ms -> 0 <= mu -> (forall y y', N y y' -> \sum_(m <- ms y y') m ^+ 2 <= mu ^+ 2) ->
  independent law (M x) (M x') l -> \sum_(m <- l) m ^+ 2 = mu ^+ 2 -> tight_delta_in_order N M eps = (gaussian_value mu eps)%:E.
Proof.
move=> parts mu0 most ind met; have [up low _] := gaussian_composition normal parts mu0 most.
rewrite -gaussian_valueE//; apply: tight_delta_met xx (low x x' l xx ind met _ (expR_ge0 eps)) => y y' yy.
exact: (up y y' yy _ (expR_ge0 eps)).
Qed.

(* Independent coordinates of Laplace noise, of which one is seen alone from below; on the line n = 1. *)
Section Laplace.
Context (n : nat) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) (A : mechanism R 'rV[R]_n Y) (b k k1 : R).
Hypotheses (n0 : (0 < n)%N) (b0 : 0 < b) (k0 : 0 < k) (k10 : 0 < k1) (MA : forall x S, M x S = A (q x) S).
Hypothesis noise : adds_noise mu place A id (fun z => k * expR (- \sum_i (`|z 0 i| / b))).
Variables (i : 'I_n) (coordinate : Y -> R) (single : R -> {measure set (line R) -> \bar R}).
Hypotheses (mcoordinate : measurable_fun setT coordinate) (total : forall v, single v setT = 1%E).
Hypothesis dens : forall v, has_density (@lebesgue_measure R) (single v) (fun y => k1 * expR (- (`|y - v| / b))).
Hypothesis seen : forall x (S : set R), measurable S -> M x (coordinate @^-1` S) = single (q x 0 i) S.

Lemma laplace_noise_delta p D t eps : 0 <= D -> t = l1_reach n p D / b -> 0 <= t -> 0 <= eps ->
  (forall y y', N y y' -> budget p (fun i => (q y - q y') 0 i) D) -> q x' 0 i = q x 0 i + t * b -> tight_delta_in_order N M eps = (laplace_delta t eps)%:E.
Proof.
move=> D0 tE t0 e0 near met; have [up low] := laplace_rule n0 b0 k0 k10 MA noise mcoordinate total dens seen.
have te : - t <= eps by apply: le_trans e0; rewrite oppr_le0.
have most y y' : N y y' -> profile (expR eps) (M y) (M y') <= laplace_delta t eps.
  by move=> yy; rewrite tE; apply: up (near y y' yy) _; rewrite // -tE.
by apply: (tight_delta_met most xx); apply/eqP; rewrite eq_le (most x x' xx) (low x x' t eps t0 te met).
Qed.
End Laplace.
End Rule.

(* -- The rule -- *)

Section ClosedProfile.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).
Context (law : R -> {measure set (line R) -> \bar R}) (c : R) (normal : normal_laws law c).
Notation Phi := (normal_cdf law).

(* Gaussian noise; compositions of Gaussian mechanisms; finite tables; and k runs of pure mechanisms at t, which equal responses meet. *)
Definition gaussian_closed := forall (V : lmodType R) (B : V -> V -> R) (nu : {measure set Y -> \bar R}) (place : Y -> V) (q : X -> V) (k mu eps : R) x x',
  inner_form B -> 0 < k -> (forall y, gaussian_about B nu place Phi k (q y) (M y)) -> 0 <= mu ->
  (forall y y', N y y' -> B (q y' - q y) (q y' - q y) <= mu ^+ 2) -> N x x' -> B (q x' - q x) (q x' - q x) = mu ^+ 2 ->
  tight_delta_in_order N M eps = (gaussian_value law mu eps)%:E.

Definition composition_closed := forall ms l mu eps x x', gaussian_parts law N M ms -> 0 <= mu ->
  (forall y y', N y y' -> \sum_(m <- ms y y') m ^+ 2 <= mu ^+ 2) -> N x x' -> independent law (M x) (M x') l -> \sum_(m <- l) m ^+ 2 = mu ^+ 2 ->
  tight_delta_in_order N M eps = (gaussian_value law mu eps)%:E.

Definition laplace_closed := forall (n : nat) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) (A : mechanism R 'rV[R]_n Y)
    (b k k1 : R) (i : 'I_n) (coordinate : Y -> R) (single : R -> {measure set (line R) -> \bar R}) p D t eps x x',
  (0 < n)%N -> 0 < b -> 0 < k -> 0 < k1 -> (forall x S, M x S = A (q x) S) ->
  adds_noise mu place A id (fun z => k * expR (- \sum_i (`|z 0 i| / b))) -> measurable_fun setT coordinate -> (forall v, single v setT = 1%E) ->
  (forall v, has_density (@lebesgue_measure R) (single v) (fun y => k1 * expR (- (`|y - v| / b)))) ->
  (forall x (S : set R), measurable S -> M x (coordinate @^-1` S) = single (q x 0 i) S) -> 0 <= D -> t = l1_reach n p D / b -> 0 <= t -> 0 <= eps ->
  (forall y y', N y y' -> budget p (fun i => (q y - q y') 0 i) D) -> N x x' -> q x' 0 i = q x 0 i + t * b ->
  tight_delta_in_order N M eps = (laplace_delta t eps)%:E.

Definition table_closed := forall (F : finType) (pt : F -> Y) (p : X -> F -> R) eps, injective pt -> (forall y, measurable [set pt y]) ->
  (forall x y, 0 <= p x y) -> has_table M pt p ->
  tight_delta_in_order N M eps = ereal_sup (0%E |` [set (\sum_y Num.max 0 (p e.1 y - expR eps * p e.2 y))%:E | e in [set e : X * X | N e.1 e.2]]).

Definition responses_closed := forall k t eps, 0 <= t ->
  (composition.adaptive (both N) M [seq (e, 0) | e <- nseq k t] ->
    forall x x', both N x x' -> profile (expR eps) (M x) (M x') <= response_delta t k (expR eps)) /\
  forall d1 (Z : measurableType d1) (B : mechanism R bool Z) (pt : bool -> Z) d2 (U : measurableType d2) (K : mechanism R bool U),
    injective pt -> (forall y, measurable [set pt y]) -> has_table B pt (response (expR t / (1 + expR t))) -> runs B k K ->
    profile (expR eps) (K true) (K false) = response_delta t k (expR eps).

(* Rule: closed-profile. *)
Theorem closed_profile : [/\ gaussian_closed, composition_closed, laplace_closed, table_closed & responses_closed].
Proof.
split.
- by move=> V B nu place q k mu eps x x' form k0 noise mu0 near xx met; exact: (gaussian_noise_delta xx normal form k0 noise eps mu0 near met).
- by move=> ms l mu eps x x' parts mu0 most xx ind met; exact: (gaussian_parts_delta xx normal eps parts mu0 most ind met).
- move=> n mu place q A b k k1 i coordinate single p D t eps x x' n0 b0 k0 k10 MA noise mc total dens seen D0 tE t0 e0 near xx met.
  exact: (laplace_noise_delta xx n0 b0 k0 k10 MA noise mc total dens seen D0 tE t0 e0 near met).
- by move=> F pt p eps inj mpt p0 Mp; exact: (table_delta_one_order N inj mpt Mp eps).
- move=> k t eps t0; split=> [parts x x' xx | d1 Z B pt d2 U K inj mpt BT r].
  + have all0 : all (fun e => 0 <= e) (nseq k t) by rewrite all_nseq t0 orbT.
    have [d' [Z [P [Q [p [q [_ _ _ E dom]]]]]]] := pure_guarantee all0 parts.
    by rewrite -response_deltaE -(E _ (expR_ge0 eps)); exact: (dom x x' xx _ (expR_ge0 eps)).
  + by have [_ ->] := runs_curve inj mpt BT r (expR_ge0 eps); exact: response_deltaE.
Qed.
End ClosedProfile.
