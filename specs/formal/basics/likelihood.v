(* Likelihood ratios (docs/theory/index.md and docs/theory/composition.md, dominating pairs): the event of greatest P(S) - a Q(S) is that on which
   one density is above a times the other (Neyman and Pearson); and the adaptive composition of two parts is dominated by the product of
   the pairs that dominate them. *)
From dpverify Require Import prelude.
From mathcomp.classical Require Import cardinality fsbigop.
From dpverify Require Import definitions density arithmetic kernels composition curves pairs.
Local Open Scope ereal_scope.

(* -- Integrals -- *)

Section Densities.
Context (R : realType) d (T : measurableType d) (mu P : {measure set T -> \bar R}) (p : T -> R).
Hypothesis Pp : has_density mu P p.

(* The mean of a function is the integral of the density times it. *)
Lemma integral_density (f : T -> \bar R) : measurable_fun setT f -> (forall x, 0 <= f x) ->
  \int[P]_x f x = \int[mu]_x ((p x)%:E * f x).
Proof.
move=> mf f0; have [p0 mp Pe] := Pp.
have mpE : measurable_fun setT (EFin \o p) by exact/EFin_measurable_fun.
have [f_ [ndf_ f_f]] := approximation measurableT mf (fun t _ => f0 t).
transitivity (lim (fun n => \int[P]_x (f_ n x)%:E)).
  rewrite -monotone_convergence//.
  - by apply: eq_integral => y _; apply/esym/cvg_lim => //; exact: f_f.
  - by move=> n; exact/EFin_measurable_fun.
  - by move=> n y _; rewrite lee_fin.
  - by move=> y _ m n mn; rewrite lee_fin; apply/lefP/ndf_.
rewrite (_ : (fun _ => _) = (fun n => \int[mu]_x ((p x)%:E * (f_ n x)%:E))).
  rewrite -monotone_convergence//; last 3 first.
    - by move=> n /=; apply: emeasurable_funM => //; exact/EFin_measurable_fun.
    - by move=> n x _ /=; rewrite mule_ge0 ?lee_fin.
    - by move=> x _ m n mn; rewrite lee_wpmul2l ?lee_fin//; exact/lefP/ndf_.
  by apply: eq_integral => x _ /=; apply/cvg_lim => //; apply: cvgeMl => //; exact: f_f.
apply/funext => n.
rewrite integralT_nnsfun sintegralE.
transitivity (\int[mu]_x (\sum_(k \in range (f_ n)) (p x * (k * \1_(f_ n @^-1` [set k]) x))%:E)); last first.
  apply: eq_integral => x _; rewrite -EFinM fsumEFin//; congr EFin; rewrite fimfunE !fsbig_finite//= mulr_sumr; exact: eq_bigr.
have mk (k : R) : measurable (f_ n @^-1` [set k]) by exact: measurable_sfunP.
rewrite ge0_integral_fsum//; last 2 first.
- move=> k; apply/EFin_measurable_fun; apply: measurable_funM => //; apply: measurable_funM; first exact: measurable_fun_cst.
  exact: measurable_fun_indic.
- by move=> k x _; rewrite EFinM mule_ge0 ?lee_fin//; have := nnfun_muleindic_ge0 (f_ n) k x.
apply: eq_fsbigr => k; rewrite inE => -[y _ yk].
have k0 : (0 <= k)%R by rewrite -yk.
under eq_integral do rewrite mulrCA EFinM.
rewrite ge0_integralM//.
- by rewrite Pe// integral_mkcond; congr (_ * _); apply: eq_integral => x _; rewrite /patch indicE; case: ifP => _; rewrite ?mulr1 ?mulr0.
- by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_indic.
- by move=> x _; rewrite lee_fin mulr_ge0.
Qed.
End Densities.

Section Sums.
Context (R : realType) d (T : measurableType d) (mu : {measure set T -> \bar R}).

(* Two sums of integrals are compared point by point. *)
Lemma le_integrals (f g h k : T -> R) :
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT h -> measurable_fun setT k ->
  (forall x, 0 <= f x)%R -> (forall x, 0 <= g x)%R -> (forall x, 0 <= h x)%R -> (forall x, 0 <= k x)%R ->
  (forall x, f x + g x <= h x + k x)%R ->
  \int[mu]_x (f x)%:E + \int[mu]_x (g x)%:E <= \int[mu]_x (h x)%:E + \int[mu]_x (k x)%:E.
Proof.
move=> mf mg mh mk f0 g0 h0 k0 le.
have E (u v : T -> R) : measurable_fun setT u -> measurable_fun setT v -> (forall x, 0 <= u x)%R -> (forall x, 0 <= v x)%R ->
    \int[mu]_x (u x)%:E + \int[mu]_x (v x)%:E = \int[mu]_x (u x + v x)%:E.
  move=> mu' mv u0 v0; rewrite -ge0_integralD//; try (by move=> x _; rewrite lee_fin); try exact/EFin_measurable_fun.
rewrite !E//; apply: ge0_le_integral => //.
- by move=> x _; rewrite lee_fin addr_ge0.
- by apply/EFin_measurable_fun; exact: measurable_funD.
- by move=> x _; rewrite lee_fin addr_ge0.
- by apply/EFin_measurable_fun; exact: measurable_funD.
- by move=> x _; rewrite lee_fin.
Qed.

(* A function of the bin. *)
Lemma integral_bins (I : finType) (bin : T -> I) (h : I -> R) : (forall i, measurable (bin @^-1` [set i])) -> (forall i, 0 <= h i)%R ->
  \int[mu]_x (h (bin x))%:E = \sum_i (h i)%:E * mu (bin @^-1` [set i]).
Proof.
move=> mb h0; transitivity (\int[mu]_x (\sum_i (h i * \1_(bin @^-1` [set i]) x)%:E)).
  apply: eq_integral => x _; rewrite sumEFin (bigD1 (bin x))//= indicE mem_set// mulr1 big1 ?addr0// => i ib.
  by rewrite indicE memNset ?mulr0//= => bi; move: ib; rewrite bi eqxx.
rewrite ge0_integral_sum//.
- apply: eq_bigr => i _; under eq_integral do rewrite EFinM.
  rewrite ge0_integralM//; first by rewrite integral_indic// setIT.
  + by apply/EFin_measurable_fun; exact: measurable_fun_indic.
  + by move=> x _; rewrite lee_fin.
  + by rewrite lee_fin.
- move=> i; apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_fun_indic].
- by move=> i x _; rewrite lee_fin mulr_ge0.
Qed.

Lemma measurable_where (p q : T -> R) : measurable_fun setT p -> measurable_fun setT q -> measurable [set x | (q x < p x)%R].
Proof.
move=> mp mq; have m : measurable_fun setT (fun x => p x - q x)%R by exact: measurable_funB.
rewrite (_ : [set x | _] = setT `&` (fun x => p x - q x)%R @^-1` `]0%R, +oo[).
  by apply: m => //; exact: measurable_itv.
by rewrite setTI; apply/seteqP; split=> x /=; rewrite in_itv /= andbT subr_gt0.
Qed.
End Sums.

(* -- Likelihoods -- *)

Section Likelihood.
Context (R : realType) d (T : measurableType d).
Implicit Types (P Q : {measure set T -> \bar R}) (p q : T -> R).

(* Where u p is above v q. *)
Definition above p q (u v : R) := [set x | (v * q x < u * p x)%R].

(* The event on which u p is above v q is best, for all weights u and v. *)
Definition likelihood P Q p q := [/\ forall x, (0 <= p x)%R, forall x, (0 <= q x)%R, measurable_fun setT p, measurable_fun setT q &
  forall u v S, (0 <= u)%R -> (0 <= v)%R -> measurable S ->
    (u * fine (P S) - v * fine (Q S) <= u * fine (P (above p q u v)) - v * fine (Q (above p q u v)))%R].

Lemma measurable_scaled (f : T -> R) (c : R) : measurable_fun setT f -> measurable_fun setT (fun x => c * f x)%R.
Proof. by move=> mf; apply: measurable_funM => //; exact: measurable_fun_cst. Qed.

Lemma measurable_above p q u v : measurable_fun setT p -> measurable_fun setT q -> measurable (above p q u v).
Proof. by move=> mp mq; apply: measurable_where; exact: measurable_scaled. Qed.

Lemma mass_integral (mu P : {measure set T -> \bar R}) p S u : has_density mu P p -> P setT = 1 -> measurable S -> (0 <= u)%R ->
  \int[mu]_x (u * (p x * \1_S x))%:E = (u * fine (P S))%:E.
Proof.
move=> Pp P1 mS u0; have [p0 mp Pe] := Pp.
under eq_integral do rewrite EFinM.
rewrite ge0_integralM//; last 2 first.
- by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_indic.
- by move=> x _; rewrite lee_fin mulr_ge0.
rewrite EFinM fineK ?mass_fin//; congr (_ * _).
have -> : P S = \int[P]_x (\1_S x)%:E by rewrite integral_indic// setIT.
rewrite (integral_density Pp)//.
- by apply/EFin_measurable_fun; exact: measurable_fun_indic.
- by move=> x; rewrite lee_fin.
Qed.

(* Neyman and Pearson: densities are likelihoods. *)
Theorem density_likelihood (mu P Q : {measure set T -> \bar R}) p q : P setT = 1 -> Q setT = 1 ->
  has_density mu P p -> has_density mu Q q -> likelihood P Q p q.
Proof.
move=> P1 Q1 Pp Qq; have [p0 mp _] := Pp; have [q0 mq _] := Qq; split=> // u v S u0 v0 mS.
set E := above p q u v; have mE : measurable E by exact: measurable_above.
rewrite ler_subl_addr [X in (_ <= X)%R]addrAC -ler_subl_addr opprK -lee_fin !EFinD.
rewrite -(mass_integral Pp P1 mS u0) -(mass_integral Qq Q1 mE v0) -(mass_integral Pp P1 mE u0) -(mass_integral Qq Q1 mS v0).
have m (f : T -> R) (A : set T) (c : R) : measurable_fun setT f -> measurable A -> measurable_fun setT (fun x => c * (f x * \1_A x))%R.
  by move=> mf mA; apply: measurable_scaled; apply: measurable_funM => //; exact: measurable_fun_indic.
apply: le_integrals; try (by apply: m); try (by move=> x; rewrite mulr_ge0// mulr_ge0).
move=> x; rewrite !indicE; have [xE|xE] := boolP (x \in E); have [xS|xS] := boolP (x \in S); rewrite ?mulr1 ?mulr0 ?addr0 ?add0r//.
- by move: xE; rewrite inE => /ltW.
- by move: xE; rewrite notin_set /E /above/= => /negP; rewrite -leNgt.
Qed.
End Likelihood.

Section Dominated.
Context (R : realType) d (T : measurableType d) d' (Z : measurableType d').
Variables (P Q : {measure set T -> \bar R}) (P0 Q0 : {measure set Z -> \bar R}) (p q : Z -> R).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1) (P01 : P0 setT = 1) (Q01 : Q0 setT = 1) (L : likelihood P0 Q0 p q).

Lemma likelihood_profile (a : R) : (0 <= a)%R ->
  profile a P0 Q0 = (fine (P0 (above p q 1 a)) - a * fine (Q0 (above p q 1 a)))%R.
Proof.
move=> a0; have [_ _ mp mq best] := L; apply/eqP; rewrite eq_le; apply/andP; split.
- by apply: profile_le => S mS; have := best 1%R a S ler01 a0 mS; rewrite !mul1r.
- by apply: profile_event => //; exact: measurable_above.
Qed.

Lemma dominated_event u v S : dominated P Q P0 Q0 -> (0 <= u)%R -> (0 <= v)%R -> measurable S ->
  (u * fine (P S) - v * fine (Q S) <= u * fine (P0 (above p q u v)) - v * fine (Q0 (above p q u v)))%R.
Proof.
move=> dom u0 v0 mS; have [_ _ mp mq best] := L; set B := (X in (_ <= X)%R).
have B0 : (0 <= B)%R by have := best u v set0 u0 v0 measurable0; rewrite !measure0/= !mulr0 subrr.
have [->|un] := eqVneq u 0%R.
  rewrite mul0r add0r (le_trans _ B0)// oppr_le0 mulr_ge0//; by case/andP: (fine01 Q1 mS).
have {un} {}u0 : (0 < u)%R by rewrite lt_neqAle eq_sym un.
have vu : (0 <= v / u)%R by apply: divr_ge0 => //; exact: ltW.
have uv : (u * (v / u) = v)%R by rewrite mulrCA divff ?gt_eqF// mulr1.
have -> : (u * fine (P S) - v * fine (Q S) = u * (fine (P S) - v / u * fine (Q S)))%R by rewrite mulrBr mulrA uv.
rewrite -ler_pdivl_mull//; apply: le_trans (profile_event P1 Q1 vu mS) _; apply: le_trans (dom _ vu) _.
apply: profile_le => S' mS'; rewrite ler_pdivl_mull// mulrBr mulrA uv; apply: best => //; exact: ltW.
Qed.
End Dominated.
