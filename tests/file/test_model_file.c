/* Binding a model file: every key, shape and id is checked, and what does not fit is refused by name. */
#include "tests/support/model_damage.h"

TEST(test_keys_and_tensors)
{
    static const refusal rows[] = {
        {"general.architecture", "llama", UNSUPPORTED, "general.architecture: expected 'ferry', found 'llama'"},
        {"ferry.format", "2", UNSUPPORTED, "ferry.format: expected 1, found 2"},
        {"ferry.format", "0", FORMAT, "key 'ferry.format': expected 1 to 2147483647, found 0"},
        {"ferry.features", NULL, FORMAT, "key 'ferry.features' is missing"},
        {"ferry.decoder.norm_position", "both", UNSUPPORTED, "'both' is not supported"},
        {"ferry.encoder.norm_eps", "0", FORMAT, "key 'ferry.encoder.norm_eps': expected a positive number"},
        {"ferry.embedding_scale", "nan", FORMAT, "expected a finite number"},
        {"ferry.encoder.position.type", "nope", UNSUPPORTED,
         "ferry.encoder.position: positional encoding 'nope' is not supported"},
        {"ferry.decoding.early_stopping", "maybe", UNSUPPORTED, "'maybe' is not supported"},
        {"ferry.tokenizer.kind", "nine", UNSUPPORTED, "key 'ferry.tokenizer.kind': 'nine'"},
        {"ferry.d_model", NULL, FORMAT, "key 'ferry.d_model' is missing"},
        {"ferry.decoder.heads", NULL, FORMAT, "key 'ferry.decoder.heads' is missing"},
        {"ferry.encoder.layers", "3", FORMAT, "tensor 'enc.blk.2.attn_q.weight' is missing"},
        {"ferry.decoder.layers", "1", FORMAT, "is unknown"},
        {"ferry.d_model", "80", FORMAT, "tensor 'token_embd.weight': expected shape [7, 80, 16], found [7, 64, 16]"},
        {"ferry.encoder.heads", "5", FORMAT,
         "tensor 'enc.blk.0.attn_q.weight': expected shape [5, 64, 16], found [4, 64, 16]"},
        {"ferry.encoder.head_width", "65536", FORMAT, "tensor 'enc.blk.0.attn_q.weight'"},
        {"ferry.decoder.ffn_width", "64", FORMAT,
         "tensor 'dec.blk.0.ffn_up.weight': expected shape [4, 64, 16], found [8, 64, 16]"},
        {"ferry.encoder.vocab_size", "96", FORMAT, "tied embeddings need one vocabulary"},
        {"ferry.decoding.suppressed_ids", "97", FORMAT, "'ferry.decoding.suppressed_ids'"},
        {"enc.blk.1.ffn_norm.bias", NULL, FORMAT, "tensor 'enc.blk.1.ffn_norm.bias' is missing"},
        {"ferry.output_bias", "0", FORMAT, "tensor 'output.bias' is unknown"},
        {"enc.blk.0.attn_q.bias:type", "26", FORMAT, "tensor 'enc.blk.0.attn_q.bias': expected f32, found i32"},
        {"enc.blk.0.attn_q.weight:type", "26", UNSUPPORTED,
         "tensor 'enc.blk.0.attn_q.weight': expected f32, f16 or i8, found i32"},
    };
    REFUSE_EACH(make_sample("positions/none-post"), rows);
}

TEST(test_weights_of_positions)
{
    static const refusal rows[] = {
        {"enc.blk.1.position.kerple_p[2]", "-0.001", FORMAT,
         "ferry.encoder.position: tensor 'kerple_p' of layer 1: expected finite numbers from 0 on, found -0.001"},
        {"dec.blk.1.position.kerple_a[3]", "inf", FORMAT, "ferry.decoder.position: tensor 'kerple_a' of layer 1"},
        {"enc.blk.0.position.kerple_p", NULL, FORMAT, "tensor 'enc.blk.0.position.kerple_p' is missing"},
    };
    static const refusal of_fire[] = {
        {"ferry.encoder.position.width", "0", FORMAT,
         ": ferry.encoder.position.width: expected a width from 1 to 65536"},
        {"ferry.decoder.position.width", "65536", FORMAT,
         "tensor 'dec.blk.0.position.fire_w1': expected shape [65536], found [32]"},
    };
    REFUSE_EACH(make_sample("positions/kerple-post"), rows);
    REFUSE_EACH(make_sample("positions/fire-post"), of_fire);
}

TEST(test_tables_of_pieces)
{
    static const refusal rows[] = {
        {"ferry.tokenizer.source.pieces", NULL, FORMAT, "key 'ferry.tokenizer.source.pieces' is missing"},
        {"ferry.tokenizer.target.pieces", NULL, FORMAT, "key 'ferry.tokenizer.target.pieces' is missing"},
    };
    sample model = make_sample("models/marian-separate");
    REFUSE_EACH(model, rows);
    /* They change places; their names are equally long. */
    const size_t source = place_of(&model, "source.pieces"), target = place_of(&model, "target.pieces");
    memcpy(model.data + source, "target", 6);
    memcpy(model.data + target, "source", 6);
    refuse(&model, FORMAT, "key 'ferry.tokenizer.source.pieces': expected 901 texts, found 701");
}
