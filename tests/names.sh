#!/bin/sh
# Each public type of shared/ and functions/ has a name of its own, which then means one thing everywhere. `deps!` makes types
# of names with `(context) {`.
cd "${0%/*}/.." || exit
types='^ *pub (struct|enum|trait|type) [A-Za-z0-9]+|^ +[A-Za-z0-9]+\(context\) \{$'
names=$(grep -rhoE "$types" --include='*.rs' shared functions | sed 's/(context) {//' | awk '{ print $NF }' | sort)
test -n "$names" || {
  echo 'error: no public type found in shared/ and functions/' >&2
  exit 1
}
twice=$(echo "$names" | uniq -d)
test -z "$twice" && exit
for name in $twice; do
  grep -rnE "^ *pub (struct|enum|trait|type) $name\b|^ +$name\(context\) \{$" --include='*.rs' shared functions
done >&2
echo 'error: these public types share a name: give each its own' >&2
exit 1
