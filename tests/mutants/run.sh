#!/usr/bin/env bash
# Runs run.py in a virtual environment of its own; docs/mutation.md explains it.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v cargo-mutants >/dev/null || {
  echo "error: no cargo-mutants: cargo install cargo-mutants --locked" >&2
  exit 127
}
venv=target/mutants/venv
if [ ! -x "$venv/bin/python" ]; then
  echo "Installing tree-sitter into $venv" >&2
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --requirement tests/mutants/requirements.txt
fi
exec "$venv/bin/python" tests/mutants/run.py "$@"
