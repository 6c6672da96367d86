#include "search.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "decoding.h"
#include "engine/kernels/kernels.h"
#include "logits.h"

/* k is ferry_search_width; C is the number of candidates in a step. */

/* A living hypothesis. */
typedef struct path {
    int32_t *ids;  /* [1 + max_length] start token, generated tokens */
    float *scores; /* [max_length] the term of each generated token in the sum */
    float sum;
    int32_t lane; /* greedy search only */
} path;

typedef struct candidate {
    float sum;
    float score; /* its term for this token */
    int32_t parent;
    int32_t id;   /* -1: the hypothesis ends as it is */
    int32_t lane; /* greedy search only */
} candidate;

typedef struct finished_hypothesis {
    float score;
    float coverage; /* the coverage penalty, a term of the score */
    int32_t length;
    int32_t *ids;        /* [max_length] */
    float *token_scores; /* [max_length] */
} finished_hypothesis;

/* Greedy search: the largest logit so far, or the drawn one. */
typedef struct best_logit {
    float value; /* after the rules */
    int32_t id;  /* -1: everything is masked */
    float before_penalty;
} best_logit;

/* The state of one row of logits over its parts since the last step. */
typedef struct seen_logits {
    ferry_log_sum log_sum; /* for the normalizer of the scores, if they need one */
    ferry_top top;         /* beam search, alternatives: the best columns, after the rules */
    best_logit best;       /* greedy search */
} seen_logits;

struct ferry_search {
    ferry_search_rules rules;
    bool renormalize;  /* the option; true for CTranslate2 */
    int32_t forced;    /* the number of given tokens at the beginning */
    int32_t generated; /* the number of tokens of every living hypothesis */

    int32_t live;
    int32_t width;         /* k */
    path *hypotheses;      /* [k] */
    path *next_hypotheses; /* [k] */

    int32_t finished_count;
    int32_t ended;                 /* finished hypotheses, including those that were not kept */
    int32_t room;                  /* size of `finished`: k; with a coverage penalty, enough to keep all */
    finished_hypothesis *finished; /* [room] best first; greedy search: by lane */
    bool covered;                  /* scores contain the coverage penalty */

    int32_t beam_left;        /* candidates that may live on or finish: k; Marian: one fewer for every finished one */
    int32_t candidate_factor; /* C = beam_left × this */
    bool best_ended;          /* the best candidate of some step ended */
    bool damaged;             /* a logit was not finite */
    candidate *candidates;    /* [C] */
    seen_logits *seen;        /* [k] by hypothesis; while greedy search branches, `best` is by lane */
    float *before_penalty;    /* [1 + max_length] */
};

/* ---- the rules ---- */

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

/* Whether the repetition penalty applies to log-probabilities, which need a whole row: in beam search, except
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

static bool is_scored(const ferry_search *search)
{
    return search->rules.options.beam > 1 || search->rules.options.scores != 0;
}

/* Whether the next token is one of the prefix. */
static bool is_in_prefix(const ferry_search *search)
{
    return search->generated < search->forced && search->generated >= search->forced - search->rules.prefix_count;
}

/* Whether the next token is given and its log-probability counts: in a prefix of Marian. */
static bool counts_given(const ferry_search *search)
{
    return search->rules.options.search->policy == FERRY_POLICY_MARIAN && is_in_prefix(search) && is_scored(search);
}

/* The next token if it is given, else -1. */
static int32_t forced_id(const ferry_search *search)
{
    const ferry_search_rules *rules = &search->rules;
    const ferry_search_options *options = rules->options.search;
    if (search->generated == rules->options.max_length - 1 && options->forced_last_id >= 0)
        return options->forced_last_id;
    if (search->generated == 0 && options->forced_first_id >= 0) return options->forced_first_id;
    return is_in_prefix(search) ? rules->prefix[search->generated - (search->forced - rules->prefix_count)] : -1;
}

static bool is_eos(const ferry_search_rules *rules, int32_t id)
{
    for (int32_t i = 0; i < rules->eos_count; i++)
        if (rules->eos_ids[i] == id) return true;
    return false;
}

/* Whether a hypothesis ends with `id` as its next token. */
static bool ends(const ferry_search *search, int32_t id)
{
    const ferry_search_rules *rules = &search->rules;
    if (search->generated + 1 == rules->options.max_length) return true;
    if (is_in_prefix(search)) return false;
    if (rules->options.search->policy == FERRY_POLICY_CTRANSLATE2 && forced_id(search) >= 0) return false;
    return is_eos(rules, id);
}

/* Whether greedy search branches in this step. */
static bool branches(const ferry_search *search)
{
    return search->generated == search->forced;
}

static float final_score(const ferry_search *search, float sum, int32_t n)
{
    const ferry_options *options = &search->rules.options;
    return ferry_decoding_score(options, sum, n - ferry_search_uncounted(options, search->rules.prefix_count));
}

/* ---- the beginning ---- */

/* hypothesis_size: 1 + max_length. */
static bool allocate(ferry_arena *arena, ferry_search *search, size_t hypothesis_size)
{
    const size_t width = (size_t)search->width, room = (size_t)search->room, tokens = width * hypothesis_size;
    const size_t candidates = width * (size_t)search->candidate_factor;
    bool failed = false;
    int32_t *ids = ferry_arena_take(arena, tokens, 2 * sizeof *ids, &failed);
    float *scores = ferry_arena_take(arena, tokens, 2 * sizeof *scores, &failed);
    search->hypotheses = ferry_arena_take(arena, width, sizeof *search->hypotheses, &failed);
    search->next_hypotheses = ferry_arena_take(arena, width, sizeof *search->next_hypotheses, &failed);
    search->candidates = ferry_arena_take(arena, candidates, sizeof *search->candidates, &failed);
    search->seen = ferry_arena_take(arena, width, sizeof *search->seen, &failed);
    float *top_values = ferry_arena_take(arena, width, candidates * sizeof *top_values, &failed);
    int32_t *top_columns = ferry_arena_take(arena, width, candidates * sizeof *top_columns, &failed);
    search->before_penalty = ferry_arena_take(arena, hypothesis_size, sizeof *search->before_penalty, &failed);
    int32_t *finished_ids = ferry_arena_take(arena, room * hypothesis_size, sizeof *finished_ids, &failed);
    float *finished_scores = ferry_arena_take(arena, room * hypothesis_size, sizeof *finished_scores, &failed);
    search->finished = ferry_arena_take(arena, room, sizeof *search->finished, &failed);
    if (failed) return false;
    for (size_t i = 0; i < width; i++) {
        const size_t first = i * hypothesis_size, next = first + tokens;
        search->hypotheses[i] = (path){.ids = ids + first, .scores = scores + first};
        search->next_hypotheses[i] = (path){.ids = ids + next, .scores = scores + next};
        search->seen[i].top.values = top_values + i * candidates;
        search->seen[i].top.indices = top_columns + i * candidates;
    }
    for (size_t i = 0; i < room; i++)
        search->finished[i] = (finished_hypothesis){.ids = finished_ids + i * hypothesis_size,
                                                    .token_scores = finished_scores + i * hypothesis_size};
    return true;
}

/* C of this step. */
static int32_t candidate_limit(const ferry_search *search)
{
    return search->beam_left * search->candidate_factor;
}

/* Resets the states of all rows for the next step. */
static void forget(ferry_search *search)
{
    for (int32_t h = 0; h < search->width; h++) {
        seen_logits *seen = &search->seen[h];
        seen->log_sum = FERRY_LOG_SUM_ZERO;
        seen->top.limit = candidate_limit(search);
        seen->top.count = 0;
        seen->best = (best_logit){.value = -INFINITY, .id = -1};
    }
}

ferry_status ferry_search_begin(ferry_arena *arena, const ferry_search_rules *rules, ferry_search **search,
                                ferry_error *error)
{
    const ferry_options *options = &rules->options;
    const int32_t width = ferry_search_width(options);
    const int32_t forced = rules->prefix_count + (options->search->forced_first_id >= 0);
    const size_t hypothesis_size = 1 + (size_t)options->max_length;
    const bool is_ctranslate2 = options->search->policy == FERRY_POLICY_CTRANSLATE2;
    assert(width >= 1 && options->nbest >= 1 && options->nbest <= width && options->max_length >= 1);
    assert(rules->prefix_count == 0 || forced < options->max_length);
    *search = NULL;

    /* C is large enough to fill all slots again: before max_length at most k · eos_count candidates end, and the
     * other k continue. */
    int64_t factor = rules->eos_count > 1 ? 1 + (int64_t)rules->eos_count : 2, room = width;
    if (options->beam == 1 || options->search->policy == FERRY_POLICY_MARIAN) factor = 1;
    /* A coverage penalty keeps all finished hypotheses. The last step adds at most k. */
    if (options->search->coverage_penalty != 0) room = (int64_t)ferry_search_awaited(options) - 1 + width;
    size_t tokens, finished;
    if (width > INT32_MAX / factor || room > INT32_MAX || !ferry_mul_size((size_t)width, hypothesis_size, &tokens) ||
        !ferry_mul_size((size_t)room, hypothesis_size, &finished))
        return ferry_fail_option(error, "beam", "%d hypotheses are too many", width);
    ferry_search *made = ferry_arena_alloc(arena, 1, sizeof *made);
    if (made == NULL) return ferry_arena_fail(arena, "a search", 1, sizeof *made, error);
    *made = (ferry_search){
        .rules = *rules,
        .renormalize = is_ctranslate2 || options->search->renormalize != 0,
        .forced = forced,
        .live = 1,
        .width = width,
        .room = (int32_t)room,
        .beam_left = width,
        .candidate_factor = (int32_t)factor,
    };
    if (!allocate(arena, made, hypothesis_size))
        return ferry_arena_fail(arena, "the hypotheses of a search", 2 * (2 * tokens + finished),
                                sizeof *made->hypotheses->ids, error);
    forget(made);
    /* CTranslate2's rules about previous tokens ignore the start token. */
    made->hypotheses[0].ids[0] = is_ctranslate2 ? -1 : rules->start_id;
    *search = made;
    return FERRY_OK;
}

/* ---- greedy search sees logits ---- */

/* The logit `value` of token `id` after hypothesis h, and its value before the repetition penalty. */
static best_logit logit_at(const ferry_search *search, int32_t h, int32_t id, float value)
{
    best_logit found = {value, id, value};
    if (search->rules.options.repetition_penalty == 1) return found;
    for (int32_t i = search->generated; i >= 0; i--)
        if (search->hypotheses[h].ids[i] == id) found.before_penalty = search->before_penalty[i];
    return found;
}

/* Replaces the largest logit of hypothesis h by a drawn one; where the search branches, by one for each lane. */
static void draw(ferry_search *search, const ferry_logits *logits, const float *values, int32_t h)
{
    const ferry_search_rules *rules = &search->rules;
    const bool branch = branches(search);
    if (search->damaged || search->seen[h].best.id < 0) return;
    const int32_t kept = ferry_sample_keep(&rules->options, values, logits->count, logits->order);
    const int32_t first = branch ? 0 : h, last = branch ? search->width : h + 1;
    for (int32_t i = first; i < last; i++) {
        const uint32_t lane = (uint32_t)(branch ? i : search->hypotheses[h].lane);
        const double at = ferry_sample_uniform(rules->options.seed, rules->stream, lane, (uint32_t)search->generated);
        const int32_t offset = ferry_sample_choose(&rules->options, values, logits->order, kept, at);
        search->seen[i].best = logit_at(search, h, ferry_logits_id(logits, logits->first + offset), values[offset]);
    }
}

/* ---- logits are seen ---- */

static void mask(const ferry_search *search, const ferry_logits *logits, float *values, int32_t h)
{
    const ferry_options *options = &search->rules.options;
    ferry_options endless;
    if (options->alternatives != 0 && branches(search) && options->min_length <= search->generated) {
        endless = *options; /* as in CTranslate2, eos is no alternative */
        endless.min_length = search->generated + 1;
        options = &endless;
    }
    ferry_logits_mask(logits, values, options, search->rules.eos_ids, search->rules.eos_count,
                      search->hypotheses[h].ids, 1 + search->generated);
    const int32_t *ids = search->hypotheses[h].ids;
    bool ends_word = search->rules.ends_word && search->generated == search->forced;
    for (size_t i = 0; i < search->rules.once_count; i++) {
        bool occurs = false;
        for (int32_t t = 1; t <= search->generated; t++) occurs = occurs || ids[t] == search->rules.once[i];
        if (occurs) ferry_logits_drop(logits, values, search->rules.once[i]);
        ends_word = ends_word || ids[search->generated] == search->rules.once[i];
    }
    if (search->rules.admitted != NULL && search->generated >= search->forced)
        ferry_logits_keep(logits, values, search->rules.admitted);
    if (search->rules.word_begins != NULL && ends_word) ferry_logits_keep(logits, values, search->rules.word_begins);
}

/* Adds a part of a row to a sum, and notes damaged logits. */
static void add_exp(ferry_search *search, const ferry_kernels *kernels, ferry_log_sum *total, const float *values,
                    int32_t count)
{
    kernels->add_exp(total, values, count);
    search->damaged = search->damaged || ferry_log_sum_is_damaged(total);
}

/* After the rules, the log-probability of a token is value - normalizer:
 *   with penalty   value: log-softmax, penalty, masks; normalizer: 0
 *   renormalize    normalizer: the log of the sum after the masks
 *   else           normalizer: the log of the sum before the masks, so that masked tokens keep their share.
 * "With penalty" is penalizes_probabilities, which may be combined with `renormalize`. */
static void see_row(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part, int32_t h)
{
    const ferry_options *options = &search->rules.options;
    const bool scored = is_scored(search);
    seen_logits *seen = &search->seen[h];
    float *values = part->values + (size_t)h * part->ld;
    if (penalizes_probabilities(options)) {
        ferry_log_sum total = FERRY_LOG_SUM_ZERO;
        add_exp(search, kernels, &total, values, part->count);
        const float log_sum = ferry_log_of_sum(&total);
        for (int32_t c = 0; c < part->count; c++) values[c] -= log_sum;
    } else if (scored && !search->renormalize) {
        add_exp(search, kernels, &seen->log_sum, values, part->count);
    }
    if (options->repetition_penalty != 1)
        ferry_logits_penalize(part, values, options->repetition_penalty, search->hypotheses[h].ids,
                              1 + search->generated, search->before_penalty);
    mask(search, part, values, h);
    if (scored && search->renormalize) add_exp(search, kernels, &seen->log_sum, values, part->count);
    if (options->beam > 1 || (options->alternatives != 0 && branches(search)))
        kernels->add_top(&seen->top, values, part->count, part->first);
    if (options->beam > 1) return;
    const int32_t offset = kernels->argmax(values, part->count);
    const float value = offset >= 0 ? values[offset] : INFINITY;
    if (value == INFINITY) search->damaged = true;
    if (!search->damaged && value > seen->best.value)
        seen->best = logit_at(search, h, ferry_logits_id(part, part->first + offset), value);
    if (options->sample != 0) draw(search, part, values, h);
}

void ferry_search_see(ferry_search *search, const ferry_kernels *kernels, const ferry_logits *part)
{
    assert(search->live > 0);
    const bool given = counts_given(search);
    const int32_t id = forced_id(search), offset = given ? ferry_logits_offset(part, id) : -1;
    if ((id >= 0 && !given) || search->damaged) return;
    for (int32_t h = 0; h < search->live; h++) {
        const float *values = part->values + (size_t)h * part->ld;
        if (!given) {
            see_row(search, kernels, part, h);
            continue;
        }
        /* A token of a Marian prefix counts as if the search had chosen it. */
        add_exp(search, kernels, &search->seen[h].log_sum, values, part->count);
        if (offset >= 0) search->seen[h].best = (best_logit){values[offset], id, values[offset]};
    }
}

void ferry_search_mask(ferry_search *search, const ferry_logits *part)
{
    assert(search->live == 1 && ferry_search_needs_largest_only(&search->rules.options));
    mask(search, part, part->values, 0);
}

/* ---- candidates ---- */

/* The term of the given token in the sum of hypothesis h. */
static float given_score(const ferry_search *search, int32_t h)
{
    const seen_logits *seen = &search->seen[h];
    return counts_given(search) && seen->best.id >= 0 ? seen->best.value - ferry_log_of_sum(&seen->log_sum) : 0;
}

/* Inserts `entry` into candidates [*count], which are at most C in descending order of sums. Returns false if its
 * sum is too low. */
static bool insert(ferry_search *search, int32_t *count, candidate entry)
{
    candidate *candidates = search->candidates;
    const int32_t limit = candidate_limit(search);
    if (*count == limit && !(entry.sum > candidates[limit - 1].sum)) return false;
    int32_t at = *count < limit ? (*count)++ : limit - 1;
    for (; at > 0 && entry.sum > candidates[at - 1].sum; at--) candidates[at] = candidates[at - 1];
    candidates[at] = entry;
    return true;
}

/* Sets the candidates of beam search to the best continuations of all hypotheses: at most C, in descending order of
 * sums, without masked tokens. Returns their number. */
static int32_t collect(ferry_search *search, const ferry_logits *logits)
{
    const int32_t forced = forced_id(search);
    const bool normalized = penalizes_probabilities(&search->rules.options) && !search->renormalize;
    int32_t count = 0;
    for (int32_t h = 0; h < search->live; h++) {
        const float sum = search->hypotheses[h].sum;
        if (forced >= 0) {
            const float score = given_score(search, h);
            insert(search, &count, (candidate){.sum = sum + score, .score = score, .parent = h, .id = forced});
            continue;
        }
        const ferry_top *top = &search->seen[h].top;
        const float log_sum = normalized ? 0 : ferry_log_of_sum(&search->seen[h].log_sum);
        for (int32_t i = 0; i < top->count && top->values[i] > -INFINITY; i++) {
            const float score = top->values[i] - log_sum;
            const int32_t id = ferry_logits_id(logits, top->indices[i]);
            if (!insert(search, &count, (candidate){.sum = score + sum, .score = score, .parent = h, .id = id})) break;
        }
    }
    return count;
}

/* Sets the candidates of greedy search: one for each lane, in the order of lanes. A hypothesis ends as it is if
 * every token is masked. */
static int32_t collect_greedily(ferry_search *search, const ferry_logits *logits)
{
    const ferry_options *options = &search->rules.options;
    const int32_t forced = forced_id(search);
    const bool branch = forced < 0 && branches(search);
    int32_t count = branch ? search->width : search->live;
    if (branch && options->alternatives != 0) { /* the likeliest tokens after the only hypothesis, at least one */
        const ferry_top *top = &search->seen[0].top;
        for (count = 0; count < search->width && count < top->count && top->values[count] > -INFINITY; count++) {
            const int32_t id = ferry_logits_id(logits, top->indices[count]);
            search->seen[count].best = logit_at(search, 0, id, top->values[count]);
        }
        count = count > 0 ? count : 1;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t h = branch ? 0 : i, lane = branch ? i : search->hypotheses[i].lane;
        const best_logit *best = &search->seen[i].best;
        float score = 0;
        if (forced >= 0)
            score = given_score(search, h);
        else if (best->id >= 0 && options->scores != 0)
            score =
                (search->renormalize ? best->value : best->before_penalty) - ferry_log_of_sum(&search->seen[h].log_sum);
        search->candidates[i] =
            (candidate){search->hypotheses[h].sum + score, score, h, forced >= 0 ? forced : best->id, lane};
    }
    return count;
}

/* ---- a step ---- */

/* Adds a candidate to the finished hypotheses. If there is no room, the worst one is dropped. (Greedy search has
 * room for each lane.) */
static void finish(ferry_search *search, const candidate *from)
{
    const int32_t room = search->room;
    const bool sorted = search->rules.options.beam > 1;
    const int32_t length = search->generated + (from->id >= 0 ? 1 : 0);
    const float score = final_score(search, from->sum, length);
    const path *living = &search->hypotheses[from->parent];
    finished_hypothesis *finished = search->finished;
    search->ended++;
    if (search->finished_count == room && !(score > finished[room - 1].score)) return;

    int32_t at = search->finished_count < room ? search->finished_count++ : room - 1;
    if (!sorted) at = from->lane;
    finished_hypothesis entry = {score, 0, length, finished[at].ids, finished[at].token_scores};
    memcpy(entry.ids, living->ids + 1, (size_t)search->generated * sizeof *entry.ids);
    memcpy(entry.token_scores, living->scores, (size_t)search->generated * sizeof *entry.token_scores);
    if (from->id >= 0) {
        entry.ids[length - 1] = from->id;
        entry.token_scores[length - 1] = from->score;
    }
    for (; sorted && at > 0 && score > finished[at - 1].score; at--) finished[at] = finished[at - 1];
    finished[at] = entry;
}

/* Candidates that end are finished hypotheses if they are among the first k (beam_left), else they are dropped. The
 * best k candidates that do not end are the next living hypotheses. In the step after a prefix, CTranslate2 drops
 * candidates that end, except the best one, and each of them takes a slot. */
static void advance(ferry_search *search, int32_t count, int32_t *ids, int32_t *parents)
{
    const ferry_search_rules *rules = &search->rules;
    const int32_t beam_left = search->beam_left, generated = search->generated;
    const bool given = rules->prefix_count > 0 && generated < search->forced;
    const bool loses = rules->options.beam > 1 && rules->prefix_count > 0 && generated == search->forced &&
                       rules->options.search->policy == FERRY_POLICY_CTRANSLATE2;
    int32_t live = 0, lost = 0;
    for (int32_t i = 0; i < count && (i < beam_left || live + lost < beam_left); i++) {
        const candidate *next = &search->candidates[i];
        if (loses && i > 0 && is_eos(rules, next->id)) {
            lost++;
            continue;
        }
        if (next->id < 0 || ends(search, next->id)) {
            if (i < beam_left) finish(search, next);
            if (i == 0) search->best_ended = true;
            continue;
        }
        const path *from = &search->hypotheses[next->parent];
        path *to = &search->next_hypotheses[live];
        memcpy(to->ids, from->ids, (1 + (size_t)generated) * sizeof *to->ids);
        memcpy(to->scores, from->scores, (size_t)generated * sizeof *to->scores);
        to->ids[1 + generated] = next->id;
        to->scores[generated] = next->score;
        to->sum = next->sum;
        to->lane = next->lane;
        ids[live] = next->id;
        parents[live++] = next->parent;
    }
    path *hypotheses = search->hypotheses;
    search->hypotheses = search->next_hypotheses;
    search->next_hypotheses = hypotheses;
    search->live = live;
    search->generated++;
    if (rules->options.search->policy == FERRY_POLICY_MARIAN && !given) search->beam_left = live;
}

/* Whether no living hypothesis can change the result. (Never for Marian: fewer than k hypotheses are finished while
 * one lives.) */
static bool is_settled(const ferry_search *search)
{
    const ferry_options *options = &search->rules.options;
    const bool ctranslate2 = options->search->policy == FERRY_POLICY_CTRANSLATE2;
    if (options->beam == 1) return false;
    if (ctranslate2 && options->length_penalty == 0 && options->search->coverage_penalty == 0)
        return search->best_ended && search->finished_count >= options->nbest;
    if (search->ended < ferry_search_awaited(options)) return false;
    if (ctranslate2 || options->search->early_stopping == FERRY_EARLY_STOPPING_TRUE) return true;
    const bool longer_may_win =
        options->search->early_stopping == FERRY_EARLY_STOPPING_NEVER && options->length_penalty > 0;
    const int32_t length = longer_may_win ? options->max_length : search->generated;
    return !(final_score(search, search->hypotheses[0].sum, length) > search->finished[options->beam - 1].score);
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
    const int32_t count = greedy ? collect_greedily(search, logits) : collect(search, logits);
    if (count > 0) {
        advance(search, count, ids, parents);
        if (search->live > 0 && is_settled(search)) search->live = 0;
    } else {
        const bool first = search->finished_count == 0;
        for (int32_t h = 0; first && h < search->live; h++)
            finish(search, &(candidate){.sum = search->hypotheses[h].sum, .parent = h, .id = -1});
        search->live = 0;
    }
    forget(search);
    return search->live;
}

/* ---- the result ---- */

ferry_hypothesis ferry_search_so_far(const ferry_search *search)
{
    assert(search->live > 0);
    const path *living = &search->hypotheses[0];
    return (ferry_hypothesis){.ids = living->ids + 1, .length = search->generated, .token_scores = living->scores};
}

bool ferry_search_is_damaged(const ferry_search *search)
{
    return search->damaged;
}

bool ferry_search_lacks_coverage(const ferry_search *search)
{
    return search->rules.options.search->coverage_penalty != 0 && !search->covered;
}

void ferry_search_cover(ferry_search *search, const float **weights, int32_t source_ids)
{
    finished_hypothesis *finished = search->finished;
    const size_t S = (size_t)source_ids;
    for (int32_t i = 0; i < search->finished_count; i++) {
        finished_hypothesis entry = finished[i];
        const float *its_weights = weights[i];
        float total = 0; /* Σ_s log(min(Σ_t weights[t, s], 1)) */
        for (size_t s = 0; s < S; s++) {
            float attended = 0;
            for (size_t t = 0; t < (size_t)entry.length; t++) attended += its_weights[t * S + s];
            if (attended > 0 && attended < 1) total += logf(attended);
        }
        entry.coverage = search->rules.options.search->coverage_penalty * total;
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
    const finished_hypothesis *found = &search->finished[index];
    return (ferry_hypothesis){found->ids, found->length, found->score, found->token_scores, found->coverage};
}
