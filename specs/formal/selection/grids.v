(* Grids of numbers: sets that hold the differences of their numbers, such as all numbers, or the integers. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions shift_costs.

Section Grid.
Context (R : realType) (grid : R -> Prop) (grid_sub : forall x y, grid x -> grid y -> grid (x - y)).

Lemma grid0 c : grid c -> grid 0. Proof. by move=> gc; rewrite -(subrr c); exact: grid_sub. Qed.
Lemma grid_opp c : grid c -> grid (- c). Proof. by move=> gc; rewrite -sub0r; apply: grid_sub => //; exact: grid0 gc. Qed.
Lemma grid_add c c' : grid c -> grid c' -> grid (c + c').
Proof. by move=> gc gc'; rewrite -[c']opprK; apply: grid_sub => //; exact: grid_opp. Qed.
End Grid.

(* All numbers, or the integers. *)
Section Whole.
Context (R : realType) (grid : R -> Prop) (grid_whole : (forall e, grid e) \/ grid = @whole R).

Lemma whole_sub x y : grid x -> grid y -> grid (x - y).
Proof. by case: grid_whole => [all_ _ _|-> gx gy]; [exact: all_ | apply: whole_add => //; exact: whole_opp]. Qed.
Lemma whole0 : grid 0.
Proof. by case: grid_whole => [all_|->]; [exact: all_ | exists 0]. Qed.
End Whole.
