#!/bin/bash
# bindings/js: the modules are made, packed as npm does, installed in an empty project, and tested there in Node, and in a browser with
# examples/web, beside the program.
# tests/embedding/javascript.sh BUILD SCRATCH      (BUILD has the program; after tools/setup.sh full)
set -euo pipefail
cd "$(dirname "$0")/../.."
tree=$PWD
ferry=$(realpath "$1/ferry")
scratch=$(realpath -m "$2")

cmake --preset wasm > /dev/null
cmake --build --preset wasm > "$tree/build-wasm/log" || { cat "$tree/build-wasm/log"; false; }

rm -rf "$scratch"
mkdir -p "$scratch/project"
bindings/js/pack.sh "$scratch"
cd "$scratch/project"
npm init -y > /dev/null
npm install --silent --no-audit --no-fund --offline "$scratch"/ferry-translate-*.tgz
cp "$tree/tests/js/test_ferry.mjs" .
for part in LESSERv3 'Jean-loup Gailly' 'Petri Lehtinen' 'Kirill Simonov' 'LLVM Exceptions' 'musl as a whole' 'Yann Collet' utf8proc md4c; do
    grep -q "$part" node_modules/ferry-translate/NOTICES || { echo "NOTICES lacks $part" >&2; false; }
done

model=$tree/models/pretrained/tatoeba-en-de.gguf
head -n 40 "$tree/models/encodings/test.en" > lines
mkdir firefox
cp "$tree"/tests/data/models/bergamot-en-de/{model.ende.intgemm.alphas.bin,lex.50.50.ende.s2t.bin,vocab.ende.spm} firefox
"$ferry" convert firefox -o firefox.gguf 2> /dev/null > /dev/null
"$ferry" translate -m firefox.gguf --split all -i lines -o firefox-translations 2> /dev/null
for kind in f16 int8; do
    "$ferry" convert "$model" -o "$kind.gguf" --type "$kind" 2> /dev/null > /dev/null
    "$ferry" translate -m "$kind.gguf" --split all -i lines -o translations
    node test_ferry.mjs "$PWD/$kind.gguf" lines translations firefox firefox-translations
done
python3 "$tree/tests/js/test_page.py" "$ferry" node_modules/ferry-translate int8.gguf lines firefox "$scratch/page.png"
