(* The whole curve of a mechanism on a Poisson sample (docs/theory/composition.md: Poisson subsampling): with (P, Q) the outputs with a record
   and without it, those of the sample are (1 - p) Q + p P and Q. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition curves sampling.

Section Mixtures.
Context (R : realType) (p : R).
Hypotheses (p0 : 0 <= p) (p1 : p <= 1).

(* The two curves of a sample, at a = e^epsilon, from those of what is sampled: H, with the record first, and H', with it second. *)
Definition with_record_first (H : R -> R) (a : R) := if 1 - p < a then p * H (1 + (a - 1) / p) else 1 - a.
Definition with_record_second (H' : R -> R) (a : R) := if a * (1 - p) < 1 then (1 - a * (1 - p)) * H' (a * p / (1 - a * (1 - p))) else 0.

Section Laws.
Context d (T : measurableType d) (P Q : {measure set T -> \bar R}).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E).
Let w S := (1 - p) * fine (Q S) + p * fine (P S).

Lemma first_event a S : 0 <= a -> measurable S -> w S - a * fine (Q S) <= with_record_first (fun x => profile x P Q) a.
Proof.
move=> a0 mS; have /andP[q0 q1] := fine01 Q1 mS; have /andP[s0 s1] := fine01 P1 mS.
rewrite /with_record_first /w; case: ifPn => [ap | ]; last first.
  rewrite -leNgt => ap; have : (1 - p - a) * fine (Q S) <= (1 - p - a) * 1 by apply: ler_wpmul2l => //; lra.
  have : p * fine (P S) <= p * 1 by apply: ler_wpmul2l. by lra.
have [pE|pn] := eqVneq p 0.
  have : (a - 1) * fine (Q S) >= 0 by apply: mulr_ge0 => //; move: ap; rewrite pE; lra.
  by rewrite pE !mul0r; lra.
have pp : 0 < p by rewrite lt_neqAle eq_sym pn.
set x := 1 + (a - 1) / p.
have px : p * x = p + a - 1 by rewrite /x mulrDr mulr1 mulrCA divff// mulr1 addrA.
have x0 : 0 <= x by rewrite -(pmulr_rge0 x pp) px; lra.
have : p * (fine (P S) - x * fine (Q S)) <= p * profile x P Q by apply: ler_wpmul2l => //; exact: profile_event.
have : p * x * fine (Q S) = (p + a - 1) * fine (Q S) by rewrite px.
lra.
Qed.

Lemma first_attained a v : 0 <= a -> (forall S, measurable S -> w S - a * fine (Q S) <= v) ->
  with_record_first (fun x => profile x P Q) a <= v.
Proof.
move=> a0 h; rewrite /with_record_first; case: ifPn => [ap | _]; last first.
  by have := h _ measurableT; rewrite /w P1 Q1/=; lra.
have [pE|pn] := eqVneq p 0.
  by have := h _ measurable0; rewrite /w !measure0/= pE; lra.
have pp : 0 < p by rewrite lt_neqAle eq_sym pn.
rewrite -ler_pdivl_mull//; apply: profile_le => S mS; rewrite ler_pdivl_mull//.
apply: le_trans (h S mS); rewrite /w; set x := 1 + (a - 1) / p.
have px : p * x = p + a - 1 by rewrite /x mulrDr mulr1 mulrCA divff// mulr1 addrA.
have : p * x * fine (Q S) = (p + a - 1) * fine (Q S) by rewrite px.
lra.
Qed.

Lemma second_event a S : 0 <= a -> measurable S -> fine (Q S) - a * w S <= with_record_second (fun x => profile x Q P) a.
Proof.
move=> a0 mS; have /andP[q0 q1] := fine01 Q1 mS; have /andP[s0 s1] := fine01 P1 mS.
have ap0 : 0 <= a * p by exact: mulr_ge0.
have aps : 0 <= a * p * fine (P S) by exact: mulr_ge0.
rewrite /with_record_second /w; set l := 1 - a * (1 - p); have lE : l = 1 - a * (1 - p) by [].
case: ifPn => [ap | ]; last first.
  rewrite -leNgt => ap; have : l * fine (Q S) <= 0 by apply: mulr_le0_ge0 => //; rewrite lE; lra.
  by rewrite lE; lra.
have l0 : 0 < l by rewrite lE; lra.
set y := a * p / l; have ly : l * y = a * p by rewrite /y mulrC divfK// gt_eqF.
have : l * (fine (Q S) - y * fine (P S)) <= l * profile y Q P.
  apply: ler_wpmul2l; first exact: ltW.
  by apply: profile_event => //; apply: divr_ge0 => //; exact: ltW.
have : l * y * fine (P S) = a * p * fine (P S) by rewrite ly.
have : l * fine (Q S) = (1 - a * (1 - p)) * fine (Q S) by [].
lra.
Qed.

Lemma second_attained a v : 0 <= a -> (forall S, measurable S -> fine (Q S) - a * w S <= v) ->
  with_record_second (fun x => profile x Q P) a <= v.
Proof.
move=> a0 h; rewrite /with_record_second; set l := 1 - a * (1 - p); case: ifPn => [ap | _]; last first.
  by have := h _ measurable0; rewrite /w !measure0/=; lra.
have l0 : 0 < l by rewrite /l; lra.
rewrite -ler_pdivl_mull//; apply: profile_le => S mS; rewrite ler_pdivl_mull//.
apply: le_trans (h S mS); rewrite /w; set y := a * p / l; have ly : l * y = a * p by rewrite /y mulrC divfK// gt_eqF.
have : l * y * fine (P S) = a * p * fine (P S) by rewrite ly.
have : l * fine (Q S) = (1 - a * (1 - p)) * fine (Q S) by [].
lra.
Qed.

(* The curves of the pair ((1 - p) Q + p P, Q). *)
Theorem mixture_curves (W : {measure set T -> \bar R}) a : 0 <= a -> W setT = 1%E ->
  (forall S, measurable S -> fine (W S) = (1 - p) * fine (Q S) + p * fine (P S)) ->
  profile a W Q = with_record_first (fun x => profile x P Q) a /\ profile a Q W = with_record_second (fun x => profile x Q P) a.
Proof.
move=> a0 W1 WE; split; apply/eqP; rewrite eq_le; apply/andP; split.
- by apply: profile_le => S mS; rewrite WE//; exact: first_event.
- by apply: first_attained => // S mS; rewrite /w -WE//; exact: profile_event.
- by apply: profile_le => S mS; rewrite WE//; exact: second_event.
- by apply: second_attained => // S mS; rewrite /w -WE//; exact: profile_event.
Qed.
End Laws.

Lemma first_monotone (H H' : R -> R) a : 0 <= a -> (forall x, 0 <= x -> H x <= H' x) -> with_record_first H a <= with_record_first H' a.
Proof.
move=> a0 h; rewrite /with_record_first; case: ifP => // ap.
have [->|pn] := eqVneq p 0; first by rewrite !mul0r.
have pp : 0 < p by rewrite lt_neqAle eq_sym pn.
apply: ler_wpmul2l => //; apply: h; rewrite -(pmulr_rge0 _ pp) mulrDr mulr1 mulrCA divff// mulr1; lra.
Qed.

Lemma second_monotone (H H' : R -> R) a : 0 <= a -> (forall x, 0 <= x -> H x <= H' x) -> with_record_second H a <= with_record_second H' a.
Proof.
move=> a0 h; rewrite /with_record_second; case: ifP => // ap; have l0 : 0 <= 1 - a * (1 - p) by lra.
by apply: ler_wpmul2l => //; apply: h; apply: divr_ge0 => //; exact: mulr_ge0.
Qed.
End Mixtures.

Section Poisson.
Context (R : realType) (I : finType) d (T : measurableType d).
Variables (M K : mechanism R {set I} T) (p : R).
Hypotheses (p0 : 0 <= p) (p1 : p <= 1) (KM : on_a_sample M K p).

(* H bounds the curves of the part with the record first, H' those with the record second. *)
Theorem poisson_upper (H H' : R -> R) :
  (forall D D' a, one_record_more D D' -> 0 <= a -> profile a (M D) (M D') <= H a) ->
  (forall D D' a, one_record_more D D' -> 0 <= a -> profile a (M D') (M D) <= H' a) ->
  forall D D' a, one_record_more D D' -> 0 <= a ->
    profile a (K D) (K D') <= with_record_first p H a /\ profile a (K D') (K D) <= with_record_second p H' a.
Proof.
move=> hH hH' _ D a [r rD ->] a0.
have more (A : {set I}) : A \subset D -> one_record_more (r |: A) A.
  by move=> AD; exists r => //; apply: contraNN rD; exact: (fintype.subsetP AD).
split; apply: profile_le => S mS; rewrite (with_record KM rD mS) (KM D mS)/=.
- rewrite ler_subl_addl.
  apply: (average p0 p1 (D := D) (f := fun A : {set I} => (1 - p) * fine (M A S) + p * fine (M (r |: A) S)) (g := fun A => fine (M A S))).
  move=> A AD; rewrite -ler_subl_addl.
  apply: le_trans (first_event p0 p1 (law_total M (r |: A)) (law_total M A) a0 mS) _.
  by apply: first_monotone => // x x0; apply: hH => //; exact: more.
- rewrite ler_subl_addl.
  apply: (average p0 p1 (D := D) (f := fun A : {set I} => fine (M A S)) (g := fun A => (1 - p) * fine (M A S) + p * fine (M (r |: A) S))).
  move=> A AD; rewrite -ler_subl_addl.
  apply: le_trans (second_event p0 p1 (law_total M (r |: A)) (law_total M A) a0 mS) _.
  by apply: second_monotone => // x x0; apply: hH' => //; exact: more.
Qed.

(* With no other records the curves are these. *)
Theorem poisson_lower (r : I) a : 0 <= a ->
  profile a (K (r |: finset.set0)) (K finset.set0) = with_record_first p (fun x => profile x (M (r |: finset.set0)) (M finset.set0)) a /\
  profile a (K finset.set0) (K (r |: finset.set0)) = with_record_second p (fun x => profile x (M finset.set0) (M (r |: finset.set0))) a.
Proof.
move=> a0; have r0 : r \notin finset.set0 by rewrite inE.
have only (F : {set I} -> R) : \sum_(A : {set I} | A \subset finset.set0) F A = F finset.set0.
  by rewrite (big_pred1 finset.set0)// => A; rewrite finset.subset0.
have w1 : weight p (finset.set0 : {set I}) finset.set0 = 1 by rewrite /weight finset.set0D cards0 !expr0 mulr1.
have K0 S : measurable S -> fine (K finset.set0 S) = fine (M finset.set0 S) by move=> mS; rewrite KM//= only w1 mul1r.
have Kr S : measurable S -> fine (K (r |: finset.set0) S) = (1 - p) * fine (M finset.set0 S) + p * fine (M (r |: finset.set0) S).
  by move=> mS; rewrite (with_record KM r0 mS)/= only w1 mul1r.
have same (W : {measure set T -> \bar R}) : profile a W (K finset.set0) = profile a W (M finset.set0) /\ profile a (K finset.set0) W = profile a (M finset.set0) W.
  by split; congr sup; apply/seteqP; split=> _ [S mS <-]; exists S => //; rewrite K0.
have [-> _] := same (K (r |: finset.set0)); have [_ ->] := same (K (r |: finset.set0)).
by apply: mixture_curves; rewrite ?law_total.
Qed.

(* Rule: poisson-subsampling. *)
Theorem poisson_curves (H H' : R -> R) :
  (forall D D' a, one_record_more D D' -> 0 <= a -> profile a (M D) (M D') <= H a /\ profile a (M D') (M D) <= H' a) ->
  (forall D D' a, one_record_more D D' -> 0 <= a ->
    profile a (K D) (K D') <= with_record_first p H a /\ profile a (K D') (K D) <= with_record_second p H' a) /\
  forall r a, 0 <= a ->
    profile a (K (r |: finset.set0)) (K finset.set0) = with_record_first p (fun x => profile x (M (r |: finset.set0)) (M finset.set0)) a /\
    profile a (K finset.set0) (K (r |: finset.set0)) = with_record_second p (fun x => profile x (M finset.set0) (M (r |: finset.set0))) a.
Proof.
move=> h; split; last exact: poisson_lower.
by apply: poisson_upper => D D' a DD a0; have [] := h D D' a DD a0.
Qed.
End Poisson.
