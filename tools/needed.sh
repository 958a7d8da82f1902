#!/bin/sh
# Says in one line what the local cloud needs and the machine lacks, before minutes of compiling are wasted.
set -u
missing='' packages=''
need() {
  command -v "$1" >/dev/null && return
  missing="$missing, $1$2" packages="$packages $3"
}
need python3 ' (3.11 or later)' 'python3 python3-venv'
need node ' (20.19, or 22.12 and later)' nodejs
need npm '' npm
test -z "$missing" || {
  echo "not installed: ${missing#, }; apt install$packages" >&2
  exit 1
}
# Debian's Python lacks the part of venv that creates an environment; without it Python makes half of one.
test -e "${0%/*}/.venv/installed" || python3 -c 'import ensurepip, venv' 2>/dev/null || {
  echo 'python3 has no venv module; apt install python3-venv' >&2
  exit 1
}
