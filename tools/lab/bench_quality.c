#include "bench_quality.h"

#include <stdlib.h>
#include <string.h>

#include "comparison_input.h"
#include "likelihood.h"
#include "line_columns.h"

typedef struct work {
    ferry_comparison *comparison;
    ferry_compared_model *compared;
    const ferry_model *model;
    ferry_translator *translator;
    ferry_result *result;
    int32_t *targets, *target_offsets, lead; /* ferry_inspect_targets of the references */
    int32_t *sources, *source_offsets;       /* ids of the lines, a ragged batch */
    double *nats;                            /* ferry_likelihoods */
    ferry_arena arena;
    ferry_line_columns columns;
} work;

/* ---- translating ---- */

static ferry_status tokenize_sources(work *w, ferry_error *error)
{
    const ferry_compared_text *text = &w->comparison->text;
    size_t capacity = 0, total = 0;
    w->source_offsets = ferry_arena_alloc(&w->arena, text->count + 1, sizeof *w->source_offsets);
    if (w->source_offsets == NULL) return ferry_fail_memory(error, "source ids", text->count);
    w->source_offsets[0] = 0;
    for (size_t i = 0; i < text->count; i++) {
        int32_t *ids;
        size_t count;
        FERRY_TRY(ferry_inspect_tokenize(w->model, text->sources[i], NULL, NULL, &ids, &count, error));
        int32_t *grown =
            total + count <= INT32_MAX ? ferry_array_grow(w->sources, &capacity, total + count, sizeof *ids) : NULL;
        if (grown != NULL) w->sources = grown;
        if (grown != NULL && count > 0) memcpy(grown + total, ids, count * sizeof *ids);
        ferry_inspect_free(ids);
        if (grown == NULL) return ferry_fail_memory(error, "source ids", (total + count) * sizeof *ids);
        total += count;
        w->source_offsets[i + 1] = (int32_t)total;
    }
    return FERRY_OK;
}

static ferry_status translate(work *w, ferry_error *error)
{
    const ferry_options options = ferry_comparison_options(w->comparison, w->model, w->comparison->threads);
    const ferry_compared_text *text = &w->comparison->text;
    FERRY_TRY(ferry_translator_create(w->model, &options, &w->translator, error));
    return ferry_translate(w->translator, text->sources, text->count, &w->result, error);
}

/* Why the model cannot translate the line as one sentence, as the comparison wants it; NULL if it can. */
static const char *failure_of(const work *w, size_t line, ferry_name *message)
{
    const int32_t tokens = w->source_offsets[line + 1] - w->source_offsets[line],
                  limit = ferry_inspect_get_scheme(w->model, FERRY_INSPECT_ENCODER).limit;
    if (limit == 0 || tokens <= limit) return ferry_result_outcome(w->result, line)->error;
    *message = ferry_name_format("a sentence of %d tokens: the model's positions end at %d", (int)tokens, (int)limit);
    return message->text;
}

/* Translations and failures move into the comparison. */
static ferry_status keep_translations(const work *w, ferry_error *error)
{
    const size_t count = w->comparison->text.count;
    ferry_arena *arena = &w->comparison->arena;
    bool failed = false;
    ferry_text *texts = ferry_arena_take(arena, count, sizeof *texts, &failed);
    const char **failures = ferry_arena_take(arena, count, sizeof *failures, &failed);
    for (size_t i = 0; !failed && i < count; i++) {
        ferry_name message;
        const char *failure = failure_of(w, i, &message);
        const ferry_text text = failure == NULL ? ferry_result_text(w->result, i, 0) : (ferry_text){"", 0};
        char *copy = ferry_arena_text(arena, (ferry_view){text.data, text.size});
        texts[i] = (ferry_text){copy, text.size};
        failures[i] = failure != NULL ? ferry_arena_text(arena, ferry_text_view(failure)) : NULL;
        failed = copy == NULL || (failure != NULL && failures[i] == NULL);
    }
    w->compared->translations = texts;
    w->compared->failures = failures;
    return failed ? ferry_fail_memory(error, "translations", count) : FERRY_OK;
}

/* ---- likelihoods ---- */

static ferry_status find_likelihoods(work *w, ferry_error *error)
{
    const ferry_compared_text *text = &w->comparison->text;
    const int32_t count = (int32_t)text->count;
    FERRY_TRY(
        ferry_inspect_targets(w->model, text->references, count, &w->targets, &w->target_offsets, &w->lead, error));
    w->nats = ferry_arena_alloc(&w->arena, (size_t)w->target_offsets[count], sizeof *w->nats);
    if (w->nats == NULL) return ferry_fail_memory(error, "likelihoods", (size_t)w->target_offsets[count]);
    return ferry_likelihoods(w->model, w->sources, w->source_offsets, w->targets, w->target_offsets, count,
                             w->comparison->threads, w->nats, w->columns.unscored, error);
}

/* ---- counting ---- */

static ferry_status make_columns(work *w, ferry_error *error)
{
    const size_t count = w->comparison->text.count;
    bool failed = false;
    w->columns.width = FERRY_COLUMNS_CURVE + 2 * w->comparison->text.curve_count;
    w->columns.sums = ferry_arena_take(&w->arena, count, w->columns.width * sizeof(double), &failed);
    w->columns.failed = ferry_arena_take(&w->arena, count, sizeof(bool), &failed);
    w->columns.unscored = ferry_arena_take(&w->arena, count, sizeof(bool), &failed);
    if (failed) return ferry_fail_memory(error, "counts", count * w->columns.width * sizeof(double));
    memset(w->columns.sums, 0, count * w->columns.width * sizeof(double));
    return FERRY_OK;
}

/* The end of sentence and the forced tag are no pieces. */
static void take_pieces(const work *w, size_t line, ferry_line_pieces *pieces)
{
    const size_t tag = (size_t)w->lead - 1, first = (size_t)(w->target_offsets[line] + w->lead),
                 tokens = ferry_result_token_count(w->result, line, 0);
    const int32_t *ids = ferry_inspect_result_ids(w->result, line, 0), eos = ferry_inspect_get_sizes(w->model).eos_id;
    const size_t source = (size_t)(w->source_offsets[line + 1] - w->source_offsets[line]);
    const size_t ended = tokens > 0 && ids[tokens - 1] == eos;
    *pieces = (ferry_line_pieces){
        .reference = w->targets + first,
        .reference_count = (size_t)w->target_offsets[line + 1] - first,
        .limited = tokens >= (size_t)ferry_inspect_target_limit(w->translator, source),
        .nats = w->columns.unscored[line] ? NULL : w->nats + first - 1,
    };
    if (tokens < ended + tag) return;
    pieces->translation = ids + tag;
    pieces->translation_count = tokens - ended - tag;
}

static ferry_status count_line(work *w, size_t line, ferry_error *error)
{
    const ferry_compared_text *text = &w->comparison->text;
    double *columns = w->columns.sums + line * w->columns.width;
    const ferry_text translation = w->compared->translations[line], reference = text->references[line];
    ferry_line_pieces pieces;
    FERRY_TRY(ferry_bleu_count(translation, reference, columns + FERRY_COLUMNS_BLEU, error));
    FERRY_TRY(ferry_chrf_count(translation, reference, columns + FERRY_COLUMNS_CHRF, error));
    w->columns.failed[line] = w->compared->failures[line] != NULL;
    if (text->buckets[line] < 0) {
        w->columns.unscored[line] = false;
        return FERRY_OK;
    }
    take_pieces(w, line, &pieces);
    ferry_count_pieces(&pieces, w->columns.failed[line], columns);
    return FERRY_OK;
}

static ferry_status measure(work *w, double *scores, ferry_error *error)
{
    FERRY_TRY(make_columns(w, error));
    FERRY_TRY(tokenize_sources(w, error));
    FERRY_TRY(translate(w, error));
    FERRY_TRY(keep_translations(w, error));
    FERRY_TRY(find_likelihoods(w, error));
    for (size_t i = 0; i < w->comparison->text.count; i++) FERRY_TRY(count_line(w, i, error));
    return ferry_score_model(w->comparison, w->compared, &w->columns, scores, error);
}

ferry_status ferry_measure_quality(ferry_comparison *comparison, size_t index, const ferry_model *model, double *scores,
                                   ferry_error *error)
{
    work w = {.comparison = comparison, .compared = &comparison->models[index], .model = model};
    const ferry_status status = measure(&w, scores, error);
    ferry_result_destroy(w.result);
    ferry_translator_destroy(w.translator);
    ferry_inspect_free(w.targets);
    ferry_inspect_free(w.target_offsets);
    free(w.sources);
    ferry_arena_destroy(&w.arena);
    return status;
}
