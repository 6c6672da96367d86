#!/usr/bin/env python3
"""Opens a model file with the `gguf` package: an independent reader must find the same keys, tensors and values.

    gguf_package.py MODEL.gguf [HUGGINGFACE_DIRECTORY]

With the directory it was converted from (and the `safetensors` package), weights are compared, too. Exit 77: skipped."""

import os
import sys


def skip(reason):
    print(f"gguf_package: not run: {reason}")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


try:
    import numpy
    from gguf import GGMLQuantizationType, GGUFReader
except ImportError as problem:
    skip(problem)

LANES = 16


def read_row(panels, n):
    """Row n of a weight matrix from its panels [P, K, 16]."""
    return panels[n // LANES, :, n % LANES]


def check(condition, what):
    if not condition:
        sys.exit(f"gguf_package: {what}")


def check_keys(values):
    check(values["general.architecture"] == "ferry", "general.architecture")
    check(values["general.alignment"] == 64, "general.alignment")
    check(values["ferry.format"] == 1, "ferry.format")
    for feature in ("encoder-decoder", "panels16", "norm:layernorm", "policy:huggingface"):
        check(feature in values["ferry.features"], f"feature {feature}")
    for stack in ("encoder", "decoder"):
        for key in ("layers", "heads", "head_width", "ffn_width", "vocab_size"):
            check(values[f"ferry.{stack}.{key}"] > 0, f"ferry.{stack}.{key}")
        scale = values[f"ferry.{stack}.head_width"] ** -0.5
        check(abs(values[f"ferry.{stack}.attention_scale"] - scale) < 1e-6, f"ferry.{stack}.attention_scale")
    if values["ferry.tokenizer.kind"] == "sentencepiece":
        pieces = values["ferry.tokenizer.source.pieces"]
        check(len(pieces) == values["ferry.encoder.vocab_size"], "number of pieces")
        check(pieces[values["ferry.tokenizer.source.unk_id"]] == "<unk>", "piece <unk>")
        check(len(values["ferry.tokenizer.source.model"]) > 1000, "SentencePiece model")
    check(list(values["ferry.eos_ids"]) != [], "ferry.eos_ids")


def expected_shapes(values):
    """Tensor name → shape, slowest first; matrices as [panels, K, 16]."""
    width = values["ferry.d_model"]

    def panels(rows, columns):
        return (-(-rows // LANES), columns, LANES)

    shapes = {}
    if values["ferry.tied_embeddings"]:
        shapes["token_embd.weight"] = panels(values["ferry.encoder.vocab_size"], width)
    else:
        shapes["enc.token_embd.weight"] = panels(values["ferry.encoder.vocab_size"], width)
        shapes["dec.token_embd.weight"] = panels(values["ferry.decoder.vocab_size"], width)
    if not values["ferry.tied_output"]:
        shapes["output.weight"] = panels(values["ferry.decoder.vocab_size"], width)
    if values["ferry.output_bias"]:
        shapes["output.bias"] = (values["ferry.decoder.vocab_size"],)
    for stack, short in (("encoder", "enc"), ("decoder", "dec")):
        inner = values[f"ferry.{stack}.heads"] * values[f"ferry.{stack}.head_width"]
        ffn = values[f"ferry.{stack}.ffn_width"]
        attentions = ["attn"] if short == "enc" else ["attn", "cross_attn"]
        for layer in range(values[f"ferry.{stack}.layers"]):
            block = f"{short}.blk.{layer}"
            for attention in attentions:
                for letter in "qkv":
                    shapes[f"{block}.{attention}_{letter}.weight"] = panels(inner, width)
                    shapes[f"{block}.{attention}_{letter}.bias"] = (inner,)
                shapes[f"{block}.{attention}_o.weight"] = panels(width, inner)
                shapes[f"{block}.{attention}_o.bias"] = (width,)
            shapes[f"{block}.ffn_up.weight"] = panels(ffn, width)
            shapes[f"{block}.ffn_up.bias"] = (ffn,)
            shapes[f"{block}.ffn_down.weight"] = panels(width, ffn)
            shapes[f"{block}.ffn_down.bias"] = (width,)
            for norm in attentions + ["ffn"]:
                shapes[f"{block}.{norm}_norm.weight"] = shapes[f"{block}.{norm}_norm.bias"] = (width,)
        if values[f"ferry.{stack}.final_norm"]:
            shapes[f"{short}.output_norm.weight"] = shapes[f"{short}.output_norm.bias"] = (width,)
        if values[f"ferry.{stack}.position.type"] == "learned":
            shapes[f"{short}.position.weight"] = (values[f"ferry.{stack}.position.max_positions"], width)
    return shapes


def check_tensors(values, tensors):
    shapes = expected_shapes(values)
    check(set(shapes) == set(tensors), f"names differ: {sorted(set(shapes) ^ set(tensors))}")
    matrix_type = GGMLQuantizationType.F16 if "type:f16" in values["ferry.features"] else GGMLQuantizationType.F32
    for name, shape in shapes.items():
        tensor = tensors[name]
        check(tuple(tensor.data.shape) == shape, f"{name}: expected {shape}, found {tensor.data.shape}")
        expected = matrix_type if len(shape) == 3 else GGMLQuantizationType.F32
        check(tensor.tensor_type == expected, f"{name}: {tensor.tensor_type}")
        check(tensor.data_offset % 64 == 0, f"{name}: not aligned")
    name = "token_embd.weight" if values["ferry.tied_embeddings"] else "dec.token_embd.weight"
    rows = values["ferry.decoder.vocab_size"]
    for n in range(rows, -(-rows // LANES) * LANES):
        check(not read_row(tensors[name].data, n).any(), f"{name}: padding row {n}")


def check_weights(values, tensors, directory):
    try:
        from safetensors.numpy import load_file
    except ImportError as problem:
        skip(problem)
    source = load_file(os.path.join(directory, "model.safetensors"))
    pairs = {
        "enc.blk.0.attn_q.weight": "model.encoder.layers.0.self_attn.q_proj.weight",
        "dec.blk.1.cross_attn_o.weight": "model.decoder.layers.1.encoder_attn.out_proj.weight",
        "dec.blk.0.ffn_down.weight": "model.decoder.layers.0.fc2.weight",
    }
    if values["ferry.tied_embeddings"]:
        pairs["token_embd.weight"] = "model.shared.weight"
    else:
        pairs["output.weight"] = "lm_head.weight"
    for name, origin in pairs.items():
        matrix = source[origin]
        dtype = tensors[name].data.dtype
        for n in (0, 1, 17, len(matrix) - 1):
            found = read_row(tensors[name].data, n)
            check(numpy.array_equal(found, matrix[n].astype(dtype)), f"{name}[{n}] differs from {origin}")
    bias = tensors["enc.blk.0.attn_q.bias"].data
    check(numpy.array_equal(bias, source["model.encoder.layers.0.self_attn.q_proj.bias"]), "a bias differs")


def main(path, directory=None):
    if not os.path.exists(path):
        skip(f"{path} does not exist")
    reader = GGUFReader(path)
    values = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")}
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    check_keys(values)
    check_tensors(values, tensors)
    if directory is not None:
        check_weights(values, tensors, directory)
    print(f"gguf_package: {path}: {len(values)} keys and {len(tensors)} tensors as expected")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
