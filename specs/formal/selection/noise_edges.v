(* One noise and edges that it is below or above (docs/theory/selection.md, told words): noise on the line has no atoms, or it is on the integers. What is
   below an edge contains the edge itself or not; of several edges the greatest and the least decide. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels.

Section Integers.
Context (R : realType).

Lemma measurable_integers : measurable [set x : R | x \is a Rint].
Proof.
rewrite (_ : [set _ | _] = \bigcup_(i : nat) [set x : R | exists2 z : int, unpickle i = Some z & x = z%:~R]).
  apply: bigcup_measurable => i _; case: (unpickle i) => [z|].
  - by rewrite (_ : [set _ | _] = [set z%:~R]); [exact: measurable_set1 | apply/seteqP; split=> x /=; [case=> y [->] -> | move=> ->; exists z]].
  - by rewrite (_ : [set _ | _] = set0); [exact: measurable0 | apply/seteqP; split=> x //= -[]].
apply/seteqP; split=> x /=.
- by move=> /RintP[z ->]; exists (pickle z) => //=; exists z; rewrite ?pickleK.
- by move=> [i _ /= [z _ ->]]; apply/RintP; exists z.
Qed.

Lemma integer_below (x y : R) : x \is a Rint -> y \is a Rint -> x < y -> x <= y - 1.
Proof. by move=> /RintP[a ->] /RintP[b ->]; rewrite ler_subr_addr -[1]/(1%:~R) -intrD ler_int ltr_int lez_addr1. Qed.
End Integers.

(* What is below an edge. *)
Definition below (R : realType) (after : bool) (x : R) : set R := [set z | if after then z <= x else z < x].

Section Law.
Context (R : realType) (m : {measure set R -> \bar R}) (m1 : m setT = 1%E).
Notation mass A := (fine (m A)).

Lemma measurable_below after (x : R) : measurable (below after x).
Proof.
rewrite /below; case: after.
- rewrite (_ : [set _ | _] = `]-oo, x]%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; by rewrite in_itv].
- rewrite (_ : [set _ | _] = `]-oo, x[%classic); [exact: measurable_itv | apply/seteqP; split=> z /=; by rewrite in_itv].
Qed.

Lemma mass_le (A B : set R) : measurable A -> measurable B -> A `<=` B -> mass A <= mass B.
Proof. by move=> mA mB AB; rewrite fine_le ?mass_fin// le_measure ?inE. Qed.

Lemma mass01 (A : set R) : measurable A -> 0 <= mass A <= 1.
Proof. by move=> mA; rewrite fine_ge0//= -lee_fin fineK ?mass_fin// mass_le1. Qed.

Lemma mass_difference (A B : set R) : measurable A -> measurable B -> B `<=` A -> mass (A `\` B) = mass A - mass B.
Proof.
move=> mA mB BA; rewrite measureD//; last by rewrite -ge0_fin_numE// mass_fin.
rewrite (_ : A `&` B = B); last by apply/seteqP; split=> [z []//|z Bz]; split=> //; exact: BA.
by rewrite fineB ?mass_fin.
Qed.

(* Sets that with a number hold all smaller ones: of two, one is in the other. *)
Definition down (A : set R) := forall x y, x <= y -> A y -> A x.

Lemma below_down after x : down (below after x).
Proof. by rewrite /below => y z yz; case: after => /=; [exact: le_trans | exact: le_lt_trans]. Qed.

Lemma down_chain A B : down A -> down B -> A `<=` B \/ B `<=` A.
Proof.
move=> dA dB; have [|no] := pselect (A `<=` B); first by left.
right=> y By; apply: contrapT => nAy; apply: no => x Ax; have [xy|/ltW yx] := leP x y; first exact: dB By.
by exfalso; apply: nAy; exact: dA Ax.
Qed.

Lemma mass_union A B : measurable A -> measurable B -> down A -> down B -> mass (A `|` B) = Num.max (mass A) (mass B).
Proof.
move=> mA mB dA dB; have [AB|BA] := down_chain dA dB.
- rewrite max_r; last exact: mass_le. by congr (fine (m _)); apply/seteqP; split=> z; [case=> // /AB | right].
- rewrite max_l; last exact: mass_le. by congr (fine (m _)); apply/seteqP; split=> z; [case=> // /BA | left].
Qed.

Lemma mass_meet A B : measurable A -> measurable B -> down A -> down B -> mass (A `&` B) = Num.min (mass A) (mass B).
Proof.
move=> mA mB dA dB; have [AB|BA] := down_chain dA dB.
- rewrite min_l; last exact: mass_le. by congr (fine (m _)); apply/seteqP; split=> z; [case | move=> Az; split=> //; exact: AB].
- rewrite min_r; last exact: mass_le. by congr (fine (m _)); apply/seteqP; split=> z; [case | move=> Bz; split=> //; exact: BA].
Qed.

Lemma mass_rest A B : measurable A -> measurable B -> down A -> down B -> mass (A `\` B) = Num.max (mass A - mass B) 0.
Proof.
move=> mA mB dA dB; have [AB|BA] := down_chain dA dB.
- rewrite (_ : A `\` B = set0) ?measure0; last by apply/seteqP; split=> z // -[/AB].
  by rewrite max_r// subr_le0; exact: mass_le.
- by rewrite mass_difference// max_l// subr_ge0; exact: mass_le.
Qed.

(* Edges: above the greatest of some, and below the least of others. *)
Notation edge := (bool * R)%type.
Definition chance (e : edge) : R := mass (below e.1 e.2).
Definition greatest (s : seq R) : R := foldr Num.max 0 s.
Definition least (s : seq R) : R := foldr Num.min 1 s.
Definition room (lows highs : seq edge) : set R :=
  [set z | (forall e, e \in lows -> ~ below e.1 e.2 z) /\ forall e, e \in highs -> below e.1 e.2 z].

Lemma some_below (lows : seq edge) (A := [set z | exists2 e, e \in lows & below e.1 e.2 z]) :
  [/\ measurable A, down A & mass A = greatest [seq chance e | e <- lows]].
Proof.
rewrite /A {A}; elim: lows => [|e s [mA dA E]] /=.
  rewrite (_ : [set _ | _] = set0); last by apply/seteqP; split=> z // -[].
  by split=> //; rewrite measure0.
set A := [set z | _] in mA dA E.
have -> : [set z | exists2 e' : edge, e' \in e :: s & below e'.1 e'.2 z] = below e.1 e.2 `|` A.
  apply/seteqP; split=> z.
  - by move=> [e']; rewrite inE => /predU1P[->|es h]; [left | right; exists e'].
  - by move=> [h|[e' es h]]; [exists e; rewrite ?mem_head | exists e'; rewrite ?inE ?es ?orbT].
have mb := measurable_below e.1 e.2; have db := @below_down e.1 e.2.
split; [exact: measurableU | by move=> x y xy [/(db _ _ xy)|/(dA _ _ xy)]; [left | right] | by rewrite mass_union// E].
Qed.

Lemma all_below (highs : seq edge) (A := [set z | forall e, e \in highs -> below e.1 e.2 z]) :
  [/\ measurable A, down A & mass A = least [seq chance e | e <- highs]].
Proof.
rewrite /A {A}; elim: highs => [|e s [mA dA E]] /=.
  rewrite (_ : [set _ | _] = setT); last by apply/seteqP; split=> z.
  by split=> //; rewrite m1.
set A := [set z | _] in mA dA E.
have -> : [set z | forall e' : edge, e' \in e :: s -> below e'.1 e'.2 z] = below e.1 e.2 `&` A.
  apply/seteqP; split=> z.
  - by move=> h; split; [apply: h; exact: mem_head | move=> e' es; apply: h; rewrite inE es orbT].
  - by move=> [h hs] e'; rewrite inE => /predU1P[->//|]; exact: hs.
have mb := measurable_below e.1 e.2; have db := @below_down e.1 e.2.
split; [exact: measurableI | by move=> x y xy [/(db _ _ xy) ? /(dA _ _ xy) ?] | by rewrite mass_meet// E].
Qed.

Lemma room_chance lows highs : measurable (room lows highs) /\
  mass (room lows highs) = Num.max (least [seq chance e | e <- highs] - greatest [seq chance e | e <- lows]) 0.
Proof.
have [mU dU E] := some_below lows; have [mV dV E'] := all_below highs; set U := [set z | _] in mU dU E; set V := [set z | _] in mV dV E'.
have -> : room lows highs = V `\` U.
  apply/seteqP; split=> z; first by move=> [hl hh]; split=> // -[e /hl].
  by move=> [hV hU]; split=> // e el h; apply: hU; exists e.
by split; [exact: measurableD | rewrite mass_rest// E E'].
Qed.

(* Bounds on the probabilities of what is below the edges bound that of what is between. *)
Definition between (lows highs : seq (R * R)) : R * R :=
  (Num.max (least [seq e.1 | e <- highs] - greatest [seq e.2 | e <- lows]) 0, Num.max (least [seq e.2 | e <- highs] - greatest [seq e.1 | e <- lows]) 0).

Lemma greatest_le (T : Type) (f g : T -> R) s : (forall x, f x <= g x) -> greatest [seq f x | x <- s] <= greatest [seq g x | x <- s].
Proof. by move=> fg; elim: s => //= x s IH; rewrite le_maxl !le_maxr fg IH orbT. Qed.

Lemma least_le (T : Type) (f g : T -> R) s : (forall x, f x <= g x) -> least [seq f x | x <- s] <= least [seq g x | x <- s].
Proof. by move=> fg; elim: s => //= x s IH; rewrite le_minr !le_minl fg IH orbT. Qed.

Lemma greatest_ge0 s : 0 <= greatest s. Proof. by elim: s => //= x s IH; rewrite le_maxr IH orbT. Qed.

Lemma between_ge0 lows highs : 0 <= (between lows highs).1. Proof. by rewrite /between /= le_maxr lexx orbT. Qed.

Lemma room_between (T : Type) (lows highs : seq T) (e : T -> edge) (b : T -> R * R) : (forall x, (b x).1 <= chance (e x) <= (b x).2) ->
  let t := between [seq b x | x <- lows] [seq b x | x <- highs] in
  t.1 <= mass (room [seq e x | x <- lows] [seq e x | x <- highs]) <= t.2.
Proof.
move=> h; have l x : (b x).1 <= chance (e x) by case/andP: (h x). have u x : chance (e x) <= (b x).2 by case/andP: (h x).
rewrite /between (room_chance _ _).2 -!map_comp /=; apply/andP; split; rewrite le_maxl !le_maxr lexx orbT andbT; apply/orP; left.
- by apply: ler_sub; [exact: least_le | exact: greatest_le].
- by apply: ler_sub; [exact: least_le | exact: greatest_le].
Qed.

(* Where no low edge reaches a high one, and there is at most one of each, what is between is the difference of what is below. *)
Lemma room_single (T : Type) (lows highs : seq T) (e : T -> edge) (b : T -> R * R) : (forall x, (b x).1 <= chance (e x) <= (b x).2) ->
  greatest [seq (b x).2 | x <- lows] <= least [seq (b x).1 | x <- highs] ->
  mass (room [seq e x | x <- lows] [seq e x | x <- highs]) = least [seq chance (e x) | x <- highs] - greatest [seq chance (e x) | x <- lows].
Proof.
move=> h le; have l x : (b x).1 <= chance (e x) by case/andP: (h x). have u x : chance (e x) <= (b x).2 by case/andP: (h x).
rewrite (room_chance _ _).2 -!map_comp /= max_l// subr_ge0; apply: le_trans (greatest_le _ u) _; exact: le_trans le (least_le _ l).
Qed.

(* The probability of what is below a point is known at all points, on the integers at these. *)
Context (whole : bool) (at_ : R -> R * R).
Hypothesis law : if whole then m [set z | z \isn't a Rint] = 0%E else forall z, m [set z] = 0%E.
Hypothesis known : forall x, (whole -> x \is a Rint) -> (at_ x).1 <= mass (below false x) <= (at_ x).2.

Definition moved (after : bool) (x : R) : R := if whole then if after then Rfloor x + 1 else Rceil x else x.
Definition edge_at (after : bool) (x : \bar R) : R * R := if x is r%:E then at_ (moved after r) else (0, 1).

Lemma null_mass (A B D : set R) : measurable A -> measurable B -> measurable D -> m D = 0%E -> A `<=` B `|` D -> mass A <= mass B.
Proof.
move=> mA mB mD D0 AB; have mDB : measurable (D `\` B) by exact: measurableD.
have E : mass (B `|` (D `\` B)) = mass B.
  rewrite measureU//; last by apply/seteqP; split=> // z [Bz []].
  by have := subset_measure0 mDB mD (@subDsetl _ D B) D0; rewrite /= => ->; rewrite adde0.
rewrite -E; apply: mass_le => //; first exact: measurableU.
by move=> z Az; have [Bz|nBz] := pselect (B z); [left | right; split=> //; case: (AB z Az)].
Qed.

Lemma moved_mass after r : mass (below false (moved after r)) = mass (below after r).
Proof.
rewrite /moved; move: law; case: whole => law0; last first.
  case: after => //; apply: le_anti; apply/andP; split; last first.
    apply: (null_mass (measurable_below _ _) (measurable_below _ _) (measurable_set1 r) (law0 r)) => z.
    rewrite /below /= le_eqVlt => /predU1P[->|]; by [right | left].
  by apply: mass_le; try exact: measurable_below; move=> z /= /ltW.
have mD : measurable [set z : R | z \isn't a Rint].
  by rewrite (_ : [set _ | _] = ~` [set x : R | x \is a Rint]); [apply: measurableC; exact: measurable_integers | apply/seteqP; split=> z /= /negP].
have iff (z : R) : z \is a Rint -> below false (if after then Rfloor r + 1 else Rceil r) z <-> below after r z.
  move=> /RintP[a ->]; rewrite /below; case: after => /=.
  - by rewrite RfloorE -[1]/(1%:~R) -intrD ltr_int ltz_addr1 -floor_ge_int.
  - by rewrite RceilE ltr_int ceil_lt_int.
apply: le_anti; apply/andP; split; apply: (null_mass (measurable_below _ _) (measurable_below _ _) mD law0) => z h;
  have [zi|zi] := boolP (z \is a Rint); by [right | left; apply/(iff z zi)].
Qed.

Lemma edge_chance after r : (edge_at after r%:E).1 <= mass (below after r) <= (edge_at after r%:E).2.
Proof.
rewrite /edge_at -(moved_mass after r); apply: known => w; rewrite /moved w; case: after; last exact: isint_Rceil.
by rewrite rpredD ?rpred1// isint_Rfloor.
Qed.

(* An edge between two points, one of which may be infinite. *)
Lemma edge_inside after (l u : \bar R) (x : R) : (l <= x%:E <= u)%E -> (edge_at after l).1 <= mass (below after x) <= (edge_at after u).2.
Proof.
have mb y := measurable_below after y; have up (y z : R) : y <= z -> mass (below after y) <= mass (below after z).
  move=> yz; apply: mass_le => // t; rewrite /below /=; case: after {mb}; by [move=> h; exact: le_trans h yz | move=> h; exact: lt_le_trans h yz].
have /andP[x0 x1] := mass01 (mb x).
move=> /andP[lx xu]; apply/andP; split.
- case: l lx => [l|//|_]; rewrite ?lee_fin => // lx; apply: le_trans (up _ _ lx); by case/andP: (edge_chance after l).
- case: u xu => [u|_|//]; rewrite ?lee_fin => // ux; apply: le_trans (up _ _ ux) _; by case/andP: (edge_chance after u).
Qed.
End Law.
