# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# PO files: what is filled, and what stays. tests/documents/check_po.py lets gettext's programs read whole catalogs.

header='msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\n'

# expect_po SOURCE EXPECTED (printf's escapes): entries behind a header
expect_po()
{
    expect_success_with "$header$1" translate --format po
    expect_silence
    expect_out "$header$2"
}

test_po_entries()
{
    expect_po 'msgid "Hello!"\nmsgstr ""\n' '#, fuzzy\nmsgid "Hello!"\nmsgstr "Hallo!"\n'
    expect_po '# a\n#: b\n#, c-format\nmsgctxt "c"\nmsgid "Hello!\\n"\nmsgstr ""\n' \
        '# a\n#: b\n#, fuzzy, c-format\nmsgctxt "c"\nmsgid "Hello!\\n"\nmsgstr "Hallo!\\n"\n'
    expect_po '#, fuzzy\nmsgid ""\n" Hel"\n"lo!"\nmsgstr ""\n' '#, fuzzy\nmsgid ""\n" Hel"\n"lo!"\nmsgstr ""\n" Hallo!"\n'
    expect_po '#| msgid "Hi"\nmsgid "Hello!"\nmsgstr ""' '#, fuzzy\n#| msgid "Hi"\nmsgid "Hello!"\nmsgstr "Hallo!"'
    expect_po '#, fuzzy\n#~ msgid "Hi"\n#~ msgstr ""\nmsgid "Hello!"\nmsgstr ""\n' \
        '#, fuzzy\n#~ msgid "Hi"\n#~ msgstr ""\n#, fuzzy\nmsgid "Hello!"\nmsgstr "Hallo!"\n'
    # They stay: translated, obsolete, without letters, not understood.
    local entry
    for entry in 'msgid "Hello!"\nmsgstr "Guten Tag!"\n' '#~ msgid "Hello!"\n#~ msgstr ""\n' 'msgid "%%s: %%d"\nmsgstr ""\n' \
        'msgid "Hello!\nmsgstr ""\n' 'msgid "Hello!"\nmsgstr[0] ""\n' 'msgid "Hello!"\n? "a"\nmsgstr ""\n' 'msgid "Hello!"\n' \
        'msgid "a"\nmsgid_plural "Hello!"\nmsgstr[0] "x"\nmsgstr[1] ""\n'; do
        expect_po "$entry" "$entry"
    done
}

test_po_plurals()
{
    expect_po 'msgid "Hello!"\nmsgid_plural "How are you?"\nmsgstr[0] ""\nmsgstr[1] ""\n' \
        '#, fuzzy\nmsgid "Hello!"\nmsgid_plural "How are you?"\nmsgstr[0] "Hallo!"\nmsgstr[1] "Wie geht es dir?"\n'
    expect_po 'msgid "Hello!"\nmsgid_plural "How are you?"\nmsgstr[0] ""\n' \
        '#, fuzzy\nmsgid "Hello!"\nmsgid_plural "How are you?"\nmsgstr[0] "Wie geht es dir?"\n'
}

test_po_texts()
{
    expect_po 'msgid "_Hello!"\nmsgstr ""\n\nmsgid "How are &you?"\nmsgstr ""\n' \
        '#, fuzzy\nmsgid "_Hello!"\nmsgstr "Hallo!"\n\n#, fuzzy\nmsgid "How are &you?"\nmsgstr "Wie geht es dir?"\n'
    expect_po 'msgid "I like <b a=\\"b\\">red</b> houses."\nmsgstr ""\n' \
        '#, fuzzy\nmsgid "I like <b a=\\"b\\">red</b> houses."\nmsgstr "Ich mag <b a=\\"b\\">rote</b> Häuser."\n'
    expect_po 'msgid "Hello!\\n\\tHow are you?\\n"\nmsgstr ""\n' \
        '#, fuzzy\nmsgid "Hello!\\n\\tHow are you?\\n"\nmsgstr "Hallo!\\n\\tWie geht es dir?\\n"\n'
    expect_success_with "${header}msgid \"I like the %%s in the \\\\\"big\\\\\" house of {name} &amp; %%d.\"\nmsgstr \"\"\n" \
        translate --format po
    [ "$(grep -c '%s.*%d' out)" -eq 2 ] || fail "placeholders: $(cat out)"
    expect_no_match '^msgstr ".*[^\]".'
}

# Lines end as those of the file.
test_po_line_ends()
{
    run_with 'msgid "Hello!"\r\nmsgstr ""\r\n' translate --format po
    expect_status 0
    expect_out '#, fuzzy\r\nmsgid "Hello!"\r\nmsgstr "Hallo!"\r\n'
}

test_po_charset()
{
    run_with 'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n' translate --format po
    expect_status 1
    expect_message 'charset in the header: expected UTF-8, found ISO-8859-1 (msgconv -t UTF-8 converts)'
    expect_out ''
}

test_po_by_name()
{
    printf 'msgid "Hello!"\nmsgstr ""\n' > a.pot
    expect_success translate -i a.pot
    expect_message 'a.pot: translated as po (--format lines: line by line)'
    expect_match '^msgstr "Hallo!"$'
}
