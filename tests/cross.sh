#!/bin/bash
# Runs the tests of the AArch64 kernels, cross-compiled, under QEMU as several CPUs, and checks that all
# ISAs of both machines give the same bytes. tests/cross.sh [BUILD_DIRECTORY]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build-cross}

fail()
{
    echo "cross: $*" >&2
    exit 1
}

# Without dot products; with everything that QEMU knows.
cpus='cortex-a53 max'

cmake -S tests/cross -B "$build/native" -G Ninja > /dev/null
cmake --build "$build/native" --target kernel_hash
cmake -S tests/cross -B "$build/aarch64" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc > /dev/null
cmake --build "$build/aarch64"

for cpu in $cpus; do
    tests=(test_inputs_i8 test_kernels_i8)
    # Only int8 differs from CPU to CPU.
    [ "$cpu" = cortex-a53 ] || tests+=(test_halves test_heads test_kernels test_rows)
    for test in "${tests[@]}"; do
        echo "-- $test, $cpu"
        qemu-aarch64 -cpu "$cpu" "$build/aarch64/$test" || fail "$test failed as $cpu"
    done
    qemu-aarch64 -cpu "$cpu" "$build/aarch64/kernel_hash" > "$build/$cpu.hashes"
done
"$build/native/kernel_hash" > "$build/native.hashes"

! grep -q '^neon_dotprod ' "$build/cortex-a53.hashes" || fail "dot products ran on a CPU that has none"
grep -q '^neon_dotprod ' "$build/max.hashes" || fail "dot products did not run"

# The plain product rounds twice where the others round once.
sort -u "$build"/*.hashes |
    awk '{ print }
         { kind = ($1 == "plain" && $2 == "product") ? "plain product" : $2 }
         kind in seen && seen[kind] != $3 { print "cross: " $1 " differs in " $2; wrong = 1 }
         { seen[kind] = $3 }
         END { exit wrong }' || fail "ISAs differ"
