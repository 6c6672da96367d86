/* A worker translates the sentences of jobs: the callbacks of ferry_generate. */
#include <stdlib.h>
#include <string.h>

#include "engine/search/force.h"
#include "engine/search/logits.h"
#include "job.h"

enum {
    /* Positions of keys and values that sentences decoded together may hold, and more for each hypothesis of a beam. */
    BATCH_POSITIONS = 410,
    BEAM_POSITIONS = 130,
    AGAIN_NGRAM = 2 /* no_repeat_ngram of those that are translated again */
};

/* ---- a sentence's search ---- */

static bool take_sentence(void *user, ferry_generate_sentence *sentence)
{
    ferry_job_share *share = user;
    const ferry_translator *translator = share->translator;
    const ferry_generation *generation = &translator->model->file.generation;
    ferry_job_sentence *next = ferry_job_take(share);
    if (next == NULL) return false;
    const ferry_ids *ids = &next->part->ids, *prefix = &next->part->prefix;
    *sentence = (ferry_generate_sentence){
        .ids = ids->ids,
        .length = (int32_t)ids->count,
        .rules = {.options = translator->options,
                  .eos_ids = generation->eos_ids,
                  .eos_count = generation->eos_count,
                  .start_id = generation->start_id,
                  .prefix = prefix->ids,
                  .prefix_count = (int32_t)prefix->count},
        .priority = next->job->priority,
        .tag = next,
    };
    if (sentence->rules.options.sample != 0)
        sentence->rules.stream =
            ferry_sample_stream(ids->ids, (int32_t)ids->count, prefix->ids, (int32_t)prefix->count);
    if (next->again) sentence->rules.options.no_repeat_ngram = AGAIN_NGRAM;
    sentence->rules.options.max_length = ferry_translator_target_length(translator, ids->count);
    return true;
}

static void give_sentence_back(void *user, void *tag)
{
    ferry_job_put(user, tag, FERRY_QUEUE_AGAIN);
}

static bool is_unwanted(void *user, void *tag)
{
    const ferry_job_sentence *sentence = tag;
    (void)user;
    return ferry_job_stopped(sentence->job);
}

/* ---- partial translations ---- */

/* Whether options.partial is called. */
static bool reports_partial(const ferry_job *job)
{
    const ferry_translator *translator = job->translator;
    const ferry_options *options = &translator->options;
    return options->partial != NULL && options->beam == 1 && options->nbest == 1 && job->texts != NULL &&
           translator->row_index + 1 == translator->row_length;
}

/* Calls it for a sentence: of a line that was split, no part is reported. */
static void report_partial(ferry_job *job, const ferry_job_sentence *sentence, ferry_text text)
{
    const ferry_translator *translator = job->translator;
    const ferry_options *options = &translator->options;
    ferry_pool_enter(translator->pool);
    if (!ferry_job_stopped(job) && options->partial(options->user, sentence->line, text) != 0)
        atomic_store(job->stop, true);
    ferry_pool_leave(translator->pool);
}

static bool is_reported(const ferry_job *job, const ferry_job_sentence *sentence)
{
    return job != NULL && reports_partial(job) && job->lines[sentence->line].parts.count == 1;
}

static void report_step(void *user, void *tag, const ferry_search *search)
{
    const ferry_job_share *share = user;
    const ferry_job_sentence *sentence = tag;
    ferry_error error;
    ferry_string text = {0};
    if (!is_reported(share->job, sentence)) return;
    ferry_profile *profile = ferry_translator_profile(share->translator, share->worker);
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
    const ferry_hypothesis so_far = ferry_search_so_far(search);
    ferry_status status =
        ferry_tokenizer_decode(share->translator->model->tokenizer, so_far.ids, (size_t)so_far.length, &text, &error);
    if (status == FERRY_OK) status = ferry_string_end(&text, &error);
    ferry_profile_leave(profile, around);
    if (status == FERRY_OK)
        report_partial(share->job, sentence, (ferry_text){text.data, text.size});
    else
        ferry_job_stop(share->job, &error);
    free(text.data);
}

/* ---- a sentence is finished ---- */

static bool wants_weights(void *user, void *tag, const ferry_search *search)
{
    const ferry_translator *translator = ((const ferry_job_share *)user)->translator;
    const ferry_job *job = ((const ferry_job_sentence *)tag)->job;
    if (translator->options.alignment != 0) return true;
    for (int32_t i = 0; job->texts != NULL && i < ferry_search_count(search); i++) {
        const ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        if (ferry_tokens_need_words(translator, hypothesis.ids, hypothesis.length)) return true;
    }
    return false;
}

/* A hypothesis of the search becomes one of the part's result. One that was cut ended because it may not be longer. */
static ferry_status take_hypothesis(const ferry_translator *translator, ferry_part *part,
                                    const ferry_generate_finished *finished, int32_t index, ferry_error *error)
{
    const ferry_generation *generation = &translator->model->file.generation;
    const int32_t limit = ferry_translator_target_length(translator, part->ids.count);
    const ferry_hypothesis from = ferry_search_hypothesis(finished->search, index);
    const size_t length = (size_t)from.length;
    const bool aligned = translator->options.alignment != 0;
    ferry_result_hypothesis *to = &part->result.hypotheses[index];
    if (length > 0) {
        to->ids = malloc(length * sizeof *to->ids);
        to->token_scores = malloc(length * sizeof *to->token_scores);
        if (aligned) to->ranges = calloc(length, sizeof *to->ranges);
        if (to->ids == NULL || to->token_scores == NULL || (aligned && to->ranges == NULL))
            return ferry_fail_memory(error, "ids and their scores",
                                     length * (sizeof(int32_t) + sizeof(float) + sizeof(ferry_range)), 1);
        memcpy(to->ids, from.ids, length * sizeof *to->ids);
        memcpy(to->token_scores, from.token_scores, length * sizeof *to->token_scores);
    }
    to->length = from.length;
    to->coverage = from.coverage;
    if (translator->options.scores != 0) to->score = from.score;
    bool cut = from.length >= limit;
    for (int32_t i = 0; translator->options.search->forced_last_id < 0 && i < generation->eos_count; i++)
        cut = cut && generation->eos_ids[i] != from.ids[limit - 1];
    if (cut) part->quality = (ferry_quality_signs){.flags = FERRY_QUALITY_CUT, .limit = limit};
    if (finished->weights == NULL || !aligned) return FERRY_OK;
    const size_t bytes = (size_t)to->length * part->ids.count * sizeof *to->weights;
    FERRY_TRY(ferry_tokens_begin_weights(to, part->ids.count, error));
    if (bytes > 0) memcpy(to->weights, finished->weights[index], bytes);
    return FERRY_OK;
}

/* The search's hypotheses become the part's result. */
static ferry_status take_result(ferry_job_share *share, const ferry_job_sentence *sentence,
                                const ferry_generate_finished *finished, ferry_error *error)
{
    const ferry_translator *translator = share->translator;
    const bool texts = sentence->job->texts != NULL;
    const int32_t count = ferry_search_count(finished->search);
    ferry_profile *profile = ferry_translator_profile(translator, share->worker);
    ferry_part *part = sentence->part;
    part->quality = (ferry_quality_signs){.flags = 0};
    FERRY_TRY(ferry_result_line_begin(&part->result, (size_t)count, error));
    for (int32_t i = 0; i < count; i++) FERRY_TRY(take_hypothesis(translator, part, finished, i, error));
    if (texts) {
        const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
        for (int32_t i = 0; i < count; i++)
            FERRY_TRY(ferry_tokens_write_text(translator, part, finished->weights != NULL ? finished->weights[i] : NULL,
                                              &part->result.hypotheses[i], error));
        ferry_profile_leave(profile, around);
    }
    ferry_quality_compare(&part->quality, &part->ids, &part->result.hypotheses[0], texts,
                          translator->options.replace_unknowns == 0 ? translator->unknown_id : -1);
    if (part->unknowns > 0) part->quality.flags |= FERRY_QUALITY_UNKNOWN;
    return FERRY_OK;
}

/* The same, unless the translation loops like the first one, or has other quality. */
static ferry_status take_better(ferry_job_share *share, const ferry_job_sentence *sentence,
                                const ferry_generate_finished *finished, ferry_error *error)
{
    ferry_part *part = sentence->part;
    ferry_result_line other = part->result;
    const ferry_quality_signs quality = part->quality;
    memset(&part->result, 0, sizeof part->result);
    const ferry_status status = take_result(share, sentence, finished, error);
    part->again = (part->quality.flags & ~(quality.flags & ~FERRY_QUALITY_LOOP)) == 0;
    if (status == FERRY_OK && !part->again) {
        const ferry_result_line worse = part->result;
        part->result = other;
        part->quality = quality;
        other = worse;
    }
    ferry_result_line_clear(&other);
    return status;
}

/* The sentence's result is complete. */
static void complete(ferry_job_share *share, ferry_job_sentence *sentence)
{
    const ferry_result_hypothesis *best = &sentence->part->result.hypotheses[0];
    if (is_reported(share->job, sentence)) report_partial(share->job, sentence, (ferry_text){best->text, best->size});
    ferry_job_finish_sentence(share, sentence);
}

static void finish_sentence(void *user, void *tag, const ferry_generate_finished *finished)
{
    ferry_job_share *share = user;
    ferry_job_sentence *sentence = tag;
    const ferry_options *options = &share->translator->options;
    const bool strict = options->no_repeat_ngram > 0 && options->no_repeat_ngram <= AGAIN_NGRAM;
    ferry_error error;
    if ((sentence->again ? take_better : take_result)(share, sentence, finished, &error) != FERRY_OK) {
        ferry_job_fail_sentence(share, sentence, &error);
    } else if (!sentence->again && options->on_loop == FERRY_ON_LOOP_RETRY && !strict &&
               (sentence->part->quality.flags & FERRY_QUALITY_LOOP) != 0) {
        /* A translation that loops is made again, unless the rules of its search were strict already. */
        sentence->again = true;
        ferry_job_put(share, sentence, FERRY_QUEUE_AGAIN);
    } else {
        complete(share, sentence);
    }
}

static void fail_sentence(void *user, void *tag, const ferry_error *why)
{
    ferry_job_share *share = user;
    ferry_job_sentence *sentence = tag;
    const bool own = why->status == FERRY_ERROR_FORMAT || (why->status == FERRY_ERROR_LIMIT && share->alone);
    if (sentence->again && own)
        complete(share, sentence); /* with its first translation */
    else
        ferry_job_fail_sentence(share, sentence, why);
}

void ferry_job_translate_share(ferry_job_share *share)
{
    const ferry_translator *translator = share->translator;
    const ferry_job *job = share->first != NULL ? share->first->job : share->job;
    const ferry_model_file *file = &translator->model->file;
    const ferry_shortlist *shortlist = &file->generation.shortlist;
    const ferry_force_rules force = {.start_id = file->generation.start_id,
                                     .alignment = ferry_alignment_choose(&file->generation, &file->transformer)};
    const int32_t beam = ferry_search_width(&translator->options);
    const size_t threads = (size_t)translator->options.threads, batch = (size_t)translator->options.batch;
    /* In a call, a worker takes none that another could begin; for a service, those that others make way for, too. */
    const size_t even = share->job != NULL ? (share->job->sentence_count + threads - 1) / threads : batch;
    const size_t longest =
        job != NULL ? job->sentences[0].part->ids.count : (size_t)ferry_translator_source_limit(translator);
    const ferry_generate_source queue = {
        .width = share->alone ? 1 : (int32_t)(even < batch ? even : batch),
        .ranked = job == NULL,
        .positions = BATCH_POSITIONS + BEAM_POSITIONS * beam,
        .beam = beam,
        .max_length = ferry_translator_target_length(translator, longest),
        .shortlist = shortlist->offsets != NULL ? shortlist : NULL,
        .bound = translator->bound.exact != NULL ? &translator->bound : NULL,
        .wants_weights = ferry_translator_wants_tokens(translator) ? wants_weights : NULL,
        .force = &force,
        .next = take_sentence,
        .give_back = give_sentence_back,
        .unwanted = is_unwanted,
        .finished = finish_sentence,
        .failed = fail_sentence,
        .stepped = share->job != NULL && reports_partial(share->job) ? report_step : NULL,
        .user = share,
    };
    ferry_generate(&share->translator->generators[share->worker], &queue);
}
