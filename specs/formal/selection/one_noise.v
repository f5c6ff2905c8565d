(* One of several independent noises is drawn again (docs/theory/selection.md): its law is the same whatever the others are. So it may be shifted by what
   hangs on the others; and what it comes to is an integral over it of the chance of the others. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions kernels independent.
Local Open Scope ereal_scope.

Section Again.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}).
Hypothesis mu1 : forall j, mu j setT = 1.

(* put w z: the noise i is z, the others are those of w. *)
Definition puts_one (i : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R) (put : W * R -> W) :=
  [/\ measurable_fun setT put, forall w z, Z i (put (w, z)) = z, forall w z j, j != i -> Z j (put (w, z)) = Z j w,
    forall w z z', put (put (w, z), z') = put (w, z') &
    forall A, measurable A -> nu A = \int[nu]_w mu i [set z | A (put (w, z))]].

Let constant i d (W : measurableType d) : markov (fun _ : W => mu i).
Proof. by split=> // S mS; exact: measurable_fun_cst. Qed.

Lemma measurable_put d (W : measurableType d) (put : W * R -> W) A : measurable_fun setT put -> measurable A ->
  measurable [set x | A (put x)].
Proof. by move=> mput mA; rewrite -[X in measurable X]setTI; exact: mput. Qed.

Lemma section_set d (W : measurableType d) d' (V : measurableType d') (A : set (W * V)) w : [set z | A (w, z)] = xsection A w.
Proof. by apply/seteqP; split=> z; rewrite /xsection/= inE. Qed.

Lemma section_set2 d (W : measurableType d) d' (V : measurableType d') (A : set (W * V)) z : [set w | A (w, z)] = ysection A z.
Proof. by apply/seteqP; split=> w; rewrite /ysection/= inE. Qed.

(* It can be drawn again. *)
Lemma draw_again n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z : independent_noises mu1 n nu Z ->
  forall i, (i < n)%N -> exists put, puts_one i nu Z put.
Proof.
move=> I; induction I as [|n d W nu Z I IH] => // i.
have nu1 := independent_total I.
rewrite ltnS leq_eqVlt => /predU1P[->|lt].
- pose put (x : W * R * R) : W * R := (x.1.1, x.2).
  have mput : measurable_fun setT put.
    apply/prod_measurable_funP; split; last exact: measurable_second.
    exact: (measurable_after (@measurable_first _ _ _ _) (@measurable_first _ _ _ _)).
  exists put; split=> //=.
  + by move=> w z; rewrite eqxx.
  + by move=> w z j /negbTE ->.
  move=> A mA; rewrite -[LHS]/(\int[nu]_w mu n (xsection A w)).
  rewrite fubini_tonelli1//=.
    apply: eq_integral => w _; rewrite /fubini_F/= (eq_integral (cst (mu n (xsection A w)))); last by move=> y _; rewrite section_set.
    by rewrite integral_cst// mu1 mule1.
  rewrite (_ : (fun x => _) = (fun w => mu n (xsection A w)) \o fst).
    by apply: (measurable_after (@measurable_first _ _ _ _)); exact: markov_sections (constant n W) A mA.
  by apply/funext => x; rewrite /= -section_set.
- have [put [mput pi po pp again]] := IH i lt; have ne : (i == n) = false by exact: ltn_eqF.
  pose put' (x : W * R * R) : W * R := (put (x.1.1, x.2), x.1.2).
  have mput' : measurable_fun setT put'.
    apply/prod_measurable_funP; split; last exact: (measurable_after (@measurable_first _ _ _ _) (@measurable_second _ _ _ _)).
    apply: (measurable_after (f := fun x : W * R * R => (x.1.1, x.2))); last exact: mput.
    apply/prod_measurable_funP; split; last exact: measurable_second.
    exact: (measurable_after (@measurable_first _ _ _ _) (@measurable_first _ _ _ _)).
  exists put'; split=> //=.
  + by move=> w z; rewrite ne pi.
  + by move=> w z j ji; case: ifP => _ //; rewrite po.
  + by move=> w z z'; rewrite /put'/= pp.
  move=> A mA; have mA' := measurable_put mput' mA.
  have mf : measurable_fun setT (fun x : W * R => mu i [set z | A (put' (x, z))]).
    rewrite (_ : (fun x => _) = (fun x => mu i (xsection [set x | A (put' x)] x))).
      exact: markov_sections (constant i [the measurableType _ of (W * R)%type]) _ mA'.
    by apply/funext => x; rewrite -section_set.
  rewrite fubini_tonelli2//; last exact: law_sigma_finite.
  have sn := law_sigma_finite nu1.
  rewrite -[LHS]/(\int[nu]_w mu n (xsection A w)).
  have := indic_fubini_tonelli sn (law_sigma_finite (mu1 n)) mA; rewrite indic_fubini_tonelli_FE// indic_fubini_tonelli_GE// => ->.
  apply: eq_integral => y _; rewrite /fubini_G/= (again (ysection A y)); last exact: measurable_ysection.
  by apply: eq_integral => w _; congr (mu i _); apply/seteqP; split=> z; rewrite /ysection/= inE.
Qed.

Section Moved.
Context (i : nat) d (W : measurableType d) (nu : {measure set W -> \bar R}) (Z : nat -> W -> R) (put : W * R -> W).
Hypothesis puts : puts_one i nu Z put.

(* It is moved by what hangs on the others, at what each such move costs at most. *)
Lemma one_moved (c : R) (t : W -> R) E E' :
  measurable E -> measurable E' -> (forall w B, measurable B -> mu i [set z | B (z + t w)%R] <= (expR c)%:E * mu i B) ->
  (forall w z, E (put (w, z)) -> E' (put (w, z + t w)%R)) -> nu E <= (expR c)%:E * nu E'.
Proof.
move=> mE mE' cost moved; have [mput _ _ _ again] := puts.
have ms A : measurable A -> measurable_fun setT (fun w => mu i [set z | A (put (w, z))]).
  move=> mA; rewrite (_ : (fun w => _) = (fun w => mu i (xsection [set x | A (put x)] w))).
    exact: markov_sections (constant i W) _ (measurable_put mput mA).
  by apply/funext => w; rewrite -section_set.
have mz A w : measurable A -> measurable [set z | A (put (w, z))].
  by move=> mA; rewrite (section_set [set x | A (put x)]); apply: (measurable_xsection R); exact: measurable_put.
rewrite !again// -ge0_integralM ?lee_fin ?expR_ge0//; last exact: ms.
apply: ge0_le_integral => //.
- exact: ms.
- by move=> w _; rewrite mule_ge0 ?lee_fin ?expR_ge0.
- by apply: measurable_funeM; exact: ms.
move=> w _; apply: le_trans (cost w _ (mz _ w mE')).
apply: le_measure; rewrite ?inE; first exact: mz.
- have m : measurable_fun setT (fun z : R => z + t w)%R by apply: measurable_funD; [exact: measurable_fun_id | exact: measurable_fun_cst].
  by rewrite -[X in measurable X]setTI; apply: (m measurableT); exact: mz.
- by move=> z /=; exact: moved.
Qed.

(* What almost never holds whatever the others are. *)
Lemma one_null E : measurable E -> (forall w, mu i [set z | E (put (w, z))] = 0) -> nu E = 0.
Proof.
by move=> mE zero; have [_ _ _ _ again] := puts; rewrite again// (eq_integral (cst 0)) ?integral0// => w _; exact: zero.
Qed.
End Moved.
End Again.
