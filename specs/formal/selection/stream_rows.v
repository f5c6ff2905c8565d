(* The words that a stream tells, by rows (docs/theory/selection.md, told words): a stream that is followed on noises and answers tells words just where the
   rows of one of the ways hold, which are linear in the noises of all its steps, as the state is after each step. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic alignment word_runs stream_words noise_rows stream_paths.

(* The first of a list for which something holds is the one that holds where none before it does. *)
Lemma first_taken (B : nat) (p : pred 'I_B) :
  [pick b | p b && [forall b' : 'I_B, (b' < b)%N ==> ~~ p b']] = ohead [seq b <- enum 'I_B | p b].
Proof.
have srt : sorted (fun a b : 'I_B => (a < b)%N) [seq b <- enum 'I_B | p b].
  apply: sorted_filter; first by move=> x y z; exact: ltn_trans.
  by rewrite -[sorted _ _]/(sorted (relpre val ltn) (enum 'I_B)) -sorted_map val_enum_ord; exact: iota_ltn_sorted.
have head b0 s : [seq b <- enum 'I_B | p b] = b0 :: s -> p b0 /\ forall b : 'I_B, (b < b0)%N -> ~~ p b.
  move=> E; have : b0 \in [seq b <- enum 'I_B | p b] by rewrite E mem_head.
  rewrite mem_filter => /andP[pb _]; split=> // b lt; apply/negP => pb'.
  have : b \in [seq b <- enum 'I_B | p b] by rewrite mem_filter pb' mem_enum.
  rewrite E inE => /predU1P[e|bs]; first by rewrite e ltnn in lt.
  move: srt; rewrite E /= (path_sortedE (leT := fun a b : 'I_B => (a < b)%N)) => [/andP[/allP h _]|x y z]; last exact: ltn_trans.
  by have := ltn_trans lt (h b bs); rewrite ltnn.
case: pickP => [b /andP[pb /forallP nb]|none]; case E : [seq _ <- _ | _] => [|b0 s] //=.
- by have : b \in [seq b <- enum 'I_B | p b]; [rewrite mem_filter pb mem_enum | rewrite E].
- have [p0 n0] := head b0 s E; congr Some; apply: val_inj => /=; have [lt|lt|//] := ltngtP b b0.
  + by have := n0 b lt; rewrite pb.
  + by have := nb b0; rewrite lt p0.
- have [p0 n0] := head b0 s E; have := none b0; rewrite p0 /= => /negP h; exfalso; apply: h; apply/forallP => b; apply/implyP; exact: n0.
Qed.

Section Stream.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word).
Context (steps : nat) (q : nat -> 'I_m -> R).
Notation n := (once P + steps * fresh P)%N.
Notation seen := (once P + fresh P)%N.
Notation start_state := (start_state P).
Notation seen_noises := (seen_noises P).
Notation first_state := (first_state P).
Notation told_on := (told_on P steps q).
Let none : nat -> 'I_m -> R := fun _ _ => 0.

Definition as_row (G : linear R * bool) : row R := Row (of_number G.1) (const G.1) G.2.
Definition state := (nat * ('I_S -> linear R) * (C -> R))%type.
Definition at_start : state := (0%N, start_state, fun=> 0).

(* The branches of a step: the rows of its comparisons, what it says, and the state after it; none where the run has ended. *)
Definition step_branches (s : state) : seq (seq (row R) * option Word * state) :=
  if goes_on P s.1.1 s.2 then
    [seq ([seq as_row G | G <- followed_guards P q none s.1.1 s.1.2 s.2 b], says P b, (s.1.1.+1, state_after P q none s.1.1 s.1.2 s.2 b, counted P s.2 b))
      | b <- enum 'I_B]
  else [::].

Definition word_ways (lists : seq (seq (option Word))) : seq (seq (row R)) := all_ways (@row_negated R) step_branches lists at_start.

(* The words of an output begin with these. *)
Definition begins (words : seq (option Word)) (told : seq (option Word * seq R)) : bool := take (size words) [seq x.1 | x <- told] == words.

Section At.
Context (W : Type) (Z : nat -> W -> R) (w : W).
Notation e := (fun j => Z j w).
Notation holds_row := (fun w => row_holds n (fun j => Z j w)).

Lemma as_rowE (F : linear R) b : noise_rows.form_at n (as_row (F, b)) e = linear_at n F e 0.
Proof. by rewrite /noise_rows.form_at /linear_at /= mul0r addr0 addrC. Qed.

Lemma taken_map (rows : 'I_B -> seq (row R)) (after : 'I_B -> state) (s : seq 'I_B) :
  taken holds_row w [seq (rows b, says P b, after b) | b <- s] = omap (fun b => (says P b, after b)) (ohead [seq b <- s | all (holds_row w) (rows b)]).
Proof. by elim: s => //= b s IH; case: ifP. Qed.

Lemma followed_rows i st h b : (i < steps)%N ->
  all (holds P (seen_noises e) q i (fun a => linear_at n (st a) e 0) h) (guards P b) =
  all (holds_row w) [seq as_row G | G <- followed_guards P q none i st h b].
Proof.
move=> lt; have q0 l : q i l = q i l + 0 * none i l by rewrite mul0r addr0.
have z0 j : (j < seen)%N -> seen_noises e i j = e (place P i j) by [].
rewrite (guards_followed h (fun j js => place_lt js lt) z0 q0 (fun a => erefl (linear_at n (st a) e 0))).
by rewrite all_map; apply: eq_all => -[F b'] /=; rewrite /row_comes_out /row_holds as_rowE.
Qed.

Lemma tells_rows words i st h k : (i + size words <= steps)%N -> (size words <= k)%N ->
  begins words (told_from P (seen_noises e) q k i (fun a => linear_at n (st a) e 0) h) = word_runs.tells holds_row step_branches w words (i, st, h).
Proof.
elim: words i st h k => [|word words IH] i st h k; first by rewrite /begins take0.
rewrite /= addnS => is_; case: k => // k sk; have lt : (i < steps)%N by apply: leq_trans is_; rewrite ltnS leq_addr.
rewrite /begins /step_branches /=; case: (goes_on P i h) => //.
rewrite taken_map /branch_taken (first_taken (fun b => all (holds P (seen_noises e) q i (fun a => linear_at n (st a) e 0) h) (guards P b))).
rewrite (eq_filter (fun b => followed_rows st h b lt)); case: [seq _ <- _ | _] => //= b s.
rewrite eqseq_cons; congr (_ && _).
have E : (fun a => stream_paths.form_at seen (after P b a) (fun a => linear_at n (st a) e 0) (seen_noises e i) (q i) h) =
    fun a => linear_at n (state_after P q none i st h b a) e 0.
  apply/funext => a; have q0 l : q i l = q i l + 0 * none i l by rewrite mul0r addr0.
  have z0 j : (j < seen)%N -> seen_noises e i j = e (place P i j) by [].
  exact: (form_followed h (fun j js => place_lt js lt) z0 q0 (fun a => erefl (linear_at n (st a) e 0))).
by rewrite E; apply: IH => //; rewrite addSn.
Qed.

Theorem told_by_rows words : (size words <= steps)%N -> begins words (told_on e) = word_runs.tells holds_row step_branches w words at_start.
Proof.
move=> le; rewrite -(tells_rows start_state (fun=> 0) (i := 0) le le) /told_on; congr (begins _ (told_from _ _ _ _ _ _ _)).
by apply/funext => a; rewrite start_stateE// leq_addr.
Qed.
End At.
End Stream.
