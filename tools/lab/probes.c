#include "probes.h"

#include <math.h>
#include <stdlib.h>

#include "base/status.h"
#include "probe_attention.h"
#include "probe_changes.h"
#include "probe_output.h"
#include "probe_position.h"
#include "probe_similarity.h"

static const double shift_factors[FERRY_PROBE_SHIFTS] = {0.25, 0.5, 1, 2, 3};

double ferry_probe_shift_factor(int32_t shift)
{
    return shift_factors[shift];
}

/* ---- changes of the input ---- */

/* Means of the sums of sentences, `which` of them by bucket (-1: all). */
static ferry_probe_change summarize(const ferry_probe_sentences *sentences, const ferry_output_sums *sums,
                                    int32_t count, int32_t bucket)
{
    ferry_output_sums all = {0};
    int32_t used = 0;
    for (int32_t i = 0; i < count; i++) {
        if (bucket >= 0 && sentences->pairs[i].bucket != bucket) continue;
        all.tokens += sums[i].tokens;
        all.nll += sums[i].nll;
        all.changed_nll += sums[i].changed_nll;
        all.divergence += sums[i].divergence;
        used++;
    }
    return (ferry_probe_change){
        .sentences = used,
        .nll = all.nll / all.tokens,
        .changed_nll = all.changed_nll / all.tokens,
        .divergence = all.divergence / all.tokens,
    };
}

/* Sums of each sentence, which the caller frees. */
static ferry_status compare(const ferry_probe_sentences *sentences, const ferry_probe_batch *before,
                            const ferry_probe_batch *after, ferry_output_sums **sums, ferry_error *error)
{
    *sums = calloc((size_t)before->count + 1, sizeof **sums);
    if (*sums == NULL) return ferry_fail_memory(error, "sums", (size_t)before->count * sizeof **sums);
    return ferry_probe_output(sentences, before, after, *sums, error);
}

static ferry_status probe_shift(const ferry_probe_sentences *sentences, int32_t shift, ferry_probes *probes,
                                ferry_error *error)
{
    ferry_probe_batch before = {0}, after = {0};
    ferry_output_sums *sums = NULL;
    double mean;
    const int32_t length = (int32_t)(shift_factors[shift] * sentences->trained_length);
    ferry_status status = ferry_probe_shift(sentences, length, &before, &after, &mean, error);
    for (int stack = 0; status == FERRY_OK && stack < FERRY_PROBE_SIDES; stack++)
        status = ferry_probe_similarity(sentences, &before, &after, (ferry_inspect_stack)stack,
                                        probes->stacks[stack].similarity + shift, FERRY_PROBE_SHIFTS, error);
    if (status == FERRY_OK) status = compare(sentences, &before, &after, &sums, error);
    if (status == FERRY_OK) {
        probes->shifted[shift] = summarize(sentences, sums, before.count, -1);
        probes->shifted[shift].shift = mean;
    }
    free(sums);
    ferry_probe_batch_destroy(&before);
    ferry_probe_batch_destroy(&after);
    return status;
}

static ferry_status probe_shuffle(const ferry_probe_sentences *sentences, const ferry_probe_batch *all,
                                  ferry_probes *probes, ferry_error *error)
{
    ferry_probe_batch after = {0};
    ferry_output_sums *sums = NULL;
    ferry_status status = ferry_probe_shuffle(sentences, &after, error);
    if (status == FERRY_OK) status = compare(sentences, all, &after, &sums, error);
    for (int32_t b = 0; status == FERRY_OK && b < sentences->bucket_count; b++)
        probes->shuffled[b] = summarize(sentences, sums, all->count, b);
    free(sums);
    ferry_probe_batch_destroy(&after);
    return status;
}

/* ---- all of it ---- */

static ferry_status take_arrays(const ferry_probe_sentences *sentences, ferry_probes *probes, ferry_error *error)
{
    bool failed = false;
    for (int stack = 0; stack < FERRY_PROBE_SIDES; stack++) {
        const size_t states = (size_t)sentences->layers[stack] + 1;
        ferry_probe_stack *found = &probes->stacks[stack];
        found->layers = sentences->layers[stack];
        found->positions = ferry_arena_take(&probes->memory, states, sizeof *found->positions, &failed);
        found->similarity =
            ferry_arena_take(&probes->memory, states * FERRY_PROBE_SHIFTS, sizeof *found->similarity, &failed);
    }
    const size_t buckets = (size_t)sentences->bucket_count;
    probes->shuffled = ferry_arena_take(&probes->memory, buckets, sizeof *probes->shuffled, &failed);
    return failed ? ferry_fail_memory(error, "probes", buckets * sizeof *probes->shuffled) : FERRY_OK;
}

static ferry_status run_probes(const ferry_probe_sentences *sentences, const ferry_probe_batch *all,
                               ferry_probes *probes, ferry_error *error)
{
    FERRY_TRY(take_arrays(sentences, probes, error));
    for (int stack = 0; stack < FERRY_PROBE_SIDES; stack++)
        FERRY_TRY(
            ferry_probe_positions(sentences, all, (ferry_inspect_stack)stack, probes->stacks[stack].positions, error));
    for (int kind = 0; kind < 3; kind++) {
        const ferry_status status = ferry_probe_attention(sentences, all, (ferry_inspect_attention_kind)kind,
                                                          &probes->memory, &probes->attention[kind], error);
        if (status != FERRY_OK && status != FERRY_ERROR_UNSUPPORTED) return status;
    }
    for (int32_t shift = 0; shift < FERRY_PROBE_SHIFTS; shift++)
        FERRY_TRY(probe_shift(sentences, shift, probes, error));
    return probe_shuffle(sentences, all, probes, error);
}

ferry_status ferry_probe_model(const ferry_model *model, const ferry_probe_text *text, ferry_probes *probes,
                               ferry_error *error)
{
    ferry_probe_sentences sentences;
    ferry_probe_batch all = {0};
    *probes = (ferry_probes){.trained_length = text->trained_length, .bucket_count = text->bucket_count};
    ferry_status status = ferry_probe_sentences_take(model, text, &probes->memory, &sentences, error);
    if (status == FERRY_OK) status = ferry_probe_batch_add_all(&all, &sentences, error);
    if (status == FERRY_OK && all.count == 0)
        status = ferry_fail(error, FERRY_ERROR_LIMIT, "probes: none of %d sentences fits into the model's positions",
                            (int)text->count);
    probes->used = sentences.count;
    probes->skipped = sentences.skipped;
    if (status == FERRY_OK) status = run_probes(&sentences, &all, probes, error);
    if (status != FERRY_OK) ferry_probes_destroy(probes);
    ferry_probe_batch_destroy(&all);
    return status;
}

void ferry_probes_destroy(ferry_probes *probes)
{
    ferry_arena_destroy(&probes->memory);
    *probes = (ferry_probes){0};
}
