#!/usr/bin/env python3
"""Makes tests/data/models/huggingface-5 from the shared models/huggingface-5: the same models with their weights rounded
to float16, and what transformers 5 computes from those. make_huggingface_5.py SHARED/models/huggingface-5 OUTPUT"""
import gzip
import json
import pathlib
import shutil
import sys

import torch
import transformers
from safetensors.torch import load_file, save_file

UNPACKED = "t5gated"  # whose tokenizer.json tests change
LANGUAGES = {"nllb": "eng_Latn", "mbart50": "en_XX"}


def record(model, tokenizer, golden, line):
    """One line of golden.json; the empty one has ids alone."""
    inputs = tokenizer(golden["prefix"] + line["text"], return_tensors="pt")
    recorded = {"text": line["text"], "input_ids": inputs["input_ids"][0].tolist()}
    for name, run in golden["runs"].items() if line["text"] else ():
        with torch.no_grad():
            result = model.generate(**inputs, **golden["all_runs"], **run, return_dict_in_generate=True,
                                    output_scores=True)
        recorded[name] = {"ids": result.sequences.tolist(),
                          "text": tokenizer.batch_decode(result.sequences, skip_special_tokens=True)}
        if "sequences_scores" in result:
            recorded[name]["scores"] = result.sequences_scores.tolist()
    return recorded


def make(source, target):
    target.mkdir(parents=True)
    weights = {name: tensor.half() for name, tensor in load_file(source / "model.safetensors").items()}
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    for name in ("config.json", "generation_config.json", "tokenizer_config.json"):
        shutil.copyfile(source / name, target / name)
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    tokenizer = transformers.AutoTokenizer.from_pretrained(target)
    if source.name in LANGUAGES:
        tokenizer.src_lang = LANGUAGES[source.name]
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(target, dtype=torch.float32).eval()
    golden = json.loads((source / "golden.json").read_text())
    golden["made_by"] = f"transformers {transformers.__version__}, torch {torch.__version__}, float32, eager"
    golden["lines"] = [record(model, tokenizer, golden, line) for line in golden["lines"]]
    (target / "golden.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
    if source.name == UNPACKED:
        return
    with gzip.GzipFile(target / "tokenizer.json.gz", "wb", mtime=0) as packed:
        packed.write((target / "tokenizer.json").read_bytes())
    (target / "tokenizer.json").unlink()


for directory in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    make(directory, pathlib.Path(sys.argv[2]) / directory.name)
