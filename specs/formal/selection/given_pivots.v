(* Given some noises, the pivots, what the others have to do has the product of their probabilities; and a function of one pivot alone has over a cell of
   all of them the mean that it has over the cell of this one (docs/theory/selection.md, told words). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels independent word_chances told_runs greatest_real mean_products.

Section Given.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1%E. Proof. exact: independent_total noises. Qed.
Let mZ := measurable_noises noises.

(* What each of the others has to do, as a set of values of the pivots and of it. *)
Context (P : pred nat) (B : nat -> set (W * R)).
Hypotheses (mB : forall k, measurable (B k)) (dB : forall k r, depends n Z P (fun w => B k (w, r))).

Definition met k : set W := [set w | B k (w, Z k w)].
Definition given k (w : W) : R := fine (mu k (xsection (B k) w)).
Definition all_met (ks : seq nat) : set W := [set w | forall k, k \in ks -> met k w].

Lemma measurable_met_at k : measurable (met k). Proof. exact: (measurable_met (mB k) (mZ k)). Qed.

Lemma givenE k w : mu k (xsection (B k) w) = (given k w)%:E.
Proof. by rewrite fineK// (mass_fin (mu1 k))//; exact: measurable_xsection. Qed.

Lemma given01 k w : 0 <= given k w <= 1.
Proof. by rewrite -!lee_fin -givenE measure_ge0 mass_le1//; exact: measurable_xsection. Qed.

Lemma measurable_given k : measurable_fun setT (given k).
Proof.
apply/EFin_measurable_fun; rewrite (_ : _ \o _ = fun w => mu k (xsection (B k) w)); last by apply/funext => w; rewrite givenE.
exact: measurable_masses.
Qed.

Lemma given_depends k : depends n Z P (given k).
Proof.
move=> w w' same; congr (fine (mu k _)); apply/seteqP; split=> r; rewrite /xsection /= !inE; by rewrite (dB k r same).
Qed.

Lemma all_metS k ks : all_met (k :: ks) = met k `&` all_met ks.
Proof.
apply/seteqP; split=> w; first by move=> h; split; [apply: h; rewrite inE eqxx | move=> j js; apply: h; rewrite inE js orbT].
by move=> [h hs] j; rewrite inE => /predU1P[->|/hs].
Qed.

Lemma measurable_all_met ks : measurable (all_met ks).
Proof.
elim: ks => [|k ks IH]; last by rewrite all_metS; apply: measurableI => //; exact: measurable_met_at.
by rewrite (_ : all_met _ = setT); [exact: measurableT | apply/seteqP; split].
Qed.

Lemma depends_wider (T : Type) (V V' : pred nat) (f : W -> T) : (forall j, V j -> V' j) -> depends n Z V f -> depends n Z V' f.
Proof. by move=> VV df w w' same; apply: df => j jn /VV; exact: same. Qed.

Lemma met_depends k : (k < n)%N -> depends n Z (fun j => P j || (j == k)) (met k).
Proof.
move=> kn w w' same; rewrite /met /= (_ : B k (w, Z k w) = B k (w', Z k w)); last by apply: dB => j jn Pj; apply: same => //; rewrite Pj.
by rewrite (same k kn)// eqxx orbT.
Qed.

Lemma all_met_depends ks : {in ks, forall k, k < n}%N -> depends n Z (fun j => P j || (j \in ks)) (all_met ks).
Proof.
elim: ks => [|k ks IH] kn w w' same; first by apply/propext; split.
have kn' : {in ks, forall k, k < n}%N by move=> j js; apply: kn; rewrite inE js orbT.
have e1 : met k w = met k w'.
  by apply: met_depends => [|j jn h]; [exact: kn (mem_head _ _) | apply: same => //; case/orP: h => [->//|/eqP->]; rewrite mem_head orbT].
have e2 : all_met ks w = all_met ks w'.
  by apply: IH => // j jn h; apply: same => //; case/orP: h => [->//|js]; rewrite inE js !orbT.
by rewrite all_metS /setI /= e1 e2.
Qed.

Lemma others_given ks (H : W -> \bar R) : uniq ks -> {in ks, forall k, k < n}%N -> {in ks, forall k, ~~ P k} ->
  measurable_fun setT H -> (forall w, 0 <= H w)%E -> depends n Z (predC (mem ks)) H ->
  (\int[nu]_w (H w * (\1_(all_met ks) w)%:E) = \int[nu]_w (H w * (prod_of given ks w)%:E))%E.
Proof.
elim: ks H => [|k ks IH] H.
  by move=> _ _ _ mH H0 _; apply: eq_integral => w _; rewrite indicE (_ : all_met [::] = setT) ?in_setT//; apply/seteqP; split.
move=> /= /andP[kks us] kn Pk mH H0 dH.
have kn' : {in ks, forall k, k < n}%N by move=> j js; apply: kn; rewrite inE js orbT.
have Pk' : {in ks, forall k, ~~ P k} by move=> j js; apply: Pk; rewrite inE js orbT.
have m1 : measurable_fun setT (indicator R (all_met ks)) by apply: measurable_indicator; exact: measurable_all_met.
pose H' w := (H w * indicator R (all_met ks) w)%E.
have mH' : measurable_fun setT H' by exact: emeasurable_funM.
have H0' w : (0 <= H' w)%E by rewrite mule_ge0// indicator_ge0.
have dH' : depends n Z (predC1 k) H'.
  move=> w w' same; rewrite /H' (dH w w') => [|j jn]; last by rewrite !inE negb_or => /andP[jk _]; exact: same.
  congr (_ * _)%E; apply: (depends_indicator (V := predC1 k)) same; apply: (depends_wider (V := fun j => P j || (j \in ks))); last exact: all_met_depends.
  move=> j /orP[Pj|js]; rewrite inE; apply/negP => /eqP jk; first by move: (Pk k); rewrite inE eqxx -jk Pj => /(_ isT).
  by move: kks; rewrite -jk js.
have dBk r : depends n Z (predC1 k) (fun w => B k (w, r)).
  apply: depends_wider (dB k r) => j Pj; rewrite inE; apply/negP => /eqP jk.
  by move: (Pk k); rewrite inE eqxx -jk Pj => /(_ isT).
have kept := noise_kept noises (k := k) (H := H') (A := B k) (kn k (mem_head _ _)) mH' H0' (mB k) dH' dBk.
rewrite (eq_integral (fun w => H' w * (\1_[set w | B k (w, Z k w)] w)%:E))%E; last first.
  by move=> w _; rewrite /H' -muleA -[X in (_ * (_ * X))%E]/(indicator R (met k) w) -indicatorI setIC -all_metS.
rewrite kept (eq_integral (fun w => (H w * (given k w)%:E) * (\1_(all_met ks) w)%:E)%E); last first.
  by move=> w _; rewrite givenE /H' -!muleA [(indicator _ _ _ * _)%E]muleC.
rewrite IH//.
- by apply: eq_integral => w _; rewrite -muleA -EFinM mulrC.
- by apply: emeasurable_funM => //; apply/EFin_measurable_fun; exact: measurable_given.
- by move=> w; rewrite mule_ge0// lee_fin; case/andP: (given01 k w).
- move=> w w' same; rewrite (dH w w') => [|j jn]; last first.
    by rewrite !inE negb_or => /andP[_ js]; apply: same.
  congr (_ * _%:E)%E; apply: given_depends => j jn Pj; apply: same => //; rewrite inE; apply/negP => js.
  by move: (Pk' j js); rewrite Pj.
Qed.

(* Over a set that pivots alone decide. *)
Lemma others_over ks (C : set W) : uniq ks -> {in ks, forall k, k < n}%N -> {in ks, forall k, ~~ P k} -> measurable C -> depends n Z P C ->
  fine (nu (C `&` all_met ks)) = over nu C (prod_of given ks).
Proof.
move=> us kn Pk mC dC; rewrite /over integral_mkcond -(mean_indicator nu); last by apply: measurableI => //; exact: measurable_all_met.
congr fine; rewrite (eq_integral (fun w => indicator R C w * (\1_(all_met ks) w)%:E)%E); last by move=> w _; rewrite indicatorI.
rewrite others_given//.
- apply: eq_integral => w _; rewrite /patch /indicator indicE; case: ifP => _ /=; by rewrite ?mul1e ?mul0e.
- exact: measurable_indicator.
- by move=> w; exact: indicator_ge0.
- apply: depends_indicator; apply: depends_wider dC => j Pj; apply/negP => js; by move: (Pk j js); rewrite Pj.
Qed.

(* The law of a noise. *)
Lemma noise_law p (A : set R) : (p < n)%N -> measurable A -> nu (Z p @^-1` A) = mu p A.
Proof.
move=> pn mA; have mA' : measurable (setT `*` A : set (W * R)) by exact: measurableM.
have one : measurable_fun setT (fun _ : W => 1%E : \bar R) by exact: measurable_fun_cst.
have := noise_kept noises (k := p) (H := fun _ => 1%E) (A := setT `*` A) pn one (fun _ => lee01) mA'
  (fun _ _ _ => erefl) (fun r w w' _ => erefl).
rewrite (eq_integral (indicator R (Z p @^-1` A))); last first.
  move=> w _; rewrite mul1e /indicator !indicE; congr (nat_of_bool _)%:R%:E; by apply/idP/idP; rewrite !inE /=; [case | split].
rewrite mean_indicator; last by rewrite -[X in measurable X]setTI; exact: mZ.
move=> ->; rewrite (eq_integral (cst (mu p A))); last first.
  by move=> w _; rewrite mul1e; congr (mu p _); apply/seteqP; split=> z; rewrite /xsection /= !inE /=; [case | split].
by rewrite integral_cst// -[LHS]/(_ * nu setT)%E nu1 mule1.
Qed.

(* A function of one noise over a box. *)
Context (A : nat -> set R) (mA : forall j, measurable (A j)).
Definition box : set W := \big[setI/setT]_(j < n) (Z j @^-1` A j).

Lemma measurable_box : measurable box.
Proof. by apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; exact: mZ. Qed.

Lemma box_weight : weight nu box = \prod_(j < n) fine (mu j (A j)).
Proof. by rewrite /weight /box (independent_box noises mA). Qed.

Lemma over_one p (g : R -> R) (m : R) : (p < n)%N -> measurable_fun setT g -> (forall z, 0 <= g z) ->
  (\int[mu p]_(z in A p) (g z)%:E = (m * fine (mu p (A p)))%:E)%E -> over nu box (fun w => g (Z p w)) = m * weight nu box.
Proof.
move=> pn mg g0 gE; pose A' j := if j == p then setT else A j.
have mA' j : measurable (A' j) by rewrite /A'; case: ifP => _ //; exact: measurableT.
pose rest : set W := \big[setI/setT]_(j < n) (Z j @^-1` A' j).
have mrest : measurable rest by apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; exact: mZ.
have boxE : box = (Z p @^-1` A p) `&` rest.
  apply/seteqP; split=> w; rewrite /box /rest.
  - move=> /all_of h; split; first exact: (h (Ordinal pn)).
    by apply/all_of => j; rewrite /A' /=; case: ifP => // _; exact: h.
  - move=> [hp /all_of h]; apply/all_of => j; have := h j; rewrite /A' /=; case: ifP => // /eqP jp _; by rewrite jp.
pose f z := (indicator R (A p) z * (g z)%:E)%E.
have mf : measurable_fun setT f by apply: emeasurable_funM; [exact: measurable_indicator | exact/EFin_measurable_fun].
have f0 z : (0 <= f z)%E by rewrite mule_ge0 ?indicator_ge0// lee_fin.
rewrite /over integral_mkcond (eq_integral (fun w => f (Z p w) * indicator R rest w)%E); last first.
  move=> w _; rewrite /f muleAC -[X in (X * _ * _)%E]/(indicator R (Z p @^-1` A p) w) -indicatorI -boxE /patch /indicator indicE.
  by case: ifP => _ /=; rewrite ?mul1e ?mul0e.
rewrite (means_apart noises (V := pred1 p)); last 6 first.
- exact: (measurable_after (g := f) (mZ p) mf).
- exact: measurable_indicator.
- by move=> w; exact: f0.
- by move=> w; exact: indicator_ge0.
- by move=> w w' same; rewrite (same p)//= eqxx.
- apply: depends_indicator => w w' same; rewrite /rest; apply/propext; split=> /all_of h; apply/all_of => j; have := h j; rewrite /A' /=; case: ifP => // jp;
    by rewrite (same j)//= jp.
rewrite -(integral_through (m := nu) (m' := mu p) (phi := Z p) (g := f) (mZ p) _ mf f0); last by move=> S mS; rewrite noise_law.
rewrite mean_indicator// (_ : (\int[mu p]_y f y = \int[mu p]_(z in A p) (g z)%:E)%E); last first.
  rewrite [RHS]integral_mkcond; apply: eq_integral => z _; rewrite /f /patch /indicator indicE; case: ifP => _ /=; by rewrite ?mul1e ?mul0e.
rewrite gE /rest (independent_box noises mA') -EFinM /= box_weight -mulrA; congr (_ * _).
rewrite (bigD1 (Ordinal pn))//= [in RHS](bigD1 (Ordinal pn))//= {1}/A' eqxx mu1 mul1r; congr (_ * _).
by apply: eq_bigr => j jp; rewrite /A' ifN.
Qed.
End Given.
