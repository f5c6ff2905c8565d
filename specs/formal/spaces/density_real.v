(* The mechanism with a density on all of R^d (docs/theory/spaces.md, density mechanism): how near it answers exactly, so that a claim that it answers
   nearer is refuted. *)
From dpverify Require Import prelude.
From dpverify Require Import definitions arithmetic density norms kernels powers spaces near_dual scale_integrals power_integrals norm_length gamma_tails noise_near.
Import numFieldNormedType.Exports.

Section Real.
Context (R : realType) (V : lmodType R) d (Z : measurableType d) (mu : {measure set Z -> \bar R}) (place : Z -> V).
Context (X : Type) (dist : X -> X -> R) (q : X -> Z) (norm : V -> R) (n : nat) (K b C gamma beta : R) (M : mechanism R X Z).
Let between y z := norm (place y - place z).
Hypotheses (semi : seminorm norm) (n0 : (0 < n)%N) (lip : lipschitz q dist between C) (b0 : 0 < b) (gamma0 : 0 <= gamma).
(* The measure on R^n is one in which balls of radius r have the measure K r^n, wherever they are, as in Lebesgue's. *)
Hypotheses (K0 : 0 <= K) (balls : forall x, balls_are_powers mu (between (q x)) K n%:R) (lengths : forall x, measurable_fun setT (between (q x))).
Variable c : X -> R.
Hypotheses (c0 : forall x, 0 < c x) (dens : forall x, has_density mu (M x) (fun z => c x * expR (- (b * between (q x) z)))).
Let nR : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

Let L0 x z : 0 <= between (q x) z. Proof. exact: (seminorm_ge0 semi). Qed.

(* The normaliser is the same for all databases. *)
Let same x x' : c x = c x'.
Proof.
have one y : ((c y)%:E * (\int[mu]_z (expR (- (b * between (q y) z)))%:E) = 1)%E.
  have [_ _ Me] := dens y; rewrite -(law_total M y) Me// (integral_scaled mu (ltW (c0 y)))//.
  - by move=> z; exact: expR_ge0.
  - apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funN; exact: measurable_funrM (lengths y).
have mf : measurable_fun setT (fun s : R => expR (- (b * s))).
  apply: measurable_fun_comp (@measurable_expR R) _; apply: measurable_funN; apply: measurable_funrM; exact: measurable_fun_id.
have f0 s : 0 <= expR (- (b * s)) :> R by exact: expR_ge0.
have all y := integral_length (lengths y) nR K0 (balls y) mf f0 measurableT.
have : ((c x)%:E * (\int[mu]_z (expR (- (b * between (q x) z)))%:E) = (c x')%:E * (\int[mu]_z (expR (- (b * between (q x) z)))%:E))%E.
  rewrite one -(one x'); congr (_ * _)%E; have := all x; rewrite -(all x'); by move/esym.
have := one x; case E : (\int[mu]_z _)%E => [i| |].
- rewrite -!EFinM => -[e] [h]; apply: (mulIf _ h); apply/eqP => i0; move: e; rewrite i0 mulr0 => /eqP; by rewrite eq_sym oner_eq0.
- by rewrite gt0_muley ?lte_fin.
- by rewrite gt0_muleNy ?lte_fin.
Qed.

Theorem density_far x : M x (far q between gamma x) = (gamma_tail n%:R (b * gamma))%:E.
Proof.
have Pp : has_density mu (M x) (fun z => c x * expR (- (b * pow 1 (between (q x) z)))).
  by have -> : (fun z => c x * expR (- (b * pow 1 (between (q x) z)))) = (fun z => c x * expR (- (b * between (q x) z)));
    [apply/funext => z; rewrite pow1 | exact: dens].
rewrite /far (gamma_length (lengths x) (L0 x) nR K0 (balls x) b0 ltr01 (ltW (c0 x)) (law_total M x) Pp gamma0) divr1 pow1//.
Qed.

(* The second part refutes: where answers are too far with a greater probability than beta, they are so on every database. *)
(* Rule: density-mechanism, upper. *)
(* Rule: density-mechanism, lower. *)
Theorem density_mechanism_real :
  (gamma_tail n%:R (b * gamma) <= beta -> private_by_distance dist M (b * C) /\ near_but q between M gamma beta) /\
  (beta < gamma_tail n%:R (b * gamma) -> X -> ~ near_but q between M gamma beta).
Proof.
split=> [small | large x near]; last by have := near x; rewrite density_far lee_fin leNgt large.
split; last by move=> x; rewrite density_far lee_fin.
exact: (density_mechanism (between_metric place semi) lip (ltW b0) c0 dens).2 same.
Qed.
End Real.
