"""Terms that a translation must have (docs/decoding.md): how often they are written, and what the texts are worth:

    terms.py MODEL.gguf TRAIN.src TRAIN.trg TEXT.src TEXT.trg

Terms are words of the reference that belong to words of the source by how often both occur together in TRAIN (Dice).
Prints for lines whose translation lacks one, for lines with any one, and for lines with two or three: how many terms
are written once, and chrF without and with terms. Then for lines in which words became opaque pieces, alone and between
marks, how many come back once, and in which order two of them are. Last for lines whose translation lacks a word in any
of its forms in TRAIN, commonest first, how often the form of the reference is written if all are targets, and if only
the first one is.
"""
import collections
import ctypes
import itertools
import random
import re
import sys

import ferry
import sacrebleu
from ferry import _native
from ferry._results import translation

WORD = re.compile(r"\w+")
LINES, MOST_TERMS, COMMON, LEAST = 300, 3, 0.01, 0.2
ENDINGS, UMLAUTS = ("", "e", "n", "en", "s", "es", "er", "ern", "em"), str.maketrans("aouäöü", "äöüaou")
VERB_ENDINGS = (*ENDINGS, "t", "st", "te", "ten")
FORM_COMMON, FORM_LEAST, FORM_SHARE = 0.03, 0.08, 0.15  # more lines for forms
MARKS = ('""', "()", "[]", "“”", "''", "/-", "#,")
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

    def terms(self, source, target, least=LEAST, common=COMMON):
        """(begin, end, word of the target) where each is the other's best partner in these lines."""
        found = []
        spans = [(m.start(), m.end(), m[0]) for m in WORD.finditer(source)]
        names = words(target)
        for begin, end, a in spans:
            best = max(names, key=lambda b: self.dice(a, b), default=None)
            if best is None or self.dice(a, best) < least or self.source[a.lower()] > common * self.lines:
                continue
            partner = max(spans, key=lambda span: self.dice(span[2], best))
            if partner[:2] == (begin, end) and names.count(best) == 1 and words(source).count(a) == 1:
                found.append((begin, end, best))
        return found

    def forms(self, a, word):
        """`word` with other endings or an umlaut, where they often occur with `a`; the commonest first."""
        endings = VERB_ENDINGS if word[0].islower() else ENDINGS
        stems = [word[:len(word) - len(each)] for each in endings if word.endswith(each) and len(word) - len(each) > 2]
        stems += [stem[:i] + stem[i].translate(UMLAUTS) + stem[i + 1:] for stem in stems for i in range(len(stem))]
        found = {stem + each for stem in stems for each in endings if self.target[stem + each] > 1}
        found = {each for each in found if self.both[a.lower(), each] >= FORM_SHARE * self.target[each]}
        return sorted(found, key=lambda each: (-self.target[each], each))


def places(text, term):
    return [m.start() for m in re.finditer(rf"(?<!\w){re.escape(term)}(?!\w)", text)]


def missing(text, terms):
    """Terms that the text lacks; equal ones need a place each."""
    left = collections.Counter({word: len(places(text, word)) for _, _, word in terms})
    left.subtract(word for _, _, word in terms)
    return [word for word, count in left.items() if count < 0]


def with_terms(translator, lines, terms):
    """What ferry_translate_with returns for spans of characters, with a target, a list of them or (None) opaque ones."""
    array = [(i, len(line[:begin].encode()), len(line[:end].encode()), [word] if isinstance(word, str) else word or [])
             for i, (line, each) in enumerate(zip(lines, terms)) for begin, end, word in sorted(each)]
    targets = [_native.text_array(each or [""]) for *_, each in array]
    wanted = (_native.Term * len(array))(*((i, begin, end, ctypes.cast(texts, ctypes.POINTER(_native.Text)), len(each))
                                           for (i, begin, end, each), texts in zip(array, targets)))
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


def with_pieces(shuffle, source, terms, marks):
    """The source with pieces in the place of some terms, each between two of `marks` if there are any, and where they are."""
    line, at, spans = "", 0, []
    for number, (begin, end, _) in enumerate(sorted(shuffle.sample(terms, min(len(terms), shuffle.randint(1, MOST_PIECES))))):
        before, after = shuffle.choice(marks) if marks else ("", "")
        line += source[at:begin] + before
        piece = shuffle.choice(PIECES) % f"{'abcd'[number]}{shuffle.randint(10, 99)}"
        spans.append((len(line), len(line) + len(piece), None))
        line, at = line + piece + after, end
    return line + source[at:], spans


def measure_pieces(name, translator, shuffle, rows, marks=()):
    lines, spans = zip(*(with_pieces(shuffle, source, terms, marks) for source, _, terms in rows))
    found = with_terms(translator, lines, spans)
    pieces = [(line[begin:end], text) for line, each, text in zip(lines, spans, found) for begin, end, _ in each]
    once = sum(text.count(piece) == 1 for piece, text in pieces)
    print(f"{name:32} {len(lines):4} lines {len(pieces):4} pieces, once {once} ({once / len(pieces):.1%})", flush=True)


def measure_order(name, translator, rows):
    """Lines with two pieces that are in the translation, and whether they are in the order of the reference."""
    lines, spans, swapped, references = [], [], [], []
    for source, reference, terms in rows:
        for first, second in itertools.combinations(sorted(terms), 2):
            line = source[:first[0]] + "{a1}" + source[first[1]:second[0]] + "{b2}" + source[second[1]:]
            lines.append(line)
            spans.append([(line.index(piece), line.index(piece) + 4, None) for piece in ("{a1}", "{b2}")])
            references.append(re.sub(rf"\b{re.escape(first[2])}\b", "{a1}", re.sub(rf"\b{re.escape(second[2])}\b", "{b2}", reference)))
            swapped.append(places(reference, first[2])[0] > places(reference, second[2])[0])
    found = with_terms(translator, lines[:OPAQUE_LINES], spans[:OPAQUE_LINES])
    both = [(text.index("{a1}") > text.index("{b2}"), swap) for text, swap in zip(found, swapped) if "{a1}" in text and "{b2}" in text]
    right = [sum(ours == swap for ours, swap in both if swap == kind) for kind in (False, True)]
    print(f"{name:32} {len(found):4} lines, both in {len(both)}; of {sum(not swap for _, swap in both)} in the order of the source "
          f"{right[0]} are so, of {sum(swap for _, swap in both)} that the reference swaps {right[1]}; "
          f"chrF {chrf(found, references[:OPAQUE_LINES]):.1f}", flush=True)


def measure_forms(name, translator, pairs, sources, references):
    rows = [(source, reference, (begin, end, word), pairs.forms(source[begin:end], word))
            for source, reference in zip(sources, references)
            for begin, end, word in pairs.terms(source, reference, FORM_LEAST, FORM_COMMON)]
    rows = [row for row in rows if len(row[3]) > 1 and row[2][2] in row[3]]
    plain = [each.text for each in translator.translate([row[0] for row in rows])]
    rows = [row for row, text in zip(rows, plain) if not any(places(text, form) for form in row[3])]
    lines, references, terms, forms = zip(*rows)
    both = [with_terms(translator, lines, [[(*term[:2], each[:count])] for term, each in zip(terms, forms)]) for count in (1, None)]
    right = [[bool(places(text, term[2])) for text, term in zip(found, terms)] for found in both]
    print(f"{name:32} {len(lines):4} lines {sum(map(len, forms)):4} forms, right by the first {sum(right[0])}, by all {sum(right[1])} "
          f"(+{sum(b > a for a, b in zip(*right))} -{sum(a > b for a, b in zip(*right))}); "
          f"chrF {chrf(both[0], references):.1f}, {chrf(both[1], references):.1f}", flush=True)


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
                measure_pieces(f"beam {beam}, pieces between marks", translator, random.Random(3), rows[:OPAQUE_LINES], MARKS)
                measure_order(f"beam {beam}, two pieces", translator, rows)
                measure_forms(f"beam {beam}, forms", translator, pairs, sources, references)


if __name__ == "__main__":
    main()
