(* Above threshold with log-concave noises: the bounds from above, as the rule states them (docs/theory/selection.md, log-concave threshold). *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions density arithmetic independent log_concave shift_costs above_threshold.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section Upper.
Context (R : realType) (grid : R -> Prop).
Hypotheses (grid_whole : (forall e, grid e) \/ grid = @whole R).
Context (lt lq lf nu mu fresh : {measure set R -> \bar R}) (ft fq ff : R -> R) (tl tr ql qr fl fr : option R).
Hypotheses (threshold : log_noise grid lt nu ft tl tr) (query : log_noise grid lq mu fq ql qr) (again : log_noise grid lf fresh ff fl fr).

Let tl0 : nonneg tl. Proof. by have [_ _ [? ?] _ _] := threshold. Qed.
Let tr0 : nonneg tr. Proof. by have [_ _ [? ?] _ _] := threshold. Qed.
Let ql0 : nonneg ql. Proof. by have [_ _ [? ?] _ _] := query. Qed.
Let qr0 : nonneg qr. Proof. by have [_ _ [? ?] _ _] := query. Qed.
Let fl0 : nonneg fl. Proof. by have [_ _ [? ?] _ _] := again. Qed.
Let fr0 : nonneg fr. Proof. by have [_ _ [? ?] _ _] := again. Qed.

Lemma grid_opp e : grid e -> grid (- e).
Proof. by case: grid_whole => [all_ _|->]; [exact: all_ | exact: whole_opp]. Qed.
Lemma grid_add e e' : grid e -> grid e' -> grid (e + e').
Proof. by case: grid_whole => [all_ _ _|->]; [exact: all_ | exact: whole_add]. Qed.
Lemma grid0 : grid 0.
Proof. by case: grid_whole => [all_|->]; [exact: all_ | exists 0]. Qed.

(* The mechanism: its outputs have the density of above_threshold.v; at most n answers are asked for, of which at most c are positive, and as many noises
   of the threshold are drawn. *)
Context (X : Type) dT (T : measurableType dT) (lamT : {measure set T -> \bar R}) (M : mechanism R X T).
Context (answers : X -> asked R) (shown : T -> seq (seq (told R))) (n c draws : nat).
Definition output_at x (o : T) : \bar R := output_density nu mu fq ff (answers x) [::] (shown o).
Hypotheses (MD : forall x S, measurable S -> M x S = (\int[lamT]_(o in S) output_at x o)%E) (mD : forall x, measurable_fun setT (output_at x)).

Definition positive (a : told R) := if a is No then false else true.
Hypothesis limits : forall o, [/\ (size (shown o) <= draws)%N, (size (flatten (shown o)) <= n)%N & (count positive (flatten (shown o)) <= c)%N].

Section Pair.
Context (x x' : X) (ends : seq (told R) -> R * R).
Let change h := answers x' h - answers x h.
Hypothesis moves : forall h, (ends h).1 <= change h <= (ends h).2.
Hypothesis on_grid : forall h, grid (change h).

Notation charged_runs := (output_charged grid tl tr ql qr fl fr (answers x) (answers x') ends).
Notation terms_of := (terms ql qr fl fr).
Notation costs_of := (run_costs tl tr ql qr fl fr (answers x) (answers x') ends).
Notation moved_in := (moved (answers x) (answers x') ends).

Lemma outputs_close v : (forall o, charged_runs [::] (shown o) v) -> close v 0 (M x) (M x').
Proof.
move=> H S mS; rewrite adde0 !MD//.
have d0 y o : (0 <= output_at y o)%E by exact: (output_density0 nu query again).
have mS' y : measurable_fun S (output_at y) by apply: measurable_funS (mD y).
rewrite -ge0_integralM ?lee_fin ?expR_ge0//; apply: ge0_le_integral => //.
- by move=> o _; rewrite mule_ge0 ?lee_fin ?expR_ge0.
- exact: measurable_funeM.
- by move=> o _; exact: (output_density_moves grid_opp grid_add threshold query again on_grid (H o)).
Qed.

Lemma terms_mean a w d d' : mixed w (terms_of a d) (terms_of a d') (terms_of a (w * d + (1 - w) * d')).
Proof. by case: a => [||g|z|z] /=; split=> //; try (split=> //); try (split=> //); lra. Qed.

Lemma between_ends a s lo hi d e : lo <= d <= hi -> charged s (terms_of a lo) e -> charged s (terms_of a hi) e -> charged s (terms_of a d) e.
Proof.
move=> lohi h0 h1.
have ins : within_ends [:: (a, d, (lo, hi))] by [].
have [dl dh] := andP lohi.
have [w [w0 w1 dE]] : exists w, [/\ 0 <= w, w <= 1 & d = w * lo + (1 - w) * hi].
  have [E|ne] := eqVneq lo hi; first by exists 1; split; [exact: ler01 | exact: lexx | rewrite -E in dh; lra].
  have p : 0 < hi - lo by rewrite subr_gt0 lt_neqAle ne (le_trans dl dh).
  have E : (hi - d) / (hi - lo) * (hi - lo) = hi - d by rewrite divfK// gt_eqF.
  exists ((hi - d) / (hi - lo)); split; [by rewrite divr_ge0 ?subr_ge0// ltW// -subr_gt0 | by rewrite ler_pdivr_mulr// mul1r; lra | lra].
have := charged_mean w0 w1 (terms_mean a w lo hi) h0 h1; rewrite -dE.
have -> : w * s + (1 - w) * s = s by lra.
by have -> : w * e + (1 - w) * e = e by lra.
Qed.

(* One shift s for all outputs: each answer costs so much, and each positive so much beside. *)
Section Fixed.
Context (s c1 c2 each beside : R).
Hypotheses (gs : grid s) (p1 : pays tr s c1) (p2 : pays tl (- s) c2) (each0 : 0 <= each) (beside0 : 0 <= beside).
Let cost a := each + (if positive a then beside else 0).
Hypothesis priced : forall o a, List.In a (flatten (shown o)) -> may_shift a s /\ forall h,
  charged s (terms_of a (ends h).1) (cost a) /\ charged s (terms_of a (ends h).2) (cost a).

Lemma fixed_terms (P : told R -> Prop) h r : (forall a, List.In a r -> P a) ->
  (forall a, P a -> forall h, charged s (terms_of a (ends h).1) (cost a) /\ charged s (terms_of a (ends h).2) (cost a)) ->
  charged s (all_terms terms_of (moved_in h r)) (each * (size r)%:R + beside * (count positive r)%:R).
Proof.
move=> + pr; elim: r h => [|a r IH] h inr /=; first by rewrite !mulr0 addr0.
rewrite /all_terms/=; apply/charged_cat; exists (cost a); split.
  by have [h0 h1] := pr a (inr a (or_introl erefl)) h; exact: between_ends (moves h) h0 h1.
have -> : each * (size r).+1%:R + beside * (positive a + count positive r)%:R - cost a = each * (size r)%:R + beside * (count positive r)%:R.
  by rewrite /cost natrD -natr1; case: (positive a) => /=; lra.
by apply: IH => b br; apply: inr; right.
Qed.

Lemma fixed_runs (P : told R -> Prop) h runs : (forall a, List.In a (flatten runs) -> P a) ->
  (forall a, P a -> may_shift a s /\ forall h, charged s (terms_of a (ends h).1) (cost a) /\ charged s (terms_of a (ends h).2) (cost a)) ->
  charged_runs h runs ((c1 + c2) * (size runs)%:R + each * (size (flatten runs))%:R + beside * (count positive (flatten runs))%:R).
Proof.
move=> + pr; elim: runs h => [|r rest IH] h inr /=; first by rewrite !mulr0 !addr0.
exists s, (c1 + (c2 + (each * (size r)%:R + beside * (count positive r)%:R))); split=> //.
- by move=> a ar; have [] := pr a (inr a (List.in_or_app _ _ _ (or_introl ar))).
- rewrite /run_costs; exists c1; split; first by rewrite mul1r addr0.
  exists c2; split; first by rewrite mulN1r addr0.
  have -> : forall y : R, c1 + (c2 + y) - c1 - c2 = y by move=> y; lra.
  apply: (fixed_terms (P := P)) => [a ar|a /pr[]//]; by apply: inr; apply: List.in_or_app; left.
- have := IH (h ++ r) (fun a ar => inr a (List.in_or_app _ _ _ (or_intror ar))).
  congr (output_charged _ _ _ _ _ _ _ _ _ _ _ _ _); rewrite size_cat count_cat !natrD -[(size rest).+1%:R]natr1; lra.
Qed.

Lemma output_charged_more h runs v v' : v <= v' -> charged_runs h runs v -> charged_runs h runs v'.
Proof.
elim: runs h v v' => [|r rest IH] h v v' vv /=; first by move=> v0; exact: le_trans vv.
move=> [s' [c' [gs' ok hr h']]]; exists s', c'; split=> //; by apply: IH h'; rewrite ler_add2r.
Qed.

Theorem fixed_close : close ((c1 + c2) * draws%:R + each * n%:R + beside * c%:R) 0 (M x) (M x').
Proof.
apply: outputs_close => o; have [l1 l2 l3] := limits o.
apply: output_charged_more (fixed_runs [::] (fun a ar => ar) (fun a ar => priced ar)).
have q1 : 0 <= c1 + c2 by case: p1 => ? _; case: p2 => ? _; rewrite addr_ge0.
by rewrite !ler_add// ler_wpmul2l// ler_nat.
Qed.
End Fixed.
End Pair.
End Upper.
