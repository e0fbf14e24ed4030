# make demo     sets up, assesses the example, writes a report and says where it is
# make test     sets up, lints, runs every test
# make quick    unit tests, pages and examples without those marked slow; between two edits
# make install  .venv with all extras
# make lint     ruff and mypy
# make bench    benchmarks, each with its ratio (NAMES="startup overhead", QUICK=1)
# make soak     long checks that are too slow for every run
# make corpus   what every command line prints and writes, compared with a revision (BASE=REVISION)
# make generate  what follows from records and options: run it after a new measure, loss, option or command
# make tour     the pictures of the workbench, taken while its pages are tested
# make docs     the documentation as a site, built offline
# make release builds wheel and sdist twice, looks them through, installs and tries them; publishes nothing
# make lock     renew the lock files after a change of dependencies

# Lint, which keeps one core busy, runs beside the tests.
MAKEFLAGS += --jobs=2

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
NAMES ?=

# Compiled modules are kept, whatever the environment says: without them every worker and every
# process that a test starts compiles the package and the tests anew.
export PYTHONDONTWRITEBYTECODE :=

# One worker more than cores: some wait for a browser, a database or a cluster.
WORKERS = $(shell $(BIN)/python -c "import os; print(1 + len(os.sched_getaffinity(0)))")
PYTEST = OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS)
# All tests of a file in one worker, so that what they share is set up once; the files in the order
# of tests/conftest.py, the long ones first.
BY_FILE := --dist loadfile --no-loadscope-reorder

.PHONY: generate tour demo test tests quick install lint bench soak corpus docs lock release clean

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or later is needed"'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: requirements/core.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) install --require-hashes -r requirements/core.lock
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

# Charts are an extra: the renderer is as large as half of the core.
$(VENV)/.charts: requirements/charts.lock $(VENV)/.core
	$(PIP) install --require-hashes -r requirements/charts.lock
	touch $@

$(VENV)/.full: requirements/full.lock $(VENV)/.core
	$(PIP) install --require-hashes -r requirements/full.lock
	touch $@

install: $(VENV)/.full

.SILENT: demo
demo: $(VENV)/.charts
	mkdir -p demo
	$(BIN)/python examples/hospital.py demo/hospital.csv --hierarchies demo/hierarchies \
	  --releases demo > /dev/null
	$(BIN)/sievert protect demo/hospital.csv --policy examples/hospital_policy.toml \
	  --type length_of_stay=int -o demo/release.csv --html demo/release.html --force \
	  > demo/release.txt 2> /dev/null
	$(BIN)/sievert explain demo/hospital.csv --policy examples/hospital_policy.toml \
	  --json demo/explained.json > /dev/null
	$(BIN)/sievert compare demo/hospital.csv demo/bands.csv demo/hidden.csv demo/noisy.csv \
	  demo/release.csv \
	  --policy examples/hospital_policy.toml --type length_of_stay=int \
	  --hierarchy age=demo/hierarchies/age.csv --hierarchy diagnosis=demo/hierarchies/diagnosis.csv \
	  --json demo/comparison.json > /dev/null; test $$? -le 1
	$(BIN)/sievert assess demo/hospital.csv --policy examples/hospital_policy.toml --planned \
	  --hierarchy diagnosis=demo/hierarchies/diagnosis.csv --type length_of_stay=int \
	  --json demo/hospital.json --records demo/hospital_records.csv \
	  --html demo/decision.html > demo/decision.txt 2> /dev/null; test $$? -le 1
	$(BIN)/sievert report demo/hospital.json demo/explained.json demo/comparison.json \
	  --title "May the hospital's table be published?" \
	  --html demo/report.html --markdown demo/report.md > /dev/null 2>&1
	$(BIN)/sievert report demo/hospital.json demo/comparison.json --share \
	  --html demo/share.html > /dev/null 2>&1
	sed '/^Finding a person/,$$d' demo/decision.txt
	echo "And a release? (sievert protect: all it says is in demo/release.txt)"
	sed '/ of the detail is lost$$/,$$d' demo/release.txt
	echo "Your own table:     $(BIN)/sievert assess FILE.csv -q COLUMNS -s SECRETS --html FILE.html"
	echo "The decision:       $(CURDIR)/demo/decision.html (several releases: report.html, to pass on: share.html)"
	echo "The release, with its page:  $(CURDIR)/demo/release.csv  $(CURDIR)/demo/release.html"

lint: $(VENV)/.full
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint tests

tests: $(VENV)/.full
	$(PYTEST) $(BY_FILE)

quick: $(VENV)/.full
	$(PYTEST) $(BY_FILE) -m "not slow" tests/unit tests/docs src

bench: $(VENV)/.full
	$(BIN)/python -m bench $(NAMES) $(if $(QUICK),--quick)

generate: $(VENV)/.full
	$(BIN)/python -m website.engine_names
	$(BIN)/python -m website.public_functions
	$(BIN)/python -m website.function_stub
	$(BIN)/python -m website.compiled_rules
	$(BIN)/python -m website.loss_names
	$(BIN)/python -m website.attack_names
	$(BIN)/python -m website.measure_tables
	$(BIN)/python -m website.api_reference

tour: $(VENV)/.full
	SIEVERT_TOUR=$(CURDIR)/docs/images $(PYTEST) tests/browser/test_workbench.py -k every_page

docs: $(VENV)/.full
	$(BIN)/python -m website

soak: $(VENV)/.full
	SIEVERT_SOAK=1 $(PYTEST) tests/soak tests/property tests/parity \
	  $(patsubst %,tests/unit/*/test_%.py,false_safe lattice linkage protect suda synthetic \
	  workbench_hostile) --soak
	$(MAKE) corpus

corpus: $(VENV)/.full
	PYTHONPATH=tests $(BIN)/python -m corpus $(if $(BASE),--base $(BASE))

release: $(VENV)/.core
	PYTHON=$(PYTHON) bash tests/release.sh

lock: $(VENV)/.full
	$(PIP) install pip-tools
	for set in core charts full; do \
	  case $$set in \
	    core) extras= ;; \
	    charts) extras="--extra charts -c requirements/core.lock" ;; \
	    full) extras="--all-extras -c requirements/charts.lock" ;; \
	  esac; \
	  $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-header --no-emit-index-url \
	    --no-emit-find-links $$extras \
	    -o requirements/$$set.lock pyproject.toml requirements/build.in; \
	done

clean:
	rm -rf $(VENV) demo build dist
