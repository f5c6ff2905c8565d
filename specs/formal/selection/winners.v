(* How far the answer that is told of the greatest moves against the others (docs/theory/selection.md, selection): the ways in which answers may move. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic selection survival.

Section Winners.
Context (R : realType) (n : nat).

Lemma winner_apart (D : R) N r q q' : 0 <= D -> winner_moves D N r -> both N q q' -> forall i j : 'I_n, (q' j - q' i) - (q j - q i) <= r.
Proof.
move=> D0 moves near i j; case: moves near => [near|near|].
- have {}near l : `|q' l - q l| <= D by case: near => /(_ l) //; rewrite distrC.
  by have := near i; have := near j; rewrite !ler_norml => /andP[? ?] /andP[? ?]; lra.
- by case: near => near; have /andP[? ?] := near i; have /andP[? ?] := near j; lra.
- have one (p p' : 'I_n -> R) : moved_alone D p p' -> `|(p' j - p' i) - (p j - p i)| <= D.
    move=> [l [lD others]]; have [->|ij] := eqVneq i j; first by rewrite !subrr normr0.
    have [e|il] := eqVneq i l.
      rewrite (others j); last by rewrite -e eq_sym.
      by rewrite -e in lD; rewrite (_ : _ - _ = - (p' i - p i)) ?normrN//; lra.
    rewrite (others i il); have [e|jl] := eqVneq j l; first by rewrite -e in lD; rewrite (_ : _ - _ = p' j - p j)//; lra.
    by rewrite (others j jl) subrr normr0.
  by case=> /one h; [|rewrite distrC in h]; apply: le_trans (ler_norm _) h.
Qed.

Lemma winner_range (D : R) N r (i j : 'I_n) u : 0 <= D -> j != i -> winner_moves D N r ->
  exists q q' : 'I_n -> R, [/\ both N q q', q j - q i = u & q' j - q' i = u + r].
Proof.
move=> D0 ji moves; pose q (l : 'I_n) := if l == j then u else 0.
have ij : (i == j) = false by rewrite eq_sym; exact: negbTE.
case: moves.
- exists q, (fun l => if l == j then u + D else - D); split.
  + by left=> l; rewrite /q; case: ifP => _; [rewrite addrAC subrr add0r ger0_norm | rewrite subr0 normrN ger0_norm].
  + by rewrite /q eqxx ij subr0.
  + by rewrite eqxx ij; lra.
- exists q, (fun l => if l == j then u + D else 0); split.
  + by left=> l; rewrite /q; case: ifP => _; apply/andP; split; lra.
  + by rewrite /q eqxx ij subr0.
  + by rewrite eqxx ij subr0.
- exists q, (fun l => if l == j then u + D else 0); split.
  + left; exists j; rewrite /q eqxx; split; first by rewrite addrAC subrr add0r ger0_norm.
    by move=> l /negbTE ->.
  + by rewrite /q eqxx ij subr0.
  + by rewrite eqxx ij subr0.
Qed.
End Winners.
