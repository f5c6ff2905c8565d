(* Streams from below (docs/theory/selection.md, worst run), steps that are repeated, as the rule checks them: the program is followed once, some of its steps
   leave the state, as forms in the noises and at the point, and the counters as they were, and the weights are for one time. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic independent worst_run_limits worst_run_rule alignment stream_paths stream_noises stream_neighbours.
From dpverify Require Import exponents repeated_numbers worst_run_followed.

(* Numbers that are drawn in no step of a path, and that no form of the state has, are in none of its rows. *)
Section Avoided.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (n : nat) (q d : nat -> 'I_m -> R) (z : nat -> R).
Variable U : nat -> Prop.

Lemma form_avoids i st h F j : (forall a, of_number (st a) j = 0) -> (forall j', (j' < once P + fresh P)%N -> place P i j' <> j) ->
  of_number (in_noises P q d i st h F) j = 0.
Proof.
move=> s0 away /=; rewrite !big1 ?addr0// => [j' _|a _]; last by rewrite s0 mulr0.
by rewrite (_ : (j == _) = false) ?mulr0//; apply/eqP => e; apply: (away j').
Qed.

Lemma path_avoids path i st h : (forall a j, U j -> of_number (st a) j = 0) ->
  (forall t j, (t < size path)%N -> (j < once P + fresh P)%N -> ~ U (place P (i + t) j)) ->
  (forall r j, r \in path_rows P n q d z path i st h -> U j -> of_number r.1 j = 0) /\
  forall a j, U j -> of_number ((path_end P q d path i st h).1 a) j = 0.
Proof.
elim: path i st h => [|b path IH] i st h s0 away /=; first by split.
have here F j : U j -> of_number (in_noises P q d i st h F) j = 0.
  move=> Uj; apply: form_avoids => [a|j' lt e]; first exact: s0.
  by apply: (away 0%N j') => //; rewrite addn0 e.
have [||rows ends] := IH i.+1 (state_after P q d i st h b) (counted P h b).
- by move=> a j Uj; exact: here.
- by move=> t j lt; rewrite addSn -addnS; exact: away.
split=> // r j; rewrite mem_cat => /orP[|]; last exact: rows.
have guard b' G : G \in open_guards P n q d i st h b' -> U j -> of_number G.1 j = 0.
  by rewrite mem_filter => /andP[_ /mapP[G' _ ->]]; exact: here.
rewrite /step_rows !mem_cat => /or3P[/mapP[G Gin ->]|/flattenP[rs /mapP[b' _ ->]]|/mapP[F _ ->]].
- exact: (guard b).
- by rewrite /turned_rows; case: ifP => // _ /mapP[G Gin ->] Uj /=; rewrite (guard b' G)// oppr0.
- exact: here.
Qed.
End Avoided.

(* A sum over the rows of three lists, one after the other. *)
Lemma sum_of_two (R : realType) (T : Type) (t : T) (A A' : seq T) (y : nat -> R) (F : T -> R) :
  \sum_(r < size (A ++ A')) y r * F (nth t (A ++ A') r) = \sum_(r < size A) y r * F (nth t A r) + \sum_(r < size A') y (size A + r)%N * F (nth t A' r).
Proof.
rewrite size_cat big_split_ord /=; congr (_ + _); apply: eq_bigr => r _; rewrite nth_cat; first by rewrite ltn_ord.
by rewrite ltnNge leq_addr addKn.
Qed.

Section Rule.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (laws : nat -> noise R).
Context (dW : nat -> measure_display) (W : forall k, measurableType (dW k)) (nu : forall k, {measure set (W k) -> \bar R}) (Z : forall k, nat -> W k -> R).
Hypothesis noises : stream_noises P laws nu (@Z).
Context d (Y : measurableType d) (M : mechanism R (nat -> 'I_m -> R) Y) (O : seq (option Word * nat) -> R -> set Y).
Hypotheses (mechanism : stream_mechanism P nu (@Z) M O) (each_tells : forall b, ~~ silent P b).
Context (v : nat) (vertex : 'I_v -> 'I_m -> R) (families : family -> Prop) (sensitivity D : R) (whole : bool).
Variables (f : family) (q d_ : nat -> 'I_m -> R) (z : nat -> R) (before block behind : seq 'I_B).
Let path := before ++ block ++ behind.
Let n := (once P + size path * fresh P)%N.
Hypotheses (some_block : (0 < size block)%N) (declared : families f) (moves : together vertex f (size path) d_).
Hypothesis whole_answers : whole -> forall i l, (i < size path)%N -> whole_number (q i l).
Hypothesis whole_moves : whole -> forall i l, (i < size path)%N -> whole_number (D * d_ i l).
Hypothesis moved_by : D = sensitivity \/ [/\ 0 <= D, D <= sensitivity & if f is (Hull | Opposites) then in_hull vertex (fun=> 0) else True].
Hypothesis point : forall j, (j < n)%N -> lives (laws (kind P j)) (z j).
Hypothesis checked : path_checked P n q d_ z path 0 (start_state P) (fun=> 0).

(* Where one answer alone moves, it does not in the steps that are repeated. *)
Hypothesis one_stays : f = Single -> forall i l, (size before <= i)%N -> (i < size before + size block)%N -> d_ i l = 0.

(* The state and the counters before the steps that are repeated, and after them. *)
Let from := path_end P q d_ before 0 (start_state P) (fun=> 0).
Let upto := path_end P q d_ block (size before) from.1 from.2.
Hypothesis kept : (forall a, [/\ of_number (upto.1 a) =1 of_number (from.1 a), moved (upto.1 a) = moved (from.1 a) &
  at_point n z (upto.1 a) = at_point n z (from.1 a)]) /\ upto.2 =1 from.2.

(* Weights of the rows, for one time. *)
Variable y : nat -> R.
Notation rows := (path_rows_of P q d_ z path).
Hypothesis weights : forall r, (r < size rows)%N -> isSome (row_at rows r).2 -> 0 <= y r.
Let drawn j := ((once P + size before * fresh P <= j)%N && (j < once P + size before * fresh P + size block * fresh P)%N).
Notation sum_at := (sum_at P q d_ z path y).
Notation value_of_weights := (value_of_weights P q d_ z path y).

(* So many times. *)
Section Times.
Variable k : nat.
Hypotheses (k0 : (0 < k)%N) (in_time : if most_steps P is Some most then (size before + k * size block + size behind <= most)%N else true).
Let steps := (size before + k * size block + size behind)%N.
Let run := before ++ flatten (nseq k block) ++ behind.
Let lo := (once P + size before * fresh P)%N.
Let part := (size block * fresh P)%N.
Let rest := (size behind * fresh P)%N.
Let nE : n = once_all lo part rest. Proof. by rewrite /n /path !size_cat /once_all /lo /part /rest !mulnDl !addnA. Qed.
Let stepsE : (once P + steps * fresh P = repeated_all k lo part rest)%N.
Proof. by rewrite /steps /repeated_all /lo /part /rest !mulnDl !addnA mulnA. Qed.
Let in_copy c j := numbered k lo part c j.

(* Steps of the run, and those that they repeat. *)
Definition source i := if (i < size before)%N then i else
  if (i < size before + k * size block)%N then (size before + (i - size before) %% size block)%N else (i - k.-1 * size block)%N.

Lemma source_lt i : (i < steps)%N -> (source i < size path)%N.
Proof. by move=> lt; have := @origin_lt k (size before) (size block) (size behind) k0 i lt; rewrite /once_all /path !size_cat addnA. Qed.

Lemma source_block c t : (c < k)%N -> (t < size block)%N -> source (size before + c * size block + t) = (size before + t)%N.
Proof.
move=> ck tb; have -> : (size before + c * size block + t = numbered k (size before) (size block) c (size before + t))%N.
  rewrite /numbered ifF; last by apply/negbTE; rewrite -leqNgt leq_addr.
  by rewrite ifT ?ltn_add2l// addnAC.
by apply: (@origin_numbered k _ _ (size behind) k0 c) => //; rewrite /once_all -addnA ltn_add2l ltn_addr.
Qed.

Lemma source_behind t : (t < size behind)%N -> source (size before + k * size block + t) = (size before + size block + t)%N.
Proof.
move=> tb; have -> : (size before + k * size block + t = numbered k (size before) (size block) 0 (size before + size block + t))%N.
  rewrite /numbered ifF; last by apply/negbTE; rewrite -leqNgt -addnA leq_addr.
  rewrite ifF; last by apply/negbTE; rewrite -leqNgt leq_addr.
  by rewrite (last_part _ k0); ring.
by apply: (@origin_numbered k _ _ (size behind) k0 0) => //; rewrite /once_all ltn_add2l.
Qed.

Lemma place_before t c j : (t < size before)%N -> (j < once P + fresh P)%N -> place P t j = in_copy c (place P t j).
Proof. by move=> tb js; rewrite /in_copy /numbered (place_lt js tb). Qed.

Let low j i : (once P <= j)%N -> (size before <= i)%N -> (j + i * fresh P < lo)%N = false.
Proof. by move=> oj bi; apply/negbTE; rewrite -leqNgt /lo leq_add// leq_mul2r bi orbT. Qed.

Lemma place_block c t j : (t < size block)%N -> (j < once P + fresh P)%N ->
  place P (size before + c * size block + t) j = in_copy c (place P (size before + t) j).
Proof.
move=> tb js; have hi := place_lt js (_ : size before + t < size before + size block)%N; rewrite ltn_add2l mulnDl addnA in hi; have {hi} := hi tb.
rewrite /in_copy /numbered /place; case: ifP => jo; first by rewrite (leq_trans jo (leq_addr _ _)).
rewrite low ?leq_addr//; last by rewrite leqNgt jo.
by move=> ->; rewrite /part; ring.
Qed.

Lemma place_behind c t j : (j < once P + fresh P)%N ->
  place P (size before + k * size block + t) j = in_copy c (place P (size before + size block + t) j).
Proof.
move=> js; rewrite /in_copy /numbered /place; case: ifP => jo; first by rewrite (leq_trans jo (leq_addr _ _)).
have oj : (once P <= j)%N by rewrite leqNgt jo.
rewrite low//; last by rewrite -addnA leq_addr.
rewrite ltnNge (_ : (lo + part <= _)%N) /=; last by rewrite /lo /part !mulnDl -!addnA leq_add// leq_add2l leq_addr.
by rewrite /part (last_part _ k0); ring.
Qed.

(* -- What the run tells -- *)
Let rows_before := path_rows P n q d_ z before 0 (start_state P) (fun=> 0).
Let rows_block := path_rows P n q d_ z block (size before) from.1 from.2.
Let rows_behind := path_rows P n q d_ z behind (size before + size block) from.1 from.2.

Lemma upto_from : upto = from.
Proof.
move: kept; case: (upto) (from) => [st h] [st' h'] /= [same hE]; congr (_, _); apply/funext => // a.
have [ofE mE] := same a; rewrite /at_point /linear_at !mul0r !addr0.
rewrite (eq_bigr (fun j : 'I_n => of_number (st' a) j * z j)) => [/addrI cE|j _]; last by rewrite ofE.
by move: ofE mE cE; case: (st a) (st' a) => [o c mv] [o' c' mv'] /= /funext-> -> ->.
Qed.

Lemma rows_parts : path_rows P n q d_ z path 0 (start_state P) (fun=> 0) = rows_before ++ rows_block ++ rows_behind.
Proof. by rewrite /path !path_rows_cat add0n -/from -/upto upto_from. Qed.

Lemma checked_parts : [/\ path_checked P n q d_ z before 0 (start_state P) (fun=> 0), path_checked P n q d_ z block (size before) from.1 from.2 &
  path_checked P n q d_ z behind (size before + size block) from.1 from.2].
Proof. by move: checked; rewrite /path !path_checked_cat add0n -/from -/upto upto_from => -[? []]. Qed.

Let early j := (lo <= j)%N.

Lemma before_early : (forall r j, r \in rows_before -> early j -> of_number r.1 j = 0) /\ forall a j, early j -> of_number (from.1 a) j = 0.
Proof.
apply: path_avoids => [a j|t j tb js]; last by apply/negP; rewrite /early add0n -ltnNge; exact: place_lt.
by rewrite /early /start_state /= => lj; rewrite ltnNge (leq_trans (leq_addr _ _) lj).
Qed.

Lemma rows_drawn r j : r \in rows_before \/ r \in rows_behind -> drawn j -> of_number r.1 j = 0.
Proof.
move=> rin /andP[lj jp]; case: rin; first by move=> rin; have [h _] := before_early; exact: h.
have [_ e0] := before_early.
have away t j' : (t < size behind)%N -> (j' < once P + fresh P)%N -> ~ drawn (place P (size before + size block + t) j').
  move=> tb js /andP[l1 l2]; move: l1 l2; rewrite /place; case: ifP => jo; first by rewrite leqNgt /lo (leq_trans jo (leq_addr _ _)).
  move=> _; rewrite ltnNge => /negP[]; rewrite /lo /part !mulnDl -!addnA leq_add//; first by rewrite leqNgt jo.
  by rewrite leq_add2l leq_addr.
have [|h _] := @path_avoids _ _ _ _ _ _ P n q d_ z drawn behind (size before + size block) from.1 from.2 _ away.
  by move=> a i /andP[li _]; exact: e0.
by move=> rin; apply: h rin _; rewrite /drawn lj.
Qed.

Lemma state_outside e e' s a : (forall j, (j < lo)%N -> e j = e' j) -> linear_at n (from.1 a) e s = linear_at n (from.1 a) e' s.
Proof.
move=> ee; congr (_ + _ + _); apply: eq_bigr => j _; have [jl|lj] := ltnP j lo; first by rewrite ee.
by have [_ ->] := before_early; rewrite ?mul0r.
Qed.

Let x := moved_input f steps source q d_ D.
Let words := [seq says_of P b | b <- run].
Let copied (e : nat -> R) c j := e (in_copy c j).

Lemma in_copy_outside c c' j : (j < lo)%N -> in_copy c j = in_copy c' j.
Proof. by move=> jl; rewrite /in_copy /numbered jl. Qed.

Lemma answers_at s i t l : (i < steps)%N -> source i = t -> x s i l = q t l + s%:R * D * d_ t l.
Proof. by move=> lt <-; rewrite /x /moved_input /run_answers /run_moves lt. Qed.

Let below_n i j : (i < size path)%N -> (j < once P + fresh P)%N -> (place P i j < n)%N. Proof. by move=> ip js; exact: place_lt. Qed.

Lemma blocks_told b s e r c : (c + r = k)%N ->
  shows b (flatten (nseq r [seq says_of P b' | b' <- block]) ++ [seq says_of P b' | b' <- behind])
    (told_from P (seen_noises P e) (x s) (r * size block + size behind) (size before + c * size block)
      (fun a => linear_at n (from.1 a) (copied e c) (s%:R * D)) from.2) =
  all (fun c' => all (row_comes_out n b (copied e c') (s%:R * D)) rows_block) (iota c r) &&
    all (row_comes_out n b (copied e 0) (s%:R * D)) rows_behind.
Proof.
have [_ ck_block ck_behind] := checked_parts.
elim: r c => [|r IH] c cr /=.
  rewrite addn0 in cr; rewrite mul0n add0n cr.
  rewrite (_ : (fun a => _) = (fun a => linear_at n (from.1 a) (copied e 0) (s%:R * D))); last first.
    by apply/funext => a; apply: state_outside => j jl; rewrite /copied (in_copy_outside _ 0 jl).
  have := path_told (P := P) (n := n) (q := q) (d := d_) (z := z) (k := size path) b (e := copied e 0) (s := s%:R * D)
    (z' := seen_noises P e) (q' := x s) (path := behind) (i := (size before + size block)%N) (i' := (size before + k * size block)%N)
    (h := from.2) (st := from.1) [::] 0.
  rewrite cats0 addn0 andbT => ->//.
  - by rewrite /path !size_cat addnA.
  - by move=> t j tb js; rewrite /copied; congr e; exact: place_behind.
  - move=> t a tb; apply: answers_at; first by rewrite /steps ltn_add2l.
    exact: source_behind.
have ck : (c < k)%N by rewrite -cr -addSnnS leq_addr.
have := path_told (P := P) (n := n) (q := q) (d := d_) (z := z) (k := size path) b (e := copied e c) (s := s%:R * D)
  (z' := seen_noises P e) (q' := x s) (path := block) (i := size before) (i' := (size before + c * size block)%N)
  (h := from.2) (st := from.1) (flatten (nseq r [seq says_of P b' | b' <- block]) ++ [seq says_of P b' | b' <- behind]) (r * size block + size behind).
have cb : (size before + c * size block + size block <= size before + k * size block)%N.
  by rewrite -addnA leq_add2l -mulSnr leq_mul2r ck orbT.
rewrite -catA mulSn -[(size block + _ + _)%N]addnA => ->//; last 4 first.
- by rewrite /path !size_cat leq_add2l leq_addr.
- by move=> t j tb js; rewrite /copied; congr e; exact: place_block.
- move=> t a tb; apply: answers_at; last exact: source_block.
  rewrite /steps; apply: leq_trans (leq_addr _ _); apply: leq_trans cb; by rewrite ltn_add2l.
- by move: in_time; case: (most_steps P) => // most; apply: leq_trans; apply: leq_trans cb _; exact: leq_addr.
rewrite -/upto upto_from -andbA; congr (_ && _).
rewrite (_ : (fun a => _) = (fun a => linear_at n (from.1 a) (copied e c.+1) (s%:R * D))); last first.
  by apply/funext => a; apply: state_outside => j jl; rewrite /copied (in_copy_outside _ c.+1 jl).
by rewrite -addnA -mulSnr IH// addSnnS.
Qed.

Lemma run_told b s e : shows b words (told_on P steps (x s) e) =
  [&& all (row_comes_out n b (copied e 0) (s%:R * D)) rows_before, all (fun c => all (row_comes_out n b (copied e c) (s%:R * D)) rows_block) (iota 0 k) &
    all (row_comes_out n b (copied e 0) (s%:R * D)) rows_behind].
Proof.
have [ck_before _ _] := checked_parts.
have := path_told (P := P) (n := n) (q := q) (d := d_) (z := z) (k := size path) b (e := copied e 0) (s := s%:R * D)
  (z' := seen_noises P e) (q' := x s) (path := before) (i := 0) (i' := 0) (h := fun=> 0) (st := start_state P)
  (flatten (nseq k [seq says_of P b' | b' <- block]) ++ [seq says_of P b' | b' <- behind]) (k * size block + size behind).
rewrite /words /run !map_cat map_flatten map_nseq /told_on /steps -addnA add0n -/from.
rewrite (_ : first_state P e = (fun a => linear_at n (start_state P a) (copied e 0) (s%:R * D))); last first.
  apply/funext => a; rewrite start_stateE ?leq_addr//; congr (_ + _); apply: eq_bigr => j _; congr (_ * _).
  by rewrite /copied /in_copy /numbered ifT//; apply: leq_trans (ltn_ord j) _; exact: leq_addr.
move=> ->//.
- have := @blocks_told b s e k 0 (add0n k); rewrite mul0n addn0 => -> //.
- by rewrite /path !size_cat leq_addr.
- by move=> t j tb js; rewrite !add0n /copied; congr e; exact: place_before.
- move=> t a tb; rewrite !add0n; apply: answers_at; last by rewrite /source tb.
  by rewrite /steps -addnA ltn_addr.
- by move: in_time; case: (most_steps P) => // most; apply: leq_trans; rewrite -addnA leq_addr.
Qed.

(* -- The rows of the run: those of the steps before and behind, and of each repetition -- *)
Notation I := ('I_(size rows_before) + 'I_(size rows_behind))%type.
Notation J := 'I_(size rows_block).
Let row_outside (r : I) := match r with inl r => row_at rows_before r | inr r => row_at rows_behind r end.
Let row_inside (r : J) := row_at rows_block r.
Let row_in_run (r : I + 'I_k * J) := match r with inl r => row_outside r | inr (_, r) => row_inside r end.
Let time_of (r : I + 'I_k * J) := match r with inl _ => Ordinal k0 | inr (c, _) => c end.
Let forms := repeated_form (copy k lo part) (origin k lo part) (fun r j => of_number (row_outside r).1 (origin k lo part j))
  (fun r j => of_number (row_inside r).1 (origin k lo part j)) (fun r j => of_number (row_inside r).1 j).
Let opened (r : I + 'I_k * J) := if (row_in_run r).2 is Some strict then strict else false.
Let all_told := repeated_told (k := k) (fun r => ~~ isSome (row_outside r).2) (fun r => ~~ isSome (row_inside r).2).
Let consts (r : I + 'I_k * J) := const (row_in_run r).1.
Let moves_of := repeated_move (k := k) (fun r => D * moved (row_outside r).1) (fun r => D * moved (row_inside r).1).

Lemma outside_rows r : row_outside r \in rows_before \/ row_outside r \in rows_behind.
Proof. by case: r => r; [left | right]; exact: mem_nth. Qed.

Lemma forms_sum r (E : nat -> R) : \sum_(j < once P + steps * fresh P) forms r j * E j = \sum_(j < n) of_number (row_in_run r).1 j * copied E (time_of r) j.
Proof.
rewrite stepsE [in RHS]nE /copied /in_copy -(sum_seen lo part rest k0); apply: eq_bigr => j _; rewrite /forms /repeated_form /seen_by.
case: r => [r|[c r]] /=; case E' : (copy _ _ _ _) => [c'|]//=; last by case: eqP; rewrite ?mul0r.
have [l1 l2] := origin_inside E'; rewrite (rows_drawn (outside_rows r)) /drawn ?l1//.
by rewrite !mul0r; case: ifP.
Qed.

Lemma tells_repeated s b : M (x s) (O words b) = nu steps (path_comes_out (once P + steps * fresh P) (@Z steps) all_told opened forms consts moves_of b s).
Proof.
have [_ law_] := mechanism; rewrite (law_ each_tells steps) ?size_map; last first.
  rewrite /run !size_cat /steps addnA; congr (_ + _ + _)%N; by elim: (k) => //= i IH; rewrite size_cat IH mulSn.
congr (nu _ _); apply/funext => w /=; rewrite run_told; set e := @Z steps ^~ w.
have same r : (if all_told r then - b <= worst_run_limits.row (once P + steps * fresh P) (@Z steps) forms consts moves_of s r w <= b
    else if opened r then 0 < worst_run_limits.row (once P + steps * fresh P) (@Z steps) forms consts moves_of s r w
    else 0 <= worst_run_limits.row (once P + steps * fresh P) (@Z steps) forms consts moves_of s r w) =
    row_comes_out n b (copied e (time_of r)) (s%:R * D) (row_in_run r).
  have -> : worst_run_limits.row (once P + steps * fresh P) (@Z steps) forms consts moves_of s r w = linear_at n (row_in_run r).1 (copied e (time_of r)) (s%:R * D).
    by rewrite /worst_run_limits.row /linear_at (forms_sum r e) -mulrA; case: r => [r|[c r]].
  by rewrite /row_comes_out /all_told /opened; case: r => [r|[c r]] /=; case: (_.2) => [[]|].
apply/propext; split.
- move=> /and3P[h1 /allP h2 h3]; apply/in_all_rows => r; rewrite /= same; case: r => [[r|r]|[c r]] /=.
  + exact: (all_nthP (Linear (fun=> 0) 0 0, None) h1).
  + exact: (all_nthP (Linear (fun=> 0) 0 0, None) h3).
  + apply: (all_nthP (Linear (fun=> 0) 0 0, None) (h2 c _)) => //; by rewrite mem_iota /= add0n.
- move=> /in_all_rows h; apply/and3P; split.
  + apply/(all_nthP (Linear (fun=> 0) 0 0, None)) => r lt; by have := h (inl (inl (Ordinal lt))); rewrite /= same.
  + apply/allP => c; rewrite mem_iota /= add0n => ck; apply/(all_nthP (Linear (fun=> 0) 0 0, None)) => r lt.
    by have := h (inr (Ordinal ck, Ordinal lt)); rewrite /= same.
  + apply/(all_nthP (Linear (fun=> 0) 0 0, None)) => r lt; by have := h (inl (inr (Ordinal lt))); rewrite /= same.
Qed.

(* -- The weights -- *)
Let weight_outside (r : I) := match r with inl r => y r | inr r => y (size rows_before + (size rows_block + r)) end.
Let weight_inside (r : J) := y (size rows_before + r).

Lemma sum_of_rows F : \sum_(r < size rows) y r * F (row_at rows r) =
  \sum_r weight_outside r * F (row_outside r) + \sum_r weight_inside r * F (row_inside r).
Proof.
rewrite /row_at /path_rows_of rows_parts sum_of_two (sum_of_two _ rows_block _ (fun r => y (size rows_before + r)%N)) big_sumType /=.
by rewrite addrA addrAC.
Qed.

Lemma weighed r : ~~ (~~ isSome (row_outside r).2) -> 0 <= weight_outside r.
Proof.
have e : row_at rows (match r with inl r => r : nat | inr r => size rows_before + (size rows_block + r) end) = row_outside r.
  rewrite /row_at /path_rows_of rows_parts; case: r => r /=; rewrite nth_cat; first by rewrite ltn_ord.
  by rewrite ltnNge leq_addr addKn nth_cat /= ltnNge leq_addr addKn.
rewrite negbK -e => isc; have := weights _ isc; rewrite /path_rows_of rows_parts !size_cat; case: (r) => i /=; apply.
- by rewrite ltn_addr.
- by rewrite !ltn_add2l.
Qed.

Lemma weighed_inside r : ~~ (~~ isSome (row_inside r).2) -> 0 <= weight_inside r.
Proof.
have e : row_at rows (size rows_before + r) = row_inside r.
  by rewrite /row_at /path_rows_of rows_parts nth_cat ltnNge leq_addr addKn /= nth_cat ltn_ord.
by rewrite negbK -e => isc; have := weights _ isc; rewrite /path_rows_of rows_parts !size_cat; apply; rewrite ltn_add2l ltn_addr.
Qed.

Lemma run_rows_in r : row_in_run r \in path_rows P n q d_ z path 0 (start_state P) (fun=> 0).
Proof.
rewrite rows_parts !mem_cat /row_in_run; case: r => [i|[_ i]]; last by rewrite (mem_nth _ (ltn_ord i)) orbT.
by case: (outside_rows i) => ->; rewrite ?orbT.
Qed.

Lemma row_room r : ~~ all_told r -> 0 < value_at (once P + steps * fresh P) forms consts (fun j => z (origin k lo part j)) r.
Proof.
move=> nt; rewrite /value_at (forms_sum r (fun j => z (origin k lo part j))).
rewrite (eq_bigr (fun j : 'I_n => of_number (row_in_run r).1 j * z j)) => [|j _]; last first.
  rewrite /copied /in_copy (@origin_numbered k lo part rest)//; last by rewrite -nE.
have isc : isSome (row_in_run r).2 by move: nt; rewrite /all_told /row_in_run /repeated_told; case: r => [i|[c i]]; rewrite negbK.
have rin := run_rows_in r.
have := path_room checked (r := (row_in_run r).1); rewrite /at_point /linear_at mul0r addr0 /consts.
by move: rin isc; case: (row_in_run r) => F [strict|]//= rin _ /(_ _ rin).
Qed.

Lemma kind_origin j : kind P (origin k lo part j) = kind P j.
Proof.
have p_dvd : (fresh P %| part)%N by rewrite /part dvdn_mull.
rewrite /origin; case: ltnP => // lj; have oj : (once P <= j)%N by apply: leq_trans lj; exact: leq_addr.
have ge a : (once P <= lo + a)%N by rewrite /lo -addnA leq_addr.
case: ltnP => jk.
  rewrite /kind !ltnNge ge oj /=; congr (_ + _)%N; rewrite /lo -!addnA addKn modnMDl modn_dvdm//.
  by rewrite -[in RHS](subnKC lj) /lo -!addnA addKn modnMDl.
have [i ->] := behind_all k0 jk.
rewrite addnK /kind !ltnNge -!addnA !leq_addr /=; congr (_ + _)%N.
have zero : ((k.-1 * part) %% fresh P = 0)%N by apply/eqP; rewrite -/(dvdn _ _) dvdn_mull.
by rewrite !addKn !modnMDl -modnDmr zero addn0.
Qed.
Lemma inputs_repeated s : neighbours vertex families sensitivity whole (x s) (x s.+1).
Proof.
have len0 : (0 < size path)%N by rewrite /path !size_cat addn_gt0 addn_gt0 some_block orbT.
apply: (moved_near len0 source_lt moves _ declared whole_answers whole_moves moved_by) => single i i' l lt lt' move_.
have out i1 : (i1 < steps)%N -> source i1 = source i -> (i1 < size before)%N \/ (size before + k * size block <= i1)%N.
  move=> lt1 e1; case: (ltnP i1 (size before)) => lo1; first by left.
  case: (ltnP i1 (size before + k * size block)) => hi1; last by right.
  exfalso; move: move_; rewrite -e1 /source ltnNge lo1 /= hi1 (one_stays single) ?eqxx// ?leq_addr//.
  by rewrite ltn_add2l ltn_mod.
move=> e; have := out i lt erefl; have := out i' lt' (esym e).
have unequal a b : (a < size before)%N -> (size before + k * size block <= b)%N -> source a = source b -> False.
  move=> al bl; rewrite /source al ifF; last by apply/negbTE; rewrite -leqNgt (leq_trans _ bl)// leq_addr.
  rewrite ifF; last by apply/negbTE; rewrite -leqNgt.
  by move=> ab; move: al; rewrite ab; have [i1 ->] := behind_all k0 bl; rewrite addnK ltnNge leq_addr.
case=> [il'|bl'] [il|bl].
- by move: e; rewrite /source il il'.
- by case: (unequal _ _ il' bl (esym e)).
- by case: (unequal _ _ il bl' e).
- move: e; rewrite /source !ifF; try by apply/negbTE; rewrite -leqNgt ?(leq_trans (leq_addr _ _) bl) ?(leq_trans (leq_addr _ _) bl').
  have le a : (size before + k * size block <= a)%N -> (k.-1 * size block <= a)%N.
    by apply: leq_trans; rewrite (last_part _ k0) addnCA leq_addr.
  by move=> e; rewrite -(subnK (le _ bl)) e subnK// le.
Qed.

Lemma near_points j e : (j < once P + steps * fresh P)%N -> 0 < e ->
  (0 < law_of P laws j `](z (origin k lo part j) - e)%R, (z (origin k lo part j) + e)%R[%classic)%E.
Proof.
rewrite stepsE => lt e0; rewrite /law_of -kind_origin; apply: noise_near e0; apply: point; rewrite nE; exact: origin_lt.
Qed.

Lemma loss_repeated : once_loss (fun r => D * moved (row_outside r).1) weight_outside (fun r => D * moved (row_inside r).1) weight_inside =
  D * value_of_weights.
Proof.
rewrite /once_loss /worst_run_followed.value_of_weights (sum_of_rows (fun r => moved r.1)) mulrN mulrDr !mulr_sumr.
by congr (- (_ + _)); apply: eq_bigr => r _; rewrite mulrCA.
Qed.

(* At the noises outside of the steps that are repeated the weights sum to 0. *)
Hypothesis none_outside : forall j, (j < n)%N -> ~~ drawn j -> sum_at j = 0.

Lemma balanced j : (j < once P + steps * fresh P)%N -> copy k lo part j = None ->
  \sum_r weight_outside r * of_number (row_outside r).1 (origin k lo part j) +
  \sum_r weight_inside r * of_number (row_inside r).1 (origin k lo part j) = 0.
Proof.
rewrite stepsE => lt out; rewrite -(sum_of_rows (fun r => of_number r.1 (origin k lo part j))).
apply: (none_outside (j := origin k lo part j)); first by rewrite nE; exact: origin_lt.
by rewrite /drawn negb_and -leqNgt -ltnNge; case: (origin_outside k0 out) => ->; rewrite ?orbT.
Qed.

Lemma own_sum j c : (j < once P + steps * fresh P)%N -> copy k lo part j = Some c -> [/\ (origin k lo part j < n)%N, drawn (origin k lo part j) &
  \sum_r weight_inside r * of_number (row_inside r).1 (origin k lo part j) = sum_at (origin k lo part j)].
Proof.
rewrite stepsE => lt inb; have [l1 l2] := origin_inside inb; have dr : drawn (origin k lo part j) by rewrite /drawn l1.
split=> //; first by rewrite nE; exact: origin_lt.
rewrite /worst_run_followed.sum_at (sum_of_rows (fun r => of_number r.1 (origin k lo part j))) [X in _ = X + _]big1 ?add0r// => r _.
by rewrite (rows_drawn (outside_rows r) dr) mulr0.
Qed.

(* At those inside to no more than the slopes: k times the value for one time is lost. *)
(* Rule: worst-run, lower. *)
Theorem repeated_run : (forall j, (j < n)%N -> drawn j -> within (sum_at j) (right (laws (kind P j))) /\ within (- sum_at j) (left (laws (kind P j)))) ->
  ((k%:R * (D * value_of_weights))%:E <= tight_epsilon_in_order (neighbours vertex families sensitivity whole) M 0)%E.
Proof.
move=> slopes; rewrite -loss_repeated; have [mO _] := mechanism.
apply: (worst_run_repeated (fun j => @noise_tails R (laws (kind P j))) (fun j => left_positive (laws (kind P j)))
  (fun j => right_positive (laws (kind P j))) (noises steps) (fun b => mO words b)
  inputs_repeated tells_repeated row_room near_points weighed weighed_inside balanced) => j c lt inb.
by have [on dr ->] := own_sum lt inb; rewrite -kind_origin; exact: slopes.
Qed.

(* Or to 0 on each side on which the slope is finite: no shifts keep the run. *)
(* Rule: worst-run, lower. *)
Theorem repeated_run_unbounded : 0 < D ->
  (forall j, (j < n)%N -> drawn j -> none_within (sum_at j) (right (laws (kind P j))) /\ none_within (- sum_at j) (left (laws (kind P j)))) ->
  0 < value_of_weights -> tight_epsilon_in_order (neighbours vertex families sensitivity whole) M 0 = +oo%E.
Proof.
move=> D0 none value0; have [mO _] := mechanism.
apply: (worst_run_repeated_unbounded (fun j => @noise_tails R (laws (kind P j))) (fun j => left_positive (laws (kind P j)))
  (fun j => right_positive (laws (kind P j))) (noises steps) (fun b => mO words b)
  inputs_repeated tells_repeated row_room near_points weighed weighed_inside balanced k0) => [j c lt inb|].
- by have [on dr ->] := own_sum lt inb; rewrite -kind_origin; exact: none.
- by rewrite loss_repeated mulr_gt0.
Qed.
End Times.

(* Where steps have no limit they are repeated as often as one likes. *)
Hypotheses (no_limit : most_steps P = None) (none_outside : forall j, (j < n)%N -> ~~ drawn j -> sum_at j = 0).

(* Rule: worst-run, lower. *)
Theorem repeated_run_unlimited : 0 < D ->
  (forall j, (j < n)%N -> drawn j -> within (sum_at j) (right (laws (kind P j))) /\ within (- sum_at j) (left (laws (kind P j)))) ->
  0 < value_of_weights -> tight_epsilon_in_order (neighbours vertex families sensitivity whole) M 0 = +oo%E.
Proof.
move=> D0 slopes value0; set t := tight_epsilon_in_order _ _ _; have v0 : 0 < D * value_of_weights by rewrite mulr_gt0.
have more k : (0 < k)%N -> ((k%:R * (D * value_of_weights))%:E <= t)%E.
  by move=> k0; apply: repeated_run => //; rewrite no_limit.
case: t more => [r| |] more //; last by have := more 1%N isT.
have [k kE] := beyond r 0 v0; rewrite add0r in kE.
exfalso; have := more k.+1 isT; rewrite lee_fin -natr1 mulrDl mul1r; move: kE v0; set once_ := D * _; set all_ := _ * once_; lra.
Qed.
End Rule.
