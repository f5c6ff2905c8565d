(* Runs that may not end (docs/theory/selection.md, alignment): what holds for the sets of outputs that finitely many steps decide holds for all, as
   these are an algebra that generates them. And a linear form in independent noises, one of which has no atoms, has none. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent.
Local Open Scope ereal_scope.

(* Monotone classes. *)
Section Classes.
Context (T : Type) (G : set (set T)).
Hypotheses (GT : G setT) (GC : forall A, G A -> G (~` A)) (GI : forall A B, G A -> G B -> G (A `&` B)).

Definition monotone (C : set (set T)) :=
  (forall F : nat -> set T, (forall n, F n `<=` F n.+1) -> (forall n, C (F n)) -> C (\bigcup_n F n)) /\
  (forall F : nat -> set T, (forall n, F n.+1 `<=` F n) -> (forall n, C (F n)) -> C (\bigcap_n F n)).
Definition generated : set (set T) := [set A | forall C, monotone C -> G `<=` C -> C A].

Lemma generated_monotone : monotone generated.
Proof.
by split=> F mono all C mC GC'; [apply: mC.1 | apply: mC.2] => // n; exact: all.
Qed.

Lemma generated_base A : G A -> generated A. Proof. by move=> GA C _; exact. Qed.

Lemma generated_complement A : generated A -> generated (~` A).
Proof.
move=> /(_ [set A | generated (~` A)]); apply; last by move=> B GB /=; apply: generated_base; exact: GC.
split=> F mono all /=.
- by rewrite setC_bigcup; apply: generated_monotone.2 => // n; apply: subsetC.
- by rewrite setC_bigcap; apply: generated_monotone.1 => // n; apply: subsetC.
Qed.

Lemma meets_monotone B : monotone [set A | generated (A `&` B)].
Proof.
split=> F mono all /=.
- by rewrite setI_bigcupl; apply: generated_monotone.1 => // n; apply: setSI.
- have -> : \bigcap_n F n `&` B = \bigcap_n (F n `&` B).
    by apply/seteqP; split=> x; [move=> [h b] n _; split=> //; exact: h | move=> h; split; [move=> n _; have [] := h n I | have [] := h 0%N I]].
  by apply: generated_monotone.2 => // n; apply: setSI.
Qed.

Lemma generated_meet A B : generated A -> generated B -> generated (A `&` B).
Proof.
have half C : G C -> forall A, generated A -> generated (A `&` C).
  by move=> gC A' /(_ [set A | generated (A `&` C)]); apply; [exact: meets_monotone | move=> D GD /=; apply: generated_base; exact: GI].
move=> gA /(_ [set B | generated (B `&` A)]); rewrite setIC; apply; first exact: meets_monotone.
by move=> C gC /=; rewrite setIC; exact: half.
Qed.

Lemma generated_sigma : sigma_algebra setT generated.
Proof.
have empty : generated set0 by rewrite -setCT; apply: generated_complement; exact: generated_base.
have join A B : generated A -> generated B -> generated (A `|` B).
  by move=> gA gB; rewrite -[A]setCK -[B]setCK -setCI; apply: generated_complement; apply: generated_meet; exact: generated_complement.
split=> // [A gA|A gA]; first by rewrite setTD; exact: generated_complement.
have -> : \bigcup_k A k = \bigcup_n \big[setU/set0]_(i < n.+1) A i.
  apply/seteqP; split=> x [n _]; first by move=> Ax; exists n => //; rewrite big_ord_recr/=; right.
  by rewrite -bigcup_mkord => -[i _ Ax]; exists i.
apply: generated_monotone.1 => n; first by rewrite [X in _ `<=` X]big_ord_recr/=; left.
by elim/big_ind: _.
Qed.
End Classes.

Section Decided.
Context d (T : measurableType d) (R : realType) (P Q : {measure set T -> \bar R}) (G : set (set T)) (e : R).
Hypotheses (P1 : P setT = 1) (Q1 : Q setT = 1).
Hypotheses (GT : G setT) (GC : forall A, G A -> G (~` A)) (GI : forall A B, G A -> G B -> G (A `&` B)) (Gm : measurable = <<s G >>).

Lemma complement_mass A : measurable A -> Q A = (1 - fine (Q (~` A)))%:E.
Proof.
move=> mA; have mA' : measurable (~` A) by exact: measurableC.
have : Q (A `|` ~` A) = Q A + Q (~` A) by rewrite measureU//; exact: setICr.
by rewrite setUCr Q1 -(fineK (mass_fin Q1 mA)) -(fineK (mass_fin Q1 mA')) -EFinD => -[->]; rewrite addrK.
Qed.

Theorem close_of_decided : (forall A, G A -> P A <= (expR e)%:E * Q A) -> close e 0 P Q.
Proof.
move=> base A mA; rewrite adde0.
pose C : set (set T) := [set A | measurable A /\ P A <= (expR e)%:E * Q A].
have mG B : G B -> measurable B by move=> GB; rewrite Gm; exact: sub_gen_smallest.
suff [_ //] : C A.
have : generated G A by move: mA; rewrite Gm; apply: smallest_sub; [exact: generated_sigma | move=> B; exact: generated_base].
apply; last by move=> B GB; split; [exact: mG | exact: base].
split=> F mono all.
- have mF n : measurable (F n) by case: (all n).
  have mU : measurable (\bigcup_n F n) by exact: bigcupT_measurable.
  split=> //; have up : nondecreasing_seq F by apply/nondecreasing_seqP => n; apply/subsetPset.
  have c : (P \o F) --> P (\bigcup_n F n) by exact: nondecreasing_cvg_mu.
  rewrite -(cvg_lim _ c)//; apply: lime_le; first by apply/cvg_ex; exists (P (\bigcup_n F n)).
  apply: nearW => n; apply: (le_trans (all n).2); apply: lee_wpmul2l; first by rewrite lee_fin expR_ge0.
  by apply: le_measure; rewrite ?inE//; exact: bigcup_sup.
- have mF n : measurable (F n) by case: (all n).
  have mI : measurable (\bigcap_n F n) by exact: bigcapT_measurable.
  split=> //; have mC n : measurable (~` F n) by exact: measurableC.
  have mU : measurable (\bigcup_n ~` F n) by exact: bigcupT_measurable.
  have up : nondecreasing_seq (fun n => ~` F n) by apply/nondecreasing_seqP => n; apply/subsetPset; exact: subsetC.
  have c : (Q \o (fun n => ~` F n)) --> Q (\bigcup_n ~` F n) by exact: nondecreasing_cvg_mu.
  rewrite (complement_mass mI) setC_bigcap; set p := P _.
  have pf : p \is a fin_num by exact: mass_fin.
  have le n : Q (~` F n) <= (1 - fine p / expR e)%:E.
    have h : p <= (expR e)%:E * Q (F n).
      by apply: le_trans (all n).2; apply: le_measure; rewrite ?inE//; exact: bigcap_inf.
    rewrite -(fineK (mass_fin Q1 (mC n))) lee_fin; move: h; rewrite complement_mass// -(fineK pf) -EFinM lee_fin => h.
    by rewrite ler_subr_addl -ler_subr_addr ler_pdivr_mulr ?expR_gt0// mulrC.
  have : Q (\bigcup_n ~` F n) <= (1 - fine p / expR e)%:E.
    rewrite -(cvg_lim _ c)//; apply: lime_le; first by apply/cvg_ex; exists (Q (\bigcup_n ~` F n)).
    by apply: nearW => n; exact: le.
  rewrite -(fineK (mass_fin Q1 mU)) lee_fin => h; rewrite -(fineK pf) -EFinM lee_fin mulrC -ler_pdivr_mulr ?expR_gt0//; lra.
Qed.
End Decided.

(* A linear form in independent noises is at one value with probability 0, if a noise without atoms is in it. *)
Section Null.
Context (R : realType) (mu : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1).

Lemma independent_null n d (W : measurableType d) (nu : {measure set W -> \bar R}) Z (a : nat -> R) j : independent_noises mu1 n nu Z ->
  (j < n)%N -> a j != 0%R -> (forall z, mu j [set z] = 0) -> forall t, nu [set w | \sum_(i < n) a i * Z i w = t]%R = 0.
Proof.
move=> I; induction I as [d W nu nu1|n d W nu Z I IH] => // jn aj atom t.
have nu1 := independent_total I.
have mform : measurable_fun setT (fun w => \sum_(i < n) a i * Z i w)%R.
  have mZ := measurable_noises I; elim: (n) => [|k IHk].
    by rewrite (_ : (fun _ => _) = cst 0%R); [exact: measurable_fun_cst | apply/funext => w; rewrite big_ord0].
  rewrite (_ : (fun _ => _) = (fun w => \sum_(i < k) a i * Z i w) \+ (fun w => a k * Z k w))%R; last by apply/funext => w; rewrite big_ord_recr.
  by apply: measurable_funD => //; apply: measurable_funM; [exact: measurable_fun_cst | exact: mZ].
pose A : set (W * R) := [set x | \sum_(i < n) a i * Z i x.1 + a n * x.2 = t]%R.
have mA : measurable A.
  have mf : measurable_fun setT (fun x : W * R => \sum_(i < n) a i * Z i x.1 + a n * x.2)%R.
    apply: measurable_funD; first by apply: (measurable_after (f := fst) _ mform); exact: measurable_first.
    apply: measurable_funM; [exact: measurable_fun_cst | exact: measurable_second].
  rewrite (_ : A = setT `&` (fun x : W * R => \sum_(i < n) a i * Z i x.1 + a n * x.2)%R @^-1` [set t]); last by rewrite setTI.
  by apply: mf => //; exact: measurable_set1.
rewrite (_ : [set w | _] = A); last first.
  apply/seteqP; split=> -[w z]; rewrite /A/= big_ord_recr/= eqxx => <-; congr (_ + _)%R; apply: eq_bigr => i _; by rewrite ltn_eqF.
rewrite -[LHS]/(\int[nu]_w mu n (xsection A w)); have sn := law_sigma_finite nu1; have sm := law_sigma_finite (mu1 n).
move: jn; rewrite ltnS leq_eqVlt => /predU1P[jE|jn].
  subst j; rewrite (eq_integral (fun=> 0)) ?integral0// => w _.
  rewrite -(atom ((t - \sum_(i < n) a i * Z i w) / a n)%R); congr (mu n _); apply/seteqP; split=> z; rewrite /xsection/= inE /A/=.
  - by move=> <-; rewrite addrAC subrr add0r mulrC mulKf.
  - by move=> ->; rewrite mulrC divfK// addrC subrK.
have := indic_fubini_tonelli sn sm mA; rewrite indic_fubini_tonelli_FE// indic_fubini_tonelli_GE// => ->.
rewrite (eq_integral (fun=> 0)) ?integral0// => z _ /=.
rewrite -(IH jn aj atom (t - a n * z)%R); congr (nu _); apply/seteqP; split=> w; rewrite /ysection/= inE /A/=.
- by move=> <-; rewrite addrK.
- by move=> ->; rewrite subrK.
Qed.
End Null.
