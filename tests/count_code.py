#!/usr/bin/env python3
"""Lines of code by floor, without comments and blank lines, of .c, .h and .cc: count_code.py [--check | --depth]

Tables (.inc) and what others wrote (third_party) do not count. --check compares with the table of docs/architecture.md: its
counts are to be those of the tree. --depth prints the longest chain of includes from a .c file, outside tests and in all.
"""
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/architecture.md"
FLOORS = {  # folders, without those that are floors of their own; lines at most
    "base": (["base"], 3120),
    "tokenizer": (["tokenizer"], 3780),
    "engine without engine/inspect": (["engine"], 13000),
    "engine/inspect": (["engine/inspect"], 1220),
    "documents": (["documents"], 8100),
    "models": (["models"], 9770),
    "tools without tools/lab": (["tools"], 4200),
    "tools/lab": (["tools/lab"], 2330),
    "tests": (["tests"], 33250),
}
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)


def count(path):
    """Comments become the ends of their lines; quotes stay, as they may hold what looks like one."""
    text = TOKEN.sub(lambda found: found[0] if found[0][0] in "\"'" else "\n" * found[0].count("\n"),
                     path.read_text(encoding="utf-8"))
    return sum(bool(line.strip()) for line in text.splitlines())


def files_of(folders):
    others = [ROOT / other for own, _ in FLOORS.values() for other in own if other not in folders]
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            inner = [other for other in others if other in path.parents and ROOT / folder in other.parents]
            if path.suffix in (".c", ".h", ".cc") and not inner:
                yield path


def table():
    rows = ["| floor | lines | at most | files |", "| --- | --- | --- | --- |"]
    for name, (folders, limit) in FLOORS.items():
        counts = [count(path) for path in files_of(folders)]
        rows.append(f"| {name} | {sum(counts):,} | {limit:,} | {len(counts)} |")
    return "\n".join(rows) + "\n"


@functools.lru_cache(maxsize=None)
def chain(path):
    """The longest chain of includes from a file, by their paths."""
    longest = []
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+\.h)"', path.read_text(encoding="utf-8"), re.MULTILINE):
        found = [place / name for place in (path.parent, ROOT, ROOT / "engine") if (place / name).exists()]
        longest = max(longest, chain(found[0].resolve()) if found else [], key=len)
    return [path.relative_to(ROOT)] + longest


def print_depth():
    files = [path for folders, _ in FLOORS.values() for path in files_of(folders) if path.suffix == ".c"]
    for name, some in ("outside tests", [path for path in files if ROOT / "tests" not in path.parents]), ("in all", files):
        deepest = max(map(chain, some), key=len)
        print(f"{name}: {len(deepest) - 1} edges:", *deepest)


if __name__ == "__main__":
    made = table()
    if sys.argv[1:] == ["--depth"]:
        print_depth()
    elif sys.argv[1:] != ["--check"]:
        print(made, end="")
    elif made not in PAGE.read_text(encoding="utf-8"):
        sys.exit(f"{PAGE}: its table of lines is not what the tree makes:\n{made}")
