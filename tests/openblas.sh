#!/bin/bash
# The table of kernels whose products are OpenBLAS's: on this machine with both of Debian's builds, and cross-built for
# ppc64el, where it is the default, under QEMU (tools/setup.sh full fetches that OpenBLAS). tests/openblas.sh [BUILD_DIRECTORY]
# With ccache, objects of another build without warnings as errors are used again if both folders lie beside each other.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "${1:-build-openblas}")
shipped=models/pretrained/tatoeba-en-de.gguf

fail()
{
    echo "openblas: $*" >&2
    exit 1
}

# golden RUN FOLDER: lines, and what transformers made of them with the model that ships, where no limit ended it: files
# `texts` and `expected`
golden()
{
    python3 - tests/data/models/tatoeba-en-de/golden.json "$1" "$2" << 'END'
import json, sys
lines = json.load(open(sys.argv[1], encoding="utf-8"))["lines"]
lines = [line for line in lines if line["text"].strip() and len(line[sys.argv[2]]["ids"][0]) < 100]
for name, texts in ("texts", [line["text"] for line in lines]), ("expected", [line[sys.argv[2]]["text"][0] for line in lines]):
    open(f"{sys.argv[3]}/{name}", "w", encoding="utf-8").writelines(text + "\n" for text in texts)
END
}

# check_build KIND TEST…: Debian's serial or pthread build
check_build()
{
    local kind=$1 folder=$build/$1 core run outputs beam test
    shift
    mkdir -p "$folder"
    ldd "$ferry" | grep -F "/openblas-$kind/" > /dev/null || fail "the program does not use Debian's $kind build"
    # Products, also of several threads, as processors with other kernels compute them.
    for core in Prescott Haswell SkylakeX; do
        grep -qw avx2 /proc/cpuinfo || [ "$core" = Prescott ] || continue
        grep -qw avx512vl /proc/cpuinfo || [ "$core" != SkylakeX ] || continue
        OPENBLAS_CORETYPE=$core "$build/tests/suite_kernels" test_openblas > "$folder/log" 2>&1 ||
            { cat "$folder/log"; fail "$kind build, as $core: test_openblas failed"; }
    done
    for test in "$@"; do
        # shellcheck disable=SC2086 # a program, and one of its files
        "$build/tests/"$test > "$folder/log" 2>&1 || { cat "$folder/log"; fail "$kind build: $test failed"; }
    done
    for run in 'greedy 1' 'beam4 4'; do
        read -r outputs beam <<< "$run"
        golden "$outputs" "$folder"
        FERRY_ISA=openblas "$ferry" translate -m "$shipped" --beam "$beam" --split none --max-length 511 \
            -i "$folder/texts" > "$folder/found" 2> "$folder/messages"
        diff "$folder/expected" "$folder/found" || fail "$kind build, $outputs: other translations"
    done
    echo "Debian's $kind build: passed"
}

# ---- this machine ----

cmake -S . -B "$build" -G Ninja -DFERRY_TESTS=ON -DFERRY_OPENBLAS=ON > /dev/null
cmake --build "$build" --target ferry suite_api suite_graph suite_kernels test_small_stack libferry libferry_static \
    libferry_inspect libferry_documents ferry_pages
ferry=$build/ferry
checks=()
# Which OpenBLAS is used is decided when a program starts.
for kind in serial pthread; do
    library=$(find /usr/lib -path "*/openblas-$kind/libopenblas.so.0")
    [ -n "$library" ] || fail "libopenblas0-$kind is not installed: run tools/setup.sh full"
    more=()
    [ $kind = pthread ] || more=(test_small_stack)
    LD_LIBRARY_PATH=${library%/*} check_build $kind 'suite_graph test_int8' 'suite_kernels test_kernels' \
        'suite_graph test_positions' 'suite_kernels test_shared_products' \
        'suite_api test_translate' "${more[@]}" &
    checks+=($!)
done
for check in "${checks[@]}"; do wait "$check"; done

# What is installed names OpenBLAS where it has to be linked, and no folder of this machine.
rm -rf "$build/prefix" "$build/consumer"
cmake --install "$build" --prefix "$build/prefix" > /dev/null
packages=$(dirname "$(find "$build/prefix" -name ferry.pc)")
! grep -rE "$build|/openblas-" "$packages" "${packages%/*}/cmake" || fail "the packages name folders of this machine"
mkdir -p "$build/static"
cp "${packages%/*}/libferry.a" "$build/static"
# shellcheck disable=SC2046 # a list of options
gcc examples/translate.c -o "$build/example" "-L$build/static" $(PKG_CONFIG_PATH=$packages pkg-config --static --cflags --libs ferry |
    sed "s|-L$build/prefix[^ ]*||")
cmake -S tests/embedding/consumer -B "$build/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$build/prefix" > /dev/null
cmake --build "$build/consumer" > /dev/null
for program in "$build/example" "$build/consumer/with_ferry_static"; do
    ldd "$program" | grep -F libopenblas.so > /dev/null || fail "$program has no OpenBLAS"
    found=$("$program" "$shipped" 'Good morning!')
    [[ $found == *'Guten Morgen!' ]] || fail "$program: '$found'"
done

# ---- ppc64el ----

triple=powerpc64le-linux-gnu
root=$PWD/third_party/ppc64el/usr
[ -d "$root" ] || fail "no packages of ppc64el: run tools/setup.sh full"
options=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=ppc64le -DCMAKE_C_COMPILER="$triple-gcc"
    -DOPENBLAS_LIBRARY="$root/lib/$triple/openblas-serial/libopenblas.a"
    -DOPENBLAS_INCLUDE="$root/include/$triple/openblas-serial")
cmake -S tests/cross -B "$build/kernels" -G Ninja "${options[@]}" > /dev/null
cmake --build "$build/kernels"
for cpu in power8 power9 power10; do
    echo "-- $cpu"
    for test in 'test_openblas' 'test_kernels tables_are_in_order tables_are_found_by_name' test_rows; do
        [ "$test" != test_rows ] || [ $cpu = power9 ] || continue
        # shellcheck disable=SC2086 # a file and names of its tests
        qemu-ppc64le -cpu $cpu "$build/kernels/suite_kernels" $test || fail "$test failed as $cpu"
    done
done
# All but OpenBLAS's products are the same bytes as on this machine.
gcc -I. tests/kernels/kernel_hash.c -o "$build/kernel_hash" "$build/libferry.a" "$library" -lm -lpthread
"$build/kernel_hash" | grep '^plain ' > "$build/native.hashes"
qemu-ppc64le "$build/kernels/kernel_hash" | diff "$build/native.hashes" - || fail "plain C differs on ppc64el"

# The library, with the defaults of a processor that it has no kernels for; at -O1, which compiles faster.
cmake -S . -B "$build/ppc64el" -G Ninja "${options[@]}" -DCMAKE_CXX_COMPILER="$triple-g++" \
    -DFERRY_PROGRAM=OFF -DFERRY_WERROR=ON \
    '-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG' '-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG' \
    -DUTF8PROC_LIBRARY="$root/lib/$triple/libutf8proc.a" -DUTF8PROC_INCLUDE="$root/include" > /dev/null
cmake --build "$build/ppc64el" --target libferry_static
# What is linked statically brings its license, what is not does not.
grep -q 'The OpenBLAS Project' "$build/ppc64el/NOTICES" || fail "NOTICES lacks the license of libopenblas.a"
! grep -q 'OpenBLAS' "$build/NOTICES" || fail "NOTICES has a license of what is not inside"
$triple-gcc -static examples/translate.c -Iengine "$build/ppc64el/libferry.a" "$root/lib/$triple/openblas-serial/libopenblas.a" \
    -lpthread -lm -o "$build/translate" 2> "$build/link.log" || { cat "$build/link.log"; fail "the example does not link"; }
text='The early bird gets the worm, but the second mouse gets the cheese.'
expected=$(FERRY_ISA=plain "$ferry" translate -m "$shipped" "$text")
found=$(qemu-ppc64le "$build/translate" "$shipped" "$text")
[ "$found" = "$expected" ] || fail "ppc64el: translated into '$found', not '$expected'"
echo "openblas: everything passed in $SECONDS s"
