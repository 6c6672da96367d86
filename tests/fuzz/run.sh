#!/bin/bash
# Runs one fuzz target from its seeds, with its dictionary, for so many seconds: tests/fuzz/run.sh SECONDS TARGET
# What it finds lies in build-ci/found.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1 target=$2
name=$(basename "$target")
found=build-ci/found/$name
mkdir -p "$found"
if ! "$target" -seed=1 -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found-" \
    -dict="tests/fuzz/$name.dict" "$found" "tests/data/corpus/$name" > "$found.log" 2>&1; then
    tail -n 60 "$found.log"
    echo "$name: FAILED"
    exit 1
fi
echo "$name: $(tail -n 1 "$found.log")"
