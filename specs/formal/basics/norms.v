(* Norms on a real vector space, as the rules use them: any function that obeys the triangle inequality and is homogeneous. No topology and
   no dimension is assumed. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic.

Section Norms.
Context (R : realType) (V : lmodType R).
Implicit Types (N : V -> R) (x y z : V).

Definition seminorm N := (forall x y, N (x + y) <= N x + N y) /\ (forall (a : R) x, N (a *: x) = `|a| * N x).
Definition norm N := seminorm N /\ (forall x, N x = 0 -> x = 0).

Lemma seminorm_of N : norm N -> seminorm N. Proof. by case. Qed.

Variable N : V -> R.
Hypothesis semi : seminorm N.

Lemma seminorm_triangle x y : N (x + y) <= N x + N y. Proof. by case: semi. Qed.
Lemma seminormZ a x : N (a *: x) = `|a| * N x. Proof. by case: semi. Qed.
Lemma seminorm0 : N 0 = 0. Proof. by rewrite -(scale0r 0) seminormZ normr0 mul0r. Qed.
Lemma seminormN x : N (- x) = N x. Proof. by rewrite -scaleN1r seminormZ normrN1 mul1r. Qed.
Lemma seminormC x y : N (x - y) = N (y - x). Proof. by rewrite -opprB seminormN. Qed.

Lemma seminorm_ge0 x : 0 <= N x.
Proof.
have := seminorm_triangle x (- x); rewrite subrr seminorm0 seminormN.
lra.
Qed.

Lemma seminorm_dist x y : `|N x - N y| <= N (x - y).
Proof.
have := seminorm_triangle (x - y) y; rewrite subrK => xy.
have := seminorm_triangle (y - x) x; rewrite subrK seminormC => yx.
by rewrite ler_norml; apply/andP; split; lra.
Qed.
End Norms.

(* The absolute value on the line. *)
Lemma absolute_value_norm (R : realType) : @norm R [lmodType R of R^o] (fun z : R => `|z|).
Proof.
split; first by split=> [x y | a x]; [exact: ler_norm_add | exact: normrM].
by move=> x /normr0P /eqP.
Qed.
