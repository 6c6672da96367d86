#!/bin/bash
# The time and the peak memory of a conversion.
#     convert_memory.sh FERRY SOURCE [TYPE]
# Anonymous memory is allocated by the program; file memory is pages of the source, which the system can drop at any time.
set -euo pipefail
ferry=$1 source=$2 type=${3:-f32}
output=$(mktemp --suffix=.gguf)
trap 'rm -f "$output" "$output.part"' EXIT

start=$(date +%s%N)
"$ferry" convert --quiet --type "$type" --output "$output" "$source" &
converter=$!
anonymous=0 file=0
while status=$(awk '/^RssAnon|^RssFile/ {print $2}' "/proc/$converter/status" 2> /dev/null) && [[ -n $status ]]; do
    { read -r now_anonymous && read -r now_file; } <<< "$status"
    ((now_anonymous > anonymous)) && anonymous=$now_anonymous
    ((now_file > file)) && file=$now_file
    sleep 0.01
done
wait "$converter"
end=$(date +%s%N)
echo "$type: $(((end - start) / 1000000)) ms, $(stat -c %s "$output") bytes," \
    "at most $((anonymous / 1024)) MiB anonymous, $((file / 1024)) MiB of files"
