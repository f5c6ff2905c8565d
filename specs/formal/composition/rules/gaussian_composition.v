(* Compositions of Gaussian mechanisms (docs/theory/composition.md: Gaussian composition): the product of the pairs N(0, 1), N(m_i, 1) has the
   curve of the one pair with mu^2 = sum of m_i^2, which dominates adaptive compositions; independent parts at one pair of neighbours have it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs likelihood dominating gaussian_curve laplace_curve normal_line.
Import numFieldNormedType.Exports.

Section Normal.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Notation leb := (@lebesgue_measure R).
Hypothesis normal : normal_laws law c.
Notation Phi := (normal_cdf law).
Notation L := (line R).

Let total v : law v setT = 1%E. Proof. by have [_ h _] := normal; exact: h. Qed.
Let dens v : has_density leb (law v) (fun y => c * expR (- ((y - v) ^+ 2 / 2))). Proof. by have [_ _ h] := normal; exact: h. Qed.

(* -- One pair -- *)

Lemma null_pair (a : R) : 0 <= a -> profile a (law 0) (law 0) = Num.max 0 (1 - a).
Proof. by move=> a0; exact: (same_laws_curve (total 0) (total 0) a0). Qed.

Lemma normal_pair_event v m (a t : R) : 0 <= a -> Phi (t - v) - a * Phi (t - m) <= profile a (law v) (law m).
Proof.
move=> a0; rewrite -(normal_below normal v t) -(normal_below normal m t).
exact: (profile_event (total v) (total m) a0 (measurable_below t)).
Qed.

(* The curve grows with mu. *)
Lemma normal_pair_grows m mu : 0 <= m -> m <= mu -> dominated (law 0) (law m) (law 0) (law mu).
Proof.
move=> m0 mm a; rewrite le_eqVlt => /predU1P[<-|a0]; first by rewrite (profile0 (total 0) (total m)) (profile0 (total 0) (total mu)).
have a0' := ltW a0; move: m0; rewrite le_eqVlt => /predU1P[e|m0].
  rewrite -e (null_pair a0') le_maxl (profile_ge0 (total 0) (total mu) a0')/=; exact: (profile_ge (total 0) (total mu) a0').
rewrite -[X in profile X _ (law m)]lnK// (normal_pair_curve normal _ m0) /gaussian_delta lnK//; set t := m / 2 - ln a / m.
have -> : - (m / 2) - ln a / m = t - m by rewrite /t; lra.
apply: le_trans (@normal_pair_event 0 mu a t a0'); rewrite subr0 ler_add2l ler_opp2; apply: ler_wpmul2l => //.
by apply: (normal_cdf_rises normal); lra.
Qed.

(* -- The product of two pairs -- *)

Section Two.
Variables (m1 m2 mu : R).
Hypotheses (m10 : 0 <= m1) (m20 : 0 <= m2) (mu0 : 0 < mu) (squares : m1 ^+ 2 + m2 ^+ 2 = mu ^+ 2).

Definition half (r : R) : set (L * L)%type := [set z | (m2 * z.1 + m1 * z.2 < r)%R].

Lemma measurable_half r : measurable (half r).
Proof.
have id : measurable_fun setT (id : L -> R) by exact: measurable_fun_id.
have m (f : (L * L)%type -> L) : measurable_fun setT f -> forall k : R, measurable_fun setT (fun z => k * (f z : R)) by move=> mf k; exact: measurable_funrM.
have p1 : measurable_fun setT (fun z : (L * L)%type => z.1).
  by move=> _ B mB; rewrite setTI (_ : _ @^-1` _ = B `*` setT); [exact: measurableM | apply/seteqP; split=> -[z x] //= []].
have p2 : measurable_fun setT (fun z : (L * L)%type => z.2).
  by move=> _ B mB; rewrite setTI (_ : _ @^-1` _ = setT `*` B); [exact: measurableM | apply/seteqP; split=> -[z x] //= []].
have mf : measurable_fun setT (fun z : (L * L)%type => m2 * (z.1 : R) + m1 * (z.2 : R)) by apply: measurable_funD; exact: m.
have := mf measurableT _ (@measurable_below R r); rewrite setTI; congr measurable.
Qed.

Lemma half_section r z : xsection (half r) z = [set x | (m1 * x < r - m2 * z)%R].
Proof. by apply/seteqP; split=> x; rewrite /xsection /half/= ?inE/= ltr_subr_addl. Qed.

Lemma scaled_below (k t : R) : 0 < k -> [set x : L | (k * x < t)%R] = below (t / k).
Proof. by move=> k0; apply/seteqP; split=> x; rewrite /below /mkset/= ltr_pdivl_mulr// mulrC. Qed.

Lemma along (r v1 v2 z : R) : 0 < m1 -> (r - m2 * (z + v2)) / m1 - v1 = ((r - m1 * v1 - m2 * v2) / mu - m2 / mu * z) / (m1 / mu).
Proof.
move=> m1p; have m1n : m1 != 0 by rewrite gt_eqF.
have mun : mu != 0 by rewrite gt_eqF.
rewrite invf_div [RHS]mulrA; apply: (mulIf m1n); rewrite [RHS]divfK// [LHS]mulrBl divfK// [RHS]mulrBl divfK//.
have -> : m2 / mu * z * mu = m2 * z by rewrite mulrAC divfK.
lra.
Qed.

(* The coordinate along the difference of the answers. *)
Lemma half_mass v1 v2 r : fine (product (total v1) (law v2) (half r)) = Phi ((r - m1 * v1 - m2 * v2) / mu).
Proof.
have mH := measurable_half r.
have E : ((fine (product (total v1) (law v2) (half r)))%:E = \int[law v2]_z (law v1 [set x | (m1 * x < r - m2 * z)%R]))%E.
  rewrite fineK; last by apply: (@mass_fin _ _ _ (product (total v1) (law v2))) mH; exact: joint_total.
  by apply: eq_integral => z _; rewrite half_section.
apply: EFin_inj; rewrite E {E}; move: m10; rewrite le_eqVlt => /predU1P[e1|m1p].
  (* the second number alone *)
  have em : m2 = mu by apply/eqP; rewrite -(eqr_expn2 (isT : (0 < 2)%N) m20 (ltW mu0)) -squares -e1 expr0n/= add0r.
  have m2p : 0 < m2 by rewrite em.
  transitivity (\int[law v2]_z (\1_(below (r / m2)) z)%:E)%E.
    apply: eq_integral => z _; rewrite -e1 indicE; case: (boolP (z \in below (r / m2))); rewrite ?inE ?notin_set /below/= ltr_pdivl_mulr// => h.
    - rewrite (_ : [set x | _] = setT) ?total//; apply/seteqP; split=> // x _ /=; rewrite mul0r; lra.
    - rewrite (_ : [set x | _] = set0) ?measure0//; apply/seteqP; split=> // x /=; rewrite mul0r; move/negP: h; rewrite -leNgt; lra.
  rewrite integral_indic//; last exact: measurable_below.
  have mB := @measurable_below R (r / m2).
  by rewrite setIT -(fineK (mass_fin (total v2) mB)) (normal_below normal) -e1 em mul0r subr0 mulrBl [mu * v2]mulrC mulfK ?gt_eqF.
move: m20; rewrite le_eqVlt => /predU1P[e2|m2p].
  have em : m1 = mu by apply/eqP; rewrite -(eqr_expn2 (isT : (0 < 2)%N) m10 (ltW mu0)) -squares -e2 expr0n/= addr0.
  have mB := @measurable_below R (r / m1).
  transitivity (\int[law v2]_z (cst (law v1 (below (r / m1))) z))%E.
    by apply: eq_integral => z _; rewrite -e2 mul0r subr0 scaled_below.
  by rewrite integral_cst// total mule1 -(fineK (mass_fin (total v1) mB)) (normal_below normal) -e2 em mul0r subr0 mulrBl [mu * v1]mulrC mulfK ?gt_eqF.
pose r' := m1 / mu; pose s := m2 / mu; pose t := (r - m1 * v1 - m2 * v2) / mu.
have mun : mu != 0 by rewrite gt_eqF.
have r0 : 0 < r' by rewrite divr_gt0.
have s0 : 0 < s by rewrite divr_gt0.
have rs : r' ^+ 2 + s ^+ 2 = 1 by rewrite !expr_div_n -mulrDl squares divff// expf_neq0.
have r1 : r' < 1.
  have s2 : 0 < s ^+ 2 by exact: exprn_gt0.
  rewrite ltNge; apply/negP => h; have := exprn_ege1 2 h; lra.
rewrite -(direction_normal normal r0 r1 s0 rs t).
have mass z : law v1 [set x | (m1 * x < r - m2 * z)%R] = (Phi ((r - m2 * z) / m1 - v1))%:E.
  by rewrite scaled_below// -(normal_below normal) fineK//; apply: (mass_fin (total v1)); exact: measurable_below.
pose G (z : R) := Phi ((r - m2 * z) / m1 - v1).
have mG : measurable_fun setT G.
  have := measurable_slice (total v1) mH; congr (measurable_fun setT _); apply/funext => z; by rewrite half_section mass.
have G0 z : 0 <= G z by rewrite fine_ge0// measure_ge0.
have [p0 mp _] := dens v2.
transitivity (\int[leb]_(z in setT : set R) (c * expR (- ((z - v2) ^+ 2 / 2)) * G z)%:E)%E.
  rewrite (integral_density (dens v2)); last 2 first.
  - rewrite (_ : (fun z => _) = fun z => (G z)%:E); [exact/EFin_measurable_fun | by apply/funext => z; exact: mass].
  - by move=> z; exact: measure_ge0.
  by apply: eq_integral => z _; rewrite mass EFinM.
have pg0 z : 0 <= c * expR (- ((z - v2) ^+ 2 / 2)) * G z by exact: mulr_ge0.
rewrite (integral_preserved (measurable_translation v2) (lebesgue_translation v2) (measurable_funM mp mG) pg0 measurableT) preimage_setT.
apply: eq_integral => z _; rewrite /G/= addrK; congr (_ * _)%:E; rewrite -/(Phi _) /G; congr (Phi _); rewrite /t /s /r'.
exact: along.
Qed.
End Two.

Lemma normal_product m1 m2 (a : R) : 0 <= m1 -> 0 <= m2 -> 0 <= a ->
  profile a (product (total 0) (law 0)) (product (total m1) (law m2)) = profile a (law 0) (law (Num.sqrt (m1 ^+ 2 + m2 ^+ 2))).
Proof.
move=> m10 m20; set mu := Num.sqrt _.
have PP v w : product (total v) (law w) setT = 1%E by exact: joint_total.
rewrite le_eqVlt => /predU1P[<-|a0]; first by rewrite (profile0 (PP _ _) (PP _ _)) (profile0 (total 0) (total mu)).
have a0' := ltW a0; have sq : m1 ^+ 2 + m2 ^+ 2 = mu ^+ 2 by rewrite sqr_sqrtr// addr_ge0 ?sqr_ge0.
have : 0 <= mu by exact: sqrtr_ge0.
rewrite le_eqVlt => /predU1P[e|mu0].
  have [e1 e2] : m1 = 0 /\ m2 = 0.
    by move/eqP: sq; rewrite -e expr0n/= paddr_eq0 ?sqr_ge0// !sqrf_eq0 => /andP[/eqP -> /eqP ->].
  by rewrite -e e1 e2 (null_pair a0'); exact: (same_laws_curve (PP 0 0) (PP 0 0) a0').
rewrite -[a]lnK// (normal_pair_curve normal _ mu0); set eps := ln a.
have LL := product_likelihood (total 0) (total m1) (total 0) (total m2) (normal_likelihood normal 0 m1) (dens 0) (dens m2).
rewrite (likelihood_profile (PP 0 0) (PP m1 m2) LL (expR_ge0 eps)).
have [c0 _ _] := normal.
set E := above _ _ _ _; have -> : E = half m1 m2 (mu ^+ 2 / 2 - eps).
  apply/seteqP; split=> -[z x]; rewrite /E /above /half/= mul1r ![c * _ * (c * _)]mulrACA -!expRD mulrCA ltr_pmul2l ?mulr_gt0// -expRD ltr_expR => h; lra.
rewrite !(half_mass m10 m20 mu0 sq) !mulr0 !subr0 /gaussian_delta.
have halved : mu ^+ 2 / 2 / mu = mu / 2 by rewrite mulrAC expr2 mulfK// gt_eqF.
have -> : (mu ^+ 2 / 2 - eps) / mu = mu / 2 - eps / mu by rewrite mulrBl halved.
congr (_ - _ * Phi _).
have -> : mu ^+ 2 / 2 - eps - m1 * m1 - m2 * m2 = - (mu ^+ 2 / 2) - eps by rewrite -!expr2; lra.
by rewrite mulrBl mulNr halved.
Qed.

Definition together (ms : seq R) : R := Num.sqrt (\sum_(m <- ms) m ^+ 2).

Lemma together_cons m ms : Num.sqrt (m ^+ 2 + together ms ^+ 2) = together (m :: ms).
Proof. by rewrite /together big_cons sqr_sqrtr//; apply: sumr_ge0 => i _; exact: sqr_ge0. Qed.

Lemma together_ge0 ms : 0 <= together ms. Proof. exact: sqrtr_ge0. Qed.

(* -- Adaptive compositions -- *)

(* Parts and what their answers move by in deviations, for each two neighbours the same for all that came before, last part first. *)
Section Mechanisms.
Context (X : Type) (N : relation X).

Inductive gaussian_parts : forall d (Y : measurableType d), mechanism R X Y -> (X -> X -> seq R) -> Prop :=
| OneGaussian d (Y : measurableType d) (M : mechanism R X Y) m :
    (forall x x', N x x' -> 0 <= m x x' /\ dominated (M x) (M x') (law 0) (law (m x x'))) -> gaussian_parts M (fun x x' => [:: m x x'])
| MoreGaussian d (Y : measurableType d) (M : mechanism R X Y) ms d' (U : measurableType d') (k : X -> Y -> {measure set U -> \bar R})
    (mk : forall x, markov (k x)) m : gaussian_parts M ms -> (forall x x', N x x' -> 0 <= m x x') ->
    (forall x x' y, N x x' -> dominated (k x y) (k x' y) (law 0) (law (m x x'))) ->
    gaussian_parts (Mechanism (fun x => joint_total (mk x) (law_total M x))) (fun x x' => m x x' :: ms x x').

Lemma gaussian_parts_dominated d (Y : measurableType d) (M : mechanism R X Y) ms x x' : gaussian_parts M ms -> N x x' ->
  dominated (M x) (M x') (law 0) (law (together (ms x x'))).
Proof.
move=> parts xx; elim: parts => {d Y M ms} [d Y M m h | d Y M ms d' U k mk m _ IH m0 h] a a0.
  have [m0 dom] := h x x' xx; rewrite /together big_seq1 sqrtr_sqr ger0_norm//; exact: dom.
rewrite -together_cons addrC -(normal_product (together_ge0 _) (m0 x x' xx) a0).
have L1 := normal_likelihood normal 0 (together (ms x x')).
exact: (composition_dominated (mk x) (mk x') (total 0) (total (together (ms x x'))) (law_total M x) (law_total M x') (total 0) (total (m x x'))
  L1 (dens 0) (dens (m x x')) IH (fun y => h x x' y xx) a0).
Qed.
End Mechanisms.

(* -- Independent parts, at one pair of neighbours -- *)

(* Laws of independent outputs that have the pairs N(0, 1), N(m, 1), or pairs of higher curves. *)
Inductive independent : forall d (Y : measurableType d), {measure set Y -> \bar R} -> {measure set Y -> \bar R} -> seq R -> Prop :=
| OnePair d (Y : measurableType d) (P Q : {measure set Y -> \bar R}) p q m : P setT = 1%E -> Q setT = 1%E -> likelihood P Q p q ->
    0 <= m -> dominated (law 0) (law m) P Q -> independent P Q [:: m]
| MorePairs d (Y : measurableType d) (P Q : {measure set Y -> \bar R}) ms d' (U : measurableType d') (nu V W : {measure set U -> \bar R}) v w m
    (P1 : P setT = 1%E) (Q1 : Q setT = 1%E) : independent P Q ms -> V setT = 1%E -> W setT = 1%E -> has_density nu V v -> has_density nu W w ->
    0 <= m -> dominated (law 0) (law m) V W -> independent (product P1 V) (product Q1 W) (m :: ms).

Lemma independent_attained d (Y : measurableType d) (P Q : {measure set Y -> \bar R}) ms : independent P Q ms ->
  [/\ P setT = 1%E, Q setT = 1%E, exists p q, likelihood P Q p q & dominated (law 0) (law (together ms)) P Q].
Proof.
elim=> {d Y P Q ms} [d Y P Q p q m P1 Q1 pq m0 dom | d Y P Q ms d' U nu V W v w m P1 Q1 _ [_ _ [p [q pq]] dom] V1 W1 Vv Ww m0 dom'].
  by split=> //; [exists p, q | rewrite /together big_seq1 sqrtr_sqr ger0_norm].
split; [exact: joint_total | exact: joint_total | |].
  by exists (fun z => v z.1 * p z.2), (fun z => w z.1 * q z.2); exact: (product_likelihood P1 Q1 V1 W1 pq Vv Ww).
move=> a a0; rewrite -together_cons -(normal_product m0 (together_ge0 ms) a0).
exact: (composition_dominated (markov_law L (total 0)) (markov_law L (total m)) P1 Q1 (total 0) (total (together ms)) V1 W1 pq Vv Ww dom (fun=> dom') a0).
Qed.

Section Rule.
Context (X : Type) (N : relation X) d (Y : measurableType d) (M : mechanism R X Y).

(* mu bounds the sums of squares at all neighbours; independent parts with the pairs N(0, 1), N(m, 1) at some neighbours have the curve of all. *)
(* Rule: gaussian-composition. *)
Theorem gaussian_composition ms mu : gaussian_parts N M ms -> 0 <= mu -> (forall x x', N x x' -> \sum_(m <- ms x x') m ^+ 2 <= mu ^+ 2) ->
  [/\ forall x x', N x x' -> dominated (M x) (M x') (law 0) (law mu),
      forall x x' l, N x x' -> independent (M x) (M x') l -> \sum_(m <- l) m ^+ 2 = mu ^+ 2 ->
        forall a, 0 <= a -> profile a (M x) (M x') = profile a (law 0) (law mu) &
      0 < mu -> forall eps, profile (expR eps) (law 0) (law mu) = gaussian_delta Phi mu eps].
Proof.
move=> parts mu0 most; have up x x' : N x x' -> dominated (M x) (M x') (law 0) (law mu).
  move=> xx a a0; apply: le_trans (gaussian_parts_dominated parts xx a0) _.
  have h : together (ms x x') <= mu by rewrite -(ger0_norm mu0) -sqrtr_sqr; apply: ler_wsqrtr; exact: most.
  exact: (normal_pair_grows (together_ge0 (ms x x')) h a0).
split=> // [x x' l xx ind e a a0|m0 eps]; last exact: (normal_pair_curve normal eps m0).
apply/eqP; rewrite eq_le (up x x' xx a a0)/=; have [_ _ _ low] := independent_attained ind.
by have := low a a0; rewrite /together e sqrtr_sqr ger0_norm.
Qed.
End Rule.

(* Queries F_i of the same records: the squares of the moves are a form G of the difference v of two databases, whose greatest value on the
   differences of neighbours counts; for differences of length at most D that is the greatest eigenvalue times D^2. *)
Section Queries.
Context (V : lmodType R) (B G : V -> V -> R) (X : Type) (N : relation X) (data : X -> V).

(* The greatest eigenvalue of G with respect to B, and a vector that has it. *)
Definition greatest_eigenvalue (lam : R) (u : V) := (forall v, G v v <= lam * B v v) /\ B u u != 0 /\ forall w, G u w = lam * B u w.

Theorem shared_queries lam u D d (Y : measurableType d) (M : mechanism R X Y) ms : greatest_eigenvalue lam u -> 0 <= lam -> 0 <= D ->
  gaussian_parts N M ms -> (forall x x', N x x' -> B (data x' - data x) (data x' - data x) <= D ^+ 2) ->
  (forall x x', N x x' -> \sum_(m <- ms x x') m ^+ 2 = G (data x' - data x) (data x' - data x)) ->
  (forall x x', N x x' -> dominated (M x) (M x') (law 0) (law (Num.sqrt lam * D))) /\
  forall x x', N x x' -> data x' - data x = u -> B u u = D ^+ 2 -> \sum_(m <- ms x x') m ^+ 2 = (Num.sqrt lam * D) ^+ 2.
Proof.
move=> [top [_ own]] lam0 D0 parts near squares; have E : (Num.sqrt lam * D) ^+ 2 = lam * D ^+ 2 by rewrite exprMn sqr_sqrtr.
split=> [|x x' xx e uu]; last by rewrite squares// e own uu E.
have mu0 : 0 <= Num.sqrt lam * D by rewrite mulr_ge0// sqrtr_ge0.
have most x x' : N x x' -> \sum_(m <- ms x x') m ^+ 2 <= (Num.sqrt lam * D) ^+ 2.
  by move=> xx; rewrite squares// E; apply: le_trans (top _) _; apply: ler_wpmul2l => //; exact: near.
by have [up _ _] := gaussian_composition parts mu0 most.
Qed.
End Queries.
End Normal.
