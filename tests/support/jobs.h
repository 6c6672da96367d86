/* Sentences of ids for a generator (engine/search/generate.h), and what becomes of them. Failures are cmocka's. */
#ifndef FERRY_SUPPORT_JOBS_H
#define FERRY_SUPPORT_JOBS_H

#include "support.h"

#include <stdatomic.h>

#include "engine/search/decoding.h"
#include "engine/search/generate.h"

enum { JOB_SENTENCES = 60, JOB_LONGEST = 40, JOB_BEAM = 3 };

typedef struct job_hypothesis {
    int32_t length;
    int32_t ids[JOB_LONGEST];
    float score; /* 0 without scores */
    float token_scores[JOB_LONGEST];
} job_hypothesis;

typedef struct job_sentence {
    int32_t ids[JOB_LONGEST], length;
    ferry_options options;
    int32_t count; /* of hypotheses */
    job_hypothesis found[JOB_BEAM];
} job_sentence;

typedef struct job {
    const ferry_generation *generation;
    const ferry_logit_bound *bound; /* or NULL */
    job_sentence sentences[JOB_SENTENCES];
    int32_t count, next, last, finished;
    int32_t stop_at_taken, stop_at_finished; /* the so many-th sentence sets `stop`; 0: none does */
    ferry_stop stop;
    ferry_error error; /* of the last sentence that failed */
} job;

/* `count` sentences without ids, their options the model's; kept. */
job *new_job(const ferry_generation *generation, int32_t count);
/* Sentences first … last - 1, `width` at a time, with about `positions` of keys and values; on the generator's pool, if
 * it has one. */
void generate_job(ferry_generator *generator, job *j, int32_t first, int32_t last, int32_t width, int32_t positions);

/* All of them on this thread; the job's `stop` cancels. */
ferry_status try_job(ferry_generator *generator, job *j, int32_t width, int32_t positions, ferry_error *error);

#endif
