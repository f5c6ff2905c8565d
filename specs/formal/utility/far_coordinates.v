(* How far an answer with additive noise is from the truth (docs/theory/utility.md, far noise): as far as the noise is long, whatever the data. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent worst_output_lower.

(* M adds noise Z to the answer q: how far it is from the truth is how long the noise is. *)
Theorem far_as_noise (R : realType) (X : Type) (V : zmodType) (norm : V -> R) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : W -> V)
    d (Y : measurableType d) (place : Y -> V) (M : mechanism R X Y) (q : X -> V) gamma :
  (forall x, measurable [set y | gamma < norm (place y - q x)]) ->
  (forall x (A : set V), measurable (place @^-1` A) -> M x (place @^-1` A) = nu [set w | A (q x + Z w)]) ->
  forall x, M x [set y | gamma < norm (place y - q x)] = nu [set w | gamma < norm (Z w)].
Proof.
move=> m added x; rewrite (added x [set v | gamma < norm (v - q x)])//; last exact: m.
by congr (nu _); apply/seteqP; split=> w /=; rewrite [q x + _]addrC addrK.
Qed.

(* Rule: far-noise, in part: the length of noise in the norm of its density and in lp, of which far_in_norm and far_of_powers are. *)
Theorem far_coordinates (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E) n dW (W : measurableType dW)
    (nu : {measure set W -> \bar R}) (Z : nat -> W -> R) gamma : independent_noises mu1 n nu Z ->
  nu [set w | exists j : 'I_n, gamma < `|Z j w|] = (1 - \prod_(j < n) (1 - fine (mu j [set z | (gamma < `|z|)%R])))%:E.
Proof.
move=> noises; have nu1 := independent_total noises.
have ms : measurable [set z : R | gamma < `|z|].
  rewrite (_ : [set z | _] = `]gamma, +oo[%classic `|` `]-oo, (- gamma)[%classic); first by apply: measurableU; exact: measurable_itv.
  apply/seteqP; split=> z /=; rewrite !in_itv/= andbT ltr_normr [X in _ || X]ltr_oppr; first by case/orP => h; [left | right].
  by case=> ->; rewrite ?orbT.
pose B (j : nat) : set R := ~` [set z | gamma < `|z|].
have mB j : measurable (B j) by exact: measurableC.
pose near : set W := \big[setI/setT]_(j < n) (Z j @^-1` B j).
have mn : measurable near.
  by apply: bigsetI_measurable => j _; rewrite -[X in measurable X]setTI; exact: (measurable_noises noises).
have -> : [set w | exists j : 'I_n, gamma < `|Z j w|] = ~` near.
  apply/seteqP; split=> w.
  - by move=> [j far] /in_all/(_ j); apply.
  - by move=> h; apply: contrapT => none; apply: h; apply/in_all => j lt; apply: none; exists j.
have E : (nu near + nu (~` near) = 1)%E.
  rewrite -nu1 -(measureU nu mn (measurableC mn)) ?setICr//; congr (nu _); exact: setUv.
have nE : nu near = (\prod_(j < n) (1 - fine (mu j [set z | (gamma < `|z|)%R])))%:E.
  rewrite (independent_box noises mB); congr (_%:E); apply: eq_bigr => j _.
  have C : (mu j [set z | (gamma < `|z|)%R] + mu j (B j) = 1)%E.
    rewrite -(mu1 j) -(measureU (mu j) ms (mB j)) ?setICr//; congr (mu j _); exact: setUv.
  move: C; rewrite -(fineK (mass_fin (mu1 j) ms)) -(fineK (mass_fin (mu1 j) (mB j))) -EFinD => /eqP; rewrite eqe => /eqP /= C; lra.
move: E; rewrite nE -(fineK (mass_fin nu1 (measurableC mn))) -EFinD => /eqP; rewrite eqe => /eqP E.
by congr (_%:E); lra.
Qed.

(* On the integers: noise whose size is k with the probability of two-sided geometric noise of ratio u. *)
Definition geometric_size (R : realType) (u : R) (k : nat) : R := if k is 0%N then (1 - u) / (1 + u) else 2 * ((1 - u) / (1 + u)) * u ^+ k.

Lemma sizes_total (R : realType) (u : R) m : 0 <= u -> u < 1 -> \sum_(k < m.+1) geometric_size u k = 1 - 2 * u ^+ m.+1 / (1 + u).
Proof.
move=> u0 u1; have d0 : 1 + u != 0 by rewrite gt_eqF//; lra.
have e : 1 / (1 + u) * (1 + u) = 1 by rewrite divfK.
elim: m => [|m IH].
  by rewrite big_ord1 /= expr1; have := e; set i := (1 + u)^-1 => h; rewrite mul1r in h; lra.
rewrite big_ord_recr/= IH [u ^+ m.+2]exprSr; set v := u ^+ m.+1; set i := (1 + u)^-1 in e *; rewrite mul1r in e.
have h : v * (i * (1 + u)) = v by rewrite e mulr1.
lra.
Qed.

(* Rule: far-noise, in part: noise on the reals, of which far_coordinates has a part. *)
Theorem far_on_integers (R : realType) (u : R) m dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (size : W -> nat) :
  0 <= u -> u < 1 -> nu setT = 1%E -> (forall k, measurable (size @^-1` [set k])) -> (forall k, nu (size @^-1` [set k]) = (geometric_size u k)%:E) ->
  nu [set w | (m < size w)%N] = (2 * u ^+ m.+1 / (1 + u))%:E.
Proof.
move=> u0 u1 nu1 msize law; pose near : set W := \big[setU/set0]_(k < m.+1) (size @^-1` [set (k : nat)]).
have mn : measurable near by apply: bigsetU_measurable => k _; exact: msize.
have inE w : near w <-> (size w <= m)%N.
  rewrite /near; split=> [|le]; last by rewrite (bigD1 (Ordinal (le : (size w < m.+1)%N)))//=; left.
  by elim/big_ind: _ => [[]|B B' IB IB' [/IB|/IB']|k _ /= ->] //; rewrite -ltnS.
have nE : nu near = (1 - 2 * u ^+ m.+1 / (1 + u))%:E.
  rewrite -sizes_total// -sumEFin /near measure_semi_additive_ord//; first by apply: eq_bigr => k _; exact: law.
  by move=> i j _ _ [w [/= ei ej]]; apply: val_inj; rewrite /= -ei -ej.
have -> : [set w | (m < size w)%N] = ~` near.
  by apply/seteqP; split=> w /=; [move=> lt /inE; rewrite leqNgt lt | move=> h; rewrite ltnNge; apply/negP => /inE].
have E : (nu near + nu (~` near) = 1)%E.
  rewrite -nu1 -(measureU nu mn (measurableC mn)) ?setICr//; congr (nu _); exact: setUv.
move: E; rewrite nE -(fineK (mass_fin nu1 (measurableC mn))) -EFinD => /eqP; rewrite eqe => /eqP E.
by congr (_%:E); lra.
Qed.
