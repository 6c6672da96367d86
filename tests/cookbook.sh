#!/bin/bash
# The commands of docs/cookbook.md and docs/python.md, and what they print: cookbook.sh FERRY PACKAGES SOURCE_DIR
# PACKAGES: where the package of Python is.
set -Eeuo pipefail
ferry=$(realpath "$1") PYTHONPATH=$(realpath "$2") SOURCE=$(realpath "$3")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-cookbook.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

unset FERRY_MODEL FERRY_ISA
PATH=$(dirname "$ferry"):$PATH XDG_CACHE_HOME=$scratch/cache
export SOURCE PATH PYTHONPATH XDG_CACHE_HOME LC_ALL=C.UTF-8
for page in cookbook python; do
    mkdir "$scratch/$page"
    python3 "$SOURCE/tests/run_page.py" "$SOURCE/docs/$page.md" "$scratch/$page"
done
