#include "jobs.h"

#include "base/pool.h"

job *new_job(const ferry_generation *generation, int32_t count)
{
    job *j = kept_memory(sizeof *j);
    assert_in_range(count, 1, JOB_SENTENCES);
    j->generation = generation;
    j->count = count;
    for (int32_t s = 0; s < count; s++) {
        j->sentences[s].options = generation->decoding.options;
        j->sentences[s].options.search = &generation->decoding.search;
    }
    return j;
}

static bool next_sentence(void *user, int32_t priority, ferry_generate_sentence *sentence)
{
    (void)priority;
    job *j = user;
    if (j->next == j->last) return false;
    job_sentence *s = &j->sentences[j->next++];
    *sentence = (ferry_generate_sentence){
        .ids = s->ids,
        .length = s->length,
        .rules = {.options = s->options,
                  .eos_ids = j->generation->eos_ids,
                  .eos_count = j->generation->eos_count,
                  .start_id = j->generation->start_id},
        .stop = &j->stop,
        .tag = s,
    };
    if (j->next == j->stop_at_taken) ferry_stop_now(&j->stop);
    return true;
}

static void give_back(void *user, void *tag)
{
    job *j = user;
    assert_ptr_equal(tag, &j->sentences[--j->next]);
}

static void keep(void *user, void *tag, const ferry_generate_finished *sentence)
{
    const ferry_search *search = sentence->search;
    job *j = user;
    job_sentence *s = tag;
    s->count = ferry_search_count(search);
    for (int32_t i = 0; i < s->count; i++) {
        const ferry_hypothesis from = ferry_search_hypothesis(search, i);
        const size_t length = (size_t)from.length;
        job_hypothesis *to = &s->found[i];
        to->length = from.length;
        to->score = from.score;
        memcpy(to->ids, from.ids, length * sizeof *from.ids);
        if (from.token_scores != NULL) memcpy(to->token_scores, from.token_scores, length * sizeof *to->token_scores);
    }
    if (++j->finished == j->stop_at_finished) ferry_stop_now(&j->stop);
}

static void refuse(void *user, void *tag, const ferry_error *why)
{
    job *j = user;
    (void)tag;
    j->last = j->next;
    j->error = *why;
}

typedef struct call {
    ferry_generator *generator;
    ferry_generate_source source;
} call;

static void generate_item(void *user, int32_t worker, size_t item)
{
    (void)worker;
    (void)item;
    const call *c = user;
    ferry_generate(c->generator, &c->source);
}

static call call_of(ferry_generator *generator, job *j, int32_t first, int32_t last, int32_t width, int32_t positions)
{
    call c = {.generator = generator};
    c.source = (ferry_generate_source){
        .shortlist = j->generation->shortlist.offsets != NULL ? &j->generation->shortlist : NULL,
        .bound = j->bound,
        .width = width,
        .positions = positions,
        .next = next_sentence,
        .give_back = give_back,
        .finished = keep,
        .failed = refuse,
        .user = j,
    };
    for (int32_t s = 0; s < j->count; s++) {
        const ferry_options *options = &j->sentences[s].options;
        if (options->beam > c.source.beam) c.source.beam = options->beam;
        if (options->max_length > c.source.max_length) c.source.max_length = options->max_length;
    }
    assert_in_range(c.source.beam, 1, JOB_BEAM);
    assert_in_range(c.source.max_length, 1, JOB_LONGEST);
    j->next = first;
    j->last = last;
    j->finished = 0;
    j->error.status = FERRY_OK;
    for (int32_t s = first; s < last; s++) memset(j->sentences[s].found, 0, sizeof j->sentences[s].found);
    return c;
}

void generate_job(ferry_generator *generator, job *j, int32_t first, int32_t last, int32_t width, int32_t positions)
{
    call c = call_of(generator, j, first, last, width, positions);
    if (generator->state.context.pool != NULL)
        ferry_pool_run(generator->state.context.pool, generate_item, &c, 1);
    else
        generate_item(&c, 0, 0);
    if (j->error.status != FERRY_OK) fail_msg("%s", j->error.message);
    assert_int_equal(j->finished, last - first);
    assert_int_equal(generator->state.context.arena.used, 0);
}

ferry_status try_job(ferry_generator *generator, job *j, int32_t width, int32_t positions, ferry_error *error)
{
    const call c = call_of(generator, j, 0, j->count, width, positions);
    ferry_generate(generator, &c.source);
    if (error != NULL) *error = j->error;
    return j->error.status;
}
