(* Above threshold with log-concave noises, from above (docs/theory/selection.md, log-concave threshold). An output says of each answer what is told of
   it. Its density is, for each noise of the threshold that is drawn, a mean over that noise of a product with one factor for each answer. The
   noises of the threshold and of the answers are shifted; answers may be chosen after all that was told before. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents kernels likelihood independent log_concave shift_costs.

(* Log-concave noise with the density f has these slopes to the left and to the right; where it is not exact all shifts of the grid (all numbers, or the
   integers) keep the measure that its density is of. *)
Section Noise.
Context (R : realType) (grid : R -> Prop).
Implicit Types (lam mu : {measure set R -> \bar R}) (f : R -> R) (left right : option R).

Definition log_noise lam mu f left right :=
  [/\ mu setT = 1%E, has_density lam mu f, nonneg left /\ nonneg right,
    exists lo hi h, [/\ log_concave lo hi h f, left_slope lo h left & right_slope hi h right] &
    (left = None /\ right = None) \/ forall e, grid e -> keeps lam e].

Context lam mu f left right (noise : log_noise lam mu f left right).

Lemma density_moves z e c c' : pays right e c -> pays left (- e) c' -> f z <= expR (c + c') * f (z + e).
Proof.
move=> [c0 pr] [c0' pl]; have [_ [f0 _ _] _ [lo [hi [h [lc sl sr]]]] _] := noise.
have up k : k <= c + c' -> f z <= expR k * f (z + e) -> f z <= expR (c + c') * f (z + e).
  by move=> kc le; apply: (le_trans le); rewrite ler_wpmul2r// ler_expR.
have [e0|e0|e0] := ltrgtP e 0.
- case: left pl sl => [b|] pl sl; last by lra.
  apply: (up (b * - e)); first by lra.
  by have := left_ratio z lc sl (_ : 0 <= - e); rewrite opprK; apply; lra.
- case: right pr sr => [b|] pr sr; last by lra.
  by apply: (up (b * e)); [lra | apply: right_ratio lc sr _; lra].
- by apply: (up 0); [lra | rewrite e0 addr0 expR0 mul1r].
Qed.

Lemma shift_kept e c c' : grid e -> pays right e c -> pays left (- e) c' -> keeps lam e.
Proof.
move=> ge [_ pr] [_ pl]; have [_ _ _ _ [[ln rn]|k]] := noise; last exact: k.
have -> : e = 0 by move: pr pl; rewrite ln rn => ? ?; lra.
by move=> A mA; congr (lam _); apply/seteqP; split=> z /=; rewrite addr0.
Qed.

Lemma law_moves e c c' A : grid e -> pays right e c -> pays left (- e) c' -> measurable A ->
  fine (mu [set z | A (z + e)]) <= expR (c + c') * fine (mu A).
Proof.
move=> ge pr pl mA; have [mu1 dens _ _ _] := noise.
rewrite -lee_fin EFinM !fineK ?mass_fin//; last exact: measurable_moved.
apply: (density_moved (shift_kept ge pr pl) dens mA) => z _; exact: density_moves.
Qed.

Lemma measurable_below (t : R) : measurable [set z : R | z < t].
Proof. by rewrite (_ : [set z | _] = `]-oo, t[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv]. Qed.

Lemma measurable_above (t : R) : measurable [set z : R | t <= z].
Proof. by rewrite (_ : [set z | _] = `[t, +oo[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; rewrite in_itv/= andbT]. Qed.

(* P[z < x], and P[z >= x]. *)
Definition below_chance x := fine (mu [set z | z < x]).
Definition above_chance x := fine (mu [set z | x <= z]).

Lemma chance_le A B : measurable A -> measurable B -> A `<=` B -> fine (mu A) <= fine (mu B).
Proof.
by move=> mA mB AB; have [mu1 _ _ _ _] := noise; rewrite -lee_fin !fineK ?mass_fin//; apply: le_measure; rewrite ?inE.
Qed.

Lemma chance0 A : 0 <= fine (mu A). Proof. exact/fine_ge0/measure_ge0. Qed.

Hypothesis grid_opp : forall e, grid e -> grid (- e).

Lemma below_moves x e c : grid e -> pays left e c -> below_chance x <= expR c * below_chance (x - e).
Proof.
move=> ge p; have [_ _ [l0 r0] _ _] := noise; have [e0|e0] := leP e 0.
  apply: (@le_trans _ _ (below_chance (x - e))).
    by apply: chance_le; [exact: measurable_below | exact: measurable_below | move=> z /= zx; lra].
  by rewrite ler_pemull ?chance0// -expR0 ler_expR; case: p.
have pr : pays right (- e) 0 by apply: pays_nothing => //; lra.
have pl : pays left (- - e) c by rewrite opprK.
have := law_moves (grid_opp ge) pr pl (measurable_below (x - e)); rewrite add0r; apply: le_trans.
by apply: chance_le; [exact: measurable_below | apply: measurable_moved; exact: measurable_below | move=> z /=; rewrite ltr_add2r].
Qed.

Lemma above_moves x e c : grid e -> pays right e c -> above_chance x <= expR c * above_chance (x + e).
Proof.
move=> ge p; have [_ _ [l0 r0] _ _] := noise; have [e0|e0] := leP e 0.
  apply: (@le_trans _ _ (above_chance (x + e))).
    by apply: chance_le; [exact: measurable_above | exact: measurable_above | move=> z /= zx; lra].
  by rewrite ler_pemull ?chance0// -expR0 ler_expR; case: p.
have pl : pays left (- e) 0 by apply: pays_nothing => //; lra.
have := law_moves ge p pl (measurable_above (x + e)); rewrite addr0; apply: le_trans.
by apply: chance_le; [exact: measurable_above | apply: measurable_moved; exact: measurable_above | move=> z /=; rewrite ler_add2r].
Qed.

Lemma measurable_shifted (g : R -> R) q : measurable_fun setT g -> measurable_fun setT (fun t : R => g (t + q)).
Proof. by move=> mg; apply: (measurable_after (measurable_plus q) mg). Qed.

Let constant : markov (fun _ : R => mu).
Proof. by have [mu1 _ _ _ _] := noise; split=> // S mS; exact: measurable_fun_cst. Qed.

Let measurable_first : measurable_fun setT (fst : R * R -> R). Proof. exact: measurable_first. Qed.
Let measurable_second : measurable_fun setT (snd : R * R -> R). Proof. exact: measurable_second. Qed.
Let measurable_difference : measurable_fun setT (fun x : R * R => x.2 - x.1). Proof. exact: measurable_funB. Qed.

Lemma measurable_section (A : set R) : measurable A -> measurable_fun setT (fun t : R => fine (mu [set z | A (z - t)])).
Proof.
move=> mA; have [mu1 _ _ _ _] := noise.
have mB : measurable ((fun x : R * R => x.2 - x.1) @^-1` A) by rewrite -[X in measurable X]setTI; exact: measurable_difference.
have mAt t : measurable [set z | A (z - t)] by exact: measurable_moved.
apply/EFin_measurable_fun; have := markov_sections constant mB; congr (measurable_fun _ _); apply/funext => t.
rewrite /= fineK ?mass_fin//; congr (mu _); apply/seteqP; split=> z; rewrite /xsection/= ?inE//.
Qed.

Lemma measurable_below_chance : measurable_fun setT below_chance.
Proof.
rewrite (_ : below_chance = fun t => fine (mu [set z | [set y | y < 0] (z - t)])); first exact: measurable_section (measurable_below 0).
by apply/funext => t; congr (fine (mu _)); apply/seteqP; split=> z /=; rewrite subr_lt0.
Qed.

Lemma measurable_above_chance : measurable_fun setT above_chance.
Proof.
rewrite (_ : above_chance = fun t => fine (mu [set z | [set y | 0 <= y] (z - t)])); first exact: measurable_section (measurable_above 0).
by apply/funext => t; congr (fine (mu _)); apply/seteqP; split=> z /=; rewrite subr_ge0.
Qed.
End Noise.

(* What is told of an answer: that it is below the threshold; that it is not; by how much; with noise that is drawn afresh; with the noise that it is
   compared with. *)
Variant told (R : Type) := No | Yes | YesBy of R | YesFresh of R | YesValue of R.
Arguments No {R}. Arguments Yes {R}.

Section Outputs.
Context (R : realType) (grid : R -> Prop).
Hypotheses (grid_opp : forall e, grid e -> grid (- e)) (grid_add : forall e e', grid e -> grid e' -> grid (e + e')).
Context (lt lq lf nu mu fresh : {measure set R -> \bar R}) (ft fq ff : R -> R) (tl tr ql qr fl fr : option R).
Hypotheses (threshold : log_noise grid lt nu ft tl tr) (query : log_noise grid lq mu fq ql qr) (again : log_noise grid lf fresh ff fl fr).

(* The density of what is told of the answer q, where the noisy threshold is t. *)
Definition factor (a : told R) (t q : R) : R := match a with
  | No => below_chance mu (t - q)
  | Yes => above_chance mu (t - q)
  | YesBy g => if 0 <= g then fq (t + (g - q)) else 0
  | YesFresh w => above_chance mu (t - q) * ff (w - q)
  | YesValue v => if t <= v then fq (v - q) else 0
  end.

(* What it costs to shift the threshold by s where the answer moves by d; the threshold must not rise where the compared number is told. *)
Definition terms (a : told R) (d : R) : seq (item R) := match a with
  | No => [:: (ql, -1, d)]
  | Yes => [:: (qr, 1, - d)]
  | YesBy _ => [:: (qr, 1, - d); (ql, -1, d)]
  | YesFresh _ => [:: (qr, 1, - d); (fr, 0, - d); (fl, 0, d)]
  | YesValue _ => [:: (qr, 0, - d); (ql, 0, d)]
  end.
Definition may_shift (a : told R) (s : R) := if a is YesValue _ then s <= 0 else True.

Let fq0 z : 0 <= fq z. Proof. by have [_ [f0 _ _] _ _ _] := query. Qed.
Let ff0 z : 0 <= ff z. Proof. by have [_ [f0 _ _] _ _ _] := again. Qed.
Let ft0 z : 0 <= ft z. Proof. by have [_ [f0 _ _] _ _ _] := threshold. Qed.

Lemma factor0 a t q : 0 <= factor a t q.
Proof. by case: a => [||g|w|v] /=; rewrite ?chance0 ?mulr_ge0 ?chance0//; case: ifP. Qed.

Lemma factor_moves a t q s d c : grid s -> grid d -> may_shift a s -> charged s (terms a d) c ->
  factor a t q <= expR c * factor a (t + s) (q + d).
Proof.
move=> gs gd ok.
have gsd : grid (s - d) by apply: grid_add => //; exact: grid_opp.
have gds : grid (d - s) by apply: grid_add => //; exact: grid_opp.
have more k x y : k <= c -> x <= expR k * y -> 0 <= y -> x <= expR c * y.
  by move=> kc le y0; apply: (le_trans le); rewrite ler_wpmul2r// ler_expR.
have up c1 : pays qr (1 * s + - d) c1 -> above_chance mu (t - q) <= expR c1 * above_chance mu (t + s - (q + d)).
  rewrite mul1r => p; have -> : t + s - (q + d) = t - q + (s - d) by lra.
  exact: (above_moves query).
case: a ok => [||g|w|v] /= ok.
- move=> [c1 [p h]]; apply: (more c1); [by lra | | exact: chance0].
  have -> : t + s - (q + d) = t - q - (d - s) by lra.
  by apply: (below_moves query) => //; move: p; rewrite mulN1r addrC.
- by move=> [c1 [p h]]; apply: (more c1); [lra | exact: up | exact: chance0].
- move=> [c1 [p [c2 [p' h]]]]; case: ifP => _; last by rewrite mulr0.
  apply: (more (c1 + c2)); [by lra | | exact: fq0].
  have -> : t + s + (g - (q + d)) = t + (g - q) + (s - d) by lra.
  apply: (density_moves query); first by move: p; rewrite mul1r.
  by move: p'; rewrite mulN1r opprB addrC.
- move=> [c1 [p [c2 [p2 [c3 [p3 h]]]]]]; apply: (more (c1 + (c2 + c3))); [by lra | | by rewrite mulr_ge0 ?chance0].
  rewrite expRD mulrACA; apply: ler_pmul; [exact: chance0 | exact: ff0 | exact: up |].
  have -> : w - (q + d) = w - q + - d by lra.
  by apply: (density_moves again); [move: p2; rewrite mul0r add0r | move: p3; rewrite mul0r add0r opprK].
- move=> [c1 [p [c2 [p' h]]]]; case: ifP => tv; last by rewrite mulr_ge0 ?expR_ge0//; case: ifP.
  rewrite ifT; last by lra.
  apply: (more (c1 + c2)); [by lra | | exact: fq0].
  have -> : v - (q + d) = v - q + - d by lra.
  by apply: (density_moves query); [move: p; rewrite mul0r add0r | move: p'; rewrite mul0r add0r opprK].
Qed.

Lemma measurable_factor a q : measurable_fun setT (fun t : R => factor a t q).
Proof.
have [_ [_ mq _] _ _ _] := query.
have mb : measurable_fun setT (fun t : R => below_chance mu (t - q)) by apply: measurable_shifted; exact: measurable_below_chance query.
have ma : measurable_fun setT (fun t : R => above_chance mu (t - q)) by apply: measurable_shifted; exact: measurable_above_chance query.
case: a => [||g|w|v] //=.
- case: (0 <= g); last exact: measurable_fun_cst.
  exact: (measurable_shifted (g - q) mq).
- by apply: measurable_funM => //; exact: measurable_fun_cst.
- rewrite (_ : (fun t : R => _) = (fun t : R => fq (v - q) * \1_[set t : R | t <= v] t)).
    apply: measurable_funM; first exact: measurable_fun_cst.
    apply: measurable_fun_indic; rewrite (_ : [set t | _] = `]-oo, v]%classic); first exact: measurable_itv.
    by apply/seteqP; split=> z /=; rewrite in_itv.
  apply/funext => t; rewrite indicE; case: ifP => tv; first by rewrite mem_set// mulr1.
  by rewrite memNset ?mulr0//= tv.
Qed.

(* Answers are functions of what was told before. *)
Definition asked := seq (told R) -> R.
Fixpoint run_factor (answer : asked) h r t : R := if r is a :: rest then factor a t (answer h) * run_factor answer (rcons h a) rest t else 1.
Definition run_density answer h r : \bar R := (\int[nu]_t (run_factor answer h r t)%:E)%E.
(* One noise of the threshold is drawn for each run: one in all, or one more after each positive. *)
Fixpoint output_density answer h runs : \bar R :=
  if runs is r :: rest then (run_density answer h r * output_density answer (h ++ r) rest)%E else 1%E.

Lemma run_factor0 answer h r t : 0 <= run_factor answer h r t.
Proof. by elim: r h => [|a r IH] h //=; rewrite mulr_ge0// factor0. Qed.

Lemma measurable_run_factor answer h r : measurable_fun setT (run_factor answer h r).
Proof.
elim: r h => [|a r IH] h /=; first exact: measurable_fun_cst.
by apply: measurable_funM; [exact: measurable_factor | exact: IH].
Qed.

Lemma run_density0 answer h r : (0 <= run_density answer h r)%E.
Proof. by apply: integral_ge0 => t _; rewrite lee_fin run_factor0. Qed.

Lemma output_density0 answer h runs : (0 <= output_density answer h runs)%E.
Proof. by elim: runs h => [|r rest IH] h //=; rewrite mule_ge0// run_density0. Qed.

Variables (answer answer' : asked) (ends : seq (told R) -> R * R).
Hypothesis on_grid : forall h, grid (answer' h - answer h).

(* What the answers of a run move by, and between which ends. *)
Fixpoint moved h r : seq (told R * R * (R * R)) :=
  if r is a :: rest then (a, answer' h - answer h, ends h) :: moved (rcons h a) rest else [::].
Definition run_costs h r := [:: (tr, 1, 0); (tl, -1, 0)] ++ all_terms terms (moved h r).
Definition all_may_shift r s := forall a, List.In a r -> may_shift a s.

Lemma run_factor_moves s h r t c : grid s -> all_may_shift r s -> charged s (all_terms terms (moved h r)) c ->
  run_factor answer h r t <= expR c * run_factor answer' h r (t + s).
Proof.
move=> gs; elim: r h c => [|a r IH] h c ok /=; first by move=> c0; rewrite mulr1 -[leLHS]expR0 ler_expR.
rewrite /all_terms/= => /charged_cat[c1 [ha hr]].
have -> : expR c = expR c1 * expR (c - c1) by rewrite -expRD addrC subrK.
rewrite mulrACA; apply: ler_pmul; [exact: factor0 | exact: run_factor0 | | by apply: IH => // b br; apply: ok; right].
have -> : answer' h = answer h + (answer' h - answer h) by rewrite addrC subrK.
by apply: factor_moves => //; apply: ok; left.
Qed.

Lemma run_density_moves s h r c : grid s -> all_may_shift r s -> charged s (run_costs h r) c ->
  (run_density answer h r <= (expR c)%:E * run_density answer' h r)%E.
Proof.
move=> gs ok /=[c1 [p1 [c2 [p2 hr]]]]; rewrite mul1r addr0 in p1; rewrite mulN1r addr0 in p2.
have [_ dens _ _ _] := threshold; have [_ mt _] := dens.
have ks := shift_kept threshold gs p1 p2.
have mr an := measurable_run_factor an h r.
have mE an : measurable_fun setT (fun t : R => (run_factor an h r t)%:E) by apply/EFin_measurable_fun.
have pE an t : (0 <= (run_factor an h r t)%:E)%E by rewrite lee_fin run_factor0.
rewrite /run_density !(integral_density dens)//.
pose g t := ft t * run_factor answer' h r t.
have g0 t : 0 <= g t by rewrite mulr_ge0// run_factor0.
have mg : measurable_fun setT g by exact: measurable_funM.
rewrite [X in (_ <= _ * X)%E](eq_integral (fun t => (g t)%:E)); last by move=> t _; rewrite EFinM.
have mgs : measurable_fun setT (fun t : R => g (t + s)) by exact: measurable_shifted.
rewrite (integral_kept ks mg g0 measurableT) (_ : [set z : R | setT (z + s)] = setT); last by apply/seteqP.
rewrite -integral_scaled ?expR_ge0//.
apply: ge0_le_integral => //.
- by move=> t _; rewrite -EFinM lee_fin mulr_ge0// run_factor0.
- by apply: emeasurable_funM => //; exact/EFin_measurable_fun.
- by move=> t _; rewrite lee_fin mulr_ge0 ?expR_ge0.
- by apply/EFin_measurable_fun; apply: measurable_funM => //; exact: measurable_fun_cst.
move=> t _; rewrite -EFinM lee_fin.
have -> : expR c = expR (c1 + c2) * expR (c - c1 - c2) by rewrite -expRD; congr expR; lra.
rewrite /g mulrACA; apply: ler_pmul => //; [exact: run_factor0 | exact: (density_moves threshold t p1 p2) | exact: (run_factor_moves _ gs ok hr)].
Qed.

(* Each noise of the threshold has a shift of its own. *)
Fixpoint output_charged h runs v : Prop := if runs is r :: rest then
  exists s c, [/\ grid s, all_may_shift r s, charged s (run_costs h r) c & output_charged (h ++ r) rest (v - c)] else 0 <= v.

Lemma output_density_moves h runs v : output_charged h runs v -> (output_density answer h runs <= (expR v)%:E * output_density answer' h runs)%E.
Proof.
elim: runs h v => [|r rest IH] h v /=; first by move=> v0; rewrite mule1 lee_fin -[leLHS]expR0 ler_expR.
move=> [s [c [gs ok hr hrest]]].
have -> : (expR v)%:E = ((expR c)%:E * (expR (v - c))%:E)%E by rewrite -EFinM -expRD addrC subrK.
rewrite muleACA; apply: lee_pmul; [exact: run_density0 | exact: output_density0 | exact: run_density_moves hr | exact: IH].
Qed.
End Outputs.
