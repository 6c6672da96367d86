#!/bin/bash
# Tests of the program as a user meets it: run.sh FERRY SOURCE_DIR [NAME…]
# FERRY is the program, SOURCE_DIR the tree with the shipped model and the test data, NAME a test (test_languages) or a
# file of them (test_languages.sh); default: all.
# shellcheck disable=SC2034 # the tests use the variables
set -uo pipefail
if [ $# -lt 2 ]; then
    echo "usage: run.sh FERRY SOURCE_DIR [NAME…]" >&2
    exit 2
fi
ferry=$(realpath "$1")
source_dir=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
shift 2

shipped=$source_dir/models/pretrained/tatoeba-en-de.gguf
positions=$source_dir/tests/data/positions
export FERRY_MODEL=$shipped
unset FERRY_ISA

# shellcheck source=tests/tools/helpers.sh
. "$here/helpers.sh"
case ${1:-} in
*.sh) # by itself: ctest runs the files side by side
    files=("${@/#/$here/}")
    set --
    ;;
*) files=("$here"/test_*.sh) ;;
esac
for file in "${files[@]}"; do
    # shellcheck source=/dev/null
    . "$file" || exit 2
done

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-cli.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

tests=$*
[ -n "$tests" ] || tests=$(declare -F | sed -n 's/^declare -f \(test_\)/\1/p')
[ -n "$tests" ] || { echo "no tests in ${files[*]}"; exit 2; }
failed=0
for name in $tests; do
    mkdir "$scratch/$name"
    if (cd "$scratch/$name" && export XDG_CACHE_HOME=$PWD/cache && "$name") > "$scratch/log" 2>&1; then
        echo "ok   $name"
        sed -n 's/^not run/     &/p' "$scratch/log"
    else
        echo "FAIL $name"
        sed 's/^/     /' "$scratch/log"
        failed=$((failed + 1))
    fi
done
[ "$failed" -eq 0 ] || echo "$failed failed"
[ "$failed" -eq 0 ]
