# discreet: every target in one place. `make help` lists them.
# A fresh Debian needs git, make and python3; the rest is installed by the target that wants it.

# the PostgreSQL that is built for: the newest that is installed, or that of the Debian release
ifndef PG_CONFIG
PG_CONFIG := $(shell python3 dev/postgresql.py)
endif
SIZE ?= 1
REPORT ?= build/report.html
PYTEST_ARGS ?=
PGLAST ?= 5 6 7 8
SUITE ?= trixie
DEBIAN ?= bookworm
CHROOTS ?= build/chroots
ON ?= test
# a process per core, each with a cluster of its own
PYTEST = $(VENV)/pytest -n auto --dist loadfile

SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
# root is not wanted where the folders, or DESTDIR, are the caller's own
AS_OWNER = $(shell test -n '$(DESTDIR)' -o -w "$$($(PG_CONFIG) --pkglibdir)" || echo $(SUDO))
VENV := .venv/bin
CLUSTER := PG_CONFIG=$(PG_CONFIG) SIZE=$(SIZE) python3 dev/cluster.py
export PG_CONFIG
ifdef DESTDIR
export DESTDIR
endif
ifdef WHEELS
export WHEELS := $(abspath $(WHEELS))
endif

.DEFAULT_GOAL := help
.PHONY: help installcheck wheelhouse demo test up down reset psql dsn report build install uninstall lint unit corpus database clients clients-more clients-lock statistical \
        attack-tests attacks bench bench-peers bench-soak crash-loop fuzz compilecheck printcheck updatecheck package packagecheck test-more test-on smoke-on smoke reference plots docs imagecheck lock clean \
        server-packages test-packages

help:  ## list every target
	@awk -F ':.*## ' '/^##-- / { print "\n" substr($$0, 6) } /^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##-- For newcomers

demo: $(if $(filter ?,$(CHAPTER)),,install)  ## a tour in chapters, on a cluster of its own (CHAPTER=tracker: one of them; CHAPTER=? lists them)
	@python3 demo/tour.py $(if $(CHAPTER),'$(CHAPTER)')

test: test-packages install lint unit corpus database clients statistical attack-tests updatecheck  ## everything that CI runs

##-- For trying things: a private cluster

up: install  ## start the private cluster, with the extension and the sample data (SIZE=10: ten times the people)
	@$(CLUSTER) up

down:  ## stop the private cluster; its data stay
	@$(CLUSTER) down

reset:  ## stop the private cluster and remove its data
	@$(CLUSTER) reset

psql: up  ## open psql in the private cluster as its superuser
	@$(CLUSTER) psql

dsn:  ## print a connection string for the private cluster; append ' user=NAME' for another role
	@$(MAKE) -s up >&2
	@$(CLUSTER) dsn

report: install  ## write the report of a sample installation to build/report.html (REPORT=path for another place)
	@python3 demo/report.py $(REPORT)

##-- For administrators

build: server-packages  ## compile the C module and join the install script
	@$(MAKE) -s -C extension PG_CONFIG=$(PG_CONFIG)
	@python3 dev/build.py

install: build  ## install the extension and its private Python folder
	@$(AS_OWNER) env PG_CONFIG=$(PG_CONFIG) python3 dev/install.py install

uninstall: server-packages  ## remove all that install put down
	@$(AS_OWNER) env PG_CONFIG=$(PG_CONFIG) python3 dev/install.py uninstall

installcheck: build  ## the extension's own test in a server that runs, found as psql finds it, with discreet preloaded
	@$(MAKE) -s -C extension PG_CONFIG=$(PG_CONFIG) installcheck

wheelhouse: server-packages  ## fetch the dependencies to build/wheels; make install WHEELS=build/wheels needs no registry then
	@python3 dev/install.py wheels

package: wheelhouse  ## build the Debian package postgresql-NN-discreet into build/packages
	@dev/setup packages
	@dev/package build -b

server-packages:
	@dev/setup server

test-packages: server-packages
	@dev/setup tests

##-- For contributors: checks

lint: test-packages  ## ruff, mypy strict, C warnings as errors
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .
	@$(VENV)/mypy
	@$(MAKE) -s -C extension PG_CONFIG=$(PG_CONFIG) clean all COPT=-Werror

unit: test-packages  ## tests that need no server
	@$(PYTEST) tests/unit $(PYTEST_ARGS)

corpus: test-packages  ## questions that the gate accepts and refuses, planned without a server
	@$(VENV)/pytest tests/corpus $(PYTEST_ARGS)

database: test-packages install  ## tests on a throw-away cluster
	@$(PYTEST) tests/database $(PYTEST_ARGS)

clients: test-packages install  ## real clients ask in plain SQL: psql, psycopg, SQLAlchemy, pandas, pgbench, pgbouncer, postgres_fdw
	@$(PYTEST) tests/clients $(PYTEST_ARGS)

clients-more: test-packages install  ## tools that take longer to install: dplyr, Ibis, Polars, Django, dbt, Superset, knex, JDBC, ODBC, … (into build/clients)
	@dev/clients/setup
	@$(VENV)/pytest tests/clients_more $(PYTEST_ARGS)

clients-lock:  ## pin anew what clients-more installs from the package indexes
	@dev/clients/setup lock

statistical: test-packages install  ## noise against its exact distribution, and measured epsilons
	@$(PYTEST) --dist load tests/statistical $(PYTEST_ARGS)

attack-tests: test-packages install  ## tests of each attack of the threat model, against a plain table and against discreet
	@$(PYTEST) tests/attacks $(PYTEST_ARGS)

test-on:  ## the tests on another release of Debian, in a chroot: SUITE=trixie (PostgreSQL 17), SUITE=forky (18); CHROOTS=folder keeps them
	@$(SUDO) env CHROOTS='$(CHROOTS)' MIRROR='$(MIRROR)' dev/chroot $(SUITE) make $(ON) PYTEST_ARGS='$(PYTEST_ARGS)'

smoke-on:  ## a smoke test there: install, the corpus, the tour, a tenth of the attacks
	@$(MAKE) -s test-on ON=smoke

smoke: test-packages install corpus  ## install, the corpus, the tour, a tenth of the attacks
	@$(PYTEST) tests/database/demo tests/database/ops/test_check_installation.py $(PYTEST_ARGS)
	@$(PYTEST) --tenth tests/attacks $(PYTEST_ARGS)

updatecheck: test-packages install  ## an upgraded install equals a fresh one
	@$(VENV)/pytest tests/updatecheck $(PYTEST_ARGS)

printcheck: test-packages  ## the printer of SQL with the grammars of later PostgreSQLs: pglast 6 to 8 (PGLAST=8: one of them)
	@for version in $(PGLAST); do folder=build/pglast-$$version; \
	    [ -x $$folder/bin/pytest ] || { python3 -m venv $$folder && $$folder/bin/pip install -q "pglast==$$version.*" pytest; } \
	    && echo "pglast $$version" && $$folder/bin/pytest --noconftest tests/unit/core/test_printing.py $(PYTEST_ARGS) \
	    || exit 1; done

packagecheck: package  ## the Debian package: lintian; installed, tested and purged (in a chroot: make test-on ON=packagecheck)
	@dev/package check

test-more: test-packages install  ## PostgreSQL's own regression and isolation suites, with and without discreet (SOURCES=folder of its sources)
	@$(VENV)/python -m bench.suite $(or $(SOURCES),$(error Please give SOURCES=folder: apt-get source postgresql-NN makes it))

compilecheck: server-packages  ## the C module against headers of another PostgreSQL: make compilecheck HEADERS=/path/to/include/server
	@for file in extension/*.c; do $(CC) -fsyntax-only -Wall -Werror -I$(HEADERS) -I$$($(PG_CONFIG) --includedir) \
	    $$file || exit 1; done; echo "The C module compiles with $(HEADERS)"

bench: test-packages install  ## ratios to native SQL, measured in one run
	@$(VENV)/python -m bench

bench-peers: test-packages install  ## the same questions asked of SmartNoise SQL, Qrlew, diffprivlib and OpenDP; writes docs/benchmarks.md
	@$(VENV)/python -m bench.peers

bench-soak: test-packages install  ## 50 sessions ask under all policies for an hour; memory must stay (MINUTES=5: how long)
	@$(VENV)/python -m bench.soak $(if $(MINUTES),--minutes $(MINUTES))

crash-loop: test-packages install  ## 40 sessions ask while they and the server are killed; answers against charges (MINUTES=30: how long)
	@$(VENV)/python -m bench.crash $(if $(MINUTES),--minutes $(MINUTES))

fuzz: test-packages install  ## random questions with and without each of three people; exact numbers against what was planned (QUESTIONS=50000)
	@$(VENV)/pytest -s tests/database/gate/test_neighbours_within.py -k no_more_than_planned --questions $(or $(QUESTIONS),50000)

attacks: test-packages install  ## how often each attack succeeds on plain tables, naive designs and discreet (TRIES=20: more tries)
	@$(VENV)/python -m attacks $(if $(TRIES),--tries $(TRIES))

##-- For contributors: generated files

reference: test-packages up  ## write docs/reference.md anew, from the comments in the database and the gate's tables
	@$(VENV)/python dev/reference.py

plots: install  ## draw the pictures of the documentation anew (needs chromium)
	@python3 dev/plots.py

docs:  ## the documentation as a site with search, in build/site/html
	@[ -x build/site/venv/bin/mkdocs ] || { python3 -m venv build/site/venv \
	    && build/site/venv/bin/pip install -q --disable-pip-version-check --require-hashes -r dev/site/requirements.lock; }
	@NO_MKDOCS_2_WARNING=1 build/site/venv/bin/python dev/site/make.py

imagecheck:  ## build the image without Docker, on a base of its own, and ask its server a question (DEBIAN=trixie, forky)
	@$(SUDO) env DEBIAN='$(DEBIAN)' docker/check

lock: test-packages  ## compile the lock files anew
	@compile() { $(VENV)/pip-compile -q --generate-hashes --strip-extras --allow-unsafe --no-emit-index-url \
	    --no-emit-find-links --no-emit-trusted-host -o $$1.lock $$1.in; }; \
	for file in plpython/requirements dev/requirements dev/site/requirements plpython/pglast-15 plpython/pglast-16 plpython/pglast-17 plpython/pglast-18; do \
	    compile $$file || exit 1; done

clean:  ## remove what was built here
	@$(MAKE) -s -C extension PG_CONFIG=$(PG_CONFIG) clean
	@rm -rf build
