#!/bin/bash
# The Debian packages: built without a network from a source package of this tree's tracked files and SentencePiece's
# source, checked by lintian, installed and used in a fresh system. debian.sh, as root: debootstrap's successor makes a
# root file system from the archive.
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
version=$(dpkg-parsechangelog -S Version)
text='Where is the nearest station, please?'

mkdir "$scratch/ferry" "$scratch/debs"
{ git ls-files -z && find third_party/sentencepiece-*/sentencepiece -type f -print0; } |
    tar --null --files-from=- -cf - | tar -xf - -C "$scratch/ferry"
tar -C "$scratch" --exclude=ferry/debian -czf "$scratch/ferry_${version%-*}.orig.tar.gz" ferry
(cd "$scratch/ferry" && DEB_BUILD_OPTIONS=noautodbgsym unshare --net dpkg-buildpackage -us -uc > "$scratch/log" 2>&1) ||
    fail "$(tail -n 40 "$scratch/log")"
lintian --fail-on error --tag-display-limit 0 "$scratch"/*.changes
mv "$scratch"/*.deb "$scratch/debs"
cp tests/embedding/consumer/*.c tests/embedding/host.cc tests/embedding/own_protobuf.cc \
    tests/data/models/tatoeba-en-de/source.spm "$scratch/debs"

# What a user does, in the new system, also beside a protobuf of another version.
cat > "$scratch/debs/use.sh" <<EOF
set -eu
cd /debs
apt-get -q install -y --no-install-recommends ./*.deb > log 2>&1 || { cat log; exit 1; }
ferry translate '$text'
cc consumer.c -o consumer \$(pkg-config --cflags --libs ferry)
./consumer /usr/share/ferry/tatoeba-en-de.gguf '$text'
cc consumer.c -o consumer -l:libferry.a -lpthread -lm
./consumer /usr/share/ferry/tatoeba-en-de.gguf '$text'
c++ host.cc own_protobuf.cc -o host -lprotobuf \$(pkg-config --cflags --libs ferry)
./host /usr/share/ferry/tatoeba-en-de.gguf source.spm '$text'
cc page.c -o page \$(pkg-config --cflags --libs ferry-documents)
./page /usr/share/ferry/tatoeba-en-de.gguf html '$text'
apt-get -q purge -y libferry0.1 ferry-models > log 2>&1 || { cat log; exit 1; }
[ ! -e /usr/share/ferry ]
EOF
# shellcheck disable=SC2016 # mmdebstrap gives $1
mmdebstrap --quiet --variant=apt --include=g++,libc6-dev,libprotobuf-dev,pkg-config \
    --customize-hook="copy-in $scratch/debs /" --customize-hook='chroot "$1" sh /debs/use.sh > '"$scratch/output 2>&1" \
    "$suite" /dev/null || fail "$(cat "$scratch/output")"
expected=$(build/ferry translate "$text")
# Five translations, two of them behind their score, and not a word more.
[ "$(sed 's/^-0x[^ ]* //' "$scratch/output")" = "$(for _ in 1 2 3 4 5; do echo "$expected"; done)" ] ||
    fail "expected '$expected' five times, found $(cat "$scratch/output")"
