#!/usr/bin/env python3
"""Trains an encoder-decoder with a positional encoding, and writes it in the export layout.

    train.py --encoding rope --seed 1 --output DIRECTORY

A run that was stopped goes on from its last checkpoint; the weights are the same as without the stop. docs/training.md
tells more.
"""
import argparse
import os
import shutil
import time

import numpy as np
import sentencepiece
import torch

import data
import fast
import model as transformer
import positions

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tatoeba-en-de")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default=CORPUS, help="folder (default: the one that comes with the recipe)")
    parser.add_argument("--encoding", required=True, help="one for both stacks, or ENCODER-DECODER")
    parser.add_argument("--output", required=True)
    parser.add_argument("--languages", default="en,de", help="source,target (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=float, default=6e6, help="target tokens to train on (default: %(default)g)")
    parser.add_argument("--batch", type=int, default=1600, help="tokens of a batch, padding included")
    parser.add_argument("--vocabulary", type=int, default=4000, help="pieces (default: %(default)s)")
    parser.add_argument("--rate", type=float, default=3e-3, help="highest learning rate (default: %(default)s)")
    parser.add_argument("--warmup", type=float, default=0.05, help="part of the training with a rising rate")
    parser.add_argument("--smoothing", type=float, default=0.1, help="label smoothing (default: %(default)s)")
    parser.add_argument("--bf16", action="store_true", help="multiply matrices in bfloat16")
    parser.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    parser.add_argument("--save-minutes", type=float, default=2, help="time between checkpoints")
    parser.add_argument("--test-lines", type=int, default=100, help="lines of the test text for each bucket of lengths")
    parser.add_argument("--d-model", type=int, default=128)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--ffn", type=int, default=512)
    parser.add_argument("--layers", type=int, default=2, help="of each stack")
    parser.add_argument("--encoder-layers", type=int, help="of the encoder (default: --layers)")
    parser.add_argument("--length", type=int, help="of parameters of the encoding that are lengths (default: as in positions.py)")
    parser.add_argument("--dropout", type=float, default=0.1)
    return parser.parse_args()


def write_whole(path, write):
    """Nobody, another training of the same folder neither, sees a part of the file."""
    own = f"{path}.{os.getpid()}"
    write(own)
    os.replace(own, path)


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def find_pieces(path, train, vocabulary):
    if not os.path.exists(path):
        write_whole(path, lambda own: data.train_pieces(train, own, vocabulary))
    return sentencepiece.SentencePieceProcessor(model_file=path)


def write_test(folder, unseen, pieces, languages, lines):
    """The test text, FOLDER/test.LANGUAGE, and of the pairs that it leaves, within the lengths of training, dev.LANGUAGE, to
    choose by: the same for all models of one folder."""
    if lines == 0 or os.path.exists(os.path.join(folder, f"dev.{languages[1]}")):
        return
    test, left = data.make_test(unseen, pieces, lines)
    for name, texts in (("test", test), ("dev", data.make_dev(left, pieces))):
        for side, language in enumerate(languages):
            text = "".join(text[side] + "\n" for text in texts)
            write_whole(os.path.join(folder, f"{name}.{language}"), lambda own, text=text: write_text(own, text))


class Training:
    def __init__(self, options, pairs, vocabulary):
        torch.manual_seed(options.seed)
        self.options, self.vocabulary = options, vocabulary
        sizes = transformer.Sizes(vocabulary, options.d_model, options.heads, options.ffn,
                                  options.encoder_layers or options.layers, options.layers, options.dropout)
        self.model = transformer.Translator(sizes, positions.make(options.encoding, options.length), data.PAD).to(options.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=options.rate, betas=(0.9, 0.98), eps=1e-9,
                                          fused=True)
        self.batches = data.Batches(pairs, options.seed, options.batch)
        self.step, self.tokens, self.seconds, self.losses = 0, 0, 0.0, []
        self.checkpoint = os.path.join(options.output, "checkpoint.pt")

    def rate(self):
        done = self.tokens / self.options.tokens
        warmup = self.options.warmup
        return self.options.rate * min(done / warmup + 1e-3, (1 - done) / (1 - warmup))

    def train_step(self):
        examples = self.batches.at(self.step)
        device = self.options.device
        source = torch.from_numpy(data.pad([example[0] + [data.EOS] for example in examples])).to(device)
        inputs = torch.from_numpy(data.pad([[data.EOS] + example[1] for example in examples])).to(device)
        labels = torch.from_numpy(data.pad([example[1] + [data.EOS] for example in examples])).to(device)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        real = labels != data.PAD
        with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=self.options.bf16):
            states = self.model.decode(self.model.encode(source), source, inputs)[real].float()
        loss = fast.SmoothedCrossEntropy.apply(states, self.model.shared.weight, labels[real], self.options.smoothing,
                                               torch.bfloat16 if self.options.bf16 else torch.float32)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        self.tokens += int(real.sum())
        self.losses.append(loss.item())

    def save(self):
        state = {"options": vars(self.options), "model": self.model.state_dict(), "random": torch.get_rng_state(),
                 "optimizer": self.optimizer.state_dict(), "step": self.step, "tokens": self.tokens,
                 "seconds": self.seconds, "losses": self.losses}
        write_whole(self.checkpoint, lambda own: torch.save(state, own))

    def resume(self):
        if not os.path.exists(self.checkpoint):
            return
        state = torch.load(self.checkpoint, weights_only=True)
        free = ("output", "corpus", "save_minutes", "device", "test_lines")
        for key, value in vars(self.options).items():
            if key not in free and state["options"].get(key) != value:
                raise SystemExit(f"{self.checkpoint}: was trained with --{key.replace('_', '-')} "
                                 f"{state['options'].get(key)}, found {value}")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        self.step, self.tokens, self.seconds = state["step"], state["tokens"], state["seconds"]
        self.losses = state["losses"]

    def about(self):
        """What the model file tells of its origin."""
        o = self.options
        return {"name": f"{o.encoding}, seed {o.seed}", "trained_length": data.SEEN, "trained_seed": o.seed, "trained_tokens": o.tokens,
                "training": f"{self.tokens / 1e6:.1f} million target tokens in {self.step} steps of {o.batch} tokens, "
                            f"{'bfloat16, ' if o.bf16 else ''}Adam, rate {o.rate:g}, dropout {o.dropout:g}, label smoothing {o.smoothing:g}, seed "
                            f"{o.seed}; concatenated sentences of up to {data.SEEN} pieces; "
                            f"loss of the last 100 steps {np.mean(self.losses[-100:]):.3f}"}

    def run(self):
        began, saved, told = time.monotonic() - self.seconds, time.monotonic(), 0.0
        first_tokens, first_time = self.tokens, time.monotonic()
        self.model.train()
        while self.tokens < self.options.tokens:
            self.train_step()
            now = time.monotonic()
            self.seconds = now - began
            if now - told > 10 or self.tokens >= self.options.tokens:
                told, speed = now, (self.tokens - first_tokens) / (now - first_time)
                left = max(0, self.options.tokens - self.tokens) / speed
                print(f"{self.options.encoding} seed {self.options.seed}: {self.tokens / 1e6:.2f} of "
                      f"{self.options.tokens / 1e6:g} million target tokens, loss {np.mean(self.losses[-100:]):.3f}, "
                      f"{speed:.0f} tokens/s, {left / 60:.1f} min left", flush=True)
            if now - saved > 60 * self.options.save_minutes:
                self.save()
                saved = time.monotonic()
        self.save()


def main():
    options = parse()
    options.tokens = int(options.tokens)
    torch.set_num_threads(1)  # sums in one order: the same seed gives the same weights
    torch.use_deterministic_algorithms(True)
    os.makedirs(options.output, exist_ok=True)
    languages = options.languages.split(",")
    train, unseen = data.split_corpus(options.corpus, languages)
    folder = os.path.dirname(os.path.abspath(options.output))
    path = os.path.join(folder, f"pieces-{options.vocabulary}.model")
    pieces = find_pieces(path, train, options.vocabulary)
    write_test(folder, unseen, pieces, languages, options.test_lines)
    training = Training(options, data.Pairs(train, pieces, data.SEEN), pieces.vocab_size())
    training.resume()
    training.run()
    training.model.eval()
    transformer.export(training.model, data.IDS, options.output, training.about())
    shutil.copyfile(path, os.path.join(options.output, "source.spm"))
    print(f"{options.output}: {training.about()['training']}")


if __name__ == "__main__":
    main()
