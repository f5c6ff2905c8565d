(* Words that several runs of a stream tell (docs/theory/selection.md, worst words): answers that are far apart in one direction and move in another lose
   at least, in the limit, what each of the runs loses at the end, by weights of its rows, less what one of them costs at the start. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic independent log_concave worst_run_limits stream_neighbours stream_paths stream_rows far_apart moving_words.

Section Rule.
Context (R : realType) (mu lam : nat -> {measure set R -> \bar R}) (left right : nat -> option R) (mu1 : forall j, mu j setT = 1%E).
(* Log-concave noises, with positive or infinite slopes, on the reals or on the integers. *)
Hypotheses (slopes : forall j, has_slopes (lam j) (mu j) (left j) (right j)) (kept1 : forall j, keeps (lam j) 1) (kept1' : forall j, keeps (lam j) (- 1)).
Hypotheses (left0 : forall j, positive_slope (left j)) (right0 : forall j, positive_slope (right j)).
Context (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (steps : nat).
Notation n := (once P + steps * fresh P)%N.
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (words : seq (option Word)).
Hypothesis in_time : (size words <= steps)%N.

(* The mechanism has an input for all answers that data may have; that its output begins with the words has the probability that the stream tells them.
   Neighbours are, at least, inputs of which the answers move so. *)
Context (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (shown : set Y).
Context (may : (nat -> 'I_m -> R) -> Prop) (input : (nat -> 'I_m -> R) -> X) (D : R).
Context (p : nat) (vertex : 'I_p -> 'I_m -> R) (families : family -> Prop).
Hypothesis m_shown : measurable shown.
Hypothesis shows_words : forall q, may q -> M (input q) shown = nu [set w | begins words (told_on P steps q (fun j => Z j w))].
Hypothesis neighbours : forall q q' f dq, may q -> may q' -> families f -> together vertex f steps dq ->
  (forall i l, (i < steps)%N -> q' i l = q i l + D * dq i l) -> N (input q) (input q').

(* Answers at a point, the direction in which they are far apart, and how they move; T is 1, or on the integers such that T times the directions are
   integers. *)
Context (q far dq : nat -> 'I_m -> R) (f : family) (T : nat).
Hypotheses (T0 : (0 < T)%N) (in_families : families f) (moved : together vertex f steps dq).
Definition answers_at (k s : nat) i l : R := q i l + (k * T)%:R * (D * far i l) + s%:R * (D * dq i l).
Hypothesis may_be : forall k s, may (answers_at k s).

(* The noises at the point, where they live, and the direction in which they move, by multiples that keep the integers; what the slopes say that it costs. *)
Context (whole : pred nat) (z v cost : nat -> R).
Hypothesis lives : forall j, (j < n)%N -> if whole j then is_true (0 < mu j [set z j])%E
  else forall e, 0 < e -> (0 < mu j `](z j - e)%R, (z j + e)%R[%classic)%E.
Hypothesis kept : forall j k, (j < n)%N -> keeps (lam j) ((k * T)%:R * (D * v j)).
Hypothesis costs : forall j, (j < n)%N -> slope_cost (left j) (right j) (D * v j) (cost j).

(* One of the runs that tell the words holds at the point, with room, and goes on to hold; and by weights of its rows each of them loses so much at the end,
   where the answers have moved. *)
Context (rs : run_rows R) (last : R).
Hypothesis main_run : List.In rs (moving_runs P q (fun i l => D * far i l) words).
Hypothesis holds_on : forall G, List.In G rs -> goes_on_there P steps whole z (fun j => D * v j) G.
Hypothesis all_lose : forall rs', List.In rs' (moving_runs P q (fun i l => D * (far i l + dq i l)) words) -> run_lost P steps left right last rs'.

(* Rule: worst-words, lower. *)
Theorem worst_words_rule : ((last - \sum_(j < n) cost j)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
have tails j : has_tails (mu j) (left j) (right j) by exact: (log_concave_tails (mu1 j) (slopes j)).
have at_first k : M (input (answers_at k 0)) shown = nu (some_run P steps Z (moving_runs P q (fun i l => D * far i l) words) (k * T)%:R).
  rewrite shows_words//; congr (nu _); apply/seteqP; split=> w; rewrite /some_run /= -told_moving//;
    by rewrite (_ : answers_at k 0 = fun i l => q i l + (k * T)%:R * (D * far i l))//; apply/funext => i; apply/funext => l; rewrite /answers_at mul0r addr0.
have at_last k : M (input (answers_at k (k * T))) shown =
    nu (some_run P steps Z (moving_runs P q (fun i l => D * (far i l + dq i l)) words) (k * T)%:R).
  rewrite shows_words//; congr (nu _); apply/seteqP; split=> w; rewrite /some_run /= -told_moving//;
    by rewrite (_ : answers_at k (k * T) = fun i l => q i l + (k * T)%:R * (D * (far i l + dq i l)))//; apply/funext => i; apply/funext => l;
      rewrite /answers_at; lra.
have [c c0 first_] := starts_slowly noises slopes lives costs main_run holds_on kept.
apply: (far_lower (x := fun k s => input (answers_at k s)) (T := T) m_shown T0 _ c0).
- move=> k s _; apply: (neighbours (may_be k s) (may_be k s.+1) in_families moved) => i l _.
  by rewrite /answers_at -natr1; lra.
- by apply: sumr_ge0 => j _; case: (costs (ltn_ord j)).
- by move=> k; rewrite at_first.
- move=> t t0 t1; have [K K0 falls] := runs_fall noises tails t0 t1 all_lose.
  by exists K => k; rewrite at_last; exact: falls.
Qed.
End Rule.
