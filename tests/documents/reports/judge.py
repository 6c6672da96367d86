#!/usr/bin/env python3
"""Documents of public reports about other programs: does what must come back come back?

    judge.py [--show] [--known RESULTS.md] PROGRAM MODEL ROUND_FOLDER...

A template of a round is a document with marks: ⟦…⟧ around prose, which must come back changed (⟦?…⟧: or as it is), and
⟨…⟩ within it around each piece that must be there as often as in the source. The template without marks is the input;
for PO, NN-name.in.po is, and NN-name.po is the template of the output. For each file this program prints
- RIGHT: all bytes outside of ⟦⟧ are as before (PO: but for wrapped strings and "fuzzy"), all prose is changed, and has
  its pieces, its numbers from 13 on (in any format, and no others) and its { } [ ] | \\ @ ^ = as often as before;
- STAYS: the same, but prose is unchanged, with exit status 1 and a message that names a line of its paragraph;
- WRONG, and why: anything else."""
import argparse
import csv
import functools
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

MARKS = re.compile("⟦[?]?|[⟧⟨⟩]")
SEGMENT = re.compile("⟦([?]?)(.*?)⟧", re.S)


def unwrap(catalog):
    """`catalog` with each string in one line, and without what says that an entry is fuzzy."""
    catalog = re.sub(r"^#, fuzzy\n|(?<=^#), fuzzy(?=,)|, fuzzy$", "", catalog, flags=re.M)
    return catalog.replace('"\n"', "")


def fill(template, catalog):
    """`catalog`, where entries that are empty, but not so in `template`, have their source text."""
    wanted, entries = template.split("\n\n"), catalog.split("\n\n")
    for i in range(min(len(wanted), len(entries))):
        if "⟦" in wanted[i] and re.sub(r'^(msgstr\S*) ".*"$', r'\1 ""', wanted[i], flags=re.M) == entries[i]:
            entries[i] = MARKS.sub("", wanted[i])
    return "\n\n".join(entries)


def numbers(text):
    """The numbers of `text` from 13 on, by their digits."""
    found = (re.sub(r"\D", "", number) for number in re.findall(r"\d+(?:[.,\u00a0\u202f]\d+)*", text))
    return sorted(digits for digits in found if int(digits) > 12)


def fault(ending, marked, before, text):
    """What is wrong with `text`, the translation of the segment `marked`, which `before` precedes; or ""."""
    source, line = MARKS.sub("", marked), before[before.rfind("\n") + 1:]
    for piece in re.findall("⟨(.*?)⟩", marked, re.S):
        if text.count(piece) != source.count(piece):
            return f"{piece!r} is there {text.count(piece)} times for {source.count(piece)}"
    if text != text.strip() or not text or ending != "html" and re.search(r"\n\s*\n", text):
        return "blanks at the ends, or a blank line"
    if "\n" in text and (ending in ("json", "po") or ending == "md" and re.match(r" *[#|]", line)):
        return "a line end"
    beginning = re.search(r"\n([ \t>]*)", source) or re.match(r"([ \t>]*)", line)
    if ending != "html" and not all(rest.startswith(beginning[1]) for rest in text.split("\n")[1:]):
        return f"a line that does not begin with {beginning[1]!r}"
    if ending == "json":
        text = re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    elif ending == "html":
        source, text = html.unescape(source), html.unescape(text)
    escape = r"\\(?=[!-/:-@\[-`{-~])" if ending == "md" else r'\\(?=")'
    source, text = (re.sub(escape, "", words) for words in (source, text))
    for mark in "{}[]|\\@^=":
        if text.count(mark) != source.count(mark):
            return f"{mark} is there {text.count(mark)} times for {source.count(mark)}"
    return "" if numbers(text) == numbers(source) else "other numbers"


def segments(ending, template, output, good):
    """What is in `output` in the place of the template's segments, if `good` without a fault; or None."""
    parts = re.split("⟦[?]?(.*?)⟧", template, flags=re.S)

    @functools.lru_cache(None)
    def match(i, at):
        if not output.startswith(parts[i], at):
            return None
        begin = at + len(parts[i])
        if i == len(parts) - 1:
            return () if begin == len(output) else None
        for found in re.finditer(f"(?={re.escape(parts[i + 2])})", output[begin:]):
            text, rest = output[begin:begin + found.start()], match(i + 2, begin + found.start())
            if rest is not None and not (good and fault(ending, parts[i + 1], output[:begin], text)):
                return (text, *rest)
        return None
    return match(0, 0)


def judge(ending, marked, source, output, status, messages):
    """The result, and why."""
    if status not in (0, 1):
        return "WRONG", f"exit status {status}: {messages.strip()}"
    template, output = (marked, output) if ending != "po" else (unwrap(marked), fill(unwrap(marked), unwrap(output)))
    if ending == "json":
        try:
            json.loads(output)
        except ValueError as error:
            return "WRONG", f"no JSON: {error}"
    found = segments(ending, template, output, True) or segments(ending, template, output, False)
    if not found:
        lost = [part for part in re.split("⟦.*?⟧|\n", template, flags=re.S) if part not in output]
        return "WRONG", f"other bytes outside of prose: {lost}"
    lines, left = [int(line) for line in re.findall(r"line (\d+): not translated", messages)], []
    blank = "\n" if ending == "json" else "\n\n"
    for text, segment, place in zip(found, SEGMENT.finditer(template), SEGMENT.finditer(marked)):
        if why := fault(ending, segment[2], template[:segment.start()], text):
            return "WRONG", f"{why}: {text!r}"
        if segment[1] or text != MARKS.sub("", segment[2]):
            continue
        paragraphs, i = source.split(blank), marked.count(blank, 0, place.start())
        first = blank.join(paragraphs[:i] + [""]).count("\n") + 1
        if status != 1 or not any(first <= line <= first + paragraphs[i].count("\n") for line in lines):
            return "WRONG", f"stays without a message, exit status {status}: {text!r}"
        left.append(text)
    return ("STAYS", "; ".join(map(repr, left))) if left else ("RIGHT", "")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--show", action="store_true", help="print whole outputs and messages")
    arguments.add_argument("--known", help="a page of results: fails if a document that is RIGHT there is not")
    for name, count in (("program", None), ("model", None), ("folders", "+")):
        arguments.add_argument(name, nargs=count)
    options, counts, worse = arguments.parse_args(), {"RIGHT": 0, "STAYS": 0, "WRONG": 0}, []
    known = open(options.known).read().splitlines() if options.known else []
    right = {row.split(" | ")[0][2:] for row in known if row.endswith("| RIGHT |")}
    for folder in map(pathlib.Path, options.folders):
        for row in csv.DictReader((folder / "table.tsv").open(), delimiter="\t", quoting=csv.QUOTE_NONE):
            path = folder / row["file"]
            marked, given = path.read_bytes().decode(), path.with_suffix(".in.po")
            source = given.read_bytes().decode() if given.exists() else MARKS.sub("", marked)
            with tempfile.TemporaryDirectory() as temporary:
                document = pathlib.Path(temporary) / path.name
                document.write_bytes(source.encode())
                command = [options.program, "translate", "--threads", "1", "-m", options.model, "-i", document]
                done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            output, messages = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
            result, why = judge(row["format"], marked, source, output, done.returncode, messages)
            print(f"{result} {folder.name}/{path.name}: {why}" + f"\n{output}{messages}" * options.show)
            counts[result] += 1
            if result != "RIGHT" and f"{folder.name[5:]}/{path.name}" in right:
                worse.append(path.name)
    print(", ".join(f"{count} {result}" for result, count in counts.items()))
    if worse:
        sys.exit(f"judge.py: no longer RIGHT: {', '.join(worse)}")


if __name__ == "__main__":
    main()
