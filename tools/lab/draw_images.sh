#!/bin/bash
# Draws docs/images, one for each section of docs/encodings.md: draw_images.sh FERRY [MODELS]
# MODELS is a directory of trained models; an encoding without a model NAME.gguf there is drawn untrained.
set -euo pipefail
ferry=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
models=$(realpath "${2:-$here/../../models/encodings}")
cd "$here/../../docs/images"

subjects=()
while read -r name; do
    subject=$models/$name.gguf
    [ -e "$subject" ] || subject=$name
    subjects+=("$subject")
    [ "$name" = none ] || "$ferry" plot "$subject" -o "$name.svg"
done < <(sed -n 's/^## \([a-z0-9_]*\)$/\1/p' ../encodings.md)
"$ferry" plot "${subjects[@]}" -o overview.svg
"$ferry" plot --attention "I thought you might want to play a game of chess." -o attention.svg
