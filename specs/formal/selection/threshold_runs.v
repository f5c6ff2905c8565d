(* Above threshold with noises of any laws, as a run of steps (docs/theory/selection.md, selection, selection moduli): answers are chosen after what was told,
   the noise of the threshold is drawn once, or again after each positive, and fresh noise may be told. What two runs have in common when noises are shifted. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent selection streams above_threshold_losses.

Section Runs.
Context (R : realType) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R).
Hypothesis mZ : forall j, measurable_fun setT (Z j).

(* What has been told. It says whether the run is over, and whether the noise of the threshold is to be drawn for the next answer. *)
Context dH (H : measurableType dH) (over draws : H -> bool) (after_no : H -> H) (after_yes : H * R -> H).
Hypotheses (mover : measurable [set h | over h]) (mdraws : measurable [set h | draws h]).
Hypotheses (mno : measurable_fun setT after_no) (myes : measurable_fun setT after_yes).
Context (rep : report) (public : R).

(* The state is what has been told, and the threshold with its noise. *)
Definition state : measurableType _ := [the measurableType _ of (H * R)%type].
Implicit Types (s : state) (w : W).

(* Of a positive it is told that it is one, by how much it is above the threshold, its answer with the noise that was compared, or with fresh noise. *)
(* The noises of a step: 0 is that of the threshold, where it is drawn, 1 that of the answer, 2 the fresh one. *)
Definition threshold_of s w := if draws s.1 then public + Z 0%N w else s.2.

Section Program.
Context (answers : H -> R).
Hypothesis manswers : measurable_fun setT answers.
Definition noisy s w := answers s.1 + Z 1%N w.
Definition lead s w := noisy s w - threshold_of s w.
Definition number s w := match rep with Words => 0 | Gap => lead s w | Value => noisy s w | Fresh => answers s.1 + Z 2%N w end.

(* None where the run is over; else whether it is a positive. *)
Definition takes s w : option bool := if over s.1 then None else Some (0 <= lead s w).
Definition goes s w : state :=
  if over s.1 then s else ((if 0 <= lead s w then after_yes (s.1, number s w) else after_no s.1), threshold_of s w).

Let both : measurableType _ := [the measurableType _ of (state * W)%type].
Let m1 : measurable_fun setT (fun x : both => x.1). Proof. exact: measurable_first. Qed.
Let mh : measurable_fun setT (fun x : both => x.1.1). Proof. exact: (measurable_after m1 (@measurable_first _ _ _ _)). Qed.
Let mt : measurable_fun setT (fun x : both => x.1.2). Proof. exact: (measurable_after m1 (@measurable_second _ _ _ _)). Qed.
Let mz j : measurable_fun setT (fun x : both => Z j x.2). Proof. exact: (measurable_after (@measurable_second _ _ _ _) (mZ j)). Qed.
Let ma : measurable_fun setT (fun x : both => answers x.1.1). Proof. exact: (measurable_after mh manswers). Qed.

Lemma measurable_if d (T : measurableType d) d' (U : measurableType d') (p : T -> bool) (f g : T -> U) : measurable [set x | p x] ->
  measurable_fun setT f -> measurable_fun setT g -> measurable_fun setT (fun x => if p x then f x else g x).
Proof.
move=> mp mf mg _ A mA; rewrite setTI.
rewrite (_ : _ @^-1` A = ([set x | p x] `&` (f @^-1` A)) `|` (~` [set x | p x] `&` (g @^-1` A))); last first.
  apply/seteqP; split=> x /=; first by case: ifP => px h; [left | right; split=> //; rewrite px].
  by case=> -[]; [move=> -> | move=> /negP/negbTE ->].
have pf := mf measurableT _ mA; have pg := mg measurableT _ mA; rewrite !setTI in pf pg.
by apply: measurableU; apply: measurableI => //; exact: measurableC.
Qed.

Let inside (p : H -> bool) : measurable [set h | p h] -> measurable [set x : both | p x.1.1].
Proof. by move=> mp; rewrite (_ : [set x | _] = setT `&` (fun x : both => x.1.1) @^-1` [set h | p h]); [exact: mh | rewrite setTI]. Qed.

Lemma measurable_threshold : measurable_fun setT (fun x : both => threshold_of x.1 x.2).
Proof.
apply: (@measurable_if _ both _ _ (fun x => draws x.1.1)); [exact: inside | | exact: mt].
by apply: measurable_funD; [exact: measurable_fun_cst | exact: mz].
Qed.

Lemma measurable_noisy : measurable_fun setT (fun x : both => noisy x.1 x.2).
Proof. by apply: measurable_funD; [exact: ma | exact: mz]. Qed.

Lemma measurable_lead : measurable_fun setT (fun x : both => lead x.1 x.2).
Proof. by apply: measurable_funB; [exact: measurable_noisy | exact: measurable_threshold]. Qed.

Lemma measurable_number : measurable_fun setT (fun x : both => number x.1 x.2).
Proof.
rewrite /number; case: (rep); [exact: measurable_fun_cst | exact: measurable_lead | | exact: measurable_noisy].
by apply: measurable_funD; [exact: ma | exact: mz].
Qed.

Lemma measurable_positive : measurable [set x : both | 0 <= lead x.1 x.2].
Proof.
rewrite (_ : [set x | _] = setT `&` (fun x : both => lead x.1 x.2) @^-1` [set z | 0 <= z]); last by rewrite setTI.
by apply: measurable_lead => //; exact: measurable_ray.
Qed.

Lemma measurable_takes b : measurable [set x : both | takes x.1 x.2 = b].
Proof.
have mo := inside mover; have mp := measurable_positive; case: b => [[]|].
- rewrite (_ : [set x | _] = ~` [set x : both | over x.1.1] `&` [set x : both | 0 <= lead x.1 x.2]); first exact: measurableI (measurableC mo) mp.
  apply/seteqP; split=> x /=; rewrite /takes; first by case: ifP => // /negbT/negP ? [->].
  by move=> [/negP/negbTE -> ->].
- rewrite (_ : [set x | _] = ~` [set x : both | over x.1.1] `&` ~` [set x : both | 0 <= lead x.1 x.2]).
    exact: measurableI (measurableC mo) (measurableC mp).
  apply/seteqP; split=> x /=; rewrite /takes; first by case: ifP => // /negbT/negP ? [/negbT/negP].
  by move=> [/negP/negbTE -> /negP/negbTE ->].
- by rewrite (_ : [set x | _] = [set x : both | over x.1.1])//; apply/seteqP; split=> x /=; rewrite /takes; [case: ifP | move=> ->].
Qed.

Lemma measurable_goes : measurable_fun setT (fun x : both => goes x.1 x.2).
Proof.
apply: (@measurable_if _ both _ state (fun x => over x.1.1)); [exact: inside | exact: m1 |].
apply/prod_measurable_funP; split; last exact: measurable_threshold.
apply: (@measurable_if _ both _ _ (fun x => 0 <= lead x.1 x.2)); first exact: measurable_positive.
- apply: (measurable_after (f := fun x : both => (x.1.1, number x.1 x.2))) myes.
  by apply/prod_measurable_funP; split; [exact: mh | exact: measurable_number].
- exact: (measurable_after mh mno).
Qed.

Definition runs : program state W [finType of option bool] := Program measurable_takes measurable_goes.
End Program.

(* Two runs, on answers that differ; their thresholds differ by `up` once they are drawn. *)
Section Aligned.
Context (answers answers' : H -> R) (manswers : measurable_fun setT answers) (manswers' : measurable_fun setT answers') (up : R).
Definition level (s s' : state) := s'.1 = s.1 /\ (draws s.1 \/ s'.2 = s.2 + up).

(* The noises of a step are shifted: that of the threshold by `up` where it is drawn; that of the answer so that its lead stays on its side of 0, and what is
   told of it stays. *)
Definition shifts_keep s (b : option bool) (v : nat -> R) := let d := answers' s.1 - answers s.1 in
  [/\ b <> None -> draws s.1 -> v 0%N = up,
      b = Some false -> d + v 1%N <= up,
      b = Some true -> up <= d + v 1%N &
      b = Some true -> match rep with Words => True | Gap => d + v 1%N = up | Value => d + v 1%N = 0 | Fresh => d + v 2%N = 0 end].

Lemma step_level s s' b v w w' : level s s' -> shifts_keep s b v -> (forall j, (j < 3)%N -> Z j w' = Z j w + v j) -> takes answers s w = b ->
  takes answers' s' w' = b /\ level (goes answers s w) (goes answers' s' w').
Proof.
move=> [hE t] [v0 vn vy vt] zE; have z0 := zE 0%N isT; have z1 := zE 1%N isT; have z2 := zE 2%N isT.
have tE : b <> None -> threshold_of s' w' = threshold_of s w + up.
  rewrite /threshold_of hE => b0; case: ifP t (v0 b0) => [_ _ v00|_ [//|->] _ //]; by rewrite z0 v00// addrA.
have nE : noisy answers' s' w' = noisy answers s w + (answers' s.1 - answers s.1 + v 1%N) by rewrite /noisy hE z1; lra.
have lE : b <> None -> lead answers' s' w' = lead answers s w + (answers' s.1 - answers s.1 + v 1%N - up) by move=> b0; rewrite /lead tE// nE; lra.
rewrite /takes /goes hE; case: (over s.1) => [<-|e] //; have b0 : b <> None by rewrite -e.
rewrite (lE b0).
have [pos|neg] := leP 0 (lead answers s w); rewrite ?(leNgt _ (_ + _)).
- rewrite pos in e; rewrite -e in vy vt; have keep := vy erefl; have same := vt erefl.
  have -> : (lead answers s w + (answers' s.1 - answers s.1 + v 1%N - up) < 0) = false by apply/negbTE; rewrite -leNgt; lra.
  split=> //; split; last by right; exact: tE.
  congr (after_yes (_, _)); rewrite /number; move: same; case: (rep) => //.
  + by rewrite (lE b0) => same; lra.
  + by rewrite hE z2 => same; lra.
  + by rewrite nE => ->; rewrite addr0.
- have e' : Some false = b by rewrite -e; congr Some; apply/esym/negbTE; rewrite -ltNge.
  rewrite -e' in vn; have keep := vn erefl.
  have -> : (lead answers s w + (answers' s.1 - answers s.1 + v 1%N - up) < 0) by lra.
  by split=> //; split; last by right; exact: tE.
Qed.
End Aligned.
End Runs.
