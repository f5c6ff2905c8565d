(* The integral of a slope over an interval of the line is what the function gains, for slopes that rise, or fall, or vary no more than a function
   that rises (docs/theory/utility.md: noise moments). *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms additive kernels laplace_curve laplace_renyi scale_integrals.
Import numFieldTopology.Exports numFieldNormedType.Exports.

Section Slope.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Variables (F g M : R -> R) (a b : R).
Hypotheses (ab : a <= b) (mg : measurable_fun setT g) (g0 : forall x, 0 <= g x).
Hypothesis slope : forall x, a <= x -> x <= b -> is_derive x (1 : R) F (g x).
(* M bounds how much the slope varies; it is the slope itself where that rises, and its opposite where it falls. *)
Hypothesis varies : forall x c y, a <= x -> x <= c -> c <= y -> y <= b -> `|g c - g x| <= M y - M x.
Let I x y : \bar R := (\int[leb]_(z in `]x, y]%classic) (g z)%:E)%E.
Let mI (i : interval R) : @measurable _ (line R) [set` i]. Proof. exact: measurable_itv. Qed.
Let mgI (i : interval R) : measurable_fun [set` i] (EFin \o g).
Proof. by apply/EFin_measurable_fun; exact: measurable_funTS. Qed.

Let I0 x y : (0 <= I x y)%E. Proof. by apply: integral_ge0 => z _; rewrite lee_fin. Qed.

Let constant x y (k : R) : x <= y -> (\int[leb]_(z in `]x, y]%classic) k%:E = (k * (y - x))%:E)%E.
Proof.
move=> xy; rewrite (integral_cst leb (mI `]x, y])) EFinM; congr (_ * _)%E.
have := lebesgue_measure_itv `]x, y]; rewrite hlength_itv/= lte_fin => ->.
by move: xy; rewrite le_eqVlt => /predU1P[->|->]; rewrite ?ltxx ?subrr// -EFinB.
Qed.

Let apart x y z : x <= y -> y <= z -> I x z = (I x y + I y z)%E.
Proof.
move=> xy yz; rewrite /I -integral_setU; [|exact: mI|exact: mI| | |].
- congr (integral _ _ _); apply/seteqP; split=> w /=; rewrite !in_itv/=.
    by move=> /andP[h1 h2]; case: (leP w y) => h; [left; rewrite h1 | right; rewrite h2].
  by case=> /andP[h1 h2]; apply/andP; split=> //; [exact: le_trans yz | exact: le_lt_trans h1].
- by apply/EFin_measurable_fun; exact: measurable_funTS.
- by move=> w _; rewrite lee_fin.
- rewrite disj_set2E; apply/eqP/seteqP; split=> w //=; rewrite !in_itv/= => -[/andP[_ h] /andP[h' _]].
  by move: h'; rewrite ltNge h.
Qed.

Let near x y : a <= x -> x <= y -> y <= b -> (I x y <= ((g x + (M y - M x)) * (y - x))%:E)%E /\
  (((g x - (M y - M x)) * (y - x))%:E <= I x y)%E.
Proof.
move=> ax xy yb; have v c : c \in `]x, y[%R \/ c \in `]x, y]%R -> g x - (M y - M x) <= g c <= g x + (M y - M x).
  move=> h; have /andP[xc cy] : (x <= c) && (c <= y) by case: h; rewrite in_itv/= => /andP[/ltW -> h] //=; exact: ltW.
  have := varies ax xc cy yb; rewrite ler_norml => /andP[h1 h2]; apply/andP; split; lra.
split.
- rewrite -constant//; apply: ge0_le_integral; [exact: mI | by move=> z _; rewrite lee_fin | exact: mgI | | exact: measurable_fun_cst |].
    by move=> z hz; rewrite lee_fin; have /andP[_] := v z (or_intror hz); apply: le_trans.
  by move=> z hz; rewrite lee_fin; have /andP[_] := v z (or_intror hz).
- have [k0|k0] := leP (g x - (M y - M x)) 0.
    by apply: le_trans (I0 x y); rewrite lee_fin mulr_le0_ge0// subr_ge0.
  rewrite -constant//; apply: ge0_le_integral; [exact: mI | | exact: measurable_fun_cst | by move=> z _; rewrite lee_fin | exact: mgI |].
    by move=> z _; rewrite lee_fin ltW.
  by move=> z hz; rewrite lee_fin; have /andP[] := v z (or_intror hz).
Qed.

Let If x y : a <= x -> x <= y -> y <= b -> (fine (I x y))%:E = I x y.
Proof. by move=> ax xy yb; rewrite fineK// ge0_fin_numE//; apply: le_lt_trans (near ax xy yb).1 _; rewrite ltry. Qed.

Let close_step x y : a <= x -> x <= y -> y <= b -> `|fine (I x y) - (F y - F x)| <= 2 * (M y - M x) * (y - x).
Proof.
move=> ax xy yb; have [u l] := near ax xy yb; move: u l; rewrite -(If ax xy yb) !lee_fin => u l.
have [||c hc e] := @MVT_segment R F g x y xy.
- by move=> z; rewrite in_itv/= => /andP[/ltW h1 /ltW h2]; apply: slope; [exact: le_trans h1 | exact: le_trans yb].
- apply: continuous_in_subspaceT => z; rewrite inE/= in_itv/= => /andP[h1 h2].
  have dz := slope (le_trans ax h1) (le_trans h2 yb).
  by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ dz.
move: hc; rewrite in_itv/= => /andP[xc cy]; have := varies ax xc cy yb; rewrite e !ler_norml => /andP[h1 h2].
have d0 : 0 <= y - x by rewrite subr_ge0.
have := ler_wpmul2r d0 h1; have := ler_wpmul2r d0 h2 => h3 h4.
by apply/andP; split; lra.
Qed.

Let close_pieces (n : nat) : (0 < n)%N -> `|fine (I a b) - (F b - F a)| <= 2 * (M b - M a) * ((b - a) / n%:R).
Proof.
move=> n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
pose h := (b - a) / n%:R; have h0 : 0 <= h by rewrite divr_ge0 ?subr_ge0 ?ler0n.
have hn : n%:R * h = b - a by rewrite /h mulrC divfK ?gt_eqF.
have xb i : (i <= n)%N -> a + i%:R * h <= b.
  by move=> le; have := ler_wpmul2r h0 (_ : i%:R <= n%:R :> R); rewrite ler_nat => /(_ le); lra.
have xa i : a <= a + i%:R * h by have := mulr_ge0 (ler0n R i) h0; lra.
suff step i : (i <= n)%N -> `|fine (I a (a + i%:R * h)) - (F (a + i%:R * h) - F a)| <= 2 * (M (a + i%:R * h) - M a) * h.
  by have := step n (leqnn n); rewrite hn (_ : a + (b - a) = b) //; lra.
elim: i => [|i IH] le.
  rewrite mul0r addr0 !subrr mulr0 mul0r /I (_ : `]a, a]%classic = set0) ?integral_set0 ?subrr ?normr0//.
  by apply/seteqP; split=> z //=; rewrite in_itv/= => /andP[h1 h2]; move: h1; rewrite ltNge h2.
have {IH} := IH (ltnW le); have := xb _ le; have := xa i.+1; have := xa i.
have := xb _ (ltnW le); rewrite -natr1 mulrDl mul1r addrA; set x := a + i%:R * h => xb' xa' ya' yb' IH.
have xy : x <= x + h by rewrite ler_addl.
have s := close_step xa' xy yb'.
have -> : fine (I a (x + h)) = fine (I a x) + fine (I x (x + h)).
  by apply: EFin_inj; rewrite EFinD !If//; exact: apart.
rewrite (_ : x + h - x = h) in s; last lra.
move: s IH; rewrite !ler_norml => /andP[s1 s2] /andP[i1 i2]; apply/andP; split; lra.
Qed.

Theorem integral_of_slope : (\int[leb]_(z in `]a, b]%classic) (g z)%:E = (F b - F a)%:E)%E.
Proof.
rewrite -/(I a b) -(If (lexx a) ab (lexx b)); congr EFin; apply/eqP; rewrite -subr_eq0 -normr_eq0 eq_le normr_ge0 andbT leNgt.
apply/negP => E0; set E := `|_| in E0; pose C := 2 * (M b - M a) * (b - a).
have C0 : 0 <= C.
  by rewrite /C !mulr_ge0// ?subr_ge0//; have := varies (lexx a) (lexx a) ab (lexx b); rewrite subrr normr0 subr_ge0.
pose n := Num.bound (C / E); have nE : C / E < n%:R by apply: archi_boundP; rewrite divr_ge0// ltW.
have h : E * n.+1%:R <= C.
  have := @close_pieces n.+1 isT; rewrite -/E mulrA -/C => le.
  by have := ler_wpmul2r (ler0n R n.+1) le; rewrite divfK// pnatr_eq0.
move: nE; rewrite ltr_pdivr_mulr// ltNge => /negP; apply; apply: le_trans h.
by rewrite mulrC ler_pmul2l// ler_nat.
Qed.
End Slope.
