(* Mechanisms that are made of parts, as replayed certificates describe them: a description says of a mechanism, of its inputs and of
   which of them are neighbours what it is, and nothing of how private it is. What is private of the parts makes the whole so. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra.
From dpverify Require Import definitions density norms additive kernels composition groups sampling losses tactics replay.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* -- Descriptions, and what holds of all that they describe -- *)

Definition described := forall (X : Type), relation X -> forall (d : measure_display) (Y : measurableType d), mechanism RR X Y -> Prop.

Definition holds (P : described) (eps : R) :=
  forall (X : Type) (N : relation X) (d : measure_display) (Y : measurableType d) (M : mechanism RR X Y), P X N d Y M -> pure_dp N M eps.

Lemma holds_le (P : described) (a b : R) : holds P a -> Rle a b -> holds P b.
Proof. by move=> H /RleP ab X N d Y M /H; exact: pure_dp_monotone. Qed.

(* -- Single mechanisms -- *)

(* Noise of a norm, any norm: its density is proportional to profile(norm(z)/scale), and the answers of neighbours are at most D apart. *)
Definition noise_of_norm (profile : R -> R) (scale D : R) : described := fun X N d Y M =>
  exists (n : nat) (mu : measure_on Y) (place : Y -> rows n) (answer : X -> rows n) (norm : rows n -> R) (mass : R),
    [/\ seminorm norm, Rlt 0 mass, adds_noise mu place M answer (fun z => Rdiv (profile (Rdiv (norm z) scale)) mass) &
        forall x x', N x x' -> Rle (norm (answer x - answer x')) D].

(* Noise on the line, of any density. *)
Definition noise_on_line (density : R -> R) (D : R) : described := fun X N d Y M =>
  exists (mu : measure_on Y) (place : Y -> [lmodType RR of RR^o]) (answer : X -> [lmodType RR of RR^o]) (mass : R),
    [/\ Rlt 0 mass, adds_noise mu place M answer (fun z => Rdiv (density z) mass) &
        forall x x', N x x' -> Rle (Rabs (Rminus (answer x) (answer x'))) D].

(* Independent coordinates; the answers of neighbours are at most D apart in l1. *)
Definition noise_of_coordinates (density : R -> R) (D : R) : described := fun X N d Y M =>
  exists (n : nat) (mu : measure_on Y) (place : Y -> rows n) (answer : X -> rows n) (mass : R),
    [/\ Rlt 0 mass, adds_noise mu place M answer (fun z => Rdiv (coordinates density z) mass) &
        forall x x', N x x' -> Rle (norm1 (answer x - answer x')) D].

(* A table: an input selects a row; the rows of neighbours are listed, or the same. *)
Definition answers_by_table (table : list (list R)) (pairs : list (nat * nat)) : described := fun X N d Y M =>
  exists (row : X -> nat) (point : nat -> Y) (K : mechanism RR nat Y),
    [/\ forall x, M x = K (row x) :> (set Y -> \bar RR), has_rows K point table &
     forall x x', N x x' -> row x = row x' \/ both (listed pairs) (row x) (row x')].

(* What is known of the mechanism is no more than a guarantee. *)
Definition guaranteed (eps : R) : described := fun X N d Y M => pure_dp N M eps.

(* The output depends on an answer alone, which is the same for neighbours. *)
Definition answers_neighbours_the_same : described := fun X N d Y M =>
  exists (A : Type) (answer : X -> A) (K : mechanism RR A Y),
    (forall x, M x = K (answer x) :> (set Y -> \bar RR)) /\ forall x x', N x x' -> answer x = answer x'.

Lemma holds_noise_of_norm profile scale D eps : Rlt 0 scale -> loses half_line profile (Rdiv D scale) eps -> holds (noise_of_norm profile scale D) eps.
Proof.
move=> s0 H X N d Y M [n [mu [place [answer [norm [mass [semi m0 noise ND]]]]]]].
have := replay_radial semi s0 m0 H noise; apply: dp_in_order_fewer => x x'.
by case=> /ND; [left | right].
Qed.

Lemma holds_noise_on_line density D eps : loses line density D eps -> holds (noise_on_line density D) eps.
Proof. move=> H X N d Y M [mu [place [answer [mass [m0 noise ND]]]]]; exact: replay_translation m0 H noise ND. Qed.

Lemma holds_noise_of_coordinates density rate D eps : Rle 0 rate -> (forall r, Rle 0 (density r)) ->
  (forall t, Rle 0 t -> loses line density t (Rmult rate t)) -> Rle (Rmult rate D) eps -> holds (noise_of_coordinates density D) eps.
Proof.
move=> r0 d0 H De X N d Y M [n [mu [place [answer [mass [m0 noise ND]]]]]].
have := replay_product m0 r0 d0 H De noise; apply: dp_in_order_fewer => x x'.
by case=> /ND; [left | right].
Qed.

(* An epsilon that is enough for a pair of rows is not negative, so that it is enough for a row and itself. *)
Lemma holds_answers_by_table table pairs eps : pairs <> nil -> pairs_below eps table pairs -> holds (answers_by_table table pairs) eps.
Proof.
move=> some H X N d Y M [row [point [K [MK KT NP]]]] x x' xx S mS; rewrite !MK.
have below := replay_table KT H.
have e0 : 0 <= eps.
  case: pairs some H below {NP} => // -[a b] rest _ _ below.
  have := below a b (or_introl (or_introl erefl)) setT measurableT.
  by rewrite adde0 !law_total -EFinM mulr1 lee_fin -[leLHS](@exp.expR0 RR) ler_expR.
case: xx => /NP[e|near]; [by rewrite e; exact: close_refl | exact: below | by rewrite e; exact: close_refl | exact/below/mS/bothC].
Qed.

Lemma holds_guaranteed eps : holds (guaranteed eps) eps.
Proof. by []. Qed.

Lemma holds_the_same eps : Rle 0 eps -> holds answers_neighbours_the_same eps.
Proof.
move=> /RleP e0 X N d Y M [A [answer [K [MK same]]]] x x' xx S mS; rewrite !MK.
have -> : answer x = answer x' by case: xx => /same ->.
exact: close_refl.
Qed.

(* Independent coordinates, where the answers of neighbours are at most D apart in l2: in l1 they are at most sqrt n times that. *)
Definition noise_of_coordinates_in_l2 (n : nat) (density : R -> R) (D : R) : described := fun X N d Y M =>
  exists (mu : measure_on Y) (place : Y -> rows n) (answer : X -> rows n) (mass : R),
    [/\ Rlt 0 mass, adds_noise mu place M answer (fun z => Rdiv (coordinates density z) mass) &
        forall x x', N x x' -> \sum_(i < n) (answer x - answer x') ord0 i * (answer x - answer x') ord0 i <= D * D].

(* A natural number as a real one. *)
Lemma natural_number k : INR k = k%:R :> RR.
Proof. by rewrite INRE. Qed.

Lemma natural_number_2 : INR 2 = 2%:R :> RR.
Proof. by rewrite INRE. Qed.

Lemma l1_of_l2 n (a : 'I_n -> RR) : (\sum_(i < n) Rabs (a i)) ^+ 2 <= n%:R * \sum_(i < n) (a i * a i).
Proof.
case: n a => [|n] a; first by rewrite !big_ord0 mulr0 expr0n.
set s := \sum_(i < n.+1) Rabs (a i); set q := \sum_(i < n.+1) (a i * a i); set N : RR := n.+1%:R.
have N0 : 0 < N by rewrite ltr0n.
have : 0 <= \sum_(i < n.+1) (Rabs (a i) * N - s) ^+ 2 by apply: sumr_ge0 => i _; exact: sqr_ge0.
have sq i : Rabs (a i) ^+ 2 = a i * a i by rewrite expr2 -RmultE -Rabs_mult Rabs_pos_eq//; exact: Rle_0_sqr.
have E : \sum_(i < n.+1) (Rabs (a i) * N - s) ^+ 2 = N * (N * q - s ^+ 2).
  transitivity (\sum_(i < n.+1) (N ^+ 2 * (a i * a i) - (N * s *+ 2) * Rabs (a i) + s ^+ 2)).
    apply: eq_bigr => i _; rewrite sqrrB exprMn sq [_ * N ^+ 2]mulrC; congr (_ - _ + _).
    by rewrite [Rabs (a i) * N]mulrC -mulrA [Rabs (a i) * s]mulrC mulrA mulrnAl.
  rewrite big_split/= sumrB -!mulr_sumr -/q -/s sumr_const card_ord -[s *+ n.+1]mulr_natl -[N * s *+ 2]mulr_natl -/N.
  change (Rplus (Rminus (Rmult (N ^+ 2) q) (Rmult (Rmult 2%:R (Rmult N s)) s)) (Rmult s (Rmult N s)) = Rmult N (Rminus (Rmult N q) (s ^+ 2))).
  have -> : (2%:R : RR) = IZR 2 by rewrite -natural_number_2.
  by rewrite !expr2; change (Rplus (Rminus (Rmult (Rmult N N) q) (Rmult (Rmult (IZR 2) (Rmult N s)) s)) (Rmult s (Rmult N s)) = Rmult N (Rminus (Rmult N q) (Rmult s s))); ring.
by rewrite E pmulr_rge0// subr_ge0.
Qed.

Lemma holds_noise_of_coordinates_in_l2 n density rate D eps : Rle 0 D -> Rle 0 rate -> (forall r, Rle 0 (density r)) ->
  (forall t, Rle 0 t -> loses line density t (Rmult rate t)) -> Rle (Rmult rate (Rmult (R_sqrt.sqrt (INR n)) D)) eps ->
  holds (noise_of_coordinates_in_l2 n density D) eps.
Proof.
move=> D0 r0 d0 H De X N d Y M [mu [place [answer [mass [m0 noise ND]]]]].
have far x x' : N x x' -> Rle (norm1 (answer x - answer x')) (Rmult (R_sqrt.sqrt (INR n)) D).
  move=> /ND h; have l := l1_of_l2 (fun i => (answer x - answer x') ord0 i).
  apply: Rsqr_incr_0_var; last by apply: Rmult_le_pos => //; exact: sqrt_pos.
  rewrite Rsqr_mult Rsqr_sqrt; last exact: pos_INR.
  rewrite expr2 in l; have m := ler_wpmul2l (ler0n RR n) h.
  by rewrite /Rsqr natural_number; apply/RleP; exact: le_trans l m.
have := replay_product m0 r0 d0 H De noise; apply: dp_in_order_fewer => x x'.
by case=> /far; [left | right].
Qed.

(* -- One after the other on the same data -- *)

Definition given (X : Type) d1 (T : measurableType d1) d2 (U : measurableType d2) (k : X -> T -> {measure set U -> \bar RR})
  (mk : forall x, markov (k x)) (y : T) : mechanism RR X U := Mechanism (fun x => (mk x).1 y).

(* Each part may be chosen after the outputs of those before it: whatever they are, the next is as described. *)
Inductive in_turn (X : Type) (N : relation X) : seq described -> forall d (Y : measurableType d), mechanism RR X Y -> Prop :=
| TheFirst (P : described) d (Y : measurableType d) (M : mechanism RR X Y) : P X N d Y M -> in_turn N [:: P] M
| TheNext (parts : seq described) (P : described) d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism RR X T)
    (k : X -> T -> {measure set U -> \bar RR}) (mk : forall x, markov (k x)) :
    in_turn N parts M -> (forall y, P X N d2 U (given mk y)) -> in_turn N (rcons parts P) (composed M mk).

Definition one_after_the_other (parts : seq described) : described := fun X N d Y M => in_turn N parts M.

(* The epsilons of the parts add up to a number. *)
Inductive add_up : seq described -> R -> Prop :=
| NoParts : add_up [::] (IZR 0)
| OnePartMore P parts e s : holds P e -> add_up parts s -> add_up (P :: parts) (Rplus e s).

Lemma add_up_rcons parts P s : add_up (rcons parts P) s -> exists e t, [/\ add_up parts t, holds P e & s = Rplus t e].
Proof.
elim: parts s => [|Q parts IH] s /= H; inversion H as [|Q' l e t hQ ht E1 E2]; subst.
- inversion ht; subst; exists e, (IZR 0); split; [exact: NoParts | exact: hQ | by rewrite Rplus_comm].
- have [e' [t' [h1 h2 ->]]] := IH _ ht; exists e', (Rplus e t'); split; [exact: OnePartMore | exact: h2 | by rewrite Rplus_assoc].
Qed.

Lemma add_up_times P e k r : INR k = r -> holds P e -> add_up (nseq k P) (Rmult r e).
Proof.
move=> <- H; elim: k => [|k IH]; first by rewrite Rmult_0_l; exact: NoParts.
have -> : Rmult (INR k.+1) e = Rplus e (Rmult (INR k) e) by rewrite S_INR; ring.
exact: OnePartMore.
Qed.

Lemma add_up_cat l l' s s' : add_up l s -> add_up l' s' -> add_up (l ++ l') (Rplus s s').
Proof.
move=> H H'; elim: H => [|P parts e t hP _ IH] /=; first by rewrite Rplus_0_l.
by rewrite Rplus_assoc; exact: OnePartMore.
Qed.

Theorem holds_one_after_the_other parts s : add_up parts s -> holds (one_after_the_other parts) s.
Proof.
move=> H X N d Y M run; elim: run s H => {parts d Y M} [P d Y M PM|parts P d1 T d2 U M k mk _ IH PM] s H.
- inversion H as [|Q l e t hP ht E1 E2]; subst; inversion ht; subst.
  by rewrite Rplus_0_r; exact: hP.
- have [e [t [ht he ->]]] := add_up_rcons H; have part y z z' : both N z z' -> close e 0 (k z y) (k z' y) by exact: he (PM y) z z'.
  by have := composition_of_two mk (IH _ ht) part; rewrite addr0.
Qed.

(* -- Groups of k records: neighbours of the whole are joined by at most k steps between those of the part -- *)

(* What follows is said of all neighbours of some kind, and so of fewer: the whole may stand beside a part whose neighbours are others. *)
Inductive group_of (k : nat) (P : described) : described :=
| GroupOf X (N N1 : relation X) d (Y : measurableType d) (M : mechanism RR X Y) :
    P X N1 d Y M -> (forall x x', N x x' -> exists2 j, leq j k & joined (both N1) j x x') -> group_of k P N M.

Theorem holds_group_of k P eps r : INR k = r -> Rle 0 eps -> holds P eps -> holds (group_of k P) (Rmult r eps).
Proof.
move=> <- /RleP e0 H X N d Y M GM; case: GM => {X N d Y M} X N N1 d Y M PM NN; rewrite RmultE natural_number.
have few j : leq j k -> pure_dp (joined (both N1) j) M (k%:R * eps).
  by move=> jk; apply: pure_dp_monotone (pure_group_privacy (H _ _ _ _ _ PM)); rewrite ler_wpmul2r// ler_nat.
by move=> x x' [/NN|/NN] [j /few jk xx]; apply: jk; [left | right].
Qed.

(* -- Parts on disjoint data: a record is in the data of one of them -- *)

Inductive side_by_side (P Q : described) : described :=
| SideBySide X (N : relation X) X1 (N1 : relation X1) d1 (T : measurableType d1) (M1 : mechanism RR X1 T) X2 (N2 : relation X2) d2
    (U : measurableType d2) (M2 : mechanism RR X2 U) (split : X -> X1 * X2) (M : mechanism RR X (T * U)%type) :
    P X1 N1 d1 T M1 -> Q X2 N2 d2 U M2 -> (forall x, M x = parallel M1 M2 (split x) :> (set (T * U) -> \bar RR)) ->
    (forall x x', N x x' -> both (in_one_part N1 N2) (split x) (split x')) -> side_by_side P Q N M.

Theorem holds_side_by_side P Q eps : Rle 0 eps -> holds P eps -> holds Q eps -> holds (side_by_side P Q) eps.
Proof.
move=> /RleP e0 HP HQ X N d Y M S; case: S => {X N d Y M} X N X1 N1 d1 T M1 X2 N2 d2 U M2 split M PM QM Msplit NN.
have H := @parallel_in_order _ _ _ _ _ _ _ M1 M2 (both N1) (both N2) eps 0 e0 (lexx 0) (HP _ _ _ _ _ PM) (HQ _ _ _ _ _ QM).
move=> x x' xx S mS; rewrite !Msplit; apply: H => //; apply: both_in_one_part.
by case: xx => /NN //; exact: bothC.
Qed.

(* -- A sample of the records, each in it with probability p -- *)

Inductive on_sample (p : R) (P : described) : described :=
| OnSample (I : finType) d (T : measurableType d) (M K : mechanism RR {set I} T) X (N : relation X) (records : X -> {set I})
    (L : mechanism RR X T) :
    P {set I} (@one_record_more I) d T M -> on_a_sample M K p -> (forall x, L x = K (records x) :> (set T -> \bar RR)) ->
    (forall x x', N x x' -> both (@one_record_more I) (records x) (records x')) -> on_sample p P N L.

Theorem holds_on_sample p P eps : Rle 0 p -> Rle p 1 -> Rle 0 eps -> holds P eps ->
  holds (on_sample p P) (Rpower.ln (Rplus 1 (Rmult p (Rminus (Rtrigo_def.exp eps) 1)))).
Proof.
move=> /RleP p0 /RleP p1 /RleP e0 H X N d Y L S; case: S => {X N d Y L} I d T M K X N records L PM KM LK NN.
have := poisson_subsampling p0 p1 KM e0 (H _ _ _ _ _ PM); rewrite mulr0 => HK.
suff -> : Rpower.ln (Rplus 1 (Rmult p (Rminus (Rtrigo_def.exp eps) 1))) = exp.ln (1 + p * (expR eps - 1)).
  move=> x x' xx S mS; rewrite !LK; apply: HK => //.
  by case: xx => /NN //; exact: bothC.
have pos : 0 < 1 + p * (expR eps - 1) by exact: mix_gt0.
rewrite exp_expR; apply: (@expR_inj RR); rewrite lnK ?posrE//.
by rewrite -exp_expR Rpower.exp_ln//; apply/RltP.
Qed.

(* No more than without the sample. *)
Theorem holds_on_sample_as_without p P eps : Rle 0 p -> Rle p 1 -> Rle 0 eps -> holds P eps -> holds (on_sample p P) eps.
Proof.
move=> p0 p1 e0 H; apply: holds_le (holds_on_sample p0 p1 e0 H) _.
have e1 : Rle 1 (Rtrigo_def.exp eps).
  by rewrite -exp_0; case: e0 => [lt | <-]; [left; exact: exp_increasing | exact: Rle_refl].
have q0 : Rle 0 (Rmult p (Rminus (Rtrigo_def.exp eps) 1)) by apply: Rmult_le_pos => //; move: e1; lra.
have q1 : Rle (Rmult p (Rminus (Rtrigo_def.exp eps) 1)) (Rmult 1 (Rminus (Rtrigo_def.exp eps) 1)).
  by apply: Rmult_le_compat_r => //; move: e1; lra.
rewrite -[X in Rle _ X]ln_exp; apply: ln_le_compat; move: q0 q1; lra.
Qed.

(* What is said of some neighbours is said of fewer: so no description of these three kinds stands in the way of another beside it. *)
Lemma group_of_fewer k P X (N N' : relation X) d (Y : measurableType d) (M : mechanism RR X Y) :
  (forall x x', N' x x' -> N x x') -> group_of k P N M -> group_of k P N' M.
Proof. by move=> sub G; case: G N' sub => {X N d Y M} X N N1 d Y M PM NN N' sub; apply: GroupOf PM _ => x x' /sub /NN. Qed.

Lemma side_by_side_fewer P Q X (N N' : relation X) d (Y : measurableType d) (M : mechanism RR X Y) :
  (forall x x', N' x x' -> N x x') -> side_by_side P Q N M -> side_by_side P Q N' M.
Proof.
move=> sub S; case: S N' sub => {X N d Y M} X N X1 N1 d1 T M1 X2 N2 d2 U M2 split M PM QM Msplit NN N' sub.
by apply: SideBySide PM QM Msplit _ => x x' /sub /NN.
Qed.

Lemma on_sample_fewer p P X (N N' : relation X) d (Y : measurableType d) (M : mechanism RR X Y) :
  (forall x x', N' x x' -> N x x') -> on_sample p P N M -> on_sample p P N' M.
Proof.
move=> sub S; case: S N' sub => {X N d Y M} I d T M K X N records L PM KM LK NN N' sub.
by apply: OnSample PM KM LK _ => x x' /sub /NN.
Qed.

(* A sample beside a group: one record more is one step, so there is such a mechanism wherever there is one of each. *)
Lemma sample_beside_group (p : R) (P Q : described) (I : finType) d1 (T : measurableType d1) (M K : mechanism RR {set I} T) d2 (U : measurableType d2)
    (k : {set I} -> T -> {measure set U -> \bar RR}) (mk : forall x, markov (k x)) :
  P {set I} (@one_record_more I) d1 T M -> on_a_sample M K p -> (forall y, Q {set I} (@one_record_more I) d2 U (given mk y)) ->
  one_after_the_other ([:: on_sample p P; group_of 1 Q]) (@one_record_more I) (composed K mk).
Proof.
move=> PM KM Qk; have -> : [:: on_sample p P; group_of 1 Q] = rcons [:: on_sample p P] (group_of 1 Q) by [].
apply: TheNext => [|y].
- by apply: TheFirst; refine (@OnSample p P I d1 T M K {set I} (@one_record_more I) (fun D => D) K PM KM _ _) => // x x'; left.
- by apply: GroupOf (Qk y) _ => x x' xx; exists 1%N => //; exists x' => //; left.
Qed.

(* -- A map of the output, which may be random -- *)

Inductive seen_through_a_map (P : described) : described :=
| SeenThrough X (N : relation X) d1 (T : measurableType d1) d2 (U : measurableType d2) (M : mechanism RR X T)
    (k : T -> {measure set U -> \bar RR}) (mk : markov k) : P X N d1 T M -> seen_through_a_map P N (post_processed M mk).

Theorem holds_seen_through_a_map P eps : holds P eps -> holds (seen_through_a_map P) eps.
Proof.
move=> H X N d Y M S; case: S => {X N d Y M} X N d1 T d2 U M k mk PM.
exact: (post_processing (N := both N) mk (H _ _ _ _ _ PM)).
Qed.

(* The number of times as a real one. *)
Ltac natural := rewrite INR_IZR_INZ; reflexivity.

(* Neighbours of several kinds: what is private for each is private for all. *)
Definition either (X : Type) (N N' : relation X) : relation X := fun x x' => N x x' \/ N' x x'.

Lemma pure_either (X : Type) (N N' : relation X) d (Y : measurableType d) (M : mechanism RR X Y) eps :
  pure_dp N M eps -> pure_dp N' M eps -> pure_dp (either N N') M eps.
Proof. by move=> H H' x x' [[xx|xx]|[xx|xx]]; [apply: H; left | apply: H'; left | apply: H; right | apply: H'; right]. Qed.
