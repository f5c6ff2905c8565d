(* Above threshold with noises of any laws, and the event that the first answers are negatives and those that come next are all positives, or one at least is
   (docs/theory/selection.md, selection event): its probability as an integral over the noise of the threshold, and what it shows of the tight delta. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent selection worst_output_lower event_deltas.

Section Event.
Context (R : realType) (mt mq : {measure set R -> \bar R}) (k m : nat).
Hypotheses (mt1 : mt setT = 1%E) (mq1 : mq setT = 1%E).

(* k answers come first, and m next, each with noise of its own; the noise of the threshold is the last one. *)
Definition noise_law (j : nat) : {measure set R -> \bar R} := if (j < k + m)%N then mq else mt.
Lemma noise_law1 j : noise_law j setT = 1%E. Proof. by rewrite /noise_law; case: ifP. Qed.
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises noise_law1 (k + m) nu Z.
Notation all_noises := (with_common noise_law1 (k + m) nu).

(* The probabilities that an answer with noise is below a number, and that it is not. *)
Definition F (y : R) : R := fine (mq [set z | z < y]).
Definition S (y : R) : R := fine (mq [set z | y <= z]).

(* The public threshold, the answers that come first, and those that come next. *)
Context (public : R).
Definition negative (q : R) : set (R * R) := [set x | q + x.2 < public + x.1].
Definition positive (q : R) : set (R * R) := [set x | public + x.1 <= q + x.2].
Definition sides (first next : set (R * R)) (j : nat) (t : R) : set R := [set z | (if (j < k)%N then first else next) (t, z)].

Let difference : measurable_fun setT (fun x : R * R => (public + x.1)).
Proof. by apply: measurable_funD; [exact: measurable_fun_cst | exact: measurable_first]. Qed.
Let answer q : measurable_fun setT (fun x : R * R => (q + x.2)).
Proof. by apply: measurable_funD; [exact: measurable_fun_cst | exact: measurable_second]. Qed.

Lemma measurable_negative q : measurable (negative q).
Proof.
rewrite (_ : negative q = setT `&` (fun x : R * R => (public + x.1) - (q + x.2)) @^-1` [set z | 0 < z]).
  by apply: (measurable_funB difference (answer q)) => //; exact: measurable_open_ray.
by rewrite setTI; apply/seteqP; split=> x; rewrite /negative/= subr_gt0.
Qed.

Lemma measurable_positive q : measurable (positive q).
Proof.
rewrite (_ : positive q = setT `&` (fun x : R * R => (q + x.2) - (public + x.1)) @^-1` [set z | 0 <= z]).
  by apply: (measurable_funB (answer q) difference) => //; exact: measurable_ray.
by rewrite setTI; apply/seteqP; split=> x; rewrite /positive/= subr_ge0.
Qed.

Lemma measurable_sides first next j : measurable first -> measurable next -> measurable [set x : R * R | sides first next j x.1 x.2].
Proof.
move=> mf mn; rewrite (_ : [set x | _] = if (j < k)%N then first else next); first by case: ifP.
by apply/seteqP; split=> -[t z]; rewrite /sides/=; case: ifP.
Qed.

Definition come_out first next : set (W * R) := all_come_out (k + m) Z (sides first next).

Lemma sides_mass first next : measurable first -> measurable next ->
  all_noises (come_out first next) = (\int[mt]_t (fine (mq [set z | first (t, z)]) ^+ k * fine (mq [set z | next (t, z)]) ^+ m)%:E)%E.
Proof.
move=> mf mn; rewrite (compared_chance noises (fun j => measurable_sides j mf mn)) {1}/noise_law ltnn; apply: eq_integral => t _; congr (_%:E).
rewrite big_split_ord/=; congr (_ * _).
- rewrite (eq_bigr (fun=> fine (mq [set z | first (t, z)]))) ?prodr_const ?card_ord// => j _.
  rewrite /noise_law (leq_trans (ltn_ord j)) ?leq_addr//; congr (fine (mq _)); apply/seteqP; split=> z; by rewrite /sides/= ltn_ord.
- rewrite (eq_bigr (fun=> fine (mq [set z | next (t, z)]))) ?prodr_const ?card_ord// => j _.
  rewrite /noise_law ltn_add2l ltn_ord; congr (fine (mq _)); apply/seteqP; split=> z; by rewrite /sides/= ltnNge leq_addr.
Qed.

Lemma negative_mass t q : fine (mq [set z | negative q (t, z)]) = F (public + t - q).
Proof. by congr (fine (mq _)); apply/seteqP; split=> z; rewrite /negative/=; lra. Qed.

Lemma positive_mass t q : fine (mq [set z | positive q (t, z)]) = S (public + t - q).
Proof. by congr (fine (mq _)); apply/seteqP; split=> z; rewrite /positive/=; lra. Qed.

(* The first are negatives, and the next are all positives. *)
Definition all_positive first next : set (W * R) := come_out (negative first) (positive next).
Definition all_chance first next : R := fine (\int[mt]_t (F (public + t - first) ^+ k * S (public + t - next) ^+ m)%:E)%E.

(* The first are negatives, and one of the next at least is not. *)
Definition any_positive first next : set (W * R) := come_out (negative first) setT `\` come_out (negative first) (negative next).
Definition any_chance first next : R :=
  fine (\int[mt]_t (F (public + t - first) ^+ k)%:E)%E - fine (\int[mt]_t (F (public + t - first) ^+ k * F (public + t - next) ^+ m)%:E)%E.

Let all1 : all_noises setT = 1%E. Proof. exact: (independent_total (OneMore noises)). Qed.
Let measurable_come_out first next : measurable first -> measurable next -> measurable (come_out first next).
Proof. by move=> mf mn; exact: (measurable_all noises (fun j => measurable_sides j mf mn)). Qed.

Lemma all_mass first next : all_noises (all_positive first next) = (all_chance first next)%:E.
Proof.
have mf := measurable_negative first; have mn := measurable_positive next; have mc := measurable_come_out mf mn.
rewrite -[LHS](fineK (mass_fin all1 mc)) (sides_mass mf mn) /all_chance; congr (fine _)%:E.
by apply: eq_integral => t _; rewrite negative_mass positive_mass.
Qed.

Lemma any_mass first next : all_noises (any_positive first next) = (any_chance first next)%:E.
Proof.
have mf := measurable_negative first; have mn := measurable_negative next.
have mc := measurable_come_out mf measurableT; have mc' := measurable_come_out mf mn.
have sub : come_out (negative first) (negative next) `<=` come_out (negative first) setT.
  by move=> w /in_all h; apply/in_all => j; have := h j; rewrite /sides/=; case: ifP.
rewrite measureD ?(le_lt_trans (mass_le1 all1 mc)) ?ltry// setIC (_ : _ `&` _ = come_out (negative first) (negative next)); last first.
  by apply/seteqP; split=> w; [case | move=> h; split=> //; exact: sub].
rewrite -(fineK (mass_fin all1 mc)) -(fineK (mass_fin all1 mc')) (sides_mass mf measurableT) (sides_mass mf mn) -EFinB /any_chance; congr (_%:E).
congr (fine _ - fine _); apply: eq_integral => t _; rewrite !negative_mass//.
have -> : mq [set z : R | [set: R * R] (t, z)] = 1%E by rewrite -mq1; congr (mq _); apply/seteqP; split.
by rewrite expr1n mulr1.
Qed.

(* The answers of an input: so many at one number, and the next ones at another. An answer is a positive where it is at least the threshold, both with noise. *)
Definition answer_at (first next : R) (j : nat) : R := if (j < k)%N then first else next.
Definition is_positive first next (w : W * R) (j : nat) : bool := public + w.2 <= answer_at first next j + Z j w.1.

Lemma all_positiveE first next :
  all_positive first next = [set w | forall j, (j < k + m)%N -> is_positive first next w j = (k <= j)%N].
Proof.
apply/seteqP; split=> w.
- move=> /in_all h j jn; have := h (Ordinal jn); rewrite /sides /is_positive /answer_at /= [(k <= j)%N]leqNgt.
  case: ifP => _ /=; last by rewrite /positive/= => ->.
  by rewrite /negative/= => lt; apply/negbTE; rewrite -ltNge.
- move=> h; apply/in_all => j; have := h j (ltn_ord j); rewrite /sides /is_positive /answer_at /= [(k <= j)%N]leqNgt.
  case: ifP => _ /=; last by rewrite /positive/= => ->.
  by rewrite /negative/= => /negbT; rewrite -ltNge.
Qed.

Lemma any_positiveE first next : any_positive first next =
  [set w | (forall j, (j < k)%N -> is_positive first next w j = false) /\ exists j, [/\ (k <= j)%N, (j < k + m)%N & is_positive first next w j]].
Proof.
have below q w j : (public + w.2 <= q + Z j w.1) = false <-> negative q (w.2, Z j w.1) by rewrite /negative/= ltNge; split=> [->|/negbTE].
apply/seteqP; split=> w.
- move=> [/in_all h none]; split=> [j jk|].
    have jn : (j < k + m)%N by rewrite (leq_trans jk)// leq_addr.
    by have := h (Ordinal jn); rewrite /sides /is_positive /answer_at /= jk => /below.
  apply: contrapT => no; apply: none; apply/in_all => j; have := h j; rewrite /sides/=; case: ltnP => // kj _.
  apply/below; apply/negbTE/negP => yes; apply: no; exists j; split=> //.
  by rewrite /is_positive /answer_at ltnNge kj.
- move=> [h [j [kj jn yes]]]; split.
    by apply/in_all => i; rewrite /sides/=; case: ifP => // ik; apply/below; have := h i ik; rewrite /is_positive /answer_at ik.
  move=> /in_all none; have := none (Ordinal jn); rewrite /sides/= ltnNge kj /= => /below.
  by move: yes; rewrite /is_positive /answer_at ltnNge kj /= => ->.
Qed.

(* The mechanism, and what it tells: of neighbours the first answers are `first` and `first + up`, the next ones `next` and `next - down`. *)
Context (X : Type) d (Y : measurableType d) (N : relation X) (M : mechanism R X Y) (O : set Y) (mO : measurable O) (x x' : X) (first next up down : R).
Hypothesis near : N x x'.

(* Above threshold. *)
(* Rule: selection-event, lower. *)
(* Rule: selection-event-at, lower. *)
Theorem threshold_event_all eps :
  M x O = all_noises [set w | forall j, (j < k + m)%N -> is_positive first next w j = (k <= j)%N] ->
  M x' O = all_noises [set w | forall j, (j < k + m)%N -> is_positive (first + up) (next - down) w j = (k <= j)%N] ->
  event_shows N M eps (all_chance first next) (all_chance (first + up) (next - down)).
Proof. by rewrite -!all_positiveE => E E'; apply: (event_shown eps near mO); [rewrite E all_mass | rewrite E' all_mass]. Qed.

(* Rule: selection-event, lower. *)
(* Rule: selection-event-at, lower. *)
Theorem threshold_event_any eps (one_positive := fun f g => [set w | (forall j, (j < k)%N -> is_positive f g w j = false) /\
    exists j, [/\ (k <= j)%N, (j < k + m)%N & is_positive f g w j]]) :
  M x O = all_noises (one_positive first next) -> M x' O = all_noises (one_positive (first + up) (next - down)) ->
  event_shows N M eps (any_chance first next) (any_chance (first + up) (next - down)).
Proof. by rewrite /one_positive -!any_positiveE => E E'; apply: (event_shown eps near mO); [rewrite E any_mass | rewrite E' any_mass]. Qed.
End Event.
