#!/bin/bash
# The wheel of bindings/python, as a user makes and installs it: python_package.sh VENV
# VENV is a virtual environment of Python that has mypy and numpy, with what ferry.lab needs.
set -Eeuo pipefail
trap 'echo "python_package: failed at line $LINENO" >&2' ERR
venv=$(realpath "$1")
source_dir=$(realpath "$(dirname "$0")/../..")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ferry-python.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
most=1600000 # bytes of the wheel
libc=2.35    # the oldest that has to suffice

fail()
{
    echo "python_package: $*" >&2
    exit 1
}

cd "$source_dir"
"$venv/bin/mypy" bindings/python/ferry --config-file bindings/python/pyproject.toml --cache-dir "$scratch/cache"

# Only what git knows goes into it, and it leaves nothing behind.
git status --porcelain --ignored > "$scratch/before"
"$venv/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$scratch/wheels" ./bindings/python
git status --porcelain --ignored | cmp - "$scratch/before" || fail "building a wheel has left files in the tree"
wheel=$(echo "$scratch"/wheels/*.whl)
size=$(stat -c %s "$wheel")
[ "$size" -le $most ] || fail "the wheel has $size bytes, more than $most"
[[ $wheel == *-py3-none-manylinux_2_35_"$(uname -m)".whl ]] || fail "the wheel is called ${wheel##*/}"
mkdir "$scratch/unpacked"
"$venv/bin/python" -m zipfile -e "$wheel" "$scratch/unpacked"
cd "$scratch/unpacked"
for file in py.typed NOTICES lab/page.html; do [ -f "ferry/$file" ] || fail "there is no $file"; done
! grep -rlF -e "$source_dir" -e "${TMPDIR:-/tmp}/" . || fail "the wheel names folders of this machine"

# The library: both headers' functions and nothing else, on an older C library.
newest=$(objdump -T ferry/_ferry.so | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -1)
[ "$(printf '%s\n' "GLIBC_$libc" "$newest" | sort -V | tail -1)" = "GLIBC_$libc" ] || fail "the library needs $newest"
nm -D --defined-only ferry/_ferry.so | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort > "$scratch/exported"
sed -nE 's/^FERRY_API .*(ferry_[a-z0-9_]+)\(.*/\1/p' "$source_dir"/engine/ferry.h "$source_dir"/engine/ferry_inspect.h |
    sort | diff - "$scratch/exported" || fail "it exports other functions than those of the headers"

# As the README has it, where there is nothing else.
"$venv/bin/python" -m venv "$scratch/plain"
"$scratch/plain/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
cd "$scratch"
awk '/^```python/ { code = 1; next } /^```/ { code = 0 } code' "$source_dir/README.md" > readme.py
ln -s "$source_dir/models" models
[ "$(plain/bin/python readme.py)" = 'Guten Morgen!' ] || fail "the lines of README.md print $(plain/bin/python readme.py)"
plain/bin/python "$source_dir/tests/python/test_package.py" "$(echo plain/lib/python3*/site-packages)" "$source_dir" \
    "${FERRY_PROGRAM:-$source_dir/build/ferry}"
plain/bin/python "$source_dir/tests/python/test_service.py" "$(echo plain/lib/python3*/site-packages)" "$source_dir"

# A program with types.
cat > typed.py << 'END'
import ferry
import ferry.inspect
from typing import assert_type, Iterator

translator = ferry.Translator(ferry.Model("model.gguf"), beam=4, split="all", to="de")
assert_type(translator.translate("a"), ferry.Translation)
assert_type(translator.translate(["a"]), Iterator[ferry.Translation])
assert_type(translator.score("a", "b").tokens[0].log_probability, float)
service = ferry.Service(translator, max_texts=5)
assert_type(service.submit("a", on_partial=lambda line, text: text == "a").result(), ferry.Translation)
assert_type(service.state.waiting, int)

async def lines() -> None:
    assert_type(await service.submit_lines(["a"], priority=5), list[ferry.Translation])

translator = ferry.Translator(ferry.Model("model.gguf"), splt="all")  # type: ignore[call-arg]
translator = ferry.Translator(ferry.Model("model.gguf"), split="word")  # type: ignore[arg-type]
END
MYPYPATH="$scratch/unpacked" "$venv/bin/mypy" --strict --python-executable "$venv/bin/python" --cache-dir "$scratch/cache" typed.py
