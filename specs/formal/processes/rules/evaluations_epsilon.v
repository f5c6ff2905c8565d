(* n evaluations of t noise on functions (docs/theory/processes.md: evaluations epsilon): their tight epsilon is (2a + n) asinh(D/(2 s sqrt(2b))), D the
   distance of the answers in the norm of the covariance of the n values, and grows with n beyond every bound. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules modulus_rules hyperbolic kernels composition mixtures pairs likelihood laplace_curve independent covariances gamma_variance.
Import numFieldNormedType.Exports.

(* -- The number -- *)
Section Number.
Context (R : realType).
Implicit Types (a b scale D : R).

Definition evaluations_epsilon a b scale (n : nat) D : R := (2 * a + n%:R) * asinh (D / (2 * scale * Num.sqrt (2 * b))).

Section Fixed.
Variables (a b scale : R).
Hypotheses (a0 : 0 < a) (b0 : 0 < b) (scale0 : 0 < scale).

Let k0 : 0 < 2 * scale * Num.sqrt (2 * b). Proof. by rewrite mulr_gt0 ?mulr_gt0// sqrtr_gt0 mulr_gt0. Qed.

Lemma evaluations_epsilon_rises n D D' : 0 <= D -> D <= D' -> evaluations_epsilon a b scale n D <= evaluations_epsilon a b scale n D'.
Proof.
move=> D0 DD; apply: ler_wpmul2l; first by rewrite addr_ge0 ?ler0n// mulr_ge0// ltW.
by apply: asinh_rises; rewrite ler_pmul2r ?invr_gt0.
Qed.

(* It grows with n beyond every bound. *)
Lemma evaluations_epsilon_unbounded D (v : R) : 0 < D -> exists n0, forall n, (n0 <= n)%N -> v <= evaluations_epsilon a b scale n D.
Proof.
move=> D0; set t := asinh (D / (2 * scale * Num.sqrt (2 * b))); have t0 : 0 < t by apply: asinh_gt0; rewrite divr_gt0.
exists (Num.bound (`|v| / t)) => n n0; apply: le_trans (ler_norm v) _; rewrite /evaluations_epsilon -/t -ler_pdivr_mulr//.
apply: (@le_trans _ _ (Num.bound (`|v| / t))%:R); first by apply/ltW/archi_boundP; rewrite divr_ge0 ?normr_ge0// ltW.
by rewrite (le_trans (y := n%:R)) ?ler_nat// ler_addr mulr_ge0// ltW.
Qed.

Lemma evaluations_epsilonE n D : 2 * (a + n%:R / 2) * asinh (D / scale / (2 * Num.sqrt (2 * b))) = evaluations_epsilon a b scale n D.
Proof.
rewrite /evaluations_epsilon; have -> : D / scale / (2 * Num.sqrt (2 * b)) = D / (2 * scale * Num.sqrt (2 * b)).
  by rewrite -[LHS]mulrA -invfM mulrA [scale * 2]mulrC.
by rewrite mulrDr mulrCA mulfV ?mulr1// pnatr_eq0.
Qed.
End Fixed.
End Number.

(* -- The releases -- *)
Section Release.
Context (R : realType) (X : Type) (N : relation X).

(* A pair of laws is the image of another under one map: whoever sees the other sees no less. *)
Definition image_of d1 (Y : measurableType d1) d2 (Z : measurableType d2) (P Q : {measure set Y -> \bar R}) (P' Q' : {measure set Z -> \bar R}) :=
  exists f : Y -> Z, [/\ measurable_fun setT f, forall S, measurable S -> P' S = P (f @^-1` S) & forall S, measurable S -> Q' S = Q (f @^-1` S)].

Lemma close_image d1 (Y : measurableType d1) d2 (Z : measurableType d2) (P Q : {measure set Y -> \bar R}) (P' Q' : {measure set Z -> \bar R}) eps dl :
  image_of P Q P' Q' -> close eps dl P Q -> close eps dl P' Q'.
Proof. by move=> [f [mf Pf Qf]] PQ S mS; rewrite Pf// Qf//; apply: PQ; have := mf measurableT S mS; rewrite setTI. Qed.

Variables (a b scale : R).
Hypotheses (a0 : 0 < a) (b0 : 0 < b) (scale0 : 0 < scale).

Section Values.
Context (n : nat) (K : 'M[R]_n) d (Y : measurableType d) (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) (M : mechanism R X Y).

(* M releases q(x) + scale sqrt(V) N, n values: V has a density proportional to v^(-a - 1) exp(-b/v) on v > 0, and given V = v the values have the
   normal law about q(x) of the covariance scale^2 v K, of density proportional to v^(-n/2) exp(-r^2/(2v)), r the distance from q(x) over scale,
   with respect to mu (Lebesgue's measure on R^n, at which every ball has positive measure). *)
Definition releases_values := [/\ covariance K, sigma_finite setT mu, full_measure mu place (distance K),
  forall v, measurable_fun setT (fun y => distance K (place y - v)) &
  exists (mixing : {measure set (line R) -> \bar R}) (k : X -> line R -> {measure set Y -> \bar R}) (c g : R)
    (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)),
  [/\ 0 < c /\ 0 < g, has_density (@lebesgue_measure R) mixing (inverse_gamma_density a b g),
      forall x v S, 0 < v -> measurable S -> k x v S = (\int[mu]_(y in S) (normal_density n c v (distance K (place y - q x) / scale))%:E)%E &
      forall x S, measurable S -> M x S = mixture mixing1 mk x S]].

Hypothesis values : releases_values.
Let B := a + n%:R / 2.
Let B0 : 0 < B. Proof. by rewrite ltr_paddr// divr_ge0. Qed.
Let nu0 : 0 < 2 * b. Proof. lra. Qed.
Notation h := (power_exponent (2 * b) B).

Lemma values_noise (x0 : X) : exists2 c', 0 < c' & adds_noise mu place M q (fun z => c' * expR (- h (distance K z / scale))).
Proof.
have [cov smu _ mdist [mixing [k [c [g [mixing1 [mk [[c0 g0] hidden cond same]]]]]]]] := values.
have md x : measurable_fun setT (fun y => distance K (place y - q x) / scale) by apply: measurable_funM => //; exact: measurable_fun_cst.
have [c' c'0 noise] := gamma_variance mixing1 mk smu b0 scale0 c0 g0 hidden md cond x0.
exists c' => // x; have [f0 mf E] := noise x; split=> // S mS; rewrite same//; exact: E.
Qed.

Let semi : seminorm (distance K). Proof. by have [cov _ _ _ _] := values; exact: distance_seminorm. Qed.

Lemma values_upper D x x' : distance K (q x - q x') <= D -> close (evaluations_epsilon a b scale n D) 0 (M x) (M x').
Proof.
move=> near; have [c' c'0 noise] := values_noise x.
have D0 : 0 <= D by apply: le_trans near; exact: distance_ge0.
pose pair : relation X := fun y y' => y = x /\ y' = x'.
have moves : moves_at_most pair q (distance K) D by move=> y y' [[-> ->]|[-> ->]] //; rewrite (seminormC semi).
have H := power_identity_upper semi scale0 c'0 nu0 B0 D0 noise moves.
by move: H; rewrite evaluations_epsilonE => /(_ x x'); apply; left.
Qed.

Lemma values_lower x x' eps : 0 <= eps -> close eps 0 (M x) (M x') -> close eps 0 (M x') (M x) ->
  evaluations_epsilon a b scale n (distance K (q x - q x')) <= eps.
Proof.
move=> e0 c1 c2; have [c' c'0 noise] := values_noise x; have [_ _ full _ _] := values.
pose pair : relation X := fun y y' => y = x /\ y' = x'.
have priv : dp pair M eps 0 by move=> y y' [[-> ->]|[-> ->]].
rewrite -lee_fin; apply: le_trans (proj1 (dp_tight _ _ _ e0) priv); rewrite -evaluations_epsilonE.
have moves : moves_exactly pair q (distance K) (distance K (q x - q x')) x x' by split=> //; left.
exact: (power_identity_lower semi scale0 c'0 nu0 B0 (distance_ge0 _ _) noise full moves).
Qed.

Let h_rises r r' : 0 <= r -> r <= r' -> h r <= h r'.
Proof.
move=> r0 rr; rewrite ler_pmul2l// ler_ln ?posrE; [|by have := sqr_ge0 r; have := nu0; lra|by have := sqr_ge0 r'; have := nu0; lra].
by rewrite ler_add2l ler_pexpn2r// nnegrE// (le_trans r0).
Qed.

(* The ball of radius rho, in units of scale, about the point at the distance `top` from q(x') along the difference. *)
Definition ball_event (x x' : X) (top rho : R) : set Y :=
  [set y | distance K (place y - (q x' + (top / (distance K (q x - q x') / scale)) *: (q x - q x'))) / scale < rho].

Lemma ball_shows x x' top rho eps : let t := distance K (q x - q x') / scale in 0 < t -> t <= top -> 0 < rho ->
  eps < h (Num.max 0 (top - rho)) - h (top - t + rho) ->
  measurable (ball_event x x' top rho) /\ ((expR eps)%:E * M x' (ball_event x x' top rho) < M x (ball_event x x' top rho))%E.
Proof.
move=> t t0 tt rho0 loss; have [c' c'0 noise] := values_noise x; have [_ _ full mdist _] := values.
set s := q x - q x' in t t0 tt loss *; set p := q x' + (top / t) *: s.
have near := near_semi semi scale0.
have mS : measurable (ball_event x x' top rho).
  have m : measurable_fun setT (fun y => distance K (place y - p) / scale) by apply: measurable_funM => //; exact: measurable_fun_cst.
  by apply: measurable_where m; exact: (@measurable_fun_cst _ _ _ _ setT rho).
split=> //; set S := ball_event x x' top rho in mS *.
have along k : distance K (k *: s) / scale = `|k| * t by rewrite (seminormZ near).
have on y : S y -> distance K (place y - q x) / scale <= top - t + rho /\ Num.max 0 (top - rho) <= distance K (place y - q x') / scale.
  move=> Sy; have rest : distance K (place y - p) / scale < rho by [].
  have e1 : place y - q x = (place y - p) + (top / t - 1) *: s.
    by rewrite /p scalerBl scale1r opprD [place y + (_ + _)]addrA addrA subrK /s opprB addrA subrK.
  have e2 : place y - q x' = (place y - p) + (top / t) *: s.
    by rewrite /p opprD addrA subrK.
  have top0 : 0 <= top / t by rewrite divr_ge0 ?(le_trans (ltW t0))// ltW.
  have f1 : `|top / t - 1| * t = top - t.
    rewrite ger0_norm ?subr_ge0 ?ler_pdivl_mulr ?mul1r// mulrBl mul1r divfK// gt_eqF//.
  have f2 : `|top / t| * t = top by rewrite ger0_norm// divfK// gt_eqF.
  have t1 : distance K (place y - q x) / scale <= distance K (place y - p) / scale + (top - t).
    by rewrite e1 -f1 -along; exact: (seminorm_triangle near).
  have t2 : top <= distance K (place y - p) / scale + distance K (place y - q x') / scale.
    rewrite -{1}f2 -along -(seminormN near (place y - p)); have -> : (top / t) *: s = - (place y - p) + (place y - q x') by rewrite e2 addKr.
    exact: (seminorm_triangle near).
  split; first by apply: le_trans t1 _; rewrite addrC ler_add2l ltW.
  rewrite le_maxl divr_ge0 ?distance_ge0 ?(ltW scale0)//=; lra.
have middle (e A1 A2 A3 A4 : R) : e < A3 - A4 -> A2 <= A4 -> A3 <= A1 -> (e + (A3 - A4)) / 2 + - A1 <= - A2 by lra.
pose v := (eps + (h (Num.max 0 (top - rho)) - h (top - t + rho))) / 2.
have ev : eps < v by rewrite /v; lra.
have muS : (0 < mu S)%E.
  have [A [mA A0 Ap]] := full p (rho * scale) (mulr_gt0 rho0 scale0).
  by apply: lt_le_trans A0 _; apply: le_measure; rewrite ?inE// => y Ay; rewrite /S /ball_event/= ltr_pdivr_mulr//; exact: Ap.
have [|Spos Sle] := event_mass (noise x) (noise x') (v := v) mS muS.
  move=> y Sy; split; first by rewrite mulr_gt0 ?expR_gt0.
  have [h1 h2] := on y Sy; rewrite mulrCA ler_pmul2l// -expRD ler_expR.
  have k1 : h (distance K (place y - q x) / scale) <= h (top - t + rho) by apply: h_rises => //; rewrite divr_ge0 ?distance_ge0 ?(ltW scale0).
  have k2 : h (Num.max 0 (top - rho)) <= h (distance K (place y - q x') / scale) by apply: h_rises => //; rewrite le_maxr lexx.
  exact: middle loss k1 k2.
have qf : M x' S \is a fin_num by exact: mass_fin (law_total M x') mS.
have [Q0|Qn] := eqVneq (M x' S) 0%E; first by rewrite Q0 mule0.
have Qp : (0 < M x' S)%E by rewrite lt_neqAle eq_sym Qn measure_ge0.
apply: lt_le_trans Sle; rewrite lte_pmul2r// lte_fin ltr_expR//.
Qed.
End Values.

(* -- The rule -- *)

(* n of the values that W releases or that functionals of its output are, by themselves q(x) with the noise of such a release; D is at most what
   some of them, or independent functionals of them, see of the difference of the answers of x and x'. *)
Definition sees d (Z : measurableType d) (W : mechanism R X Z) x x' n D :=
  exists (K : 'M[R]_n) d' (Y : measurableType d') (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) (M : mechanism R X Y)
    m (S : 'M[R]_(m, n)),
  [/\ releases_values K mu place q M, row_free S, D <= distance (S *m K *m S^T) ((q x - q x') *m S^T) & image_of (W x) (W x') (M x) (M x')].

(* The values of W are n of them, of which D bounds what they see for all neighbours, and others that these decide, on neighbours alike. *)
Definition sees_at_most d (Z : measurableType d) (W : mechanism R X Z) n D :=
  exists (K : 'M[R]_n) d' (Y : measurableType d') (mu : {measure set Y -> \bar R}) (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) (M : mechanism R X Y),
  releases_values K mu place q M /\ forall x x', both N x x' -> distance K (q x - q x') <= D /\ image_of (M x) (M x') (W x) (W x').

(* Rule: evaluations-epsilon. *)
Theorem evaluations_rule d (Z : measurableType d) (W : mechanism R X Z) :
  [/\ forall n D, sees_at_most W n D -> pure_dp N W (evaluations_epsilon a b scale n D),
      forall n D x x', both N x x' -> 0 <= D -> sees W x x' n D -> ((evaluations_epsilon a b scale n D)%:E <= tight_epsilon N W 0)%E,
      forall D x x', both N x x' -> 0 < D -> (forall n0, exists2 n, (n0 <= n)%N & sees W x x' n D) -> (tight_epsilon N W 0 = +oo)%E &
      forall n (K : 'M[R]_n) mu (place : Z -> 'rV[R]_n) q x x' top rho eps, releases_values K mu place q W ->
        let t := distance K (q x - q x') / scale in let h := power_exponent (2 * b) (a + n%:R / 2) in
        0 < t -> t <= top -> 0 < rho -> eps < h (Num.max 0 (top - rho)) - h (top - t + rho) ->
        exists S, [/\ measurable S, forall y, S y <-> distance K (place y - (q x' + (top / t) *: (q x - q x'))) / scale < rho &
          ((expR eps)%:E * W x' S < W x S)%E]].
Proof.
have lower n D x x' : both N x x' -> 0 <= D -> sees W x x' n D -> ((evaluations_epsilon a b scale n D)%:E <= tight_epsilon N W 0)%E.
  move=> xx D0 [K [d' [Y [mu [place [q [M [m [S [values free near image]]]]]]]]]]; have [cov _ _ _ _] := values.
  apply: tight_epsilon_lower => eps e0 lt priv; have image' : image_of (W x') (W x) (M x') (M x).
    by have [f [mf h1 h2]] := image; exists f.
  have := values_lower values e0 (close_image image (priv x x' xx)) (close_image image' (priv x' x (bothC xx))).
  apply/negP; rewrite -ltNge; apply: lt_le_trans lt _; apply: evaluations_epsilon_rises => //.
  exact: le_trans near (distance_fewer _ cov free).
split=> // [n D [K [d' [Y [mu [place [q [M [values near]]]]]]]] x x' xx|D x x' xx D0 many|n K mu place q x x' top rho eps values t h t0 tt rho0 loss].
- have [le image] := near x x' xx; apply: close_image image _; exact: (values_upper values le).
- apply: infinite_of_unbounded => v _; have [n0 grows] := evaluations_epsilon_unbounded a0 b0 scale0 v D0.
  have [n /grows le see] := many n0; apply: le_trans (lower n D x x' xx (ltW D0) see); by rewrite lee_fin.
- exists (ball_event K place q x x' top rho); have [mS more] := ball_shows values t0 tt rho0 loss; by split.
Qed.
End Release.
