"""add_languages.py MODEL.gguf OUTPUT.gguf PLACE NAME=ROLES=ID...: the model with languages whose target tags (ids of
the source's vocabulary, for PLACE prefix or suffix) stand at PLACE. The new keys go before the old ones and are padded
to the alignment, so that everything after them moves by whole blocks; old languages get a name that means nothing."""
import struct
import sys

U32, I32, TEXT, ARRAY, ALIGNMENT = 4, 5, 8, 9, 64


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    return text("ferry.languages." + name) + struct.pack("<I", kind) + value


def integers(values):
    return struct.pack(f"<IQ{len(values)}i", I32, len(values), *values)


source, output, place, *languages = sys.argv[1:]
languages = [language.split("=") for language in languages]
names = [name for name, _, _ in languages]
ids = [int(number) for _, _, number in languages]
keys = [
    key("names", ARRAY, struct.pack("<IQ", TEXT, len(names)) + b"".join(text(name) for name in names)),
    key("roles", ARRAY, integers([int(roles) for _, roles, _ in languages])),
    key("source_ids", ARRAY, integers([-1] * len(ids))),
    key("target_ids", ARRAY, integers(ids)),
    key("source_tag", TEXT, text("none")),
    key("target_tag", TEXT, text(place)),
    key("default_source", I32, struct.pack("<i", 0)),
    key("default_target", I32, struct.pack("<i", -1)),
]
size = sum(map(len, keys)) + len(text("general.filler")) + 4 + len(text(""))
keys.append(text("general.filler") + struct.pack("<I", TEXT) + text("." * (-size % ALIGNMENT)))
data = open(source, "rb").read()
magic, version, tensors, count = struct.unpack_from("<4sIQQ", data)
assert magic == b"GGUF"
with open(output, "wb") as file:
    file.write(struct.pack("<4sIQQ", magic, version, tensors, count + len(keys)) + b"".join(keys) + data[24:].replace(b"ferry.languages.", b"other.languages."))
