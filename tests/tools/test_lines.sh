# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Input and output lines.

test_arguments()
{
    expect_success translate 'Hello, world!' '' 'How are you?'
    expect_out 'Hallo, die Welt!\n\nWie geht es dir?\n'
    expect_silence
}

test_argument_with_newlines()
{
    expect_success translate $'Hello, world!\nHow are you?\n' --beam 4
    expect_out 'Hallo, die Welt!\nWie geht es dir?\n'
}

test_argument_that_looks_like_an_option()
{
    expect_success translate -- --help
    expect_lines out 1
    expect_no_match usage
}

test_files()
{
    printf 'Hello, world!\nHow are you?\n' > letter
    expect_success translate -i letter --output=brief
    expect_out ''
    mv brief out
    expect_out 'Hallo, die Welt!\nWie geht es dir?\n'
}

# Without a line feed, a carriage return is white space of the last line.
test_ends_of_lines()
{
    expect_success_with 'How are you?\nHello, world!' translate
    expect_out 'Wie geht es dir?\nHallo, die Welt!\n'
    expect_success_with '\n\nHello, world!\r\n  \n\r\n\nHow are you?\nHello, world!\r' translate
    expect_out '\n\nHallo, die Welt!\r\n  \n\r\n\nWie geht es dir?\nHallo, die Welt!\n'
    expect_success_with 'How are you?\n\n' translate
    expect_out 'Wie geht es dir?\n\n'
    expect_success_with '' translate
    expect_out ''
    expect_silence
}

# Batches of one, two and three lines.
test_line_numbers_of_later_batches()
{
    expect_success_with 'One.\nTwo.\nThree.\nFour.\nFive.\nSix.\n' translate --batch 1 --nbest 1
    [ "$(cut -d ' ' -f 1 out | paste -s -d ' ')" = '0 1 2 3 4 5' ] || fail "numbers: $(cat out)"
    run_with 'One.\nTwo.\nThree.\nFour.\nF\377ive.\nSix.\n' translate --batch 1
    expect_message 'line 5: invalid UTF-8'
}

test_nul()
{
    expect_success_with 'How are you?\nHello,\0 world!\n\0\nHow are you?\n' translate
    expect_lines out 4
    [ "$(sed -n '1p;4p' out | uniq)" = 'Wie geht es dir?' ] || fail "neighbors of a NUL: $(cat -v out)"
    sed -n 2p out | grep -q Welt || fail "what follows a NUL is lost: $(cat -v out)"
}

test_invalid_utf8()
{
    expect_success_with 'Hello, world!\nHow\377 are you?\nHow \376are you?\n' translate
    expect_lines out 3
    expect_message 'line 2: invalid UTF-8' 2
    expect_message 'line 3: invalid UTF-8' 2
    iconv -f UTF-8 -t UTF-8 out > /dev/null || fail "the output is not UTF-8"
    expect_success_with 'Hello, world!\nHow\377 are you?\n' translate --quiet
    expect_silence
}

test_long_line()
{
    {
        head -c 3000000 /dev/zero | tr '\0' ' '
        echo
        yes 'The cat is here.' | head -100 | tr '\n' ' '
        echo
        echo 'How are you?'
    } > in
    expect_success translate --max-length 20 --beam 1 < in
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
    expect_success translate --beam 1 --max-length 12 --threads 2 --batch 16 < in
    expect_lines out 1000
    awk '(NR - 1) % 7 == 0 && $0 != "Wie geht es dir?" { print NR ": " $0; bad = 1 } END { exit bad }' out ||
        fail "a line lost its place"
    awk '(NR - 1) % 7 == 1 && $0 != "" { print NR ": " $0; bad = 1 } END { exit bad }' out ||
        fail "an empty line did not stay empty"
    expect_message 'line 3: invalid UTF-8' 11
    [[ $(tail -1 err) == 'ferry: … and '[0-9]*' more of these warnings' ]] || fail "messages: $(cat err)"
}

# The translation of a line comes before the next line is sent.
test_streaming()
{
    local question answer asked=('Hello, world!' 'How are you?') answers=('Hallo, die Welt!' 'Wie geht es dir?') i
    coproc talk { exec "$ferry" translate; }
    for i in 0 1; do
        echo "${asked[i]}" >&"${talk[1]}"
        IFS= read -r -t 60 answer <&"${talk[0]}" || fail "no answer while standard input is open"
        [ "$answer" = "${answers[i]}" ] || fail "found '$answer'"
    done
    # An incomplete line is not translated.
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
    expect_failure '/dev/full: cannot write: No space left on device' translate -o /dev/full 'How are you?'
    status=0
    "$ferry" help > /dev/full 2> err || status=$?
    expect_status 1
}

# No message when the reader of a pipe exits.
test_closed_pipe()
{
    yes 'How are you?' | "$ferry" translate --beam 1 --batch 1 2> err | head -1 > out
    expect_out 'Wie geht es dir?\n'
    expect_silence
}

test_missing_files()
{
    expect_failure 'nowhere: cannot open: No such file or directory' translate -i nowhere
    expect_failure '.: cannot read: Is a directory' translate -i .
    expect_failure 'no/where.txt: cannot open: No such file or directory' translate -o no/where.txt 'How are you?'
}

# A line with too many source tokens is translated in parts, and says so, unless sentences are split anyway; what is
# between them stays.
test_line_in_parts()
{
    printf 'How are you?\nHello, world! \t How are you?\302\240 Hello, world!\n' > in
    expect_quiet_success translate --max-source 7 < in
    expect_success translate --max-source 7 --split none < in
    expect_out 'Wie geht es dir?\nHallo, die Welt! \t Wie geht es dir?\302\240 Hallo, die Welt!\n'
    expect_message 'line 2: split into 3 parts: 19 source tokens, max_source is 7'
    run translate --max-source 7 --split none --quiet < in
    expect_silence
    expect_success translate --max-source 7 --nbest 2 < in
    expect_lines out 4
    expect_match '^1 \|\|\| Hallo, die Welt! .* Wie geht es dir\?.* Hallo, die Welt! \|\|\| F0= -[0-9.]+ \|\|\| -[0-9.]+$'
}

# A translation that ends at the limit says so.
test_translation_at_the_limit()
{
    expect_success translate --max-length 3 'How are you?'
    expect_message 'line 1: the translation ended at max_length 3'
}

# A line that cannot be translated gives an empty line and a message with its number; the other lines are translated.
test_failed_line()
{
    run_with 'a\n日\na\n' translate --max-source 2 --max-length 4 --quiet
    expect_status 1
    expect_lines out 3
    [ -n "$(sed -n 1p out)" ] && [ -z "$(sed -n 2p out)" ] && [ -n "$(sed -n 3p out)" ] || fail "found: $(cat out)"
    expect_message 'line 2: one character has 3 source tokens, special tokens included; max_source is 2'
}

# However many lines fail, in whatever way, some are named and all are counted.
test_many_failed_lines()
{
    yes '日' | head -1000 > in
    run translate -q --max-source 2 -i in
    expect_status 1
    expect_lines out 1000
    expect_message '… and 990 more lines failed' 11
    run translate -q --max-source 2 --json -i in
    [ "$(grep -c '"error": "one character has 3 source tokens' out)" -eq 1000 ] || fail "found: $(tail -1 out)"
    run translate -q --ids -i in
    expect_message '… and 990 more lines failed' 11
    convert_sample none-post ids.gguf
    run translate -m ids.gguf --batch 1 --threads 1 -i in
    expect_message 'lines 2 to 3: the model has no tokenizer' 11
    awk '{ n += $2 == "line" ? 1 : $2 == "lines" ? $5 - $3 + 1 : $4 } END { exit n != 1000 }' err || fail "$(cat err)"
    yes '<p>word</p>' | head -100 > in
    run translate -q --max-source 1 --format html -i in
    expect_status 1
    expect_message '… and 90 more lines failed' 13
    yes "$(printf 'word %.0s' {1..600})" | head -20 > in
    run score in in
    expect_status 1
    expect_message '… and 10 more lines failed' 11
}

# What is finished when a signal comes is written, up to the first line that is not: here a blank line. A signal before
# or while the lines are read and tokenized would come too early for that.
test_interruption()
{
    local seconds
    { echo ' '; head -c 200000 /dev/zero | tr '\0' a; echo; echo '  '; echo 'How are you?'; } > in
    for seconds in 1 2 4 8 16 32; do
        status=0
        timeout --preserve-status --signal INT "$seconds" "$ferry" translate --max-length 20 < in > out 2> err || status=$?
        [ ! -s out ] || break
    done
    expect_status 130
    expect_out ' \n'
    expect_message 'stopped after 1 line'
}

# The same when the model cannot translate at all.
test_model_without_tokenizer()
{
    convert_sample none-post ids.gguf
    run_with 'How are you?\n\nHello.\n' translate -m ids.gguf
    expect_status 1
    expect_out '\n\n\n'
    expect_message 'lines 1 to 3: the model has no tokenizer'
    run translate -m ids.gguf --nbest 2 Hello
    expect_status 1
    expect_out '0 |||  ||| F0= -inf ||| -inf\n'
}
