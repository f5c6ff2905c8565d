(* The greatest of several noisy answers on the reals has a density (docs/theory/selection.md, log-concave noisy max, 3 from above), and what its law loses
   where each answer moves by at most D. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels likelihood composition groups joint_neighbours finite selection.
From dpverify Require Import independent log_concave moments worst_run_limits worst_output_lower powers survival_cells laplace_curve noisy_max_rule.
From dpverify Require Import one_noise greatest_value greatest_step greatest_density.

(* Lebesgue's measure, as one of the line that noises have their laws on. *)
Definition is_lebesgue (R : realType) (lam : {measure set R -> \bar R}) := forall A : set R, measurable A -> lam A = (@lebesgue_measure R) A.

Lemma lebesgue_keeps (R : realType) (lam : {measure set R -> \bar R}) s : is_lebesgue lam -> keeps lam s.
Proof. by move=> lamE A mA; rewrite !lamE ?(lebesgue_translation s)//; exact: measurable_moved. Qed.

Lemma integral_through (R : realType) d (T : measurableType d) d' (T' : measurableType d') (m : {measure set T -> \bar R}) (m' : {measure set T' -> \bar R})
    (phi : T -> T') (g : T' -> \bar R) : measurable_fun setT phi -> (forall A, measurable A -> m' A = m (phi @^-1` A)) ->
  measurable_fun setT g -> (forall y, 0 <= g y)%E -> (\int[m']_y g y = \int[m]_x g (phi x))%E.
Proof.
move=> mphi mE mg g0; transitivity (\int[pushforward m mphi]_y g y)%E; last exact: integral_pushforward.
by apply: eq_measure_integral => A mA _; exact: mE.
Qed.

Lemma lebesgue_density (R : realType) (lam mu : {measure set R -> \bar R}) f : is_lebesgue lam -> has_density lam mu f ->
  has_density (@lebesgue_measure R) mu f.
Proof.
move=> lamE [f0 mf me]; split=> // S mS; rewrite me//.
rewrite integral_mkcond [RHS]integral_mkcond; pose m := [the measure _ _ of @lebesgue_measure R].
refine (@integral_through R _ _ _ _ m lam (fun x => x) ((EFin \o f) \_ S) _ _ _ _) => //.
- by move=> _ A mA; rewrite setTI.
- by apply/(measurable_restrict _ mS measurableT (@subsetT _ S)); apply: measurable_funTS; exact/EFin_measurable_fun.
- by move=> z; rewrite /patch; case: ifP => // _; rewrite lee_fin.
Qed.

Section Law.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (f : R -> R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (dens : has_density lam mu f).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Notation F := (greatest_step.F mu).
Implicit Types (q : 'I_n -> R) (A : set R) (i : 'I_n).

Let nu1 : nu setT = 1%E := independent_total noises.

Let measurable_below x : measurable [set z : R | z < x].
Proof. by rewrite (_ : [set z | _] = `]-oo, x[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv]. Qed.

Lemma no_atom x : mu [set x] = 0%E.
Proof.
have -> : [set x] = `[x, x]%classic.
  by apply/seteqP; split=> y /=; rewrite in_itv/=; [move=> ->; rewrite lexx | move=> /le_anti].
have [f0 mf ->] := lebesgue_density lamE dens; last exact: measurable_itv.
have z0 : (@lebesgue_measure R) `[x, x]%classic = 0%E by rewrite lebesgue_measure_itv hlength_itv/= ltxx.
transitivity (\int[@lebesgue_measure R]_(y in `[x, x]%classic) `|(f y)%:E|)%E; first by apply: eq_integral => y _; rewrite /= ger0_norm.
by apply: (integral_abs_eq0 (D := setT)) => //; [exact: measurable_itv | exact/EFin_measurable_fun].
Qed.

Lemma below_closed x : mu [set z | z <= x] = (F x)%:E.
Proof.
have E : [set z | z <= x] = [set z | z < x] `|` [set x].
  apply/seteqP; split=> z /=; first by rewrite le_eqVlt => /predU1P[->|]; [right | left].
  by case=> [/ltW|->].
have apart : [set z | z < x] `&` [set x] = set0 by apply/seteqP; split=> z //= [zx e]; move: zx; rewrite e ltxx.
have U : (mu ([set z | (z < x)%R] `|` [set x]) = mu [set z | (z < x)%R] + mu [set x])%E := measureU mu (measurable_below x) (measurable_set1 x) apart.
by rewrite E U no_atom adde0 /greatest_step.F fineK// mass_fin.
Qed.

Lemma measurable_F : measurable_fun setT F.
Proof.
have mS : measurable [set x : R * R | x.2 < x.1].
  rewrite (_ : [set x | _] = setT `&` (fun x : R * R => x.1 - x.2) @^-1` [set z | 0 < z]).
    apply: (measurable_funB (@measurable_first _ _ _ _) (@measurable_second _ _ _ _)) => //; exact: measurable_open_ray.
  by rewrite setTI; apply/seteqP; split=> x /=; rewrite subr_gt0.
have mk : markov (fun _ : R => mu) by split=> // S _; exact: measurable_fun_cst.
have := markov_sections mk mS; rewrite (_ : (fun x => _) = EFin \o F); first by move/EFin_measurable_fun.
apply/funext => x /=; rewrite /greatest_step.F fineK ?mass_fin//; congr (mu _).
by apply/seteqP; split=> z; rewrite /xsection/= inE.
Qed.

(* The chance that the others are below v. *)
Definition others_below q i (v : R) : R := \prod_(j < n | j != i) F (v - q j).

Lemma measurable_others q i : measurable_fun setT (others_below q i).
Proof.
rewrite /others_below; elim: (index_enum _) => [|j r IH].
  by rewrite (_ : (fun v => _) = cst 1); [exact: measurable_fun_cst | apply/funext => v; rewrite big_nil].
rewrite (_ : (fun v => _) = fun v => if j != i then F (v - q j) * \prod_(j <- r | j != i) F (v - q j) else \prod_(j <- r | j != i) F (v - q j)); last first.
  by apply/funext => v; rewrite big_cons.
case: (j != i) => //; apply: measurable_funM => //.
exact: (measurable_after (measurable_translation (- q j)) measurable_F).
Qed.

Lemma others_ge0 q i v : 0 <= others_below q i v.
Proof. by apply: prodr_ge0 => j _; exact/fine_ge0/measure_ge0. Qed.

(* Given the winner's noise z, the others are below it. *)
Lemma others_chance q (i : 'I_n) (put : W * R -> W) A z : puts_one (fun=> mu) i nu Z put ->
  nu [set w | first_greatest_in Z q A i (put (w, z))] = (\1_A (q i + z) * others_below q i (q i + z))%:E.
Proof.
move=> [mput pi po _ _].
have po' (j : 'I_n) w : j != i -> Z j (put (w, z)) = Z j w by move=> ji; exact: po.
have noisyE w : noisy Z q i (put (w, z)) = q i + z by rewrite /noisy pi.
rewrite indicE; have [Az|nA] := pselect (A (q i + z)); last first.
  rewrite memNset// mul0r (_ : [set w | _] = set0) ?measure0//.
  by apply/seteqP; split=> w // [_]; rewrite /= noisyE.
rewrite mem_set// mul1r.
pose B (j : nat) : set R := if insub j is Some k then [set y | (k != i) ==> beats i k (q i + z) (q k + y)] else setT.
have BE (j : 'I_n) : B j = [set y | (j != i) ==> beats i j (q i + z) (q j + y)] by rewrite /B valK.
have Bside (j : 'I_n) : j != i -> B j = [set y | y < q i + z - q j] \/ B j = [set y | y <= q i + z - q j].
  move=> ji; rewrite BE ji/= /beats; case: (j < i)%N; [left | right]; apply/seteqP; split=> y /=; lra.
have mside (j : 'I_n) : j != i -> mu (B j) = (F (q i + z - q j))%:E.
  by move=> /Bside[->|->]; [rewrite /greatest_step.F fineK// mass_fin | exact: below_closed].
have mB j : measurable (B j).
  rewrite /B; case: insubP => // k _ _; have [->|ki] := eqVneq k i.
    by rewrite ?eqxx (_ : [set y | _] = setT)//; apply/seteqP; split.
  rewrite (_ : [set y | _] = B k); last by rewrite BE ki.
  have [->|->] := Bside k ki; first exact: measurable_below.
  by rewrite (_ : [set y | _] = `]-oo, (q i + z - q k)]%classic); [exact: measurable_itv | apply/seteqP; split=> y /=; rewrite in_itv].
have -> : [set w | first_greatest_in Z q A i (put (w, z))] = \big[setI/setT]_(j < n) (Z j @^-1` B j).
  apply/seteqP; split=> w.
  - move=> [/first_greatestP top _]; apply/in_all => j; rewrite /= BE/=; apply/implyP => ji.
    by have := top j ji; rewrite noisyE /noisy po'.
  - move=> /in_all h; split; last by rewrite /= noisyE.
    by apply/first_greatestP => j ji; have := h j; rewrite /= BE/= ji/= noisyE /noisy po'.
rewrite (independent_box noises mB) (bigD1 i)//= (_ : B i = setT); last by rewrite BE eqxx/=; apply/seteqP; split.
by rewrite mu1 mul1r; congr (_%:E); apply: eq_bigr => j ji; rewrite mside.
Qed.

Let mf : measurable_fun setT f. Proof. by have [] := dens. Qed.
Let f0 z : 0 <= f z. Proof. by have [] := dens. Qed.

Lemma measurable_part q i : measurable_fun setT (fun v : R => f (v - q i) * others_below q i v).
Proof.
apply: measurable_funM; last exact: measurable_others.
exact: (measurable_after (measurable_translation (- q i)) mf).
Qed.

Lemma part_ge0 q i v : 0 <= f (v - q i) * others_below q i v.
Proof. by rewrite mulr_ge0 ?others_ge0. Qed.

Lemma part_density q i A : measurable A ->
  nu (first_greatest_in Z q A i) = (\int[lam]_(v in A) (f (v - q i) * others_below q i v)%:E)%E.
Proof.
move=> mA; have [put puts] := draw_again noises (ltn_ord i); have [mput _ _ _ again] := puts.
have mE := measurable_first_greatest_in noises q i mA.
pose E : set (W * R) := [set x | first_greatest_in Z q A i (put x)].
have mC : measurable E by exact: measurable_put.
rewrite again// (eq_integral (fun w => mu (xsection E w))); last by move=> w _; rewrite -section_set.
have := indic_fubini_tonelli (law_sigma_finite nu1) (law_sigma_finite mu1) mC.
rewrite indic_fubini_tonelli_FE// indic_fubini_tonelli_GE// => ->.
rewrite (eq_integral (fun z => (\1_A (q i + z) * others_below q i (q i + z))%:E)); last first.
  by move=> z _; rewrite /= -section_set2; exact: (others_chance q A z puts).
pose h v := f (v - q i) * (\1_A v * others_below q i v).
have mi : measurable_fun setT (fun v => \1_A v * others_below q i v).
  by apply: measurable_funM; [exact: measurable_fun_indic | exact: measurable_others].
have mh : measurable_fun setT h.
  by apply: measurable_funM => //; exact: (measurable_after (measurable_translation (- q i)) mf).
have i0 v : 0 <= \1_A v * others_below q i v by rewrite mulr_ge0 ?others_ge0.
have h0 v : 0 <= h v by rewrite mulr_ge0.
rewrite (integral_density dens); last 2 first.
- apply/EFin_measurable_fun; apply: (measurable_after (f := fun z : R => q i + z)) mi.
  by apply: measurable_funD; [exact: measurable_fun_cst | exact: measurable_fun_id].
- by move=> z; rewrite lee_fin.
transitivity (\int[lam]_v (h v)%:E)%E.
  rewrite (integral_kept (lebesgue_keeps (q i) lamE) mh h0 measurableT).
  by apply: eq_integral => z _; rewrite -EFinM /h addrK [z + _]addrC.
rewrite [RHS]integral_mkcond; apply: eq_integral => v _.
by rewrite /patch /h indicE; case: (v \in A); rewrite ?mul1r ?mul0r ?mulr0.
Qed.

Context (M : mechanism R ('I_n -> R) [the measurableType _ of R : Type]).
Hypothesis MV : forall q A, measurable A -> M q A = nu (greatest_in Z q A).

Lemma greatest_has_density q : has_density lam (M q) (greatest_density mu f q).
Proof.
have E v : (greatest_density mu f q v)%:E = (\sum_(i < n) (f (v - q i) * others_below q i v)%:E)%E by rewrite sumEFin.
split.
- by move=> v; apply: sumr_ge0 => i _; exact: part_ge0.
- apply/EFin_measurable_fun; rewrite (_ : EFin \o _ = fun v : R => (\sum_(i < n) (f (v - q i) * others_below q i v)%:E)%E); last by apply/funext => v; exact: E.
  by apply: emeasurable_fun_sum => i; apply/EFin_measurable_fun; exact: measurable_part.
- move=> A mA; rewrite MV// (greatest_mass noises)// (eq_integral (fun v : R => (\sum_(i < n) (f (v - q i) * others_below q i v)%:E)%E)); last first.
    by move=> v _; exact: E.
  rewrite ge0_integral_sum//; first by apply: eq_bigr => i _; exact: part_density.
  + by move=> i; apply: measurable_funTS; apply/EFin_measurable_fun; exact: measurable_part.
  + by move=> i v _; rewrite lee_fin part_ge0.
Qed.
End Law.

Section Upper.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (left right : option R).
Hypotheses (lamE : is_lebesgue lam) (mu1 : mu setT = 1%E) (slopes : has_slopes lam mu left right).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Context (M : mechanism R ('I_n -> R) [the measurableType _ of R : Type]).
Hypothesis MV : forall q A, measurable A -> M q A = nu (greatest_in Z q A).
Context (a b : R) (la : left = Some a) (rb : right = Some b) (a0 : 0 <= a) (b0 : 0 <= b).

(* The greatest noisy answer on the reals, where each moves as it likes. *)
(* Rule: log-concave-noisy-max, upper, in part: answers that differ by points of a hull. *)
Theorem noisy_max_value_real D : 0 <= D -> pure_dp (moved_by (n := n) D) M (Num.max (n%:R * a) b * D).
Proof.
move=> D0 q q' qq; apply: close_closed; rewrite ?law_total// => e Ce.
have near j : `|q' j - q j| <= D by case: qq => /(_ j) //; rewrite distrC.
have [lo [hi [h [f [dens lc sl sr]]]]] := slopes.
have ends : lo = None /\ hi = None.
  have none (o : option R) g c : right_slope o g (Some c) -> o = None by move=> S; inversion S.
  move: sl sr; rewrite la rb => /none; case: (lo) => // _ /none; by split.
have f_gt0 z : 0 < f z.
  by have [fE _] := lc; rewrite fE ends.1 ends.2 /between/= expR_gt0.
have rf z s : 0 <= s -> f z <= expR (b * s) * f (z + s).
  by move=> s0; apply: (right_ratio z lc) => //; rewrite -rb.
have lf z s : 0 <= s -> f z <= expR (a * s) * f (z - s).
  by move=> s0; apply: (left_ratio z lc) => //; rewrite -la.
have Dq := greatest_has_density lamE dens noises MV q; have Dq' := greatest_has_density lamE dens noises MV q'.
apply/(close_iff_ratio Dq Dq' (law_total M q) (law_total M q')).
exists set0; split=> // v /=; case.
exact: (density_loses mu1 (lebesgue_density lamE dens) a0 b0 D0 f_gt0 rf lf).
Qed.
End Upper.
