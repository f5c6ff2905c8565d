(* Events of infinitely many numbers (docs/theory/curves.md: elliptical process): where a field of events generates all of them, every event is near one of
   the field, so that a curve that holds for the field holds for all. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs.

Section Field.
Context (R : realType) d (Y : measurableType d).

(* A field that generates the events. *)
Definition generating_field (F : set (set Y)) := [/\ F setT, forall A, F A -> F (~` A), forall A B, F A -> F B -> F (A `|` B),
  forall A, F A -> measurable A & forall S, measurable S -> <<s F >> S].

Definition apart (S A : set Y) := (S `&` ~` A) `|` (A `&` ~` S).

Lemma measurable_apart S A : measurable S -> measurable A -> measurable (apart S A).
Proof. by move=> mS mA; apply: measurableU; apply: measurableI => //; exact: measurableC. Qed.

Variables (F : set (set Y)) (field : generating_field F) (m : {measure set Y -> \bar R}).
Hypothesis finite_mass : (m setT < +oo)%E.

Lemma mass_both A B : measurable A -> measurable B -> (m (A `|` B) <= m A + m B)%E.
Proof.
move=> mA mB; have mBA : measurable (B `&` ~` A) by apply: measurableI => //; exact: measurableC.
have -> : A `|` B = A `|` (B `&` ~` A) by rewrite setUIr setUv setIT.
rewrite measureU//; last by rewrite setICA setICr setI0.
by apply: lee_add => //; apply: le_measure; rewrite ?inE// => y [].
Qed.

Let within S := measurable S /\ forall e, 0 < e -> exists2 A, F A & (m (apart S A) <= e%:E)%E.

Let m_fin S : measurable S -> m S \is a fin_num.
Proof.
move=> mS; rewrite ge0_fin_numE ?measure_ge0//; apply: le_lt_trans finite_mass; apply: le_measure; rewrite ?inE//.
Qed.

Let within_field A : F A -> within A.
Proof.
have [_ _ _ mF _] := field; move=> FA; split=> [|e e0]; first exact: mF.
by exists A => //; rewrite /apart setICr setU0 measure0 lee_fin ltW.
Qed.

Let within_complement S : within S -> within (~` S).
Proof.
have [_ FC _ _ _] := field; move=> [mS near]; split=> [|e e0]; first exact: measurableC.
have [A FA le] := near e e0; exists (~` A); first exact: FC.
by have -> : apart (~` S) (~` A) = apart S A by rewrite /apart !setCK setUC [~` A `&` S]setIC [~` S `&` A]setIC.
Qed.

Let first_union (A : nat -> set Y) n : (forall i, F (A i)) -> F (\big[setU/set0]_(i < n) A i).
Proof.
have [FT FC FU _ _] := field; move=> FA; elim: n => [|n IH]; first by rewrite big_ord0 -setCT; exact: FC.
by rewrite big_ord_recr; exact: FU.
Qed.

Let within_union (S : nat -> set Y) : (forall n, within (S n)) -> within (\bigcup_n S n).
Proof.
move=> WS; have mS n : measurable (S n) by have [] := WS n.
have mU : measurable (\bigcup_n S n) by exact: bigcupT_measurable.
pose U n := \big[setU/set0]_(i < n) S i; have mUn n : measurable (U n) by exact: bigsetU_measurable.
split=> // e e0; have e2 : 0 < e / 2 by rewrite divr_gt0.
have [N le] : exists N, (m (\bigcup_n S n `&` ~` U N) <= (e / 2)%:E)%E.
  apply: contrapT => none; have far n : (m (U n) <= m (\bigcup_n S n) - (e / 2)%:E)%E.
    have lt : ((e / 2)%:E < m (\bigcup_n S n `&` ~` U n))%E by rewrite ltNge; apply/negP => le; apply: none; exists n.
    have sub : U n `<=` \bigcup_n S n by rewrite /U -bigcup_mkord => y [i _ Sy]; exists i.
    rewrite lee_subr_addr// (_ : m (\bigcup_n S n) = (m (U n) + m (\bigcup_n S n `&` ~` U n))%E).
      by apply: lee_add => //; exact: ltW.
    rewrite -measureU//; [|by apply: measurableI => //; exact: measurableC|by rewrite setIC -setIA setICl setI0].
    congr (m _); apply/seteqP; split=> y; last by case=> [/sub|[]].
    by move=> Sy; have [Uy|Uy] := pselect (U n y); [left | right].
  have nd : nondecreasing_seq U by apply/nondecreasing_seqP => n; rewrite /U big_ord_recr/= subsetEset; exact: subsetUl.
  have UE : \bigcup_n U n = \bigcup_n S n.
    apply/seteqP; split=> y [n _]; first by rewrite /U -bigcup_mkord => -[i _ Sy]; exists i.
    by move=> Sy; exists n.+1 => //; rewrite /U big_ord_recr; right.
  have c : (m \o U) --> m (\bigcup_n U n) by apply: nondecreasing_cvg_mu => //; rewrite UE.
  have : (m (\bigcup_n S n) <= m (\bigcup_n S n) - (e / 2)%:E)%E.
    rewrite -{1}UE -(cvg_lim _ c)//; apply: lime_le; first by apply/cvg_ex; exists (m (\bigcup_n U n)).
    by apply: nearW => n; exact: far.
  by rewrite -(fineK (m_fin mU)) -EFinB lee_fin; lra.
have eN : 0 < e / 2 / N.+1%:R by rewrite divr_gt0// ltr0n.
have near i : exists A, F A /\ (m (apart (S i) A) <= (e / 2 / N.+1%:R)%:E)%E by have [_ h] := WS i; have [A FA leA] := h _ eN; exists A.
have [A HA] := choice near.
have FA i : F (A i) by have [] := HA i.
have [_ _ _ mF _] := field; have mA i : measurable (A i) by exact: mF.
exists (\big[setU/set0]_(i < N) A i); first exact: first_union.
apply: (@le_trans _ _ (m (\bigcup_n S n `&` ~` U N) + \sum_(i < N) m (apart (S i) (A i)))%E); last first.
  apply: (@le_trans _ _ ((e / 2)%:E + \sum_(i < N) (e / 2 / N.+1%:R)%:E)%E).
    by apply: lee_add => //; apply: lee_sum => i _; have [] := HA i.
  rewrite sumEFin -EFinD lee_fin sumr_const card_ord -[X in _ + X <= _]mulr_natr.
  have : e / 2 / N.+1%:R * N%:R <= e / 2.
    by rewrite mulrAC ler_pdivr_mulr ?ltr0n//; apply: ler_wpmul2l; [exact: ltW | rewrite ler_nat].
  lra.
apply: (@le_trans _ _ (m (\bigcup_n S n `&` ~` U N) + m (\big[setU/set0]_(i < N) apart (S i) (A i)))%E); last first.
  apply: lee_add => //; elim: (N) => [|n IH]; first by rewrite !big_ord0 measure0.
  have ma i : measurable (apart (S i) (A i)) by exact: measurable_apart.
  rewrite !big_ord_recr/=; apply: le_trans (mass_both _ _) _ => //; first exact: bigsetU_measurable.
  exact: lee_add.
have mbig : measurable (\big[setU/set0]_(i < N) apart (S i) (A i)) by apply: bigsetU_measurable => i _; exact: measurable_apart.
have mrest : measurable (\bigcup_n S n `&` ~` U N) by apply: measurableI => //; exact: measurableC.
apply: le_trans (mass_both mrest mbig); apply: le_measure; rewrite ?inE.
- by apply: measurable_apart => //; exact: bigsetU_measurable.
- exact: measurableU.
rewrite /U -(bigcup_mkord N S) -(bigcup_mkord N A) -(bigcup_mkord N (fun i => apart (S i) (A i))) => y [[[n _ Sy] out]|[[i iN Ay] out]]; last first.
  by right; exists i => //; right; split=> // Sy; apply: out; exists i.
have [[i iN Si]|none] := pselect ((\bigcup_(i in `I_N) S i) y); last by left; split=> //; exists n.
by right; exists i => //; left; split=> // Ay; apply: out; exists i.
Qed.

Theorem near_field S e : measurable S -> 0 < e -> exists2 A, F A & (m (apart S A) <= e%:E)%E.
Proof.
have [FT FC FU mF gen] := field; move=> /gen gS e0.
suff [_ near] : within S by exact: near.
apply: (smallest_sub _ _ gS); last by move=> A; exact: within_field.
split.
- by rewrite -setCT; apply: within_complement; exact: within_field.
- by move=> A WA; rewrite setTD; exact: within_complement.
- exact: within_union.
Qed.
End Field.
