#!/bin/sh
# Installs the Node packages of folders of package.json's `workspaces` into node_modules, unless those of package-lock.json are
# there: tools/packages.sh FOLDER…
set -u
cd "${0%/*}/.." || exit
installed=node_modules/.installed
missing=''
for folder; do
  cmp -s package-lock.json $installed/"${folder##*/}" || missing="$missing $folder"
done
test -n "$missing" || exit 0
echo "Installing Node packages for$missing" >&2
# What other folders need stays, which `npm ci` would remove; but it says if package-lock.json is not in step.
set -- --no-audit --no-fund --loglevel=error
npm ci --dry-run "$@" >/dev/null && npm install --no-save "$@" $(printf -- ' --workspace %s' $missing) >&2 || exit
mkdir -p $installed
for folder in $missing; do cp package-lock.json $installed/"${folder##*/}"; done
