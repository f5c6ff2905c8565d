(* The mechanism with a density from below (docs/theory/spaces.md, density mechanism): what it loses at least where there is a database for each answer, on
   R^d, on an interval and where one entry of a box moves alone, and how far it answers on an interval. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions arithmetic density kernels powers spaces laplace_curve scale_integrals density_interval.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* On all of R^d the normaliser is the same for all databases (density_real.v); an output near the first answer loses b times the distance, nearly. *)
Section Everywhere.
Context (R : realType) (X : Type) d (Z : measurableType d) (mu : {measure set Z -> \bar R}).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R) (b C : R) (c : X -> R) (M : mechanism R X Z).
Hypotheses (is_metric : metric between) (b0 : 0 < b) (c0 : forall x, 0 < c x) (same : forall x x', c x = c x').
Hypothesis dens : forall x, has_density mu (M x) (fun z => c x * expR (- (b * between (q x) z))).
Hypothesis open_mass : forall x r, 0 < r -> exists S, [/\ measurable S, (0 < mu S)%E & forall z, S z -> between (q x) z < r].

(* Rule: density-mechanism, lower. *)
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

(* Numbers: x = e^u, y = e^-u, E = e^v. *)
Lemma ends_arithmetic (R : realType) (u v w x y E : R) : 0 < u -> 4 * u <= 1 -> 0 <= v -> v <= u -> 0 < w -> w < 1 -> 1 + u <= x -> x <= 1 + 2 * u ->
  x * y = 1 -> 0 < y -> 1 - u <= y -> E <= 1 + v + 2 * (v * v) -> 0 <= 2 - y - w * x -> 11 * (u * u) < (u - v) * (1 - w) ->
  E * (2 - y - w * x) < 2 - y * y - w * (x * x).
Proof.
move=> u0 u4 v0 vu w0 w1 x1 x2 xy y0 y1 eE t0 small.
have uu : 0 <= u * u by rewrite mulr_ge0// ltW.
have uuu : 0 <= u * (u * u) by rewrite mulr_ge0// ltW.
have x0 : 0 <= x by lra.
have u1 : 0 <= 1 - u by lra.
have h1 : y * u <= 1 - y by have := ler_wpmul2l (ltW y0) (_ : u <= x - 1); rewrite mulrBr mulr1 [y * x]mulrC xy; apply; lra.
have h2 := ler_wpmul2l (ltW y0) h1.
have h3 := ler_wpmul2l (ltW u0) (ler_pmul u1 u1 y1 y1).
have g1 : x - 1 <= x * u by have := ler_wpmul2l x0 (_ : 1 - y <= u); rewrite mulrBr mulr1 xy; apply; lra.
have g2 := ler_wpmul2l x0 g1.
have g3 := ler_wpmul2l (ltW u0) (ler_pmul x0 x0 x2 x2).
have g4 : u * (4 * u) <= u by rewrite -[leRHS]mulr1; apply: ler_wpmul2l => //; exact: ltW.
have g4' := ler_wpmul2l (ltW u0) g4.
have g5 : x * (x - 1) <= u + 5 * (u * u) by lra.
have g6 := ler_wpmul2l (ltW w0) g5.
have g7 : w * (u * u) <= u * u by rewrite -[leRHS]mul1r; apply: ler_wpmul2r => //; exact: ltW.
have diff : u * (1 - w) - 7 * (u * u) <= 2 - y * y - w * (x * x) - (2 - y - w * x) by lra.
have wx : w <= w * x by rewrite -[leLHS]mulr1; apply: ler_wpmul2l; [exact: ltW | lra].
have t1 : 2 - y - w * x <= 1 - w + u by lra.
have vv : v * v <= u * u by exact: ler_pmul.
have v2 : 0 <= v * v by exact: mulr_ge0.
have k1 : (E - 1) * (2 - y - w * x) <= (v + 2 * (v * v)) * (2 - y - w * x) by apply: ler_wpmul2r => //; lra.
have k2 : (v + 2 * (v * v)) * (2 - y - w * x) <= (v + 2 * (v * v)) * (1 - w + u) by apply: ler_wpmul2l => //; lra.
have k3 : v * u <= u * u by apply: ler_wpmul2r => //; exact: ltW.
have k4 : (v * v) * (1 - w + u) <= (u * u) * (5 / 4).
  by apply: ler_pmul => //; lra.
lra.
Qed.

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

(* Databases near an end lose nearly 2 b for each unit that their answers are apart. *)
Let close_ends k : 0 <= k -> k < b -> exists s, [/\ 0 < s, 2 * s <= Lambda & expR (k * s) * total s < total (2 * s)].
Proof.
move=> k0 kb; have bb : 0 < b * b by rewrite mulr_gt0.
have dk : 0 < (b - k) * (1 - w) by rewrite mulr_gt0// subr_gt0.
pose m1 := Lambda / 2; pose m2 := 1 / (4 * b); pose m3 := (b - k) * (1 - w) / (20 * (b * b)).
have [b4 b20] : 0 < 4 * b /\ 0 < 20 * (b * b) by split; lra.
have p1 : 0 < m1 by rewrite divr_gt0.
have p2 : 0 < m2 by rewrite divr_gt0.
have p3 : 0 < m3 by rewrite divr_gt0.
pose m := Num.min m1 (Num.min m2 m3).
have m0 : 0 < m by rewrite !lt_minr p1 p2 p3.
have e1 : m <= m1 by rewrite le_minl lexx.
have e2 : m <= m2 by rewrite !le_minl lexx orbT.
have e3 : m <= m3 by rewrite !le_minl lexx !orbT.
have mL : 2 * m <= Lambda by move: e1; rewrite /m1; lra.
move: e2 e3; rewrite /m2 /m3 !ler_pdivl_mulr// => e2 e3; clearbody m.
exists m; split=> //; pose u := b * m; have u0 : 0 < u by rewrite mulr_gt0.
have eA : expR (- (b * (Lambda - m))) = w * expR u by rewrite /w -expRD; congr expR; rewrite /u; lra.
have eB : expR (- (b * (Lambda - 2 * m))) = w * (expR u * expR u) by rewrite /w -!expRD; congr expR; rewrite /u; lra.
have eC : expR (- (b * (2 * m))) = expR (- u) * expR (- u) by rewrite -expRD; congr expR; rewrite /u; lra.
have t0 : 0 <= total m.
  have mL' : m <= Lambda by lra.
  by have := normaliser (ltW m0) mL'; move=> e; rewrite -(pmulr_rge0 _ (c0 m)) e ltW.
move: t0; rewrite /total eA eB eC -/u => t0.
have u4 : 4 * u <= 1 by rewrite /u; lra.
have vu : k * m <= u by rewrite ler_pmul2r// ltW.
have v0 : 0 <= k * m by rewrite mulr_ge0// ltW.
have xy : expR u * expR (- u) = 1 by exact: expRxMexpNx_1.
have y1 : 1 - u <= expR (- u) by exact: expR_ge1D.
have x2 : expR u <= 1 + 2 * u.
  have h1 : 0 < 1 - u by lra.
  rewrite -(ler_pmul2r h1); apply: (@le_trans _ _ 1); first by have := ler_wpmul2l (ltW (expR_gt0 u)) y1; rewrite xy.
  have : 0 <= u * (1 - 2 * u) by rewrite mulr_ge0; [| exact: ltW | lra].
  lra.
have ev : expR (k * m) <= 1 + k * m + 2 * (k * m * (k * m)).
  have h1 : 0 < 1 - k * m by lra.
  rewrite -(ler_pmul2r h1); apply: (@le_trans _ _ 1).
    by have := ler_wpmul2l (ltW (expR_gt0 (k * m))) (expR_ge1D (- (k * m))); rewrite expRxMexpNx_1.
  have : 0 <= k * m * (k * m) * (1 - 2 * (k * m)) by rewrite mulr_ge0 ?mulr_ge0//; lra.
  lra.
apply: (ends_arithmetic (u := u) (v := k * m)) => //; [exact: expR_gt0 | exact: expR_ge1D | exact: expR_gt0 |].
have h := ler_wpmul2r (ltW m0) e3; have p := mulr_gt0 dk m0; rewrite /u; lra.
Qed.

(* There is a database for each answer, as far from another as their answers are apart over C. On an interval f tells the whole output; in a box in l1, where
   the density is a product of such on intervals, it tells one entry, which moves while the others stay. *)
(* Rule: density-mechanism, lower, in part: that an entry of a box in l1 has the density of an interval is a hypothesis. *)
Theorem interval_lower (X : Type) (dist : X -> X -> R) (answers : R -> X) d (Y : measurableType d) (M : mechanism R X Y) (f : Y -> line R) (C e : R) :
  0 < C -> measurable_fun setT f -> (forall s t, 0 <= s <= Lambda -> 0 <= t <= Lambda -> C * dist (answers s) (answers t) = `|s - t|) ->
  (forall s A, 0 <= s <= Lambda -> measurable A -> M (answers s) (f @^-1` A) = P s A) -> e < 2 * b * C -> ~ private_by_distance dist M e.
Proof.
move=> C0 mf apart law small priv; pose k := Num.max 0 (e / C - b).
have k0 : 0 <= k by rewrite le_maxr lexx.
have kb : k < b by rewrite lt_maxl b0/=; have : e / C < 2 * b by [rewrite ltr_pdivr_mulr]; lra.
have [s [s0 sL lt]] := close_ends k0 kb; have s1 : s <= Lambda by lra.
have s2 : 0 <= 2 * s by lra.
have i1 : 0 <= s <= Lambda by rewrite s1 andbT ltW.
have i2 : 0 <= 2 * s <= Lambda by rewrite sL s2.
set x := answers s; set x' := answers (2 * s).
have sd : C * dist x x' = s by rewrite apart// ler0_norm; lra.
have mI (i : interval R) : @measurable _ (line R) [set` i] by exact: measurable_itv.
pose A : set (line R) := `]0%R, s]%classic.
have Ax := dens (ltW s0) s1; have Ax' := dens s2 sL.
have mass : (0 < leb A)%E by rewrite /A lebesgue_measure_itv hlength_itv/= lte_fin s0 -EFinD lte_fin subr0.
have close_s : close (e * dist x x') 0 (P s) (P (2 * s)).
  move=> B mB; have mfB : measurable (f @^-1` B) by have := mf measurableT B mB; rewrite setTI.
  by have := priv x x' _ mfB; rewrite !law.
apply: (not_close_of_event Ax Ax' (P1 s) (P1 (2 * s)) (mI `]0, s]) mass _ close_s) => y; rewrite /= in_itv/= => /andP[y0 ys].
have inS : S y by rewrite /S /= in_itv/= y0 (le_trans ys s1).
rewrite indicE mem_set// !mulr1 !ger0_norm ?subr_ge0//; last by lra.
have n1 := normaliser (ltW s0) s1; have n2 := normaliser s2 sL.
have T0 : 0 < total s by rewrite -(pmulr_rgt0 _ (c0 s)) n1.
have T0' : 0 < total (2 * s) by rewrite -(pmulr_rgt0 _ (c0 (2 * s))) n2.
have ce : c (2 * s) * expR (k * s) < c s.
  by rewrite -(ltr_pmul2r T0) n1 -mulrA -n2 ltr_pmul2l.
have eE : e * dist x x' - b * (2 * s - y) <= k * s - b * (s - y).
  have ek : e / C - b <= k by rewrite le_maxr lexx orbT.
  have : e * dist x x' = e / C * s by rewrite -sd mulrA divfK// gt_eqF.
  have := ler_wpmul2r (ltW s0) ek; move=> h ->; lra.
rewrite mulrCA -expRD; apply: (@le_lt_trans _ _ (c (2 * s) * expR (k * s - b * (s - y)))).
  by rewrite ler_pmul2l// ler_expR.
by rewrite expRD mulrA ltr_pmul2r ?expR_gt0.
Qed.
End Interval.
