(* The normal law on the line (docs/theory/curves.md: Gaussian; docs/theory/composition.md: Gaussian composition): translations of it, the curve
   of the pair N(0, 1), N(mu, 1), and that a coordinate in any direction of two independent normal numbers is normal, by Tonelli's theorem
   and a stretched line: x^2 + ((w - s x)/r)^2 = w^2 + ((x - s w)/r)^2 where r^2 + s^2 = 1. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood dominating gaussian_curve laplace_curve laplace_renyi.
Import numFieldNormedType.Exports.

Section Normal.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Notation leb := (@lebesgue_measure R).
(* N(v, 1), for each v. *)
Definition normal_laws := [/\ 0 < c, forall v, law v setT = 1%E & forall v, has_density leb (law v) (fun y => c * expR (- ((y - v) ^+ 2 / 2)))].
Hypothesis normal : normal_laws.

Definition below (t : R) : set (line R) := [set y | (y < t)%R].
(* Phi. *)
Definition normal_cdf (t : R) : R := fine (law 0 (below t)).
Let phi (y : R) := c * expR (- (y ^+ 2 / 2)).

Let c0 : 0 < c. Proof. by have [] := normal. Qed.
Let total v : law v setT = 1%E. Proof. by have [] := normal. Qed.
Let dens v : has_density leb (law v) (fun y => phi (y - v)). Proof. by have [_ _ h] := normal; exact: h. Qed.
Let phi_ge0 y : 0 <= phi y. Proof. by rewrite mulr_ge0 ?expR_ge0// ltW. Qed.
Let measurable_phi : measurable_fun setT phi.
Proof.
have [_ m _] := dens 0; have <- : (fun y : R => phi (y - 0)) = phi by apply/funext => y; rewrite subr0.
exact: m.
Qed.
Let mass0 S : measurable S -> law 0 S = (\int[leb]_(y in S) (phi y)%:E)%E.
Proof. by move=> mS; have [_ _ h] := dens 0; rewrite (h S mS); apply: eq_integral => y _; rewrite subr0. Qed.

Lemma measurable_below t : measurable (below t).
Proof. by rewrite (_ : below t = `]-oo, t[%classic); [exact: measurable_itv | apply/seteqP; split=> y /=; rewrite in_itv]. Qed.

Lemma moved_law v (S : set (line R)) : measurable S -> law v S = law 0 ((fun y : R => y + v) @^-1` S).
Proof.
move=> mS; have mS' : measurable ((fun y : R => y + v) @^-1` S : set (line R)).
  by rewrite -[X in measurable X]setTI; exact: (measurable_translation v measurableT).
rewrite (mass0 mS'); have [_ mv h] := dens v; rewrite (h S mS).
rewrite (integral_preserved (measurable_translation v) (lebesgue_translation v) mv (fun y => phi_ge0 (y - v)) mS).
by apply: eq_integral => y _; rewrite addrK.
Qed.

Lemma normal_below v t : fine (law v (below t)) = normal_cdf (t - v).
Proof.
rewrite moved_law; last exact: measurable_below.
by congr (fine (law 0 _)); apply/seteqP; split=> y /=; rewrite /below/= ltr_subr_addr.
Qed.

Lemma normal_cdf_rises s t : s <= t -> normal_cdf s <= normal_cdf t.
Proof.
move=> st; rewrite -lee_fin !fineK; try (by apply: mass_fin => //; exact: measurable_below).
by apply: le_measure; rewrite ?inE; try exact: measurable_below; move=> y /= ys; apply: lt_le_trans st.
Qed.

Lemma below_fin t : ((fine (law 0 (below t)))%:E = law 0 (below t))%E.
Proof. exact: fineK (mass_fin (total 0) (measurable_below t)). Qed.

(* -- The pair on the line -- *)

Lemma normal_likelihood v w : likelihood (law v) (law w) (fun y => phi (y - v)) (fun y => phi (y - w)).
Proof. exact: density_likelihood (total v) (total w) (dens v) (dens w). Qed.

Lemma phi_ratio (eps x y : R) : (expR eps * phi x < phi y) = (eps < (x ^+ 2 - y ^+ 2) / 2).
Proof. by rewrite /phi mulrCA ltr_pmul2l// -expRD ltr_expR; apply/idP/idP; lra. Qed.

Lemma normal_pair_curve mu eps : 0 < mu -> profile (expR eps) (law 0) (law mu) = gaussian_delta normal_cdf mu eps.
Proof.
move=> mu0; rewrite (likelihood_profile (total 0) (total mu) (normal_likelihood 0 mu) (expR_ge0 eps)).
have -> : above (fun y : line R => phi (y - 0)) (fun y => phi (y - mu)) 1 (expR eps) = below (mu / 2 - eps / mu).
  have me : mu * (eps / mu) = eps by rewrite mulrCA divff ?gt_eqF// mulr1.
  apply/seteqP; split=> y; rewrite /above /below/= mul1r phi_ratio -(ltr_pmul2l mu0 y) mulrBr me => h; lra.
by rewrite !normal_below subr0 /gaussian_delta; congr (_ - _ * normal_cdf _); lra.
Qed.

(* -- Two independent numbers -- *)

Lemma lebesgue_sigma_finite : sigma_finite (setT : set (line R)) leb.
Proof. exact: (Hahn_ext_sigma_finite (@hlength_sigma_sub_additive R) (@hlength_sigma_finite R)). Qed.

Section Direction.
Variables (r s : R).
Hypotheses (r0 : 0 < r) (r1 : r < 1) (s0 : 0 < s) (rs : r ^+ 2 + s ^+ 2 = 1).

Lemma turned (x w : R) : phi x * phi ((w - s * x) / r) = phi w * phi ((x - s * w) / r).
Proof.
rewrite /phi ![c * _ * (c * _)]mulrACA -!expRD; congr (_ * expR _).
have rr : r ^+ 2 * r^-1 ^+ 2 = 1 by rewrite -exprMn divff ?gt_eqF// expr1n.
rewrite !exprMn; set i := r^-1 ^+ 2 in rr *.
have e : s ^+ 2 = 1 - r ^+ 2 by lra.
have h (z : R) : z ^+ 2 * s ^+ 2 * i = z ^+ 2 * i - z ^+ 2 by rewrite e; have := congr1 (fun a => z ^+ 2 * a) rr; lra.
have := h x; have := h w; lra.
Qed.

(* The affine maps y -> (y - s x)/r are stretches about their fixed points. *)
Let centre (x : R) := s * x / (1 - r).

Lemma stretchE (x y : R) : centre x + r^-1 * (y - centre x) = (y - s * x) / r.
Proof.
apply: (mulIf (lt0r_neq0 r0)); rewrite divfK ?gt_eqF// mulrDl [r^-1 * _]mulrC divfK ?gt_eqF//.
have : centre x * (1 - r) = s * x by rewrite /centre divfK// gt_eqF// subr_gt0.
lra.
Qed.

Lemma measurable_moved x : measurable_fun setT (fun y : R => (y - s * x) / r).
Proof.
have <- : (fun y : R => centre x + r^-1 * (y - centre x)) = (fun y => (y - s * x) / r) by apply/funext => y; exact: stretchE.
exact: measurable_stretch.
Qed.

Lemma measurable_spread x : measurable_fun setT (fun y : R => r^-1 * phi ((y - s * x) / r)).
Proof. by apply: measurable_funrM; exact: measurable_fun_comp measurable_phi (measurable_moved x). Qed.

Lemma spread_ge0 x y : 0 <= r^-1 * phi ((y - s * x) / r).
Proof. by rewrite mulr_ge0// invr_ge0 ltW. Qed.

Lemma stretched_mass x (S : set R) : measurable S ->
  (\int[leb]_(y in S) (phi y)%:E = \int[leb]_(y in (fun y => ((y - s * x) / r)%R) @^-1` S) (r^-1 * phi ((y - s * x) / r))%:E)%E.
Proof.
move=> mS; have ri : 0 < r^-1 by rewrite invr_gt0.
rewrite (integral_stretched (centre x) ri measurable_phi phi_ge0 mS).
have -> : (fun y : R => centre x + r^-1 * (y - centre x)) = (fun y => (y - s * x) / r) by apply/funext => y; exact: stretchE.
have mst := measurable_moved x; have mf := measurable_fun_comp measurable_phi mst.
have mS' : measurable ((fun y : R => (y - s * x) / r) @^-1` S) by rewrite -[X in measurable X]setTI; exact: (mst measurableT _ mS).
rewrite (integral_scaled leb (ltW ri) (fun y => phi_ge0 ((y - s * x) / r)) mf mS'); congr (_ * _)%E.
by apply: eq_integral => y _; rewrite stretchE.
Qed.

Lemma below_moved x t : (fun y : R => (y - s * x) / r) @^-1` below ((t - s * x) / r) = below t.
Proof.
have ri : 0 < r^-1 by rewrite invr_gt0.
have e (y : R) : ((y - s * x) / r < (t - s * x) / r) = (y < t) by rewrite (ltr_pmul2r ri) ltr_add2r.
by apply/seteqP; split=> y; rewrite /below /preimage /mkset/= e.
Qed.

(* The direction (s, r). *)
Lemma direction_normal t : (\int[leb]_x (phi x * fine (law 0 (below ((t - s * x) / r))))%:E = (normal_cdf t)%:E)%E.
Proof.
pose L : measurableType _ := line R.
pose g (z : (L * L)%type) : R := phi z.1 * (r^-1 * phi ((z.2 - s * z.1) / r)) * \1_(below t) z.2.
have mL (f : L -> R) : measurable_fun setT f -> measurable_fun setT (fun z : (L * L)%type => f z.1) /\ measurable_fun setT (fun z : (L * L)%type => f z.2).
  move=> mf; split; apply: measurable_fun_comp mf _ => _ B mB; rewrite setTI.
  - by rewrite (_ : _ @^-1` _ = B `*` setT); [exact: measurableM | apply/seteqP; split=> -[z x] //= []].
  - by rewrite (_ : _ @^-1` _ = setT `*` B); [exact: measurableM | apply/seteqP; split=> -[z x] //= []].
have [mid1 mid2] := mL _ (@measurable_fun_id _ L setT).
have g0 z : (0 <= (g z)%:E)%E.
  by rewrite lee_fin /g; apply: mulr_ge0; [exact: mulr_ge0 (phi_ge0 _) (spread_ge0 _ _) | rewrite indicE; exact: ler0n].
have mg : measurable_fun setT (fun z => (g z)%:E).
  apply/EFin_measurable_fun; apply: measurable_funM; last by apply: (mL _ _).2; apply: measurable_fun_indic; exact: measurable_below.
  apply: measurable_funM; first exact: (mL _ measurable_phi).1.
  apply: measurable_funrM; apply: measurable_fun_comp measurable_phi _.
  rewrite (_ : (fun z => _) = (fun z : (L * L)%type => r^-1 * (z.2 - s * z.1))); last by apply/funext => z; rewrite mulrC.
  apply: measurable_funrM; apply: measurable_funB; first exact: mid2.
  by apply: measurable_funrM; exact: mid1.
have F1 := fubini_tonelli1 (m1 := leb) lebesgue_sigma_finite _ mg g0; have F2 := fubini_tonelli2 lebesgue_sigma_finite lebesgue_sigma_finite _ mg g0.
rewrite F1 in F2; transitivity (\int[leb]_x fubini_F leb (fun z => (g z)%:E) x)%E.
  apply: eq_integral => x _; rewrite EFinM (below_fin ((t - s * x) / r)) (mass0 (measurable_below _)) /fubini_F.
  rewrite (stretched_mass x (measurable_below _)) below_moved.
  rewrite -(integral_scaled leb (phi_ge0 x) (spread_ge0 x) (measurable_spread x) (measurable_below t)) integral_mkcond.
  by apply: eq_integral => y _; rewrite /g /patch indicE/=; case: ifP => _; rewrite ?mulr1 ?mulr0.
transitivity (\int[leb]_(y in setT : set R) fubini_G leb (fun z => (g z)%:E) y)%E; first exact: F2.
rewrite (below_fin t) (mass0 (measurable_below t)) [RHS]integral_mkcond; apply: eq_integral => y _; rewrite /fubini_G /patch.
have gE x : (g (x, y))%:E = (phi y * \1_(below t) y * (r^-1 * phi ((x - s * y) / r)))%:E.
  by congr EFin; rewrite /g/=; have := congr1 (fun a => r^-1 * a * \1_(below t) y) (turned x y); lra.
transitivity (\int[leb]_(x in setT : set R) (phi y * \1_(below t) y * (r^-1 * phi ((x - s * y) / r)))%:E)%E; first by apply: eq_integral => x _; exact: gE.
have k0 : 0 <= phi y * \1_(below t) y by apply: mulr_ge0; [exact: phi_ge0 | rewrite indicE; exact: ler0n].
rewrite (integral_scaled leb k0 (spread_ge0 y) (measurable_spread y) measurableT).
have := stretched_mass y measurableT; rewrite preimage_setT -(mass0 measurableT) total => <-.
by rewrite mule1 indicE; case: ifP => _; rewrite ?mulr1 ?mulr0.
Qed.
End Direction.
End Normal.
