(* Alignment, as the rule checks it (docs/theory/selection.md, alignment): guards, what is told and the state after a step are forms in the noises, the
   answers and the state; how the noises are shifted and how the states differ hangs on what the answers differ by in an affine way, so that it is
   enough to look at the vertices of what neighbours may differ by. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic kernels independent log_concave streams endless.

(* A number and a multiple of what each answer differs by. *)
Section Affine.
Context (R : realType) (m k : nat).
Record affine := Affine { number : R; multiple : 'I_m -> R }.
Definition at_difference (f : affine) (d : 'I_m -> R) := number f + \sum_l multiple f l * d l.

(* d is a mean of the vertices, with these weights. *)
Definition mean_of (vertex : 'I_k -> 'I_m -> R) (w : 'I_k -> R) (d : 'I_m -> R) :=
  [/\ forall i, 0 <= w i, \sum_i w i = 1 & forall l, d l = \sum_i w i * vertex i l].

Variables (vertex : 'I_k -> 'I_m -> R) (w : 'I_k -> R) (d : 'I_m -> R).
Hypothesis hull : mean_of vertex w d.

Lemma affine_mean f : at_difference f d = \sum_i w i * at_difference f (vertex i).
Proof.
have [_ w1 dE] := hull; rewrite /at_difference (eq_bigr (fun i => w i * number f + \sum_l w i * (multiple f l * vertex i l))); last first.
  by move=> i _; rewrite mulrDr mulr_sumr.
rewrite big_split/= -mulr_suml w1 mul1r exchange_big/=; congr (_ + _); apply: eq_bigr => l _.
by rewrite dE mulr_sumr; apply: eq_bigr => i _; rewrite mulrCA.
Qed.

Lemma mean_ge0 (F : 'I_k -> R) : (forall i, 0 <= F i) -> 0 <= \sum_i w i * F i.
Proof. by have [w0 _ _] := hull; move=> F0; apply: sumr_ge0 => i _; rewrite mulr_ge0. Qed.

Lemma mean_le (F : 'I_k -> R) c : (forall i, F i <= c) -> \sum_i w i * F i <= c.
Proof.
have [w0 w1 _] := hull; move=> Fc; apply: (@le_trans _ _ (\sum_i w i * c)); last by rewrite -mulr_suml w1 mul1r.
by apply: ler_sum => i _; rewrite ler_wpmul2l.
Qed.

(* A shift of log-concave noise by s costs c, by its slopes. *)
Definition slopes_pay (left right : option R) (s c : R) :=
  [/\ 0 <= c, 0 < s -> exists2 b, right = Some b & b * s <= c & s < 0 -> exists2 b, left = Some b & b * - s <= c].

Lemma slopes_pay_mean left right f (c : 'I_k -> R) : (if right is Some b then 0 <= b else true) -> (if left is Some b then 0 <= b else true) ->
  (forall i, slopes_pay left right (at_difference f (vertex i)) (c i)) -> slopes_pay left right (at_difference f d) (\sum_i w i * c i).
Proof.
have [w0 w1 _] := hull; move=> r0 l0 pays; split; first by apply: mean_ge0 => i; have [] := pays i.
- rewrite affine_mean => pos.
  have [i si] : exists i, 0 < at_difference f (vertex i).
    apply: contrapT => none; move: pos; apply/negP; rewrite -leNgt; apply: sumr_le0 => i _; apply: mulr_ge0_le0 => //.
    by rewrite leNgt; apply/negP => si; apply: none; exists i.
  have [_ /(_ si)[b rb _] _] := pays i; rewrite rb in r0; exists b => //; rewrite mulr_sumr; apply: ler_sum => j _.
  rewrite mulrCA ler_wpmul2l//; have [cj /= up _] := pays j; have [sj|sj] := ltP 0 (at_difference f (vertex j)).
    by have [b' rb'] := up sj; move: rb'; rewrite rb => -[->].
  by apply: le_trans cj; apply: mulr_ge0_le0.
- rewrite affine_mean => neg.
  have [i si] : exists i, at_difference f (vertex i) < 0.
    apply: contrapT => none; move: neg; apply/negP; rewrite -leNgt; apply: sumr_ge0 => i _; apply: mulr_ge0 => //.
    by rewrite leNgt; apply/negP => si; apply: none; exists i.
  have [_ _ /(_ si)[b lb _]] := pays i; rewrite lb in l0; exists b => //; rewrite -sumrN mulr_sumr; apply: ler_sum => j _.
  rewrite -mulrN mulrCA ler_wpmul2l//; have [cj _ /= up] := pays j; have [sj|sj] := ltP (at_difference f (vertex j)) 0.
    by have [b' lb'] := up sj; move: lb'; rewrite lb => -[->].
  by apply: le_trans cj; rewrite mulrN oppr_le0 mulr_ge0.
Qed.
End Affine.

(* What shifts of one noise cost at all vertices: by its slopes, or, wherever it is moved by at most so much, what it loses by itself. *)
Section Shifted.
Context (R : realType) (m k : nat) (vertex : 'I_k -> 'I_m -> R) (lam mu : {measure set R -> \bar R}).
Definition shift_loses (s c : R) := forall A, measurable A -> (mu [set z | A (z + s)%R] <= (expR c)%:E * mu A)%E.

Variant shift_paid (f : affine R m) : ('I_k -> R) -> Prop :=
| PaidBySlopes left right c of has_slopes lam mu left right & (if right is Some b then 0 <= b else true) & (if left is Some b then 0 <= b else true) &
    (forall i, slopes_pay left right (at_difference f (vertex i)) (c i)) : shift_paid f c
| PaidByModulus most w of (forall i, `|at_difference f (vertex i)| <= most) & (forall s, `|s| <= most -> shift_loses s w) : shift_paid f (fun=> w)
| NotShifted of (forall i, at_difference f (vertex i) = 0) : shift_paid f (fun=> 0).

Lemma shift_paid_mean f c w d : mean_of vertex w d -> keeps lam (at_difference f d) -> shift_paid f c -> shift_loses (at_difference f d) (\sum_i w i * c i).
Proof.
move=> hull kd [left right {}c [lo [hi [h [g [dens lc sl sr]]]]] r0 l0 pays | most v small loses | zero]; move=> A mA.
- have [c0 up down] := slopes_pay_mean hull r0 l0 pays; set s := at_difference f d in kd up down *.
  have moved e : (forall z, g z <= expR e * g (z + s)) -> e <= \sum_i w i * c i -> (mu [set z | A (z + s)%R] <= (expR (\sum_i w i * c i))%:E * mu A)%E.
    move=> le ec; apply: (le_trans (density_moved kd dens mA (fun z _ => le z))); by apply: lee_wpmul2r; rewrite ?lee_fin ?ler_expR.
  have [s0|s0|s0] := ltrgtP s 0.
  + have [b lb le] := down s0; rewrite lb in sl; apply: (moved _ _ le) => z.
    by have := left_ratio z lc sl (_ : 0 <= - s); rewrite opprK; apply; lra.
  + by have [b rb le] := up s0; rewrite rb in sr; apply: (moved _ _ le) => z; apply: (right_ratio z lc sr); lra.
  + by apply: (moved 0) => // z; rewrite s0 addr0 expR0 mul1r.
- have -> : \sum_i w i * v = v by have [_ w1 _] := hull; rewrite -mulr_suml w1 mul1r.
  apply: loses => //; rewrite (affine_mean hull); apply: (le_trans (ler_norm_sum _ _ _)).
  rewrite (eq_bigr (fun i => w i * `|at_difference f (vertex i)|)); first exact: (mean_le hull).
  by have [w0 _ _] := hull; move=> i _; rewrite normrM ger0_norm.
- have -> : at_difference f d = 0 by rewrite (affine_mean hull) big1// => i _; rewrite zero mulr0.
  have -> : \sum_i w i * 0 = 0 by rewrite big1// => i _; rewrite mulr0.
  by rewrite expR0 mul1e le_eqVlt; apply/orP; left; apply/eqP; congr (mu _); apply/seteqP; split=> z /=; rewrite addr0.
Qed.
End Shifted.

Section Leads.
Context (R : realType) dS (State : measurableType dS) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (B : nat).
Context (mu lam : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E) (n : nat) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context (H : Type) (told : State -> H) (S m : nat) (u : 'I_S -> State -> R).

(* A sum of multiples of the state, the noises of the step and the answers, and of a rest in parameters, counters and what was told. *)
Record form := Form { of_state : 'I_S -> R; of_noise : nat -> R; of_answer : 'I_m -> R; rest : H -> R }.
Definition value (F : form) (answers : H -> 'I_m -> R) s z :=
  \sum_a of_state F a * u a s + \sum_(j < n) of_noise F j * Z j z + \sum_l of_answer F l * answers (told s) l + rest F (told s).

Definition no_form := Form (fun=> 0) (fun=> 0) (fun=> 0) (fun=> 0).
Definition guard_at (l : seq (form * bool)) g := nth (no_form, true) l g.

(* The branches of a step: guards, strict or not; what is told; the state after it. The first branch is taken of which all guards hold. *)
Variables (guards : 'I_B -> seq (form * bool)) (tells : 'I_B -> seq form) (write : 'I_B -> H -> seq R -> H) (after : 'I_B -> 'I_S -> form).
Definition passes answers s z (G : form * bool) := if G.2 then 0 < value G.1 answers s z else 0 <= value G.1 answers s z.
Definition takes answers s z (b : 'I_B) :=
  all (passes answers s z) (guards b) && [forall b' : 'I_B, (b' < b)%N ==> ~~ all (passes answers s z) (guards b')].
Definition steps_by (P : program State W [finType of 'I_B]) answers := forall s z, let b := branch P s z in
  [/\ takes answers s z b, told (next P s z) = write b (told s) [seq value F answers s z | F <- tells b] &
    forall a, u a (next P s z) = value (after b a) answers s z].

Lemma takes_once answers s z b b' : takes answers s z b -> takes answers s z b' -> b = b'.
Proof.
move=> /andP[h /forallP l] /andP[h' /forallP l'].
have [lt|lt|e] := ltngtP b b'; last exact: val_inj.
- by have /negP := implyP (l' b) lt; case.
- by have /negP := implyP (l b') lt; case.
Qed.

(* The two neighbours' runs, on answers that differ by d, or not, in a step of a mode; what answers differ by is a mean of the vertices. *)
Variables (P P' : program State W [finType of 'I_B]) (answers answers' : H -> 'I_m -> R).
Hypotheses (by_answers : steps_by P answers) (by_answers' : steps_by P' answers').
Variables (k : nat) (vertex : 'I_k -> 'I_m -> R) (Mode : Type) (apart : Mode -> 'I_S -> affine R m) (moves : Mode -> bool).
(* What is followed of a state in a mode; the one difference on which those of the state may hang; the differences that occur. *)
Variables (followed : Mode -> State -> Prop) (one : 'I_m -> R) (occurs : ('I_m -> R) -> Prop).
Definition aligned mo s s' :=
  [/\ told s = told s', forall a, u a s' - u a s = at_difference (apart mo a) one, followed mo s & followed mo s'].
Hypothesis differ : forall mo s, followed mo s -> exists w d, [/\ mean_of vertex w d, occurs d,
  forall l, answers' (told s) l - answers (told s) l = (if moves mo then d l else 0) &
  forall mo' a, at_difference (apart mo' a) d = at_difference (apart mo' a) one].

Definition change (F : form) mo (shift : nat -> affine R m) (d : 'I_m -> R) :=
  \sum_a of_state F a * at_difference (apart mo a) d + \sum_(j < n) of_noise F j * at_difference (shift j) d +
  \sum_l of_answer F l * (if moves mo then d l else 0).

Lemma change_mean F mo shift w d : mean_of vertex w d -> change F mo shift d = \sum_i w i * change F mo shift (vertex i).
Proof.
move=> hull; have swap (J : finType) (c : J -> R) (f : J -> 'I_k -> R) :
    \sum_i w i * (\sum_j c j * f j i) = \sum_j c j * (\sum_i w i * f j i).
  rewrite (eq_bigr (fun i => \sum_j c j * (w i * f j i))); last by move=> i _; rewrite mulr_sumr; apply: eq_bigr => j _; rewrite mulrCA.
  by rewrite exchange_big/=; apply: eq_bigr => j _; rewrite mulr_sumr.
rewrite /change [RHS](eq_bigr (fun i => w i * (\sum_a of_state F a * at_difference (apart mo a) (vertex i)) +
  w i * (\sum_(j < n) of_noise F j * at_difference (shift j) (vertex i)) + w i * (\sum_l of_answer F l * (if moves mo then vertex i l else 0)))); last first.
  by move=> i _; rewrite !mulrDr.
rewrite !big_split/= (swap _ _ (fun a i => at_difference (apart mo a) (vertex i))) (swap _ _ (fun (j : 'I_n) i => at_difference (shift j) (vertex i))).
rewrite (swap _ _ (fun l i => if moves mo then vertex i l else 0)).
congr (_ + _ + _); apply: eq_bigr => l _; congr (_ * _); rewrite ?(affine_mean hull)//.
by case: (moves mo); [have [_ _ ->] := hull | rewrite big1// => i _; rewrite mulr0].
Qed.

Lemma value_changed F mo shift d s s' z z' : told s = told s' -> (forall a, u a s' - u a s = at_difference (apart mo a) d) ->
  (forall j, (j < n)%N -> Z j z' = Z j z + at_difference (shift j) d) ->
  (forall l, answers' (told s) l - answers (told s) l = (if moves mo then d l else 0)) ->
  value F answers' s' z' = value F answers s z + change F mo shift d.
Proof.
move=> ts us zs an; rewrite /value /change -ts.
rewrite (eq_bigr (fun a => of_state F a * u a s + of_state F a * at_difference (apart mo a) d)); last by move=> a _; rewrite -mulrDr -us addrC subrK.
rewrite [X in _ + X + _ + _ = _](eq_bigr (fun j : 'I_n => of_noise F j * Z j z + of_noise F j * at_difference (shift j) d)); last first.
  by move=> j _; rewrite zs// mulrDr.
rewrite [X in _ + _ + X + _ = _](eq_bigr (fun l => of_answer F l * answers (told s) l + of_answer F l * (if moves mo then d l else 0))); last first.
  by move=> l _; rewrite -mulrDr -an addrC subrK.
have sorted (x1 x2 x3 x4 x5 x6 x7 : R) : x1 + x2 + (x3 + x4) + (x5 + x6) + x7 = x1 + x3 + x5 + x7 + (x2 + x4 + x6) by lra.
by rewrite !big_split/= sorted.
Qed.

(* What is checked of a lead, at the vertices. *)
Record lead_checked mo (b : 'I_B) mo' (shift : nat -> affine R m) (cost : R) : Prop := LeadChecked {
  own_grow : forall g, (g < size (guards b))%N -> forall i, 0 <= change (guard_at (guards b) g).1 mo shift (vertex i);
  earlier_fall : forall b' : 'I_B, (b' < b)%N -> (forall g, (g < size (guards b'))%N -> forall i, change (guard_at (guards b') g).1 mo shift (vertex i) <= 0) \/
    (forall s z, followed mo s -> ~~ all (passes answers' s z) (guards b'));
  told_stay : forall f, (f < size (tells b))%N -> forall i, change (nth no_form (tells b) f) mo shift (vertex i) = 0;
  state_after : forall a i, change (after b a) mo shift (vertex i) = at_difference (apart mo' a) (vertex i);
  followed_after : forall s z, followed mo s -> branch P s z = b -> followed mo' (next P s z);
  followed_after' : forall s z, followed mo s -> branch P' s z = b -> followed mo' (next P' s z);
  whole_shifts : forall d j, (j < n)%N -> occurs d -> keeps (lam j) (at_difference (shift j) d);
  costs_at_vertices : exists c : nat -> 'I_k -> R, (forall j, (j < n)%N -> shift_paid vertex (lam j) (mu j) (shift j) (c j)) /\
    forall i, \sum_(j < n) c j i <= cost
}.

Theorem checked_lead mo b mo' shift cost : lead_checked mo b mo' shift cost -> lead nu P P' aligned mo b mo' cost.
Proof.
move=> ck s s' [ts us fo fo']; have [w [d [hull oc an same]]] := differ fo.
have us' a : u a s' - u a s = at_difference (apart mo a) d by rewrite us same.
have [c [paid total]] := costs_at_vertices ck.
have [T [mT TE Tc]] := independent_moved noises (fun j (jn : (j < n)%N) => shift_paid_mean hull (whole_shifts ck jn oc) (paid j jn)).
exists T; split=> // [A mA|z bz].
  apply: (le_trans (Tc A mA)); apply: lee_wpmul2r => //; rewrite lee_fin ler_expR.
  rewrite exchange_big/= (eq_bigr (fun i => w i * (\sum_(j < n) c j i))); last by move=> i _; rewrite mulr_sumr.
  exact: (mean_le hull).
have VC F := value_changed F ts us' (fun j jn => TE z j jn) an.
have [tk tl st] := by_answers s z; rewrite bz in tk tl st.
have [tk' tl' st'] := by_answers' s' (T z).
have hb : branch P' s' (T z) = b.
  apply: takes_once tk' _; move: tk => /andP[/(all_nthP (no_form, true)) own /forallP early]; apply/andP; split.
    apply/(all_nthP (no_form, true)) => g gb; have := own g gb; rewrite -/(guard_at _ _) /passes VC.
    have g0 : 0 <= change (guard_at (guards b) g).1 mo shift d.
      by rewrite (change_mean _ _ _ hull); apply: (mean_ge0 hull) => i; exact: own_grow ck g gb i.
    move: g0; set v := value _ _ _ _; set ch := change _ _ _ _ => g0; by case: ifP => _ h; lra.
  apply/forallP => b'; apply/implyP => lt; case: (earlier_fall ck lt) => [falls|]; last by apply.
  apply/negP => /(all_nthP (no_form, true)) others; have /negP := implyP (early b') lt; apply.
  apply/(all_nthP (no_form, true)) => g gb; have := others g gb; rewrite -/(guard_at _ _) /passes VC.
  have g0 : change (guard_at (guards b') g).1 mo shift d <= 0 by rewrite (change_mean _ _ _ hull); apply: (mean_le hull) => i; exact: falls.
  move: g0; set v := value _ _ _ _; set ch := change _ _ _ _ => g0; by case: ifP => _ h; lra.
split=> //; rewrite hb in tl' st'; split.
- rewrite tl tl' -ts; congr (write _ _ _); apply: (@eq_from_nth _ 0); rewrite !size_map// => f fb.
  rewrite !(nth_map no_form)// VC (change_mean _ _ _ hull) big1 ?addr0// => i _.
  by rewrite (told_stay ck fb) mulr0.
- move=> a; rewrite st st' VC addrC addKr -same (affine_mean hull) (change_mean _ _ _ hull); apply: eq_bigr => i _.
  by rewrite (state_after ck).
- exact: followed_after ck _ _ fo bz.
- exact: followed_after' ck _ _ fo' hb.
Qed.

(* A path has probability 0 where what is followed excludes one of its branches, but for noises of probability 0. *)
Inductive excluded (Q : program State W [finType of 'I_B]) : (State -> Prop) -> seq 'I_B -> Prop :=
| ExcludedNow (known : State -> Prop) b path of (forall s, known s -> nu [set z | branch Q s z = b] = 0%E) : excluded Q known (b :: path)
| ExcludedLater (known known' : State -> Prop) b path of (forall s z, known s -> branch Q s z = b -> known' (next Q s z)) & excluded Q known' path :
    excluded Q known (b :: path).

Lemma excluded_run Q known path g : unit_valued g -> excluded Q known path -> forall s, known s -> run nu Q g path s = 0.
Proof.
move=> ug; elim=> {known path} [known b path null s ks | known known' b path step _ IH s ks] /=; last first.
  rewrite (eq_integral (fun=> 0%E)) ?integral0// => z _; case: eqP => // e; by rewrite (IH _ (step _ _ ks e)).
have nu1 := independent_total noises.
have [mr r01] := run_unit nu1 Q path ug.
rewrite (_ : (\int[nu]_z _)%E = 0%E)//; apply/eqP; rewrite eq_le; apply/andP; split; last first.
  by apply: integral_ge0 => z _; rewrite lee_fin; case: ifP => // _; case/andP: (r01 (next Q s z)).
have mb : measurable [set z | branch Q s z = b].
  rewrite (_ : [set z | _] = xsection [set x : State * W | branch Q x.1 x.2 = b] s); first exact: measurable_xsection (measurable_branch Q b).
  by apply/seteqP; split=> z; rewrite /xsection/= inE.
apply: (@le_trans _ _ (\int[nu]_z (\1_[set z | branch Q s z = b] z)%:E)%E); last by rewrite integral_indic// setIT null.
apply: ge0_le_integral => //.
- by move=> z _; rewrite lee_fin; case: ifP => // _; case/andP: (r01 (next Q s z)).
- by apply/EFin_measurable_fun; exact: section_on mr.
- by move=> z _; rewrite lee_fin indicE.
- by apply/EFin_measurable_fun; exact: measurable_fun_indic.
move=> z _; rewrite lee_fin indicE; case: eqP => h; last by case: (_ \in _).
by rewrite mem_set//; case/andP: (r01 (next Q s z)).
Qed.

(* Two of what has to hold then add up to 0, and a noise without atoms is in them: so it is at one value. *)
Lemma excluded_by_sum (Q : program State W [finType of 'I_B]) s (b : 'I_B) (F F' : form) an j :
  (forall z, branch Q s z = b -> 0 <= value F an s z /\ 0 <= value F' an s z) ->
  (forall z, value F an s z + value F' an s z <= 0) -> (j < n)%N -> of_noise F j != 0 -> (forall z, mu j [set z] = 0%E) ->
  nu [set z | branch Q s z = b] = 0%E.
Proof.
move=> both sum jn fj atom; have mb : measurable [set z | branch Q s z = b].
  rewrite (_ : [set z | _] = xsection [set x : State * W | branch Q x.1 x.2 = b] s); first exact: measurable_xsection (measurable_branch Q b).
  by apply/seteqP; split=> z; rewrite /xsection/= inE.
pose t := - (\sum_a of_state F a * u a s + \sum_l of_answer F l * an (told s) l + rest F (told s)).
have mform : measurable_fun setT (fun z => \sum_(i < n) of_noise F i * Z i z).
  have mZ := measurable_noises noises; elim: (n) => [|k' IHk].
    by rewrite (_ : (fun _ => _) = cst 0); [exact: measurable_fun_cst | apply/funext => z; rewrite big_ord0].
  rewrite (_ : (fun _ => _) = (fun z => \sum_(i < k') of_noise F i * Z i z) \+ (fun z => of_noise F k' * Z k' z)); last first.
    by apply/funext => z; rewrite big_ord_recr.
  by apply: measurable_funD => //; apply: measurable_funM; [exact: measurable_fun_cst | exact: mZ].
have mt : measurable [set z | \sum_(i < n) of_noise F i * Z i z = t].
  rewrite (_ : [set z | _] = setT `&` (fun z => \sum_(i < n) of_noise F i * Z i z) @^-1` [set t]); last by rewrite setTI.
  by apply: mform => //; exact: measurable_set1.
apply/eqP; rewrite eq_le measure_ge0 andbT -(independent_null noises jn fj atom t).
apply: le_measure; rewrite ?inE// => z /= bz; have [h h'] := both z bz; have := sum z.
rewrite /t; move: h h'; rewrite {1 3}/value; set v' := value F' an s z; set x1 := \sum_a _; set x2 := \sum_(i < n) _; set x3 := \sum_l _; lra.
Qed.

(* -- The rule -- *)

Variables (C : finType) (grows : 'I_B -> C -> R) (price : C -> R) (each : R) (ahead : Mode -> R) (idle : pred 'I_B) (limit unit largest : C -> R).
Hypotheses (unit0 : forall j, 0 < unit j) (multiple : forall b j, exists k : nat, grows b j = k%:R * unit j) (largestP : forall b j, grows b j <= largest j).
Hypotheses (price0 : forall j, 0 <= price j) (each0 : 0 <= each) (idle_grows : forall b j, idle b -> grows b j = 0).

(* From mode to mode by the branches of a path, by leads that are checked and paid. *)
Inductive checked_along : Mode -> seq 'I_B -> Mode -> Prop :=
| CheckedStays mo : checked_along mo [::] mo
| CheckedGoes mo b mo' shift cost path last of lead_checked mo b mo' shift cost & paid grows price each ahead idle mo b mo' cost &
    checked_along mo' path last : checked_along mo (b :: path) last.

Lemma checked_paid mo path last : checked_along mo path last ->
  exists total, @paid_along R _ State _ W nu [finType of 'I_B] P P' Mode aligned C grows price each ahead idle mo path total last.
Proof.
elim=> {mo path last} [mo|mo b mo' shift cost path last ck pd _ [total al]]; first by exists 0; exact: PaidStays.
by exists (cost + total); apply: PaidGoes al => //; exact: checked_lead ck.
Qed.
End Leads.

(* What is told of two neighbours after any number of steps, the noises that are drawn once among them. *)
Section Rule.
Context (R : realType) dS (State : measurableType dS) dW (W : measurableType dW) (nu : {measure set W -> \bar R}) (B : nat).
Context (mu lam : nat -> {measure set R -> \bar R}) (mu1 : forall j, mu j setT = 1%E) (n : nat) (Z : nat -> W -> R).
Hypothesis noises : independent_noises mu1 n nu Z.
Context dH (H : measurableType dH) (told : State -> H) (S m : nat) (u : 'I_S -> State -> R).
Variables (guards : 'I_B -> seq (form R H S m * bool)) (tell : 'I_B -> seq (form R H S m)) (write : 'I_B -> H -> seq R -> H).
Variables (after : 'I_B -> 'I_S -> form R H S m).
Variables (P P' : program State W [finType of 'I_B]) (answers answers' : H -> 'I_m -> R).
Hypotheses (by_answers : steps_by n Z told u guards tell write after P answers) (by_answers' : steps_by n Z told u guards tell write after P' answers').
Variables (k : nat) (vertex : 'I_k -> 'I_m -> R) (Mode : Type) (apart : Mode -> 'I_S -> affine R m) (moves : Mode -> bool).
Variables (followed : Mode -> State -> Prop) (one : 'I_m -> R) (occurs : ('I_m -> R) -> Prop).
Hypothesis differ : forall mo s, followed mo s -> exists w d, [/\ mean_of vertex w d, occurs d,
  forall l, answers' (told s) l - answers (told s) l = (if moves mo then d l else 0) &
  forall mo' a, at_difference (apart mo' a) d = at_difference (apart mo' a) one].
Variables (C : finType) (grows : 'I_B -> C -> R) (price : C -> R) (each : R) (ahead : Mode -> R) (idle : pred 'I_B) (limit unit largest : C -> R).
Hypotheses (unit0 : forall j, 0 < unit j) (multiple : forall b j, exists k : nat, grows b j = k%:R * unit j) (largestP : forall b j, grows b j <= largest j).
Hypotheses (price0 : forall j, 0 <= price j) (each0 : 0 <= each) (idle_grows : forall b j, idle b -> grows b j = 0).
Variables (s0 s0' : State) (steps : nat) (start : R) (known : State -> Prop).
Hypotheses (measurable_told : measurable_fun setT told) (known0 : known s0).

(* Modes go along with each path of so many steps, from one in which runs begin, or what is followed excludes it. *)
Definition gone_along (path : seq 'I_B) :=
  (exists mo last, [/\ aligned told u apart followed one mo s0 s0',
    checked_along mu lam n Z told u guards tell after P P' answers' vertex apart moves followed occurs grows price each ahead idle mo path last,
    0 <= ahead last, ahead mo <= start & ends_in_time grows each idle limit steps path]) \/ excluded nu P known path.

Lemma alignment_in_steps (length : nat) : (forall path : length.-tuple 'I_B, gone_along path) -> forall A, measurable A ->
  (tells nu told length P s0 A <= (expR (start + each *+ steps + \sum_j price j * most limit unit largest j))%:E * tells nu told length P' s0' A)%E.
Proof.
move=> paths; apply: (alignment_tells (independent_total noises) (aligned := aligned told u apart followed one) (ahead := ahead) unit0 multiple
  largestP price0 each0 idle_grows (told := told) (s0 := s0) (s0' := s0') measurable_told); first by move=> mo s s' [].
move=> path; have [[mo [last [al ck a0 st time]]]|ex] := paths path; [left | right].
- have [total pa] := checked_paid noises by_answers by_answers' differ ck.
  by exists mo, total, last.
- by move=> g ug; exact: (excluded_run noises ug ex).
Qed.

(* The outputs of two neighbours: runs may end or not; the sets that finitely many steps decide generate all. *)
(* Rule: alignment, upper. *)
Theorem alignment_rule dT (T : measurableType dT) (M M' : {measure set T -> \bar R}) (decided : set (set T)) : M setT = 1%E -> M' setT = 1%E ->
  decided setT -> (forall A, decided A -> decided (~` A)) -> (forall A A', decided A -> decided A' -> decided (A `&` A')) -> measurable = <<s decided >> ->
  (forall A, decided A -> exists length D, [/\ measurable D, M A = tells nu told length P s0 D, M' A = tells nu told length P' s0' D &
    forall path : length.-tuple 'I_B, gone_along path]) ->
  close (start + each *+ steps + \sum_j price j * most limit unit largest j) 0 M M'.
Proof.
move=> M1 M1' dT1 dC dI dG by_steps; apply: (close_of_decided M1 M1' dT1 dC dI dG) => A dA.
by have [length [D [mD -> -> paths]]] := by_steps A dA; exact: alignment_in_steps.
Qed.
End Rule.
