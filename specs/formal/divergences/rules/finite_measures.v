(* What the Renyi divergence of renyi.v says of densities, as specs/definitions.md has it: of order a it is at most t exactly where the mean
   under P of e^((a - 1) loss), the loss being log p - log q, is at most e^((a - 1) t). That mean is the integral of p^a q^(1 - a), and it is
   infinite where Q has a zero that P has not. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood powers means renyi.
Import numFieldNormedType.Exports.

Lemma eventually_above (R : realType) (x : R) : \forall n \near \oo, x <= n.+1%:R.
Proof.
exists `|ceil x|%N => // n /= h; apply: (le_trans (ceil_ge x)); apply: (@le_trans _ _ `|ceil x|%N%:R).
  by rewrite natr_absz ler_int ler_norm.
by rewrite ler_nat; apply: leq_trans h _.
Qed.

Section Moments.
Context (R : realType) d (T : measurableType d) (mu P Q : {measure set T -> \bar R}) (p q : T -> R).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (Pp : has_density mu P p) (Qq : has_density mu Q q).

(* e^((a - 1) loss): infinite where Q alone has no mass. *)
Definition loss_power a y : \bar R := if p y == 0 then 0%E else if q y == 0 then +oo%E else (expR ((a - 1) * (ln (p y) - ln (q y))))%:E.

(* Its mean under P. *)
Definition moment a : \bar R := (\int[P]_y loss_power a y)%E.

Lemma p_ge0 y : 0 <= p y. Proof. by have [h _ _] := Pp. Qed.
Lemma q_ge0 y : 0 <= q y. Proof. by have [h _ _] := Qq. Qed.

(* Means under a law with a density, as integrals. *)
Lemma mean_density (W : {measure set T -> \bar R}) w g : W setT = 1%E -> has_density mu W w -> test g ->
  ((mean W g)%:E = \int[mu]_y (w y * g y)%:E)%E.
Proof.
move=> W1 Ww tg; have [mg _] := tg; rewrite -mean_int// (integral_density Ww).
- by apply: eq_integral => y _; rewrite EFinM.
- exact/EFin_measurable_fun.
- by move=> y; rewrite lee_fin; exact: test_ge0.
Qed.

Lemma loss_power_ge0 a y : (0 <= loss_power a y)%E.
Proof. by rewrite /loss_power; case: ifP => // _; case: ifP => // _; rewrite lee_fin expR_ge0. Qed.

Lemma loss_powerE a y : 0 < p y -> 0 < q y -> loss_power a y = (pow (a - 1) (p y / q y))%:E.
Proof. by move=> p0 q0; rewrite /loss_power !gt_eqF// pow_pos ?divr_gt0// ln_div ?posrE. Qed.

(* The ratio p/q, at most n, over n. *)
Definition capped (n : R) y : R := if n * q y < p y then 1 else p y / (n * q y).

Lemma capped_above n y s : 0 < n -> 0 <= s -> s < 1 -> (s < capped n y) = (s * n * q y < p y).
Proof.
move=> n0 s0 s1; have q0 := q_ge0 y; have p0 := p_ge0 y; rewrite /capped; case: (ltP (n * q y) (p y)) => h.
  rewrite s1; apply/esym; apply: le_lt_trans h; rewrite -mulrA -[leRHS]mul1r; apply: ler_wpmul2r; last exact: ltW.
  by rewrite mulr_ge0// ltW.
move: q0; rewrite le_eqVlt => /orP[/eqP q0|q0].
  move: h; rewrite -q0 !mulr0 invr0 mulr0 => h.
  have -> : p y = 0 by apply/eqP; rewrite eq_le h p0.
  by rewrite ltxx ltNge s0.
by rewrite ltr_pdivl_mulr ?mulr_gt0// mulrA.
Qed.

Lemma capped01 n y : 0 < n -> 0 <= capped n y <= 1.
Proof.
move=> n0; have q0 := q_ge0 y; have p0 := p_ge0 y; rewrite /capped; case: (ltP (n * q y) (p y)) => h; first by rewrite ler01 lexx.
have nq : 0 <= n * q y by rewrite mulr_ge0// ltW.
rewrite divr_ge0//=; move: nq; rewrite le_eqVlt => /orP[/eqP nq|nq]; first by rewrite -nq invr0 mulr0 ler01.
by rewrite ler_pdivr_mulr// mul1r.
Qed.

Lemma test_capped n : 0 < n -> test (capped n).
Proof.
move=> n0; have [_ mp _] := Pp; have [_ mq _] := Qq; split=> [mT|y]; last exact: capped01.
apply: (measurability (RGenOInfty.measurableE R)) => // _ [_ [s ->] <-]; rewrite setTI.
have [s0|s0] := ltP s 0.
  rewrite (_ : _ @^-1` _ = setT)//; apply/seteqP; split=> y //= _.
  by rewrite in_itv/= andbT (lt_le_trans s0)//; case/andP: (capped01 y n0).
have [s1|s1] := leP 1 s.
  rewrite (_ : _ @^-1` _ = set0)//; apply/seteqP; split=> y //=; rewrite in_itv/= andbT.
  by rewrite ltNge (le_trans _ s1)//; case/andP: (capped01 y n0).
rewrite (_ : _ @^-1` _ = above p q 1 (s * n)); first exact: measurable_above.
by apply/seteqP; split=> y; rewrite /above/= in_itv/= andbT capped_above// mul1r.
Qed.

(* n^(a - 1) times its power rises to e^((a - 1) loss). *)
Definition capped_power a (n : nat) y : R := pow (a - 1) (n.+1%:R * capped n.+1%:R y).

Lemma cappedE (n : nat) y : n.+1%:R * capped n.+1%:R y = if p y == 0 then 0 else if q y == 0 then n.+1%:R else Num.min (p y / q y) n.+1%:R.
Proof.
have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
have q0 := q_ge0 y; have p0 := p_ge0 y; rewrite /capped.
have [pz|pn] := eqVneq (p y) 0.
  by rewrite pz ltNge mulr_ge0 ?(ltW n0)//= mul0r mulr0.
have {pn} {}p0 : 0 < p y by rewrite lt_neqAle eq_sym pn.
have [qz|qn] := eqVneq (q y) 0; first by rewrite qz mulr0 p0 mulr1.
have {qn} {}q0 : 0 < q y by rewrite lt_neqAle eq_sym qn.
rewrite -ltr_pdivl_mulr//; case: ltP => h.
  by rewrite mulr1.
by rewrite invfM mulrCA mulVKf ?gt_eqF//.
Qed.

Lemma capped_power_rises a y : 1 < a -> {homo (capped_power a ^~ y) : m n / (m <= n)%N >-> m <= n}.
Proof.
move=> a1 m n mn; apply: pow_le; first by rewrite subr_ge0 ltW.
  by rewrite mulr_ge0 ?ler0n//; case/andP: (capped01 y (ltr0Sn R m)).
have mnR : m.+1%:R <= n.+1%:R :> R by rewrite ler_nat.
rewrite !cappedE; case: ifP => // _; case: ifP => // _.
by rewrite le_minr le_minl lexx/= le_minl mnR orbT.
Qed.

Lemma capped_power_limit a y : 1 < a -> (fun n => (capped_power a n y)%:E) --> loss_power a y.
Proof.
move=> a1; have a0 : 0 < a - 1 by rewrite subr_gt0.
have q0 := q_ge0 y; have p0 := p_ge0 y.
have [pz|pn] := eqVneq (p y) 0.
  rewrite /loss_power pz eqxx; apply: cvg_near_cst; near=> n.
  by rewrite /capped_power cappedE pz eqxx pow0.
have {pn} {}p0 : 0 < p y by rewrite lt_neqAle eq_sym pn.
have [qz|qn] := eqVneq (q y) 0.
  rewrite /loss_power gt_eqF// qz eqxx; apply/cvgeryP/cvgryPge => A.
  pose B := Num.max A 1; have B0 : 0 < B by rewrite lt_maxr ltr01 orbT.
  near=> n; apply: (@le_trans _ _ B); first by rewrite le_maxr lexx.
  rewrite /capped_power cappedE gt_eqF// qz eqxx.
  have -> : B = pow (a - 1) (pow (a - 1)^-1 B) by rewrite pow_pow ?(ltW B0)// divff ?gt_eqF// pow_one// ltW.
  apply: pow_le; [exact: ltW | exact: pow_ge0 |].
  near: n; exact: eventually_above.
have {qn} {}q0 : 0 < q y by rewrite lt_neqAle eq_sym qn.
rewrite loss_powerE//; apply: cvg_near_cst; near=> n.
rewrite /capped_power cappedE !gt_eqF// min_l//.
near: n; exact: eventually_above.
Unshelve. all: by end_near.
Qed.
Lemma capped_mass a n y : 1 < a -> 0 < n -> q y * pow a (capped n y) <= n^-1 * (p y * pow (a - 1) (capped n y)).
Proof.
move=> a1 n0; have q0 := q_ge0 y; have p0 := p_ge0 y; have /andP[r0 _] := capped01 y n0.
have le : n * (q y * capped n y) <= p y.
  rewrite /capped; case: (ltP (n * q y) (p y)) => h; first by rewrite mulr1 ltW.
  have [qz|qn] := eqVneq (q y) 0; first by rewrite qz mul0r mulr0.
  by rewrite [n * (_ * _)]mulrA mulrCA mulfV ?mulr1// mulf_neq0// gt_eqF.
have -> : pow a (capped n y) = capped n y * pow (a - 1) (capped n y).
  rewrite -[X in X * _](pow_one r0) powD// addrC subrK; case: ifP => [/eqP ->|] //; exact: pow0.
rewrite mulrA [leRHS]mulrA; apply: ler_wpmul2r; first exact: pow_ge0.
by rewrite ler_pdivl_mull.
Qed.

Lemma capped_bound a t (n : nat) : 1 < a -> renyi a t P Q -> (\int[P]_y (capped_power a n y)%:E <= (expR ((a - 1) * t))%:E)%E.
Proof.
move=> a1 h; have a0 : 0 < a - 1 by rewrite subr_gt0.
have ap : 0 < a by exact: lt_trans a1.
have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
set r := capped n.+1%:R; have tr : test r := test_capped n0; have tra := test_pow ap tr; have tr1 := test_pow a0 tr.
set X := mean P (fun y => pow (a - 1) (r y)); have X0 : 0 <= X by exact: mean_ge0.
have sa : share a * a = a - 1 by rewrite /share mulrBl mul1r mulVf ?gt_eqF.
have hX : X <= expR (share a * t) * pow (share a) (mean Q (fun y => pow a (r y))).
  rewrite /X (_ : (fun y => pow (a - 1) (r y)) = (fun y => pow (share a) (pow a (r y)))); first exact: h.
  by apply/funext => y; rewrite pow_pow ?sa//; exact: test_ge0.
have hQ : mean Q (fun y => pow a (r y)) <= n.+1%:R^-1 * X.
  have mX : measurable_fun setT (fun y => (p y * pow (a - 1) (r y))%:E).
    by have [_ mp _] := Pp; have [mr _] := tr1; apply/EFin_measurable_fun; exact: measurable_funM.
  have X0' y : setT y -> (0 <= (p y * pow (a - 1) (r y))%:E)%E by move=> _; rewrite lee_fin mulr_ge0 ?p_ge0// pow_ge0.
  have ni : (0 <= (n.+1%:R^-1 : R)%:E)%E by rewrite lee_fin invr_ge0 ltW.
  rewrite -lee_fin EFinM (mean_density Q1 Qq tra) (mean_density P1 Pp tr1) -(ge0_integralM mu measurableT mX X0' ni).
  apply: ge0_le_integral => //.
  - by move=> y _; rewrite lee_fin mulr_ge0 ?q_ge0// pow_ge0.
  - by have [_ mq _] := Qq; have [mr _] := tra; apply/EFin_measurable_fun; exact: measurable_funM.
  - by move=> y _; rewrite -EFinM lee_fin mulr_ge0 ?invr_ge0 ?(ltW n0)// mulr_ge0 ?p_ge0// pow_ge0.
  - have [_ mp _] := Pp; have [mr _] := tr1; under eq_fun do rewrite -EFinM.
    by apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_funM.
  - by move=> y _; rewrite -EFinM lee_fin; exact: capped_mass.
have E : (\int[P]_y (capped_power a n y)%:E = (pow (a - 1) n.+1%:R * X)%:E)%E.
  under eq_integral do rewrite /capped_power powM ?(ltW n0) ?(test_ge0 _ tr)// -[_ * _]addr0.
  by rewrite (mean_affine P1 tr1) ?pow_ge0// addr0.
rewrite E lee_fin; move: X0; rewrite le_eqVlt => /orP[/eqP <-|Xp]; first by rewrite mulr0 expR_ge0.
have s0 := share_gt0 a1.
have {hX}hX : X <= expR (share a * t) * (pow (share a) n.+1%:R^-1 * pow (share a) X).
  apply: (le_trans hX); apply: ler_wpmul2l; first exact: expR_ge0.
  rewrite -powM ?invr_ge0 ?(ltW n0) ?(ltW Xp)//; apply: pow_le => //; [exact: ltW | exact: mean_ge0].
have Xs : X = pow a^-1 X * pow (share a) X.
  by rewrite powD ?(ltW Xp)// gt_eqF// /share addrC subrK pow_one// ltW.
have {hX}hX : pow a^-1 X <= expR (share a * t) * pow (share a) n.+1%:R^-1.
  by move: hX; rewrite {1}Xs mulrA ler_pmul2r// pow_gt0.
have := pow_le (ltW ap) (pow_ge0 _ _) hX.
rewrite pow_pow ?(ltW Xp)// divff ?gt_eqF// pow_one ?(ltW Xp)// powM ?expR_ge0 ?pow_ge0// pow_expR pow_pow ?invr_ge0 ?(ltW n0)//.
rewrite mulrA [a * _]mulrC sa => le; have N0 := pow_gt0 (a - 1) n0.
rewrite mulrC -ler_pdivl_mulr//; apply: (le_trans le); apply: ler_wpmul2l; first exact: expR_ge0.
have e : pow (a - 1) n.+1%:R^-1 * pow (a - 1) n.+1%:R = 1.
  by rewrite -powM ?invr_ge0 ?(ltW n0)// mulVf ?gt_eqF// pow1.
by rewrite -[leLHS](mulfK (lt0r_neq0 N0)) e mul1r.
Qed.

(* The definition of specs/definitions.md. *)
(* Rule: finite-measures, in part: the divergence as a mean, which over the outputs of a table is a sum; neither the bounds over all orders nor GDP. *)
Theorem renyi_densities a t : 1 < a -> renyi a t P Q <-> (moment a <= (expR ((a - 1) * t))%:E)%E.
Proof.
move=> a1; have a0 : 0 < a - 1 by rewrite subr_gt0.
have ap : 0 < a by exact: lt_trans a1.
have mc n : measurable_fun setT (fun y => (capped_power a n y)%:E).
  have n0 : 0 < n.+1%:R :> R by rewrite ltr0n.
  have [mr _] := test_pow a0 (test_capped n0).
  rewrite (_ : (fun y => _) = (fun y => (pow (a - 1) n.+1%:R * pow (a - 1) (capped n.+1%:R y))%:E)).
    by apply/EFin_measurable_fun; exact: measurable_funrM.
  by apply/funext => y; rewrite /capped_power powM ?(ltW n0)//; case/andP: (capped01 y n0).
have c0 n y : (0 <= (capped_power a n y)%:E)%E by rewrite lee_fin pow_ge0.
have lim_power y : lim (fun n => (capped_power a n y)%:E) = loss_power a y.
  by apply/cvg_lim => //; exact: capped_power_limit.
split=> h.
- rewrite /moment (_ : (fun y => _) = (fun y => lim (fun n => (capped_power a n y)%:E))); last first.
    by apply/funext => y; rewrite lim_power.
  rewrite monotone_convergence//; last by move=> y _ m n mn; rewrite lee_fin; exact: capped_power_rises.
  apply: lime_le; last by near=> n; exact: capped_bound.
  apply: ereal_nondecreasing_is_cvg => m n mn; apply: ge0_le_integral => // y _; rewrite lee_fin; exact: capped_power_rises.
- have ml : measurable_fun setT (loss_power a).
    by apply: (emeasurable_fun_cvg (fun n y => (capped_power a n y)%:E)) => // y _; exact: capped_power_limit.
  move=> g tg; have s0 := share_gt0 a1; have s1 := share_lt1 a1; have tp := test_pow s0 tg; have [mg _] := tg.
  have sa : share a * a = a - 1 by rewrite /share mulrBl mul1r mulVf ?gt_eqF.
  have [p0 mp _] := Pp; have [q0 mq _] := Qq.
  apply: below_tangents => //; [exact: mean_ge0 | exact: expR_ge0 | exact: mean_ge0 |] => c cp.
  set K := expR (share a * t); have K0 : 0 < K by exact: expR_gt0.
  pose u := K * pow (share a) c * share a / c; pose v := K * pow (share a) c * a^-1 * expR (- ((a - 1) * t)).
  have C0 := pow_gt0 (share a) cp.
  have u0 : 0 <= u by rewrite /u !mulr_ge0 ?invr_ge0// ltW.
  have v0 : 0 <= v by rewrite /v !mulr_ge0 ?invr_ge0 ?expR_ge0// ltW.
  have point y : ((p y * pow (share a) (g y))%:E <= u%:E * (q y * g y)%:E + v%:E * ((p y)%:E * loss_power a y))%E.
    have [pz|pn] := eqVneq (p y) 0.
      by rewrite pz mul0r mul0e mule0 adde0 -EFinM lee_fin; apply: mulr_ge0 => //; apply: mulr_ge0; [exact: q0 | exact: (test_ge0 y tg)].
    have {pn} pp : 0 < p y by rewrite lt_neqAle eq_sym pn p0.
    have vp : 0 < v by rewrite /v !mulr_gt0 ?invr_gt0 ?expR_gt0.
    have [qz|qn] := eqVneq (q y) 0.
      have -> : loss_power a y = +oo%E by rewrite /loss_power gt_eqF// qz eqxx.
      by rewrite [((p y)%:E * _)%E]gt0_muley ?lte_fin// gt0_muley ?lte_fin// addey ?leey.
    have {qn} qp : 0 < q y by rewrite lt_neqAle eq_sym qn q0.
    set r := ln (p y) - ln (q y).
    have pE : p y = q y * expR r by rewrite /r expRB !lnK ?posrE// mulrCA divff ?gt_eqF// mulr1.
    have -> : loss_power a y = (expR ((a - 1) * r))%:E by rewrite /loss_power !gt_eqF.
    have g0 : 0 <= g y by exact: test_ge0.
    rewrite -!EFinM -EFinD lee_fin.
    pose c' := c * expR (- ((a - 1) * t)); have c'0 : 0 < c' by rewrite mulr_gt0 ?expR_gt0.
    have x0 : 0 <= g y * expR (- (a * r)) by rewrite mulr_ge0 ?expR_ge0.
    have := pow_concave s0 (ltW s1) c'0 x0.
    rewrite !powM ?expR_ge0 ?(ltW cp)// !pow_expR.
    set w := pow (share a) (g y); set C := pow (share a) c.
    have e1 : share a * - (a * r) = - ((a - 1) * r) by rewrite mulrN mulrA sa.
    have e2 : K * expR (- ((a - 1) * t)) = expR (share a * - ((a - 1) * t)).
      by rewrite /K -expRD; congr expR; rewrite mulrN mulrA [_ * (a - 1)]mulrBr mulr1 sa; lra.
    rewrite e1 -e2 => le.
    have L0 : 0 <= p y * expR ((a - 1) * r) by rewrite mulr_ge0 ?expR_ge0.
    have := ler_wpmul2l L0 le.
    have -> : p y * expR ((a - 1) * r) * (w * expR (- ((a - 1) * r))) = p y * w.
      by rewrite mulrACA [expR _ * expR _]expRxMexpNx_1 mulr1.
    move=> {}le; apply: (le_trans le); rewrite le_eqVlt; apply/orP; left; apply/eqP.
    rewrite /u /v /c' -/C; have -> : a^-1 = 1 - share a by rewrite /share; lra.
    have e3 : p y * expR ((a - 1) * r) * expR (- (a * r)) = q y.
      have z : r + ((a - 1) * r - a * r) = 0 by rewrite mulrBl mul1r; lra.
      by rewrite pE -!mulrA -!expRD z expR0 mulr1.
    rewrite invfM -expRN opprK.
    have e4 : expR (- ((a - 1) * t)) * expR ((a - 1) * t) = 1 by rewrite mulrC expRxMexpNx_1.
    move: (expR (- ((a - 1) * t))) (expR ((a - 1) * t)) e4 => E E' e4.
    move: (expR ((a - 1) * r)) (expR (- (a * r))) e3 => F F' e3.
    rewrite -e3.
    have -> : p y * F * (C * (K * E) * (1 + share a * (g y * F' * (c^-1 * E') - 1))) =
              p y * F * C * K * E * (1 - share a) + (p y * F * F') * (C * K * share a * c^-1 * g y) * (E * E').
      by lra.
    by rewrite e4; lra.
  have mP : measurable_fun setT (fun y => ((p y)%:E * loss_power a y)%E) by apply: emeasurable_funM => //; exact/EFin_measurable_fun.
  have mQ : measurable_fun setT (fun y => (q y * g y)%:E) by apply/EFin_measurable_fun; exact: measurable_funM.
  have gP y : setT y -> (0 <= (p y)%:E * loss_power a y)%E by move=> _; rewrite mule_ge0 ?lee_fin// loss_power_ge0.
  have gQ y : setT y -> (0 <= (q y * g y)%:E)%E by move=> _; rewrite lee_fin mulr_ge0//; exact: test_ge0.
  have uE : (0 <= u%:E)%E by rewrite lee_fin.
  have vE : (0 <= v%:E)%E by rewrite lee_fin.
  have I1 := ge0_integralM mu measurableT mQ gQ uE; have I2 := ge0_integralM mu measurableT mP gP vE.
  have := mean_density P1 Pp tp => mPE; rewrite -lee_fin mPE.
  apply: (@le_trans _ _ (\int[mu]_y (u%:E * (q y * g y)%:E + v%:E * ((p y)%:E * loss_power a y)))%E).
    apply: ge0_le_integral => //.
    - by move=> y _; rewrite lee_fin mulr_ge0// pow_ge0.
    - by have [mw _] := tp; apply/EFin_measurable_fun; exact: measurable_funM.
    - by move=> y _; apply: adde_ge0; apply: mule_ge0 => //; [exact: gQ | exact: gP].
    - by apply: emeasurable_funD; apply: emeasurable_funM => //; exact: measurable_fun_cst.
  rewrite ge0_integralD//; last 4 first.
  - by move=> y _; apply: mule_ge0 => //; exact: gQ.
  - by apply: emeasurable_funM => //; exact: measurable_fun_cst.
  - by move=> y _; apply: mule_ge0 => //; exact: gP.
  - by apply: emeasurable_funM => //; exact: measurable_fun_cst.
  rewrite I1 I2 -(mean_density Q1 Qq tg) -(integral_density Pp ml (loss_power_ge0 a)).
  apply: (@le_trans _ _ (u%:E * (mean Q g)%:E + v%:E * (expR ((a - 1) * t))%:E)%E); first by apply: lee_add => //; exact: lee_wpmul2l.
  rewrite -!EFinM -EFinD lee_fin /u /v le_eqVlt; apply/orP; left; apply/eqP.
  have e4 : expR (- ((a - 1) * t)) * expR ((a - 1) * t) = 1 by rewrite mulrC expRxMexpNx_1.
  have -> : a^-1 = 1 - share a by rewrite /share; lra.
  by rewrite -[X in _ + X]mulrA e4; lra.
Unshelve. all: by end_near.
Qed.
End Moments.
