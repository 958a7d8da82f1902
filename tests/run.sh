#!/bin/sh
# Runs the parts of `make test`: tests/run.sh AT_ONCE READY PART…
#
# READY runs before all others, of which AT_ONCE run at a time. Ends with each part's seconds, and what failed. Whatever is
# started here ends when what started it does, also if that is killed.
set -u
at_once=$1 ready=$2
shift 2
tied="setpriv --pdeathsig TERM"

# A shell with `make` in the foreground dies of a signal without passing it on, so `make` runs in the background.
end() {
  trap '' TERM HUP INT
  test -z "${!:-}" || kill -TERM $! 2>/dev/null
  wait
  exit "$1"
}
trap 'end 130' INT
trap 'end 143' TERM HUP

# A second run would remove what this one notes, and compile beside its tests.
mkdir -p "$TEST_LOGS"
exec 9>"$TEST_LOGS/lock"
flock --nonblock 9 || {
  echo "another \`make test\` is running in this checkout" >&2
  exit 1
}
rm -f "$TEST_LOGS"/*.log "$TEST_LOGS/results"

# Temporary files are in one folder. It goes after whatever has it in its environment has ended, also if all are killed:
# first one waits for the processes that hold the pipe, which are most, and then looks for the others.
TMPDIR=$(mktemp -d) || exit
export TMPDIR
mkfifo "$TMPDIR/held"
(env -u TMPDIR setsid sh -c 'trap "" TERM HUP INT
read -r _ <"$1/held"
while grep -qsxz "TMPDIR=$1" /proc/[0-9]*/environ; do sleep 1; done
rm -rf "$1"' sh "$TMPDIR" 9>&- </dev/null >/dev/null 2>&1 &)
exec 8>"$TMPDIR/held"
begun=$(date +%s)
failed=
$tied "$MAKE" --no-print-directory "part-$ready" 9>&- &
wait $! || failed=1
# shellcheck disable=SC2046
$tied "$MAKE" --no-print-directory --keep-going --jobs="$at_once" $(printf 'part-%s ' "$@") 9>&- &
wait $! || failed=1
echo
cat "$TEST_LOGS/results"
echo "$(($(date +%s) - begun)) s in total"
for part in "$ready" "$@"; do
  grep -q "^✓ $part (" "$TEST_LOGS/results" || {
    echo "*** FAILED: $part"
    failed=1
  }
done
test -z "$failed"
