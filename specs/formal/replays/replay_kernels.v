(* Families of densities on an interval, the normaliser included, as replayed certificates describe them: Laplace noise that is cut off, and
   densities that are bounded from both sides. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra Psatz.
From dpverify Require Import definitions density losses cut_off tactics replay replay_parts.
Local Open Scope R_scope.

(* On an input the output lies in [low, high] with the density p(y, theta), theta in [first, last]; of neighbours theta differs by at most D. *)
Definition family_of_densities (p : R -> R -> R) (low high first last D : R) : described := fun X N d Y M =>
  exists (mu : measure_on Y) (place : Y -> R) (theta : X -> R),
    [/\ forall x, has_density mu (M x) (fun y => p (place y) (theta x)), forall y, low <= place y <= high, forall x, first <= theta x <= last &
        forall x x', N x x' -> Rabs (theta x - theta x') <= D].

Lemma holds_family_of_densities p low high first last D eps :
  (forall y t t', low <= y <= high -> first <= t <= last -> first <= t' <= last -> Rabs (t - t') <= D -> p y t <= exp eps * p y t') ->
  holds (family_of_densities p low high first last D) eps.
Proof.
move=> H X N d Y M [mu [place [theta [Mp Py Tx ND]]]].
apply: (replay_densities Mp) => x x' y xx; apply: H => //.
by case: xx => /ND //; rewrite Rabs_minus_sym.
Qed.

(* A density between two numbers. *)
Lemma holds_bounded_density p low high first last D a b eps :
  (forall y t, low <= y <= high -> first <= t <= last -> a <= p y t <= b) -> b <= exp eps * a ->
  holds (family_of_densities p low high first last D) eps.
Proof.
move=> H ab; apply: holds_family_of_densities => y t t' hy ht ht' _.
have [_ h1] := H y t hy ht; have [h2 _] := H y t' hy ht'.
apply: Rle_trans h1 (Rle_trans _ _ _ ab _); apply: Rmult_le_compat_l => //; left; exact: exp_pos.
Qed.

(* Laplace noise that is cut off at both ends. *)
Theorem holds_cut_off (p : R -> R -> R) (f : R -> R -> R) (u v : R -> R) (b c low high D massD mass0 eps : R) :
  0 < b -> 0 < c -> low < high -> D <= high - low ->
  (forall y t, p y t = exp (f y t) / (c * (2 - exp (u t) - exp (v t)))) ->
  (forall y t, f y t = - (b * Rabs (y - t))) -> (forall t, u t = - (b * (t - low))) -> (forall t, v t = b * (t - high)) ->
  2 - exp (- (b * D)) - exp (b * (D - (high - low))) = massD -> 1 - exp (- (b * (high - low))) = mass0 ->
  b * D + (ln massD - ln mass0) <= eps ->
  holds (family_of_densities p low high low high D) eps.
Proof.
move=> b0 c0 lh Dw pE fE uE vE mD m0 le; apply: holds_family_of_densities.
exact: (cut_off p f u v b c low high D massD mass0 eps b0 c0 lh Dw pE fE uE vE mD m0 le).
Qed.

(* Any two inputs: the whole interval apart. *)
Theorem holds_cut_off_any (p : R -> R -> R) (f : R -> R -> R) (u v : R -> R) (b c low high D eps : R) :
  0 < b -> 0 < c -> low < high -> D = high - low ->
  (forall y t, p y t = exp (f y t) / (c * (2 - exp (u t) - exp (v t)))) ->
  (forall y t, f y t = - (b * Rabs (y - t))) -> (forall t, u t = - (b * (t - low))) -> (forall t, v t = b * (t - high)) ->
  b * D <= eps -> holds (family_of_densities p low high low high D) eps.
Proof.
move=> b0 c0 lh Dw pE fE uE vE le; apply: holds_family_of_densities.
exact: (cut_off_any p f u v b c low high D eps b0 c0 lh Dw pE fE uE vE le).
Qed.

(* A density of minima, maxima and whole parts of sizes lies between two numbers. *)
Ltac between :=
  intros y theta y_within theta_within;
  repeat match goal with |- context [floor (Rabs ?x)] =>
    let size := fresh in pose proof (floor_positive (Rabs x) (Rabs_pos x)) as size; revert size; generalize (floor (Rabs x)) end;
  intros; unfold Rmin, Rmax; repeat match goal with |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b) end; lra.

(* 2 - e^u - e^v, where u and v are numbers that are written in other ways. *)
Ltac replace_exponents :=
  repeat match goal with |- ?l = ?r =>
    match l with context [exp ?a] =>
      match r with context [exp ?a'] => progress (replace (exp a) with (exp a') by (f_equal; lra)) end end end; ring.
