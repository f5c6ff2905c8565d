(* The difference of two independent noises of one even law, whose density does not rise from 0 on (docs/theory/selection.md, two candidates): the
   probability that it is u or more falls no faster the further u is out, so that it is convex from 0 on, and concave up to 0. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels selection survival_cells independent one_noise likelihood laplace_curve.
From dpverify Require Import greatest_step greatest_real.

Section Integrals.
Context (R : realType) (lam : {measure set R -> \bar R}).
Hypothesis lamE : is_lebesgue lam.

Lemma point_null (x : R) : lam [set x] = 0%E.
Proof. by rewrite lamE; [exact: lebesgue_measure_set1 | exact: measurable_set1]. Qed.

(* Two points do not count. *)
Lemma le_but_at (a b : R) (F G : R -> R) : measurable_fun setT F -> measurable_fun setT G -> (forall z, 0 <= F z) -> (forall z, 0 <= G z) ->
  (forall z, z != a -> z != b -> F z <= G z) -> (\int[lam]_z (F z)%:E <= \int[lam]_z (G z)%:E)%E.
Proof.
move=> mF mG F0 G0 le; pose N := [set a] `|` [set b].
have mN : measurable N by apply: measurableU; exact: measurable_set1.
have lamN : lam N = 0%E.
  rewrite /N; have [->|ab] := eqVneq a b; first by rewrite setUid; exact: point_null.
  rewrite measureU; [by rewrite -[RHS]adde0; congr (_ + _)%E; exact: point_null | exact: measurable_set1 | exact: measurable_set1 |].
  by apply/seteqP; split=> z //= [-> e]; rewrite e eqxx in ab.
rewrite (negligible_integral mN measurableT _ _ lamN); last 2 first.
- exact/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin.
rewrite [leRHS](negligible_integral mN measurableT _ _ lamN); last 2 first.
- exact/EFin_measurable_fun.
- by move=> z _; rewrite lee_fin.
apply: ge0_le_integral.
- exact: measurableD.
- by move=> z _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mF.
- by move=> z _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mG.
- by move=> z [_ zN]; rewrite lee_fin; apply: le; apply/eqP => e; apply: zN; [left | right].
Qed.

Lemma integral_reflected (t : R) (F : R -> R) : measurable_fun setT F -> (forall z, 0 <= F z) ->
  (\int[lam]_z (F z)%:E = \int[lam]_z (F (t - z))%:E)%E.
Proof.
move=> mF F0; apply: (integral_through (phi := fun z : R => t - z)).
- exact: measurable_reflection.
- by move=> A mA; rewrite !lamE ?lebesgue_reflection// -[X in measurable X]setTI; exact: measurable_reflection.
- exact/EFin_measurable_fun.
- by move=> z; rewrite lee_fin.
Qed.

Lemma integral_translated (t : R) (F : R -> R) : measurable_fun setT F -> (forall z, 0 <= F z) ->
  (\int[lam]_z (F z)%:E = \int[lam]_z (F (z + t))%:E)%E.
Proof.
move=> mF F0; apply: (integral_through (phi := fun z : R => z + t)).
- exact: measurable_translation.
- by move=> A mA; rewrite !lamE ?lebesgue_translation// -[X in measurable X]setTI; exact: measurable_translation.
- exact/EFin_measurable_fun.
- by move=> z; rewrite lee_fin.
Qed.
End Integrals.

Section Difference.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (dens : has_density lam mu f).
Hypotheses (even : forall z, f (- z) = f z) (past_mode : forall x y, 0 < x -> x <= y -> f y <= f x).
Local Notation T := (S mu).

Let f0 z : 0 <= f z. Proof. by have [] := dens. Qed.
Let mf : measurable_fun setT f. Proof. by have [] := dens. Qed.
Let mass A : measurable A -> mu A = (\int[lam]_(z in A) (f z)%:E)%E. Proof. by have [_ _] := dens; exact. Qed.

Lemma measurable_tail : measurable_fun setT T.
Proof.
rewrite (_ : T = fun x => 1 - F mu x); last by apply/funext => x; rewrite (FE mu1 (lexx 0) (lexx 0)) subKr.
by apply: measurable_funB; [exact: measurable_fun_cst | exact: measurable_F].
Qed.

Lemma mass_weighted A : measurable A -> mu A = (\int[lam]_z (f z * \1_A z)%:E)%E.
Proof. by move=> mA; rewrite mass// integral_mkcond; apply: eq_integral => z _; rewrite /patch indicE; case: ifP; rewrite ?mulr1 ?mulr0. Qed.

Lemma measurable_on A : measurable A -> measurable_fun setT (fun z => f z * \1_A z).
Proof. by move=> mA; apply: measurable_funM => //; exact: measurable_fun_indic. Qed.

Lemma tail_reflected x : T (- x) = 1 - T x.
Proof.
have ml : measurable [set z : R | z <= x].
  by rewrite (_ : [set z | _] = `]-oo, x]%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv].
have mr : measurable [set z : R | - x <= z] by exact: measurable_ray.
rewrite -(FE mu1 (lexx 0) (lexx 0)); apply: EFin_inj; rewrite -(massS mu1) -(below_closed lamE mu1 dens).
rewrite (mass_weighted mr) (mass_weighted ml) [RHS](integral_reflected lamE 0 (measurable_on ml)); last by move=> z; rewrite mulr_ge0.
apply: eq_integral => z _; rewrite sub0r even !indicE.
have -> // : (- z \in [set z | z <= x]) = (z \in [set z | - x <= z]).
by apply/idP/idP; rewrite !inE/= ler_oppl.
Qed.

(* -- How much the tail falls within a distance t -- *)

Definition drop t w : R := T w - T (w + t).

Lemma drop_reflected t w : drop t (- (w + t)) = drop t w.
Proof. by rewrite /drop opprD subrK -opprD !tail_reflected; lra. Qed.

Lemma further_out z w : z != 0 -> `|z| <= `|w| -> f w <= f z.
Proof.
have abs y : f y = f `|y| by have [y0|y0] := leP 0 y; [rewrite ger0_norm | rewrite ltr0_norm ?even].
by move=> z0 zw; rewrite (abs z) (abs w); apply: past_mode => //; rewrite normr_gt0.
Qed.

Lemma shift_within x y t : 0 <= t -> x <= y -> - x <= x + t -> T (x + t) - T (y + t) <= T x - T y.
Proof.
move=> t0 xy xt; have xyt : x + t <= y + t by rewrite ler_add2r.
rewrite -lee_fin -!(cut mu1)//; set A := [set` _]; set B := [set` _].
have mA : measurable A by exact: measurable_itv.
have mB : measurable B by exact: measurable_itv.
have fi0 C z : 0 <= f z * \1_C z by rewrite mulr_ge0.
rewrite !mass_weighted// (integral_translated lamE t (measurable_on mA) (fi0 _)); apply: (@le_but_at _ _ lamE 0 0) => //.
- exact: (measurable_after (measurable_translation t) (measurable_on mA)).
- exact: measurable_on.
move=> z z0 _; rewrite !indicE.
have -> : (z + t \in A) = (z \in B) by apply/idP/idP; rewrite !inE /A /B /= !in_itv/= ler_add2r ltr_add2r.
have [zB|_] := boolP (z \in B); last by rewrite !mulr0.
move: zB; rewrite inE /B/= in_itv/= => /andP[xz _]; rewrite !mulr1; apply: further_out => //.
have zt : 0 <= z + t by lra.
by rewrite (ger0_norm zt) ler_norml; apply/andP; split; lra.
Qed.

(* The nearer an interval is to 0, the more it falls there. *)
Lemma drop_falls t w w' : 0 <= t -> w <= w' -> 0 <= w + w' + t -> drop t w' <= drop t w.
Proof.
move=> t0; have right u u' : u <= u' -> - u <= u + t -> drop t u' <= drop t u.
  by move=> uu ut; have := shift_within t0 uu ut; rewrite /drop; lra.
move=> ww sum; have [h|h] := leP (- w) (w + t); first exact: right.
by rewrite -(drop_reflected t w); apply: right; lra.
Qed.

(* -- Means over one noise -- *)

Definition test (k : R -> R) := measurable_fun setT k /\ forall z, 0 <= k z <= 1.
Definition mean (k : R -> R) : R := fine (\int[mu]_z (k z)%:E).

Lemma mean_finite k : test k -> (\int[mu]_z (k z)%:E = (mean k)%:E)%E.
Proof.
move=> [mk k01]; have mkE : measurable_fun setT (fun z : R => (k z)%:E) by exact/EFin_measurable_fun.
rewrite /mean fineK// ge0_fin_numE; last by apply: integral_ge0 => z _; rewrite lee_fin; case/andP: (k01 z).
apply: (@le_lt_trans _ _ (\int[mu]_z (cst 1%E z))%E); last by rewrite integral_cst// mu1 mul1e ltry.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin; case/andP: (k01 z).
- by move=> z _; rewrite lee_fin.
- exact: measurable_fun_cst.
- by move=> z _; rewrite lee_fin; case/andP: (k01 z).
Qed.

Lemma mean_as_integral k : test k -> (mean k)%:E = (\int[lam]_z (f z * k z)%:E)%E.
Proof.
move=> tk; rewrite -mean_finite//; case: tk => mk k01; apply: (integral_density dens); first exact/EFin_measurable_fun.
by move=> z; rewrite lee_fin; case/andP: (k01 z).
Qed.

Lemma measurable_weighted k : test k -> measurable_fun setT (fun z => f z * k z).
Proof. by move=> [mk _]; exact: measurable_funM. Qed.

Lemma weighted_ge0 k z : test k -> 0 <= f z * k z.
Proof. by move=> [_ k01]; rewrite mulr_ge0//; case/andP: (k01 z). Qed.

Lemma mean_sum k k' k'' : test k -> test k' -> test k'' -> (forall z, k z = k' z + k'' z) -> mean k = mean k' + mean k''.
Proof.
move=> tk tk' tk'' e; apply: EFin_inj; rewrite EFinD !mean_as_integral// -ge0_integralD//.
- by apply: eq_integral => z _; rewrite -EFinD e mulrDr.
- by move=> z _; rewrite lee_fin weighted_ge0.
- by apply/EFin_measurable_fun; exact: measurable_weighted.
- by move=> z _; rewrite lee_fin weighted_ge0.
- by apply/EFin_measurable_fun; exact: measurable_weighted.
Qed.

Lemma mean_reflected k : test k -> mean k = mean (fun z => k (- z)).
Proof.
move=> tk; have tk' : test (fun z => k (- z)).
  case: tk => mk k01; split=> //.
  by apply: (measurable_after (f := fun z : R => - z)) mk; apply: measurable_funN; exact: measurable_fun_id.
apply: EFin_inj; rewrite !mean_as_integral// (integral_reflected lamE 0 (measurable_weighted tk)).
  by apply: eq_integral => z _; rewrite sub0r even.
by move=> z; exact: weighted_ge0.
Qed.

(* -- The difference of two noises -- *)

(* That it is u or more. *)
Definition beyond u : R := mean (fun z => T (u + z)).

Lemma measurable_plus_tail u : measurable_fun setT (fun z : R => T (u + z)).
Proof.
apply: (measurable_after (f := fun z : R => u + z)) measurable_tail.
by apply: measurable_funD; [exact: measurable_fun_cst | exact: measurable_fun_id].
Qed.

Lemma test_tail u : test (fun z => T (u + z)).
Proof. by split=> [|z]; [exact: measurable_plus_tail | exact: S01]. Qed.

Lemma drop01 t w : 0 <= t -> 0 <= drop t w <= 1.
Proof.
move=> t0; have : T (w + t) <= T w by apply: (falls mu1); rewrite ler_addl.
by have := S01 mu1 w; have := S01 mu1 (w + t); rewrite /drop => /andP[? ?] /andP[? ?] ?; apply/andP; split; lra.
Qed.

Lemma test_drop u t : 0 <= t -> test (fun z : R => drop t (u + z)).
Proof.
move=> t0; split=> [|z]; last exact: drop01.
rewrite (_ : (fun z => _) = fun z => T (u + z) - T (u + t + z)); last by apply/funext => z; rewrite /drop addrAC.
by apply: measurable_funB; exact: measurable_plus_tail.
Qed.

Lemma beyond_drop u t : 0 <= t -> beyond u - beyond (u + t) = mean (fun z => drop t (u + z)).
Proof.
move=> t0; apply/eqP; rewrite subr_eq; apply/eqP; apply: mean_sum.
- exact: test_tail.
- exact: test_drop.
- exact: test_tail.
- by move=> z; rewrite /drop [u + t + z]addrAC subrK.
Qed.

Lemma beyond_falls u u' : u <= u' -> beyond u' <= beyond u.
Proof.
move=> uu; have t0 : 0 <= u' - u by rewrite subr_ge0.
have := beyond_drop u t0; rewrite [u + _]addrC subrK => e; rewrite -subr_ge0 e.
rewrite /mean fine_ge0//; apply: integral_ge0 => z _; rewrite lee_fin; by case/andP: (drop01 (u + z) t0).
Qed.

Lemma beyond_reflected u : beyond (- u) = 1 - beyond u.
Proof.
have one : mean (fun=> 1) = 1 by rewrite /mean integral_cst// mul1e mu1.
apply/eqP; rewrite eq_sym subr_eq eq_sym; apply/eqP; rewrite -[RHS]one /beyond (mean_reflected (test_tail (- u))).
apply/esym/mean_sum.
- by split=> [|z]; [exact: measurable_fun_cst | rewrite ler01 lexx].
- split=> [|z]; last exact: S01.
  by apply: (measurable_after (f := fun z : R => - u - z)) measurable_tail; exact: measurable_reflection.
- exact: test_tail.
- by move=> z; rewrite /= -opprD tail_reflected subrK.
Qed.

Lemma crossed (a b c d : R) : (b <= a /\ d <= c) \/ (a <= b /\ c <= d) -> a * d + b * c <= a * c + b * d.
Proof.
move=> h; rewrite -subr_ge0 (_ : _ - _ = (a - b) * (c - d)); last by rewrite mulrBr !mulrBl; lra.
by case: h => -[h h']; [apply: mulr_ge0 | apply: mulr_le0]; rewrite ?subr_ge0 ?subr_le0.
Qed.

(* Reflected about the point halfway, the nearer of two intervals falls more, weighted with more. *)
Theorem beyond_slower x y t : 0 <= x -> x <= y -> 0 <= t -> beyond y - beyond (y + t) <= beyond x - beyond (x + t).
Proof.
move=> x0 xy t0; rewrite !beyond_drop//; pose s := x + y + t.
pose k u z := drop t (u + z); rewrite -!/(k _).
have tk u : test (k u) := test_drop u t0.
have mr u : measurable_fun setT (fun z : R => f (z + s) * k u z).
  by apply: measurable_funM; [exact: (measurable_after (measurable_translation s) mf) | case: (tk u)].
have r0 u (z : R) : 0 <= f (z + s) * k u z by case: (tk u) => _ /(_ z)/andP[? _]; rewrite mulr_ge0.
have other u u' : u + u' + t = s -> (\int[lam]_z (f (z + s) * k u z)%:E = (mean (k u'))%:E)%E.
  move=> e; rewrite (integral_reflected lamE (- s) (mr u) (r0 u)) mean_as_integral//; apply: eq_integral => z _.
  congr (_%:E); rewrite [- s - z]addrC subrK even; congr (_ * _).
  by rewrite /k -[RHS]drop_reflected; congr (drop t _); rewrite -e; lra.
have twice : mean (k y) + mean (k y) <= mean (k x) + mean (k x).
  rewrite -lee_fin !EFinD -{2}(other x y erefl) -{2}(other y x); last by rewrite /s [y + x]addrC.
  rewrite !mean_as_integral// -!ge0_integralD//; last first.
  all: try by [move=> z _; rewrite lee_fin; exact: weighted_ge0 | apply/EFin_measurable_fun; exact: measurable_weighted |
    move=> z _; rewrite lee_fin; exact: r0 | apply/EFin_measurable_fun; exact: mr].
  apply: (@le_but_at _ _ lamE 0 (- s) (fun z => f z * k y z + f (z + s) * k x z) (fun z => f z * k x z + f (z + s) * k y z)).
  - by apply: measurable_funD => //; exact: measurable_weighted.
  - by apply: measurable_funD => //; exact: measurable_weighted.
  - by move=> z; rewrite addr_ge0// weighted_ge0.
  - by move=> z; rewrite addr_ge0// weighted_ge0.
  move=> z z0 zs; apply: crossed; have [h|h] := leP 0 (z + (z + s)).
  - left; split; first by apply: further_out => //; rewrite (@ger0_norm _ (z + s)) ?ler_norml; [apply/andP; split|]; rewrite /s in h *; lra.
    by apply: drop_falls => //; rewrite /s in h; lra.
  - right; split.
      apply: further_out; first by rewrite addr_eq0.
      rewrite (@ler0_norm _ z) ?ler_norml; [apply/andP; split|]; rewrite /s in h *; lra.
    by rewrite /k -(drop_reflected t (y + z)) -(drop_reflected t (x + z)); apply: drop_falls => //; rewrite /s in h; lra.
lra.
Qed.
End Difference.
