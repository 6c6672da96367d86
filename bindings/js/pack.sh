#!/bin/sh
# The npm package, in a folder: bindings/js/pack.sh FOLDER      (after cmake --build --preset wasm)
set -eu
target=$(realpath "$1")
cd "$(dirname "$0")/../.."
package=build-wasm/package
rm -rf "$package"
mkdir "$package"
cp bindings/js/*.js bindings/js/ferry.d.ts bindings/js/package.json bindings/js/README.md LICENSE build-wasm/NOTICES \
    build-wasm/bindings/js/*.wasm "$package"
cd "$package"
npm pack --silent --pack-destination "$target" > /dev/null
