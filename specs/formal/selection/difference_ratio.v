(* The probability S(u) that the difference of two noises is u or more, and S(u + r) (docs/theory/selection.md, two candidates): their ratio is at most e^v
   where it is so by lines between the cuts, at the first cut, and by the slope of -log f from half the last cut on. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic kernels selection survival_cells independent likelihood laplace_curve greatest_real.
From dpverify Require Import lipschitz_exponent survival noise_difference lines_on_cells.
Import numFieldNormedType.Exports.

Section Far.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (dens : has_density lam mu f) (even : forall z, f (- z) = f z).
Context (v r m0 : R).
Hypothesis r0 : 0 < r.
Hypothesis ratio : forall z, m0 <= z -> f z <= expR v * f (z + r).
Hypothesis tails : forall z, m0 <= z -> S mu z <= expR v * S mu (z + r).
Local Notation B := (beyond mu).

Let f0 z : 0 <= f z. Proof. by have [] := dens. Qed.
Let mf : measurable_fun setT f. Proof. by have [] := dens. Qed.

(* Given one noise the other has to be far out; one of the two is at least u/2, and the one that is moves by r. *)
Lemma far_out u : 2 * m0 <= u -> B u <= expR v * B (u + r).
Proof.
move=> um; pose D : set R := [set z : R | u / 2 <= z].
have mD : measurable D by exact: measurable_ray.
pose k w z := S mu (w - z).
have tk w : test (k w).
  split=> [|z]; last exact: S01.
  by apply: (measurable_after (f := fun z : R => w - z)) (measurable_tail mu1); exact: measurable_reflection.
have BE w : (B w)%:E = (\int[lam]_z (f z * k w z)%:E)%E.
  by rewrite /beyond (mean_reflected lamE mu1 dens even (test_tail mu1 w)) (mean_as_integral mu1 dens (tk w)).
have k0 w z : 0 <= k w z by case: (tk w) => _ /(_ z)/andP[].
have m1 : measurable_fun setT (fun z => f z * k (u + r) z * \1_D (z - r)).
  apply: measurable_funM; first exact: (measurable_weighted dens (tk _)).
  by apply: (measurable_after (f := fun z : R => z + - r)); [exact: measurable_translation | exact: measurable_fun_indic].
have p1 z : 0 <= f z * k (u + r) z * \1_D (z - r) by rewrite !mulr_ge0.
have m2 : measurable_fun setT (fun z => f z * k (u + r) z * \1_(~` D) z).
  apply: measurable_funM; first exact: (measurable_weighted dens (tk _)).
  by apply: measurable_fun_indic; exact: measurableC.
have p2 z : 0 <= f z * k (u + r) z * \1_(~` D) z by rewrite !mulr_ge0.
have m1r : measurable_fun setT (fun z : R => f (z + r) * k (u + r) (z + r) * \1_D (z + r - r)).
  exact: (measurable_after (measurable_translation r) m1).
rewrite -lee_fin EFinM !BE.
apply: (@le_trans _ _ ((expR v)%:E * (\int[lam]_z (f (z + r) * k (u + r) (z + r) * \1_D (z + r - r) + f z * k (u + r) z * \1_(~` D) z)%:E))%E).
  rewrite -ge0_integralM ?lee_fin ?expR_ge0//; last 2 first.
  - by apply/EFin_measurable_fun; exact: measurable_funD.
  - by move=> z _; rewrite lee_fin addr_ge0.
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin mulr_ge0.
  - by apply/EFin_measurable_fun; exact: (measurable_weighted dens (tk _)).
  - by move=> z _; rewrite lee_fin mulr_ge0 ?expR_ge0// addr_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_funD].
  move=> z _; rewrite lee_fin addrK !indicE in_setC.
  have kE : k (u + r) (z + r) = k u z by rewrite /k; congr (S mu _); lra.
  have [zD|zD] := boolP (z \in D).
    rewrite mulr1 mulr0 addr0 kE mulrA; apply: ler_wpmul2r => //; apply: ratio.
    by move: zD; rewrite inE /D/=; lra.
  rewrite mulr0 add0r mulr1 mulrCA; apply: ler_wpmul2l => //.
  rewrite /k (_ : u + r - z = u - z + r); last by rewrite addrAC.
  by apply: tails; move: zD; rewrite notin_set /D/= => /negP; rewrite -ltNge; lra.
apply: lee_wpmul2l; first by rewrite lee_fin expR_ge0.
rewrite (eq_integral (fun z : R => (f (z + r) * k (u + r) (z + r) * \1_D (z + r - r))%:E + (f z * k (u + r) z * \1_(~` D) z)%:E)%E).
  2: by move=> z _; rewrite -EFinD.
rewrite ge0_integralD//; first last.
- by apply/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin.
- by apply/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin.
rewrite -(integral_translated lamE r m1 p1) -ge0_integralD//; first last.
- by apply/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin.
- by apply/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin.
apply: ge0_le_integral => //.
- by move=> z _; rewrite adde_ge0// lee_fin.
- by apply: emeasurable_funD; exact/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin mulr_ge0.
- by apply/EFin_measurable_fun; exact: (measurable_weighted dens (tk _)).
move=> z _; rewrite -EFinD lee_fin -mulrDr ler_pimulr ?mulr_ge0// !indicE in_setC.
have [zD|zD] := boolP (z - r \in D); last by rewrite add0r lern1 leq_b1.
have -> : z \in D by move: zD; rewrite !inE /D/=; move: r0; lra.
by rewrite addr0.
Qed.
End Far.

(* The two halves of a cell, from one part of the way to the other. *)
Definition half_starts (R : realType) (second : bool) : R := if second then 2^-1 else 0.
Definition half_ends (R : realType) (second : bool) : R := if second then 1 else 2^-1.

Section Everywhere.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (dens : has_density lam mu f).
Hypotheses (even : forall z, f (- z) = f z) (past_mode : forall x y, 0 < x -> x <= y -> f y <= f x).
Context (v r : R) (N : nat) (c : nat -> R) (h dh : R -> R) (bad : seq R).
Local Notation B := (beyond mu).
Hypotheses (r0 : 0 < r) (rise : forall j, (j < N)%N -> c j < c j.+1) (last0 : 0 <= c N).
Hypotheses (first0 : 0 < B (c 0%N + r)) (first : - ln (B (c 0%N + r)) <= v).

(* On each half of a cell a line above S(u), and one below S(u + r) that is positive, whose ratio is at most e^v at both ends. *)
Hypothesis cells : forall i second, (i < N)%N -> exists p q p' q' : R,
  [/\ line_above B c N i p q, line_below B (fun j => c j + r) N i p' q' &
   forall t, t = half_starts R second \/ t = half_ends R second -> 0 < p' + q' * t /\ ln ((p + q * t) / (p' + q' * t)) <= v].

(* The slope of -log f, from half the last cut on. *)
Hypotheses (fE : forall z, c N / 2 <= z -> f z = expR (- h z)) (cont : {within `[c N / 2, +oo[, continuous h}).
Hypothesis slope : forall z : R, c N / 2 < z -> z \notin bad -> is_derive z 1 h (dh z) /\ `|dh z| <= v / r.

Lemma slope_ratio z : c N / 2 <= z -> f z <= expR v * f (z + r).
Proof.
move=> z0; have z1 : c N / 2 <= z + r by apply: le_trans z0 _; rewrite ler_addl ltW.
rewrite !fE// -expRD ler_expR.
have := @slope_lipschitz R h dh bad (v / r) z (z + r); rewrite ler_addl (ltW r0) => /(_ isT) lip.
have : `|h (z + r) - h z| <= v / r * (z + r - z).
  apply: lip; last by move=> x /andP[zx _] xb; apply: slope => //; exact: le_lt_trans zx.
  by apply: continuous_subspaceW cont => x /=; rewrite !in_itv/= => /andP[zx _]; rewrite andbT (le_trans z0).
rewrite addrAC subrr add0r divfK ?gt_eqF// => /(le_trans (ler_norm _)); lra.
Qed.

Lemma slope_tails z : c N / 2 <= z -> S mu z <= expR v * S mu (z + r).
Proof.
move=> z0; rewrite -lee_fin EFinM -!(massS mu1).
exact: (right_of_the_cuts (lebesgue_density lamE dens) r0 fE cont slope z0).
Qed.

Lemma at_most_between (a b e0 e1 t : R) : e0 <= t -> t <= e1 -> a + b * e0 <= 0 -> a + b * e1 <= 0 -> a + b * t <= 0.
Proof.
move=> te0 te1 h0 h1; have [b0|b0] := leP 0 b.
  by apply: le_trans h1; rewrite ler_add2l ler_wpmul2l.
by apply: le_trans h0; rewrite ler_add2l ler_wnmul2l// ltW.
Qed.

Lemma within_bound (a b : R) : 0 < b -> ln (a / b) <= v -> a <= expR v * b.
Proof.
move=> b0; have [a0|a0] := ltP 0 a; last by move=> _; rewrite (le_trans a0)// mulr_ge0 ?expR_ge0// ltW.
by move=> le; rewrite -ler_pdivr_mulr// -[leLHS]lnK ?posrE ?divr_gt0// ler_expR.
Qed.

Lemma on_cell i u : (i < N)%N -> c i <= u -> u <= c i.+1 -> B u <= expR v * B (u + r).
Proof.
move=> iN cu uc; have w0 : 0 < c i.+1 - c i by rewrite subr_gt0 rise.
pose t := (u - c i) / (c i.+1 - c i).
have t01 : 0 <= t <= 1.
  by rewrite /t; apply/andP; split; [rewrite divr_ge0 ?subr_ge0// ltW// -subr_gt0 | rewrite ler_pdivr_mulr// mul1r ler_add2r].
have uE : c i + t * (c i.+1 - c i) = u by rewrite /t divfK ?gt_eqF// addrC subrK.
have fl := beyond_falls mu1 dens; have sl := beyond_slower lamE mu1 dens even past_mode; have re := beyond_reflected lamE mu1 dens even.
have rise' j : (j < N)%N -> c j + r < c j.+1 + r by move=> jN; rewrite ltr_add2r rise.
have [p [q [p' [q' [above below ends]]]]] := cells (2^-1 <= t) iN.
have up := above_cell fl sl re rise iN above t01; rewrite uE in up.
have down := below_cell fl sl re rise' iN below t01.
have u'E : c i + r + t * (c i.+1 + r - (c i + r)) = u + r by rewrite -uE opprD addrACA subrr addr0 addrAC.
rewrite u'E in down; apply: (le_trans up); apply: le_trans (ler_wpmul2l (expR_ge0 v) down).
have at_end e : e = half_starts R (2^-1 <= t) \/ e = half_ends R (2^-1 <= t) -> (p - expR v * p') + (q - expR v * q') * e <= 0.
  move=> /ends [pos le]; have := within_bound pos le; rewrite !mulrDr mulrBl mulrA; lra.
have := at_most_between _ _ (at_end _ (or_introl erefl)) (at_end _ (or_intror erefl)).
rewrite /half_starts /half_ends => close; rewrite -subr_le0.
have -> : p + q * t - expR v * (p' + q' * t) = p - expR v * p' + (q - expR v * q') * t by rewrite mulrDr mulrBl mulrA opprD addrACA.
by apply: close; case/andP: t01; case: ifP => // /negbT; rewrite -ltNge => /ltW.
Qed.

Theorem ratio_everywhere u : B u <= expR v * B (u + r).
Proof.
have [far|/ltW near] := leP (c N) u.
  apply: (far_out lamE mu1 dens even r0 slope_ratio slope_tails); lra.
have inside k : (k <= N)%N -> forall w, w <= c k -> B w <= expR v * B (w + r).
  elim: k => [|k IH] kn w wk.
    apply: (@le_trans _ _ (expR v * B (c 0%N + r))); last first.
      by apply: ler_wpmul2l; [exact: expR_ge0 | apply: (beyond_falls mu1 dens); rewrite ler_add2r].
    apply: (@le_trans _ _ 1); last by rewrite -[B (c 0%N + r)]lnK ?posrE// -expRD -[leLHS]expR0 ler_expR -ler_subl_addr sub0r.
    have := beyond_reflected lamE mu1 dens even w; have : 0 <= B (- w); last by move=> ? ?; lra.
    by rewrite /beyond /mean fine_ge0//; apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (S01 mu1 (- w + z)).
  have [le | /ltW kw] := leP w (c k); first by apply: IH => //; exact: ltnW.
  exact: (on_cell kn).
exact: (inside N).
Qed.
End Everywhere.
