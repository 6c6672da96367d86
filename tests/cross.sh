#!/bin/bash
# Runs the tests of the kernels as clang compiles them, and of the AArch64 kernels, cross-compiled, under QEMU as several
# CPUs, and checks that all ISAs of both machines and both compilers give the same bytes. tests/cross.sh [BUILD_DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-cross}

fail()
{
    echo "cross: $*" >&2
    exit 1
}

# Without dot products; with them, but without products of matrices; with everything that QEMU knows.
cpus='cortex-a53 neoverse-n1 max'

cmake -S tests/cross -B "$build/native" -G Ninja > /dev/null
cmake --build "$build/native" --target kernel_hash
cmake -S tests/cross -B "$build/clang" -G Ninja -DCMAKE_C_COMPILER=clang > /dev/null
cmake --build "$build/clang"
cmake -S tests/cross -B "$build/aarch64" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc > /dev/null
cmake --build "$build/aarch64"

echo "-- clang"
"$build/clang/suite_kernels" || fail "tests failed as clang compiles them"
for compiler in native clang; do "$build/$compiler/kernel_hash" > "$build/$compiler.hashes"; done

for cpu in $cpus; do
    # Only int8 differs from CPU to CPU; the best one has all tables.
    case $cpu in
    max) tests=(test_inputs_i8 test_kernels_i8 test_halves test_heads test_kernels test_rows) ;;
    cortex-a53) tests=(test_inputs_i8 test_kernels_i8) ;;
    *) tests=() ;;
    esac
    for test in "${tests[@]}"; do
        echo "-- $test, $cpu"
        qemu-aarch64 -cpu "$cpu" "$build/aarch64/suite_kernels" "$test" || fail "$test failed as $cpu"
    done
    qemu-aarch64 -cpu "$cpu" "$build/aarch64/kernel_hash" > "$build/$cpu.hashes"
done

# expect CPU ISA…: the tables that ran
expect()
{
    local cpu=$1 found
    shift
    found=$(cut -d ' ' -f 1 "$build/$cpu.hashes" | uniq | xargs)
    [ "$found" = "$*" ] || fail "$cpu ran $found instead of $*"
}
expect cortex-a53 neon plain
expect neoverse-n1 neon_dotprod neon plain
expect max neon_i8mm neon_dotprod neon plain

# The plain product rounds twice where the others round once.
sort -u "$build"/*.hashes |
    awk '{ print }
         { kind = ($1 == "plain" && $2 == "product") ? "plain product" : $2 }
         kind in seen && seen[kind] != $3 { print "cross: " $1 " differs in " $2; wrong = 1 }
         { seen[kind] = $3 }
         END { exit wrong }' || fail "ISAs differ"
