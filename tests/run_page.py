"""Runs the commands that a page shows, and compares their output with what it shows: run_page.py PAGE DIRECTORY

The fenced blocks `sh` of a page run in one bash, which begins in DIRECTORY and ends at the first command that fails.
Blocks `python` are run, too, and a block `c` is kept as app.c. A fenced block `text` after one of these is its whole output;
in it, … stands for any characters, and on a line of its own for any lines. A comment `<!-- test: … -->` is run like `sh`: it
makes what only a download could bring."""
import re
import subprocess
import sys
import tempfile

COMMANDS = {"sh": ". {}", "python": "python3 {}", "c": "cp {} app.c", "text": None}
page, directory = sys.argv[1:]


def blocks(text):
    """(line, kind, content) of each."""
    pattern = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$|^<!-- test:\s(.*?)-->$", re.MULTILINE | re.DOTALL)
    for match in pattern.finditer(text):
        _, kind, content, prepared = match.groups()
        if prepared is not None or kind in COMMANDS:
            yield text.count("\n", 0, match.start()) + 1, kind or "sh", prepared or content


def shown(content):
    """The regular expression for an output that a page shows."""
    lines = [".*\n" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in content.splitlines()]
    return "".join(f"(?:{line})*" if line == ".*\n" else line for line in lines)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


found = list(blocks(read(page)))
if not found:
    sys.exit(f"{page}: no commands")
output = None
with tempfile.TemporaryDirectory() as scratch, subprocess.Popen(
        ["bash", "-euo", "pipefail"], cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shell:
    block, out, err = (f"{scratch}/{name}" for name in ("block", "out", "err"))
    for line, kind, content in found:
        if kind == "text":
            if output is None or not re.fullmatch(shown(content), output):
                sys.exit(f"{page}:{line}: expected\n{content}found\n{output}")
            output = None
            continue
        with open(block, "w", encoding="utf-8") as file:
            file.write(content)
        shell.stdin.write(f"{COMMANDS[kind].format(block)} > {out} 2> {err} < /dev/null\necho done\n")
        shell.stdin.flush()
        done = shell.stdout.readline() == "done\n"
        output = read(out)
        if not done:
            sys.exit(f"{page}:{line}: failed\n{output}{read(err)}")
    shell.stdin.close()
print(f"{page}: {sum(kind != 'text' for _, kind, _ in found)} blocks run")
