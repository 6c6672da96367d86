/* CTranslate2 directories made here: what the published ones in the other tests do not have, and what is refused. */
#include "tests/support/ctranslate2_made.h"

#include "engine/kernels/linear.h"
#include "engine/lines/model.h"

enum { D = MADE_D, H = MADE_H, F = MADE_F, V = MADE_V };

static void made_drop(made *m, const char *name)
{
    made_variable *v = made_find(m, name);
    *v = m->variables[--m->count];
}

/* Every variable whose name ends so. */
static void made_drop_all(made *m, const char *end)
{
    for (size_t i = m->count; i-- > 0;) {
        const size_t size = strlen(m->variables[i].name);
        if (size < strlen(end) || strcmp(m->variables[i].name + size - strlen(end), end) != 0) continue;
        m->variables[i] = m->variables[--m->count];
    }
}

static const ferry_model *made_convert(const made *m)
{
    return opened(made_write(m));
}

/* The import must fail with a message that holds `what`, and leave no file. */
static void made_refuse(const made *m, const char *what)
{
    refuse_source(made_write(m), ANY_ERROR, what);
}

static void check_made(const made *m, const char *keys)
{
    check_saying(made_write(m), keys);
}

/* Logits of the source "a b </s>" and the target "<s> c a". */
static const float *compute(const made *m)
{
    static const int32_t ids[] = {3, 4, 1}, inputs[] = {0, 5, 3};
    return logits_of(made_convert(m), ids, 3, inputs, 3);
}

/* ---- numbers ---- */

/* Layer 0 of the stack once more as its layer 1. */
static made two_layers(const char *stack)
{
    made m = made_base();
    const ferry_short_text first = ferry_format("%s/layer_0/", stack);
    for (size_t i = 0, count = m.count; i < count; i++) {
        made_variable copy = m.variables[i];
        if (!ferry_text_begins(copy.name, first.text)) continue;
        copy.name[14] = '1';
        m.variables[m.count++] = copy;
    }
    return m;
}

/* Variables of one element that join the base model, or one with two layers in the decoder. */
typedef struct number_row {
    struct {
        const char *name;
        float value;
    } numbers[4];
    const char *says; /* as check_saying has it */
} number_row;

static void check_numbers(const made *base, const number_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        made m = *base;
        for (size_t k = 0; k < COUNT(rows->numbers) && rows[i].numbers[k].name != NULL; k++)
            made_add_number(&m, rows[i].numbers[k].name, 0, rows[i].numbers[k].value);
        check_made(&m, rows[i].says);
    }
}

#define SELF "encoder/layer_0/self_attention/"

TEST(test_numbers)
{
    static const number_row rows[] = {
        {.says = "encoder.activation relu; decoder.activation relu; encoder.norm_position pre; output_scale 1"},
        {{{"encoder/activation", 1}}, "encoder.activation gelu_tanh; decoder.activation relu"},
        {{{"decoder/activation", 2}}, "encoder.activation relu; decoder.activation swish"},
        {{{"decoder/activation", 3}}, "decoder.activation gelu"},
        {{{"decoder/activation", 4}}, "decoder.activation gelu_sigmoid"},
        {{{"decoder/activation", 5}}, "…activation 5 (tanh)"},
        {{{"decoder/activation", 6}}, "…activation 6 (sigmoid)"},
        {{{"decoder/activation", 7}}, "…activation 7 (unknown)"},
        {{{"decoder/activation", -1}}, "…activation -1 (unknown)"},
        {{{"encoder/pre_norm", 0}}, "encoder.norm_position post; decoder.norm_position pre"},
        {{{"decoder/scale_outputs", 0.5f}}, "output_scale 0.5"},
        {{{"decoder/final_logit_softcapping", 0}, {"decoder/sliding_window", 0}}, "decoder.heads 2"},
        {{{"decoder/final_logit_softcapping", 30}}, "…soft caps"},
        {{{"decoder/sliding_window", 4}}, "…a sliding window"},
        {{{"encoder/scale_embeddings", 1}}, "…scaled by 1 in the encoder and 2.82843 in the decoder"},
        {{{"encoder/scale_embeddings", 3}, {"decoder/scale_embeddings", 3}}, "embedding_scale 3"},
        {{{SELF "num_heads_kv", 2}, {SELF "head_dim", 4}, {SELF "multi_query", 0}}, "encoder.head_width 4"},
        {{{SELF "num_heads_kv", 1}}, "…keys and values shared by heads"},
        {{{"decoder/layer_0/attention/multi_query", 1}}, "…keys and values shared by heads"},
        {{{"decoder/layer_0/attention/head_dim", 3}}, "…head_dim 3 does not fit the matrices' 4"},
        {{{SELF "queries_scale", 0.25f}}, "encoder.attention_scale 0.25; decoder.attention_scale 0.5"},
        {{{"decoder/layer_0/self_attention/queries_scale", 1}, {"decoder/layer_0/attention/queries_scale", 1}},
         "encoder.attention_scale 0.5; decoder.attention_scale 1"},
        {{{"decoder/layer_0/attention/queries_scale", 1}}, "…'decoder/layer_0/attention': a scale other than the"},
        {{{"encoder/alibi", 1}}, "…ALiBi in an encoder"},
        {{{"decoder/alibi", 1}}, "decoder.position.type alibi; decoder.position.slopes formula"},
        {{{"decoder/alibi", 1}, {"decoder/alibi_use_positive_positions", 1}}, "decoder.position.type alibi"},
        {{{"decoder/alibi", 1}, {"decoder/scale_alibi", 1}}, "…scaled ALiBi slopes are not supported"},
        {{{SELF "rotary_dim", 0}},
         "encoder.position.theta 10000; encoder.position.layout interleaved; "
         "encoder.position.dims 4; decoder.position.type sinusoidal"},
        {{{SELF "rotary_dim", 0}, {SELF "rotary_interleave", 0}, {SELF "rotary_base", 500}},
         "encoder.position.theta 500; encoder.position.layout half"},
        {{{SELF "rotary_dim", 2}}, "encoder.position.dims 2"},
        {{{SELF "rotary_dim", 4}, {SELF "rotary_scaling_type", -1}}, "encoder.position.dims 4"},
        {{{SELF "rotary_dim", 1}}, "…rotations of 1 columns with base 10000"},
        {{{SELF "rotary_dim", 3}}, "…rotations of 3 columns"},
        {{{SELF "rotary_dim", 6}}, "…rotations of 6 columns"},
        {{{SELF "rotary_dim", 0}, {SELF "rotary_base", 1}}, "…rotations of 4 columns with base 1"},
        {{{SELF "rotary_dim", 0}, {SELF "rotary_scaling_type", 0}, {SELF "rotary_scaling_factor", 4}},
         "encoder.position.scaling linear; encoder.position.factor 4"},
        {{{SELF "rotary_dim", 0},
          {SELF "rotary_scaling_type", 2},
          {SELF "rotary_scaling_factor", 8},
          {SELF "original_max_position_embeddings", 512}},
         "encoder.position.scaling llama3; encoder.position.factor 8; encoder.position.original_length 512; "
         "encoder.position.fast 4; encoder.position.slow 1"},
        {{{SELF "rotary_dim", 0}, {SELF "rotary_scaling_type", 1}}, "…rotations scaled as `su`"},
        {{{SELF "rotary_dim", 0}, {SELF "rotary_scaling_type", 2}},
         "…rotations scaled by 1, from 1 to 4 turns in 0 positions"},
    };
    const made m = made_base();
    check_numbers(&m, rows, COUNT(rows));
}

/* A layer, counted from the end when negative, and the mean of its first heads, or of all where their number is 0. */
TEST(test_alignment)
{
    static const number_row rows[] = {
        {.says = "alignment_layer 1; alignment_head 0; alignment_heads 1"},
        {{{"decoder/alignment_layer", 0}}, "alignment_layer 0; alignment_heads 1"},
        {{{"decoder/alignment_layer", 1}}, "alignment_layer 1"},
        {{{"decoder/alignment_layer", 2}}, "alignment_layer -1"},
        {{{"decoder/alignment_layer", -1}}, "alignment_layer 1"},
        {{{"decoder/alignment_layer", -2}}, "alignment_layer 0"},
        {{{"decoder/alignment_layer", -3}}, "alignment_layer -1"},
        {{{"decoder/alignment_heads", 0}}, "alignment_layer 1; alignment_heads 2"},
        {{{"decoder/alignment_heads", 2}}, "alignment_layer 1; alignment_heads 2"},
        {{{"decoder/alignment_heads", 3}}, "alignment_layer -1"},
    };
    const made m = two_layers("decoder");
    check_numbers(&m, rows, COUNT(rows));
}

/* What each layer of a stack says about positions must be the same. */
TEST(test_layers_that_differ)
{
    made m = two_layers("encoder");
    check_made(&m, "encoder.layers 2; decoder.layers 1");
    made_add_number(&m, "encoder/layer_0/self_attention/rotary_dim", 3, 4);
    made_refuse(&m, "'encoder/layer_1/self_attention/rotary_dim' is 0, but 4 in layer 0");
    made_add_number(&m, "encoder/layer_1/self_attention/rotary_dim", 3, 4);
    check_made(&m, "encoder.position.type rope");
    m = two_layers("encoder");
    for (int i = 0; i < 2; i++) {
        const ferry_short_text scope = ferry_format("encoder/layer_%d/self_attention", i);
        made_add(&m, ferry_format("%s/relative_attention_bias", scope.text).text, 8, H);
        made_add_number(&m, ferry_format("%s/relative_attention_max_distance", scope.text).text, 3, 20);
    }
    made_refuse(&m, "position biases that differ between layers are not supported");
    made_find(&m, "encoder/layer_0/self_attention/relative_attention_bias")->value = 1;
    made_find(&m, "encoder/layer_1/self_attention/relative_attention_bias")->value = 1;
    check_made(&m, "encoder.position.type t5");
    made_drop(&m, "encoder/layer_1/self_attention/relative_attention_bias");
    check_made(&m, "encoder.position.type t5; encoder.position.num_buckets 8");
}

/* ---- tables of positions ---- */

TEST(test_position_schemes)
{
    made m = made_base();
    check_made(&m, "encoder.position.type sinusoidal; encoder.position.layout split; decoder.position.first 1; "
                   "decoder.position.exponent_divisor half_minus_one");
    made_add(&m, "encoder/position_encodings/encodings", 7, D);
    check_made(&m, "encoder.position.type learned; encoder.position.max_positions 7");
    for (uint32_t rows = 1; rows <= 5; rows++) {
        m = made_base();
        made_add(&m, "encoder/layer_0/self_attention/relative_position_keys", rows, D / H);
        made_add(&m, "encoder/layer_0/self_attention/relative_position_values", rows, D / H);
        if (rows == 3) check_made(&m, "encoder.position.type shaw; encoder.position.clip 1");
        if (rows == 5) check_made(&m, "encoder.position.clip 2");
        if (rows % 2 == 0 || rows == 1) made_refuse(&m, "relative positions: expected an odd number of rows, found");
    }
    made_drop(&m, "encoder/layer_0/self_attention/relative_position_values");
    made_refuse(&m, "relative_position_values' is missing");
    m = made_base();
    made_add(&m, "decoder/layer_0/self_attention/relative_attention_bias", 8, H);
    made_refuse(&m, "8 buckets for distances up to 0");
}

/* They begin behind half of a direction's buckets: an encoder has two directions. */
TEST(test_distances)
{
    static const struct {
        const char *stack;
        float distance;
        bool accepted;
    } rows[] = {{"encoder", 2, false}, {"encoder", 3, true},     {"decoder", 4, false},
                {"decoder", 5, true},  {"decoder", 16384, true}, {"decoder", 16385, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        made m = made_base();
        const char *stack = rows[i].stack;
        const ferry_short_text bias = ferry_format("%s/layer_0/self_attention/relative_attention_", stack);
        made_add(&m, ferry_format("%sbias", bias.text).text, 8, H);
        made_add_number(&m, ferry_format("%smax_distance", bias.text).text, 3, rows[i].distance);
        const double most = (double)rows[i].distance;
        const ferry_short_text said = ferry_format("%s.position.num_buckets 8; %s.position.max_distance %g", stack,
                                                   stack, most),
                               refused = ferry_format("\u20268 buckets for distances up to %g", most);
        check_made(&m, rows[i].accepted ? said.text : refused.text);
    }
}

/* ---- weights ---- */

/* A bias that is missing counts as zeros where another matrix of the stack has one. */
TEST(test_missing_biases)
{
    made m = made_base();
    const float *all = compute(&m);
    made_find(&m, "decoder/layer_0/attention/linear_1/bias")->value = 0;
    const float *with_zeros = compute(&m);
    made_drop(&m, "decoder/layer_0/attention/linear_1/bias");
    assert_memory_equal(with_zeros, compute(&m), 3 * V * sizeof *all);
    assert_true(largest_difference(all, with_zeros, 3 * V) > 1e-4);
    made_drop_all(&m, "/bias");
    assert_true(largest_difference(with_zeros, compute(&m), 3 * V) > 1e-4);
}

/* RMS norms have no beta, and another epsilon. */
TEST(test_norms)
{
    made m = made_base();
    check_made(&m, "encoder.norm layernorm; encoder.norm_eps 1e-05; encoder.final_norm true; encoder.embedding_norm "
                   "false");
    m.config = "{\"layer_norm_epsilon\": 0.25}";
    check_made(&m, "encoder.norm_eps 0.25; decoder.norm_eps 0.25");
    m.config = "{}";
    made_drop_all(&m, "/beta");
    check_made(&m, "encoder.norm rms; decoder.norm_eps 1e-06");
    made_add(&m, "encoder/layer_norm/beta", D, 0);
    made_refuse(&m, "tensor 'encoder/layer_norm/beta' is unknown");
    m = made_base();
    made_add_number(&m, "encoder/pre_norm", 1, 0);
    made_drop(&m, "encoder/layer_norm/gamma");
    made_drop(&m, "encoder/layer_norm/beta");
    made_add_norm(&m, "encoder/layernorm_embedding");
    check_made(&m, "encoder.norm_position post; encoder.embedding_norm true; encoder.final_norm false");
}

/* A gate multiplies the other matrix's output: with zeros it silences the block but for the last bias. */
TEST(test_gate)
{
    made m = made_base();
    made_find(&m, "decoder/layer_0/ffn/linear_1/weight")->value = 0;
    const float *silent = compute(&m);
    m = made_base();
    made_add_linear(&m, "decoder/layer_0/ffn/linear_0_noact", F, D);
    made_add_number(&m, "decoder/activation", 1, 1);
    assert_true(largest_difference(compute(&m), silent, 3 * V) > 1e-4);
    made_find(&m, "decoder/layer_0/ffn/linear_0/weight")->value = 0;
    made_find(&m, "decoder/layer_0/ffn/linear_0/bias")->value = 0;
    assert_memory_equal(compute(&m), silent, 3 * V * sizeof *silent);
}

/* A bias of the output may be missing; a table that both sides share is not told by its numbers. */
TEST(test_output)
{
    made m = made_base();
    check_made(&m, "output_bias false; tied_output false; tied_embeddings false");
    made_add(&m, "decoder/projection/bias", V, 0);
    check_made(&m, "output_bias true");
    made_find(&m, "decoder/projection/bias")->shape[0] = V - 1;
    made_refuse(&m, "tensor 'decoder/projection/bias': expected shape [6], found [5]");
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

/* ---- tokens ---- */

TEST(test_start)
{
    made m = made_base();
    check_made(&m, "start_id 0; pad_id -1; eos_ids 1");
    m.config = "{\"decoder_start_token\": \"<nowhere>\"}";
    made_refuse(&m, "the decoder's first input '<nowhere>' is not in the vocabulary");
    made_add_number(&m, "decoder/start_from_zero_embedding", 1, 1);
    check_made(&m, "start_id -1");
    m.config = "{\"decoder_start_token\": null}";
    made_refuse(&m, "'decoder_start_token' null");
    m.config = "{\"eos_token\": \"<end>\"}";
    made_refuse(&m, "the end of sentence '<end>' is not in the vocabulary");
    m = made_base();
    m.config = "{\"unk_token\": \"a\", \"bos_token\": \"b\", \"eos_token\": \"c\", \"decoder_start_token\": \"c\", "
               "\"add_source_bos\": true}";
    check_made(&m, "start_id 5; eos_ids 5; tokenizer.source.unk_id 3; tokenizer.source.prefix_ids 4; "
                   "tokenizer.source.suffix_ids ; tokenizer.target.special_ids 5 3 4 0 1");
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
    check_made(&m, "start_id 0; tokenizer.source.prefix_ids ; tokenizer.source.suffix_ids ");
    made_add_number(&m, "with_source_eos", 1, 1);
    made_add_number(&m, "with_target_bos", 1, 0);
    made_add(&m, "eos_token", 4, 0);
    made_find(&m, "eos_token")->type = 1;
    made_find(&m, "eos_token")->bytes = "</s>";
    check_ids(&m, "a b other", closed, 4);
    check_made(&m, "start_id 1");
    made_add_number(&m, "with_source_bos", 1, 1);
    check_ids(&m, "a b other", framed, 5);
    made_add(&m, "unk_token", 1, 0);
    made_find(&m, "unk_token")->type = 1;
    made_find(&m, "unk_token")->bytes = "c";
    check_made(&m, "tokenizer.source.unk_id 5");
    made_add_number(&m, "user_decoder_start_tokens", 1, 1);
    made_refuse(&m, "a first decoder input that the caller chooses");
}

/* Two tags are the fewest; each form of them. */
TEST(test_languages)
{
    static const char *const rows[][2] = {
        {"[\"<s>\", \"</s>\", \"<unk>\", \"a\", \"b\", \"__de__\"]", "languages.names absent"},
        {"[\"<s>\", \"</s>\", \"<unk>\", \"a\", \"__en__\", \"__ceb__\"]",
         "languages.names __en__ en eng|__ceb__ ceb; languages.source_ids 4 5; languages.target_ids 4 5; "
         "languages.source_tag prefix; languages.target_tag first; tokenizer.target.special_ids 1 2 0 4 5"},
        {"[\"<s>\", \"</s>\", \"<unk>\", \"a\", \"deu_Latn\", \"fra_Latn\"]",
         "languages.names deu_Latn de deu|fra_Latn fr fra"},
        {"[\"de_DE\", \"en_XX\", \"</s>\", \"<unk>\", \"<s>\", \"a\"]",
         "languages.names de_DE de deu|en_XX en eng; languages.source_ids 0 1"},
        {"[\"<s>\", \"</s>\", \"<unk>\", \"_de_\", \"__DE__\", \"__dede__\"]", "languages.names absent"},
        {"[\"<s>\", \"</s>\", \"<unk>\", \"a\", \"b\", \">>deu<<\"]",
         "languages.names deu de; languages.target_ids 5; languages.source_tag none; languages.target_tag prefix; "
         "tokenizer.source.leading_tag true"},
        {"[\"<s>\", \"</s>\", \"<unk>\", \"a\", \"<2de>\", \"<2zh_Hans>\"]",
         "languages.names de deu|zh_Hans zh zho cmn; languages.prompts <2de> |<2zh_Hans> ; languages.prompt_sources -1 "
         "-1; "
         "languages.prompt_targets 0 1; tokenizer.source.leading_tag false; tokenizer.target.special_ids 1 2 0 4 5"},
    };
    made m = made_base();
    check_made(&m, "tokenizer.source.leading_tag false; languages.names absent");
    for (size_t i = 0; i < COUNT(rows); i++) {
        m.vocabulary = rows[i][0];
        check_made(&m, rows[i][1]);
    }
    /* SMaLL-100's tokenizer beside the model: the target's tag before the source. */
    static const char *const small[][2] = {{"tokenization_small100.py", ""},
                                           {"tokenizer_config.json", "{\"tokenizer_class\": \"SMALL100Tokenizer\"}"}};
    for (size_t i = 0; i < COUNT(small); i++) {
        m.vocabulary = rows[1][0];
        char *directory = made_write(&m);
        write_text(directory, small[i][0], small[i][1]);
        check_file_keys(converted(directory), "languages.names __en__ en eng|__ceb__ ceb; languages.target_ids 4 5; "
                                              "languages.source_tag none; languages.target_tag prefix");
    }
    /* An Argos package's pair counts only where there are no tags. */
    for (int i = 0; i < 2; i++) {
        m.vocabulary = rows[i][0];
        char *directory = made_write(&m);
        write_text(directory, "metadata.json", "{\"from_code\": \"fr\", \"to_code\": \"de\"}");
        check_file_keys(converted(directory), i == 0 ? "origin.kind argos; languages.names fr fra|de deu"
                                                     : "origin.kind argos; languages.names __en__ en eng|__ceb__ ceb");
    }
}

/* ---- what is absent ---- */

TEST(test_defaults)
{
    made m = made_base();
    made_drop(&m, "encoder/num_heads");
    made_drop(&m, "decoder/num_heads");
    check_made(&m, "encoder.heads 8; encoder.head_width 1; encoder.ffn_width 12; d_model 8; embedding_scale 2.82843; "
                   "encoder.attention_scale 1; decoder.attention_scale 1; alignment_layer 0; alignment_head 0");
    check_made(&m, "decoding.policy ctranslate2; decoding.beam 2; decoding.max_length 256; decoding.min_length 1; "
                   "decoding.length_penalty 1; decoding.repetition_penalty 1; decoding.no_repeat_ngram 0");
    m.version = 5;
    m.config = NULL;
    check_made(&m, "encoder.heads 8; tokenizer.source.suffix_ids ");
}

/* From version 6 on tokens are in config.json, which may be that of transformers, too; model.bin is known by its
 * content. */
TEST(test_configurations)
{
    static const char tokens[] = "('decoder_start_token' and others) that ";
    made m = made_base();
    m.config = NULL;
    made_refuse(&m, tokens);
    made_refuse(&m, "/model.bin of version 6 of CTranslate2 needs, found no such file");
    m.config = "{\"model_type\": \"m2m_100\", \"decoder_start_token_id\": 2}";
    made_refuse(&m, tokens);
    refuse_source(in_directory(made_write(&m), "model.bin"), FERRY_ERROR_FORMAT,
                  "found a configuration of transformers");
    m.config = "{\"architectures\": [\"M2M100ForConditionalGeneration\"], \"decoder_start_token\": \"</s>\"}";
    check_made(&m, "origin.kind ctranslate2; start_id 1");
    char *directory = made_write(&m);
    write_text(directory, "pytorch_model.bin", "?");
    refuse_source(directory, FERRY_ERROR_FORMAT, "/pytorch_model.bin: not a PyTorch file");
    check_saying(in_directory(directory, "model.bin"), "origin.kind ctranslate2; start_id 1");
    m.vocabulary_name = "vocabulary.json";
    made_refuse(&m,
                "expected shared_vocabulary.json or .txt beside model.bin, or source_vocabulary and target_vocabulary");
}

/* ---- older revisions ---- */

TEST(test_old_revisions)
{
    made m = made_base();
    m.version = 5;
    m.revision = 4;
    made_drop(&m, "encoder/num_heads");
    made_drop(&m, "decoder/num_heads");
    check_made(&m, "encoder.heads 8; encoder.head_width 1");
    made_add_number(&m, "num_heads", 2, 4);
    made_add_number(&m, "pre_norm", 1, 0);
    made_add_number(&m, "activation", 1, 2);
    check_made(&m, "encoder.heads 4; decoder.heads 4; decoder.norm_position post; encoder.activation swish");
    m.revision = 3;
    made_refuse(&m, "encoder/embeddings/weight' is missing");
    snprintf(made_find(&m, "encoder/embeddings_0/weight")->name, 96, "encoder/embeddings/weight");
    check_made(&m, "embedding_scale 2.82843");
    made_add_number(&m, "encoder/embeddings/multiply_by_sqrt_depth", 1, 0);
    made_add_number(&m, "decoder/embeddings/multiply_by_sqrt_depth", 1, 0);
    check_made(&m, "embedding_scale 1");
    made_drop(&m, "num_heads");
    m.revision = 2;
    m.specification = "TransformerBig";
    made_refuse(&m, "for 16 heads");
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
    m.vocabulary = "<unk>\n<s>\n</s>\na\nb\nc\n"; /* the unknown token is the first */
    check_ids(&m, "a x", (const int32_t[]){3, 0, 2}, 3);
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
    made_refuse(&m, "expected source_vocabulary.json or .txt beside the target's");
}

/* A vocabulary for each side, as JSON or as lines. */
TEST(test_two_vocabularies)
{
    static const char json[] = "[\"<s>\", \"</s>\", \"<unk>\", \"x\", \"y\", \"z\"]",
                      text[] = "<s>\n</s>\n<unk>\nx\ny\nz\n";
    made m = made_base();
    m.vocabulary_name = "target_vocabulary.txt";
    m.vocabulary = "<s>\n</s>\n<unk>\na\nb\nc\n";
    for (int i = 0; i < 2; i++) {
        char *directory = made_write(&m);
        write_text(directory, "source_1_vocabulary.json", "[]");
        refuse_source(directory, FERRY_ERROR_UNSUPPORTED, "source factors are not supported");
        write_text(directory, i == 0 ? "source_vocabulary.json" : "source_vocabulary.txt", i == 0 ? json : text);
        check_file_keys(converted(directory), "tokenizer.source.pieces <s>|</s>|<unk>|x|y|z; "
                                              "tokenizer.target.pieces <s>|</s>|<unk>|a|b|c; languages.names absent");
    }
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
    /* In an Argos package, a SentencePiece model counts, not merges. */
    directory = made_write(&m);
    link_file(data_file("models/marian-separate/source.spm"), directory, "sentencepiece.model");
    write_text(directory, "bpe.model", "no merges");
    write_text(directory, "metadata.json", "{\"from_code\": \"en\", \"to_code\": \"de\"}");
    check_file_keys(converted(directory),
                    "origin.kind argos; tokenizer.kind sentencepiece; tokenizer.source.suffix_ids ");
}

/* ---- what cannot be run ---- */

TEST(test_refused_variables)
{
    static const char *const tensors[][2] = {
        {"decoder/layer_0/self_attention/q_norm/gamma", "norms of each head's queries"},
        {"decoder/layer_0/self_attention/k_norm/gamma", "norms of each head's keys"},
        {"decoder/layer_0/self_attention/v_norm/gamma", "norms of each head's values"},
        {"encoder/layer_0/input_layer_norm/gamma", "norms before and after each block"},
        {"encoder/layer_0/external_post_encoder_attention_layer_norm/gamma", "norms before and after each block"},
        {"decoder/layer_0/merged_encoder_attention", "cross-attention inside self-attention"},
        {"decoder/layer_0/attention/memory_kv/weight", "cross-attention inside self-attention"},
        {"encoder/layer_0/self_attention/relative_asymmetric_position_keys", "asymmetric relative positions"},
        {"encoder/layer_0/self_attention/relative_left_max_position", "asymmetric relative positions"},
        {"decoder/project_in/weight", "projections around the layers"},
        {"decoder/project_out/weight", "projections around the layers"},
        {"encoder/embeddings_1/weight", "source factors"},
        {"encoder/layer_0/ffn/layer_norm/layer_norm_use_residual", "1 + gamma"},
        {"encoder/layer_0/ffn/linear_0/weight_zero", "AWQ"},
        {"encoder/layer_0/self_attention/rotary_scaling_long_factor", "scaled rotations (su)"},
        {"decoder/novelty/weight", "tensor 'decoder/novelty/weight' is unknown"},
    };
    for (size_t i = 0; i < COUNT(tensors); i++) {
        made m = made_base();
        made_add(&m, tensors[i][0], D, D);
        made_refuse(&m, tensors[i][1]);
        made_refuse(&m, tensors[i][0]);
    }
}

/* Kinds that are read are those of the converters for translation, the oldest of which says nothing. */
TEST(test_refused_models)
{
    static const char *const kinds[] = {"", "TransformerBase", "TransformerSpec"};
    made m = made_base();
    for (size_t i = 0; i < COUNT(kinds); i++) {
        m.specification = kinds[i];
        check_made(&m, "origin.kind ctranslate2");
    }
    m.specification = "WhisperSpec";
    made_refuse(&m, "a model of the kind 'WhisperSpec'");
    m = made_base();
    m.revision = 8;
    made_refuse(&m, "revision 8 of TransformerSpec is newer");
    m = made_base();
    m.config = "{\"quantization_type\": 1}";
    made_refuse(&m, "'quantization_type' is not supported: weights of 4 bits, found 1");
    m = made_base();
    for (made_find(&m, "decoder/num_heads")->value = 0; made_find(&m, "decoder/num_heads")->value < 10;
         made_find(&m, "decoder/num_heads")->value += 3)
        made_refuse(&m, "columns of 'decoder/layer_0/self_attention/linear_1/weight' for ");
    made_find(&m, "decoder/num_heads")->value = D;
    check_made(&m, "decoder.heads 8; encoder.heads 2");
    m = made_base();
    made_find(&m, "decoder/projection/weight")->shape[0] = V - 1;
    made_refuse(&m, "tensor 'decoder/projection/weight': expected shape [6, 8], found [5, 8]");
    m = made_base();
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight")->type = 1;
    made_refuse(&m, "integers without a multiplier");
    made_add(&m, "encoder/layer_0/ffn/linear_0/weight_scale", F, 0);
    made_refuse(&m, "expected 1 or 12 positive float32 numbers"); /* some are negative */
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight_scale")->value = 1;
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight_scale")->shape[0] = F - 1;
    made_refuse(&m, "expected 1 or 12 positive float32 numbers");
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight_scale")->shape[0] = 1;
    check_made(&m, "encoder.ffn_width 12");
    made_find(&m, "encoder/layer_0/ffn/linear_0/weight_scale")->value = 0;
    made_refuse(&m, "expected 1 or 12 positive float32 numbers");
    m = made_base();
    made_drop(&m, "decoder/layer_0/attention/layer_norm/gamma");
    made_refuse(&m, "decoder/layer_0/attention/layer_norm/gamma' is missing");
}
