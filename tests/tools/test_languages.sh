# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# shellcheck disable=SC2016 # the backquotes of messages
# Languages, policies, shortlists.

unnamed=$source_dir/models/encodings/rope.gguf # a model that does not name its languages

# The shipped model with language tags: pieces of its vocabulary that have no such meaning for it.
make_tagged()
{
    python3 "$source_dir/tests/tools/add_languages.py" "$shipped" tagged.gguf "$1" 'eng_Latn en=1=-1' \
        'deu_Latn de deu=2=100' 'fra_Latn=3=200' || fail "add_languages.py"
}

test_languages()
{
    make_tagged prefix
    expect_quiet_success languages -m tagged.gguf
    expect_out 'eng_Latn\ten\tfrom*\tEnglish\ndeu_Latn\tde deu\tto\tGerman\nfra_Latn\t\tfrom to\t\n'
    FERRY_MODEL=tagged.gguf expect_success languages
    expect_lines out 3
    expect_quiet_success languages
    expect_out 'en\teng\tfrom*\tEnglish\nde\tdeu\tto*\tGerman\n'
    expect_success languages -m "$unnamed"
    expect_out ''
    expect_message 'the model does not say which languages it translates'
    expect_quiet_success languages --quiet -m "$unnamed"
    expect_failure 'nowhere.gguf: cannot open' languages -m nowhere.gguf
    expect_usage_error 'languages: expected no arguments, found 1 argument;' languages x
}

test_pair()
{
    mkdir en-de
    cp "$unnamed" en-de/model.gguf # the name of a model file does not count
    expect_success convert --quiet en-de/model.gguf -o plain.gguf
    run languages --quiet -m plain.gguf
    expect_out ''
    expect_quiet_success convert "$unnamed" --pair en-de -o pair.gguf
    expect_quiet_success languages -m pair.gguf
    expect_out 'en\teng\tfrom*\tEnglish\nde\tdeu\tto*\tGerman\n'
    expect_failure "--from: the model has no language 'fr'" translate -m pair.gguf --from fr 'Good morning!'
    expect_usage_error "ferry: --pair: expected SOURCE-TARGET, such as en-de, found 'german'" \
        convert "$unnamed" --pair german -o other.gguf
    [ ! -e other.gguf ] || fail 'a file is left'
}

test_language_options()
{
    make_tagged suffix
    local text='Good morning!' plain german french
    plain=$("$ferry" translate --scores "$text")
    run translate -m tagged.gguf --scores --to '' "$text"
    expect_out "$plain\n"
    german=$("$ferry" translate -m tagged.gguf --scores --to de "$text") || fail "--to de"
    french=$("$ferry" translate -m tagged.gguf --scores --from ENG_LATN --to fra_Latn "$text") || fail "--to fra_Latn"
    if [ "$german" = "$plain" ] || [ "$french" = "$plain" ] || [ "$german" = "$french" ]; then
        fail "no tag: $plain, $german, $french"
    fi
    run translate -m tagged.gguf --scores --to german "$text"
    expect_out "$german\n"
    expect_success bench translate -m tagged.gguf --to de -i /dev/stdin -o brief <<< "$text"
    [ "$(cat brief)" = "$(cut -f2 <<< "$german")" ] || fail "bench: $(cat brief)"
}

test_languages_refused()
{
    make_tagged prefix
    expect_failure "line 1: the model needs the language to translate into: option to, or a tag that it has" \
        translate -m tagged.gguf x
    expect_failure "--to: the model has no language 'en' to translate into; ferry_model_language lists its languages" \
        translate -m tagged.gguf --to en x
    expect_failure "lists its languages: deu_Latn (German), fra_Latn" translate -m tagged.gguf --to en x
    expect_failure "--from: the model has no language 'de' to translate from" \
        translate -m tagged.gguf --from de --to fra_Latn x
    expect_failure "--to: the model does not say which languages it translates; found 'de'" \
        translate -m "$unnamed" --to de x
    expect_usage_error "--policy: expected huggingface|marian|ctranslate2, found 'moses'" translate --policy moses x
    expect_usage_error "--word-penalty: expected a number from -1000 to 1000, found 'x'" translate --word-penalty x y
}

# The sum of --nbest is that of the tokens; the score follows from it and the penalties.
test_policies()
{
    local text='I thought you might want to play a game of chess.' policy
    for policy in huggingface marian ctranslate2; do
        expect_success translate --policy "$policy" --nbest 3 --length-penalty 1 --word-penalty 0.5 "$text"
        expect_lines out 3
        awk -F' [|][|][|] ' '{ sub("F0= ", "", $3); n = $3 / ($4 + 0.5)
            if (n < 2 || (n - int(n + 0.5)) ^ 2 > 1e-3) exit 1 }' out || fail "$policy: sum and score: $(cat out)"
    done
    # With wide beams the rules give different results.
    for policy in huggingface marian ctranslate2; do
        run translate --policy "$policy" --beam 12 --nbest 12 'How are you?' \
            'Tom said nothing to them, and that was a good idea.'
        cp out "of_$policy"
    done
    cmp -s of_huggingface of_marian && fail 'huggingface and marian agree'
    cmp -s of_huggingface of_ctranslate2 && fail 'huggingface and ctranslate2 agree'
    cmp -s of_marian of_ctranslate2 && fail 'marian and ctranslate2 agree'
    run translate --beam 12 --nbest 12 'How are you?' 'Tom said nothing to them, and that was a good idea.'
    cmp -s out of_huggingface || fail "the shipped model's rules are not huggingface"
}

test_shortlist()
{
    local folder texts
    run translate --no-shortlist 'How are you?'
    expect_out 'Wie geht es dir?\n'
    for folder in $(golden_folders models/bergamot-en-de); do
        # A line of golden.json whose translation a shortlist changes, far from a tie.
        mapfile -t texts < <(python3 - "$folder/golden.json" << 'END'
import json, sys
for line in json.load(open(sys.argv[1]))["lines"]:
    runs = [line["alphas_shortlist"], line["alphas_full"]]
    if runs[0]["text"] != runs[1]["text"] and min(run["smallest_gap"] for run in runs) > 0.1:
        print(line["text"], runs[0]["text"], runs[1]["text"], sep="\n")
        break
END
        )
        [ ${#texts[@]} -eq 3 ] || fail "$folder: no line for a shortlist"
        run translate --quiet -m "$folder/model.ende.intgemm.alphas.bin" "${texts[0]}"
        expect_out "${texts[1]}\n"
        run translate --quiet -m "$folder/model.ende.intgemm.alphas.bin" --no-shortlist "${texts[0]}"
        expect_out "${texts[2]}\n"
    done
}
