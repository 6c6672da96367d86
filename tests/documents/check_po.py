#!/usr/bin/env python3
"""PO files of this machine's packages: GNU gettext's programs read what is filled, and everything else as before.

    check_po.py TRANSLATE_DOCUMENT FERRY MODEL [MOST [MOST_TRANSLATED]]

MOST catalogs (default: 50; where there are fewer, others are made of the entries of tests/data/documents/everything.po)
lose every other translation. They are translated by functions in the place of a model (translate_document.c), and
MOST_TRANSLATED (default: 3) by the model:
- same: a function that returns its input gives the same bytes.
- upper, longer: as gettext reads them, translations have the words of their source, but for the case and number of
  letters.
- upper, longer, the model: msgfmt accepts the file, with the fuzzy entries (-c: the header, placeholders, line ends at the
  beginning and the end, numbers of plural forms); msgattrib finds the other entries as they were; what is filled has the
  placeholders and the blanks of its source."""
import ast
import collections
import pathlib
import random
import re

from structure_check import StructureChecker, run, words

HERE = pathlib.Path(__file__).resolve().parent
EVERYTHING = HERE.parent / "data/documents/everything.po"
KEPT = re.compile(r"%%|%(?:\d+\$)?[-0-9.+#]*[hlqjztL]{0,2}[diouxXeEfFgGaAcspn]|%\(\w+\)[sd]|\{\w+\}|<[^<>\s]+>|\n\Z|\A\s|\s\Z")

LABEL = re.compile(r"<[A-Za-z]{3,}>")  # it is translated where no words are beside it


def accepts(source):
    return run("msgfmt", "-c", "-f", "-o", "/dev/null", "-", source=source).returncode == 0


def catalogs():
    """Those with English texts in UTF-8."""
    for path in sorted(pathlib.Path("/usr/share/locale").glob("*/LC_MESSAGES/*.mo")):
        if 1000 <= path.stat().st_size <= 60000:
            yield path


def empty_some(path):
    """The catalog as a PO file in which every other entry has lost its translation."""
    full = run("msgunfmt", path, source=b"").stdout
    if b"charset=UTF-8" not in full:
        return None
    entries = full.split(b"\n\n")
    for i in range(1, len(entries), 2):
        entries[i] = re.sub(rb'^(msgstr(?:\[\d+\])?) "(?:.*\n?(?=\n|msgstr|"|\Z))(?:^".*"\n?)*', rb'\1 ""\n', entries[i],
                            flags=re.MULTILINE).rstrip(b"\n")
        if re.search(rb"%[sdu]", entries[i]):
            entries[i] = b"#, c-format\n" + entries[i]
    source = b"\n\n".join(entries) + b"\n"
    return source if accepts(full) and accepts(source) else None


def make(seed):
    choose = random.Random(seed)
    header, *entries = EVERYTHING.read_text().rstrip("\n").split("\n\n")
    entries = [entry for entry in entries if "#~" not in entry]
    choose.shuffle(entries)
    text = "\n\n".join([header, *entries[: choose.randint(1, len(entries))]]) + "\n"
    return text.replace("\n", choose.choice(["\n", "\n", "\r\n"])).encode()


def documents(most):
    """Pairs of a name and bytes."""
    found = [(EVERYTHING, EVERYTHING.read_bytes())]
    paths = list(catalogs()) if most > 1 else []
    for path in paths[:: max(1, len(paths) // (2 * most))]:
        source = empty_some(path) if len(found) < most else None
        if source is not None:
            found.append((path, source))
    return found + [(f"made from everything.po, number {seed}", make(seed)) for seed in range(max(0, most - len(found)))]


def entries(source):
    """Of fuzzy entries: [(context, id, plural), [translation …]]."""
    text = run("msgattrib", "--only-fuzzy", "--no-obsolete", "--no-wrap", "-", source=source).stdout.decode()
    for entry in text.split("\n\n"):
        fields = collections.defaultdict(str)
        for line in entry.split("\n"):
            match = re.match(r'(msg\w+(?:\[\d+\])?) (".*")$|(".*")$', line)
            if match:
                name = match[1] or name
                fields[name] += ast.literal_eval(match[2] or match[3])
        if fields["msgid"]:
            yield fields


class Checker(StructureChecker):
    format, needs = "po", "msgattrib"
    documents = staticmethod(documents)

    def compare(self, path, way, source, after):
        checked = run("msgfmt", "-c", "-f", "-o", "/dev/null", "-", source=after)
        if checked.returncode != 0:
            self.fail(path, f"{way}: {checked.stderr.decode()}")
        for options in (["--translated", "--no-fuzzy"], ["--clear-fuzzy", "--empty"], ["--only-obsolete"]):
            found = [run("msgattrib", *options, "-", source=text).stdout for text in (source, after)]
            if found[0] != found[1]:
                self.fail(path, f"{way}: other entries by msgattrib {' '.join(options)}")
        for entry in entries(after):
            forms = [name for name in entry if name.startswith("msgstr")]
            self.counts["texts"] += len(forms)
            for name in forms:
                # The first form may have the plural's translation.
                ids = [entry["msgid"]] if name == "msgstr" else [entry["msgid"], entry["msgid_plural"]]
                kept = [sorted(KEPT.findall(LABEL.sub("<>", text))) for text in [entry[name], *ids]]
                self.counts["placeholders"] += len(kept[0])
                if kept[0] not in kept[1:] or (way != "model" and words(entry[name]) not in map(words, ids)):
                    self.fail(path, f"{way}: {ids}: found {entry[name]!r}")


if __name__ == "__main__":
    Checker.main()
