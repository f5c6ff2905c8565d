(* Laplace noise in other measures (docs/theory/measures.md: Laplace measures): its Renyi divergences, rho of zCDP and mu of GDP, exactly. For GDP the
   pair N(0, 1), N(mu, 1) with Phi(-mu/2) = e^(-t/2)/2 has a curve that is nowhere below 1 - e^((epsilon - t)/2), and meets it at epsilon = 0. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms additive kernels composition curves pairs likelihood powers means renyi.
From dpverify Require Import finite_measures renyi_curves.
From dpverify Require Import measures hoeffding lipschitz_exponent laplace_curve laplace_rule laplace_renyi gaussian_curve normal_line gaussian_composition.
From dpverify Require Import unseen_shifts.
Import numFieldNormedType.Exports.

(* -- The normal pair -- *)

Section Normal.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Notation leb := (@lebesgue_measure R).
Notation L := (line R).
Hypothesis normal : normal_laws law c.
Notation Phi := (normal_cdf law).

Let total v : law v setT = 1%E. Proof. by have [_ h _] := normal; exact: h. Qed.
Let dens v : has_density leb (law v) (fun y => c * expR (- ((y - v) ^+ 2 / 2))). Proof. by have [_ _ h] := normal; exact: h. Qed.
Let Phi0 x : 0 <= Phi x. Proof. by rewrite fine_ge0. Qed.

(* A single output has no mass. *)
Lemma normal_point x : law 0 [set x] = 0%E.
Proof.
have [p0 mp h] := dens 0; have E : [set x] = `[x, x]%classic :> set R.
  by apply/seteqP; split=> y; [move=> ->; rewrite /= in_itv/= lexx | rewrite /= in_itv/= => /andP[h1 h2]; apply/eqP; rewrite eq_le h1 h2].
have m0 : @measurable _ L `[x, x]%classic by exact: measurable_itv.
have z0 : leb `[x, x]%classic = 0%E by rewrite lebesgue_measure_itv hlength_itv/= ltxx.
pose f (y : R) := c * expR (- ((y - 0) ^+ 2 / 2)).
rewrite E (h _ m0).
transitivity (\int[leb]_(y in `[x, x]%classic) `|(f y)%:E|)%E; first by apply: eq_integral => y _; rewrite /= ger0_norm//; exact: p0.
by apply: (integral_abs_eq0 (D := setT)) => //; exact/EFin_measurable_fun.
Qed.

Lemma normal_reflected x : Phi (- x) = 1 - Phi x.
Proof.
have mB := measurable_below x; have mP : @measurable _ L [set x] by exact: measurable_set1.
have mA : @measurable _ L `]x, +oo[%classic by exact: measurable_itv.
have a : law 0 (below (- x)) = law 0 `]x, +oo[%classic.
  rewrite (reflected_law normal 0 (measurable_below (- x))) oppr0; congr (law 0 _).
  by apply/seteqP; split=> y; rewrite /below/= in_itv/= andbT => h; lra.
have U : law 0 setT = (law 0 (below x) + (law 0 [set x] + law 0 `]x, +oo[%classic))%E.
  rewrite -measureU//; last by apply/seteqP; split=> // y [/= ->]; rewrite in_itv/= ltxx.
  rewrite -measureU//; last 2 first.
  - exact: measurableU.
  - by apply/seteqP; split=> // y [/= h [e|]]; [move: h; rewrite e /below/= ltxx | move: h; rewrite /below/= in_itv/= andbT; lra].
  congr (law 0 _); apply/seteqP; split=> // y _ /=; rewrite in_itv/= andbT /below/=.
  by case: (ltgtP y x) => h; [left | right; right | right; left].
have V : (1%:E = (Phi x + Phi (- x))%:E)%E.
  by rewrite EFinD /normal_cdf (below_fin normal x) (below_fin normal (- x)) a -[LHS](total 0) U normal_point add0e.
by have := EFin_inj V; lra.
Qed.

(* Between two points to the left of 0 the distribution function rises at least by this factor. *)
Lemma normal_cdf_factor m w : 0 < w -> expR (m * (w * 2)) * Phi (- m - w) <= Phi (- m + w).
Proof.
move=> w0; have w2 : 0 < w * 2 by rewrite mulr_gt0.
have := profile_ge0 (total 0) (total (w * 2)) (expR_ge0 (m * (w * 2))).
rewrite (normal_pair_curve normal _ w2) /gaussian_delta.
have -> : w * 2 / 2 = w by lra.
have -> : m * (w * 2) / (w * 2) = m by rewrite mulfK// gt_eqF.
have -> : w - m = - m + w by lra.
have -> : - w - m = - m - w by lra.
lra.
Qed.

(* One minus the curve at e^(2 s), over e^s. *)
Section Rest.
Variable mu : R.
Hypothesis mu0 : 0 < mu.
Let m := mu / 2.
Definition rest s : R := expR (- s) * Phi (- m + s / m) + expR s * Phi (- m - s / m).
Let m0 : 0 < m. Proof. by rewrite divr_gt0. Qed.

Lemma rest_even s : rest (- s) = rest s.
Proof. by rewrite /rest opprK mulNr opprK addrC. Qed.

Lemma rest_curve s : profile (expR (s + s)) (law 0) (law mu) = 1 - expR s * rest s.
Proof.
rewrite (normal_pair_curve normal _ mu0) /gaussian_delta -/m.
have -> : (s + s) / mu = s / m by rewrite /m invfM invrK; lra.
have -> : m - s / m = - (- m + s / m) by lra.
by rewrite normal_reflected /rest mulrDr !mulrA -!expRD subrr expR0 mul1r; lra.
Qed.

(* The event that is best at one epsilon is no better than that at another. *)
Lemma rest_step s e : 0 <= s -> 0 <= e -> rest (s + e) <= rest s * cosh e.
Proof.
rewrite le_eqVlt => s0 e0; set A := Phi (- m + s / m); set B := Phi (- m - s / m).
have AB : expR s * B <= expR (- s) * A.
  case/predU1P: s0 => [E|s0]; first by rewrite /A /B -E !mul0r oppr0 !addr0.
  have := @normal_cdf_factor m (s / m) (divr_gt0 s0 m0); have -> : m * (s / m * 2) = s + s by rewrite mulrA mulrCA divff ?gt_eqF//; lra.
  rewrite -/A -/B expRD => h; have := ler_wpmul2l (expR_ge0 (- s)) h; rewrite !mulrA -expRD addNr expR0 mul1r; exact.
have best : rest (s + e) <= expR (- (s + e)) * A + expR (s + e) * B.
  have := normal_pair_event normal 0 mu (m - s / m) (expR_ge0 (s + e + (s + e))).
  rewrite rest_curve subr0; have -> : m - s / m = - (- m + s / m) by lra.
  have -> : - (- m + s / m) - mu = - m - s / m by rewrite /m; lra.
  rewrite normal_reflected -/A -/B expRD => h; have i : expR (- (s + e)) * expR (s + e) = 1 by rewrite -expRD addNr expR0.
  have := ler_wpmul2l (expR_ge0 (- (s + e))) h; move: i; move: (expR (- (s + e))) (expR (s + e)) (rest _) => x y z i h'.
  have i1 : x * y * z = z by rewrite i mul1r.
  have i2 : x * y * y * B = y * B by rewrite i mul1r.
  lra.
apply: (le_trans best); rewrite /rest -/A -/B opprD !expRD.
have E0 := sinh_ge0 e0; move: AB E0; rewrite /cosh /sinh; move: (expR e) (expR (- e)) => p q.
have -> : expR (- s) * q * A = expR (- s) * A * q by lra.
have -> : expR s * p * B = expR s * B * p by lra.
move: (expR s * B) (expR (- s) * A) => y x xy pq.
have : 0 <= (x - y) * ((p - q) / 2) by rewrite mulr_ge0// subr_ge0.
lra.
Qed.

Lemma rest_ge0 s : 0 <= rest s. Proof. by rewrite addr_ge0// mulr_ge0// expR_ge0. Qed.

Lemma cosh_le (e : R) : cosh e <= expR (e ^+ 2 / 2).
Proof.
have h0 : 0 <= 2^-1 :> R by lra.
have h1 : 2^-1 <= 1 :> R by lra.
have := ler_wpmul2l (expR_ge0 (- e)) (hoeffding (e + e) h0 h1).
have -> : expR (- e) * (2^-1 * expR (e + e) + (1 - 2^-1)) = cosh e.
  have i : expR (- e) * expR e * expR e = expR e by rewrite -expRD addNr expR0 mul1r.
  rewrite /cosh expRD; lra.
rewrite -expRD; have -> : - e + (2^-1 * (e + e) + (e + e) ^+ 2 / 8) = e ^+ 2 / 2 by lra.
exact.
Qed.

Lemma rest_steps e k : 0 <= e -> rest (k%:R * e) <= rest 0 * expR (k%:R * (e ^+ 2 / 2)).
Proof.
move=> e0; elim: k => [|k IH]; first by rewrite !mul0r expR0 mulr1.
have ke : 0 <= k%:R * e by rewrite mulr_ge0.
have more (x : R) : k.+1%:R * x = k%:R * x + x by rewrite -natr1 mulrDl mul1r.
rewrite !more expRD; apply: (le_trans (rest_step ke e0)).
apply: (@le_trans _ _ (rest (k%:R * e) * expR (e ^+ 2 / 2))); first by apply: ler_wpmul2l (cosh_le e); exact: rest_ge0.
by rewrite mulrA; apply: ler_wpmul2r => //; exact: expR_ge0.
Qed.

(* It is greatest at 0. *)
Lemma rest_le s : rest s <= rest 0.
Proof.
wlog s0 : s / 0 <= s.
  by move=> h; have [|s0] := leP 0 s; [exact: h | rewrite -rest_even; apply: h; rewrite oppr_ge0 ltW].
rewrite leNgt; apply/negP; rewrite -subr_gt0 => gap.
pose b := rest s * (s ^+ 2 / 2); have b0 : 0 <= b by rewrite mulr_ge0 ?rest_ge0// divr_ge0// sqr_ge0.
have [n n0 big] : exists2 n : nat, (0 < n)%N & b < n%:R * (rest s - rest 0).
  exists `|ceil (b / (rest s - rest 0))|%N.+1 => //; rewrite -ltr_pdivr_mulr// -natr1 natr_absz ger0_norm; last by rewrite ceil_ge0// divr_ge0// ltW.
  by rewrite ltr_spaddr// ceil_ge.
have nR : 0 < n%:R :> R by rewrite ltr0n.
have := rest_steps n (divr_ge0 s0 (ltW nR)); move: (n%:R) nR big => r r0 big.
have -> : r * (s / r) = s by rewrite mulrCA divff ?gt_eqF// mulr1.
have -> : r * ((s / r) ^+ 2 / 2) = s ^+ 2 / 2 / r.
  have rr : r * r^-1 = 1 by rewrite divff// gt_eqF.
  transitivity (r * r^-1 * (s ^+ 2 / 2 * r^-1)); last by rewrite rr mul1r.
  by move: (r^-1) => i; rewrite !expr2; lra.
set z := s ^+ 2 / 2 / r => le; have low := expR_ge1D (- z).
have i : expR z * expR (- z) = 1 by rewrite -expRD subrr expR0.
have h1 := ler_wpmul2r (expR_ge0 (- z)) le; have h2 := ler_wpmul2l (rest_ge0 s) low.
rewrite -mulrA i mulr1 in h1.
have zb : rest s * z * r = b by rewrite /z /b -mulrA; congr (_ * _); rewrite divfK// gt_eqF.
have h3 : rest s - rest 0 <= rest s * z by move: h1 h2; move: (expR (- z)) (rest s) (rest 0) => w x x0; lra.
have := ler_wpmul2r (ltW r0) h3; rewrite zb; move: big; move: (rest s) (rest 0) => x x0; lra.
Qed.
End Rest.

(* The curve of N(0, 1), N(mu, 1) where Phi(-mu/2) = e^(-t/2)/2. *)
Lemma normal_above_laplace mu t eps : 0 <= t -> 0 <= mu -> Phi (- (mu / 2)) = expR (- (t / 2)) / 2 ->
  1 - expR ((eps - t) / 2) <= profile (expR eps) (law 0) (law mu).
Proof.
move=> t0; rewrite le_eqVlt => /predU1P[<-|m0] h.
  have half : Phi 0 = 1 / 2 by have := normal_reflected 0; rewrite oppr0; lra.
  have E : expR (- (t / 2)) = 1 by move: h; rewrite mul0r oppr0 half; lra.
  have t1 : 0 <= - (t / 2) by rewrite -ler_expR E expR0.
  have z : t = 0 by lra.
  rewrite (null_pair normal (expR_ge0 eps)) le_maxr z subr0; apply/orP.
  have [e0|e0] := leP 0 eps; [left | right].
    by rewrite subr_le0 -[leLHS](@expR0 R) ler_expR; lra.
  by rewrite ler_add2l ler_opp2 ler_expR; lra.
have -> : eps = eps / 2 + eps / 2 by lra.
rewrite (rest_curve m0) ler_add2l ler_opp2.
have le := ler_wpmul2l (expR_ge0 (eps / 2)) (rest_le m0 (eps / 2)).
apply: (le_trans le); rewrite {1}/rest mul0r oppr0 expR0 !mul1r !addr0 h.
by rewrite -splitr -expRD ler_expR; lra.
Qed.

(* No smaller mu will do. *)
Lemma normal_least mu mu' t : 0 <= mu' -> Phi (- (mu / 2)) = expR (- (t / 2)) / 2 ->
  1 - expR (- t / 2) <= profile 1 (law 0) (law mu') -> mu <= mu'.
Proof.
move=> m0 h low; have le : Phi (- (mu' / 2)) <= Phi (- (mu / 2)).
  move: m0 low; rewrite le_eqVlt => /predU1P[<-|m0].
    have half : Phi 0 = 1 / 2 by have := normal_reflected 0; rewrite oppr0; lra.
    rewrite (null_pair normal ler01) subrr maxxx mul0r oppr0 half h mulNr; lra.
  rewrite -[X in profile X]expR0 (normal_pair_curve normal _ m0) /gaussian_delta mul0r !subr0 expR0 mul1r h mulNr.
  by have := normal_reflected (mu' / 2); lra.
rewrite leNgt; apply/negP => mm; move: le; apply/negP; rewrite -ltNge.
have w0 : 0 < (mu - mu') / 4 by lra.
have := @normal_cdf_factor ((mu + mu') / 4) ((mu - mu') / 4) w0.
have -> : - ((mu + mu') / 4) - (mu - mu') / 4 = - (mu / 2) by lra.
have -> : - ((mu + mu') / 4) + (mu - mu') / 4 = - (mu' / 2) by lra.
apply: lt_le_trans; rewrite h -[ltLHS]mul1r ltr_pmul2r ?divr_gt0 ?expR_gt0// -[ltLHS](@expR0 R) ltr_expR.
by rewrite !mulr_gt0//; lra.
Qed.
End Normal.
