#!/bin/bash
# The commands of docs/cookbook.md, and what they print: cookbook.sh FERRY LIBFERRY SOURCE_DIR
set -Eeuo pipefail
ferry=$(realpath "$1") FERRY_LIBRARY=$(realpath "$2") SOURCE=$(realpath "$3")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-cookbook.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

unset FERRY_MODEL FERRY_ISA
PATH=$(dirname "$ferry"):$PATH PYTHONPATH=$SOURCE/examples/python XDG_CACHE_HOME=$scratch/cache
export FERRY_LIBRARY SOURCE PATH PYTHONPATH XDG_CACHE_HOME LC_ALL=C.UTF-8
mkdir "$scratch/work"
python3 "$SOURCE/tests/run_page.py" "$SOURCE/docs/cookbook.md" "$scratch/work"
