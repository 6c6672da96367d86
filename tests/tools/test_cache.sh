# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# The cache of converted models: what it trusts, what it takes for a change, what it removes; `ferry cache`.
# (test_conversion.sh: that it serves every command. test_conversion_cache.c: what happens while a model is converted.)

# A source, its entry in $entry, and another model file, as somebody else may plant it.
make_entry()
{
    cp -r "$positions/none-post" source
    expect_success inspect source
    grep -q '^source: ' out || fail "$(cat out)"
    entry=$(echo "$XDG_CACHE_HOME"/ferry/*)
    convert_sample sinusoidal-post planted.gguf
}

# expect_temporary: what was said ended by this, and the source's own model was used.
expect_temporary()
{
    expect_message '; source is converted to a temporary file, for this time'
    grep -q '^source: ' out || fail "the planted model was served"
}

# refuse_entry WHAT: the entry is not opened, and the message says what it is; `ferry cache clear` mends it.
refuse_entry()
{
    expect_success inspect source
    expect_message "$entry: not used: expected a file that belongs to user $(id -u) and that nobody else can write, found $1"
    expect_message "'ferry cache clear' removes it"
    expect_temporary
    expect_quiet_success cache clear
    expect_success inspect source
    grep -q '^source: ' out || fail "the planted model was served"
}

test_cache_entry_that_is_no_file()
{
    make_entry
    ln -sf "$PWD/planted.gguf" "$entry"
    refuse_entry 'a link of user'
    [ -s planted.gguf ] || fail "the target of the link was removed"
    rm "$entry"
    mkfifo "$entry"
    refuse_entry 'a pipe of user'
    rm "$entry"
    mkdir "$entry"
    refuse_entry 'a folder of user'
    # Somebody's folder with files in it is not removed.
    rm "$entry"
    mkdir "$entry"
    touch "$entry/file"
    expect_failure "$entry: cannot remove: " cache clear
    [ -e "$entry/file" ] || fail "a folder was emptied"
}

test_cache_entry_of_others()
{
    make_entry
    cat planted.gguf > "$entry"
    chmod 620 "$entry"
    refuse_entry "a file of user $(id -u) with permissions 620"
    cat planted.gguf > "$entry"
    chmod 602 "$entry"
    refuse_entry "a file of user $(id -u) with permissions 602"
    cat planted.gguf > "$entry"
    if [ "$(id -u)" -ne 0 ]; then
        echo "not run: an entry of another user, because only root can make one"
        return 0
    fi
    chown nobody "$entry"
    refuse_entry "a file of user $(id -u nobody) with"
}

# What opening finds damaged is removed, and the source converted once more: here a file that was cut, one of other
# bytes, and an empty one.
test_cache_entry_that_is_damaged()
{
    make_entry
    cp "$entry" whole.gguf
    local size
    for size in 2000 100 0; do
        head -c "$size" whole.gguf > "$entry"
        expect_success inspect source
        expect_message "; it is removed, and source is converted once more" 2
        expect_message "source: converted to $entry" 2
        cmp "$entry" whole.gguf || fail "after $size bytes: another conversion"
    done
    head -c 5000 /dev/zero > "$entry"
    expect_quiet_success languages --quiet -m source
    cmp "$entry" whole.gguf || fail "after zeros: another conversion"
    expect_quiet_success inspect source
}

# refuse_folder WHAT: no command uses the folder, and the message says how to mend it.
refuse_folder()
{
    local folder=$XDG_CACHE_HOME/ferry arguments what
    what="$folder: not used: expected a folder that belongs to user $(id -u) and that nobody else can write, found a $1"
    expect_success inspect source
    expect_message "$what"
    expect_temporary
    expect_quiet_success languages --quiet -m source
    for arguments in list clear; do
        expect_failure "$what" cache $arguments
        expect_message "mend it with 'chown' and 'chmod go-w', or set XDG_CACHE_HOME to another place"
    done
    cmp -s "$entry" planted.gguf || fail "the folder was used"
}

test_cache_folder_of_others()
{
    make_entry
    cp planted.gguf "$entry"
    chmod 600 "$entry"
    local folder=$XDG_CACHE_HOME/ferry
    chmod 777 "$folder"
    refuse_folder "folder of user $(id -u) with permissions 777"
    chmod 770 "$folder"
    refuse_folder "folder of user $(id -u) with permissions 770"
    chmod 755 "$folder"
    mv "$folder" elsewhere
    ln -s "$PWD/elsewhere" "$folder"
    refuse_folder "link of user $(id -u) with permissions 777"
    rm "$folder"
    : > "$folder"
    expect_success inspect source
    expect_message 'found a file of user'
    expect_temporary
    rm "$folder"
    mv elsewhere "$folder"
    if [ "$(id -u)" -ne 0 ]; then
        echo "not run: a folder of another user, because only root can make one"
        return 0
    fi
    chown nobody "$folder"
    refuse_folder "folder of user $(id -u nobody) with permissions 755"
}

# The folder above may be a link, and anybody's.
test_cache_folder_above()
{
    mkdir above
    chmod 777 above
    ln -s above link
    XDG_CACHE_HOME=$PWD/link expect_success inspect "$positions/none-post"
    [ -n "$(find above/ferry -name '*.gguf')" ] || fail "$(find above)"
}

test_cache_is_private()
{
    umask 000
    expect_success inspect "$positions/none-post"
    [ "$(stat -c %a cache/ferry)" = 700 ] || fail "$(ls -la cache)"
    [ "$(stat -c %a cache/ferry/*)" = 600 ] || fail "$(ls -la cache/ferry)"
    expect_quiet_success inspect "$positions/none-post"
}

test_cache_that_is_not_writable()
{
    mkdir -p cache/ferry
    chmod 500 cache/ferry
    if [ -w cache/ferry ]; then
        echo "not run: a cache that is not writable, because root can write everywhere"
        return 0
    fi
    cp -r "$positions/none-post" source
    expect_success inspect source
    expect_message 'Permission denied'
    expect_temporary
}

# Neither size nor time of modification tells.
test_cache_sees_a_restored_time()
{
    cp -r "$positions/none-post" source
    chmod -R u+w source
    expect_success inspect source
    touch -r source/model.safetensors before
    sleep 0.1 # the clock of a file system may tick only every few milliseconds
    # The last byte of a weight.
    printf '\300' | dd of=source/model.safetensors bs=1 seek=$(($(wc -c < source/model.safetensors) - 1)) conv=notrunc \
        status=none
    touch -r before source/model.safetensors
    expect_success verify source
    expect_message 'converted to'
    run verify source "$positions/none-post/golden.safetensors"
    expect_status 1
    expect_match '^FAILED'
}

# The same file under the same name, exchanged for another with the same size and times.
test_cache_sees_another_file()
{
    cp -r "$positions/none-post" source
    cp -p source/config.json other
    expect_success inspect source
    mv other source/config.json
    expect_success inspect source
    expect_message 'converted to'
}

test_cache_name()
{
    mkdir folder
    cp -r "$positions/none-post" folder/xäöüäöüäöüäöüäöüäöüäöü # byte 40 is the first half of a letter
    expect_success inspect folder/x*
    [ "$(find cache/ferry -type f -printf '%f' | sed 's/-[0-9a-f]\{64\}\.gguf$//')" = xäöüäöüäöüäöüäöüäöüä ] ||
        fail "$(ls cache/ferry)"
    # One without a beginning of a letter leaves nothing of it, and is the cache's all the same.
    local bytes
    bytes=$(printf '\200%.0s' {1..50})
    cp -r "$positions/none-post" "folder/$bytes"
    expect_success inspect "folder/$bytes"
    expect_quiet_success cache list
    expect_match '^-[0-9a-f]{64}\.gguf' '^2 files'
    # A name that looks like that of an entry, or of a temporary file, belongs to an entry.
    local name=ferry-0123456789abcdef.part
    cp -r "$positions/none-post" $name
    expect_success inspect $name
    expect_quiet_success cache list
    expect_match "^$name-[0-9a-f]{64}\.gguf"
}

# fake_entry NAME SIZE DATE: an entry that takes no room on the disk.
fake_entry()
{
    local file
    file=cache/ferry/$1-$(printf %064d 0).gguf
    truncate -s "$2" "$file"
    chmod 600 "$file"
    touch -d "$3" "$file"
}

# expect_entries NAME…: the names of the entries and temporary files, sorted.
expect_entries()
{
    [ "$(find cache/ferry -printf '%f\n' | grep -v '^ferry$' | sed 's/-[0-9a-f]\{64\}\.gguf$//' | sort | xargs)" = "$*" ] ||
        fail "expected $*, found $(ls -la cache/ferry)"
}

test_cache_age()
{
    cp -r "$positions/none-post" used
    expect_success inspect used
    touch -d '200 days ago' cache/ferry/used-*
    fake_entry old 1k '91 days ago'
    fake_entry young 1k '89 days ago'
    touch -d '2 days ago' cache/ferry/ferry-0123456789abcdef.part
    touch -d '23 hours ago' cache/ferry/ferry-123456789abcdef0.part
    touch -d '200 days ago' cache/ferry/own.gguf
    # Opening an entry is its use, and removes nothing.
    expect_quiet_success inspect used
    expect_entries ferry-0123456789abcdef.part ferry-123456789abcdef0.part old own.gguf used young
    expect_success inspect "$positions/alibi-post"
    expect_entries alibi-post ferry-123456789abcdef0.part own.gguf used young
}

test_cache_size()
{
    mkdir -p cache/ferry
    chmod 700 cache/ferry
    fake_entry a 9G '1 hour ago'
    fake_entry b 9G '2 hours ago'
    expect_success inspect "$positions/none-post"
    expect_entries a b none-post
    fake_entry c 4G '3 hours ago'
    fake_entry d 1k '4 hours ago'
    expect_success inspect "$positions/alibi-post"
    expect_entries a alibi-post b none-post
    # The new one stays, whatever time the others have.
    fake_entry future 30G '1 day'
    expect_success inspect "$positions/learned-post"
    expect_entries learned-post
}

test_cache_command()
{
    local folder=$XDG_CACHE_HOME/ferry digits='[0-9a-f]{64}\.gguf'
    # A missing folder is empty, and stays missing.
    expect_quiet_success cache list
    expect_out "0 files, 0.0 MB, in $folder\n"
    expect_quiet_success cache clear
    expect_out "0 files removed, 0.0 MB freed, in $folder\n"
    [ ! -e cache ] || fail "a folder was made"
    # The names of sources are strangers'.
    cp -r "$positions/none-post" $'my\e]0;model'
    expect_success inspect $'my\e]0;model'
    fake_entry other 20000000 '2001-02-03 04:05'
    touch "$folder/own file" "$folder/ferry-0123456789abcdef.part"
    touch -d '1 hour ago' "$folder/ferry-0123456789abcdef.part"
    expect_quiet_success cache list
    expect_lines out 4
    expect_match "^my[^[:cntrl:]]*]0;model-$digits"$'\t''[0-9.]+ MB'$'\t'"$(date +%Y)-[0-9-]+ [0-9:]+$" \
        '^ferry-0123456789abcdef.part'$'\t''0\.0 MB'$'\t' "^other-$digits"$'\t''20\.0 MB'$'\t''2001-02-03 04:05$' \
        "^3 files, 20\.[0-9] MB, in $folder$"
    [ "$(sed -n 3p out | cut -c1-5)" = other ] || fail "not sorted by use: $(cat out)"
    # What may be in progress stays, and what is not the cache's own.
    run cache clear
    expect_status 0
    expect_message 'files stay: 1, younger than a day: another process may be writing'
    expect_match "^2 files removed, 20\.[0-9] MB freed, in $folder$"
    [ "$(find cache/ferry -type f | wc -l)" -eq 2 ] || fail "$(ls cache/ferry)"
    touch -d '2 days ago' "$folder/ferry-0123456789abcdef.part"
    expect_quiet_success cache clear
    expect_out "1 file removed, 0.0 MB freed, in $folder\n"
    [ -e "$folder/own file" ] || fail "another file was removed"
    expect_usage_error "cache: expected 'list' or 'clear', found 'empty'" cache empty
    expect_usage_error "cache: expected list|clear, found 0 arguments" cache
    HOME='' XDG_CACHE_HOME='' expect_failure 'no folder for converted models' cache list
}
