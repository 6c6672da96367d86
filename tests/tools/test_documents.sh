# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Documents: --format, what stays and what is translated. tests/documents has the formats' own tests.

# The format by the file's ending, which a message says, by the option, and lines.
test_document_formats()
{
    printf '<p>I like <b>red</b> houses.</p>' > a.HTML
    run translate -i a.HTML
    expect_status 0
    expect_message "a.HTML: translated as html (--format lines: line by line)"
    expect_out '<p>Ich mag <b>rote</b> Häuser.</p>'
    expect_quiet_success translate -q -i a.HTML
    expect_quiet_success translate --format html -i a.HTML
    expect_quiet_success translate --format html '<i>Hello!</i>' '<i>Hello!</i>'
    expect_out '<i>Hallo!</i> <i>Hallo!</i>\n'
    run translate --format lines -i a.HTML
    expect_no_match 'Ich mag <b>rote</b>'
    printf '# Hello!\n' > a
    expect_quiet_success translate --format md -i a
    expect_out '# Hallo!\n'
    run translate --format pdf -i a
    expect_status 2
    expect_message 'lines|text|html|markdown|md|srt|vtt|po|json'
    expect_success_with '' translate --format text
    expect_silence
    expect_out ''
}

# A .txt file is plain text, but lines where an option is about these; files of other structures are refused.
test_document_format_of_lines()
{
    printf 'I have seen many of the old and beautiful\nred houses.\n' > a.txt
    run translate -i a.txt --format lines
    cp out lines
    expect_success translate -i a.txt
    expect_message 'a.txt: translated as text (--format lines: line by line)'
    ! cmp -s lines out || fail 'a .txt file was translated line by line'
    expect_success translate -i a.txt --resume -o b
    expect_message 'a.txt: translated line by line, as --resume is about lines'
    cmp lines b || fail 'with --resume: other lines'
    expect_quiet_success translate -q -i a.txt --resume -o b
    run translate -i a.txt --format text --scores
    expect_status 2
    expect_message '--scores: expected --format lines, found text'
    cp a.txt a.XLIFF
    run translate -i a.XLIFF
    expect_status 2
    expect_message 'a.XLIFF: expected --format lines|text|html|'
    expect_out ''
    expect_success translate -q -i a.XLIFF --format lines
    cmp lines out || fail 'a .xliff file: other lines'
}

# Of what lines lose, one message tells.
test_placeholders_of_lines()
{
    printf 'The house is old.\nThe {name} is old.\nThe {name} is old.\n' > a
    expect_success translate -i a
    expect_match 'Haus'
    grep -qF "line 2: '{name}' was changed (--keep keeps placeholders and addresses)" err || fail "messages: $(cat err)"
    [ "$(grep -c changed err)" = 1 ] || fail "messages: $(cat err)"
    expect_quiet_success translate -q -i a
    expect_quiet_success translate 'I see /usr.'
}

test_document_subtitles()
{
    printf '7\r\n00:00:01,000 --> 00:00:02,000\r\n- I am\r\n<i>tired</i>.\r\n\r\n8\r\n00:00:03,000 --> 00:00:04,000\r\n' > a.srt
    expect_quiet_success translate -q -i a.srt -o b.srt
    cp b.srt out
    expect_out '7\r\n00:00:01,000 --> 00:00:02,000\r\n- Ich bin <i>müde</i>.\r\n\r\n8\r\n00:00:03,000 --> 00:00:04,000\r\n'
}

test_document_text()
{
    run_with 'Dear Tom,\n=========\n\n> I like this house, and I like %%s, and I do not\n> know where it is.\n\n  * Hello!\n' \
        translate --format text
    expect_status 0
    expect_silence
    expect_match '^=========$' '^  \* Hallo!$' '%s' '^> .* .*$'
    expect_lines out 7
    [ "$(wc -L < out)" -le 50 ] || fail "a line is longer than those of the text: $(cat out)"
}

# Words with a translation of their own.
test_document_glossary()
{
    printf '\r\nhouse\tBude\r\nTom' > glossary
    printf 'Where is the house?\n\nI know Tom.\n' > a
    expect_quiet_success translate -q --format text --glossary glossary -i a
    expect_match 'Bude' 'Tom'
}

# What goes with lines alone, and what is no text.
test_document_refusals()
{
    printf '<p>Hello!</p>' > a.html
    local option
    for option in --scores --json '--nbest 2' '--resume -o b' '--alignment hard' '--prefix b' '--prefixes a.html' --ids --sample; do
        # shellcheck disable=SC2086 # two words
        run translate -i a.html $option
        expect_status 2
        expect_message "${option%% *}: expected --format lines, found html"
    done
    [ ! -e b ] || fail "a refused call left a file"
    run translate -q -i a.html -o a.html
    expect_status 1
    expect_message 'a.html'
    run translate --format text -i missing
    expect_status 1
    expect_message 'missing: '
    printf '\37\213\10\0\0\0\0\0\0\0' > a.srt
    run translate -q -i a.srt
    expect_status 1
    expect_message 'gzip'
}

# What cannot be translated stays, and its line is named.
test_document_failures()
{
    printf '1\n0 --> 1\nHello!\n\n2\n1 --> 2\nHello\377!\n' > a.srt
    run translate --force --format srt -i a.srt
    expect_status 1
    expect_message 'line 7: not translated: it is not UTF-8' 2
    grep -qx 'ferry: texts: 1 translated, 0 kept, 1 left in the source language' err || fail "messages: $(cat err)"
    expect_out '1\n0 --> 1\nHallo!\n\n2\n1 --> 2\nHello\377!\n'
    # Of each its own line, in their order.
    printf 'How are you?\n\nHello!\n\nHow\377?\n\nHow are they?\n\n\377a\n' > a
    run translate --force --format text --max-length 3 -i a
    expect_status 1
    [ "$(sed -nE 's/^ferry: line ([0-9]+): not translated: (it|the) .*/\1 \2/p' err)" = $'1 the\n3 the\n5 it\n7 the\n9 it' ] ||
        fail "messages: $(cat err)"
    [ "$(sed -n 's/^ferry: \([0-9] of them: [a-z]* [a-z]*\).*/\1/p' err)" = $'2 of them: it is\n3 of them: the translation' ] ||
        fail "messages: $(cat err)"
}

# What is left has no warnings, and a symbol before a full stop its blank.
test_document_symbols()
{
    run_with 'I have 1234 houses.\n' translate --format text --max-length 3
    expect_status 1
    expect_message 'line 1: not translated: the translation ended at max_length' 2
    expect_success_with 'I am happy \360\237\230\200.\n' translate --format text
    expect_out 'Ich bin glücklich 😀.\n'
}

# Other encodings than UTF-8: UTF-16 is read; in HTML they are refused by their names, and never mixed.
test_document_encodings()
{
    printf '1\n0 --> 1\nHello!\n' | iconv -f UTF-8 -t UTF-16 > a.srt
    expect_quiet_success translate -q -i a.srt
    expect_out '1\n0 --> 1\nHallo!\n'
    printf '1\n0 --> 1\nThe caf\351 is old \226 it is.\n' > a.srt
    expect_success translate -i a.srt --format srt
    expect_message 'a.srt: expected text in UTF-8, found probably Windows-1252; read as that, and written as UTF-8'
    expect_match 'Café'
    iconv -f UTF-8 -t UTF-8 out > b || fail 'not UTF-8'
    expect_quiet_success translate -q -i a.srt
    # Not with what Windows-1252 lacks, with more characters of UTF-8, with fewer letters.
    local bytes
    for bytes in '\351\303\251' '\351\201' '\351 \350'; do
        # shellcheck disable=SC2059 # the escapes are wanted
        printf "1\n0 --> 1\nHello $bytes\n" > a.srt
        run translate -q -i a.srt
        expect_status 1
    done
    printf '<meta charset="ISO-8859-1"><p>gr\351en</p>' > a.html
    run translate -q --force -i a.html
    expect_status 1
    expect_message 'a.html: expected UTF-8, found the declared encoding ISO-8859-1'
    printf '<meta charset="ISO-8859-1"><p>The houses are green.</p>' > a.html
    expect_quiet_success translate -q -i a.html
    expect_out '<meta charset="ISO-8859-1"><p>Die H&#228;user sind gr&#252;n.</p>'
    # A page in UTF-16 that says so: what it declares is read as UTF-8, as browsers do.
    printf '<meta charset="UTF-16"><p>The houses are gr\303\251en.</p>' | iconv -f UTF-8 -t UTF-16 > a.html
    expect_quiet_success translate -q -i a.html
    expect_match '^<meta charset="UTF-16"><p>Die H'
    printf '<html><p>The houses are green.</p>' > a.html
    expect_quiet_success translate -q -i a.html
    expect_out '<html><p>Die H&#228;user sind gr&#252;n.</p>'
    printf '<meta charset="utf-8"><p>The houses are green.</p>' > a.html
    expect_quiet_success translate -q -i a.html
    expect_out '<meta charset="utf-8"><p>Die Häuser sind grün.</p>'
}

long_document()
{
    seq 1 "$1" | sed 's/.*/This is house & in our street.\n/'
}

test_document_progress()
{
    long_document 1500 > a
    python3 "$source_dir/tests/tools/on_terminal.py" "$ferry" translate --format text -i a -o b --max-length 20 2> shown
    tr '\r' '\n' < shown > updates
    grep -qE '^[0-9,]+ texts, [0-9]+ %, [0-9.,]+ texts/s(, [0-9:]+ left)?.\[K$' updates || fail "shown: $(cat -v updates)"
    ! tail -n 1 updates | grep -q texts/s || fail "the end of what was shown: $(tail -n 1 updates | cat -v)"
    expect_lines b 3000
}

# A signal ends the call, and what was there before stays.
test_document_interrupted()
{
    long_document 100000 > a.txt
    echo before > b
    "$ferry" translate -i a.txt -o b 2> err &
    local process=$!
    while ! grep -q 'translated as text' err; do sleep 0.1; done
    sleep 1
    kill -TERM $process
    status=0
    wait $process || status=$?
    expect_status 143
    expect_message 'interrupted: nothing was written' 2
    cp b out
    expect_out 'before\n'
}
