(* Post-processing and adaptive composition (docs/theory/composition.md): a map of the output, random or not, raises neither epsilon nor
   delta; epsilons and deltas of parts add up, where each part is chosen after the outputs before it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels.
Local Open Scope ereal_scope.

Section Closeness.
Context (R : realType) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (P Q : {measure set T -> \bar R}).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1).

Lemma close_delta_ge0 d' (Z : measurableType d') eps dl (P' Q' : {measure set Z -> \bar R}) : close eps dl P' Q' -> (0 <= dl)%R.
Proof. by move=> /(_ set0 measurable0); rewrite !measure0 mule0 add0e lee_fin. Qed.

(* A random map of the output raises neither epsilon nor delta. *)
Lemma close_pushed eps dl (k : T -> {measure set U -> \bar R}) (mk : markov k) :
  close eps dl P Q -> close eps dl (pushed mk P) (pushed mk Q).
Proof.
move=> PQ S mS; rewrite /pushed.
have kf x : k x S \is a fin_num by apply: mass_fin => //; exact: mk.1.
under eq_integral do rewrite -(fineK (kf _)); under [in X in _ <= X]eq_integral do rewrite -(fineK (kf _)).
apply: close_test_function => //.
- by apply: measurable_fun_comp => //; [exact: measurable_fun_fine | exact: mk.2].
- by move=> x; rewrite -!lee_fin fineK// measure_ge0 mass_le1// mk.1.
Qed.

(* Adaptive composition of two parts: epsilons and deltas add up. *)
Lemma close_joint e1 dl1 e2 dl2 (k k' : T -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k') :
  close e1 dl1 P Q -> (forall x, close e2 dl2 (k x) (k' x)) -> close (e1 + e2) (dl1 + dl2) (joint mk P) (joint mk' Q).
Proof.
move=> PQ kk A mA; rewrite /joint.
have dl20 : (0 <= dl2)%R by exact: close_delta_ge0 (kk point).
have mf (l : T -> {measure set U -> \bar R}) : markov l -> measurable_fun setT (fun x => fine (l x (xsection A x))).
  move=> ml; apply: measurable_fun_comp => //; first exact: measurable_fun_fine.
  exact: markov_sections.
have fE (l : T -> {measure set U -> \bar R}) (ml : markov l) x : l x (xsection A x) = (fine (l x (xsection A x)))%:E.
  by rewrite fineK// mass_fin ?ml.1//; exact: measurable_xsection.
pose f x := fine (k x (xsection A x)); pose f' x := fine (k' x (xsection A x)).
pose g x := Num.min 1%R (expR e2 * f' x)%R.
have f0 x : (0 <= f x)%R by rewrite fine_ge0// measure_ge0.
have f'0 x : (0 <= f' x)%R by rewrite fine_ge0// measure_ge0.
have ef'0 x : (0 <= expR e2 * f' x)%R by rewrite mulr_ge0// expR_ge0.
have g0 x : (0 <= g x)%R by rewrite /g le_minr ler01 ef'0.
have mef : measurable_fun setT (fun x => expR e2 * f' x)%R.
  by apply: measurable_funM; [exact: measurable_fun_cst | exact: mf].
have mg : measurable_fun setT g.
  rewrite (_ : g = -%R \o (fun x => Num.max (- 1) (- (expR e2 * f' x)))%R); last first.
    by apply/funext => x; rewrite /= oppr_max !opprK.
  apply: measurable_funN; apply: measurable_fun_max; first exact: measurable_fun_cst.
  exact: measurable_funN.
have fg x : (f x <= g x + dl2)%R.
  rewrite /g addr_minl le_minr; apply/andP; split.
    rewrite ler_paddr// -lee_fin -fE// mass_le1// ?mk.1//; exact: measurable_xsection.
  rewrite -lee_fin EFinD EFinM -!fE//; apply: kk; exact: measurable_xsection.
have sP : \int[P]_x (f x)%:E <= \int[P]_x (g x)%:E + dl2%:E.
  rewrite -[dl2%:E]mule1 -P1 -(integral_cst P measurableT) -ge0_integralD//.
  - apply: ge0_le_integral => //.
    + by move=> x _; rewrite lee_fin.
    + by apply/EFin_measurable_fun; exact: mf.
    + by move=> x _; rewrite adde_ge0 ?lee_fin.
    + by apply: emeasurable_funD; [exact/EFin_measurable_fun | exact: measurable_fun_cst].
    + by move=> x _; rewrite -EFinD lee_fin.
  - by move=> x _; rewrite lee_fin.
  - exact/EFin_measurable_fun.
  - exact: measurable_fun_cst.
have sQ : \int[Q]_x (g x)%:E <= (expR e2)%:E * \int[Q]_x (f' x)%:E.
  rewrite -ge0_integralM//.
  - apply: ge0_le_integral => //.
    + by move=> x _; rewrite lee_fin.
    + exact/EFin_measurable_fun.
    + by move=> x _; rewrite -EFinM lee_fin.
    + by apply/EFin_measurable_fun.
    + by move=> x _; rewrite -EFinM lee_fin /g le_minl lexx orbT.
  - by apply/EFin_measurable_fun; exact: mf.
  - by move=> x _; rewrite lee_fin.
  - by rewrite lee_fin expR_ge0.
have gPQ : \int[P]_x (g x)%:E <= (expR e1)%:E * \int[Q]_x (g x)%:E + dl1%:E.
  by apply: close_test_function => // x; rewrite g0 /g le_minl lexx.
under eq_integral do rewrite (fE _ mk); under [in X in _ <= X]eq_integral do rewrite (fE _ mk').
apply: (le_trans sP); rewrite EFinD addeA; apply: lee_add => //.
apply: (le_trans gPQ); apply: lee_add => //; rewrite expRD EFinM -muleA.
by apply: lee_wpmul2l => //; rewrite lee_fin expR_ge0.
Qed.
End Closeness.

Section Mechanisms.
Context (R : realType) (X : Type).
Implicit Types (N : relation X).

(* A map of the output, which may be random, that does not look at the data again. *)
Definition post_processed d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T)
  (k : T -> {measure set U -> \bar R}) (mk : markov k) : mechanism R X U :=
  Mechanism (fun x => pushed_total mk (law_total M x)).

(* Rule: post-processing, upper. *)
Theorem post_processing N d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T)
    (k : T -> {measure set U -> \bar R}) (mk : markov k) eps dl :
  dp_in_order N M eps dl -> dp_in_order N (post_processed M mk) eps dl.
Proof. by move=> H x x' xx; apply: close_pushed; rewrite ?law_total//; exact: H. Qed.

(* Two parts on the same data; the law of the second output may depend on the first. *)
Definition composed d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T)
  (k : X -> T -> {measure set U -> \bar R}) (mk : forall x, markov (k x)) : mechanism R X (T * U)%type :=
  Mechanism (fun x => joint_total (mk x) (law_total M x)).

Theorem composition_of_two N d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T)
    (k : X -> T -> {measure set U -> \bar R}) (mk : forall x, markov (k x)) e1 dl1 e2 dl2 :
  dp_in_order N M e1 dl1 -> (forall y x x', N x x' -> close e2 dl2 (k x y) (k x' y)) ->
  dp_in_order N (composed M mk) (e1 + e2) (dl1 + dl2).
Proof. by move=> H1 H2 x x' xx; apply: close_joint; rewrite ?law_total//; [exact: H1 | move=> y; exact: H2]. Qed.

(* Any number of parts, one after the other, each chosen after the outputs so far, with their budgets (epsilon, delta). *)
Inductive adaptive N : forall d (Y : measurableType d), mechanism R X Y -> seq (R * R) -> Prop :=
| FirstPart d (Y : measurableType d) (M : mechanism R X Y) eps dl : dp_in_order N M eps dl -> adaptive N M [:: (eps, dl)]
| NextPart d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism R X T) parts
    (k : X -> T -> {measure set U -> \bar R}) (mk : forall x, markov (k x)) eps dl :
    adaptive N M parts -> (forall y x x', N x x' -> close eps dl (k x y) (k x' y)) -> adaptive N (composed M mk) ((eps, dl) :: parts).

Theorem basic_composition_in_order N d (Y : measurableType d) (M : mechanism R X Y) parts :
  adaptive N M parts -> dp_in_order N M (\sum_(b <- parts) b.1)%R (\sum_(b <- parts) b.2)%R.
Proof.
move=> A; induction A as [d Y M eps dl H | d1 T d2 U M parts k mk eps dl _ IH H]; first by rewrite !big_seq1.
by rewrite !big_cons addrC [X in dp_in_order _ _ _ X]addrC; exact: composition_of_two.
Qed.

(* One case of the rule, which one_sided_upper in one_part and one_sided_lower in one_order gather: compositions in one order. *)
(* Rule: one-sided, upper. *)
Theorem basic_composition N d (Y : measurableType d) (M : mechanism R X Y) parts :
  adaptive (both N) M parts -> dp N M (\sum_(b <- parts) b.1)%R (\sum_(b <- parts) b.2)%R.
Proof. exact: basic_composition_in_order. Qed.
End Mechanisms.
