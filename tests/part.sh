#!/bin/sh
# Runs one part of `make test`: tests/part.sh NAME COMMAND…
#
# Parts run beside each other. What one prints goes to NAME.log in TEST_LOGS (target/parts), and is shown if the part fails;
# until it ends a line every 15 s says how far it is. How it ended, after how long, and how long it had
# a core, is a line in the file results there.
# TERM, HUP and INT end the part and all that it started, and so do a kill of this script and the limit of its time.
set -u
name=$1
shift
folder=${TEST_LOGS:-target/parts}
log=$folder/$name.log
mkdir -p "$folder"
begun=$(date +%s)
# How long what the part started may take to end before it is killed: longer than the 10 s that each server has.
patience=20
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

end_report() {
  test -n "$reporter" || return 0
  kill -KILL "$reporter" 2>/dev/null
  wait "$reporter" 2>/dev/null
  reporter=
}

# What runs in the part's session: all that it started, in whatever process group. Zombies have ended.
left() {
  cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) (.*) [^ZX] [0-9]* [0-9]* ${part:-none} .*/\1/p"
}

end() {
  trap '' TERM HUP INT
  # The signal may have come before the next line of this script.
  part=${part:-${!:-}}
  if test -n "$part"; then
    # Only the part's own group: the others have keepers, which end them in order when the part has ended.
    kill -s TERM -- "-$part" 2>/dev/null || kill -TERM "$part" 2>/dev/null
    wait "$part" 2>/dev/null
    sweep
  fi
  exit "$1"
}

# Waits for what is left of the part, and then kills it.
sweep() {
  asked=$(seconds)
  while test -n "$(left)"; do
    test $(($(seconds) - asked)) -lt $patience || left | xargs -r kill -KILL 2>/dev/null
    sleep 0.1
  done
}

reporter= part=
trap 'end_report' EXIT
trap 'end 130' INT
trap 'end 143' TERM HUP
echo "  $name begins"
: >"$log"
# A session of its own, so that a signal reaches all of it, and deaf to no signal, as what runs behind a shell is to Ctrl-C. The
# part is nobody's sub-make: `make` and `cargo` in it would talk to the outer one.
setsid setpriv --pdeathsig TERM timeout --kill-after=20 "${TEST_PART_LIMIT:-45m}" setpriv --pdeathsig TERM env --default-signal=INT,QUIT -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$@" >"$log" 2>&1 </dev/null &
part=$!
report &
reporter=$!
wait $part
status=$?
sweep
end_report
# Of a core, for the part and whatever it waited for. Not in a pipe, which would be a shell of its own.
times >"$folder/$name.times"
cpu=$(awk 'NR == 2 { split($0, t, /[ms ]+/); printf "%d", (t[1] + t[3]) * 60 + t[2] + t[4] }' "$folder/$name.times")
if test $status -eq 0; then
  # What was left out is worth knowing.
  grep '^\*\*\*' "$log"
  result="✓ $name ($(seconds) s, $cpu s of a core)"
else
  cat "$log"
  result="✗ $name ($(seconds) s, $cpu s of a core): it is above, and in $log"
fi
echo "$result" | tee -a "$folder/results"
exit $status
