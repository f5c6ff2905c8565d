(* Report noisy max that tells the index and the lead over the greatest of the others (docs/theory/selection.md, log-concave noisy max): given the other
   noises the output is a function of the winner's noise, which moves by at most r, up or down. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels composition groups joint_neighbours finite selection.
From dpverify Require Import independent log_concave moments chain worst_run_limits laplace_curve noisy_max_rule one_noise.

Section Lead.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (left right : option R).
Hypotheses (mu1 : mu setT = 1%E) (slopes : has_slopes lam mu left right).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Context (K : finType) (weight : K -> R) (prior : K -> rel 'I_n).
Hypotheses (weight0 : forall k, 0 <= weight k) (weight1 : \sum_k weight k = 1).
Implicit Types (q : 'I_n -> R) (i j : 'I_n).

(* Some other index, of two at least. *)
Context (other : 'I_n -> 'I_n).
Hypothesis other_one : forall i, other i != i.

(* The greatest of the other noisy answers, and the lead over it. *)
Definition next q i (w : W) : R := \big[Num.max/q (other i) + Z (other i) w]_(j < n | j != i) (q j + Z j w).
Definition lead q i (w : W) : R := q i + Z i w - next q i w.

Lemma next_most q i j w : j != i -> q j + Z j w <= next q i w.
Proof. by move=> ji; exact: (le_bigmax_cond _ (fun j : 'I_n => q j + Z j w)). Qed.

Lemma next_met q i w : exists2 j, j != i & next q i w = q j + Z j w.
Proof.
rewrite /next; elim/big_ind: _ => [|x y [j ji ->] [k ki ->]|j ji]; [by exists (other i) | | by exists j].
by case: leP => _; [exists k | exists j].
Qed.

Lemma measurable_next q i : measurable_fun setT (next q i).
Proof.
have mj j : measurable_fun setT (fun w => q j + Z j w).
  by apply: measurable_funD; [exact: measurable_fun_cst | exact: (measurable_noises noises)].
rewrite /next; elim: (index_enum _) => [|j r IH].
  by rewrite (_ : (fun w => _) = fun w => q (other i) + Z (other i) w)//; apply/funext => w; rewrite big_nil.
rewrite (_ : (fun w => _) = fun w => if j != i then Num.max (q j + Z j w) (\big[Num.max/q (other i) + Z (other i) w]_(j <- r | j != i) (q j + Z j w))
  else \big[Num.max/q (other i) + Z (other i) w]_(j <- r | j != i) (q j + Z j w)); last by apply/funext => w; rewrite big_cons.
by case: (j != i) => //; exact: measurable_fun_max.
Qed.

Lemma measurable_lead q i : measurable_fun setT (lead q i).
Proof.
apply: measurable_funB; last exact: measurable_next.
by apply: measurable_funD; [exact: measurable_fun_cst | exact: (measurable_noises noises)].
Qed.

(* The index i and its lead are told; of several greatest answers one is told by an order of the indices, which is drawn with these weights. *)
Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> R -> T).
Hypothesis pt_measurable : forall i, measurable_fun setT (pt i).
Definition told_lead k q (S : set T) i : set W := greatest_is Z prior k q i `&` [set w | S (pt i (lead q i w))].
Hypothesis ML : forall q S, measurable S -> M q S = (\sum_k weight k * \sum_i fine (nu (told_lead k q S i)))%:E.

Lemma measurable_told_lead k q S i : measurable S -> measurable (told_lead k q S i).
Proof.
move=> mS; apply: measurableI; first exact: (measurable_greatest noises).
rewrite -[X in measurable X]setTI; apply: (measurable_after (measurable_lead q i) (pt_measurable i)) => //.
Qed.

(* On the reals a lead of 0 has no chance; of two answers it tells of the only other one. On the integers answers move by integers. *)
Variant no_third N : Prop :=
| OnReals of (forall t, keeps lam t) & (forall x, mu [set x] = 0%E)
| TwoAnswers of n = 2%N & (forall q q', both N q q' -> forall i j, keeps lam ((q' j - q j) - (q' i - q i))).

Lemma lead_ge0 k q i w : greatest_is Z prior k q i w -> 0 <= lead q i w.
Proof.
move=> G; have [j ji E] := next_met q i w; rewrite subr_ge0 E.
by have := greatest_wins G ji; rewrite /wins; case: ifP => _ // /ltW.
Qed.

Lemma lead_wins k q i w : 0 < lead q i w -> greatest_is Z prior k q i w.
Proof.
rewrite subr_gt0 => lt; apply: greatest_of => j ji; have := le_lt_trans (next_most q w ji) lt.
by rewrite /wins; case: ifP => _ // /ltW.
Qed.

Section Above.
Context (a b : R) (la : left = Some a) (rb : right = Some b).
Hypotheses (a0 : 0 <= a) (b0 : 0 <= b).

Lemma moves_within t r B : keeps lam t -> - r <= t -> t <= r -> measurable B ->
  (mu [set z | B (z + t)%R] <= (expR (r * Num.max a b))%:E * mu B)%E.
Proof.
move=> kt lo hi mB; have m0 : 0 <= r by lra.
have am : a <= Num.max a b by rewrite le_maxr lexx.
have bm : b <= Num.max a b by rewrite le_maxr lexx orbT.
have up (c : R) : c <= r * Num.max a b -> (mu [set z | B (z + t)%R] <= (expR c)%:E * mu B)%E ->
    (mu [set z | B (z + t)%R] <= (expR (r * Num.max a b))%:E * mu B)%E.
  by move=> le h; apply: (le_trans h); apply: lee_wpmul2r => //; rewrite lee_fin ler_expR.
have [t0|t0] := leP 0 t.
- apply: (up (b * t)); last exact: (shift_right slopes rb).
  by rewrite mulrC; apply: ler_pmul.
- apply: (up (a * - t)); last first.
    have n0 : 0 <= - t by lra.
    by have := shift_left (A := B) slopes la n0; rewrite opprK; apply.
  by rewrite mulrC; apply: ler_pmul => //; lra.
Qed.

(* The index and the lead over the next one. *)
(* Rule: log-concave-noisy-max, upper, in part: answers that differ by points of a hull. *)
Theorem noisy_max_lead_upper N r : no_third N ->
  (forall q q', both N q q' -> forall i j, (q' j - q j) - (q' i - q i) <= r) -> pure_dp N M (r * Num.max a b).
Proof.
move=> third apart q q' qq S mS; rewrite adde0 !ML// -EFinM lee_fin mulr_sumr; apply: ler_sum => k _.
rewrite mulrCA ler_wpmul2l// mulr_sumr; apply: ler_sum => i _.
have nu1 := independent_total noises.
have mt q0 := measurable_told_lead k q0 i mS.
rewrite -lee_fin EFinM !fineK ?mass_fin//.
have [put puts] := draw_again noises (ltn_ord i); have [_ pi po _ _] := puts.
have po' (j : 'I_n) w z : j != i -> Z j (put (w, z)) = Z j w by move=> ji; exact: po.
have nextE q0 w z : next q0 i (put (w, z)) = next q0 i w.
  by rewrite /next (po' (other i))//; apply: eq_bigr => j ji; rewrite po'.
pose t w := next q' i w - next q i w - (q' i - q i).
have leadE w z : lead q' i (put (w, z + t w)) = lead q i (put (w, z)) by rewrite /lead !nextE !pi /t; lra.
have bound w : - r <= t w /\ t w <= r.
  have [j ji E] := next_met q i w; have [j' ji' E'] := next_met q' i w.
  have h := next_most q w ji'; have h' := next_most q' w ji.
  have := apart _ _ qq i j'; have := apart _ _ (bothC qq) i j; rewrite /t => ? ?; split; lra.
case: third => [kept atoms|n2 kept].
- pose tie := [set w | lead q i w = 0].
  have mtie : measurable tie.
    by rewrite /tie (_ : [set w | _] = setT `&` lead q i @^-1` [set 0]); [apply: (measurable_lead q i) => // | rewrite setTI].
  have tie0 : nu tie = 0%E.
    apply: (one_null puts mtie) => w; rewrite (_ : [set z | _] = [set next q i w - q i]) ?atoms//.
    by apply/seteqP; split=> z; rewrite /tie/= /lead nextE pi => h; lra.
  have mD : measurable (told_lead k q S i `\` tie) by exact: measurableD.
  apply: (@le_trans _ _ (nu (told_lead k q S i `\` tie))).
    have sub : told_lead k q S i `<=` (told_lead k q S i `\` tie) `|` tie.
      by move=> w h; have [wt|wt] := pselect (tie w); [right | left].
    apply: (@le_trans _ _ (nu ((told_lead k q S i `\` tie) `|` tie))).
      by apply: le_measure; rewrite ?inE//; exact: measurableU.
    have apart0 : (told_lead k q S i `\` tie) `&` tie = set0 by apply/seteqP; split=> w // [[_ nt] wt].
    have E : (nu ((told_lead k q S i `\` tie) `|` tie) = nu (told_lead k q S i `\` tie) + nu tie)%E := measureU nu mD mtie apart0.
    by rewrite E tie0 adde0.
  apply: (one_moved (fun=> mu1) puts (t := t) mD (mt q')) => [w B mB|w z [[G Sz] nt]].
    by have [? ?] := bound w; exact: moves_within.
  split; last by rewrite /= leadE.
  apply: lead_wins; rewrite leadE lt_neqAle (lead_ge0 G) andbT.
  by apply/eqP => e; apply: nt; rewrite /tie/= -e.
- have only j : j != i -> j = other i.
    move=> ji; apply: val_inj; have := other_one i; move: ji; rewrite -!val_eqE/=.
    have := ltn_ord i; have := ltn_ord j; have := ltn_ord (other i); move: n2 => {}n2.
    by move: (nat_of_ord i) (nat_of_ord j) (nat_of_ord (other i)); rewrite n2; do 3![case=> [|[|?]]//].
  have nextO q0 w : next q0 i w = q0 (other i) + Z (other i) w by have [j /only -> ->] := next_met q0 i w.
  have tE w : t w = (q' (other i) - q (other i)) - (q' i - q i) by rewrite /t !nextO; lra.
  apply: (one_moved (fun=> mu1) puts (t := t) (mt q) (mt q')) => [w B mB|w z [G Sz]].
    by have [? ?] := bound w; apply: moves_within => //; rewrite tE; exact: kept.
  split; last by rewrite /= leadE.
  apply: greatest_of => j ji; have := greatest_wins G ji; rewrite /wins (only _ ji).
  have := leadE w z; rewrite /lead !nextO !(po' (other i))//; case: ifP => _; lra.
Qed.
End Above.

(* -- From below: the index is a function of the output -- *)

Hypotheses (left0 : positive_slope left) (right0 : positive_slope right) (kept1 : keeps lam 1) (kept1' : keeps lam (- 1)).
Context (index : T -> R).
Hypotheses (mindex : measurable_fun setT index) (indexE : forall i x, index (pt i x) = i%:R).

Definition index_law q : {measure set R -> \bar R} := [the measure _ _ of pushforward (M q) mindex].

Lemma index_law_total q : index_law q setT = 1%E. Proof. exact: law_total. Qed.

Definition index_mechanism : mechanism R ('I_n -> R) R := Mechanism index_law_total.

Lemma index_table : has_table index_mechanism (fun i => i%:R) (greatest_chance nu Z weight prior).
Proof.
move=> q S mS; have mS' : measurable (index @^-1` S) by rewrite -[X in measurable X]setTI; exact: mindex.
rewrite /= /pushforward ML//; congr (_%:E).
under eq_bigr do rewrite mulr_sumr; rewrite exchange_big/=; apply: eq_bigr => i _.
rewrite /greatest_chance mulr_suml; apply: eq_bigr => k _; rewrite -mulrA; congr (_ * _).
rewrite indicE; have [Si|Si] := pselect (S i%:R).
- rewrite mem_set// mulr1; congr (fine (nu _)); apply/seteqP; split=> w; first by case.
  by move=> G; split=> //; rewrite /= indexE.
- rewrite memNset// mulr0 (_ : told_lead _ _ _ _ = set0) ?measure0//.
  by apply/seteqP; split=> w // [_]; rewrite /= indexE.
Qed.

(* The index and the lead over the next one. *)
(* Rule: log-concave-noisy-max, lower, in part: answers that differ by points of a hull. *)
Theorem noisy_max_lead_lower N r v : (1 < n)%N -> 0 < r ->
  (forall i, exists2 e : 'I_n -> R, forall j, j != i -> e j - e i = r & forall s : nat, both N (fun j => s%:R * e j) (fun j => s.+1%:R * e j)) ->
  within v (omap (fun b => r * b) right) -> within v (omap (fun b => r * (n.-1%:R * b)) left) -> (v%:E <= tight_epsilon N M 0)%E.
Proof.
move=> n1 r0 ways vr vl.
have inj : injective (fun i : 'I_n => (i : nat)%:R : R) by move=> i j /eqP; rewrite eqr_nat => /eqP/val_inj.
apply: (@le_trans _ _ (tight_epsilon N index_mechanism 0)).
  apply: (noisy_max_index_lower slopes left0 right0 kept1 kept1' noises weight0 weight1 inj (fun i => measurable_set1 _) index_table n1 r0 ways vr vl).
apply: le_ereal_inf => _ [e [e0 dpe] <-]; exists e => //; split=> // q q' qq S mS.
by apply: (dpe q q' qq); rewrite -[X in measurable X]setTI; exact: mindex.
Qed.
End Lead.
