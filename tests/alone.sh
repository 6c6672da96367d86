#!/bin/bash
# Each test by itself, in a process of its own, and the tests of each program in one process, the last one first:
# alone.sh BUILD. On the data of the tree.
set -euo pipefail
build=$(realpath "$1")
log=$(mktemp -d "${TMPDIR:-/tmp}/ferry-alone.XXXXXX")
trap 'rm -rf "$log"' EXIT
export FERRY_SHARED_DATA='' CI='' # where large data is missing, a test does not run

for program in "$build"/tests/suite_* "$build"/tests/test_*; do
    if [ ! -x "$program" ] || [ -d "$program" ]; then continue; fi
    echo "$program --reverse"
    "$program" --list | sed "s|^|$program |"
done > "$log/commands"
[ "$(wc -l < "$log/commands")" -gt 700 ] || { echo "alone: where are the tests?" >&2; exit 1; }
# shellcheck disable=SC2016 # sh expands it
xargs -P 2 -L 1 sh -c 'log=$(mktemp "$0/XXXXXX"); "$@" > "$log" 2>&1 || { cat "$log"; echo "FAILED: $*"; exit 1; }' "$log" \
    < "$log/commands"
echo "alone: $(grep -vc -e --reverse "$log/commands") tests, each alone, and in reverse order"
