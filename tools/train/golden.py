#!/usr/bin/env python3
"""Writes models with random weights and what this forward pass computes of them, for `ferry verify`.

    golden.py OUTPUT [ENCODING …]

OUTPUT/ENCODING becomes a directory in the export layout with golden.safetensors: three sentences as one padded batch,
as docs/export-layout.md describes. Without a list: every encoding, and two mixed ones.
"""
import os
import sys

import torch
from safetensors.torch import save_file

import data
import model as transformer
import positions

SOURCES, TARGETS, GREEDY = (23, 9, 40), (19, 12, 33), 24


def randomize(model):
    """Every parameter, also those that training starts from 0 or 1."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn_like(parameter) * max(float(parameter.abs().mean()), 0.1)
        model.shared.weight[data.PAD] = 0


def greedy(model, source):
    encoded, ids, ended = model.encode(source), torch.full((len(source), 1), data.EOS), torch.zeros(len(source)).bool()
    for _ in range(GREEDY):
        logits = model.logits(model.decode(encoded, source, ids))[:, -1]
        logits[:, data.PAD] = -torch.inf
        chosen = logits.argmax(-1).masked_fill(ended, data.EOS)
        ids = torch.cat([ids, chosen[:, None]], 1)
        ended |= chosen == data.EOS
    return ids[:, 1:]


def write(name, directory):
    sizes = transformer.Sizes(vocab_size=61, d_model=48, attention_heads=6, ffn_dim=96, encoder_layers=3,
                              decoder_layers=2)
    model = transformer.Translator(sizes, positions.make(name), data.PAD).eval()
    randomize(model)
    ids = [torch.randint(3, 61, (length,)).tolist() for length in (*SOURCES, *TARGETS)]
    source = torch.from_numpy(data.pad(ids[:3]))
    target = torch.from_numpy(data.pad([[data.EOS] + row for row in ids[3:]]))
    encoded = model.encode(source) * (source != data.PAD)[..., None]
    golden = {"source_ids": source.int(), "source_lengths": torch.tensor(SOURCES, dtype=torch.int32),
              "encoder_output": encoded, "decoder_input_ids": target.int(), "logits": model(source, target),
              "greedy_ids": greedy(model, source).int()}
    transformer.export(model, data.IDS, directory, {})
    save_file({key: value.contiguous() for key, value in golden.items()}, os.path.join(directory, "golden.safetensors"))


def main():
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    names = sys.argv[2:] or [*positions.TYPES, "rope-alibi", "none-t5"]
    with torch.no_grad():
        for seed, name in enumerate(names):
            torch.manual_seed(seed)
            write(name, os.path.join(sys.argv[1], name))


if __name__ == "__main__":
    main()
