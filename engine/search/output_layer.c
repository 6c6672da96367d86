#include "output_layer.h"

#include <math.h>
#include <string.h>

#include "decoding.h"
#include "engine/graph/state.h"
#include "search.h"

/* Logits that exist at the same time where searches take them in parts, and columns: they stay in the cache near the
 * core, and all rows share one pass over the output matrix. */
enum { LOGITS_NEAR = 1 << 17, COLUMNS_NEAR = 1 << 14 };
/* Rows that are grouped where searches take their logits whole: bounds memory. */
enum { WHOLE_ROWS = 64 };
/* Making a coarse matrix takes as long as some steps without it: one short line does not pay for it. */
enum { BOUND_TOKENS = 32 };

/* Sentences whose rows share a product: first … last - 1, and their rows. */
typedef struct group {
    int32_t first, last;
    int32_t row, rows;
    bool bounded;               /* their logits are computed coarsely first */
    const ferry_matrix *matrix; /* what they are computed with */
    double *margins;            /* of bounded ones: [rows] */
    float *maxima;              /* and [rows, ⌈N/16⌉] */
} group;

/* ---- sentences ---- */

ferry_status ferry_output_begin(ferry_state *state, ferry_arena *arena, const ferry_search_rules *rules,
                                const ferry_shortlist *shortlist, const int32_t *ids, int32_t length,
                                ferry_output_sentence *sentence, ferry_error *error)
{
    const ferry_matrix *matrix = &state->model->output;
    int32_t count;
    *sentence = (ferry_output_sentence){.matrix = *matrix,
                                        .rows = 1,
                                        .largest_only = ferry_search_needs_largest_only(&rules->options)};
    FERRY_TRY(ferry_search_begin(arena, rules, &sentence->search, error));
    if (shortlist == NULL || !rules->options.shortlist) return FERRY_OK;
    const ferry_phase around = ferry_profile_enter(&state->profile, FERRY_PHASE_SHORTLIST);
    FERRY_TRY(ferry_shortlist_words(shortlist, matrix->N, ids, length, rules->prefix, rules->prefix_count, arena,
                                    &sentence->words, &count, error));
    FERRY_TRY(ferry_matrix_select(matrix, sentence->words, count, arena, &sentence->matrix, error));
    ferry_profile_leave(&state->profile, around);
    return FERRY_OK;
}

/* ---- groups of rows ---- */

static bool can_be_bounded(const ferry_output_layer *columns, const ferry_output_sentence *sentence)
{
    return columns->bound != NULL && sentence->words == NULL && sentence->largest_only;
}

/* The group that begins with sentence `first`, whose first row is `row`: those that follow join it where they share the
 * model's matrix, and their searches take logits in the same way. */
static group find_group(const ferry_output_layer *columns, int32_t first, int32_t row)
{
    const ferry_output_sentence *sentence = &columns->sentences[first];
    const bool shares = sentence->words == NULL && !columns->state->model->sentence_inputs;
    const bool parts = ferry_search_takes_parts(sentence->search), bounded = can_be_bounded(columns, sentence);
    group g = {.first = first, .last = first + 1, .row = row, .rows = sentence->rows, .bounded = bounded};
    for (; shares && g.last < columns->count; g.last++) {
        const ferry_output_sentence *next = &columns->sentences[g.last];
        if (next->words != NULL || ferry_search_takes_parts(next->search) != parts ||
            can_be_bounded(columns, next) != bounded || (!parts && g.rows + next->rows > WHOLE_ROWS))
            break;
        g.rows += next->rows;
    }
    /* Coarse products with nibbles are faster up to some number of rows. */
    if (bounded && columns->bound->coarse.matrix.kind == FERRY_MATRIX_NIBBLES &&
        g.rows > columns->state->context.kernels->nibbles_rows)
        g.bounded = false;
    g.matrix = g.bounded ? &columns->bound->coarse.matrix : &sentence->matrix;
    return g;
}

/* ---- the largest logit by its bound ---- */

/* The first panel from p on whose exact logits can be above `min`; `panels` if there is none. */
static int32_t next_panel(const float *maxima, int32_t p, int32_t panels, float min)
{
    for (; p + FERRY_LANES <= panels; p += FERRY_LANES) {
        int32_t any = 0;
        for (int32_t l = 0; l < FERRY_LANES; l++) any |= maxima[p + l] > min;
        if (any != 0) break;
    }
    while (p < panels && !(maxima[p] > min)) p++;
    return p;
}

/* Computes the logits of some panels exactly: after the first one, few others can have the largest. */
ferry_status ferry_logit_bound_resolve(const ferry_logit_bound *bound, ferry_context *context, const float *x,
                                       double margin, float *maxima, int32_t first, ferry_search *search,
                                       int32_t *column, float *logit, ferry_error *error)
{
    const ferry_matrix *exact = bound->exact;
    const int32_t panels = (int32_t)ferry_matrix_panels(exact);
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    ferry_inputs inputs;
    *column = -1;
    *logit = -INFINITY;
    FERRY_TRY(ferry_inputs_prepare(context, &(ferry_rows){.x = x, .count = 1}, &exact, 1, &inputs, error));
    for (int32_t p = first, next = 0; p < panels; next = p + 1) {
        float values[FERRY_LANES];
        const int32_t left = exact->N - p * FERRY_LANES;
        const ferry_matrix columns =
            ferry_matrix_columns(exact, p * FERRY_LANES, left < FERRY_LANES ? left : FERRY_LANES);
        const size_t bytes = ferry_panel_bytes(&columns);
        for (size_t at = 0; at < bytes; at += 64)
            __builtin_prefetch((const char *)columns.weights + at, 0, 2); /* near the core */
        const ferry_logits panel = {.values = values, .ld = FERRY_LANES, .count = columns.N, .first = p * FERRY_LANES};
        FERRY_TRY(ferry_inputs_multiply(context, values, &inputs, &columns, error));
        ferry_search_mask(search, &panel);
        for (int32_t l = 0; l < panel.count; l++) {
            const int32_t n = panel.first + l;
            if (!(values[l] > *logit || (values[l] == *logit && n < *column))) continue;
            *logit = values[l];
            *column = n;
        }
        maxima[p] = -INFINITY;
        p = next_panel(maxima, next, panels, nextafterf((float)((double)*logit - margin), -INFINITY));
    }
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}

/* ---- the searches' steps ---- */

static ferry_status run_group(ferry_output_layer *columns, group *g, ferry_error *error);

/* The step of a sentence whose first row is `row`. */
static void step(ferry_output_layer *columns, ferry_output_sentence *sentence, const ferry_logits *logits, int32_t row)
{
    int32_t *parents = columns->parents + columns->rows;
    sentence->rows = ferry_search_step(sentence->search, columns->state->context.kernels, logits,
                                       columns->ids + columns->rows, parents);
    for (int32_t r = 0; r < sentence->rows; r++) parents[r] += row;
    columns->rows += sentence->rows;
}

/* The step of bounded sentence i, whose coarse logits have all been seen: by the one exact logit that counts, or by
 * all of them where no bound is known, or a coarse one is no number, as a file that lies can have it. */
static ferry_status step_bounded(ferry_output_layer *columns, const group *g, int32_t i, int32_t row,
                                 ferry_error *error)
{
    ferry_output_sentence *sentence = &columns->sentences[i];
    const size_t at = (size_t)(row - g->row);
    const float *x = columns->hidden + (size_t)row * (size_t)sentence->matrix.K;
    const size_t panels = ferry_matrix_panels(g->matrix);
    float *maxima = g->maxima + at * panels;
    const int32_t first = columns->state->context.kernels->argmax(maxima, (int32_t)panels);
    ferry_profile *profile = &columns->state->profile;
    int32_t column;
    float logit;
    if (first < 0 || !(g->margins[at] < INFINITY)) {
        group exact = {.first = i, .last = i + 1, .row = row, .rows = 1, .matrix = &sentence->matrix};
        return run_group(columns, &exact, error);
    }
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_OUTPUT_LAYER);
    FERRY_TRY(ferry_logit_bound_resolve(columns->bound, &columns->state->context, x, g->margins[at], maxima, first,
                                        sentence->search, &column, &logit, error));
    ferry_profile_leave(profile, around);
    const ferry_logits only = {.values = &logit, .ld = 1, .count = 1, .first = column < 0 ? 0 : column};
    step(columns, sentence, &only, row);
    return FERRY_OK;
}

/* Shows a part of the group's rows to their searches; each steps with the last part. */
static ferry_status show_part(ferry_output_layer *columns, const group *g, const ferry_logits *part, ferry_error *error)
{
    const ferry_kernels *kernels = columns->state->context.kernels;
    const bool last = part->first + part->count == g->matrix->N;
    ferry_logits logits = *part;
    for (int32_t i = g->first, row = g->row; i < g->last; i++) {
        ferry_output_sentence *sentence = &columns->sentences[i];
        const int32_t rows = sentence->rows;
        logits.ids = sentence->words;
        if (g->bounded) {
            float *maxima = g->maxima + (size_t)(row - g->row) * ferry_matrix_panels(g->matrix);
            kernels->panel_maxima(maxima + part->first / FERRY_LANES, logits.values, (size_t)part->count);
            if (last) FERRY_TRY(step_bounded(columns, g, i, row, error));
        } else if (last) {
            step(columns, sentence, &logits, row);
        } else {
            ferry_search_see(sentence->search, kernels, &logits);
        }
        row += rows;
        logits.values += (size_t)rows * logits.ld;
    }
    return FERRY_OK;
}

/* ---- logits, part by part ---- */

ferry_status ferry_output_parts_begin(ferry_context *context, const ferry_rows *rows, const ferry_matrix *matrix,
                                      bool whole, ferry_output_parts *parts, ferry_error *error)
{
    const int32_t N = matrix->N, block = FERRY_LOG_SUM_BLOCK;
    const int32_t near = LOGITS_NEAR / rows->count < COLUMNS_NEAR ? LOGITS_NEAR / rows->count : COLUMNS_NEAR;
    const int32_t width = near >= block ? near / block * block : block;
    bool failed = false;
    *parts = (ferry_output_parts){.context = context, .matrix = matrix, .width = whole || width > N ? N : width};
    const size_t floats = (size_t)rows->count * (size_t)parts->width;
    parts->logits.values = ferry_arena_take(&context->arena, floats, sizeof *parts->logits.values, &failed);
    if (whole) parts->logits.order = ferry_arena_take(&context->arena, (size_t)N, sizeof(int32_t), &failed);
    if (failed) return ferry_arena_fail(&context->arena, "logits", floats, sizeof *parts->logits.values, error);
    return ferry_inputs_prepare(context, rows, &parts->matrix, 1, &parts->inputs, error);
}

ferry_status ferry_output_parts_next(ferry_output_parts *parts, ferry_error *error)
{
    ferry_logits *part = &parts->logits;
    part->first += part->count;
    part->count = part->first + parts->width < parts->matrix->N ? parts->width : parts->matrix->N - part->first;
    part->ld = (size_t)part->count;
    const ferry_matrix matrix = ferry_matrix_columns(parts->matrix, part->first, part->count);
    return ferry_inputs_multiply(parts->context, part->values, &parts->inputs, &matrix, error);
}

/* ---- the layer ---- */

static ferry_status run_group(ferry_output_layer *columns, group *g, ferry_error *error)
{
    ferry_context *context = &columns->state->context;
    ferry_profile *profile = &columns->state->profile;
    const bool whole = !ferry_search_takes_parts(columns->sentences[g->first].search);
    const ferry_rows rows = {columns->hidden + (size_t)g->row * (size_t)g->matrix->K, g->rows,
                             ferry_sentence_groups(columns->state->model, &g->rows)};
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_OUTPUT_LAYER);
    ferry_output_parts parts;
    FERRY_TRY(ferry_output_parts_begin(context, &rows, g->matrix, whole, &parts, error));
    if (g->bounded) {
        const size_t maxima = (size_t)g->rows * ferry_matrix_panels(g->matrix);
        bool failed = false;
        g->margins = ferry_arena_take(&context->arena, (size_t)g->rows, sizeof *g->margins, &failed);
        g->maxima = ferry_arena_take(&context->arena, maxima, sizeof *g->maxima, &failed);
        if (failed) return ferry_arena_fail(&context->arena, "logits", maxima, sizeof *g->maxima, error);
    }
    for (int32_t row = 0; g->bounded && row < g->rows; row++)
        g->margins[row] = ferry_logit_bound_margin(columns->bound, rows.x + (size_t)row * (size_t)g->matrix->K,
                                                   &parts.inputs.quantized, row);
    while (!ferry_output_parts_ended(&parts)) {
        FERRY_TRY(ferry_output_parts_next(&parts, error));
        const ferry_phase outer = ferry_profile_enter(profile, FERRY_PHASE_SEARCH);
        FERRY_TRY(show_part(columns, g, &parts.logits, error));
        ferry_profile_leave(profile, outer);
    }
    ferry_profile_leave(profile, around);
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}

ferry_status ferry_output_step(ferry_output_layer *columns, ferry_error *error)
{
    for (int32_t first = 0, row = 0; first < columns->count;) {
        group g = find_group(columns, first, row);
        FERRY_TRY(run_group(columns, &g, error));
        first = g.last;
        row += g.rows;
    }
    return FERRY_OK;
}

ferry_status ferry_output_bound(ferry_state *state, const ferry_options *options, const ferry_shortlist *shortlist,
                                size_t tokens, ferry_logit_bound *bound, ferry_error *error)
{
    const ferry_matrix *matrix = &state->model->output;
    const ferry_coarse *stored = &state->model->output_coarse;
    const bool shared = shortlist == NULL || !options->shortlist;
    const ferry_kernels *kernels = state->context.kernels;
    const bool faster = matrix->kind == FERRY_MATRIX_INT8
                            ? kernels->nibbles_rows > 0 && matrix->K % FERRY_NIBBLE_GROUP == 0
                            : kernels->fast_i8;
    *bound = (ferry_logit_bound){0};
    if ((stored->matrix.weights == NULL && tokens < BOUND_TOKENS) || !shared || !faster ||
        matrix->K > FERRY_INT8_MAX_K || !ferry_search_needs_largest_only(options))
        return FERRY_OK;
    const ferry_status status = ferry_logit_bound_create(matrix, stored, &state->context, bound, error);
    return status == FERRY_ERROR_LIMIT ? FERRY_OK : status;
}
