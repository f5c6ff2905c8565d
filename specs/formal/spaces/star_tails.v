(* The tail of a distance with density proportional to e^-distance on a set that holds, with each of its points, the way there from the middle
   (docs/theory/spaces.md, density mechanism): it is at most that of a gamma law. Volumes within r, over r^n, do not rise; the tail is compared
   with that of r^n by integrating e^-distance in layers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic density norms additive kernels independent likelihood powers laplace_curve normal_line scale_integrals power_integrals norm_length gamma_tails far_lengths.
Import numFieldNormedType.Exports.

Section Layers.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Let fall (s : R) : R := expR (- s).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.
Let mf : measurable_fun setT fall. Proof. exact: measurable_falling. Qed.
Let f0 s : 0 <= fall s. Proof. exact: expR_ge0. Qed.

Definition all_layers : \bar R := (\int[leb]_(s in `[0%R, +oo[%classic) (fall s)%:E)%E.

Let from_shifted (u v : R) : (\int[leb]_(s in `[(u + v)%R, +oo[%classic) (fall s)%:E = (fall v)%:E * \int[leb]_(s in `[u, +oo[%classic) (fall s)%:E)%E.
Proof.
rewrite (integral_preserved (measurable_translation v) (lebesgue_translation v) mf f0 (mI `[u + v, +oo[)).
rewrite -(integral_scaled leb (f0 v) f0 mf (mI `[u, +oo[)).
rewrite (_ : _ @^-1` _ = `[u, +oo[%classic); last by apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT ler_add2r.
by apply: eq_integral => s _; rewrite /fall -expRD; congr (expR _)%:E; lra.
Qed.

Let inside (A B : set R) : @measurable _ (line R) A -> @measurable _ (line R) B -> A `<=` B ->
  (\int[leb]_(s in A) (fall s)%:E <= \int[leb]_(s in B) (fall s)%:E)%E.
Proof.
move=> mA mB AB; apply: subset_integral => //; last by move=> s _; rewrite lee_fin.
by apply/EFin_measurable_fun; exact: measurable_funTS.
Qed.

Let positive_layers : (\int[leb]_(s in `]0%R, +oo[%classic) (fall s)%:E = (Gamma (R := R) 1)%:E)%E.
Proof.
rewrite /Gamma gamma_tail_fin ?ltr01//; apply: eq_integral => s _.
by rewrite subrr /pw mul0r expR0 mul1r.
Qed.

Lemma all_layers_fin : exists2 J : R, 0 < J & all_layers = J%:E.
Proof.
have low : ((Gamma (R := R) 1)%:E <= all_layers)%E.
  by rewrite -positive_layers; apply: inside; [exact: mI | exact: mI | move=> s /=; rewrite !in_itv/= !andbT; exact: ltW].
have high : ((fall 1)%:E * all_layers <= (Gamma (R := R) 1)%:E)%E.
  rewrite -from_shifted add0r -positive_layers; apply: inside; [exact: mI | exact: mI |].
  by move=> s /=; rewrite !in_itv/= !andbT; exact: lt_le_trans ltr01.
have G0 : 0 < Gamma (R := R) 1 by exact: Gamma_gt0.
case E : all_layers low high => [J| |] //=.
- by rewrite lee_fin => le _; exists J => //; exact: lt_le_trans le.
- by move=> _; rewrite gt0_muley ?lte_fin ?expR_gt0// leye_eq.
Qed.

Context d (Z : measurableType d) (mu : {measure set Z -> \bar R}) (L : Z -> R).
Hypotheses (sigma : sigma_finite setT mu) (mL : measurable_fun setT L) (L0 : forall z, 0 <= L z).

Lemma measurable_within s : measurable [set z | L z <= s].
Proof.
rewrite (_ : [set z | _] = L @^-1` `]-oo, s]%classic); last by apply/seteqP; split=> z /=; rewrite in_itv.
by rewrite -[X in measurable X]setTI; apply: mL => //; exact: measurable_itv.
Qed.

(* Each e^-L is the part of all layers that is above L. *)
Lemma layers (A : set Z) : measurable A ->
  (all_layers * \int[mu]_(z in A) (fall (L z))%:E = \int[leb]_(s in `[0%R, +oo[%classic) ((fall s)%:E * mu (A `&` [set z | (L z <= s)%R])))%E.
Proof.
move=> mA; pose T : measurableType _ := line R.
pose E : set (Z * T)%type := [set w | A w.1 /\ L w.1 <= w.2 /\ 0 <= w.2].
have m1 : measurable_fun setT (fun w : (Z * T)%type => L w.1) by exact: measurable_after (@measurable_first _ _ _ _) mL.
have m2 : measurable_fun setT (fun w : (Z * T)%type => w.2 : R) by exact: measurable_second.
have mE : measurable E.
  rewrite (_ : E = (A `*` setT) `&` (~` [set w | w.2 < L w.1]) `&` (setT `*` `[0%R, +oo[%classic)).
    apply: measurableI; last by apply: measurableM => //; exact: mI.
    apply: measurableI; first exact: measurableM.
    by apply: measurableC; exact: measurable_where.
  apply/seteqP; split=> -[z s] /=; rewrite in_itv/= andbT.
  - by move=> [? [? ?]]; do !split=> //; apply/negP; rewrite -leNgt.
  - by move=> [[[? _] /negP]]; rewrite -leNgt => ? [_ ?].
pose h (w : (Z * T)%type) : \bar R := (fall w.2 * \1_E w)%:E.
have mh : measurable_fun setT h.
  apply/EFin_measurable_fun; apply: measurable_funM; last exact: measurable_fun_indic.
  exact: measurable_after (@measurable_second _ _ _ _) mf.
have h0 w : (0 <= h w)%E by rewrite lee_fin mulr_ge0// indicE ler0n.
have F1 := fubini_tonelli1 (m1 := mu) (@lebesgue_sigma_finite R) h mh h0.
have F2 := fubini_tonelli2 sigma (@lebesgue_sigma_finite R) h mh h0.
transitivity (\int[mu]_z fubini_F leb h z)%E; last rewrite -F1 F2.
- have [J J0 JE] := all_layers_fin; rewrite JE.
  have mfL : measurable_fun setT (fun z => fall (L z)) by exact: measurable_fun_comp mf mL.
  rewrite -(integral_scaled mu (ltW J0) (fun z => f0 (L z)) mfL mA) -[in LHS](setTI A) integral_setI_indic//.
  apply: eq_integral => z _; rewrite /fubini_F /h /=.
  have [zA | zA] := boolP (z \in A).
  + rewrite [\1_A z]indicE zA mule1.
    rewrite mulrC EFinM -JE /all_layers -from_shifted add0r -[in LHS](setTI `[L z, +oo[%classic) (integral_setI_indic leb (mI `[L z, +oo[) _ measurableT).
    apply: eq_integral => s _; rewrite -EFinM !indicE; congr (_ * (nat_of_bool _)%:R)%:E.
    apply/idP/idP; rewrite !inE /E /= in_itv/= andbT.
    - by move=> Ls; move: zA; rewrite inE => zA; do !split=> //; exact: le_trans (L0 z) Ls.
    - by move=> [_ []].
  + rewrite (_ : \1_A z = 0) ?mule0; last by rewrite indicE (negbTE zA).
    rewrite (eq_integral (cst 0%E)) ?integral0// => s _; rewrite indicE memNset ?mulr0//=.
    by move=> [zA' _]; move: zA; rewrite notin_set.
- rewrite -[in RHS](setTI `[0%R, +oo[%classic) (integral_setI_indic leb (mI `[0, +oo[) _ measurableT).
  apply: eq_integral => s _; rewrite /fubini_G /h /=.
  have mAs : measurable (A `&` [set z | L z <= s]) by apply: measurableI => //; exact: measurable_within.
  rewrite -[A `&` _]setIT -(integral_indic mu measurableT mAs).
  have -> : \1_`[0%R, +oo[%classic s = ((0 <= s : bool) : nat)%:R :> R.
    by rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP; rewrite inE/= in_itv/= andbT.
  have [s0 | s0] := leP 0 s.
  + rewrite mule1.
    have i0 z : 0 <= \1_(A `&` [set z | L z <= s]) z :> R by rewrite indicE ler0n.
    have mi : measurable_fun setT (\1_(A `&` [set z | L z <= s]) : Z -> R) by exact: measurable_fun_indic.
    rewrite -(integral_scaled mu (f0 s) i0 mi measurableT).
    apply: eq_integral => z _; rewrite !indicE; congr (_ * (nat_of_bool _)%:R)%:E.
    by apply/idP/idP; rewrite !inE /E /=; [case=> ? [? ?] | case=> ? ?].
  + rewrite mule0 (eq_integral (cst 0%E)) ?integral0// => z _; rewrite indicE memNset ?mulr0//=.
    by move=> [_ [_]]; rewrite leNgt s0.
Qed.

Lemma measurable_layers (A : set Z) : measurable A -> @measurable_fun _ _ (line R) _ setT (fun s : line R => mu (A `&` [set z | L z <= s])).
Proof.
move=> mA; pose T : measurableType _ := line R; pose E : set (Z * T)%type := (A `*` setT) `&` ~` [set w | w.2 < L w.1].
have m1 : measurable_fun setT (fun w : (Z * T)%type => L w.1) by exact: measurable_after (@measurable_first _ _ _ _) mL.
have m2 : measurable_fun setT (fun w : (Z * T)%type => w.2 : R) by exact: measurable_second.
have mE : measurable E by apply: measurableI; [exact: measurableM | apply: measurableC; exact: measurable_where].
rewrite (_ : (fun s => _) = mu \o ysection E); first by apply: measurable_fun_ysection => //; rewrite inE.
apply/funext => s /=; congr (mu _); apply/seteqP; split=> z; rewrite /ysection /E /= inE /=.
- by move=> [zA h]; do !split=> //; apply/negP; rewrite -leNgt.
- by move=> [[zA _] /negP]; rewrite -leNgt.
Qed.
End Layers.

(* Volumes within r of the middle do not rise faster than r^n. *)
Section Star.
Context (R : realType) d (Z : measurableType d) (mu P : {measure set Z -> \bar R}) (L : Z -> R) (n : nat) (c : R).
Notation leb := (@lebesgue_measure R).
Hypotheses (sigma : sigma_finite setT mu) (mL : measurable_fun setT L) (L0 : forall z, 0 <= L z) (n0 : (0 < n)%N) (c0 : 0 < c).
Let V s := mu [set z | L z <= s].
Hypothesis star : forall r s, 0 < r -> r <= s -> ((pw n%:R (r / s))%:E * V s <= V r)%E.
Hypotheses (P1 : P setT = 1%E) (Pp : has_density mu P (fun z => c * expR (- L z))).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.
Let nR : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
Let mw s : measurable [set z | L z <= s]. Proof. exact: measurable_within. Qed.
Let fall (s : R) : R := expR (- s).
Let mf : measurable_fun setT fall. Proof. exact: measurable_falling. Qed.
Let f0 s : 0 <= fall s. Proof. exact: expR_ge0. Qed.
Let mfL : measurable_fun setT (fun z => fall (L z)). Proof. exact: measurable_fun_comp mf mL. Qed.

Let mass (A : set Z) : measurable A -> P A = (c%:E * \int[mu]_(z in A) (fall (L z))%:E)%E.
Proof. by move=> mA; have [_ _ ->] := Pp => //; exact: (integral_scaled mu (ltW c0) (fun z => f0 (L z)) mfL mA). Qed.


Let Jw : {J : R | 0 < J /\ all_layers R = J%:E}.
Proof. by apply: cid; have [J J0 JE] := all_layers_fin R; exists J. Qed.

(* The volume within s is finite. *)
Let Vfin s : 0 <= s -> (V s \is a fin_num).
Proof.
move=> s0; rewrite ge0_fin_numE ?measure_ge0// ltey; apply/eqP => e.
have : ((c * fall s)%:E * V s <= P [set z | (L z <= s)%R])%E.
  rewrite (mass (mw s)) EFinM -muleA; apply: lee_wpmul2l; first by rewrite lee_fin ltW.
  rewrite -integral_cst; [|exact: mw]; apply: ge0_le_integral; [exact: mw | by move=> z _; rewrite lee_fin | exact: measurable_fun_cst |
    by move=> z _; rewrite lee_fin | |].
  - by apply/EFin_measurable_fun; exact: measurable_funTS.
  - by move=> z /= h; rewrite lee_fin /fall ler_expR ler_opp2.
rewrite e gt0_muley; last by rewrite lte_fin mulr_gt0// expR_gt0.
by apply/negP; rewrite -ltNge; apply: le_lt_trans (mass_le1 P1 (mw s)) _; rewrite ltry.
Qed.

(* The measure of the line that has r^n/n within r. *)
Let m := power_measure (n%:R : R).
Let D := @distance0 R.
Let mD : @measurable_fun _ _ (line R) _ setT D. Proof. exact: measurable_distance0. Qed.
Let D0 s : 0 <= D s. Proof. exact: normr_ge0. Qed.
Let wD s : @measurable _ (line R) [set z | D z <= s]. Proof. exact: measurable_within. Qed.
Let V0 s := m [set z | D z <= s].
Let V0E s : 0 < s -> V0 s = (n%:R^-1 * pw n%:R s)%:E. Proof. exact: power_balls. Qed.

Let sigma0 : sigma_finite (setT : set (line R)) m.
Proof.
exists (fun k => [set z | D z <= k.+1%:R]).
  apply/seteqP; split=> z //= _; exists (Num.bound (D z)) => //=; apply: ltW; apply: lt_le_trans (archi_boundP (D0 z)) _; by rewrite ler_nat.
by move=> k; split; [exact: wD | rewrite -/(V0 _) V0E ?ltr0n// ltry].
Qed.

Variable t : R.
Hypothesis t0 : 0 < t.
Let k : R := fine (V t) / (n%:R^-1 * pw n%:R t).
Let v0 : 0 < n%:R^-1 * pw n%:R t. Proof. by rewrite mulr_gt0 ?invr_gt0// pw_gt0. Qed.
Let k0 : 0 <= k. Proof. by rewrite divr_ge0 ?(ltW v0)// fine_ge0// measure_ge0. Qed.
Let Vt : V t = (k * (n%:R^-1 * pw n%:R t))%:E. Proof. by rewrite /k divfK ?gt_eqF// fineK// Vfin// ltW. Qed.

Let beyond s : t <= s -> (V s <= k%:E * V0 s)%E.
Proof.
move=> ts; have s0 : 0 < s by exact: lt_le_trans ts.
have := star t0 ts; rewrite V0E// -(fineK (Vfin (ltW s0))) Vt -!EFinM !lee_fin => h.
have e1 : pw n%:R s * pw n%:R (t / s) = pw n%:R t by rewrite -pwM ?divr_gt0// mulrC divfK// gt_eqF.
rewrite -(ler_pmul2l (pw_gt0 n%:R (t / s))); apply: le_trans h _.
by rewrite -e1 le_eqVlt; apply/orP; left; apply/eqP; rewrite ![k * _]mulrA; lra.
Qed.

Let within s : 0 < s -> s <= t -> (k%:E * V0 s <= V s)%E.
Proof.
move=> s0 st; apply: le_trans (star s0 st); rewrite V0E// Vt -!EFinM lee_fin.
have e1 : pw n%:R t * pw n%:R (s / t) = pw n%:R s by rewrite -pwM ?divr_gt0// mulrC divfK// gt_eqF.
by rewrite -e1 le_eqVlt; apply/orP; left; apply/eqP; lra.
Qed.

Let A : set Z := [set z | t < L z].
Let B : set Z := [set z | L z <= t].
Let A0 : set (line R) := [set s | t < D s].
Let B0 : set (line R) := [set s | D s <= t].
Let mB : measurable B. Proof. exact: mw. Qed.
Let mA : measurable A.
Proof. by rewrite (_ : A = ~` B); [exact: measurableC | apply/seteqP; split=> z; rewrite /A /B /= ltNge; move/negP]. Qed.
Let mB0 : @measurable _ (line R) B0. Proof. exact: wD. Qed.
Let mA0 : @measurable _ (line R) A0.
Proof. by rewrite (_ : A0 = ~` B0); [exact: measurableC | apply/seteqP; split=> z; rewrite /A0 /B0 /= ltNge; move/negP]. Qed.

(* What is further than t and within s. *)
Let ring d' (W : measurableType d') (nu : {measure set W -> \bar R}) (l : W -> R) s : (forall r, measurable [set w | l w <= r]) -> t <= s ->
  (nu [set w | (l w <= s)%R] = nu [set w | (l w <= t)%R] + nu ([set w | (t < l w)%R] `&` [set w | (l w <= s)%R]))%E.
Proof.
move=> ml ts; rewrite -measureU; [|exact: ml| |].
- congr (nu _); apply/seteqP; split=> w /=; first by move=> h; have [?|?] := leP (l w) t; [left | right].
  by case=> [h|[]//]; exact: le_trans ts.
- apply: measurableI => //; rewrite (_ : [set w | t < l w] = ~` [set w | l w <= t]); first exact: measurableC.
  by apply/seteqP; split=> z /=; rewrite ltNge; move/negP.
- by apply/seteqP; split=> w //= -[h [h' _]]; move: h'; rewrite ltNge h.
Qed.

Let far_layer s : (mu (A `&` [set z | (L z <= s)%R]) <= k%:E * m (A0 `&` [set z | (D z <= s)%R]))%E.
Proof.
have [ts|st] := leP t s; last first.
  rewrite (_ : A `&` _ = set0) ?measure0 ?mule_ge0 ?lee_fin//.
  by apply/seteqP; split=> z //= -[h h']; have := lt_trans (lt_le_trans h h') st; rewrite ltxx.
have s0 : 0 < s by exact: lt_le_trans ts.
have := beyond ts; rewrite /V /V0 (ring mu mw ts) (ring m wD ts) -/(V t) -/(V0 t) ge0_muleDr//.
by rewrite Vt V0E// -EFinM lee_add2lE.
Qed.

Let near_layer s : 0 <= s -> (k%:E * m (B0 `&` [set z | (D z <= s)%R]) <= mu (B `&` [set z | (L z <= s)%R]))%E.
Proof.
rewrite le_eqVlt => /predU1P[<-|s0].
  rewrite (_ : m _ = 0%E) ?mule0//; apply/eqP; rewrite eq_le measure_ge0 andbT.
  have nul := no_length mD nR _ (power_balls nR) (lexx 0); rewrite -nul ?invr_ge0 ?(ltW nR)//.
  by apply: le_measure; rewrite ?inE; [apply: measurableI; [exact: mB0 | exact: wD] | exact: wD | move=> z []].
have [ts|st] := leP t s.
- rewrite (_ : B `&` _ = B); last by apply/seteqP; split=> z /=; [case | move=> h; split=> //; exact: le_trans ts].
  rewrite (_ : B0 `&` _ = B0); last by apply/seteqP; split=> z /=; [case | move=> h; split=> //; exact: le_trans ts].
  by rewrite -/(V t) -/(V0 t) Vt V0E.
- rewrite (_ : B `&` _ = [set z | L z <= s]); last by apply/seteqP; split=> z /=; [case | move=> h; split=> //; exact: le_trans (ltW st)].
  rewrite (_ : B0 `&` _ = [set z | D z <= s]); last by apply/seteqP; split=> z /=; [case | move=> h; split=> //; exact: le_trans (ltW st)].
  exact: within (ltW st).
Qed.

(* Integrals over the layers are compared as the layers are. *)
Let compared (k1 k2 : R) d1 (W1 : measurableType d1) (nu1 : {measure set W1 -> \bar R}) (l1 : W1 -> R) (C1 : set W1)
    d2 (W2 : measurableType d2) (nu2 : {measure set W2 -> \bar R}) (l2 : W2 -> R) (C2 : set W2) :
  sigma_finite setT nu1 -> measurable_fun setT l1 -> (forall w, 0 <= l1 w) -> measurable C1 ->
  sigma_finite setT nu2 -> measurable_fun setT l2 -> (forall w, 0 <= l2 w) -> measurable C2 -> 0 <= k1 -> 0 <= k2 ->
  (forall s, 0 <= s -> (k1%:E * nu1 (C1 `&` [set w | (l1 w <= s)%R]) <= k2%:E * nu2 (C2 `&` [set w | (l2 w <= s)%R]))%E) ->
  (k1%:E * \int[nu1]_(w in C1) (fall (l1 w))%:E <= k2%:E * \int[nu2]_(w in C2) (fall (l2 w))%:E)%E.
Proof.
move=> s1 ml1 p1 m1 s2 ml2 p2 m2 k10 k20 le; have [J [J0 JE]] := Jw.
rewrite -(@lee_pmul2l _ J%:E)// -JE muleCA [leRHS]muleCA (layers s1 ml1 p1 m1) (layers s2 ml2 p2 m2).
have mh d' (W : measurableType d') (nu : {measure set W -> \bar R}) (l : W -> R) (C : set W) : sigma_finite setT nu -> measurable_fun setT l -> measurable C ->
    @measurable_fun _ _ (line R) _ `[0%R, +oo[%classic (fun s : line R => (expR (- s))%:E * nu (C `&` [set w | (l w <= s)%R]))%E.
  move=> sn mln mC; apply: emeasurable_funM; first by apply/EFin_measurable_fun; exact: (measurable_funTS mf).
  by apply: measurable_funTS; exact: measurable_layers.
have out d' (W : measurableType d') (nu : {measure set W -> \bar R}) (l : W -> R) (C : set W) (k' : R) : sigma_finite setT nu -> measurable_fun setT l ->
    measurable C -> 0 <= k' -> (k'%:E * \int[leb]_(s in `[0%R, +oo[%classic) ((expR (- s))%:E * nu (C `&` [set w | (l w <= s)%R])) =
    \int[leb]_(s in `[0%R, +oo[%classic) (k'%:E * ((expR (- s))%:E * nu (C `&` [set w | (l w <= s)%R]))))%E.
  move=> sn mln mC k'0; apply/esym; apply: (ge0_integralM leb (mI `[0, +oo[) (mh _ _ nu l C sn mln mC)); last by rewrite lee_fin.
  by move=> s _ /=; apply: mule_ge0; [rewrite lee_fin; exact: expR_ge0 | exact: measure_ge0].
rewrite (out _ _ nu1 l1 C1 k1 s1 ml1 m1 k10) (out _ _ nu2 l2 C2 k2 s2 ml2 m2 k20).
apply: ge0_le_integral.
- exact: (mI `[0, +oo[).
- by move=> s _; apply: mule_ge0; [by rewrite lee_fin | apply: mule_ge0; [rewrite lee_fin; exact: expR_ge0 | exact: measure_ge0]].
- by apply: measurable_funeM; exact: mh.
- by move=> s _; apply: mule_ge0; [by rewrite lee_fin | apply: mule_ge0; [rewrite lee_fin; exact: expR_ge0 | exact: measure_ge0]].
- by apply: measurable_funeM; exact: mh.
- move=> s /=; rewrite in_itv/= andbT => s0; rewrite muleCA [leRHS]muleCA; apply: lee_wpmul2l; [by rewrite lee_fin; exact: expR_ge0 | exact: le].
Qed.

Let reference (S : set R) : @measurable _ (line R) (D @^-1` S) -> measurable S ->
  (\int[m]_(s in D @^-1` S) (fall (D s))%:E = \int[leb]_(s in S `&` `]0%R, +oo[%classic) (pw (n%:R - 1) s * fall s)%:E)%E.
Proof.
move=> _ mS; rewrite (integral_length mD nR _ (power_balls nR) mf f0 mS) ?invr_ge0 ?(ltW nR)//.
by rewrite mulVf ?gt_eqF// mul1e.
Qed.

Let far0 : (\int[m]_(s in A0) (fall (D s))%:E = power_tail n%:R fall t)%E.
Proof.
have e : A0 = D @^-1` `]t, +oo[%classic by apply/seteqP; split=> s; rewrite /A0 /= in_itv/= andbT.
rewrite e reference; [|by rewrite -e | exact: measurable_itv]; congr (integral _ _ _).
apply/seteqP; split=> s /=; rewrite !in_itv/= !andbT; first by case.
by move=> h; split=> //; exact: lt_trans h.
Qed.

Let all0 : (\int[m]_(s in A0) (fall (D s))%:E + \int[m]_(s in B0) (fall (D s))%:E = power_tail n%:R fall 0)%E.
Proof.
rewrite -integral_setU; [|exact: mA0|exact: mB0| | |].
- have e : A0 `|` B0 = D @^-1` setT.
    by apply/seteqP; split=> s // _; have [h|h] := leP (D s) t; [right | left].
  rewrite e reference; [|by rewrite -e; exact: measurableU | exact: measurableT].
  by rewrite setTI.
- by apply/EFin_measurable_fun; apply: measurable_funTS; exact: measurable_fun_comp mf mD.
- by move=> s _; rewrite lee_fin.
- by rewrite disj_set2E; apply/eqP/seteqP; split=> s //= -[]; rewrite /A0 /B0 /= ltNge => /negP.
Qed.

Theorem star_tail : (P [set z | (t < L z)%R] <= (gamma_tail n%:R t)%:E)%E.
Proof.
have lt0 : 0 <= t by exact: ltW.
have farle : (1%:E * \int[mu]_(z in A) (fall (L z))%:E <= k%:E * \int[m]_(s in A0) (fall (D s))%:E)%E.
  by apply: compared => // s _; rewrite mul1e; exact: far_layer.
have nearle : (k%:E * \int[m]_(s in B0) (fall (D s))%:E <= 1%:E * \int[mu]_(z in B) (fall (L z))%:E)%E.
  by apply: compared => // s s0; rewrite mul1e; exact: near_layer.
have one : (P A + P B = 1)%E.
  rewrite -P1 -measureU//; first by congr (P _); apply/seteqP; split=> z // _; have [h|h] := leP (L z) t; [right | left].
  by apply/seteqP; split=> z //= -[]; rewrite /A /B /= ltNge => /negP.
have PA := mass mA; have PB := mass mB.
rewrite mul1e in farle; rewrite mul1e in nearle.
have fA : P A \is a fin_num by exact: mass_fin.
have fB : P B \is a fin_num by exact: mass_fin.
have finite (S : set Z) : measurable S -> exists2 r : R, (\int[mu]_(z in S) (fall (L z))%:E = r%:E)%E & P S = (c * r)%:E.
  move=> mS; have f := mass_fin P1 mS; have e := mass mS.
  have g : (\int[mu]_(z in S) (fall (L z))%:E)%E \is a fin_num.
    rewrite ge0_fin_numE; last by apply: integral_ge0 => z _; rewrite lee_fin.
    rewrite ltey; apply/eqP => h; move: f; rewrite e h gt0_muley ?lte_fin//.
  by exists (fine (\int[mu]_(z in S) (fall (L z))%:E)%E); [rewrite fineK | rewrite e EFinM fineK].
have [a aE Pa] := finite A mA; have [b bE Pb] := finite B mB.
have a0E := gamma_tail_fin nR lt0; have G0E := gamma_tail_fin nR (lexx (0 : R)).
move: all0 farle nearle; rewrite far0 -a0E -G0E aE bE; set a0 := fine _; set G := fine _.
case E : (\int[m]_(s in B0) _)%E => [b0| |] //; rewrite -EFinD -!EFinM !lee_fin => -[GE] fle nle.
have G0 : 0 < G by exact: Gamma_gt0.
have a00 : 0 <= a0 by exact: tail_ge0.
have b00 : 0 <= b0 by rewrite -lee_fin -E; apply: integral_ge0 => s _; rewrite lee_fin.
move: one; rewrite Pa Pb -EFinD => -[one].
rewrite lee_fin /gamma_tail /tail_part -/a0 -/G ler_pdivl_mulr// -GE.
have h1 : a * b0 <= b * a0.
  apply: le_trans (ler_wpmul2r b00 fle) _; rewrite mulrAC; exact: ler_wpmul2r.
have h2 := ler_wpmul2l (ltW c0) h1.
have h3 : c * (b * a0) = (1 - c * a) * a0 by rewrite mulrA (_ : c * b = 1 - c * a)//; lra.
by move: h2; rewrite h3; lra.
Qed.
End Star.
