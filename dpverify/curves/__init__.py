"""Privacy curves: what is proved of delta as a function of epsilon, one theorem a file.

A curve rule proves, from a mechanism and its sensitivity, pairs of distributions that dominate every two neighbours' outputs
(upper) or that two neighbours have (lower), and encloses their hockey-stick divergences. Combinators take the curves of their
parts and give a curve again, so that they nest freely. `CURVES` in `table.py` is the one list of all of them.

Every module has
  NAME        the rule's name in certificates;
  STATEMENT   the theorem, in a sentence or two;
  CHECKED     the hypotheses that it re-derives;
  ASSUMED     the hypotheses that it cannot see, shown in every judgement; what a stated sensitivity takes for granted is added there;
  SOURCE      where the theorem stands.
"""
