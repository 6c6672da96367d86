# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# PO files: in the program. (tests/data/documents/po.cases: what is filled, and what stays; check_po.py: gettext's programs read it.)

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
    expect_po '#, c-format\nmsgctxt "c"\nmsgid "Hello!\\n"\nmsgid_plural "How are you?"\nmsgstr[0] ""\nmsgstr[1] ""\n' \
        '#, fuzzy, c-format\nmsgctxt "c"\nmsgid "Hello!\\n"\nmsgid_plural "How are you?"\nmsgstr[0] "Hallo!\\n"\nmsgstr[1] "Wie geht es dir?"\n'
    expect_po '#, fuzzy\nmsgid ""\n" Hel"\n"lo!"\nmsgstr ""\n' '#, fuzzy\nmsgid ""\n" Hel"\n"lo!"\nmsgstr ""\n" Hallo!"\n'
}

test_po_texts()
{
    expect_po 'msgid "_Hello!"\nmsgstr ""\n\nmsgid "How are &you?"\nmsgstr ""\n' \
        '#, fuzzy\nmsgid "_Hello!"\nmsgstr "Hallo!"\n\n#, fuzzy\nmsgid "How are &you?"\nmsgstr "Wie geht es dir?"\n'
    expect_po 'msgid "I like <b a=\\"b\\">red</b> houses."\nmsgstr ""\n' \
        '#, fuzzy\nmsgid "I like <b a=\\"b\\">red</b> houses."\nmsgstr "Ich mag <b a=\\"b\\">rote</b> Häuser."\n'
    expect_po 'msgid "Hello!\\n\\tHow are you?\\n"\nmsgstr ""\n' \
        '#, fuzzy\nmsgid "Hello!\\n\\tHow are you?\\n"\nmsgstr "Hallo!\\n\\tWie geht es dir?\\n"\n'
    expect_success_with "${header}msgid \"I like the %%s in the \\\\\"big\\\\\" house of {name} and %%d.\"\nmsgstr \"\"\n" \
        translate --format po
    [ "$(grep -c '%s.*%d' out)" -eq 2 ] || fail "placeholders: $(cat out)"
    expect_no_match '^msgstr ".*[^\]".'
}

test_po_by_name()
{
    printf 'msgid "Hello!"\nmsgstr ""\n' > a.pot
    expect_success translate -i a.pot
    expect_message 'a.pot: translated as po (--format lines: line by line)'
    expect_match '^msgstr "Hallo!"$'
}
