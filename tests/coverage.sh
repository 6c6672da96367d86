#!/bin/bash
# The branches of engine, tokenizer and models that tests take, by folder: coverage.sh BUILD_DIRECTORY
# First without the large golden data, then, where it is, with what the suites that use it take besides. Needs clang and
# llvm.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "$1")
large=${FERRY_SHARED_DATA:-$PWD/../shared}
flags='-fprofile-instr-generate -fcoverage-mapping'

# count DATA CTEST_ARGUMENT…: runs these tests with this data, and prints the table of all that have run
count()
{
    local data=$1
    shift
    cmake -DFERRY_SHARED_DATA="$data" "$build" > /dev/null
    LLVM_PROFILE_FILE=$build/profiles/%2m.profraw ctest --test-dir "$build" -j 2 "$@" > "$build/tests.log" ||
        grep -A 30 'tests FAILED' "$build/tests.log" || true
    llvm-profdata merge -sparse "$build"/profiles/*.profraw -o "$build/profile"
    llvm-cov export -summary-only -instr-profile="$build/profile" "${objects[@]}" > "$build/coverage.json"
    python3 - "$build/coverage.json" "$PWD" << 'END'
import collections, json, os, sys
folders = collections.defaultdict(lambda: [0, 0])
for file in json.load(open(sys.argv[1], encoding="utf-8"))["data"][0]["files"]:
    name = os.path.relpath(file["filename"], sys.argv[2])
    floor = name.split("/")[0]
    if floor not in ("engine", "tokenizer", "models"):
        continue
    for row in {floor, "/".join(os.path.dirname(name).split("/")[:2])}:
        folders[row][0] += file["summary"]["branches"]["covered"]
        folders[row][1] += file["summary"]["branches"]["count"]
for name in sorted(folders):
    covered, total = folders[name]
    print(f"{name:22} {covered:6} of {total:6} branches {100 * covered / total:6.2f} %")
END
}

cmake -S . -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DFERRY_TESTS=ON \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_EXE_LINKER_FLAGS="$flags" -DCMAKE_SHARED_LINKER_FLAGS="$flags" > /dev/null
cmake --build "$build"
objects=("$build/ferry")
for program in "$build"/tests/suite_* "$build"/tests/test_* "$build"/tests/fuzz_replay "$build"/tests/header_only_*; do
    if [ -f "$program" ] && [ -x "$program" ]; then objects+=(-object "$program"); fi
done
rm -rf "$build/profiles"
echo '-- without the large data'
count none
if [ -d "$large" ]; then
    echo '-- with the large data'
    count "$(realpath "$large")" -L '^suite_(api|containers|families|graph|plan)$'
fi
