#!/bin/sh
# Runs cargo so that whoever waits sees it at work within two seconds of the first thing that it compiles: at a terminal
# its progress on one line, which goes away again; in a log a line at the start and one every 15 s. If there is nothing to
# compile it prints nothing, so that the tool that runs next has the output for itself; only if cargo needs long to find
# that out, it says what cargo does.
#
#   tools/compile.sh "Compiling the tools" build --workspace --bin local
set -u
what=$1
looks="Checking what has to be compiled"
shift
# After how many seconds it says that cargo only looks, and how often it says something again: less in tests.
LOOKS_AFTER_S=${LOOKS_AFTER_S:-5}
LINE_EVERY_S=${LINE_EVERY_S:-15}
cargo=${CARGO:-cargo}
command -v "$cargo" >/dev/null || {
  echo "error: no $cargo: install Rust with rustup, or set CARGO" >&2
  exit 127
}
escape=$(printf '\033')
if test -t 2 && test "${TERM:-dumb}" != dumb; then
  clear="\r$escape[K" color=always
  width=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
else
  clear= color=never width=
fi

reporter=
said=$(mktemp) || exit 1
trap 'kill -KILL $reporter 2>/dev/null; rm -f "$said"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# What cargo said last, its progress if it has told any. Progress is written between carriage returns.
last_word() {
  # The command may have ended, and its file be gone.
  words=$(tail -c 2000 "$said" 2>/dev/null | tr '\r' '\n' | sed "s/$escape\[[0-9;]*[mK]//g; s/ *\$//; /^\$/d")
  echo "$words" | grep ' Building ' | tail -n 1 | grep . || echo "$words" | tail -n 1
}

# Whether cargo has begun to compile. Its progress proves nothing: that counts what is compiled already, too.
compiles() {
  tr '\r' '\n' <"$said" 2>/dev/null | sed "s/$escape\[[0-9;]*[mK]//g" | grep -Eq '^ *(Compiling|Checking|Documenting) '
}

# Reports for as long as this script runs.
report() {
  began=$(date +%s)
  does=$looks
  next=
  # A sleep that outlives the script must not hold its output open: somebody may read that to its end.
  while sleep 1 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    seconds=$(($(date +%s) - began))
    word=$(last_word)
    if test "$does" = "$looks" && compiles; then
      does=$what next=
    fi
    if test -n "$clear"; then
      printf "$clear%s" "${word:-    $does}" >&2
    elif test -z "$next"; then
      # Looking whether there is anything to do takes a busy machine seconds.
      test "$does" = "$what" || test $seconds -ge "$LOOKS_AFTER_S" || continue
      case $word in *' Finished '* | *' Executable '*) continue ;; esac
      next=$((seconds < LINE_EVERY_S ? LINE_EVERY_S : seconds + LINE_EVERY_S))
      test "$does" = "$looks" && echo "$looks" >&2 || echo "$what (the first time takes minutes)" >&2
    elif test $seconds -ge $next; then
      next=$((seconds + LINE_EVERY_S))
      far=$(echo "$word" | sed -n 's/.*] \([0-9]*\)\/\([0-9]*\).*/\1 of \2/p')
      test -n "$far" || far=$(echo "$word" | sed 's/^ *//')
      echo "$does${far:+: $far} ($seconds s)" >&2
    fi
  done
}
report >/dev/null &
reporter=$!

CARGO_TERM_PROGRESS_WHEN=always CARGO_TERM_PROGRESS_WIDTH=${width:-80} CARGO_TERM_COLOR=$color \
  "$cargo" "$@" >&2 2>"$said"
status=$?

# By force: a subshell that is still being made loses a gentler signal, and the wait for it would not end.
kill -KILL $reporter 2>/dev/null
wait $reporter 2>/dev/null
printf "$clear" >&2
# What the compiler said: all but cargo's own lines.
own='Adding|Blocking|Building|Checking|Compiling|Dirty|Downloaded|Downloading|Executable|Finished|Fresh|Locking|Updating'
tr '\r' '\n' <"$said" | sed -E "/^($escape\[[0-9;]*[mK])* *($own)($escape\[[0-9;]*m)* /d; /^ *\$/d" >&2
exit $status
