/* Directories of Hugging Face's transformers: which family, and what the families share. */
#include "huggingface.h"

#include <math.h>
#include <string.h>

#include "tokenizer/sentencepiece_c.h"
#include "models/plan/plan_tensors.h"
#include "models/plan/position_tables.h"
#include "models/families/choices.h"
#include "models/families/families.h"
#include "models/text/language_tags.h"
#include "models/text/tokenizer_json.h"

/* ---- families ---- */

static const char bpe_model[] = "sentencepiece.bpe.model", spiece_model[] = "spiece.model";
static const struct {
    const char *model_type;
    const char *class_start;                /* of the class in `architectures`, for a config.json without model_type */
    const ferry_huggingface_family *family; /* NULL: T5, or none that Ferry reads */
    const char *missing;                    /* what Ferry lacks to read it */
    unsigned choices;                       /* its rows of ferry_choices */
    const char *segmenter;                  /* where it exists, tokenizer.json is not read */
} families[] = {
    {"marian", "Marian", &ferry_huggingface_marian, NULL, FERRY_CHOICES_MARIANMT, "source.spm"},
    {"m2m_100", "M2M100", &ferry_huggingface_m2m, NULL, FERRY_CHOICES_M2M, bpe_model},
    {"mbart", "MBart", &ferry_huggingface_mbart, NULL, FERRY_CHOICES_MBART, bpe_model},
    {"t5", "T5For", NULL, NULL, FERRY_CHOICES_T5, spiece_model},
    {"t5", "T5With", NULL, NULL, FERRY_CHOICES_T5, spiece_model},
    {"mt5", "MT5", NULL, NULL, FERRY_CHOICES_T5, spiece_model},
    {"umt5", "UMT5", NULL, NULL, FERRY_CHOICES_T5, spiece_model},
    {"nllb-moe", "NllbMoe", NULL, .missing = "mixtures of experts"},
    {"switch_transformers", "SwitchTransformers", NULL, .missing = "mixtures of experts"},
    {"bart", "Bart", NULL, .missing = "its tokenizer, byte-level pairs without a SentencePiece model"},
    {"mvp", "Mvp", NULL, .missing = "its tokenizer, byte-level pairs without a SentencePiece model"},
    {"blenderbot", "BlenderbotFor", NULL, .missing = "its tokenizer, byte-level pairs without a SentencePiece model"},
    {"blenderbot-small", "BlenderbotSmall", NULL, .missing = "its tokenizer, merged pairs with a pattern of its own"},
    {"led", "LED", NULL, .missing = "sparse attention"},
    {"longt5", "LongT5", NULL, .missing = "sparse attention"},
    {"pegasus_x", "PegasusX", NULL, .missing = "sparse attention"},
    {"bigbird_pegasus", "BigBirdPegasus", NULL, .missing = "sparse attention"},
    {"plbart", "PLBart", NULL, .missing = "its tokenizer, with languages of programs"},
    {"prophetnet", "ProphetNet", NULL, .missing = "a decoder that predicts several tokens at once"},
    {"xlm-prophetnet", "XLMProphetNet", NULL, .missing = "a decoder that predicts several tokens at once"},
    {"seamless_m4t", "SeamlessM4TFor", NULL, .missing = "speech"},
    {"seamless_m4t_v2", "SeamlessM4Tv2", NULL, .missing = "speech"},
    {"encoder-decoder", "EncoderDecoder", NULL, .missing = "stacks of two other families in one model"},
    {"pegasus", "PegasusFor", &ferry_huggingface_pegasus, NULL, FERRY_CHOICES_PEGASUS, spiece_model},
    {"fsmt", "FSMT", &ferry_huggingface_fsmt, NULL, FERRY_CHOICES_FSMT, "vocab-src.json"},
    {"t5gemma", "T5Gemma", NULL, .missing = "Gemma's blocks: grouped keys, soft caps, sliding windows"},
    {"t5gemma2", "T5Gemma2", NULL, .missing = "Gemma's blocks: grouped keys, soft caps, sliding windows"},
    {"IndicTrans", "IndicTrans", NULL, .missing = "its tokenizer, which is a program in the directory"},
};

const char *ferry_huggingface_architecture(ferry_json config)
{
    return json_string_value(json_array_get(ferry_json_get(config, "architectures"), 0));
}

static ferry_status check_class(ferry_json config, const char *class, ferry_error *error)
{
    if (class == NULL || ferry_text_ends(class, "MTModel") || ferry_text_ends(class, "ForConditionalGeneration") ||
        ferry_text_ends(class, "WithLMHeadModel"))
        return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: architecture '%s' does not translate", config.file,
                      ferry_printable_text(class).text);
}

/* tokenizer_config.json. Its class may stand in config.json instead. */
static ferry_status check_tokenizer(ferry_import_plan *plan, ferry_json config, unsigned choices, const char *segmenter,
                                    ferry_error *error)
{
    const char *class = "";
    ferry_json tokenizer;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_check_choices(tokenizer, FERRY_CHOICE_TOKENIZER, choices, error));
    if (ferry_json_get(tokenizer, "tokenizer_class") == NULL) {
        tokenizer = config;
        FERRY_TRY(ferry_check_choices(config, FERRY_CHOICE_TOKENIZER, choices, error));
    }
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    const bool general = strcmp(class, "TokenizersBackend") == 0 || strcmp(class, "PreTrainedTokenizerFast") == 0;
    if (!general || !ferry_source_has(plan->source, segmenter)) return FERRY_OK;
    return ferry_fail(
        error, FERRY_ERROR_UNSUPPORTED,
        "%s: '%s' means tokenizer.json alone, but %s is beside it: remove the one that is not the model's",
        tokenizer.file, class, segmenter);
}

/* ---- config.json ---- */

/* Sizes and choices of a family with BART's layers; one vocabulary, unless family->sizes says otherwise. */
static ferry_status read_config(ferry_import_plan *plan, ferry_json config, const ferry_huggingface_family *family,
                                ferry_error *error)
{
    const int32_t max = FERRY_MAX_SIZE;
    ferry_transformer *model = &plan->model;
    ferry_stack *encoder = &model->encoder, *decoder = &model->decoder;
    const char *activation = family->activation;
    bool scale = family->scale_embedding;
    const ferry_json_key keys[] = {
        {"d_model", .integer = &model->d_model, 1, max, .other = "hidden_size"},
        {"scale_embedding", .flag = &scale},
        {"tie_word_embeddings", .flag = &model->tied_output},
        {"vocab_size", .integer = &encoder->vocab_size, 1, FERRY_MAX_VOCABULARY},
        {"encoder_layers", .integer = &encoder->layer_count, 1, max, .other = "num_hidden_layers"},
        {"encoder_attention_heads", .integer = &encoder->heads, 1, max, .other = "num_attention_heads"},
        {"encoder_ffn_dim", .integer = &encoder->ffn_width, 1, max},
        {"decoder_layers", .integer = &decoder->layer_count, 1, max},
        {"decoder_attention_heads", .integer = &decoder->heads, 1, max},
        {"decoder_ffn_dim", .integer = &decoder->ffn_width, 1, max},
        {"activation_function", .text = &activation},
    };
    model->d_model = 1024;
    model->tied_embeddings = true;
    model->tied_output = !family->untied_output;
    *encoder = *decoder = (ferry_stack){.layer_count = 12,
                                        .heads = 16,
                                        .ffn_width = 4096,
                                        .norm_eps = 1e-5f,
                                        .pre_norm = family->pre_norm,
                                        .vocab_size = family->vocab_size};
    FERRY_TRY(ferry_json_read(config, keys, sizeof keys / sizeof keys[0], false, error));
    FERRY_TRY(ferry_import_activation(config.file, activation, &encoder->activation, error));
    FERRY_TRY(ferry_import_split_heads(config.file, model->d_model, encoder, error));
    FERRY_TRY(ferry_import_split_heads(config.file, model->d_model, decoder, error));
    decoder->activation = encoder->activation;
    decoder->vocab_size = encoder->vocab_size;
    model->embedding_scale = scale ? (float)sqrt((double)model->d_model) : 1;
    return family->sizes != NULL ? family->sizes(plan, config, error) : FERRY_OK;
}

/* ---- layers with BART's names ---- */

static const ferry_layer_row bart_rows[] = {
    {"attn_q", "self_attn.q_proj", .shape = "AD"},
    {"attn_k", "self_attn.k_proj", .shape = "AD"},
    {"attn_v", "self_attn.v_proj", .shape = "AD"},
    {"attn_o", "self_attn.out_proj", .shape = "DA"},
    {"attn_norm", "self_attn_layer_norm", .shape = "D"},
    {"cross_attn_q", "encoder_attn.q_proj", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_k", "encoder_attn.k_proj", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_v", "encoder_attn.v_proj", .shape = "AD", .needs = FERRY_ROW_DECODER},
    {"cross_attn_o", "encoder_attn.out_proj", .shape = "DA", .needs = FERRY_ROW_DECODER},
    {"cross_attn_norm", "encoder_attn_layer_norm", .shape = "D", .needs = FERRY_ROW_DECODER},
    {"ffn_up", "fc1", .shape = "FD"},
    {"ffn_down", "fc2", .shape = "DF"},
    {"ffn_norm", "final_layer_norm", .shape = "D"},
    {"output_norm", "layer_norm", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_PRE_NORM},
};
static const ferry_layer_row embedding_norm = {
    .to = "embd_norm", .from = "layernorm_embedding", .shape = "D", .needs = FERRY_ROW_STACK};

/* Of both stacks. */
static ferry_status add_bart_rows(ferry_import_plan *plan, const ferry_layer_row *table_rows, size_t count,
                                  ferry_error *error)
{
    const ferry_layer_table table = {.rows = table_rows,
                                     .count = count,
                                     .layer = ".layers.",
                                     .separator = ".",
                                     .linear = {".weight", ".bias"},
                                     .norm = {".weight", ".bias"}};
    FERRY_TRY(ferry_import_layers(plan, &table, false, error));
    return ferry_import_layers(plan, &table, true, error);
}

ferry_status ferry_import_bart_layers(ferry_import_plan *plan, ferry_error *error)
{
    return add_bart_rows(plan, bart_rows, sizeof bart_rows / sizeof bart_rows[0], error);
}

ferry_status ferry_import_bart_bias(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_weights_entry *bias = ferry_import_find(plan, "", "final_logits_bias");
    if (bias == NULL) return FERRY_OK;
    FERRY_TRY(ferry_import_check_shape(bias, 1, plan->model.decoder.vocab_size, error));
    const int64_t count = ferry_tensor_count(&bias->tensor);
    const int64_t step = bias->tensor.dims > 0 ? bias->strides[bias->tensor.dims - 1] : 1;
    float value = 0;
    for (int64_t i = 0; i < count && value == 0; i++) ferry_import_widen(&bias->tensor, i * step, 1, 1, &value);
    if (value == 0) return FERRY_OK;
    plan->model.output_bias = true;
    return ferry_import_add(plan, bias, FERRY_IMPORT_VECTOR, error, "output.bias");
}

ferry_status ferry_import_activation(const char *file, const char *name, ferry_activation *activation,
                                     ferry_error *error)
{
    static const struct {
        const char *name;
        ferry_activation activation;
    } known[] = {{"relu", FERRY_RELU},
                 {"gelu", FERRY_GELU},
                 {"gelu_python", FERRY_GELU},
                 {"gelu_new", FERRY_GELU_TANH},
                 {"gelu_pytorch_tanh", FERRY_GELU_TANH},
                 {"gelu_fast", FERRY_GELU_TANH},
                 {"gelu_accurate", FERRY_GELU_TANH},
                 {"quick_gelu", FERRY_GELU_SIGMOID},
                 {"swish", FERRY_SWISH},
                 {"silu", FERRY_SWISH}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) != 0) continue;
        *activation = known[i].activation;
        return FERRY_OK;
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: activation '%s' is not supported", file,
                      ferry_printable_text(name).text);
}

ferry_status ferry_import_split_heads(const char *file, int32_t d_model, ferry_stack *stack, ferry_error *error)
{
    if (d_model % stack->heads != 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: a width of %d is not a multiple of its %d attention heads",
                          file, (int)d_model, (int)stack->heads);
    }
    stack->head_width = d_model / stack->heads;
    stack->attention_scale = (float)(1 / sqrt((double)stack->head_width));
    return FERRY_OK;
}

/* ---- tensors ---- */

void ferry_huggingface_find_prefix(ferry_import_plan *plan, const char *const *prefixes)
{
    while (*prefixes != NULL && !ferry_import_has_prefix(plan, *prefixes)) prefixes++;
    plan->prefix = *prefixes != NULL ? *prefixes : "";
}

bool ferry_huggingface_same_numbers(const ferry_weights_entry *a, const ferry_weights_entry *b)
{
    const ferry_tensor *x = &a->tensor, *y = &b->tensor;
    const int64_t row_major[] = {x->shape[1], 1};
    if (memcmp(x->shape, y->shape, sizeof x->shape) != 0 || x->type != y->type) return false;
    if (memcmp(a->strides, row_major, sizeof row_major) == 0 && memcmp(b->strides, row_major, sizeof row_major) == 0)
        return memcmp(x->data, y->data, x->bytes) == 0;
    for (int64_t i = 0; i < x->shape[0] * x->shape[1]; i++) {
        const int64_t n = i / x->shape[1], k = i % x->shape[1];
        float left, right;
        ferry_import_widen(x, n * a->strides[0] + k * a->strides[1], 1, 1, &left);
        ferry_import_widen(y, n * b->strides[0] + k * b->strides[1], 1, 1, &right);
        if (memcmp(&left, &right, sizeof left) != 0) return false;
    }
    return true;
}

ferry_status ferry_huggingface_take_tied(ferry_import_plan *plan, const char *const *names, int32_t V,
                                         const ferry_weights_entry **tensor, ferry_error *error)
{
    *tensor = NULL;
    for (; *names != NULL; names++) {
        const char *prefix = strcmp(*names, "lm_head.weight") == 0 ? "" : plan->prefix;
        const ferry_weights_entry *found = ferry_import_find(plan, prefix, *names);
        if (found == NULL) continue;
        FERRY_TRY(ferry_import_check_shape(found, V, plan->model.d_model, error));
        if (*tensor == NULL) {
            *tensor = found;
        } else if (!ferry_huggingface_same_numbers(*tensor, found)) {
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensors '%s' and '%s' differ, but the configuration says that they are one",
                              found->file, ferry_printable_view((*tensor)->tensor.name).text,
                              ferry_printable_view(found->tensor.name).text);
        }
    }
    if (*tensor != NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: no tensor holds the embeddings ('%sshared.weight' or another)",
                      plan->source->path, plan->prefix);
}

/* Adds the embeddings and the output matrix, by plan->model.tied_embeddings and tied_output. */
static ferry_status add_embeddings(ferry_import_plan *plan, const ferry_huggingface_family *family, ferry_error *error)
{
    const char *const output = family->output != NULL ? family->output : "lm_head.weight";
    const char *const output_prefix = family->output != NULL ? plan->prefix : "";
    if (family->output != NULL && !plan->model.tied_output) {
        /* The output matrix may be missing, or be a copy of the decoder's embedding. */
        const ferry_weights_entry *stored = ferry_import_find(plan, plan->prefix, output);
        const ferry_weights_entry *embedding = ferry_import_find(plan, plan->prefix, "decoder.embed_tokens.weight");
        if (stored != NULL)
            FERRY_TRY(ferry_import_check_shape(stored, plan->model.decoder.vocab_size, plan->model.d_model, error));
        plan->model.tied_output =
            stored == NULL || (embedding != NULL && ferry_huggingface_same_numbers(stored, embedding));
    }
    const char *const output_alias = plan->model.tied_output ? output : NULL;
    const char *const shared[] = {"shared.weight", "decoder.embed_tokens.weight", "encoder.embed_tokens.weight",
                                  output_alias, NULL};
    const char *const source[] = {"encoder.embed_tokens.weight", NULL};
    const char *const target[] = {"decoder.embed_tokens.weight", output_alias, NULL};
    const ferry_transformer *model = &plan->model;
    const int32_t V = model->decoder.vocab_size;
    const ferry_weights_entry *tensor;
    if (model->tied_embeddings) {
        FERRY_TRY(ferry_huggingface_take_tied(plan, shared, V, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "token_embd.weight"));
    } else {
        FERRY_TRY(ferry_huggingface_take_tied(plan, source, model->encoder.vocab_size, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "enc.token_embd.weight"));
        FERRY_TRY(ferry_huggingface_take_tied(plan, target, V, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "dec.token_embd.weight"));
    }
    if (model->tied_output) return FERRY_OK;
    FERRY_TRY(ferry_import_take(plan, output_prefix, output, V, model->d_model, &tensor, error));
    return ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "output.weight");
}

bool ferry_huggingface_is_ignored(ferry_view name)
{
    static const char *const endings[] = {
        ".version",     "._float_tensor",      ".embed_positions.weights",
        ".masked_bias", "num_batches_tracked", "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
    };
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ferry_view_ends(name, endings[i])) return true;
    return false;
}

/* A stored table that equals the formula adds nothing, and the formula has no end; another one is used as it is. */
static ferry_status read_position(ferry_import_plan *plan, const ferry_huggingface_family *family, bool decoder,
                                  ferry_error *error)
{
    const char *name = decoder ? "decoder.embed_positions.weight" : "encoder.embed_positions.weight";
    const char *path = plan->source->path;
    const bool fairseq = family->fairseq_positions;
    const int32_t D = plan->model.d_model, unused = family->learned_from;
    const int32_t first = fairseq ? plan->generation.pad_id + 1 : 0;
    const ferry_weights_entry *table = family->stored_positions ? ferry_import_find(plan, plan->prefix, name) : NULL;
    if (unused > 0) {
        if (table == NULL || table->tensor.shape[0] <= unused || table->tensor.shape[0] > FERRY_MAX_SIZE) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: tensor '%s%s': expected a table of positions, found %s",
                              path, plan->prefix, name, table == NULL ? "none" : "another size");
        }
        const int32_t rows = (int32_t)table->tensor.shape[0];
        FERRY_TRY(ferry_import_check_shape(table, rows, D, error));
        return ferry_import_learned(plan, decoder, table, unused, rows - unused, error);
    }
    if (table != NULL) return ferry_import_position_table(plan, decoder, table, first, error);
    ferry_import_sinusoidal(plan, decoder, false, fairseq, first);
    if (D % 2 == 0 && (D >= 4 || !fairseq)) return FERRY_OK;
    return ferry_fail(error, fairseq ? FERRY_ERROR_FORMAT : FERRY_ERROR_UNSUPPORTED,
                      "%s: d_model %d: sinusoidal positions need an even one%s", path, (int)D,
                      fairseq ? " of at least 4" : "");
}

static ferry_status import_family(ferry_import_plan *plan, ferry_json config, const ferry_huggingface_family *family,
                                  ferry_error *error)
{
    static const char *const prefixes[] = {"model.", NULL};
    plan->kind = family->kind;
    FERRY_TRY(read_config(plan, config, family, error));
    FERRY_TRY(ferry_huggingface_decoding(plan, config, family->pad_id, family->start_id, family->eos_id, error));
    FERRY_TRY(ferry_import_open_weights(plan, error));
    ferry_huggingface_find_prefix(plan, prefixes);
    FERRY_TRY(read_position(plan, family, false, error));
    FERRY_TRY(read_position(plan, family, true, error));
    FERRY_TRY(add_embeddings(plan, family, error));
    if (family->embedding_norms) FERRY_TRY(add_bart_rows(plan, &embedding_norm, 1, error));
    FERRY_TRY(ferry_import_bart_layers(plan, error));
    if (family->output_bias) FERRY_TRY(ferry_import_bart_bias(plan, error));
    FERRY_TRY(ferry_import_check_unused(plan, ferry_huggingface_is_ignored, error));
    return family->text(plan, config, error);
}

bool ferry_import_is_huggingface(const ferry_import_plan *plan, ferry_json config)
{
    (void)plan;
    return ferry_json_get(config, "model_type") != NULL || ferry_json_get(config, "architectures") != NULL;
}

ferry_status ferry_import_huggingface(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    const char *type = NULL, *class = ferry_huggingface_architecture(config);
    FERRY_TRY(ferry_json_text(config, "model_type", &type, error));
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (type != NULL ? strcmp(type, families[i].model_type) != 0
                         : class == NULL || !ferry_text_begins(class, families[i].class_start))
            continue;
        if (families[i].missing != NULL)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: model type '%s' is not supported: Ferry lacks %s",
                              config.file, families[i].model_type, families[i].missing);
        FERRY_TRY(ferry_check_choices(config, FERRY_CHOICE_CONFIG, families[i].choices, error));
        FERRY_TRY(check_class(config, class, error));
        FERRY_TRY(check_tokenizer(plan, config, families[i].choices, families[i].segmenter, error));
        return families[i].family != NULL ? import_family(plan, config, families[i].family, error)
                                          : ferry_import_t5(plan, config, error);
    }
    const char *found = type != NULL ? type : class != NULL ? class : "nothing";
    return ferry_fail(
        error, FERRY_ERROR_UNSUPPORTED,
        "%s: model type: expected 'marian', 'm2m_100', 'mbart', 't5', 'mt5', 'umt5', 'pegasus' or 'fsmt', found '%s'",
        config.file, ferry_printable_text(found).text);
}
