/* Lines in, lines out: segments them, sorts them by length, and lets a pool of workers translate them; each worker
 * takes sentences from the common queue as places become free. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/utf8.h"
#include "engine/ferry_inspect.h"
#include "model.h"
#include "options.h"
#include "result.h"
#include "engine/search/generate.h"

/* A screen takes as long to make as some steps without it: one short line does not pay for it. */
enum { SCREEN_TOKENS = 32 };
/* Source tokens of the sentences that a worker decodes together: bounds their keys and values. */
enum { BATCH_TOKENS = 512 };

struct ferry_translator {
    const ferry_model *model;
    ferry_options options; /* forced_first_id as the pair wants it; suppressed_ids: a copy; from and to are `pair` */
    ferry_language_pair pair;
    int32_t *suppressed_ids;
    ferry_pool *pool;
    ferry_generator *generators; /* [options.threads] */
    ferry_screen screen;         /* zeroed: there is none */
    size_t source_tokens;        /* of all calls, until there is a screen */
};

/* A line that goes through the model. */
typedef struct source {
    size_t line;
    ferry_ids ids; /* empty: the line was answered without the model */
} source;

/* One call of ferry_translate. */
typedef struct run {
    ferry_translator *translator;
    const ferry_text *lines; /* NULL: sources came as ids, and ids go out */
    size_t count;
    source *sources;     /* [count], by line first, then sorted: longest first, those without ids last */
    size_t sentences;    /* sources with ids */
    atomic_size_t taken; /* of them */
    ferry_result *result;
    atomic_size_t done; /* lines */
    atomic_int status;  /* ferry_status of the first failure; later items do nothing */
    ferry_error error;  /* written by the item that set `status` */
} run;

/* ---- errors of items ---- */

static bool failed(run *r)
{
    return atomic_load(&r->status) != FERRY_OK;
}

static void fail_run(run *r, const ferry_error *error)
{
    int expected = FERRY_OK;
    if (atomic_compare_exchange_strong(&r->status, &expected, (int)error->status)) r->error = *error;
}

static void report_progress(run *r)
{
    const ferry_options *options = &r->translator->options;
    if (options->progress == NULL || failed(r)) return;
    if (options->progress(options->user, atomic_load(&r->done), r->count) == 0) return;
    ferry_error error;
    ferry_fail(&error, FERRY_ERROR_CANCELLED, "cancelled by the progress callback");
    fail_run(r, &error);
}

/* ---- where the time goes ---- */

static ferry_profile *worker_profile(const ferry_translator *translator, int32_t worker)
{
    return &translator->generators[worker].state.profile;
}

void ferry_inspect_profile_start(ferry_translator *translator)
{
    for (int32_t i = 0; i < translator->options.threads; i++) {
        *worker_profile(translator, i) = (ferry_profile){.on = true};
        translator->generators[i].state.context.work = (ferry_work){0};
    }
}

ferry_inspect_phase ferry_inspect_profile_phase(const ferry_translator *translator, size_t index)
{
    ferry_inspect_phase sum = {0};
    if (index >= FERRY_PHASE_COUNT - 1) return sum;
    const ferry_phase phase = (ferry_phase)(index + 1); /* without idleness */
    sum.name = ferry_phase_name(phase);
    for (int32_t i = 0; i < translator->options.threads; i++) {
        sum.seconds += worker_profile(translator, i)->seconds[phase];
        sum.calls += worker_profile(translator, i)->calls[phase];
    }
    return sum;
}

ferry_inspect_work ferry_inspect_profile_work(const ferry_translator *translator)
{
    ferry_inspect_work sum = {0};
    for (int32_t i = 0; i < translator->options.threads; i++) {
        const ferry_work *work = &translator->generators[i].state.context.work;
        sum.float_products += work->float_products;
        sum.int8_products += work->int8_products;
        sum.weight_bytes += work->weight_bytes;
        sum.steps += worker_profile(translator, i)->calls[FERRY_PHASE_DECODER_REST];
    }
    return sum;
}

/* ---- a line becomes ids ---- */

static ferry_status answer_with_itself(ferry_result_line *line, ferry_view text, ferry_error *error)
{
    FERRY_TRY(ferry_result_line_begin(line, 1, error));
    ferry_result_hypothesis *hypothesis = &line->hypotheses[0];
    if (text.size == 0) return FERRY_OK;
    hypothesis->text = malloc(text.size);
    if (hypothesis->text == NULL) return ferry_fail_memory(error, "a line", text.size);
    memcpy(hypothesis->text, text.data, text.size);
    hypothesis->size = text.size;
    return FERRY_OK;
}

static ferry_status prepare_valid(run *r, source *from, ferry_view text, ferry_error *error)
{
    const ferry_model *model = r->translator->model;
    ferry_result_line *line = &r->result->lines[from->line];
    if (ferry_utf8_is_blank(text)) return answer_with_itself(line, text, error);
    const ferry_status status =
        ferry_languages_encode(&model->languages, model->tokenizer, r->translator->pair, text, &from->ids, error);
    const size_t limit = (size_t)model->file.transformer.encoder.position.limit;
    if (status == FERRY_ERROR_LIMIT || (status == FERRY_OK && limit > 0 && from->ids.count > limit)) {
        if (status == FERRY_OK)
            ferry_fail(error, FERRY_ERROR_LIMIT, "a sentence of %zu tokens: the model's positions end at %zu",
                       from->ids.count, limit);
        from->ids.count = 0;
        return ferry_result_line_fail(line, error->message, error);
    }
    return status;
}

static ferry_status prepare(run *r, source *from, ferry_error *error)
{
    const ferry_view text = {r->lines[from->line].data, r->lines[from->line].size};
    if (ferry_utf8_is_valid(text)) return prepare_valid(r, from, text, error);
    bool replaced;
    char *repaired = text.size > SIZE_MAX / 3 ? NULL : malloc(3 * text.size);
    if (repaired == NULL) return ferry_fail_memory(error, "a line", text.size);
    const ferry_view valid = {repaired, ferry_utf8_repair(text, repaired, &replaced)};
    r->result->lines[from->line].warning = "invalid UTF-8 was read as U+FFFD";
    const ferry_status status = prepare_valid(r, from, valid, error);
    free(repaired);
    return status;
}

static void prepare_item(void *user, int32_t worker, size_t item)
{
    run *r = user;
    ferry_error error;
    ferry_profile *profile = worker_profile(r->translator, worker);
    ferry_profile_enter(profile, FERRY_PHASE_TOKENIZING);
    if (!failed(r) && prepare(r, &r->sources[item], &error) != FERRY_OK) fail_run(r, &error);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

/* ---- ids become hypotheses ---- */

/* Longest first: what takes longest starts first, and scratch memory has its final size early. */
static int compare_sources(const void *a, const void *b)
{
    const source *x = a, *y = b;
    if (x->ids.count != y->ids.count) return x->ids.count > y->ids.count ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void sort_sources(run *r)
{
    qsort(r->sources, r->count, sizeof *r->sources, compare_sources);
    while (r->sentences < r->count && r->sources[r->sentences].ids.count > 0) r->sentences++;
    atomic_store(&r->done, r->count - r->sentences);
}

/* The share of a worker. */
typedef struct worker_run {
    run *r;
    int32_t worker;
} worker_run;

static ferry_status write_text(const ferry_model *model, ferry_result_hypothesis *hypothesis, ferry_error *error)
{
    ferry_string text = {0};
    const ferry_status status =
        ferry_tokenizer_decode(model->tokenizer, hypothesis->ids, (size_t)hypothesis->length, &text, error);
    hypothesis->text = text.data;
    hypothesis->size = text.size;
    return status;
}

static ferry_status finish_sentence(void *user, size_t line_number, const ferry_search *search, ferry_error *error)
{
    const worker_run *w = user;
    run *r = w->r;
    ferry_result_line *line = &r->result->lines[line_number];
    ferry_profile *profile = worker_profile(r->translator, w->worker);
    const int32_t count = ferry_search_count(search);
    FERRY_TRY(ferry_result_line_begin(line, (size_t)count, error));
    for (int32_t i = 0; i < count; i++) {
        const ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        FERRY_TRY(ferry_result_hypothesis_copy(&line->hypotheses[i], &hypothesis, error));
        if (r->translator->options.scores == 0) line->hypotheses[i].score = 0;
        if (r->lines == NULL) continue;
        const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
        FERRY_TRY(write_text(r->translator->model, &line->hypotheses[i], error));
        ferry_profile_leave(profile, around);
    }
    atomic_fetch_add(&r->done, 1);
    if (w->worker == 0) report_progress(r);
    /* Another worker's failure, or a cancellation, ends this one's work too. */
    return failed(r) ? ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled") : FERRY_OK;
}

/* Target tokens at the most. */
static int32_t target_length(const ferry_translator *translator, size_t source_length)
{
    const int32_t limit = translator->model->file.transformer.decoder.position.limit;
    const int32_t length = ferry_decoding_limit(&translator->options, (int32_t)source_length);
    return limit > 0 && length > limit ? limit : length;
}

static bool next_sentence(void *user, ferry_generate_sentence *sentence)
{
    run *r = ((const worker_run *)user)->r;
    const ferry_generation *generation = &r->translator->model->file.generation;
    const size_t index = failed(r) ? r->sentences : atomic_fetch_add(&r->taken, 1);
    if (index >= r->sentences) return false;
    const source *from = &r->sources[index];
    *sentence = (ferry_generate_sentence){
        .ids = from->ids.ids,
        .length = (int32_t)from->ids.count,
        .rules = {.options = r->translator->options,
                  .eos_ids = generation->eos_ids,
                  .eos_count = generation->eos_count,
                  .start_id = generation->start_id},
        .tag = from->line,
    };
    sentence->rules.options.max_length = target_length(r->translator, from->ids.count);
    return true;
}

static void translate_item(void *user, int32_t worker, size_t item)
{
    (void)item;
    run *r = user;
    ferry_error error;
    worker_run w = {r, worker};
    const ferry_options *options = &r->translator->options;
    const ferry_shortlist *shortlist = &r->translator->model->file.generation.shortlist;
    const size_t batch = (size_t)options->batch, threads = (size_t)options->threads;
    const size_t share = (r->sentences + threads - 1) / threads; /* so that no worker takes what another could begin */
    if (failed(r)) return;
    const ferry_generate_source from = {
        .width = (int32_t)(share < batch ? share : batch),
        .tokens = BATCH_TOKENS,
        .beam = options->beam,
        .max_length = target_length(r->translator, r->sources[0].ids.count),
        .shortlist = shortlist->offsets != NULL ? shortlist : NULL,
        .screen = r->translator->screen.exact != NULL ? &r->translator->screen : NULL,
        .next = next_sentence,
        .finished = finish_sentence,
        .user = &w,
    };
    ferry_profile *profile = worker_profile(r->translator, worker);
    ferry_profile_enter(profile, FERRY_PHASE_OTHER);
    if (ferry_generate(&r->translator->generators[worker], &from, &error) != FERRY_OK) fail_run(r, &error);
    ferry_profile_leave(profile, FERRY_PHASE_IDLE);
}

/* ---- the calls ---- */

/* Whether a screen would be of use: greedy search without scores needs only the largest logit, of an output matrix of
 * floats that all sentences share, and int8 products are the faster ones. */
static bool wants_screen(const ferry_translator *translator)
{
    const ferry_transformer *model = &translator->model->file.transformer;
    const ferry_options *decoding = &translator->options;
    const bool shared = !decoding->shortlist || translator->model->file.generation.shortlist.offsets == NULL;
    const bool greedy = decoding->beam == 1 && decoding->repetition_penalty == 1 && translator->options.scores == 0;
    const bool suits = model->output.codes == NULL && model->output.K <= FERRY_CODES_MAX_K;
    return greedy && shared && suits && translator->model->kernels->fast_i8;
}

/* Makes the screen when there is enough to do. */
static ferry_status prepare_screen(const run *r, ferry_error *error)
{
    ferry_translator *translator = r->translator;
    if (translator->screen.exact != NULL || !wants_screen(translator)) return FERRY_OK;
    for (size_t i = 0; i < r->sentences; i++) translator->source_tokens += r->sources[i].ids.count;
    if (translator->source_tokens < SCREEN_TOKENS) return FERRY_OK;
    return ferry_screen_create(&translator->model->file.transformer.output, &translator->screen, error);
}

/* Everything from sources to results. Takes r->sources' ids; they are freed here. */
static ferry_status finish_run(run *r, ferry_status status, ferry_result **result, ferry_error *error)
{
    if (status == FERRY_OK) {
        sort_sources(r);
        status = prepare_screen(r, error);
    }
    if (status == FERRY_OK) {
        const size_t threads = (size_t)r->translator->options.threads;
        ferry_pool_run(r->translator->pool, translate_item, r, r->sentences < threads ? r->sentences : threads);
        report_progress(r);
        status = (ferry_status)atomic_load(&r->status);
        if (status != FERRY_OK && error != NULL) *error = r->error;
    }
    for (size_t i = 0; r->sources != NULL && i < r->count; i++) free(r->sources[i].ids.ids);
    free(r->sources);
    if (status != FERRY_OK)
        ferry_result_destroy(r->result);
    else
        *result = r->result;
    return status;
}

static ferry_status begin_run(run *r, ferry_error *error)
{
    FERRY_TRY(ferry_result_create(r->count, &r->result, error));
    r->sources = calloc(r->count + 1, sizeof *r->sources);
    if (r->sources == NULL) return ferry_fail_memory(error, "lines", r->count * sizeof *r->sources);
    for (size_t i = 0; i < r->count; i++) r->sources[i].line = i;
    return FERRY_OK;
}

ferry_status ferry_translate(ferry_translator *translator, const ferry_text *lines, size_t count, ferry_result **result,
                             ferry_error *error)
{
    run r = {.translator = translator, .lines = lines, .count = count};
    *result = NULL;
    if (translator->model->tokenizer == NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "the model has no tokenizer: it came without one and speaks in ids only");
    ferry_status status = begin_run(&r, error);
    if (status == FERRY_OK) {
        ferry_pool_run(translator->pool, prepare_item, &r, count);
        status = (ferry_status)atomic_load(&r.status);
        if (status != FERRY_OK && error != NULL) *error = r.error;
    }
    return finish_run(&r, status, result, error);
}

/* Copies one sentence of ids, checked. */
static ferry_status take_ids(run *r, source *to, const int32_t *ids, int32_t length, ferry_error *error)
{
    const ferry_stack *encoder = &r->translator->model->file.transformer.encoder;
    if (length < 1) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "sentence %zu: expected at least one id", to->line);
    if (encoder->position.limit > 0 && length > encoder->position.limit)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "a sentence of %d tokens: the model's positions end at %d",
                          (int)length, (int)encoder->position.limit);
    for (int32_t i = 0; i < length; i++)
        if (ids[i] < 0 || ids[i] >= encoder->vocab_size)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "sentence %zu: id %d is not below the vocabulary's %d",
                              to->line, (int)ids[i], (int)encoder->vocab_size);
    to->ids.ids = malloc((size_t)length * sizeof *ids);
    if (to->ids.ids == NULL) return ferry_fail_memory(error, "ids", (size_t)length * sizeof *ids);
    memcpy(to->ids.ids, ids, (size_t)length * sizeof *ids);
    to->ids.count = (size_t)length;
    return FERRY_OK;
}

ferry_status ferry_inspect_generate(ferry_translator *translator, const int32_t *ids, const int32_t *offsets,
                                    int32_t count, ferry_result **result, ferry_error *error)
{
    run r = {.translator = translator, .count = (size_t)count};
    *result = NULL;
    ferry_status status = begin_run(&r, error);
    for (int32_t s = 0; status == FERRY_OK && s < count; s++)
        status = take_ids(&r, &r.sources[s], ids + offsets[s], offsets[s + 1] - offsets[s], error);
    return finish_run(&r, status, result, error);
}

/* Everything that the options ask for, but for threads. */
static ferry_status take_options(ferry_translator *translator, const ferry_options *options, ferry_error *error)
{
    const ferry_languages *languages = &translator->model->languages;
    const size_t ids = options->suppressed_count;
    translator->options = *options;
    translator->options.from = translator->options.to = NULL;
    FERRY_TRY(ferry_languages_find(languages, options->from, options->to, &translator->pair, error));
    FERRY_TRY(ferry_languages_check(languages, translator->pair, options->forced_first_id, error));
    translator->suppressed_ids = calloc(ids + 1, sizeof *translator->suppressed_ids);
    if (translator->suppressed_ids == NULL)
        return ferry_fail_memory(error, "suppressed ids", ids * sizeof *translator->suppressed_ids);
    if (ids > 0) memcpy(translator->suppressed_ids, options->suppressed_ids, ids * sizeof *translator->suppressed_ids);
    translator->options.suppressed_ids = translator->suppressed_ids;
    const int32_t first_id = ferry_languages_first_id(languages, translator->pair);
    if (first_id >= 0 && (options->to != NULL || options->forced_first_id < 0))
        translator->options.forced_first_id = first_id;
    return FERRY_OK;
}

static ferry_status create_threads(ferry_translator *translator, ferry_error *error)
{
    const ferry_model *model = translator->model;
    const int32_t threads = translator->options.threads;
    translator->generators = calloc((size_t)threads, sizeof *translator->generators);
    if (translator->generators == NULL)
        return ferry_fail_memory(error, "threads", (size_t)threads * sizeof *translator->generators);
    FERRY_TRY(ferry_pool_create(threads, &translator->pool, error));
    for (int32_t i = 0; i < threads; i++) {
        ferry_generator_init(&translator->generators[i], &model->file.transformer, model->kernels);
        translator->generators[i].state.context.pool = translator->pool;
    }
    return FERRY_OK;
}

ferry_status ferry_translator_create(const ferry_model *model, const ferry_options *options,
                                     ferry_translator **translator, ferry_error *error)
{
    ferry_options defaults;
    *translator = NULL;
    if (options == NULL) {
        ferry_options_default(model, &defaults);
        options = &defaults;
    }
    FERRY_TRY(ferry_options_check(options, &model->file, error));
    ferry_translator *created = calloc(1, sizeof *created);
    if (created == NULL) return ferry_fail_memory(error, "a translator", sizeof *created);
    created->model = model;
    ferry_status status = take_options(created, options, error);
    if (status == FERRY_OK) status = create_threads(created, error);
    if (status != FERRY_OK) {
        ferry_translator_destroy(created);
        return status;
    }
    *translator = created;
    return FERRY_OK;
}

void ferry_translator_destroy(ferry_translator *translator)
{
    if (translator == NULL) return;
    ferry_pool_destroy(translator->pool);
    for (int32_t i = 0; translator->generators != NULL && i < translator->options.threads; i++)
        ferry_generator_destroy(&translator->generators[i]);
    free(translator->generators);
    ferry_screen_destroy(&translator->screen);
    free(translator->suppressed_ids);
    free(translator);
}
