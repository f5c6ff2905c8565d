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
    found: Theorem | None = None
    match name:
        case "alignment":
            from dpverify.trusted.theories.selection.rules import alignment as found
        case "every-word":
            from dpverify.trusted.theories.selection.rules import every_word as found
        case "log-concave-noisy-max":
            from dpverify.trusted.theories.selection.rules import log_concave_noisy_max as found
        case "log-concave-threshold":
            from dpverify.trusted.theories.selection.rules import log_concave_threshold as found
        case "selection-moduli":
            from dpverify.trusted.theories.selection.rules import selection_moduli as found
        case "survival":
            from dpverify.trusted.theories.selection.rules import survival as found
        case "told-words":
            from dpverify.trusted.theories.selection.rules import told_words as found
        case "two-candidates":
            from dpverify.trusted.theories.selection.rules import two_candidates as found
        case "worst-output":
            from dpverify.trusted.theories.selection.rules import worst_output as found
        case "worst-run":
            from dpverify.trusted.theories.selection.rules import worst_run as found
        case "worst-words":
            from dpverify.trusted.theories.selection.rules import worst_words as found
    return found


def _claims(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "each-noise":
            from dpverify.trusted.theories.selection.rules import each_noise as found
        case "selection-event-at":
            from dpverify.trusted.theories.selection.rules import selection_event_at as found
        case "votes-epsilon":
            from dpverify.trusted.theories.selection.rules import votes_epsilon as found
    return found


def _curves(name: str) -> Theorem | None:
    found: Theorem | None = None
    match name:
        case "compared-gaussians":
            from dpverify.trusted.theories.selection.rules import compared_gaussians as found
        case "every-word-curve":
            from dpverify.trusted.theories.selection.rules import every_word_curve as found
        case "first-positive":
            from dpverify.trusted.theories.selection.rules import first_positive as found
        case "greatest-noise":
            from dpverify.trusted.theories.selection.rules import greatest_noise as found
        case "noisy-keys":
            from dpverify.trusted.theories.selection.rules import noisy_keys as found
        case "noisy-votes":
            from dpverify.trusted.theories.selection.rules import noisy_votes as found
        case "selection-event":
            from dpverify.trusted.theories.selection.rules import selection_event as found
        case "told-sums":
            from dpverify.trusted.theories.selection.rules import told_sums as found
        case "unseen-shifts":
            from dpverify.trusted.theories.selection.rules import unseen_shifts as found
    return found
