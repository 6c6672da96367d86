#!/usr/bin/env python3
"""Compares Ferry with other systems: the same weights, text, threads and options, alternating in one run; medians.

    pip install sentencepiece ctranslate2 pymarian slimt    (of the last three, only those to compare)
    compare.py --ferry build/ferry --model MODEL.gguf [--model OTHER.gguf …] --input TEXT
               [--ct2 DIRECTORY] [--marian DIRECTORY] [--bergamot DIRECTORY] [--beam 1] [--threads 1] [--single]

The model files and the directories are conversions of one model:
    --ct2       of `ct2-transformers-converter`; --compute-type float32, int8 … selects its arithmetic
    --marian    model.npz, vocab.yml, decoder.yml, source.spm, as published by OPUS-MT; for pymarian
    --bergamot  *.intgemm*.bin, vocab*.spm, lex*.bin of a student with 6 and 2 layers; for slimt, which is greedy
    --spm       SentencePiece model of the source for the first two; default: source.spm in the directory
    --from, --to LANGUAGE   tags of a model of several languages, as NLLB's; for CTranslate2 and Ferry
    --length N  of CTranslate2's translations, in tokens; Ferry's is the model file's (make_nllb.py)

One process for each measurement, from text to text: the time includes segmentation.
    load        from the start of main (other systems: from the end of the imports) until it can translate
    first       the first line, alone, before the clock of the other columns starts
    ms per line all lines in one call, or with --single one by one: then p95 is the 95th percentile of a line
    MB          peak memory of the process; for other systems, without what the imports take
    same        lines whose translation equals that by the last model file
    ratio       speed in lines, relative to the first row; if translations differ much, tokens/s say more
"""
import argparse
import glob
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = ("ct2", "marian", "bergamot")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--ferry", "--input"):
        parser.add_argument(name, required=True)
    parser.add_argument("--model", required=True, action="append", metavar="FILE")
    for name in PEERS:
        parser.add_argument("--" + name, metavar="DIRECTORY")
    parser.add_argument("--spm", metavar="FILE")
    parser.add_argument("--from", dest="source", metavar="LANGUAGE")
    parser.add_argument("--to", dest="target", metavar="LANGUAGE")
    parser.add_argument("--length", type=int, metavar="N")
    parser.add_argument("--compute-type", default="float32")
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--single", action="store_true", help="one line at a time")
    parser.add_argument("--rounds", type=int, default=3)
    # If set, this process is one measurement of that system.
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--output", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.bergamot and a.beam != 1:
        parser.error("--bergamot: slimt is greedy, so --beam has to be 1")
    return a


# ---- the systems: each calls ready() after its imports and returns lines -> (texts, target tokens with eos) ----


def source_spm(a, directory):
    return a.spm or os.path.join(directory, "source.spm")


def open_ct2(a, ready):
    import ctranslate2
    import sentencepiece
    ready()
    spm = sentencepiece.SentencePieceProcessor(model_file=source_spm(a, a.ct2))
    # One worker per thread is best for throughput, all threads on one line for latency.
    inter, intra = (1, a.threads) if a.single else (a.threads, 1)
    translator = ctranslate2.Translator(a.ct2, compute_type=a.compute_type, inter_threads=inter, intra_threads=intra)
    source, target = [a.source] if a.source else [], [a.target] if a.target else []
    length = {"min_decoding_length": a.length} if a.length else {}

    def translate(lines):
        pieces = [[*source, *x, "</s>"] for x in spm.encode(lines, out_type=str)]
        out = translator.translate_batch(pieces, target_prefix=[target] * len(lines) if target else None,
                                         beam_size=a.beam, max_batch_size=min(a.batch, -(-len(lines) // inter)),
                                         max_decoding_length=a.length or 511, **length)
        found = [x.hypotheses[0] for x in out]
        return [spm.decode(x[len(target):]) for x in found], sum(len(x) + (not a.length) for x in found)

    return translate


def open_marian(a, ready):
    import pymarian
    import sentencepiece
    ready()
    spm = sentencepiece.SentencePieceProcessor(model_file=source_spm(a, a.marian))
    sizes = "--mini-batch 1 --maxi-batch 1" if a.single else f"--mini-batch {a.batch} --maxi-batch 100"
    # Everything else is as in the model's own decoder.yml.
    translator = pymarian.Translator(f"-c {a.marian}/decoder.yml --cpu-threads {a.threads} --beam-size {a.beam} "
                                     f"{sizes} --maxi-batch-sort src --max-length 1000 --max-length-crop --quiet "
                                     "--quiet-translation")

    def translate(lines):
        out = translator.translate("\n".join(" ".join(x) for x in spm.encode(lines, out_type=str)))
        pieces = [x.split() for x in out.split("\n")]
        return [spm.decode(x) for x in pieces], sum(len(x) + 1 for x in pieces)

    return translate


def import_slimt():
    """Only the extension: the package around it downloads lists of models."""
    folder = importlib.util.find_spec("slimt").submodule_search_locations[0]
    path = glob.glob(os.path.join(glob.escape(folder), "_slimt*.so"))[0]
    spec = importlib.util.spec_from_file_location("_slimt", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def open_bergamot(a, ready):
    import sentencepiece
    slimt = import_slimt()
    ready()
    paths = []
    for pattern in ("*.intgemm*.bin", "vocab*.spm", "lex*.bin"):
        found = glob.glob(os.path.join(glob.escape(a.bergamot), pattern))
        if len(found) != 1:
            raise SystemExit(f"{a.bergamot}: expected one {pattern}, found {len(found)}")
        paths += found
    spm = sentencepiece.SentencePieceProcessor(model_file=paths[1])  # slimt does not report the number of tokens
    package = slimt.Package(model=paths[0], vocabulary=paths[1], shortlist=paths[2])
    model = slimt.Model(slimt.preset.tiny(), package)
    service = slimt.Service(workers=a.threads, cache_size=0)

    def translate(lines):
        texts = [x.target.text for x in service.translate(model, lines, False)]
        return texts, sum(len(x) + 1 for x in spm.encode(texts))

    return translate


# ---- one measurement ----


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_peer(a):
    base = []
    translate = globals()["open_" + a.peer](a, lambda: base.extend((peak_mb(), time.perf_counter())))
    lines = open(a.input, encoding="utf-8").read().splitlines()
    loaded = time.perf_counter()
    translate(lines[:1])
    ends = [time.perf_counter()]
    results = []
    for part in [[line] for line in lines] if a.single else [lines]:
        results.append(translate(part))
        ends.append(time.perf_counter())
    with open(a.output, "w", encoding="utf-8") as f:
        f.writelines(text + "\n" for texts, _ in results for text in texts)
    row = {"load_s": loaded - base[1], "first_s": ends[0] - loaded, "translate_s": ends[-1] - ends[0],
           "lines": len(lines), "target_tokens": sum(n for _, n in results), "peak_rss_mb": peak_mb() - base[0]}
    if a.single:
        row["p95_ms"] = 1e3 * sorted(y - x for x, y in zip(ends, ends[1:]))[len(lines) * 95 // 100]
    print(json.dumps(row))


def measure(a, system, output):
    if system in a.model:
        command = [a.ferry, "bench", "translate", "-m", system, "-i", a.input, "-o", output, "--beam", str(a.beam),
                   "--threads", str(a.threads), "--batch", str(a.batch), "--json"] + ["--single"] * a.single
        command += ["--from", a.source] * bool(a.source) + ["--to", a.target] * bool(a.target)
    else:
        command = [sys.executable, *sys.argv, "--peer", system, "--output", output]
    threads = {name: str(a.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **threads})
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout.strip().split("\n")[-1])


# ---- the table ----


def main():
    a = arguments()
    if a.peer:
        return run_peer(a)
    systems = [peer for peer in PEERS if getattr(a, peer)] + a.model
    rows, texts = {system: [] for system in systems}, {}
    with tempfile.TemporaryDirectory() as scratch:
        output = os.path.join(scratch, "output")
        for _ in range(a.rounds):
            for system in systems:
                rows[system].append(measure(a, system, output))
                texts[system] = open(output, encoding="utf-8").read().split("\n")[:-1]
    print(f"beam {a.beam}, threads {a.threads}, {'one line at a time' if a.single else f'batches of {a.batch}'}; "
          f"{len(texts[systems[-1]])} lines, median of {a.rounds}")
    print(f"{'system':15}{'tokens/s':>10}{'ms per line':>13}{'p95 ms':>9}{'load ms':>9}{'first ms':>10}{'MB':>7}"
          f"{'same':>7}{'ratio':>8}")
    medians = {s: {k: statistics.median(r[k] for r in rows[s]) for k in rows[s][0]} for s in systems}
    for system, m in medians.items():
        p95 = f"{m['p95_ms']:.2f}" if a.single else "-"
        same = sum(x == y for x, y in zip(texts[system], texts[systems[-1]]))
        ratio = medians[systems[0]]["translate_s"] / m["translate_s"]
        print(f"{os.path.basename(system)[:14]:15}{m['target_tokens'] / m['translate_s']:10.0f}"
              f"{1e3 * m['translate_s'] / m['lines']:13.2f}{p95:>9}"
              f"{1e3 * m['load_s']:9.1f}{1e3 * m['first_s']:10.1f}{m['peak_rss_mb']:7.0f}{same:7}{ratio:8.2f}")


main()
