#!/bin/bash
# Includes only point downwards, as the table of docs/development.md says; foreign libraries stay behind their one file;
# names of positional schemes stay in engine/position, importers and tests.
#     check_includes.sh [ROOT]        checks the tree (default: the one this script stands in)
#     check_includes.sh --self-test   shows that every rule catches a planted violation
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

failures=0
complain()
{
    echo "check_includes: $*" >&2
    failures=$((failures + 1))
}

# Sets floor.
floor_of()
{
    case $1 in
    engine/*/*) floor=${1%/*} ;;
    engine/*) floor=roof ;;
    models/formats/*) floor=formats ;;
    models/import*) floor=importers ;;
    models/*) floor=models ;;
    tokenizer/*) floor=tokenizer ;;
    tools/bench_*) floor=benches ;;
    tools/*) floor=tools ;;
    examples/*) floor=examples ;;
    *) floor=none ;;
    esac
}

# Whether a file of floor $1 may include $2, a path from the root; floor $3 is that path's. Patterns cross slashes.
may_include()
{
    case $1:$2 in
    engine/base:engine/base/*) ;;
    engine/kernels:engine/base/* | engine/kernels:engine/kernels/*) ;;
    engine/position:engine/base/* | engine/position:engine/kernels/* | engine/position:engine/position/*) ;;
    engine/graph:engine/base/* | engine/graph:engine/kernels/* | engine/graph:engine/graph/*) ;;
    engine/graph:engine/position/position.h) ;;
    engine/search:engine/base/* | engine/search:engine/kernels/*) ;;
    engine/search:engine/graph/* | engine/search:engine/search/*) ;;
    models:engine/base/* | models:engine/kernels/* | models:engine/position/position.h | models:engine/graph/model.h) ;;
    formats:engine/base/* | formats:models/formats/* | formats:models/printable.h) ;;
    importers:engine/base/* | importers:engine/kernels/* | importers:engine/position/position.h) ;;
    importers:engine/graph/model.h | importers:tokenizer/sentencepiece_c.h) ;;
    models:models/* | roof:models/*) [ "$3" != importers ] && [ "$3" != formats ] ;;
    importers:models/*) ;;
    tokenizer:engine/base/* | tokenizer:tokenizer/*) ;;
    roof:engine/* | roof:tokenizer/*) ;;
    tools:tools/* | tools:engine/ferry.h | tools:engine/ferry_inspect.h) ;;
    tools:models/import.h | tools:models/formats/safetensors.h) ;;
    benches:engine/base/* | benches:engine/kernels/* | benches:tools/bench_*) ;;
    examples:engine/ferry.h) ;;
    *) return 1 ;;
    esac
}

# Whether file $1 may include <$2>.
may_include_foreign()
{
    case $2 in
    jansson.h) [[ $1 =~ ^models/(formats/(json|safetensors)|import/) ]] ;;
    yaml.h) [ "$1" = models/formats/yaml.c ] ;;
    zlib.h) [[ $1 =~ ^models/formats/(gzip|zip)\.c ]] ;;
    nettle/*) [ "$1" = models/import/source.c ] ;;
    cblas.h) [[ $1 == tools/bench_* ]] ;;
    sentencepiece*) [ "$1" = tokenizer/sentencepiece_c.cc ] ;;
    esac
}

check_include()
{
    local file=$1 name=$2 directory=${1%/*} floor from
    while [[ $name == ../* && $directory == */* ]]; do
        name=${name#../}
        directory=${directory%/*}
    done
    if [[ $name == ../* ]]; then
        name=${name#../}
    else
        name=$directory/$name
    fi
    # The one upward include: status codes belong to the public contract.
    [ "$file includes $name" != 'engine/base/status.h includes engine/ferry.h' ] || return 0
    [ -f "$name" ] || complain "$file includes $2, which does not exist"
    floor_of "$file"
    from=$floor
    floor_of "$name"
    may_include "$from" "$name" "$floor" || complain "$file ($from) includes $name"
}

check_tree()
{
    local file line floor files foreign scheme='sinusoidal|learned|shaw|rope|alibi|deberta|transformer_xl|t5'
    local include='^[[:space:]]*#[[:space:]]*include[[:space:]]*'
    cd "$1"
    mapfile -t files < <(find engine models tokenizer tools examples -name '*.[ch]' -o -name '*.cc')
    while IFS= read -r line; do
        file=${line%%:*}
        if [[ ${line#*:} =~ $include\"([^\"]*)\" ]]; then
            check_include "$file" "${BASH_REMATCH[1]}"
        elif [[ ${line#*:} =~ $include\<([^>]*)\> ]]; then
            foreign=${BASH_REMATCH[1]} # the next match forgets it
            may_include_foreign "$file" "$foreign" || complain "$file includes <$foreign>"
        else
            complain "not understood: $line"
        fi
    done < <(grep -HE "$include" "${files[@]}")
    while IFS= read -r line; do
        floor_of "${line%%:*}"
        [ "$floor" = engine/position ] || [ "$floor" = importers ] || complain "a positional scheme's name: $line"
    done < <(grep -HniE "(^|[^a-z])($scheme)([^a-z0-9]|\$)" "${files[@]}")
    [ "$failures" -eq 0 ]
}

# plant FILE LINE: a tree in which FILE holds LINE must be refused.
plant()
{
    echo "$2" > "$root/$1"
    if (check_tree "$root") 2> /dev/null; then complain "self-test: not caught: $1: $2"; fi
    rm "$root/$1"
}

self_test()
{
    root=$(mktemp -d "${TMPDIR:-/tmp}/ferry-includes.XXXXXX")
    trap 'rm -r "$root"' EXIT
    mkdir -p "$root"/{engine/{base,kernels,position,graph,search},models/{formats,import},tokenizer,tools,examples}
    touch "$root"/engine/{ferry,model,base/bytes,kernels/kernels,position/{position,schemes},graph/{model,layer}}.h \
        "$root"/models/{import,gguf,formats/zip,import/plan}.h "$root"/tokenizer/{tokenizer,sentencepiece_c}.h "$root"/engine/search/search.h
    echo '#include "../engine/base/bytes.h"' > "$root/models/bind.c"
    echo '#include "../ferry.h"' > "$root/engine/base/status.h"
    (check_tree "$root") || complain "self-test: a correct tree is refused"

    plant engine/base/a.c '#include "../kernels/kernels.h"'
    plant engine/base/a.c '#include "../ferry.h"'
    plant engine/kernels/a.c '#include "../position/position.h"'
    plant engine/position/a.c '#include "../graph/model.h"'
    plant engine/graph/a.c '#include "../position/schemes.h"'
    plant engine/graph/a.c '#include "../search/search.h"'
    plant engine/graph/a.c '  #  include "../../models/gguf.h"'
    plant engine/search/a.c '#include "../position/position.h"'
    plant engine/search/a.c '#include "../model.h"'
    plant models/a.c '#include "../engine/graph/layer.h"'
    plant models/a.c '#include "../tokenizer/sentencepiece_c.h"'
    plant models/a.c '#include "import.h"'
    plant models/a.c '#include "formats/zip.h"'
    plant models/a.c '#include <zlib.h>'
    plant models/formats/a.c '#include "../gguf.h"'
    plant models/formats/a.c '#include "../import/plan.h"'
    plant models/import/a.c '#include "../../tokenizer/tokenizer.h"'
    plant models/import/a.c '#include "../../engine/ferry.h"'
    plant models/import/a.c '#include <nettle/sha2.h>'
    plant tokenizer/a.c '#include "../models/gguf.h"'
    plant engine/a.c '#include "../models/import.h"'
    plant tools/a.c '#include "../engine/base/bytes.h"'
    plant tools/bench_a.c '#include "../engine/graph/model.h"'
    plant examples/a.c '#include "../models/import.h"'
    plant engine/a.c '#include "missing.h"'
    plant engine/a.c '#include MACRO'
    plant engine/graph/a.c '#include <cblas.h>'
    plant models/a.c '#include <jansson.h>'
    plant tokenizer/a.c '#include <sentencepiece_processor.h>'
    plant engine/graph/a.c 'int uses_alibi;'
    plant models/a.c 'const char *name = "t5";'
    plant tools/a.c '/* RoPE */'
    [ "$failures" -eq 0 ]
}

if [ "${1:-}" = --self-test ]; then self_test; else check_tree "${1:-$here}"; fi
