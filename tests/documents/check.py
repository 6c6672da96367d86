#!/usr/bin/env python3
"""Documents of this machine's packages: what is not text stays, whatever the translator does.

    check.py TRANSLATE_DOCUMENT FERRY MODEL [MOST [MOST_TRANSLATED]]

Of each format, MOST documents of /usr/share/doc and of tests/data/documents (default: 50; subtitles, which packages do
not have, are made up) are translated by functions in the place of a model (translate_document.c), and MOST_TRANSLATED by
the model (default: 3; "0": none):
- same: one that returns its input gives the same bytes.
- upper: one that makes capitals changes nothing else, but for white space and the ">" at the beginnings of lines.
- model: html.parser sees every tag, comment and declaration as often as before, within the same elements; and a few
  regular expressions find the same times, addresses and placeholders."""
import collections
import html
import html.parser
import pathlib
import random
import re
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = {
    "text": ("copyright", "README*", "NEWS*", "TODO*", "AUTHORS*", "FAQ*"),
    "html": ("*.html",),
    "srt": (),
    "vtt": (),
}
VOID = set("area base br col embed hr img input link meta param source track wbr".split())
KEPT = re.compile(
    r"https?://[\w./~?=&#+-]*[\w/]|[\w.+-]+@[\w-]+\.[\w.-]*\w|(?<![\w%])%(?:\d\$)?[sdu]|\$?\{[^{}\n]*\}")
KEPT_IN_SUBTITLES = re.compile(KEPT.pattern + r"|\d\d:\d\d[:.,\d]+(?: --> \S+.*)?|</?[a-z][^<>]*>|ANN:|\\N|\u266a")


def documents(name, most, largest=60000):
    """At most `most` documents of `largest` bytes at most, spread over all that there are."""
    found = sorted((HERE.parent / "data/documents").glob(f"*.{name}"))
    for pattern in FORMATS[name]:
        for path in sorted(pathlib.Path("/usr/share/doc").rglob(pattern)):
            if path.is_file() and 200 <= path.stat().st_size <= largest and path.suffix != ".gz":
                try:
                    path.read_bytes().decode()
                except UnicodeDecodeError:
                    continue
                found.append(path)
    unique = list({path.read_bytes(): path for path in found}.values())
    spread = unique[:: max(1, len(unique) // most)][:most] if most else []
    made = [] if FORMATS[name] else [Made(name, seed) for seed in range(max(0, most - len(spread)))]
    return spread + made


class Made:
    """Subtitles with everything that they can have; used like a pathlib.Path."""

    def __init__(self, name, seed):
        self.name, self.random = f"{name} {seed}", random.Random(seed)
        end = self.random.choice(["\n", "\n", "\r\n"])
        cues = [self.cue(name, i) for i in range(self.random.randint(1, 30))]
        text = self.random.choice(["", "\ufeff"])
        if name == "vtt":
            text += "WEBVTT - All of it\n\nNOTE\nNot to be read,\nnot at all\n\nSTYLE\n::cue(b) {}\n\n"
        text += "\n".join(line for cue in cues for line in cue)
        self.bytes = text.replace("\n", end).encode()

    def __str__(self):
        return self.name

    def read_bytes(self):
        return self.bytes

    def sentence(self, name):
        words = self.random.choices(
            "I you we they see saw like the a house garden book never always quickly with from %s {0} Tom and".split(),
            k=self.random.randint(1, 18))
        for tag in self.random.sample(["i", "b", "u"], self.random.randint(0, 2)):
            begin = self.random.randrange(len(words))
            end = self.random.randrange(begin, len(words))
            kind = f"{tag}.loud" if name == "vtt" and tag == "b" else tag
            words[begin] = f"<{kind}>{words[begin]}"
            words[end] += f"</{tag}>"
        if self.random.random() < 0.1:
            words.insert(0, "{\\an8}" if name == "srt" else "<v\0Ann>")
        if self.random.random() < 0.2:
            words.append("&amp; so" if name == "vtt" else '<font\0color="#ff0000">so</font>')
        speaker = self.random.choice(["", "", "", "- ", "\u2013 ", ">> ", "ANN: ", "[SIGHS] ", "\u266a ", "(bell)\\N"])
        return speaker + " ".join(words) + self.random.choice(".?!")

    def cue(self, name, number):
        comma = "," if name == "srt" else "."
        times = [f"00:{(number * 3 + i) // 60:02}:{(number * 3 + i) % 60:02}{comma}{number:03}" for i in (0, 2)]
        settings = self.random.choice(["", "", " X1:0 X2:9" if name == "srt" else " align:start line:0%"])
        text = " ".join(self.sentence(name) for _ in range(self.random.randint(1, 2)))
        lines = textwrap.wrap(text, self.random.choice([30, 42, 99]), break_long_words=False,
                              break_on_hyphens=False)
        lines = [line.replace("\0", " ") for line in lines]
        blank = [""] * self.random.choice([1, 1, 1, 2])
        return ([str(number + 1)] if name == "srt" or number % 2 else []) + [" --> ".join(times) + settings] + lines + blank


class Markup(html.parser.HTMLParser):
    """What html.parser sees: `items` with the element around each, and the text."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.items, self.text, self.open = collections.Counter(), [], []
        self.feed(source)
        self.close()

    def see(self, *item):
        self.items[item + (self.open[-1] if self.open else None,)] += 1

    def handle_starttag(self, tag, attrs):
        self.see("start", tag, without_texts(self.get_starttag_text()))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.see("single", tag, without_texts(self.get_starttag_text()))

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        self.see("end", tag)

    def handle_comment(self, data):
        self.see("comment", data)

    def handle_decl(self, decl):
        self.see("declaration", decl)

    def handle_pi(self, data):
        self.see("instruction", data)

    def handle_data(self, data):
        self.text.append(data)


def without_texts(tag):
    """The tag without the values of attributes that are text."""
    return re.sub(r"""\b(alt|title|placeholder|aria-label|label|value|content)\s*=\s*("[^"]*"|'[^']*'|[^\s>]*)""", r"\1",
                  tag, flags=re.I)


def squeeze(text):
    return "".join(text.split())


class Checker:
    def __init__(self, tool, ferry, model):
        self.tool, self.ferry, self.model = tool, ferry, model
        self.failures = 0

    def expect(self, right, path, what):
        if not right:
            self.failures += 1
            print(f"check.py: {path}: {what}", file=sys.stderr)

    def run(self, *command, source, accepted=(0,)):
        done = subprocess.run([str(c) for c in command], input=source, stdout=subprocess.PIPE, check=False)
        if done.returncode not in accepted:
            self.expect(False, command, f"exit status {done.returncode}")
        return done.stdout

    def same(self, name, path):
        source = path.read_bytes()
        self.expect(self.run(self.tool, name, "same", source=source) == source, path, "not the same bytes")

    def upper(self, name, path):
        source = path.read_bytes().decode()
        after = self.run(self.tool, name, "upper", source=source.encode()).decode()
        if name == "html":  # an element of a part of a word gets the whole one
            tags = [collections.Counter(without_texts(tag) for tag in re.findall(r"<[^>]*>", text.lower())) for text in (source, after)]
            self.expect(tags[0] == tags[1], path, "other tags")
            source, after = re.sub(r"<[^>]*>", "", source), re.sub(r"<[^>]*>", "", after)
        if name in ("html", "vtt"):
            source, after = html.unescape(source), html.unescape(after)
        lines = [[re.sub(r"^[ \t>]*", "", line) for line in text.splitlines()] for text in (source, after)]
        lost = [squeeze("".join(text)).lower() for text in lines]
        self.expect(lost[0] == lost[1], path, "more than the letters changed")
        self.expect(after != source or not re.search("[a-z]{4}", source), path, "nothing was translated")

    def translated(self, name, path):
        source = path.read_bytes().decode()
        command = (self.ferry, "translate", "-q", "-m", self.model, "--format", name)
        after = self.run(*command, source=source.encode(), accepted=(0, 1))  # 1: a text stays, and a message says so
        after = after.decode()
        pattern = KEPT if name in ("html", "text") else KEPT_IN_SUBTITLES
        kept = set() if name == "html" else set(pattern.findall(source))
        for text in kept:
            numbers = source.count(text), after.count(text)
            self.expect(numbers[0] == numbers[1], path, f"{text!r}: {numbers[0]} times, now {numbers[1]} times")
        if name != "html":
            return 0, sum(source.count(text) for text in kept)
        tags = [Markup(text).items for text in (source, after)]
        self.expect(tags[0] == tags[1], path, f"missing: {tags[0] - tags[1]}, added: {tags[1] - tags[0]}")
        return sum(tags[0].values()), 0


def main():
    checker = Checker(*sys.argv[1:4])
    most = int(sys.argv[4]) if len(sys.argv) > 4 else 50
    most_translated = int(sys.argv[5]) if len(sys.argv) > 5 else 3
    for name in FORMATS:
        found, tags, kept = documents(name, most), 0, 0
        for path in found:
            checker.same(name, path)
            checker.upper(name, path)
        translated = documents(name, most_translated, 6000)  # which take the shipped model some seconds
        for path in translated:
            numbers = checker.translated(name, path)
            tags, kept = tags + numbers[0], kept + numbers[1]
        print(f"{name}: {len(found)} documents; {len(translated)} translated, with {tags} tags and {kept} kept texts",
              flush=True)
        checker.expect(found, name, "no documents")
    sys.exit(1 if checker.failures else 0)


if __name__ == "__main__":
    main()
