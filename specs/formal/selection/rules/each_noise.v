(* Noisy max, the privacy curve (docs/theory/selection.md, each noise): what all answers lose is at most what the noise of each loses where it is moved
   by itself. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels composition groups joint_neighbours finite selection independent log_concave noisy_max_rule.

Section OneMoved.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E).
Variables (i : nat) (v eps delta : R).
Hypothesis d0 : 0 <= delta.
Hypothesis moved : forall A, measurable A -> (mu i [set z | A (z + v)%R] <= (expR eps)%:E * mu i A + delta%:E)%E.

(* One of the noises is shifted: what that loses is what it loses by itself. *)
Lemma one_moved n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises mu1 n nu Z -> (i < n)%N ->
  exists T : W -> W, [/\ measurable_fun setT T, forall w j, (j < n)%N -> Z j (T w) = (if j == i then Z j w + v else Z j w)%R &
    forall A, measurable A -> (nu [set w | A (T w)] <= (expR eps)%:E * nu A + delta%:E)%E].
Proof.
move=> I; induction I as [|n d W nu Z I IH] => // ilt; have nu1 := independent_total I.
have mk : markov (fun _ : W => mu n) by split=> // S mS; exact: measurable_fun_cst.
pose g (A : set (W * R)) (w : W) : R := fine (mu n (xsection A w)).
have gE A w : measurable A -> (mu n (xsection A w) = (g A w)%:E)%E.
  by move=> mA; rewrite /g fineK// mass_fin//; exact: measurable_xsection.
have g01 A w : measurable A -> 0 <= g A w <= 1.
  by move=> mA; rewrite -!lee_fin -gE// measure_ge0 mass_le1//; exact: measurable_xsection.
have mg A : measurable A -> measurable_fun setT (g A).
  move=> mA; apply/EFin_measurable_fun; rewrite (_ : _ \o _ = fun w => mu n (xsection A w)); first exact: (markov_sections mk mA).
  by apply/funext => w; rewrite /= gE.
move: ilt; rewrite ltnS leq_eqVlt => /predU1P[iE|ilt].
- pose T (x : W * R) : W * R := (x.1, x.2 + v).
  have mT : measurable_fun setT T.
    apply/prod_measurable_funP; split; first exact: measurable_first.
    apply: (measurable_after (g := fun z : R => z + v) (@measurable_second _ _ _ _)).
    by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst].
  exists T; split=> // [[w z] j jn|A mA] /=.
    by rewrite -iE; case: ifP.
  have mA' : measurable [set x | A (T x)] by rewrite -[X in measurable X]setTI; exact: mT.
  have mxA := (markov_sections mk mA); have e0 : (0 <= (expR eps)%:E :> \bar R)%E by rewrite lee_fin expR_ge0.
  apply: (@le_trans _ _ (\int[nu]_w ((expR eps)%:E * mu n (xsection A w) + delta%:E))%E); last first.
    have msc : measurable_fun setT (fun w => (expR eps)%:E * mu n (xsection A w))%E by exact: measurable_funeM.
    rewrite ge0_integralD//; last 2 first.
    + by move=> w _; rewrite mule_ge0.
    + exact: measurable_fun_cst.
    by rewrite -[X in (_ + X)%E]/(\int[nu]_w (cst delta%:E w))%E integral_cst// nu1 mule1 ge0_integralM.
  apply: ge0_le_integral => //.
  + exact: (markov_sections mk mA').
  + by move=> w _; apply: adde_ge0; [exact: mule_ge0 | rewrite lee_fin].
  + by apply: emeasurable_funD; [exact: measurable_funeM | exact: measurable_fun_cst].
  move=> w _; have mx : measurable (xsection A w) by exact: measurable_xsection.
  have := moved mx; rewrite iE; apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
  by congr (mu n _); apply/seteqP; split=> z; rewrite /xsection/= !inE.
- have [T [mT TE Tc]] := IH ilt.
  pose T' (x : W * R) : W * R := (T x.1, x.2).
  have mT' : measurable_fun setT T'.
    apply/prod_measurable_funP; split; last exact: measurable_second.
    by apply: (measurable_after (f := fst) _ mT); exact: measurable_first.
  exists T'; split=> // [[w z] j|A mA] /=.
    by rewrite ltnS leq_eqVlt => /predU1P[->|jn]; rewrite ?eqxx ?(gtn_eqF ilt)// (ltn_eqF jn) TE.
  have mA' : measurable [set x | A (T' x)] by rewrite -[X in measurable X]setTI; exact: mT'.
  rewrite -[leLHS]/(\int[nu]_w mu n (xsection [set x | A (T' x)] w))%E -[X in (_ * X + _)%E]/(\int[nu]_w mu n (xsection A w))%E.
  pose push := [the measure _ _ of pushforward nu mT].
  have cl : close eps delta push nu by move=> B mB; exact: Tc.
  have := close_test_function (nu1 : push setT = 1%E) nu1 cl (mg A mA) (fun w => g01 A w mA).
  rewrite (_ : (\int[push]_w (g A w)%:E = \int[nu]_w mu n (xsection [set x | A (T' x)] w))%E); last first.
    rewrite integral_pushforward//; last 2 first.
    - by apply/EFin_measurable_fun; exact: mg.
    - by move=> w; rewrite lee_fin; case/andP: (g01 A w mA).
    apply: eq_integral => w _; rewrite /= -gE//; congr (mu n _); by apply/seteqP; split=> z; rewrite /xsection/= !inE.
  have -> // : (\int[nu]_w mu n (xsection A w) = \int[nu]_w (g A w)%:E)%E by apply: eq_integral => w _; exact: gE.
Qed.
End OneMoved.

Section EachNoise.
Context (R : realType) (n : nat) (mu : {measure set R -> \bar R}) (mu1 : mu setT = 1%E).
Context dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis noises : independent_noises (fun=> mu1) n nu Z.
Context (K : finType) (weight : K -> R) (prior : K -> rel 'I_n).
Hypotheses (weight0 : forall k, 0 <= weight k) (weight1 : \sum_k weight k = 1).
Context dT (T : measurableType dT) (M : mechanism R ('I_n -> R) T) (pt : 'I_n -> T).
Hypothesis MZ : has_table M pt (greatest_chance nu Z weight prior).

(* delta is what one noise has at epsilon where it is moved by r. *)
(* Rule: each-noise, upper, in part: noisy max alone, not above threshold. *)
Theorem each_noise (N : relation ('I_n -> R)) (r eps delta : R) : (forall q q', both N q q' -> forall i j, (q' j - q j) - (q' i - q i) <= r) ->
  0 <= delta ->
  (forall A, measurable A -> (mu [set z | A (z + r)%R] <= (expR eps)%:E * mu A + delta%:E)%E) -> dp N M eps (Num.min 1 (n%:R * delta)).
Proof.
move=> apart d0 one q q' /apart ap; have nu1 := independent_total noises.
have mG k q0 i := measurable_greatest noises prior k q0 i.
have c0 q0 i : 0 <= greatest_chance nu Z weight prior q0 i by apply: sumr_ge0 => k _; rewrite mulr_ge0// fine_ge0.
have point i : greatest_chance nu Z weight prior q i <= expR eps * greatest_chance nu Z weight prior q' i + delta.
  rewrite /greatest_chance mulr_sumr -[delta]mul1r -weight1 mulr_suml -big_split/=; apply: ler_sum => k _.
  rewrite mulrCA -mulrDr ler_wpmul2l// -lee_fin EFinD EFinM !fineK ?mass_fin//.
  have [S [mS SE Sc]] := one_moved (i := i) d0 one noises (ltn_ord i).
  apply: (@le_trans _ _ (nu [set w | greatest_is Z prior k q' i (S w)])); last exact: Sc.
  apply: le_measure; rewrite ?inE//; first by rewrite -[X in measurable X]setTI; exact: mS.
  move=> w G; apply: greatest_of => j ji; have := greatest_wins G ji; rewrite !SE// eqxx ifN// /wins.
  have := ap i j; case: ifP => _ h1 h2; lra.
have bound : close eps (n%:R * delta) (M q) (M q').
  move=> A mA; rewrite !MZ// -EFinM -EFinD lee_fin mulr_sumr.
  have -> : n%:R * delta = \sum_(i < n) delta by rewrite sumr_const card_ord mulr_natl.
  rewrite -big_split/=; apply: ler_sum => i _; rewrite indicE; case: (_ \in _); last by rewrite !mulr0 add0r.
  by rewrite !mulr1.
rewrite /Num.min; case: ifP => // _ A mA; apply: (@le_trans _ _ 1%E); first by rewrite mass_le1// law_total.
by rewrite lee_addr// mule_ge0 ?lee_fin ?expR_ge0.
Qed.
End EachNoise.
