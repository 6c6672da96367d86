#!/bin/bash
# A sentence's way: the functions, and the files, of base, tokenizer and engine that run from opening the model that ships to
# the text of one sentence: count_way.sh BUILD_DIRECTORY [--list]. examples/translate.c is built there with gcc's --coverage;
# gcov counts. A .c file and its header count as one file.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "$1")

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=gcc -DCMAKE_CXX_COMPILER=g++ -DCMAKE_C_FLAGS=--coverage \
    -DCMAKE_SHARED_LINKER_FLAGS=--coverage -DFERRY_PROGRAM=OFF > /dev/null
cmake --build "$build" --target libferry_static > /dev/null
gcc --coverage -Iengine examples/translate.c "$build/libferry.a" -lm -lpthread -o "$build/translate"
find "$build" -name '*.gcda' -delete
"$build/translate" models/pretrained/tatoeba-en-de.gguf "See you tomorrow." > /dev/null
find "$build" -name '*.gcda' -print0 | xargs -0 gcov --json-format --stdout 2> /dev/null | python3 -c '
import collections, json, os, sys
run = collections.defaultdict(set)  # of each file, the functions that ran
for line in sys.stdin:
    report = json.loads(line)
    for file in report["files"]:
        path = os.path.relpath(os.path.join(report["current_working_directory"], file["file"]))
        names = {function["name"] for function in file["functions"] if function["execution_count"]}
        if path.split("/")[0] in ("base", "tokenizer", "engine") and names:
            run[os.path.splitext(path)[0]] |= names
for name in sorted(run) if "--list" in sys.argv else ():
    print(name, *sorted(run[name]))
print(sum(map(len, run.values())), "functions in", len(run), "files")
' "${@:2}"
