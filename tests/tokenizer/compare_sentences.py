#!/usr/bin/env python3
"""How well splitters find the ends of sentences: precision, recall and F1, as Markdown tables.

    compare_sentences.py ANSWER_TEXTS [--shared DIRECTORY] [--treebanks DIRECTORY] [--show SYSTEM LANGUAGE KIND]

ANSWER_TEXTS is build/tests/answer_texts. The other systems are the Python packages pysbd and sentence-splitter, and ICU
(PyICU) with CLDR's suppressions; one that is not installed is left out. The texts are
- tests/data/sentences/cases.tsv, the published cases of pysbd;
- lines of Tatoeba under DIRECTORY/corpora, shuffled, of which ten at a time are joined by blanks: `dev`, which nothing was
  chosen by;
- the test sets of Universal Dependencies, as DIRECTORY/XX.conllu, ten sentences at a time.
An end is counted at its place among the characters that are not white space; the last of a text is not counted."""
import argparse
import collections
import gzip
import os
import random
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "ru"]
MARK = "‖"


def unescape(text):
    return text.replace("\\n", "\n").replace("\\\\", "\\")


def ends_of(sentences):
    """Places of the ends but the last, in characters that are not white space."""
    places, at = set(), 0
    for sentence in sentences:
        at += len("".join(sentence.split()))
        places.add(at)
    places.discard(at)
    places.discard(0)
    return places


def joined(lines, count=10):
    random.Random(1).shuffle(lines)
    return [lines[i:i + count] for i in range(0, len(lines), count)]


def read_cases():
    texts = collections.defaultdict(list)
    with open(os.path.join(HERE, "..", "data", "sentences", "cases.tsv"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            language, text = line.lstrip("!").rstrip("\n").split("\t")
            texts[language].append(unescape(text).split(MARK))
    return texts


def read_tatoeba(shared, part, most):
    texts = {}
    for language in ("en", "de"):
        path = os.path.join(shared, "corpora", "tatoeba-en-de", f"{part}.{language}.gz")
        if os.path.exists(path):
            with gzip.open(path, "rt", encoding="utf-8") as file:
                lines = sorted(set(line.strip() for line in file if line.strip()))
            random.Random(2).shuffle(lines)
            texts[language] = joined(lines[:most])
    return texts


def read_treebanks(directory):
    texts = {}
    for language in LANGUAGES:
        path = os.path.join(directory, language + ".conllu")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = [line[9:].strip() for line in file if line.startswith("# text = ")]
            texts[language] = [lines[i:i + 10] for i in range(0, len(lines), 10)]
    return texts


# ---- systems: a list of texts becomes a list of lists of sentences ----

def ferry(program):
    def split(language, texts):
        encoded = [text.encode() for text in texts]
        asked = b"".join(struct.pack("=I", len(text)) + text for text in encoded)
        out = subprocess.run([program, "sentences", language], input=asked, stdout=subprocess.PIPE, check=True).stdout
        result = []
        for text, ends in zip(encoded, out.splitlines()):
            places = [0, *map(int, ends.split()[:-1]), len(text)]
            result.append([text[a:b].decode() for a, b in zip(places, places[1:])])
        return result
    return split


def pysbd_system():
    import pysbd

    def split(language, texts):
        segmenter = pysbd.Segmenter(language=language, clean=False)
        return [segmenter.segment(text) for text in texts]
    return split


def sentence_splitter_system():
    from sentence_splitter import SentenceSplitter

    def split(language, texts):
        splitter = SentenceSplitter(language=language)
        return [splitter.split(text) for text in texts]
    return split


def icu_system():
    import icu

    def split(language, texts):
        iterator = icu.BreakIterator.createSentenceInstance(icu.Locale(language + "@ss=standard"))
        result = []
        for text in texts:
            units = text.encode("utf-16-le")
            iterator.setText(text)
            places = [0] + list(iterator)
            result.append([units[2 * a:2 * b].decode("utf-16-le") for a, b in zip(places, places[1:])])
        return result
    return split


def scores(split, language, references):
    texts = [" ".join(r) if isinstance(r, Joined) else "".join(r) for r in references]
    started = time.process_time()
    try:
        found = split(language, texts)
    except Exception as reason:  # a language that the system lacks
        print(f"{language}: {reason}", file=sys.stderr)
        return None
    right = wrong = missed = 0
    differing = []
    for reference, sentences in zip(references, found):
        expected, got = ends_of(reference), ends_of(sentences)
        right += len(expected & got)
        wrong += len(got - expected)
        missed += len(expected - got)
        if expected != got:
            differing.append((reference, sentences))
    f1 = 2 * right / (2 * right + wrong + missed) if right + wrong + missed > 0 else 1.0
    return right, wrong, missed, f1, differing, time.process_time() - started


class Joined(list):
    """Sentences to be joined by blanks."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--shared", default=os.path.join(HERE, "..", "..", "..", "shared"))
    parser.add_argument("--part", default="dev")
    parser.add_argument("--most", type=int, default=10000)
    parser.add_argument("--treebanks", default="")
    parser.add_argument("--show", nargs=3, metavar=("SYSTEM", "LANGUAGE", "KIND"))
    options = parser.parse_args()
    systems = {"Ferry": ferry(options.program)}
    for name, make in (("sentence-splitter", sentence_splitter_system), ("pysbd", pysbd_system), ("ICU", icu_system)):
        try:
            systems[name] = make()
        except ImportError as reason:
            print(f"left out: {name}: {reason}", file=sys.stderr)
    kinds = {"cases": read_cases(), "Tatoeba": read_tatoeba(options.shared, options.part, options.most),
             "treebank": read_treebanks(options.treebanks)}
    print("| texts | language | ends | " + " | ".join(systems) + " |")
    print("| --- | --- | ---: |" + " ---: |" * len(systems))
    for kind, languages in kinds.items():
        for language in languages if kind == "cases" else LANGUAGES:
            references = languages.get(language)
            if not references:
                continue
            if kind != "cases":
                references = [Joined(r) for r in references]
            row = []
            for name, split in systems.items():
                result = scores(split, language, references)
                row.append("" if result is None else f"{100 * result[3]:.2f} (+{result[1]} −{result[2]})")
                if options.show == [name, language, kind] and result is not None:
                    for reference, sentences in result[4]:
                        print("expected:", MARK.join(reference), "\n   found:", MARK.join(s.strip() for s in sentences),
                              file=sys.stderr)
            ends = sum(len(ends_of(r)) for r in references)
            print(f"| {kind} | {language} | {ends} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
