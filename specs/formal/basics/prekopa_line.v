(* Prekopa's inequality on the line (docs/theory/curves.md: vertices of log-concave noise). Of three functions, where the third at any mixture of two
   points is at least the geometric mean of the first two at them, so are the integrals. The sets above a level are compared by their lengths, for
   functions that are not below a level between two points where they are above it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic powers kernels likelihood laplace_curve independent integral_levels.
Import numFieldNormedType.Exports.

Section Line.
Context (R : realType) (t : R).
Hypotheses (t0 : 0 < t) (t1 : t < 1).
Notation leb := (@lebesgue_measure R).
Implicit Types (A B C : set R) (x y u v l c : R).

(* A mixture of two points, and the geometric mean of two positive numbers. *)
Definition mixed x y := t * x + (1 - t) * y.
Definition geometric u v : R := expR (t * ln u + (1 - t) * ln v).

Let s0 : 0 < 1 - t. Proof. by rewrite subr_gt0. Qed.

Lemma geometric_mixed u v : 0 < u -> 0 < v -> geometric u v <= mixed u v.
Proof.
move=> u0 v0; rewrite /geometric /mixed; set g := t * ln u + _.
have above w : 0 < w -> expR g * (1 + (ln w - g)) <= w.
  move=> w0; have {2}-> : w = expR g * expR (ln w - g) by rewrite -expRD addrC subrK lnK.
  by rewrite ler_pmul2l ?expR_gt0//; exact: expR_ge1D.
have := ler_add (ler_wpmul2l (ltW t0) (above u u0)) (ler_wpmul2l (ltW s0) (above v v0)); apply: le_trans.
have -> : t * (expR g * (1 + (ln u - g))) + (1 - t) * (expR g * (1 + (ln v - g))) = expR g * (1 + (t * ln u + (1 - t) * ln v - g)) by lra.
by rewrite -/g subrr addr0 mulr1.
Qed.

Lemma geometric_gt0 x y : 0 < geometric x y. Proof. exact: expR_gt0. Qed.
Lemma geometricM x y x' y' : 0 < x -> 0 < y -> 0 < x' -> 0 < y' -> geometric (x * x') (y * y') = geometric x y * geometric x' y'.
Proof. by move=> x0 y0 x0' y0'; rewrite /geometric !lnM ?posrE// -expRD; congr expR; lra. Qed.
Lemma geometric_above x y l : l < x -> l < y -> 0 < x -> 0 < y -> l < geometric x y.
Proof.
move=> lx ly x0 y0; have [l0|l0] := leP l 0; first exact: le_lt_trans l0 (expR_gt0 _).
rewrite -(lnK (x := l)) ?posrE// /geometric ltr_expR.
have hx : ln l < ln x by rewrite ltr_ln ?posrE.
have hy : ln l < ln y by rewrite ltr_ln ?posrE.
have e1 : 0 < t * (ln x - ln l) by rewrite mulr_gt0// subr_gt0.
have e2 : 0 < (1 - t) * (ln y - ln l) by rewrite mulr_gt0// subr_gt0.
lra.
Qed.

(* -- Lengths -- *)
(* A set has at most the length by which two of its points can be apart. *)
Lemma diameter A l : measurable A -> A !=set0 -> (forall x y, A x -> A y -> y - x <= l) -> (leb A <= l%:E)%E.
Proof.
move=> mA A0 Al; have [a Aa] := A0; have l0 : 0 <= l by have := Al a a Aa Aa; rewrite subrr.
have lower : has_lbound A by exists (a - l) => x Ax; have := Al x a Ax Aa; lra.
have inside : A `<=` `[inf A, inf A + l]%classic.
  move=> x Ax; rewrite /= in_itv/= (inf_lb lower Ax)/= -ler_subl_addr.
  by apply: lb_le_inf => // y Ay; have := Al y x Ay Ax; lra.
apply: (@le_trans _ _ (leb `[inf A, inf A + l]%classic)).
  by apply: le_measure => //; rewrite inE//; exact: measurable_itv.
rewrite lebesgue_measure_itv hlength_itv/= lte_fin; case: ifP => _; last by rewrite lee_fin.
by rewrite -EFinB lee_fin; lra.
Qed.

Definition convex A := forall x y u, A x -> A y -> x <= u -> u <= y -> A u.

(* Lengths of mixtures of convex sets. *)
Lemma mixed_lengths A B C : measurable A -> measurable B -> measurable C -> A !=set0 -> B !=set0 -> convex A -> convex B ->
  (forall x y, A x -> B y -> C (mixed x y)) -> (t%:E * leb A + (1 - t)%:E * leb B <= leb C)%E.
Proof.
move=> mA mB mC A0 B0 cA cB AB.
have long x x' y y' : A x -> A x' -> x <= x' -> B y -> B y' -> y <= y' -> ((t * (x' - x) + (1 - t) * (y' - y))%:E <= leb C)%E.
  move=> Ax Ax' xx By By' yy.
  have len : 0 <= mixed x' y' - mixed x y by rewrite /mixed; have := ler_add (ler_wpmul2l (ltW t0) xx) (ler_wpmul2l (ltW s0) yy); lra.
  apply: (@le_trans _ _ (leb `[mixed x y, mixed x' y']%classic)).
    rewrite lebesgue_measure_itv hlength_itv/= lte_fin; case: ifP => [_|/negbT].
      by rewrite -EFinB lee_fin /mixed; lra.
    by rewrite -leNgt lee_fin /mixed; lra.
  apply: le_measure; rewrite ?inE//; first exact: measurable_itv.
  move=> z /=; rewrite in_itv/= => /andP[z1 z2].
  have [e|/eqP ne] := eqVneq (mixed x' y') (mixed x y).
    by have -> : z = mixed x y by [lra]; exact: AB.
  have L : 0 < mixed x' y' - mixed x y by rewrite lt_def len andbT subr_eq0; exact/eqP.
  pose w := (z - mixed x y) / (mixed x' y' - mixed x y).
  have w0 : 0 <= w by rewrite divr_ge0// subr_ge0.
  have w1 : w <= 1 by rewrite ler_pdivr_mulr// mul1r; lra.
  have -> : z = mixed (x + w * (x' - x)) (y + w * (y' - y)).
    have : w * (mixed x' y' - mixed x y) = z - mixed x y by rewrite /w mulfVK// gt_eqF.
    by rewrite /mixed; lra.
  have inner a b : a <= b -> a <= a + w * (b - a) /\ a + w * (b - a) <= b.
    by move=> ab; have d : 0 <= b - a by [rewrite subr_ge0]; have := mulr_ge0 w0 d; have := ler_wpmul2r d w1; split; lra.
  by have [i1 i2] := inner _ _ xx; have [i3 i4] := inner _ _ yy; apply: AB; [exact: cA Ax Ax' _ _ | exact: cB By By' _ _].
have [->|Coo] := eqVneq (leb C) +oo%E; first by rewrite leey.
have C0 : (0 <= leb C)%E by exact: measure_ge0.
have fin : leb C \is a fin_num by rewrite ge0_fin_numE// ltey.
move: long; rewrite -(fineK fin); move: (fine _) => c long.
have [b Bb] := B0; have [a Aa] := A0; have c0 : 0 <= c by have := long a a b b Aa Aa (lexx _) Bb Bb (lexx _); rewrite lee_fin !subrr !mulr0 addr0.
have ordered x x' y y' : A x -> A x' -> B y -> B y' -> t * (x' - x) + (1 - t) * (y' - y) <= c.
  move=> Ax Ax' By By'; have m (s p : R) : 0 <= s -> p <= 0 -> s * p <= 0 by move=> h k; rewrite mulr_ge0_le0.
  have [xx|/ltW xx] := leP x x'; have [yy|/ltW yy] := leP y y'.
  - by have := long _ _ _ _ Ax Ax' xx By By' yy; rewrite lee_fin.
  - have h : y' - y <= 0 by lra.
    by have := long _ _ _ _ Ax Ax' xx By By (lexx y); rewrite lee_fin subrr mulr0 addr0; have := m _ _ (ltW s0) h; lra.
  - have h : x' - x <= 0 by lra.
    by have := long _ _ _ _ Ax Ax (lexx x) By By' yy; rewrite lee_fin subrr mulr0 add0r; have := m _ _ (ltW t0) h; lra.
  - have h : y' - y <= 0 by lra. have k : x' - x <= 0 by lra.
    by have := m _ _ (ltW s0) h; have := m _ _ (ltW t0) k; lra.
have bB x x' : A x -> A x' -> (leb B <= ((c - t * (x' - x)) / (1 - t))%:E)%E.
  by move=> Ax Ax'; apply: diameter => // y y' By By'; rewrite ler_pdivl_mulr// mulrC; have := ordered _ _ _ _ Ax Ax' By By'; lra.
have finB : leb B \is a fin_num by rewrite ge0_fin_numE ?measure_ge0//; apply: le_lt_trans (bB a a Aa Aa) _; rewrite ltry.
move: bB; rewrite -(fineK finB); move: (fine _) => lB bB.
have bA : (leb A <= ((c - (1 - t) * lB) / t)%:E)%E.
  apply: diameter => // x x' Ax Ax'; rewrite ler_pdivl_mulr//; have := bB _ _ Ax Ax'.
  by rewrite lee_fin ler_pdivl_mulr//; lra.
apply: (@le_trans _ _ (t%:E * ((c - (1 - t) * lB) / t)%:E + (1 - t)%:E * lB%:E)%E).
  by apply: lee_add => //; apply: lee_wpmul2l; rewrite ?lee_fin// ltW.
by rewrite -!EFinM -EFinD lee_fin mulrC mulfVK ?gt_eqF//; lra.
Qed.
End Line.

Section Prekopa.
Context (R : realType) (t : R).
Hypotheses (t0 : 0 < t) (t1 : t < 1).
Notation leb := (@lebesgue_measure R).
Notation geo := (geometric t).
Notation mix := (mixed t).
Variables (f g h : R -> R) (a b u v : R).
Hypotheses (mf : measurable_fun setT f) (mg : measurable_fun setT g) (mh : measurable_fun setT h).
Hypotheses (f0 : forall x, 0 < f x) (g0 : forall x, 0 < g x) (h0 : forall x, 0 < h x).
Hypotheses (fa : forall x, f x <= a) (gb : forall x, g x <= b).
Hypotheses (cf : forall l, convex [set x | l < f x]) (cg : forall l, convex [set x | l < g x]).
Hypothesis above : forall x y, geo (f x) (g y) <= h (mix x y).

Let s0 : 0 < 1 - t. Proof. by rewrite subr_gt0. Qed.
Let K := sup [set f x | x in setT].
Let J := sup [set g x | x in setT].
Let hasf : has_sup [set f x | x in setT]. Proof. by split; [exists (f 0), 0 | exists a => _ [x _ <-]; exact: fa]. Qed.
Let hasg : has_sup [set g x | x in setT]. Proof. by split; [exists (g 0), 0 | exists b => _ [x _ <-]; exact: gb]. Qed.
Let fK x : f x <= K. Proof. by apply: sup_ub; [case: hasf | exists x]. Qed.
Let gJ x : g x <= J. Proof. by apply: sup_ub; [case: hasg | exists x]. Qed.
Let K0 : 0 < K. Proof. exact: lt_le_trans (f0 0) (fK 0). Qed.
Let J0 : 0 < J. Proof. exact: lt_le_trans (g0 0) (gJ 0). Qed.

(* With the same greatest value they are compared level by level. *)
Let f' x := f x / K.
Let g' x := g x / J.
Let h' x := h x / geo K J.
Let scaled (k : R -> R) c : 0 < c -> measurable_fun setT k -> (forall x, 0 < k x) -> measurable_fun setT (fun x => k x / c) /\ forall x, 0 <= k x / c.
Proof.
move=> c0 mk k0; split; last by move=> x; rewrite divr_ge0// ltW.
by apply: measurable_funM => //; exact: measurable_fun_cst.
Qed.

Let levels l : 0 <= l -> l < 1 -> (t%:E * level f' l + (1 - t)%:E * level g' l <= level h' l)%E.
Proof.
move=> l0 l1.
have set_at (k : R -> R) c : 0 < c -> [set x | l < k x / c] = [set x | l * c < k x].
  by move=> c0; apply/seteqP; split=> x; rewrite /= ltr_pdivl_mulr.
have mset (k : R -> R) : measurable_fun setT k -> measurable [set x | l < k x].
  by move=> mk; apply: measurable_where => //; exact: measurable_fun_cst.
have [mf' _] := scaled K0 mf f0; have [mg' _] := scaled J0 mg g0; have [mh' _] := scaled (geometric_gt0 t K J) mh h0.
apply: mixed_lengths => //; try exact: mset.
- by have [_ [x _ <-] lt] := @sup_gt _ _ (l * K) hasf.1 (eq_ind_r is_true l1 (gtr_pmull l K0)); exists x; rewrite /= /f' ltr_pdivl_mulr.
- by have [_ [x _ <-] lt] := @sup_gt _ _ (l * J) hasg.1 (eq_ind_r is_true l1 (gtr_pmull l J0)); exists x; rewrite /= /g' ltr_pdivl_mulr.
- by rewrite /f' set_at.
- by rewrite /g' set_at.
- move=> x y /= lx ly; rewrite /h' ltr_pdivl_mulr ?geometric_gt0//; apply: lt_le_trans (above x y).
  have -> : geo (f x) (g y) = geo (f' x) (g' y) * geo K J.
    by rewrite -geometricM ?divr_gt0// /f' /g' !divfK ?gt_eqF.
  by rewrite ltr_pmul2r ?geometric_gt0//; apply: (geometric_above t0 t1) => //; rewrite divr_gt0.
Qed.

Theorem prekopa_line : (\int[leb]_x (f x)%:E = u%:E)%E -> (\int[leb]_x (g x)%:E = v%:E)%E -> 0 < u -> 0 < v ->
  ((geo u v)%:E <= \int[leb]_x (h x)%:E)%E.
Proof.
move=> fu gv u0 v0; have G0 := geometric_gt0 t K J.
have [mf' f'0] := scaled K0 mf f0; have [mg' g'0] := scaled J0 mg g0; have [mh' h'0] := scaled G0 mh h0.
have part (k : R -> R) c I : 0 < c -> measurable_fun setT k -> (forall x, 0 < k x) ->
    (\int[leb]_x (k x)%:E = I)%E -> (\int[leb]_x (k x / c)%:E = (c^-1)%:E * I)%E.
  move=> c0 mk k0 <-; rewrite -(integral_scaled leb _ (fun x => ltW (k0 x)) mk measurableT) ?invr_ge0 ?ltW//.
  by apply: eq_integral => x _; rewrite mulrC.
have whole (k : R -> R) c I : 0 < c -> measurable_fun setT k -> (forall x, 0 < k x) -> (forall x, k x <= c) -> (\int[leb]_x (k x)%:E = I)%E ->
    (\int[leb]_(l in `[0%R, 1%R[%classic) level (fun x => k x / c) l = (c^-1)%:E * I)%E.
  move=> c0 mk k0 kc kI; have [mk' k'0] := scaled c0 mk k0; rewrite -layers// -(part k c I c0 mk k0 kI).
  by apply: eq_integral => x _; congr EFin; apply/min_idPl; rewrite ler_pdivr_mulr// mul1r.
have mI : measurable (`[0, 1[%classic : set R) by exact: measurable_itv.
have ml (k : R -> R) : measurable_fun setT k -> measurable_fun (`[0, 1[%classic : set R) (level k).
  by move=> mk; apply: (measurable_funS measurableT (@subsetT _ _)); exact: measurable_level.
have total : (t%:E * ((K^-1)%:E * u%:E) + (1 - t)%:E * ((J^-1)%:E * v%:E) <= ((geo K J)^-1)%:E * \int[leb]_x (h x)%:E)%E.
  rewrite -(whole f K _ K0 mf f0 fK fu) -(whole g J _ J0 mg g0 gJ gv) -(part h (geo K J) _ G0 mh h0 erefl).
  apply: (@le_trans _ _ (\int[leb]_x (Num.min (h x / geo K J) 1)%:E)%E); last first.
    apply: ge0_le_integral => //.
    - by move=> x _; rewrite lee_fin le_minr h'0 ler01.
    - rewrite (_ : (fun x => _) = (fun x => mine (h x / geo K J)%:E 1%:E)); last by apply/funext => x; rewrite /Order.min lte_fin; case: ifP.
      by apply: emeasurable_fun_min; [exact/EFin_measurable_fun | exact: measurable_fun_cst].
    - by move=> x _; rewrite lee_fin h'0.
    - by apply/EFin_measurable_fun.
    - by move=> x _; rewrite lee_fin le_minl lexx.
  rewrite layers//.
  rewrite -(ge0_integralM leb mI (ml f' mf') (fun x _ => measure_ge0 _ _) (ltW t0 : (0 <= t%:E)%E)).
  rewrite -(ge0_integralM leb mI (ml g' mg') (fun x _ => measure_ge0 _ _) (ltW s0 : (0 <= (1 - t)%:E)%E)).
  rewrite -ge0_integralD//; last 4 first.
  - by move=> x _; apply: mule_ge0; [rewrite lee_fin ltW | exact: measure_ge0].
  - by apply: emeasurable_funM; [exact: measurable_fun_cst | exact: ml].
  - by move=> x _; apply: mule_ge0; [rewrite lee_fin ltW | exact: measure_ge0].
  - by apply: emeasurable_funM; [exact: measurable_fun_cst | exact: ml].
  apply: ge0_le_integral => //.
  - by move=> x _; apply: adde_ge0; (apply: mule_ge0; [rewrite lee_fin ltW | exact: measure_ge0]).
  - by apply: emeasurable_funD; (apply: emeasurable_funM; [exact: measurable_fun_cst | exact: ml]).
  - exact: ml.
  - by move=> l /=; rewrite in_itv/= => /andP[l0 l1]; exact: levels.
have uK : 0 < u / K by rewrite divr_gt0. have vJ : 0 < v / J by rewrite divr_gt0.
have e : geo u v = geo K J * geo (u / K) (v / J) by rewrite -geometricM// ![_ * (_ / _)]mulrC !divfK ?gt_eqF.
apply: (@le_trans _ _ ((geo K J)%:E * (t * (u / K) + (1 - t) * (v / J))%:E)%E).
  by rewrite -EFinM lee_fin e ler_pmul2l//; exact: (geometric_mixed t0 t1).
apply: (@le_trans _ _ ((geo K J)%:E * (((geo K J)^-1)%:E * \int[leb]_x (h x)%:E))%E).
  apply: lee_wpmul2l; first by rewrite lee_fin ltW.
  by move: total; rewrite -!EFinM -EFinD ![_^-1 * _]mulrC.
by rewrite muleA -EFinM mulfV ?mul1e// gt_eqF.
Qed.
End Prekopa.
