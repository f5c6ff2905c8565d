(* Cutting a polytope by a plane (docs/theory/finite.md: kernel box): the vertices below, and those where the plane meets edges, span what lies
   below. Two vertices span an edge exactly where no third one is tight on all planes that both are tight on (Fukuda and Prodon 1996). *)
From dpverify Require Import prelude.
From dpverify Require Import arithmetic polytope_parts.

(* Where one more holds. *)
Lemma count_more (T : eqType) (a b : pred T) (s : seq T) q : (forall z, z \in s -> a z -> b z) -> q \in s -> b q -> ~~ a q -> (count a s < count b s)%N.
Proof.
elim: s => //= z s IH sub; have le : (count a s <= count b s)%N.
  have : forall y, y \in s -> a y -> b y by move=> y ys; apply: sub; rewrite in_cons ys orbT.
  elim: s {IH sub} => //= y s IH sub; apply: leq_add; last by apply: IH => x xs; apply: sub; rewrite in_cons xs orbT.
  by have := sub y (mem_head y s); case: (a y) => // ->.
rewrite in_cons => /orP[/eqP<- bq /negbTE->|qs bq aq]; first by rewrite bq add0n add1n ltnS.
have lt : (count a s < count b s)%N by apply: IH => // y ys; apply: sub; rewrite in_cons ys orbT.
have := sub z (mem_head z s); case: (a z) => [h|_]; first by rewrite (h isT) ltn_add2l.
by rewrite add0n; apply: (leq_trans lt); rewrite leq_addl.
Qed.

Section Cut.
Context (R : realFieldType) (V : lmodType R) (dot : V -> V -> R).
Hypotheses (dotP : forall n a x y, dot n (a *: x + y) = a * dot n x + dot n y) (dotN : forall n x, dot (- n) x = - dot n x).
Hypothesis dot_positive : forall d, d != 0 -> 0 < dot d d.
Local Notation part := (@part R V).
Local Notation plane := (@plane R V).
Local Notation tight := (@tight R V dot).
Local Notation satisfies := (@satisfies R V dot).
Local Notation spanning := (@spanning R V dot).
Implicit Types (P : part) (p : plane) (x y u v w k n : V) (c : R).

(* All planes that are tight at x are tight at y. *)
Definition follows (ps : seq plane) x y := forall p, p \in ps -> tight p x -> tight p y.
(* No vertex lies on all planes of another. *)
Definition vertices P := forall v w, v \in P.1 -> w \in P.1 -> follows P.2 v w -> w = v.

Definition is_edge P u v := all (fun k => [|| k == u, k == v | ~~ all (fun p => tight p u && tight p v ==> tight p k) P.2]) P.1.
Definition crossing n c u v : V := let s := (c - dot n u) / (dot n v - dot n u) in s *: (v - u) + u.

Lemma dot_step n s u v : dot n (s *: (v - u) + u) = (1 - s) * dot n u + s * dot n v.
Proof. by rewrite dotP (dotB dotP); lra. Qed.

Lemma crossing_on n c u v : dot n u < c -> c < dot n v -> dot n (crossing n c u v) = c.
Proof. by move=> uc cv; rewrite dotP (dotB dotP) divfK ?subrK// subr_eq0 gt_eqF// (lt_trans uc). Qed.

Lemma crossing_share n c u v : dot n u < c -> c < dot n v ->
  0 < (c - dot n u) / (dot n v - dot n u) /\ (c - dot n u) / (dot n v - dot n u) < 1.
Proof.
move=> uc cv; have h : 0 < dot n v - dot n u by rewrite subr_gt0 (lt_trans uc).
by split; [rewrite divr_gt0// subr_gt0 | rewrite ltr_pdivr_mulr// mul1r ltr_add2r].
Qed.

Lemma stepE s u v : s *: (v - u) + u = between s v u.
Proof. by rewrite /between scalerBr scalerBl scale1r addrAC addrA. Qed.

Lemma hull_step vs s u v : 0 <= s -> s <= 1 -> hull vs u -> hull vs v -> hull vs (s *: (v - u) + u).
Proof. by move=> s0 s1 hu hv; rewrite stepE; exact: hull_convex. Qed.

(* Between two points on the right side of a plane, it is tight only where it is at both. *)
Lemma tight_step p s u v : 0 < s -> s < 1 -> dot p.1 u <= p.2 -> dot p.1 v <= p.2 -> tight p (s *: (v - u) + u) -> tight p u /\ tight p v.
Proof.
rewrite /tight => s0 s1 hu hv /eqP; rewrite dot_step => e; have s1' : 0 < 1 - s by rewrite subr_gt0.
have h1 : 0 <= s * (p.2 - dot p.1 v) by rewrite mulr_ge0 ?subr_ge0// ltW.
have h2 : 0 <= (1 - s) * (p.2 - dot p.1 u) by rewrite mulr_ge0 ?subr_ge0// ltW.
have z1 : s * (p.2 - dot p.1 v) = 0 by apply/eqP; rewrite eq_le h1 andbT; lra.
have z2 : (1 - s) * (p.2 - dot p.1 u) = 0 by apply/eqP; rewrite eq_le h2 andbT; lra.
move/eqP: z1; rewrite mulf_eq0 gt_eqF//= subr_eq0 eq_sym => ->.
by move/eqP: z2; rewrite mulf_eq0 gt_eqF//= subr_eq0 eq_sym => ->.
Qed.

Lemma step_tight p s u v : tight p u -> tight p v -> tight p (s *: (v - u) + u).
Proof. by rewrite /tight dot_step => /eqP-> /eqP->; apply/eqP; lra. Qed.

(* Two vertices on one ray from a third are the same. *)
Lemma one_ray P o v k a b : (forall z, z \in P.1 -> satisfies P.2 z) -> vertices P -> o \in P.1 -> v \in P.1 -> k \in P.1 -> 0 < a -> 0 < b ->
  a *: (v - o) + o = b *: (k - o) + o -> k = v.
Proof.
move=> sat irr oo; have near z z' s s' : z \in P.1 -> z' \in P.1 -> 0 < s -> s < s' -> s' *: (z - o) + o = s *: (z' - o) + o -> z = z'.
  move=> zz zz' s0 ss /addIr e; have s'0 := lt_trans s0 ss.
  have zE : z = (s / s') *: (z' - o) + o.
    by rewrite mulrC -scalerA -e scalerA mulVf ?gt_eqF// scale1r subrK.
  have q0 : 0 < s / s' by rewrite divr_gt0.
  have q1 : s / s' < 1 by rewrite ltr_pdivr_mulr// mul1r.
  apply/esym; apply: (irr z z' zz zz') => p pp; rewrite {1}zE => /(tight_step q0 q1 (sat o oo p pp) (sat z' zz' p pp)).
  by case.
move=> vv kk a0 b0 e; have [ab|ba|ab] := ltgtP a b.
- exact: (near k v a b).
- by apply/esym; apply: (near v k b a).
- move: e; rewrite ab => /addIr /(scalerI (lt0r_neq0 b0)) /addIr; exact: esym.
Qed.

(* The vertices on the planes that are tight at a point span it. *)
Definition on_planes P x := [seq v <- P.1 | all (fun p => tight p x ==> tight p v) P.2].

Lemma hull_planes P x : (forall z, z \in P.1 -> satisfies P.2 z) -> hull P.1 x -> hull (on_planes P x) x.
Proof.
move=> sat hx; suff H (ps : seq plane) : {subset ps <= P.2} -> hull [seq v <- P.1 | all (fun p => tight p x ==> tight p v) ps] x by exact: H.
elim: ps => [|p ps IH] sub; first by rewrite filter_predT.
have {}IH := IH (fun q qq => sub q (mem_behead (s := p :: ps) qq)).
have [tp|tp] := boolP (tight p x); last by rewrite (_ : [seq _ <- _ | _] = [seq v <- P.1 | all (fun p => tight p x ==> tight p v) ps])//;
  apply: eq_filter => v /=; rewrite (negbTE tp).
have := hull_face dotP (n := p.1) (c := p.2) _ IH (eqP tp); rewrite -filter_predI => h.
have {}h := h (fun v vv => sat v (mem_subseq (filter_subseq _ _) vv) p (sub p (mem_head p ps))).
by apply: hull_sub h => v; rewrite !mem_filter /= tp.
Qed.

(* -- What lies below a plane -- *)

Definition below P n c : part :=
  ([seq v <- P.1 | dot n v <= c] ++ [seq crossing n c e.1 e.2 | e <- allpairs pair P.1 P.1 & [&& dot n e.1 < c, c < dot n e.2 & is_edge P e.1 e.2]],
   (n, c) :: P.2).

Lemma belowP P n c x : reflect ((x \in P.1 /\ dot n x <= c) \/
  exists u v, [/\ u \in P.1, v \in P.1, dot n u < c, c < dot n v & is_edge P u v /\ x = crossing n c u v]) (x \in (below P n c).1).
Proof.
rewrite mem_cat mem_filter; apply: (iffP orP) => [[/andP[le xx]|/mapP[[u v]]]|[[xx le]|[u [v [uu vv uc cv [e ->]]]]]].
- by left.
- rewrite mem_filter /= => /andP[/and3P[uc cv e] /allpairsP[[u' v'] /= [uu vv [eu ev]]]] ->.
  by right; exists u', v'; move: uc cv e; rewrite eu ev => uc cv e; split.
- by left; rewrite le xx.
- right; apply/mapP; exists (u, v) => //; rewrite mem_filter /= uc cv e /=; exact: allpairs_f.
Qed.

Section One.
Variables (P : part) (n : V) (c : R).
Hypotheses (descr : described dot P) (irr : vertices P).
Let sat := descr.1.

Lemma hull_satisfies x : hull P.1 x -> satisfies P.2 x.
Proof. by move=> hx p pp; apply: (hull_half dotP _ hx) => v vv; exact: sat. Qed.

Lemma on_planes_sub x v : v \in on_planes P x -> v \in P.1 /\ follows P.2 x v.
Proof. by rewrite mem_filter => /andP[/allP h vv]; split=> // p pp tp; have := h p pp; rewrite tp. Qed.

Lemma hull_on_planes x y : hull (on_planes P x) y -> hull P.1 y /\ follows P.2 x y.
Proof.
move=> hy; split; first by apply: hull_sub hy => v /on_planes_sub[].
move=> p pp tp; apply: (hy (fun z => tight p z)) => [t a b _ _ ta tb | v /on_planes_sub[_]]; last exact.
by rewrite /tight (dot_between dotP) (eqP ta) (eqP tb); apply/eqP; lra.
Qed.

(* A point below that no other follows is a vertex of what lies below. *)
Lemma lonely x : hull P.1 x -> dot n x <= c ->
  (forall y, hull P.1 y -> dot n y <= c -> follows ((n, c) :: P.2) x y -> y = x) -> x \in (below P n c).1.
Proof.
move=> hx xc alone; have hF := hull_planes sat hx; apply/belowP.
have [nc|nc] := eqVneq (dot n x) c; last first.
- have lt : dot n x < c by rewrite lt_neqAle nc.
  left; split=> //; case E : (on_planes P x) => [|v vs]; first by move: hF; rewrite E => /hull_nil.
  have vF : v \in on_planes P x by rewrite E mem_head.
  have [vv xv] := on_planes_sub vF.
  pose g := `|dot n v - dot n x| + 1; have g1 : 1 <= g by rewrite ler_addr.
  have g0 : 0 < g by apply: lt_le_trans g1; exact: ltr01.
  pose s := Num.min 1 ((c - dot n x) / g).
  have s0 : 0 < s by rewrite lt_minr ltr01 divr_gt0// subr_gt0.
  have s1 : s <= 1 by rewrite le_minl lexx.
  have sg : s * g <= c - dot n x by rewrite -ler_pdivl_mulr// le_minl lexx orbT.
  have h : s *: (v - x) + x = x.
    apply: alone; first by apply: hull_step => //; [exact: ltW | exact: hull_in].
      rewrite dotP (dotB dotP); have := ler_norm (dot n v - dot n x) => h.
      have : s * (dot n v - dot n x) <= s * g by rewrite ler_pmul2l// /g; lra.
      lra.
    move=> p; rewrite in_cons => /orP[/eqP->|pp tp]; first by rewrite /tight /= (negbTE nc).
    by apply: step_tight => //; exact: xv.
  move: h => /eqP; rewrite -subr_eq0 addrK scaler_eq0 gt_eqF//= subr_eq0 => /eqP <- //.
- have same y : hull (on_planes P x) y -> dot n y = c -> y = x.
    move=> /hull_on_planes[hy xy] yc; apply: alone => //; first by rewrite yc.
    by move=> p; rewrite in_cons => /orP[/eqP->|pp]; [rewrite /tight /= yc | exact: xy].
  have [|none] := boolP (has (fun v => dot n v == c) (on_planes P x)).
    case/hasP => v vF /eqP vc; left; split=> //.
    by rewrite -(same v (hull_in vF) vc); have [] := on_planes_sub vF.
  have off v : v \in on_planes P x -> dot n v != c by move=> vF; apply: (hasPn none).
  have [|nolow] := boolP (has (fun v => dot n v < c) (on_planes P x)); last first.
    have ge v : v \in on_planes P x -> dot (- n) v <= - c.
      by move=> vF; rewrite dotN ler_opp2 leNgt; exact: (hasPn nolow).
    have e : dot (- n) x = - c by rewrite dotN nc.
    have := hull_face dotP ge hF e; rewrite (_ : [seq _ <- _ | _] = [::]) => [/hull_nil//|].
    by apply/eqP; rewrite -[_ == _]negbK -has_filter; apply/hasPn => v vF; rewrite dotN eqr_opp off.
  have [|nohigh] := boolP (has (fun v => c < dot n v) (on_planes P x)); last first.
    have le v : v \in on_planes P x -> dot n v <= c by move=> vF; rewrite leNgt; exact: (hasPn nohigh).
    have := hull_face dotP le hF nc; rewrite (_ : [seq _ <- _ | _] = [::]) => [/hull_nil//|].
    by apply/eqP; rewrite -[_ == _]negbK -has_filter; apply/hasPn => v vF; rewrite off.
  case/hasP => v vF cv; case/hasP => u uF uc; right; exists u, v.
  have [uu xu] := on_planes_sub uF; have [vv xv] := on_planes_sub vF.
  have cross a b : a \in on_planes P x -> b \in on_planes P x -> dot n a < c -> c < dot n b -> crossing n c a b = x.
    move=> aF bF ac cb; have [q0 q1] := crossing_share ac cb; apply: same; last exact: crossing_on.
    by apply: hull_step; [exact: ltW | exact: ltW | exact: hull_in | exact: hull_in].
  split=> //; split; last by rewrite cross.
  apply/allP => k kk; have [//|ku] := eqVneq k u; have [//|kv] := eqVneq k v; rewrite /=; apply/negP => /allP common.
  have kF : k \in on_planes P x.
    rewrite mem_filter kk andbT; apply/allP => p pp; apply/implyP => tp.
    by have := common p pp; rewrite xu// xv.
  have := off k kF; rewrite neq_lt => /orP[kc|ck].
  - have back a b : crossing n c a b = (1 - (c - dot n a) / (dot n b - dot n a)) *: (a - b) + b.
      by rewrite /crossing; set q := (_ / _); rewrite !stepE /between opprB addrCA subrr addr0 addrC.
    have [a0 a1] := crossing_share uc cv; have [b0 b1] := crossing_share kc cv.
    have e := cross u v uF vF uc cv; rewrite -(cross k v kF vF kc cv) !back in e.
    move: ku; rewrite (one_ray sat irr vv uu kk _ _ e) ?eqxx// subr_gt0//.
  - have [a0 a1] := crossing_share uc cv; have [b0 b1] := crossing_share uc ck.
    have e := cross u v uF vF uc cv; rewrite -(cross u k uF kF uc ck) /crossing in e.
    by move: kv; rewrite (one_ray sat irr uu vv kk _ _ e) ?eqxx.
Qed.

Lemma spanning_tight p x : spanning P p -> hull P.1 x -> tight p x.
Proof.
move=> /allP sp hx; apply: (hx (fun z => tight p z)) => [t a b _ _ ta tb | v vv]; last exact: sp.
by rewrite /tight (dot_between dotP) (eqP ta) (eqP tb); apply/eqP; lra.
Qed.

(* Any other point is between two points on which more planes are tight. *)
Theorem below_spans x : hull P.1 x -> dot n x <= c -> hull (below P n c).1 x.
Proof.
pose Q := (n, c) :: P.2; have [k] := ubnP (count (fun p => ~~ tight p x) Q); elim: k x => // k IH x; rewrite ltnS => le hx xc.
case: (EM (exists y, [/\ hull P.1 y, dot n y <= c, follows Q x y & y <> x])) => [[y [hy yc xy yx]]|none]; last first.
  by apply: hull_in; apply: lonely => // y hy yc xy; apply: contrapT => yx; apply: none; exists y.
have sQ : satisfies Q x by move=> p; rewrite in_cons => /orP[/eqP->|pp]; [exact: xc | exact: hull_satisfies].
have on d : d != 0 -> (forall p, p \in Q -> tight p x -> dot p.1 d = 0) -> exists t, 0 < t /\ hull (below P n c).1 (t *: d + x).
  move=> dn flat; have inQ p : p \in P.2 -> p \in Q by move=> pp; rewrite in_cons pp orbT.
  have along p : p \in P.2 -> spanning P p -> dot p.1 d = 0 by move=> pp sp; apply: flat; [exact: inQ | exact: spanning_tight].
  have [none|[t [t0 st [p [pp pd pt]]]]] := ray_leaves dotP d sQ.
    have [t [_ _ [p [pp _ pd _]]]] := part_leaves dotP dot_positive descr dn along hx.
    by move: pd; rewrite ltNge none// inQ.
  have xpt : ~~ tight p x by apply/negP => /(flat p pp) e; move: pd; rewrite e ltxx.
  have t1 : 0 < t.
    by rewrite lt_neqAle t0 andbT; apply/negP => /eqP e; move: pt xpt; rewrite -e scale0r add0r /polytope_parts.tight => ->; rewrite eqxx.
  exists t; split=> //; apply: IH; last by have := st (n, c) (mem_head _ _).
  - apply: leq_trans le; apply: (@count_more _ _ _ _ p) => //; last by rewrite negbK /polytope_parts.tight pt.
    by move=> q qq; apply: contra => tq; rewrite /polytope_parts.tight dotP flat// mulr0 add0r; exact: tq.
  - apply: descr.2 => [q qq|q qq sq]; first by apply: st; exact: inQ.
    by rewrite dotP along// mulr0 add0r; apply/eqP; exact: spanning_tight.
have flat p : p \in Q -> tight p x -> dot p.1 (y - x) = 0.
  by move=> pp tp; rewrite (dotB dotP) (eqP tp) (eqP (xy p pp tp)) subrr.
have dn : y - x != 0 by rewrite subr_eq0; apply/eqP.
have [t [t0 ht]] := on _ dn flat.
have [s [s0 hs]] : exists s, 0 < s /\ hull (below P n c).1 (s *: (x - y) + x).
  by apply: on => [|p pp tp]; [rewrite -opprB oppr_eq0 | rewrite -opprB -scaleN1r (dotZ dotP) flat// mulr0].
have ts : 0 < t + s by rewrite addr_gt0.
pose r := s / (t + s); have r0 : 0 <= r by rewrite divr_ge0// ltW.
have r1 : r <= 1 by rewrite ler_pdivr_mulr// mul1r ler_addr ltW.
rewrite (_ : x = between r (t *: (y - x) + x) (s *: (x - y) + x)); first exact: hull_convex.
rewrite -(opprB y x); move: (y - x) => e; rewrite /between scalerN !scalerDr scalerN !scalerA addrACA -scalerBl -scalerDl addrCA subrr addr0 scale1r.
have -> : r * t - (1 - r) * s = 0 by rewrite mulrBl mul1r opprB addrA -mulrDr /r divfK ?subrr// gt_eqF.
by rewrite scale0r add0r.
Qed.

Lemma below_in v : v \in (below P n c).1 -> hull P.1 v /\ dot n v <= c.
Proof.
case/belowP => [[vv le]|[u [w [uu ww uc cw [_ ->]]]]]; first by split=> //; exact: hull_in.
have [q0 q1] := crossing_share uc cw; rewrite crossing_on// lexx; split=> //.
by apply: hull_step; [exact: ltW | exact: ltW | exact: hull_in | exact: hull_in].
Qed.

Theorem below_described : described dot (below P n c).
Proof.
split=> [v /below_in[hv vc] p|x sx only].
  by rewrite in_cons => /orP[/eqP->//|]; exact: hull_satisfies.
apply: below_spans; last by have := sx (n, c) (mem_head _ _).
apply: descr.2 => [p pp|p pp sp]; first by apply: sx; rewrite in_cons pp orbT.
apply: only; first by rewrite in_cons pp orbT.
by apply/allP => v /below_in[hv _]; exact: spanning_tight.
Qed.

Lemma crossing_tight u v p : u \in P.1 -> v \in P.1 -> dot n u < c -> c < dot n v -> p \in P.2 -> tight p (crossing n c u v) -> tight p u /\ tight p v.
Proof.
by move=> uu vv uc cv pp; have [q0 q1] := crossing_share uc cv; apply: tight_step => //; apply: sat.
Qed.

Lemma edge_only u v k : k \in P.1 -> is_edge P u v -> (forall p, p \in P.2 -> tight p u -> tight p v -> tight p k) -> k = u \/ k = v.
Proof.
move=> kk /allP/(_ k kk)/or3P[/eqP->|/eqP->|/negP none] common; [by left | by right | exfalso; apply: none].
by apply/allP => p pp; apply/implyP => /andP[]; exact: common.
Qed.

Theorem below_vertices : vertices (below P n c).
Proof.
move=> v w /belowP hv /belowP hw vw; have inP p : p \in P.2 -> p \in (below P n c).2 by move=> pp; rewrite in_cons pp orbT.
case: hv => [[vv vc]|[u [u' [uu uu' uc cu [e E]]]]].
- case: hw => [[ww wc]|[u [u' [uu uu' uc cu [e E]]]]]; first by apply: irr => // p pp; exact: vw (inP p pp).
  have uv : u = v by apply: irr => // p pp tv; have := vw p (inP p pp) tv; rewrite E => /(crossing_tight uu uu' uc cu pp)[].
  have uv' : u' = v by apply: irr => // p pp tv; have := vw p (inP p pp) tv; rewrite E => /(crossing_tight uu uu' uc cu pp)[].
  by move: (lt_trans uc cu); rewrite uv uv' ltxx.
- have wc : dot n w = c.
    by apply/eqP; apply: (vw (n, c) (mem_head _ _)); rewrite /polytope_parts.tight/= E crossing_on.
  have common p : p \in P.2 -> tight p u -> tight p u' -> tight p w.
    by move=> pp tu tu'; apply: (vw p (inP p pp)); rewrite E; exact: step_tight.
  case: hw => [[ww _]|[z [z' [zz zz' zc cz [_ Z]]]]].
    by case: (edge_only ww e common) => wE; move: uc cu; rewrite -wE wc ltxx.
  have near y : y \in P.1 -> (forall p, p \in P.2 -> tight p w -> tight p y) -> y = u \/ y = u'.
    by move=> yy wy; apply: (edge_only yy e) => p pp tu tu'; apply: wy => //; exact: common.
  have zu : z = u.
    case: (near z zz) => // [p pp|E']; first by rewrite Z => /(crossing_tight zz zz' zc cz pp)[].
    by move: (lt_trans zc cu); rewrite E' ltxx.
  have zu' : z' = u'.
    case: (near z' zz') => // [p pp|E']; first by rewrite Z => /(crossing_tight zz zz' zc cz pp)[].
    by move: (lt_trans uc cz); rewrite E' ltxx.
  by rewrite Z E zu zu'.
Qed.
End One.
End Cut.
