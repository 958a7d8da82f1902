#!/usr/bin/env bash
# Tests a system of its own against the API's document with generated requests; see CONTRIBUTING.md, "Tests".
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=target/schemathesis
if [ ! -x "$venv/bin/schemathesis" ]; then
  echo "Installing schemathesis into $venv" >&2
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement tests/contract/requirements.txt
fi

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
