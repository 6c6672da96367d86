/* Ferry's own formats: the export layout "seq2seq-export-1", which any training script can write, and model files, to
 * be written again with matrices of another type, or with other languages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/file/bind.h"
#include "engine/kernels/linear.h"
#include "families.h"
#include "models/plan/plan.h"
#include "models/plan/plan_tensors.h"
#include "models/plan/position_tables.h"
#include "models/text/vocabularies.h"

static ferry_status read_config(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    const int32_t max = FERRY_MAX_SIZE;
    ferry_transformer *model = &plan->model;
    ferry_stack *stack = &model->encoder;
    int32_t decoder_layers;
    const char *activation;
    bool scale;
    const ferry_json_key keys[] = {
        {"d_model", .integer = &model->d_model, 1, max},
        {"encoder_layers", .integer = &stack->layer_count, 1, max},
        {"decoder_layers", .integer = &decoder_layers, 1, max},
        {"attention_heads", .integer = &stack->heads, 1, max},
        {"ffn_dim", .integer = &stack->ffn_width, 1, max},
        {"vocab_size", .integer = &stack->vocab_size, 1, FERRY_MAX_VOCABULARY},
        {"pre_norm", .flag = &stack->pre_norm},
        {"layer_norm_eps", .real = &stack->norm_eps},
        {"activation", .text = &activation},
        {"scale_embedding", .flag = &scale},
        {"tied_embeddings", .flag = &plan->model.tied_embeddings},
    };
    FERRY_TRY(ferry_json_read(config, keys, sizeof keys / sizeof keys[0], true, error));
    FERRY_TRY(ferry_import_activation(config.file, activation, &stack->activation, error));
    FERRY_TRY(ferry_import_split_heads(config.file, model->d_model, stack, error));
    model->decoder = model->encoder;
    model->decoder.layer_count = decoder_layers;
    model->embedding_scale = scale ? (float)sqrt((double)model->d_model) : 1;
    plan->model.tied_output = plan->model.tied_embeddings;

    ferry_generation *ids = &plan->generation;
    const int32_t last = model->decoder.vocab_size - 1;
    int32_t eos;
    const ferry_json_key id_keys[] = {{"eos_token_id", .integer = &eos, 0, last},
                                      {"pad_token_id", .integer = &ids->pad_id, 0, last},
                                      {"decoder_start_token_id", .integer = &ids->start_id, 0, last}};
    FERRY_TRY(ferry_json_read(config, id_keys, 3, true, error));
    ids->decoding.search.renormalize = true;
    FERRY_TRY(ferry_import_ids(plan, &eos, 1, &ids->eos_ids, &ids->eos_count, error));
    FERRY_TRY(ferry_import_suppress(plan, &ids->pad_id, 1, error));

    /* The origin of the model. */
    const ferry_json_key origin[] = {{"name", .text = &plan->name},
                                     {"training", .text = &plan->training},
                                     {"trained_length", .integer = &plan->trained_length, 1, FERRY_MAX_SIZE},
                                     {"trained_seed", .integer = &plan->trained_seed, 1, INT32_MAX},
                                     {"trained_tokens", .real = &plan->trained_tokens}};
    return ferry_json_read(config, origin, sizeof origin / sizeof origin[0], false, error);
}

/* With vocab.json, ids are its; without, SentencePiece's. */
static ferry_status read_text(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_config *text = &plan->text;
    const int32_t V = plan->model.decoder.vocab_size;
    const ferry_string_table *pieces;
    int32_t unknown;
    ferry_json vocabulary;
    if (!ferry_source_has(plan->source, "source.spm")) return FERRY_OK;
    const char *target = ferry_source_has(plan->source, "target.spm") ? "target.spm" : NULL;
    FERRY_TRY(ferry_import_segmenters(plan, "source.spm", target, error));
    FERRY_TRY(ferry_import_optional_json(plan, "vocab.json", &vocabulary, error));
    if (vocabulary.object != NULL) {
        FERRY_TRY(ferry_import_vocabulary(plan, vocabulary, V, &pieces, error));
        plan->vocabulary_files[0] = plan->vocabulary_files[1] = vocabulary.file;
        FERRY_TRY(ferry_json_require(vocabulary, "<unk>", error));
        unknown = ferry_import_piece_id(vocabulary, "<unk>");
        ferry_import_one_vocabulary(plan, pieces, unknown);
    } else {
        FERRY_TRY(ferry_import_own_vocabulary(plan, 0, V, &pieces, &unknown, error));
        ferry_import_one_vocabulary(plan, pieces, unknown);
        FERRY_TRY(ferry_import_own_vocabulary(plan, 1, V, &text->target_pieces, &unknown, error));
    }
    FERRY_TRY(ferry_import_special_ids(plan, error));
    return ferry_import_special(plan, &unknown, 1, error);
}

bool ferry_import_is_export_layout(const ferry_import_plan *plan, ferry_json config)
{
    (void)plan;
    const char *format = json_string_value(ferry_json_get(config, "format"));
    return format != NULL && strcmp(format, "seq2seq-export-1") == 0;
}

ferry_status ferry_import_export_layout(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    static const char *const embeddings[][2] = {{"shared.weight", "token_embd.weight"},
                                                {"encoder.embed_tokens.weight", "enc.token_embd.weight"},
                                                {"decoder.embed_tokens.weight", "dec.token_embd.weight"},
                                                {"lm_head.weight", "output.weight"}};
    plan->kind = "seq2seq-export-1";
    FERRY_TRY(read_config(plan, config, error));
    FERRY_TRY(ferry_import_open_weights(plan, error));
    FERRY_TRY(ferry_import_positions(plan, config, error));
    const int32_t V = plan->model.decoder.vocab_size, D = plan->model.d_model;
    for (int i = plan->model.tied_embeddings ? 0 : 1; i < (plan->model.tied_embeddings ? 1 : 4); i++) {
        const ferry_weights_entry *tensor;
        FERRY_TRY(ferry_import_take(plan, "", embeddings[i][0], V, D, &tensor, error));
        FERRY_TRY(ferry_import_add(plan, tensor, FERRY_IMPORT_MATRIX, error, "%s", embeddings[i][1]));
    }
    FERRY_TRY(ferry_import_bart_layers(plan, error));
    FERRY_TRY(ferry_import_bart_bias(plan, error));
    FERRY_TRY(ferry_import_check_unused(plan, NULL, error));
    return read_text(plan, error);
}

/* ---- model files ---- */

/* Recognized by its name: opening a file would note it as read first, and the origin lists files in that order. */
bool ferry_import_is_model_file(const ferry_import_plan *plan)
{
    const char *name = plan->source->selected;
    return name != NULL && ferry_text_ends(name, ".gguf");
}

/* In the order of the file. */
static int compare_offsets(const void *a, const void *b)
{
    const char *one = ((const ferry_weights_entry *)a)->tensor.data;
    const char *other = ((const ferry_weights_entry *)b)->tensor.data;
    return one < other ? -1 : one > other;
}

static ferry_status add_tensor(ferry_import_plan *plan, const ferry_weights_entry *entry, ferry_error *error)
{
    const ferry_model_file *file = plan->file;
    const ferry_tensor *tensor = &entry->tensor;
    const bool codes = tensor->type == FERRY_I8;
    const ferry_short_text name = ferry_format("%.*s", (int)tensor->name.size, tensor->name.data);
    for (size_t i = 0; i < file->matrix_count; i++) {
        const ferry_matrix *matrix = file->matrices[i].matrix;
        if (file->matrices[i].tensor->data != tensor->data) continue;
        const ferry_import_tensor packed = {
            .form = FERRY_IMPORT_MATRIX,
            .N = matrix->N,
            .K = matrix->K,
            .source = entry,
            .row = codes ? (int64_t)ferry_panel_bytes(matrix) / FERRY_LANES : matrix->K,
            .scales = matrix->scales,
            .multipliers = codes && matrix->scales == NULL ? &matrix->multiplier : NULL,
            .multiplier_count = codes && matrix->scales == NULL,
            .input_multiplier = matrix->input_multiplier,
            .packed = matrix,
        };
        return ferry_import_add_tensor(plan, &packed, error, "%s", name.text);
    }
    /* Skips tensors that belong to int8 matrices, and the coarse matrix, which is made again. */
    static const char *const parts[] = {".scale", ".multiplier", ".input_multiplier", ".lower", ".error"};
    bool skips = ferry_text_begins(name.text, FERRY_OUTPUT_COARSE ".");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) skips = skips || ferry_text_ends(name.text, parts[i]);
    if (skips) return FERRY_OK;
    if (tensor->type != FERRY_I32)
        return ferry_import_add(plan, entry, tensor->dims > 1 ? FERRY_IMPORT_TABLE : FERRY_IMPORT_VECTOR, error, "%s",
                                name.text);
    const ferry_import_tensor integers = {
        .form = FERRY_IMPORT_INTEGERS, .N = (int32_t)tensor->shape[0], .K = 1, .integers = tensor->data};
    return ferry_import_add_tensor(plan, &integers, error, "%s", name.text);
}

ferry_status ferry_import_model_file(ferry_import_plan *plan, ferry_error *error)
{
    const char *selected = plan->source->selected;
    ferry_view bytes;
    ferry_mapped_file map;
    FERRY_TRY(ferry_source_map(plan->source, selected, &bytes, error));
    ferry_model_file *file = plan->file = calloc(1, sizeof *file);
    if (file == NULL) return ferry_fail_memory(error, "a model", 1, sizeof *file);
    FERRY_TRY(ferry_mapped_file_open_memory(bytes, FERRY_FILE_BORROWED, &map, error));
    FERRY_TRY(
        ferry_model_file_read(map, ferry_source_label(plan->source, selected), ferry_kernels_find(NULL), file, error));
    if (file->hash.size > 0) {
        /* The content must have this hash, because the new file gets a hash of its own. */
        FERRY_TRY(ferry_model_file_verify(file, error));
        ferry_source_release(plan->source, bytes.data, bytes.size);
    }
    plan->name = ferry_arena_text(&plan->arena, file->name);
    if (plan->name == NULL) return ferry_fail_memory(error, "the name of a model", file->name.size, 1);
    plan->model = file->transformer;
    plan->generation = file->generation;
    plan->text = file->text;
    plan->languages = file->languages;

    ferry_weights *weights = &plan->weights;
    weights->arena.account = plan->account;
    FERRY_TRY(ferry_weights_reserve(weights, file->gguf.tensor_count, error));
    for (weights->count = 0; weights->count < file->gguf.tensor_count; weights->count++) {
        ferry_weights_entry *entry = &weights->entries[weights->count];
        entry->tensor = file->gguf.tensors[weights->count];
        entry->file = file->gguf.file;
        ferry_weights_row_major(entry);
    }
    qsort(weights->entries, weights->count, sizeof *weights->entries, compare_offsets);
    for (size_t i = 0; i < weights->count; i++) FERRY_TRY(add_tensor(plan, &weights->entries[i], error));
    return FERRY_OK;
}
