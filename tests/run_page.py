"""Runs the commands that a page shows, and compares their output with what it shows: run_page.py PAGE DIRECTORY

Each fenced block `sh` runs in bash, which ends at the first command that fails; a fenced block `text` after it is its
whole output. There, … stands for any characters, and on a line of its own for any lines. A comment `<!-- test: … -->`
is run as well: it makes what only a download or a long work could bring. The directory is the same for all of a page.
PYTHON runs blocks `python`."""
import os
import re
import subprocess
import sys

page, directory = sys.argv[1:]
KINDS = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"], "text": None}


def blocks(text):
    """(line, kind, content) of the fenced blocks of the kinds above, and of comments for tests (kind `sh`)."""
    pattern = re.compile(r"^```(\w*)\n(.*?)^```$|^<!-- test:\s(.*?)-->$", re.MULTILINE | re.DOTALL)
    for match in pattern.finditer(text):
        kind, content, prepared = match.groups()
        if prepared is not None or kind in KINDS:
            yield text.count("\n", 0, match.start()) + 1, kind or "sh", prepared or content


def shown(content):
    """The regular expression for an output that a page shows."""
    lines = [".*\n" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in content.splitlines()]
    return "".join(f"(?:{line})*" if line == ".*\n" else line for line in lines)


with open(page, encoding="utf-8") as file:
    found = list(blocks(file.read()))
count, output = 0, None
for line, kind, content in found:
    if kind == "text":
        if output is None or not re.fullmatch(shown(content), output):
            sys.exit(f"{page}:{line}: expected\n{content}found\n{output}")
        output = None
        continue
    done = subprocess.run(KINDS[kind] + [content], cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    output = done.stdout.decode()
    if done.returncode != 0:
        sys.exit(f"{page}:{line}: exit status {done.returncode}\n{output}{done.stderr.decode()}")
    count += 1
if count == 0:
    sys.exit(f"{page}: no commands")
print(f"{page}: {count} blocks run")
