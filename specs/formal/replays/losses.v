(* How much the exponent of a density changes when its argument moves: the rules of calculus by which replayed certificates bound the
   loss of additive noise. All of it is about Coq's real numbers, so that `lra`, `field` and `interval` decide what is left over. *)
From Coq Require Import Reals Lra Psatz.
Local Open Scope R_scope.

(* `moves A h D m`: on A, where the argument moves by at most D, h moves by at most m. *)
Definition moves (A : R -> Prop) (h : R -> R) (D m : R) :=
  forall a b, A a -> A b -> Rabs (a - b) <= D -> h b - h a <= m.
Implicit Types (A B : R -> Prop) (h u : R -> R) (D m : R).

Definition line (_ : R) := True.
Definition half_line (r : R) := 0 <= r.

Lemma moves_sym A h D m a b : moves A h D m -> A a -> A b -> Rabs (a - b) <= D -> Rabs (h a - h b) <= m.
Proof.
intros H Aa Ab ab. unfold Rabs. destruct (Rcase_abs (h a - h b)).
- pose proof (H a b Aa Ab ab). lra.
- rewrite Rabs_minus_sym in ab. pose proof (H b a Ab Aa ab). lra.
Qed.

Lemma moves_le A h D m m' : moves A h D m -> m <= m' -> moves A h D m'.
Proof. intros H mm a b Aa Ab ab. pose proof (H a b Aa Ab ab). lra. Qed.

Lemma moves_shorter A h D D' m : moves A h D m -> D' <= D -> moves A h D' m.
Proof. intros H dd a b Aa Ab ab. apply H; auto; lra. Qed.

Lemma moves_ext (A : R -> Prop) (h h' : R -> R) D m : (forall r, A r -> h r = h' r) -> moves A h D m -> moves A h' D m.
Proof. intros E H a b Aa Ab ab. rewrite <- (E a Aa), <- (E b Ab). now apply H. Qed.

Lemma moves_const A c D : moves A (fun _ => c) D 0.
Proof. intros a b _ _ _. lra. Qed.

Lemma moves_id A D : moves A (fun r => r) D D.
Proof. intros a b _ _ ab. rewrite Rabs_minus_sym in ab. pose proof (Rle_abs (b - a)). lra. Qed.

Lemma moves_add A h (k : R -> R) D m n : moves A h D m -> moves A k D n -> moves A (fun r => h r + k r) D (m + n).
Proof. intros H K a b Aa Ab ab. pose proof (H a b Aa Ab ab). pose proof (K a b Aa Ab ab). lra. Qed.

Lemma moves_opp A h D m : moves A h D m -> moves A (fun r => - h r) D m.
Proof.
intros H a b Aa Ab ab. rewrite Rabs_minus_sym in ab. pose proof (H b a Ab Aa ab). lra.
Qed.

Lemma moves_sub A h (k : R -> R) D m n : moves A h D m -> moves A k D n -> moves A (fun r => h r - k r) D (m + n).
Proof. intros H K. exact (moves_add A h (fun r => - k r) D m n H (moves_opp A k D n K)). Qed.

Lemma moves_scale A c h D m : 0 <= c -> moves A h D m -> moves A (fun r => c * h r) D (c * m).
Proof.
intros c0 H a b Aa Ab ab. rewrite <- Rmult_minus_distr_l. apply Rmult_le_compat_l; auto.
Qed.

Lemma moves_scale_r A c h D m : 0 <= c -> moves A h D m -> moves A (fun r => h r * c) D (m * c).
Proof.
intros c0 H a b Aa Ab ab. rewrite <- Rmult_minus_distr_r. apply Rmult_le_compat_r; auto.
Qed.

Lemma moves_div A c h D m : 0 < c -> moves A h D m -> moves A (fun r => h r / c) D (m / c).
Proof. intros c0 H. apply moves_scale_r; auto. left. now apply Rinv_0_lt_compat. Qed.

(* A function of a function. *)
Lemma moves_comp A B u h D d m :
  (forall r, A r -> B (u r)) -> moves A u D d -> moves B h d m -> moves A (fun r => h (u r)) D m.
Proof. intros AB U H a b Aa Ab ab. apply H; auto. exact (moves_sym A u D d a b U Aa Ab ab). Qed.

Lemma moves_abs D : moves line Rabs D D.
Proof.
intros a b _ _ ab. rewrite Rabs_minus_sym in ab. pose proof (Rabs_triang_inv b a). lra.
Qed.

(* The same in a multiple of the argument. *)
Lemma moves_multiple h c D m : 0 <= c -> moves line h (c * D) m -> moves line (fun r => h (c * r)) D m.
Proof.
intros c0 H. apply (moves_comp line line (fun r => c * r) h D (c * D)); [unfold line; auto | | exact H].
apply moves_scale; [exact c0 | apply moves_id].
Qed.

(* -- Concave functions that never fall: most at 0 -- *)

Lemma moves_sqrt D : 0 <= D -> moves half_line sqrt D (sqrt D).
Proof.
unfold half_line. intros D0 a b a0 b0 ab.
assert (b <= a + D) by (rewrite Rabs_minus_sym in ab; pose proof (Rle_abs (b - a)); lra).
assert (sqrt b <= sqrt a + sqrt D); [|lra].
apply Rsqr_incr_0_var; [|pose proof (sqrt_pos a); pose proof (sqrt_pos D); lra].
rewrite Rsqr_sqrt; auto. unfold Rsqr.
pose proof (sqrt_sqrt a a0). pose proof (sqrt_sqrt D D0). pose proof (sqrt_pos a). pose proof (sqrt_pos D). nra.
Qed.

(* The logarithm of k + r, k > 0. *)
Lemma moves_ln_plus k D : 0 < k -> 0 <= D -> moves half_line (fun r => ln (r + k)) D (ln ((D + k) / k)).
Proof.
unfold half_line. intros k0 D0 a b a0 b0 ab.
assert (b <= a + D) by (rewrite Rabs_minus_sym in ab; pose proof (Rle_abs (b - a)); lra).
assert (E : ln (b + k) <= ln ((a + k) * ((D + k) / k))).
{ assert (b + k <= (a + k) * ((D + k) / k)).
  { apply Rmult_le_reg_r with k; auto. replace ((a + k) * ((D + k) / k) * k) with ((a + k) * (D + k)) by (field; lra). nra. }
  destruct H0 as [H0 | ->]; [left; apply ln_increasing; lra | right; reflexivity]. }
rewrite ln_mult in E; try lra.
apply Rdiv_lt_0_compat; lra.
Qed.

(* -- The power identity: the logarithm of k + r^2 -- *)

Lemma arcsinh_log D k : 0 < k -> 0 <= D ->
  let s := sqrt (D * D + 4 * k) in 2 * arcsinh (D / (2 * sqrt k)) = ln ((s + D) / (s - D)).
Proof.
intros k0 D0 s.
assert (sk : 0 < sqrt k) by now apply sqrt_lt_R0.
assert (kk : sqrt k * sqrt k = k) by (apply sqrt_sqrt; lra).
assert (ss : s * s = D * D + 4 * k) by (apply sqrt_sqrt; nra).
assert (s0 : 0 <= s) by apply sqrt_pos.
assert (sD : D < s) by nra.
unfold arcsinh.
replace (sqrt ((D / (2 * sqrt k)) ^ 2 + 1)) with (s / (2 * sqrt k)).
2:{ symmetry. apply sqrt_lem_1.
  - pose proof (pow2_ge_0 (D / (2 * sqrt k))). lra.
  - apply Rmult_le_pos; [exact s0 | left; apply Rinv_0_lt_compat; lra].
  - replace (s / (2 * sqrt k) * (s / (2 * sqrt k))) with ((s * s) / (4 * (sqrt k * sqrt k))) by (field; lra).
    rewrite ss. replace ((D / (2 * sqrt k)) ^ 2) with (D * D / (4 * (sqrt k * sqrt k))) by (field; lra).
    rewrite kk. field. lra. }
set (u := D / (2 * sqrt k) + s / (2 * sqrt k)).
assert (u0 : 0 < u).
{ unfold u. rewrite <- Rdiv_plus_distr. apply Rdiv_lt_0_compat; lra. }
replace (2 * ln u) with (ln (u * u)) by (rewrite ln_mult; auto; lra).
f_equal. unfold u.
replace ((D / (2 * sqrt k) + s / (2 * sqrt k)) * (D / (2 * sqrt k) + s / (2 * sqrt k)))
  with ((D + s) * (D + s) / (4 * (sqrt k * sqrt k))) by (field; lra).
rewrite kk. apply Rmult_eq_reg_r with ((s - D) * (4 * k)); [|nra].
replace ((D + s) * (D + s) / (4 * k) * ((s - D) * (4 * k))) with ((D + s) * (D + s) * (s - D)) by (field; lra).
replace ((s + D) / (s - D) * ((s - D) * (4 * k))) with ((s + D) * (4 * k)) by (field; lra).
replace (4 * k) with (s * s - D * D) by lra. ring.
Qed.

Lemma moves_ln_square k D : 0 < k -> 0 <= D -> moves line (fun r => ln (r ^ 2 + k)) D (2 * arcsinh (D / (2 * sqrt k))).
Proof.
intros k0 D0 a b _ _ ab. rewrite arcsinh_log; auto. replace (a ^ 2) with (a * a) by ring. replace (b ^ 2) with (b * b) by ring.
set (s := sqrt (D * D + 4 * k)).
assert (ss : s * s = D * D + 4 * k) by (apply sqrt_sqrt; nra).
assert (s0 : 0 <= s) by apply sqrt_pos.
assert (sD : D < s) by nra.
assert (E : b * b + k <= (a * a + k) * ((s + D) / (s - D))).
{ apply Rmult_le_reg_r with (s - D); [lra|].
  replace ((a * a + k) * ((s + D) / (s - D)) * (s - D)) with ((a * a + k) * (s + D)) by (field; lra).
  rewrite Rabs_minus_sym in ab. assert (ba : - D <= b - a <= D) by (unfold Rabs in ab; destruct (Rcase_abs (b - a)); lra).
  destruct D0 as [D0 | D0]; [| replace b with a by lra; rewrite <- D0; lra].
  assert (F : 0 <= 2 * D * ((a * a + k) * (s + D) - (b * b + k) * (s - D))).
  { replace (2 * D * ((a * a + k) * (s + D) - (b * b + k) * (s - D)))
      with ((D * (a + b) - s * (b - a)) * (D * (a + b) - s * (b - a)) + (D * D - (b - a) * (b - a)) * (s * s - D * D)
            + D * D * (4 * k - (s * s - D * D))) by ring.
    assert (0 <= (D * D - (b - a) * (b - a)) * (s * s - D * D)) by (apply Rmult_le_pos; nra).
    pose proof (Rle_0_sqr (D * (a + b) - s * (b - a))). unfold Rsqr in *. nra. }
  nra. }
assert (pos : 0 < (s + D) / (s - D)) by (apply Rdiv_lt_0_compat; lra).
assert (L : ln (b * b + k) <= ln ((a * a + k) * ((s + D) / (s - D)))).
{ destruct E as [E | ->]; [left; apply ln_increasing; nra | right; reflexivity]. }
rewrite ln_mult in L; try nra; auto.
Qed.

(* -- Convex functions: most at infinity, where their slope is greatest -- *)

Lemma moves_hyperbola k D : 0 < k -> 0 <= D -> moves line (fun r => sqrt (r ^ 2 + k)) D D.
Proof.
intros k0 D0 a b _ _ ab.
assert (sa : sqrt (a ^ 2 + k) * sqrt (a ^ 2 + k) = a ^ 2 + k) by (apply sqrt_sqrt; nra).
assert (sb : sqrt (b ^ 2 + k) * sqrt (b ^ 2 + k) = b ^ 2 + k) by (apply sqrt_sqrt; nra).
pose proof (sqrt_pos (a ^ 2 + k)). pose proof (sqrt_pos (b ^ 2 + k)).
assert (la : Rabs a <= sqrt (a ^ 2 + k)).
{ rewrite <- (sqrt_Rsqr_abs a). apply sqrt_le_1_alt. unfold Rsqr. nra. }
assert (lb : Rabs b <= sqrt (b ^ 2 + k)).
{ rewrite <- (sqrt_Rsqr_abs b). apply sqrt_le_1_alt. unfold Rsqr. nra. }
assert (E : (sqrt (b ^ 2 + k) - sqrt (a ^ 2 + k)) * (sqrt (b ^ 2 + k) + sqrt (a ^ 2 + k)) = (b - a) * (b + a)) by nra.
destruct (Rle_dec (sqrt (b ^ 2 + k)) (sqrt (a ^ 2 + k))) as [le | gt]; [lra|].
apply Rle_trans with (Rabs (a - b)); auto.
apply Rmult_le_reg_r with (sqrt (b ^ 2 + k) + sqrt (a ^ 2 + k)); [lra|]. rewrite E.
apply Rle_trans with (Rabs ((b - a) * (b + a))); [apply Rle_abs|].
rewrite Rabs_mult, (Rabs_minus_sym b a). apply Rmult_le_compat_l; [apply Rabs_pos|].
pose proof (Rabs_triang b a). lra.
Qed.

Lemma moves_ln_cosh D : 0 <= D -> moves line (fun r => ln (cosh r)) D D.
Proof.
intros D0 a b _ _ ab.
assert (ba : b <= a + D /\ a <= b + D) by (unfold Rabs in ab; destruct (Rcase_abs (a - b)); lra).
assert (pos : forall x, 0 < cosh x) by (intros x; unfold cosh; pose proof (exp_pos x); pose proof (exp_pos (- x)); lra).
assert (E : cosh b <= cosh a * exp D).
{ unfold cosh. assert (exp b <= exp a * exp D).
  { rewrite <- exp_plus. destruct (proj1 ba) as [lt | ->]; [left; now apply exp_increasing | right; reflexivity]. }
  assert (exp (- b) <= exp (- a) * exp D).
  { rewrite <- exp_plus. assert (- b <= - a + D) by lra. destruct H0 as [lt | ->]; [left; now apply exp_increasing | right; reflexivity]. }
  lra. }
assert (L : ln (cosh b) <= ln (cosh a * exp D)).
{ destruct E as [lt | ->]; [left; now apply ln_increasing | right; reflexivity]. }
rewrite ln_mult in L; auto using exp_pos. rewrite ln_exp in L. lra.
Qed.

(* The exponent of logistic noise and of its powers: k r + n log(1 + e^-r), 0 <= k <= n, whose slope lies between k - n and k. *)
Lemma moves_logistic k n L D : 0 <= k -> 0 <= n -> k <= L -> n - k <= L -> 0 <= D ->
  moves line (fun r => k * r + n * ln (exp (- r) + 1)) D (L * D).
Proof.
intros k0 n0 kL nL D0 a b _ _ ab.
assert (ba : b <= a + D /\ a <= b + D) by (unfold Rabs in ab; destruct (Rcase_abs (a - b)); lra).
pose proof (exp_pos (- a)) as ea. pose proof (exp_pos (- b)) as eb.
destruct (Rle_dec a b) as [le | gt].
- assert (ln (exp (- b) + 1) <= ln (exp (- a) + 1)).
  { destruct le as [lt | ->]; [left; apply ln_increasing; [lra | assert (exp (- b) < exp (- a)) by (apply exp_increasing; lra); lra] | right; reflexivity]. }
  assert (k * (b - a) <= L * D) by (apply Rmult_le_compat; lra).
  assert (n * ln (exp (- b) + 1) <= n * ln (exp (- a) + 1)) by (apply Rmult_le_compat_l; lra). lra.
- assert (E : ln (exp (- b) + 1) <= ln (exp (- a) + 1) + (a - b)).
  { apply Rle_trans with (ln ((exp (- a) + 1) * exp (a - b))).
    - assert (exp (- b) + 1 <= (exp (- a) + 1) * exp (a - b)).
      { rewrite Rmult_plus_distr_r, <- exp_plus. replace (- a + (a - b)) with (- b) by ring.
        assert (1 < exp (a - b)) by (rewrite <- exp_0; apply exp_increasing; lra). lra. }
      destruct H as [lt | ->]; [left; apply ln_increasing; lra | right; reflexivity].
    - rewrite ln_mult; [rewrite ln_exp; lra | lra | apply exp_pos]. }
  assert ((n - k) * (a - b) <= L * D) by nra.
  assert (n * ln (exp (- b) + 1) <= n * (ln (exp (- a) + 1) + (a - b))) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma moves_logistic_of c u v k n L D : 0 < c -> (forall r, u r = c * r) -> (forall r, v r = - (c * r)) ->
  0 <= k -> 0 <= n -> k <= L -> n - k <= L -> 0 <= D -> moves line (fun r => k * u r + n * ln (exp (v r) + 1)) D (L * (c * D)).
Proof.
intros c0 U W k0 n0 kL nL D0.
apply (moves_ext line (fun r => k * (c * r) + n * ln (exp (- (c * r)) + 1))); [intros r _; now rewrite U, W|].
apply (moves_multiple (fun s => k * s + n * ln (exp (- s) + 1))); [lra|]. apply moves_logistic; auto. nra.
Qed.

(* -- Steps -- *)

Definition floor (x : R) : R := IZR (Int_part x).

Lemma moves_floor A u D d (n : Z) : moves A u D d -> d <= IZR n -> moves A (fun r => floor (u r)) D (IZR n).
Proof.
intros H dn a b Aa Ab ab. unfold floor. rewrite <- minus_IZR. apply IZR_le.
pose proof (H a b Aa Ab ab). destruct (base_Int_part (u a)) as [a1 a2]. destruct (base_Int_part (u b)) as [b1 b2].
assert (IZR (Int_part (u b) - Int_part (u a)) < IZR (n + 1)) by (rewrite minus_IZR, plus_IZR; lra).
apply lt_IZR in H1. apply Zlt_succ_le. exact H1.
Qed.

(* -- Densities as exponentials -- *)

Lemma exp_of_mult x y a b : x = exp a -> y = exp b -> x * y = exp (a + b).
Proof. intros -> ->. now rewrite exp_plus. Qed.
Lemma exp_of_div x y a b : x = exp a -> y = exp b -> x / y = exp (a - b).
Proof. intros -> ->. unfold Rdiv, Rminus. now rewrite exp_plus, exp_Ropp. Qed.
Lemma exp_of_inv x a : x = exp a -> / x = exp (- a).
Proof. intros ->. now rewrite exp_Ropp. Qed.
Lemma exp_of_pow x a n : x = exp a -> x ^ n = exp (INR n * a).
Proof.
intros ->. induction n as [|n IH]; [simpl; rewrite Rmult_0_l; now rewrite exp_0|].
rewrite S_INR. simpl pow. rewrite IH, <- exp_plus. f_equal. ring.
Qed.
Lemma exp_of_power x a y : x = exp a -> Rpower x y = exp (y * a).
Proof. intros ->. unfold Rpower. now rewrite ln_exp. Qed.
Lemma exp_of_sqrt x a : x = exp a -> sqrt x = exp (a / 2).
Proof.
intros ->. apply sqrt_lem_1; [left; apply exp_pos | left; apply exp_pos |]. rewrite <- exp_plus. f_equal. field.
Qed.
Lemma exp_of_positive x : 0 < x -> x = exp (ln x).
Proof. intros. symmetry. now apply exp_ln. Qed.

(* What holds on the whole line holds on a part of it. *)
Lemma moves_line A h D m : moves line h D m -> moves A h D m.
Proof. intros H a b _ _ ab. apply H; unfold line; auto. Qed.

Lemma moves_abs_of A u D d : moves A u D d -> moves A (fun r => Rabs (u r)) D d.
Proof. intros H. apply (moves_comp A line u Rabs D d d); [unfold line; auto | exact H | apply moves_abs]. Qed.

Lemma moves_ln_linear u a k D : 0 < a -> 0 < k -> 0 <= D -> (forall r, u r = a * r + k) ->
  moves half_line (fun r => ln (u r)) D (ln ((a * D + k) / k)).
Proof.
intros a0 k0 D0 U. apply (moves_ext half_line (fun r => ln (a * r + k))); [intros r _; now rewrite U|].
apply (moves_comp half_line half_line (fun r => a * r) (fun s => ln (s + k)) D (a * D)).
- unfold half_line. intros r r0. nra.
- apply moves_scale; [lra | apply moves_id].
- apply moves_ln_plus; nra.
Qed.

(* w stands for D / (2 sqrt (k / a)), however it is written. *)
Lemma moves_ln_quadratic A u a k D w : 0 < a -> 0 < k -> 0 <= D -> 0 <= w -> w * w * (4 * k) = D * D * a ->
  (forall r, u r = a * r ^ 2 + k) -> moves A (fun r => ln (u r)) D (2 * arcsinh w).
Proof.
intros a0 k0 D0 w0 E U. apply moves_line.
apply (moves_ext line (fun r => ln (a * r ^ 2 + k))); [intros r _; now rewrite U|].
assert (q0 : 0 < k / a) by now apply Rdiv_lt_0_compat.
replace w with (D / (2 * sqrt (k / a))).
2:{ assert (s0 : 0 < sqrt (k / a)) by now apply sqrt_lt_R0.
  apply Rsqr_inj; auto.
  - apply Rmult_le_pos; auto. left. apply Rinv_0_lt_compat. lra.
  - unfold Rsqr. apply Rmult_eq_reg_r with (4 * (sqrt (k / a) * sqrt (k / a))); [|nra].
    replace (D / (2 * sqrt (k / a)) * (D / (2 * sqrt (k / a))) * (4 * (sqrt (k / a) * sqrt (k / a)))) with (D * D) by (field; lra).
    rewrite sqrt_sqrt by lra. apply Rmult_eq_reg_r with a; [|lra]. rewrite <- E. field. lra. }
apply (moves_ext line (fun r => ln a + ln (r ^ 2 + k / a))).
- intros r _. rewrite <- ln_mult; [f_equal; field; lra | lra | nra].
- replace (2 * arcsinh (D / (2 * sqrt (k / a)))) with (0 + 2 * arcsinh (D / (2 * sqrt (k / a)))) by lra.
  apply moves_add; [apply moves_const | now apply moves_ln_square].
Qed.
