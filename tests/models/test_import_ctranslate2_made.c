/* CTranslate2 directories made here: what the published ones in the other tests do not have, and what is refused. */
#include "tests/support/ctranslate2_made.h"

#include "engine/api/model.h"

enum { D = MADE_D, H = MADE_H, F = MADE_F, V = MADE_V };

static void check_description(const made *m, const char *what)
{
    if (!described(made_convert(m), what)) fail_msg("expected '%s'", what);
}

/* Logits of the source "a b </s>" and the target "<s> c a". */
static void compute(const made *m, float *logits)
{
    static const int32_t ids[] = {3, 4, 1}, inputs[] = {0, 5, 3}, offsets[] = {0, 3};
    const ferry_model *model = made_convert(m);
    CHECK(ferry_inspect_logits(model, ids, offsets, 1, inputs, offsets, FERRY_INSPECT_ONE_PASS, logits, &error));
}

/* ---- what others do not have ---- */

TEST(test_position_schemes)
{
    made m = made_base();
    check_description(&m, "positions: sinusoidal, layout split, exponent_divisor half_minus_one, first 1");
    made_add(&m, "encoder/position_encodings/encodings", 7, D);
    check_description(&m, "positions: learned, max_positions 7");
    m = made_base();
    made_add(&m, "encoder/layer_0/self_attention/relative_position_keys", 5, D / H);
    made_add(&m, "encoder/layer_0/self_attention/relative_position_values", 5, D / H);
    check_description(&m, "positions: shaw, clip 2");
    made_drop(&m, "encoder/layer_0/self_attention/relative_position_values");
    made_refuse(&m, "relative_position_values' is missing");
    m = made_base();
    made_add(&m, "decoder/layer_0/self_attention/relative_attention_bias", 8, H);
    made_add_number(&m, "decoder/layer_0/self_attention/relative_attention_max_distance", 3, 20);
    check_description(&m, "positions: t5, num_buckets 8, max_distance 20");
    made_find(&m, "decoder/layer_0/self_attention/relative_attention_max_distance")->value = 4;
    made_refuse(&m, "8 buckets for distances up to 4");
    m = made_base();
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_dim", 3, 0);
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_interleave", 1, 0);
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_base", 0, 500);
    check_description(&m, "positions: rope, theta 500, layout half, dims 4");
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_scaling_type", 1, 0);
    made_refuse(&m, "scaled rotations are not supported");
    m = made_base();
    made_add_number(&m, "decoder/alibi", 1, 1);
    check_description(&m, "positions: alibi, slopes formula");
    made_add_number(&m, "decoder/scale_alibi", 1, 1);
    made_refuse(&m, "scaled ALiBi slopes are not supported");
}

/* The encoder's first layer once more as its second. */
static made two_layers(void)
{
    made m = made_base();
    for (size_t i = 0, count = m.count; i < count; i++) {
        made_variable copy = m.variables[i];
        if (strncmp(copy.name, "encoder/layer_0/", 16) != 0) continue;
        copy.name[14] = '1';
        m.variables[m.count++] = copy;
    }
    return m;
}

TEST(test_layers_that_differ)
{
    made m = two_layers();
    check_description(&m, "encoder: 2 layers");
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_dim", 3, 4);
    made_refuse(&m, "'encoder/layer_1/self_attention/rotary_dim' is 0, but 4 in layer 0");
    made_add_number(&m, "encoder/layer_1/self_attention/rotary_dim", 3, 4);
    check_description(&m, "positions: rope");
    m = two_layers();
    made_add(&m, "encoder/layer_0/self_attention/relative_attention_bias", 8, H);
    made_add(&m, "encoder/layer_1/self_attention/relative_attention_bias", 8, H);
    made_add_number(&m, "encoder/layer_0/self_attention/relative_attention_max_distance", 3, 20);
    made_add_number(&m, "encoder/layer_1/self_attention/relative_attention_max_distance", 3, 20);
    made_refuse(&m, "position biases that differ between layers are not supported");
    made_find(&m, "encoder/layer_0/self_attention/relative_attention_bias")->value = 1;
    made_find(&m, "encoder/layer_1/self_attention/relative_attention_bias")->value = 1;
    check_description(&m, "positions: t5");
}

/* A bias that is missing counts as zeros where another matrix of the stack has one. */
TEST(test_missing_biases)
{
    float with_zeros[3 * V], without[3 * V], all[3 * V];
    made m = made_base();
    compute(&m, all);
    made_find(&m, "decoder/layer_0/attention/linear_1/bias")->value = 0;
    compute(&m, with_zeros);
    made_drop(&m, "decoder/layer_0/attention/linear_1/bias");
    compute(&m, without);
    assert_memory_equal(with_zeros, without, sizeof without);
    assert_true(largest_difference(all, without, 3 * V) > 1e-4);
    made_drop_all(&m, "/bias");
    compute(&m, without);
    assert_true(largest_difference(with_zeros, without, 3 * V) > 1e-4);
}

TEST(test_norms)
{
    made m = made_base();
    m.config = "{\"layer_norm_epsilon\": 0.25}";
    check_description(&m, "pre-norm (eps 0.25)");
    m.config = "{}";
    made_drop_all(&m, "/beta");
    check_description(&m, "eps 1e-06");
    made_add(&m, "encoder/layer_norm/beta", D, 0);
    made_refuse(&m, "tensor 'encoder/layer_norm/beta' is unknown");
    m = made_base();
    made_add_number(&m, "encoder/pre_norm", 1, 0);
    made_drop(&m, "encoder/layer_norm/gamma");
    made_drop(&m, "encoder/layer_norm/beta");
    made_add_norm(&m, "encoder/layernorm_embedding");
    check_description(&m, "post-norm");
}

TEST(test_scales)
{
    float plain[3 * V], scaled[3 * V];
    made m = made_base();
    compute(&m, plain);
    made_add_number(&m, "decoder/scale_outputs", 0, 0.5f);
    compute(&m, scaled);
    for (size_t i = 0; i < 3 * V; i++) assert_float_equal(scaled[i], plain[i] / 2, 1e-6);
    m = made_base();
    made_add_number(&m, "encoder/scale_embeddings", 1, 0);
    made_refuse(&m, "embeddings are scaled by 1 in the encoder and 2.82843 in the decoder");
    made_add_number(&m, "decoder/scale_embeddings", 0, 1);
    compute(&m, scaled);
    assert_true(largest_difference(plain, scaled, 3 * V) > 1e-3);
    m = made_base();
    made_add_number(&m, "decoder/layer_0/attention/queries_scale", 0, 1);
    made_refuse(&m, "'decoder/layer_0/attention': a scale other than the first layer's");
}

/* A gate multiplies the other matrix's output: with zeros it silences the block but for the last bias. */
TEST(test_gate)
{
    float gated[3 * V], silent[3 * V];
    made m = made_base();
    made_find(&m, "decoder/layer_0/ffn/linear_1/weight")->value = 0;
    compute(&m, silent);
    m = made_base();
    made_add_linear(&m, "decoder/layer_0/ffn/linear_0_noact", F, D);
    made_add_number(&m, "decoder/activation", 1, 1);
    compute(&m, gated);
    assert_true(largest_difference(gated, silent, 3 * V) > 1e-4);
    made_find(&m, "decoder/layer_0/ffn/linear_0/weight")->value = 0;
    made_find(&m, "decoder/layer_0/ffn/linear_0/bias")->value = 0;
    compute(&m, gated);
    assert_memory_equal(gated, silent, sizeof gated);
}

TEST(test_start)
{
    made m = made_base();
    m.config = "{\"decoder_start_token\": \"<nowhere>\"}";
    made_refuse(&m, "the decoder's first input '<nowhere>' is not in the vocabulary");
    made_add_number(&m, "decoder/start_from_zero_embedding", 1, 1);
    const ferry_model *model = made_convert(&m);
    assert_int_equal(ferry_inspect_get_sizes(model).start_id, -1);
    m.config = "{\"decoder_start_token\": null}";
    made_refuse(&m, "'decoder_start_token' null");
    m.config = "{\"eos_token\": \"<end>\"}";
    made_refuse(&m, "the end of sentence '<end>' is not in the vocabulary");
}

static void check_ids(const made *m, const char *text, const int32_t *expected, size_t count)
{
    size_t found;
    const int32_t *ids = tokenized(made_convert(m), text, NULL, NULL, &found);
    assert_int_equal(found, count);
    assert_memory_equal(ids, expected, count * sizeof *ids);
}

TEST(test_frame)
{
    static const int32_t closed[] = {3, 4, 2, 1}, framed[] = {0, 3, 4, 2, 1}, bare[] = {3, 4, 2};
    made m = made_base();
    check_ids(&m, "a b other", closed, 4);
    m.config = "{\"add_source_eos\": true, \"add_source_bos\": true}";
    check_ids(&m, "a b other", framed, 5);
    m.config = "{}";
    check_ids(&m, "a b other", bare, 3);
    /* Before version 6 variables say so, whatever config.json says. */
    m.version = 5;
    m.config = "{\"add_source_bos\": true}";
    made_add_number(&m, "with_source_eos", 1, 1);
    made_add_number(&m, "with_target_bos", 1, 0);
    made_add(&m, "eos_token", 4, 0);
    made_find(&m, "eos_token")->type = 1;
    made_find(&m, "eos_token")->bytes = "</s>";
    check_ids(&m, "a b other", closed, 4);
    const ferry_model *model = made_convert(&m);
    assert_int_equal(ferry_inspect_get_sizes(model).start_id, 1);
    made_add_number(&m, "user_decoder_start_tokens", 1, 1);
    made_refuse(&m, "a first decoder input that the caller chooses");
}

/* ---- what is absent ---- */

TEST(test_defaults)
{
    made m = made_base();
    made_drop(&m, "encoder/num_heads");
    made_drop(&m, "decoder/num_heads");
    check_description(&m, "8 heads of width 1, ffn 12 (relu), pre-norm (eps 1e-05)\n");
    check_description(&m, "d_model 8; embeddings × 2.82843;");
    check_description(&m, "alignment: layer 0, head 0\n");
    check_description(&m, "ids: start 0, pad -1, end 1\n");
    const ferry_model *model = made_convert(&m);
    const ferry_transformer *graph = &model->file.transformer;
    const ferry_options *decoding = &model->file.generation.decoding;
    assert_true(graph->encoder.attention_scale == 1 && graph->decoder.attention_scale == 1 && graph->output_scale == 1);
    assert_int_equal(decoding->policy, FERRY_POLICY_CTRANSLATE2);
    assert_true(decoding->beam == 2 && decoding->max_length == 256 && decoding->min_length == 1);
    assert_true(decoding->length_penalty == 1 && decoding->repetition_penalty == 1 && decoding->no_repeat_ngram == 0);
    m = made_base();
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_dim", 3, 0);
    check_description(&m, "positions: rope, theta 10000, layout interleaved, dims 4");
    m = made_base();
    made_add(&m, "decoder/layer_0/self_attention/relative_attention_bias", 8, H);
    made_refuse(&m, "8 buckets for distances up to 0");
}

/* ---- integers ---- */

/* Rows of queries, keys and values, each with a scale of its own. */
TEST(test_scales_of_fused_matrices)
{
    static const char *const names[] = {"self_attention/linear_0", "attention/linear_1"};
    made m = made_base();
    for (int i = 0; i < 2; i++) {
        char name[96];
        snprintf(name, sizeof name, "decoder/layer_0/%s/weight", names[i]);
        made_variable *weight = made_find(&m, name);
        weight->type = 1;
        weight->value = 100;
        const uint32_t rows = weight->shape[0];
        snprintf(name, sizeof name, "decoder/layer_0/%s/weight_scale", names[i]);
        made_add(&m, name, rows, 0);
        made_find(&m, name)->value = 2;
        made_find(&m, name)->step = 3;
    }
    const ferry_layer *layer = &made_convert(&m)->file.transformer.decoder.layers[0];
    const ferry_matrix *const matrices[] = {&layer->self.q, &layer->self.k, &layer->self.v, &layer->cross.k,
                                            &layer->cross.v};
    for (int i = 0; i < 5; i++)
        for (int n = 0; n < D; n++) {
            float row[D];
            ferry_matrix_row(matrices[i], n, row);
            for (int k = 0; k < D; k++) assert_float_equal(row[k], 100.0f / (float)(2 + 3 * (i % 3 * D + n)), 1e-5);
        }
}

/* ---- older revisions ---- */

TEST(test_old_revisions)
{
    made m = made_base();
    m.version = 5;
    m.revision = 4;
    made_drop(&m, "encoder/num_heads");
    made_drop(&m, "decoder/num_heads");
    check_description(&m, "8 heads of width 1");
    made_add_number(&m, "num_heads", 2, 4);
    made_add_number(&m, "pre_norm", 1, 0);
    check_description(&m, "4 heads of width 2");
    check_description(&m, "post-norm");
    m.revision = 3;
    made_refuse(&m, "encoder/embeddings/weight' is missing");
    snprintf(made_find(&m, "encoder/embeddings_0/weight")->name, 96, "encoder/embeddings/weight");
    check_description(&m, "embeddings × 2.82843");
    made_add_number(&m, "encoder/embeddings/multiply_by_sqrt_depth", 1, 0);
    made_add_number(&m, "decoder/embeddings/multiply_by_sqrt_depth", 1, 0);
    check_description(&m, "embeddings × 1;");
    made_drop(&m, "num_heads");
    m.revision = 2;
    m.specification = "TransformerBig";
    made_refuse(&m, "for 16 heads");
}

TEST(test_alignment)
{
    made m = made_base();
    check_description(&m, "alignment: layer 0, head 0");
    made_add_number(&m, "decoder/alignment_heads", 2, 0); /* the mean of all */
    check_description(&m, "alignment: layer 0, heads 0 to 1");
}

/* ---- vocabularies ---- */

TEST(test_vocabularies)
{
    static const int32_t twice[] = {3, 5, 1};
    made m = made_base();
    m.vocabulary_name = "shared_vocabulary.txt";
    m.vocabulary = "<s>\n</s>\na\na\nb\n"; /* the unknown token joins; the first of two equal ones counts */
    check_ids(&m, "a x", (const int32_t[]){2, 5, 1}, 3);
    m.vocabulary = "<s>\r\n</s>\r\n<unk>\r\na\r\nb\r\nc\r\n";
    check_ids(&m, "a c", twice, 3);
    m.vocabulary = "<s>\n</s>\n<unk>\na\nb\nc\r";
    check_ids(&m, "a c", (const int32_t[]){3, 2, 1}, 3);
    m.vocabulary = "<s>\n</s>\n<unk>\na\n";
    made_refuse(&m, "shared_vocabulary.txt: 4 tokens (with the unknown one) for 6 rows");
    m.vocabulary_name = "shared_vocabulary.json";
    m.vocabulary = "[\"<s>\", 7]";
    made_refuse(&m, "shared_vocabulary.json: expected texts, found something else at 1");
    m.vocabulary = "[\"<s>\", \"a\\u0000b\"]";
    made_refuse(&m, "shared_vocabulary.json: expected texts, found something else at 1");
    m.vocabulary = "[\"<s>\"";
    made_refuse(&m, "shared_vocabulary.json: line 1");
    m.vocabulary_name = "target_vocabulary.json";
    made_refuse(&m, "target_vocabulary.json: line 1");
    m.vocabulary = "[]";
    made_refuse(&m, "expected source_vocabulary.json or .txt");
}

/* Beside SentencePiece models of Hugging Face's names a source is closed, though config.json does not say so. */
TEST(test_segmenters)
{
    size_t count;
    made m = made_base();
    m.config = "{}";
    char *directory = made_write(&m);
    link_file(data_file("models/marian-separate/source.spm"), directory, "source.spm");
    link_file(data_file("models/marian-separate/target.spm"), directory, "target.spm");
    const ferry_model *model = opened(directory);
    assert_true(described(model, "text: SentencePiece"));
    assert_false(described(model, "one model for both sides"));
    const int32_t *ids = tokenized(model, "Hello", NULL, NULL, &count);
    assert_int_equal(ids[count - 1], 1);
}

/* ---- what cannot be run ---- */

TEST(test_refused_variables)
{
    static const char *const tensors[][2] = {
        {"decoder/layer_0/self_attention/q_norm/gamma", "norms of each head's queries"},
        {"encoder/layer_0/input_layer_norm/gamma", "norms before and after each block"},
        {"encoder/embeddings_1/weight", "source factors"},
        {"decoder/project_in/weight", "projections around the layers"},
        {"encoder/layer_0/self_attention/relative_asymmetric_position_keys", "asymmetric relative positions"},
        {"encoder/layer_0/ffn/layer_norm/layer_norm_use_residual", "1 + gamma"},
        {"encoder/layer_0/ffn/linear_0/weight_zero", "AWQ"},
        {"decoder/novelty/weight", "tensor 'decoder/novelty/weight' is unknown"},
    };
    static const struct {
        const char *name;
        float value;
        const char *what;
    } numbers[] = {
        {"encoder/layer_0/self_attention/num_heads_kv", 1, "keys and values shared by heads"},
        {"decoder/layer_0/attention/multi_query", 1, "keys and values shared by heads"},
        {"decoder/final_logit_softcapping", 30, "soft caps"},
        {"decoder/sliding_window", 4, "a sliding window"},
        {"decoder/activation", 5, "activation 5 (tanh)"},
        {"decoder/activation", 6, "activation 6 (sigmoid)"},
        {"encoder/alibi", 1, "ALiBi in an encoder"},
        {"decoder/layer_0/attention/head_dim", 3, "head_dim 3 does not fit the matrices' 4"},
    };
    for (size_t i = 0; i < COUNT(tensors); i++) {
        made m = made_base();
        made_add(&m, tensors[i][0], D, D);
        made_refuse(&m, tensors[i][1]);
        made_refuse(&m, tensors[i][0]);
    }
    for (size_t i = 0; i < COUNT(numbers); i++) {
        made m = made_base();
        made_add_number(&m, numbers[i].name, 0, numbers[i].value);
        made_refuse(&m, numbers[i].what);
    }
}

TEST(test_refused_models)
{
    made m = made_base();
    m.specification = "WhisperSpec";
    made_refuse(&m, "a model of the kind 'WhisperSpec'");
    m = made_base();
    m.revision = 8;
    made_refuse(&m, "revision 8 of TransformerSpec is newer");
    m = made_base();
    m.config = "{\"quantization_type\": 1}";
    made_refuse(&m, "'quantization_type' 1: weights of 4 bits");
    m = made_base();
    made_find(&m, "decoder/num_heads")->value = 3;
    made_refuse(&m, "for 3 heads");
    m = made_base();
    made_find(&m, "decoder/projection/weight")->shape[0] = V - 1;
    made_refuse(&m, "tensor 'decoder/projection/weight': expected shape [6, 8], found [5, 8]");
    m = made_base();
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight")->type = 1;
    made_refuse(&m, "integers without a multiplier");
    made_add(&m, "encoder/layer_0/ffn/linear_0/weight_scale", F, 0);
    made_refuse(&m, "expected 1 or 12 positive float32 numbers"); /* some are negative */
    m = made_base();
    made_drop(&m, "decoder/layer_0/attention/layer_norm/gamma");
    made_refuse(&m, "decoder/layer_0/attention/layer_norm/gamma' is missing");
}
