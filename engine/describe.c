/* What is in a model, in words. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ferry_inspect.h"
#include "graph/state.h"
#include "model.h"

static int printable(ferry_view text)
{
    return text.size > 200 ? 200 : (int)text.size;
}

static double megabytes(size_t bytes)
{
    return (double)bytes / 1e6;
}

/* "position.layout split": every parameter below the prefix, as the file has it. */
static void print_parameters(FILE *out, const ferry_gguf *gguf, const char *prefix)
{
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < gguf->value_count; i++) {
        const ferry_gguf_value *value = &gguf->values[i];
        int64_t number;
        float real;
        ferry_view text;
        if (value->key.size <= length || memcmp(value->key.data, prefix, length) != 0 || value->is_array) continue;
        char key[FERRY_GGUF_MAX_TENSOR_NAME + 64];
        snprintf(key, sizeof key, "%.*s", printable(value->key), value->key.data);
        if (strcmp(key + length, "type") == 0) continue;
        if (ferry_gguf_get_text(gguf, key, &text, NULL) == FERRY_OK)
            fprintf(out, ", %s %.*s", key + length, printable(text), text.data);
        else if (ferry_gguf_get_integer(gguf, key, INT64_MIN, INT64_MAX, &number, NULL) == FERRY_OK)
            fprintf(out, ", %s %" PRId64, key + length, number);
        else if (ferry_gguf_get_f32(gguf, key, &real, NULL) == FERRY_OK)
            fprintf(out, ", %s %g", key + length, (double)real);
    }
}

/* What positions keep in memory and add to the arithmetic of `step`. */
static void print_cost(FILE *out, const ferry_position *position, const char *step)
{
    ferry_position_cost cost = {0};
    if (position->scheme->cost != NULL) position->scheme->cost(position, &cost);
    fputs("  cost:", out);
    if (cost.model_bytes == 0 && cost.position_bytes == 0) fputs(" nothing kept", out);
    if (cost.model_bytes >= 1000)
        fprintf(out, " %.1f kB in the model", (double)cost.model_bytes / 1e3);
    else if (cost.model_bytes > 0)
        fprintf(out, " %" PRId64 " bytes in the model", cost.model_bytes);
    if (cost.position_bytes > 0)
        fprintf(out, "%s %" PRId64 " bytes for each position in each thread", cost.model_bytes > 0 ? "," : "",
                cost.position_bytes);
    fprintf(out, "; %s adds %" PRId64 " multiply-adds and %" PRId64 " for each key\n", step, cost.token_operations,
            cost.key_operations);
}

static const char *activation_name(ferry_activation activation)
{
    switch (activation) {
    case FERRY_RELU: return "relu";
    case FERRY_GELU: return "gelu";
    case FERRY_SWISH: return "swish";
    }
    return "?";
}

static void print_stack(FILE *out, const ferry_gguf *gguf, const char *name, const ferry_stack *stack)
{
    fprintf(out, "%s: %d layers, %d heads of width %d, ffn %d (%s), %s-norm (eps %g)\n", name, (int)stack->layer_count,
            (int)stack->heads, (int)stack->head_width, (int)stack->ffn_width, activation_name(stack->activation),
            stack->pre_norm ? "pre" : "post", (double)stack->norm_eps);
    char prefix[64];
    snprintf(prefix, sizeof prefix, "ferry.%s.position.", name);
    fprintf(out, "  positions: %s", stack->position.scheme->name);
    print_parameters(out, gguf, prefix);
    if (stack->position.limit > 0)
        fprintf(out, "; at most %d tokens\n", (int)stack->position.limit);
    else
        fputs("; any length\n", out);
    print_cost(out, &stack->position, stack->position.stack.causal ? "a decoder step" : "a token");
}

static void print_memory(FILE *out, const ferry_model_file *file)
{
    const ferry_transformer *transformer = &file->transformer;
    ferry_cache cache;
    ferry_cache_init(&cache, transformer->decoder.layer_count, transformer->decoder.heads,
                     transformer->decoder.head_width);
    fprintf(out, "memory: %.1f MB file, mapped; %.1f MB for widened matrices; keys and values %.1f kB for each token\n",
            megabytes(file->gguf.bytes.size), megabytes(file->widened_bytes),
            (double)((size_t)cache.layout.layers * cache.layout.layer_floats * sizeof(float)) / FERRY_BLOCK_POSITIONS /
                1e3);
}

static void print_ids(FILE *out, const char *name, const int32_t *ids, int32_t count)
{
    if (count == 0) return;
    fprintf(out, ", %s", name);
    for (int32_t i = 0; i < count && i < 8; i++) fprintf(out, " %d", (int)ids[i]);
    if (count > 8) fprintf(out, " … (%d)", (int)count);
}

static void print_decoding(FILE *out, const ferry_transformer *transformer)
{
    static const char *const early_stopping[] = {"false", "true", "never"};
    const ferry_decoding *decoding = &transformer->decoding;
    fprintf(out, "decoding: beam %d, length penalty %g, early stopping %s", (int)decoding->beam,
            (double)decoding->length_penalty, early_stopping[decoding->early_stopping]);
    if (decoding->max_length > 0)
        fprintf(out, ", at most %d tokens", (int)decoding->max_length);
    else
        fputs(", at most 3 × source + 50 tokens", out);
    if (decoding->min_length > 0) fprintf(out, ", at least %d", (int)decoding->min_length);
    if (decoding->repetition_penalty != 1.0f)
        fprintf(out, ", repetition penalty %g", (double)decoding->repetition_penalty);
    if (decoding->no_repeat_ngram > 0) fprintf(out, ", no %d-gram twice", (int)decoding->no_repeat_ngram);
    print_ids(out, "never", decoding->suppressed_ids, decoding->suppressed_count);
    print_ids(out, "first", &decoding->forced_first_id, decoding->forced_first_id >= 0);
    print_ids(out, "last", &decoding->forced_last_id, decoding->forced_last_id >= 0);
    fputc('\n', out);
}

static void print_text(FILE *out, const ferry_model_text *text)
{
    if (!text->present) {
        fputs("text: no tokenizer; the model speaks in ids only\n", out);
        return;
    }
    const bool one_model = text->source_model.data == text->target_model.data;
    const bool one_table = text->source_pieces == text->target_pieces;
    fprintf(out, "text: SentencePiece, %s (%.0f kB), %s%s\n",
            one_model ? "one model for both sides" : "a model for each side",
            (double)(text->source_model.size + (one_model ? 0 : text->target_model.size)) / 1e3,
            one_table ? "one vocabulary" : "two vocabularies",
            text->leading_tag ? "; a leading >>tag<< is one piece" : "");
}

static void print_origin(FILE *out, const ferry_model_origin *origin)
{
    if (origin->kind.size == 0) return;
    fprintf(out, "origin: %.*s", printable(origin->kind), origin->kind.data);
    if (origin->name.size > 0) fprintf(out, " '%.*s'", printable(origin->name), origin->name.data);
    for (size_t i = 0; i < origin->file_count; i++)
        fprintf(out, "%s%.*s", i == 0 ? ": " : ", ", printable(origin->files[i]), origin->files[i].data);
    fputc('\n', out);
    if (origin->licence.size > 0) fprintf(out, "licence: %.*s\n", (int)origin->licence.size, origin->licence.data);
}

static void print_model(FILE *out, const ferry_model *model)
{
    const ferry_model_file *file = &model->file;
    const ferry_transformer *transformer = &file->transformer;
    fprintf(out, "%.*s: encoder-decoder Transformer, %.2f million parameters as %s\n", printable(file->name),
            file->name.data, (double)file->parameters / 1e6, ferry_type_name(file->type));
    fprintf(out, "d_model %d; embeddings × %g; vocabulary %d → %d%s%s\n", (int)transformer->d_model,
            (double)transformer->embedding_scale, (int)transformer->encoder.vocab_size,
            (int)transformer->decoder.vocab_size,
            transformer->encoder.embedding == transformer->decoder.embedding ? "; one embedding for both sides" : "",
            transformer->output.panels == transformer->decoder.embedding ? "; output matrix = target embedding" : "");
    print_stack(out, &file->gguf, "encoder", &transformer->encoder);
    print_stack(out, &file->gguf, "decoder", &transformer->decoder);
    print_text(out, &file->text);
    fprintf(out, "ids: start %d, pad %d", (int)transformer->start_id, (int)transformer->pad_id);
    print_ids(out, "end", transformer->eos_ids, transformer->eos_count);
    fputc('\n', out);
    print_decoding(out, transformer);
    print_memory(out, file);
    print_origin(out, &file->origin);
}

ferry_status ferry_inspect_describe(const ferry_model *model, ferry_text *text, ferry_error *error)
{
    char *data = NULL;
    size_t size = 0;
    *text = (ferry_text){NULL, 0};
    FILE *out = open_memstream(&data, &size);
    if (out == NULL) return ferry_fail_memory(error, "a description", size);
    print_model(out, model);
    const int broken = ferror(out);
    if (fclose(out) != 0 || broken) {
        free(data);
        return ferry_fail_memory(error, "a description", size);
    }
    *text = (ferry_text){data, size};
    return FERRY_OK;
}
