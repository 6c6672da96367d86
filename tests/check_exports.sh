#!/bin/sh
# The shared library exports exactly what its header declares, with the version's symbol version and name, and the
# static one has no other global names: check_exports.sh SHARED_LIBRARY STATIC_LIBRARY HEADER
set -eu
shared=$1
static=$2
header=$3
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-exports.XXXXXX")
trap 'rm -r "$scratch"' EXIT
version=$(sed -n 's/^#define FERRY_VERSION "\([0-9]*\.[0-9]*\)\..*/\1/p' "$header")

fail()
{
    echo "check_exports: $*" >&2
    exit 1
}

sed -n "s/^FERRY_API .*\(ferry_[a-z0-9_]*\)(.*/\1@@FERRY_$version/p" "$header" | LC_ALL=C sort > "$scratch/declared"
nm -D --defined-only "$shared" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort > "$scratch/exported"
[ "$(grep -c '^FERRY_API ' "$header")" -eq "$(wc -l < "$scratch/declared")" ] ||
    fail "a declaration whose name is not on the line of FERRY_API"
diff "$scratch/declared" "$scratch/exported" || fail "< is declared, not exported; > is exported, not declared"

readelf -dW "$shared" | grep "SONAME.*\[libferry\.so\.$version\]" > /dev/null ||
    fail "expected the name libferry.so.$version, found $(readelf -dW "$shared" | grep SONAME)"

other=$(nm -g --defined-only "$static" | awk 'NF == 3 && $3 !~ /^ferry_/ { print $3 }' | head -n 5)
[ -z "$other" ] || fail "$static has global names that are not ferry_: $other"
