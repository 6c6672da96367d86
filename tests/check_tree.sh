#!/bin/bash
# Small rules for the whole tree: every source is built, every test is registered, no local paths, clean lines.
set -euo pipefail
cd "$(dirname "$0")/.."

failures=0
complain()
{
    echo "check_tree: $*" >&2
    failures=$((failures + 1))
}

while IFS= read -r file; do
    name=${file##*/}
    ! grep -qF "${file%/*}/*.c" CMakeLists.txt || continue
    # One of each three files for an operating system.
    case $name in
    *_posix.c) name="${name%_posix.c}_\${system}.c" ;;
    *_wasm.c) name=${name%wasm.c} ;;
    *_windows.c) name=${name%windows.c} ;;
    esac
    grep -qF "$name" CMakeLists.txt bindings/js/CMakeLists.txt engine/kernels/kernels.cmake tokenizer/sentencepiece.cmake \
        tokenizer/unicode.cmake tests/CMakeLists.txt tests/cross/CMakeLists.txt || complain "$file is not in a list of sources"
done < <(find base bindings documents engine models tokenizer tools -name '*.c' -o -name '*.cc')
suites=$(sed -n 's/^ *ferry_suites(\([a-z_ ]*\))$/\1/p' tests/CMakeLists.txt)
for file in tests/*/*.c tests/*/*.cc examples/*.c; do
    name=${file##*/} folder=${file%/*}
    case $file in
    tests/support/* | tests/cross/* | tests/embedding/*) continue ;; # taken as a whole; built by scripts of their own
    tests/fuzz/*) [ ! -f "${file%.c}.dict" ] || continue ;;
    tests/*/test_*.c) ! grep -qw "${folder#tests/}" <<< "$suites" || continue ;;
    esac
    grep -qw "${name%.*}" tests/CMakeLists.txt tests/cross/CMakeLists.txt || complain "$file is not in tests/CMakeLists.txt"
done

mapfile -t texts < <(find . \( -name .git -o -path './build*' -o -path ./tests/data -o -path './tests/documents/reports/round*' -o -path ./third_party \) -prune -o -type f \
    \( -name '*.[ch]' -o -name '*.inc' -o -name '*.cc' -o -name '*.sh' -o -name '*.py' -o -name '*.md' -o -name '*.txt' -o -name run \) \
    -print)
while IFS= read -r line; do
    complain "a local path: $line"
done < <(grep -HnE '(^|[^A-Za-z0-9_.$}])/(work|home|root|Users)/' "${texts[@]}")
while IFS= read -r line; do
    complain "a tab, or a blank at a line's end: $line"
done < <(grep -HnE '[[:blank:]]+$|'$'\t' "${texts[@]}")
for file in "${texts[@]}"; do
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || complain "$file lacks the newline at its end"
done

[ "$failures" -eq 0 ]
