#!/bin/sh
# Compiles a tool of the workspace, so that one sees it, and becomes it: tools/tool.sh [--profile load] NAME ARGUMENT…
# Unlike `cargo run` it says nothing if the tool is compiled, and hands no variables of cargo's on: with those, a build that
# the tool starts would compile some crates anew. With `--workspace` what all share has the features that it has everywhere
# else, and is compiled once.
set -u
profile=dev folder=debug
if test "$1" = --profile; then
  profile=$2 folder=$2
  shift 2
fi
name=$1
shift
"${0%/*}/compile.sh" "Compiling the tools" build --profile "$profile" --workspace --bin "$name" || exit
exec "${CARGO_TARGET_DIR:-target}/$folder/$name" "$@"
