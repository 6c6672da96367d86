/* Given translations as the decoder's inputs. */
#include "engine/ferry_inspect.h"

#include <stdlib.h>
#include <string.h>

#include "engine/api/argument_checks.h"
#include "engine/api/model.h"

/* The tag that begins a translation; -1: none. */
static ferry_status find_tag(const ferry_model *model, int32_t *tag, ferry_error *error)
{
    const int32_t forced = model->file.generation.decoding.search.forced_first_id;
    ferry_language_pair pair;
    FERRY_TRY(ferry_languages_find(&model->languages, NULL, NULL, &pair, error));
    FERRY_TRY(ferry_languages_check(&model->languages, pair, forced, error));
    *tag = forced >= 0 ? forced : ferry_languages_first_id(&model->languages, pair);
    return FERRY_OK;
}

/* What is before the text's own ids. */
typedef struct opening {
    int32_t ids[2], count;
} opening;

static ferry_status append(const ferry_tokenizer *tokenizer, const opening *lead, ferry_text text, ferry_ids *one,
                           ferry_ids *all, ferry_error *error)
{
    FERRY_TRY(ferry_tokenizer_encode_target(tokenizer, (ferry_view){text.data, text.size}, one, NULL, error));
    const size_t count = (size_t)lead->count + one->count;
    if (count > INT32_MAX - all->count)
        return ferry_fail(error, FERRY_ERROR_LIMIT, "more than %d target ids", INT32_MAX);
    int32_t *grown = ferry_array_grow(all->ids, &all->capacity, all->count + count, sizeof *grown);
    if (grown == NULL) return ferry_fail_memory(error, "target ids", (all->count + count) * sizeof *grown);
    all->ids = grown;
    memcpy(grown + all->count, lead->ids, (size_t)lead->count * sizeof *grown);
    if (one->count > 0) memcpy(grown + all->count + lead->count, one->ids, one->count * sizeof *grown);
    all->count += count;
    return FERRY_OK;
}

static ferry_status tokenize(const ferry_tokenizer *tokenizer, const opening *lead, const ferry_text *texts,
                             int32_t count, ferry_ids *all, int32_t *offsets, ferry_error *error)
{
    ferry_ids one = {0};
    ferry_status status = FERRY_OK;
    for (int32_t i = 0; status == FERRY_OK && i < count; i++) {
        status = append(tokenizer, lead, texts[i], &one, all, error);
        offsets[i + 1] = (int32_t)all->count;
    }
    free(one.ids);
    return status;
}

ferry_status ferry_inspect_targets(const ferry_model *model, const ferry_text *texts, int32_t count, int32_t **ids,
                                   int32_t **offsets, int32_t *lead, ferry_error *error)
{
    FERRY_NEEDS(ids);
    *ids = NULL;
    FERRY_NEEDS(offsets);
    *offsets = NULL;
    FERRY_NEEDS(lead);
    FERRY_NEEDS(model);
    FERRY_TRY(ferry_check_range("count", count, 0, INT32_MAX - 1, error));
    FERRY_TRY(ferry_check_texts("texts", texts, (size_t)count, error));
    opening before = {{model->file.generation.start_id, -1}, 1};
    ferry_ids all = {0};
    if (model->tokenizer == NULL) return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "the model has no tokenizer");
    ferry_status status = find_tag(model, &before.ids[1], error);
    before.count = *lead = before.ids[1] >= 0 ? 2 : 1;
    int32_t *starts = calloc((size_t)count + 1, sizeof *starts);
    if (status == FERRY_OK && starts == NULL)
        status = ferry_fail_memory(error, "target ids", ((size_t)count + 1) * sizeof *starts);
    if (status == FERRY_OK) status = tokenize(model->tokenizer, &before, texts, count, &all, starts, error);
    if (status != FERRY_OK) {
        free(all.ids);
        free(starts);
        return status;
    }
    *ids = all.ids;
    *offsets = starts;
    return FERRY_OK;
}
