#!/usr/bin/env python3
"""What becomes of the texts of the documents in measured_files.tsv: measure_texts.py BUILD MODEL [FIGURES [BEFORE]]

A line of the list has a format, a package, and a path: of the machine, or of this repository ("ferry"). A file that is
absent is reported as not run. Read are the first 3 kB, up to the end of a paragraph (JSON: all); of a catalog (.mo) the
texts, all of them without a translation. Prints the table of docs/performance.md:

texts       all that a format's reader finds
translated
kept        there is nothing to translate, or the translation is the same
net, piece  left in the source language, because a kept piece is missing, or the net has another reason
loop, cut   left: the translation repeats itself, or is too long
other       left for other reasons
words       in 1,000, of texts, that are kept as they are, code in marks of its own excepted

FIGURES: a file for the output of count_texts (count_texts.c), a line for each text. BEFORE: such a file of another
build; what is kept now, and was not, is listed: "+kept" texts, "+piece" parts of texts."""
import collections
import gzip
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FORMATS = ("text", "html", "markdown", "po", "json")
MOST_BYTES = 3072
ENDS = {"html": rb"</(?:p|li|tr|dd|dt|div|pre|h\d)>\s", "json": rb"\Z"}  # of paragraphs; other formats: a blank line
LOOPS = ("the translation repeats itself", "the translation ended at max_length")
OTHERS = ("it is not UTF-8", "its markup would have changed", "the translation is blank")


def read(name, path, most=MOST_BYTES):
    """The first `most` bytes, up to the end of a paragraph; of a catalog those of one that is empty."""
    if path.suffix == ".mo":
        source = subprocess.run(["msgunfmt", "--no-wrap", path], capture_output=True, check=True).stdout
        command = ["msgconv", "--no-wrap", "-t", "UTF-8"]
        source = subprocess.run(command, input=source, capture_output=True, check=True).stdout
        header, *entries = source.split(b"\n\n")
        empty = [re.sub(rb'^(msgstr(?:\[\d+\])?) ".*"$', rb'\1 ""', entry, flags=re.MULTILINE) for entry in entries]
        source = b"\n\n".join([header, *empty])
    else:
        source = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if len(source) <= most or name == "json":
        return source
    ends = [match.end() for match in re.finditer(ENDS.get(name, rb"\n[ \t\r]*\n"), source[:most])]
    return source[: ends[-1] if ends else most]


def listed(name_of_list):
    """Of each file in the list that is there: its format, its path."""
    for line in (HERE / name_of_list).read_text().splitlines():
        name, package, path = line.split("\t")
        path = ROOT / path  # which is `path`, if that begins at the root
        if path.is_file():
            yield name, path
        else:
            print(f"not run: {path} of {package} is absent", file=sys.stderr)


def count(build, model, name, paths, out):
    """Runs count_texts on copies of the paths, and returns its lines, as lists of fields."""
    with tempfile.TemporaryDirectory() as folder:
        copies = {}
        for number, path in enumerate(paths):
            copy = pathlib.Path(folder) / str(number)
            copy.write_bytes(read(name, path))
            copies[str(copy)] = str(path)
        command = [f"{build}/tests/count_texts", model, name]
        done = subprocess.run(command, input="\n".join(copies).encode(), stdout=subprocess.PIPE, check=True)
    lines = [line.split("\t", 4) for line in done.stdout.decode("utf-8", "replace").split("\n") if line]
    for line in lines:
        line[1] = copies[line[1]]
        out.append("\t".join([name, *line]))
    return lines


def print_row(name, files, lines):
    outcomes = collections.Counter(what for what, *_ in lines)
    reasons = collections.Counter(why for what, _, _, why, _ in lines if what == "left")
    loops, others = (sum(reasons[why] for why in some) for some in (LOOPS, OTHERS))
    net = outcomes["left"] - loops - others
    kept, words = (sum(int(why.split("/")[i]) for what, _, _, why, _ in lines if what == "text") for i in (0, 1))
    texts = outcomes["done"] + outcomes["kept"] + outcomes["left"]
    print(f"| {name} | {files} | {texts:,} | {outcomes['done']:,} | {outcomes['kept']:,} | {net} | "
          f"{100 * net / max(1, outcomes['done'] + outcomes['left']):.1f} % | {loops} | {others} | "
          f"{1000 * kept / max(1, words):.1f} |", flush=True)
    for why, number in reasons.most_common():
        print(f"    {number} {why}", file=sys.stderr)


def print_new(before, after):
    counts = [collections.Counter(re.sub(r"\t\d+\t", "\t\t", line) for line in lines) for lines in (before, after)]
    for line, number in sorted((counts[1] - counts[0]).items()):
        name, what, path, _, _, text = line.split("\t", 5)
        if what in ("kept", "piece"):
            print(f"+{what}\t{name}\t{path}\t{number}\t{text}")


def main(build, model, figures=None, before=None):
    paths, out = collections.defaultdict(list), []
    for name, path in listed("measured_files.tsv"):
        paths[name].append(path)
    print("| | files | texts | translated | kept | net, piece | of prose | loop, cut | other | words kept, of 1,000 |")
    print("| --- |" + " ---: |" * 9)
    for name in FORMATS:
        print_row(name, len(paths[name]), count(build, model, name, paths[name], out))
    if figures:
        pathlib.Path(figures).write_text("".join(line + "\n" for line in out))
    if before:
        print_new(pathlib.Path(before).read_text().splitlines(), out)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
