"""Run dp-accounting's own tests of accountants with ours in the place of theirs: `python bench/accountant_tests.py [NAME...]`.

Tests that look into the insides of their accountant (its orders, its divergences at them) state nothing of what an accountant answers, and
are counted apart; for those that fail, docs/explanation/events.md says why. dp-accounting comes with the extra `accounting`.
"""

from __future__ import annotations

import sys
import unittest
from collections import Counter

from dp_accounting.pld import pld_privacy_accountant, pld_privacy_accountant_test
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import rdp_privacy_accountant, rdp_privacy_accountant_test

from dpverify.accounting import CertifiedAccountant

INSIDES = ("_rdp", "_orders", "rdp", "orders", "_pld")


def certified(*arguments: object, **named: object) -> CertifiedAccountant:
    """Ours, made as theirs is: orders and the spacing of a grid have no meaning here."""
    relations = [one for one in (*arguments, *named.values()) if isinstance(one, NeighboringRelation)]
    return CertifiedAccountant(*relations)


def main(names: list[str]) -> int:
    """The exit code: 0 where nothing failed that states something of an accountant's answers."""
    pld_privacy_accountant.PLDAccountant = certified
    rdp_privacy_accountant.RdpAccountant = certified
    suite = unittest.TestSuite()
    for module in (pld_privacy_accountant_test, rdp_privacy_accountant_test):
        for test in unittest.defaultTestLoader.loadTestsFromModule(module):
            suite.addTests(one for one in test if not names or any(name in one.id() for name in names))
    result = unittest.TestResult()
    counts: Counter[str] = Counter()
    for test in suite:
        before = len(result.failures), len(result.errors), len(result.skipped)
        test.run(result)
        new = [*result.failures[before[0] :], *result.errors[before[1] :]]
        name = ".".join(test.id().split(".")[-2:])
        last = new[0][1].strip().splitlines()[-1] if new else ""
        inside = "AttributeError: 'CertifiedAccountant' object has no attribute" in last and last.split("'")[-2] in INSIDES
        kind = "skipped" if len(result.skipped) > before[2] else "of insides" if inside else "failed" if new else "passed"
        counts[kind] += 1
        print(f"{kind:10} {name}{f': {last[:200]}' if kind == 'failed' else ''}", flush=True)
    print(", ".join(f"{number} {kind}" for kind, number in counts.items()))
    return int(counts["failed"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
