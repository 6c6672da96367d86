# shellcheck shell=bash
# What .ci/run and .ci/full share: steps that print their wall-clock and processor time. Sourced from the root of the tree.

trap 'echo "$0: FAILED at line $LINENO after ${SECONDS} s" >&2' ERR
mkdir -p build-ci
step_name='' step_begin=0 step_processor=0

# Sets processor: the seconds that all commands so far took of the processors.
read_processor()
{
    times > build-ci/times
    processor=$(awk -F '[ms ]+' 'NR == 2 { printf "%.0f", 60 * ($1 + $3) + $2 + $4 }' build-ci/times)
}

# step NAME: ends the step before it, and begins this one.
step()
{
    local processor
    read_processor
    [ -z "$step_name" ] ||
        printf '== %s: %d s, %d s of the processors\n' "$step_name" $((SECONDS - step_begin)) $((processor - step_processor))
    step_name=$1 step_begin=$SECONDS step_processor=$processor
    echo
    echo "== $1 [${SECONDS} s]"
}

# Ends the last step.
finish()
{
    local processor
    step 'Summary'
    read_processor
    printf '%s: everything passed in %d s, %.1f processor minutes\n' "$0" $SECONDS "$((processor * 10 / 60))e-1"
}

# configure DIRECTORY OPTION…
configure()
{
    local directory=$1
    shift
    cmake -S . -B "$directory" -G Ninja -DFERRY_TESTS=ON -DFERRY_WERROR=ON "$@" > /dev/null
}

# shellcheck disable=SC2034,SC2054 # for those who source this; the comma is CMake's
address=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DFERRY_SANITIZE=address,undefined)
# gcc's thread sanitizer takes 15 times as long.
# shellcheck disable=SC2034
thread=(-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DFERRY_SANITIZE=thread)

# What .ci/run tests with these sanitizers: what reads foreign bytes, the C API, and the kernels.
sanitized=(suite_base suite_tokenizer suite_kernels suite_file suite_api suite_containers suite_plan suite_families
    suite_documents suite_documents_api fuzz_replay)
# The same as a pattern of ctest's labels.
# shellcheck disable=SC2034
sanitized_labels="^($(IFS='|' && echo "${sanitized[*]}"))\$"

# large_tests BUILD: those that have a twin on small data (…_small), which suffices with sanitizers, as a pattern
large_tests()
{
    echo "^($(ctest --test-dir "$1" -N | sed -n 's/^ *Test *#[0-9]*: \(.*\)_small$/\1/p' | paste -sd '|'))\$"
}
