#!/bin/bash
# The completions, in the shells themselves, and the manual pages: pages.sh FERRY DIRECTORY
set -Eeuo pipefail
trap 'echo "pages: failed at line $LINENO" >&2' ERR
source_dir=$(realpath "$(dirname "$0")/../..")
ferry=$(realpath "$1") pages=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-pages.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir models
touch 'a model.gguf' letter.txt
missing=

fail()
{
    echo "pages: $*" >&2
    exit 1
}

has()
{
    command -v "$1" > /dev/null || { missing="$missing $1" && return 1; }
}

# in_bash WORD...: what completes the last word, one line for each; --NAME=VALUE is given as the three words bash makes.
in_bash()
{
    bash -c 'source "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _ferry; printf "%s\n" "${COMPREPLY[@]}"' \
        "$pages/ferry.bash" "$@"
}

# in_fish WORD...
in_fish()
{
    fish --no-config -c "source '$pages/ferry.fish'; complete -C '${*}'" | cut -f 1
}

# in_zsh WORD...: types the words and a tab into a zsh of its own; what it lists or inserts.
in_zsh()
{
    zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        ask() { zpty -w shell "$1"; zpty -r -m shell seen "*$2*" }
        ask "PS1= RPS1= fpath=($1 \$fpath); autoload -U compinit; compinit -D -u; compdef _ferry ferry; print RE\ADY" READY
        zpty -w -n shell "$2"$'\''\t\t'\''
        zpty -w -n shell $'\''\x01print \x22DO\x22NE; : \x0a'\''
        zpty -r -m shell seen "*DONE*"
        print -r -- "$seen"' zsh "$pages" "$*" | tr -d '\r' | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g'
}

# completes EXPECTED SHELL WORD...: these lines, in any order.
completes()
{
    local output
    output=$("in_$2" "${@:3}" | LC_ALL=C sort | tr '\n' ' ')
    [ "${output% }" = "$1" ] || fail "$2, '${*:3}': expected '$1', found '${output% }'"
}

# The table: every option that the help of every command lists is offered, whatever the shell.
for command in $("$ferry" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    options=$("$ferry" help "$command" | sed -n 's/^  \(-[a-z],\|   \) \(--[a-z-]*\).*/\2/p' | LC_ALL=C sort | tr '\n' ' ')
    [ -n "$options" ] || fail "no options in the help of $command"
    completes "${options% }" bash ferry "$command" --
    if has fish; then completes "${options% }" fish ferry "$command" --; fi
done

for shell in bash fish; do
    has $shell || continue
    completes 'translate' $shell ferry tr
    completes 'huggingface' $shell ferry translate --policy h
    completes 'int4 int8' $shell ferry convert -o x --type i
    completes 'letter.txt' $shell ferry translate -i le
    completes 'service' $shell ferry bench se
    completes 'list' $shell ferry cache li
    completes 'convert' $shell ferry help con
done
completes 'f16 f32' bash ferry convert --type = f
completes 'a model.gguf' bash ferry inspect 'a m'
completes '' bash ferry translate le
completes '' bash ferry translate --beam le
if has fish; then completes '--policy=huggingface' fish ferry translate --policy=h; fi
if has zsh; then
    for each in 'translate:ferry transl' '--no-shortlist:ferry translate --no-s' 'huggingface:ferry translate --policy hug' \
        'letter.txt:ferry translate -i let' 'service:ferry bench ser' 'convert:ferry help conv'; do
        in_zsh "${each#*:}" > typed
        grep -qE -e "(^|[^a-z-])${each%%:*}( |\$)" typed || fail "zsh, '${each#*:}': expected '${each%%:*}', found '$(cat -v typed)'"
    done
fi

# The pages: no complaints, and everything that they are made from.
for page in ferry.1 ferry.3; do
    # The pages are the same whenever they are built: they have no date.
    if has mandoc; then
        complaints=$(mandoc -Tlint -W warning "$pages/$page" | grep -v 'missing date' || true)
        [ -z "$complaints" ] || fail "$complaints"
    fi
    if has groff; then
        complaints=$(groff -man -Tascii -ww -z "$pages/$page" 2>&1)
        [ -z "$complaints" ] || fail "$complaints"
    fi
done
if has mandoc; then
    mandoc -Tascii -O width=1000 "$pages/ferry.3" | sed 's/.\x08//g' > ferry.3
    mandoc -Tascii -O width=1000 "$pages/ferry.1" | sed 's/.\x08//g' > ferry.1
    grep -oE '^FERRY_API .*' "$source_dir/engine/ferry.h" | grep -oE 'ferry_[a-z_]+\(' > functions
    [ "$(wc -l < functions)" -gt 20 ] || fail "where are the functions?"
    while IFS= read -r function; do
        grep -qE "^ +[a-z].*[ *]${function%?}\\(.*\\);" ferry.3 || fail "ferry.3 lacks $function)"
    done < functions
    for text in 'float length_penalty;' 'lines, each as one sentence (ferry_options.split, max_source)' 'FERRY_ERROR_CANCELLED = 7'; do
        grep -qF -- "$text" ferry.3 || fail "ferry.3 lacks '$text'"
    done
    for text in '-m, --model FILE' '--policy huggingface|marian|ctranslate2' 'ferry bench [OPTION...]' 'FERRY_MODEL names' 'ferry help translate'; do
        grep -qF -- "$text" ferry.1 || fail "ferry.1 lacks '$text'"
    done
fi

if [ -n "$missing" ]; then
    echo "pages: not run, not installed: $(tr " " "\n" <<< "$missing" | sort -u | xargs)" >&2
    exit 77
fi
