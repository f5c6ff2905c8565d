(* The decision procedures that replayed certificates call: signs, densities as exponentials, equalities of squares, comparisons. *)
From Coq Require Import Reals Lra Psatz.
From Interval Require Import Tactic.
From Coquelicot Require Import Coquelicot.
From dpverify Require Import losses.
Local Open Scope R_scope.

Lemma ln_quotient a b : 0 < a -> 0 < b -> ln (a / b) = ln a - ln b.
Proof. intros. unfold Rdiv. rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat; ring. Qed.
Lemma ln_natural_power a n : 0 < a -> ln (a ^ n) = INR n * ln a.
Proof.
intros a0. induction n as [|n IH]; [simpl; rewrite ln_1; ring|].
rewrite S_INR. simpl pow. rewrite ln_mult, IH; auto using pow_lt. ring.
Qed.
Lemma cosh_pos x : 0 < cosh x.
Proof. unfold cosh. pose proof (exp_pos x). pose proof (exp_pos (- x)). lra. Qed.
Lemma ln_le_compat a b : 0 < a -> a <= b -> ln a <= ln b.
Proof. intros a0 [lt | ->]; [left; now apply ln_increasing | right; reflexivity]. Qed.

Lemma exp_of_multiple_ln x n : 0 < x -> exp (IZR (Z.of_nat n) * ln x) = x ^ n.
Proof. intros. rewrite <- INR_IZR_INZ, <- ln_natural_power by auto. apply exp_ln. now apply pow_lt. Qed.

(* The greater of two, and the logarithm of a line above a number that is at least 0. *)
Lemma moves_max (A : R -> Prop) (h k : R -> R) D m n w :
  moves A h D m -> moves A k D n -> m <= w -> n <= w -> moves A (fun r => Rmax (h r) (k r)) D w.
Proof.
intros H K mw nw a b Aa Ab ab. pose proof (H a b Aa Ab ab). pose proof (K a b Aa Ab ab).
unfold Rmax. destruct (Rle_dec (h a) (k a)); destruct (Rle_dec (h b) (k b)); lra.
Qed.
Lemma moves_ln_of_line (A : R -> Prop) (u s : R -> R) a k D d : 0 < a -> 0 < k -> 0 <= d -> moves A s D d -> (forall r, 0 <= s r) ->
  (forall r, u r = a * s r + k) -> moves A (fun r => ln (u r)) D (ln ((a * d + k) / k)).
Proof.
intros a0 k0 d0 H pos U x y Ax Ay xy.
rewrite !U. apply (moves_ln_linear (fun r => a * r + k) a k d a0 k0 d0 (fun r => eq_refl)); [apply pos | apply pos |].
now apply (moves_sym A s D d).
Qed.

(* 0 < t or 0 <= t, by the form of t and what is known. *)
Ltac positive :=
  unfold half_line, line in *;
  first [ lra | structural | nra | (unfold arcsinh; interval) ]
with structural :=
  lazymatch goal with
  | |- 0 < exp _ => apply exp_pos
  | |- 0 < Rpower _ _ => apply exp_pos
  | |- 0 < cosh _ => apply cosh_pos
  | |- 0 < INR _ => apply lt_0_INR; lia
  | |- 0 <= INR _ => apply pos_INR
  | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 <= Rabs _ => apply Rabs_pos
  | |- 0 < / _ => apply Rinv_0_lt_compat; positive
  | |- 0 <= / _ => left; apply Rinv_0_lt_compat; positive
  | |- 0 < _ / _ => apply Rdiv_lt_0_compat; positive
  | |- 0 <= _ / _ => apply Rmult_le_pos; [positive | left; apply Rinv_0_lt_compat; positive]
  | |- 0 < _ * _ => apply Rmult_lt_0_compat; positive
  | |- 0 <= _ * _ => apply Rmult_le_pos; positive
  | |- 0 < _ ^ _ => apply pow_lt; positive
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= _ ^ _ => apply pow_le; positive
  | |- 0 < _ + _ => first [ apply Rplus_lt_0_compat; positive | apply Rplus_le_lt_0_compat; positive | apply Rplus_lt_le_0_compat; positive ]
  | |- 0 <= _ + _ => apply Rplus_le_le_0_compat; positive
  | |- _ <> 0 => apply Rgt_not_eq; unfold Rgt; positive
  end.

(* The proof that a density is the exponential of something, by its form. *)
Ltac as_exp t :=
  lazymatch t with
  | exp ?a => constr:(@eq_refl R (exp a))
  | IZR _ => constr:(exp_of_positive t ltac:(positive))
  | IZR _ / IZR _ => constr:(exp_of_positive t ltac:(positive))
  | ?a * ?b => let p := as_exp a in let q := as_exp b in constr:(exp_of_mult a b _ _ p q)
  | ?a / ?b => let p := as_exp a in let q := as_exp b in constr:(exp_of_div a b _ _ p q)
  | / ?a => let p := as_exp a in constr:(exp_of_inv a _ p)
  | ?a ^ ?n => let p := as_exp a in constr:(exp_of_pow a _ n p)
  | Rpower ?a ?y => let p := as_exp a in constr:(exp_of_power a _ y p)
  | sqrt ?a => let p := as_exp a in constr:(exp_of_sqrt a _ p)
  | _ => constr:(exp_of_positive t ltac:(positive))
  end.
Ltac same := first [ ring | (field; repeat split; positive) | (simpl INR; field; repeat split; positive) | (progress f_equal; same) ].
Ltac exponential :=
  match goal with |- ?x = exp ?e => let p := as_exp x in refine (eq_trans p _); f_equal; rewrite ?ln_1; same end.

(* The logarithm of a number in those of primes: top and bottom are products of powers. *)
Ltac logarithm top bottom :=
  match goal with |- ln ?x = _ =>
    replace x with (top / bottom) by lra; rewrite ln_quotient by positive; rewrite ?ln_mult by positive;
    rewrite ?ln_natural_power by positive; rewrite ?ln_1; simpl INR; ring
  end.

(* w w (4 k) = D D a, where roots may stand in w. *)
Ltac roots :=
  repeat match goal with
  | |- context [sqrt ?x] =>
    lazymatch goal with
    | H : sqrt x * sqrt x = x |- _ => fail
    | _ => assert (sqrt x * sqrt x = x) by (apply sqrt_sqrt; positive); assert (0 <= sqrt x) by apply sqrt_pos;
           first [ assert (0 < sqrt x) by (apply sqrt_lt_R0; positive) | idtac ]
    end
  end.
Ltac squares :=
  roots; first [ ring | (field; repeat split; positive) | nra
    | (field_simplify_eq; [ rewrite ?pow2_sqrt by positive; ring | repeat split; positive ])
    | (field_simplify_eq; [ nra | repeat split; positive ]) ].

(* a <= b where both are quotients: over one denominator. *)
Ltac quotients :=
  match goal with |- ?a <= ?b => cut (0 <= b - a); [lra|] end;
  field_simplify; [ apply Rmult_le_pos; [ | left; apply Rinv_0_lt_compat; positive ] | repeat split; positive .. ].

(* Squares of differences of positive parameters of the goal, times another: what inequalities between their means rest on. *)
Ltac named u := lazymatch goal with |- context [u] => idtac end.
Ltac squares_of_differences :=
  repeat match goal with
  | H : 0 < ?u, K : 0 < ?v |- _ =>
    lazymatch u with v => fail | _ => named u; named v end;
    lazymatch goal with P : 0 <= u * (u - v) ^ 2 |- _ => fail | _ => idtac end;
    assert (0 <= u * (u - v) ^ 2) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ])
  end;
  repeat match goal with
  | H : 0 < ?u, K : 0 < ?v, L : 0 < ?w |- _ =>
    lazymatch goal with P : 0 <= u * (v - w) ^ 2 |- _ => fail | _ => idtac end;
    lazymatch u with v => fail | w => fail | _ => named u end; lazymatch v with w => fail | _ => named v; named w end;
    assert (0 <= u * (v - w) ^ 2) by (apply Rmult_le_pos; [ lra | apply pow2_ge_0 ])
  end.
(* What polynomials that are no sums of squares rest on: for positive u and v squares of u v - 1 and of u - v, times products of u v. *)
Ltac squares_of_products :=
  repeat match goal with
  | H : 0 < ?u, K : 0 < ?v |- _ =>
    lazymatch u with v => fail | _ => named u; named v end;
    lazymatch goal with P : 0 <= (u * v) ^ 2 * (u - v) ^ 2 |- _ => fail | P : 0 <= (v * u) ^ 2 * (v - u) ^ 2 |- _ => fail | _ => idtac end;
    assert (0 <= (u * v) ^ 2 * (u - v) ^ 2) by (apply Rmult_le_pos; apply pow2_ge_0);
    assert (0 <= (u * v - 1) ^ 2) by apply pow2_ge_0;
    assert (0 <= (u * v) * (u * v - 1) ^ 2) by (apply Rmult_le_pos; [ left; apply Rmult_lt_0_compat; assumption | apply pow2_ge_0 ])
  end.
Ltac inequality :=
  apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|];
  first [ (squares_of_differences; lra) | (squares_of_products; lra) | (quotients; squares_of_differences; lra) ].

(* exp (ln x) is x. *)
Ltac exponentials_of_logarithms := rewrite ?exp_ln by positive.

(* a <= b. *)
Ltac below :=
  first [ lra | (right; same) | interval | (unfold arcsinh, cosh, sinh, Rpower; interval) | (roots; nra)
    | (right; roots; squares) | (rewrite !ln_quotient by interval; lra) | inequality | (quotients; nra) ].

(* exp (k u) as a power of exp u. *)
Ltac multiple :=
  lazymatch goal with
  | |- _ ^ _ = exp _ => symmetry; multiple
  | |- / _ ^ _ = exp _ => symmetry; multiple
  | |- exp ?v = exp ?u ^ ?n => rewrite (exp_of_pow (exp u) u n eq_refl); f_equal; simpl INR; lra
  | |- exp ?v = / exp ?u ^ ?n => rewrite (exp_of_pow (exp u) u n eq_refl), <- exp_Ropp; f_equal; simpl INR; lra
  end.

(* The exponential of a sum, as a product. *)
Ltac spread := unfold Rminus; rewrite ?exp_plus, ?exp_Ropp, ?exp_0; rewrite ?exp_ln by positive.

(* Sums of exponentials of a positive number and its double: as polynomials in how much the exponential is above 1. *)
Lemma exp_double x : exp (2 * x) = exp x * exp x.
Proof. rewrite <- exp_plus. f_equal. ring. Qed.
Lemma exp_above_1 x : 0 < x -> exists d, 0 < d /\ exp x = 1 + d.
Proof. intros H. exists (exp x - 1). pose proof (exp_increasing 0 x H) as I. rewrite exp_0 in I. lra. Qed.
Ltac sums_of_exponentials :=
  rewrite ?exp_double;
  match goal with H : 0 < ?b |- context [exp ?b] =>
    let d := fresh "d" in let d0 := fresh in let E := fresh in destruct (exp_above_1 b H) as (d & d0 & E); rewrite !E; clear E end;
  quotients; first [ positive | nra ].

(* The cells of a table: each is compared by itself. *)
Ltac cell :=
  rewrite ?exp_plus, ?exp_Ropp, ?exp_0; rewrite ?exp_ln by positive;
  first [ lra | interval | (unfold Rpower; interval)
    | (right; field; repeat split; positive)
    | (rewrite ?(exp_of_multiple_ln _ 2%nat : _ -> exp (2 * ln _) = _), ?(exp_of_multiple_ln _ 3%nat : _ -> exp (3 * ln _) = _), ?(exp_of_multiple_ln _ 4%nat : _ -> exp (4 * ln _) = _) by lra; lra)
    | (left; field_simplify; positive) | nra | sums_of_exponentials | (quotients; first [ positive | nra ]) ].

(* Continuity at a point. *)
Ltac continuous :=
  first [ reg | (apply continuity_pt_sqrt; lra)
    | (apply continuity_pt_filterlim; apply (ex_derive_continuous (V := R_NormedModule)); auto_derive;
       repeat split; positive) ].

(* A pair that is listed, in one order or the other. *)
Ltac in_list := first [ left; reflexivity | right; in_list ].
Ltac one_of := first [ (left; cbn; in_list) | (right; cbn; in_list) ].

(* v <= h (0 + D) - h 0. *)
Ltac at_zero :=
  rewrite ?sqrt_0; rewrite ?Rplus_0_l; unfold Rdiv; rewrite ?Rinv_1, ?Rmult_1_r;
  first [ lra | (rewrite ?sqrt_1; lra) | below | (field_simplify; lra) | nra ].
