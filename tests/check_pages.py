#!/usr/bin/env python3
"""Rules for the pages: lines of at most 160 characters and cells of at most 300; files and functions in backticks exist; the
rows of README's table of speed are rows of docs/performance.md."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONG = {"docs/encodings-compared.md"}  # lines and cells of any length
OTHERS = {"engine/position/sandwich.c", "engine/position/learned_slope.c", "xxhash.h", "preprocess.sh"}  # examples; others' files
FOLDERS = ["base", "bindings", "documents", "engine", "examples", "models", "tests", "tokenizer", "tools"]
ROWS = 6

pages = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").splitlines()
         for path in [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]}
files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*") if path.is_file()]
names = {path.name for path in files}
sources = "\n".join(path.read_text(encoding="utf-8") for path in files
                    if path.suffix in (".c", ".h", ".cc", ".py", ".txt", ".cmake") and "data" not in path.parts)
functions = set(re.findall(r"\bferry_\w+", sources))
faults = []


def check_names(place, line):
    for name in re.findall(r"`([\w./*-]+)`", line):
        if name in OTHERS:
            continue
        if name.split("/")[0] in FOLDERS and "/" in name:
            known = any(ROOT.glob(name.rstrip("/")))
        elif re.fullmatch(r"ferry_\w+", name):
            known = name in functions
        else:
            known = not re.fullmatch(r"\w+\.(c|h|cc|inc|sh)", name) or name in names
        if not known:
            faults.append(f"{place}: `{name}` does not exist")


for page, lines in pages.items():
    for number, line in enumerate(lines, 1):
        place = f"{page}:{number}"
        check_names(place, line)
        if page in LONG:
            continue
        if line.startswith("|"):
            if max(map(len, re.split(r"(?<!\\)\|", line))) > 302:  # with the blanks around it
                faults.append(f"{place}: a cell of more than 300 characters")
        elif len(line) > 160:
            faults.append(f"{place}: {len(line)} characters")

speed = pages["README.md"][pages["README.md"].index("## Speed"):]
rows = [line for line in speed if line.startswith("|")][2:]
if len(rows) != ROWS:
    faults.append(f"README.md: {len(rows)} rows of speed, expected {ROWS}")
faults += [f"README.md: not a row of docs/performance.md: {row}" for row in rows if row not in pages["docs/performance.md"]]

sys.exit("\n".join(faults) or None)
