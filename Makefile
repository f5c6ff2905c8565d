# The only doorway. Every target sets up what it needs; nothing is needed but make and python3 >= 3.11.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
WORKERS ?= auto
COQ := coq libcoq-mathcomp-analysis libcoq-interval libcoq-coquelicot
PAGES ?= build/browser/index.html build/browser/families/index.html build/browser/families/radial-l1-epsilon.html
SHOWN := $(addprefix specs/,student_t.toml student_t_all.toml randomized_response.toml delta_gaussian.toml knorm_polytope_d2.toml pipeline.toml \
	benchmarks/sampled_laplace_half_noise.toml)
MANY := $(wildcard specs/knorm_*.toml specs/laplace*.toml specs/cauchy*.toml specs/logistic*.toml specs/exponential*.toml)
BIN := .venv/bin
# pytest makes its asserts anew at every start where no bytecode is written, which takes longer than collecting.
CACHED := env -u PYTHONDONTWRITEBYTECODE
PYTEST := $(CACHED) $(BIN)/python -m pytest
PIP := -m pip install --quiet --disable-pip-version-check
PEERS := $(shell sed -n '/^bench = /s/[^"]*"\([^"]*\)"[^"]*/\1 /gp' pyproject.toml)
BUILD := $(shell sed -n 's/^release = \["\(.*\)"\]$$/\1/p' pyproject.toml)
FLINT := $(shell sed -n 's/^ *"\(python-flint[^"]*\)".*/\1/p' pyproject.toml)

.PHONY: help verify reports record test quick record-lines test-wide test-all lint types imports check second-opinion reports-check dist wheel-test bundle release docs bench designs accountants power audit formal .coq mutants ci clean

help:  ## what each target does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 22

# A machine that is slow, or busy, draws what every other draws.
REPORT := $(BIN)/dpverify report specs -o build/report --folders --no-audit --timeout 600 --evidence reports

verify: .venv/run  ## prove or refute every claim of specs/, from the committed certificates where they hold; pages in build/report
	$(REPORT)

reports: .venv/run  ## the same, everything searched anew: what reports/ is then, is committed
	$(REPORT) --no-cache

record: .venv/run  ## what the kernel says of committed and of damaged certificates, as tests/mutants keep it
	$(BIN)/python tools/judgements.py

test: .venv/dev  ## the tests: every law, on a sample where there are very many of one kind
	$(PYTEST) -n $(WORKERS) $(ARGS)

quick: .venv/dev  ## under a minute: the tests that run what has changed, and a sample of certificates
	$(CACHED) $(BIN)/python tools/mutants/quick.py -n $(WORKERS) $(ARGS)

record-lines: .venv/dev  ## record for `make quick` which tests run which lines (twenty minutes)
	$(BIN)/python tools/mutants --everything

test-wide: .venv/dev  ## what `make test` leaves out: the whole of what it samples, all examples of Hypothesis; PART=2/4 is a quarter of it
	$(PYTEST) -n $(WORKERS) -m "wide and not deep" $(if $(PART),--part $(PART)) $(ARGS)

test-all: .venv/dev  ## all tests, and the deep runs of their laws, which take hours
	$(PYTEST) -n $(WORKERS) -m "" $(ARGS)

lint: .venv/dev  ## ruff: faults and formatting of imports
	$(BIN)/ruff check .

types: .venv/dev  ## mypy, strict
	$(BIN)/mypy

imports: .venv/dev  ## the floors of docs/design.md and the trust line
	$(BIN)/lint-imports

check: .venv-flint/done  ## re-check every committed certificate with python-flint alone
	env PYTHONPATH=. .venv-flint/bin/python -P -m dpverify.kernel reports/certificates/*.certs.json

second-opinion: .venv-flint/done  ## both checkers, with python-flint alone, on every committed certificate and on changed ones; fails where they differ
	.venv-flint/bin/python tools/second_opinion.py $(ARGS)

reports-check: .venv/run  ## the committed reports are what the code says today
	$(BIN)/python tools/reports_check.py

dist: .venv-build/done  ## the wheel and the source archive, with checksums, in build/dist; SIGN=KEY signs them
	rm -rf build/dist
	.venv-build/bin/python -m build --outdir build/dist .
	rm -f build/dist/.gitignore
	SIGN="$(SIGN)" tools/sums.sh build/dist

wheel-test: dist  ## the wheel and the source archive in clean environments of every Python that is found, used from another directory
	PYTHONS="$(PYTHONS)" tools/wheel_test.sh

bundle: dist  ## what auditors need to check certificates without a network, in build/bundle, tried out; PLATFORMS adds others, SIGN=KEY signs
	PYTHON="$(PYTHON)" FLINT="$(FLINT)" PLATFORMS="$(PLATFORMS)" SIGN="$(SIGN)" tools/bundle.sh

release: .venv/run  ## see that version, changelog and tree agree, then build dist and bundle; SIGN=KEY signs both
	$(BIN)/python tools/release.py
	$(MAKE) --no-print-directory bundle SIGN="$(SIGN)"

docs: .venv-docs/done  ## the documentation: schemas and docs/reference from the code, pages in build/docs; every warning is an error
	.venv-docs/bin/python tools/schemas.py
	.venv-docs/bin/python tools/reference.py
	.venv-docs/bin/python tools/measures.py
	.venv-docs/bin/python tools/manifests.py
	.venv-docs/bin/python tools/optimum.py
	.venv-docs/bin/python tools/computed --quick
	@# With --quiet it would count no warnings.
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict
	@echo "open build/docs/index.html"

bench: .venv/run  ## measure, print, and write the reports/*bench.md, reports/accountants.md and the tables of docs/sources
	$(BIN)/python bench/run.py
	$(BIN)/python bench/deltas.py
	$(BIN)/python bench/deployed.py
	$(BIN)/python bench/audit.py
	$(BIN)/python bench/general.py
	$(BIN)/python bench/selection.py
	$(BIN)/python bench/commands.py --old
	$(BIN)/python tools/computed
	$(MAKE) --no-print-directory accountants
	.venv-bench/bin/python bench/geometry.py

designs: .venv/run .venv-designs/done  ## designs beside what is published and other optimisers find, write reports/designs.md
	env OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/designs.py --peers .venv-designs/bin/python

accountants: .venv-bench/done  ## ask other accountants what is proved here, write reports/accountants.md
	.venv-bench/bin/python bench/accountants.py $(ARGS)

power: .venv/run  ## measure the power and the false alarms of audits, write reports/power.md
	$(BIN)/python bench/power.py $(ARGS)

LIBRARIES := opendp diffprivlib pydp numpy smartnoise tmlt opacus
LIBRARY_SAMPLES ?= 100000

audit: $(LIBRARIES:%=.venv-libraries/%/done)  ## audit public libraries, each in an environment of its own, write reports/libraries.md and .json
	@# Exit code 1 is a finding, which is an answer: only a fault stops here. A library that does not install here is a row that says so.
	rm -rf build/libraries
	for library in $(LIBRARIES); do \
	  test -x .venv-libraries/$$library/bin/dpverify || continue; \
	  .venv-libraries/$$library/bin/dpverify report specs/libraries/$${library}_*.toml -o build/libraries/$$library \
	    --samples $(LIBRARY_SAMPLES) --seed 0 --format json --format markdown || test $$? -eq 1 || exit 1; \
	done
	$(BIN)/python tools/libraries.py $(LIBRARIES)

browser: .venv-browser/done  ## open a report, or PAGES="a.html b.html", in headless Chromium and list all that is wrong
	.venv-browser/bin/python -m pytest -q -p no:cacheprovider tests/test_browser_check.py
	@# Exit code 1 is a finding, which the report is to show.
	.venv-browser/bin/dpverify report $(SHOWN) -o build/browser --samples 20000 --seed 0 || test $$? -eq 1
	.venv-browser/bin/dpverify report $(MANY) -o build/browser/families --no-audit
	.venv-browser/bin/python tools/browser_check.py $(PAGES) $(ARGS)

formal: .venv/run  ## compile what changed of the theory of specs/formal in Coq, and a sample, and replay a few certificates; ALL=1 everything
	@$(MAKE) --no-print-directory .coq
	$(BIN)/python tools/formal.py $(if $(ALL),--all) $(ARGS)

mutants: .venv/dev  ## small wrong changes below the trust line, each against the tests that run its lines, write reports/mutants.md
	$(BIN)/python tools/mutants $(ARGS)

ci:  ## everything that continuous integration runs
	.ci/run

clean:  ## remove environments, caches and builds
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# -- environments: a stamp file each, made again when pyproject.toml changes ------------------------

.venv/made:
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/run: .venv/made pyproject.toml
	@echo "installing what a run needs, once"
	@# What is imported is compiled then, by as many processes as import it; the rest of the packages never.
	$(BIN)/python $(PIP) --no-compile -e .
	@# As an installed wheel has it: where bytecode is not written, every start would compile all modules anew.
	$(BIN)/python -m compileall -q -j 0 dpverify
	@touch $@

.venv/dev: .venv/run
	$(BIN)/python $(PIP) -e '.[dev]'
	@touch $@

.venv-flint/done: pyproject.toml
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	$(PYTHON) -m venv .venv-flint
	.venv-flint/bin/python $(PIP) '$(FLINT)'
	@touch $@

.venv-build/done: pyproject.toml
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	$(PYTHON) -m venv .venv-build
	.venv-build/bin/python $(PIP) '$(BUILD)'
	@touch $@

.venv-docs/done: pyproject.toml
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python $(PIP) -e '.[docs]'
	@touch $@

.venv-libraries/%/done: pyproject.toml specs/libraries/requirements/%.txt
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	rm -rf $(@D) && $(PYTHON) -m venv $(@D)
	$(@D)/bin/python $(PIP) -r specs/libraries/requirements/$*.txt && $(@D)/bin/python $(PIP) -e . || echo "not installed: $*" >&2
	@touch $@

.venv-designs/done:
	$(PYTHON) -m venv .venv-designs
	for peer in numpy scipy cvxpy jax-privacy; do .venv-designs/bin/python $(PIP) "$$peer" || echo "not installed: $$peer" >&2; done
	@touch $@

.venv-bench/done: pyproject.toml
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python $(PIP) -e .
	@# One at a time: a peer that does not install here is a row that says so.
	for peer in $(PEERS); do .venv-bench/bin/python $(PIP) "$$peer" || echo "not installed: $$peer" >&2; done
	@touch $@

.venv-browser/done: pyproject.toml
	@test -n "$(PYTHON)" || { echo "dpverify needs python3 >= 3.11; found none. Install one or pass PYTHON=/path/to/python." >&2; exit 2; }
	$(PYTHON) -m venv .venv-browser
	.venv-browser/bin/python $(PIP) -e '.[browser]'
	@# Chromium: the one that is there, else from the packages of the system where that may be done, else a word on how.
	@.venv-browser/bin/python tools/browser_check.py --find || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null || { echo "make browser needs Chromium: install it, or set CHROMIUM to its path." >&2; exit 2; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu fonts-liberation >/dev/null; \
	  .venv-browser/bin/python tools/browser_check.py --find; }
	@touch $@

# Coq with its libraries: what is there, else from the packages of the system where that may be done, else a word on how.
.coq:
	@command -v coqc >/dev/null && test -d "$$(coqc -where)/user-contrib/mathcomp/analysis" && test -d "$$(coqc -where)/user-contrib/Interval" || { \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null || { echo "make formal needs Coq: apt-get install $(COQ)." >&2; exit 2; }; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(COQ) >/dev/null; \
	  command -v coqc >/dev/null; }
