#!/usr/bin/env python3
"""Moses' words as sacremoses makes and joins them, and as the C functions do.

    compare.py MOSES_WORDS LINES...       compares them, in all languages; MOSES_WORDS is build/tests/moses_words
    compare.py --record LINES... > tests/data/tokenizer/moses.txt

LINES are files of texts, plain or .gz. Hostile texts are made beside them. Needs sacremoses 0.2.0 and, for the FSMT kind,
transformers 5. A line of moses.txt: the kind ("words", "fsmt", "text"), a language, a text and what becomes of it, both in
hexadecimal."""
import gzip
import random
import subprocess
import sys

from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer
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
    chosen = random.Random(5)
    for kind, language, text, result in cases(paths):
        if result is not None and chosen.random() < 0.015:
            print(kind, language, encode(text), encode(result))


def compare(program, paths):
    expected = list(cases(paths))
    asked = "".join(f"{kind} {language} {encode(text)}\n" for kind, language, text, _ in expected)
    found = subprocess.run([program], input=asked.encode(), stdout=subprocess.PIPE, check=True).stdout.split(b"\n")
    raised = differing = 0
    for (kind, language, text, result), line in zip(expected, found):
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
