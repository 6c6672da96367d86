#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph/pass.h"
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
    int32_t priority;
    void *tag;
};

/* One call. Arrays of living sentences are in the order in which they entered; so are their rows. None enters that has
 * a lower priority than the last one: those with the highest are at the end. They are active, the others rest. */
typedef struct generation {
    ferry_generator *generator;
    ferry_state *state;
    const ferry_generate_source *source;
    ferry_arena_mark mark;           /* where the arrays below begin in the arena */
    int32_t width, most_positions;   /* of the source, or less where memory does not suffice */
    ferry_generate_sentence waiting; /* to enter, */
    bool waits;                      /* if there is one */
    ferry_generate_slot *slots;      /* [places] the first living_count hold living sentences */
    int32_t places;                  /* width, or twice that if sentences are ranked */
    int32_t living_count;
    int64_t ended_length, ended_steps; /* sums over the sentences that have ended */
    ferry_forecast forecast;           /* of the living sentences, while others enter */
    ferry_sequence *hypotheses;        /* [capacity] their past (ferry_state_hypothesis_cache), by row */
    int32_t capacity;                  /* places × beam */
    int32_t rows;
    int32_t *ids, *next_ids, *parents;         /* [capacity] */
    ferry_attention_span *spans, *cross_spans; /* [capacity], [places] */
    ferry_sequence *sources;                   /* [places] keys and values of cross-attention, of the living */
    ferry_output_sentence *outputs;            /* [places] of the living */
    float *hidden;                             /* [capacity, D] */
    const float ***weights;                    /* [places] of the living, in a step's end; NULL: not wanted */
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

static ferry_status reserve_slots(ferry_generator *generator, int32_t places, ferry_error *error)
{
    if (places <= generator->slot_count) return FERRY_OK;
    ferry_generate_slot *slots = realloc(generator->slots, (size_t)places * sizeof *slots);
    if (slots == NULL) return ferry_fail_memory(error, "sentences", (size_t)places * sizeof *slots);
    for (int32_t i = generator->slot_count; i < places; i++)
        slots[i] = (ferry_generate_slot){.arena.account = &generator->state.account};
    generator->slots = slots;
    generator->slot_count = places;
    return FERRY_OK;
}

/* Memory for all places. */
static ferry_status allocate(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const size_t D = (size_t)g->state->model->d_model;
    ferry_arena *arena = &g->state->context.arena;
    g->places = source->ranked ? 2 * g->width : g->width;
    const size_t places = (size_t)g->places, capacity = places * (size_t)source->beam;
    bool failed = false;
    FERRY_TRY(reserve_slots(g->generator, g->places, error));
    g->slots = g->generator->slots;
    g->forecast.ends = ferry_arena_take(arena, places, sizeof *g->forecast.ends, &failed);
    g->sources = ferry_arena_take(arena, places, sizeof *g->sources, &failed);
    g->outputs = ferry_arena_take(arena, places, sizeof *g->outputs, &failed);
    g->cross_spans = ferry_arena_take(arena, places, sizeof *g->cross_spans, &failed);
    g->weights = ferry_arena_take(arena, places, sizeof *g->weights, &failed);
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

/* Whether a sentence waits. */
static bool fetch(generation *g)
{
    if (!g->waits) g->waits = g->source->next(g->source->user, &g->waiting);
    return g->waits;
}

static void give_back(generation *g)
{
    if (g->waits) g->source->give_back(g->source->user, g->waiting.tag);
    g->waits = false;
}

/* The first active sentence. */
static int32_t first_active(const generation *g)
{
    int32_t i = g->living_count;
    while (i > 0 && g->slots[i - 1].priority == g->slots[g->living_count - 1].priority) i--;
    return i;
}

/* Whether all living sentences will rest while the waiting one is translated. */
static bool takes_over(const generation *g)
{
    return g->living_count == 0 || g->waiting.priority > g->slots[g->living_count - 1].priority;
}

/* Places for more active sentences, if the waiting one is to be one of them. */
static int32_t vacant_places(const generation *g)
{
    const int32_t left = g->places - g->living_count;
    if (takes_over(g)) return left;
    if (g->waiting.priority < g->slots[g->living_count - 1].priority) return 0;
    const int32_t vacant = g->width - (g->living_count - first_active(g));
    return vacant < left ? vacant : left;
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

/* Forecasts what the sentences will hold that are active beside the waiting one. */
static void forecast_active(generation *g)
{
    g->forecast.count = 0;
    g->forecast.growth = g->state->model->ssru ? 0 : 1 + BEAM_GROWTH * (g->source->beam - 1);
    for (int32_t i = takes_over(g) ? g->living_count : first_active(g); i < g->living_count; i++)
        ferry_forecast_add(&g->forecast, foresee(g, g->slots[i].length, g->slots[i].steps));
}

/* Whether the waiting sentence fits beside those of the forecast. */
static bool fits(const generation *g)
{
    return ferry_forecast_with(&g->forecast, foresee(g, g->waiting.length, 0)) <= g->most_positions;
}

/* Whether there is another sentence, and it can enter. */
static bool has_room(generation *g)
{
    if (g->living_count == g->places || !fetch(g) || vacant_places(g) == 0) return false;
    return takes_over(g) || fits(g);
}

/* Whether there is another sentence, and enough like it could enter. One that takes over waits for no others. */
static bool is_worth_refilling(generation *g)
{
    if (g->living_count == g->places || !fetch(g)) return false;
    const int32_t vacant = vacant_places(g);
    if (vacant == 0 || takes_over(g)) return vacant > 0;
    if (vacant < g->width / REFILL_PART) return false;
    forecast_active(g);
    for (int32_t count = 0; count < vacant && count * g->waiting.length < REFILL_TOKENS; count++) {
        if (!fits(g)) return false;
        ferry_forecast_add(&g->forecast, foresee(g, g->waiting.length, 0));
    }
    return true;
}

/* Gives the waiting sentence a place and one row, the start token. */
static ferry_status enter(generation *g, ferry_error *error)
{
    const ferry_generate_sentence *sentence = &g->waiting;
    const int32_t index = g->living_count++;
    ferry_generate_slot *slot = &g->slots[index];
    slot->tag = sentence->tag;
    slot->length = sentence->length;
    slot->priority = sentence->priority;
    slot->steps = 0;
    g->waits = false;
    g->sources[index] = (ferry_sequence){0};
    g->ids[g->rows++] = sentence->rules.start_id;
    ferry_forecast_add(&g->forecast, foresee(g, sentence->length, 0));
    FERRY_TRY(ferry_output_begin(g->state, &slot->arena, &sentence->rules, g->source->shortlist, sentence->ids,
                                 sentence->length, &g->outputs[index], error));
    return ferry_sequence_begin(&slot->arena, sentence->length, &g->sources[index], error);
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
    int32_t *offsets = ferry_arena_take(arena, (size_t)(g->places - g->living_count) + 1, sizeof *offsets, &failed);
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
    const bool worth = is_worth_refilling(g);
    if (worth) forecast_active(g);
    while (worth && has_room(g)) {
        const ferry_arena_mark mark = ferry_arena_begin(&g->state->context.arena);
        FERRY_TRY(enter_together(g, error));
        ferry_arena_end(&g->state->context.arena, mark);
    }
    give_back(g);
    if (worth && g->width == 1) ferry_state_spare(g->state, SPARED_BYTES);
    return FERRY_OK;
}

/* ---- a step ---- */

/* The first row of the active sentences. */
static int32_t first_active_row(const generation *g)
{
    int32_t row = 0;
    for (int32_t i = first_active(g) - 1; i >= 0; i--) row += g->outputs[i].rows;
    return row;
}

/* One decoder pass over all active rows. */
static ferry_status decode(generation *g, ferry_error *error)
{
    const int32_t first = first_active(g), count = g->living_count - first, first_row = first_active_row(g);
    int32_t rows = 0;
    for (int32_t i = 0; i < count; i++) {
        g->cross_spans[i] = (ferry_attention_span){.row = rows, .rows = g->outputs[first + i].rows, .sequence = i};
        rows += g->outputs[first + i].rows;
    }
    for (int32_t r = 0; r < rows; r++)
        g->spans[r] =
            (ferry_attention_span){.row = r, .rows = 1, .first = g->hypotheses[first_row + r].length, .sequence = r};
    const ferry_decoder_rows input = {
        .ids = g->ids + first_row,
        .rows = rows,
        .self = {.sequences = g->hypotheses + first_row, .spans = g->spans, .span_count = rows},
        .cross = {.sequences = g->sources + first, .spans = g->cross_spans, .span_count = count},
    };
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_DECODER_REST);
    const ferry_status status = ferry_decode(g->state, &input, g->hidden, error);
    ferry_profile_leave(&g->state->profile, around);
    return status;
}

/* Chooses what follows each active row. The rows that go on take their parents' places. */
static ferry_status choose(generation *g, ferry_error *error)
{
    const int32_t first = first_active(g), first_row = first_active_row(g);
    ferry_output_columns columns = {
        .state = g->state,
        .screen = g->source->screen,
        .sentences = g->outputs + first,
        .count = g->living_count - first,
        .hidden = g->hidden,
        .ids = g->next_ids,
        .parents = g->parents,
    };
    FERRY_TRY(ferry_output_step(&columns, error));
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_SEARCH);
    FERRY_TRY(ferry_sequence_reorder(ferry_state_hypothesis_cache(g->state), &g->state->context.arena,
                                     g->hypotheses + first_row, g->rows - first_row, g->parents, columns.rows, error));
    ferry_profile_leave(&g->state->profile, around);
    if (columns.rows > 0) memcpy(g->ids + first_row, columns.ids, (size_t)columns.rows * sizeof *g->ids);
    g->rows = first_row + columns.rows;
    return FERRY_OK;
}

/* ---- sentences leave ---- */

/* Releases what living sentence i holds. */
static void release(generation *g, int32_t i)
{
    const ferry_arena_mark empty = {0};
    ferry_sequence_release(&g->state->decoder_cache, &g->sources[i]);
    ferry_arena_end(&g->slots[i].arena, empty);
}

/* Living sentence i moves to place *kept, which is vacant or its own. */
static void keep(generation *g, int32_t i, int32_t *kept)
{
    const ferry_generate_slot slot = g->slots[i];
    g->slots[i] = g->slots[*kept];
    g->slots[*kept] = slot;
    g->sources[*kept] = g->sources[i];
    g->outputs[(*kept)++] = g->outputs[i];
}

/* Row r moves to place *kept, in the same way. */
static void keep_row(generation *g, int32_t r, int32_t *kept)
{
    const ferry_sequence hypothesis = g->hypotheses[r];
    g->hypotheses[r] = g->hypotheses[*kept];
    g->hypotheses[*kept] = hypothesis;
    g->ids[(*kept)++] = g->ids[r];
}

/* Sentences leave that the source does not want any more. */
static void drop_unwanted(generation *g)
{
    const ferry_generate_source *source = g->source;
    int32_t kept = 0, kept_rows = 0, row = 0;
    ferry_error why;
    ferry_fail(&why, FERRY_ERROR_CANCELLED, "cancelled");
    for (int32_t i = 0; i < g->living_count; i++) {
        const int32_t end = row + g->outputs[i].rows;
        if (!source->unwanted(source->user, g->slots[i].tag)) {
            while (row < end) keep_row(g, row++, &kept_rows);
            keep(g, i, &kept);
            continue;
        }
        while (row < end) ferry_sequence_release(ferry_state_hypothesis_cache(g->state), &g->hypotheses[row++]);
        source->failed(source->user, g->slots[i].tag, &why);
        release(g, i);
    }
    g->living_count = kept;
    g->rows = kept_rows;
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
    return source->wants_weights != NULL && source->wants_weights(source->user, g->slots[i].tag, g->outputs[i].search);
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
static void deliver(const generation *g, int32_t i)
{
    const ferry_generate_source *source = g->source;
    const ferry_generate_finished finished = {.search = g->outputs[i].search, .weights = g->weights[i]};
    ferry_error why;
    if (!ferry_search_is_damaged(finished.search)) {
        source->finished(source->user, g->slots[i].tag, &finished);
        return;
    }
    ferry_fail(&why, FERRY_ERROR_FORMAT, FERRY_DAMAGED_LOGIT);
    source->failed(source->user, g->slots[i].tag, &why);
}

/* Finished sentences leave. */
static ferry_status leave(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const ferry_arena_mark mark = ferry_arena_begin(&g->state->context.arena);
    int32_t kept = first_active(g);
    FERRY_TRY(align(g, error));
    for (int32_t i = kept; i < g->living_count; i++) {
        ferry_generate_slot *slot = &g->slots[i];
        slot->steps++;
        if (g->outputs[i].rows > 0) {
            if (source->stepped != NULL) source->stepped(source->user, slot->tag, g->outputs[i].search);
            keep(g, i, &kept);
            continue;
        }
        deliver(g, i);
        release(g, i);
        g->ended_length += slot->length;
        g->ended_steps += slot->steps;
    }
    g->living_count = kept;
    ferry_arena_end(&g->state->context.arena, mark);
    return FERRY_OK;
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

/* After an error the living sentences fail, or if there are none, the waiting one. If the account has refused memory,
 * fewer will be in progress together. */
static void give_up(generation *g, ferry_error *why)
{
    const ferry_generate_source *source = g->source;
    const bool refused = why->status == FERRY_ERROR_MEMORY && g->state->account.needed > 0;
    if (refused) ferry_generate_fail_refused(&g->state->account, why);
    if (g->living_count == 0 && !(refused && g->width > 1)) {
        g->waits = false;
        source->failed(source->user, g->waiting.tag, why);
    }
    give_back(g);
    for (int32_t i = 0; i < g->living_count; i++) source->failed(source->user, g->slots[i].tag, why);
    clear(g);
    if (why->status != FERRY_ERROR_CANCELLED) ferry_generator_release(g->generator);
    g->mark = ferry_arena_begin(&g->state->context.arena);
    ferry_profile_enter(&g->state->profile, FERRY_PHASE_OTHER);
    if (refused) {
        g->width = g->width > 1 ? g->width / 2 : 1;
        g->most_positions /= 2;
    }
}

/* Lets sentences in, and takes those that are active one token further. */
static ferry_status advance(generation *g, ferry_error *error)
{
    if (g->capacity == 0) FERRY_TRY(allocate(g, error));
    drop_unwanted(g);
    FERRY_TRY(refill(g, error));
    if (g->living_count == 0) return FERRY_OK;
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

void ferry_generate(ferry_generator *generator, const ferry_generate_source *source)
{
    generation g = {
        .generator = generator,
        .state = &generator->state,
        .source = source,
        .mark = ferry_arena_begin(&generator->state.context.arena),
        .width = source->width,
        .most_positions = source->positions,
    };
    ferry_error error;
    g.state->decoder_cache.frugal = source->width == 1;
    while (g.living_count > 0 || fetch(&g)) {
        g.state->account.needed = 0;
        if (advance(&g, &error) != FERRY_OK) give_up(&g, &error);
    }
    clear(&g);
    trim(&g);
}
