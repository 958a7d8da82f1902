#!/bin/sh
# Installs the Node packages of a folder, unless those of its package-lock.json are there: tools/packages.sh FOLDER
set -u
cd "$1" || exit
cmp -s package-lock.json node_modules/.installed && exit
echo "Installing ${PWD##*/}/node_modules" >&2
npm ci --no-audit --no-fund --loglevel=error >&2 && cp package-lock.json node_modules/.installed
