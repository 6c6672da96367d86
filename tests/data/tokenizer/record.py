"""Records what SentencePiece and transformers say of texts, for tests/tokenizer/test_ranges.c and tests/families/test_targets.c:

    record.py CORPUS_DIRECTORY [LINES] > ranges.tsv
    record.py CORPUS_DIRECTORY --targets SHARED_MODELS > targets.tsv

CORPUS_DIRECTORY has dev.en.gz and dev.de.gz of Tatoeba's sentences (tatoeba.org, CC BY 2.0 FR). Needs sentencepiece 0.2,
and transformers 5 for the targets.

ranges.tsv: a SentencePiece model, the bytes of a text in hexadecimal, and for each piece "id:begin:end", in bytes.
targets.tsv: a model's directory, a text of its target side, its ids.
"""
import gzip
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RANGES_MODELS = ["tokenizer/byte_fallback.model", "models/tatoeba-en-de/source.spm"]
SENTENCEPIECE = ["target.spm", "sentencepiece.bpe.model", "spiece.model"]

# White space, what NFKC and the training data's rules change, removed characters, unknown ones, ill-formed bytes.
HOSTILE = [
    "", " ", "\u3000\t\n", "a", " a ", "Hello,  world ! ", "\u00a0Haus am\u3000See\u2003", "ﬁn ﬀ ½ ㌔ Ⅷ x² ﷺ ﷺ! ﹏…", "ﷺ", "㌔", "ａｂＣ１２！",
    "e\u0301te\u0301 \u0301", "¨ ´ ˜a", "a\u00adb\u200bc\u2060d\ufeffe\u200d", "\u200b", "\u200bHallo\u200b \u200b", "Ende \u0001\u0007x\u007f",
    "漢字", "a 漢字🙂b 東京は１,０００.５円です。", "🙂🙂 👍🏽 👨\u200d👩\u200d👧", "مرحبا بالعالم، كيف", "▁a▁ ▁", "▁", "<unk> </s> <s> <0x41> <pad>",
    "don't »ja« „nein“ — so…", "x\u2028y\u2029z\u0085w", "\ufffd a\ufffdb", "각하 각", "\U0010ffff \ue000",
]
BYTES = [b"\xff", b"a\xffb", b"a\xe2\x82 b", b"\xe2\x96Hallo", b"\xf0\x9f\x99", b"x \xc0\x80 \xed\xa0\x80y", b"a\0b \0", b"\xe2\x96\x81\xe2\x96 \x81"]


def corpus(directory, count):
    texts = []
    for language in "en", "de":
        with gzip.open(os.path.join(directory, f"dev.{language}.gz"), "rt") as lines:
            texts += [line.rstrip("\n") for line in lines][:count]
    return texts


def mixtures(count):
    """Hostile texts in arbitrary order, joined by blanks or nothing."""
    chosen = random.Random(15)
    parts = [text.encode() for text in HOSTILE] + BYTES
    return [chosen.choice([b"", b" "]).join(chosen.choices(parts, k=3)) for _ in range(count)]


def fields(data):
    """Protocol buffers: (number, value) of each field."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        yield tag >> 3, value


def record_ranges(directory, lines):
    import sentencepiece
    texts = [text.encode() for text in HOSTILE + corpus(directory, lines // 2)] + BYTES + mixtures(lines // 2)
    for model in RANGES_MODELS:
        processor = sentencepiece.SentencePieceProcessor(model_file=os.path.join(HERE, "..", model))
        for text in texts:
            pieces = [dict(fields(value)) for number, value in fields(processor.encode(text, out_type="serialized_proto"))
                      if number == 2]
            places = " ".join(f"{piece.get(2, 0)}:{piece[4]}:{piece[5]}" for piece in pieces)
            print(model, text.hex(), places, sep="\t")


def record_targets(directory, shared):
    import sentencepiece
    import transformers
    texts = corpus(directory, 30) + ["", "  a  b ", "漢字🙂 Tom", "ﬁn ½ Haus…", "Tom's »Haus« — ja"]
    for name in ["marian-separate", "m2m100", "mbart50", "nllb", "t5", "t5gated"]:
        path = os.path.join(shared, "huggingface-small", name)
        tokenizer = transformers.AutoTokenizer.from_pretrained(path)
        file = next(file for file in SENTENCEPIECE if os.path.exists(os.path.join(path, file)))
        processor = sentencepiece.SentencePieceProcessor(model_file=os.path.join(path, file))
        for text in texts:
            ids = tokenizer(text_target=text, add_special_tokens=False).input_ids
            pieces = processor.encode(text, out_type=str)
            if len(ids) == len(pieces) and not any(piece.startswith("<0x") for piece in pieces):
                print(name, text, " ".join(map(str, ids)), sep="\t")
            else:
                print(f"{name}: transformers' own tokenizer departs from SentencePiece: '{text}'", file=sys.stderr)


if sys.argv[2:3] == ["--targets"]:
    record_targets(sys.argv[1], sys.argv[3])
else:
    record_ranges(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120)
