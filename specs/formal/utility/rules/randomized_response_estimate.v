(* The unbiased estimate of a bit from its randomized response, and of how many of n bits are 1 (docs/theory/utility.md, randomized response
   estimate): its mean absolute error and the root of its mean square, exactly. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic finite utility.

Section Bits.
Context (R : realType) (p : R).
Hypotheses (p0 : 0 < p) (p1 : p < 1) (not_half : 2 * p - 1 != 0).

(* The truth with probability p. *)
Definition answered (x y : bool) : R := if y == x then p else 1 - p.
Definition bit (x : bool) : R := (x : nat)%:R.
Definition estimate (y : bool) : R := (bit y - (1 - p)) / (2 * p - 1).
Definition off (x y : bool) : R := estimate y - bit x.

Lemma answered_ge0 x y : 0 <= answered x y.
Proof. by rewrite /answered; case: ifP => _; rewrite ?subr_ge0 ltW. Qed.

Lemma sum_bool (F : bool -> R) : \sum_y F y = F true + F false.
Proof. by rewrite big_bool. Qed.

Lemma answered_total x : \sum_y answered x y = 1.
Proof. by rewrite sum_bool /answered; case: x => /=; lra. Qed.

Lemma offE x y : off x y = (if y == x then 1 - p else - p) * (if x then 1 else -1) / (2 * p - 1).
Proof.
apply: (mulIf not_half); rewrite /off mulrBl !divfK// /bit; case: x; case: y => /=; lra.
Qed.

Lemma unbiased x : \sum_y answered x y * off x y = 0.
Proof. by rewrite sum_bool !offE /answered; case: x => /=; lra. Qed.

Lemma mean_square x : \sum_y answered x y * off x y ^+ 2 = p * (1 - p) / (2 * p - 1) ^+ 2.
Proof.
rewrite sum_bool !offE /answered !expr_div_n !exprMn; set k := ((2 * p - 1) ^+ 2)^-1; case: x => /=; rewrite !expr2; lra.
Qed.

Lemma mean_absolute x : \sum_y answered x y * `|off x y| = 2 * p * (1 - p) / `|2 * p - 1|.
Proof.
have a : `|1 - p| = 1 - p by rewrite ger0_norm// subr_ge0 ltW.
have b : `|- p| = p by rewrite normrN gtr0_norm.
rewrite sum_bool !offE /answered !normrM normfV; set k := (`|2 * p - 1|)^-1.
by case: x => /=; rewrite ?normrN1 ?normr1 a b; lra.
Qed.

(* -- Many bits, each answered by itself -- *)
Variable n : nat.
Notation bits := {ffun 'I_n -> bool}.
Definition all_answered (x y : bits) : R := \prod_i answered (x i) (y i).
Definition off_count (x y : bits) : R := (\sum_i estimate (y i)) - \sum_i bit (x i).

Lemma all_answered_ge0 x y : 0 <= all_answered x y. Proof. by apply: prodr_ge0 => i _; exact: answered_ge0. Qed.

(* The mean of a product of functions of one answer each. *)
Lemma product_mean x (F : 'I_n -> bool -> R) :
  \sum_y all_answered x y * (\prod_i F i (y i)) = \prod_i (\sum_b answered (x i) b * F i b).
Proof.
rewrite (bigA_distr_bigA (fun i b => answered (x i) b * F i b)); apply: eq_bigr => y _.
by rewrite /all_answered -big_split.
Qed.

Lemma one_mean x i (f : bool -> R) : \sum_y all_answered x y * f (y i) = \sum_b answered (x i) b * f b.
Proof.
transitivity (\sum_y all_answered x y * (\prod_j (fun k b => if k == i then f b else 1) j (y j))).
  apply: eq_bigr => y _; congr (_ * _); rewrite (bigD1 i)//= eqxx big1 ?mulr1// => j /negbTE -> //.
rewrite (product_mean x (fun k b => if k == i then f b else 1)) (bigD1 i)//= eqxx [X in _ * X]big1 ?mulr1// => j /negbTE ->.
by under eq_bigr do rewrite mulr1; exact: answered_total.
Qed.

Lemma two_means x i j : i != j -> \sum_y all_answered x y * (off (x i) (y i) * off (x j) (y j)) = 0.
Proof.
move=> ij; transitivity (\sum_y all_answered x y *
    (\prod_k (fun k b => if k == i then off (x i) b else if k == j then off (x j) b else 1) k (y k))).
  apply: eq_bigr => y _; congr (_ * _); rewrite (bigD1 i)//= eqxx (bigD1 j)/=; last by rewrite eq_sym.
  by rewrite eqxx [j == i]eq_sym (negbTE ij) big1 ?mulr1// => k /andP[/negbTE -> /negbTE ->].
rewrite (product_mean x (fun k b => if k == i then off (x i) b else if k == j then off (x j) b else 1)) (bigD1 i)//= eqxx.
by rewrite unbiased mul0r.
Qed.

Lemma off_countE x y : off_count x y = \sum_i off (x i) (y i).
Proof. by rewrite /off_count -sumrB. Qed.

Lemma count_unbiased x : \sum_y all_answered x y * off_count x y = 0.
Proof.
under eq_bigr do rewrite off_countE mulr_sumr; rewrite exchange_big/= big1// => i _.
by rewrite (one_mean x i (off (x i))) unbiased.
Qed.

Lemma count_mean_square x : \sum_y all_answered x y * off_count x y ^+ 2 = n%:R * (p * (1 - p) / (2 * p - 1) ^+ 2).
Proof.
transitivity (\sum_y \sum_i \sum_j all_answered x y * (off (x i) (y i) * off (x j) (y j))).
  apply: eq_bigr => y _; rewrite off_countE expr2 mulr_suml mulr_sumr; apply: eq_bigr => i _.
  by rewrite !mulr_sumr.
rewrite exchange_big/= -[n in n%:R]card_ord mulr_natl -sumr_const; apply: eq_bigr => i _.
rewrite exchange_big/= (bigD1 i)//= [X in _ + X]big1 ?addr0 => [|j ji]; last by apply: two_means; rewrite eq_sym.
by under eq_bigr do rewrite -expr2; rewrite (one_mean x i (fun b => off (x i) b ^+ 2)) mean_square.
Qed.
End Bits.

Section Rule.
Context (R : realType) (p : R) d (T : measurableType d).
Hypotheses (p0 : 0 < p) (p1 : p < 1) (not_half : 2 * p - 1 != 0).

(* Of one bit, whatever it is: the estimate t of the output has its mean in the bit. Of n bits: the sum of their estimates. *)
(* Rule: randomized-response-estimate. *)
Theorem randomized_response_estimate :
  (forall (M : mechanism R bool T) (pt : bool -> T) (t : T -> R), injective pt -> (forall y, measurable [set pt y]) ->
    has_table M pt (answered p) -> measurable_fun setT t -> (forall y, t (pt y) = estimate p y) -> forall x,
    [/\ (\int[M x]_z (t z - bit R x)%:E = 0)%E,
        (\int[M x]_z (`|t z - bit R x|)%:E = (2 * p * (1 - p) / `|2 * p - 1|)%:E)%E &
        (\int[M x]_z ((t z - bit R x) ^+ 2)%:E = ((Num.sqrt (p * (1 - p)) / `|2 * p - 1|) ^+ 2)%:E)%E]) /\
  (forall n (M : mechanism R {ffun 'I_n -> bool} T) (pt : {ffun 'I_n -> bool} -> T) (t : T -> R), injective pt ->
    (forall y, measurable [set pt y]) -> has_table M pt (@all_answered R p n) -> measurable_fun setT t ->
    (forall y, t (pt y) = \sum_i estimate p (y i)) -> forall x,
    (\int[M x]_z (t z - \sum_i bit R (x i))%:E = 0)%E /\
    (\int[M x]_z ((t z - \sum_i bit R (x i)) ^+ 2)%:E = ((Num.sqrt n%:R * (Num.sqrt (p * (1 - p)) / `|2 * p - 1|)) ^+ 2)%:E)%E).
Proof.
have pp : 0 <= p * (1 - p) by apply: mulr_ge0; [exact: ltW | rewrite subr_ge0; exact: ltW].
have root : (Num.sqrt (p * (1 - p)) / `|2 * p - 1|) ^+ 2 = p * (1 - p) / (2 * p - 1) ^+ 2.
  by rewrite expr_div_n sqr_sqrtr// real_normK ?num_real.
have moved (t : T -> R) (a : R) : measurable_fun setT t -> measurable_fun setT (fun z => t z - a).
  by move=> mt; apply: measurable_funB => //; exact: measurable_fun_cst.
have sizes (t : T -> R) (a : R) : measurable_fun setT t -> measurable_fun setT (fun z => `|t z - a|).
  by move=> mt; have mf := moved t a mt; apply: measurable_fun_comp mf; exact: measurable_fun_normr.
have squares (t : T -> R) (a : R) : measurable_fun setT t -> measurable_fun setT (fun z => (t z - a) ^+ 2).
  by move=> mt; under eq_fun do rewrite expr2; apply: measurable_funM; exact: moved.
split=> [M pt t inj mpt Mp mt tE x | n M pt t inj mpt Mp mt tE x].
- have q0 := answered_ge0 p0 p1; rewrite root; split.
  + have := mean_lossE inj mpt q0 Mp (cost := fun x z => t z - bit R x) (l := off p) (fun x => moved _ _ mt).
    by rewrite /mean_loss /table_loss => -> //; [rewrite unbiased | move=> x' y; rewrite tE].
  + have := mean_lossE inj mpt q0 Mp (cost := fun x z => `|t z - bit R x|) (l := fun x y => `|off p x y|) (fun x => sizes _ _ mt).
    by rewrite /mean_loss /table_loss => -> //; [rewrite mean_absolute | move=> x' y; rewrite tE].
  + have := mean_lossE inj mpt q0 Mp (cost := fun x z => (t z - bit R x) ^+ 2) (l := fun x y => off p x y ^+ 2) (fun x => squares _ _ mt).
    by rewrite /mean_loss /table_loss => -> //; [rewrite mean_square | move=> x' y; rewrite tE].
- have q0 := all_answered_ge0 p0 p1 (n := n); split.
  + have := mean_lossE inj mpt q0 Mp (cost := fun x z => t z - \sum_i bit R (x i)) (l := @off_count R p n) (fun x => moved _ _ mt).
    by rewrite /mean_loss /table_loss => -> //; [rewrite count_unbiased | move=> x' y; rewrite tE].
  + have := mean_lossE inj mpt q0 Mp (cost := fun x z => (t z - \sum_i bit R (x i)) ^+ 2) (l := fun x y => @off_count R p n x y ^+ 2) (fun x => squares _ _ mt).
    rewrite /mean_loss /table_loss => -> //; [rewrite count_mean_square// | by move=> x' y; rewrite tE].
    by rewrite exprMn sqr_sqrtr ?ler0n// root.
Qed.
End Rule.
