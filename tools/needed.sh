#!/bin/sh
# Says in one line which of these programs the machine lacks, before minutes of compiling are wasted:
# tools/needed.sh node npm. Without names, which of all that the local cloud needs.
set -u
test $# != 0 || set -- python3 node npm
missing='' packages=''
for program; do
  command -v "$program" >/dev/null && continue
  case $program in
    python3) version=' (3.11 or later)' package='python3 python3-venv' ;;
    node) version=' (20.19, or 22.12 and later)' package=nodejs ;;
    *) version='' package=$program ;;
  esac
  missing="$missing, $program$version" packages="$packages $package"
done
test -z "$missing" || {
  echo "not installed: ${missing#, }; apt install$packages" >&2
  exit 1
}
# Debian's Python lacks the part of venv that creates an environment; without it Python makes half of one.
test "$1" != python3 || test -e "${0%/*}/.venv/installed" || python3 -c 'import ensurepip, venv' 2>/dev/null || {
  echo 'python3 has no venv module; apt install python3-venv' >&2
  exit 1
}
