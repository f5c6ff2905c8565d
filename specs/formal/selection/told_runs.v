(* Words that a stream tells (docs/theory/selection.md, told words): they are told in finitely many runs that exclude each other; in each run the rows of
   groups of noises that are apart are independent; cells of the noises part the probability of a group; and the log-ratio of the probabilities of one
   event on two neighbours bounds epsilon from below. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition curves pairs independent word_chances.

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
End Runs.

(* Cells: which of finitely many each noise is in; of a noise that is no pivot there is one alone. *)
Section Cells.
Context (K : finType) (which : nat -> R -> K).
Hypothesis mwhich : forall j k, measurable (which j @^-1` [set k]).
Definition cell_of w : {ffun 'I_n -> K} := [ffun j : 'I_n => which j (Z j w)].

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
End Cells.
End Chances.
