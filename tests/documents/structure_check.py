"""What check_json.py, check_markdown.py and check_po.py have in common: documents are translated by functions in the
place of a model (translate_document.c) and by the model, and a reader that we did not write looks at the result."""
import html
import re
import subprocess
import sys


def run(*command, source):
    return subprocess.run(command, input=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def words(text):
    """Those of a text, the same ones in capitals and with letters twice; without accelerators."""
    return re.sub(r"(.)\1+", r"\1", re.sub("[_&]", "", html.unescape(text)).lower()).split()


class StructureChecker:
    """A subclass has the name of its `format`, and compare(name, way, source, after)."""

    def __init__(self, arguments):
        self.tool, ferry, model = arguments
        self.translate = [ferry, "translate", "-q", "-m", model, "--format", self.format]
        self.failures = 0

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
