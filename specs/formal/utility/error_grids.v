(* Errors on a grid of databases (docs/theory/necessary.md, lines lower bound: all lines together): the databases that are reached by steps along
   several lines at once, of which each by itself makes errors on the chains that run along it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic likelihood means error_chains.

(* One coordinate of a place in a grid is changed. *)
Section Places.
Context (m N : nat).
Notation place := {ffun 'I_m -> 'I_N}.
Definition put (k : place) l (a : 'I_N) : place := [ffun l' => if l' == l then a else k l'].

Lemma put_back k l a : put (put k l a) l (k l) = k.
Proof. by apply/ffunP => l'; rewrite !ffunE; case: eqP => // ->. Qed.

(* In the sum over all places and all changes of one coordinate each place occurs N times. *)
Lemma sum_of_changes (R : realType) (g : place -> R) l : \sum_k \sum_a g (put k l a) = N%:R * \sum_k g k.
Proof.
pose turn (p : place * 'I_N) := (put p.1 l p.2, p.1 l).
have turned : involutive turn by move=> [k a]; rewrite /turn/= put_back ffunE eqxx.
rewrite (pair_bigA _ (fun k a => g (put k l a)))/= (reindex_inj (inv_inj turned))/=.
transitivity (\sum_(p : place * 'I_N) g p.1); first by apply: eq_bigr => p _; rewrite put_back.
rewrite -(pair_bigA _ (fun k _ => g k))/= mulr_sumr; apply: eq_bigr => k _; by rewrite sumr_const card_ord mulr_natl.
Qed.
End Places.

Section Grid.
Context (R : realType) (X : Type) d (Z : measurableType d) (M : mechanism R X Z) (N : definitions.relation X) (eps : R).
(* The numbers that are put out, and the true answers. *)
Context (D : nat) (coordinate : 'I_D -> Z -> R) (answer : X -> 'I_D -> R).
Hypothesis mcoordinate : forall i, measurable_fun setT (coordinate i).
Definition error x (z : Z) (i : 'I_D) : R := coordinate i z - answer x i.

(* Lines along which answers move by s times move l, and which neighbours are up to J steps apart. *)
Context (m J : nat) (s : R) (move : 'I_m -> 'I_D -> R).
Definition grid n := exists (db : {ffun 'I_m -> 'I_n} -> X) (base : 'I_D -> R),
  (forall k i, answer (db k) i = base i + \sum_l (k l)%:R * s * move l i) /\
  (forall k l (a b : 'I_n), (a < b)%N -> (b <= a + J)%N -> both N (db (put k l a)) (db (put k l b))).

(* Loss that is at least a sum of losses of one number, each along a line. *)
Context (loss : ('I_D -> R) -> R) (w : R -> R) (lam e : R) (along : 'I_m -> 'I_D -> R) (weight : 'I_m -> R).
Definition part l (y : 'I_D -> R) : R := \sum_i along l i * y i.
Hypotheses (mw : measurable_fun setT w) (w0 : forall t, 0 <= w t) (we : even w) (weight0 : forall l, 0 <= weight l).
Hypotheses (loss_parts : forall y, \sum_l weight l * w (part l y) <= loss y) (unit_part : forall l, 0 < weight l -> part l (move l) = 1).
Hypotheses (mloss : forall x, measurable_fun setT (fun z => loss (error x z))) (e0 : 0 <= e).
Hypothesis mean_loss : forall x, (\int[M x]_z (loss (error x z))%:E <= e%:E)%E.
Hypotheses (priv : pure_dp N M eps) (pay : paid J s (expR (- eps)) w lam).

Lemma measurable_part l x : measurable_fun setT (fun z => part l (error x z)).
Proof.
apply: measurable_sum => i; apply: measurable_funM; first exact: measurable_fun_cst.
by apply: measurable_funB => //; exact: measurable_fun_cst.
Qed.

Lemma loss_ge0 y : 0 <= loss y.
Proof. by apply: le_trans (loss_parts y); apply: sumr_ge0 => l _; rewrite mulr_ge0. Qed.

Lemma one_part l x : 0 < weight l -> (\int[M x]_z (w (part l (error x z)))%:E <= (e / weight l)%:E)%E.
Proof.
move=> wl; rewrite [e / _]mulrC EFinM lee_pdivl_mull// -integral_scaled ?(ltW wl)//; last first.
- exact: (measurable_fun_comp mw (measurable_part l x)).
apply: le_trans (mean_loss x); apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin mulr_ge0// ltW.
- apply/EFin_measurable_fun; apply: measurable_funM; first exact: measurable_fun_cst.
  exact: (measurable_fun_comp mw (measurable_part l x)).
- by move=> z _; rewrite lee_fin loss_ge0.
- exact/EFin_measurable_fun.
- move=> z _; rewrite lee_fin; apply: le_trans (loss_parts _); rewrite (bigD1 l)//= ler_addl.
  by apply: sumr_ge0 => l' _; rewrite mulr_ge0.
Qed.

Definition mean_part l x : R := fine (\int[M x]_z (w (part l (error x z)))%:E)%E.

Lemma mean_part_ge0 l x : 0 <= mean_part l x.
Proof. by rewrite fine_ge0// integral_ge0// => z _; rewrite lee_fin. Qed.

Lemma parts_le x : \sum_l weight l * mean_part l x <= e.
Proof.
rewrite -lee_fin; apply: le_trans (mean_loss x).
apply: (@le_trans _ _ (\int[M x]_z (\sum_l weight l * w (part l (error x z)))%:E)%E); last first.
  apply: ge0_le_integral => //.
  - by move=> z _; rewrite lee_fin sumr_ge0// => l _; rewrite mulr_ge0.
  - apply/EFin_measurable_fun; apply: measurable_sum => l; apply: measurable_funM; first exact: measurable_fun_cst.
    exact: (measurable_fun_comp mw (measurable_part l x)).
  - by move=> z _; rewrite lee_fin loss_ge0.
  - exact/EFin_measurable_fun.
  - by move=> z _; rewrite lee_fin.
under [leRHS]eq_integral do rewrite -sumEFin.
rewrite ge0_integral_sum//; last 2 first.
- move=> l; apply/EFin_measurable_fun; apply: measurable_funM; first exact: measurable_fun_cst.
  exact: (measurable_fun_comp mw (measurable_part l x)).
- by move=> l z _; rewrite lee_fin mulr_ge0.
rewrite -sumEFin; apply: lee_sum => l _; rewrite integral_scaled//; last first.
  exact: (measurable_fun_comp mw (measurable_part l x)).
have [z|nz] := eqVneq (weight l) 0; first by rewrite z !mul0r mul0e.
have wl : 0 < weight l by rewrite lt_neqAle eq_sym nz weight0.
rewrite EFinM /mean_part fineK// ge0_fin_numE; last by rewrite integral_ge0// => z _; rewrite lee_fin.
by apply: le_lt_trans (one_part x wl) _; rewrite ltry.
Qed.

(* What one line asks of the databases of a grid, on average. *)
Lemma line_in_grid l : 0 < weight l -> exists E : R, forall n (db : {ffun 'I_m -> 'I_n} -> X) (base : 'I_D -> R),
  (forall k i, answer (db k) i = base i + \sum_l (k l)%:R * s * move l i) ->
  (forall k l (a b : 'I_n), (a < b)%N -> (b <= a + J)%N -> both N (db (put k l a)) (db (put k l b))) ->
  forall k, n%:R * lam <= (\sum_(a < n) mean_part l (db (put k l a))) + E.
Proof.
move=> wl; have [psi [C pays]] := pay; exists (@ends R J (expR (- eps)) (e / weight l) C) => -[|n] db base answers near k.
  rewrite mul0r big_ord0 add0r /ends mulr_ge0// sumr_ge0// => j _; have [C0 _] := pays.
  by rewrite !mulr_ge0 ?expR_ge0// addr_ge0// divr_ge0// ltW.
pose u z := part l (fun i => coordinate i z - base i) - \sum_(l' | l' != l) (k l')%:R * s * part l (move l').
pose P (a : nat) : {measure set Z -> \bar R} := M (db (put k l (inord a))).
have offE (a : nat) z : (a < n.+1)%N -> off u s a z = part l (error (db (put k l (inord a))) z).
  move=> an; rewrite /off /u /error.
  transitivity (part l (fun i => coordinate i z - base i) - \sum_l' (put k l (inord a) l')%:R * s * part l (move l')).
    rewrite [X in _ = _ - X](bigD1 l)//= ffunE eqxx unit_part// mulr1 inordK// -addrA -opprD [a%:R * s + _]addrC.
    by congr (_ - (_ + _)); apply: eq_bigr => l' /negbTE nl; rewrite ffunE nl.
  rewrite /part; under [X in _ - X]eq_bigr do rewrite mulr_sumr; rewrite exchange_big/= -sumrB; apply: eq_bigr => i _.
  rewrite answers -[X in _ - X](_ : along l i * (\sum_l' (put k l (inord a) l')%:R * s * move l' i) = _); first by lra.
  by rewrite mulr_sumr; apply: eq_bigr => l' _; rewrite mulrCA.
have mu : measurable_fun setT u.
  apply: measurable_funB; last exact: measurable_fun_cst.
  apply: measurable_sum => i; apply: measurable_funM; first exact: measurable_fun_cst.
  by apply: measurable_funB => //; exact: measurable_fun_cst.
have P1 a : P a setT = 1%E by exact: law_total.
have ew : 0 <= e / weight l by rewrite divr_ge0// ltW.
have one a : (a < n.+1)%N -> (\int[P a]_z (w (off u s a z))%:E <= (e / weight l)%:E)%E.
  by move=> an; under eq_integral do rewrite offE//; exact: one_part.
have q0 : 0 <= expR (- eps) by exact: expR_ge0.
have carry x x' S : both N x x' -> measurable S -> ((expR (- eps))%:E * M x' S <= M x S)%E.
  move=> xx mS; have := priv (bothC xx) mS; rewrite adde0 => h.
  have : ((expR (- eps))%:E * M x' S <= (expR (- eps))%:E * ((expR eps)%:E * M x S))%E by apply: lee_wpmul2l => //; rewrite lee_fin.
  by rewrite muleA -EFinM -expRD addNr expR0 mul1e.
have down a j S : (j < J)%N -> (a + j.+1 < n.+1)%N -> measurable S -> ((expR (- eps))%:E * P (a + j.+1)%N S <= P a S)%E.
  move=> jJ an mS; have a' : (a < n.+1)%N := leq_ltn_trans (leq_addr _ _) an; apply: carry => //.
  apply: near; rewrite !inordK//; [by rewrite addnS ltnS leq_addr | by rewrite leq_add2l].
have up a j S : (j < J)%N -> (a + j.+1 < n.+1)%N -> measurable S -> ((expR (- eps))%:E * P a S <= P (a + j.+1)%N S)%E.
  move=> jJ an mS; have a' : (a < n.+1)%N := leq_ltn_trans (leq_addr _ _) an; apply: carry => //.
  apply: bothC; apply: near; rewrite !inordK//; [by rewrite addnS ltnS leq_addr | by rewrite leq_add2l].
have := chain_loss P1 mu q0 ew mw w0 we one down up pays; congr (_ <= _ + _); apply: eq_bigr => a _.
rewrite /error_chains.M /P inord_val /mean_part; congr fine; apply: eq_integral => z _; by rewrite offE ?inord_val.
Qed.

Hypothesis grids : forall n, grid n.

Theorem grid_loss : (\sum_l weight l) * lam <= e.
Proof.
have some l : exists E, 0 < weight l -> forall n (db : {ffun 'I_m -> 'I_n} -> X) (base : 'I_D -> R),
  (forall k i, answer (db k) i = base i + \sum_l (k l)%:R * s * move l i) ->
  (forall k l (a b : 'I_n), (a < b)%N -> (b <= a + J)%N -> both N (db (put k l a)) (db (put k l b))) ->
  forall k, n%:R * lam <= (\sum_(a < n) mean_part l (db (put k l a))) + E.
  have [wl|wl] := ltP 0 (weight l); last by exists 0.
  by have [E h] := line_in_grid wl; exists E.
have [E h] := choice some.
set total := \sum_l weight l * E l.
have each n : (0 < n)%N -> (\sum_l weight l) * lam <= e + total / n%:R.
  move=> n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
  have [db [base [answers near]]] := grids n.
  pose K : R := #|{: {ffun 'I_m -> 'I_n}}|%:R.
  have K0 : 0 < K by rewrite ltr0n card_ffun !card_ord expn_gt0 n0.
  have line l : weight l * (K * (n%:R * lam - E l)) <= weight l * (n%:R * \sum_k mean_part l (db k)).
    have [z|nz] := eqVneq (weight l) 0; first by rewrite z !mul0r.
    have wl : 0 < weight l by rewrite lt_neqAle eq_sym nz weight0.
    rewrite ler_pmul2l// -(sum_of_changes (fun k => mean_part l (db k)) l).
    rewrite /K mulr_natl -sumr_const; apply: ler_sum => k _; rewrite ler_subl_addr; exact: h wl _ _ _ answers near k.
  have : \sum_l weight l * (K * (n%:R * lam - E l)) <= \sum_l weight l * (n%:R * \sum_k mean_part l (db k)) by apply: ler_sum => l _.
  have -> : \sum_l weight l * (K * (n%:R * lam - E l)) = K * (n%:R * ((\sum_l weight l) * lam) - total).
    rewrite /total mulr_suml mulr_sumr -sumrB mulr_sumr; apply: eq_bigr => l _; lra.
  have -> : \sum_l weight l * (n%:R * \sum_k mean_part l (db k)) = n%:R * \sum_k \sum_l weight l * mean_part l (db k).
    rewrite exchange_big/= mulr_sumr; apply: eq_bigr => l _; rewrite -mulr_sumr; lra.
  have le : \sum_k \sum_l weight l * mean_part l (db k) <= K * e.
    by rewrite /K mulr_natl -sumr_const; apply: ler_sum => k _; exact: parts_le.
  move/le_trans => /(_ _ (ler_wpmul2l (ltW nR) le)); rewrite [X in _ <= X]mulrCA ler_pmul2l// => fine.
  rewrite -(ler_pmul2l nR) mulrDr [n%:R * (total / _)]mulrC divfK ?gt_eqF//; lra.
have [t0|t0] := leP total 0.
  by apply: le_trans (each 1%N isT) _; rewrite divr1; lra.
rewrite leNgt; apply/negP => lt; rewrite -subr_gt0 in lt; set gap := _ - e in lt.
pose n := (Num.bound (total / gap)).+1; have n0 : 0 < n%:R :> R by rewrite ltr0n.
have := each n isT; rewrite -ler_subl_addl -/gap ler_pdivl_mulr// => le.
have : total / gap < n%:R.
  by apply: lt_trans (archi_boundP _) _; [rewrite divr_ge0// ltW | rewrite ltr_nat].
by rewrite ltr_pdivr_mulr// mulrC => lt'; move: le; rewrite leNgt lt'.
Qed.
End Grid.
