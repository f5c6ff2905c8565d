(* Chords of a function that falls, from 0 on no faster the further out it is (docs/theory/selection.md, two candidates): it is convex there. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic.

Section Chords.
Context (R : realType) (T : R -> R).
Hypothesis T_falls : forall x y, x <= y -> T y <= T x.
Hypothesis slower : forall x y t, 0 <= x -> x <= y -> 0 <= t -> T y - T (y + t) <= T x - T (x + t).

(* k steps to the right of m cost at most k times the step before m, and k steps to the left of m no less. *)
Lemma steps_right m t k : 0 <= t -> t <= m -> T m - T (m + k%:R * t) <= k%:R * (T (m - t) - T m).
Proof.
move=> t0 tm; elim: k => [|k IH]; first by rewrite !mul0r addr0 subrr.
have kt : 0 <= k%:R * t by rewrite mulr_ge0.
have := @slower (m - t) (m + k%:R * t) t; rewrite subrK -!natr1 !mulrDl !mul1r [m + (_ + t)]addrA => h.
have {}h : T (m + k%:R * t) - T (m + k%:R * t + t) <= T (m - t) - T m by apply: h => //; lra.
by apply: le_trans (ler_add IH h); rewrite addrA subrK.
Qed.

Lemma steps_left m t k : 0 <= t -> k%:R * t <= m -> k%:R * (T (m - t) - T m) <= T (m - k%:R * t) - T m.
Proof.
move=> t0; elim: k => [|k IH] km; first by rewrite !mul0r subr0 subrr.
have km' : k%:R * t <= m by apply: le_trans km; rewrite ler_wpmul2r// ler_nat.
have kt : 0 <= k%:R * t by rewrite mulr_ge0.
move: km; rewrite -!natr1 !mulrDl !mul1r => km; have {}IH := IH km'.
have := @slower (m - (k%:R * t + t)) (m - t) t; rewrite subrK.
have -> : m - (k%:R * t + t) + t = m - k%:R * t by rewrite opprD addrA subrK.
move=> h; have {}h : T (m - t) - T m <= T (m - (k%:R * t + t)) - T (m - k%:R * t) by apply: h => //; lra.
by rewrite addrC; apply: le_trans (ler_add h IH) _; rewrite addrA subrK.
Qed.

Lemma below_by_halves (x y c : R) : 0 <= c -> (forall n : nat, x <= y + c / n.+1%:R) -> x <= y.
Proof.
move=> c0 le; rewrite leNgt; apply/negP => yx; have d0 : 0 < x - y by rewrite subr_gt0.
have [c00|c1] := eqVneq c 0; first by have := le 0%N; rewrite c00 mul0r addr0 leNgt yx.
have cp : 0 < c by rewrite lt_neqAle eq_sym c1.
have := le `|ceil (c / (x - y))|%N; set n := `|_|%N.
have nb : c / (x - y) <= n%:R by rewrite /n natr_absz ger0_norm ?ceil_ge ?ceil_ge0// divr_ge0 ?ltW.
have : c / n.+1%:R < x - y.
  rewrite ltr_pdivr_mulr ?ltr0n// mulrC -ltr_pdivr_mulr//; apply: le_lt_trans nb _; by rewrite ltr_nat.
by rewrite ltr_subr_addl => lt; rewrite leNgt lt.
Qed.

(* The chord to the left of a point is no less steep than the one to the right of it. *)
Theorem chords a m b : 0 <= a -> a <= m -> m <= b -> (m - a) * (T m - T b) <= (b - m) * (T a - T m).
Proof.
move=> a0; rewrite le_eqVlt => /predU1P[<- _|am mb]; first by rewrite !subrr mul0r mulr0.
have d0 : 0 <= T a - T m by rewrite subr_ge0; apply: T_falls; exact: ltW.
have ma : 0 < m - a by rewrite subr_gt0.
apply: (@below_by_halves _ _ ((m - a) * (T a - T m))); first by rewrite mulr_ge0// ltW.
move=> n; pose t := (m - a) / n.+1%:R; have t0 : 0 < t by rewrite divr_gt0.
have nt : n.+1%:R * t = m - a by rewrite /t mulrC divfK// gt_eqF.
have tm : t <= m.
  by have : t <= n.+1%:R * t; [rewrite ler_pmull// ler1n | rewrite nt; lra].
have q0 : 0 <= (b - m) / t by rewrite divr_ge0 ?subr_ge0// ltW.
pose k := `|floor ((b - m) / t)|%N.+1.
have kE : k%:R = (floor ((b - m) / t))%:~R + 1 :> R by rewrite /k -natr1 natr_absz ger0_norm ?floor_ge0.
have kb : (b - m) / t <= k%:R by rewrite kE ltW// lt_succ_floor.
have kb' : k%:R * t <= b - m + t.
  have h : k%:R <= (b - m) / t + 1 by rewrite kE ler_add2r floor_le.
  by have := ler_wpmul2r (ltW t0) h; rewrite mulrDl mul1r divfK ?gt_eqF.
have h1 : n.+1%:R * (T (m - t) - T m) <= T a - T m.
  have := @steps_left m t n.+1 (ltW t0); rewrite nt => h; apply: le_trans (h _) _; first by rewrite ler_subl_addr ler_addl.
  by rewrite subKr.
have h2 : T m - T b <= k%:R * (T (m - t) - T m).
  apply: le_trans (steps_right k (ltW t0) tm); rewrite ler_add2l ler_opp2; apply: T_falls.
  by rewrite -ler_subl_addl -ler_pdivr_mulr.
have h3 : (m - a) * (T m - T b) <= k%:R * t * (T a - T m).
  apply: le_trans (ler_wpmul2l (ltW ma) h2) _; rewrite -nt.
  by rewrite mulrACA [n.+1%:R * _]mulrC mulrACA; apply: ler_wpmul2l h1; rewrite mulr_ge0// ltW.
apply: le_trans h3 _; apply: le_trans (ler_wpmul2r d0 kb') _; by rewrite mulrDl ler_add2l /t mulrAC.
Qed.
End Chords.
