/* The research interface: activations, logits and attention weights, straight from the graph. */
#include "engine/ferry_inspect.h"

#include <stdlib.h>
#include <string.h>

#include "engine/api/argument_checks.h"
#include "engine/lines/languages.h"
#include "engine/lines/model.h"
#include "engine/api/opening.h"
#include "engine/graph/pass.h"
#include "engine/graph/state.h"

const char *ferry_inspect_isa(const ferry_model *model)
{
    return model != NULL ? model->kernels->isa : NULL;
}

void ferry_inspect_free(const void *data)
{
    free((void *)(uintptr_t)data);
}

ferry_inspect_sizes ferry_inspect_get_sizes(const ferry_model *model)
{
    if (model == NULL) return (ferry_inspect_sizes){0};
    const ferry_transformer *transformer = &model->file.transformer;
    return (ferry_inspect_sizes){
        .d_model = transformer->d_model,
        .source_vocab = transformer->encoder.vocab_size,
        .target_vocab = transformer->decoder.vocab_size,
        .encoder_layers = transformer->encoder.layer_count,
        .decoder_layers = transformer->decoder.layer_count,
        .encoder_heads = transformer->encoder.heads,
        .decoder_heads = transformer->decoder.heads,
        .encoder_head_width = transformer->encoder.head_width,
        .decoder_head_width = transformer->decoder.head_width,
        .pad_id = model->file.generation.pad_id,
        .start_id = model->file.generation.start_id,
        .eos_id = model->file.generation.eos_ids[0],
        .encoder_positions = transformer->encoder.position.limit,
        .decoder_positions = transformer->decoder.position.limit,
    };
}

ferry_inspect_training ferry_inspect_get_training(const ferry_model *model)
{
    if (model == NULL) return (ferry_inspect_training){{"", 0}, 0, 0, 0};
    const ferry_model_origin *origin = &model->file.origin;
    return (ferry_inspect_training){{origin->training.data, origin->training.size},
                                    origin->trained_length,
                                    origin->trained_seed,
                                    origin->trained_tokens};
}

ferry_status ferry_inspect_tokenize(const ferry_model *model, ferry_text text, const char *from, const char *to,
                                    int32_t **ids, size_t *count, ferry_error *error)
{
    ferry_ids list = {0};
    ferry_language_pair pair;
    FERRY_NEEDS(ids);
    *ids = NULL;
    FERRY_NEEDS(count);
    *count = 0;
    FERRY_NEEDS(model);
    FERRY_TRY(ferry_check_texts("text", &text, 1, error));
    if (model->tokenizer == NULL) return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the model has no tokenizer");
    FERRY_TRY(ferry_languages_find(model, from, to, &pair, error));
    const ferry_view line = {text.data, text.size};
    const size_t tag = ferry_tokenizer_tag_size(model->tokenizer, line);
    const ferry_view rest = tag > 0 ? (ferry_view){line.data + tag, line.size - tag} : line;
    const ferry_status status =
        ferry_languages_encode_part(model, pair, (ferry_view){line.data, tag}, rest, &list, NULL, error);
    if (status == FERRY_OK) {
        *ids = list.ids;
        *count = list.count;
    } else {
        free(list.ids);
    }
    return status;
}

ferry_text ferry_inspect_piece(const ferry_model *model, ferry_inspect_stack side, int32_t id)
{
    if (model == NULL || side > FERRY_INSPECT_DECODER) return (ferry_text){"", 0};
    const ferry_tokenizer_config *text = &model->file.text;
    const bool source = side == FERRY_INSPECT_ENCODER;
    if (id < 0 || id >= (source ? text->source_count : text->target_count)) return (ferry_text){"", 0};
    const ferry_view piece = ferry_string_table_at(source ? text->source_pieces : text->target_pieces, (size_t)id);
    return (ferry_text){piece.data, piece.size};
}

/* Every sentence has at min one id, and every id is within min … vocab - 1. */
static ferry_status check_batch(bool source, const int32_t *ids, const int32_t *offsets, int32_t count, int32_t min,
                                int32_t vocab, ferry_error *error)
{
    const char *const ids_name = source ? "ids" : "target_ids";
    const char *const offsets_name = source ? "offsets" : "target_offsets";
    FERRY_TRY(ferry_check_range("count", count, 1, INT32_MAX, error));
    if (offsets[0] != 0)
        return ferry_fail_argument(error, offsets_name, "expected offsets from 0, found %d", (int)offsets[0]);
    for (int32_t s = 0; s < count; s++)
        if (offsets[s + 1] <= offsets[s])
            return ferry_fail_argument(error, offsets_name, "sentence %d has no ids", (int)s);
    for (int32_t i = 0; i < offsets[count]; i++)
        if (ids[i] < min || ids[i] >= vocab)
            return ferry_fail_argument(error, ids_name, "id %d is not below the vocabulary's %d", (int)ids[i],
                                       (int)vocab);
    return FERRY_OK;
}

/* Sentences, their given decoder inputs, and the requested results. */
typedef struct request {
    bool encoder; /* encoder alone: there are no decoder inputs */
    const int32_t *ids, *offsets, *target_ids, *target_offsets;
    int32_t count;
    ferry_inspect_pass pass;
    float *output; /* hidden states of the encoder, or logits; NULL: only the probes are requested */
    const ferry_attention_probe *attention;
    const ferry_hidden_probe *hidden;
} request;

static ferry_status run_encoder(ferry_state *state, const request *r, ferry_error *error)
{
    const size_t rows = (size_t)r->offsets[r->count], D = (size_t)state->model->d_model;
    float *output = r->output != NULL ? r->output : ferry_arena_alloc(&state->context.arena, rows, D * sizeof *output);
    if (output == NULL) return ferry_fail_memory(error, "hidden states", rows * D, sizeof *output);
    return ferry_encode(state, r->ids, r->offsets, r->count, output, error);
}

/* A forced decoding. */
typedef struct forced {
    ferry_state *state;
    const request *request;
    ferry_kv_sequence *sentences, *hypotheses; /* [count] */
    ferry_attention_span *spans;               /* [count] of self- and cross-attention */
    int32_t *ids;                              /* [target rows] decoder inputs of a pass */
    float *hidden;                             /* [target rows, D] */
} forced;

static ferry_status forced_begin(forced *f, ferry_error *error)
{
    const request *r = f->request;
    ferry_arena *arena = &f->state->context.arena;
    const size_t count = (size_t)r->count, D = (size_t)f->state->model->d_model;
    const size_t rows = (size_t)r->target_offsets[count];
    bool failed = false;
    f->sentences = ferry_arena_take(arena, count, sizeof *f->sentences, &failed);
    f->hypotheses = ferry_arena_take(arena, count, sizeof *f->hypotheses, &failed);
    f->spans = ferry_arena_take(arena, count, sizeof *f->spans, &failed);
    f->ids = ferry_arena_take(arena, rows, sizeof *f->ids, &failed);
    f->hidden = ferry_arena_take(arena, rows, D * sizeof *f->hidden, &failed);
    if (failed) return ferry_fail_memory(error, "a forced decoding", rows * D, sizeof *f->hidden);
    for (size_t s = 0; s < count; s++) {
        const int32_t source = r->offsets[s + 1] - r->offsets[s];
        FERRY_TRY(ferry_kv_begin(arena, source, &f->sentences[s], error));
        const int32_t target = r->target_offsets[s + 1] - r->target_offsets[s];
        FERRY_TRY(ferry_kv_begin(arena, target, &f->hypotheses[s], error));
    }
    return ferry_decoder_begin_sources(f->state, r->ids, r->offsets, r->count, f->sentences, error);
}

/* One decoder pass over at most `rows` inputs of each sentence, from input `first` on. Rows
 * are packed in sentence order; hidden [rows of the pass, D]. Returns their number in *packed. */
static ferry_status forced_pass(forced *f, int32_t first, int32_t rows, int32_t *packed, ferry_error *error)
{
    const int32_t *offsets = f->request->target_offsets, *ids = f->request->target_ids;
    int32_t span_count = 0, row = 0;
    for (int32_t s = 0; s < f->request->count; s++) {
        const int32_t left = offsets[s + 1] - offsets[s] - first, taken = left < rows ? left : rows;
        if (left <= 0) continue;
        f->spans[span_count++] = (ferry_attention_span){.row = row, .rows = taken, .first = first, .sequence = s};
        memcpy(f->ids + row, ids + offsets[s] + first, (size_t)taken * sizeof *ids);
        row += taken;
    }
    const ferry_decoder_rows input = {
        .ids = f->ids,
        .rows = row,
        .self = {.sequences = f->hypotheses, .spans = f->spans, .span_count = span_count},
        .cross = {.sequences = f->sentences, .spans = f->spans, .span_count = span_count},
    };
    *packed = row;
    return row > 0 ? ferry_decode(f->state, &input, f->hidden, error) : FERRY_OK;
}

static ferry_status run_forced(ferry_state *state, const request *r, ferry_error *error)
{
    const ferry_matrix *output = &state->model->output;
    const size_t V = (size_t)output->N, D = (size_t)state->model->d_model;
    const int32_t *offsets = r->target_offsets;
    forced f = {.state = state, .request = r};
    int32_t rows;
    FERRY_TRY(forced_begin(&f, error));
    if (r->pass == FERRY_INSPECT_ONE_PASS) {
        FERRY_TRY(forced_pass(&f, 0, INT32_MAX, &rows, error));
        const ferry_rows all = {f.hidden, rows, ferry_sentence_groups(state->model, offsets + 1)};
        return r->output != NULL ? ferry_linear(&state->context, r->output, &all, output, error) : FERRY_OK;
    }
    for (int32_t step = 0;; step++) {
        FERRY_TRY(forced_pass(&f, step, 1, &rows, error));
        if (rows == 0) return FERRY_OK;
        for (int32_t i = 0; i < rows; i++) {
            float *logits = r->output + (size_t)(offsets[f.spans[i].sequence] + step) * V;
            const ferry_rows one = {.x = f.hidden + (size_t)i * D, .count = 1};
            FERRY_TRY(ferry_linear(&state->context, logits, &one, output, error));
        }
    }
}

static ferry_status run(const ferry_model *model, const request *r, ferry_error *error)
{
    const int32_t *ids = r->ids, *offsets = r->offsets, *target_ids = r->target_ids,
                  *target_offsets = r->target_offsets;
    const ferry_transformer *transformer = &model->file.transformer;
    const int32_t min = model->file.generation.start_id < 0 ? -1 : 0; /* -1: the start is a row of zeros */
    ferry_state state;
    FERRY_NEEDS(ids);
    FERRY_NEEDS(offsets);
    if (!r->encoder) {
        FERRY_NEEDS(target_ids);
        FERRY_NEEDS(target_offsets);
    }
    FERRY_TRY(check_batch(true, ids, offsets, r->count, 0, transformer->encoder.vocab_size, error));
    if (!r->encoder)
        FERRY_TRY(
            check_batch(false, target_ids, target_offsets, r->count, min, transformer->decoder.vocab_size, error));
    ferry_model_widen(model);
    ferry_state_init(&state, transformer, model->kernels);
    state.probe = r->attention;
    state.hidden = r->hidden;
    const ferry_status status = (r->encoder ? run_encoder : run_forced)(&state, r, error);
    ferry_state_destroy(&state); /* with the sequences' blocks */
    return status;
}

ferry_status ferry_inspect_encode(const ferry_model *model, const int32_t *ids, const int32_t *offsets, int32_t count,
                                  float *output, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(model);
    FERRY_NEEDS(output);
    const request r = {.encoder = true, .ids = ids, .offsets = offsets, .count = count, .output = output};
    return run(model, &r, error);
}

ferry_status ferry_inspect_logits(const ferry_model *model, const int32_t *ids, const int32_t *offsets, int32_t count,
                                  const int32_t *target_ids, const int32_t *target_offsets, ferry_inspect_pass pass,
                                  float *logits, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(model);
    FERRY_NEEDS(logits);
    FERRY_TRY(ferry_check_range("pass", (int32_t)pass, FERRY_INSPECT_ONE_PASS, FERRY_INSPECT_STEP_BY_STEP, error));
    const request r = {false, ids, offsets, target_ids, target_offsets, count, pass, .output = logits};
    return run(model, &r, error);
}

ferry_status ferry_inspect_hidden(const ferry_model *model, ferry_inspect_stack stack, const int32_t *ids,
                                  const int32_t *offsets, int32_t count, const int32_t *target_ids,
                                  const int32_t *target_offsets, float *hidden, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(model);
    FERRY_NEEDS(hidden);
    FERRY_TRY(ferry_check_range("stack", (int32_t)stack, FERRY_INSPECT_ENCODER, FERRY_INSPECT_DECODER, error));
    const bool encoder = stack == FERRY_INSPECT_ENCODER;
    const ferry_transformer *transformer = &model->file.transformer;
    const ferry_hidden_probe probe = {encoder ? &transformer->encoder : &transformer->decoder, hidden};
    const request r = {encoder, ids, offsets, target_ids, target_offsets, count, .hidden = &probe};
    return run(model, &r, error);
}

/* `value` is an index below `count`, or negative for all. */
static ferry_status check_choice(const char *what, int32_t value, int32_t count, ferry_error *error)
{
    return value == FERRY_INSPECT_ALL ? FERRY_OK : ferry_check_range(what, value, 0, count - 1, error);
}

ferry_status ferry_inspect_attention(const ferry_model *model, ferry_inspect_attention_kind kind, int32_t layer,
                                     int32_t head, const int32_t *ids, int32_t S, const int32_t *target_ids, int32_t T,
                                     float *weights, ferry_error *error)
{
    FERRY_FENV;
    FERRY_NEEDS(model);
    FERRY_NEEDS(weights);
    FERRY_TRY(ferry_check_range("kind", (int32_t)kind, FERRY_INSPECT_ENCODER_SELF, FERRY_INSPECT_CROSS, error));
    const bool encoder = kind == FERRY_INSPECT_ENCODER_SELF;
    const ferry_stack *stack = encoder ? &model->file.transformer.encoder : &model->file.transformer.decoder;
    FERRY_TRY(check_choice("layer", layer, stack->layer_count, error));
    FERRY_TRY(check_choice("head", head, stack->heads, error));
    FERRY_TRY(ferry_check_range("S", S, 1, INT32_MAX, error));
    if (!encoder) FERRY_TRY(ferry_check_range("T", T, 1, INT32_MAX, error));
    if (kind == FERRY_INSPECT_DECODER_SELF && model->file.transformer.ssru)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the decoder has an SSRU in place of self-attention");
    const int32_t columns = kind == FERRY_INSPECT_DECODER_SELF ? T : S;
    const ferry_attention_probe probe = {
        .kind = encoder                              ? FERRY_ATTENTION_ENCODER
                : kind == FERRY_INSPECT_DECODER_SELF ? FERRY_ATTENTION_DECODER
                                                     : FERRY_ATTENTION_CROSS,
        .layer = layer,
        .head = head,
        .weights = weights,
        .rows = (size_t)(encoder ? S : T),
        .ld = (size_t)columns,
    };
    const int32_t offsets[] = {0, S}, target_offsets[] = {0, T};
    const request r = {encoder, ids, offsets, target_ids, target_offsets, 1, .attention = &probe};
    return run(model, &r, error);
}
