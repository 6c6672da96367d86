"""Which cross-attention aligns best? Measures each head of a model, means of heads, and both shifted by one token, against
word alignments of the same pieces made by an aligner (eflomal, in both directions):

    alignment_rules.py LIBFERRY MODEL.gguf SOURCE TARGET FORWARD REVERSE [LINES]

SOURCE and TARGET are texts, FORWARD and REVERSE links "s-t" between their pieces, as the model's tokenizer makes them.
Prints for each rule the alignment error rate (Och and Ney 2003), where links of both directions are sure and others possible.
"""
import os
import pathlib
import struct
import sys
import tempfile
from ctypes import POINTER, byref, c_float, c_int, c_size_t, c_void_p

import numpy

os.environ["FERRY_LIBRARY"] = sys.argv[1]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/python"))
import ferry  # noqa: E402

FUNCTIONS = (  # that the module does not have: name, result, parameters
    ("ferry_score", c_int, ferry._lib.ferry_translate_prefixed.argtypes),
    ("ferry_result_token_count", c_size_t, [c_void_p, c_size_t, c_size_t]),
    ("ferry_result_weights", POINTER(c_float), [c_void_p, *3 * [c_size_t], *2 * [POINTER(c_size_t)]]),
)
for name, result, parameters in FUNCTIONS:
    getattr(ferry._lib, name).restype, getattr(ferry._lib, name).argtypes = result, parameters


def with_head(model, layer, head, path):
    """A copy of the model file that names another head."""
    for key, value in ((b"ferry.alignment_layer", layer), (b"ferry.alignment_head", head)):
        at = model.index(struct.pack("<Q", len(key)) + key + struct.pack("<I", 5)) + 8 + len(key) + 4
        model[at : at + 4] = struct.pack("<i", value)
    with open(path, "wb") as file:
        file.write(model)


def weights_of(path, sources, targets):
    """For each pair [T, S], without the ends of sentence."""
    found = []
    with ferry.Model(path) as model, ferry.Translator(model, alignment=1) as translator:
        result = translator._run("ferry_score", ferry._texts(sources), ferry._texts(targets), len(sources))
    for line in range(len(sources)):
        count = c_size_t()
        rows = []
        for t in range(ferry._lib.ferry_result_token_count(result, line, 0) - 1):
            row = ferry._lib.ferry_result_weights(result, line, 0, t, None, byref(count))
            rows.append(row[: count.value])
        found.append(numpy.array(rows))
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
    lines = int(sys.argv[7]) if len(sys.argv) > 7 else None
    sources, targets, forward, reverse = (open(path, encoding="utf-8").read().splitlines()[:lines] for path in sys.argv[3:7])
    both = [(links(f), links(r)) for f, r in zip(forward, reverse)]
    sure, possible = [f & r for f, r in both], [f | r for f, r in both]
    with open(sys.argv[2], "rb") as file:
        model = bytearray(file.read())
    with ferry.Model(sys.argv[2]) as opened:
        layers, heads = (int(opened.info[key]) for key in ("decoder.layers", "decoder.heads"))
    path = os.path.join(tempfile.mkdtemp(), "model.gguf")
    every = []
    for layer in range(layers):
        own = []
        for head in range(heads):
            with_head(model, layer, head, path)
            own.append(weights_of(path, sources, targets))
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
