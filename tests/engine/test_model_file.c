/* Binding a model file: every key, shape and id is checked, and what does not fit is refused by name. */
#define _GNU_SOURCE /* memmem */
#include "tests/support/model_damage.h"

static void test_kind(void **state)
{
    sample model = make_sample("positions/none-post");
    refuse_value(&model, "general.architecture", "llama", FERRY_ERROR_UNSUPPORTED,
                 "general.architecture: expected 'ferry', found 'llama'");
    refuse_number(&model, "ferry.format", 2, FERRY_ERROR_UNSUPPORTED, "ferry.format: expected 1, found 2");
    refuse_name(&model, "panels16", "panels17", FERRY_ERROR_UNSUPPORTED,
                "feature 'panels17' is not supported by this build");
    refuse_name(&model, "ferry.features", "ferry.featurez", FERRY_ERROR_FORMAT, "key 'ferry.features' is missing");
    free_sample(&model);
}

static void test_choices(void **state)
{
    const ferry_status unsupported = FERRY_ERROR_UNSUPPORTED, format = FERRY_ERROR_FORMAT;
    sample model = make_sample("positions/none-post");
    refuse_value(&model, "ferry.encoder.activation", "swosh", unsupported,
                 "key 'ferry.encoder.activation': 'swosh' is not supported");
    refuse_value(&model, "ferry.decoder.norm", "batchnorm", unsupported, "key 'ferry.decoder.norm': 'batchnorm'");
    refuse_value(&model, "ferry.decoder.norm_position", "both", unsupported, "'both' is not supported");
    refuse_value(&model, "ferry.decoder.final_norm", "\1", format, "tensor 'dec.output_norm.weight' is missing");
    refuse_number(&model, "ferry.encoder.norm_eps", 0, format,
                  "key 'ferry.encoder.norm_eps': expected a positive number");
    refuse_number(&model, "ferry.encoder.norm_eps", 0x7f800000, format, "expected a finite number");
    refuse_number(&model, "ferry.embedding_scale", 0x7fc00000, format, "expected a finite number");
    refuse_value(&model, "ferry.decoder.block", "ssru_ssru", unsupported, "key 'ferry.decoder.block': 'ssru_ssru'");
    refuse_value(&model, "ferry.encoder.position.type", "nope", unsupported,
                 "ferry.encoder.position: positional encoding 'nope' is not supported");
    refuse_value(&model, "ferry.decoding.policy", "huggingfuss", unsupported, "'huggingfuss' is not supported");
    refuse_value(&model, "ferry.decoding.early_stopping", "maybe", unsupported, "'maybe' is not supported");
    refuse_value(&model, "ferry.tokenizer.kind", "nine", unsupported, "key 'ferry.tokenizer.kind': 'nine'");
    refuse_name(&model, "ferry.d_model", "ferry.d_modex", format, "key 'ferry.d_model' is missing");
    refuse_name(&model, "ferry.decoder.heads", "ferry.decoder.headz", format, "key 'ferry.decoder.heads' is missing");
    free_sample(&model);
}

static void test_sizes_and_ids(void **state)
{
    const ferry_status format = FERRY_ERROR_FORMAT;
    sample model = make_sample("positions/none-post");
    refuse_number(&model, "ferry.encoder.layers", 0, format, "'ferry.encoder.layers': expected 1 to 1024, found 0");
    refuse_number(&model, "ferry.encoder.layers", 3, format, "tensor 'enc.blk.2.attn_q.weight' is missing");
    refuse_number(&model, "ferry.decoder.layers", 1, format, "is unknown");
    refuse_number(&model, "ferry.d_model", 1u << 31, format, "'ferry.d_model': expected 1 to 65536, found 2147483648");
    refuse_number(&model, "ferry.d_model", 80, format,
                  "tensor 'token_embd.weight': expected shape [7, 80, 16], found [7, 64, 16]");
    refuse_number(&model, "ferry.encoder.heads", 5, format,
                  "tensor 'enc.blk.0.attn_q.weight': expected shape [5, 64, 16], found [4, 64, 16]");
    refuse_number(&model, "ferry.encoder.head_width", 65536, format, "tensor 'enc.blk.0.attn_q.weight'");
    refuse_number(&model, "ferry.decoder.ffn_width", 64, format,
                  "tensor 'dec.blk.0.ffn_up.weight': expected shape [4, 64, 16], found [8, 64, 16]");
    refuse_number(&model, "ferry.encoder.vocab_size", 96, format, "tied embeddings need one vocabulary");
    refuse_number(&model, "ferry.start_id", 97, format, "'ferry.start_id': expected -1 to 96, found 97");
    refuse_number(&model, "ferry.eos_ids", 97, format, "'ferry.eos_ids': expected 0 to 96, found 97");
    refuse_number(&model, "ferry.pad_id", 97, format, "'ferry.pad_id': expected -1 to 96, found 97");
    refuse_number(&model, "ferry.decoding.suppressed_ids", 97, format, "'ferry.decoding.suppressed_ids'");
    refuse_number(&model, "ferry.decoding.forced_last_id", 97, format, "'ferry.decoding.forced_last_id'");
    refuse_number(&model, "ferry.decoding.beam", 0, format, "'ferry.decoding.beam': expected 1 to 1024, found 0");
    refuse_number(&model, "ferry.decoding.repetition_penalty", 0, format, "expected a positive number");
    free_sample(&model);
}

static void test_tensors(void **state)
{
    sample model = make_sample("positions/none-post");
    refuse_name(&model, "enc.blk.1.ffn_norm.bias", "enc.blk.1.ffn_norm.bies", FERRY_ERROR_FORMAT,
                "tensor 'enc.blk.1.ffn_norm.bias' is missing");
    refuse_bytes(&model, value_of(&model, "ferry.output_bias"), "\0", 1, FERRY_ERROR_FORMAT,
                 "tensor 'output.bias' is unknown");
    /* One dimension, then the type: i32 is as wide as f32. */
    const unsigned char *bias = memmem(model.data, model.size, "enc.blk.0.attn_q.bias", 21);
    refuse_bytes(&model, (size_t)(bias - model.data) + 21 + 4 + 8, "\x1a", 1, FERRY_ERROR_FORMAT,
                 "tensor 'enc.blk.0.attn_q.bias': expected f32, found i32");
    const unsigned char *weight = memmem(model.data, model.size, "enc.blk.0.attn_q.weight", 23);
    refuse_bytes(&model, (size_t)(weight - model.data) + 23 + 4 + 24, "\x1a", 1, FERRY_ERROR_UNSUPPORTED,
                 "tensor 'enc.blk.0.attn_q.weight': expected f32, f16 or i8, found i32");
    free_sample(&model);
}

static void test_text(void **state)
{
    sample model = make_sample("models/marian-separate");
    refuse_name(&model, "ferry.tokenizer.source.pieces", "ferry.tokenizer.source.pieced", FERRY_ERROR_FORMAT,
                "key 'ferry.tokenizer.source.pieces' is missing");
    refuse_name(&model, "ferry.tokenizer.target.pieces", "ferry.tokenizer.target.pieced", FERRY_ERROR_FORMAT,
                "key 'ferry.tokenizer.target.pieces' is missing");
    refuse_number(&model, "ferry.tokenizer.source.unk_id", 901, FERRY_ERROR_FORMAT, "expected 0 to 900, found 901");
    refuse_number(&model, "ferry.tokenizer.source.suffix_ids", 901, FERRY_ERROR_FORMAT, "expected 0 to 900");
    refuse_number(&model, "ferry.tokenizer.target.special_ids", 701, FERRY_ERROR_FORMAT, "expected 0 to 700");
    /* The two tables change places: their names are equally long. */
    unsigned char *source = memmem(model.data, model.size, "source.pieces", 13);
    unsigned char *target = memmem(model.data, model.size, "target.pieces", 13);
    memcpy(source, "target", 6);
    memcpy(target, "source", 6);
    refuse(&model, FERRY_ERROR_FORMAT, "key 'ferry.tokenizer.source.pieces': expected 901 pieces, found 701");
    free_sample(&model);
}

static void test_cut_off(void **state)
{
    sample model = make_sample("positions/none-post");
    const size_t size = model.size;
    for (size_t cut = 1; cut < size; cut += cut / 2 + 1) {
        model.size = size - cut;
        /* Padding behind the last tensor may be missing. */
        if (cut > 64) refuse(&model, FERRY_ERROR_FORMAT, "");
    }
    free_sample(&model);
}

/* Whatever a header says, opening ends well. */
static void test_random_damage(void **state)
{
    ferry_error error;
    ferry_model_file file;
    sample model = make_sample("positions/learned-post");
    const unsigned char *last = memmem(model.data, model.size, "dec.blk.1.ffn_norm.bias", 23);
    const size_t header = (size_t)(last - model.data) + 23 + 24;
    uint32_t random = 1;
    int opened = 0;
    for (int round = 0; round < 1500; round++) {
        FILE *patch = fopen(model.path, "r+b");
        size_t places[3];
        for (int i = 0; i < 3; i++) {
            random = random * 1664525u + 1013904223u;
            places[i] = (random >> 8) % header;
            if (i > round % 3) places[i] = places[0];
            fseek(patch, (long)places[i], SEEK_SET);
            fputc((int)(random >> 3) & 0xff, patch);
        }
        fclose(patch);
        error.message[0] = '\0';
        if (ferry_model_file_open(model.path, ferry_kernels_find(NULL), &file, &error) == FERRY_OK) {
            opened++;
            ferry_model_file_close(&file);
        } else {
            assert_non_null(strstr(error.message, "sample.gguf: "));
        }
        patch = fopen(model.path, "r+b");
        for (int i = 0; i < 3; i++) {
            fseek(patch, (long)places[i], SEEK_SET);
            fputc(model.data[places[i]], patch);
        }
        fclose(patch);
    }
    assert_true(opened > 0 && opened < 1500);
    free_sample(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kind),          cmocka_unit_test(test_choices), cmocka_unit_test(test_sizes_and_ids),
        cmocka_unit_test(test_tensors),       cmocka_unit_test(test_text),    cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
