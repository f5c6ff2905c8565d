"""What `import dpverify` offers: functions, loaded when they are asked for, whatever else was imported."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import dpverify

ROOT = Path(__file__).parents[1]
OFFERED = ("audit", "check", "read_spec", "verify")


@pytest.mark.parametrize("name", OFFERED)
def test_what_is_offered_is_a_function_and_no_module_takes_its_name(name):
    assert inspect.isfunction(getattr(dpverify, name))
    package = ROOT / "dpverify"
    assert not (package / f"{name}.py").exists() and not (package / name / "__init__.py").exists()


def test_importing_the_package_loads_nothing_of_it():
    program = "import sys, dpverify; print([name for name in sys.modules if name.startswith('dpverify.')])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "[]"


@pytest.mark.wide
def test_audits_designs_and_samplers_load_nothing_that_they_seldom_need():
    program = (
        "import sys, dpverify.api.audits, dpverify.api.design, dpverify.api.samplers\n"
        "print([name for name in ('dpverify.pictures', 'dpverify.report.page', 'scipy.signal', 'scipy.stats') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "[]"


def test_another_name_is_an_error_that_says_so():
    with pytest.raises(AttributeError, match="module 'dpverify' has no attribute 'prove'"):
        _ = dpverify.prove


def test_an_audit_keeps_its_signature_and_what_it_says_of_itself():
    from dpverify.audits import audit

    assert inspect.signature(dpverify.audit) == inspect.signature(audit) and dpverify.audit.__doc__ == audit.__doc__
