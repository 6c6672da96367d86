"""The small golden sets beside this file, from the large ones: make_small.py SHARED_MODELS

Weights of M2M-100 are rounded to 16 bits, and transformers runs them anew; everything else is copied, with activations
of the first lines only. Needs torch, transformers, safetensors, sentencepiece.
"""
import json
import os
import shutil
import sys

import safetensors.torch
import sentencepiece
import torch
import transformers

HERE = os.path.dirname(os.path.abspath(__file__))
ACTIVATIONS = 4  # lines of golden.safetensors
# Files that Ferry does not read, but for NLLB's lists of languages.
LEFT_OUT = {"mbart50": ["tokenizer.json"], "t5": ["tokenizer.json"], "t5gated": ["tokenizer.json"]}


def copy(source, name, left_out=()):
    target = os.path.join(HERE, os.path.basename(source), name)
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    for file in sorted(os.listdir(os.path.join(source, name))):
        if file not in left_out:
            shutil.copyfile(os.path.join(source, name, file), os.path.join(target, file))
    return target


def cut_activations(target):
    path = os.path.join(target, "golden.safetensors")
    tensors = safetensors.torch.load_file(path)
    kept = {name: tensor for name, tensor in tensors.items() if int(name.rsplit(".", 1)[1]) < ACTIVATIONS}
    safetensors.torch.save_file(kept, path)


def rewrite(path, change):
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    change(value)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=None if "golden" in path else 2)


# ---- 16-bit weights ----

def halve(target):
    path = os.path.join(target, "model.safetensors")
    tensors = safetensors.torch.load_file(path)
    safetensors.torch.save_file({name: t.half() if t.is_floating_point() else t for name, t in tensors.items()}, path,
                                metadata={"format": "pt"})
    rewrite(os.path.join(target, "config.json"), lambda config: config.update(dtype="float16"))


def halve_pickle(target, zipped):
    """One storage under several names stays one."""
    path, halves = os.path.join(target, "pytorch_model.bin"), {}
    tensors = torch.load(path, weights_only=True)
    for tensor in tensors.values():
        halves.setdefault(tensor.data_ptr(), tensor.half())
    torch.save({name: halves[tensor.data_ptr()] for name, tensor in tensors.items()}, path,
               _use_new_zipfile_serialization=zipped)
    rewrite(os.path.join(target, "config.json"), lambda config: config.update(dtype="float16"))


class Recorder:
    def __init__(self, target, segmenter):
        self.target = target
        self.model = transformers.AutoModelForSeq2SeqLM.from_pretrained(target, dtype=torch.float32,
                                                                       attn_implementation="eager").eval()
        self.processor = sentencepiece.SentencePieceProcessor(model_file=os.path.join(target, segmenter))
        with open(os.path.join(target, "vocab.json"), encoding="utf-8") as file:
            ids = json.load(file)
        self.pieces = sorted(ids, key=ids.get)

    def text(self, ids):
        """SentencePiece's, of pieces that are not special."""
        pieces = [self.pieces[i] for i in ids if i < len(self.pieces)]
        known = [self.processor.piece_to_id(piece) for piece in pieces]
        return self.processor.decode([i for i in known if not self.processor.is_control(i)
                                      and not self.processor.is_unknown(i)])

    def run(self, ids, arguments):
        found = self.model.generate(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                                    return_dict_in_generate=True, output_scores=True, **arguments)
        rows = found.sequences.tolist()
        line = {"ids": rows, "text": [self.text(row) for row in rows]}
        if arguments["num_beams"] > 1:
            line["scores"] = found.sequences_scores.tolist()
        return line

    def activations(self, ids, inputs):
        with torch.no_grad():
            out = self.model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([inputs]))
        return out.encoder_last_hidden_state[0].contiguous(), out.logits[0].contiguous()

    def record(self, golden):
        tensors = {}
        golden["made_by"] = (f"transformers {transformers.__version__}, torch {torch.__version__}, float32, "
                             "attention implementation eager")
        for index, line in enumerate(golden["lines"]):
            for name, arguments in golden["runs"].items():
                line[name] = self.run(line["input_ids"], {**golden["all_runs"], **arguments})
            line["decoder_input_ids"] = line["greedy"]["ids"][0]
            if index < ACTIVATIONS:
                encoder, logits = self.activations(line["input_ids"], line["decoder_input_ids"])
                tensors[f"encoder_output.{index}"], tensors[f"logits.{index}"] = encoder, logits
        safetensors.torch.save_file(tensors, os.path.join(self.target, "golden.safetensors"))


def main(shared):
    torch.set_num_threads(1)
    source = os.path.join(shared, "huggingface-small")
    for name in ["nllb", "mbart50", "t5", "t5gated"]:
        cut_activations(copy(source, name, LEFT_OUT.get(name, ())))
    target = copy(source, "m2m100")
    halve(target)
    rewrite(os.path.join(target, "golden.json"), Recorder(target, "sentencepiece.bpe.model").record)
    for form in ["zip", "legacy"]:
        halve_pickle(copy(source, f"m2m100-bin-{form}"), form == "zip")
    small = os.path.join(shared, "ctranslate2-small")
    for name in os.listdir(small):
        copy(small, name)
    shutil.copytree(os.path.join(shared, "aren-transliteration"), os.path.join(HERE, "aren-transliteration"),
                    dirs_exist_ok=True)


if __name__ == "__main__":
    main(sys.argv[1])
