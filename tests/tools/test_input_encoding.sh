# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Encodings of the input: byte-order marks, UTF-16, other encodings, what is no text.

test_byte_order_marks()
{
    local encoding
    printf 'Hello, world!\r\n\nHow are you?' > text
    for encoding in UTF-8 UTF-16LE UTF-16BE; do
        printf '\357\273\277' | cat - text | iconv -f UTF-8 -t "$encoding" > in
        expect_quiet_success translate -i in
        expect_out 'Hallo, die Welt!\r\n\nWie geht es dir?\n'
        expect_success translate < in
        expect_out 'Hallo, die Welt!\r\n\nWie geht es dir?\n'
    done
    # The mark does not count as text: nothing but it is no line.
    printf '\357\273\277' > in
    expect_quiet_success translate -i in
    expect_out ''
}

# All of Unicode in 2 MB that come in pieces of any size, where the translation is the line itself: blank lines, and
# lines that cannot be translated and are in --json. iconv made the UTF-16.
test_all_of_unicode()
{
    local encoding
    python3 - > text << 'EOF'
import sys
characters = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000 and c not in (10, 13)]
lines = ["".join(characters[i:i + 700]) for i in range(0, len(characters), 700)]
sys.stdout.buffer.write(("Text\n" + "\n".join(lines) + "\n").encode())
EOF
    convert_sample none-post ids.gguf # without a tokenizer
    run translate -m ids.gguf --json -i text -o from-utf8
    for encoding in UTF-16LE UTF-16BE; do
        printf '\357\273\277' | cat - text | iconv -f UTF-8 -t "$encoding" > in
        python3 -c 'import os, sys
data, size = open("in", "rb").read(), 1
while data:
    os.write(1, data[:size])
    data, size = data[size:], size % 4001 + 997' | "$ferry" translate -m ids.gguf --json -o from-utf16 2> err
        cmp from-utf8 from-utf16 || fail "$encoding: other lines than of UTF-8: $(head -3 err)"
    done
    expect_lines from-utf16 "$(wc -l < text)"
}

# A surrogate without its partner, half a unit at the end.
test_broken_utf16()
{
    printf '\377\376H\0o\0w\0\0\330 \0a\0r\0e\0 \0y\0o\0u\0?\0\n\0\0\334' > in
    run translate -i in
    expect_status 0
    expect_lines out 2
    expect_message 'line 1: invalid UTF-8 was read as U+FFFD' 2
    expect_message 'line 2: invalid UTF-8 was read as U+FFFD' 2
    printf '\377\376H\0i\0\n\0H\0i\0x' > in
    run translate -i in
    expect_status 0
    expect_lines out 2
    expect_message 'in: UTF-16 that ends within a character: a byte is missing' 2
    # A pair behind a half of one; a pair, and a half, that are the last character.
    printf '\377\376\0\330\075\330\102\336\n\0\075\330\102\336' > in
    expect_quiet_success translate --json -i in --max-length 2 -q
    expect_match '"source": "\\ufffd🙂"' '"source": "🙂"'
    printf '\376\377\0a\330\0' > in
    expect_quiet_success translate --json -i in --max-length 2 -q
    expect_match '"source": "a\\ufffd"'
}

# expect_no_text FILE WHAT: it is refused as WHAT, as a file and from a pipe, and the output stays as it is; with --force
# it is translated.
expect_no_text()
{
    echo old > kept
    expect_failure "$1: expected text in UTF-8, found $2; --force reads it as UTF-8 nevertheless" translate -i "$1" -o kept
    [ "$(cat kept)" = old ] || fail "the output was emptied"
    status=0
    # shellcheck disable=SC2002
    cat "$1" | "$ferry" translate > out 2> err || status=$?
    expect_status 1
    expect_out ''
    expect_message "standard input: expected text in UTF-8, found $2; --force reads it as UTF-8 nevertheless"
}

test_no_text()
{
    local encoding
    printf 'Hello, world!\nHow are you?\n' > text
    export FERRY_MODEL=$PWD/small.gguf # which opens faster
    "$ferry" convert -q "$source_dir/tests/data/models/marian-separate" -o "$FERRY_MODEL" || fail "cannot convert"
    gzip -k text
    python3 - << 'EOF'
import bz2, lzma, os, random, sqlite3, tarfile, zipfile
text = b"How are you?\n" * 20
open("text.bz2", "wb").write(bz2.compress(text))
open("text.xz", "wb").write(lzma.compress(text))
zipfile.ZipFile("text.docx", "w").writestr("text", text)
with tarfile.open("text.tar", "w") as archive:
    archive.add("text")
sqlite3.connect("text.db").execute("create table t (t)").connection.commit()
open("text.pdf", "wb").write(b"%PDF-1.5\n" + text)
open("text.png", "wb").write(b"\x89PNG\r\n\x1a\n" + bytes(9))
open("noise", "wb").write(random.Random(1).randbytes(5000))
EOF
    expect_no_text text.gz 'a gzip file'
    expect_no_text text.bz2 'a bzip2 file'
    expect_no_text text.xz 'an xz file'
    expect_no_text text.docx 'a zip file, as those of Word, Excel, OpenDocument and EPUB are'
    expect_no_text text.tar 'a tar archive'
    expect_no_text text.db 'an SQLite database'
    expect_no_text text.pdf 'a PDF file'
    expect_no_text text.png 'a PNG picture'
    expect_no_text noise 'binary data'
    cp "$shipped" model
    expect_no_text model 'a model file (GGUF)'
    cp "$ferry" program
    expect_no_text program 'an ELF program'
    for encoding in LE:little-endian BE:big-endian; do
        iconv -f UTF-8 -t "UTF-16${encoding%:*}" text > wide
        expect_no_text wide "UTF-16 (${encoding#*:}) without a byte-order mark"
        iconv -f UTF-8 -t "UTF-32${encoding%:*}" text > wide
        expect_no_text wide "UTF-32 (${encoding#*:})"
        printf '\357\273\277' | cat - text | iconv -f UTF-8 -t "UTF-32${encoding%:*}" > wide
        expect_no_text wide "UTF-32 (${encoding#*:})"
    done
    run translate --force -i wide --max-length 4 -q
    expect_lines out 2
    # In other commands, there is nothing to insist on.
    run bench translate -i text.gz
    expect_status 1
    expect_message 'text.gz: expected text in UTF-8, found a gzip file'
    ! grep -q force err || fail "found: $(cat err)"
}

# What else a file may be by its first bytes; three control characters among 59 bytes are too many, not among 60.
test_first_bytes()
{
    local bytes name rest characters
    export FERRY_MODEL=$PWD/small.gguf
    "$ferry" convert -q "$source_dir/tests/data/models/marian-separate" -o "$FERRY_MODEL" || fail "cannot convert"
    characters=$(printf 'a%.0s' {1..56})
    while read -r bytes name; do
        # shellcheck disable=SC2059
        printf "$bytes and more" > in
        expect_failure "in: expected text in UTF-8, found $name; --force" translate -i in
    done << 'END'
\050\265\057\375 a zstd file
7z\274\257\047\034 a 7z archive
Rar!\032\007 a rar archive
\320\317\021\340\241\261\032\341 a file of an old Word, Excel or PowerPoint
\377\330\377 a JPEG picture
GIF87a a GIF picture
GIF89a a GIF picture
MZ\220\0 a Windows program
\001\002\003 binary data
\016\032\037 binary data
END
    for rest in "\\001\\007\\016$characters:1" "\\001\\007\\016a$characters:0" '\001\007abc:0' \
        'a\b\b\bb\v\v\v\f\f\f\r\r\r\033\033\033:0'; do
        # shellcheck disable=SC2059
        printf "${rest%:*}" > in
        run translate -q --max-length 2 -i in
        expect_status "${rest#*:}"
    done
    # Two characters that are no UTF-8 are errors in a text of UTF-8; three may be another encoding.
    for rest in '\351 \350:' '\351 \350 \340:ISO' '\351 \350 \340 é à è:ISO' '\351 \350 \340 é à è ç:' '\351 \350 \340 \311:an encoding'; do
        # shellcheck disable=SC2059
        printf "${rest%:*} azAZ azAZ azAZ\n" > in
        run translate --max-length 2 -i in
        [ "$(sed -nE 's/.* found probably (ISO|an encoding).*/\1/p' err)" = "${rest##*:}" ] || fail "$rest: $(cat err)"
    done
}

# One warning for the file instead of one for each line.
test_other_encodings()
{
    local i
    for i in 1 2 3 4 5; do echo 'Frau Müller mag die Crème brûlée im Café très bien'; done > text
    iconv -f UTF-8 -t ISO-8859-1 text > in
    expect_success translate -i in --max-length 40
    expect_lines out 5
    expect_message 'in: expected text in UTF-8, found probably ISO-8859-1 or Windows-1252; each of its characters that is not ASCII is lost (iconv -f ENCODING -t UTF-8 converts it)'
    printf 'GRO\xdfE H\xc4USER, SCH\xd6NE G\xc4RTEN\n' > capitals
    expect_success translate -i capitals --max-length 40
    grep -qF 'capitals: expected text in UTF-8, found probably ISO-8859-1 or Windows-1252;' err || fail "found: $(cat err)"
    for i in 1 2 3 4 5; do echo 'Он сказал, что придёт завтра вечером'; done > text
    for i in WINDOWS-1251 KOI8-R; do
        iconv -f UTF-8 -t "$i" text > in
        expect_success translate --max-length 60 < in
        grep -qF 'standard input: expected text in UTF-8, found probably an encoding such as Windows-1251, KOI8-R' err ||
            fail "found: $(cat err)"
    done
    expect_success translate -q -i in --max-length 4
    expect_silence
    expect_success translate -i text --max-length 4
    ! grep -q 'expected text' err || fail "found: $(cat err)"
}

# What occurs in text: colors, overstriking, a few NUL and other control characters.
test_text_with_control_characters()
{
    printf 'How are you?\n\033[1mHow\033[0m are you?\nH\bHo\bow\bw are you?\nHow\fare\vyou?\032\nHow are\0 you?\n\n' > in
    expect_success translate -i in --max-length 20
    expect_lines out 6
    ! grep -q 'expected text' err || fail "found: $(cat err)"
}
