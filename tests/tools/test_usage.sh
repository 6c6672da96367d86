# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# What is meant by a command line that is not quite right, or that has no command: near misses, contradictions, hints.

test_near_misses()
{
    expect_usage_error "unknown command 'translat'; did you mean 'translate'?" translat
    expect_usage_error "unknown command 'tarnslate'; did you mean 'translate'?" tarnslate -i x
    expect_usage_error "unknown command 'Inspect'; did you mean 'inspect'?" Inspect
    expect_usage_error "unknown command 'inspct'; did you mean 'inspect'?" inspct --json
    expect_usage_error "unknown command 'INSPECT'; did you mean 'inspect'?" INSPECT
    expect_usage_error "unknown command 'lang'; did you mean 'languages'?" lang
    expect_usage_error "unknown command 'hlp'; did you mean 'help'?" help hlp
    expect_usage_error "unknown command 'nothing'; try 'ferry help', or 'ferry translate TEXT'" nothing
    expect_usage_error "unknown option '--bem'; did you mean '--beam'?" translate --bem 3 x
    expect_usage_error "unknown option '--baem=3'; did you mean '--beam'?" translate --baem=3 x
    expect_usage_error "unknown option '-beam'; did you mean '--beam'?" translate -beam 3 x
    expect_usage_error "unknown option '--bema'; did you mean '--beam'?" translate --bema 3 x
    expect_usage_error "unknown option '--BATXH'; did you mean '--batch'?" translate --BATXH 3 x
    expect_usage_error "unknown option '--eema'; try 'ferry help translate'" translate --eema 3 x
    expect_usage_error "unknown option '--max_length'; did you mean '--max-length'?" translate --max_length 3 x
    expect_usage_error "unknown option '--max'; did you mean '--max-source' or '--max-length'?" translate --max 3 x
    expect_usage_error "unknown option '--juggle'; try 'ferry help translate'" translate --juggle x
    expect_usage_error "unknown option '--bem'; try 'ferry help convert'" convert --bem 3 x # takes no --beam
    expect_usage_error "found 'mariann'; did you mean 'marian'?" translate --policy mariann x
    expect_usage_error "--type: expected f32|f16|int8|int4, found 'int'; did you mean 'int8' or 'int4'?" convert --type int x
    expect_usage_error "found 'cleer'; did you mean 'clear'?" cache cleer
    expect_usage_error "found 'cancle'; did you mean 'cancel'?" bench cancle
    expect_usage_error "unknown option '--verion'; did you mean '--version'?" --verion
    # Whatever its length.
    expect_usage_error 'unknown command' "$(printf 'x%.0s' {1..5000})"
}

test_contradictions()
{
    expect_usage_error "translate: expected TEXT or -i, found both" translate -i in x
    expect_usage_error "translate: expected TEXT or --input, found both" translate --input - x
    expect_usage_error "translate: --nbest: expected at most --beam, which is 2, found 3" translate --beam 2 --nbest 3 x
    expect_usage_error "translate: --min-length: expected at most --max-length, which is 10, found 50" \
        translate --min-length 50 --max-length 10 x
    expect_failure "--min-length: expected at most max_length, which is 10, found 50" \
        translate --sample --min-length 50 --max-length 10 x
    expect_success translate -q --min-length 5 --max-length 0 x
    expect_usage_error "inspect: expected MODEL or -m, found both" inspect -m a b
    local pair
    for pair in 'json --scores' 'prefix=x --prefixes=x' 'ids --prefixes=x' 'ids --replace-unknowns' 'sample --alternatives --nbest 2'; do
        # shellcheck disable=SC2086 # several arguments
        expect_usage_error "translate: expected --${pair%%[ =]*} or --" translate --$pair x
    done
    for pair in '--alternatives nbest' '--top-k=1 sample' '--top-p=1 sample' '--seed=1 sample'; do
        expect_usage_error "translate: ${pair%%[ =]*}: expected --${pair#* } with it" translate "${pair% *}" x
    done
    expect_usage_error "--alternatives: expected --beam 1 with it, found 2" translate --alternatives --nbest 2 --beam 2 x
}

# Messages name an option as it was typed, also those of the library.
test_options_as_typed()
{
    expect_usage_error "a value is missing after '-o'" translate -o
    expect_failure "ferry: --to: the model has no language 'xx'" translate --to xx x
}

test_text_without_command()
{
    expect_quiet_success 'How are you?'
    expect_out 'Wie geht es dir?\n'
    expect_quiet_success 'How are you?' Hello
    expect_lines out 2
    expect_success translate --beam 1 --scores 'How are you?'
    mv out expected_scores
    expect_quiet_success --beam 1 --scores 'How are you?'
    cmp out expected_scores || fail "options before the text count"
    expect_quiet_success -m "$shipped" -- '- How are you?'
    echo 'How are you?' > letter.txt
    expect_quiet_success -q -i letter.txt
    expect_out 'Wie geht es dir?\n'
    expect_success_with 'How are you?\n' --beam 1
    expect_out 'Wie geht es dir?\n'
    # Letters beyond ASCII are in no command, so this is text, too.
    expect_quiet_success Straße
    # What may be a command is none.
    expect_usage_error "unknown command 'Hello'; try 'ferry help', or 'ferry translate TEXT'" Hello 'How are you?'
    expect_usage_error "unknown command 'Hello'" -q Hello
    expect_usage_error "unknown command 'letter.txt'; to translate the file: ferry translate -i FILE" letter.txt
    expect_usage_error "the command is the first argument: ferry inspect [OPTION…]" -m "$shipped" inspect
}

test_name_of_a_file_as_text()
{
    echo 'How are you?' > letter.txt
    mkdir folder
    cp letter.txt folder/letter
    cp letter.txt letter
    local name
    for name in letter.txt folder/letter ./letter; do
        expect_success translate "$name"
        expect_message "'$name' is translated as text; to translate the file: ferry translate -i FILE"
        expect_lines out 1
        expect_quiet_success translate --quiet "$name"
    done
    # A word, a name that no file has, and a text.
    expect_quiet_success translate letter
    expect_quiet_success translate Mr.
    expect_quiet_success translate letter.txt 'How are you?'
}

test_standard_streams()
{
    echo 'Good morning!' > in
    expect_success translate -i - < in
    expect_out 'Guten Morgen!\n'
    expect_success translate -q - < in
    expect_out 'Guten Morgen!\n'
    expect_success translate -q - 'Good morning!' < /dev/null # text among texts
    expect_lines out 2
    expect_success translate -i in --output=-
    expect_out 'Guten Morgen!\n'
    expect_success translate -i- -o- < in
    expect_out 'Guten Morgen!\n'
    expect_quiet_success translate -qiin # letters together, the last one with its value
    expect_out 'Guten Morgen!\n'
    [ ! -e - ] || fail "a file - was written"
    cp in -- -
    expect_success translate -i ./- -o ./out-
    [ "$(cat ./out-)" = 'Guten Morgen!' ] || fail "./- is a file: $(cat ./out-)"
    expect_success bench translate -i - < in
    # Files that are complete or not there, models, and what standard output has another use for.
    local arguments
    for arguments in 'convert x -o -' 'verify x --record -' 'bench translate -i in -o -' 'translate -m - x'; do
        # shellcheck disable=SC2086 # several arguments
        expect_usage_error "expected the name of a file, found '-': a standard stream cannot take its place" $arguments
    done
}

# at_terminal ARGUMENT…: with a terminal as standard input, where 'Good morning!' and Ctrl-D are typed as soon as there is
# a message (with --quiet: after a second).
at_terminal()
{
    status=0
    python3 - "$ferry" "$@" > out 2> err << 'PYTHON' || status=$?
import os, select, subprocess, sys
master, slave = os.openpty()
process = subprocess.Popen(sys.argv[1:], stdin=slave, stderr=subprocess.PIPE)
quiet = sys.argv[-1] == "--quiet"
if select.select([process.stderr], [], [], 1 if quiet else 30)[0]:
    sys.stderr.write(process.stderr.readline().decode())
elif not quiet:
    process.kill()
    sys.exit("nothing is said before something is typed")
os.write(master, b"Good morning!\n\x04")
sys.stderr.write(process.stderr.read().decode())
sys.exit(process.wait())
PYTHON
    expect_status 0
    expect_out 'Guten Morgen!\n'
}

test_hint_at_a_terminal()
{
    local arguments
    for arguments in translate 'translate -i -' '--beam 4'; do
        # shellcheck disable=SC2086 # several arguments
        at_terminal $arguments
        expect_message "reading from the terminal; end with Ctrl-D; see 'ferry help translate'"
    done
    at_terminal translate --quiet
    expect_silence
    echo 'Good morning!' > in
    at_terminal translate -i in
    expect_silence
    at_terminal translate 'Good morning!'
    expect_silence
}

test_model_of_inspect()
{
    expect_quiet_success inspect "$shipped"
    mv out expected_text
    expect_quiet_success inspect
    cmp out expected_text || fail "the default"
    FERRY_MODEL=nowhere expect_quiet_success inspect --model "$shipped"
    cmp out expected_text || fail "-m"
}

# Each command has three examples, and all but one run where the files that they name are.
test_examples()
{
    local command example number=0
    mkdir bin
    ln -s "$ferry" bin/ferry
    printf 'Good morning!\nHow are you?\n' > letter.txt
    cp "$positions/none-post/golden.safetensors" .
    cp -r "$positions/none-post" opus-mt-en-fr
    cp -r "$positions/none-post" nllb-200-distilled-600M
    (cd opus-mt-en-fr && python3 -m zipfile -c ../opus-2020-02-26.zip ./*)
    convert_sample none-post own-model.gguf
    cp letter.txt source.en
    "$ferry" translate -i source.en -o target.de
    cp "$shipped" one.gguf
    cp "$shipped" other.gguf
    for command in $("$ferry" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        cp "$shipped" en-fr.gguf # which those of convert overwrite
        cp "$shipped" nllb.gguf
        "$ferry" help "$command" | sed -n '/^Examples:$/,$s/^  //p' > examples
        expect_lines examples 3
        while IFS= read -r example; do
            [[ $example == *ferry* ]] || fail "no example: $example"
            number=$((number + 1))
            status=0
            PATH=$PWD/bin:$PATH bash -euo pipefail -c "$example" > out 2> err < /dev/null || status=$?
            [ "$status" -eq 0 ] || fail "$example: exit status $status: $(cat err)"
        done < examples
    done
    [ "$number" -eq 30 ] || fail "expected 30 examples, found $number"
}

# The first sentence that anybody translates, after README.md and tools/try.sh.
test_headline()
{
    local file text
    for file in README.md tools/try.sh; do
        text=$(sed -n 's/^[# ]*tools\/try.sh "\(.*\)"$/\1/p' "$source_dir/$file")
        expect_quiet_success translate "$text"
        expect_out 'Wie komme ich zur Insel?\n'
    done
}
