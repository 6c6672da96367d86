#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph/decoder.h"
#include "engine/graph/encoder.h"
#include "forecast.h"
#include "output_columns.h"

/* Source tokens that the encoder takes at once (at least one sentence): bounds its activations, which then stay in the
 * cache, while one read of the weights still serves many rows. */
enum { ENCODER_TOKENS = 128 };
/* New sentences enter when 1/8 of the places is free, and there is room for sentences of so many tokens: they are
 * encoded together, which reads the weights once. */
enum { REFILL_PART = 8, REFILL_TOKENS = 64 };
/* A translation is expected to be as long as its source, in proportion to those that have ended, of which a source and
 * a translation of USUAL_TOKENS are taken for granted; and EXTRA_TOKENS more. */
enum { USUAL_TOKENS = 32, EXTRA_TOKENS = 2 };
/* Positions that a beam's other hypotheses do not share with the first: in each step, for each of them. */
#define BEAM_GROWTH 0.25
/* What an arena, a cache or a table of rows may keep after a call; a cache of keys and values also those of
 * KEPT_TOKENS for the source and each hypothesis. The usual batch needs less. */
enum { KEPT_BYTES = 32 << 20, KEPT_TOKENS = 768 };
/* What the encoder of a single sentence may leave to the next one, while the decoder works. */
enum { SPARED_BYTES = 1 << 18 };

/* A place for a living sentence. */
struct ferry_generate_slot {
    ferry_arena arena; /* of the sentence's search, list of blocks and shortlist */
    int32_t length;    /* ids */
    int32_t steps;     /* since it entered */
    size_t tag;
};

/* One call. Arrays of living sentences are in the order in which they entered; so are their rows. */
typedef struct generation {
    ferry_generator *generator;
    ferry_state *state;
    const ferry_generate_source *source;
    ferry_arena_mark mark;           /* where the arrays below begin in the arena */
    int32_t width, most_positions;   /* of the source, or less where memory does not suffice */
    ferry_generate_sentence waiting; /* the next one, if there is one */
    bool exhausted;                  /* the source has no more */
    ferry_generate_slot *slots;      /* [width] the first living_count hold living sentences */
    int32_t living_count;
    int64_t ended_length, ended_steps; /* sums over the sentences that have ended */
    ferry_forecast forecast;           /* of the living sentences, while others enter */
    ferry_sequence *hypotheses;        /* [capacity] their past (ferry_state_hypothesis_cache), by row */
    int32_t capacity;                  /* width × beam */
    int32_t rows;
    int32_t *ids, *next_ids, *parents;         /* [capacity] */
    ferry_attention_span *spans, *cross_spans; /* [capacity], [width] */
    ferry_sequence *sources;                   /* [width] keys and values of cross-attention, of the living */
    ferry_output_sentence *outputs;            /* [width] of the living */
    float *hidden;                             /* [capacity, D] */
    const float ***weights;                    /* [width] of the living, in a step's end; NULL: not wanted */
} generation;

void ferry_generator_init(ferry_generator *generator, const ferry_transformer *model, const ferry_kernels *kernels)
{
    memset(generator, 0, sizeof *generator);
    ferry_state_init(&generator->state, model, kernels);
}

void ferry_generator_release(ferry_generator *generator)
{
    for (int32_t i = 0; i < generator->slot_count; i++) ferry_arena_destroy(&generator->slots[i].arena);
    free(generator->slots);
    generator->slots = NULL;
    generator->slot_count = 0;
    ferry_state_destroy(&generator->state);
}

void ferry_generator_destroy(ferry_generator *generator)
{
    ferry_generator_release(generator);
    memset(generator, 0, sizeof *generator);
}

size_t ferry_generator_allocations(const ferry_generator *generator)
{
    size_t allocations = ferry_state_allocations(&generator->state);
    for (int32_t i = 0; i < generator->slot_count; i++) allocations += generator->slots[i].arena.allocations;
    return allocations;
}

ferry_status ferry_generate_fail_refused(const ferry_account *account, ferry_error *error)
{
    return ferry_fail(error, FERRY_ERROR_LIMIT,
                      "option memory_limit: %zu bytes do not suffice for this line, expected %zu",
                      account->memory->limit, account->needed);
}

static ferry_status reserve_slots(ferry_generator *generator, int32_t width, ferry_error *error)
{
    if (width <= generator->slot_count) return FERRY_OK;
    ferry_generate_slot *slots = realloc(generator->slots, (size_t)width * sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "sentences", (size_t)width * sizeof *slots);
    for (int32_t i = generator->slot_count; i < width; i++)
        slots[i] = (ferry_generate_slot){.arena.account = &generator->state.account};
    generator->slots = slots;
    generator->slot_count = width;
    return FERRY_OK;
}

/* Memory for `width` sentences. */
static ferry_status allocate(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const size_t D = (size_t)g->state->model->d_model;
    ferry_arena *arena = &g->state->context.arena;
    const size_t width = (size_t)g->width, capacity = width * (size_t)source->beam;
    bool failed = false;
    FERRY_TRY(reserve_slots(g->generator, g->width, error));
    g->slots = g->generator->slots;
    g->forecast.ends = ferry_arena_take(arena, width, sizeof *g->forecast.ends, &failed);
    g->sources = ferry_arena_take(arena, width, sizeof *g->sources, &failed);
    g->outputs = ferry_arena_take(arena, width, sizeof *g->outputs, &failed);
    g->cross_spans = ferry_arena_take(arena, width, sizeof *g->cross_spans, &failed);
    g->weights = ferry_arena_take(arena, width, sizeof *g->weights, &failed);
    g->spans = ferry_arena_take(arena, capacity, sizeof *g->spans, &failed);
    g->ids = ferry_arena_take(arena, capacity, sizeof *g->ids, &failed);
    g->next_ids = ferry_arena_take(arena, capacity, sizeof *g->next_ids, &failed);
    g->parents = ferry_arena_take(arena, capacity, sizeof *g->parents, &failed);
    g->hidden = ferry_arena_take(arena, capacity, D * sizeof *g->hidden, &failed);
    g->hypotheses = ferry_arena_take(arena, capacity, sizeof *g->hypotheses, &failed);
    if (failed) return ferry_fail_memory(error, "hypotheses", capacity * D * sizeof *g->hidden);
    memset(g->hypotheses, 0, capacity * sizeof *g->hypotheses);
    g->capacity = (int32_t)capacity;
    for (size_t r = 0; r < capacity; r++)
        FERRY_TRY(ferry_sequence_begin(arena, source->max_length, &g->hypotheses[r], error));
    return FERRY_OK;
}

/* ---- sentences enter ---- */

static void fetch(generation *g)
{
    g->exhausted = !g->source->next(g->source->user, &g->waiting);
}

/* Of a sentence of `length` ids that has made so many steps. */
static ferry_forecast_end foresee(const generation *g, int32_t length, int32_t steps)
{
    const double ratio = (double)(g->ended_steps + USUAL_TOKENS) / (double)(g->ended_length + USUAL_TOKENS);
    const double expected = ratio * length + EXTRA_TOKENS, left = expected - steps;
    const bool attends = !g->state->model->ssru;
    const int32_t partial = attends ? (g->source->beam - 1) * FERRY_BLOCK_POSITIONS : 0;
    const size_t source = ferry_round_up((size_t)length, FERRY_BLOCK_POSITIONS);
    return (ferry_forecast_end){.steps = left > 1 ? (int32_t)left : 1,
                                .held = (int64_t)source + partial + (int64_t)(g->forecast.growth * steps)};
}

/* Forecasts what the living sentences will hold. */
static void forecast_living(generation *g)
{
    g->forecast.count = 0;
    g->forecast.growth = g->state->model->ssru ? 0 : 1 + BEAM_GROWTH * (g->source->beam - 1);
    for (int32_t i = 0; i < g->living_count; i++)
        ferry_forecast_add(&g->forecast, foresee(g, g->slots[i].length, g->slots[i].steps));
}

/* Whether the waiting sentence fits beside those of the forecast. */
static bool fits(const generation *g)
{
    return ferry_forecast_with(&g->forecast, foresee(g, g->waiting.length, 0)) <= g->most_positions;
}

/* Whether the waiting sentence can enter. */
static bool has_room(const generation *g)
{
    if (g->exhausted || g->living_count == g->width) return false;
    return g->living_count == 0 || fits(g);
}

/* Whether enough sentences like the waiting one could enter. */
static bool is_worth_refilling(generation *g)
{
    const int32_t vacant = g->width - g->living_count;
    if (g->living_count == 0) return true;
    if (g->exhausted || vacant == 0 || vacant < g->width / REFILL_PART) return false;
    forecast_living(g);
    for (int32_t count = 0; count < vacant && count * g->waiting.length < REFILL_TOKENS; count++) {
        if (!fits(g)) return false;
        ferry_forecast_add(&g->forecast, foresee(g, g->waiting.length, 0));
    }
    return true;
}

/* Gives the waiting sentence a place and one row, the start token; then the next one waits. */
static ferry_status enter(generation *g, ferry_error *error)
{
    const ferry_generate_sentence sentence = g->waiting;
    const int32_t index = g->living_count++;
    ferry_generate_slot *slot = &g->slots[index];
    slot->tag = sentence.tag;
    slot->length = sentence.length;
    slot->steps = 0;
    g->sources[index] = (ferry_sequence){0};
    g->ids[g->rows++] = sentence.rules.start_id;
    ferry_forecast_add(&g->forecast, foresee(g, sentence.length, 0));
    fetch(g);
    FERRY_TRY(ferry_output_begin(g->state, &slot->arena, &sentence.rules, g->source->shortlist, sentence.ids,
                                 sentence.length, &g->outputs[index], error));
    return ferry_sequence_begin(&slot->arena, sentence.length, &g->sources[index], error);
}

/* Encodes the last `count` sentences that entered, and keeps what cross-attention needs of them. */
static ferry_status encode(generation *g, const int32_t *ids, const int32_t *offsets, int32_t count, ferry_error *error)
{
    ferry_state *state = g->state;
    const size_t floats = (size_t)offsets[count] * (size_t)state->model->d_model;
    float *encoded = ferry_arena_alloc(&state->context.arena, floats, sizeof *encoded);
    if (encoded == NULL) return ferry_fail_memory(error, "the encoder's output", floats * sizeof *encoded);
    const ferry_phase around = ferry_profile_enter(&state->profile, FERRY_PHASE_ENCODER);
    FERRY_TRY(ferry_encode(state, ids, offsets, count, encoded, error));
    ferry_profile_enter(&state->profile, FERRY_PHASE_SOURCE_KEYS);
    FERRY_TRY(ferry_decoder_begin(state, encoded, offsets, count, g->sources + g->living_count - count, error));
    ferry_profile_leave(&state->profile, around);
    return FERRY_OK;
}

/* Lets in the sentences that are encoded together. */
static ferry_status enter_together(generation *g, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    const int32_t most = g->waiting.length > ENCODER_TOKENS ? g->waiting.length : ENCODER_TOKENS;
    int32_t count = 0;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, (size_t)most, sizeof *ids, &failed);
    int32_t *offsets = ferry_arena_take(arena, (size_t)(g->width - g->living_count) + 1, sizeof *offsets, &failed);
    if (failed) return ferry_fail_memory(error, "source ids", (size_t)most * sizeof *ids);
    offsets[0] = 0;
    for (; has_room(g) && g->waiting.length <= most - offsets[count]; count++) {
        memcpy(ids + offsets[count], g->waiting.ids, (size_t)g->waiting.length * sizeof *ids);
        offsets[count + 1] = offsets[count] + g->waiting.length;
        FERRY_TRY(enter(g, error));
    }
    return encode(g, ids, offsets, count, error);
}

/* Lets in as many sentences as there are places and positions for. */
static ferry_status refill(generation *g, ferry_error *error)
{
    if (!is_worth_refilling(g)) return FERRY_OK;
    forecast_living(g);
    while (has_room(g)) {
        const ferry_arena_mark mark = ferry_arena_begin(&g->state->context.arena);
        FERRY_TRY(enter_together(g, error));
        ferry_arena_end(&g->state->context.arena, mark);
    }
    if (g->width == 1) ferry_state_spare(g->state, SPARED_BYTES);
    return FERRY_OK;
}

/* ---- a step ---- */

/* One decoder pass over all living rows. */
static ferry_status decode(generation *g, ferry_error *error)
{
    int32_t row = 0;
    for (int32_t i = 0; i < g->living_count; i++) {
        const int32_t rows = g->outputs[i].rows;
        g->cross_spans[i] = (ferry_attention_span){.row = row, .rows = rows, .sequence = i};
        row += rows;
    }
    for (int32_t r = 0; r < g->rows; r++)
        g->spans[r] = (ferry_attention_span){.row = r, .rows = 1, .first = g->hypotheses[r].length, .sequence = r};
    const ferry_decoder_rows input = {
        .ids = g->ids,
        .rows = g->rows,
        .self = {.sequences = g->hypotheses, .spans = g->spans, .span_count = g->rows},
        .cross = {.sequences = g->sources, .spans = g->cross_spans, .span_count = g->living_count},
    };
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_DECODER_REST);
    const ferry_status status = ferry_decode(g->state, &input, g->hidden, error);
    ferry_profile_leave(&g->state->profile, around);
    return status;
}

/* Chooses what follows each row. The rows that go on take their parents' places. */
static ferry_status choose(generation *g, ferry_error *error)
{
    ferry_output_columns columns = {
        .state = g->state,
        .screen = g->source->screen,
        .sentences = g->outputs,
        .count = g->living_count,
        .hidden = g->hidden,
        .ids = g->next_ids,
        .parents = g->parents,
    };
    FERRY_TRY(ferry_output_step(&columns, error));
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_SEARCH);
    FERRY_TRY(ferry_sequence_reorder(ferry_state_hypothesis_cache(g->state), &g->state->context.arena, g->hypotheses,
                                     g->rows, g->parents, columns.rows, error));
    ferry_profile_leave(&g->state->profile, around);
    g->next_ids = g->ids;
    g->ids = columns.ids;
    g->rows = columns.rows;
    return FERRY_OK;
}

/* Releases what living sentence i holds. */
static void release(generation *g, int32_t i)
{
    const ferry_arena_mark empty = {0};
    ferry_sequence_release(&g->state->decoder_cache, &g->sources[i]);
    ferry_arena_end(&g->slots[i].arena, empty);
}

/* Takes memory for the weights of living sentence i, whose hypotheses are appended to targets [*count]. */
static ferry_status add_targets(generation *g, int32_t i, ferry_forced *targets, int32_t *count, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    const ferry_search *search = g->outputs[i].search;
    const int32_t hypotheses = ferry_search_count(search);
    const size_t S = (size_t)g->sources[i].length;
    bool failed = false;
    for (int32_t h = 0; !failed && h < hypotheses; h++) {
        const ferry_hypothesis found = ferry_search_hypothesis(search, h);
        float *weights = ferry_arena_take(arena, (size_t)found.length, S * sizeof *weights, &failed);
        g->weights[i][h] = weights;
        targets[(*count)++] =
            (ferry_forced){.ids = found.ids, .length = found.length, .sentence = i, .weights = weights};
    }
    return failed ? ferry_fail_memory(error, "weights of tokens", S * sizeof(float)) : FERRY_OK;
}

/* Whether the caller wants the weights of sentence i, which has ended. */
static bool wants_weights(const generation *g, int32_t i)
{
    const ferry_generate_source *source = g->source;
    return source->wants_weights != NULL && source->wants_weights(source->user, g->outputs[i].search);
}

/* Whether living sentence i has ended, and weights are needed. */
static bool needs_weights(const generation *g, int32_t i)
{
    const ferry_search *search = g->outputs[i].search;
    if (g->outputs[i].rows > 0 || ferry_search_is_damaged(search)) return false;
    return ferry_search_lacks_coverage(search) || wants_weights(g, i);
}

/* Completes the scores of sentence i, if its weights are needed for them. */
static void cover(generation *g, int32_t i)
{
    ferry_search *search = g->outputs[i].search;
    if (g->weights[i] == NULL || !ferry_search_lacks_coverage(search)) return;
    ferry_search_cover(search, g->weights[i], g->sources[i].length);
    if (!wants_weights(g, i)) g->weights[i] = NULL;
}

/* Computes the weights of all sentences that have finished and need them, in one forced decoding. */
static ferry_status align(generation *g, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    size_t most = 0;
    int32_t count = 0;
    bool failed = false;
    for (int32_t i = 0; i < g->living_count; i++) {
        g->weights[i] = NULL;
        if (!needs_weights(g, i)) continue;
        const size_t hypotheses = (size_t)ferry_search_count(g->outputs[i].search);
        g->weights[i] = ferry_arena_take(arena, hypotheses, sizeof *g->weights[i], &failed);
        most += hypotheses;
    }
    if (most == 0) return FERRY_OK;
    ferry_forced *targets = ferry_arena_take(arena, most, sizeof *targets, &failed);
    if (failed) return ferry_fail_memory(error, "hypotheses", most * sizeof *targets);
    for (int32_t i = 0; i < g->living_count; i++)
        if (g->weights[i] != NULL) FERRY_TRY(add_targets(g, i, targets, &count, error));
    FERRY_TRY(ferry_force(g->state, g->source->force, g->sources, targets, count, error));
    for (int32_t i = 0; i < g->living_count; i++) cover(g, i);
    return FERRY_OK;
}

/* Passes on what became of living sentence i. */
static ferry_status deliver(const generation *g, int32_t i, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const ferry_generate_finished finished = {.search = g->outputs[i].search, .weights = g->weights[i]};
    ferry_error why;
    if (!ferry_search_is_damaged(finished.search))
        return source->finished(source->user, g->slots[i].tag, &finished, error);
    ferry_fail(&why, FERRY_ERROR_FORMAT, FERRY_DAMAGED_LOGIT);
    return source->failed(source->user, g->slots[i].tag, &why, error);
}

/* Finished sentences leave. */
static ferry_status leave(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const ferry_arena_mark mark = ferry_arena_begin(&g->state->context.arena);
    int32_t kept = 0;
    FERRY_TRY(align(g, error));
    ferry_status status = FERRY_OK;
    for (int32_t i = 0; i < g->living_count; i++) {
        ferry_generate_slot slot = g->slots[i];
        slot.steps++;
        if (g->outputs[i].rows > 0) {
            if (status == FERRY_OK && source->stepped != NULL)
                status = source->stepped(source->user, slot.tag, g->outputs[i].search, error);
            g->slots[i] = g->slots[kept]; /* a vacant one, or itself */
            g->slots[kept] = slot;
            g->sources[kept] = g->sources[i];
            g->outputs[kept++] = g->outputs[i];
            continue;
        }
        if (status == FERRY_OK) status = deliver(g, i, error);
        release(g, i);
        g->ended_length += slot.length;
        g->ended_steps += slot.steps;
    }
    g->living_count = kept;
    ferry_arena_end(&g->state->context.arena, mark);
    return status;
}

/* ---- the call ---- */

/* Releases what the living sentences and their hypotheses hold; after an error, these may be in any state. */
static void clear(generation *g)
{
    for (int32_t i = 0; i < g->living_count; i++) release(g, i);
    for (int32_t r = 0; r < g->capacity; r++)
        ferry_sequence_release(ferry_state_hypothesis_cache(g->state), &g->hypotheses[r]);
    ferry_arena_end(&g->state->context.arena, g->mark);
    g->living_count = g->rows = g->capacity = 0;
}

/* The account has refused memory: the living sentences fail, or if there are none the waiting one, and fewer will be
 * in progress together. */
static ferry_status give_up(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    ferry_status status = FERRY_OK;
    ferry_error why;
    ferry_generate_fail_refused(&g->state->account, &why);
    for (int32_t i = 0; status == FERRY_OK && i < g->living_count; i++)
        status = source->failed(source->user, g->slots[i].tag, &why, error);
    if (g->living_count == 0 && g->width == 1) {
        status = source->failed(source->user, g->waiting.tag, &why, error);
        fetch(g);
    }
    clear(g);
    ferry_generator_release(g->generator);
    g->mark = ferry_arena_begin(&g->state->context.arena);
    ferry_profile_enter(&g->state->profile, FERRY_PHASE_OTHER);
    g->width = g->width > 1 ? g->width / 2 : 1;
    g->most_positions /= 2;
    return status;
}

/* Lets sentences in, and takes those that live one token further. */
static ferry_status advance(generation *g, ferry_error *error)
{
    if (g->capacity == 0) FERRY_TRY(allocate(g, error));
    FERRY_TRY(refill(g, error));
    FERRY_TRY(decode(g, error));
    FERRY_TRY(choose(g, error));
    return leave(g, error);
}

/* Releases what holds more than the usual batch needs: a long sentence's memory. */
static void trim(const generation *g)
{
    ferry_state *state = g->state;
    for (int32_t i = 0; i < g->generator->slot_count; i++)
        if (g->generator->slots[i].arena.reserved > KEPT_BYTES) ferry_arena_destroy(&g->generator->slots[i].arena);
    ferry_state_trim(state, KEPT_BYTES, (size_t)KEPT_TOKENS * (1 + (size_t)g->source->beam));
}

ferry_status ferry_generate(ferry_generator *generator, const ferry_generate_source *source, ferry_error *error)
{
    generation g = {
        .generator = generator,
        .state = &generator->state,
        .source = source,
        .mark = ferry_arena_begin(&generator->state.context.arena),
        .width = source->width,
        .most_positions = source->positions,
    };
    ferry_status status = FERRY_OK;
    g.state->decoder_cache.frugal = source->width == 1;
    fetch(&g);
    while (status == FERRY_OK && (g.living_count > 0 || !g.exhausted)) {
        g.state->account.needed = 0;
        status = advance(&g, error);
        if (status == FERRY_ERROR_MEMORY && g.state->account.needed > 0) status = give_up(&g, error);
    }
    clear(&g);
    trim(&g);
    return status;
}
