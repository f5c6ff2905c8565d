(* Private answers in a metric space (docs/theory/spaces.md): databases x with a distance, true answers q(x) in a space with one, and what a
   mechanism can do that answers near the truth. Mechanisms on finitely many points are tables; bounds from below are of all mechanisms. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels finite.
Local Open Scope ereal_scope.

Section Spaces.
Context (R : realType) (X : Type) d (Z : measurableType d).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R).

(* epsilon per unit of distance; and within gamma of the truth but with probability beta. *)
Definition private_by_distance (M : mechanism R X Z) (eps : R) := forall x x', close (eps * dist x x') 0 (M x) (M x').
Definition far (gamma : R) x : set Z := [set z | (gamma < between (q x) z)%R].
Definition near_but (M : mechanism R X Z) (gamma beta : R) := forall x, M x (far gamma x) <= beta%:E.

(* Distances of answers are those of a metric; neighbourhoods are events; q is Lipschitz. *)
Definition metric := [/\ forall y z, (0 <= between y z)%R, forall y z, between y z = between z y &
  forall x y z, (between x z <= between x y + between y z)%R].
Definition lipschitz (C : R) := forall x x', (between (q x) (q x') <= C * dist x x')%R.
Hypothesis is_metric : metric.
Hypothesis measurable_far : forall gamma x, measurable (far gamma x).

Lemma private_by_distance_more M eps eps' : (forall x x', (0 <= dist x x')%R) -> (eps <= eps')%R -> private_by_distance M eps -> private_by_distance M eps'.
Proof. by move=> d0 le H x x'; apply: close_monotone (H x x') => //; rewrite ler_wpmul2r. Qed.

(* -- Tables: pt y is told with probability p x y -- *)
Section Table.
Variables (Y : finType) (pt : Y -> Z) (p : X -> Y -> R) (M : mechanism R X Z).
Hypotheses (p0 : forall x y, (0 <= p x y)%R) (Mp : has_table M pt p).

Lemma table_private eps : (forall x x' y, p x y <= expR (eps * dist x x') * p x' y)%R -> private_by_distance M eps.
Proof.
move=> H x x' S mS; rewrite !Mp// adde0 -EFinM lee_fin mulr_sumr; apply: ler_sum => y _.
by rewrite mulrA; apply: ler_wpmul2r => //; rewrite indicE ler0n.
Qed.

Lemma table_rows x : (\sum_y p x y = 1)%R.
Proof.
have := law_total M x; rewrite Mp// => -[<-]; apply: eq_bigr => y _.
by rewrite indicE mem_set// mulr1.
Qed.

Lemma table_far gamma x : M x (far gamma x) = (\sum_(y | (gamma < between (q x) (pt y))%R) p x y)%:E.
Proof.
rewrite Mp// (bigID (fun y => (gamma < between (q x) (pt y))%R))/= [X in (_ + X)%R]big1 ?addr0 => [|y /negP h].
  by congr EFin; apply: eq_bigr => y h; rewrite indicE mem_set ?mulr1.
by rewrite indicE memNset ?mulr0.
Qed.

(* Rule: near-table, upper. *)
Theorem near_table gamma beta eps : (forall x, (1 - beta <= \sum_(y | (between (q x) (pt y) <= gamma)%R) p x y)%R) ->
  (forall x x' y, p x y <= expR (eps * dist x x') * p x' y)%R -> private_by_distance M eps /\ near_but M gamma beta.
Proof.
move=> near ratio; split; first exact: table_private.
move=> x; rewrite table_far lee_fin; have := near x; have := table_rows x.
rewrite (bigID (fun y => (gamma < between (q x) (pt y))%R))/=.
have -> : (\sum_(y | ~~ (gamma < between (q x) (pt y))) p x y = \sum_(y | between (q x) (pt y) <= gamma) p x y)%R.
  by apply: eq_bigl => y; rewrite leNgt.
lra.
Qed.
End Table.

(* -- The exponential mechanism on a net -- *)
Lemma exp_max_ln (u : R) : (0 <= u)%R -> (u <= expR (Num.max 0 (ln u)))%R.
Proof.
rewrite le_eqVlt => /orP[/eqP <- | u0]; first exact: expR_ge0.
by rewrite -{1}[u]lnK ?posrE// ler_expR le_maxr lexx orbT.
Qed.

Section Net.
Variables (I : finType) (pt : I -> Z) (M : mechanism R X Z) (s gamma beta C : R).
Hypotheses (gamma0 : (0 < gamma)%R) (beta0 : (0 < beta)%R) (beta1 : (beta < 1)%R) (C0 : (0 <= C)%R) (lip : lipschitz C).
Hypothesis net : forall x, exists i, (between (q x) (pt i) <= s * gamma)%R.

Definition rate : R := (Num.max 0 (ln ((#|I|%:R - 1) * (1 - beta) / beta)) / ((1 - s) * gamma))%R.
Definition weight (b : R) x i : R := expR (- (b * between (q x) (pt i))).
Definition by_weights b x i : R := (weight b x i / \sum_j weight b x j)%R.

Lemma weight_gt0 b x i : (0 < weight b x i)%R. Proof. exact: expR_gt0. Qed.

Lemma total_gt0 b x : (0 < \sum_j weight b x j)%R.
Proof.
have [i _] := net x; rewrite (bigD1 i)//= ltr_spaddl ?weight_gt0// sumr_ge0// => j _; exact/ltW/weight_gt0.
Qed.

Lemma weight_moves b x x' i : (0 <= b)%R ->
  (weight b x i <= expR (b * C * dist x x') * weight b x' i)%R /\ (weight b x' i <= expR (b * C * dist x x') * weight b x i)%R.
Proof.
move=> b0; have [_ sym tri] := is_metric; have h := lip x x'.
have h1 := tri (q x) (q x') (pt i); have h2 := tri (q x') (q x) (pt i); rewrite [between (q x') (q x)]sym in h2.
have h3 : (between (q x) (pt i) <= C * dist x x' + between (q x') (pt i))%R by lra.
have h4 : (between (q x') (pt i) <= C * dist x x' + between (q x) (pt i))%R by lra.
have p3 := ler_wpmul2l b0 h3; have p4 := ler_wpmul2l b0 h4.
by split; rewrite /weight -expRD ler_expR; lra.
Qed.

Lemma weights_private b : (0 <= b)%R -> has_table M pt (by_weights b) -> private_by_distance M (2 * b * C).
Proof.
move=> b0 Mp; apply: (table_private Mp) => x x' i.
set e := expR (b * C * dist x x'); have e0 : (0 < e)%R by exact: expR_gt0.
have -> : expR (2 * b * C * dist x x') = (e * e)%R by rewrite -expRD; congr expR; lra.
have [up _] := weight_moves x x' i b0.
have sums : (\sum_j weight b x' j <= e * \sum_j weight b x j)%R.
  by rewrite mulr_sumr; apply: ler_sum => j _; have [] := weight_moves x x' j b0.
rewrite /by_weights; move: (total_gt0 b x) (total_gt0 b x') sums; set T := (\sum_j weight b x j)%R; set T' := (\sum_j weight b x' j)%R => T0 T1 sums.
rewrite ler_pdivr_mulr// (_ : e * e * (weight b x' i / T') * T = (e * weight b x' i) * (e * T) / T')%R; last lra.
by rewrite ler_pdivl_mulr//; apply: ler_pmul => //; apply: ltW => //; exact: weight_gt0.
Qed.

Lemma weights_near : (s < 1)%R \/ (s <= 1)%R /\ #|I| = 1%N -> has_table M pt (by_weights rate) -> near_but M gamma beta.
Proof.
move=> small Mp x; rewrite (table_far Mp) lee_fin; set b := rate; set T := (\sum_j weight b x j)%R.
have [i0 near] := net x; have T0 : (0 < T)%R by exact: total_gt0.
have sg : (s * gamma <= gamma)%R by rewrite ger_pmull//; case: small => [/ltW | []].
pose A := (\sum_(i | gamma < between (q x) (pt i)) weight b x i)%R.
have far_other i : (gamma < between (q x) (pt i))%R -> i != i0.
  by apply: contraTneq => ->; rewrite -leNgt; exact: le_trans near sg.
have b0 : (0 <= b)%R.
  rewrite /b /rate; case: small => [lt | [_ ->]]; last by rewrite subrr mul0r mul0r ln0// maxxx mul0r.
  by rewrite divr_ge0 ?le_maxr ?lexx// mulr_ge0 ?subr_ge0 ?ltW.
have -> : (\sum_(i | gamma < between (q x) (pt i)) by_weights b x i = A / T)%R by rewrite mulr_suml.
have Tge : (A + weight b x i0 <= T)%R.
  rewrite /T (bigID (fun i => gamma < between (q x) (pt i))%R)/= ler_add2l (bigD1 i0)/=; last by rewrite -leNgt; exact: le_trans near sg.
  by rewrite ler_addl sumr_ge0// => i _; exact/ltW/weight_gt0.
have Ale : (A <= (#|I|%:R - 1) * expR (- (b * gamma)))%R.
  apply: (@le_trans _ _ (\sum_(i | i != i0) expR (- (b * gamma)))%R).
    rewrite /A big_mkcond [leRHS]big_mkcond/=; apply: ler_sum => i _; case: ifP => [h | _].
      by rewrite (far_other i h) ler_expR ler_oppl opprK ler_wpmul2l// ltW.
    by case: ifP => // _; exact: expR_ge0.
  rewrite sumr_const -[X in (X <= _)%R]mulr_natl ler_wpmul2r ?expR_ge0//.
  have -> : #|[pred i | i != i0]| = (#|I| - 1)%N by rewrite subn1 -(cardC1 i0); apply: eq_card.
  by rewrite natrB//; apply/card_gt0P; exists i0.
have w0 : (expR (- (b * (s * gamma))) <= weight b x i0)%R by rewrite ler_expR ler_oppl opprK ler_wpmul2l.
have odds : ((#|I|%:R - 1) * (1 - beta) <= beta * expR (b * (gamma - s * gamma)))%R.
  rewrite [leRHS]mulrC -ler_pdivr_mulr//; case: small => [lt | [_ one]]; last by rewrite one subrr !mul0r expR_ge0.
  have u0 : (0 <= (#|I|%:R - 1) * (1 - beta) / beta)%R.
    rewrite divr_ge0 ?(ltW beta0)// mulr_ge0 ?subr_ge0 ?(ltW beta1)// (_ : 1 = 1%:R)%R// ler_nat; by apply/card_gt0P; exists i0.
  apply: le_trans (exp_max_ln u0) _; rewrite ler_expR /b /rate.
  have g0 : ((1 - s) * gamma != 0)%R by rewrite mulf_neq0// gt_eqF// subr_gt0.
  by rewrite (_ : gamma - s * gamma = (1 - s) * gamma)%R ?divfK// mulrBl mul1r.
rewrite ler_pdivr_mulr//.
have e0 : (0 < expR (- (b * gamma)))%R by exact: expR_gt0.
have step : (A * (1 - beta) <= beta * weight b x i0)%R.
  apply: (@le_trans _ _ ((#|I|%:R - 1) * expR (- (b * gamma)) * (1 - beta))%R); first by rewrite ler_wpmul2r// subr_ge0 ltW.
  apply: (@le_trans _ _ (beta * expR (- (b * (s * gamma))))%R); last by rewrite ler_wpmul2l// ltW.
  rewrite mulrAC; apply: le_trans (ler_wpmul2r (ltW e0) odds) _; rewrite -mulrA -expRD.
  by rewrite (_ : b * (gamma - s * gamma) + - (b * gamma) = - (b * (s * gamma)))%R//; lra.
have := ler_wpmul2l (ltW beta0) Tge; lra.
Qed.

(* Rule: net-mechanism, upper. *)
(* How many points a net of a given kind of space has is what the rule checks. *)
Theorem net_mechanism : (s < 1)%R \/ (s <= 1)%R /\ #|I| = 1%N -> has_table M pt (by_weights rate) ->
  private_by_distance M (2 * C * Num.max 0 (ln ((#|I|%:R - 1) * (1 - beta) / beta)) / ((1 - s) * gamma))%R /\ near_but M gamma beta.
Proof.
move=> small Mp; split; last exact: weights_near.
rewrite (_ : 2 * C * Num.max 0 (ln ((#|I|%:R - 1) * (1 - beta) / beta)) / ((1 - s) * gamma) = 2 * rate * C)%R; last by rewrite /rate mulrA; lra.
apply: weights_private => //; rewrite /rate; case: small => [lt | [_ ->]]; last by rewrite subrr mul0r mul0r ln0// maxxx mul0r.
by rewrite divr_ge0 ?le_maxr ?lexx// mulr_ge0 ?subr_ge0 ?ltW.
Qed.
End Net.

(* -- Randomized response on pieces -- *)
Section Cells.
Variables (I : finType) (pt : I -> Z) (cell : X -> I) (M : mechanism R X Z) (gamma beta C t : R).
Hypotheses (gamma0 : (0 < gamma)%R) (beta0 : (0 < beta)%R) (beta1 : (beta < 1)%R) (C0 : (0 < C)%R) (t0 : (0 < t)%R) (lip : lipschitz C).
Hypothesis dist0 : forall x x', (0 <= dist x x')%R.
(* The answers of a piece are within gamma of its point, and those of two pieces at least t apart. *)
Hypothesis within : forall x, (between (q x) (pt (cell x)) <= gamma)%R.
Hypothesis pieces_apart : forall x x', cell x <> cell x' -> (t <= between (q x) (q x'))%R.
Let n : R := #|I|%:R.

(* Another piece is told with probability beta, or with 1 - 1/N where that is less. *)
Definition told_wrong : R := Num.min beta (1 - n^-1)%R.
Definition response x i : R := if i == cell x then (1 - told_wrong)%R else (told_wrong / (n - 1))%R.

Lemma told_wrong_between : (0 < #|I|)%N -> (0 <= told_wrong <= beta)%R.
Proof.
move=> I0; rewrite /told_wrong le_minl lexx andbT le_minr (ltW beta0)/= subr_ge0 invf_le1 ?ltr0n//.
by rewrite (_ : 1 = 1%:R)%R// ler_nat.
Qed.

(* Rule: cell-response, upper. *)
(* How many pieces a tree or a Cantor set has, and how far apart, is what the rule checks. *)
Theorem cell_response : has_table M pt response ->
  private_by_distance M (C * Num.max 0 (ln ((n - 1) * (1 - beta) / beta)) / t)%R /\ near_but M gamma beta.
Proof.
move=> Mp; set E := Num.max 0%R (ln ((n - 1) * (1 - beta) / beta))%R; have E0 : (0 <= E)%R by rewrite /E le_maxr lexx.
split.
- apply: (table_private Mp) => x x' i; rewrite /response.
  have grown : (1 <= expR (C * E / t * dist x x'))%R.
    by rewrite -{1}expR0 ler_expR mulr_ge0// divr_ge0 ?(ltW t0)// mulr_ge0// ltW.
  have I0 : (0 < #|I|)%N by apply/card_gt0P; exists i.
  have /andP[w0 wb] := told_wrong_between I0.
  have [same | differ] := pselect (cell x = cell x').
    by rewrite same ler_pemull//; case: ifP => _; [rewrite subr_ge0 (le_trans wb)// ltW | rewrite divr_ge0// subr_ge0 (_ : 1 = 1%:R)%R// ler_nat].
  have I2 : (1 < #|I|)%N.
    by rewrite (cardD1 (cell x)) inE/= (cardD1 (cell x')) !inE/=; case: eqP => // e; case: differ.
  have n1 : (0 < n - 1)%R by rewrite subr_gt0 (_ : 1 = 1%:R)%R// ltr_nat.
  have n0 : (0 < n)%R by lra.
  have reached : (expR E <= expR (C * E / t * dist x x'))%R.
    rewrite ler_expR (_ : C * E / t * dist x x' = E * (C * dist x x' / t))%R; last lra.
    by rewrite ler_pemulr// ler_pdivl_mulr// mul1r; apply: le_trans (pieces_apart differ) _; exact: lip.
  set e := expR (C * E / t * dist x x') in grown reached *.
  have v0 : (0 <= told_wrong / (n - 1))%R by rewrite divr_ge0// ltW.
  have le1 : (told_wrong / (n - 1) <= 1 - told_wrong)%R.
    rewrite ler_pdivr_mulr//; have : (told_wrong <= 1 - n^-1)%R by rewrite /told_wrong le_minl lexx orbT.
    move/(ler_wpmul2r (ltW n0)); rewrite mulrBl mul1r mulVf ?gt_eqF//; lra.
  have le2 : (1 - told_wrong <= e * (told_wrong / (n - 1)))%R.
    rewrite mulrA ler_pdivl_mulr// /told_wrong; case: (leP beta (1 - n^-1)%R) => _.
      have u0 : (0 <= (n - 1) * (1 - beta) / beta)%R by rewrite divr_ge0 ?(ltW beta0)// mulr_ge0 ?(ltW n1)// subr_ge0 ltW.
      by have := le_trans (exp_max_ln u0) reached; rewrite ler_pdivr_mulr// => le; rewrite mulrC.
    have -> : ((1 - (1 - n^-1)) * (n - 1) = 1 - n^-1)%R by rewrite opprB addrC subrK mulrBr mulr1 mulVf ?gt_eqF.
    by rewrite ler_pemull// subr_ge0 invf_le1// (_ : 1 = 1%:R)%R// ler_nat ltnW.
  have le3 : (1 - told_wrong <= e * (1 - told_wrong))%R by rewrite ler_pemull//; exact: le_trans le1.
  have le4 : (told_wrong / (n - 1) <= e * (told_wrong / (n - 1)))%R by rewrite ler_pemull.
  by case: ifP => _; case: ifP => _ //; exact: le_trans le3.
- move=> x; rewrite (table_far Mp) lee_fin.
  have I0 : (0 < #|I|)%N by apply/card_gt0P; exists (cell x).
  have /andP[w0 wb] := told_wrong_between I0; apply: le_trans wb.
  have n1 : (0 <= n - 1)%R by rewrite subr_ge0 (_ : 1 = 1%:R)%R// ler_nat.
  have v0 : (0 <= told_wrong / (n - 1))%R by rewrite divr_ge0.
  apply: (@le_trans _ _ (\sum_(i | i != cell x) (told_wrong / (n - 1)))%R).
    rewrite big_mkcond [leRHS]big_mkcond/=; apply: ler_sum => i _; rewrite /response.
    have [-> | _] := eqVneq i (cell x); last by case: ifP.
    by rewrite ltNge within.
  rewrite sumr_const -[X in (X <= _)%R]mulr_natl.
  have -> : #|[pred i | i != cell x]| = (#|I| - 1)%N by rewrite subn1 -(cardC1 (cell x)); apply: eq_card.
  rewrite natrB// -/n; have [-> | ne] := eqVneq (n - 1)%R 0%R; first by rewrite mul0r.
  by rewrite mulrC divfK.
Qed.
End Cells.

(* -- From below: packings -- *)
Section Packing.
Variables (M : mechanism R X Z) (gamma beta : R).
Hypothesis near : near_but M gamma beta.

Lemma near_mass x : (1 - beta)%:E <= M x (~` far gamma x).
Proof.
have mf := measurable_far gamma x; rewrite EFinB lee_subl_addr//.
have -> : 1%:E = M x (far gamma x) + M x (~` far gamma x).
  by rewrite -(law_total M x) -(setUv (far gamma x)) measureU//; [exact: measurableC | exact: setICr].
by rewrite addeC lee_add2l//; exact: near.
Qed.

(* No answer is within gamma of more than m of the true answers: the events that the answer is near them have a total of at most m. *)
Lemma overlapping (I : finType) (xs : I -> X) (m : nat) x : (forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= m)%N) ->
  \sum_i M x (~` far gamma (xs i)) <= m%:R%:E.
Proof.
move=> few; have mn i : measurable (~` far gamma (xs i)) by exact: (measurableC (measurable_far gamma (xs i))).
have -> : \sum_i M x (~` far gamma (xs i)) = \int[M x]_z \sum_i (\1_(~` far gamma (xs i)) z)%:E.
  rewrite ge0_integral_sum//; first by apply: eq_bigr => i _; rewrite integral_indic// setIT.
  - by move=> i; apply/EFin_measurable_fun; exact: measurable_fun_indic.
  - by move=> i z _; rewrite lee_fin.
rewrite -[leRHS]mule1 -(law_total M x) -(integral_cst (M x) measurableT).
apply: ge0_le_integral => //.
- by move=> z _; apply: sume_ge0 => i _; rewrite lee_fin.
- by apply: emeasurable_fun_sum => i; apply/EFin_measurable_fun; exact: measurable_fun_indic.
- by move=> z _; rewrite lee_fin.
- exact: measurable_fun_cst.
move=> z _; rewrite sumEFin lee_fin; apply: le_trans (_ : (#|[pred i | (between (q (xs i)) z <= gamma)%R]|%:R <= m%:R)%R); last by rewrite ler_nat.
rewrite -sum1_card natr_sum [leRHS]big_mkcond/=; apply: ler_sum => i _.
have nE : (z \in ~` far gamma (xs i)) = (between (q (xs i)) z <= gamma)%R.
  apply/idP/idP; rewrite inE /far /= leNgt; first by move/negP.
  by move=> h; apply/negP.
by rewrite indicE nE inE /=; case: ifP.
Qed.

(* Any databases, finitely or infinitely many; weighted_packing.v has those on a line and states the rule. *)
Theorem weighted_packing eps : private_by_distance M eps ->
  (forall (I : finType) (xs : I -> X) (m : nat) x, (forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= m)%N) ->
    ((1 - beta) * (\sum_i expR (- (eps * dist (xs i) x))) <= m%:R)%R) /\
  (forall (xs : nat -> X) (m : nat) W, (beta < 1)%R -> (forall n z, (#|[pred i : 'I_n | (between (q (xs i)) z <= gamma)%R]| <= m)%N) ->
    ~ forall i, (0 <= dist (xs i) (xs 0%N) <= W)%R).
Proof.
move=> priv; have first (I : finType) (xs : I -> X) (m : nat) x : (forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= m)%N) ->
    ((1 - beta) * (\sum_i expR (- (eps * dist (xs i) x))) <= m%:R)%R.
  move=> few; rewrite -lee_fin; apply: le_trans (overlapping x few).
  rewrite mulr_sumr -sumEFin; apply: lee_sum => i _.
  have mn : measurable (~` far gamma (xs i)) by exact: (measurableC (measurable_far gamma (xs i))).
  have := priv (xs i) x _ mn; rewrite adde0 => h; have := le_trans (near_mass (xs i)) h.
  have fn : M x (~` far gamma (xs i)) \is a fin_num by apply: mass_fin => //; exact: law_total.
  by rewrite -(fineK fn) -EFinM !lee_fin expRN ler_pdivr_mulr ?expR_gt0// mulrC.
split=> // xs m W b1 few near_all; pose c := ((1 - beta) * expR (- (`|eps| * W)))%R.
have c0 : (0 < c)%R by rewrite mulr_gt0 ?expR_gt0// subr_gt0.
have [n nE] : exists n : nat, (m%:R < n%:R * c)%R.
  exists (Num.bound (m%:R / c)); rewrite -ltr_pdivr_mulr//; apply: archi_boundP; by rewrite divr_ge0// ltW.
have := first [finType of 'I_n] (fun i => xs i) m (xs 0%N) (few n); rewrite leNgt => /negP; apply; apply: lt_le_trans nE _.
rewrite /c mulrCA ler_wpmul2l ?subr_ge0 ?(ltW b1)// -[n in (n%:R * _)%R]card_ord mulr_natl -sumr_const; apply: ler_sum => i _.
have /andP[d0 dW] := near_all i; rewrite ler_expR ler_oppl opprK.
by apply: le_trans (ler_wpmul2l (normr_ge0 eps) dW); rewrite ler_wpmul2r// ler_norm.
Qed.

(* The same solved for epsilon, where all databases of the packing are at most W apart. *)
Theorem weighted_packing_count eps (n : nat) (xs : 'I_n.+1 -> X) (m : nat) W : private_by_distance M eps -> (0 <= eps)%R -> (0 < W)%R ->
  (0 < beta)%R -> (beta < 1)%R -> (0 < m)%N -> (0 < n)%N ->
  (forall z, (#|[pred i | (between (q (xs i)) z <= gamma)%R]| <= m)%N) -> (forall i, (dist (xs i) (xs ord0) <= W)%R) -> dist (xs ord0) (xs ord0) = 0%R ->
  (ln (n%:R * ((1 - beta) / (m%:R - 1 + beta))) / W <= eps)%R.
Proof.
move=> priv e0 W0 b0 b1 m0 n0 few dW d00; have [first _] := weighted_packing priv.
have := first _ xs m (xs ord0) few; rewrite big_ord_recl d00 mulr0 oppr0 expR0 => h.
have m1 : (0 <= m%:R - 1 :> R)%R by rewrite subr_ge0 (_ : 1 = 1%:R)%R// ler_nat.
have D0 : (0 < m%:R - 1 + beta :> R)%R by rewrite ltr_paddl.
have u0 : (0 < n%:R * ((1 - beta) / (m%:R - 1 + beta)) :> R)%R by rewrite mulr_gt0 ?ltr0n// divr_gt0// subr_gt0.
rewrite ler_pdivr_mulr// -(@ler_expR R) lnK ?posrE// mulrA ler_pdivr_mulr//.
have low : (n%:R * expR (- (eps * W)) <= \sum_(i < n) expR (- (eps * dist (xs (lift ord0 i)) (xs ord0))))%R.
  rewrite -[n in (n%:R * _)%R]card_ord mulr_natl -sumr_const; apply: ler_sum => i _.
  by rewrite ler_expR ler_oppl opprK ler_wpmul2l.
have b2 : (0 <= 1 - beta)%R by rewrite subr_ge0 ltW.
have := ler_wpmul2l b2 low; rewrite expRN => low2.
have low3 : (n%:R * (1 - beta) / expR (eps * W) <= m%:R - 1 + beta)%R by move: low2; lra.
by move: low3; rewrite ler_pdivr_mulr ?expR_gt0// mulrC [X in (_ <= X)%R -> _]mulrC.
Qed.
End Packing.

(* -- From below: the dual of a linear program, over finitely many databases and answers -- *)
End Spaces.
