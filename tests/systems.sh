#!/bin/bash
# Other systems: Windows (clang and MinGW-w64; its programs run under Wine), Linux with musl, macOS on ARM (both by zig;
# what is made for macOS is only looked at). Only if it is named: "arm", Linux on ARM with musl, which runs under QEMU.
# tests/systems.sh BUILD_DIRECTORY ZIG [SYSTEM…]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath -m "$1")
zig=$2
shift 2
[ $# -gt 0 ] || set -- windows musl macos

fail()
{
    echo "systems: $*" >&2
    exit 1
}

step()
{
    echo "-- $* [$((SECONDS)) s]"
}

# wrap TARGET: programs named as compilers are, for CMake
wrap()
{
    local tool
    export FERRY_ZIG=$build/$1-zig
    mkdir -p "$FERRY_ZIG"
    # shellcheck disable=SC2016 # for the script that is written
    # zig has its own names for processors, and adds features to them as others do to architectures.
    for tool in cc c++; do
        printf '#!/bin/bash\nfor a; do set -- "$@" "${a/#-march=armv8.2-a/-mcpu=baseline}"; shift; done\nexec %s %s -target %s "$@"\n' \
            "$zig" "$tool" "$1" > "$FERRY_ZIG/$tool"
    done
    for tool in ar ranlib; do printf '#!/bin/sh\nexec %s %s "$@"\n' "$zig" "$tool" > "$FERRY_ZIG/$tool"; done
    chmod +x "$FERRY_ZIG"/*
}

# make_needs SYSTEM: the libraries that Ferry needs
make_needs()
{
    cmake -S tests/systems -B "$build/$1/needs" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/systems/$1.cmake" \
        -DSOURCES="$PWD/third_party" -DCMAKE_INSTALL_PREFIX="$build/$1/prefix" > /dev/null
    cmake --build "$build/$1/needs" --target install > "$build/$1/needs.log" || { cat "$build/$1/needs.log"; false; }
}

# configure SYSTEM OPTION…: at -O1, which compiles faster; the kernels have -O3 of their own.
configure()
{
    local system=$1 kind
    local options=()
    shift
    for kind in INCLUDE LIBRARY; do options+=("-DCMAKE_FIND_ROOT_PATH_MODE_$kind=ONLY"); done
    for kind in C CXX; do options+=("-DCMAKE_${kind}_FLAGS_RELEASE=-O1 -DNDEBUG"); done
    PKG_CONFIG_LIBDIR="$build/$system/prefix/lib/pkgconfig" cmake -S . -B "$build/$system/all" -G Ninja \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/tests/systems/$system.cmake" -DCMAKE_FIND_ROOT_PATH="$build/$system/prefix" \
        -DCMAKE_PREFIX_PATH=/ "${options[@]}" "$@" > /dev/null
}

# make SYSTEM TARGET…
make()
{
    local system=$1
    shift
    cmake --build "$build/$system/all" --target "$@" > "$build/$system/all.log" || { cat "$build/$system/all.log"; false; }
}

# check_exports SYSTEM HEADER: the names that are read are those that the header declares
check_exports()
{
    LC_ALL=C sort > "$build/$1/exports"
    sed -n 's/^FERRY_API .*\(ferry_[a-z0-9_]*\)(.*/\1/p' "$2" | LC_ALL=C sort | diff - "$build/$1/exports" ||
        fail "$1: < is declared, not exported; > is exported, not declared"
}

# What is run elsewhere: reading and writing of files, text, kernels, threads, translations and importers; by program.
declare -A tests=(
    [suite_base]='test_base test_files test_halves test_pool'
    [suite_tokenizer]='test_sentencepiece test_sentences test_tokenizer'
    [suite_kernels]='test_heads test_inputs_i8 test_kernels test_kernels_i8 test_rows'
    [suite_search]='test_search'
    [suite_file]='test_gguf'
    [suite_api]='test_cancel test_languages test_many_threads test_opening test_text test_translate'
    [suite_containers]='test_torch test_yaml test_zip'
    [suite_families]='test_import_bergamot test_import_ctranslate2 test_import_huggingface test_import_marian'
    [test_memory]=test_memory
)

# run_tests SYSTEM COMMAND…: the tests, each by COMMAND
run_tests()
{
    local system=$1 suffix='' program test
    shift
    [ "$system" != windows ] || suffix=.exe
    export TMPDIR="$build/$system/scratch" FERRY_SHARED_DATA=
    mkdir -p "$TMPDIR"
    # Data that is not in the tree is missing here.
    # shellcheck disable=SC2016 # sh expands them: $0 is the log, the last argument the test's name
    for program in "${!tests[@]}"; do
        for test in ${tests[$program]}; do echo "$build/$system/all/tests/$program$suffix $test"; done
    done | CI='' xargs -P 2 -L 1 sh -c \
        'for test; do :; done; "$@" > "$0.$test.log" 2>&1 || { cat "$0.$test.log"; echo "$test failed"; exit 1; }' \
        "$build/$system/tests" "$@" || fail "$system: tests failed"
    echo "$system: the tests passed"
}

translate="Good morning!"
translation="Guten Morgen!"

# check_dll NAME HEADER: its exports, and that it needs Windows and libferry.dll alone
check_dll()
{
    local dll=$build/windows/all/$1 foreign
    x86_64-w64-mingw32-objdump -p "$dll" | awk '/^\[Ordinal\/Name Pointer\]/ { names = 1 } names && /^\t\[/ { print $NF }
        /^$/ { names = 0 }' | check_exports windows "$2"
    foreign=$(x86_64-w64-mingw32-objdump -p "$dll" | sed -n 's/.*DLL Name: //p' |
        grep -viE '^(kernel32|msvcrt|advapi32|bcrypt|shell32|libferry)\.dll$' || true)
    [ -z "$foreign" ] || fail "$1 needs $foreign"
}

build_windows()
{
    make_needs windows
    configure windows -DFERRY_TESTS=ON -DFERRY_WERROR=ON
    make windows libferry libferry_documents ferry example_translate translate_page "${!tests[@]}"
    check_dll libferry.dll engine/ferry.h
    check_dll libferry-documents.dll documents/ferry_documents.h
}

run_windows()
{
    local wine=/usr/lib/wine/wine64 folder="$build/windows/Übersetzung 日本" found
    export WINEPREFIX=$build/wine WINEDEBUG=-all
    "$wine" wineboot -i > /dev/null 2>&1 || fail "wine does not start"
    run_tests windows "$wine"
    # The DLLs, and the program: a path, arguments, output and input beyond ASCII.
    rm -rf "$folder"
    mkdir -p "$folder"
    cp models/pretrained/tatoeba-en-de.gguf "$folder/modèle.gguf"
    cp "$build/windows/all/"*.dll "$build/windows/all/tests/"
    found=$("$wine" "$build/windows/all/tests/example_translate.exe" models/pretrained/tatoeba-en-de.gguf "$translate" |
        tr -d '\r')
    [ "$found" = "$translation" ] || fail "Windows: libferry.dll translated into '$found'"
    found=$("$wine" "$build/windows/all/tests/translate_page.exe" models/pretrained/tatoeba-en-de.gguf html \
        "<p>$translate</p>" | tr -d '\r')
    [ "$found" = "<p>$translation</p>" ] || fail "Windows: libferry-documents.dll translated into '$found'"
    found=$("$wine" "$build/windows/all/ferry.exe" translate -m "$folder/modèle.gguf" "$translate")
    [ "$found" = "$translation" ] || fail "Windows: ferry.exe translated into '$found'"
    printf 'Is this the café?\r\nWhere is Zoë?\r\n' > "$folder/in"
    build/ferry translate < "$folder/in" > "$folder/expected"
    "$wine" "$build/windows/all/ferry.exe" translate -m "$folder/modèle.gguf" < "$folder/in" > "$folder/out"
    cmp "$folder/expected" "$folder/out" || fail "Windows: ferry.exe translated otherwise"
}

build_musl()
{
    wrap x86_64-linux-musl
    make_needs musl
    configure musl -DFERRY_TESTS=ON -DCMAKE_EXE_LINKER_FLAGS=-static
    make musl ferry "${!tests[@]}"
}

run_musl()
{
    local found
    run_tests musl env
    found=$("$build/musl/all/ferry" translate -m models/pretrained/tatoeba-en-de.gguf "$translate")
    [ "$found" = "$translation" ] || fail "musl: translated into '$found'"
}

# check_dylib FILE HEADER: its exports. zig's linker does not read the list of exports, so that C++'s operators for memory
# and its own names come along.
check_dylib()
{
    llvm-nm -gU "$1" | awk '$3 !~ /^__(Zn[aw]|Zd[al]|_dso_handle|mh_dylib_header)/ { print $3 }' | sed 's/^_//' |
        check_exports macos "$2"
}

build_macos()
{
    local dylib=$build/macos/all/libferry.dylib isa feature
    wrap aarch64-macos
    make_needs macos
    configure macos -DFERRY_PROGRAM=OFF
    make macos libferry libferry_static libferry_documents
    check_dylib "$dylib" engine/ferry.h
    check_dylib "$build/macos/all/libferry-documents.dylib" documents/ferry_documents.h
    # Dot products, and those of matrices: their kernels are there, and macOS is asked whether the processor has them.
    for isa in neon_dotprod neon_i8mm; do
        llvm-nm "$build/macos/all/libferry.a" 2> /dev/null | grep "T _ferry_product_i8_$isa\$" > /dev/null ||
            fail "macOS: no kernels for $isa"
    done
    for feature in DotProd I8MM; do
        grep -qa "hw\.optional\.arm\.FEAT_$feature" "$dylib" || fail "macOS: does not ask for FEAT_$feature"
    done
}

run_macos()
{
    echo "macos: compiled and linked; nothing here runs it"
}

build_arm()
{
    wrap aarch64-linux-musl
    make_needs arm
    configure arm -DCMAKE_EXE_LINKER_FLAGS=-static
    make arm ferry
}

run_arm()
{
    local text="Good morning! Where is the station? I have never seen such a big dog." cpu isa
    rm -f "$build/arm/int8.gguf"
    build/ferry convert models/pretrained/tatoeba-en-de.gguf --type int8 -o "$build/arm/int8.gguf" > /dev/null
    FERRY_ISA=plain build/ferry translate -m "$build/arm/int8.gguf" "$text" > "$build/arm/expected"
    for cpu in cortex-a72 neoverse-n1 max; do
        qemu-aarch64 -cpu $cpu "$build/arm/all/ferry" translate -m "$build/arm/int8.gguf" "$text" |
            cmp - "$build/arm/expected" || fail "ARM: $cpu translated otherwise"
    done
    for isa in plain neon neon_dotprod neon_i8mm; do
        FERRY_ISA=$isa qemu-aarch64 -cpu max "$build/arm/all/ferry" translate -m "$build/arm/int8.gguf" "$text" |
            cmp - "$build/arm/expected" || fail "ARM: $isa translated otherwise"
    done
}

for system in "$@"; do
    mkdir -p "$build/$system"
    step "$system: build"
    "build_$system"
    step "$system: run"
    "run_$system"
done
step "done"
