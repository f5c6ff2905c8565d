(* The rule independent-coordinates (docs/theory/curves.md): where the exponent of one coordinate is convex, one coordinate alone that is moved by the
   whole l1 length, up or down, bounds the curve, by Prekopa's theorem; and whoever sees one coordinate has a lower bound. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive powers products kernels curves pairs likelihood independent log_concave word_chances laplace_curve greatest_density greatest_real scale_integrals prekopa_line bounded_density prekopa moved_coordinates gaussian_curve longest_shifts.
Import numFieldNormedType.Exports.

Section Convex.
Context (R : realType) (lam P : {measure set R -> \bar R}) (h : R -> R).
Hypothesis P1 : P setT = 1%E.
Let f x := expR (- h x).
Hypotheses (lamE : is_lebesgue lam) (dens : has_density lam P f).
Hypothesis convex_exponent : forall t x y, 0 < t -> t < 1 -> h (mixed t x y) <= t * h x + (1 - t) * h y.
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun _ => P1) n nu Z.
Implicit Types (s v y : nat -> R) (z u t eps : R).
Notation ratio := (ratio h).
Notation ratios := (ratios h n).

Let nu1 : nu setT = 1%E := independent_total noises.
Let mr := measurable_ratio dens.

(* The lesser of 1 and e^eps times the ratio of the densities. *)
Definition lesser eps v y : R := expR (Num.min 0 (eps - \sum_(j < n) (h (y j - v j) - h (y j)))).

Lemma lesserE eps v y : lesser eps v y = Num.min 1 (expR eps * ratios v y).
Proof.
have -> : ratios v y = expR (- \sum_(j < n) (h (y j - v j) - h (y j))) by rewrite -sumrN -prod_expR.
rewrite -expRD /lesser /Order.min; set A := eps - _.
have -> : (1 < expR A) = (0 < A) by rewrite -{1}(@expR0 R) ltr_expR.
by case: ifP => _; rewrite ?expR0.
Qed.

Lemma lesser01 eps v y : 0 < lesser eps v y <= 1.
Proof. by rewrite /lesser expR_gt0 -[leRHS](@expR0 R) ler_expR le_minl lexx. Qed.

Lemma reads_lesser eps v : reads (lesser eps v).
Proof.
move=> d T k mk; rewrite (_ : (fun _ => _) = (fun x => - Num.max (- 1) (- (expR eps * ratios v (fun j => k j x))))).
  apply: measurable_funN; apply: measurable_fun_max; first exact: measurable_fun_cst.
  by apply: measurable_funN; apply: measurable_funrM; exact: (@reads_ratios _ _ _ _ dens n v _ _ k mk).
by apply/funext => x; rewrite lesserE oppr_max !opprK.
Qed.

Lemma lesser_concave eps : weighted_concave h n (lesser eps).
Proof.
move=> t v w y y' t0 t1; rewrite /lesser !expK.
set A0 := eps - _; set A1 := eps - _; set A := eps - _; set H0 := \sum_(j < n) h (y j); set H1 := \sum_(j < n) h (y' j); set H := \sum_(j < n) _.
have sum_le (F F0 F1 : 'I_n -> R) : (forall j, F j <= t * F0 j + (1 - t) * F1 j) -> \sum_j F j <= t * (\sum_j F0 j) + (1 - t) * (\sum_j F1 j).
  by move=> le; rewrite !mulr_sumr -big_split/=; apply: ler_sum => j _; exact: le.
have cH : H <= t * H0 + (1 - t) * H1 by apply: sum_le => j; exact: convex_exponent.
have cK : \sum_(j < n) h (blend t y y' j - blend t v w j) <= t * (\sum_(j < n) h (y j - v j)) + (1 - t) * (\sum_(j < n) h (y' j - w j)).
  apply: sum_le => j; rewrite (_ : _ - _ = mixed t (y j - v j) (y' j - w j)); first exact: convex_exponent.
  by rewrite /blend /mixed; lra.
have eA0 : A0 = eps - (\sum_(j < n) h (y j - v j) - H0) by rewrite /A0 sumrB.
have eA1 : A1 = eps - (\sum_(j < n) h (y' j - w j) - H1) by rewrite /A1 sumrB.
have eA : A = eps - (\sum_(j < n) h (blend t y y' j - blend t v w j) - H) by rewrite /A sumrB.
have s0 : 0 <= 1 - t by rewrite subr_ge0 ltW.
have l0 : Num.min 0 A0 <= 0 by rewrite le_minl lexx. have l0' : Num.min 0 A0 <= A0 by rewrite le_minl lexx orbT.
have l1 : Num.min 0 A1 <= 0 by rewrite le_minl lexx. have l1' : Num.min 0 A1 <= A1 by rewrite le_minl lexx orbT.
have := ler_wpmul2l (ltW t0) l0; have := ler_wpmul2l (ltW t0) l0'; have := ler_wpmul2l s0 l1; have := ler_wpmul2l s0 l1'.
move: (Num.min 0 A0) (Num.min 0 A1) => m0 m1; rewrite eA0 eA1 => k1 k2 k3 k4.
rewrite ler_subr_addr le_minr; apply/andP; split; first lra.
rewrite eA; lra.
Qed.

(* What is drawn with a shift, and what is seen of it. *)
Variable noisy : R -> {measure set R -> \bar R}.
Hypothesis drawn : forall u A, measurable A -> noisy u A = P [set z | A (u + z)].
Let noisy1 u : noisy u setT = 1%E. Proof. by rewrite drawn// (_ : [set z | _] = setT)//; apply/seteqP; split. Qed.

Context (X : Type) dY (Y : measurableType dY) (M : mechanism R X Y) (q : X -> nat -> R) (shown : (nat -> R) -> Y).
Hypothesis mshown : forall (S : set Y) d (T : measurableType d) (k : nat -> T -> R), measurable S -> (forall j, measurable_fun setT (k j)) ->
  measurable [set x | S (shown (fun j => k j x))].
Hypothesis only : forall y y', (forall j, (j < n)%N -> y j = y' j) -> shown y = shown y'.
Hypothesis MS : forall x S, measurable S -> M x S = nu [set w | S (shown (fun j => q x j + Z j w))].

Lemma coordinate_law i A : (i < n)%N -> measurable A -> nu (Z i @^-1` A) = P A.
Proof.
move=> lt mA; pose B j := if j == i then A else setT; have mB j : measurable (B j) by rewrite /B; case: ifP.
have := independent_box noises mB; rewrite (bigD1 (Ordinal lt))//= big1 ?setIT; last first.
  by move=> j ne; rewrite /B (_ : nat_of_ord j == i = false) ?preimage_setT//; apply/negbTE; move: ne; rewrite -val_eqE.
rewrite {1}/B eqxx => ->; rewrite (bigD1 (Ordinal lt))//= big1 ?mulr1; last first.
  by move=> j ne; rewrite /B (_ : nat_of_ord j == i = false) ?P1//; apply/negbTE; move: ne; rewrite -val_eqE.
by rewrite /B eqxx fineK// (mass_fin P1).
Qed.

Section Bound.
Variable eps : R.
Notation a := (expR eps).
Variable c : (nat -> R) -> R.
Hypotheses (c0 : forall v, 0 < c v) (cI : forall v, (\int[nu]_x (lesser eps v (fun j => Z j x))%:E = (c v)%:E)%E).
Hypothesis cc : forall t v w, 0 < t -> t < 1 -> geometric t (c v) (c w) <= c (blend t v w).

Let measurable_read (g : (nat -> R) -> R) : reads g -> measurable_fun setT (fun x => g (fun j => Z j x)).
Proof. by move=> rg; exact: (rg _ _ Z (measurable_noises noises)). Qed.

Lemma shift_bound x x' : profile a (M x) (M x') <= 1 - c (fun j => q x' j - q x j).
Proof.
set s := fun j => q x' j - q x j; apply: profile_le => S mS.
pose chi y : R := \1_S (shown (fun j => q x j + y j)).
have mmoved (d : measure_display) (T : measurableType d) (k : nat -> T -> R) x0 : (forall j, measurable_fun setT (k j)) ->
    measurable [set w | S (shown (fun j => q x0 j + k j w))].
  by move=> mk; refine (@mshown S d T (fun j w => q x0 j + k j w) mS _) => j; apply: measurable_funD => //; exact: measurable_fun_cst.
have chiE (T : Type) (k : nat -> T -> R) w : chi (fun j => k j w) = \1_[set w | S (shown (fun j => q x j + k j w))] w.
  by rewrite /chi !indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite !inE.
have rchi : reads chi.
  move=> d T k mk; rewrite (_ : (fun _ => _) = \1_[set w | S (shown (fun j => q x j + k j w))]).
    by apply: measurable_fun_indic; exact: mmoved.
  by apply/funext => w; rewrite -chiE.
have chi0 y : 0 <= chi y by rewrite /chi indicE ler0n.
have mchi := measurable_read rchi; have mZ := measurable_noises noises.
have rr : reads (ratios s) by exact: (reads_ratios dens n s).
have r0 y : 0 <= ratios s y by apply: prodr_ge0 => j _; exact: expR_ge0.
have eI (U : set W) : measurable U -> (\int[nu]_w (\1_U w)%:E = nu U)%E by move=> mU; rewrite integral_indic// setIT.
have eP : (\int[nu]_w (chi (fun j => Z j w))%:E = M x S)%E.
  rewrite MS// -eI; last exact: mmoved.
  by apply: eq_integral => w _; rewrite chiE.
have eQ : (\int[nu]_w (ratios s (fun j => Z j w) * chi (fun j => Z j w))%:E = M x' S)%E.
  have rE : ereads (fun y => (chi y)%:E) by move=> d T k mk; apply/EFin_measurable_fun; exact: rchi.
  have := moved_mean lamE dens s noises rE (fun y => (chi0 y : (0 <= (chi y)%:E)%E)).
  rewrite (_ : (\int[nu]_x _ = M x' S)%E) => [->|].
    by apply: eq_integral => w _; rewrite EFinM.
  rewrite MS// -eI; last exact: mmoved.
  apply: eq_integral => w _; congr EFin; rewrite /chi !indicE; congr (nat_of_bool _)%:R.
  have -> : shown (fun j => q x j + moved n s (fun j0 => Z j0 w) j) = shown (fun j => q x' j + Z j w).
    by apply: only => j jn; rewrite /moved jn /s; lra.
  by apply/idP/idP; rewrite !inE.
have le := @le_integrals _ _ _ nu (fun w => chi (fun j => Z j w)) (fun w => lesser eps s (fun j => Z j w)) (fun=> 1)
  (fun w => a * (ratios s (fun j => Z j w) * chi (fun j => Z j w))).
have mG := measurable_read (reads_lesser eps s); have mrr := measurable_read rr.
have mrc : measurable_fun setT (fun w => ratios s (fun j => Z j w) * chi (fun j => Z j w)) by exact: measurable_funM.
have rc0 w : 0 <= ratios s (fun j => Z j w) * chi (fun j => Z j w) by rewrite mulr_ge0.
have m1 : measurable_fun setT (fun _ : W => 1 : R) by exact: measurable_fun_cst.
have mk : measurable_fun setT (fun w => a * (ratios s (fun j => Z j w) * chi (fun j => Z j w))) by exact: measurable_funrM.
have {le} := le mchi mG m1 mk (fun w => chi0 _) (fun w => expR_ge0 _) (fun=> ler01) (fun w => mulr_ge0 (expR_ge0 _) (rc0 w)).
rewrite (integral_scaled nu (expR_ge0 _) rc0 mrc measurableT) eP eQ cI (integral_cst nu measurableT) nu1 mule1.
have fin x0 : M x0 S \is a fin_num by exact: (mass_fin (law_total M x0)).
rewrite -(fineK (fin x)) -(fineK (fin x')) -EFinM -!EFinD lee_fin => le.
suff : fine (M x S) + c s <= 1 + a * fine (M x' S) by lra.
apply: le => w; rewrite lesserE mulrA; move: (a * ratios s _) => r; rewrite /chi indicE.
have h1 : Num.min 1 r <= 1 by rewrite le_minl lexx. have h2 : Num.min 1 r <= r by rewrite le_minl lexx orbT.
by case: (_ \in S); rewrite ?mulr1 ?mulr0; lra.
Qed.

(* One coordinate alone that is moved. *)
Definition alone i u : nat -> R := fun j => if j == i then u else 0.

Lemma vertex_bound i u : (i < n)%N -> 1 - profile a (noisy 0) (noisy u) <= c (alone i u).
Proof.
move=> lt; pose g z : R := Num.min 1 (a * ratio u z).
have mg : measurable_fun setT g.
  rewrite (_ : g = (fun z => - Num.max (- 1) (- (a * ratio u z)))); last by apply/funext => z; rewrite oppr_max !opprK.
  apply: measurable_funN; apply: measurable_fun_max; first exact: measurable_fun_cst.
  by apply: measurable_funN; exact: measurable_funrM.
have r0 z : 0 <= ratio u z by exact: expR_ge0.
have g0 z : 0 <= g z by rewrite /g le_minr ler01 mulr_ge0 ?expR_ge0.
have eG y : lesser eps (alone i u) y = g (y i).
  rewrite lesserE /g /ratios (bigD1 (Ordinal lt))//= big1 ?mulr1; first by rewrite /alone eqxx.
  move=> j ne; rewrite /ratio /alone (_ : nat_of_ord j == i = false) ?subr0 ?subrr ?oppr0 ?expR0//.
  by apply/negbTE; move: ne; rewrite -val_eqE.
have eC : (\int[P]_z (g z)%:E = (c (alone i u))%:E)%E.
  rewrite -cI (eq_integral (fun w => (g (Z i w))%:E)); last by move=> w _; rewrite eG.
  apply: (integral_through (measurable_noises noises i)) => [A mA||z]; [|exact/EFin_measurable_fun|by rewrite lee_fin].
  exact/esym/coordinate_law.
pose E : set R := [set z | a * ratio u z < 1].
have mE : measurable E by apply: measurable_where; [exact: measurable_fun_cst | exact: measurable_funrM].
have mi : measurable_fun setT (\1_E : R -> R) by exact: measurable_fun_indic.
have i0 z : 0 <= \1_E z :> R by rewrite indicE ler0n.
have eP : (\int[P]_z (\1_E z)%:E = noisy 0 E)%E.
  rewrite integral_indic// setIT drawn//; congr (P _); by apply/seteqP; split=> z /=; rewrite add0r.
have eQ : (\int[P]_z (ratio u z * \1_E z)%:E = noisy u E)%E.
  have mk : measurable_fun setT (fun z => (\1_E z)%:E : \bar R) by exact/EFin_measurable_fun.
  transitivity (\int[P]_z ((ratio u z)%:E * (\1_E z)%:E))%E; first by apply: eq_integral => z _; rewrite EFinM.
  rewrite -(one_moved lamE dens u mk (fun z => (i0 z : (0 <= (\1_E z)%:E)%E))) drawn//.
  have mU : measurable [set z | E (u + z)].
    have mv : measurable_fun setT (fun z : R => u + z) by apply: measurable_funD; [exact: measurable_fun_cst | exact: measurable_fun_id].
    by have := mv measurableT _ mE; rewrite setTI.
  rewrite -[in RHS](setIT [set z | E (u + z)]) -(integral_indic P measurableT mU); apply: eq_integral => z _; congr EFin.
  by rewrite !indicE addrC; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite !inE.
have mri : measurable_fun setT (fun z => ratio u z * \1_E z) by exact: measurable_funM.
have ri0 z : 0 <= ratio u z * \1_E z by rewrite mulr_ge0.
have m1 : measurable_fun setT (fun _ : R => 1 : R) by exact: measurable_fun_cst.
have mk : measurable_fun setT (fun z => a * (ratio u z * \1_E z)) by exact: measurable_funrM.
have le := @le_integrals _ _ _ P (fun=> 1) (fun z => a * (ratio u z * \1_E z)) (\1_E) g m1 mk mi mg (fun=> ler01)
  (fun z => mulr_ge0 (expR_ge0 _) (ri0 z)) i0 g0.
have fin (o : R) A : measurable A -> noisy o A \is a fin_num by exact: (mass_fin (noisy1 o)).
move: le; rewrite (integral_scaled P (expR_ge0 _) ri0 mri measurableT) eP eQ eC (integral_cst P measurableT) P1 mule1.
rewrite -(fineK (fin 0 _ mE)) -(fineK (fin u _ mE)) -EFinM -!EFinD lee_fin => le.
have best := profile_event (noisy1 0) (noisy1 u) (expR_ge0 eps) mE.
suff : 1 + a * fine (noisy u E) <= fine (noisy 0 E) + c (alone i u) by lra.
apply: le => z; rewrite /g mulrA indicE; have [/set_mem zE|/negP zE] := boolP (z \in E).
  by rewrite !mulr1 (_ : Num.min 1 (a * ratio u z) = a * ratio u z); [lra | apply/min_idPr; exact: ltW].
rewrite mulr0 addr0 add0r (_ : Num.min 1 (a * ratio u z) = 1)//; apply/min_idPl; rewrite leNgt; apply/negP => h1; apply: zE; exact/mem_set.
Qed.

(* So do all shifts within the l1 ball whose vertices these are. *)
Lemma c_only v v' : (forall j, (j < n)%N -> v j = v' j) -> c v = c v'.
Proof.
move=> e; apply: EFin_inj; rewrite -!cI; apply: eq_integral => w _; rewrite /lesser; congr (expR (Num.min 0 (_ - _)))%:E.
by apply: eq_bigr => j _; rewrite e.
Qed.

Lemma quasi_concave t l v v' : 0 < t -> t < 1 -> l <= c v -> l <= c v' -> l <= c (blend t v v').
Proof.
move=> t0 t1 lv lv'; apply: le_trans (cc v v' t0 t1); rewrite leNgt; apply/negP => lt.
by have := geometric_above t0 t1 (lt_le_trans lt lv) (lt_le_trans lt lv') (c0 v) (c0 v'); rewrite ltxx.
Qed.

Lemma ball_bound l D : (0 < n)%N -> 0 <= D -> (forall i, (i < n)%N -> l <= c (alone i D) /\ l <= c (alone i (- D))) ->
  forall k v, (k <= n)%N -> (forall j, (k <= j)%N -> v j = 0) -> \sum_(j < k) `|v j| <= D -> l <= c v.
Proof.
move=> n0 D0 vertices; elim=> [|k IH] v kn zero near.
  have -> : v = blend 2^-1 (alone 0%N D) (alone 0%N (- D)).
    by apply/funext => j; rewrite zero// /blend /mixed /alone; case: (j == 0%N); lra.
  have [h1 h2] := vertices _ n0; by apply: quasi_concave => //; lra.
have zeros j : (k <= j)%N -> j != k -> v j = 0 by rewrite leq_eqVlt => /predU1P[->|jk _]; [rewrite eqxx | exact: zero].
have [vk|vk] := eqVneq (v k) 0.
  apply: IH; first exact: ltnW.
    by move=> j kj; have [->//|jk] := eqVneq j k; exact: zeros.
  by move: near; rewrite big_ord_recr/= vk normr0 addr0.
pose x := `|v k|; have x0 : 0 < x by rewrite normr_gt0.
have near' : \sum_(j < k) `|v j| <= D - x by move: near; rewrite big_ord_recr/= -/x; lra.
have sum0 : 0 <= \sum_(j < k) `|v j| by exact: sumr_ge0.
have D1 : 0 < D by lra.
pose e := alone k (Num.sg (v k) * D).
have le : l <= c e.
  by have [h1 h2] := vertices k kn; rewrite /e; have [lt|gt|/eqP] := ltgtP (v k) 0; [rewrite ltr0_sg// mulN1r | rewrite gtr0_sg// mul1r | rewrite (negbTE vk)].
have sgx : Num.sg (v k) * x = v k by rewrite /x -numEsg.
have [xD|/eqP xD] := eqVneq x D.
  suff -> : v = e by [].
  apply/funext => j; rewrite /e /alone; have [->|jk] := eqVneq j k; first by rewrite -xD sgx.
  have [kj|jlt] := leqP k j; first exact: zeros.
  have none : \sum_(j < k) `|v j| = 0 by lra.
  move/eqP: none; rewrite psumr_eq0// => /allP/(_ (Ordinal jlt)); rewrite mem_index_enum => /(_ isT)/=.
  by rewrite normr_eq0 => /eqP.
pose t := x / D; have t0 : 0 < t by rewrite divr_gt0.
have tD : t * D = x by rewrite /t mulfVK// gt_eqF.
have t1 : t < 1 by rewrite /t ltr_pdivr_mulr// mul1r lt_neqAle; apply/andP; split; [exact/eqP | lra].
have s0 : 0 < 1 - t by rewrite subr_gt0.
pose v' j := if (j < k)%N then v j / (1 - t) else 0.
have -> : v = blend t e v'.
  apply/funext => j; rewrite /blend /mixed /e /alone /v'; have [jk|kj] := ltnP j k.
    by rewrite ltn_eqF// mulr0 add0r mulrCA mulfV ?mulr1// gt_eqF.
  have [->|jk] := eqVneq j k; last by rewrite !mulr0 addr0; exact: zeros.
  by rewrite mulr0 addr0 mulrCA tD sgx.
apply: quasi_concave => //; apply: IH; first exact: ltnW.
- by move=> j kj; rewrite /v' ltnNge kj.
- rewrite (eq_bigr (fun j : 'I_k => `|v j| * (1 - t)^-1)); last first.
    by move=> j _; rewrite /v' ltn_ord normrM [`|_^-1|]ger0_norm// invr_ge0 ltW.
  rewrite -mulr_suml ler_pdivr_mulr// mulrBr mulr1 [D * t]mulrC tD; lra.
Qed.
End Bound.

Theorem one_coordinate_bound D x x' eps : (0 < n)%N -> 0 <= D -> \sum_(j < n) `|q x j - q x' j| <= D ->
  profile (expR eps) (M x) (M x') <= Num.max (profile (expR eps) (noisy 0) (noisy D)) (profile (expR eps) (noisy 0) (noisy (- D))).
Proof.
move=> n0 D0 near; set F := profile _ _ (noisy D); set B := profile _ _ (noisy (- D)).
have [b fb] := bounded_density P1 lamE dens convex_exponent.
have [c [c0 cI cc]] := prekopa lamE dens fb noises (lesser01 eps) (reads_lesser eps) (lesser_concave eps).
apply: (le_trans (shift_bound cI x x')); rewrite ler_subl_addr -ler_subl_addl.
pose s j := if (j < n)%N then q x' j - q x j else 0.
rewrite (_ : c _ = c s); last by apply: (c_only cI) => j jn; rewrite /s jn.
apply: (ball_bound c0 cc n0 D0 _ (leqnn n)).
- move=> i lt; have h1 := vertex_bound cI D lt; have h2 := vertex_bound cI (- D) lt.
  by split; [apply: le_trans h1 | apply: le_trans h2]; rewrite ler_add2l ler_opp2 le_maxr lexx ?orbT.
- by move=> j nj; rewrite /s ltnNge nj.
- apply: le_trans near; apply: ler_sum => j _; by rewrite /s ltn_ord distrC.
Qed.
End Convex.

(* -- The rule -- *)
Section Rule.
Context (R : realType) (n : nat) (lam P : {measure set R -> \bar R}) (h : R -> R).
Hypotheses (n0 : (0 < n)%N) (P1 : P setT = 1%E) (lamE : is_lebesgue lam) (dens : has_density lam P (fun z => expR (- h z))).
(* n independent noises of the density exp(-h); the noise of one coordinate, moved by u. *)
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun _ => P1) n nu Z.
Variable noisy : R -> {measure set R -> \bar R}.
Hypothesis drawn : forall u A, measurable A -> noisy u A = P [set z | A (u + z)].
(* What is told: the n noisy answers, and nothing else. *)
Context (X : Type) dY (Y : measurableType dY) (M : mechanism R X Y) (q : X -> nat -> R) (shown : (nat -> R) -> Y).
Hypothesis mshown : forall (S : set Y) d (T : measurableType d) (k : nat -> T -> R), measurable S -> (forall j, measurable_fun setT (k j)) ->
  measurable [set x | S (shown (fun j => k j x))].
Hypothesis only : forall y y', (forall j, (j < n)%N -> y j = y' j) -> shown y = shown y'.
Hypothesis MS : forall x S, measurable S -> M x S = nu [set w | S (shown (fun j => q x j + Z j w))].

Lemma one_coordinate_seen (coordinate : Y -> R) i x x' u a : (i < n)%N -> measurable_fun setT coordinate -> (forall y, coordinate (shown y) = y i) ->
  0 <= a -> q x' i = q x i + u -> profile a (noisy 0) (noisy u) <= profile a (M x) (M x').
Proof.
move=> lt mc seen a0 qi; apply: profile_le => S mS.
have mv (v : R) : measurable_fun setT (fun z : R => v + z) by apply: measurable_funD; [exact: measurable_fun_cst | exact: measurable_fun_id].
have moved (v : R) (A : set R) : measurable A -> measurable [set z | A (v + z)] by move=> mA; have := mv v measurableT _ mA; rewrite setTI.
pose S' : set R := [set z | S (- q x i + z)]; have mS' : measurable S' by exact: moved.
have mB : measurable (coordinate @^-1` S') by have := mc measurableT _ mS'; rewrite setTI.
have at_ x0 v : q x0 i = q x i + v -> M x0 (coordinate @^-1` S') = noisy v S.
  move=> e; rewrite MS// drawn// -(coordinate_law noises lt (moved v S mS)); congr (nu _).
  by apply/seteqP; split=> w /=; rewrite seen /S'/= e -addrA addKr.
have := profile_event (law_total M x) (law_total M x') a0 mB.
by rewrite (at_ x 0) ?addr0// (at_ x' u).
Qed.

(* Exponents with bounded slopes: the density of all coordinates is c exp(-sum of h), over any measure that they have it over. Convex exponents: one
   coordinate, moved by the whole length in either direction. Shifts that another norm bounds have at most the l1 length that it lets them have. *)
(* Rule: independent-coordinates. *)
Theorem independent_coordinates :
  [/\ forall d (T : measurableType d) (mu : {measure set T -> \bar R}) (place : T -> 'rV[R]_n) (V : Type) (M' : mechanism R V T) (q' : V -> 'rV[R]_n)
        (A : mechanism R 'rV[R]_n T) (c L D : R) x x' eps, 0 < c -> (forall x S, M' x S = A (q' x) S) ->
        adds_noise mu place A id (fun z => c * expR (- \sum_i h (z 0 i))) -> 0 <= L -> (forall y z : R, `|h y - h z| <= L * `|y - z|) ->
        l1 (q' x - q' x') <= D -> - (L * D) <= eps -> profile (expR eps) (M' x) (M' x') <= Num.max 0 (1 - expR ((eps - L * D) / 2)),
      (forall t x y, 0 < t -> t < 1 -> h (t * x + (1 - t) * y) <= t * h x + (1 - t) * h y) ->
        forall D x x' eps, 0 <= D -> l1 (\row_(j < n) (q x j - q x' j)) <= D ->
        profile (expR eps) (M x) (M x') <= Num.max (profile (expR eps) (noisy 0) (noisy D)) (profile (expR eps) (noisy 0) (noisy (- D))),
      forall (z : 'rV[R]_n) (r : R), 0 <= r ->
        [/\ forall p (D : R), 0 <= D -> budget p (fun j => z 0 j) D -> l1 z <= l1_within n p D,
            forall k (column : 'I_k -> 'rV[R]_n), (forall x, exists w, writes column w x) -> (forall i, l1 (column i) <= r) ->
              l1 z <= r * column_gauge column z,
            forall k (facet : 'I_k -> {linear 'rV[R]_n -> R^o}), (forall s, signs s -> exists2 w : 'I_k -> R, \sum_i `|w i| <= r &
              forall x : 'rV[R]_n, \sum_j s j * x 0 j = \sum_i w i * (facet i x : R)) -> l1 z <= r * \big[Num.max/0]_i `|facet i z : R| &
            forall B : 'rV[R]_n -> 'rV[R]_n -> R, inner_form B -> (forall s, signs s -> exists2 u, B u u <= r ^+ 2 &
              forall x : 'rV[R]_n, \sum_j s j * x 0 j = B u x) -> l1 z <= r * Num.sqrt (B z z)] &
      forall (coordinate : Y -> R) i x x' u a, (i < n)%N -> measurable_fun setT coordinate -> (forall y, coordinate (shown y) = y i) -> 0 <= a ->
        q x' i = q x i + u -> profile a (noisy 0) (noisy u) <= profile a (M x) (M x')].
Proof.
split.
- move=> d T mu place V M' q' A c L D x x' eps c0 MA noise L0 lip near le.
  by have [up _] := coordinates_curve c0 MA noise eps L0 lip near; exact: up.
- move=> cv D x x' eps D0 near; apply: (one_coordinate_bound lamE dens cv noises drawn mshown only MS) => //.
  by move: near; rewrite /l1; under eq_bigr do rewrite mxE.
- move=> z r r0; split=> [p D|k column spanning le|k facet|B form].
  + exact: (lp_l1 n0).
  + exact: columns_l1.
  + exact: facets_l1.
  + exact: ellipsoid_l1.
- exact: one_coordinate_seen.
Qed.
End Rule.
