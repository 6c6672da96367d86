"""Which cross-attention aligns best? Measures each head of a model, means of heads, and both shifted by one token, against
word alignments of the same pieces made by an aligner (eflomal, in both directions):

    alignment_rules.py MODEL.gguf SOURCE TARGET FORWARD REVERSE [LINES]

SOURCE and TARGET are texts, FORWARD and REVERSE links "s-t" between their pieces, as the model's tokenizer makes them.
Prints for each rule the alignment error rate (Och and Ney 2003), where links of both directions are sure and others possible.
"""
import os
import struct
import sys
import tempfile

import ferry
import numpy


def with_head(model, layer, head, path):
    """A copy of the model file that names another head."""
    for key, value in ((b"ferry.alignment_layer", layer), (b"ferry.alignment_head", head)):
        at = model.index(struct.pack("<Q", len(key)) + key + struct.pack("<I", 5)) + 8 + len(key) + 4
        model[at : at + 4] = struct.pack("<i", value)
    with open(path, "wb") as file:
        file.write(model)


def weights_of(path, sources, targets):
    """For each pair [T, S], without the ends of sentence."""
    with ferry.Model(path) as model, ferry.Translator(model, alignment=True) as translator:
        return [numpy.array(each.alignment[:-1]) for each in translator.score(sources, targets)]


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
    lines = int(sys.argv[6]) if len(sys.argv) > 6 else None
    sources, targets, forward, reverse = (open(path, encoding="utf-8").read().splitlines()[:lines] for path in sys.argv[2:6])
    both = [(links(f), links(r)) for f, r in zip(forward, reverse)]
    sure, possible = [f & r for f, r in both], [f | r for f, r in both]
    with open(sys.argv[1], "rb") as file:
        model = bytearray(file.read())
    with ferry.Model(sys.argv[1]) as opened:
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
