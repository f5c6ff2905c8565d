(* Above threshold with log-concave noises, from below: all that the rule of dpverify/trusted/theories/selection/rules/log_concave_threshold.py computes, in one theorem
   (docs/theory/selection.md, log-concave threshold, from below). *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic exponents independent log_concave moments chain worst_run_limits worst_output_lower.
From dpverify Require Import shift_costs grids slope_sums above_threshold_losses above_threshold_weights above_threshold_lower.

(* How the answers of neighbours differ, d in all, D the sensitivity. *)
Definition differ (R : realType) (D : R) (nb : neighbours) (d : nat -> R) := match nb with
  | One => exists2 i, - D <= d i <= D & forall j, j != i -> d j = 0
  | _ => exists2 w, w \in moves_of nb & forall j, - (w.2%:R * D) <= d j <= w.1%:R * D
  end.

Section Sums.
Context (R : realType).
Implicit Types (F : nat -> R).

Lemma sum_three (K Y J : nat) F a b e : (forall j, (j < K)%N -> F j = a) -> (forall j, (K <= j < K + Y)%N -> F j = b) ->
  (forall j, (K + Y <= j < K + Y + J)%N -> F j = e) -> \sum_(j < K + (Y + J)) F j = K%:R * a + (Y%:R * b + J%:R * e).
Proof.
move=> Fa Fb Fe; rewrite !big_split_ord/=; congr (_ + (_ + _)).
- by rewrite (eq_bigr (fun=> a)) ?sumr_const ?card_ord ?mulr_natl// => j _; exact: Fa.
- by rewrite (eq_bigr (fun=> b)) ?sumr_const ?card_ord ?mulr_natl// => j _; apply: Fb; rewrite leq_addr ltn_add2l /=.
- by rewrite (eq_bigr (fun=> e)) ?sumr_const ?card_ord ?mulr_natl// => j _; apply: Fe; rewrite addnA leq_addr ltn_add2l /=.
Qed.

Lemma sum_blocks (Y m : nat) F : \sum_(j < Y * m) F j = \sum_(r < Y) \sum_(i < m) F (r * m + i)%N.
Proof. by elim: Y => [|Y IH]; rewrite ?mul0n ?big_ord0// mulSnr big_split_ord/= IH big_ord_recr. Qed.
End Sums.

Section Attained.
Context (R : realType) (mt mq mf : {measure set R -> \bar R}) (tl tr ql qr fl fr : option R).
Hypotheses (mt1 : mt setT = 1%E) (mq1 : mq setT = 1%E) (mf1 : mf setT = 1%E).
Hypotheses (tails_t : has_tails mt tl tr) (tails_q : has_tails mq ql qr) (tails_f : has_tails mf fl fr).
Hypotheses (tl0 : positive_slope tl) (tr0 : positive_slope tr) (ql0 : positive_slope ql) (qr0 : positive_slope qr).
Hypotheses (fl0 : positive_slope fl) (fr0 : positive_slope fr).
Context (n c : nat) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (noise_law1 mt1 mq1 mf1) (3 * n) nu Z.
Context (again : bool) (told : report).
Context (grid : R -> Prop) (X : Type) (N : relation X) dT (T : measurableType dT) (M : mechanism R X T).
Context (input : (nat -> R) -> X) (begins : seq bool -> R -> set T).
Hypotheses (grid_whole : (forall e, grid e) \/ grid = @whole R).
Hypothesis begins_measurable : forall p B, measurable (begins p B).
Hypothesis has_outcomes : forall q p B, (forall j, grid (q j)) -> may_begin n c p -> M (input q) (begins p B) = nu (comes Z again told p B q).
Hypotheses (n0 : (0 < n)%N) (c0 : (0 < c)%N).

(* Answers of every size occur, and those of neighbours differ as is claimed. *)
Context (D : R) (nb : neighbours).
Hypotheses (D0 : 0 <= D) (gD : grid D).
Hypothesis near : forall q d, (forall j, grid (q j)) -> (forall j, grid (d j)) -> differ D nb d -> N (input q) (input (fun j => q j + d j)).

Let grid_add := grid_add (whole_sub grid_whole).
Let grid_opp := grid_opp (whole_sub grid_whole).
Lemma grid_nat (k : nat) e : grid e -> grid (k%:R * e).
Proof. by case: grid_whole => [all_ _|-> [z ->]]; [exact: all_ | exists (k%:Z * z); rewrite intrM]. Qed.
Lemma grid1 : grid 1. Proof. by case: grid_whole => [all_|->]; [exact: all_ | exists 1]. Qed.

Lemma nonneg_slope (b : option R) : positive_slope b -> nonneg b. Proof. by case: b => //= s /ltW. Qed.

Lemma within_neg (b : option R) a : positive_slope b -> 0 <= a -> within (- a) b.
Proof. by case: b => //= s s0 a0; apply: le_trans (ltW s0); rewrite oppr_le0. Qed.

Lemma within0 (b : option R) : positive_slope b -> within 0 b. Proof. by move=> b0; rewrite -oppr0; exact: within_neg. Qed.

Lemma tight_ge0 : (0 <= tight_epsilon_in_order N M 0)%E.
Proof. by apply: lb_ereal_inf => _ [e [e0 _] <-]; rewrite lee_fin. Qed.

Let lower_by := weights_lower (N := N) tails_t tails_q tails_f ql0 qr0 fl0 fr0 noises grid_add grid_nat grid1 grid_opp begins_measurable has_outcomes.

Lemma drawn_once p j : ~~ again -> drawn again p j = 0%N.
Proof. by move=> /negbTE ->; elim: j => [|j IH]. Qed.

(* K negatives, then positives, Y of them and J more. *)
Let outcomes K Y J := nseq K false ++ nseq (Y + J) true.
Lemma outcomes_size K Y J : size (outcomes K Y J) = (K + (Y + J))%N. Proof. by rewrite size_cat !size_nseq. Qed.
Lemma outcomes_at K Y J j : (j < K + (Y + J))%N -> positive_at (outcomes K Y J) j = (K <= j)%N.
Proof.
move=> jn; rewrite /positive_at nth_cat size_nseq !nth_nseq; case: leqP => // Kj.
by rewrite -(ltn_add2l K) subnKC// jn.
Qed.
Lemma outcomes_begin K Y J : (K + (Y + J) <= n)%N -> (Y + J <= c)%N -> may_begin n c (outcomes K Y J).
Proof.
move=> le lc; split=> [|j]; rewrite outcomes_size// => jn.
rewrite take_cat size_nseq; case: (ltnP j K) => Kj; first by rewrite take_nseq ?(ltnW Kj)// count_nseq mul0n.
rewrite count_cat count_nseq mul0n add0n; apply: (leq_ltn_trans (count_size _ _)); rewrite size_take size_nseq.
have lt : (j - K < Y + J)%N by rewrite -(ltn_add2l K) subnKC.
by rewrite lt (leq_trans lt).
Qed.

(* One output, answers moved by d: up by u D at its negatives, down by v D at Y positives, up at J more. *)
Lemma counts_lower (K Y J u v : nat) d x : ~~ again -> ~~ value_told told -> (K + (Y + J) <= n)%N -> (Y + J <= c)%N ->
  (forall j, grid (d j)) -> differ D nb d ->
  (forall j, (j < K)%N -> d j = u%:R * D) -> (forall j, (K <= j < K + Y)%N -> d j = - (v%:R * D)) -> (forall j, (K + Y <= j < K + Y + J)%N -> d j = u%:R * D) ->
  at_most (Some x) (loss tl tr ql qr fl fr told u%:R v%:R K%:R Y%:R J%:R) -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> once nv le lc gd dd dK dY dJ xl.
have [a [b [f [f' [a0 b0 [aq bq hi lo] [f0 f'0 fa fa'] lost]]]]] := loss_weights (nonneg_slope tl0) (nonneg_slope tr0) (nonneg_slope ql0) (nonneg_slope qr0)
  (nonneg_slope fl0) (nonneg_slope fr0) xl.
pose p := outcomes K Y J.
pose g j := if (j < K)%N then a else if (j < K + Y)%N then b else 0 : R.
pose h j := if (j < K + Y)%N then f else - f' : R.
have pE j : (j < K + (Y + J))%N -> positive_at p j = (K <= j)%N by exact: outcomes_at.
have sE j : (j < K + (Y + J))%N -> sign R p j = if (K <= j)%N then 1 else -1 by move=> jn; rewrite /sign pE.
have fE : forall j, (j < K + (Y + J))%N -> told_weight told p h j = if (K <= j)%N then (if told is Fresh then h j else 0) else 0.
  by move=> j jn; rewrite /told_weight pE//; case: (told) nv.
have [fE1 fE2] : (if told is Fresh then f else 0) = f /\ (if told is Fresh then - f' else 0) = - f'.
  suff : told <> Fresh -> f = 0 /\ f' = 0 by case: (told) => // H; have [|-> ->] := H; rewrite ?oppr0.
  by move: fa fa'; rewrite /of_fresh; case: told nv => //= _ fa fa' _; split; apply/eqP; rewrite eq_le ?fa ?fa'.
apply: (@le_trans _ _ (total_loss told p d g h)%:E).
  rewrite lee_fin /total_loss outcomes_size (sum_three (F := fun j => (sign R p j * g j + told_weight told p h j) * d j)
    (a := - (a * (u%:R * D))) (b := - ((b + f) * (v%:R * D))) (e := - (f' * (u%:R * D)))).
  - by have := ler_wpmul2r D0 lost; lra.
  - move=> j jK; have jn : (j < K + (Y + J))%N by exact: leq_trans jK (leq_addr _ _).
    by rewrite sE// fE// leqNgt jK /= dK// /g jK; lra.
  - move=> j jKY; have /andP[Kj jY] := jKY; have jn : (j < K + (Y + J))%N by rewrite addnA (leq_trans jY)// leq_addr.
    by rewrite sE// fE// Kj dY// /g /h ltnNge Kj /= jY fE1; lra.
  - move=> j jJ; have /andP[KYj jY] := jJ; have jn : (j < K + (Y + J))%N by rewrite addnA.
    have Kj : (K <= j)%N by exact: leq_trans (leq_addr _ _) KYj.
    by rewrite sE// fE// Kj dJ// /g /h ltnNge Kj /= ltnNge KYj /= fE2; lra.
have g0 j : 0 <= g j by rewrite /g; case: ifP => // _; case: ifP.
apply: (lower_by (p := p) (d := d) (g := g) (h := h)) => //.
- exact: outcomes_begin.
- by move=> q gq; apply: near.
- rewrite outcomes_size => j jn; rewrite /at_answer (_ : (if told is Value then _ else 0) = 0) ?addr0; last by case: (told) nv.
  rewrite sE// /g; case: (leqP K j) => Kj; rewrite /= ?mul1r ?mulN1r ?opprK.
  + by case: ifP => _; rewrite ?oppr0; split=> //; [exact: within_neg | exact: within0 | exact: within0].
  + by split=> //; exact: within_neg.
- move=> tE; rewrite outcomes_size => j jn; rewrite fE// tE /h; rewrite /of_fresh tE /= in fa fa'.
  case: ifP => _; last by rewrite oppr0; split; exact: within0.
  by case: ifP => _; rewrite ?opprK; split=> //; exact: within_neg.
- move=> i _; rewrite /at_threshold outcomes_size.
  have [->|i0] := eqVneq i 0%N; last first.
    by rewrite big1 ?oppr0; [split; exact: within0 | move=> j /eqP E; case/eqP: i0; rewrite -E drawn_once].
  rewrite (eq_bigl xpredT); last by move=> j; rewrite drawn_once.
  rewrite (sum_three (F := fun j => sign R p j * g j) (a := - a) (b := b) (e := 0)).
  + rewrite (_ : - (K%:R * - a + (Y%:R * b + J%:R * 0)) = K%:R * a - Y%:R * b); last by lra.
    by split.
  + by move=> j jK; rewrite sE ?(leq_trans jK (leq_addr _ _))// leqNgt jK /g jK mulN1r.
  + by move=> j /andP[Kj jY]; rewrite sE ?addnA ?(leq_trans jY (leq_addr _ _))// Kj /g ltnNge Kj /= jY mul1r.
  + move=> j /andP[Yj jJ]; have Kj : (K <= j)%N by exact: leq_trans (leq_addr _ _) Yj.
    by rewrite sE ?addnA// Kj /g ltnNge Kj /= ltnNge Yj /= mulr0.
Qed.

(* -- The threshold drawn again: Y runs of K negatives and a positive each -- *)

Let runs_outcomes K Y := mkseq (fun j => (j %% K.+1 == K)%N) (Y * K.+1).

Lemma runs_at K Y j : (j < Y * K.+1)%N -> positive_at (runs_outcomes K Y) j = (j %% K.+1 == K)%N.
Proof. by move=> jn; rewrite /positive_at nth_mkseq. Qed.

Lemma runs_begin K Y : (Y * K.+1 <= n)%N -> (Y <= c)%N -> may_begin n c (runs_outcomes K Y).
Proof.
move=> le lc; split=> [|j]; rewrite size_mkseq// => jn.
have cE i : (count (fun j => (j %% K.+1 == K)%N) (iota 0 i) <= i %/ K.+1)%N.
  elim: i => [//|i IH]; rewrite -[X in iota _ X]addn1 iotaD count_cat/= add0n addn0 divnS// addnC leq_add//.
  case: eqP => //= E; suff -> : (K.+1 %| i.+1)%N by [].
  by apply/dvdnP; exists (i %/ K.+1).+1; rewrite {1}(divn_eq i K.+1) E mulSn addnC addSn.
rewrite -map_take take_iota count_map; apply: (@leq_ltn_trans (minn j (Y * K.+1) %/ K.+1)); first exact: cE.
by rewrite (minn_idPl (ltnW jn)) (leq_trans _ lc)// ltn_divLR.
Qed.

Lemma drawn_runs K Y r i : again -> (r < Y)%N -> (i <= K)%N -> drawn again (runs_outcomes K Y) (r * K.+1 + i) = (r * K.+1)%N.
Proof.
move=> an rY; elim: i => [|i IH] iK; last first.
  rewrite addnS /= IH ?(ltnW iK)// an /= runs_at; last by rewrite -ltn_divLR// divnMDl// divn_small ?addn0// ltnS ltnW.
  by rewrite modnMDl modn_small ?ltnS ?(ltnW iK)// ltn_eqF.
rewrite addn0; case: r rY => [//|r] rY; rewrite mulSn addSn /= an /= runs_at; last first.
  by apply: (@leq_trans (r.+1 * K.+1)); [rewrite mulSn addSn | rewrite leq_mul2r (ltnW rY) orbT].
by rewrite addnC modnMDl modn_small// eqxx.
Qed.

Lemma runs_lower (K Y u v : nat) x : again -> ~~ value_told told -> (Y * K.+1 <= n)%N -> (Y <= c)%N -> (u, v) \in moves_of nb -> nb <> One ->
  at_most (Some x) (times Y%:R (loss tl tr ql qr fl fr told u%:R v%:R K%:R 1 0)) -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> an nv le lc uv no; rewrite /times; case: eqP => [Y0 /= x0|/eqP Y0 xl].
  by apply: (le_trans _ tight_ge0); rewrite lee_fin mulr_le0_ge0.
have Yp : 0 < Y%:R :> R by rewrite lt_neqAle eq_sym Y0 /=.
have {}xl : at_most (Some (x / Y%:R)) (loss tl tr ql qr fl fr told u%:R v%:R K%:R 1%:R 0%:R).
  by move: xl; case: (loss _ _ _ _ _ _ _ _ _ _ _ _) => //= w; rewrite ler_pdivr_mulr// mulrC.
have [a [b [f [f' [a0 b0 [aq bq hi lo] [f0 f'0 fa fa'] lost]]]]] := loss_weights (nonneg_slope tl0) (nonneg_slope tr0) (nonneg_slope ql0) (nonneg_slope qr0)
  (nonneg_slope fl0) (nonneg_slope fr0) xl.
rewrite mul0r mul0r addr0 !mul1r ler_pdivr_mulr// in lost.
have bE : K%:R * a - 1%:R * b = K%:R * a - b by lra.
rewrite bE in hi lo.
pose p := runs_outcomes K Y; pose pos (j : nat) := (j %% K.+1 == K)%N.
pose d j := if pos j then - (v%:R * D) else u%:R * D : R.
pose g j := if pos j then b else a : R; pose h (j : nat) := f.
have sE j : (j < Y * K.+1)%N -> sign R p j = if pos j then 1 else -1 by move=> jn; rewrite /sign runs_at.
have fE j : (j < Y * K.+1)%N -> told_weight told p h j = if pos j then f else 0.
  move=> jn; rewrite /told_weight runs_at// -/(pos j) /h; case: (pos j) => //; move: fa; rewrite /of_fresh.
  by case: (told) nv => //= _ fa; apply/eqP; rewrite eq_le ?f0 ?fa.
have at_ r i : (r < Y)%N -> (i < K.+1)%N -> (r * K.+1 + i < Y * K.+1)%N.
  by move=> rY iK; rewrite -ltn_divLR// divnMDl// divn_small ?addn0.
have posE r i : (i < K.+1)%N -> pos (r * K.+1 + i)%N = (i == K) by move=> iK; rewrite /pos modnMDl modn_small.
have block (F : nat -> R) e e' : (forall r i, (r < Y)%N -> (i < K)%N -> F (r * K.+1 + i)%N = e) -> (forall r, (r < Y)%N -> F (r * K.+1 + K)%N = e') ->
    \sum_(j < Y * K.+1) F j = Y%:R * (K%:R * e + e').
  move=> Fe Fe'; rewrite sum_blocks (eq_bigr (fun=> K%:R * e + e')) ?sumr_const ?card_ord ?mulr_natl// => r _.
  rewrite big_ord_recr/= Fe'// (eq_bigr (fun=> e)) ?sumr_const ?card_ord ?mulr_natl// => i _; exact: Fe.
have g0 j : 0 <= g j by rewrite /g; case: ifP.
apply: (@le_trans _ _ (total_loss told p d g h)%:E).
  rewrite lee_fin /total_loss size_mkseq (block (fun j => (sign R p j * g j + told_weight told p h j) * d j)
    (- (a * (u%:R * D))) (- ((b + f) * (v%:R * D)))).
  - by have := ler_wpmul2r D0 lost; lra.
  - move=> r i rY iK; have iK' : (i < K.+1)%N by exact: ltnW.
    by rewrite sE ?fE ?at_// /d /g posE// ltn_eqF//; lra.
  - by move=> r rY; rewrite sE ?fE ?at_// /d /g posE// eqxx; lra.
have [u1 v1] : (u <= 1)%N /\ (v <= 1)%N by move: uv; case: (nb) => //=; rewrite !inE; do ?[case/orP]; move=> /eqP[-> ->].
have g00 : grid 0 by rewrite -(subrr D); apply: grid_add => //; exact: grid_opp.
have gmul (k : nat) : (k <= 1)%N -> grid (k%:R * D) by case: k => [|[|//]] _; rewrite ?mul1r ?mul0r.
have uD : 0 <= u%:R * D by rewrite mulr_ge0. have vD : 0 <= v%:R * D by rewrite mulr_ge0.
have gd j : grid (d j) by rewrite /d; case: ifP => _; [apply: grid_opp |]; exact: gmul.
apply: (lower_by (p := p) (d := d) (g := g) (h := h)) => //.
- exact: runs_begin.
- move=> q gq; apply: near => //; suff df : exists2 w, w \in moves_of nb & forall j, - (w.2%:R * D) <= d j <= w.1%:R * D by case: (nb) no df.
  by exists (u, v) => // j; rewrite /d; case: ifP => _ /=; apply/andP; split; lra.
- rewrite size_mkseq => j jn; rewrite /at_answer (_ : (if told is Value then _ else 0) = 0) ?addr0; last by case: (told) nv.
  rewrite sE// /g; case: (pos j); rewrite ?mul1r ?mulN1r ?opprK; split=> //; exact: within_neg.
- move=> tE; rewrite size_mkseq => j jn; rewrite fE//; rewrite /of_fresh tE /= in fa.
  case: ifP => _; last by rewrite oppr0; split; exact: within0.
  by split=> //; exact: within_neg.
- move=> i _; rewrite /at_threshold size_mkseq big_mkcond /=.
  rewrite (sum_blocks Y K.+1 (fun j => if drawn again p j == i then sign R p j * g j else 0)).
  rewrite (eq_bigr (fun r : 'I_Y => if (r * K.+1 == i)%N then b - K%:R * a else 0)); last first.
    move=> r _; rewrite big_ord_recr/= drawn_runs// sE ?at_// /g posE// eqxx mul1r addrC.
    rewrite (eq_bigr (fun=> if (r * K.+1 == i)%N then - a else 0)); last first.
      move=> j _; have jK : (j < K.+1)%N by exact: leqW (ltn_ord j).
      by rewrite drawn_runs ?sE ?at_ ?posE// ?(ltnW (ltn_ord j))// (ltn_eqF (ltn_ord j)) mulN1r.
    by rewrite sumr_const card_ord -[(if _ then _ else _) *+ K]mulr_natl; case: eqP => _; lra.
  have [[r rE]|none] := pselect (exists r : 'I_Y, (r * K.+1 = i)%N); last first.
    rewrite big1 ?oppr0; first by split; exact: within0.
    by move=> r _; case: eqP => // E; case: none; exists r.
  rewrite (bigD1 r)//= rE eqxx big1 ?addr0.
    have -> : - (b - K%:R * a) = K%:R * a - b by lra.
    by split; [exact: hi | exact: lo].
  by move=> r' ne; case: eqP => // E; move/eqP: ne => []; apply: ord_inj; apply/eqP; rewrite -(eqn_pmul2r (m := K.+1))// E rE.
Qed.

(* -- The noisy answers that are told -- *)

(* Negatives go by dn, positives by dp; the comparison of the first positive makes up for the negatives, at the noise of the threshold. *)
Lemma told_lower (K Y : nat) (a z dn dp : R) : value_told told -> (K + Y.+1 <= n)%N -> (Y.+1 <= c)%N -> 0 <= a ->
  within a ql -> within z qr -> within (- z) ql ->
  grid dn -> grid dp -> differ D nb (fun j => if (j < K)%N then dn else if (j < K + Y.+1)%N then dp else 0) ->
  ((K%:R * a * dn - Y.+1%:R * z * dp)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> vt le lc a0 aq zr zl gn gp df; pose p := outcomes K 1 Y.
pose d j := if (j < K)%N then dn else if (j < K + Y.+1)%N then dp else 0 : R.
pose g j := if (j < K)%N then a else if j == K then K%:R * a else 0 : R; pose h j := z - g j.
have pE j : (j < K + (1 + Y))%N -> positive_at p j = (K <= j)%N by exact: outcomes_at.
have sE j : (j < K + (1 + Y))%N -> sign R p j = if (K <= j)%N then 1 else -1 by move=> jn; rewrite /sign pE.
have fE j : (j < K + (1 + Y))%N -> told_weight told p h j = if (K <= j)%N then h j else 0.
  by move=> jn; rewrite /told_weight pE//; case: (told) vt.
have g0 j : 0 <= g j by rewrite /g; case: ifP => // _; case: ifP => // _; exact: mulr_ge0.
have grid0 : grid 0 by rewrite -(subrr dn); apply: grid_add => //; exact: grid_opp.
have gd j : grid (d j) by rewrite /d; case: ifP => // _; case: ifP.
have drawn0 j : (j <= K)%N -> drawn again p j = 0%N.
  elim: j => [//|j IH] jK /=; rewrite pE ?(leq_trans jK (leq_addr _ _))//.
  by rewrite leqNgt jK /= andbF IH// ltnW.
have three (F : nat -> R) e e' : (forall j, (j < K)%N -> F j = e) -> (forall j, (K <= j < K + (1 + Y))%N -> F j = e') ->
    \sum_(j < K + (1 + Y)) F j = K%:R * e + Y.+1%:R * e'.
  move=> Fe Fe'; rewrite (@sum_three R K 1 Y F e e' e') //; last 2 first.
  - by move=> j /andP[Kj j1]; apply: Fe'; rewrite Kj (leq_trans j1)// addnA leq_addr.
  - by move=> j /andP[Kj j1]; apply: Fe'; rewrite (leq_trans (leq_addr 1 K) Kj) addnA.
  by rewrite -[Y.+1%:R]natr1; lra.
apply: (@le_trans _ _ (total_loss told p d g h)%:E).
  rewrite lee_fin /total_loss outcomes_size (three (fun j => (sign R p j * g j + told_weight told p h j) * d j) (- (a * dn)) (z * dp)); first by lra.
  - move=> j jK; have jn : (j < K + (1 + Y))%N by exact: leq_trans jK (leq_addr _ _).
    by rewrite sE// fE// leqNgt jK /= /d /g jK; lra.
  - by move=> j /andP[Kj jn]; rewrite sE// fE// Kj /h /d ltnNge Kj /= -add1n jn; lra.
apply: (lower_by (p := p) (d := d) (g := g) (h := h)) => //.
- exact: outcomes_begin.
- by move=> q gq; apply: near.
- rewrite outcomes_size => j jn; rewrite /at_answer sE// fE//.
  have -> (y : R) : (if told is Value then y else 0) = y by case: (told) vt.
  case: (leqP K j) => Kj; first by rewrite mul1r /h addrC subrK.
  by rewrite addr0 mulN1r opprK /g Kj; split=> //; exact: within_neg.
- by move=> tE; move: vt; rewrite tE.
- move=> i _; suff -> : at_threshold again p g i = 0 by rewrite oppr0; split; exact: within0.
  rewrite /at_threshold outcomes_size big_mkcond/=.
  rewrite (@sum_three R K 1 Y (fun j => if drawn again p j == i then sign R p j * g j else 0) (if 0%N == i then - a else 0)
    (if 0%N == i then K%:R * a else 0) 0).
  + by case: eqP => _; lra.
  + by move=> j jK; rewrite drawn0 1?ltnW// sE ?(leq_trans jK (leq_addr _ _))// leqNgt jK /g jK mulN1r.
  + move=> j; rewrite addn1 ltnS -eqn_leq => /eqP <-.
    by rewrite drawn0// sE ?addnA ?addn1 ?leq_addr// leqnn /g ltnn eqxx mul1r.
  + move=> j /andP[Kj jn]; rewrite addn1 in Kj; rewrite /g ltnNge (ltnW Kj) /= (gtn_eqF Kj) mulr0; by case: ifP.
Qed.

(* -- What the rule computes -- *)

Lemma finite_times (k : nat) (b : option R) x : (0 < k)%N -> at_most (Some x) (times k%:R b) -> x <= k%:R * finite x b.
Proof.
move=> k0; have k1 : 1 <= k%:R :> R by rewrite ler1n.
rewrite /times pnatr_eq0 eqn0Ngt k0 /=; case: b => //= _; apply: (le_trans (ler_norm x)).
by have := ler_wpmul2r (normr_ge0 x) k1; rewrite mul1r.
Qed.

Lemma at_most_greatest (a b : option R) x : at_most (Some x) (greatest a b) -> at_most (Some x) a \/ at_most (Some x) b.
Proof. by case: a => [y|]; case: b => [z|] /=; [rewrite le_maxr => /orP | right | left | left]. Qed.

Lemma finite_one (b : option R) x : at_most (Some x) b -> x <= finite x b.
Proof. by case: b => //= _; exact: ler_norm. Qed.

Lemma finite_within x (b : option R) : within (finite x b) b. Proof. by case: b => /=. Qed.

Let m := minn n c.
Let mn : (m <= n)%N. Proof. exact: geq_minl. Qed.
Let mc : (m <= c)%N. Proof. exact: geq_minr. Qed.
Let m0 : (0 < m)%N. Proof. by rewrite leq_min n0. Qed.
Let mE : m.-1.+1 = m. Proof. exact: prednK. Qed.
Let kE : (n - m + m.-1.+1)%N = n. Proof. by rewrite mE subnK. Qed.
Let A0 x : 0 <= finite x ql. Proof. exact: finite_ge0 (nonneg_slope ql0). Qed.
Let B0 x : 0 <= finite x qr. Proof. exact: finite_ge0 (nonneg_slope qr0). Qed.

Lemma told_up x : value_told told -> (forall d : nat -> R, (forall j, 0 <= d j <= D) -> differ D nb d) -> x <= n%:R * finite x ql ->
  ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> vt ok xl; apply: le_trans (told_lower (K := n - m) (Y := m.-1) (a := finite x ql) (z := - finite x ql) (dn := D) (dp := D) vt _ _ _ _ _ _ _ _ _) => //.
- by have := ler_wpmul2r D0 xl; rewrite lee_fin mE natrB//; lra.
- by rewrite kE. - by rewrite mE. - exact: finite_within. - exact: within_neg. - by rewrite opprK; exact: finite_within.
- by apply: ok => j; case: ifP => _; [|case: ifP => _]; rewrite ?lexx ?D0.
Qed.

Lemma told_apart x (e : nat) : value_told told -> (e <= 1)%N -> (forall d : nat -> R, (forall j, - D <= d j <= e%:R * D) -> differ D nb d) ->
  x <= (n - m)%:R * e%:R * finite x ql + m%:R * finite x qr -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> vt e1 ok xl; have eD : 0 <= e%:R * D by exact: mulr_ge0.
apply: le_trans (told_lower (K := n - m) (Y := m.-1) (a := finite x ql) (z := finite x qr) (dn := e%:R * D) (dp := - D) vt _ _ _ _ _ _ _ _ _) => //.
- by have := ler_wpmul2r D0 xl; rewrite lee_fin mE; lra.
- by rewrite kE. - by rewrite mE. - exact: finite_within. - exact: finite_within. - exact: within_neg.
- by case: e e1 {ok xl eD} => [|[|//]] _; rewrite ?mul1r// mul0r -(subrr D); apply: grid_add => //; exact: grid_opp.
- exact: grid_opp.
- by apply: ok => j; case: ifP => _; [|case: ifP => _]; apply/andP; split; lra.
Qed.

Lemma told_alone z e : value_told told -> within z qr -> within (- z) ql -> grid e -> - D <= e <= D -> (forall d : nat -> R, - D <= d 0%N <= D ->
  (forall j, j != 0%N -> d j = 0) -> differ D nb d) -> ((- (z * e))%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> vt zr zl ge ee ok; have g0 : grid 0 by rewrite -(subrr e); apply: grid_add => //; exact: grid_opp.
apply: le_trans (told_lower (K := 0) (Y := 0) (a := 0) (z := z) (dn := 0) (dp := e) vt _ _ _ _ _ _ _ _ _) => //; first by rewrite lee_fin; lra.
- exact: within0.
- by apply: ok => //= -[|j].
Qed.

Lemma told_all x : at_most (Some x) (loss_told ql qr n c All) -> x <= (n - m)%:R * finite x ql + m%:R * Num.max (finite x ql) (finite x qr).
Proof.
rewrite /loss_told -/m; have k0 : 0 <= (n - m)%:R :> R by []. have m1 : 1 <= m%:R :> R by rewrite ler1n.
have A := A0 x; have B := B0 x.
have infinite : ql = None \/ qr = None -> x <= (n - m)%:R * finite x ql + m%:R * Num.max (finite x ql) (finite x qr).
  move=> none; have : `|x| <= Num.max (finite x ql) (finite x qr) by rewrite le_maxr; case: none => ->; rewrite lexx ?orbT.
  move=> le; have := ler_norm x; have := mulr_ge0 k0 A; have n0' : 0 <= Num.max (finite x ql) (finite x qr) by apply: le_trans le.
  have := ler_wpmul2r n0' m1; rewrite mul1r; lra.
case qlE : ql A infinite => [a|] A infinite; last by move=> _; apply: infinite; left.
case qrE : qr B infinite => [b|] B infinite; last by move=> _; apply: infinite; right.
have tE (k : nat) (y : R) : times k%:R (Some y) = Some (k%:R * y) by rewrite /times; case: eqP => // ->; rewrite mul0r.
by rewrite /= !tE.
Qed.

Lemma told_rule x : value_told told -> at_most (Some x) (loss_told ql qr n c nb) -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> vt xl; have D1 : 1 * D = D by rewrite mul1r. have Z1 : 0 * D = 0 by rewrite mul0r.
case E : nb xl => xl.
- have le := told_all xl; case: (leP (finite x ql) (finite x qr)) le => AB le.
  + apply: (@told_apart x 1) => // [d dd|]; last by lra.
    by rewrite E; exists (1, 1)%N; [rewrite inE | move=> j; have := dd j; rewrite D1].
  + apply: told_up => // [d dd|]; last by move: le; rewrite natrB//; lra.
    by rewrite E; exists (1, 1)%N; [rewrite inE | move=> j; have /andP[? ?] := dd j; rewrite D1; apply/andP; split; lra].
- apply: told_up => // [d dd|]; last exact: finite_times.
  by rewrite E; exists (1, 0)%N; [rewrite inE | move=> j; have := dd j; rewrite D1 Z1 oppr0].
- apply: (@told_apart x 0) => // [d dd|]; last by have := finite_times m0 xl; lra.
  by rewrite E; exists (0, 1)%N; [rewrite inE | move=> j; have := dd j; rewrite D1 Z1].
- case: (at_most_greatest xl) => {}xl.
  + apply: told_up => // [d dd|]; last exact: finite_times.
    by rewrite E; exists (1, 0)%N; [rewrite !inE eqxx | move=> j; have := dd j; rewrite D1 Z1 oppr0].
  + apply: (@told_apart x 0) => // [d dd|]; last by have := finite_times m0 xl; lra.
    by rewrite E; exists (0, 1)%N; [rewrite !inE eqxx orbT | move=> j; have := dd j; rewrite D1 Z1].
- have ok (d : nat -> R) : - D <= d 0%N <= D -> (forall j, j != 0%N -> d j = 0) -> differ D nb d by rewrite E; exists 0%N.
  have DD : - D <= D <= D /\ - D <= - D <= D by rewrite !lexx; split; apply/andP; split=> //; lra.
  case: (at_most_greatest xl) => /finite_one {}xl.
  + apply: le_trans (told_alone (z := - finite x ql) (e := D) vt _ _ gD DD.1 ok); first by have := ler_wpmul2r D0 xl; rewrite lee_fin; lra.
      exact: within_neg.
    by rewrite opprK; exact: finite_within.
  + apply: le_trans (told_alone (z := finite x qr) (e := - D) vt _ _ (grid_opp gD) DD.2 ok); first by have := ler_wpmul2r D0 xl; rewrite lee_fin; lra.
      exact: finite_within.
    exact: within_neg.
Qed.

(* -- One answer that moves alone -- *)

Lemma least_each (a b : option R) x : at_most (Some x) (least a b) -> at_most (Some x) a /\ at_most (Some x) b.
Proof. by case: a => [y|]; case: b => [z|] //=; rewrite le_minr => /andP[]. Qed.

Lemma total_assoc (a b e : option R) : total (total a b) e = total a (total b e).
Proof. by case: a b e => [a|] [b|] [e|] //=; rewrite addrA. Qed.

Lemma least_total (a b e : option R) x : at_most (Some x) (total (least a b) e) ->
  at_most (Some x) (least (total a e) (least (total a e) (least (total b e) None))).
Proof.
case: a b e => [a|] [b|] [e|] //=; last by rewrite le_minr => ->.
by rewrite !le_minr; case: (leP a b) => h le; apply/andP; split; [|apply/andP; split| |apply/andP; split]; lra.
Qed.

Lemma alone_rule x : ~~ again -> ~~ value_told told -> nb = One -> at_most (Some x) (loss_alone tl tr ql qr fl fr told n c) ->
  ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
move=> once nv nbE xl; have D1 : 1%:R * D = D by rewrite mul1r. have Z1 : 0%:R * D = 0 by rewrite mul0r.
have g0 : grid 0 by rewrite -(subrr D); apply: grid_add => //; exact: grid_opp.
have one i e : - D <= e <= D -> differ D nb (fun j => if j == i then e else 0) by rewrite nbE => ee; exists i => [|j /negbTE ->] //; rewrite eqxx.
have t1 (b : option R) : times 1 b = b by rewrite /times oner_eq0; case: b => //= s; rewrite mul1r.
have t0 (b : option R) : times 0 b = Some 0 by rewrite /times eqxx.
have s0 (b : option R) : total b (Some 0) = b by case: b => //= s; rewrite addr0.
have r0 (b : option R) : total (Some 0) b = b by case: b => //= s; rewrite add0r.
have fix_ := (mul0r, mulr0, add0r, addr0, mul1r, mulr1, t0, t1, s0, r0).
have up : at_most (Some x) (least ql (total tr (times (minn n.-1 c)%:R qr))) -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
  move=> /least_each[h1 h2].
  apply: (counts_lower (K := 1) (Y := minn n.-1 c) (J := 0) (u := 1) (v := 0) (d := fun j => if j == 0%N then D else 0)) => //.
  - by rewrite addn0 add1n -[leqRHS](prednK n0) ltnS geq_minl.
  - by rewrite addn0 geq_minr.
  - by move=> j; case: ifP.
  - by apply: one; rewrite lexx andbT; lra.
  - by case=> //= _; rewrite D1.
  - by case=> [//|j] _ /=; rewrite Z1 oppr0.
  - by move=> j; rewrite addn0 => /andP[a b]; have := leq_ltn_trans a b; rewrite ltnn.
  - rewrite /loss /= !fix_; case: ql (total tr _) h1 h2 => [a|] [b|] //=; rewrite ?le_minr => -> //=.
    by move=> ->.
have down : at_most (Some x) (total (least qr (total tl (times n.-1%:R ql))) (of_fresh told fr)) -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
  move=> h; apply: (counts_lower (K := n.-1) (Y := 1) (J := 0) (u := 0) (v := 1) (d := fun j => if j == n.-1 then - D else 0)) => //.
  - by rewrite addn0 addn1 prednK.
  - by move=> j; case: ifP => // _; exact: grid_opp.
  - by apply: one; rewrite lexx /=; lra.
  - by move=> j jn; rewrite ltn_eqF// Z1.
  - by move=> j; rewrite addn1 ltnS -eqn_leq => /eqP <-; rewrite eqxx D1.
  - by move=> j; rewrite addn0 => /andP[a b]; have := leq_ltn_trans a b; rewrite ltnn.
  - by move: h; rewrite /loss /= !fix_ -total_assoc; exact: least_total.
have raised : fresh_told told -> at_most (Some x) fl -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
  move=> f h; apply: (counts_lower (K := 0) (Y := 0) (J := 1) (u := 1) (v := 0) (d := fun j => if j == 0%N then D else 0)) => //.
  - by move=> j; case: ifP.
  - by apply: one; rewrite lexx andbT; lra.
  - by case=> //= _; rewrite D1.
  - rewrite /loss /= !fix_ /of_fresh f; have := nonneg_slope tr0; case: fl h => [y|]; case: tr => [t|] //=; rewrite ?le_minr ?lexx ?andbT ?andbb //=.
    by move=> h t0'; do ?[apply/andP; split]; lra.
move: xl; rewrite /loss_alone; case: ifP => f xl.
- case: (at_most_greatest xl) => [/up//|{}xl]; case: (at_most_greatest xl) => [/(raised f)//|h].
  by apply: down; rewrite /of_fresh f.
- case: (at_most_greatest xl) => [/up//|h]; apply: down; by rewrite /of_fresh f s0.
Qed.

(* What the rule accepts as a lower bound x for each unit of the sensitivity: what one output loses; where the threshold is drawn again what Y runs of K
   negatives and a positive lose; where the noisy answers are told, or one answer moves alone, all at once. *)
Variant rule_lower (x : R) : Prop :=
| OneOutput w K Y J of ~~ again & ~~ value_told told & nb <> One & w \in moves_of nb & (K + (Y + J) <= n)%N & (Y + J <= c)%N &
    at_most (Some x) (loss tl tr ql qr fl fr told w.1%:R w.2%:R K%:R Y%:R J%:R)
| Runs w K Y of again & ~~ value_told told & nb <> One & w \in moves_of nb & (Y * K.+1 <= n)%N & (Y <= c)%N &
    at_most (Some x) (times Y%:R (loss tl tr ql qr fl fr told w.1%:R w.2%:R K%:R 1 0))
| AnswersToldFar of value_told told & at_most (Some x) (loss_told ql qr n c nb)
| MovesAloneFar of ~~ again & ~~ value_told told & nb = One & at_most (Some x) (loss_alone tl tr ql qr fl fr told n c).

(* For exact answers against a noisy threshold there is more in above_threshold_exact.v. *)
(* Rule: log-concave-threshold, lower. *)
Theorem above_threshold_attained x : rule_lower x -> ((x * D)%:E <= tight_epsilon_in_order N M 0)%E.
Proof.
case=> [[u v] K Y J once nv no wn le lc xl|[u v] K Y an nv no wn le lc xl|vt xl|once nv nbE xl].
- have [u1 v1] : (u <= 1)%N /\ (v <= 1)%N by move: wn; case: (nb) => //=; rewrite !inE; do ?[case/orP]; move=> /eqP[-> ->].
  have g0 : grid 0 by rewrite -(subrr D); apply: grid_add => //; exact: grid_opp.
  have gmul (k : nat) : (k <= 1)%N -> grid (k%:R * D) by case: k => [|[|//]] _; rewrite ?mul1r ?mul0r.
  have uD : 0 <= u%:R * D by exact: mulr_ge0. have vD : 0 <= v%:R * D by exact: mulr_ge0.
  pose d j := if (j < K)%N then u%:R * D else if (j < K + Y)%N then - (v%:R * D) else u%:R * D : R.
  apply: (counts_lower (d := d) once nv le lc _ _ _ _ _ xl).
  + by move=> j; rewrite /d; case: ifP => _; [exact: gmul | case: ifP => _; [apply: grid_opp |]; exact: gmul].
  + suff dw : forall j, - (v%:R * D) <= d j <= u%:R * D by case: (nb) no wn => //= _ wn; exists (u, v).
    by move=> j; rewrite /d; case: ifP => _; [|case: ifP => _]; apply/andP; split; lra.
  + by move=> j jK; rewrite /d jK.
  + by move=> j /andP[Kj jY]; rewrite /d ltnNge Kj /= jY.
  + by move=> j /andP[Yj _]; rewrite /d ltnNge (leq_trans (leq_addr Y K) Yj) /= ltnNge Yj.
- exact: runs_lower xl.
- exact: told_rule.
- exact: alone_rule.
Qed.

(* Where that is so for all x, as where what it computes is infinite, no epsilon holds. *)
Corollary above_threshold_unbounded : 0 < D -> (forall x, rule_lower x) -> tight_epsilon_in_order N M 0 = +oo%E.
Proof.
move=> Dp all_; apply/eqP; rewrite -leye_eq; apply: lb_ereal_inf => _ [e [e0 dpM] <-].
have := above_threshold_attained (all_ ((e + 1) / D)); rewrite divfK ?gt_eqF// => le.
have : (tight_epsilon_in_order N M 0 <= e%:E)%E by apply: ereal_inf_lb; exists e.
by move=> /(le_trans le); rewrite lee_fin => h; exfalso; lra.
Qed.
End Attained.
