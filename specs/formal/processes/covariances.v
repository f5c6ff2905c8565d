(* Covariance matrices (docs/theory/processes.md: process evaluations): the norm of a form is a seminorm, the norm of a difference h of n values
   is D, D^2 = h K^-1 h', K the covariance of their noise, and fewer values, or functionals of them, do not see more. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic norms gaussian_curve.

(* -- The norm of a form -- *)
Section FormNorm.
Context (R : realType) (V : lmodType R) (B : V -> V -> R) (form : inner_form B).
Definition form_norm (z : V) : R := Num.sqrt (B z z).

Let scaled_cauchy x y : 0 <= B y y * (B x x * B y y - B x y ^+ 2).
Proof.
have := form_ge0 form (B y y *: x - B x y *: y).
rewrite (form_difference form) !(formZl form) !(formZr form) (formC form y x); lra.
Qed.

(* Cauchy and Schwarz. *)
Lemma form_cauchy x y : B x y ^+ 2 <= B x x * B y y.
Proof.
have x0 := form_ge0 form x; have y0 := form_ge0 form y.
have [yy|yn] := eqVneq (B y y) 0; last first.
  have yp : 0 < B y y by rewrite lt_def yn.
  by have := scaled_cauchy x y; rewrite pmulr_rge0// subr_ge0.
have [xx|xn] := eqVneq (B x x) 0; last first.
  have xp : 0 < B x x by rewrite lt_def xn.
  by have := scaled_cauchy y x; rewrite pmulr_rge0// subr_ge0 (formC form y x) [X in _ <= X]mulrC.
have h1 := form_ge0 form (x - y); have h2 := form_ge0 form (x + y).
rewrite (form_difference form) xx yy (formC form y x) in h1; rewrite (formDl form) !(formDr form) xx yy (formC form y x) in h2.
have -> : B x y = 0 by lra.
by rewrite xx mul0r expr0n.
Qed.

Lemma form_norm_sqr z : form_norm z ^+ 2 = B z z. Proof. by rewrite sqr_sqrtr// form_ge0. Qed.

Lemma form_seminorm : seminorm form_norm.
Proof.
split=> [x y|a x]; last first.
  by rewrite /form_norm (formZl form) (formZr form) mulrA -expr2 sqrtrM ?sqr_ge0// sqrtr_sqr.
have p0 : 0 <= form_norm x + form_norm y by rewrite addr_ge0 ?sqrtr_ge0.
rewrite -(ler_pexpn2r (n := 2))// ?nnegrE ?sqrtr_ge0// form_norm_sqr (formDl form) !(formDr form) (formC form y x).
have : B x y <= form_norm x * form_norm y.
  rewrite /form_norm -sqrtrM ?(form_ge0 form)//; apply: le_trans (ler_norm _) _.
  by rewrite -sqrtr_sqr ler_wsqrtr// form_cauchy.
have := form_norm_sqr x; have := form_norm_sqr y; rewrite !expr2; lra.
Qed.
End FormNorm.

(* -- Matrices -- *)
Section Matrices.
Context (R : realType).

(* Symmetric and positive definite. *)
Definition covariance n (K : 'M[R]_n) := K^T = K /\ forall w : 'rV[R]_n, w != 0 -> 0 < (w *m K *m w^T) 0 0.

Definition inverse_form n (K : 'M[R]_n) (x y : 'rV[R]_n) : R := (x *m invmx K *m y^T) 0 0.

(* How far a difference is in the noise of the covariance K. *)
Definition distance n (K : 'M[R]_n) : 'rV[R]_n -> R := form_norm (inverse_form K).

Section One.
Context n (K : 'M[R]_n) (cov : covariance K).

Lemma covariance_unit : K \in unitmx.
Proof.
rewrite unitmxE unitfE; apply/negP => /det0P[v v0 vK].
by have := cov.2 v v0; rewrite vK mul0mx mxE ltxx.
Qed.

Lemma symmetric_entry (A : 'M[R]_1) : A^T 0 0 = A 0 0. Proof. by rewrite mxE. Qed.

Lemma inverse_symmetric : (invmx K)^T = invmx K. Proof. by rewrite trmx_inv cov.1. Qed.

Lemma inverse_inner : inner_form (inverse_form K).
Proof.
split=> [x y|x y z|a x y|x]; rewrite /inverse_form.
- by rewrite -symmetric_entry !trmx_mul trmxK inverse_symmetric mulmxA.
- by rewrite !mulmxDl mxE.
- by rewrite -!scalemxAl mxE.
- set w := x *m invmx K; have -> : x^T = K *m w^T by rewrite /w trmx_mul inverse_symmetric mulKVmx// covariance_unit.
  have [->|w0] := eqVneq w 0; first by rewrite mul0mx mxE.
  by rewrite mulmxA ltW// cov.2.
Qed.

Lemma distance_seminorm : seminorm (distance K). Proof. exact: form_seminorm inverse_inner. Qed.
Lemma distance_ge0 h : 0 <= distance K h. Proof. exact: sqrtr_ge0. Qed.
Lemma distance_sqr h : distance K h ^+ 2 = (h *m invmx K *m h^T) 0 0. Proof. exact: (form_norm_sqr inverse_inner). Qed.

(* m functionals of the n values, independent ones: they have a covariance, and see no more of h. *)
Section Fewer.
Context m (S : 'M[R]_(m, n)) (free : row_free S).

Lemma functionals_covariance : covariance (S *m K *m S^T).
Proof.
split=> [|u u0]; first by rewrite !trmx_mul trmxK cov.1 mulmxA.
have -> : u *m (S *m K *m S^T) *m u^T = (u *m S) *m K *m (u *m S)^T by rewrite trmx_mul !mulmxA.
apply: cov.2; apply: contra_neq u0 => uS.
by have := mulmx_free_eq0 u free; rewrite uS eqxx => /esym/eqP.
Qed.
End Fewer.
End One.

Lemma distance_fewer n (K : 'M[R]_n) m (S : 'M[R]_(m, n)) (h : 'rV[R]_n) : covariance K -> row_free S ->
  distance (S *m K *m S^T) (h *m S^T) <= distance K h.
Proof.
move=> cov free; have cov' := functionals_covariance cov free; set K' := S *m K *m S^T in cov' *.
have := distance_sqr cov' (h *m S^T); set D' := distance K' _; set u := h *m S^T *m invmx K'.
have kK : u *m K' = h *m S^T by rewrite /u mulmxKV// covariance_unit.
clearbody u.
have e1 : u *m (h *m S^T)^T = (u *m S) *m h^T by rewrite trmx_mul trmxK mulmxA.
have e2 : u *m K' *m u^T = (u *m S) *m K *m (u *m S)^T by rewrite [(u *m S)^T]trmx_mul /K' !mulmxA.
have s1 : (u *m K' *m u^T) 0 0 = (u *m (h *m S^T)^T) 0 0 by rewrite kK -symmetric_entry trmx_mul trmxK.
move=> DE; have := form_cauchy (inverse_inner cov) (u *m S *m K) h.
have i1 : inverse_form K (u *m S *m K) h = D' ^+ 2 by rewrite /inverse_form mulmxK ?covariance_unit// DE e1.
have i2 : inverse_form K (u *m S *m K) (u *m S *m K) = D' ^+ 2.
  by rewrite /inverse_form mulmxK ?covariance_unit// trmx_mul cov.1 mulmxA -e2 s1 -DE.
rewrite i1 i2 -(form_norm_sqr (inverse_inner cov)) -/(distance K h) => cs.
have d0 : 0 <= D' by exact: distance_ge0. have D0 := distance_ge0 K h.
move: d0; rewrite le_eqVlt => /predU1P[<-//|dp].
have d2 : 0 < D' ^+ 2 by rewrite exprn_gt0.
by move: cs; rewrite [X in X <= _]expr2 ler_pmul2l// ler_pexpn2r ?nnegrE// ltW.
Qed.
End Matrices.
