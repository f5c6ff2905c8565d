(* Means that are infinite (docs/theory/utility.md, infinite moments): what is multiplied by its argument and does not fall beyond some point is at
   least a multiple of 1/r there, and has no finite integral, nor sum over the integers. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive.
From dpverify Require Import definitions density arithmetic likelihood kernels laplace_curve scale_integrals norm_length error_chains noise_moments.
Import numFieldNormedType.Exports.

(* -- What does not fall faster than 1/r -- *)

Section Slow.
Context (R : realType) (F slope : R -> R) (a : R).
Hypotheses (a0 : 0 <= a) (F0 : forall r, a < r -> 0 < F r).
(* The slope of minus the logarithm. *)
Hypothesis sloped : forall r : R, a < r -> is_derive r (1 : R) (fun x : R => - ln (F x)) (slope r).
Hypothesis slow : forall r, a < r -> r * slope r <= 1.

Lemma never_falls x y : a < x -> x <= y -> x * F x <= y * F y.
Proof.
move=> ax xy; have x0 : 0 < x by exact: le_lt_trans ax.
have der r : a < r -> is_derive r (1 : R) (fun x : R => ln x - - ln (F x)) (r^-1 - slope r).
  by move=> ar; have r0 : 0 < r := le_lt_trans a0 ar; exact: is_deriveB (is_derive1_ln r0) (sloped ar).
have at_least r : x <= r -> a < r by exact: lt_le_trans.
have der' r : r \in `]x, y[ -> is_derive r (1 : R) (fun x : R => ln x - - ln (F x)) (r^-1 - slope r).
  by rewrite in_itv/= => /andP[/ltW h _]; apply: der; exact: at_least.
have cont : {within `[x, y], continuous (fun x : R => ln x - - ln (F x))}.
  apply: continuous_in_subspaceT => r; rewrite inE/= in_itv/= => /andP[h _]; have dr := der _ (at_least _ h).
  by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ dr.
have [r rin e] := MVT_segment xy der' cont.
have xr : x <= r by move: rin; rewrite in_itv/= => /andP[].
have r0 : 0 < r by exact: lt_le_trans xr.
have up : 0 <= r^-1 - slope r.
  by rewrite subr_ge0 -(ler_pmul2l r0) divff ?gt_eqF//; apply: slow; exact: at_least.
have y0 : 0 < y by exact: lt_le_trans xy.
have Fx := F0 ax; have Fy := F0 (at_least _ xy).
rewrite -ler_ln ?posrE ?mulr_gt0// !lnM ?posrE//.
have : 0 <= (r^-1 - slope r) * (y - x) by rewrite mulr_ge0// subr_ge0.
rewrite -e; lra.
Qed.

Lemma at_least_inverse : exists C : R, 0 < C /\ forall r, a + 1 <= r -> C / r <= F r.
Proof.
have a1 : a < a + 1 by rewrite ltr_addl.
exists ((a + 1) * F (a + 1)); split=> [|r ar]; first by rewrite mulr_gt0 ?F0// ltr_spaddr.
by rewrite ler_pdivr_mulr ?[F r * r]mulrC; [exact: never_falls | apply: lt_le_trans ar; rewrite ltr_spaddr].
Qed.
End Slow.

(* -- Parts that have each at least so much -- *)

Section Parts.
Context (R : realType) d (T : measurableType d) (mu : {measure set T -> \bar R}) (f : T -> R) (A B : nat -> set T) (kappa : R).
Hypotheses (mf : measurable_fun setT f) (f0 : forall x, 0 <= f x) (mA : forall n, measurable (A n)) (kappa0 : 0 < kappa).
Hypotheses (B0 : B 0%N = set0) (BS : forall n, B n.+1 = B n `|` A n) (apart : forall n, B n `&` A n = set0).
Hypothesis much : forall n, exists m : R, [/\ 0 <= m, forall x, A n x -> m <= f x & (kappa%:E <= m%:E * mu (A n))%E].

Lemma measurable_parts n : measurable (B n).
Proof. by elim: n => [|n IH]; rewrite ?B0 ?BS//; exact: measurableU. Qed.

Lemma parts_integral n : ((n%:R * kappa)%:E <= \int[mu]_(x in B n) (f x)%:E)%E.
Proof.
elim: n => [|n IH]; first by rewrite mul0r integral_ge0// => x _; rewrite lee_fin.
rewrite BS integral_setU//; last 4 first.
- exact: measurable_parts.
- by apply/EFin_measurable_fun; apply: measurable_funS mf.
- by move=> x _; rewrite lee_fin.
- exact/disj_set2P.
rewrite -natr1 mulrDl mul1r EFinD; apply: lee_add => //; have [m [m0 low le]] := much n.
apply: le_trans le _; rewrite -integral_cst//; apply: ge0_le_integral => //.
- exact: measurable_fun_cst.
- by move=> x _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mf.
Qed.

Lemma infinite_by_parts (S : set T) : measurable S -> (forall n, B n `<=` S) -> (\int[mu]_(x in S) (f x)%:E = +oo)%E.
Proof.
move=> mS BS'; apply: eq_infty => t.
have [n tn] : exists n : nat, t <= n%:R * kappa.
  exists (Num.bound (`|t| / kappa)); rewrite -ler_pdivr_mulr//; apply: le_trans (ltW (archi_boundP _)); last by rewrite divr_ge0// ltW.
  by rewrite ler_pdivr_mulr// divfK ?gt_eqF//; exact: ler_norm.
apply: le_trans (_ : ((n%:R * kappa)%:E <= _)%E); first by rewrite lee_fin.
apply: le_trans (parts_integral n) _.
have mfS : measurable_fun S (fun x => (f x)%:E) by apply/EFin_measurable_fun; apply: measurable_funS mf.
have f0S x : S x -> (0 <= (f x)%:E)%E by rewrite lee_fin.
apply: subset_integral => //; exact: measurable_parts.
Qed.
End Parts.

(* -- On the line -- *)

Section Line.
Context (R : realType) (f : R -> R) (side C b : R) (S : set R).
Notation leb := (@lebesgue_measure R).
Hypotheses (mf : measurable_fun setT f) (f0 : forall x, 0 <= f x) (one : side = 1 \/ side = -1) (C0 : 0 < C) (b0 : 0 < b) (mS : measurable S).

(* The numbers between alpha and beta on a side; and at a distance between alpha and beta from a number e. *)
Lemma strip (alpha beta : R) : alpha < beta -> measurable [set x : R | alpha <= side * x < beta] /\
  leb [set x : R | alpha <= side * x < beta] = (beta - alpha)%:E.
Proof.
move=> ab; case: one => ->.
- rewrite (_ : [set x : R | _] = `[alpha, beta[%classic); last by apply/seteqP; split=> x; rewrite /= in_itv/= mul1r.
  by split; [exact: measurable_itv | rewrite lebesgue_measure_itv /= hlength_itv /= lte_fin ab].
- rewrite (_ : [set x : R | _] = `](- beta), (- alpha)]%classic); last first.
    by apply/seteqP; split=> x; rewrite /= in_itv/= mulN1r => /andP[h1 h2]; apply/andP; split; lra.
  by split; [exact: measurable_itv | rewrite lebesgue_measure_itv /= hlength_itv /= lte_fin ltr_opp2 ab -EFinB; congr EFin; lra].
Qed.

Lemma strip_at (e alpha beta : R) : alpha < beta -> measurable [set x : R | alpha < side * (e - x) <= beta] /\
  leb [set x : R | alpha < side * (e - x) <= beta] = (beta - alpha)%:E.
Proof.
move=> ab; case: one => ->.
- rewrite (_ : [set x : R | _] = `[e - beta, e - alpha[%classic); last first.
    by apply/seteqP; split=> x; rewrite /= in_itv/= mul1r => /andP[h1 h2]; apply/andP; split; lra.
  by split; [exact: measurable_itv | rewrite lebesgue_measure_itv /= hlength_itv /= lte_fin ltr_add2l ltr_opp2 ab -EFinB; congr EFin; lra].
- rewrite (_ : [set x : R | _] = `]e + alpha, e + beta]%classic); last first.
    by apply/seteqP; split=> x; rewrite /= in_itv/= mulN1r => /andP[h1 h2]; apply/andP; split; lra.
  by split; [exact: measurable_itv | rewrite lebesgue_measure_itv /= hlength_itv /= lte_fin ltr_add2l ab -EFinB; congr EFin; lra].
Qed.

Let two_gt0 n : 0 < 2 ^+ n :> R. Proof. exact: exprn_gt0. Qed.

(* Towards infinity. *)
Lemma infinite_far : (forall r, b <= r -> S (side * r) /\ C / r <= f (side * r)) -> (\int[leb]_(x in S) (f x)%:E = +oo)%E.
Proof.
move=> h; have ss : side * side = 1 by case: one => ->; rewrite ?mulN1r ?opprK ?mulr1.
have turn x : side * (side * x) = x by rewrite mulrA ss mul1r.
pose B n := [set x : R | b <= side * x < 2 ^+ n * b]; pose A n := [set x : R | 2 ^+ n * b <= side * x < 2 ^+ n.+1 * b].
have up n : b <= 2 ^+ n * b by rewrite ler_pmull// exprn_ege1// ler1n.
have next n : 2 ^+ n * b < 2 ^+ n.+1 * b by rewrite exprS -mulrA ltr_pmull ?ltr1n// mulr_gt0.
apply: (@infinite_by_parts R _ _ leb f A B (C / 2)) => //.
- by move=> n; have [] := strip (next n).
- by rewrite divr_gt0.
- by apply/seteqP; split=> x; rewrite /B/= expr0 mul1r => // /andP[h1 /(le_lt_trans h1)]; rewrite ltxx.
- move=> n; apply/seteqP; split=> x; rewrite /A /B/=.
  + by move=> /andP[h1 h2]; case: (ltP (side * x) (2 ^+ n * b)) => h3; [left; rewrite h1 | right].
  + by move=> [/andP[h1 h2]|/andP[h1 h2]]; apply/andP; split => //; [exact: lt_trans h2 (next n) | exact: le_trans (up n) h1].
- by move=> n; apply/seteqP; split=> x //= [/andP[_ h1] /andP[h2 _]]; have := le_lt_trans h2 h1; rewrite ltxx.
- move=> n; exists (C / (2 ^+ n.+1 * b)); have bn : 0 < 2 ^+ n.+1 * b by rewrite mulr_gt0.
  split; first by rewrite divr_ge0 ?ltW.
  + move=> x /andP[h1 h2]; have [_] := h (side * x) (le_trans (up n) h1); rewrite turn; apply: le_trans.
    have x0 : 0 < side * x by apply: lt_le_trans h1; rewrite mulr_gt0.
    by rewrite ler_pmul2l// lef_pinv ?posrE// ltW.
  + have [_ E] := strip (next n).
    apply: le_trans (_ : ((C / (2 ^+ n.+1 * b))%:E * leb [set x : R | (2 ^+ n * b <= side * x < 2 ^+ n.+1 * b)%R])%E <= _)%E; last exact: lexx.
    rewrite E -EFinM lee_fin le_eqVlt; apply/orP; left; apply/eqP.
    have -> : 2 ^+ n.+1 * b - 2 ^+ n * b = 2 ^+ n.+1 * b / 2 by rewrite exprS; lra.
    by rewrite mulrA divfK// gt_eqF.
- by move=> n x /andP[h1 _]; have [] := h _ h1; rewrite turn.
Qed.

(* Towards a finite end. *)
Lemma infinite_near (e : R) : (forall r, b <= r -> S (e - side / r) /\ C * r <= f (e - side / r)) -> (\int[leb]_(x in S) (f x)%:E = +oo)%E.
Proof.
move=> h; have ss : side * side = 1 by case: one => ->; rewrite ?mulN1r ?opprK ?mulr1.
pose B n := [set x : R | (2 ^+ n * b)^-1 < side * (e - x) <= b^-1].
pose A n := [set x : R | (2 ^+ n.+1 * b)^-1 < side * (e - x) <= (2 ^+ n * b)^-1].
have pos n : 0 < 2 ^+ n * b by rewrite mulr_gt0.
have up n : b <= 2 ^+ n * b by rewrite ler_pmull// exprn_ege1// ler1n.
have next' n : 2 ^+ n * b < 2 ^+ n.+1 * b by rewrite exprS -mulrA ltr_pmull ?ltr1n.
have next n : (2 ^+ n.+1 * b)^-1 < (2 ^+ n * b)^-1 by rewrite ltf_pinv ?posrE.
have up' n : (2 ^+ n * b)^-1 <= b^-1 by rewrite lef_pinv ?posrE.
have turn x : e - side / (side * (e - x))^-1 = x by rewrite invrK mulrA ss mul1r; lra.
have far x n : 0 < side * (e - x) -> side * (e - x) <= (2 ^+ n * b)^-1 -> 2 ^+ n * b <= (side * (e - x))^-1.
  by move=> x0 xn; rewrite -[leLHS]invrK lef_pinv ?posrE ?invr_gt0.
apply: (@infinite_by_parts R _ _ leb f A B (C / 2)) => //.
- by move=> n; have [] := strip_at e (next n).
- by rewrite divr_gt0.
- by apply/seteqP; split=> x; rewrite /B/= expr0 mul1r => // /andP[h1 /(lt_le_trans h1)]; rewrite ltxx.
- move=> n; apply/seteqP; split=> x; rewrite /A /B/=.
  + by move=> /andP[h1 h2]; case: (ltP (2 ^+ n * b)^-1 (side * (e - x))) => h3; [left | right; rewrite h1].
  + by move=> [/andP[h1 h2]|/andP[h1 h2]]; apply/andP; split => //; [exact: lt_trans (next n) h1 | exact: le_trans h2 (up' n)].
- by move=> n; apply/seteqP; split=> x //= [/andP[h1 _] /andP[_ h2]]; have := lt_le_trans h1 h2; rewrite ltxx.
- move=> n; exists (C * (2 ^+ n * b)); split; first by rewrite mulr_ge0 ?ltW.
  + move=> x /andP[h1 h2]; have x0 : 0 < side * (e - x) by apply: lt_trans h1; rewrite invr_gt0.
    have le := far x n x0 h2; have [_] := h _ (le_trans (up n) le); rewrite turn; apply: le_trans; by rewrite ler_pmul2l.
  + have [_ E] := strip_at e (next n).
    apply: le_trans (_ : ((C * (2 ^+ n * b))%:E * leb [set x : R | ((2 ^+ n.+1 * b)^-1 < side * (e - x) <= (2 ^+ n * b)^-1)%R])%E <= _)%E; last exact: lexx.
    rewrite E -EFinM lee_fin le_eqVlt; apply/orP; left; apply/eqP.
    have -> : (2 ^+ n * b)^-1 - (2 ^+ n.+1 * b)^-1 = (2 ^+ n * b)^-1 / 2 by rewrite exprS -[2 * _ * b]mulrA [(2 * _)^-1]invfM; lra.
    by rewrite -mulrA [2 ^+ n * b * _]mulrA divff ?gt_eqF// mul1r.
- move=> n x /andP[h1 h2]; have x0 : 0 < side * (e - x) by apply: lt_trans h1; rewrite invr_gt0.
  have le : b <= (side * (e - x))^-1 by rewrite -[leLHS]invrK lef_pinv ?posrE ?invr_gt0.
  by have [] := h _ le; rewrite turn.
Qed.
End Line.

(* -- The rule -- *)

Lemma measurable_power (R : realType) d' (T : measurableType d') (v : T -> R) n : measurable_fun setT v -> measurable_fun setT (fun y => v y ^+ n).
Proof.
move=> mv; elim: n => [|n IH]; first by under eq_fun do rewrite expr0; exact: measurable_fun_cst.
by under eq_fun do rewrite exprS; exact: measurable_funM.
Qed.

(* Noise whose density is a function of the length in a norm. *)
Section Radial.
Context (R : realType) d (Y : measurableType d) (mu P : {measure set Y -> \bar R}) (grow : R -> Y -> Y) (length : Y -> R) (dim q c K Kh b : R).
Context (f : R -> R) (h : Y -> R) (slope : R -> R) (a : R).
Hypotheses (mgrow : forall t, 0 < t -> measurable_fun setT (grow t)) (ml : measurable_fun setT length) (dim0 : 0 < dim) (q0 : 0 <= q).
Hypothesis grown : forall t A, 0 < t -> measurable A -> mu (grow t @^-1` A) = ((pw dim t^-1)%:E * mu A)%E.
Hypothesis length_grown : forall t y, 0 < t -> length (grow t y) = t * length y.
(* A power of the Euclidean length, or of a coordinate; the ball has inner points. *)
Hypotheses (mh : measurable_fun setT h) (h0 : forall y, 0 <= h y) (h_grown : forall t y, 0 < t -> h (grow t y) = pw q t * h y).
Hypotheses (ball1 : mu (ball length 1) = K%:E) (over_ball : (\int[mu]_(y in ball length 1) (h y)%:E = Kh%:E)%E) (inner : 0 < Kh).
Hypotheses (mf : measurable_fun setT f) (f0 : forall s, 0 <= f s) (c0 : 0 <= c) (b0 : 0 < b) (P1 : P setT = 1%E).
Hypothesis Pp : has_density mu P (fun y => c * f (length y / b)).
(* What is checked, of the density times the power. *)
Let F (r : R) : R := pw (dim + q - 1) r * f r.
Hypotheses (a0 : 0 <= a) (positive : forall r, a < r -> 0 < F r).
Hypothesis sloped : forall r : R, a < r -> is_derive r (1 : R) (fun x : R => - ln (F x)) (slope r).
Hypothesis slow : forall r, a < r -> r * slope r <= 1.

(* Rule: infinite-moments, in part: mixtures of a scale family. *)
Theorem infinite_radial : (\int[P]_y (h y)%:E = +oo)%E.
Proof.
apply: (infinite_mean mgrow ml dim0 q0 grown length_grown mh h0 h_grown ball1 over_ball mf f0 c0 b0 P1 Pp inner).
have [C [C0 least]] := at_least_inverse a0 positive sloped slow; have b1 : 0 < a + 1 by lra.
rewrite /radial_integral; apply: (@infinite_far R F 1 C (a + 1)) => //.
- by apply: measurable_funM => //; exact: measurable_pw.
- by move=> s; rewrite mulr_ge0// ltW// pw_gt0.
- by left.
- exact: measurable_itv.
- by move=> r ar; rewrite mul1r; split; [rewrite /= in_itv/= andbT (lt_le_trans b1)| exact: least].
Qed.
End Radial.

(* A number that has a density on the line, such as each of independent coordinates; and what is at least as great, such as their length. *)
Section Number.
Context (R : realType) d (Y : measurableType d) (P : {measure set Y -> \bar R}) (u len : Y -> R) (p : nat) (c side a : R) (g slope : R -> R).
Notation leb := (@lebesgue_measure R).
Variable L : {measure set (line R) -> \bar R}.
Hypotheses (mu : measurable_fun setT u) (ml : measurable_fun setT len) (ul : forall y, `|u y| <= len y).
Hypotheses (law_of : forall S : set R, measurable S -> L S = P (u @^-1` S)) (Lp : has_density leb L (fun z => c * g z)) (c0 : 0 < c).
Hypotheses (mg : measurable_fun setT g) (g0 : forall z, 0 <= g z) (one : side = 1 \/ side = -1) (a0 : 0 <= a).
Let size (z : R) : R := `|z| ^+ p.

Let msize : measurable_fun setT size.
Proof. by apply: measurable_power; exact: measurable_fun_normr. Qed.
Let size0 z : 0 <= size z. Proof. exact: exprn_ge0. Qed.

Let line_mu : @measurable_fun _ _ Y (line R) setT u. Proof. exact: mu. Qed.

Lemma number_mean : (\int[P]_y (size (u y))%:E = c%:E * \int[leb]_z (g z * size z)%:E)%E.
Proof.
have sE (z : line R) : (0 <= (size z)%:E)%E by rewrite lee_fin.
have ms : @measurable_fun _ _ (line R) _ setT (fun z : line R => (size z)%:E) by exact/EFin_measurable_fun.
transitivity (\int[pushforward P line_mu]_z (size z)%:E)%E; first by apply/esym; exact: (integral_pushforward line_mu P ms sE).
transitivity (\int[L]_z (size z)%:E)%E.
  by apply: eq_measure_integral => A mA _; exact/esym/law_of.
rewrite (integral_density Lp ms sE) -integral_scaled ?(ltW c0)//; last 2 first.
- by move=> z; exact: mulr_ge0.
- exact: measurable_funM.
by apply: eq_integral => z _; rewrite -EFinM mulrA.
Qed.

Lemma infinite_number : (\int[leb]_z (g z * size z)%:E = +oo)%E ->
  (\int[P]_y (`|u y| ^+ p)%:E = +oo)%E /\ (\int[P]_y (len y ^+ p)%:E = +oo)%E.
Proof.
move=> i; have e : (\int[P]_y (`|u y| ^+ p)%:E = +oo)%E by rewrite number_mean i gt0_muley ?lte_fin.
split=> //; apply/eqP; rewrite -leye_eq -e.
have len0 y : 0 <= len y by exact: le_trans (ul y).
have m1 : measurable_fun setT (fun y => (`|u y| ^+ p)%:E).
  by apply/EFin_measurable_fun; apply: measurable_power; exact: (measurable_fun_comp (@measurable_fun_normr R setT) mu).
have m2 : measurable_fun setT (fun y => (len y ^+ p)%:E) by apply/EFin_measurable_fun; exact: measurable_power.
have p1 y : setT y -> (0 <= (`|u y| ^+ p)%:E)%E by rewrite lee_fin exprn_ge0.
have p2 y : setT y -> (0 <= (len y ^+ p)%:E)%E by rewrite lee_fin exprn_ge0.
have le y : setT y -> ((`|u y| ^+ p)%:E <= (len y ^+ p)%:E)%E by rewrite lee_fin ler_expn2r ?nnegrE.
exact: ge0_le_integral.
Qed.

Section Far.
Let F (r : R) : R := g (side * r) * `|side * r| ^+ p.
Hypotheses (positive : forall r, a < r -> 0 < F r) (slow : forall r, a < r -> r * slope r <= 1).
Hypothesis sloped : forall r : R, a < r -> is_derive r (1 : R) (fun x : R => - ln (F x)) (slope r).

(* Rule: infinite-moments, in part: mixtures of a scale family. *)
Theorem infinite_number_far : (\int[P]_y (`|u y| ^+ p)%:E = +oo)%E /\ (\int[P]_y (len y ^+ p)%:E = +oo)%E.
Proof.
have [C [C0 least]] := at_least_inverse a0 positive sloped slow; have b1 : 0 < a + 1 by lra.
apply: infinite_number; apply: (@infinite_far R (fun z => g z * size z) side C (a + 1)) => //.
- exact: measurable_funM.
- by move=> z; exact: mulr_ge0.
- by move=> r ar; split=> //; exact: least.
Qed.
End Far.

(* The density has a finite end, or is infinite at one. *)
Section Near.
Variable e : R.
Let F (r : R) : R := g (e - side / r) * `|e - side / r| ^+ p * r ^- 2.
Hypotheses (positive : forall r, a < r -> 0 < F r) (slow : forall r, a < r -> r * slope r <= 1).
Hypothesis sloped : forall r : R, a < r -> is_derive r (1 : R) (fun x : R => - ln (F x)) (slope r).

(* Rule: infinite-moments, in part: mixtures of a scale family. *)
Theorem infinite_number_near : (\int[P]_y (`|u y| ^+ p)%:E = +oo)%E /\ (\int[P]_y (len y ^+ p)%:E = +oo)%E.
Proof.
have [C [C0 least]] := at_least_inverse a0 positive sloped slow; have b1 : 0 < a + 1 by lra.
apply: infinite_number; apply: (@infinite_near R (fun z => g z * size z) side C (a + 1) _ _ _ one C0 b1 _ e) => // [||r ar].
- exact: measurable_funM.
- by move=> z; exact: mulr_ge0.
have r0 : 0 < r by exact: lt_le_trans ar.
split=> //; have := ler_wpmul2r (ltW (exprn_gt0 2 r0)) (least r ar); rewrite /F divfK ?expf_neq0 ?gt_eqF//.
have -> : C / r * r ^+ 2 = C * r by rewrite expr2 mulrA divfK ?gt_eqF.
by [].
Qed.
End Near.
End Number.

(* Whole numbers with probabilities. *)
Section Integers.
Context (R : realType) d (Y : measurableType d) (P : {measure set Y -> \bar R}) (u len : Y -> R) (p : nat) (c side : R) (beyond : nat) (g slope : R -> R).
Hypotheses (mu : measurable_fun setT u) (ml : measurable_fun setT len) (ul : forall y, `|u y| <= len y) (c0 : 0 < c).
Hypotheses (one : side = 1 \/ side = -1) (g0 : forall z, 0 <= g z).
Hypothesis masses : forall n : nat, (beyond < n)%N -> P (u @^-1` [set side * n%:R]) = (c * g (side * n%:R))%:E.
Let F (r : R) : R := g (side * r) * `|side * r| ^+ p.
Hypotheses (positive : forall r, beyond%:R < r -> 0 < F r) (slow : forall r, beyond%:R < r -> r * slope r <= 1).
Hypothesis sloped : forall r : R, beyond%:R < r -> is_derive r (1 : R) (fun x : R => - ln (F x)) (slope r).

(* The sum of 1/k has no bound. *)
Lemma harmonic_unbounded (t : R) : exists n, t <= \sum_(k < n) (k.+1%:R)^-1.
Proof.
apply/not_existsP => none; have up n : series (@harmonic R) n <= t.
  by rewrite /series/= big_mkord; have := none n; case: (leP t) => // h _; exact: ltW.
apply: (@dvg_harmonic R); apply: nondecreasing_is_cvg; last by exists t => _ [n _ <-].
by apply/nondecreasing_seqP => n; rewrite /series/= big_nat_recr//= ler_addl invr_ge0.
Qed.

(* Rule: infinite-moments, in part: mixtures of a scale family. *)
Theorem infinite_integers : (\int[P]_y (`|u y| ^+ p)%:E = +oo)%E /\ (\int[P]_y (len y ^+ p)%:E = +oo)%E.
Proof.
have [C [C0 least]] := at_least_inverse (ler0n R beyond) positive sloped slow.
have len0 y : 0 <= len y by exact: le_trans (ul y).
have m1 : measurable_fun setT (fun y => `|u y| ^+ p).
  have ma : measurable_fun setT (fun y => `|u y|) by exact: (measurable_fun_comp (@measurable_fun_normr R setT) mu).
  exact: measurable_power.
have m1E : measurable_fun setT (fun y => (`|u y| ^+ p)%:E) by exact/EFin_measurable_fun.
have m2 : measurable_fun setT (fun y => (len y ^+ p)%:E) by apply/EFin_measurable_fun; exact: measurable_power.
have p1 y : setT y -> (0 <= (`|u y| ^+ p)%:E)%E by rewrite lee_fin exprn_ge0.
have p2 y : setT y -> (0 <= (len y ^+ p)%:E)%E by rewrite lee_fin exprn_ge0.
have le y : setT y -> ((`|u y| ^+ p)%:E <= (len y ^+ p)%:E)%E by rewrite lee_fin ler_expn2r ?nnegrE.
suff e : (\int[P]_y (`|u y| ^+ p)%:E = +oo)%E by split=> //; apply/eqP; rewrite -leye_eq -e; exact: ge0_le_integral.
pose at_ k : R := side * (beyond + k).+1%:R.
pose A k : set Y := u @^-1` [set at_ k].
have mA k : measurable (A k) by rewrite /A -[X in measurable X]setTI; apply: mu => //; exact: measurable_set1.
have side0 : side != 0 by case: one => ->; rewrite ?oppr_eq0 oner_eq0.
have apart i j : at_ i = at_ j -> i = j by move/(mulfI side0)/eqP; rewrite eqr_nat eqSS eqn_add2l => /eqP.
pose S n y : R := \sum_(k < n) `|at_ k| ^+ p * \1_(A k) y.
have S_le n y : S n y <= `|u y| ^+ p.
  elim: n => [|n IH]; first by rewrite /S big_ord0 exprn_ge0.
  rewrite /S big_ord_recr/= -/(S n y) [\1_(A n) y]indicE; case: (boolP (y \in A n)) => [|_]; last by rewrite mulr0 addr0.
  rewrite inE /A/= => un; rewrite mulr1 un {1}/S big1 ?add0r// => k _; rewrite indicE memNset ?mulr0//=.
  rewrite /A/= un => /apart nk; have kn := ltn_ord k; by rewrite -nk ltnn in kn.
have S_int n : (\int[P]_y (S n y)%:E = (\sum_(k < n) c * F (beyond + k).+1%:R)%:E)%E.
  rewrite /S; under eq_integral do rewrite -sumEFin; rewrite ge0_integral_sum//; last 2 first.
  - move=> k; apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_fun_indic].
  - by move=> k y _; rewrite lee_fin mulr_ge0 ?exprn_ge0// indicE ler0n.
  rewrite -sumEFin; apply: eq_bigr => k _; rewrite integral_scaled//; last exact: measurable_fun_indic.
  rewrite integral_indic// setIT /A masses; last by rewrite ltnS leq_addr.
  by rewrite -EFinM; congr EFin; rewrite /F /at_; lra.
apply: eq_infty => t; have cC : 0 < c * C / beyond.+1%:R by rewrite divr_gt0// mulr_gt0.
have [n tn] := harmonic_unbounded (t / (c * C / beyond.+1%:R)).
have : t <= \sum_(k < n) c * F (beyond + k).+1%:R.
  rewrite ler_pdivr_mulr// in tn; apply: le_trans tn _; rewrite mulr_suml; apply: ler_sum => k _.
  apply: le_trans (_ : c * (C / (beyond + k).+1%:R) <= _); last first.
    by rewrite ler_pmul2l//; apply: least; rewrite natr1 ler_nat ltnS leq_addr.
  have inv : k.+1%:R^-1 * beyond.+1%:R^-1 <= (beyond + k).+1%:R^-1 :> R.
    rewrite -invfM -natrM lef_pinv ?posrE ?ltr0n// ler_nat.
    by rewrite mulSn mulnS addSn ltnS addnA leq_addr.
  have := ler_wpmul2l (ltW (mulr_gt0 c0 C0)) inv; lra.
move=> h; apply: le_trans (_ : ((\sum_(k < n) c * F (beyond + k).+1%:R)%:E <= _)%E); first by rewrite lee_fin.
rewrite -S_int; apply: ge0_le_integral => //.
- move=> y _; rewrite lee_fin /S; apply: sumr_ge0 => k _; by rewrite mulr_ge0 ?exprn_ge0// indicE ler0n.
- apply/EFin_measurable_fun; apply: measurable_sum => k; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_fun_indic].
- by move=> y _; rewrite lee_fin.
Qed.
End Integers.
