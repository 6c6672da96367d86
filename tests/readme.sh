#!/bin/bash
# The commands of README.md, as printed, in a fresh clone: readme.sh SOURCE_DIR
# For `git clone …` the address is that of SOURCE_DIR. The downloads are small models under the names of published ones.
set -Eeuo pipefail
source_dir=$(realpath "$1")
models=${FERRY_SHARED_DATA:-$source_dir/../shared}/models
[ -d "$models" ] || models=$source_dir/tests/data/models
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-readme.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

unset FERRY_MODEL FERRY_ISA XDG_CACHE_HOME
export HOME=$scratch/home PATH=$scratch:$PATH
mkdir -p "$HOME/Downloads" "$scratch/work"
# shellcheck disable=SC2016 # for the script that is written
printf '#!/bin/sh\nexec %q "$1" %q "$3"\n' "$(command -v git)" "$source_dir" > "$scratch/git"
chmod +x "$scratch/git"
(cd "$models/tatoeba-en-de/marian" && python3 -m zipfile -c "$HOME/Downloads/opus-2020-02-26.zip" ./*)
cp -rL "$models/huggingface-small/nllb" "$HOME/Downloads/nllb-200-distilled-600M"
python3 "$source_dir/tests/run_page.py" "$source_dir/README.md" "$scratch/work"
