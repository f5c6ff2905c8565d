(* A path of a stream, followed step by step (docs/theory/selection.md: streams, worst run), for the rules that look at the runs of a stream at given
   answers: the program with its draws, comparisons, state, counters and what it tells; what it tells on given noises; and the rows of a path, linear
   forms in the noises of all its steps, as the rules compute them, which come out just where the path is taken.
   The forms of a step are those of alignment.v; here the rests of forms look at the counters. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic alignment.

(* Forms and rows are compared for equality, as elements of lists. *)
Canonical form_eqType (R : realType) (H : Type) (S m : nat) := EqType (form R H S m) gen_eqMixin.

Section Streams.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType).
Notation form := (form R (C -> R) S m).

(* Noises that are drawn at the start, and in each step; the state at the start, in the noises of the start; the branches of a step: guards, strict or not,
   the word that is said, if one is, the numbers that are told, the state after it and by how much the counters grow, which begin at 0. The run ends where a
   counter is at its limit, or after the most steps, if there is such a number. In a step of_noise counts the noises of the start first, then its own. *)
Record stream := Stream {
  once : nat; fresh : nat; first_of_noise : 'I_S -> nat -> R; first_rest : 'I_S -> R;
  guards : 'I_B -> seq (form * bool); says : 'I_B -> option Word; tells : 'I_B -> seq form;
  after : 'I_B -> 'I_S -> form; grows : 'I_B -> C -> R; limit : C -> R; most_steps : option nat
}.

(* The value of a form; it is the one of alignment.v. *)
Definition form_at n (F : form) (u : 'I_S -> R) (z : nat -> R) (q : 'I_m -> R) (h : C -> R) :=
  \sum_a of_state F a * u a + \sum_(j < n) of_noise F j * z j + \sum_l of_answer F l * q l + rest F h.

Lemma form_atE n dS (State : measurableType dS) dW (W : measurableType dW) (Z : nat -> W -> R) (told : State -> C -> R) (u : 'I_S -> State -> R) F answers s z :
  value n Z told u F answers s z = form_at n F (u ^~ s) (Z ^~ z) (answers (told s)) (told s).
Proof. by []. Qed.

Section Walk.
Variable P : stream.
Let seen := (once P + fresh P)%N.

(* -- What is told -- *)

Section Concrete.
Variables (z : nat -> nat -> R) (q : nat -> 'I_m -> R). (* The noises that a step sees, and its answers. *)
Definition holds i (u : 'I_S -> R) h (G : form * bool) := let v := form_at seen G.1 u (z i) (q i) h in if G.2 then 0 < v else 0 <= v.
Definition is_taken i u h (b : 'I_B) :=
  all (holds i u h) (guards P b) && [forall b' : 'I_B, (b' < b)%N ==> ~~ all (holds i u h) (guards P b')].

(* It is the branch that alignment.v takes in a step. *)
Lemma is_takenE dS (State : measurableType dS) dW (W : measurableType dW) (Z : nat -> W -> R) (told : State -> C -> R)
    (state : 'I_S -> State -> R) answers s w i b :
  (forall j, z i j = Z j w) -> (forall l, q i l = answers (told s) l) ->
  is_taken i (state ^~ s) (told s) b = takes seen Z told state (guards P) answers s w b.
Proof.
move=> zE qE; have same G : holds i (state ^~ s) (told s) G = passes seen Z told state answers s w G.
  rewrite /holds /passes form_atE /form_at (eq_bigr _ (fun (j : 'I_seen) _ => congr1 ( *%R (of_noise G.1 j)) (zE j))).
  by rewrite (eq_bigr _ (fun l _ => congr1 ( *%R (of_answer G.1 l)) (qE l))).
rewrite /is_taken /takes (eq_all same); congr (_ && _); apply: eq_forallb => b'; by rewrite (eq_all same).
Qed.

Definition branch_taken i u h := [pick b | is_taken i u h b].
Definition goes_on i (h : C -> R) := [forall c, h c < limit P c] && (if most_steps P is Some k then (i < k)%N else true).

(* Words and numbers, step by step, of so many steps from step i. *)
Fixpoint told_from k i u h : seq (option Word * seq R) :=
  if k is k'.+1 then
    if goes_on i h then
      if branch_taken i u h is Some b then
        (says P b, [seq form_at seen F u (z i) (q i) h | F <- tells P b]) ::
          told_from k' i.+1 (fun a => form_at seen (after P b a) u (z i) (q i) h) (fun c => h c + grows P b c)
      else [::]
    else [::]
  else [::].
End Concrete.

(* What is told in the first steps, on answers and on the values of all noises: those of the start are numbered first, then those of each step. *)
Definition place i j := if (j < once P)%N then j else (j + i * fresh P)%N.
Definition first_state (e : nat -> R) a := \sum_(j < once P) first_of_noise P a j * e j + first_rest P a.
Definition seen_noises (e : nat -> R) (i j : nat) : R := e (place i j).
Definition told_on steps (q : nat -> 'I_m -> R) (e : nat -> R) := told_from (seen_noises e) q steps 0 (first_state e) (fun=> 0).

(* Words, and how many numbers with each of them; all numbers are looked at between -b and b. *)
Fixpoint shows (b : R) (words : seq (option Word * nat)) (told : seq (option Word * seq R)) :=
  match words, told with
  | (word, n) :: words', (said, numbers) :: told' =>
      [&& said == word, size numbers == n, all (fun v => - b <= v <= b) numbers & shows b words' told']
  | [::], [::] => true
  | _, _ => false
  end.
Definition says_of (b : 'I_B) := (says P b, size (tells P b)).
Definition silent (b : 'I_B) := (says P b == None) && nilp (tells P b).

(* -- The rows of a path -- *)

(* Which noise of a step a number is. *)
Definition kind j := if (j < once P)%N then j else (once P + (j - once P) %% fresh P)%N.

Lemma kind_place i j : (j < seen)%N -> kind (place i j) = j.
Proof.
rewrite /kind /place /seen => js; case: (ltnP j (once P)) => jo; first by rewrite jo.
rewrite ltnNge (leq_trans jo (leq_addr _ _))/= -addnBAC// [(_ - _ + _)%N]addnC modnMDl modn_small ?subnKC//.
by rewrite ltn_subLR.
Qed.

Lemma place_lt i j k : (j < seen)%N -> (i < k)%N -> (place i j < once P + k * fresh P)%N.
Proof.
rewrite /place /seen => js ik; case: ifP => [jo|/negbT]; first by apply: leq_trans jo _; exact: leq_addr.
rewrite -leqNgt => jo; apply: (@leq_trans (once P + fresh P + i * fresh P)); first by rewrite ltn_add2r.
by rewrite -addnA -mulSn leq_add2l leq_mul2r ik orbT.
Qed.

(* A form in the noises, a number that the answers give at the point, and what they add with each move, in units of the sensitivity. *)
Record linear := Linear { of_number : nat -> R; const : R; moved : R }.
Canonical linear_eqType := EqType linear gen_eqMixin.
Definition linear_at n (F : linear) (e : nat -> R) (s : R) := \sum_(j < n) of_number F j * e j + const F + s * moved F.
Definition turned (F : linear) := Linear (fun j => - of_number F j) (- const F) (- moved F).

Lemma turned_at n F e s : linear_at n (turned F) e s = - linear_at n F e s.
Proof. by rewrite /linear_at/= (eq_bigr (fun j : 'I_n => - (of_number F j * e j))) ?sumrN => [|j _]; rewrite ?mulNr//; lra. Qed.

(* The state at the start. *)
Definition start_state a := Linear (fun j => if (j < once P)%N then first_of_noise P a j else 0) (first_rest P a) 0.

Lemma start_stateE n e s a : (once P <= n)%N -> linear_at n (start_state a) e s = first_state e a.
Proof.
move=> le; rewrite /linear_at /first_state /= mulr0 addr0.
rewrite (big_ord_widen n (fun j => first_of_noise P a j * e j) le) [X in _ = X + _]big_mkcond/=; congr (_ + _).
by apply: eq_bigr => j _; case: ifP => // _; rewrite mul0r.
Qed.

Section Symbolic.
Variables (n : nat) (q d : nat -> 'I_m -> R) (z : nat -> R). (* The point: answers, how they move, and the values of the noises by their numbers. *)

(* A form of a step, in the noises of the run. *)
Definition in_noises i (st : 'I_S -> linear) h (F : form) := Linear
  (fun j => \sum_a of_state F a * of_number (st a) j + \sum_(j' < seen) of_noise F j' * (j == place i j')%:R)
  (\sum_a of_state F a * const (st a) + \sum_l of_answer F l * q i l + rest F h)
  (\sum_a of_state F a * moved (st a) + \sum_l of_answer F l * d i l).

Lemma in_noisesE i st h F e s : (forall j, (j < seen)%N -> (place i j < n)%N) ->
  form_at seen F (fun a => linear_at n (st a) e s) (fun j => e (place i j)) (fun l => q i l + s * d i l) h = linear_at n (in_noises i st h F) e s.
Proof.
move=> lt; rewrite /linear_at /form_at /=.
have -> : \sum_a of_state F a * (\sum_(j < n) of_number (st a) j * e j + const (st a) + s * moved (st a)) =
    \sum_(j < n) (\sum_a of_state F a * of_number (st a) j) * e j + \sum_a of_state F a * const (st a) + s * \sum_a of_state F a * moved (st a).
  rewrite (eq_bigr (fun a => \sum_(j < n) of_state F a * of_number (st a) j * e j + of_state F a * const (st a) + s * (of_state F a * moved (st a)))).
    rewrite !big_split/= exchange_big/= mulr_sumr; congr (_ + _ + _); apply: eq_bigr => j _; by rewrite mulr_suml.
  by move=> a _; rewrite !mulrDr mulr_sumr [X in _ + X = _]mulrCA; congr (_ + _ + _); apply: eq_bigr => j _; rewrite mulrA.
have -> : \sum_l of_answer F l * (q i l + s * d i l) = \sum_l of_answer F l * q i l + s * \sum_l of_answer F l * d i l.
  by rewrite mulr_sumr -big_split/=; apply: eq_bigr => l _; rewrite mulrDr mulrCA.
have -> : \sum_(j < n) (\sum_a of_state F a * of_number (st a) j + \sum_(j' < seen) of_noise F j' * (j == place i j' :> nat)%:R) * e j =
    \sum_(j < n) (\sum_a of_state F a * of_number (st a) j) * e j + \sum_(j' < seen) of_noise F j' * e (place i j').
  rewrite (eq_bigr _ (fun (j : 'I_n) _ => mulrDl _ _ _)) big_split/=; congr (_ + _).
  under eq_bigr do rewrite mulr_suml.
  rewrite exchange_big/=; apply: eq_bigr => j' _; rewrite (bigD1 (Ordinal (lt j' (ltn_ord j'))))//= eqxx mulr1 big1 ?addr0// => j ne.
  by rewrite (_ : (_ == _ :> nat) = false) ?mulr0 ?mul0r//; apply: negbTE; apply: contraNneq ne => e'; apply/eqP/val_inj.
lra.
Qed.

(* No noise and no move changes it. *)
Definition settled (F : linear) := [forall j : 'I_n, of_number F j == 0] && (moved F == 0).
Definition at_point (F : linear) := linear_at n F z 0.
Definition comes_out_there (G : linear * bool) := if G.2 then 0 < at_point G.1 else 0 <= at_point G.1.

Lemma settled_at F e s : settled F -> linear_at n F e s = at_point F.
Proof.
move=> /andP[/forallP f0 /eqP m0]; rewrite /at_point /linear_at m0 !mulr0 !big1// => j _; by rewrite (eqP (f0 j)) mul0r.
Qed.

Section Step.
Variables (i : nat) (st : 'I_S -> linear) (h : C -> R).
Definition followed_guards b := [seq (in_noises i st h G.1, G.2) | G <- guards P b].
Definition open_guards b := [seq G <- followed_guards b | ~~ settled G.1].
Definition surely_fails b := has (fun G => settled G.1 && ~~ comes_out_there G) (followed_guards b).

(* What is kept: the comparisons of the branch that are not settled; of each earlier branch, where none that is settled fails, those that are not settled,
   turned; and what is told. None stands with what is told, and whether it is strict with a comparison. *)
Definition kept_rows b : seq (linear * option bool) := [seq (G.1, Some G.2) | G <- open_guards b].
Definition turned_rows b : seq (linear * option bool) :=
  if surely_fails b then [::] else [seq (turned G.1, Some (~~ G.2)) | G <- open_guards b].
Definition earlier (b : 'I_B) := [seq b' : 'I_B <- enum 'I_B | (b' < b)%N].
Definition told_rows b : seq (linear * option bool) := [seq (in_noises i st h F, None) | F <- tells P b].
Definition step_rows b := kept_rows b ++ flatten [seq turned_rows b' | b' <- earlier b] ++ told_rows b.

(* What is checked of a step at the point: no counter has reached its limit; every other branch tells something else, or one of its comparisons is settled and
   fails, or it comes later and all comparisons of this one are settled; the comparisons of the branch hold, those that are not settled with room; and of each
   earlier branch one that is settled fails, or all these hold and one alone is not settled, and fails with room. *)
Record step_checked (b : 'I_B) : Prop := StepChecked {
  below_limits : forall c, h c < limit P c;
  told_alone : forall b', b' != b ->
    [\/ says_of b' != says_of b, surely_fails b' | (b < b')%N /\ all (fun G => settled G.1) (followed_guards b)];
  own_hold : all (fun G => if settled G.1 then comes_out_there G else 0 < at_point G.1) (followed_guards b);
  earlier_fail : forall b' : 'I_B, (b' < b)%N -> surely_fails b' \/
    [/\ all (fun G => settled G.1 ==> comes_out_there G) (followed_guards b'), size (open_guards b') = 1%N &
      all (fun G => at_point G.1 < 0) (open_guards b')]
}.

Definition row_comes_out (bd : R) (e : nat -> R) (s : R) (r : linear * option bool) :=
  let v := linear_at n r.1 e s in if r.2 is Some strict then if strict then 0 < v else 0 <= v else - bd <= v <= bd.

Hypothesis below_n : forall j, (j < seen)%N -> (place i j < n)%N.
Variables (e : nat -> R) (s : R) (z' : nat -> nat -> R) (q' : nat -> 'I_m -> R) (i' : nat) (u : 'I_S -> R).
Hypotheses (same_noises : forall j, (j < seen)%N -> z' i' j = e (place i j)) (same_answers : forall l, q' i' l = q i l + s * d i l).
Hypothesis same_state : forall a, u a = linear_at n (st a) e s.

Lemma form_followed F : form_at seen F u (z' i') (q' i') h = linear_at n (in_noises i st h F) e s.
Proof.
rewrite -in_noisesE//; congr (_ + _ + _ + _); apply: eq_bigr => x _; by rewrite ?same_noises ?same_answers ?same_state ?ltn_ord.
Qed.

Let out (G : linear * bool) := row_comes_out 0 e s (G.1, Some G.2).

Lemma guards_followed b : all (holds z' q' i' u h) (guards P b) = all out (followed_guards b).
Proof. by rewrite /followed_guards all_map; apply: eq_all => G; rewrite /holds form_followed. Qed.

Lemma settled_out G : settled G.1 -> out G = comes_out_there G.
Proof. by move=> sG; rewrite /out /row_comes_out /comes_out_there /= settled_at. Qed.

(* Where the settled ones hold it hangs on the others. *)
Lemma guards_open b : all (fun G => settled G.1 ==> comes_out_there G) (followed_guards b) ->
  all out (followed_guards b) = all out (open_guards b).
Proof.
rewrite /open_guards; elim: (followed_guards b) => //= G gs IH /andP[hG /IH ->].
by move: hG; case: ifPn => [//|]; rewrite negbK => sG; rewrite sG /= settled_out// => ->.
Qed.

Lemma taken_followed b : step_checked b -> is_taken z' q' i' u h b = all (row_comes_out 0 e s) (kept_rows b ++ flatten [seq turned_rows b' | b' <- earlier b]).
Proof.
move=> ck; rewrite /is_taken all_cat; congr (_ && _).
  rewrite guards_followed guards_open; first by rewrite /kept_rows all_map.
  apply: sub_all (own_hold ck) => G; by case: (settled _).
have one (b' : 'I_B) : (b' < b)%N -> ~~ all (holds z' q' i' u h) (guards P b') = all (row_comes_out 0 e s) (turned_rows b').
  move=> /(earlier_fail ck) [fails|[hold one fails]].
    rewrite /turned_rows fails /=; apply/negP; rewrite guards_followed => /allP h'.
    have /hasP[G Gin /andP[sG]] := fails; by rewrite -settled_out// h'.
  have nf : surely_fails b' = false.
    by apply/negP => /hasP[G Gin /andP[sG]]; rewrite (implyP (allP hold G Gin)).
  rewrite /turned_rows nf guards_followed guards_open//; case: (open_guards b') one => [//|G [|//]] _ /=; rewrite !andbT.
  rewrite /out /row_comes_out /= turned_at; case: G.2 => /=; first by rewrite -leNgt oppr_ge0.
  by rewrite -ltNge oppr_gt0.
rewrite /earlier; apply/forallP/allP => [h' r /flattenP[rs /mapP[b' b'in ->] rin]|h' b'].
  move: b'in; rewrite mem_filter => /andP[lt _]; have := implyP (h' b') lt; rewrite one// => /allP; exact.
apply/implyP => lt; rewrite one//; apply/allP => r rin; apply: h'; apply/flattenP; exists (turned_rows b') => //.
by apply/mapP; exists b'; rewrite // mem_filter lt mem_enum.
Qed.

(* A branch that fails is not taken, nor one after a branch that holds. *)
Lemma never_taken b b' : step_checked b -> surely_fails b' \/ (b < b')%N /\ all (fun G => settled G.1) (followed_guards b) ->
  is_taken z' q' i' u h b' = false.
Proof.
move=> ck [/hasP[G Gin /andP[sG /negP no]]|[lt /allP all_settled]]; apply/negP => /andP[h' /forallP l'].
  by move: h'; rewrite guards_followed => /allP/(_ G Gin); rewrite settled_out.
have /negP := implyP (l' b) lt; apply; rewrite guards_followed; apply/allP => G Gin.
by have := allP (own_hold ck) G Gin; rewrite settled_out all_settled.
Qed.

Lemma numbers_followed bd b : all (fun v => - bd <= v <= bd) [seq form_at seen F u (z' i') (q' i') h | F <- tells P b] =
  all (row_comes_out bd e s) (told_rows b).
Proof. by rewrite /told_rows !all_map; apply: eq_all => F /=; rewrite form_followed. Qed.

(* Comparisons do not hang on the bound of numbers. *)
Lemma comparisons_alone bd b : all (row_comes_out bd e s) (kept_rows b ++ flatten [seq turned_rows b' | b' <- earlier b]) =
  all (row_comes_out 0 e s) (kept_rows b ++ flatten [seq turned_rows b' | b' <- earlier b]).
Proof.
rewrite !all_cat; congr (_ && _); first by rewrite /kept_rows !all_map; exact: eq_all.
elim: (earlier b) => //= b' bs IH; rewrite !all_cat IH; congr (_ && _).
by rewrite /turned_rows; case: ifP => // _; rewrite !all_map; exact: eq_all.
Qed.
End Step.

(* The state after a step, and the counters. *)
Definition state_after i st h b a := in_noises i st h (after P b a).
Definition counted (h : C -> R) b c := h c + grows P b c.

Fixpoint path_rows path i st h := if path is b :: rest then
  step_rows i st h b ++ path_rows rest i.+1 (state_after i st h b) (counted h b) else [::].
Fixpoint path_checked path i st h : Prop := if path is b :: rest then
  step_checked i st h b /\ path_checked rest i.+1 (state_after i st h b) (counted h b) else True.
Fixpoint path_end path i st h := if path is b :: rest then path_end rest i.+1 (state_after i st h b) (counted h b) else (st, h).

Lemma path_rows_cat p p' i st h : path_rows (p ++ p') i st h =
  path_rows p i st h ++ path_rows p' (i + size p) (path_end p i st h).1 (path_end p i st h).2.
Proof. by elim: p i st h => [|b p IH] i st h /=; rewrite ?addn0// IH catA addnS addSn. Qed.

Lemma path_checked_cat p p' i st h : path_checked (p ++ p') i st h <->
  path_checked p i st h /\ path_checked p' (i + size p) (path_end p i st h).1 (path_end p i st h).2.
Proof.
elim: p i st h => [|b p IH] i st h /=; first by rewrite addn0; split=> [|[]].
rewrite addnS -addSn; split=> [[ok /IH[ok1 ok2]]|[[ok ok1] ok2]]; split=> //; exact/IH.
Qed.

Lemma path_end_cat p p' i st h : path_end (p ++ p') i st h = path_end p' (i + size p) (path_end p i st h).1 (path_end p i st h).2.
Proof. by elim: p i st h => [|b p IH] i st h /=; rewrite ?addn0// IH addnS -addSn. Qed.

(* At given noises and answers the run takes the path, and tells numbers within the bound, just where the rows come out; then it goes on from the state
   after the path. The steps of the run may be others than those by which the path is numbered. *)
Theorem path_told k bd e s z' q' path i i' h st words l : (forall i j, (i < k)%N -> (j < seen)%N -> (place i j < n)%N) -> (i + size path <= k)%N ->
  (forall t j, (t < size path)%N -> (j < seen)%N -> z' (i' + t)%N j = e (place (i + t) j)) ->
  (forall t a, (t < size path)%N -> q' (i' + t)%N a = q (i + t)%N a + s * d (i + t)%N a) ->
  (if most_steps P is Some most then (i' + size path <= most)%N else true) -> path_checked path i st h ->
  shows bd ([seq says_of b | b <- path] ++ words) (told_from z' q' (size path + l) i' (fun a => linear_at n (st a) e s) h) =
  all (row_comes_out bd e s) (path_rows path i st h) &&
    shows bd words (told_from z' q' l (i' + size path) (fun a => linear_at n ((path_end path i st h).1 a) e s) (path_end path i st h).2).
Proof.
move=> lt; elim: path i i' st h => [|b path IH] i i' st h /= ik zs qs most ck; first by rewrite addn0.
have [ckb ckp] := ck; have ik' : (i < k)%N by apply: leq_trans ik; rewrite addnS ltnS leq_addr.
have -> : goes_on i' h.
  apply/andP; split; first by apply/forallP; exact: below_limits ckb.
  by move: most; case: (most_steps P) => // Q; apply: leq_trans; rewrite addnS ltnS leq_addr.
have z0 j : (j < seen)%N -> z' i' j = e (place i j) by have := zs 0%N j isT; rewrite !addn0.
have q0 a : q' i' a = q i a + s * d i a by have := qs 0%N a isT; rewrite !addn0.
set u := fun a => linear_at n (st a) e s.
have tk := taken_followed (fun j js => lt i j ik' js) z0 q0 (fun a => erefl (u a)) ckb.
have once_ b1 b2 : is_taken z' q' i' u h b1 -> is_taken z' q' i' u h b2 -> b1 = b2.
  move=> /andP[h1 /forallP l1] /andP[h2 /forallP l2]; have [lt'|lt'|e'] := ltngtP b1 b2; last exact: val_inj.
  - by have /negP := implyP (l2 b1) lt'; case.
  - by have /negP := implyP (l1 b2) lt'; case.
rewrite /step_rows catA 2!all_cat comparisons_alone -tk.
rewrite /branch_taken; case: pickP => [b' tb'|none]; last by rewrite none.
have [eb|nb] := eqVneq b' b; last first.
  rewrite (_ : is_taken _ _ _ _ _ b = false) /=; last by apply/negP => tb; have := once_ _ _ tb' tb => eb; rewrite eb eqxx in nb.
  have never := never_taken (fun j js => lt i j ik' js) z0 q0 (fun a => erefl (u a)) ckb.
  have [differs|fails|later] := told_alone ckb nb; [|by rewrite (never b' (or_introl fails)) in tb'|by rewrite (never b' (or_intror later)) in tb'].
  move: differs; rewrite /says_of xpair_eqE negb_and size_map => /orP[/negbTE->//|/negbTE->/=]; by rewrite andbF.
subst b'; rewrite tb' /= eqxx size_map eqxx /= (numbers_followed h (fun j js => lt i j ik' js) z0 q0 (fun a => erefl (u a))).
rewrite -andbA; congr (_ && _).
rewrite (_ : (fun a => form_at _ _ _ _ _ _) = (fun a => linear_at n (state_after i st h b a) e s)); last first.
  by apply/funext => a; rewrite (form_followed h (fun j js => lt i j ik' js) z0 q0 (fun a => erefl (u a))).
have := IH i.+1 i'.+1 (state_after i st h b) (counted h b); rewrite !addSn !addnS => ->//.
- by rewrite -addnS.
- by move=> t j ts; have := zs t.+1 j ts; rewrite !addnS !addSn.
- by move=> t a ts; have := qs t.+1 a ts; rewrite !addnS !addSn.
- by move: most; case: (most_steps P) => // Q; rewrite addnS.
Qed.

(* The rows that are comparisons hold at the point with room. *)
Lemma path_room path i st h : path_checked path i st h -> forall r strict, (r, Some strict) \in path_rows path i st h -> 0 < at_point r.
Proof.
elim: path i st h => //= b path IH i st h [ck ckp] r strict; rewrite mem_cat => /orP[|]; last exact: IH ckp r strict.
rewrite /step_rows !mem_cat => /or3P[/mapP[G Gin [-> _]]|/flattenP[rs /mapP[b' b'in ->]]|/mapP[F _]]//.
  by move: Gin; rewrite mem_filter => /andP[/negbTE op Gin]; have := allP (own_hold ck) G Gin; rewrite op.
rewrite mem_filter in b'in; have /andP[lt _] := b'in; rewrite /turned_rows; case: ifP => // nf /mapP[G Gin [-> _]].
have [fails|[_ _ fails]] := earlier_fail ck lt; first by rewrite fails in nf.
by rewrite /at_point turned_at oppr_gt0; exact: allP fails G Gin.
Qed.
End Symbolic.
End Walk.
End Streams.
