#!/bin/bash
# A project that includes Ferry's source tree by add_subdirectory, with flags and targets of its own:
#     consumers.sh BUILD [CMAKE]
# BUILD is what the results are compared with, CMAKE the oldest one that has to suffice. tests/embedding/installed.sh
# builds the same project with the installed package.
set -Eeuo pipefail
trap 'echo "consumers: failed at line $LINENO" >&2' ERR
build=$(realpath "$1") cmake=${2:-cmake}
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$(realpath "$here/../..")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-consumers.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "consumers: $*" >&2
    exit 1
}

"$cmake" --version | head -n 1
# With make, which unlike ninja does not notice that two libraries need the same file.
"$cmake" -S "$here/consumer" -B "$scratch" -G 'Unix Makefiles' -DFERRY_SOURCE="$source_dir" > /dev/null
! grep -iE '^[^/].*(jansson|nettle|yaml|zlib|pkg_config)' "$scratch/CMakeCache.txt" ||
    fail "the library looks for what only the program needs"
"$cmake" --build "$scratch" -j 2 > "$scratch/log" 2>&1 || fail "$(grep -B 2 -A 9 -iE 'error|\*\*\*' "$scratch/log")"
"$cmake" --install "$scratch" --prefix "$scratch/prefix" > /dev/null
[ ! -e "$scratch/prefix" ] || fail "installing the project also installs $(find "$scratch/prefix" -type f | head -n 1)"

model=$source_dir/models/pretrained/tatoeba-en-de.gguf
text='Where is the nearest station, please?'
cc -I"$source_dir/engine" "$here/consumer/consumer.c" -o "$scratch/expected" "$build/libferry.a" -lm -lpthread
expected=$("$scratch/expected" "$model" "$text")
for library in ferry ferry_static; do
    output=$("$scratch/with_$library" "$model" "$text")
    [ "$output" = "$expected" ] || fail "$library: expected '$expected', found '$output'"
done
for library in ferry_documents ferry_documents_static; do
    output=$("$scratch/with_$library" "$model" html '<p>Good <b>morning</b>!</p>')
    [ "$output" = '<p>Guten <b>Morgen</b>!</p>' ] || fail "$library: found '$output'"
done
