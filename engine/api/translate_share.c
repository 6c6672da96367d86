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
    ferry_job *job = share->job;
    const ferry_generation *generation = &job->translator->model->file.generation;
    const ferry_job_sentence *next = ferry_job_take(share);
    if (next == NULL) return false;
    const ferry_ids *ids = &next->part->ids, *prefix = &next->part->prefix;
    *sentence = (ferry_generate_sentence){
        .ids = ids->ids,
        .length = (int32_t)ids->count,
        .rules = {.options = job->translator->options,
                  .eos_ids = generation->eos_ids,
                  .eos_count = generation->eos_count,
                  .start_id = generation->start_id,
                  .prefix = prefix->ids,
                  .prefix_count = (int32_t)prefix->count},
        .tag = (size_t)(next - job->sentences),
    };
    if (sentence->rules.options.sample != 0)
        sentence->rules.stream =
            ferry_sample_stream(ids->ids, (int32_t)ids->count, prefix->ids, (int32_t)prefix->count);
    if (next->again) sentence->rules.options.no_repeat_ngram = AGAIN_NGRAM;
    sentence->rules.options.max_length = ferry_translator_target_length(job->translator, ids->count);
    return true;
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
    return options->partial != NULL && options->beam == 1 && options->nbest == 1 && job->texts != NULL;
}

/* Of a sentence: of a line that was split, no part is told. */
static bool is_told(const ferry_job *job, const ferry_job_sentence *sentence)
{
    return tells_partial(job) && job->lines[sentence->line].parts.count == 1;
}

static void tell(ferry_job *job, const ferry_job_sentence *sentence, ferry_text text)
{
    ferry_translator *translator = job->translator;
    const ferry_options *options = &translator->options;
    ferry_pool_enter(translator->pool);
    if (!ferry_job_stopped(job) && options->partial(options->user, sentence->line, text) != 0)
        atomic_store(&translator->stop, true);
    ferry_pool_leave(translator->pool);
}

static ferry_status tell_step(void *user, size_t index, const ferry_search *search, ferry_error *error)
{
    const ferry_job_share *share = user;
    ferry_job *job = share->job;
    const ferry_job_sentence *sentence = &job->sentences[index];
    if (!is_told(job, sentence)) return FERRY_OK;
    const ferry_hypothesis so_far = ferry_search_so_far(search);
    ferry_profile *profile = ferry_translator_profile(job->translator, share->worker);
    const ferry_phase around = ferry_profile_enter(profile, FERRY_PHASE_DETOKENIZING);
    ferry_string text = {0};
    ferry_status status =
        ferry_tokenizer_decode(job->translator->model->tokenizer, so_far.ids, (size_t)so_far.length, &text, error);
    if (status == FERRY_OK) status = ferry_string_end(&text, error);
    ferry_profile_leave(profile, around);
    if (status == FERRY_OK) tell(job, sentence, (ferry_text){text.data, text.size});
    free(text.data);
    return status;
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

static bool wants_weights(void *user, const ferry_search *search)
{
    const ferry_job *job = ((const ferry_job_share *)user)->job;
    if (job->translator->options.alignment != 0) return true;
    return job->texts != NULL && ferry_tokens_need_words(job->translator, search);
}

/* ---- a sentence is finished ---- */

/* The search's hypotheses become the part's result. */
static ferry_status take_result(ferry_job_share *share, ferry_part *part, const ferry_generate_finished *finished,
                                ferry_error *error)
{
    const ferry_translator *translator = share->job->translator;
    const bool texts = share->job->texts != NULL;
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
static ferry_status take_better(ferry_job_share *share, ferry_part *part, const ferry_generate_finished *finished,
                                ferry_error *error)
{
    ferry_result_line other = part->result;
    const ferry_quality_signs quality = part->quality;
    memset(&part->result, 0, sizeof part->result);
    const ferry_status status = take_result(share, part, finished, error);
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
static ferry_status complete(ferry_job_share *share, const ferry_job_sentence *sentence, ferry_error *error)
{
    const ferry_result_hypothesis *best = &sentence->part->result.hypotheses[0];
    if (is_told(share->job, sentence)) tell(share->job, sentence, (ferry_text){best->text, best->size});
    return ferry_job_finish_sentence(share, sentence, error);
}

static ferry_status finish_sentence(void *user, size_t index, const ferry_generate_finished *finished,
                                    ferry_error *error)
{
    ferry_job_share *share = user;
    ferry_job *job = share->job;
    ferry_job_sentence *sentence = &job->sentences[index];
    ferry_part *part = sentence->part;
    FERRY_TRY((sentence->again ? take_better : take_result)(share, part, finished, error));
    if (!sentence->again && wants_again(&job->translator->options, &part->quality)) {
        sentence->again = true;
        return ferry_job_stopped(job) ? ferry_fail(error, FERRY_ERROR_CANCELLED, "cancelled") : FERRY_OK;
    }
    return complete(share, sentence, error);
}

static ferry_status fail_sentence(void *user, size_t index, const ferry_error *why, ferry_error *error)
{
    ferry_job_share *share = user;
    ferry_job_sentence *sentence = &share->job->sentences[index];
    const bool last = why->status != FERRY_ERROR_LIMIT || share->alone != NULL;
    if (sentence->again && last) return complete(share, sentence, error); /* with its first translation */
    return ferry_job_fail_sentence(share, sentence, why, error);
}

void ferry_job_translate_share(ferry_job_share *share)
{
    ferry_job *job = share->job;
    ferry_error error;
    ferry_translator *translator = job->translator;
    const ferry_shortlist *shortlist = &translator->model->file.generation.shortlist;
    const size_t batch = (size_t)translator->options.batch, threads = (size_t)translator->options.threads;
    const size_t even =
        (job->sentence_count + threads - 1) / threads; /* so that no worker takes what another could begin */
    const ferry_model_file *file = &translator->model->file;
    const ferry_force_rules force = {.start_id = file->generation.start_id,
                                     .alignment = ferry_alignment_choose(&file->generation, &file->transformer)};
    const int32_t beam = ferry_search_width(&translator->options);
    const ferry_generate_source queue = {
        .width = share->alone != NULL ? 1 : (int32_t)(even < batch ? even : batch),
        .positions = BATCH_POSITIONS + BEAM_POSITIONS * beam,
        .beam = beam,
        .max_length = ferry_translator_target_length(translator, job->sentences[0].part->ids.count),
        .shortlist = shortlist->offsets != NULL ? shortlist : NULL,
        .screen = translator->screen.exact != NULL ? &translator->screen : NULL,
        .wants_weights = ferry_translator_wants_tokens(translator) ? wants_weights : NULL,
        .force = &force,
        .next = take_sentence,
        .finished = finish_sentence,
        .failed = fail_sentence,
        .stepped = tells_partial(job) ? tell_step : NULL,
        .user = share,
    };
    if (ferry_generate(&translator->generators[share->worker], &queue, &error) != FERRY_OK) ferry_job_stop(job, &error);
}
