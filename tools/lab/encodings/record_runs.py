#!/usr/bin/env python3
"""Measures the runs of tools/train/zoo.py, and keeps what docs/encodings-compared.md is made of:

    record_runs.py FERRY RUNS

RUNS is the folder of the runs; what runs.json.xz has already stays. To a record of ferry.lab, this adds the rate, nats on the
development text, by which rates are chosen, the verbs of agreement.tsv, and, of RoPE, what scaled rotations make of the test.
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import agreement
from ferry import inspect
from ferry.lab import record

HERE = pathlib.Path(__file__).resolve().parent
OUTPUT, TEXTS = HERE / "runs.json.xz", HERE.parents[2] / "models/encodings"
FACTORS = (2, 4)
LENGTH = 32  # the trained one, with the end of sentence


def scalings(head_width):
    """Names, and parameters of RoPE (engine/position/rope.c): NTK-aware ones are another theta."""
    for factor in FACTORS:
        yield f"ntk {factor}", f"theta={10000 * factor ** (head_width / (head_width - 2)):.0f}"
        yield f"linear {factor}", f"scaling=linear factor={factor}"
        yield f"llama3 {factor}", f"scaling=llama3 factor={factor} original_length={LENGTH} fast=4 slow=1"
        yield f"yarn {factor}", (f"scaling=yarn factor={factor} original_length={LENGTH} fast=32 slow=1 "
                                 f"attention_factor={0.1 * math.log(factor) + 1:.6f}")


def nats(model, text):
    """Sums and counts over the pieces of each reference, end of sentence included."""
    targets, _ = inspect.targets(model, text.references)
    found = [record.nats_of(model, inspect.tokenize(model, line), target) for line, target in zip(text.sources, targets)]
    return [[round(float(each.sum()), 1) for each in found], [len(each) for each in found]]


def measure(path, run):
    test, dev = (record.Text(folder / f"{name}.en", folder / f"{name}.de") for folder, name in
                 ((TEXTS, "test"), (run.parent, "dev")))
    model = inspect.open_model(path)
    own = record.record(path, test, threads=2)
    common = {"rate": float(re.search(r"rate ([0-9.]+)", own["training"]).group(1)), "run": run.name}
    yield own | common | {"description": "", "dev": nats(model, dev), "agreement": agreement.right(model, HERE / "agreement.tsv")}
    if re.fullmatch(r"rope-1-rate=[0-9.]+", run.name):
        for name, position in scalings(inspect.sizes(model).encoder_head_width):
            scaled = record.record(path, test, threads=2, position=position)
            yield scaled | common | {"scaling": name, "probes": None, "description": ""}


def main():
    ferry, runs = sys.argv[1:]
    records = record.load(OUTPUT) if OUTPUT.exists() else []
    for run in sorted(path.parent for path in pathlib.Path(runs).glob("*/config.json")):
        if any(own["run"] == run.name for own in records):
            continue
        print(run.name, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{run.name}.gguf"
            subprocess.run([ferry, "convert", run, "-o", path, "--type", "int8", "--quiet"], check=True)
            for own in measure(path, run):
                records.append(own | {"path": path.name})
        record.save(OUTPUT, records)


if __name__ == "__main__":
    main()
