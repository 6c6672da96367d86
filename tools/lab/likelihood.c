#include "likelihood.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/pool.h"

typedef struct job {
    const ferry_model *model;
    const int32_t *ids, *offsets, *target_ids, *target_offsets;
    double *nats;
    bool *unscored;
    atomic_int status;
    ferry_error error; /* the first failure's */
} job;

/* -log softmax(logits)[id] */
static double nats_of(const float *logits, size_t V, int32_t id)
{
    float greatest = -INFINITY;
    double sum = 0;
    for (size_t v = 0; v < V; v++)
        if (logits[v] > greatest) greatest = logits[v];
    for (size_t v = 0; v < V; v++) sum += (double)expf(logits[v] - greatest);
    return log(sum) + (double)(greatest - logits[id]);
}

static ferry_status score(const job *j, size_t s, float *logits, ferry_error *error)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(j->model);
    const int32_t *target = j->target_ids + j->target_offsets[s], offsets[] = {0, j->offsets[s + 1] - j->offsets[s]},
                  target_offsets[] = {0, j->target_offsets[s + 1] - j->target_offsets[s]};
    double *nats = j->nats + j->target_offsets[s];
    FERRY_TRY(ferry_inspect_logits(j->model, j->ids + j->offsets[s], offsets, 1, target, target_offsets,
                                   FERRY_INSPECT_ONE_PASS, logits, error));
    for (int32_t i = 0; i < target_offsets[1]; i++)
        nats[i] = nats_of(logits + (size_t)i * (size_t)sizes.target_vocab, (size_t)sizes.target_vocab,
                          i + 1 < target_offsets[1] ? target[i + 1] : sizes.eos_id);
    return FERRY_OK;
}

static void score_item(void *user, int32_t worker, size_t s)
{
    (void)worker;
    job *j = user;
    ferry_error error;
    if (atomic_load(&j->status) != FERRY_OK) return;
    j->unscored[s] = j->offsets[s] == j->offsets[s + 1];
    if (j->unscored[s]) return;
    const size_t rows = (size_t)(j->target_offsets[s + 1] - j->target_offsets[s]);
    const size_t row = (size_t)ferry_inspect_get_sizes(j->model).target_vocab * sizeof(float);
    float *logits = calloc(rows, row);
    const ferry_status status =
        logits != NULL ? score(j, s, logits, &error) : ferry_fail_memory(&error, "logits", rows * row);
    free(logits);
    j->unscored[s] = status == FERRY_ERROR_LIMIT;
    int expected = FERRY_OK;
    if (status != FERRY_OK && !j->unscored[s] &&
        atomic_compare_exchange_strong(&j->status, &expected, (int)error.status))
        j->error = error;
}

ferry_status ferry_likelihoods(const ferry_model *model, const int32_t *ids, const int32_t *offsets,
                               const int32_t *target_ids, const int32_t *target_offsets, int32_t count, int32_t threads,
                               double *nats, bool *unscored, ferry_error *error)
{
    job j = {.model = model,
             .ids = ids,
             .offsets = offsets,
             .target_ids = target_ids,
             .target_offsets = target_offsets,
             .nats = nats,
             .unscored = unscored};
    ferry_pool *pool;
    FERRY_TRY(ferry_pool_create(threads, &pool, error));
    ferry_pool_run(pool, score_item, &j, (size_t)count);
    ferry_pool_destroy(pool);
    if (atomic_load(&j.status) != FERRY_OK && error != NULL) *error = j.error;
    return (ferry_status)atomic_load(&j.status);
}
