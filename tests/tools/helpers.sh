# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of run.sh
# A test is a function test_NAME that runs in a folder of its own and ends with `fail`, or is done. `run` leaves the exit
# status in $status and the two outputs in the files out and err.

fail()
{
    echo "$*"
    exit 1
}

run()
{
    status=0
    "$ferry" "$@" > out 2> err || status=$?
}

# run_with TEXT ARGUMENT…: TEXT, with printf's escapes, on standard input.
run_with()
{
    local input=$1
    shift
    # shellcheck disable=SC2059 # the escapes are wanted
    printf "$input" > in
    run "$@" < in
}

expect_status()
{
    [ "$status" -eq "$1" ] || fail "exit status: expected $1, found $status; messages: $(cat err)"
}

# The file `out`, exactly: printf's escapes.
expect_out()
{
    # shellcheck disable=SC2059
    printf -- "$1" > expected
    cmp -s expected out || fail "output: expected$(echo; od -c expected | head -20)$(echo; echo found; od -c out | head -20)"
}

expect_silence()
{
    [ ! -s err ] || fail "messages: expected none, found: $(cat err)"
}

# A message that holds TEXT, and exactly as many as are named.
expect_message()
{
    local text=$1 count=${2:-1}
    grep -qF -- "$text" err || fail "messages: expected '$text', found: $(cat err)"
    [ "$(wc -l < err)" -eq "$count" ] || fail "messages: expected $count lines, found: $(cat err)"
    ! grep -v '^ferry: ' err || fail "a message does not say whose it is"
}

expect_lines()
{
    [ "$(wc -l < "$1")" -eq "$2" ] || fail "$1: expected $2 lines, found $(wc -l < "$1")"
}

# expect_usage_error TEXT ARGUMENT…
expect_usage_error()
{
    local text=$1
    shift
    run "$@" < /dev/null
    expect_status 2
    expect_message "$text"
    [ ! -s out ] || fail "output in spite of wrong usage: $(cat out)"
}
