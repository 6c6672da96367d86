#!/bin/sh
# The page with all that it needs, for any server of files: examples/web/make.sh FOLDER [MODEL]
# (after cmake --build --preset wasm; MODEL: by default the one that ships)
set -eu
tree=$(realpath "$(dirname "$0")/../..")
mkdir -p "$1/ferry"
cp "$tree"/examples/web/*.html "$tree"/examples/web/*.css "$tree"/examples/web/*.js "$1"
cp "$tree"/bindings/js/*.js "$tree"/build-wasm/bindings/js/*.wasm "$tree/LICENSE" "$tree/build-wasm/NOTICES" "$1/ferry"
cp "${2:-$tree/models/pretrained/tatoeba-en-de.gguf}" "$1/model.gguf"
