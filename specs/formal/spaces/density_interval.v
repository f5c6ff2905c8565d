(* The mechanism with a density on an interval (docs/theory/spaces.md, density mechanism): it is further than gamma from the truth with at most the
   probability (e^(-b gamma) - e^(-b Lambda))/(1 - e^(-b Lambda)), Lambda the length of the interval. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions arithmetic density kernels laplace_curve scale_integrals hoeffding slope_integrals.
Import numFieldTopology.Exports numFieldNormedType.Exports.

Section Exponentials.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Implicit Types (e k u v y : R).

Lemma measurable_exponential e k : measurable_fun setT (fun y : R => expR (e + k * y)).
Proof.
apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funD; first exact: measurable_fun_cst.
by apply: measurable_funrM; exact: measurable_fun_id.
Qed.

Lemma integral_exponential e k u v : k != 0 -> u <= v ->
  (\int[leb]_(y in `]u, v]%classic) (expR (e + k * y))%:E = ((expR (e + k * v) - expR (e + k * u)) / k)%:E)%E.
Proof.
move=> kn uv; pose F y := expR (e + k * y) * k^-1.
have d y : is_derive y (1 : R) F (expR (e + k * y)).
  apply: der_eq (der_mul (der_exp (der_line e k y)) (der_cst k^-1 y)) _.
  by rewrite mulr0 addr0 mulrAC divff// mul1r.
pose up := 0 <= k; pose M y := if up then expR (e + k * y) else - expR (e + k * y).
have grows x y : x <= y -> if up then expR (e + k * x) <= expR (e + k * y) else expR (e + k * y) <= expR (e + k * x).
  move=> xy; rewrite /up; case: ifP => [h|/negbT]; first by rewrite ler_expR ler_add2l ler_wpmul2l.
  by rewrite -ltNge => /ltW h; rewrite ler_expR ler_add2l ler_wnmul2l.
rewrite (integral_of_slope (F := F) (M := M) uv (measurable_exponential e k) (fun y => expR_ge0 _) (fun y _ _ => d y)); first by rewrite /F mulrBl.
move=> x c y _ xc cy _; have := grows _ _ xc; have := grows _ _ cy; rewrite /M; case: (up) => h1 h2.
- by rewrite ger0_norm ?subr_ge0// ler_sub.
- by rewrite ler0_norm ?subr_le0// opprB opprK [X in _ <= X]addrC ler_add2l ler_opp2.
Qed.
End Exponentials.

Section Interval.
Context (R : realType) (P : {measure set (line R) -> \bar R}) (b c s gamma Lambda : R).
Notation leb := (@lebesgue_measure R).
Let S : set (line R) := `]0%R, Lambda]%classic.
(* The ends have no measure: it is all the same whether they are answers. *)
Hypotheses (b0 : 0 < b) (c0 : 0 < c) (g0 : 0 < gamma) (gL : gamma < Lambda) (s0 : 0 <= s) (sL : s <= Lambda) (P1 : P setT = 1%E).
Hypothesis dens : has_density leb P (fun y => c * (expR (- (b * `|s - y|)) * \1_S y)).
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.
Let g := expR (- (b * gamma)).
Let w := expR (- (b * Lambda)).

Let piece e k u v : k != 0 -> 0 <= u -> u <= v -> v <= Lambda -> (forall y, u < y -> y <= v -> - (b * `|s - y|) = e + k * y) ->
  P `]u, v]%classic = (c * ((expR (e + k * v) - expR (e + k * u)) / k))%:E.
Proof.
move=> kn u0 uv vL same; have [_ _ ->] := dens; last exact: mI.
rewrite EFinM -integral_exponential// -(integral_scaled leb (ltW c0) (fun y => expR_ge0 _) (measurable_exponential e k) (mI `]u, v])).
apply: eq_integral => y; rewrite inE/= in_itv/= => /andP[uy yv]; congr EFin.
by rewrite same// indicE mem_set ?mulr1// /S /= in_itv/= (le_lt_trans u0 uy) (le_trans yv).
Qed.

Let right u v : s <= u -> 0 <= u -> u <= v -> v <= Lambda -> P `]u, v]%classic = (c * ((expR (- (b * (u - s))) - expR (- (b * (v - s)))) / b))%:E.
Proof.
move=> su u0 uv vL; have bn : - b != 0 by rewrite oppr_eq0 gt_eqF.
rewrite (@piece (b * s) (- b) u v bn u0 uv vL); last first.
  by move=> y uy _; rewrite ler0_norm ?subr_le0 ?(le_trans su (ltW uy))//; lra.
congr (_ * _)%:E; rewrite invrN mulrN -mulNr opprB; congr ((expR _ - expR _) / _); lra.
Qed.

Let left u v : v <= s -> 0 <= u -> u <= v -> P `]u, v]%classic = (c * ((expR (- (b * (s - v))) - expR (- (b * (s - u)))) / b))%:E.
Proof.
move=> vs u0 uv; have bn : b != 0 by rewrite gt_eqF.
rewrite (@piece (- (b * s)) b u v bn u0 uv (le_trans vs sL)); last first.
  by move=> y _ yv; rewrite ger0_norm ?subr_ge0 ?(le_trans yv vs)//; lra.
by congr (_ * _)%:E; congr ((expR _ - expR _) / _); lra.
Qed.

(* Of each side: too far on it is at most (g - w)/(1 - g) times as likely as near on it. *)
Let side u : u <= Lambda -> c * ((g - expR (- (b * u))) / b) * (1 - g) <= (g - w) * (c * ((1 - g) / b)).
Proof.
move=> uL; have k0 : 0 <= c / b * (1 - g).
  by rewrite mulr_ge0 ?divr_ge0 ?(ltW c0) ?(ltW b0)// subr_ge0 -expR0 ler_expR oppr_le0 mulr_ge0// ltW.
have h : g - expR (- (b * u)) <= g - w by rewrite ler_add2l ler_opp2 ler_expR ler_opp2 ler_pmul2l.
by have := ler_wpmul2l k0 h; lra.
Qed.

(* Where the interval is no longer than gamma, no answer is too far (interval_near). *)
(* Rule: density-mechanism, upper. *)
Theorem interval_far : (P [set y : line R | (gamma < `|s - y|)%R] <= ((g - w) / (1 - w))%:E)%E.
Proof.
pose A : set (line R) := [set y | gamma < `|s - y|].
pose FL : set (line R) := `]0, s - gamma]%classic; pose FR : set (line R) := `]s + gamma, Lambda]%classic.
pose NL : set (line R) := `]s - gamma, s]%classic `&` S; pose NR : set (line R) := `]s, s + gamma]%classic `&` S.
have mS : measurable S by exact: mI.
have mA : measurable A.
  rewrite (_ : A = `]s + gamma, +oo[%classic `|` `]-oo, s - gamma[%classic); first by apply: measurableU; exact: mI.
  apply/seteqP; split=> y; rewrite /A /= !in_itv/= andbT ltr_normr; first by case/orP => h; [right | left]; lra.
  by case=> h; apply/orP; [right | left]; lra.
have PS : P (~` S) = 0%E.
  have [_ _ ->] := dens; last exact: measurableC.
  rewrite (eq_integral (cst 0%E)) ?integral0// => y; rewrite inE /= => h.
  by rewrite indicE memNset ?mulr0.
have fin B : measurable B -> (fine (P B))%:E = P B by move=> mB; rewrite fineK// mass_fin.
have le2 (B C D : set (line R)) : measurable B -> measurable C -> measurable D -> B `<=` C `|` D -> fine (P B) <= fine (P C) + fine (P D).
  move=> mB mC mD sub; rewrite -lee_fin EFinD !fin//; apply: le_trans (_ : P (C `|` D) <= _)%E.
    by apply: le_measure; rewrite ?inE//; exact: measurableU.
  have -> : C `|` D = C `|` (D `\` C).
    apply/seteqP; split=> y; last by case=> [|[]]; [left | right].
    by have [Cy _|Cy [//|Dy]] := pselect (C y); [left | right].
  have mDC : measurable (D `\` C) by exact: measurableD.
  rewrite measureU//; last by apply/seteqP; split=> y //= -[Cy [_]].
  by apply: lee_add => //; apply: le_measure; rewrite ?inE// => y [].
have far : fine (P A) <= fine (P FL) + fine (P FR).
  have m1 : measurable (FL `|` FR) by apply: measurableU; exact: mI.
  have := le2 A (FL `|` FR) (~` S) mA m1 (measurableC mS); rewrite PS /= addr0 => h.
  apply: le_trans (le2 _ _ _ m1 (mI _) (mI _) (@subset_refl _ _)); apply: h => y ay.
  have [yS|] := pselect (S y); [left | by right]; move: yS ay; rewrite /S /A /FL /FR /= !in_itv/= => /andP[y0 yL]; rewrite ltr_normr.
  by case/orP => h; [left; rewrite y0 /=; lra | right; rewrite yL andbT; lra].
have near : fine (P NL) + fine (P NR) <= 1 - fine (P A).
  have mL : measurable NL by apply: measurableI => //; exact: mI.
  have mR : measurable NR by apply: measurableI => //; exact: mI.
  have : (P (NL `|` NR) <= P (~` A))%E.
    apply: le_measure; rewrite ?inE; [exact: measurableU | exact: measurableC |].
    move=> y; rewrite /NL /NR /S /A /= !in_itv/= => h; apply/negP; rewrite -leNgt ler_norml.
    by case: h => -[/andP[h1 h2] _]; apply/andP; split; lra.
  rewrite measureU//; last first.
    apply/seteqP; split=> y //; rewrite /NL /NR /= !in_itv/= => -[[/andP[_ h] _] [/andP[h' _] _]].
    by move: h'; rewrite ltNge h.
  have -> : P (~` A) = (1 - fine (P A))%:E.
    have e : (P A + P (~` A) = 1)%E by rewrite -measureU ?setUv ?setICr//; exact: measurableC.
    have fC : P (~` A) \is a fin_num by apply: mass_fin => //; exact: measurableC.
    have fA : P A \is a fin_num by exact: mass_fin.
    by have := congr1 fine e; rewrite fineD//= => h; rewrite -(fineK fC); congr EFin; lra.
  by move=> h; rewrite -lee_fin EFinD (fin _ mL) (fin _ mR); exact: h.
have w1 : w < 1 by rewrite -expR0 ltr_expR oppr_lt0 mulr_gt0// (lt_trans g0).
have g1 : g < 1 by rewrite -expR0 ltr_expR oppr_lt0 mulr_gt0.
have gw : w <= g by rewrite ler_expR ler_opp2 ler_pmul2l// ltW.
have pos B : 0 <= fine (P B) by rewrite fine_ge0.
have hL : fine (P FL) * (1 - g) <= (g - w) * fine (P NL).
  have [gs|sg] := leP gamma s.
    have d0 : 0 <= s - gamma by rewrite subr_ge0.
    have -> : NL = `]s - gamma, s]%classic.
      apply/seteqP; split=> y; rewrite /NL /S /= !in_itv/=; first by case.
      by move=> /andP[h1 h2]; rewrite h1 h2 (le_lt_trans d0 h1) (le_trans h2 sL).
    rewrite (left (_ : s - gamma <= s) (lexx 0) d0) ?(left (lexx s) d0)/=; [|lra|lra].
    have e1 : s - (s - gamma) = gamma by lra.
    have e2 : s - 0 = s by rewrite subr0.
    by rewrite e1 e2 subrr mulr0 oppr0 expR0; exact: side.
  rewrite (_ : FL = set0) ?measure0 ?mul0r ?mulr_ge0 ?subr_ge0//.
  apply/seteqP; split=> y //; rewrite /FL /= in_itv/= => /andP[h1 h2]; move: (lt_le_trans h1 h2); by rewrite subr_gt0 ltNge (ltW sg).
have hR : fine (P FR) * (1 - g) <= (g - w) * fine (P NR).
  have [gs|sg] := leP (s + gamma) Lambda.
    have d0 : 0 <= s + gamma by rewrite addr_ge0// ltW.
    have -> : NR = `]s, s + gamma]%classic.
      apply/seteqP; split=> y; rewrite /NR /S /= !in_itv/=; first by case.
      by move=> /andP[h1 h2]; rewrite h1 h2 (le_lt_trans s0 h1) (le_trans h2 gs).
    rewrite (right (_ : s <= s + gamma) d0 gs (lexx _)) ?(right (lexx s) s0 _ gs)/=; [|lra|lra].
    have sl : Lambda - s <= Lambda by lra.
    have e1 : s + gamma - s = gamma by lra.
    by rewrite e1 subrr mulr0 oppr0 expR0; exact: side.
  rewrite (_ : FR = set0) ?measure0 ?mul0r ?mulr_ge0 ?subr_ge0//.
  apply/seteqP; split=> y //; rewrite /FR /= in_itv/= => /andP[h1 h2]; move: (lt_le_trans h1 h2); by rewrite ltNge (ltW sg).
rewrite -/A -(fin A mA) lee_fin ler_pdivl_mulr ?subr_gt0//.
have g2 : 0 <= 1 - g by lra.
have gw2 : 0 <= g - w by lra.
have := ler_wpmul2r g2 far; have := ler_wpmul2l gw2 near; lra.
Qed.
End Interval.

Lemma interval_near (R : realType) (P : {measure set (line R) -> \bar R}) (b c s gamma Lambda : R) : Lambda <= gamma -> 0 <= s -> s <= Lambda ->
  has_density (@lebesgue_measure R) P (fun y => c * (expR (- (b * `|s - y|)) * \1_(`]0%R, Lambda]%classic) y)) -> P [set y : line R | gamma < `|s - y|] = 0%E.
Proof.
move=> Lg s0 sL [_ _ Pe]; rewrite Pe; last first.
  rewrite (_ : [set y : line R | gamma < `|s - y|] = `]s + gamma, +oo[%classic `|` `]-oo, s - gamma[%classic).
    by apply: measurableU; exact: measurable_itv.
  apply/seteqP; split=> y; rewrite /= !in_itv/= andbT ltr_normr; first by case/orP => h; [right | left]; lra.
  by case=> h; apply/orP; [right | left]; lra.
rewrite (eq_integral (cst 0%E)) ?integral0// => y; rewrite inE/= ltr_normr => h.
rewrite indicE memNset ?mulr0 ?mulr0//= in_itv/= => /andP[y0 yL].
by case/orP: h => h; lra.
Qed.
