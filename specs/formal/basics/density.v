(* Pure differential privacy read off from densities with respect to one measure (docs/theory/densities.md, pure epsilon from densities):
   a bounded ratio is privacy, over any measure; a ratio that is exceeded on a set of positive measure refutes it; and so the tight epsilon
   is the essential supremum of the log-ratio. Noise on R^d, noise on the integers, kernels and tables are all instances: the measure is
   Lebesgue's, or counting. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions.
Local Open Scope ereal_scope.

Section Pair.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).

(* P has the density p with respect to mu. *)
Definition has_density (P : set Y -> \bar R) (p : Y -> R) :=
  [/\ forall y, (0 <= p y)%R, measurable_fun setT p & forall S, measurable S -> P S = \int[mu]_(y in S) (p y)%:E].

Lemma density_measurable P p S : has_density P p -> measurable S -> measurable_fun S (EFin \o p).
Proof. by move=> [_ mp _] mS; apply/EFin_measurable_fun; apply: measurable_funS mp. Qed.

Lemma integral_scaled (p : Y -> R) (k : R) S : (0 <= k)%R -> (forall y, (0 <= p y)%R) -> measurable_fun setT p -> measurable S ->
  \int[mu]_(y in S) (k * p y)%:E = k%:E * \int[mu]_(y in S) (p y)%:E.
Proof.
move=> k0 p0 mp mS; rewrite -ge0_integralM// => [|y _].
  by apply/EFin_measurable_fun; apply: measurable_funS mp.
by rewrite lee_fin.
Qed.

Variables (P Q : {measure set Y -> \bar R}) (p q : Y -> R).
Hypotheses (Pp : has_density P p) (Qq : has_density Q q) (P1 : P setT = 1) (Q1 : Q setT = 1).

Lemma close_of_ratio (eps : R) : {ae mu, forall y, (p y <= expR eps * q y)%R} -> close eps 0 P Q.
Proof.
move=> ratio S mS; rewrite adde0.
have [p0 mp Pe] := Pp; have [q0 mq Qe] := Qq.
rewrite Pe// Qe// -integral_scaled ?expR_ge0//.
have mq' : measurable_fun setT (fun y => expR eps * q y)%R by apply: measurable_funM => //; exact: measurable_fun_cst.
pose m y := Num.min (p y) (expR eps * q y)%R.
have mm : measurable_fun setT m.
  rewrite (_ : m = (fun y => - Num.max (- p y) (- (expR eps * q y))))%R.
    by apply: measurable_funN; apply: measurable_fun_max; apply: measurable_funN.
  by apply/funext => y; rewrite /m oppr_max !opprK.
have -> : \int[mu]_(y in S) (p y)%:E = \int[mu]_(y in S) (m y)%:E.
  apply: ge0_ae_eq_integral => //.
  - exact: density_measurable Pp mS.
  - by apply/EFin_measurable_fun; apply: measurable_funS mm.
  - by move=> y _; rewrite lee_fin.
  - by move=> y _; rewrite lee_fin /m le_minr p0/= mulr_ge0// expR_ge0.
  - case: ratio => A [mA A0 sub]; exists A; split=> // y /= /not_implyP[_ neq].
    by apply: sub => /= le; apply: neq; rewrite /m min_l.
apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin /m le_minr p0/= mulr_ge0// expR_ge0.
- by apply/EFin_measurable_fun; apply: measurable_funS mm.
- by move=> y _; rewrite lee_fin mulr_ge0// expR_ge0.
- by apply/EFin_measurable_fun; apply: measurable_funS mq'.
- by move=> y _; rewrite lee_fin /m le_minl lexx orbT.
Qed.

Lemma ratio_of_close (eps : R) : close eps 0 P Q -> {ae mu, forall y, (p y <= expR eps * q y)%R}.
Proof.
have [p0 mp Pe] := Pp; have [q0 mq Qe] := Qq.
move=> cl; pose r y := (p y - expR eps * q y)%R.
have mq' : measurable_fun setT (fun y => expR eps * q y)%R by apply: measurable_funM => //; exact: measurable_fun_cst.
have mr : measurable_fun setT r by apply: measurable_funB.
pose S := [set y | (0 < r y)%R].
have mS : measurable S.
  rewrite (_ : S = setT `&` (r @^-1` `]0%R, +oo[%classic)).
    by apply: mr => //; exact: measurable_itv.
  by rewrite setTI; apply/seteqP; split=> y /=; rewrite in_itv/= andbT.
have Pf := mass_fin P1 mS; have Qf := mass_fin Q1 mS.
have splitP : P S = (expR eps)%:E * Q S + \int[mu]_(y in S) (r y)%:E.
  rewrite Pe// Qe// -integral_scaled ?expR_ge0// -ge0_integralD//; last 4 first.
  - by move=> y _; rewrite lee_fin mulr_ge0// expR_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funS mq'.
  - by move=> y ry; rewrite lee_fin ltW.
  - by apply/EFin_measurable_fun; apply: measurable_funS mr.
  by apply: eq_integral => y _; rewrite -EFinD /r addrC subrK.
have r0 : \int[mu]_(y in S) `|(r y)%:E| = 0.
  transitivity (\int[mu]_(y in S) (r y)%:E).
    by apply: eq_integral => y; rewrite inE => ry; rewrite /= ger0_norm// ltW.
  have ge0 : 0 <= \int[mu]_(y in S) (r y)%:E by apply: integral_ge0 => y ry; rewrite lee_fin ltW.
  apply/eqP; rewrite eq_le ge0 andbT.
  have := cl S mS; rewrite adde0 splitP -[leRHS]adde0.
  by rewrite lee_add2lE// fin_numM.
have : ae_eq mu S (EFin \o r) (cst 0).
  by apply/ae_eq_integral_abs => //; apply/EFin_measurable_fun; apply: measurable_funS mr.
move=> [A [mA A0 sub]]; exists A; split=> // y /= /negP; rewrite -ltNge => lt.
apply: sub => /=; apply/not_implyP; split; first by rewrite /S/= /r subr_gt0.
by move=> [] r0y; move: lt; rewrite -subr_gt0 -/(r y) r0y ltxx.
Qed.

(* The equivalence of docs/theory/densities.md. *)
Theorem close_iff_ratio (eps : R) : close eps 0 P Q <-> {ae mu, forall y, (p y <= expR eps * q y)%R}.
Proof. by split=> [/ratio_of_close | /close_of_ratio]. Qed.

(* An event of positive measure on which the ratio exceeds e^eps. *)
Lemma not_close_of_event (eps : R) S : measurable S -> 0 < mu S -> (forall y, S y -> (expR eps * q y < p y)%R) -> ~ close eps 0 P Q.
Proof.
move=> mS S0 gt /ratio_of_close [A [mA A0 sub]].
have SA : S `<=` A by move=> y Sy; apply: sub => /= le; have := lt_le_trans (gt y Sy) le; rewrite ltxx.
have : mu S <= mu A by apply: le_measure; rewrite ?inE.
by rewrite A0 leNgt S0.
Qed.

(* Such an event has a probability that no e^eps Q(S) reaches: P(S) >= e^v Q(S) and P(S) > 0. *)
Lemma event_mass (v : R) S : measurable S -> 0 < mu S ->
  (forall y, S y -> (0 < p y)%R /\ (expR v * q y <= p y)%R) -> 0 < P S /\ (expR v)%:E * Q S <= P S.
Proof.
have [p0 mp Pe] := Pp; have [q0 mq Qe] := Qq.
move=> mS S0 on; split.
- rewrite lt_neqAle measure_ge0 andbT; apply/negP => /eqP PS0.
  have : ae_eq mu S (EFin \o p) (cst 0).
    apply/ae_eq_integral_abs => //; first exact: density_measurable Pp mS.
    transitivity (\int[mu]_(y in S) (p y)%:E); last by rewrite -Pe.
    by apply: eq_integral => y _; rewrite /= ger0_norm.
  move=> [A [mA A0 sub]].
  have SA : S `<=` A.
    by move=> y Sy; apply: sub => /=; apply/not_implyP; split=> // -[] py0; have [] := on y Sy; rewrite py0 ltxx.
  have : mu S <= mu A by apply: le_measure; rewrite ?inE.
  by rewrite A0 leNgt S0.
- rewrite Pe// Qe// -integral_scaled ?expR_ge0//; apply: ge0_le_integral => //.
  + by move=> y _; rewrite lee_fin mulr_ge0// expR_ge0.
  + by apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_funS mq].
  + by move=> y _; rewrite lee_fin.
  + exact: density_measurable Pp mS.
  + by move=> y Sy; rewrite lee_fin; have [] := on y Sy.
Qed.
End Pair.

(* Families of densities: kernels p(y; x), and additive noise. *)
Section Families.
Context (R : realType) (X : Type) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (N : relation X) (M : mechanism R X Y) (p : X -> Y -> R).
Hypothesis Mp : forall x, has_density mu (M x) (p x).

(* The tight epsilon is at most eps exactly where the ratio is at most e^eps at almost all outputs. *)
Theorem pure_dp_iff_ratio (eps : R) :
  pure_dp N M eps <-> forall x x', both N x x' -> {ae mu, forall y, (p x y <= expR eps * p x' y)%R}.
Proof.
by split=> H x x' xx; apply/(close_iff_ratio (Mp x) (Mp x') (law_total M x) (law_total M x')); apply: H.
Qed.

Theorem density_upper (eps : R) :
  (forall x x', both N x x' -> {ae mu, forall y, (p x y <= expR eps * p x' y)%R}) -> pure_dp N M eps.
Proof. by move/pure_dp_iff_ratio. Qed.

Theorem density_upper_everywhere (eps : R) :
  (forall x x' y, both N x x' -> (p x y <= expR eps * p x' y)%R) -> pure_dp N M eps.
Proof. by move=> H; apply: density_upper => x x' xx; exists set0; split=> // y /= /(_ (H x x' y xx)). Qed.

(* From below: an event of positive measure on which P is positive and p >= e^v q. *)
Theorem density_lower (v : R) x x' S : both N x x' -> measurable S -> 0 < mu S ->
  (forall y, S y -> (0 < p x y)%R /\ (expR v * p x' y <= p x y)%R) -> v%:E <= tight_epsilon N M 0.
Proof.
move=> xx mS S0 on; apply: tight_epsilon_lower => eps e0 ev /(_ x x' xx).
apply: (@not_close_of_event _ _ _ mu (M x) (M x') (p x) (p x') _ _ _ _ eps S) => //; rewrite ?law_total//.
move=> y Sy; have [py le] := on y Sy.
have [q0|] := ltP 0%R (p x' y); first by apply: lt_le_trans le; rewrite ltr_pmul2r// ltr_expR.
move=> q0; apply: le_lt_trans py; apply: mulr_ge0_le0 => //; exact: expR_ge0.
Qed.

(* Approached, not only attained: a value that is exceeded by no more than any s > 0. *)
Lemma lower_limit delta (v : R) : (forall s, (0 < s)%R -> (v - s)%:E <= tight_epsilon N M delta) -> v%:E <= tight_epsilon N M delta.
Proof.
move=> H; apply: tight_epsilon_lower => eps e0 ev dpe.
have s0 : (0 < (v - eps) / 2)%R by rewrite divr_gt0// subr_gt0.
have /(le_trans (H _ s0)) : tight_epsilon N M delta <= eps%:E by apply/dp_tight.
rewrite lee_fin leNgt => /negP; apply.
rewrite ltr_subr_addr -ltr_subr_addl.
by rewrite -[ltRHS]mulr1 ltr_pdivr_mulr// -mulrA mul1r ltr_pmulr ?subr_gt0// ltr1n.
Qed.

(* The density of Q vanishes where that of P is positive: no finite epsilon. *)
Theorem density_infinite x x' S : both N x x' -> measurable S -> 0 < mu S ->
  (forall y, S y -> (0 < p x y)%R /\ p x' y = 0%R) -> tight_epsilon N M 0 = +oo.
Proof.
move=> xx mS S0 on; apply/tight_epsilon_infinite => eps e0 /(_ x x' xx).
apply: (@not_close_of_event _ _ _ mu (M x) (M x') (p x) (p x') _ _ _ _ eps S) => //; rewrite ?law_total//.
by move=> y Sy; have [py ->] := on y Sy; rewrite mulr0.
Qed.

(* A loss without bound: no finite epsilon. *)
Lemma infinite_of_unbounded delta : (forall v : R, (0 <= v)%R -> v%:E <= tight_epsilon N M delta) -> tight_epsilon N M delta = +oo.
Proof.
move=> H; apply/tight_epsilon_infinite => eps e0 /(dp_tight _ _ _ e0) le.
have e1 : (0 <= eps + 1)%R by rewrite addr_ge0.
by have := le_trans (H _ e1) le; rewrite lee_fin -ler_subr_addl subrr ler10.
Qed.

(* Both sides together. *)
Lemma tight_epsilon_eq (v : R) : (0 <= v)%R -> pure_dp N M v -> v%:E <= tight_epsilon N M 0 -> tight_epsilon N M 0 = v%:E.
Proof. by move=> v0 up low; apply/eqP; rewrite eq_le low andbT; apply/dp_tight. Qed.
End Families.
