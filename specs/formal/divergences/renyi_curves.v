(* Renyi divergences follow privacy curves (docs/theory/measures.md: a pair that dominates another has greater divergences of every order), and
   bound them (docs/theory/composition.md: privacy measures, (1)). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood powers means renyi.

(* -- From a divergence to (epsilon, delta) -- *)

Section Bound.
Context (R : realType).

(* The greatest of e^(s t) x^s - e^eps x. *)
Definition renyi_delta (a t eps : R) : R := expR ((a - 1) * (t - eps)) * pow a (1 - a^-1) / (a - 1).

Lemma renyi_delta_line (a t eps x : R) : 1 < a -> 0 <= x -> expR (share a * t) * pow (share a) x - expR eps * x <= renyi_delta a t eps.
Proof.
move=> a1 x0; have s0 := share_gt0 a1; have s1 := share_lt1 a1; have ap : 0 < a by exact: lt_trans a1.
have am : 0 < a - 1 by rewrite subr_gt0.
set s := share a in s0 s1 *; have sa : s * a = a - 1 by rewrite /s /share mulrBl mul1r mulVf ?gt_eqF.
pose l := a * (ln s + s * t - eps); pose c := expR l; have c0 : 0 < c by exact: expR_gt0.
have h := pow_concave s0 (ltW s1) c0 x0.
have {h}h := ler_wpmul2l (expR_ge0 (s * t)) h.
have pc : pow s c = expR (s * l) by exact: pow_expR.
have slope : expR (s * t) * pow s c * s / c = expR eps.
  transitivity (expR (s * t) * expR (s * l) * expR (ln s) / expR l); first by rewrite pc lnK.
  rewrite -!expRD -expRB; congr expR; rewrite /l.
  have -> : s * (a * (ln s + s * t - eps)) = (a - 1) * (ln s + s * t - eps) by rewrite mulrA sa.
  by rewrite mulrBl mul1r; lra.
have top : expR (s * t) * pow s c * (1 - s) = renyi_delta a t eps.
  have e1 : 1 - s = a^-1 by rewrite /s /share; lra.
  have sE : 1 - a^-1 = s by [].
  rewrite /renyi_delta sE e1 (pow_pos a s0) pc /l -expRD.
  have -> : s * t + s * (a * (ln s + s * t - eps)) = (a - 1) * (t - eps) + (a - 1) * ln s.
    have -> : s * (a * (ln s + s * t - eps)) = (a - 1) * ln s + (a - 1) * (s * t) - (a - 1) * eps by rewrite mulrA sa mulrBr mulrDr.
    by have -> : (a - 1) * (s * t) = (a - 1) * t - s * t; [rewrite mulrA [_ * s]mulrC mulrBr mulr1 sa mulrBl; lra | rewrite mulrBr; lra].
  have -> : a * ln s = (a - 1) * ln s + ln s by rewrite mulrBl mul1r subrK.
  rewrite !expRD lnK ?posrE// -!mulrA; congr (_ * (_ * _)).
  by rewrite -sa invfM mulrA divff ?mul1r// gt_eqF.
have lineE : expR (s * t) * (pow s c * (1 + s * (x / c - 1))) = expR (s * t) * pow s c * s / c * x + expR (s * t) * pow s c * (1 - s).
  by rewrite mulrBr mulr1; lra.
by move: h; rewrite lineE slope top; lra.
Qed.

Context d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}).

Theorem renyi_profile a t eps P Q : 1 < a -> P setT = 1%E -> Q setT = 1%E -> renyi a t P Q -> profile (expR eps) P Q <= renyi_delta a t eps.
Proof.
move=> a1 P1 Q1 h; apply: profile_le => S mS; have /andP[q0 _] := fine01 Q1 mS.
apply: le_trans (renyi_delta_line t eps a1 q0); rewrite ler_add2r; exact: renyi_event.
Qed.
End Bound.

(* -- Divergences follow the order of curves -- *)

Section Nested.
Context (R : realType).

Definition counted (n : nat) (b : nat -> bool) : nat := (\sum_(k < n) b k)%N.

Lemma nested_telescope (F : nat -> R) n (b : nat -> bool) : (forall k, b k.+1 -> b k) ->
  \sum_(k < n) (F k.+1 - F k) * (b k : nat)%:R = F (counted n b) - F 0%N.
Proof.
move=> nest; elim: n => [|n IH]; first by rewrite /counted !big_ord0 subrr.
rewrite big_ord_recr/= IH /counted big_ord_recr/= -/(counted n b); case bn : (b n); last by rewrite mulr0 addr0 addn0.
have all_before k j : (j <= k)%N -> b k -> b j.
  by elim: k => [|k IHk]; [rewrite leqn0 => /eqP -> | rewrite leq_eqVlt => /predU1P[-> //|jk /nest]; exact: IHk].
have -> : counted n b = n.
  rewrite /counted (eq_bigr (fun=> 1%N)); first by rewrite sum1_card card_ord.
  by move=> k _; rewrite (all_before n k)// ltnW.
by rewrite mulr1 addn1 addrC addrA subrK.
Qed.
End Nested.

Section Domination.
Context (R : realType) d (T : measurableType d) d' (Z : measurableType d').
Variables (P Q : {measure set T -> \bar R}) (P0 Q0 : {measure set Z -> \bar R}) (p q : Z -> R).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (P01 : P0 setT = 1%E) (Q01 : Q0 setT = 1%E) (L : likelihood P0 Q0 p q).
Hypothesis dom : dominated P Q P0 Q0.

Section Step.
Variables (a t : R) (n : nat).
Hypotheses (a1 : 1 < a) (n0 : (0 < n)%N) (h0 : renyi a t P0 Q0).
Let s := share a.
Let rise (k : nat) : R := pow s (k.+1%:R / n%:R) - pow s (k%:R / n%:R).
Let s0 : 0 < s. Proof. exact: share_gt0. Qed.
Let s1 : s < 1. Proof. exact: share_lt1. Qed.
Let nR : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
Let K0 : 0 < expR (s * t). Proof. exact: expR_gt0. Qed.

Lemma rise_ge0 k : 0 <= rise k.
Proof. by rewrite subr_ge0; apply: pow_le; rewrite ?(ltW s0) ?divr_ge0 ?ler0n// ler_pmul2r ?invr_gt0// ler_nat. Qed.

Lemma rise_falls k : rise k.+1 <= rise k.
Proof.
pose c : R := k.+1%:R / n%:R; have c0 : 0 < c by rewrite divr_gt0// ltr0n.
have C0 := pow_gt0 s c0; have i0 : 0 < n%:R^-1 :> R by rewrite invr_gt0.
have e1 : k.+2%:R / n%:R = c + n%:R^-1 by rewrite /c -[k.+2%:R]natr1 mulrDl mul1r.
have e2 : k%:R / n%:R = c - n%:R^-1 by rewrite /c -[k.+1%:R]natr1 mulrDl mul1r addrK.
have x0 : 0 <= k%:R / n%:R :> R by rewrite divr_ge0 ?ler0n.
have := pow_concave s0 (ltW s1) c0 x0; have := pow_concave s0 (ltW s1) c0 (_ : 0 <= k.+2%:R / n%:R); rewrite divr_ge0 ?ler0n// => /(_ isT).
have d1 : (c + n%:R^-1) / c = 1 + n%:R^-1 / c by rewrite mulrDl divff ?gt_eqF.
have d2 : (c - n%:R^-1) / c = 1 - n%:R^-1 / c by rewrite mulrBl divff ?gt_eqF.
rewrite /rise -/c !e1 e2 d1 d2; move: (n%:R^-1 / c) => w; move: (pow s c) => C.
have -> : C * (1 + s * (1 + w - 1)) = C + C * s * w by lra.
by have -> : C * (1 + s * (1 - w - 1)) = C - C * s * w; lra.
Qed.

Lemma dominated_stair g : test g -> mean P (fun y => pow s (stair n g y)) <= expR (s * t) * pow s (mean Q (stair n g)).
Proof.
move=> tg; have [mg _] := tg; have ts := test_stair n0 tg; have tp := test_pow s0 ts.
have mA k : measurable (level n g k) by exact: measurable_levels.
have [p0 q0 mp mq best] := L.
apply: below_tangents => //; [exact: mean_ge0 | exact: ltW | exact: mean_ge0 |] => c c0.
pose beta := expR (s * t) * pow s c * s / c; have C0 := pow_gt0 s c0.
have b0 : 0 <= beta by rewrite /beta divr_ge0 ?mulr_ge0// ltW.
have bn : 0 <= beta / n%:R by rewrite divr_ge0// ltW.
pose B k := above p q (rise k) (beta / n%:R); have mB k : measurable (B k) by exact: measurable_above.
pose b y k := y \in B k.
have nest y k : b y k.+1 -> b y k.
  rewrite /b !inE /B /above/= => lt; apply: (lt_le_trans lt); apply: ler_wpmul2r => //; exact: rise_falls.
pose hh y : R := (counted n (b y))%:R / n%:R.
have hE y : hh y = \sum_(k < n) n%:R^-1 * \1_(B k) y.
  rewrite /hh /counted natr_sum mulr_suml; apply: eq_bigr => k _; by rewrite indicE mulrC.
have pE y : pow s (hh y) = \sum_(k < n) rise k * \1_(B k) y.
  rewrite /rise; under eq_bigr do rewrite indicE.
  by rewrite (nested_telescope (fun k => pow s (k%:R / n%:R)) n (nest y)) mul0r pow0 subr0.
have th : test hh.
  split=> [|y]; last first.
    rewrite /hh divr_ge0 ?ler0n//= ler_pdivr_mulr// mul1r ler_nat /counted.
    by rewrite -[leqRHS]card_ord -sum1_card; apply: leq_sum => k _; case: (b y k).
  rewrite (_ : hh = (fun y => \sum_(k <- index_enum [finType of 'I_n]) n%:R^-1 * \1_(B k) y)); last by apply/funext => y; exact: hE.
  apply/EFin_measurable_fun; rewrite (_ : EFin \o _ = (fun y => \sum_(k <- index_enum [finType of 'I_n]) (n%:R^-1 * \1_(B k) y)%:E)%E); last first.
    by apply/funext => y; rewrite /= sumEFin.
  by apply: emeasurable_fun_sum => k; apply/EFin_measurable_fun; apply: measurable_funrM; exact: measurable_fun_indic.
have XE : mean P (fun y => pow s (stair n g y)) = \sum_(k < n) rise k * fine (P (level n g k)).
  rewrite /mean; under eq_integral do rewrite pow_stair_layers//.
  by rewrite (@integral_layers _ _ _ P n (level n g) rise)//; exact: rise_ge0.
have X0E : mean P0 (fun y => pow s (hh y)) = \sum_(k < n) rise k * fine (P0 (B k)).
  rewrite /mean; under eq_integral do rewrite pE.
  by rewrite (@integral_layers _ _ _ P0 n B rise)//; exact: rise_ge0.
have M0E : mean Q0 hh = \sum_(k < n) n%:R^-1 * fine (Q0 (B k)).
  rewrite /mean; under eq_integral do rewrite hE.
  by rewrite (@integral_layers _ _ _ Q0 n B (fun=> n%:R^-1))// => k; rewrite invr_ge0 ltW.
have sums : mean P (fun y => pow s (stair n g y)) - beta * mean Q (stair n g) <= mean P0 (fun y => pow s (hh y)) - beta * mean Q0 hh.
  rewrite XE X0E M0E (mean_stair Q1 n0 tg) !mulr_sumr -!sumrB; apply: ler_sum => k _.
  have := dominated_event P1 Q1 L dom (rise_ge0 k) bn (mA k); rewrite -/(B k).
  by rewrite !mulrA.
have := h0 th; rewrite -/s => h1.
have h2 := ler_wpmul2l (ltW K0) (pow_concave s0 (ltW s1) c0 (mean_ge0 Q0 th)).
have e m : expR (s * t) * (pow s c * (1 + s * (m / c - 1))) = beta * m + expR (s * t) * pow s c * (1 - s) by rewrite /beta mulrBr mulr1; lra.
move: h2; rewrite !e => h2; rewrite -ler_subl_addl; apply: (le_trans sums).
by rewrite ler_subl_addl; exact: (le_trans h1 h2).
Qed.
End Step.

Theorem renyi_dominated a t : 1 < a -> renyi a t P0 Q0 -> renyi a t P Q.
Proof.
move=> a1 h0 g tg; have s0 := share_gt0 a1; have s1 := share_lt1 a1; have tp := test_pow s0 tg.
have near n : (0 < n)%N -> mean P (fun y => pow (share a) (g y)) <= expR (share a * t) * pow (share a) (mean Q g) + pow (share a) n%:R^-1.
  move=> n0; have ts := test_stair n0 tg; have tps := test_pow s0 ts; have nR : 0 < n%:R :> R by rewrite ltr0n.
  have le := dominated_stair a1 n0 h0 tg.
  have le2 : pow (share a) (mean Q (stair n g)) <= pow (share a) (mean Q g).
    by apply: pow_le; [exact: ltW | exact: mean_ge0 | apply: mean_le => // y; exact: stair_le].
  have le3 : mean P (fun y => pow (share a) (g y)) <= mean P (fun y => pow (share a) (stair n g y)) + pow (share a) n%:R^-1.
    apply: mean_within => // [|y]; first exact: pow_ge0.
    have y0 := test_ge0 y ts; apply: le_trans (pow_subadditive s0 (ltW s1) y0 (_ : 0 <= n%:R^-1)); last by rewrite invr_ge0 ltW.
    by apply: pow_le; [exact: ltW | exact: test_ge0 | exact: stair_ge].
  apply: (le_trans le3); rewrite ler_add2r; apply: (le_trans le).
  by apply: ler_wpmul2l => //; exact: expR_ge0.
rewrite leNgt; apply/negP; rewrite -subr_gt0; set e := _ - _ => e0.
pose u := pow (share a)^-1 e; have u0 : 0 < u by exact: pow_gt0.
pose n := `|ceil u^-1|%N.+1; have nu : n%:R^-1 < u.
  rewrite -[ltRHS]invrK ltf_pinv ?posrE ?invr_gt0 ?ltr0n// /n -natr1 natr_absz ger0_norm; last by rewrite ceil_ge0// invr_ge0 ltW.
  by rewrite ltr_spaddr// ceil_ge.
have := pow_lt s0 (_ : 0 <= n%:R^-1) nu; rewrite invr_ge0 ler0n => /(_ isT).
rewrite /u pow_pow ?(ltW e0)// divff ?gt_eqF// pow_one ?(ltW e0)//.
by rewrite /e ltNge ler_subl_addl; have -> := near n isT.
Qed.

Corollary zcdp_dominated rho : zcdp rho P0 Q0 -> zcdp rho P Q.
Proof. by move=> h a a1; apply: renyi_dominated => //; exact: h. Qed.
End Domination.
