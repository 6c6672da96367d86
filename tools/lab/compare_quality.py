#!/usr/bin/env python3
"""BLEU and chrF of two model files on the same lines, greedy and with beam 4, and the 95 % interval of the difference, by
paired bootstrap: lines are drawn anew 1,000 times, the same for both. Texts may be compressed by gzip.

    pip install numpy sacrebleu
    compare_quality.py FERRY MODEL.gguf OTHER.gguf TEXT.src TEXT.trg
"""
import gzip
import subprocess
import sys

import numpy as np
from sacrebleu.metrics import BLEU, CHRF

BEAMS, SAMPLES = (1, 4), 1000


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def translate(ferry, model, beam, lines):
    command = [ferry, "translate", "--quiet", "-m", model, "--beam", str(beam)]
    done = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, check=True, encoding="utf-8")
    return done.stdout.splitlines()


def compare(metric, texts, references):
    """Scores of both, their difference, and what it is in samples, sorted."""
    stats = [np.array(metric._extract_corpus_statistics(each, [references])) for each in texts]

    def scores(lines):
        return [metric._compute_score_from_stats(each[lines].sum(0).tolist()).score for each in stats]

    random, count = np.random.default_rng(1), len(references)
    samples = [scores(random.integers(count, size=count)) for _ in range(SAMPLES)]
    return scores(np.arange(count)), np.sort([b - a for a, b in samples])


def main(ferry, model, other, source, reference):
    lines, references = read(source), read(reference)
    print("| | the first | the second | difference | 95 % |\n| --- | --- | --- | --- | --- |")
    for beam in BEAMS:
        texts = [translate(ferry, each, beam, lines) for each in (model, other)]
        for name, metric in (("BLEU", BLEU()), ("chrF", CHRF())):
            (a, b), samples = compare(metric, texts, references)
            low, high = samples[SAMPLES // 40], samples[-1 - SAMPLES // 40]
            print(f"| beam {beam}, {name} | {a:.2f} | {b:.2f} | {b - a:+.2f} | {low:+.2f} … {high:+.2f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
