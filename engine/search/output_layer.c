#include "output_layer.h"

#include <math.h>
#include <string.h>

#include "decoding.h"
#include "engine/graph/state.h"
#include "search.h"

/* Limits of a part: logits of all rows, and columns. A part stays in the core's own cache, and all rows share one
 * pass over the output matrix. */
enum { PART_LOGITS = 1 << 17, PART_COLUMNS = 1 << 14 };
/* The maximum number of rows in a group of searches that take whole rows: bounds memory. */
enum { WHOLE_ROWS = 64 };
/* The minimum number of source tokens for which a coarse matrix is made: making it takes as long as several steps. */
enum { BOUND_TOKENS = 32 };

/* Sentences first … last - 1, whose rows share a product. */
typedef struct group {
    int32_t first, last;
    int32_t row, rows;
    bool bounded;               /* their logits are computed coarsely first */
    const ferry_matrix *matrix; /* the factor of the product */
    double *margins;            /* bounded: [rows] */
    float *maxima;              /* bounded: [rows, ⌈N/16⌉] */
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

static bool can_be_bounded(const ferry_output_layer *layer, const ferry_output_sentence *sentence)
{
    return layer->bound != NULL && sentence->words == NULL && sentence->largest_only;
}

/* The group that begins with sentence `first` at row `row`. The following sentences join it while they share the
 * model's matrix and their searches take logits in the same way. */
static group find_group(const ferry_output_layer *layer, int32_t first, int32_t row)
{
    const ferry_output_sentence *sentence = &layer->sentences[first];
    const bool shares = sentence->words == NULL && !layer->state->model->sentence_inputs;
    const bool parts = ferry_search_takes_parts(sentence->search), bounded = can_be_bounded(layer, sentence);
    group g = {.first = first, .last = first + 1, .row = row, .rows = sentence->rows, .bounded = bounded};
    for (; shares && g.last < layer->count; g.last++) {
        const ferry_output_sentence *next = &layer->sentences[g.last];
        if (next->words != NULL || ferry_search_takes_parts(next->search) != parts ||
            can_be_bounded(layer, next) != bounded || (!parts && g.rows + next->rows > WHOLE_ROWS))
            break;
        g.rows += next->rows;
    }
    /* Coarse products with nibbles are faster up to nibbles_rows rows. */
    if (bounded && layer->bound->coarse.matrix.kind == FERRY_MATRIX_NIBBLES &&
        g.rows > layer->state->context.kernels->nibbles_rows)
        g.bounded = false;
    g.matrix = g.bounded ? &layer->bound->coarse.matrix : &sentence->matrix;
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

/* Computes exact logits panel by panel. After the first panel, few others can hold the largest. */
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
        for (size_t at = 0; at < bytes; at += 64) { /* into the core's cache */
            __builtin_prefetch((const char *)columns.weights + at, 0, 2);
            if (columns.lower != NULL) __builtin_prefetch(columns.lower + at, 0, 2);
        }
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

static ferry_status run_group(ferry_output_layer *layer, group *g, ferry_error *error);

/* Steps a sentence whose first row is `row`. */
static void step(ferry_output_layer *layer, ferry_output_sentence *sentence, const ferry_logits *logits, int32_t row)
{
    int32_t *parents = layer->parents + layer->rows;
    sentence->rows =
        ferry_search_step(sentence->search, layer->state->context.kernels, logits, layer->ids + layer->rows, parents);
    for (int32_t r = 0; r < sentence->rows; r++) parents[r] += row;
    layer->rows += sentence->rows;
}

/* Steps bounded sentence i after its last coarse logits: by its largest exact logit, or by all exact logits if the
 * margin is not finite or a coarse logit is a NaN, which damaged files can cause. */
static ferry_status step_bounded(ferry_output_layer *layer, const group *g, int32_t i, int32_t row, ferry_error *error)
{
    ferry_output_sentence *sentence = &layer->sentences[i];
    const size_t at = (size_t)(row - g->row);
    const float *x = layer->hidden + (size_t)row * (size_t)sentence->matrix.K;
    const size_t panels = ferry_matrix_panels(g->matrix);
    float *maxima = g->maxima + at * panels;
    const int32_t first = layer->state->context.kernels->argmax(maxima, (int32_t)panels);
    ferry_profile *profile = &layer->state->profile;
    int32_t column;
    float logit;
    if (first < 0 || !(g->margins[at] < INFINITY)) {
        group exact = {.first = i, .last = i + 1, .row = row, .rows = 1, .matrix = &sentence->matrix};
        return run_group(layer, &exact, error);
    }
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_OUTPUT_LAYER);
    FERRY_TRY(ferry_logit_bound_resolve(layer->bound, &layer->state->context, x, g->margins[at], maxima, first,
                                        sentence->search, &column, &logit, error));
    ferry_profile_leave(profile, around);
    const ferry_logits only = {.values = &logit, .ld = 1, .count = 1, .first = column < 0 ? 0 : column};
    step(layer, sentence, &only, row);
    return FERRY_OK;
}

/* Shows a part of the columns to the group's searches; each search steps with the last part. */
static ferry_status show_part(ferry_output_layer *layer, const group *g, const ferry_logits *part, ferry_error *error)
{
    const ferry_kernels *kernels = layer->state->context.kernels;
    const bool last = part->first + part->count == g->matrix->N;
    ferry_logits logits = *part;
    for (int32_t i = g->first, row = g->row; i < g->last; i++) {
        ferry_output_sentence *sentence = &layer->sentences[i];
        const int32_t rows = sentence->rows;
        logits.ids = sentence->words;
        if (g->bounded) {
            float *maxima = g->maxima + (size_t)(row - g->row) * ferry_matrix_panels(g->matrix);
            kernels->panel_maxima(maxima + part->first / FERRY_LANES, logits.values, (size_t)part->count);
            if (last) FERRY_TRY(step_bounded(layer, g, i, row, error));
        } else if (last) {
            step(layer, sentence, &logits, row);
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
    const int32_t near = PART_LOGITS / rows->count < PART_COLUMNS ? PART_LOGITS / rows->count : PART_COLUMNS;
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

static ferry_status run_group(ferry_output_layer *layer, group *g, ferry_error *error)
{
    ferry_context *context = &layer->state->context;
    ferry_profile *profile = &layer->state->profile;
    const bool whole = !ferry_search_takes_parts(layer->sentences[g->first].search);
    const ferry_rows rows = {layer->hidden + (size_t)g->row * (size_t)g->matrix->K, g->rows,
                             ferry_sentence_groups(layer->state->model, &g->rows)};
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
        g->margins[row] = ferry_logit_bound_margin(layer->bound, rows.x + (size_t)row * (size_t)g->matrix->K,
                                                   &parts.inputs.quantized, row);
    while (!ferry_output_parts_ended(&parts)) {
        FERRY_TRY(ferry_output_parts_next(&parts, error));
        const ferry_phase outer = ferry_profile_enter(profile, FERRY_PHASE_SEARCH);
        FERRY_TRY(show_part(layer, g, &parts.logits, error));
        ferry_profile_leave(profile, outer);
    }
    ferry_profile_leave(profile, around);
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}

ferry_status ferry_output_step(ferry_output_layer *layer, ferry_error *error)
{
    for (int32_t first = 0, row = 0; first < layer->count;) {
        group g = find_group(layer, first, row);
        FERRY_TRY(run_group(layer, &g, error));
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
    const bool planes = matrix->kind == FERRY_MATRIX_PLANES;
    const bool faster = planes ? kernels->nibbles_rows > 0 : matrix->kind == FERRY_MATRIX_FLOATS && kernels->fast_i8;
    *bound = (ferry_logit_bound){0};
    if ((!planes && stored->matrix.weights == NULL && tokens < BOUND_TOKENS) || !shared || !faster ||
        matrix->K > FERRY_INT8_MAX_K || !ferry_search_needs_largest_only(options))
        return FERRY_OK;
    const ferry_status status = ferry_logit_bound_create(matrix, stored, &state->context, bound, error);
    return status == FERRY_ERROR_LIMIT ? FERRY_OK : status;
}
