"""From how many source tokens on should a line of several sentences be split? Joins K random sentences of a text with
blanks, and translates each line as a whole and sentence by sentence:

    split_bound.py MODEL.gguf SOURCE REFERENCE [THREADS]

Prints sacrebleu's chrF of both, by the number of sentences and by the number of tokens, the share of sentences that whole
lines keep (by their number of tokens), and the chrF of all lines for each bound: lines of more tokens are split.
"""
import random
import sys

import ferry
import sacrebleu

JOINED = (1, 2, 3, 4, 6, 8)
EDGES = (0, 8, 12, 16, 20, 24, 32, 48, 64, 96, 1000)
BOUNDS = (0, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 1000)
NONE, ALL = "none", "all"


def joined(sentences, k, order):
    return [" ".join(sentences[i] for i in order[at : at + k]) for at in range(0, len(order) - k + 1, k)]


def translations(model, lines, **options):
    with ferry.Translator(model, **options) as translator:
        return [line.text for line in translator.translate(lines)]


def token_counts(model, lines):
    with ferry.Translator(model, beam=1, max_length=1, alignment=True) as translator:
        return [len(line.source_tokens) for line in translator.translate(lines)]


def chrf(rows, column):
    return sacrebleu.corpus_chrf([row[column] for row in rows], [[row["reference"] for row in rows]]).score


def print_row(name, rows):
    if rows:
        length = sum(len(row[NONE]) for row in rows) / sum(len(row[ALL]) for row in rows)
        print(f"{name:>12} {len(rows):6} {chrf(rows, NONE):8.1f} {chrf(rows, ALL):8.1f} {length:8.2f}")


def main():
    with open(sys.argv[2], encoding="utf-8") as source, open(sys.argv[3], encoding="utf-8") as reference:
        sources, references = source.read().splitlines(), reference.read().splitlines()
    order = list(range(len(sources)))
    random.Random(1).shuffle(order)
    rows = []
    with ferry.Model(sys.argv[1]) as model:
        for k in JOINED:
            lines = joined(sources, k, order)
            options = {"batch": 64, "threads": int(sys.argv[4]) if len(sys.argv) > 4 else 1}
            columns = [translations(model, lines, split=split, **options) for split in (NONE, ALL)]
            columns += [joined(references, k, order), token_counts(model, lines)]
            rows += [dict(zip((NONE, ALL, "reference", "tokens"), row), k=k) for row in zip(*columns)]
    print("   sentences  lines    whole    split    bytes, whole / split")
    for k in JOINED:
        print_row(str(k), [row for row in rows if row["k"] == k])
    print("\n      tokens  lines    whole    split    bytes, whole / split (lines of several sentences)")
    several = [row for row in rows if row["k"] > 1]
    for low, high in zip(EDGES, EDGES[1:]):
        print_row(f"{low + 1}-{high}", [row for row in several if low < row["tokens"] <= high])
    print("\n       bound     chrF of all lines")
    for bound in BOUNDS:
        for row in rows:
            row["bounded"] = row[ALL if row["tokens"] > bound else NONE]
        print(f"{bound:12} {chrf(rows, 'bounded'):8.2f}")


main()
