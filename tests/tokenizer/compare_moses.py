#!/usr/bin/env python3
"""Moses' words as sacremoses makes and joins them, and as the C functions do.

    compare_moses.py ANSWER_TEXTS LINES...      compares them, in all languages; ANSWER_TEXTS is build/tests/answer_texts
    compare_moses.py --record LINES... > tests/data/tokenizer/moses.txt

LINES are files of texts, plain or .gz. Hostile texts are made beside them. Needs sacremoses 0.2.0 and, for the FSMT kind,
transformers 5. A line of moses.txt: the kind ("words", "fsmt", "text"), a language, a text and what becomes of it, both in
hexadecimal."""
import collections
import gzip
import itertools
import random
import struct
import subprocess
import sys

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer
from sacremoses.corpus import NonbreakingPrefixes
from transformers.models.fsmt.tokenization_fsmt import remove_non_printing_char, replace_unicode_punct

LANGUAGES = ["en", "de", "fr", "it", "es", "cs", "fi", "ga", "hu", "ru", "pl", "pt", "zh", "ja", "ko", "cjk", "hi", "xx"]
PIECES = (
    list(" \t\r\n\0\x01\x1c\x1f\x7f\x85\u00a0\u2009\u2028\u3000\ufeff\u200b") + list("()[]{}<>|&%$€¿¡;:?!.,'\"`´“”„‚‘’«»‹›–—…-_/\\@#*+=^~")
    + list("ab7Z٣²éßÆñıſöÄ中日かカ가你ंक्ज़๓Ⅷ½ªǅπЖю") + list("，。、：？《》）！（；」「０１９．～━〈〉【】％")
    + ["''", "``", "...", "..", ". . .", "@-@", " @-@ ", "@@ ", "@@", "&amp;", "&apos;", "&quot;", "&#91;", "&bar;", "&lt", "DOTMULTI", "DOTDOTMULTI", "DOT", "MULTI",
       "don't", "l'eau", "dell'", "s'", "1990's", "Dr.", "No. 5", "Art. 7", "z.B.", "e.g.", "U.S.", "Mr. x", "Nr. 3", "a.", "A. b", "5,300", "5,", ",5", "nº\u00a0", "\u00a0cm", "\u00a0ºC",
       "\u00a0%", "3\u00a0000", "1 %", ",\"", ".\"", "...\" ", "\".", "\",", "\" <", ".\"<", "( ", " )", ") .", "e-mail", "dej' - li", "v' – Mail", "'tis", "Jones '", "\U0001f642", "\u0301", "\ue000", "\U0010ffff",
       "3 . 5", "„ cz “", ":ssa", "中 文", "\u4e00。 x"])


def lines_of(paths):
    for path in paths:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
            yield from (line.rstrip("\n") for line in file)


def hostile(count):
    chosen = random.Random(17)
    for _ in range(count):
        yield chosen.choice(["", " "]).join(chosen.choices(PIECES, k=chosen.randint(1, 14)))


def borders():
    """(kind, languages, texts): each rule of its own, the first and last of each list, and their neighbors."""
    marks = ["\r", "(", ")", ") .", ") ,", ") ;", ") ?", ") :", ") !", ") a", "( ", " )", " %", " :", " ;", "`", "''", "„", "“", "”", "–", "—", "  ", "´", "‘", "‚",
             "’", "…", "\u00a0«\u00a0", "«\u00a0", "«", "\u00a0»\u00a0", "\u00a0»", "»", "\u00a0%", "nº\u00a0", "\u00a0:", "\u00a0ºC", "\u00a0cm", "\u00a0?", "\u00a0!", "\u00a0;",
             ",\u00a0", "\x00", "\x1f", "\x20", "\x7f", "..", "...", "....", "DOTMULTI", "DOTDOTMULTI"]
    yield "words", ["en"], [f"a{mark}z 1{mark}2 {mark}" for mark in marks]
    yield "fsmt", ["de"], [f"a{mark}z 1{mark}2 {mark} x-y-z" for mark in "，。、”“《》「」∶：？）（！；０１２３４５６７８９．～’…━〈〉【】％\u200b\ue000"] + ["a。  z", "a．  z", "a－z", "a-z-1-b --c"]
    yield "words", ["en", "de", "es", "fr", "cs", "cz", "fi"], ['"a", "b". "c"... d,"e f."', 'a."', 'a." <b', 'a.",', "1\u00a0000 2"]
    yield "words", ["en", "fr", "it", "ga"], ["'", "a'", "'a", "a'b", "1'b", "a'1", "1's", "1'S", "'s a'b'c", "a.'", "'. a '"]
    yield "words", ["en"], [f"a{mark}z {mark}" for mark in "&|<>'\"[]{}`,-_"] + ["5,3 a,3 5,a a,b 5, ,5", "1,2,3 1,,2", "5,", ","]
    for language in sorted(set(NonbreakingPrefixes().available_langs.values())):
        listed = MosesTokenizer(language)
        numeric = sorted(listed.NUMERIC_ONLY_PREFIXES, key=str.encode)
        plain = sorted((word for word in listed.NONBREAKING_PREFIXES if "#NUMERIC_ONLY#" not in word), key=str.encode)
        for word in dict.fromkeys(plain[:1] + plain[-1:] + numeric[:1] + numeric[-1:]):
            yield "words", [language], [f"{word}. X {word}. 0 {word}. 9 {word}. x {word}."]
    yield "words", ["en"], ["x. Y x. y U.S. Y 1.a. Y .. Y 1. Y .a. Y 1.2. Y a.1. Y", "a.b.", "a.", "A .", "."]
    for language in ["en", "ko"]:
        points = [0x10FF, 0x1100, 0x11FF, 0x1200, 0x2E7F, 0x2E80, 0xA4CF, 0xA4D0, 0xA83F, 0xA840, 0xA87F, 0xA880, 0xABFF, 0xAC00, 0xD7AF, 0xD7B0, 0xF8FF, 0xF900, 0xFAFF, 0xFB00, 0xFE2F,
                  0xFE30, 0xFE4F, 0xFE50, 0xFF64, 0xFF65, 0xFFDC, 0xFFDD, 0x16FFF, 0x17000, 0x18AFF, 0x18B00, 0x1AFFF, 0x1B000, 0x1B12F, 0x1B130, 0x1B16F, 0x1B170, 0x1B2FF, 0x1B300,
                  0x1FFFF, 0x20000, 0x2FFFF, 0x30000]
        yield "text", [language], [" ".join(f"a {chr(point)} {chr(point)} z" for point in points[:len(points) if language == "en" else 4])]
    entities = ["&bar;", "&#124;", "&lt;", "&gt;", "&bra;", "&ket;", "&quot;", "&apos;", "&#91;", "&#93;", "&amp;"]
    yield "text", ["en"], [f"a{entity}z" for entity in entities] + ["&amp;" + entity[1:] for entity in entities] + ["a @-@ z", "a @-@ @-@ z", "@-@ z", "a @-@"]
    yield "text", ["fr", "en"], [f"a {mark} z {mark}{mark} z" for mark in ",.?!:;\\%}])([{¿¡$£€"] + ["a ., ?! )] z ( [ z"]
    yield "text", ["en", "cs", "de"], [f"a {mark} b {mark} c {mark} d" for mark in ["'", '"', "`", "„", "“", "''", "``", "““"]] + ["„ a “ b \" c", "“ a „ b", "' a \" b ' c \"", "s ' a ' b ' s", "boys ' a", "' boys ' a ' b", "boys \" a \" b s",
                                  "a ' b '' c '\" d \" e \"' f `` g ' h '' i '\" j \" k \"' l `` m"]
    yield "text", ["en", "de"], ["I 'm a 's '1 ' 's", "'s a", "n't"]
    yield "text", ["fr", "it", "ga", "en"], ["l' eau d' 1 ' a l'", "1' a", "l' École"]
    yield "text", ["cs"], ["3 , 5 x 3 , 5", "3 . 5", "3 , x", "1 2 , 3 4", "2 3 ,", "x y 0 9 ,", "x y 9 0 .", "x y / 5 ,", "x y : 5 ,", "x y a 5 ,", "x y 5 a ,", "x y 5 a5 ,", "x y 5 5 ,,", "x y 5 5 ;",
                            "5 5 ,", "1 5 5 ,", "x y 12 34 ,", "d' - lo", "d' - ki", "d' x li", "d - li", "d' -- li", "d' - mai", "d' - mal", "5' - li", "' - li", "d' -", "d'", "x d' - y"]
    yield "text", ["en"], ["x y 5 3 ,", "d' - li"]


class Original:
    """sacremoses in one language; what raises an exception there is None."""

    def __init__(self, language):
        self.normalizer = MosesPunctNormalizer(language)
        self.tokenizer = MosesTokenizer(language)
        self.detokenizer = MosesDetokenizer(language)

    def words(self, text):
        return " ".join(self.tokenizer.tokenize(self.normalizer.normalize(text)))

    def fsmt(self, text):
        text = remove_non_printing_char(self.normalizer.normalize(replace_unicode_punct(text)))
        return " ".join(self.tokenizer.tokenize(text, aggressive_dash_splits=True))

    def text(self, text):
        try:
            return self.detokenizer.detokenize(text.split(" "))
        except TypeError:  # "next(tokens)" of a list
            return None


def border_cases():
    """(kind, language, text, result)"""
    for kind, languages, texts in borders():
        for language in languages:
            original = Original(language)
            for text in texts:
                yield kind, language, text, getattr(original, kind)(text)


def cases(paths):
    """(kind, language, text, result)"""
    originals = {language: Original(language) for language in LANGUAGES}
    texts = list(hostile(2000))
    for at, text in enumerate(texts):
        for language in LANGUAGES:
            yield "text", language, text, originals[language].text(text)
            yield ("words", "fsmt")[at % 2], language, text, getattr(originals[language], ("words", "fsmt")[at % 2])(text)
    for at, text in enumerate(lines_of(paths)):
        original = originals[language := LANGUAGES[at % len(LANGUAGES)]]
        kind = "fsmt" if at % 5 == 0 else "words"
        words = getattr(original, kind)(text)
        yield kind, language, text, words
        yield "text", language, words, original.text(words)


def encode(text):
    return text.encode("utf-8").hex()


def record(paths):
    """All of the borders, some of the others."""
    chosen = random.Random(5)
    some = (case for case in cases(paths) if case[3] is not None and chosen.random() < 0.015)
    for kind, language, text, result in itertools.chain(border_cases(), some):
        print(kind, language, encode(text), encode(result))


def compare(program, paths):
    expected = list(itertools.chain(border_cases(), cases(paths)))
    asked = collections.defaultdict(bytes)
    for kind, language, text, _ in expected:
        asked[kind, language] += struct.pack("=I", len(text.encode())) + text.encode()
    found = {run: iter(subprocess.run([program, *run], input=texts, stdout=subprocess.PIPE, check=True).stdout.split(b"\n"))
             for run, texts in asked.items()}
    raised = differing = 0
    for kind, language, text, result in expected:
        line = next(found[kind, language])
        if result is None:
            raised += 1
        elif bytes.fromhex(line.decode()) != result.encode():
            differing += 1
            if differing <= 20:
                print(f"{kind} {language}: {text!r}\n  sacremoses: {result!r}\n  found:      {bytes.fromhex(line.decode()).decode()!r}")
    print(f"{len(expected)} texts, {differing} differ; of {raised} sacremoses raises an exception")
    return differing > 0


if __name__ == "__main__":
    if sys.argv[1] == "--record":
        record(sys.argv[2:])
    else:
        sys.exit(compare(sys.argv[1], sys.argv[2:]))
