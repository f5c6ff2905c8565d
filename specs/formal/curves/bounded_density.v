(* A density exp(-h) on the line with a convex exponent is bounded (docs/theory/curves.md: vertices of log-concave noise): where it is greater than at
   0, it is so on all that lies between, hence near 0; and there convexity bounds it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic greatest_real prekopa_line.
Import numFieldNormedType.Exports.

Section Bounded.
Context (R : realType) (lam P : {measure set R -> \bar R}) (h : R -> R).
Let f x := expR (- h x).
Hypotheses (P1 : P setT = 1%E) (lamE : is_lebesgue lam) (dens : has_density lam P f).
Hypothesis cv : forall t x y, 0 < t -> t < 1 -> h (mixed t x y) <= t * h x + (1 - t) * h y.
Implicit Types (x y z : R).

(* Between two points the density is at least the lesser of its values there. *)
Lemma between_points l x y z : x <= z -> z <= y -> h x <= l -> h y <= l -> h z <= l.
Proof.
move=> xz zy hx hy; have [<-//|xn] := eqVneq x z; have [->//|yn] := eqVneq z y.
have d1 : x < z by rewrite lt_neqAle xz andbT.
have d2 : z < y by rewrite lt_neqAle zy andbT.
have yx : 0 < y - x by lra.
have t0 : 0 < (y - z) / (y - x) by rewrite divr_gt0//; lra.
have t1 : (y - z) / (y - x) < 1 by rewrite ltr_pdivr_mulr//; lra.
have e : (y - z) / (y - x) * (y - x) = y - z by rewrite mulfVK// gt_eqF.
move: t0 t1 e; move: (_ / _) => t t0 t1 e; have ez : mixed t x y = z by rewrite /mixed; lra.
have := cv x y t0 t1; rewrite ez => le; apply: (le_trans le).
have s0 : 0 <= 1 - t by lra.
have := ler_wpmul2l (ltW t0) hx; have := ler_wpmul2l s0 hy; lra.
Qed.

Lemma interval_mass l x y : x <= y -> (forall z, x <= z -> z <= y -> l <= f z) -> 0 <= l -> l * (y - x) <= 1.
Proof.
move=> xy below l0; have mI : measurable (`[x, y]%classic : set R) by exact: measurable_itv.
have [f0 mf Pe] := dens; have len : lam `[x, y]%classic = (y - x)%:E.
  rewrite lamE// lebesgue_measure_itv hlength_itv/= lte_fin; case: ifP => [_|/negbT]; first by rewrite EFinB.
  by rewrite -leNgt => yx; congr EFin; lra.
rewrite -lee_fin -[leRHS]P1 EFinM -len -(integral_cst lam mI).
apply: (@le_trans _ _ (P `[x, y]%classic)); last by apply: le_measure; rewrite ?inE.
rewrite Pe//; apply: ge0_le_integral => //.
- exact: measurable_fun_cst.
- by move=> z _; rewrite lee_fin.
- by apply/EFin_measurable_fun; apply: measurable_funS mf.
- by move=> z /=; rewrite in_itv/= => /andP[xz zy]; rewrite lee_fin below.
Qed.

Theorem bounded_density : exists b, forall z, f z <= b.
Proof.
pose w := expR (h 0); have w0 : 0 < w by exact: expR_gt0.
pose k := `|h 0 - h (- 1)| + `|h 0 - h 1|; have k0 : 0 <= k by rewrite addr_ge0.
exists (expR (- h 0 + w * k)) => z; rewrite ler_expR.
have wk : 0 <= w * k by rewrite mulr_ge0// ltW.
have [|lt] := leP (h 0) (h z); first by move=> le; lra.
have near : `|z| <= w.
  have fw : f 0 * w = 1 by rewrite /f /w -expRD addNr expR0.
  have f00 : 0 < f 0 by exact: expR_gt0.
  suff le : f 0 * `|z| <= 1 by rewrite -(ler_pmul2l f00) fw.
  have low y : h y <= h 0 -> f 0 <= f y by move=> le; rewrite ler_expR; lra.
  have [z0|/ltW z0] := leP 0 z.
    rewrite ger0_norm// -[z]subr0; apply: interval_mass => // [y y0 yz|]; last exact: ltW.
    by apply: low; exact: (between_points y0 yz (lexx _) (ltW lt)).
  rewrite ler0_norm// -[- z]add0r; apply: interval_mass => // [y zy y0|]; last exact: ltW.
  by apply: low; exact: (between_points zy y0 (ltW lt) (lexx _)).
have [->|zn] := eqVneq z 0; first by lra.
(* 0 lies between z and the point 1 away from it on the other side. *)
have aux v : `|v| = 1 -> v * z < 0 -> - h z <= - h 0 + w * `|h 0 - h v|.
  move=> v1 vz; have a0 : 0 < `|z| by rewrite normr_gt0.
  pose t := (1 + `|z|)^-1; have d0 : 0 < 1 + `|z| by lra.
  have t0 : 0 < t by rewrite invr_gt0.
  have e : t * (1 + `|z|) = 1 by rewrite mulVf// gt_eqF.
  have tz : 0 < t * `|z| by rewrite mulr_gt0.
  have t1 : t < 1 by lra.
  have zv : z = - (`|z| * v).
    have vv : v * v = 1 by rewrite -expr2 -real_normK ?num_real// v1 expr1n.
    have az : `|z| = - (v * z) by rewrite -ltr0_norm// normrM v1 mul1r.
    by rewrite az mulNr opprK mulrAC vv mul1r.
  have m0 : mixed t z v = 0.
    have : t * (1 + `|z|) * v = v by rewrite e mul1r.
    rewrite /mixed {2}zv; lra.
  have := cv z v t0 t1; rewrite m0 => le.
  have le2 : 0 <= t * (h z - h 0 + `|z| * (h v - h 0)).
    have : t * `|z| * (h v - h 0) = (1 - t) * (h v - h 0) by congr (_ * _); lra.
    lra.
  move: le2; rewrite pmulr_rge0// => le3.
  have b1 : h v - h 0 <= `|h 0 - h v| by rewrite distrC ler_norm.
  have b2 := ler_wpmul2l (ltW a0) b1; have b3 := ler_wpmul2r (normr_ge0 (h 0 - h v)) near; lra.
have [z0|z0] := ltP z 0.
  have h1 : 1 * z < 0 by rewrite mul1r.
  by have := aux 1 (normr1 _) h1; have := mulr_ge0 (ltW w0) (normr_ge0 (h 0 - h (- 1))); rewrite /k; lra.
have zp : 0 < z by rewrite lt_def zn.
have h1 : - 1 * z < 0 by rewrite mulN1r oppr_lt0.
have n1 : `|- 1 : R| = 1 by rewrite normrN normr1.
by have := aux (- 1) n1 h1; have := mulr_ge0 (ltW w0) (normr_ge0 (h 0 - h 1)); rewrite /k; lra.
Qed.
End Bounded.
