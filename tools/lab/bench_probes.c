#include "bench_probes.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* The pairs of the text as ids. */
typedef struct pairs {
    ferry_arena arena;
    int32_t *ids[2], *offsets[2]; /* of sources and references */
    int8_t *buckets;
} pairs;

static ferry_status out_of_memory(ferry_error *error, size_t count)
{
    return ferry_fail_memory(error, "ids of the text", count * sizeof(int32_t));
}

/* Joins the sources' ids, each of which is an allocation. */
static ferry_status take_sources(pairs *p, const ferry_model *model, const ferry_compared_text *text,
                                 ferry_error *error)
{
    size_t used = 0, capacity = 0;
    for (size_t i = 0; i < text->count; i++) {
        int32_t *ids;
        size_t count;
        FERRY_TRY(ferry_inspect_tokenize(model, text->sources[i], NULL, NULL, &ids, &count, error));
        if (used + count > capacity) {
            capacity = 2 * (used + count);
            int32_t *larger = realloc(p->ids[0], capacity * sizeof *larger);
            if (larger == NULL) {
                ferry_inspect_free(ids);
                return out_of_memory(error, capacity);
            }
            p->ids[0] = larger;
        }
        memcpy(p->ids[0] + used, ids, count * sizeof *ids);
        ferry_inspect_free(ids);
        used += count;
        p->offsets[0][i + 1] = (int32_t)used;
    }
    return FERRY_OK;
}

/* The references' ids without what comes before them. */
static ferry_status take_references(pairs *p, const ferry_model *model, const ferry_compared_text *text,
                                    ferry_error *error)
{
    int32_t *ids, *offsets, lead;
    FERRY_TRY(ferry_inspect_targets(model, text->references, (int32_t)text->count, &ids, &offsets, &lead, error));
    bool failed = false;
    p->ids[1] = ferry_arena_take(&p->arena, (size_t)offsets[text->count] + 1, sizeof(int32_t), &failed);
    for (size_t i = 0; !failed && i < text->count; i++) {
        const int32_t count = offsets[i + 1] - offsets[i] - lead;
        memcpy(p->ids[1] + p->offsets[1][i], ids + offsets[i] + lead, (size_t)count * sizeof *ids);
        p->offsets[1][i + 1] = p->offsets[1][i] + count;
    }
    ferry_inspect_free(ids);
    ferry_inspect_free(offsets);
    return failed ? out_of_memory(error, text->count) : FERRY_OK;
}

static ferry_status take_pairs(pairs *p, const ferry_model *model, const ferry_compared_text *text, ferry_error *error)
{
    bool failed = false;
    p->offsets[0] = ferry_arena_take(&p->arena, text->count + 1, sizeof(int32_t), &failed);
    p->offsets[1] = ferry_arena_take(&p->arena, text->count + 1, sizeof(int32_t), &failed);
    p->buckets = ferry_arena_take(&p->arena, text->count + 1, sizeof *p->buckets, &failed);
    if (failed) return out_of_memory(error, text->count);
    p->offsets[0][0] = p->offsets[1][0] = 0;
    for (size_t i = 0; i < text->count; i++) p->buckets[i] = (int8_t)text->buckets[i];
    FERRY_TRY(take_sources(p, model, text, error));
    return take_references(p, model, text, error);
}

ferry_status ferry_measure_probes(ferry_comparison *comparison, size_t index, const ferry_model *model,
                                  ferry_error *error)
{
    const ferry_compared_text *text = &comparison->text;
    bool failed = false;
    pairs p = {0};
    if (text->trained_pieces == 0) return FERRY_OK;
    ferry_probes *probes = ferry_arena_take(&comparison->arena, 1, sizeof *probes, &failed);
    ferry_status status = failed ? out_of_memory(error, 1) : take_pairs(&p, model, text, error);
    if (status == FERRY_OK) {
        const ferry_probe_text ids = {.source_ids = p.ids[0],
                                      .source_offsets = p.offsets[0],
                                      .target_ids = p.ids[1],
                                      .target_offsets = p.offsets[1],
                                      .count = (int32_t)text->count,
                                      .buckets = p.buckets,
                                      .bucket_count = FERRY_BUCKETS,
                                      .trained_length = text->trained_pieces};
        status = ferry_probe_model(model, &ids, probes, error);
        if (status == FERRY_OK)
            comparison->models[index].probes = probes;
        else
            ferry_probes_destroy(probes);
    }
    free(p.ids[0]);
    ferry_arena_destroy(&p.arena);
    return status == FERRY_ERROR_LIMIT ? FERRY_OK : status;
}
