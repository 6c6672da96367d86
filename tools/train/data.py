"""Texts: held-out sentences, pieces, and concatenations whose length is spread evenly.

All random choices come from numpy generators seeded by what they are for, so that a text can be made again.
"""
import contextlib
import gzip
import os
import shutil
import tempfile

import numpy as np
import sentencepiece

PAD, UNKNOWN, EOS = 0, 1, 2
IDS = {"eos_token_id": EOS, "pad_token_id": PAD, "decoder_start_token_id": EOS}
SEEN = 31  # pieces: the longest training examples, on both sides
DEV = (9, 31)  # source pieces of the development text
BUCKETS = [(1, 8), (9, 16), (17, 31), (32, 47), (48, 63), (64, 95), (96, 127)]
HELD_OUT = 4500
LAST = 12  # pieces: with no more left, the last sentence of an example is one of exactly that length


def read_lines(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


def read_pairs(directory, part, languages):
    sides = [read_lines(os.path.join(directory, f"{part}.{language}.gz")) for language in languages]
    if len(sides[0]) != len(sides[1]):
        raise SystemExit(f"{directory}: {part} has {len(sides[0])} and {len(sides[1])} lines")
    return list(zip(*sides))


def split_corpus(directory, languages):
    """(training pairs, unseen pairs): unseen are the dev pairs and HELD_OUT of train, at most a tenth of it. No sentence
    of theirs, in either language, stays in training."""
    train, dev = (read_pairs(directory, part, languages) for part in ("train", "dev"))
    order = np.random.default_rng([1, 0]).permutation(len(train))
    unseen = dev + [train[i] for i in order[: min(HELD_OUT, len(train) // 10)]]
    known = [{pair[side] for pair in unseen} for side in (0, 1)]
    kept = [pair for pair in train if pair[0] not in known[0] and pair[1] not in known[1]]
    return kept, unseen


def write_rules(texts, path):
    """What NFKC changes of the characters that occur, as rules for SentencePiece. Its whole table of NFKC would be an
    eighth of a small model file."""
    normalizer = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc", add_dummy_prefix=False,
                                                       escape_whitespaces=False, remove_extra_whitespaces=False)
    with open(path, "w", encoding="utf-8") as file:
        for character in sorted(set().union(*texts)):
            normalized = normalizer.normalize(character)
            if normalized != character:
                codes = (" ".join(f"{ord(c):X}" for c in text) for text in (character, normalized))
                file.write("\t".join(codes) + "\n")


def train_pieces(pairs, path, vocab_size):
    """A joint SentencePiece model at `path`. The model records the names of files, so they are always the same."""
    texts, path = [text for pair in pairs for text in pair], os.path.abspath(path)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_rules(texts, "rules.tsv")
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_prefix="pieces", vocab_size=vocab_size, model_type="unigram",
            character_coverage=1.0, normalization_rule_tsv="rules.tsv", pad_id=PAD, unk_id=UNKNOWN, eos_id=EOS,
            bos_id=-1, num_threads=1, minloglevel=2)
        shutil.copyfile("pieces.model", path)


class Pairs:
    """Tokenized pairs, grouped by the length of the source."""

    def __init__(self, pairs, pieces, most):
        self.source, self.target = (pieces.encode([pair[side] for pair in pairs]) for side in (0, 1))
        self.by_length = {}
        for i in range(len(pairs)):
            if 0 < len(self.source[i]) <= most and 0 < len(self.target[i]) <= most:
                self.by_length.setdefault(len(self.source[i]), []).append(i)
        self.lengths = np.array(sorted(self.by_length))
        counts = [len(self.by_length[length]) for length in self.lengths]
        # up_to[n]: pairs of at most n source pieces, in ascending order of length.
        self.ascending = np.concatenate([self.by_length[length] for length in self.lengths])
        self.up_to = np.zeros(most + 1, np.int64)
        for n in range(most + 1):
            self.up_to[n] = sum(count for length, count in zip(self.lengths, counts) if length <= n)

    def draw(self, random, length):
        """Indices of pairs that together have `length` source pieces, or as near below as possible."""
        chosen, left = [], length
        while left >= self.lengths[0]:
            exact = self.by_length.get(left)
            if left <= LAST and exact is not None:
                choice = exact[random.integers(len(exact))]
            else:
                choice = self.ascending[random.integers(self.up_to[min(left, len(self.up_to) - 1)])]
            chosen.append(int(choice))
            left -= len(self.source[choice])
        return chosen

    def example(self, chosen):
        return [piece for i in chosen for piece in self.source[i]], [piece for i in chosen for piece in self.target[i]]


class Batches:
    """Training batches: pools of examples of every length up to SEEN, sorted so that a batch holds examples of one
    size. Batch number `step` is always the same for one seed."""

    POOL = 4096  # examples
    TRIES = 1000  # to find sentences whose targets together are short enough

    def __init__(self, pairs, seed, tokens):
        self.pairs, self.seed, self.tokens = pairs, seed, tokens
        self.pool, self.first, self.batches = -1, 0, []

    def next_pool(self):
        self.pool += 1
        self.first += len(self.batches)
        random = np.random.default_rng([2, self.seed, self.pool])
        examples = []
        for length in random.integers(max(2, self.pairs.lengths[0]), SEEN + 1, self.POOL):
            for _ in range(self.TRIES):
                source, target = self.pairs.example(self.pairs.draw(random, int(length)))
                if len(target) <= SEEN:
                    examples.append((source, target))
                    break
        if not examples:
            raise SystemExit(f"corpus: no target of an example is as short as {SEEN} pieces")
        examples.sort(key=lambda example: (max(map(len, example)), len(example[0])))
        self.batches, batch, longest = [], [], 0
        for example in examples:
            longest = max(longest, max(map(len, example)) + 1)
            if batch and longest * (len(batch) + 1) > self.tokens:
                self.batches.append(batch)
                batch, longest = [], max(map(len, example)) + 1
            batch.append(example)
        self.batches.append(batch)
        self.batches = [self.batches[i] for i in random.permutation(len(self.batches))]

    def at(self, step):
        """The examples of batch `step`; steps may only ascend."""
        while step >= self.first + len(self.batches):
            self.next_pool()
        return self.batches[step - self.first]


def pad(sequences):
    """[len, longest], PAD behind each."""
    rows = np.full((len(sequences), max(map(len, sequences))), PAD, np.int64)
    for row, sequence in zip(rows, sequences):
        row[: len(sequence)] = sequence
    return rows


def make_test(unseen, pieces, lines):
    """`lines` pairs of texts for each bucket, both sides of a length in the bucket, no sentence used twice; and the pairs
    that are left."""
    pairs = Pairs(unseen, pieces, BUCKETS[-1][1])
    random = np.random.default_rng([3, 0])
    left = [i for i in random.permutation(len(unseen)) if pairs.source[i] and pairs.target[i]]
    texts = []
    for low, high in BUCKETS:
        found, failed = 0, 0
        while found < lines:
            goal, chosen, size = int(random.integers(low, high + 1)), [], [0, 0]
            at = 0
            # The unseen sentences in their random order; what would be too long stays for later.
            while at < len(left) and size[0] < goal and at < 400:
                i = left[at]
                grown = [size[0] + len(pairs.source[i]), size[1] + len(pairs.target[i])]
                if grown[0] <= goal and grown[1] <= high:
                    chosen.append(at)
                    size = grown
                at += 1
            if min(size) < low:
                failed += 1
                if len(left) < 10 or failed > 1000:
                    raise SystemExit(f"test: not enough unseen sentences for the bucket {low} to {high}")
                random.shuffle(left)
                continue
            texts.append(tuple(" ".join(unseen[left[at]][side] for at in chosen) for side in (0, 1)))
            for at in reversed(chosen):
                del left[at]
            found += 1
    return texts, [unseen[i] for i in left]


def make_dev(unseen, pieces):
    """Texts of about DEV source pieces, whose lengths are spread evenly, of the pairs in their order."""
    pairs, random = Pairs(unseen, pieces, DEV[1]), np.random.default_rng([4, 0])
    left, texts = [i for i in range(len(unseen)) if 0 < min(len(pairs.source[i]), len(pairs.target[i]))], []
    while True:
        goal, chosen, size = int(random.integers(DEV[0], DEV[1] + 1)), [], [0, 0]
        for i in left:
            grown = [size[0] + len(pairs.source[i]), size[1] + len(pairs.target[i])]
            if size[0] < goal and max(grown) <= DEV[1]:
                chosen.append(i)
                size = grown
        if size[0] < DEV[0]:
            return texts
        texts.append(tuple(" ".join(unseen[i][side] for i in chosen) for side in (0, 1)))
        left = [i for i in left if i not in chosen]
