#!/bin/bash
# Time and peak memory of the translation of one long line, by its kind and size.
#     long_lines.sh FERRY TEXT [OPTION…]
# TEXT: sentences, one a line, of at least 1 MB. The options are those of `ferry translate`. For each kind and size: the
# program's processor time, and the most anonymous memory that it held.
set -euo pipefail
ferry=$1 text=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# line KIND BYTES
line()
{
    case $1 in
    text) tr '\n' ' ' < "$text" ;;
    word) yes a | tr -d '\n' ;;
    blanks) printf a; yes ' ' | tr -d '\n' ;;
    wide) yes 'Ｔｏｍｒｅａｄｓａｂｏｏｋ。' | tr -d '\n' ;;
    broken) yes $'caf\xe9 \xff' | tr '\n' ' ' ;;
    esac | head -c "$2" || true
    echo .
}

for kind in text word blanks wide broken; do
    for size in 10000 100000 1000000; do
        line "$kind" "$size" > "$scratch/line"
        "$ferry" translate --quiet "$@" -i "$scratch/line" -o "$scratch/out" &
        program=$!
        peak=0 ticks=0
        while read -ra stat < "/proc/$program/stat" && [ "${stat[2]}" != Z ]; do
            now=$(awk '/^RssAnon/ {print $2}' "/proc/$program/status" || true)
            ticks=$((stat[13] + stat[14]))
            if [ "${now:-0}" -gt "$peak" ]; then peak=$now; fi
            sleep 0.02
        done 2> /dev/null
        wait "$program"
        echo "$kind, $size bytes: $((ticks * 1000 / $(getconf CLK_TCK))) ms, $((peak / 1024)) MiB, $(wc -c < "$scratch/out") bytes out"
    done
done
