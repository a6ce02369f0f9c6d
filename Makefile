# Needs Python 3.11 or newer, make and a package registry; installs everything else into this folder.

PYTHON ?= python3
WORKERS ?= 2
ARGS ?=
# The first Python 3.13 that answers: a version manager may put a python3.13 on the path that runs
# nothing, and keep the real one in its own folder.
PYTHON313 ?= $(shell for python in python3.13 \
	"$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.13.*/bin/python3.13; do \
	if "$$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; \
	then echo "$$python"; break; fi; done)

UV_VERSION := 0.13.9
UV := .uv/bin/uv
BIN := .venv/bin

# Present when the tool or environment is installed and not older than what it is made from.
UV_READY := .uv/ready-$(UV_VERSION)
DEV_READY := .venv/.ready
SAM_READY := .venv-sam/.ready
CHECKOV_READY := .venv-checkov/.ready

# `sam build` and the staging script look for uv on the path.
export PATH := $(CURDIR)/.uv/bin:$(PATH)
unexport VIRTUAL_ENV

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help dev lambda test check lint test-3.13 soak matrix eval-routing routing-docs settings-docs bench instructions mutants real real-pins format lock uv sam stage build clean

help: ## Show this list
	@echo "Headrace. Targets:"
	@awk -F ':.*## ' '/^[a-z0-9.-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "Variables: PYTHON=python3 (3.11 or newer), WORKERS=2 (parallel tests),"
	@echo "  ARGS='--port 9000' (what the commands of dev, lambda, real, stage, build take)"

dev: $(DEV_READY) ## Install, then serve a real small model on 127.0.0.1:8080
	@$(BIN)/headrace dev $(ARGS)

lambda: $(DEV_READY) ## Install, then serve there as Lambda does
	@$(BIN)/headrace lambda $(ARGS)

test: lint $(SAM_READY) $(CHECKOV_READY) ## Install, then the whole gate: what must pass for a commit
	@if [ -n "$(PYTHON313)" ]; then $(MAKE) --no-print-directory test-3.13; fi
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup --cov
	@if [ -z "$(PYTHON313)" ]; then $(SAY_NO_313); fi

check: lint ## The static part of the gate: format, lint, types, rules
	$(BIN)/pytest -q tests/architecture

lint: $(DEV_READY)
	$(UV) lock --check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --num-workers 2 --python-version 3.11
	$(BIN)/mypy --python-version 3.13 core functions
	$(BIN)/lint-imports

test-3.13: $(UV_READY) ## Unit tests on Python 3.13, which Lambda runs, if it is here
	@if [ -z "$(PYTHON313)" ]; then $(SAY_NO_313); exit 1; fi
	@UV_PROJECT_ENVIRONMENT=.venv-3.13 $(UV) sync --quiet --frozen --group dev --python "$(PYTHON313)"
	HYPOTHESIS_PROFILE=brief .venv-3.13/bin/pytest -q -p no:cacheprovider -n $(WORKERS) tests/unit

soak: $(DEV_READY) $(SAM_READY) $(CHECKOV_READY) ## Every test with thousands of examples, the slow ones too
	HYPOTHESIS_PROFILE=soak $(BIN)/pytest -n $(WORKERS) --dist loadgroup --timeout 3600 -m 'not real'

real: $(DEV_READY) ## Programs of real client SDKs; ARGS='-k langchain'
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup -rs -m real tests/real $(ARGS)

real-pins: $(UV_READY) ## Write the pins of the Python clients in tests/real/ again
	@for folder in tests/real/*/; do if [ -f "$$folder/requirements.in" ]; then \
		(cd "$$folder" && $(CURDIR)/$(UV) pip compile --quiet --upgrade --universal --no-annotate --no-header \
			--python-version 3.11 requirements.in --output-file requirements.txt); fi; done

matrix: $(DEV_READY) ## Run the tests of wire formats; writes docs/matrix.md anew
	EVERY_BYTE=1 $(BIN)/pytest -q -n $(WORKERS) -p tests.support.matrix_plugin --matrix-document tests/laws tests/integration/formats

format: $(DEV_READY) ## Format, and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

eval-routing: $(DEV_READY) ## How well tasks are told; tables: HEADRACE_ROUTING_DATA
	$(BIN)/python -m bench.routing.evaluate

settings-docs: $(DEV_READY) ## Write the table of docs/settings.md again
	$(BIN)/python -m tests.support.settings_document

routing-docs: $(DEV_READY) ## Write the table and the picture of docs/routing.md again
	$(BIN)/python -m bench.routing.tradeoff

bench: $(DEV_READY) ## Measure on a quiet machine; writes docs/performance.md anew
	$(BIN)/python -m bench.gateway
	$(BIN)/python -m bench.cold_start
	$(BIN)/python -m bench.growth
	$(BIN)/python -m bench.cost --measure

instructions: $(DEV_READY) ## Count the instructions of a request; keeps the figures
	$(BIN)/python -m bench.instructions --write

mutants: $(DEV_READY) ## Change money and limits, list what no test notices: minutes
	@rm -rf mutants
	$(MUTATE) run --max-children $(WORKERS) >mutants.log || { tail -n 30 mutants.log; exit 1; }
	@$(MUTATE) results
	@echo "What changed in one: $(MUTATE) show NAME"

lock: $(UV_READY) ## Write uv.lock again after a change of dependencies
	$(UV) lock

uv: $(UV_READY) ## Install uv alone

sam: $(SAM_READY) ## Install the SAM tools alone

stage: $(DEV_READY) ## Lay out what the functions run, with their requirements
	$(BIN)/python -m infra.scripts.stage $(ARGS)

build: $(DEV_READY) $(SAM_READY) ## Stage, then build it with SAM; ARGS='--catalog FILE'
	$(BIN)/python -m infra.scripts.build $(ARGS)

clean: ## Remove environments, caches, builds; .headrace/ stays
	rm -rf .uv .venv .venv-3.13 .venv-real .venv-sam .venv-checkov .stage .aws-sam .coverage .hypothesis .import_linter_cache \
		.mypy_cache .pytest_cache .ruff_cache mutants mutants.log

$(UV_READY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Headrace needs Python 3.11 or newer, and '$(PYTHON)' is" \
			"$$($(PYTHON) --version 2>/dev/null || echo 'not there')." \
			"Name one that is: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Installing uv $(UV_VERSION) into .uv/"
	@rm -rf .uv && $(PYTHON) -m venv .uv/venv
	@.uv/venv/bin/python -m pip install --quiet --disable-pip-version-check 'uv~=$(UV_VERSION)'
	@mkdir -p .uv/bin && ln -s ../venv/bin/uv $(UV) && touch $@

$(DEV_READY): $(UV_READY) pyproject.toml uv.lock
	@echo "Installing the project and its tools into .venv/"
	@[ -x $(BIN)/python ] || $(UV) venv --quiet --clear --python "$(PYTHON)" .venv
	@$(UV) sync --quiet --frozen --group dev
	@touch $@

$(SAM_READY): $(UV_READY) pyproject.toml uv.lock
	@echo "Installing the SAM tools into .venv-sam/"
	@[ -x .venv-sam/bin/python ] || $(UV) venv --quiet --clear --python "$(PYTHON)" .venv-sam
	@UV_PROJECT_ENVIRONMENT=.venv-sam $(UV) sync --quiet --frozen --only-group sam
	@touch $@

$(CHECKOV_READY): $(UV_READY) pyproject.toml uv.lock
	@echo "Installing checkov into .venv-checkov/"
	@[ -x .venv-checkov/bin/python ] || $(UV) venv --quiet --clear --python "$(PYTHON)" .venv-checkov
	@UV_PROJECT_ENVIRONMENT=.venv-checkov $(UV) sync --quiet --frozen --only-group checkov
	@touch $@

MUTATE := $(UV) run --quiet --frozen --no-sync --with mutmut==3.8.1 mutmut

SAY_NO_313 = { \
	echo "**********************************************************************"; \
	echo "** NOT RUN ON PYTHON 3.13, the version that Lambda runs: there is no"; \
	echo "** working python3.13 here. The types were checked for it, no test ran."; \
	echo "**********************************************************************"; } >&2
