#include "probe_sentences.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

enum { SOURCE = FERRY_INSPECT_ENCODER, TARGET = FERRY_INSPECT_DECODER };

/* ---- the pairs ---- */

static ferry_status check_offsets(const char *what, const int32_t *offsets, int32_t count, int32_t least,
                                  ferry_error *error)
{
    if (offsets[0] != 0) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: expected offsets from 0", what);
    for (int32_t s = 0; s < count; s++)
        if (offsets[s + 1] - offsets[s] < least)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "%s: sentence %d has no ids", what, (int)s);
    return FERRY_OK;
}

bool ferry_probe_fits(const ferry_probe_sentences *sentences, const int32_t ids[FERRY_PROBE_SIDES])
{
    const ferry_inspect_sizes *sizes = &sentences->sizes;
    return (sizes->encoder_positions == 0 || ids[SOURCE] <= sizes->encoder_positions) &&
           (sizes->decoder_positions == 0 || ids[TARGET] <= sizes->decoder_positions);
}

static ferry_probe_pair make_pair(const ferry_probe_text *text, int32_t index, int32_t end)
{
    const int32_t *const ids[] = {text->source_ids, text->target_ids};
    const int32_t *const offsets[] = {text->source_offsets, text->target_offsets};
    ferry_probe_pair pair = {.bucket = text->buckets[index]};
    for (int side = 0; side < FERRY_PROBE_SIDES; side++) {
        const int32_t count = offsets[side][index + 1] - offsets[side][index];
        pair.ids[side] = ids[side] + offsets[side][index];
        pair.count[side] = count;
        pair.pieces[side] = count > 0 && pair.ids[side][count - 1] == end ? count - 1 : count;
    }
    return pair;
}

ferry_status ferry_probe_sentences_take(const ferry_model *model, const ferry_probe_text *text, ferry_arena *arena,
                                        ferry_probe_sentences *sentences, ferry_error *error)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    *sentences = (ferry_probe_sentences){
        .model = model,
        .sizes = sizes,
        .layers = {sizes.encoder_layers, sizes.decoder_layers},
        .trained_length = text->trained_length,
        .bucket_count = text->bucket_count,
    };
    FERRY_TRY(check_offsets("sources", text->source_offsets, text->count, 1, error));
    FERRY_TRY(check_offsets("references", text->target_offsets, text->count, 0, error));
    sentences->pairs = ferry_arena_alloc(arena, (size_t)text->count, sizeof *sentences->pairs);
    if (sentences->pairs == NULL)
        return ferry_fail_memory(error, "pairs", (size_t)text->count * sizeof *sentences->pairs);
    for (int32_t i = 0; i < text->count; i++) {
        const ferry_probe_pair pair = make_pair(text, i, sizes.eos_id);
        const int32_t ids[] = {pair.count[SOURCE], 1 + pair.pieces[TARGET]};
        if (pair.bucket >= text->bucket_count)
            return ferry_fail(error, FERRY_ERROR_ARGUMENT, "bucket of pair %d: expected less than %d, found %d", (int)i,
                              (int)text->bucket_count, (int)pair.bucket);
        if (ferry_probe_fits(sentences, ids))
            sentences->pairs[sentences->count++] = pair;
        else
            sentences->skipped++;
    }
    return FERRY_OK;
}

/* ---- batches ---- */

static bool append_ids(ferry_probe_batch *batch, int side, const int32_t *ids, int32_t count)
{
    const size_t used = (size_t)batch->offsets[side][batch->count + 1], added = (size_t)count;
    int32_t *grown = ferry_array_grow(batch->ids[side], &batch->id_capacity[side], used + added, sizeof *grown);
    if (grown == NULL) return false;
    batch->ids[side] = grown;
    if (added > 0) memcpy(grown + used, ids, added * sizeof *grown);
    batch->offsets[side][batch->count + 1] += count;
    return true;
}

/* An empty sentence after the others. */
static bool append_sentence(ferry_probe_batch *batch)
{
    const size_t next = (size_t)batch->count + 1;
    for (int side = 0; side < FERRY_PROBE_SIDES; side++) {
        int32_t *grown = ferry_array_grow(batch->offsets[side], &batch->offset_capacity[side], next + 1, sizeof *grown);
        if (grown == NULL) return false;
        batch->offsets[side] = grown;
        grown[0] = 0;
        grown[next] = grown[next - 1];
    }
    return true;
}

ferry_status ferry_probe_batch_add(ferry_probe_batch *batch, const ferry_probe_sentences *sentences,
                                   const ferry_probe_pair *const *front, int32_t fronts, const ferry_probe_pair *pair,
                                   const int32_t *source, ferry_error *error)
{
    bool added = append_sentence(batch) && append_ids(batch, TARGET, &sentences->sizes.start_id, 1);
    for (int32_t f = 0; added && f < fronts; f++)
        added = append_ids(batch, SOURCE, front[f]->ids[SOURCE], front[f]->pieces[SOURCE]) &&
                append_ids(batch, TARGET, front[f]->ids[TARGET], front[f]->pieces[TARGET]);
    added = added && append_ids(batch, SOURCE, source, pair->count[SOURCE]) &&
            append_ids(batch, TARGET, pair->ids[TARGET], pair->pieces[TARGET]);
    if (!added) return ferry_fail_memory(error, "a batch of ids", batch->id_capacity[SOURCE] * sizeof(int32_t));
    batch->count++;
    return FERRY_OK;
}

ferry_status ferry_probe_batch_add_all(ferry_probe_batch *batch, const ferry_probe_sentences *sentences,
                                       ferry_error *error)
{
    for (int32_t i = 0; i < sentences->count; i++) {
        const ferry_probe_pair *pair = &sentences->pairs[i];
        FERRY_TRY(ferry_probe_batch_add(batch, sentences, NULL, 0, pair, pair->ids[SOURCE], error));
    }
    return FERRY_OK;
}

void ferry_probe_batch_destroy(ferry_probe_batch *batch)
{
    for (int side = 0; side < FERRY_PROBE_SIDES; side++) {
        free(batch->ids[side]);
        free(batch->offsets[side]);
    }
    *batch = (ferry_probe_batch){0};
}

ferry_status ferry_probe_states(const ferry_probe_sentences *sentences, const ferry_probe_batch *batch,
                                ferry_inspect_stack stack, float **states, ferry_error *error)
{
    const size_t rows = (size_t)batch->offsets[stack][batch->count], D = (size_t)sentences->sizes.d_model;
    size_t floats;
    *states = NULL;
    if (ferry_mul_size(rows * D, (size_t)sentences->layers[stack] + 1, &floats) && floats < SIZE_MAX / sizeof(float))
        *states = malloc(floats * sizeof(float));
    if (*states == NULL) return ferry_fail_memory(error, "hidden states", rows * D * sizeof(float));
    return ferry_inspect_hidden(sentences->model, stack, batch->ids[SOURCE], batch->offsets[SOURCE], batch->count,
                                batch->ids[TARGET], batch->offsets[TARGET], *states, error);
}
