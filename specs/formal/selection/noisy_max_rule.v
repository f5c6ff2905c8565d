(* Report noisy max with log-concave noise (docs/theory/selection.md, log-concave noisy max): the tight epsilon of the index, for any number of
   answers and any way to choose among several greatest ones. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels composition groups joint_neighbours finite selection.
From dpverify Require Import independent log_concave moments chain worst_run_limits.

(* One answer moves alone. *)
Definition alone_by (R : realType) n D : relation ('I_n -> R) := fun q q' => exists i, `|q' i - q i| <= D /\ forall j, j != i -> q' j = q j.

Section NoisyMax.
Context (R : realType) (n : nat) (lam mu : {measure set R -> \bar R}) (left right : option R).
Hypotheses (mu1 : mu setT = 1%E) (slopes : has_slopes lam mu left right) (left0 : positive_slope left) (right0 : positive_slope right).
Hypotheses (kept1 : keeps lam 1) (kept1' : keeps lam (- 1)).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.

(* Of several greatest answers one is told by an order of the indices, which is drawn with these weights: one order is the least index, all of them
   with the same weight are to choose at random. *)
Context (K : finType) (weight : K -> R) (prior : K -> rel 'I_n).
Hypotheses (weight0 : forall k, 0 <= weight k) (weight1 : \sum_k weight k = 1).
Definition wins k (i j : 'I_n) (a b : R) : bool := if prior k j i then b < a else b <= a.
Definition greatest_is k (q : 'I_n -> R) (i : 'I_n) : set W :=
  \big[setI/setT]_(j < n | j != i) [set w | wins k i j (q i + Z i w) (q j + Z j w)].
Definition greatest_chance q i : R := \sum_k weight k * fine (nu (greatest_is k q i)).

Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypotheses (pt_inj : injective pt) (pt_measurable : forall i, measurable [set pt i]) (MZ : has_table M pt greatest_chance).

Let nu1 : nu setT = 1%E := independent_total noises.

Lemma measurable_greatest k q i : measurable (greatest_is k q i).
Proof.
apply: bigsetI_measurable => j _.
have mg : measurable_fun setT (fun w => (q i + Z i w) - (q j + Z j w)).
  apply: measurable_funB; apply: measurable_funD; try exact: measurable_fun_cst; exact: (measurable_noises noises).
rewrite /wins; case: (prior k j i).
- rewrite (_ : [set w | _] = setT `&` (fun w => (q i + Z i w) - (q j + Z j w)) @^-1` [set z | 0 < z]).
    by apply: mg => //; exact: measurable_open_ray.
  by rewrite setTI; apply/seteqP; split=> w /=; rewrite subr_gt0.
- rewrite (_ : [set w | _] = setT `&` (fun w => (q i + Z i w) - (q j + Z j w)) @^-1` [set z | 0 <= z]).
    by apply: mg => //; exact: measurable_ray.
  by rewrite setTI; apply/seteqP; split=> w /=; rewrite subr_ge0.
Qed.

Lemma greatest_wins k q i w j : greatest_is k q i w -> j != i -> wins k i j (q i + Z i w) (q j + Z j w).
Proof. by move=> G ji; move: G; rewrite /greatest_is (bigD1 j)//= => -[]. Qed.

Lemma greatest_of k q i w : (forall j, j != i -> wins k i j (q i + Z i w) (q j + Z j w)) -> greatest_is k q i w.
Proof. by move=> H; rewrite /greatest_is; elim/big_ind: _ => //; exact: H. Qed.

(* Where the noises are shifted so that the lead of i over each other answer does not fall, i wins again. *)
Lemma shifted_close (q q' : 'I_n -> R) v (shift cost : 'I_n -> nat -> R) :
  (forall i j, (j < n)%N -> forall A, measurable A -> (mu [set z | A (z + shift i j)%R] <= (expR (cost i j))%:E * mu A)%E) ->
  (forall i, \sum_(j < n) cost i j <= v) ->
  (forall i j : 'I_n, j != i -> (q' j - q j) + shift i j <= (q' i - q i) + shift i i) -> close v 0 (M q) (M q').
Proof.
move=> costs total lead; apply/(table_close pt_inj pt_measurable MZ) => i.
rewrite /greatest_chance mulr_sumr; apply: ler_sum => k _; rewrite mulrCA ler_wpmul2l//.
have mk q0 := measurable_greatest k q0 i.
rewrite -lee_fin EFinM !fineK ?mass_fin//.
have [S [mS SE Sc]] := independent_moved noises (costs i).
apply: (@le_trans _ _ (nu [set w | greatest_is k q' i (S w)])).
  apply: le_measure; rewrite ?inE//; first by rewrite -[X in measurable X]setTI; exact: mS.
  move=> w G; apply: greatest_of => j ji; have := greatest_wins G ji; rewrite !SE// /wins.
  have := lead i j ji; case: ifP => _ h1 h2; lra.
apply: (le_trans (Sc _ (mk q'))); apply: lee_wpmul2r => //; by rewrite lee_fin ler_expR.
Qed.

(* Shifted by r the noise loses its slope times r. *)
Lemma shift_right b r A : right = Some b -> 0 <= r -> keeps lam r -> measurable A -> (mu [set z | A (z + r)%R] <= (expR (b * r))%:E * mu A)%E.
Proof.
move=> rb r0 kr mA; have [lo [hi [h [f [dens lc sl sr]]]]] := slopes; rewrite rb in sr.
by apply: (density_moved kr dens mA) => z _; exact: (right_ratio z lc sr r0).
Qed.

Lemma shift_left b r A : left = Some b -> 0 <= r -> keeps lam (- r) -> measurable A -> (mu [set z | A (z - r)%R] <= (expR (b * r))%:E * mu A)%E.
Proof.
move=> lb r0 kr mA; have [lo [hi [h [f [dens lc sl sr]]]]] := slopes; rewrite lb in sl.
by apply: (density_moved kr dens mA) => z _; exact: (left_ratio z lc sl r0).
Qed.

Lemma shift_none A : (mu [set z | A (z + 0)%R] <= (expR 0)%:E * mu A)%E.
Proof. by rewrite expR0 mul1e le_eqVlt; apply/orP; left; apply/eqP; congr (mu _); apply/seteqP; split=> z /=; rewrite addr0. Qed.

(* r min(b+, (n - 1) b-), where 0 times infinity is 0. *)
Variant least_loss (r : R) : R -> Prop :=
| OwnNoise b of right = Some b : least_loss r (r * b)
| OtherNoises b of left = Some b : least_loss r (r * (n.-1%:R * b))
| NoOther of n = 1%N : least_loss r 0.

Lemma own_noise_close r b q q' : right = Some b -> 0 <= r -> keeps lam r ->
  (forall i j, (q' j - q j) - (q' i - q i) <= r) -> close (r * b) 0 (M q) (M q').
Proof.
move=> rb r0 kr apart.
apply: (@shifted_close q q' _ (fun i j => if j == i :> nat then r else 0) (fun i j => if j == i :> nat then b * r else 0)).
- by move=> i j jn A mA; case: ifP => _; [exact: shift_right | exact: shift_none].
- move=> i; rewrite (bigD1 i)//= eqxx big1 ?addr0 1?mulrC// => j ji; by rewrite ifN.
- move=> i j ji; rewrite eqxx ifN//; have := apart i j; lra.
Qed.

Lemma other_noises_close r b q q' : left = Some b -> 0 <= r -> keeps lam (- r) ->
  (forall i j, (q' j - q j) - (q' i - q i) <= r) -> close (r * (n.-1%:R * b)) 0 (M q) (M q').
Proof.
move=> lb r0 kr apart.
apply: (@shifted_close q q' _ (fun i j => if j == i :> nat then 0 else - r) (fun i j => if j == i :> nat then 0 else b * r)).
- by move=> i j jn A mA; case: ifP => _; [exact: shift_none | exact: shift_left].
- move=> i; rewrite (bigD1 i)//= eqxx add0r (eq_bigr (fun=> b * r)); last by move=> j ji; rewrite ifN.
  rewrite sumr_const (eq_card (B := predC1 i)); last by move=> j; rewrite !inE.
  by rewrite cardC1 card_ord -[_ *+ _]mulr_natl mulrC [b * r]mulrC -mulrA [b * _]mulrC le_eqVlt eqxx.
- move=> i j ji; rewrite eqxx ifN//; have := apart i j; lra.
Qed.

(* The index. The greatest noisy answer is in greatest_value and greatest_real, the index with its lead in greatest_lead. *)
(* Rule: log-concave-noisy-max, upper, in part: answers that differ by points of a hull. *)
Theorem noisy_max_index_upper N r v : 0 <= r -> keeps lam r -> keeps lam (- r) ->
  (forall q q', both N q q' -> forall i j, (q' j - q j) - (q' i - q i) <= r) -> least_loss r v -> pure_dp N M v.
Proof.
move=> r0 kr kr' apart L q q' /apart ap; case: L => [b rb|b lb|n1].
- exact: own_noise_close.
- exact: other_noises_close.
apply: (@shifted_close q q' _ (fun _ _ => 0) (fun _ _ => 0)).
- by move=> i j jn A mA; exact: shift_none.
- by move=> i; rewrite big1.
- have n1' : (n <= 1)%N by rewrite n1.
  move=> i j; have := leq_trans (ltn_ord i) n1'; have := leq_trans (ltn_ord j) n1'; rewrite !ltnS !leqn0 => /eqP j0 /eqP i0.
  by case/eqP; apply: val_inj; rewrite /= i0 j0.
Qed.

(* -- From below -- *)

Lemma some_chance q : exists i, 0 < greatest_chance q i.
Proof.
apply: contrapT => none; have zero i : greatest_chance q i = 0.
  apply/eqP; rewrite eq_le; apply/andP; split; first by rewrite leNgt; apply/negP => pos; apply: none; exists i.
  by apply: sumr_ge0 => k _; rewrite mulr_ge0// fine_ge0.
have := law_total M q; rewrite MZ// big1; last by move=> i _; rewrite zero mul0r.
by move=> /eqP; rewrite eqe eq_sym oner_eq0.
Qed.

Section Far.
Variables (i : 'I_n) (e : 'I_n -> R) (r : R).
Hypothesis apart : forall j, j != i -> e j - e i = r.
Let a (j : 'I_n) (l : nat) : R := (l == i :> nat)%:R - (l == j :> nat)%:R.
Let move (j : 'I_n) : R := e i - e j.
Let x (s : nat) : 'I_n -> R := fun j => s%:R * e j.

Lemma greatest_comes_out k s : greatest_is k (x s) i `<=` run_comes_out n Z pred0 a (fun=> 0) move 0 s.
Proof.
move=> w G; rewrite /run_comes_out; elim/big_ind: _ => // j _.
rewrite /comes_out/= /row addr0.
have -> : \sum_(l < n) a j l * Z l w = Z i w - Z j w.
  rewrite (eq_bigr (fun l : 'I_n => (l == i)%:R * Z l w - (l == j)%:R * Z l w)); last by move=> l _; rewrite /a mulrBl.
  rewrite sumrB; congr (_ - _).
  - by rewrite (bigD1 i)//= eqxx mul1r big1 ?addr0// => l /negbTE ->; rewrite mul0r.
  - by rewrite (bigD1 j)//= eqxx mul1r big1 ?addr0// => l /negbTE ->; rewrite mul0r.
have [->|ji] := eqVneq j i; first by rewrite /move !subrr mulr0 addr0.
have := greatest_wins G ji; rewrite /wins /x /move; case: ifP => _ h; lra.
Qed.

Lemma noisy_max_far N u : (0 < greatest_chance (x 0) i) -> (forall s, both N (x s) (x s.+1)) -> 0 <= u ->
  within (n.-1%:R * u) right -> within u left -> ((n.-1%:R * u * r)%:E <= tight_epsilon N M 0)%E.
Proof.
move=> pos chain u0 ur ul; pose y (j : 'I_n) := if j == i then 0 else u.
have count (F : R) : \sum_(j < n | j != i) F = n.-1%:R * F.
  by rewrite sumr_const (eq_card (B := predC1 i)) ?cardC1 ?card_ord ?mulr_natl// => j; rewrite !inE.
have lE : loss move y = n.-1%:R * u * r.
  rewrite /loss (bigD1 i)//= /y eqxx mul0r add0r (eq_bigr (fun=> - (u * r))); last first.
    by move=> j ji; rewrite ifN// /move -(apart ji) -mulrN opprB.
  by rewrite count mulrN opprK mulrA.
have gE (l : 'I_n) : at_noise a y l = if l == i then n.-1%:R * u else - u.
  rewrite /at_noise (bigD1 i)//= /y eqxx mul0r add0r.
  rewrite (eq_bigr (fun j : 'I_n => u * a j l)); last by move=> j ji; rewrite ifN.
  have [->|li] := eqVneq l i.
    rewrite (eq_bigr (fun=> u)) ?count// => j ji; by rewrite /a eqxx eq_sym (negbTE (ji : (j : nat) != i)) subr0 mulr1.
  rewrite (bigD1 l)//= big1 ?addr0 => [|j /andP[ji jl]]; first by rewrite /a eqxx (negbTE (li : (l : nat) != i)) sub0r mulrN1.
  by rewrite /a (negbTE (li : (l : nat) != i)) [(l : nat) == j]eq_sym (negbTE (jl : (j : nat) != l)) subrr mulr0.
rewrite -lE; apply: (@worst_run_lower R (fun=> mu) (fun=> lam) (fun=> left) (fun=> right) (fun=> mu1) (fun=> slopes) (fun=> kept1) (fun=> kept1')
  (fun=> left0) (fun=> right0) n dW W nu Z noises _ N dT T M x [set pt i] (pt_measurable i) chain _ _ pred0 a (fun=> 0) move y 0 _ (lexx 0)).
- by rewrite (table_point pt_inj pt_measurable MZ) lte_fin.
- move=> s; rewrite (table_point pt_inj pt_measurable MZ).
  have mr := measurable_run noises pred0 a (fun=> 0) move 0 s.
  rewrite -(fineK (mass_fin nu1 mr)) lee_fin -[leRHS]mul1r -weight1 mulr_suml; apply: ler_sum => k _; rewrite ler_wpmul2l//.
  rewrite -lee_fin !fineK ?mass_fin//; last exact: measurable_greatest.
  by apply: le_measure; rewrite ?inE//; [exact: measurable_greatest | exact: greatest_comes_out].
- by move=> j _; rewrite /y; case: ifP.
- move=> l ln; rewrite (gE (Ordinal ln)); case: ifP => _.
    split=> //; case: left left0 => //= b b0; apply: le_trans (ltW b0); by rewrite oppr_le0 mulr_ge0.
  rewrite opprK; split=> //; case: right right0 => //= b b0; apply: le_trans (ltW b0); by rewrite oppr_le0.
Qed.
End Far.

(* Every v that is at most r b+ and r (n - 1) b- is a lower bound; so where both are infinite, and n is 2 at least, none is finite. *)
(* Rule: log-concave-noisy-max, lower, in part: answers that differ by points of a hull. *)
Theorem noisy_max_index_lower N r v : (1 < n)%N -> 0 < r ->
  (forall i, exists2 e : 'I_n -> R, forall j, j != i -> e j - e i = r & forall s : nat, both N (fun j => s%:R * e j) (fun j => s.+1%:R * e j)) ->
  within v (omap (fun b => r * b) right) -> within v (omap (fun b => r * (n.-1%:R * b)) left) -> (v%:E <= tight_epsilon N M 0)%E.
Proof.
move=> n1 r0 ways vr vl; have [v0|v0] := leP v 0; first by apply: le_trans (tight_epsilon_ge0 _ _ _); rewrite lee_fin.
have [i pos] := some_chance (fun=> 0).
have [e apart chain] := ways i.
have m0 : 0 < n.-1%:R :> R by rewrite ltr0n -subn1 subn_gt0.
pose u := v / r / n.-1%:R; have u0 : 0 <= u by rewrite !divr_ge0 ?(ltW v0) ?(ltW r0) ?(ltW m0).
have uE : n.-1%:R * u = v / r by rewrite /u mulrC divfK// gt_eqF.
have -> : v = n.-1%:R * u * r by rewrite uE divfK// gt_eqF.
apply: (noisy_max_far apart) => //.
- rewrite (_ : (fun j => _) = (fun=> 0))//; by apply/funext => j; rewrite mul0r.
- rewrite uE; case: right vr => //= b; by rewrite ler_pdivr_mulr// mulrC.
- case: left vl => //= b; rewrite /u ler_pdivr_mulr// ler_pdivr_mulr//; have -> // : b * n.-1%:R * r = r * (n.-1%:R * b).
  by rewrite mulrC [b * _]mulrC.
Qed.

(* The three relations of neighbours. *)
Variant index_moves (D : R) : relation ('I_n -> R) -> R -> Prop :=
| AllMove : index_moves D (moved_by (n := n) D) (2 * D)
| SameWay : index_moves D (raised_by (n := n) D) D
| OneAlone : index_moves D (alone_by D) D.

Lemma index_apart D N r : 0 <= D -> index_moves D N r -> forall q q', both N q q' -> forall i j, (q' j - q j) - (q' i - q i) <= r.
Proof.
move=> D0 [] q q'.
- have one p p' : moved_by D p p' -> forall i j : 'I_n, (p' j - p j) - (p' i - p i) <= 2 * D /\ (p j - p' j) - (p i - p' i) <= 2 * D.
    by move=> m i j; have := m i; have := m j; rewrite !ler_norml => /andP[? ?] /andP[? ?]; split; lra.
  by case=> /one m i j; have [] := m i j.
- have one p p' : raised_by D p p' -> forall i j : 'I_n, (p' j - p j) - (p' i - p i) <= D /\ (p j - p' j) - (p i - p' i) <= D.
    by move=> m i j; have /andP[? ?] := m i; have /andP[? ?] := m j; split; lra.
  by case=> /one m i j; have [] := m i j.
- have one p p' : alone_by D p p' -> forall i j : 'I_n, (p' j - p j) - (p' i - p i) <= D /\ (p j - p' j) - (p i - p' i) <= D.
    move=> [l [lD others]] i j; move: lD; rewrite ler_norml => /andP[lo hi].
    have b k : - D <= p' k - p k <= D /\ (k != l -> p' k = p k).
      by split; [have [->|/others ->] := eqVneq k l; rewrite ?lo ?hi// subrr oppr_le0 D0 | exact: others].
    have [/andP[? ?] oi] := b i; have [/andP[? ?] oj] := b j.
    have [il|/oi ->] := eqVneq i l; have [jl|/oj ->] := eqVneq j l; rewrite ?il ?jl; split; lra.
  by case=> /one m i j; have [] := m i j.
Qed.

Lemma index_ways D N r : 0 <= D -> index_moves D N r ->
  forall i, exists2 e : 'I_n -> R, forall j, j != i -> e j - e i = r & forall s : nat, both N (fun j => s%:R * e j) (fun j => s.+1%:R * e j).
Proof.
move=> D0 mv i; have step (s : nat) (z : R) : s.+1%:R * z - s%:R * z = z by rewrite -natr1; lra.
have back (s : nat) (z : R) : s%:R * z - s.+1%:R * z = - z by rewrite -natr1; lra.
case: mv; [exists (fun j => if j == i then - D else D) | exists (fun j => if j == i then - D else 0) | exists (fun j => if j == i then - D else 0)].
- by move=> j ji; rewrite eqxx ifN//; lra.
- by move=> s; left=> j; rewrite step; case: ifP => _; rewrite ?normrN ger0_norm.
- by move=> j ji; rewrite eqxx ifN//; lra.
- by move=> s; right=> j; rewrite back; case: ifP => _; rewrite ?opprK ?oppr0 ?D0 ?lexx.
- by move=> j ji; rewrite eqxx ifN//; lra.
- move=> s; left; exists i; split; first by rewrite step eqxx normrN ger0_norm.
  by move=> j ji; rewrite ifN// !mulr0.
Qed.
End NoisyMax.
