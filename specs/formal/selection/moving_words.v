(* The words that a stream tells where its answers move along a line (docs/theory/selection.md, worst words): the finitely many runs that tell them, each
   with rows that are linear in the noises and in how far the answers have moved; how fast their probability falls, by weights of the rows of each run; and
   how slowly it falls at the start, where the noises move with the answers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic independent log_concave told_runs alignment worst_run_limits word_runs stream_paths stream_rows far_apart.

(* Of a run: its rows, and whether they are strict. *)
Definition run_rows (R : realType) := seq (linear R * bool).

Section Moving.
Context (R : realType) (S m B : nat) (C : finType) (Word : eqType) (P : stream R S m B C Word) (steps : nat) (q d : nat -> 'I_m -> R).
Notation n := (once P + steps * fresh P)%N.
Definition comes_out (x : (nat -> R) * R) (G : linear R * bool) : bool := let v := linear_at n G.1 x.1 x.2 in if G.2 then 0 < v else 0 <= v.
Definition fails_instead (G : linear R * bool) : linear R * bool := (turned G.1, ~~ G.2).

Lemma fails_instead_negates x G : comes_out x (fails_instead G) = ~~ comes_out x G.
Proof. by rewrite /comes_out /= turned_at; case: G.2 => /=; rewrite ?oppr_ge0 ?oppr_gt0 -?leNgt -?ltNge. Qed.

Definition moving_state := (nat * ('I_S -> linear R) * (C -> R))%type.
Definition moving_branches (s : moving_state) : seq (run_rows R * option Word * moving_state) :=
  if goes_on P s.1.1 s.2 then
    [seq (followed_guards P q d s.1.1 s.1.2 s.2 b, says P b, (s.1.1.+1, state_after P q d s.1.1 s.1.2 s.2 b, counted P s.2 b)) | b <- enum 'I_B]
  else [::].
(* The runs that tell words. *)
Definition moving_runs (words : seq (option Word)) : seq (run_rows R) := ways fails_instead moving_branches words (0%N, start_state P, fun=> 0).

Lemma taken_moving x (rows : 'I_B -> run_rows R) (after : 'I_B -> moving_state) (s : seq 'I_B) :
  taken comes_out x [seq (rows b, says P b, after b) | b <- s] = omap (fun b => (says P b, after b)) (ohead [seq b <- s | all (comes_out x) (rows b)]).
Proof. by elim: s => //= b s IH; case: ifP. Qed.

Lemma moving_tells words e s i st h k : (i + size words <= steps)%N -> (size words <= k)%N ->
  begins words (told_from P (seen_noises P e) (fun i l => q i l + s * d i l) k i (fun a => linear_at n (st a) e s) h) =
  word_runs.tells comes_out moving_branches (e, s) words (i, st, h).
Proof.
elim: words i st h k => [|word words IH] i st h k; first by rewrite /begins take0.
rewrite /= addnS => is_; case: k => // k sk; have lt : (i < steps)%N by apply: leq_trans is_; rewrite ltnS leq_addr.
rewrite /begins /moving_branches /=; case: (goes_on P i h) => //.
set q' := (fun i l => q i l + s * d i l).
have z0 j : (j < once P + fresh P)%N -> seen_noises P e i j = e (place P i j) by [].
have q0 l : q' i l = q i l + s * d i l by [].
have followed b : all (holds P (seen_noises P e) q' i (fun a => linear_at n (st a) e s) h) (guards P b) =
    all (comes_out (e, s)) (followed_guards P q d i st h b).
  by rewrite (guards_followed h (fun j js => place_lt js lt) z0 q0 (fun a => erefl (linear_at n (st a) e s))); apply: eq_all => -[F b'].
rewrite taken_moving /branch_taken (first_taken (fun b => all (holds P (seen_noises P e) q' i (fun a => linear_at n (st a) e s) h) (guards P b))).
rewrite (eq_filter followed); case: [seq _ <- _ | _] => //= b bs.
rewrite eqseq_cons; congr (_ && _).
have E : (fun a => stream_paths.form_at (once P + fresh P) (stream_paths.after P b a) (fun a => linear_at n (st a) e s) (seen_noises P e i) (q' i) h) =
    fun a => linear_at n (state_after P q d i st h b a) e s.
  by apply/funext => a; exact: (form_followed h (fun j js => place_lt js lt) z0 q0 (fun a => erefl (linear_at n (st a) e s))).
by rewrite E; apply: IH => //; rewrite addSn.
Qed.

Theorem told_moving words e s : (size words <= steps)%N ->
  begins words (told_on P steps (fun i l => q i l + s * d i l) e) = has (all (comes_out (e, s))) (moving_runs words).
Proof.
move=> le; transitivity (word_runs.tells comes_out moving_branches (e, s) words (0%N, start_state P, fun=> 0)).
  rewrite -(moving_tells e s (start_state P) (fun=> 0) (i := 0) le le) /told_on; congr (begins _ (told_from _ _ _ _ _ _ _)); apply/funext => a.
  by rewrite start_stateE// leq_addr.
by rewrite has_count /moving_runs (ways_told fails_instead_negates); case: (word_runs.tells _ _ _ _ _).
Qed.

Section Noises.
Context (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1%E. Proof. exact: independent_total noises. Qed.
Notation zs w := (fun j => Z j w).
Definition some_run (runs : seq (run_rows R)) (s : R) : set W := [set w | has (all (comes_out (zs w, s))) runs].

Lemma measurable_linear (F : linear R) s : measurable_fun setT (fun w => linear_at n F (zs w) s).
Proof.
apply: measurable_funD; last exact: measurable_fun_cst.
apply: measurable_funD; last exact: measurable_fun_cst.
elim: (n) => [|k IH].
  by rewrite (_ : (fun _ => _) = cst 0); [exact: measurable_fun_cst | apply/funext => w; rewrite big_ord0].
rewrite (_ : (fun _ => _) = (fun w => \sum_(j < k) of_number F j * Z j w) \+ (fun w => of_number F k * Z k w)); last first.
  by apply/funext => w; rewrite big_ord_recr.
by apply: measurable_funD => //; apply: measurable_funM; [exact: measurable_fun_cst | exact: (measurable_noises noises)].
Qed.

Lemma measurable_comes_out G s : measurable [set w | comes_out (zs w, s) G].
Proof.
have mf := measurable_linear G.1 s; rewrite /comes_out /=; case: G.2.
- rewrite (_ : [set _ | _] = (fun w => linear_at n G.1 (zs w) s) @^-1` `]0, +oo[); last by apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
  by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
- rewrite (_ : [set _ | _] = (fun w => linear_at n G.1 (zs w) s) @^-1` `[0, +oo[); last by apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
  by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
Qed.

Lemma measurable_one_run (rs : run_rows R) s : measurable [set w | all (comes_out (zs w, s)) rs].
Proof.
elim: rs => [|G rs IH] /=; first by rewrite (_ : [set _ | _] = setT); [exact: measurableT | apply/seteqP; split].
rewrite (_ : [set _ | _] = [set w | comes_out (zs w, s) G] `&` [set w | all (comes_out (zs w, s)) rs]).
  by apply: measurableI => //; exact: measurable_comes_out.
by apply/seteqP; split=> w /=; [move=> /andP[] | move=> [-> ->]].
Qed.

Lemma some_runS rs runs s : some_run (rs :: runs) s = [set w | all (comes_out (zs w, s)) rs] `|` some_run runs s.
Proof. by apply/seteqP; split=> w; rewrite /some_run /=; [move=> /orP | move=> h; apply/orP]. Qed.

Lemma measurable_some_run runs s : measurable (some_run runs s).
Proof.
elim: runs => [|rs runs IH]; last by rewrite some_runS; apply: measurableU => //; exact: measurable_one_run.
by rewrite (_ : some_run _ _ = set0); [exact: measurable0 | apply/seteqP; split].
Qed.

Lemma union_most (E F : set W) : measurable E -> measurable F -> fine (nu (E `|` F)) <= fine (nu E) + fine (nu F).
Proof.
move=> mE mF; have mD : measurable (F `\` E) by exact: measurableD.
rewrite (_ : E `|` F = E `|` (F `\` E)); last first.
  by apply/seteqP; split=> w [Ew|]; [left | have [|] := pselect (E w); [left | right] | left | case; right].
have U : (nu (E `|` (F `\` E)) = nu E + nu (F `\` E))%E by apply: (measureU nu mE mD); apply/seteqP; split=> // w [Ew []].
rewrite U fineD ?mass_fin// ler_add2l fine_le ?mass_fin//; apply: le_measure; rewrite ?inE// => w; exact: subDsetl.
Qed.

(* -- At the end: weights of the rows of each run -- *)

Context (left right : nat -> option R).
Hypothesis tails : forall j, has_tails (mu j) (left j) (right j).

(* A row that nothing changes, and that does not hold. *)
Definition never (G : linear R * bool) : Prop := (forall j : 'I_n, of_number G.1 j = 0) /\ moved G.1 = 0 /\ ~~ (if G.2 then 0 < const G.1 else 0 <= const G.1).
(* Weights of the rows, by their places, that at no noise sum to more than its slope; what the run loses is at least so much. *)
Definition weighed (last : R) (rs : run_rows R) (y : nat -> R) : Prop :=
  [/\ forall r : 'I_(size rs), 0 <= y r,
      forall j : 'I_n, within (\sum_(r < size rs) y r * of_number (tnth (in_tuple rs) r).1 j) (right j) /\
        within (- \sum_(r < size rs) y r * of_number (tnth (in_tuple rs) r).1 j) (left j) &
      last <= - \sum_(r < size rs) y r * moved (tnth (in_tuple rs) r).1].
Definition run_lost (last : R) (rs : run_rows R) : Prop := (exists2 G, List.In G rs & never G) \/ exists y, weighed last rs y.

Lemma never_out G e s : never G -> comes_out (e, s) G = false.
Proof.
move=> [f0 [m0 nc]]; rewrite /comes_out /linear_at /= m0 mulr0 addr0 big1 ?add0r; first exact: negbTE.
by move=> j _; rewrite f0 mul0r.
Qed.

Lemma one_run_falls last t rs : 0 <= t -> t < 1 -> run_lost last rs ->
  exists2 K, 0 <= K & forall s : nat, fine (nu [set w | all (comes_out (zs w, s%:R)) rs]) <= K * expR (- (t * last * s%:R)).
Proof.
move=> t0 t1 [[G Grs nG]|[y [y0 slopes lost]]].
  exists 0 => // s; rewrite mul0r (_ : [set _ | _] = set0) ?measure0//; apply/seteqP; split=> // w /= /allP h.
  have {}h : all (comes_out (zs w, s%:R)) rs by apply/allP.
  by move: h; elim: rs Grs => //= G' rs IH [->|/IH h] /andP[]; [rewrite (never_out _ _ nG) | move=> _ /h].
pose a (r : 'I_(size rs)) := of_number (tnth (in_tuple rs) r).1; pose c (r : 'I_(size rs)) := const (tnth (in_tuple rs) r).1.
pose move_ (r : 'I_(size rs)) := moved (tnth (in_tuple rs) r).1.
have [K hK] := run_falls (told := pred0) (a := a) tails noises c move_ (lexx 0) (y := fun r => y r) (fun r _ => y0 r) t0 t1 (fun j jn => slopes (Ordinal jn)).
exists `|K| => // s; apply: (@le_trans _ _ (fine (nu (run_comes_out n Z pred0 a c move_ 0 s)))).
  rewrite fine_le ?mass_fin//; [exact: measurable_one_run | exact: (measurable_run noises) |].
  apply: le_measure; rewrite ?inE; [exact: measurable_one_run | exact: (measurable_run noises) |] => w /= h.
  rewrite /run_comes_out; apply/all_of => r; rewrite /worst_run_limits.comes_out /=.
  have /allP/(_ _ (mem_tnth r (in_tuple rs))) := h; rewrite /comes_out /= /row /linear_at -/(a r) -/(c r) -/(move_ r).
  by case: (tnth _ _).2 => // /ltW.
apply: (le_trans (hK s)); apply: (@le_trans _ _ (`|K| * expR (- (t * loss move_ (fun r => y r) * s%:R)))).
  by rewrite ler_wpmul2r ?expR_ge0// ler_norm.
rewrite ler_wpmul2l// ler_expR ler_oppr opprK ler_wpmul2r// ler_wpmul2l//.
Qed.

Lemma runs_fall last t runs : 0 <= t -> t < 1 -> (forall rs, List.In rs runs -> run_lost last rs) ->
  exists2 K, 0 <= K & forall s : nat, fine (nu (some_run runs s%:R)) <= K * expR (- (t * last * s%:R)).
Proof.
move=> t0 t1; elim: runs => [|rs runs IH] lost.
  by exists 0 => // s; rewrite mul0r (_ : some_run _ _ = set0) ?measure0//; apply/seteqP; split.
have [K K0 hK] := one_run_falls t0 t1 (lost rs (or_introl erefl)).
have [K' K0' hK'] := IH (fun rs' h => lost rs' (or_intror h)).
exists (K + K') => [|s]; first exact: addr_ge0.
rewrite some_runS mulrDl; apply: le_trans (union_most _ _) (ler_add (hK s) (hK' s)); [exact: measurable_one_run | exact: measurable_some_run].
Qed.

(* -- At the start: a run that holds at a point with room, and goes on to hold where the noises move with the answers -- *)

Context (lam : nat -> {measure set R -> \bar R}) (whole : pred nat) (z v cost : nat -> R).
Hypothesis slopes : forall j, has_slopes (lam j) (mu j) (left j) (right j).
Hypothesis lives : forall j, (j < n)%N -> if whole j then is_true (0 < mu j [set z j])%E
  else forall e, 0 < e -> (0 < mu j `](z j - e)%R, (z j + e)%R[%classic)%E.
Hypothesis costs : forall j, (j < n)%N -> slope_cost (left j) (right j) (v j) (cost j).

Definition goes_on_there (G : linear R * bool) : Prop :=
  (0 < linear_at n G.1 z 0 \/ [/\ ~~ G.2, 0 <= linear_at n G.1 z 0 & forall j : 'I_n, of_number G.1 j != 0 -> whole j]) /\
  0 <= \sum_(j < n) of_number G.1 j * v j + moved G.1.

Definition near (t : R) (j : nat) : set R := if whole j then [set z j] else `](z j - t)%R, (z j + t)%R[%classic.

Lemma near_small t j x : 0 < t -> near t j x -> `|x - z j| < t.
Proof.
move=> t0; rewrite /near; case: (whole j) => [->|]; first by rewrite subrr normr0.
by rewrite /= in_itv/= => /andP[lo hi]; rewrite ltr_norml; apply/andP; split; lra.
Qed.

Lemma room_near (rs : run_rows R) : (forall G, List.In G rs -> goes_on_there G) ->
  exists2 t, 0 < t & forall (G : linear R * bool) e s, List.In G rs -> 0 <= s -> (forall j, (j < n)%N -> near t j (e j - s * v j)) -> comes_out (e, s) G.
Proof.
elim: rs => [|G rs IH] all_; first by exists 1.
have [t t0 ht] := IH (fun G' h => all_ G' (or_intror h)); have [here along] := all_ G (or_introl erefl).
pose A := \sum_(j < n) `|of_number G.1 j| + 1; have A0 : 0 < A by rewrite ltr_paddl// sumr_ge0.
pose u := if 0 < linear_at n G.1 z 0 then linear_at n G.1 z 0 / A else 1.
have u0 : 0 < u by rewrite /u; case: ifP => // h; rewrite divr_gt0.
exists (Num.min t u) => [|G' e s]; first by rewrite lt_minr t0.
have smaller t' j x : 0 < Num.min t u -> Num.min t u <= t' -> near (Num.min t u) j x -> near t' j x.
  move=> m0 le; rewrite /near; case: (whole j) => //=; rewrite !in_itv/= => /andP[lo hi]; apply/andP; split; lra.
have m0 : 0 < Num.min t u by rewrite lt_minr t0.
move=> [<-|/ht h] s0 ns; last by apply: h => // j jn; apply: smaller (ns j jn) => //; rewrite le_minl lexx.
have E : linear_at n G.1 e s = linear_at n G.1 z 0 + \sum_(j < n) of_number G.1 j * (e j - s * v j - z j) +
    s * (\sum_(j < n) of_number G.1 j * v j + moved G.1).
  rewrite /linear_at mul0r addr0 mulrDr mulr_sumr.
  have -> : \sum_(j < n) of_number G.1 j * (e j - s * v j - z j) =
      \sum_(j < n) of_number G.1 j * e j - \sum_(j < n) s * (of_number G.1 j * v j) - \sum_(j < n) of_number G.1 j * z j.
    by rewrite -!sumrB; apply: eq_bigr => j _; lra.
  lra.
have along' := mulr_ge0 s0 along.
suff : if G.2 then 0 < linear_at n G.1 z 0 + \sum_(j < n) of_number G.1 j * (e j - s * v j - z j)
    else 0 <= linear_at n G.1 z 0 + \sum_(j < n) of_number G.1 j * (e j - s * v j - z j).
  by rewrite /comes_out /= E; case: G.2 => h; lra.
case: here => [pos|[ns' ge0 exactly]].
- have small : `|\sum_(j < n) of_number G.1 j * (e j - s * v j - z j)| < linear_at n G.1 z 0.
    apply: (le_lt_trans (ler_norm_sum _ _ _)); apply: (@le_lt_trans _ _ (u * \sum_(j < n) `|of_number G.1 j|)).
      rewrite mulr_sumr; apply: ler_sum => j _; rewrite normrM mulrC ler_wpmul2r//.
      by apply/ltW; apply: near_small => //; apply: smaller (ns j (ltn_ord j)) => //; rewrite le_minl lexx orbT.
    have uA : u * A = linear_at n G.1 z 0 by rewrite /u pos divfK// gt_eqF.
    by rewrite -uA ltr_pmul2l// /A ltr_addl.
  by move: small; rewrite ltr_norml => /andP[lo hi]; case: G.2; lra.
- rewrite (negbTE ns') big1 ?addr0// => j _; have [->|ne] := eqVneq (of_number G.1 j) 0; first by rewrite mul0r.
  by have := ns j (ltn_ord j); rewrite /near (exactly j ne) => ->; rewrite subrr mulr0.
Qed.

Lemma starts_slowly (runs : seq (run_rows R)) rs (T : nat) : List.In rs runs -> (forall G, List.In G rs -> goes_on_there G) ->
  (forall j k, (j < n)%N -> keeps (lam j) ((k * T)%:R * v j)) ->
  exists2 c, 0 < c & forall k : nat, c <= expR ((\sum_(j < n) cost j) * (k * T)%:R) * fine (nu (some_run runs (k * T)%:R)).
Proof.
move=> in_runs all_ kept; have [t t0 ht] := room_near all_.
have mn j : measurable (near t j) by rewrite /near; case: (whole j); [exact: measurable_set1 | exact: measurable_itv].
pose box := \big[setI/setT]_(j < n) (Z j @^-1` near t j).
have mb : measurable box by apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; exact: (measurable_noises noises).
exists (fine (nu box)) => [|k].
  rewrite /box (independent_box noises mn); apply: prodr_gt0 => j _; have := lives (ltn_ord j); rewrite /near -lte_fin fineK ?(mass_fin (mu1 j))//.
    by case: (whole j) => //; apply.
  exact: mn.
set s := (k * T)%:R; have s0 : 0 <= s :> R by exact: ler0n.
have [Tr [mT TE Tc]] := independent_moved (v := fun j => s * v j) (c := fun j => s * cost j) noises
  (fun j jn A mA => slope_cost_loses (slopes j) (costs jn) s0 (kept j k jn) mA).
have mA := measurable_some_run runs s; have mTA : measurable [set w | some_run runs s (Tr w)] by rewrite -[X in measurable X]setTI; exact: mT.
have inside w : box w -> some_run runs s (Tr w).
  move=> /all_of hb; rewrite /some_run /=.
  have : all (comes_out (zs (Tr w), s)) rs.
    suff h : forall G, List.In G rs -> comes_out (zs (Tr w), s) G by elim: rs h {in_runs all_ ht} => //= G rs IH h; rewrite h ?IH; auto.
    by move=> G Gin; apply: ht => // j jn; rewrite TE// addrK; exact: (hb (Ordinal jn)).
  by elim: runs in_runs {mA mTA} => //= rs' runs IH [->|/IH h]; [move=> -> | move=> /h ->; rewrite orbT].
have := Tc _ mA; rewrite -lee_fin => h.
have f A : measurable A -> nu A = (fine (nu A))%:E by move=> m'; rewrite fineK// mass_fin.
rewrite EFinM -(f _ mA) -(f _ mb) (_ : (\sum_(j < n) cost j) * s = \sum_(j < n) s * cost j); last by rewrite mulrC mulr_sumr.
by apply: le_trans h; apply: le_measure; rewrite ?inE.
Qed.
End Noises.
End Moving.
