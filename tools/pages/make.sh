#!/bin/sh
# The library's manual page from the public header, and with FERRY the program's page and the completions of shells from its help:
#     make.sh HEADER DIRECTORY [FERRY]
# Needs nothing but a shell and awk, so that whoever builds Ferry has them.
set -eu
header=$1 directory=$2
pages=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
mkdir -p "$directory"
version=$(sed -n 's/^#define FERRY_VERSION "\(.*\)"/\1/p' "$header")
awk -v version="$version" -f "$pages/roff.awk" -f "$pages/header_page.awk" "$header" > "$directory/ferry.3"
[ $# -eq 3 ] || exit 0
ferry=$3

{
    "$ferry" help
    for command in $("$ferry" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do "$ferry" help "$command"; done
} > "$directory/help"
awk -f "$pages/table.awk" "$directory/help" > "$directory/table"

awk -v version="$version" -f "$pages/roff.awk" -f "$pages/program_page.awk" "$directory/table" > "$directory/ferry.1"
awk -f "$pages/bash.awk" "$directory/table" > "$directory/ferry.bash"
awk -f "$pages/zsh.awk" "$directory/table" > "$directory/_ferry"
awk -f "$pages/fish.awk" "$directory/table" > "$directory/ferry.fish"
