#include "search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "screen.h"
#include "search_state.h"

int32_t ferry_decoding_limit(const ferry_options *options, int32_t source_ids)
{
    if (options->max_length > 0) return options->max_length;
    /* The product in float32, as in Marian: 1.2 × 5 is 6, not a little more. */
    const double limit = (double)ceilf(options->length_factor * (float)source_ids) + options->length_extra;
    if (!(limit > 1)) return 1;
    return limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
}

/* tokens: k · row_size. */
static bool allocate(ferry_arena *arena, ferry_search *search, size_t row_size, size_t tokens)
{
    const size_t beam = (size_t)search->rules.options.beam;
    const size_t candidates = beam * (size_t)search->candidate_factor;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, tokens, 3 * sizeof *ids, &failed);
    float *scores = ferry_arena_take(arena, tokens, 3 * sizeof *scores, &failed);
    search->rows = ferry_arena_take(arena, beam, sizeof *search->rows, &failed);
    search->next_rows = ferry_arena_take(arena, beam, sizeof *search->next_rows, &failed);
    search->finished = ferry_arena_take(arena, beam, sizeof *search->finished, &failed);
    search->candidates = ferry_arena_take(arena, candidates, sizeof *search->candidates, &failed);
    search->seen = ferry_arena_take(arena, beam, sizeof *search->seen, &failed);
    float *top_values = ferry_arena_take(arena, beam, candidates * sizeof *top_values, &failed);
    int32_t *top_columns = ferry_arena_take(arena, beam, candidates * sizeof *top_columns, &failed);
    search->before_penalty = ferry_arena_take(arena, row_size, sizeof *search->before_penalty, &failed);
    if (failed) return false;
    for (size_t i = 0; i < beam; i++) {
        const size_t row = i * row_size, next = row + tokens, finished = next + tokens;
        search->rows[i] = (ferry_path){.ids = ids + row, .scores = scores + row};
        search->next_rows[i] = (ferry_path){.ids = ids + next, .scores = scores + next};
        search->finished[i] = (ferry_finished){.ids = ids + finished, .token_scores = scores + finished};
        search->seen[i].top.values = top_values + i * candidates;
        search->seen[i].top.indices = top_columns + i * candidates;
    }
    return true;
}

/* Candidates for each place, so that all places can be filled again; of greedy search, for a screen. */
static int64_t candidate_factor(const ferry_search_rules *rules)
{
    if (rules->options.beam == 1) return FERRY_SCREENED;
    if (rules->options.policy == FERRY_POLICY_MARIAN) return 1;
    /* At most k · eos_count candidates end before max_length: so among C there are k that go on. */
    return rules->eos_count > 1 ? 1 + (int64_t)rules->eos_count : 2;
}

/* Nothing has been seen of the logits that follow the living rows. */
static void forget(ferry_search *search)
{
    for (int32_t row = 0; row < search->live; row++) {
        ferry_seen *seen = &search->seen[row];
        seen->log_sum = FERRY_LOG_SUM_ZERO;
        seen->top.limit = ferry_search_candidates(search);
        seen->top.count = 0;
        seen->best = (ferry_best){.value = -INFINITY, .id = -1};
    }
}

ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error)
{
    const int32_t beam = rules->options.beam;
    assert(beam >= 1 && rules->options.nbest >= 1 && rules->options.nbest <= beam && rules->options.max_length >= 1);
    *search = NULL;

    const int64_t factor = candidate_factor(rules);
    const size_t row_size = 1 + (size_t)rules->options.max_length;
    size_t tokens;
    if (beam > INT32_MAX / factor || !ferry_mul_size((size_t)beam, row_size, &tokens)) {
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "beam: %d hypotheses are too many", beam);
    }
    ferry_search *made = ferry_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a search", sizeof *made);
    *made = (ferry_search){
        .rules = *rules,
        .live = 1,
        .places = beam,
        .candidate_factor = (int32_t)factor,
    };
    if (!allocate(arena, made, row_size, tokens)) {
        return ferry_fail_memory(error, "the hypotheses of a search", 6 * tokens * sizeof *made->rows->ids);
    }
    forget(made);
    made->rows[0].ids[0] = rules->start_id;
    if (rules->options.policy == FERRY_POLICY_CTRANSLATE2) {
        made->rules.options.renormalize = true;
        made->rows[0].ids[0] = -1; /* the rules about previous tokens ignore the start token */
    }
    *search = made;
    return FERRY_OK;
}

bool ferry_search_takes_parts(const ferry_search *search)
{
    const ferry_options *options = &search->rules.options;
    return options->beam == 1 || options->repetition_penalty == 1 || options->policy == FERRY_POLICY_CTRANSLATE2;
}

void ferry_search_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    assert(search->live > 0);
    if (ferry_search_forced_id(search) >= 0) return;
    if (search->rules.options.beam == 1)
        ferry_greedy_see(search, kernels, part);
    else
        ferry_beam_see(search, kernels, part);
}

bool ferry_search_needs_largest_only(const ferry_options *options)
{
    return options->beam == 1 && options->scores == 0 && options->repetition_penalty == 1;
}

bool ferry_search_takes_screens(const ferry_search *search)
{
    return ferry_search_needs_largest_only(&search->rules.options);
}

const ferry_top *ferry_search_screen(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    ferry_top *top = &search->seen[0].top;
    assert(search->live == 1 && ferry_search_takes_screens(search));
    if (ferry_search_forced_id(search) >= 0) return top;
    ferry_search_mask(search, part, part->values, 0);
    kernels->add_top(top, part->values, part->count, part->first);
    return top;
}

int32_t ferry_search_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents)
{
    ferry_search_see(search, kernels, logits);
    const int32_t live = search->rules.options.beam == 1 ? ferry_greedy_step(search, ids, parents)
                                                         : ferry_beam_step(search, logits->ids, ids, parents);
    forget(search);
    return live;
}

int32_t ferry_search_count(const ferry_search *search)
{
    return search->finished_count < search->rules.options.nbest ? search->finished_count : search->rules.options.nbest;
}

ferry_hypothesis ferry_search_hypothesis(const ferry_search *search, int32_t index)
{
    assert(index >= 0 && index < search->finished_count);
    const ferry_finished *finished = &search->finished[index];
    return (ferry_hypothesis){finished->ids, finished->length, finished->score, finished->token_scores};
}

int32_t ferry_search_forced_id(const ferry_search *search)
{
    const ferry_options *options = &search->rules.options;
    const bool last = search->generated == search->rules.options.max_length - 1;
    if (last && options->forced_last_id >= 0) return options->forced_last_id;
    return search->generated == 0 ? options->forced_first_id : -1;
}

bool ferry_search_ends(const ferry_search *search, int32_t id)
{
    const ferry_search_rules *rules = &search->rules;
    if (search->generated + 1 == rules->options.max_length) return true;
    if (rules->options.policy == FERRY_POLICY_CTRANSLATE2 && ferry_search_forced_id(search) >= 0) return false;
    for (int32_t i = 0; i < rules->eos_count; i++) {
        if (rules->eos_ids[i] == id) return true;
    }
    return false;
}

float ferry_search_score(const ferry_search *search, float sum, int32_t n)
{
    const ferry_options *options = &search->rules.options;
    if (n == 0) return 0;
    return (sum - options->word_penalty * (float)n) / (float)pow(n, options->length_penalty);
}

void ferry_search_penalize(ferry_search *search, const ferry_logits *logits, float *values, int32_t row)
{
    ferry_logits_penalize(logits, values, search->rules.options.repetition_penalty, search->rows[row].ids,
                          1 + search->generated, search->before_penalty);
}

void ferry_search_mask(const ferry_search *search, const ferry_logits *logits, float *values, int32_t row)
{
    ferry_logits_mask(logits, values, &search->rules.options, search->rules.eos_ids, search->rules.eos_count,
                      search->rows[row].ids, 1 + search->generated);
}

void ferry_search_finish(ferry_search *search, const ferry_candidate *candidate)
{
    const int32_t beam = search->rules.options.beam;
    const int32_t length = search->generated + (candidate->id >= 0 ? 1 : 0);
    const float score = ferry_search_score(search, candidate->sum, length);
    const ferry_path *row = &search->rows[candidate->row];
    ferry_finished *finished = search->finished;
    if (search->finished_count == beam && !(score > finished[beam - 1].score)) return;

    int32_t at = search->finished_count < beam ? search->finished_count++ : beam - 1;
    ferry_finished entry = {score, length, finished[at].ids, finished[at].token_scores};
    memcpy(entry.ids, row->ids + 1, (size_t)search->generated * sizeof *entry.ids);
    memcpy(entry.token_scores, row->scores, (size_t)search->generated * sizeof *entry.token_scores);
    if (candidate->id >= 0) {
        entry.ids[length - 1] = candidate->id;
        entry.token_scores[length - 1] = candidate->score;
    }
    for (; at > 0 && score > finished[at - 1].score; at--) finished[at] = finished[at - 1];
    finished[at] = entry;
}
