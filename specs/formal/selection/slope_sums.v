(* Sums, and the least and the greatest, of slopes that may be infinite, as rules about selections compute them (dpverify/trusted/theories/selection/compared.py);
   and that such a sum is what shifts of noises cost (shift_costs.v). None is infinite; no times of it are 0. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic shift_costs above_threshold_peak.

Section Values.
Context (R : realType).
Implicit Types (a b c : option R) (k x y v w D : R) (l : seq (item R)) (ls : seq (seq (item R))).

Definition times k b : option R := if k == 0 then Some 0 else omap (fun s => k * s) b.
Definition total a b : option R := if a is Some x then omap (fun y => x + y) b else None.
Definition least a b : option R := match a, b with Some x, Some y => Some (Num.min x y) | Some x, None => Some x | None, _ => b end.
Definition greatest a b : option R := match a, b with Some x, Some y => Some (Num.max x y) | _, _ => None end.
Definition at_most a b : bool := match a, b with Some x, Some y => x <= y | _, None => true | None, Some _ => false end.

Lemma at_most_some a v : at_most a (Some v) -> exists2 x, a = Some x & x <= v.
Proof. by case: a => // x le; exists x. Qed.

Lemma totalP a b w : total a b = Some w -> exists x y, [/\ a = Some x, b = Some y & w = x + y].
Proof. by case: a => // x; case: b => // y [<-]; exists x, y. Qed.

Lemma leastP a b w : least a b = Some w -> a = Some w \/ b = Some w.
Proof. by case: a => [x|]; case: b => [y|] //= [<-]; [case: leP => _; [left | right] | left | right]. Qed.

Lemma greatestP a b w : greatest a b = Some w -> exists x y, [/\ a = Some x, b = Some y, x <= w & y <= w].
Proof. by case: a => // x; case: b => // y [<-]; exists x, y; split=> //; rewrite le_maxr lexx ?orbT. Qed.

Lemma timesP k b w : times k b = Some w -> (k = 0 /\ w = 0) \/ (exists2 s, b = Some s & w = k * s).
Proof. by rewrite /times; case: eqP => [-> [<-]|_]; [left | case: b => // s [<-]; right; exists s]. Qed.

Lemma times_ge0 k b w : nonneg b -> 0 <= k -> times k b = Some w -> 0 <= w.
Proof. by move=> b0 k0 /timesP[[_ ->//]|[s bE ->]]; rewrite bE in b0; rewrite mulr_ge0. Qed.

(* So many times a slope, for each unit: what pays for so many units, D times. *)
Lemma times_pays k b w D : nonneg b -> 0 <= k -> 0 <= D -> times k b = Some w -> pays b (k * D) (w * D).
Proof.
move=> b0 k0 D0 E; have w0 := times_ge0 b0 k0 E; split; first exact: mulr_ge0.
case: (timesP E) => [[k0' w0']|[s bE wE]]; last by rewrite bE wE mulrA [s * k]mulrC.
by rewrite k0' w0' !mul0r; case: (b) => // s; rewrite mulr0.
Qed.

Lemma pays_times k b v : nonneg b -> 0 <= k -> pays b k v -> exists2 w, times k b = Some w & w <= v.
Proof.
move=> b0 k0 [v0 h]; rewrite /times; have [_|k1] := eqVneq k 0; first by exists 0.
case: b b0 h => [s|] _ h; last by move: k1; rewrite eq_le h k0.
by exists (k * s); rewrite // mulrC.
Qed.

Lemma pays_scale b x v D : 0 <= D -> pays b x v -> pays b (x * D) (v * D).
Proof.
move=> D0 [v0 h]; split; first exact: mulr_ge0.
by case: b h => [s|] h; [rewrite mulrA ler_wpmul2r | rewrite mulr_le0_ge0].
Qed.

(* What a list of items costs at y. *)
Definition paid y l : option R := foldr (fun i s => total (times (i.1.2 * y + i.2) i.1.1) s) (Some 0) l.

Lemma paidP y l v : sound l y -> charged y l v <-> exists2 w, paid y l = Some w & w <= v.
Proof.
elim: l v => [|[[b a] k] l IH] v so /=; first by split=> [h|[w [<-]]//]; exists 0.
have [b0 x0] := so _ (mem_head _ _); have {}IH := IH _ (fun i il => so i (mem_behead (s := (b, a, k) :: l) il)).
rewrite /= in b0 x0; split=> [[c [pc /IH[w' -> le']]]|[w /totalP[t [w' [E E' ->]]] le]].
- by have [t -> le] := pays_times b0 x0 pc; exists (t + w') => //; lra.
- exists t; split; last by apply/IH; exists w' => //; lra.
  by have := times_pays b0 x0 ler01 E; rewrite !mulr1.
Qed.

Definition least_paid y ls : option R := foldr (fun l s => least (paid y l) s) None ls.

Lemma least_paid_at y ls w : least_paid y ls = Some w -> exists2 l, List.In l ls & paid y l = Some w.
Proof.
elim: ls => //= l ls IH /leastP[E|/IH[l' ll' E]]; first by exists l => //; left.
by exists l' => //; right.
Qed.

Lemma least_paid_le y ls l w : List.In l ls -> paid y l = Some w -> at_most (least_paid y ls) (Some w).
Proof.
elim: ls => //= l' ls IH [->|/IH h] E.
  by rewrite E; case: (least_paid y ls) => [z|] //=; rewrite le_minl lexx.
by move/h: E; case: (paid y l') => [x|]; case: (least_paid y ls) => [z|] //= zw; rewrite le_minl zw orbT.
Qed.

Lemma least_ofP y ls v : (forall l, List.In l ls -> sound l y) -> least_of ls y v <-> at_most (least_paid y ls) (Some v).
Proof.
move=> so; split=> [[l li]|].
  by move/(paidP v (so _ li)) => [w E le]; have := least_paid_le li E; case: (least_paid y ls) => //= z zw; lra.
by move=> /at_most_some[w /least_paid_at[l li E] le]; exists l => //; apply/(paidP v (so _ li)); exists w.
Qed.

(* The least of several costs, each linear in y: where the next numbers on both sides of p cost no more, none does. *)
Theorem peak_paid ls (m p : nat) w : (p <= m)%N -> (forall l (y : nat), List.In l ls -> (y <= m)%N -> sound l y%:R) ->
  least_paid p%:R ls = Some w -> ((0 < p)%N -> at_most (least_paid p.-1%:R ls) (Some w)) ->
  ((p < m)%N -> at_most (least_paid p.+1%:R ls) (Some w)) -> forall y : nat, (y <= m)%N -> at_most (least_paid y%:R ls) (Some w).
Proof.
move=> pm so E left right y ym; apply/least_ofP; first by move=> l li; exact: so.
apply: (peak (p := p) (m := m)) => //.
- by apply/least_ofP; [move=> l li; exact: so | rewrite E /=].
- by move=> v' /least_ofP -/(_ (fun l li => so l p li pm)); rewrite E.
- move=> p0; apply/least_ofP; last exact: left.
  by move=> l li; apply: so => //; apply: leq_trans (leq_pred p) pm.
- by move=> pm'; apply/least_ofP; [move=> l li; exact: so | exact: right].
Qed.
End Values.
