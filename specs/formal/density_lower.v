(* The mechanism with a density from below (docs/theory/spaces.md, density mechanism): what it loses at least on R^d, where there is a database for each
   answer, and how far it answers on an interval. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences derive realfun measure lebesgue_measure lebesgue_integral numfun exp
  esum.
From dpverify Require Import definitions arithmetic density kernels spaces laplace_curve scale_integrals density_interval.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* On all of R^d the normaliser is the same for all databases (density_real.v); an output near the first answer loses b times the distance, nearly. *)
Section Everywhere.
Context (R : realType) (X : Type) d (Z : measurableType d) (mu : {measure set Z -> \bar R}).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R) (b C : R) (c : X -> R) (M : mechanism R X Z).
Hypotheses (is_metric : metric between) (b0 : 0 < b) (c0 : forall x, 0 < c x) (same : forall x x', c x = c x').
Hypothesis dens : forall x, has_density mu (M x) (fun z => c x * expR (- (b * between (q x) z))).
Hypothesis open_mass : forall x r, 0 < r -> exists S, [/\ measurable S, (0 < mu S)%E & forall z, S z -> between (q x) z < r].

(* Rule: density-mechanism, lower, in part: R^d; not how great the loss is at least on intervals, and in boxes in l1. *)
Theorem everywhere_lower x x' e : 0 < dist x x' -> between (q x) (q x') = C * dist x x' -> e < b * C -> ~ private_by_distance dist M e.
Proof.
move=> d0 apart small priv; have [_ sym tri] := is_metric.
have b3 : 0 < 3 * b by lra.
have g0 : 0 < b * C - e by lra.
have p0 := mulr_gt0 g0 d0.
have [r r0 rE] : exists2 r, 0 < r & r * (3 * b) = (b * C - e) * dist x x'.
  by exists ((b * C - e) * dist x x' / (3 * b)); [exact: divr_gt0 | rewrite divfK// gt_eqF].
have [S [mS S0 near]] := open_mass x r0.
apply: (not_close_of_event (dens x) (dens x') (law_total M x) (law_total M x') mS S0 _ (priv x x')) => z /near zr.
rewrite (same x x') mulrCA ltr_pmul2l// -expRD ltr_expR.
have far := tri (q x) z (q x'); rewrite [between z _]sym apart in far.
have h := ler_wpmul2l (ltW b0) far.
have lt : b * between (q x) z < b * r by rewrite ltr_pmul2l.
move: rE lt h p0; set k := between (q x) z; set l := between (q x') z; lra.
Qed.
End Everywhere.

(* On an interval. *)
Section Interval.
Context (R : realType) (P : R -> {measure set (line R) -> \bar R}) (c : R -> R) (b Lambda : R).
Notation leb := (@lebesgue_measure R).
Let S : set (line R) := `]0%R, Lambda]%classic.
Hypotheses (b0 : 0 < b) (L0 : 0 < Lambda) (c0 : forall s, 0 < c s) (P1 : forall s, P s setT = 1%E).
(* The law where the answer is s; the ends have no measure. *)
Hypothesis dens : forall s, 0 <= s -> s <= Lambda -> has_density leb (P s) (fun y => c s * (expR (- (b * `|s - y|)) * \1_S y)).
Let w := expR (- (b * Lambda)).

Let w1 : w < 1. Proof. by rewrite -expR0 ltr_expR oppr_lt0 mulr_gt0. Qed.

Let turned (x y : R) : (x - y) / - b = (y - x) / b.
Proof. by rewrite invrN mulrN -mulNr opprB. Qed.

(* The normaliser. *)
Definition total s := 2 - expR (- (b * s)) - expR (- (b * (Lambda - s))).

Lemma normaliser s : 0 <= s -> s <= Lambda -> c s * total s = b.
Proof.
move=> s0 sL; have [_ _ Pe] := dens s0 sL; have mI (i : interval R) : @measurable _ (line R) [set` i] by exact: measurable_itv.
have bn : b != 0 by rewrite gt_eqF.
have left : P s `]0%R, s]%classic = (c s * ((1 - expR (- (b * s))) / b))%:E.
  rewrite Pe; last exact: mI.
  rewrite (_ : (1 - _) / b = (expR (- (b * s) + b * s) - expR (- (b * s) + b * 0)) / b); last by rewrite mulr0 addr0 addNr expR0.
  rewrite EFinM -integral_exponential// -(integral_scaled leb (ltW (c0 s)) (fun y => expR_ge0 _) (measurable_exponential _ _) (mI `]0, s])).
  apply: eq_integral => y; rewrite inE/= in_itv/= => /andP[y0 ys]; congr EFin.
  rewrite ger0_norm ?subr_ge0// indicE mem_set ?mulr1 /S /= ?in_itv/= ?y0 ?(le_trans ys sL)//; congr (_ * expR _); lra.
have right : P s `]s, Lambda]%classic = (c s * ((1 - expR (- (b * (Lambda - s)))) / b))%:E.
  rewrite Pe; last exact: mI.
  have nb : - b != 0 by rewrite oppr_eq0.
  rewrite (_ : (1 - _) / b = (expR (b * s + - b * Lambda) - expR (b * s + - b * s)) / - b); last first.
    rewrite turned; congr ((_ - _) / _); last by congr expR; lra.
    by rewrite -expR0; congr expR; lra.
  rewrite EFinM -integral_exponential// -(integral_scaled leb (ltW (c0 s)) (fun y => expR_ge0 _) (measurable_exponential _ _) (mI `]s, Lambda])).
  apply: eq_integral => y; rewrite inE/= in_itv/= => /andP[sy yL]; congr EFin.
  rewrite ler0_norm ?subr_le0 ?(ltW sy)// indicE mem_set ?mulr1 /S /= ?in_itv/= ?(le_lt_trans s0 sy) ?yL//; congr (_ * expR _); lra.
have out : P s (~` S) = 0%E.
  rewrite Pe; last by apply: measurableC; exact: mI.
  rewrite (eq_integral (cst 0%E)) ?integral0// => y; rewrite inE /= => h.
  by rewrite indicE memNset ?mulr0.
have mS : measurable S by exact: mI.
have one : (P s S = 1)%E.
  have e : (P s S + P s (~` S) = 1)%E.
    by rewrite -measureU; [rewrite setUv; exact: P1 | exact: mS | exact: measurableC mS | exact: setICr].
  by move: e; rewrite out adde0.
have cut : S = `]0%R, s]%classic `|` `]s, Lambda]%classic.
  apply/seteqP; split=> y; rewrite /S /= !in_itv/=; last by case=> /andP[h1 h2]; apply/andP; split; lra.
  by move=> /andP[h1 h2]; have [ys|sy] := leP y s; [left | right]; rewrite ?h1 ?h2.
have e : (P s `]0%R, s]%classic + P s `]s, Lambda]%classic = 1)%E.
  rewrite -one cut; apply/esym; apply: measureU; [exact: mI | exact: mI |].
  by apply/seteqP; split=> y //=; rewrite !in_itv/= => -[/andP[_ h] /andP[h' _]]; move: h'; rewrite ltNge h.
move: e; rewrite left right -EFinD => -[e].
have e' : c s * (1 - expR (- (b * s)) + (1 - expR (- (b * (Lambda - s))))) / b = 1 by rewrite -mulrA mulrDl mulrDr.
rewrite -[RHS]mul1r -e' divfK//; congr (_ * _); rewrite /total; lra.
Qed.

(* How far answers are where the answer is at an end. *)
(* Rule: density-mechanism, lower. *)
Theorem interval_far_lower gamma : 0 < gamma -> gamma < Lambda ->
  P 0 [set y : line R | (gamma < `|0 - y|)%R] = ((expR (- (b * gamma)) - w) / (1 - w))%:E.
Proof.
move=> g0 gL; have [_ _ Pe] := dens (lexx 0) (ltW L0); have mI (i : interval R) : @measurable _ (line R) [set` i] by exact: measurable_itv.
have bn : b != 0 by rewrite gt_eqF.
have nb : - b != 0 by rewrite oppr_eq0.
have E : P 0 `]gamma, Lambda]%classic = (c 0 * ((expR (- (b * gamma)) - w) / b))%:E.
  rewrite Pe; last exact: mI.
  rewrite (_ : (_ - _) / b = (expR (0 + - b * Lambda) - expR (0 + - b * gamma)) / - b); last first.
    by rewrite turned !add0r !mulNr.
  rewrite EFinM -integral_exponential ?(ltW gL)// -(integral_scaled leb (ltW (c0 0)) (fun y => expR_ge0 _) (measurable_exponential _ _) (mI `]gamma, Lambda])).
  apply: eq_integral => y; rewrite inE/= in_itv/= => /andP[gy yL]; congr EFin.
  have y0 : 0 < y by exact: lt_trans gy.
  rewrite sub0r normrN gtr0_norm// indicE mem_set ?mulr1 /S /= ?in_itv/= ?y0 ?yL//; congr (_ * expR _); lra.
have cE : c 0 * (1 - w) = b.
  by have := normaliser (lexx 0) (ltW L0); rewrite /total mulr0 oppr0 expR0 addr0 -/w => <-; congr (_ * _); lra.
have e1 : P 0 [set y : line R | gamma < `|0 - y|] = P 0 `]gamma, Lambda]%classic.
  have mA : measurable [set y : line R | gamma < `|0 - y|].
    rewrite (_ : [set y : line R | _] = `]gamma, +oo[%classic `|` `]-oo, - gamma[%classic); first by apply: measurableU; exact: mI.
    apply/seteqP; split=> y; rewrite /= !in_itv/= andbT sub0r normrN ltr_normr; first by case/orP => h; [left | right]; lra.
    move=> [h|h]; first by rewrite h.
    by have -> : gamma < - y by [lra]; rewrite orbT.
  rewrite (Pe _ mA) (Pe _ (mI _)); rewrite [LHS]integral_mkcond; rewrite [RHS]integral_mkcond; apply: eq_integral => y _; rewrite /patch.
  have [yS|nyS] := pselect (S y); last first.
    have z0 : c 0 * (expR (- (b * `|0 - y|)) * \1_S y) = 0 by rewrite indicE memNset ?mulr0.
    by rewrite z0 !if_same.
  have -> : (y \in [set y : line R | gamma < `|0 - y|]) = (y \in (`]gamma, Lambda]%classic : set R)) => //.
  move: yS; rewrite /S /= in_itv/= => /andP[y0 yL]; apply/idP/idP; rewrite !inE/= in_itv/= sub0r normrN gtr0_norm//.
  - by move=> ->.
  - by case/andP.
rewrite e1 E; congr EFin; have nw : 1 - w != 0 by rewrite subr_eq0 eq_sym lt_eqF.
by apply: (mulIf nw); rewrite divfK// mulrAC cE mulrCA divff// mulr1.
Qed.
End Interval.
