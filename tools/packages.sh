#!/bin/sh
# Installs the Node packages of folders of package.json's `workspaces` into node_modules, unless those of package-lock.json are
# there: tools/packages.sh FOLDER…
set -u
cd "${0%/*}/.." || exit
installed=node_modules/.installed
# Two at once would take each other's half-unpacked packages for complete ones.
mkdir -p target && exec 9>target/packages.lock && flock --timeout 600 9 || {
  echo "target/packages.lock: another installation of Node packages does not end" >&2
  exit 1
}
missing=''
for folder; do
  cmp -s package-lock.json $installed/"${folder##*/}" || missing="$missing $folder"
done
test -n "$missing" || exit 0
echo "Installing Node packages for$missing" >&2
# Npm takes a package for complete that it was killed in the middle of.
test ! -e node_modules/.unfinished || rm -rf node_modules
mkdir -p $installed && touch node_modules/.unfinished || exit
# What other folders need stays, which `npm ci` would remove; but it says if package-lock.json is not in step.
set -- --no-audit --no-fund --loglevel=error
npm ci --dry-run "$@" >/dev/null && npm install --no-save "$@" $(printf -- ' --workspace %s' $missing) >&2 || exit
rm node_modules/.unfinished
for folder in $missing; do cp package-lock.json $installed/"${folder##*/}"; done
