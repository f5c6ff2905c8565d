(* The probability that rows hold is between the sums over cells, whatever the means over a cell are of which this is not known (docs/theory/selection.md,
   told words). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent word_chances told_runs mean_products.
From dpverify Require Import given_pivots noise_edges noise_rows told_rows told_sums.

Section Means.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1%E. Proof. exact: independent_total noises. Qed.
Context (whole P : pred nat) (at_ : nat -> R -> R * R) (cuts : nat -> seq R) (m : nat) (rs : seq (row R)).
Hypothesis laws : forall j, if whole j then mu j [set z | z \isn't a Rint] = 0%E else forall z, mu j [set z] = 0%E.
Hypothesis known : forall j x, (whole j -> x \is a Rint) -> (at_ j x).1 <= fine (mu j (below false x)) <= (at_ j x).2.
Hypotheses (rises : forall j, sorted <%R (cuts j)) (integral : forall j, whole j -> {in cuts j, forall b, b \is a Rint}).
Hypothesis enough : forall j, (size (cuts j) <= m)%N.
Hypothesis one_other : forall r, r \in rs -> forall i j : 'I_n, coef r i != 0 -> coef r j != 0 -> ~~ P i -> ~~ P j -> i = j.

Notation zs w := (fun j => Z j w).
Notation cells := (cells n m).
Notation ups := (ups n P rs). Notation downs := (downs n P rs). Notation others := (others n P rs).
Notation edge := (edge n whole P). Notation fits := (fits P cuts). Notation area := (area Z whole P cuts).
Notation edge_bounds := (edge_bounds whole P at_ cuts). Notation noise_bounds := (noise_bounds whole P at_ cuts rs).
Notation all_hold := (all_hold n Z rs). Notation must := (must n Z whole P rs).
Notation given := (given mu must). Notation sure := (sure whole P cuts rs). Notation possible := (possible whole P cuts rs).
Notation side_mean := (side_mean mu whole P at_ cuts). Notation holds_mean := (holds_mean mu whole P at_ cuts rs).
Notation value k r := (fun w => chance (mu k) (edge k (zs w) r)).

Let mA (c : cells) : measurable (area c). Proof. exact: (measurable_area noises whole P rises c). Qed.
Let mM k : measurable (must k). Proof. exact: (measurable_must noises whole P rs k). Qed.
Let dM k x : depends n Z P (fun w => must k (w, x)). Proof. exact: must_depends. Qed.

Lemma givenE k w : given k w = fine (mu k (room [seq edge k (zs w) r | r <- ups k] [seq edge k (zs w) r | r <- downs k])).
Proof. by congr (fine (mu k _)); apply/seteqP; split=> z; rewrite /xsection /= inE. Qed.

Lemma given_bounds (c : cells) k z : between_ends whole P cuts c z ->
  (noise_bounds c k).1 <= fine (mu k (room [seq edge k z r | r <- ups k] [seq edge k z r | r <- downs k])) <= (noise_bounds c k).2.
Proof. by move=> b; apply: (room_between (mu1 k)) => r; exact: (edge_chance_bounds mu1 laws known k r b). Qed.

Lemma tame_given (c : cells) k : tame (area c) (given k).
Proof.
split; first exact: (measurable_given mu1 mM k).
by exists 1 => w _; have /andP[h0 h1] := given01 mu1 mM k w; rewrite ger0_norm.
Qed.

(* The mean of the greatest of what is below the low edges, or the least of what is below the high ones, where there is one edge or none. *)
Lemma side_has_mean (c : cells) k (rows : seq (row R)) (low : bool) : fits c -> (size rows <= 1)%N -> all (fun r => size (inside n P r) <= 1)%N rows ->
  let pick := if low then @greatest R else @least R in let none := if low then 0 else 1 in
  exists a, [/\ side_mean c k rows none a, pick [seq (edge_bounds c k r).1 | r <- rows] <= a <= pick [seq (edge_bounds c k r).2 | r <- rows] &
    0 < weight nu (area c) -> over nu (area c) (fun w => pick [seq value k r w | r <- rows]) = a * weight nu (area c)].
Proof.
move=> fc; case: rows => [|r [|//]] _ /=.
  by move=> _; exists (if low then 0 else 1); case: low; split; rewrite /= ?lexx// => _; rewrite (over_cst nu1).
rewrite andbT => few; have [a [ha b /andP[a0 a1] o]] := edge_has_mean noises laws known rises integral k fc few.
exists a; split=> //.
- by case/andP: b => b1 b2; case: low => /=; rewrite ?le_maxl ?le_maxr ?le_minl ?le_minr ?b1 ?b2 ?a0 ?a1 ?orbT.
- move=> /o <-; apply: eq_over => w _; have /andP[h0 h1] := chance01 mu1 k (edge k (zs w) r).
  by case: low => /=; [rewrite max_l | rewrite min_l].
Qed.

Lemma tame_side (c : cells) k (rows : seq (row R)) (low : bool) : (size rows <= 1)%N ->
  tame (area c) (fun w => (if low then @greatest R else @least R) [seq value k r w | r <- rows]).
Proof.
case: rows => [|r [|//]] _; first by case: low; exact: tame_cst.
rewrite (_ : (fun _ => _) = value k r); first by apply: (tame_edge noises).
by apply/funext => w; have /andP[h0 h1] := chance01 mu1 k (edge k (zs w) r); case: low => /=; [rewrite max_l | rewrite min_l].
Qed.

Lemma noise_has_mean (c : cells) k S : fits c -> holds_mean c k S -> exists a, [/\ S a, (noise_bounds c k).1 <= a <= (noise_bounds c k).2 &
  0 < weight nu (area c) -> over nu (area c) (given k) = a * weight nu (area c)].
Proof.
move=> fc; have inb w : area c w -> between_ends whole P cuts c (zs w) by move=> /(area_between rises integral fc).
have bw w : area c w -> (noise_bounds c k).1 <= given k w <= (noise_bounds c k).2 by move=> /inb b; rewrite givenE; exact: given_bounds.
case=> [all|[/and4P[u1 d1 /allP few le] S_ab]].
- have := weight_ge0 nu (area c); rewrite le_eqVlt => /orP[/eqP w0|w0]; last first.
    have b : (noise_bounds c k).1 <= over nu (area c) (given k) / weight nu (area c) <= (noise_bounds c k).2.
      by rewrite ler_pdivl_mulr// ler_pdivr_mulr//; exact: (over_between nu1 (mA c) (tame_given c k) bw).
    by exists (over nu (area c) (given k) / weight nu (area c)); split=> [|//|_]; [exact: all | rewrite divfK// gt_eqF].
  have [z hz] := cell_values P rises integral c.
  have b := given_bounds k (cell_between rises integral fc (hz fc)).
  by exists (fine (mu k (room [seq edge k z r | r <- ups k] [seq edge k z r | r <- downs k]))); split=> //; [exact: all | rewrite -w0 ltxx].
- have fewu : all (fun r => size (inside n P r) <= 1)%N (ups k) by apply/allP => r; rewrite mem_filter => /andP[_ /few].
  have fewd : all (fun r => size (inside n P r) <= 1)%N (downs k) by apply/allP => r; rewrite mem_filter => /andP[_ /few].
  have [b [hb /andP[b1 b2] ob]] := side_has_mean k true fc u1 fewu.
  have [a [ha /andP[a1 a2] oa]] := side_has_mean k false fc d1 fewd.
  have ba : b <= a by exact: le_trans b2 (le_trans le a1).
  exists (a - b); split; first exact: S_ab.
  + rewrite /told_rows.noise_bounds /between /= -!map_comp; apply/andP; split.
      by rewrite le_maxl subr_ge0 ba andbT; exact: ler_sub.
    by rewrite le_maxr; apply/orP; left; exact: ler_sub.
  + move=> w0; transitivity (over nu (area c) (fun w => least [seq value k r w | r <- downs k] + - 1 * greatest [seq value k r w | r <- ups k])).
      apply: eq_over => w Aw; rewrite givenE mulN1r; have he r := edge_chance_bounds mu1 laws known k r (inb w Aw).
      exact: (room_single (mu1 k) he le).
    have td := tame_side c k false d1; have tu := tame_side c k true u1.
    rewrite (overD nu1 (mA c) td (tame_scale (- 1) tu)) (over_scale nu1 (mA c) (- 1) tu) oa// ob//; lra.
Qed.

Lemma means_exist (within : cells -> nat -> set R) : (forall c k, fits c -> k \in others -> holds_mean c k (within c k)) ->
  exists mean : cells -> nat -> R, forall c, fits c -> [/\ forall k, k \in others -> within c k (mean c k),
    forall k, (noise_bounds c k).1 <= mean c k <= (noise_bounds c k).2 &
    0 < weight nu (area c) -> forall k, over nu (area c) (given k) = mean c k * weight nu (area c)].
Proof.
move=> hw; have h (ck : cells * nat) : exists a, fits ck.1 -> [/\ ck.2 \in others -> within ck.1 ck.2 a,
    (noise_bounds ck.1 ck.2).1 <= a <= (noise_bounds ck.1 ck.2).2 &
    0 < weight nu (area ck.1) -> over nu (area ck.1) (given ck.2) = a * weight nu (area ck.1)].
  have [fc|nf] := boolP (fits ck.1); last by exists 0.
  have [ko|no] := boolP (ck.2 \in others).
  - by have [a [? ? ?]] := noise_has_mean fc (hw _ _ fc ko); exists a.
  - by have [a [? ? ?]] := noise_has_mean (S := setT) (k := ck.2) fc (or_introl (fun _ _ => I)); exists a.
have [f hf] := choice h; exists (fun c k => f (c, k)) => c fc; split=> [k|k|w0 k]; by case: (hf (c, k) fc) => // h1 h2 h3; apply: h3.
Qed.

(* One cell. *)
Section One.
Context (c : cells) (fc : fits c) (mean : nat -> R).
Hypothesis bounds : forall k, (noise_bounds c k).1 <= mean k <= (noise_bounds c k).2.
Hypothesis meanE : 0 < weight nu (area c) -> forall k, over nu (area c) (given k) = mean k * weight nu (area c).
Notation factors := (factors whole P at_ cuts rs c mean).
Notation low := (product_low factors). Notation high := (product_high factors).

Lemma others_mass : fine (nu (area c `&` all_met Z must others)) = over nu (area c) (prod_of given others).
Proof.
apply: (others_over noises mM dM); [exact: others_uniq | exact: others_few | exact: others_apart | exact: mA | exact: area_depends].
Qed.

Let m_met : measurable (all_met Z must others). Proof. exact: (measurable_all_met noises mM). Qed.
Let m_all : measurable all_hold. Proof. exact: (measurable_all noises). Qed.
Let ge0 : 0 <= low /\ 0 <= high. Proof. exact: (product_ge0 _ (fun k => between_ge0 _ _) bounds). Qed.

Lemma product_enclosed : low * weight nu (area c) <= over nu (area c) (prod_of given others) <= high * weight nu (area c).
Proof.
have := weight_ge0 nu (area c); rewrite le_eqVlt => /orP[/eqP w0|w0].
  have t : tame (area c) (prod_of given others) by elim: others => [|k s IH]; [exact: tame_cst | exact: (tameM IH (tame_given c k))].
  have [b hb] := t.2; have := over_between nu1 (mA c) t (l := - b) (u := b); rewrite -w0 !mulr0; apply.
  by move=> w /hb; rewrite ler_norml.
apply: (mean_of_product nu1 (mA c) w0 (tame_given c)) => //.
- by move=> k; exact: between_ge0.
- by move=> k w Aw; rewrite givenE; apply: given_bounds; exact: (area_between rises integral fc Aw).
- exact: meanE.
Qed.

Lemma cell_at_least : sure c -> (\prod_(j < n | P j) cell_least (cuts j) (at_ j) (c j)) * low <= fine (nu (all_hold `&` area c)).
Proof.
move=> sc; have /andP[w1 _] := area_bounds noises laws known rises integral fc; have /andP[p1 _] := product_enclosed.
apply: (@le_trans _ _ (fine (nu (area c `&` all_met Z must others)))).
  rewrite others_mass; apply: le_trans p1; rewrite mulrC; apply: ler_wpmul2l => //; by case: ge0.
apply: (live_le noises laws (rs := rs)); [exact: measurableI | exact: measurableI |] => w lw [Aw hm]; split=> //.
apply/(rows_met one_other lw); split=> //; apply: (sure_holds sc lw); exact: (area_between rises integral fc Aw).
Qed.

Lemma cell_at_most : fine (nu (all_hold `&` area c)) <= if possible c then (\prod_(j < n | P j) cell_most (cuts j) (at_ j) (c j)) * high else 0.
Proof.
have /andP[_ w2] := area_bounds noises laws known rises integral fc; have /andP[_ p2] := product_enclosed.
have mHA : measurable (all_hold `&` area c) by exact: measurableI.
have inside_ w : live n Z whole rs w -> (all_hold `&` area c) w -> possible c.
  by move=> lw [hw Aw]; apply: (holds_possible lw) hw; exact: (area_between rises integral fc Aw).
case: ifP => pc; last first.
  rewrite -[leRHS](_ : fine (nu set0) = 0); last by rewrite measure0.
  by apply: (live_le noises laws (rs := rs)) => // w lw hw; have := inside_ w lw hw; rewrite pc.
apply: (@le_trans _ _ (fine (nu (area c `&` all_met Z must others)))).
  apply: (live_le noises laws (rs := rs)) => //; first exact: measurableI.
  by move=> w lw [hw Aw]; split=> //; case/(rows_met one_other lw): hw.
rewrite others_mass; apply: le_trans p2 _; rewrite mulrC; apply: ler_wpmul2r => //; by case: ge0.
Qed.
End One.

Theorem rows_enclosed (within : cells -> nat -> set R) (L U : R) : (forall c k, fits c -> k \in others -> holds_mean c k (within c k)) ->
  (forall mean, (forall c k, fits c -> k \in others -> within c k (mean c k)) ->
    L <= rows_least whole P at_ cuts rs mean /\ rows_most whole P at_ cuts rs mean <= U) ->
  L <= fine (nu all_hold) <= U.
Proof.
move=> hw; have [mean hm] := means_exist hw; have m_all : measurable all_hold by exact: (measurable_all noises).
move=> /(_ mean) [|hL hU]; first by move=> c k fc; case: (hm c fc) => h _ _; exact: h.
rewrite (by_areas noises P laws rises enough m_all); apply/andP; split.
- apply: le_trans hL _; rewrite /rows_least big_mkcondr; apply: ler_sum => c fc; have [_ b e] := hm c fc.
  by case: ifP => [/andP[_ sc]|_]; [exact: (cell_at_least fc b e sc) | exact: fine_ge0].
- apply: le_trans _ hU; rewrite /rows_most big_mkcondr; apply: ler_sum => c fc; have [_ b e] := hm c fc; exact: (cell_at_most fc b e).
Qed.
End Means.
