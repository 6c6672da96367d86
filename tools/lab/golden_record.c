/* Recording what this engine computes, for another machine or version to compare with. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "tools/command.h"
#include "golden_activations.h"
#include "tools/output_file.h"

enum { MOST_TOKENS = 32, MOST_HEADER = 1024 };

ferry_status ferry_golden_translator(const ferry_model *model, int32_t most_tokens, ferry_translator **translator,
                                     ferry_error *error)
{
    ferry_options options;
    ferry_search_options search;
    FERRY_TRY(ferry_options_default(model, &options, sizeof options));
    FERRY_TRY(ferry_search_options_default(model, &search, sizeof search));
    options.search = &search;
    options.from = options.to = ""; /* the recorded ids include the language tags */
    options.beam = 1;
    options.max_length = most_tokens;
    options.min_length = 0;
    options.repetition_penalty = 1;
    options.no_repeat_ngram = 0;
    search.forced_first_id = search.forced_last_id = -1;
    return ferry_translator_create(model, &options, translator, error);
}

/* ---- recording ---- */

/* What is recorded, besides the file's arrays. */
typedef struct recording {
    const ferry_model *model;
    ferry_golden *golden;
    int32_t *ids, *offsets; /* source ids one after the other; [R + 1] */
} recording;

static bool tokenize(recording *r, const ferry_text *lines, const char *from, const char *to)
{
    ferry_golden *g = r->golden;
    size_t total = 0, capacity = 0;
    for (int32_t i = 0; i < g->R; i++) {
        int32_t *ids;
        size_t count;
        ferry_error error;
        if (!ferry_succeeded(ferry_inspect_tokenize(r->model, lines[i], from, to, &ids, &count, &error), &error))
            return false;
        int32_t *grown = ferry_array_grow(r->ids, &capacity, total + count + 1, sizeof *grown);
        if (grown != NULL) {
            r->ids = grown;
            memcpy(grown + total, ids, count * sizeof *ids);
        }
        ferry_inspect_free(ids);
        if (grown == NULL || total + count > INT32_MAX) {
            ferry_complain("%s: out of memory", g->path);
            return false;
        }
        total += count;
        r->offsets[i + 1] = (int32_t)total;
        g->source_lengths[i] = (int32_t)count;
        if (g->S < (int32_t)count) g->S = (int32_t)count;
    }
    return true;
}

/* Greedy ids, and the decoder inputs that lead to them. */
static bool generate(recording *r)
{
    ferry_golden *g = r->golden;
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(r->model);
    ferry_translator *translator = NULL;
    ferry_result *result = NULL;
    ferry_error error;
    ferry_status status = ferry_golden_translator(r->model, MOST_TOKENS, &translator, &error);
    if (status == FERRY_OK) status = ferry_inspect_generate(translator, r->ids, r->offsets, g->R, &result, &error);
    bool done = ferry_succeeded(status, &error);
    for (int32_t i = 0; done && i < g->R; i++) {
        const int32_t tokens = (int32_t)ferry_result_token_count(result, (size_t)i, 0);
        if (g->G < tokens) g->G = tokens;
    }
    g->T = g->G;
    if (done) g->greedy_ids = ferry_allocate((size_t)g->R * (size_t)g->G, sizeof *g->greedy_ids);
    if (done) g->decoder_input_ids = ferry_allocate((size_t)g->R * (size_t)g->T, sizeof *g->decoder_input_ids);
    done = done && g->greedy_ids != NULL && g->decoder_input_ids != NULL;
    for (int32_t i = 0; done && i < g->R; i++) {
        const int32_t *found = ferry_inspect_result_ids(result, (size_t)i, 0);
        const int32_t tokens = (int32_t)ferry_result_token_count(result, (size_t)i, 0);
        int32_t *ids = g->greedy_ids + i * g->G, *inputs = g->decoder_input_ids + i * g->T;
        for (int32_t k = 0; k < g->G; k++) ids[k] = k < tokens ? found[k] : sizes.eos_id;
        inputs[0] = sizes.start_id;
        memcpy(inputs + 1, ids, ((size_t)g->T - 1) * sizeof *inputs);
    }
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    return done;
}

/* Each sentence alone, so that rows lie where the file has them. */
static bool compute(recording *r)
{
    ferry_golden *g = r->golden;
    const size_t R = (size_t)g->R, S = (size_t)g->S, T = (size_t)g->T, D = (size_t)g->D, V = (size_t)g->V;
    g->source_ids = ferry_allocate(R * S, sizeof *g->source_ids);
    g->encoder_output = ferry_allocate(R * S * D, sizeof *g->encoder_output);
    g->logits = ferry_allocate(R * T * V, sizeof *g->logits);
    if (g->source_ids == NULL || g->encoder_output == NULL || g->logits == NULL) return false;
    for (size_t i = 0; i < R; i++) {
        const int32_t offsets[] = {0, g->source_lengths[i]}, target_offsets[] = {0, g->T};
        int32_t *ids = g->source_ids + i * S;
        ferry_error error;
        memcpy(ids, r->ids + r->offsets[i], (size_t)g->source_lengths[i] * sizeof *ids);
        ferry_status status = ferry_inspect_encode(r->model, ids, offsets, 1, g->encoder_output + i * S * D, &error);
        if (status == FERRY_OK)
            status = ferry_inspect_logits(r->model, ids, offsets, 1, g->decoder_input_ids + i * T, target_offsets,
                                          FERRY_INSPECT_ONE_PASS, g->logits + i * T * V, &error);
        if (!ferry_succeeded(status, &error)) return false;
    }
    return true;
}

bool ferry_golden_record(ferry_golden *golden, const char *path, const ferry_model *model, const ferry_text *lines,
                         size_t count, const char *from, const char *to)
{
    const ferry_inspect_sizes sizes = ferry_inspect_get_sizes(model);
    *golden = (ferry_golden){.path = path, .R = (int32_t)count, .D = sizes.d_model, .V = sizes.target_vocab};
    recording r = {.model = model, .golden = golden};
    r.offsets = ferry_allocate(count + 1, sizeof *r.offsets);
    golden->source_lengths = ferry_allocate(count, sizeof *golden->source_lengths);
    const bool done = r.offsets != NULL && golden->source_lengths != NULL && tokenize(&r, lines, from, to) &&
                      generate(&r) && compute(&r);
    free(r.ids);
    free(r.offsets);
    return done;
}

/* ---- writing ---- */

typedef struct stored_tensor {
    const char *name, *type;
    int32_t shape[3]; /* 0: no more dimensions */
    const void *data;
} stored_tensor;

static size_t bytes_of(const stored_tensor *tensor)
{
    size_t bytes = strcmp(tensor->type, "U8") == 0 ? 1 : 4;
    for (int i = 0; i < 3 && tensor->shape[i] > 0; i++) bytes *= (size_t)tensor->shape[i];
    return bytes;
}

typedef struct file_contents {
    stored_tensor tensors[7];
    const char *hash, *kernels;
} file_contents;

/* Safetensors: the bytes of the header, a header in JSON, the tensors. */
static bool write_file(FILE *out, const void *user)
{
    const file_contents *file = user;
    const size_t count = sizeof file->tensors / sizeof *file->tensors;
    char header[MOST_HEADER];
    size_t at = 0, size = (size_t)snprintf(header, sizeof header,
                                           "{\"__metadata__\":{\"ferry\":\"%s\",\"model\":\"%s\",\"kernels\":\"%s\"}",
                                           ferry_version(), file->hash, file->kernels);
    for (size_t i = 0; i < count; i++) {
        const stored_tensor *t = &file->tensors[i];
        size += (size_t)snprintf(header + size, sizeof header - size, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%d",
                                 t->name, t->type, (int)t->shape[0]);
        for (int k = 1; k < 3 && t->shape[k] > 0; k++)
            size += (size_t)snprintf(header + size, sizeof header - size, ",%d", (int)t->shape[k]);
        size += (size_t)snprintf(header + size, sizeof header - size, "],\"data_offsets\":[%zu,%zu]}", at,
                                 at + bytes_of(t));
        at += bytes_of(t);
    }
    header[size++] = '}';
    while (size % 8 != 0) header[size++] = ' ';
    const uint64_t length = size;
    bool done = fwrite(&length, sizeof length, 1, out) == 1 && fwrite(header, 1, size, out) == size;
    for (size_t i = 0; done && i < count; i++)
        done = fwrite(file->tensors[i].data, 1, bytes_of(&file->tensors[i]), out) == bytes_of(&file->tensors[i]);
    return done;
}

bool ferry_golden_write(const ferry_golden *g, const ferry_model *model, const ferry_text *lines)
{
    size_t size = 0;
    for (int32_t i = 0; i < g->R; i++) size += lines[i].size + 1;
    char *texts = ferry_allocate(size, 1), *end = texts;
    if (texts == NULL) return false;
    for (int32_t i = 0; i < g->R; i++) {
        if (lines[i].size > 0) memcpy(end, lines[i].data, lines[i].size);
        end += lines[i].size;
        *end++ = '\n';
    }
    const file_contents file = {
        .tensors = {{"source_ids", "I32", {g->R, g->S}, g->source_ids},
                    {"source_lengths", "I32", {g->R}, g->source_lengths},
                    {"encoder_output", "F32", {g->R, g->S, g->D}, g->encoder_output},
                    {"decoder_input_ids", "I32", {g->R, g->T}, g->decoder_input_ids},
                    {"logits", "F32", {g->R, g->T, g->V}, g->logits},
                    {"greedy_ids", "I32", {g->R, g->G}, g->greedy_ids},
                    {"texts", "U8", {(int32_t)size}, texts}},
        .hash = ferry_model_info(model, "hash"),
        .kernels = ferry_inspect_isa(model),
    };
    const bool done = ferry_output_complete(g->path, write_file, &file);
    free(texts);
    return done;
}
