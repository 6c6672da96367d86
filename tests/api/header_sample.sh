#!/bin/bash
# The sample at the top of engine/ferry.h, as a program: header_sample.sh PROGRAM MODEL. MODEL is the one that ships.
set -Eeuo pipefail
trap 'echo "header_sample: failed at line $LINENO" >&2' ERR
program=$(realpath "$1")
model=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-sample.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
[[ $("$program") == 'model.gguf: '* ]] # there is none
ln -s "$model" model.gguf
[ "$("$program")" = 'Hallo, die Welt!' ]
