#!/bin/bash
# Builds all fuzz targets by the conventions of OSS-Fuzz: targets, their dictionaries and their first inputs go to $OUT.
# The project's Dockerfile has to install the packages of `tools/setup.sh build`, and to run it, which fetches
# SentencePiece; build.sh is then this script. The libraries' static archives are linked, as only $OUT is there when
# targets run; md4c, whose package has none, is copied there. Sanitizers: address and undefined (memory would need
# instrumented libraries).
#
#     CC=clang CXX=clang++ CFLAGS='-O1 -g -fsanitize=address,fuzzer-no-link' CXXFLAGS=$CFLAGS \
#         LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=… WORK=… tests/fuzz/oss_fuzz_build.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
corpus=$PWD/tests/data/corpus

# Compilers and their flags come from the environment.
cmake -S . -B "$WORK/ferry" -G Ninja -DCMAKE_BUILD_TYPE=None -DFERRY_FUZZ=ON -DFERRY_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    -DCMAKE_PROJECT_ferry_INCLUDE="$PWD/tests/fuzz/static_archives.cmake" -DCMAKE_BUILD_RPATH="\$ORIGIN/lib"
cmake --build "$WORK/ferry" --target fuzz_targets
mkdir -p "$OUT/lib"
cp "$(pkg-config --variable=libdir md4c)/libmd4c.so.0" "$OUT/lib/"

for target in "$WORK"/ferry/tests/fuzz_*; do
    if [ ! -x "$target" ] || [ -d "$target" ]; then continue; fi
    name=$(basename "$target")
    cp "$target" "$OUT/"
    cp "tests/fuzz/$name.dict" "$OUT/"
    (cd "$corpus/$name" && cmake -E tar cf "$OUT/${name}_seed_corpus.zip" --format=zip -- *)
done
