(* What outputs of above threshold lose at most, as the rule of dpverify/trusted/theories/selection/rules/log_concave_threshold.py computes it for each unit of the sensitivity, and
   that the peaks it is told of show which output loses the most (docs/theory/selection.md, log-concave threshold). *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic shift_costs above_threshold_peak slope_sums.

(* Which answers of neighbours differ, and what is told of positives: that they are positive, by how much, with fresh noise, or with the noise that they are
   compared with. *)
Variant neighbours := All | Increasing | Decreasing | Monotone | One.
Variant report := Words | Gap | Fresh | Value.
Definition fresh_told (r : report) := if r is Fresh then true else false.
Definition value_told (r : report) := if r is Value then true else false.

(* The ways to move: how far answers go up at negatives, and down at positives, in units of the sensitivity. *)
Definition moves_of (nb : neighbours) : seq (nat * nat) :=
  match nb with All => [:: (1, 1)] | Increasing => [:: (1, 0)] | Decreasing => [:: (0, 1)] | Monotone => [:: (1, 0); (0, 1)] | One => [::] end%N.

(* -- What the rule computes, for each unit of the sensitivity -- *)

Section Losses.
Context (R : realType) (tl tr ql qr fl fr : option R) (told : report) (n c draws : nat).
Implicit Types (u v : R) (w : option R).

Definition of_fresh (b : option R) := if fresh_told told then b else Some 0.

(* What an output of K negatives and Y positives loses, and of J positives besides whose answers go up: the least of what the three shifts of the threshold
   cost, and what fresh noises cost besides. All of these may be linear in y, which is a number a times y and a number besides. *)
Definition ways u v (aK K aY Y aJ J : R) : seq (seq (item R)) :=
  let besides := [:: (of_fresh fr, aY * v, Y * v); (of_fresh fl, aJ * u, J * u)] in
  [:: [:: (tr, 0, u), (qr, aY * (u + v), Y * (u + v)) & besides];
      [:: (ql, aK * u, K * u), (qr, aY * v, Y * v) & besides];
      [:: (tl, 0, v), (ql, aK * (u + v), K * (u + v)) & besides]].
Definition loss u v K Y J : option R := least_paid 0 (ways u v 0 K 0 Y 0 J).

Lemma loss_linear (y : R) u v (aK K aY Y aJ J : R) : least_paid y (ways u v aK K aY Y aJ J) = loss u v (aK * y + K) (aY * y + Y) (aJ * y + J).
Proof.
have E (a k x : R) : a * x * y + k * x = 0 * x * 0 + (a * y + k) * x by lra.
have E0 x : 0 * y + x = 0 * 0 + x by lra.
by rewrite /loss /= !E !E0.
Qed.

Hypotheses (tl0 : nonneg tl) (tr0 : nonneg tr) (ql0 : nonneg ql) (qr0 : nonneg qr) (fl0 : nonneg fl) (fr0 : nonneg fr).

Lemma of_fresh0 b : nonneg b -> nonneg (of_fresh b).
Proof. by rewrite /of_fresh; case: fresh_told => //= _; exact: lexx. Qed.

Lemma ways_sound y u v aK K aY Y aJ J l : 0 <= u -> 0 <= v -> 0 <= aK * y + K -> 0 <= aY * y + Y -> 0 <= aJ * y + J ->
  List.In l (ways u v aK K aY Y aJ J) -> sound l y.
Proof.
move=> u0 v0 K0 Y0 J0 li; have by_ a k x : 0 <= x -> 0 <= a * y + k -> 0 <= a * x * y + k * x.
  by move=> x0 h; have := mulr_ge0 x0 h; lra.
have uv0 : 0 <= u + v by exact: addr_ge0.
have z x : 0 <= x -> 0 <= 0 * y + x by move=> x0; lra.
have := of_fresh0 fl0; have := of_fresh0 fr0 => f0 f0'.
by move: li => /=[<-|[<-|[<-|//]]] i; rewrite !inE => /or4P[] /eqP -> /=; split; do ?[exact: by_ | exact: z].
Qed.

(* What answers lose at most that are told with the noise that they are compared with, whatever the noise of the threshold. *)
Let m := minn n c.
Definition loss_told nb : option R := match nb with
  | One => greatest ql qr
  | All => total (times (n - m)%:R ql) (times m%:R (greatest ql qr))
  | Increasing => times n%:R ql
  | Decreasing => times m%:R qr
  | Monotone => greatest (times n%:R ql) (times m%:R qr)
  end.

(* Where one answer moves alone. *)
Definition loss_alone : option R :=
  let up := least ql (total tr (times (minn n.-1 c)%:R qr)) in
  let down := least qr (total tl (times n.-1%:R ql)) in
  if fresh_told told then greatest up (greatest fl (total down fr)) else greatest up down.

(* By one shift for each noise of the threshold: up with what negatives do, down with what positives do, or still. Where each query costs infinitely much
   all do. *)
Variant way := Up | Still | Down.
Definition surplus w w' : option R := if w is Some x then if w' is Some y then Some (Num.max 0 (x - y)) else None else None.
Definition turned u v (s : way) := match s with Up => u + v | Still => v | Down => 0 end.
Definition paid_once u v (s : way) := match s with Up => times (draws%:R * u) tr | Still => Some 0 | Down => times (draws%:R * v) tl end.
Definition each_query u v (s : way) := match s with Up => Some 0 | Still => times u ql | Down => times (u + v) ql end.
Definition each_positive u v (s : way) :=
  surplus (greatest (total (times (turned u v s) qr) (times v (of_fresh fr))) (times u (of_fresh fl))) (each_query u v s).
Definition everywhere u v (s : way) : option R :=
  total (paid_once u v s) (total (times n%:R (each_query u v s)) (times c%:R (each_positive u v s))).

(* The number p that is told to be the peak of f, on 0, ..., k: the next ones lose no more. *)
Definition peak_at (f : nat -> option R) (k p : nat) :=
  [/\ (p <= k)%N, (0 < p)%N -> at_most (f p.-1) (f p) & (p < k)%N -> at_most (f p.+1) (f p)].

(* No output loses more than x: where positives that go up lose no more than those that go down, by the number of positives; else by the number of those
   that go up, for each number of those that go down. *)
Variant peaks_at u v (x : R) : Prop :=
| OnePeak p of at_most (times u (of_fresh fl)) (times v (of_fresh fr)) & peak_at (fun y => loss u v (n - y)%:R y%:R 0) m p &
    at_most (loss u v (n - p)%:R p%:R 0) (Some x)
| PeakOfEach p of forall Y, (Y <= m)%N -> peak_at (fun J => loss u v (n - (Y + J))%:R Y%:R J%:R) (m - Y) (p Y) /\
    at_most (loss u v (n - (Y + p Y))%:R Y%:R (p Y)%:R) (Some x).

(* What the rule accepts as an upper bound x for each unit of the sensitivity. *)
Variant rule_bound (nb : neighbours) (x : R) : Prop :=
| AnswersTold of value_told told & at_most (loss_told nb) (Some x)
| MovesAlone of ~~ value_told told & nb = One & draws = 1%N & at_most loss_alone (Some x)
| SameShift s of ~~ value_told told & nb <> One & forall d, d \in moves_of nb -> at_most (everywhere d.1%:R d.2%:R s) (Some x)
| AtPeaks of ~~ value_told told & nb <> One & draws = 1%N & forall d, d \in moves_of nb -> peaks_at d.1%:R d.2%:R x.

(* -- What these numbers say -- *)

Lemma at_most_trans w w' x : at_most w w' -> at_most w' (Some x) -> at_most w (Some x).
Proof. by case: w => [a|]; case: w' => [b|] //=; exact: le_trans. Qed.

Lemma peak_of (ls : seq (seq (item R))) (f : nat -> option R) k p x : (forall l (y : nat), List.In l ls -> (y <= k)%N -> sound l y%:R) ->
  (forall y : nat, (y <= k)%N -> f y = least_paid y%:R ls) -> peak_at f k p -> at_most (f p) (Some x) -> forall y, (y <= k)%N -> at_most (f y) (Some x).
Proof.
move=> so fE [pk left right] /at_most_some[z zE zx] y yk; rewrite zE in left right.
apply: (at_most_trans (w' := Some z)); last by [].
rewrite fE//; apply: (peak_paid pk so) => //; first by rewrite -fE.
- by move=> p0; rewrite -fE; [exact: left | apply: leq_trans (leq_pred p) pk].
- by move=> pk'; rewrite -fE; [exact: right | exact: pk'].
Qed.

(* Positives that go up and lose no more than those that go down may be counted as these. *)
Lemma loss_raised u v (K Y J : nat) x : 0 <= u -> 0 <= v -> at_most (times u (of_fresh fl)) (times v (of_fresh fr)) ->
  at_most (loss u v K%:R (Y + J)%:R 0) (Some x) -> at_most (loss u v K%:R Y%:R J%:R) (Some x).
Proof.
move=> u0 v0 le; have n0 (k : nat) : 0 <= 0 * 0 + k%:R :> R by rewrite mul0r add0r.
have z0 : 0 <= 0 * 0 + 0 :> R by rewrite mul0r addr0.
have so (k j : nat) (q : R) : 0 <= 0 * 0 + q -> forall l, List.In l (ways u v 0 k%:R 0 j%:R 0 q) -> sound l 0 by move=> q0 l; apply: ways_sound.
rewrite /loss => /(least_ofP _ (so _ _ _ z0))[l li ch]; apply/(least_ofP _ (so _ _ _ (n0 J))).
have f0 := of_fresh0 fr0; have f0' := of_fresh0 fl0.
have up : Y%:R <= (Y + J)%:R :> R by rewrite ler_nat leq_addr.
have besides V : charged 0 [:: (of_fresh fr, 0 * v, (Y + J)%:R * v); (of_fresh fl, 0 * u, 0 * u)] V ->
    charged 0 [:: (of_fresh fr, 0 * v, Y%:R * v); (of_fresh fl, 0 * u, J%:R * u)] V.
  move=> /= [c1 [p1 [c2 [[c20 _] h]]]]; rewrite mul0r mulr0 add0r in p1.
  have k0 : 0 <= (Y + J)%:R * v by rewrite mulr_ge0.
  have [t E tc] := pays_times f0 k0 p1.
  have pay (k : nat) (b : option R) (a z : R) : nonneg b -> 0 <= z -> times z b = Some a -> pays b (0 * z * 0 + k%:R * z) (k%:R * a).
    move=> b0 z0' Ea; have := times_pays b0 z0' (ler0n R k) Ea.
    by rewrite mul0r mulr0 add0r ![k%:R * _]mulrC.
  case vE : (times v (of_fresh fr)) le => [a|]; last first.
    (* a fresh noise that ends and answers that go down: there is no such positive *)
    move: vE E; rewrite /times; case: eqP => // v1; case: (of_fresh fr) p1 => [//|] p1 _; case: eqP => // /eqP; rewrite mulf_eq0 pnatr_eq0 addn_eq0.
    case/orP=> [/andP[/eqP -> /eqP ->] _ _|/eqP//]; exists 0; split; first by rewrite !mul0r addr0; exact: pays_nothing.
    exists 0; split; first by rewrite !mul0r addr0; exact: pays_nothing.
    by rewrite /=; case: p1 => ? _; lra.
  move=> /at_most_some[b uE ba]; exists (Y%:R * a); split; first exact: pay.
  exists (J%:R * b); split; first exact: pay.
  have Jb : J%:R * b <= J%:R * a by rewrite ler_wpmul2l.
  rewrite /=; suff : (Y + J)%:R * a <= t by move: Jb; rewrite natrD; lra.
  have t0 := times_ge0 f0 k0 E; case: (timesP vE) => [[_ ->]|[s sE aE]]; first by rewrite mulr0.
  by case: (timesP E) => [[E1 _]|[s' E' ->]]; [rewrite aE mulrA E1 mul0r | move: E'; rewrite sE aE mulrA => -[->]].
have more (b : option R) (k : R) : nonneg b -> 0 <= k -> forall a, pays b (0 * k * 0 + (Y + J)%:R * k) a -> pays b (0 * k * 0 + Y%:R * k) a.
  by move=> b0 k0 a; apply: pays_less => //; rewrite ler_add2l ler_wpmul2r.
have uv0 : 0 <= u + v by exact: addr_ge0.
case: li ch => [<-|[<-|[<-|//]]] [c1 [p1 [c2 [p2 h]]]].
- exists (nth [::] (ways u v 0 K%:R 0 Y%:R 0 J%:R) 0); first by left.
  by exists c1; split=> //; exists c2; split; [exact: more p2 | exact: besides h].
- exists (nth [::] (ways u v 0 K%:R 0 Y%:R 0 J%:R) 1); first by right; left.
  by exists c1; split=> //; exists c2; split; [exact: more p2 | exact: besides h].
- exists (nth [::] (ways u v 0 K%:R 0 Y%:R 0 J%:R) 2); first by right; right; left.
  by exists c1; split=> //; exists c2; split=> //; exact: besides h.
Qed.

(* Whichever of its positives go up, an output loses at most what the peaks say. *)
Lemma peaks_hold (d : nat * nat) x : peaks_at d.1%:R d.2%:R x -> forall Y J, (Y + J <= m)%N ->
  at_most (loss d.1%:R d.2%:R (n - (Y + J))%:R Y%:R J%:R) (Some x).
Proof.
have mn : (m <= n)%N by exact: geq_minl.
have u0 : 0 <= d.1%:R :> R by []. have v0 : 0 <= d.2%:R :> R by [].
case=> [p le pk top|p pk] Y J YJ.
- apply: loss_raised => //; move: (Y + J)%N YJ => y ym.
  apply: (peak_of (ls := ways d.1%:R d.2%:R (-1) n%:R 1 0 0 0) _ _ pk top) => // [l z li zm|z zm].
    have zn : z%:R <= n%:R :> R by rewrite ler_nat (leq_trans zm).
    by apply: (ways_sound u0 v0 _ _ _ li); rewrite ?mulN1r ?mul1r ?mul0r ?addr0//; lra.
  rewrite loss_linear; congr (loss _ _ _ _ _); rewrite ?natrB ?(leq_trans zm)//; lra.
- have Ym : (Y <= m)%N by exact: leq_trans (leq_addr J Y) YJ.
  have [pY top] := pk Y Ym.
  apply: (peak_of (ls := ways d.1%:R d.2%:R (-1) (n%:R - Y%:R) 0 Y%:R 1 0) _ _ pY top) => // [l z li zm|z zm|].
  + have zn : Y%:R + z%:R <= n%:R :> R by rewrite -natrD ler_nat; apply: leq_trans mn; rewrite -leq_subRL.
    by apply: (ways_sound u0 v0 _ _ _ li); rewrite ?mulN1r ?mul1r ?mul0r ?add0r ?addr0//; lra.
  + have zn : (Y + z <= n)%N by apply: leq_trans mn; rewrite -leq_subRL.
    rewrite loss_linear natrB// natrD; congr (loss _ _ _ _ _); lra.
  + by rewrite leq_subRL.
Qed.
End Losses.
