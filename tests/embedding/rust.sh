#!/bin/bash
# The crate of examples/rust, without a network: rust.sh BUILD. Each cargo in PATH builds it with the compiler beside it
# (Debian's is the oldest that has to suffice), with the installed shared and static library, and another crate with it.
# The checked-in bindings are what bindgen makes of engine/ferry.h.
set -Eeuo pipefail
trap 'echo "rust: failed at line $LINENO" >&2' ERR
build=$(realpath "$1")
cd "$(dirname "$0")/../../examples/rust"
source_dir=$(realpath ../..)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-rust.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "rust: $*" >&2
    exit 1
}

# quietly COMMAND...: its output only if it fails.
quietly()
{
    "$@" > "$scratch/log" 2>&1 || fail "$* failed: $(cat "$scratch/log")"
}

mapfile -t toolchains < <({ type -ap cargo || true; } | xargs -r dirname | xargs -r realpath | sort -u)
if [ ${#toolchains[@]} -eq 0 ]; then
    echo "rust: not run, no cargo: the crate" >&2
    exit 77
fi
quietly cmake --install "$build" --prefix "$scratch/prefix"
model=$(find "$scratch/prefix" -name tatoeba-en-de.gguf)
lib=$(dirname "$(find "$scratch/prefix" -name libferry.a)")
export PKG_CONFIG_PATH=$lib/pkgconfig FERRY_MODEL=$model
text='Good morning! Where is the nearest station, please?'
expected=$(printf %s "$text" | "$scratch/prefix/bin/ferry" translate --quiet --format text -m "$model")

# Another crate, which uses the shared library as the page of the crate says.
app=$scratch/app
mkdir -p "$app/src"
printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nferry = { path = "%s" }\n' \
    "$PWD" > "$app/Cargo.toml"
awk '/^```rust/ { code = 1; next } /^```/ { code = 0 } code' "$source_dir/examples/rust/README.md" > "$app/build.rs"
cp examples/translate.rs "$app/src/main.rs"

paths=$PATH
for toolchain in "${toolchains[@]}"; do
    PATH=$toolchain:$paths
    echo "rust: $(cargo --version), $(rustc --version)"
    export CARGO_TARGET_DIR=$scratch/${toolchain//\//_}
    program=$CARGO_TARGET_DIR/debug/examples/translate
    for features in '' static; do
        quietly cargo test --offline --locked --features "$features"
        cp "$program" "$scratch/$features-translate"
    done
    rm -f "$app/Cargo.lock" # in the form of another cargo
    quietly cargo build --offline --manifest-path "$app/Cargo.toml"
    cp "$CARGO_TARGET_DIR/debug/app" "$scratch/app-translate"
    needed=$(readelf -dW "$scratch/-translate")
    [[ $needed == *'[libferry.so.0.1]'* ]] || fail "the example does not use the shared library"
    needed=$(readelf -dW "$scratch/static-translate")
    [[ $needed != *libferry* ]] || fail "with the feature 'static', the example needs the shared library"
    for program in "$scratch"/*-translate; do
        output=$("$program" "$model" "$text")
        [ "$output" = "$expected" ] || fail "$program: expected '$expected', found '$output'"
        ! "$program" "$model" '>>xyz<< Hello.' > /dev/null 2>&1 || fail "$program: a line that fails is no failure"
    done
    # Where the library is, without pkg-config.
    FERRY_LIB_DIR=$lib PKG_CONFIG=false quietly cargo build --offline --locked --example translate
    if FERRY_LIB_DIR='' PKG_CONFIG=false cargo build --offline > "$scratch/log" 2>&1; then
        fail "a library that is nowhere was found"
    fi
    grep -q 'FERRY_LIB_DIR' "$scratch/log" || fail "what is missing is not said: $(cat "$scratch/log")"
done
PATH=$paths

version=$(sed -n 's,.*rust-bindgen ,,p' src/sys.rs | cut -d' ' -f1)
if [ "$(bindgen --version 2> /dev/null)" != "bindgen $version" ]; then
    echo "rust: not run, no bindgen $version: whether the bindings are those of $source_dir/engine/ferry.h" >&2
    exit 77
fi
# bindgen's layout depends on the rustfmt that it finds.
./bindgen.sh | tr -d '[:space:],' > "$scratch/generated"
tr -d '[:space:],' < src/sys.rs > "$scratch/present"
cmp "$scratch/generated" "$scratch/present" || fail "engine/ferry.h has changed: examples/rust/bindgen.sh > examples/rust/src/sys.rs"
