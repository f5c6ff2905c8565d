"""The theorems of the theory, one a file: noisy answers that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    return _first(name) or _second(name)


def _first(name: str) -> Theorem | None:
    rule: Theorem
    match name:
        case "alignment":
            from dpverify.trusted.theories.selection.rules import alignment as rule
        case "compared-gaussians":
            from dpverify.trusted.theories.selection.rules import compared_gaussians as rule
        case "each-noise":
            from dpverify.trusted.theories.selection.rules import each_noise as rule
        case "every-word":
            from dpverify.trusted.theories.selection.rules import every_word as rule
        case "every-word-curve":
            from dpverify.trusted.theories.selection.rules import every_word_curve as rule
        case "first-positive":
            from dpverify.trusted.theories.selection.rules import first_positive as rule
        case "greatest-noise":
            from dpverify.trusted.theories.selection.rules import greatest_noise as rule
        case "log-concave-noisy-max":
            from dpverify.trusted.theories.selection.rules import log_concave_noisy_max as rule
        case "log-concave-threshold":
            from dpverify.trusted.theories.selection.rules import log_concave_threshold as rule
        case "selection-event":
            from dpverify.trusted.theories.selection.rules import selection_event as rule
        case "selection-event-at":
            from dpverify.trusted.theories.selection.rules import selection_event_at as rule
        case "selection-moduli":
            from dpverify.trusted.theories.selection.rules import selection_moduli as rule
        case "survival":
            from dpverify.trusted.theories.selection.rules import survival as rule
        case _:
            return None
    return rule


def _second(name: str) -> Theorem:
    rule: Theorem
    match name:
        case "told-words":
            from dpverify.trusted.theories.selection.rules import told_words as rule
        case "two-candidates":
            from dpverify.trusted.theories.selection.rules import two_candidates as rule
        case "unseen-shifts":
            from dpverify.trusted.theories.selection.rules import unseen_shifts as rule
        case "worst-output":
            from dpverify.trusted.theories.selection.rules import worst_output as rule
        case "worst-run":
            from dpverify.trusted.theories.selection.rules import worst_run as rule
        case "worst-words":
            from dpverify.trusted.theories.selection.rules import worst_words as rule
        case _:
            raise KeyError(name)
    return rule
