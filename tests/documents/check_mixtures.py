#!/usr/bin/env python3
"""Mixtures of constructs (mixtures.c), translated into capitals: readers that we did not write find the same structure.

    check_mixtures.py MIXTURES FIRST COUNT [FORMAT …]

mixtures checks the documents number FIRST … FIRST + COUNT - 1 of each format (all, if none is named) by itself. Of
those with balanced markup (even numbers) these are the judges; soft hyphens are left out:
- html: html.parser finds the same tags, comments and declarations within the same elements.
- markdown: cmark-gfm finds the same blocks, and in each of them the same code, links, images, tags, emphasis.
- po: msgfmt -c accepts what it accepted, and filled entries have the placeholders of their source.
- json: Python's json finds the same keys and values, but for the case of letters.
- text: there are the same paragraphs, whose first lines begin with the same indentation, bullet or quotation mark.
- srt, vtt: there are the same lines of times, and in each cue the same tags in their order."""
import re
import shutil
import subprocess
import sys

import check
import check_json
import check_markdown
import check_po
from structure_check import StructureChecker

FORMATS = ("text", "html", "markdown", "po", "json", "srt", "vtt")
MOST_JUDGED = {"po": 600}  # msgfmt is slow; of others among the first 4,000
BEGINNING = re.compile(r"[\s>]*(?:(?:[-*+•]|\d+[.)]|\([a-z]\))(?=\s|$))?[\s>]*")
TIMES = re.compile(r"^.*\d\d:\d\d[.,]\d+ --> .*$", re.MULTILINE)
TAG = re.compile(r"</?(?:[ibcuv]|font|lang|ruby|rt|[\d:.]+)\b[^<>]*>|\{\\[^{}\n]*\}")


class HtmlChecker(StructureChecker):
    format, needs = "html", None

    def compare(self, name, way, source, after):
        found = [check.Markup(text.decode()).items for text in (source, after)]
        self.counts["tags"] += sum(found[0].values())
        if found[0] != found[1]:
            self.fail(name, f"missing: {found[0] - found[1]}, added: {found[1] - found[0]}")


class MarkdownChecker(check_markdown.Checker):
    def compare(self, name, way, source, after):
        if source != after and b"!!!" not in source:  # what is indented below that is no code for others than cmark
            super().compare(name, way, source, after)


class PoChecker(check_po.Checker):
    def compare(self, name, way, source, after):
        if check_po.accepts(source):
            super().compare(name, way, source, after)


class TextChecker(StructureChecker):
    format, needs = "text", None

    def compare(self, name, way, source, after):
        found = [[BEGINNING.match(paragraph).group() for paragraph in re.split(r"\n(?:[ \t>]*\n)+", text.decode())]
                 for text in (source, after)]
        self.counts["paragraphs"] += len(found[0])
        if found[0] != found[1]:
            self.fail(name, f"paragraphs began {found[0]}, and begin {found[1]}")


class SubtitleChecker(StructureChecker):
    format, needs = "subtitles", None

    def compare(self, name, way, source, after):
        found = [(TIMES.findall(text), [TAG.findall(cue) for cue in TIMES.split(text)])
                 for text in (source.decode(), after.decode())]
        self.counts["cues"] += len(found[0][0])
        if found[0] != found[1]:
            self.fail(name, f"there were {found[0]}, and are {found[1]}")


CHECKERS = {"text": TextChecker, "html": HtmlChecker, "markdown": MarkdownChecker, "po": PoChecker,
            "json": check_json.Checker, "srt": SubtitleChecker, "vtt": SubtitleChecker}


def judge(mixtures, name, first, count):
    checker = CHECKERS[name](None, None, None)
    if checker.needs is not None and shutil.which(checker.needs) is None:
        print(f"{name}: not judged, no {checker.needs}", file=sys.stderr)
        return 0
    done = subprocess.run([mixtures, name, str(first), str(count), "print"], stdout=subprocess.PIPE, check=True)
    texts = done.stdout.split(b"\0")
    for index in range(first % 2, count, 2):
        source, after = (text.replace(b"\xc2\xad", b"") for text in texts[2 * index : 2 * index + 2])
        if after:  # else it is refused
            checker.compare(f"number {first + index}", "upper", source, after)
    print(f"{name}: {(count + 1) // 2} judged, with " + ", ".join(f"{n} {what}" for what, n in checker.counts.items()), flush=True)
    return checker.failures


def main(mixtures, first, count, *names):
    failures = 0
    for name in names or FORMATS:
        failures += subprocess.run([mixtures, name, first, count], check=False).returncode != 0
        failures += judge(mixtures, name, int(first), min(int(count), MOST_JUDGED.get(name, 4000)))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
