(* A guarantee of one order of two neighbours alone (docs/theory/composition.md, one-order guarantee): if P(S) <= e^eps0 Q(S) for every S, then
   P(S) - e^eps Q(S) is at most (1 - e^(eps - eps0))_+, and no smaller bound holds of all such pairs. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition curves pairs likelihood dominating table_laws.

Section OneOrder.
Context (R : realType).


Definition one_order_curve (eps0 eps : R) : R := Num.max 0 (1 - expR (eps - eps0)).

Lemma one_order_pair d (T : measurableType d) (P Q : {measure set T -> \bar R}) (eps0 eps : R) : P setT = 1%E -> Q setT = 1%E ->
  close eps0 0 P Q -> profile (expR eps) P Q <= one_order_curve eps0 eps.
Proof.
move=> P1 Q1 PQ; apply: profile_le => S mS.
have /andP[p0 p1] := fine01 P1 mS; have /andP[q0 q1] := fine01 Q1 mS.
have := PQ S mS; rewrite adde0 -(fineK (mass_fin P1 mS)) -(fineK (mass_fin Q1 mS)) -EFinM lee_fin => h.
have e : expR eps = expR (eps - eps0) * expR eps0 by rewrite -expRD subrK.
have le : fine (P S) - expR eps * fine (Q S) <= fine (P S) * (1 - expR (eps - eps0)).
  rewrite e mulrBr mulr1 ler_add2l ler_opp2 -[leRHS]mulrA [leLHS]mulrC.
  by apply: ler_wpmul2l; [exact: expR_ge0|].
apply: (le_trans le); rewrite /one_order_curve le_maxr.
have [h1|h1] := leP (1 - expR (eps - eps0)) 0; apply/orP; [left|right].
- by rewrite mulr_ge0_le0.
- by rewrite -[leRHS]mul1r; apply: ler_wpmul2r; [exact: ltW|].
Qed.

(* Two laws on two outputs that meet the bound: the first is certain, the second is e^-eps0 as likely. *)
Section Met.
Context d (T : measurableType d) (pt : bool -> T) (P Q : {measure set T -> \bar R}) (eps0 : R).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall y, measurable [set pt y]) (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (e0 : 0 <= eps0).
Hypotheses (Pp : table_law pt P (fun b => if b then 1 else 0)) (Qq : table_law pt Q (fun b => if b then expR (- eps0) else 1 - expR (- eps0))).

Lemma one_order_met eps : profile (expR eps) P Q = one_order_curve eps0 eps.
Proof.
rewrite (table_profile pt_inj pt_measurable P1 Q1 Pp Qq (expR_ge0 eps)) big_bool/= -expRD sub0r.
have -> : Num.max 0 (- (expR eps * (1 - expR (- eps0)))) = 0 :> R.
  by apply/max_idPl; rewrite oppr_le0 mulr_ge0 ?expR_ge0// subr_ge0 -[leRHS](@expR0 R) ler_expR oppr_le0.
by rewrite addr0.
Qed.

Lemma one_order_close : close eps0 0 P Q.
Proof. by apply/(close_profile P1 Q1); rewrite one_order_met /one_order_curve subrr expR0 subrr maxxx. Qed.
End Met.

(* One case of the rule: neighbours in one order alone. *)
(* Rule: pure-guarantee, upper. *)
Theorem one_order_guarantee (X : Type) (N : relation X) d (T : measurableType d) (M : mechanism R X T) eps0 : dp_in_order N M eps0 0 ->
  (forall x x' eps, N x x' -> profile (expR eps) (M x) (M x') <= one_order_curve eps0 eps) /\
  forall eps delta, one_order_curve eps0 eps <= delta -> dp_in_order N M eps delta.
Proof.
move=> H; have h x x' eps : N x x' -> profile (expR eps) (M x) (M x') <= one_order_curve eps0 eps.
  by move=> xx; apply: one_order_pair; rewrite ?law_total//; exact: H.
by split=> // eps delta le; apply/dp_profile => x x' xx; apply: le_trans le; exact: h.
Qed.
End OneOrder.
