#!/usr/bin/env python3
"""Verbs that have to agree with a subject some pieces before them, as a test of dependencies over a distance.

    agreement.py PIECES.model > agreement.tsv

makes the sentences anew. The subject is a noun in the singular or plural, then come, between commas, unseen sentences of the
corpus, then a verb in the past tense: in English it is the same for both numbers, in German it is not. A line has the distance
from the subject's last piece to the verb's first one in German, the source, the translation, and the one with the other verb.
"""
import os
import random
import sys

DISTANCES, LINES = (1, 5, 8, 12, 16, 20, 24), 50
SUBJECTS = (  # English and German, singular and plural
    ("The man", "Der Mann", "The men", "Die Männer"), ("The woman", "Die Frau", "The women", "Die Frauen"),
    ("The child", "Das Kind", "The children", "Die Kinder"), ("My friend", "Mein Freund", "My friends", "Meine Freunde"),
    ("The boy", "Der Junge", "The boys", "Die Jungen"), ("The dog", "Der Hund", "The dogs", "Die Hunde"),
    ("My brother", "Mein Bruder", "My brothers", "Meine Brüder"), ("The doctor", "Der Arzt", "The doctors", "Die Ärzte"),
    ("His son", "Sein Sohn", "His sons", "Seine Söhne"), ("The cat", "Die Katze", "The cats", "Die Katzen"))
VERBS = (  # English, German for one and for several
    ("came", "kam", "kamen"), ("laughed", "lachte", "lachten"), ("went home", "ging nach Hause", "gingen nach Hause"),
    ("slept", "schlief", "schliefen"), ("wanted to eat", "wollte essen", "wollten essen"),
    ("could swim", "konnte schwimmen", "konnten schwimmen"), ("had to wait", "musste warten", "mussten warten"))


def between(by_size, needed, chance):
    """Sentences of the corpus, a comma before each and behind the last, whose German has `needed` pieces, or none."""
    left, chosen = needed - 1, []
    while left > 0:
        size = chance.choice([size for size in by_size if size == left or size + min(by_size) <= left])
        chosen.append(chance.choice(by_size[size]))
        left -= size
    return tuple("".join(", " + pair[side] for pair in chosen) + "," * bool(chosen) for side in (0, 1))


def make(path):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../train"))
    import data
    import sentencepiece
    import train

    pieces = sentencepiece.SentencePieceProcessor(model_file=path)

    _, unseen = data.split_corpus(train.CORPUS, ["en", "de"])
    by_size = {}  # of pieces with the comma before them
    for pair in sorted({tuple(side.rstrip(".!?") for side in pair) for pair in unseen}):
        if all(side and not set(side) & set(",.!?\"„“:;") for side in pair):
            by_size.setdefault(len(pieces.encode("a, " + pair[1])) - 1, []).append(pair)
    chance = random.Random(1)
    for distance in DISTANCES:
        for line in range(LINES):
            subject, verb, several = chance.choice(SUBJECTS), chance.choice(VERBS), line % 2
            english, german = between(by_size, distance - 1, chance)
            texts = [f"{subject[2 * several]}{english} {verb[0]}.",
                     *(f"{subject[2 * several + 1]}{german} {verb[1 + form]}." for form in (several, 1 - several))]
            print(distance, *texts, sep="\t")


def right(model, path):
    """Of each distance, how often the model finds the translation more likely than the one with the other verb; and of how
    many."""
    from ferry import inspect
    from ferry.lab.record import nats_of

    found = {}
    with open(path, encoding="utf-8") as file:
        for row in file:
            distance, source, *translations = row.rstrip("\n").split("\t")
            ids = inspect.tokenize(model, source)
            own, other = (nats_of(model, ids, inputs).sum() for inputs in inspect.targets(model, translations)[0])
            counts = found.setdefault(distance, [0, 0])
            counts[0] += bool(own < other)
            counts[1] += 1
    return found


if __name__ == "__main__":
    make(sys.argv[1])
