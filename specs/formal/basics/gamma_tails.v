(* The tails of gamma laws (docs/theory/utility.md, far noise; docs/theory/spaces.md, noise near): Q(p, t) is the part beyond t of the integral of
   s^(p - 1) e^-s over s > 0, which is finite; Q(1, t) = e^-t, and Q(p, t) is at most 2^p e^(-t/2). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels likelihood powers laplace_curve laplace_renyi scale_integrals power_integrals norm_length.
Import numFieldNormedType.Exports.

Section Tails.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Notation tail p := (power_tail p (fun s : R => expR (- s))).
Implicit Types (p t s : R).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.

Definition gamma_weight p s : R := pw (p - 1) s * expR (- s).

Lemma gamma_weight_gt0 p s : 0 < gamma_weight p s. Proof. exact: mulr_gt0 (pw_gt0 _ _) (expR_gt0 _). Qed.
Let w0 p s : 0 <= gamma_weight p s. Proof. exact/ltW/gamma_weight_gt0. Qed.

Lemma measurable_falling : measurable_fun setT (fun s : R => expR (- s)).
Proof. by apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funN; exact: measurable_fun_id. Qed.

Lemma measurable_gamma_weight p : measurable_fun setT (gamma_weight p).
Proof. by apply: measurable_funM; [exact: measurable_pw | exact: measurable_falling]. Qed.
Let mw p D : measurable_fun D (EFin \o gamma_weight p).
Proof. by apply/EFin_measurable_fun; apply: measurable_funTS; exact: measurable_gamma_weight. Qed.

(* e^-s is at most (k/s)^k. *)
Lemma falls_fast k s : 0 < k -> 0 < s -> expR (- s) <= pw k k * pw (- k) s.
Proof.
move=> k0 s0; rewrite /pw -expRD ler_expR.
have h : ln (s / k) < s / k by apply: ln_sublinear; exact: divr_gt0.
have e : k * (s / k) = s by rewrite mulrCA divff ?gt_eqF// mulr1.
have := ltW h; rewrite -(ler_pmul2l k0) e ln_div ?posrE// mulrBr; lra.
Qed.

Lemma gamma_finite p t : 0 < p -> 0 <= t -> (tail p t < +oo)%E.
Proof.
move=> p0 t0; pose k := p + 1; have k0 : 0 < k by rewrite addr_gt0.
pose B : R := p^-1 + pw k k; have B0 : 0 <= pw k k by exact/ltW/pw_gt0.
apply: (@le_lt_trans _ _ B%:E); last by rewrite ltry.
have sub : (tail p t <= tail p 0)%E.
  apply: subset_integral; [exact: mI | exact: mI | exact: (mw p) | by move=> s _; rewrite lee_fin; exact: w0 |].
  by move=> s /=; rewrite !in_itv/= !andbT; exact: le_lt_trans.
apply: le_trans sub _.
pose W : {measure set (line R) -> \bar R} := [the measure _ _ of weighted leb (measurable_gamma_weight p) (w0 p)].
pose F (n : nat) : set (line R) := `]0, n%:R]%classic.
have FE : `]0%R, +oo[%classic = \bigcup_n F n.
  apply/seteqP; split=> s /=; rewrite ?in_itv/= ?andbT; last by move=> [n _]; rewrite /F/= in_itv/= => /andP[].
  by move=> s0; exists (Num.bound s) => //; rewrite /F/= in_itv/= s0/= ltW// archi_boundP// ltW.
have c : (W \o F) --> W `]0%R, +oo[%classic.
  rewrite FE; apply: nondecreasing_cvg_mu => //; [by move=> n; exact: mI | by apply: bigcupT_measurable => n; exact: mI |].
  by move=> m n mn; apply/subsetPset => s; rewrite /F/= !in_itv/= => /andP[-> h] /=; apply: le_trans h _; rewrite ler_nat.
have -> : tail p 0 = W `]0%R, +oo[%classic by [].
rewrite -(cvg_lim (@ereal_hausdorff R) c); apply: lime_le; first by apply/cvg_ex; eexists; exact: c.
apply: nearW => n.
have low : (W `]0%R, 1%R]%classic <= (p^-1)%:E)%E.
  have -> : p^-1 = pw p 1 / p by rewrite /pw ln1 mulr0 expR0 mul1r.
  rewrite -integral_power_from0//; apply: ge0_le_integral; [exact: mI | by move=> s _; rewrite lee_fin; exact: w0 | exact: (mw p) | | |].
  - by move=> s _; rewrite lee_fin ltW// pw_gt0.
  - by apply/EFin_measurable_fun; apply: measurable_funTS; exact: measurable_pw.
  - move=> s /=; rewrite in_itv/= => /andP[s0 _]; rewrite lee_fin ger_pmulr ?pw_gt0//.
    by rewrite -expR0 ler_expR oppr_le0 ltW.
have high : (W `]1%R, n.+1%:R]%classic <= (pw k k)%:E)%E.
  have n1 : 1 <= n.+1%:R :> R by rewrite ler1n.
  have m1 : -1 != 0 :> R by rewrite oppr_eq0 oner_eq0.
  apply: (@le_trans _ _ ((pw k k)%:E * \int[leb]_(s in `]1%R, n.+1%:R]%classic) (pw (- 1 - 1) s)%:E)%E).
    rewrite -(integral_scaled leb B0 (fun s => ltW (pw_gt0 (- 1 - 1) s)) (@measurable_pw R (- 1 - 1)) (mI `]1%R, n.+1%:R])).
    apply: ge0_le_integral; [exact: mI | by move=> s _; rewrite lee_fin; exact: w0 | exact: (mw p) | | |].
    - by move=> s _; rewrite lee_fin mulr_ge0// ltW// pw_gt0.
    - by apply/EFin_measurable_fun; apply: measurable_funTS; apply: measurable_funrM; exact: measurable_pw.
    - move=> s /=; rewrite in_itv/= => /andP[s1 _]; have s0 : 0 < s by exact: lt_trans s1.
      have e : pw (p - 1) s * pw (- k) s = pw (- 1 - 1) s by rewrite -pwD /k opprD addrACA subrr add0r.
      have h := ler_wpmul2l (ltW (pw_gt0 (p - 1) s)) (falls_fast k0 s0); rewrite mulrCA e in h.
      by rewrite lee_fin; exact: h.
  rewrite (integral_power m1 ltr01 n1) -EFinM lee_fin ger_pmulr; last exact: pw_gt0.
  have -> : pw (- 1) 1 = 1 :> R by rewrite pwV// invr1.
  by rewrite invrN invr1 mulrN1 opprB ger_addl oppr_le0; exact/ltW/pw_gt0.
apply: (@le_trans _ _ (W (`]0%R, 1%R]%classic `|` `]1%R, n.+1%:R]%classic))).
  apply: le_measure; rewrite ?inE; [exact: mI | by apply: measurableU; exact: mI |].
  move=> s /=; rewrite /F/= !in_itv/= => /andP[s0 sn]; have [h|h] := leP s 1; [by left; rewrite s0 | right].
  by apply: le_trans sn _; rewrite ler_nat.
rewrite measureU; [|exact: mI|exact: mI|]; first by rewrite EFinD; exact: lee_add.
by apply/seteqP; split=> s //=; rewrite !in_itv/= => -[/andP[_ h] /andP[h' _]]; move: h'; rewrite ltNge h.
Qed.

Lemma gamma_tail_fin p t : 0 < p -> 0 <= t -> (fine (tail p t))%:E = tail p t.
Proof.
move=> p0 t0; rewrite fineK// ge0_fin_numE ?gamma_finite//.
by apply: integral_ge0 => s _; rewrite lee_fin; exact: w0.
Qed.

Lemma tail_ge0 p t : 0 <= fine (tail p t).
Proof. by rewrite fine_ge0//; apply: integral_ge0 => s _; rewrite lee_fin; exact: w0. Qed.

(* The Gamma function. *)
Definition Gamma p : R := fine (tail p 0).

Lemma Gamma_gt0 p : 0 < p -> 0 < Gamma p.
Proof.
move=> p0; rewrite lt_neqAle tail_ge0 andbT eq_sym; apply/eqP => e.
have T0 : tail p 0 = 0%E by rewrite -gamma_tail_fin// -/(Gamma p) e.
have : ae_eq leb `]0%R, +oo[%classic (EFin \o gamma_weight p) (cst 0%E).
  apply/ae_eq_integral_abs; [exact: mI | exact: (mw p) |].
  by rewrite -T0; apply: eq_integral => s _; rewrite /= ger0_norm// w0.
move=> [A [mA A0 sub]].
have SA : `]0%R, 1%R]%classic `<=` A.
  move=> s /=; rewrite in_itv/= => /andP[s0 _]; apply: sub => /=; apply/not_implyP; split; first by rewrite in_itv/= andbT.
  by move=> [] h; have := gamma_weight_gt0 p s; rewrite h ltxx.
have : (leb `]0%R, 1%R]%classic <= leb A)%E by apply: le_measure; rewrite ?inE//; exact: mI.
by rewrite A0 lebesgue_measure_itv hlength_itv/= lte_fin ltr01 -EFinB lee_fin subr0 ler10.
Qed.

Lemma gamma_tail0 p : 0 < p -> gamma_tail p 0 = 1.
Proof. by move=> p0; rewrite /gamma_tail /tail_part divff// gt_eqF//; exact: Gamma_gt0. Qed.

Lemma gamma_tail_falls p s t : 0 < p -> 0 <= s -> s <= t -> gamma_tail p t <= gamma_tail p s.
Proof.
move=> p0 s0 st; rewrite /gamma_tail /tail_part ler_pmul2r ?invr_gt0 ?Gamma_gt0//.
rewrite -lee_fin !gamma_tail_fin//; last exact: le_trans st.
apply: subset_integral; [exact: mI | exact: mI | exact: (mw p) | by move=> u _; rewrite lee_fin; exact: w0 |].
by move=> u /=; rewrite !in_itv/= !andbT; exact: le_lt_trans.
Qed.

(* The shape 1: the tail of the exponential law. *)
Lemma gamma_tail1 t : 0 <= t -> gamma_tail 1 t = expR (- t).
Proof.
move=> t0; have mf := measurable_falling; have f0 s : 0 <= expR (- s) :> R by exact: expR_ge0.
have one u : tail 1 u = (\int[leb]_(s in `]u, +oo[%classic) (expR (- s))%:E)%E.
  by apply: eq_integral => s _; rewrite subrr /pw mul0r expR0 mul1r.
have e : tail 1 t = ((expR (- t))%:E * tail 1 0)%E.
  rewrite !one (integral_preserved (measurable_translation t) (lebesgue_translation t) mf f0 (mI `]t, +oo[)).
  rewrite -(integral_scaled leb (expR_ge0 (- t)) f0 mf (mI `]0, +oo[)).
  rewrite (_ : _ @^-1` _ = `]0, +oo[%classic); last by apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT ltr_addr.
  by apply: eq_integral => s _; rewrite -expRD; congr (expR _)%:E; lra.
rewrite /gamma_tail /tail_part e -(gamma_tail_fin ltr01 (lexx 0)) -EFinM /= mulfK// gt_eqF//; exact: Gamma_gt0.
Qed.

(* By the mean of e^(s/2). *)
Lemma gamma_tail_le p t : 0 < p -> 0 <= t -> gamma_tail p t <= pw p 2 * expR (- (t / 2)).
Proof.
move=> p0 t0; rewrite /gamma_tail /tail_part ler_pdivr_mulr; last exact: Gamma_gt0.
have half0 : 0 < 2^-1 :> R by rewrite invr_gt0.
pose h (s : R) : R := pw (p - 1) s * expR (- (s / 2)).
have h0 s : 0 <= h s by rewrite mulr_ge0 ?expR_ge0// ltW// pw_gt0.
have mh : measurable_fun setT h.
  apply: measurable_funM; first exact: measurable_pw.
  rewrite (_ : (fun s => _) = (fun s : R => expR (2^-1 * (- s)))); last by apply/funext => s; congr expR; lra.
  by apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funrM; apply: measurable_funN; exact: measurable_fun_id.
have scaled : (\int[leb]_(s in `]0%R, +oo[%classic) (h s)%:E = (pw p 2)%:E * tail p 0)%E.
  rewrite /power_tail (integral_stretched 0 (ltr0Sn R 1) mh h0 (mI `]0%R, +oo[)).
  rewrite (_ : _ @^-1` _ = `]0, +oo[%classic); last first.
    by apply/seteqP; split=> y /=; rewrite !in_itv/= !andbT add0r subr0 pmulr_rgt0.
  rewrite -(integral_scaled leb (ltW (pw_gt0 p 2)) (w0 p) (measurable_gamma_weight p) (mI `]0, +oo[)).
  have k0 : 0 <= 2 :> R by [].
  rewrite -(integral_scaled leb k0 (fun s => h0 (0 + 2 * (s - 0))) (measurable_fun_comp mh (measurable_stretch 0 2)) (mI `]0, +oo[)).
  apply: eq_integral => s; rewrite inE/= in_itv/= andbT => s0; congr EFin.
  have e2 : 2 * pw (p - 1) 2 = pw p 2 by rewrite -{1}(pw1 (ltr0Sn R 1)) -pwD addrC subrK.
  have e3 : 2 * s / 2 = s by rewrite mulrAC divff ?mul1r// pnatr_eq0.
  by rewrite /h /gamma_weight add0r subr0 (pwM _ (ltr0Sn R 1) s0) e3 -e2 -!mulrA.
have e0 := expR_ge0 (- (t / 2)).
have mhD D : measurable_fun D (EFin \o h) by apply/EFin_measurable_fun; exact: measurable_funTS.
have -> : pw p 2 * expR (- (t / 2)) * fine (tail p 0) = expR (- (t / 2)) * (pw p 2 * fine (tail p 0)) by rewrite mulrAC mulrC.
rewrite -lee_fin (gamma_tail_fin p0 t0) (EFinM (expR _)) (EFinM (pw p 2)) (gamma_tail_fin p0 (lexx 0)) -scaled.
apply: (@le_trans _ _ ((expR (- (t / 2)))%:E * \int[leb]_(s in `]t, +oo[%classic) (h s)%:E)%E).
  rewrite -(integral_scaled leb e0 h0 mh (mI `]t, +oo[)).
  apply: ge0_le_integral; [exact: mI | by move=> s _; rewrite lee_fin; exact: w0 | exact: (mw p) | | |].
  - by move=> s _; rewrite lee_fin mulr_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funTS; apply: measurable_funrM.
  - move=> s /=; rewrite in_itv/= andbT => ts; rewrite lee_fin mulrCA ler_pmul2l ?pw_gt0// -expRD ler_expR; lra.
apply: lee_wpmul2l; first by rewrite lee_fin.
apply: subset_integral; [exact: mI | exact: mI | exact: mhD | by move=> s _; rewrite lee_fin |].
by move=> s /=; rewrite !in_itv/= !andbT; exact: le_lt_trans.
Qed.
End Tails.
