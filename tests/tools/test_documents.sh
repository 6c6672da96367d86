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
    expect_out '<i>Hallo!</i>\n<i>Hallo!</i>\n'
    run translate --format lines -i a.HTML
    expect_no_match 'Ich mag <b>rote</b>'
    printf 'Hello!\n\n1\n' > a.txt # as ever
    expect_quiet_success translate -i a.txt
    run translate --format pdf -i a.txt
    expect_status 2
    expect_message 'lines|text|html|markdown|srt|vtt|po'
    expect_success_with '' translate --format text
    expect_silence
    expect_out ''
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

# What goes with lines alone, and what is no text.
test_document_refusals()
{
    printf '<p>Hello!</p>' > a.html
    local option
    for option in --scores --json '--nbest 2' '--resume -o b' '--alignment hard' '--prefix b' '--prefixes a.html' --ids; do
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
    expect_message 'line 7: not translated: it is not UTF-8'
    expect_out '1\n0 --> 1\nHallo!\n\n2\n1 --> 2\nHello\377!\n'
    # Of each its own line, whatever the order.
    printf 'How are you?\n\nHello!\n\nHow\377?\n\nHow are they?\n\n\377a\n' > a
    run translate --force --format text --max-length 3 -i a
    expect_status 1
    [ "$(sed -E 's/^ferry: (line [0-9]+): (not|the translation) .*/\1 \2/' err)" = $'line 5 not\nline 9 not\nline 1 the translation\nline 3 the translation\nline 7 the translation' ] ||
        fail "messages: $(cat err)"
}

# Other encodings than UTF-8: UTF-16 is read; in HTML they are refused by their names, and never mixed.
test_document_encodings()
{
    printf '1\n0 --> 1\nHello!\n' | iconv -f UTF-8 -t UTF-16 > a.srt
    expect_quiet_success translate -q -i a.srt
    expect_out '1\n0 --> 1\nHallo!\n'
    printf '<meta charset="ISO-8859-1"><p>gr\351en</p>' > a.html
    run translate -q --force -i a.html
    expect_status 1
    expect_message 'a.html: expected UTF-8, found the declared encoding ISO-8859-1'
    printf '<meta charset="ISO-8859-1"><p>The houses are green.</p>' > a.html
    expect_quiet_success translate -q -i a.html
    expect_out '<meta charset="ISO-8859-1"><p>Die H&#228;user sind gr&#252;n.</p>'
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
    python3 "$source_dir/tests/tools/on_terminal.py" "$ferry" translate --format text -i a -o b --max-length 8 2> shown
    tr '\r' '\n' < shown > updates
    grep -qE '^[0-9,]+ sentences, [0-9]+ %, [0-9.,]+ sentences/s(, [0-9:]+ left)?.\[K$' updates || fail "shown: $(cat -v updates)"
    ! tail -n 1 updates | grep -q sentences/s || fail "the end of what was shown: $(tail -n 1 updates | cat -v)"
    expect_lines b 3000
}

# A signal ends the call, and what was there before stays.
test_document_interrupted()
{
    (printf '\377a\n\n' && long_document 100000) > a # the message about the first line shows that it begins
    echo before > b
    "$ferry" translate --force --format text -i a -o b 2> err &
    local process=$!
    while ! grep -q 'not UTF-8' err; do sleep 0.1; done
    sleep 0.5
    kill -TERM $process
    status=0
    wait $process || status=$?
    expect_status 143
    expect_message 'interrupted: nothing was written' 2
    cp b out
    expect_out 'before\n'
}
