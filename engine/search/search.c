#include "search_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"

/* How many candidates this step considers. */
static int32_t candidate_limit(const ferry_search *search)
{
    return search->places * search->candidate_factor;
}

/* ---- the rules ---- */

int32_t ferry_decoding_limit(const ferry_options *options, int32_t source_ids)
{
    if (options->max_length > 0) return options->max_length;
    /* The product in float32, as in Marian: 1.2 × 5 is 6, not a little more. */
    const double limit = (double)ceilf(options->length_factor * (float)source_ids) + options->length_extra;
    if (!(limit > 1)) return 1;
    return limit < INT32_MAX ? (int32_t)limit : INT32_MAX;
}

/* Whether the next token is one of the prefix. */
static bool is_in_prefix(const ferry_search *search)
{
    return search->generated < search->forced && search->generated >= search->forced - search->rules.prefix_count;
}

int32_t ferry_search_forced_id(const ferry_search *search)
{
    const ferry_search_rules *rules = &search->rules;
    const ferry_options *options = &rules->options;
    const bool last = search->generated == options->max_length - 1;
    if (last && options->search->forced_last_id >= 0) return options->search->forced_last_id;
    if (search->generated == 0 && options->search->forced_first_id >= 0) return options->search->forced_first_id;
    return is_in_prefix(search) ? rules->prefix[search->generated - (search->forced - rules->prefix_count)] : -1;
}

/* Whether token `id` is one that ends a sentence. */
static bool is_eos(const ferry_search_rules *rules, int32_t id)
{
    for (int32_t i = 0; i < rules->eos_count; i++)
        if (rules->eos_ids[i] == id) return true;
    return false;
}

/* Whether token `id`, coming next, is the last one. */
static bool ends(const ferry_search *search, int32_t id)
{
    const ferry_search_rules *rules = &search->rules;
    if (search->generated + 1 == rules->options.max_length) return true;
    if (is_in_prefix(search)) return false;
    if (rules->options.search->policy == FERRY_POLICY_CTRANSLATE2 && ferry_search_forced_id(search) >= 0) return false;
    return is_eos(rules, id);
}

float ferry_decoding_score(const ferry_options *options, float sum, int32_t n)
{
    if (n <= 0) return 0; /* less where a forced end comes before a prefix */
    return (sum - options->search->word_penalty * (float)n) / (float)pow(n, options->length_penalty);
}

static float final_score(const ferry_search *search, float sum, int32_t n)
{
    const ferry_options *options = &search->rules.options;
    return ferry_decoding_score(options, sum, n - ferry_search_uncounted(options, search->rules.prefix_count));
}

int32_t ferry_search_uncounted(const ferry_options *options, int32_t prefix_count)
{
    if (prefix_count == 0 || options->search->policy != FERRY_POLICY_HUGGINGFACE) return 0;
    return prefix_count + (options->search->forced_first_id >= 0);
}

int32_t ferry_search_awaited(const ferry_options *options)
{
    if (options->search->policy != FERRY_POLICY_CTRANSLATE2) return options->beam;
    return (int32_t)roundf((float)options->beam * options->search->patience); /* in float32, as in CTranslate2 */
}

int32_t ferry_search_width(const ferry_options *options)
{
    return options->beam > 1 ? options->beam : options->nbest;
}

/* Whether the penalty applies to log-probabilities, which only a whole row gives: that of beam search, unless it is
 * CTranslate2's. */
static bool penalizes_probabilities(const ferry_options *options)
{
    return options->beam > 1 && options->repetition_penalty != 1 && options->search->policy != FERRY_POLICY_CTRANSLATE2;
}

bool ferry_search_takes_parts(const ferry_search *search)
{
    const ferry_options *options = &search->rules.options;
    return !penalizes_probabilities(options) && options->sample == 0 && options->alternatives == 0;
}

bool ferry_search_needs_largest_only(const ferry_options *options)
{
    const bool plain = options->sample == 0 && options->alternatives == 0;
    return plain && options->beam == 1 && options->scores == 0 && options->repetition_penalty == 1;
}

bool ferry_search_takes_screens(const ferry_search *search)
{
    return ferry_search_needs_largest_only(&search->rules.options);
}

/* ---- the beginning ---- */

static bool allocate_finished(ferry_arena *arena, ferry_search *search, size_t row_size)
{
    const size_t room = (size_t)search->room;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, room * row_size, sizeof *ids, &failed);
    float *scores = ferry_arena_take(arena, room * row_size, sizeof *scores, &failed);
    search->finished = ferry_arena_take(arena, room, sizeof *search->finished, &failed);
    for (size_t i = 0; !failed && i < room; i++)
        search->finished[i] = (ferry_finished){.ids = ids + i * row_size, .token_scores = scores + i * row_size};
    return !failed;
}

/* tokens: k · row_size. */
static bool allocate(ferry_arena *arena, ferry_search *search, size_t row_size, size_t tokens)
{
    const size_t width = (size_t)search->width;
    const size_t candidates = width * (size_t)search->candidate_factor;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, tokens, 2 * sizeof *ids, &failed);
    float *scores = ferry_arena_take(arena, tokens, 2 * sizeof *scores, &failed);
    search->rows = ferry_arena_take(arena, width, sizeof *search->rows, &failed);
    search->next_rows = ferry_arena_take(arena, width, sizeof *search->next_rows, &failed);
    search->candidates = ferry_arena_take(arena, candidates, sizeof *search->candidates, &failed);
    search->seen = ferry_arena_take(arena, width, sizeof *search->seen, &failed);
    float *top_values = ferry_arena_take(arena, width, candidates * sizeof *top_values, &failed);
    int32_t *top_columns = ferry_arena_take(arena, width, candidates * sizeof *top_columns, &failed);
    search->before_penalty = ferry_arena_take(arena, row_size, sizeof *search->before_penalty, &failed);
    if (failed) return false;
    for (size_t i = 0; i < width; i++) {
        const size_t row = i * row_size, next = row + tokens;
        search->rows[i] = (ferry_path){.ids = ids + row, .scores = scores + row};
        search->next_rows[i] = (ferry_path){.ids = ids + next, .scores = scores + next};
        search->seen[i].top.values = top_values + i * candidates;
        search->seen[i].top.indices = top_columns + i * candidates;
    }
    return allocate_finished(arena, search, row_size);
}

/* Hypotheses that are kept when they finish: with a coverage penalty all, of which the last step adds k at most. */
static int64_t finished_room(const ferry_options *options)
{
    const int64_t width = ferry_search_width(options);
    return options->search->coverage_penalty != 0 ? ferry_search_awaited(options) - 1 + width : width;
}

/* Candidates for each place, so that all places can be filled again. */
static int64_t candidate_factor(const ferry_search_rules *rules)
{
    if (rules->options.beam == 1 || rules->options.search->policy == FERRY_POLICY_MARIAN) return 1;
    /* At most k · eos_count candidates end before max_length: so among C there are k that go on. */
    return rules->eos_count > 1 ? 1 + (int64_t)rules->eos_count : 2;
}

/* Nothing has been seen of the logits that follow the living rows. */
static void forget(ferry_search *search)
{
    for (int32_t row = 0; row < search->width; row++) {
        ferry_seen *seen = &search->seen[row];
        seen->log_sum = FERRY_LOG_SUM_ZERO;
        seen->top.limit = candidate_limit(search);
        seen->top.count = 0;
        seen->best = (ferry_best){.value = -INFINITY, .id = -1};
    }
}

ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error)
{
    const int32_t width = ferry_search_width(&rules->options);
    const int32_t forced = rules->prefix_count + (rules->options.search->forced_first_id >= 0);
    assert(width >= 1 && rules->options.nbest >= 1 && rules->options.nbest <= width && rules->options.max_length >= 1);
    assert(rules->prefix_count == 0 || forced < rules->options.max_length);
    *search = NULL;

    const bool is_ctranslate2 = rules->options.search->policy == FERRY_POLICY_CTRANSLATE2;
    const int64_t factor = candidate_factor(rules), room = finished_room(&rules->options);
    const size_t row_size = 1 + (size_t)rules->options.max_length;
    size_t tokens, finished;
    if (width > INT32_MAX / factor || room > INT32_MAX || !ferry_mul_size((size_t)width, row_size, &tokens) ||
        !ferry_mul_size((size_t)room, row_size, &finished))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "beam: %d hypotheses are too many", width);
    ferry_search *made = ferry_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a search", sizeof *made);
    *made = (ferry_search){
        .rules = *rules,
        .renormalize = is_ctranslate2 || rules->options.search->renormalize != 0,
        .forced = forced,
        .live = 1,
        .width = width,
        .room = (int32_t)room,
        .places = width,
        .candidate_factor = (int32_t)factor,
    };
    if (!allocate(arena, made, row_size, tokens))
        return ferry_fail_memory(error, "the hypotheses of a search",
                                 2 * (2 * tokens + finished) * sizeof *made->rows->ids);
    forget(made);
    /* CTranslate2's rules about previous tokens ignore the start token. */
    made->rows[0].ids[0] = is_ctranslate2 ? -1 : rules->start_id;
    *search = made;
    return FERRY_OK;
}

/* ---- logits are seen ---- */

static void mask(const ferry_search *search, const ferry_logits *logits, float *values, int32_t row)
{
    const ferry_options *options = &search->rules.options;
    ferry_options endless;
    if (options->alternatives != 0 && ferry_search_branches(search) && options->min_length <= search->generated) {
        endless = *options; /* as in CTranslate2, an end is no alternative */
        endless.min_length = search->generated + 1;
        options = &endless;
    }
    ferry_logits_mask(logits, values, options, search->rules.eos_ids, search->rules.eos_count, search->rows[row].ids,
                      1 + search->generated);
}

bool ferry_log_sum_is_damaged(const ferry_log_sum *total)
{
    return isnan(total->sum) || isnan(total->largest) || total->largest == INFINITY;
}

static void log_softmax(ferry_search *search, const ferry_kernels *kernels, float *values, int32_t count)
{
    ferry_log_sum total = FERRY_LOG_SUM_ZERO;
    kernels->add_exp(&total, values, count);
    search->damaged = search->damaged || ferry_log_sum_is_damaged(&total);
    const float log_sum = ferry_log_of_sum(&total);
    for (int32_t c = 0; c < count; c++) values[c] -= log_sum;
}

static bool is_scored(const ferry_search *search)
{
    return search->rules.options.beam > 1 || search->rules.options.scores != 0;
}

/* Whether the next token is given, and its log-probability counts nevertheless. */
static bool counts_given(const ferry_search *search)
{
    return search->rules.options.search->policy == FERRY_POLICY_MARIAN && is_in_prefix(search) && is_scored(search);
}

/* The rules leave a token the log-probability value - normalizer:
 *   with penalty   log-softmax, penalty, masks
 *   renormalize    ... , and the log of what the masks leave
 *   else           the log-softmax before the masks: masked tokens keep their share. */
static void see_row(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part, int32_t row)
{
    const ferry_options *options = &search->rules.options;
    const bool greedy = options->beam == 1, scored = is_scored(search);
    ferry_seen *seen = &search->seen[row];
    float *values = part->values + (size_t)row * part->ld;
    if (penalizes_probabilities(options))
        log_softmax(search, kernels, values, part->count);
    else if (scored && !search->renormalize)
        kernels->add_exp(&seen->log_sum, values, part->count);
    if (options->repetition_penalty != 1)
        ferry_logits_penalize(part, values, options->repetition_penalty, search->rows[row].ids, 1 + search->generated,
                              search->before_penalty);
    mask(search, part, values, row);
    if (scored && search->renormalize) kernels->add_exp(&seen->log_sum, values, part->count);
    search->damaged = search->damaged || ferry_log_sum_is_damaged(&seen->log_sum);
    if (greedy)
        ferry_greedy_see(search, kernels, part, values, row);
    else
        kernels->add_top(&seen->top, values, part->count, part->first);
}

/* Of a row that a token of Marian's prefix follows, which counts as much as if it had been chosen. */
static void see_given(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part, int32_t row)
{
    ferry_seen *seen = &search->seen[row];
    const float *values = part->values + (size_t)row * part->ld;
    const int32_t id = ferry_search_forced_id(search), place = ferry_logits_place(part, id);
    kernels->add_exp(&seen->log_sum, values, part->count);
    search->damaged = search->damaged || ferry_log_sum_is_damaged(&seen->log_sum);
    if (place >= 0) seen->best = (ferry_best){values[place], id, values[place]};
}

void ferry_search_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    assert(search->live > 0);
    const bool given = counts_given(search);
    if ((ferry_search_forced_id(search) >= 0 && !given) || search->damaged) return;
    for (int32_t row = 0; row < search->live; row++)
        if (given)
            see_given(search, kernels, part, row);
        else
            see_row(search, kernels, part, row);
}

void ferry_search_mask(ferry_search *search, const ferry_logits *part)
{
    assert(search->live == 1 && ferry_search_takes_screens(search));
    mask(search, part, part->values, 0);
}

/* ---- a step ---- */

static float normalizer(const ferry_search *search, int32_t row)
{
    const ferry_options *options = &search->rules.options;
    if (penalizes_probabilities(options) && !search->renormalize) return 0;
    return ferry_log_of_sum(&search->seen[row].log_sum);
}

/* Keeps candidates [count] in descending order, at most C; false if `entry` is not among them. */
static bool insert(ferry_search *search, int32_t *count, ferry_candidate entry)
{
    ferry_candidate *candidates = search->candidates;
    const int32_t limit = candidate_limit(search);
    if (*count == limit && !(entry.sum > candidates[limit - 1].sum)) return false;
    int32_t at = *count < limit ? (*count)++ : limit - 1;
    for (; at > 0 && entry.sum > candidates[at - 1].sum; at--) candidates[at] = candidates[at - 1];
    candidates[at] = entry;
    return true;
}

float ferry_search_given_score(const ferry_search *search, int32_t row)
{
    const ferry_seen *seen = &search->seen[row];
    return counts_given(search) && seen->best.id >= 0 ? seen->best.value - ferry_log_of_sum(&seen->log_sum) : 0;
}

/* The best continuations of all rows of beam search: at most C, in descending order of their sums. Masked tokens are
 * not candidates. */
static int32_t collect(ferry_search *search, const int32_t *words)
{
    const int32_t forced = ferry_search_forced_id(search);
    int32_t count = 0;
    for (int32_t row = 0; row < search->live; row++) {
        const float sum = search->rows[row].sum;
        if (forced >= 0) {
            const float score = ferry_search_given_score(search, row);
            insert(search, &count, (ferry_candidate){.sum = sum + score, .score = score, .row = row, .id = forced});
            continue;
        }
        const ferry_top *top = &search->seen[row].top;
        const float log_sum = normalizer(search, row);
        for (int32_t i = 0; i < top->count && top->values[i] > -INFINITY; i++) {
            const float score = top->values[i] - log_sum;
            const int32_t id = words != NULL ? words[top->indices[i]] : top->indices[i];
            if (!insert(search, &count, (ferry_candidate){.sum = score + sum, .score = score, .row = row, .id = id}))
                break;
        }
    }
    return count;
}

/* Offers a candidate to the finished hypotheses; the best stay, if there is no room for all. (Greedy search has a place
 * for each lane.) */
static void finish(ferry_search *search, const ferry_candidate *candidate)
{
    const int32_t room = search->room;
    const bool sorted = search->rules.options.beam > 1;
    const int32_t length = search->generated + (candidate->id >= 0 ? 1 : 0);
    const float score = final_score(search, candidate->sum, length);
    const ferry_path *row = &search->rows[candidate->row];
    ferry_finished *finished = search->finished;
    search->ended++;
    if (search->finished_count == room && !(score > finished[room - 1].score)) return;

    int32_t at = search->finished_count < room ? search->finished_count++ : room - 1;
    if (!sorted) at = candidate->lane;
    ferry_finished entry = {score, 0, length, finished[at].ids, finished[at].token_scores};
    memcpy(entry.ids, row->ids + 1, (size_t)search->generated * sizeof *entry.ids);
    memcpy(entry.token_scores, row->scores, (size_t)search->generated * sizeof *entry.token_scores);
    if (candidate->id >= 0) {
        entry.ids[length - 1] = candidate->id;
        entry.token_scores[length - 1] = candidate->score;
    }
    for (; sorted && at > 0 && score > finished[at - 1].score; at--) finished[at] = finished[at - 1];
    finished[at] = entry;
}

/* `to` becomes the candidate's row, followed by its token. */
static void extend(const ferry_search *search, const ferry_candidate *candidate, ferry_path *to)
{
    const ferry_path *from = &search->rows[candidate->row];
    const size_t generated = (size_t)search->generated;
    memcpy(to->ids, from->ids, (1 + generated) * sizeof *to->ids);
    memcpy(to->scores, from->scores, generated * sizeof *to->scores);
    to->ids[1 + generated] = candidate->id;
    to->scores[generated] = candidate->score;
    to->sum = candidate->sum;
    to->lane = candidate->lane;
}

/* Whether CTranslate2 gives a place to a row that can never become a hypothesis, instead of candidate i: one that ends
 * directly after a prefix and is not the best. */
static bool is_lost(const ferry_search *search, int32_t i, int32_t id)
{
    const ferry_search_rules *rules = &search->rules;
    const bool after_prefix = rules->prefix_count > 0 && search->generated == search->forced;
    return after_prefix && i > 0 && rules->options.search->policy == FERRY_POLICY_CTRANSLATE2 && is_eos(rules, id);
}

/* Candidates that end become hypotheses if they are among the first k (a worse one is lost); the best k that do not end
 * become the living rows. k: the places. */
static void advance(ferry_search *search, int32_t count, int32_t *ids, int32_t *parents)
{
    const int32_t places = search->places;
    const bool given = search->rules.prefix_count > 0 && search->generated < search->forced;
    const bool beams = search->rules.options.beam > 1;
    int32_t live = 0, lost = 0;
    for (int32_t i = 0; i < count && (i < places || live + lost < places); i++) {
        const ferry_candidate *candidate = &search->candidates[i];
        if (beams && is_lost(search, i, candidate->id)) {
            lost++;
            continue;
        }
        if (candidate->id < 0 || ends(search, candidate->id)) {
            if (i < places) finish(search, candidate);
            if (i == 0) search->best_ended = true;
            continue;
        }
        extend(search, candidate, &search->next_rows[live]);
        ids[live] = candidate->id;
        parents[live] = candidate->row;
        live++;
    }
    ferry_path *rows = search->rows;
    search->rows = search->next_rows;
    search->next_rows = rows;
    search->live = live;
    search->generated++;
    if (search->rules.options.search->policy == FERRY_POLICY_MARIAN && !given) search->places = live;
}

/* Whether the hypotheses are final, given the best living row's sum. (Marian's are fewer than k while a row lives.) */
static bool is_settled(const ferry_search *search)
{
    const ferry_options *options = &search->rules.options;
    const bool ctranslate2 = options->search->policy == FERRY_POLICY_CTRANSLATE2;
    if (options->beam == 1) return false;
    if (ctranslate2 && options->length_penalty == 0 && options->search->coverage_penalty == 0)
        return search->best_ended && search->finished_count >= search->rules.options.nbest;
    if (search->ended < ferry_search_awaited(options)) return false;
    if (ctranslate2 || options->search->early_stopping == FERRY_EARLY_STOPPING_TRUE) return true;
    const bool longer_may_win =
        options->search->early_stopping == FERRY_EARLY_STOPPING_NEVER && options->length_penalty > 0;
    const int32_t length = longer_may_win ? search->rules.options.max_length : search->generated;
    return !(final_score(search, search->rows[0].sum, length) > search->finished[options->beam - 1].score);
}

int32_t ferry_search_step(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *logits, int32_t *ids,
                          int32_t *parents)
{
    ferry_search_see(search, kernels, logits);
    if (search->damaged) {
        search->live = 0;
        return 0;
    }
    const bool greedy = search->rules.options.beam == 1;
    const int32_t count = greedy ? ferry_greedy_collect(search, logits->ids) : collect(search, logits->ids);
    if (count > 0) {
        advance(search, count, ids, parents);
        if (search->live > 0 && is_settled(search)) search->live = 0;
    } else {
        const bool first = search->finished_count == 0;
        for (int32_t row = 0; first && row < search->live; row++)
            finish(search, &(ferry_candidate){.sum = search->rows[row].sum, .row = row, .id = -1});
        search->live = 0;
    }
    forget(search);
    return search->live;
}

/* ---- the result ---- */

ferry_hypothesis ferry_search_so_far(const ferry_search *search)
{
    assert(search->live > 0);
    const ferry_path *row = &search->rows[0];
    return (ferry_hypothesis){.ids = row->ids + 1, .length = search->generated, .token_scores = row->scores};
}

bool ferry_search_is_damaged(const ferry_search *search)
{
    return search->damaged;
}

bool ferry_search_lacks_coverage(const ferry_search *search)
{
    return search->rules.options.search->coverage_penalty != 0 && !search->covered;
}

/* Σ_s log(min(Σ_t weights[t, s], 1)) */
static float coverage(const float *weights, int32_t length, int32_t source_ids)
{
    const size_t S = (size_t)source_ids;
    float total = 0;
    for (size_t s = 0; s < S; s++) {
        float attended = 0;
        for (size_t t = 0; t < (size_t)length; t++) attended += weights[t * S + s];
        if (attended > 0 && attended < 1) total += logf(attended);
    }
    return total;
}

void ferry_search_cover(ferry_search *search, const float **weights, int32_t source_ids)
{
    ferry_finished *finished = search->finished;
    for (int32_t i = 0; i < search->finished_count; i++) {
        ferry_finished entry = finished[i];
        const float *its_weights = weights[i];
        entry.coverage =
            search->rules.options.search->coverage_penalty * coverage(its_weights, entry.length, source_ids);
        entry.score += entry.coverage;
        int32_t at = i;
        for (; at > 0 && entry.score > finished[at - 1].score; at--) {
            finished[at] = finished[at - 1];
            weights[at] = weights[at - 1];
        }
        finished[at] = entry;
        weights[at] = its_weights;
    }
    search->covered = true;
}

int32_t ferry_search_count(const ferry_search *search)
{
    const int32_t count = search->finished_count, nbest = search->rules.options.nbest;
    return count < nbest || ferry_search_lacks_coverage(search) ? count : nbest;
}

ferry_hypothesis ferry_search_hypothesis(const ferry_search *search, int32_t index)
{
    assert(index >= 0 && index < search->finished_count);
    const ferry_finished *finished = &search->finished[index];
    return (ferry_hypothesis){finished->ids, finished->length, finished->score, finished->token_scores,
                              finished->coverage};
}
