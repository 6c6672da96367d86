#include "output_columns.h"

#include <math.h>

#include "shortlist.h"

/* Logits that exist at the same time where searches take them in parts, and columns: they stay in the cache near the
 * core, and all rows share one pass over the output matrix. */
enum { LOGITS_NEAR = 1 << 17, COLUMNS_NEAR = 1 << 14 };
/* Rows that are grouped where searches take their logits whole: bounds memory. */
enum { WHOLE_ROWS = 64 };
/* Making a screen takes as long as some steps without it: one short line does not pay for it. */
enum { SCREEN_TOKENS = 32 };

/* Sentences whose rows share a product: first … last - 1, and their rows. */
typedef struct group {
    int32_t first, last;
    int32_t row, rows;
    bool screened;              /* their logits are computed coarsely first */
    const ferry_matrix *matrix; /* what they are computed with */
    ferry_inputs inputs;
    double *bounds; /* of screened ones: [rows] (screen.h) */
    float *maxima;  /* and [rows, ⌈N/16⌉] */
} group;

/* ---- sentences ---- */

ferry_status ferry_output_begin(ferry_state *state, ferry_arena *arena, const ferry_search_rules *rules,
                                const ferry_shortlist *shortlist, const int32_t *ids, int32_t length,
                                ferry_output_sentence *sentence, ferry_error *error)
{
    const ferry_matrix *matrix = &state->model->output;
    int32_t count;
    *sentence = (ferry_output_sentence){.matrix = *matrix, .rows = 1};
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

static bool can_be_screened(const ferry_output_columns *columns, const ferry_output_sentence *sentence)
{
    return columns->screen != NULL && sentence->words == NULL && ferry_search_takes_screens(sentence->search);
}

/* Whether sentence i can join the group. */
static bool can_join(const ferry_output_columns *columns, const group *g, int32_t i)
{
    const ferry_output_sentence *first = &columns->sentences[g->first], *other = &columns->sentences[i];
    const bool parts = ferry_search_takes_parts(first->search);
    const bool shared = first->words == NULL && other->words == NULL && !columns->state->model->sentence_inputs;
    return shared && ferry_search_takes_parts(other->search) == parts &&
           can_be_screened(columns, other) == g->screened && (parts || g->rows + other->rows <= WHOLE_ROWS);
}

/* The most rows for which coarse products are faster. */
static int32_t most_screened(const ferry_output_columns *columns)
{
    return columns->screen->coarse.kind == FERRY_MATRIX_NIBBLES ? columns->state->context.kernels->nibbles_rows
                                                                : INT32_MAX;
}

/* The group that begins with sentence `first`, whose first row is `row`. */
static group find_group(const ferry_output_columns *columns, int32_t first, int32_t row)
{
    const ferry_output_sentence *sentence = &columns->sentences[first];
    group g = {.first = first, .last = first + 1, .row = row, .rows = sentence->rows};
    g.screened = can_be_screened(columns, sentence);
    while (g.last < columns->count && can_join(columns, &g, g.last)) g.rows += columns->sentences[g.last++].rows;
    if (g.screened && g.rows > most_screened(columns)) g.screened = false;
    g.matrix = g.screened ? &columns->screen->coarse : &sentence->matrix;
    return g;
}

/* How many columns of the group's logits exist at the same time. */
static int32_t part_width(const ferry_output_columns *columns, const group *g)
{
    const int32_t most = LOGITS_NEAR / g->rows < COLUMNS_NEAR ? LOGITS_NEAR / g->rows : COLUMNS_NEAR;
    const int32_t width = most / FERRY_LOG_SUM_BLOCK * FERRY_LOG_SUM_BLOCK;
    const bool parts = ferry_search_takes_parts(columns->sentences[g->first].search);
    if (!parts || width >= g->matrix->N) return g->matrix->N;
    return width > 0 ? width : FERRY_LOG_SUM_BLOCK;
}

/* ---- the searches' steps ---- */

static ferry_status run_group(ferry_output_columns *columns, group *g, ferry_error *error);

/* The step of a sentence whose first row is `row`. */
static void step(ferry_output_columns *columns, ferry_output_sentence *sentence, const ferry_logits *logits,
                 int32_t row)
{
    int32_t *parents = columns->parents + columns->rows;
    sentence->rows = ferry_search_step(sentence->search, columns->state->context.kernels, logits,
                                       columns->ids + columns->rows, parents);
    for (int32_t r = 0; r < sentence->rows; r++) parents[r] += row;
    columns->rows += sentence->rows;
}

static void mask(void *user, const ferry_logits *part)
{
    ferry_search_mask(user, part);
}

/* The step of screened sentence i, whose coarse logits have all been seen: by the one exact logit that counts, or by
 * all of them where no bound is known. */
static ferry_status step_screened(ferry_output_columns *columns, const group *g, int32_t i, int32_t row,
                                  ferry_error *error)
{
    ferry_output_sentence *sentence = &columns->sentences[i];
    const size_t at = (size_t)(row - g->row);
    const float *x = columns->hidden + (size_t)row * (size_t)sentence->matrix.K;
    const ferry_screen_rules rules = {mask, sentence->search};
    ferry_profile *profile = &columns->state->profile;
    int32_t column;
    float logit;
    if (!(g->bounds[at] < INFINITY)) {
        group exact = {.first = i, .last = i + 1, .row = row, .rows = 1, .matrix = &sentence->matrix};
        return run_group(columns, &exact, error);
    }
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_OUTPUT_LAYER);
    FERRY_TRY(ferry_screen_resolve(columns->screen, &columns->state->context, x, g->bounds[at],
                                   g->maxima + at * ferry_matrix_panels(g->matrix), &rules, &column, &logit, error));
    ferry_profile_leave(profile, around);
    const ferry_logits only = {.values = &logit, .ld = 1, .count = 1, .first = column < 0 ? 0 : column};
    step(columns, sentence, &only, row);
    return FERRY_OK;
}

/* Shows a part of the group's rows to their searches; each steps with the last part. */
static ferry_status show_part(ferry_output_columns *columns, const group *g, const ferry_logits *part,
                              ferry_error *error)
{
    const ferry_kernels *kernels = columns->state->context.kernels;
    const bool last = part->first + part->count == g->matrix->N;
    ferry_logits logits = *part;
    for (int32_t i = g->first, row = g->row; i < g->last; i++) {
        ferry_output_sentence *sentence = &columns->sentences[i];
        const int32_t rows = sentence->rows;
        logits.ids = sentence->words;
        if (g->screened) {
            float *maxima = g->maxima + (size_t)(row - g->row) * ferry_matrix_panels(g->matrix);
            kernels->panel_maxima(maxima + part->first / FERRY_LANES, logits.values, (size_t)part->count);
            if (last) FERRY_TRY(step_screened(columns, g, i, row, error));
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

/* ---- the layer ---- */

static ferry_status begin_screens(ferry_output_columns *columns, group *g, const float *x, ferry_error *error)
{
    const size_t rows = (size_t)g->rows, K = (size_t)g->matrix->K, panels = ferry_matrix_panels(g->matrix);
    bool failed = false;
    g->bounds = ferry_arena_take(&columns->state->context.arena, rows, sizeof *g->bounds, &failed);
    g->maxima = ferry_arena_take(&columns->state->context.arena, rows * panels, sizeof *g->maxima, &failed);
    if (failed) return ferry_fail_memory(error, "bounds of logits", rows * panels * sizeof *g->maxima);
    for (size_t row = 0; row < rows; row++)
        g->bounds[row] = ferry_screen_bound(columns->screen, x + row * K, &g->inputs.quantized, (int32_t)row);
    return FERRY_OK;
}

static ferry_status run_group(ferry_output_columns *columns, group *g, ferry_error *error)
{
    ferry_context *context = &columns->state->context;
    ferry_profile *profile = &columns->state->profile;
    const int32_t width = part_width(columns, g), N = g->matrix->N;
    const size_t floats = (size_t)g->rows * (size_t)width;
    const ferry_rows rows = {columns->hidden + (size_t)g->row * (size_t)g->matrix->K, g->rows,
                             ferry_sentence_groups(columns->state->model, &g->rows)};
    const ferry_arena_mark mark = ferry_arena_begin(&context->arena);
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_OUTPUT_LAYER);
    bool failed = false;
    float *values = ferry_arena_take(&context->arena, floats, sizeof *values, &failed);
    int32_t *order = width == N ? ferry_arena_take(&context->arena, (size_t)N, sizeof *order, &failed) : NULL;
    if (failed) return ferry_fail_memory(error, "logits", floats * sizeof *values);
    FERRY_TRY(ferry_inputs_prepare(context, &rows, g->matrix, &g->inputs, error));
    if (g->screened) FERRY_TRY(begin_screens(columns, g, rows.x, error));
    for (int32_t first = 0; first < N; first += width) {
        const int32_t count = N - first < width ? N - first : width;
        const ferry_matrix matrix = ferry_matrix_columns(g->matrix, first, count);
        FERRY_TRY(ferry_inputs_multiply(context, values, &g->inputs, &matrix, error));
        const ferry_logits part = {
            .values = values, .ld = (size_t)count, .count = count, .first = first, .order = order};
        const ferry_phase outer = ferry_profile_enter(profile, FERRY_PHASE_SEARCH);
        FERRY_TRY(show_part(columns, g, &part, error));
        ferry_profile_leave(profile, outer);
    }
    ferry_profile_leave(profile, around);
    ferry_arena_end(&context->arena, mark);
    return FERRY_OK;
}

ferry_status ferry_output_step(ferry_output_columns *columns, ferry_error *error)
{
    for (int32_t first = 0, row = 0; first < columns->count;) {
        group g = find_group(columns, first, row);
        FERRY_TRY(run_group(columns, &g, error));
        first = g.last;
        row += g.rows;
    }
    return FERRY_OK;
}

ferry_status ferry_output_screen(ferry_state *state, const ferry_options *options, const ferry_shortlist *shortlist,
                                 size_t tokens, ferry_screen *screen, ferry_error *error)
{
    const ferry_matrix *matrix = &state->model->output;
    const bool shared = shortlist == NULL || !options->shortlist;
    const ferry_kernels *kernels = state->context.kernels;
    const bool faster =
        matrix->kind == FERRY_MATRIX_CODES ? kernels->nibbles_rows > 0 && matrix->K % 8 == 0 : kernels->fast_i8;
    *screen = (ferry_screen){0};
    if (tokens < SCREEN_TOKENS || !shared || !faster || matrix->K > FERRY_CODES_MAX_K ||
        !ferry_search_needs_largest_only(options))
        return FERRY_OK;
    state->account.needed = 0;
    const ferry_status status =
        ferry_screen_create(matrix, &state->model->output_coarse, &state->context, screen, error);
    return status == FERRY_ERROR_MEMORY && state->account.needed > 0 ? FERRY_OK : status;
}
