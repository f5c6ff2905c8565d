(* The fundamental theorem of calculus, as far as the closed forms of the rules need it: the integral over an interval of a derivative that is at least
   0 and has a bounded derivative itself is the increase. It is shown by cutting the interval into equal cells, ever more of them. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic.
Import numFieldNormedType.Exports.

Section Increase.
Context (R : realType) (F g dg : R -> R) (L D : R).
Hypotheses (derF : forall y, is_derive y 1 F (g y)) (derg : forall y, is_derive y 1 g (dg y)).
Hypotheses (g0 : forall y, 0 <= y -> 0 <= g y) (L0 : 0 <= L) (bounded : forall y, 0 <= y -> y <= D -> `|dg y| <= L).
Notation leb := (@lebesgue_measure R).
Implicit Types (a b h x y : R).

Let continuous_derived (f df : R -> R) : (forall y, is_derive y 1 f (df y)) -> continuous (f : R^o -> R^o).
Proof. by move=> d y; apply: differentiable_continuous; apply/derivable1_diffP; have [] := d y. Qed.

Lemma derived_measurable : measurable_fun setT g.
Proof. by apply: continuous_measurable_fun; exact: (continuous_derived derg). Qed.

Definition part a b : \bar R := (\int[leb]_(y in `[a, b[%classic) (g y)%:E)%E.

Let mI (i : interval R) : measurable [set` i]. Proof. exact: measurable_itv. Qed.
Let mg S : measurable S -> measurable_fun S (EFin \o g).
Proof. by move=> mS; apply: (measurable_funS measurableT (@subsetT _ S)); apply/EFin_measurable_fun; exact: derived_measurable. Qed.

Lemma cell_length a b : a <= b -> leb `[a, b[%classic = (b - a)%:E.
Proof.
rewrite lebesgue_measure_itv hlength_itv/= lte_fin le_eqVlt => /orP[/eqP ->|->]; last by rewrite -EFinB.
by rewrite ltxx subrr.
Qed.

Lemma close a b y c : 0 <= a -> b <= D -> a <= y -> y <= b -> a <= c -> c <= b -> g y <= g c + L * (b - a).
Proof.
move=> a0 bD ay yb ac cb.
have step s t : a <= s -> s <= t -> t <= b -> `|g t - g s| <= L * (b - a).
  move=> as_ st tb; have [x xin ->] := @MVT_segment R g dg s t st (fun y _ => derg y) (continuous_subspaceT (continuous_derived derg)).
  move: xin; rewrite in_itv/= => /andP[sx xt]; rewrite normrM [`|t - s|]ger0_norm ?subr_ge0//.
  by apply: ler_pmul => //; [rewrite subr_ge0 | apply: bounded; lra | lra].
have [/step h|/ltW/step h] := leP y c; [have := h ay cb | have := h ac yb]; rewrite ler_norml => /andP[]; lra.
Qed.

Lemma cell a b : 0 <= a -> a <= b -> b <= D ->
  (part a b <= (F b - F a + L * (b - a) ^+ 2)%:E)%E /\ ((F b - F a)%:E <= part a b + (L * (b - a) ^+ 2)%:E)%E.
Proof.
move=> a0 ab bD; have mab := mI `[a, b[.
have [c cin ->] := @MVT_segment R F g a b ab (fun y _ => derF y) (continuous_subspaceT (continuous_derived derF)).
move: cin; rewrite in_itv/= => /andP[ac cb].
have e0 : 0 <= L * (b - a) by rewrite mulr_ge0// subr_ge0.
have flat x : 0 <= x -> (\int[leb]_(y in `[a, b[%classic) x%:E = (x * (b - a))%:E)%E.
  by move=> x0; rewrite (integral_cst leb mab); transitivity (x%:E * (b - a)%:E)%E => //; congr (_ * _)%E; exact: cell_length.
have gc : 0 <= g c by apply: g0; lra.
split.
- have -> : g c * (b - a) + L * (b - a) ^+ 2 = (g c + L * (b - a)) * (b - a) by rewrite expr2; lra.
  rewrite -flat ?addr_ge0//; apply: ge0_le_integral => //; try exact: (mg mab).
  + by move=> y /=; rewrite in_itv/= => /andP[ay yb]; rewrite lee_fin g0// (le_trans a0).
  + by move=> y _; rewrite lee_fin addr_ge0.
  + exact: measurable_fun_cst.
  + by move=> y /=; rewrite in_itv/= => /andP[ay yb]; rewrite lee_fin; apply: close => //; exact: ltW.
- rewrite (_ : L * (b - a) ^+ 2 = L * (b - a) * (b - a)); last by rewrite expr2 mulrA.
  rewrite -(flat _ e0) -(flat _ gc) /part -ge0_integralD//.
  + apply: ge0_le_integral => //.
    * exact: measurable_fun_cst.
    * by move=> y /=; rewrite in_itv/= => /andP[ay yb]; rewrite -EFinD lee_fin addr_ge0// g0// (le_trans a0).
    * by apply: emeasurable_funD; [exact: (mg mab) | exact: measurable_fun_cst].
    * by move=> y /=; rewrite in_itv/= => /andP[ay yb]; rewrite -EFinD lee_fin; apply: close => //; exact: ltW.
  + by move=> y /=; rewrite in_itv/= => /andP[ay yb]; rewrite lee_fin g0// (le_trans a0).
  + exact: (mg mab).
  + exact: measurable_fun_cst.
Qed.

Lemma part_joined a b c : 0 <= a -> a <= b -> b <= c -> part a c = (part a b + part b c)%E.
Proof.
move=> a0 ab bc; rewrite /part -(integral_setU leb (mI _) (mI _)).
- congr (integral _ _ _); apply/seteqP; split=> y /=; rewrite !in_itv/=.
    by move=> /andP[ay yc]; have [yb|yb] := ltP y b; [left; rewrite ay | right; rewrite yc].
  by move=> [/andP[ay yb]|/andP[yb yc]]; apply/andP; split=> //; lra.
- by apply: mg; apply: measurableU; exact: mI.
- by move=> y /= [|]; rewrite in_itv/= => /andP[h _]; rewrite lee_fin g0//; lra.
- by apply/disj_setPS => y /=; rewrite !in_itv/= => -[/andP[_ h1] /andP[h2 _]]; lra.
Qed.

Lemma cells h n : 0 <= h -> n%:R * h <= D ->
  (part 0 (n%:R * h) <= (F (n%:R * h) - F 0 + n%:R * (L * h ^+ 2))%:E)%E /\ ((F (n%:R * h) - F 0)%:E <= part 0 (n%:R * h) + (n%:R * (L * h ^+ 2))%:E)%E.
Proof.
move=> h0; elim: n => [|n IH] nD; first by rewrite mul0r in nD; have := cell (lexx 0) (lexx 0) nD; rewrite !mul0r !subrr expr0n/= mulr0.
have nh : 0 <= n%:R * h by rewrite mulr_ge0.
have e : n.+1%:R * h = n%:R * h + h by rewrite mulrSr mulrDl mul1r.
have le : n%:R * h <= n.+1%:R * h by rewrite e ler_addl.
have [l u] := IH (le_trans le nD); have [l' u'] := cell nh le nD.
have d : n.+1%:R * h - n%:R * h = h by rewrite e; lra.
rewrite d in l' u'; rewrite (part_joined _ nh le)//; split.
- apply: (le_trans (lee_add l l')); rewrite -EFinD lee_fin mulrSr mulrDl; lra.
- rewrite (_ : F (n.+1%:R * h) - F 0 = F (n%:R * h) - F 0 + (F (n.+1%:R * h) - F (n%:R * h))); last by lra.
  rewrite EFinD; apply: (le_trans (lee_add u u')); rewrite [X in (_ <= _ + X%:E)%E](_ : _ = n%:R * (L * h ^+ 2) + L * h ^+ 2); last first.
    by rewrite mulrSr mulrDl mul1r.
  by rewrite (EFinD (_ * _) (_ * _)) addeACA.
Qed.

Theorem integral_derivative : 0 <= D -> (\int[leb]_(y in `[0%R, D[%classic) (g y)%:E = (F D - F 0)%:E)%E.
Proof.
move=> D0; rewrite -/(part 0 D).
have near e : 0 < e -> (part 0 D <= (F D - F 0 + e)%:E)%E /\ ((F D - F 0)%:E <= part 0 D + e%:E)%E.
  move=> e0; pose K := L * D ^+ 2 / e; have K0 : 0 <= K by exact: (divr_ge0 (mulr_ge0 L0 (exprn_ge0 2 D0)) (ltW e0)).
  pose n := (Num.bound K).+1; have nK : K <= n%:R by apply: (le_trans (ltW (archi_boundP K0))); rewrite ler_nat leqnSn.
  have n0 : 0 < n%:R :> R by rewrite ltr0n.
  have nD : n%:R * (D / n%:R) = D by rewrite mulrCA mulfV ?mulr1// gt_eqF.
  have small : n%:R * (L * (D / n%:R) ^+ 2) <= e.
    have -> : n%:R * (L * (D / n%:R) ^+ 2) = L * D ^+ 2 / n%:R.
      transitivity (L * (D / n%:R) * (n%:R * (D / n%:R))); last by rewrite nD expr2; move: n%:R^-1 => z; lra.
      by move: (D / n%:R) n%:R => z w; rewrite expr2; lra.
    by rewrite ler_pdivr_mulr// [e * _]mulrC -ler_pdivr_mulr.
  have [] := @cells (D / n%:R) n (divr_ge0 D0 (ltW n0)) _; rewrite nD// => l u; split.
    by apply: (le_trans l); rewrite lee_fin ler_add2l.
  by apply: (le_trans u); rewrite lee_add2l// lee_fin.
have [h1 h2] := near 1 ltr01.
have fin : part 0 D \is a fin_num.
  rewrite fin_numE -ltNye -ltey; apply/andP; split; last by apply: (le_lt_trans h1); rewrite ltry.
  apply: (@lt_le_trans _ _ 0%E); first by rewrite ltNyr.
  by apply: integral_ge0 => y /=; rewrite in_itv/= => /andP[y0 _]; rewrite lee_fin g0.
rewrite -(fineK fin); congr EFin; apply/eqP; rewrite eq_le; apply/andP; split; apply/ler_addgt0Pr => e e0; have [] := near e e0.
- by rewrite -{1}(fineK fin) lee_fin.
- by move=> _; rewrite -(fineK fin) -EFinD lee_fin.
Qed.
End Increase.
