(* Claims about one order of neighbours, as replayed certificates state them: the first input against the second, and not the other way round. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra.
From dpverify Require Import definitions density additive losses tactics replay.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

(* The first row of each pair is at most e^eps times the second. *)
Fixpoint pairs_one_way (eps : R) (table : list (list R)) (pairs : list (nat * nat)) : Prop :=
  match pairs with
  | nil => True
  | cons (x, x') rest => (lt x (List.length table) /\ lt x' (List.length table)) /\
      row_below eps (row_of table x) (row_of table x') /\ pairs_one_way eps table rest
  end.

Theorem replay_table_one_way (shown : measure_display) (Outputs : measurableType shown) (M : mechanism RR nat Outputs) (point : nat -> Outputs)
    (table : list (list R)) (pairs : list (nat * nat)) (eps : R) :
  has_rows M point table -> pairs_one_way eps table pairs -> dp_in_order (listed pairs) M eps 0.
Proof.
move=> Mt H x x' xx S mS; rewrite adde0.
suff [[lx lx'] le] : (lt x (List.length table) /\ lt x' (List.length table)) /\ row_below eps (row_of table x) (row_of table x').
  by rewrite !Mt// -EFinM lee_fin -exp_expR; apply/RleP; exact: row_below_mass.
elim: pairs H xx => //= -[a b] rest IH [ab [le /IH H]] [[<- <-]|]; [by split | exact: H].
Qed.

Ltac rows_one_way := cbn [pairs_one_way row_below row_of List.nth List.length]; spread.

(* Noise on the line that is never below 0, where the answer of the first input is the greater one, by at most D. *)
Definition from_0 (g : R -> R) (z : R) : R := if Rle_dec 0 z then g z else IZR 0.

Section Noise.
Context (shown : measure_display) (Outputs : measurableType shown) (mu : measure_on Outputs) (place : Outputs -> [lmodType RR of RR^o]).
Context (Inputs : Type) (M : mechanism RR Inputs Outputs) (answer : Inputs -> [lmodType RR of RR^o]).

Definition greater_by_at_most (D : R) : relation Inputs :=
  fun x x' => Rle 0 (Rminus (answer x) (answer x')) /\ Rle (Rminus (answer x) (answer x')) D.

Theorem replay_one_way (g : R -> R) (mass D eps : R) : Rlt 0 mass -> (forall z, half_line z -> Rle 0 (g z)) -> loses half_line g D eps ->
  adds_noise mu place M answer (fun z => Rdiv (from_0 g z) mass) -> dp_in_order (greater_by_at_most D) M eps 0.
Proof.
move=> m0 g0 H noise x x' [s0 sD]; apply: (close_of_ratio (noise x) (noise x')); exists set0; split=> // y /= nle; case: nle.
rewrite -exp_expR; apply/RleP; apply: divided_le => //.
set a := place y - answer x; set b := place y - answer x'; rewrite /from_0.
have ba : Rminus b a = Rminus (answer x) (answer x') by rewrite /a /b !RminusE opprB addrC addrA subrK.
have e0 := exp_pos eps.
case: (Rle_dec 0 a) => a0; last first.
  case: (Rle_dec 0 b) => b0; last by rewrite Rmult_0_r; exact: Rle_refl.
  by apply: Rmult_le_pos; [left | exact: g0].
have b0 : Rle 0 b by move: ba s0 a0; rewrite -/b -/a; lra.
case: (Rle_dec 0 b) => // {}b0; apply: H => //.
by apply/Rabs_le; move: ba s0 sD; lra.
Qed.
End Noise.
