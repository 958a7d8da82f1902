#!/bin/sh
# Installs what the local cloud and the pages need into the checkout, unless it is there: Python's packages into
# tools/.venv, and Node's.
set -eu
cd "${0%/*}"
./venv.sh .venv requirements.txt
exec ./packages.sh infra/cdk web
