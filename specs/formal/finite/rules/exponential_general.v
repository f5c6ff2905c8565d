(* The exponential mechanism (docs/theory/finite.md, exponential general) over any base measure: 2 beta D, or beta D where the normaliser
   does not depend on the input or all scores move the same way. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density kernels composition groups joint_neighbours finite.
Local Open Scope ereal_scope.

Section Exponential.
Context (R : realType) (X : Type) d (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Variables (M : mechanism R X Y) (N : relation X) (u : X -> Y -> R) (beta D : R) (z : X -> R).
Hypothesis beta0 : (0 <= beta)%R.
Hypothesis u_measurable : forall x, measurable_fun setT (fun y => expR (beta * u x y)%R).

(* The normaliser z x is the integral of the weights, positive and finite. *)
Hypothesis zE : forall x, \int[mu]_y (expR (beta * u x y))%:E = (z x)%:E.
Hypothesis z0 : forall x, (0 < z x)%R.
Hypothesis Mp : forall x, has_density mu (M x) (fun y => expR (beta * u x y) / z x)%R.

Lemma weights_close x x' c : (forall y, u x y - u x' y <= c)%R -> (z x <= expR (beta * c) * z x')%R.
Proof.
move=> h; rewrite -lee_fin EFinM -!zE -ge0_integralM ?lee_fin ?expR_ge0//; last 2 first.
- exact/EFin_measurable_fun.
- by move=> y _; rewrite lee_fin expR_ge0.
apply: ge0_le_integral => //.
- by move=> y _; rewrite lee_fin expR_ge0.
- exact/EFin_measurable_fun.
- by move=> y _; rewrite -EFinM lee_fin mulr_ge0// expR_ge0.
- by apply: measurable_funeM; exact/EFin_measurable_fun.
- by move=> y _; rewrite -EFinM lee_fin -expRD ler_expR -mulrDr ler_wpmul2l// -ler_subl_addr.
Qed.

(* The exponent moves by at most beta a, the normaliser by at most a factor e^(beta b). *)
Lemma exponential_close x x' a b : (forall y, u x y - u x' y <= a)%R -> (z x' <= expR (beta * b) * z x)%R ->
  close (beta * (a + b)) 0 (M x) (M x').
Proof.
move=> ha hb; apply: (close_of_ratio (Mp x) (Mp x')); apply: aeW => y.
rewrite mulrDr expRD ler_pdivr_mulr// mulrA -mulrA mulrACA.
set A := (expR (beta * a) * expR (beta * u x' y))%R; set B := expR (beta * b).
have -> : (A * (B / z x') * z x = A * (B * z x / z x'))%R by rewrite -mulrA; congr (_ * _)%R; rewrite mulrAC.
rewrite {}/A {}/B.
apply: (@le_trans _ _ (expR (beta * a) * expR (beta * u x' y))%R).
  by rewrite -expRD ler_expR -mulrDr ler_wpmul2l// -ler_subl_addr.
by apply: ler_pemulr; [rewrite mulr_ge0// expR_ge0 | rewrite ler_pdivl_mulr// mul1r].
Qed.

(* Rule: exponential-general, upper. *)
Theorem exponential_general : (forall x x', both N x x' -> forall y, `|u x y - u x' y| <= D)%R -> pure_dp N M (2 * beta * D).
Proof.
move=> H x x' xx; rewrite -mulrA mulrCA -[(2 * D)%R]mulrC mulr_natr mulr2n.
apply: exponential_close => [y|]; first by apply: le_trans (ler_norm _) _; exact: H.
by apply: weights_close => y; apply: le_trans (ler_norm _) _; apply: H; exact: bothC.
Qed.

(* The normaliser is the same for all inputs. *)
Theorem exponential_same_normaliser : (forall x x', z x = z x') ->
  (forall x x', both N x x' -> forall y, `|u x y - u x' y| <= D)%R -> pure_dp N M (beta * D).
Proof.
move=> zz H x x' xx; rewrite -[D]addr0; apply: exponential_close => [y|]; first by apply: le_trans (ler_norm _) _; exact: H.
by rewrite mulr0 expR0 mul1r (zz x' x).
Qed.

(* All scores move the same way. *)
Theorem exponential_monotone :
  (forall x x', N x x' -> forall y, 0 <= u x' y - u x y <= D)%R -> pure_dp N M (beta * D).
Proof.
move=> H x x' [xx|xx].
- rewrite -[D]add0r; apply: exponential_close => [y|].
    by rewrite subr_le0 -subr_ge0; case/andP: (H _ _ xx y).
  by apply: weights_close => y; case/andP: (H _ _ xx y).
- rewrite -[D]addr0; apply: exponential_close => [y|]; first by case/andP: (H _ _ xx y).
  by apply: weights_close => y; rewrite subr_le0 -subr_ge0; case/andP: (H _ _ xx y).
Qed.
End Exponential.

(* Scores that are minus the distance to the answer move by at most the distance of the answers. *)
Theorem exponential_metric (R : realType) (X Y : Type) (dist : Y -> Y -> R) (q : X -> Y) x x' (y : Y) :
  (forall a b, dist a b = dist b a) -> (forall a b c, dist a c <= dist a b + dist b c)%R ->
  (`|- dist (q x) y - - dist (q x') y| <= dist (q x) (q x'))%R.
Proof.
move=> sym tri; rewrite opprK ler_norml; apply/andP; split.
- by rewrite ler_oppl opprD opprK ler_subl_addr.
- by rewrite addrC ler_subl_addr (sym (q x)).
Qed.
