"""hostile_text.py FERRY SOURCE_DIR: runs every command with names and texts that would take over a terminal, in the current
folder, and prints what reaches an output unchanged. Which characters are harmless follows from Python's Unicode data."""
import json
import os
import struct
import subprocess
import sys
import termios
import unicodedata
import zipfile

FERRY, SOURCE = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
MODEL = f"{SOURCE}/models/encodings/rope.gguf"
POSITIONS = f"{SOURCE}/tests/data/positions/sinusoidal-post"
U32, I32, TEXT, ARRAY, U64, ALIGNMENT = 4, 5, 8, 9, 10, 64
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # bytes of GGUF's numbers

# Retitle the terminal, forge a line, clear the screen, read backwards; and letters that have to stay.
HOSTILE = "\x1b]0;owned\a\nforged: 1\x9b2J\u202e\u2028\u2067\u061c\u200f\ufeff\ufffe\U000e0041\x7f\r\t\bé漢😀\u200d\u200c"
BYTES = HOSTILE.encode().replace(b"2J", b"2J\x9b\xe2\x80")  # ends of nothing
SHOWN = (r"\x1b]0;owned\x07\nforged: 1\u009b2J%s\u202e\u2028\u2067\u061c\u200f\ufeff\ufffe\U000e0041\x7f\r\t\x08é漢😀"
         "\u200d\u200c")
SHOWN_TEXT, SHOWN_BYTES = SHOWN % "", SHOWN % r"\x9b\xe2\x80"
START = SHOWN_TEXT[:SHOWN_TEXT.index("2J")]  # survives where messages cut long names
failures = []


# ---- what is harmless ----

def changes_other_text(c):
    """By Unicode's data, which knows directions, and by the names of the characters that have no property for it."""
    name = unicodedata.name(c, "")
    return (unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
            or name in ("LEFT-TO-RIGHT MARK", "RIGHT-TO-LEFT MARK", "ARABIC LETTER MARK", "ZERO WIDTH NO-BREAK SPACE")
            or name.startswith(("INHIBIT ", "ACTIVATE ", "INTERLINEAR ANNOTATION "))
            or name.endswith(" DIGIT SHAPES") or 0xE0000 <= ord(c) <= 0xE007F)


def is_harmless(c):
    code = ord(c)
    if unicodedata.category(c) in ("Cc", "Zl", "Zp") or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return False
    return not (unicodedata.category(c) in ("Cf", "Cn") and changes_other_text(c))


def shown(c):
    if is_harmless(c):
        return c
    named = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return named.get(c) or (r"\x%02x" if c < "\x80" else r"\u%04x" if c <= "\uffff" else r"\U%08x") % ord(c)


# ---- model files ----

def pack(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def text(value):
    return struct.pack("<I", TEXT) + pack(value)


def texts(*values):
    return struct.pack("<IIQ", ARRAY, TEXT, len(values)) + b"".join(map(pack, values))


def integers(*values):
    return struct.pack(f"<IIQ{len(values)}i", ARRAY, I32, len(values), *values)


def integer(value):
    return struct.pack("<Ii", I32, value)


class Reader:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values[0]

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.data[self.at - size:self.at]

    def skip_value(self, kind):
        if kind == ARRAY:
            kind = self.take("I")
            for _ in range(self.take("Q")):
                self.skip_value(kind)
        elif kind == TEXT:
            self.text()
        else:
            self.at += SIZES[kind]

    def value(self):
        begin = self.at
        self.skip_value(self.take("I"))
        return self.data[begin:self.at]


def write_model(path, keys=(), more=(), tensors=()):
    """MODEL with other values of keys, with more keys, and with other names of tensors."""
    data = open(MODEL, "rb").read()
    tensor_count, key_count = struct.unpack_from("<QQ", data, 8)
    reader = Reader(data, 24)
    found = {}
    for _ in range(key_count):
        name = reader.text().decode()
        found[name] = reader.value()
    found.update({name: value for name, value in dict(keys).items() if value is not None})
    entries = b""
    for _ in range(tensor_count):
        name = reader.text().decode()
        begin = reader.at
        dimensions = reader.take("I")
        reader.at += 8 * dimensions + 4 + 8
        entries += pack(dict(tensors).get(name, name)) + data[begin:reader.at]
    start = -(-reader.at // ALIGNMENT) * ALIGNMENT
    listed = [(name.encode(), value) for name, value in found.items()] + list(more)
    head = data[:8] + struct.pack("<QQ", tensor_count, len(listed))
    head += b"".join(pack(name) + value for name, value in listed) + entries
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT) + data[start:])


def languages(*names):
    last = len(names) - 1
    return {"ferry.languages.names": texts(*names), "ferry.languages.roles": integers(*[3] * len(names)),
            "ferry.languages.source_ids": integers(*[-1] * len(names)),
            "ferry.languages.target_ids": integers(*[-1] * len(names)), "ferry.languages.source_tag": text("none"),
            "ferry.languages.target_tag": text("none"), "ferry.languages.default_source": integer(0),
            "ferry.languages.default_target": integer(last)}


# ---- models of other systems ----

def write_export(folder, change):
    """A model of tests/data/positions whose configuration is changed."""
    os.mkdir(folder)
    with open(f"{POSITIONS}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    change(config)
    with open(os.path.join(os.fsencode(folder), b"config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    os.symlink(f"{POSITIONS}/model.safetensors", os.path.join(os.fsencode(folder), b"model.safetensors"))


def write_files(folder, **files):
    os.mkdir(folder)
    for name, data in files.items():
        with open(f"{folder}/{name.replace('__', '.')}", "wb") as file:
            file.write(data)


def write_safetensors(path, tensors):
    head = json.dumps(tensors).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + b"\0" * 4)


def write_zip(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


# ---- runs ----

def complain(where, problem):
    failures.append(f"{where}: {problem}")


def check_output(where, data, tabs):
    """Of what is not harmless, only the program's own newlines and tabs."""
    try:
        found = data.decode()
    except UnicodeDecodeError as problem:
        return complain(where, f"not UTF-8: {problem}")
    for c in sorted(set(found)):
        if not is_harmless(c) and c != "\n" and not (tabs and c == "\t"):
            complain(where, f"U+{ord(c):04X} in {found!r:.200}")
    if any(line.startswith("forged") for line in found.split("\n")):
        complain(where, f"a forged line in {found!r:.200}")


def run(*arguments, expect=(), tabs=False, lines=None, environment=None, input=b""):
    """The output of a command whose two outputs are harmless and contain what is expected of the hostile text."""
    settings = {**os.environb, **{b"XDG_CACHE_HOME": os.getcwdb() + b"/cache-" + BYTES}, **(environment or {})}
    done = subprocess.run([FERRY, *arguments], input=input, env=settings, capture_output=True, check=False)
    where = " ".join(repr(a)[:60] for a in arguments)
    check_output(f"{where}: output", done.stdout, tabs)
    check_output(f"{where}: messages", done.stderr, False)
    both = (done.stdout + done.stderr).decode(errors="replace")
    for part in [expect] if isinstance(expect, str) else expect:
        if part not in both:
            complain(where, f"expected {part!r}, found {both!r:.300}")
    if lines is not None and done.stderr.count(b"\n") != lines:
        complain(where, f"expected {lines} messages, found {done.stderr!r:.300}")
    return done.stdout.decode(errors="replace")


def refuse(*arguments, expect=START, **more):
    """One message, which shows the hostile text."""
    return run(*arguments, expect=expect, lines=1, **more)


# ---- what is run ----

def check_every_character():
    characters = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    write_model("every.gguf", {"general.name": text(" ".join(characters))})
    found = run("inspect", "every.gguf").split(": encoder-decoder Transformer")[0]
    expected = " ".join(map(shown, characters))
    if found != expected:
        at = next((i for i, (a, b) in enumerate(zip(found, expected)) if a != b), min(len(found), len(expected)))
        near = slice(max(at - 9, 0), at + 9)
        complain("every character", f"expected {expected[near]!a}, found {found[near]!a}")
    for c in "\u00ad\u0600\u200b\u200c\u200d\u2060\u180e\ufe0f":
        if c not in found:
            complain("every character", f"U+{ord(c):04X} is missing")


def check_model_files():
    names = {f"ferry.origin.{key}": text(BYTES) for key in ("kind", "name", "training", "licence")}
    names.update({"general.name": text(BYTES), "ferry.origin.files": texts(BYTES, "b"), "ferry.origin.hashes": texts("0" * 64, "1" * 64),
                  "ferry.origin.sizes": struct.pack("<IIQQQ", ARRAY, U64, 2, 1, 2)})
    names.update(languages("en\x9b\u202e\u2066 other\u200f\x85", "de\u2067"))
    write_model("hostile.gguf", names)
    found = run("inspect", "hostile.gguf", expect=[SHOWN_BYTES + ": encoder", f"origin: {SHOWN_BYTES} '{SHOWN_BYTES}': ",
                "0  " + SHOWN_BYTES, r"from en\u009b\u202e\u2066 by default"])
    # Texts of several lines keep them, indented; what is not UTF-8 became U+FFFD in the library.
    for key in ("training", "license"):
        if f"\n{key}: \\x1b]0;owned\\x07\n    forged: 1\\u009b2J" not in found:
            complain(key, f"not indented: {found!r}")
    listed = run("languages", "-m", "hostile.gguf", tabs=True, expect=[r"en\u009b\u202e\u2066", r"other\u200f\u0085", r"de\u2067"])
    if [line.count("\t") for line in listed.split("\n")] != [3, 3, 0]:
        complain("languages", f"columns: {listed}")
    for name, change in {
        "position": {"keys": {"ferry.encoder.position.type": text(BYTES)}},
        "architecture": {"keys": {"general.architecture": text(BYTES)}},
        "feature": {"keys": {"ferry.features": texts("encoder-decoder", BYTES)}},
        "key": {"more": [(BYTES, integer(1)), (BYTES, integer(1))]},
        "hash": {"keys": {"ferry.hash": text(BYTES)}},
        "language": {"keys": languages(HOSTILE)},
        "tensor": {"tensors": {"enc.blk.0.attn_q.weight": BYTES[:60], "enc.blk.0.attn_k.weight": BYTES[:60]}},
    }.items():
        write_model(f"{name}.gguf", **change)
        refuse("inspect", f"{name}.gguf")


def check_arguments():
    for arguments in [["help", BYTES], ["translate", b"--" + BYTES], ["translate", b"--beam=" + BYTES, "x"],
                      ["translate", "--policy", BYTES, "x"], ["translate", "-m", BYTES, "x"], ["translate", "-i", BYTES],
                      ["translate", "--prefixes", BYTES, "x"], ["score", BYTES, BYTES], ["compare", BYTES, BYTES, "-i", MODEL],
                      ["translate", "-o", b"no/" + BYTES, "x"], ["translate", "--to", BYTES, "x"],
                      ["translate", "-m", "hostile.gguf", "--to", BYTES, "x"], ["inspect", BYTES], ["verify", BYTES],
                      ["verify", "hostile.gguf", BYTES], ["convert", BYTES], ["bench", BYTES],
                      ["verify", "hostile.gguf", "--record", b"no/" + BYTES], ["bench", "translate", "-i", BYTES]]:
        refuse(*arguments)
    refuse(b"\x1b]0;owned\x07", expect=r"\x1b]0;owned\x07")  # without blanks, and so a command
    refuse("translate", "x", environment={b"FERRY_MODEL": BYTES})
    refuse("translate", "x", environment={b"FERRY_ISA": BYTES})
    # The end of a message that is too long is cut, and its line ends.
    found = subprocess.run([FERRY, "a" * 100000], capture_output=True, check=False).stderr
    if not found.endswith(b"aaa...\n") or found.count(b"\n") != 1:
        complain("a long message", repr(found[-80:]))


def check_conversions():
    folder = b"model-" + BYTES
    write_export(folder, lambda config: None)
    run("convert", folder, expect=[SHOWN_BYTES + ".gguf: "])
    refuse("convert", folder)
    run("convert", folder, "--type", "int8", "-o", b"int8-" + BYTES, expect=[SHOWN_BYTES + ": ", "rounding changes weights by"])
    run("verify", b"int8-" + BYTES, expect=SHOWN_BYTES + ": intact")
    run("inspect", folder, expect=[f"{SHOWN_BYTES}: converted to ", f"/cache-{SHOWN_BYTES}/ferry/model-\\x1b]0;owned"], lines=1)
    run("cache", "list", tabs=True, expect=[r"model-\x1b]0;owned", f"/cache-{SHOWN_BYTES}/ferry"])
    run("cache", "clear", expect="1 file removed")
    write_export("position", lambda config: config["position"].update(type=HOSTILE))
    refuse("convert", "position", "-o", "x.gguf")
    write_export("parameter", lambda config: config["position"].update({HOSTILE: 1}))
    refuse("convert", "parameter", "-o", "x.gguf")
    write_files("kind", config__json=json.dumps({"model_type": HOSTILE}).encode())
    write_files("syntax", config__json=b'{"model_type": "a" ' + HOSTILE.encode() + b"}")
    write_files("pickle", config__json=b'{"model_type": "m2m_100"}')
    write_zip("pickle/pytorch_model.bin", **{"a/data.pkl": b"\x80\x02c" + HOSTILE.replace("\n", "\x1b").encode() + b"\nname\n."})
    write_files("tensor", config__json=b'{"model_type": "m2m_100"}')
    write_safetensors("tensor/model.safetensors", {HOSTILE: {"dtype": HOSTILE, "shape": [1], "data_offsets": [0, 4]}})
    write_zip("members.zip", **{HOSTILE + ".npz": b"", "model.npz": b""})
    for source in ("kind", "syntax", "pickle", "tensor", "members.zip"):
        refuse("convert", source, "-o", "x.gguf", expect=r"\x1b")


def check_translations(terminal):
    """Raw where a program may read them, shown on a terminal. The shipped model has a word that is a command: '▁Morgen',
    in SentencePiece's table and in Ferry's. A blank line stays as it is, whatever its blanks."""
    with open(os.environ["FERRY_MODEL"], "rb") as file:
        data = file.read()
    word, blank = "\x1b]\x9bm\a", "\x0b\x0c\x85\u2028\t"
    with open("words.gguf", "wb") as file:
        file.write(data.replace("▁Morgen".encode(), f"▁{word}".encode()))
    raw, text = f"Guten {word}!\n{blank}\n", f"Good morning!\n{blank}\n".encode()
    for options in [], ["--scores"], ["--nbest", "2"]:
        arguments = [FERRY, "translate", "-m", "words.gguf", *options]
        piped = subprocess.run(arguments, input=text, capture_output=True, check=False).stdout.decode()
        if piped.count(word) != (2 if "--nbest" in options else 1) or blank not in piped or (not options and piped != raw):
            complain(f"translate {options}: a pipe", repr(piped))
        for place in ([], ["-o", terminal.name]) if terminal else ():
            found = terminal.run([*arguments, *place], text)
            check_output(f"translate {options} {place}: a terminal", found, tabs=options == ["--scores"])
            if found.decode(errors="replace") != piped.replace(word, r"\x1b]\u009bm\x07").replace(blank, r"\x0b\x0c\u0085\u2028\t"):
                complain(f"translate {options} {place}: a terminal", repr(found))
    run("translate", "-m", "words.gguf", "-o", b"out-" + BYTES, input=text)
    with open(b"out-" + BYTES, encoding="utf-8", newline="") as file:
        if file.read() != raw:
            complain("translate -o FILE", "the translation changed")
    run("translate", input=b"a\xff\n", expect="ferry: line 1: ")


def check_bench():
    with open(b"text-" + BYTES, "wb") as file:
        file.write(b"He is my best friend.\n" * 2)
    run("bench", "translate", "-m", "hostile.gguf", "-i", b"text-" + BYTES, "--json")


# ---- a terminal ----

class Terminal:
    """A pseudo terminal that changes nothing: no carriage returns before newlines."""

    def __init__(self):
        self.master, self.slave = os.openpty()
        self.name = os.ttyname(self.slave)
        attributes = termios.tcgetattr(self.slave)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(self.slave, termios.TCSANOW, attributes)

    def run(self, arguments, text):
        """What the terminal got: less than it buffers."""
        done = subprocess.run(arguments, input=text, stdout=self.slave, stderr=subprocess.PIPE, check=False)
        os.write(self.slave, b"\0")
        found = b""
        while not found.endswith(b"\0"):
            found += os.read(self.master, 4096)
        return found[:-1] if done.returncode == 0 else b"failed: " + done.stderr


def open_terminal():
    try:
        return Terminal()
    except OSError as problem:
        if os.environ.get("CI") == "true":
            raise
        print(f"not run: terminals: {problem}")
        return None


os.environ["FERRY_MODEL"] = f"{SOURCE}/models/pretrained/tatoeba-en-de.gguf"
check_every_character()
check_model_files()
check_arguments()
check_conversions()
check_translations(open_terminal())
check_bench()
for failure in failures:
    print(failure.encode("unicode_escape").decode())
sys.exit(1 if failures else 0)
