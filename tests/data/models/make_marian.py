"""The small twins of shared/models/tatoeba-en-de and bergamot-en-de, from what train_small.py trained:

    make_marian.py TRAINED CORPUS_DIRECTORY

The first in all its forms: Marian's archive, and what transformers and CTranslate2 make of the same weights, with goldens of all
three. The second as .npz, .bin and both intgemm files, with goldens of Marian (float32) and of exact integer arithmetic. Needs
what train_small.py needs, and ctranslate2, pymarian, safetensors, transformers.
"""
import collections
import gzip
import json
import os
import random
import shutil
import struct
import sys

import ctranslate2
import numpy
import pymarian
import safetensors.torch
import sentencepiece
import torch
import transformers

import make_small
import train_small

HERE = os.path.dirname(os.path.abspath(__file__))
OPUS, STUDENT = os.path.join(HERE, "tatoeba-en-de"), os.path.join(HERE, "bergamot-en-de")
V, D, LAYERS = train_small.VOCAB, train_small.D, train_small.LAYERS
TEXTS = ["I'm old.", "Tom spoke.", "I don't know what to do.", 'He said: "I don\'t know; maybe she\'ll come at 10:30 (or later)."',
         "Tom pilots a helicopter which patrols the city's beaches, searching the waters for sharks.",
         "She wears the same kinds of clothes as her sister.", "You must not stay up late.", "Where do you live now?",
         "I have to give Tom this book.", "Is it Tom's?", "", "   two  spaces   here ", "Ünïcödé — “quotes” … 漢字 🙂 ﬁne ½",
         "I", "The year 1984 had 366 days, and 3.14159 is not 22/7.", "NO, THIS IS TOM.",
         "These flowers smell nice. Everyone went to see what was happening. Tomorrow is another day. I don't want to say that to Tom."]
CONFIG = """dec-cell: {cell}
dec-depth: {layers}
dim-emb: {d}
dim-vocabs:
  - {v}
  - {v}
enc-depth: {layers}
enc-type: bidirectional
input-types:
  []
layer-normalization: false
output-omit-bias: false
skip: false
tied-embeddings: false
tied-embeddings-all: true
tied-embeddings-src: false
transformer-decoder-autoreg: {autoreg}
transformer-dim-ffn: {ffn}
transformer-ffn-activation: {activation}
transformer-ffn-depth: 2
transformer-guided-alignment-layer: last
transformer-heads: {heads}
transformer-no-projection: false
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-postprocess-top: ""
transformer-preprocess: ""
transformer-rnn-projection: false
transformer-tied-layers:
  []
transformer-train-position-embeddings: false
type: transformer
version: {version}
"""
MARIAN = ("--cpu-threads 1 --precision float32 --gemm-type float32 --max-length-factor 3 --mini-batch 1 --maxi-batch 1 "
          "--maxi-batch-sort none --max-length 1000 --max-length-crop --quiet --quiet-translation --workspace 512 --n-best "
          "--word-scores")


def configuration(kind):
    student = kind == "student"
    return CONFIG.format(
        cell="ssru" if student else "gru", autoreg="rnn" if student else "self-attention", layers=LAYERS, d=D, v=V,
        ffn=train_small.WIDTHS[kind], activation="relu" if student else "swish", heads=train_small.HEADS,
        version="v1.9.56 4dd30b5 2021-09-20 14:02:13 +0100" if student else "v1.11.0 f00cd3a 2022-02-08 15:05:12 +0000")


def as_array(text):
    return numpy.frombuffer(text.encode() + b"\0", numpy.int8)


def write_json(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


def marian(command, lines):
    translator = pymarian.Translator(f"{command} {MARIAN}")
    return [translator.translate(line + "\n").rstrip("\n").split("\n") for line in lines]


# ---- the Transformer: Marian's archive ----

def shuffled(weights, processor):
    """Ids that are not SentencePiece's, but for the first two."""
    order = list(range(2, V))
    random.Random(7).shuffle(order)
    order = [0, 1] + order
    return {**weights, "Wemb": weights["Wemb"][order],
            "decoder_ff_logit_out_b": weights["decoder_ff_logit_out_b"][:, order]}, [processor.id_to_piece(i) for i in order]


def make_archive(weights, pieces, trained):
    folder = fresh(os.path.join(OPUS, "marian"))
    numpy.savez(os.path.join(folder, "model.npz"), **weights, **{"special:model.yml": as_array(configuration("opus"))})
    for side in ["source", "target"]:
        shutil.copyfile(os.path.join(trained, "joint.spm"), os.path.join(folder, f"{side}.spm"))
    with open(os.path.join(folder, "vocab.yml"), "w", encoding="utf-8") as file:
        for i, piece in enumerate(pieces):
            file.write(f"{json.dumps(piece, ensure_ascii=False)}: {i}\n")
    with open(os.path.join(folder, "decoder.yml"), "w", encoding="utf-8") as file:
        file.write("relative-paths: true\nmodels:\n  - model.npz\nvocabs:\n  - vocab.yml\n  - vocab.yml\nbeam-size: 6\nnormalize: 1\n"
                   "word-penalty: 0\nmini-batch: 1\nmaxi-batch: 1\nmaxi-batch-sort: src\n")
    return folder


def record_marian(folder, processor):
    runs = {"greedy": "--beam-size 1 --normalize 1 --word-penalty 0 --alignment soft",
            "beam6": "--beam-size 6 --normalize 1 --word-penalty 0 --alignment hard",
            "beam6_raw": "--beam-size 6 --normalize 0 --word-penalty 0 --alignment hard",
            "beam4_half": "--beam-size 4 --normalize 0.6 --word-penalty 0.2 --alignment hard",
            "beam1_unk": "--beam-size 1 --normalize 1 --word-penalty 0 --alignment hard --allow-unk"}
    lines = [{"text": text, "pieces": " ".join(processor.encode(text, out_type=str))} for text in TEXTS]
    for name, options in runs.items():
        made = marian(f"--models {folder}/model.npz --vocabs {folder}/vocab.yml {folder}/vocab.yml {options}",
                      [line["pieces"] for line in lines])
        for line, hypotheses in zip(lines, made):
            line[name] = hypotheses
    write_json(os.path.join(folder, "golden.json"),
               {"made_by": f"pymarian {pymarian.__version__}, float32, one line at a time",
                "runs": {name: f"{options} {MARIAN}" for name, options in runs.items()}, "lines": lines})


# ---- the same as transformers has it ----

def names_of_transformers():
    """Marian's name, without the W or b of a pair -> the other's."""
    for stack in ["encoder", "decoder"]:
        for layer in range(LAYERS):
            at, there = f"{stack}_l{layer + 1}", f"model.{stack}.layers.{layer}"
            for block, other in [("self", "self_attn"), ("context", "encoder_attn")][:1 if stack == "encoder" else 2]:
                for letter, projection in zip("qkvo", ["q_proj", "k_proj", "v_proj", "out_proj"]):
                    yield f"{at}_{block}_W{letter}", f"{there}.{other}.{projection}.weight"
                    yield f"{at}_{block}_b{letter}", f"{there}.{other}.{projection}.bias"
                yield f"{at}_{block}_Wo_ln_scale", f"{there}.{other}_layer_norm.weight"
                yield f"{at}_{block}_Wo_ln_bias", f"{there}.{other}_layer_norm.bias"
            for number in "12":
                yield f"{at}_ffn_W{number}", f"{there}.fc{number}.weight"
                yield f"{at}_ffn_b{number}", f"{there}.fc{number}.bias"
            yield f"{at}_ffn_ffn_ln_scale", f"{there}.final_layer_norm.weight"
            yield f"{at}_ffn_ffn_ln_bias", f"{there}.final_layer_norm.bias"


def make_huggingface(weights, pieces, trained):
    folder = fresh(os.path.join(OPUS, "huggingface"))
    config = transformers.MarianConfig(
        vocab_size=V + 1, d_model=D, encoder_layers=LAYERS, decoder_layers=LAYERS, encoder_attention_heads=train_small.HEADS,
        decoder_attention_heads=train_small.HEADS, encoder_ffn_dim=train_small.WIDTHS["opus"],
        decoder_ffn_dim=train_small.WIDTHS["opus"], activation_function="swish", max_position_embeddings=512, scale_embedding=True,
        pad_token_id=V, eos_token_id=0, bos_token_id=0, decoder_start_token_id=V, forced_eos_token_id=0,
        share_encoder_decoder_embeddings=True, static_position_embeddings=True)
    model = transformers.MarianMTModel(config)
    state = {there: torch.tensor(weights[name].T.copy() if weights[name].shape[0] > 1 else weights[name][0])
             for name, there in names_of_transformers()}
    table = torch.cat([torch.tensor(weights["Wemb"]), torch.zeros(1, D)])
    state |= {name: table for name in ["model.shared.weight", "lm_head.weight", "model.encoder.embed_tokens.weight",
                                       "model.decoder.embed_tokens.weight"]}
    state["final_logits_bias"] = torch.cat([torch.tensor(weights["decoder_ff_logit_out_b"]), torch.zeros(1, 1)], 1)
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert not unexpected and all("embed_positions" in name for name in missing), (missing, unexpected)
    model.generation_config = transformers.GenerationConfig(
        bad_words_ids=[[V]], bos_token_id=0, decoder_start_token_id=V, eos_token_id=0, forced_eos_token_id=0, max_length=512,
        num_beams=4, pad_token_id=V, renormalize_logits=True)
    model.save_pretrained(folder)
    write_json(os.path.join(folder, "vocab.json"), {piece: i for i, piece in enumerate(pieces + ["<pad>"])})
    write_json(os.path.join(folder, "tokenizer_config.json"),
               {"source_lang": "en", "target_lang": "de", "tokenizer_class": "MarianTokenizer", "unk_token": "<unk>",
                "eos_token": "</s>", "pad_token": "<pad>", "model_max_length": 512, "separate_vocabs": False})
    for side in ["source", "target"]:
        shutil.copyfile(os.path.join(trained, "joint.spm"), os.path.join(folder, f"{side}.spm"))
    return folder


def record_huggingface(folder, pieces, processor, runs):
    ids = {piece: i for i, piece in enumerate(pieces)}
    golden = {"runs": runs, "prefix": "", "lines": [
        {"text": text, "input_ids": [ids.get(piece, 1) for piece in processor.encode(text, out_type=str)] + [0]} for text in TEXTS]}
    golden["all_runs"] = {"do_sample": False, "max_new_tokens": 60, "renormalize_logits": False, "bad_words_ids": [[V]]}
    make_small.Recorder(folder, "target.spm").record(golden)
    write_json(os.path.join(folder, "golden.json"), golden)


# ---- the same as CTranslate2 has it ----

def make_ctranslate2(huggingface, kind, processor, compute_type):
    folder = os.path.join(OPUS, f"ctranslate2-{kind}")
    ctranslate2.converters.TransformersConverter(huggingface, copy_files=["source.spm", "target.spm"]).convert(
        folder, quantization=kind, force=True)
    translator, lines = ctranslate2.Translator(folder, compute_type=compute_type, intra_threads=1), []

    def run(tokens, beam):
        made = translator.translate_batch([tokens], beam_size=beam, num_hypotheses=beam, return_scores=True)[0]
        return {"tokens": made.hypotheses, "scores": made.scores,
                "text": [None if "<unk>" in row else "".join(row).replace("\u2581", " ").strip() for row in made.hypotheses]}

    for text in TEXTS:
        tokens = processor.encode(text, out_type=str) + ["</s>"]
        line = {"text": text, "tokens": tokens, "greedy": run(tokens, 1), "beam4": run(tokens, 4)}
        line["token_log_probs"] = translator.score_batch([tokens], [line["greedy"]["tokens"][0]])[0].log_probs
        lines.append(line)
    write_json(os.path.join(folder, "golden.json"),
               {"made_by": f"ctranslate2 {ctranslate2.__version__}, compute_type {compute_type}, one line at a time", "lines": lines})


# ---- the student ----

def is_matrix(name):
    return name.find("_W") in (len(name) - 2, len(name) - 3)


def quantize(name, w):
    """Bytes as the fork's exporter has them, and the integers [in, out] ([V, D] of the embeddings) with their multiplier."""
    m = numpy.float32(127) / numpy.abs(w).max()
    q = numpy.clip(numpy.rint(w * m), -127, 127).astype(numpy.int8)
    return (q if "Wemb" in name else q.T).tobytes() + m.tobytes(), q, m


def write_bin(path, tensors):
    """[(name, type code, shape, bytes)]"""
    names = b"".join(name.encode() + b"\0" for name, *_ in tensors)
    padded = [data + bytes(-len(data) % 256) for *_, data in tensors]
    header = struct.pack("<QQ", 1, len(tensors))
    header += b"".join(struct.pack("<QQQQ", len(name) + 1, code, len(shape), len(data))
                       for (name, code, shape, _), data in zip(tensors, padded))
    header += names + b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in tensors)
    pad = ((len(header) + 8) // 256 + 1) * 256 - len(header) - 8
    with open(path, "wb") as file:
        file.write(header + struct.pack("<Q", pad) + bytes(pad) + b"".join(padded))


class Integers(train_small.Network):
    """Exact sums of codes. `alphas`: multipliers of the inputs; None: 127 over the largest of the whole input. `seen`: the largest
    input of each product in each call, in float32 arithmetic, where it is a dictionary."""

    def __init__(self, weights, alphas, seen=None):
        super().__init__("student", {name: torch.tensor(w) for name, w in weights.items()})
        self.codes = {name: quantize(name, w)[1:] for name, w in weights.items() if is_matrix(name) or name == "Wemb"}
        self.alphas, self.seen = alphas, seen

    def multiply(self, name, x, codes):
        x, m = x.numpy(), self.codes[name][1]
        largest = numpy.abs(x).max()
        qa = numpy.float32(self.alphas[name] if self.alphas else 127 / largest)
        a = numpy.clip(numpy.rint(x * qa), -127, 127).astype(numpy.int32)
        return torch.tensor((a @ codes.astype(numpy.int32)).astype(numpy.float32) / (qa * m))

    def product(self, name, x):
        if self.seen is not None:
            self.seen[name].append(x.abs().max().item())
            return super().product(name, x)
        return self.multiply(name, x, self.codes[name][0])

    def embed(self, ids):
        q, m = self.codes["Wemb"]
        return torch.tensor(q[ids.numpy()].astype(numpy.float32) * (numpy.float32(1) / m)) * D ** 0.5

    def logits(self, x):
        if self.seen is not None:
            self.seen["Wemb"].append(x.abs().max().item())
            return super().logits(x)
        return self.multiply("Wemb", x, self.codes["Wemb"][0].T) + self.w["decoder_ff_logit_out_b"]


@torch.no_grad()
def greedy(network, ids, allowed):
    """Ids without the end, and the smallest distance between the two best allowed logits."""
    encoded, states = network.encode(torch.tensor(ids), 0), [torch.zeros(D)] * LAYERS
    out, gap, before = [], 1e9, torch.zeros(1, D)
    while len(out) < 2 * len(ids):
        logits = network.decode(before, encoded, 0, states, len(out))[0].numpy()
        best = sorted((i for i in allowed if i != 1), key=lambda i: -logits[i])
        gap = min(gap, float(logits[best[0]] - logits[best[1]]))
        if best[0] == 0:
            break
        out.append(best[0])
        before = network.embed(torch.tensor(out[-1:]))
    return out, gap


FIRST, BEST = 50, 50


def make_lexicon(corpus, processor):
    """Pieces that occur together: per source id the BEST best by Dice's coefficient."""
    sides = [gzip.open(os.path.join(corpus, f"train.{language}.gz"), "rt", encoding="utf-8").read().splitlines()[::8]
             for language in ("en", "de")]
    together, alone = collections.Counter(), [collections.Counter(), collections.Counter()]
    for pair in zip(*sides):
        a, b = (set(processor.encode(text)) for text in pair)
        together.update((s, t) for s in a for t in b)
        for side, ids in zip(alone, (a, b)):
            side.update(ids)
    lists = collections.defaultdict(list)
    for (s, t), n in together.items():
        likeness = round(2 * n / (alone[0][s] + alone[1][t]), 6)
        if likeness > 0.02:
            lists[s].append((likeness, t))
    with open(os.path.join(STUDENT, "lex.s2t.gz"), "wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as file:
        for s in sorted(lists):
            # Two more than the binary file keeps.
            for p, t in sorted(lists[s], reverse=True)[:BEST + 2]:
                file.write(f"{processor.id_to_piece(t)} {processor.id_to_piece(s)} {p}\n".encode())
    kept = [sorted(t for _, t in sorted(lists[s], reverse=True)[:BEST]) for s in range(V)]
    if not kept[-1]:
        kept[-1] = [0]
    offsets = numpy.cumsum([0] + [len(row) for row in kept]).astype("<u8")
    body = struct.pack("<QQQQ", FIRST, BEST, V + 1, offsets[-1]) + offsets.tobytes() + numpy.concatenate(kept).astype("<u4").tobytes()
    checksum = 0
    for (word,) in struct.iter_unpack("<Q", body[:len(body) // 8 * 8]):
        checksum ^= (word + 0x9e3779b9 + (checksum << 6) + (checksum >> 2)) & (2 ** 64 - 1)
    with open(os.path.join(STUDENT, "lex.50.50.ende.s2t.bin"), "wb") as file:
        file.write(struct.pack("<QQ", 0xF11A48D5013417F5, checksum) + body)
    return kept


def calibrated(weights, processor, texts):
    seen = collections.defaultdict(list)
    network = Integers(weights, None, seen)
    network.embed = lambda ids: network.w["Wemb"][ids] * D ** 0.5
    for text in texts:
        greedy(network, processor.encode(text) + [0], range(V))
    return {name: float(numpy.float32(127 / (numpy.mean(values) + 1.1 * numpy.std(values)))) for name, values in seen.items()}


def make_student(trained, corpus, processor):
    fresh(STUDENT)
    weights = dict(sorted(numpy.load(os.path.join(trained, "student.npz")).items()))
    config = as_array(configuration("student"))
    shutil.copyfile(os.path.join(trained, "joint.spm"), os.path.join(STUDENT, "vocab.ende.spm"))
    numpy.savez(os.path.join(STUDENT, "model.ende.npz"), **weights, **{"special:model.yml": config})
    plain = [(name, 0x404, w.shape, w.tobytes()) for name, w in weights.items()]
    special = [("special:model.yml", 0x101, config.shape, config.tobytes())]
    write_bin(os.path.join(STUDENT, "model.ende.bin"), plain + special)
    codes = [(name, 0x4101, w.shape, quantize(name, w)[0]) if is_matrix(name) or name == "Wemb" else row
             for row, (name, w) in zip(plain, weights.items())]
    write_bin(os.path.join(STUDENT, "model.ende.intgemm8.bin"), codes + special)
    alphas = calibrated(weights, processor, [text for text in TEXTS if text])
    write_json(os.path.join(STUDENT, "alphas.json"), alphas)
    extra = [(f"{name}_QuantMultA", 0x404, (1, 1), numpy.float32(value).tobytes()) for name, value in alphas.items() if name != "Wemb"]
    value = numpy.float32(alphas["Wemb"])
    extra.append(("Wemb_QuantMultA", 0x4101, (1, 1), bytes([127]) + (numpy.float32(127) / value).tobytes()))
    extra.append(("none_QuantMultA", 0x404, (1, 1), value.tobytes()))
    write_bin(os.path.join(STUDENT, "model.ende.intgemm.alphas.bin"), codes + extra + special)
    return weights, alphas, make_lexicon(corpus, processor)


def record_student(weights, alphas, lexicon, processor):
    texts = [text.strip() for text in TEXTS]
    lines = [{"text": text, "ids": processor.encode(text) + [0]} for text in texts]
    for line in lines:
        listed = {*range(FIRST), *line["ids"]}.union(*(lexicon[i] for i in line["ids"]))
        if len(listed) % 8:
            listed.update([i for i in range(FIRST, V) if i not in listed][:-len(listed) % 8])
        for name, multipliers, allowed in [("alphas_shortlist", alphas, sorted(listed)), ("alphas_full", alphas, range(V)),
                                           ("dynamic_shortlist", None, sorted(listed))]:
            ids, gap = greedy(Integers(weights, multipliers), line["ids"], allowed)
            line[name] = {"ids": ids, "text": processor.decode(ids), "smallest_gap": round(gap, 5)}
    for run, options in [("marian_greedy", "--beam-size 1 --alignment soft"), ("marian_beam6", "--beam-size 6 --alignment hard")]:
        vocab = os.path.join(STUDENT, "vocab.ende.spm")
        made = marian(f"--models {STUDENT}/model.ende.npz --vocabs {vocab} {vocab} --normalize 1 --word-penalty 0 {options}", texts)
        for line, hypotheses in zip(lines, made):
            line[run] = hypotheses
    write_json(os.path.join(STUDENT, "golden.json"),
               {"made_by": "alphas_* and dynamic_*: exact int32 sums by make_marian.py, beam 1, raw logits, max-length-factor 2; "
                           f"marian_*: pymarian {pymarian.__version__}, float32, max-length-factor 3", "lines": lines})


def main(trained, corpus):
    torch.set_num_threads(1)
    processor = sentencepiece.SentencePieceProcessor(model_file=os.path.join(trained, "joint.spm"))
    weights, pieces = shuffled(dict(sorted(numpy.load(os.path.join(trained, "opus.npz")).items())), processor)
    record_marian(make_archive(weights, pieces, trained), processor)
    with open(os.path.join(HERE, "huggingface-small/t5/golden.json"), encoding="utf-8") as file:
        runs = json.load(file)["runs"]
    huggingface = make_huggingface(weights, pieces, trained)
    record_huggingface(huggingface, pieces, processor, runs)
    for kind, compute_type in [("float16", "float32"), ("int8", "int8_float32")]:
        make_ctranslate2(huggingface, kind, processor, compute_type)
    record_student(*make_student(trained, corpus, processor), processor)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
