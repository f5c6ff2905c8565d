(* Private answers in a metric space, continued (docs/theory/spaces.md, half-spaces): where true answers fill a line along which a function with
   the Lipschitz constant 1 rises as fast, the two half-spaces on either side of a point are too far for the databases beyond it. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions density arithmetic kernels curves pairs likelihood finite powers means spaces weighted_packing.

Section HalfSpaces.
Context (R : realType) (X : Type) d (Z : measurableType d).
Variables (q : X -> Z) (dist : X -> X -> R) (between : Z -> Z -> R).
Hypothesis measurable_far : forall gamma x, measurable (spaces.far q between gamma x).
Hypothesis dist0 : forall x x', 0 <= dist x x'.
Variables (M : mechanism R X Z) (gamma beta C : R).
Hypotheses (near : near_but q between M gamma beta) (gamma0 : 0 < gamma) (beta0 : 0 < beta) (C0 : 0 < C).

(* A function of the answer with the Lipschitz constant 1. *)
Variable phi : Z -> R.
Hypotheses (mphi : measurable_fun setT phi) (phi1 : forall y z, `|phi y - phi z| <= between y z).

(* How likely it is that the function is above, or below, a number. *)
Definition over x (c : R) : R := fine (M x [set z | c < phi z]).
Definition under x (c : R) : R := fine (M x [set z | phi z < c]).

Lemma measurable_over (c : R) : measurable [set z | c < phi z].
Proof. by apply: measurable_where => //; exact: measurable_fun_cst. Qed.
Lemma measurable_under (c : R) : measurable [set z | phi z < c].
Proof. by apply: measurable_where => //; exact: measurable_fun_cst. Qed.

Lemma over_ge0 x c : 0 <= over x c. Proof. by rewrite fine_ge0// measure_ge0. Qed.
Lemma under_ge0 x c : 0 <= under x c. Proof. by rewrite fine_ge0// measure_ge0. Qed.

(* Two events that do not meet, and two that leave nothing out. *)
Lemma apart_le (x : X) (A B S : set Z) : measurable A -> measurable B -> measurable S -> A `<=` S -> B `<=` S -> A `&` B = set0 ->
  fine (M x A) + fine (M x B) <= fine (M x S).
Proof.
move=> mA mB mS AS BS AB; have f S' : measurable S' -> M x S' \is a fin_num by move=> h; apply: mass_fin => //; exact: law_total.
rewrite -fineD ?f//; apply: fine_le; rewrite ?fin_numD ?f//.
by rewrite -measureU//; apply: le_measure; rewrite ?inE//; [exact: measurableU | move=> z [/AS|/BS]].
Qed.

Lemma cover_ge (x : X) (A B S : set Z) : measurable A -> measurable B -> measurable S -> S `<=` A `|` B ->
  fine (M x S) <= fine (M x A) + fine (M x B).
Proof.
move=> mA mB mS SAB; have f S' : measurable S' -> M x S' \is a fin_num by move=> h; apply: mass_fin => //; exact: law_total.
rewrite -fineD ?f//; apply: fine_le; rewrite ?fin_numD ?f//.
apply: le_trans (_ : (M x (A `|` (B `\` A)) <= _)%E).
  apply: le_measure; rewrite ?inE//; first by apply: measurableU => //; exact: measurableD.
  by move=> z /SAB[h|h]; [left | have [hA|hA] := pselect (A z); [left | right]].
rewrite measureU//; [|exact: measurableD|by apply/seteqP; split=> z //= [h []]].
by rewrite lee_add2l//; apply: le_measure; rewrite ?inE//; exact: measurableD.
Qed.

Lemma everything x : fine (M x setT) = 1. Proof. by rewrite law_total. Qed.

(* The answer on a database is too far where the function is gamma off: at most beta of it. *)
Lemma two_sides x s : phi (q x) = s -> over x (s + gamma) + under x (s - gamma) <= beta.
Proof.
move=> xs; have mf := measurable_far gamma x.
have -> : beta = fine beta%:E by [].
have f : M x (spaces.far q between gamma x) \is a fin_num by apply: mass_fin => //; exact: law_total.
apply: (@le_trans _ _ (fine (M x (spaces.far q between gamma x)))); last by apply: fine_le => //; exact: near.
apply: apart_le => //; [exact: measurable_over | exact: measurable_under | | |].
- move=> z /= h; rewrite /spaces.far /=; apply: lt_le_trans (phi1 (q x) z); rewrite xs distrC.
  by apply: lt_le_trans (ler_norm _); rewrite ltr_subr_addl.
- move=> z /= h; rewrite /spaces.far /=; apply: lt_le_trans (phi1 (q x) z); rewrite xs.
  by apply: lt_le_trans (ler_norm _); lra.
- apply/seteqP; split=> z //= [h1 h2]; suff : False by []; lra.
Qed.

(* Privacy carries an event from one database to another. *)
Lemma carried eps x x' (r : R) S : private_by_distance dist M eps -> 0 <= eps -> measurable S -> dist x x' <= r ->
  expR (- (eps * r)) * fine (M x S) <= fine (M x' S).
Proof.
move=> priv e0 mS dr; have := priv x x' S mS.
have f y : M y S \is a fin_num by apply: mass_fin => //; exact: law_total.
rewrite adde0 -(fineK (f x)) -(fineK (f x')) -EFinM lee_fin /= => h.
rewrite expRN ler_pdivr_mull ?expR_gt0//; apply: le_trans h _; apply: ler_wpmul2r; first by rewrite fine_ge0// measure_ge0.
by rewrite ler_expR ler_wpmul2l.
Qed.

(* -- A line of length L, without its ends -- *)
Definition rising (L : R) (pt : R -> X) := forall s t, 0 < s < L -> 0 < t < L -> phi (q (pt s)) = s /\ dist (pt s) (pt t) = `|s - t| / C.

(* With a step of 2 gamma + e: of the point c in the middle of a step both half-spaces count for an end of the step, and leave nothing out. *)
Lemma one_step eps L pt s e : rising L pt -> private_by_distance dist M eps -> 0 <= eps -> 0 <= e -> 0 < s -> s + (2 * gamma + e) < L -> 0 < e ->
  expR (- (eps * ((gamma + e) / C))) <= over (pt s) (s + gamma) + under (pt (s + (2 * gamma + e))) (s + (2 * gamma + e) - gamma).
Proof.
move=> line priv e0 ee s0 sL e_gt0; set t := s + (2 * gamma + e); pose c := s + gamma; have tC := line.
have s_in : 0 < s < L by apply/andP; split=> //; lra.
have t_in : 0 < t < L by apply/andP; split=> //; rewrite /t; lra.
have c_in : 0 < c < L by apply/andP; split; rewrite /c; lra.
have dcs : dist (pt c) (pt s) <= (gamma + e) / C.
  have [_ ->] := line c s c_in s_in; rewrite ler_pmul2r ?invr_gt0// /c addrAC subrr add0r ger0_norm; lra.
have dct : dist (pt c) (pt t) <= (gamma + e) / C.
  have [_ ->] := line c t c_in t_in; rewrite ler_pmul2r ?invr_gt0// /c /t ler0_norm; lra.
have h1 := carried priv e0 (measurable_over (s + gamma)) dcs.
have h2 := carried priv e0 (measurable_under (t - gamma)) dct.
have h3 := @cover_ge (pt c) _ _ setT (measurable_over (s + gamma)) (measurable_under (t - gamma)) measurableT.
have w0 := expR_gt0 (- (eps * ((gamma + e) / C))).
have : fine (M (pt c) setT) <= fine (M (pt c) [set z | s + gamma < phi z]) + fine (M (pt c) [set z | phi z < t - gamma]).
  by apply: h3 => z _ /=; case: (ltP (s + gamma) (phi z)) => h; [left | right; apply: le_lt_trans h _; rewrite /t; lra].
rewrite everything => /(ler_wpmul2l (ltW w0)); rewrite mulr1 mulrDr /over /under; move: h1 h2; lra.
Qed.

Lemma steps_of_line eps L pt n : rising L pt -> private_by_distance dist M eps -> 0 <= eps -> (2 * n%:R) * gamma < L -> 0 < L ->
  n%:R * expR (- (eps * (gamma / C))) <= n.+1%:R * beta.
Proof.
move=> line priv e0 room L0; set w := expR _; have w0 : 0 < w by exact: expR_gt0.
apply: (@small_loss _ _ (eps / C * (n%:R * w)) _ ((L - (2 * n%:R) * gamma) / n.+1%:R)) => [|e e_gt0 elt].
  by rewrite divr_gt0// subr_gt0.
pose step := 2 * gamma + e; pose o := (L - n%:R * step) / 2.
have n0 : (0 : R) <= n%:R by rewrite ler0n.
have fits : n%:R * step < L.
  move: elt; rewrite ltr_pdivl_mulr// -natr1 mulrDr mulr1 /step; lra.
have step0 : 0 < step by rewrite /step; lra.
pose x i := pt (o + i%:R * step).
have inside i : (i <= n)%N -> 0 < o + i%:R * step < L.
  move=> le_in; have i0 : (0 : R) <= i%:R by rewrite ler0n.
  have il : i%:R <= n%:R :> R by rewrite ler_nat.
  have h0 := ler_wpmul2r (ltW step0) i0; have h1 := ler_wpmul2r (ltW step0) il; move: h0 h1 fits; rewrite /o; set u := n%:R * step => *.
  by apply/andP; split; lra.
have phi_x i : (i <= n)%N -> phi (q (x i)) = o + i%:R * step.
  by move=> le_in; have [-> _] := line _ _ (inside i le_in) (inside i le_in).
pose U i := over (x i) (o + i%:R * step + gamma); pose D i := under (x i) (o + i%:R * step - gamma).
have ends i : (i <= n)%N -> U i + D i <= beta by move=> le_in; exact: (two_sides (phi_x i le_in)).
have half i : (i < n)%N -> expR (- (eps * ((gamma + e) / C))) <= U i + D i.+1.
  move=> lt_in; have /andP[i0 _] := inside i (ltnW lt_in); have /andP[_ iL] := inside i.+1 lt_in.
  have next : o + i.+1%:R * step = o + i%:R * step + step by rewrite -natr1; lra.
  by rewrite /U /D /x next; apply: (one_step line priv e0 (ltW e_gt0)) => //; rewrite -/step -next.
have sum : n%:R * expR (- (eps * ((gamma + e) / C))) <= n.+1%:R * beta.
  apply: (@le_trans _ _ (\sum_(i < n) (U i + D i.+1))).
    by rewrite -[n in n%:R]card_ord mulr_natl -sumr_const; apply: ler_sum => i _; exact: half.
  apply: (@le_trans _ _ (\sum_(i < n.+1) (U i + D i))); last first.
    rewrite (_ : n.+1%:R * beta = \sum_(i < n.+1) beta); last by rewrite sumr_const card_ord mulr_natl.
    apply: ler_sum => i _; apply: ends; rewrite -ltnS; exact: ltn_ord.
  rewrite !big_split/= [X in _ <= X + _]big_ord_recr/= [X in _ <= _ + X]big_ord_recl/=.
  have h1 := over_ge0 (x n) (o + n%:R * step + gamma); have h2 := under_ge0 (x 0%N) (o + 0%:R * step - gamma).
  have -> : \sum_(i < n) D (bump 0 i) = \sum_(i < n) D i.+1 by exact: eq_bigr.
  move: h1 h2; rewrite -/(U n) -/(D 0%N); lra.
apply: le_trans sum; have -> : - (eps * ((gamma + e) / C)) = - (eps * (gamma / C)) + - (eps / C * e) by lra.
rewrite expRD -/w.
have -> : n%:R * w - e * (eps / C * (n%:R * w)) = n%:R * w * (1 + - (eps / C * e)) by lra.
by rewrite mulrA ler_wpmul2l ?mulr_ge0 ?(ltW w0)//; exact: expR_ge1D.
Qed.

(* -- The integers -- *)
Definition whole_row (pt : int -> X) := forall i j : int, phi (q (pt i)) = i%:~R /\ dist (pt i) (pt j) = `|i - j|%:~R / C.

Lemma shifted_sum (f : nat -> R) k N K : (forall i, 0 <= f i) -> (N + k <= K)%N -> \sum_(i < N) f (i + k)%N <= \sum_(j < K) f j.
Proof.
move=> f0 le; have pos (a b : nat) : 0 <= \sum_(a <= j < b) f j by apply: sumr_ge0.
rewrite -(big_mkord xpredT (fun i => f (i + k)%N)) -(big_mkord xpredT f).
have -> : \sum_(0 <= i < N) f (i + k)%N = \sum_(k <= j < N + k) f j by have := @big_addn _ 0 +%R 0 (N + k) k xpredT f; rewrite add0n addnK => ->.
rewrite (@big_cat_nat _ _ _ (N + k) 0 K)//= (@big_cat_nat _ _ _ k 0 (N + k))//= ?leq_addl//.
have := pos 0%N k; have := pos (N + k)%N K; lra.
Qed.

Section Integers.
Variables (eps : R) (m : nat) (pt : int -> X).
Hypotheses (line : whole_row pt) (priv : private_by_distance dist M eps) (e0 : 0 <= eps) (gm : gamma < m.+1%:R).
Hypothesis whole : forall z, exists k : int, phi z = k%:~R.
Let u := expR (- (eps / C)).
Let at_ (i : nat) := pt i%:Z.
Let U (i : nat) := over (at_ i) (i%:R + m%:R).
Let D (i : nat) := under (at_ i) (i%:R - m%:R).

Lemma sides_of_integers i : U i + D i <= beta.
Proof.
have [xi _] := line i%:Z i%:Z; apply: le_trans (two_sides xi); rewrite -pmulrn; apply: ler_add; apply: fine_le.
1, 2, 4, 5: by apply: mass_fin; [exact: law_total | exact: measurable_over || exact: measurable_under].
- apply: le_measure; rewrite ?inE; [exact: measurable_over | exact: measurable_over |] => z /=; have [k ->] := whole z.
  rewrite -natrD pmulrn ltr_int => h; apply: lt_le_trans (_ : (i + m.+1)%:R <= _); first by rewrite natrD ltr_add2l.
  by rewrite pmulrn ler_int addnS -addn1 PoszD lez_addr1.
- apply: le_measure; rewrite ?inE; [exact: measurable_under | exact: measurable_under |] => z /=; have [k ->] := whole z.
  rewrite !pmulrn -rmorphB/= ltr_int => h; apply: le_lt_trans (_ : (i%:Z - m.+1%:Z)%:~R < _).
    by rewrite ler_int -addn1 PoszD opprD addrA ler_subr_addr lez_addr1.
  by rewrite rmorphB/= -!pmulrn ltr_add2l ltr_opp2.
Qed.

Lemma power_of_u k : expR (- (eps * (k%:R / C))) = u ^+ k.
Proof. by rewrite /u -expRMm; congr expR; lra. Qed.

Lemma carried_whole i j (k : nat) S : measurable S -> `|i%:Z - j%:Z| = k -> u ^+ k * fine (M (at_ i) S) <= fine (M (at_ j) S).
Proof.
move=> mS ijk; rewrite -power_of_u; apply: (carried priv e0 mS).
by have [_ ->] := line i%:Z j%:Z; rewrite ijk -pmulrn.
Qed.

(* The two half-spaces of a number, one of them closed, leave nothing out. *)
Lemma whole_sides x (c : int) : 1 <= over x (c - 1)%:~R + under x c%:~R.
Proof.
rewrite -[leLHS](everything x); apply: cover_ge => //; [exact: measurable_over | exact: measurable_under |].
move=> z _; have [k zk] := whole z; case: (ltrP k c) => h; [right | left] => /=; rewrite zk ltr_int//.
by rewrite ltr_subl_addr ltz_addr1.
Qed.

Lemma around i : 2 * u ^+ m.+1 <= U i + D (i + (2 * m + 2))%N + u * (U i.+1 + D (i + (2 * m + 1))%N).
Proof.
pose c := (i + m.+1)%N; have u0 : 0 < u by exact: expR_gt0.
have m1 := measurable_over; have m2 := measurable_under.
have h1 : u ^+ m.+1 * over (at_ c) (c%:Z - 1)%:~R <= U i.
  rewrite /U (_ : i%:R + m%:R = (c%:Z - 1)%:~R :> R); first by apply: carried_whole => //; rewrite /c PoszD addrAC subrr add0r.
  by rewrite rmorphB/= -!pmulrn /c natrD -[m.+1%:R]natr1; lra.
have h2 : u ^+ m.+1 * under (at_ c) (c%:Z + 1)%:~R <= D (i + (2 * m + 2))%N.
  rewrite /D (_ : (i + (2 * m + 2))%:R - m%:R = (c%:Z + 1)%:~R :> R).
    apply: carried_whole => //; rewrite /c (_ : (i + (2 * m + 2) = i + m.+1 + m.+1)%N); last by rewrite -addnA addnn -mul2n mulnS [(2 + _)%N]addnC.
    by rewrite [X in _ - X]PoszD opprD addrA subrr add0r normrN.
  by rewrite rmorphD/= -!pmulrn /c mul2n -addnn !natrD -[m.+1%:R]natr1; lra.
have h3 : u ^+ m * over (at_ c) c%:~R <= U i.+1.
  rewrite /U (_ : i.+1%:R + m%:R = c%:~R :> R).
    apply: carried_whole => //; rewrite /c addnS -addSn PoszD addrAC subrr add0r//.
  by rewrite -natrD addSnnS -pmulrn.
have h4 : u ^+ m * under (at_ c) c%:~R <= D (i + (2 * m + 1))%N.
  rewrite /D (_ : (i + (2 * m + 1))%:R - m%:R = c%:~R :> R).
    apply: carried_whole => //; rewrite /c (_ : (i + (2 * m + 1) = i + m.+1 + m)%N); last by rewrite -addnA addSn addnn -mul2n addn1.
    by rewrite [X in _ - X]PoszD opprD addrA subrr add0r normrN.
  by rewrite -pmulrn /c mul2n -addnn !natrD -[m.+1%:R]natr1; lra.
have h5 := whole_sides (at_ c) c; have h6 := whole_sides (at_ c) (c%:Z + 1); rewrite addrK in h6.
have um : 0 < u ^+ m.+1 by exact: exprn_gt0.
have h3' := ler_wpmul2l (ltW u0) h3; have h4' := ler_wpmul2l (ltW u0) h4; rewrite !mulrA -!exprS in h3' h4'.
have := ler_wpmul2l (ltW um) h5; have := ler_wpmul2l (ltW um) h6; rewrite mulr1 !mulrDr; move: h1 h2 h3' h4'; lra.
Qed.

Lemma integers_bound : 2 * u ^+ m.+1 <= beta * (1 + u).
Proof.
have u0 : 0 < u by exact: expR_gt0.
have U0 i : 0 <= U i by exact: over_ge0. have D0 i : 0 <= D i by exact: under_ge0.
pose K := (2 * m + 2)%N; have all N : N%:R * (2 * u ^+ m.+1) <= (N + K)%:R * (beta * (1 + u)).
  apply: (@le_trans _ _ (\sum_(i < N) (U i + D (i + K)%N + u * (U (i + 1)%N + D (i + (2 * m + 1))%N)))).
    by rewrite -[N in N%:R]card_ord mulr_natl -sumr_const; apply: ler_sum => i _; rewrite addn1; exact: around.
  pose SU := \sum_(j < N + K) U j; pose SD := \sum_(j < N + K) D j.
  have tot : SU + SD <= (N + K)%:R * beta.
    rewrite -big_split/= (_ : (N + K)%:R * beta = \sum_(i < N + K) beta); last by rewrite sumr_const card_ord mulr_natl.
    apply: ler_sum => i _; exact: sides_of_integers.
  have a1 : \sum_(i < N) U i <= SU.
    have := @shifted_sum U 0 N (N + K) U0; rewrite addn0 leq_addr => /(_ isT); apply: le_trans; rewrite le_eqVlt; apply/orP; left; apply/eqP.
    by apply: eq_bigr => i _; rewrite addn0.
  have a2 : \sum_(i < N) D (i + K)%N <= SD by exact: shifted_sum.
  have a3 : \sum_(i < N) U (i + 1)%N <= SU by apply: shifted_sum => //; rewrite leq_add2l /K addn2.
  have a4 : \sum_(i < N) D (i + (2 * m + 1))%N <= SD by apply: shifted_sum => //; rewrite leq_add2l /K leq_add2l.
  rewrite big_split/= big_split/= -mulr_sumr big_split/=.
  have b1 : u * (\sum_(i < N) U (i + 1)%N + \sum_(i < N) D (i + (2 * m + 1))%N) <= u * ((N + K)%:R * beta).
    by rewrite ler_pmul2l//; lra.
  lra.
have K0 : 0 < K%:R * (beta * (1 + u)) by rewrite !mulr_gt0// ?ltr0n /K ?addn2// addr_gt0.
have : (2 * u ^+ m.+1 - beta * (1 + u)) / (K%:R * (beta * (1 + u))) <= 0.
  apply: within_all => n n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
  rewrite add0r ler_pdivr_mulr// ler_pdivl_mull//; have := all n; rewrite natrD; lra.
rewrite ler_pdivr_mulr// mul0r; lra.
Qed.
End Integers.

(* -- The rule -- *)

(* On a line of a length above 2 n gamma, on one without ends, and on the integers. *)
(* Rule: half-spaces, lower. *)
Theorem half_spaces eps : private_by_distance dist M eps -> 0 <= eps ->
  [/\ (forall L pt n, rising L pt -> (0 < n)%N -> (2 * n%:R) * gamma < L -> C / gamma * ln (n%:R / (n.+1%:R * beta)) <= eps),
      (forall pt, (forall L, rising L pt) -> C / gamma * ln beta^-1 <= eps) &
      (forall m pt, whole_row pt -> gamma < m.+1%:R -> (forall z, exists k : int, phi z = k%:~R) ->
        2 * expR (- (eps / C)) ^+ m.+1 <= beta * (1 + expR (- (eps / C))) /\
        forall u, 0 < u -> u <= 1 -> beta * (1 + u) < 2 * u ^+ m.+1 -> C * ln u^-1 < eps)].
Proof.
move=> priv e0; have tight (v : R) : 0 < v -> expR (- (eps * (gamma / C))) <= v^-1 -> C / gamma * ln v <= eps.
  move=> v0; rewrite expRN lef_pinv ?posrE ?expR_gt0// => h.
  rewrite mulrAC ler_pdivr_mulr// mulrC -ler_pdivl_mulr// -mulrA -ler_expR lnK//.
split=> [L pt n line n0 room|pt line|m pt line gm whole].
- have nR : 0 < n%:R :> R by rewrite ltr0n.
  have L0 : 0 < L by apply: lt_trans room; rewrite !mulr_gt0.
  apply: tight; first by rewrite divr_gt0// mulr_gt0.
  by rewrite invf_div ler_pdivl_mulr// mulrC; exact: (steps_of_line line priv e0 room L0).
- apply: tight; rewrite ?invr_gt0// invrK; set w := expR _.
  have key : (w - beta) / beta <= 0.
    apply: within_all => n n0; have nR : 0 < n%:R :> R by rewrite ltr0n.
    have pos : 0 <= (2 * n%:R) * gamma by rewrite !mulr_ge0// ltW.
    have room : (2 * n%:R) * gamma < (2 * n%:R) * gamma + 1 by lra.
    have L0 : 0 < (2 * n%:R) * gamma + 1 by lra.
    have := steps_of_line (line _) priv e0 room L0; rewrite -/w -natr1 => h.
    rewrite add0r ler_pdivr_mulr// ler_pdivl_mull//; lra.
  by move: key; rewrite ler_pdivr_mulr// mul0r; lra.
- split=> [|u u0 u1 over_u]; first exact: (integers_bound line priv e0 gm whole).
  rewrite ltNge; apply/negP => le.
  have e1 : 0 <= C * ln u^-1 by rewrite mulr_ge0 ?(ltW C0)// ln_ge0// invr_ge1 ?unitf_gt0.
  have := integers_bound line (private_by_distance_more dist0 le priv) e1 gm whole.
  have -> : expR (- (C * ln u^-1 / C)) = u.
    by rewrite [C * _]mulrC mulfK ?gt_eqF// lnV ?posrE// opprK lnK.
  by rewrite leNgt over_u.
Qed.
End HalfSpaces.
