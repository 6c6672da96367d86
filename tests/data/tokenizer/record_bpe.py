"""Records how `tokenizers`, `subword-nmt` and FSMT's tokenizer segment words, for tests/tokenizer/test_bpe.c:

    record_bpe.py > bpe.txt

Random tables of merges, with pairs that overlap, pairs that occur twice and products of several pairs, and random words.
Needs tokenizers 0.23, subword-nmt 0.3.8 and transformers 5. Lines: "table KIND UNKNOWN FLAGS WORD_END" (FLAGS: f fuse, b
byte fallback, i ignore merges, - none), "piece TEXT" by id, "merge LEFT RIGHT", and "word TEXT<tab>ID/END …", END in bytes.
"""
import io
import random

import tokenizers
from subword_nmt.apply_bpe import BPE
from transformers.models.fsmt.tokenization_fsmt import FSMTTokenizer

TABLES, WORDS = 14, 24
ALPHABETS = ["ab", "aé", "abc", "▁a字", "xy😀é", "a<w/>"]
UNKNOWN = "<unk>"


def random_merges(rng, symbols, count):
    """Pairs of symbols; what they become are symbols, too."""
    symbols, merges = list(symbols), []
    for _ in range(count):
        left, right = rng.choice(symbols), rng.choice(symbols)
        if left.endswith("</w>") or len(left + right) > 10:
            continue
        merges.append((left, right))
        if left + right not in symbols:
            symbols.append(left + right)
    if rng.random() < 0.4:  # not in the order in which a training finds them
        rng.shuffle(merges)
    for _ in range(rng.choice([0, 0, 2])):
        merges.insert(rng.randrange(len(merges) + 1), rng.choice(merges))
    return symbols, merges


def random_words(rng, alphabet, unknown):
    for i in range(WORDS):
        letters = alphabet + (unknown if i % 3 == 0 else "")
        yield "".join(rng.choices(letters, k=rng.choice([1, 2, 3, 5, 8, 12, 20])))


def show(kind, flags, word_end, pieces, merges, rows):
    print(f"table {kind} {pieces.index(UNKNOWN)} {flags} {word_end or '-'}")
    for piece in pieces:
        print(f"piece {piece}")
    for left, right in merges:
        print(f"merge {left} {right}")
    for word, segments in rows:
        print(f"word {word}\t" + " ".join(f"{id}/{end}" for id, end in segments))


def record_tokenizers(rng, alphabet):
    flags = "".join(flag for flag in "fbi" if rng.random() < 0.4)
    word_end = "</w>" if "b" not in flags and rng.random() < 0.3 else None
    known = alphabet if rng.random() < 0.7 else alphabet[1:]
    symbols, merges = random_merges(rng, list(known) + ([c + word_end for c in known] if word_end else []), 25)
    pieces = [UNKNOWN] + symbols + ([f"<0x{byte:02X}>" for byte in range(256)] if "b" in flags else [])
    if rng.random() < 0.3:  # an unknown piece may merge, too
        pieces.append(UNKNOWN + known[0])
        merges.insert(rng.randrange(3), (UNKNOWN, known[0]))
    model = tokenizers.models.BPE(vocab={piece: id for id, piece in enumerate(pieces)}, merges=merges, unk_token=UNKNOWN,
                                  fuse_unk="f" in flags, byte_fallback="b" in flags, ignore_merges="i" in flags,
                                  **({"end_of_word_suffix": word_end} if word_end else {}))
    rows = []
    for word in random_words(rng, alphabet, "zβ"):
        rows.append((word, [(token.id, token.offsets[1]) for token in model.tokenize(word)]))
    show("tokenizers", flags or "-", word_end, pieces, merges, rows)


def named_pieces(kind, version, word, merges, pairs):
    if kind == "fsmt":
        tokenizer = FSMTTokenizer.__new__(FSMTTokenizer)
        tokenizer.cache, tokenizer.bpe_ranks = {}, pairs
        return tokenizer.bpe(word).split(" ")
    codes = "".join(f"{left} {right}\n" for left, right in merges)
    return BPE(io.StringIO(f"#version: {version}\n{codes}")).segment_tokens([word])


def record_words(rng, alphabet, kind, version):
    ends = ["</w>"] if version == "0.1" else [c + "</w>" for c in alphabet]
    _, merges = random_merges(rng, list(alphabet) + ends, 25)
    pairs = {pair: rank for rank, pair in enumerate(merges)}
    found = [(word, named_pieces(kind, version, word, merges, pairs)) for word in random_words(rng, alphabet, "zβ")]
    pieces = [UNKNOWN] + sorted(piece for piece in {piece for _, row in found for piece in row} if rng.random() < 0.8)
    rows = []
    for word, row in found:
        segments, end = [], 0
        for i, piece in enumerate(row):
            ending = "@@" if kind != "fsmt" and i + 1 < len(row) else "</w>" if kind == "fsmt" and i + 1 == len(row) else ""
            assert piece.endswith(ending)
            end += len(piece.encode()) - len(ending)
            segments.append((pieces.index(piece) if piece in pieces else 0, end))
        assert end == len(word.encode())
        rows.append((word, segments))
    show(kind if kind == "fsmt" else f"{kind}-{version}", "-", None, pieces, merges, rows)


def main():
    rng = random.Random(17)
    for i in range(TABLES):
        alphabet = ALPHABETS[i % len(ALPHABETS)]
        record_tokenizers(rng, alphabet)
        record_words(rng, alphabet, "subword-nmt", "0.1")
        record_words(rng, alphabet, "subword-nmt", "0.2")
        record_words(rng, alphabet, "fsmt", "0.2")


main()
