# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Lines in, lines out.

test_arguments()
{
    run translate 'Hello, world!' '' 'How are you?'
    expect_status 0
    expect_out 'Hallo, die Welt!\n\nWie geht es dir?\n'
    expect_silence
}

test_argument_with_newlines()
{
    run translate $'Hello, world!\nHow are you?\n' --beam 4
    expect_status 0
    expect_out 'Hallo, die Welt!\nWie geht es dir?\n'
}

test_argument_that_looks_like_an_option()
{
    run translate -- --help
    expect_status 0
    expect_lines out 1
    ! grep -q usage out || fail "-- does not end the options"
}

test_standard_input()
{
    run_with 'Hello, world!\nHow are you?\n' translate
    expect_status 0
    expect_out 'Hallo, die Welt!\nWie geht es dir?\n'
    expect_silence
}

test_files()
{
    printf 'Hello, world!\nHow are you?\n' > letter
    run translate -i letter --output=brief
    expect_status 0
    expect_out ''
    mv brief out
    expect_out 'Hallo, die Welt!\nWie geht es dir?\n'
}

test_empty_input()
{
    run_with '' translate
    expect_status 0
    expect_out ''
    expect_silence
}

test_no_newline_at_the_end()
{
    run_with 'How are you?\nHello, world!' translate
    expect_status 0
    expect_out 'Wie geht es dir?\nHallo, die Welt!\n'
}

test_blank_lines()
{
    run_with '\n\nHello, world!\n  \n\n' translate
    expect_status 0
    expect_out '\n\nHallo, die Welt!\n  \n\n'
}

test_carriage_returns()
{
    run_with 'Hello, world!\r\n\r\nHow are you?\n' translate
    expect_status 0
    expect_out 'Hallo, die Welt!\r\n\r\nWie geht es dir?\n'
}

test_nul()
{
    run_with 'How are you?\nHello,\0 world!\n\0\nHow are you?\n' translate
    expect_status 0
    expect_lines out 4
    [ "$(sed -n '1p;4p' out | uniq)" = 'Wie geht es dir?' ] || fail "neighbors of a NUL: $(cat -v out)"
    sed -n 2p out | grep -q Welt || fail "what follows a NUL is lost: $(cat -v out)"
}

test_invalid_utf8()
{
    run_with 'Hello, world!\nHow\377 are you?\nHow \376are you?\n' translate
    expect_status 0
    expect_lines out 3
    expect_message 'line 2: invalid UTF-8'
    iconv -f UTF-8 -t UTF-8 out > /dev/null || fail "the output is not UTF-8"
    run_with 'Hello, world!\nHow\377 are you?\n' translate --quiet
    expect_status 0
    expect_silence
}

test_long_line()
{
    { head -c 3000000 /dev/zero | tr '\0' ' '; echo; yes 'The cat is here.' | head -100 | tr '\n' ' '; echo; echo 'How are you?'; } > in
    run translate --max-length 20 --beam 1 < in
    expect_status 0
    expect_lines out 3
    [ "$(sed -n 1p out | wc -c)" -eq 3000001 ] || fail "a blank line of 3,000,000 bytes does not stay as it is"
    [ "$(sed -n 3p out)" = 'Wie geht es dir?' ] || fail "the line after a long one: $(sed -n 3p out)"
}

# A thousand lines of every kind; every 7th is one whose translation is known.
test_a_thousand_lines()
{
    local i
    for ((i = 0; i < 1000; i++)); do
        case $((i % 7)) in
        0) echo 'How are you?' ;;
        1) echo ;;
        2) printf 'Bro\377ken.\n' ;;
        3) echo "$i" ;;
        4) printf ' \t \r\n' ;;
        5) printf 'A\0b\n' ;;
        6) echo '日本 🙂 ⁇' ;;
        esac
    done > in
    run translate --beam 1 --max-length 12 --threads 2 --batch 16 < in
    expect_status 0
    expect_lines out 1000
    awk '(NR - 1) % 7 == 0 && $0 != "Wie geht es dir?" { print NR ": " $0; bad = 1 } END { exit bad }' out ||
        fail "a line lost its place"
    awk '(NR - 1) % 7 == 1 && $0 != "" { print NR ": " $0; bad = 1 } END { exit bad }' out ||
        fail "an empty line did not stay empty"
    expect_message 'line 3: invalid UTF-8'
}

# The answer to a line comes before the next line is asked.
test_streaming()
{
    local question answer asked=('Hello, world!' 'How are you?') answers=('Hallo, die Welt!' 'Wie geht es dir?') i
    coproc talk { exec "$ferry" translate; }
    for i in 0 1; do
        echo "${asked[i]}" >&"${talk[1]}"
        IFS= read -r -t 60 answer <&"${talk[0]}" || fail "no answer while standard input is open"
        [ "$answer" = "${answers[i]}" ] || fail "found '$answer'"
    done
    # An unfinished line is no line yet.
    question=${talk[1]}
    printf 'How are' >&"$question"
    ! IFS= read -r -t 0.3 answer <&"${talk[0]}" || fail "half a line was answered: '$answer'"
    echo ' you?' >&"$question"
    IFS= read -r -t 60 answer <&"${talk[0]}" || fail "no answer to a line in two pieces"
    [ "$answer" = 'Wie geht es dir?' ] || fail "found '$answer'"
}

test_disk_full()
{
    [ -e /dev/full ] || return 0
    status=0
    "$ferry" translate 'How are you?' > /dev/full 2> err || status=$?
    expect_status 1
    expect_message 'standard output: cannot write: No space left on device'
    run translate -o /dev/full 'How are you?'
    expect_status 1
    expect_message '/dev/full: cannot write: No space left on device'
    status=0
    "$ferry" help > /dev/full 2> err || status=$?
    expect_status 1
}

# The reader of a pipe goes away: no message.
test_closed_pipe()
{
    yes 'How are you?' | "$ferry" translate --beam 1 --batch 1 2> err | head -1 > out
    expect_out 'Wie geht es dir?\n'
    expect_silence
}

test_missing_files()
{
    run translate -i nowhere.txt
    expect_status 1
    expect_message 'nowhere.txt: cannot open: No such file or directory'
    run translate -i .
    expect_status 1
    expect_message '.: cannot read: Is a directory'
    run translate -o no/where.txt 'How are you?'
    expect_status 1
    expect_message 'no/where.txt: cannot open: No such file or directory'
}

test_output_onto_the_input()
{
    echo 'How are you?' > letter
    ln letter brief
    run translate -i letter -o brief
    expect_status 1
    expect_message 'brief: is the input, too'
    [ "$(cat letter)" = 'How are you?' ] || fail "the input was overwritten"
}

# What cannot be translated is an empty line, with a message that names it; the others go on.
test_failed_line()
{
    { echo 'How are you?'; head -c 67200000 /dev/zero | tr '\0' a; echo; echo 'Hello, world!'; } > in
    run translate --beam 4 < in
    rm in
    expect_status 1
    expect_out 'Wie geht es dir?\n\nHallo, die Welt!\n'
    expect_message 'line 2: '
}

# The same when the model cannot translate at all.
test_model_without_tokenizer()
{
    "$ferry" convert --quiet "$positions/none-post" -o ids.gguf || fail "convert"
    run_with 'How are you?\n\nHello.\n' translate -m ids.gguf
    expect_status 1
    expect_out '\n\n\n'
    expect_message 'lines 1 to 3: the model has no tokenizer'
    run translate -m ids.gguf --nbest 2 Hello
    expect_status 1
    expect_out '0 |||  ||| F0= -inf ||| -inf\n'
}
