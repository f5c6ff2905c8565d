(* The sums over cells enclose the probability that all rows hold (docs/theory/selection.md, told words): in each cell the others are between edges that are
   known there, and the mean of the product of their probabilities is that of their means but for an error of second order. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent word_chances told_runs mean_products given_pivots noise_edges noise_rows told_rows.

Section Sums.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Context (n : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Let nu1 : nu setT = 1%E. Proof. exact: independent_total noises. Qed.
Let mZ := measurable_noises noises.
Context (whole P : pred nat) (at_ : nat -> R -> R * R) (cuts : nat -> seq R) (m : nat) (rs : seq (row R)).
Hypothesis laws : forall j, if whole j then mu j [set z | z \isn't a Rint] = 0%E else forall z, mu j [set z] = 0%E.
Hypothesis known : forall j x, (whole j -> x \is a Rint) -> (at_ j x).1 <= fine (mu j (below false x)) <= (at_ j x).2.
Hypotheses (rises : forall j, sorted <%R (cuts j)) (integral : forall j, whole j -> {in cuts j, forall b, b \is a Rint}).
Hypothesis enough : forall j, (size (cuts j) <= m)%N.
Hypothesis one_other : forall r, r \in rs -> forall i j : 'I_n, coef r i != 0 -> coef r j != 0 -> ~~ P i -> ~~ P j -> i = j.

Notation zs w := (fun j => Z j w).
Notation cells := (cells n m).
Notation alone := (alone n P). Notation tied := (tied n whole). Notation stays := (stays n whole).
Notation ups := (ups n P rs). Notation downs := (downs n P rs). Notation others := (others n P rs).
Notation edge := (edge n whole P). Notation in_cell := (in_cell whole P cuts). Notation fits := (fits P cuts).
Notation edge_bounds := (edge_bounds whole P at_ cuts). Notation noise_bounds := (noise_bounds whole P at_ cuts rs).
Notation live := (live n Z whole rs). Notation all_hold := (all_hold n Z rs). Notation must := (must n Z whole P rs).
Notation given := (given mu must). Notation sure := (sure whole P cuts rs). Notation possible := (possible whole P cuts rs).
Notation low_of := (low_of cuts). Notation high_of := (high_of whole cuts).
Notation inside := (inside n P).

Lemma number_of (c : cells) (j : 'I_n) : number c j = c j. Proof. by rewrite /number valK. Qed.

Lemma fits_number (c : cells) j : fits c -> (j < n)%N -> P j -> (number c j <= size (cuts j))%N.
Proof. by move=> /forallP h jn Pj; have := h (Ordinal jn); rewrite /= Pj -number_of. Qed.

Definition between_ends (c : cells) (z : nat -> R) := forall j, (j < n)%N -> P j -> (low_of c j <= (z j)%:E <= high_of c j)%E.

Lemma cell_between (c : cells) z : fits c -> (forall j, (j < n)%N -> P j -> in_cell c j (z j)) -> between_ends c z.
Proof.
move=> fc h j jn Pj; have := h j jn Pj; rewrite /in_cell Pj => hc.
exact: (cell_ends (rises j) (integral (j := j)) (fits_number fc jn Pj) hc).
Qed.

Lemma measurable_in_cell (c : cells) j : measurable (in_cell c j).
Proof. by rewrite /in_cell; case: (P j); [exact: measurable_cell | exact: measurableT]. Qed.

Definition area (c : cells) : set W := box n Z (in_cell c).
Lemma measurable_area (c : cells) : measurable (area c). Proof. exact: (measurable_box noises (measurable_in_cell c)). Qed.

Lemma areaP (c : cells) w : area c w <-> forall j, (j < n)%N -> P j -> in_cell c j (Z j w).
Proof.
rewrite /area /box; split=> [/all_of h j jn _|h]; first exact: (h (Ordinal jn)).
by apply/all_of => j; have := h j (ltn_ord j); rewrite /= /in_cell; case: (P j) => //; exact.
Qed.

Lemma area_between (c : cells) w : fits c -> area c w -> between_ends c (zs w).
Proof. by move=> fc /areaP; exact: cell_between. Qed.

Lemma area_depends (c : cells) : depends n Z P (area c).
Proof.
move=> w w' same; apply/propext; split=> /areaP h; apply/areaP => j jn Pj; have := h j jn Pj; by rewrite (same j jn Pj).
Qed.

Lemma cell_values (c : cells) : exists z : nat -> R, fits c -> forall j, (j < n)%N -> P j -> in_cell c j (z j).
Proof.
have h (j : nat) : exists x, fits c -> (j < n)%N -> P j -> in_cell c j x.
  have [[fc [jn Pj]]|no] := pselect (fits c /\ (j < n)%N /\ P j); last by exists 0 => fc jn Pj; exfalso; apply: no.
  have [x hx] := cell_point (rises j) (integral (j := j)) (fits_number fc jn Pj); by exists x => _ _ _; rewrite /in_cell Pj.
by have [z hz] := choice h; exists z => fc j jn Pj; exact: hz.
Qed.

(* The cells part the line, but for numbers that no noise is at. *)
Definition which j x : 'I_m.+1 := inord (if P j then place (cuts j) x else 0%N).

Lemma whichE j x : (which j x : nat) = if P j then place (cuts j) x else 0%N.
Proof. by rewrite /which inordK// ltnS; case: (P j) => //; apply: leq_trans (enough j); exact: place_most. Qed.

Lemma measurable_which j k : measurable (which j @^-1` [set k]).
Proof.
rewrite (_ : _ @^-1` _ = if P j then [set x | place (cuts j) x = k] else [set x | 0%N = k]).
  case: (P j); first exact: (measurable_place (rises j)).
  have [<-|k0] := eqVneq 0%N k; first by rewrite (_ : [set _ | _] = setT); [exact: measurableT | apply/seteqP; split].
  by rewrite (_ : [set _ | _] = set0); [exact: measurable0 | apply/seteqP; split=> // x /= /eqP; rewrite (negbTE k0)].
apply/seteqP; split=> x /=.
- by move=> <-; rewrite whichE; case: (P j).
- by case: ifP => Pj h; apply: val_inj; rewrite /= whichE Pj.
Qed.

Lemma part_of (E : set W) (c : cells) : measurable E ->
  fine (nu (E `&` cell_of n Z which @^-1` [set c])) = if fits c then fine (nu (E `&` area c)) else 0.
Proof.
move=> mE; have mc : measurable (cell_of n Z which @^-1` [set c]) by exact: (told_runs.measurable_cell noises measurable_which).
case: ifP => fc.
- apply: (live_eq noises laws (rs := [::])); [exact: measurableI | by apply: measurableI => //; exact: measurable_area |].
  move=> w [lw _]; split=> -[Ew h]; split=> //.
  + apply/areaP => j jn Pj; rewrite /in_cell Pj; split; last by move=> wj; exact: lw.
    by rewrite -[j]/(Ordinal jn : nat) number_of -h ffunE whichE /= Pj.
  + rewrite /= /cell_of; apply/ffunP => j; rewrite ffunE; apply: val_inj; rewrite /= whichE.
    have := forallP fc j; case Pj : (P j) => /=; last by rewrite leqn0 => /eqP->.
    by move=> _; move/areaP: h => /(_ j (ltn_ord j) Pj); rewrite /in_cell Pj => -[]; rewrite number_of.
- rewrite (_ : _ `&` _ = set0) ?measure0//; apply/seteqP; split=> // w [_ /= h]; move: fc => /negP; apply; apply/forallP => j.
  by rewrite -h ffunE whichE; case: (P j) => //; exact: place_most.
Qed.

Lemma by_areas (E : set W) : measurable E -> fine (nu E) = \sum_(c : cells | fits c) fine (nu (E `&` area c)).
Proof.
by move=> mE; rewrite (by_cells noises measurable_which mE) [RHS]big_mkcond; apply: eq_bigr => c _; exact: part_of.
Qed.

Lemma area_weight (c : cells) : weight nu (area c) = \prod_(j < n | P j) fine (mu j (cell (whole j) (cuts j) (number c j))).
Proof.
rewrite /area (box_weight noises (measurable_in_cell c)) [RHS]big_mkcond; apply: eq_bigr => j _ /=.
by rewrite /in_cell; case: (P j) => //; rewrite mu1.
Qed.

Lemma area_bounds (c : cells) : fits c ->
  \prod_(j < n | P j) cell_least (cuts j) (at_ j) (c j) <= weight nu (area c) <= \prod_(j < n | P j) cell_most (cuts j) (at_ j) (c j).
Proof.
move=> fc; rewrite area_weight.
have b (j : 'I_n) : P j -> cell_least (cuts j) (at_ j) (c j) <= fine (mu j (cell (whole j) (cuts j) (number c j))) <= cell_most (cuts j) (at_ j) (c j).
  move=> Pj; rewrite number_of; apply: (cell_mass (rises j) (integral (j := j)) (mu1 j) (laws j) (known (j := j))).
  by rewrite -number_of; exact: (fits_number fc (ltn_ord j) Pj).
by apply/andP; split; apply: ler_prod => j Pj; have /andP[l u] := b j Pj; rewrite ?l ?u ?cell_least_ge0 ?fine_ge0.
Qed.

(* Rows of pivots alone. *)
Lemma alone_form (r : row R) (z : nat -> R) : alone r -> form_at n r z = sum_at n P z (rest r) (coef r).
Proof.
move=> /forallP ar; rewrite /form_at /sum_at [in RHS]big_mkcond; congr (_ + _); apply: eq_bigr => j _.
by case: ifP => // Pj; have := ar j; rewrite Pj implybF negbK => /eqP->; rewrite mul0r.
Qed.

Lemma alone_inside (c : cells) (r : row R) z : alone r -> between_ends c z -> (row_low whole P cuts c r <= (form_at n r z)%:E <= row_high whole P cuts c r)%E.
Proof. by move=> ar b; rewrite alone_form//; exact: (sum_inside (rest r) (coef r) b). Qed.

Lemma sure_holds (c : cells) w : sure c -> live w -> between_ends c (zs w) -> all (fun r => alone r ==> row_holds n (zs w) r) rs.
Proof.
move=> /allP s [_ lw] b; apply/allP => r rrs; apply/implyP => ar; have := s r rrs; rewrite ar /=.
have /andP[l _] := alone_inside ar b; have ne := lw r rrs; rewrite /row_holds => /orP[l0|/andP[st /eqP le0]].
- by have := lt_le_trans l0 l; rewrite lte_fin => f0; case: (strict r) => //; exact: ltW.
- move: l; rewrite le0 lee_fin => f0; move: st; rewrite /told_rows.stays; case: (strict r) => //= /ne n0.
  by rewrite lt_neqAle f0 eq_sym n0.
Qed.

Lemma holds_possible (c : cells) w : live w -> between_ends c (zs w) -> all (row_holds n (zs w)) rs -> possible c.
Proof.
move=> [_ lw] b /allP h; apply/allP => r rrs; apply/implyP => ar; have := h r rrs; have ne := lw r rrs.
have /andP[_ u] := alone_inside ar b; rewrite /row_holds /told_rows.stays; case: (strict r) => /= f0.
- by apply/orP; left; apply: lt_le_trans u; rewrite lte_fin.
- have := le_trans (_ : (0%E <= (form_at n r (zs w))%:E)%E) u; rewrite lee_fin => /(_ f0); rewrite le_eqVlt => /predU1P[h0|->//].
  rewrite -h0 eqxx andbT; apply/orP; right; apply: contraT => /ne n0; move: u; rewrite -h0 lee_fin => f1.
  by move: n0; rewrite eq_le f0 f1.
Qed.

(* Edges in a cell. *)
Lemma edge_chance_bounds (c : cells) k (r : row R) z : between_ends c z -> (edge_bounds c k r).1 <= chance (mu k) (edge k z r) <= (edge_bounds c k r).2.
Proof.
move=> b; have := sum_inside (start k r) (factor k r) b; rewrite /edge /chance /told_rows.edge_bounds /=.
exact: (edge_inside (mu1 k) (laws k) (known (j := k)) (after n whole k r)).
Qed.

Lemma chance01 k (e : bool * R) : 0 <= chance (mu k) e <= 1.
Proof. exact: (mass01 (mu1 k) (measurable_below _ _)). Qed.

Lemma measurable_edge k (r : row R) : measurable_fun setT (fun w => chance (mu k) (edge k (zs w) r)).
Proof.
have mA := measurable_beyond noises whole P k r.
have h := @measurable_masses _ mu mu1 _ W _ k mA.
apply/EFin_measurable_fun; rewrite (_ : _ \o _ = (fun w => mu k (xsection [set x : W * R | below (edge k (zs x.1) r).1 (edge k (zs x.1) r).2 x.2] w)))//.
apply/funext => w; rewrite /= /chance fineK; last by apply: (mass_fin (mu1 k)); exact: measurable_below.
by congr (mu k _); apply/seteqP; split=> z; rewrite /xsection /= inE.
Qed.

Lemma tame_edge (c : cells) k (r : row R) : tame (area c) (fun w => chance (mu k) (edge k (zs w) r)).
Proof. split; [exact: measurable_edge | exists 1 => w _; have /andP[h0 h1] := chance01 k (edge k (zs w) r); by rewrite ger0_norm]. Qed.

Lemma measurable_line k (b : bool) (s u : R) : measurable_fun setT (fun t : R => chance (mu k) (b, s + u * t)).
Proof.
pose A : set (R * R) := [set x | below b (s + u * x.1) x.2].
have mf : measurable_fun setT (fun x : R * R => x.2 - (s + u * x.1)).
  apply: measurable_funB; first exact: measurable_second.
  apply: measurable_funD; first exact: measurable_fun_cst.
  by apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_first].
have mA : measurable A.
  rewrite /A /below; case: b {A}.
  - rewrite (_ : [set _ | _] = (fun x : R * R => x.2 - (s + u * x.1)) @^-1` `]-oo, 0]).
      by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
    by apply/seteqP; split=> x /=; rewrite in_itv/= subr_le0.
  - rewrite (_ : [set _ | _] = (fun x : R * R => x.2 - (s + u * x.1)) @^-1` `]-oo, 0[).
      by rewrite -[X in measurable X]setTI; apply: mf => //; exact: measurable_itv.
    by apply/seteqP; split=> x /=; rewrite in_itv/= subr_lt0.
have h := @measurable_masses _ mu mu1 _ _ _ k mA.
apply/EFin_measurable_fun; rewrite (_ : _ \o _ = (fun t => mu k (xsection A t)))//.
apply/funext => t; rewrite /= /chance fineK; last by apply: (mass_fin (mu1 k)); exact: measurable_below.
by congr (mu k _); apply/seteqP; split=> z; rewrite /xsection /= inE.
Qed.

(* The mean of an edge. *)
Lemma edge_none k (r : row R) (z z' : nat -> R) : inside r = [::] -> edge k z r = edge k z' r.
Proof.
move=> none; rewrite /edge /sum_at; congr (_, _ + _); apply: eq_bigr => j Pj.
have [a0|a0] := eqVneq (coef r j) 0; first by rewrite /factor a0 !mul0r.
by have : (j : nat) \in inside r; [rewrite mem_filter Pj a0 mem_iota add0n ltn_ord | rewrite none].
Qed.

Lemma edge_one k (r : row R) (z : nat -> R) p : inside r = [:: p] -> edge k z r = (after n whole k r, start k r + factor k r p * z p).
Proof.
move=> one; have : p \in inside r by rewrite one mem_head.
rewrite mem_filter mem_iota add0n /= => /andP[/andP[Pp _] pn].
rewrite /edge /sum_at; congr (_, _ + _); rewrite (bigD1 (Ordinal pn))//= big1 ?addr0// => j /andP[Pj jp].
have [a0|a0] := eqVneq (coef r j) 0; first by rewrite /factor a0 !mul0r.
have : (j : nat) \in inside r by rewrite mem_filter Pj a0 mem_iota add0n ltn_ord.
by rewrite one inE => /eqP jE; move: jp; rewrite -val_eqE /= jE eqxx.
Qed.

Lemma edge_has_mean (c : cells) k (r : row R) : fits c -> (size (inside r) <= 1)%N -> exists a, [/\ edge_mean mu whole P at_ cuts c k r a,
  (edge_bounds c k r).1 <= a <= (edge_bounds c k r).2, 0 <= a <= 1 &
  0 < weight nu (area c) -> over nu (area c) (fun w => chance (mu k) (edge k (zs w) r)) = a * weight nu (area c)].
Proof.
move=> fc; have [z hz] := cell_values c; have bz := cell_between fc (hz fc).
rewrite /edge_mean; case E : (inside r) => [|p [|//]] _.
- exists (chance (mu k) (edge k z r)); split=> [| | |_]; try exact: edge_chance_bounds; first exact: chance01.
  transitivity (over nu (area c) (fun _ => chance (mu k) (edge k z r))); first by apply: eq_over => w _; rewrite (edge_none k (zs w) z E).
  by rewrite (over_cst nu1)//; exact: measurable_area.
have : p \in inside r by rewrite E mem_head.
rewrite mem_filter mem_iota add0n /= => /andP[/andP[Pp _] pn].
set g := fun t : R => chance (mu k) (after n whole k r, start k r + factor k r p * t).
have mg : measurable_fun setT g by exact: measurable_line.
have g01 t : 0 <= g t <= 1 by exact: chance01.
have mC := measurable_in_cell c p.
have tg : tame (in_cell c p) g by split=> //; exists 1 => t _; have /andP[h0 h1] := g01 t; rewrite ger0_norm.
have bg t : in_cell c p t -> (edge_bounds c k r).1 <= g t <= (edge_bounds c k r).2.
  move=> ct; pose z' j := if j == p then t else z j.
  have bz' : between_ends c z' by apply: cell_between => // j jn Pj; rewrite /z'; case: eqP => [->//|_]; exact: hz.
  by have := edge_chance_bounds k r bz'; rewrite (edge_one k z' E) /z' eqxx.
have := weight_ge0 (mu p) (in_cell c p); rewrite le_eqVlt => /orP[/eqP w0|w0].
- exists (chance (mu k) (edge k z r)); split; [| exact: edge_chance_bounds | exact: chance01 |].
  + rewrite -[fine _]/(weight (mu p) (in_cell c p)) -w0 mulr0 (overE (mu1 p) mC tg).
    have /andP[h0 h1] := over_between (mu1 p) mC tg (fun t _ => g01 t).
    by congr (_%:E); apply: le_anti; move: h0 h1; rewrite -w0 !mulr0 => -> ->.
  + rewrite /area (box_weight noises (measurable_in_cell c)) (bigD1 (Ordinal pn))//= -[fine (mu p _)]/(weight (mu p) (in_cell c p)) -w0 mul0r.
    by rewrite ltxx.
- exists (over (mu p) (in_cell c p) g / weight (mu p) (in_cell c p)).
  have e : (\int[mu p]_(t in in_cell c p) (g t)%:E)%E =
      (over (mu p) (in_cell c p) g / weight (mu p) (in_cell c p) * fine (mu p (in_cell c p)))%:E.
    by rewrite (overE (mu1 p) mC tg) divfK// gt_eqF.
  split=> [//| | |_].
  + by rewrite ler_pdivl_mulr// ler_pdivr_mulr//; exact: (over_between (mu1 p) mC tg bg).
  + by rewrite ler_pdivl_mulr// ler_pdivr_mulr//; exact: (over_between (mu1 p) mC tg (fun t _ => g01 t)).
  + rewrite -(over_one noises (measurable_in_cell c) pn mg (fun t => proj1 (andP (g01 t))) e).
    by apply: eq_over => w _; rewrite (edge_one k (zs w) E).
Qed.
End Sums.
