(* The weights that lose the most: for an output of K negatives and Y positives weights a and b of its comparisons, within the slopes, lose as much as the
   cheapest shift of the threshold costs (docs/theory/selection.md, log-concave threshold); slopes may be infinite. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic shift_costs above_threshold_peak slope_sums above_threshold_losses.

Section Weights.
Context (R : realType).
Implicit Types (x y u v : R) (l : seq (item R)).

(* What is at least x need not be infinite. *)
Definition finite x (b : option R) : R := if b is Some s then s else `|x|.
Definition finite_paid x y l : R := foldr (fun i s => (i.1.2 * y + i.2) * finite x i.1.1 + s) 0 l.
Definition counted y l := forall i, i \in l -> nonneg i.1.1 /\ (i.1.2 * y + i.2 = 0 \/ 1 <= i.1.2 * y + i.2).

Lemma finite_ge0 x (b : option R) : nonneg b -> 0 <= finite x b. Proof. by case: b => //= _; exact: normr_ge0. Qed.

Lemma finite_paidP x y l : counted y l -> 0 <= finite_paid x y l /\ (if paid y l is Some w then w = finite_paid x y l else x <= finite_paid x y l).
Proof.
elim: l => [//|[[b a] k] l IH] cl; have [/= b0 ck] := cl _ (mem_head _ _).
have [/= s0 h] := IH (fun i il => cl i (mem_behead (s := (b, a, k) :: l) il)).
have f0 := finite_ge0 x b0; have t0 : 0 <= (a * y + k) * finite x b by rewrite mulr_ge0//; case: ck => [->|c1] //; lra.
split; first exact: addr_ge0.
rewrite /times; case: eqP ck => [-> _|ne [//|k1]] /=.
  by case: (paid y l) h => [w ->|] /=; rewrite mul0r add0r.
case: b b0 f0 t0 cl => [s|] b0 f0 t0 _ /=; first by case: (paid y l) h => [w ->|le] //=; have := t0; rewrite /=; lra.
have := ler_norm x; have := ler_wpmul2r f0 k1; rewrite /= mul1r; lra.
Qed.

Lemma at_least_each x y ls l : counted y l -> List.In l ls -> at_most (Some x) (least_paid y ls) -> x <= finite_paid x y l.
Proof.
move=> cl li le; have [_] := finite_paidP x cl; case E : (paid y l) => [w|] // <-.
by have := least_paid_le li E; case: (least_paid y ls) le => [z|] //=; lra.
Qed.

Lemma weights_of (K Y : nat) u v (Tl Tr Ql Qr z : R) : 0 <= u -> 0 <= v -> 0 <= Tl -> 0 <= Tr -> 0 <= Ql -> 0 <= Qr ->
  z <= u * Tr + Y%:R * (u + v) * Qr -> z <= K%:R * u * Ql + Y%:R * v * Qr -> z <= v * Tl + K%:R * (u + v) * Ql ->
  exists a b, [/\ 0 <= a <= Ql, 0 <= b <= Qr, - Tl <= K%:R * a - Y%:R * b <= Tr & z <= K%:R * a * u + Y%:R * b * v].
Proof.
move=> u0 v0 Tl0 Tr0 Ql0 Qr0 h1 h2 h3; have KQ : 0 <= K%:R * Ql by rewrite mulr_ge0. have YQ : 0 <= Y%:R * Qr by rewrite mulr_ge0.
have [lo|lo] := leP (- Tl) (K%:R * Ql - Y%:R * Qr); last first.
  have Y1 : Y%:R != 0 :> R by apply: contraTneq lo => ->; rewrite -leNgt; lra.
  have Y0 : 0 < Y%:R :> R by rewrite lt_neqAle eq_sym Y1 /=.
  pose b := (Tl + K%:R * Ql) / Y%:R; have bE : Y%:R * b = Tl + K%:R * Ql by rewrite mulrC /b divfK.
  exists Ql, b; split; [by rewrite Ql0 lexx | | by rewrite bE; apply/andP; split; lra | by rewrite bE; lra].
  rewrite divr_ge0//=; last by lra.
  by rewrite ler_pdivr_mulr// mulrC; lra.
have [hi|hi] := leP (K%:R * Ql - Y%:R * Qr) Tr; first by exists Ql, Qr; split; [rewrite Ql0 lexx | rewrite Qr0 lexx | rewrite lo | lra].
have K1 : K%:R != 0 :> R by apply: contraTneq hi => ->; rewrite -leNgt; lra.
have K0 : 0 < K%:R :> R by rewrite lt_neqAle eq_sym K1 /=.
pose a := (Tr + Y%:R * Qr) / K%:R; have aE : K%:R * a = Tr + Y%:R * Qr by rewrite mulrC /a divfK.
exists a, Qr; split; [| by rewrite Qr0 lexx | by rewrite aE; apply/andP; split; lra | by rewrite aE; lra].
rewrite divr_ge0//=; last by lra.
by rewrite ler_pdivr_mulr// mulrC; lra.
Qed.

Context (tl tr ql qr fl fr : option R) (told : report).
Hypotheses (tl0 : nonneg tl) (tr0 : nonneg tr) (ql0 : nonneg ql) (qr0 : nonneg qr) (fl0 : nonneg fl) (fr0 : nonneg fr).

Definition at_slope (g : R) (b : option R) := if b is Some s then g <= s else true.

Lemma at_finite x (b : option R) g : g <= finite x b -> at_slope g b. Proof. by case: b. Qed.

(* What an output loses is lost by weights. *)
Theorem loss_weights (K Y J : nat) (u v : nat) x : at_most (Some x) (loss tl tr ql qr fl fr told u%:R v%:R K%:R Y%:R J%:R) ->
  exists a b f f', [/\ 0 <= a, 0 <= b, [/\ at_slope a ql, at_slope b qr, at_slope (K%:R * a - Y%:R * b) tr & at_slope (- (K%:R * a - Y%:R * b)) tl],
    [/\ 0 <= f, 0 <= f', at_slope f (of_fresh told fr) & at_slope f' (of_fresh told fl)] &
    x <= K%:R * a * u%:R + Y%:R * (b + f) * v%:R + J%:R * f' * u%:R].
Proof.
pose F (b : option R) := finite x b; have F0 (b : option R) : nonneg b -> 0 <= F b by exact: finite_ge0.
have f0 := of_fresh0 told fr0; have f0' := of_fresh0 told fl0.
have nat_or (k : nat) : k%:R = 0 \/ 1 <= k%:R :> R by case: k => [|k]; [left | right; rewrite ler1n].
have cn (k j : nat) : 0 * 0 + k%:R * j%:R = 0 \/ 1 <= 0 * 0 + k%:R * j%:R :> R by rewrite !mul0r !add0r -!natrM; exact: nat_or.
have cn' (k j : nat) : 0 * j%:R * 0 + k%:R * j%:R = 0 \/ 1 <= 0 * j%:R * 0 + k%:R * j%:R :> R by rewrite !mulr0 !add0r -!natrM; exact: nat_or.
have cs (k i j : nat) : 0 * (i%:R + j%:R) * 0 + k%:R * (i%:R + j%:R) = 0 \/ 1 <= 0 * (i%:R + j%:R) * 0 + k%:R * (i%:R + j%:R) :> R.
  by rewrite !mulr0 !add0r -!natrD -!natrM; exact: nat_or.
have c1 (k : nat) : 0 * 0 + k%:R = 0 \/ 1 <= 0 * 0 + k%:R :> R by rewrite !mul0r !add0r; exact: nat_or.
rewrite /loss; set ls := ways _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ => le.
have each l : List.In l ls -> x <= finite_paid x 0 l.
  move=> li; apply: (at_least_each (ls := ls)) => //.
  by move: li => /=[<-|[<-|[<-|//]]] i; rewrite !inE => /or4P[] /eqP -> /=; split=> //; do ?[exact: cn' | exact: cs | exact: c1].
have h1 := each _ (or_introl erefl); have h2 := each _ (or_intror (or_introl erefl)); have h3 := each _ (or_intror (or_intror (or_introl erefl))).
rewrite /finite_paid /= -!/(F _) in h1 h2 h3.
pose E := Y%:R * v%:R * F (of_fresh told fr) + J%:R * u%:R * F (of_fresh told fl).
have [|||a [b [/andP[a0 aq] /andP[b0 bq] /andP[lo hi] lost]]] := @weights_of K Y u%:R v%:R (F tl) (F tr) (F ql) (F qr) (x - E) (ler0n _ _) (ler0n _ _)
  (F0 _ tl0) (F0 _ tr0) (F0 _ ql0) (F0 _ qr0); do ?[by rewrite /E; lra].
exists a, b, (F (of_fresh told fr)), (F (of_fresh told fl)); split=> //; last by move: lost; rewrite /E; lra.
- by split; [exact: at_finite aq | exact: at_finite bq | exact: at_finite hi | apply: (at_finite (x := x)); rewrite -/(F tl); lra].
- by split; [exact: F0 | exact: F0 | exact: (at_finite (lexx _)) | exact: (at_finite (lexx _))].
Qed.
End Weights.
