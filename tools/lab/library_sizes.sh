#!/bin/bash
# What an application ships with Ferry, in bytes: library_sizes.sh BUILD
# Installs the libraries, stripped, into a scratch folder, and links the example to each.
set -euo pipefail
build=$(realpath "$1")
source_dir=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-sizes.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch" --strip > /dev/null
static=$(find "$scratch" -name libferry.a)

row()
{
    printf '%10d  %s\n' "$(stat -Lc %s "$2")" "$1"
}

for name in libferry libferry-documents; do
    shared=$(find "$scratch" -name $name.so)
    row "$name.so" "$shared"
    # Every other shared library that it brings along.
    mapfile -t needed < <(ldd "$shared" | awk '$3 ~ /^\// && $1 !~ /^lib(c|m|pthread|dl|ferry)\.so/ { print $3 }')
    for library in ${needed[@]+"${needed[@]}"}; do row "  needs $(basename "$library")" "$library"; done
done
cc -s -Wl,--gc-sections "$source_dir/examples/translate.c" -I"$scratch/include" -o "$scratch/plain" "$static" -lm -lpthread
row 'examples/translate.c with libferry.a' "$scratch/plain"
