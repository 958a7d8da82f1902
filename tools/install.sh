#!/bin/sh
# Installs what the local cloud and the pages need into the checkout, unless it is there: Python's packages into
# tools/.venv, and Node's.
set -eu
cd "${0%/*}"
cmp -s requirements.txt .venv/installed || {
  python3 -m venv --clear .venv
  .venv/bin/pip install --quiet --no-compile --requirement requirements.txt
  cp requirements.txt .venv/installed
}
exec ./packages.sh infra/cdk web
