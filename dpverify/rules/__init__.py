"""Inference rules, one a file.

A rule proves one bound on the tight epsilon of the claim's mechanism at the claim's sensitivity, or
rejects. It never searches, has no tolerance, and derives everything from the claim except the cuts,
points and multipliers that its evidence carries. `TABLE` is the one list of all rules.

Every rule module has
  NAME        the rule's name in certificates;
  STATEMENT   the theorem, in a sentence or two;
  CHECKED     the hypotheses that `check` re-derives;
  ASSUMED     the hypotheses that it cannot see, on either side, shown in every judgement beside what follows from the claim
              (`assumptions`: that a stated sensitivity holds, or is attained); what one bound alone needs is in its `assumed`;
  SOURCE      where the theorem stands;
  check(claim, evidence) -> Bound   raises Rejected (or Undecided from the enclosures below it).
"""
