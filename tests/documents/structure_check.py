"""What check_json.py, check_markdown.py and check_po.py have in common: documents are translated by functions in the
place of a model (translate_document.c) and by the model, and a reader that we did not write looks at the result."""
import collections
import html
import re
import shutil
import subprocess
import sys


def run(*command, source):
    return subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def words(text):
    """Those of a text, the same ones in capitals and with letters twice; without accelerators."""
    return re.sub(r"(.)\1+", r"\1", re.sub("[_&]", "", html.unescape(text)).lower()).split()


class StructureChecker:
    """A subclass has the name of its `format`, the program that it needs, or None, documents(most), pairs of a name and
    bytes, and compare(name, way, source, after), which counts what it sees in `counts`."""

    def __init__(self, tool, ferry, model):
        self.tool = tool
        self.translate = [ferry, "translate", "-q", "-m", model, "--format", self.format]
        self.failures = 0
        self.counts = collections.Counter()

    def fail(self, name, what):
        self.failures += 1
        print(f"check_{self.format}.py: {name}: {what}", file=sys.stderr)

    def check(self, name, source, ways):
        for way in ways:
            command = self.translate if way == "model" else [self.tool, self.format, way]
            done = run(*command, source=source)
            if done.returncode != 0 and not (way == "model" and b"not translated: " in done.stderr):
                self.fail(name, f"{way}: exit status {done.returncode}: {done.stderr.decode()}")
            elif way != "same":
                self.compare(name, way, source, done.stdout)
            elif done.stdout != source:
                self.fail(name, "not the same bytes")

    def check_all(self, documents, ways):
        self.counts.clear()
        for name, source in documents:
            self.check(name, source, ways)
        if documents and (not self.counts or 0 in self.counts.values()):
            self.fail("everything", "nothing was translated")
        return f"{len(documents)} documents with " + ", ".join(f"{n} {what}" for what, n in self.counts.items())

    @classmethod
    def main(cls):
        """Arguments: TRANSLATE_DOCUMENT FERRY MODEL [MOST [MOST_TRANSLATED]]"""
        if cls.needs is not None and shutil.which(cls.needs) is None:
            print(f"check_{cls.format}.py: not run, no {cls.needs}: the structure of translations", file=sys.stderr)
            sys.exit(77)
        checker = cls(*sys.argv[1:4])
        found = cls.documents(int(sys.argv[4]) if len(sys.argv) > 4 else 50)
        most_translated = int(sys.argv[5]) if len(sys.argv) > 5 else 3
        print(f"{cls.format}: by functions: {checker.check_all(found, ('same', 'upper', 'longer'))}")
        print(f"{cls.format}: by the model: {checker.check_all(found[:most_translated], ('model',))}")
        sys.exit(1 if checker.failures else 0)
