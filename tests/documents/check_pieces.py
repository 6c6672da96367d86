#!/usr/bin/env python3
"""Kept pieces in elements: each is in the translation once, and nothing that stood for one.

    check_pieces.py FERRY MODEL [SEED]

2,700 paragraphs of HTML and Markdown, each with a piece that is kept (a date, a placeholder, a name of a file …) and
another word or two in bold, italics or a link, are translated by the model. Wrong is a translation that lacks its piece,
has it twice, or has a name or a year that the source lacks: what the model saw in the place of the piece. Prints how
many are wrong, and how many stay as they are, with a message."""
import random
import re
import subprocess
import sys

PARAGRAPHS = 2700
MOST_LEFT = 0.1  # of the paragraphs
ELEMENTS = {
    "html": (("<b>", "</b>"), ("<i>", "</i>"), ('<a href="/x">', "</a>"), ("<time>", "</time>")),
    "markdown": (("**", "**"), ("*", "*"), ("[", "](/x)")),
}
PIECES = ("{{name{0}}}", "%({0}a)s", "user_{0}", "file{0}.md", "https://example.org/{0}", "me{0}@example.org", "#1{0}",
          "1.2.{0}", "--option-{0}", "src/{0}/main.c", "17:{0}", "2021-05-{0}", "1,2{0}.75", "${{home{0}}}", "call{0}()")
CODE = {"html": "<code>x{0}</code>", "markdown": "`x{0}`"}
# What is in an element: $ is the piece.
MARKED = ("$", "the file $", "$ books", "version $", "Version $", "$ and more", "the new $", "old $ house", "see $ here",
          "about $", "Tom and $", "my friend $", "$ today", "$, please", "not $")
SENTENCES = """@ of the house.
@ by Tom Smith.
The @ in the garden.
This is @ for you.
We saw @ yesterday.
I do not know @ yet.
Can you open @ for me?
@ is very important.
Please read @ before you go.
She wrote @ and went home.
If it rains, @ stays at home.
Tom bought @ in the city.
The teacher explained @ to the children.
@: this is new.
There is nothing better than @, he said.
My brother lost @ and found it again.""".split("\n")
# Names that the engine shows in the place of an opaque term.
STAND_INS = re.compile("Boston|Paris|Hawaii|London|Berlin|Chicago|Hamburg|Madrid|Toronto|Detroit|Texas|Florida|Kyoto|"
                       "Osaka|Seattle|Dublin|Havanna|Alaska")
YEAR = re.compile(r"\d{4}")


def paragraph(chosen, kind, number):
    """A paragraph of this format, and its piece."""
    piece = chosen.choice(PIECES + (CODE[kind],)).format(10 + number % 49)
    begin, end = chosen.choice(ELEMENTS[kind])
    marked = chosen.choice(MARKED).replace("$", piece)
    return chosen.choice(SENTENCES).replace("@", begin + marked + end), piece


def translate(ferry, model, kind, paragraphs):
    """The paragraphs' translations, and the messages."""
    ends = ("<p>", "</p>") if kind == "html" else ("", "\n")
    source = "".join(f"{ends[0]}{text}{ends[1]}\n" for text, _ in paragraphs)
    command = [ferry, "translate", "--format", kind, "--model", model]
    done = subprocess.run(command, input=source.encode(), capture_output=True, check=False)
    found = done.stdout.decode().split(ends[1] + "\n")
    if done.returncode > 1 or len(found) != len(paragraphs) + 1:
        sys.exit(f"{len(paragraphs)} paragraphs became {len(found) - 1}: {done.stderr.decode()}")
    return [text[len(ends[0]):] for text in found[:-1]]


def main():
    ferry, model, *seed = sys.argv[1:]
    chosen = random.Random(int(seed[0]) if seed else 0)
    wrong, left = [], 0
    for kind in ELEMENTS:
        paragraphs = [paragraph(chosen, kind, i) for i in range(PARAGRAPHS // len(ELEMENTS))]
        for (source, piece), target in zip(paragraphs, translate(ferry, model, kind, paragraphs)):
            years = set(YEAR.findall(target)) - set(YEAR.findall(source))
            left += source == target
            if target.count(piece) != 1 or years or STAND_INS.search(target):
                wrong.append(f"{source}\n    {target}")
    print(*wrong, sep="\n")
    print(f"{PARAGRAPHS} paragraphs: {len(wrong)} wrong, {left} left in the source language")
    sys.exit(len(wrong) > 0 or left > MOST_LEFT * PARAGRAPHS)


main()
