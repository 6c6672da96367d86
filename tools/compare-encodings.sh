#!/bin/sh
# Compares the positional encodings of the models that ship, and writes a page, with what it is made of, into the folder
# encodings: tools/compare-encodings.sh [ARGUMENT…]   (those of python -m ferry.lab compare; other models, another text)
set -eu
cd "$(dirname "$0")/.."

tools/setup.sh python
[ -x build-lab/bin/pip ] || python3 -m venv build-lab
build-lab/bin/pip install --quiet --disable-pip-version-check './bindings/python[lab]'
[ $# -gt 0 ] || set -- models/encodings --seeds tools/lab/encodings/runs.json.xz
exec build-lab/bin/python -m ferry.lab compare "$@"
