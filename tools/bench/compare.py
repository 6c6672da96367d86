#!/usr/bin/env python3
"""Ferry beside CTranslate2: the same weights, text, threads and options, alternating in one run; medians and the ratio.

    pip install ctranslate2 sentencepiece
    compare.py --ferry build/ferry --model MODEL.gguf --ct2 DIRECTORY --spm source.spm --input TEXT [--beam 1] [--single]

MODEL.gguf and DIRECTORY are conversions of one model (`ferry convert`, `ct2-transformers-converter`). Text in, text out:
segmentation is in the time. Load: from the start of main (Python's import apart) to ready. Memory: the process's peak; for
CTranslate2 above what importing it takes.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("--ferry", "--model", "--ct2", "--spm", "--input"):
        parser.add_argument(name, required=True)
    parser.add_argument("--beam", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--single", action="store_true", help="one line at a time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compute-type", default="float32")
    parser.add_argument("--output", help=argparse.SUPPRESS)  # set: be the CTranslate2 process of one measurement
    return parser.parse_args()


def peak_mb():
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_ct2(a):
    os.environ["OMP_NUM_THREADS"] = str(a.threads)
    import ctranslate2, sentencepiece
    base, start = peak_mb(), time.perf_counter()
    spm = sentencepiece.SentencePieceProcessor(model_file=a.spm)
    inter, intra = (1, a.threads) if a.single else (a.threads, 1)
    translator = ctranslate2.Translator(a.ct2, compute_type=a.compute_type, inter_threads=inter, intra_threads=intra)

    def translate(lines):
        pieces = [x + ["</s>"] for x in spm.encode(lines, out_type=str)]
        out = translator.translate_batch(pieces, beam_size=a.beam, max_batch_size=a.batch, max_decoding_length=511)
        return [spm.decode(x.hypotheses[0]) for x in out], sum(len(x.hypotheses[0]) + 1 for x in out)

    lines = open(a.input, encoding="utf-8").read().splitlines()
    loaded = time.perf_counter()
    translate(lines[:1])
    first = time.perf_counter()
    results = [translate([line]) for line in lines] if a.single else [translate(lines)]
    end = time.perf_counter()
    with open(a.output, "w", encoding="utf-8") as f:
        f.writelines(text + "\n" for texts, _ in results for text in texts)
    print(json.dumps({"load_s": loaded - start, "first_s": first - loaded, "translate_s": end - first,
                      "target_tokens": sum(n for _, n in results), "peak_rss_mb": peak_mb() - base}))


def measure(a, system, output):
    if system == "ferry":
        command = [a.ferry, "bench", "translate", "-m", a.model, "-i", a.input, "-o", output, "--beam", str(a.beam),
                   "--threads", str(a.threads), "--batch", str(a.batch), "--json"] + ["--single"] * a.single
    else:
        command = [sys.executable, *sys.argv, "--output", output]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout.strip().split("\n")[-1])


def main():
    a = arguments()
    if a.output:
        return run_ct2(a)
    systems, rows, texts = ("ctranslate2", "ferry"), {"ctranslate2": [], "ferry": []}, {}
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(a.rounds):
            for system in systems:
                output = os.path.join(scratch, system)
                rows[system].append(measure(a, system, output))
                texts[system] = open(output, encoding="utf-8").read().split("\n")
    same = sum(x == y for x, y in zip(*texts.values())) - 1
    print(f"median of {a.rounds}; same text on {same} of {len(texts['ferry']) - 1} lines")
    medians = {s: {k: statistics.median(r[k] for r in rows[s]) for k in rows["ctranslate2"][0]} for s in systems}
    for system, m in medians.items():
        ratio = medians["ctranslate2"]["translate_s"] / m["translate_s"]
        print(f"{system:12} {m['target_tokens'] / m['translate_s']:8.0f} tokens/s {1e3 * m['load_s']:8.1f} ms load "
              f"{1e3 * m['first_s']:8.1f} ms first line {m['peak_rss_mb']:6.0f} MB   x{ratio:.2f}")


main()
