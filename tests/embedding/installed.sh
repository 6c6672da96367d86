#!/bin/bash
# Programs outside the tree, built with the compilers' plain commands against an installed Ferry: installed.sh BUILD CC CXX
set -Eeuo pipefail
trap 'echo "installed: failed at line $LINENO" >&2' ERR
build=$(realpath "$1") cc=$2 cxx=$3
here=$(cd "$(dirname "$0")" && pwd)
source_dir=$(realpath "$here/../..")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-installed.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail()
{
    echo "installed: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$scratch/prefix" --strip > /dev/null
lib=$(dirname "$(find prefix -name libferry.a)")
model=$(find prefix -name tatoeba-en-de.gguf)
pieces=$source_dir/tests/data/models/tatoeba-en-de/source.spm
text='Where is the nearest station, please?'
export PKG_CONFIG_PATH=$scratch/$lib/pkgconfig LD_LIBRARY_PATH=$scratch/$lib
expected=$(prefix/bin/ferry translate -m "$model" "$text")
[ -n "$expected" ] || fail "the program says nothing"

# says EXPECTED COMMAND...: it prints this, and nothing to stderr.
says()
{
    local output
    output=$("${@:2}" 2> errors) || fail "$2: $(cat errors)"
    [ "$output" = "$1" ] || fail "$2: expected '$1', found '$output'"
    [ ! -s errors ] || fail "$2 prints: $(cat errors)"
}

# needs FILE: the shared libraries that it names.
needs()
{
    readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# needs_only FILE PATTERN: it names no others.
needs_only()
{
    local other
    other=$(needs "$1" | grep -vxE "$2" || true)
    [ -z "$other" ] || fail "$1 needs $other"
}

libc='libc\.so\.6|libm\.so\.6|libpthread\.so\.0|ld-linux.*\.so\.[0-9]+'
example=$source_dir/examples/translate.c

# The shared library.
needs_only "$lib/libferry.so" "$libc"
# shellcheck disable=SC2046 # lists of options
"$cc" "$example" -o shared $(pkg-config --cflags --libs ferry)
needs shared | grep -x 'libferry\.so\.0\.1' > /dev/null || fail "the shared library's name: $(needs shared)"
says "$expected" ./shared "$model" "$text"

# The sizes that docs/embedding.md tells, to a twentieth: they depend on the compiler.
if [ "$(uname -m)" = x86_64 ]; then
    "$source_dir/tools/lab/library_sizes.sh" "$build" | grep -v '  needs ' > sizes
    sed -nE 's/^\| (`libferry|the example).*\| ([0-9.]+) MB.*/\2/p' "$source_dir/docs/embedding.md" | paste sizes - |
        awk '{ said = $NF * 1e6 } $1 < 0.95 * said || $1 > 1.05 * said { print; wrong = 1 } END { exit wrong || NR != 3 }' ||
        fail "docs/embedding.md tells other sizes"
fi

# The static library, by a C compiler.
mkdir static
cp "$lib/libferry.a" static
"$cc" "$example" -Iprefix/include -o plain -Lstatic -lferry -lm -lpthread
needs_only plain "$libc"
says "$expected" ./plain "$model" "$text"

# The libraries of documents. With the shared one, nothing of md4c is needed to compile a program.
page='<p>Good <b>morning</b>! The dog ☃ is good.</p>'
translated='<p>Guten <b>Morgen</b>! Der Hund ☃ ist gut.</p>'
# translates_pages COMMAND…: also what no model reads, and failures of this library have libferry's names.
translates_pages()
{
    says "$translated" "$@" "$model" html "$page"
    ! "$@" "$model" docx "$page" 2> message || fail "$*: an unknown format is no failure"
    [ "$(cat message)" = "invalid argument: format: expected html, markdown …, found 'docx'" ] || fail "$* says $(cat message)"
}
needs_only "$lib/libferry-documents.so" "$libc|libferry\.so\.0\.1|libmd4c\.so\.0"
[[ $(pkg-config --cflags --libs ferry-documents) != *md4c* ]] || fail "programs need md4c"
# shellcheck disable=SC2046
"$cc" "$here/consumer/page.c" -o page $(pkg-config --cflags --libs ferry-documents)
needs_only page "$libc|libferry\.so\.0\.1|libferry-documents\.so\.0\.1"
translates_pages ./page
cp "$lib/libferry-documents.a" static
# shellcheck disable=SC2046
"$cc" "$here/consumer/page.c" -o page-static -Lstatic $(pkg-config --static --cflags --libs ferry-documents)
needs_only page-static "$libc|libmd4c\.so\.0"
translates_pages ./page-static

# CMake's package.
! grep -rF -e "$build" -e "$source_dir" -e "$scratch" "$lib/cmake" "$lib/pkgconfig" ||
    fail "the packages name directories of this machine"
cmake -S "$here/consumer" -B found -G Ninja -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$scratch/prefix" > /dev/null
cmake --build found > /dev/null
needs found/with_ferry | grep -x 'libferry\.so\.0\.1' > /dev/null || fail "ferry::ferry is not the shared library"
needs_only found/with_ferry_static "$libc"
scored=$(found/with_ferry "$model" "$text")
[ "${scored#* }" = "$expected" ] || fail "ferry::ferry: expected '$expected', found '$scored'"
says "$scored" found/with_ferry_static "$model" "$text"
needs found/with_ferry_documents | grep -x 'libferry-documents\.so\.0\.1' > /dev/null ||
    fail "ferry::ferry_documents is not the shared library"
needs_only found/with_ferry_documents_static "$libc|libmd4c\.so\.0"
for kind in '' _static; do translates_pages "found/with_ferry_documents$kind"; done
refuses()
{
    ! "$@" "$model" '>>xyz<< Hello.' > /dev/null 2> message || fail "$*: a line that fails is no failure"
    grep "the model has no tag '>>xyz<<'" message > /dev/null || fail "$* says $(cat message)"
}
refuses ./plain

# The library of inspection.
# shellcheck disable=SC2046
"$cc" "$here/inspect_model.c" -o inspect $(pkg-config --cflags --libs ferry_inspect)
needs_only inspect "$libc"
says "$(prefix/bin/ferry inspect "$model" | grep -v '^content: ')" ./inspect "$model"

# The license of every part that the libraries contain; esaxx belongs to the trainer.
cmp "$source_dir/LICENSE" "$(find prefix -name LICENSE)"
notices=$(cat "$(find prefix -name NOTICES)")
[[ $notices == *'xxHash'*'Yann Collet'*'BSD 2-Clause'*'THIS SOFTWARE IS PROVIDED'* ]] || fail "xxHash's license is missing"
[[ $notices == *utf8proc*'Public Software Group'* ]] || fail "utf8proc's license is missing"
[[ $notices == *md4c*'Martin Mitas'*'WITHOUT WARRANTY OF ANY KIND'* ]] || fail "md4c's license is missing"
find "$source_dir"/third_party/sentencepiece-* -name LICENSE ! -path '*/esaxx/*' > licenses
[ "$(wc -l < licenses)" -ge 4 ] || fail "where are the licenses of SentencePiece's parts?"
while IFS= read -r license; do
    [[ $notices == *"$(cat "$license")"* ]] || fail "NOTICES lacks $license"
done < licenses

# C++ programs with a library of their own, beside libferry.so and with libferry.a inside, which for protobuf is everything
# in one file, its C++ runtime too. (Debian's protobuf and SentencePiece cannot be used in one program.)
declare -A inside=([protobuf]='-l:libprotobuf.a -static-libstdc++ -static-libgcc' [sentencepiece]=-lsentencepiece)
for own in protobuf sentencepiece; do
    if ! pkg-config --exists $own; then
        echo "installed: not run, no $own to link: the C++ program" >&2
        exit 77
    fi
    sources="$here/host.cc $here/own_$own.cc"
    # shellcheck disable=SC2046,SC2086
    "$cxx" -std=c++17 $sources -o $own-shared -l$own $(pkg-config --cflags --libs ferry)
    # shellcheck disable=SC2086
    "$cxx" -std=c++17 $sources -o $own-static ${inside[$own]} -Iprefix/include -Lstatic -lferry -lm -lpthread
    needs $own-shared | grep "lib$own" > /dev/null || fail "the C++ program has no $own of its own"
    for kind in shared static; do says "$expected" "./$own-$kind" "$model" "$pieces" "$text"; done
done
needs_only protobuf-static "$libc"
