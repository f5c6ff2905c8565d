(* Adaptive composition of parts that are dominated by pairs of laws (docs/theory/composition.md, dominating pairs): the product of the pairs
   dominates the whole, where each part is chosen after the outputs so far. Only the pairs need densities; nothing is asked of the parts. *)
From dpverify Require Import prelude.
From mathcomp.classical Require Import cardinality.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood.
Local Open Scope ereal_scope.

(* -- The product of two pairs -- *)

Section Product.
Context (R : realType) d1 (X : measurableType d1) d2 (Z : measurableType d2).

(* The law of (z, x), z of law P2 and x of law P1, independent. *)
Lemma markov_law (P1 : {measure set X -> \bar R}) : P1 setT = 1 -> markov (fun _ : Z => P1).
Proof. by move=> P11; split=> // S mS; exact: measurable_fun_cst. Qed.

Definition product (P1 : {measure set X -> \bar R}) (P11 : P1 setT = 1) (P2 : {measure set Z -> \bar R}) : {measure set (Z * X)%type -> \bar R} :=
  [the measure _ _ of joint (markov_law P11) P2].

Variables (P1 Q1 : {measure set X -> \bar R}) (P11 : P1 setT = 1) (Q11 : Q1 setT = 1).
Variables (nu P2 Q2 : {measure set Z -> \bar R}) (p1 q1 : X -> R) (p2 q2 : Z -> R).
Hypotheses (P21 : P2 setT = 1) (Q21 : Q2 setT = 1) (L1 : likelihood P1 Q1 p1 q1) (Pp : has_density nu P2 p2) (Qq : has_density nu Q2 q2).

Lemma measurable_slice (W : {measure set X -> \bar R}) (A : set (Z * X)%type) : W setT = 1 -> measurable A ->
  measurable_fun setT (fun z => fine (W (xsection A z))).
Proof.
move=> W1 mA; apply: measurable_fun_comp => //; first exact: measurable_fun_fine.
exact: (markov_sections (markov_law W1) mA).
Qed.

Lemma slice01 (W : {measure set X -> \bar R}) (A : set (Z * X)%type) z : W setT = 1 -> measurable A -> (0 <= fine (W (xsection A z)) <= 1)%R.
Proof. by move=> W1 mA; apply: fine01 => //; exact: measurable_xsection. Qed.

Lemma product_integral (W : {measure set X -> \bar R}) (W1 : W setT = 1) (V : {measure set Z -> \bar R}) r (A : set (Z * X)%type) u :
  has_density nu V r -> V setT = 1 -> measurable A -> (0 <= u)%R ->
  \int[nu]_z (u * r z * fine (W (xsection A z)))%:E = (u * fine (product W1 V A))%:E.
Proof.
move=> Vr V1 mA u0; have [r0 mr _] := Vr; have mW := measurable_slice W1 mA.
have W0 z : (0 <= fine (W (xsection A z)))%R by case/andP: (slice01 z W1 mA).
under eq_integral do rewrite -mulrA EFinM.
rewrite ge0_integralM//; last 2 first.
- by apply/EFin_measurable_fun; apply: measurable_funM.
- by move=> z _; rewrite lee_fin mulr_ge0.
rewrite EFinM fineK; last by apply: mass_fin => //; exact: joint_total.
congr (_ * _); rewrite /product/= /joint (integral_density Vr).
- apply: eq_integral => z _; rewrite EFinM fineK//; apply: mass_fin => //; exact: measurable_xsection.
- exact: (markov_sections (markov_law W1) mA).
- by move=> z; exact: measure_ge0.
Qed.

(* The likelihoods of a product are the products. *)
Theorem product_likelihood :
  likelihood (product P11 P2) (product Q11 Q2) (fun zx => p2 zx.1 * p1 zx.2)%R (fun zx => q2 zx.1 * q1 zx.2)%R.
Proof.
have [p10 q10 mp1 mq1 best] := L1; have [p20 mp2 _] := Pp; have [q20 mq2 _] := Qq.
have m2 (f2 : Z -> R) (f1 : X -> R) : measurable_fun setT f2 -> measurable_fun setT f1 ->
    measurable_fun setT (fun zx : (Z * X)%type => f2 zx.1 * f1 zx.2)%R.
  move=> mf2 mf1; apply: measurable_funM; [apply: measurable_fun_comp mf2 _ | apply: measurable_fun_comp mf1 _] => // _ B mB; rewrite setTI.
  - by rewrite (_ : _ @^-1` _ = B `*` setT); [exact: measurableM | apply/seteqP; split=> -[z x] //= []].
  - by rewrite (_ : _ @^-1` _ = setT `*` B); [exact: measurableM | apply/seteqP; split=> -[z x] //= []].
split; try (by move=> ?; rewrite mulr_ge0); try exact: m2.
move=> u v S u0 v0 mS; set E := above _ _ _ _.
have mE : measurable E by apply: measurable_above; exact: m2.
have section z : xsection E z = above p1 q1 (u * p2 z) (v * q2 z).
  by apply/seteqP; split=> x; rewrite /xsection /E /above/= ?inE/= !mulrA.
rewrite ler_subl_addr [X in (_ <= X)%R]addrAC -ler_subl_addr opprK -lee_fin !EFinD.
rewrite -!(product_integral _ Pp)// -!(product_integral _ Qq)//.
have m c (r : Z -> R) (W : {measure set X -> \bar R}) A : W setT = 1 -> measurable_fun setT r -> measurable A ->
    measurable_fun setT (fun z => c * r z * fine (W (xsection A z)))%R.
  by move=> W1 mr mA; apply: measurable_funM; [exact: measurable_scaled | exact: measurable_slice].
have s0 c (r : Z -> R) (W : {measure set X -> \bar R}) A z : W setT = 1 -> (0 <= c)%R -> (forall z, 0 <= r z)%R -> measurable A ->
    (0 <= c * r z * fine (W (xsection A z)))%R.
  move=> W1 c0 r0 mA; apply: mulr_ge0; [exact: mulr_ge0 | by case/andP: (slice01 z W1 mA)].
apply: le_integrals; try (by apply: m); try (by move=> z; apply: s0).
move=> z; rewrite section; have up : (0 <= u * p2 z)%R by exact: mulr_ge0.
have vq : (0 <= v * q2 z)%R by exact: mulr_ge0.
have mSz : measurable (xsection S z) by exact: measurable_xsection.
have := best _ _ _ up vq mSz; lra.
Qed.
End Product.

(* -- Two parts -- *)

Section Cells.
Context (R : realType) d (T : measurableType d) (f g : T -> R) (n : nat).
Hypotheses (mf : measurable_fun setT f) (mg : measurable_fun setT g) (f01 : forall x, (0 <= f x <= 1)%R) (g01 : forall x, (0 <= g x <= 1)%R).
Hypothesis n0 : (0 < n)%N.

Definition levels := {ffun 'I_n -> bool * bool}.
Definition cell (x : T) : levels := [ffun j : 'I_n => ((j.+1%:R <= n%:R * f x)%R, (j.+1%:R <= n%:R * g x)%R)].

Lemma measurable_cell c : measurable (cell @^-1` [set c]).
Proof.
rewrite (_ : _ @^-1` _ = \big[setI/setT]_(j < n) [set x | cell x j = c j]).
  apply: bigsetI_measurable => j _.
  rewrite (_ : [set x | _] = (if (c j).1 then [set x | (j.+1%:R <= n%:R * f x)%R] else ~` [set x | (j.+1%:R <= n%:R * f x)%R]) `&`
                             (if (c j).2 then [set x | (j.+1%:R <= n%:R * g x)%R] else ~` [set x | (j.+1%:R <= n%:R * g x)%R])); last first.
    apply/seteqP; split=> x /=; rewrite ffunE; case: (c j) => [[] []] /=; do ?[by case; split; [case: (_ <= _)%R|case: (_ <= _)%R]].
    - by case=> -> ->.
    - by case=> -> h2; split=> //; rewrite h2.
    - by case=> h1 ->; split=> //; rewrite h1.
    - by case=> h1 h2; split; rewrite ?h1 ?h2.
    - by case=> -> ->.
    - by case=> -> /negP/negbTE ->.
    - by case=> /negP/negbTE -> ->.
    - by case=> /negP/negbTE -> /negP/negbTE ->.
  by apply: measurableI; case: ifP => _; try apply: measurableC; exact: measurable_level.
apply/seteqP; split=> [x /= <- | x].
- by elim/big_ind: _ => // A B.
- move=> h; apply/ffunP => j; move: h; rewrite (bigD1 j)//= => -[] //.
Qed.

Definition representative c : T := xget point (cell @^-1` [set c]).

Lemma representative_cell x : cell (representative (cell x)) = cell x.
Proof. by apply: (@xgetPex _ point (cell @^-1` [set cell x])); exists x. Qed.

Lemma same_level (h : T -> R) x y : (0 <= h x <= 1)%R -> (0 <= h y <= 1)%R -> steps n (n%:R * h x) = steps n (n%:R * h y) ->
  (h x <= h y + n%:R^-1)%R.
Proof.
move=> /andP[x0 x1] /andP[y0 y1] E; have nR : (0 < n%:R :> R)%R by rewrite ltr0n.
rewrite -(ler_pmul2l nR) mulrDr divff ?gt_eqF//.
have nx : (0 <= n%:R * h x)%R by rewrite mulr_ge0 ?ler0n.
have ny : (0 <= n%:R * h y)%R by rewrite mulr_ge0 ?ler0n.
apply: (le_trans (@steps_ge _ n _ nx _)); first by rewrite -[leRHS]mulr1 ler_wpmul2l ?ler0n.
by rewrite E ler_add2r; exact: steps_le.
Qed.

Lemma cell_close x y : cell x = cell y -> (f x <= f y + n%:R^-1)%R /\ (g x <= g y + n%:R^-1)%R.
Proof.
move=> /ffunP E; split; apply: same_level => //; apply: eq_bigr => j _; by have := E j; rewrite !ffunE => -[e1 e2]; rewrite ?e1 ?e2.
Qed.
End Cells.

Section TwoParts.
Context (R : realType) d (T : measurableType d) d' (U : measurableType d') d1 (X : measurableType d1) d2 (Z : measurableType d2).
Variables (P Q : {measure set T -> \bar R}) (k k' : T -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k').
Variables (P1 Q1 : {measure set X -> \bar R}) (P11 : P1 setT = 1) (Q11 : Q1 setT = 1).
Variables (nu P2 Q2 : {measure set Z -> \bar R}) (p1 q1 : X -> R) (p2 q2 : Z -> R).
Hypotheses (PT : P setT = 1) (QT : Q setT = 1) (P21 : P2 setT = 1) (Q21 : Q2 setT = 1).
Hypotheses (L1 : likelihood P1 Q1 p1 q1) (Pp : has_density nu P2 p2) (Qq : has_density nu Q2 q2).
Hypotheses (first : dominated P Q P1 Q1) (second : forall y, dominated (k y) (k' y) P2 Q2).

Notation jointP := [the measure _ _ of joint mk P].
Notation jointQ := [the measure _ _ of joint mk' Q].

Section Event.
Variables (a : R) (A : set (T * U)%type) (n : nat).
Hypotheses (a0 : (0 <= a)%R) (mA : measurable A) (n0 : (0 < n)%N).
Let f y := fine (k y (xsection A y)).
Let g y := fine (k' y (xsection A y)).

Let slices (l : T -> {measure set U -> \bar R}) : markov l ->
  measurable_fun setT (fun y => fine (l y (xsection A y))) /\ forall y, (0 <= fine (l y (xsection A y)) <= 1)%R.
Proof.
move=> ml; split=> [|y]; last by apply: fine01; [exact: ml.1 | exact: measurable_xsection].
by apply: measurable_fun_comp => //; [exact: measurable_fun_fine | exact: markov_sections].
Qed.

Let joint_fine (l : T -> {measure set U -> \bar R}) (ml : markov l) (W : {measure set T -> \bar R}) : W setT = 1 ->
  (fine (joint ml W A))%:E = \int[W]_y (fine (l y (xsection A y)))%:E.
Proof.
move=> W1; rewrite fineK; last by apply: (@mass_fin _ _ _ [the measure _ _ of joint ml W]) => //; exact: joint_total.
by apply: eq_integral => y _; rewrite fineK//; apply: mass_fin; [exact: ml.1 | exact: measurable_xsection].
Qed.

Let bin := cell f g n.
Let m (W : {measure set T -> \bar R}) c : R := fine (W (bin @^-1` [set c])).
Let F c := above p2 q2 (m P c) (a * m Q c).

Lemma rough_bound :
  (fine (joint mk P A) - a * fine (joint mk' Q A) <=
   \sum_c (m P c * fine (P2 (F c)) - a * m Q c * fine (Q2 (F c))) + (1 + a) / n%:R)%R.
Proof.
have [mf f01] := slices mk; have [mg g01] := slices mk'.
have mb c : measurable (bin @^-1` [set c]) by exact: measurable_cell.
have near y : (f y <= f (representative f g (bin y)) + n%:R^-1)%R /\ (g (representative f g (bin y)) <= g y + n%:R^-1)%R.
  by have E := representative_cell f g n y; have [h _] := cell_close f01 g01 n0 (esym E); have [_ h'] := cell_close f01 g01 n0 E.
have ni : (0 <= n%:R^-1 :> R)%R by rewrite invr_ge0 ler0n.
have mE (W : {measure set T -> \bar R}) c : W setT = 1 -> W (bin @^-1` [set c]) = (m W c)%:E by move=> W1; rewrite fineK// mass_fin.
have f0 y : (0 <= f y)%R by case/andP: (f01 y).
have g0 y : (0 <= g y)%R by case/andP: (g01 y).
have mh (h : levels n -> R) : measurable_fun setT (fun y => h (bin y)).
  move=> _ B mB; rewrite setTI (_ : _ @^-1` _ = [set y | h (bin y) \in B]).
    exact: (measurable_bins mb (fun c => h c \in B)).
  by apply/seteqP; split=> y /=; rewrite inE.
have cst1 (W : {measure set T -> \bar R}) (v : R) : W setT = 1 -> \int[W]_y (v%:E) = v%:E.
  by move=> W1; rewrite (integral_cst W measurableT) W1 mule1.
have up : (fine (joint mk P A) <= \sum_c m P c * f (representative f g c) + n%:R^-1)%R.
  rewrite -lee_fin EFinD joint_fine// -(cst1 P n%:R^-1)//.
  have -> : (\sum_c m P c * f (representative f g c))%:E = \int[P]_y (f (representative f g (bin y)))%:E.
    rewrite (integral_bins P (h := fun c => f (representative f g c)))// -sumEFin; apply: eq_bigr => c _.
    by rewrite mE// -EFinM mulrC.
  rewrite -[leLHS]adde0 -(@integral0 _ _ _ P setT).
  apply: (@le_integrals _ _ _ P f (fun=> 0%R) (fun y => f (representative f g (bin y))) (fun=> n%:R^-1)) => //.
  - exact: measurable_fun_cst.
  - exact: (mh (fun c => f (representative f g c))).
  - exact: measurable_fun_cst.
  - by move=> y; rewrite addr0; have [] := near y.
have low : (\sum_c m Q c * g (representative f g c) <= fine (joint mk' Q A) + n%:R^-1)%R.
  rewrite -lee_fin EFinD joint_fine// -(cst1 Q n%:R^-1)//.
  have -> : (\sum_c m Q c * g (representative f g c))%:E = \int[Q]_y (g (representative f g (bin y)))%:E.
    rewrite (integral_bins Q (h := fun c => g (representative f g c)))// -sumEFin; apply: eq_bigr => c _.
    by rewrite mE// -EFinM mulrC.
  rewrite -[leLHS]adde0 -(@integral0 _ _ _ Q setT).
  apply: (@le_integrals _ _ _ Q (fun y => g (representative f g (bin y))) (fun=> 0%R) g (fun=> n%:R^-1)) => //.
  - exact: (mh (fun c => g (representative f g c))).
  - exact: measurable_fun_cst.
  - exact: measurable_fun_cst.
  - by move=> y; rewrite addr0; have [] := near y.
have each c : (m P c * f (representative f g c) - a * m Q c * g (representative f g c) <=
               m P c * fine (P2 (F c)) - a * m Q c * fine (Q2 (F c)))%R.
  apply: (dominated_event (mk.1 _) (mk'.1 _) (density_likelihood P21 Q21 Pp Qq) (second _)).
  - by rewrite /m fine_ge0// measure_ge0.
  - by rewrite mulr_ge0// /m fine_ge0// measure_ge0.
  - exact: measurable_xsection.
have : (\sum_c (m P c * f (representative f g c) - a * m Q c * g (representative f g c)) <=
        \sum_c (m P c * fine (P2 (F c)) - a * m Q c * fine (Q2 (F c))))%R by apply: ler_sum => c _; exact: each.
have -> : (\sum_c (m P c * f (representative f g c) - a * m Q c * g (representative f g c)) =
           \sum_c m P c * f (representative f g c) - a * \sum_c m Q c * g (representative f g c))%R.
  by rewrite mulr_sumr -sumrB; apply: eq_bigr => c _; rewrite mulrA.
have := ler_wpmul2l a0 low; rewrite mulrDr mulrDl mul1r; lra.
Qed.

(* What follows an output counts for the pairs alone. *)
Lemma cells_bound :
  (\sum_c (m P c * fine (P2 (F c)) - a * m Q c * fine (Q2 (F c))) <= profile a (product P11 P2) (product Q11 Q2))%R.
Proof.
have [mf f01] := slices mk; have [mg g01] := slices mk'.
have mb c : measurable (bin @^-1` [set c]) by exact: measurable_cell.
have [p10 q10 mp1 mq1 _] := L1; have [p20 mp2 _] := Pp; have [q20 mq2 _] := Qq.
have m0 (W : {measure set T -> \bar R}) c : (0 <= m W c)%R by rewrite /m fine_ge0// measure_ge0.
have L := product_likelihood P11 Q11 P21 Q21 L1 Pp Qq.
have PP : product P11 P2 setT = 1 by exact: joint_total.
have QQ : product Q11 Q2 setT = 1 by exact: joint_total.
rewrite (likelihood_profile PP QQ L a0).
set E := above _ _ _ _.
have [_ _ mpp mqq _] := L.
have mE : measurable E by exact: measurable_above.
have mF c : measurable (F c) by exact: measurable_above.
have section z : xsection E z = above p1 q1 (p2 z) (a * q2 z).
  by apply/seteqP; split=> x; rewrite /xsection /E /above/= ?inE/= mul1r !mulrA.
pose J z := fun c => (z \in F c).
have mS z : measurable [set y | J z (bin y)] by exact: measurable_bins.
(* the sums as integrals over z *)
have sumI (W : {measure set T -> \bar R}) (V : {measure set Z -> \bar R}) r : W setT = 1 -> V setT = 1 -> has_density nu V r ->
    forall u, (0 <= u)%R -> (u * \sum_c m W c * fine (V (F c)))%:E = \int[nu]_z (u * r z * fine (W [set y | J z (bin y)]))%:E.
  move=> W1 V1 Vr u u0; have [r0 mr _] := Vr.
  rewrite mulr_sumr -sumEFin; transitivity (\sum_c \int[nu]_z (u * m W c * (r z * \1_(F c) z))%:E).
    by apply: eq_bigr => c _; rewrite (mass_integral Vr V1 (mF c)) ?mulr_ge0// mulrA.
  rewrite -ge0_integral_sum//; last 2 first.
  - move=> c; apply/EFin_measurable_fun; apply: measurable_scaled; apply: measurable_funM => //; exact: measurable_fun_indic.
  - by move=> c z _; rewrite lee_fin !mulr_ge0.
  apply: eq_integral => z _; rewrite sumEFin; congr EFin; rewrite (fine_bins mb (J z) W1) mulr_sumr [RHS]big_mkcond/=.
  apply: eq_bigr => c _; rewrite indicE /J; case: (z \in F c); rewrite ?mulr1 ?mulr0//.
  by rewrite -/(m W c) -!mulrA [(m W c * _)%R]mulrC.
have sumsub : (\sum_c (m P c * fine (P2 (F c)) - a * m Q c * fine (Q2 (F c))) =
    1 * (\sum_c m P c * fine (P2 (F c))) - a * \sum_c m Q c * fine (Q2 (F c)))%R.
  by rewrite mul1r mulr_sumr -sumrB; apply: eq_bigr => c _; rewrite mulrA.
rewrite sumsub -[X in (_ <= X - _)%R]mul1r.
rewrite ler_subl_addr [X in (_ <= X)%R]addrAC -ler_subl_addr opprK -lee_fin !EFinD.
rewrite (sumI _ _ _ PT P21 Pp)// (sumI _ _ _ QT Q21 Qq)//.
rewrite -(product_integral P11 Pp)// -(product_integral Q11 Qq)//.
have mw (W : {measure set T -> \bar R}) : W setT = 1 -> measurable_fun setT (fun z => fine (W [set y | J z (bin y)])).
  move=> W1; rewrite (_ : (fun z => _) = (fun z => \sum_(c <- index_enum _) m W c * \1_(F c) z)%R).
    apply/EFin_measurable_fun; rewrite (_ : EFin \o _ = (fun z => \sum_(c <- index_enum _) (m W c * \1_(F c) z)%:E)); last first.
      by apply/funext => z; rewrite /= sumEFin.
    apply: emeasurable_fun_sum => c; apply/EFin_measurable_fun; apply: measurable_scaled; exact: measurable_fun_indic.
  apply/funext => z; rewrite (fine_bins mb (J z) W1) big_mkcond/=; apply: eq_bigr => c _.
  by rewrite indicE /J; case: (z \in F c); rewrite ?mulr1 ?mulr0.
have w0 (W : {measure set T -> \bar R}) z : (0 <= fine (W [set y | J z (bin y)]))%R by rewrite fine_ge0// measure_ge0.
have s0 (W : {measure set X -> \bar R}) z : W setT = 1 -> (0 <= fine (W (xsection E z)))%R by move=> W1; case/andP: (slice01 z W1 mE).
apply: le_integrals.
- exact: (measurable_funM (measurable_scaled _ mp2) (mw P PT)).
- exact: (measurable_funM (measurable_scaled _ mq2) (measurable_slice Q11 mE)).
- exact: (measurable_funM (measurable_scaled _ mp2) (measurable_slice P11 mE)).
- exact: (measurable_funM (measurable_scaled _ mq2) (mw Q QT)).
- by move=> z; rewrite !mulr_ge0.
- by move=> z; rewrite !mulr_ge0// s0.
- by move=> z; rewrite !mulr_ge0// s0.
- by move=> z; rewrite !mulr_ge0.
- move=> z; rewrite section !mul1r.
  have := dominated_event PT QT L1 first (p20 z) (mulr_ge0 a0 (q20 z)) (mS z); lra.
Qed.
End Event.

(* The adaptive composition is dominated by the product of the pairs. *)
(* Rule: gaussian-composition, upper, in part: domination by the product of the parts' pairs; not that the product of Gaussian pairs is one. *)
(* Rule: laplace-sums, upper, in part: domination by the product of the parts' pairs; not the formula for its curve. *)
(* Rule: loss-distribution, upper, in part: domination by the product of the parts' pairs; not the sums over the points of the grid. *)
Theorem composition_dominated : dominated jointP jointQ (product P11 P2) (product Q11 Q2).
Proof.
move=> a a0; apply: profile_le => A mA; set B := profile a _ _.
apply/ler_addgt0Pl => e e0; pose n := `|ceil ((1 + a) / e)%R|%N.+1.
have n0 : (0 < n)%N by [].
have h1 := rough_bound a0 mA n0; have h2 := @cells_bound a A n a0 mA.
apply: (le_trans h1); rewrite addrC; apply: ler_add => //.
have nR : (0 < n%:R :> R)%R by rewrite ltr0n.
rewrite ler_pdivr_mulr// mulrC -ler_pdivr_mulr//.
have c0 : (0 <= (1 + a) / e)%R by rewrite divr_ge0 ?(ltW e0)// addr_ge0.
rewrite /n -natr1 natr_absz ger0_norm ?ceil_ge0//.
by apply: (le_trans (ceil_ge _)); rewrite ler_addl.
Qed.
End TwoParts.
