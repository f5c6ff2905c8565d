(* Independent noises (docs/theory/selection.md): the product of their laws, with one after the other joined to what is drawn before. Shifts of
   the noises cost what each of them costs; exponential moments are products; a box has the product of the masses of its sides. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels.
Local Open Scope ereal_scope.

Section Independent.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}).
Hypothesis mu1 : forall j, mu j setT = 1.

Lemma law_sigma_finite d (T : measurableType d) (m : {measure set T -> \bar R}) : m setT = 1 -> sigma_finite setT m.
Proof.
move=> m1; exists (fun=> setT); first by rewrite bigcup_const//; exists 0%N.
by move=> _; split=> //; rewrite m1 ltry.
Qed.

(* The noises Z 0, ..., Z (n - 1) have the laws mu 0, ..., mu (n - 1) and are independent of each other, and of what W holds besides. *)
Inductive independent_noises : forall (n : nat) d (W : measurableType d), {measure set W -> \bar R} -> (nat -> W -> R) -> Prop :=
| NoNoise d (W : measurableType d) (nu : {measure set W -> \bar R}) : nu setT = 1 -> independent_noises 0 nu (fun _ _ => 0%R)
| OneMore n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises n nu Z ->
    @independent_noises n.+1 _ [the measurableType _ of (W * R)%type] [the measure _ _ of product_measure1 nu (law_sigma_finite (mu1 n))]
      (fun j w => if j == n then w.2 else Z j w.1).

Lemma independent_total n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises n nu Z -> nu setT = 1.
Proof.
move=> I; induction I as [|n d W nu Z _ IH] => //=.
by rewrite -setMTT product_measure1E// -[LHS]/(nu setT * mu n setT) IH mu1 mule1.
Qed.

Lemma measurable_first d (T : measurableType d) d' (U : measurableType d') : measurable_fun setT (fst : T * U -> T).
Proof. by move=> _ A mA; rewrite setTI (_ : fst @^-1` A = A `*` setT); [exact: measurableM | apply/seteqP; split=> x //= -[]]. Qed.

Lemma measurable_second d (T : measurableType d) d' (U : measurableType d') : measurable_fun setT (snd : T * U -> U).
Proof. by move=> _ A mA; rewrite setTI (_ : snd @^-1` A = setT `*` A); [exact: measurableM | apply/seteqP; split=> x //= -[]]. Qed.

Lemma measurable_after d (T : measurableType d) d' (U : measurableType d') d'' (V : measurableType d'') (g : U -> V) (f : T -> U) :
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT (g \o f).
Proof. by move=> mf mg _ A mA; rewrite setTI comp_preimage -[X in measurable X]setTI; apply: mf => //; rewrite -[X in measurable X]setTI; exact: mg. Qed.

Lemma measurable_noises n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises n nu Z -> forall j, measurable_fun setT (Z j).
Proof.
move=> I; induction I as [|n d W nu Z _ IH] => j /=; first exact: measurable_fun_cst.
have [jn|/negbTE jn] := boolP (j == n).
  by rewrite (_ : (fun _ => _) = snd)//; exact: measurable_second.
rewrite (_ : (fun _ => _) = Z j \o fst)//.
by apply: measurable_after (IH j); exact: measurable_first.
Qed.

(* A box has the product of the masses of its sides. *)
Lemma independent_box n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z (A : nat -> set R) : independent_noises n nu Z ->
  (forall j, measurable (A j)) -> nu (\big[setI/setT]_(j < n) (Z j @^-1` A j)) = (\prod_(j < n) fine (mu j (A j)))%:E.
Proof.
move=> I mA; induction I as [d W nu nu1|n d W nu Z I IH]; first by rewrite !big_ord0.
rewrite !big_ord_recr/= EFinM -IH fineK ?(mass_fin (mu1 n))// -(product_measure1E nu (law_sigma_finite (mu1 n)))//; last first.
  apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; exact: (measurable_noises I).
congr (product_measure1 _ _ _); apply/seteqP; split=> -[w z] /=; rewrite eqxx.
- move=> [h hz]; split=> //=; move: h.
  apply: (@big_ind2 _ _ (fun B C : set _ => B (w, z) -> C w)) => //.
    by move=> B B' C C' BB CC [/BB ? /CC ?]; split.
  by move=> j _; rewrite /= ltn_eqF.
- move=> [h hz]; split=> //=; move: h.
  apply: (@big_ind2 _ _ (fun B C : set _ => B w -> C (w, z))) => //.
    by move=> B B' C C' BB CC [/BB ? /CC ?]; split.
  by move=> j _; rewrite /= ltn_eqF.
Qed.

Lemma measurable_exp (c : R) : measurable_fun setT (fun z : R => expR (c * z)).
Proof.
apply: (measurable_after (g := @expR R) (f := fun z : R => c * z)%R).
  by apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_fun_id].
by apply: continuous_measurable_fun; exact: continuous_expR.
Qed.

(* Exponential moments are products, so they are finite where those of each noise are. *)
Lemma independent_moment n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z (a : nat -> R) : independent_noises n nu Z ->
  (forall j, (j < n)%N -> \int[mu j]_z (expR (a j * z))%:E < +oo) ->
  measurable_fun setT (fun w => expR (\sum_(j < n) a j * Z j w)) /\ \int[nu]_w (expR (\sum_(j < n) a j * Z j w))%:E < +oo.
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => fin.
  rewrite (_ : (fun _ => _) = cst 1%R); last by apply/funext => w; rewrite big_ord0 expR0.
  split; first exact: measurable_fun_cst.
  under eq_integral do rewrite big_ord0 expR0.
  by rewrite integral_cst// mul1e nu1 ltry.
have [|ms fs] := IH; first by move=> j jn; apply: fin; exact: ltnW.
have nu1 := independent_total I.
have E (x : W * R) : (expR (\sum_(j < n.+1) a j * (if j == n :> nat then x.2 else Z j x.1)) =
    expR (\sum_(j < n) a j * Z j x.1) * expR (a n * x.2))%R.
  rewrite big_ord_recr/= eqxx expRD; congr (expR _ * _)%R; apply: eq_bigr => j _; by rewrite ltn_eqF.
have m1 : measurable_fun setT (fun x : W * R => expR (\sum_(j < n) a j * Z j x.1)).
  exact: (measurable_after (@measurable_first _ _ _ _) ms).
have m2 : measurable_fun setT (fun x : W * R => expR (a n * x.2)).
  exact: (measurable_after (@measurable_second _ _ _ _) (measurable_exp (a n))).
have mm : measurable_fun setT (fun x : W * R => expR (\sum_(j < n.+1) a j * (if j == n :> nat then x.2 else Z j x.1))).
  by rewrite (_ : (fun _ => _) = fun x => expR (\sum_(j < n) a j * Z j x.1) * expR (a n * x.2))%R; [exact: measurable_funM | exact/funext].
split=> //; rewrite fubini_tonelli1//=; last 2 first.
- by apply/EFin_measurable_fun.
- by move=> x; rewrite lee_fin expR_ge0.
rewrite /fubini_F/=.
have k0 : 0 <= \int[mu n]_z (expR (a n * z))%:E by apply: integral_ge0 => z _; rewrite lee_fin expR_ge0.
have := fin n (ltnSn n); case K : (\int[mu n]_z (expR (a n * z))%:E) k0 => [k| |]// k0 _.
rewrite (eq_integral (fun w => k%:E * (expR (\sum_(j < n) a j * Z j w))%:E)); last first.
  move=> w _; rewrite muleC (eq_integral (fun z => (expR (\sum_(j < n) a j * Z j w))%:E * (expR (a n * z))%:E)); last first.
    by move=> z _; rewrite -EFinM -(E (w, z)).
  rewrite ge0_integralM ?K//; last by rewrite lee_fin expR_ge0.
  - by apply/EFin_measurable_fun; exact: measurable_exp.
  - by move=> z _; rewrite lee_fin expR_ge0.
rewrite ge0_integralM//; last 2 first.
- by apply/EFin_measurable_fun.
- by move=> w _; rewrite lee_fin expR_ge0.
exact: lte_mul_pinfty.
Qed.

(* Shifts of the noises cost what the shift of each costs. *)
Lemma independent_moved n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z (v c : nat -> R) : independent_noises n nu Z ->
  (forall j, (j < n)%N -> forall A, measurable A -> mu j [set z | A (z + v j)%R] <= (expR (c j))%:E * mu j A) ->
  exists T : W -> W, [/\ measurable_fun setT T, forall w j, (j < n)%N -> Z j (T w) = (Z j w + v j)%R &
    forall A, measurable A -> nu [set w | A (T w)] <= (expR (\sum_(j < n) c j))%:E * nu A].
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => cost.
  exists id; split=> // [|A mA]; first exact: measurable_fun_id.
  by rewrite big_ord0 expR0 mul1e.
have [|T [mT TE Tc]] := IH; first by move=> j jn; apply: cost; exact: ltnW.
have nu1 := independent_total I.
pose T' (x : W * R) : W * R := (T x.1, x.2 + v n)%R.
have mT' : measurable_fun setT T'.
  apply/prod_measurable_funP; split.
  - exact: (measurable_after (@measurable_first _ _ _ _) mT).
  - apply: (measurable_after (@measurable_second _ _ _ _) (g := fun z : R => z + v n)%R).
    by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst].
exists T'; split=> // [[w z] j|A mA].
  by rewrite ltnS leq_eqVlt => /predU1P[->|jn]/=; rewrite ?eqxx// ltn_eqF// TE.
rewrite big_ord_recr/=.
have mA' : measurable [set x | A (T' x)] by rewrite -[X in measurable X]setTI; exact: mT'.
rewrite -[leLHS]/(\int[nu]_w mu n (xsection [set x | A (T' x)] w)) -[X in _ * X]/(\int[nu]_w mu n (xsection A w)).
pose g w := fine (mu n (xsection A w)).
have gE w : mu n (xsection A w) = (g w)%:E by rewrite /g fineK// mass_fin//; exact: measurable_xsection.
have g01 w : (0 <= g w <= 1)%R by rewrite -!lee_fin -gE measure_ge0 mass_le1//; exact: measurable_xsection.
have mk : markov (fun _ : W => mu n) by split=> // S mS; exact: measurable_fun_cst.
have mg : measurable_fun setT g.
  apply/EFin_measurable_fun; rewrite (_ : _ \o _ = fun w => mu n (xsection A w)); first exact: markov_sections mk A mA.
  by apply/funext => w; rewrite /= gE.
have mgT : measurable_fun setT (g \o T) by exact: measurable_after.
pose moved := [the measure _ _ of pushforward nu mT].
have cl : close (\sum_(j < n) c j) 0 moved nu by move=> B mB; rewrite adde0; exact: Tc.
have := close_test_function (nu1 : moved setT = 1) nu1 cl mg g01.
rewrite adde0 (_ : \int[moved]_w (g w)%:E = \int[nu]_w (g (T w))%:E); last first.
  by apply: integral_pushforward => //; [exact/EFin_measurable_fun | move=> w; rewrite lee_fin; case/andP: (g01 w)].
have -> : \int[nu]_w mu n (xsection A w) = \int[nu]_w (g w)%:E by apply: eq_integral => w _; exact: gE.
move=> h; apply: (@le_trans _ _ ((expR (c n))%:E * \int[nu]_w (g (T w))%:E)); last first.
  by rewrite expRD mulrC EFinM -muleA; apply: lee_wpmul2l => //; rewrite lee_fin expR_ge0.
rewrite -ge0_integralM//; last 3 first.
- exact/EFin_measurable_fun.
- by move=> w _; rewrite lee_fin; case/andP: (g01 (T w)).
- by rewrite lee_fin expR_ge0.
apply: ge0_le_integral => //.
- exact: (markov_sections mk mA').
- by move=> w _; rewrite mule_ge0 ?lee_fin ?expR_ge0//; case/andP: (g01 (T w)).
- by apply: measurable_funeM; exact/EFin_measurable_fun.
move=> w _; rewrite -gE.
have mx : measurable (xsection A (T w)) by exact: measurable_xsection.
have := cost n (ltnSn n) _ mx; apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
by congr (mu n _); apply/seteqP; split=> z; rewrite /xsection/= !inE.
Qed.
End Independent.
