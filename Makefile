# Every task of the project. `make` lists them.

CARGO ?= cargo
# Both show that they compile, and print nothing of their own if there is nothing to compile.
LOCAL = tools/tool.sh local
COMPILE = tools/compile.sh
PACKAGES = tools/packages.sh
# Where programs are once they are compiled.
BUILT = $(or $(CARGO_TARGET_DIR),target)/debug

.DEFAULT_GOAL := help
.PHONY: help together setup build pages demo soak plan simulate up down buy crowd load token pass event watch audit export check-draw check-line line-keys trace redrive scripts test test-ready nextest test-rust check test-cdk deploy destroy preflight operator pay smoke bootstrap rotate-edge-key template build-aws deploy-dry test-web test-pages test-buyers-real test-operators-real fuzz contract mutants bench bench-short docs lint deny clean

help: ## List the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# Compiles and installs beside each other what most tasks begin with. What fails to install is told by the tool itself.
together:
	@tools/needed.sh
	@setpriv --pdeathsig TERM tools/install.sh >/dev/null 2>&1 & \
	$(COMPILE) "Compiling the tools" build --workspace --bin local --bin functions; status=$$?; wait; exit $$status

setup: ## Install the pinned local cloud into the checkout
	@$(LOCAL) install

build: together ## Build the functions into target/lambda, and the pages into web/dist
	@exec $(BUILT)/local build

pages: ## Build only the pages
	@$(PACKAGES) web
	@npm --prefix web run --silent build

demo: together ## Stage a flash sale on this machine: KIND=sale|red-packet|prizes|lottery|rain|early-access|line UNITS=1000 BUYERS=20000 RATE=1600 LANES=1 PAYMENT_WINDOW_S=15 HOLD=1
	@exec $(BUILT)/local demo

soak: ## Run a day of sales in an hour on this machine, with kills, failovers and a changed function mid-sale, and a report: MINUTES=60 SEED=1
	@$(LOCAL) soak

plan: ## Say what a sale needs and costs, or why it cannot hold: UNITS=100 AUDIENCE=10000 LINE=auto LINE_EARLY_S=3600 LANES=… OPENS_AT=2026-12-24T18:00:00+01:00 REGION=us-east-1 JSON=1
	@tools/tool.sh planner plan

simulate: ## Simulate the opening of a sale with a line, in virtual time: UNITS=10000 AUDIENCE=1000000 LINE=1000 LANES=1 SEEDS=20 OUT=target/opening.svg JSON=1
	@tools/tool.sh simulate

up: together ## Start the whole system in the background
	@exec $(BUILT)/local up

down: ## Stop everything that `make up` started
	@$(LOCAL) down

buy: ## Buy a unit from the running system, with each step explained: USER_ID=bob SALE=lamp
	@$(LOCAL) buy

crowd: ## Send a small crowd to the running system, to watch on the operators' page: BUYERS=200 SALE=lamp OVER_S=60
	@$(LOCAL) crowd

# Both packages are built at once, to compile what they share only once. Tokens for a running `make up` are made after all other checks.
load: ## Send load to any deployment: URL=… SALE=lamp USERS=1000 OVER_S=10 CURVE=rush BAD=0.05 GATE_EVERY=50 TOKENS=file TOKEN_COMMAND='… {user}' YES_THIS_IS_MINE=1 STOP_AT_ERRORS=0.5 OUT=target/load
	@$(COMPILE) "Compiling the tools" build --workspace --bin local --bin load
	@exec $(BUILT)/load --tokens-from 'exec $(LOCAL) tokens'

token: ## Print a token for the running system: USER_ID=alice OPERATOR=1
	@$(LOCAL) token

pass: ## Print a pass into a sale of the running system: USER_ID=alice SALE=lamp ROUND=1
	@$(LOCAL) pass

event: ## Print a sample of events/ as an event that the running system accepts now: SAMPLE=reservation/reserve
	@$(LOCAL) event

watch: ## Run a function from its sources against `make up`, for `cargo lambda invoke`: FUNCTION=reservation
	@$(LOCAL) watch

audit: ## Print where every unit of the running system is: SALE=lamp ROUND=1
	@$(LOCAL) audit

export: ## Write the orders of a round of the running system to a file: SALE=lamp ROUND=1 FORMAT=csv OUT=lamp-1.csv
	@$(LOCAL) export

check-line: ## Verify the line of a sale, and a ticket's place in it, from public data alone: SALE=lamp ROUND=1 TICKET=… COMMITMENT=… URL=… JSON=1
	@$(LOCAL) check-line

line-keys: ## Print the entries of CloudFront's key value store for tickets, from the pass keys: KEYS='{"signing":1,"key1":"…"}'
	@$(LOCAL) line-keys

check-draw: ## Verify the draw of a round from public data alone: SALE=packet ROUND=1 UNIT=17 URL=… JSON=1
	@$(LOCAL) check-draw

trace: ## Print one purchase through all functions: ID=lamp.1.…
	@$(LOCAL) trace

redrive: ## Send the running system's dead letters back to their queue: QUEUE=expiry
	@$(LOCAL) redrive

# The parts of `make test`, in the order in which they begin. Each waits for much of its time, so some run beside each other.
TEST_PARTS = test-rust test-buyers-real test-operators-real test-pages test-cdk bench-short
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
	@for package in tools/bench/rival clients; do $(PACKAGES) $$package || exit; done
# Parts build it again beside each other, which changes nothing then.
	@npm --prefix clients run --silent build

nextest: setup
	@cmp -s tests/requirements.txt tools/.venv/nextest || { tools/.venv/bin/pip install --quiet --requirement tests/requirements.txt \
	&& cp tests/requirements.txt tools/.venv/nextest; }

test-rust:
	@$(NEXTEST)

# The programs of tests that run beside a whole system depend on every crate and take a minute to link: only if TEST names
# some of theirs.
CHECKED = --lib --bins --test '[!s]*' --test 's[!y]*' $(TEST:%=--test 'system*')
check: nextest ## Check format and lints, and run the Rust tests of what depends on a crate: CRATE=reservation TEST=outages::
	@test -n "$(CRATE)" || { echo 'Which crate? make check CRATE=reservation' >&2; exit 1; }
	@$(CARGO) fmt --all --check
	@$(COMPILE) "Linting" clippy --workspace --all-targets -- --deny warnings
	@$(NEXTEST) --no-tests=pass $(CHECKED) -E 'rdeps($(CRATE)) - binary_id(/system/)$(TEST:%= | test(%))'

# The TypeScript packages (deployment and clients), and the links of the documentation.
test-cdk:
	@failed=; for package in infra/cdk clients; do for part in typecheck test lint; do \
	npm --prefix $$package run --silent $$part || failed="$$failed $$package:$$part"; done; done; \
	if test -n "$$failed"; then echo "*** npm run:$$failed" >&2; exit 1; fi

# On AWS, or on the emulator (ENV=emulator). Variables on the command line reach the program through the environment.
DEPLOY = @infra/cdk/run.sh

deploy: ## Deploy to AWS and buy one unit there: ENV=dev, for infra/cdk/deployments/dev.ts; YES=1 skips the questions
	$(DEPLOY) deploy "$(ENV)"

destroy: ## Delete a deployment, and print what remains: ENV=dev
	$(DEPLOY) destroy "$(ENV)"

preflight: ## Check account, quotas, issuer, certificate, secrets and alarms of a deployment, and print how to fix them: ENV=prod
	$(DEPLOY) preflight "$(ENV)"

operator: ## Make a user an operator, in a deployment with a user pool: ENV=dev EMAIL=you@example.com
	$(DEPLOY) operator "$(ENV)"

pay: ## Pay for a reservation, in a deployment without a payment provider: ENV=dev ID=lamp.1.… PRICE_MINOR=990 CURRENCY=EUR
	$(DEPLOY) pay "$(ENV)"

smoke: ## Buy one unit from a deployment: ENV=dev
	$(DEPLOY) smoke "$(ENV)"

bootstrap: ## Prepare account and regions for CDK, which deploy also does: ENV=prod
	$(DEPLOY) bootstrap "$(ENV)"

rotate-edge-key: ## Rotate the key between CloudFront and the functions, one step per call: ENV=prod
	$(DEPLOY) rotate-edge-key "$(ENV)"

template: ## Write the templates and the functions' archives of a deployment, for other tools: ENV=prod
	$(DEPLOY) template "$(ENV)"

build-aws: ## Build the functions for AWS into target/aws, and the pages
	$(DEPLOY) build-aws

deploy-dry: build ## Do everything that `cargo lambda deploy` does for each function, except the upload
	cd infra/cdk && npm run --silent deploy-dry

test-web: ## Test the pages in a browser, with a stand-in and with a whole system
	@$(PACKAGES) clients
	@$(MAKE) --no-print-directory pages
	@failed=; for part in test-pages test-buyers-real test-operators-real; do $(MAKE) --no-print-directory $$part || failed=1; done; test -z "$$failed"

# Without the tests that also run on a whole system, below.
test-pages:
	@npm --prefix web run --silent test:stand-in

# The same pages against a whole system. Each part has its own, because operators stop everything, which buyers would notice. The client
# for apps is tested there too; it needs no browser.
CLIENT_REAL = npm --prefix clients run --silent test:real || failed=1
PAGES_REAL = npm --prefix web run --silent test:$(1)-real || failed=1
test-buyers-real:
	@$(LOCAL) beside -- sh -c 'failed=; $(CLIENT_REAL); $(call PAGES_REAL,buyers); test -z "$$failed"'

# First deploys a second stack on the same system, sells from it and deletes it.
DEPLOY_REAL = { infra/cdk/run.sh deploy emulator && YES=1 infra/cdk/run.sh destroy emulator; } || failed=1
test-operators-real:
	@$(LOCAL) beside -- sh -c 'failed=; $(DEPLOY_REAL); $(call PAGES_REAL,operators); test -z "$$failed"'

docs: ## Make the API reference of openapi.yaml, which opens without a network: docs/api/index.html
	@$(PACKAGES) clients
	@npm --prefix clients run --silent docs

scripts: ## Print the Lua scripts as sent to Redis, with fragments and packed fields: NAME=reserve
	@tools/tool.sh scripts $(NAME)

fuzz: nextest ## Send malformed and hostile requests to every route: FUZZ_S=600
	@$(COMPILE) "Compiling the tests" test --workspace --test system --no-run
	FUZZ_S=$(or $(FUZZ_S),600) $(NEXTEST) --profile long --no-capture -E 'binary_id(tests::system) & test(fuzzing)'

contract: ## Start a system and check it against openapi.yaml with schemathesis
	tests/contract/run.sh

mutants: ## Plant mistakes in crates, one at a time, and list those that no test notices: CRATE="gate sale"
	@test -n "$(CRATE)" || { echo 'Which crates? make mutants CRATE="gate sale"' >&2; exit 1; }
	@$(MAKE) --no-print-directory test-ready
	@for step in build test report; do tests/mutants/run.sh $$step $(CRATE) || exit; done

bench: ## Run all measurements of docs/performance.md and write the results there
	@tools/tool.sh --profile load bench report

bench-short: ## Test the measurements themselves; fails on a wrong answer or count or a missing figure, never on a time
	@tools/tool.sh bench report --short

lint: ## Check formatting and lints, and the types of the TypeScript packages
	$(CARGO) fmt --all --check
	@$(COMPILE) "Linting" clippy --workspace --all-targets -- --deny warnings
	@for package in infra/cdk clients; do $(PACKAGES) $$package || exit; done
	cd infra/cdk && npm run --silent typecheck
	cd clients && npm run --silent typecheck && npm run --silent lint

deny: ## Check licences and advisories (needs cargo-deny)
	$(CARGO) deny check

clean: down ## Remove everything that was built or installed
	$(CARGO) clean
	rm -rf tools/.venv infra/cdk/.venv infra/cdk/node_modules infra/cdk/cdk.out web/node_modules web/dist clients/node_modules clients/typescript/dist tools/bench/rival/node_modules
