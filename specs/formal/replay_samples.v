(* Samples of a fixed fraction of the records, as replayed certificates describe them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Import reals ereal signed topology normedtype sequences measure lebesgue_measure exp Rstruct.
From Coq Require Import Reals Lra.
From dpverify Require Import definitions density losses tactics replay replay_parts without_replacement.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* A sample of m of the n records, all of them alike, m = p n; neighbours by replacing a record. *)
Inductive on_fraction (p : R) (P : described) : described :=
| OnFraction (I : finType) (A : eqType) d (T : measurableType d) (m : nat) (M : mechanism RR (seq A) T) (K : mechanism RR (I -> A) T) :
    leq 1%nat m -> leq m #|I| -> INR m = Rmult p (INR #|I|) ->
    P (seq A) (@replaced A) d T M -> on_a_subset m M K -> on_fraction p P (@one_replaced I A) K.

Theorem holds_on_fraction p P eps : Rle 0 eps -> holds P eps ->
  holds (on_fraction p P) (Rpower.ln (Rplus 1 (Rmult p (Rminus (Rtrigo_def.exp eps) 1)))).
Proof.
move=> /RleP e0 H X N d Y M S; case: S => {X N d Y M} I A d T m M K m0 mn fraction PM KM.
have n0 : 0 < (#|I|)%:R :> RR by rewrite ltr0n (leq_trans m0).
have pE : m%:R / (#|I|)%:R = p :> RR.
  by move: fraction; rewrite !natural_number => ->; rewrite RmultE mulfK// gt_eqF.
have := sampled_without_replacement m0 mn KM e0 (H _ _ _ _ _ PM); rewrite pE.
suff -> : Rpower.ln (Rplus 1 (Rmult p (Rminus (Rtrigo_def.exp eps) 1))) = exp.ln (1 + p * (expR eps - 1)) by [].
have p0 : 0 <= p by rewrite -pE divr_ge0.
have e1 : 0 <= expR eps - 1 :> RR by rewrite subr_ge0 -[leLHS](@exp.expR0 RR) ler_expR.
have pos : 0 < 1 + p * (expR eps - 1) by rewrite ltr_paddr// mulr_ge0.
rewrite exp_expR; apply: (@expR_inj RR); rewrite lnK ?posrE//.
by rewrite -exp_expR Rpower.exp_ln//; apply/RltP.
Qed.
