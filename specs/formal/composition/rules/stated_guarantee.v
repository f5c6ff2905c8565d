(* What a stated guarantee says of the whole privacy curve (docs/theory/composition.md: several guarantees, pure guarantee):
   each (epsilon, delta) is a point above the curve, and so is its mirror image of the other order; the curve is below all chords. Pure
   epsilon is dominated by binary randomized response (Kairouz, Oh and Viswanath). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups joint_neighbours finite kary_response curves.
Local Open Scope ereal_scope.

Section Points.
Context (R : realType) d (T : measurableType d).
Variables (P Q : {measure set T -> \bar R}).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1).

(* The mirror image of a point (a, dl) of the other order. *)
(* Rule: stated-guarantee, upper, in part: the two points above the curve that an (epsilon, delta) gives; chord_above joins them. *)
Theorem mirror_point (a dl : R) : (0 < a)%R -> (profile a Q P <= dl)%R -> (profile a^-1 P Q <= 1 - (1 - dl) / a)%R.
Proof.
move=> a0 h; rewrite (profile_swap Q1 P1) ?invr_gt0// invrK.
by rewrite mulrBl mul1r opprB addrA [X in (_ <= X)%R]addrAC ler_add2l mulrC ler_wpmul2r// invr_ge0 ltW.
Qed.

Lemma pure_point e : close e 0 P Q -> (profile (expR e) P Q <= 0)%R.
Proof. by move=> h; apply/(close_profile P1 Q1). Qed.

(* A pure guarantee in both orders: the curve lies below the polygon of randomized response. *)
Lemma pure_polygon e (x : R) : (0 <= e)%R -> close e 0 P Q -> close e 0 Q P -> (0 <= x)%R ->
  (profile x P Q <= Num.max (1 - x) (Num.max 0 ((expR e - x) / (1 + expR e))))%R.
Proof.
move=> e0 PQ QP x0; set A := expR e.
have A1 : (1 <= A)%R by rewrite /A -expR0 ler_expR.
have A0 : (0 < A)%R by exact: expR_gt0.
have HA : (profile A P Q <= 0)%R by exact: pure_point.
have HB : (profile A^-1 P Q <= 1 - A^-1)%R.
  by have := mirror_point A0 ((close_profile Q1 P1 e 0).1 QP); rewrite subr0 mul1r.
have [xB|Bx] := leP x A^-1.
  have := chord_from_zero P1 Q1 (b := A^-1) (x := x) _ _ HB; rewrite invr_gt0 A0 x0 xB => /(_ isT isT) h.
  rewrite le_maxr; apply/orP; left; apply: (le_trans h).
  by rewrite invrK addrAC subrr add0r mulrN -mulrA divff ?gt_eqF// mulr1.
have [Ax|xA] := leP A x.
  by rewrite !le_maxr; apply/orP; right; rewrite (beyond_last P1 Q1 (ltW A0) Ax HA).
have BA : (A^-1 < A)%R by apply: lt_trans xA.
have := chord_above P1 Q1 (a := A^-1) (x := x) _ BA _ HB HA; rewrite invr_ge0 (ltW A0) (ltW Bx) (ltW xA) => /(_ isT isT) h.
rewrite !le_maxr; apply/orP; right; apply/orP; right; apply: (le_trans h).
have An1 : (A - 1 != 0)%R.
  by rewrite subr_eq0; apply: contraTneq BA => ->; rewrite invr1 ltxx.
have Ap1 : (1 + A != 0)%R by rewrite gt_eqF// addr_gt0.
have -> : (A - A^-1 = (A - 1) * (1 + A) / A)%R.
  by rewrite [(1 + A)%R]addrC -subr_sqr expr1n mulrBl expr2 mulfK ?gt_eqF// mul1r.
have -> : (0 - (1 - A^-1) = - ((A - 1) / A))%R by rewrite sub0r mulrBl divff ?gt_eqF// mul1r.
rewrite mulrN.
have -> : ((x - A^-1) / ((A - 1) * (1 + A) / A) * ((A - 1) / A) = (x - A^-1) / (1 + A))%R.
  rewrite !invfM invrK -!mulrA; congr (_ * _)%R; rewrite mulrCA -[RHS]mulr1; congr (_ * _)%R.
  by rewrite [(A * _)%R]mulrCA divff ?gt_eqF// mulr1 mulVf.
rewrite -[(1 - A^-1)%R](mulfK Ap1) -mulrBl ler_pdivr_mulr ?addr_gt0// divfK//.
have -> : ((1 - A^-1) * (1 + A) = A - A^-1)%R by rewrite mulrDr mulr1 mulrBl mul1r mulVf ?gt_eqF// addrC addrA subrK.
by rewrite opprB addrA subrK.
Qed.
End Points.

(* Binary randomized response with the odds A = e^eps: the truth with probability A/(1 + A). *)
Section Domination.
Context (R : realType) (X : Type) d (T : measurableType d) (M : mechanism R X T) (N : relation X).
Context d' (Z : measurableType d') (B : mechanism R bool Z) (pt : bool -> Z) (eps : R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (eps0 : (0 <= eps)%R).
Hypothesis BT : has_table B pt (response (expR eps / (1 + expR eps))).

Lemma hockey_stick_le (P Q : {measure set T -> \bar R}) (P' Q' : {measure set Z -> \bar R}) e :
  P setT = 1 -> Q setT = 1 -> P' setT = 1 -> Q' setT = 1 ->
  (profile (expR e) P Q <= profile (expR e) P' Q')%R -> hockey_stick e P Q <= hockey_stick e P' Q'.
Proof.
move=> P1 Q1 P'1 Q'1 h.
have f : hockey_stick e P' Q' \is a fin_num.
  rewrite ge0_fin_numE ?hockey_stick_ge0//; apply: le_lt_trans (hockey_stick_le1 _ _ P'1) _; exact: ltry.
rewrite -(fineK f); apply/close_hockey_stick => //; apply/close_profile => //; apply: (le_trans h).
by apply/close_profile => //; apply/close_hockey_stick => //; rewrite fineK.
Qed.

Lemma two_minus_one : (2%:R - 1 = 1 :> R)%R.
Proof. by rewrite mulr2n addrK. Qed.

Lemma response_profile (x : R) : (0 <= x)%R ->
  (Num.max (1 - x) (Num.max 0 ((expR eps - x) / (1 + expR eps))) <= profile x (B true) (B false))%R.
Proof.
move=> x0; have l := law_total B; have A1 : (1 + expR eps != 0)%R by rewrite gt_eqF// addr_gt0// expR_gt0.
rewrite !le_maxl profile_ge//= profile_ge0//=.
have := profile_event (l true) (l false) x0 (pt_measurable true).
rewrite !(table_point pt_inj pt_measurable BT)/= /response /= card_bool two_minus_one divr1; set A := expR eps.
have -> : (1 - A / (1 + A) = (1 + A)^-1)%R by rewrite -[X in (X - _)%R](divff A1) -mulrBl addrK mul1r.
by rewrite mulrBl.
Qed.

Theorem pure_is_dominated_by_randomized_response :
  pure_dp N M eps -> dominating_pair N M (B true) (B false).
Proof.
move=> H; split; rewrite ?law_total// => x x' xx e; apply: hockey_stick_le; rewrite ?law_total//.
apply: le_trans (response_profile (expR_ge0 e)).
by apply: pure_polygon; rewrite ?law_total ?expR_ge0//; [exact: H | apply: H; exact: bothC].
Qed.

(* The curve of binary randomized response. *)
(* One binary response, at every epsilon; closed_profile has all cases. *)
Theorem randomized_response_curve e :
  profile (expR e) (B true) (B false) = Num.max (1 - expR e)%R (Num.max 0%R ((expR eps - expR e) / (1 + expR eps))%R).
Proof.
have l := law_total B; have A0 : (0 < 1 + expR eps)%R by rewrite addr_gt0// expR_gt0.
have p0 (x y : bool) : (0 <= response (expR eps / (1 + expR eps)) x y)%R.
  apply: response_ge0; rewrite ?card_bool//; first by apply: divr_ge0; [exact: expR_ge0 | exact: ltW].
  by rewrite ler_pdivr_mulr// mul1r ler_addr ler01.
have A1 : (1 <= expR eps)%R by rewrite -expR0 ler_expR.
have C x x' : close eps 0 (B x) (B x').
  apply/(table_close pt_inj pt_measurable BT eps x x') => y; rewrite /response card_bool two_minus_one.
  have -> : (1 - expR eps / (1 + expR eps) = (1 + expR eps)^-1)%R.
    by rewrite -[X in (X - _)%R](divff (lt0r_neq0 A0)) -mulrBl addrK mul1r.
  have Ai : (0 <= (1 + expR eps)^-1)%R by rewrite invr_ge0 ltW.
  rewrite divr1; case: ifP => _; case: ifP => _.
  - by apply: ler_pemull => //; apply: divr_ge0; [exact: expR_ge0 | exact: ltW].
  - by [].
  - by rewrite mulrA; apply: ler_pemull => //; exact: mulr_ege1.
  - exact: ler_pemull.
apply/eqP; rewrite eq_le response_profile ?expR_ge0// andbT.
by apply: pure_polygon; rewrite ?l ?expR_ge0//; apply: C.
Qed.
End Domination.
