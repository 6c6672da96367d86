#!/bin/sh
# The manual pages and the completions of shells, from what the program's help and the public header say:
#     make.sh FERRY HEADER DIRECTORY
# Needs nothing but a shell and awk, so that whoever builds the program has them.
set -eu
ferry=$1 header=$2 directory=$3
pages=$(cd "$(dirname "$0")" && pwd)
export LC_ALL=C
mkdir -p "$directory"
version=$("$ferry" --version)
version=${version#ferry }

{
    "$ferry" help
    for command in $("$ferry" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do "$ferry" help "$command"; done
} > "$directory/help"
awk -f "$pages/table.awk" "$directory/help" > "$directory/table"

awk -v version="$version" -f "$pages/roff.awk" -f "$pages/program_page.awk" "$directory/table" > "$directory/ferry.1"
awk -v version="$version" -f "$pages/roff.awk" -f "$pages/header_page.awk" "$header" > "$directory/ferry.3"
awk -f "$pages/bash.awk" "$directory/table" > "$directory/ferry.bash"
awk -f "$pages/zsh.awk" "$directory/table" > "$directory/_ferry"
awk -f "$pages/fish.awk" "$directory/table" > "$directory/ferry.fish"
