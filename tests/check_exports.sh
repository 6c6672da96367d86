#!/bin/sh
# A shared library exports exactly what its header declares, with the version's symbol version and name, and takes from
# another one of Ferry's what ferry.h declares; the static one has no other global names:
# check_exports.sh SHARED_LIBRARY STATIC_LIBRARY HEADER
set -eu
shared=$1
static=$2
header=$3
interface=$(dirname "$0")/../engine/ferry.h
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-exports.XXXXXX")
trap 'rm -r "$scratch"' EXIT
version=$(sed -n 's/^#define FERRY_VERSION "\([0-9]*\.[0-9]*\)\..*/\1/p' "$interface")

fail()
{
    echo "check_exports: $*" >&2
    exit 1
}

# declared HEADER: the functions that it declares
declared()
{
    sed -n 's/^FERRY_API .*\(ferry_[a-z0-9_]*\)(.*/\1/p' "$1"
}

declared "$header" | sed "s/\$/@@FERRY_$version/" | LC_ALL=C sort > "$scratch/declared"
nm -D --defined-only "$shared" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort > "$scratch/exported"
[ "$(grep -c '^FERRY_API ' "$header")" -eq "$(wc -l < "$scratch/declared")" ] ||
    fail "a declaration whose name is not on the line of FERRY_API"
diff "$scratch/declared" "$scratch/exported" || fail "< is declared, not exported; > is exported, not declared"

declared "$interface" > "$scratch/interface"
other=$(nm -D --undefined-only "$shared" | sed -n 's/^ *U \(ferry_[a-z0-9_]*\).*/\1/p' | grep -vxFf "$scratch/interface" || true)
[ -z "$other" ] || fail "$shared needs what ferry.h does not declare: $other"

name=$(basename "$shared")
name=${name%%.so*}.so.$version
readelf -dW "$shared" | grep -F "SONAME" | grep -F "[$name]" > /dev/null ||
    fail "expected the name $name, found $(readelf -dW "$shared" | grep SONAME)"

other=$(nm -g --defined-only "$static" | awk 'NF == 3 && $3 !~ /^ferry_/ { print $3 }' | head -n 5)
[ -z "$other" ] || fail "$static has global names that are not ferry_: $other"
