#!/bin/bash
# compare_sentencepiece on the models and texts of the tests: compare_sentencepiece.sh PROGRAM SOURCE_DIR SHARED_DATA
set -euo pipefail
program=$1 shared=${3:-}
mapfile -t models < <(find "$2/tests/data" ${shared:+"$shared/models"} -name '*.spm' -o -name 's*piece*.model' \
    -o -name byte_fallback.model)
# One of each content.
mapfile -t models < <(sha256sum "${models[@]}" | sort | awk '!seen[$1]++ { print $2 }')
if [ -n "$shared" ]; then
    zcat "$shared"/corpora/*/*.gz
else
    cat "$2"/tests/data/sentences/*.tsv # texts among other fields: any line will do
fi | "$program" "${models[@]}"
