(* Independent coordinates of one density, each moved (docs/theory/curves.md: independent coordinates): means of what is moved are means of what is
   not, with the ratio of the densities; and the mean of the lesser of 1 and a multiple of that ratio is log-concave in the shift. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic powers kernels likelihood independent log_concave word_chances greatest_real scale_integrals prekopa_line prekopa.
Import numFieldNormedType.Exports.

Section Moved.
Context (R : realType) (lam P : {measure set R -> \bar R}) (h : R -> R).
Hypothesis P1 : P setT = 1%E.
Let f x := expR (- h x).
Hypotheses (lamE : is_lebesgue lam) (dens : has_density lam P f).
Implicit Types (s y : nat -> R) (z v t : R).

Lemma measurable_exponent : measurable_fun setT h.
Proof.
have [_ mf _] := dens; rewrite (_ : h = (fun x => - ln (f x))); last by apply/funext => x; rewrite expK opprK.
by apply: measurable_funN; apply: measurable_fun_comp mf; exact: measurable_ln.
Qed.

(* How much likelier a number is after a shift. *)
Definition ratio v z : R := expR (- (h (z - v) - h z)).

Lemma measurable_ratio v : measurable_fun setT (ratio v).
Proof.
have mh := measurable_exponent; apply: (measurable_after (g := @expR R)); last by exact: measurable_expR.
apply: measurable_funN; apply: measurable_funB => //; apply: (measurable_after (f := fun z : R => z - v)) mh.
by apply: measurable_funB; [exact: measurable_fun_id | exact: measurable_fun_cst].
Qed.

Lemma one_moved v (k : R -> \bar R) : measurable_fun setT k -> (forall z, 0 <= k z)%E ->
  (\int[P]_z k (z + v)%R = \int[P]_z ((ratio v z)%:E * k z))%E.
Proof.
move=> mk k0; have [_ mf _] := dens; have mr := measurable_ratio v.
have mv (u : R) : measurable_fun setT (fun z : R => z + u) by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst].
rewrite (integral_density dens); [|by apply: (measurable_after (mv v)) mk | by []].
rewrite (integral_density dens) ?/f; last 2 first.
- by apply: emeasurable_funM => //; exact/EFin_measurable_fun.
- by move=> z; rewrite mule_ge0// lee_fin expR_ge0.
pose g z := ((f (z - v))%:E * k z)%E.
have mg : measurable_fun setT g.
  by apply: emeasurable_funM => //; apply/EFin_measurable_fun; exact: (measurable_after (mv (- v))) mf.
have g0 z : (0 <= g z)%E by rewrite mule_ge0// lee_fin expR_ge0.
transitivity (\int[lam]_z g (z + v)%R)%E; first by apply: eq_integral => z _; rewrite /g addrK.
rewrite -(integral_through (m := lam) (m' := lam) (mv v) _ mg g0).
  by apply: eq_integral => z _; rewrite /g /f /ratio muleA -EFinM -expRD; congr (_%:E * _)%E; congr expR; lra.
move=> A mA; by rewrite (lebesgue_keeps v lamE).
Qed.

Definition moved (n : nat) s y : nat -> R := fun j => if (j < n)%N then y j + s j else y j.
Definition ratios (n : nat) s y : R := \prod_(j < n) ratio (s j) (y j).

Definition ereads (g : (nat -> R) -> \bar R) :=
  forall d (T : measurableType d) (k : nat -> T -> R), (forall j, measurable_fun setT (k j)) -> measurable_fun setT (fun x => g (fun j => k j x)).

Lemma reads_ratios n s : reads (ratios n s).
Proof.
move=> d T k mk; rewrite /ratios; elim: n => [|n IH].
  by rewrite (_ : (fun _ => _) = cst 1); [exact: measurable_fun_cst | apply/funext => x; rewrite big_ord0].
rewrite (_ : (fun _ => _) = (fun x => \prod_(j < n) ratio (s j) (k j x) * ratio (s n) (k n x))); last by apply/funext => x; rewrite big_ord_recr.
by apply: measurable_funM => //; apply: (measurable_after (mk n)); exact: measurable_ratio.
Qed.

Lemma ereads_last n (g : (nat -> R) -> \bar R) (w : R -> R) : measurable_fun setT w -> (forall z, 0 <= w z) -> ereads g -> (forall y, 0 <= g y)%E ->
  ereads (fun y => \int[P]_z ((w z)%:E * g (put n y z)))%E.
Proof.
move=> mw w0 rg g0 d T k mk; pose F (x : T * R) : \bar R := ((w x.2)%:E * g (put n (fun j => k j x.1) x.2))%E.
have mF : measurable_fun setT F.
  apply: emeasurable_funM; first by apply/EFin_measurable_fun; apply: (measurable_after (@measurable_second _ _ _ _) mw).
  apply: (rg _ _ (fun j (x : T * R) => put n (fun j => k j x.1) x.2 j)) => j; rewrite /put.
  case: (j == n); first exact: measurable_second.
  by apply: (measurable_after (@measurable_first _ _ _ _) (mk j)).
have F0 x : (0 <= F x)%E by rewrite mule_ge0 ?lee_fin.
exact: (measurable_fun_fubini_tonelli_F (law_sigma_finite P1) F mF F0).
Qed.

Lemma moved_mean n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z s : independent_noises (fun _ => P1) n nu Z ->
  forall g, ereads g -> (forall y, 0 <= g y)%E ->
  (\int[nu]_x g (moved n s (fun j => Z j x)) = \int[nu]_x ((ratios n s (fun j => Z j x))%:E * g (fun j => Z j x)))%E.
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => g rg g0.
  by apply: eq_integral => x _; rewrite /ratios big_ord0 mul1e; congr g; apply/funext.
have mZ := measurable_noises I.
have mput : forall j, measurable_fun setT (fun x : W * R => put n (fun j => Z j x.1) x.2 j).
  move=> j; rewrite /put; case: (j == n); first exact: measurable_second.
  by apply: (measurable_after (@measurable_first _ _ _ _) (mZ j)).
have mmoved : forall j, measurable_fun setT (fun x : W * R => moved n.+1 s (put n (fun j => Z j x.1) x.2) j).
  by move=> j; rewrite /moved; case: (j < n.+1)%N => //; apply: measurable_funD => //; exact: measurable_fun_cst.
have [_ ->] := @one_more R (fun=> P) (fun=> P1) _ W nu n (fun x => g (moved n.+1 s (put n (fun j => Z j x.1) x.2))) (rg _ _ _ mmoved) (fun x => g0 _).
have mr : measurable_fun setT (fun x : W * R => ((ratios n.+1 s (put n (fun j => Z j x.1) x.2))%:E * g (put n (fun j => Z j x.1) x.2))%E).
  apply: emeasurable_funM; last exact: (rg _ _ _ mput).
  by apply/EFin_measurable_fun; refine (@reads_ratios n.+1 s _ _ (fun j (x : W * R) => put n (fun j => Z j x.1) x.2 j) mput).
have r0 k y : 0 <= ratios k s y by apply: prodr_ge0 => j _; exact: expR_ge0.
have [_ ->] := @one_more R (fun=> P) (fun=> P1) _ W nu n _ mr (fun x => mule_ge0 (r0 _ _ : (0 <= _%:E)%E) (g0 _)).
pose G y := (\int[P]_z ((ratio (s n) z)%:E * g (put n y z)))%E.
have G0 y : (0 <= G y)%E by apply: integral_ge0 => z _; rewrite mule_ge0// lee_fin expR_ge0.
have rG : ereads G by apply: ereads_last => //; [exact: measurable_ratio | move=> z; exact: expR_ge0].
have gput y : measurable_fun setT (fun z => g (put n y z)).
  apply: (rg _ _ (fun j z => put n y z j)) => j; rewrite /put.
  by case: (j == n); [exact: measurable_fun_id | exact: measurable_fun_cst].
transitivity (\int[nu]_x G (moved n s (fun j => Z j x)))%E.
  apply: eq_integral => x _; rewrite /G -(one_moved (s n) (gput _) (fun z => g0 _)); apply: eq_integral => z _; congr g.
  by apply/funext => j; rewrite /moved /put ltnS; case: (ltngtP j n) => [||->].
rewrite (IH _ rG G0); apply: eq_integral => x _; rewrite /G -ge0_integralM//.
- apply: eq_integral => z _; rewrite muleA -EFinM; congr (_%:E * _)%E; rewrite /ratios big_ord_recr/= {2}/put eqxx; congr (_ * _).
  by apply: eq_bigr => j _; rewrite /put ltn_eqF.
- by apply: emeasurable_funM => //; apply/EFin_measurable_fun; exact: measurable_ratio.
- by move=> z _; rewrite mule_ge0// lee_fin expR_ge0.
- by rewrite lee_fin.
Qed.
End Moved.
