# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Files that the program writes and opens: links, special files, limits, signals.

# make KIND NAME: one of the files that appear complete or not at all.
make()
{
    case $1 in
    model) run convert --quiet "$positions/none-post" -o "$2" ;;
    golden) run verify "$shipped" --record "$2" ;;
    esac
}

# expect_made KIND NAME: NAME is such a file, and there is nothing else of it.
expect_made()
{
    expect_status 0
    expect_silence
    [ -f "$2" ] || fail "$2 is no file: $(ls -l "$2")"
    case $1 in
    model) expect_quiet_success inspect "$2" ;;
    golden) expect_success verify "$shipped" "$2" ;;
    esac
    expect_nothing_left
}

expect_nothing_left()
{
    [ -z "$(find . -name 'ferry-*.part')" ] || fail "left behind: $(find . -name 'ferry-*.part')"
}

# From here on, a run of the program that hangs ends after a while, and with another status than a failure.
guard()
{
    printf '#!/bin/sh\nexec timeout 60 "%s" "$@"\n' "$ferry" > guarded
    chmod +x guarded
    ferry=$PWD/guarded
}

# ---- links ----

# What lies beside the output belongs to somebody else, whatever its name.
test_files_beside_the_output()
{
    echo precious > victim
    ln -s victim linked.file.part
    echo mine > kept.file.part
    make model linked.file
    expect_made model linked.file
    make model kept.file
    expect_made model kept.file
    [ "$(tr -d '\0' < victim)" = precious ] || fail "the target of a link was overwritten"
    [ "$(tr -d '\0' < kept.file.part)" = mine ] || fail "a file of the user was overwritten"
}

test_output_is_a_link()
{
    local kind
    for kind in model golden; do
        mkdir "$kind"
        echo old > "$kind/target"
        chmod 604 "$kind/target"
        ln -s "$kind/target" "$kind-link.file"
        ln -s "$PWD/$kind/made" "$kind-dangling.file"
        ln -s "$kind-loop.file" "$kind-loop.file"
        make "$kind" "$kind-link.file"
        expect_made "$kind" "$kind/target"
        [ "$(stat -c %a "$kind/target")" = 604 ] || fail "permissions: $(ls -l "$kind/target")"
        make "$kind" "$kind-dangling.file"
        expect_made "$kind" "$kind/made"
        if [ ! -L "$kind-link.file" ] || [ ! -L "$kind-dangling.file" ]; then fail "a link was replaced: $(ls -l)"; fi
        make "$kind" "$kind-loop.file"
        expect_status 1
        expect_message "$kind-loop.file: cannot create: Too many levels of symbolic links"
    done
}

# ---- special files ----

test_output_is_no_file()
{
    local row
    guard
    mkdir directory.file
    mkfifo pipe.file
    ln -s pipe.file link.file
    local rows=('directory.file directory' 'pipe.file pipe' 'link.file pipe')
    # Copies: the system's own are not for experiments.
    if mknod full.file c 1 7 2> err && mknod null.file c 1 3 && : > null.file; then
        rows+=('full.file device' 'null.file device')
    else
        echo "not run: devices as outputs, which cannot be made here: $(cat err)"
    fi
    find . -name '*.file' -ls > before
    for row in "${rows[@]}"; do
        make model "${row% *}"
        expect_status 1
        expect_message "${row% *}: expected a regular file, found a ${row#* }"
    done
    make golden directory.file
    expect_status 1
    expect_message 'directory.file: expected a regular file, found a directory'
    # A link that leads to no name.
    status=0
    "$ferry" convert --quiet "$positions/none-post" -o /dev/stdout 2> err | cat > out || status=$?
    expect_status 1
    expect_message '/dev/stdout: expected a regular file, found a pipe'
    find . -name '*.file' -ls | cmp - before || fail "changed: $(ls -l)"
    expect_nothing_left
}

# Translations are written as they come, into whatever has the name.
test_streams()
{
    local number
    guard
    mkfifo pipe
    expect_success translate -o pipe 'How are you?' & # `run` has its files in this folder
    [ "$(timeout 60 cat pipe)" = 'Wie geht es dir?' ] || fail "nothing came through the pipe"
    wait
    echo old > file
    ln file other
    ln -s file link
    number=$(stat -c %i file)
    expect_quiet_success translate -o link 'How are you?'
    [ "$(cat other)" = 'Wie geht es dir?' ] || fail "found $(cat other)"
    [ "$(stat -c %i file)" = "$number" ] || fail "the file was replaced"
    # The input may be a pipe, too.
    echo 'How are you?' > pipe &
    expect_quiet_success translate -i pipe
    expect_out 'Wie geht es dir?\n'
}

# What is complete or not at all elsewhere is written to a pipe and to a device, too; a full one tells.
test_complete_to_a_pipe()
{
    guard
    echo 'How are you?' > page.md
    mkfifo pipe
    expect_success translate --quiet -i page.md -o pipe &
    [ "$(timeout 60 cat pipe)" = 'Wie geht es dir?' ] || fail "nothing came through the pipe"
    wait
    expect_success verify "$shipped" --record pipe &
    timeout 60 cat pipe > golden
    wait
    expect_success verify "$shipped" golden
    expect_quiet_success translate --quiet -i page.md -o /dev/null
    [ ! -c /dev/full ] || expect_failure '/dev/full: cannot write: ' translate --quiet -i page.md -o /dev/full
    expect_nothing_left
}

# A standard stream, by whatever name: what was in its file, what comes before and what comes behind stay.
test_output_is_a_standard_stream()
{
    local input output begin
    echo 'How are you?' > page.md
    cp page.md lines
    for input in lines page.md; do
        for output in /dev/stdout /dev/fd/1 /proc/self/fd/1 log link; do
            for begin in append overwrite; do
                rm -f link
                echo before > log
                ln -s log link
                if [ $begin = append ]; then exec 7>> log; else exec 7<> log && head -c 7 > head <&7; fi
                { echo header && "$ferry" translate --quiet -i $input -o $output && echo footer; } >&7 ||
                    fail "$input $output $begin: exit status"
                exec 7>&-
                [ "$(cat log)" = $'before\nheader\nWie geht es dir?\nfooter' ] ||
                    fail "$input $output $begin: found $(cat log)"
            done
        done
    done
    echo before > log
    "$ferry" translate --quiet -i page.md -o /dev/stderr 2>> log || fail 'exit status'
    "$ferry" translate --quiet -i lines -o log 2>> log || fail 'exit status'
    [ "$(cat log)" = $'before\nWie geht es dir?\nWie geht es dir?' ] || fail "found $(cat log)"
    echo before > log
    status=0
    "$ferry" translate -i lines --resume -o log >> log 2> err || status=$?
    expect_status 1
    expect_message '--resume: expected a file as --output, found standard output'
    status=0
    "$ferry" convert --quiet "$positions/none-post" -o /dev/stdout >> log 2> err || status=$?
    expect_status 1
    expect_message '/dev/stdout: expected a file of its own, found a standard stream'
    [ "$(cat log)" = before ] || fail "found $(cat log)"
}

# A pipe is not waited for where a file is expected.
test_input_is_no_file()
{
    local arguments model=$shipped
    guard
    mkfifo pipe
    for arguments in 'inspect pipe' 'verify pipe' "verify $model pipe" 'translate -m pipe x' 'languages -m pipe' \
        'bench translate -m pipe -i /dev/null' \
        'convert pipe -o x.gguf'; do
        # shellcheck disable=SC2086 # several arguments
        expect_failure 'pipe: expected a regular file, found a pipe' $arguments
    done
    FERRY_MODEL=pipe expect_failure 'pipe: expected a regular file, found a pipe' translate x
    expect_failure '/dev/null: expected a regular file, found a device' inspect /dev/null
    # What is no file of a model's folder is not part of it.
    cp -r "$positions/none-post" model
    mkfifo model/vocab.txt
    expect_quiet_success convert --quiet model -o model.gguf
    rm model/config.json
    mkfifo model/config.json
    expect_failure 'config.json is missing' convert --quiet model -o model.gguf
}

# ---- outputs that are read, written by others, or gone ----

# expect_refused OUTPUT ROLE ARGUMENT…: OUTPUT, as the message has it, is read as ROLE; nothing is changed.
expect_refused()
{
    local output=$1 role=$2
    shift 2
    expect_failure "$output: expected a file of its own, found one that is read as $role" "$@"
    md5sum --quiet -c sums || fail "$*: an input was changed"
}

# Whatever their names are: hard links, symbolic links, other ways to write a path.
test_output_is_read()
{
    local file
    mkdir other
    cp "$shipped" model.gguf
    cp -r "$source_dir/tests/data/models/tatoeba-en-de/marian" source
    chmod -R u+w source model.gguf
    printf 'How are you?\n' | tee letter > prefixes
    md5sum model.gguf letter prefixes source/* > sums
    ln model.gguf other/hard
    ln -s model.gguf soft
    ln letter other/letter
    expect_refused '-o ./model.gguf' -m translate -m model.gguf -i letter -o ./model.gguf
    expect_refused '--output other/hard' --model translate --model soft -i letter --output other/hard
    FERRY_MODEL=model.gguf expect_refused '-o soft' FERRY_MODEL translate -i letter -o soft
    expect_refused '-o other/hard' -m bench translate -m model.gguf -i letter -o other/hard
    expect_refused '-o other/letter' -i translate -i letter -o other/letter --resume
    expect_refused '-o other/letter' -i translate -i letter -o other/letter --format text
    expect_refused '-o prefixes' --prefixes translate --prefixes prefixes -i letter -o prefixes
    expect_refused '-o prefixes' --glossary translate --glossary prefixes -i letter -o prefixes --format text
    expect_refused '-o other/letter' -i bench translate -i letter -o other/letter
    for file in source/*; do
        expect_refused "-o $file" -m translate -q -m source -i letter -o "$file"
        expect_refused "-o $file" -m translate -q -m source/model.npz -i letter -o "$file"
        expect_refused "-o $file" SOURCE convert -q source -o "$file"
    done
    # What lies beside them is no part of the model.
    for file in 1 2; do
        expect_quiet_success translate -q -m source -i letter -o source/out.txt
        expect_refused "-o $(echo cache/ferry/source-*)" -m translate -q -m source -i letter -o cache/ferry/source-*
        expect_quiet_success convert -q source -o source/model.gguf
        expect_quiet_success translate -m model.gguf -i letter -o source.json
    done
}

test_standard_output_is_read()
{
    printf 'How are you?\n' | tee letter > other
    md5sum letter > sums
    check()
    {
        timeout 60 "$ferry" "$@" >> letter 2> err && fail "$*: exit status 0"
        grep -q 'standard output: expected a file of its own, found one that is read as ' err || fail "$*: $(cat err)"
        md5sum --quiet -c sums || fail "$*: it grew"
    }
    check translate < letter
    check translate - < letter
    check translate -i letter
    check score other - < letter
    check score other letter
    check score letter other
    cp "$shipped" letter
    md5sum letter > sums
    check translate -m letter x
    # Another file, no file, and standard input that is not read.
    cp other letter
    "$ferry" translate 'How are you?' < letter >> letter || fail 'exit status'
    "$ferry" translate -o /dev/null < /dev/null > /dev/null || fail 'exit status'
    "$ferry" translate < other >> letter || fail 'exit status'
    [ "$(cat letter)" = $'How are you?\nWie geht es dir?\nWie geht es dir?' ] || fail "found: $(cat letter)"
}

# The first writer has the file until it ends, in whatever way.
test_two_writers()
{
    local option writer
    mkfifo pipe
    printf 'Hello, world!\nHow are you?\n' > in
    printf 'Hallo, die Welt!\nWie' > part
    for option in --resume -q; do
        rm -f part # of the round before
        "$ferry" translate -q -o part "$option" < pipe &
        writer=$!
        exec 7> pipe
        cat in >&7
        until [ -e part ] && [ "$(wc -l < part)" -eq 2 ]; do sleep 0.01; done
        cp part before
        expect_failure "part: process $writer is writing this file" translate -i in -o part
        expect_failure "part: process $writer is writing this file" translate -i in -o part --resume
        expect_failure "part: process $writer is writing this file" bench translate -i in -o part
        cmp part before || fail 'the file was changed'
        if [ "$option" = -q ]; then kill -KILL "$writer"; fi
        exec 7>&-
        wait "$writer" 2> /dev/null
        expect_quiet_success translate -i in -o part --resume
        [ "$(cat part)" = $'Hallo, die Welt!\nWie geht es dir?' ] || fail "found: $(cat part)"
    done
    "$ferry" translate -q -o /dev/null < pipe &
    exec 7> pipe
    sleep 0.2
    expect_quiet_success translate -i in -o /dev/null
    exec 7>&-
    wait
}

# What was written is lost with the file, unless it only has another name.
test_output_vanishes()
{
    local action
    mkfifo pipe
    for action in 'rm -r folder' 'mv folder moved'; do
        mkdir folder
        "$ferry" translate -q -o folder/out < pipe 2> err &
        exec 7> pipe
        until [ -e folder/out ]; do sleep 0.01; done
        $action
        echo 'How are you?' >&7
        exec 7>&-
        status=0
        wait $! || status=$?
        [ ! -e moved ] || break
        expect_status 1
        expect_message 'folder/out: cannot write: the file was removed meanwhile, after line 0 of the input'
    done
    expect_status 0
    [ "$(cat moved/out)" = 'Wie geht es dir?' ] || fail "found: $(cat moved/out)"
    exec 7> nameless
    rm nameless
    expect_quiet_success translate -o /dev/fd/7 'How are you?'
    exec 7>&-
}

# ---- disks ----

test_names_of_outputs()
{
    local longest
    longest=$(printf 'n%.0s' {1..250}).file
    make model "$longest"
    expect_made model "$longest"
    make model "n$longest"
    expect_status 1
    expect_message 'cannot create: File name too long'
    make model no/where.file
    expect_status 1
    expect_message 'no/where.file: cannot create: No such file or directory'
}

# `ulimit -f`: an error, not a signal.
test_limit_of_file_size()
{
    local kind
    for kind in model golden; do
        echo old > file.file
        status=0
        (ulimit -f 1 && make "$kind" file.file && exit "$status") || status=$?
        expect_status 1
        expect_message 'file.file: cannot write: File too large'
        [ "$(cat file.file)" = old ] || fail "the old file is lost"
        expect_nothing_left
    done
    yes '' | head -5000 > blank
    (ulimit -f 1 && run translate -i blank -o lines && exit "$status") || status=$?
    expect_status 1
    expect_message 'lines: cannot write: File too large'
}

# ---- signals ----

# The conversion waits for a full pipe when the signal comes.
test_signals_while_converting()
{
    local signal
    for signal in HUP INT PIPE TERM XCPU; do
        echo old > model.gguf
        python3 "$source_dir/tests/tools/stop_conversion.py" "$signal" \
            "$ferry" convert --type int8 --verbose "$positions/none-post" -o model.gguf > out || fail "$signal: $(cat out)"
        [ "$(cat model.gguf)" = old ] || fail "$signal: the old file is lost"
    done
}
