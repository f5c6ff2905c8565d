(* The tactic `lra` for real closed arithmetic over an abstract ordered field, as `lra` of Coq's library is for its own reals: linear
   inequalities and equations, with products as atoms after expansion. The witness that Coq's Micromega finds is checked by reflection, with
   the checker that Micromega itself proves correct for every ordered ring. *)
Require Import ZArith Lia QArith OrderedRing Ring_theory RingMicromega QMicromega micromega.Tauto EnvRing Lqa.
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
Delimit Scope Z_scope with coqZ.
Delimit Scope Q_scope with coqQ.

Module Lra.
Section Sound.
Variable R : realFieldType.

Definition leR (a b : R) : Prop := a <= b.
Definition ltR (a b : R) : Prop := a < b.

Lemma sor : SOR (0 : R) 1 +%R *%R (fun a b => a - b) -%R (@eq R) leR ltR.
Proof.
constructor; rewrite /leR /ltR //.
- by split=> [x | x y -> | x y z -> ->].
- by move=> ? ? -> ? ? ->.
- by move=> ? ? -> ? ? ->.
- by move=> ? ? ->.
- by move=> ? ? -> ? ? ->.
- by move=> ? ? -> ? ? ->.
- constructor=> //; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r | exact: mulrC | exact: mulrA | exact: mulrDl | exact: subrr].
- by move=> n m nm mn; apply/eqP; rewrite eq_le nm.
- by move=> n m p; apply: le_trans.
- move=> n m; rewrite lt_neqAle; split=> [/andP[/eqP nm ->] | [-> /eqP ->]] //.
- by move=> n m; case: (ltgtP n m) => nm; [left | right; right | right; left].
- by move=> n m p; rewrite ler_add2l.
- by move=> n m; apply: mulr_gt0.
- by move/esym/eqP; rewrite oner_eq0.
Qed.

Definition z2r (z : Z) : R := (Z.to_nat z)%:R - (Z.to_nat (- z))%:R.

Lemma z2rB (n m : nat) : z2r (Z.of_nat n - Z.of_nat m) = n%:R - m%:R.
Proof.
rewrite /z2r; case: (leqP n m) => [nm | /ltnW nm].
- rewrite (_ : Z.to_nat _ = 0%N); last by move/ssrnat.leP: nm => nm; lia.
  rewrite (_ : Z.to_nat _ = (m - n)%N); last by move/ssrnat.leP: nm => nm; rewrite -[subn]/Nat.sub; lia.
  by rewrite natrB// sub0r opprB.
- rewrite (_ : Z.to_nat _ = (n - m)%N); last by move/ssrnat.leP: nm => nm; rewrite -[subn]/Nat.sub; lia.
  rewrite (_ : Z.to_nat _ = 0%N); last by move/ssrnat.leP: nm => nm; lia.
  by rewrite natrB// subr0.
Qed.

Lemma Zdiff z : z = (Z.of_nat (Z.to_nat z) - Z.of_nat (Z.to_nat (- z)))%coqZ. Proof. lia. Qed.

Lemma Zadd n m p q : (Z.of_nat n - Z.of_nat m + (Z.of_nat p - Z.of_nat q) = Z.of_nat (Nat.add n p) - Z.of_nat (Nat.add m q))%coqZ.
Proof. lia. Qed.

Lemma Zmul n m p q : ((Z.of_nat n - Z.of_nat m) * (Z.of_nat p - Z.of_nat q) =
  Z.of_nat (Nat.add (Nat.mul n p) (Nat.mul m q)) - Z.of_nat (Nat.add (Nat.mul n q) (Nat.mul m p)))%coqZ.
Proof. by rewrite !Nat2Z.inj_add !Nat2Z.inj_mul; lia. Qed.

Lemma z2rD a b : z2r (a + b) = z2r a + z2r b.
Proof. by rewrite (Zdiff a) (Zdiff b) Zadd !z2rB !plusE !natrD opprD addrACA. Qed.

Lemma z2rN a : z2r (- a) = - z2r a.
Proof. by rewrite /z2r Z.opp_involutive opprB. Qed.

Lemma z2rM a b : z2r (a * b) = z2r a * z2r b.
Proof.
rewrite (Zdiff a) (Zdiff b) Zmul !z2rB !plusE !multE !natrD !natrM; move: (Z.to_nat _)%:R (Z.to_nat _)%:R (Z.to_nat _)%:R (Z.to_nat _)%:R.
by move=> n m p q; rewrite mulrBl !mulrBr !opprB !opprD addrACA addrA addrAC -!addrA; congr (_ + _); rewrite addrA addrC.
Qed.

Lemma z2r_nat n : z2r (Z.of_nat n) = n%:R.
Proof. by rewrite -[Z.of_nat n]Z.sub_0_r (z2rB n 0) subr0. Qed.

Lemma z2r_pos p : z2r (Zpos p) = (Pos.to_nat p)%:R.
Proof. by rewrite -positive_nat_Z z2r_nat. Qed.

Lemma z2r_pos_gt0 p : 0 < z2r (Zpos p).
Proof. by rewrite z2r_pos ltr0n; apply/ssrnat.ltP; lia. Qed.

Lemma z2r_le a b : (a <= b)%coqZ -> z2r a <= z2r b.
Proof.
move=> ab; rewrite -subr_ge0 -z2rN -z2rD (_ : (b + - a = Z.of_nat (Z.to_nat (b - a)))%coqZ); last by lia.
by rewrite z2r_nat ler0n.
Qed.

Lemma z2r_inj a b : z2r a = z2r b -> a = b.
Proof.
move=> ab; apply: Z.le_antisymm; apply/Z.nlt_ge => lt.
- have : z2r (b + 1) <= z2r a by apply: z2r_le; lia.
  by rewrite z2rD ab (z2r_pos 1) ger_addl ler10.
- have : z2r (a + 1) <= z2r b by apply: z2r_le; lia.
  by rewrite z2rD ab (z2r_pos 1) ger_addl ler10.
Qed.

Definition q2r (c : Q) : R := z2r (Qnum c) / z2r (Zpos (Qden c)).

Lemma den_neq0 p : z2r (Zpos p) != 0. Proof. by rewrite gt_eqF// z2r_pos_gt0. Qed.

Lemma q2rE a b : (q2r a = q2r b) <-> z2r (Qnum a * Zpos (Qden b)) = z2r (Qnum b * Zpos (Qden a)).
Proof.
rewrite !z2rM /q2r; split=> [/eqP | /eqP].
- by rewrite eqr_div ?den_neq0// => /eqP.
- by rewrite -eqr_div ?den_neq0// => /eqP.
Qed.

Lemma pow_posE (x : R) n : @pow_pos R *%R x n = x ^+ Pos.to_nat n.
Proof.
elim: n => [n IH | n IH |].
- rewrite (_ : pow_pos _ _ _ = x * (@pow_pos R *%R x n * @pow_pos R *%R x n)) // IH -exprD -exprS; congr (x ^+ _).
  by rewrite -plusE; lia.
- rewrite (_ : pow_pos _ _ _ = @pow_pos R *%R x n * @pow_pos R *%R x n) // IH -exprD; congr (x ^+ _).
  by rewrite -plusE; lia.
- by rewrite expr1.
Qed.

Lemma q2r_nat n : q2r (Qmake (Z.of_nat n) 1) = n%:R.
Proof. by rewrite /q2r z2r_nat z2r_pos divr1. Qed.
Lemma q2r_inv n : q2r (Qmake 1 (Pos.of_nat n.+1)) = n.+1%:R^-1.
Proof. by rewrite /q2r !z2r_pos Nat2Pos.id// mul1r. Qed.

Lemma sor_addon : SORaddon (0 : R) 1 +%R *%R (fun a b => a - b) -%R (@eq R) leR 0%coqQ 1%coqQ Qplus Qmult Qminus Qopp Qeq_bool Qle_bool q2r
  N.to_nat (@GRing.exp R).
Proof.
have qD x y : q2r (x + y) = q2r x + q2r y.
  rewrite /q2r /Qplus/= Pos2Z.inj_mul z2rD !z2rM addf_div ?den_neq0//.
have qN x : q2r (- x) = - q2r x by rewrite /q2r /= z2rN mulNr.
constructor.
- constructor=> //.
  + by rewrite /q2r /= z2r_pos /z2r /= subr0 mul0r.
  + by rewrite /q2r /= !z2r_pos divr1.
  + by move=> x y; rewrite qD qN.
  + by move=> x y; rewrite /q2r /Qmult/= Pos2Z.inj_mul !z2rM invfM mulrACA.
  + by move=> x y /Qeq_bool_eq xy; apply/q2rE; move: xy; rewrite /Qeq => ->.
- by constructor=> x [|n] //=; rewrite pow_posE.
- move=> x y /Qeq_bool_neq xy /q2rE /z2r_inj; exact: xy.
- move=> x y /Qle_bool_imp_le xy; rewrite /leR /q2r ler_pdivr_mulr ?z2r_pos_gt0// mulrAC ler_pdivl_mulr ?z2r_pos_gt0//.
  by rewrite -!z2rM; apply: z2r_le.
Qed.

(* What the tactic reads: the operations of the goal as they are written. *)
Inductive term := TX of positive | TN of nat | TV of nat | T0 | T1 | TAdd of term & term | TMul of term & term | TOpp of term
  | TExp of term & nat | TMuln of term & nat.
Fixpoint value (env : positive -> R) (t : term) : R :=
  match t with
  | TX i => env i
  | TN n => n%:R
  | TV n => n.+1%:R^-1
  | T0 => 0
  | T1 => 1
  | TAdd a b => value env a + value env b
  | TMul a b => value env a * value env b
  | TOpp a => - value env a
  | TExp a n => value env a ^+ n
  | TMuln a n => value env a *+ n
  end.
Fixpoint poly (t : term) : PExpr Q :=
  match t with
  | TX i => @PEX Q i
  | TN n => PEc (Qmake (Z.of_nat n) 1)
  | TV n => PEc (Qmake 1 (Pos.of_nat n.+1))
  | T0 => PEc 0%coqQ
  | T1 => PEc 1%coqQ
  | TAdd a b => PEadd (poly a) (poly b)
  | TMul a b => PEmul (poly a) (poly b)
  | TOpp a => PEopp (poly a)
  | TExp a n => PEpow (poly a) (N.of_nat n)
  | TMuln a n => PEmul (poly a) (PEc (Qmake (Z.of_nat n) 1))
  end.

Definition poly_value := eval_pexpr +%R *%R (fun a b : R => a - b) -%R q2r N.to_nat (@GRing.exp R).

Lemma poly_valueE env t : poly_value env (poly t) = value env t.
Proof.
rewrite /poly_value; elim: t => [i | n | n | | | a IHa b IHb | a IHa b IHb | a IH | a IH n | a IH n] //.
- exact: q2r_nat.
- exact: q2r_inv.
- exact: (q2r_nat 0).
- exact: (q2r_nat 1).
- by rewrite /= IHa IHb.
- by rewrite /= IHa IHb.
- by rewrite /= IH.
- by rewrite -[RHS]/(value env a ^+ n) -IH /= Nnat.Nat2N.id.
- by rewrite -[RHS]/(value env a *+ n) -IH -mulr_natr -q2r_nat.
Qed.

Inductive comparison := Cle | Clt | Ceq.
Definition op_of c := match c with Cle => OpLe | Clt => OpLt | Ceq => OpEq end.
Definition relation := (comparison * term * term)%type.
Definition formula_of (r : relation) : Formula Q := Build_Formula (poly r.1.2) (op_of r.1.1) (poly r.2).
Definition holds env (r : relation) : Prop :=
  match r.1.1 with
  | Cle => value env r.1.2 <= value env r.2
  | Clt => value env r.1.2 < value env r.2
  | Ceq => value env r.1.2 = value env r.2
  end.
Fixpoint refuted env (hs : list relation) : Prop := if hs is h :: t then holds env h -> refuted env t else False.
Fixpoint question (hs : list relation) : BFormula (Formula Q) isProp :=
  if hs is h :: t then IMPL (A isProp (formula_of h) tt) None (question t) else FF isProp.

Definition eval_sharp := eval_formula +%R *%R (fun a b : R => a - b) -%R (@eq R) leR ltR q2r N.to_nat (@GRing.exp R).
Definition eval_bool (env : PolEnv R) (f : Formula Q) : bool :=
  let a := poly_value env (Flhs f) in let b := poly_value env (Frhs f) in
  match Fop f with OpEq => a == b | OpNEq => a != b | OpLe => a <= b | OpGe => b <= a | OpLt => a < b | OpGt => b < a end.
Definition eval_kind (env : PolEnv R) (k : kind) (f : Formula Q) : rtyp k :=
  match k with isProp => eval_sharp env f | isBool => eval_bool env f end.

Lemma eval_kindE env k f : hold k (eval_kind env k f) <-> eval_sharp env f.
Proof.
case: k => //; case: f => a op b; rewrite /eval_kind /eval_bool /eval_sharp /=.
by case: op => //=; [split=> /eqP | split=> [/eqP | /eqP]].
Qed.

Definition eval_normal := eval_nformula (0 : R) +%R *%R (@eq R) leR ltR q2r.

Lemma question_sound (hs : list relation) w : QTautoChecker (question hs) w = true -> forall env, refuted env hs.
Proof.
move=> ok env.
have : @eval_f (Formula Q) rtyp unit unit e_rtyp (eval_kind env) isProp (question hs).
  apply: (@tauto_checker_sound (PolEnv R) (Formula Q) (NFormula Q) unit qunsat qdeduce (Qnormalise unit) (Qnegate unit)
    eval_normal _ _ _ eval_kind _ _ QWitness (fun cl => QWeakChecker (List.map fst cl)) _ _ w ok env).
  - exact: eval_nformula_dec sor _ _.
  - by move=> [t o] H e; apply: (check_inconsistent_sound sor sor_addon t o H).
  - by move=> t t' u H e et et'; apply: (nformula_plus_nformula_correct sor sor_addon e t t' et et' H).
  - by move=> e b t tg H; apply/eval_kindE; apply/(cnf_normalise_correct sor sor_addon e t tg).
  - move=> e b t tg H; rewrite Tauto.hold_eNOT eval_kindE.
    by apply/(cnf_negate_correct sor sor_addon e t tg).
  - move=> t w' H e; have := checker_nf_sound sor sor_addon _ _ H e.
    elim: t {H} => //= -[a []] t IH H /= ha; apply: IH; exact: H.
elim: hs {ok} => //= -[[c a] b] hs IH H h; apply: IH; apply: H.
by move: h; rewrite /eval_sharp /holds /= -!/(poly_value _ _) !poly_valueE; case: c.
Qed.

Lemma le_by (a b : R) : (b < a -> False) -> a <= b. Proof. by rewrite leNgt => H; apply/negP. Qed.
Lemma lt_by (a b : R) : (b <= a -> False) -> a < b. Proof. by rewrite ltNge => H; apply/negP. Qed.
Lemma eq_by (a b : R) : (b < a -> False) -> (a < b -> False) -> a = b.
Proof. by move=> H H'; apply/eqP; rewrite eq_le; apply/andP; split; apply: le_by. Qed.
End Sound.

(* Reading: atoms are kept in a list, and looked up by their form. *)
Ltac lra_head x := lazymatch x with ?f _ => lra_head f | _ => constr:(x) end.
Ltac lra_same x y :=
  match constr:(Set) with
  | _ => let _ := match constr:(Set) with _ => constr_eq x y end in constr:(true)
  | _ => let f := lra_head x in let g := lra_head y in let _ := match constr:(Set) with _ => constr_eq f g; unify x y end in constr:(true)
  | _ => constr:(false)
  end.
Ltac lra_in x l := match l with nil => constr:(false) | cons ?y ?t => match lra_same x y with true => constr:(true) | false => lra_in x t end end.
Ltac lra_is_nat n := match n with O => constr:(true) | S ?m => lra_is_nat m | _ => constr:(false) end.
Ltac lra_add x l := match lra_in x l with true => constr:(l) | false => constr:(cons x l) end.
Ltac lra_nat n := let n := eval compute in n in match lra_is_nat n with true => constr:(n) end.
Ltac lra_atoms x l :=
  match x with
  | GRing.zero _ => constr:(l)
  | GRing.one _ => constr:(l)
  | GRing.add ?a ?b => let l := lra_atoms a l in lra_atoms b l
  | GRing.opp ?a => lra_atoms a l
  | GRing.mul ?a ?b => let l := lra_atoms a l in lra_atoms b l
  | GRing.exp ?a ?n => match constr:(tt) with _ => let n := lra_nat n in lra_atoms a l | _ => lra_add x l end
  | @GRing.natmul _ (@GRing.one _) ?n => match constr:(tt) with _ => let n := lra_nat n in constr:(l) | _ => lra_add x l end
  | @intmul _ (@GRing.one _) (Posz ?n) => match constr:(tt) with _ => let n := lra_nat n in constr:(l) | _ => lra_add x l end
  | GRing.natmul ?a ?n => match constr:(tt) with _ => let n := lra_nat n in lra_atoms a l | _ => lra_add x l end
  | @GRing.inv _ (@GRing.natmul _ (@GRing.one _) ?n) => match constr:(tt) with _ => let n := lra_nat n in match n with S _ => constr:(l) end | _ => lra_add x l end
  | @GRing.inv _ (@intmul _ (@GRing.one _) (Posz ?n)) => match constr:(tt) with _ => let n := lra_nat n in match n with S _ => constr:(l) end | _ => lra_add x l end
  | _ => lra_add x l
  end.
Ltac lra_index x l i := match l with cons ?y ?t => match lra_same x y with true => constr:(i) | false => let j := eval compute in (Pos.succ i) in lra_index x t j end end.
Ltac lra_term x l :=
  let atom := fun _ => let i := lra_index x l constr:(1%positive) in constr:(TX i) in
  match x with
  | GRing.zero _ => constr:(T0)
  | GRing.one _ => constr:(T1)
  | GRing.add ?a ?b => let a := lra_term a l in let b := lra_term b l in constr:(TAdd a b)
  | GRing.opp ?a => let a := lra_term a l in constr:(TOpp a)
  | GRing.mul ?a ?b => let a := lra_term a l in let b := lra_term b l in constr:(TMul a b)
  | GRing.exp ?a ?n => match constr:(tt) with _ => let n := lra_nat n in let a := lra_term a l in constr:(TExp a n) | _ => atom tt end
  | @GRing.natmul _ (@GRing.one _) ?n => match constr:(tt) with _ => let n := lra_nat n in constr:(TN n) | _ => atom tt end
  | @intmul _ (@GRing.one _) (Posz ?n) => match constr:(tt) with _ => let n := lra_nat n in constr:(TN n) | _ => atom tt end
  | GRing.natmul ?a ?n => match constr:(tt) with _ => let n := lra_nat n in let a := lra_term a l in constr:(TMuln a n) | _ => atom tt end
  | @GRing.inv _ (@GRing.natmul _ (@GRing.one _) ?n) => match constr:(tt) with _ => let n := lra_nat n in match n with S ?m => constr:(TV m) end | _ => atom tt end
  | @GRing.inv _ (@intmul _ (@GRing.one _) (Posz ?n)) => match constr:(tt) with _ => let n := lra_nat n in match n with S ?m => constr:(TV m) end | _ => atom tt end
  | _ => atom tt
  end.
Ltac lra_goal_atoms g l :=
  match g with
  | is_true (Order.le ?a ?b) -> ?g => let l := lra_atoms a l in let l := lra_atoms b l in lra_goal_atoms g l
  | is_true (Order.lt ?a ?b) -> ?g => let l := lra_atoms a l in let l := lra_atoms b l in lra_goal_atoms g l
  | ?a = ?b -> ?g => let l := lra_atoms a l in let l := lra_atoms b l in lra_goal_atoms g l
  | False => constr:(l)
  end.
Ltac lra_goal g l :=
  match g with
  | is_true (Order.le ?a ?b) -> ?g => let a := lra_term a l in let b := lra_term b l in let t := lra_goal g l in constr:(cons (Cle, a, b) t)
  | is_true (Order.lt ?a ?b) -> ?g => let a := lra_term a l in let b := lra_term b l in let t := lra_goal g l in constr:(cons (Clt, a, b) t)
  | ?a = ?b -> ?g => let a := lra_term a l in let b := lra_term b l in let t := lra_goal g l in constr:(cons (Ceq, a, b) t)
  | False => constr:(@nil relation)
  end.
Ltac lra_env R l := match l with nil => constr:(fun _ : positive => 0 : R) | _ =>
  constr:(fun i : positive => List.nth (Pos.to_nat i).-1 l (0 : R)) end.
Ltac lra_solve R :=
  match goal with |- ?g =>
    let l := lra_goal_atoms g constr:(@nil R) in
    let hs := lra_goal g l in
    let f := eval compute in (question hs) in
    let env := lra_env R l in
    let w := fresh "witness" in
    wlra_Q w f;
    let w' := eval unfold w in w in
    clear w;
    exact (@question_sound _ hs w' (eq_refl true) env)
  end.
Ltac lra_type_is R a := let t := type of a in unify t R.
Ltac lra_revert R :=
  repeat match goal with
  | H : is_true (@Order.le _ _ ?a ?b) |- _ => lra_type_is R a; revert H
  | H : is_true (@Order.lt _ _ ?a ?b) |- _ => lra_type_is R a; revert H
  | H : @eq _ ?a ?b |- _ => lra_type_is R a; revert H
  end.
Ltac lra_finish R := lra_revert R; lra_solve R.
Ltac lra :=
  intros;
  lazymatch goal with
  | |- is_true (@Order.le _ _ ?a ?b) => let t := type of a in apply: le_by; intro; lra_finish t
  | |- is_true (@Order.lt _ _ ?a ?b) => let t := type of a in apply: lt_by; intro; lra_finish t
  | H : is_true (@Order.le _ _ ?a ?b) |- False => let t := type of a in lra_finish t
  | H : is_true (@Order.lt _ _ ?a ?b) |- False => let t := type of a in lra_finish t
  | |- @eq ?t ?a ?b => apply: eq_by; intro; lra_finish t
  end.

End Lra.
Ltac lra := Lra.lra.

Section Test.
Variable R : realFieldType.
Goal forall a b c : R, a <= b -> b < c -> a / 2 + 1 < c / 2 + 1. Proof. lra. Qed.
Goal forall a b c : R, (a + b) * c - a * c = b * c. Proof. lra. Qed.
Goal forall a b c d : R, 0 <= a * b -> c = d -> a * (b + 2) - 3%:R / 4%:R + c <= a * b *+ 2 + 2 * a + d. Proof. lra. Qed.
Goal forall f : R -> R, forall a b c : R, f (a + b) <= c -> ~~ (c < 0) -> f (a + b) - c < 1. Proof. lra. Qed.
Goal forall a b : R, (a + b) ^+ 2 - a ^+ 2 = b ^+ 2 + a * b *+ 2. Proof. lra. Qed.
End Test.
