(* Pure epsilons from below of samples without replacement (docs/theory/composition.md: combination): where all other records equal the one that
   replaces, the outputs are a mixture of a pair of the part's. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition groups joint_neighbours sampling without_replacement combination_parts.

Section Subsets.
Context (R : realType) (I : finType) (A : eqType) d (T : measurableType d) (m : nat).
Variables (M : mechanism R (seq A) T) (K : mechanism R (I -> A) T) (i : I) (a a' : A).
Hypotheses (m0 : (0 < m)%N) (mn : (m <= #|I|)%N) (KM : on_a_subset m M K).
(* The order of the records of a sample says nothing. *)
Hypothesis no_order : forall s s' S, perm_eq s s' -> measurable S -> M s S = M s' S.
Notation n := (#|I|).
Notation p := (m%:R / n%:R : R).

(* One record is a, all others are a'; and all are a'. *)
Definition one_differs : I -> A := fun j => if j == i then a else a'.
Definition all_equal : I -> A := fun=> a'.
Definition sample_with : seq A := a :: nseq m.-1 a'.
Definition sample_without : seq A := nseq m a'.

Lemma constant_content x (B : {set I}) : (forall j, j \in B -> x j = a') -> content x B = nseq #|B| a'.
Proof.
move=> same; rewrite /content cardE; have : forall j, j \in enum B -> x j = a' by move=> j; rewrite mem_enum; exact: same.
elim: (enum B) => //= j s IH h; rewrite h ?inE ?eqxx// IH// => k ks; by apply: h; rewrite inE ks orbT.
Qed.

Lemma content_in (B : {set I}) S : #|B| == m -> i \in B -> measurable S -> M (content one_differs B) S = M sample_with S.
Proof.
move=> /eqP Bm iB mS; apply: no_order => //; apply: perm_trans (content_with _ iB) _.
rewrite /one_differs eqxx constant_content => [|j]; last by rewrite in_setD1 => /andP[/negbTE ->].
have -> : #|B :\ i| = m.-1 by have := cardsD1 i B; rewrite iB Bm add1n => ->.
exact: perm_refl.
Qed.

Lemma content_out (B : {set I}) S : #|B| == m -> i \notin B -> M (content one_differs B) S = M sample_without S.
Proof.
move=> /eqP Bm iB; rewrite constant_content ?Bm// => j jB; rewrite /one_differs; case: eqP => // ji.
by move: iB; rewrite -ji jB.
Qed.

Lemma count_without : #|[set B : {set I} | (#|B| == m) && (i \notin B)]%SET| = 'C(n.-1, m).
Proof.
have -> : n.-1 = #|[set~ i]%SET| by rewrite cardsC1.
rewrite -cards_draws; apply: eq_card => B; rewrite !inE andbC; congr (_ && _).
apply/idP/fintype.subsetP => [iB j jB | sub]; first by rewrite !inE; apply: contraNneq iB => <-.
by apply/negP => /sub; rewrite !inE eqxx.
Qed.

Lemma binom_gt0 : 0 < 'C(n, m)%:R :> R. Proof. by rewrite ltr0n bin_gt0. Qed.

Lemma share_without : 'C(n.-1, m)%:R / 'C(n, m)%:R = 1 - p :> R.
Proof.
have n0 : (0 < n)%N by exact: leq_trans mn.
have nn : (n%:R : R) != 0 by rewrite pnatr_eq0 -lt0n.
have := mul_bin_down n m => /(congr1 (fun k : nat => k%:R : R)); rewrite !natrM natrB// => e.
by apply: (mulIf nn); rewrite mulrBl mul1r divfK// mulrAC [X in X / _]mulrC e mulfK// gt_eqF// binom_gt0.
Qed.

(* The outputs with the record are a mixture, those without it are the part's. *)
Lemma sample_mixture S : measurable S ->
  fine (K one_differs S) = (1 - p) * fine (M sample_without S) + p * fine (M sample_with S) /\ K all_equal S = M sample_without S.
Proof.
move=> mS; have b0 := binom_gt0; have bn : 'C(n, m)%:R != 0 :> R by rewrite gt_eqF.
have count_all : #|[set B : {set I} | #|B| == m]%SET| = 'C(n, m) by rewrite card_draws.
split; last first.
  rewrite KM// -[RHS]fineK; last by apply: mass_fin => //; exact: law_total.
  congr EFin; rewrite (eq_bigr (fun=> fine (M sample_without S))) => [|B /eqP Bm]; last by rewrite constant_content ?Bm.
  rewrite sumr_const; have -> : #|[pred B : {set I} | #|B| == m]| = 'C(n, m) by rewrite -count_all; apply: eq_card => B; rewrite !inE.
  by rewrite -[X in X / _]mulr_natr mulfK.
rewrite KM//= (bigID (fun B : {set I} => i \notin B))/=.
rewrite (eq_bigr (fun=> fine (M sample_without S))) => [|B /andP[Bm iB]]; last by rewrite content_out.
rewrite [X in _ + X](eq_bigr (fun=> fine (M sample_with S))) => [|B /andP[Bm]]; last by rewrite negbK => iB; rewrite content_in.
rewrite !sumr_const.
have out : #|[pred B : {set I} | (#|B| == m) && (i \notin B)]| = 'C(n.-1, m) by rewrite -count_without; apply: eq_card => B; rewrite !inE.
have inn : (#|[pred B : {set I} | (#|B| == m) && ~~ (i \notin B)]| + 'C(n.-1, m) = 'C(n, m))%N.
  rewrite -out -count_all -cardUI [X in (_ + X)%N](_ : _ = 0%N) ?addn0.
    by apply: eq_card => B; rewrite !inE; case: (#|B| == m); case: (i \in B).
  by apply: eq_card0 => B; rewrite !inE; case: (i \in B); rewrite ?andbF.
have share := share_without.
have pE : #|[pred B : {set I} | (#|B| == m) && ~~ (i \notin B)]|%:R / 'C(n, m)%:R = p :> R.
  have -> : #|[pred B : {set I} | (#|B| == m) && ~~ (i \notin B)]|%:R = 'C(n, m)%:R - 'C(n.-1, m)%:R :> R by rewrite -inn natrD addrK.
  by rewrite mulrBl divff// share opprB addrC subrK.
have gen (y : R) (k : nat) (c : R) : y *+ k / c = k%:R / c * y by rewrite -[y *+ k]mulr_natl mulrAC.
rewrite [LHS]mulrDl (gen (fine (M sample_without S))) (gen (fine (M sample_with S))); congr (_ * _ + _ * _); last exact: pE.
rewrite -share -out; congr (_%:R / _); exact: eq_card.
Qed.

Let p0 : 0 < p. Proof. by rewrite divr_gt0 ?ltr0n//; exact: leq_trans mn. Qed.
Let p1 : p <= 1. Proof. by rewrite ler_pdivr_mulr ?mul1r ?ler_nat// ltr0n; exact: leq_trans mn. Qed.

Let mixture S : measurable S -> fine (K one_differs S) = (1 - p) * fine (K all_equal S) + p * fine (M sample_with S).
Proof. by move=> mS; have [-> ->] := sample_mixture mS. Qed.

Let without S : measurable S -> K all_equal S = M sample_without S.
Proof. by move=> mS; have [_ ->] := sample_mixture mS. Qed.

Let with_same v : (v <= pair_epsilon (M sample_with) (M sample_without))%E -> (v <= pair_epsilon (M sample_with) (K all_equal))%E.
Proof. by move=> h; apply: (le_trans h); apply: pair_epsilon_le => // S mS; rewrite without. Qed.

Let same_with v : (v <= pair_epsilon (M sample_without) (M sample_with))%E -> (v <= pair_epsilon (K all_equal) (M sample_with))%E.
Proof. by move=> h; apply: (le_trans h); apply: pair_epsilon_le => // S mS; rewrite without. Qed.

Theorem sample_lower :
  [/\ forall v : R, (v%:E <= pair_epsilon (M sample_with) (M sample_without))%E ->
        ((ln (1 + p * (expR v - 1)))%:E <= pair_epsilon (K one_differs) (K all_equal))%E,
      pair_epsilon (M sample_with) (M sample_without) = +oo%E -> pair_epsilon (K one_differs) (K all_equal) = +oo%E,
      forall v : R, (v%:E <= pair_epsilon (M sample_without) (M sample_with))%E ->
        ((- ln (1 - p + p * expR (- v)))%:E <= pair_epsilon (K all_equal) (K one_differs))%E &
      p < 1 -> pair_epsilon (M sample_without) (M sample_with) = +oo%E -> ((- ln (1 - p))%:E <= pair_epsilon (K all_equal) (K one_differs))%E].
Proof.
split.
- by move=> v /with_same; apply: (mixed_first_lower (P := M sample_with) (p := p)); rewrite ?law_total.
- move=> h; have : (+oo <= pair_epsilon (M sample_with) (M sample_without))%E by rewrite h.
  move/with_same; rewrite leye_eq => /eqP; apply: (mixed_first_infinite (P := M sample_with) (p := p)); by rewrite ?law_total.
- by move=> v /same_with; apply: (mixed_second_lower (P := M sample_with) (p := p)); rewrite ?law_total.
- move=> lt h; have : (+oo <= pair_epsilon (M sample_without) (M sample_with))%E by rewrite h.
  move/same_with; rewrite leye_eq => /eqP; apply: (mixed_second_infinite (P := M sample_with) (p := p)) => //; by rewrite ?law_total.
Qed.
End Subsets.

(* With what is shown of the parts at a pair of inputs, in parts, in maps and in Poisson samples; and in samples without replacement, which may
   stand in these again, as any bound at a pair may. *)
(* Rule: combination, lower. *)
Theorem combination_lower_rule (R : realType) :
  (forall X (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) x x' v, N x x' -> loses_here M x x' v ->
    (v <= tight_epsilon_in_order N M 0)%E) /\
  (forall (I : finType) (A : eqType) d (T : measurableType d) m (M : mechanism R (seq A) T) (K : mechanism R (I -> A) T) (i : I) (a a' : A),
    (0 < m)%N -> (m <= #|I|)%N -> on_a_subset m M K -> (forall s s' S, perm_eq s s' -> measurable S -> M s S = M s' S) ->
    let p := m%:R / #|I|%:R : R in
    (forall v : R, loses_here M (sample_with m a a') (sample_without m a') v%:E ->
       loses_here K (one_differs i a a') (all_equal a') (ln (1 + p * (expR v - 1)))%:E) /\
    (loses_here M (sample_with m a a') (sample_without m a') +oo%E -> loses_here K (one_differs i a a') (all_equal a') +oo%E) /\
    (forall v : R, loses_here M (sample_without m a') (sample_with m a a') v%:E ->
       loses_here K (all_equal a') (one_differs i a a') (- ln (1 - p + p * expR (- v)))%:E) /\
    (p < 1 -> loses_here M (sample_without m a') (sample_with m a a') +oo%E -> loses_here K (all_equal a') (one_differs i a a') (- ln (1 - p))%:E)).
Proof.
split; first by move=> X N d Y M x x' v; exact: combination_lower.
move=> I A d T m M K i a a' m0 mn KM no_order p; have [first oo second second_oo] := sample_lower i a a' m0 mn KM no_order.
split; first by move=> v H; apply: Shown; apply: first; exact: loses_here_holds.
split.
  by move=> H; apply: Shown; rewrite oo//; apply/eqP; rewrite -leye_eq; exact: loses_here_holds.
split; first by move=> v H; apply: Shown; apply: second; exact: loses_here_holds.
by move=> lt H; apply: Shown; apply: (second_oo lt); apply/eqP; rewrite -leye_eq; exact: loses_here_holds.
Qed.
