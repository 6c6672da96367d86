#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph/decoder.h"
#include "engine/graph/encoder.h"
#include "shortlist.h"

/* Logits that exist at the same time where searches take them in parts: they stay in the cache near the core, and all
 * rows share one walk through the output matrix. */
enum { LOGITS_NEAR = 1 << 17 };
/* Rows whose logits exist at the same time where searches want them whole: bounds memory. */
enum { LOGITS_ROWS = 64 };
/* Source tokens that the encoder takes at once (at least one sentence): bounds its activations, which then stay in the
 * cache, while the weights are still read seldom enough. */
enum { ENCODER_TOKENS = 384 };
/* New sentences enter when 1/4 of the places and of the room for ids is free: they are encoded together, which reads
 * the weights once. */
enum { REFILL_PART = 4 };

/* A place for a living sentence. */
struct ferry_generate_slot {
    ferry_arena arena; /* of the sentence's search, list of blocks and shortlist */
    ferry_search *search;
    ferry_sequence sentence; /* keys and values of cross-attention */
    const int32_t *words;    /* [output.N] its shortlist, ascending; NULL: all words */
    ferry_matrix output;     /* the model's, or the words' rows of it */
    int32_t length;          /* ids */
    int32_t rows;            /* living hypotheses */
    size_t tag;
};

/* One call. Living sentences stand in `living` in the order in which they came; so do their rows. */
typedef struct generation {
    ferry_state *state;
    ferry_generate_slot *slots;
    const ferry_generate_source *source;
    ferry_generate_sentence waiting; /* the next one, if there is one */
    bool exhausted;                  /* the source has no more */
    int32_t *living, *vacant;        /* [width] slots in use, and free ones */
    int32_t living_count, vacant_count;
    int64_t tokens;             /* ids of the living sentences */
    ferry_sequence *hypotheses; /* [capacity] their past (ferry_state_hypothesis_cache), by row */
    int32_t capacity;           /* width × beam */
    int32_t rows;
    int32_t *ids, *next_ids, *parents;         /* [capacity] */
    ferry_attention_span *spans, *cross_spans; /* [capacity], [width] */
    ferry_sequence *sentences;                 /* [width] views of the living slots' sequences */
    float *hidden;                             /* [capacity, D] */
    int32_t whole_rows;                        /* whose logits exist at the same time where they are wanted whole */
} generation;

void ferry_generator_init(ferry_generator *generator, const ferry_transformer *model, const ferry_kernels *kernels)
{
    memset(generator, 0, sizeof *generator);
    ferry_state_init(&generator->state, model, kernels);
}

void ferry_generator_destroy(ferry_generator *generator)
{
    for (int32_t i = 0; i < generator->slot_count; i++) ferry_arena_destroy(&generator->slots[i].arena);
    free(generator->slots);
    ferry_state_destroy(&generator->state);
    memset(generator, 0, sizeof *generator);
}

size_t ferry_generator_allocations(const ferry_generator *generator)
{
    size_t allocations = ferry_state_allocations(&generator->state);
    for (int32_t i = 0; i < generator->slot_count; i++) allocations += generator->slots[i].arena.allocations;
    return allocations;
}

static ferry_status reserve_slots(ferry_generator *generator, int32_t width, ferry_error *error)
{
    if (width <= generator->slot_count) return FERRY_OK;
    ferry_generate_slot *slots = realloc(generator->slots, (size_t)width * sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "sentences", (size_t)width * sizeof *slots);
    memset(slots + generator->slot_count, 0, (size_t)(width - generator->slot_count) * sizeof *slots);
    generator->slots = slots;
    generator->slot_count = width;
    return FERRY_OK;
}

static ferry_status allocate(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const ferry_transformer *model = g->state->model;
    ferry_arena *arena = &g->state->context.arena;
    const size_t width = (size_t)source->width, capacity = width * (size_t)source->beam;
    g->capacity = (int32_t)capacity;
    g->whole_rows = source->beam > LOGITS_ROWS ? source->beam : LOGITS_ROWS;
    g->living = ferry_arena_alloc(arena, width, sizeof *g->living);
    g->vacant = ferry_arena_alloc(arena, width, sizeof *g->vacant);
    g->sentences = ferry_arena_alloc(arena, width, sizeof *g->sentences);
    g->cross_spans = ferry_arena_alloc(arena, width, sizeof *g->cross_spans);
    g->spans = ferry_arena_alloc(arena, capacity, sizeof *g->spans);
    g->ids = ferry_arena_alloc(arena, capacity, sizeof *g->ids);
    g->next_ids = ferry_arena_alloc(arena, capacity, sizeof *g->next_ids);
    g->parents = ferry_arena_alloc(arena, capacity, sizeof *g->parents);
    g->hidden = ferry_arena_alloc(arena, capacity, (size_t)model->d_model * sizeof(float));
    ferry_sequence *hypotheses = ferry_arena_alloc(arena, capacity, sizeof *hypotheses);
    if (g->living == NULL || g->vacant == NULL || g->sentences == NULL || g->cross_spans == NULL || g->spans == NULL ||
        g->ids == NULL || g->next_ids == NULL || g->parents == NULL || g->hidden == NULL || hypotheses == NULL)
        return ferry_fail_memory(error, "hypotheses", capacity * (size_t)model->d_model * sizeof(float));
    memset(hypotheses, 0, capacity * sizeof *hypotheses);
    g->hypotheses = hypotheses;
    for (size_t r = 0; r < capacity; r++)
        FERRY_TRY(ferry_sequence_begin(arena, source->max_length, &hypotheses[r], error));
    for (int32_t i = source->width; i-- > 0;) g->vacant[g->vacant_count++] = i;
    return FERRY_OK;
}

/* ---- sentences enter ---- */

/* Sentences that enter together. */
typedef struct entry {
    int32_t *ids, *offsets; /* ragged: ids[ENCODER_TOKENS or one sentence], offsets[width + 1] */
    int32_t count;
} entry;

/* The sentence's output layer gets the words of its shortlist only. */
static ferry_status restrict_words(const ferry_transformer *model, const ferry_shortlist *shortlist,
                                   const ferry_generate_sentence *sentence, ferry_generate_slot *slot,
                                   ferry_error *error)
{
    int32_t count;
    FERRY_TRY(ferry_shortlist_words(shortlist, model->output.N, sentence->ids, sentence->length, &slot->arena,
                                    &slot->words, &count, error));
    return ferry_matrix_select(&model->output, slot->words, count, &slot->arena, &slot->output, error);
}

static void fetch(generation *g)
{
    g->exhausted = !g->source->next(g->source->user, &g->waiting);
}

/* Whether the sentence that waits can come in. */
static bool has_room(const generation *g)
{
    if (g->exhausted || g->vacant_count == 0) return false;
    return g->living_count == 0 || g->tokens + g->waiting.length <= g->source->tokens;
}

/* Gives the sentence that waits a place and one row, the start token; the next one waits then. */
static ferry_status enter(generation *g, ferry_error *error)
{
    const ferry_transformer *model = g->state->model;
    const ferry_generate_sentence entered = g->waiting, *sentence = &entered;
    const int32_t index = g->vacant[--g->vacant_count];
    ferry_generate_slot *slot = &g->slots[index];
    g->living[g->living_count++] = index;
    slot->tag = sentence->tag;
    slot->length = sentence->length;
    slot->rows = 1;
    slot->sentence = (ferry_sequence){0};
    slot->words = NULL;
    slot->output = model->output;
    g->ids[g->rows++] = sentence->rules.start_id;
    g->tokens += sentence->length;
    fetch(g);
    FERRY_TRY(ferry_search_begin(&slot->arena, &sentence->rules, &slot->search, error));
    if (sentence->rules.options.shortlist && g->source->shortlist != NULL) {
        const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_SHORTLIST);
        FERRY_TRY(restrict_words(model, g->source->shortlist, sentence, slot, error));
        ferry_profile_leave(&g->state->profile, around);
    }
    return ferry_sequence_begin(&slot->arena, sentence->length, &slot->sentence, error);
}

/* Encodes the sentences that entered last, and keeps what cross-attention needs of them. */
static ferry_status encode(generation *g, const entry *entered, ferry_error *error)
{
    ferry_state *state = g->state;
    const int32_t count = entered->count, first = g->living_count - count;
    const size_t floats = (size_t)entered->offsets[count] * (size_t)state->model->d_model;
    float *encoded = ferry_arena_alloc(&state->context.arena, floats, sizeof *encoded);
    if (encoded == NULL) return ferry_fail_memory(error, "the encoder's output", floats * sizeof *encoded);
    const ferry_phase around = ferry_profile_enter(&state->profile, FERRY_PHASE_ENCODER);
    FERRY_TRY(ferry_encode(state, entered->ids, entered->offsets, count, encoded, error));
    ferry_profile_enter(&state->profile, FERRY_PHASE_SOURCE_KEYS);
    for (int32_t i = 0; i < count; i++) g->sentences[i] = g->slots[g->living[first + i]].sentence;
    const ferry_status status = ferry_decoder_begin(state, encoded, entered->offsets, count, g->sentences, error);
    ferry_profile_leave(&state->profile, around);
    for (int32_t i = 0; i < count; i++) g->slots[g->living[first + i]].sentence = g->sentences[i];
    return status;
}

/* Lets sentences in that are encoded together. */
static ferry_status enter_together(generation *g, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    const int32_t room = g->waiting.length > ENCODER_TOKENS ? g->waiting.length : ENCODER_TOKENS;
    entry entered = {.ids = ferry_arena_alloc(arena, (size_t)room, sizeof *entered.ids),
                     .offsets = ferry_arena_alloc(arena, (size_t)g->vacant_count + 1, sizeof *entered.offsets)};
    if (entered.ids == NULL || entered.offsets == NULL)
        return ferry_fail_memory(error, "source ids", (size_t)room * sizeof *entered.ids);
    entered.offsets[0] = 0;
    while (has_room(g) && g->waiting.length <= room - entered.offsets[entered.count]) {
        const int32_t start = entered.offsets[entered.count], length = g->waiting.length;
        memcpy(entered.ids + start, g->waiting.ids, (size_t)length * sizeof *entered.ids);
        entered.offsets[++entered.count] = start + length;
        FERRY_TRY(enter(g, error));
    }
    return encode(g, &entered, error);
}

/* Lets sentences in until the room or the source is used up. */
static ferry_status refill(generation *g, ferry_error *error)
{
    const int64_t places = g->source->width, tokens = g->source->tokens;
    const bool worth = g->vacant_count * REFILL_PART >= places && (tokens - g->tokens) * REFILL_PART >= tokens;
    if (g->living_count > 0 && !worth) return FERRY_OK;
    while (has_room(g)) {
        const ferry_arena_mark mark = ferry_arena_begin(&g->state->context.arena);
        const ferry_status status = enter_together(g, error);
        ferry_arena_end(&g->state->context.arena, mark);
        FERRY_TRY(status);
    }
    return FERRY_OK;
}

/* ---- a step ---- */

/* One decoder pass over all living rows. */
static ferry_status decode(generation *g, ferry_error *error)
{
    int32_t row = 0;
    for (int32_t i = 0; i < g->living_count; i++) {
        const ferry_generate_slot *slot = &g->slots[g->living[i]];
        g->sentences[i] = slot->sentence;
        g->cross_spans[i] = (ferry_attention_span){.row = row, .rows = slot->rows, .sequence = i};
        row += slot->rows;
    }
    for (int32_t r = 0; r < g->rows; r++)
        g->spans[r] = (ferry_attention_span){.row = r, .rows = 1, .first = g->hypotheses[r].length, .sequence = r};
    const ferry_decoder_rows input = {
        .ids = g->ids,
        .rows = g->rows,
        .hypotheses = g->hypotheses,
        .spans = g->spans,
        .span_count = g->rows,
        .sentences = g->sentences,
        .cross_spans = g->cross_spans,
        .cross_span_count = g->living_count,
    };
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_DECODER_REST);
    const ferry_status status = ferry_decode(g->state, &input, g->hidden, error);
    ferry_profile_leave(&g->state->profile, around);
    return status;
}

/* Whether the product for the sentence's logits cannot be shared: it has its own words, or inputs that are quantized
 * together. */
static bool stands_alone(const generation *g, int32_t i)
{
    return g->slots[g->living[i]].words != NULL || g->state->model->sentence_inputs;
}

/* Sentences whose rows share a product: first … last - 1 of the living, and their rows. */
typedef struct row_group {
    int32_t first, last;
    int32_t row, rows;
    bool screened; /* their logits are computed coarsely first */
} row_group;

static bool can_be_screened(const generation *g, int32_t i)
{
    const ferry_generate_slot *slot = &g->slots[g->living[i]];
    return g->source->screen != NULL && slot->words == NULL && ferry_search_takes_screens(slot->search);
}

/* What their logits are computed with. */
static const ferry_matrix *group_output(const generation *g, const row_group *group)
{
    return group->screened ? &g->source->screen->coarse : &g->slots[g->living[group->first]].output;
}

/* How many columns of the group's logits exist at the same time. */
static int32_t logits_width(const generation *g, const row_group *group)
{
    const ferry_generate_slot *slot = &g->slots[g->living[group->first]];
    const int32_t part = LOGITS_NEAR / group->rows / FERRY_LOG_SUM_BLOCK * FERRY_LOG_SUM_BLOCK;
    const int32_t N = group_output(g, group)->N;
    if (!ferry_search_takes_parts(slot->search) || part >= N) return N;
    return part > 0 ? part : FERRY_LOG_SUM_BLOCK;
}

/* The group's rows of the last layer, for their output matrix. */
static ferry_status prepare_inputs(generation *g, const row_group *group, ferry_inputs *inputs, ferry_error *error)
{
    const ferry_matrix *output = group_output(g, group);
    const ferry_rows rows = {g->hidden + (size_t)group->row * (size_t)output->K, group->rows,
                             ferry_sentence_groups(g->state->model, &group->rows)};
    return ferry_inputs_prepare(&g->state->context, &rows, output, inputs, error);
}

/* What follows from the logits: appends to next_ids and parents, and sets the slot's rows. */
static void step(generation *g, ferry_generate_slot *slot, const ferry_logits *logits, int32_t row, int32_t *next)
{
    slot->rows =
        ferry_search_step(slot->search, g->state->context.kernels, logits, g->next_ids + *next, g->parents + *next);
    for (int32_t r = 0; r < slot->rows; r++) g->parents[*next + r] += row;
    *next += slot->rows;
}

static ferry_status choose(generation *g, const row_group *group, int32_t *next, ferry_error *error);

/* The step of living sentence i, whose coarse logits have all been seen: by the one exact logit that counts, or by all
 * of them where the coarse ones do not tell which. */
static ferry_status take_largest(generation *g, int32_t i, int32_t row, float factor, const ferry_top *top,
                                 int32_t *next, ferry_error *error)
{
    ferry_generate_slot *slot = &g->slots[g->living[i]];
    const float *x = g->hidden + (size_t)row * (size_t)slot->output.K;
    int32_t column;
    float logit;
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_OUTPUT_LAYER);
    const bool found =
        ferry_screen_resolve(g->source->screen, g->state->context.kernels, x, factor, top, &column, &logit);
    ferry_profile_leave(&g->state->profile, around);
    if (!found) return choose(g, &(row_group){.first = i, .last = i + 1, .row = row, .rows = 1}, next, error);
    const ferry_logits only = {.values = &logit, .ld = 1, .count = 1, .first = column < 0 ? 0 : column};
    step(g, slot, &only, row, next);
    return FERRY_OK;
}

/* Columns `first` … of the group's logits, and each sentence's step when they are the last ones. */
static ferry_status take_columns(generation *g, const row_group *group, const ferry_inputs *inputs, int32_t first,
                                 int32_t count, float *values, int32_t *next, ferry_error *error)
{
    const ferry_kernels *kernels = g->state->context.kernels;
    const ferry_matrix *all = group_output(g, group);
    const ferry_matrix output = ferry_matrix_columns(all, first, count);
    const bool last = first + count == all->N;
    int32_t row = group->row;
    ferry_inputs_multiply(&g->state->context, values, inputs, &output);
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_SEARCH);
    for (int32_t i = group->first; i < group->last; i++) {
        ferry_generate_slot *slot = &g->slots[g->living[i]];
        const int32_t rows = slot->rows;
        const ferry_logits logits = {
            .values = values,
            .ld = (size_t)count,
            .ids = slot->words,
            .count = count,
            .first = first,
        };
        if (group->screened) {
            const ferry_top *top = ferry_search_screen(slot->search, kernels, &logits);
            const float factor = inputs->quantized.factors[row - group->row];
            if (last) FERRY_TRY(take_largest(g, i, row, factor, top, next, error));
        } else if (last) {
            step(g, slot, &logits, row, next);
        } else {
            ferry_search_see(slot->search, kernels, &logits);
        }
        row += rows;
        values += (size_t)rows * (size_t)count;
    }
    ferry_profile_leave(&g->state->profile, around);
    return FERRY_OK;
}

static ferry_status choose(generation *g, const row_group *group, int32_t *next, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    const int32_t N = group_output(g, group)->N, width = logits_width(g, group);
    const size_t floats = (size_t)group->rows * (size_t)width;
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_OUTPUT_LAYER);
    float *values = ferry_arena_alloc(arena, floats, sizeof *values);
    ferry_inputs inputs;
    ferry_status status = values != NULL ? prepare_inputs(g, group, &inputs, error)
                                         : ferry_fail_memory(error, "logits", floats * sizeof *values);
    for (int32_t first = 0; status == FERRY_OK && first < N; first += width)
        status = take_columns(g, group, &inputs, first, N - first < width ? N - first : width, values, next, error);
    ferry_profile_leave(&g->state->profile, around);
    ferry_arena_end(arena, mark);
    return status;
}

/* Whether the sentence can join the group. */
static bool can_join(const generation *g, const row_group *group, int32_t i)
{
    const ferry_generate_slot *first = &g->slots[g->living[group->first]], *slot = &g->slots[g->living[i]];
    const bool parts = ferry_search_takes_parts(first->search);
    return !stands_alone(g, group->first) && !stands_alone(g, i) && ferry_search_takes_parts(slot->search) == parts &&
           can_be_screened(g, i) == group->screened && (parts || group->rows + slot->rows <= g->whole_rows);
}

/* All living rows, in groups of whole sentences. */
static ferry_status choose_all(generation *g, int32_t *next, ferry_error *error)
{
    row_group group = {0};
    for (; group.first < g->living_count; group.first = group.last, group.row += group.rows) {
        group.rows = 0;
        group.screened = can_be_screened(g, group.first);
        for (group.last = group.first; group.last < g->living_count; group.last++) {
            if (group.last > group.first && !can_join(g, &group, group.last)) break;
            group.rows += g->slots[g->living[group.last]].rows;
        }
        FERRY_TRY(choose(g, &group, next, error));
    }
    return FERRY_OK;
}

static void vacate(generation *g, int32_t index)
{
    ferry_generate_slot *slot = &g->slots[index];
    const ferry_arena_mark empty = {0};
    ferry_sequence_release(&g->state->decoder_cache, &slot->sentence);
    ferry_arena_end(&slot->arena, empty);
}

/* Finished sentences leave. */
static ferry_status leave(generation *g, ferry_error *error)
{
    int32_t kept = 0;
    ferry_status status = FERRY_OK;
    for (int32_t i = 0; i < g->living_count; i++) {
        const int32_t index = g->living[i];
        ferry_generate_slot *slot = &g->slots[index];
        if (slot->rows > 0) {
            g->living[kept++] = index;
            continue;
        }
        if (status == FERRY_OK) status = g->source->finished(g->source->user, slot->tag, slot->search, error);
        vacate(g, index);
        g->vacant[g->vacant_count++] = index;
        g->tokens -= slot->length;
    }
    g->living_count = kept;
    return status;
}

static ferry_status run(generation *g, ferry_error *error)
{
    FERRY_TRY(allocate(g, error));
    fetch(g);
    FERRY_TRY(refill(g, error));
    while (g->living_count > 0) {
        int32_t next = 0;
        FERRY_TRY(decode(g, error));
        FERRY_TRY(choose_all(g, &next, error));
        const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_SEARCH);
        FERRY_TRY(ferry_sequence_reorder(ferry_state_hypothesis_cache(g->state), &g->state->context.arena,
                                         g->hypotheses, g->rows, g->parents, next, error));
        ferry_profile_leave(&g->state->profile, around);
        int32_t *ids = g->ids;
        g->ids = g->next_ids;
        g->next_ids = ids;
        g->rows = next;
        FERRY_TRY(leave(g, error));
        FERRY_TRY(refill(g, error));
    }
    return FERRY_OK;
}

ferry_status ferry_generate(ferry_generator *generator, const ferry_generate_source *source, ferry_error *error)
{
    FERRY_TRY(reserve_slots(generator, source->width, error));
    generation g = {.state = &generator->state, .slots = generator->slots, .source = source};
    ferry_arena *arena = &generator->state.context.arena;
    const ferry_arena_mark mark = ferry_arena_begin(arena);
    const ferry_status status = run(&g, error);
    /* After an error some blocks are still held. */
    for (int32_t i = 0; i < g.living_count; i++) vacate(&g, g.living[i]);
    for (int32_t r = 0; g.hypotheses != NULL && r < g.capacity; r++)
        ferry_sequence_release(ferry_state_hypothesis_cache(&generator->state), &g.hypotheses[r]);
    ferry_arena_end(arena, mark);
    return status;
}
