(* A uniformly random subset of m of n records, neighbours by replacing one (docs/theory/composition.md, sampling without replacement): what is
   pure at eps on samples is pure at log(1 + p (e^eps - 1)) on all records, p = m/n. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition.

Section Exchange.
Context (R : realType) (I : finType) (i : I) (m : nat) (f : {set I} -> R).

(* Replace i by a j that is not there: each set of m without i comes from m sets with it. *)
Lemma exchange :
  \sum_(B : {set I} | (i \in B) && (#|B| == m)) \sum_(j | j \notin B) f (j |: (B :\ i)) =
  \sum_(C : {set I} | (i \notin C) && (#|C| == m)) m%:R * f C.
Proof.
rewrite [RHS](eq_bigr (fun C : {set I} => \sum_(j | j \in C) f C)); last first.
  by move=> C /andP[_ /eqP Cm]; rewrite sumr_const Cm mulr_natl.
rewrite !pair_big_dep/=.
rewrite (reindex_onto (fun c : {set I} * I => (i |: (c.1 :\ c.2), c.2)) (fun b : {set I} * I => (b.2 |: (b.1 :\ i), b.2)))/=; last first.
  move=> [B j] /= /andP[/andP[iB _] jB]; congr (_, _).
  have ji : j != i by apply: contraNneq jB => ->.
  rewrite finset.setU1K; last by rewrite in_setD1 (negbTE jB) andbF.
  by rewrite finset.setD1K.
apply: eq_big => [[C j]/= | [C j]/=].
- apply/idP/idP.
  + move=> /andP[/andP[/andP[iB /eqP Bm] jB] /eqP[CE]].
    have ji : j != i by apply: contraNneq jB => ->; rewrite finset.setU11.
    have jC : j \in C by rewrite -CE finset.setU11.
    have iC : i \notin C by rewrite -CE !inE eqxx/= orbF eq_sym.
    by rewrite iC jC andbT/= (cardsD1 j C) jC -Bm cardsU1 in_setD1 (negbTE iC) andbF.
  + move=> /andP[/andP[iC /eqP Cm] jC].
    have ji : j != i by apply: contraNneq iC => <-.
    rewrite finset.setU11/= cardsU1 !inE (negbTE iC) andbF/= (negbTE ji) eqxx/= andbT.
    rewrite finset.setU1K ?in_setD1 ?(negbTE iC) ?andbF// finset.setD1K// eqxx andbT.
    by rewrite -Cm (cardsD1 j C) jC.
- move=> /andP[/andP[/andP[iB _] jB] /eqP[CE]]; congr f; exact: CE.
Qed.
End Exchange.

Section Sample.
Context (R : realType) (I : finType) (A : eqType) d (T : measurableType d) (m : nat).
Variables (M : mechanism R (seq A) T) (K : mechanism R (I -> A) T).
Hypotheses (m0 : (0 < m)%N) (mn : (m <= #|I|)%N).
Notation n := (#|I|).
Notation p := (m%:R / n%:R : R).

(* The part sees the records of the sample. *)
Definition content (x : I -> A) (B : {set I}) : seq A := [seq x b | b <- enum B].

(* K is M on a sample, all subsets of m records alike. *)
Definition on_a_subset := forall x S, measurable S ->
  K x S = ((\sum_(B : {set I} | #|B| == m) fine (M (content x B) S)) / 'C(n, m)%:R)%:E.
Hypothesis KM : on_a_subset.

(* One record is replaced, in whatever order they are. *)
Definition replaced : relation (seq A) := fun s s' => exists a a' u, perm_eq s (a :: u) /\ perm_eq s' (a' :: u).
Definition one_replaced : relation (I -> A) := fun x x' => exists i, forall j, j != i -> x j = x' j.

Lemma enum_with (i : I) (B : {set I}) : i \in B -> perm_eq (enum B) (i :: enum (B :\ i)).
Proof.
move=> iB; apply: uniq_perm; first exact: enum_uniq.
  by rewrite /= enum_uniq andbT mem_enum in_setD1 eqxx.
by move=> j; rewrite in_cons !mem_enum in_setD1; case: eqVneq => // ->.
Qed.

Lemma content_with x (i : I) (B : {set I}) : i \in B -> perm_eq (content x B) (x i :: content x (B :\ i)).
Proof. by move=> iB; rewrite /content -map_cons; apply: perm_map; exact: enum_with. Qed.

Lemma content_same x x' (i : I) (B : {set I}) : (forall j, j != i -> x j = x' j) -> i \notin B -> content x B = content x' B.
Proof.
move=> xx iB; apply/eq_in_map => j; rewrite mem_enum => jB; apply: xx.
by apply: contraNneq iB => <-.
Qed.

Lemma replaced_same x x' (i : I) (B : {set I}) : (forall j, j != i -> x j = x' j) -> i \in B -> replaced (content x B) (content x' B).
Proof.
move=> xx iB; exists (x i), (x' i), (content x (B :\ i)); split; first exact: content_with.
by rewrite (content_same xx) ?in_setD1 ?eqxx//; exact: content_with.
Qed.

Lemma replaced_other x (i j : I) (B : {set I}) : i \in B -> j \notin B -> replaced (content x B) (content x (j |: B :\ i)).
Proof.
move=> iB jB; exists (x i), (x j), (content x (B :\ i)); split; first exact: content_with.
have := @content_with x j (j |: B :\ i) (finset.setU11 _ _).
by rewrite finset.setU1K// in_setD1 (negbTE jB) andbF.
Qed.

Lemma mass_content (s : seq A) S : measurable S -> M s S = (fine (M s S))%:E.
Proof. by move=> mS; rewrite fineK// mass_fin// law_total. Qed.

Lemma sample_close x x' i eps : (0 <= eps)%R -> pure_dp replaced M eps -> (forall j, j != i -> x j = x' j) ->
  close (ln (1 + p * (expR eps - 1))) 0 (K x) (K x').
Proof.
move=> e0 H xx S mS; rewrite !KM// adde0 -EFinM lee_fin; set a := expR eps.
have a1 : 1 <= a by rewrite /a -expR0 ler_expR.
have a0 : 0 < a by exact: expR_gt0.
have n0 : 0 < n%:R :> R by rewrite ltr0n (leq_trans m0).
have mR : 0 < m%:R :> R by rewrite ltr0n.
have nm : 0 <= n%:R - m%:R :> R by rewrite subr_ge0 ler_nat.
have pE : p * n%:R = m%:R by rewrite divfK// gt_eqF.
have p0 : 0 < p by rewrite divr_gt0.
pose al := 1 + p * (a - 1); have al0 : 0 < al.
  by rewrite /al ltr_paddr//; apply: mulr_ge0; [exact: ltW | rewrite subr_ge0].
rewrite lnK ?posrE// -/al mulrA ler_wpmul2r ?invr_ge0 ?ler0n//.
pose f x (B : {set I}) := fine (M (content x B) S).
have f0 y B : 0 <= f y B by rewrite fine_ge0// measure_ge0.
pose W y := \sum_(B : {set I} | (i \in B) && (#|B| == m)) f y B.
pose F y := \sum_(B : {set I} | (i \notin B) && (#|B| == m)) f y B.
have split y : \sum_(B : {set I} | #|B| == m) f y B = F y + W y.
  by rewrite (bigID (fun B : {set I} => i \in B))/= addrC; congr (_ + _); apply: eq_bigl => B; rewrite andbC.
have FF : F x' = F x by apply: eq_bigr => B /andP[iB _]; rewrite /f (content_same xx iB).
have close1 s s' : replaced s s' -> fine (M s S) <= a * fine (M s' S).
  by move=> ss; have := H s s' (or_introl ss) S mS; rewrite adde0 (mass_content s mS) (mass_content s' mS) -EFinM lee_fin.
have WW : W x <= a * W x'.
  by rewrite /W mulr_sumr; apply: ler_sum => B /andP[iB _]; apply: close1; exact: (replaced_same xx iB).
have WF : (n%:R - m%:R) * W x <= a * (m%:R * F x).
  have -> : (n%:R - m%:R) * W x = \sum_(B : {set I} | (i \in B) && (#|B| == m)) \sum_(j | j \notin B) f x B.
    rewrite /W mulr_sumr; apply: eq_bigr => B /andP[_ /eqP Bm].
    rewrite sumr_const (_ : #|[pred j | j \notin B]| = (n - m)%N); first by rewrite -[RHS]mulr_natl natrB.
    have := cardC (mem B); rewrite Bm => <-; rewrite addKn; exact: eq_card.
  rewrite [in leRHS]mulr_sumr -(exchange i m (f x)) mulr_sumr; apply: ler_sum => B /andP[iB _].
  by rewrite mulr_sumr; apply: ler_sum => j jB; apply: close1; exact: replaced_other.
rewrite -/(f x) -/(f x') -[X in X <= _]/(\sum_(B : {set I} | #|B| == m) f x B).
rewrite -[X in _ <= _ * X]/(\sum_(B : {set I} | #|B| == m) f x' B) !split FF.
have alE : al - 1 = p * (a - 1) by rewrite /al addrAC subrr add0r.
suff h : W x <= (al - 1) * F x + al * W x'.
  have -> : al * (F x + W x') = F x + ((al - 1) * F x + al * W x').
    by rewrite mulrDr addrA mulrBl mul1r [F x + _]addrC subrK.
  by rewrite ler_add2l.
have an : a != 0 by rewrite gt_eqF.
have nn : n%:R != 0 :> R by rewrite gt_eqF.
(* alpha/a of W by W', the rest by F *)
have h1 : al / a * W x <= al * W x'.
  by rewrite mulrAC ler_pdivr_mulr// -mulrA ler_wpmul2l ?(ltW al0)// mulrC.
have h2 : (1 - al / a) * W x <= (al - 1) * F x.
  have k0 : 0 <= (a - 1) / (n%:R * a) by rewrite divr_ge0 ?subr_ge0// mulr_ge0// ltW.
  have := ler_wpmul2l k0 WF; rewrite invfM.
  have ka : (a - 1) * (n%:R^-1 / a) * (a * (m%:R * F x)) = (al - 1) * F x.
    rewrite mulrA -[(a - 1) * _ * a]mulrA divfK// mulrA alE; congr (_ * _).
    by rewrite mulrC mulrCA mulrC [p * _]mulrC.
  have kb : (a - 1) * (n%:R^-1 / a) * ((n%:R - m%:R) * W x) = (1 - al / a) * W x.
    rewrite mulrA; congr (_ * _); apply: (mulIf an); rewrite mulrAC -[(a - 1) * _ * a]mulrA divfK// -mulrA mulrBr mulVf// [n%:R^-1 * _]mulrC.
    by rewrite [RHS]mulrBl mul1r divfK// mulrBr mulr1 /al opprD addrA [(a - 1) * p]mulrC.
  by rewrite ka kb.
have -> : W x = al / a * W x + (1 - al / a) * W x by rewrite -mulrDl addrC subrK mul1r.
by rewrite [leRHS]addrC; exact: ler_add.
Qed.

(* Rule: sampling-without-replacement, upper, in part: of what is pure, the epsilon beyond which there is no delta. *)
Theorem sampled_without_replacement eps : (0 <= eps)%R -> pure_dp replaced M eps -> pure_dp one_replaced K (ln (1 + p * (expR eps - 1))).
Proof.
move=> e0 H x x' [[i xx] | [i xx]]; first exact: sample_close e0 H xx.
by apply: (sample_close (i := i) e0 H) => j ji; rewrite (xx j ji).
Qed.
End Sample.
