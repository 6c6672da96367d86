"""Records what transformers, CTranslate2 and Marian make of given prefixes, what CTranslate2 makes of alternatives, and what
transformers' warpers leave of logits, for tests/families/test_steering_golden.c and tests/search/test_sample.c:

    record.py MODELS_DIRECTORY
    record.py tests/data/models small.json

MODELS_DIRECTORY has tatoeba-en-de/{huggingface,marian,ctranslate2-float16} and huggingface-small/nllb. Writes steering.json and
warpers.json beside this file; with a second argument only what becomes of the first three, to a file of that name. Needs transformers 5.23, ctranslate2 4.8.5, pymarian 1.12.42, sentencepiece.
"""
import json
import os
import sys
import tempfile

import ctranslate2
import pymarian
import sentencepiece
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
MADE_BY = "transformers 5.23, ctranslate2 4.8.5, pymarian 1.12.42"
MODELS = sys.argv[1]
TATOEBA = os.path.join(MODELS, "tatoeba-en-de")
PAIRS = [
    ("He said that he would come tomorrow.", "Er"),
    ("I don't know what to do.", "Ich habe keine"),
    ("Tom is reading a book in the garden.", "Im Garten"),
    ("Where were you yesterday?", "Gestern"),
    ("She wears the same kinds of clothes as her sister.", "Die Kleider"),
    ("Good morning!", ""),
    ("It is raining.", "Es regnet heute sehr st"),
    ("The early bird gets the worm, but the second mouse gets the cheese.", "Wer früh aufsteht, bekommt"),
]
RUNS = [{"beam": 1, "length_penalty": 1.0}, {"beam": 4, "length_penalty": 1.0}, {"beam": 4, "length_penalty": 0.0},
        {"beam": 3, "length_penalty": 0.6}]


def case(system, model, pair, run, hypotheses, **more):
    return {"system": system, "model": model, "source": pair[0], "prefix": pair[1], **run, **more,
            "hypotheses": [{"text": text, "score": score} for text, score in hypotheses]}


def transformers_cases(name, encode_prefix, decode, **tokenizer_options):
    directory = os.path.join(MODELS, name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory, **tokenizer_options)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(directory, dtype=torch.float32).eval()
    for pair in PAIRS:
        inputs = tokenizer(pair[0], return_tensors="pt")
        prompt = [model.generation_config.decoder_start_token_id] + encode_prefix(tokenizer, pair[1])
        for run in RUNS:
            more = {"decoder_input_ids": torch.tensor([prompt])} if pair[1] else {}
            if not pair[1] and len(prompt) == 2:
                more = {"forced_bos_token_id": prompt[1]}
            with torch.no_grad():
                made = model.generate(**inputs, **more, num_beams=run["beam"], num_return_sequences=run["beam"], max_length=64,
                                      length_penalty=run["length_penalty"], early_stopping=False, do_sample=False,
                                      return_dict_in_generate=True, output_scores=True)
            if run["beam"] > 1:
                scores = made.sequences_scores.tolist()
            else:
                steps = model.compute_transition_scores(made.sequences, made.scores, normalize_logits=True)[0]
                scores = [(steps.sum() / len(steps) ** run["length_penalty"]).item()]
            texts = [decode(tokenizer, ids.tolist()) for ids in made.sequences]
            yield case("huggingface", name, pair, run, zip(texts, scores), max_length=63)


def tatoeba_pieces():
    source = sentencepiece.SentencePieceProcessor(model_file=os.path.join(TATOEBA, "huggingface/source.spm"))
    target = sentencepiece.SentencePieceProcessor(model_file=os.path.join(TATOEBA, "huggingface/target.spm"))
    return source, target


def ctranslate2_cases(name, directory, encode_source, encode_prefix, decode, longest):
    """`longest`: of prefixes with alternatives. CTranslate2 4.8.5 gives all tokens of a longer one the embedding zero if the
    model's first input is zero (its issue 2014)."""
    translator = ctranslate2.Translator(directory, compute_type="float32", intra_threads=1)

    def translate(pair, **options):
        pieces = encode_prefix(pair[1])
        made = translator.translate_batch([encode_source(pair[0])], target_prefix=[pieces] if pieces else None,
                                          return_scores=True, max_decoding_length=64, **options)[0]
        return [(decode(tokens), score) for tokens, score in zip(made.hypotheses, made.scores)]

    for pair in PAIRS:
        for run in RUNS:
            yield case("ctranslate2", name, pair, run,
                       translate(pair, beam_size=run["beam"], num_hypotheses=run["beam"],
                                 length_penalty=run["length_penalty"]), max_length=64)
        # The score of an alternative is the first word's plus the rest's divided by the rest's length: only without a
        # length penalty is it that of the whole.
        if len(encode_prefix(pair[1])) <= longest:
            run = {"beam": 1, "nbest": 5, "alternatives": 1, "length_penalty": 0.0}
            made = translate(pair, beam_size=1, num_hypotheses=5, return_alternatives=True, length_penalty=0)
            yield case("ctranslate2", name, pair, run, made, max_length=64)


def marian_cases():
    source, target = tatoeba_pieces()
    name = "tatoeba-en-de/marian"
    directory = os.path.join(MODELS, name)
    for run in RUNS:
        command = (f"--models {directory}/model.npz --vocabs {directory}/vocab.yml {directory}/vocab.yml --cpu-threads 1 "
                   "--precision float32 --gemm-type float32 --word-penalty 0 --max-length-factor 3 --mini-batch 1 --maxi-batch 1 "
                   "--maxi-batch-sort none --max-length 1000 --quiet --quiet-translation --workspace 512 --n-best "
                   f"--beam-size {run['beam']} --normalize {run['length_penalty']}")
        forced = pymarian.Translator(command + " --force-decode --tsv --tsv-fields 2")
        for pair in PAIRS:
            if not pair[1]:
                continue
            line = " ".join(source.encode(pair[0], out_type=str)) + "\t" + " ".join(target.encode(pair[1], out_type=str))
            made = [row.split(" ||| ") for row in forced.translate([line])]
            yield case("marian", name, pair, run, [(target.decode(row[1].split(" ")), float(row[-1])) for row in made])


def main():
    sp = tatoeba_pieces()[1]
    vocabulary = json.load(open(os.path.join(TATOEBA, "huggingface/vocab.json"), encoding="utf-8"))
    pieces = {i: piece for piece, i in vocabulary.items()}
    special = ("</s>", "<pad>", "<unk>")

    def decode_tatoeba(_, ids):
        return sp.decode([pieces[i] for i in ids if pieces[i] not in special])

    cases = list(transformers_cases("tatoeba-en-de/huggingface",
                                    lambda _, text: [vocabulary[piece] for piece in sp.encode(text, out_type=str)],
                                    decode_tatoeba))
    cases += transformers_cases(
        "huggingface-small/nllb",
        lambda tokenizer, text: [tokenizer.convert_tokens_to_ids("deu_Latn")] + tokenizer(text, add_special_tokens=False).input_ids,
        lambda tokenizer, ids: tokenizer.decode(ids, skip_special_tokens=True), src_lang="eng_Latn", tgt_lang="deu_Latn")
    source = tatoeba_pieces()[0]
    name = "tatoeba-en-de/ctranslate2-float16"
    cases += ctranslate2_cases(name, os.path.join(MODELS, name), lambda text: source.encode(text, out_type=str) + ["</s>"],
                               lambda text: sp.encode(text, out_type=str), sp.decode, 1)
    nllb = transformers.AutoTokenizer.from_pretrained(os.path.join(MODELS, "huggingface-small/nllb"), src_lang="eng_Latn")
    with tempfile.TemporaryDirectory() as scratch:
        name, converted = "huggingface-small/nllb", os.path.join(scratch, "nllb")
        ctranslate2.converters.TransformersConverter(os.path.join(MODELS, name)).convert(converted)
        cases += ctranslate2_cases(name, converted, lambda text: nllb.convert_ids_to_tokens(nllb(text).input_ids),
                                   lambda text: ["deu_Latn"] + nllb.tokenize(text),
                                   lambda tokens: nllb.decode(nllb.convert_tokens_to_ids(tokens), skip_special_tokens=True), 99)
    cases += marian_cases()
    if sys.argv[2:]:
        return write(sys.argv[2], {"made_by": MADE_BY, "cases": [c for c in cases if c["model"].startswith("tatoeba")]})
    write("steering.json", {"made_by": MADE_BY, "cases": cases})
    write("warpers.json", {"made_by": "transformers 5.23", "cases": list(warped())})


def warped():
    """Logits without equal values, except where top_k alone decides."""
    torch.manual_seed(15)
    for number in range(60):
        count, equal = (3, 17, 64)[number % 3], number % 4 == 3
        logits = torch.randn(1, count) * 2
        if equal:
            logits = (logits * 2).round() / 2
        logits[0, torch.rand(count) < 0.1] = -float("inf")
        logits[0, 0] = 0.0 if equal else 0.123
        temperature, top_k, top_p = (1.0, 0.7, 1.9)[number % 3], (0, 5, 1, 2)[number % 4], (1.0, 0.5, 0.9, 0.05)[number // 4 % 4]
        if equal:
            top_k, top_p = 4, 1.0
        scores = logits
        if temperature != 1:
            scores = transformers.TemperatureLogitsWarper(temperature)(None, scores)
        if top_k > 0:
            scores = transformers.TopKLogitsWarper(top_k)(None, scores)
        if top_p < 1:
            scores = transformers.TopPLogitsWarper(top_p)(None, scores)
        kept = [i for i in range(count) if scores[0, i] > -float("inf")]
        yield {"temperature": temperature, "top_k": top_k, "top_p": top_p,
               "logits": [None if x == -float("inf") else x for x in logits[0].tolist()], "kept": kept,
               "probabilities": torch.softmax(scores[0], 0)[kept].tolist()}


def write(name, content):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        file.write("{\n \"made_by\": %s,\n \"cases\": [\n  " % json.dumps(content["made_by"]))
        file.write(",\n  ".join(json.dumps(c, ensure_ascii=False) for c in content["cases"]) + "\n ]\n}\n")


main()
