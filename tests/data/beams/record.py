"""Records what CTranslate2 makes of its patience and its coverage penalty, for tests/families/test_steering_golden.c:

    record.py MODELS_DIRECTORY
    record.py tests/data/models small.json

MODELS_DIRECTORY has tatoeba-en-de/ctranslate2-float16 and aren-transliteration. Writes beams.json beside this file; with
a second argument what becomes of the first alone, to a file of that name. Needs
ctranslate2 4.8.5, sentencepiece.
"""
import json
import os
import sys

import ctranslate2
import sentencepiece

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = sys.argv[1]
# beam, nbest, length penalty, patience, coverage penalty
RUNS = [(4, 4, 1.0, 2.0, 0.0), (2, 2, 0.2, 3.0, 0.0), (5, 2, 1.0, 0.5, 0.0), (4, 1, 0.0, 3.0, 0.0), (4, 4, 0.6, 1.0, 0.2),
        (4, 2, 0.0, 1.0, 0.5), (3, 3, 1.0, 1.5, 0.3), (4, 3, 1.0, 1.0, -0.2)]
TATOEBA = [("He said that he would come tomorrow.", ""), ("Tom is reading a book in the garden.", ""), ("Good morning!", ""),
           ("The early bird gets the worm, but the second mouse gets the cheese.", ""),
           ("She wears the same kinds of clothes as her sister.", "Die Kleider"), ("It is raining.", "Es regnet heute sehr st")]
LETTERS = ["آ ت ز م و ن", "آ ت ش ي س و ن", "آ ز ا", "آ ر ب ا ك ه", "آ ر ث ر"]
KEYS = ("beam", "nbest", "length_penalty", "patience", "coverage_penalty")


def cases(name, pairs, encode_source, encode_prefix, decode):
    translator = ctranslate2.Translator(os.path.join(MODELS, name), compute_type="float32", intra_threads=1)
    for source, prefix in pairs:
        for run in RUNS:
            beam, nbest, length_penalty, patience, coverage_penalty = run
            pieces = encode_prefix(prefix)
            made = translator.translate_batch([encode_source(source)], target_prefix=[pieces] if pieces else None, beam_size=beam,
                                              num_hypotheses=nbest, length_penalty=length_penalty, patience=patience,
                                              coverage_penalty=coverage_penalty, return_scores=True, max_decoding_length=64)[0]
            yield {"system": "ctranslate2", "model": name, "source": source, "prefix": prefix, **dict(zip(KEYS, run)),
                   "max_length": 64, "hypotheses": [{"text": decode(tokens), "score": score}
                                                    for tokens, score in zip(made.hypotheses, made.scores)]}


def main():
    source = sentencepiece.SentencePieceProcessor(model_file=os.path.join(MODELS, "tatoeba-en-de/huggingface/source.spm"))
    target = sentencepiece.SentencePieceProcessor(model_file=os.path.join(MODELS, "tatoeba-en-de/huggingface/target.spm"))
    made = [*cases("tatoeba-en-de/ctranslate2-float16", TATOEBA, lambda text: source.encode(text, out_type=str) + ["</s>"],
                   lambda text: target.encode(text, out_type=str), target.decode),
            *cases("aren-transliteration/v2/aren-transliteration", [(letters, "") for letters in LETTERS], str.split, str.split,
                   " ".join)]
    if sys.argv[2:]:
        made = [case for case in made if case["model"].startswith("tatoeba")]
    with open(os.path.join(HERE, sys.argv[2] if sys.argv[2:] else "beams.json"), "w", encoding="utf-8") as file:
        file.write("{\n \"made_by\": \"ctranslate2 %s\",\n \"cases\": [\n  " % ctranslate2.__version__)
        file.write(",\n  ".join(json.dumps(case, ensure_ascii=False) for case in made) + "\n ]\n}\n")


main()
