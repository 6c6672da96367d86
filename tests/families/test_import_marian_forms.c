/* What Marian's configurations can say, on small synthetic models: taken as said, or refused by key and value. */
#include "tests/support/made_marian.h"

#include "engine/kernels/linear.h"

static const ferry_model_file *made(const marian_kind *kind)
{
    return converted(marian_folder(kind));
}

/* W[n][k] of panels against element n·row + k·column of the tensor. */
static void check_matrix(const ferry_matrix *matrix, const char *tensor, int32_t N, int32_t K, int32_t row,
                         int32_t column)
{
    assert_int_equal(matrix->N, N);
    assert_int_equal(matrix->K, K);
    float found[MARIAN_F];
    for (int32_t n = 0; n < N; n++) {
        ferry_matrix_row(matrix, n, found);
        for (int32_t k = 0; k < K; k++) {
            const float expected = marian_value(tensor, (size_t)(n * row + k * column));
            if (found[k] != expected)
                fail_msg("%s: [%d, %d]: %g, not %g", tensor, n, k, (double)found[k], (double)expected);
        }
    }
}

/* y = x W: the source is [in, out]. */
static void check_linear(const ferry_matrix *matrix, const char *tensor, int32_t N, int32_t K)
{
    check_matrix(matrix, tensor, N, K, 1, N);
}

static void check_table(const ferry_matrix *matrix, const char *tensor, int32_t V)
{
    check_matrix(matrix, tensor, V, MARIAN_D, MARIAN_D, 1);
}

static void check_numbers(const float *vector, const char *tensor, int32_t n)
{
    assert_non_null(vector);
    for (int32_t i = 0; i < n; i++) assert_true(vector[i] == marian_value(tensor, (size_t)i));
}

/* ---- keys that are absent ---- */

/* A folder in whose configuration `key` has another name, which nothing reads. */
static char *without(const marian_kind *kind, const char *key)
{
    char *folder = marian_folder(kind), *path = in_directory(folder, "model.bin");
    made_file file = file_copy(path);
    const char *found = find_text((ferry_view){(const char *)file.data, file.size}, key);
    assert_non_null(found);
    file.data[found - (const char *)file.data] = 'X';
    write_bytes(path, file.data, file.size);
    return folder;
}

TEST(test_defaults)
{
    const marian_kind kind = {.ties = MARIAN_TIED_ALL};
    const ferry_model_file *file = converted(without(&kind, "transformer-heads"));
    check_file_keys(file, "encoder.heads 8; decoder.heads 8; encoder.activation swish; decoder.activation swish; "
                          "encoder.norm layernorm; decoder.norm_eps 1e-06; decoder.norm_position post; "
                          "encoder.ffn_gated false; encoder.embedding_norm false; decoder.final_norm false; "
                          "encoder.position.type sinusoidal; embedding_scale 2.82843; output_scale 1; start_id -1; "
                          "pad_id -1; alignment_layer 1; alignment_head 0; alignment_heads 1");
    check_file_keys(file, "decoding.policy marian; decoding.beam 12; decoding.length_penalty 0; "
                          "decoding.length_factor 3; decoding.word_penalty 0; decoding.length_extra 0; "
                          "decoding.max_length 0; decoding.suppressed_ids 1");
    assert_int_equal(converted(without(&kind, "enc-depth"))->transformer.encoder.layer_count, 1);
    refuse_source(without(&kind, "dim-emb"), FERRY_ERROR_FORMAT, "expected shape [12, 512]");
    refuse_source(without(&kind, "transformer-dim-ffn"), FERRY_ERROR_FORMAT, "expected shape [8, 2048]");
    refuse_source(without(&kind, "dec-depth"), ANY_ERROR, "decoder_l2_");
    refuse_source(without(&kind, "dim-vocabs"), FERRY_ERROR_FORMAT, "'dim-vocabs': expected two numbers");
    refuse_source(without(&kind, "type: transformer"), FERRY_ERROR_UNSUPPORTED, "'type: amun'");
    refuse_source(without(&kind, "tied-embeddings-all"), FERRY_ERROR_FORMAT, "'encoder_Wemb' is missing");
}

/* ---- matrices ---- */

TEST(test_ties)
{
    for (int ties = MARIAN_TIED_ALL; ties <= MARIAN_TIED_NONE; ties++) {
        for (int old = 0; old < 2; old++) {
            const ferry_model_file *file =
                made(&(marian_kind){.ties = (marian_ties)ties, .old_output = old == 1, .no_output_bias = old == 1});
            const ferry_transformer *model = &file->transformer;
            const bool one_table = ties == MARIAN_TIED_ALL || ties == MARIAN_TIED_SOURCE;
            const bool own_output = ties == MARIAN_TIED_SOURCE || ties == MARIAN_TIED_NONE;
            const int32_t V = one_table ? MARIAN_V : MARIAN_TARGET_V;
            check_table(&model->encoder.embedding, one_table ? "Wemb" : "encoder_Wemb", MARIAN_V);
            check_table(&model->decoder.embedding, one_table ? "Wemb" : "decoder_Wemb", V);
            if (!own_output)
                check_table(&model->output, one_table ? "Wemb" : "decoder_Wemb", V);
            else if (old == 1)
                check_linear(&model->output, "decoder_ff_logit_out_W", V, MARIAN_D);
            else
                check_table(&model->output, "decoder_ff_logit_out_Wt", V);
            assert_int_equal(model->output.bias == NULL, old == 1);
        }
    }
}

TEST(test_ssru)
{
    for (int pre = 0; pre < 2; pre++) {
        const ferry_model_file *file = made(&(marian_kind){.ssru = true, .pre_norm = pre == 1});
        const ferry_layer *layer = &file->transformer.decoder.layers[0];
        assert_true(file->transformer.ssru);
        check_linear(&layer->ssru.input, "decoder_l1_rnn_W", MARIAN_D, MARIAN_D);
        check_linear(&layer->ssru.forget, "decoder_l1_rnn_Wf", MARIAN_D, MARIAN_D);
        assert_null(layer->ssru.input.bias);
        check_numbers(layer->ssru.forget.bias, "decoder_l1_rnn_bf", MARIAN_D);
        check_numbers(layer->self_norm.weight, pre == 1 ? "decoder_l1_rnn_ln_scale_pre" : "decoder_l1_rnn_ffn_ln_scale",
                      MARIAN_D);
    }
}

/* Layer 2 has layer 1's tensors. */
TEST(test_tied_layers)
{
    const ferry_model_file *file =
        made(&(marian_kind){.one_layer = true, .keys = "transformer-tied-layers:\n  - 1\n  - 1\n"});
    check_linear(&file->transformer.decoder.layers[1].cross.q, "decoder_l1_context_Wq", MARIAN_D, MARIAN_D);
    check_linear(&file->transformer.decoder.layers[0].cross.q, "decoder_l1_context_Wq", MARIAN_D, MARIAN_D);
}

TEST(test_norms)
{
    static const char both[] = "transformer-postprocess-emb: nd\ntransformer-postprocess-top: n\n";
    static const char rms[] = "transformer-postprocess-emb: r\ntransformer-postprocess-top: r\n";
    for (int i = 0; i < 4; i++) {
        const bool pre = i % 2 == 1, is_rms = i >= 2;
        const ferry_model_file *file = made(&(marian_kind){
            .pre_norm = pre, .rms = is_rms, .embedding_norm = true, .top_norm = true, .keys = is_rms ? rms : both});
        const ferry_stack *stack = &file->transformer.decoder;
        const ferry_norm *norm = &stack->layers[1].ffn_norm;
        check_file_keys(file, pre ? "encoder.norm_position pre" : "encoder.norm_position post");
        check_file_keys(file, is_rms ? "encoder.norm rms" : "encoder.norm layernorm");
        char name[64];
        snprintf(name, sizeof name, "decoder_l2_ffn_ffn_%s_scale%s", is_rms ? "rms" : "ln", pre ? "_pre" : "");
        check_numbers(norm->weight, name, MARIAN_D);
        assert_int_equal(norm->bias == NULL, is_rms);
        check_numbers(stack->embedding_norm.weight, is_rms ? "decoder_emb_rms_scale_pre" : "decoder_emb_ln_scale_pre",
                      MARIAN_D);
        check_numbers(stack->final_norm.weight, is_rms ? "decoder_top_rms_scale" : "decoder_top_ln_scale", MARIAN_D);
    }
    const ferry_model_file *file = made(&(marian_kind){.pre_norm = true});
    assert_null(file->transformer.encoder.final_norm.weight);
}

/* intgemm16 becomes float32; intgemm8 of both dialects stays, or becomes float32 where requested. */
TEST(test_integers)
{
    static const uint64_t codes[] = {0x4101, 0x10001, 0x4102, 0x10002};
    for (int i = 0; i < 4; i++) {
        const ferry_model_file *file = made(&(marian_kind){.codes = codes[i], .ssru = true});
        const ferry_layer *layer = &file->transformer.decoder.layers[0];
        const ferry_matrix *matrices[] = {&layer->ffn_up, &layer->ssru.forget};
        check_file_keys(file, "origin.kind bergamot; decoding.beam 1; decoding.length_factor 2");
        assert_int_equal(file->transformer.sentence_inputs, i < 2);
        assert_int_equal(layer->ffn_up.kind == FERRY_MATRIX_INT8, i < 2);
        assert_int_equal(file->transformer.output.kind, FERRY_MATRIX_FLOATS);
        if (i < 2) assert_true(matrices[0]->multiplier == 16 && matrices[0]->input_multiplier == 0);
        check_linear(matrices[0], "decoder_l1_ffn_W1", MARIAN_F, MARIAN_D);
        check_linear(matrices[1], "decoder_l1_rnn_Wf", MARIAN_D, MARIAN_D);
    }
}

/* Multipliers of inputs are positive numbers. */
TEST(test_input_multipliers)
{
    int refused = 0;
    for (const char *letter = "qkvo"; *letter != 0; letter++) {
        const ferry_name name = ferry_name_format("encoder_l1_self_W%c_QuantMultA", *letter);
        char *folder = marian_folder(&(marian_kind){.codes = 0x4101, .extra = name.text});
        const float value = marian_value(name.text, 0);
        refused += value <= 0;
        if (value <= 0) {
            refuse_source(folder, FERRY_ERROR_FORMAT, ferry_name_format("'%s': expected a positive", name.text).text);
            continue;
        }
        const ferry_attention_weights *self = &converted(folder)->transformer.encoder.layers[0].self;
        const ferry_matrix *const matrices[] = {&self->q, &self->k, &self->v, &self->out};
        for (int i = 0; i < 4; i++) assert_true(matrices[i]->input_multiplier == ("qkvo"[i] == *letter ? value : 0));
    }
    assert_true(refused > 0 && refused < 4);
}

/* ---- keys ---- */

static const char gelu[] = "transformer-ffn-activation: gelu\n";

TEST(test_keys)
{
    static const struct {
        const char *keys;
        marian_kind kind;
    } rows[] = {
        {"encoder.activation relu; decoder.activation relu", {.keys = "transformer-ffn-activation: relu\n"}},
        {"encoder.activation swish", {.keys = "transformer-ffn-activation: swish\n"}},
        {"encoder.activation gelu; decoder.activation gelu", {.version = "v1.12.3;", .keys = gelu}},
        {"encoder.activation gelu", {.version = "1.12.3", .keys = gelu}},
        {"encoder.activation gelu", {.version = "v1.13", .keys = gelu}},
        {"encoder.activation gelu", {.version = "v2.0.0", .keys = gelu}},
        {"encoder.activation gelu_sigmoid", {.version = "v1.12.2", .keys = gelu}},
        {"encoder.activation gelu_sigmoid", {.version = "v1.12", .keys = gelu}},
        {"encoder.activation gelu_sigmoid", {.version = "v1.9.56", .keys = gelu}},
        {"encoder.activation gelu_sigmoid", {.version = "unknown", .keys = gelu}},
        {"alignment_layer 0", {.keys = "transformer-guided-alignment-layer: 1\n"}},
        {"alignment_layer 1", {.keys = "transformer-guided-alignment-layer: 2\n"}},
        {"alignment_layer 1", {.keys = "transformer-guided-alignment-layer: last\n"}},
        {"encoder.ffn_width 16; decoder.ffn_width 24",
         {.decoder_ffn = 24, .keys = "transformer-decoder-dim-ffn: 24\n"}},
        {"encoder.ffn_width 16; decoder.ffn_width 16", {.keys = "transformer-decoder-dim-ffn: 0\n"}},
        {"decoder.block attention", {.keys = "transformer-decoder-autoreg: self-attention\n"}},
        {"decoder.block attention", {.keys = "layer-normalization: true\ndec-cell: gru\n"}},
        {"d_model 8", {.extra = "lsh_output_codes"}},
        {"d_model 8", {.extra = "lsh_output_rotation"}},
        {"d_model 8", {.extra = "special:more.yml"}},
        {"d_model 8", {.extra = "none_of_them_QuantMultA"}},
        {"decoder.ffn_width 16", {.keys = "transformer-decoder-ffn-depth: 2\n"}},
        {"encoder.norm_position pre", {.pre_norm = true, .version = "v1.10.24"}},
        {"encoder.norm layernorm", {.keys = "transformer-postprocess: dddddddan\ntransformer-preprocess: dd\n"}},
        {"encoder.embedding_norm false; decoder.final_norm false",
         {.keys = "transformer-postprocess-emb: dd\ntransformer-postprocess-top: d\n"}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check_file_keys(made(&rows[i].kind), rows[i].keys);
}

typedef struct bad_kind {
    ferry_status status;
    const char *what;
    marian_kind kind;
} bad_kind;

static void refuse_kinds(const bad_kind *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) refuse_source(marian_folder(&rows[i].kind), rows[i].status, rows[i].what);
}

TEST(test_keys_refused)
{
    static const char *const keys[] = {
        "transformer-decoder-autoreg: average-attention",
        "transformer-ffn-depth: 3",
        "transformer-decoder-ffn-depth: 1",
        "transformer-no-projection: true",
        "transformer-rnn-projection: true",
        "transformer-disable-position-embeddings: true",
        "transformer-attention-mask: alibi",
        "transformer-pool: true",
        "transformer-no-bias: true",
        "transformer-no-affine: true",
        "lemma-dim-emb: 8",
        "ulr: true",
        "right-left: true",
        "transformer-ffn-activation: sigmoid",
        "transformer-preprocess: h",
        "transformer-preprocess: n", /* with a norm after the block, too */
        "transformer-postprocess: dahn",
        "transformer-postprocess: da",
        "transformer-postprocess-emb: r",
        "transformer-postprocess-top: an",
        "transformer-postprocess: dhhhhhhhh",
    };
    static const bad_kind rows[] = {
        {FERRY_ERROR_UNSUPPORTED, "'type: s2s' is not supported", {.type = "s2s"}},
        {FERRY_ERROR_UNSUPPORTED, "'type: multi-transformer'", {.type = "multi-transformer"}},
        {FERRY_ERROR_UNSUPPORTED, "'dec-cell: gru'", {.keys = "transformer-decoder-autoreg: rnn\n"}},
        {FERRY_ERROR_UNSUPPORTED, "'layer-normalization: true'", {.ssru = true, .keys = "layer-normalization: true\n"}},
        {FERRY_ERROR_UNSUPPORTED, "before 1.10.24", {.pre_norm = true, .version = "v1.10.23"}},
        {FERRY_ERROR_FORMAT,
         "'transformer-tied-layers': expected a number for each of 2 decoder layers, found 1",
         {.keys = "transformer-tied-layers:\n  - 1\n"}},
        {FERRY_ERROR_FORMAT, "expected 1 to 2", {.keys = "transformer-tied-layers:\n  - 1\n  - 3\n"}},
        {FERRY_ERROR_FORMAT, "expected 1 to 2", {.keys = "transformer-tied-layers:\n  - 0\n  - 1\n"}},
        {FERRY_ERROR_FORMAT, "expected 1 to 2", {.keys = "transformer-guided-alignment-layer: 3\n"}},
        {FERRY_ERROR_FORMAT, "expected 1 to 2", {.keys = "transformer-guided-alignment-layer: 0\n"}},
        {FERRY_ERROR_UNSUPPORTED, "before 1.10.24", {.pre_norm = true, .rms = true, .version = "v1.9.99"}},
    };
    for (size_t i = 0; i < COUNT(keys); i++) {
        char lines[100], what[100];
        snprintf(lines, sizeof lines, "%s\n", keys[i]);
        snprintf(what, sizeof what, "special:model.yml: '%s' is not supported", keys[i]);
        if (strcmp(keys[i], "transformer-preprocess: n") == 0)
            snprintf(what, sizeof what, "'transformer-postprocess: dan' is not supported");
        refuse_source(marian_folder(&(marian_kind){.keys = lines}), FERRY_ERROR_UNSUPPORTED, what);
    }
    refuse_kinds(rows, COUNT(rows));
}

TEST(test_tensors_refused)
{
    static const bad_kind rows[] = {
        {FERRY_ERROR_FORMAT, "tensor 'decoder_l2_ffn_W2' is missing", {.without = "decoder_l2_ffn_W2"}},
        {FERRY_ERROR_FORMAT, "'encoder_l1_self_bo' is missing", {.without = "encoder_l1_self_bo"}},
        {FERRY_ERROR_UNSUPPORTED, "'encoder_l1_self_Wh' is unknown", {.extra = "encoder_l1_self_Wh"}},
        {FERRY_ERROR_UNSUPPORTED, "'Wpos': learned positions", {.extra = "Wpos"}},
        {FERRY_ERROR_FORMAT,
         "'decoder_l1_ffn_W1': expected shape [8, 16], found [8, 15]",
         {.narrow = "decoder_l1_ffn_W1"}},
        {FERRY_ERROR_FORMAT,
         "'decoder_l1_ffn_W1': expected shape [8, 16], found [8, 15]",
         {.narrow = "decoder_l1_ffn_W1", .codes = 0x4101}},
    };
    refuse_kinds(rows, COUNT(rows));
}
