#!/bin/sh
# Makes a virtual environment with the Python packages of a file, unless it has them: tools/venv.sh FOLDER REQUIREMENTS
set -eu
cmp -s "$2" "$1/installed" && exit
echo "Installing Python packages into $1" >&2
python3 -m venv --clear "$1"
"$1/bin/pip" install --quiet --no-compile --requirement "$2"
cp "$2" "$1/installed"
