#!/bin/sh
# Runs a command of deploy/main.ts with the packages that it needs, for `./flash`: infra/cdk/run.sh deploy dev
set -u
cd "${0%/*}" || exit
../../tools/needed.sh node npm || exit
../../tools/packages.sh infra/cdk || exit
# The SDK says at each start that it wants a newer Node next year.
export AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED=true
exec node --import ./typescript.js deploy/main.ts "$@"
