(* Prekopa's theorem for independent coordinates of one log-concave density (docs/theory/curves.md: vertices of log-concave noise): where a function
   times the density is log-concave in a parameter and the coordinates together, its mean is log-concave in the parameter. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic powers kernels likelihood independent word_chances greatest_real prekopa_line.
Import numFieldNormedType.Exports.

Section Prekopa.
Context (R : realType) (lam P : {measure set R -> \bar R}) (h : R -> R) (b : R).
Hypothesis P1 : P setT = 1%E.
(* The density is exp(-h), and bounded. *)
Let f x := expR (- h x).
Hypotheses (lamE : is_lebesgue lam) (dens : has_density lam P f) (fb : forall x, f x <= b).
Notation leb := (@lebesgue_measure R).
Implicit Types (v w y : nat -> R) (z t : R) (G : (nat -> R) -> (nat -> R) -> R).

Definition blend t v w : nat -> R := fun j => mixed t (v j) (w j).
Definition put (n : nat) y z : nat -> R := fun j => if j == n then z else y j.

(* Functions of infinitely many numbers that are measurable whatever the numbers are functions of. *)
Definition reads (g : (nat -> R) -> R) :=
  forall d (T : measurableType d) (k : nat -> T -> R), (forall j, measurable_fun setT (k j)) -> measurable_fun setT (fun x => g (fun j => k j x)).

(* Times the density of the first n coordinates, log-concave in all. *)
Definition weighted_concave n G := forall t v w y y', 0 < t -> t < 1 ->
  t * (ln (G v y) - \sum_(j < n) h (y j)) + (1 - t) * (ln (G w y') - \sum_(j < n) h (y' j)) <=
  ln (G (blend t v w) (blend t y y')) - \sum_(j < n) h (blend t y y' j).

Lemma mean_positive (g : R -> R) : measurable_fun setT g -> (forall z, 0 < g z <= 1) ->
  [/\ 0 < fine (\int[P]_z (g z)%:E) <= 1, (\int[P]_z (g z)%:E = (fine (\int[P]_z (g z)%:E))%:E)%E &
      (\int[leb]_z (f z * g z)%:E = (fine (\int[P]_z (g z)%:E))%:E)%E].
Proof.
move=> mg g01; have g0 z : 0 < g z by case/andP: (g01 z).
have le1 : (\int[P]_z (g z)%:E <= 1)%E.
  rewrite -[leRHS]mule1 -[X in (_ <= _ * X)%E]P1 -(integral_cst P measurableT 1%E); apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin ltW.
  - exact/EFin_measurable_fun.
  - by move=> z _ /=; rewrite lee_fin.
  - exact: measurable_fun_cst.
  - by move=> z _ /=; rewrite lee_fin; case/andP: (g01 z).
have ge0 : (0 <= \int[P]_z (g z)%:E)%E by apply: integral_ge0 => z _; rewrite lee_fin ltW.
have fin : (\int[P]_z (g z)%:E = (fine (\int[P]_z (g z)%:E))%:E)%E by rewrite fineK// ge0_fin_numE//; apply: le_lt_trans le1 _; rewrite ltry.
split=> //; last first.
  rewrite -fin (integral_density dens); [|exact/EFin_measurable_fun | by move=> z; rewrite lee_fin ltW].
  have [f0 mf _] := dens; pose m := [the measure _ _ of @lebesgue_measure R]; pose k z := (f z * g z)%:E.
  rewrite (eq_integral k)//.
  apply/esym; refine (@integral_through R _ _ _ _ m lam (fun x => x) k _ _ _ _) => //.
  - by move=> _ A mA; rewrite setTI.
  - by apply/EFin_measurable_fun; exact: measurable_funM.
  - by move=> z; rewrite lee_fin mulr_ge0// ltW.
move: le1; rewrite {1}fin lee_fin => ->; rewrite andbT lt_neqAle -lee_fin -fin ge0 andbT.
apply/negP => /eqP zero; have : (\int[P]_(z in setT) `|(EFin \o g) z| = 0)%E.
  by rewrite zero -[RHS]fin; apply: eq_integral => z _ /=; rewrite ger0_norm// ltW.
move/(ae_eq_integral_abs P measurableT (iffRL (EFin_measurable_fun _ _) mg)) => [N [mN N0 sub]].
have : (P setT <= P N)%E.
  apply: le_measure; rewrite ?inE// => z _; apply: sub => /= all; have := all I => -[] e.
  by have := g0 z; rewrite e ltxx.
by rewrite P1 N0 lee_fin ler10.
Qed.

Definition last_mean n (g : (nat -> R) -> R) y : R := fine (\int[P]_z (g (put n y z))%:E).

Lemma reads_put n (g : (nat -> R) -> R) y : reads g -> measurable_fun setT (fun z => g (put n y z)).
Proof.
move=> rg; apply: (rg _ _ (fun j z => put n y z j)) => j; rewrite /put.
by case: (j == n); [exact: measurable_fun_id | exact: measurable_fun_cst].
Qed.

Lemma last_mean01 n (g : (nat -> R) -> R) y : reads g -> (forall y, 0 < g y <= 1) -> 0 < last_mean n g y <= 1.
Proof. by move=> rg g01; have [] := mean_positive (reads_put n y rg) (fun z => g01 _). Qed.

Lemma reads_last n (g : (nat -> R) -> R) : (forall y, 0 < g y <= 1) -> reads g -> reads (last_mean n g).
Proof.
move=> g01 rg d T k mk; pose F (x : T * R) : \bar R := (g (put n (fun j => k j x.1) x.2))%:E.
have mF : measurable_fun setT F.
  apply/EFin_measurable_fun; apply: (rg _ _ (fun j (x : T * R) => put n (fun j => k j x.1) x.2 j)) => j; rewrite /put.
  case: (j == n); first exact: measurable_second.
  by apply: (measurable_after (@measurable_first _ _ _ _) (mk j)).
have F0 x : (0 <= F x)%E by rewrite lee_fin ltW//; case/andP: (g01 (put n (fun j => k j x.1) x.2)).
have mI := measurable_fun_fubini_tonelli_F (law_sigma_finite P1) F mF F0.
apply/EFin_measurable_fun; rewrite (_ : _ \o _ = fubini_F P F)//.
by apply/funext => x; rewrite /= /last_mean; have [_ <- _] := mean_positive (reads_put n (fun j => k j x) rg) (fun z => g01 _).
Qed.

Lemma put_sum n y z : \sum_(j < n.+1) h (put n y z j) = \sum_(j < n) h (y j) + h z.
Proof. by rewrite big_ord_recr/= /put eqxx; congr (_ + _); apply: eq_bigr => j _; rewrite ltn_eqF. Qed.
Lemma blend_put n t y y' z z' : blend t (put n y z) (put n y' z') = put n (blend t y y') (mixed t z z').
Proof. by apply/funext => j; rewrite /blend /put; case: (j == n). Qed.
Lemma blend_same t y : blend t y y = y.
Proof. by apply/funext => j; rewrite /blend /mixed; lra. Qed.

(* A log-concave function is above a level on an interval. *)
Lemma above_convex (k : R -> R) : (forall x, 0 < k x) ->
  (forall t x (y : R), 0 < t -> t < 1 -> geometric t (k x) (k y) <= k (mixed t x y)) -> forall l, convex [set x | l < k x].
Proof.
move=> k0 kc l x y u lx ly xu uy /=.
have [<-//|/eqP xn] := eqVneq x u; have [->//|/eqP yn] := eqVneq u y.
have d1 : x < u by rewrite lt_neqAle xu andbT; exact/eqP.
have d2 : u < y by rewrite lt_neqAle uy andbT; exact/eqP.
have yx : 0 < y - x by lra.
have t0 : 0 < (y - u) / (y - x) by rewrite divr_gt0//; lra.
have t1 : (y - u) / (y - x) < 1 by rewrite ltr_pdivr_mulr//; lra.
have -> : u = mixed ((y - u) / (y - x)) x y.
  have e : (y - u) / (y - x) * (y - x) = y - u by rewrite mulfVK// gt_eqF.
  by rewrite /mixed; lra.
exact: lt_le_trans (geometric_above t0 t1 lx ly (k0 _) (k0 _)) (kc _ _ _ t0 t1).
Qed.

Lemma weighted_last n G : (forall v y, 0 < G v y <= 1) -> (forall v, reads (G v)) -> weighted_concave n.+1 G ->
  weighted_concave n (fun v => last_mean n (G v)).
Proof.
move=> G01 rG cG t v w y y' t0 t1; set sy := \sum_(j < n) h (y j); set sy' := \sum_(j < n) h (y' j); set sm := \sum_(j < n) h (blend t y y' j).
pose k := expR (sm - t * sy - (1 - t) * sy'); have k0 : 0 < k by exact: expR_gt0.
have G0 u x : 0 < G u x by case/andP: (G01 u x).
pose F u x z := f z * G u (put n x z).
have F0 u x z : 0 < F u x z by rewrite mulr_gt0 ?expR_gt0.
have mf : measurable_fun setT f by have [_ ? _] := dens.
have mF u x : measurable_fun setT (F u x) by apply: measurable_funM => //; exact: reads_put.
have Fb u x z : F u x z <= b.
  apply: le_trans (fb z); rewrite ger_pmulr ?expR_gt0//; by case/andP: (G01 u (put n x z)).
have lnF u x z : ln (F u x z) = - h z + ln (G u (put n x z)) by rewrite lnM ?posrE ?expR_gt0// expK.
have mixF s u x u' x' z z' : 0 < s -> s < 1 -> s * (ln (F u x z) - \sum_(j < n) h (x j)) + (1 - s) * (ln (F u' x' z') - \sum_(j < n) h (x' j)) <=
    ln (F (blend s u u') (blend s x x') (mixed s z z')) - \sum_(j < n) h (blend s x x' j).
  move=> s0 s1; have := cG s u u' (put n x z) (put n x' z') s0 s1; rewrite blend_put !put_sum !lnF; lra.
have cF u x : forall l, convex [set z | l < F u x z].
  apply: above_convex => // s z z' s0 s1; rewrite -[leRHS](lnK (x := F _ _ _)) ?posrE// ler_expR.
  have := mixF s u x u x z z' s0 s1; rewrite !blend_same; lra.
have [l1 _ i1] := mean_positive (reads_put n y (rG v)) (fun z => G01 _ _).
have [l2 _ i2] := mean_positive (reads_put n y' (rG w)) (fun z => G01 _ _).
have [l3 _ i3] := mean_positive (reads_put n (blend t y y') (rG (blend t v w))) (fun z => G01 _ _).
rewrite -/(last_mean n (G v) y) in i1 l1; rewrite -/(last_mean n (G w) y') in i2 l2.
rewrite -/(last_mean n (G (blend t v w)) (blend t y y')) in i3 l3.
have /andP[p1 _] := l1; have /andP[p2 _] := l2; have /andP[p3 _] := l3.
pose H z := k^-1 * F (blend t v w) (blend t y y') z.
have H0 z : 0 < H z by rewrite mulr_gt0 ?invr_gt0.
have mH : measurable_fun setT H by exact: measurable_funrM.
have lnH z : ln (H z) = ln (F (blend t v w) (blend t y y') z) - (sm - t * sy - (1 - t) * sy').
  have ki : 0 < k^-1 by rewrite invr_gt0.
  have e : ln (k^-1 * F (blend t v w) (blend t y y') z) = ln k^-1 + ln (F (blend t v w) (blend t y y') z) by apply: lnM; rewrite posrE.
  by rewrite e lnV ?posrE// expK addrC.
have above z z' : geometric t (F v y z) (F w y' z') <= H (mixed t z z').
  rewrite -[leRHS](lnK (x := H _)) ?posrE// ler_expR lnH.
  have := mixF t v y w y' z z' t0 t1; rewrite -/sy -/sy' -/sm; lra.
have := prekopa_line t0 t1 (mF v y) (mF w y') mH (F0 v y) (F0 w y') H0 (Fb v y) (Fb w y') (cF v y) (cF w y') above i1 i2 p1 p2.
have iH : (\int[leb]_z (H z)%:E = (k^-1)%:E * \int[leb]_z (F (blend t v w) (blend t y y') z)%:E)%E.
  have ki : 0 <= k^-1 by rewrite invr_ge0 ltW.
  exact: (integral_scaled leb ki (fun z => ltW (F0 _ _ z)) (mF _ _) measurableT).
rewrite iH (i3 : (\int[leb]_z (F (blend t v w) (blend t y y') z)%:E = _)%E) -EFinM lee_fin.
have ki : 0 < k^-1 by rewrite invr_gt0.
rewrite -[leRHS](lnK (x := _ * _)) ?posrE ?mulr_gt0// ler_expR (lnM (x := k^-1)) ?posrE// lnV ?posrE// expK; lra.
Qed.

Theorem prekopa n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises (fun _ => P1) n nu Z ->
  forall G, (forall v y, 0 < G v y <= 1) -> (forall v, reads (G v)) -> weighted_concave n G ->
  exists c : (nat -> R) -> R, [/\ forall v, 0 < c v, forall v, (\int[nu]_x (G v (fun j => Z j x))%:E = (c v)%:E)%E &
    forall t v w, 0 < t -> t < 1 -> geometric t (c v) (c w) <= c (blend t v w)].
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => G G01 rG cG.
  exists (fun v => G v (fun=> 0)); split=> [v|v|t v w t0 t1]; first by case/andP: (G01 v (fun=> 0)).
    by rewrite (integral_cst nu measurableT) nu1 mule1.
  have := cG t v w (fun=> 0) (fun=> 0) t0 t1; rewrite !big_ord0 !subr0.
  rewrite (_ : blend t (fun=> 0) (fun=> 0) = fun=> 0) => [le|]; last by apply/funext => j; rewrite /blend /mixed !mulr0 addr0.
  by rewrite -[leRHS](lnK (x := G _ _)) ?posrE ?ler_expR//; case/andP: (G01 (blend t v w) (fun=> 0)).
have [|||c [c0 cI cc]] := IH (fun v => last_mean n (G v)).
- by move=> v y; exact: last_mean01.
- by move=> v; exact: reads_last.
- exact: weighted_last.
exists c; split=> // v; rewrite -cI.
pose F (x : W * R) : \bar R := (G v (fun j => if j == n then x.2 else Z j x.1))%:E.
have mZ := measurable_noises I.
have mF : measurable_fun setT F.
  apply/EFin_measurable_fun; apply: (rG v _ _ (fun j (x : W * R) => if j == n then x.2 else Z j x.1)) => j.
  case: (j == n); first exact: measurable_second.
  by apply: (measurable_after (@measurable_first _ _ _ _) (mZ j)).
have F0 x : (0 <= F x)%E by rewrite lee_fin ltW//; case/andP: (G01 v (fun j => if j == n then x.2 else Z j x.1)).
have [_ e] := @one_more R (fun=> P) (fun=> P1) _ W nu n F mF F0; rewrite -[LHS]/(\int[product_measure1 nu (law_sigma_finite P1)]_x F x)%E.
rewrite e; apply: eq_integral => x _; have [_ <- _] := mean_positive (reads_put n (fun j => Z j x) (rG v)) (fun z => G01 _ _).
by [].
Qed.
End Prekopa.
