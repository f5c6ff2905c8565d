(* Words that a stream tells (docs/theory/selection.md, told words): they are told in finitely many runs that exclude each other; in each run the rows of
   groups of noises that are apart are independent; sums over cells of a few noises enclose the probability of a group; and the log-ratio of the
   probabilities of the same words on two neighbours bounds epsilon from below. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions kernels composition curves pairs independent word_chances.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* What one event says of epsilon. *)
Section Event.
Context (R : realType) (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (x x' : X) (S : set Y).
Hypotheses (near : N x x') (mS : measurable S).

Let pE z : M z S = (fine (M z S))%:E. Proof. by rewrite fineK// mass_fin// law_total. Qed.

Lemma event_ratio (v p p' : R) : p <= fine (M x S) -> fine (M x' S) <= p' -> 0 < p -> 0 < p' -> v <= ln (p / p') -> (v%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> hp hp' p0 p0' hv; apply: lb_ereal_inf => _ [e [e0 dpM] <-]; rewrite lee_fin; apply: le_trans hv _.
rewrite -(@ler_expR R) lnK ?posrE ?divr_gt0// ler_pdivr_mulr//; apply: (le_trans hp).
have := dpM _ _ near S mS; rewrite (pE x) (pE x') adde0 -EFinM lee_fin => /le_trans; apply.
by rewrite ler_wpmul2l ?expR_ge0.
Qed.

Lemma event_never : 0 < fine (M x S) -> fine (M x' S) = 0 -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
move=> p0 q0; apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [e [e0 dpM] <-].
by have := dpM _ _ near S mS; rewrite (pE x) (pE x') q0 mule0 adde0 lee_fin leNgt p0.
Qed.
End Event.

Section Chances.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1%E. Proof. exact: independent_total noises. Qed.

Lemma all_of (I : finType) (F : I -> set W) w : (\big[setI/setT]_i F i) w <-> forall i, F i w.
Proof.
split=> [h i|h]; first by move: h; rewrite (bigD1 i)//= => -[].
by elim/big_ind: _ => // A B; split.
Qed.

(* Runs that exclude each other, each of groups of rows that share no noises. *)
Section Runs.
Context (P G : finType) (V : P -> G -> pred nat) (E : P -> G -> set W).
Hypotheses (mE : forall r g, measurable (E r g)) (own : forall r g, depends n Z (V r g) (E r g)).
Hypothesis apart : forall r g g' j, g != g' -> V r g j -> ~~ V r g' j.
Hypothesis exclude : forall r r' w, (forall g, E r g w) -> (forall g, E r' g w) -> r = r'.
Definition told_in : set W := [set w | exists r, forall g, E r g w].

Lemma told_inE : told_in = \big[setU/set0]_r \big[setI/setT]_g E r g.
Proof.
apply/seteqP; split=> w.
- by move=> [r h]; rewrite (bigD1 r)//=; left; apply/all_of.
- elim/big_ind: _ => //= [A B hA hB [/hA|/hB]//|r _ h]; by exists r; apply/all_of.
Qed.

Lemma measurable_told : measurable told_in.
Proof. by rewrite told_inE; apply: bigsetU_measurable => r _; exact: bigsetI_measurable. Qed.

Lemma told_chance : fine (nu told_in) = \sum_r \prod_g fine (nu (E r g)).
Proof.
suff -> : nu told_in = (\sum_r \prod_g fine (nu (E r g)))%:E by [].
rewrite told_inE -sumEFin; have := index_enum_uniq P; elim: (index_enum P) => [|r s IH]; first by rewrite !big_nil measure0.
move=> /= /andP[rs us]; rewrite !big_cons -IH// -(groups_apart noises (V := V r))//; last exact: (@apart r).
apply: measureU; [exact: bigsetI_measurable | by apply: bigsetU_measurable => r' _; exact: bigsetI_measurable |].
apply/seteqP; split=> // w [/all_of h] u; elim: s rs u {IH us} => [|r' s IH]; first by rewrite big_nil.
rewrite inE negb_or big_cons => /andP[/eqP rr' rs] [/all_of h'|]; last exact: IH.
by apply: rr'; exact: exclude h h'.
Qed.

(* Bounds on the groups bound the whole. *)
Lemma told_enclosed (low high : P -> G -> R) : (forall r g, 0 <= low r g) ->
  (forall r g, low r g <= fine (nu (E r g)) <= high r g) -> \sum_r \prod_g low r g <= fine (nu told_in) <= \sum_r \prod_g high r g.
Proof.
move=> l0 b; rewrite told_chance; apply/andP; split; apply: ler_sum => r _; apply: ler_prod => g _.
- by rewrite l0; case/andP: (b r g).
- by rewrite fine_ge0//; case/andP: (b r g).
Qed.
End Runs.

(* Cells: which of finitely many each noise is in; of a noise that is no pivot there is one alone. *)
Section Cells.
Context (K : finType) (which : nat -> R -> K).
Hypothesis mwhich : forall j k, measurable (which j @^-1` [set k]).
Definition cell_of w : {ffun 'I_n -> K} := [ffun j : 'I_n => which j (Z j w)].

Lemma sides (A : 'I_n -> set R) : (forall j, measurable (A j)) ->
  fine (nu (\big[setI/setT]_(j < n) (Z j @^-1` A j))) = \prod_(j < n) fine (mu j (A j)).
Proof.
move=> mA; pose B (k : nat) := oapp A setT (insub k).
have BE (j : 'I_n) : B j = A j by rewrite /B valK.
have mB k : measurable (B k) by rewrite /B; case: (insub k) => [j|] /=; [exact: mA | exact: measurableT].
rewrite (eq_bigr (fun j : 'I_n => Z j @^-1` B j)); last by move=> j _; rewrite BE.
by rewrite (independent_box noises mB)/=; apply: eq_bigr => j _; rewrite BE.
Qed.

Lemma measurable_sides (A : 'I_n -> set R) : (forall j, measurable (A j)) -> measurable (\big[setI/setT]_(j < n) (Z j @^-1` A j)).
Proof. by move=> mA; apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; apply: (measurable_noises noises). Qed.

Lemma in_cell (c : {ffun 'I_n -> K}) : cell_of @^-1` [set c] = \big[setI/setT]_(j < n) (Z j @^-1` (which j @^-1` [set c j])).
Proof.
apply/seteqP; split=> w; first by move=> /= <-; apply/all_of => j /=; rewrite ffunE.
by move=> /all_of h; apply/ffunP => j; rewrite ffunE; exact: h.
Qed.

Lemma measurable_cell (c : {ffun 'I_n -> K}) : measurable (cell_of @^-1` [set c]).
Proof. by rewrite in_cell; apply: measurable_sides. Qed.

Lemma by_cells E : measurable E -> fine (nu E) = \sum_(c : {ffun 'I_n -> K}) fine (nu (E `&` cell_of @^-1` [set c])).
Proof.
move=> mE; have f A : measurable A -> nu (E `&` A) = (fine (nu (E `&` A)))%:E.
  by move=> mA; rewrite fineK// mass_fin//; exact: measurableI.
suff -> : nu E = (\sum_(c : {ffun 'I_n -> K}) fine (nu (E `&` cell_of @^-1` [set c])))%:E by [].
have := mass_bins measurable_cell [the measure _ _ of mrestr nu mE] predT; rewrite /= /mrestr.
rewrite (_ : [set _ | _] = setT) ?setTI; last by apply/seteqP; split.
move=> ->; rewrite -sumEFin; apply: eq_bigr => c _; rewrite setIC; apply: f; exact: measurable_cell.
Qed.

(* In a cell the noises between some numbers make the event sure, and those between others possible. *)
Context (E : set W) (sure possible : pred {ffun 'I_n -> K}) (L U : {ffun 'I_n -> K} -> 'I_n -> set R).
Hypotheses (mE : measurable E) (mL : forall c j, measurable (L c j)) (mU : forall c j, measurable (U c j)).
Hypothesis surely : forall w, sure (cell_of w) -> (forall j : 'I_n, L (cell_of w) j (Z j w)) -> E w.
Hypothesis perhaps : forall w, E w -> possible (cell_of w) /\ forall j : 'I_n, U (cell_of w) j (Z j w).
Context (low high : {ffun 'I_n -> K} -> 'I_n -> R).
Hypotheses (low0 : forall c j, 0 <= low c j) (lowL : forall (c : {ffun 'I_n -> K}) (j : 'I_n), low c j <= fine (mu j (which j @^-1` [set c j] `&` L c j))).
Hypothesis highU : forall (c : {ffun 'I_n -> K}) (j : 'I_n), fine (mu j (which j @^-1` [set c j] `&` U c j)) <= high c j.

Lemma cells_enclose : \sum_(c | sure c) \prod_j low c j <= fine (nu E) <= \sum_(c | possible c) \prod_j high c j.
Proof.
have f A : measurable A -> nu A \is a fin_num by move=> mA; exact: mass_fin.
have fit A B : measurable A -> measurable B -> A `<=` B -> fine (nu A) <= fine (nu B).
  by move=> mA mB AB; rewrite fine_le ?f// le_measure ?inE.
have mI (A : set R) (c : {ffun 'I_n -> K}) (j : 'I_n) : measurable A -> measurable (which j @^-1` [set c j] `&` A) by move=> mA; exact: measurableI.
have mEc (c : {ffun 'I_n -> K}) : measurable (E `&` cell_of @^-1` [set c]) by apply: measurableI => //; exact: measurable_cell.
rewrite by_cells//; apply/andP; split.
- rewrite big_mkcond/=; apply: ler_sum => c _; case: ifP => [sc|_]; last exact: fine_ge0.
  apply: (@le_trans _ _ (\prod_(j < n) fine (mu j (which j @^-1` [set c j] `&` L c j)))).
    by apply: ler_prod => j _; rewrite low0 lowL.
  rewrite -sides; last by move=> j; exact: mI.
  apply: fit => //; first by apply: measurable_sides => j; exact: mI.
  move=> w /all_of h; have cw : cell_of w = c by apply/ffunP => j; rewrite ffunE; case: (h j).
  by split=> //; apply: surely; rewrite cw// => j; case: (h j).
- rewrite [leRHS]big_mkcond/=; apply: ler_sum => c _; case: ifP => [pc|/negP npc]; last first.
    rewrite (_ : _ `&` _ = set0) ?measure0//; apply/seteqP; split=> // w [/perhaps[p _] cw].
    by apply: npc; rewrite -(cw : cell_of w = c).
  apply: (@le_trans _ _ (\prod_(j < n) fine (mu j (which j @^-1` [set c j] `&` U c j)))); last first.
    by apply: ler_prod => j _; rewrite fine_ge0 ?highU.
  rewrite -sides; last by move=> j; exact: mI.
  apply: fit => //; first by apply: measurable_sides => j; exact: mI.
  move=> w [/perhaps[_ p] cw]; rewrite /= in cw; apply/all_of => j; split; first by rewrite -cw /= ffunE.
  by have := p j; rewrite cw.
Qed.
End Cells.
End Chances.

(* The words on two neighbours. E r g is where the rows of the group g of the run r hold, with the answers of the one neighbour, E' with those of the
   other; the cells may be others for each group. *)
Section Words.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (x x' : X) (S : set Y).
Hypotheses (near : N x x') (mS : measurable S).
Context (P P' G : finType) (V : P -> G -> pred nat) (V' : P' -> G -> pred nat) (E : P -> G -> set W) (E' : P' -> G -> set W).
Hypotheses (mE : forall r g, measurable (E r g)) (own : forall r g, depends n Z (V r g) (E r g)).
Hypotheses (mE' : forall r g, measurable (E' r g)) (own' : forall r g, depends n Z (V' r g) (E' r g)).
Hypothesis apart : forall r g g' j, g != g' -> V r g j -> ~~ V r g' j.
Hypothesis apart' : forall r g g' j, g != g' -> V' r g j -> ~~ V' r g' j.
Hypothesis exclude : forall r r' w, (forall g, E r g w) -> (forall g, E r' g w) -> r = r'.
Hypothesis exclude' : forall r r' w, (forall g, E' r g w) -> (forall g, E' r' g w) -> r = r'.
Hypotheses (tells : M x S = nu (told_in E)) (tells' : M x' S = nu (told_in E')).

Context (K : finType) (which : P -> G -> nat -> R -> K) (which' : P' -> G -> nat -> R -> K).
Hypothesis mwhich : forall r g j k, measurable (which r g j @^-1` [set k]).
Hypothesis mwhich' : forall r g j k, measurable (which' r g j @^-1` [set k]).
Notation cells := {ffun 'I_n -> K}.
Context (sure : P -> G -> pred cells) (L : P -> G -> cells -> 'I_n -> set R) (low : P -> G -> cells -> 'I_n -> R).
Context (possible : P' -> G -> pred cells) (U : P' -> G -> cells -> 'I_n -> set R) (high : P' -> G -> cells -> 'I_n -> R).
Hypotheses (mL : forall r g c j, measurable (L r g c j)) (mU : forall r g c j, measurable (U r g c j)).
Hypothesis surely : forall r g w, sure r g (cell_of n Z (which r g) w) ->
  (forall j : 'I_n, L r g (cell_of n Z (which r g) w) j (Z j w)) -> E r g w.
Hypothesis perhaps : forall r g w, E' r g w ->
  possible r g (cell_of n Z (which' r g) w) /\ forall j : 'I_n, U r g (cell_of n Z (which' r g) w) j (Z j w).
Hypothesis low0 : forall r g c j, 0 <= low r g c j.
Hypothesis lowL : forall r g (c : cells) (j : 'I_n), low r g c j <= fine (mu j (which r g j @^-1` [set c j] `&` L r g c j)).
Hypothesis highU : forall r g (c : cells) (j : 'I_n), fine (mu j (which' r g j @^-1` [set c j] `&` U r g c j)) <= high r g c j.
Definition least_told := \sum_r \prod_g \sum_(c | sure r g c) \prod_j low r g c j.
Definition most_told := \sum_r \prod_g \sum_(c | possible r g c) \prod_j high r g c j.

Lemma told_at_least : least_told <= fine (M x S).
Proof.
rewrite tells (told_chance noises mE own apart exclude); apply: ler_sum => r _; apply: ler_prod => g _; apply/andP; split.
  by apply: sumr_ge0 => c _; apply: prodr_ge0 => j _.
have one (c : cells) (j : 'I_n) : fine (mu j (which r g j @^-1` [set c j] `&` setT)) <= 1.
  by rewrite setIT -lee_fin fineK ?mass_fin// mass_le1.
have := cells_enclose noises (mwhich r g) (possible := predT) (U := fun _ _ => setT) (mE r g) (mL r g) (fun _ _ => measurableT) (@surely r g)
  (fun w _ => conj isT (fun _ => I)) (low0 r g) (lowL r g) one.
by case/andP.
Qed.

Lemma told_at_most : fine (M x' S) <= most_told.
Proof.
rewrite tells' (told_chance noises mE' own' apart' exclude'); apply: ler_sum => r _; apply: ler_prod => g _; rewrite fine_ge0//=.
have none (c : cells) (j : 'I_n) : 0 <= fine (mu j (which' r g j @^-1` [set c j] `&` set0)) by rewrite setI0 measure0.
have := cells_enclose noises (mwhich' r g) (sure := pred0) (L := fun _ _ => set0) (mE' r g) (fun _ _ => measurable0) (mU r g)
  (fun w (h : false) _ => False_ind _ (notF h)) (@perhaps r g) (fun _ _ => lexx 0) none (highU r g).
by case/andP.
Qed.

(* The log-ratio of the two sums, where these are positive; and words that are told on the one neighbour and never on the other. *)
Theorem told_words :
  (forall v, 0 < least_told -> 0 < most_told -> v <= ln (least_told / most_told) -> (v%:E <= tight_epsilon_in_order N M 0)%E) /\
  (0 < least_told -> most_told = 0 -> tight_epsilon_in_order N M 0 = +oo%E).
Proof.
have lo := told_at_least; have hi := told_at_most; split=> [v l0 m0 hv|l0 m0].
  exact: (event_ratio near mS lo hi).
apply: (event_never near mS); first exact: lt_le_trans lo.
by apply/eqP; rewrite eq_le fine_ge0// andbT -m0.
Qed.
End Words.
