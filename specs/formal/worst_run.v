(* Streams from below (docs/theory/selection.md, worst run): what a run loses in the limit where answers move in the same way again and again, by
   weights of its comparisons that at no noise sum to more than its slope. *)
From HB Require Import structures.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure lebesgue_integral numfun exp esum.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments chain.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* At most a slope, of which None is infinite; and 0 at most where it is finite. *)
Definition within (R : realType) (g : R) (b : option R) := if b is Some s then g <= s else true.
Definition none_within (R : realType) (g : R) (b : option R) := if b is Some s then g <= 0 else true.
Definition positive_slope (R : realType) (b : option R) := if b is Some s then 0 < s else true.

Section Run.
Context (R : realType) (mu lam : nat -> {measure set R -> \bar R}) (left right : nat -> option R).
Hypotheses (mu1 : forall j, mu j setT = 1%E) (slopes : forall j, has_slopes (lam j) (mu j) (left j) (right j)).
Hypotheses (kept1 : forall j, keeps (lam j) 1) (kept1' : forall j, keeps (lam j) (- 1)).
Hypotheses (left0 : forall j, positive_slope (left j)) (right0 : forall j, positive_slope (right j)).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent mu1 n nu Z.

(* The rows of a run: comparisons that hold where they are at least 0, and numbers that are told. Each is a form in the noises, a number c that the
   answers give, and what they add with each move. Told numbers are looked at within B. *)
Context (I : finType) (told : pred I) (a : I -> nat -> R) (c move : I -> R) (B : R).
Definition row (s : nat) (r : I) (w : W) : R := \sum_(j < n) a r j * Z j w + c r + s%:R * move r.
Definition comes_out s (r : I) : set W := [set w | if told r then - B <= row s r w <= B else 0 <= row s r w].
Definition run_comes_out s : set W := \big[setI/setT]_(r : I) comes_out s r.

Lemma measurable_row s r : measurable_fun setT (row s r).
Proof.
apply: measurable_funD; last exact: measurable_fun_cst.
apply: measurable_funD; last exact: measurable_fun_cst.
apply: (@measurable_total _ _ _ n (fun j w => a r j * Z j w)) => j; apply: measurable_funM; first exact: measurable_fun_cst.
exact: (measurable_noises noises).
Qed.

Lemma measurable_run s : measurable (run_comes_out s).
Proof.
apply: bigsetI_measurable => r _; have mr := measurable_row s r; rewrite /comes_out; case: (told r).
- rewrite (_ : [set w | _] = setT `&` row s r @^-1` `[- B, B]%classic); first by apply: mr => //; exact: measurable_itv.
  by rewrite setTI; apply/seteqP; split=> w /=; rewrite in_itv.
- rewrite (_ : [set w | _] = setT `&` row s r @^-1` `[0, +oo[%classic); first by apply: mr => //; exact: measurable_itv.
  by rewrite setTI; apply/seteqP; split=> w /=; rewrite in_itv/= andbT.
Qed.

Lemma run_rows s w r : run_comes_out s w -> comes_out s r w.
Proof. by rewrite /run_comes_out (bigD1 r)//= => -[]. Qed.

(* Weights of the rows, at least 0 for comparisons; their sums at the noises; and what they say of the moves. *)
Context (y : I -> R).
Hypotheses (B0 : 0 <= B) (y0 : forall r, ~~ told r -> 0 <= y r).
Definition at_noise j := \sum_r y r * a r j.
Definition loss := - \sum_r y r * move r.
Let K := \sum_r (`|y r| * B + y r * c r).

(* Where the run comes out, the noises are far out. *)
Lemma run_far s w : run_comes_out s w -> s%:R * loss - K <= \sum_(j < n) at_noise j * Z j w.
Proof.
move=> out.
have rE : \sum_(j < n) at_noise j * Z j w = \sum_r y r * (row s r w - c r - s%:R * move r).
  rewrite (eq_bigr (fun j : 'I_n => \sum_r y r * a r j * Z j w)); last by move=> j _; rewrite mulr_suml.
  rewrite exchange_big/=; apply: eq_bigr => r _; rewrite /row mulrBr mulrBr !mulrDr.
  have -> : forall u v t : R, u + v + t - v - t = u by move=> u v t; lra.
  by rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mulrA.
rewrite rE /loss /K mulrN -opprD mulr_sumr -big_split/= -sumrN; apply: ler_sum => r _.
have : - (`|y r| * B) <= y r * row s r w.
  have := run_rows r out; rewrite /comes_out/=; case: ifP => [_ /andP[lo hi]|/negbT/y0 yr h].
  - have := ler_norm (- (y r * row s r w)); rewrite normrN normrM => h.
    have : `|row s r w| <= B by rewrite ler_norml lo.
    move=> /(ler_wpmul2l (normr_ge0 (y r))); lra.
  - have := mulr_ge0 yr h; have := mulr_ge0 (normr_ge0 (y r)) B0; lra.
by rewrite mulrCA; lra.
Qed.

Lemma below_slope (g t : R) (b : option R) : within g b -> positive_slope b -> 0 <= t -> t < 1 -> below (t * g) b.
Proof.
case: b => //= s gs s0 t0 t1; have [g0|g0] := leP g 0; first by apply: le_lt_trans s0; rewrite mulr_ge0_le0.
by apply: lt_le_trans gs; rewrite gtr_pmull.
Qed.

(* By the exponential moments of the noises the probability that it comes out falls exponentially. *)
Lemma run_falls t : 0 <= t -> t < 1 -> (forall j, (j < n)%N -> within (at_noise j) (right j) /\ within (- at_noise j) (left j)) ->
  exists C, forall s, fine (nu (run_comes_out s)) <= C * expR (- (t * loss * s%:R)).
Proof.
move=> t0 t1 inside.
have [|ms fin] := independent_moment (a := fun j => t * at_noise j) noises.
  move=> j jn; have [lo [hi [h [f [dens lc sl sr]]]]] := slopes j; have [wr wl] := inside j jn.
  apply: (exponential_moment dens (mu1 j) lc sl sr) => //; first exact: below_slope.
  by rewrite -mulrN; exact: below_slope.
have nu1 := independent_total noises.
have k0 : (0 <= \int[nu]_w (expR (\sum_(j < n) t * at_noise j * Z j w))%:E)%E by apply: integral_ge0 => w _; rewrite lee_fin expR_ge0.
move: fin k0; case E : (\int[nu]_w _)%E => [k| |]// _ k0.
exists (k * expR (t * K)) => s; have mr := measurable_run s.
have mf := mass_fin nu1 mr.
rewrite -[leRHS]mulrA -expRD -lee_fin fineK//.
have -> : nu (run_comes_out s) = (\int[nu]_(w in run_comes_out s) (cst 1%:E w))%E by rewrite integral_cst// mul1e.
rewrite mulrC EFinM -E -ge0_integralM//; last 3 first.
- by apply/EFin_measurable_fun.
- by move=> w _; rewrite lee_fin expR_ge0.
- by rewrite lee_fin expR_ge0.
have mscaled : measurable_fun setT (fun w => (expR (t * K - t * loss * s%:R) * expR (\sum_(j < n) t * at_noise j * Z j w))%:E).
  by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_cst.
apply: (@le_trans _ _ (\int[nu]_(w in run_comes_out s) (expR (t * K - t * loss * s%:R) * expR (\sum_(j < n) t * at_noise j * Z j w))%:E)%E).
  apply: ge0_le_integral => //.
  - by move=> w _; rewrite lee_fin.
  - exact: measurable_fun_cst.
  - by move=> w _; rewrite lee_fin mulr_ge0// expR_ge0.
  - exact: measurable_funS mscaled.
  - move=> w out; rewrite lee_fin -expRD -[leLHS]expR0 ler_expR.
    have := ler_wpmul2l t0 (run_far out); rewrite mulr_sumr.
    under eq_bigr do rewrite mulrA; lra.
by apply: subset_integral => // w _; rewrite lee_fin mulr_ge0// expR_ge0.
Qed.

(* Inputs along which the answers move again and again, and what is told, which has the probability that the run comes out. *)
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> X) (O : set Y).
Hypotheses (mO : measurable O) (chain : forall s, both N (x s) (x s.+1)) (shown : forall s, M (x s) O = nu (run_comes_out s)).
Hypothesis start : (0 < nu (run_comes_out 0))%E.

Theorem worst_run_lower : (forall j, (j < n)%N -> within (at_noise j) (right j) /\ within (- at_noise j) (left j)) ->
  (loss%:E <= tight_epsilon N M 0)%E.
Proof.
move=> inside; apply: (@chain_lower _ _ N _ _ M x O) => //; first by rewrite shown.
move=> t t0 t1; have [C CE] := run_falls t0 t1 inside; exists C => s; rewrite shown; exact: CE.
Qed.
End Run.
