(* Noise scale sqrt(V) N of infinite rank shows V (docs/theory/additive.md: elliptical process unbounded): functionals of the output that are independent in
   pairs given V are within one deviation of the answer as often as V says, on both neighbours, whose answers have a finite distance. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood laplace_curve normal_line normal_tail average_events.
Import numFieldNormedType.Exports.

Section Process.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation Phi := (normal_cdf law).
Context (X : Type) d1 (W : measurableType d1) d2 (Y : measurableType d2) (k : X -> W -> {measure set Y -> \bar R}) (dev : W -> R).
Hypotheses (k1 : forall x w, k x w setT = 1%E) (dev0 : forall w, 0 < dev w).

(* A functional of the output that has variance 1 under N: given V it is normal, of the deviation dev = scale sqrt(V), about its value v at the
   answer. *)
Definition functional (x : X) (f : Y -> R) (v : R) := measurable_fun setT f /\ forall w t, k x w [set y | f y - v < t] = (Phi (t / dev w))%:E.

(* Two that are independent given V. *)
Definition unrelated (x : X) (f : Y -> R) (v : R) (g : Y -> R) (u : R) :=
  forall w s t, k x w ([set y | f y - v < s] `&` [set y | g y - u < t]) = (Phi (s / dev w) * Phi (t / dev w))%:E.

(* The covariance has infinite rank, and the difference of the answers a finite norm: of independent functionals, without end, the squares of the
   differences that they see have sums of at most the square of the norm. *)
Definition endless_functionals (x x' : X) := exists (f : nat -> Y -> R) (v v' : nat -> R) (B : R),
  [/\ forall i, functional x (f i) (v i) /\ functional x' (f i) (v' i),
      forall i j, i != j -> unrelated x (f i) (v i) (f j) (v j) /\ unrelated x' (f i) (v' i) (f j) (v' j) &
      forall n : nat, \sum_(i < n) (v i - v' i) ^+ 2 <= B].

Lemma endless_sym x x' : endless_functionals x x' -> endless_functionals x' x.
Proof.
move=> [f [v [v' [B [F U S]]]]]; exists f, v', v, B; split=> [i|i j ij|n]; [by have [] := F i | by have [] := U i j ij |].
by apply: le_trans (S n); apply: ler_sum => i _; rewrite -sqrrN opprB.
Qed.

Lemma completed (t u z : R) : t * u = 1 -> t / 2 * (z - u) ^+ 2 = t / 2 * z ^+ 2 - z + u / 2.
Proof.
move=> e; have -> : t / 2 * (z - u) ^+ 2 = t / 2 * z ^+ 2 - (t * u) * z + (t * u) * u / 2 by lra.
by rewrite e !mul1r.
Qed.

(* The sum of the differences of the first n = a^4 is at most a multiple of the root of n. *)
Lemma sum_of_differences (h : nat -> R) (B : R) (a n : nat) : (0 < a)%N -> n = (a ^ 4)%N -> \sum_(i < n) h i ^+ 2 <= B ->
  \sum_(i < n) `|h i| <= (B + 1) / 2 * a%:R ^+ 2.
Proof.
move=> a0 nE le; have [t t0 tE] : exists2 t : R, 0 < t & t = a%:R ^+ 2.
  by exists (a%:R ^+ 2) => //; rewrite exprn_gt0// ltr0n.
have each (i : 'I_n) : `|h i| <= t / 2 * h i ^+ 2 + (2 * t)^-1.
  have h2 : h i ^+ 2 = `|h i| ^+ 2 by rewrite real_normK ?num_real.
  have sq : 0 <= t / 2 * (`|h i| - t^-1) ^+ 2 by rewrite mulr_ge0 ?sqr_ge0// divr_ge0// ltW.
  have e1 : t * t^-1 = 1 by rewrite mulfV// gt_eqF.
  have e2 : (2 * t)^-1 = t^-1 / 2 by rewrite invfM mulrC.
  by move: sq; rewrite completed// -h2 e2; move: (t^-1) => u; lra.
apply: le_trans (ler_sum _ (fun i _ => each i)) _; rewrite big_split/= -mulr_sumr sumr_const card_ord.
have -> : (2 * t)^-1 *+ n = t / 2.
  rewrite -[LHS]mulr_natl nE natrX; have -> : a%:R ^+ 4 = t * t :> R by rewrite tE -exprD.
  by rewrite invfM mulrACA mulfV ?mulr1// gt_eqF.
have := ler_wpmul2l (ltW t0) le; rewrite -tE; lra.
Qed.

Theorem shows_variance x x' (r : R) : endless_functionals x x' -> 0 < r -> exists2 G, measurable G &
  forall w, k x w G = (if (dev w <= r)%R then 1 else 0)%E /\ k x' w G = (if (dev w <= r)%R then 1 else 0)%E.
Proof.
move=> [f [v [v' [B [F U S]]]]] r0; pose A i := [set y | f i y - v' i < 1].
have mA i : measurable (A i).
  have [_ [mf _]] := F i; apply: measurable_where; first exact: measurable_fun_cst.
  by apply: measurable_funB => //; exact: measurable_fun_cst.
have AE i : A i = [set y | f i y - v i < 1 - (v i - v' i)] by apply/seteqP; split=> y /=; rewrite /A/=; lra.
exists (at_last A (Phi r^-1)) => [|w]; first exact: measurable_at_last.
have dw := dev0 w; have levels : (Phi r^-1 <= Phi (dev w)^-1) = (dev w <= r).
  by rewrite (normal_cdf_le normal) lef_pinv ?posrE.
have decide (P : {measure set Y -> \bar R}) (p : nat -> R) (K : R) : P setT = 1%E -> (forall i, P (A i) = (p i)%:E) ->
    (forall i j, i != j -> P (A i `&` A j) = (p i * p j)%:E) ->
    (forall m : nat, `|\sum_(i < m.+2 ^ 4) p i - m.+2%:R ^+ 4 * Phi (dev w)^-1| <= K * m.+2%:R ^+ 2) ->
    P (at_last A (Phi r^-1)) = (if (dev w <= r)%R then 1 else 0)%E.
  move=> P1 PA pairs near; rewrite -levels; case: leP => lt.
  - exact: (at_last_sure mA P1 PA pairs near lt).
  - exact: (at_last_never mA P1 PA pairs near lt).
split.
- pose p i := Phi ((1 - (v i - v' i)) / dev w).
  apply: (decide (k x w) p (c / dev w * ((B + 1) / 2))) => [|i|i j ij|m]; first exact: k1.
  + by rewrite AE; have [[_ ->] _] := F i.
  + by rewrite !AE; have [-> _] := U i j ij.
  pose n := (m.+2 ^ 4)%N; have -> : m.+2%:R ^+ 4 * Phi (dev w)^-1 = \sum_(i < n) Phi (dev w)^-1.
    by rewrite sumr_const card_ord -[RHS]mulr_natl natrX.
  rewrite -sumrB; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: (@le_trans _ _ (\sum_(i < n) c / dev w * `|v i - v' i|)).
    apply: ler_sum => i _; apply: le_trans (normal_cdf_slow normal _ _) _.
    have c0 : 0 < c by have [] := normal.
    rewrite -[leRHS]mulrA ler_pmul2l//; have -> : (1 - (v i - v' i)) / dev w - (dev w)^-1 = - ((v i - v' i) / dev w) by rewrite mulrBl mul1r; lra.
    by rewrite normrN normrM [`|(dev w)^-1|]ger0_norm ?invr_ge0 ?(ltW dw)// mulrC.
  rewrite -mulr_sumr -[leRHS]mulrA; apply: ler_wpmul2l; first by rewrite divr_ge0 ?(ltW dw)//; have [/ltW] := normal.
  by apply: (@sum_of_differences (fun i => v i - v' i) B m.+2 n) => //; exact: S.
- apply: (decide (k x' w) (fun=> Phi (dev w)^-1) 0) => [|i|i j ij|m]; first exact: k1.
  + by have [_ [_ ->]] := F i; rewrite mul1r.
  + by have [_ ->] := U i j ij; rewrite mul1r.
  + by rewrite sumr_const card_ord -[X in X - _]mulr_natl natrX subrr normr0 mul0r.
Qed.
End Process.
