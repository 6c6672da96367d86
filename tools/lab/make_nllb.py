#!/usr/bin/env python3
"""A model of NLLB-200-distilled-600M's shape, with random weights, to measure speed: make_nllb.py OUT

    pip install numpy safetensors protobuf sentencepiece ctranslate2

Writes OUT/huggingface (2.5 GB, for `ferry convert`) and the same weights as OUT/ctranslate2-int8 (0.6 GB), as
ct2-transformers-converter would. What layers add is small (GAIN), so that the logit of one word, the decoder's last one,
is far above the others, as in trained models. Languages have embeddings of zeros: the first word depends on the source.
Translations are LENGTH tokens long, the language among them: in Ferry by generation_config.json.
"""
import json
import os
import shutil
import sys

import ctranslate2.specs.transformer_spec as specs
import numpy as np
import safetensors.numpy
from sentencepiece import sentencepiece_model_pb2 as protobuf

SMALL = os.path.join(os.path.dirname(__file__), "../../tests/data/models/huggingface-small/nllb")  # its text, not its weights
LAYERS, WIDTH, INNER, HEADS, PIECES, LENGTH = 12, 1024, 4096, 16, 256_000, 25
DEVIATION, GAIN = 0.02, 0.05
random = np.random.default_rng(1)


def matrix(rows, columns, gain=1.0):
    return random.standard_normal((rows, columns), np.float32) * np.float32(DEVIATION * gain)


def layer(name, attentions):
    """Tensors of a layer of M2M-100, by name."""
    tensors = {}
    for attention in attentions:
        for part in "qkv":
            tensors[f"{name}.{attention}.{part}_proj.weight"] = matrix(WIDTH, WIDTH)
        gain = 1.0 if attention == "encoder_attn" else GAIN
        tensors[f"{name}.{attention}.out_proj.weight"] = matrix(WIDTH, WIDTH, gain)
    tensors[f"{name}.fc1.weight"], tensors[f"{name}.fc2.weight"] = matrix(INNER, WIDTH), matrix(WIDTH, INNER, GAIN)
    tensors.update({key.replace(".weight", ".bias"): np.zeros(len(m), np.float32) for key, m in tensors.items()})
    for norm in [f"{attention}_layer_norm" for attention in attentions] + ["final_layer_norm"]:
        tensors[f"{name}.{norm}.weight"], tensors[f"{name}.{norm}.bias"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    return tensors


def make_weights(words, first_language):
    embeddings = matrix(words, WIDTH)
    embeddings[:4] = embeddings[first_language:] = 0
    weights = {"model.shared.weight": embeddings}
    for side, attentions in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        for i in range(LAYERS):
            weights |= layer(f"model.{side}.layers.{i}", attentions)
        weights[f"model.{side}.layer_norm.weight"] = np.ones(WIDTH, np.float32)
        weights[f"model.{side}.layer_norm.bias"] = np.zeros(WIDTH, np.float32)
    return weights


# ---- the two forms ----


def write_huggingface(out, weights, model):
    os.makedirs(out, exist_ok=True)
    safetensors.numpy.save_file(weights, os.path.join(out, "model.safetensors"))
    with open(os.path.join(SMALL, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config.update(d_model=WIDTH, vocab_size=len(weights["model.shared.weight"]), num_hidden_layers=LAYERS,
                  max_position_embeddings=1024)
    for side in ("encoder", "decoder"):
        config.update({f"{side}_layers": LAYERS, f"{side}_ffn_dim": INNER, f"{side}_attention_heads": HEADS})
    generation = {"decoder_start_token_id": 2, "eos_token_id": 2, "pad_token_id": 1, "min_new_tokens": LENGTH,
                  "max_new_tokens": LENGTH}
    for name, value in (("config", config), ("generation_config", generation)):
        with open(os.path.join(out, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(value, file, indent=2)
    with open(os.path.join(out, "sentencepiece.bpe.model"), "wb") as file:
        file.write(model.SerializeToString())
    shutil.copy(os.path.join(SMALL, "special_tokens_map.json"), out)


def positions():
    angles = np.arange(2, 1026)[:, None] * np.exp(-np.log(10000) / (WIDTH // 2 - 1) * np.arange(WIDTH // 2))
    return np.concatenate([np.sin(angles), np.cos(angles)], 1).astype(np.float32)


def write_ctranslate2(out, weights, pieces):
    spec = specs.TransformerSpec.from_config((LAYERS, LAYERS), HEADS, pre_norm=True)

    def take(target, *names):
        """Matrices below each other, or a norm."""
        both = [np.concatenate([weights[f"{name}.{part}"] for name in names]) for part in ("weight", "bias")]
        if hasattr(target, "gamma"):
            target.gamma, target.beta = both
        else:
            target.weight, target.bias = both

    for side, target in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        embeddings = target.embeddings[0] if isinstance(target.embeddings, list) else target.embeddings
        embeddings.weight, target.scale_embeddings = weights["model.shared.weight"], WIDTH**0.5
        target.position_encodings.encodings = positions()
        take(target.layer_norm, f"model.{side}.layer_norm")
        for i, each in enumerate(target.layer):
            name = f"model.{side}.layers.{i}"
            take(each.self_attention.linear[0], *[f"{name}.self_attn.{part}_proj" for part in "qkv"])
            take(each.self_attention.linear[1], f"{name}.self_attn.out_proj")
            take(each.self_attention.layer_norm, f"{name}.self_attn_layer_norm")
            if side == "decoder":
                take(each.attention.linear[0], f"{name}.encoder_attn.q_proj")
                take(each.attention.linear[1], *[f"{name}.encoder_attn.{part}_proj" for part in "kv"])
                take(each.attention.linear[2], f"{name}.encoder_attn.out_proj")
                take(each.attention.layer_norm, f"{name}.encoder_attn_layer_norm")
            take(each.ffn.linear_0, f"{name}.fc1")
            take(each.ffn.linear_1, f"{name}.fc2")
            take(each.ffn.layer_norm, f"{name}.final_layer_norm")
    spec.decoder.projection.weight = weights["model.shared.weight"]
    spec.register_source_vocabulary(pieces)
    spec.register_target_vocabulary(pieces)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token = "</s>"
    spec.validate()
    spec.optimize(quantization="int8")
    os.makedirs(out, exist_ok=True)
    spec.save(out)


def main(out):
    model = protobuf.ModelProto()
    with open(os.path.join(SMALL, "sentencepiece.bpe.model"), "rb") as file:
        model.ParseFromString(file.read())
    for i in range(len(model.pieces), PIECES):
        model.pieces.add(piece=f"▁word{i}", score=-i)
    with open(os.path.join(SMALL, "special_tokens_map.json"), encoding="utf-8") as file:
        languages = json.load(file)["additional_special_tokens"]
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *[each.piece for each in model.pieces[3:]], *languages, "<mask>"]
    weights = make_weights(len(pieces), len(model.pieces) + 1)
    write_huggingface(os.path.join(out, "huggingface"), weights, model)
    write_ctranslate2(os.path.join(out, "ctranslate2-int8"), weights, pieces)
    print(f"{len(pieces)} words, {sum(m.size for m in weights.values()) / 1e6:.0f} million weights")


if __name__ == "__main__":
    main(sys.argv[1])
