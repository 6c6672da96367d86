#!/bin/bash
# The floors of docs/architecture.md: an include names a file of its own folder, or one of a floor below by its path
# from the root. Each external library has its own files (may_include_foreign); names of positional schemes occur only in
# engine/position, importers and tests; only files of base, base/files and tools/system whose names end in _posix.c, _wasm.c or
# _windows.c include headers of an operating system; file names are unique.
#     check_includes.sh [ROOT]        checks the tree (default: that of this script)
#     check_includes.sh --self-test   shows that every rule catches a planted violation
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

failures=0
complain()
{
    echo "check_includes: $*" >&2
    failures=$((failures + 1))
}

# Each floor, and what it may include besides itself: floors, or single files.
declare -A floors=(
    [base]='engine/ferry.h' # the one upward include: status codes belong to the public contract
    [base/files]='base' # for importers and the program
    [tokenizer/moses]='base tokenizer/unicode.h'
    [tokenizer]='base tokenizer/moses/moses.h'
    [engine]='' # the public headers
    [engine/kernels]='base'
    [engine/position]='base engine/kernels'
    [engine/graph]='base engine/kernels engine/position/position.h'
    [engine/search]='base engine/kernels engine/graph'
    [engine/file]='base tokenizer/tokenizer.h tokenizer/tokenizer_config.h engine/kernels engine/position/position.h engine/graph engine/search'
    [engine/lines]='base tokenizer engine engine/kernels engine/graph engine/search engine/file'
    [engine/schedule]='base engine engine/kernels engine/graph engine/search'
    [engine/api]='base tokenizer engine engine/kernels engine/graph engine/search engine/file engine/lines engine/schedule'
    [engine/inspect]='base tokenizer engine engine/kernels engine/position/position.h engine/graph engine/search engine/file engine/lines engine/schedule engine/api'
    [models/containers]='base base/files tokenizer/bpe.h'
    [models/plan]='base base/files models/containers engine/kernels engine/position/position.h engine/graph engine/file tokenizer/sentencepiece_c.h'
    [models/text]='base base/files models/containers models/plan engine/file tokenizer/sentencepiece_c.h tokenizer/tokenizer.h tokenizer/pieces.h tokenizer/bpe.h tokenizer/text_rules.h'
    [models/families]='base base/files models/containers models/plan models/text engine/kernels engine/position/position.h engine/graph engine/file tokenizer/sentencepiece_c.h'
    [models]='base base/files models/containers models/plan models/text models/families'
    [documents]='base engine/ferry.h tokenizer/unicode.h documents/formats/formats.h'
    [documents/formats]='base engine/ferry.h tokenizer/unicode.h documents'
    [tools/system]='base base/files'
    [tools]='tools/system documents documents/formats/formats.h engine/file/schema.h engine/kernels/kernels.h base base/files engine/ferry.h engine/ferry_inspect.h models/convert.h'
    [tools/lab]='base base/files tools models/containers/weights.h engine/ferry.h engine/ferry_inspect.h engine/kernels'
    [examples]='engine/ferry.h'
    [bindings]='base base/files engine/ferry.h models/convert.h'
)

# Sets floor: the longest floor that $1 is under.
floor_of()
{
    floor=${1%/*}
    while [ -z "${floors[$floor]+set}" ] && [[ $floor == */* ]]; do floor=${floor%/*}; done
    [ -n "${floors[$floor]+set}" ] || floor=none
}

# Whether a file of floor $1 may include $2, a path from the root.
may_include()
{
    local allowed
    floor_of "$2"
    [ "$floor" != "$1" ] || return 0
    for allowed in ${floors[$1]-}; do
        [ "$allowed" != "$floor" ] && [ "$allowed" != "$2" ] || return 0
    done
    return 1
}

# Whether <$1> is part of C11, C++ or the compiler.
is_standard()
{
    case $1 in
    assert.h | complex.h | ctype.h | errno.h | fenv.h | float.h | inttypes.h | iso646.h | limits.h | locale.h | math.h) ;;
    setjmp.h | signal.h | stdalign.h | stdarg.h | stdatomic.h | stdbool.h | stddef.h | stdint.h | stdio.h | stdlib.h) ;;
    stdnoreturn.h | string.h | tgmath.h | threads.h | time.h | wchar.h | wctype.h) ;;
    immintrin.h | arm_neon.h | wasm_simd128.h | cpuid.h | sanitizer/*) ;;
    *.*) false ;;
    esac
}

# Whether file $1 may include <$2>.
may_include_foreign()
{
    case $2 in
    jansson.h) [[ $1 =~ ^models/(containers/json|plan/|families/) ]] ;;
    yaml.h) [ "$1" = models/containers/json.c ] ;;
    zlib.h) [ "$1" = models/containers/zip.c ] ;;
    nettle/*) [ "$1" = models/plan/source.c ] || [ "$1" = tools/source_state.c ] ;;
    md4c.h) [[ $1 == documents/formats/markdown/* ]] ;;
    cblas.h) [[ $1 =~ ^(tools/lab/bench_|engine/kernels/product_openblas\.c$) ]] ;;
    xxhash.h) [ "$1" = engine/file/model_file.c ] ;;
    sentencepiece*) [ "$1" = tokenizer/sentencepiece_c.cc ] ;;
    filesystem.h | util.h) [ "$1" = tokenizer/sentencepiece_wasm.cc ] ;; # SentencePiece's own
    utf8proc.h) [ "$1" = tokenizer/unicode.c ] ;;
    ferry.h | ferry_documents.h) [[ $1 == examples/* ]] ;;
    glib.h | gtk/gtk.h) [[ $1 == examples/desktop/* ]] ;;
    pthread.h) [[ $1 =~ ^base/(threads\.h|.*_posix\.c)$ ]] ;; # for the types
    *) is_standard "$2" || [[ $1 =~ ^(base|base/files|tools/system)/[a-z_]*_(posix|wasm|windows)\.c$ ]] ;;
    esac
}

check_include()
{
    local file=$1 name=$2 from
    [[ $name == */* ]] || name=${file%/*}/$name
    # Installed, the public headers are in one folder.
    [ "$file $2" != 'documents/ferry_documents.h ferry.h' ] || name=engine/ferry.h
    [ -f "$name" ] || complain "$file includes $2, which does not exist"
    floor_of "$file"
    from=$floor
    may_include "$from" "$name" || complain "$file ($from) includes $name"
}

# Files of folder $1 that include each other in a circle; a .c file and its header count as one file.
check_circles()
{
    local circle
    circle=$(grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^/"]*"' "$1"/*.[ch] 2> /dev/null |
        sed -E 's|.*/([^/]*)\.[ch]:.*"([^"]*)\.h".*|\1 \2|' | tsort 2>&1 > /dev/null | tr '\n' ' ') || true
    [ -z "$circle" ] || complain "files of $1 include each other: $circle"
}

# Folders whose .c files have no header of their name: kernels, encodings, and the functions of one public header.
headless='^engine/(kernels|position|inspect)/|^engine/api/(service|translation)\.c$'

check_tree()
{
    local file line files foreign schemes
    local include='^[[:space:]]*#[[:space:]]*include[[:space:]]*'
    cd "$1"
    schemes=$(sed -n 's/^    X(\([a-z0-9_]*\)).*/\1/p' engine/position/schemes.h | paste -sd'|')
    [ -n "$schemes" ] || complain "no list of encodings in engine/position/schemes.h"
    mapfile -t files < <(find base bindings documents engine models tokenizer tools examples -name '*.[ch]' -o -name '*.cc')
    while IFS= read -r line; do
        file=${line%%:*}
        if [[ ${line#*:} =~ $include\"([^\"]*)\" ]]; then
            check_include "$file" "${BASH_REMATCH[1]}"
        elif [[ ${line#*:} =~ $include\<([^>]*)\> ]]; then
            foreign=${BASH_REMATCH[1]} # the next match overwrites it
            may_include_foreign "$file" "$foreign" || complain "$file includes <$foreign>"
        else
            complain "not understood: $line"
        fi
    done < <(grep -HE "$include" "${files[@]}")
    while IFS= read -r line; do
        floor_of "${line%%:*}"
        case $floor in engine/position | models/plan | models/families) continue ;; esac
        complain "a positional scheme's name: $line"
    done < <(grep -HniE "(^|[^a-z])($schemes)([^a-z0-9]|\$)" "${files[@]}")
    for file in engine/*/; do check_circles "${file%/}"; done
    for file in engine/*/*.c; do
        [[ $file =~ $headless ]] || [ -f "${file%.c}.h" ] || complain "$file has no header of its name"
    done
    while IFS= read -r line; do
        complain "a file name that occurs twice: $line"
    done < <(find "${files[@]}" tests -name '*.[ch]' -printf '%f\n' 2> /dev/null | sort | uniq -d)
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
    mkdir -p "$root"/{base/files,tokenizer,engine/{kernels,position,graph,search,file,lines,schedule,api,inspect}} \
        "$root"/{models/{containers,plan,text,families/marian},documents,tools/{lab,system},bindings,examples,tests}
    touch "$root"/{base/{bytes,files/new_file},tokenizer/{tokenizer,sentencepiece_c},engine/ferry,engine/kernels/kernels}.h \
        "$root"/engine/{position/position,graph/{transformer,pass},search/search,file/gguf,lines/model,schedule/queue,api/translator}.h \
        "$root"/{models/{convert,containers/zip,plan/plan,text/segmenters,families/marian/marian},tools/lab/race}.h
    cp "$here/engine/position/schemes.h" "$root/engine/position"
    echo '#include "base/bytes.h"' > "$root/engine/file/bind.c"
    echo '#include "plan.h"' > "$root/models/plan/write.c"
    echo '#include "engine/ferry.h"' > "$root/base/status.h"
    echo '#include "base/bytes.h"' > "$root/tools/lines.c"
    echo '#include "tools/command.h"' > "$root/tools/lab/cmd_bench.c"
    touch "$root/tools/command.h" "$root/engine/file/bind.h"
    (check_tree "$root") || complain "self-test: a correct tree is refused"

    plant base/a.c '#include "engine/kernels/kernels.h"'
    plant base/a.c '#include "base/files/new_file.h"'
    plant base/files/a.c '#include "tokenizer/tokenizer.h"'
    plant tokenizer/a.c '#include "base/files/new_file.h"'
    plant engine/kernels/a.c '#include "engine/position/position.h"'
    plant engine/position/a.c '#include "engine/graph/transformer.h"'
    plant engine/graph/a.c '#include "engine/position/schemes.h"'
    plant engine/graph/a.c '#include "engine/search/search.h"'
    plant engine/graph/a.c '  #  include "engine/file/gguf.h"'
    plant engine/search/a.c '#include "engine/position/position.h"'
    plant engine/search/a.c '#include "engine/lines/model.h"'
    plant engine/file/a.c '#include "models/plan/plan.h"'
    plant engine/file/a.c '#include "tokenizer/sentencepiece_c.h"'
    plant engine/file/a.c '#include "engine/api/translator.h"'
    plant engine/lines/a.c '#include "engine/schedule/queue.h"'
    plant engine/lines/a.c '#include "engine/api/translator.h"'
    plant engine/schedule/a.c '#include "engine/lines/model.h"'
    plant engine/schedule/a.c '#include "tokenizer/tokenizer.h"'
    plant engine/api/a.c '#include "models/convert.h"'
    plant engine/api/a.c '#include "base/files/new_file.h"'
    plant documents/a.c '#include "base/files/new_file.h"'
    plant engine/api/a.c '#include <zlib.h>'
    plant models/containers/a.c '#include "engine/file/gguf.h"'
    plant models/containers/a.c '#include "models/plan/plan.h"'
    plant models/plan/a.c '#include "tokenizer/tokenizer.h"'
    plant models/plan/a.c '#include "models/families/marian/marian.h"'
    plant models/plan/a.c '#include "models/convert.h"'
    plant models/plan/a.c '#include "models/text/segmenters.h"'
    plant models/text/a.c '#include "models/families/marian/marian.h"'
    plant models/families/marian/a.c '#include "tokenizer/tokenizer.h"'
    plant models/families/marian/a.c '#include "engine/lines/model.h"'
    plant models/families/marian/a.c '#include <nettle/sha2.h>'
    plant tokenizer/a.c '#include "engine/file/gguf.h"'
    plant tools/a.c '#include "tools/lab/race.h"'
    plant tools/a.c '#include "engine/graph/transformer.h"'
    plant documents/a.c '#include "tools/command.h"'
    plant documents/a.h '#include "ferry.h"'
    plant documents/a.c '#include "tokenizer/tokenizer.h"'
    plant tools/lab/a.c '#include "engine/graph/transformer.h"'
    plant tools/lab/race.c '#include <cblas.h>'
    plant examples/a.c '#include "models/convert.h"'
    plant engine/api/a.c '#include "missing.h"'
    plant engine/api/a.c '#include "../../base/bytes.h"'
    plant engine/api/a.c '#include MACRO'
    plant engine/graph/a.c '#include <cblas.h>'
    plant engine/kernels/a.c '#include <cblas.h>'
    plant models/plan/a.c '#include <xxhash.h>'
    plant engine/file/a.c '#include <jansson.h>'
    plant tokenizer/a.c '#include <sentencepiece_processor.h>'
    plant tokenizer/a.c '#include <utf8proc.h>'
    plant tools/a.c '#include <md4c.h>'
    plant examples/a.c '#include <gtk/gtk.h>'
    plant base/a.c '#include <unistd.h>'
    plant base/a_posix.h '#include <sys/stat.h>'
    plant base/files/a.c '#include <fcntl.h>'
    plant engine/kernels/a.c '#include <windows.h>'
    plant models/plan/a.c '#include <dirent.h>'
    plant tools/a_posix.c '#include <fcntl.h>'
    plant tools/system/a.c '#include <fcntl.h>'
    plant tools/system/a.c '#include "engine/ferry.h"'
    plant tools/lab/a.c '#include <pthread.h>'
    plant engine/api/a.h '#include <sys/mman.h>'
    plant engine/graph/a.c 'int uses_alibi;'
    plant engine/file/a.c 'const char *name = "t5";'
    plant tools/a.c '/* RoPE */'
    plant tools/bytes.h ''
    plant engine/search/a.c ''
    echo '#include "search.h"' > "$root/engine/search/logits.h"
    plant engine/search/search.c '#include "logits.h"'
    [ "$failures" -eq 0 ]
}

if [ "${1:-}" = --self-test ]; then self_test; else check_tree "${1:-$here}"; fi
