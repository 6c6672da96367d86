#!/bin/bash
# The Debian packages: built from the tracked files of this tree, checked by lintian, installed and used in a fresh
# system. debian.sh, as root: debootstrap's successor makes a root file system from the archive.
set -Eeuo pipefail
trap 'echo "debian: failed at line $LINENO" >&2' ERR
cd "$(dirname "$0")/.."
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-debian.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

fail()
{
    echo "debian: $*" >&2
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "cannot run: chroot needs root"
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
text='Where is the nearest station, please?'

mkdir "$scratch/ferry" "$scratch/debs"
git ls-files -z | tar --null --files-from=- -cf - | tar -xf - -C "$scratch/ferry"
(cd "$scratch/ferry" && DEB_BUILD_OPTIONS=noautodbgsym dpkg-buildpackage -us -uc -b > "$scratch/log" 2>&1) || fail "$(tail -n 40 "$scratch/log")"
lintian --fail-on error --tag-display-limit 0 "$scratch"/*.changes
mv "$scratch"/*.deb "$scratch/debs"
cp tests/embedding/consumer/* "$scratch/debs"

# What a user does, in the new system.
cat > "$scratch/debs/use.sh" <<EOF
set -eu
cd /debs
apt-get -q install -y --no-install-recommends ./*.deb > log 2>&1 || { cat log; exit 1; }
ferry translate '$text'
cc consumer.c -o consumer \$(pkg-config --cflags --libs ferry)
./consumer /usr/share/ferry/tatoeba-en-de.gguf '$text'
cc consumer.c -o consumer -l:libferry.a -lsentencepiece -lstdc++ -lpthread -lm
./consumer /usr/share/ferry/tatoeba-en-de.gguf '$text'
apt-get -q purge -y libferry0.1 ferry-models > log 2>&1 || { cat log; exit 1; }
[ ! -e /usr/share/ferry ]
EOF
# shellcheck disable=SC2016 # mmdebstrap gives $1
mmdebstrap --quiet --variant=apt --include=g++,libc6-dev,pkg-config --customize-hook="copy-in $scratch/debs /" \
    --customize-hook='chroot "$1" sh /debs/use.sh > '"$scratch/output" "$suite" /dev/null || fail "$(cat "$scratch/output")"
expected=$(build/ferry translate "$text")
grep -qxF "$expected" "$scratch/output" || fail "ferry: expected '$expected', found $(cat "$scratch/output")"
[ "$(grep -cF " $expected" "$scratch/output")" -eq 2 ] || fail "the library: $(cat "$scratch/output")"
