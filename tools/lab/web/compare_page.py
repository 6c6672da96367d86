#!/usr/bin/env python3
"""Ferry, with both of its modules, beside Bergamot and Transformers.js in a page in Chromium, alternating:

    compare_page.py FERRY BERGAMOT TRANSFORMERS FIREFOX MARIAN LINES [ROUNDS]

FERRY: the program; its npm package is build-wasm/package. BERGAMOT, TRANSFORMERS: node_modules with @browsermt/bergamot-translator, and
with @huggingface/transformers. FIREFOX: a model as Firefox downloads it. MARIAN: a model of Hugging Face, and in MARIAN/onnx what
export_onnx.py makes of it. Memory: of all processes of the browser, with a system that has translated, less that without one.
"""
import contextlib
import gzip
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TREE / "tests/js"))
from webdriver import Browser, serve  # noqa: E402

STARTS = """
    const {compare, report, startBergamot, startFerry, startTransformers} = await import("./measure.js");
    const ferry = (model, wasm) => () => startFerry(new URL("ferry/ferry.js", location), model, new URL(`ferry/${wasm}`, location));
    const starts = {
        "Ferry, Firefox's model": ferry("firefox.gguf", "ferry-relaxed.wasm"),
        "the same without relaxed vectors": ferry("firefox.gguf", "ferry.wasm"),
        "Bergamot": () => startBergamot("bergamot/translator-worker.js", async (kind) => (await fetch(`firefox/${kind}`)).arrayBuffer()),
        "Ferry, Marian's model": ferry("marian.gguf", "ferry-relaxed.wasm"),
        "Transformers.js": () => startTransformers("transformers_worker.js"),
    };
"""
GROUPS = (("Ferry, Firefox's model", "the same without relaxed vectors", "Bergamot"), ("Ferry, Marian's model", "Transformers.js"))


def fill(site, ferry, bergamot, transformers, firefox, marian):
    """What the page loads."""
    shutil.copytree(TREE / "build-wasm/package", site / "ferry")
    shutil.copytree(bergamot / "@browsermt/bergamot-translator/worker", site / "bergamot")
    shutil.copytree(transformers / "@huggingface/transformers/dist", site / "transformers")
    shutil.copytree(transformers / "onnxruntime-web/dist", site / "onnxruntime")
    shutil.copytree(marian / "onnx", site / "models/marian")
    for name in ("measure.js", "transformers_worker.js"):
        shutil.copy(TREE / "tools/lab/web" / name, site)
    (site / "firefox").mkdir()
    for kind, pattern in (("model", "*alphas.bin"), ("shortlist", "lex*.bin"), ("vocab", "*.spm")):
        shutil.copy(next(firefox.glob(pattern)), site / "firefox" / kind)
    (site / "index.html").write_text("<!doctype html><title>Comparison</title>")
    for source, target in ((firefox, "firefox"), (marian, "marian")):
        subprocess.run([ferry, "convert", source, "-o", site / f"{target}.gguf", "--type", "int8", "--quiet"], check=True)


def memory(profile):
    """Of the browser's processes, in MB: a page that is shared by n processes counts as a part of n (Pss)."""
    total = 0
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(profile).encode() in (process / "cmdline").read_bytes():
                lines = (process / "smaps_rollup").read_text().splitlines()
                total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1e3


def main():
    ferry, bergamot, transformers, firefox, marian, text = map(pathlib.Path, sys.argv[1:7])
    rounds = int(sys.argv[7]) if len(sys.argv) > 7 else 5
    lines = text.read_text(encoding="utf-8").split("\n")[:-1]
    with tempfile.TemporaryDirectory(prefix="ferry-compare-") as folder:
        folder = pathlib.Path(folder)
        site = folder / "site"
        fill(site, ferry, bergamot, transformers, firefox, marian)
        _, page = serve(site)
        for names in GROUPS:
            with Browser(folder / "times", deadline=3600) as browser:
                browser.go(page)
                print(*browser.run(STARTS + """
                    const [names, lines, rounds] = given, found = await compare(
                        Object.fromEntries(names.map((name) => [name, starts[name]])), lines, rounds);
                    return names.slice(1).flatMap((name) => report(found, [names[0], name]));""", names, lines, rounds), sep="\n")
            for name in names:
                with Browser(folder / name, deadline=3600) as browser:
                    browser.go(page)
                    before = memory(folder / name)
                    browser.run(STARTS + "const system = await starts[given[0]](); await system.translate(given[1]);", name, lines)
                    print(f"{name}: {memory(folder / name) - before:.0f} MB")
        for name, paths in (("Ferry", [site / "ferry/ferry-relaxed.wasm", *site.glob("ferry/*.js")]),
                            ("Bergamot", list(site.glob("bergamot/*.*"))),
                            ("Transformers.js", [site / "transformers/transformers.min.js", *(
                                site / f"onnxruntime/ort-wasm-simd-threaded{kind}" for kind in (".mjs", ".wasm"))])):
            print(f"{name}: {sum(len(gzip.compress(path.read_bytes(), 9)) for path in paths) / 1e6:.2f} MB of code by gzip")


if __name__ == "__main__":
    main()
