#!/usr/bin/env python3
"""JSON files of this machine's packages: Python reads the same keys and values, but for the texts.

    check_json.py TRANSLATE_DOCUMENT FERRY MODEL [MOST [MOST_TRANSLATED]]

MOST files (default: 50) are translated by functions in the place of a model (translate_document.c), and MOST_TRANSLATED
(default: 3) by the model:
- same: a function that returns its input gives the same bytes.
- upper, longer: texts have the words that they had, but for the case and number of letters.
- upper, longer, the model: all else is as it was: what is beside strings byte for byte, keys in their order, what belongs
  to a key "@…"."""
import json
import pathlib
import re

from structure_check import StructureChecker, words

EVERYTHING = pathlib.Path(__file__).resolve().parent.parent / "data/documents/everything.json"
STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')


def documents(most):
    """Pairs of a name and bytes: of files that Python reads, and that are none of numbers alone."""
    found = [(EVERYTHING, EVERYTHING.read_bytes())]
    paths = sorted(path for root in ("/usr/share", "/usr/lib") for path in pathlib.Path(root).rglob("*.json"))
    for path in paths[:: max(1, len(paths) // (2 * most))] if most > 1 else []:
        source = path.read_bytes() if path.is_file() and 100 <= path.stat().st_size <= 60000 else b""
        try:
            json.loads(source)
        except ValueError:
            continue
        if len(found) < most and b'"' in source:
            found.append((path, source))
    return found


class Checker(StructureChecker):
    format, needs = "json", None
    documents = staticmethod(documents)

    def differ(self, way, before, after):
        """What differs, or None."""
        if isinstance(before, str) and isinstance(after, str):
            self.counts["texts"] += 1
            self.counts["changed texts"] += before != after
            same = way == "model" or words(before) == words(after)
            return None if same else (before, after)
        if isinstance(before, dict) and isinstance(after, dict) and list(before) == list(after):
            pairs = [(before[key], after[key]) for key in before if key[:1] != "@"]
            if any(before[key] != after[key] for key in before if key[:1] == "@"):
                return before, after
        elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
            pairs = list(zip(before, after))
        else:
            return None if type(before) is type(after) and before == after else (before, after)
        return next(filter(None, (self.differ(way, *pair) for pair in pairs)), None)

    def compare(self, path, way, source, after):
        try:
            difference = self.differ(way, json.loads(source), json.loads(after))
        except ValueError as error:
            difference = str(error)
        if difference:
            self.fail(path, f"{way}: {difference}")
        if STRING.sub(b'""', source) != STRING.sub(b'""', after):
            self.fail(path, f"{way}: other bytes between strings")


if __name__ == "__main__":
    Checker.main()
