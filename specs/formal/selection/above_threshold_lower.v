(* Above threshold from below (docs/theory/selection.md, log-concave threshold, from below): a list of outcomes that comes out while answers move in
   the same way again and again loses, in the limit, what weights of its comparisons and of what is told say, if they sum to no more than the slopes at each
   noise. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments chain worst_run_limits worst_output_lower.
From dpverify Require Import shift_costs slope_sums above_threshold_losses.

(* Where no noise is drawn there is 0, which has all exponential moments. *)
Lemma no_noise_tails (R : realType) (mu : {measure set R -> \bar R}) : mu setT = 1%E -> mu (~` [set 0]) = 0%E -> has_tails mu None None.
Proof.
move=> mu1 away g t _ _ _ _; have m0 : measurable [set (0 : R)] by exact: measurable_set1.
rewrite (negligible_integral (measurableC m0))//; last 2 first.
- apply/EFin_measurable_fun; exact: measurable_exp.
- by move=> z _; rewrite lee_fin expR_ge0.
rewrite setTD setCK (eq_integral (fun=> 1%E)); last by move=> z; rewrite inE => ->; rewrite mulr0 expR0.
by rewrite integral_cst// mul1e; apply: (le_lt_trans (mass_le1 mu1 m0)); rewrite ltry.
Qed.

Section Sampled.
Context (R : realType) (mt mq mf : {measure set R -> \bar R}) (tl tr ql qr fl fr : option R).
Hypotheses (mt1 : mt setT = 1%E) (mq1 : mq setT = 1%E) (mf1 : mf setT = 1%E).
Hypotheses (tails_t : has_tails mt tl tr) (tails_q : has_tails mq ql qr) (tails_f : has_tails mf fl fr).
Hypotheses (tl0 : positive_slope tl) (tr0 : positive_slope tr) (ql0 : positive_slope ql) (qr0 : positive_slope qr).
Hypotheses (fl0 : positive_slope fl) (fr0 : positive_slope fr).

(* For the query j noises of the threshold, of the answer, and for telling it afresh: those that are not used are drawn for nothing. *)
Definition of_three (A : Type) (a b c : A) (l : nat) : A := if (l %% 3 == 0)%N then a else if (l %% 3 == 1)%N then b else c.
Definition noise_law : nat -> {measure set R -> \bar R} := of_three mt mq mf.
Lemma noise_law1 l : noise_law l setT = 1%E. Proof. by rewrite /noise_law /of_three; case: ifP => _ //; case: ifP. Qed.

Context (n c : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises noise_law1 (3 * n) nu Z.

(* Which queries are positive, in turn. The threshold is drawn once, or again after each positive; a query is asked while fewer than c were positive. *)
Context (again : bool) (told : report).
Definition positive_at (p : seq bool) j := nth false p j.
Fixpoint drawn (p : seq bool) j : nat := if j is i.+1 then if again && positive_at p i then i.+1 else drawn p i else 0%N.
Definition may_begin (p : seq bool) := (size p <= n)%N /\ forall j, (j < size p)%N -> (count id (take j p) < c)%N.

(* Answers, and the noisy threshold, less the public threshold; and the number that is told of a positive. *)
Definition noisy (q : nat -> R) j w := q j + Z (3 * j + 1) w.
Definition number p q j w : R := match told with
  | Words => 0 | Gap => noisy q j w - Z (3 * drawn p j) w | Fresh => q j + Z (3 * j + 2) w | Value => noisy q j w end.
Definition comes_at p B q j : set W := [set w | if positive_at p j then Z (3 * drawn p j) w <= noisy q j w /\ - B <= number p q j w <= B
  else noisy q j w < Z (3 * drawn p j) w].
Definition comes p B q : set W := \big[setI/setT]_(j < size p) comes_at p B q j.

Lemma drawn_le p j : (drawn p j <= j)%N.
Proof. by elim: j => [|j IH] //=; case: ifP => // _; exact: leqW. Qed.

Lemma noise_index j r : (j < n)%N -> (r < 3)%N -> (3 * j + r < 3 * n)%N.
Proof.
move=> jn r3; apply: (@leq_trans (3 * j.+1)); last by rewrite leq_mul2l.
by rewrite mulnS [X in (X < _)%N]addnC ltn_add2r.
Qed.

Let mZ l : measurable_fun setT (Z l). Proof. exact: (measurable_noises noises). Qed.

Lemma measurable_noisy q j : measurable_fun setT (noisy q j).
Proof. by apply: measurable_funD; [exact: measurable_fun_cst | exact: mZ]. Qed.

Lemma measurable_number p q j : measurable_fun setT (number p q j).
Proof.
rewrite /number; case: told; [exact: measurable_fun_cst | | | exact: measurable_noisy].
- by apply: measurable_funB; [exact: measurable_noisy | exact: mZ].
- by apply: measurable_funD; [exact: measurable_fun_cst | exact: mZ].
Qed.

Lemma measurable_where (f : W -> R) (A : set R) : measurable_fun setT f -> measurable A -> measurable [set w | A (f w)].
Proof. by move=> mf' mA; rewrite -[X in measurable X]setTI; exact: mf'. Qed.

Lemma measurable_comes p B q : measurable (comes p B q).
Proof.
apply: bigsetI_measurable => j _; rewrite /comes_at; have mn := measurable_noisy q j.
have md : measurable_fun setT (fun w => noisy q j w - Z (3 * drawn p j) w) by exact: measurable_funB.
case: (positive_at p j).
- rewrite (_ : [set w | _] = [set w | [set z | 0 <= z] (noisy q j w - Z (3 * drawn p j) w)] `&` [set w | `[- B, B]%classic (number p q j w)]).
    apply: measurableI; first by apply: measurable_where => //; rewrite (_ : [set z | _] = `[0, +oo[%classic);
      [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv/= andbT].
    by apply: measurable_where; [exact: measurable_number | exact: measurable_itv].
  by apply/seteqP; split=> w /=; rewrite in_itv/= subr_ge0.
- rewrite (_ : [set w | _] = [set w | [set z | z < 0] (noisy q j w - Z (3 * drawn p j) w)]).
    by apply: measurable_where => //; rewrite (_ : [set z | _] = `]-oo, 0[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv].
  by apply/seteqP; split=> w /=; rewrite subr_lt0.
Qed.

(* The mechanism: it has an input for all answers, or all integers; that the outcomes p come out, the numbers that are told between -B and B, has the
   probability that the noises say. *)
Context (grid : R -> Prop) (X : Type) (N : relation X) dT (T : measurableType dT) (M : mechanism R X T).
Context (input : (nat -> R) -> X) (begins : seq bool -> R -> set T).
Hypotheses (grid_add : forall a b, grid a -> grid b -> grid (a + b)) (grid_nat : forall (k : nat) e, grid e -> grid (k%:R * e)) (grid1 : grid 1).
Hypothesis grid_opp : forall a, grid a -> grid (- a).
Hypothesis begins_measurable : forall p B, measurable (begins p B).
Hypothesis has_outcomes : forall q p B, (forall j, grid (q j)) -> may_begin p -> M (input q) (begins p B) = nu (comes p B q).

Definition sign (p : seq bool) j : R := if positive_at p j then 1 else -1.

(* Far out all comes out as it has to: answers of which positives are far above the threshold, and negatives far below. *)
Definition far p (k : nat) j : R := sign p j * (2 * k)%:R.
Definition all_near (k : nat) : set W := \big[setI/setT]_(l < 3 * n) [set w | `]- k%:R, k%:R[%classic (Z l w)].

Lemma far_comes p k : (size p <= n)%N -> all_near k `<=` comes p (4 * k)%:R (far p k).
Proof.
move=> pn w /in_all near; apply/in_all => j; rewrite /comes_at /=; have jn : (j < n)%N := leq_trans (ltn_ord j) pn.
have bound l : (l < 3 * n)%N -> - k%:R < Z l w < k%:R by move=> ln; have := near (Ordinal ln); rewrite /= in_itv.
have /andP[a1 a2] : - k%:R < Z (3 * j + 1) w < k%:R.
  by apply: bound; exact: noise_index.
have /andP[b1 b2] : - k%:R < Z (3 * j + 2) w < k%:R.
  by apply: bound; exact: noise_index.
have /andP[t1 t2] : - k%:R < Z (3 * drawn p j) w < k%:R.
  by apply: bound; rewrite ltn_pmul2l// (leq_ltn_trans (drawn_le p j)).
have k0 : 0 <= k%:R :> R by [].
have e2 : (2 * k)%:R = 2 * k%:R :> R by rewrite natrM.
have e4 : (4 * k)%:R = 4 * k%:R :> R by rewrite natrM.
rewrite /noisy /number /far /sign /noisy; case: (positive_at p j); rewrite ?mul1r ?mulN1r e2 ?e4; last by lra.
by split; [lra | case: told; apply/andP; split; lra].
Qed.

Lemma some_near : exists k, (0 < nu (all_near k))%E.
Proof.
have nu1 := independent_total noises; apply: contrapT => none.
have m0 k : measurable (all_near k) by apply: bigsetI_measurable => l _; apply: measurable_where => //; exact: measurable_itv.
have := @chance_rises R _ W nu all_near setT m0 measurableT _ _ 0%E; rewrite nu1 => H.
suff : (1 <= 0 :> \bar R)%E by rewrite lee_fin ler10.
apply: H => [k w /in_all h||k].
- by apply/in_all => l; have := h l; rewrite /= !in_itv/= => /andP[a b]; rewrite -natr1; apply/andP; split; lra.
- apply/seteqP; split=> // w _; have [k kE] := beyond (\sum_(l < 3 * n) `|Z l w| + 1) 0 (@ltr01 R); rewrite add0r mulr1 in kE.
  exists k => //; apply/in_all => l; rewrite /= in_itv/= -ltr_norml.
  have : `|Z l w| <= \sum_(l < 3 * n) `|Z l w| by rewrite (bigD1 l)//= ler_addl; apply: sumr_ge0.
  by lra.
- by rewrite leNgt; apply/negP => pos; apply: none; exists k.
Qed.

(* Weights of the comparisons, at least 0, and of the numbers that are told. *)
Context (p : seq bool) (d g h : nat -> R).
Let m := size p.
Hypothesis begins_p : may_begin p.
Hypotheses (on_grid : forall j, grid (d j)) (near : forall q, (forall j, grid (q j)) -> N (input q) (input (fun j => q j + d j))).
Definition told_weight j : R := if positive_at p j then match told with Fresh | Value => h j | _ => 0 end else 0.
Definition at_answer j : R := sign p j * g j + (if told is Value then told_weight j else 0).
Definition at_threshold i : R := - \sum_(j < m | drawn p j == i) sign p j * g j.
Definition total_loss : R := - \sum_(j < m) (sign p j * g j + told_weight j) * d j.

Let unit (k l : nat) : R := (k == l)%:R.
Let form (r : 'I_m * bool) (l : nat) : R := let j := r.1 in
  if r.2 then (if positive_at p j then match told with
    | Words => 0 | Gap => unit (3 * j + 1) l - unit (3 * drawn p j) l | Fresh => unit (3 * j + 2) l | Value => unit (3 * j + 1) l end else 0)
  else sign p j * (unit (3 * j + 1) l - unit (3 * drawn p j) l).
Let fixed (q : nat -> R) (r : 'I_m * bool) : R := let j := r.1 in
  if r.2 then (if positive_at p j then (if told is Words then 0 else q j) else 0) else sign p j * q j.
(* The gap is told as the comparison tells it, so that it has no weight of its own. *)
Let weight (r : 'I_m * bool) : R := if r.2 then told_weight r.1 else g r.1.

Let mn : (m <= n)%N. Proof. by case: begins_p. Qed.

Lemma unit_sum (k : nat) w : (k < 3 * n)%N -> \sum_(l < 3 * n) unit k l * Z l w = Z k w.
Proof.
move=> kn; rewrite (bigD1 (Ordinal kn))//= big1 ?addr0 /unit ?eqxx ?mul1r// => l lk.
by case: eqP => [E|]; [case/eqP: lk; apply: val_inj | rewrite mul0r].
Qed.

Lemma sum_diff (k k' : nat) w : (k < 3 * n)%N -> (k' < 3 * n)%N -> \sum_(l < 3 * n) (unit k l - unit k' l) * Z l w = Z k w - Z k' w.
Proof. by move=> kn kn'; rewrite -(unit_sum w kn) -(unit_sum w kn') -sumrB; apply: eq_bigr => l _; rewrite mulrBl. Qed.

Lemma drawn_index (j : 'I_m) : (3 * drawn p j < 3 * n)%N.
Proof. by rewrite ltn_pmul2l// (leq_ltn_trans (drawn_le p j))// (leq_trans (ltn_ord j)). Qed.

Lemma comes_run B q0 (s : nat) : 0 <= B -> comes p B (fun j => q0 j + s%:R * d j) `<=`
  run_comes_out (3 * n) Z (fun r : 'I_m * bool => r.2) form (fixed q0) (fixed d) B s.
Proof.
move=> BO w /in_all out; rewrite /run_comes_out; elim/big_ind: _ => // -[j b] _; have := out j; rewrite /comes_out /comes_at /row /= => {}out.
have j1 := noise_index (leq_trans (ltn_ord j) mn) (isT : (1 < 3)%N); have j2 := noise_index (leq_trans (ltn_ord j) mn) (isT : (2 < 3)%N).
have dj := drawn_index j; case: b => /=.
- move: out; rewrite /form /fixed /number /noisy /=; case: (positive_at p j) => [[_]|_]; last first.
    by rewrite big1 ?mulr0 ?addr0; [rewrite oppr_le0 BO | move=> l _; rewrite mul0r].
  case: told; rewrite ?unit_sum// ?sum_diff//; do ?[by move=> /andP[? ?]; apply/andP; split; lra].
  by rewrite big1 ?mulr0 ?addr0// => l _; rewrite mul0r.
- move: out; rewrite /form /fixed /sign /noisy /=.
  rewrite (eq_bigr (fun l : 'I_(3 * n) => (if positive_at p j then 1 else -1) * ((unit (3 * j + 1) l - unit (3 * drawn p j) l) * Z l w))); last first.
    by move=> l _; rewrite mulrA.
  by rewrite -mulr_sumr sum_diff//; case: (positive_at p j) => [[]|]; lra.
Qed.

Lemma index_eq j r i r' : (r < 3)%N -> (r' < 3)%N -> ((3 * j + r == 3 * i + r') = (j == i) && (r == r'))%N.
Proof.
move=> r3 r3'; apply/eqP/andP => [E|[/eqP -> /eqP ->]//].
have := congr1 (fun z => z %% 3)%N E; have := congr1 (fun z => z %/ 3)%N E.
by rewrite ![(3 * _)%N]mulnC !divnMDl// !modnMDl !modn_small// !divn_small// !addn0 => -> ->.
Qed.

Lemma unitE j r i r' : (r < 3)%N -> (r' < 3)%N -> unit (3 * j + r) (3 * i + r') = ((j == i) && (r == r'))%:R.
Proof. by move=> r3 r3'; rewrite /unit index_eq. Qed.

Lemma unitE0 j i r' : (r' < 3)%N -> unit (3 * j) (3 * i + r') = ((j == i) && (0 == r')%N)%:R.
Proof. by move=> r3'; rewrite -[(3 * j)%N]addn0 unitE. Qed.

Lemma pair_sum (F : 'I_m * bool -> R) : \sum_r F r = \sum_(j < m) (F (j, true) + F (j, false)).
Proof.
rewrite (eq_bigr (fun r => F (r.1, r.2))); last by case.
by rewrite -(pair_bigA _ (fun j b => F (j, b)))/=; apply: eq_bigr => j _; rewrite big_bool.
Qed.

Lemma sum_at (F : nat -> R) i : \sum_(j < m) (if j == i :> nat then F j else 0) = if (i < m)%N then F i else 0.
Proof.
case: ifP => [im|/negbT ni].
  by rewrite (bigD1 (Ordinal im))//= eqxx big1 ?addr0// => j /eqP ne; case: eqP => // E; case: ne; exact: val_inj.
by apply: big1 => j _; case: eqP => // E; case/negP: ni; rewrite -E.
Qed.

Lemma noise_answer i : at_noise form weight (3 * i + 1) = if (i < m)%N then at_answer i else 0.
Proof.
rewrite -sum_at /at_noise pair_sum; apply: eq_bigr => j _; rewrite /form /weight /=.
rewrite !unitE// !unitE0// !andbF /at_answer /told_weight subr0; case: (j == i :> nat); case: (positive_at p j); case: told; rewrite /=; lra.
Qed.

Lemma noise_fresh i : at_noise form weight (3 * i + 2) = if (i < m)%N then (if told is Fresh then told_weight i else 0) else 0.
Proof.
rewrite -(sum_at (fun i => if told is Fresh then told_weight i else 0)) /at_noise pair_sum; apply: eq_bigr => j _; rewrite /form /weight /=.
rewrite !unitE// !unitE0// !andbF /told_weight subr0; case: (j == i :> nat); case: (positive_at p j); case: told; rewrite /=; lra.
Qed.

Lemma noise_threshold i : at_noise form weight (3 * i + 0) = at_threshold i.
Proof.
rewrite /at_threshold big_mkcond/= -sumrN /at_noise pair_sum; apply: eq_bigr => j _; rewrite /form /weight /=.
rewrite !unitE// !unitE0// !andbF /told_weight !andbT; case: (drawn p j == i); case: (positive_at p j); case: told; rewrite /=; lra.
Qed.

Theorem weights_lower : (forall j, (j < m)%N -> 0 <= g j) ->
  (forall j, (j < m)%N -> within (at_answer j) qr /\ within (- at_answer j) ql) ->
  (told = Fresh -> forall j, (j < m)%N -> within (told_weight j) fr /\ within (- told_weight j) fl) ->
  (forall i, (i < n)%N -> within (at_threshold i) tr /\ within (- at_threshold i) tl) -> (total_loss%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> g0 answers fresh thresholds; have [k pos] := some_near.
have grid_far j : grid (far p k j).
  rewrite /far /sign; have G : grid (2 * k)%:R by rewrite -[(2 * k)%:R]mulr1; exact: grid_nat.
  by case: (positive_at p j); rewrite ?mul1r// mulN1r; exact: grid_opp.
have grid_at (s : nat) j : grid (far p k j + s%:R * d j) by apply: grid_add => //; exact: grid_nat.
have lE : worst_run_limits.loss (fixed d) weight = total_loss.
  rewrite /worst_run_limits.loss /total_loss pair_sum; congr (- _); apply: eq_bigr => j _; rewrite /fixed /weight /told_weight /=.
  by case: (positive_at p j); case: told; lra.
have zero (b : option R) : positive_slope b -> within 0 b by case: b => //= b /ltW.
have nothing (b b' : option R) : positive_slope b -> positive_slope b' -> within 0 b /\ within (- 0) b' by move=> ? ?; rewrite oppr0; split; exact: zero.
pose x (s : nat) := input (fun j => far p k j + s%:R * d j).
have chain s : N (x s) (x s.+1).
  rewrite /x (_ : (fun j => far p k j + s.+1%:R * d j) = (fun j => far p k j + s%:R * d j + d j)); first exact: near.
  by apply/funext => j; rewrite -natr1; lra.
have start : (0 < M (x 0%N) (begins p (4 * k)%:R))%E.
  rewrite has_outcomes//; apply: (lt_le_trans pos); apply: le_measure; rewrite ?inE.
  + by apply: bigsetI_measurable => l _; apply: measurable_where => //; exact: measurable_itv.
  + exact: measurable_comes.
  + rewrite (_ : (fun j => _) = far p k); first exact: far_comes.
    by apply/funext => j; rewrite mul0r addr0.
have shown s : (M (x s) (begins p (4 * k)%:R) <= nu (run_comes_out (3 * n) Z (fun r : 'I_m * bool => r.2) form (fixed (far p k)) (fixed d) (4 * k)%:R s))%E.
  rewrite has_outcomes//; apply: le_measure; rewrite ?inE; [exact: measurable_comes | exact: (measurable_run noises) |].
  exact: comes_run.
have tails l : has_tails (noise_law l) (of_three tl ql fl l) (of_three tr qr fr l).
  by rewrite /noise_law /of_three; case: ifP => _ //; case: ifP.
have weight0 (r : 'I_m * bool) : ~~ r.2 -> 0 <= weight r by case: r => j [] //= _; exact: g0.
rewrite -lE; apply: (run_lower tails noises (begins_measurable p (4 * k)%:R) chain start shown _ weight0) => //.
move=> l ln; have lE' := divn_eq l 3; rewrite mulnC in lE'.
have r3 : (l %% 3 < 3)%N by rewrite ltn_mod.
have ln' : (l %/ 3 < n)%N by rewrite ltn_divLR// mulnC.
rewrite /of_three; case r : (l %% 3)%N r3 lE' => [|[|[|//]]] _ ->; rewrite ?noise_answer ?noise_fresh ?noise_threshold /=.
- exact: thresholds.
- by case: ifP => im; [exact: answers | exact: nothing].
- case: ifP => im; last exact: nothing.
  by move: fresh; case: told => [||/(_ erefl)|] fresh; [exact: nothing | exact: nothing | exact: fresh | exact: nothing].
Qed.
End Sampled.
