(* Packings by points of a lattice (docs/theory/spaces.md, grid packing): a step at which they are 2 gamma apart, and the limit where the step is a little
   longer, so that no answer is near two of them. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions arithmetic kernels finite powers spaces.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Section Numbers.
Context (R : realType).

Lemma powM (r x y : R) : 0 <= x -> 0 <= y -> pow r (x * y) = pow r x * pow r y.
Proof.
rewrite /pow !le_eqVlt => /predU1P[<-|x0]; first by rewrite mul0r eqxx mul0r.
move=> /predU1P[<-|y0]; first by rewrite mulr0 eqxx mulr0.
by rewrite !gt_eqF ?mulr_gt0// lnM ?posrE// mulrDr expRD.
Qed.

Lemma pow_lt (r x y : R) : 1 <= r -> 0 <= x -> x < y -> pow r x < pow r y.
Proof.
move=> r1 x0 xy; have y0 : 0 < y by exact: le_lt_trans xy.
rewrite /pow [y == 0]gt_eqF//; have [_|xn] := eqVneq x 0; first exact: expR_gt0.
have {xn} {}x0 : 0 < x by rewrite lt_neqAle eq_sym xn.
by rewrite ltr_expR ltr_pmul2l ?ltr_ln ?posrE//; lra.
Qed.

Lemma pow_le (r x y : R) : 1 <= r -> 0 <= x -> x <= y -> pow r x <= pow r y.
Proof. by move=> r1 x0; rewrite le_eqVlt => /predU1P[->//|xy]; rewrite ltW// pow_lt. Qed.

Lemma pow1 (r : R) : pow r 1 = 1.
Proof. by rewrite /pow oner_eq0 ln1 mulr0 expR0. Qed.

Lemma pow2 (r : R) : 1 <= r -> 2 <= pow r 2.
Proof.
move=> r1; rewrite /pow gt_eqF// -[leLHS](@lnK R) ?posrE// ler_expR -[leLHS]mul1r ler_wpmul2r//.
by rewrite ln_ge0//; lra.
Qed.

(* What holds at all steps that are a little longer holds at the step. *)
Lemma step_limit (I : finType) (c eps s s1 : R) (l : I -> R) : s < s1 ->
  (forall s', s < s' -> s' < s1 -> c * (\sum_i expR (- (eps * (s' * l i)))) <= 1) -> c * (\sum_i expR (- (eps * (s * l i)))) <= 1.
Proof.
move=> ss1 longer; rewrite leNgt; apply/negP => gt.
set A := c * _ in gt; pose L := \sum_i `|eps * l i|.
have L0 : 0 <= L by apply: sumr_ge0.
have c0 : 0 <= c.
  rewrite leNgt; apply/negP => c0; have : A <= 0; last by lra.
  by apply: mulr_le0_ge0; [exact: ltW | apply: sumr_ge0 => i _; exact/ltW/expR_gt0].
have lA : 0 < ln A by rewrite ln_gt0.
pose t := Num.min ((s1 - s) / 2) (ln A / (2 * (L + 1))).
have L1 : 0 < 2 * (L + 1) by lra.
have t0 : 0 < t by rewrite lt_minr !divr_gt0// subr_gt0.
have t1 : t <= (s1 - s) / 2 by rewrite le_minl lexx.
have t2 : t * (2 * (L + 1)) <= ln A by rewrite -ler_pdivl_mulr// le_minl lexx orbT.
have h : c * (\sum_i expR (- (eps * ((s + t) * l i)))) <= 1 by apply: longer; lra.
have each i : expR (- (eps * (s * l i))) <= expR (t * L) * expR (- (eps * ((s + t) * l i))).
  rewrite -expRD ler_expR.
  have b1 : eps * l i <= L.
    by apply: le_trans (ler_norm _) _; rewrite /L (bigD1 i)//= ler_addl sumr_ge0.
  have := ler_wpmul2l (ltW t0) b1; lra.
have : A <= expR (t * L).
  apply: (@le_trans _ _ (expR (t * L) * (c * (\sum_i expR (- (eps * ((s + t) * l i))))))); last by rewrite ler_pimulr// ltW// expR_gt0.
  by rewrite mulrCA /A; apply: ler_wpmul2l => //; rewrite mulr_sumr; apply: ler_sum => i _; exact: each.
apply/negP; rewrite -ltNge -[ltRHS]lnK ?posrE ?(lt_trans ltr01)// ltr_expR; lra.
Qed.
End Numbers.

Section Lattice.
Context (R : realType) (D : nat) (I : finType) (z : I -> 'I_D -> int) (p : option R) (gamma s : R).
Hypotheses (distinct : forall i j, i != j -> exists k, z i k != z j k) (gamma0 : 0 <= gamma) (s0 : 0 <= s).

(* All points with whole entries, at the step 2 gamma; or those whose entries have an even sum, at 2 gamma/2^(1/p). *)
Variant lattice : Prop :=
| WholePoints of s = 2 * gamma
| EvenSums r of p = Some r & pow r (2 * gamma) = 2 * pow r s & (forall i, (2 %| \sum_k z i k)%Z).

Let w i j k : R := (z i k - z j k)%:~R.

Lemma whole_apart (m : int) : m != 0 -> 1 <= `|m%:~R : R|.
Proof. by move=> m0; rewrite -intr_norm -[1]/(1%:~R) ler_int; move: m0; rewrite -normr_gt0 -gtz0_ge1. Qed.

Lemma whole_sum (r : R) i j k : 1 <= r -> z i k != z j k -> 1 <= \sum_k pow r `|w i j k|.
Proof.
move=> r1 ne; rewrite (bigD1 k)//= -[leLHS]addr0; apply: ler_add; last by apply: sumr_ge0 => l _; exact: pow_ge0.
by rewrite -(pow1 r); apply: pow_le => //; apply: whole_apart; rewrite subr_eq0.
Qed.

Lemma even_sum (r : R) i j : 1 <= r -> i != j -> (forall i, (2 %| \sum_k z i k)%Z) -> 2 <= \sum_k pow r `|w i j k|.
Proof.
move=> r1 ij even; have [k ne] := distinct ij.
have ge0 (P : pred 'I_D) : 0 <= \sum_(l | P l) pow r `|w i j l| by apply: sumr_ge0 => l _; exact: pow_ge0.
have one l : z i l != z j l -> 1 <= pow r `|w i j l|.
  by move=> nl; rewrite -(pow1 r); apply: pow_le => //; apply: whole_apart; rewrite subr_eq0.
have [[l lk nl]|none] := pselect (exists2 l, l != k & z i l != z j l).
  rewrite (bigD1 k)//= (bigD1 l)//=; have := one _ ne; have := one _ nl.
  have := ge0 [pred m | (m != k) && (m != l)]; rewrite /=; lra.
have same l : l != k -> z i l = z j l.
  by move=> lk; apply/eqP; apply: contrapT => /negP nl; apply: none; exists l.
have dv : (2 %| z i k - z j k)%Z.
  have := rpredB (even i) (even j); rewrite (bigD1 k)//= [X in _ - X](bigD1 k)//= (eq_bigr (z j)); last by move=> l; exact: same.
  by rewrite opprD addrACA subrr addr0.
have two : 2 <= `|w i j k|.
  have /dvdzP[m mE] := dv; have t : (2 : int)%:~R = 2 :> R by [].
  rewrite /w mE intrM t normrM [X in _ * X]ger0_norm//.
  have m0 : m != 0 by apply: contraNneq ne => m0; move: mE; rewrite m0 mul0r => /eqP; rewrite subr_eq0.
  have := whole_apart m0; lra.
rewrite (bigD1 k)//=; have := ge0 (predC1 k); have := pow_le r1 (ler0n R 2) two; have := pow2 r1; rewrite /=; lra.
Qed.

(* At a longer step two points are more than 2 gamma apart. *)
Lemma lattice_apart s' i j : lattice -> s < s' -> i != j -> ~ budget p (fun k => s' * w i j k) (2 * gamma).
Proof.
move=> L ss ij; have s1 : 0 < s' by exact: le_lt_trans ss.
have scaled r : \sum_k pow r `|s' * w i j k| = pow r s' * \sum_k pow r `|w i j k|.
  by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite normrM gtr0_norm// powM// ltW.
case: L => [sE|r pr two even].
- have [k ne] := distinct ij; case: (p) => [r|] /=.
  + move=> [r1]; rewrite scaled => le; have h := whole_sum r1 ne.
    have := ler_wpmul2l (pow_ge0 r s') h; have := pow_lt r1 s0 ss; rewrite sE mulr1 in le *; lra.
  + move=> /(_ k); rewrite normrM gtr0_norm//; have := whole_apart (_ : z i k - z j k != 0); rewrite subr_eq0 => /(_ ne) h.
    have := ler_wpmul2l (ltW s1) h; rewrite mulr1 /w; lra.
- rewrite pr /= => -[r1]; rewrite scaled two => le; have h := even_sum r1 ij even.
  have := ler_wpmul2l (pow_ge0 r s') h; have := pow_lt r1 s0 ss; lra.
Qed.
End Lattice.

Section Packing.
Context (R : realType) (X : Type) d (Z : measurableType d) (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R).
Hypotheses (is_metric : metric between) (measurable_far : forall gamma x, measurable (far q between gamma x)).
Context (M : mechanism R X Z) (gamma beta : R) (near : near_but q between M gamma beta).
(* At every step s' that is a little longer than s there are databases of the points s' z, moved by one vector; their distances are those of their
   answers over C. *)
Context (D : nat) (I : finType) (z : I -> 'I_D -> int) (p : option R) (s s1 C : R) (xs : R -> I -> X) (o : I) (length : I -> R).
Hypotheses (distinct : forall i j, i != j -> exists k, z i k != z j k) (gamma0 : 0 <= gamma) (s0 : 0 <= s) (room : s < s1).
Hypothesis in_norm : forall s' i j, s < s' -> s' < s1 -> between (q (xs s' i)) (q (xs s' j)) <= 2 * gamma ->
  budget p (fun k => s' * (z i k - z j k)%:~R) (2 * gamma).
Hypothesis databases : forall s' i, s < s' -> s' < s1 -> dist (xs s' i) (xs s' o) = s' * length i / C.

(* Rule: grid-packing, lower. *)
Theorem grid_packing eps : lattice z p gamma s -> private_by_distance dist M eps ->
  (1 - beta) * (\sum_i expR (- (eps * (s * (length i / C))))) <= 1.
Proof.
move=> L priv; apply: (step_limit room) => s' ss ss1.
have [first _] := weighted_packing measurable_far near priv.
have -> : \sum_i expR (- (eps * (s' * (length i / C)))) = \sum_i expR (- (eps * dist (xs s' i) (xs s' o))).
  by apply: eq_bigr => i _; rewrite databases// -[s' * length i / C]mulrA.
apply: (first I (xs s') 1%N (xs s' o)) => y; rewrite leqNgt; apply/negP => /card_gt1P[i [j [ni nj ij]]].
have [_ sym triangle] := is_metric.
apply: (lattice_apart (z := z) (p := p) (gamma := gamma) (s := s) distinct gamma0 s0 L ss ij); apply: (in_norm ss ss1).
move: ni nj; rewrite !inE => ni nj; apply: (le_trans (triangle _ y _)); rewrite (sym y); lra.
Qed.
End Packing.
