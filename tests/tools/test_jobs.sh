# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Long jobs: --resume after kill -9, signals and full disks, progress on a terminal, memory.

# The model of all jobs: it is small, and its translations are none.
prepare_model()
{
    export FERRY_MODEL=$PWD/model.gguf
    "$ferry" convert -q "$source_dir/tests/data/models/marian-separate" -o "$FERRY_MODEL" || fail "cannot convert"
}

# prepare_job LINES ARGUMENT…: input in the file in, its translations in the file whole; they took $milliseconds.
prepare_job()
{
    local lines=$1 begin
    shift
    prepare_model
    seq "$lines" | sed 's/.*/Line &, and what comes after it./; s/^.*0,.*$//' > in
    begin=${EPOCHREALTIME/[.,]/}
    expect_success translate -q -i in -o whole "$@"
    milliseconds=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000))
}

# expect_same_after_resume ARGUMENT…: the file part, as it is now, becomes the whole.
expect_same_after_resume()
{
    expect_success translate -q -i in -o part --resume "$@"
    expect_silence
    cmp whole part || fail "a continued output differs from an uninterrupted one"
}

# Each run continues what the ones before left, and is killed, too, until it has come to the end.
test_resume_after_kill()
{
    local options milliseconds moment kills=20 partial=0
    options=(--batch 4 --threads 2 --beam 1 --max-length 8)
    prepare_job 600 "${options[@]}"
    # Under a sanitizer, the same takes much longer.
    if [ "$milliseconds" -gt 1000 ]; then kills=5; fi
    while [ "$kills" -gt 0 ]; do
        moment=$(awk "BEGIN { print 0.001 * $milliseconds * $RANDOM / 32768 }")
        status=0 # --foreground: timeout waits for what it kills, whose lock of the file ends with it
        timeout --foreground --preserve-status --signal KILL "$moment" "$ferry" translate -q -i in -o part --resume "${options[@]}" 2> err || status=$?
        case $status in
        137) kills=$((kills - 1)) ;;
        0)
            cmp whole part || fail "killed and continued: it differs from an uninterrupted one"
            rm part
            ;;
        *) fail "exit status $status: $(cat err)" ;;
        esac
        if [ -s part ] && ! cmp -s whole part; then partial=$((partial + 1)); fi
    done
    [ "$partial" -gt 0 ] || fail "no run was killed in the middle"
    expect_same_after_resume "${options[@]}"
}

# An output that ends anywhere, even within a character, a line or the translations of a line.
test_resume_anywhere()
{
    local size cut format options
    prepare_model
    # More lines than are translated again.
    yes $'Hello, world!\n\nHow are you?\r\nThe cat is here.\nGood evening, my dear.' | head -30 | head -c -1 > in
    yes $'\n\nUnd\nDie Katze\n' | head -30 > beginnings
    for format in '' '--nbest 3' '--json --nbest 2' '--scores --prefixes beginnings'; do
        read -ra options <<< "--beam 3 --max-length 9 $format"
        expect_success translate -q -i in -o whole "${options[@]}"
        size=$(stat -c %s whole)
        for cut in 0 1 $((size / 3)) $((size / 2)) $((size * 4 / 5)) $((size - 1)) "$size"; do
            head -c "$cut" whole > part
            expect_same_after_resume "${options[@]}"
        done
        rm part
        expect_same_after_resume "${options[@]}"
    done
    # As standard input, even through a pipe.
    head -c 70 whole > part
    # shellcheck disable=SC2002
    cat in | "$ferry" translate -q -o part --resume "${options[@]}" || fail "exit status $?"
    cmp whole part || fail "a continued output differs"
}

# What was not made of this input by this model with these options stays as it is.
test_resume_of_something_else()
{
    printf 'Hello, world!\nHow are you?\nThe cat is here.\n' > in
    printf 'Hallo, die Welt!\nWas machst du?\nHalb' > part
    cp part before
    expect_failure "part: cannot be continued: is it of other input, another model or other options? Line 2: expected 'Wie geht es dir?', found 'Was machst du?'" \
        translate -i in -o part --resume
    cmp part before || fail "it was changed"
    expect_failure "part: cannot be continued: is it of other input, another model or other options? Line 1: expected '-" \
        translate -i in -o part --resume --scores
    expect_failure "part: cannot be continued: expected NUMBER ||| …, as of --nbest, found 'Was machst du?'" \
        translate -i in -o part --resume --nbest 2
    head -1 in > short
    expect_failure 'part: cannot be continued: it has the translations of 2 lines, and short has 1 lines' \
        translate -i short -o part --resume
    cmp part before || fail "it was changed"
    expect_usage_error '--resume: expected a file as --output, found standard output' translate -i in --resume
    expect_usage_error '--resume: expected a file as --output, found standard output' translate -i in --resume -o -
    mkfifo pipe
    expect_failure 'pipe: expected a regular file, found a pipe' translate -i in -o pipe --resume
}

# On a disk with room for a part of it, and again on one with room for the whole.
test_resume_after_a_full_disk()
{
    local milliseconds
    prepare_job 400 --max-length 8
    (ulimit -f 1 && run translate -q -i in -o part --batch 8 --threads 1 --max-length 8 && exit "$status") || status=$?
    expect_status 1
    [ "$(stat -c %s part)" -eq 1024 ] || fail "expected a file as large as it may be: $(ls -l part)"
    expect_message 'part: cannot write: File too large, after line '
    # Not more lines than there are.
    [ "$(grep -o '[0-9]* of the input' err | cut -d ' ' -f 1)" -le "$(wc -l < part)" ] || fail "$(cat err)"
    expect_same_after_resume --max-length 8
}

# Signals tell what is done, and how to go on.
test_signals()
{
    local signal seconds
    { echo ' '; echo; head -c 200000 /dev/zero | tr '\0' a; echo; echo 'How are you?'; } > in
    for signal in INT TERM; do
        for seconds in 1 2 4 8 16 32; do
            status=0
            timeout --preserve-status --signal "$signal" "$seconds" \
                "$ferry" translate --max-length 20 -i in -o out 2> err || status=$?
            [ ! -s out ] || break
        done
        [ "$status" -gt 128 ] || fail "exit status $status"
        expect_out ' \n\n'
        expect_message 'stopped after 2 lines; to go on: the same command with --resume'
    done
}

# expect_shown ARGUMENT…: what a terminal shows of standard error is in the file shown, one update on each line.
show()
{
    python3 "$source_dir/tests/tools/on_terminal.py" "$ferry" "$@" > out 2> shown || fail "$(cat shown)"
    tr '\r' '\n' < shown > updates
}

test_progress()
{
    local milliseconds
    prepare_job 1500 --max-length 8
    # It takes long enough for some updates.
    if [ "$milliseconds" -lt 400 ]; then prepare_job $((1500 * 400 / (milliseconds + 1) + 1500)) --max-length 8; fi
    show translate -i in -o part --batch 4 --threads 1 --max-length 8
    cmp whole part || fail "another translation on a terminal"
    grep -qE '^[0-9,]+ lines, [0-9]+ %, [0-9.]+ lines/s(, [0-9:]+ left)?.\[K$' updates || fail "shown: $(cat -v updates)"
    # Warnings are on lines of their own; nothing stays of the progress.
    ! grep -q 'lines/s.*ferry:' updates || fail "shown: $(cat -v updates)"
    [[ $(tail -1 updates) == $'\e[K'@(|ferry:*) ]] || fail "the end of what was shown: $(tail -2 updates | cat -v)"
    # From a pipe.
    # shellcheck disable=SC2002
    cat in | show translate -o part --batch 4 --threads 1 --max-length 8
    grep -qE '^[0-9,]+ lines, [0-9.]+ lines/s.\[K$' updates || fail "shown: $(cat -v updates)"
    # Nothing for those who want nothing, and where standard error is no terminal.
    show translate -q -i in -o part --batch 4 --threads 1 --max-length 8
    [ ! -s shown ] || fail "shown with --quiet: $(cat -v shown)"
    "$ferry" translate -i in -o part --batch 4 --threads 1 --max-length 8 2> err
    ! grep -q lines/s err || fail "progress in a file: $(cat -v err)"
}

# Memory does not grow with the number of lines. docs/performance.md has it for 1,000,000.
test_memory_of_many_lines()
{
    local count peak=()
    prepare_model
    export ASAN_OPTIONS=${ASAN_OPTIONS-}:quarantine_size_mb=1 # it would keep what is released
    for count in 2000 20000; do
        peak+=("$(python3 "$source_dir/tests/tools/peak_memory.py" "$count" \
            "$ferry" translate -q --max-length 2 --threads 1)") || fail "exit status $?"
    done
    [ "${peak[1]}" -le $((peak[0] + 2000)) ] || fail "kB at most, for 2,000 and 20,000 lines: ${peak[*]}"
}
