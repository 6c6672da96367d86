#include "model_file.h"

#include <stdlib.h>
#include <string.h>

#include "bind.h"
#include "model_languages.h"
#include "base/printable.h"

enum {
    FORMAT = 1,
    WIDEN_CHUNK = 1 << 19 /* elements between two releases of mapped pages */
};

/* What this build can run; positions are the business of engine/position. */
static const char *const known_features[] = {
    "encoder-decoder",
    "panels16",
    "type:f32",
    "type:f16",
    "type:i8",
    "norm:layernorm",
    "norm:rms",
    "norm-position:post",
    "norm-position:pre",
    "final-norm:post",
    "final-norm:none",
    "embedding-norm",
    "activation:relu",
    "activation:gelu",
    "activation:gelu_tanh",
    "activation:gelu_sigmoid",
    "activation:swish",
    "ffn:gated",
    "decoder:attention",
    "decoder:ssru",
    "output-scale",
    "start:zero",
    "shortlist",
    "inputs:sentence",
    "policy:huggingface",
    "policy:marian",
    "policy:ctranslate2",
    "tokenizer:none",
    "tokenizer:pieces",
    "tokenizer:sentencepiece",
    "opus-punctuation",
    "languages",
};

static bool is_known_feature(ferry_view feature)
{
    static const char prefix[] = "position:";
    if (feature.size >= sizeof prefix - 1 && memcmp(feature.data, prefix, sizeof prefix - 1) == 0) return true;
    for (size_t i = 0; i < sizeof known_features / sizeof known_features[0]; i++) {
        if (ferry_view_equal(feature, ferry_text_view(known_features[i]))) return true;
    }
    return false;
}

static ferry_status check_kind(const ferry_gguf *gguf, ferry_error *error)
{
    ferry_view architecture;
    const ferry_view *features;
    size_t count;
    int32_t format;
    FERRY_TRY(ferry_gguf_get_text(gguf, "general.architecture", &architecture, error));
    if (!ferry_view_equal(architecture, ferry_text_view("ferry"))) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: general.architecture: expected 'ferry', found '%s'",
                          gguf->file, ferry_printable_view(architecture).text);
    }
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.format", 1, INT32_MAX, &format, error));
    if (format != FORMAT) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: ferry.format: expected %d, found %d", gguf->file, FORMAT,
                          (int)format);
    }
    FERRY_TRY(ferry_gguf_get_texts(gguf, "ferry.features", &features, &count, error));
    for (size_t i = 0; i < count; i++) {
        if (!is_known_feature(features[i])) {
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: feature '%s' is not supported by this build",
                              gguf->file, ferry_printable_view(features[i]).text);
        }
    }
    return FERRY_OK;
}

/* ---- texts ---- */

static ferry_status read_pieces(const ferry_gguf *gguf, const char *key, int32_t expected, const ferry_view **pieces,
                                int32_t *count, ferry_error *error)
{
    size_t found = 0;
    FERRY_TRY(ferry_gguf_get_texts(gguf, key, pieces, &found, error));
    if (found != (size_t)expected) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key '%s': expected %d pieces, found %zu", gguf->file, key,
                          (int)expected, found);
    }
    *count = expected;
    return FERRY_OK;
}

static ferry_status read_segmenters(const ferry_gguf *gguf, ferry_model_text *text, ferry_error *error)
{
    FERRY_TRY(ferry_gguf_get_bytes(gguf, "ferry.tokenizer.source.model", &text->source_model, error));
    if (text->source_model.size == 0) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: key 'ferry.tokenizer.source.model' is empty", gguf->file);
    }
    text->target_model = text->source_model;
    if (ferry_gguf_find(gguf, "ferry.tokenizer.target.model") == NULL) return FERRY_OK;
    return ferry_gguf_get_bytes(gguf, "ferry.tokenizer.target.model", &text->target_model, error);
}

static ferry_status read_tables(const ferry_gguf *gguf, const ferry_transformer *model, ferry_model_text *text,
                                ferry_error *error)
{
    FERRY_TRY(read_pieces(gguf, "ferry.tokenizer.source.pieces", model->encoder.vocab_size, &text->source_pieces,
                          &text->source_count, error));
    const char *pieces = "ferry.tokenizer.target.pieces";
    if (ferry_gguf_find(gguf, pieces) == NULL && model->encoder.vocab_size == model->decoder.vocab_size) {
        pieces = "ferry.tokenizer.source.pieces";
    }
    return read_pieces(gguf, pieces, model->decoder.vocab_size, &text->target_pieces, &text->target_count, error);
}

static ferry_status read_ids(ferry_model_file *file, ferry_error *error)
{
    const ferry_gguf *gguf = &file->gguf;
    ferry_model_text *text = &file->text;
    const int32_t last_source = text->source_count - 1, last_target = text->target_count - 1;
    FERRY_TRY(ferry_gguf_get_i32(gguf, "ferry.tokenizer.source.unk_id", 0, last_source, &text->source_unk_id, error));
    FERRY_TRY(ferry_gguf_get_i32s(gguf, "ferry.tokenizer.source.prefix_ids", 0, last_source, &file->arena,
                                  &text->prefix_ids, &text->prefix_count, error));
    FERRY_TRY(ferry_gguf_get_i32s(gguf, "ferry.tokenizer.source.suffix_ids", 0, last_source, &file->arena,
                                  &text->suffix_ids, &text->suffix_count, error));
    return ferry_gguf_get_i32s(gguf, "ferry.tokenizer.target.special_ids", 0, last_target, &file->arena,
                               &text->special_ids, &text->special_count, error);
}

static ferry_status read_text(ferry_model_file *file, ferry_error *error)
{
    static const char *const kinds[] = {"none", "pieces", "sentencepiece", NULL};
    static const char opus[] = "ferry.tokenizer.source.opus_punctuation";
    const ferry_gguf *gguf = &file->gguf;
    ferry_model_text *text = &file->text;
    int32_t kind;
    FERRY_TRY(ferry_model_get_choice(gguf, "ferry.tokenizer.kind", kinds, &kind, error));
    if (kind == 0) return FERRY_OK;
    if (kind == 2) FERRY_TRY(read_segmenters(gguf, text, error));
    FERRY_TRY(read_tables(gguf, &file->transformer, text, error));
    FERRY_TRY(read_ids(file, error));
    FERRY_TRY(ferry_gguf_get_bool(gguf, "ferry.tokenizer.source.leading_tag", &text->leading_tag, error));
    if (ferry_gguf_find(gguf, opus) != NULL) FERRY_TRY(ferry_gguf_get_bool(gguf, opus, &text->opus_punctuation, error));
    FERRY_TRY(ferry_model_read_languages(file, error));
    text->present = true;
    return FERRY_OK;
}

static ferry_status read_optional(const ferry_gguf *gguf, const char *key, ferry_view *text, ferry_error *error)
{
    if (ferry_gguf_find(gguf, key) == NULL) return FERRY_OK;
    return ferry_gguf_get_text(gguf, key, text, error);
}

static ferry_status read_hashes(const ferry_gguf *gguf, ferry_model_origin *origin, ferry_error *error)
{
    enum { DIGITS = 64 };
    size_t count;
    FERRY_TRY(ferry_gguf_get_texts(gguf, "ferry.origin.hashes", &origin->hashes, &count, error));
    if (count != origin->file_count) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: ferry.origin: %zu files but %zu hashes", gguf->file,
                          origin->file_count, count);
    }
    for (size_t i = 0; i < count; i++) {
        const ferry_view hash = origin->hashes[i];
        size_t digits = 0;
        while (digits < hash.size && strchr("0123456789abcdef", hash.data[digits]) != NULL && hash.data[digits] != 0)
            digits++;
        if (hash.size == DIGITS && digits == DIGITS) continue;
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "%s: key 'ferry.origin.hashes': expected %d hexadecimal digits, found '%s'", gguf->file,
                          (int)DIGITS, ferry_printable_view(hash).text);
    }
    return FERRY_OK;
}

static ferry_status read_origin(ferry_model_file *file, ferry_error *error)
{
    const ferry_gguf *gguf = &file->gguf;
    ferry_model_origin *origin = &file->origin;
    size_t sizes;
    FERRY_TRY(read_optional(gguf, "general.name", &file->name, error));
    FERRY_TRY(read_optional(gguf, "ferry.origin.kind", &origin->kind, error));
    FERRY_TRY(read_optional(gguf, "ferry.origin.name", &origin->name, error));
    FERRY_TRY(read_optional(gguf, "ferry.origin.licence", &origin->license, error));
    if (ferry_gguf_find(gguf, "ferry.origin.files") == NULL) return FERRY_OK;
    FERRY_TRY(ferry_gguf_get_texts(gguf, "ferry.origin.files", &origin->files, &origin->file_count, error));
    FERRY_TRY(ferry_gguf_get_u64s(gguf, "ferry.origin.sizes", &file->arena, &origin->sizes, &sizes, error));
    if (sizes != origin->file_count) {
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: ferry.origin: %zu files but %zu sizes", gguf->file,
                          origin->file_count, sizes);
    }
    if (ferry_gguf_find(gguf, "ferry.origin.hashes") == NULL) return FERRY_OK;
    return read_hashes(gguf, origin, error);
}

/* ---- weights ---- */

ferry_status ferry_model_file_reserve(ferry_model_file *file, size_t bytes, ferry_error *error)
{
    size_t size = bytes;
    file->widened = ferry_large_alloc(&size);
    if (file->widened == NULL) return ferry_fail_memory(error, "the model's matrices", bytes);
    file->widened_bytes = bytes;
    return FERRY_OK;
}

static ferry_status allocate_widened(ferry_model_file *file, const ferry_widening *widenings, size_t count,
                                     ferry_error *error)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        /* Twice the bytes of an f16 tensor that lies in the file: cannot overflow. */
        bytes += ferry_round_up(2 * widenings[i].tensor->bytes, FERRY_ARENA_ALIGNMENT);
    }
    return bytes > 0 ? ferry_model_file_reserve(file, bytes, error) : FERRY_OK;
}

/* Mapped pages are given back on the way, so that a matrix is not resident twice. */
static void widen(const ferry_model_file *file, const ferry_kernels *kernels, const ferry_tensor *tensor, float *out)
{
    const uint16_t *halves = tensor->data;
    const size_t begin = (size_t)((const char *)tensor->data - file->gguf.bytes.data);
    const size_t count = tensor->bytes / sizeof *halves;
    for (size_t done = 0; done < count;) {
        const size_t chunk = count - done < WIDEN_CHUNK ? count - done : WIDEN_CHUNK;
        kernels->widen_f16(out + done, halves + done, chunk);
        done += chunk;
        ferry_mapped_file_release(&file->gguf.map, begin, done * sizeof *halves);
    }
}

static ferry_status load_weights(ferry_model_file *file, const ferry_kernels *kernels, ferry_error *error)
{
    ferry_widening *widenings = NULL;
    size_t count = 0;
    ferry_status status = ferry_model_bind(file, kernels, &widenings, &count, error);
    if (status == FERRY_OK) status = allocate_widened(file, widenings, count, error);
    if (status == FERRY_OK) {
        float *out = file->widened;
        for (size_t i = 0; i < count; i++) {
            widen(file, kernels, widenings[i].tensor, out);
            *widenings[i].panels = out;
            out += ferry_round_up(2 * widenings[i].tensor->bytes, FERRY_ARENA_ALIGNMENT) / sizeof *out;
        }
        ferry_model_tie(file);
    }
    free(widenings);
    return status;
}

ferry_status ferry_model_file_open(const char *path, const ferry_kernels *kernels, ferry_model_file *file,
                                   ferry_error *error)
{
    memset(file, 0, sizeof *file);
    ferry_status status = ferry_gguf_open(path, &file->gguf, error);
    if (status == FERRY_OK) status = check_kind(&file->gguf, error);
    if (status == FERRY_OK) status = load_weights(file, kernels, error);
    if (status == FERRY_OK) status = read_text(file, error);
    if (status == FERRY_OK) status = read_origin(file, error);
    if (status != FERRY_OK) ferry_model_file_close(file);
    return status;
}

void ferry_model_file_close(ferry_model_file *file)
{
    ferry_position_unbind(&file->transformer.encoder.position);
    ferry_position_unbind(&file->transformer.decoder.position);
    free(file->widened);
    ferry_arena_destroy(&file->arena);
    ferry_gguf_close(&file->gguf);
    memset(file, 0, sizeof *file);
}
