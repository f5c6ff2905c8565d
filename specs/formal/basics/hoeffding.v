(* Inequalities about exponentials that bounds in other measures rest on (docs/theory/composition.md, privacy measures: (2) and (3)): Hoeffding's
   lemma for a loss with two values, and that log cosh lies below its tangents as a function of the square. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions arithmetic powers.
Import numFieldNormedType.Exports.

Section Derivatives.
Context (R : realType).
Implicit Types (f g : R -> R) (y : R).

Lemma der_exp g (dg y : R) : is_derive y 1 g dg -> is_derive y 1 (fun y => expR (g y)) (dg * expR (g y)).
Proof. by move=> h; have H : is_derive y (1 : R) (@expR R \o g) (expR (g y) * dg); [exact: is_derive1_comp | rewrite mulrC]. Qed.

Lemma der_mul f g (df dg y : R) : is_derive y 1 f df -> is_derive y 1 g dg -> is_derive y 1 (fun y => f y * g y) (df * g y + f y * dg).
Proof.
move=> h1 h2; have H : is_derive y (1 : R) (fun y => f y * g y) (f y *: dg + g y *: df) by exact: is_deriveM.
by move: H; rewrite /GRing.scale/= addrC [g y * _]mulrC.
Qed.

Lemma der_add f g (df dg y : R) : is_derive y 1 f df -> is_derive y 1 g dg -> is_derive y 1 (fun y => f y + g y) (df + dg).
Proof. by move=> h1 h2; exact: is_deriveD. Qed.

Lemma der_id y : is_derive y 1 (fun y : R => y) 1. Proof. exact: is_derive_id. Qed.

Lemma der_cst (c y : R) : is_derive y 1 (fun _ : R => c) 0. Proof. exact: is_derive_cst. Qed.

Lemma der_line (b c y : R) : is_derive y 1 (fun y : R => b + c * y) c.
Proof.
by have := der_add (der_cst b y) (der_mul (der_cst c y) (der_id y)); rewrite mul0r !add0r mulr1.
Qed.

Lemma der_eq f (df df' y : R) : is_derive y 1 f df -> df = df' -> is_derive y 1 f df'. Proof. by move=> h <-. Qed.
End Derivatives.

Section Hoeffding.
Context (R : realType).
Implicit Types (x h z w : R).

(* How fast the tilted mean moves. *)
Lemma tilted_slope x h : 0 <= x -> x <= 1 -> 0 <= h -> x * (1 - x) * (expR h - 1) <= h / 4 * (x * expR h + (1 - x)).
Proof.
move=> x0 x1 h0; have v0 : 0 <= h / 4 by lra.
set E := expR (h / 2); have E0 : 0 < E by exact: expR_gt0.
have EE : expR h = E * E by rewrite -expRD; congr expR; lra.
have t : E - 1 <= h / 4 * (E + 1).
  have e1 : expR (h / 4) * expR (h / 4) = E by rewrite -expRD; congr expR; lra.
  have e2 : expR (h / 4) * expR (- (h / 4)) = 1 by rewrite -expRD subrr expR0.
  have := ler_wpmul2l (expR_ge0 (h / 4)) (tanh_le v0).
  have -> : expR (h / 4) * (h / 4 * (expR (h / 4) + expR (- (h / 4)))) =
    h / 4 * (expR (h / 4) * expR (h / 4) + expR (h / 4) * expR (- (h / 4))) by lra.
  by rewrite mulrBr e1 e2.
have sq : 0 <= (x * E - (1 - x)) ^+ 2 by exact: sqr_ge0.
have e : x * (E * E) + (1 - x) - x * (1 - x) * (E + 1) ^+ 2 = (x * E - (1 - x)) ^+ 2 by lra.
have xx : 0 <= x * (1 - x) by rewrite mulr_ge0// subr_ge0.
have h1 : x * (1 - x) * ((E - 1) * (E + 1)) <= x * (1 - x) * (h / 4 * (E + 1) * (E + 1)).
  by apply: ler_wpmul2l => //; apply: ler_wpmul2r => //; rewrite addr_ge0// ltW.
have h2 : h / 4 * (x * (1 - x) * (E + 1) ^+ 2) <= h / 4 * (x * (E * E) + (1 - x)) by apply: ler_wpmul2l => //; lra.
rewrite EE; lra.
Qed.

Lemma hoeffding_right x h : 0 <= x -> x <= 1 -> 0 <= h -> x * expR h + (1 - x) <= expR (x * h + h ^+ 2 / 8).
Proof.
move=> x0 x1 h0; pose g y := 0 + - x * y + - (8^-1) * (y * y).
pose f y := - ((1 - x) + x * expR y) * expR (g y).
pose df y := (y / 4 * (x * expR y + (1 - x)) - x * (1 - x) * (expR y - 1)) * expR (g y).
have der y : is_derive y 1 f (df y).
  have dg : is_derive y 1 g (- x - y / 4).
    apply: der_eq (der_add (der_line 0 (- x) y) (der_mul (der_cst (- (8^-1)) y) (der_mul (der_id y) (der_id y)))) _; lra.
  have d1 : is_derive y 1 (fun y => (1 - x) + x * expR y) (x * expR y).
    apply: der_eq (der_add (der_cst (1 - x) y) (der_mul (der_cst x y) (der_exp (der_id y)))) _; lra.
  have d2 : is_derive y 1 (fun y => - ((1 - x) + x * expR y)) (- (x * expR y)) by exact: is_deriveN.
  apply: der_eq (der_mul d2 (der_exp dg)) _; rewrite /df; lra.
have pos y : 0 <= y -> 0 <= df y by move=> y0; rewrite mulr_ge0 ?expR_ge0// subr_ge0 tilted_slope.
have := rising der pos h0; rewrite /f /g expR0 !mulr0 !addr0 expR0 mulr1 => le.
have e : expR (x * h + h ^+ 2 / 8) * expR (0 + - x * h + - (8^-1) * (h * h)) = 1.
  by rewrite -expRD -[RHS](@expR0 R); congr expR; lra.
move: e le; set A := expR _; set B := expR _ => e le.
have le' : (x * expR h + (1 - x)) * B <= 1 by lra.
by have := ler_wpmul2l (expR_ge0 _ : 0 <= A) le'; rewrite mulr1 mulrCA e mulr1.
Qed.

(* Hoeffding's lemma, for a loss with two values at the distance h. *)
Lemma hoeffding x h : 0 <= x -> x <= 1 -> x * expR h + (1 - x) <= expR (x * h + h ^+ 2 / 8).
Proof.
move=> x0 x1; have [h0|h0] := leP 0 h; first exact: hoeffding_right.
have y0 : 0 <= 1 - x by lra.
have y1 : 1 - x <= 1 by lra.
have h1 : 0 <= - h by lra.
have le := hoeffding_right y0 y1 h1.
have := ler_wpmul2l (expR_ge0 h) le; rewrite mulrDr mulrCA -!expRD subrr expR0.
have -> : h + ((1 - x) * - h + (- h) ^+ 2 / 8) = x * h + h ^+ 2 / 8 by lra.
lra.
Qed.

(* -- The hyperbolic cosine -- *)

Definition cosh z : R := (expR z + expR (- z)) / 2.
Definition sinh z : R := (expR z - expR (- z)) / 2.

Lemma cosh_gt0 z : 0 < cosh z. Proof. by rewrite divr_gt0// addr_gt0// expR_gt0. Qed.

Lemma der_opp (y : R) : is_derive y 1 (fun y : R => expR (- y)) (- expR (- y)).
Proof. by have := der_exp (is_deriveN (is_derive_id y (1 : R))); rewrite mulN1r. Qed.

Lemma der_cosh y : is_derive y 1 cosh (sinh y).
Proof. apply: der_eq (der_mul (der_add (is_derive_expR y) (der_opp y)) (der_cst 2^-1 y)) _; rewrite /sinh; lra. Qed.

Lemma der_sinh y : is_derive y 1 sinh (cosh y).
Proof.
have d : is_derive y 1 (fun y : R => - expR (- y)) (expR (- y)) by apply: der_eq (is_deriveN (der_opp y)) _; rewrite opprK.
apply: der_eq (der_mul (der_add (is_derive_expR y) d) (der_cst 2^-1 y)) _; rewrite /cosh; lra.
Qed.

Lemma sinh_cosh_le z : 0 <= z -> sinh z <= z * cosh z.
Proof. by move=> z0; have := tanh_le z0; rewrite /sinh /cosh; lra. Qed.

Lemma sinh_ge0 z : 0 <= z -> 0 <= sinh z.
Proof. by move=> z0; have := sinh_ge z0; rewrite /sinh; lra. Qed.

Lemma cosh_rises z t : 0 <= z -> 0 <= t -> cosh z <= cosh (z + t).
Proof.
move=> z0 t0; pose f y := cosh (z + 1 * y); pose df y := sinh (z + 1 * y).
have der y : is_derive y 1 f (df y).
  have H : is_derive y (1 : R) (cosh \o (fun y => z + 1 * y)) (sinh (z + 1 * y) * 1).
    by apply: is_derive1_comp; [exact: der_cosh | exact: der_line].
  by rewrite mulr1 in H.
have pos y : 0 <= y -> 0 <= df y by move=> y0; apply: sinh_ge0; rewrite mul1r addr_ge0.
by have := rising der pos t0; rewrite /f mulr0 addr0 mul1r.
Qed.

(* sinh z/z rises. *)
Lemma sinh_over b t : 0 <= b -> 0 <= t -> (b + t) * sinh b <= b * sinh (b + t).
Proof.
move=> b0 t0; pose f y := b * sinh (b + 1 * y) + (- (b * sinh b) + - sinh b * y).
pose df y := b * cosh (b + 1 * y) - sinh b.
have der y : is_derive y 1 f (df y).
  have H : is_derive y (1 : R) (sinh \o (fun y => b + 1 * y)) (cosh (b + 1 * y) * 1).
    by apply: is_derive1_comp; [exact: der_sinh | exact: der_line].
  apply: der_eq (der_add (der_mul (der_cst b y) H) (der_line (- (b * sinh b)) (- sinh b) y)) _; rewrite /df; lra.
have pos y : 0 <= y -> 0 <= df y.
  move=> y0; rewrite /df subr_ge0 mul1r; apply: (le_trans (sinh_cosh_le b0)); apply: ler_wpmul2l => //; exact: cosh_rises.
by have := rising der pos t0; rewrite /f mulr0 addr0 mul1r; lra.
Qed.

(* tanh z/z falls. *)
Lemma tanh_over w t : 0 <= w -> 0 <= t -> w * (sinh (w + t) * cosh w) <= (w + t) * (sinh w * cosh (w + t)).
Proof.
move=> w0 t0; have h := @sinh_over t (w + w) t0 (addr_ge0 w0 w0).
have i : expR w * expR (- w) = 1 by rewrite -expRD subrr expR0.
have i1 : expR w * expR (- w) * expR t = expR t by rewrite i mul1r.
have i2 : expR w * expR (- w) * expR (- t) = expR (- t) by rewrite i mul1r.
have e1 : sinh (w + t) * cosh w = (sinh (t + (w + w)) + sinh t) / 2 by rewrite /sinh /cosh !opprD !expRD; lra.
have e2 : sinh w * cosh (w + t) = (sinh (t + (w + w)) - sinh t) / 2 by rewrite /sinh /cosh !opprD !expRD; lra.
rewrite e1 e2; lra.
Qed.

(* As a function of the square log cosh lies below its tangent at w^2. *)
Lemma cosh_tangent w t : 0 < w -> 0 <= t -> cosh (w + t) <= cosh w * expR (((w + t) ^+ 2 - w ^+ 2) * (sinh w / cosh w / (2 * w))).
Proof.
move=> w0 t0; set k := sinh w / cosh w / (2 * w); have C := cosh_gt0 w.
have kE : k * (2 * w) * cosh w = sinh w by rewrite /k divfK ?divfK ?gt_eqF// mulr_gt0.
pose g y := 0 + (- (2 * w * k)) * y + - k * (y * y).
pose f y := - cosh (w + 1 * y) * expR (g y); pose df y := ((2 * w * k + 2 * k * y) * cosh (w + 1 * y) - sinh (w + 1 * y)) * expR (g y).
have der y : is_derive y 1 f (df y).
  have H : is_derive y (1 : R) (cosh \o (fun y => w + 1 * y)) (sinh (w + 1 * y) * 1).
    by apply: is_derive1_comp; [exact: der_cosh | exact: der_line].
  have dg : is_derive y 1 g (- (2 * w * k) - 2 * k * y).
    apply: der_eq (der_add (der_line 0 (- (2 * w * k)) y) (der_mul (der_cst (- k) y) (der_mul (der_id y) (der_id y)))) _; lra.
  have H' : is_derive y 1 (fun y => - cosh (w + 1 * y)) (- (sinh (w + 1 * y) * 1)) by exact: is_deriveN.
  apply: der_eq (der_mul H' (der_exp dg)) _; rewrite /df; lra.
have pos y : 0 <= y -> 0 <= df y.
  move=> y0; rewrite mulr_ge0 ?expR_ge0// subr_ge0 mul1r -(ler_pmul2l (mulr_gt0 w0 C)).
  have := tanh_over (ltW w0) y0.
  have -> : w * cosh w * ((2 * w * k + 2 * k * y) * cosh (w + y)) = (w + y) * (k * (2 * w) * cosh w * cosh (w + y)) by lra.
  rewrite kE; lra.
have := rising der pos t0; rewrite /f /g !mulr0 !addr0 expR0 mulr1 mul1r => le.
have e : expR (((w + t) ^+ 2 - w ^+ 2) * k) * expR (0 + - (2 * w * k) * t + - k * (t * t)) = 1.
  by rewrite -expRD -[RHS](@expR0 R); congr expR; lra.
move: e le; set A := expR _; set B := expR _ => e le.
have le' : cosh (w + t) * B <= cosh w by lra.
by have := ler_wpmul2l (expR_ge0 _ : 0 <= A) le'; rewrite mulrCA e mulr1 mulrC.
Qed.
End Hoeffding.
