(* Privacy of a mechanism on a sample of the records that nobody sees (docs/theory/composition.md: Poisson subsampling, one-sided). A database
   is a finite set of records. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition.
Local Open Scope ereal_scope.

Section Poisson.
Context (R : realType) (I : finType) d (T : measurableType d).
Variables (M K : mechanism R {set I} T) (p : R).
Hypotheses (p0 : (0 <= p)%R) (p1 : (p <= 1)%R).

(* The sample of D is A with probability p^|A| (1 - p)^|D \ A|: each record is in it independently with probability p. *)
Definition weight (D A : {set I}) : R := (p ^+ #|A| * (1 - p) ^+ #|D :\: A|)%R.

(* K is M on a sample. *)
Definition on_a_sample := forall D S, measurable S -> K D S = (\sum_(A : {set I} | A \subset D) weight D A * fine (M A S))%:E.
Hypothesis KM : on_a_sample.

(* D has one record more than D'. *)
Definition one_record_more : relation {set I} := fun D D' => exists2 r, r \notin D' & D = r |: D'.

Lemma weight_ge0 D A : (0 <= weight D A)%R.
Proof. by rewrite mulr_ge0// exprn_ge0// subr_ge0. Qed.

Lemma sum_with (r : I) (D : {set I}) (F : {set I} -> R) : r \notin D ->
  (\sum_(A : {set I} | A \subset r |: D) F A = \sum_(A : {set I} | A \subset D) (F A + F (r |: A)))%R.
Proof.
move=> rD; rewrite big_split/= (bigID (fun A : {set I} => r \notin A))/=; congr (_ + _)%R.
- apply: eq_bigl => A; apply/andP/idP => [[/fintype.subsetP AD rA] | AD].
    by apply/fintype.subsetP => a aA; have := AD a aA; rewrite in_setU1 => /orP[/eqP ar|//]; rewrite ar (negbTE rA) in aA *.
  by split; [apply: (fintype.subset_trans AD); exact: finset.subsetUr | apply: contraNN rD; apply: (fintype.subsetP AD)].
- rewrite (reindex_onto (fun A : {set I} => r |: A) (fun A => A :\ r))/=; last first.
    by move=> A /andP[_]; rewrite negbK => rA; exact: finset.setD1K.
  apply: eq_bigl => A; rewrite finset.setU11 andbT; apply/andP/idP => [[/fintype.subsetP AD /eqP AA] | AD].
    apply/fintype.subsetP => a aA; have : a \in r |: D by apply: AD; rewrite in_setU1 aA orbT.
    by rewrite in_setU1 => /orP[/eqP ar|//]; move: aA; rewrite -AA ar finset.setD11.
  split; first exact: finset.setUS.
  by rewrite finset.setU1K//; apply: contraNN rD; apply: (fintype.subsetP AD).
Qed.

Lemma weight_without (r : I) (D A : {set I}) : r \notin D -> A \subset D -> weight (r |: D) A = ((1 - p) * weight D A)%R.
Proof.
move=> rD AD; rewrite /weight mulrCA -exprS; congr (_ * _ ^+ _)%R.
have rA : r \notin A by apply: contraNN rD; apply: (fintype.subsetP AD).
have -> : (r |: D) :\: A = r |: (D :\: A).
  by apply/finset.setP => a; rewrite !inE; have [->|//] := eqVneq a r; rewrite rA.
by rewrite cardsU1 inE (negbTE rD) andbF.
Qed.

Lemma weight_with (r : I) (D A : {set I}) : r \notin D -> A \subset D -> weight (r |: D) (r |: A) = (p * weight D A)%R.
Proof.
move=> rD AD; rewrite /weight mulrA.
have rA : r \notin A by apply: contraNN rD; apply: (fintype.subsetP AD).
rewrite cardsU1 rA add1n exprS; congr (_ * _ ^+ _)%R; apply: eq_card => a; rewrite !inE negb_or.
by have [->|//] := eqVneq a r; rewrite (negbTE rD) andbF.
Qed.

Lemma weights_total (D : {set I}) : (\sum_(A : {set I} | A \subset D) weight D A = 1)%R.
Proof.
move: {2}#|D| (erefl #|D|) => n; elim: n D => [|n IH] D.
  move/eqP; rewrite cards_eq0 => /eqP ->; rewrite (big_pred1 finset.set0); first by rewrite /weight finset.setD0 cards0 mulr1.
  move=> A.
  by rewrite finset.subset0.
move=> Dn; have /card_gt0P[r rD] : (0 < #|D|)%N by rewrite Dn.
have rD' : r \notin D :\ r by rewrite finset.setD11.
rewrite -(finset.setD1K rD) sum_with// -[RHS](IH (D :\ r)); last by move: Dn; rewrite (cardsD1 r) rD add1n => -[].
by apply: eq_bigr => A AD; rewrite weight_without// weight_with// -mulrDl subrK mul1r.
Qed.

(* With one record more the output is a mixture, for each choice of the other records in the sample. *)
Lemma with_record (r : I) (D : {set I}) S : r \notin D -> measurable S ->
  K (r |: D) S = (\sum_(A : {set I} | A \subset D) weight D A * ((1 - p) * fine (M A S) + p * fine (M (r |: A) S)))%:E.
Proof.
move=> rD mS; rewrite KM// sum_with//; congr EFin; apply: eq_bigr => A AD.
by rewrite weight_without// weight_with// mulrDr; congr (_ + _)%R; rewrite [RHS]mulrCA mulrA.
Qed.

(* A bound for each choice of the other records is one for the sample. *)
Lemma average (D : {set I}) (f g : {set I} -> R) (a b : R) :
  (forall A : {set I}, A \subset D -> f A <= a * g A + b)%R ->
  (\sum_(A : {set I} | A \subset D) weight D A * f A <= a * (\sum_(A : {set I} | A \subset D) weight D A * g A) + b)%R.
Proof.
move=> h; rewrite -[b]mul1r -(weights_total D) mulr_sumr mulr_suml -big_split/=.
apply: ler_sum => A AD; rewrite mulrCA -mulrDr; rewrite ler_wpmul2l ?weight_ge0//; exact: h.
Qed.

Lemma mass_fine A S : measurable S -> M A S = (fine (M A S))%:E.
Proof. by move=> mS; rewrite fineK// mass_fin// law_total. Qed.

Lemma mass_fine01 A S : measurable S -> (0 <= fine (M A S) <= 1)%R.
Proof. by move=> mS; rewrite -!lee_fin -mass_fine// measure_ge0 mass_le1// law_total. Qed.

Definition amplified eps : R := ln (1 + p * (expR eps - 1)).

Lemma mixE e : (1 + p * (expR e - 1) = 1 - p + p * expR e)%R.
Proof. by rewrite mulrBr mulr1 addrA addrAC. Qed.

Lemma mix_gt0 eps : (0 < 1 + p * (expR eps - 1))%R.
Proof.
rewrite mixE.
have [->|pn] := eqVneq p 0%R; first by rewrite subr0 mul0r addr0.
by rewrite ltr_paddl ?subr_ge0// mulr_gt0 ?expR_gt0// lt_neqAle eq_sym pn.
Qed.

(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: Poisson samples of what is private one-sidedly. *)
(* Rule: one-sided, upper. *)
Theorem poisson_one_sided eps dl :
  dp_in_order one_record_more M eps dl -> dp_in_order one_record_more K (amplified eps) (p * dl).
Proof.
move=> H _ D [r rD ->] S mS; rewrite with_record// KM// /amplified lnK ?posrE ?mix_gt0// -EFinM -EFinD lee_fin.
apply: average => A AD.
have rA : r \notin A by apply: contraNN rD; apply: (fintype.subsetP AD).
have := H _ A (ex_intro2 _ _ r rA erefl) S mS; rewrite (mass_fine (r |: A) mS) (mass_fine A mS) -EFinM -EFinD lee_fin => h.
apply: (@le_trans _ _ ((1 - p) * fine (M A S) + p * (expR eps * fine (M A S) + dl))%R).
  by rewrite ler_add2l ler_wpmul2l.
by rewrite mixE mulrDr addrA mulrA -mulrDl.
Qed.

Definition amplified_reverse eps : R := (- ln (1 - p + p * expR (- eps)))%R.

(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: Poisson samples of what is private in the reverse order. *)
(* Rule: one-sided, upper. *)
Theorem poisson_reverse eps dl :
  dp_in_order (fun D D' => one_record_more D' D) M eps dl ->
  dp_in_order (fun D D' => one_record_more D' D) K (amplified_reverse eps) (p * dl / (p + (1 - p) * expR eps)).
Proof.
move=> H D _ [r rD ->] S mS; rewrite with_record// KM// /amplified_reverse.
have c0 : (0 < 1 - p + p * expR (- eps))%R.
  by rewrite -mixE mix_gt0.
rewrite expRN lnK ?posrE// -EFinM -EFinD lee_fin.
set c := (1 - p + p * expR (- eps))%R in c0 *.
have cE : (c * expR eps = p + (1 - p) * expR eps)%R.
  by rewrite /c mulrDl addrC -mulrA -expRD addNr expR0 mulr1.
have -> : (p * dl / (p + (1 - p) * expR eps) = c^-1 * (p * expR (- eps) * dl))%R.
  by rewrite -cE invfM -expRN mulrCA; congr (_ * _)%R; rewrite mulrAC.
apply: average => A AD.
have rA : r \notin A by apply: contraNN rD; apply: (fintype.subsetP AD).
have := H A _ (ex_intro2 _ _ r rA erefl) S mS; rewrite (mass_fine (r |: A) mS) (mass_fine A mS) -EFinM -EFinD lee_fin => h.
rewrite /= -mulrDr ler_pdivl_mull//.
have -> : (c * fine (M A S) = (1 - p) * fine (M A S) + p * expR (- eps) * fine (M A S))%R by rewrite /c mulrDl.
rewrite -[X in (_ <= X)%R]addrA ler_add2l.
apply: (@le_trans _ _ (p * expR (- eps) * (expR eps * fine (M (r |: A) S) + dl))%R).
  by rewrite ler_wpmul2l// mulr_ge0// expR_ge0.
by rewrite mulrDr mulrA -[(p * _ * expR eps)%R]mulrA -expRD addNr expR0 mulr1.
Qed.

(* With nothing known of the part the reverse order still has -log(1 - p). *)
Theorem poisson_reverse_any : (p < 1)%R -> dp_in_order (fun D D' => one_record_more D' D) K (- ln (1 - p)) 0.
Proof.
move=> plt1 D _ [r rD ->] S mS; rewrite with_record// KM// expRN lnK ?posrE ?subr_gt0// -EFinM -EFinD lee_fin.
apply: average => A AD; by rewrite addr0 ler_pdivl_mull ?subr_gt0// ler_addl mulr_ge0.
Qed.

Lemma reverse_le_amplified eps : (amplified_reverse eps <= amplified eps)%R.
Proof.
have c0 e : (0 < 1 - p + p * expR e)%R by rewrite -mixE mix_gt0.
rewrite /amplified_reverse /amplified mixE -lnV ?posrE// ler_ln ?posrE ?invr_gt0//.
rewrite -[leLHS]mul1r ler_pdivr_mulr// expRN.
move: (expR eps) (expR_gt0 eps) => E E0; set c := (1 - p)%R; set F := (E^-1)%R.
have EF : (E * F = 1)%R by rewrite divff ?gt_eqF.
have h2 : (2 <= E + F)%R.
  have hE : (E + F - 2 = (E - 1) ^+ 2 * F)%R.
    by rewrite sqrrB1 mulrDl mulrBl expr2 mulfK ?gt_eqF// mul1r mulrnAl EF addrAC.
  by rewrite -subr_ge0 hE; apply: mulr_ge0; [exact: sqr_ge0 | rewrite invr_ge0 ltW].
have cp : (c + p = 1)%R by exact: subrK.
have c1 : (0 <= c)%R by rewrite subr_ge0.
clearbody c F.
have one : (c * c + c * p + (p * c + p * p) = 1)%R by rewrite -!mulrDr -mulrDl cp mulr1.
rewrite mulrDl !mulrDr (_ : p * E * (p * F) = p * p)%R; last by rewrite mulrACA EF mulr1.
rewrite -[leLHS]one !addrA ler_add2r -!addrA ler_add2l.
have -> : (c * p + p * c = c * p * 2)%R by rewrite [(p * c)%R]mulrC mulr_natr mulr2n.
have -> : (c * (p * F) + p * E * c = c * p * (E + F))%R.
  by rewrite mulrDr mulrA addrC; congr (_ + _)%R; rewrite mulrC mulrA.
by rewrite ler_wpmul2l// mulr_ge0.
Qed.

Theorem poisson_subsampling eps dl : (0 <= eps)%R ->
  dp one_record_more M eps dl -> dp one_record_more K (ln (1 + p * (expR eps - 1))) (p * dl).
Proof.
move=> e0 /dp_both[H1 H2]; apply/dp_both; split; first exact: poisson_one_sided.
have [dl0 | dl_lt0] := leP 0%R dl; last first.
  by move=> D D' [r rD _]; have := H2 D (r |: D) (ex_intro2 _ _ r rD erefl) => /close_delta_ge0; rewrite leNgt dl_lt0.
apply: dp_in_order_monotone (poisson_reverse H2); first exact: reverse_le_amplified.
have E1 : (1 <= expR eps)%R by rewrite -expR0 ler_expR.
have n1 : (1 <= p + (1 - p) * expR eps)%R.
  by rewrite -[leLHS](subrK p) addrC ler_add2l ler_pemulr// subr_ge0.
by rewrite ler_pdivr_mulr ?(lt_le_trans ltr01)// ler_pemulr// mulr_ge0.
Qed.
End Poisson.
