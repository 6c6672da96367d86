# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of run.sh
# A test is a function test_NAME that runs in a folder of its own; it calls `fail` to report a failure. `run` leaves the
# exit status in $status and the two outputs in the files out and err.

fail()
{
    echo "$*"
    exit 1
}

# golden_folders NAME: the small golden set of this name, and the large one where there is any.
golden_folders()
{
    echo "$source_dir/tests/data/$1"
    [ ! -e "${FERRY_SHARED_DATA:-}/$1" ] || echo "$FERRY_SHARED_DATA/$1"
}

run()
{
    status=0
    "$ferry" "$@" > out 2> err || status=$?
}

# run_with TEXT ARGUMENT…: with TEXT (printf's escapes) as standard input.
run_with()
{
    local input=$1
    shift
    # shellcheck disable=SC2059 # the escapes are wanted
    printf -- "$input" > in
    run "$@" < in
}

expect_status()
{
    [ "$status" -eq "$1" ] || fail "exit status: expected $1, found $status; messages: $(cat err)"
}

# The exact contents of the file `out`, with printf's escapes.
expect_out()
{
    # shellcheck disable=SC2059
    printf -- "$1" > expected
    cmp -s expected out ||
        fail "output: expected$(echo; od -c expected | head -20)$(echo; echo found; od -c out | head -20)"
}

expect_silence()
{
    [ ! -s err ] || fail "messages: expected none, found: $(cat err)"
}

# expect_message TEXT [COUNT]: a message that contains TEXT, and exactly COUNT messages (default: 1).
expect_message()
{
    local text=$1 count=${2:-1}
    grep -qF -- "$text" err || fail "messages: expected '$text', found: $(cat err)"
    [ "$(wc -l < err)" -eq "$count" ] || fail "messages: expected $count lines, found: $(cat err)"
    ! grep -v '^ferry: ' err || fail "a message does not begin with the name of the program"
}

# expect_match PATTERN…: the file `out` has a line for each of the extended regular expressions.
expect_match()
{
    local pattern
    for pattern in "$@"; do
        grep -qE -- "$pattern" out || fail "output: expected a line like '$pattern', found: $(cat out)"
    done
}

# No line of `out` matches PATTERN.
expect_no_match()
{
    ! grep -qE -- "$1" out || fail "output: expected no line like '$1', found: $(cat out)"
}

expect_lines()
{
    [ "$(wc -l < "$1")" -eq "$2" ] || fail "$1: expected $2 lines, found $(wc -l < "$1")"
}

# expect_success ARGUMENT…: exit status 0.
expect_success()
{
    run "$@"
    expect_status 0
}

# The same, with TEXT (printf's escapes) as standard input: expect_success_with TEXT ARGUMENT…
expect_success_with()
{
    run_with "$@"
    expect_status 0
}

# The same as expect_success, and no messages.
expect_quiet_success()
{
    expect_success "$@"
    expect_silence
}

# expect_failure TEXT ARGUMENT…: exit status 1, and exactly one message, which contains TEXT.
expect_failure()
{
    local text=$1
    shift
    run "$@"
    expect_status 1
    expect_message "$text"
}

# expect_usage_error TEXT ARGUMENT…: exit status 2, exactly one message, which contains TEXT, and no output.
expect_usage_error()
{
    local text=$1
    shift
    run "$@" < /dev/null
    expect_status 2
    expect_message "$text"
    [ ! -s out ] || fail "output despite wrong usage: $(cat out)"
}

# convert_sample NAME OUTPUT: a model of tests/data/positions as a model file.
convert_sample()
{
    "$ferry" convert --quiet "$positions/$1" -o "$2" || fail "cannot convert $1"
}
