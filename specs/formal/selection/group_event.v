(* Noisy max with noise that has a density, and the event that the greatest of the noisy answers is one of a group (docs/theory/selection.md, selection event):
   its probability as an integral over the noise of the winner, and what it shows of the tight delta. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels finite selection independent one_noise worst_output_lower event_deltas.
From dpverify Require Import greatest_step greatest_real survival noisy_max_rule.

Section Chance.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (dens : has_density lam mu f).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Context (K : finType) (weight : K -> R) (prior : K -> rel 'I_n).
Hypotheses (weight0 : forall k, 0 <= weight k) (weight1 : \sum_k weight k = 1).
Notation F := (greatest_step.F mu).
Implicit Types (q : 'I_n -> R) (i : 'I_n).

Let measurable_below x : measurable [set z : R | z < x].
Proof. by rewrite (_ : [set z | _] = `]-oo, x[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv]. Qed.

(* Given the winner's noise z, the others are below it, or not above it where ties are won. *)
Lemma greatest_given k q i (put : W * R -> W) z : puts_one (fun=> mu) i nu Z put ->
  nu [set w | greatest_is Z prior k q i (put (w, z))] = (others_below mu q i (q i + z))%:E.
Proof.
move=> [mput pi po _ _].
have po' (j : 'I_n) w : j != i -> Z j (put (w, z)) = Z j w by move=> ji; exact: po.
pose A (j : nat) : set R := if insub j is Some l then [set y | (l != i) ==> wins prior k i l (q i + z) (q l + y)] else setT.
have AE (j : 'I_n) : A j = [set y | (j != i) ==> wins prior k i j (q i + z) (q j + y)] by rewrite /A valK.
have Aside (j : 'I_n) : j != i -> A j = [set y | y < q i + z - q j] \/ A j = [set y | y <= q i + z - q j].
  move=> ji; rewrite AE ji/= /wins; case: (prior k j i); [left | right]; apply/seteqP; split=> y /=; lra.
have mside (j : 'I_n) : j != i -> mu (A j) = (F (q i + z - q j))%:E.
  by move=> /Aside[->|->]; [rewrite /greatest_step.F fineK// mass_fin | exact: (below_closed lamE mu1 dens)].
have mA j : measurable (A j).
  rewrite /A; case: insubP => // l _ _; have [->|li] := eqVneq l i.
    by rewrite ?eqxx (_ : [set y | _] = setT)//; apply/seteqP; split.
  rewrite (_ : [set y | _] = A l); last by rewrite AE li.
  have [->|->] := Aside l li; first exact: measurable_below.
  by rewrite (_ : [set y | _] = `]-oo, (q i + z - q l)]%classic); [exact: measurable_itv | apply/seteqP; split=> y /=; rewrite in_itv].
have -> : [set w | greatest_is Z prior k q i (put (w, z))] = \big[setI/setT]_(j < n) (Z j @^-1` A j).
  apply/seteqP; split=> w.
  - move=> G; apply/in_all => j; rewrite /= AE/=; apply/implyP => ji.
    by have := greatest_wins G ji; rewrite pi po'.
  - by move=> /in_all h; apply: greatest_of => j ji; have := h j; rewrite /= AE/= ji/= pi po'.
rewrite (independent_box noises mA) (bigD1 i)//= (_ : A i = setT); last by rewrite AE eqxx/=; apply/seteqP; split.
by rewrite mu1 mul1r; congr (_%:E); apply: eq_bigr => j ji; rewrite mside.
Qed.

Lemma greatest_integral q i : greatest_chance nu Z weight prior q i = fine (\int[mu]_z (others_below mu q i (q i + z))%:E)%E.
Proof.
rewrite /greatest_chance -[RHS]mul1r -weight1 mulr_suml; apply: eq_bigr => k _; congr (_ * fine _).
have nu1 := independent_total noises; have [put puts] := draw_again noises (ltn_ord i); have [mput _ _ _ again] := puts.
have mG := measurable_greatest noises prior k q i.
pose E : set (W * R) := [set x | greatest_is Z prior k q i (put x)].
have mE : measurable E by exact: measurable_put.
rewrite again// (eq_integral (fun w => mu (xsection E w))); last by move=> w _; rewrite -section_set.
have := indic_fubini_tonelli (law_sigma_finite nu1) (law_sigma_finite mu1) mE.
rewrite indic_fubini_tonelli_FE// indic_fubini_tonelli_GE// => ->.
by apply: eq_integral => z _; rewrite /= -section_set2; exact: (greatest_given k q z puts).
Qed.

(* The answers of the group are x above the others. *)
Definition group_answers (g : {set 'I_n}) (base x : R) : 'I_n -> R := fun j => if j \in g then base + x else base.
(* So often the integral of f(t) F(t)^(g - 1) F(t + x)^(n - g). *)
Definition group_chance (size : nat) (x : R) : R := size%:R * fine (\int[mu]_t (F t ^+ size.-1 * F (t + x) ^+ (n - size))%:E)%E.

Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall i, measurable [set pt i]) (MZ : has_table M pt (greatest_chance nu Z weight prior)).
Definition told_of_group (g : {set 'I_n}) : set T := \big[setU/set0]_(i in g) [set pt i].

Lemma measurable_group g : measurable (told_of_group g).
Proof. by apply: bigsetU_measurable. Qed.

Lemma group_mass (g : {set 'I_n}) base x : M (group_answers g base x) (told_of_group g) = (group_chance #|g| x)%:E.
Proof.
rewrite MZ; last exact: measurable_group.
congr (_%:E); rewrite (bigID (mem g))/= [X in _ + X]big1 ?addr0; last first.
  move=> i ig; rewrite indicE memNset ?mulr0// /told_of_group; elim/big_ind: _ => [//|A B a b [//|//]|j jg /=].
  by move=> /pt_inj e; rewrite e jg in ig.
rewrite /group_chance -sumr_const mulr_suml; apply: eq_bigr => i ig.
rewrite mul1r indicE mem_set ?mulr1; last by rewrite /told_of_group (bigD1 i)//=; left.
rewrite greatest_integral; congr fine; apply: eq_integral => z _; congr (_%:E).
rewrite /others_below (bigID (mem g))/=; congr (_ * _).
- rewrite (eq_bigr (fun=> F z)); last first.
    by move=> j /andP[_ jg]; rewrite /group_answers ig jg addrC addKr.
  rewrite prodr_const; congr (_ ^+ _); rewrite (cardD1 i g) ig /=; apply: eq_card => j; by rewrite !inE.
- rewrite (eq_bigr (fun=> F (z + x))); last first.
    by move=> j /andP[_ jg]; rewrite /group_answers ig (negbTE jg); congr F; lra.
  rewrite prodr_const; congr (_ ^+ _).
  have -> : (n - #|g|)%N = #|~: g| by rewrite -[X in (X - _)%N](card_ord n) -(cardsC g) addKn.
  apply: eq_card => j; rewrite !inE; apply/andP/idP => [[]//|jg]; split=> //; by apply: contraNneq jg => ->.
Qed.

(* -- The event at two neighbours -- *)

(* Answers may have to lie between bounds. *)
Definition placed (bounds : option (R * R)) (q : 'I_n -> R) := if bounds is Some b then forall j, b.1 <= q j <= b.2 else True.
Definition between_bounds (N : relation ('I_n -> R)) bounds : relation ('I_n -> R) := fun q q' => [/\ N q q', placed bounds q & placed bounds q'].

(* How far the others move up and the group moves down: each way in which the lead falls by r. *)
Variant lead_falls (g : {set 'I_n}) D : relation ('I_n -> R) -> R -> R -> Prop :=
| BothMove : lead_falls g D (moved_by (n := n) D) D D
| OthersRise : lead_falls g D (raised_by (n := n) D) D 0
| GroupFalls : lead_falls g D (fun q q' => raised_by (n := n) D q' q) 0 D
| OneOther of #|~: g| = 1%N : lead_falls g D (moved_alone (n := n) D) D 0
| OneOfGroup of #|g| = 1%N : lead_falls g D (moved_alone (n := n) D) 0 D.

(* As the rule checks it; no answer moves by more than the bounds are apart. *)
Definition lead_fits (bounds : option (R * R)) D x r :=
  if bounds is Some b then [/\ D <= b.2 - b.1, b.1 - b.2 + r <= x & x <= b.2 - b.1] else True.

Lemma both_placed g bounds D N u v x : 0 <= D -> lead_falls g D N u v -> lead_fits bounds D x (u + v) ->
  exists base, between_bounds N bounds (group_answers g base x) (group_answers g (base + u) (x - (u + v))).
Proof.
move=> D0 falls fits; have [u0 uD v0 vD] : [/\ 0 <= u, u <= D, 0 <= v & v <= D] by case: falls; split.
have [base place] : exists base, forall y, y \in [:: base; base + u; base + x; base + x - v] -> if bounds is Some b then b.1 <= y <= b.2 else true.
  case: bounds fits => [[lo hi] /= [dh xl xh]|_]; last by exists 0.
  exists (Num.max lo (lo - x + v)); have : lo <= Num.max lo (lo - x + v) by rewrite le_maxr lexx.
  have : lo - x + v <= Num.max lo (lo - x + v) by rewrite le_maxr lexx orbT.
  have : Num.max lo (lo - x + v) <= hi - u by rewrite le_maxl; apply/andP; split; lra.
  have : Num.max lo (lo - x + v) <= hi - x by rewrite le_maxl; apply/andP; split; lra.
  by set m := Num.max _ _ => ? ? ? ? y; rewrite !inE => /or4P[] /eqP ->; apply/andP; split; lra.
have other (j : 'I_n) : group_answers g (base + u) (x - (u + v)) j = if j \in g then base + x - v else base + u.
  by rewrite /group_answers; case: ifP => // _; lra.
have dE (j : 'I_n) : group_answers g (base + u) (x - (u + v)) j - group_answers g base x j = if j \in g then - v else u.
  by rewrite other /group_answers; case: ifP => _; lra.
exists base; split.
- case: falls place dE => [|| | |] .
  + by move=> _ dE j; rewrite dE; case: ifP => _; rewrite ?normrN ger0_norm.
  + by move=> _ dE j; rewrite dE; case: ifP => _; rewrite ?oppr0 ?lexx D0.
  + by move=> _ dE j; rewrite -opprB dE; case: ifP => _; rewrite ?oppr0 ?opprK ?lexx ?D0.
  + move=> c1 _ dE; have /cards1P[i iE] : #|~: g| == 1%N by rewrite c1.
    have ig : i \notin g by have : i \in ~: g; [rewrite iE; exact: set11 | rewrite inE].
    exists i; rewrite dE (negbTE ig) ger0_norm//; split=> // j ji; apply/eqP; rewrite -subr_eq0 dE; case: ifP => [_|jg]; first by rewrite oppr0.
    by have : j \in ~: g; [rewrite inE jg | rewrite iE inE (negbTE ji)].
  + move=> c1 _ dE; have /cards1P[i iE] : #|g| == 1%N by rewrite c1.
    have ig : i \in g by rewrite iE set11.
    exists i; rewrite dE ig normrN ger0_norm//; split=> // j ji; apply/eqP; rewrite -subr_eq0 dE.
    by have -> : (j \in g) = false by rewrite iE inE (negbTE ji).
- by case: bounds place {fits} => //= b place j; apply: place; rewrite /group_answers; case: ifP => _; rewrite !inE eqxx ?orbT.
- by case: bounds place {fits} => //= b place j; apply: place; rewrite other; case: ifP => _; rewrite !inE eqxx ?orbT.
Qed.

(* Noisy max. *)
(* Rule: selection-event, lower. *)
(* Rule: selection-event-at, lower. *)
Theorem group_event (g : {set 'I_n}) bounds D N u v x eps : 0 <= D -> lead_falls g D N u v -> lead_fits bounds D x (u + v) ->
  event_shows (between_bounds N bounds) M eps (group_chance #|g| x) (group_chance #|g| (x - (u + v))).
Proof.
move=> D0 falls fits; have [base near] := both_placed D0 falls fits.
by apply: (event_shown eps near (measurable_group g)); exact: group_mass.
Qed.
End Chance.
