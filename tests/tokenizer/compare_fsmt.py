#!/usr/bin/env python3
"""Compares the ids that Ferry makes of texts for FSMT with those of transformers (its tokenizer needs sacremoses):

    compare_fsmt.py FERRY ANSWER_TEXTS CORPUS LINES HOSTILE [SOURCE TARGET]

CORPUS: files, gzipped or not, separated by commas; LINES of them, in any order, and HOSTILE ones that are made here.
SOURCE and TARGET: other languages than English and German, for Moses' rules. Two things are left out: characters that
Python's Unicode lacks (Ferry's may have them), and special tokens ("<unk>"), which transformers takes for its own.
"""
import gzip
import json
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unicodedata

from transformers import FSMTTokenizer

MODEL = pathlib.Path(__file__).parent.parent / "data/families/fsmt"
PARTS = ["a", "B", "the", "Tom", "don't", "l'eau", "U.S.", "e.g.", "5,300", "1.", "a-b", "--", "...", "&amp;", "<b>", "|", "[", "]", "\"", "'", "`", "„", "“",
         "»", "…", "—", "，", "。", "１", "％", "\u00a0", "\u3000", "\t", "\u200b", "\u00ad", "\u0001", "é", "e\u0301", "ß", "Я", "漢", "🙂", "@-@", "@@", "</w>", "."]


def read(files, count, chosen):
    lines = []
    for file in files.split(","):
        with (gzip.open(file, "rt") if file.endswith(".gz") else open(file)) as stream:
            lines += [line.rstrip("\n") for line in stream]
    return chosen.sample(lines, min(count, len(lines)))


def hostile(chosen):
    if chosen.randrange(4) == 0:
        line = "".join(chr(chosen.choice((chosen.randrange(0x80), chosen.randrange(0x3000), chosen.randrange(0xD7FF), chosen.randrange(0x10000, 0x20000))))
                       for _ in range(chosen.randrange(40)))
        return "".join(character for character in line if unicodedata.category(character) != "Cn")
    return "".join(chosen.choice(PARTS + [" "] * 12) for _ in range(chosen.randrange(30)))


def main():
    ferry, answer_texts, files, count, more = *sys.argv[1:4], *map(int, sys.argv[4:6])
    chosen = random.Random(17)
    lines = read(files, count, chosen) + [hostile(chosen) for _ in range(more)]
    with tempfile.TemporaryDirectory() as folder:
        directory = pathlib.Path(folder) / "fsmt"
        shutil.copytree(MODEL, directory)
        settings = json.loads((directory / "tokenizer_config.json").read_text())
        settings["langs"] = sys.argv[6:8] or settings["langs"]
        (directory / "tokenizer_config.json").write_text(json.dumps(settings))
        subprocess.run([ferry, "convert", directory, "-o", f"{directory}.gguf"], check=True, stdout=subprocess.DEVNULL)
        given = b"".join(struct.pack("=I", len(line.encode())) + line.encode() for line in lines)
        found = subprocess.run([answer_texts, "ids", f"{directory}.gguf"], input=given, check=True, stdout=subprocess.PIPE).stdout.decode()
        tokenizer = FSMTTokenizer.from_pretrained(directory)
    differing = 0
    for line, ids in zip(lines, found.split("\n"), strict=False):
        if tokenizer(line).input_ids != [int(i) for i in ids.split()]:
            differing += 1
            print(f"compare_fsmt: other ids: {line!r}")
    print(f"compare_fsmt: {len(lines)} lines, {differing} with other ids")
    return differing > 0


sys.exit(main())
