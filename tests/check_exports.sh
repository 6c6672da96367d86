#!/bin/sh
# The shared library exports exactly what the public headers declare: check_exports.sh LIBRARY HEADER...
set -eu
library=$1
shift
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-exports.XXXXXX")
trap 'rm -r "$scratch"' EXIT

sed -n 's/^FERRY_API .*\(ferry_[a-z0-9_]*\)(.*/\1/p' "$@" | LC_ALL=C sort > "$scratch/declared"
nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort > "$scratch/exported"
if [ "$(cat "$@" | grep -c '^FERRY_API ')" -ne "$(wc -l < "$scratch/declared")" ]; then
    echo "check_exports: a declaration whose name is not on the line of FERRY_API" >&2
    exit 1
fi
diff "$scratch/declared" "$scratch/exported" || {
    echo "check_exports: < is declared, not exported; > is exported, not declared" >&2
    exit 1
}
