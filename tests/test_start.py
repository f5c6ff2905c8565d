"""A plain `verify` of one claim loads what that claim needs, and nothing else that takes long to load."""

import subprocess
import sys

import pytest

CLAIM = """[mechanism]
kind = "builtin"
name = "laplace"
scale = 1

[[claim]]
sensitivity = 1
epsilon = 1
"""
NOT_NEEDED = (
    *("numpy", "scipy", "sympy", "mpmath", "z3", "jinja2", "hypothesis"),
    *("html", "difflib", "hmac", "secrets", "traceback", "click._termui_impl", "click.shell_completion"),
    *("dpverify.audits", "dpverify.samplers", "dpverify.pictures", "dpverify.declare", "dpverify.api"),
    *("dpverify.catalogue.formulas.boxes", "dpverify.catalogue.formulas.typeset", "dpverify.catalogue.schema"),
    *("dpverify.cli.baseline", "dpverify.cli.audit", "dpverify.cli.report", "dpverify.cli.explain", "dpverify.cli.found"),
    *("dpverify.report.page", "dpverify.report.laws", "dpverify.report.derived", "dpverify.report.listed", "dpverify.report.record"),
    *("dpverify.report.utility", "dpverify.project.made", "dpverify.search.additive.divergence", "dpverify.search.additive.cosets"),
    *("dpverify.trusted.combinators.streams", "dpverify.trusted.theories.spaces"),
    *("dpverify.trusted.theories.curves", "dpverify.search.finite", "dpverify.search.selection"),
)


def modules(folder, text, code, verdict):
    """What is loaded by a process that verifies a file, and by those that it starts, whose errors are its own."""
    file = folder / "laplace.toml"
    file.write_text(text)
    command = [sys.executable, "-X", "importtime", "-m", "dpverify.cli", "verify", str(file), "--no-cache"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert ran.returncode == code and ran.stdout.startswith(verdict), ran.stdout + ran.stderr[-2000:]
    return {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    return modules(tmp_path_factory.mktemp("one"), CLAIM, 0, "PROVED")


def test_a_refutation_whose_loss_is_known_needs_no_floats(tmp_path):
    loaded = modules(tmp_path, CLAIM.replace("epsilon = 1", 'epsilon = "0.9999999"'), 1, "REFUTED")
    assert "dpverify.search.additive.point_witness" in loaded
    assert not {"numpy", "scipy", "sympy"} & loaded


def test_a_verify_of_one_claim_loads_its_reader_its_search_the_kernel_and_the_text(loaded):
    needed = ("catalogue.reader", "search.additive.closed_form", "trusted.kernel.judgement", "report.text")
    assert {f"dpverify.{name}" for name in needed} <= loaded


def test_it_does_not_load_what_is_not_needed(loaded):
    assert loaded and [module for module in loaded if any(module == name or module.startswith(f"{name}.") for name in NOT_NEEDED)] == []
