(* Report noisy max with noise of any law, from what the noise loses by itself (docs/theory/selection.md, selection moduli): the index of the greatest, the
   index and the lead over the next one, and whatever is told of all noisy answers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels finite selection independent one_noise survival noisy_max_rule greatest_lead.
From dpverify Require Import grids noise_itself winners.

Section Moduli.
Context (R : realType) (n : nat) (grid : R -> Prop) (mu : {measure set R -> \bar R}).
Hypotheses (grid0 : grid 0) (gridB : forall a b, grid a -> grid b -> grid (a - b)) (mu1 : mu setT = 1%E).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Implicit Types (q : 'I_n -> R) (i j : 'I_n).

Notation loses := (loses grid mu1).
Let loses_ge0 s w : 0 <= s -> loses s w -> 0 <= w. Proof. exact: loses_ge0 grid0. Qed.

Let nu1 : nu setT = 1%E := independent_total noises.

(* Of several greatest answers one is told by an order of the indices, which is drawn with these weights. *)
Context (K : finType) (weight : K -> R) (prior : K -> rel 'I_n).
Hypotheses (weight0 : forall k, 0 <= weight k) (weight1 : \sum_k weight k = 1).

(* Neighbours that differ by integers, where answers are integers. *)
Definition on_grid (N : relation ('I_n -> R)) : relation ('I_n -> R) := fun q q' => N q q' /\ forall j, grid (q' j - q j).

Let grid_opp := grid_opp gridB.

Lemma on_gridP N q q' : both (on_grid N) q q' -> both N q q' /\ forall j, grid (q' j - q j).
Proof. by case=> -[qq g]; split; [left | exact: g | right | move=> j; rewrite -opprB; apply: grid_opp; exact: g]. Qed.

Lemma winner_grid D (N : relation ('I_n -> R)) r : grid D -> winner_moves D N r -> grid r.
Proof. by move=> gD [] //; rewrite mulr2n mulrDl mul1r -[X in _ + X]opprK; apply: gridB => //; exact: grid_opp. Qed.

Lemma winner_ge0 D (N : relation ('I_n -> R)) r : 0 <= D -> winner_moves D N r -> 0 <= r.
Proof. by move=> D0 [] //; rewrite mulr_ge0. Qed.

Lemma winner_apart_by D N r q q' i j : 0 <= D -> winner_moves D N r -> both N q q' -> `|(q' j - q' i) - (q j - q i)| <= r.
Proof.
move=> D0 mv qq; have h := winner_apart D0 mv qq i j; have h' := winner_apart D0 mv (bothC qq) i j.
by rewrite ler_norml; apply/andP; split; lra.
Qed.

(* -- The index: the winner's noise moves, by r -- *)

Section Index.
Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall i, measurable [set pt i]) (MZ : has_table M pt (greatest_chance nu Z weight prior)).

Lemma index_close r w : 0 <= r -> grid r -> loses r w -> forall q q', (forall i j, (q' j - q' i) - (q j - q i) <= r) -> close w 0 (M q) (M q').
Proof.
move=> r0 gr L q q' apart.
apply: (shifted_close noises weight0 weight1 pt_inj pt_measurable MZ (shift := fun i (l : nat) => if l == i :> nat then r else 0)
  (cost := fun i (l : nat) => if l == i :> nat then w else 0)).
- move=> i j jn A mA; case: ifP => _; first by apply: (shift_costs L) => //; rewrite ger0_norm.
  rewrite expR0 mul1e le_eqVlt; apply/orP; left; apply/eqP; congr (mu _); apply/seteqP; split=> z /=; by rewrite addr0.
- by move=> i; rewrite (bigD1 i)//= eqxx big1 ?addr0// => j ji; rewrite ifN.
- by move=> i j ji; rewrite eqxx ifN//; have := apart i j; lra.
Qed.

(* The index of one answer tells nothing. *)
Lemma index_alone q q' : (n <= 1)%N -> close 0 0 (M q) (M q').
Proof.
move=> n1; apply: (shifted_close noises weight0 weight1 pt_inj pt_measurable MZ (shift := fun _ _ => 0) (cost := fun _ _ => 0)).
- move=> i j jn A mA; rewrite expR0 mul1e le_eqVlt; apply/orP; left; apply/eqP; congr (mu _); apply/seteqP; split=> z /=; by rewrite addr0.
- by move=> i; rewrite big1.
- move=> i j; have := leq_trans (ltn_ord i) n1; have := leq_trans (ltn_ord j) n1; rewrite !ltnS !leqn0 => /eqP j0 /eqP i0.
  by case/eqP; apply: val_inj; rewrite /= i0 j0.
Qed.

(* Rule: selection-moduli, upper. *)
Theorem index_moduli D N r w : 0 <= D -> grid D -> winner_moves D N r -> loses r w \/ (n <= 1)%N /\ w = 0 -> pure_dp (on_grid N) M w.
Proof.
move=> D0 gD mv [L|[n1 ->]] q q' /on_gridP[qq _]; last exact: index_alone.
by apply: (index_close (winner_ge0 D0 mv) (winner_grid gD mv) L) => i j; exact: winner_apart D0 mv qq i j.
Qed.
End Index.

(* Where each shift up to r costs no more, no value has a positive probability: many others would have as much of it. *)
Lemma no_atom r w x : 0 < r -> loses r w -> (forall t, grid t) -> mu [set x] = 0%E.
Proof.
move=> r0 L all_on; have w0 := loses_ge0 (ltW r0) L; pose a := fine (mu [set x]); have m1 y : measurable [set y : R] by exact: measurable_set1.
have aE : mu [set x] = a%:E by rewrite /a fineK// mass_fin.
have a0 : 0 <= a by rewrite -lee_fin -aE measure_ge0.
rewrite aE; congr (_%:E); apply/eqP; rewrite eq_le a0 andbT.
have many (k : nat) : a * k%:R <= expR w.
  pose p (i : nat) : R := x + r / i.+1%:R.
  have p_inj (i j : nat) : p i = p j -> i = j.
    by move=> /addrI /(mulfI (lt0r_neq0 r0)) /invr_inj /eqP; rewrite eqr_nat eqSS => /eqP.
  have each (i : nat) : (a%:E <= (expR w)%:E * mu [set p i])%E.
    have := shift_costs (t := r / i.+1%:R) (A := [set p i]) L; rewrite -aE.
    have -> : [set z : R | [set p i] (z + r / i.+1%:R)] = [set x] by apply/seteqP; split=> z /=; rewrite /p => h; [exact: addIr h | rewrite h].
    apply=> //; have q0 : 0 <= r / i.+1%:R by rewrite divr_ge0 ?(ltW r0).
    by rewrite (ger0_norm q0) ler_pdivr_mulr ?ltr0n// ler_pmulr// ler1n.
  have total : ((\sum_(i < k) mu [set p i]) <= 1)%E.
    rewrite -(@measure_bigsetU _ _ _ mu (fun i : nat => [set p i]))//; first by apply: mass_le1 => //; exact: bigsetU_measurable.
    by apply/trivIsetP => i j _ _ ij; apply/seteqP; split=> z //= [-> /p_inj e]; rewrite e eqxx in ij.
  rewrite -lee_fin; apply: (@le_trans _ _ (\sum_(i < k) (expR w)%:E * mu [set p i])%E).
    apply: (@le_trans _ _ (\sum_(i < k) a%:E)%E); last by apply: lee_sum => i _.
    by rewrite sumEFin sumr_const card_ord mulr_natr.
  rewrite -ge0_sume_distrr// -[leRHS]mule1; apply: lee_wpmul2l => //; by rewrite lee_fin expR_ge0.
rewrite leNgt; apply/negP => ap; have := many `|ceil (expR w / a)|%N.+1.
rewrite -natr1 natr_absz ger0_norm ?ceil_ge0 ?divr_ge0 ?expR_ge0// mulrDr mulr1 => h.
have : expR w <= a * (ceil (expR w / a))%:~R by rewrite mulrC -ler_pdivr_mulr// ceil_ge.
by move: h; lra.
Qed.

(* -- The index and the lead over the next one: given the other noises they are a function of the winner's noise, which moves by at most r -- *)

Section Lead.
Context (other : 'I_n -> 'I_n).
Hypothesis other_one : forall i, other i != i.
Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> R -> T).
Hypothesis pt_measurable : forall i, measurable_fun setT (pt i).
Hypothesis ML : forall q S, measurable S -> M q S = (\sum_k weight k * \sum_i fine (nu (told_lead Z prior other pt k q S i)))%:E.

(* On the reals a lead of 0 has no chance; of two answers it tells of the only other one. *)
Variant no_third : Prop := OnReals of (forall t, grid t) | TwoAnswers of n = 2%N.

Let put_else put i : puts_one (fun=> mu) i nu Z put -> forall (j : 'I_n) w z, j != i -> Z j (put (w, z)) = Z j w.
Proof. by move=> [_ _ po _ _] j w z ji; exact: po. Qed.

Lemma next_put put (i : 'I_n) q w z : puts_one (fun=> mu) i nu Z put -> next Z other q i (put (w, z)) = next Z other q i w.
Proof. by move=> puts; rewrite /next !(put_else puts)//; apply: eq_bigr => j ji; rewrite (put_else puts). Qed.

Lemma lead_close r w : 0 <= r -> loses r w -> no_third -> forall q q', (forall j, grid (q' j - q j)) ->
  (forall i j, `|(q' j - q' i) - (q j - q i)| <= r) -> close w 0 (M q) (M q').
Proof.
move=> r0 L third q q' on apart S mS; rewrite adde0 !ML// -EFinM lee_fin mulr_sumr; apply: ler_sum => k _.
rewrite mulrCA ler_wpmul2l// mulr_sumr; apply: ler_sum => i _.
have mt q0 := measurable_told_lead noises prior other pt_measurable k q0 i mS.
rewrite -lee_fin EFinM !fineK ?mass_fin//.
have [put puts] := draw_again noises (ltn_ord i); have [_ pi _ _ _] := puts.
pose t y := next Z other q' i y - next Z other q i y - (q' i - q i).
have leadE y z : lead Z other q' i (put (y, z + t y)) = lead Z other q i (put (y, z)) by rewrite /lead !(next_put _ _ _ puts) !pi /t; lra.
have bound y : `|t y| <= r.
  have [j ji E] := next_met Z other_one q i y; have [j' ji' E'] := next_met Z other_one q' i y.
  have h := next_most Z other q y ji'; have h' := next_most Z other q' y ji.
  have := apart i j'; have := apart i j; rewrite !ler_norml /t => /andP[? ?] /andP[? ?]; apply/andP; split; lra.
have mn q0 : measurable_fun setT (next Z other q0 i) by exact: (measurable_next noises).
have [r00|rn] := eqVneq r 0.
  have same y : lead Z other q' i y = lead Z other q i y.
    by have := bound y; rewrite r00 normr_le0 /t /lead => /eqP; lra.
  rewrite -[leLHS]mul1e; apply: lee_pmul => //; first by rewrite lee_fin -expR0 ler_expR (loses_ge0 r0 L).
  apply: le_measure; rewrite ?inE// => y [G Sy]; split; last by rewrite /= same.
  apply: greatest_of => j ji; have := greatest_wins G ji; have := apart i j.
  by rewrite r00 normr_le0 /wins => /eqP ?; case: (prior k _ _); lra.
have rp : 0 < r by rewrite lt_neqAle eq_sym rn r0.
case: third => [all_on|n2].
- pose tie := [set y | lead Z other q i y = 0].
  have mtie : measurable tie.
    by rewrite /tie (_ : [set y | _] = setT `&` lead Z other q i @^-1` [set 0]); [apply: (measurable_lead noises) => // | rewrite setTI].
  have tie0 : nu tie = 0%E.
    apply: (one_null puts mtie) => y; rewrite (_ : [set z | _] = [set next Z other q i y - q i]) ?(no_atom _ rp L)//.
    by apply/seteqP; split=> z; rewrite /tie/= /lead (next_put _ _ _ puts) pi => h; lra.
  set A := told_lead Z prior other pt k q S i; have mA : measurable A by exact: mt.
  have mD : measurable (A `\` tie) by exact: measurableD.
  apply: (@le_trans _ _ (nu (A `\` tie))).
    have sub : A `<=` (A `\` tie) `|` tie by move=> y h; have [yt|yt] := pselect (tie y); [right | left].
    apply: (@le_trans _ _ (nu ((A `\` tie) `|` tie))); first by apply: le_measure; rewrite ?inE//; exact: measurableU.
    have apart0 : (A `\` tie) `&` tie = set0 by apply/seteqP; split=> y // [[_ nt] yt].
    have E : (nu ((A `\` tie) `|` tie) = nu (A `\` tie) + nu tie)%E := measureU nu mD mtie apart0.
    by rewrite E tie0 adde0.
  apply: (one_moved (fun=> mu1) puts (t := t) mD (mt q')) => [y B mB|y z [[G Sz] nt]]; first exact: (shift_costs L).
  split; last by rewrite /= leadE.
  apply: (@lead_wins _ _ _ _ Z _ prior other); rewrite leadE lt_neqAle (lead_ge0 other_one G) andbT.
  by apply/eqP => e; apply: nt; rewrite /tie/= -e.
- have only j : j != i -> j = other i.
    move=> ji; apply: val_inj; have := other_one i; move: ji; rewrite -!val_eqE/=.
    have := ltn_ord i; have := ltn_ord j; have := ltn_ord (other i); move: n2 => {}n2.
    by move: (nat_of_ord i) (nat_of_ord j) (nat_of_ord (other i)); rewrite n2; do 3![case=> [|[|?]]//].
  have nextO q0 y : next Z other q0 i y = q0 (other i) + Z (other i) y by have [j /only -> ->] := next_met Z other_one q0 i y.
  have tE y : t y = (q' (other i) - q (other i)) - (q' i - q i) by rewrite /t !nextO; lra.
  apply: (one_moved (fun=> mu1) puts (t := t) (mt q) (mt q')) => [y B mB|y z [G Sz]].
    by apply: (shift_costs L) => //; rewrite tE; exact: gridB.
  split; last by rewrite /= leadE.
  apply: greatest_of => j ji; have := greatest_wins G ji; rewrite /wins (only _ ji).
  have := leadE y z; rewrite /lead !nextO !(put_else puts _ _ (other_one i)); case: (prior k _ _); lra.
Qed.

(* Rule: selection-moduli, upper. *)
Theorem lead_moduli D N r w : 0 <= D -> winner_moves D N r -> loses r w -> no_third -> pure_dp (on_grid N) M w.
Proof.
move=> D0 mv L third q q' /on_gridP[qq g]; apply: (lead_close (winner_ge0 D0 mv) L third g) => i j; exact: winner_apart_by mv qq.
Qed.
End Lead.

(* -- What is told of all noisy answers: each noise makes up for what its answer moves by -- *)

Section Told.
Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (tell : K -> ('I_n -> R) -> T).
Hypothesis tell_measurable : forall k q, measurable_fun setT (fun w => tell k (fun i => q i + Z i w)).
Hypothesis MT : forall q S, measurable S -> M q S = (\sum_k weight k * fine (nu [set w | S (tell k (fun i => q i + Z i w))]))%:E.

Lemma told_close (cost : 'I_n -> R) q q' : (forall i A, measurable A -> (mu [set z | A (z + (q i - q' i))%R] <= (expR (cost i))%:E * mu A)%E) ->
  close (\sum_i cost i) 0 (M q) (M q').
Proof.
move=> costs S mS; rewrite adde0 !MT// -EFinM lee_fin mulr_sumr; apply: ler_sum => k _.
have mk q0 : measurable [set w | S (tell k (fun i => q0 i + Z i w))].
  by rewrite -[X in measurable X]setTI; exact: (tell_measurable k q0).
rewrite mulrCA ler_wpmul2l// -lee_fin EFinM !fineK ?mass_fin//.
pose v (j : nat) : R := if insub j is Some i then q i - q' i else 0; pose c (j : nat) : R := if insub j is Some i then cost i else 0.
have vE (i : 'I_n) : v i = q i - q' i by rewrite /v valK. have cE (i : 'I_n) : c i = cost i by rewrite /c valK.
have paid (j : nat) : (j < n)%N -> forall A, measurable A -> (mu [set z | A (z + v j)%R] <= (expR (c j))%:E * mu A)%E.
  by move=> jn A mA; have := costs (Ordinal jn) A mA; rewrite -vE -cE.
have [S' [mS' SE Sc]] := independent_moved noises paid.
rewrite (eq_bigr (fun i : 'I_n => c i)); last by move=> i _; rewrite cE.
apply: le_trans (Sc _ (mk q')); apply: le_measure; rewrite ?inE//; first by rewrite -[X in measurable X]setTI; exact: mS'.
move=> w /=; suff -> : (fun i : 'I_n => q' i + Z i (S' w)) = (fun i => q i + Z i w) by [].
by apply/funext => i; rewrite SE// vE; lra.
Qed.

(* All noisy answers, or what is a function of them, as the greatest itself: so many times what each loses, or once where one moves alone. *)
(* Rule: selection-moduli, upper. *)
Theorem told_moduli D N r w : 0 <= D -> winner_moves D N r -> loses D w ->
  pure_dp (on_grid N) M (w *+ n) /\ (N = moved_alone D -> pure_dp (on_grid N) M w).
Proof.
move=> D0 mv L; have w0 := loses_ge0 D0 L.
have small q q' : both N q q' -> forall j, `|q j - q' j| <= D.
  have one p p' : N p p' -> forall j, `|p' j - p j| <= D.
    case: mv => [h j|h j|[i [h same]] j]; first exact: h.
    - by have /andP[? ?] := h j; rewrite ger0_norm.
    - by have [->|/same ->] := eqVneq j i; last by rewrite subrr normr0.
  by case=> h j; [rewrite distrC|]; exact: one h j.
have paid q q' j A : both N q q' -> grid (q' j - q j) -> measurable A -> (mu [set z | A (z + (q j - q' j))%R] <= (expR w)%:E * mu A)%E.
  by move=> qq /grid_opp g mA; apply: (shift_costs L) => //; [exact: small | move: g; rewrite opprB].
split=> [q q' /on_gridP[qq g]|E q q' /on_gridP[qq g]].
  have := @told_close (fun=> w) q q'; rewrite sumr_const card_ord; apply=> i A; exact: paid.
have [i same] : exists i, forall j, j != i -> q' j = q j.
  by move: qq; rewrite E => -[[i [_ h]]|[i [_ h]]]; exists i => j ji; rewrite h.
have := @told_close (fun j => if j == i then w else 0) q q'.
rewrite (bigD1 i)//= eqxx big1 ?addr0; last by move=> j /negbTE ->.
apply=> j A mA; case: eqP => [_|/eqP ji]; first exact: paid.
rewrite same// subrr expR0 mul1e le_eqVlt; apply/orP; left; apply/eqP; congr (mu _); apply/seteqP; split=> z /=; by rewrite addr0.
Qed.
End Told.
End Moduli.
