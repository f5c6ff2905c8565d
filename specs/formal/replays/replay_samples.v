(* Samples of a fixed fraction of the records, as replayed certificates describe them. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import Rstruct.
From Coq Require Import Reals Lra.
From dpverify Require Import definitions density losses tactics replay replay_parts without_replacement.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* One record is replaced, and what the data hold is not the same then. *)
Definition replaced_by_another (A : eqType) : relation (seq A) := fun s s' => replaced s s' /\ ~~ perm_eq s s'.

(* A sample of m of the n records, all of them alike, m = p n; neighbours by replacing a record. The part does not look at the order of the
   sampled records. What is said of neighbours is said of fewer, so that the whole may stand beside a part whose neighbours are others. *)
Inductive on_fraction (p : R) (P : described) : described :=
| OnFraction (I : finType) (A : eqType) d (T : measurableType d) (m : nat) (M : mechanism RR (seq A) T) (K : mechanism RR (I -> A) T)
    X (N : relation X) (records : X -> I -> A) (L : mechanism RR X T) :
    leq 1%nat m -> leq m #|I| -> INR m = Rmult p (INR #|I|) ->
    P (seq A) (@replaced_by_another A) d T M -> (forall s s', perm_eq s s' -> M s = M s' :> (set T -> \bar RR)) -> on_a_subset m M K ->
    (forall x, L x = K (records x) :> (set T -> \bar RR)) -> (forall x x', N x x' -> one_replaced (records x) (records x')) ->
    on_fraction p P N L.

Lemma on_fraction_fewer p P X (N N' : relation X) d (Y : measurableType d) (M : mechanism RR X Y) :
  (forall x x', N' x x' -> N x x') -> on_fraction p P N M -> on_fraction p P N' M.
Proof.
move=> sub S; case: S N' sub => {X N d Y M} I A d T m M K X N records L m0 mn fraction PM Mp KM LK NN N' sub.
by apply: OnFraction m0 mn fraction PM Mp KM LK _ => x x' /sub /NN.
Qed.

Theorem holds_on_fraction p P eps : Rle 0 eps -> holds P eps ->
  holds (on_fraction p P) (Rpower.ln (Rplus 1 (Rmult p (Rminus (Rtrigo_def.exp eps) 1)))).
Proof.
move=> /RleP e0 H X N d Y L S; case: S => {X N d Y L} I A d T m M K X N records L m0 mn fraction PM Mp KM LK NN.
have HM : pure_dp (@replaced A) M eps.
  move=> s s' ss S mS; have [same|other] := boolP (perm_eq s s').
    by rewrite (Mp _ _ same); exact: close_refl e0 _ mS.
  apply: (H _ _ _ _ _ PM) => //; case: ss => ss; [left | right]; split=> //.
  by rewrite perm_sym.
have n0 : 0 < (#|I|)%:R :> RR by rewrite ltr0n (leq_trans m0).
have pE : m%:R / (#|I|)%:R = p :> RR.
  by move: fraction; rewrite !natural_number => ->; rewrite RmultE mulfK// gt_eqF.
have := sampled_without_replacement m0 mn KM e0 HM; rewrite pE => HK.
suff -> : Rpower.ln (Rplus 1 (Rmult p (Rminus (Rtrigo_def.exp eps) 1))) = exp.ln (1 + p * (expR eps - 1)).
  move=> x x' xx S mS; rewrite !LK; apply: HK => //.
  by case: xx => /NN; [left | right].
have p0 : 0 <= p by rewrite -pE divr_ge0.
have e1 : 0 <= expR eps - 1 :> RR by rewrite subr_ge0 -[leLHS](@exp.expR0 RR) ler_expR.
have pos : 0 < 1 + p * (expR eps - 1) by rewrite ltr_paddr// mulr_ge0.
rewrite exp_expR; apply: (@expR_inj RR); rewrite lnK ?posrE//.
by rewrite -exp_expR Rpower.exp_ln//; apply/RltP.
Qed.
