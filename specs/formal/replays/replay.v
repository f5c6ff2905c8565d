(* From theorems about any real numbers to claims about Coq's own. The exponentials, the order and the arithmetic are the same, so that
   what the claim of a certificate says follows from bounds that `interval`, `field` and `lra` decide. Theorems over Coq's real numbers
   rest on the axioms of its library Reals beside the three of MathComp Analysis. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Import Rcomplements.
From dpverify Require Import definitions density norms additive losses tactics.
Import Order.TTheory GRing.Theory Num.Theory. Import numFieldNormedType.Exports.
Local Open Scope classical_set_scope. Local Open Scope ring_scope.

Notation RR := (real_realType).

(* -- One exponential -- *)

Lemma fact_factorial n : fact n = n`!.
Proof. by elim: n => //= n ->; rewrite factS mulSn. Qed.

Lemma sum_series (u : nat -> R) n : sum_f_R0 u n = series u n.+1.
Proof.
rewrite /series /=; elim: n => [|n IH]; first by rewrite big_mkord big_ord_recl big_ord0 addr0.
by rewrite big_nat_recr //= -IH.
Qed.

Lemma exp_expR (x : R) : Rtrigo_def.exp x = @expR RR x.
Proof.
have H : (series (@exp_coeff RR x) @ \oo --> (Rtrigo_def.exp x : RR)).
  rewrite -cvg_shiftS; apply/cvgrPdist_lt => e e0.
  rewrite /Rtrigo_def.exp; case: exist_exp => l /= H.
  have /RltP e0' := e0.
  have [N HN] := H e (Rlt_gt _ _ e0').
  exists N => //= n Nn.
  have := HN n (elimT ssrnat.leP Nn); rewrite /R_dist => /RltP.
  rewrite sum_series distrC => lt.
  suff -> : series (exp_coeff x) n.+1 = series (fun i : nat => (/ INR (fact i) * x ^ i)%R) n.+1 :> R by exact: lt.
  rewrite /series /=; apply: eq_bigr => i _.
  rewrite /exp_coeff INRE fact_factorial RpowE RinvE; last by rewrite pnatr_eq0 -lt0n fact_gt0.
  by rewrite RmultE [RHS]mulrC.
by rewrite -(cvg_lim _ H).
Qed.

(* -- Losses -- *)

(* A density that falls by at most the factor e^eps between points of A at distance at most D. *)
Definition loses (A : R -> Prop) (g : R -> R) (D eps : R) :=
  forall a b, A a -> A b -> Rle (Rabs (Rminus a b)) D -> Rle (g a) (Rmult (Rtrigo_def.exp eps) (g b)).

Lemma loses_of_moves (A : R -> Prop) (h g : R -> R) D D' m eps :
  moves A h D' m -> Rle D D' -> (forall r, A r -> g r = Rtrigo_def.exp (Ropp (h r))) -> Rle m eps -> loses A g D eps.
Proof.
move=> H DD gE me a b Aa Ab ab; rewrite !gE // -exp_plus.
have := H a b Aa Ab (Rle_trans _ _ _ ab DD) => H'.
have : Rle (Ropp (h a)) (Rplus eps (Ropp (h b))) by lra.
by case=> [lt | ->]; [left; exact: exp_increasing | right].
Qed.

Lemma divided_le (mass : R) (a b eps : R) : Rlt 0 mass -> Rle a (Rmult eps b) -> Rle (Rdiv a mass) (Rmult eps (Rdiv b mass)).
Proof.
move=> m0 ab; rewrite /Rdiv -Rmult_assoc; apply: Rmult_le_compat_r => //.
by left; exact: Rinv_0_lt_compat.
Qed.

(* -- Additive noise -- *)

Notation rows d := 'rV[RR]_(d%nat).
Notation measure_on Y := ({measure set Y -> \bar RR}%type).

Section Noise.
Context (V : lmodType RR) (shown : measure_display) (Outputs : measurableType shown) (mu : measure_on Outputs) (place : Outputs -> V).
Context (Inputs : Type) (M : mechanism RR Inputs Outputs) (answer : Inputs -> V).

(* Neighbours: their answers are at most D apart. *)
Definition within (norm : V -> R) (D : R) : relation Inputs := fun x x' => Rle (norm (answer x - answer x')) D.

(* Densities that keep to e^eps of each other at all outputs. *)
Lemma replay_densities (N : relation Inputs) (p : Inputs -> Outputs -> R) (eps : R) :
  (forall x, has_density mu (M x) (p x)) ->
  (forall x x' y, both N x x' -> Rle (p x y) (Rmult (Rtrigo_def.exp eps) (p x' y))) ->
  pure_dp N M eps.
Proof.
move=> Mp H; apply: (density_upper_everywhere Mp) => x x' y xx.
by rewrite -exp_expR; apply/RleP; exact: H.
Qed.

Theorem replay_radial (norm : V -> R) (profile : R -> R) (scale mass D eps : R) :
  seminorm norm -> Rlt 0 scale -> Rlt 0 mass -> loses half_line profile (Rdiv D scale) eps ->
  adds_noise mu place M answer (fun z => Rdiv (profile (Rdiv (norm z) scale)) mass) -> pure_dp (within norm D) M eps.
Proof.
move=> semi s0 m0 H Mp; apply: (replay_densities Mp) => x x' y xx.
have pos z : Rle 0 (Rdiv (norm z) scale).
  apply: Rmult_le_pos; last by left; exact: Rinv_0_lt_compat.
  by apply/RleP; exact: seminorm_ge0.
apply: divided_le => //; apply: H; [exact: pos | exact: pos |].
set u := norm _; set v := norm _.
have -> : Rminus (Rdiv u scale) (Rdiv v scale) = Rdiv (Rminus u v) scale by rewrite /Rdiv /Rminus; ring.
rewrite Rabs_div; last by move: s0; lra.
rewrite (Rabs_pos_eq scale); last by left.
apply: Rmult_le_compat_r; first by left; exact: Rinv_0_lt_compat.
have := seminorm_dist semi (place y - answer x) (place y - answer x') => /RleP/Rle_trans; apply.
have -> : place y - answer x - (place y - answer x') = answer x' - answer x.
  by rewrite opprB addrC addrA subrK.
by case: xx => [xx|//]; rewrite (seminormC semi).
Qed.
End Noise.

(* On the line: of any density, even or not. *)
Theorem replay_translation (shown : measure_display) (Outputs : measurableType shown) (mu : measure_on Outputs) (place : Outputs -> [lmodType RR of RR^o])
    (Inputs : Type) (M : mechanism RR Inputs Outputs) (answer : Inputs -> [lmodType RR of RR^o]) (density : R -> R) (mass D eps : R) (N : relation Inputs) :
  Rlt 0 mass -> loses line density D eps -> adds_noise mu place M answer (fun z => Rdiv (density z) mass) ->
  (forall x x', N x x' -> Rle (Rabs (Rminus (answer x) (answer x'))) D) -> pure_dp N M eps.
Proof.
move=> m0 H Mp ND; apply: (replay_densities Mp) => x x' y xx.
apply: divided_le => //; apply: H => //.
have -> : Rminus (place y - answer x) (place y - answer x') = Ropp (Rminus (answer x) (answer x')).
  by rewrite !RminusE RoppE opprB addrC addrA subrK opprB.
rewrite Rabs_Ropp; case: xx => [/ND//|/ND]; by rewrite Rabs_minus_sym.
Qed.

(* -- Finite tables -- *)

Local Open Scope ereal_scope.

(* How much of a row of probabilities lies in S, the outputs being the points point 0, point 1, ... *)
Fixpoint row_mass (T : Type) (row : list R) (point : nat -> T) (S : set T) : R :=
  match row with
  | nil => IZR 0
  | cons p rest => Rplus (if `[< S (point O) >] then p else IZR 0) (row_mass rest (fun y => point y.+1) S)
  end.

(* Each entry of a row is at most e^eps times that of another. *)
Fixpoint row_below (eps : R) (row row' : list R) : Prop :=
  match row, row' with
  | nil, nil => True
  | cons p rest, cons p' rest' => Rle p (Rmult (Rtrigo_def.exp eps) p') /\ row_below eps rest rest'
  | _, _ => False
  end.

Definition row_of (table : list (list R)) (x : nat) : list R := List.nth x table nil.

(* The mechanism answers on the input x with the point y with the probability that row x lists in place y. *)
Definition has_rows (shown : measure_display) (Outputs : measurableType shown) (M : mechanism RR nat Outputs) (point : nat -> Outputs)
  (table : list (list R)) := forall x S, measurable S -> lt x (List.length table) -> M x S = (row_mass (row_of table x) point S)%:E.

Fixpoint pairs_below (eps : R) (table : list (list R)) (pairs : list (nat * nat)) : Prop :=
  match pairs with
  | nil => True
  | cons (x, x') rest => (lt x (List.length table) /\ lt x' (List.length table)) /\
      (row_below eps (row_of table x) (row_of table x') /\ row_below eps (row_of table x') (row_of table x)) /\ pairs_below eps table rest
  end.

Definition listed (pairs : list (nat * nat)) : relation nat := fun x x' => List.In (x, x') pairs.

Lemma row_below_mass (T : Type) eps row row' (point : nat -> T) S :
  row_below eps row row' -> Rle (row_mass row point S) (Rmult (Rtrigo_def.exp eps) (row_mass row' point S)).
Proof.
elim: row row' point => [|p rest IH] [|p' rest'] point //=; first by move=> _; rewrite Rmult_0_r; exact: Rle_refl.
move=> [pp /(IH _ (fun y => point y.+1)) H]; rewrite Rmult_plus_distr_l; apply: Rplus_le_compat => //.
by case: ifP => _ //; rewrite Rmult_0_r; exact: Rle_refl.
Qed.

Theorem replay_table (shown : measure_display) (Outputs : measurableType shown) (M : mechanism RR nat Outputs) (point : nat -> Outputs)
    (table : list (list R)) (pairs : list (nat * nat)) (eps : R) :
  has_rows M point table -> pairs_below eps table pairs -> pure_dp (listed pairs) M eps.
Proof.
move=> Mt H.
have in_order x x' : List.In (x, x') pairs -> (lt x (List.length table) /\ lt x' (List.length table)) /\
    (row_below eps (row_of table x) (row_of table x') /\ row_below eps (row_of table x') (row_of table x)).
  elim: pairs H => //= -[a b] rest IH [ab [le /IH H]] [[<- <-]|]; [by split | exact: H].
move=> x x' xx S mS; rewrite adde0.
suff [[lx lx'] le] : (lt x (List.length table) /\ lt x' (List.length table)) /\ row_below eps (row_of table x) (row_of table x').
  by rewrite !Mt// -EFinM lee_fin -exp_expR; apply/RleP; exact: row_below_mass.
by case: xx => /in_order [[lx lx'] [h h']].
Qed.

(* The cells of a table, with what e^eps is; then each by itself. *)
Ltac rows_apart := cbn [pairs_below row_below row_of List.nth List.length]; spread.
Ltac cells := repeat match goal with |- _ /\ _ => split | |- True => exact I end; first [ lia | cell ].

(* A single cell as a lower bound, where the outputs are told apart. *)
Lemma row_mass_none (T : Type) row (point : nat -> T) (S : set T) : (forall y, ~ S (point y)) -> row_mass row point S = IZR 0.
Proof.
elim: row point => [|p rest IH] point none //=.
by rewrite asboolF; [rewrite Rplus_0_l; apply: IH => y; exact: none | exact: none].
Qed.

Lemma row_mass_point (T : Type) row (point : nat -> T) y : injective point -> row_mass row point [set point y]%classic = List.nth y row (IZR 0).
Proof.
elim: row point y => [|p rest IH] point y inj /=; first by case: y.
case: y => [|y].
- rewrite asboolT//= row_mass_none ?Rplus_0_r// => z /= /inj //.
- rewrite asboolF; last by move=> /= /inj.
  by rewrite Rplus_0_l (IH (fun z => point z.+1))// => a b /inj [].
Qed.

(* The outputs are told apart by events. *)
Definition told_apart (shown : measure_display) (Outputs : measurableType shown) (point : nat -> Outputs) :=
  injective point /\ forall z, measurable [set point z]%classic.

Theorem replay_table_lower (shown : measure_display) (Outputs : measurableType shown) (M : mechanism RR nat Outputs) (point : nat -> Outputs)
    (table : list (list R)) (pairs : list (nat * nat)) (x x' y : nat) (v : R) :
  has_rows M point table -> injective point -> (forall z, measurable [set point z]%classic) ->
  List.In (x, x') pairs \/ List.In (x', x) pairs -> lt x (List.length table) -> lt x' (List.length table) ->
  Rlt 0 (List.nth y (row_of table x') (IZR 0)) ->
  Rle (Rmult (Rtrigo_def.exp v) (List.nth y (row_of table x') (IZR 0))) (List.nth y (row_of table x) (IZR 0)) ->
  v%:E <= tight_epsilon (listed pairs) M 0.
Proof.
move=> Mt inj mp xx lx lx' q0 le; apply: tight_epsilon_lower => eps e0 /RltP ev /(_ x x' xx _ (mp y)).
rewrite adde0 !Mt// !row_mass_point// -EFinM lee_fin -exp_expR => /RleP le'.
have := Rmult_lt_compat_r _ _ _ q0 (exp_increasing _ _ ev) => lt.
by have := Rlt_irrefl _ (Rlt_le_trans _ _ _ lt (Rle_trans _ _ _ le le')).
Qed.

(* Between two bounds: private at the upper, and no epsilon below the lower will do. *)
Definition tight_between (X : Type) (shown : measure_display) (Outputs : measurableType shown) (N : relation X) (M : mechanism RR X Outputs)
  (low up : R) := pure_dp N M up /\ (low%:E <= tight_epsilon N M 0)%E.

(* -- Independent coordinates -- *)

Section Product.
Local Open Scope ring_scope.

Definition norm1 (d : nat) (z : rows d) : R := \sum_(i < d) Rabs (z ord0 i).
(* The density of independent coordinates, up to a constant factor. *)
Definition coordinates (density : R -> R) (d : nat) (z : rows d) : R := \prod_(i < d) density (z ord0 i).

Lemma shifted_distance (a c c' : RR) : Rabs (Rminus (a - c) (a - c')) = Rabs (c - c').
Proof.
change (Rabs (Rminus (Rminus a c) (Rminus a c')) = Rabs (Rminus c c')).
by rewrite Rabs_minus_sym; congr Rabs; rewrite /Rminus; ring.
Qed.

Lemma product_below (density : R -> R) (rate : R) (I : Type) (s : seq I) (a b : I -> R) :
  (forall r, Rle 0 (density r)) -> (forall x y, Rle (density x) (Rmult (Rtrigo_def.exp (Rmult rate (Rabs (Rminus x y)))) (density y))) ->
  Rle (\prod_(i <- s) density (a i)) (Rmult (Rtrigo_def.exp (Rmult rate (\sum_(i <- s) Rabs (Rminus (a i) (b i))))) (\prod_(i <- s) density (b i))).
Proof.
move=> d0 H; elim: s => [|i s IH].
  by rewrite !big_nil Rmult_0_r exp_0 Rmult_1_l; exact: Rle_refl.
have p0 (c : I -> R) : Rle 0 (\prod_(i <- s) density (c i)).
  by apply/RleP; apply: prodr_ge0 => j _; apply/RleP.
rewrite !big_cons -!RmultE -RplusE Rmult_plus_distr_l exp_plus.
apply: Rle_trans (Rmult_le_compat _ _ _ _ (d0 _) (p0 _) (H (a i) (b i)) IH) _.
by apply: Req_le; ring.
Qed.

Theorem replay_product (d : nat) (shown : measure_display) (Outputs : measurableType shown) (mu : measure_on Outputs)
    (place : Outputs -> rows d) (Inputs : Type) (M : mechanism RR Inputs Outputs) (answer : Inputs -> rows d) (density : R -> R)
    (rate mass D eps : R) :
  Rlt 0 mass -> Rle 0 rate -> (forall r, Rle 0 (density r)) -> (forall t, Rle 0 t -> loses line density t (Rmult rate t)) ->
  Rle (Rmult rate D) eps -> adds_noise mu place M answer (fun z => Rdiv (coordinates density z) mass) ->
  pure_dp (within answer (@norm1 d) D) M eps.
Proof.
move=> m0 r0 d0 H De Mp; apply: (replay_densities Mp) => x x' y xx.
apply: divided_le => //; rewrite /coordinates.
pose w : rows d := place y - answer x; pose w' : rows d := place y - answer x'.
apply: Rle_trans (product_below (rate := rate) (index_enum _) _ (fun i => w' ord0 i) d0 _) _.
  by move=> u v; apply: H => //; [exact: Rabs_pos | exact: Rle_refl].
apply: Rmult_le_compat_r; first by apply/RleP; apply: prodr_ge0 => i _; apply/RleP.
suff le : Rle (\sum_(i < d) Rabs (Rminus (w ord0 i) (w' ord0 i))) D.
  have : Rle (Rmult rate (\sum_(i < d) Rabs (Rminus (w ord0 i) (w' ord0 i)))) eps.
    by apply: Rle_trans De; apply: Rmult_le_compat_l.
  by case=> [lt | ->]; [left; exact: exp_increasing | exact: Rle_refl].
have sym a b : norm1 (answer a - answer b) = norm1 (answer b - answer a).
  by apply: eq_bigr => i _; rewrite !mxE -!RminusE Rabs_minus_sym.
have -> : \sum_(i < d) Rabs (Rminus (w ord0 i) (w' ord0 i)) = norm1 (answer x - answer x').
  by apply: eq_bigr => i _; rewrite /w /w' !mxE; exact: shifted_distance.
by case: xx => // xx; rewrite sym.
Qed.
End Product.

(* -- Lower bounds -- *)

Section Lower.
Local Open Scope ring_scope.

(* A function that is continuous in the sense of Coq's real numbers is so in that of MathComp's. *)
Lemma continuous_at_of (h : R -> R) (a : R) : continuity_pt h a -> @continuous_at_distance RR h a.
Proof.
move=> H s s0; have /RltP s0' := s0; have [r [r0 near]] := H s (Rlt_gt _ _ s0').
exists r; first by apply/RltP.
move=> x x0 xa; have [->|ne] := Req_EM_T x a.
  by rewrite subrr normr0.
apply/RltP; apply: near; split; first by split=> // /esym.
by apply/RltP.
Qed.

(* The answers on two inputs are exactly D apart. *)
Definition norm_of_difference (V : lmodType RR) (Inputs : Type) (norm : V -> R) (answer : Inputs -> V) (x x' : Inputs) (D : R) :=
  norm (answer x - answer x') = D.

(* Neighbours exactly D apart, and outputs at the distances a and a + D / scale from their answers: the loss there is a lower bound. *)
Theorem replay_radial_lower (V : lmodType RR) (shown : measure_display) (Outputs : measurableType shown) (mu : measure_on Outputs)
    (place : Outputs -> V) (Inputs : Type) (M : mechanism RR Inputs Outputs) (answer : Inputs -> V)
    (norm : V -> R) (profile h : R -> R) (scale mass D a v : R) (x x' : Inputs) :
  seminorm norm -> Rlt 0 scale -> Rlt 0 mass -> (forall r, Rle 0 r -> profile r = Rtrigo_def.exp (Ropp (h r))) ->
  adds_noise mu place M answer (fun z => Rdiv (profile (Rdiv (norm z) scale)) mass) -> (forall y, charged mu place norm y) ->
  norm_of_difference norm answer x x' D -> Rle 0 a -> continuity_pt h a -> continuity_pt h (Rplus a (Rdiv D scale)) ->
  Rle v (Rminus (h (Rplus a (Rdiv D scale))) (h a)) -> (v%:E <= tight_epsilon (within answer norm D) M 0)%E.
Proof.
move=> semi s0 m0 hE Mp ch xx a0 ca cb vle.
have s1 : (0 : RR) < scale by apply/RltP.
have s2 : scale != 0 by rewrite gt_eqF.
have c0 : (0 : RR) < Rinv mass by apply/RltP; exact: Rinv_0_lt_compat.
have noise : adds_noise mu place M answer (fun z => Rinv mass * expR (- h (norm z / scale))).
  move=> u; have := Mp u; congr has_density; apply/funext => y.
  rewrite -RdivE// -exp_expR hE; first by rewrite /Rdiv Rmult_comm.
  apply: Rmult_le_pos; last by left; exact: Rinv_0_lt_compat.
  by apply/RleP; exact: seminorm_ge0.
have D0 : Rle 0 D by rewrite -xx; apply/RleP; exact: seminorm_ge0.
have q0 : Rle 0 (Rdiv D scale) by apply: Rmult_le_pos => //; left; exact: Rinv_0_lt_compat.
have b0 : Rle 0 (Rplus a (Rdiv D scale)) by move: a0 q0; lra.
have near : both (within answer norm D) x x' by left; rewrite /within xx; exact: Rle_refl.
have := radial_lower (a := a) (b := Rplus a (Rdiv D scale)) semi s1 c0 noise near ch.
have -> : `|a - Rplus a (Rdiv D scale)| = norm (answer x - answer x') / scale.
  rewrite xx -RdivE//; change (Rabs (Rminus a (Rplus a (Rdiv D scale))) = Rdiv D scale).
  by rewrite Rabs_minus_sym Rabs_pos_eq; [ring | move: q0; lra].
move=> /(_ _ _ erefl (continuous_at_of ca) (continuous_at_of cb)) low.
apply: le_trans (low _ _); [by rewrite lee_fin; apply/RleP | by apply/RleP | by apply/RleP].
Qed.
End Lower.
