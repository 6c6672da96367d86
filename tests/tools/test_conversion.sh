# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Models that are not model files: converted once, into the user's cache; and the types of `ferry convert`.

# The only file in the cache.
cached()
{
    set -- "$XDG_CACHE_HOME"/ferry/*
    [ $# -eq 1 ] || fail "expected one file in the cache, found $*"
    printf %s "$1"
}

test_cache()
{
    export XDG_CACHE_HOME=$PWD/cache
    cp -r "$positions/sinusoidal-post" 'my model'
    run inspect 'my model/'
    expect_status 0
    grep -q '^sinusoidal-post\|^my model' out || fail "$(cat out)"
    local file made
    file=$(cached)
    expect_message "my model/: converted to $file"
    [[ $file == */cache/ferry/'my model'-*.gguf ]] || fail "found $file"
    made=$(stat -c %i:%y "$file")
    # It is found again by every name, and whatever lies beside the model's files.
    echo text > 'my model/translation'
    ln -s 'my model' link
    local name
    for name in 'my model' link "$PWD/my model"; do
        run verify "$name" "$positions/sinusoidal-post/golden.safetensors"
        expect_status 0
        expect_silence
    done
    [ "$(stat -c %i:%y "$(cached)")" = "$made" ] || fail "converted again"
    # A change of its files is another model.
    touch -d '2001-01-01' 'my model/config.json'
    run inspect 'my model'
    expect_status 0
    expect_message 'my model: converted to '
    [ "$(find cache -type f | wc -l)" -eq 2 ] || fail "$(find cache)"
    run inspect 'my model'
    expect_silence
}

test_cache_for_every_command()
{
    export XDG_CACHE_HOME=$PWD/cache
    cp -r "$positions/sinusoidal-post" model
    run languages -m model --quiet
    expect_status 0
    expect_silence
    cached > /dev/null
    # A model without a tokenizer: the line fails, not the opening.
    run translate -m model x
    expect_status 1
    expect_message 'the model has no tokenizer'
    FERRY_MODEL=model run translate x
    expect_status 1
    expect_message 'the model has no tokenizer'
    cached > /dev/null
}

test_cache_of_a_file()
{
    export XDG_CACHE_HOME=$PWD/cache
    cp -r "$positions/sinusoidal-post" model
    run inspect model/model.safetensors
    expect_status 0
    expect_message "model/model.safetensors: converted to $(cached)"
    run inspect model/model.safetensors
    expect_silence
    touch -d '2001-01-01' model/config.json
    run inspect model/model.safetensors
    expect_message 'converted to'
}

# What lies beside an archive is none of its business.
test_cache_of_an_archive()
{
    export XDG_CACHE_HOME=$PWD/cache
    cp -r "$positions/sinusoidal-post" model
    (cd model && python3 -m zipfile -c ../model.zip ./*) || fail "zipfile"
    run inspect model.zip
    expect_status 0
    expect_message "model.zip: converted to $(cached)"
    touch other.bin
    run inspect model.zip
    expect_silence
    run convert model.zip
    expect_status 0
    [ -s model.gguf ] || fail "$(ls)"
    run verify model.gguf "$positions/sinusoidal-post/golden.safetensors"
    expect_status 0
}

# Two at once: each gets a whole model.
test_cache_shared_by_processes()
{
    export XDG_CACHE_HOME=$PWD/cache
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
    HOME=$PWD/home run inspect "$positions/none-post"
    expect_status 0
    expect_message "converted to $PWD/home/.cache/ferry/none-post-"
    XDG_CACHE_HOME=relative HOME=$PWD/home run inspect "$positions/none-post"
    expect_status 0
    expect_silence
    HOME='' run inspect "$positions/none-post"
    expect_status 1
    expect_message 'no folder for converted models: set XDG_CACHE_HOME or HOME'
    touch file
    XDG_CACHE_HOME=$PWD/file run inspect "$positions/none-post"
    expect_status 1
    expect_message 'file/ferry: cannot create the folder: Not a directory'
}

test_cache_refuses()
{
    export XDG_CACHE_HOME=$PWD/cache
    mkdir empty
    run translate -m empty x
    expect_status 1
    expect_message 'empty: '
    echo 'no model' > letter
    run translate -m letter x
    expect_status 1
    expect_message 'letter: '
    : > nothing
    run translate -m nothing x
    expect_status 1
    expect_message 'nothing: '
    [ -z "$(find cache -type f)" ] || fail "a failed conversion leaves a file: $(find cache)"
}

test_types()
{
    local last=100000000 type
    for type in f32 f16 int8; do
        run convert "$positions/sinusoidal-post" --type "$type" -o "$type.gguf"
        expect_status 0
        [ "$(stat -c %s "$type.gguf")" -lt "$last" ] || fail "$type is not smaller"
        last=$(stat -c %s "$type.gguf")
        [ "$type" = int8 ] || expect_silence
    done
    grep -qE '^ferry: enc\.blk\.0\.attn_q[a-z.]*: rms error [0-9.e-]+, [0-9.]+ % of the weights. [0-9.e-]+; largest weight [0-9.e-]+$' \
        err || fail "$(cat err)"
    run convert "$positions/sinusoidal-post" --type int8 -o int8.gguf --quiet
    expect_status 0
    expect_silence
    run inspect int8.gguf
    expect_status 0
    run convert "$positions/sinusoidal-post" -o plain.gguf
    cmp plain.gguf f32.gguf || fail "the default is not f32"
}

test_convert_a_file()
{
    cp -r "$positions/sinusoidal-post" v1.5
    run convert v1.5/model.safetensors
    expect_status 0
    [ -s model.gguf ] || fail "$(ls)"
    run convert v1.5
    expect_status 0
    [ -s v1.5.gguf ] || fail "$(ls)"
}

# One line that is rewritten and gone in the end, and only on a terminal.
test_progress_on_a_terminal()
{
    if ! script -qec true /dev/null > seen 2>&1 < /dev/null; then
        [ "${CI:-}" != true ] || fail "no terminal to show progress on: $(cat seen)"
        echo "not run: progress, for want of a terminal: $(cat seen)"
        return 0
    fi
    script -qec "'$ferry' convert '$positions/sinusoidal-post' -o model.gguf" /dev/null > seen 2>&1 < /dev/null
    [ -s model.gguf ] || fail "$(cat seen)"
    grep -qE $'\rconverting: [0-9]+ % of [0-9.]+ MB\x1b\[K' seen || fail "no progress: $(od -c seen | head -20)"
    grep -q $'\r\x1b\[Kmodel.gguf: ' seen || fail "the line stays: $(od -c seen | head -20)"
    script -qec "'$ferry' convert --quiet '$positions/sinusoidal-post' -o model.gguf" /dev/null > seen 2>&1 < /dev/null
    [ ! -s seen ] || fail "not quiet: $(od -c seen | head -20)"
}
