#!/usr/bin/env python3
"""How well a model translates sentences within quotation marks and brackets: chrF (sacrebleu), as a Markdown table.

    quotations.py MODEL PROGRAM [PROGRAM…] [--shared DIRECTORY]

PROGRAM is build/ferry, or that of another state. The sentences are lines of DIRECTORY/corpora/tatoeba-en-de/dev, of at most 44
characters, shuffled and joined by blanks, as many as a frame says, and put into the frame."""
import argparse
import gzip
import os
import random
import re
import subprocess

import sacrebleu

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 115  # characters within marks
FRAMES = [  # sentences, source, reference; "," takes the place of the last full stop
    (2, '"{}"', '„{}“'),
    (3, '"{}"', '„{}“'),
    (2, '"{}" He closed the door.', '„{}“ Er schloss die Tür.'),
    (2, 'He said: "{}" Then he left.', 'Er sagte: „{}“ Dann ging er.'),
    (3, 'He said: "{}" Then he left.', 'Er sagte: „{}“ Dann ging er.'),
    (2, 'She said: “{}”', 'Sie sagte: „{}“'),
    (2, 'Tom said: «{}» Then he left.', 'Tom sagte: „{}“ Dann ging er.'),
    (2, "Tom said: '{}' Then he left.", 'Tom sagte: „{}“ Dann ging er.'),
    (2, '"{,}" said Tom.', '„{,}“, sagte Tom.'),
    (3, '“{,}” she said.', '„{,}“, sagte sie.'),
    (2, 'She said "{,}" and closed the window.', 'Sie sagte „{,}“ und schloss das Fenster.'),
    (2, 'The sentence "{}" is on the wall.', 'Der Satz „{}“ steht an der Wand.'),
    (2, 'What does "{}" mean?', 'Was bedeutet „{}“?'),
    (2, '({})', '({})'),
    (2, 'The shop is closed ({}) today.', 'Der Laden ist heute geschlossen ({}).'),
]


def read_pairs(shared):
    texts = []
    for language in ("en", "de"):
        with gzip.open(os.path.join(shared, "corpora", "tatoeba-en-de", f"dev.{language}.gz"), "rt", encoding="utf-8") as file:
            texts.append(file.read().splitlines())
    pairs = {}
    for source, target in zip(*texts):
        single = re.search(r"\w[.!?]$", source) and target[-1] in ".!?" and not re.search(r"[.!?] ", source)
        if single and len(source) < 45 and not re.search(r'["“„()\[«]', source + target):
            pairs.setdefault(source, target)
    pairs = list(pairs.items())
    random.Random(3).shuffle(pairs)
    return pairs


def fill(frame, text, comma):
    return frame.replace("{}", text).replace("{,}", re.sub(r"\.$", comma, text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("programs", nargs="+")
    parser.add_argument("--shared", default=os.path.join(HERE, "..", "..", "..", "shared"))
    options = parser.parse_args()
    pairs = read_pairs(options.shared)
    for count, frame, reference_frame in FRAMES:
        groups = [pairs[i:i + count] for i in range(0, len(pairs) - count + 1, count)]
        joined = [[" ".join(side) for side in zip(*group)] for group in groups]
        joined = [group for group in joined if len(group[0]) <= MOST]
        source = "\n\n".join(fill(frame, group[0], ",") for group in joined)
        references = [fill(reference_frame, group[1], "") for group in joined]
        row = []
        for program in options.programs:
            command = [program, "translate", "-m", options.model, "--format", "text"]
            out = subprocess.run(command, input=source.encode(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            texts = [" ".join(block.split()) for block in out.decode().split("\n\n")]
            assert len(texts) == len(joined)
            row.append(f"{sacrebleu.corpus_chrf(texts, [references]).score:.1f}")
        shown = frame.replace("{", "{" + str(count))
        print(f"| `{shown}` | {len(joined)} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
