(* Lower bounds in the limit (docs/theory/selection.md: worst run, and the lower bounds of log-concave noisy max and threshold), in the one order of
   neighbours that is claimed; both orders are one relation as well. Along inputs of which each is a neighbour of the next the losses of one output add
   up; where its probability falls like e^(-L s) one of them is L at least, less any small number. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments.

(* A sum of measurable functions is one. *)
Lemma measurable_total (R : realType) d (T : measurableType d) n (F : nat -> T -> R) : (forall j, measurable_fun setT (F j)) ->
  measurable_fun setT (fun w => \sum_(j < n) F j w).
Proof.
move=> mF; elim: n => [|n IH].
  by rewrite (_ : (fun _ => _) = cst 0); [exact: measurable_fun_cst | apply/funext => w; rewrite big_ord0].
rewrite (_ : (fun _ => _) = (fun w => \sum_(j < n) F j w) \+ F n); first exact: measurable_funD.
by apply/funext => w; rewrite big_ord_recr.
Qed.

Section Chain.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> X) (O : set Y).
Hypotheses (mO : measurable O) (start : (0 < M (x 0%N) O)%E) (chain : forall s, N (x s) (x s.+1)).

Let p s := fine (M (x s) O).
Let pE s : M (x s) O = (p s)%:E. Proof. by rewrite /p fineK// mass_fin// law_total. Qed.

Lemma chain_close eps S : dp_in_order N M eps 0 -> p 0 <= expR (eps * S%:R) * p S.
Proof.
move=> dpM; elim: S => [|S IH]; first by rewrite mulr0 expR0 mul1r.
apply: (le_trans IH); rewrite -natr1 mulrDr mulr1 expRD -mulrA ler_wpmul2l ?expR_ge0//.
by have := dpM _ _ (chain S) O mO; rewrite !pE adde0 -EFinM lee_fin.
Qed.

Theorem chain_lower (L : R) :
  (forall t, 0 <= t -> t < 1 -> exists C, forall s, fine (M (x s) O) <= C * expR (- (t * L * s%:R))) -> (L%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> falls; apply: lb_ereal_inf => _ [eps [e0 dpM] <-]; rewrite lee_fin leNgt; apply/negP => eL.
have L0 : 0 < L by lra.
pose t := (eps / L + 1) / 2; have tE : eps / L * L = eps by rewrite divfK// gt_eqF.
have tL : t * L = (eps + L) / 2 by rewrite /t; lra.
have q0 : 0 <= eps / L by rewrite divr_ge0// ltW.
have q1 : eps / L < 1 by rewrite ltr_pdivr_mulr// mul1r.
have [||C below_] := falls t; [by rewrite /t; lra | by rewrite /t; lra |].
pose gap := (L - eps) / 2; have g0 : 0 < gap by rewrite /gap; lra.
have p0 : 0 < p 0 by have := start; rewrite pE lte_fin.
have bound s : p 0 * (1 + gap * s%:R) <= C.
  have h1 := chain_close s dpM; have h2 := ler_wpmul2l (expR_ge0 (eps * s%:R)) (below_ s).
  have h3 : p 0 <= C * expR (- (gap * s%:R)).
    apply: (le_trans h1); apply: (le_trans h2); rewrite [leLHS]mulrCA -[X in C * X <= _]expRD le_eqVlt; apply/orP; left; apply/eqP.
    by congr (_ * expR _); rewrite tL /gap; lra.
  have h4 := ler_wpmul2r (expR_ge0 (gap * s%:R)) h3; rewrite -[leRHS]mulrA -expRD addNr expR0 mulr1 in h4.
  apply: le_trans h4; rewrite ler_wpmul2l ?(ltW p0)//; by apply: expR_ge1Dx; rewrite mulr_ge0 ?ler0n ?(ltW g0).
have [s sE] := beyond `|C| 0 (mulr_gt0 p0 g0); rewrite add0r in sE.
have := bound s; have := ler_norm C; lra.
Qed.

Theorem chain_infinite :
  (forall L : R, 0 < L -> exists C, forall s, fine (M (x s) O) <= C * expR (- (L * s%:R))) -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
move=> falls; apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [eps [e0 dpM] <-].
suff : (tight_epsilon_in_order N M 0 <= eps%:E)%E -> False by case; exact/dp_in_order_tight.
apply/negP; rewrite -ltNge; apply: (@lt_le_trans _ _ (eps + 1)%:E); first by rewrite lte_fin; lra.
apply: chain_lower => t t0 t1; have [t00|t00] := eqVneq t 0.
  exists 1 => s; rewrite t00 !mul0r oppr0 expR0 mulr1 -lee_fin -pE mass_le1// law_total//.
by apply: falls; rewrite mulr_gt0//; [rewrite lt_neqAle eq_sym t00 | lra].
Qed.
End Chain.
