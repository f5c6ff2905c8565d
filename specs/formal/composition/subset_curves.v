(* Privacy curves of a uniformly random subset of m of n records, neighbours by replacing one (docs/theory/composition.md, sampling without
   replacement): if the part's curve is at most H in both orders, the whole has delta(eps) <= p H(1 + (e^eps - 1)/p), p = m/n, H a function
   of e^eps; where all other records equal the one that replaces, the outputs are (1 - p) Q + p P and Q. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition curves pairs poisson_subsampling without_replacement.

Section Sample.
Context (R : realType) (I : finType) (A : eqType) d (T : measurableType d) (m : nat).
Variables (M : mechanism R (seq A) T) (K : mechanism R (I -> A) T).
Hypotheses (m0 : (0 < m)%N) (mn : (m <= #|I|)%N) (KM : on_a_subset m M K).
Notation n := (#|I|).
Notation p := (m%:R / n%:R : R).
Notation draws := ('C(n, m)%:R : R).

Let n0 : 0 < n%:R :> R. Proof. by rewrite ltr0n (leq_trans m0). Qed.
Let pn : p * n%:R = m%:R. Proof. by rewrite divfK// gt_eqF. Qed.
Let p0 : 0 < p. Proof. by rewrite divr_gt0// ltr0n. Qed.
Let p1 : p <= 1. Proof. by rewrite ler_pdivr_mulr// mul1r ler_nat. Qed.
Let draws0 : 0 < draws. Proof. by rewrite ltr0n bin_gt0. Qed.

Lemma others (B : {set I}) : #|B| = m -> #|[pred j | j \notin B]| = (n - m)%N.
Proof. by move=> Bm; have := cardC (mem B); rewrite Bm => <-; rewrite addKn; exact: eq_card. Qed.

(* A share p of the samples has a given record. *)
Lemma samples_with (i : I) : \sum_(B : {set I} | (i \in B) && (#|B| == m)) 1 = p * draws :> R.
Proof.
set N1 := LHS; pose N0 := \sum_(B : {set I} | (i \notin B) && (#|B| == m)) 1 : R.
have all : N0 + N1 = draws.
  transitivity (\sum_(B : {set I} | #|B| == m) 1 : R); last by rewrite sumr_const -card_draws; congr (_%:R); apply: eq_card => B; rewrite inE.
  by rewrite [RHS](bigID (fun B : {set I} => i \in B))/= addrC; congr (_ + _); apply: eq_bigl => B; rewrite andbC.
have swap : (n%:R - m%:R) * N1 = m%:R * N0.
  transitivity (\sum_(B : {set I} | (i \in B) && (#|B| == m)) \sum_(j | j \notin B) 1 : R).
    rewrite mulr_sumr; apply: eq_bigr => B /andP[_ /eqP Bm]; by rewrite sumr_const others// mulr1 natrB.
  by rewrite (exchange i m (fun=> 1)) mulr_sumr.
by apply: (mulIf (lt0r_neq0 n0)); rewrite mulrAC pn -all; lra.
Qed.

(* One event: with the record in the sample either it alone is replaced or another record takes its place. *)
Lemma subset_event x x' i a S h : 1 <= a -> (forall j, j != i -> x j = x' j) -> measurable S ->
  (forall s s', replaced s s' -> fine (M s S) - a * fine (M s' S) <= h) ->
  fine (K x S) - (1 + p * (a - 1)) * fine (K x' S) <= p * h.
Proof.
move=> a1 xx mS H; rewrite !KM//=; set al := 1 + _; have a0 : 0 < a by exact: lt_le_trans a1.
pose f x (B : {set I}) := fine (M (content x B) S).
pose W y := \sum_(B : {set I} | (i \in B) && (#|B| == m)) f y B.
pose F y := \sum_(B : {set I} | (i \notin B) && (#|B| == m)) f y B.
have split y : \sum_(B : {set I} | #|B| == m) f y B = F y + W y.
  by rewrite (bigID (fun B : {set I} => i \in B))/= addrC; congr (_ + _); apply: eq_bigl => B; rewrite andbC.
have FF : F x' = F x by apply: eq_bigr => B /andP[iB _]; rewrite /f (content_same xx iB).
have hE : \sum_(B : {set I} | (i \in B) && (#|B| == m)) h = p * draws * h by rewrite -(samples_with i) mulr_suml; apply: eq_bigr => B _; rewrite mul1r.
have WW : W x - a * W x' <= p * draws * h.
  rewrite -hE /W mulr_sumr -sumrB; apply: ler_sum => B /andP[iB _]; apply: H; exact: (replaced_same xx iB).
have WF : (n%:R - m%:R) * W x - a * (m%:R * F x) <= (n%:R - m%:R) * (p * draws * h).
  have sum_others (g : {set I} -> R) : (n%:R - m%:R) * (\sum_(B : {set I} | (i \in B) && (#|B| == m)) g B) =
      \sum_(B : {set I} | (i \in B) && (#|B| == m)) \sum_(j | j \notin B) g B.
    by rewrite mulr_sumr; apply: eq_bigr => B /andP[_ /eqP Bm]; rewrite sumr_const others// -[RHS]mulr_natl natrB.
  rewrite -hE /W !sum_others [m%:R * _]mulr_sumr -(exchange i m (f x)) mulr_sumr -sumrB; apply: ler_sum => B /andP[iB _].
  by rewrite mulr_sumr -sumrB; apply: ler_sum => j jB; apply: H; exact: replaced_other.
rewrite -/(f x) -/(f x') -[X in X / _ - _]/(\sum_(B : {set I} | #|B| == m) f x B).
rewrite -[X in _ - _ * (X / _)]/(\sum_(B : {set I} | #|B| == m) f x' B) !split FF.
have -> : (F x + W x) / draws - al * ((F x + W x') / draws) = (F x + W x - al * (F x + W x')) / draws by rewrite mulrA -mulrBl.
rewrite ler_pdivr_mulr// [leRHS]mulrAC; set Z := _ * h in WW WF *.
pose r := al / a; pose k := (a - 1) / (n%:R * a).
have ra : r * a = al by rewrite /r divfK// gt_eqF.
have na : n%:R * a != 0 by rewrite mulf_neq0 ?gt_eqF.
have kna : k * (n%:R * a) = a - 1 by rewrite /k divfK.
have e1 : k * (a * m%:R) = al - 1 by have := congr1 (fun z => k * a * z) pn; have := congr1 (fun z => p * z) kna; rewrite /al; lra.
have e2 : k * (n%:R - m%:R) = 1 - r.
  apply: (mulIf (lt0r_neq0 a0)); rewrite mulrBl ra mul1r.
  have -> : k * (n%:R - m%:R) * a = k * (n%:R * a) - k * (a * m%:R) by lra.
  by rewrite kna e1 opprB addrA subrK.
have r0 : 0 <= r by rewrite divr_ge0// ?(ltW a0)// addr_ge0// mulr_ge0 ?(ltW p0)// subr_ge0.
have k0 : 0 <= k by rewrite divr_ge0 ?subr_ge0// mulr_ge0 ?(ltW n0)// ltW.
have := ler_wpmul2l r0 WW; rewrite mulrBr mulrA ra => h1.
have := ler_wpmul2l k0 WF; rewrite [leRHS]mulrA e2 mulrBr mulrA e2 [a * (_ * _)]mulrA [k * (a * _ * _)]mulrA e1 => h2.
lra.
Qed.

(* The part does not see in which order the records of the sample come. *)
Hypothesis unordered : forall s s' S, perm_eq s s' -> measurable S -> M s S = M s' S.

(* All records but one equal b. *)
Lemma all_alike (a b : A) (i : I) S : measurable S ->
  K (fun=> b) S = M (nseq m b) S /\
  fine (K (fun j => if j == i then a else b) S) = (1 - p) * fine (M (nseq m b) S) + p * fine (M (a :: nseq m.-1 b) S).
Proof.
move=> mS; have alike (B : {set I}) (x : I -> A) : (forall j, j \in B -> x j = b) -> content x B = nseq #|B| b.
  move=> xb; have e : #|B| = size (content x B) by rewrite /content size_map cardE.
  by rewrite e; apply/all_pred1P/allP => _ /mapP[j jB ->]; rewrite /= xb//; move: jB; rewrite mem_enum.
have N : \sum_(B : {set I} | #|B| == m) 1 = draws :> R.
  by rewrite sumr_const -card_draws; congr (_%:R); apply: eq_card => B; rewrite inE.
split.
  rewrite KM// (eq_bigr (fun=> 1 * fine (M (nseq m b) S))) => [|B /eqP Bm]; last by rewrite mul1r (alike B)// Bm.
  by rewrite -mulr_suml N mulrC mulKf ?gt_eqF// fineK// mass_fin// law_total.
set x := fun j => _; rewrite KM//= (bigID (fun B : {set I} => i \in B))/=.
rewrite (eq_bigl (fun B : {set I} => (i \in B) && (#|B| == m))) => [|B]; last by rewrite andbC.
rewrite [X in _ + X](eq_bigl (fun B : {set I} => (i \notin B) && (#|B| == m))) => [|B]; last by rewrite andbC.
rewrite (eq_bigr (fun=> 1 * fine (M (a :: nseq m.-1 b) S))) => [|B /andP[iB /eqP Bm]]; last first.
  rewrite mul1r; congr fine; apply: unordered => //; apply: perm_trans (content_with x iB) _; rewrite /x eqxx perm_cons.
  rewrite (alike (B :\ i)%SET) => [|j]; last by rewrite in_setD1 => /andP[/negbTE ->].
  by have := cardsD1 i B; rewrite iB Bm => ->.
rewrite [X in _ + X](eq_bigr (fun=> 1 * fine (M (nseq m b) S))) => [|B /andP[iB /eqP Bm]]; last first.
  by rewrite mul1r (alike B) ?Bm// => j jB; rewrite /x; case: eqVneq => // e; rewrite -e jB in iB.
have rest : \sum_(B : {set I} | (i \notin B) && (#|B| == m)) 1 = (1 - p) * draws :> R.
  have e : \sum_(B : {set I} | (i \notin B) && (#|B| == m)) 1 + \sum_(B : {set I} | (i \in B) && (#|B| == m)) 1 = draws :> R.
    by rewrite -N [RHS](bigID (fun B : {set I} => i \in B))/= addrC; congr (_ + _); apply: eq_bigl => B; rewrite andbC.
  by rewrite samples_with in e; lra.
by rewrite -!mulr_suml samples_with rest; apply: (mulIf (lt0r_neq0 draws0)); rewrite divfK ?gt_eqF//; lra.
Qed.

(* H bounds the curves of the part on neighbours, which are so in both orders. *)
(* Rule: sampling-without-replacement. *)
Theorem subset_curves (H : R -> R) : (forall s s' b, replaced s s' -> 1 <= b -> profile b (M s) (M s') <= H b) ->
  (forall x x' eps, both (@one_replaced I A) x x' -> 0 <= eps -> profile (expR eps) (K x) (K x') <= p * H (1 + (expR eps - 1) / p)) /\
  forall a b i c, 0 <= c -> let x := fun j => if j == i then a else b in
    [/\ one_replaced x (fun=> b), replaced (a :: nseq m.-1 b) (nseq m b),
        profile c (K x) (K (fun=> b)) = with_record_first p (fun y => profile y (M (a :: nseq m.-1 b)) (M (nseq m b))) c &
        profile c (K (fun=> b)) (K x) = with_record_second p (fun y => profile y (M (nseq m b)) (M (a :: nseq m.-1 b))) c].
Proof.
move=> h; split=> [x x' eps xx e0 | a b i c c0 x].
- have [i {}xx] : exists i, forall j, j != i -> x j = x' j.
    by case: xx => -[i xx]; exists i => // j ji; rewrite (xx j ji).
  have e1 : 0 <= expR eps - 1 by rewrite subr_ge0 -expR0 ler_expR.
  pose al := 1 + (expR eps - 1) / p; have al1 : 1 <= al by rewrite ler_addl divr_ge0 ?(ltW p0).
  have alE : 1 + p * (al - 1) = expR eps by rewrite /al addrAC subrr add0r mulrCA divff ?gt_eqF// mulr1 addrC subrK.
  apply: profile_le => S mS; rewrite -{1}alE; apply: (subset_event al1 xx mS) => s s' ss.
  apply: le_trans (h s s' al ss al1); apply: profile_event => //; try exact: law_total.
  exact: le_trans al1.
- have same (W : {measure set T -> \bar R}) : profile c W (K (fun=> b)) = profile c W (M (nseq m b)) /\ profile c (K (fun=> b)) W = profile c (M (nseq m b)) W.
    by split; congr sup; apply/seteqP; split=> _ [S mS <-]; exists S => //; rewrite (all_alike a b i mS).1.
  have mix : profile c (K x) (M (nseq m b)) = with_record_first p (fun y => profile y (M (a :: nseq m.-1 b)) (M (nseq m b))) c /\
      profile c (M (nseq m b)) (K x) = with_record_second p (fun y => profile y (M (nseq m b)) (M (a :: nseq m.-1 b))) c.
    apply: mixture_curves => //; rewrite ?(ltW p0) ?law_total// => S mS; exact: (all_alike a b i mS).2.
  split; [by exists i => j ji; rewrite /x (negbTE ji) | | by have [-> _] := same (K x); exact: mix.1 | by have [_ ->] := same (K x); exact: mix.2].
  by exists a, b, (nseq m.-1 b); split; rewrite ?perm_refl//; case: (m) m0.
Qed.
End Sample.
