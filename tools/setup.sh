#!/bin/sh
# Installs the Debian packages that are missing, and fetches SentencePiece's source: tools/setup.sh build | python | test | gate | wasm | full
# python is build, and what installing bindings/python into an environment of its own needs; wasm is build, and what bindings/js needs:
# a compiler for WebAssembly in third_party, and the libraries of the module made by it.
# gate and full are for .ci/run and .ci/full. For full also the sources of the other libraries, which tests/systems.sh
# compiles for other systems, and what tests/openblas.sh needs of another processor.
# The lists are complete: only git and a shell are assumed.
set -eu
cd "$(dirname "$0")/.."

# python3-pip fetches; setuptools and wheel are what it needs to read the package's name.
build='gcc g++ libc6-dev binutils cmake ninja-build pkg-config libjansson-dev libmd4c-dev libutf8proc-dev libxxhash-dev libyaml-dev
zlib1g-dev nettle-dev python3 python3-pip python3-setuptools python3-wheel'
python="$build python3-venv"
test="$build libopenblas-serial-dev libcmocka-dev"
wasm="$build nodejs"
command -v npm > /dev/null || wasm="$wasm npm" # other packages of nodejs have it inside, and conflict with Debian's
# cmark-gfm, gettext: they read what tests of documents write. fish, groff-base, mandoc, zsh: completions and manual pages.
gate="$test clang clang-format libclang-rt-14-dev shellcheck cmark-gfm gettext fish groff-base mandoc zsh"
# libprotobuf-dev and libsentencepiece-dev: for a program that has another protobuf and SentencePiece of its own.
# chromium, chromium-driver: for examples/web. parallel, default-jre-headless: for examples/scale-out. From libgtk-4-dev on: for
# examples/desktop and its test.
full="$gate $python $wasm ccache make llvm
gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
libopenblas0-pthread g++-powerpc64le-linux-gnu libc6-dev-ppc64el-cross
g++-mingw-w64-x86-64-posix wine64
libprotobuf-dev libsentencepiece-dev
bindgen cargo libclang1-14 rustc
debhelper dpkg-dev git lintian mmdebstrap
chromium chromium-driver
parallel default-jre-headless
libgtk-4-dev at-spi2-core dbus gir1.2-atspi-2.0 python3-gi python3-xlib xdotool xvfb"

# Debian's source packages, and those of which the authors' archive is enough: mirrors lack the rest of md4c.
sources='cmocka jansson libyaml nettle utf8proc zlib'
archives=md4c
# Of ppc64el.
foreign='libopenblas-serial-dev libutf8proc-dev'

zig_version=0.17.1
sentencepiece_version=0.2.1
sentencepiece_sha256=8138cec27c2f2282f4a34d9a016e3374cd40e5c6e9cb335063db66a0a3b71fad

case "${1:-}" in
build) packages=$build ;;
python) packages=$python ;;
test) packages=$test ;;
gate) packages=$gate ;;
wasm) packages=$wasm ;;
full) packages=$full ;;
*)
    echo "usage: tools/setup.sh build | python | test | gate | wasm | full" >&2
    exit 2
    ;;
esac

install_packages()
{
    missing=
    for package in $1; do
        # shellcheck disable=SC2016 # dpkg-query expands it
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0

    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    echo "setup: installing$missing" >&2
    # shellcheck disable=SC2086 # lists of words
    {
        $as_root apt-get -q update
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends $missing
    } >&2
}

# Sets scratch: a folder beside those that are made in it, which is gone at the end.
make_scratch()
{
    scratch=$(mktemp -d third_party/fetch.XXXXXX)
    trap 'rm -rf "$scratch"' EXIT
}

# Unpacks the source package into third_party/ if it is not there. The folder appears complete or not at all.
fetch_sentencepiece()
{
    name=sentencepiece-$sentencepiece_version
    [ ! -d "third_party/$name" ] || return 0
    echo "setup: fetching the source of $name" >&2
    make_scratch
    # The interpreter that has Debian's setuptools: without isolation, pip downloads this package alone.
    interpreter=/usr/bin/python3
    [ -x "$interpreter" ] || interpreter=python3
    # pip checks the hash before it looks into the file.
    echo "sentencepiece==$sentencepiece_version --hash=sha256:$sentencepiece_sha256" |
        "$interpreter" -m pip --quiet --disable-pip-version-check download --no-deps --no-build-isolation \
            --no-binary :all: --dest "$scratch" --requirement /dev/stdin >&2
    tar -xzf "$scratch/$name.tar.gz" -C "$scratch"
    mv "$scratch/$name" third_party/
}

# list_archives KIND: deb or deb-src, from where the system gets its packages, which need not list sources: the release
# itself, without updates.
list_archives()
{
    # shellcheck disable=SC2016 # apt expands it
    apt-get indextargets --format "$1 "'$(REPO_URI) $(RELEASE) $(COMPONENT)' \
        'Created-By: Packages' 'Origin: Debian' 'Component: main' |
        awk '$3 !~ /-/' | sort -u
}

# Unpacks packages of ppc64el into third_party/ppc64el, with lists of their own: apt's architectures stay as they are.
fetch_foreign_packages()
{
    [ ! -d third_party/ppc64el ] || return 0
    echo "setup: fetching $foreign of ppc64el" >&2
    make_scratch
    place=$PWD/$scratch
    mkdir -p "$place/lists/partial" "$place/cache/archives/partial"
    list_archives deb > "$place/sources.list"
    cat > "$place/apt.conf" << END
APT::Architecture "ppc64el";
APT::Architectures "ppc64el";
APT::Sandbox::User "root";
Dir::Cache "$place/cache";
Dir::Etc::SourceList "$place/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$place/lists";
Dir::State::status "/dev/null";
END
    (
        cd "$place"
        export APT_CONFIG="$place/apt.conf"
        apt-get -q update
        # shellcheck disable=SC2086 # a list of words
        apt-get -q download $foreign
        for package in *.deb; do dpkg-deb -x "$package" unpacked; done
    ) >&2
    mv "$place/unpacked" third_party/ppc64el
    rm -rf "$place"
}

# Unpacks Debian's sources into third_party/.
fetch_debian_sources()
{
    missing=
    for source in $sources; do
        [ -n "$(find third_party -maxdepth 1 -name "$source-[0-9]*")" ] || missing="$missing $source"
    done
    missing_archives=
    for source in $archives; do
        [ -n "$(find third_party -maxdepth 1 -name "$source-[0-9]*")" ] || missing_archives="$missing_archives $source"
    done
    [ -n "$missing$missing_archives" ] || return 0
    echo "setup: fetching the sources of$missing$missing_archives" >&2
    make_scratch
    place=$PWD/$scratch
    mkdir -p "$place/lists/partial"
    list_archives deb-src > "$place/sources.list"
    {
        set -- -q -o "Dir::Etc::SourceList=$place/sources.list" -o Dir::Etc::SourceParts=- \
            -o "Dir::State::Lists=$place/lists" -o APT::Sandbox::User=root
        apt-get "$@" update
        # shellcheck disable=SC2086 # a list of words
        [ -z "$missing" ] || (cd "$place" && apt-get "$@" source $missing)
        # shellcheck disable=SC2086
        [ -z "$missing_archives" ] || (cd "$place" && apt-get "$@" --tar-only --download-only source $missing_archives)
    } >&2
    for source in $missing; do mv "$place/$source"-[0-9]* third_party/; done
    for source in $missing_archives; do
        archive=$(find "$place" -name "${source}_*.orig.tar.*")
        version=${archive##*/"$source"_}
        mkdir "$place/unpacked"
        tar -xf "$archive" -C "$place/unpacked" --strip-components=1
        mv "$place/unpacked" "third_party/$source-${version%.orig.tar.*}"
    done
    rm -rf "$place"
}

# zig, whose programs are named as CMake wants compilers named.
fetch_zig()
{
    name=zig-$zig_version
    [ ! -d "third_party/$name" ] || return 0
    echo "setup: fetching $name" >&2
    make_scratch
    python3 -m pip --quiet --disable-pip-version-check install --no-deps --no-compile --target "$scratch" "ziglang==$zig_version" >&2
    rm -rf "${scratch:?}/bin"
    mkdir "$scratch/bin"
    for tool in cc c++ ar ranlib; do
        # shellcheck disable=SC2016 # for the script that is written
        printf '#!/bin/sh\nexec "$(dirname "$0")/../ziglang/zig" %s "$@"\n' "$tool" > "$scratch/bin/$tool"
        chmod +x "$scratch/bin/$tool"
    done
    mv "$scratch" "third_party/$name"
}

# The libraries that the module is linked with, into third_party/wasm.
make_wasm_libraries()
{
    [ ! -e third_party/wasm/complete ] || return 0
    echo "setup: compiling libraries for WebAssembly" >&2
    make_scratch
    {
        cmake -S tests/systems -B "$scratch" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/bindings/js/wasm.cmake" \
            -DCMAKE_BUILD_TYPE=Release -DSOURCES="$PWD/third_party" -DCMAKE_INSTALL_PREFIX="$PWD/third_party/wasm"
        cmake --build "$scratch" --target install
    } >&2
    touch third_party/wasm/complete
    rm -rf "$scratch"
}

mkdir -p third_party
if command -v dpkg-query >/dev/null; then
    install_packages "$packages"
    case $1 in full | wasm) fetch_debian_sources ;; esac
    [ "$1" != full ] || fetch_foreign_packages
else
    echo "setup: not a Debian system; install these yourself: $packages" >&2
fi
fetch_sentencepiece
case $1 in
full | wasm)
    fetch_zig
    make_wasm_libraries
    ;;
esac
