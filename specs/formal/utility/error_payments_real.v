(* What pays for the mean size and the mean square of an error on a line, where data are real numbers (docs/theory/necessary.md, lines lower bound:
   one line): steps of every length up to 1 may be used, in m equal parts, and with m the price of the parts becomes nothing. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic error_chains error_payments.

(* Steps of every length up to 1, in m parts. What a number at least g, but below 1, pays is spread over the numbers from 0 to g. *)
Section Reals.
Context (R : realType) (q a b c g lam C : R) (w : R -> R).
Hypotheses (q0 : 0 < q) (q1 : q < 1) (a0 : 0 <= a) (b0 : 0 <= b) (c0 : c < 0) (g0 : 0 < g) (g1 : g < 1) (C0 : 0 <= C).
Hypotheses (we : even w) (w0 : forall t, 0 <= w t).

Definition price (t : R) : R := a * t ^+ 2 + b * t + c.
(* Its integral from 0 on. *)
Definition area (t : R) : R := a / 3 * t ^+ 3 + b / 2 * t ^+ 2 + c * t.
Hypotheses (root : price g = 0) (down : forall t, 0 <= t -> price t - q * price (t + 1) = w t - lam).
(* What is spread is no more than what there is. *)
Hypotheses (enough : - area g <= q * (area 1 - area g)) (most : forall t, price (`|t| + 1) <= C * (1 + w t)).

Lemma price_le x y : 0 <= x -> x <= y -> price x <= price y.
Proof.
move=> x0 xy; have d0 : 0 <= y - x by lra.
have s0 : 0 <= y + x by lra.
have h1 := mulr_ge0 a0 (mulr_ge0 d0 s0); have h2 := mulr_ge0 b0 d0; rewrite /price; lra.
Qed.

(* The area under a function that rises is at most the step times its end, and at least the step times its start. *)
Lemma area_above x y : 0 <= x -> x <= y -> area y - area x <= (y - x) * price y.
Proof.
move=> x0 xy; have d0 : 0 <= y - x by lra.
have s0 : 0 <= 2 * y + x by lra.
have h1 := mulr_ge0 a0 (mulr_ge0 (mulr_ge0 d0 d0) s0); have h2 := mulr_ge0 b0 (mulr_ge0 d0 d0); rewrite /price /area; lra.
Qed.

Lemma area_below x y : 0 <= x -> x <= y -> (y - x) * price x <= area y - area x.
Proof.
move=> x0 xy; have d0 : 0 <= y - x by lra.
have s0 : 0 <= 2 * x + y by lra.
have h1 := mulr_ge0 a0 (mulr_ge0 (mulr_ge0 d0 d0) s0); have h2 := mulr_ge0 b0 (mulr_ge0 d0 d0); rewrite /price /area; lra.
Qed.

Lemma price_neg t : 0 <= t -> t <= g -> price t <= 0.
Proof. by move=> t0 tg; rewrite -root; exact: price_le. Qed.

Lemma price_pos t : g <= t -> 0 <= price t.
Proof. by move=> tg; rewrite -root; apply: price_le => //; exact: ltW. Qed.

Lemma price_low t : 0 <= t -> c <= price t.
Proof. by move=> t0; have := price_le (lexx 0) t0; rewrite {1}/price expr0n/= !mulr0 !add0r. Qed.

Lemma area_gap : 0 < - area g.
Proof.
have h : c <= price g by apply: price_low; exact: ltW.
have := area_above (lexx 0) (ltW g0); rewrite root mulr0 {2}/area !expr0n/= !mulr0 !addr0 subr0 => le.
rewrite lt_neqAle oppr_ge0 le andbT eq_sym oppr_eq0; apply/eqP => z.
have g2 : 0 < g ^+ 2 by exact: exprn_gt0.
have g3 : 0 < g ^+ 3 by exact: exprn_gt0.
have r : price g * g = 0 by rewrite root mul0r.
have ag := mulr_ge0 a0 (ltW g3); have bg := mulr_ge0 b0 (ltW g2).
have cg : c * g < 0 by rewrite nmulr_rlt0.
move: z r; rewrite /area /price; lra.
Qed.

(* What pays, and what is paid. *)
Definition giver (t : R) : R := if t \in `[g, 1[ then price t else 0.
Definition taker (t : R) : R := if t \in `[0, g[ then - price t else 0.

Lemma giver_ge0 t : 0 <= giver t.
Proof. by rewrite /giver in_itv/=; case: ifP => // /andP[h _]; exact: price_pos. Qed.
Lemma taker_ge0 t : 0 <= taker t.
Proof. by rewrite /taker in_itv/=; case: ifP => // /andP[h1 h2]; rewrite oppr_ge0; apply: price_neg => //; exact: ltW. Qed.
Lemma giver_le t : giver t <= price 1.
Proof.
rewrite /giver in_itv/=; case: ifP => [/andP[h1 h2]|_]; last by apply: price_pos; exact: ltW.
by apply: price_le; [lra | exact: ltW].
Qed.
Lemma taker_le t : taker t <= - c.
Proof.
rewrite /taker in_itv/=; case: ifP => [/andP[h1 h2]|_]; last by rewrite oppr_ge0 ltW.
by rewrite ler_opp2; exact: price_low.
Qed.

Variable m : nat.
Hypothesis m0 : (0 < m)%N.
Let s : R := m%:R^-1.
Hypothesis small : s <= 1 - g.
Let s0 : 0 < s. Proof. by rewrite invr_gt0 ltr0n. Qed.
Let ms : m%:R * s = 1. Proof. by rewrite divff// pnatr_eq0 -lt0n. Qed.

Lemma sum_of_differences (F : R -> R) t n : \sum_(j < n) (F (t + j.+1%:R * s) - F (t + j%:R * s)) = F (t + n%:R * s) - F t.
Proof.
elim: n => [|n IH]; first by rewrite big_ord0 mul0r addr0 subrr.
rewrite big_ord_recr/= IH; lra.
Qed.

(* The sum of what is given, to a number from which all of [g, 1) is in reach. *)
Let reach (x : R) : R := area (if x <= g then g else if x <= 1 - s then x else 1 - s).

Lemma giver_step x : reach x - reach (x - s) <= s * giver x.
Proof.
have gs : g <= 1 - s by lra.
have pos t : g <= t -> 0 <= s * price t by move=> h; rewrite mulr_ge0 ?price_pos// ltW.
have g0' := ltW g0.
rewrite /reach /giver in_itv/=; case: (leP x g) => xg.
  rewrite (_ : x - s <= g); last by lra.
  rewrite subrr; case: ifP => [/andP[h _]|_]; last by rewrite mulr0.
  exact: pos.
have -> : (g <= x) = true by exact: ltW.
case: (leP x (1 - s)) => xs.
  have x1 : x < 1 by lra.
  have x2 : x - s <= 1 - s by lra.
  rewrite x1 x2.
  rewrite /=; case: (leP (x - s) g) => h.
    have := area_above g0' (ltW xg); have := ler_wpmul2r (price_pos (ltW xg)) (_ : x - g <= s); rewrite ler_subl_addr -ler_subl_addl => /(_ ltac:(lra)).
    lra.
  have h1 : 0 <= x - s by lra.
  have h2 : x - s <= x by lra.
  have := area_above h1 h2; lra.
case: (leP (x - s) g) => h.
  case: (ltP x 1) => x1 /=; last first.
    have -> : 1 - s = g by lra.
    by rewrite subrr mulr0.
  have h1 : g <= 1 - s by [].
  have := area_above g0' h1; have e0 : 0 <= 1 - s by lra.
  have e1 : 1 - s <= x by lra.
  have := price_le e0 e1; have p0 := price_pos gs; have pp := price_pos (ltW xg).
  have k1 : 1 - s - g <= s by lra.
  have k2 : 0 <= 1 - s - g by lra.
  move=> le1 le2; have := ler_wpmul2l k2 le1; have := ler_wpmul2r pp k1; lra.
case: (leP (x - s) (1 - s)) => h'.
  case: (ltP x 1) => x1 /=.
    have e0 : 0 <= x - s by lra.
    have e1 : x - s <= 1 - s by lra.
    have := area_above e0 e1; have e2 : 0 <= 1 - s by lra.
    have e3 : 1 - s <= x by lra.
    have := price_le e2 e3 => le1 le2; have k2 : 0 <= 1 - s - (x - s) by lra.
    have := ler_wpmul2l k2 le1; have k1 : 1 - s - (x - s) <= s by lra.
    have := ler_wpmul2r (price_pos (ltW xg)) k1; lra.
  have -> : x - s = 1 - s by lra.
  by rewrite subrr mulr0.
by rewrite subrr; case: ifP => _; rewrite ?mulr0//; apply: pos; exact: ltW.
Qed.

Lemma given t : 0 <= t -> t <= g -> area (1 - s) - area g <= \sum_(j < m) s * giver (t + j.+1%:R * s).
Proof.
move=> t0 tg; apply: (@le_trans _ _ (reach (t + m%:R * s) - reach t)).
  rewrite ms /reach tg; case: (leP (t + 1) g) => h; first by lra.
  case: (leP (t + 1) (1 - s)) => h' //; by lra.
rewrite -sum_of_differences; apply: ler_sum => j _; apply: le_trans (giver_step _).
by rewrite (_ : t + j.+1%:R * s - s = t + j%:R * s)// -natr1; lra.
Qed.

(* The sum of what is taken, from one number. *)
Let filled (x : R) : R := if x <= - s then c * s else if x <= 0 then - c * x else if x <= g then - area x else - area g.

Lemma area_neg t : 0 <= t -> t <= g -> area t <= 0.
Proof.
move=> t0 tg; have := area_above (lexx 0) t0; rewrite subr0 {2}/area !expr0n/= !mulr0 !addr0 subr0 => h.
by apply: le_trans h _; rewrite mulr_ge0_le0// price_neg.
Qed.

Lemma filled_up x y : x <= y -> filled x <= filled y.
Proof.
move=> xy; rewrite /filled.
have cs : c * s <= 0 by rewrite mulr_le0_ge0 ?ltW.
have ar u v : 0 <= u -> u <= v -> v <= g -> - area u <= - area v.
  move=> u0 uv vg; have := area_above u0 uv; have := mulr_ge0_le0 (_ : 0 <= v - u) (price_neg (le_trans u0 uv) vg).
  rewrite subr_ge0 => /(_ uv); lra.
have ag : 0 <= - area g by exact/ltW/area_gap.
have neg u : - s <= u -> u <= 0 -> c * s <= - c * u.
  move=> h h'; have h2 : 0 <= u + s by lra.
  have := mulr_le0_ge0 (ltW c0) h2; lra.
have neg' u : u <= 0 -> - c * u <= 0 by move=> h; rewrite mulr_ge0_le0// oppr_ge0 ltW.
case: (leP x (- s)) => x1; case: (leP y (- s)) => y1 //; try by lra.
- case: (leP y 0) => y2; first by apply: neg => //; exact: ltW.
  case: (leP y g) => y3; last by lra.
  by have := area_neg (ltW y2) y3; lra.
- case: (leP x 0) => x2; case: (leP y 0) => y2; try by lra.
  + have := ler_wpmul2l (_ : 0 <= - c) xy; rewrite oppr_ge0 => /(_ (ltW c0)); lra.
  + have := neg' x x2; case: (leP y g) => y3; [have := area_neg (ltW y2) y3|]; lra.
  + case: (leP x g) => x3; case: (leP y g) => y3; try by lra.
    * by apply: ar => //; exact: ltW.
    * by apply: ar => //; [exact: ltW].
Qed.

Lemma taker_step x : s * taker x <= filled x - filled (x - s).
Proof.
have up : filled (x - s) <= filled x by apply: filled_up; lra.
rewrite /taker in_itv/=; case: ifP => [/andP[h1 h2]|_]; last by rewrite mulr0 subr_ge0.
rewrite /filled; case: (leP x (- s)) => x1; first by lra.
have [->|xn] := eqVneq x 0.
  rewrite lexx sub0r lexx mulr0 sub0r /price expr0n/= !mulr0 !add0r; lra.
have xp : 0 < x by rewrite lt_neqAle eq_sym xn.
case: (leP x 0) => x2; first by lra.
rewrite (ltW h2); case: (leP (x - s) (- s)) => y1; first by lra.
case: (leP (x - s) 0) => y2.
  have := area_above (lexx 0) h1; rewrite subr0 {2}/area !expr0n/= !mulr0 !addr0 subr0.
  have := ler_wpmul2l (_ : 0 <= s - x) (price_low h1); rewrite subr_ge0 => /(_ ltac:(lra)); lra.
case: (leP (x - s) g) => y3; last by lra.
have y2' := ltW y2; have y4 : x - s <= x by lra.
have := area_above y2' y4; lra.
Qed.

Lemma taken t : t <= 1 -> \sum_(j < m) s * taker (t - j.+1%:R * s) <= - area g - c * s.
Proof.
move=> t1; apply: (@le_trans _ _ (filled (t - s) - filled (t - s - 1))).
  have -> : t - s - 1 = t - s - m%:R * s by rewrite ms.
  have tele n : \sum_(j < n) s * taker (t - j.+1%:R * s) <= filled (t - s) - filled (t - s - n%:R * s).
    elim: n => [|n IH]; first by rewrite big_ord0 mul0r subr0 subrr.
    rewrite big_ord_recr/=; have := taker_step (t - n.+1%:R * s).
    have -> : t - n.+1%:R * s = t - s - n%:R * s by rewrite -natr1; lra.
    have -> : t - s - n.+1%:R * s = t - s - n%:R * s - s by rewrite -natr1; lra.
    lra.
  exact: tele.
have cs : c * s <= 0 by rewrite mulr_le0_ge0 ?ltW.
have up : filled (t - s) <= - area g.
  apply: le_trans (filled_up (_ : _ <= Num.max (t - s) (g + 1))) _; first by rewrite le_maxr lexx.
  have := ltW area_gap; have : g + 1 <= Num.max (t - s) (g + 1) by rewrite le_maxr lexx orbT.
  move: (Num.max _ _) => u gu ag; rewrite /filled.
  by case: (leP u (- s)) => h1; [lra|]; case: (leP u 0) => h2; [lra|]; case: (leP u g) => h3; lra.
have low x : c * s <= filled x.
  apply: le_trans (_ : filled (Num.min x (- s)) <= _); last by apply: filled_up; rewrite le_minl lexx.
  have : Num.min x (- s) <= - s by rewrite le_minl lexx orbT.
  by rewrite /filled => ->.
have := low (t - s - 1); lra.
Qed.

(* -- The payment -- *)
Let whole : R := - area g - c * s.
Let kappa : R := s / whole.
Let whole0 : 0 < whole.
Proof.
have h := area_gap; have cs : c * s < 0 by rewrite nmulr_rlt0.
rewrite /whole; lra.
Qed.
Let kappa0 : 0 <= kappa. Proof. by rewrite divr_ge0 ?ltW. Qed.

Let far (j : 'I_m) (t : R) : R := if (j.+1 == m) && (1 <= t) then price t else 0.
Let near (j : 'I_m) (t : R) : R := kappa * (giver t * taker (t - j.+1%:R * s)).
Let pay (j : 'I_m) (t : R) : R := far j t + near j t.

Let far0 j t : 0 <= far j t.
Proof. by rewrite /far; case: ifP => // /andP[_ h]; apply: price_pos; apply: le_trans h; exact: ltW. Qed.
Let near0 j t : 0 <= near j t.
Proof. by rewrite /near mulr_ge0// mulr_ge0 ?giver_ge0 ?taker_ge0. Qed.

Let measurable_pay j : measurable_fun setT (pay j).
Proof.
have mp : measurable_fun setT price by exact: measurable_quadratic.
have mg : measurable_fun setT giver by exact: measurable_inside.
have mt : measurable_fun setT taker by apply: measurable_inside; exact: measurable_funN.
apply: measurable_funD.
  rewrite (_ : far j = fun t => if t \in `[1, +oo[ then (if j.+1 == m then price t else 0) else 0).
    by apply: measurable_inside; case: (_ == _) => //; exact: measurable_fun_cst.
  by apply/funext => t; rewrite /far in_itv/= andbT; case: (_ == _); case: (1 <= t).
apply: measurable_funM; first exact: measurable_fun_cst.
apply: measurable_funM => //; apply: (measurable_fun_comp mt).
by apply: measurable_funB; [exact: measurable_fun_id | exact: measurable_fun_cst].
Qed.

Let loses : R := - c * (q * price 1 - c) / (- area g).

Lemma paid_in_parts : paid m s q w (lam - loses * s).
Proof.
have p1 : 0 <= price 1 by apply: price_pos; exact: ltW.
have nc : 0 <= - c by rewrite oppr_ge0 ltW.
have extra : 0 <= kappa * (price 1 * - c) by apply: mulr_ge0 => //; exact: mulr_ge0.
exists pay, (C + kappa * (price 1 * - c)).
have bound j t v : v <= `|t| + 1 -> pay j v <= (C + kappa * (price 1 * - c)) * (1 + w t).
  move=> vt; have w1 := w0 t; rewrite mulrDl; apply: ler_add.
    apply: le_trans (most t); rewrite /far; case: ifP => [/andP[_ h]|_]; last first.
      by apply: price_pos; have := normr_ge0 t; lra.
    by apply: price_le => //; apply: le_trans h.
  apply: (@le_trans _ _ (kappa * (price 1 * - c))); last by rewrite ler_pemulr// ler_addl.
  by apply: ler_wpmul2l => //; apply: ler_pmul; rewrite ?giver_ge0 ?taker_ge0 ?giver_le ?taker_le.
have length (j : 'I_m) : j.+1%:R * s <= 1.
  by apply: (@le_trans _ _ (m%:R * s)); [rewrite ler_pmul2r// ler_nat; exact: ltn_ord | rewrite ms].
have [end_ endE] : exists j : 'I_m, j.+1 = m by exists (cast_ord (prednK m0) ord_max); rewrite /= prednK.
split; first by apply: addr_ge0.
split=> [j|j t|j t|j t|].
- exact: measurable_pay.
- exact: addr_ge0.
- by apply: bound; have := ler_norm t; lra.
- by apply: bound; have := ler_norm t; have := length j; lra.
apply: even_enough => // t t0.
have none j : pay j (- t) = 0.
  rewrite /pay /far /near /giver in_itv/=; case: (leP 1 (- t)) => h; first by lra.
  by case: (leP g (- t)) => h'; [lra | rewrite andbF /= mul0r mulr0 addr0].
have more : q * (\sum_j pay j (t + j.+1%:R * s)) <= q * (\sum_j (pay j (t + j.+1%:R * s) + pay j (- t + j.+1%:R * s))).
  apply: ler_wpmul2l; first exact: ltW.
  by apply: ler_sum => j _; rewrite ler_addl addr_ge0.
under eq_bigr do rewrite none addr0.
have comes : price (t + 1) + kappa * (taker t * \sum_(j < m) giver (t + j.+1%:R * s)) <= \sum_j pay j (t + j.+1%:R * s).
  rewrite big_split/=; apply: ler_add.
    have h1 : 1 <= t + 1 by lra.
    rewrite (bigD1 end_)//= {1}/far endE eqxx ms h1/=.
    by rewrite ler_addl sumr_ge0.
  rewrite mulrA mulr_sumr; apply: ler_sum => j _; rewrite /near addrK; lra.
have l0 : 0 <= loses by rewrite divr_ge0 ?(ltW area_gap)// mulr_ge0// subr_ge0 (le_trans (ltW c0))// mulr_ge0// ltW.
have ls : 0 <= loses * s by rewrite mulr_ge0// ltW.
have dn := down t0.
have goes : \sum_(j < m) pay j t = (\sum_(j < m) far j t) + kappa * (giver t * \sum_(j < m) taker (t - j.+1%:R * s)).
  by rewrite big_split/=; congr (_ + _); rewrite mulrA mulr_sumr; apply: eq_bigr => j _; rewrite /near mulrA.
have [t1|t1] := leP 1 t.
  have fE : \sum_(j < m) far j t = price t.
    rewrite (bigD1 end_)//= {1}/far endE eqxx t1/= big1 ?addr0// => j jn.
    rewrite /far; case: eqP => // jm; case/eqP: jn; apply: val_inj; apply: succn_inj; by rewrite jm endE.
  have gE : giver t = 0 by rewrite /giver in_itv/= (ltNge t) t1 andbF.
  have h : 0 <= kappa * (taker t * \sum_(j < m) giver (t + j.+1%:R * s)).
    by rewrite mulr_ge0// mulr_ge0 ?taker_ge0// sumr_ge0// => j _; exact: giver_ge0.
  have := ler_wpmul2l (ltW q0) comes; rewrite goes fE gE mul0r mulr0 addr0 mulrDr.
  have := mulr_ge0 (ltW q0) h; lra.
have fE : \sum_(j < m) far j t = 0 by apply: big1 => j _; rewrite /far leNgt t1 andbF.
have [tg|tg] := leP g t.
  have gE : giver t = price t by rewrite /giver in_itv/= tg t1.
  have tk := taken (ltW t1); rewrite -mulr_sumr in tk.
  have le : kappa * (giver t * \sum_(j < m) taker (t - j.+1%:R * s)) <= price t.
    rewrite gE mulrCA ler_pimulr ?price_pos// /kappa mulrAC ler_pdivr_mulr// mul1r; exact: tk.
  have h : 0 <= kappa * (taker t * \sum_(j < m) giver (t + j.+1%:R * s)).
    by rewrite mulr_ge0// mulr_ge0 ?taker_ge0// sumr_ge0// => j _; exact: giver_ge0.
  have := ler_wpmul2l (ltW q0) comes; rewrite goes fE add0r mulrDr; have := mulr_ge0 (ltW q0) h; lra.
have gE : giver t = 0 by rewrite /giver in_itv/= leNgt tg.
have tE : taker t = - price t by rewrite /taker in_itv/= t0 tg.
have gv := given t0 (ltW tg); rewrite -mulr_sumr in gv; set G := \sum_(j < m) giver _ in comes gv.
have pn := price_neg t0 (ltW tg); have pc := price_low t0.
(* What comes is nearly what is needed. *)
have share : 1 - loses / - c * s <= q * (kappa * G).
  have i0 := area_gap; have e1 : area 1 - price 1 * s <= area (1 - s).
    have h0 : 0 <= 1 - s by lra.
    have h1 : 1 - s <= 1 by lra.
    have := area_above h0 h1; lra.
  have -> : q * (kappa * G) = q * (s * G) / whole by rewrite /kappa; lra.
  rewrite ler_pdivl_mulr//.
  have -> : loses / - c = (q * price 1 - c) / - area g by rewrite /loses -!mulrA mulrC -!mulrA mulVf ?mulr1// oppr_eq0 lt_eqF.
  have := ler_wpmul2l (ltW q0) gv; have := ler_wpmul2l (ltW q0) e1 => k1 k2.
  have k3 : - area g - s * (q * price 1) <= q * (s * G) by lra.
  apply: le_trans k3; set k := (q * price 1 - c) / - area g.
  have kE : k * - area g = q * price 1 - c by rewrite divfK// gt_eqF.
  have k0 : 0 <= k by rewrite divr_ge0 ?(ltW i0)// subr_ge0 (le_trans (ltW c0))// mulr_ge0// ltW.
  have := mulr_ge0 (mulr_ge0 k0 (ltW s0)) (mulr_ge0 nc (ltW s0)).
  have : k * - area g * s = (q * price 1 - c) * s by rewrite kE.
  rewrite /whole; lra.
have lE : loses / - c * - c = loses by rewrite divfK// oppr_eq0 lt_eqF.
have np : 0 <= - price t by rewrite oppr_ge0.
have h1 := ler_wpmul2l np share.
have lc : 0 <= loses / - c * s by apply: mulr_ge0; [exact: divr_ge0 | exact: ltW].
have pc' : - price t <= - c by rewrite ler_opp2.
have h2 := ler_wpmul2r lc pc'.
have := ler_wpmul2l (ltW q0) comes; rewrite goes fE gE mul0r mulr0 add0r tE mulrDr.
have : loses / - c * s * - c = loses * s by rewrite mulrAC lE.
lra.
Qed.
End Reals.
