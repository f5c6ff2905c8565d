(* Log-concave noise on the line, on the reals or the integers (docs/theory/selection.md, selection): its density is exp(-h) between two ends, of
   which each may be missing, h convex there. The limits of the slope of h at both ends of the line say what a shift costs, and how fast the
   tails fall. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density likelihood arithmetic exponents convex_line independent.

Section Moved.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (f : R -> R).

(* Lebesgue's measure is kept by all shifts, counting of the integers by integer ones. *)
Definition keeps (s : R) := forall A, measurable A -> lam [set z | A (z + s)] = lam A.

Lemma measurable_plus (s : R) : measurable_fun setT (fun z : R => z + s).
Proof. by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst]. Qed.

Lemma measurable_moved (s : R) A : measurable A -> measurable [set z : R | A (z + s)].
Proof. by move=> mA; rewrite -[X in measurable X]setTI; exact: measurable_plus. Qed.

Lemma integral_kept s (g : R -> R) A : keeps s -> measurable_fun setT g -> (forall z, 0 <= g z) -> measurable A ->
  (\int[lam]_(z in A) (g z)%:E = \int[lam]_(z in [set z | A (z + s)%R]) (g (z + s)%R)%:E)%E.
Proof.
move=> ks mg g0 mA; rewrite integral_mkcond [RHS]integral_mkcond.
transitivity (\int[pushforward lam (measurable_plus s)]_z ((EFin \o g) \_ A) z)%E.
  by apply: eq_measure_integral => B mB _; rewrite /= /pushforward ks.
rewrite integral_pushforward//.
- by apply/(measurable_restrict _ mA measurableT (@subsetT _ A)); apply: measurable_funTS; exact/EFin_measurable_fun.
- by move=> z; rewrite /patch; case: ifP => // _; rewrite lee_fin.
Qed.

(* Moving the noise by s costs c on A, if its density is at least e^-c times as great there as before. *)
Lemma density_moved s c A : keeps s -> has_density lam mu f -> measurable A ->
  (forall z, A (z + s) -> f z <= expR c * f (z + s)) -> (mu [set z | A (z + s)%R] <= (expR c)%:E * mu A)%E.
Proof.
move=> ks [f0 mf me] mA le; have mA' := measurable_moved s mA.
rewrite !me// (integral_kept ks mf f0 mA) -integral_scaled ?expR_ge0//; last first.
  by move=> _ B mB; have := measurable_plus s measurableT (mf measurableT _ mB); rewrite !setTI.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mf.
- by move=> z _; rewrite lee_fin mulr_ge0// expR_ge0.
- apply/EFin_measurable_fun; apply: measurable_funM; first exact: measurable_fun_cst.
  apply: (@measurable_funS _ _ _ _ setT) => // _ B mB.
  by have := measurable_plus s measurableT (mf measurableT _ mB); rewrite !setTI.
Qed.
End Moved.

Section LogConcave.
Context (R : realType).
Implicit Types (lo hi b : option R) (h f : R -> R).

(* Between two ends, of which each may be missing. *)
Definition between lo hi (z : R) := (if lo is Some a then a <= z else true) && (if hi is Some c then z <= c else true).

Definition log_concave lo hi h f :=
  (forall z, f z = if between lo hi z then expR (- h z) else 0) /\
  forall x y t, between lo hi x -> between lo hi y -> 0 <= t -> t <= 1 -> h (t * x + (1 - t) * y) <= t * h x + (1 - t) * h y.

(* The limit of the slope of h to the right; None is infinite, which it also is where there is an end. *)
Variant right_slope hi h : option R -> Prop :=
| AnEnd c of hi = Some c : right_slope hi h None
| Steeper of slope_infinite h : right_slope hi h None
| Limit (s : R) of hi = None & slope_at_most h s & slope_at_least h s : right_slope hi h (Some s).

Definition mirrored (g : R -> R) := fun z => g (- z).
Definition opposite (e : option R) := omap (fun c : R => - c) e.
Definition left_slope lo h := right_slope (opposite lo) (mirrored h).

Lemma between_opposite lo hi z : between (opposite hi) (opposite lo) z = between lo hi (- z).
Proof.
rewrite /between andbC; congr (_ && _).
- by case: lo => //= a; rewrite ler_oppr.
- by case: hi => //= a; rewrite ler_oppl.
Qed.

Lemma log_concave_mirrored lo hi h f : log_concave lo hi h f -> log_concave (opposite hi) (opposite lo) (mirrored h) (mirrored f).
Proof.
move=> [fE conv]; split=> [z|x y t]; first by rewrite between_opposite /mirrored fE.
rewrite !between_opposite => hx hy t0 t1; rewrite /mirrored opprD -!mulrN; exact: conv.
Qed.

Lemma between_right lo z s : between lo None z -> 0 <= s -> between lo None (z + s).
Proof. by rewrite /between !andbT; case: lo => // a az s0; rewrite (le_trans az)// ler_addl. Qed.

(* A shift by s to the right costs b s at most, b the slope to the right. *)
Lemma right_ratio lo hi h f (b s z : R) : log_concave lo hi h f -> right_slope hi h (Some b) -> 0 <= s -> f z <= expR (b * s) * f (z + s).
Proof.
move=> [fE conv] S s0; have [hE up] : hi = None /\ slope_at_most h b by inversion S.
rewrite !fE hE; case: ifP => [bz|_]; last by case: ifP => _; rewrite ?mulr0// mulr_ge0// expR_ge0.
rewrite between_right// -expRD ler_expR.
have half : convex_on_half (fun r => h (z + r)).
  move=> x y t x0 y0 t0 t1; have -> : z + (t * x + (1 - t) * y) = t * (z + x) + (1 - t) * (z + y) by lra.
  by apply: conv => //; rewrite hE between_right.
have := convex_increment half (slope_at_most_shift ltr01 z up) (lexx 0) s0; rewrite add0r addr0; lra.
Qed.

Lemma left_ratio lo hi h f (b s z : R) : log_concave lo hi h f -> left_slope lo h (Some b) -> 0 <= s -> f z <= expR (b * s) * f (z - s).
Proof.
move=> /log_concave_mirrored L S s0; have := right_ratio (- z) L S s0.
by rewrite /mirrored opprD opprK.
Qed.

(* Far to the right the density falls by more than e^a with each step of 1, for every a below the slope. *)
Definition below (a : R) b := if b is Some s then a < s else true.

Lemma right_falls lo hi h f b a : log_concave lo hi h f -> right_slope hi h b -> below a b ->
  exists s x0, a < s /\ forall z, x0 <= z -> f (z + 1) <= expR (- s) * f z.
Proof.
move=> [fE conv] S ab.
have f0 z : 0 <= f z by rewrite fE; case: ifP => // _; exact: expR_ge0.
have [[c hE]|[hE [s [as_ low]]]] : (exists c, hi = Some c) \/ hi = None /\
    exists s, a < s /\ forall s', s' < s -> exists r0, forall r, r0 <= r -> s' * r <= h r.
- case: S ab => [c -> _|inf _|b' -> up low ab]; [by left; exists c | | by right; split=> //; exists b'].
  case: hi fE conv => [c|] fE conv; first by left; exists c.
  by right; split=> //; exists (a + 1); split=> [|s' _]; [lra | exact: inf].
- exists (a + 1), c; split=> [|z cz]; first lra.
  rewrite {1}fE hE {1}/between (_ : (z + 1 <= c) = false) ?andbF ?mulr_ge0 ?expR_ge0//.
  by apply/negbTE; rewrite -ltNge; lra.
subst hi; pose x1 := if lo is Some c then c else 0.
have bx z : x1 <= z -> between lo None z by rewrite /x1 /between andbT; case: (lo).
pose g r := h (x1 + r).
have low' : slope_at_least g s.
  move=> s' s's; pose m := (s' + s) / 2; have [|r0 lr] := low m; first by rewrite /m; lra.
  have sm : 0 < m - s' by rewrite /m; lra.
  pose v := `|m * x1| / (m - s'); have vE : v * (m - s') = `|m * x1| by rewrite /v divfK// gt_eqF.
  exists (`|r0| + `|x1| + v) => r rv.
  have n0 := ler_norm r0; have n1 := ler_norm (- x1); rewrite normrN in n1; have n2 := ler_norm (- (m * x1)); rewrite normrN in n2.
  have v0 : 0 <= v by rewrite divr_ge0// ltW.
  have p0 := normr_ge0 r0; have p1 := normr_ge0 x1.
  have r1 : r0 <= x1 + r by lra.
  have := lr _ r1; rewrite -/(g r) => up.
  have : 0 <= (m - s') * (r - v) by apply: mulr_ge0; lra.
  lra.
pose k := (a + s) / 2.
have [|y0 y00 inc] := increment_reached ltr01 low' (s := k); first by rewrite /k; lra.
exists k, (x1 + y0); split=> [|z z0]; first by rewrite /k; lra.
have b1 : between lo None z by apply: bx; lra.
rewrite !fE b1 between_right// -expRD ler_expR.
(* increments of a convex function rise *)
have rise : h (x1 + y0 + 1) - h (x1 + y0) <= h (z + 1) - h z.
  have [-> //|zy] := eqVneq z (x1 + y0).
  pose D := z + 1 - (x1 + y0); have D1 : 1 < D by rewrite /D; move: zy; rewrite neq_lt => /orP[]; lra.
  pose t := D^-1; have tD : t * D = 1 by rewrite mulVf// gt_eqF//; lra.
  have t0 : 0 <= t by rewrite invr_ge0; lra.
  have t1 : t <= 1 by rewrite invf_le1; lra.
  have u0 : 0 <= 1 - t by lra.
  have u1 : 1 - t <= 1 by lra.
  have c1 : between lo None (x1 + y0) by apply: bx; lra.
  have c2 : between lo None (z + 1) by exact: between_right.
  have tD' : t * (z + 1 - (x1 + y0)) = 1 := tD.
  have e1 : t * (z + 1) + (1 - t) * (x1 + y0) = x1 + y0 + 1 by lra.
  have e2 : (1 - t) * (z + 1) + (1 - (1 - t)) * (x1 + y0) = z by lra.
  have := conv _ _ _ c2 c1 t0 t1; have := conv _ _ _ c2 c1 u0 u1; rewrite e1 e2; lra.
move: inc; rewrite /g mulr1 addrA; lra.
Qed.
End LogConcave.

(* What a rule knows of log-concave noise: its slopes to the left and to the right. *)
Definition has_slopes (R : realType) (lam mu : {measure set R -> \bar R}) (left right : option R) :=
  exists lo hi h f, [/\ has_density lam mu f, log_concave lo hi h f, left_slope lo h left & right_slope hi h right].
