(* How noises are numbered where some steps of a run are repeated (docs/theory/selection.md, worst run): which noise of the run that is followed once each noise
   of the repeated run is, and in which repetition it is drawn. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import Lia.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.

(* Linear arithmetic of natural numbers. *)
Ltac natural := try apply/leP;
  repeat match goal with H : is_true (leq ?a ?b) |- _ => lazymatch goal with _ : Peano.le a b |- _ => fail | _ => have := elimT (@leP a b) H; intro end end;
  repeat match goal with H : Peano.le _ _ |- _ => revert H end; repeat match goal with H : @eq nat _ _ |- _ => revert H end;
  rewrite -?plusE -?multE -?minusE; intros; lia.

Section Numbers.
(* Numbers below lo are drawn before; then so many in the steps that are repeated k times, and the rest after them. *)
Variables (k lo part rest : nat).
Hypothesis k0 : 0 < k.
Definition once_all := lo + part + rest.
Definition repeated_all := lo + k * part + rest.
Definition numbered (c j : nat) := if j < lo then j else if j < lo + part then j + c * part else j + k.-1 * part.
Definition origin j := if j < lo then j else if j < lo + k * part then lo + (j - lo) %% part else j - k.-1 * part.

Lemma last_part : k * part = k.-1 * part + part.
Proof. by rewrite -{1}(prednK k0) mulSn addnC. Qed.

Lemma behind_all j : lo + k * part <= j -> exists i, j = lo + i + k.-1 * part.
Proof. by have e := last_part; move=> kj; exists (j - k.-1 * part - lo); natural. Qed.

Lemma copy_lt j : lo <= j -> j < lo + k * part -> (j - lo) %/ part < k.
Proof.
move=> lj jk; have p0 : 0 < part by case: (part) jk => //; rewrite muln0 addn0 ltnNge lj.
by rewrite ltn_divLR// ltn_subLR.
Qed.

(* In which repetition a noise is drawn, if in one. *)
Definition copy j : option 'I_k := if lo <= j < lo + k * part then insub ((j - lo) %/ part) else None.

Lemma copy_in j c : copy j = Some c -> [/\ lo <= j, j < lo + k * part & (j - lo) %/ part = c].
Proof. by rewrite /copy; case: ifP => // /andP[lj jk]; case: insubP => // c' _ cE [<-]. Qed.

Lemma copy_out j : copy j = None -> j < lo \/ lo + k * part <= j.
Proof.
rewrite /copy; case: ifP => [/andP[lj jk]|/negbT]; first by rewrite insubT ?copy_lt.
by rewrite negb_and -ltnNge -leqNgt => /orP.
Qed.

Lemma origin_lt j : j < repeated_all -> origin j < once_all.
Proof.
rewrite /origin /repeated_all /once_all => jn; case: (ltnP j lo) => j_lo; first by rewrite -addnA ltn_addr.
case: (ltnP j (lo + k * part)) => [jk|kj].
  have p0 : 0 < part by case: (part) jk => //; rewrite muln0 addn0 ltnNge j_lo.
  by rewrite -addnA ltn_add2l ltn_addr// ltn_mod.
have := last_part => e; natural.
Qed.

Lemma origin_outside j : copy j = None -> origin j < lo \/ lo + part <= origin j.
Proof.
rewrite /origin => /copy_out[jl|kj]; first by rewrite jl; left.
have := last_part => e; right; rewrite ifF; last by apply/negbTE; rewrite -leqNgt; natural.
by rewrite ifF; [natural | apply/negbTE; rewrite -leqNgt].
Qed.

Lemma origin_inside j c : copy j = Some c -> lo <= origin j /\ origin j < lo + part.
Proof.
move=> /copy_in[lj jk _]; rewrite /origin ifF; last by apply/negbTE; rewrite -leqNgt.
have p0 : 0 < part by case: (part) jk => //; rewrite muln0 addn0 ltnNge lj.
by rewrite jk leq_addr ltn_add2l ltn_mod.
Qed.

Lemma numbered_lt c j : c < k -> j < once_all -> numbered c j < repeated_all.
Proof.
rewrite /once_all /repeated_all /numbered => ck jn; have e := last_part.
have cp : c * part <= k.-1 * part by rewrite leq_mul2r -ltnS prednK// ck orbT.
case: (ltnP j lo) => j_lo; first by natural.
by case: (ltnP j (lo + part)) => jp; natural.
Qed.

Lemma origin_numbered c j : c < k -> j < once_all -> origin (numbered c j) = j.
Proof.
rewrite /once_all /origin => ck jn; have e := last_part; rewrite /numbered.
have cp : c * part <= k.-1 * part by rewrite leq_mul2r -ltnS prednK// ck orbT.
case: (ltnP j lo) => j_lo; first by rewrite j_lo.
case: (ltnP j (lo + part)) => jp.
  rewrite ifF; last by apply/negbTE; rewrite -leqNgt; natural.
  rewrite ifT; last by natural.
  by rewrite -addnBAC// [_ - _ + _]addnC modnMDl modn_small ?subnKC//; natural.
rewrite ifF; last by apply/negbTE; rewrite -leqNgt; natural.
rewrite ifF; last by apply/negbTE; rewrite -leqNgt; natural.
by rewrite addnK.
Qed.

(* The noises that a repetition sees: those outside, and its own. *)
Definition seen_by (c : 'I_k) j := if copy j is Some c' then c' == c else true.

Lemma seen_numbered (c : 'I_k) j : j < once_all -> seen_by c (numbered c j).
Proof.
rewrite /seen_by => jn; case E : (copy _) => [c'|//]; have [l1 l2 l3] := copy_in E; apply/eqP/val_inj => /=; rewrite -l3.
move: l1 l2 l3; rewrite /numbered; have e := last_part.
case: (ltnP j lo) => j_lo; first by rewrite leqNgt j_lo.
case: (ltnP j (lo + part)) => jp; last by move=> _ l2 _; exfalso; natural.
move=> _ _ _; have p0 : 0 < part by natural.
by rewrite -addnBAC// [_ - _ + _]addnC divnMDl// divn_small ?addn0//; natural.
Qed.

Lemma numbered_origin (c : 'I_k) j : j < repeated_all -> seen_by c j -> numbered c (origin j) = j.
Proof.
move=> jn; rewrite /seen_by; have e := last_part; case E : (copy j) => [c'|].
  move=> /eqP ec; have [l1 l2 l3] := copy_in E; have [o1 o2] := origin_inside E.
  rewrite /numbered ltnNge o1 /= o2 /origin ltnNge l1 /= l2 -addnA -ec -l3 addnC [_ %% _ + _]addnC -divn_eq subnK//.
move=> _; have [jl|kj] := copy_out E; first by rewrite /origin jl /numbered jl.
rewrite /origin ifF; last by apply/negbTE; rewrite -leqNgt; natural.
rewrite ifF; last by apply/negbTE; rewrite -leqNgt.
rewrite /numbered ifF; last by apply/negbTE; rewrite -leqNgt; natural.
by rewrite ifF ?subnK//; [natural | apply/negbTE; rewrite -leqNgt; natural].
Qed.

(* A sum over the noises that a repetition sees is one over those of the run that is followed once. *)
Lemma sum_seen (V : ringType) (c : 'I_k) (F E : nat -> V) :
  (\sum_(j < repeated_all) (if seen_by c j then F (origin j) * E j else 0) = \sum_(j < once_all) F j * E (numbered c j))%R.
Proof.
rewrite -big_mkcond /= (reindex_onto (fun j : 'I_once_all => Ordinal (numbered_lt (ltn_ord c) (ltn_ord j)))
  (fun j : 'I_repeated_all => Ordinal (origin_lt (ltn_ord j)))) /=; last first.
  by move=> j sj; apply: val_inj; exact: numbered_origin.
apply: eq_big => [j|j _]; last by rewrite origin_numbered.
by rewrite seen_numbered//=; apply/eqP/val_inj; exact: origin_numbered.
Qed.
End Numbers.
