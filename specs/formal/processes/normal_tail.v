(* The distribution function of the normal law (docs/theory/additive.md: elliptical process unbounded): it rises strictly, no faster than its density at
   its greatest, and the probability beyond a point far out grows by any factor when the law moves. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood laplace_curve normal_line.
Import numFieldNormedType.Exports.

Section Normal.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation leb := (@lebesgue_measure R).
Notation Phi := (normal_cdf law).

Let c0 : 0 < c. Proof. by have [] := normal. Qed.
Let total v : law v setT = 1%E. Proof. by have [_ h _] := normal; exact: h. Qed.
Let dens v : has_density leb (law v) (fun y => c * expR (- ((y - v) ^+ 2 / 2))). Proof. by have [_ _ h] := normal; exact: h. Qed.

Let split_below s t : s <= t -> law 0 (below t) = (law 0 (below s) + law 0 `[s, t[%classic)%E.
Proof.
move=> st; rewrite -measureU; [|exact: measurable_below|exact: measurable_itv|]; last first.
  by apply/seteqP; split=> // y [/=]; rewrite /below in_itv/= => ys /andP[sy _]; move: ys; rewrite /mkset ltNge sy.
congr (law 0 _); apply/seteqP; split=> y; rewrite /below/= in_itv/=.
- by have [sy yt|ys _] := leP s y; [right | left].
- by case=> [ys|/andP[//]]; exact: lt_le_trans st.
Qed.

Let leb_itv s t : s < t -> (leb `[s, t[%classic = (t - s)%:E)%E.
Proof. by move=> st; rewrite lebesgue_measure_itv hlength_itv/= lte_fin st -EFinB. Qed.

Lemma normal_cdf_strict s t : s < t -> Phi s < Phi t.
Proof.
move=> st; rewrite -lte_fin !(below_fin normal) (split_below (ltW st)).
have mI : measurable (`[s, t[%classic : set (line R)) by exact: measurable_itv.
have I0 : (0 < leb `[s, t[%classic)%E by rewrite leb_itv// lte_fin subr_gt0.
have [|pos _] := event_mass (dens 0) (dens 0) (v := 0) mI I0.
  by move=> y _; rewrite expR0 mul1r mulr_gt0 ?expR_gt0.
by rewrite lte_addl// -(below_fin normal).
Qed.

Lemma normal_cdf_le s t : (Phi s <= Phi t) = (s <= t).
Proof.
by apply/idP/idP => [|st]; [apply: contraTT; rewrite -!ltNge; exact: normal_cdf_strict | exact: (normal_cdf_rises normal)].
Qed.

Let slow_up s t : s <= t -> Phi t - Phi s <= c * (t - s).
Proof.
rewrite le_eqVlt => /predU1P[->|st]; first by rewrite !subrr mulr0.
rewrite ler_subl_addl -lee_fin EFinD !(below_fin normal) (split_below (ltW st)).
apply: lee_add => //; have [_ mp ->] := dens 0; last exact: measurable_itv.
have mI : measurable (`[s, t[%classic : set (line R)) by exact: measurable_itv.
apply: (@le_trans _ _ (\int[leb]_(y in `[s, t[) c%:E)%E); last first.
  by rewrite integral_cst// EFinM le_eqVlt; apply/orP; left; apply/eqP; congr (_ * _)%E; exact: leb_itv.
apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin mulr_ge0 ?expR_ge0// ltW.
- by apply/EFin_measurable_fun; exact: measurable_funS mp.
- by move=> y _; rewrite lee_fin ltW.
- exact: measurable_fun_cst.
move=> y _; rewrite lee_fin ger_pmulr// -[leRHS](@expR0 R) ler_expR oppr_le0; apply: divr_ge0 => //; exact: sqr_ge0.
Qed.

Lemma normal_cdf_slow s t : `|Phi t - Phi s| <= c * `|t - s|.
Proof.
have [st|/ltW ts] := leP s t; first by rewrite ger0_norm ?subr_ge0 ?normal_cdf_le// ger0_norm ?subr_ge0//; exact: slow_up.
by rewrite distrC [`|t - s|]distrC ger0_norm ?subr_ge0 ?normal_cdf_le// ger0_norm ?subr_ge0//; exact: slow_up.
Qed.

(* Beyond l, moved by e > 0: at least exp(l e - e^2/2) times as much. *)
Lemma normal_tail_grows l e : 0 <= e -> expR (l * e - e ^+ 2 / 2) * (1 - Phi l) <= 1 - Phi (l - e) /\ 0 < 1 - Phi (l - e).
Proof.
move=> e0; pose T : set (line R) := `[l, +oo[%classic; have mT : measurable T by exact: measurable_itv.
have TE v : law v T = (1 - Phi (l - v))%:E.
  have e1 : law v setT = (law v (below l) + law v T)%E.
    rewrite -measureU//; [|exact: measurable_below|]; last first.
      by apply/seteqP; split=> // y [/=]; rewrite /below /T/= in_itv/= andbT leNgt => ->.
    congr (law v _); apply/seteqP; split=> // y _; rewrite /below /T/= in_itv/= andbT; by have [ly|yl] := leP l y; [right | left].
  have lf : law v (below l) = (Phi (l - v))%:E by rewrite -(normal_below normal) fineK// mass_fin//; exact: measurable_below.
  have Tf : law v T \is a fin_num by exact: mass_fin (total v) mT.
  move: e1; rewrite total lf -(fineK Tf) -EFinD => -[e1]; congr EFin; move: e1; lra.
have T0 : (0 < leb T)%E by rewrite lebesgue_measure_itv hlength_itv/= ltry/= ltry.
have [|pos le] := event_mass (dens e) (dens 0) (v := l * e - e ^+ 2 / 2) mT T0.
  move=> y; rewrite /T/= in_itv/= andbT => ly; split; first by rewrite mulr_gt0 ?expR_gt0.
  rewrite mulrCA ler_pmul2l// -expRD ler_expR subr0.
  have := ler_wpmul2r e0 ly; lra.
by move: le pos; rewrite !TE subr0 -EFinM lee_fin lte_fin.
Qed.
End Normal.
