# Two commands: `make run` opens the app, `make test` runs the tests.
# Both work on a fresh clone with Python 3.11 or newer: PYTHON chooses the interpreter,
# ARGS goes to the program or to pytest.

PYTHON ?= python3
ARGS   ?=
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check $(if $(CI),--quiet)

# A stamp is newer than what it was installed from; only a change there installs again.
SOURCES       := pyproject.toml constraints.txt
INSTALLED     := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.DEFAULT_GOAL := help
.PHONY: help run test test-deep lint format screenshots bench clean

help:  ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(INSTALLED)  ## install, get the model, open the app
	@$(BIN)/tokenloop pull
	@$(BIN)/tokenloop $(ARGS)

test: $(INSTALLED_DEV)  ## run the tests with coverage
	$(BIN)/python -m pytest -rs --cov --cov-report=term $(ARGS)

test-deep: $(INSTALLED_DEV)  ## the same with many more random sequences
	$(BIN)/python -m pytest --hypothesis-profile=deep $(ARGS)

lint: $(INSTALLED_DEV)  ## style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED_DEV)  ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

screenshots: $(INSTALLED_DEV)  ## draw the pictures from the real program
	@$(BIN)/tokenloop pull
	$(BIN)/python -m screenshots.make $(ARGS)

bench: $(INSTALLED_DEV)  ## measure beside transformers and llama.cpp
	@$(BIN)/tokenloop pull
	$(BIN)/python -m tests.benchmarks.compare $(ARGS)

clean:  ## remove everything that was installed or built here
	rm -rf $(VENV) .venv-bench build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "tokenloop needs Python 3.11 or newer, and $(PYTHON) is not: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) could not make a virtual environment: on Debian and Ubuntu, install python3-venv" >&2; exit 1; }

$(INSTALLED): $(VENV)/pyvenv.cfg $(SOURCES)
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(INSTALLED_DEV): $(VENV)/pyvenv.cfg $(SOURCES)
	$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(INSTALLED)
