#!/bin/bash
# What tools/try.sh builds is all that `cmake --install` installs: installable.sh SOURCE_DIR. Configures a folder of its own,
# and asks Ninja, without building, whether the targets of try.sh need each file. The library alone has its manual page, too, and
# needs no md4c.
set -euo pipefail
source_dir=$(realpath "$1")
command -v ninja > /dev/null || exit 77
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-installable.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "installable: $*" >&2
    exit 1
}

read -ra targets < <(sed -n 's/^cmake --build build --target \(.*\) >&2$/\1/p' "$source_dir/tools/try.sh")
[ "${#targets[@]}" -gt 0 ] || fail "tools/try.sh names no targets"
build=$scratch/build
cmake -S "$source_dir" -B "$build" -G Ninja > "$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
installed=0
while IFS= read -r file; do
    [ ! -e "$file" ] || continue # of the configuration
    installed=$((installed + 1))
    name=${file#"$build/"}
    case $name in *.so.*) name=${name%%.so.*}.so ;; esac # its other names are made with it
    # The file itself, and what is made of it.
    users=$(echo "$name"; ninja -C "$build" -t query "$name" | sed '1,/^  outputs:/d; s/^ *//')
    needed=false
    for target in "${targets[@]}"; do
        ! grep -qxF -- "$target" <<< "$users" || needed=true
    done
    $needed || fail "tools/try.sh does not build $name"
done < <(grep -o "\"$build/[^\"$]*\"" "$build/cmake_install.cmake" | tr -d '"' | sort -u)
[ "$installed" -ge 10 ] || fail "expected at least 10 files that are built, found $installed"

build=$scratch/library
cmake -S "$source_dir" -B "$build" -G Ninja -DFERRY_PROGRAM=OFF -DMD4C_LIBRARY=OFF > "$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
grep -q '^-- libferry-documents is not built: .* was not found' "$scratch/log" || fail "not told: what is not built"
! grep ferry.documents "$build/cmake_install.cmake" || fail "without md4c, something of libferry-documents is installed"
ninja -C "$build" pages/ferry.3 > "$scratch/log" 2>&1 || fail "$(cat "$scratch/log")"
grep -qF "\"$build/pages/ferry.3\"" "$build/cmake_install.cmake" || fail "without the program, ferry(3) is not installed"
