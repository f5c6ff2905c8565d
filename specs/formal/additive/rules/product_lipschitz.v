(* Independent coordinates whose exponent has a bounded slope (docs/theory/additive.md, product-lipschitz): the slope is looked at on cells, between
   which the exponent is continuous and may have a kink. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules modulus_rules products.
Import numFieldTopology.Exports numFieldNormedType.Exports.

Section Cells.
Context (R : realType) (h dh : R -> R) (L : R).
Hypotheses (L0 : 0 <= L) (cont : continuous h).

Lemma between_cuts (cuts : seq R) a b : a <= b ->
  (forall x, a < x -> x < b -> x \notin cuts -> is_derive x 1 h (dh x) /\ `|dh x| <= L) -> `|h b - h a| <= L * (b - a).
Proof.
elim: cuts a b => [|c cuts IH] a b; rewrite le_eqVlt => /orP[/eqP <- | ab]; rewrite ?subrr ?mulr0 ?normr0// => der.
- have [||z zin e] := @MVT R h dh a b ab.
  + by move=> x; rewrite in_itv/= => /andP[ax xb]; have [] := der x ax xb isT.
  + exact: continuous_subspaceT.
  move: zin; rewrite in_itv/= => /andP[az zb]; have [_ le] := der z az zb isT.
  have d0 : 0 < b - a by rewrite subr_gt0.
  by rewrite e normrM (gtr0_norm d0) ler_pmul2r.
- have [/andP[ac cb] | out] := boolP ((a < c) && (c < b)).
  + have h1 : `|h c - h a| <= L * (c - a).
      apply: IH => [|x ax xc xF]; first exact: ltW.
      by apply: der => //; [exact: lt_trans cb | rewrite in_cons negb_or xF andbT lt_eqF].
    have h2 : `|h b - h c| <= L * (b - c).
      apply: IH => [|x cx xb xF]; first exact: ltW.
      by apply: der => //; [exact: lt_trans cx | rewrite in_cons negb_or xF andbT gt_eqF].
    have -> : h b - h a = (h b - h c) + (h c - h a) by rewrite addrA subrK.
    apply: le_trans (ler_norm_add _ _) _; apply: le_trans (ler_add h2 h1) _.
    by rewrite -mulrDr addrA subrK.
  + apply: IH => [|x ax xb xF]; first exact: ltW.
    apply: der => //; rewrite in_cons negb_or xF andbT.
    by apply: contraNneq out => <-; rewrite ax xb.
Qed.

Lemma lipschitz_by_cells (cuts : seq R) :
  (forall x, x \notin cuts -> is_derive x 1 h (dh x) /\ `|dh x| <= L) -> forall z s, `|h (z + s) - h z| <= L * `|s|.
Proof.
move=> der z s; have [s0 | s0] := leP 0 s.
- have zs : z <= z + s by rewrite ler_addl.
  have := between_cuts (cuts := cuts) zs (fun x _ _ => der x).
  by rewrite [z + s - z]addrC addKr (ger0_norm s0).
- have zs : z + s <= z by rewrite ger_addl ltW.
  have := between_cuts (cuts := cuts) zs (fun x _ _ => der x).
  by rewrite distrC opprD addrA subrr sub0r (ltr0_norm s0).
Qed.
End Cells.

(* Rule: product-lipschitz, upper. *)
(* K is the greatest l1-length of a shift within the sensitivity; one coordinate is a shift of the line. *)
Theorem product_lipschitz_rule (R : realType) (n : nat) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R})
  (place : Y -> 'rV[R]_n) (X : Type) (N : relation X) (M : mechanism R X Y) (q : X -> 'rV[R]_n) (h dh : R -> R) (c L K : R) (cuts : seq R) :
  0 < c -> adds_noise mu place M q (fun z => c * expR (- \sum_i h (z 0 i))) ->
  0 <= L -> continuous h -> (forall x, x \notin cuts -> is_derive x 1 h (dh x) /\ `|dh x| <= L) ->
  (forall x x', both N x x' -> \sum_i `|(q x - q x') 0 i| <= K) -> pure_dp N M (L * K).
Proof.
by move=> c0 noise L0 cont der moves; apply: (product_lipschitz_upper c0 noise L0 _ moves); exact: lipschitz_by_cells der.
Qed.
