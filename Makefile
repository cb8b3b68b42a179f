# Everything a developer or CI runs. Each target works in a new clone and an empty environment.
# `make PYTHON=/path/to/python3` chooses the interpreter (3.11 or newer), `make test ARGS="-k layout"` passes arguments on.

SHELL := /bin/sh
BIN := .venv/bin
READY := .venv/.ready
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet install
WORKERS := 2

export PYTHON

.PHONY: help demo test test-all lint types bench clean distclean system

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## crawl a sample site twice and show what came of it, in ./demo
	@$(BIN)/python -m webarc.demo demo

test: $(READY) ## the tests, without the slow ones
	@scripts/bootstrap.sh test
	$(BIN)/python -m pytest -n $(WORKERS) -m "not slow" $(ARGS)

test-all: $(READY) ## all tests
	@scripts/bootstrap.sh test
	$(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

lint: $(READY) ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy -p webarc

bench: .venv/.bench ## all benchmarks (some minutes; sites are kept in $WEBARC_BENCH_DIR or ~/.cache/webarc-bench)
	@scripts/bootstrap.sh bench
	@$(BIN)/python -m bench $(ARGS)

clean: ## remove what was made here, except .venv
	rm -rf build dist demo *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf .venv

system:
	@scripts/bootstrap.sh run

$(READY): setup.cfg pyproject.toml webarc/__init__.py | system
	@echo "making .venv (quick when nothing changed)"
	@test -x $(BIN)/python || "$$(scripts/bootstrap.sh python)" -m venv .venv
	@$(PIP) --editable '.[dev]'
	@$(BIN)/python -c 'import pylibmagic, magic' 2>/dev/null || $(BIN)/python -c 'import magic' 2>/dev/null || scripts/bootstrap.sh libmagic
	@touch $@

.venv/.bench: $(READY)
	@$(PIP) --editable '.[bench]'
	@touch $@
