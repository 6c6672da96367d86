#!/bin/bash
# The recipe of tools/train beside the engine: recipe.sh FERRY SOURCE_DIR
# Needs a python3 with the packages of tools/train/requirements.txt; exit 77: not run.
set -Eeuo pipefail
trap 'echo "recipe: FAILED at line $LINENO" >&2' ERR
ferry=$(realpath "$1")
train=$(realpath "$2")/tools/train
page=$(realpath "$2")/docs/export-layout.md
corpus=$train/tatoeba-en-de
export OMP_NUM_THREADS=1

if ! python3 -c 'import numpy, safetensors, sentencepiece, torch' 2> /dev/null; then
    echo "recipe: not run: python3 lacks the packages of tools/train/requirements.txt"
    [ "${CI:-}" != true ] || exit 1
    exit 77
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-recipe.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

echo "== The forward pass of every encoding, with random weights"
python3 "$train/golden.py" golden
for directory in golden/*; do
    "$ferry" convert "$directory" -o model.gguf
    "$ferry" verify model.gguf "$directory/golden.safetensors" > log || { cat log; false; }
    echo "$(basename "$directory"): $(tail -n 1 log)"
done
[ "$(find golden -mindepth 1 -maxdepth 1 | wc -l)" -ge 13 ]

echo "== The example of docs/export-layout.md"
awk '/^```python/ { code = 1; next } /^```/ { code = 0 } code' "$page" > example.py
python3 -W ignore example.py
"$ferry" convert model -o model.gguf
"$ferry" verify model.gguf model/golden.safetensors

echo "== Training: the same seed gives the same weights, also after a kill"
mkdir corpus
for language in en de; do
    gzip -dc "$corpus/dev.$language.gz" > "$language"
    head -n 1300 "$language" | gzip > "corpus/train.$language.gz"
    tail -n 121 "$language" | gzip > "corpus/dev.$language.gz"
done
options=(--corpus corpus --encoding t5 --vocabulary 300 --tokens 60000 --d-model 32 --ffn 64 --test-lines 0)
recipe()
{
    python3 "$train/train.py" "${options[@]}" --output "runs/$1" "${@:2}"
}
recipe whole > log
tail -n 1 log
python3 "$train/train.py" "${options[@]}" --output runs/killed --save-minutes 0 > log &
while [ ! -e runs/killed/checkpoint.pt ]; do
    kill -0 $! # still running
    sleep 0.1
done
kill -KILL $!
wait $! 2> /dev/null || true
[ ! -e runs/killed/model.safetensors ]
recipe killed > log
cmp runs/whole/model.safetensors runs/killed/model.safetensors
recipe other --seed 2 > log
if cmp -s runs/whole/model.safetensors runs/other/model.safetensors; then false; fi
if recipe killed --rate 0.1 2> log; then false; fi
grep -q 'was trained with --rate 0.003, found 0.1' log

echo "== The model translates"
"$ferry" convert runs/whole -o model.gguf
"$ferry" inspect model.gguf | grep 'trained on examples of up to 31 tokens'
head -n 3 en | "$ferry" translate -m model.gguf > translated
[ "$(wc -l < translated)" -eq 3 ]
