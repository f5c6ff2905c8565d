(* Streams from below (docs/theory/selection.md, worst run): what a run loses in the limit where answers move in the same way again and again, by
   weights of its comparisons that at no noise sum to more than its slope. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments chain.

(* At most a slope, of which None is infinite; and 0 at most where it is finite. *)
Definition within (R : realType) (g : R) (b : option R) := if b is Some s then g <= s else true.
Definition none_within (R : realType) (g : R) (b : option R) := if b is Some s then g <= 0 else true.
Definition positive_slope (R : realType) (b : option R) := if b is Some s then 0 < s else true.

(* Exponential moments below the slopes are finite. *)
Definition has_tails (R : realType) (mu : {measure set R -> \bar R}) (left right : option R) :=
  forall g t, within g right -> within (- g) left -> 0 <= t -> t < 1 -> (\int[mu]_z (expR (t * g * z))%:E < +oo)%E.

Lemma below_slope (R : realType) (g t : R) (b : option R) : within g b -> positive_slope b -> 0 <= t -> t < 1 -> below (t * g) b.
Proof.
case: b => //= s gs s0 t0 t1; have [g0|g0] := leP g 0; first by apply: le_lt_trans s0; rewrite mulr_ge0_le0.
by apply: lt_le_trans gs; rewrite gtr_pmull.
Qed.

(* They are for log-concave noise, on the reals or the integers. *)
Lemma log_concave_tails (R : realType) (lam mu : {measure set R -> \bar R}) (left right : option R) : mu setT = 1%E -> has_slopes lam mu left right ->
  keeps lam 1 -> keeps lam (- 1) -> positive_slope left -> positive_slope right -> has_tails mu left right.
Proof.
move=> mu1 [lo [hi [h [f [dens lc sl sr]]]]] k1 k1' left0 right0 g t wr wl t0 t1.
apply: (exponential_moment dens mu1 lc sl sr) => //; first exact: below_slope.
by rewrite -mulrN; exact: below_slope.
Qed.

Section Run.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (left right : nat -> option R) (mu1 : forall j, mu j setT = 1%E).
Hypothesis tails : forall j, has_tails (mu j) (left j) (right j).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.

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

(* By the exponential moments of the noises the probability that it comes out falls exponentially. *)
Lemma run_falls t : 0 <= t -> t < 1 -> (forall j, (j < n)%N -> within (at_noise j) (right j) /\ within (- at_noise j) (left j)) ->
  exists C, forall s, fine (nu (run_comes_out s)) <= C * expR (- (t * loss * s%:R)).
Proof.
move=> t0 t1 inside.
have [|ms fin] := independent_moment (a := fun j => t * at_noise j) noises.
  by move=> j jn; have [wr wl] := inside j jn; exact: tails.
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

End Run.

(* Inputs along which the answers move again and again, and what is told, which has the probability that the run comes out. *)
Section Bounds.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (left right : nat -> option R) (mu1 : forall j, mu j setT = 1%E).
Hypothesis tails : forall j, has_tails (mu j) (left j) (right j).
Hypotheses (left0 : forall j, positive_slope (left j)) (right0 : forall j, positive_slope (right j)).
Context (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> X) (O : set Y).
Hypotheses (mO : measurable O) (chain : forall s, N (x s) (x s.+1)) (start : (0 < M (x 0%N) O)%E).

Section Once.
Context (I : finType) (told : pred I) (a : I -> nat -> R) (c move y : I -> R) (B : R).
Hypothesis shown : forall s, (M (x s) O <= nu (run_comes_out n Z told a c move B s))%E.
Hypotheses (B0 : 0 <= B) (y0 : forall r, ~~ told r -> 0 <= y r).

Let fine_shown s : fine (M (x s) O) <= fine (nu (run_comes_out n Z told a c move B s)).
Proof.
have m := measurable_run noises told a c move B s.
by rewrite -lee_fin !fineK ?mass_fin ?law_total//; exact: independent_total noises.
Qed.

Theorem run_lower : (forall j, (j < n)%N -> within (at_noise a y j) (right j) /\ within (- at_noise a y j) (left j)) ->
  ((loss move y)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> inside; apply: (chain_lower mO start chain) => t t0 t1.
have [C CE] := run_falls tails noises c move B0 y0 t0 t1 inside.
by exists C => s; apply: le_trans (CE s).
Qed.

(* Where the sums are 0 but for infinite slopes no shifts keep the run. *)
Theorem run_infinite : (forall j, (j < n)%N -> none_within (at_noise a y j) (right j) /\ none_within (- at_noise a y j) (left j)) ->
  0 < loss move y -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
move=> none l0; apply: (chain_infinite mO start chain) => L L0.
pose k := 2 * L / loss move y; have k0 : 0 <= k by rewrite divr_ge0 ?mulr_ge0// ltW.
pose ky r := k * y r.
have ky0 r : ~~ told r -> 0 <= ky r by move=> /y0; exact: mulr_ge0.
have gE j : at_noise a ky j = k * at_noise a y j by rewrite /at_noise mulr_sumr; apply: eq_bigr => r _; rewrite mulrA.
have lE : loss move ky = 2 * L.
  have -> : loss move ky = k * loss move y.
    by rewrite /loss mulrN mulr_sumr; congr (- _); apply: eq_bigr => r _; rewrite mulrA.
  by rewrite /k divfK// gt_eqF.
have wide g (b : option R) : positive_slope b -> none_within g b -> within (k * g) b.
  by case: b => //= s s0 g0; apply: le_trans (ltW s0); rewrite mulr_ge0_le0.
have inside j : (j < n)%N -> within (at_noise a ky j) (right j) /\ within (- at_noise a ky j) (left j).
  by move=> /none[nr nl]; rewrite gE -mulrN; split; exact: wide.
have h0 : 0 <= 2^-1 :> R by lra.
have h1 : 2^-1 < 1 :> R by lra.
have [C CE] := run_falls tails noises c move B0 ky0 h0 h1 inside.
exists C => s; apply: le_trans (le_trans (fine_shown s) (CE s)) _; rewrite lE le_eqVlt; apply/orP; left; apply/eqP.
by congr (_ * expR _); lra.
Qed.
End Once.

(* Steps that leave the state and the counters as they were are repeated k times. copy j says in which repetition the noise j is drawn, if in one, and
   origin j which noise of the steps it is. Rows of a repetition are forms in the noises outside and in its own; other rows in those outside alone. *)
Section Repeated.
Context (k : nat) (copy : nat -> option 'I_k) (origin : nat -> nat) (I J : finType) (told : pred I) (told' : pred J).
Context (a : I -> nat -> R) (a' own : J -> nat -> R) (move y : I -> R) (move' y' : J -> R) (c : I + 'I_k * J -> R) (B : R).

Definition repeated_told (r : I + 'I_k * J) := match r with inl r => told r | inr (_, r) => told' r end.
Definition repeated_move (r : I + 'I_k * J) := match r with inl r => move r | inr (_, r) => move' r end.
Definition repeated_form (r : I + 'I_k * J) j :=
  match r, copy j with
  | inl r, None => a r j
  | inl r, Some _ => 0
  | inr (_, r), None => a' r j
  | inr (i, r), Some i' => if i' == i then own r (origin j) else 0
  end.
Definition repeated_weight (r : I + 'I_k * J) := match r with inl r => k%:R * y r | inr (_, r) => y' r end.

Hypothesis shown : forall s, (M (x s) O <= nu (run_comes_out n Z repeated_told repeated_form c repeated_move B s))%E.
Hypotheses (B0 : 0 <= B) (y0 : forall r, ~~ told r -> 0 <= y r) (y0' : forall r, ~~ told' r -> 0 <= y' r).
(* The weights are for one time. *)
Hypothesis outside : forall j, (j < n)%N -> copy j = None -> \sum_r y r * a r j + \sum_r y' r * a' r j = 0.
Definition once_loss := - (\sum_r y r * move r + \sum_r y' r * move' r).

Lemma big_repeated (F : I + 'I_k * J -> R) : \sum_r F r = \sum_r F (inl r) + \sum_i \sum_r F (inr (i, r)).
Proof. by rewrite big_sumType/= pair_bigA/=; congr (_ + _); apply: eq_bigr => -[i r]. Qed.

Let weight0 r : ~~ repeated_told r -> 0 <= repeated_weight r.
Proof. by case: r => [r /y0|[i r] /y0' //] /= h; rewrite mulr_ge0. Qed.

Let lossE : loss repeated_move repeated_weight = k%:R * once_loss.
Proof.
rewrite /loss /once_loss big_repeated/= mulrN mulrDr mulr_sumr; congr (- (_ + _)); first by apply: eq_bigr => r _; rewrite mulrA.
by rewrite sumr_const card_ord mulr_natl.
Qed.

Let outsideE j : (j < n)%N -> copy j = None -> at_noise repeated_form repeated_weight j = 0.
Proof.
move=> jn cj; transitivity (k%:R * (\sum_r y r * a r j + \sum_r y' r * a' r j)); last by rewrite outside// mulr0.
rewrite /at_noise big_repeated/= cj mulrDr mulr_sumr; congr (_ + _).
  by apply: eq_bigr => r _; rewrite mulrA.
by rewrite sumr_const card_ord mulr_natl.
Qed.

Let insideE j i : copy j = Some i -> at_noise repeated_form repeated_weight j = \sum_r y' r * own r (origin j).
Proof.
move=> cj; rewrite /at_noise big_repeated/= cj big1 ?add0r; last by move=> r _; rewrite mulr0.
rewrite (bigD1 i)//= [X in _ + X]big1 ?addr0; last by move=> i' /negbTE ne; apply: big1 => r _; rewrite eq_sym ne mulr0.
by apply: eq_bigr => r _; rewrite eqxx.
Qed.

Theorem repeated_lower : (forall j i, (j < n)%N -> copy j = Some i ->
    within (\sum_r y' r * own r (origin j)) (right j) /\ within (- \sum_r y' r * own r (origin j)) (left j)) ->
  ((k%:R * once_loss)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> inside; rewrite -lossE; apply: (run_lower shown B0 weight0) => j jn.
have zero (b : option R) : positive_slope b -> within 0 b by case: b => //= s /ltW.
case cj : (copy j) => [i|]; first by rewrite (insideE cj); exact: inside cj.
by rewrite outsideE// oppr0; split; exact: zero.
Qed.

Theorem repeated_infinite : (0 < k)%N -> (forall j i, (j < n)%N -> copy j = Some i ->
    none_within (\sum_r y' r * own r (origin j)) (right j) /\ none_within (- \sum_r y' r * own r (origin j)) (left j)) ->
  0 < once_loss -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
move=> k0 inside l0; apply: (run_infinite shown B0 weight0); last by rewrite lossE mulr_gt0 ?ltr0n.
move=> j jn; have zero (b : option R) : none_within 0 b by case: b => //= s.
case cj : (copy j) => [i|]; first by rewrite (insideE cj); exact: inside cj.
by rewrite outsideE// oppr0; split; exact: zero.
Qed.
End Repeated.
End Bounds.

(* The same for both orders of neighbours, with noises of which the slopes are known. *)
Lemma worst_run_lower (R : realType) (mu lam : nat -> {measure set R -> \bar R}) (left right : nat -> option R) (mu1 : forall j, mu j setT = 1%E)
  (slopes : forall j, has_slopes (lam j) (mu j) (left j) (right j)) (kept1 : forall j, keeps (lam j) 1) (kept1' : forall j, keeps (lam j) (- 1))
  (left0 : forall j, positive_slope (left j)) (right0 : forall j, positive_slope (right j))
  (n : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R) (noises : independent_noises mu1 n nu Z)
  (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y) (x : nat -> X) (O : set Y) (mO : measurable O)
  (chain : forall s, both N (x s) (x s.+1)) (start : (0 < M (x 0%N) O)%E) (I : finType) (told : pred I) (a : I -> nat -> R) (c move y : I -> R) (B : R)
  (shown : forall s, (M (x s) O <= nu (run_comes_out n Z told a c move B s))%E) (B0 : 0 <= B) (y0 : forall r, ~~ told r -> 0 <= y r) :
  (forall j, (j < n)%N -> within (at_noise a y j) (right j) /\ within (- at_noise a y j) (left j)) -> ((loss move y)%:E <= tight_epsilon N M 0)%E.
Proof.
apply: (run_lower _ noises mO chain start shown B0 y0) => j; exact: (log_concave_tails (mu1 j) (slopes j)).
Qed.
