(* Measures of privacy (specs/definitions.md): Renyi divergences, zCDP and GDP of a mechanism, and what compositions and parts on disjoint data
   have (docs/theory/measures.md: added measures, parallel measures). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition groups curves pairs likelihood powers means renyi.

Section Mechanisms.
Context (R : realType) (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* For all neighbours in the order of N; both orders are those of `both N`. *)
Definition renyi_private (a t : R) := forall x x', N x x' -> renyi a t (M x) (M x').
Definition zcdp_private (rho : R) := forall x x', N x x' -> zcdp rho (M x) (M x').
(* mu-GDP, P0 and Q0 being N(0, 1) and N(mu, 1). *)
Definition gdp_private d' (Z : measurableType d') (P0 Q0 : {measure set Z -> \bar R}) := forall x x', N x x' -> dominated (M x) (M x') P0 Q0.
End Mechanisms.

(* Adaptive compositions: parts and their values, last part first. *)
Section Composition.
Context (R : realType) (X : Type) (N : relation X) (a : R).
Hypothesis a1 : 1 < a.

Inductive composed : forall d (Y : measurableType d), mechanism R X Y -> seq R -> Prop :=
| OnePart d (Y : measurableType d) (M : mechanism R X Y) t : renyi_private N M a t -> composed M [:: t]
| OneMore d (Y : measurableType d) (M : mechanism R X Y) ts d' (U : measurableType d') (k : X -> Y -> {measure set U -> \bar R})
    (mk : forall x, markov (k x)) t :
    composed M ts -> (forall x x' y, N x x' -> renyi a t (k x y) (k x' y)) ->
    composed (Mechanism (fun x => joint_total (mk x) (law_total M x))) (t :: ts).

(* Renyi divergences, and so zCDP, add up; added_measures has the whole rule. *)
(* Divergences of one order add up; renyi_rule has the whole rule. *)
Theorem renyi_composition d (Y : measurableType d) (M : mechanism R X Y) ts : composed M ts -> renyi_private N M a (\sum_(t <- ts) t).
Proof.
elim=> {d Y M ts} [d Y M t h x x' xx | d Y M ts d' U k mk t _ IH h x x' xx]; first by rewrite big_seq1; exact: h.
by rewrite big_cons addrC; apply: renyi_joint; rewrite ?law_total//; [exact: IH | move=> y; exact: h].
Qed.

(* A map of the output keeps every bound. *)
Theorem renyi_post_processing d (Y : measurableType d) (M : mechanism R X Y) d' (U : measurableType d') (k : Y -> {measure set U -> \bar R})
  (mk : markov k) t : renyi_private N M a t -> renyi_private N (post_processed M mk) a t.
Proof. by move=> h x x' xx; apply: (renyi_pushed mk); rewrite ?law_total//; exact: h. Qed.
End Composition.

Section Pairs.
Context (R : realType) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (P Q : {measure set T -> \bar R}) (k k' : T -> {measure set U -> \bar R}) (mk : markov k) (mk' : markov k').
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E).
Notation jointP := [the measure _ _ of joint mk P].
Notation jointQ := [the measure _ _ of joint mk' Q].

(* Whoever sees the first output alone sees no more. *)
Lemma test_first (g : T -> R) : test g -> test (fun z : T * U => g z.1).
Proof.
move=> [mg g01]; split=> [mT B mB|z]; last exact: g01.
rewrite setTI (_ : _ @^-1` B = (g @^-1` B) `*` setT); last by apply/seteqP; split=> -[x y] //= [].
by apply: measurableM => //; have := mg measurableT B mB; rewrite setTI.
Qed.

Lemma mean_first (W : {measure set T -> \bar R}) (l : T -> {measure set U -> \bar R}) (ml : markov l) g : W setT = 1%E -> test g ->
  mean [the measure _ _ of joint ml W] (fun z => g z.1) = mean W g.
Proof.
move=> W1 tg; rewrite (joint_mean ml W1 (test_first tg)); congr (mean W _); apply/funext => x.
by rewrite /inner/= mean_cst//; exact: ml.1.
Qed.

Lemma renyi_first a t : 1 < a -> renyi a t jointP jointQ -> renyi a t P Q.
Proof.
move=> a1 h g tg; have := h _ (test_first tg).
by rewrite (mean_first mk P1 (test_pow (share_gt0 a1) tg)) (mean_first mk' Q1 tg).
Qed.

(* The curve bounds test functions too. *)
Lemma profile_test (b : R) f : 0 <= b -> test f -> mean P f - b * mean Q f <= profile b P Q.
Proof.
rewrite le_eqVlt => /orP[/eqP <-|b0] tf; first by rewrite mul0r subr0 profile0// mean_le1.
have [mf f01] := tf; have := close_test_function P1 Q1 (profile_close P1 Q1 b0) mf f01.
by rewrite lnK// (mean_int P1 tf) (mean_int Q1 tf) -EFinM -EFinD lee_fin ler_subl_addl.
Qed.
End Pairs.

(* -- Parts on disjoint data -- *)

Section Parallel.
Context (R : realType) (X1 X2 : Type) d1 (T : measurableType d1) d2 (U : measurableType d2).
Variables (M1 : mechanism R X1 T) (M2 : mechanism R X2 U) (N1 : relation X1) (N2 : relation X2).
Notation whole := (parallel M1 M2).
Notation one_part := (in_one_part N1 N2).

Lemma parallel_fine x A : measurable A -> test (fun y => fine (M2 x.2 (xsection A y))) /\
  fine (whole x A) = mean (M1 x.1) (fun y => fine (M2 x.2 (xsection A y))).
Proof.
move=> mA; have tf : test (fun y => fine (M2 x.2 (xsection A y))).
  split=> [|y]; last by apply: fine01; [exact: law_total | exact: measurable_xsection].
  by apply: measurable_fun_comp => //; [exact: measurable_fun_fine | exact: (markov_sections (markov_constant T M2 x.2))].
split=> //; rewrite /mean; congr fine; apply: eq_integral => y _; rewrite fineK//.
by apply: mass_fin; [exact: law_total | exact: measurable_xsection].
Qed.

Lemma parallel_profile b x x' : 0 <= b -> x.2 = x'.2 -> profile b (whole x) (whole x') <= profile b (M1 x.1) (M1 x'.1).
Proof.
move=> b0 e; apply: profile_le => A mA; have [tf ->] := parallel_fine x mA; have [_ ->] := parallel_fine x' mA; rewrite -e.
by apply: profile_test; rewrite ?law_total.
Qed.

Lemma parallel_profile2 b x x' : 0 <= b -> x.1 = x'.1 -> profile b (whole x) (whole x') <= profile b (M2 x.2) (M2 x'.2).
Proof.
move=> b0 e; apply: profile_le => A mA; have [tf ->] := parallel_fine x mA; have [tf' ->] := parallel_fine x' mA; rewrite -e.
have H0 : 0 <= profile b (M2 x.2) (M2 x'.2) by apply: profile_ge0; rewrite ?law_total.
have := @mean_le_affine _ _ _ (M1 x.1) _ _ 1 0 b (profile b (M2 x.2) (M2 x'.2)) (law_total M1 x.1) tf tf'.
rewrite mul1r addr0 ler_subl_addl addrC => /(_ ler01 (lexx 0) b0 H0); rewrite addrC; apply => y.
rewrite mul1r addr0 -ler_subl_addl; apply: profile_event; rewrite ?law_total//; exact: measurable_xsection.
Qed.

Lemma parallel_profile_ge b x1 x1' x2 : 0 <= b -> profile b (M1 x1) (M1 x1') <= profile b (whole (x1, x2)) (whole (x1', x2)).
Proof.
move=> b0; apply: profile_le => S mS; have mA : measurable (S `*` (setT : set U)) by exact: measurableM.
have := profile_event (law_total whole (x1, x2)) (law_total whole (x1', x2)) b0 mA.
by rewrite /= !(joint_rectangle M2 _ _ mS measurableT) !law_total !mule1.
Qed.

(* The same of curves, at every a = e^eps: what bounds both parts bounds the whole, which is nowhere below a part. *)
(* Rule: parallel-composition, in part: two parts (more by repetition); neither the real histograms with log-concave noise nor that the greatest of the curves is that of one pair. *)
Theorem parallel_curves (H : R -> R) :
  ((forall b x x', 0 <= b -> N1 x x' -> profile b (M1 x) (M1 x') <= H b) -> (forall b x x', 0 <= b -> N2 x x' -> profile b (M2 x) (M2 x') <= H b) ->
    forall b x x', 0 <= b -> one_part x x' -> profile b (whole x) (whole x') <= H b) /\
  forall b x1 x1' x2, 0 <= b -> profile b (M1 x1) (M1 x1') <= profile b (whole (x1, x2)) (whole (x1', x2)).
Proof.
split=> [h1 h2 b x x' b0 [[xx e]|[e xx]]|b x1 x1' x2]; last exact: parallel_profile_ge.
- by apply: le_trans (parallel_profile b0 e) _; exact: h1.
- by apply: le_trans (parallel_profile2 b0 e) _; exact: h2.
Qed.

(* Two parts; more by repetition, and the second like the first by exchange. *)
(* Rule: added-measures, in part: of parts on disjoint parts of the data two (more by repetition). *)
Theorem parallel_measures :
  [/\ forall a t, 1 < a -> renyi_private N1 M1 a t -> renyi_private N2 M2 a t -> renyi_private one_part whole a t,
      forall rho, zcdp_private N1 M1 rho -> zcdp_private N2 M2 rho -> zcdp_private one_part whole rho,
      forall d' (Z : measurableType d') (P0 Q0 : {measure set Z -> \bar R}),
        gdp_private N1 M1 P0 Q0 -> gdp_private N2 M2 P0 Q0 -> gdp_private one_part whole P0 Q0 &
      forall x2 : X2,
        [/\ forall a t, 1 < a -> renyi_private one_part whole a t -> renyi_private N1 M1 a t,
            forall rho, zcdp_private one_part whole rho -> zcdp_private N1 M1 rho &
            forall d' (Z : measurableType d') (P0 Q0 : {measure set Z -> \bar R}), gdp_private one_part whole P0 Q0 -> gdp_private N1 M1 P0 Q0]].
Proof.
have up a t : 1 < a -> renyi_private N1 M1 a t -> renyi_private N2 M2 a t -> renyi_private one_part whole a t.
  move=> a1 h1 h2 x x' [[xx e]|[e xx]].
  - rewrite -[t]addr0; apply: renyi_joint; rewrite ?law_total//; first exact: h1.
    by move=> y; rewrite e; apply: renyi_refl; rewrite ?law_total.
  - rewrite -[t]add0r; apply: renyi_joint; rewrite ?law_total//; last by move=> y; exact: h2.
    by rewrite e; apply: renyi_refl; rewrite ?law_total.
have low (x2 : X2) a t : 1 < a -> renyi_private one_part whole a t -> renyi_private N1 M1 a t.
  move=> a1 h x x' xx; have hh := h (x, x2) (x', x2) (or_introl (conj xx erefl)).
  exact: (renyi_first (mk := markov_constant T M2 x2) (mk' := markov_constant T M2 x2) (law_total M1 x) (law_total M1 x') a1 hh).
split=> // [rho h1 h2 x x' xx a a1|d' Z P0 Q0 h1 h2 x x' xx b b0|x2].
- by apply: (up a (a * rho) a1 _ _ x x' xx) => y y' yy; [exact: h1 | exact: h2].
- case: xx => -[xx e]; first by apply: le_trans (parallel_profile b0 e) _; exact: h1.
  by apply: le_trans (parallel_profile2 b0 xx) _; exact: h2.
- split=> [a t|rho h x x' xx a a1|d' Z P0 Q0 h x x' xx b b0]; first exact: low.
    by apply: (low x2 a (a * rho) a1 _ x x' xx) => y y' yy; exact: h.
  by apply: le_trans (parallel_profile_ge x x' x2 b0) _; apply: h => //; left.
Qed.
End Parallel.
