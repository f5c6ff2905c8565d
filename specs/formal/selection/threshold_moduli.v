(* Above threshold with noises of any laws, from what each noise loses by itself (docs/theory/selection.md, selection moduli): the threshold is moved so that no
   negative costs anything, or each noise of an answer makes up for what the answer moves by. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent selection streams above_threshold_losses grids noise_itself budgets.
From dpverify Require Import threshold_runs.

Section Threshold.
Context (R : realType) (grid : R -> Prop).
Hypotheses (grid0 : grid 0) (gridB : forall a b, grid a -> grid b -> grid (a - b)).
Context (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 3 nu Z.

Notation loses j := (loses grid (mu1 j)).

(* What has been told says how many answers were asked for, and how many of them were positive: n and c at most. The noise of the threshold is drawn for the
   first answer, and again after each positive or never. *)
Context dH (H : measurableType dH) (over draws : H -> bool) (after_no : H -> H) (after_yes : H * R -> H) (asked positives : H -> nat) (h0 : H).
Hypotheses (mover : measurable [set h | over h]) (mdraws : measurable [set h | draws h]).
Hypotheses (mno : measurable_fun setT after_no) (myes : measurable_fun setT after_yes).
Context (n c : nat) (again : bool) (rep : report) (public : R).
Hypothesis limits : forall h, ~~ over h -> (asked h < n)%N /\ (positives h < c)%N.
Hypotheses (asked_no : forall h, asked (after_no h) = (asked h).+1) (positives_no : forall h, positives (after_no h) = positives h).
Hypotheses (asked_yes : forall p, asked (after_yes p) = (asked p.1).+1) (positives_yes : forall p, positives (after_yes p) = (positives p.1).+1).
Hypotheses (draws_no : forall h, draws (after_no h) = false) (draws_yes : forall p, draws (after_yes p) = again).
Hypotheses (draws0 : draws h0) (asked0 : asked h0 = 0%N) (positives0 : positives h0 = 0%N).

(* The mechanism tells what has been told after n answers at most. *)
Context (X : Type) (answers : X -> H -> R) (M : mechanism R X H).
Hypothesis manswers : forall x, measurable_fun setT (answers x).
Let Z_measurable j : measurable_fun setT (Z j). Proof. exact: (measurable_noises noises). Qed.
Definition run_of x := runs Z_measurable mover mdraws mno myes rep public (manswers x).
Hypothesis ME : forall x A, measurable A -> M x A = tells nu (fun s : state R H => s.1) n (run_of x) (h0, 0 : R) A.

Notation level up := (level (R := R) draws up).
Notation shifts_keep x x' up := (shifts_keep draws rep (answers x) (answers x') up).

(* Where each step of a run is shifted so that what is told stays, what it costs is paid from a budget. *)
Lemma paid_close x x' up (budget : state R H -> R) (v cost : state R H -> option bool -> nat -> R) :
  (forall s, 0 <= budget s) ->
  (forall s b, (b = None <-> over s.1) -> shifts_keep x x' up s b (v s b)) ->
  (forall s b j A, (j < 3)%N -> measurable A -> (mu j [set z | A (z + v s b j)%R] <= (expR (cost s b j))%:E * mu j A)%E) ->
  (forall s w, let b := takes Z over draws public (answers x) s w in
    budget (goes Z over draws after_no after_yes rep public (answers x) s w) + \sum_(j < 3) cost s b j <= budget s) ->
  close (budget (h0, 0 : R)) 0 (M x) (M x').
Proof.
move=> b0 keep costs pays A mA; rewrite adde0 !ME//.
have m1 : measurable_fun setT (fun s : state R H => s.1) by exact: measurable_first.
apply: (budget_tells (independent_total noises) b0 (aligned := level up) _ m1) => //; last first.
- by split=> //; left.
- by move=> s s' [].
move=> s s' b al.
have [sb|sb] := pselect (b = None <-> over s.1); last first.
  exists 0, id; split=> [|A' mA'|w /= wb]; first exact: measurable_fun_id.
    by rewrite expR0 mul1e.
  case: sb; rewrite -wb /takes; case: ifP => //; by split.
have [T [mT TE Tc]] := independent_moved noises (fun j (j3 : (j < 3)%N) A mA => costs s b j A j3 mA).
exists (\sum_(j < 3) cost s b j), T; split=> // w /= wb.
have [h1 h2] := step_level after_no after_yes (answers := answers x) (answers' := answers x') al (keep s b sb) (TE w) wb.
by split=> //; have := pays s w; rewrite /= wb.
Qed.

(* -- What the noises lose -- *)

Let loses_ge0 j s w : 0 <= s -> loses j s w -> 0 <= w. Proof. exact: loses_ge0 grid0. Qed.

Lemma unmoved j w A : 0 <= w -> (mu j [set z | A (z + 0)%R] <= (expR w)%:E * mu j A)%E.
Proof.
move=> w0; rewrite (_ : [set z | A (z + 0)%R] = A); last by apply/seteqP; split=> z /=; rewrite addr0.
by rewrite -{1}(mul1e (mu j A)); apply: lee_wpmul2r => //; rewrite lee_fin -expR0 ler_expR.
Qed.

Let grid_opp := grid_opp gridB.

(* What fresh noise loses, where it is told. *)
Definition fresh_loses s w := if fresh_told rep then loses 2 s w else w = 0.

Lemma fresh_ge0 s w : 0 <= s -> fresh_loses s w -> 0 <= w.
Proof. by rewrite /fresh_loses => s0; case: fresh_told => [/(loses_ge0 s0)|->]. Qed.

Lemma fresh_costs s w d A : 0 <= s -> fresh_loses s w -> `|d| <= s -> grid d -> measurable A ->
  (mu 2%N [set z | A (z + (if fresh_told rep then - d else 0))%R] <= (expR w)%:E * mu 2%N A)%E.
Proof.
rewrite /fresh_loses => s0; case: fresh_told => [L ds gd mA|-> *]; last exact: unmoved.
by apply: (shift_costs L) => //; [rewrite normrN | exact: grid_opp].
Qed.

(* -- The threshold is moved -- *)

Definition draws_left h : nat := if again then (if draws h then c - positives h else (c - positives h).-1)%N else draws h.

Lemma draws_left_no h : ~~ over h -> (draws_left (after_no h) + draws h)%N = draws_left h.
Proof.
move=> /limits[_ pc]; rewrite /draws_left draws_no positives_no; case: again; case: (draws h); rewrite ?addn0 ?addn1//.
by rewrite prednK// subn_gt0.
Qed.

Lemma draws_left_yes p : ~~ over p.1 -> (draws_left (after_yes p) + draws p.1)%N = draws_left p.1.
Proof.
move=> /limits[_ pc]; rewrite /draws_left draws_yes positives_yes; case: again; case: (draws p.1); rewrite ?addn0 ?addn1 ?subnS//.
by rewrite prednK// subn_gt0.
Qed.

Definition moved dn up : relation X := fun x x' => forall h, grid (answers x' h - answers x h) /\ - dn <= answers x' h - answers x h <= up.

Lemma compared_close dn up w1 wq wf : ~~ value_told rep -> 0 <= dn -> 0 <= up -> grid up ->
  loses 0 up w1 \/ up = 0 /\ w1 = 0 -> loses 1 (up + dn) wq -> fresh_loses (Num.max up dn) wf ->
  dp_in_order (moved dn up) M (w1 *+ (if again then c else 1%N) + (wq + wf) *+ c) 0.
Proof.
move=> nv dn0 up0 gup L1 Lq Lf x x' xx.
have m0 : 0 <= Num.max up dn by rewrite le_maxr up0.
have w10 : 0 <= w1 by case: L1 => [/(loses_ge0 up0)|[_ ->]].
have wq0 : 0 <= wq by apply: (loses_ge0 _ Lq); exact: addr_ge0.
have wf0 : 0 <= wf := fresh_ge0 m0 Lf.
pose d (s : state R H) := answers x' s.1 - answers x s.1.
pose v (s : state R H) (b : option bool) (j : nat) : R := match j with
  | 0%N => if (b != None) && draws s.1 then up else 0
  | 1%N => if b == Some true then up - d s else 0
  | _ => if b == Some true then (if fresh_told rep then - d s else 0) else 0 end.
pose cost (s : state R H) (b : option bool) (j : nat) : R := match j with
  | 0%N => if (b != None) && draws s.1 then w1 else 0 | 1%N => if b == Some true then wq else 0 | _ => if b == Some true then wf else 0 end.
pose budget (s : state R H) : R := w1 *+ draws_left s.1 + (wq + wf) *+ (c - positives s.1).
have start : budget (h0, 0) = w1 *+ (if again then c else 1%N) + (wq + wf) *+ c by rewrite /budget /draws_left /= positives0 draws0 subn0.
rewrite -start; apply: (@paid_close x x' up budget v cost).
- by move=> s; rewrite addr_ge0// mulrn_wge0// addr_ge0.
- move=> s b _; have [_ /andP[lo hi]] := xx s.1; rewrite /v /d; split.
  + by move=> b0 dr; rewrite dr andbT; case: (b) b0.
  + by move=> -> /=; rewrite addr0.
  + by move=> -> /=; rewrite addrC subrK.
  + move=> -> /=; move: nv; case: (rep) => //= _; [by rewrite addrC subrK | by rewrite subrr].
- move=> s b j A j3 mA; have [gd /andP[lo hi]] := xx s.1.
  have near : `|d s| <= Num.max up dn.
    have m1 : up <= Num.max up dn by rewrite le_maxr lexx.
    have m2 : dn <= Num.max up dn by rewrite le_maxr lexx orbT.
    by rewrite ler_norml /d; apply/andP; split; lra.
  case: j j3 => [|[|[|//]]] _ /=.
  + case: ifP => _; last exact: unmoved.
    case: L1 => [L1|[-> _]]; last exact: unmoved.
    by apply: (shift_costs L1) => //; rewrite ger0_norm.
  + case: ifP => _; last exact: unmoved.
    apply: (shift_costs Lq) => //; last exact: gridB.
    by rewrite /d ger0_norm; lra.
  + case: ifP => _; last exact: unmoved.
    exact: (fresh_costs m0 Lf).
move=> s w /=; rewrite !big_ord_recr big_ord0 /= /budget /takes /goes.
have [ov|nov] := boolP (over s.1); first by rewrite /= !addr0.
have [_ pc] := limits nov; case: ifP => pos; rewrite /= add0r.
- rewrite -(draws_left_yes (p := (s.1, number Z draws rep public (answers x) s w)) nov) /= positives_yes /= mulrnDr.
  rewrite -[(c - positives s.1)%N in leRHS](@prednK (c - positives s.1)) ?subn_gt0// -subnS mulrS.
  move: (w1 *+ draws_left _) ((wq + wf) *+ _) => a e; case: (draws s.1); rewrite /= ?mulr1n ?mulr0n; lra.
- rewrite -(draws_left_no nov) positives_no mulrnDr.
  move: (w1 *+ draws_left _) ((wq + wf) *+ _) => a e; case: (draws s.1); rewrite /= ?mulr1n ?mulr0n; lra.
Qed.

(* -- Each answer's noise makes up for what the answer moves by -- *)

Section MadeUp.
Context (D wq wf : R) (x x' : X).
Hypotheses (D0 : 0 <= D) (Lq : loses 1 D wq) (Lf : fresh_loses D wf).
Hypothesis near : forall h, grid (answers x' h - answers x h) /\ `|answers x' h - answers x h| <= D.
(* Those whose answers may differ. *)
Context (differ : H -> bool).
Hypothesis same : forall h, ~~ differ h -> answers x' h = answers x h.

Let wq0 : 0 <= wq := loses_ge0 D0 Lq.
Let wf0 : 0 <= wf := fresh_ge0 D0 Lf.

Lemma made_up (budget : state R H -> R) : (forall s, 0 <= budget s) ->
  (forall s t, ~~ over s.1 -> budget (after_no s.1, t) + (if differ s.1 then wq else 0) <= budget s) ->
  (forall s t y, ~~ over s.1 -> budget (after_yes (s.1, y), t) + (if differ s.1 then wq + wf else 0) <= budget s) ->
  close (budget (h0, 0)) 0 (M x) (M x').
Proof.
move=> b0 no yes; pose d (s : state R H) := answers x' s.1 - answers x s.1.
pose v (s : state R H) (b : option bool) (j : nat) : R := match j with
  | 0%N => 0 | 1%N => if b != None then - d s else 0 | _ => if b == Some true then (if fresh_told rep then - d s else 0) else 0 end.
pose cost (s : state R H) (b : option bool) (j : nat) : R := match j with
  | 0%N => 0 | 1%N => if (b != None) && differ s.1 then wq else 0 | _ => if (b == Some true) && differ s.1 then wf else 0 end.
have d0 s : ~~ differ s.1 -> d s = 0 by move=> /same e; rewrite /d e subrr.
apply: (@paid_close x x' 0 budget v cost) => //.
- move=> s b _; rewrite /v -/(d s); split=> //.
  + by move=> -> /=; rewrite subrr.
  + by move=> -> /=; rewrite subrr.
  + by move=> -> /=; case: (rep) => //=; rewrite subrr.
- move=> s b j A j3 mA; have [gd small] := near s.1; case: j j3 => [|[|[|//]]] _ /=; first exact: unmoved.
  + case: (b != None) => /=; last exact: unmoved.
    have [ds|nd] := boolP (differ s.1); last by rewrite (d0 s nd) oppr0; exact: unmoved.
    by apply: (shift_costs Lq) => //; [rewrite normrN | exact: grid_opp].
  + case: (b == Some true) => /=; last exact: unmoved.
    have [ds|nd] := boolP (differ s.1); first exact: (fresh_costs D0 Lf).
    by rewrite (d0 s nd) oppr0 if_same; exact: unmoved.
move=> s w /=; rewrite !big_ord_recr big_ord0 /= /takes /goes.
have [ov|nov] := boolP (over s.1); first by rewrite /= !addr0.
case: ifP => pos; rewrite /= ?add0r ?addr0.
- have := yes s (threshold_of Z draws public s w) (number Z draws rep public (answers x) s w) nov; case: (differ s.1); rewrite ?addr0//.
- have := no s (threshold_of Z draws public s w) nov; case: (differ s.1); rewrite ?addr0//.
Qed.
End MadeUp.

Lemma told_close D wq wf dn up : 0 <= dn -> dn <= D -> 0 <= up -> up <= D -> loses 1 D wq -> fresh_loses D wf ->
  dp_in_order (moved dn up) M (wq *+ n + wf *+ c) 0.
Proof.
move=> dn0 dnD up0 upD Lq Lf x x' xx; have D0 : 0 <= D by exact: le_trans upD.
have wq0 := loses_ge0 D0 Lq; have wf0 := fresh_ge0 D0 Lf.
pose budget (s : state R H) : R := wq *+ (n - asked s.1) + wf *+ (c - positives s.1).
have start : budget (h0, 0) = wq *+ n + wf *+ c by rewrite /budget /= asked0 positives0 !subn0.
rewrite -start; apply: (@made_up D wq wf x x' D0 Lq Lf _ (fun=> true)) => //.
- by move=> h; have [gd /andP[lo hi]] := xx h; split=> //; rewrite ler_norml; apply/andP; split; lra.
- by move=> s; rewrite addr_ge0// mulrn_wge0.
- move=> s t /limits[an pc]; rewrite /budget /= asked_no positives_no.
  rewrite -[(n - asked s.1)%N in leRHS](@prednK (n - asked s.1)) ?subn_gt0// -subnS mulrS.
  move: (wq *+ _) (wf *+ _) => a e; lra.
- move=> s t y /limits[an pc]; rewrite /budget /= asked_yes positives_yes.
  rewrite -[(n - asked s.1)%N in leRHS](@prednK (n - asked s.1)) ?subn_gt0// -[(c - positives s.1)%N in leRHS](@prednK (c - positives s.1)) ?subn_gt0//.
  rewrite -!subnS !mulrS; move: (wq *+ _) (wf *+ _) => a e; lra.
Qed.

(* One answer moves alone. *)
Definition alone D : relation X := fun x x' => exists i : nat, forall h,
  [/\ grid (answers x' h - answers x h), `|answers x' h - answers x h| <= D & asked h != i -> answers x' h = answers x h].

Lemma alone_close D wq wf : 0 <= D -> loses 1 D wq -> fresh_loses D wf -> dp_in_order (alone D) M (wq + wf) 0.
Proof.
move=> D0 Lq Lf x x' [i xx]; have wq0 := loses_ge0 D0 Lq; have wf0 := fresh_ge0 D0 Lf; have ww0 : 0 <= wq + wf by exact: addr_ge0.
pose budget (s : state R H) : R := if (asked s.1 <= i)%N then wq + wf else 0.
have start : budget (h0, 0) = wq + wf by rewrite /budget /= asked0.
rewrite -start; apply: (@made_up D wq wf x x' D0 Lq Lf _ (fun h => asked h == i)) => //.
- by move=> h; have [gd small _] := xx h.
- by move=> h ne; have [_ _ same] := xx h; exact: same.
- by move=> s; rewrite /budget; case: ifP.
- move=> s t _; rewrite /budget /= asked_no; have [/eqP e|ne] := boolP (asked s.1 == i).
    by rewrite e ltnn leqnn; lra.
  by rewrite ltn_neqAle ne /=; case: ifP => _; lra.
- move=> s t y _; rewrite /budget /= asked_yes; have [/eqP e|ne] := boolP (asked s.1 == i).
    by rewrite e ltnn leqnn; lra.
  by rewrite ltn_neqAle ne /=; case: ifP => _; lra.
Qed.

(* -- The rule -- *)

Definition neighbouring nb D : relation X := match nb with
  | One => alone D
  | _ => fun x x' => exists2 d, d \in moves_of nb & moved (d.2%:R * D) (d.1%:R * D) x x' end.

(* Where the guarantee is of q against q + d alone the order is part of the claim. *)
Definition claimed nb D : relation X := match nb with Increasing | Decreasing => neighbouring nb D | _ => both (neighbouring nb D) end.

(* What the rule computes. *)
Variant charged nb D : R -> Prop :=
| MadeUpAlone wq wf of nb = One & loses 1 D wq & fresh_loses D wf : charged nb D (wq + wf)
| MadeUp wq wf of nb <> One & loses 1 D wq & fresh_loses D wf : charged nb D (wq *+ n + wf *+ c)
| Falling wq wf of nb = Decreasing & ~~ value_told rep & loses 1 D wq & fresh_loses D wf : charged nb D (wq *+ c + wf *+ c)
| Compared w1 wq wf of nb <> One & nb <> Decreasing & ~~ value_told rep & loses 0 D w1 &
    loses 1 ((if nb is All then 2 else 1) * D) wq & fresh_loses D wf : charged nb D (w1 *+ (if again then c else 1%N) + wq *+ c + wf *+ c).

Lemma moved_back dn up x x' : moved dn up x x' -> moved up dn x' x.
Proof. by move=> h g; have [/grid_opp gd /andP[? ?]] := h g; rewrite -opprB; split=> //; apply/andP; split; lra. Qed.

Lemma claimed_order nb D v : dp_in_order (neighbouring nb D) M v 0 -> dp_in_order (claimed nb D) M v 0.
Proof.
move=> P; case: nb P => //= P q q'; (case; first exact: P) => qq; apply: P.
- by case: qq => d; rewrite inE => /eqP -> /moved_back; exists (1%N, 1%N).
- case: qq => d; rewrite !inE => /orP[] /eqP -> /moved_back back; [exists (0, 1)%N | exists (1, 0)%N]; rewrite ?inE//.
- case: qq => i h; exists i => g; have [/grid_opp gd small same] := h g; rewrite -opprB normrN; split=> // gi.
  by rewrite same.
Qed.

(* Above threshold. Noisy max is in noisy_max_moduli. *)
(* Rule: selection-moduli, upper. *)
Theorem threshold_moduli nb D v : 0 <= D -> grid D -> charged nb D v -> dp_in_order (claimed nb D) M v 0.
Proof.
move=> D0 gD ch; apply: claimed_order; have one : 1%:R * D = D by rewrite mul1r.
have zero : 0%:R * D = 0 by rewrite mul0r.
case: ch => [wq wf -> Lq Lf|wq wf no Lq Lf|wq wf -> nv Lq Lf|w1 wq wf no nd nv L1 Lq Lf].
- exact: alone_close.
- have bound d : d \in moves_of nb -> dp_in_order (moved (d.2%:R * D) (d.1%:R * D)) M (wq *+ n + wf *+ c) 0.
    move=> dm; have [d1 d2] : (d.1 <= 1)%N /\ (d.2 <= 1)%N by case: (nb) dm => //=; rewrite !inE; do ?[case/orP]; move=> /eqP ->.
    by apply: (told_close (D := D)) => //; rewrite ?mulr_ge0// ler_pimull// lern1.
  case: (nb) no bound => //= _ bound x x' [d dm]; exact: bound dm x x'.
- have down : loses 1 D wq -> dp_in_order (moved D 0) M (wq *+ c + wf *+ c) 0.
    move=> {}Lq; have := @compared_close D 0 0 wq wf nv D0 (lexx 0) grid0 (or_intror (conj erefl erefl)).
    by rewrite add0r mul0rn add0r max_r// -mulrnDl => /(_ Lq Lf).
  move=> x x' [d]; rewrite inE => /eqP -> /=; rewrite one zero; exact: down.
- have wq0 : 0 <= wq by apply: (loses_ge0 _ Lq); rewrite mulr_ge0//; case: (nb).
  have w10 := loses_ge0 D0 L1.
  have both_ dn : 0 <= dn -> dn <= D -> loses 1 (D + dn) wq -> dp_in_order (moved dn D) M (w1 *+ (if again then c else 1%N) + wq *+ c + wf *+ c) 0.
    move=> dn0 dnD {}Lq; rewrite -addrA -mulrnDl.
    apply: (compared_close nv dn0 D0 gD (or_introl L1) Lq); by rewrite max_l.
  have down : loses 1 D wq -> dp_in_order (moved D 0) M (w1 *+ (if again then c else 1%N) + wq *+ c + wf *+ c) 0.
    move=> {}Lq; have := @compared_close D 0 0 wq wf nv D0 (lexx 0) grid0 (or_intror (conj erefl erefl)).
    rewrite add0r mul0rn add0r max_r// mulrnDl => /(_ Lq Lf); apply: dp_in_order_monotone => //.
    by rewrite -addrA ler_addr mulrn_wge0.
  case: (nb) no nd Lq => //= _ _ Lq x x' [d]; rewrite !inE.
  + move=> /eqP -> /=; rewrite one; apply: (both_ D) => //; by move: Lq; rewrite mulr2n mulrDl one.
  + move=> /eqP -> /=; rewrite one zero; apply: (both_ 0) => //; by move: Lq; rewrite one addr0.
  + move: Lq; rewrite one => Lq /orP[] /eqP -> /=; rewrite one zero; last exact: (down Lq).
    by apply: (both_ 0) => //; rewrite addr0.
Qed.
End Threshold.
