"""The theorems of the theory, one a file: noisy answers that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpverify.trusted.kernel.theorem import Theorem


def theorem(name: str) -> Theorem:
    """The theorem of a name, imported when it is asked for. Raises KeyError."""
    found = _mechanisms(name) or _claims(name) or _curves(name)
    if found is None:
        raise KeyError(name)
    return found


def _mechanisms(name: str) -> Theorem | None:
    match name:
        case "alignment":
            from dpverify.trusted.theories.selection.rules import alignment

            return alignment
        case "every-word":
            from dpverify.trusted.theories.selection.rules import every_word

            return every_word
        case "log-concave-noisy-max":
            from dpverify.trusted.theories.selection.rules import log_concave_noisy_max

            return log_concave_noisy_max
        case "log-concave-threshold":
            from dpverify.trusted.theories.selection.rules import log_concave_threshold

            return log_concave_threshold
        case "selection-moduli":
            from dpverify.trusted.theories.selection.rules import selection_moduli

            return selection_moduli
        case "survival":
            from dpverify.trusted.theories.selection.rules import survival

            return survival
        case "told-words":
            from dpverify.trusted.theories.selection.rules import told_words

            return told_words
        case "two-candidates":
            from dpverify.trusted.theories.selection.rules import two_candidates

            return two_candidates
        case "worst-output":
            from dpverify.trusted.theories.selection.rules import worst_output

            return worst_output
        case "worst-run":
            from dpverify.trusted.theories.selection.rules import worst_run

            return worst_run
        case "worst-words":
            from dpverify.trusted.theories.selection.rules import worst_words

            return worst_words
    return None


def _claims(name: str) -> Theorem | None:
    match name:
        case "each-noise":
            from dpverify.trusted.theories.selection.rules import each_noise

            return each_noise
        case "selection-event-at":
            from dpverify.trusted.theories.selection.rules import selection_event_at

            return selection_event_at
    return None


def _curves(name: str) -> Theorem | None:
    match name:
        case "compared-gaussians":
            from dpverify.trusted.theories.selection.rules import compared_gaussians

            return compared_gaussians
        case "every-word-curve":
            from dpverify.trusted.theories.selection.rules import every_word_curve

            return every_word_curve
        case "first-positive":
            from dpverify.trusted.theories.selection.rules import first_positive

            return first_positive
        case "greatest-noise":
            from dpverify.trusted.theories.selection.rules import greatest_noise

            return greatest_noise
        case "selection-event":
            from dpverify.trusted.theories.selection.rules import selection_event

            return selection_event
        case "unseen-shifts":
            from dpverify.trusted.theories.selection.rules import unseen_shifts

            return unseen_shifts
    return None
