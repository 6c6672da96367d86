#include "search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "../base/bytes.h"
#include "search_state.h"

/* After a failure nothing more is asked for. */
static void *take(ferry_arena *arena, size_t count, size_t size, bool *failed)
{
    void *block = *failed ? NULL : ferry_arena_alloc(arena, count, size);
    *failed = block == NULL;
    return block;
}

/* ids: k · row_size. */
static bool allocate(ferry_arena *arena, ferry_search *search, size_t ids)
{
    const size_t beam = (size_t)search->rules.decoding.beam;
    const size_t limit = (size_t)search->candidate_limit;
    bool failed = false;
    search->rows = take(arena, ids, sizeof *search->rows, &failed);
    search->next_rows = take(arena, ids, sizeof *search->next_rows, &failed);
    int32_t *finished_ids = take(arena, ids, sizeof *finished_ids, &failed);
    search->sums = take(arena, beam, sizeof *search->sums, &failed);
    search->next_sums = take(arena, beam, sizeof *search->next_sums, &failed);
    search->finished = take(arena, beam, sizeof *search->finished, &failed);
    search->candidates = take(arena, limit, sizeof *search->candidates, &failed);
    search->top_values = take(arena, limit, sizeof *search->top_values, &failed);
    search->top_columns = take(arena, limit, sizeof *search->top_columns, &failed);
    search->before_penalty = take(arena, search->row_size, sizeof *search->before_penalty, &failed);
    if (failed) return false;
    for (size_t i = 0; i < beam; i++) {
        search->finished[i] = (ferry_finished){.ids = finished_ids + i * search->row_size};
    }
    return true;
}

ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error)
{
    const int32_t beam = rules->decoding.beam;
    assert(beam >= 1 && rules->nbest >= 1 && rules->nbest <= beam && rules->max_length >= 1);
    *search = NULL;

    /* At most k · eos_count candidates end before max_length: among K there are k that go on. */
    const int64_t factor = rules->eos_count > 1 ? 1 + (int64_t)rules->eos_count : 2;
    const size_t row_size = 1 + (size_t)rules->max_length;
    size_t ids;
    if (beam > INT32_MAX / factor || !ferry_mul_size((size_t)beam, row_size, &ids)) {
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "beam: %d hypotheses are too many", beam);
    }
    ferry_search *made = ferry_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a search", sizeof *made);
    *made = (ferry_search){
        .rules = *rules,
        .live = 1,
        .row_size = row_size,
        .candidate_limit = beam * (int32_t)factor,
    };
    if (!allocate(arena, made, ids)) {
        return ferry_fail_memory(error, "the hypotheses of a search", 3 * ids * sizeof *made->rows);
    }
    made->rows[0] = rules->start_id;
    made->sums[0] = 0;
    *search = made;
    return FERRY_OK;
}

int32_t ferry_search_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents)
{
    assert(search->live > 0);
    if (search->rules.decoding.beam == 1) return ferry_greedy_step(search, kernels, logits, ids, parents);
    return ferry_beam_step(search, kernels, logits, ids, parents);
}

int32_t ferry_search_count(const ferry_search *search)
{
    return search->finished_count < search->rules.nbest ? search->finished_count : search->rules.nbest;
}

ferry_hypothesis ferry_search_hypothesis(const ferry_search *search, int32_t index)
{
    assert(index >= 0 && index < search->finished_count);
    const ferry_finished *finished = &search->finished[index];
    return (ferry_hypothesis){finished->ids, finished->length, finished->score};
}

bool ferry_search_is_eos(const ferry_search *search, int32_t id)
{
    for (int32_t i = 0; i < search->rules.eos_count; i++) {
        if (search->rules.eos_ids[i] == id) return true;
    }
    return false;
}

int32_t ferry_search_forced_id(const ferry_search *search)
{
    const ferry_decoding *decoding = &search->rules.decoding;
    const bool last = search->generated == search->rules.max_length - 1;
    if (last && decoding->forced_last_id >= 0) return decoding->forced_last_id;
    return search->generated == 0 ? decoding->forced_first_id : -1;
}

float ferry_search_score(const ferry_search *search, float sum, int32_t n)
{
    return n > 0 ? sum / (float)pow(n, search->rules.decoding.length_penalty) : 0;
}

void ferry_search_penalize(ferry_search *search, const ferry_logits *logits, float *values, int32_t row)
{
    ferry_logits_penalize(logits, values, search->rules.decoding.repetition_penalty, ferry_search_row(search, row),
                          1 + search->generated, search->before_penalty);
}

void ferry_search_mask(const ferry_search *search, const ferry_logits *logits, float *values, int32_t row)
{
    ferry_logits_mask(logits, values, &search->rules.decoding, search->rules.eos_ids, search->rules.eos_count,
                      ferry_search_row(search, row), 1 + search->generated);
}

void ferry_search_finish(ferry_search *search, int32_t row, int32_t id, float sum)
{
    const int32_t beam = search->rules.decoding.beam;
    const int32_t length = search->generated + (id >= 0 ? 1 : 0);
    const float score = ferry_search_score(search, sum, length);
    ferry_finished *finished = search->finished;
    if (search->finished_count == beam && !(score > finished[beam - 1].score)) return;

    int32_t at = search->finished_count < beam ? search->finished_count++ : beam - 1;
    ferry_finished entry = {score, length, finished[at].ids};
    memcpy(entry.ids, ferry_search_row(search, row) + 1, (size_t)search->generated * sizeof *entry.ids);
    if (id >= 0) entry.ids[length - 1] = id;
    for (; at > 0 && score > finished[at - 1].score; at--) finished[at] = finished[at - 1];
    finished[at] = entry;
}
