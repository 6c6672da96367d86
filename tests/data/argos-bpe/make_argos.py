"""Makes a package as Argos Translate has them, of random weights, with Moses' words and subword-nmt's merges, and records
what argostranslate's own steps and CTranslate2 make of texts:

    make_argos.py ENGLISH GERMAN

ENGLISH and GERMAN are files of sentences (.gz) that the merges are learned from, of Tatoeba (tatoeba.org, CC BY 2.0 FR).
Needs sacremoses 0.2.0, subword-nmt 0.3.8 and ctranslate2 4. Writes metadata.json, bpe.model, model, texts.en and texts.tsv:
of each text the source's tokens, the translation's tokens and its text."""
import gzip
import io
import itertools
import json
import os
import sys

import ctranslate2
import numpy
from ctranslate2.specs import TransformerSpec
from sacremoses import MosesDetokenizer, MosesPunctNormalizer, MosesTokenizer
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

HERE = os.path.dirname(os.path.abspath(__file__))
FROM, TO = "en", "de"
TEXTS = [
    "Hello, world!", "He said: \"That's 5,300 km.\"", "Tom & Mary don't like <b>it</b> [at all] | ever.", "Mr. Smith's e.g. is No. 5.",
    "It's \u201cquoted\u201d \u2013 isn\u2019t it\u2026", "Wait...... what?!", "a/b x-y $5 (10 %) 100\u00a0000", "Ж unknown 漢字 words ☃", "  many   blanks\t here  ", "", "'tis the boys' house.",
    "DOTMULTI", "a@@b @@ c", "U.S. and U.K. agree.", "C'est l'eau. «\u00a0Oui\u00a0»",
]


def sentences(path, count):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in itertools.islice(lines, count)]


def words(text, language):
    return MosesTokenizer(language).tokenize(MosesPunctNormalizer(language).normalize(text))


def make_model(directory, vocabulary):
    random = numpy.random.default_rng(17)
    d, inner = 16, 24
    spec = TransformerSpec.from_config(num_layers=(1, 1), num_heads=2, pre_norm=True)

    def numbers(*shape, scale=0.4):
        return (random.standard_normal(shape) * scale).astype(numpy.float32)

    def linear(part, rows, columns):
        part.weight, part.bias = numbers(rows, columns), numbers(rows, scale=0.1)

    def norm(part):
        part.gamma, part.beta = 1 + numbers(d, scale=0.1), numbers(d, scale=0.1)

    def attention(part, rows):
        norm(part.layer_norm)
        for layer, count in zip(part.linear, rows):
            linear(layer, count, d)

    def feed_forward(part):
        norm(part.layer_norm)
        linear(part.linear_0, inner, d)
        linear(part.linear_1, d, inner)

    table = numbers(len(vocabulary), d, scale=1)
    for side in (spec.encoder, spec.decoder):
        norm(side.layer_norm)
        attention(side.layer[0].self_attention, [3 * d, d])
        feed_forward(side.layer[0].ffn)
    attention(spec.decoder.layer[0].attention, [d, 2 * d, d])
    spec.encoder.embeddings[0].weight = spec.decoder.embeddings.weight = table
    spec.decoder.projection.weight, spec.decoder.projection.bias = numbers(len(vocabulary), d, scale=1), numbers(len(vocabulary))
    spec.register_source_vocabulary(vocabulary)
    spec.register_target_vocabulary(vocabulary)
    spec.validate()
    spec.optimize()
    os.makedirs(directory, exist_ok=True)
    spec.save(directory)


def main(english, german):
    texts = {FROM: sentences(english, 1500), TO: sentences(german, 1500)}
    tokenized = [" ".join(words(text, language)) for language in texts for text in texts[language]]
    codes = io.StringIO()
    learn_bpe(io.StringIO("\n".join(tokenized)), codes, 300, min_frequency=3)
    with open(os.path.join(HERE, "bpe.model"), "w", encoding="utf-8") as out:
        out.write(codes.getvalue())
    bpe = BPE(codes)
    pieces = sorted({piece for line in tokenized for piece in bpe.segment_tokens(line.split(" "))} | {"@-@", "&bar;", "&#91;", "&#93;", "&lt;", "&gt;", "&amp;"})
    vocabulary = ["<unk>", "<s>", "</s>"] + pieces
    make_model(os.path.join(HERE, "model"), vocabulary)
    with open(os.path.join(HERE, "metadata.json"), "w") as out:
        json.dump({"package_version": "1.0", "argos_version": "1.5", "from_code": FROM, "from_name": "English", "to_code": TO, "to_name": "German"}, out, indent=1)
    translator = ctranslate2.Translator(os.path.join(HERE, "model"))
    detokenizer = MosesDetokenizer(TO)
    with (open(os.path.join(HERE, "texts.en"), "w", encoding="utf-8") as lines,
          open(os.path.join(HERE, "texts.tsv"), "w", encoding="utf-8") as out):
        for text in TEXTS + texts[FROM][:25]:
            source = bpe.segment_tokens(" ".join(words(text, FROM)).strip("\r\n ").split(" "))
            tokens = []
            if source:
                tokens = translator.translate_batch([source], beam_size=4, length_penalty=0.2, max_decoding_length=40,
                                                    replace_unknowns=True)[0].hypotheses[0]
            result = detokenizer.detokenize(" ".join(tokens).replace("@@ ", "").split(" "))
            lines.write(text + "\n")
            out.write("\t".join([" ".join(source), " ".join(tokens), result]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
