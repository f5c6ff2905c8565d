(* An integral on the line as one over levels: of how long the set is where the function is above each of them. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels likelihood laplace_curve independent.
Import numFieldNormedType.Exports.

Section Layers.
Context (R : realType).
Notation leb := (@lebesgue_measure R).
Implicit Types (x y u v l c : R).

Definition level (g : R -> R) (l : R) := leb [set x | l < g x].

Let L : measurableType _ := line R.
Let sf : sigma_finite (setT : set L) leb.
Proof. exact: (Hahn_ext_sigma_finite (@hlength_sigma_sub_additive R) (@hlength_sigma_finite R)). Qed.

Section Function.
Variable g : R -> R.
Hypotheses (mg : measurable_fun setT g) (g0 : forall x, 0 <= g x).
Let under : set (L * L)%type := [set z | z.2 < g z.1].
Let measurable_under : measurable under.
Proof.
have m1 : measurable_fun setT (fun z : (L * L)%type => g z.1) by apply: measurable_fun_comp mg _; exact: measurable_first.
have m2 : measurable_fun setT (fun z : (L * L)%type => z.2 : R) by exact: measurable_second.
exact: measurable_where m1 m2.
Qed.

Let under_at l : ysection under l = [set x | l < g x].
Proof. by apply/seteqP; split=> x; rewrite /ysection/= inE. Qed.

Lemma measurable_level : measurable_fun setT (level g).
Proof.
have := indic_measurable_fun_fubini_tonelli_G (m1 := leb) sf measurable_under.
by rewrite indic_fubini_tonelli_GE// => h; rewrite (_ : level g = leb \o ysection under)//; apply/funext => l; rewrite /= under_at.
Qed.

Lemma layers : (\int[leb]_x (Num.min (g x) 1)%:E = \int[leb]_(l in `[0%R, 1%R[%classic) level g l)%E.
Proof.
pose E : set (L * L)%type := under `&` (snd @^-1` `[0, 1[%classic).
have mE : measurable E.
  apply: measurableI => //; rewrite -[X in measurable X]setTI; apply: (@measurable_second _ L _ L) => //; exact: measurable_itv.
have := indic_fubini_tonelli sf sf mE; rewrite indic_fubini_tonelli_FE// indic_fubini_tonelli_GE// => e.
transitivity (\int[leb]_x (leb \o xsection E) x)%E; last rewrite e [RHS]integral_mkcond; apply: eq_integral => x _ /=.
- have -> : xsection E x = `[0, Num.min (g x) 1[%classic :> set R.
    apply/seteqP; split=> y; rewrite /xsection/= inE /E/= !in_itv/= lt_minr; first by move=> [h1 /andP[h2 h3]]; apply/and3P.
    by move=> /and3P[h1 h2 h3]; split=> //; apply/andP.
  have m0 : 0 <= Num.min (g x) 1 by rewrite le_minr g0 ler01.
  rewrite lebesgue_measure_itv hlength_itv/= lte_fin; case: ifP => [_|/negbT]; first by rewrite -EFinB subr0.
  by rewrite -leNgt => h; congr EFin; apply/eqP; rewrite eq_le h m0.
- rewrite /patch; case: ifP => [/set_mem/= x01|/negbT/negP x01].
    congr (leb _); rewrite -under_at; apply/seteqP; split=> y; rewrite /ysection/= !inE; first by case.
    by move=> h; split.
  rewrite (_ : ysection E x = set0) ?measure0//; apply/seteqP; split=> y //; rewrite /ysection/= inE => -[_ h].
  by apply: x01; rewrite inE.
Qed.
End Function.
End Layers.
