(* Noisy maximum and above threshold, as replayed certificates describe them: what a noise loses by a shift to one side decides. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra.
From dpverify Require Import definitions density norms additive kernels finite selection threshold losses tactics replay replay_parts.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* -- What the exponent of a density rises by, and a density falls by, when its argument grows by r -- *)

Section Shifts.
Local Open Scope R_scope.

Definition rises (h : R -> R) (r m : R) := forall z, h (z + r) - h z <= m.
Definition falls (f : R -> R) (r v : R) := forall z, f z <= Rtrigo_def.exp v * f (z + r).

Lemma rises_of_moves h r D m : moves line h D m -> Rabs r <= D -> rises h r m.
Proof. move=> H rD z; apply: H => //; rewrite (_ : z - (z + r) = - r); [by rewrite Rabs_Ropp | ring]. Qed.

Lemma rises_add h k r m n : rises h r m -> rises k r n -> rises (fun z => h z + k z) r (m + n).
Proof. by move=> H K z; move: (H z) (K z); lra. Qed.

(* The exponential of a falling function falls. *)
Lemma rises_falling_exp u k c r : 0 <= k -> 0 <= c -> 0 <= r -> (forall z, u z = - (c * z)) -> rises (fun z => k * Rtrigo_def.exp (u z)) r 0.
Proof.
move=> k0 c0 r0 U z; rewrite !U.
have cr : 0 <= c * r by exact: Rmult_le_pos.
have : Rtrigo_def.exp (- (c * (z + r))) <= Rtrigo_def.exp (- (c * z)).
  have : - (c * (z + r)) <= - (c * z) by rewrite Rmult_plus_distr_l; lra.
  by case=> [lt | ->]; [left; exact: exp_increasing | exact: Rle_refl].
by move/(Rmult_le_compat_l k _ _ k0); lra.
Qed.

(* What rises by at most L for each unit. *)
Lemma rises_linear L r m : L * r <= m -> rises (fun z => L * z) r m.
Proof. by move=> H z; rewrite Rmult_plus_distr_l; lra. Qed.

Lemma falls_of_rises (f h : R -> R) r m v : rises h r m -> (forall z, f z = Rtrigo_def.exp (- h z)) -> m <= v -> falls f r v.
Proof.
move=> H fE mv z; rewrite !fE -exp_plus.
have : - h z <= v + - h (z + r) by move: (H z); lra.
by case=> [lt | ->]; [left; exact: exp_increasing | exact: Rle_refl].
Qed.

(* A density that begins at a. *)
Definition begins_at (a : R) (f : R -> R) (z : R) : R := if Rle_dec a z then f z else 0.

Lemma falls_begins_at a f r v : 0 <= r -> (forall z, 0 <= f z) -> falls f r v -> falls (begins_at a f) r v.
Proof.
move=> r0 f0 H z; rewrite /begins_at; case: (Rle_dec a z) => az; case: (Rle_dec a (z + r)) => azr; try exact: H.
- by exfalso; lra.
- by apply: Rmult_le_pos => //; left; exact: exp_pos.
- by rewrite Rmult_0_r; exact: Rle_refl.
Qed.

Lemma falls_none f r : r = 0 -> falls f r 0.
Proof. by move=> -> z; rewrite Rplus_0_r exp_0 Rmult_1_l; exact: Rle_refl. Qed.

Lemma falls_at f r r' v : falls f r v -> r = r' -> falls f r' v.
Proof. by move=> H <-. Qed.

(* Noise on the line whose density is proportional to profile(|z|/scale). *)
Definition even_noise (profile : R -> R) (scale z : R) : R := profile (Rabs z / scale).

Lemma falls_even_noise profile scale D r v : 0 < scale -> Rabs r <= D -> loses half_line profile (D / scale) v -> falls (even_noise profile scale) r v.
Proof.
move=> s0 rD H z; have i0 : 0 <= / scale by left; exact: Rinv_0_lt_compat.
have pos x : 0 <= Rabs x / scale by apply: Rmult_le_pos => //; exact: Rabs_pos.
apply: H; [exact: pos | exact: pos |].
rewrite (_ : Rabs z / scale - Rabs (z + r) / scale = (Rabs z - Rabs (z + r)) / scale); last by rewrite /Rdiv; ring.
rewrite /Rdiv Rabs_mult (Rabs_pos_eq (/ scale))//; apply: Rmult_le_compat_r => //.
apply: Rle_trans (Rabs_triang_inv2 _ _) _; rewrite (_ : z - (z + r) = - r); [by rewrite Rabs_Ropp | ring].
Qed.
End Shifts.

(* |r| <= D *)
Ltac apart := apply Rabs_le; split; lra.

(* -- Noise on the line as a law of one number -- *)

Section Noise.
Context (Z : {measure set RR -> \bar RR}).

Lemma measurable_plus (a : RR) : measurable_fun setT (fun z : RR => z + a).
Proof. by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst]. Qed.

(* The law of the noise plus a. *)
Definition plus (a : RR) : {measure set RR -> \bar RR} := [the measure _ _ of pushforward Z (measurable_plus a)].

(* Its density is proportional to f(y - a), for every a, with respect to one measure: that of Lebesgue. *)
Definition has_noise_density (f : R -> R) :=
  exists (mu : {measure set RR -> \bar RR}) (mass : R), Rlt 0 mass /\ forall a : RR, has_density mu (plus a) (fun y => Rdiv (f (Rminus y a)) mass).

Hypothesis Z1 : Z setT = 1%E.

Lemma plus1 a : plus a setT = 1%E.
Proof. by rewrite /plus /= /pushforward preimage_setT. Qed.

Lemma plusE a S : plus a S = Z [set z | S (z + a)].
Proof. by []. Qed.

Lemma falls_close f r v : has_noise_density f -> falls f r v -> close v 0 (plus 0) (plus (- r)).
Proof.
move=> [mu [mass [m0 H]]] F; apply: (close_of_ratio (H 0) (H (- r))); apply: aeW => y.
rewrite -exp_expR; apply/RleP; apply: divided_le => //.
have -> : Rminus y (- r) = Rplus (Rminus y 0) r by change (Rminus y (Ropp r) = Rplus (Rminus y (IZR 0)) r); ring.
exact: F.
Qed.

Lemma falls_shift f r v (A : set RR) : has_noise_density f -> falls f r v -> measurable A ->
  (Z A <= (expR v)%:E * Z [set z : RR | A (Rminus z r)])%E.
Proof.
move=> H F mA; have := falls_close H F mA; rewrite adde0 !plusE.
by rewrite (_ : [set z | A (z + 0)] = A)//; apply/seteqP; split=> z /=; rewrite addr0.
Qed.
End Noise.

(* -- Noisy maximum -- *)

(* Of n answers with independent noises the index of the greatest is told, of several the least. The winner's noise has the density; it is
   independent of the others', of which nothing else is said. Of neighbours the answers differ by between lo and hi. *)
Definition index_of_greatest (n : nat) (density : R -> R) (lo hi : R) : described := fun X N d Y M =>
  exists (answer : X -> 'I_n -> RR) (Z : {measure set RR -> \bar RR}) dw (W : measurableType dw) (others : 'I_n -> {measure set W -> \bar RR})
    (noise : 'I_n -> W -> 'I_n -> RR) (point : 'I_n -> Y) (Z1 : Z setT = 1%E) (K : mechanism RR ('I_n -> RR) Y),
    [/\ has_noise_density Z density,
        (forall i, others i setT = 1%E) /\ (forall i j, measurable_fun setT (fun w => noise i w j)),
        injective point /\ (forall i, measurable [set point i]),
        has_table K point (chance others noise Z1) &
        (forall x, M x = K (answer x) :> (set Y -> \bar RR)) /\
        forall x x', N x x' -> forall j, Rle lo (Rminus (answer x' j) (answer x j)) /\ Rle (Rminus (answer x' j) (answer x j)) hi].

Lemma survives_of_falls (Z : {measure set RR -> \bar RR}) f r v : has_noise_density Z f -> falls f r v -> survives Z v r.
Proof.
move=> H F m; have := falls_shift H F (measurable_ray m); rewrite (_ : [set z : RR | [set z0 | m <= z0] (Rminus z r)] = [set z | m + r <= z])//.
by apply/seteqP; split=> z /=; change (Rminus z r) with (z - r : RR); rewrite ler_subr_addr.
Qed.

Theorem holds_index_of_greatest n density lo hi v : Rle 0 v -> falls density (Rminus hi lo) v -> holds (index_of_greatest n density lo hi) v.
Proof.
move=> /RleP v0 F X N d Y M [answer [Z [dw [W [others [noise [point [Z1 [K [H [o1 mn] [inj mp] T [MK ND]]]]]]]]]]] x x' xx.
suff C : close v 0 (K (answer x)) (K (answer x')) by move=> S mS; rewrite !MK; exact: C.
have surv := survives_of_falls H F.
apply: (noisy_max_close (r := Rminus hi lo) o1 mn inj mp T v0 surv) => i j; apply/RleP.
change (Rle (Rminus (Rminus (answer x' j) (answer x j)) (Rminus (answer x' i) (answer x i))) (Rminus hi lo)).
by case: xx => /ND h; move: (h i) (h j) => [l1 h1] [l2 h2]; lra.
Qed.

(* -- Above threshold -- *)

Section Tells.
Context (Z : {measure set RR -> \bar RR}).
Hypothesis Z1 : Z setT = 1%E.

(* The probability that the noise is at least x, which is told as "yes", or below it. *)
Definition tells (yes : bool) (x : RR) : RR := fine (Z (if yes then [set z : RR | x <= z] else [set z : RR | z < x])).

Lemma measurable_side (yes : bool) (x : RR) : measurable (if yes then [set z : RR | x <= z] else [set z : RR | z < x]).
Proof.
case: yes; first exact: measurable_ray.
rewrite (_ : [set z : RR | z < x] = `]-oo, x[%classic); first exact: measurable_itv.
by apply/seteqP; split=> z /=; rewrite in_itv.
Qed.

Lemma tells01 yes x : 0 <= tells yes x <= 1.
Proof. by rewrite /tells -!lee_fin fineK ?measure_ge0 ?mass_le1 ?mass_fin//; exact: measurable_side. Qed.

Lemma measurable_tells yes : measurable_fun setT (tells yes).
Proof.
have mk : markov (fun _ : RR => Z) by split=> // S mS; exact: measurable_fun_cst.
pose g (p : RR * RR) : RR := p.2 - p.1.
have m1 : measurable_fun setT (fst : RR * RR -> RR).
  by move=> _ A mA; rewrite setTI (_ : fst @^-1` A = A `*` setT); [exact: measurableM | apply/seteqP; split=> p //= -[]].
have m2 : measurable_fun setT (snd : RR * RR -> RR).
  by move=> _ A mA; rewrite setTI (_ : snd @^-1` A = setT `*` A); [exact: measurableM | apply/seteqP; split=> p //= -[]].
have mg : measurable_fun setT g by apply: measurable_funB.
pose A : set (RR * RR) := if yes then [set p | 0 <= g p] else [set p | g p < 0].
have mA : measurable A.
  have := mg measurableT _ (measurable_side yes 0); rewrite setTI /A; case: (yes) => //.
have E x : xsection A x = if yes then [set z : RR | x <= z] else [set z : RR | z < x].
  by rewrite /A /xsection /g; case: (yes); apply/seteqP; split=> z /=; rewrite inE /= ?subr_ge0 ?subr_lt0.
apply: measurable_fun_comp; first exact: measurable_fun_fine.
by have := markov_sections mk mA; under eq_fun do rewrite E.
Qed.
End Tells.

(* The probability of a list of outputs: given the noisy threshold t each is told by itself. What is asked may depend on what was told. *)
Definition chance_of (T Z : {measure set RR -> \bar RR}) (answer : seq bool -> RR) (told : seq bool) : RR :=
  @pattern RR (size told) T (fun j => tells Z (nth false told j)) (fun j => answer (take j told)).

(* How many "yes". *)
Notation yeses := (count (fun b : bool => b)).

(* At most n answers are asked, one after the other, and of each is told whether it is at least the threshold, both with noise of their
   own; it stops after the k-th that is. Answers are counted from the threshold. Of neighbours they differ by between lo and hi. *)
Definition above_the_threshold (threshold density : R -> R) (n k : nat) (lo hi : R) : described := fun X N d Y M =>
  exists (answer : X -> seq bool -> RR) (T Z : {measure set RR -> \bar RR}) (all : seq (seq bool)) (point : seq bool -> Y),
    [/\ T setT = 1%E /\ Z setT = 1%E, has_noise_density T threshold /\ has_noise_density Z density,
        forall told, told \in all -> leq (size told) n && leq (yeses told) k,
        forall x S, measurable S -> M x S = (\sum_(told <- all) chance_of T Z (answer x) told * \1_S (point told))%:E &
        forall x x', N x x' -> forall told, Rle lo (Rminus (answer x' told) (answer x told)) /\ Rle (Rminus (answer x' told) (answer x told)) hi].

Section Threshold.
Context (T Z : {measure set RR -> \bar RR}) (threshold density : R -> R).
Hypotheses (T1 : T setT = 1%E) (Z1 : Z setT = 1%E) (HT : has_noise_density T threshold) (HZ : has_noise_density Z density).
Variables (lo hi s w wF wS : R).
Hypotheses (FT : falls threshold s w) (FF : falls density (Rminus s hi) wF) (FS : falls density (Rminus s lo) wS).

Lemma tells_costs yes (u x : RR) : Rle lo u -> Rle u hi ->
  tells Z yes x <= expR (if yes then wS else wF) * tells Z yes (x + (s - u)).
Proof.
move=> /RleP lu /RleP uh; rewrite /tells -lee_fin EFinM !fineK ?mass_fin//; last 2 first.
- exact: measurable_side.
- exact: measurable_side.
have sub (v : R) (A B : set RR) : measurable A -> measurable B -> A `<=` B -> ((expR v)%:E * Z A <= (expR v)%:E * Z B)%E.
  by move=> mA mB AB; apply: lee_wpmul2l; [rewrite lee_fin expR_ge0 | apply: le_measure; rewrite ?inE].
case: yes.
- have := falls_shift HZ FS (measurable_side true x) => /le_trans; apply.
  rewrite (_ : [set z : RR | _ (Rminus z (Rminus s lo))] = [set z : RR | x + (s - lo) <= z]); last first.
    by apply/seteqP; split=> z /=; change (Rminus z (Rminus s lo)) with (z - (s - lo) : RR); rewrite ler_subr_addr.
  apply: sub; [exact: (measurable_side true) | exact: (measurable_side true) |].
  by move=> z /=; apply: le_trans; rewrite ler_add2l ler_add2l ler_opp2.
- have := falls_shift HZ FF (measurable_side false x) => /le_trans; apply.
  rewrite (_ : [set z : RR | _ (Rminus z (Rminus s hi))] = [set z : RR | z < x + (s - hi)]); last first.
    by apply/seteqP; split=> z /=; change (Rminus z (Rminus s hi)) with (z - (s - hi) : RR); rewrite ltr_subl_addr.
  apply: sub; [exact: (measurable_side false) | exact: (measurable_side false) |].
  by move=> z /= h; apply: (lt_le_trans h); rewrite ler_add2l ler_add2l ler_opp2.
Qed.

Lemma costs_of (told : seq bool) :
  \sum_(j < size told) (if nth false told j then wS else wF) = wF *+ (size told - yeses told) + wS *+ yeses told.
Proof.
rewrite -(big_mkord xpredT (fun j => if nth false told j then wS else wF)).
rewrite -(big_nth false xpredT (fun b : bool => if b then wS else wF)).
elim: told => [|b told IH]; first by rewrite big_nil /= !mulr0n addr0.
have ct : leq (yeses told) (size told) by exact: count_size.
rewrite big_cons IH /=; case: b => /=.
- by rewrite add1n subSS mulrS addrCA.
- by rewrite add0n subSn// mulrS addrA.
Qed.

Lemma chance_of_close (q q' : seq bool -> RR) told : (forall l, Rle lo (Rminus (q' l) (q l)) /\ Rle (Rminus (q' l) (q l)) hi) ->
  chance_of T Z q told <= expR (w + (wF *+ (size told - yeses told) + wS *+ yeses told)) * chance_of T Z q' told.
Proof.
move=> qq; rewrite -costs_of; have mv : threshold.moves T w s by move=> A mA; have := falls_shift HT FT mA.
apply: (pattern_close T1 _ _ mv).
- by move=> j; exact: measurable_tells.
- by move=> j x; exact: tells01.
- by move=> j x; have [l h] := qq (take j told); exact: tells_costs.
Qed.
End Threshold.

(* One order of the neighbours: those that come first in N. *)
Definition holds_in_order (P : described) (eps : R) :=
  forall (X : Type) (N : relation X) (d : measure_display) (Y : measurableType d) (M : mechanism RR X Y), P X N d Y M -> dp_in_order N M eps 0.

Theorem above_the_threshold_in_order threshold density n k lo hi s w wF wS eps :
  falls threshold s w -> falls density (Rminus s hi) wF -> falls density (Rminus s lo) wS ->
  (forall no yes, leq (addn no yes) n -> leq yes k -> Rle (Rplus w (Rplus (Rmult (INR no) wF) (Rmult (INR yes) wS))) eps) ->
  holds_in_order (above_the_threshold threshold density n k lo hi) eps.
Proof.
move=> FT FF FS cost X N d Y M [answer [T [Z [all [point [[T1 Z1] [HT HZ] lim MA ND]]]]]] x x' xx S mS.
rewrite !MA// adde0 -EFinM lee_fin mulr_sumr !big_seq; apply: ler_sum => told /lim /andP[sn ck].
rewrite mulrA; apply: ler_wpmul2r; first by rewrite indicE ler0n.
apply: (le_trans (chance_of_close T1 Z1 HT HZ FT FF FS told (ND _ _ xx))).
have ct : leq (yeses told) (size told) by exact: count_size.
apply: ler_wpmul2r.
  rewrite /chance_of /pattern; apply: fine_ge0; apply: integral_ge0 => t _; rewrite lee_fin.
  by apply: prodr_ge0 => j _; case/andP: (tells01 Z1 (nth false told j) (t - answer x' (take j told))).
rewrite ler_expR; apply/RleP; have := cost (subn (size told) (yeses told)) (yeses told); rewrite subnK// => /(_ sn ck).
by rewrite -[wF *+ _]mulr_natl -[wS *+ _]mulr_natl -!natural_number.
Qed.

(* Answers that move either way. *)
Theorem holds_above_the_threshold threshold density n k D s w wF wS eps :
  falls threshold s w -> falls density (Rminus s D) wF -> falls density (Rplus s D) wS ->
  (forall no yes, leq (addn no yes) n -> leq yes k -> Rle (Rplus w (Rplus (Rmult (INR no) wF) (Rmult (INR yes) wS))) eps) ->
  holds (above_the_threshold threshold density n k (Ropp D) D) eps.
Proof.
move=> FT FF FS cost X N d Y M [answer [T [Z [all [point [TZ HTZ lim MA ND]]]]]].
have FS' : falls density (Rminus s (Ropp D)) wS by rewrite /Rminus Ropp_involutive.
apply: (above_the_threshold_in_order FT FF FS' cost (N := both N)).
exists answer, T, Z, all, point; split=> // x x' [xx|xx] told; first exact: ND.
by have [l h] := ND _ _ xx told; split; move: l h; lra.
Qed.

(* No "no" costs anything: where the threshold is moved by as much as the answers are. *)
Lemma costs_of_yes (n k : nat) (w wS eps : R) : Rle 0 wS -> Rle (Rplus w (Rmult (INR k) wS)) eps ->
  forall no yes, leq (addn no yes) n -> leq yes k -> Rle (Rplus w (Rplus (Rmult (INR no) 0) (Rmult (INR yes) wS))) eps.
Proof.
move=> w0 H no yes _ yk; apply: Rle_trans H; rewrite Rmult_0_r Rplus_0_l.
by apply: Rplus_le_compat_l; apply: Rmult_le_compat_r => //; apply: le_INR; apply/ssrnat.leP.
Qed.

(* All outputs cost the same. *)
Lemma costs_of_all (n k : nat) (w c eps : R) : Rle 0 c -> Rle (Rplus w (Rmult (INR n) c)) eps ->
  forall no yes, leq (addn no yes) n -> leq yes k -> Rle (Rplus w (Rplus (Rmult (INR no) c) (Rmult (INR yes) c))) eps.
Proof.
move=> c0 H no yes ny _; apply: Rle_trans H; rewrite -Rmult_plus_distr_r -plus_INR.
by apply: Rplus_le_compat_l; apply: Rmult_le_compat_r => //; apply: le_INR; apply/ssrnat.leP.
Qed.

(* Noisy answers that are told, or looked at: at most n, each of which moves by at most D. *)
Definition noisy_answers (n : nat) (density : R -> R) (D : R) : described := fun X N d Y M =>
  exists (m : nat) (mu : measure_on Y) (place : Y -> rows m) (answer : X -> rows m) (mass : R),
    [/\ leq m n, Rlt 0 mass, adds_noise mu place M answer (fun z => Rdiv (coordinates density z) mass) &
        forall x x', N x x' -> forall i, Rle (Rabs (Rminus (answer x ord0 i) (answer x' ord0 i))) D].

Theorem holds_noisy_answers n density D rate eps : Rle 0 D -> Rle 0 rate -> (forall r, Rle 0 (density r)) ->
  (forall t, Rle 0 t -> loses line density t (Rmult rate t)) -> Rle (Rmult (INR n) (Rmult rate D)) eps -> holds (noisy_answers n density D) eps.
Proof.
move=> D0 r0 d0 H De X N d Y M [m [mu [place [answer [mass [mn m0 noise ND]]]]]].
have e : Rle (Rmult rate (Rmult (INR m) D)) eps.
  apply: Rle_trans De; rewrite (_ : Rmult rate (Rmult (INR m) D) = Rmult (INR m) (Rmult rate D)); last by ring.
  by apply: Rmult_le_compat_r; [exact: Rmult_le_pos | apply: le_INR; apply/ssrnat.leP].
have := replay_product m0 r0 d0 H e noise; apply: dp_in_order_fewer.
have far x x' : N x x' -> Rle (norm1 (answer x - answer x')) (Rmult (INR m) D).
  move=> /ND h; apply/RleP; rewrite RmultE natural_number mulr_natl (_ : D *+ m = \sum_(i < m) D); last by rewrite sumr_const card_ord.
  by apply: ler_sum => i _; rewrite !mxE; apply/RleP; exact: h.
by move=> x x' [/far | /far]; [left | right].
Qed.
