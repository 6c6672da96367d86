"""Small models of families in Hugging Face's form, and what transformers computes from them:

    make.py texts CORPUS_DIRECTORY     tokenizers and ids of the lines, with transformers 4.57, sentencepiece, sacremoses, subword-nmt
    make.py models CORPUS_DIRECTORY    weights, logits and translations, with transformers 5.23 and torch
    make.py json CORPUS_DIRECTORY      the same tokenizers as version 5 saves them, and what it computes with these; and protobuf

in this order, and the names of families after them, or all. Version 4 has the tokenizers that use SentencePiece itself.
CORPUS_DIRECTORY has train.en.gz and train.de.gz of Tatoeba's sentences (tatoeba.org, CC BY 2.0 FR). The models are
trained for a moment, so that they end sentences and their beams compete.
"""
import gzip
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LINES = [
    "Hello, world!", "Tom is here.", "I don't know.", "Where is it?", "", "  two  blanks ", "Ünïcödé “ﬁ” … 漢 ½", "He said: go!",
    "The soup is too salty.", "They are Russian.", "We won.", "Are you hurt?", "It's 10:30.", "I like tea and milk.", "Stop it now!",
    "Who was she?",
]
RUNS = {
    "greedy": {"num_beams": 1},
    "beam4": {"num_beams": 4, "num_return_sequences": 4, "length_penalty": 1.0, "early_stopping": False},
}
ALL_RUNS = {"do_sample": False, "max_new_tokens": 24, "renormalize_logits": False}
PIECES = 300
BATCH, STEPS, LONGEST = 32, 400, 40


def read(directory, side, count):
    with gzip.open(os.path.join(directory, f"train.{side}.gz"), "rt") as lines:
        return [line.rstrip("\n") for _, line in zip(range(count), lines)]


def short_pairs(directory):
    pairs = zip(read(directory, "en", 60000), read(directory, "de", 60000))
    return [pair for pair in pairs if max(map(len, pair)) <= LONGEST][:8000]


def dump(value, *path):
    with open(os.path.join(HERE, *path), "w") as file:
        json.dump(value, file, ensure_ascii=False, indent=1)
        file.write("\n")


def load(*path):
    with open(os.path.join(HERE, *path)) as file:
        return json.load(file)


# ---- texts ----

def train_sentencepiece(directory, path, **arguments):
    import sentencepiece
    texts = [text for pair in short_pairs(directory) for text in pair]
    with open(path, "wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts), model_writer=file, vocab_size=PIECES, model_type="unigram", character_coverage=0.999,
            normalization_rule_name="nmt_nfkc", minloglevel=2, num_threads=1, **arguments)


def umt5_texts(directory):
    from transformers import T5Tokenizer
    path = os.path.join(HERE, "umt5", "spiece.model")
    train_sentencepiece(directory, path, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return T5Tokenizer(path, extra_ids=0, legacy=True)


def pegasus_texts(directory):
    from transformers import PegasusTokenizer
    path = os.path.join(HERE, "pegasus", "spiece.model")
    train_sentencepiece(directory, path, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    return PegasusTokenizer(path)


def mbart25_texts(directory):
    from transformers import MBartTokenizer
    path = os.path.join(HERE, "mbart25", "sentencepiece.bpe.model")
    train_sentencepiece(directory, path, unk_id=0, bos_id=1, eos_id=2, pad_id=-1)
    return MBartTokenizer(path, src_lang="en_XX", tgt_lang="de_DE")


def fsmt_merges(texts, path):
    import io
    import subword_nmt.learn_bpe as learn
    codes = io.StringIO()
    learn.learn_bpe(io.StringIO("\n".join(texts)), codes, 220)
    lines = codes.getvalue().split("\n")[1:]
    with open(path, "w") as file:
        file.write("\n".join(lines))
    return lines


def fsmt_vocabulary(tokenizer, texts, lang, path):
    """The words of texts in their order of frequency; <s> <pad> </s> <unk> before them."""
    counts = {}
    for text in texts:
        for token in tokenizer.moses_tokenize(tokenizer.moses_pipeline(text, lang=lang), lang=lang):
            for piece in tokenizer.bpe(token).split(" "):
                counts[piece] = counts.get(piece, 0) + 1
    words = ["<s>", "<pad>", "</s>", "<unk>"] + sorted(counts, key=lambda word: (-counts[word], word))[:PIECES]
    with open(path, "w") as file:
        json.dump({word: i for i, word in enumerate(words)}, file, ensure_ascii=False, indent=0)


def fsmt_texts(directory):
    from transformers import FSMTTokenizer
    from sacremoses import MosesTokenizer
    paths = {key: os.path.join(HERE, "fsmt", name)
             for key, name in [("src_vocab_file", "vocab-src.json"), ("tgt_vocab_file", "vocab-tgt.json"), ("merges_file", "merges.txt")]}
    sides = list(zip(*short_pairs(directory)))
    tokenized = [MosesTokenizer(lang=lang).tokenize(text, return_str=True, aggressive_dash_splits=True)
                 for lang, texts in zip(("en", "de"), sides) for text in texts]
    fsmt_merges(tokenized, paths["merges_file"])
    for key in "src_vocab_file", "tgt_vocab_file":
        with open(paths[key], "w") as file:
            json.dump({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}, file)
    first = FSMTTokenizer(langs=["en", "de"], **paths)
    for key, texts, lang in zip(("src_vocab_file", "tgt_vocab_file"), sides, ("en", "de")):
        fsmt_vocabulary(first, texts, lang, paths[key])
    return FSMTTokenizer(langs=["en", "de"], **paths)


class Small100:
    """The tokenizer of SMaLL-100: M2M-100's pieces after the tag of the target language. Its program is beside its published weights."""

    def __init__(self, directory, target):
        from transformers import M2M100Tokenizer
        self.pieces = M2M100Tokenizer(os.path.join(directory, "vocab.json"), os.path.join(directory, "sentencepiece.bpe.model"))
        self.tag = self.pieces.get_lang_id(target)

    def __call__(self, texts):
        def of(text):
            return self.pieces.convert_tokens_to_ids(self.pieces.tokenize(text)) + [2]
        ids = [self.tag] + of(texts) if isinstance(texts, str) else [[self.tag] + of(text) for text in texts]
        return type("Ids", (), {"input_ids": ids})

    def save_pretrained(self, directory):
        with open(os.path.join(directory, "tokenizer_config.json"), "w") as file:
            json.dump({"tokenizer_class": "SMALL100Tokenizer", "language_codes": "m2m100", "num_madeup_words": 8}, file)


def small100_texts(directory):
    """The pieces of mbart25, with ids of their own; sentencepiece.bpe.model is a link."""
    import sentencepiece
    own = os.path.join(HERE, "small100")
    segmenter = sentencepiece.SentencePieceProcessor(model_file=os.path.join(own, "sentencepiece.bpe.model"))
    pieces = ["<s>", "<pad>", "</s>", "<unk>"] + sorted(segmenter.id_to_piece(i) for i in range(3, PIECES))
    with open(os.path.join(own, "vocab.json"), "w") as file:
        json.dump({piece: i for i, piece in enumerate(pieces)}, file, ensure_ascii=False, indent=0)
    return Small100(own, "de")


TEXTS = {"small100": small100_texts, "umt5": umt5_texts, "pegasus": pegasus_texts, "mbart25": mbart25_texts, "fsmt": fsmt_texts}


def target_ids(name, tokenizer, texts):
    if name == "mbart25":
        tokenizer.set_tgt_lang_special_tokens("de_DE")
        ids = tokenizer(texts, add_special_tokens=False).input_ids
        return [row + [2] for row in ids]
    if name == "small100":
        return [row[1:] for row in tokenizer(texts).input_ids]
    if name == "fsmt":
        tokenizer.encoder, tokenizer.src_lang = {word: i for i, word in tokenizer.decoder.items()}, "de"
    return tokenizer(texts).input_ids


def make_texts(directory, names):
    for name in names or TEXTS:
        make = TEXTS[name]
        os.makedirs(os.path.join(HERE, name), exist_ok=True)
        tokenizer = make(directory)
        tokenizer.save_pretrained(os.path.join(HERE, name))
        pairs = short_pairs(directory)
        dump({"lines": [{"text": line, "input_ids": tokenizer(line).input_ids} for line in LINES],
              "source": tokenizer([pair[0] for pair in pairs]).input_ids,
              "target": target_ids(name, tokenizer, [pair[1] for pair in pairs])}, name, "ids.json")


# ---- models ----

def umt5_model():
    from transformers import UMT5Config, UMT5ForConditionalGeneration
    return UMT5ForConditionalGeneration(UMT5Config(
        vocab_size=320, d_model=32, d_kv=12, d_ff=48, num_layers=3, num_decoder_layers=2, num_heads=3, relative_attention_num_buckets=8,
        relative_attention_max_distance=12, initializer_factor=0.3, dropout_rate=0.0))


def bart_like(**other):
    return {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 2,
            "encoder_ffn_dim": 64, "decoder_ffn_dim": 48, "max_position_embeddings": 64, "dropout": 0.0, "init_std": 0.1, **other}


def pegasus_model():
    from transformers import PegasusConfig, PegasusForConditionalGeneration
    return PegasusForConditionalGeneration(PegasusConfig(**bart_like(vocab_size=PIECES + 103 + 5, activation_function="relu",
                                                                     scale_embedding=True)))


def mbart25_model():
    from transformers import MBartConfig, MBartForConditionalGeneration
    first = PIECES + 1
    return MBartForConditionalGeneration(MBartConfig(**bart_like(vocab_size=first + 26, activation_function="relu", scale_embedding=True,
                                                                 decoder_start_token_id=first + 2)))


def fsmt_model():
    from transformers import FSMTConfig, FSMTForConditionalGeneration
    sizes = [len(load("fsmt", f"vocab-{side}.json")) for side in ("src", "tgt")]
    return FSMTForConditionalGeneration(FSMTConfig(**bart_like(langs=["en", "de"], src_vocab_size=sizes[0], tgt_vocab_size=sizes[1])))


def small100_model():
    from transformers import M2M100Config, M2M100ForConditionalGeneration
    sizes = bart_like(vocab_size=PIECES + 1 + 100 + 8, encoder_layers=3, decoder_layers=1, encoder_layerdrop=0.0, decoder_layerdrop=0.0)
    return M2M100ForConditionalGeneration(M2M100Config(**sizes))


MODELS = {"small100": small100_model, "umt5": umt5_model, "pegasus": pegasus_model, "mbart25": mbart25_model, "fsmt": fsmt_model}


def padded(rows, pad):
    import torch
    longest = max(map(len, rows))
    return torch.tensor([row + [pad] * (longest - len(row)) for row in rows])


def train(model, source, target):
    import torch
    config = model.config
    start, pad = config.decoder_start_token_id, config.pad_token_id
    tabled = config.model_type == "mbart"  # the others' are a formula
    trained = [numbers for name, numbers in model.named_parameters() if "embed_positions" not in name or tabled]
    optimizer = torch.optim.Adam(trained, lr=3e-3)
    chosen = random.Random(17)
    for step in range(STEPS):
        rows = [chosen.randrange(len(source)) for _ in range(BATCH)]
        inputs = padded([source[row] for row in rows], pad)
        outputs = padded([target[row] for row in rows], pad)
        given = torch.cat([torch.full((BATCH, 1), start), outputs[:, :-1]], 1)
        logits = model(input_ids=inputs, attention_mask=(inputs != pad).long(), decoder_input_ids=given, use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), outputs.flatten(), ignore_index=pad)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(step, loss.item(), flush=True)


def decoded(name, ids, tokenizer=None):
    """The text of the pieces that are neither special nor unknown, by SentencePiece where there is such a model."""
    if tokenizer is not None:
        return tokenizer.decode(ids, skip_special_tokens=True)
    if name == "fsmt":
        from transformers import FSMTTokenizer
        return FSMTTokenizer.from_pretrained(os.path.join(HERE, name)).decode(ids, skip_special_tokens=True)
    if name == "small100":
        pieces = Small100(os.path.join(HERE, name), "de").pieces
        return pieces.convert_tokens_to_string([pieces.decoder[i] for i in ids if 3 < i <= PIECES])
    import sentencepiece
    file = "sentencepiece.bpe.model" if name == "mbart25" else "spiece.model"
    segmenter = sentencepiece.SentencePieceProcessor(model_file=os.path.join(HERE, name, file))
    shift = {"umt5": 0, "pegasus": 103, "mbart25": 1}[name]
    pieces = [i - shift for i in ids if i >= 3 + shift and i - shift < PIECES]
    return segmenter.decode(pieces)


def record_runs(name, model, line, tokenizer=None):
    import torch
    ids = torch.tensor([line["input_ids"]])
    for run, arguments in RUNS.items():
        result = model.generate(ids, **arguments, **ALL_RUNS, output_scores=True, return_dict_in_generate=True)
        rows = result.sequences.tolist()
        line[run] = {"ids": rows, "text": [decoded(name, row, tokenizer) for row in rows]}
        if arguments["num_beams"] > 1:
            line[run]["scores"] = result.sequences_scores.tolist()


def record(name, model):
    import torch
    import transformers
    activations = {}
    lines = load(name, "ids.json")["lines"]
    for i, line in enumerate(lines):
        record_runs(name, model, line)
        line["decoder_input_ids"] = line["greedy"]["ids"][0][:-1]
        output = model(input_ids=torch.tensor([line["input_ids"]]), decoder_input_ids=torch.tensor([line["decoder_input_ids"]]), use_cache=False)
        if i < 4:
            activations[f"encoder_output.{i}"] = output.encoder_last_hidden_state[0].contiguous()
            activations[f"logits.{i}"] = output.logits[0].contiguous()
    made_by = f"transformers {transformers.__version__}, torch {torch.__version__}, float32, ids by transformers 4.57"
    dump({"made_by": made_by, "runs": RUNS, "all_runs": ALL_RUNS, "lines": lines}, name, "golden.json")
    from safetensors.torch import save_file
    save_file(activations, os.path.join(HERE, name, "golden.safetensors"))


def make_models(_, names):
    import torch
    torch.set_num_threads(1)
    for name in names or MODELS:
        torch.manual_seed(17)
        ids = load(name, "ids.json")
        model = MODELS[name]()
        train(model, ids["source"], ids["target"])
        directory = os.path.join(HERE, name)
        model.generation_config.forced_eos_token_id = None
        model.save_pretrained(directory)
        model = type(model).from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
        with torch.no_grad():
            record(name, model)
        os.remove(os.path.join(directory, "ids.json"))


# ---- tokenizer.json ----

def make_json(_, names):
    import torch
    import transformers
    for name in names or ["pegasus", "mbart25"]:
        source, directory = os.path.join(HERE, name), name + "-5"
        class_name = {"pegasus": "PegasusTokenizer", "mbart25": "MBartTokenizer"}[name]
        tokenizer = getattr(transformers, class_name).from_pretrained(source)
        tokenizer.save_pretrained(os.path.join(HERE, directory))
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(source, dtype=torch.float32, attn_implementation="eager").eval()
        lines = [{"text": line, "input_ids": tokenizer(line).input_ids} for line in LINES]
        with torch.no_grad():
            for line in lines:
                record_runs(name, model, line, tokenizer)
        dump({"made_by": f"transformers {transformers.__version__}", "runs": RUNS, "all_runs": ALL_RUNS, "lines": lines}, directory, "golden.json")


if __name__ == "__main__":
    {"texts": make_texts, "models": make_models, "json": make_json}[sys.argv[1]](sys.argv[2], sys.argv[3:])
