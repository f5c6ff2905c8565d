(* The rule mixture-concave (docs/theory/additive.md): scale mixtures of noise whose conditional exponents are concave have a concave exponent, -log of
   the mean of the conditional densities; so the rule on concave exponents gives their tight epsilon. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules kernels composition mixtures powers.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* The exponential lies below its chords. *)
Lemma exp_chord (R : realType) (x y t : R) : 0 <= t -> t <= 1 -> expR (t * x + (1 - t) * y) <= t * expR x + (1 - t) * expR y.
Proof.
move=> t0 t1; set m := t * x + (1 - t) * y.
have tangent z : expR m * (1 + (z - m)) <= expR z.
  have -> : expR z = expR m * expR (z - m) by rewrite -expRD; congr expR; lra.
  by rewrite ler_pmul2l ?expR_gt0//; exact: expR_ge1D.
have s0 : 0 <= 1 - t by lra.
have h1 := ler_wpmul2l t0 (tangent x); have h2 := ler_wpmul2l s0 (tangent y).
have e : t * (expR m * (1 + (x - m))) + (1 - t) * (expR m * (1 + (y - m))) = expR m by rewrite /m; lra.
lra.
Qed.

Section Means.
Context (R : realType) d (W : measurableType d) (mixing : {measure set W -> \bar R}) (h : W -> R -> R).
Hypotheses (mixing1 : mixing setT = 1%E) (mh : forall r, 0 <= r -> measurable_fun setT (fun w => expR (- h w r))).
Hypotheses (conc : forall w, concave_on_half (h w)) (rise : forall w, never_falls (h w)) (cont : forall w, continuous_at_distance (h w) 0).

Definition mean r : \bar R := (\int[mixing]_w (expR (- h w r))%:E)%E.
Hypothesis finite : (mean 0 < +oo)%E.
Definition exponent r : R := - ln (fine (mean r)).

Lemma mean_falls a b : 0 <= a -> a <= b -> (mean b <= mean a)%E.
Proof.
move=> a0 ab; apply: ge0_le_integral => //.
- by move=> w _; rewrite lee_fin expR_ge0.
- by apply/EFin_measurable_fun; apply: mh; exact: le_trans ab.
- by move=> w _; rewrite lee_fin expR_ge0.
- by apply/EFin_measurable_fun; exact: mh.
- by move=> w _; rewrite lee_fin ler_expR ler_opp2; exact: rise.
Qed.

Lemma mean_ge0 r : (0 <= mean r)%E.
Proof. by apply: integral_ge0 => w _; rewrite lee_fin expR_ge0. Qed.

Lemma mean_fin r : 0 <= r -> mean r \is a fin_num.
Proof.
move=> r0; rewrite ge0_fin_numE; last exact: mean_ge0.
by apply: le_lt_trans finite; exact: (mean_falls (lexx 0) r0).
Qed.

Lemma mean_gt0 r : 0 <= r -> 0 < fine (mean r).
Proof.
move=> r0; rewrite lt_neqAle fine_ge0 ?mean_ge0// andbT; apply/negP => /eqP E.
have : ae_eq mixing setT (fun w => (expR (- h w r))%:E) (cst 0%E).
  apply/ae_eq_integral_abs => //; first by apply/EFin_measurable_fun; exact: mh.
  transitivity (mean r); last by rewrite -(fineK (mean_fin r0)) -E.
  by apply: eq_integral => w _; rewrite /= ger0_norm ?expR_ge0.
move=> [A [mA A0 sub]].
have TA : setT `<=` A.
  move=> w _; apply: sub => /= /(_ I) [] /eqP; by rewrite gt_eqF// expR_gt0.
have : (mixing setT <= mixing A)%E by apply: le_measure; rewrite ?inE.
by rewrite A0 mixing1 lee_fin ler10.
Qed.

Lemma exponentK r : 0 <= r -> expR (- exponent r) = fine (mean r).
Proof. by move=> r0; rewrite /exponent opprK lnK// posrE mean_gt0. Qed.

Lemma meanE r : mean r = (\int[mixing]_w (expR (- h w r))%:E)%E. Proof. by []. Qed.

Lemma mean_scaled (k r : R) : 0 <= k -> 0 <= r -> (k%:E * mean r = \int[mixing]_w (k%:E * (expR (- h w r))%:E))%E.
Proof.
move=> k0 r0; apply/esym; apply: ge0_integralM; [exact: measurableT | apply/EFin_measurable_fun; exact: (mh r0) | | by rewrite lee_fin].
by move=> w _; rewrite lee_fin; exact: expR_ge0.
Qed.

Local Opaque mean exponent expR.
Lemma exponent_concave : concave_on_half exponent.
Proof.
move=> a b t a0 b0 t0 t1; set r := t * a + (1 - t) * b.
have s0 : 0 <= 1 - t by lra.
have r0 : 0 <= r by rewrite /r addr_ge0// mulr_ge0.
set E := t * exponent a + (1 - t) * exponent b.
suff : expR (- exponent r) <= expR (- E) by rewrite ler_expR ler_opp2.
pose ka := expR (- E) * (t * expR (exponent a)); pose kb := expR (- E) * ((1 - t) * expR (exponent b)).
have ka0 : 0 <= ka by rewrite !mulr_ge0// expR_ge0.
have kb0 : 0 <= kb by rewrite !mulr_ge0// expR_ge0.
have gen (u1 u2 u3 u4 u5 : R) : u1 * (t * u2) * u4 + u1 * ((1 - t) * u3) * u5 = u1 * (t * (u2 * u4) + (1 - t) * (u3 * u5)).
  by rewrite mulrDr !mulrA.
have point w : expR (- h w r) <= ka * expR (- h w a) + kb * expR (- h w b).
  have c1 := conc w a0 b0 t0 t1; rewrite -/r in c1.
  apply: (@le_trans _ _ (expR (- E) * expR (t * (exponent a - h w a) + (1 - t) * (exponent b - h w b)))).
    rewrite -expRD ler_expR /E; move: (exponent a) (exponent b) (h w a) (h w b) (h w r) c1 => ea eb ha hb hr c1; lra.
  have -> : ka * expR (- h w a) + kb * expR (- h w b) = expR (- E) * (t * expR (exponent a - h w a) + (1 - t) * expR (exponent b - h w b)).
    by rewrite (expRD (exponent a)) (expRD (exponent b)); exact: gen.
  by rewrite ler_pmul2l ?expR_gt0//; exact: exp_chord.
have kaE : ka = expR (- E) * (t * expR (exponent a)) := erefl ka.
have kbE : kb = expR (- E) * ((1 - t) * expR (exponent b)) := erefl kb.
clearbody ka kb.
have : (mean r <= ka%:E * mean a + kb%:E * mean b)%E.
  rewrite (mean_scaled ka0 a0) (mean_scaled kb0 b0) (meanE r).
  have mk (k : R) x : 0 <= x -> measurable_fun setT (fun w => (k%:E * (expR (- h w x))%:E)%E).
    by move=> x0; apply: measurable_funeM; apply/EFin_measurable_fun; exact: mh.
  have po (k : R) x w : 0 <= k -> (0 <= k%:E * (expR (- h w x))%:E)%E by move=> k0; rewrite -EFinM lee_fin mulr_ge0// expR_ge0.
  rewrite -(ge0_integralD mixing measurableT (fun w _ => po ka a w ka0) (mk ka a a0) (fun w _ => po kb b w kb0) (mk kb b b0)).
  apply: ge0_le_integral.
  - exact: measurableT.
  - by move=> w _; rewrite lee_fin; exact: expR_ge0.
  - by apply/EFin_measurable_fun; exact: (mh r0).
  - by move=> w _; rewrite adde_ge0 ?po.
  - by apply: emeasurable_funD; [exact: (mk ka a a0) | exact: (mk kb b b0)].
  - by move=> w _; rewrite -!EFinM -EFinD lee_fin; exact: point.
rewrite -(fineK (mean_fin r0)) -(fineK (mean_fin a0)) -(fineK (mean_fin b0)) -!EFinM -EFinD lee_fin -(exponentK r0) -(exponentK a0) -(exponentK b0).
have cancel x : expR (exponent x) * expR (- exponent x) = 1 by rewrite -expRD subrr expR0.
have -> : ka * expR (- exponent a) + kb * expR (- exponent b) =
  expR (- E) * (t * (expR (exponent a) * expR (- exponent a)) + (1 - t) * (expR (exponent b) * expR (- exponent b))).
  by rewrite kaE kbE; exact: gen.
have one : t * (expR (exponent a) * expR (- exponent a)) + (1 - t) * (expR (exponent b) * expR (- exponent b)) = 1.
  apply: (etrans (f_equal2 (fun u v => t * u + (1 - t) * v) (cancel a) (cancel b))).
  by rewrite !mulr1 addrC subrK.
move: one; move: (t * _ + _) => u one le; apply: (le_trans le).
by rewrite one mulr1.
Qed.

Lemma exponent_falls_back a b : 0 <= a -> a <= b -> exponent a <= exponent b.
Proof.
move=> a0 ab; have b0 := le_trans a0 ab.
suff : expR (- exponent b) <= expR (- exponent a) by rewrite ler_expR ler_opp2.
have ea := exponentK a0; have eb := exponentK b0; have fa := mean_fin a0; have fb := mean_fin b0; have le := mean_falls a0 ab.
by move: (mean a) (mean b) (exponent a) (exponent b) ea eb fa fb le => ma mb xa xb -> -> fa fb le; exact: fine_le.
Qed.

(* The mean at a small distance tends to that at 0: monotone convergence. *)
Lemma exponent_continuous : continuous_at_distance exponent 0.
Proof.
move=> s s0; pose g n w := (expR (- h w n.+1%:R^-1))%:E.
have pos n : 0 <= n.+1%:R^-1 :> R by rewrite invr_ge0 ler0n.
have real_lim w : (fun n : nat => expR (- h w n.+1%:R^-1)) --> expR (- h w 0).
  apply/cvgrPdist_lt => e e0.
  have /cvgrPdist_lt/(_ e e0)/nbhs_ballP[dl /= dl0 near_e] := @continuous_expR R (- h w 0).
  have [r r0 near_h] := cont w dl0.
  apply: filterS (near_infty_natSinv_lt (PosNum r0)) => n small; apply: near_e; rewrite /ball/=.
  rewrite (_ : - h w 0 - - h w n.+1%:R^-1 = h w n.+1%:R^-1 - h w 0); last by rewrite opprK addrC.
  by apply: near_h; rewrite ?pos// subr0 ger0_norm ?pos.
have lim_g w : (g ^~ w) --> (expR (- h w 0))%:E.
  by apply: cvg_EFin; [exact: nearW | exact: real_lim].
have nd w : nondecreasing_seq (g ^~ w).
  move=> n n' nn; rewrite lee_fin ler_expR ler_opp2; apply: rise; first exact: pos.
  by rewrite lef_pinv ?posrE ?ltr0n// ler_nat.
have mg n : measurable_fun setT (g n) by apply/EFin_measurable_fun; exact: mh.
have g0 n w : setT w -> (0 <= g n w)%E by move=> _; rewrite lee_fin expR_ge0.
have E : mean 0 = lim (fun n => \int[mixing]_w g n w)%E.
  rewrite -(monotone_convergence mixing measurableT mg g0 (fun w _ => nd w)); apply: eq_integral => w _.
  by apply/esym/cvg_lim => //; exact: lim_g.
have G0 := mean_gt0 (lexx 0); have s1 : expR (- s) < 1 by rewrite -expR0 ltr_expR oppr_lt0.
pose K := fine (mean 0) * expR (- s).
have [n big] : exists n : nat, (K%:E < mean n.+1%:R^-1)%E.
  apply: contrapT => none; have le n : (mean n.+1%:R^-1 <= K%:E)%E.
    by rewrite leNgt; apply/negP => lt; apply: none; exists n.
  have h0 : (mean 0 <= K%:E)%E.
    rewrite E; apply: lime_le; last by apply: nearW => n; exact: le.
    apply: ereal_nondecreasing_is_cvg => n n' nn; apply: ge0_le_integral => //; [exact: g0 | exact: g0 | move=> w _; exact: nd].
  have h1 : fine (mean 0) <= K by rewrite -lee_fin (fineK (mean_fin (lexx 0))).
  have lt : K < fine (mean 0) by rewrite /K gtr_pmulr.
  by have := lt_le_trans lt h1; rewrite ltxx.
have bigR : K < fine (mean n.+1%:R^-1) by rewrite -lte_fin (fineK (mean_fin (pos n))).
have up : exponent n.+1%:R^-1 < exponent 0 + s.
  suff : expR (- (exponent 0 + s)) < expR (- exponent n.+1%:R^-1) by rewrite ltr_expR ltr_opp2.
  have k0 := exponentK (lexx 0); have kn := exponentK (pos n); rewrite -kn in bigR; apply: le_lt_trans bigR.
  have -> : K = expR (- exponent 0) * expR (- s) := f_equal (fun z => z * expR (- s)) (esym k0).
  by rewrite -expRD -opprD.
exists n.+1%:R^-1; first by rewrite invr_gt0 ltr0n.
move=> x x0; rewrite subr0 ger0_norm// => xn.
have h1 := exponent_falls_back (lexx 0) x0; have h2 := exponent_falls_back x0 (ltW xn).
move: (exponent 0) (exponent x) (exponent n.+1%:R^-1) up h1 h2 => e0 ex en up h1 h2.
by rewrite ger0_norm ?subr_ge0// ltr_subl_addl (le_lt_trans h2).
Qed.
End Means.
