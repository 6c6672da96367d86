# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Models of other systems are converted once, into the user's cache; and the types of `ferry convert`.

# The only file in the cache.
cached()
{
    set -- "$XDG_CACHE_HOME"/ferry/*
    [ $# -eq 1 ] || fail "expected one file in the cache, found $*"
    printf %s "$1"
}

test_cache()
{
    cp -r "$positions/sinusoidal-post" 'my model'
    expect_success inspect 'my model/'
    grep -q '^sinusoidal-post\|^my model' out || fail "$(cat out)"
    local file made
    file=$(cached)
    expect_message "my model/: converted to $file"
    [[ $file == */cache/ferry/'my model'-*.gguf ]] || fail "found $file"
    made=$(stat -c %i "$file")
    # It is found again by every name of the folder, whatever other files are added to it.
    echo text > 'my model/translation'
    ln -s 'my model' link
    local name
    for name in 'my model' link "$PWD/my model"; do
        expect_success verify "$name" "$positions/sinusoidal-post/golden.safetensors"
        expect_silence
    done
    [ "$(stat -c %i "$(cached)")" = "$made" ] || fail "converted again"
    # If one of its files changes, it is converted again.
    touch -d '2001-01-01' 'my model/config.json'
    expect_success inspect 'my model'
    expect_message 'my model: converted to '
    [ "$(find cache -type f | wc -l)" -eq 2 ] || fail "$(find cache)"
    run inspect 'my model'
    expect_silence
}

test_cache_for_every_command()
{
    cp -r "$positions/sinusoidal-post" model
    expect_quiet_success languages -m model --quiet
    cached > /dev/null
    # The model has no tokenizer: opening it succeeds, the line fails.
    expect_failure 'the model has no tokenizer' translate -m model x
    FERRY_MODEL=model expect_failure 'the model has no tokenizer' translate x
    cached > /dev/null
}

test_cache_of_a_file()
{
    cp -r "$positions/sinusoidal-post" model
    expect_success inspect model/model.safetensors
    expect_message "model/model.safetensors: converted to $(cached)"
    run inspect model/model.safetensors
    expect_silence
    touch -d '2001-01-01' model/config.json
    run inspect model/model.safetensors
    expect_message 'converted to'
}

# Files beside an archive do not matter.
test_cache_of_an_archive()
{
    cp -r "$positions/sinusoidal-post" model
    (cd model && python3 -m zipfile -c ../model.zip ./*) || fail "zipfile"
    expect_success inspect model.zip
    expect_message "model.zip: converted to $(cached)"
    touch other.bin
    run inspect model.zip
    expect_silence
    expect_success convert model.zip
    [ -s model.gguf ] || fail "$(ls)"
    expect_success verify model.gguf "$positions/sinusoidal-post/golden.safetensors"
}

# Processes that convert the same model at once each get a complete one.
test_cache_shared_by_processes()
{
    local number processes=()
    for number in 1 2 3 4; do
        "$ferry" verify "$positions/sinusoidal-post" "$positions/sinusoidal-post/golden.safetensors" > "out$number" 2>&1 &
        processes+=($!)
    done
    for number in "${processes[@]}"; do
        wait "$number" || fail "$(cat out?)"
    done
    cached > /dev/null
}

test_place_of_the_cache()
{
    unset XDG_CACHE_HOME
    mkdir home
    HOME=$PWD/home expect_success inspect "$positions/none-post"
    expect_message "converted to $PWD/home/.cache/ferry/none-post-"
    XDG_CACHE_HOME=relative HOME=$PWD/home expect_quiet_success inspect "$positions/none-post"
    # Where there is none, a model is converted to a file without a name.
    mkdir temporary
    export TMPDIR=$PWD/temporary
    HOME='' expect_success verify "$positions/none-post" "$positions/none-post/golden.safetensors"
    expect_message 'no folder for converted models: set XDG_CACHE_HOME or HOME, or use '"'ferry convert'; "
    expect_message "none-post is converted to a temporary file, for this time"
    touch file
    XDG_CACHE_HOME=$PWD/file expect_success inspect "$positions/none-post"
    expect_message 'file/ferry: cannot create the folder: Not a directory; '
    XDG_CACHE_HOME=$PWD/file expect_quiet_success languages --quiet -m "$positions/none-post"
    [ -z "$(ls temporary)" ] || fail "a temporary file is left: $(ls temporary)"
    TMPDIR=$PWD/file HOME='' run languages --quiet -m "$positions/none-post"
    expect_status 1
    expect_message "$PWD/file: cannot open: Not a directory"
    # The source is at fault, not the cache.
    mkdir empty
    XDG_CACHE_HOME=$PWD/file expect_failure 'empty: no model that Ferry knows' languages --quiet -m empty
}

test_cache_refuses()
{
    mkdir empty
    expect_failure 'empty: ' translate -m empty x
    echo 'no model' > letter
    expect_failure 'letter: ' translate -m letter x
    : > nothing
    expect_failure 'nothing: ' translate -m nothing x
    [ -z "$(find cache -type f)" ] || fail "a failed conversion leaves a file: $(find cache)"
}

test_types()
{
    local last=100000000 type
    for type in f32 f16 int8; do
        expect_success convert "$positions/sinusoidal-post" --type "$type" -o "$type.gguf"
        [ "$(stat -c %s "$type.gguf")" -lt "$last" ] || fail "$type is not smaller"
        last=$(stat -c %s "$type.gguf")
        expect_silence
        head -1 out | grep -qxE "$type.gguf: 0\.[0-9] MB, from 0\.[0-9] MB in [0-9.]+ s" || fail "$(cat out)"
        expect_lines out "$([ "$type" = int8 ] && echo 2 || echo 1)"
    done
    expect_success convert "$positions/sinusoidal-post" --type int8 --verbose -o int8.gguf
    grep -qE '^ferry: enc\.blk\.0\.attn_q[a-z.]*: rms error [0-9.e-]+, [0-9.]+ % of the weights. [0-9.e-]+; largest weight [0-9.e-]+$' \
        err || fail "$(cat err)"
    grep -qE '^ferry: [^ ]*/sinusoidal-post is read by (a child process: other files are (not )?refused, sockets are (not )?refused|this process, which is not confined)$' \
        err || fail "$(cat err)"
    # The summary says what the lines say.
    sed -n 's/^ferry: \(.*\): rms error .*, \(.*\) % of .*/\2 \1/p' err | sort -rn > errors
    [ "$(awk '{ sum += $1 } END { printf "%.1f of %d", sum / NR, NR }' errors)" = \
        "$(sed -nE 's/^int8: .* by ([0-9.]+) % \(rms, mean of ([0-9]+) .*/\1 \2/p' out | awk '{ printf "%.1f of %d", $1, $2 }')" ] ||
        fail "the mean: $(cat out errors)"
    [ "$(head -1 errors)" = "$(sed -nE 's/.*, most in (.*): ([0-9.]+) %$/\2 \1/p' out)" ] || fail "the worst: $(cat out errors)"
    expect_quiet_success convert "$positions/sinusoidal-post" --type int8 -o int8.gguf --quiet
    expect_usage_error "convert: expected --verbose or --quiet, found both" convert --verbose --quiet x
    expect_success inspect int8.gguf
    run convert "$positions/sinusoidal-post" -o plain.gguf
    cmp plain.gguf f32.gguf || fail "the default is not f32"
}

# Of a model file, only the type of its matrices changes.
test_types_of_a_model_file()
{
    expect_success convert "$positions/rope-post" -o f32.gguf
    expect_success convert "$positions/rope-post" --type int8 --quiet -o int8.gguf
    expect_success convert f32.gguf --type int8 -o again.gguf
    grep -q '^int8: rounding changes weights by' out || fail "$(cat out)"
    cmp int8.gguf again.gguf || fail 'int8 differs'
    expect_success convert f32.gguf --type int4 -o int4.gguf
    grep -q '^int4: rounding changes weights by' out || fail "$(cat out)"
    run convert int8.gguf --type int4 -o int84.gguf
    expect_message 'its int8 matrices are rounded once more, to four bits'
    expect_quiet_success convert int4.gguf -o same4.gguf
    cmp int4.gguf same4.gguf || fail 'the default changes a model file of four bits'
    expect_success verify int4.gguf
    expect_success inspect int4.gguf
    grep -q 'in four bits with a step for every 32 inputs' out || fail "$(cat out)"
    expect_quiet_success convert int8.gguf -o same.gguf
    cmp int8.gguf same.gguf || fail 'the default changes a model file'
    expect_failure '-o int8.gguf: expected a file of its own, found one that is read as SOURCE' convert int8.gguf --type f16 -o int8.gguf
    expect_failure 'int8.gguf: exists; choose a name with --output' convert int8.gguf --type f16
}

# A source that would take more than its budget leaves no file.
test_budget()
{
    expect_failure 'plain.gguf: would need ' convert "$positions/sinusoidal-post" --budget 1 -o plain.gguf
    expect_message '; the budget of this source is 1000000 bytes'
    ! compgen -G 'plain.gguf*' || fail 'a file is left'
    expect_usage_error "--budget: expected a whole number from 1 to" convert "$positions/sinusoidal-post" --budget 0
    expect_success convert "$positions/sinusoidal-post" --budget 10 -o plain.gguf
}

test_convert_a_file()
{
    cp -r "$positions/sinusoidal-post" v1.5
    expect_success convert v1.5/model.safetensors
    [ -s model.gguf ] || fail "$(ls)"
    expect_success convert v1.5
    [ -s v1.5.gguf ] || fail "$(ls)"
}

# Progress is one line, shown only on a terminal, and erased at the end.
test_progress_on_a_terminal()
{
    if ! script -qec true /dev/null > seen 2>&1 < /dev/null; then
        [ "${CI:-}" != true ] || fail "no terminal to show progress on: $(cat seen)"
        echo "not run: progress, because there is no terminal: $(cat seen)"
        return 0
    fi
    script -qec "'$ferry' convert '$positions/sinusoidal-post' -o model.gguf" /dev/null > seen 2>&1 < /dev/null
    [ -s model.gguf ] || fail "$(cat seen)"
    grep -qE $'\rconverting: [0-9]+ % of [0-9.]+ MB\x1b\[K' seen || fail "no progress: $(od -c seen | head -20)"
    grep -q $'\r\x1b\[Kmodel.gguf: ' seen || fail "the line is not erased: $(od -c seen | head -20)"
    script -qec "'$ferry' convert --quiet '$positions/sinusoidal-post' -o model.gguf" /dev/null > seen 2>&1 < /dev/null
    [ ! -s seen ] || fail "not quiet: $(od -c seen | head -20)"
}
