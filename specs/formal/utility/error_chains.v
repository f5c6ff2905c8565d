(* Errors along a chain of databases (docs/theory/necessary.md, steps, and one line of lines lower bound): where each database is near the next
   ones, no mechanism has a small error on all of them. What a chain needs of the loss is said by functions that pay for it. *)
From dpverify Require Import prelude.
From mathcomp.classical Require Import cardinality fsbigop.
From dpverify Require Import definitions arithmetic likelihood.

(* What is less on every event is less in the mean of every function that is at least 0. *)
Section Smaller.
Context (R : realType) d (T : measurableType d) (P Q : {measure set T -> \bar R}) (c : R).
Hypotheses (c0 : 0 <= c) (less : forall S, measurable S -> (c%:E * P S <= Q S)%E).

Lemma integral_smaller (f : T -> R) : measurable_fun setT f -> (forall x, 0 <= f x) ->
  (c%:E * \int[P]_x (f x)%:E <= \int[Q]_x (f x)%:E)%E.
Proof.
move=> mf f0; have mfE : measurable_fun setT (EFin \o f) by exact/EFin_measurable_fun.
have f0E t : setT t -> (0 <= (EFin \o f) t)%E by rewrite /= lee_fin.
have [f_ [ndf_ f_f]] := approximation measurableT mfE f0E.
have part (M : {measure set T -> \bar R}) : (\int[M]_x (f x)%:E = lim (fun n => \int[M]_x (f_ n x)%:E))%E.
  rewrite -monotone_convergence//.
  - by apply: eq_integral => y _; apply/esym/cvg_lim => //; exact: f_f.
  - by move=> n; exact/EFin_measurable_fun.
  - by move=> n y _; rewrite lee_fin.
  - by move=> y _ m n mn; rewrite lee_fin; apply/lefP/ndf_.
have nd (M : {measure set T -> \bar R}) m n : (m <= n)%N -> (\int[M]_x (f_ m x)%:E <= \int[M]_x (f_ n x)%:E)%E.
  move=> mn; apply: ge0_le_integral => //.
  - by move=> x _; rewrite lee_fin.
  - by exact/EFin_measurable_fun.
  - by move=> x _; rewrite lee_fin.
  - by exact/EFin_measurable_fun.
  - by move=> x _; rewrite lee_fin; exact/lefP/ndf_.
have cv (M : {measure set T -> \bar R}) : cvg (fun n => \int[M]_x (f_ n x)%:E)%E.
  by apply: ereal_nondecreasing_is_cvg => m n mn; exact: nd.
have one n : (c%:E * \int[P]_x (f_ n x)%:E <= \int[Q]_x (f_ n x)%:E)%E.
  rewrite !integralT_nnsfun !sintegralE ge0_mule_fsumr; last by move=> k; exact: nnsfun_mulemu_ge0.
  rewrite !fsbig_finite//=; apply: lee_sum => k _; rewrite muleCA.
  have [k0|k0] := leP 0 k.
    by apply: lee_wpmul2l; rewrite ?lee_fin//; apply: less; exact: measurable_sfunP.
  by rewrite !preimage_nnfun0// !measure0 !mule0.
rewrite !part -limeMl//; last exact: cv.
apply: lee_lim => //; [by apply: is_cvgeMl => //; exact: cv|exact: cv|].
by apply: nearW => n; exact: one.
Qed.
End Smaller.

Lemma measurable_sum (R : realType) d (T : measurableType d) (I : finType) (f : I -> T -> R) :
  (forall i, measurable_fun setT (f i)) -> measurable_fun setT (fun z => \sum_i f i z).
Proof.
move=> mf; apply/EFin_measurable_fun; rewrite (_ : EFin \o _ = fun z => (\sum_i (f i z)%:E)%E).
  by apply: emeasurable_fun_sum => i; apply/EFin_measurable_fun.
by apply/funext => z; rewrite /= sumEFin.
Qed.

(* What pays for a loss w of a number on the line: functions psi_j at least 0, with which the number goes j + 1 steps of the length s down at
   the price q, and their mirror images. Then a chain has the mean loss lam, up to its ends. *)
Section Payments.
Context (R : realType).
Definition even (w : R -> R) := forall t, w (- t) = w t.
Definition pays (J : nat) (s q : R) (w : R -> R) (lam : R) (psi : 'I_J -> R -> R) (C : R) :=
  0 <= C /\ [/\ forall j, measurable_fun setT (psi j), forall j t, 0 <= psi j t,
      forall j t, psi j t <= C * (1 + w t), forall (j : 'I_J) t, psi j (t + j.+1%:R * s) <= C * (1 + w t) &
      forall t, lam + (\sum_j (psi j t + psi j (- t))) <= w t + q * (\sum_j (psi j (t + j.+1%:R * s) + psi j (- t + j.+1%:R * s)))].
Definition paid J s q w lam := exists psi C, @pays J s q w lam psi C.
End Payments.

Section Chain.
Context (R : realType) d (Z : measurableType d).
Variables (N J : nat) (P : nat -> {measure set Z -> \bar R}) (u : Z -> R) (s q e C : R) (w : R -> R).
Hypotheses (P1 : forall k, P k setT = 1%E) (mu : measurable_fun setT u) (q0 : 0 <= q) (e0 : 0 <= e) (C0 : 0 <= C).
Hypotheses (mw : measurable_fun setT w) (w0 : forall t, 0 <= w t).

(* How far the output is from the truth of the database k, in steps of the chain. *)
Definition off k (z : Z) : R := u z - k%:R * s.
Definition M k (f : Z -> R) : R := fine (\int[P k]_z (f z)%:E)%E.
Hypothesis mean_loss : forall k, (k < N)%N -> (\int[P k]_z (w (off k z))%:E <= e%:E)%E.
Definition fits k (f : Z -> R) := [/\ measurable_fun setT f, forall z, 0 <= f z & forall z, f z <= C * (1 + w (off k z))].

Lemma measurable_off k : measurable_fun setT (off k).
Proof. by apply: measurable_funB => //; exact: measurable_fun_cst. Qed.

Lemma measurable_of_off k (f : R -> R) : measurable_fun setT f -> measurable_fun setT (fun z => f (off k z)).
Proof. by move=> mf; exact: (measurable_fun_comp mf (measurable_off k)). Qed.

Lemma fits_mean k f : (k < N)%N -> fits k f -> (\int[P k]_z (f z)%:E = (M k f)%:E)%E /\ 0 <= M k f <= C * (1 + e).
Proof.
move=> kN [mf f0 fC]; have ge : (0 <= \int[P k]_z (f z)%:E)%E by apply: integral_ge0 => z _; rewrite lee_fin.
have le : (\int[P k]_z (f z)%:E <= (C * (1 + e))%:E)%E.
  have mwo := measurable_of_off k mw.
  apply: (@le_trans _ _ (\int[P k]_z (C%:E * (1 + w (off k z))%:E))%E).
    apply: ge0_le_integral => //.
    - by move=> z _; rewrite lee_fin.
    - by apply/EFin_measurable_fun.
    - by move=> z _; rewrite -EFinM lee_fin; apply: le_trans (fC z).
    - apply: emeasurable_funM; first exact: measurable_fun_cst.
      by apply/EFin_measurable_fun; apply: measurable_funD => //; exact: measurable_fun_cst.
    - by move=> z _; rewrite -EFinM lee_fin.
  rewrite ge0_integralM//; last first.
  - by move=> z _; rewrite lee_fin addr_ge0.
  - by apply/EFin_measurable_fun; apply: measurable_funD => //; exact: measurable_fun_cst.
  rewrite EFinM; apply: lee_wpmul2l; first by rewrite lee_fin.
  under eq_integral do rewrite EFinD; rewrite ge0_integralD//; last 3 first.
  - exact: measurable_fun_cst.
  - by move=> z _; rewrite lee_fin.
  - by apply/EFin_measurable_fun.
  by rewrite integral_cst// P1 mule1 EFinD lee_add2l// mean_loss.
have fin : (\int[P k]_z (f z)%:E)%E \is a fin_num.
  by rewrite ge0_fin_numE//; apply: le_lt_trans le _; rewrite ltry.
split; first by rewrite /M fineK.
by rewrite -!lee_fin /M fineK// ge le.
Qed.

(* Down the chain, at the price q. *)
Hypothesis near : forall k j S, (j < J)%N -> (k + j.+1 < N)%N -> measurable S -> (q%:E * P (k + j.+1)%N S <= P k S)%E.

Lemma flow (f : R -> R) j : (j < J)%N -> measurable_fun setT f -> (forall t, 0 <= f t) -> (forall t, f t <= C * (1 + w t)) ->
  (forall t, f (t + j.+1%:R * s) <= C * (1 + w t)) ->
  q * (\sum_(k < N) M k (fun z => f (off k z + j.+1%:R * s))) <= (\sum_(k < N) M k (fun z => f (off k z))) + j.+1%:R * (q * (C * (1 + e))).
Proof.
move=> jJ mf f0 fC fC'; set B := C * (1 + e).
have B0 : 0 <= B by rewrite mulr_ge0// addr_ge0.
have here k : fits k (fun z => f (off k z)) by split=> //; exact: measurable_of_off.
have there k : fits k (fun z => f (off k z + j.+1%:R * s)).
  split=> //.
  have mo : measurable_fun setT (fun z => off k z + j.+1%:R * s).
    by apply: (@measurable_funD _ _ _ _ (off k)) (measurable_fun_cst _); exact: measurable_off.
  exact: (measurable_fun_comp mf mo).
have most k : (k < N)%N -> M k (fun z => f (off k z + j.+1%:R * s)) <= B by move=> kN; have [_ /andP[]] := fits_mean kN (there k).
have least k : (k < N)%N -> 0 <= M k (fun z => f (off k z)) by move=> kN; have [_ /andP[]] := fits_mean kN (here k).
have [Nj|jN] := leqP N j.+1.
  apply: (@le_trans _ _ (j.+1%:R * (q * B))); last by rewrite ler_addr; apply: sumr_ge0 => k _; exact: least.
  rewrite mulrCA; apply: ler_wpmul2l => //; apply: (@le_trans _ _ (\sum_(k < N) B)); first by apply: ler_sum => k _; exact: most.
  by rewrite sumr_const card_ord -mulr_natl ler_wpmul2r// ler_nat.
have [n NE] : exists n, N = (j.+1 + n)%N by exists (N - j.+1)%N; rewrite subnKC// ltnW.
have step k : (k < n)%N -> q * M (j.+1 + k)%N (fun z => f (off (j.+1 + k)%N z + j.+1%:R * s)) <= M k (fun z => f (off k z)).
  move=> kn; have kN : (j.+1 + k < N)%N by rewrite NE ltn_add2l.
  have kN' : (k < N)%N by rewrite NE; apply: leq_trans kn _; exact: leq_addl.
  have [E1 _] := fits_mean kN (there _); have [E2 _] := fits_mean kN' (here k).
  have E3 z : f (off (j.+1 + k)%N z + j.+1%:R * s) = f (off k z) by rewrite /off natrD; congr f; lra.
  rewrite -lee_fin EFinM -E1 -E2; under eq_integral do rewrite E3.
  have [mk k0 _] := here k; apply: integral_smaller => // S mS; rewrite addnC; apply: near => //; by rewrite addnC.
have E (F : nat -> R) : \sum_(k < N) F k = (\sum_(k < j.+1) F k) + \sum_(k < n) F (j.+1 + k)%N.
  by rewrite NE big_split_ord /=; congr (_ + _); apply: eq_bigr.
rewrite (E (fun k => M k (fun z => f (off k z + j.+1%:R * s)))) mulrDr addrC; apply: ler_add; last first.
  rewrite mulrCA; apply: ler_wpmul2l => //; apply: (@le_trans _ _ (\sum_(k < j.+1) B)).
    by apply: ler_sum => k _; apply: most; apply: ltn_trans jN; exact: ltn_ord.
  by rewrite sumr_const card_ord -mulr_natl.
rewrite mulr_sumr; apply: (@le_trans _ _ (\sum_(k < n) M k (fun z => f (off k z)))); first by apply: ler_sum => k _; exact: step.
have -> : \sum_(k < N) M k (fun z => f (off k z)) = (\sum_(k < n) M k (fun z => f (off k z))) + \sum_(k < j.+1) M (n + k)%N (fun z => f (off (n + k)%N z)).
  rewrite NE addnC big_split_ord/=; congr (_ + _); exact: eq_bigr.
rewrite ler_addl; apply: sumr_ge0 => k _; apply: least; by rewrite NE addnC ltn_add2r ltn_ord.
Qed.
End Chain.


Lemma back_again n k : (k < n)%N -> (n.-1 - (n - k.+1) = k)%N.
Proof. by case: n => // n kn; rewrite subSS subKn. Qed.

Section Whole.
Context (R : realType) d (Z : measurableType d).
Variables (N J : nat) (P : nat -> {measure set Z -> \bar R}) (u : Z -> R) (s q e C lam : R) (w : R -> R) (psi : 'I_J -> R -> R).
Hypotheses (P1 : forall k, P k setT = 1%E) (mu : measurable_fun setT u) (q0 : 0 <= q) (e0 : 0 <= e).
Hypotheses (mw : measurable_fun setT w) (w0 : forall t, 0 <= w t) (we : even w).
Hypothesis mean_loss : forall k, (k < N)%N -> (\int[P k]_z (w (off u s k z))%:E <= e%:E)%E.
Hypothesis near : forall k j S, (j < J)%N -> (k + j.+1 < N)%N -> measurable S -> (q%:E * P (k + j.+1)%N S <= P k S)%E.
Hypothesis near' : forall k j S, (j < J)%N -> (k + j.+1 < N)%N -> measurable S -> (q%:E * P k S <= P (k + j.+1)%N S)%E.
Hypothesis pay : pays s q w lam psi C.

Let turned (b : bool) (t : R) := if b then t else - t.
Let F (i : 'I_J * bool) t := psi i.1 (turned i.2 t).
Let G (i : 'I_J * bool) t := psi i.1 (turned i.2 t + i.1.+1%:R * s).

Lemma measurable_turned b : measurable_fun setT (turned b).
Proof. by case: b; [exact: measurable_fun_id | apply: measurable_funN; exact: measurable_fun_id]. Qed.

Lemma fits_F k i : fits u s C w k (fun z => F i (off u s k z)).
Proof.
have [C0 [mpsi psi0 psiC _ _]] := pay; split=> [|z|z]; [|exact: psi0|].
- by apply: measurable_of_off => //; exact: (measurable_fun_comp (mpsi _) (measurable_turned _)).
- by apply: le_trans (psiC _ _) _; rewrite /turned; case: i.2; rewrite // we.
Qed.

Lemma fits_G k i : fits u s C w k (fun z => G i (off u s k z)).
Proof.
have [C0 [mpsi psi0 _ psiC _]] := pay; split=> [|z|z]; [|exact: psi0|].
- apply: measurable_of_off => //; apply: (measurable_fun_comp (mpsi _)); apply: measurable_funD; last exact: measurable_fun_cst.
  exact: measurable_turned.
- by apply: le_trans (psiC _ _) _; rewrite /turned; case: i.2; rewrite // we.
Qed.

Lemma at_one k : (k < N)%N -> 0 <= lam ->
  lam + (\sum_i M P k (fun z => F i (off u s k z))) <= M P k (fun z => w (off u s k z)) + q * (\sum_i M P k (fun z => G i (off u s k z))).
Proof.
move=> kN l0; have [C0 [mpsi psi0 psiC psiC' dual]] := pay.
have E i := fits_mean P1 mu C0 mw w0 mean_loss kN (fits_F k i).
have E' i := fits_mean P1 mu C0 mw w0 mean_loss kN (fits_G k i).
have fw : fits u s 1 w k (fun z => w (off u s k z)).
  by split=> [||z]; [exact: measurable_of_off | by [] | rewrite mul1r ler_addr].
have [Ew _] := fits_mean P1 mu ler01 mw w0 mean_loss kN fw.
have mF i : measurable_fun setT (fun z => (F i (off u s k z))%:E) by apply/EFin_measurable_fun; have [] := fits_F k i.
have mG i : measurable_fun setT (fun z => (G i (off u s k z))%:E) by apply/EFin_measurable_fun; have [] := fits_G k i.
have sums (H : 'I_J * bool -> R -> R) : (forall i, measurable_fun setT (fun z => (H i (off u s k z))%:E)) -> (forall i t, 0 <= H i t) ->
    (forall i, (\int[P k]_z (H i (off u s k z))%:E = (M P k (fun z => H i (off u s k z)))%:E)%E) ->
    (\int[P k]_z (\sum_i H i (off u s k z))%:E = (\sum_i M P k (fun z => H i (off u s k z)))%:E)%E.
  move=> mH H0 HE; rewrite -sumEFin -(eq_bigr _ (fun i _ => HE i)) -ge0_integral_sum//.
  - by apply: eq_integral => z _; rewrite sumEFin.
  - by move=> i z _; rewrite lee_fin.
have msum (H : 'I_J * bool -> R -> R) : (forall i, measurable_fun setT (fun z => (H i (off u s k z))%:E)) ->
    measurable_fun setT (fun z => \sum_i H i (off u s k z)).
  by move=> mH; apply: measurable_sum => i; apply/EFin_measurable_fun; exact: mH.
have F0 i t : 0 <= F i t by exact: psi0.
have G0 i t : 0 <= G i t by exact: psi0.
have lamE : (\int[P k]_z lam%:E = lam%:E)%E by rewrite integral_cst// P1 mule1.
have qE : (\int[P k]_z (q * \sum_i G i (off u s k z))%:E = (q * \sum_i M P k (fun z => G i (off u s k z)))%:E)%E.
  under eq_integral do rewrite EFinM; rewrite ge0_integralM//; last 2 first.
  - by apply/EFin_measurable_fun; exact: msum.
  - by move=> z _; rewrite lee_fin sumr_ge0.
  by rewrite (sums G)// => i; have [] := E' i.
have FE : (\int[P k]_z (\sum_i F i (off u s k z))%:E = (\sum_i M P k (fun z => F i (off u s k z)))%:E)%E.
  by rewrite (sums F)// => i; have [] := E i.
rewrite -lee_fin 2!EFinD -Ew -qE -FE -lamE; apply: le_integrals.
- exact: measurable_fun_cst.
- exact: msum.
- by have [] := fw.
- by apply: measurable_funM; [exact: measurable_fun_cst | exact: msum].
- by [].
- by move=> z; exact: sumr_ge0.
- by move=> z; exact: w0.
- by move=> z; apply: mulr_ge0 => //; exact: sumr_ge0.
move=> z; have := dual (off u s k z).
have pairs (H : 'I_J -> bool -> R) : \sum_j (H j true + H j false) = \sum_i H i.1 i.2.
  by rewrite -(pair_bigA _ H)/=; apply: eq_bigr => j _; rewrite big_bool.
by rewrite (pairs (fun j b => psi j (turned b (off u s k z)))) (pairs (fun j b => psi j (turned b (off u s k z) + j.+1%:R * s))).
Qed.

Definition ends : R := 2 * \sum_(j < J) j.+1%:R * (q * (C * (1 + e))).

Theorem chain_loss : N%:R * lam <= (\sum_(k < N) M P k (fun z => w (off u s k z))) + ends.
Proof.
have [C0 [mpsi psi0 psiC psiC' dual]] := pay.
have fw k : fits u s 1 w k (fun z => w (off u s k z)).
  by split=> [||z]; [exact: measurable_of_off | by [] | rewrite mul1r ler_addr].
have W0 : 0 <= \sum_(k < N) M P k (fun z => w (off u s k z)).
  by apply: sumr_ge0 => k _; have [_ /andP[]] := fits_mean P1 mu ler01 mw w0 mean_loss (ltn_ord k) (fw k).
have ends0 : 0 <= ends.
  by rewrite /ends mulr_ge0// sumr_ge0// => j _; rewrite !mulr_ge0// addr_ge0.
have [l0|l0] := leP lam 0.
  by apply: le_trans (_ : 0 <= _); [rewrite mulr_ge0_le0 | exact: addr_ge0].
have l0' := ltW l0.
pose u' z := N.-1%:R * s - u z; pose P' k := P (N.-1 - k)%N.
have mu' : measurable_fun setT u' by apply: measurable_funB => //; exact: measurable_fun_cst.
have back k z : (k < N)%N -> off u' s k z = - off u s (N.-1 - k) z.
  by move=> kN; rewrite /off /u' natrB; [lra | case: (N) kN].
have up (j : 'I_J) : q * (\sum_(k < N) M P k (fun z => G (j, true) (off u s k z))) <=
    (\sum_(k < N) M P k (fun z => F (j, true) (off u s k z))) + j.+1%:R * (q * (C * (1 + e))).
  exact: (flow P1 mu q0 e0 C0 mw w0 mean_loss near (ltn_ord j) (mpsi j) (psi0 j) (psiC j) (psiC' j)).
have down (j : 'I_J) : q * (\sum_(k < N) M P k (fun z => G (j, false) (off u s k z))) <=
    (\sum_(k < N) M P k (fun z => F (j, false) (off u s k z))) + j.+1%:R * (q * (C * (1 + e))).
  have mean_loss' k : (k < N)%N -> (\int[P' k]_z (w (off u' s k z))%:E <= e%:E)%E.
    move=> kN; under eq_integral do rewrite back// we.
    by apply: mean_loss; case: (N) kN => // n _; rewrite ltnS leq_subr.
  have near_back k i S : (i < J)%N -> (k + i.+1 < N)%N -> measurable S -> (q%:E * P' (k + i.+1)%N S <= P' k S)%E.
    move=> iJ kN mS; rewrite /P'.
    have -> : (N.-1 - k = N.-1 - (k + i.+1) + i.+1)%N.
      by rewrite subnDA subnK// leq_subRL; case: (N) kN => // n; rewrite ltnS //= => h; apply: leq_trans h; exact: leq_addr.
    apply: near' => //; rewrite subnDA subnK; first by case: (N) kN => // n _; rewrite ltnS leq_subr.
    by rewrite leq_subRL; case: (N) kN => // n; rewrite ltnS //= => h; apply: leq_trans h; exact: leq_addr.
  have := flow (fun k => P1 _) mu' q0 e0 C0 mw w0 mean_loss' near_back (ltn_ord j) (mpsi j) (psi0 j) (psiC j) (psiC' j).
  have rev (f : R -> R) : \sum_(k < N) M P' k (fun z => f (off u' s k z)) = \sum_(k < N) M P k (fun z => f (- off u s k z)).
    rewrite (reindex_inj rev_ord_inj)/=; apply: eq_bigr => k _; rewrite /M /P'.
    have twice : (N.-1 - (N - k.+1) = k)%N by exact: back_again.
    by rewrite twice; congr fine; apply: eq_integral => z _; rewrite back ?(ltn_ord (rev_ord k))// twice.
  by rewrite (rev (fun t => psi j (t + j.+1%:R * s))) rev.
have h : \sum_(k < N) (lam + (\sum_i M P k (fun z => F i (off u s k z)))) <=
    \sum_(k < N) (M P k (fun z => w (off u s k z)) + q * (\sum_i M P k (fun z => G i (off u s k z)))).
  by apply: ler_sum => k _; exact: at_one.
move: h; rewrite !big_split/= -!mulr_sumr sumr_const card_ord -[lam *+ N]mulr_natl => h.
have swap (H : 'I_J * bool -> R -> R) : \sum_(k < N) \sum_i M P k (fun z => H i (off u s k z)) =
    \sum_j ((\sum_(k < N) M P k (fun z => H (j, true) (off u s k z))) + \sum_(k < N) M P k (fun z => H (j, false) (off u s k z))).
  rewrite exchange_big/=; pose T j b := \sum_(k < N) M P k (fun z => H (j, b) (off u s k z)).
  transitivity (\sum_i T i.1 i.2); first by apply: eq_bigr => -[].
  rewrite -(pair_bigA _ T)/=; by apply: eq_bigr => j _; rewrite big_bool.
pose both_ways (H : 'I_J * bool -> R -> R) :=
  \sum_j ((\sum_(k < N) M P k (fun z => H (j, true) (off u s k z))) + \sum_(k < N) M P k (fun z => H (j, false) (off u s k z))).
have {}h : N%:R * lam + both_ways F <= (\sum_(k < N) M P k (fun z => w (off u s k z))) + q * both_ways G by rewrite /both_ways -(swap F) -(swap G); exact: h.
suff : q * both_ways G <= both_ways F + ends by lra.
rewrite /both_ways /ends !mulr_sumr -big_split/=; apply: ler_sum => j _; have := up j; have := down j; lra.
Qed.
End Whole.
