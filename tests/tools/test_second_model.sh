# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of run.sh and helpers.sh
# shellcheck disable=SC2016 # the backquotes of messages
# Two models in a row: the same bytes as two commands in a pipe.

unnamed=$source_dir/models/encodings/rope.gguf # a model that does not name its languages

# The shipped model with tags of languages, each with the pieces of its source and target tag.
make_languages()
{
    local name=$1 message found old
    shift
    python3 "$source_dir/tests/tools/add_languages.py" "$shipped" "$name" prefix "$@" || fail "add_languages.py"
    # Its content hash becomes that of the changed file.
    message=$("$ferry" verify "$name" 2>&1 >/dev/null)
    found=$(expr "$message" : '.* is \([0-9a-f]\{32\}\)') && old=$(expr "$message" : '.* expected \([0-9a-f]\{32\}\)') &&
        LC_ALL=C sed -i "s/$old/$found/" "$name" && expect_success verify "$name"
}

make_lines()
{
    head -n 297 "$source_dir/models/encodings/test.en" > lines
    printf '\n \t\r\nI like it\377 very much.\n' >> lines
}

test_two_models()
{
    make_lines
    make_languages tagged.gguf 'eng_Latn en=1=-1' 'deu_Latn de deu=2=100' 'fra_Latn=3=200'
    for options in '' '--beam 1' '--split all' '--batch 5 --threads 2'; do
        # shellcheck disable=SC2086 # words
        "$ferry" translate -q -m tagged.gguf --to fra_Latn $options < lines 2>/dev/null |
            "$ferry" translate -q -m tagged.gguf --from fra_Latn --to de $options > expected 2>/dev/null
        # shellcheck disable=SC2086
        expect_success translate -q -m tagged.gguf -m tagged.gguf --to de $options -i lines -o found
        cmp expected found || fail "options '$options'"
    done
    [ "$(wc -l < found)" -eq 300 ] || fail "$(wc -l < found) lines"
    expect_success translate -q -m tagged.gguf --model=tagged.gguf --from en --via fra_Latn --to deu -i lines -o found \
        --batch 5 --threads 2
    cmp expected found || fail '--via'
    head -n 100 expected > found
    expect_success translate -q -m tagged.gguf -m tagged.gguf --to de -i lines -o found --resume
    cmp expected found || fail '--resume'
}

test_json_of_two_models()
{
    make_languages tagged.gguf 'eng_Latn=1=-1' 'deu_Latn=2=100' 'fra_Latn=3=200'
    "$ferry" translate -q -m tagged.gguf --to fra_Latn 'Good morning!' > between
    "$ferry" translate -q -m tagged.gguf --from fra_Latn --to deu_Latn --json -i between > expected
    expect_success translate -m tagged.gguf -m tagged.gguf --to deu_Latn --json 'Good morning!'
    for key in text score; do
        python3 -c 'import json, sys
found, expected = (json.load(open(name)) for name in sys.argv[2:])
assert found[sys.argv[1]] == expected[sys.argv[1]], (found, expected)' $key out expected || fail "$key"
    done
}

# What the first cannot translate is an empty line, as in the pipe.
test_lines_that_fail()
{
    make_lines
    make_languages tagged.gguf 'eng_Latn=1=-1' 'deu_Latn=2=100' 'fra_Latn=3=200'
    { echo '>>zzz<< Good morning!'; head -n 20 lines; } > tags
    "$ferry" translate -q -m tagged.gguf --to fra_Latn < tags 2>/dev/null |
        "$ferry" translate -q -m tagged.gguf --from fra_Latn --to deu_Latn > expected 2>/dev/null
    expect_failure 'line 1: ' translate -q -m tagged.gguf -m tagged.gguf --to deu_Latn -i tags -o found
    cmp expected found || fail 'other lines'
}

test_languages_between()
{
    make_languages tagged.gguf 'eng_Latn=1=-1' 'deu_Latn=2=100' 'fra_Latn=3=200' 'ita_Latn=3=201'
    expect_failure '--via: expected one of the 2 languages that both models have: fra_Latn ita_Latn' \
        translate -m tagged.gguf -m tagged.gguf --to deu_Latn x
    expect_success translate -m tagged.gguf -m tagged.gguf --via ita_Latn --to deu_Latn x
    expect_failure "the model has no language 'xx' to translate into" \
        translate -m tagged.gguf -m tagged.gguf --via xx --to deu_Latn x
    expect_failure 'the second model translates from no language that the first translates into' \
        translate -m "$shipped" -m "$shipped" x
    "$ferry" translate -q -m "$unnamed" 'Good morning!' | "$ferry" translate -q -m "$unnamed" > expected
    expect_success translate -m "$unnamed" -m "$unnamed" 'Good morning!'
    cmp expected out || fail 'models without languages'
    expect_message 'the models do not say which languages they translate'
    expect_quiet_success translate -q -m "$unnamed" -m "$unnamed" 'Good morning!'
}

test_what_two_models_refuse()
{
    local two=(translate -m "$unnamed" -m "$unnamed")
    for option in '--alignment hard' '--nbest 2' '--prefix x' '--prefixes lines' --ids; do
        # shellcheck disable=SC2086 # words
        expect_usage_error "translate: expected ${option%% *} or a second model, found both" "${two[@]}" $option x
    done
    expect_usage_error "translate: expected at most two models, found 'c'" "${two[@]}" -m c x
    expect_usage_error 'translate: --via: expected a second --model with it' translate --via en x
    expect_usage_error "languages: expected one model, found another in '-m'" languages -m a -m b
    expect_failure 'nowhere.gguf: cannot open' translate -m "$unnamed" -m nowhere.gguf x
}

# Every element is there once more, and what is kept. (tests/documents compares all formats with one model.)
test_documents_through_two_models()
{
    make_languages tagged.gguf 'eng_Latn en=1=-1' 'deu_Latn de=2=100' 'fra_Latn=3=200'
    cat > page.html <<'END'
<html lang="en"><body><h1>Good morning</h1>
<p>Tom is <b>reading</b> a <a href="x.html" title="The book">book</a> in the garden.</p>
<ul><li>See <code>ferry --help</code> at https://example.org/.</li><li>How are <i>you</i>?</li></ul></body></html>
END
    expect_success translate -m tagged.gguf -m tagged.gguf --to de -i page.html -o found.html
    diff <(grep -o '<[^>]*>' page.html | sed 's/ title="[^"]*"//' | sort) \
        <(grep -o '<[^>]*>' found.html | sed 's/ title="[^"]*"//; s/lang="de"/lang="en"/' | sort) || fail 'elements'
    for kept in '<code>ferry --help</code>' 'https://example.org/'; do
        grep -qF "$kept" found.html || fail "$kept"
    done
    cmp -s page.html found.html && fail 'nothing is translated'
    printf 'msgid "Good morning, %%s!"\nmsgstr ""\n' > page.po
    run translate -m tagged.gguf -m tagged.gguf --to de -i page.po -o found.po
    expect_message 'page.po: translated as po'
    [ "$(grep -c '^msgid "Good morning, %s!"$\|^msgstr ".*%s.*"$' found.po)" -eq 2 ] || fail "$(cat found.po)"
    printf 'garden\tJARDIN\nmorning\n' > terms
    expect_success translate -q -m tagged.gguf -m tagged.gguf --to de --glossary terms -i page.html -o found.html
    grep -q JARDIN found.html || fail 'the glossary'
    expect_success translate -q -m tagged.gguf -m tagged.gguf --to de --glossary terms --keep 'The garden of {name}.'
    expect_match 'JARDIN.*[{]name[}]|[{]name[}].*JARDIN'
}
