(* Streams from below (docs/theory/selection.md, worst run), for rows that are given: a path that is taken at one point of the answers and the noises, with
   room, has a positive probability. That a program has these rows is shown in worst_run_followed.v and repeated_runs.v. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments chain worst_run_limits worst_output_lower.

Section Path.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (left right : nat -> option R) (mu1 : forall j, mu j setT = 1%E).
Hypothesis tails : forall j, has_tails (mu j) (left j) (right j).
Hypotheses (left0 : forall j, positive_slope (left j)) (right0 : forall j, positive_slope (right j)).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> X) (O : R -> set Y).
Hypotheses (mO : forall B, measurable (O B)) (chain : forall s, N (x s) (x s.+1)).

Section Rows.
(* What is told, that the path is taken and the numbers are between -B and B, has the probability that its rows come out, each at least 0, or above 0. *)
Context (I : finType) (told opened : pred I) (a : I -> nat -> R) (c move : I -> R).
Definition path_comes_out B s : set W := \big[setI/setT]_(r : I) [set w |
  if told r then - B <= row n Z a c move s r w <= B else if opened r then 0 < row n Z a c move s r w else 0 <= row n Z a c move s r w].
Hypothesis tells : forall s B, M (x s) (O B) = nu (path_comes_out B s).

(* A point: all comparisons hold with room, and each noise is drawn near its value with a positive probability. *)
Context (z : nat -> R).
Definition value_at r := \sum_(j < n) a r j * z j + c r.
Hypotheses (room : forall r, ~~ told r -> 0 < value_at r) (lives : forall j e, (j < n)%N -> 0 < e -> (0 < mu j `](z j - e)%R, (z j + e)%R[%classic)%E).

Lemma measurable_path B s : measurable (path_comes_out B s).
Proof.
apply: bigsetI_measurable => r _; have mr := measurable_row noises a c move s r.
have mw (A : set R) : measurable A -> measurable [set w | A (row n Z a c move s r w)] by move=> mA; rewrite -[X in measurable X]setTI; exact: mr.
case: (told r); last case: (opened r).
- rewrite (_ : [set w | _] = [set w | `[- B, B]%classic (row n Z a c move s r w)]); first by apply: mw; exact: measurable_itv.
  by apply/seteqP; split=> w /=; rewrite in_itv.
- rewrite (_ : [set w | _] = [set w | `]0, +oo[%classic (row n Z a c move s r w)]); first by apply: mw; exact: measurable_itv.
  by apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
- rewrite (_ : [set w | _] = [set w | `[0, +oo[%classic (row n Z a c move s r w)]); first by apply: mw; exact: measurable_itv.
  by apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
Qed.

Lemma path_row B s w r : path_comes_out B s w ->
  if told r then - B <= row n Z a c move s r w <= B else if opened r then 0 < row n Z a c move s r w else 0 <= row n Z a c move s r w.
Proof. by rewrite /path_comes_out (bigD1 r)//= => -[]. Qed.

Lemma path_shown B s : (M (x s) (O B) <= nu (run_comes_out n Z told a c move B s))%E.
Proof.
rewrite tells; apply: le_measure; rewrite ?inE; [exact: measurable_path | exact: (measurable_run noises) |].
move=> w out; rewrite /run_comes_out; elim/big_ind: _ => // r _; have := path_row r out; rewrite /comes_out /=.
by case: (told r) => //; case: (opened r) => // /ltW.
Qed.

Lemma some_room : exists2 e : R, 0 < e & forall r, ~~ told r -> e <= value_at r.
Proof.
pose S := \sum_(r | ~~ told r) (value_at r)^-1; have S0 : 0 <= S by apply: sumr_ge0 => r /room h; rewrite invr_ge0 ltW.
have p : 0 < 1 + S by lra.
exists (1 + S)^-1 => [|r nr]; first by rewrite invr_gt0.
rewrite -[leRHS]invrK lef_pinv ?posrE ?invr_gt0 ?room//.
have : (value_at r)^-1 <= S by rewrite /S (bigD1 r)//= ler_addl; apply: sumr_ge0 => r' /andP[/room h _]; rewrite invr_ge0 ltW.
lra.
Qed.

Lemma path_start : exists2 B, 0 <= B & (0 < M (x 0%N) (O B))%E.
Proof.
have [e e0 er] := some_room.
pose A := \sum_r \sum_(j < n) `|a r j| + 1; have A1 : 1 <= A by rewrite /A ler_addr; apply: sumr_ge0 => r _; apply: sumr_ge0.
have A0 : 0 < A by lra.
pose t := e / A; have t0 : 0 < t by rewrite divr_gt0. have tA : t * A = e by rewrite divfK// gt_eqF.
pose box (j : nat) : set R := `]z j - t, z j + t[%classic.
have mb j : measurable (box j) by exact: measurable_itv.
have pos : (0 < nu (\big[setI/setT]_(j < n) (Z j @^-1` box j)))%E.
  rewrite (independent_box noises mb) lte_fin; apply: prodr_gt0 => j _.
  by rewrite -lte_fin fineK ?(mass_fin (mu1 j))//; apply: lives.
have S0 : 0 <= \sum_r `|value_at r| by apply: sumr_ge0.
exists (\sum_r `|value_at r| + e); first by lra.
rewrite tells; apply: (lt_le_trans pos); apply: le_measure; rewrite ?inE.
- by apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; apply: (measurable_noises noises).
- exact: measurable_path.
move=> w /in_all near; rewrite /path_comes_out; elim/big_ind: _ => // r _.
have far : `|row n Z a c move 0 r w - value_at r| < e.
  have -> : row n Z a c move 0 r w - value_at r = \sum_(j < n) a r j * (Z j w - z j).
    rewrite /row /value_at mul0r addr0; have -> : forall u v k : R, u + k - (v + k) = u - v by move=> u v k; lra.
    by rewrite -sumrB; apply: eq_bigr => j _; rewrite mulrBr.
  apply: (le_lt_trans (ler_norm_sum _ _ _)); apply: (@le_lt_trans _ _ (t * \sum_(j < n) `|a r j|)).
    rewrite mulr_sumr; apply: ler_sum => j _; rewrite normrM mulrC ler_wpmul2r//.
    by have : box j (Z j w) := near j; rewrite /box /= in_itv/= => /andP[lo hi]; rewrite ler_norml; apply/andP; split; lra.
  have : \sum_(j < n) `|a r j| <= A - 1.
    by rewrite /A addrK (bigD1 r)//= ler_addl; apply: sumr_ge0 => r' _; apply: sumr_ge0.
  by move=> /(ler_wpmul2l (ltW t0)); rewrite mulrBr tA mulr1; lra.
move: far; rewrite ltr_norml => /andP[lo hi] /=; case: ifPn => [_|nr].
  have : `|value_at r| <= \sum_r `|value_at r| by rewrite [leRHS](bigD1 r)//= ler_addl; apply: sumr_ge0.
  by have := ler_norm (value_at r); have := ler_norm (- value_at r); rewrite normrN => u v k; apply/andP; split; lra.
have := er r nr; case: ifP => _; lra.
Qed.
End Rows.

(* Weights, at least 0 for comparisons, that at no noise sum to more than its slope. *)
Section Once.
Context (I : finType) (told opened : pred I) (a : I -> nat -> R) (c move y : I -> R) (z : nat -> R).
Hypothesis tells : forall s B, M (x s) (O B) = nu (path_comes_out told opened a c move B s).
Hypotheses (room : forall r, ~~ told r -> 0 < value_at a c z r) (lives : forall j e, (j < n)%N -> 0 < e -> (0 < mu j `](z j - e)%R, (z j + e)%R[%classic)%E).
Hypothesis y0 : forall r, ~~ told r -> 0 <= y r.

Theorem worst_run : (forall j, (j < n)%N -> within (at_noise a y j) (right j) /\ within (- at_noise a y j) (left j)) ->
  ((loss move y)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
have [B B0 start] := path_start tells room lives.
exact: (run_lower tails noises (mO B) chain start (fun s => path_shown tells B s) B0 y0).
Qed.

Theorem worst_run_unbounded : (forall j, (j < n)%N -> none_within (at_noise a y j) (right j) /\ none_within (- at_noise a y j) (left j)) ->
  0 < loss move y -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
have [B B0 start] := path_start tells room lives.
exact: (run_infinite tails left0 right0 noises (mO B) chain start (fun s => path_shown tells B s) B0 y0).
Qed.
End Once.

(* Steps that are repeated k times, at the same point; the weights are for one time. *)
Section Repeated.
Context (k : nat) (copy : nat -> option 'I_k) (origin : nat -> nat) (I J : finType) (told : pred I) (told' : pred J) (opened : pred (I + 'I_k * J)).
Context (a : I -> nat -> R) (a' own : J -> nat -> R) (move y : I -> R) (move' y' : J -> R) (c : I + 'I_k * J -> R) (z : nat -> R).
Let all_told := repeated_told (k := k) told told'.
Let all_forms := repeated_form (k := k) copy origin a a' own.
Hypothesis tells : forall s B, M (x s) (O B) = nu (path_comes_out all_told opened all_forms c (repeated_move move move') B s).
Hypotheses (room : forall r, ~~ all_told r -> 0 < value_at all_forms c z r).
Hypotheses (lives : forall j e, (j < n)%N -> 0 < e -> (0 < mu j `](z j - e)%R, (z j + e)%R[%classic)%E).
Hypotheses (y0 : forall r, ~~ told r -> 0 <= y r) (y0' : forall r, ~~ told' r -> 0 <= y' r).
Hypothesis outside : forall j, (j < n)%N -> copy j = None -> \sum_r y r * a r j + \sum_r y' r * a' r j = 0.

Theorem worst_run_repeated : (forall j i, (j < n)%N -> copy j = Some i ->
    within (\sum_r y' r * own r (origin j)) (right j) /\ within (- \sum_r y' r * own r (origin j)) (left j)) ->
  ((k%:R * once_loss move y move' y')%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
have [B B0 start] := path_start tells room lives.
exact: (repeated_lower tails left0 right0 noises (mO B) chain start (fun s => path_shown tells B s) B0 y0 y0' outside).
Qed.

Theorem worst_run_repeated_unbounded : (0 < k)%N -> (forall j i, (j < n)%N -> copy j = Some i ->
    none_within (\sum_r y' r * own r (origin j)) (right j) /\ none_within (- \sum_r y' r * own r (origin j)) (left j)) ->
  0 < once_loss move y move' y' -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
have [B B0 start] := path_start tells room lives.
exact: (repeated_infinite tails left0 right0 noises (mO B) chain start (fun s => path_shown tells B s) B0 y0 y0' outside).
Qed.
End Repeated.
End Path.
