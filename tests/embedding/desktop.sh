#!/bin/bash
# examples/desktop in a window of a virtual display, built as its own project with the installed Ferry:
#     desktop.sh BUILD [SCREENSHOTS]
set -Eeuo pipefail
trap 'echo "desktop: failed at line $LINENO" >&2' ERR
build=$(realpath "$1")
source_dir=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-desktop.XXXXXX")
xvfb=
trap '[ -z "$xvfb" ] || kill "$xvfb"; rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" > /dev/null
cmake -S "$source_dir/examples/desktop" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
    -DCMAKE_C_FLAGS='-Wconversion -Wshadow -Werror' > /dev/null
cmake --build "$scratch/build" > /dev/null
cmake --install "$scratch/build" --prefix "$scratch/prefix" > /dev/null
id=org.example.FerryDesktop
shared=$scratch/prefix/share
! command -v desktop-file-validate > /dev/null || desktop-file-validate "$shared/applications/$id.desktop"
grep -qx "Icon=$id" "$shared/applications/$id.desktop"

ferry=$scratch/prefix/bin/ferry
shipped=$source_dir/models/pretrained/tatoeba-en-de.gguf
"$ferry" convert --quiet "$source_dir/tests/data/huggingface/m2m100" -o "$scratch/many.gguf"
# The shipped model with language tags: pieces of its vocabulary that have no such meaning for it.
python3 "$source_dir/tests/tools/add_languages.py" "$shipped" "$scratch/tagged.gguf" prefix \
    'eng_Latn en eng=3=200' 'deu_Latn de deu=3=100' 'fra_Latn fr fra=3=300'

Xvfb -displayfd 3 -screen 0 1000x700x24 3> "$scratch/display" 2> /dev/null &
xvfb=$!
until [ -s "$scratch/display" ]; do sleep 0.1; done
DISPLAY=:$(cat "$scratch/display")
# Software rendering, and settings of nobody. The icon is where the program was installed.
export DISPLAY GSK_RENDERER=cairo GTK_USE_PORTAL=0 HOME="$scratch" XDG_RUNTIME_DIR="$scratch" LC_ALL=C.UTF-8
export G_DEBUG=fatal-criticals XDG_DATA_DIRS="$shared:/usr/share"
dbus-run-session -- /usr/bin/python3 -W ignore "$source_dir/tests/embedding/desktop.py" \
    "${FERRY_DESKTOP_PROGRAM:-$scratch/prefix/bin/ferry-desktop}" "$ferry" "$shipped" \
    "$source_dir/models/encodings/rope.gguf" "$scratch/tagged.gguf" "$scratch/many.gguf" ${2:+"$2"} \
    2> "$scratch/errors" || { cat "$scratch/errors" >&2; false; }
