#!/bin/sh
# Installs what is missing, builds, and runs the tests. Arguments go to ctest.
# Tests without their data are skipped and listed at the end; with CI=true they fail.
set -eu
cd "$(dirname "$0")/.."

tools/setup.sh test
cmake -S . -B build -G Ninja -DFERRY_TESTS=ON
cmake --build build
ctest --test-dir build --output-on-failure -j 2 "$@"
grep -h ': not run, ' build/Testing/Temporary/LastTest.log || true
