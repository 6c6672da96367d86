"""Makes the smallest directories of each family beside this file, and variants.json: what transformers makes of directories
whose configuration, decoding defaults or tensors are varied. For tests/families/test_huggingface_variants.c.

    record.py

A variant has its base, `set`, `remove` and `drop` (keys that are set or removed, files that go) and `tensors` (changes of
the weights). What transformers does with it: `fails`, or the last row of `logits` for INPUT and TARGET, and the `ids` that
generate() makes by these files alone, with their `score` where it searched. What Ferry does is the same, unless `ferry` says
otherwise: "refuses" with what the message contains, or "is as" with the variant of the same base whose results it has.
Needs transformers 5.23, sentencepiece.
"""
import io
import json
import os
import shutil
import tempfile
import warnings

import safetensors.torch
import sentencepiece
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
INPUT = [9, 14, 11, 20, 7, 33, 12, 9, 27, 16, 8, 10, 31, 5, 22, 13, 19, 6, 25]  # and the end of sentence
TARGET = [13, 21]  # after the start
TEXT = ("the quick brown fox jumps over the lazy dog and how vexingly quick daft zebras jump then there they that this than "
        "thing other another under over ever never")
WORDS = 40

# ---- the directories ----


def segmenter(**special):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.split() * 3), model_writer=out, vocab_size=WORDS, hard_vocab_limit=True,
        normalization_rule_name="identity", minloglevel=2, num_threads=1, **special)
    return out.getvalue()


def pieces_of(model):
    spm = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [spm.id_to_piece(i) for i in range(len(spm))]


FAIRSEQ = segmenter(unk_id=0, bos_id=1, eos_id=2)
MARIAN = segmenter(unk_id=0, bos_id=-1, eos_id=-1)
T5 = segmenter(pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
M2M_WORDS = ["<s>", "<pad>", "</s>", "<unk>"] + pieces_of(FAIRSEQ)[3:]
MARIAN_WORDS = ["</s>", "<unk>"] + pieces_of(MARIAN)[1:] + ["<pad>"]


def numbered(words):
    return {word: i for i, word in enumerate(words)}


BART_SIZES = dict(d_model=16, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=2,
                  encoder_ffn_dim=24, decoder_ffn_dim=20, max_position_embeddings=32)
T5_SIZES = dict(d_model=16, d_kv=4, num_heads=2, d_ff=24, num_layers=2, num_decoder_layers=1, vocab_size=WORDS,
                relative_attention_num_buckets=8, relative_attention_max_distance=20, layer_norm_epsilon=0.01,
                decoder_start_token_id=0)
BASES = {
    "m2m100": (transformers.M2M100ForConditionalGeneration,
               transformers.M2M100Config(vocab_size=60, activation_function="gelu", scale_embedding=False, **BART_SIZES),
               {"sentencepiece.bpe.model": FAIRSEQ, "vocab.json": numbered(M2M_WORDS),
                "tokenizer_config.json": {"tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21"}}),
    "mbart50": (transformers.MBartForConditionalGeneration,
                transformers.MBartConfig(vocab_size=98, activation_function="relu", scale_embedding=True, bos_token_id=3,
                                         decoder_start_token_id=2, **BART_SIZES),
                {"sentencepiece.bpe.model": FAIRSEQ, "tokenizer_config.json": {"tokenizer_class": "MBart50Tokenizer"}}),
    "marian": (transformers.MarianMTModel,
               transformers.MarianConfig(vocab_size=len(MARIAN_WORDS), activation_function="swish", scale_embedding=True,
                                         pad_token_id=len(MARIAN_WORDS) - 1, decoder_start_token_id=len(MARIAN_WORDS) - 1,
                                         **BART_SIZES),
               {"source.spm": MARIAN, "target.spm": MARIAN, "vocab.json": numbered(MARIAN_WORDS),
                "tokenizer_config.json": {"tokenizer_class": "MarianTokenizer"}}),
    "t5": (transformers.T5ForConditionalGeneration, transformers.T5Config(feed_forward_proj="gated-silu", **T5_SIZES),
           {"spiece.model": T5, "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "extra_ids": 0}}),
    "mt5": (transformers.MT5ForConditionalGeneration, transformers.MT5Config(**T5_SIZES),
            {"spiece.model": T5, "tokenizer_config.json": {"tokenizer_class": "T5Tokenizer", "extra_ids": 0}}),
}
GERMAN = {"m2m100": len(M2M_WORDS) + 7, "mbart50": WORDS + 1 + 2}  # the tag that begins the translation


def decoding_of(base):
    common = {"max_length": 12, "num_beams": 3, "early_stopping": False, "suppress_tokens": [BASES[base][1].pad_token_id]}
    return {**common, **({"forced_bos_token_id": GERMAN[base]} if base in GERMAN else {}),
            **({"renormalize_logits": True} if base == "marian" else {})}


def write(directory, name, content):
    if isinstance(content, bytes):
        with open(os.path.join(directory, name), "wb") as file:
            file.write(content)
    else:
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1, ensure_ascii=False)
            file.write("\n")


def train(model, config):
    """Each word becomes the next one or the one after, or nothing: many sentences are nearly as good as the best."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.train()
    for _ in range(150):
        length = int(torch.randint(3, 12, (1,)))
        words = torch.randint(4, 34, (32, length))
        targets = words + 1 + (torch.rand(words.shape) < 0.4).long()
        targets[torch.rand(words.shape) < 0.1] = -1
        ends = torch.full((32, 1), config.eos_token_id)
        rows = [[int(i) for i in row if i >= 0] + [config.eos_token_id] for row in targets]
        labels = torch.tensor([row + [-100] * (length + 1 - len(row)) for row in rows])
        loss = model(input_ids=torch.cat([words, ends], 1), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    return float(loss)


def make_base(name):
    model_class, config, files = BASES[name]
    directory = os.path.join(HERE, name)
    shutil.rmtree(directory, ignore_errors=True)
    torch.manual_seed(sum(name.encode()))
    model = model_class(config)
    with torch.no_grad():
        for key, tensor in list(model.named_parameters()) + list(model.named_buffers()):
            noise = torch.randn_like(tensor)
            if "norm" in key and key.endswith("weight"):
                tensor.copy_(1 + 0.2 * noise)
            elif tensor.dim() == 2 and ("embed_tokens" in key or "shared" in key):
                tensor.copy_(0.5 * noise)
            elif "embed_positions" not in key or name == "mbart50":
                tensor.copy_(0.3 * noise)
    print(name, train(model, config), flush=True)
    for key, value in decoding_of(name).items():
        setattr(model.generation_config, key, value)
    model.save_pretrained(directory)
    for file, content in files.items():
        write(directory, file, content)
    for file in os.listdir(directory):
        os.chmod(os.path.join(directory, file), 0o644)


# ---- the variants ----

CONFIG, GENERATION = "config.json", "generation_config.json"


def variant(base, name, set=None, remove=None, drop=(), tensors=(), ferry=None):
    """`set` and `remove` by file; a key of neither file name is one of config.json."""
    def by_file(changes, empty):
        changes = changes or empty
        return changes if any(file in (CONFIG, GENERATION) for file in changes) else {CONFIG: changes} if changes else {}
    return {"base": base, "name": name, "set": by_file(set, {}), "remove": by_file(remove, []) if not isinstance(remove, list)
            else {CONFIG: remove}, "drop": list(drop), "tensors": [list(t) for t in tensors], "ferry": ferry}


def refuses(what):
    return {"refuses": what}


def is_as(name):
    return {"is as": name}


def class_default(base, key):
    return getattr(type(BASES[base][1])(), key)


BARTS, T5S, ALL = ("m2m100", "mbart50", "marian"), ("t5", "mt5"), tuple(BASES)


def shape(*sizes):
    return refuses("expected shape [%s], found" % ", ".join(map(str, sizes)))


def absent_keys():
    """Each key that the importers read, absent: the default of its class."""
    for base in BARTS:
        V = BASES[base][1].vocab_size
        default = {key: class_default(base, key) for key in ("d_model", "encoder_ffn_dim", "decoder_ffn_dim", "vocab_size")}
        for key in ("encoder_attention_heads", "decoder_attention_heads", "activation_function", "scale_embedding",
                    "tie_word_embeddings", "pad_token_id", "bos_token_id", "is_encoder_decoder", "architectures"):
            if (base, key) != ("marian", "pad_token_id"):  # 58100
                yield variant(base, key + " absent", remove=[key])
        yield variant(base, "d_model absent", remove=["d_model"], ferry=refuses("%d]" % default["d_model"]))
        yield variant(base, "encoder_ffn_dim absent", remove=["encoder_ffn_dim"], ferry=shape(default["encoder_ffn_dim"], 16))
        yield variant(base, "decoder_ffn_dim absent", remove=["decoder_ffn_dim"], ferry=shape(default["decoder_ffn_dim"], 16))
        yield variant(base, "vocab_size absent", remove=["vocab_size"] + (["decoder_vocab_size"] if base == "marian" else []),
                      ferry=shape(default["vocab_size"], 16))
        for stack in ("encoder", "decoder"):
            count = class_default(base, stack + "_layers")
            yield variant(base, stack + "_layers absent", remove=[stack + "_layers"],
                          tensors=[("repeat", "model.%s.layers." % stack, count)])
        yield variant(base, "model_type absent", remove=["model_type"], ferry=is_as("base"))
    for base in T5S:
        for key in ("layer_norm_epsilon", "relative_attention_max_distance", "num_decoder_layers", "tie_word_embeddings",
                    "pad_token_id", "is_encoder_decoder", "scale_decoder_outputs"):
            tensors = [("repeat", "decoder.block.", 2)] if key == "num_decoder_layers" else []
            yield variant(base, key + " absent", remove=[key], tensors=tensors)
        D = class_default(base, "d_model")
        yield variant(base, "d_model absent", remove=["d_model"], ferry=refuses("%d]" % D))
        yield variant(base, "d_ff absent", remove=["d_ff"], ferry=shape(class_default(base, "d_ff"), 16))
        yield variant(base, "vocab_size absent", remove=["vocab_size"], ferry=shape(class_default(base, "vocab_size"), 16))
        yield variant(base, "num_heads absent", remove=["num_heads"], ferry=shape(4 * class_default(base, "num_heads"), 16))
        yield variant(base, "d_kv absent", remove=["d_kv"], ferry=shape(2 * class_default(base, "d_kv"), 16))
        yield variant(base, "relative_attention_num_buckets absent",
                      remove=["relative_attention_num_buckets", "relative_attention_max_distance"],
                      ferry=shape(class_default(base, "relative_attention_num_buckets"), 2))
        count = class_default(base, "num_layers")
        yield variant(base, "num_layers absent", remove=["num_layers"], tensors=[("repeat", "encoder.block.", count)])
        yield variant(base, "model_type absent", remove=["model_type"], ferry=is_as("base"))
    yield variant("t5", "feed_forward_proj absent", remove=["feed_forward_proj", "dense_act_fn", "is_gated_act"], tensors=[
        ("rename", "%s.DenseReluDense.wi_0.weight" % layer, "%s.DenseReluDense.wi.weight" % layer)
        for layer in ("encoder.block.0.layer.1", "encoder.block.1.layer.1", "decoder.block.0.layer.2")] + [
        ("remove", "%s.DenseReluDense.wi_1.weight" % layer)
        for layer in ("encoder.block.0.layer.1", "encoder.block.1.layer.1", "decoder.block.0.layer.2")])
    yield variant("mt5", "feed_forward_proj absent", remove=["feed_forward_proj", "dense_act_fn", "is_gated_act"])
    yield variant("marian", "share_encoder_decoder_embeddings absent", remove=["share_encoder_decoder_embeddings"])
    yield variant("marian", "decoder_vocab_size absent", remove=["decoder_vocab_size"])
    yield variant("marian", "decoder_vocab_size null", {"decoder_vocab_size": None})


def small_numbers():
    """Embeddings whose variance is not far above the norms' eps; the output keeps the old ones."""
    kept = [("copy", "shared.weight", "lm_head.weight"), ("shrink", "shared.weight")]
    for base in T5S:
        yield variant(base, "small embeddings, layer_norm_epsilon absent", remove=["layer_norm_epsilon"], tensors=kept)
    yield variant("mbart50", "small embeddings", {"tie_word_embeddings": False}, tensors=[
        ("copy", "model.shared.weight", name) for name in (
            "lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")] + [
        ("shrink", name) for name in (
            "model.shared.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight",
            "model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")])


def other_values():
    """Other names, null, and values of keys that matter or do not."""
    for base, key, alias in [("m2m100", "d_model", "hidden_size"), ("mbart50", "d_model", "hidden_size"),
                             ("marian", "d_model", "hidden_size"), ("t5", "d_model", "hidden_size"),
                             ("mt5", "d_model", "hidden_size"), ("m2m100", "encoder_layers", "num_hidden_layers"),
                             ("mbart50", "encoder_attention_heads", "num_attention_heads"),
                             ("t5", "num_layers", "num_hidden_layers"), ("t5", "num_heads", "num_attention_heads"),
                             ("mt5", "d_kv", "head_dim")]:
        value = getattr(BASES[base][1], key)
        yield variant(base, "%s as %s" % (key, alias), {alias: value}, [key])
        yield variant(base, "%s and %s" % (key, alias), {alias: value})
        yield variant(base, "%s and another %s" % (key, alias), {alias: 2 * value},
                      ferry=refuses("'%s' %d, but '%s' %d" % (alias, 2 * value, key, value)))
    for base in ALL:
        yield variant(base, "torch_dtype", {"torch_dtype": "float16"}, ["dtype"])
        yield variant(base, "no dtype", remove=["dtype"])
        yield variant(base, "keys that say nothing", {
            "layer_norm_eps": 0.5, "normalize_before": False, "add_final_layer_norm": False, "normalize_embedding": False,
            "static_position_embeddings": False, "output_past": True, "extra_pos_embeddings": 3, "n_positions": 7,
            "classif_dropout": 0.5, "use_cache": False, "num_beams": 7, "length_penalty": 3.0, "pruned_heads": {},
            "chunk_size_feed_forward": 0, "is_decoder": False, "dropout": 0.7, "torchscript": False, "an_unknown_key": [1, 2]})
        for key in ("text_config", "encoder", "decoder"):
            yield variant(base, "nested " + key, {key: {"d_model": 8, "eos_token_id": 5, "num_beams": 1}},
                          ferry=refuses("'%s' is not supported" % key))
        yield variant(base, "quantized", {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
                      ferry=refuses("'quantization_config'"))
    yield variant("m2m100", "another pad", {"pad_token_id": 0}, ferry=is_as("another pad"))
    for name in ("relu", "gelu", "gelu_new", "gelu_pytorch_tanh", "gelu_fast", "gelu_accurate", "quick_gelu", "silu", "swish"):
        yield variant("m2m100", "activation " + name, {"activation_function": name})
    for name in ("mish", "tanh", "linear", "gelu_10"):
        yield variant("m2m100", "activation " + name, {"activation_function": name},
                      ferry=refuses("activation '%s' is not supported" % name))
    for name in ("gated-gelu", "gated-relu", "gated-gelu_new", "gated-silu"):
        yield variant("t5", "feed forward " + name, {"feed_forward_proj": name}, ["dense_act_fn", "is_gated_act"])
    yield variant("t5", "feed forward gated-gelu-new", {"feed_forward_proj": "gated-gelu-new"}, ["dense_act_fn", "is_gated_act"],
                  ferry=refuses("activation 'gelu-new' is not supported"))
    yield variant("t5", "dense_act_fn over feed_forward_proj", {"dense_act_fn": "relu"})
    yield variant("t5", "is_gated_act over feed_forward_proj", {"feed_forward_proj": "silu", "is_gated_act": True})
    for value in (True, False):
        yield variant("t5", "scale_decoder_outputs %s" % value, {"scale_decoder_outputs": value})
        yield variant("mt5", "scale_decoder_outputs %s" % value, {"scale_decoder_outputs": value})
    yield variant("t5", "tie_word_embeddings true alone", {"tie_word_embeddings": True}, ["scale_decoder_outputs"])
    yield variant("t5", "tie_word_embeddings false alone", {"tie_word_embeddings": False}, ["scale_decoder_outputs"],
                  ferry=refuses("tensor 'lm_head.weight' is missing (tie_word_embeddings is false)"))
    yield variant("t5", "tie_word_embeddings false beside the other", {"tie_word_embeddings": False})
    yield variant("m2m100", "scale_embedding true", {"scale_embedding": True})


def tensors():
    """Matrices that are tied: stored once, twice, under other names, different; and what else is there or not."""
    for base in BARTS:
        shared = "model.shared.weight"
        for carrier in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"):
            yield variant(base, "only " + carrier, tensors=[("rename", shared, carrier)])
            yield variant(base, "also " + carrier, tensors=[("copy", shared, carrier)])
            yield variant(base, "another " + carrier, tensors=[("copy", shared, carrier), ("shift", carrier)],
                          ferry=refuses("'%s' differ, but the configuration says that they are one" % carrier))
        every = [("copy", shared, "model.encoder.embed_tokens.weight"), ("copy", shared, "model.decoder.embed_tokens.weight"),
                 ("copy", shared, "lm_head.weight")]
        yield variant(base, "all of them", tensors=every)
        untied = {"tie_word_embeddings": False}
        yield variant(base, "untied", untied, tensors=every + [("shift", "lm_head.weight")])
        yield variant(base, "untied, the output missing", untied, tensors=every[:2],
                      ferry=refuses("tensor 'lm_head.weight' is missing"))
        yield variant(base, "no embeddings", tensors=[("remove", shared)], ferry=refuses("no tensor holds the embeddings"))
        yield variant(base, "no prefix", tensors=[("strip", "model.")])
        yield variant(base, "a tensor of other code", tensors=[("copy", shared, "model.adapter.weight")],
                      ferry=refuses("tensor 'model.adapter.weight' is unknown"))
        yield variant(base, "a layer missing", tensors=[("remove", "model.encoder.layers.1.fc1.bias")],
                      ferry=refuses("tensor 'model.encoder.layers.1.fc1.bias' is missing"))
    yield variant("mbart50", "no final_logits_bias", tensors=[("remove", "final_logits_bias")])
    yield variant("marian", "no final_logits_bias", tensors=[("remove", "final_logits_bias")])
    tables = ["model.%s.embed_positions.weight" % stack for stack in ("encoder", "decoder")]
    yield variant("marian", "stored positions", tensors=[("fill", name, 32, 16) for name in tables])
    source, target, head = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"
    separate = [("copy", "model.shared.weight", source), ("rename", "model.shared.weight", target), ("shift", target)]
    own = {"share_encoder_decoder_embeddings": False}
    yield variant("marian", "separate", own, tensors=separate)
    yield variant("marian", "separate, the output too", own, tensors=separate + [("copy", target, head)])
    yield variant("marian", "separate, another output", own, tensors=separate + [("copy", target, head), ("shift", head)],
                  ferry=refuses("'lm_head.weight' differ, but the configuration says that they are one"))
    yield variant("marian", "separate, untied", {**own, "tie_word_embeddings": False},
                  tensors=separate + [("copy", target, head), ("shift", head)])
    yield variant("mbart50", "no positions", tensors=[("remove", "model.encoder.embed_positions.weight")],
                  ferry=refuses("tensor 'model.encoder.embed_positions.weight': expected a table of positions, found none"))
    yield variant("m2m100", "positions of version 4", tensors=[("copy", "model.encoder.layer_norm.weight",
                                                                  "model.encoder.embed_positions.weights")])
    for base in T5S:
        shared = "shared.weight"
        for carrier in ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"):
            yield variant(base, "only " + carrier, tensors=[("rename", shared, carrier)])
            yield variant(base, "also " + carrier, tensors=[("copy", shared, carrier)])
        yield variant(base, "another lm_head.weight", tensors=[("copy", shared, "lm_head.weight"), ("shift", "lm_head.weight")])
        yield variant(base, "another decoder.embed_tokens.weight",
                      tensors=[("copy", shared, "decoder.embed_tokens.weight"), ("shift", "decoder.embed_tokens.weight")],
                      ferry=refuses("'decoder.embed_tokens.weight' differ, but the configuration says that they are one"))
        yield variant(base, "no embeddings", tensors=[("remove", shared)], ferry=refuses("no tensor holds the embeddings"))
        yield variant(base, "an old bias of the cross-attention", tensors=[
            ("copy", "decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
             "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight")])
    yield variant("t5", "another lm_head.weight, only tie_word_embeddings", remove=["scale_decoder_outputs"],
                  tensors=[("copy", "shared.weight", "lm_head.weight"), ("shift", "lm_head.weight")],
                  ferry=refuses("versions of transformers disagree about the output"))


def decoding():
    """generation_config.json, or the same keys in config.json without it."""
    def generation(base, name, values, remove=(), **more):
        return variant(base, name, {GENERATION: values}, {GENERATION: list(remove)} if remove else None, **more)

    for base in ALL:
        yield generation(base, "greedy", {"num_beams": 1})
        yield generation(base, "everything null", {key: None for key in (
            "num_beams", "early_stopping", "length_penalty", "repetition_penalty", "no_repeat_ngram_size", "min_length",
            "do_sample", "num_beam_groups", "diversity_penalty", "penalty_alpha", "guidance_scale", "bad_words_ids",
            "forced_eos_token_id", "exponential_decay_length_penalty", "begin_suppress_tokens",
            "encoder_repetition_penalty", "encoder_no_repeat_ngram_size", "sequence_bias", "max_time", "stop_strings",
            "watermarking_config", "constraints", "force_words_ids", "token_healing", "max_new_tokens", "min_new_tokens")})
        for key in ("pad_token_id", "_from_model_config", "transformers_version"):
            yield generation(base, key + " absent there", {}, [key])
        yield generation(base, "no start there", {}, ["decoder_start_token_id", "bos_token_id"], ferry=is_as("base"))
        yield variant(base, "no start anywhere", remove={GENERATION: ["decoder_start_token_id", "bos_token_id"],
                                                         CONFIG: ["decoder_start_token_id"]},
                      ferry=refuses("beyond the vocabulary") if base == "marian" else
                      is_as("starts with bos") if base in GERMAN else is_as("base"))
        yield variant(base, "no end anywhere", remove={GENERATION: ["eos_token_id"], CONFIG: ["eos_token_id"]},
                      ferry=is_as("base"))
        yield variant(base, "no file", drop=[GENERATION], set=decoding_of(base))
    for base in GERMAN:
        yield generation(base, "starts with bos", {"decoder_start_token_id": BASES[base][1].bos_token_id})
        yield variant(base, "no file, no start", decoding_of(base), ["decoder_start_token_id"], drop=[GENERATION])
    yield generation("mbart50", "bos alone", {"bos_token_id": 5}, ["decoder_start_token_id"])
    yield generation("m2m100", "bos alone", {"bos_token_id": 5}, ["decoder_start_token_id"])
    yield generation("t5", "another start", {"decoder_start_token_id": 6})
    yield variant("m2m100", "start and end in config.json alone", {"decoder_start_token_id": 4},
                  {GENERATION: ["decoder_start_token_id", "bos_token_id", "eos_token_id"]}, ferry=is_as("the other start"))
    yield generation("m2m100", "the other start", {"decoder_start_token_id": 4})
    yield variant("m2m100", "a start that only config.json says is not used", {"decoder_start_token_id": 4})
    yield variant("m2m100", "an end that only config.json says is not used", {"eos_token_id": 9})
    base = "m2m100"
    for name, values in {
        "early stopping": {"early_stopping": True, "num_beams": 5, "length_penalty": 2.0},
        "never stopping": {"early_stopping": "never", "num_beams": 5, "length_penalty": 2.0},
        "long preferred": {"num_beams": 5, "length_penalty": 2.0}, "short preferred": {"length_penalty": -1.0, "early_stopping": True},
        "max_new_tokens": {"max_new_tokens": 2}, "a length of 20": {"max_length": 20, "num_beams": 1, "min_length": 20},
        "min_length": {"min_length": 8}, "min_new_tokens": {"min_new_tokens": 8},
        "min_new_tokens below min_length": {"min_new_tokens": 3, "min_length": 10},
        "no min_new_tokens, min_length": {"min_new_tokens": 0, "min_length": 10},
        "forced first": {"forced_bos_token_id": GERMAN[base] - 2}, "forced last": {"forced_eos_token_id": 2, "min_length": 12},
        "repetition": {"repetition_penalty": 1.7}, "no repetition": {"no_repeat_ngram_size": 1},
        "bad words": {"bad_words_ids": [[11], [23], [26]]}, "the end is no bad word": {"bad_words_ids": [[2], [23]]},
        "suppressed": {"suppress_tokens": [1, 11, 23, 26]}, "several ends": {"eos_token_id": [2, 23]},
        "suppressed and renormalized": {"suppress_tokens": [1, 11, 23, 26], "renormalize_logits": True, "length_penalty": 0.3},
        "sampling's keys alone": {"temperature": 0.3, "top_k": 3, "top_p": 0.5, "min_p": 0.1, "typical_p": 0.5},
        "keys that say nothing in it": {"use_cache": False, "cache_implementation": None, "low_memory": None,
                                        "output_attentions": False, "remove_invalid_values": True, "an_unknown_key": 7,
                                        "disable_compile": True, "num_return_sequences": 2, "assistant_lookbehind": 3},
        "harmless values": {"do_sample": False, "diversity_penalty": 0.0, "num_beam_groups": 1, "guidance_scale": 1.0,
                            "encoder_repetition_penalty": 1.0, "encoder_no_repeat_ngram_size": 0, "token_healing": False},
        "the first to be the first of sentences": {"force_bos_token_to_be_generated": True, "bos_token_id": GERMAN[base] - 1},
    }.items():
        yield generation(base, name, values)
    for key, value in {"do_sample": True, "num_beam_groups": 3, "diversity_penalty": 0.5, "penalty_alpha": 0.6,
                       "encoder_repetition_penalty": 1.5, "encoder_no_repeat_ngram_size": 2,
                       "exponential_decay_length_penalty": [3, 1.5], "begin_suppress_tokens": [5], "guidance_scale": 2.0,
                       "sequence_bias": [[[17], 5.0]], "watermarking_config": {"bias": 2.0}, "stop_strings": ["a"],
                       "max_time": 0.5, "constraints": [1], "force_words_ids": [[5]], "token_healing": True,
                       "dola_layers": "low"}.items():
        yield generation("m2m100", key, {key: value}, ferry=refuses("generation_config.json: '%s' is not supported" % key))
    yield generation(base, "a long bad word", {"bad_words_ids": [[17, 23]]}, ferry=refuses("'bad_words_ids': number 0 is no"))
    yield generation(base, "two forced", {"forced_eos_token_id": [2, 5]}, ferry=refuses("'forced_eos_token_id' with several"))
    nothing = {**decoding_of("marian"), "min_length": 12}
    yield variant("marian", "no file, forced_eos_token_id", nothing, drop=[GENERATION])
    yield variant("marian", "no file, forced_eos_token_id null", {**nothing, "forced_eos_token_id": None}, drop=[GENERATION])
    yield variant("marian", "no file, forced_eos_token_id absent", nothing, ["forced_eos_token_id"], drop=[GENERATION])
    yield variant("mbart50", "no file, the first is the first of sentences",
                  {**decoding_of("mbart50"), "forced_bos_token_id": None, "force_bos_token_to_be_generated": True,
                   "bos_token_id": GERMAN["mbart50"] + 1}, drop=[GENERATION])


def all_variants():
    for base in ALL:
        yield variant(base, "base")
    for part in (absent_keys, small_numbers, other_values, tensors, decoding):
        yield from part()


# ---- what transformers makes of them ----


def change_tensors(changes, weights):
    for kind, name, *rest in changes:
        if kind == "rename":
            weights[rest[0]] = weights.pop(name)
        elif kind == "copy":
            weights[rest[0]] = weights[name].clone()
        elif kind == "shift":
            weights[name] = weights[name] + 0.25
        elif kind == "fill":
            weights[name] = (torch.arange(rest[0] * rest[1]) * 37 % 64 / 64 - 0.5).reshape(rest)
        elif kind == "shrink":
            weights[name] = weights[name] / 1024
        elif kind == "remove":
            del weights[name]
        elif kind == "strip":
            for old in [key for key in weights if key.startswith(name)]:
                weights[old[len(name):]] = weights.pop(old)
        elif kind == "repeat":  # layer 0 stands for those that are missing
            for layer in range(1, rest[0]):
                for old in [key for key in weights if key.startswith(name + "0.") and "relative_attention_bias" not in key]:
                    weights.setdefault(name + str(layer) + old[len(name) + 1:], weights[old].clone())
    return weights


def make_variant(row, directory):
    shutil.copytree(os.path.join(HERE, row["base"]), directory)
    for file in {*row["set"], *row["remove"]} - set(row["drop"]):
        with open(os.path.join(directory, file), encoding="utf-8") as content:
            values = json.load(content)
        for key in row["remove"].get(file, []):
            values.pop(key, None)
        values.update(row["set"].get(file, {}))
        write(directory, file, values)
    for file in row["drop"]:
        os.remove(os.path.join(directory, file))
    if row["tensors"]:
        path = os.path.join(directory, "model.safetensors")
        weights = change_tensors(row["tensors"], safetensors.torch.load_file(path))
        safetensors.torch.save_file(weights, path, metadata={"format": "pt"})


def input_of(config):
    return torch.tensor([INPUT + [config.eos_token_id]])


def ids_of_class(config):
    own = type(config)()
    start = getattr(own, "decoder_start_token_id", None)
    return {"pad": own.pad_token_id, "end": own.eos_token_id,
            "start": getattr(own, "bos_token_id", None) if start is None else start}


def without_ends(ids, ends):
    """After the start, up to the first end."""
    ends = ends if isinstance(ends, list) else [ends]
    stop = [i for i in range(1, len(ids)) if ids[i] in ends]
    return ids[1:stop[0] + 1] if stop else ids[1:]


def run(directory, base):
    config = BASES[base][1]
    model, info = BASES[base][0].from_pretrained(directory, dtype=torch.float32, attn_implementation="eager",
                                                 output_loading_info=True)
    if info["missing_keys"]:
        return {"fails": "draws numbers at random: " + ", ".join(sorted(info["missing_keys"])[:2])}
    model.eval()
    inputs, start = input_of(config), config.decoder_start_token_id
    with torch.no_grad():
        logits = model(input_ids=inputs, decoder_input_ids=torch.tensor([[start] + TARGET])).logits[0, -1]
        made = {"logits": [round(number, 5) for number in logits.tolist()]}
        try:
            best = model.generate(inputs, return_dict_in_generate=True, output_scores=True)
            made["ids"] = without_ends(best.sequences[0].tolist(), model.generation_config.eos_token_id)
            if "sequences_scores" in best:
                made["score"] = round(best.sequences_scores[0].item(), 6)
        except Exception as problem:
            made["fails"] = "%s: %s" % (type(problem).__name__, str(problem)[:90])
    return made


def record(row):
    with tempfile.TemporaryDirectory() as scratch:
        directory = os.path.join(scratch, "variant")
        make_variant(row, directory)
        try:
            return run(directory, row["base"])
        except Exception as problem:
            return {"fails": "%s: %s" % (type(problem).__name__, str(problem)[:90])}


def main():
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for base in ALL:
        make_base(base)
    rows = []
    for row in all_variants():
        rows.append({**{key: value for key, value in row.items() if value}, **record(row)})
    names = [(row["base"], row["name"]) for row in rows]
    assert len(names) == len(set(names))
    with open(os.path.join(HERE, "variants.json"), "w", encoding="utf-8") as file:
        bases = {base: {"input": input_of(config)[0].tolist(), "target": [config.decoder_start_token_id] + TARGET,
                        "from": "en" if base in GERMAN else None, "class": ids_of_class(config)}
                 for base, (_, config, _) in BASES.items()}
        file.write('{"made_by": "transformers %s, float32, eager",\n "bases": %s,\n "variants": [\n'
                   % (transformers.__version__, json.dumps(bases)))
        file.write(",\n".join(json.dumps(row) for row in rows) + "\n]}\n")


main()
