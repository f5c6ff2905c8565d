(* Errors on databases that are a few steps from one (docs/theory/necessary.md, lattice lower bound): what is put out on that one is near few of
   their answers, and it must be near each with no small probability. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic likelihood groups joint_moves error_chains error_grids contractions error_lines.

Section Crowd.
Context (R : realType) (X : Type) d (Z : measurableType d) (M : mechanism R X Z) (N : definitions.relation X) (eps : R).
Hypothesis priv : pure_dp N M eps.
(* Databases from which so many steps lead to the first one. *)
Context (I : finType) (first : X) (db : I -> X) (away : I -> nat).
Hypothesis steps : forall i, joined (both N) (away i) (db i) first.
Definition weight i : R := expR (- ((away i)%:R * eps)).

Lemma carried i S : measurable S -> ((weight i)%:E * M (db i) S <= M first S)%E.
Proof.
move=> mS; have := @group_in_order R X (both N) _ Z M eps 0 (away i) priv (db i) first (steps i) S mS.
rewrite mul0r adde0 => h.
have : ((weight i)%:E * M (db i) S <= (weight i)%:E * ((expR ((away i)%:R * eps))%:E * M first S))%E.
  by apply: lee_wpmul2l => //; rewrite lee_fin expR_ge0.
by rewrite muleA -EFinM -expRD addNr expR0 mul1e.
Qed.

(* A loss on each database, which is at least 0, and functions that reward what is near. *)
Context (loss : X -> Z -> R) (cap k : I -> R) (S e : R).
Hypotheses (mloss : forall x, measurable_fun setT (loss x)) (loss0 : forall x z, 0 <= loss x z) (k0 : forall i, 0 <= k i) (e0 : 0 <= e).
Hypothesis mean_loss : forall x, (\int[M x]_z (loss x z)%:E <= e%:E)%E.
Definition reward i z : R := Num.max 0 (cap i - loss (db i) z).
Hypothesis crowd : forall z, \sum_i k i * reward i z <= S.

Lemma measurable_reward i : measurable_fun setT (reward i).
Proof.
apply: measurable_fun_max; first exact: measurable_fun_cst.
by apply: measurable_funB => //; exact: measurable_fun_cst.
Qed.

Lemma reward_ge0 i z : 0 <= reward i z. Proof. by rewrite /reward le_maxr lexx. Qed.

Lemma mean_reward i : ((cap i - e)%:E <= \int[M (db i)]_z (reward i z)%:E)%E.
Proof.
have [c0|c0] := leP (cap i) 0.
  apply: (@le_trans _ _ 0%E); first by rewrite lee_fin; lra.
  by apply: integral_ge0 => z _; rewrite lee_fin reward_ge0.
rewrite EFinB lee_subl_addr//.
apply: (@le_trans _ _ (\int[M (db i)]_z (reward i z)%:E + \int[M (db i)]_z (loss (db i) z)%:E)%E); last by rewrite lee_add2l.
rewrite -ge0_integralD//; last 4 first.
- by move=> z _; rewrite lee_fin reward_ge0.
- by apply/EFin_measurable_fun; exact: measurable_reward.
- by move=> z _; rewrite lee_fin.
- exact/EFin_measurable_fun.
rewrite -[leLHS]mule1 -(law_total M (db i)) -integral_cst//; apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin ltW.
- exact: measurable_fun_cst.
- by move=> z _; rewrite -EFinD lee_fin addr_ge0// reward_ge0.
- by apply: emeasurable_funD; apply/EFin_measurable_fun; [exact: measurable_reward | exact: mloss].
- by move=> z _; rewrite -EFinD lee_fin -ler_subl_addr /reward le_maxr lexx orbT.
Qed.

Theorem crowd_loss : \sum_i k i * weight i * (cap i - e) <= S.
Proof.
rewrite -lee_fin; apply: (@le_trans _ _ (\int[M first]_z (\sum_i k i * reward i z)%:E)%E); last first.
  have S0 (z : Z) : 0 <= S by apply: le_trans (crowd z); apply: sumr_ge0 => i _; apply: mulr_ge0 => //; exact: reward_ge0.
  have mS : measurable_fun setT (fun z => (\sum_i k i * reward i z)%:E).
    apply/EFin_measurable_fun; apply: measurable_sum => i; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_reward].
  rewrite -[leRHS]mule1 -(law_total M first) -integral_cst//.
  have p1 z : setT z -> (0 <= (\sum_i k i * reward i z)%:E)%E.
    by move=> _; rewrite lee_fin sumr_ge0// => i _; rewrite mulr_ge0 ?reward_ge0.
  have p2 (z : Z) : setT z -> (0 <= S%:E)%E by move=> _; rewrite lee_fin (S0 z).
  have mc : measurable_fun setT (fun _ : Z => S%:E) by exact: measurable_fun_cst.
  by apply: ge0_le_integral => // z _; rewrite lee_fin.
under eq_integral do rewrite -sumEFin; rewrite ge0_integral_sum//; last 2 first.
- move=> i; apply/EFin_measurable_fun; apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_reward].
- by move=> i z _; rewrite lee_fin mulr_ge0 ?reward_ge0.
rewrite -sumEFin; apply: lee_sum => i _; rewrite integral_scaled//; [|exact: reward_ge0|exact: measurable_reward].
rewrite -mulrA EFinM; apply: lee_wpmul2l; first by rewrite lee_fin.
have w0 : 0 <= weight i by exact: expR_ge0.
have h := integral_smaller (@carried i) (measurable_reward i) (reward_ge0 i).
have low : ((weight i)%:E * (cap i - e)%:E <= (weight i)%:E * \int[M (db i)]_z (reward i z)%:E)%E.
  by apply: lee_wpmul2l; [rewrite lee_fin | exact: mean_reward].
rewrite EFinM; exact: le_trans low h.
Qed.
End Crowd.

(* -- Lengths and squares -- *)

(* The rule goes through the answers that are at most so many steps away, each with the number of its steps, and bounds from above, for all places, how
   near they are to it together. *)
Section Answers.
Context (R : realType) (X : Type) d (Z : measurableType d) (M : mechanism R X Z) (N : definitions.relation X) (eps : R).
Context (D : nat) (coordinate : 'I_D -> Z -> R) (answer : X -> 'I_D -> R).
Hypotheses (mcoordinate : forall i, measurable_fun setT (coordinate i)) (priv : pure_dp N M eps).
Context (I : finType) (first : X) (db : I -> X) (away : I -> nat) (r S : R).
Hypothesis steps : forall i, joined (both N) (away i) (db i) first.
Notation mass := (\sum_i weight eps away i).
Hypothesis mass0 : 0 < mass.

Let bound (loss : ('I_D -> R) -> R) (cap e : R) : (forall y, 0 <= loss y) -> (forall x, measurable_fun setT (fun z => loss (error coordinate answer x z))) ->
  0 <= e -> (forall x, (\int[M x]_z (loss (error coordinate answer x z))%:E <= e%:E)%E) ->
  (forall b : 'I_D -> R, \sum_i Num.max 0 (cap - loss (fun j => b j - answer (db i) j)) <= S) -> cap - S / mass <= e.
Proof.
move=> loss0 ml e0 most crowd.
have := @crowd_loss R X d Z M N eps priv I first db away steps (fun x z => loss (error coordinate answer x z)) (fun _ => cap) (fun _ => 1) S e ml
  (fun x z => loss0 _) (fun _ => ler01) e0 most.
have near z : \sum_i 1 * reward db (fun x z => loss (error coordinate answer x z)) (fun _ => cap) i z <= S.
  by under eq_bigr do rewrite mul1r; exact: (crowd (fun j => coordinate j z)).
move=> /(_ near); under eq_bigr do rewrite mul1r; rewrite -mulr_suml mulrC -ler_pdivl_mulr// => h; lra.
Qed.

(* Rule: lattice-lower-bound, in part: that the answers are so many steps away from one, as they are counted, and the bounds on S and S_2 for a
   lattice, are hypotheses; nor the form in which one answer counts by itself. *)
Theorem lattice_lower_bound :
  ((forall b : 'I_D -> R, \sum_i Num.max 0 (r - Num.sqrt (squares (fun j => b j - answer (db i) j))) <= S) ->
    ((r - S / mass)%:E <= worst_length M coordinate answer)%E) /\
  ((forall b : 'I_D -> R, \sum_i Num.max 0 (r ^+ 2 - squares (fun j => b j - answer (db i) j)) <= S) ->
    ((r ^+ 2 - S / mass)%:E <= worst_square M coordinate answer)%E).
Proof.
have X0 : inhabited X by exact: (inhabits first).
split=> crowd.
- apply: (below_worst X0) => [x|e e0 most]; first exact: length_ge0.
  apply: (@bound (fun y => Num.sqrt (squares y)) r e) => //.
  by move=> x; exact: measurable_length.
- apply: (below_worst X0) => [x|e e0 most]; first exact: square_ge0.
  apply: (@bound (fun y => squares y) (r ^+ 2) e) => //; first by move=> y; exact: squares_ge0.
  by move=> x; exact: measurable_squares.
Qed.
End Answers.
