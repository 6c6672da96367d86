"""Which cross-attention aligns best? Measures each head of a model, means of heads, and both shifted by one token, against
word alignments of the same pieces made by an aligner (eflomal, in both directions):

    alignment_rules.py LIBFERRY MODEL.gguf SOURCE TARGET FORWARD REVERSE [LINES]

SOURCE and TARGET are texts, FORWARD and REVERSE links "s-t" between their pieces, as the model's tokenizer makes them.
Prints for each rule the alignment error rate (Och and Ney 2003), where links of both directions are sure and others possible.
"""
import ctypes
import os
import struct
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_float, c_int32, c_size_t, c_void_p

import numpy


class Text(ctypes.Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class Options(ctypes.Structure):
    """ferry_options as engine/ferry.h has them, up to `alignment`, and room for fields that follow."""

    _fields_ = [
        ("size", c_size_t), ("from", c_char_p), ("to", c_char_p), ("policy", c_int32), ("beam", c_int32),
        ("nbest", c_int32), ("length_penalty", c_float), ("word_penalty", c_float), ("early_stopping", c_int32),
        ("max_source", c_int32), ("max_length", c_int32), ("length_factor", c_float), ("length_extra", c_int32),
        ("min_length", c_int32), ("repetition_penalty", c_float), ("no_repeat_ngram", c_int32),
        ("renormalize", c_int32), ("forced_first_id", c_int32), ("forced_last_id", c_int32),
        ("suppressed_ids", c_void_p), ("suppressed_count", c_size_t), ("shortlist", c_int32), ("scores", c_int32),
        ("threads", c_int32), ("batch", c_int32), ("memory_limit", c_size_t), ("progress", c_void_p),
        ("user", c_void_p), ("alignment", c_int32), ("others", c_int32 * 99),
    ]


class Error(ctypes.Structure):
    _fields_ = [("status", c_int32), ("message", ctypes.c_char * 508)]


def check(status, error):
    if status != 0:
        raise SystemExit(error.message.decode())


def with_head(model, layer, head, path):
    """A copy of the model file that names another head."""
    for key, value in ((b"ferry.alignment_layer", layer), (b"ferry.alignment_head", head)):
        at = model.index(struct.pack("<Q", len(key)) + key + struct.pack("<I", 5)) + 8 + len(key) + 4
        model[at : at + 4] = struct.pack("<i", value)
    with open(path, "wb") as file:
        file.write(model)


def weights_of(ferry, path, sources, targets):
    """For each pair [T, S], without the ends of sentence."""
    error, model, translator, result = Error(), c_void_p(), c_void_p(), c_void_p()
    check(ferry.ferry_model_open(path.encode(), 0, byref(model), byref(error)), error)
    options = Options()
    check(ferry.ferry_options_default(model, byref(options), c_size_t(ctypes.sizeof(options))), error)
    options.alignment = 1
    check(ferry.ferry_translator_create(model, byref(options), byref(translator), byref(error)), error)
    pairs = [(Text * len(texts))(*[Text(t.encode(), len(t.encode())) for t in texts]) for texts in (sources, targets)]
    check(ferry.ferry_score(translator, *pairs, c_size_t(len(sources)), byref(result), byref(error)), error)
    found = []
    for line in range(len(sources)):
        count = c_size_t()
        rows = []
        for t in range(ferry.ferry_result_tokens(result, c_size_t(line), c_size_t(0)) - 1):
            row = ferry.ferry_result_weights(result, c_size_t(line), c_size_t(0), c_size_t(t), None, byref(count))
            rows.append(row[: count.value])
        found.append(numpy.array(rows))
    ferry.ferry_result_destroy(result)
    ferry.ferry_translator_destroy(translator)
    ferry.ferry_model_close(model)
    return found


def links(line):
    return {tuple(map(int, link.split("-"))) for link in line.split()}


def error_rate(weights, sure, possible):
    hits = total = 0
    for rows, s, p in zip(weights, sure, possible):
        ends = rows.shape[1] - 1 if rows.size else 0
        found = {(int(row.argmax()), t) for t, row in enumerate(rows) if row.argmax() < ends}
        hits += len(found & s) + len(found & p)
        total += len(found) + len(s)
    return 1 - hits / total


def shifted(weights):
    return [numpy.concatenate([rows[1:], rows[-1:]]) for rows in weights]


def main():
    ferry = ctypes.CDLL(sys.argv[1])
    ferry.ferry_result_tokens.restype = c_size_t
    ferry.ferry_result_weights.restype = POINTER(c_float)
    ferry.ferry_model_info.restype = c_char_p
    lines = int(sys.argv[7]) if len(sys.argv) > 7 else None
    sources, targets, forward, reverse = (open(path, encoding="utf-8").read().splitlines()[:lines] for path in sys.argv[3:7])
    both = [(links(f), links(r)) for f, r in zip(forward, reverse)]
    sure, possible = [f & r for f, r in both], [f | r for f, r in both]
    with open(sys.argv[2], "rb") as file:
        model = bytearray(file.read())
    error, opened = Error(), c_void_p()
    check(ferry.ferry_model_open(sys.argv[2].encode(), 0, byref(opened), byref(error)), error)
    layers, heads = (int(ferry.ferry_model_info(opened, key)) for key in (b"decoder.layers", b"decoder.heads"))
    path = os.path.join(tempfile.mkdtemp(), "model.gguf")
    every = []
    for layer in range(layers):
        own = []
        for head in range(heads):
            with_head(model, layer, head, path)
            own.append(weights_of(ferry, path, sources, targets))
        every.append(own)
    mean = lambda several: [sum(rows) / len(rows) for rows in zip(*several)]
    rules = {f"layer {n}, head {h}": every[n][h] for n in range(layers) for h in range(heads)}
    rules |= {f"layer {n}, mean": mean(every[n]) for n in range(layers)}
    rules["last two layers, mean"] = mean([head for own in every[-2:] for head in own])
    rules["all layers, mean"] = mean([head for own in every for head in own])
    for name, weights in rules.items():
        print(f"{name}: {error_rate(weights, sure, possible):.3f}, shifted {error_rate(shifted(weights), sure, possible):.3f}")
    os.remove(path)
    os.rmdir(os.path.dirname(path))


main()
