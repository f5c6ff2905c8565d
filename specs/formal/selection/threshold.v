(* Above threshold (docs/theory/selection.md: above threshold, selection moduli, log-concave threshold, from above). Given the noisy threshold t
   the answers' comparisons are independent: an output pattern has the probability P_o(q), the mean over t of a product with one factor for
   each answer, F(t - q_j) where it is "no" and S(t - q_j) where it is "yes". The threshold is moved by s. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition.
Local Open Scope ereal_scope.

Section Threshold.
Context (R : realType) (n : nat) (nu : {measure set R -> \bar R}) (G : 'I_n -> R -> R).
Hypotheses (nu1 : nu setT = 1) (mG : forall j, measurable_fun setT (G j)) (G01 : forall j x, (0 <= G j x <= 1)%R).

Definition factors (q : 'I_n -> R) (t : R) : R := (\prod_(j < n) G j (t - q j))%R.
Definition pattern (q : 'I_n -> R) : R := fine (\int[nu]_t (factors q t)%:E).

(* Moving the threshold by s costs at most w. *)
Definition moves w s := forall A, measurable A -> nu A <= (expR w)%:E * nu [set t | A (t - s)%R].

Lemma measurable_shift (s : R) : measurable_fun setT (fun t : R => t - s)%R.
Proof. by apply: measurable_funB; [exact: measurable_fun_id | exact: measurable_fun_cst]. Qed.

Lemma measurable_factors q : measurable_fun setT (factors q).
Proof.
suff H (l : seq 'I_n) : measurable_fun setT (fun t : R => \prod_(j <- l) G j (t - q j))%R by exact: H.
elim: l => [|j l IH].
  rewrite (_ : (fun _ => _) = cst 1%R); first exact: measurable_fun_cst.
  by apply/funext => t; rewrite big_nil.
rewrite (_ : (fun _ => _) = (fun t : R => G j (t - q j) * \prod_(i <- l) G i (t - q i))%R); last first.
  by apply/funext => t; rewrite big_cons.
apply: measurable_funM => // _ A mA.
by have := measurable_shift (q j) measurableT (mG j measurableT mA); rewrite !setTI.
Qed.

Lemma factors01 q t : (0 <= factors q t <= 1)%R.
Proof.
apply/andP; split; first by apply: prodr_ge0 => j _; case/andP: (G01 j (t - q j)).
apply: (@le_trans _ _ (\prod_(j < n) 1)%R); last by rewrite big1_eq.
by apply: ler_prod => j _.
Qed.

(* Whatever the pattern: each factor costs at most c j when the threshold is moved by s and the answer by q' j - q j. *)
Theorem pattern_close w s (c : 'I_n -> R) q q' : moves w s ->
  (forall j x, G j x <= expR (c j) * G j (x + (s - (q' j - q j))))%R ->
  (pattern q <= expR (w + \sum_j c j) * pattern q')%R.
Proof.
move=> mv cost; have ms := measurable_shift s.
pose nu' := [the measure _ _ of pushforward nu ms].
have g0 x t : 0 <= (factors x t)%:E by rewrite lee_fin; case/andP: (factors01 x t).
have mf x : measurable_fun setT (fun t => (factors x t)%:E) by apply/EFin_measurable_fun; exact: measurable_factors.
have fin_int (m : {measure set R -> \bar R}) x : m setT = 1 -> \int[m]_t (factors x t)%:E \is a fin_num.
  move=> m1; rewrite ge0_fin_numE; last by apply: integral_ge0.
  apply: (@le_lt_trans _ _ (\int[m]_t 1)); last by rewrite integral_cst// mul1e m1 ltry.
  apply: ge0_le_integral => //; first exact: measurable_fun_cst.
  by move=> t _; rewrite lee_fin; case/andP: (factors01 x t).
have cl : close w 0 nu nu' by move=> A mA; rewrite adde0; exact: mv.
have n1 : nu' setT = 1 by [].
have := close_test_function nu1 n1 cl (measurable_factors q) (factors01 q).
have IP : \int[nu']_t (factors q t)%:E = \int[nu]_t (factors q (t - s))%:E.
  by apply: integral_pushforward => // t; exact: g0.
rewrite adde0 IP => h.
rewrite -lee_fin EFinM /pattern !fineK ?fin_int//; apply: (le_trans h).
rewrite expRD EFinM -muleA lee_wpmul2l ?lee_fin ?expR_ge0//.
rewrite -ge0_integralM ?lee_fin ?expR_ge0//; apply: ge0_le_integral => //.
- by move=> _ A mA; have := ms measurableT _ (mf q measurableT _ mA); rewrite !setTI.
- by move=> t _; apply: mule_ge0; [rewrite lee_fin expR_ge0 | exact: g0].
- exact: measurable_funeM.
move=> t _; rewrite -EFinM lee_fin /factors.
have -> : expR (\sum_j c j)%R = (\prod_(j < n) expR (c j))%R.
  by elim/big_rec2: _ => [|j y x _ <-]; rewrite ?expR0 ?expRD.
rewrite -big_split/=; apply: ler_prod => j _; apply/andP; split; first by case/andP: (G01 j (t - s - q j)).
apply: le_trans (cost j _) _; rewrite le_eqVlt; apply/orP; left; apply/eqP; congr (_ * G j _)%R.
by rewrite opprB addrA addrA -[(t - s - q j + s)%R]addrA [(- q j + s)%R]addrC addrA subrK subrK.
Qed.
End Threshold.

(* Above threshold with noise of any law: F(x) = P[Z < x] at "no", S(x) = P[Z >= x] at "yes"; no is the number of "no", yes that of "yes". *)
Section AboveThreshold.
Context (R : realType) (n : nat) (nu : {measure set R -> \bar R}) (F S : R -> R) (yes : {set 'I_n}).
Hypotheses (nu1 : nu setT = 1) (mF : measurable_fun setT F) (mS : measurable_fun setT S).
Hypotheses (F01 : forall x, (0 <= F x <= 1)%R) (S01 : forall x, (0 <= S x <= 1)%R).
Hypotheses (F_rises : {homo F : x y / (x <= y)%R}) (S_falls : {homo S : x y / (x <= y)%R >-> (y <= x)%R}).

Definition outcome (j : 'I_n) : R -> R := if j \in yes then S else F.

(* For answers that are chosen beforehand; the rule selection-moduli is in threshold_moduli.v. *)
Theorem above_threshold w wF wS s D q q' : moves nu w s ->
  (forall x, F x <= expR wF * F (x - (D - s)))%R -> (forall x, S x <= expR wS * S (x + (D + s)))%R ->
  (forall j, `|q' j - q j| <= D)%R ->
  (pattern nu outcome q <= expR (w + (wF *+ #|~: yes| + wS *+ #|yes|)) * pattern nu outcome q')%R.
Proof.
move=> mv hF hS qq; pose c j := if j \in yes then wS else wF.
have -> : (wF *+ #|~: yes| + wS *+ #|yes| = \sum_j c j)%R.
  rewrite (bigID (mem yes))/= addrC; congr (_ + _)%R.
  - rewrite (eq_bigr (fun=> wS)) ?sumr_const//; by move=> j jy; rewrite /c jy.
  - rewrite (eq_bigr (fun=> wF)); last by move=> j jy; rewrite /c (negbTE jy).
    by rewrite -sumr_const; apply: eq_bigl => j; rewrite inE.
apply: (pattern_close nu1 _ _ mv); [by move=> j; rewrite /outcome; case: ifP | by move=> j x; rewrite /outcome; case: ifP |].
move=> j x; have /andP[a b] : (- D <= q' j - q j <= D)%R by rewrite -ler_norml.
rewrite /outcome /c; case: ifP => _.
- apply: (le_trans (hS x)); rewrite ler_wpmul2l ?expR_ge0//; apply: S_falls.
  by rewrite ler_add2l addrC ler_add2r ler_oppl.
- apply: (le_trans (hF x)); rewrite ler_wpmul2l ?expR_ge0//; apply: F_rises.
  by rewrite ler_add2l opprB ler_add2l ler_opp2.
Qed.
End AboveThreshold.
