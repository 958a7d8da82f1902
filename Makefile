# Every task of the project. `make` lists them.

CARGO ?= cargo
LOCAL = $(CARGO) run --quiet --package local --

.DEFAULT_GOAL := help
.PHONY: help setup build demo up down token pass audit redrive test test-rust test-cdk lint deny clean

help: ## List the tasks
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## Install the pinned local cloud into the checkout
	$(LOCAL) install

build: ## Build the functions into target/lambda
	$(LOCAL) build

demo: ## Stage a flash sale on this machine: UNITS=100 BUYERS=2000 PAYMENT_WINDOW_S=15
	$(LOCAL) demo

up: ## Start the whole system and leave it running
	$(LOCAL) up

down: ## End what `make up` started
	$(LOCAL) down

token: ## Print a token for the running system: USER_ID=alice
	@$(LOCAL) token --user $(or $(USER_ID),alice)

pass: ## Print a pass into a sale of the running system: USER_ID=alice SALE=lamp ROUND=1
	@$(LOCAL) pass --user $(or $(USER_ID),alice) --sale $(or $(SALE),lamp) --round $(or $(ROUND),1)

audit: ## Print where every unit of the running system is: SALE=lamp ROUND=1
	@$(LOCAL) audit --sale $(or $(SALE),lamp) --round $(or $(ROUND),1)

redrive: ## Send dead letters of the running system back: QUEUE=expiry
	@$(LOCAL) redrive $(or $(QUEUE),orders)

test: build test-rust test-cdk ## Run all tests

test-rust:
	$(CARGO) test --workspace --quiet

test-cdk:
	cd infra/cdk && npm run --silent typecheck && npm test --silent

lint: ## Check format, lints and the CDK app's types
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- --deny warnings
	cd infra/cdk && npm run --silent typecheck

deny: ## Check licences and advisories (needs cargo-deny)
	$(CARGO) deny check

clean: down ## Remove everything that was built or installed
	$(CARGO) clean
	rm -rf local/.venv infra/cdk/node_modules infra/cdk/cdk.out
