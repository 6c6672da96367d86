#include "generate.h"

#include <stdlib.h>
#include <string.h>

#include "engine/graph/pass.h"
#include "forecast.h"
#include "teacher_forcing.h"
#include "logits.h"
#include "output_layer.h"

/* Source tokens in one pass of the encoder (at least one sentence). This bounds its activations, so that they stay
 * in the cache, and still one read of the weights serves many rows. */
enum { ENCODER_TOKENS = 128 };
/* Sentences enter when width / REFILL_PART slots are free and there is room for sentences of REFILL_TOKENS source
 * tokens. They are encoded together, which reads the weights once. */
enum { REFILL_PART = 8, REFILL_TOKENS = 64 };
/* After a call, an arena, cache or table of rows above KEPT_BYTES is released; a cache of keys and values, only if
 * it also exceeds KEPT_TOKENS positions for the source and for each hypothesis. A batch of default size needs less. */
enum { KEPT_BYTES = 32 << 20, KEPT_TOKENS = 768 };
/* After a refusal of memory, width and positions are lowered by 1 / PART. They are raised by as much when CALM times as
 * many sentences have ended as lived at once. So less than 1 / CALM of the work is lost if that is refused. */
enum { PART = 4, CALM = 16 };
/* Bytes that the encoder of a single sentence may keep for the next one while the decoder works. */
enum { SPARED_BYTES = 1 << 18 };

struct ferry_generate_slot {
    ferry_generate_sentence sentence;
    ferry_arena arena; /* of the sentence's search, list of blocks and shortlist */
    int32_t steps;     /* since it entered */
};

/* One call. Arrays of living sentences, and their rows, are in the order of entry. A sentence does not enter if its
 * priority is lower than that of the last one, so the highest priority is at the end. Sentences of that priority are
 * active, the others are paused. */
typedef struct generation {
    ferry_generator *generator;
    ferry_state *state;
    const ferry_generate_source *source;
    ferry_arena_mark mark;           /* where the arrays below begin in the arena */
    int32_t width, max_positions;    /* the source's, or the generator's bounds */
    ferry_generate_sentence waiting; /* the next sentence to enter, if `waits` */
    bool waits;
    ferry_generate_slot *slots; /* [slot_count] the first living_count hold living sentences */
    int32_t slot_count;         /* width, or twice that if sentences are ranked */
    int32_t living_count;
    ferry_forecast forecast;       /* of the active sentences, while others enter */
    ferry_kv_sequence *hypotheses; /* [capacity] keys and values of each row (ferry_state_hypothesis_cache) */
    int32_t capacity;              /* slot_count × beam */
    int32_t rows;
    int32_t *ids, *next_ids, *parents;         /* [capacity] */
    ferry_attention_span *spans, *cross_spans; /* [capacity], [slot_count] */
    ferry_kv_sequence *sources;                /* [slot_count] keys and values of cross-attention */
    ferry_output_sentence *outputs;            /* [slot_count] of each living sentence */
    const ferry_stop **stops;                  /* [slot_count] of each living sentence */
    ferry_arena_mark step;                     /* where the memory of a step begins in the arena */
    float *hidden;                             /* [capacity, D] */
    const float ***weights;                    /* [slot_count] of sentences that ended in this step; NULL: not wanted */
} generation;

/* ---- memory ---- */

void ferry_generator_init(ferry_generator *generator, const ferry_transformer *model, const ferry_kernels *kernels)
{
    memset(generator, 0, sizeof *generator);
    generator->width = generator->positions = INT32_MAX;
    ferry_state_init(&generator->state, model, kernels);
}

void ferry_generator_destroy(ferry_generator *generator)
{
    for (int32_t i = 0; i < generator->slot_count; i++) ferry_arena_destroy(&generator->slots[i].arena);
    free(generator->slots);
    generator->slots = NULL;
    generator->slot_count = 0;
    ferry_state_destroy(&generator->state);
}

size_t ferry_generator_allocations(const ferry_generator *generator)
{
    const ferry_state *state = &generator->state;
    size_t allocations = state->context.arena.allocations + state->encoder_cache.allocations +
                         state->decoder_cache.allocations + state->ssru_cache.allocations;
    for (int32_t i = 0; i < generator->slot_count; i++) allocations += generator->slots[i].arena.allocations;
    return allocations;
}

/* Allocates memory for all slots. */
static ferry_status allocate(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    ferry_generator *generator = g->generator;
    ferry_arena *arena = &g->state->context.arena;
    g->slot_count = source->ranked ? 2 * g->width : g->width;
    const size_t D = (size_t)g->state->model->d_model, slots = (size_t)g->slot_count;
    const size_t capacity = slots * (size_t)source->beam;
    bool failed = false;
    if (g->slot_count > generator->slot_count) {
        ferry_generate_slot *grown = realloc(generator->slots, slots * sizeof *grown);
        if (grown == NULL) return ferry_fail_memory(error, "sentences", slots, sizeof *grown);
        for (size_t i = (size_t)generator->slot_count; i < slots; i++)
            grown[i] = (ferry_generate_slot){.arena = {.account = arena->account, .exact = arena->exact}};
        generator->slots = grown;
        generator->slot_count = g->slot_count;
    }
    g->slots = generator->slots;
    g->forecast.ends = ferry_arena_take(arena, slots, sizeof *g->forecast.ends, &failed);
    g->sources = ferry_arena_take(arena, slots, sizeof *g->sources, &failed);
    g->outputs = ferry_arena_take(arena, slots, sizeof *g->outputs, &failed);
    g->stops = ferry_arena_take(arena, slots, sizeof *g->stops, &failed);
    g->cross_spans = ferry_arena_take(arena, slots, sizeof *g->cross_spans, &failed);
    g->weights = ferry_arena_take(arena, slots, sizeof *g->weights, &failed);
    g->spans = ferry_arena_take(arena, capacity, sizeof *g->spans, &failed);
    g->ids = ferry_arena_take(arena, capacity, sizeof *g->ids, &failed);
    g->next_ids = ferry_arena_take(arena, capacity, sizeof *g->next_ids, &failed);
    g->parents = ferry_arena_take(arena, capacity, sizeof *g->parents, &failed);
    g->hidden = ferry_arena_take(arena, capacity, D * sizeof *g->hidden, &failed);
    g->hypotheses = ferry_arena_take(arena, capacity, sizeof *g->hypotheses, &failed);
    if (failed) return ferry_arena_fail(arena, "hypotheses", capacity * D, sizeof *g->hidden, error);
    memset(g->hypotheses, 0, capacity * sizeof *g->hypotheses);
    g->capacity = (int32_t)capacity;
    for (size_t r = 0; r < capacity; r++)
        FERRY_TRY(ferry_kv_begin(arena, source->max_length, &g->hypotheses[r], error));
    g->step = ferry_arena_begin(arena);
    return FERRY_OK;
}

/* Products are for living sentences first, first + 1 …: they end when all of these are stopped. */
static void compute_for(generation *g, int32_t first)
{
    g->state->context.stops = g->stops + first;
    g->state->context.stop_count = g->living_count - first;
}

/* ---- how many sentences fit ---- */

/* Takes the next sentence from the source unless one waits already. Returns whether one waits. */
static bool fetch(generation *g)
{
    const int32_t priority = g->living_count > 0 ? g->slots[g->living_count - 1].sentence.priority : INT32_MIN;
    if (!g->waits) g->waits = g->source->next(g->source->user, priority, &g->waiting);
    return g->waits;
}

static void give_back(generation *g)
{
    if (g->waits) g->source->give_back(g->source->user, g->waiting.tag);
    g->waits = false;
}

/* The index of the first active sentence. *row: its first row. */
static int32_t first_active(const generation *g, int32_t *row)
{
    int32_t i = g->living_count;
    while (i > 0 && g->slots[i - 1].sentence.priority == g->slots[g->living_count - 1].sentence.priority) i--;
    for (int32_t paused = *row = 0; paused < i; paused++) *row += g->outputs[paused].rows;
    return i;
}

/* Whether the width may grow when the living sentences have ended; until then no other one enters beside them. */
static bool may_grow(const generation *g)
{
    return (g->width < g->source->width || g->max_positions < g->source->positions) &&
           g->generator->ended / CALM > g->generator->most;
}

/* Whether the waiting sentence pauses all living ones, or none lives. */
static bool takes_over(const generation *g)
{
    return g->living_count == 0 || g->waiting.priority > g->slots[g->living_count - 1].sentence.priority;
}

/* The number of active sentences that can enter; 0 if no sentence waits, or its priority is too low. Paused ones give
 * their slots. */
static int32_t vacant_slots(generation *g)
{
    const int32_t left = g->slot_count - g->living_count;
    int32_t row;
    if ((left == 0 && !g->source->ranked) || !fetch(g)) return 0;
    if (takes_over(g)) return g->slot_count;
    if (g->waiting.priority < g->slots[g->living_count - 1].sentence.priority || may_grow(g)) return 0;
    const int32_t paused = first_active(g, &row), vacant = g->width - (g->living_count - paused);
    return vacant < left + paused ? vacant : left + paused;
}

static void add_expected(generation *g, int32_t length, int32_t steps)
{
    ferry_forecast_add(&g->forecast, ferry_forecast_expect(&g->forecast, length, steps));
}

/* Forecasts the sentences that will be active beside the waiting one. */
static void forecast_active(generation *g)
{
    int32_t row;
    g->forecast.count = 0;
    for (int32_t i = takes_over(g) ? g->living_count : first_active(g, &row); i < g->living_count; i++)
        add_expected(g, g->slots[i].sentence.length, g->slots[i].steps);
}

/* Whether the forecast peak with the waiting sentence is at most max_positions. */
static bool fits(const generation *g)
{
    const ferry_forecast_end end = ferry_forecast_expect(&g->forecast, g->waiting.length, 0);
    return ferry_forecast_with(&g->forecast, end) <= g->max_positions;
}

/* ---- sentences are removed ---- */

/* Releases the memory of living sentence i. */
static void release(generation *g, int32_t i)
{
    const ferry_arena_mark empty = {0};
    ferry_kv_release(&g->state->decoder_cache, &g->sources[i]);
    ferry_arena_end(&g->slots[i].arena, empty);
}

/* Moves living sentence i to slot *kept, which is vacant or its own. */
static void keep(generation *g, int32_t i, int32_t *kept)
{
    const ferry_generate_slot slot = g->slots[i];
    g->slots[i] = g->slots[*kept];
    g->slots[*kept] = slot;
    g->sources[*kept] = g->sources[i];
    g->stops[*kept] = g->stops[i];
    g->outputs[(*kept)++] = g->outputs[i];
}

/* Removes the sentences that were stopped. `displaced` ≥ 0: this one alone, which is given back. */
static void drop(generation *g, int32_t displaced)
{
    const ferry_generate_source *source = g->source;
    ferry_cache *cache = ferry_state_hypothesis_cache(g->state);
    int32_t kept = 0, kept_rows = 0, row = 0;
    ferry_error why;
    ferry_fail(&why, FERRY_ERROR_CANCELLED, "cancelled");
    for (int32_t i = 0; i < g->living_count; i++) {
        const int32_t end = row + g->outputs[i].rows;
        if (displaced >= 0 ? i == displaced : ferry_stopped(g->stops[i])) {
            while (row < end) ferry_kv_release(cache, &g->hypotheses[row++]);
            if (displaced >= 0)
                source->give_back(source->user, g->slots[i].sentence.tag);
            else
                source->failed(source->user, g->slots[i].sentence.tag, &why);
            release(g, i);
            continue;
        }
        for (; row < end; row++, kept_rows++) {
            const ferry_kv_sequence hypothesis = g->hypotheses[row];
            g->hypotheses[row] = g->hypotheses[kept_rows];
            g->hypotheses[kept_rows] = hypothesis;
            g->ids[kept_rows] = g->ids[row];
        }
        keep(g, i, &kept);
    }
    /* Of a step that was abandoned, rows may be left. */
    while (row < g->rows) ferry_kv_release(cache, &g->hypotheses[row++]);
    g->living_count = kept;
    g->rows = kept_rows;
}

/* ---- sentences enter ---- */

/* Whether a sentence waits and can enter. */
static bool has_room(generation *g)
{
    return vacant_slots(g) != 0 && (takes_over(g) || fits(g));
}

/* Whether a sentence waits, and enough of its length could enter (REFILL_PART, REFILL_TOKENS). One that takes over
 * need not wait for others. */
static bool is_worth_refilling(generation *g)
{
    const int32_t vacant = vacant_slots(g);
    if (vacant == 0 || takes_over(g)) return vacant > 0;
    if (vacant < g->width / REFILL_PART) return false;
    forecast_active(g);
    for (int32_t count = 0; count < vacant && count * g->waiting.length < REFILL_TOKENS; count++) {
        if (!fits(g)) return false;
        add_expected(g, g->waiting.length, 0);
    }
    return true;
}

/* Gives the waiting sentence a slot and one row, the start token. If all slots are taken, the first one is that of a
 * paused sentence of the lowest priority. */
static ferry_status enter(generation *g, ferry_error *error)
{
    if (g->living_count == g->slot_count) drop(g, 0);
    const ferry_generate_sentence *sentence = &g->waiting;
    const int32_t index = g->living_count++;
    ferry_generate_slot *slot = &g->slots[index];
    slot->sentence = *sentence;
    slot->steps = 0;
    g->waits = false;
    if (g->generator->most < g->living_count) g->generator->most = g->living_count;
    g->sources[index] = (ferry_kv_sequence){0};
    g->stops[index] = sentence->stop;
    g->ids[g->rows++] = sentence->rules.start_id;
    add_expected(g, sentence->length, 0);
    FERRY_TRY(ferry_output_begin(g->state, &slot->arena, &sentence->rules, g->source->shortlist, sentence->ids,
                                 sentence->length, &g->outputs[index], error));
    return ferry_kv_begin(&slot->arena, sentence->length, &g->sources[index], error);
}

/* Lets sentences of at most ENCODER_TOKENS tokens in, or a single longer one, and encodes them together. Stores
 * their keys and values for cross-attention. */
static ferry_status enter_together(generation *g, ferry_error *error)
{
    ferry_state *state = g->state;
    ferry_arena *arena = &state->context.arena;
    const int32_t max = g->waiting.length > ENCODER_TOKENS ? g->waiting.length : ENCODER_TOKENS;
    int32_t count = 0;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, (size_t)max, sizeof *ids, &failed);
    int32_t *offsets = ferry_arena_take(arena, (size_t)g->slot_count + 1, sizeof *offsets, &failed);
    if (failed) return ferry_arena_fail(arena, "source ids", (size_t)max, sizeof *ids, error);
    offsets[0] = 0;
    for (; has_room(g) && g->waiting.length <= max - offsets[count]; count++) {
        memcpy(ids + offsets[count], g->waiting.ids, (size_t)g->waiting.length * sizeof *ids);
        offsets[count + 1] = offsets[count] + g->waiting.length;
        FERRY_TRY(enter(g, error));
    }
    compute_for(g, g->living_count - count);
    return ferry_decoder_begin_sources(state, ids, offsets, count, g->sources + g->living_count - count, error);
}

/* Lets sentences in until slots, positions or waiting sentences run out. */
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
    if (!worth || g->width > 1) return FERRY_OK;
    ferry_arena_forget(&g->state->context.arena, SPARED_BYTES);
    ferry_cache_shrink(&g->state->encoder_cache, SPARED_BYTES, 0);
    return FERRY_OK;
}

/* ---- a step ---- */

/* One decoder pass over all active rows. */
static ferry_status decode(generation *g, ferry_error *error)
{
    int32_t first_row, rows = 0;
    const int32_t first = first_active(g, &first_row), count = g->living_count - first;
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
    compute_for(g, first);
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_DECODER_REST);
    const ferry_status status = ferry_decode(g->state, &input, g->hidden, error);
    ferry_profile_leave(&g->state->profile, around);
    return status;
}

/* Chooses the next token of each active row. The rows that continue replace their parents. */
static ferry_status choose(generation *g, ferry_error *error)
{
    int32_t first_row;
    const int32_t first = first_active(g, &first_row);
    ferry_output_layer layer = {
        .state = g->state,
        .bound = g->source->bound,
        .sentences = g->outputs + first,
        .count = g->living_count - first,
        .hidden = g->hidden,
        .ids = g->next_ids,
        .parents = g->parents,
    };
    FERRY_TRY(ferry_output_step(&layer, error));
    const ferry_phase around = ferry_profile_enter(&g->state->profile, FERRY_PHASE_SEARCH);
    FERRY_TRY(ferry_kv_reorder(ferry_state_hypothesis_cache(g->state), &g->state->context.arena,
                               g->hypotheses + first_row, g->rows - first_row, g->parents, layer.rows, error));
    ferry_profile_leave(&g->state->profile, around);
    if (layer.rows > 0) memcpy(g->ids + first_row, layer.ids, (size_t)layer.rows * sizeof *g->ids);
    g->rows = first_row + layer.rows;
    return FERRY_OK;
}

/* ---- sentences leave ---- */

/* Whether the caller wants the cross-attention weights of sentence i, which has ended. */
static bool wants_weights(const generation *g, int32_t i)
{
    const ferry_generate_source *source = g->source;
    return source->wants_weights != NULL &&
           source->wants_weights(source->user, g->slots[i].sentence.tag, g->outputs[i].search);
}

/* Computes the cross-attention weights of ended sentences in one forced decoding: those that the caller wants, and
 * those that scores need for the coverage penalty, which is then added. */
static ferry_status align(generation *g, ferry_error *error)
{
    ferry_arena *arena = &g->state->context.arena;
    size_t max = 0;
    int32_t count = 0;
    bool failed = false;
    for (int32_t i = 0; i < g->living_count; i++) {
        const ferry_search *search = g->outputs[i].search;
        g->weights[i] = NULL;
        if (g->outputs[i].rows > 0 || ferry_search_is_damaged(search)) continue;
        if (!ferry_search_lacks_coverage(search) && !wants_weights(g, i)) continue;
        g->weights[i] = ferry_arena_take(arena, (size_t)ferry_search_count(search), sizeof *g->weights[i], &failed);
        max += (size_t)ferry_search_count(search);
    }
    if (max == 0) return FERRY_OK;
    ferry_teacher_target *targets = ferry_arena_take(arena, max, sizeof *targets, &failed);
    for (int32_t i = 0; i < g->living_count && !failed; i++)
        for (int32_t h = 0; g->weights[i] != NULL && h < ferry_search_count(g->outputs[i].search); h++) {
            const ferry_hypothesis found = ferry_search_hypothesis(g->outputs[i].search, h);
            const size_t floats = (size_t)found.length * (size_t)g->sources[i].length;
            float *weights = ferry_arena_take(arena, floats, sizeof *weights, &failed);
            if (failed) return ferry_arena_fail(arena, "weights of tokens", floats, sizeof *weights, error);
            g->weights[i][h] = weights;
            targets[count++] =
                (ferry_teacher_target){.ids = found.ids, .length = found.length, .sentence = i, .weights = weights};
        }
    if (failed) return ferry_arena_fail(arena, "hypotheses", max, sizeof *targets, error);
    FERRY_TRY(ferry_teacher_force(g->state, g->source->force, g->sources, targets, count, error));
    for (int32_t i = 0; i < g->living_count; i++) {
        if (g->weights[i] == NULL || !ferry_search_lacks_coverage(g->outputs[i].search)) continue;
        ferry_search_cover(g->outputs[i].search, g->weights[i], g->sources[i].length);
        if (!wants_weights(g, i)) g->weights[i] = NULL;
    }
    return FERRY_OK;
}

/* Scores what the caller may choose from after sentence i, which has ended. */
static ferry_status score_choices(generation *g, int32_t i, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const ferry_generate_finished finished = {.search = g->outputs[i].search, .weights = g->weights[i]};
    const ferry_teacher_target *targets = NULL;
    int32_t count = 0;
    FERRY_TRY(source->choices(source->user, g->slots[i].sentence.tag, &finished, &targets, &count, error));
    /* One by one: their number takes no memory. A damaged logit is an error of the search that follows. */
    for (int32_t t = 0; t < count; t++) {
        const ferry_status status = ferry_teacher_force(g->state, source->force, g->sources + i, targets + t, 1, error);
        if (status != FERRY_OK && status != FERRY_ERROR_FORMAT) return status;
    }
    return FERRY_OK;
}

/* Removes the sentences that have ended, and hands them to the source. */
static ferry_status leave(generation *g, ferry_error *error)
{
    const ferry_generate_source *source = g->source;
    const ferry_arena_mark mark = ferry_arena_begin(&g->state->context.arena);
    int32_t first_row, kept = first_active(g, &first_row);
    FERRY_TRY(align(g, error));
    for (int32_t i = 0; i < g->living_count && source->choices != NULL; i++)
        if (g->weights[i] != NULL) FERRY_TRY(score_choices(g, i, error));
    for (int32_t i = kept; i < g->living_count; i++) {
        ferry_generate_slot *slot = &g->slots[i];
        const ferry_generate_finished finished = {.search = g->outputs[i].search, .weights = g->weights[i]};
        slot->steps++;
        if (g->outputs[i].rows > 0) {
            if (source->stepped != NULL) source->stepped(source->user, slot->sentence.tag, finished.search);
            keep(g, i, &kept);
            continue;
        }
        if (ferry_search_is_damaged(finished.search)) {
            ferry_error why;
            ferry_fail(&why, FERRY_ERROR_FORMAT, FERRY_DAMAGED_LOGIT);
            source->failed(source->user, slot->sentence.tag, &why);
        } else {
            source->finished(source->user, slot->sentence.tag, &finished);
        }
        release(g, i);
        g->generator->ended += g->generator->ended < INT32_MAX;
        g->forecast.ended_length += slot->sentence.length;
        g->forecast.ended_steps += slot->steps;
    }
    g->living_count = kept;
    ferry_arena_end(&g->state->context.arena, mark);
    return FERRY_OK;
}

/* ---- the call ---- */

/* Releases the memory of living sentences and hypotheses, which an error may have left in any state. */
static void clear(generation *g)
{
    for (int32_t i = 0; i < g->living_count; i++) release(g, i);
    for (int32_t r = 0; r < g->capacity; r++)
        ferry_kv_release(ferry_state_hypothesis_cache(g->state), &g->hypotheses[r]);
    ferry_arena_end(&g->state->context.arena, g->mark);
    g->living_count = g->rows = g->capacity = 0;
}

/* The width and the positions of the source, as far as memory has sufficed for them. */
static void set_width(generation *g)
{
    const ferry_generator *generator = g->generator;
    const ferry_generate_source *source = g->source;
    g->width = source->width < generator->width ? source->width : generator->width;
    g->max_positions = source->positions < generator->positions ? source->positions : generator->positions;
}

static int32_t part_of(int32_t width)
{
    return (width + PART - 1) / PART;
}

/* Raises width and positions; no sentence lives. */
static void grow(generation *g)
{
    ferry_generator *generator = g->generator;
    clear(g);
    if (g->width < g->source->width) generator->width = g->width + part_of(g->width);
    if (g->max_positions < g->source->positions) generator->positions = g->max_positions + part_of(g->max_positions);
    generator->ended = generator->most = 0;
    set_width(g);
}

/* The index of the living sentence that has more than half of the positions of all; -1: none has. */
static int32_t largest(const generation *g)
{
    int64_t sum = 0, most = 0;
    int32_t index = -1;
    for (int32_t i = 0; i < g->living_count; i++) {
        const int64_t positions = (int64_t)g->slots[i].sentence.length + g->slots[i].steps;
        if (positions > most) index = i;
        most = positions > most ? positions : most;
        sum += positions;
    }
    return 2 * most > sum ? index : -1;
}

/* After a refusal of memory: lowers width and positions, unless the sentence `large` is the reason. One that was alone
 * is the reason, unless the arrays of all slots hold a quarter of the memory. */
static void narrow(generation *g, int32_t large)
{
    ferry_generator *generator = g->generator;
    const size_t held = g->state->context.arena.reserved + g->state->decoder_cache.reserved;
    generator->ended = generator->most = 0;
    if (g->width == 1 || (large >= 0 && (g->living_count > 1 || 4 * g->step.used < held))) return;
    generator->width = g->width - part_of(g->width);
    if (g->max_positions > 1) generator->positions = g->max_positions - part_of(g->max_positions);
    set_width(g);
}

/* After an error, all living sentences fail, or the waiting one if none lives.
 * If memory was refused, a sentence fails that has more than half of all positions. The others are given back. Without
 * such a sentence, the width is lowered.
 * This ends. The width grows only after sentences have ended. At width 1, the sentences that are given back were paused
 * by one of a higher priority. That one comes first again. */
static void give_up(generation *g, ferry_error *why)
{
    const ferry_generate_source *source = g->source;
    const bool refused = why->status == FERRY_ERROR_LIMIT;
    const int32_t large = largest(g);
    if (g->living_count == 0 && !(refused && g->width > 1)) {
        g->waits = false;
        source->failed(source->user, g->waiting.tag, why);
    }
    give_back(g);
    for (int32_t i = g->living_count; i-- > 0;)
        if (refused && i != large)
            source->give_back(source->user, g->slots[i].sentence.tag);
        else
            source->failed(source->user, g->slots[i].sentence.tag, why);
    if (refused) narrow(g, large);
    clear(g);
    ferry_generator_destroy(g->generator);
    g->mark = ferry_arena_begin(&g->state->context.arena);
    ferry_profile_enter(&g->state->profile, FERRY_PHASE_OTHER);
}

/* Leaves a step in which all sentences were stopped. */
static void abandon(generation *g)
{
    ferry_arena_end(&g->state->context.arena, g->step);
    give_back(g);
    drop(g, -1);
    ferry_profile_enter(&g->state->profile, FERRY_PHASE_OTHER);
}

/* Lets sentences in, and adds one token to each active one. */
static ferry_status advance(generation *g, ferry_error *error)
{
    if (g->living_count == 0 && may_grow(g)) grow(g);
    if (g->capacity == 0) FERRY_TRY(allocate(g, error));
    drop(g, -1);
    FERRY_TRY(refill(g, error));
    if (g->living_count == 0) return FERRY_OK;
    FERRY_TRY(decode(g, error));
    FERRY_TRY(choose(g, error));
    return leave(g, error);
}

void ferry_generate(ferry_generator *generator, const ferry_generate_source *source)
{
    ferry_state *state = &generator->state;
    generation g = {
        .generator = generator,
        .state = state,
        .source = source,
        .mark = ferry_arena_begin(&state->context.arena),
        .forecast = ferry_forecast_init(!state->model->ssru, source->beam),
    };
    ferry_error error;
    set_width(&g);
    state->decoder_cache.frugal = source->width == 1;
    while (g.living_count > 0 || fetch(&g)) switch (advance(&g, &error)) {
        case FERRY_OK: break;
        case FERRY_ERROR_CANCELLED: abandon(&g); break;
        default: give_up(&g, &error);
        }
    clear(&g);
    state->context.stop_count = 0;
    /* Releases memory above the limits, which long sentences needed. */
    for (int32_t i = 0; i < generator->slot_count; i++)
        if (generator->slots[i].arena.reserved > KEPT_BYTES) ferry_arena_destroy(&generator->slots[i].arena);
    ferry_state_trim(state, KEPT_BYTES, (size_t)KEPT_TOKENS * (1 + (size_t)source->beam));
}
