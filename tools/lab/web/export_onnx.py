#!/usr/bin/env python3
"""Exports a Marian model of Hugging Face as Transformers.js reads it, with weights of 8 bits:

    export_onnx.py MODEL FOLDER      (pip install "optimum-onnx[onnxruntime]" sentencepiece)
"""
import pathlib
import sys

from onnxruntime.quantization import QuantType, quantize_dynamic
from optimum.exporters.onnx import main_export
from tokenizers import processors
from transformers import AutoTokenizer
from transformers.convert_slow_tokenizer import SpmConverter


class Marian(SpmConverter):
    """Pieces are the source's SentencePiece model's, their ids the dictionary's."""

    def __init__(self, tokenizer):
        tokenizer.vocab_file = tokenizer.spm_files[0]
        super().__init__(tokenizer)

    def vocab(self, proto):
        scores = {piece.piece: piece.score for piece in proto.pieces}
        lowest = min(scores.values()) - 10  # of the target's pieces
        return [(piece, scores.get(piece, lowest)) for piece, _ in sorted(self.original_tokenizer.encoder.items(),
                                                                         key=lambda item: item[1])]

    def unk_id(self, proto):
        return self.original_tokenizer.unk_token_id

    def post_processor(self):
        end = self.original_tokenizer.eos_token
        return processors.TemplateProcessing(single=f"$A {end}", special_tokens=[(end, self.original_tokenizer.eos_token_id)])


def main():
    model, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    main_export(model, folder, task="text2text-generation-with-past")
    slow = AutoTokenizer.from_pretrained(model)
    fast = Marian(slow).converted()
    fast.add_special_tokens([slow.eos_token, slow.unk_token, slow.pad_token])
    fast.save(str(folder / "tokenizer.json"))
    (folder / "onnx").mkdir()
    for name in ("encoder_model", "decoder_model_merged"):
        quantize_dynamic(folder / f"{name}.onnx", folder / f"onnx/{name}_quantized.onnx", weight_type=QuantType.QInt8,
                         extra_options={"EnableSubgraph": True})
    for path in folder.glob("*.onnx"):
        path.unlink()
    text = "This is a test of the dictionary, isn't it?"
    assert fast.encode(text).ids == slow(text).input_ids, "the tokenizer makes other ids"


if __name__ == "__main__":
    main()
