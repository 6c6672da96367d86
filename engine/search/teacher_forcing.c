#include "teacher_forcing.h"

#include <math.h>
#include <string.h>

#include "engine/graph/pass.h"
#include "engine/graph/state.h"
#include "engine/kernels/linear.h"
#include "logits.h"
#include "output_layer.h"

enum { MAX_ROWS = 256 }; /* rows of a pass; bounds its activations */

/* ---- the state ---- */

typedef struct forcing {
    ferry_state *state;
    const ferry_teacher_force_rules *rules;
    ferry_kv_sequence *sentences;
    const ferry_teacher_target *targets; /* [count] */
    int32_t count;
    ferry_kv_sequence *hypotheses;      /* [count] */
    int32_t target, position;           /* of the next row */
    int32_t rows, spans, cross_spans;   /* of this pass */
    int32_t max;                        /* rows of a pass */
    int32_t *ids;                       /* [max] */
    ferry_attention_span *self, *cross; /* [max] */
    float *hidden;                      /* [max, D] */
    ferry_attention_probe probe;        /* weights [1 or H, max, ld] */
} forcing;

/* Allocates memory for passes of at most MAX_ROWS rows. */
static ferry_status begin(forcing *f, ferry_error *error)
{
    ferry_arena *arena = &f->state->context.arena;
    const size_t D = (size_t)f->state->model->d_model;
    int32_t longest = 0;
    bool failed = false, probed = false;
    for (int32_t i = 0; i < f->count; i++) {
        const ferry_teacher_target *target = &f->targets[i];
        const int32_t length = f->sentences[target->sentence].length;
        f->max = target->length < MAX_ROWS - f->max ? f->max + target->length : MAX_ROWS;
        longest = length > longest ? length : longest;
        probed = probed || target->weights != NULL;
    }
    const size_t max = (size_t)f->max, count = (size_t)f->count;
    const bool one = f->rules->alignment.heads == 1;
    const size_t heads = one ? 1 : (size_t)f->state->model->decoder.heads;
    ferry_kv_sequence *hypotheses = ferry_arena_take(arena, count, sizeof *hypotheses, &failed);
    f->ids = ferry_arena_take(arena, max, sizeof *f->ids, &failed);
    f->self = ferry_arena_take(arena, max, sizeof *f->self, &failed);
    f->cross = ferry_arena_take(arena, max, sizeof *f->cross, &failed);
    f->hidden = ferry_arena_take(arena, max, D * sizeof *f->hidden, &failed);
    f->probe = (ferry_attention_probe){.kind = FERRY_ATTENTION_CROSS, .layer = f->rules->alignment.layer};
    f->probe.head = one ? f->rules->alignment.head : -1;
    f->probe.last = f->targets[0].scores == NULL;
    f->probe.rows = max;
    f->probe.ld = (size_t)longest;
    if (probed)
        f->probe.weights = ferry_arena_take(arena, heads * max, (size_t)longest * sizeof *f->probe.weights, &failed);
    if (failed) return ferry_arena_fail(arena, "a forced decoding", max * D, sizeof *f->hidden, error);
    memset(hypotheses, 0, count * sizeof *hypotheses);
    f->hypotheses = hypotheses;
    for (int32_t i = 0; i < f->count; i++)
        FERRY_TRY(ferry_kv_begin(arena, f->targets[i].length, &f->hypotheses[i], error));
    return FERRY_OK;
}

/* ---- a pass ---- */

/* Collects the next rows, at most `max`: a span for each of their targets. */
static void fill(forcing *f)
{
    const bool alone = f->state->model->sentence_inputs; /* each row is quantized by itself, as in greedy search */
    f->rows = f->spans = 0;
    for (; f->rows < f->max && f->target < f->count; f->target++, f->position = 0) {
        const ferry_teacher_target *target = &f->targets[f->target];
        const int32_t left = target->length - f->position, room = f->max - f->rows;
        const int32_t rows = left < room ? left : room;
        if (rows == 0) continue;
        f->self[f->spans++] =
            (ferry_attention_span){.row = f->rows, .rows = rows, .first = f->position, .sequence = f->target};
        for (int32_t i = 0; i < rows; i++, f->position++)
            f->ids[f->rows++] = f->position > 0 ? target->ids[f->position - 1] : f->rules->start_id;
        if (rows < left) break;
    }
    int32_t crossed = 0;
    for (int32_t s = 0; s < f->spans; s++) {
        const ferry_attention_span *span = &f->self[s];
        const int32_t together = alone ? 1 : span->rows;
        for (int32_t i = 0; i < span->rows; i += together)
            f->cross[crossed++] = (ferry_attention_span){.row = span->row + i,
                                                         .rows = together,
                                                         .sequence = f->targets[span->sequence].sentence};
    }
    f->cross_spans = crossed;
}

/* Stores the weights of each row, averaged over the heads, as those of its token. */
static void take_weights(const forcing *f)
{
    const ferry_attention_probe *probe = &f->probe;
    const int32_t heads = f->rules->alignment.heads;
    const size_t first = probe->head < 0 ? (size_t)f->rules->alignment.head : 0;
    for (int32_t s = 0; s < f->spans; s++) {
        const ferry_attention_span *span = &f->self[s];
        const ferry_teacher_target *target = &f->targets[span->sequence];
        const size_t S = (size_t)f->sentences[target->sentence].length;
        for (int32_t i = 0; target->weights != NULL && i < span->rows; i++) {
            float *to = target->weights + (size_t)(span->first + i) * S;
            memset(to, 0, S * sizeof *to);
            for (int32_t h = 0; h < heads; h++) {
                const size_t row = (first + (size_t)h) * probe->rows + (size_t)(span->row + i);
                const float *from = probe->weights + row * probe->ld;
                for (size_t k = 0; k < S; k++) to[k] += from[k];
            }
            for (size_t k = 0; k < S && heads > 1; k++) to[k] /= (float)heads;
        }
    }
}

/* ---- the output layer ---- */

typedef struct row_score {
    ferry_log_sum sum, last; /* of all columns, and of those that the last token may be */
    float logit;
} row_score;

/* The ids that row i of a span may have, if there are several; else NULL. */
static const uint64_t *last_of(const forcing *f, const ferry_attention_span *span, int32_t i)
{
    const ferry_teacher_target *target = &f->targets[span->sequence];
    return span->first + i + 1 == target->length ? target->last : NULL;
}

/* Adds a part of the columns to the sums of all rows. */
static void add_logits(const forcing *f, const ferry_logits *part, row_score *scores)
{
    for (int32_t s = 0; s < f->spans; s++) {
        const ferry_attention_span *span = &f->self[s];
        const int32_t *ids = f->targets[span->sequence].ids + span->first;
        for (int32_t i = 0, row = span->row; i < span->rows; i++, row++) {
            float *values = part->values + (size_t)row * part->ld;
            for (size_t k = 0; k < f->rules->suppressed_count; k++) {
                const int32_t id = f->rules->suppressed_ids[k], masked = ferry_logits_offset(part, id);
                if (masked >= 0 && id != ids[i]) values[masked] = -INFINITY;
            }
            const int32_t offset = ferry_logits_offset(part, ids[i]);
            if (offset >= 0) scores[row].logit = values[offset];
            f->state->context.kernels->add_exp(&scores[row].sum, values, part->count);
            if (last_of(f, span, i) == NULL) continue;
            ferry_logits_keep(part, values, last_of(f, span, i));
            f->state->context.kernels->add_exp(&scores[row].last, values, part->count);
        }
    }
}

/* Computes the log-probabilities of the rows' ids, in parts of the columns. */
static ferry_status score_rows(const forcing *f, ferry_error *error)
{
    ferry_context *context = &f->state->context;
    const ferry_rows rows = {.x = f->hidden, .count = f->rows};
    const size_t count = (size_t)f->rows;
    row_score *scores = ferry_arena_alloc(&context->arena, count, sizeof *scores);
    ferry_output_parts parts;
    if (scores == NULL) return ferry_arena_fail(&context->arena, "scores", count, sizeof *scores, error);
    for (size_t i = 0; i < count; i++) scores[i] = (row_score){.sum = FERRY_LOG_SUM_ZERO, .last = FERRY_LOG_SUM_ZERO};
    FERRY_TRY(ferry_output_parts_begin(context, &rows, &f->state->model->output, false, &parts, error));
    while (!ferry_output_parts_ended(&parts)) {
        FERRY_TRY(ferry_output_parts_next(&parts, error));
        add_logits(f, &parts.logits, scores);
    }
    for (int32_t s = 0; s < f->spans; s++) {
        const ferry_attention_span *span = &f->self[s];
        float *to = f->targets[span->sequence].scores + span->first;
        for (int32_t i = 0, row = span->row; i < span->rows; i++, row++) {
            if (ferry_log_sum_is_damaged(&scores[row].sum))
                return ferry_fail(error, FERRY_ERROR_FORMAT, FERRY_DAMAGED_LOGIT);
            if (last_of(f, span, i) != NULL) scores[row].logit = ferry_log_of_sum(&scores[row].last);
            to[i] = scores[row].logit - ferry_log_of_sum(&scores[row].sum);
        }
    }
    return FERRY_OK;
}

/* ---- all passes ---- */

static ferry_status run_pass(forcing *f, ferry_error *error)
{
    ferry_arena *arena = &f->state->context.arena;
    const ferry_decoder_rows input = {
        .ids = f->ids,
        .rows = f->rows,
        .self = {.sequences = f->hypotheses, .spans = f->self, .span_count = f->spans},
        .cross = {.sequences = f->sentences, .spans = f->cross, .span_count = f->cross_spans},
    };
    FERRY_TRY(ferry_decode(f->state, &input, f->hidden, error));
    take_weights(f);
    if (f->targets[0].scores == NULL) return FERRY_OK;
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    const ferry_phase around = ferry_profile_enter(&f->state->profile, FERRY_PHASE_OUTPUT_LAYER);
    FERRY_TRY(score_rows(f, error));
    ferry_profile_leave(&f->state->profile, around);
    ferry_arena_end(arena, mark);
    return FERRY_OK;
}

ferry_status ferry_teacher_force(ferry_state *state, const ferry_teacher_force_rules *rules,
                                 ferry_kv_sequence *sentences, const ferry_teacher_target *targets, int32_t count,
                                 ferry_error *error)
{
    forcing f = {.state = state, .rules = rules, .sentences = sentences, .targets = targets, .count = count};
    const ferry_phase around = state->profile.phase;
    const ferry_arena_mark mark = ferry_arena_begin(&state->context.arena);
    ferry_status status = begin(&f, error);
    if (status == FERRY_OK && f.probe.weights != NULL) state->probe = &f.probe;
    if (status == FERRY_OK && f.max > 0) fill(&f);
    while (status == FERRY_OK && f.rows > 0) {
        status = run_pass(&f, error);
        if (status == FERRY_OK) fill(&f);
    }
    state->probe = NULL;
    for (int32_t i = 0; f.hypotheses != NULL && i < count; i++)
        ferry_kv_release(ferry_state_hypothesis_cache(state), &f.hypotheses[i]);
    ferry_arena_end(&state->context.arena, mark);
    ferry_profile_leave(&state->profile, around);
    return status;
}
