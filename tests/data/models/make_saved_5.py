"""Makes huggingface-5/m2m100 and huggingface-5/marian: directories as transformers 5 saves them, and golden.json, what it computes
from them (greedy and beam 4, with texts and scores). For tests/families/test_huggingface.c.

    make_saved_5.py SHARED_DIRECTORY

SHARED_DIRECTORY has models/huggingface-small/m2m100, whose weights are saved again in 16 bits by new classes, and
corpora/tatoeba-en-de, on which a MarianMT model with one vocabulary is trained for a minute. Needs transformers 5.23,
sentencepiece.
"""
import gzip
import json
import os
import sys

import sentencepiece
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = sys.argv[1]
SMALL = os.path.join(SHARED, "models/huggingface-small/m2m100")
RUNS = {"greedy": {"num_beams": 1},
        "beam4": {"num_beams": 4, "num_return_sequences": 4, "length_penalty": 1.0, "early_stopping": False}}


def read_corpus(side, count):
    with gzip.open(os.path.join(SHARED, "corpora/tatoeba-en-de", "train." + side + ".gz"), "rt", encoding="utf-8") as file:
        return [line.strip() for _, line in zip(range(count), file)]


def decode(tokenizer, processor, ids):
    """Text of the ids by SentencePiece, without special tokens and tags of languages, and the tokenizer's own, which leaves
    M2M-100's tags."""
    special = set(tokenizer.all_special_ids) | set(getattr(tokenizer, "lang_token_to_id", {}).values())
    pieces = [tokenizer.convert_ids_to_tokens(int(i)) for i in ids if int(i) not in special]
    return processor.decode(pieces), tokenizer.decode(ids, skip_special_tokens=True)


def record(directory, texts, processor, **more):
    """golden.json of a saved directory: everything is read from its files again."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
    fixed = {"do_sample": False, "max_new_tokens": 40, "renormalize_logits": model.config.model_type == "marian", **more}
    lines = []
    for text in texts:
        line = {"text": text, "input_ids": tokenizer(text)["input_ids"]}
        for name, run in RUNS.items():
            with torch.no_grad():
                made = model.generate(torch.tensor([line["input_ids"]]), **fixed, **run, return_dict_in_generate=True,
                                      output_scores=True)
            decoded = [decode(tokenizer, processor, row) for row in made.sequences]
            line[name] = {"ids": made.sequences.tolist(), "text": [ours for ours, _ in decoded]}
            if [own.strip() for _, own in decoded] != [ours.strip() for ours, _ in decoded]:
                line[name]["decoded"] = [own for _, own in decoded]
            if run["num_beams"] > 1:
                line[name]["scores"] = made.sequences_scores.tolist()
        lines.append(line)
    golden = {"made_by": "transformers %s, torch %s, float32, eager" % (transformers.__version__, torch.__version__),
              "runs": RUNS, "all_runs": fixed, "prefix": "", "lines": lines}
    with open(os.path.join(directory, "golden.json"), "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=True)
        file.write("\n")


def make_m2m(directory, texts):
    tokenizer = transformers.M2M100Tokenizer(os.path.join(SMALL, "vocab.json"), os.path.join(SMALL, "sentencepiece.bpe.model"),
                                             src_lang="en", tgt_lang="de")
    model = transformers.M2M100ForConditionalGeneration.from_pretrained(SMALL, dtype=torch.float16)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    record(directory, texts, tokenizer.sp_model, forced_bos_token_id=tokenizer.get_lang_id("de"))


def train(model, tokenizer, pairs, steps):
    torch.manual_seed(17)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    model.train()
    for step in range(steps):
        batch = [pairs[i] for i in torch.randint(len(pairs), (48,))]
        inputs = tokenizer([a for a, _ in batch], text_target=[b for _, b in batch], padding=True, return_tensors="pt")
        labels = inputs.pop("labels")
        labels[labels == tokenizer.pad_token_id] = -100
        loss = model(**inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            print(step, loss.item(), flush=True)
    model.eval()


def make_marian(directory, texts):
    os.makedirs(directory, exist_ok=True)
    pairs = [pair for pair in zip(read_corpus("en", 60000), read_corpus("de", 60000)) if max(map(len, pair)) < 60]
    spm = os.path.join(directory, "source.spm")
    with open(spm, "wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([line for pair in pairs[:20000] for line in pair]), model_writer=file, vocab_size=400,
            character_coverage=0.999, normalization_rule_name="identity", eos_id=-1, bos_id=-1, num_threads=1)
    processor = sentencepiece.SentencePieceProcessor(model_file=spm)
    words = ["</s>", "<unk>"] + [processor.id_to_piece(i) for i in range(1, len(processor))][::-1] + ["<pad>"]
    vocabulary = os.path.join(directory, "vocab.json")
    with open(vocabulary, "w", encoding="utf-8") as file:
        json.dump({word: i for i, word in enumerate(words)}, file, ensure_ascii=False)
    tokenizer = transformers.MarianTokenizer(spm, spm, vocabulary, source_lang="en", target_lang="de")
    pad = len(words) - 1
    model = transformers.MarianMTModel(transformers.MarianConfig(
        vocab_size=len(words), d_model=48, encoder_layers=2, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=3, encoder_ffn_dim=96, decoder_ffn_dim=64, activation_function="swish", scale_embedding=True,
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=0, dropout=0.0))
    train(model, tokenizer, pairs, 600)
    model.generation_config.bad_words_ids = [[pad]]
    model.half().save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    record(directory, texts, processor)


def main():
    with open(os.path.join(SMALL, "golden.json"), encoding="utf-8") as file:
        texts = [line["text"] for line in json.load(file)["lines"]]
    transformers.utils.logging.set_verbosity_error()
    torch.set_num_threads(1)
    make_m2m(os.path.join(HERE, "huggingface-5", "m2m100"), texts)
    make_marian(os.path.join(HERE, "huggingface-5", "marian"), texts)


main()
