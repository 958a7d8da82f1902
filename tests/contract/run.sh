#!/usr/bin/env bash
# Tests a system of its own against the API's document with generated requests; see CONTRIBUTING.md, "Tests".
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=target/schemathesis
tools/venv.sh "$venv" tests/contract/requirements.txt
task() { tools/tool.sh local "$@"; }
task up
trap "task down" EXIT
. target/local/up.env
export HOOKS=$PWD/tests/contract/hooks.py SALE_ID=lamp
OPERATOR_TOKEN=$(task token --user olga --operator)
BUYER_TOKENS=$(for n in 1 2 3 4 5 6 7 8; do task token --user "buyer-$n"; done)
export OPERATOR_TOKEN BUYER_TOKENS
node infra/cdk/openapi/main.js
"$venv/bin/schemathesis" --config-file tests/contract/schemathesis.toml run target/api/openapi.json "$@"
