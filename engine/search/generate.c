#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "../graph/decoder.h"
#include "../graph/encoder.h"

/* Rows whose logits exist at the same time: bounds memory where vocabularies and beams are large. */
enum { LOGITS_ROWS = 64 };
/* Source tokens that the encoder takes at once (at least one sentence): bounds its activations, which then stay in the
 * cache, while the weights are still read seldom enough. */
enum { ENCODER_TOKENS = 512 };
/* New sentences enter when 1/4 of the places is free: they are encoded together, which reads the weights once. */
enum { REFILL_PART = 4 };

/* A place for a living sentence. */
struct ferry_generate_slot {
    ferry_arena arena; /* of the sentence's search and list of blocks */
    ferry_search *search;
    ferry_sequence sentence; /* keys and values of cross-attention */
    int32_t rows;            /* living hypotheses */
    size_t tag;
};

/* One call. Living sentences stand in `living` in the order in which they came; so do their rows. */
typedef struct generation {
    ferry_state *state;
    ferry_generate_slot *slots;
    const ferry_generate_source *source;
    bool exhausted;           /* the source has no more */
    int32_t *living, *vacant; /* [width] slots in use, and free ones */
    int32_t living_count, vacant_count;
    ferry_sequence *hypotheses; /* [capacity] keys and values of self-attention, by row */
    int32_t capacity;           /* width × beam */
    int32_t rows;
    int32_t *ids, *next_ids, *parents;         /* [capacity] */
    ferry_attention_span *spans, *cross_spans; /* [capacity], [width] */
    ferry_sequence *sentences;                 /* [width] views of the living slots' sequences */
    float *hidden;                             /* [capacity, D] */
    float *logits;                             /* [logits_rows, V] */
    int32_t logits_rows;
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
    g->logits_rows = source->beam > LOGITS_ROWS ? source->beam : LOGITS_ROWS;
    if (g->logits_rows > g->capacity) g->logits_rows = g->capacity;
    g->living = ferry_arena_alloc(arena, width, sizeof *g->living);
    g->vacant = ferry_arena_alloc(arena, width, sizeof *g->vacant);
    g->sentences = ferry_arena_alloc(arena, width, sizeof *g->sentences);
    g->cross_spans = ferry_arena_alloc(arena, width, sizeof *g->cross_spans);
    g->spans = ferry_arena_alloc(arena, capacity, sizeof *g->spans);
    g->ids = ferry_arena_alloc(arena, capacity, sizeof *g->ids);
    g->next_ids = ferry_arena_alloc(arena, capacity, sizeof *g->next_ids);
    g->parents = ferry_arena_alloc(arena, capacity, sizeof *g->parents);
    g->hidden = ferry_arena_alloc(arena, capacity, (size_t)model->d_model * sizeof(float));
    g->logits = ferry_arena_alloc(arena, (size_t)g->logits_rows, (size_t)model->output.N * sizeof(float));
    ferry_sequence *hypotheses = ferry_arena_alloc(arena, capacity, sizeof *hypotheses);
    if (g->living == NULL || g->vacant == NULL || g->sentences == NULL || g->cross_spans == NULL || g->spans == NULL ||
        g->ids == NULL || g->next_ids == NULL || g->parents == NULL || g->hidden == NULL || g->logits == NULL ||
        hypotheses == NULL)
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

/* Gives the sentence a place and one row, the start token. */
static ferry_status enter(generation *g, const ferry_generate_sentence *sentence, ferry_error *error)
{
    const int32_t index = g->vacant[--g->vacant_count];
    ferry_generate_slot *slot = &g->slots[index];
    g->living[g->living_count++] = index;
    slot->tag = sentence->tag;
    slot->rows = 1;
    slot->sentence = (ferry_sequence){0};
    g->ids[g->rows++] = sentence->rules.start_id;
    FERRY_TRY(ferry_search_begin(&slot->arena, &sentence->rules, &slot->search, error));
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
    FERRY_TRY(ferry_encode(state, entered->ids, entered->offsets, count, encoded, error));
    for (int32_t i = 0; i < count; i++) g->sentences[i] = g->slots[g->living[first + i]].sentence;
    const ferry_status status = ferry_decoder_begin(state, encoded, entered->offsets, count, g->sentences, error);
    for (int32_t i = 0; i < count; i++) g->slots[g->living[first + i]].sentence = g->sentences[i];
    return status;
}

/* Lets sentences in until the places or the source are used up. */
static ferry_status refill(generation *g, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    ferry_generate_sentence sentence;
    if (g->exhausted || (g->living_count > 0 && g->vacant_count * REFILL_PART < g->source->width)) return FERRY_OK;
    bool waiting = g->vacant_count > 0 && g->source->next(g->source->user, &sentence);
    while (waiting) {
        const ferry_arena_mark mark = ferry_arena_begin(arena);
        const size_t room = (size_t)(sentence.length > ENCODER_TOKENS ? sentence.length : ENCODER_TOKENS);
        entry entered = {.ids = ferry_arena_alloc(arena, room, sizeof *entered.ids),
                         .offsets = ferry_arena_alloc(arena, (size_t)g->vacant_count + 1, sizeof *entered.offsets)};
        ferry_status status = FERRY_OK;
        if (entered.ids == NULL || entered.offsets == NULL)
            status = ferry_fail_memory(error, "source ids", room * sizeof *entered.ids);
        else
            entered.offsets[0] = 0;
        while (status == FERRY_OK && waiting && (size_t)(entered.offsets[entered.count] + sentence.length) <= room) {
            const int32_t start = entered.offsets[entered.count];
            memcpy(entered.ids + start, sentence.ids, (size_t)sentence.length * sizeof *sentence.ids);
            entered.offsets[++entered.count] = start + sentence.length;
            status = enter(g, &sentence, error);
            waiting = g->vacant_count > 0 && g->source->next(g->source->user, &sentence);
        }
        if (status == FERRY_OK) status = encode(g, &entered, error);
        ferry_arena_end(arena, mark);
        FERRY_TRY(status);
    }
    g->exhausted = g->vacant_count > 0;
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
    return ferry_decode(g->state, &input, g->hidden, error);
}

/* The logits of living sentences first … last - 1, whose rows begin at `row`, and what follows from them. Appends to
 * next_ids and parents, and sets the slots' rows. */
static void choose(generation *g, int32_t first, int32_t last, int32_t row, int32_t rows, int32_t *next)
{
    const ferry_transformer *model = g->state->model;
    const size_t V = (size_t)model->output.N;
    ferry_decoder_logits(g->state, g->hidden + (size_t)row * (size_t)model->d_model, rows, g->logits);
    float *values = g->logits;
    for (int32_t i = first; i < last; i++) {
        ferry_generate_slot *slot = &g->slots[g->living[i]];
        const ferry_logits logits = {.values = values, .ld = V, .ids = NULL, .count = model->output.N};
        const int32_t before = slot->rows;
        slot->rows = ferry_search_step(slot->search, g->state->context.kernels, &logits, g->next_ids + *next,
                                       g->parents + *next);
        for (int32_t r = 0; r < slot->rows; r++) g->parents[*next + r] += row;
        *next += slot->rows;
        row += before;
        values += (size_t)before * V;
    }
}

/* All living rows, in groups of whole sentences that the room for logits can take. */
static void choose_all(generation *g, int32_t *next)
{
    for (int32_t first = 0, row = 0; first < g->living_count;) {
        int32_t last = first, rows = 0;
        while (last < g->living_count && rows + g->slots[g->living[last]].rows <= g->logits_rows)
            rows += g->slots[g->living[last++]].rows;
        choose(g, first, last, row, rows, next);
        row += rows;
        first = last;
    }
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
    }
    g->living_count = kept;
    return status;
}

static ferry_status run(generation *g, ferry_error *error)
{
    FERRY_TRY(allocate(g, error));
    FERRY_TRY(refill(g, error));
    while (g->living_count > 0) {
        int32_t next = 0;
        FERRY_TRY(decode(g, error));
        choose_all(g, &next);
        FERRY_TRY(ferry_sequence_reorder(&g->state->decoder_cache, &g->state->context.arena, g->hypotheses, g->rows,
                                         g->parents, next, error));
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
        ferry_sequence_release(&generator->state.decoder_cache, &g.hypotheses[r]);
    ferry_arena_end(arena, mark);
    return status;
}
