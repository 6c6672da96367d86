# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# --glossary and --keep.

# Lines have what documents have; comments, blank lines and white space do not count.
test_glossary_of_lines()
{
    printf '# words\r\n\nlandlord \t Vermieter | Vermieters\r\nFerry\n#Tom\tX' > terms.tsv
    printf 'My landlord is old.\nI like Ferry.\n\nTom sleeps.\n' > letter
    expect_quiet_success translate -q --glossary terms.tsv -i letter
    expect_lines out 4
    expect_match 'Vermieter' 'Ferry' '^Tom'
    iconv -f UTF-8 -t UTF-16 terms.tsv > wide
    mv out expected
    expect_quiet_success translate -q --glossary wide -i letter --threads 2 --batch 1
    cmp out expected || fail "UTF-16: $(cat out)"
    cat > terms.CSV <<'END'
"landlord", "Vermieter|Vermieters"
# a comment
Ferry,
"a ""quoted"", old
word",x
END
    expect_quiet_success translate -q --glossary terms.CSV -i letter
    cmp out expected || fail "CSV: $(cat out)"
    : > empty
    expect_quiet_success translate -q --glossary empty 'Good morning!'
    expect_out 'Guten Morgen!\n'
}

# expect_wrong_glossary FILE MESSAGE TEXT [NUMBER]: text and number as printf takes them
expect_wrong_glossary()
{
    # shellcheck disable=SC2059
    printf -- "$3" "${4-}" > "$1"
    expect_failure "$1: $2" translate --glossary "$1" x
}

test_wrong_glossaries()
{
    expect_wrong_glossary a 'line 3: expected a source and its targets, found a third field' 'a\tb\n\na\tb\tc\n'
    expect_wrong_glossary a 'line 2: expected a source, found none' 'a\tb\n \tc\n'
    expect_wrong_glossary a "line 1: expected a target before and behind '|', found none" 'a\tb|'
    expect_wrong_glossary a "line 4: expected one entry with source 'a', found two" 'a\tb\n#\nc\na\n'
    expect_wrong_glossary a 'line 2: expected a text at entries[1].source, found ill-formed UTF-8' 'x\n\377\ty'
    expect_wrong_glossary a 'line 3: expected at most 256 bytes at entries[1].source, found 300' 'x\n\n%0300d' 1
    expect_wrong_glossary a.csv 'line 2: expected a closing quote, found the end of the file' 'a,b\n"a\n,b'
    expect_wrong_glossary a.csv 'line 2: expected a comma or the end of the line behind a quote, found other text' \
        '"a\n"b,c'
    expect_wrong_glossary a.csv 'line 3: expected a source and its targets, found a third field' '"a\n",b\na,"b",c'
    expect_wrong_glossary a.csv "line 4: expected one entry with source 'b', found two" '"a\n",b\n"b"\nb,c'
    expect_failure 'nowhere: cannot open' translate --glossary nowhere x
}

test_what_excludes_terms()
{
    for option in glossary keep; do
        value=$([ $option = keep ] || echo =a)
        for other in sample alternatives ids; do
            expect_usage_error "translate: expected --$option or --$other, found both" \
                translate "--$option$value" "--$other" --beam 1 --nbest 1 x
        done
        expect_usage_error "translate: --$option: expected --nbest 1 with it, found 2" \
            translate "--$option$value" --nbest 2 x
    done
    expect_usage_error '--keep: expected --format lines, found html' translate --keep --format html x
}

test_what_lines_keep()
{
    printf 'Click on {name} to open the file.\nWrite to user@example.org about %%s.\nI \377 {x\377}.\nTom\n' > lines
    expect_success translate --keep -i lines
    expect_lines out 4
    for kept in '{name}' user@example.org '%s'; do
        [ "$(grep -cF "$kept" out)" -eq 1 ] || fail "$kept: $(cat out)"
    done
    sed -n 4p out | grep -q '^Tom' || fail "Tom: $(cat out)"
    if grep -q 'was changed' err; then fail "messages: $(cat err)"; fi
}
