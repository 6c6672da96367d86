#!/usr/bin/env python3
"""The figures of documents in docs/performance.md: measure.py BUILD MODEL TEXT

TEXT has a sentence in each line. Prints how much more time a plain document takes than its lines; and the time of
constructs that are nested, unclosed or repeated, by size. What becomes of texts measures measure_texts.py."""
import re
import resource
import statistics
import subprocess
import sys

build, model, text = sys.argv[1:4]


def seconds(command, source):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, input=source, capture_output=True, check=False).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def measure_plain():
    lines = [line for line in open(text, "rb").read().splitlines() if not re.search(rb"\d", line)]  # nothing is kept
    ferry = [f"{build}/ferry", "translate", "-q", "--threads", "1", "--on-loop", "warn", "-m", model, "--format"]
    ratios = []
    for _ in range(5):
        by_line = seconds([*ferry, "lines"], b"\n".join(lines))[0]
        ratios.append(seconds([*ferry, "text"], b"\n\n".join(lines))[0] / by_line)
    print(f"a plain document, beside its lines: {statistics.median(ratios):.3f}", flush=True)


def measure_constructs():
    for name in ("markdown", "html", "po", "json"):
        for construct in ("<b>a ", "<b><i>a ", "<code>x</code> ", "<i>a</i>b<u>c</u> ", "%s a ", "https://a.b/c ", "[^ ",
                          "# ", "**a ", "a"):
            times = []
            for size in (1, 2, 4, 8):
                source = construct * (size * 1000000 // len(construct))
                if name == "po":
                    source = f'msgid ""\nmsgstr ""\n\nmsgid "{source}"\nmsgstr ""\n'
                elif name == "json":
                    source = f'["{source}"]'
                times.append(seconds([f"{build}/tests/translate_document", name, "upper"], source.encode())[0])
            print(f"{name} {construct!r}: " + " ".join(f"{time:.2f}" for time in times), flush=True)


measure_plain()
measure_constructs()
