"""check_report.py PAGE JSON: the page is well-formed, complete in itself, its links lead somewhere, and its tables hold the
numbers of the same run's JSON. Prints what is wrong."""
import json
import re
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"br", "meta"}
page = open(sys.argv[1], encoding="utf-8").read()
found = json.load(open(sys.argv[2], encoding="utf-8"))
wrong = []


class Parser(HTMLParser):
    """HTML as browsers see it: open elements, ids, links, scripts, texts of tables."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.links, self.tables, self.cell = [], [], [], {}, None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "a":
            self.links.append(attributes["href"])
        if tag in ("script", "link", "img", "iframe", "object", "base", "form"):
            wrong.append(f"an element <{tag}>")
        wrong.extend(f"{name} of <{tag}>" for name in attributes if name in ("src", "style", "srcset") or name[:2] == "on")
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"], [])
        if tag == "tr":
            self.table.append([])
        if tag in ("td", "th"):
            self.table[-1].append("")
            self.cell = tag

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            wrong.append(f"</{tag}> at {self.getpos()}")
        if tag == self.cell:
            self.cell = None

    def handle_data(self, data):
        if self.cell:
            self.table[-1][-1] += data


root = ElementTree.fromstring(page.split("\n", 1)[1])  # raises where it is not XML
parser = Parser()
parser.feed(page)
if parser.open:
    wrong.append(f"not closed: {parser.open}")
if len(parser.ids) != len(set(parser.ids)):
    wrong.append("ids that occur twice")
outside = re.sub(r'xmlns="http://www\.w3\.org/(1999/xhtml|2000/svg)"', "", page)
if re.search(r"https?:|//[a-z]|@import|url\(", outside):
    wrong.append("something from outside")
wrong.extend(f"a link to {link}" for link in parser.links if link[:1] != "#" or link[1:] not in parser.ids)
numbers = {name: int(n) for name, n in re.findall(r'<figure id="fig-([^"]*)">\s*<figcaption><b>Figure (\d+)\.', page)}
if sorted(numbers.values()) != list(range(1, len(numbers) + 1)) or len(numbers) != page.count("<figure"):
    wrong.append(f"numbers of figures: {numbers}")
for name, text in re.findall(r'href="#fig-([^"]*)">([^<]*)</a>', page):
    if text != f"figure&#160;{numbers.get(name)}":
        wrong.append(f"{name} is called {text}")
for name in numbers:  # not a frame alone
    (figure,) = [f for f in root.iter("{http://www.w3.org/1999/xhtml}figure") if f.get("id") == f"fig-{name}"]
    shapes = [e for e in figure.iter() if e.tag.split("}")[1] in ("polyline", "rect", "circle") and e.get("class") != "seen"]
    if not shapes:
        wrong.append(f"figure {name} is empty")

models = found["models"]
decimals = {"bleu": 1, "chrf": 1}
for key in ("bleu", "chrf", "nats", "end_nats", "length_ratio", "early_stop", "repetition"):
    head, *rows = parser.tables[key]
    if head != ["model"] + [c["name"] for c in models[0]["cells"]]:
        wrong.append(f"head of {key}: {head}")
    for model, row in zip(models, rows, strict=True):
        expected = [model["name"]]
        for value, low, high in (c[key] for c in model["cells"]):
            digits = decimals.get(key, 2)
            text = "–" if value is None else f"{value:.{digits}f}"
            expected.append(text if low is None else f"{text} ±{(high - low) / 2:.{digits}f}")
        if row != expected:
            wrong.append(f"{key}: expected {expected}, found {row}")
for model, row in zip(models, parser.tables["table-speed"][1:], strict=True):
    if row[1].split(" ")[0] != f"{model['tokens_per_s'][0]:.0f}" or row[5] != f"{model['file_bytes'] / 1e6:.1f}":
        wrong.append(f"speed: {row}")
for model in models:  # R² in the figure of the encoder is in the JSON, too
    layers = model.get("probes", {}).get("encoder", [])
    if any(layer["r2_seen"] is not None for layer in layers) and "r2-encoder" not in numbers:
        wrong.append("no figure of what was probed")
for text in wrong:
    print(text)
sys.exit(len(wrong) > 0)
