(* Facts about exponents h on distances r >= 0 (and on the line): concave ones, convex ones, their increments and limits. Real analysis of
   one variable without derivatives: only chords are used. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic.

Section Half.
Context (R : realType).
Implicit Types (h : R -> R) (a b c t D L : R).

Definition concave_on_half h := forall a b t, 0 <= a -> 0 <= b -> 0 <= t -> t <= 1 -> t * h a + (1 - t) * h b <= h (t * a + (1 - t) * b).
Definition convex_on_half h := forall a b t, 0 <= a -> 0 <= b -> 0 <= t -> t <= 1 -> h (t * a + (1 - t) * b) <= t * h a + (1 - t) * h b.
Definition convex_on_line h := forall a b t, 0 <= t -> t <= 1 -> h (t * a + (1 - t) * b) <= t * h a + (1 - t) * h b.
Definition never_falls h := forall a b, 0 <= a -> a <= b -> h a <= h b.

Lemma over_ge0 a b : 0 <= a -> 0 < b -> 0 <= a / b.
Proof. by move=> a0 b0; rewrite divr_ge0// ltW. Qed.

(* A point between two others, as a chord. *)
Lemma chord a b c : a < b -> a <= c -> c <= b -> exists t, [/\ 0 <= t, t <= 1, t * (b - a) = c - a & c = t * b + (1 - t) * a].
Proof.
move=> ab ac cb; have d0 : 0 < b - a by rewrite subr_gt0.
have e : (c - a) / (b - a) * (b - a) = c - a by rewrite divfK// gt_eqF.
exists ((c - a) / (b - a)); split=> //.
- by rewrite divr_ge0 ?subr_ge0// ltW.
- by rewrite ler_pdivr_mulr// mul1r; lra.
- by set t := _ / _ in e *; lra.
Qed.

(* The increment of a concave exponent is greatest at 0. *)
Lemma concave_increment h a D : concave_on_half h -> 0 <= a -> 0 <= D -> h (a + D) - h a <= h D - h 0.
Proof.
move=> conc a0 D0; have [-> | a1] := eqVneq a 0; first by rewrite add0r.
have pos : 0 < a + D by rewrite ltr_paddr// lt_neqAle eq_sym a1.
have [|t [t0 t1 te Dt]] := @chord 0 (a + D) D pos D0; first by lra.
rewrite !subr0 in te.
have hD := conc (a + D) 0 t (ltW pos) (lexx _) t0 t1.
have u0 : 0 <= 1 - t by lra.
have u1 : 1 - t <= 1 by lra.
have ha := conc (a + D) 0 (1 - t) (ltW pos) (lexx _) u0 u1.
have e1 : t * (a + D) + (1 - t) * 0 = D by lra.
have e2 : (1 - t) * (a + D) + (1 - (1 - t)) * 0 = a by lra.
rewrite e1 in hD; rewrite e2 in ha; lra.
Qed.

(* The two-argument modulus of a concave exponent that never falls. *)
Lemma concave_modulus h D a b : concave_on_half h -> never_falls h -> 0 <= a -> 0 <= b -> `|a - b| <= D -> h b - h a <= h D - h 0.
Proof.
move=> conc rise a0 b0; rewrite ler_norml => /andP[ab ba].
have D0 : 0 <= D by lra.
have [le | lt] := lerP b a; first by have := rise _ _ b0 le; have := rise _ _ (lexx 0) D0; lra.
have s0 : 0 <= b - a by lra.
have := concave_increment conc a0 s0; have -> : a + (b - a) = b by lra.
have sD : b - a <= D by lra.
have := rise _ _ s0 sD; lra.
Qed.

(* A concave exponent that falls somewhere stays below from there on. *)
Lemma concave_falls h a b r : concave_on_half h -> 0 <= a -> a < b -> h b < h a -> b <= r -> h r <= h b.
Proof.
move=> conc a0 ab fall br; have ar : a < r by lra.
have [|| t [t0 t1 te bt]] := @chord a r b ar; [lra | lra |].
have r0 : 0 <= r by lra.
have := conc r a t r0 a0 t0 t1; rewrite -bt => hb.
have tp : 0 < t.
  rewrite lt_neqAle t0 andbT; apply/eqP => tz; move: te; rewrite -tz mul0r; lra.
have : t * (h r - h b) <= 0.
  have u0 : 0 <= 1 - t by lra.
  have := mulr_ge0 u0 (ltW (_ : 0 < h a - h b)); rewrite subr_gt0 => /(_ fall); lra.
by rewrite pmulr_rle0//; lra.
Qed.

(* Continuity inside, by chords: a chord on either side bounds the change. *)
Lemma convex_near h (l : R) (c e k x : R) : 0 < e ->
  (forall a b t, l <= a -> l <= b -> 0 <= t -> t <= 1 -> h (t * a + (1 - t) * b) <= t * h a + (1 - t) * h b) ->
  l <= c - e -> `|x - c| <= e -> h (c + e) - h c <= k -> h (c - e) - h c <= k -> `|h x - h c| <= `|x - c| / e * k.
Proof.
move=> e0 conv lc xe up dn.
have main (f : R) : (f = e \/ f = - e) -> forall t, 0 <= t -> t <= 1 -> x = c + t * f -> `|h x - h c| <= t * k.
  move=> fE t t0 t1 xE.
  have hu : h (c + f) - h c <= k by case: fE => ->.
  have hd : h (c - f) - h c <= k by case: fE => ->; rewrite ?opprK.
  have cu : l <= c + f by case: fE => ->; lra.
  have cd : l <= c - f by case: fE => ->; lra.
  have c1 : l <= c by lra.
  have lx : l <= x by move: xe; rewrite ler_norml => /andP[]; lra.
  have A := conv _ _ t cu c1 t0 t1.
  have e1 : t * (c + f) + (1 - t) * c = x by lra.
  rewrite e1 in A.
  have tk := ler_wpmul2l t0 hu; have tk' := ler_wpmul2l t0 hd.
  pose w := (1 + t)^-1.
  have w0 : 0 < w by rewrite invr_gt0; lra.
  have wE : w * (1 + t) = 1 by rewrite /w mulVf// gt_eqF//; lra.
  have w1 : w <= 1 by have := mulr_ge0 (ltW w0) t0; lra.
  have B := conv x (c - f) w lx cd (ltW w0) w1.
  have u : 1 - w = w * t by lra.
  have e2 : w * x + (1 - w) * (c - f) = c.
    by rewrite u xE; have : w * (1 + t) * c = c; [rewrite wE mul1r | lra].
  rewrite e2 u in B.
  have B' : 0 <= w * (t * (h (c - f) - h c) - (h c - h x)).
    have : w * (1 + t) * h c = h c by rewrite wE mul1r.
    lra.
  rewrite pmulr_rge0// in B'.
  by rewrite ler_norml; apply/andP; split; lra.
have t0 : 0 <= `|x - c| / e by rewrite divr_ge0// ltW.
have t1 : `|x - c| / e <= 1 by rewrite ler_pdivr_mulr// mul1r.
have te : `|x - c| / e * e = `|x - c| by rewrite divfK// gt_eqF.
case: (leP c x) => [le | lt].
- apply: (main e _ (`|x - c| / e)) => //; first by left.
  by rewrite te ger0_norm; lra.
- apply: (main (- e) _ (`|x - c| / e)) => //; first by right.
  by rewrite mulrN te ltr0_norm; lra.
Qed.

Lemma convex_continuous h (l c e : R) : 0 < e ->
  (forall a b t, l <= a -> l <= b -> 0 <= t -> t <= 1 -> h (t * a + (1 - t) * b) <= t * h a + (1 - t) * h b) ->
  l <= c - e -> forall s, 0 < s -> exists2 r, 0 < r & forall x, `|x - c| < r -> `|h x - h c| < s.
Proof.
move=> e0 conv lc s s0; pose k := `|h (c + e) - h c| + `|h (c - e) - h c| + 1.
have n1 := normr_ge0 (h (c + e) - h c); have n2 := normr_ge0 (h (c - e) - h c).
have m1 := ler_norm (h (c + e) - h c); have m2 := ler_norm (h (c - e) - h c).
have k0 : 0 < k by rewrite /k; lra.
have up : h (c + e) - h c <= k by rewrite /k; lra.
have dn : h (c - e) - h c <= k by rewrite /k; lra.
have v0 : 0 < s / k * e by rewrite mulr_gt0// divr_gt0.
exists (Num.min e (s / k * e)); first by rewrite lt_minr e0.
move=> x; rewrite lt_minr => /andP[xe xs].
apply: le_lt_trans (convex_near e0 conv lc (ltW xe) up dn) _.
by rewrite -ltr_pdivl_mulr// ltr_pdivr_mulr.
Qed.

Lemma concave_continuous h c : concave_on_half h -> 0 < c ->
  forall s, 0 < s -> exists2 r, 0 < r & forall x, `|x - c| < r -> `|h x - h c| < s.
Proof.
move=> conc c0 s s0.
have conv : forall a b t, 0 <= a -> 0 <= b -> 0 <= t -> t <= 1 -> - h (t * a + (1 - t) * b) <= t * - h a + (1 - t) * - h b.
  move=> a b t a0 b0 t0 t1; have := conc a b t a0 b0 t0 t1; lra.
have lc : 0 <= c - c by lra.
have [r r0 near] := convex_continuous c0 conv lc s0.
by exists r => // x /near; rewrite -opprD normrN.
Qed.

(* Convex exponents. The increment does not fall, and its supremum is D times the limit of h(r)/r. *)
Lemma convex_chord h a b r : convex_on_half h -> 0 <= a -> a < b -> b <= r -> (h b - h a) * (r - a) <= (h r - h a) * (b - a).
Proof.
move=> conv a0 ab br; have ar : a < r by lra.
have [||t [t0 t1 te bt]] := @chord a r b ar; [lra | lra |].
have r0 : 0 <= r by lra.
have := conv r a t r0 a0 t0 t1; rewrite -bt => hb.
have d0 : 0 <= r - a by lra.
have : (h b - h a) * (r - a) <= t * (h r - h a) * (r - a) by apply: ler_wpmul2r => //; lra.
by move/le_trans; apply; rewrite -te le_eqVlt; apply/orP; left; apply/eqP; lra.
Qed.

(* lim h(r)/r = L as r tends to infinity, from one side each. *)
Definition slope_at_most h L := forall s, L < s -> exists r0, forall r, r0 <= r -> h r <= s * r.
Definition slope_at_least h L := forall s, s < L -> exists r0, forall r, r0 <= r -> s * r <= h r.
Definition slope_infinite h := forall s : R, exists r0, forall r, r0 <= r -> s * r <= h r.

Lemma convex_increment h L a D : convex_on_half h -> slope_at_most h L -> 0 <= a -> 0 <= D -> h (a + D) - h a <= L * D.
Proof.
move=> conv far a0; rewrite le_eqVlt => /orP[/eqP <- | D0]; first by rewrite addr0 mulr0 subrr.
rewrite leNgt; apply/negP => gt.
pose k := (h (a + D) - h a) / D.
have kE : k * D = h (a + D) - h a by rewrite /k divfK// gt_eqF.
have Lk : L < k by rewrite /k ltr_pdivl_mulr.
pose s := (L + k) / 2.
have [|r0 low] := far s; first by rewrite /s; lra.
have sk : 0 < k - s by rewrite /s; lra.
pose v := `|k * a - h a| / (k - s).
have vE : v * (k - s) = `|k * a - h a| by rewrite /v divfK// gt_eqF.
have v0 : 0 <= v by rewrite divr_ge0// ltW.
have n0 := normr_ge0 r0; have m0 := ler_norm r0; have mk := ler_norm (k * a - h a).
pose r := `|r0| + v + a + D + 1.
have lowr : h r <= s * r by apply: low; rewrite /r; lra.
have aD : a < a + D by lra.
have Dr : a + D <= r by rewrite /r; lra.
have := convex_chord conv a0 aD Dr.
have -> : a + D - a = D by lra.
rewrite -kE mulrAC ler_pmul2r// => chord_r.
have : 0 < (k - s) * (r - v) by rewrite mulr_gt0// /r; lra.
lra.
Qed.

Lemma steps h a D (s : R) : (forall b, 0 <= b -> h (b + D) - h b <= s * D) -> 0 <= a -> 0 <= D ->
  forall n, h (a + n%:R * D) - h a <= s * (n%:R * D).
Proof.
move=> small a0 D0; elim=> [|n IH]; first by rewrite mul0r addr0 mulr0 subrr.
have nD : 0 <= n%:R * D by rewrite mulr_ge0// ler0n.
have b0 : 0 <= a + n%:R * D by lra.
have := small _ b0; rewrite -addn1 natrD mulrDl mul1r addrA; lra.
Qed.

Lemma beyond (r0 a D : R) : 0 < D -> exists n : nat, r0 <= a + n%:R * D.
Proof.
move=> D0; have [n nE] : exists n : nat, `|(r0 - a) / D| <= n%:R.
  by exists (Num.bound `|(r0 - a) / D|); apply/ltW/archi_boundP.
exists n; have := le_trans (ler_norm _) nE; rewrite ler_pdivr_mulr//; lra.
Qed.

Lemma increment_reached h L D s : 0 < D -> slope_at_least h L -> s < L -> exists2 a, 0 <= a & s * D < h (a + D) - h a.
Proof.
move=> D0 far sL; apply: contrapT => none.
have small b : 0 <= b -> h (b + D) - h b <= s * D.
  by move=> b0; rewrite leNgt; apply/negP => gt; apply: none; exists b.
pose s' := (s + L) / 2.
have [|r0 low] := far s'; first by rewrite /s'; lra.
have gap : 0 < s' - s by rewrite /s'; lra.
pose v := `|h 0| / (s' - s) + 1.
have vE : (v - 1) * (s' - s) = `|h 0| by rewrite /v addrK divfK// gt_eqF.
have [n nE] := beyond (`|r0| + v) 0 D0; rewrite add0r in nE.
have := steps small (lexx 0) (ltW D0) n; rewrite add0r.
have n0 := normr_ge0 r0; have m0 := ler_norm r0; have h0 := ler_norm (h 0).
have v1 : 1 <= v by rewrite /v ler_addr divr_ge0// ltW.
have := low (n%:R * D); rewrite (le_trans _ nE); last by lra.
move=> /(_ isT) up dn.
have : 0 <= (s' - s) * (n%:R * D - v) by apply: mulr_ge0; lra.
lra.
Qed.

Lemma increment_unbounded h D : 0 < D -> slope_infinite h -> forall v : R, exists2 a, 0 <= a & v < h (a + D) - h a.
Proof.
move=> D0 far v; have far' : slope_at_least h (v / D + 1) by move=> s _; exact: far.
have lt : v / D < v / D + 1 by lra.
by have [a a0 av] := increment_reached D0 far' lt; exists a => //; rewrite divfK ?gt_eqF// in av.
Qed.
End Half.
