# Every task of the project. `make` lists them.

CARGO ?= cargo
# Both show that they compile, and print nothing of their own if there is nothing to compile.
LOCAL = local/tool.sh local
COMPILE = local/compile.sh
export CHROMIUM ?= /usr/bin/chromium

.DEFAULT_GOAL := help
.PHONY: help setup build pages demo plan simulate up down buy crowd load token pass event watch audit export check-draw check-line line-keys trace redrive scripts test test-ready test-system test-rust test-cdk deploy destroy preflight operator pay smoke bootstrap rotate-edge-key template build-aws deploy-dry test-web test-pages test-buyers-real test-operators-real fuzz contract bench bench-short docs lint deny clean

help: ## List the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## Install the pinned local cloud into the checkout
	@$(LOCAL) install

build: ## Build the functions into target/lambda, and the pages into web/dist
	@$(LOCAL) build

pages: ## Build only the pages
	@test -d web/node_modules || npm --prefix web ci --silent
	@npm --prefix web run --silent build

demo: ## Stage a flash sale on this machine: KIND=sale|red-packet|prizes|lottery|rain|early-access|line UNITS=1000 BUYERS=20000 RATE=600 LANES=1 PAYMENT_WINDOW_S=15 HOLD=1
	@$(LOCAL) demo

plan: ## Say what a sale needs and costs, or why it cannot hold: UNITS=100 AUDIENCE=10000 LINE=auto LANES=1 OPENS_AT=2026-12-24T18:00:00+01:00 REGION=us-east-1 JSON=1
	@local/tool.sh planner plan

simulate: ## Simulate the opening of a sale with a line, in virtual time: UNITS=10000 AUDIENCE=1000000 LINE=1000 LANES=1 SEEDS=20 OUT=target/opening.svg JSON=1
	@local/tool.sh simulate

up: ## Start the whole system and leave it running
	@$(LOCAL) up

down: ## End what `make up` started
	@$(LOCAL) down

buy: ## Buy a unit of the running system from the shell, each step explained: USER_ID=bob SALE=lamp
	@$(LOCAL) buy

crowd: ## Send a small crowd to the running system, to be watched on the operators' page: BUYERS=200 SALE=lamp OVER_S=60
	@$(LOCAL) crowd

# Both packages at once: what they share is compiled once. Tokens for what `make up` runs are made when all else is checked.
load: ## Send load to any deployment: URL=… SALE=lamp USERS=1000 OVER_S=10 CURVE=rush BAD=0.05 TOKENS=file STOP_AT_ERRORS=0.5 OUT=target/load
	@$(COMPILE) "Compiling the tools" build --workspace --bin local --bin load
	@exec $(or $(CARGO_TARGET_DIR),target)/debug/load --tokens-from 'exec $(LOCAL) tokens'

token: ## Print a token for the running system: USER_ID=alice OPERATOR=1
	@$(LOCAL) token

pass: ## Print a pass into a sale of the running system: USER_ID=alice SALE=lamp ROUND=1
	@$(LOCAL) pass

event: ## Print a sample of events/ as an event that the running system takes now: SAMPLE=reservation/reserve
	@$(LOCAL) event

watch: ## Run a function from its sources, for `cargo lambda invoke`, on what `make up` started: FUNCTION=reservation
	@$(LOCAL) watch

audit: ## Print where every unit of the running system is: SALE=lamp ROUND=1
	@$(LOCAL) audit

export: ## Write the orders of a round of the running system to a file: SALE=lamp ROUND=1 FORMAT=csv OUT=lamp-1.csv
	@$(LOCAL) export

check-line: ## Check the line of a sale, and the place of a ticket, from public data alone: SALE=lamp ROUND=1 TICKET=… COMMITMENT=… URL=… JSON=1
	@$(LOCAL) check-line

line-keys: ## Print what CloudFront's key value store needs for tickets, from the keys of passes: KEYS='{"signing":1,"key1":"…"}'
	@$(LOCAL) line-keys

check-draw: ## Check the draw of a round from public data alone: SALE=packet ROUND=1 UNIT=17 URL=… JSON=1
	@$(LOCAL) check-draw

trace: ## Print one purchase through all functions: ID=lamp.1.…
	@$(LOCAL) trace

redrive: ## Send dead letters of the running system back: QUEUE=expiry
	@$(LOCAL) redrive

# The parts of `make test`, the longest first. Each waits for much of its time, so some run beside each other.
TEST_PARTS = test-system test-buyers-real test-rust test-operators-real test-pages test-cdk bench-short
TEST_PARTS_AT_ONCE ?= 3
# What must be there for all of them.
TEST_READY = test-ready
export TEST_LOGS ?= target/parts

# A shell that waits for a `make` dies of a signal without passing it on, so that one is started behind and waited for.
test: ## Run all tests, some parts beside each other; at the end the seconds of each, and those that failed
	@end() { trap '' TERM HUP INT; test -z "$$!" || kill -TERM $$! 2>/dev/null; wait; exit $$1; }; \
	trap 'end 130' INT; trap 'end 143' TERM HUP; \
	rm -f "$(TEST_LOGS)"/*.log "$(TEST_LOGS)/results"; begun=$$(date +%s); failed=; \
	$(MAKE) --no-print-directory part-$(TEST_READY) & wait $$! || failed=1; \
	$(MAKE) --no-print-directory --keep-going --jobs=$(TEST_PARTS_AT_ONCE) $(TEST_PARTS:%=part-%) & wait $$! || failed=1; \
	echo; cat "$(TEST_LOGS)/results"; echo "$$(($$(date +%s) - begun)) s together"; \
	for part in $(TEST_READY) $(TEST_PARTS); do \
	  grep -q "^✓ $$part (" "$(TEST_LOGS)/results" || { echo "*** FAILED: $$part"; failed=1; }; done; test -z "$$failed"

# Whatever would be compiled beside the tests would take programs from under them.
part-test-pages part-test-buyers-real part-test-operators-real part-bench-short: export CARGO = true
part-%:
	@tests/part.sh $* $(MAKE) $*

# Everything that the parts need.
test-ready: build
	@$(COMPILE) "Compiling the tests" test --workspace --no-run
	@$(COMPILE) "Compiling all programs" build --workspace --bins
	@cd clients && npm ci --silent

test-system:
	RUST_TEST_THREADS=4 $(CARGO) test --workspace --quiet --no-fail-fast --test system

# All but the above.
test-rust:
	$(CARGO) test --workspace --quiet --no-fail-fast --lib --bins --test '[!s]*' --test 's[!y]*'

# The packages in TypeScript: the deployment, and what is for those who write apps.
test-cdk:
	@failed=; for package in infra/cdk clients; do for part in typecheck test lint; do \
	npm --prefix $$package run --silent $$part || failed="$$failed $$package:$$part"; done; done; \
	if test -n "$$failed"; then echo "*** npm run:$$failed" >&2; exit 1; fi

# On AWS, or on the emulator (ENV=emulator). What is given behind them reaches the program as a variable.
DEPLOY = @infra/cdk/run.sh

deploy: ## Deploy to AWS and buy one thing there: ENV=dev, for infra/cdk/deployments/dev.ts; YES=1 asks nothing
	$(DEPLOY) deploy "$(ENV)"

destroy: ## Take a deployment away, and say what remains: ENV=dev
	$(DEPLOY) destroy "$(ENV)"

preflight: ## Look at account, quotas, issuer, certificate, secrets and alarms of a deployment, and say what mends them: ENV=prod
	$(DEPLOY) preflight "$(ENV)"

operator: ## Make somebody an operator of a deployment that has a user pool: ENV=dev EMAIL=you@example.com
	$(DEPLOY) operator "$(ENV)"

pay: ## Pay a reservation of a deployment that has no payment provider: ENV=dev ID=lamp.1.… PRICE_MINOR=990 CURRENCY=EUR
	$(DEPLOY) pay "$(ENV)"

smoke: ## Buy one thing at a deployment: ENV=dev
	$(DEPLOY) smoke "$(ENV)"

bootstrap: ## Prepare account and regions for CDK, as deploy does by itself: ENV=prod
	$(DEPLOY) bootstrap "$(ENV)"

rotate-edge-key: ## Change the key between CloudFront and the functions, a step each time: ENV=prod
	$(DEPLOY) rotate-edge-key "$(ENV)"

template: ## Write the templates and the functions' archives of a deployment, for other tools: ENV=prod
	$(DEPLOY) template "$(ENV)"

build-aws: ## Build the functions for AWS into target/aws, and the pages
	$(DEPLOY) build-aws

deploy-dry: build ## Do all that `cargo lambda deploy` does for each function, up to the upload
	cd infra/cdk && npm run --silent deploy-dry

test-web: ## Test the pages in a browser, on a stand-in and on a system of their own
	@test -x "$(CHROMIUM)" || { echo "There is no Chromium at $(CHROMIUM): apt install chromium, or set CHROMIUM" >&2; exit 1; }
	@echo "Installing clients/node_modules" >&2; npm --prefix clients ci --silent
	@$(MAKE) --no-print-directory pages
	@failed=; for part in test-pages test-buyers-real test-operators-real; do $(MAKE) --no-print-directory $$part || failed=1; done; test -z "$$failed"

# Without a browser the other tests are worth running.
NO_CHROMIUM = echo "*** THE BROWSER TESTS WERE SKIPPED: there is no Chromium at $(CHROMIUM) (apt install chromium)" >&2

test-pages:
	@if test -x "$(CHROMIUM)"; then cd web && npm test --silent; else $(NO_CHROMIUM); fi

# The same pages on the whole system, which each part has of its own: operators stop everything, and buyers would notice. The client
# for apps buys there too, and needs no browser.
CLIENT_REAL = npm --prefix clients run --silent test:real || failed=1
PAGES_REAL = if test -x "$(CHROMIUM)"; then npm --prefix web run --silent test:$(1)-real || failed=1; else $(NO_CHROMIUM); fi
test-buyers-real:
	@$(LOCAL) beside -- sh -c 'failed=; $(CLIENT_REAL); $(call PAGES_REAL,buyers); test -z "$$failed"'

# Before that a second stack is deployed on the same system, sold from and taken away.
DEPLOY_REAL = { infra/cdk/run.sh deploy emulator && YES=1 infra/cdk/run.sh destroy emulator; } || failed=1
test-operators-real:
	@$(LOCAL) beside -- sh -c 'failed=; $(DEPLOY_REAL); $(call PAGES_REAL,operators); test -z "$$failed"'

# What is generated from openapi.yaml for those who write apps; `make test` fails if it is not up to date.
docs: ## Make the API reference in docs/api and the types of the TypeScript client from openapi.yaml
	@cd clients && { test -d node_modules || npm ci --silent; } && npm run --silent docs

scripts: ## Print the scripts as Redis gets them, with fragments and packed fields: NAME=reserve
	@local/tool.sh scripts $(NAME)

fuzz: ## Send every route what nobody in their right mind sends: FUZZ_S=600
	@$(COMPILE) "Compiling the tests" test --workspace --test system --no-run
	FUZZ_S=$(or $(FUZZ_S),600) $(CARGO) test --workspace --test system --quiet -- fuzzing --nocapture

contract: ## Hold a running system to openapi.yaml with schemathesis
	tests/contract/run.sh

bench: ## Measure everything that docs/performance.md tells and write it there
	@local/tool.sh --profile load bench report

bench-short: ## Check the measurements themselves: fails on a wrong answer, count or missing figure, never on a time
	@local/tool.sh bench report --short

lint: ## Check format, lints and the types of the TypeScript packages
	$(CARGO) fmt --all --check
	@$(COMPILE) "Linting" clippy --workspace --all-targets -- --deny warnings
	@for package in infra/cdk clients; do test -d $$package/node_modules || npm --prefix $$package ci --silent || exit; done
	cd infra/cdk && npm run --silent typecheck
	cd clients && npm run --silent typecheck && npm run --silent lint

deny: ## Check licences and advisories (needs cargo-deny)
	$(CARGO) deny check

clean: down ## Remove everything that was built or installed
	$(CARGO) clean
	rm -rf local/.venv infra/cdk/.venv infra/cdk/node_modules infra/cdk/cdk.out web/node_modules web/dist clients/node_modules clients/typescript/dist
