/* Models of Marian: OPUS-MT archives, Bergamot's and Firefox's students, plain .npz and .bin files with their
 * vocabularies. */
#include "marian.h"

bool ferry_marian_since(const ferry_marian *marian, int32_t major, int32_t minor, int32_t patch)
{
    const int32_t wanted[] = {major, minor, patch};
    for (int i = 0; i < 3; i++)
        if (marian->version[i] != wanted[i]) return marian->version[i] > wanted[i];
    return true;
}

bool ferry_import_is_marian(const ferry_import_plan *plan, ferry_json config)
{
    const char *selected = ferry_import_source_selected(plan->source);
    (void)config;
    if (selected != NULL) return ferry_import_is_marian_weights(plan, selected);
    if (ferry_import_has_file(plan, "decoder.yml")) return true;
    for (size_t i = 0; i < ferry_import_source_count(plan->source); i++)
        if (ferry_import_is_marian_weights(plan, ferry_import_source_name(plan->source, i))) return true;
    return false;
}

static bool has_codes(const ferry_import_plan *plan)
{
    for (size_t i = 0; i < plan->weights.count; i++)
        if (plan->weights.entries[i].multiplier != 0) return true;
    return false;
}

static ferry_status read_weights(ferry_import_plan *plan, const char *name, ferry_error *error)
{
    ferry_view bytes;
    FERRY_TRY(ferry_import_map(plan, name, &bytes, error));
    return ferry_import_read_weights(plan, name, ferry_is_zip(bytes) ? ferry_npz_read : ferry_marian_bin_read, error);
}

ferry_status ferry_import_marian(ferry_import_plan *plan, ferry_json config, ferry_error *error)
{
    ferry_marian marian = {.weights = NULL};
    (void)config;
    FERRY_TRY(ferry_marian_find_files(plan, &marian, error));
    FERRY_TRY(read_weights(plan, marian.weights, error));
    marian.student = json_object_size(marian.decoder.object) == 0 && (has_codes(plan) || marian.lexicon != NULL);
    plan->kind = marian.student ? "bergamot" : marian.segmenters[0] != NULL ? "opus-mt" : "marian";
    FERRY_TRY(ferry_marian_config(plan, &marian, error));
    FERRY_TRY(ferry_marian_decoding(plan, &marian, error));
    FERRY_TRY(ferry_marian_tensors(plan, &marian, error));
    return ferry_marian_text(plan, &marian, error);
}
