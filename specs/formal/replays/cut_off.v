(* Laplace noise that is cut off at both ends of an interval: what its density loses when its middle moves. All of it is about Coq's real
   numbers. *)
From Coq Require Import Reals Lra Psatz.
From dpverify Require Import losses.
Local Open Scope R_scope.

Lemma cut_off_algebra c x T : 0 <= c -> c <= 1 -> 1 <= x -> 1 <= T ->
  (2 * (x * T) - 1 - c * (x * T) ^ 2) * (1 - c) <= (2 * T - 1 - c * T ^ 2) * (2 * x - 1 - c * x ^ 2).
Proof.
intros c0 c1 x1 T1.
assert (E : (2 * T - 1 - c * T ^ 2) * (2 * x - 1 - c * x ^ 2) - (2 * (x * T) - 1 - c * (x * T) ^ 2) * (1 - c)
  = (x - 1) * (T - 1) * (2 * (1 - c) + c * ((x - 1) * (T - 1)))) by ring.
assert (P : 0 <= (x - 1) * (T - 1)) by (apply Rmult_le_pos; lra).
assert (Q : 0 <= c * ((x - 1) * (T - 1))) by (apply Rmult_le_pos; lra).
assert (F : 0 <= (x - 1) * (T - 1) * (2 * (1 - c) + c * ((x - 1) * (T - 1)))) by (apply Rmult_le_pos; lra).
lra.
Qed.

Section CutOff.
Variables (b w : R).
Hypotheses (b0 : 0 < b) (w0 : 0 < w).

(* The mass of exp(-b |y - s|) on [0, w], up to the factor 1/b. *)
Definition cut_off_mass (s : R) : R := 2 - exp (- (b * s)) - exp (b * (s - w)).

Lemma exp_lt_1 x : x < 0 -> exp x < 1.
Proof. intros H. rewrite <- exp_0. now apply exp_increasing. Qed.

Lemma exp_le_1 x : x <= 0 -> exp x <= 1.
Proof. intros [lt | ->]; [left; now apply exp_lt_1 | rewrite exp_0; apply Rle_refl]. Qed.

Lemma exp_ge_1 x : 0 <= x -> 1 <= exp x.
Proof. intros [lt | <-]; rewrite <- exp_0; [left; now apply exp_increasing | apply Rle_refl]. Qed.

Lemma cut_off_mass_pos s : 0 <= s -> s <= w -> 0 < cut_off_mass s.
Proof.
intros s0 sw. unfold cut_off_mass.
destruct (Rle_lt_or_eq_dec 0 s s0) as [p | e].
- assert (exp (- (b * s)) < 1) by (apply exp_lt_1; nra). assert (exp (b * (s - w)) <= 1) by (apply exp_le_1; nra). lra.
- subst s. assert (exp (- (b * 0)) <= 1) by (apply exp_le_1; lra). assert (exp (b * (0 - w)) < 1) by (apply exp_lt_1; nra). lra.
Qed.

(* exp(b s) times the mass. *)
Lemma cut_off_poly s : exp (b * s) * cut_off_mass s = 2 * exp (b * s) - 1 - exp (- (b * w)) * exp (b * s) ^ 2.
Proof.
unfold cut_off_mass.
replace (exp (b * (s - w))) with (exp (b * s) * exp (- (b * w))) by (rewrite <- exp_plus; f_equal; ring).
replace (exp (- (b * s))) with (/ exp (b * s)) by (now rewrite exp_Ropp).
field. pose proof (exp_pos (b * s)). lra.
Qed.

Lemma cut_off_rises s t D : 0 <= s -> 0 <= t -> s <= w -> t <= D -> D <= w ->
  exp (b * t) * cut_off_mass (s + t) * cut_off_mass 0 <= exp (b * D) * cut_off_mass D * cut_off_mass s.
Proof.
intros s0 t0 sw tD Dw.
assert (es : 0 < exp (b * s)) by apply exp_pos.
assert (P : 0 <= exp (b * s) * cut_off_mass s) by (apply Rmult_le_pos; [lra | left; now apply cut_off_mass_pos]).
apply Rmult_le_reg_l with (exp (b * s)); [exact es|].
replace (exp (b * s) * (exp (b * t) * cut_off_mass (s + t) * cut_off_mass 0)) with (exp (b * (s + t)) * cut_off_mass (s + t) * cut_off_mass 0)
  by (rewrite Rmult_plus_distr_l, exp_plus; ring).
replace (exp (b * s) * (exp (b * D) * cut_off_mass D * cut_off_mass s)) with (exp (b * D) * cut_off_mass D * (exp (b * s) * cut_off_mass s)) by ring.
rewrite cut_off_poly in P.
rewrite (cut_off_poly s), (cut_off_poly D), (cut_off_poly (s + t)).
set (c := exp (- (b * w))) in *. set (x := exp (b * s)) in *. set (T := exp (b * t)).
assert (M0 : cut_off_mass 0 = 1 - c).
{ unfold cut_off_mass, c. replace (- (b * 0)) with 0 by ring. replace (b * (0 - w)) with (- (b * w)) by ring. rewrite exp_0. ring. }
rewrite M0. replace (exp (b * (s + t))) with (x * T) by (unfold x, T; rewrite <- exp_plus; f_equal; ring).
assert (c0 : 0 <= c) by (unfold c; left; apply exp_pos).
assert (c1 : c <= 1) by (unfold c; apply exp_le_1; nra).
assert (x1 : 1 <= x) by (unfold x; apply exp_ge_1; nra).
assert (T1 : 1 <= T) by (unfold T; apply exp_ge_1; nra).
apply Rle_trans with ((2 * T - 1 - c * T ^ 2) * (2 * x - 1 - c * x ^ 2)); [now apply cut_off_algebra|].
assert (TD : T <= exp (b * D)).
{ unfold T. assert (H : b * t <= b * D) by nra. destruct H as [H | ->]; [left; now apply exp_increasing | apply Rle_refl]. }
assert (cD : c * exp (b * D) <= 1).
{ unfold c. rewrite <- exp_plus. apply exp_le_1. nra. }
set (B := exp (b * D)) in *.
apply Rmult_le_compat_r; [exact P|].
assert (cT : c * T <= c * B) by (apply Rmult_le_compat_l; lra).
assert (0 <= (B - T) * (2 - c * B - c * T)) by (apply Rmult_le_pos; lra). nra.
Qed.

Lemma cut_off_mirror s : cut_off_mass (w - s) = cut_off_mass s.
Proof.
unfold cut_off_mass. replace (b * (w - s - w)) with (- (b * s)) by ring. replace (- (b * (w - s))) with (b * (s - w)) by ring. ring.
Qed.

Lemma cut_off_masses s s' D : 0 <= s <= w -> 0 <= s' <= w -> Rabs (s - s') <= D -> D <= w ->
  exp (b * Rabs (s - s')) * cut_off_mass s' * cut_off_mass 0 <= exp (b * D) * cut_off_mass D * cut_off_mass s.
Proof.
intros hs hs' near Dw. destruct (Rle_dec s s') as [le | gt].
- assert (E : Rabs (s - s') = s' - s) by (rewrite Rabs_minus_sym; apply Rabs_pos_eq; lra).
  rewrite E in near |- *. replace (cut_off_mass s') with (cut_off_mass (s + (s' - s))) by (f_equal; ring).
  apply cut_off_rises; lra.
- assert (E : Rabs (s - s') = s - s') by (apply Rabs_pos_eq; lra).
  rewrite E in near |- *. rewrite <- (cut_off_mirror s'), <- (cut_off_mirror s).
  replace (w - s') with (w - s + (s - s')) by ring. apply cut_off_rises; lra.
Qed.

Lemma cut_off_close y s s' D : 0 <= s <= w -> 0 <= s' <= w -> Rabs (s - s') <= D -> D <= w ->
  exp (- (b * Rabs (y - s))) / cut_off_mass s <=
  exp (b * D) * cut_off_mass D / cut_off_mass 0 * (exp (- (b * Rabs (y - s'))) / cut_off_mass s').
Proof.
intros hs hs' near Dw.
assert (ms : 0 < cut_off_mass s) by (apply cut_off_mass_pos; lra).
assert (ms' : 0 < cut_off_mass s') by (apply cut_off_mass_pos; lra).
assert (m0 : 0 < cut_off_mass 0) by (apply cut_off_mass_pos; lra).
pose proof (cut_off_masses s s' D hs hs' near Dw) as H.
assert (tri : exp (- (b * Rabs (y - s))) <= exp (b * Rabs (s - s')) * exp (- (b * Rabs (y - s')))).
{ rewrite <- exp_plus. pose proof (Rabs_triang (y - s) (s - s')) as T. replace (y - s + (s - s')) with (y - s') in T by ring.
  assert (L : - (b * Rabs (y - s)) <= b * Rabs (s - s') + - (b * Rabs (y - s'))) by nra.
  destruct L as [L | ->]; [left; now apply exp_increasing | apply Rle_refl]. }
set (e := exp (- (b * Rabs (y - s)))) in *. set (e' := exp (- (b * Rabs (y - s')))) in *. set (g := exp (b * Rabs (s - s'))) in *.
assert (e0 : 0 < e') by apply exp_pos.
apply Rmult_le_reg_r with (cut_off_mass s * cut_off_mass s' * cut_off_mass 0); [now repeat apply Rmult_lt_0_compat|].
replace (e / cut_off_mass s * (cut_off_mass s * cut_off_mass s' * cut_off_mass 0)) with (e * (cut_off_mass s' * cut_off_mass 0)) by (field; lra).
replace (exp (b * D) * cut_off_mass D / cut_off_mass 0 * (e' / cut_off_mass s') * (cut_off_mass s * cut_off_mass s' * cut_off_mass 0))
  with (exp (b * D) * cut_off_mass D * cut_off_mass s * e') by (field; lra).
apply Rle_trans with (g * e' * (cut_off_mass s' * cut_off_mass 0)).
- apply Rmult_le_compat_r; [|exact tri]. left. now apply Rmult_lt_0_compat.
- replace (g * e' * (cut_off_mass s' * cut_off_mass 0)) with (g * cut_off_mass s' * cut_off_mass 0 * e') by ring.
  apply Rmult_le_compat_r; [lra | exact H].
Qed.
End CutOff.

Theorem cut_off (p : R -> R -> R) (f : R -> R -> R) (u v : R -> R) (b c low high D massD mass0 eps : R) :
  0 < b -> 0 < c -> low < high -> D <= high - low ->
  (forall y t, p y t = exp (f y t) / (c * (2 - exp (u t) - exp (v t)))) ->
  (forall y t, f y t = - (b * Rabs (y - t))) -> (forall t, u t = - (b * (t - low))) -> (forall t, v t = b * (t - high)) ->
  2 - exp (- (b * D)) - exp (b * (D - (high - low))) = massD -> 1 - exp (- (b * (high - low))) = mass0 ->
  b * D + (ln massD - ln mass0) <= eps ->
  forall y t t', low <= y <= high -> low <= t <= high -> low <= t' <= high -> Rabs (t - t') <= D -> p y t <= exp eps * p y t'.
Proof.
intros b0 c0 lh Dw pE fE uE vE mD m0 le. intros y t t' hy ht ht' near.
assert (w0 : 0 < high - low) by lra.
destruct (Rlt_dec D 0) as [neg | pos]; [exfalso; pose proof (Rabs_pos (t - t')); lra|].
assert (mass : forall s, 2 - exp (u s) - exp (v s) = cut_off_mass b (high - low) (s - low)).
{ intros s. unfold cut_off_mass. rewrite uE, vE. replace (b * (s - low - (high - low))) with (b * (s - high)) by ring. reflexivity. }
assert (PD : 0 < massD).
{ rewrite <- mD. apply (cut_off_mass_pos b (high - low) b0 w0); lra. }
assert (E0 : cut_off_mass b (high - low) 0 = mass0).
{ rewrite <- m0. unfold cut_off_mass. replace (- (b * 0)) with 0 by ring. replace (b * (0 - (high - low))) with (- (b * (high - low))) by ring.
  rewrite exp_0. ring. }
assert (P0 : 0 < mass0).
{ rewrite <- E0. apply (cut_off_mass_pos b (high - low) b0 w0); lra. }
assert (near' : Rabs ((t - low) - (t' - low)) <= D) by (replace (t - low - (t' - low)) with (t - t') by ring; exact near).
assert (hs : 0 <= t - low <= high - low) by lra. assert (hs' : 0 <= t' - low <= high - low) by lra.
pose proof (cut_off_close b (high - low) b0 w0 (y - low) (t - low) (t' - low) D hs hs' near' Dw) as H.
replace (y - low - (t - low)) with (y - t) in H by ring. replace (y - low - (t' - low)) with (y - t') in H by ring.
rewrite E0 in H. unfold cut_off_mass in H at 2. rewrite mD in H.
assert (top : exp (b * D) * massD / mass0 <= exp eps).
{ replace (exp (b * D) * massD / mass0) with (exp (b * D + (ln massD - ln mass0))).
  - destruct le as [lt | ->]; [left; now apply exp_increasing | apply Rle_refl].
  - unfold Rminus. rewrite !exp_plus, exp_Ropp, !exp_ln by assumption. unfold Rdiv. ring. }
assert (ms : 0 < cut_off_mass b (high - low) (t - low)) by (apply (cut_off_mass_pos b (high - low) b0 w0); lra).
assert (ms' : 0 < cut_off_mass b (high - low) (t' - low)) by (apply (cut_off_mass_pos b (high - low) b0 w0); lra).
rewrite !pE, !fE, !mass.
set (m := cut_off_mass b (high - low) (t - low)) in *. set (m' := cut_off_mass b (high - low) (t' - low)) in *.
set (e := exp (- (b * Rabs (y - t)))) in *. set (e' := exp (- (b * Rabs (y - t')))) in *.
assert (e0 : 0 < e') by apply exp_pos.
replace (e / (c * m)) with (e / m * / c) by (field; lra). replace (exp eps * (e' / (c * m'))) with (exp eps * (e' / m') * / c) by (field; lra).
apply Rmult_le_compat_r; [left; now apply Rinv_0_lt_compat|].
apply Rle_trans with (1 := H). apply Rmult_le_compat_r; [left; now apply Rdiv_lt_0_compat | exact top].
Qed.

(* Any two inputs: the whole interval apart. *)
Theorem cut_off_any (p : R -> R -> R) (f : R -> R -> R) (u v : R -> R) (b c low high D eps : R) :
  0 < b -> 0 < c -> low < high -> D = high - low ->
  (forall y t, p y t = exp (f y t) / (c * (2 - exp (u t) - exp (v t)))) ->
  (forall y t, f y t = - (b * Rabs (y - t))) -> (forall t, u t = - (b * (t - low))) -> (forall t, v t = b * (t - high)) ->
  b * D <= eps -> forall y t t', low <= y <= high -> low <= t <= high -> low <= t' <= high -> Rabs (t - t') <= D -> p y t <= exp eps * p y t'.
Proof.
intros b0 c0 lh Dw pE fE uE vE le.
refine (cut_off p f u v b c low high D (1 - exp (- (b * (high - low)))) (1 - exp (- (b * (high - low)))) eps b0 c0 lh _ pE fE uE vE _ eq_refl _).
- lra.
- subst D. replace (b * (high - low - (high - low))) with 0 by ring. rewrite exp_0. ring.
- lra.
Qed.

Lemma floor_positive x : 0 <= x -> 0 <= floor x.
Proof. intros x0. unfold floor. apply IZR_le. apply Zlt_succ_le. apply lt_IZR. rewrite succ_IZR. destruct (base_Int_part x). lra. Qed.
