/* Translating the sentences of a job. */
#include <stdlib.h>
#include <string.h>

#include "engine/search/sample.h"
#include "job.h"
#include "tokens.h"

enum {
    /* Of the keys and values of sentences that a worker decodes together, and more for each hypothesis of a beam. */
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

/* Whether the hypothesis ended because it may not be longer. */
static bool ended_at_limit(const ferry_translator *translator, const ferry_hypothesis *hypothesis, int32_t limit)
{
    const ferry_generation *generation = &translator->model->file.generation;
    if (hypothesis->length < limit) return false;
    for (int32_t i = 0; translator->options.search->forced_last_id < 0 && i < generation->eos_count; i++)
        if (generation->eos_ids[i] == hypothesis->ids[limit - 1]) return false;
    return true;
}

static ferry_status take_hypotheses(const ferry_translator *translator, ferry_part *part, const ferry_search *search,
                                    ferry_error *error)
{
    const int32_t count = ferry_search_count(search),
                  limit = ferry_translator_target_length(translator, part->ids.count);
    FERRY_TRY(ferry_result_line_begin(&part->result, (size_t)count, error));
    for (int32_t i = 0; i < count; i++) {
        ferry_result_hypothesis *to = &part->result.hypotheses[i];
        const ferry_hypothesis hypothesis = ferry_search_hypothesis(search, i);
        FERRY_TRY(ferry_result_hypothesis_copy(to, &hypothesis, translator->options.alignment != 0, error));
        if (ended_at_limit(translator, &hypothesis, limit))
            part->quality = (ferry_quality_signs){.flags = FERRY_QUALITY_CUT, .limit = limit};
        if (translator->options.scores == 0) to->score = 0;
    }
    return FERRY_OK;
}

/* ---- partial translations ---- */

/* Whether options.partial is called. */
static bool tells_partial(const ferry_job *job)
{
    const ferry_options *options = &job->translator->options;
    return options->partial != NULL && options->beam == 1 && options->nbest == 1 && job->texts != NULL &&
           job->translator->place + 1 == job->translator->places;
}

/* Of a sentence: of a line that was split, no part is told. */
static bool is_told(const ferry_job *job, const ferry_job_sentence *sentence)
{
    return tells_partial(job) && job->lines[sentence->line].parts.count == 1;
}

static void tell(ferry_job *job, const ferry_job_sentence *sentence, ferry_text text)
{
    const ferry_translator *translator = job->translator;
    const ferry_options *options = &translator->options;
    ferry_pool_enter(translator->pool);
    if (!ferry_job_stopped(job) && options->partial(options->user, sentence->line, text) != 0)
        atomic_store(job->stop, true);
    ferry_pool_leave(translator->pool);
}

static ferry_status write_so_far(const ferry_tokenizer *tokenizer, const ferry_search *search, ferry_string *text,
                                 ferry_error *error)
{
    const ferry_hypothesis so_far = ferry_search_so_far(search);
    FERRY_TRY(ferry_tokenizer_decode(tokenizer, so_far.ids, (size_t)so_far.length, text, error));
    return ferry_string_end(text, error);
}

static void tell_step(void *user, void *tag, const ferry_search *search)
{
    const ferry_job_share *share = user;
    const ferry_job_sentence *sentence = tag;
    ferry_error error;
    ferry_string text = {0};
    if (!is_told(share->job, sentence)) return;
    ferry_profile *profile = ferry_translator_profile(share->translator, share->worker);
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
    const ferry_status status = write_so_far(share->translator->model->tokenizer, search, &text, &error);
    ferry_profile_leave(profile, around);
    if (status == FERRY_OK)
        tell(share->job, sentence, (ferry_text){text.data, text.size});
    else
        ferry_job_stop(share->job, &error);
    free(text.data);
}

static ferry_status write_texts(const ferry_translator *translator, ferry_profile *profile, ferry_part *part,
                                ferry_error *error)
{
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
    for (size_t i = 0; i < part->result.count; i++)
        FERRY_TRY(ferry_tokens_write_text(translator, part, &part->result.hypotheses[i], error));
    ferry_profile_leave(profile, around);
    return FERRY_OK;
}

static bool wants_weights(void *user, void *tag, const ferry_search *search)
{
    const ferry_translator *translator = ((const ferry_job_share *)user)->translator;
    const ferry_job *job = ((const ferry_job_sentence *)tag)->job;
    if (translator->options.alignment != 0) return true;
    return job->texts != NULL && ferry_tokens_need_words(translator, search);
}

/* ---- a sentence is finished ---- */

/* The search's hypotheses become the part's result. */
static ferry_status take_result(ferry_job_share *share, const ferry_job_sentence *sentence,
                                const ferry_generate_finished *finished, ferry_error *error)
{
    const ferry_translator *translator = share->translator;
    const bool texts = sentence->job->texts != NULL;
    ferry_part *part = sentence->part;
    part->quality = (ferry_quality_signs){.flags = 0};
    FERRY_TRY(take_hypotheses(translator, part, finished->search, error));
    if (finished->weights != NULL)
        FERRY_TRY(ferry_tokens_take_weights(&part->result, part->ids.count, finished->weights, error));
    if (texts) FERRY_TRY(write_texts(translator, ferry_translator_profile(translator, share->worker), part, error));
    if (translator->options.alignment == 0) ferry_tokens_drop_weights(&part->result);
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

/* Whether a translation that loops is to be made again: not where the rules of its search were strict already. */
static bool wants_again(const ferry_options *options, const ferry_quality_signs *quality)
{
    const bool strict = options->no_repeat_ngram > 0 && options->no_repeat_ngram <= AGAIN_NGRAM;
    return options->on_loop == FERRY_ON_LOOP_RETRY && (quality->flags & FERRY_QUALITY_LOOP) != 0 && !strict;
}

/* The sentence's result is complete. */
static void complete(ferry_job_share *share, ferry_job_sentence *sentence)
{
    const ferry_result_hypothesis *best = &sentence->part->result.hypotheses[0];
    if (share->job != NULL && is_told(share->job, sentence))
        tell(share->job, sentence, (ferry_text){best->text, best->size});
    ferry_job_finish_sentence(share, sentence);
}

static void finish_sentence(void *user, void *tag, const ferry_generate_finished *finished)
{
    ferry_job_share *share = user;
    ferry_job_sentence *sentence = tag;
    ferry_error error;
    if ((sentence->again ? take_better : take_result)(share, sentence, finished, &error) != FERRY_OK) {
        ferry_job_fail_sentence(share, sentence, &error);
    } else if (!sentence->again && wants_again(&share->translator->options, &sentence->part->quality)) {
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

/* How many sentences a worker takes at the same time. In a call, none that another could begin; beside them, for a
 * service, those that others make way for. */
static size_t width_of(const ferry_job_share *share)
{
    const size_t batch = (size_t)share->translator->options.batch, threads = (size_t)share->translator->options.threads;
    if (share->alone) return 1;
    if (share->job == NULL) return batch;
    const size_t even = (share->job->sentence_count + threads - 1) / threads;
    return even < batch ? even : batch;
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
    const size_t longest =
        job != NULL ? job->sentences[0].part->ids.count : (size_t)ferry_translator_source_limit(translator);
    const ferry_generate_source queue = {
        .width = (int32_t)width_of(share),
        .ranked = job == NULL,
        .positions = BATCH_POSITIONS + BEAM_POSITIONS * beam,
        .beam = beam,
        .max_length = ferry_translator_target_length(translator, longest),
        .shortlist = shortlist->offsets != NULL ? shortlist : NULL,
        .screen = translator->screen.exact != NULL ? &translator->screen : NULL,
        .wants_weights = ferry_translator_wants_tokens(translator) ? wants_weights : NULL,
        .force = &force,
        .next = take_sentence,
        .give_back = give_sentence_back,
        .unwanted = is_unwanted,
        .finished = finish_sentence,
        .failed = fail_sentence,
        .stepped = share->job != NULL && tells_partial(share->job) ? tell_step : NULL,
        .user = share,
    };
    ferry_generate(&share->translator->generators[share->worker], &queue);
}
