#!/usr/bin/env bash
# Runs run.py in a virtual environment of its own; docs/mutation.md explains it.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v cargo-mutants >/dev/null || {
  echo "error: no cargo-mutants: cargo install cargo-mutants --locked" >&2
  exit 127
}
venv=target/mutants/venv
tools/venv.sh "$venv" tests/mutants/requirements.txt
exec "$venv/bin/python" tests/mutants/run.py "$@"
