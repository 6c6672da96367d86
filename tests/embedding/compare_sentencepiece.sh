#!/bin/bash
# compare_sentencepiece on the models and texts of the tests: compare_sentencepiece.sh PROGRAM SOURCE_DIR SHARED_DATA
set -euo pipefail
program=$1 shared=${3:-}
mapfile -t models < <(find "$2/tests/data" ${shared:+"$shared/models"} -name '*.spm' -o -name 's*piece*.model' \
    -o -name byte_fallback.model)
# One of each content.
mapfile -t models < <(sha256sum "${models[@]}" | sort | awk '!seen[$1]++ { print $2 }')
if [ -z "$shared" ]; then
    echo "compare_sentencepiece: not run, no shared data: the corpora" >&2
    exec "$program" "${models[@]}" < /dev/null
fi
zcat "$shared"/corpora/*/*.gz | "$program" "${models[@]}"
