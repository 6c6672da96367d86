#!/bin/sh
# Installs what is missing, builds, and translates its arguments with the model that ships:
#     tools/try.sh "How do I get to the island?"
set -eu
cd "$(dirname "$0")/.."

tools/setup.sh build
cmake -S . -B build -G Ninja >&2
cmake --build build --target ferry ferry_pages libferry libferry_documents >&2
exec build/ferry translate "$@"
