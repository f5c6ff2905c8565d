(* Report noisy max (docs/theory/selection.md: noisy maximum, survival, log-concave noisy max, from above) for any number of answers: the winner's
   threshold moves by at most r, so that the loss is at most that of the survival function of one noise; or, with the winner's noise fixed, that
   of the distribution functions of the others. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels composition groups joint_neighbours finite.
Local Open Scope ereal_scope.

Section Rays.
Context (R : realType) (mu : {measure set R -> \bar R}) (v r : R).
Hypotheses (mu1 : mu setT = 1) (v0 : (0 <= v)%R).

(* S(m) <= e^v S(m + r), where S(m) = P[Z >= m]. *)
Definition survives := forall m, mu [set z | (m <= z)%R] <= (expR v)%:E * mu [set z | (m + r <= z)%R].
Hypothesis S : survives.

Lemma measurable_ray (m : R) : measurable [set z : R | (m <= z)%R].
Proof.
rewrite (_ : [set z | _] = `[m, +oo[%classic); first exact: measurable_itv.
by apply/seteqP; split=> z /=; rewrite in_itv/= andbT.
Qed.

Lemma measurable_open_ray (m : R) : measurable [set z : R | (m < z)%R].
Proof.
rewrite (_ : [set z | _] = `]m, +oo[%classic); first exact: measurable_itv.
by apply/seteqP; split=> z /=; rewrite in_itv/= andbT.
Qed.

Lemma survives_open m : mu [set z | (m < z)%R] <= (expR v)%:E * mu [set z | (m + r < z)%R].
Proof.
pose F (n : nat) := [set z : R | (m + n.+1%:R^-1 <= z)%R].
have mF n : measurable (F n) by exact: measurable_ray.
have FU : [set z | (m < z)%R] = \bigcup_n F n.
  apply/seteqP; split=> [z /= mz | z [n _ /=] h]; last first.
    by apply: lt_le_trans h; rewrite ltr_addl invr_gt0 ltr0n.
  exists `|ceil (z - m)^-1|%N => //; rewrite /F /= -ler_subr_addl.
  have zm : (0 < z - m)%R by rewrite subr_gt0.
  rewrite -[leRHS]invrK lef_pinv ?posrE ?invr_gt0 ?ltr0n//.
  rewrite -natr1 natr_absz ger0_norm; last by rewrite ceil_ge0// invr_ge0 ltW.
  by rewrite ler_paddr// ceil_ge.
have cF : (mu \o F) --> mu [set z | (m < z)%R].
  rewrite FU; apply: nondecreasing_cvg_mu => //; first exact: bigcupT_measurable.
  move=> a b ab; apply/subsetPset => z /=; apply: le_trans; rewrite ler_add2l.
  by rewrite lef_pinv ?posrE ?ltr0n// ler_nat ltnS.
rewrite -(cvg_lim _ cF)//; apply: lime_le; first by apply/cvg_ex; exists (mu [set z | (m < z)%R]).
apply: nearW => n; apply: (le_trans (S _)); rewrite lee_wpmul2l ?lee_fin ?expR_ge0//.
apply: le_measure; rewrite ?inE; [exact: measurable_ray | exact: measurable_open_ray |].
by move=> z /=; apply: lt_le_trans; rewrite addrAC ltr_addl invr_gt0 ltr0n.
Qed.

(* A set that holds with each number all greater ones. *)
Definition upward (A : set R) := forall y z, A y -> (y <= z)%R -> A z.

Lemma survives_upward (A A' : set R) : measurable A -> measurable A' -> upward A -> (forall z : R, A z -> A' (z + r)%R) ->
  mu A <= (expR v)%:E * mu A'.
Proof.
move=> mA mA' up AA'.
have le (B : set R) : measurable B -> B `<=` A' -> (expR v)%:E * mu B <= (expR v)%:E * mu A'.
  by move=> mB BA; rewrite lee_wpmul2l ?lee_fin ?expR_ge0//; apply: le_measure; rewrite ?inE.
have [[a Aa]|none] := pselect (exists a, A a); last first.
  rewrite (_ : A = set0) ?measure0 ?mule_ge0 ?lee_fin ?expR_ge0//.
  by apply/seteqP; split=> z // Az; apply: none; exists z.
have [[m lb]|nlb] := pselect (exists m, lbound A m); last first.
  have AT : A = setT.
    apply/seteqP; split=> z // _; apply: contrapT => nAz; apply: nlb; exists z => y Ay.
    by rewrite leNgt; apply/negP => yz; apply: nAz; apply: up Ay (ltW yz).
  rewrite AT mu1; apply: (@le_trans _ _ ((expR v)%:E * mu setT)).
    by rewrite mu1 mule1 lee_fin -expR0 ler_expR.
  apply: le => // z _; rewrite -(subrK r z); apply: AA'; by rewrite AT.
have hi : has_inf A by split; [exists a | exists m].
have [At|nAt] := pselect (A (inf A)).
- have -> : A = [set z | (inf A <= z)%R].
    apply/seteqP; split=> z /=; first by move=> Az; apply: inf_lb => //; exists m.
    exact: up.
  apply: (le_trans (S _)); apply: le; first exact: measurable_ray.
  by move=> z /= h; rewrite -(subrK r z); apply: AA'; apply: up At _; rewrite ler_subr_addr.
- have AE : A = [set z | (inf A < z)%R].
    apply/seteqP; split=> z /=.
      move=> Az; rewrite lt_neqAle inf_lb ?andbT//; last by exists m.
      by apply/eqP => E; apply: nAt; rewrite E.
    by move=> /(inf_lt hi.1)[y Ay yz]; apply: up Ay (ltW yz).
  rewrite {1}AE; apply: (le_trans (survives_open _)); apply: le; first exact: measurable_open_ray.
  by move=> z /= h; rewrite -(subrK r z); apply: AA'; rewrite AE/= ltr_subr_addr.
Qed.
End Rays.

Section NoisyMax.
Context (R : realType) (n : nat) d (W : measurableType d) d' (T : measurableType d').
Variables (mu : {measure set R -> \bar R}) (nu : 'I_n -> {measure set W -> \bar R}) (Z : 'I_n -> W -> 'I_n -> R).
Hypotheses (mu1 : mu setT = 1) (nu1 : forall i, nu i setT = 1) (mZ : forall i j, measurable_fun setT (fun w => Z i w j)).

(* Of several greatest answers the one of least index is told. *)
Definition beats (i j : 'I_n) (a b : R) : bool := if (j < i)%N then (b < a)%R else (b <= a)%R.

(* i is told of the answers q: Z i w are the noises of the others, z is that of i, independent of them. *)
Definition told (q : 'I_n -> R) (i : 'I_n) : set (W * R) :=
  \big[setI/setT]_(j < n | j != i) [set x : W * R | beats i j (q i + x.2)%R (q j + Z i x.1 j)%R].

Lemma markov_noise : markov (fun _ : W => mu).
Proof. by split=> [_|S mS] //; exact: measurable_fun_cst. Qed.

Definition chance q i : R := fine (joint markov_noise (nu i) (told q i)).

(* M tells the index of the greatest noisy answer. *)
Variables (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall i, measurable [set pt i]) (MZ : has_table M pt chance).

Lemma measurable_told q i : measurable (told q i).
Proof.
apply: bigsetI_measurable => j _.
pose g (x : W * R) := ((q i + x.2) - (q j + Z i x.1 j))%R.
have m1 : measurable_fun setT (fst : W * R -> W).
  by move=> _ A mA; rewrite setTI (_ : fst @^-1` A = A `*` setT); [exact: measurableM | apply/seteqP; split=> x //= -[]].
have m2 : measurable_fun setT (snd : W * R -> R).
  by move=> _ A mA; rewrite setTI (_ : snd @^-1` A = setT `*` A); [exact: measurableM | apply/seteqP; split=> x //= -[]].
have mg : measurable_fun setT g.
  apply: measurable_funB; apply: measurable_funD; try exact: measurable_fun_cst.
  - exact: m2.
  - by move=> _ A mA; have := m1 measurableT _ (mZ i j measurableT mA); rewrite !setTI.
have [ji|/negbTE ji] := boolP (j < i)%N; rewrite /beats ji.
- rewrite (_ : [set x | _] = setT `&` g @^-1` [set z | (0 < z)%R]).
    by apply: mg => //; exact: measurable_open_ray.
  by rewrite setTI; apply/seteqP; split=> x /=; rewrite /g subr_gt0.
- rewrite (_ : [set x | _] = setT `&` g @^-1` [set z | (0 <= z)%R]).
    by apply: mg => //; exact: measurable_ray.
  by rewrite setTI; apply/seteqP; split=> x /=; rewrite /g subr_ge0.
Qed.

Lemma told_implies q q' i w y z :
  (forall j, beats i j (q i + y)%R (q j + Z i w j)%R -> beats i j (q' i + z)%R (q' j + Z i w j)%R) ->
  told q i (w, y) -> told q' i (w, z).
Proof.
move=> H; rewrite /told; apply: (@big_ind2 _ _ (fun A B : set (W * R) => A (w, y) -> B (w, z))) => //.
- by move=> A B A' B' AB A'B' [/AB ? /A'B' ?]; split.
- by move=> j _ /=; exact: H.
Qed.

Lemma turn (a b c e : R) : (a + b + c + e = e + c + a + b)%R.
Proof. by rewrite [LHS]addrC [(a + b + c)%R]addrC addrA -[RHS]addrA. Qed.

Lemma turn_back (a b c e : R) : (b + (c + e) = a + c + (b - a) + e)%R.
Proof. by rewrite addrA; congr (_ + _)%R; rewrite [RHS]addrC addrA subrK. Qed.

Theorem noisy_max_close v r (q q' : 'I_n -> R) : (0 <= v)%R -> survives mu v r ->
  (forall i j, (q' j - q j) - (q' i - q i) <= r)%R -> close v 0 (M q) (M q').
Proof.
move=> v0 S qq; apply/(table_close pt_inj pt_measurable MZ) => i.
have jf x : joint markov_noise (nu i) (told x i) \is a fin_num.
  by apply: mass_fin; [exact: joint_total | exact: measurable_told].
rewrite -lee_fin EFinM /chance !fineK// /joint -ge0_integralM//; last 2 first.
- by apply: markov_sections; [exact: markov_noise | exact: measurable_told].
- by rewrite lee_fin expR_ge0.
apply: ge0_le_integral => //.
- by apply: markov_sections; [exact: markov_noise | exact: measurable_told].
- by move=> w _; rewrite mule_ge0 ?lee_fin ?expR_ge0.
- by apply: measurable_funeM; apply: markov_sections; [exact: markov_noise | exact: measurable_told].
move=> w _; have mt := measurable_told q i; have mt' := measurable_told q' i; apply: (survives_upward mu1 v0 S).
- exact: measurable_xsection.
- exact: measurable_xsection.
- move=> y z; rewrite /xsection/= !inE => H yz; apply: told_implies H => j; rewrite /beats; case: ifP => _ h.
    by apply: lt_le_trans h _; rewrite ler_add2l.
  by apply: le_trans h _; rewrite ler_add2l.
- move=> z; rewrite /xsection/= !inE; apply: told_implies => j; rewrite /beats.
  have e : (q' j + Z i w j <= q j + Z i w j + (q' i - q i) + r)%R.
    have := qq i j; rewrite ler_subl_addr ler_subl_addr => h.
    by rewrite turn ler_add2r.
  have f : (q' i + (z + r) = q i + z + (q' i - q i) + r)%R.
    exact: turn_back.
  by case: ifP => _ h; rewrite f; [apply: le_lt_trans e _; rewrite !ltr_add2r | apply: le_trans e _; rewrite !ler_add2r].
Qed.

(* Each answer moves by at most D: "all". *)
Definition moved_by D : relation ('I_n -> R) := fun q q' => forall j, (`|q' j - q j| <= D)%R.
(* All move the same way. *)
Definition raised_by D : relation ('I_n -> R) := fun q q' => forall j, (0 <= q' j - q j <= D)%R.

Theorem noisy_max_all v D : (0 <= v)%R -> survives mu v (2 * D) -> pure_dp (moved_by D) M v.
Proof.
move=> v0 S q q' qq; have {}qq : moved_by D q q' by case: qq => // qq j; rewrite distrC.
apply: (noisy_max_close v0 S) => i j; apply: le_trans (ler_norm _) _; apply: le_trans (ler_norm_sub _ _) _.
by rewrite mulr2n mulrDl mul1r ler_add.
Qed.

Theorem noisy_max_monotone v D : (0 <= v)%R -> survives mu v D -> pure_dp (raised_by D) M v.
Proof.
move=> v0 S q q' [qq|qq]; apply: (noisy_max_close v0 S) => i j.
  by have /andP[a b] := qq i; have /andP[a' b'] := qq j; rewrite ler_subl_addr (le_trans b')// ler_addl.
have /andP[a b] := qq i; have /andP[a' b'] := qq j.
rewrite -[(q' i - q i)%R]opprB opprK -[(q' j - q j)%R]opprB addrC ler_subl_addr (le_trans b)// ler_addl //.
Qed.
End NoisyMax.
