"""Records what CTranslate2 answers on the tatoeba-en-de model, for tests/api/test_alignment.c and test_score.c:

    record.py MODEL DEV.en DEV.de > golden.json
    record.py MODEL DEV.en DEV.de ▁Tom ▁ich ▁nicht > small.json

MODEL is shared/models/tatoeba-en-de/ctranslate2-float16, for small.json that of tests/data; DEV.* the unpacked lines of shared/corpora/tatoeba-en-de.

- unknowns: greedy translations with replace_unknowns. The model never says <unk>; so a copy of it whose configuration
  declares another piece the unknown word is translated with, one for each of UNKNOWN.
- scores: score_batch of pairs, one log-probability for each target token, the end of sentence included.
"""
import json
import os
import shutil
import sys
import tempfile

import ctranslate2
import sentencepiece

UNKNOWN = sys.argv[4:] or ["\u2581Tom", "\u2581Ich", "\u2581nicht"]
LINES, PAIRS = 400, 60


def text_of(pieces):
    return "".join(pieces).replace("\u2581", " ").strip()


def translator_of(model, folder, unknown):
    shutil.copytree(model, folder, copy_function=os.symlink)
    os.remove(f"{folder}/config.json")
    with open(f"{model}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    with open(f"{folder}/config.json", "w", encoding="utf-8") as file:
        json.dump(config | {"unk_token": unknown}, file)
    return ctranslate2.Translator(folder, compute_type="float32", intra_threads=1)


def unknowns(model, processor, lines):
    with tempfile.TemporaryDirectory() as folder:
        for unknown in UNKNOWN:
            translator = translator_of(model, f"{folder}/{unknown}", unknown)
            for line in lines:
                pieces = [*processor.encode(line, out_type=str), "</s>"]
                run = lambda replace: translator.translate_batch(
                    [pieces], beam_size=1, max_decoding_length=60, replace_unknowns=replace)[0].hypotheses[0]
                if unknown in run(False):
                    yield {"unknown": unknown, "source": line, "target": text_of(run(True))}


def scores(model, processor, pairs):
    translator = ctranslate2.Translator(model, compute_type="float32", intra_threads=1)
    for source, target in pairs:
        pieces = [*processor.encode(source, out_type=str), "</s>"]
        result = translator.score_batch([pieces], [processor.encode(target, out_type=str)])[0]
        yield {"source": source, "target": target, "log_probs": [round(p, 6) for p in result.log_probs]}


def main():
    model = sys.argv[1]
    source, target = (open(path, encoding="utf-8").read().splitlines() for path in sys.argv[2:4])
    processor = sentencepiece.SentencePieceProcessor(model_file=f"{model}/source.spm")
    step = len(source) // PAIRS
    golden = {
        "made_by": f"CTranslate2 {ctranslate2.__version__}, float32",
        "unknowns": list(unknowns(model, processor, source[:LINES])),
        # The second half are translations of the next line.
        "scores": list(scores(model, processor, zip(source[::step], target[::step])))
        + list(scores(model, processor, zip(source[:PAIRS], target[1:]))),
    }
    json.dump(golden, sys.stdout, ensure_ascii=False, indent=0)


main()
