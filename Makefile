# What builds and checks the project, and the first steps. `make` lists these tasks, `./flash` everything else.

CARGO ?= cargo
# Both show that they work, and print nothing of their own if there is nothing to do.
COMPILE = tools/compile.sh
PACKAGES = tools/packages.sh

.DEFAULT_GOAL := help
.PHONY: help demo up down build test test-ready nextest test-rust check test-cdk test-web test-pages test-buyers-real test-operators-real docs fuzz contract mutants bench bench-short lint-rust lint deny clean

help: ## List the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: ## Stage a flash sale on this machine; `./flash demo --help` has its options
	@./flash demo

up: ## Start the whole system in the background
	@./flash up

down: ## Stop everything that `make up` started
	@./flash down

build: ## Build the functions into target/lambda, and the pages into web/dist
	@./flash build

# The parts of `make test`, in the order in which they begin. Each waits for much of its time, so some run beside each other.
TEST_PARTS = test-rust test-buyers-real test-operators-real bench-short test-pages test-cdk
TEST_PARTS_AT_ONCE ?= 2
# Runs before all parts.
TEST_READY = test-ready
export TEST_LOGS ?= target/parts

# Runs Rust tests, each in a process of its own: .config/nextest.toml.
NEXTEST = PATH="$(CURDIR)/tools/.venv/bin:$$PATH" $(CARGO) nextest run --workspace

test: ## Run all tests, several parts at once; ends with each part's seconds and the failures
	@MAKE="$(MAKE)" exec setpriv --pdeathsig TERM tests/run.sh $(TEST_PARTS_AT_ONCE) $(TEST_READY) $(TEST_PARTS)

# Compiling during the tests would replace programs that they are running, so these parts must not compile.
part-test-pages part-test-buyers-real part-test-operators-real part-test-cdk part-bench-short: export CARGO = true
part-%:
	@exec setpriv --pdeathsig TERM tests/part.sh $* $(MAKE) $*

# Builds everything that the parts need, and of the functions only the one program that is all of them.
PROGRAMS = bench explain functions history load local noop planner scripts simulate
test-ready: build nextest
	@$(COMPILE) "Compiling the tests" build --workspace --tests $(PROGRAMS:%=--bin %)
	@$(PACKAGES) tools/bench/rival clients
# Parts build it again beside each other, which changes nothing then.
	@npm --prefix clients run --silent build

nextest:
	@./flash install
	@cmp -s tests/requirements.txt tools/.venv/nextest || { tools/.venv/bin/pip install --quiet --requirement tests/requirements.txt \
	&& cp tests/requirements.txt tools/.venv/nextest; }

test-rust:
	@$(NEXTEST)

# The programs of tests that run beside a whole system depend on every crate and take a minute to link: only if TEST names
# some of theirs.
CHECKED = --lib --bins --test '[!s]*' --test 's[!y]*' $(TEST:%=--test 'system*')
check: nextest ## Check format and lints, and run the Rust tests of what depends on a crate: CRATE=reservation TEST=outages::
	@test -n "$(CRATE)" || { echo 'Which crate? make check CRATE=reservation' >&2; exit 1; }
	@$(MAKE) --no-print-directory lint-rust
	@$(NEXTEST) --no-tests=pass $(CHECKED) -E 'rdeps($(CRATE)) - binary_id(/system/)$(if $(TEST), | test($(TEST)))'

# The TypeScript packages (deployment and clients), and the links of the documentation.
test-cdk:
	@failed=; for package in infra/cdk clients; do for part in typecheck test lint; do \
	npm --prefix $$package run --silent $$part || failed="$$failed $$package:$$part"; done; done; \
	if test -n "$$failed"; then echo "*** npm run:$$failed" >&2; exit 1; fi

test-web: ## Test the pages in a browser, with a stand-in and with a whole system
	@$(PACKAGES) infra/cdk clients
	@./flash pages
	@failed=; for part in test-pages test-buyers-real test-operators-real; do $(MAKE) --no-print-directory $$part || failed=1; done; test -z "$$failed"

# Without the tests that also run on a whole system, below.
test-pages:
	@npm --prefix web run --silent test

# The same pages against a whole system. Each part has its own, because operators stop everything, which buyers would notice. The client
# for apps is tested there too; it needs no browser.
CLIENT_REAL = npm --prefix clients run --silent test:real || failed=1
PAGES_REAL = npm --prefix web run --silent test:$(1)-real || failed=1
test-buyers-real:
	@./flash beside -- sh -c 'failed=; $(CLIENT_REAL); $(call PAGES_REAL,buyers); test -z "$$failed"'

# First deploys a second stack on the same system, sells from it and deletes it.
DEPLOY_REAL = { ./flash deploy emulator && ./flash destroy emulator --yes; } || failed=1
test-operators-real:
	@./flash beside -- sh -c 'failed=; $(DEPLOY_REAL); $(call PAGES_REAL,operators); test -z "$$failed"'

docs: ## Make the API reference, which opens without a network, docs/api/index.html, and an OpenAPI document beside it
	@$(PACKAGES) infra/cdk clients
	@npm --prefix clients run --silent docs

fuzz: nextest ## Send malformed and hostile requests to every route: FUZZ_S=600
	@$(COMPILE) "Compiling the tests" test --workspace --test system --no-run
	FUZZ_S=$(or $(FUZZ_S),600) $(NEXTEST) --profile long --no-capture -E 'binary_id(tests::system) & test(fuzzing)'

contract: ## Start a system and check it against the API's document with schemathesis
	tests/contract/run.sh

mutants: ## Plant mistakes in crates, one at a time, and list those that no test notices: CRATE="gate sale"
	@test -n "$(CRATE)" || { echo 'Which crates? make mutants CRATE="gate sale"' >&2; exit 1; }
	@$(MAKE) --no-print-directory test-ready
	@for step in build test report; do tests/mutants/run.sh $$step $(CRATE) || exit; done

bench: ## Run all measurements of docs/performance.md and write the results there
	@tools/tool.sh --profile load bench report

# Tests the measurements themselves: fails on a wrong answer or count or a missing figure, never on a time.
bench-short:
	@tools/tool.sh bench report --short

lint-rust:
	@$(CARGO) fmt --all --check
	@tests/names.sh
	@tests/circles.py
	@$(COMPILE) "Linting" clippy --workspace --all-targets -- --deny warnings

lint: lint-rust ## Check formatting and lints, and the types of the TypeScript packages
	@$(PACKAGES) infra/cdk clients
	cd infra/cdk && npm run --silent typecheck
	cd clients && npm run --silent typecheck && npm run --silent lint

deny: ## Check licences and advisories (needs cargo-deny)
	$(CARGO) deny check

clean: down ## Remove everything that was built or installed
	$(CARGO) clean
	rm -rf tools/.venv node_modules infra/cdk/.venv infra/cdk/node_modules infra/cdk/cdk.out web/node_modules web/dist clients/node_modules clients/typescript/dist tools/bench/rival/node_modules
