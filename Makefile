# Everything needs only Python 3.11 or newer; the environment is made in .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test both-ways nightly lint docs bench fuzz clean

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: $(READY)
	$(BIN)/python examples/demo.py

lint: $(READY)
	$(BIN)/ruff check src tests examples docs
	$(BIN)/ruff format --check src tests examples docs/*.py docs/_ext
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n 2

# Motions with everything fused, and with nothing: all tests of dynamics, twice.
MOTIONS := tests/analysis tests/properties tests/nonsmooth tests/clearance tests/spatial tests/redundancy
both-ways: $(READY)
	KEMPE_COMPILE=always $(BIN)/python -m pytest -n 2 $(MOTIONS)
	KEMPE_COMPILE=never $(BIN)/python -m pytest -n 2 $(MOTIONS)

# A thousand random mechanisms against an independent reference: half an hour at first, some minutes from then on.
nightly: $(READY)
	$(BIN)/python tests/references/nightly.py

# Hostile inputs; COUNT and SEED may be given.
COUNT ?= 100000
SEED ?= 1
fuzz: $(READY)
	nice -n 10 $(BIN)/python tests/hostile/fuzz.py --count $(COUNT) --seed $(SEED)

# Two minutes at first; afterwards only examples that changed are run again.
docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	KEMPE_QUIET=1 $(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/kempe bench

clean:
	rm -rf $(VENV) out docs/_build docs/gallery docs/tutorial_out build dist
