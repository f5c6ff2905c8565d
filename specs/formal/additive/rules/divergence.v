(* The rule divergence (docs/theory/additive.md): tails whose slope grows without bound, poles and zeros of the density, for noise of a norm of
   the distance, for independent coordinates and translations of the line, and for noise on the integers. *)
From dpverify Require Import prelude.
From mathcomp.analysis Require Import derive realfun.
From dpverify Require Import definitions density arithmetic norms exponents additive exponent_rules coordinates witness_rules point_witness.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* -- A density of one number, at two points t apart -- *)
Section OneNumber.
Context (R : realType).
Variables (g : R -> R) (inside : R -> Prop) (t : R).

(* Round a and b the density is positive, and at a at least e^v times that at b. *)
Definition ratio_round (v a b : R) := exists2 r, 0 < r &
  forall a' b', inside a' -> inside b' -> `|a' - a| < r -> `|b' - b| < r -> 0 < g a' /\ expR v * g b' <= g a'.
Definition loses_round (v : R) := exists a b, [/\ inside a, inside b, b = a + t & ratio_round v a b \/ ratio_round v b a].

(* How a point is come to: from above, from below, or from both sides. *)
Variant sort_of_side := Above | Below | About.
Definition on_side (side : sort_of_side) (z w : R) := match side with Above => z < w | Below => w < z | About => w != z end.
Definition near_side side z (P : R -> Prop) := exists2 r, 0 < r & forall w, `|w - z| < r -> on_side side z w -> P w.

(* What the rule finds of the density. The slope of h grows without bound past r1, upward or downward; or the density has a limit of infinity
   or of 0 at z, as its expansion there says, or since a power of it, or of its inverse, is continuous and 0 there; round the other point z + t
   it is bounded, or away from 0. *)
Variant diverges : Prop :=
| TailUp (h dh : R -> R) c r1 of 0 < c & 0 < t & (forall r, r1 < r -> inside r /\ g r = c * expR (- h r)) &
    (forall r : R, r1 < r -> is_derive r 1 h (dh r)) & (forall s, exists r0, forall r, r0 <= r -> s <= dh r)
| TailDown (h dh : R -> R) c r1 of 0 < c & 0 < t & (forall r, r1 < r -> inside (- r) /\ g (- r) = c * expR (- h r)) &
    (forall r : R, r1 < r -> is_derive r 1 h (dh r)) & (forall s, exists r0, forall r, r0 <= r -> s <= dh r)
| Pole side z bound of near_side side z inside & (forall K, near_side side z (fun w => K <= g w)) &
    (exists2 r, 0 < r & forall w, `|w - (z + t)| < r -> inside w /\ g w <= bound)
| Zero side z bound of near_side side z inside & (forall K, 0 < K -> near_side side z (fun w => g w <= K)) & 0 < bound &
    (exists2 r, 0 < r & forall w, `|w - (z + t)| < r -> inside w /\ bound <= g w)
| InnerPole (n : nat) (u : R -> R) z bound of (0 < n)%N & near_side About z inside & {for z, continuous (u : R^o -> R^o)} & u z = 0 &
    near_side About z (fun w => 0 < g w /\ g w ^+ n * u w = 1) & (exists2 r, 0 < r & forall w, `|w - (z + t)| < r -> inside w /\ g w <= bound)
| InnerZero (n : nat) (u : R -> R) z bound of (0 < n)%N & near_side About z inside & {for z, continuous (u : R^o -> R^o)} & u z = 0 &
    near_side About z (fun w => g w ^+ n = u w) & 0 < bound & (exists2 r, 0 < r & forall w, `|w - (z + t)| < r -> inside w /\ bound <= g w).

Hypothesis g0 : forall w, inside w -> 0 <= g w.

(* Points of a side as near as you like, with all points round them. *)
Lemma side_point side z r : 0 < r -> exists a e, [/\ 0 < e, forall w, `|w - a| < e -> on_side side z w & forall w, `|w - a| < e -> `|w - z| < r].
Proof.
move=> r0; have up : [/\ 0 < r / 4, forall w, `|w - (z + r / 2)| < r / 4 -> z < w & forall w, `|w - (z + r / 2)| < r / 4 -> `|w - z| < r].
  by split=> [|w|w]; [lra | | ]; rewrite !ltr_norml => /andP[w1 w2]; [lra | apply/andP; split; lra].
have down : [/\ 0 < r / 4, forall w, `|w - (z - r / 2)| < r / 4 -> w < z & forall w, `|w - (z - r / 2)| < r / 4 -> `|w - z| < r].
  by split=> [|w|w]; [lra | | ]; rewrite !ltr_norml => /andP[w1 w2]; [lra | apply/andP; split; lra].
case: side; [by exists (z + r / 2), (r / 4) | by exists (z - r / 2), (r / 4) |].
exists (z + r / 2), (r / 4); have [e0 side near] := up; split=> // w /side zw; by rewrite /on_side gt_eqF.
Qed.

(* Two things that hold near a side hold there together. *)
Lemma near_both side z P Q : near_side side z P -> near_side side z Q -> near_side side z (fun w => P w /\ Q w).
Proof.
move=> [r r0 HP] [s s0 HQ]; exists (Num.min r s); first by rewrite lt_minr r0.
by move=> w; rewrite lt_minr => /andP[wr ws] on; split; [apply: HP | apply: HQ].
Qed.

(* A point at which something holds of all points round it, the other point being near z + t. *)
Lemma place_near side z P r : near_side side z P -> 0 < r ->
  exists a e, [/\ 0 < e, forall w, `|w - a| < e -> P w & forall w, `|w - (a + t)| < e -> `|w - (z + t)| < r].
Proof.
move=> [s s0 HP] r0; have m0 : 0 < Num.min s r by rewrite lt_minr s0.
have [a [e [e0 on near]]] := side_point side z m0; exists a, e; split=> // w wa.
  by have := near w wa; rewrite lt_minr => /andP[ws _]; apply: HP => //; exact: on.
have wt : `|w - t - a| < e by rewrite (_ : w - t - a = w - (a + t)) //; lra.
have := near _ wt; rewrite lt_minr => /andP[_]; by rewrite (_ : w - t - z = w - (z + t)) //; lra.
Qed.

Lemma pole_loses side z bound : near_side side z inside -> (forall K, near_side side z (fun w => K <= g w)) ->
  (exists2 r, 0 < r & forall w, `|w - (z + t)| < r -> inside w /\ g w <= bound) -> forall v, loses_round v.
Proof.
move=> ins big [r r0 small] v.
have [a [e [e0 near there]]] := place_near (near_both ins (big (expR v * `|bound| + 1))) r0.
have self : `|a - a| < e by rewrite subrr normr0.
have selft : `|a + t - (a + t)| < e by rewrite subrr normr0.
exists a, (a + t); split=> //; [by have [] := near a self | by have [] := small _ (there _ selft) | left].
exists e => // a' b' _ _ aa bb; have [_ ga] := near a' aa; have [_ gb] := small _ (there _ bb).
have ev := expR_gt0 v; have n0 := normr_ge0 bound; have n1 := ler_norm bound.
have p1 : expR v * g b' <= expR v * `|bound| by rewrite ler_pmul2l//; lra.
have p2 : 0 <= expR v * `|bound| by apply: mulr_ge0; lra.
by split; lra.
Qed.

Lemma zero_loses side z bound : near_side side z inside -> (forall K, 0 < K -> near_side side z (fun w => g w <= K)) -> 0 < bound ->
  (exists2 r, 0 < r & forall w, `|w - (z + t)| < r -> inside w /\ bound <= g w) -> forall v, loses_round v.
Proof.
move=> ins small b0 [r r0 big] v.
have K0 : 0 < bound / expR v by rewrite divr_gt0// expR_gt0.
have [a [e [e0 near there]]] := place_near (near_both ins (small _ K0)) r0.
have self : `|a - a| < e by rewrite subrr normr0.
have selft : `|a + t - (a + t)| < e by rewrite subrr normr0.
exists a, (a + t); split=> //; [by have [] := near a self | by have [] := big _ (there _ selft) | right].
exists e => // b' a' _ _ bb aa; have [_ ga] := near a' aa; have [_ gb] := big _ (there _ bb).
split; first exact: lt_le_trans gb.
by apply: le_trans gb; rewrite mulrC -ler_pdivl_mulr// expR_gt0.
Qed.

(* A power that tends to 0, or to infinity, takes the density with it. *)
Lemma power_small (n : nat) (u : R -> R) z : (0 < n)%N -> {for z, continuous (u : R^o -> R^o)} -> u z = 0 -> near_side About z inside ->
  near_side About z (fun w => g w ^+ n = u w) -> forall K, 0 < K -> near_side About z (fun w => g w <= K).
Proof.
move=> n0 cu uz ins pow K K0.
have Kn : 0 < K ^+ n by rewrite exprn_gt0.
move/cvgrPdist_lt: cu => /(_ _ Kn) /nbhs_ballP[r /= r0 close].
have [s s0 both] := near_both ins pow; exists (Num.min r s); first by rewrite lt_minr r0.
move=> w; rewrite lt_minr => /andP[wr ws] on; have [wi gw] := both w ws on.
have : `|u z - u w| < K ^+ n by apply: close; rewrite /ball/= distrC.
rewrite uz sub0r normrN -gw ger0_norm ?exprn_ge0 ?g0// => lt.
by rewrite leNgt; apply/negP => Kg; move: lt; rewrite ltNge ler_expn2r// ?nnegrE ?g0//; exact: ltW.
Qed.

Lemma power_large (n : nat) (u : R -> R) z : (0 < n)%N -> {for z, continuous (u : R^o -> R^o)} -> u z = 0 ->
  near_side About z (fun w => 0 < g w /\ g w ^+ n * u w = 1) -> forall K, near_side About z (fun w => K <= g w).
Proof.
move=> n0 cu uz pow K0.
pose K := `|K0| + 1; have Kp : 0 < K by rewrite /K ltr_paddl.
have KK : K0 <= K by have := ler_norm K0; rewrite /K; lra.
have Kn : 0 < (K ^+ n)^-1 by rewrite invr_gt0 exprn_gt0.
move/cvgrPdist_lt: cu => /(_ _ Kn) /nbhs_ballP[r /= r0 close].
have [s s0 both] := pow; exists (Num.min r s); first by rewrite lt_minr r0.
move=> w; rewrite lt_minr => /andP[wr ws] on; have [gp gw] := both w ws on; apply: le_trans KK _.
have : `|u z - u w| < (K ^+ n)^-1 by apply: close; rewrite /ball/= distrC.
have gn : 0 < g w ^+ n by rewrite exprn_gt0.
have uE : u w = (g w ^+ n)^-1 by apply: (mulfI (lt0r_neq0 gn)); rewrite gw divff// gt_eqF.
rewrite uz sub0r normrN uE gtr0_norm ?invr_gt0// ltf_pinv ?posrE// ?exprn_gt0// => lt.
by rewrite leNgt; apply/negP => gK; move: lt; rewrite ltNge ler_expn2r// ?nnegrE ?ltW.
Qed.

Lemma tail_round (h dh : R -> R) c r1 : 0 < c -> (forall r : R, r1 < r -> is_derive r 1 h (dh r)) ->
  (forall s, exists r0, forall r, r0 <= r -> s <= dh r) -> 0 < t -> forall v, exists a r, [/\ r1 < a, 0 < r &
  forall a' b', `|a' - a| < r -> `|b' - (a + t)| < r -> [/\ r1 < a', r1 < b' & expR v * (c * expR (- h b')) <= c * expR (- h a')]].
Proof.
move=> c0 der div t0 v; have [a [ar a0 av]] := slope_diverges der div (v + 1) t0.
have cont b : r1 < b -> exists2 r, 0 < r & forall x, `|x - b| < r -> `|h x - h b| < 1 / 2.
  move=> rb; have db := der b rb.
  have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ db.
  move/cvgrPdist_lt => /(_ (1 / 2)) [|r /= r0 close]; first lra.
  by exists r => // x xb; rewrite distrC; apply: close; rewrite /ball/= distrC.
have [ra ra0 nearA] := cont a ar; have rb : r1 < a + t by lra.
have [rt rt0 nearB] := cont _ rb.
have e0 : 0 < Num.min (Num.min ra rt) (a - r1) by rewrite !lt_minr ra0 rt0 subr_gt0.
exists a, (Num.min (Num.min ra rt) (a - r1)); split=> // a' b'; rewrite !lt_minr => /andP[/andP[a1 _] a3] /andP[/andP[_ b2] b3].
have := nearA a' a1; have := nearB b' b2; move: a3 b3.
rewrite !ltr_norml => /andP[a3 _] /andP[b3 _] /andP[hb _] /andP[_ ha]; split; [lra | lra |].
by rewrite mulrCA ler_pmul2l// -expRD ler_expR; lra.
Qed.

Theorem diverges_loses : diverges -> forall v, loses_round v.
Proof.
case=> [h dh c r1 c0 t0 gE der div v | h dh c r1 c0 t0 gE der div v | side z bound ins big bounded | side z bound ins small b0 away
  | n u z bound n0 ins cu uz pow bounded | n u z bound n0 ins cu uz pow b0 away].
- have [a [r [ar r0 near]]] := tail_round c0 der div t0 v.
  have at_b : r1 < a + t by lra.
  exists a, (a + t); split=> //; [by have [] := gE a ar | by have [] := gE _ at_b | left].
  exists r => // a' b' _ _ aa bb; have [a1 b1 le] := near a' b' aa bb.
  by have [_ ->] := gE a' a1; have [_ ->] := gE b' b1; split=> //; rewrite mulr_gt0// expR_gt0.
- have [a [r [ar r0 near]]] := tail_round c0 der div t0 v.
  have at_b : r1 < a + t by lra.
  exists (- (a + t)), (- a); split; [by have [] := gE _ at_b | by have [] := gE a ar | lra | right].
  exists r => // a' b' _ _ aa bb.
  have a2 : `|- a' - a| < r by rewrite (_ : - a' - a = - (a' - - a)) ?normrN//; lra.
  have b2 : `|- b' - (a + t)| < r by rewrite (_ : - b' - (a + t) = - (b' - - (a + t))) ?normrN//; lra.
  have [a1 b1 le] := near _ _ a2 b2.
  have [_ ea] := gE _ a1; have [_ eb] := gE _ b1; rewrite !opprK in ea eb.
  by rewrite ea eb; split=> //; rewrite mulr_gt0// expR_gt0.
- exact: pole_loses ins big bounded.
- exact: zero_loses ins small b0 away.
- exact: pole_loses ins (power_large n0 cu uz pow) bounded.
- exact: zero_loses ins (power_small n0 cu uz ins pow) b0 away.
Qed.
End OneNumber.

(* -- The rule -- *)
Section Rule.
Context (R : realType) (d : measure_display) (Y : measurableType d) (mu : {measure set Y -> \bar R}).
Context (X : Type) (N : relation X) (M : mechanism R X Y).

(* On the integers the slope of h at points past r1, and a difference of the answers of at least 1. *)
Variant divergence_shown : Prop :=
| DivergesOfANorm (V : lmodType R) (place : Y -> V) (q : X -> V) norm scale g t x x' of
    seminorm norm & 0 < scale & adds_noise mu place M q (fun z => g (norm z / scale)) & both N x x' & full_measure mu place norm &
    (forall r, 0 <= r -> 0 <= g r) & `|t| = norm (q x - q x') / scale & diverges g (fun r => 0 <= r) t
| DivergesOfCoordinates n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) g t x x' (j : 'I_n) of
    adds_noise mu place M q (fun z => \prod_i g (z 0 i)) & both N x x' & full_measure mu place (@greatest R n) &
    (forall z, 0 <= g z) & (forall i, (q x - q x') 0 i = if i == j then t else 0) & diverges g (fun _ => True) t
| DivergesOfIntegers (place : Y -> R^o) (q : X -> R^o) (h dh : R -> R) c r1 (up : bool) x x' of
    adds_noise mu place M q (fun z : R^o => c * expR (- h (if up then z else - (z : R)))) & both N x x' &
    (forall n : int, atom mu place (q x + (n%:~R : R))) & 0 < c & (1 : R) <= (if up then (q x : R) - q x' else (q x' : R) - q x) &
    (forall r : R, r1 < r -> is_derive r 1 h (dh r)) & (forall s, exists r0, forall r, r0 <= r -> s <= dh r).

Lemma ratio_round_at g (inside : R -> Prop) v a b : (forall w, inside w -> 0 <= g w) -> ratio_round g inside v a b -> ratio_at inside v g a b.
Proof.
move=> g0 [r r0 near] s s0; exists r => // a' b' ia ib aa bb; have [ga le] := near a' b' ia ib aa bb; split=> //.
by apply: le_trans le; rewrite ler_wpmul2r ?g0// ler_expR; lra.
Qed.

Lemma coordinate_near n (z a : 'rV[R]_n) i : `|z 0 i - a 0 i| <= greatest (z - a).
Proof.
have -> : z 0 i - a 0 i = (z - a) 0 i by rewrite !mxE.
exact: (le_bigmax _ (fun i => `|(z - a) 0 i|) i).
Qed.

Lemma coordinates_shown n (place : Y -> 'rV[R]_n) (q : X -> 'rV[R]_n) g (s a b v : R) x x' (j : 'I_n) :
  adds_noise mu place M q (fun z => \prod_i g (z 0 i)) -> both N x x' -> full_measure mu place (@greatest R n) ->
  (forall z, 0 <= g z) -> (forall i, (q x - q x') 0 i = if i == j then s else 0) -> b = a + s -> ratio_round g (fun _ => True) v a b ->
  point_shown mu N M (Some v).
Proof.
move=> noise xx full g0 moves bE [r r0 near].
apply: (@PointOfCoordinates R d Y mu X N M (Some v) n place q _ (const_mx a) x x' noise xx full) => e e0; exists r => // z za.
have at_a i : `|z 0 i - a| < r by apply: le_lt_trans za; have := coordinate_near z (const_mx a) i; rewrite mxE.
have pos i : 0 < g (z 0 i).
  by have [] := near (z 0 i) b I I (at_a i); rewrite ?subrr ?normr0.
split; first by apply: prodr_gt0 => i _; exact: pos.
rewrite (bigD1 j)//= [leRHS](bigD1 j)//= mulrA.
have same : \prod_(i < n | i != j) g ((z + (q x - q x')) 0 i) = \prod_(i < n | i != j) g (z 0 i).
  by apply: eq_bigr => i /negbTE ij; rewrite mxE moves ij addr0.
rewrite same ler_wpmul2r//; first by apply: prodr_ge0.
rewrite mxE moves eqxx; have [|_ le] := near (z 0 j) (z 0 j + s) I I (at_a j).
  by rewrite bE opprD addrACA subrr addr0.
by apply: le_trans le; rewrite ler_wpmul2r// ler_expR; lra.
Qed.

Lemma divergence_points : divergence_shown -> forall v, 0 <= v -> point_shown mu N M (Some v).
Proof.
case=> [V place q norm scale g t x x' semi scale0 noise xx full g0 tE div v v0
  | n place q g t x x' j noise xx full g0 moves div v v0 | place q h dh c r1 up x x' noise xx atoms c0 step der div v v0].
- have [a [b [ia ib bE shown]]] := diverges_loses g0 div v.
  have abE : `|a - b| = norm (q x - q x') / scale by rewrite bE opprD addNKr normrN.
  case: shown => shown.
  + by apply: (PointOfANorm (v := Some v) semi scale0 noise xx full ia ib (or_introl abE)); exact: ratio_round_at.
  + apply: (PointOfANorm (v := Some v) semi scale0 noise xx full ib ia _); last exact: ratio_round_at.
    by left; rewrite distrC.
- have [a [b [_ _ bE [] shown]]] := diverges_loses (fun w _ => g0 w) div v.
  + exact: coordinates_shown noise xx full g0 moves bE shown.
  + apply: (@coordinates_shown n place q g (- t) b a v x' x j noise (bothC xx) full g0) => //; last by rewrite bE addrK.
    by move=> i; rewrite -opprB mxE moves; case: eqP => // _; rewrite oppr0.
- have far (s : R) : 1 <= s -> exists n : int, v < h (n%:~R + s) - h n%:~R.
    move=> s1; have [r0 big] := div (v + 1); pose m := Num.max 0 (Num.max r0 r1).
    exists (Posz (Num.bound m)); set c1 := _%:~R.
    have : m < c1 by apply: archi_boundP; rewrite /m le_maxr lexx.
    rewrite /m !lt_maxl => /andP[_ /andP[b0 b1]]; have b2 : c1 < c1 + s by lra.
    have [||z zin ->] := @MVT R h dh c1 (c1 + s) b2.
    + by move=> z; rewrite in_itv/= => /andP[bz _]; apply: der; exact: lt_trans bz.
    + apply: continuous_in_subspaceT => z; rewrite inE/= in_itv/= => /andP[bz _].
      have dz := der z (lt_le_trans b1 bz).
      by have /derivable1_diffP/differentiable_continuous := @ex_derive _ _ _ _ _ _ _ dz.
    move: zin; rewrite in_itv/= => /andP[bz _].
    have le : v + 1 <= dh z by apply: big; lra.
    have -> : c1 + s - c1 = s by lra.
    have d0 : 0 <= dh z - v - 1 by lra.
    have s0 : 0 <= s - 1 by lra.
    have := mulr_ge0 d0 s0; have := mulr_ge0 v0 s0; lra.
  have [n nv] := far _ step; case: up step nv noise => step nv noise.
  + apply: (PointOfIntegers (v := Some v) noise xx (atoms n)); first by rewrite mulr_gt0// expR_gt0.
    by rewrite mulrCA ler_pmul2l// -expRD ler_expR; move: nv; set e : R := h _; set e' : R := h _; lra.
  + have atom_ : atom mu place (q x + ((- n)%:~R : R)) by exact: atoms.
    apply: (PointOfIntegers (v := Some v) noise xx atom_); first by rewrite mulr_gt0// expR_gt0.
    rewrite mulrCA ler_pmul2l// -expRD ler_expR; move: nv.
    have -> : - ((- n)%:~R : R) = n%:~R by rewrite mulrNz opprK.
    have -> : - ((- n)%:~R + ((q x : R) - q x')) = n%:~R + ((q x' : R) - q x) by rewrite mulrNz; lra.
    lra.
Qed.

(* Rule: divergence, lower. *)
(* That the slope grows without bound, or that the density has a limit, at an end is what the rule's expansions there show. *)
Theorem divergence_rule : divergence_shown -> (tight_epsilon N M 0 = +oo)%E.
Proof.
move=> shown; apply: infinite_of_unbounded => v v0.
by have [] := point_witness_rule (divergence_points shown v0).
Qed.
End Rule.
