(* A bound on epsilon is at most what is claimed, by an identity of polynomials (docs/theory/densities.md, Positivstellensatz): the difference
   is a quotient, and its numerator, times a sum of products that is at least 1, is a sum of products that is at least 0. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic modulus_rules hyperbolic.

(* -- Functions that rise, each where it is defined -- *)
Section Rising.
Context (R : realType).
Implicit Types (x y : R).

Inductive function := Log | Exp | Asinh | Sinh | Atanh | Tanh.

Definition defined_at (f : function) x : Prop :=
  match f with Log => 0 < x | Atanh => -1 < x < 1 | _ => True end.

Definition value (f : function) x : R :=
  match f with
  | Log => ln x | Exp => expR x | Asinh => asinh x | Sinh => (expR x - expR (- x)) / 2
  | Atanh => ln ((1 + x) / (1 - x)) / 2 | Tanh => (expR x - expR (- x)) / (expR x + expR (- x))
  end.

Lemma sinh_rises x y : x <= y -> expR x - expR (- x) <= expR y - expR (- y).
Proof.
move=> xy; have h1 : expR x <= expR y by rewrite ler_expR.
have h2 : expR (- y) <= expR (- x) by rewrite ler_expR ler_opp2.
lra.
Qed.

Lemma function_rises f x y : defined_at f x -> defined_at f y -> x <= y -> value f x <= value f y.
Proof.
case: f => /=.
- by move=> x0 y0 xy; rewrite ler_ln ?posrE.
- by move=> _ _; rewrite ler_expR.
- by move=> _ _; exact: asinh_rises.
- by move=> _ _ /sinh_rises h; rewrite ler_pmul2r// invr_gt0.
- move=> /andP[x1 x2] /andP[y1 y2] xy; rewrite ler_pmul2r ?invr_gt0// ler_ln ?posrE; try (by apply: divr_gt0; lra).
  rewrite ler_pdivr_mulr; last lra.
  rewrite mulrAC ler_pdivl_mulr; last lra.
  lra.
- move=> _ _ xy; have s := sinh_rises xy.
  have [ex ey] := (expR_gt0 x, expR_gt0 y); have [nx ny] := (expR_gt0 (- x), expR_gt0 (- y)).
  rewrite ler_pdivr_mulr ?addr_gt0// mulrAC ler_pdivl_mulr ?addr_gt0//.
  have h1 : expR x * expR (- y) <= expR y * expR (- x) by rewrite -!expRD ler_expR; lra.
  lra.
Qed.

(* Several, one after the other. *)
Definition chain (fs : seq function) x : R := foldr value x fs.
Fixpoint chain_defined (fs : seq function) x : Prop :=
  if fs is f :: s then chain_defined s x /\ defined_at f (chain s x) else True.

Lemma chain_rises fs x y : chain_defined fs x -> chain_defined fs y -> x <= y -> chain fs x <= chain fs y.
Proof.
elim: fs => //= f s IH [dx fx] [dy fy] xy; apply: function_rises => //; exact: IH.
Qed.
End Rising.

(* -- Sums of weighted squares times constraints -- *)
Section Sums.
Context (R : realType) (E : Type).

(* E are the values of the variables: parameters, and the roots and functions of them that are taken as opaque. *)
Record summand := Summand { weight : R; root : E -> R; constraints : seq (E -> R) }.
Definition total (s : seq summand) (e : E) : R :=
  \sum_(t <- s) weight t * root t e ^+ 2 * \prod_(g <- constraints t) g e.

(* Weights are at least 0, and so are the constraints at e. *)
Fixpoint all_at_least_0 (gs : seq (E -> R)) e : Prop := if gs is g :: s then 0 <= g e /\ all_at_least_0 s e else True.
Fixpoint fair (s : seq summand) e : Prop :=
  if s is t :: s' then [/\ 0 <= weight t, all_at_least_0 (constraints t) e & fair s' e] else True.

Lemma total_ge0 s e : fair s e -> 0 <= total s e.
Proof.
rewrite /total; elim: s => [_|t s IH [w0 g0 /IH h]]; first by rewrite big_nil.
rewrite big_cons addr_ge0//; apply: mulr_ge0; first by rewrite mulr_ge0// sqr_ge0.
by elim: (constraints t) g0 => [_|g gs IHg [h1 /IHg h2]]; [rewrite big_nil ler01 | rewrite big_cons mulr_ge0].
Qed.

Context (X : Type) (N : definitions.relation X) d (Y : measurableType d).
Variables (Theta : Type) (domain : set Theta) (M : Theta -> mechanism R X Y) (delta : R).
(* The bound U that another rule proves and the claimed V, without the rising functions that both are values of. *)
Variables (U V : Theta -> R) (fs : seq function) (at_ : Theta -> E) (num den : E -> R) (multiplier terms : seq summand).
Hypothesis defined : forall p, domain p -> chain_defined fs (U p) /\ chain_defined fs (V p).
Hypothesis difference : forall p, domain p -> V p - U p = num (at_ p) / den (at_ p) /\ 0 < den (at_ p).
Hypothesis sums : forall p, domain p -> fair multiplier (at_ p) /\ fair terms (at_ p).
(* What is multiplied out, in independent variables. *)
Hypothesis identity : forall e, num e * (1 + total multiplier e) = total terms e.

(* Rule: positivstellensatz, upper. *)
Theorem positivstellensatz : (forall p, domain p -> (tight_epsilon N (M p) delta <= (chain fs (U p))%:E)%E) ->
  forall p, domain p -> (tight_epsilon N (M p) delta <= (chain fs (V p))%:E)%E.
Proof.
move=> bound p Dp; apply: le_trans (bound p Dp) _; rewrite lee_fin.
have [du dv] := defined Dp; apply: chain_rises => //.
have [e den0] := difference Dp; rewrite -subr_ge0 e divr_ge0 ?(ltW den0)//.
have [fm ft] := sums Dp; have S0 : 0 < 1 + total multiplier (at_ p) by rewrite ltr_spaddl// total_ge0.
by rewrite -(pmulr_lge0 _ S0) identity total_ge0.
Qed.
End Sums.
