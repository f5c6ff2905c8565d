(* The tails of log-concave noise (docs/theory/selection.md, selection): exponential moments below the slopes at both ends are finite. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density likelihood arithmetic exponents convex_line independent log_concave.

(* Exponential moments, in the direction d = 1 or -1. *)
Section Moments.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (f : R -> R) (d a s x0 : R).
Hypotheses (dens : has_density lam mu f) (mu1 : mu setT = 1%E) (dd : d * d = 1) (kd : keeps lam d) (a0 : 0 <= a) (as_ : a < s).
Hypothesis falls : forall z, x0 <= d * z -> f (z + d) <= expR (- s) * f z.

Let g (z : R) := f z * expR (a * (d * z)).
Let part (k : nat) : set R := [set z | d * z < x0 + k%:R].
Let bound := expR (a * (x0 + 1)) / (1 - expR (a - s)).

Let f0 z : 0 <= f z. Proof. by have [] := dens. Qed.
Let g0 z : 0 <= g z. Proof. by rewrite mulr_ge0// expR_ge0. Qed.
Let md : measurable_fun setT (fun z : R => d * z).
Proof. by apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_fun_id]. Qed.
Let me : measurable_fun setT (fun z : R => expR (a * (d * z))).
Proof. exact: (measurable_after md (measurable_exp a)). Qed.
Let mg : measurable_fun setT g.
Proof. by have [_ mf _] := dens; exact: measurable_funM. Qed.
Let mpart (x : R) : measurable [set z | d * z < x].
Proof.
rewrite (_ : [set z | _] = setT `&` (fun z : R => d * z) @^-1` `]-oo, x[%classic); first by apply: md => //; exact: measurable_itv.
by rewrite setTI; apply/seteqP; split=> z /=; rewrite in_itv.
Qed.
Let mgE A : measurable_fun A (EFin \o g).
Proof. by apply/EFin_measurable_fun; apply: measurable_funS mg. Qed.

Let bound0 : 0 <= bound.
Proof. by rewrite divr_ge0 ?expR_ge0// subr_ge0 -expR0 ler_expR; lra. Qed.

Lemma part_moment k : (\int[lam]_(z in part k) (g z)%:E <= bound%:E)%E.
Proof.
have r1 : expR (a - s) < 1 by rewrite -expR0 ltr_expR; lra.
have first A : measurable A -> (forall z, A z -> d * z < x0 + 1) -> (\int[lam]_(z in A) (g z)%:E <= (expR (a * (x0 + 1)))%:E)%E.
  move=> mA le; have [_ mf mE] := dens.
  apply: (@le_trans _ _ (\int[lam]_(z in A) (expR (a * (x0 + 1)) * f z)%:E)%E).
    apply: ge0_le_integral => //.
    - by move=> z _; rewrite lee_fin.
    - by move=> z _; rewrite lee_fin mulr_ge0// expR_ge0.
    - by apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | apply: measurable_funS mf].
    - by move=> z Az; rewrite lee_fin /g mulrC ler_wpmul2r// ler_expR ler_wpmul2l// ltW// le.
  by rewrite integral_scaled ?expR_ge0// -mE// -[leRHS]mule1; apply: lee_wpmul2l; rewrite ?lee_fin ?expR_ge0// mass_le1.
have b1 : expR (a * (x0 + 1)) <= bound.
  rewrite /bound ler_pdivl_mulr; last by rewrite subr_gt0.
  by rewrite ler_pimulr ?expR_ge0// ler_subl_addr ler_addl expR_ge0.
elim: k => [|k IH].
  apply: (le_trans (first _ (mpart _) _)); last by rewrite lee_fin.
  by move=> z; rewrite /part/= addr0; lra.
pose near : set R := [set z | d * z < x0 + 1].
pose far : set R := [set z | part k.+1 z /\ x0 + 1 <= d * z].
have mfar : measurable far.
  rewrite (_ : far = part k.+1 `&` ~` near); first by apply: measurableI; [exact: mpart | apply: measurableC; exact: mpart].
  by apply/seteqP; split=> z /= [h1 h2]; split=> //; [apply/negP; rewrite -leNgt | rewrite leNgt; apply/negP].
have sub : part k.+1 `<=` (near `&` part k.+1) `|` far.
  by move=> z hz; have [lt|le] := ltP (d * z) (x0 + 1); [left | right].
have mn : measurable (near `&` part k.+1) by apply: measurableI; exact: mpart.
have E : part k.+1 = (near `&` part k.+1) `|` far by apply/seteqP; split=> // z [[]|[]].
rewrite E integral_setU//; last 2 first.
- by move=> z _; rewrite lee_fin.
- by apply/disj_set2P/seteqP; split=> z //= [[n1 _] [_ n2]]; move: n1; rewrite /near/= ltNge n2.
have c1 : (\int[lam]_(z in near `&` part k.+1) (g z)%:E <= (expR (a * (x0 + 1)))%:E)%E by apply: first => // z [].
have c2 : (\int[lam]_(z in far) (g z)%:E <= (expR (a - s))%:E * \int[lam]_(z in part k) (g z)%:E)%E.
  rewrite (integral_kept kd mg g0 mfar) -integral_scaled ?expR_ge0//; last exact: mpart.
  have mback : measurable [set z : R | far (z + d)] by exact: measurable_moved.
  have msc A : measurable_fun A (fun z => (expR (a - s) * g z)%:E).
    apply/EFin_measurable_fun; apply: (@measurable_funS _ _ _ _ setT) => //; apply: measurable_funM; [exact: measurable_fun_cst | exact: mg].
  have sc0 z : (0 <= (expR (a - s) * g z)%:E)%E by rewrite lee_fin mulr_ge0// expR_ge0.
  apply: (@le_trans _ _ (\int[lam]_(z in [set z | far (z + d)%R]) (expR (a - s) * g z)%:E)%E).
    apply: ge0_le_integral => //.
    - by move=> z _; rewrite lee_fin.
    - apply/EFin_measurable_fun; apply: (@measurable_funS _ _ _ _ setT) => //.
      exact: (measurable_after (measurable_plus d) mg).
    - move=> z [_ /=]; rewrite [d * (z + d)]mulrDr dd => le; rewrite lee_fin /g [d * (z + d)]mulrDr dd.
      have h : x0 <= d * z by lra.
      have := ler_wpmul2r (expR_ge0 (a * (d * z + 1))) (falls h) => /le_trans; apply.
      rewrite mulrAC [leRHS]mulrCA -!expRD mulrC le_eqVlt; apply/orP; left; apply/eqP; congr (_ * expR _); lra.
  apply: subset_integral => //; first exact: mpart.
  move=> z; rewrite /far/part/= mulrDr dd -natr1 => -[h _]; lra.
apply: (le_trans (lee_add c1 c2)).
apply: (@le_trans _ _ ((expR (a * (x0 + 1)))%:E + (expR (a - s))%:E * bound%:E)%E).
  by apply: lee_add => //; apply: lee_wpmul2l => //; rewrite lee_fin expR_ge0.
rewrite -EFinM -EFinD lee_fin; have u0 : 0 < 1 - expR (a - s) by rewrite subr_gt0.
have bE : bound * (1 - expR (a - s)) = expR (a * (x0 + 1)) by rewrite /bound divfK// gt_eqF.
rewrite -bE; lra.
Qed.

Theorem direction_moment : (\int[mu]_z (expR (a * (d * z)))%:E < +oo)%E.
Proof.
rewrite (integral_density dens); last 2 first.
- by apply/EFin_measurable_fun.
- by move=> z; rewrite lee_fin expR_ge0.
apply: (@le_lt_trans _ _ bound%:E); last by rewrite ltry.
pose G (k : nat) (z : R) : \bar R := ((EFin \o g) \_ (part k)) z.
have up k l z : (k <= l)%N -> (G k z <= G l z)%E.
  move=> kl; rewrite /G /patch; case: ifPn => [|_]; last by case: ifP => _; rewrite ?lee_fin.
  rewrite inE /part/= => h; rewrite mem_set//= /part/=; apply: lt_le_trans h _.
  by rewrite ler_add2l ler_nat.
have mG k : measurable_fun setT (G k).
  by apply/(measurable_restrict _ (mpart _) measurableT (@subsetT _ (part k))); exact: mgE.
have G0 k z : (0 <= G k z)%E by rewrite /G /patch; case: ifP => // _; rewrite lee_fin.
have limG z : lim (G ^~ z) = (g z)%:E.
  apply/cvg_lim => //; have [k kz] : exists k : nat, d * z < x0 + k%:R.
    exists (Num.bound `|d * z - x0|); rewrite -ltr_subl_addl; exact: le_lt_trans (ler_norm _) (archi_boundP (normr_ge0 _)).
  apply: cvg_near_cst; exists k => // l /= kl.
  have := up _ _ z kl; rewrite {1}/G /patch mem_set// => le1.
  apply/eqP; rewrite eq_le le1 andbT /G /patch; by case: ifP => // _; rewrite lee_fin.
under eq_integral do rewrite -EFinM.
rewrite (eq_integral (fun z => lim (G ^~ z))); last by move=> z _; rewrite limG.
rewrite monotone_convergence//; last by move=> z _ k l; exact: up.
apply: lime_le.
  by apply: ereal_nondecreasing_is_cvg => k l kl; apply: ge0_le_integral => // z _; exact: up.
by apply: nearW => k; rewrite -integral_mkcond; exact: part_moment.
Qed.
End Moments.

Section Sides.
Context (R : realType) (lam mu : {measure set R -> \bar R}) (f h : R -> R) (lo hi left right : option R).
Hypotheses (dens : has_density lam mu f) (mu1 : mu setT = 1%E) (lc : log_concave lo hi h f).
Hypotheses (sl : left_slope lo h left) (sr : right_slope hi h right) (k1 : keeps lam 1) (k1' : keeps lam (- 1)).

Lemma right_moment a : 0 <= a -> below a right -> (\int[mu]_z (expR (a * z))%:E < +oo)%E.
Proof.
move=> a0 ab; have [s [x0 [as_ falls]]] := right_falls lc sr ab.
rewrite (eq_integral (fun z : R => (expR (a * (1 * z)))%:E)); last by move=> z _; rewrite mul1r.
by apply: (direction_moment (s := s) (x0 := x0) dens) => // [|z]; rewrite ?mulr1// mul1r; exact: falls.
Qed.

Lemma left_moment a : 0 <= a -> below a left -> (\int[mu]_z (expR (- a * z))%:E < +oo)%E.
Proof.
move=> a0 ab; have [s [x0 [as_ falls]]] := right_falls (log_concave_mirrored lc) sl ab.
rewrite (eq_integral (fun z : R => (expR (a * (- 1 * z)))%:E)); last by move=> z _; rewrite mulN1r mulrN mulNr.
apply: (direction_moment (s := s) (x0 := x0) dens) => // [|z]; rewrite ?mulrNN ?mulr1// mulN1r => xz.
by have := falls _ xz; rewrite /mirrored opprD !opprK.
Qed.

(* Between its slopes noise has exponential moments. *)
Lemma exponential_moment a : below a right -> below (- a) left -> (\int[mu]_z (expR (a * z))%:E < +oo)%E.
Proof.
move=> ar al; have [a0|a0] := leP 0 a; first exact: right_moment.
by rewrite -[a]opprK; apply: left_moment => //; lra.
Qed.
End Sides.
