#!/bin/sh
# Installs the Debian packages that are missing: tools/setup.sh build | test | ci
# The lists are complete: only git and a shell are assumed.
set -eu

build='gcc g++ libc6-dev binutils cmake ninja-build pkg-config libsentencepiece-dev libjansson-dev
libxxhash-dev libyaml-dev zlib1g-dev nettle-dev'
test="$build libopenblas-serial-dev libcmocka-dev python3"
ci="$test python3-venv clang clang-format libclang-rt-14-dev shellcheck
gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"

case "${1:-}" in
build) packages=$build ;;
test) packages=$test ;;
ci) packages=$ci ;;
*)
    echo "usage: tools/setup.sh build | test | ci" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "setup: not a Debian system; install these yourself: $packages" >&2
    exit 0
fi

missing=
for package in $packages; do
    # shellcheck disable=SC2016 # dpkg-query expands it
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
echo "setup: installing$missing" >&2
# shellcheck disable=SC2086 # lists of words
{
    $as_root apt-get -q update
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing
} >&2
