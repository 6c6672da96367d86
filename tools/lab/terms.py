"""Terms that a translation must have (docs/decoding.md): how often they are written, and what the texts are worth:

    terms.py MODEL.gguf TRAIN.src TRAIN.trg TEXT.src TEXT.trg

Terms are words of the reference that belong to words of the source by how often both occur together in TRAIN (Dice).
Prints for lines whose translation lacks one, for lines with any one, and for lines with two or three: how many terms are
written once, and chrF without and with terms. Then for lines in which words became opaque pieces, how many come back once.
"""
import collections
import ctypes
import random
import re
import sys

import ferry
import sacrebleu
from ferry import _native
from ferry._results import translation

WORD = re.compile(r"\w+")
LINES, MOST_TERMS, COMMON, LEAST = 300, 3, 0.01, 0.2
PIECES, MOST_PIECES, OPAQUE_LINES = ("{%s}", "%%%s", "<b%s>", "${%s}", "`f_%s()`", "/usr/%s", "v%s.3", "u%s@example.org"), 4, 1000


def words(text):
    return WORD.findall(text)


class Pairs:
    """Dice's coefficient of a word of the source and one of the target, in lines of both."""

    def __init__(self, sources, targets):
        self.source, self.target, self.both = (collections.Counter() for _ in range(3))
        self.lines = len(sources)
        for source, target in zip(sources, targets):
            a, b = set(words(source.lower())), set(words(target))
            self.source.update(a)
            self.target.update(b)
            self.both.update((x, y) for x in a for y in b)

    def dice(self, a, b):
        return 2 * self.both[a.lower(), b] / (self.source[a.lower()] + self.target[b] or 1)

    def terms(self, source, target):
        """(begin, end, word of the target) where each is the other's best partner in these lines."""
        found = []
        spans = [(m.start(), m.end(), m[0]) for m in WORD.finditer(source)]
        names = words(target)
        for begin, end, a in spans:
            best = max(names, key=lambda b: self.dice(a, b), default=None)
            if best is None or self.dice(a, best) < LEAST or self.source[a.lower()] > COMMON * self.lines:
                continue
            partner = max(spans, key=lambda span: self.dice(span[2], best))
            if partner[:2] == (begin, end) and names.count(best) == 1 and words(source).count(a) == 1:
                found.append((begin, end, best))
        return found


def places(text, term):
    return [m.start() for m in re.finditer(rf"(?<!\w){re.escape(term)}(?!\w)", text)]


def missing(text, terms):
    """Terms that the text lacks; equal ones need a place each."""
    left = collections.Counter({word: len(places(text, word)) for _, _, word in terms})
    left.subtract(word for _, _, word in terms)
    return [word for word, count in left.items() if count < 0]


def with_terms(translator, lines, terms):
    """What ferry_translate_with returns for spans of characters, with a target or (None) opaque ones."""
    array = [(i, len(line[:begin].encode()), len(line[:end].encode()), word)
             for i, (line, each) in enumerate(zip(lines, terms)) for begin, end, word in sorted(each)]
    targets = _native.text_array([word or "" for *_, word in array])
    wanted = (_native.Term * len(array))(*((i, begin, end, ctypes.pointer(targets[t]), int(word is not None))
                                           for t, (i, begin, end, word) in enumerate(array)))
    request = _native.Request()
    request.terms, request.term_size, request.term_count = wanted, ctypes.sizeof(_native.Term), len(array)
    result = translator._call(translator._cancel, "ferry_translate_with", _native.text_array(list(lines)), len(lines), request)
    return [translation(result, i, line).text for i, line in enumerate(lines)]


# ---- what is measured ----

def chrf(found, references):
    return sacrebleu.corpus_chrf(found, [references]).score


def measure(name, translator, rows):
    sources, references, terms = zip(*rows)
    first = [each.text for each in translator.translate(sources)]
    found = with_terms(translator, sources, terms)
    count = sum(map(len, terms))
    once = sum(len(places(text, term[2])) == 1 for text, each in zip(found, terms) for term in each)
    changed = sum(a != b and not missing(a, each) for a, b, each in zip(first, found, terms))
    print(f"{name:32} {len(rows):4} lines {count:4} terms, once {once:4} ({once / count:.1%}); "
          f"chrF {chrf(first, references):.1f} -> {chrf(found, references):.1f}; "
          f"right lines changed {changed}", flush=True)


def with_pieces(shuffle, source, terms):
    """The source with pieces in the place of some terms, and where they are."""
    line, at, spans = "", 0, []
    for number, (begin, end, _) in enumerate(sorted(shuffle.sample(terms, min(len(terms), shuffle.randint(1, MOST_PIECES))))):
        line += source[at:begin]
        piece = shuffle.choice(PIECES) % f"{'abcd'[number]}{shuffle.randint(10, 99)}"
        spans.append((len(line), len(line) + len(piece), None))
        line, at = line + piece, end
    return line + source[at:], spans


def measure_pieces(name, translator, shuffle, rows):
    lines, spans = zip(*(with_pieces(shuffle, source, terms) for source, _, terms in rows))
    found = with_terms(translator, lines, spans)
    pieces = [(line[begin:end], text) for line, each, text in zip(lines, spans, found) for begin, end, _ in each]
    once = sum(text.count(piece) == 1 for piece, text in pieces)
    print(f"{name:32} {len(lines):4} lines {len(pieces):4} pieces, once {once} ({once / len(pieces):.1%})", flush=True)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def main():
    train_source, train_target, sources, references = map(read, sys.argv[2:6])
    pairs = Pairs(train_source, train_target)
    rows = [(s, r, pairs.terms(s, r)) for s, r in zip(sources, references)]
    rows = [row for row in rows if row[2]]
    shuffle = random.Random(1)
    shuffle.shuffle(rows)
    with ferry.Model(sys.argv[1]) as model:
        with ferry.Translator(model, beam=1) as translator:
            greedy = [t.text for t in translator.translate([row[0] for row in rows])]
        lacking = [(s, r, [shuffle.choice([t for t in terms if not places(g, t[2])])]) for (s, r, terms), g in zip(rows, greedy)
                   if any(not places(g, t[2]) for t in terms)][:LINES]
        any_one = [(s, r, [shuffle.choice(terms)]) for s, r, terms in rows][:LINES]
        several = [(s, r, terms[:MOST_TERMS]) for s, r, terms in rows if len(terms) > 1][:LINES // 2]
        for beam in (1, 4):
            with ferry.Translator(model, beam=beam) as translator:
                for name, each in (("lack the term", lacking), ("any term", any_one), ("two or three", several)):
                    measure(f"beam {beam}, {name}", translator, each)
                measure_pieces(f"beam {beam}, pieces", translator, random.Random(2), rows[:OPAQUE_LINES])


if __name__ == "__main__":
    main()
