#include "model_file.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL /* the header alone, without its library */
#include <xxhash.h>

#include "base/system.h"
#include "base/utf8.h"
#include "bind.h"
#include "engine/kernels/linear.h"

/* ---- the content hash ---- */

struct ferry_content_hash {
    XXH3_state_t state;
};

_Static_assert(sizeof FERRY_HASH_ZEROS - 1 == FERRY_HASH_DIGITS && 2 * sizeof(XXH128_canonical_t) == FERRY_HASH_DIGITS,
               "two digits for each byte");

ferry_content_hash *ferry_content_hash_create(void)
{
    ferry_content_hash *hash = ferry_aligned_alloc(_Alignof(ferry_content_hash), sizeof *hash);
    if (hash != NULL) XXH3_128bits_reset(&hash->state);
    return hash;
}

void ferry_content_hash_destroy(ferry_content_hash *hash)
{
    ferry_aligned_free(hash);
}

void ferry_content_hash_add(ferry_content_hash *hash, const void *data, size_t size)
{
    if (size > 0) XXH3_128bits_update(&hash->state, data, size);
}

void ferry_content_hash_digits(const ferry_content_hash *hash, char digits[FERRY_HASH_DIGITS])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&hash->state));
    ferry_hex_digits(canonical.digest, sizeof canonical.digest, digits);
}

/* ---- what the file is ---- */

static ferry_status check_kind(const ferry_gguf *gguf, ferry_error *error)
{
    ferry_view architecture;
    const ferry_string_table *features;
    size_t count;
    int64_t format;
    FERRY_TRY(ferry_gguf_get_text(gguf, "general.architecture", &architecture, error));
    if (!ferry_view_is(architecture, "ferry")) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: general.architecture: expected 'ferry', found '%s'",
                          gguf->file, ferry_printable_view(architecture).text);
    }
    FERRY_TRY(ferry_gguf_get_integer(gguf, "ferry.format", 1, INT32_MAX, &format, error));
    if (format != FERRY_FILE_FORMAT) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: ferry.format: expected %d, found %d", gguf->file,
                          FERRY_FILE_FORMAT, (int)format);
    }
    FERRY_TRY(ferry_gguf_get_texts(gguf, "ferry.features", &features, &count, error));
    for (size_t i = 0; i < count; i++) {
        const ferry_view feature = ferry_string_table_at(features, i);
        if (!ferry_schema_knows_feature(feature)) {
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                              "%s: key 'ferry.features': '%s' is not supported by this build", gguf->file,
                              ferry_printable_view(feature).text);
        }
    }
    return FERRY_OK;
}

/* ---- tokenizer, languages, origin ---- */

static ferry_status read_tokenizer(ferry_model_file *file, const ferry_schema_values *values, ferry_error *error)
{
    const ferry_gguf *gguf = &file->gguf;
    ferry_tokenizer_config *text = &file->text;
    FERRY_TRY(ferry_read_keys(gguf, FERRY_KEYS_TOKENIZER_KIND, values, &file->arena, error));
    if (text->kind == FERRY_TOKENIZER_NONE) return FERRY_OK;
    text->source_count = file->transformer.encoder.vocab_size;
    text->target_count = file->transformer.decoder.vocab_size;
    FERRY_TRY(ferry_read_keys(gguf, FERRY_KEYS_TOKENIZER, values, &file->arena, error));
    if (text->kind == FERRY_TOKENIZER_SENTENCEPIECE && text->source_model.size == 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key 'ferry.tokenizer.source.model' is empty", gguf->file);
    if (text->target_model.data == NULL) text->target_model = text->source_model;
    if (text->kind >= FERRY_TOKENIZER_BPE && ferry_gguf_find(gguf, "ferry.tokenizer.target.merges") == NULL) {
        text->target_merges = text->source_merges;
        text->target_merge_count = text->source_merge_count;
    }
    if (text->target_pieces == NULL && text->source_count != text->target_count)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key 'ferry.tokenizer.target.pieces' is missing", gguf->file);
    if (text->target_pieces == NULL) text->target_pieces = text->source_pieces;
    text->present = true;
    return FERRY_OK;
}

static ferry_status read_languages(ferry_model_file *file, const ferry_schema_values *values, ferry_error *error)
{
    const ferry_gguf *gguf = &file->gguf;
    ferry_model_languages *languages = &file->languages;
    if (!file->text.present || ferry_gguf_find(gguf, "ferry.languages.names") == NULL) return FERRY_OK;
    FERRY_TRY(ferry_read_keys(gguf, FERRY_KEYS_LANGUAGES, values, &file->arena, error));
    if (languages->source_tag == FERRY_TAG_FIRST)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: key 'ferry.languages.source_tag': only a target's tag can be the first target token",
                          gguf->file);
    const struct {
        const char *key;
        int32_t index, role;
    } defaults[] = {{"default_source", languages->default_source, FERRY_LANGUAGE_SOURCE},
                    {"default_target", languages->default_target, FERRY_LANGUAGE_TARGET}};
    for (int i = 0; i < 2; i++)
        if (defaults[i].index >= 0 && (languages->roles[defaults[i].index] & defaults[i].role) == 0)
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: key 'ferry.languages.%s': language %d does not have this role", gguf->file,
                              defaults[i].key, (int)defaults[i].index);
    return FERRY_OK;
}

/* The digits of a hash. */
static ferry_status check_digits(const ferry_gguf *gguf, const char *key, ferry_view text, size_t digits,
                                 ferry_error *error)
{
    size_t count = 0;
    while (count < text.size && ferry_hex_digit(text.data[count]) >= 0) count++;
    if (text.size == digits && count == digits) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %zu hexadecimal digits, found '%s'",
                      gguf->file, key, digits, ferry_printable_view(text).text);
}

static ferry_status read_origin(ferry_model_file *file, const ferry_schema_values *values, ferry_error *error)
{
    enum { SHA256_DIGITS = 64 };
    const ferry_gguf *gguf = &file->gguf;
    const ferry_model_origin *origin = &file->origin;
    if (ferry_gguf_find(gguf, "general.name") != NULL)
        FERRY_TRY(ferry_gguf_get_text(gguf, "general.name", &file->name, error));
    if (ferry_gguf_find(gguf, FERRY_HASH_KEY) != NULL) {
        FERRY_TRY(ferry_gguf_get_text(gguf, FERRY_HASH_KEY, &file->hash, error));
        FERRY_TRY(check_digits(gguf, FERRY_HASH_KEY, file->hash, FERRY_HASH_DIGITS, error));
    }
    FERRY_TRY(ferry_read_keys(gguf, FERRY_KEYS_ORIGIN, values, &file->arena, error));
    for (size_t i = 0; origin->hashes != NULL && i < origin->file_count; i++)
        FERRY_TRY(
            check_digits(gguf, "ferry.origin.hashes", ferry_string_table_at(origin->hashes, i), SHA256_DIGITS, error));
    return FERRY_OK;
}

/* ---- weights ---- */

enum { WIDEN_CHUNK = 1 << 19 }; /* elements between two releases of mapped pages */

ferry_status ferry_model_file_reserve(ferry_model_file *file, size_t bytes, ferry_error *error)
{
    file->widened = ferry_large_alloc(ferry_large_size(bytes));
    if (file->widened == NULL) return ferry_fail_memory(error, "the model's matrices", bytes, 1);
    file->widened_bytes = bytes;
    return FERRY_OK;
}

/* Twice the bytes of an f16 tensor in the file, which cannot overflow; 0 for others. */
static size_t widened_bytes(const ferry_stored_matrix *stored)
{
    return stored->tensor->type == FERRY_F16 ? ferry_round_up(2 * stored->tensor->bytes, FERRY_ARENA_ALIGNMENT) : 0;
}

void ferry_model_file_widen(const ferry_model_file *file, const ferry_kernels *kernels)
{
    static const double patience = 1e-3; /* a huge page takes 0.1 ms, or 2 to 80 ms if memory is fragmented */
    float *out = file->widened;
    ferry_large_touch(out, file->widened_bytes, patience);
    for (size_t i = 0; i < file->matrix_count; i++) {
        const ferry_tensor *tensor = file->matrices[i].tensor;
        const size_t bytes = widened_bytes(&file->matrices[i]);
        if (bytes == 0) continue;
        const uint16_t *halves = tensor->data;
        const size_t begin = (size_t)((const char *)tensor->data - file->gguf.bytes.data);
        const size_t count = tensor->bytes / sizeof *halves;
        for (size_t done = 0, chunk; done < count; done += chunk) {
            chunk = count - done < WIDEN_CHUNK ? count - done : WIDEN_CHUNK;
            kernels->widen_f16(out + done, halves + done, chunk);
            /* Releases mapped pages after each chunk, so that a matrix is not resident twice. */
            ferry_mapped_file_release(&file->map, begin, (done + chunk) * sizeof *halves);
        }
        out += bytes / sizeof *out;
    }
}

ferry_status ferry_model_file_read(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                   ferry_model_file *file, ferry_error *error)
{
    *file = (ferry_model_file){.map = map};
    ferry_status status = ferry_gguf_open(map.bytes, name, &file->gguf, error);
    const ferry_schema_values values = {
        .transformer = &file->transformer,
        .generation = &file->generation,
        .text = &file->text,
        .languages = &file->languages,
        .origin = &file->origin,
        .shortlist = status == FERRY_OK && ferry_gguf_find(&file->gguf, "ferry.shortlist.first") != NULL,
    };
    ferry_schema_defaults(&values);
    if (status == FERRY_OK) status = check_kind(&file->gguf, error);
    ferry_binder binder = {.gguf = &file->gguf, .values = &values, .kernels = kernels, .arena = &file->arena};
    if (status == FERRY_OK) status = ferry_model_bind(&binder, error);
    file->parameters = binder.parameters;
    file->type = binder.type;
    file->matrices = binder.matrices;
    file->matrix_count = binder.matrix_count;
    if (status == FERRY_OK) status = read_tokenizer(file, &values, error);
    if (status == FERRY_OK) status = read_languages(file, &values, error);
    if (status == FERRY_OK) status = read_origin(file, &values, error);
    if (status != FERRY_OK) ferry_model_file_close(file);
    return status;
}

ferry_status ferry_model_file_open(ferry_mapped_file map, const char *name, const ferry_kernels *kernels,
                                   ferry_model_file *file, ferry_error *error)
{
    size_t bytes = 0;
    FERRY_TRY(ferry_model_file_read(map, name, kernels, file, error));
    for (size_t i = 0; i < file->matrix_count; i++) bytes += widened_bytes(&file->matrices[i]);
    if (bytes > 0 && ferry_model_file_reserve(file, bytes, error) != FERRY_OK) {
        ferry_model_file_close(file);
        return FERRY_ERROR_MEMORY;
    }
    ferry_transformer *model = &file->transformer;
    const float *next = file->widened, *bias = model->output.bias;
    for (size_t i = 0; bytes > 0 && i < file->matrix_count; i++) {
        const size_t widened = widened_bytes(&file->matrices[i]);
        if (widened > 0) file->matrices[i].matrix->panels = next;
        next += widened / sizeof *next;
    }
    /* All matrices have memory now: tied matrices get their second use. */
    if (model->encoder.embedding.N == 0) model->encoder.embedding = model->decoder.embedding;
    if (model->output.N == 0) model->output = model->decoder.embedding;
    model->output.bias = bias;
    return FERRY_OK;
}

ferry_status ferry_model_file_verify(const ferry_model_file *file, ferry_error *error)
{
    const ferry_view bytes = file->map.bytes, found = file->hash;
    char digits[FERRY_HASH_DIGITS];
    if (found.size == 0)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: carries no content hash (key '" FERRY_HASH_KEY "')",
                          file->gguf.file != NULL ? file->gguf.file : "an untrained model");
    ferry_content_hash *hash = ferry_content_hash_create();
    if (hash == NULL) return ferry_fail_memory(error, "a content hash", 1, sizeof digits);
    const size_t before = (size_t)(found.data - bytes.data), after = before + found.size;
    ferry_content_hash_add(hash, bytes.data, before);
    ferry_content_hash_add(hash, FERRY_HASH_ZEROS, FERRY_HASH_DIGITS);
    ferry_content_hash_add(hash, bytes.data + after, bytes.size - after);
    ferry_content_hash_digits(hash, digits);
    ferry_content_hash_destroy(hash);
    if (memcmp(digits, found.data, sizeof digits) != 0)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: damaged: its content hash is %.*s, expected %.*s",
                          file->gguf.file, (int)FERRY_HASH_DIGITS, digits, (int)FERRY_HASH_DIGITS, found.data);
    for (size_t i = 0; i < file->matrix_count; i++) {
        const ferry_stored_matrix *stored = &file->matrices[i];
        if (stored->matrix->kind == FERRY_MATRIX_STEPS && !ferry_steps_fit(stored->matrix))
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "%s: tensor '%s': expected codes from -127 to 127, found others", file->gguf.file,
                              ferry_printable_view(stored->tensor->name).text);
    }
    return FERRY_OK;
}

void ferry_model_file_close(ferry_model_file *file)
{
    ferry_position_unbind(&file->transformer.encoder.position);
    ferry_position_unbind(&file->transformer.decoder.position);
    ferry_aligned_free(file->widened);
    free(file->matrices);
    ferry_arena_destroy(&file->arena);
    ferry_gguf_close(&file->gguf);
    ferry_mapped_file_close(&file->map);
    memset(file, 0, sizeof *file);
}
