(* How likely it is that words are told (docs/theory/selection.md, told words): noises that are apart are independent, also as the parts of several
   functions of them; and given the others one noise keeps its law. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels independent.
Local Open Scope ereal_scope.

Section Apart.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1).

(* A function of some of the noises alone. *)
Definition depends (n : nat) (W T : Type) (Z : nat -> W -> R) (V : pred nat) (f : W -> T) :=
  forall w w', (forall j, (j < n)%N -> V j -> Z j w = Z j w') -> f w = f w'.

(* One more noise: its integral comes last. *)
Lemma one_more d (W : measurableType d) (nu : {measure set W -> \bar R}) n (f : W * R -> \bar R) :
  measurable_fun setT f -> (forall w, 0 <= f w) ->
  measurable_fun setT (fun w => \int[mu n]_z f (w, z)) /\
  \int[product_measure1 nu (law_sigma_finite (mu1 n))]_x f x = \int[nu]_w \int[mu n]_z f (w, z).
Proof.
move=> mf f0; have s := law_sigma_finite (mu1 n); split; last exact: fubini_tonelli1.
exact: (measurable_fun_fubini_tonelli_F s _ mf f0).
Qed.

(* Functions of noises that are apart: the mean of their product is the product of their means. *)
Lemma means_apart n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises mu1 n nu Z ->
  forall (V : pred nat) (f g : W -> \bar R), measurable_fun setT f -> measurable_fun setT g -> (forall w, 0 <= f w) -> (forall w, 0 <= g w) ->
  depends n Z V f -> depends n Z (predC V) g -> \int[nu]_w (f w * g w) = (\int[nu]_w f w) * (\int[nu]_w g w).
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => V f g mf mg f0 g0 df dg.
  have cf : f = cst (f point) by apply/funext => w; exact: df.
  have cg : g = cst (g point) by apply/funext => w; exact: dg.
  rewrite cf cg (_ : (fun w => _) = cst (f point * g point))//.
  by rewrite !integral_cst// nu1 !mule1.
suff one (U : pred nat) (h k : W * R -> \bar R) : measurable_fun setT h -> measurable_fun setT k -> (forall w, 0 <= h w) -> (forall w, 0 <= k w) ->
    depends n.+1 (fun j (w : W * R) => if j == n then w.2 else Z j w.1) U h ->
    depends n.+1 (fun j (w : W * R) => if j == n then w.2 else Z j w.1) (predC U) k -> U n ->
    \int[product_measure1 nu (law_sigma_finite (mu1 n))]_w (h w * k w) =
    (\int[product_measure1 nu (law_sigma_finite (mu1 n))]_w h w) * (\int[product_measure1 nu (law_sigma_finite (mu1 n))]_w k w).
  have [Vn|Vn] := boolP (V n); first exact: (one V).
  rewrite muleC; under eq_integral do rewrite muleC.
  apply: (one (predC V)) => // w w' same; apply: df => j jn Vj; apply: same => //=; by rewrite negbK.
move=> mh mk h0 k0 dh dk Un.
pose k' w := k (w, 0%R).
have kE w z : k (w, z) = k' w by apply: dk => j jn /=; have [->/=|//] := eqVneq j n; rewrite Un.
have mk' : measurable_fun setT k' by exact: (@measurable_fun_prod2 _ _ _ _ W _ k (0%R : R) mk).
have mhk : measurable_fun setT (fun w => h w * k w) by exact: emeasurable_funM.
have hk0 w : 0 <= h w * k w by exact: mule_ge0.
have [mH hE] := one_more nu n mh h0; have [_ kE'] := one_more nu n mk k0; have [_ ->] := one_more nu n mhk hk0.
rewrite hE kE'.
have -> : \int[nu]_w \int[mu n]_z k (w, z) = \int[nu]_w k' w.
  apply: eq_integral => w _; rewrite (eq_integral (cst (k' w))); last by move=> z _; exact: kE.
  by rewrite integral_cst// mu1 mule1.
rewrite -(IH U)//.
- apply: eq_integral => w _; have mw : measurable_fun setT (fun z => h (w, z)) by exact: (@measurable_fun_prod1 _ _ _ _ W _ h w mh).
  have kw : 0 <= k' w by exact: k0.
  by rewrite muleC -ge0_integralM//; apply: eq_integral => z _; rewrite kE muleC.
- by move=> w; exact: integral_ge0.
- by move=> w; rewrite /k'.
- move=> w w' same; apply: eq_integral => z _; apply: dh => j jn Uj /=; case: ifP => // ne.
  by apply: same => //; move: jn; rewrite ltnS leq_eqVlt ne.
- move=> w w' same; apply: dk => j jn Uj /=; case: ifP => // ne.
  by apply: same => //; move: jn; rewrite ltnS leq_eqVlt ne.
Qed.

(* Given the others one noise keeps its law. *)
Lemma measurable_met d (W : measurableType d) (A : set (W * R)) (f : W -> R) : measurable A -> measurable_fun setT f -> measurable [set w | A (w, f w)].
Proof.
move=> mA mf; rewrite -[X in measurable X]setTI; have h : measurable_fun setT (fun w => (w, f w)).
  by apply/prod_measurable_funP; split; [exact: measurable_fun_id | exact: mf].
exact: h.
Qed.

Lemma measurable_masses d (W : measurableType d) (A : set (W * R)) k : measurable A -> measurable_fun setT (fun w => mu k (xsection A w)).
Proof. by move=> mA; apply: (@markov_sections _ _ _ _ _ (fun _ : W => mu k)) => //; split=> // S mS; exact: measurable_fun_cst. Qed.

Lemma noise_kept n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises mu1 n nu Z ->
  forall k (H : W -> \bar R) (A : set (W * R)), (k < n)%N -> measurable_fun setT H -> (forall w, 0 <= H w) -> measurable A ->
  depends n Z (predC1 k) H -> (forall r, depends n Z (predC1 k) (fun w => A (w, r))) ->
  \int[nu]_w (H w * (\1_[set w | A (w, Z k w)] w)%:E) = \int[nu]_w (H w * mu k (xsection A w)).
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => // k H A kn mH H0 mA dH dA.
have mZ := measurable_noises I; have nu1 := independent_total I.
set F := fun x : W * R => H x * (\1_[set x : W * R | A (x, if k == n then x.2 else Z k x.1)] x)%:E.
set F' := fun x : W * R => H x * mu k (xsection A x).
have mF : measurable_fun setT F.
  apply: emeasurable_funM => //; apply/EFin_measurable_fun; apply: measurable_fun_indic; apply: (measurable_met mA).
  by case: (k == n); [exact: measurable_second | exact: (measurable_after (@measurable_first _ _ _ _) (mZ k))].
have mF' : measurable_fun setT F' by apply: emeasurable_funM => //; exact: measurable_masses.
have F0 x : 0 <= F x by apply: mule_ge0 => //; rewrite lee_fin indicE.
have F0' x : 0 <= F' x by exact: mule_ge0.
have [kE|ne] := eqVneq k n.
- have [_ fE] := one_more nu n mF F0; have [_ fE'] := one_more nu n mF' F0'.
  rewrite [LHS]fE [RHS]fE'; apply: eq_integral => w _.
  have HE z : H (w, z) = H (w, 0%R) by apply: dH => j jn /=; have [->|//] := eqVneq j n; rewrite kE eqxx.
  have AE z r : A ((w, z), r) = A ((w, 0%R), r) by apply: dA => j jn /=; have [->|//] := eqVneq j n; rewrite kE eqxx.
  have sE z : xsection A (w, z) = xsection A (w, 0%R).
    by apply/seteqP; split=> r; rewrite /xsection /= !inE (AE z).
  have ms : measurable (xsection A (w, 0%R)) by exact: measurable_xsection.
  rewrite (eq_integral (fun z => H (w, 0%R) * (\1_(xsection A (w, 0%R)) z)%:E)); last first.
    move=> z _; rewrite /F (HE z); congr (_ * (nat_of_bool _)%:R%:E); rewrite kE eqxx.
    by apply/idP/idP; rewrite /xsection !inE /= ?inE (AE z).
  rewrite [RHS](eq_integral (cst (F' (w, 0%R)))); last by move=> z _; rewrite /F' /cst (HE z) (sE z).
  rewrite [RHS]integral_cst// mu1 mule1 ge0_integralM//; last 2 first.
  + by apply/EFin_measurable_fun; exact: measurable_fun_indic.
  + by move=> z _; rewrite lee_fin indicE.
  by rewrite integral_indic// setIT /F' kE.
- have kn' : (k < n)%N by move: kn; rewrite ltnS leq_eqVlt (negbTE ne).
  have s := law_sigma_finite (mu1 n); have s' := law_sigma_finite nu1.
  rewrite [LHS](fubini_tonelli2 s' _ _ mF F0) [RHS](fubini_tonelli2 s' _ _ mF' F0'); apply: eq_integral => z _.
  rewrite /fubini_G; pose Az : set (W * R) := [set p | A ((p.1, z), p.2)].
  have mAz : measurable Az.
    have h : measurable_fun setT (fun p : W * R => ((p.1, z), p.2)).
      apply/prod_measurable_funP; split; last exact: measurable_second.
      by apply/prod_measurable_funP; split; [exact: measurable_first | exact: measurable_fun_cst].
    by rewrite -[X in measurable X]setTI; exact: h.
  have mHz : measurable_fun setT (fun w => H (w, z)) by exact: (@measurable_fun_prod2 _ _ _ _ W _ H z mH).
  rewrite [RHS](eq_integral (fun w => H (w, z) * mu k (xsection Az w))); last first.
    by move=> w _; rewrite /F'; congr (_ * mu k _); apply/seteqP; split=> r; rewrite /xsection /= !inE.
  rewrite -(IH k)//.
  + apply: eq_integral => w _; rewrite /F; congr (_ * (nat_of_bool _)%:R%:E).
    by apply/idP/idP; rewrite !inE /= (negbTE ne).
  + move=> w w' same; apply: dH => j jn jk /=; case: ifP => // jn'; apply: same => //.
    by move: jn; rewrite ltnS leq_eqVlt jn'.
  + move=> r w w' same; apply: (dA r) => j jn jk /=; case: ifP => // jn'; apply: same => //.
    by move: jn; rewrite ltnS leq_eqVlt jn'.
Qed.

Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1. Proof. exact: independent_total noises. Qed.

Definition indicator (A : set W) (w : W) : \bar R := (\1_A w)%:E.

Lemma indicator_ge0 A w : 0 <= indicator A w. Proof. by rewrite lee_fin indicE. Qed.

Lemma measurable_indicator A : measurable A -> measurable_fun setT (indicator A).
Proof. by move=> mA; apply/EFin_measurable_fun; exact: measurable_fun_indic. Qed.

Lemma mean_indicator A : measurable A -> \int[nu]_w indicator A w = nu A.
Proof. by move=> mA; rewrite /indicator integral_indic// setIT. Qed.

Lemma indicatorI A B w : indicator (A `&` B) w = indicator A w * indicator B w.
Proof. by rewrite /indicator !indicE in_setI -EFinM -natrM mulnb. Qed.

Lemma depends_indicator V (A : set W) : depends n Z V A -> depends n Z V (indicator A).
Proof.
move=> dA w w' /dA E; rewrite /indicator !indicE; congr (nat_of_bool _)%:R%:E.
by apply/idP/idP; rewrite !inE E.
Qed.

(* Events of groups of noises that are apart. *)
Lemma groups_apart (G : finType) (V : G -> pred nat) (E : G -> set W) : (forall g, measurable (E g)) -> (forall g, depends n Z (V g) (E g)) ->
  (forall g g' j, g != g' -> V g j -> ~~ V g' j) -> nu (\big[setI/setT]_g E g) = (\prod_g fine (nu (E g)))%:E.
Proof.
move=> mE dE apart; have := index_enum_uniq G; elim: (index_enum G) => [|g s IH]; first by rewrite !big_nil nu1.
move=> /= /andP[gs us]; rewrite !big_cons EFinM -IH// fineK ?mass_fin//.
have mB : measurable (\big[setI/setT]_(g' <- s) E g') by exact: bigsetI_measurable.
rewrite -!mean_indicator//; last exact: measurableI.
rewrite -(means_apart noises (V := V g))//; try exact: measurable_indicator; try by move=> w; exact: indicator_ge0.
- by apply: eq_integral => w _; exact: indicatorI.
- exact: depends_indicator.
apply: depends_indicator => w w' same; elim: s gs {IH us mB} => [|g' s IH]; first by rewrite !big_nil.
rewrite inE negb_or => /andP[gg' gs]; rewrite !big_cons -[LHS]/(E g' w /\ _) -[RHS]/(E g' w' /\ _) (IH gs); congr (_ /\ _).
by apply: dE => j jn Vj; apply: same => //=; apply: (apart g'); rewrite // eq_sym.
Qed.

End Apart.
