(* The privacy curve of noise scale sqrt(V) N on functions, N a Gaussian process of infinite rank (docs/theory/curves.md, elliptical process;
   docs/theory/processes.md, process differences): V is seen, and given V the pair is that of normal laws, so that the curve is the mean of theirs. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition mixtures curves pairs likelihood point_witness means laplace_curve scale_integrals scale_mixture orthogonal_laws gaussian_curve normal_line gaussian_composition gaussian_noise normal_tail average_events seen_variance finite_parts.
Import numFieldNormedType.Exports.

Section Curve.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation Phi := (normal_cdf law).
Context (X : Type) (N : definitions.relation X) d1 (W : measurableType d1) d2 (Y : measurableType d2).
(* w is drawn by `mixing`, and is not told; dev w is scale sqrt(V). *)
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}) (dev : W -> R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (dev0 : forall w, 0 < dev w) (mdev : measurable_fun setT dev).
Let M := mixture mixing1 mk.
Let k1 x w : k x w setT = 1%E. Proof. exact: (mk x).1. Qed.
Let total v : law v setT = 1%E. Proof. by have [_ h _] := normal; exact: h. Qed.

(* -- Given V -- *)

(* Given V an event A has the probabilities of an event of finitely many numbers, which are independent and standard normal on x, and on x' the same
   moved by s, whose length is at most D over the deviation: those of finitely many values of the process, standardised. *)
Definition finite_part (x x' : X) (D : R) (A : set Y) (w : W) := exists (s : seq R) d (O : measurableType d) (P Q : {measure set O -> \bar R}) T (B : set O),
  [/\ normal_numbers law s P Q T, measurable B, k x w A = P B, k x' w A = Q B & together s <= D / dev w].

(* The answers differ by a function of norm at most D: finitely many values, of which all events are made, see no more. *)
Definition within_norm (x x' : X) (D : R) := exists F, generating_field F /\ forall A w, F A -> finite_part x x' D A w.

Lemma pair_given_variance x x' D w (a : R) : within_norm x x' D -> 0 <= a ->
  profile a (k x w) (k x' w) <= profile a (law 0) (law (D / dev w)).
Proof.
move=> [F [field parts]] a0; set b := (X in _ <= X).
have on_field A : F A -> fine (k x w A) - a * fine (k x' w A) <= b.
  move=> /(parts A w)[s [d [O [P [Q [T [B [numbers mB -> -> le]]]]]]]].
  have [_ P1 Q1 _ [_ E]] := normal_numbers_pair normal numbers.
  apply: le_trans (profile_event P1 Q1 a0 mB) _; rewrite E//.
  exact: (normal_pair_grows normal (together_ge0 s) le).
pose m := [the measure _ _ of measure_add (k x w) (k x' w)].
have mE S : m S = (k x w S + k x' w S)%E by rewrite -measure_addE.
have mfin : (m setT < +oo)%E by rewrite mE !k1 -EFinD ltry.
apply: profile_le => S mS; apply/ler_addgt0Pr => e e0.
have e1 : 0 < e / (1 + a) by rewrite divr_gt0//; lra.
have [A FA near] := near_field field mfin mS e1; have mA : measurable A by have [_ _ _ h _] := field; exact: h.
have close z (B C : set Y) : measurable B -> measurable C -> (z = x \/ z = x') -> apart B C = apart S A -> fine (k z w B) <= fine (k z w C) + e / (1 + a).
  move=> mB mC zz BC; rewrite -lee_fin EFinD !fineK ?mass_fin//.
  have mD : measurable (apart B C) by exact: measurable_apart.
  apply: (@le_trans _ _ (k z w C + k z w (apart B C))%E).
    apply: le_trans (mass_both _ mC mD); apply: le_measure; rewrite ?inE//; first exact: measurableU.
    by move=> y By; have [Cy|Cy] := pselect (C y); [left | right; left].
  apply: lee_add => //; rewrite BC; apply: le_trans near; rewrite mE; case: zz => ->; [exact: lee_addl | exact: lee_addr].
have h1 := close x S A mS mA (or_introl erefl) erefl.
have h2 := close x' A S mA mS (or_intror erefl) (setUC _ _).
have h3 := on_field A FA; have h4 := ler_wpmul2l a0 h2.
have -> : e = (1 + a) * (e / (1 + a)) by rewrite mulrC divfK// gt_eqF//; lra.
move: h1 h3 h4; rewrite mulrDr; lra.
Qed.

(* -- V is seen -- *)

Lemma seen_level x x' (r : R) : endless_functionals law k dev x x' -> exists G, measurable G /\
  forall w, k x w G = (if (dev w <= r)%R then 1 else 0)%E /\ k x' w G = (if (dev w <= r)%R then 1 else 0)%E.
Proof.
move=> endless; have [r0|r0] := ltP 0 r; first by have [G mG GE] := shows_variance normal k1 dev0 endless r0; exists G.
by exists set0; split=> // w; rewrite !measure0 leNgt (le_lt_trans r0 (dev0 w)).
Qed.

Definition rational_number (n : nat) : R := if unpickle n is Some q then ratr (q : rat) else 0.

(* An event that compares a functional with a threshold that depends on V, and falls continuously. *)
Lemma seen_threshold x x' (f : Y -> R) (v : R) (theta : R -> R) : endless_functionals law k dev x x' -> measurable_fun setT f ->
  (forall r s, 0 < r -> r <= s -> theta s <= theta r) -> (forall r z, 0 < r -> z < theta r -> exists2 s, r < s & z < theta s) ->
  exists S, measurable S /\ forall w z, z = x \/ z = x' -> k z w S = k z w [set y | (f y - v < theta (dev w))%R].
Proof.
move=> endless mf falls room; have [G HG] := choice (fun r => seen_level r endless).
pose low (u : R) := [set y | f y - v < u]; have mlow u : measurable (low u).
  by apply: measurable_where; [exact: measurable_fun_cst | apply: measurable_funB => //; exact: measurable_fun_cst].
have mG r : measurable (G r) by have [] := HG r.
pose rho := rational_number; exists (\bigcup_n (G (rho n) `&` low (theta (rho n)))).
have mS : measurable (\bigcup_n (G (rho n) `&` low (theta (rho n)))) by apply: bigcupT_measurable => n; exact: measurableI.
split=> // w z zz; rewrite -/(low _); set S := \bigcup_n _ in mS *.
pose bad n := if dev w <= rho n then ~` G (rho n) else G (rho n).
have mbad n : measurable (bad n) by rewrite /bad; case: ifP => _ //; exact: measurableC.
have bad0 n : k z w (bad n) = 0%E.
  have Gz : k z w (G (rho n)) = (if (dev w <= rho n)%R then 1 else 0)%E by have [_ /(_ w)[h1 h2]] := HG (rho n); case: zz => ->; [exact: h1 | exact: h2].
  rewrite /bad; case: ifP Gz => // _ Gz; have mGn := mG (rho n); have mC : measurable (~` G (rho n)) by exact: measurableC.
  have e : k z w setT = (k z w (G (rho n)) + k z w (~` G (rho n)))%E by rewrite -measureU ?setUv ?setICr.
  have fin : k z w (~` G (rho n)) \is a fin_num by exact: mass_fin (k1 z w) mC.
  move: e; rewrite k1 Gz -(fineK fin) -EFinD => -[e]; congr EFin; lra.
pose Z := \bigcup_n bad n; have Z0 : k z w Z = 0%E by exact: countable_null.
have mZ : measurable Z by exact: bigcupT_measurable.
have below (A B : set Y) : measurable A -> measurable B -> A `<=` B `|` Z -> (k z w A <= k z w B)%E.
  move=> mA mB sub; rewrite -[leRHS]adde0 -Z0; apply: le_trans (mass_both _ mB mZ); apply: le_measure; rewrite ?inE//; exact: measurableU.
apply/eqP; rewrite eq_le; apply/andP; split; apply: below => // y.
- case=> n _ [Gy ly]; have [le|gt] := leP (dev w) (rho n); last by right; exists n => //; rewrite /bad leNgt gt.
  by left; apply: lt_le_trans ly _; exact: falls.
- move=> ly; have [s ds ls] := room _ _ (dev0 w) ly; have [q] := rat_in_itvoo ds; rewrite in_itv/= => /andP[dq qs].
  have e : rho (pickle q) = ratr q by rewrite /rho /rational_number pickleK.
  have [Gy|Gy] := pselect (G (rho (pickle q)) y); last by right; exists (pickle q) => //; rewrite /bad {1}e (ltW dq).
  left; exists (pickle q) => //; split=> //; apply: lt_le_trans ls _; rewrite e; apply: falls; [exact: lt_trans (dev0 w) dq | exact: ltW].
Qed.

(* -- The mean of the curves -- *)

Notation H D eps w := (profile (expR eps) (law 0) (law (D / dev w))).
Definition curve_mean (D eps : R) : R := mean mixing (fun w => H D eps w).

Let ratio0 D w : 0 <= D -> 0 <= D / dev w. Proof. by move=> D0; rewrite divr_ge0// ltW. Qed.

Let grows D D' eps w : 0 <= D -> D <= D' -> H D eps w <= H D' eps w.
Proof.
by move=> D0 DD; apply: (normal_pair_grows normal (ratio0 w D0) _ (expR_ge0 eps)); rewrite ler_pmul2r ?invr_gt0.
Qed.

Let measurable_Phi : measurable_fun setT Phi.
Proof.
apply: continuous_measurable_fun; apply: (@lipschitz_continuous R Phi c); first by have [/ltW] := normal.
by move=> x y; exact: (normal_cdf_slow normal).
Qed.

Lemma curve_number D eps w : 0 < D -> H D eps w = Phi (D / 2 * (dev w)^-1 - eps / D * dev w) - expR eps * Phi (- (D / 2) * (dev w)^-1 - eps / D * dev w).
Proof.
move=> D0; rewrite (normal_pair_curve normal eps (divr_gt0 D0 (dev0 w))) /gaussian_delta invf_div.
have -> : D / dev w / 2 = D / 2 * (dev w)^-1 by rewrite mulrAC.
by rewrite mulNr mulrA [eps * dev w / D]mulrAC.
Qed.

Lemma curve_test D eps : 0 <= D -> test (fun w => H D eps w).
Proof.
move=> D0; split=> [|w]; last by rewrite profile_ge0 ?profile_le1 ?expR_ge0.
move: D0; rewrite le_eqVlt => /predU1P[<-|D0].
  by under eq_fun do rewrite mul0r; exact: measurable_fun_cst.
have minv : measurable_fun setT (fun w => (dev w)^-1).
  under eq_fun do rewrite -pwV//; exact: measurable_fun_comp (@measurable_pw R (- 1)) mdev.
have mcomp (u v : R) : measurable_fun setT (fun w => Phi (u * (dev w)^-1 - v * dev w)).
  by apply: measurable_fun_comp measurable_Phi _; apply: measurable_funB; exact: measurable_funrM.
under eq_fun do rewrite curve_number//; apply: measurable_funB => //; exact: measurable_funrM.
Qed.

Lemma curve_mean_grows D D' eps : 0 <= D -> D <= D' -> curve_mean D eps <= curve_mean D' eps.
Proof. by move=> D0 DD; apply: mean_le => // [||w]; [exact: curve_test | apply: curve_test; exact: le_trans DD | exact: grows]. Qed.

Lemma curve_mean_upper x x' D eps : 0 <= D -> within_norm x x' D -> profile (expR eps) (M x) (M x') <= curve_mean D eps.
Proof.
move=> D0 near; have [_ h] := mixture_profile mixing1 mk (expR_ge0 eps) (curve_test eps D0) (fun w => pair_given_variance w near (expR_ge0 eps)).
exact: h.
Qed.

(* A functional that sees t of the difference, and V. *)
Lemma curve_mean_lower x x' f v v' eps : endless_functionals law k dev x x' -> functional law k dev x f v -> functional law k dev x' f v' ->
  v < v' -> 0 <= eps -> curve_mean (v' - v) eps <= profile (expR eps) (M x) (M x').
Proof.
move=> endless [mf F] [_ F'] vv e0; set t := v' - v; have t0 : 0 < t by rewrite subr_gt0.
pose b := expR eps; have b0 : 0 <= b by exact: expR_ge0.
have et : 0 <= eps / t by rewrite divr_ge0// ltW.
pose theta r := t / 2 - eps / t * r ^+ 2.
have falls r s : 0 < r -> r <= s -> theta s <= theta r.
  by move=> r0 rs; rewrite ler_add2l ler_opp2; apply: ler_wpmul2l => //; rewrite ler_pexpn2r// nnegrE ltW// (lt_le_trans r0).
have room r z : 0 < r -> z < theta r -> exists2 s, r < s & z < theta s.
  move=> r0 lt; pose g := theta r - z; have g0 : 0 < g by rewrite subr_gt0.
  pose u := eps / t * (2 * r + 1) + 1; have u0 : 0 < u by rewrite ltr_spaddr// mulr_ge0//; lra.
  pose e := Num.min 1 (g / u); have ep : 0 < e by rewrite lt_minr ltr01 divr_gt0.
  have e1 : e <= 1 by rewrite le_minl lexx.
  have eu : e * u <= g by rewrite -ler_pdivl_mulr// le_minl lexx orbT.
  exists (r + e); first by rewrite ltr_addl.
  have sq : (r + e) ^+ 2 <= r ^+ 2 + e * (2 * r + 1).
    have : e * e <= e * 1 by apply: ler_wpmul2l => //; exact: ltW.
    lra.
  have := ler_wpmul2l et sq; rewrite /theta mulrDr mulrCA => h.
  have eE : e * u = e * (eps / t * (2 * r + 1)) + e by rewrite /u mulrDr mulr1.
  have gE : g = t / 2 - eps / t * r ^+ 2 - z by [].
  lra.
have [S [mS SE]] := seen_threshold v endless mf falls room.
have quotient w (u : R) : (theta (dev w) - u * t) / dev w = (1 / 2 - u) * t * (dev w)^-1 - eps / t * dev w.
  by rewrite /theta expr2 mulrA -addrA [- _ - _]addrC addrA mulrBl mulfK ?gt_eqF//; congr (_ - _); congr (_ * _); lra.
have Ex w : k x w S = (Phi (t / 2 * (dev w)^-1 - eps / t * dev w))%:E.
  rewrite (SE w x (or_introl erefl)) F; congr (Phi _)%:E; have := quotient w 0; rewrite mul0r !subr0 => ->.
  by congr (_ * _ - _); lra.
have Ex' w : k x' w S = (Phi (- (t / 2) * (dev w)^-1 - eps / t * dev w))%:E.
  rewrite (SE w x' (or_intror erefl)).
  rewrite (_ : [set y | _] = [set y | f y - v' < theta (dev w) - 1 * t]); last by apply/seteqP; split=> y; rewrite /mkset mul1r /t; lra.
  rewrite F' quotient; congr (Phi _)%:E; congr (_ * _ - _); lra.
have E w : H t eps w = fine (k x w S) - b * fine (k x' w S) by rewrite curve_number// Ex Ex'.
have tS z : test (fun w => fine (k z w S)).
  split=> [|w]; last exact: fine01 (k1 z w) mS.
  exact: measurable_fun_comp (@measurable_fun_fine _ _ measurableT) ((mk z).2 S mS).
have ME z : fine (M z S) = mean mixing (fun w => fine (k z w S)).
  by rewrite /mean /M /mixture/= /pushed; congr fine; apply: eq_integral => w _; rewrite fineK//; exact: mass_fin (k1 z w) mS.
have tH := curve_test eps (ltW t0).
have sum : mean mixing (fun w => fine (k x w S)) = curve_mean t eps + b * mean mixing (fun w => fine (k x' w S)).
  apply: EFin_inj; rewrite EFinD EFinM -(mean_int mixing1 (tS x)) -(mean_int mixing1 (tS x')) -(mean_int mixing1 tH).
  have [mx' _] := tS x'; have [mH _] := tH.
  rewrite -ge0_integralM//; last exact/EFin_measurable_fun.
  rewrite -ge0_integralD//.
  - by apply: eq_integral => w _; rewrite -EFinM -EFinD E subrK.
  - by move=> w _; rewrite lee_fin; exact: (test_ge0 w tH).
  - exact/EFin_measurable_fun.
  - by move=> w _; rewrite -EFinM lee_fin mulr_ge0//; exact: (test_ge0 w (tS x')).
  - by under eq_fun do rewrite -EFinM; apply/EFin_measurable_fun; exact: measurable_funrM.
have := profile_event (law_total M x) (law_total M x') b0 mS.
by rewrite !ME sum addrK.
Qed.

(* The norm of the difference is a supremum, which need not be attained: the curve does not jump at it. *)
Lemma curve_slow D D' eps w : 0 < D -> 0 < D' -> D' <= D -> H D eps w <= H D' eps w + expR eps * c * ((D - D') / dev w).
Proof.
move=> D0 D'0 DD; rewrite (normal_pair_curve normal eps (divr_gt0 D0 (dev0 w))) /gaussian_delta.
set m := D / dev w; set m' := D' / dev w; set t := m / 2 - eps / m.
have -> : - (m / 2) - eps / m = t - m by rewrite /t; lra.
have low := normal_pair_event normal 0 m' t (expR_ge0 eps); rewrite subr0 in low.
have near := normal_cdf_slow normal (t - m) (t - m').
have mm : `|t - m' - (t - m)| = (D - D') / dev w.
  have -> : t - m' - (t - m) = (D - D') / dev w by rewrite mulrBl -/m -/m'; lra.
  by rewrite ger0_norm// divr_ge0 ?subr_ge0// ltW.
have := ler_wpmul2l (expR_ge0 eps) (le_trans (ler_norm _) near); rewrite mm mulrBr mulrA; move: low; lra.
Qed.

Lemma curve_mean_limit D eps (u : R) : 0 < D -> (forall D', 0 < D' -> D' < D -> curve_mean D' eps <= u) -> curve_mean D eps <= u.
Proof.
move=> D0 le; pose r (n : nat) : R := D - D / n.+2%:R.
have rlt n : r n < D by rewrite ltr_subl_addr ltr_addl divr_gt0// ltr0n.
have r0 n : 0 < r n by rewrite subr_gt0 ltr_pdivr_mulr ?ltr0n// ltr_pmulr// ltr1n.
have rmono m n : (m <= n)%N -> r m <= r n.
  by move=> mn; rewrite ler_add2l ler_opp2; apply: ler_wpmul2l; [exact: ltW | rewrite lef_pinv ?posrE ?ltr0n// ler_nat !ltnS].
pose g n w : \bar R := (H (r n) eps w)%:E.
have tr n : test (fun w => H (r n) eps w) by apply: curve_test; exact: ltW.
have mg n : measurable_fun setT (g n) by apply/EFin_measurable_fun; have [] := tr n.
have g0 n w : setT w -> (0 <= g n w)%E by move=> _; rewrite lee_fin; exact: (test_ge0 w (tr n)).
have nd w : setT w -> {homo g ^~ w : m n / (m <= n)%N >-> (m <= n)%E}.
  by move=> _ m n mn; rewrite lee_fin; apply: grows; [exact: ltW | exact: rmono].
have above w : ((H D eps w)%:E <= lim (g ^~ w))%E.
  have cv := ereal_nondecreasing_cvg (nd w I); rewrite (cvg_lim _ cv)//; apply/lee_adde => e.
  pose K := expR eps * c * (D / dev w); have K0 : 0 <= K.
    by rewrite !mulr_ge0 ?expR_ge0//; [have [/ltW] := normal | exact: ltW | rewrite invr_ge0 ltW].
  pose n := Num.bound (K / e%:num); apply: (@le_trans _ _ (g n w + e%:num%:E)%E); last first.
    by apply: lee_add => //; apply: ereal_sup_ub; exists n.
  rewrite -EFinD lee_fin; apply: le_trans (curve_slow eps w D0 (r0 n) (ltW (rlt n))) _; rewrite ler_add2l.
  have -> : D - r n = D / n.+2%:R by rewrite /r opprB addrC subrK.
  have -> : expR eps * c * (D / n.+2%:R / dev w) = K / n.+2%:R by rewrite /K !mulrA mulrAC.
  rewrite ler_pdivr_mulr ?ltr0n// mulrC -ler_pdivr_mulr//; apply: (@le_trans _ _ n%:R); last by rewrite ler_nat leqW.
  by apply/ltW/archi_boundP; rewrite divr_ge0.
have tD := curve_test eps (ltW D0); have [mH _] := tD.
rewrite -lee_fin -(mean_int mixing1 tD); apply: (@le_trans _ _ (\int[mixing]_w lim (g ^~ w))%E).
  apply: ge0_le_integral => //.
  - by move=> w _; rewrite lee_fin; exact: (test_ge0 w tD).
  - exact/EFin_measurable_fun.
  - by move=> w _; apply: le_trans (above w); rewrite lee_fin; exact: (test_ge0 w tD).
  - by apply: (emeasurable_fun_cvg g) => // w _; apply: ereal_nondecreasing_is_cvg; exact: nd.
rewrite monotone_convergence//; apply: lime_le.
  by apply: ereal_nondecreasing_is_cvg => m n mn; apply: ge0_le_integral => // [w wT|w wT|w wT]; [exact: g0 | exact: g0 | exact: nd].
by apply: nearW => n; rewrite (mean_int mixing1 (tr n)) lee_fin; exact: le.
Qed.

(* The norm of the difference of the answers of x and x' is at least D: functionals of variance 1 see as much, up to any e > 0. *)
Definition norm_reaches (x x' : X) (D : R) := forall e, e < D -> exists f v v',
  [/\ functional law k dev x f v, functional law k dev x' f v' & e < v' - v].

(* The mean of the curves of normal laws that are D/dev w apart is above the curve where answers differ by norms of at most D, and below it where some
   reach D and the output has functionals without end; it does not fall with D. The answers are as far apart as this in each order of the neighbours. *)
(* Rule: elliptical-process, in part: not that what is computed of declared differences is their norm. *)
Theorem elliptical_process (D eps : R) : 0 <= D ->
  [/\ (0 < D)%R -> curve_mean D eps = mean mixing (fun w => gaussian_delta Phi (D / dev w) eps),
      forall D', (D <= D')%R -> (curve_mean D eps <= curve_mean D' eps)%R,
      (forall x x', N x x' -> within_norm x x' D) -> tight_delta_in_order N M eps <= (curve_mean D eps)%:E,
      forall x x', (0 <= eps)%R -> N x x' -> endless_functionals law k dev x x' -> norm_reaches x x' D ->
        (curve_mean D eps)%:E <= tight_delta_in_order N M eps &
      forall x x', (0 <= eps)%R -> N x x' -> endless_functionals law k dev x x' -> norm_reaches x x' D ->
        (forall y y', N y y' -> within_norm y y' D) -> tight_delta_in_order N M eps = (curve_mean D eps)%:E]%E.
Proof.
move=> D0; have up : (forall x x', N x x' -> within_norm x x' D) -> (tight_delta_in_order N M eps <= (curve_mean D eps)%:E)%E.
  move=> near; apply: curve_at_most => [|x x' xx]; last exact: curve_mean_upper (near x x' xx).
  exact: mean_ge0 (curve_test eps D0).
have low x x' : 0 <= eps -> N x x' -> endless_functionals law k dev x x' -> norm_reaches x x' D -> ((curve_mean D eps)%:E <= tight_delta_in_order N M eps)%E.
  move=> e0 xx endless reach; apply: (curve_at_least xx); move: D0 reach; rewrite le_eqVlt => /predU1P[<- _|Dp reach].
    have -> : curve_mean 0 eps = 0.
      rewrite /curve_mean -[RHS](mean_cst 0 mixing1); congr mean; apply/funext => w; rewrite mul0r (null_pair normal (expR_ge0 eps)).
      by rewrite max_l// subr_le0 -[leLHS](@expR0 R) ler_expR.
    by apply: profile_ge0; rewrite ?law_total ?expR_ge0.
  apply: curve_mean_limit => // D' D'0 lt; have [f [v [v' [F F' see]]]] := reach D' lt.
  have vv : v < v' by rewrite -subr_gt0 (lt_trans D'0 see).
  by apply: le_trans (curve_mean_lower endless F F' vv e0); apply: curve_mean_grows; exact: ltW.
split=> //; first by move=> Dp; congr mean; apply/funext => w; rewrite (normal_pair_curve normal eps (divr_gt0 Dp (dev0 w))).
- by move=> D' DD; exact: curve_mean_grows.
- by move=> x x' e0 xx endless reach near; apply/eqP; rewrite eq_le (up near) (low x x').
Qed.
End Curve.
