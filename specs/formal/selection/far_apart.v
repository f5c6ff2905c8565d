(* Lower bounds by answers that are far apart (docs/theory/selection.md, worst words): of S pairs of neighbours one loses at least the mean, where the
   probability at the start falls at most, and at the end at least, exponentially in S. And noises that are shifted lose at most what their slopes say. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave.

Section Chains.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> nat -> X) (O : set Y) (T : nat).
Hypotheses (mO : measurable O) (T0 : (0 < T)%N) (chain : forall k s, (s < k * T)%N -> N (x k s) (x k s.+1)).

Let p k s := fine (M (x k s) O).
Let pE k s : M (x k s) O = (p k s)%:E. Proof. by rewrite /p fineK// mass_fin// law_total. Qed.

Lemma chains_close eps k s : dp_in_order N M eps 0 -> (s <= k * T)%N -> p k 0 <= expR (eps * s%:R) * p k s.
Proof.
move=> dpM; elim: s => [|s IH] sk; first by rewrite mulr0 expR0 mul1r.
apply: (le_trans (IH (ltnW sk))); rewrite -natr1 mulrDr mulr1 expRD -mulrA ler_wpmul2l ?expR_ge0//.
by have := dpM _ _ (chain sk) O mO; rewrite !pE adde0 -EFinM lee_fin.
Qed.

Theorem far_lower (c first last : R) : 0 < c -> 0 <= first -> (forall k, c <= expR (first * (k * T)%:R) * p k 0) ->
  (forall t, 0 <= t -> t < 1 -> exists C, forall k, p k (k * T) <= C * expR (- (t * last * (k * T)%:R))) ->
  ((last - first)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> c0 first0 rises falls; apply: lb_ereal_inf => _ [eps [e0 dpM] <-]; rewrite lee_fin leNgt; apply/negP => eL.
pose e' := eps + first; have e0' : 0 <= e' by rewrite /e'; lra.
have L0 : 0 < last by rewrite /e' in e0'; lra.
pose t := (e' / last + 1) / 2; have tE : e' / last * last = e' by rewrite divfK// gt_eqF.
have tL : t * last = (e' + last) / 2 by rewrite /t; lra.
have q0 : 0 <= e' / last by rewrite divr_ge0// ltW.
have q1 : e' / last < 1 by rewrite ltr_pdivr_mulr// mul1r /e'; lra.
have [||C below_] := falls t; [by rewrite /t; lra | by rewrite /t; lra |].
pose gap := (last - e') / 2; have g0 : 0 < gap by rewrite /gap /e'; lra.
have bound k : c * (1 + gap * (k * T)%:R) <= C.
  set S := (k * T)%:R; have S0 : 0 <= S by exact: ler0n.
  have h1 := chains_close dpM (leqnn (k * T)).
  have h2 := ler_wpmul2l (expR_ge0 (first * S)) (le_trans h1 (ler_wpmul2l (expR_ge0 (eps * S)) (below_ k))).
  have h3 : c <= C * expR (- (gap * S)).
    apply: (le_trans (rises k)); apply: (le_trans h2); rewrite mulrA -expRD mulrCA -expRD le_eqVlt; apply/orP; left; apply/eqP.
    by congr (_ * expR _); rewrite -/S tL /gap /e'; lra.
  have h4 := ler_wpmul2r (expR_ge0 (gap * S)) h3; rewrite -[leRHS]mulrA -expRD addNr expR0 mulr1 in h4.
  apply: le_trans h4; rewrite ler_wpmul2l ?(ltW c0)//; by apply: expR_ge1Dx; rewrite mulr_ge0 ?(ltW g0).
have [k kE] := beyond `|C| 0 (mulr_gt0 c0 g0); rewrite add0r in kE.
have kT : (k%:R : R) <= (k * T)%:R by rewrite ler_nat leq_pmulr.
have := bound k; have := ler_norm C; have := ler_wpmul2l (ltW (mulr_gt0 c0 g0)) kT; lra.
Qed.
End Chains.

(* What a shift of noise costs by its slopes; where the slope is infinite there may be none. *)
Definition slope_cost (R : realType) (left right : option R) (s c : R) :=
  [/\ 0 <= c, 0 < s -> exists2 b, right = Some b & c = b * s & s < 0 -> exists2 b, left = Some b & c = b * (- s)].

Section Slopes.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (left right : option R).
Hypothesis slopes : has_slopes lam mu left right.

Lemma slope_cost_loses s c k : slope_cost left right s c -> 0 <= k -> keeps lam (k * s) ->
  forall A, measurable A -> (mu [set z | A (z + k * s)%R] <= (expR (k * c))%:E * mu A)%E.
Proof.
move=> [c0 up down] k0 kd A mA; have [lo [hi [h [g [dens lc sl sr]]]]] := slopes.
have moved e : (forall z, g z <= expR e * g (z + k * s)) -> e <= k * c -> (mu [set z | A (z + k * s)%R] <= (expR (k * c))%:E * mu A)%E.
  move=> le ec; apply: (le_trans (density_moved kd dens mA (fun z _ => le z))); by apply: lee_wpmul2r; rewrite ?lee_fin ?ler_expR.
have [s0|s0|s0] := ltrgtP s 0.
- have [b lb cE] := down s0; rewrite lb in sl; apply: (moved (b * - (k * s))) => [z|]; last by rewrite cE; lra.
  by have := left_ratio z lc sl (_ : 0 <= - (k * s)); rewrite opprK; apply; rewrite oppr_ge0 mulr_ge0_le0// ltW.
- have [b rb cE] := up s0; rewrite rb in sr; apply: (moved (b * (k * s))) => [z|]; last by rewrite cE; lra.
  by apply: (right_ratio z lc sr); rewrite mulr_ge0// ltW.
- by apply: (moved 0) => [z|]; [rewrite s0 mulr0 addr0 expR0 mul1r | exact: mulr_ge0].
Qed.
End Slopes.
