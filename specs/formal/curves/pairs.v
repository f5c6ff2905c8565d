(* What a privacy curve says of a mechanism (docs/theory/curves.md: privacy profile, least curve, kernel pair), and what a map of the outputs
   does to it: whoever sees less of the output sees a pair with a lower curve. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition curves.
Local Open Scope ereal_scope.

(* -- The curve at one epsilon, read off -- *)

Section Reading.
Context (R : realType) (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y).
Implicit Types (eps delta u l : R).
Notation H eps x x' := (profile (expR eps) (M x) (M x')).

Lemma dp_profile eps delta : dp_in_order N M eps delta <-> forall x x', N x x' -> (H eps x x' <= delta)%R.
Proof. by split=> h x x' xx; apply/close_profile; rewrite ?law_total//; exact: h. Qed.

Lemma curve_at_most eps u : (0 <= u)%R -> (forall x x', N x x' -> (H eps x x' <= u)%R) -> tight_delta_in_order N M eps <= u%:E.
Proof. by move=> u0 h; apply: ereal_inf_lb; exists u => //; split=> //; exact/dp_profile. Qed.

Lemma curve_at_least eps l x x' : N x x' -> (l <= H eps x x')%R -> l%:E <= tight_delta_in_order N M eps.
Proof.
by move=> xx h; apply: lb_ereal_inf => _ [t [_ /dp_profile/(_ x x' xx) ht] <-]; rewrite lee_fin (le_trans h).
Qed.

(* The neighbours may be in both orders, N = both N', or in one alone. u bounds the divergences of all neighbours at eps from above, l that of
   some neighbours from below. *)
(* Rule: privacy-profile. *)
Theorem privacy_profile eps delta : (0 <= eps)%R -> (0 <= delta)%R ->
  [/\ dp_in_order N M eps delta <-> (forall x x', N x x' -> hockey_stick eps (M x) (M x') <= delta%:E),
      dp_in_order N M eps delta <-> (forall x x', N x x' -> (H eps x x' <= delta)%R),
      forall u, (0 <= u)%R -> (forall x x', N x x' -> (H eps x x' <= u)%R) ->
        tight_delta_in_order N M eps <= u%:E /\ ((u <= delta)%R -> tight_epsilon_in_order N M delta <= eps%:E),
      forall l x x', N x x' -> (l <= H eps x x')%R ->
        l%:E <= tight_delta_in_order N M eps /\ ((delta < l)%R -> eps%:E <= tight_epsilon_in_order N M delta) &
      (forall e, (0 <= e)%R -> exists x x', N x x' /\ (delta < H e x x')%R) -> tight_epsilon_in_order N M delta = +oo].
Proof.
move=> e0 d0; split.
- exact: dp_in_order_hockey_stick.
- exact: dp_profile.
- move=> u u0 h; split=> [|ud]; first exact: curve_at_most.
  by apply: ereal_inf_lb; exists eps => //; split=> //; apply/dp_profile => x x' xx; rewrite (le_trans (h x x' xx)).
- move=> l x x' xx h; split=> [|dl]; first exact: curve_at_least h.
  apply: lb_ereal_inf => _ [e [_ /dp_profile/(_ x x' xx) he] <-]; rewrite lee_fin leNgt; apply/negP => ee.
  have : (H eps x x' <= H e x x')%R by apply: profile_falls; rewrite ?law_total ?expR_ge0 ?ler_expR ?(ltW ee).
  by move=> /(le_trans h)/le_trans/(_ he); rewrite leNgt dl.
- move=> h; apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [e [e1 /dp_profile he] <-].
  by have [x [x' [xx]]] := h e e1; rewrite ltNge he.
Qed.

(* At delta = 1 every epsilon is enough. *)
Lemma curve_le1 eps : tight_delta_in_order N M eps <= 1.
Proof. by apply: curve_at_most => // x x' xx; apply: profile_le1; rewrite ?law_total ?expR_ge0. Qed.

(* Of several bounds the least. *)
(* Rule: least-curve. *)
Theorem least_curve (I : finType) (u : I -> R -> R) (i0 : I) :
  (forall i a x x', (0 <= a)%R -> N x x' -> (profile a (M x) (M x') <= u i a)%R) ->
  forall a x x', (0 <= a)%R -> N x x' -> (profile a (M x) (M x') <= \big[Num.min/u i0 a]_i u i a)%R.
Proof. by move=> h a x x' a0 xx; elim/big_ind: _ => [|p q hp hq|i _]; rewrite ?le_minr ?hp ?hq ?h. Qed.
End Reading.

(* -- Maps of the outputs -- *)

Section Domination.
Context (R : realType).

(* A pair of laws is dominated by another: its curve is nowhere higher. *)
Definition dominated d (T : measurableType d) d' (Z : measurableType d') (P Q : {measure set T -> \bar R}) (P0 Q0 : {measure set Z -> \bar R}) :=
  forall a : R, (0 <= a)%R -> (profile a P Q <= profile a P0 Q0)%R.

Lemma profile_close d (T : measurableType d) (P Q : {measure set T -> \bar R}) (a : R) : P setT = 1 -> Q setT = 1 -> (0 < a)%R ->
  close (ln a) (profile a P Q) P Q.
Proof. by move=> P1 Q1 a0; apply/close_profile => //; rewrite lnK. Qed.

Lemma profile0 d (T : measurableType d) (P Q : {measure set T -> \bar R}) : P setT = 1 -> Q setT = 1 -> profile 0 P Q = 1%R.
Proof. by move=> P1 Q1; apply/eqP; rewrite eq_le profile_le1//= -{1}[1%R]subr0 profile_ge. Qed.

(* No map of the output, random or not, raises a curve. *)
Theorem pushed_dominated d1 (T : measurableType d1) d2 (U : measurableType d2) (P Q : {measure set T -> \bar R})
    (k : T -> {measure set U -> \bar R}) (mk : markov k) : P setT = 1 -> Q setT = 1 ->
  dominated [the measure _ _ of pushed mk P] [the measure _ _ of pushed mk Q] P Q.
Proof.
move=> P1 Q1 a; rewrite le_eqVlt => /predU1P[<-|a0].
  by rewrite !profile0//; exact: pushed_total.
rewrite -[X in profile X (pushed _ _)]lnK//; apply/close_profile; [exact: pushed_total|exact: pushed_total|].
apply: close_pushed => //; exact: profile_close.
Qed.
End Domination.

(* Finitely many bins. *)
Section Bins.
Context (R : realType) d (T : measurableType d) (I : finType) (bin : T -> I).
Hypothesis measurable_bin : forall i, measurable (bin @^-1` [set i]).

Lemma measurable_bins (J : pred I) : measurable [set y | J (bin y)].
Proof.
rewrite (_ : [set _ | _] = \big[setU/set0]_(i | J i) (bin @^-1` [set i])); first exact: bigsetU_measurable.
apply/seteqP; split=> [y /= Jy | y]; first by rewrite (bigD1 (bin y))//=; left.
by elim/big_ind: _ => // [A B hA hB [|] //| i Ji /= ->].
Qed.

Lemma mass_bins (mu : {measure set T -> \bar R}) (J : pred I) : mu [set y | J (bin y)] = \sum_(i | J i) mu (bin @^-1` [set i]).
Proof.
pose F (k : 'I_#|I|) := if J (enum_val k) then bin @^-1` [set enum_val k] else set0.
have E : [set y | J (bin y)] = \big[setU/set0]_(k < #|I|) F k.
  apply/seteqP; split=> [y /= Jy | y].
    by rewrite (bigD1 (enum_rank (bin y)))//=; left; rewrite /F enum_rankK Jy.
  by elim/big_ind: _ => // [A B hA hB [|] //| k _]; rewrite /F; case: ifP => // Jk /= ->.
have mF k : measurable (F k) by rewrite /F; case: ifP.
rewrite E measure_semi_additive_ord//; last first.
- by rewrite -E; exact: measurable_bins.
- apply/trivIsetP => i j _ _ ij; rewrite /F; apply/seteqP; split=> // y [].
  by case: ifP => // _; case: ifP => // _ /= -> /enum_val_inj ij'; move: ij; rewrite ij' eqxx.
rewrite big_mkcond/= [RHS]big_mkcond/= (reindex (fun k : 'I_#|I| => enum_val k))/=; last first.
  by exists enum_rank => i _; [exact: enum_valK | exact: enum_rankK].
by apply: eq_bigr => k _; rewrite /F; case: ifP; rewrite ?measure0.
Qed.

Lemma fine_bins (mu : {measure set T -> \bar R}) (J : pred I) : mu setT = 1 ->
  fine (mu [set y | J (bin y)]) = (\sum_(i | J i) fine (mu (bin @^-1` [set i])))%R.
Proof.
move=> m1; have E i : mu (bin @^-1` [set i]) = (fine (mu (bin @^-1` [set i])))%:E by rewrite fineK// mass_fin.
by rewrite mass_bins (eq_bigr _ (fun i _ => E i)) sumEFin.
Qed.

(* Whoever sees only the bin sees these two laws on the bins; the rest of the outputs is a bin too. *)
(* Rule: kernel-pair, lower. *)
Theorem bins_lower (P Q : {measure set T -> \bar R}) (a : R) : P setT = 1 -> Q setT = 1 -> (0 <= a)%R ->
  (\sum_i Num.max 0 (fine (P (bin @^-1` [set i])) - a * fine (Q (bin @^-1` [set i]))) <= profile a P Q)%R.
Proof.
move=> P1 Q1 a0; set p := fun i => fine (P (bin @^-1` [set i])); set q := fun i => fine (Q (bin @^-1` [set i])).
pose J i := (a * q i < p i)%R.
apply: le_trans (profile_event P1 Q1 a0 (measurable_bins J)).
rewrite !fine_bins// mulr_sumr -sumrB [leRHS]big_mkcond/=; apply: ler_sum => i _.
rewrite /J -/(p i) -/(q i); case: (ltP (a * q i)%R (p i)) => h; first by rewrite max_r// subr_ge0 ltW.
by rewrite max_l// subr_le0.
Qed.
End Bins.
