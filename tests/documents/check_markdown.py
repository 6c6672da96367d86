#!/usr/bin/env python3
"""Markdown of this repository and this machine's packages: an independent reader, cmark-gfm, finds the same structure in
translations, and everything that is not text.

    check_markdown.py TRANSLATE_DOCUMENT FERRY MODEL [MOST [MOST_TRANSLATED]]

MOST documents (default: 50; where there are fewer, others are made of the blocks of tests/data/documents/everything.md)
are translated by functions in the place of a model (translate_document.c), MOST_TRANSLATED (default: 3) by the model:
- same: a function that returns its input gives the same bytes.
- upper, longer, the model: cmark-gfm finds the same blocks, and in each of them the same code, links, images, tags and
  emphasis, each as often as before."""
import collections
import pathlib
import random
import re
import xml.etree.ElementTree

from structure_check import StructureChecker, run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EVERYTHING = ROOT / "tests/data/documents/everything.md"
PLACES = ("/usr/share/doc", "/usr/lib/node_modules", "/usr/local/go", "/usr/share")
EXTENSIONS = ("table", "strikethrough", "tasklist", "footnotes", "autolink")
INLINE = {"text", "softbreak", "linebreak", "code", "html_inline", "emph", "strong", "strikethrough", "link", "image", "footnote"}
# Others than cmark-gfm know definitions and admonitions: what is indented below them is no code.
UNLIKE = re.compile(r"^(:|!!!|\?\?\?\+?) ", re.MULTILINE)


class Made:
    """Blocks of everything.md in another order, some of them in quotes and lists."""

    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)

    def __str__(self):
        return f"made from everything.md, number {self.seed}"

    def read_bytes(self):
        blocks = EVERYTHING.read_text().split("---\n", 2)[2].strip("\n").split("\n\n")
        self.random.shuffle(blocks)
        lines = []
        for block in blocks[: self.random.randint(1, len(blocks))]:
            prefix = self.random.choice([("", ""), ("", ""), ("> ", "> "), ("- ", "  "), ("> 1. ", ">    ")])
            for number, line in enumerate(block.split("\n")):
                lines.append((prefix[number > 0] + line).rstrip() + ("  " if line.endswith("  ") else ""))
            lines.append("")
        return "\n".join(lines).replace("\n", self.random.choice(["\n", "\n", "\r\n"])).encode()


def documents(most):
    found = [EVERYTHING, *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))]
    others = []
    for place in PLACES:
        for path in sorted(pathlib.Path(place).rglob("*.md")):
            if path.is_file() and 500 <= path.stat().st_size <= 30000:
                others.append(path)
    others = [path for path in others if not UNLIKE.search(path.read_bytes().decode("utf-8", "replace"))]
    missing = max(0, most - len(found))
    found += others[:: max(1, len(others) // max(1, missing))][:missing]
    found = (found + [Made(seed) for seed in range(max(0, most - len(found)))])[:most]
    return [(path, path.read_bytes()) for path in found]


def structure(source):
    """A list of blocks: name, depth, attributes, text of code; of a block with text: what is in it, in any order."""
    source = re.sub(rb"\A(---|\+\+\+)[ \t]*\r?\n.*?\n\1[ \t]*(\r?\n|\Z)", b"", source, flags=re.DOTALL)
    extensions = [word for name in EXTENSIONS for word in ("-e", name)]
    command = ["cmark-gfm", *extensions, "--unsafe", "-t", "xml"]
    done = run(*command, source=source)
    done.check_returncode()
    tree = re.sub("[^\t\n\r -\uffff\U00010000-\U0010ffff]", "?", done.stdout.decode()).replace("<unknown>", "footnote") # what cmark-gfm has no name for
    found = []

    def walk(node, depth):
        name = node.tag.split("}")[1]
        if name not in INLINE:
            inside = collections.Counter()
            text = (node.text or "").strip()
            if name == "html_block": # whose text is translated
                text = re.findall(r"<!--.*?-->|</?[\w-]+", text, re.DOTALL)
            found.append((name, depth, sorted(node.attrib.items()), text, inside))
        for child in node:
            if child.tag.split("}")[1] in INLINE:
                count(child, inside)
            else:
                walk(child, depth + 1)

    def count(node, inside):
        name = node.tag.split("}")[1]
        if name not in ("text", "softbreak"):
            attributes = tuple(sorted(each for each in node.attrib.items() if each[0] != "title"))  # which is a text
            inside[(name, attributes, " ".join((node.text or "").split()))] += 1
        for child in node:
            count(child, inside)

    walk(xml.etree.ElementTree.fromstring(tree), 0)
    return found


class Checker(StructureChecker):
    format, needs = "markdown", "cmark-gfm"
    documents = staticmethod(documents)

    def compare(self, path, way, source, after):
        blocks, others = structure(source), structure(after)
        self.counts["parts of blocks"] += sum(sum(block[4].values()) for block in blocks)
        for block, other in zip(blocks, others):
            if block != other:
                self.fail(path, f"{way}: expected {block}, found {other}")
                return
        if len(blocks) != len(others):
            self.fail(path, f"{way}: expected {len(blocks)} blocks, found {len(others)}")
        if after == source and re.search(b"^[a-z ]{20}", source, re.MULTILINE):
            self.fail(path, f"{way}: nothing was translated")


if __name__ == "__main__":
    Checker.main()
