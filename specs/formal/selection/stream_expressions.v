(* The expressions of which the steps of a stream are made (docs/theory/selection.md: streams), read as forms: sums of rational multiples of the state, the
   noises and the answers, and of a rest in parameters and counters. What the rules substitute in an expression and what they compute of its form agree. *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic alignment stream_paths.

Section Expressions.
Context (R : realType) (S m : nat) (C : finType).
Notation form := (form R (C -> R) S m).

(* What has none of the names that differ between runs is a rest; a product has one factor with such names, and the others make a number. *)
Inductive expression :=
| Rest of ((C -> R) -> R) | State of 'I_S | Noise of nat | Answer of 'I_m
| Plus of expression & expression | Times of R & expression.

Fixpoint value_of (E : expression) (u : 'I_S -> R) (z : nat -> R) (q : 'I_m -> R) (h : C -> R) : R := match E with
  | Rest r => r h | State a => u a | Noise j => z j | Answer l => q l
  | Plus E1 E2 => value_of E1 u z q h + value_of E2 u z q h
  | Times c E1 => c * value_of E1 u z q h
  end.
Fixpoint noises_below n (E : expression) := match E with
  | Noise j => (j < n)%N | Plus E1 E2 => noises_below n E1 && noises_below n E2 | Times _ E1 => noises_below n E1 | _ => true end.

Fixpoint form_of (E : expression) : form := match E with
  | Rest r => Form (fun=> 0) (fun=> 0) (fun=> 0) r
  | State a => Form (fun a' => (a' == a)%:R) (fun=> 0) (fun=> 0) (fun=> 0)
  | Noise j => Form (fun=> 0) (fun j' => (j' == j)%:R) (fun=> 0) (fun=> 0)
  | Answer l => Form (fun=> 0) (fun=> 0) (fun l' => (l' == l)%:R) (fun=> 0)
  | Plus E1 E2 => let F1 := form_of E1 in let F2 := form_of E2 in
      Form (fun a => of_state F1 a + of_state F2 a) (fun j => of_noise F1 j + of_noise F2 j) (fun l => of_answer F1 l + of_answer F2 l)
        (fun h => rest F1 h + rest F2 h)
  | Times c E1 => let F := form_of E1 in
      Form (fun a => c * of_state F a) (fun j => c * of_noise F j) (fun l => c * of_answer F l) (fun h => c * rest F h)
  end.

Lemma sum_none (I : finType) (x : I -> R) : \sum_i 0 * x i = 0.
Proof. by rewrite big1// => i _; rewrite mul0r. Qed.

Lemma sum_one (I : finType) (i : I) (x : I -> R) : \sum_i' (i' == i)%:R * x i' = x i.
Proof. by rewrite (bigD1 i)//= eqxx mul1r big1 ?addr0// => i' /negbTE->; rewrite mul0r. Qed.

Theorem form_ofE n E u z q h : noises_below n E -> form_at n (form_of E) u z q h = value_of E u z q h.
Proof.
rewrite /form_at; elim: E => /= [r _|a _|j lt|l _|E1 IH1 E2 IH2 /andP[/IH1 <- /IH2 <-]|c E1 IH /IH <-].
- by rewrite !sum_none !add0r.
- by rewrite !sum_none sum_one !addr0.
- by rewrite !sum_none (sum_one (Ordinal lt) (fun j' : 'I_n => z j')) add0r !addr0.
- by rewrite !sum_none sum_one !add0r addr0.
- rewrite !(eq_bigr _ (fun i _ => mulrDl _ _ _)) !big_split /=; lra.
- by rewrite !mulrDr !mulr_sumr; congr (_ + _ + _ + _); apply: eq_bigr => i _; rewrite mulrA.
Qed.
End Expressions.
