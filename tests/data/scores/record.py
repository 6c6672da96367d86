"""Records what sacrebleu says about texts, for tests/lab/test_scores.c and test_resampling.c:

    record.py FERRY_PROGRAM CORPUS_DIRECTORY > scores.json

CORPUS_DIRECTORY has dev.en.gz and dev.de.gz of Tatoeba's sentences (tatoeba.org, CC BY 2.0 FR). Needs sacrebleu 2.6.
"""
import gzip
import json
import os
import subprocess
import sys

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

HERE = os.path.dirname(os.path.abspath(__file__))
RESAMPLES, SEED = 1000, 12

HOSTILE = [
    # empty and blank lines, on either side
    ("", ""), ("", "Ein Satz."), ("Ein Satz.", ""), (" \t ", "\u3000"), ("a", "a"), ("a b", "a b"),
    # white space: no-break, ideographic, narrow, line separators, information separators, a byte order mark, a joiner
    ("ein\u00a0Haus am\u3000See.", "ein Haus am See."), ("zehn\u202f000\u2009Euro\u2028neu", "zehn 000 Euro neu"),
    ("a\u001cb\u001fc\u0085d", "a b c d"), ("a\u200bb \ufeffc\u2060d \u180ee", "a b c d e"), ("x \u205f y\u1680z", "x y z"),
    ("Ende.\u00a0\u3000", "Ende."), ("\u00a0Anfang", "Anfang"),
    # other scripts
    ("Er lacht \U0001f600\U0001f44d\U0001f3fd!!", "Er lacht \U0001f600!"), ("\U0001f468\u200d\U0001f469\u200d\U0001f467 da", "\U0001f468 da"),
    ("مرحبا بالعالم، كيف الحال؟ ١٢٣٫٥", "مرحبا بالعالم، كيف حالك؟ ١٢٣٫٥"), ("我喜欢吃苹果。你呢？", "我喜歡吃蘋果。你呢？"),
    ("東京は１,０００.５円です。", "東京は１,０００．５円です。"), ("Ελλάδα, ναι. Россия-2,5!", "Ελλάδα, ναι. Россия-2,5"),
    # punctuation
    ("Was?!?! ... Nein -- doch ...", "Was?! ... Nein - doch ..."), ("\"Ja\", sagte sie; 'nein' (er).", "„Ja“, sagte sie; ‚nein‘ (er)."),
    ("a.b,c.d e.,f ,.g", "a.b, c.d e., f,. g"), ("~{|}[\\]^_`<=>@#$%&*+/:;!?", "~ { | } [ \\ ] ^ _ ` < = > @ # $ % & * + / : ; ! ?"),
    ("don't o'clock rock'n'roll", "don't o'clock rock 'n' roll"), (".", "."), (",,..,,", ",.,."), ("é.é,ß.", "é . é , ß ."),
    # numbers
    ("1,000.5 und 1.000,5 oder .5, 5. und 3.,4", "1,000.5 und 1.000,5 oder .5 , 5 . und 3.,4"), ("10-20 -5 2-3- a-1 1-a --1", "10 - 20 -5 2 -3- a-1 1 -a --1"),
    ("12:30 Uhr, 50% von 3/4; $5.00", "12:30 Uhr, 50 % von 3/4; 5,00 $"), ("1.\u00a02,\u30003-", "1. 2, 3-"),
    # entities, mteval's mark, line breaks within a text
    ("&quot;Hallo&quot; &amp; &lt;b&gt; &amp;lt; &quot", "\"Hallo\" & <b> < &quot"), ("<skipped>Wort<skip<skipped>ped>", "Wort"),
    ("Zeilen-\numbruch\nhier 5-\n", "Zeilenumbruch hier 5-"), ("a\r\nb\vc\fd", "a b c d"), ("\u0001a\u007fb\u200f", "\u0001 a\u007f b"),
    # repeated n-grams are clipped
    ("der der der der der der der", "der Mann und der Hund der Frau"), ("ab ab ab ab", "ab ab cd ab ab ab"), ("aaaaaaaaaaaa", "aaaaaaa"),
]


def read(directory, name, lines):
    with gzip.open(os.path.join(directory, name), "rt", encoding="utf-8") as file:
        return file.read().split("\n")[lines]


def translate(program, lines, *options):
    done = subprocess.run([program, "translate", *options], input="\n".join(lines) + "\n", check=True, capture_output=True,
                          encoding="utf-8")
    return done.stdout.split("\n")[:-1]


def corpus(name, pairs):
    """Counts of each pair, and the scores of all."""
    hypotheses, references = [p[0] for p in pairs], [[p[1] for p in pairs]]
    bleu, chrf = BLEU(), CHRF()
    return {"name": name, "pairs": pairs, "bleu": bleu.corpus_score(hypotheses, references).score,
            "chrf": chrf.corpus_score(hypotheses, references).score,
            "bleu_counts": bleu._extract_corpus_statistics(hypotheses, references),
            "chrf_counts": chrf._extract_corpus_statistics(hypotheses, references)}


def draws(seed, count):
    """splitmix64 (Steele et al. 2014); the upper half of each number chooses a line."""
    state, mask = seed, 2**64 - 1
    while True:
        lines = []
        for _ in range(count):
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = state
            z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
            z ^= z >> 31
            lines.append((z >> 32) * count >> 32)
        yield lines


def interval(values):
    """As sacrebleu.significance.estimate_ci, but without assuming symmetry."""
    values = sorted(values)
    return [values[len(values) // 40], values[len(values) - len(values) // 40 - 1]]


def resampled(hypotheses, references):
    """Two systems on the same drawn lines: each text is put together and scored anew."""
    source = draws(SEED, len(references))
    scores = {"bleu": ([], []), "chrf": ([], [])}
    for _ in range(RESAMPLES):
        lines = next(source)
        drawn = [[references[i] for i in lines]]
        for system in range(2):
            text = [hypotheses[system][i] for i in lines]
            scores["bleu"][system].append(sacrebleu.corpus_bleu(text, drawn).score)
            scores["chrf"][system].append(sacrebleu.corpus_chrf(text, drawn).score)
    found = {"seed": SEED, "resamples": RESAMPLES, "first_draw": next(draws(SEED, len(references)))}
    for name, (a, b) in scores.items():
        differences = [x - y for x, y in zip(a, b)]
        against = min(sum(d <= 0 for d in differences), sum(d >= 0 for d in differences))
        found[name] = {"a": interval(a), "b": interval(b), "difference": interval(differences),
                       "p": min(1, 2 * (against + 1) / (RESAMPLES + 1))}
    return found


def main(program, directory):
    with open(os.path.join(HERE, "../models/tatoeba-en-de/golden.json"), encoding="utf-8") as file:
        golden = json.load(file)["lines"]
    sources, references = read(directory, "dev.en.gz", slice(40, 100)), read(directory, "dev.de.gz", slice(40, 100))
    best, short = translate(program, sources), translate(program, sources, "--beam", "1", "--max-length", "6")
    corpora = [
        corpus("model's greedy and beam search", [[g["greedy"]["text"][0], g["beam4"]["text"][0]] for g in golden]),
        corpus("tatoeba", [list(p) for p in zip(best, references)]),
        corpus("tatoeba, short translations", [list(p) for p in zip(short, references)]),
        corpus("hostile", [list(p) for p in HOSTILE]),
    ]
    corpora += [corpus(f"hostile {i}", [list(p)]) for i, p in enumerate(HOSTILE)]
    for one in corpora[4:]:  # their counts are those of "hostile"
        del one["bleu_counts"], one["chrf_counts"]
    json.dump({"made_by": f"sacrebleu {sacrebleu.__version__}", "license": "tatoeba: tatoeba.org, CC BY 2.0 FR",
               "corpora": corpora, "resampled": resampled([best, short], references)}, sys.stdout, ensure_ascii=True)
    print()


main(*sys.argv[1:])
