(* Streams (docs/theory/selection.md, alignment), with numbers that are told and shifts that hang on the branches of the whole run. What was told, the
   counters, and what was drawn once, are in the state; the noises that are drawn once are those of a first step. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent.

Section Streams.
Context (R : realType) dS (State : measurableType dS) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Branch : finType).
Hypothesis nu1 : nu setT = 1%E.

(* A step takes a branch, by the state and the noises of the step, and gives the state after it. *)
Record program := Program {
  branch : State -> W -> Branch;
  next : State -> W -> State;
  measurable_branch : forall b, measurable [set x : State * W | branch x.1 x.2 = b];
  measurable_next : measurable_fun setT (fun x : State * W => next x.1 x.2)
}.

(* The mean of a function of the state after a run that takes just these branches. *)
Fixpoint run (P : program) (g : State -> R) (path : seq Branch) (s : State) : R :=
  if path is b :: rest then fine (\int[nu]_z (if branch P s z == b then run P g rest (next P s z) else 0)%:E) else g s.

Definition unit_valued (g : State -> R) := measurable_fun setT g /\ forall s, 0 <= g s <= 1.
Definition on (P : program) g b rest (x : State * W) : R := if branch P x.1 x.2 == b then run P g rest (next P x.1 x.2) else 0.

Lemma measurable_on P g b rest : measurable_fun setT (run P g rest) -> measurable_fun setT (on P g b rest).
Proof.
move=> mr; have mn : measurable_fun setT (fun x : State * W => run P g rest (next P x.1 x.2)).
  exact: (measurable_after (measurable_next P) mr).
have mb := measurable_branch P b.
rewrite (_ : on P g b rest = (fun x => run P g rest (next P x.1 x.2) * \1_[set x : State * W | branch P x.1 x.2 = b] x)).
  by apply: measurable_funM => //; exact: measurable_fun_indic.
apply/funext => x; rewrite /on indicE; case: eqP => h; first by rewrite mem_set// mulr1.
by rewrite memNset ?mulr0.
Qed.

Lemma section_on P g b rest s : measurable_fun setT (run P g rest) -> measurable_fun setT (fun z => on P g b rest (s, z)).
Proof.
move=> /(measurable_on b) mo; apply: (measurable_after (f := fun z : W => (s, z)) _ mo).
by apply/prod_measurable_funP; split; [exact: measurable_fun_cst | exact: measurable_fun_id].
Qed.

Lemma run_unit P g path : unit_valued g -> unit_valued (run P g path).
Proof.
move=> ug; elim: path => [//|b rest [mr r01]].
have o01 x : 0 <= on P g b rest x <= 1 by rewrite /on; case: ifP => _; rewrite ?r01// lexx ler01.
have mo := measurable_on b mr.
have so s := section_on b s mr.
have o0 s z : (0 <= (on P g b rest (s, z))%:E)%E by rewrite lee_fin; case/andP: (o01 (s, z)).
have i0 s : (0 <= \int[nu]_z (on P g b rest (s, z))%:E)%E by apply: integral_ge0.
have i1 s : (\int[nu]_z (on P g b rest (s, z))%:E <= 1)%E.
  apply: (@le_trans _ _ (\int[nu]_z 1)%E); last by rewrite integral_cst// mul1e nu1.
  apply: ge0_le_integral => //; [by apply/EFin_measurable_fun | exact: measurable_fun_cst |].
  by move=> z _; rewrite lee_fin; case/andP: (o01 (s, z)).
have f s : (\int[nu]_z (on P g b rest (s, z))%:E)%E \is a fin_num by rewrite ge0_fin_numE//; apply: le_lt_trans (i1 s) _; rewrite ltry.
split; last by move=> s /=; rewrite -!lee_fin fineK ?f// i0 i1.
apply/EFin_measurable_fun; rewrite (_ : _ \o _ = fubini_F nu (EFin \o on P g b rest)); last first.
  by apply/funext => s; rewrite /fubini_F/= fineK//; exact: f.
apply: measurable_fun_fubini_tonelli_F => //; first exact: law_sigma_finite.
- exact/EFin_measurable_fun.
- by move=> x; rewrite lee_fin; case/andP: (o01 x).
Qed.

(* One step of two runs: the noises of the second are shifted at a cost c, so that both take the branch b; what comes after costs t. *)
Lemma step_shifted (P P' : program) g b rest s s' (shift : W -> W) c t : unit_valued g -> measurable_fun setT shift ->
  (forall A, measurable A -> (nu [set z | A (shift z)] <= (expR c)%:E * nu A)%E) ->
  (forall z, branch P s z = b -> branch P' s' (shift z) = b /\ run P g rest (next P s z) <= expR t * run P' g rest (next P' s' (shift z))) ->
  run P g (b :: rest) s <= expR (c + t) * run P' g (b :: rest) s'.
Proof.
move=> ug mS cS keep.
have [mr r01] := run_unit P rest ug; have [mr' r01'] := run_unit P' rest ug.
have o01 Q x : unit_valued (run Q g rest) -> 0 <= on Q g b rest x <= 1.
  by move=> [_ u]; rewrite /on; case: ifP => _; rewrite ?u// lexx ler01.
have so := section_on b s mr; have so' := section_on b s' mr'.
have fin_int (f : W -> R) : measurable_fun setT f -> (forall z, 0 <= f z <= 1) -> (\int[nu]_z (f z)%:E)%E \is a fin_num.
  move=> mf f01; rewrite ge0_fin_numE; last by apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (f01 z).
  apply: (@le_lt_trans _ _ (\int[nu]_z 1)%E); last by rewrite integral_cst// mul1e nu1 ltry.
  apply: ge0_le_integral => //; first by move=> z _; rewrite lee_fin; case/andP: (f01 z).
  - by apply/EFin_measurable_fun.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin; case/andP: (f01 z).
pose f z := on P g b rest (s, z); pose f' z := on P' g b rest (s', z).
have f01 z : 0 <= f z <= 1 by apply: o01; split.
have f01' z : 0 <= f' z <= 1 by apply: o01; split.
have mT : measurable_fun setT (f' \o shift) by exact: (measurable_after mS so').
pose moved := [the measure _ _ of pushforward nu mS].
have cl : close c 0 moved nu by move=> B mB; rewrite adde0; exact: cS.
have moved1 : moved setT = 1%E by [].
have := close_test_function moved1 nu1 cl so' f01'.
have -> : (\int[moved]_z (f' z)%:E = \int[nu]_z (f' (shift z))%:E)%E.
  by apply: integral_pushforward => //; [exact/EFin_measurable_fun | move=> z; rewrite lee_fin; case/andP: (f01' z)].
rewrite adde0 /= -/(f' _) => h.
rewrite -[X in fine X]/(\int[nu]_z (f z)%:E)%E -[X in _ * fine X]/(\int[nu]_z (f' z)%:E)%E.
rewrite -lee_fin EFinM !fineK ?fin_int// addrC expRD EFinM -muleA.
apply: (@le_trans _ _ ((expR t)%:E * \int[nu]_z (f' (shift z))%:E)%E); last by rewrite lee_wpmul2l ?lee_fin ?expR_ge0.
rewrite -ge0_integralM//; last 3 first.
- exact/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin; case/andP: (f01' (shift z)).
- by rewrite lee_fin expR_ge0.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin; case/andP: (f01 z).
- exact/EFin_measurable_fun.
- by move=> z _; rewrite mule_ge0 ?lee_fin ?expR_ge0//; case/andP: (f01' (shift z)).
- by apply: measurable_funeM; exact/EFin_measurable_fun.
move=> z _; rewrite -EFinM lee_fin /f /f' /on/=; case: ifPn => [/eqP taken|ne]; last first.
  by rewrite mulr_ge0 ?expR_ge0//; case: ifP => // _; case/andP: (r01' (next P' s' (shift z))).
by have [-> le] := keep z taken; rewrite eqxx.
Qed.

(* An alignment of two programs: modes, in each of which the two states differ in a known way. A lead goes from a mode by a branch to a mode; the noises
   of the step are shifted, at a cost, so that the second run takes the same branch. *)
Variables (P P' : program) (Mode : Type) (aligned : Mode -> State -> State -> Prop).

Definition lead (m : Mode) (b : Branch) (m' : Mode) (cost : R) := forall s s', aligned m s s' ->
  exists shift : W -> W, [/\ measurable_fun setT shift, forall A, measurable A -> (nu [set z | A (shift z)] <= (expR cost)%:E * nu A)%E &
    forall z, branch P s z = b -> branch P' s' (shift z) = b /\ aligned m' (next P s z) (next P' s' (shift z))].

Inductive along : Mode -> seq Branch -> R -> Mode -> Prop :=
| Stays m : along m [::] 0 m
| Goes m b m' cost path total last : lead m b m' cost -> along m' path total last -> along m (b :: path) (cost + total) last.

Lemma aligned_run g m path cost last : unit_valued g -> (forall s s', aligned last s s' -> g s = g s') -> along m path cost last ->
  forall s s', aligned m s s' -> run P g path s <= expR cost * run P' g path s'.
Proof.
move=> ug same A; elim: A same => {m path cost last} [m same s s' al|m b m' c rest total last ld _ IH same s s' al].
  by rewrite /= expR0 mul1r (same _ _ al).
have [shift [mS cS keep]] := ld _ _ al; apply: (step_shifted ug mS cS) => z taken.
by have [-> al'] := keep z taken; split=> //; exact: IH.
Qed.

(* Prices pay for the leads: e for each step, p j for each unit that counter j grows by, and what is kept for later. *)
Variables (C : finType) (grows : Branch -> C -> R) (price : C -> R) (each : R) (ahead : Mode -> R) (idle : pred Branch).
Definition paid m b m' cost := cost <= (if idle b then 0 else each) + \sum_j price j * grows b j + ahead m - ahead m'.

Inductive paid_along : Mode -> seq Branch -> R -> Mode -> Prop :=
| PaidStays m : paid_along m [::] 0 m
| PaidGoes m b m' cost path total last : lead m b m' cost -> paid m b m' cost -> paid_along m' path total last ->
    paid_along m (b :: path) (cost + total) last.

Definition counter (path : seq Branch) j := \sum_(b <- path) grows b j.

Lemma paid_total m path total last : paid_along m path total last ->
  along m path total last /\ total <= ahead m - ahead last + each *+ count (predC idle) path + \sum_j price j * counter path j.
Proof.
elim=> {m path total last} [m|m b m' cost path total last ld pd _ [al le]].
  by split; [exact: Stays | rewrite /= subrr big1 ?addr0// => j _; rewrite /counter big_nil mulr0].
split; first exact: Goes ld al.
apply: le_trans (ler_add pd le) _ => /=.
have -> : \sum_j price j * counter (b :: path) j = \sum_j price j * grows b j + \sum_j price j * counter path j.
  by rewrite -big_split/=; apply: eq_bigr => j _; rewrite /counter big_cons mulrDr.
by rewrite mulrnDr; case: (idle b) => /=; rewrite ?mulr0n ?mulr1n; lra.
Qed.

(* What a counter can reach: before the last step it is below its limit, and a multiple of what all that is added to it is one of. *)
Variables (limit unit : C -> R) (largest : C -> R).
Hypotheses (unit0 : forall j, 0 < unit j) (multiple : forall b j, exists k : nat, grows b j = k%:R * unit j) (largestP : forall b j, grows b j <= largest j).
Definition most j := Num.max 0 (unit j * (ceil (limit j / unit j) - 1)%:~R + largest j).

Lemma counter_most path b j : counter path j < limit j -> counter (rcons path b) j <= most j.
Proof.
have [k kE] : exists k : nat, counter path j = k%:R * unit j.
  rewrite /counter; elim: path => [|b' path [k kE]]; first by exists 0%N; rewrite big_nil mul0r.
  by have [k' k'E] := multiple b' j; exists (k' + k)%N; rewrite big_cons kE k'E natrD mulrDl.
rewrite kE -ltr_pdivl_mulr// => lt; rewrite /counter -cats1 big_cat big_seq1 -/(counter path j) kE.
apply: (@le_trans _ _ (unit j * (ceil (limit j / unit j) - 1)%:~R + largest j)); last by rewrite /most le_maxr lexx orbT.
apply: ler_add => //; rewrite mulrC ler_pmul2l//.
have : (k%:Z < ceil (limit j / unit j))%R by rewrite -(ltr_int R); apply: lt_le_trans lt (ceil_ge _).
by rewrite -[k%:R]/(k%:Z%:~R) ler_int ler_subr_addr lez_addr1.
Qed.

Hypotheses (price0 : forall j, 0 <= price j) (each0 : 0 <= each) (idle_grows : forall b j, idle b -> grows b j = 0).

(* A run takes at most so many steps, or each step costs nothing; before its last step every counter is below its limit; after it nothing happens. *)
Definition ends_in_time (steps : nat) path := exists r tail, [/\ path = r ++ tail, all idle tail, (size r <= steps)%N \/ each = 0 &
  forall r' b, r = rcons r' b -> forall j, counter r' j < limit j].

Lemma paid_at_most m path total last steps : paid_along m path total last -> 0 <= ahead last -> ends_in_time steps path ->
  total <= ahead m + each *+ steps + \sum_j price j * most j.
Proof.
move=> pa a0 [r [tail [pE idles len below_]]]; rewrite pE in pa; have [_ le] := paid_total pa; apply: (le_trans le).
have tail0 j : counter (r ++ tail) j = counter r j.
  have zero : \sum_(b <- tail) grows b j = 0 by rewrite big_seq big1// => b bt; apply: idle_grows; exact: (allP idles).
  by rewrite /counter big_cat/= zero addr0.
have c1 : each *+ count (predC idle) (r ++ tail) <= each *+ steps.
  case: len => [len|->]; last by rewrite !mul0rn.
  rewrite -![each *+ _]mulr_natr ler_wpmul2l// ler_nat count_cat (_ : count (predC idle) tail = 0)%N ?addn0; first exact: leq_trans (count_size _ _) len.
  by apply/eqP; rewrite eqn0Ngt -has_count; apply/hasPn => b /(allP idles)/= ->.
have c2 : \sum_j price j * counter (r ++ tail) j <= \sum_j price j * most j.
  apply: ler_sum => j _; rewrite ler_wpmul2l// tail0; case/lastP: r below_ {pE pa le tail0 len c1} => [_|r b below_].
    by rewrite /counter big_nil /most le_maxr lexx.
  by apply: counter_most; exact: below_.
lra.
Qed.

(* What is told after a number of steps. *)
Variables (dH : measure_display) (H : measurableType dH) (told : State -> H) (s0 s0' : State) (k steps : nat) (start : R).
Hypotheses (measurable_told : measurable_fun setT told) (same_told : forall m s s', aligned m s s' -> told s = told s').
Definition tells (Q : program) (s : State) (A : set H) : \bar R := (\sum_(path : k.-tuple Branch) run Q (fun s => \1_A (told s)) path s)%:E.

(* The paths that a run may take: modes go along with each of them, from one in which runs begin; others have probability 0. *)
Theorem alignment_tells : (forall path : k.-tuple Branch,
    (exists m total last, [/\ aligned m s0 s0', paid_along m path total last, 0 <= ahead last, ahead m <= start & ends_in_time steps path]) \/
    (forall g, unit_valued g -> run P g path s0 = 0)) ->
  forall A, measurable A -> (tells P s0 A <= (expR (start + each *+ steps + \sum_j price j * most j))%:E * tells P' s0' A)%E.
Proof.
move=> paths A mA; rewrite /tells -EFinM lee_fin mulr_sumr; apply: ler_sum => path _.
have ug : unit_valued (fun s => \1_A (told s) : R).
  split; last by move=> s; rewrite indicE; case: (_ \in _); rewrite ?lexx ?ler01.
  apply: (measurable_after (g := \1_A : H -> R) measurable_told); exact: measurable_fun_indic.
have [_ r01'] := run_unit P' path ug.
case: (paths path) => [[m [total [last [al pa a0 st time]]]]|none]; last first.
  by rewrite none// mulr_ge0 ?expR_ge0//; case/andP: (r01' s0').
have [go _] := paid_total pa.
apply: (le_trans (aligned_run ug _ go al)); first by move=> s s' /same_told ->.
rewrite ler_wpmul2r ?ler_expR//; first by case/andP: (r01' s0').
have := paid_at_most pa a0 time; lra.
Qed.
End Streams.
