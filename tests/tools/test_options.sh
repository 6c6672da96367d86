# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Commands, options, and where the model comes from.

test_version_and_help()
{
    local name
    for name in --version -V; do
        expect_success "$name"
        expect_match '^ferry [0-9]+\.[0-9]+\.[0-9]+$'
    done
    expect_success help
    for name in translate score compare languages convert inspect verify bench cache help; do
        expect_match "^  $name "
    done
    for name in translate score compare languages convert inspect verify bench cache help; do
        expect_success help "$name"
        expect_match "^usage: ferry $name"
        mv out first
        expect_success "$name" --help
        cmp -s first out || fail "help $name and $name --help differ"
    done
    run help translate
    expect_match '--no-repeat-ngram N'
}

test_wrong_usage()
{
    run
    expect_status 2
    grep -q '^usage: ferry' err || fail "found '$(cat err)'"
    expect_usage_error "unknown option '--tolerance'" translate --tolerance 1 x
    expect_usage_error "unknown option '-x'" translate -x
    expect_usage_error "a value is missing after '--beam'" translate x --beam
    expect_usage_error "no value is expected in '--scores=1'" translate --scores=1 x
    expect_usage_error "inspect: expected [MODEL], found 2 arguments" inspect a b
    expect_usage_error "verify: expected MODEL [GOLDEN.safetensors], found 3 arguments" verify a b c
    expect_usage_error "convert: expected SOURCE, found 0 arguments" convert
    expect_usage_error "cache: expected list|clear, found 0 arguments" cache
    expect_usage_error "bench: expected 'translate', 'cancel' or 'service', found 'juggling'; try 'ferry help" bench juggling
    expect_usage_error "--tolerance: is for comparing with GOLDEN.safetensors" verify --tolerance 1 x
}

test_bad_values()
{
    expect_usage_error "--beam: expected a whole number from 1 to 1024, found '0'" translate --beam 0 x
    expect_usage_error "found '4x'" translate --beam 4x x
    expect_usage_error "found ''" translate --beam= x
    expect_usage_error "found ' 4'" translate --beam ' 4' x
    expect_usage_error "found '-1'" translate --max-length -1 x
    expect_usage_error "found '99999999999999999999'" translate --threads 99999999999999999999 x
    expect_usage_error "--batch: expected a whole number from 1 to 65536, found '2.5'" translate --batch 2.5 x
    expect_usage_error "--length-penalty: expected a number from -1000 to 1000, found 'nan'" \
        translate --length-penalty nan x
    expect_usage_error "--repetition-penalty: expected a number from 0.001 to 1000, found '0'" \
        translate --repetition-penalty 0 x
    expect_usage_error "--coverage-penalty: expected a number from -1000 to 1000, found 'x'" translate --coverage-penalty x x
    expect_usage_error "--early-stopping: expected false|true|never, found 'maybe'" translate --early-stopping maybe x
    expect_usage_error "--early-stopping: expected false|true|never, found 'fal'" translate --early-stopping fal x
    expect_usage_error "--type: expected f32|f16|int8|int4, found 'f64'" convert --type f64 x
    expect_usage_error "--tolerance: expected a number from 0 to 1e+06, found '-1'" verify --tolerance -1 a b
}

# On the bounds, with nothing to translate.
test_values_on_their_bounds()
{
    expect_quiet_success translate --sample --seed 2147483647 --batch 65536 --length-penalty 1000 \
        --repetition-penalty 1000 --min-length 0 ''
    expect_quiet_success translate --sample --seed 0 --batch 1 --length-penalty -1000 --repetition-penalty 0.001 --top-p 1 ''
    expect_usage_error "found '2147483648'" translate --sample --seed 2147483648 ''
    expect_usage_error "found '65537'" translate --batch 65537 ''
    expect_usage_error "found '1000.1'" translate --length-penalty 1000.1 ''
    expect_usage_error "found '-1000.1'" translate --length-penalty=-1000.1 ''
    expect_usage_error "found '0.0009'" translate --repetition-penalty 0.0009 ''
    expect_usage_error "found '1.1'" translate --sample --top-p 1.1 ''
}

test_scores()
{
    expect_success translate --scores 'How are you?' ''
    grep -qP '^-[0-9.]+\tWie geht es dir\?$' out || fail "found '$(cat out)'"
    [ "$(sed -n 2p out)" = $'0\t' ] || fail "a blank line: found '$(sed -n 2p out)'"
}

# Marian's format; the sum is the score times length^penalty.
test_nbest()
{
    expect_success_with 'How are you?\n\nGood morning!\n' translate --nbest 3 --length-penalty 0
    expect_lines out 7
    [ "$(sed -n 4p out)" = '1 |||  ||| F0= 0 ||| 0' ] || fail "a blank line: found '$(sed -n 4p out)'"
    [ "$(cut -d' ' -f1 out | tr -d '\n')" = 0001222 ] || fail "line numbers: $(cat out)"
    grep -q '^0 ||| Wie geht es dir? ||| F0= -[0-9.]* ||| -[0-9.]*$' out || fail "the format: $(cat out)"
    awk -F' [|][|][|] ' '{ sub("F0= ", "", $3); if ($3 != $4) bad = 1; if ($1 == last && $4 > score) bad = 1
        last = $1; score = $4 } END { exit bad }' out || fail "sums or order: $(cat out)"
    run translate --nbest 2 --length-penalty 1 'How are you?'
    awk -F' [|][|][|] ' '{ sub("F0= ", "", $3); n = $3 / $4; if (n < 2 || (n - int(n + 0.5)) ^ 2 > 1e-4) exit 1 }' out ||
        fail "the sum is no multiple of the score: $(cat out)"
    expect_success translate --nbest 6 'How are you?'
    expect_lines out 6
}

# Every search option has an effect.
test_search_options()
{
    local text='I thought you might want to play a game of chess.' plain
    plain=$("$ferry" translate --scores "$text")
    differs()
    {
        expect_success translate --scores "$@" "$text"
        [ "$(cat out)" != "$plain" ] || fail "$* changes nothing: $plain"
    }
    differs --length-penalty 0
    differs --min-length 60
    differs --repetition-penalty 1.5
    differs --no-repeat-ngram 1
    differs --max-length 5
    differs --beam 1
    plain=$("$ferry" translate --scores --policy ctranslate2 --length-penalty 3 "$text")
    differs --policy ctranslate2 --length-penalty 3 --patience 0.5
    differs --policy ctranslate2 --length-penalty 3 --coverage-penalty 0.5
    plain=$("$ferry" translate --scores "$text")
    run translate --scores --beam 4 --length-penalty 1 --early-stopping never --threads 2 --batch 3 "$text"
    [ "$(cut -f2 out)" = "$(cut -f2 <<< "$plain")" ] || fail "found $(cat out), expected $plain"
    local early
    for early in false true never; do
        expect_success translate --early-stopping "$early" "$text"
    done
}

test_model_option()
{
    FERRY_MODEL=nowhere.gguf expect_success translate -m "$shipped" 'How are you?'
    expect_out 'Wie geht es dir?\n'
    expect_failure 'nowhere.gguf: cannot open: No such file or directory' translate -m nowhere.gguf 'How are you?'
    FERRY_MODEL=nowhere.gguf \
        expect_failure 'nowhere.gguf: cannot open: No such file or directory (named by FERRY_MODEL)' \
        translate 'How are you?'
    FERRY_MODEL='' expect_quiet_success translate 'How are you?'
    echo 'no model at all' > letter.gguf
    expect_failure 'letter.gguf: ' translate -m letter.gguf 'How are you?'
}

# Without -m and FERRY_MODEL, the model is found relative to the program, wherever it and the caller are.
test_shipped_model()
{
    local place
    unset FERRY_MODEL
    for place in a/models/pretrained b/../models/pretrained c/d/../../models/pretrained e/bin/../share/ferry; do
        local program=${place%%/models*}
        program=${program%%/..*}
        mkdir -p "$program" "$place"
        cp "$ferry" "$program/ferry"
        ln -s "$shipped" "$place/tatoeba-en-de.gguf"
        (cd / && "$OLDPWD/$program/ferry" translate 'How are you?') > out 2> err || fail "$place: $(cat err)"
        expect_out 'Wie geht es dir?\n'
        rm -r "$place/tatoeba-en-de.gguf" "$program/ferry"
    done
    mkdir lonely
    cp "$ferry" lonely/ferry
    status=0
    lonely/ferry translate 'How are you?' > out 2> err || status=$?
    expect_status 1
    expect_message 'no model: use -m FILE or set FERRY_MODEL' 5
    expect_message "/lonely/../share/ferry" 5
}

# The same text on every kind of kernels that this machine runs.
test_isa()
{
    local isa
    for isa in $("$ferry" help | sed -n '/^plain, /s/[,.]//gp'); do
        FERRY_ISA=$isa run translate 'How are you?' 'Hello, world!'
        if [ "$status" -ne 0 ] && [ "$isa" != plain ]; then
            expect_message "FERRY_ISA: kernels '$isa'"
            continue
        fi
        expect_status 0
        expect_out 'Wie geht es dir?\nHallo, die Welt!\n'
    done
    FERRY_ISA=nonsense expect_failure "FERRY_ISA: kernels 'nonsense'" translate 'How are you?'
    FERRY_ISA='' expect_success translate 'How are you?'
}
