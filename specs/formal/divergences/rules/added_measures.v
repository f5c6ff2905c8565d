(* Compositions in other measures (docs/theory/measures.md: added measures): divergences of one order and rho of zCDP add up over parts that may
   look at earlier outputs, and so do the squares of mu of GDP, at each pair of neighbours by itself; a map of the output keeps each bound; k runs of
   one mechanism have exactly k times its divergence and rho. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition groups curves pairs likelihood dominating powers means renyi measures.
From dpverify Require Import gaussian_curve laplace_curve normal_line gaussian_composition.
Import numFieldNormedType.Exports.

(* What a measure says of two laws. *)
Definition measured (R : realType) := forall d (Y : measurableType d), {measure set Y -> \bar R} -> {measure set Y -> \bar R} -> R -> Prop.

Section Parts.
Context (R : realType) (X : Type) (N : relation X).

(* Parts and their values, which may depend on the neighbours, the same two for every part; last part first. *)
Inductive adaptive (holds : measured R) : forall d (Y : measurableType d), mechanism R X Y -> (X -> X -> seq R) -> Prop :=
| FirstPart d (Y : measurableType d) (M : mechanism R X Y) t : (forall x x', N x x' -> 0 <= t x x') ->
    (forall x x', N x x' -> holds d Y (M x) (M x') (t x x')) -> adaptive holds M (fun x x' => [:: t x x'])
| NextPart d (Y : measurableType d) (M : mechanism R X Y) ts d' (U : measurableType d') (k : X -> Y -> {measure set U -> \bar R})
    (mk : forall x, markov (k x)) t : adaptive holds M ts -> (forall x x', N x x' -> 0 <= t x x') ->
    (forall x x' y, N x x' -> holds d' U (k x y) (k x' y) (t x x')) ->
    adaptive holds (Mechanism (fun x => joint_total (mk x) (law_total M x))) (fun x x' => t x x' :: ts x x').

Definition in_renyi (a : R) : measured R := fun d Y P Q t => renyi a t P Q.
Definition in_zcdp : measured R := fun d Y P Q rho => zcdp rho P Q.

Lemma adaptive_renyi a d (Y : measurableType d) (M : mechanism R X Y) ts x x' : 1 < a -> adaptive (in_renyi a) M ts -> N x x' ->
  renyi a (\sum_(t <- ts x x') t) (M x) (M x').
Proof.
move=> a1 parts xx; elim: parts => {d Y M ts} [d Y M t _ h | d Y M ts d' U k mk t _ IH _ h]; first by rewrite big_seq1; exact: h.
by rewrite big_cons addrC; apply: renyi_joint; rewrite ?law_total// => y; exact: h.
Qed.

Lemma adaptive_zcdp d (Y : measurableType d) (M : mechanism R X Y) ts x x' : adaptive in_zcdp M ts -> N x x' ->
  zcdp (\sum_(t <- ts x x') t) (M x) (M x').
Proof.
move=> parts xx a a1; elim: parts => {d Y M ts} [d Y M t _ h | d Y M ts d' U k mk t _ IH _ h]; first by rewrite big_seq1; exact: h.
by rewrite big_cons mulrDr addrC; apply: renyi_joint; rewrite ?law_total// => y; exact: h.
Qed.
End Parts.

(* -- Independent runs -- *)

Section Runs.
Context (R : realType) (a : R).
Hypothesis a1 : 1 < a.

(* A test function that shows a divergence above t. *)
Definition apart d (Y : measurableType d) (t : R) (P Q : {measure set Y -> \bar R}) :=
  exists g, test g /\ expR (share a * t) * pow (share a) (mean Q g) < mean P (fun y => pow (share a) (g y)).

Lemma apartP d (Y : measurableType d) t (P Q : {measure set Y -> \bar R}) : ~ renyi a t P Q <-> apart t P Q.
Proof.
split=> [h | [g [tg lt]] /(_ g tg)]; last by rewrite leNgt lt.
by apply: contrapT => no; apply: h => g tg; rewrite leNgt; apply/negP => lt; apply: no; exists g.
Qed.

Section Two.
Context d (Y : measurableType d) d' (U : measurableType d') (P Q : {measure set Y -> \bar R}) (V W : {measure set U -> \bar R}).
Hypotheses (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) (V1 : V setT = 1%E) (W1 : W setT = 1%E).

Lemma test_product (f : U -> R) (g : Y -> R) : test f -> test g -> test (fun z : U * Y => f z.1 * g z.2).
Proof.
move=> tf tg; split=> [|z]; last first.
  by rewrite mulr_ge0 ?(test_ge0 _ tf) ?(test_ge0 _ tg)//= mulr_ile1 ?(test_ge0 _ tf) ?(test_ge0 _ tg) ?(test_le1 _ tf) ?(test_le1 _ tg).
by apply: measurable_funM; [exact: (test_first Y tf).1 | exact: (test_second U tg).1].
Qed.

Lemma mean_product (A : {measure set Y -> \bar R}) (A1 : A setT = 1%E) (B : {measure set U -> \bar R}) f g : B setT = 1%E -> test f -> test g ->
  mean (product A1 B) (fun z => f z.1 * g z.2) = mean B f * mean A g.
Proof.
move=> B1 tf tg; rewrite (joint_mean (markov_law U A1) B1 (test_product tf tg)).
have g0 := mean_ge0 A tg; have E z : inner (fun=> A) (fun z => f z.1 * g z.2) z = f z * mean A g.
  apply: EFin_inj; have tz : test (fun y => f z * g y) by apply: test_scale => //; rewrite (test_ge0 _ tf) (test_le1 _ tf).
  rewrite /inner/= -(mean_int A1 tz); have := mean_affine A1 tg (test_ge0 z tf) (lexx 0); rewrite addr0 => <-.
  by apply: eq_integral => y _; rewrite addr0.
rewrite (_ : inner _ _ = fun z => f z * mean A g); last by apply/funext => z; exact: E.
apply: EFin_inj; have ts : test (fun z => f z * mean A g).
  by rewrite (_ : (fun z => _) = fun z => mean A g * f z); [apply: test_scale => //; rewrite g0 mean_le1 | apply/funext => z; rewrite mulrC].
rewrite -(mean_int B1 ts); have := mean_affine B1 tf g0 (lexx 0); rewrite addr0 [mean A g * _]mulrC => <-.
by apply: eq_integral => z _; rewrite addr0 mulrC.
Qed.

Lemma apart_product t t' : apart t P Q -> apart t' V W -> apart (t' + t) (product P1 V) (product Q1 W).
Proof.
move=> [g [tg lt]] [f [tf lt']]; exists (fun z => f z.1 * g z.2); split; first exact: test_product.
have s0 := share_gt0 a1; have pf := test_pow s0 tf; have pg := test_pow s0 tg.
rewrite (mean_product Q1 W1 tf tg) (powM _ (mean_ge0 W tf) (mean_ge0 Q tg)).
rewrite (_ : (fun z => _) = fun z : U * Y => pow (share a) (f z.1) * pow (share a) (g z.2)); last first.
  by apply/funext => z; rewrite powM// ?(test_ge0 _ tf) ?(test_ge0 _ tg).
rewrite (mean_product P1 V1 pf pg) mulrDr expRD mulrACA; apply: ltr_pmul => //; apply: mulr_ge0; rewrite ?expR_ge0//.
- rewrite /pow; case: ifP => // _; exact: expR_ge0.
- rewrite /pow; case: ifP => // _; exact: expR_ge0.
Qed.
End Two.

Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* k independent runs. *)
Inductive runs : nat -> forall d' (U : measurableType d'), mechanism R X U -> Prop :=
| OneRun : runs 1 M
| MoreRuns k d' (U : measurableType d') (K : mechanism R X U) : runs k K ->
    runs k.+1 (Mechanism (fun x => joint_total (markov_law Y (law_total K x)) (law_total M x))).

Lemma runs_upper k d' (U : measurableType d') (K : mechanism R X U) x x' t : runs k K -> renyi a t (M x) (M x') -> renyi a (k%:R * t) (K x) (K x').
Proof.
move=> r h; elim: r => {k d' U K} [|k d' U K _ IH]; first by rewrite mul1r.
by rewrite -addn1 natrD mulrDl mul1r addrC; apply: renyi_joint; rewrite ?law_total.
Qed.

Lemma runs_lower k d' (U : measurableType d') (K : mechanism R X U) x x' t : runs k K -> renyi a (k%:R * t) (K x) (K x') -> renyi a t (M x) (M x').
Proof.
move=> r; apply: contraPP => /apartP h; apply/apartP; elim: r => {k d' U K} [|k d' U K _ IH]; first by rewrite mul1r.
rewrite -addn1 natrD mulrDl mul1r addrC; exact: (apart_product (law_total K x) (law_total K x') (law_total M x) (law_total M x') IH h).
Qed.
End Runs.

(* -- The rule -- *)

Section Rule.
Context (R : realType) (X : Type) (N : relation X) (law : R -> {measure set [the measurableType _ of salgebraType (R.-ocitv.-measurable)] -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.

Definition in_gdp : measured R := fun d Y P Q mu => dominated P Q (law 0) (law mu).

Lemma adaptive_gdp d (Y : measurableType d) (M : mechanism R X Y) ts : adaptive N in_gdp M ts -> gaussian_parts law N M ts.
Proof.
elim=> {d Y M ts} [d Y M t t0 h | d Y M ts d' U k mk t _ IH t0 h].
- by apply: OneGaussian => x x' xx; split; [exact: t0 | exact: h].
- by apply: MoreGaussian.
Qed.

(* The greatest value over all neighbours of the sum at each: v; of what one mechanism that is run k times has it is k times its own. *)
(* Rule: added-measures. *)
Theorem added_measures d (Y : measurableType d) (M : mechanism R X Y) ts v : 0 <= v ->
  [/\ forall a, 1 < a -> adaptive N (in_renyi a) M ts -> (forall x x', N x x' -> \sum_(t <- ts x x') t <= v) -> renyi_private N M a v,
      adaptive N (@in_zcdp R) M ts -> (forall x x', N x x' -> \sum_(t <- ts x x') t <= v) -> zcdp_private N M v,
      adaptive N in_gdp M ts -> (forall x x', N x x' -> \sum_(t <- ts x x') t ^+ 2 <= v ^+ 2) -> gdp_private N M (law 0) (law v),
      forall d' (U : measurableType d') (f : Y -> {measure set U -> \bar R}) (mf : markov f),
        [/\ forall a, 1 < a -> renyi_private N M a v -> renyi_private N (post_processed M mf) a v,
            zcdp_private N M v -> zcdp_private N (post_processed M mf) v &
            gdp_private N M (law 0) (law v) -> gdp_private N (post_processed M mf) (law 0) (law v)] &
      forall k d' (U : measurableType d') (K : mechanism R X U), (0 < k)%N -> runs M k K ->
        (forall a t, 1 < a -> renyi_private N K a (k%:R * t) <-> renyi_private N M a t) /\
        forall rho, zcdp_private N K (k%:R * rho) <-> zcdp_private N M rho].
Proof.
move=> v0; split.
- by move=> a a1 parts most x x' xx; apply: (renyi_weaken a1 (most x x' xx)); exact: (adaptive_renyi a1 parts xx).
- move=> parts most x x' xx a a1; apply: (renyi_weaken a1 _ (adaptive_zcdp parts xx a1)).
  by apply: ler_wpmul2l; [exact: ltW (lt_trans ltr01 a1) | exact: most].
- by move=> parts most; have [up _ _] := gaussian_composition normal (adaptive_gdp parts) v0 most.
- move=> d' U f mf; split=> [a a1 h x x' xx|h x x' xx a a1|h x x' xx b b0].
  + exact: (renyi_pushed mf a1 (law_total M x) (law_total M x') (h x x' xx)).
  + exact: (renyi_pushed mf a1 (law_total M x) (law_total M x') (h x x' xx a a1)).
  + by apply: le_trans (pushed_dominated mf (law_total M x) (law_total M x') b0) _; exact: h.
- move=> k d' U K k0 r; split=> [a t a1|rho]; split=> h x x' xx.
  + exact: (runs_lower a1 r (h x x' xx)).
  + exact: (runs_upper a1 r (h x x' xx)).
  + by move=> a a1; apply: (runs_lower a1 r); rewrite mulrCA; exact: h.
  + by move=> a a1; rewrite mulrCA; apply: (runs_upper a1 r); exact: h.
Qed.
End Rule.
