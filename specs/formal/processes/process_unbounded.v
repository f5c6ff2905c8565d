(* Elliptical noise on functions is never purely private (docs/theory/additive.md, elliptical process unbounded; docs/theory/processes.md, differences
   unbounded): where V is seen to be at most a number, an output far out in a direction of the difference has any loss. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels composition mixtures curves pairs likelihood laplace_curve chain orthogonal_laws normal_line normal_tail average_events seen_variance.
Import numFieldNormedType.Exports.

Section Unbounded.
Context (R : realType) (law : R -> {measure set (line R) -> \bar R}) (c : R).
Hypothesis normal : normal_laws law c.
Notation Phi := (normal_cdf law).
Context (X : Type) (N : definitions.relation X) d1 (W : measurableType d1) d2 (Y : measurableType d2).
(* w is drawn by `mixing`, and shows V > 0 to nobody; dev w is scale sqrt(V). *)
Variables (mixing : {measure set W -> \bar R}) (k : X -> W -> {measure set Y -> \bar R}) (dev : W -> R).
Hypotheses (mixing1 : mixing setT = 1%E) (mk : forall x, markov (k x)) (dev0 : forall w, 0 < dev w) (mdev : measurable_fun setT dev).
Let M := mixture mixing1 mk.
Let k1 x w : k x w setT = 1%E. Proof. exact: (mk x).1. Qed.

(* The norm of the difference of the answers of x and x', the supremum of what functionals of variance 1 see of it, is at least D. *)
Definition norm_at_least (x x' : X) (D : R) := forall e, e < D -> exists f v v',
  [/\ functional law k dev x f v, functional law k dev x' f v' & e < v - v'].

Let common : exists2 b : R, 0 < b & (0 < mixing [set w | (dev w <= b)%R])%E.
Proof.
have mB n : measurable [set w | dev w <= n.+1%:R].
  rewrite (_ : [set w | _] = ~` [set w | n.+1%:R < dev w]); first by apply: measurableC; apply: measurable_where => //; exact: measurable_fun_cst.
  by apply/seteqP; split=> w /=; [rewrite leNgt => /negP | move/negP; rewrite -leNgt].
apply: contrapT => none; have zero n : mixing [set w | (dev w <= n.+1%:R)%R] = 0%E.
  apply: contrapT => pos; apply: none; exists n.+1%:R; first by rewrite ltr0n.
  by rewrite lt_neqAle measure_ge0 andbT eq_sym; apply/eqP.
have := countable_null mB zero; rewrite (_ : \bigcup_n _ = setT).
  by rewrite mixing1 => /eqP; rewrite onee_eq0.
apply/seteqP; split=> // w _; exists (Num.bound (dev w)) => //=.
apply: (@le_trans _ _ (Num.bound (dev w))%:R); first by apply/ltW/archi_boundP/ltW.
by rewrite ler_nat.
Qed.

Let too_much (eps : R) (P Q : \bar R) : P \is a fin_num -> Q \is a fin_num -> (0 <= Q)%E -> (P <= (expR eps)%:E * Q)%E ->
  ((expR (eps + 1))%:E * Q <= P)%E -> (0 < P)%E -> False.
Proof.
case: P Q => [p| |] [q| |]// _ _; rewrite -!EFinM !lee_fin lte_fin expRD => q0 le ratio pos.
have e1 : 2 <= expR (1 : R) by have := expR_ge1Dx (ler01 : 0 <= 1 :> R); lra.
have eq0 : 0 <= expR eps * q by rewrite mulr_ge0 ?expR_ge0.
have := ler_wpmul2l eq0 e1; move: ratio; rewrite mulrAC; lra.
Qed.

(* Rule: elliptical-process-unbounded, lower. *)
Theorem process_unbounded x x' D : both N x x' -> endless_functionals law k dev x x' -> norm_at_least x x' D -> 0 < D ->
  (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> xx endless norm D0; have [f [v [v' [[mf F] [_ F'] vv]]]] := norm 0 D0.
pose t := v - v'; have t0 : 0 < t by rewrite /t.
apply/tight_epsilon_infinite => eps e0 priv.
have [b b0 often_b] := common; have [G mG GE] := shows_variance normal k1 dev0 endless b0.
(* the output is at least L beyond the answer of x' *)
pose L := (2 * b ^+ 2 * (eps + 1) + t ^+ 2) / (2 * t).
have Lt : L * t = b ^+ 2 * (eps + 1) + t ^+ 2 / 2.
  have t2 : 2 * t != 0 by rewrite mulf_neq0 ?gt_eqF.
  by apply: (mulIf t2); rewrite mulrAC /L divfK//; lra.
pose low (u s : R) := [set y | f y - u < s]; pose far := ~` low v' L.
have mbelow (u s : R) : measurable (low u s).
  by apply: measurable_where; [exact: measurable_fun_cst | apply: measurable_funB => //; exact: measurable_fun_cst].
have mfar : measurable far by apply: measurableC.
pose S := G `&` far; have mS : measurable S by exact: measurableI.
have beyond z w (u s p : R) : k z w (low u s) = p%:E -> k z w (~` (low u s)) = (1 - p)%:E.
  move=> h; have mC : measurable (~` (low u s)) by exact: measurableC.
  have e : k z w setT = (k z w (low u s) + k z w (~` (low u s)))%E by rewrite -measureU ?setUv ?setICr.
  have fin : k z w (~` (low u s)) \is a fin_num by exact: mass_fin (k1 z w) mC.
  by move: e; rewrite k1 h -(fineK fin) -EFinD => -[e]; congr EFin; rewrite e addrC addKr.
have kfar w : k x w far = (1 - Phi ((L - t) / dev w))%:E.
  have -> : far = ~` low v (L - t).
    by rewrite /far; congr (~` _); apply/seteqP; split=> y; rewrite /low /mkset /t; lra.
  exact: beyond (F w _).
have k'far w : k x' w far = (1 - Phi (L / dev w))%:E by exact: beyond (F' w _).
have seen z w : k z w G = (if (dev w <= b)%R then 1 else 0)%E -> k z w S = (if (dev w <= b)%R then k z w far else 0)%E.
  case: ifP => _ h.
  - have mC : measurable (~` G) by exact: measurableC.
    have e : k z w setT = (k z w G + k z w (~` G))%E by rewrite -measureU ?setUv ?setICr.
    have C0 : k z w (~` G) = 0%E.
      have fin : k z w (~` G) \is a fin_num by exact: mass_fin (k1 z w) mC.
      move: e; rewrite k1 h -(fineK fin) -EFinD => -[e]; congr EFin; lra.
    have split_far : k z w far = (k z w (far `&` G) + k z w (far `&` ~` G))%E.
      rewrite -measureU; [|exact: measurableI|exact: measurableI|by rewrite setIACA setICr setI0].
      by rewrite -setIUr setUv setIT.
    rewrite split_far [X in (_ + X)%E](_ : _ = 0%E) ?adde0; first by rewrite setIC.
    apply/eqP; rewrite eq_le measure_ge0 andbT -C0; apply: le_measure; rewrite ?inE//; first exact: measurableI.
  - apply/eqP; rewrite eq_le measure_ge0 andbT -h; apply: le_measure; [by rewrite inE | by rewrite inE | by move=> y []].
have outputs w : ((expR (eps + 1))%:E * k x' w S <= k x w S)%E.
  have [g g'] := GE w; rewrite (seen _ _ g) (seen _ _ g'); case: ifP => [le|_]; last by rewrite mule0.
  have d0 := dev0 w; have di : 0 < (dev w)^-1 by rewrite invr_gt0.
  have td : 0 <= t / dev w by rewrite divr_ge0// ltW.
  have [grow _] := normal_tail_grows normal (L / dev w) td.
  rewrite kfar k'far -EFinM lee_fin; have -> : (L - t) / dev w = L / dev w - t / dev w by rewrite mulrBl.
  apply: le_trans grow; apply: ler_wpmul2r.
    by rewrite subr_ge0 -lee_fin -(F' w L); apply: mass_le1; [exact: k1 | exact: mbelow].
  rewrite ler_expR; have -> : L / dev w * (t / dev w) - (t / dev w) ^+ 2 / 2 = (L * t - t ^+ 2 / 2) / dev w ^+ 2.
    by rewrite expr_div_n expr2 -[in RHS]expr2 mulrBl mulf_div -expr2; congr (_ - _); rewrite mulrAC.
  have -> : L * t - t ^+ 2 / 2 = b ^+ 2 * (eps + 1) by rewrite Lt addrK.
  rewrite ler_pdivl_mulr ?exprn_gt0// mulrC; apply: ler_wpmul2r; first by rewrite addr_ge0.
  by rewrite ler_pexpn2r// nnegrE ltW.
have mkS z : measurable_fun setT (fun w => k z w S) by exact: (mk z).2.
have ratio : ((expR (eps + 1))%:E * M x' S <= M x S)%E.
  rewrite /M /mixture/= /pushed -ge0_integralM ?lee_fin ?expR_ge0//.
  apply: ge0_le_integral => // [w _|]; first by rewrite mule_ge0// lee_fin expR_ge0.
  by apply: emeasurable_funM => //; exact: measurable_fun_cst.
have pos : (0 < M x S)%E.
  rewrite lt_neqAle measure_ge0 andbT eq_sym; apply/eqP => zero.
  have ae : ae_eq mixing setT (fun w => k x w S) (cst 0%E).
    apply/(ae_eq_integral_abs mixing measurableT (mkS x)).
    rewrite -[RHS]zero /M /mixture/= /pushed; apply: eq_integral => w _; rewrite gee0_abs//.
  have [Z [mZ Z0 sub]] := ae; have : (mixing [set w | (dev w <= b)%R] <= mixing Z)%E.
    apply: le_measure; rewrite ?inE//; last first.
      move=> w /= wb; apply: sub => /= h; have := h I.
      have [g _] := GE w; rewrite (seen _ _ g) wb kfar => -[e].
      have [_] := normal_tail_grows normal (L / dev w) (ltW (divr_gt0 t0 (dev0 w))).
      by rewrite -mulrBl e ltxx.
    rewrite (_ : [set w | _] = ~` [set w | b < dev w]); first by apply: measurableC; apply: measurable_where => //; exact: measurable_fun_cst.
    by apply/seteqP; split=> w /=; [rewrite leNgt => /negP | move/negP; rewrite -leNgt].
  by rewrite Z0 leNgt often_b.
have := priv x x' xx S mS; rewrite adde0 => le.
exact: (too_much (mass_fin (law_total M x) mS) (mass_fin (law_total M x') mS) (measure_ge0 _ _) le ratio pos).
Qed.

(* Of declared differences it is not needed that the norm is finite: were it not, the laws would be orthogonal. Functionals as above, of which each
   combination, the squares of its weights having the sum 1, has the deviation of one; and one functional that sees the difference, as there is where the
   norm is positive. *)
Definition endless_combinations (x x' : X) := exists (f : nat -> Y -> R) (v v' : nat -> R),
  [/\ forall i, functional law k dev x (f i) (v i) /\ functional law k dev x' (f i) (v' i),
      forall i j, i != j -> unrelated law k dev x (f i) (v i) (f j) (v j) /\ unrelated law k dev x' (f i) (v' i) (f j) (v' j) &
      forall (n : nat) (a : nat -> R), \sum_(i < n) a i ^+ 2 = 1 -> forall w,
        (\int[k x w]_y ((\sum_(i < n) a i * f i y - \sum_(i < n) a i * v i) ^+ 2)%:E <= (dev w ^+ 2)%:E)%E /\
        (\int[k x' w]_y ((\sum_(i < n) a i * f i y - \sum_(i < n) a i * v' i) ^+ 2)%:E <= (dev w ^+ 2)%:E)%E].

(* Rule: elliptical-process-unbounded, lower. *)
Theorem differences_unbounded x x' f v v' : both N x x' -> endless_combinations x x' -> functional law k dev x f v -> functional law k dev x' f v' ->
  v != v' -> (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> xx [g [u [u' [F U C]]]] fx fx' vv.
have [[B bounded]|unbounded] := pselect (exists B, forall n : nat, \sum_(i < n) (u i - u' i) ^+ 2 <= B).
  have endless : endless_functionals law k dev x x' by exists g, u, u', B.
  have [lt|gt|e] := ltgtP v v'; last by rewrite e eqxx in vv.
  - apply: (process_unbounded (bothC xx) (endless_sym endless) (D := v' - v)); last by rewrite subr_gt0.
    by move=> e le; exists f, v', v.
  - apply: (process_unbounded xx endless (D := v - v')); last by rewrite subr_gt0.
    by move=> e le; exists f, v, v'.
have outside : outside k (fun w => dev w ^+ 2) x x'.
  move=> B; have [n big] : exists n : nat, B ^+ 2 + 1 < \sum_(i < n) (u i - u' i) ^+ 2.
    apply: contrapT => none; apply: unbounded; exists (B ^+ 2 + 1) => n; rewrite leNgt; apply/negP => lt; by apply: none; exists n.
  set S := \sum_(i < n) _ in big; have S0 : 0 < S by apply: le_lt_trans big; rewrite addr_ge0// sqr_ge0.
  pose r := Num.sqrt S; have r0 : 0 < r by rewrite sqrtr_gt0.
  have r2 : r ^+ 2 = S by rewrite sqr_sqrtr// ltW.
  pose a i := (u i - u' i) / r; have a1 : \sum_(i < n) a i ^+ 2 = 1.
    by under eq_bigr do rewrite /a expr_div_n; rewrite -mulr_suml -/S r2 mulfV// gt_eqF.
  have Cw := C n a a1.
  exists (fun y => \sum_(i < n) a i * g i y), (\sum_(i < n) a i * u i), (\sum_(i < n) a i * u' i); split.
  - apply: (@measurable_total R _ Y n (fun i y => a i * g i y)) => i; apply: measurable_funrM; by have [[]] := F i.
  - rewrite -sumrB; under eq_bigr do rewrite -mulrBr /a mulrAC -expr2.
    rewrite -mulr_suml -/S -r2 expr2 mulfK ?gt_eqF//.
    apply: le_trans (ler_norm B) _; rewrite -sqrtr_sqr ler_wsqrtr//; lra.
  - by move=> w; have [] := Cw w.
  - by move=> w; have [] := Cw w.
have [_] := orthogonal_laws mixing1 mk xx (or_introl outside); apply; exact: ltr01.
Qed.
End Unbounded.
