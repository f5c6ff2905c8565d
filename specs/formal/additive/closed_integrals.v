(* The integrals over the hidden variable that the rule mixture-closed-form knows (docs/theory/additive.md), up to factors that are free of the
   distance: Gamma's, Bessel's for any power v^k and either sign of the order, and the incomplete Gamma integral over (0, u). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic laplace_curve independent scale_integrals mixture_closed scale_powers incomplete_gamma bessel_integral.
Import numFieldNormedType.Exports.

Section ClosedIntegrals.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Implicit Types (s v w b k B C D : R) (K : R -> R -> R).

(* The power of v that is there does not matter. *)
Lemma hidden_power k s B C v : hidden k s B C v = hidden 1 s B C (pw k v).
Proof. by rewrite /hidden !pw_pw ln_pw !mul1r mulN1r; congr expR; lra. Qed.

(* -- The incomplete Gamma integral -- *)

Let measurable_under b : measurable_fun setT (fun w : R => (w < b)%R%:R : R).
Proof.
rewrite (_ : (fun w => _) = \1_`]-oo, b[%classic); first by apply: measurable_fun_indic; exact: measurable_itv.
by apply/funext => w; rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP => [h|/set_mem]; rewrite ?inE/= in_itv.
Qed.

Lemma gamma_part m D : 0 <= D ->
  haar (fun w => pw m.+1%:R w * expR (- w) * (w < D)%R%:R) = (m`!%:R * (1 - expR (- D) * series m.+1 D))%:E.
Proof.
move=> D0; have f0 : 0 < m`!%:R :> R by rewrite ltr0n fact_gt0.
have mI : measurable (`]0, D]%classic : set R) by exact: measurable_itv.
have mt : measurable_fun (`]0, D]%classic : set R) (EFin \o term m).
  by apply: (measurable_funS measurableT (@subsetT _ _)); apply/EFin_measurable_fun; exact: measurable_term.
rewrite EFinM -(incomplete_gamma m D0) -(ge0_integralM leb mI mt _ (ltW f0 : (0 <= (m`!%:R)%:E)%E)); last first.
  by move=> y /=; rewrite in_itv/= => /andP[/ltW y0 _]; rewrite lee_fin term_ge0.
rewrite [RHS]integral_mkcond /haar /haarx.
have mw : measurable_fun setT (fun w => pw m.+1%:R w * expR (- w) * (w < D)%R%:R).
  apply: measurable_funM => //; apply: measurable_funM; first exact: measurable_pw.
  by apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funN; exact: measurable_fun_id.
apply: ge0_ae_eq_integral => //.
- by apply/EFin_measurable_fun; exact: (measurable_haar mw).
- by apply/(measurable_restrict _ mI measurableT (@subsetT _ _)); apply: emeasurable_funM => //; exact: measurable_fun_cst.
- by move=> v _; rewrite -EFinM lee_fin !mulr_ge0 ?weight_ge0 ?expR_ge0// ltW// pw_gt0.
- move=> v _; rewrite /patch; case: ifP => // /set_mem; rewrite /= in_itv/= => /andP[/ltW v0 _].
  by rewrite -EFinM lee_fin mulr_ge0 ?term_ge0// ltW.
- exists [set D]; split=> //; first exact: lebesgue_measure_set1.
  move=> v /= /not_implyP[_ neq]; apply: contrapT => nD; apply: neq.
  have [vp|vn] := ltP 0 v; last first.
    by rewrite weight0// mul0e /patch memNset//= in_itv/=; apply/negP; rewrite negb_and -leNgt vn.
  have e : weight v * (pw m.+1%:R v * expR (- v)) = m`!%:R * term m v.
    rewrite /weight indicE mem_set/= ?in_itv/= ?vp// mulr1 mulrA -pwD mulrS addrA addNr add0r pw_natural//.
    by rewrite /term mulrCA [m`!%:R * _]mulrA mulfV ?gt_eqF// mul1r mulrC.
  have [vD|vD] := ltP v D; last first.
    rewrite mulr0 mule0 /patch memNset//= in_itv/= vp/=; apply/negP; rewrite -ltNge lt_neqAle vD andbT eq_sym; exact/eqP.
  by rewrite mulr1 /patch mem_set/= ?in_itv/= ?vp ?(ltW vD)// -!EFinM e.
Qed.

Lemma gamma_within m b C : 0 < b -> 0 < C ->
  haar (fun w => hidden 1 (- m.+1%:R) 0 C w * (w < b)%R%:R) = (pw (- m.+1%:R) C * (m`!%:R * (1 - expR (- (C * b)) * series m.+1 (C * b))))%:E.
Proof.
move=> b0 C0; have D0 : 0 <= C * b by rewrite ltW// mulr_gt0.
have C1 : 0 < C^-1 by rewrite invr_gt0.
have mf : measurable_fun setT (fun w => hidden 1 (- m.+1%:R) 0 C w * (w < b)%R%:R) by apply: measurable_funM => //; exact: measurable_hidden.
rewrite (haar_scaled mf _ C1); last by move=> v; rewrite mulr_ge0 ?hidden_ge0.
rewrite (EFinM (pw _ C)) -gamma_part// -haar_factor; last 3 first.
- apply: measurable_funM => //; apply: measurable_funM; first exact: measurable_pw.
  by apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funN; exact: measurable_fun_id.
- by move=> v; rewrite !mulr_ge0 ?expR_ge0// ltW// pw_gt0.
- by rewrite ltW// pw_gt0.
apply: haar_eq => v v0; have -> : (C^-1 * v < b) = (v < C * b) by rewrite mulrC ltr_pdivr_mulr// mulrC.
rewrite !mulrA; congr (_ * _); rewrite /hidden pw1 ?mulr_gt0// mulrA mulfV ?gt_eqF// mul1r mul0r /pw -!expRD lnM ?posrE// lnV ?posrE//.
by congr expR; lra.
Qed.

(* -- All of them -- *)
(* Which v are drawn: those of (0, inf), or of (0, b). *)
Definition drawn (u : option R) v := (0 < v) && (if u is Some b then v < b else true).

Lemma measurable_drawn u : measurable_fun setT (fun v => (drawn u v)%:R : R).
Proof.
have m0 : measurable_fun setT (fun v : R => (0 < v)%R%:R : R).
  rewrite (_ : (fun v => _) = \1_`]0, +oo[%classic); first by apply: measurable_fun_indic; exact: measurable_itv.
  by apply/funext => v; rewrite indicE; congr (nat_of_bool _)%:R; apply/idP/idP => [h|/set_mem]; rewrite ?inE/= in_itv/= andbT.
have -> : (fun v => (drawn u v)%:R : R) = (fun v => (0 < v)%R%:R * (if u is Some b then (v < b)%R%:R else 1)).
  by apply/funext => v; rewrite /drawn; case: u => [b|]; rewrite ?andbT ?mulr1// -natrM mulnb.
by case: u => [b|]; apply: measurable_funM => //; exact: measurable_fun_cst.
Qed.

(* The profile P of the radial noise, where the mixture's is exp(-A) v^(-1 - k s) exp(-B/v^k - C v^k). *)
Definition closed_form K k s (u : option R) (A B C P : R -> R) :=
  match u with
  | None => [\/ forall r, 0 < r -> [/\ 0 < B r, C r = 0 & P r = expR (- A r) * pw (- s) (B r)],
      forall r, 0 < r -> [/\ B r = 0, 0 < C r & P r = expR (- A r) * pw s (C r)] |
      exists2 o, o = s \/ o = - s &
        forall r, 0 < r -> [/\ 0 < B r, 0 < C r & P r = expR (- A r) * pw (s / 2) (C r / B r) * K o (2 * Num.sqrt (B r * C r))]]
  | Some b => 0 < b /\ exists2 m, s = - m.+1%:R &
      forall r, 0 < r -> [/\ B r = 0, 0 < C r & let D := C r * pw k b in P r = expR (- A r) * (pw s D * (1 - expR (- D) * series m.+1 D))]
  end.

(* The integral over the hidden variable is that profile, up to a factor that is free of r. *)
Theorem closed_form_integral K k s u (A B C P : R -> R) : 0 < k -> bessel K -> closed_form K k s u A B C P ->
  exists2 kappa : \bar R, (0 <= kappa)%E &
    forall r, 0 < r -> ((expR (- A r))%:E * haar (fun v => (hidden k s (B r) (C r) v * (drawn u v)%:R)%R) = kappa * (P r)%:E)%E.
Proof.
move=> k0 HK; have kn : k != 0 by rewrite gt_eqF.
have all r : haar (fun v => hidden k s (B r) (C r) v * (drawn None v)%:R) = haar (hidden k s (B r) (C r)).
  by apply: haar_eq => v v0; rewrite /drawn v0 mulr1.
have [c c0 Hc] := haar_power kn; case: u => [b [b0 [m sm H]]|[H|H|[o os H]]].
- have pb : 0 < pw k b by exact: pw_gt0.
  exists (c * (pw (- s) (pw k b) * m`!%:R)%:E)%E => [|r r0]; first by rewrite mule_ge0// lee_fin mulr_ge0// ltW// pw_gt0.
  have [-> C0 ->] := H r r0; have CD : 0 < C r * pw k b by rewrite mulr_gt0.
  pose g w : R := hidden 1 s 0 (C r) w * (w < pw k b)%R%:R.
  have mg : measurable_fun setT g by apply: measurable_funM (measurable_under _); exact: measurable_hidden.
  have g0 w : 0 <= g w by rewrite mulr_ge0 ?hidden_ge0.
  have -> : haar (fun v => hidden k s 0 (C r) v * (drawn (Some b) v)%:R) = haar (g \o pw k).
    apply: haar_eq => v v0; rewrite /g /= -hidden_power /drawn v0/=; congr (_ * (nat_of_bool _)%:R).
    by rewrite /pw ltr_expR ltr_pmul2l// ltr_ln ?posrE.
  rewrite Hc// /g sm gamma_within// -sm muleCA -muleA; congr (c * _)%E; rewrite -!EFinM; congr EFin.
  have -> : pw s (C r * pw k b) = pw s (C r) * pw s (pw k b) by rewrite pwM.
  have e : pw s (pw k b) * pw (- s) (pw k b) = 1 by rewrite -pwD subrr /pw mul0r expR0.
  move: (1 - _) (expR _) (pw s (C r)) (m`!%:R : R) => x1 x2 x3 x4.
  by rewrite -[LHS]mulr1 -e; move: (pw s _) (pw (- s) _) => x5 x6; lra.
- exists (haar (hidden k s 1 0)) => [|r r0]; first by apply: haar_ge0 => v; exact: hidden_ge0.
  by rewrite all; have [B0 -> ->] := H r r0; rewrite (gamma_below s k0 B0) EFinM muleA muleC.
- exists (haar (hidden k s 0 1)) => [|r r0]; first by apply: haar_ge0 => v; exact: hidden_ge0.
  by rewrite all; have [-> C0 ->] := H r r0; rewrite (gamma_above s k0 C0) EFinM muleA muleC.
- exists (c * 2%:E)%E => [|r r0]; first by rewrite mule_ge0// lee_fin.
  rewrite all; have [B0 C0 ->] := H r r0; have z0 : 0 < Num.sqrt (B r * C r) by rewrite sqrtr_gt0 mulr_gt0.
  have z2 : 0 < 2 * Num.sqrt (B r * C r) by rewrite mulr_gt0.
  have -> : K o (2 * Num.sqrt (B r * C r)) = K s (2 * Num.sqrt (B r * C r)) by case: os => ->; [by [] | exact: bessel_even].
  have -> : haar (hidden k s (B r) (C r)) = (c * haar (hidden 1 s (B r) (C r)))%E.
    by rewrite -(Hc _ (measurable_hidden _ _ _ _) (hidden_ge0 _ _ _ _)); apply: haar_eq => v _; rewrite hidden_power.
  rewrite (both_terms s ltr01 B0 C0) [(_ * K _ _)%:E]EFinM (bessel_hidden s HK z2).
  have -> : 2 * Num.sqrt (B r * C r) / 2 = Num.sqrt (B r * C r) by lra.
  rewrite muleCA -!muleA; congr (c * _)%E; set I := haar _; rewrite (EFinM (expR _)) !muleA; congr (_ * _)%E; rewrite -!EFinM; congr EFin; lra.
Qed.
End ClosedIntegrals.
