#!/bin/sh
# Runs one part of `make test`: tests/part.sh NAME COMMAND…
#
# Parts run beside each other. What one prints goes to NAME.log in TEST_LOGS (target/parts), and is shown if the part fails;
# until it ends a line every 15 s says how far it is. How it ended, and after how long, is a line in the file results there.
set -u
name=$1
shift
folder=${TEST_LOGS:-target/parts}
log=$folder/$name.log
mkdir -p "$folder"
begun=$(date +%s)
seconds() { echo $(($(date +%s) - begun)); }

report() {
  next=15
  while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    test "$(seconds)" -ge $next || continue
    next=$((next + 15))
    # Colours and whatever moves the cursor are for terminals.
    word=$(tail -c 2000 "$log" | tr '\r' '\n' | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g; /^ *$/d' | tail -n 1 | cut -c 1-100)
    echo "  $name, $(seconds) s: $word"
  done
}

echo "  $name begins"
: >"$log"
report &
reporter=$!
trap 'kill -KILL $reporter 2>/dev/null' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
# The part is nobody's sub-make: `make` and `cargo` in it would talk to the outer one.
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$@" >"$log" 2>&1 </dev/null
status=$?
kill -KILL $reporter 2>/dev/null
wait $reporter 2>/dev/null
if test $status -eq 0; then
  # What was left out is worth knowing.
  grep '^\*\*\*' "$log"
  result="✓ $name ($(seconds) s)"
else
  cat "$log"
  result="✗ $name ($(seconds) s): it is above, and in $log"
fi
echo "$result" | tee -a "$folder/results"
exit $status
