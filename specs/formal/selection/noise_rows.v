(* Rows that are linear in noises, and the cells of some of the noises (docs/theory/selection.md, told words): what a row says of one noise where the others
   are in a cell. The cells of a noise on the line are between cuts; of one on the integers the cuts are integers, and the last number before one counts. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels noise_edges.

(* A linear form in noises that is to be at least 0, or above it where it is strict. *)
Record row (R : Type) := Row { coef : nat -> R; rest : R; strict : bool }.
Canonical row_eqType (R : Type) := EqType (row R) gen_eqMixin.

Section Rows.
Context (R : realType) (n : nat).
Definition form_at (r : row R) (z : nat -> R) : R := rest r + \sum_(j < n) coef r j * z j.
Definition row_holds (z : nat -> R) (r : row R) : bool := if strict r then 0 < form_at r z else 0 <= form_at r z.
Definition row_negated (r : row R) : row R := Row (fun j => - coef r j) (- rest r) (~~ strict r).

Lemma form_negated r z : form_at (row_negated r) z = - form_at r z.
Proof. by rewrite /form_at /= opprD -sumrN; congr (_ + _); apply: eq_bigr => j _; rewrite mulNr. Qed.

Lemma row_negates z r : row_holds z (row_negated r) = ~~ row_holds z r.
Proof. by rewrite /row_holds form_negated /=; case: (strict r) => /=; rewrite ?oppr_ge0 ?oppr_gt0 -?leNgt -?ltNge. Qed.
End Rows.

(* Cells between cuts that rise. *)
Section Cells.
Context (R : realType) (whole : bool) (s : seq R).
Hypotheses (rises : sorted <%R s) (integral : whole -> {in s, forall b, b \is a Rint}).
Definition place (x : R) : nat := count (fun b => b <= x) s.

Lemma place_nth x i : (i < size s)%N -> (i < place x)%N = (nth 0 s i <= x).
Proof.
rewrite /place; elim: s rises i => //= b t IH sb i.
have tb : {in t, forall y, b < y} by apply/allP; rewrite lt_path_sortedE in sb; case/andP: sb.
have st : sorted <%R t by exact: path_sorted sb.
have [bx|xb] := leP b x; case: i => [|i] // lt; first by rewrite add1n ltnS; exact: IH.
- by rewrite add0n /= leNgt xb /= (eq_in_count (a2 := pred0)) ?count_pred0// => y /tb by_; rewrite leNgt (lt_trans xb by_).
- rewrite add0n /= (eq_in_count (a2 := pred0)) ?count_pred0//; last by move=> y /tb by_; rewrite leNgt (lt_trans xb by_).
  by apply/esym/negbTE; rewrite -ltNge; apply: lt_trans xb (tb _ _); exact: mem_nth.
Qed.

Lemma place_most x : (place x <= size s)%N. Proof. exact: count_size. Qed.

Definition up_to i : set R := if (i < size s)%N then below false (nth 0 s i) else setT.
Definition before i : set R := if i is i'.+1 then below false (nth 0 s i') else set0.

Lemma in_place i : (i <= size s)%N -> [set x | place x = i] = up_to i `\` before i.
Proof.
move=> le; apply/seteqP; split=> x.
- move=> /= px; split.
    by rewrite /up_to; case: ifP => // lt; rewrite /below /= ltNge -place_nth// px ltnn.
  by move=> h; move: le px h; case: i => // i lt px; rewrite /before /below /= ltNge -place_nth// px ltnSn.
- move=> [hu hb] /=; apply/eqP; rewrite eqn_leq; apply/andP; split.
    move: hu; rewrite /up_to; case: ifP => [lt|/negbT]; first by rewrite /below /= ltNge -place_nth// -leqNgt.
    by rewrite -leqNgt => ge _; apply: leq_trans ge; exact: place_most.
  by move: le hb; case: i hu => // i _ lt /negP; rewrite /= -leNgt -place_nth.
Qed.

Lemma before_up i : before i `<=` up_to i.
Proof.
case: i => [|i] x //=; rewrite /up_to; case: ifP => // lt; rewrite /below /= => h; apply: lt_trans h _.
by have := rises; rewrite lt_sorted_pairwise => /(pairwiseP 0); apply; rewrite ?inE//; exact: ltnW.
Qed.

(* The points of a cell that noise is at. *)
Definition cell i : set R := [set x | place x = i /\ (whole -> x \is a Rint)].
Definition low_end i : \bar R := if i is i'.+1 then (nth 0 s i')%:E else -oo%E.
Definition high_end i : \bar R := if (i < size s)%N then (nth 0 s i - whole%:R)%:E else +oo%E.

Lemma cell_ends i x : (i <= size s)%N -> cell i x -> (low_end i <= x%:E <= high_end i)%E.
Proof.
move=> le [px wx]; have : (up_to i `\` before i) x by rewrite -in_place.
move=> [hu hb]; apply/andP; split.
- by move: le hb; case: i {px hu} => [|i] lt /=; [rewrite leNye | move=> /negP; rewrite /below /= -leNgt lee_fin].
- rewrite /high_end; move: hu; rewrite /up_to; case: ifP => lt; last by rewrite leey.
  rewrite /below /= lee_fin; case w : whole wx => wx; rewrite ?subr0; last exact: ltW.
  by apply: integer_below; [exact: wx | exact: (integral w) (mem_nth _ lt)].
Qed.

Lemma cell_point i : (i <= size s)%N -> exists x, cell i x.
Proof.
move=> le; suff [x hx wx] : exists2 x, (up_to i `\` before i) x & (whole -> x \is a Rint) by exists x; move: hx; rewrite -in_place.
case: i le => [_|i lt].
- rewrite /up_to; case s0 : (0 < size s)%N; last by exists 0; [split | move=> _; exact: rpred0].
  exists (nth 0 s 0 - 1); first by split=> //; rewrite /below /= ltr_subl_addr ltr_addl.
  by move=> w; rewrite rpredB ?rpred1//; exact: (integral w) (mem_nth _ s0).
- exists (nth 0 s i); last by move=> w; exact: (integral w) (mem_nth _ lt).
  split; last by rewrite /= /below /= ltxx.
  rewrite /up_to; case: ifP => // lt'; rewrite /below /=; have := rises; rewrite lt_sorted_pairwise => /(pairwiseP 0); by apply; rewrite ?inE.
Qed.

Lemma measurable_place i : measurable [set x | place x = i].
Proof.
have [le|lt] := leqP i (size s); last first.
  by rewrite (_ : [set _ | _] = set0)//; apply/seteqP; split=> // x /= px; move: lt; rewrite -px ltnNge place_most.
rewrite in_place//; apply: measurableD.
- by rewrite /up_to; case: ifP => _; [exact: measurable_below | exact: measurableT].
- by case: i {le} => [|i] /=; [exact: measurable0 | exact: measurable_below].
Qed.

Lemma measurable_cell i : measurable (cell i).
Proof.
rewrite (_ : cell i = [set x | place x = i] `&` (if whole then [set x | x \is a Rint] else setT)).
  by apply: measurableI; [exact: measurable_place | case: whole; [exact: measurable_integers | exact: measurableT]].
by rewrite /cell; apply/seteqP; split=> x /=; case: whole => -[px wx]; split=> //; exact: wx.
Qed.

(* Its mass is what is below its upper end less what is below its lower one. *)
Context (m : {measure set R -> \bar R}) (m1 : m setT = 1%E) (at_ : R -> R * R).
Hypothesis law : if whole then m [set z | z \isn't a Rint] = 0%E else forall z, m [set z] = 0%E.
Hypothesis known : forall x, (whole -> x \is a Rint) -> (at_ x).1 <= fine (m (below false x)) <= (at_ x).2.
Definition at_upper i : R * R := if (i < size s)%N then at_ (nth 0 s i) else (1, 1).
Definition at_lower i : R * R := if i is i'.+1 then at_ (nth 0 s i') else (0, 0).
Definition cell_least i : R := Num.max ((at_upper i).1 - (at_lower i).2) 0.
Definition cell_most i : R := (at_upper i).2 - (at_lower i).1.

Lemma cell_mass i : (i <= size s)%N -> cell_least i <= fine (m (cell i)) <= cell_most i.
Proof.
move=> le; have mU : measurable (up_to i) by rewrite /up_to; case: ifP => _; [exact: measurable_below | exact: measurableT].
have mB : measurable (before i) by case: (i) => [|i'] /=; [exact: measurable0 | exact: measurable_below].
have E : fine (m (cell i)) = fine (m [set x | place x = i]).
  apply: le_anti; apply/andP; split; first by apply: (mass_le m1); [exact: measurable_cell | exact: measurable_place | move=> x []].
  move: law; have := measurable_cell i; rewrite /cell; case: whole => mc l0; last by apply: (mass_le m1) => //; exact: measurable_place.
  have mD : measurable [set z : R | z \isn't a Rint].
    by rewrite (_ : [set _ | _] = ~` [set x : R | x \is a Rint]); [apply: measurableC; exact: measurable_integers | apply/seteqP; split=> z /= /negP].
  apply: (null_mass m1 _ mc mD l0); first exact: measurable_place.
  by move=> x px; have [xi|xi] := boolP (x \is a Rint); [left | right].
have hU : (at_upper i).1 <= fine (m (up_to i)) <= (at_upper i).2.
  rewrite /at_upper /up_to; case: ifP => lt; last by rewrite m1 lexx.
  by apply: known => w; exact: (integral w) (mem_nth _ lt).
have hB : (at_lower i).1 <= fine (m (before i)) <= (at_lower i).2.
  case: (i) le => [|i'] lt /=; first by rewrite measure0 lexx.
  by apply: known => w; exact: (integral w) (mem_nth _ lt).
rewrite E in_place// (mass_difference m1)//; last exact: before_up.
case/andP: hU => u1 u2; case/andP: hB => b1 b2; rewrite /cell_least /cell_most; apply/andP; split; last by lra.
rewrite le_maxl; apply/andP; split; first by lra.
by rewrite subr_ge0; apply: (mass_le m1) => //; exact: before_up.
Qed.

Lemma cell_least_ge0 i : 0 <= cell_least i. Proof. by rewrite /cell_least le_maxr lexx orbT. Qed.
End Cells.

(* The least and the greatest that a linear form is where each of some numbers is between two ends. *)
Section Ends.
Context (R : realType) (n : nat) (P : pred nat) (low high : nat -> \bar R) (z : nat -> R) (start : R) (t : nat -> R).
Definition sum_at : R := start + \sum_(j < n | P j) t j * z j.
Definition sum_low : \bar R := (start%:E + \sum_(j < n | P j) (t j)%:E * (if (0 < t j)%R then low j else high j))%E.
Definition sum_high : \bar R := (start%:E + \sum_(j < n | P j) (t j)%:E * (if (0 < t j)%R then high j else low j))%E.
Hypothesis inside : forall j, (j < n)%N -> P j -> (low j <= (z j)%:E <= high j)%E.

Lemma term_inside (l h : \bar R) (u x : R) : (l <= x%:E <= h)%E ->
  (u%:E * (if (0 < u)%R then l else h) <= u%:E * x%:E <= u%:E * (if (0 < u)%R then h else l))%E.
Proof.
move=> /andP[lx xh]; have [u0|u0] := ltP 0 u; first by apply/andP; split; apply: lee_wpmul2l => //; rewrite lee_fin ltW.
have v0 : (0 <= (- u)%:E)%E by rewrite lee_fin oppr_ge0.
by rewrite -[u]opprK EFinN !mulNe !lee_opp2; apply/andP; split; exact: lee_wpmul2l.
Qed.

Lemma sum_inside : (sum_low <= sum_at%:E <= sum_high)%E.
Proof.
rewrite /sum_low /sum_high /sum_at EFinD -sumEFin; apply/andP; split; apply: lee_add => //; apply: lee_sum => j Pj;
  have /andP[l h] := term_inside (t j) (inside (ltn_ord j) Pj); by rewrite EFinM.
Qed.
End Ends.
