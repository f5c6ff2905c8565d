(* The best of a random number of runs (docs/theory/composition.md, best of): a part with finitely many outputs, the worst first, is run K times, and
   the last of its outputs in this order is told, or nothing where K = 0. f is the generating function of the law of K, df its derivative. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions arithmetic kernels composition groups joint_neighbours finite hoeffding.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* -- What the best is -- *)

Section Best.
Context (R : realType) (n : nat).
Implicit Types (f : R -> R) (p : 'I_n -> R).

(* The probabilities of all outputs before j, and up to it. *)
Definition before p (j : 'I_n) : R := \sum_(i < n | (i < j)%N) p i.
Definition upto p (j : 'I_n) : R := \sum_(i < n | (i <= j)%N) p i.

Lemma uptoE p j : upto p j = before p j + p j.
Proof.
rewrite /upto (bigD1 j)//= addrC; congr (_ + _); apply: eq_bigl => i.
by rewrite ltn_neqAle andbC.
Qed.

(* All k runs are at most j with the k-th power of the probability that one is: the mean of this over K is f (upto p j). *)
Lemma all_runs_at_most (k : nat) p (j : 'I_n) : \sum_(t : {ffun 'I_k -> 'I_n} | [forall i, (t i <= j)%N]) \prod_i p (t i) = upto p j ^+ k.
Proof.
have -> : upto p j ^+ k = \prod_(i : 'I_k) \sum_(a : 'I_n | (a <= j)%N) p a by rewrite prodr_const card_ord.
rewrite bigA_distr_big_dep.
by apply: eq_bigl => t; apply/forallP/familyP => h i; have := h i.
Qed.

(* So the best is at most j, or nothing is told, with probability f (upto p j), and it is j with the difference from there to before. *)
Definition best f p (y : option 'I_n) : R := if y is Some j then f (upto p j) - f (before p j) else f 0.
End Best.

(* -- Two neighbours -- *)

Section Bound.
Context (R : realType) (f df : R -> R).
Hypothesis der : forall x : R, 0 <= x <= 1 -> is_derive x 1 f (df x).

(* Where the slope is at most C times the other all along two steps, the first is at most C times the second. *)
Lemma step_bound (C s p s' p' : R) : 0 <= s -> 0 <= p -> s + p <= 1 -> 0 <= s' -> 0 <= p' -> s' + p' <= 1 ->
  (forall u, 0 <= u <= 1 -> p * df (s + p * u) <= C * (p' * df (s' + p' * u))) -> f (s + p) - f s <= C * (f (s' + p') - f s').
Proof.
move=> s0 p0 s1 s'0 p'0 s'1 h.
pose g u := C * f (s' + p' * u) + -1 * f (s + p * u).
pose dg u := C * (p' * df (s' + p' * u)) + -1 * (p * df (s + p * u)).
have inside (a b u : R) : 0 <= a -> 0 <= b -> a + b <= 1 -> 0 <= u <= 1 -> 0 <= a + b * u <= 1.
  move=> a0 b0 ab /andP[u0 u1]; rewrite addr_ge0 ?mulr_ge0//=; apply: le_trans ab; rewrite ler_add2l; exact: ler_pimulr.
have along (a b u : R) : 0 <= a -> 0 <= b -> a + b <= 1 -> 0 <= u <= 1 -> is_derive u 1 (fun u : R => f (a + b * u)) (b * df (a + b * u)).
  move=> a0 b0 ab u01; have d := der (inside a b u a0 b0 ab u01).
  have H : is_derive u (1 : R) (f \o (fun u : R => a + b * u)) (df (a + b * u) * b) by apply: is_derive1_comp => //; exact: der_line.
  by rewrite mulrC.
have dgP (u : R) : 0 <= u <= 1 -> is_derive u 1 g (dg u).
  move=> u01; apply: der_add.
  - by apply: (der_eq (der_mul (der_cst C u) (along s' p' u s'0 p'0 s'1 u01))); rewrite mul0r add0r.
  - by apply: (der_eq (der_mul (der_cst (-1) u) (along s p u s0 p0 s1 u01))); rewrite mul0r add0r.
have [u|u|c] := @MVT_segment R g dg 0 1 ler01.
- by rewrite in_itv/= => /andP[u0 u1]; apply: dgP; rewrite !ltW.
- apply: continuous_in_subspaceT => v; rewrite inE/= in_itv/= => v01.
  by have [d _] := dgP v v01; apply: differentiable_continuous; exact/derivable1_diffP.
- rewrite in_itv/= => c01; rewrite subr0 mulr1 => e.
  have : 0 <= dg c by rewrite /dg; have := h c c01; lra.
  by rewrite -e /g !mulr0 !addr0 !mulr1; lra.
Qed.
End Bound.

(* What two neighbours may have as probabilities of what is at most some output, or of a part of it besides. *)
Definition levels (R : realType) (e s s' : R) := [/\ 0 <= s <= 1, 0 <= s' <= 1, s <= expR e * s' & 1 - s' <= expR e * (1 - s)].

Section Mechanisms.
Context (R : realType) (X : Type) (N : relation X) (n : nat).
Context d (T : measurableType d) (M : mechanism R X T) (pt : 'I_n -> T) (p : X -> 'I_n -> R).
Context d' (T' : measurableType d') (B : mechanism R X T') (pt' : option 'I_n -> T').
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (p0 : forall x y, 0 <= p x y) (Mp : has_table M pt p).
Hypotheses (pt'_inj : injective pt') (pt'_measurable : forall y, measurable [set pt' y]).

Lemma probabilities_add_up x : \sum_y p x y = 1.
Proof.
apply/EFin_inj; rewrite -[RHS](law_total M x) Mp//; congr EFin; apply: eq_bigr => y _.
by rewrite indicE in_setT mulr1.
Qed.

Section Law.
Variables (f df : R -> R).
Hypotheses (der : forall x : R, 0 <= x <= 1 -> is_derive x 1 f (df x)) (df0 : forall x, 0 <= x <= 1 -> 0 <= df x) (f0 : 0 <= f 0).
Hypothesis Bp : has_table B pt' (fun x => best f (p x)).

(* For all laws of K: the greatest quotient of slopes at levels that two neighbours may have. *)
Theorem best_of_upper (e C : R) : 0 <= e -> 1 <= C -> (forall s s', levels e s s' -> df s <= C * df s') ->
  pure_dp N M e -> pure_dp N B (e + ln C).
Proof.
move=> e0 C1 h pure x x' xx; have C0 : 0 < C by lra.
have A1 : 1 <= expR e by rewrite -expR0 ler_expR.
apply/(table_close pt'_inj pt'_measurable Bp (e + ln C) x x') => -[j|] /=; rewrite expRD lnK ?posrE//; last first.
  by apply: ler_pemull => //; exact: mulr_ege1.
have le z w : both N z w -> forall y, p z y <= expR e * p w y.
  by move=> zw; apply/(table_close pt_inj pt_measurable Mp e z w); exact: pure.
have ll := le x x' xx; have rr := le x' x (bothC xx).
pose after z := \sum_(i < n | ~~ (i <= j)%N) p z i.
have one z : before (p z) j + p z j + after z = 1.
  by rewrite -uptoE -(probabilities_add_up z) [RHS](bigID (fun i : 'I_n => (i <= j)%N)).
have b0 z : 0 <= before (p z) j by exact: sumr_ge0.
have a0 z : 0 <= after z by exact: sumr_ge0.
have bb : before (p x) j <= expR e * before (p x') j by rewrite mulr_sumr; exact: ler_sum.
have aa : after x' <= expR e * after x by rewrite mulr_sumr; exact: ler_sum.
rewrite !uptoE; apply: (step_bound der) => //; first by have := one x; have := a0 x; lra.
  by have := one x'; have := a0 x'; lra.
move=> u /andP[u0 u1]; have px := p0 x j; have px' := p0 x' j.
have L : levels e (before (p x) j + p x j * u) (before (p x') j + p x' j * u).
  have w0 : 0 <= 1 - u by lra.
  have i z : 0 <= before (p z) j + p z j * u <= 1.
    have := mulr_ge0 (p0 z j) u0; have := mulr_ge0 (p0 z j) w0; have := one z; have := a0 z; have := b0 z => *.
    by apply/andP; split; lra.
  split=> //.
  - by have := ler_wpmul2r u0 (ll j); lra.
  - have -> : 1 - (before (p x) j + p x j * u) = after x + p x j * (1 - u) by have := one x; lra.
    have -> : 1 - (before (p x') j + p x' j * u) = after x' + p x' j * (1 - u) by have := one x'; lra.
    by have := ler_wpmul2r w0 (rr j); lra.
have [_ s'01 _ _] := L; have D0 := df0 s'01; have := h _ _ L.
set D := df _; set D' := df _ in D0 *; move=> DD.
have s1 := ler_wpmul2l px DD; have s2 := ler_wpmul2r (mulr_ge0 (ltW C0) D0) (ll j).
lra.
Qed.
End Law.

(* -- The laws in closed form -- *)

Lemma levels_weighted (e g s s' : R) : levels e s s' -> 0 <= g -> g <= 1 ->
  (1 + g * expR e) * (1 - (1 - g) * s') <= (g + expR e) * (1 - (1 - g) * s).
Proof.
move=> [_ _ h1 h2] g0 g1; set A := expR e in h1 h2 *.
have c1 : 0 <= (1 - g) * (A * (1 - s) - (1 - s')) by rewrite mulr_ge0//; lra.
have c2 : 0 <= (1 - g) * (g * (A * s' - s)) by rewrite !mulr_ge0//; lra.
lra.
Qed.

(* K at least 1, and P[K = k] in proportion to (1 - g)^k times the product of (j + c)/(j + 1) over j below k: in its slope the mean is m. The law of
   a geometric number is c = 1, that of a logarithmic one c = 0. *)
(* Rule: best-of, upper, in part: parts with finitely many outputs; that the slope of the generating function is this one is how a law is given. *)
Theorem best_of_negative_binomial (f : R -> R) (m g c e : R) : 0 <= m -> 0 < g -> g <= 1 -> -1 < c -> 0 <= e -> 0 <= f 0 ->
  (forall x : R, 0 <= x <= 1 -> is_derive x 1 f (m * expR ((1 + c) * ln (g / (1 - (1 - g) * x))))) ->
  has_table B pt' (fun x => best f (p x)) ->
  pure_dp N M e -> pure_dp N B (e + (1 + c) * ln ((g + expR e) / (1 + g * expR e))).
Proof.
move=> m0 g0 g1 c1 e0 f0 der Bp; have A1 : 1 <= expR e by rewrite -expR0 ler_expR.
have d0 : 0 < 1 + g * expR e by rewrite addr_gt0// mulr_gt0// expR_gt0.
have n0 : 0 < g + expR e by rewrite addr_gt0// expR_gt0.
set rho := _ / _; have r0 : 0 < rho by rewrite divr_gt0.
have c0 : 0 <= 1 + c by lra.
have r1 : 1 <= rho.
  by rewrite ler_pdivl_mulr// mul1r; have : 0 <= (1 - g) * (expR e - 1); [rewrite mulr_ge0//; lra | lra].
have D x : 0 <= x <= 1 -> 0 < 1 - (1 - g) * x.
  by move=> /andP[x0 x1]; have : 0 <= (1 - g) * (1 - x); [rewrite mulr_ge0//; lra | lra].
have -> : (1 + c) * ln rho = ln (expR ((1 + c) * ln rho)) by rewrite expK.
apply: (best_of_upper der _ f0 Bp) => //; first by move=> x _; rewrite mulr_ge0// expR_ge0.
  by rewrite -[leLHS]expR0 ler_expR mulr_ge0// ln_ge0.
move=> s s' L; have [s01 s'01 _ _] := L; have Ds := D s s01; have Ds' := D s' s'01.
rewrite mulrCA; apply: ler_wpmul2l => //; rewrite -expRD ler_expR -mulrDr; apply: ler_wpmul2l => //.
have q q0 : 0 < q0 -> 0 < g / q0 by move=> ?; rewrite divr_gt0.
have rq : 0 < rho * (g / (1 - (1 - g) * s')) by apply: mulr_gt0 => //; exact: q.
rewrite -lnM ?posrE ?q// ler_ln ?posrE ?q//.
have w : 1 - (1 - g) * s' <= rho * (1 - (1 - g) * s).
  by rewrite /rho [leRHS]mulrAC ler_pdivl_mulr// [leLHS]mulrC; apply: levels_weighted => //; exact: ltW.
set D1 := 1 - (1 - g) * s in Ds w *; set D2 := 1 - (1 - g) * s' in Ds' w *.
rewrite ler_pdivr_mulr// -[rho * _ * _]mulrA [g / D2 * D1]mulrAC mulrA ler_pdivl_mulr// [rho * _]mulrCA.
by apply: ler_wpmul2l => //; exact: ltW.
Qed.

(* K of a Poisson law. *)
Theorem best_of_poisson (m e : R) : 0 <= m -> 0 <= e -> has_table B pt' (fun x => best (fun y => expR (m * (y - 1))) (p x)) ->
  pure_dp N M e -> pure_dp N B (e + m * ((expR e - 1) / (expR e + 1))).
Proof.
move=> m0 e0 Bp; have A1 : 1 <= expR e by rewrite -expR0 ler_expR.
have A0 : 0 < expR e + 1 by lra.
set t := _ / _; have -> : m * t = ln (expR (m * t)) by rewrite expK.
have t0 : 0 <= t by rewrite divr_ge0//; lra.
apply: (@best_of_upper (fun y => expR (m * (y - 1))) (fun y => m * expR (m * (y - 1))) _ _ _ Bp) => //.
- move=> x _; apply: der_exp; have := der_line (- m) m x.
  by rewrite (_ : (fun y => - m + m * y) = (fun y => m * (y - 1)))//; apply/funext => y; lra.
- by move=> x _; rewrite mulr_ge0// expR_ge0.
- exact: expR_ge0.
- by rewrite -[leLHS]expR0 ler_expR mulr_ge0.
move=> s s' [_ _ h1 h2]; rewrite mulrCA; apply: ler_wpmul2l => //; rewrite -expRD ler_expR -mulrDr; apply: ler_wpmul2l => //.
by rewrite -ler_subl_addr ler_pdivl_mulr//; lra.
Qed.

(* k runs. *)
Lemma der_power (k : nat) (x : R) : is_derive x 1 (fun y : R => y ^+ k) (k%:R * x ^+ k.-1).
Proof.
elim: k => [|k IH]; first by apply: (der_eq (der_cst 1 x)); rewrite mul0r.
have := der_mul (der_id x) IH; rewrite (_ : (fun y => y * y ^+ k) = (fun y => y ^+ k.+1)); last by apply/funext => y; rewrite exprS.
move=> h; apply: (der_eq h) => /=; rewrite mul1r; case: k {IH h} => [|k]; first by rewrite !mul0r mulr0 addr0 mul1r.
by rewrite /= mulrCA -exprS -[in RHS]natr1 mulrDl mul1r addrC.
Qed.

Theorem best_of_fixed (k : nat) (e : R) : (0 < k)%N -> 0 <= e -> has_table B pt' (fun x => best (fun y => y ^+ k) (p x)) ->
  pure_dp N M e -> pure_dp N B (k%:R * e).
Proof.
case: k => // k _ e0 Bp; have A1 : 1 <= expR e by rewrite -expR0 ler_expR.
have -> : k.+1%:R * e = e + ln (expR (k%:R * e)) by rewrite expK -natr1; lra.
have E : expR (k%:R * e) = expR e ^+ k by rewrite expRMm.
apply: (@best_of_upper (fun y => y ^+ k.+1) (fun y => k.+1%:R * y ^+ k) _ _ _ Bp) => //.
- by move=> x _; exact: der_power.
- by move=> x /andP[x0 _]; rewrite mulr_ge0// exprn_ge0.
- by rewrite -[leLHS]expR0 ler_expR mulr_ge0.
move=> s s' [/andP[s0 _] /andP[s'0 _] h _]; rewrite E mulrCA; apply: ler_wpmul2l => //.
by rewrite -exprMn; apply: ler_expn2r; rewrite ?nnegrE ?mulr_ge0 ?expR_ge0.
Qed.
End Mechanisms.
